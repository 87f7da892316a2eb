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

#endif
