# Each target forwards to the script of its name, which says what it does.

.PHONY: help demo test check format docs fuzz long bench

help: ## list the targets
	@sed -nE 's/^([a-z]+): ## (.*)/\1\t\2/p' Makefile | expand -t 10

demo: ## build, make the sample streams, serve the web console
	@Scripts/demo

test: ## build and run all tests
	@Scripts/test

check: ## what has to hold before a commit: format, build, tests
	@Scripts/check

format: ## format all Swift code in place
	@Scripts/format

docs: ## build the documentation and run its examples
	@Scripts/docs

fuzz: ## run libFuzzer on every reader of outside bytes
	@Scripts/fuzz

long: ## list the checks that take long
	@Scripts/long

bench: ## measure against the limits of this machine
	@Scripts/bench
