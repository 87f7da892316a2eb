#pragma once

#include <stddef.h>
#include <stdint.h>

/// libFuzzer's main program: it calls `test` with one input after the other.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*test)(const uint8_t *data, size_t size));
