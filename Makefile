# Each target forwards to the script of its name, which says what it does.

.PHONY: help demo build test reference check format docs fuzz long bench

help: ## list the targets
	@sed -nE 's/^([a-z]+): ## (.*)/\1\t\2/p' Makefile | expand -t 10

demo: ## build, make the sample streams, serve the web console
	@Scripts/demo

build: ## build everything for debugging, with the tests
	@Scripts/build

test: ## build and run all tests
	@Scripts/test

reference: ## write the reference of the command line and the table of edits, after a build
	@Scripts/reference

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
