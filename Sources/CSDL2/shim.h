#ifndef MILLSTREAM_CSDL2_SHIM_H
#define MILLSTREAM_CSDL2_SHIM_H

#define SDL_MAIN_HANDLED
#if __has_include(<SDL.h>)
#include <SDL.h>
#else
#include <SDL2/SDL.h>
#endif

// Macros that Swift cannot import.
static inline int millstream_window_position_centered(void) { return (int)SDL_WINDOWPOS_CENTERED; }
static inline Uint16 millstream_audio_float(void) { return AUDIO_F32SYS; }

// ALSA writes the reasons why a device cannot be opened to standard error, of which SDL returns a summary. Between these two
// functions it writes nothing.
#if defined(__linux__)
#include <dlfcn.h>

typedef void (*millstream_alsa_handler)(const char *, int, const char *, int, const char *, ...);

static inline void millstream_ignore_alsa_message(
    const char *file, int line, const char *function, int error, const char *format, ...
) {
    (void)file, (void)line, (void)function, (void)error, (void)format;
}

static inline void millstream_set_alsa_handler(millstream_alsa_handler handler) {
    // SDL loads the same library later. It stays open, because its handler would be lost otherwise.
    void *library = dlopen("libasound.so.2", RTLD_LAZY | RTLD_LOCAL);
    if (!library) return;
    int (*set)(millstream_alsa_handler) = (int (*)(millstream_alsa_handler))dlsym(library, "snd_lib_error_set_handler");
    if (set) set(handler);
}

static inline void millstream_silence_alsa(void) { millstream_set_alsa_handler(millstream_ignore_alsa_message); }
static inline void millstream_restore_alsa(void) { millstream_set_alsa_handler((millstream_alsa_handler)0); }
#else
static inline void millstream_silence_alsa(void) {}
static inline void millstream_restore_alsa(void) {}
#endif

#endif
