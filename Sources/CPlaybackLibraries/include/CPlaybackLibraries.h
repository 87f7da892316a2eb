// FFmpeg, SDL2 and libass, loaded at the first call of one of their functions.
#pragma once

// The number of functions in the table.
int millstream_function_count(void);

// The name of a function, by its index in the table.
const char *millstream_function_name(int index);

// Loads the library of a function and looks the function up. Returns NULL, or why it is not available.
const char *millstream_function_error(int index);
