#ifndef MILLSTREAM_CASS_SHIM_H
#define MILLSTREAM_CASS_SHIM_H

#include <stdarg.h>
#include <string.h>
#include <ass/ass.h>

// A list of variable arguments has another type in Swift on each processor, so the callback lives here.

// The size of the array of characters that no font has: their number, and at most this number of them less one.
#define MILLSTREAM_MISSING_CHARACTERS_SIZE 64

// Adds the character of a message about a character that no font has to the array, and ignores all other messages.
static inline void millstream_handle_message(int level, const char *format, va_list arguments, void *data) {
    // The first argument of this message is the character.
    static const char start[] = "fontselect: failed to find any fallback with glyph 0x%X";
    unsigned int *characters = (unsigned int *)data;
    (void)level;
    if (!characters || !format || strncmp(format, start, sizeof(start) - 1) != 0) return;
    if (characters[0] + 1 >= MILLSTREAM_MISSING_CHARACTERS_SIZE) return;
    characters[0] += 1;
    characters[characters[0]] = va_arg(arguments, unsigned int);
}

// Sets the array to which a library adds the characters that no font has. It must exist as long as the library.
static inline void millstream_record_missing_characters(ASS_Library *library, unsigned int *characters) {
    ass_set_message_cb(library, millstream_handle_message, characters);
}

#endif
