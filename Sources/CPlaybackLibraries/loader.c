#include "CPlaybackLibraries.h"
#include "libraries.h"

#include <dlfcn.h>
#include <libavcodec/version.h>
#include <libavfilter/version.h>
#include <libavformat/version.h>
#include <libavutil/macros.h>
#include <libavutil/version.h>
#include <libswresample/version.h>
#include <libswscale/version.h>
#include <stdio.h>
#include <unistd.h>

struct millstream_function {
    void *address;
    const char *name;
    long library;
};

extern struct millstream_function millstream_functions[];
extern struct millstream_function millstream_functions_end[];

// The versions are those of the headers with which the package is compiled.
static const char *const names[] = {
    [AVUTIL] = "libavutil.so." AV_STRINGIFY(LIBAVUTIL_VERSION_MAJOR),
    [AVCODEC] = "libavcodec.so." AV_STRINGIFY(LIBAVCODEC_VERSION_MAJOR),
    [AVFORMAT] = "libavformat.so." AV_STRINGIFY(LIBAVFORMAT_VERSION_MAJOR),
    [AVFILTER] = "libavfilter.so." AV_STRINGIFY(LIBAVFILTER_VERSION_MAJOR),
    [SWSCALE] = "libswscale.so." AV_STRINGIFY(LIBSWSCALE_VERSION_MAJOR),
    [SWRESAMPLE] = "libswresample.so." AV_STRINGIFY(LIBSWRESAMPLE_VERSION_MAJOR),
    [SDL] = "libSDL2-2.0.so.0",
    [ASS] = "libass.so.9",
};

#define COUNT (int)(sizeof(names) / sizeof(names[0]))
static void *handles[COUNT];

// Two threads may open a library at once: both get the same handle.
static void *open_library(long index) {
    void *handle = __atomic_load_n(&handles[index], __ATOMIC_ACQUIRE);
    if (handle) return handle;
    handle = dlopen(names[index], RTLD_LAZY | RTLD_LOCAL);
    if (handle) __atomic_store_n(&handles[index], handle, __ATOMIC_RELEASE);
    return handle;
}

static void *look_up(const struct millstream_function *function) {
    void *handle = open_library(function->library);
    return handle ? dlsym(handle, function->name) : NULL;
}

// Called by functions.S. Like the dynamic loader, it ends the process where a library is missing.
__attribute__((visibility("hidden"))) void *millstream_resolve(struct millstream_function *function) {
    void *address = look_up(function);
    if (!address) {
        fprintf(stderr, "error: A library for playback cannot be loaded: %s\n", dlerror());
        _exit(127);
    }
    __atomic_store_n(&function->address, address, __ATOMIC_RELEASE);
    return address;
}

int millstream_function_count(void) { return (int)(millstream_functions_end - millstream_functions); }

const char *millstream_function_name(int index) { return millstream_functions[index].name; }

const char *millstream_function_error(int index) {
    return look_up(&millstream_functions[index]) ? NULL : dlerror();
}
