#ifndef MILLSTREAM_CASS_SHIM_H
#define MILLSTREAM_CASS_SHIM_H

#include <stdarg.h>
#include <ass/ass.h>

// A list of variable arguments has another type in Swift on each processor, so the callback lives here.
static inline void millstream_ignore_message(int level, const char *format, va_list arguments, void *data) {
    (void)level; (void)format; (void)arguments; (void)data;
}

static inline void millstream_silence(ASS_Library *library) {
    ass_set_message_cb(library, millstream_ignore_message, 0);
}

#endif
