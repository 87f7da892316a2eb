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

// Returns whether a window manager has announced itself at the X server of the environment (EWMH, _NET_SUPPORTING_WM_CHECK), and
// 1 if this cannot be found out. Without one, SDL's request for full screen mode has no effect.
static inline int millstream_has_window_manager(void) {
    // SDL loads the same library.
    void *library = dlopen("libX11.so.6", RTLD_LAZY | RTLD_LOCAL);
    if (!library) return 1;
    void *(*open)(const char *) = (void *(*)(const char *))dlsym(library, "XOpenDisplay");
    int (*close)(void *) = (int (*)(void *))dlsym(library, "XCloseDisplay");
    unsigned long (*root)(void *) = (unsigned long (*)(void *))dlsym(library, "XDefaultRootWindow");
    unsigned long (*atom)(void *, const char *, int) =
        (unsigned long (*)(void *, const char *, int))dlsym(library, "XInternAtom");
    unsigned long *(*properties)(void *, unsigned long, int *) =
        (unsigned long *(*)(void *, unsigned long, int *))dlsym(library, "XListProperties");
    int (*release)(void *) = (int (*)(void *))dlsym(library, "XFree");
    if (!open || !close || !root || !atom || !properties || !release) return 1;
    void *display = open((const char *)0);
    if (!display) return 1;
    unsigned long wanted = atom(display, "_NET_SUPPORTING_WM_CHECK", 1);
    int found = 0;
    if (wanted) {
        int count = 0;
        unsigned long *all = properties(display, root(display), &count);
        for (int index = 0; all && index < count; index++) found = found || all[index] == wanted;
        if (all) release(all);
    }
    close(display);
    return found;
}

// The error event of Xlib, as far as it is read here.
typedef struct {
    int type;
    void *display;
    unsigned long resource, serial;
    unsigned char error_code, request_code, minor_code;
} millstream_x_error;
typedef int (*millstream_x_handler)(void *display, millstream_x_error *error);
static inline millstream_x_handler *millstream_former_x_handler(void) {
    static millstream_x_handler former;
    return &former;
}

static inline int millstream_handle_x_error(void *display, millstream_x_error *error) {
    // BadWindow as the response to SendEvent.
    if (error->error_code == 3 && error->request_code == 25) return 0;
    millstream_x_handler former = *millstream_former_x_handler();
    return former ? former(display, error) : 0;
}

// Ignores messages to windows that are destroyed. SDL wakes its event loop by messages on a second connection to the X server, where
// they can arrive after the window was destroyed on the first one. The usual handler then ends the process.
static inline void millstream_ignore_late_wakeups(void) {
    void *library = dlopen("libX11.so.6", RTLD_LAZY | RTLD_LOCAL);
    if (!library) return;
    millstream_x_handler (*set)(millstream_x_handler) =
        (millstream_x_handler (*)(millstream_x_handler))dlsym(library, "XSetErrorHandler");
    if (!set) return;
    millstream_x_handler former = set(millstream_handle_x_error);
    if (former != millstream_handle_x_error) *millstream_former_x_handler() = former;
}

static inline void millstream_silence_alsa(void) { millstream_set_alsa_handler(millstream_ignore_alsa_message); }
static inline void millstream_restore_alsa(void) { millstream_set_alsa_handler((millstream_alsa_handler)0); }
#else
static inline int millstream_has_window_manager(void) { return 1; }
static inline void millstream_ignore_late_wakeups(void) {}
static inline void millstream_silence_alsa(void) {}
static inline void millstream_restore_alsa(void) {}
#endif

#endif
