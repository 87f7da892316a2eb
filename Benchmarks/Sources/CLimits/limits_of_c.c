#include "limits_of_c.h"

#include <string.h>

size_t limit_lines(const uint8_t *bytes, size_t count) {
    size_t lines = 0;
    const uint8_t *next = bytes;
    const uint8_t *end = bytes + count;
    while (next < end) {
        const uint8_t *feed = memchr(next, '\n', (size_t)(end - next));
        lines++;
        if (feed == NULL) break;
        next = feed + 1;
    }
    return lines;
}

static double read_decimal(const uint8_t *text, const uint8_t *end) {
    uint64_t digits = 0;
    double scale = 1;
    int seen_point = 0;
    for (; text < end; text++) {
        if (*text >= '0' && *text <= '9') {
            digits = digits * 10 + (uint64_t)(*text - '0');
            if (seen_point) scale *= 10;
        } else if (*text == '.') {
            seen_point = 1;
        } else {
            break;
        }
    }
    return (double)digits / scale;
}

limit_summary limit_one_pass(const uint8_t *bytes, size_t count, uint32_t *offsets, double *durations, size_t capacity) {
    limit_summary result = {0, 0, 0, 0};
    const uint8_t *next = bytes;
    const uint8_t *end = bytes + count;
    double duration = 0;
    int pending = 0;
    while (next < end) {
        const uint8_t *feed = memchr(next, '\n', (size_t)(end - next));
        if (feed == NULL) feed = end;
        size_t length = (size_t)(feed - next);
        if (length > 0 && *next == '#') {
            if (length > 8 && memcmp(next, "#EXTINF:", 8) == 0) {
                duration = read_decimal(next + 8, feed);
                pending = 1;
            } else if (length > 17 && memcmp(next, "#EXT-X-BYTERANGE:", 17) == 0) {
                result.byte_ranges += (uint64_t)read_decimal(next + 17, feed);
            } else if (length > 25 && memcmp(next, "#EXT-X-PROGRAM-DATE-TIME:", 25) == 0) {
                result.dates++;
            }
        } else if (length > 0 && pending) {
            if (result.segments < capacity) {
                offsets[result.segments] = (uint32_t)(next - bytes);
                durations[result.segments] = duration;
            }
            result.segments++;
            result.duration += duration;
            pending = 0;
        }
        next = feed + 1;
    }
    return result;
}
