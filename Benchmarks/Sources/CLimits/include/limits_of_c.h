#ifndef LIMITS_OF_C_H
#define LIMITS_OF_C_H

#include <stddef.h>
#include <stdint.h>

/// Counts the lines with memchr: as fast as anything that looks at every line end can be.
size_t limit_lines(const uint8_t *bytes, size_t count);

/// What a plain one-pass parser finds.
typedef struct {
    size_t segments;
    double duration;
    uint64_t byte_ranges;
    size_t dates;
} limit_summary;

/// Reads EXTINF, BYTERANGE and addresses in one pass, keeping an offset and a duration for each segment.
limit_summary limit_one_pass(const uint8_t *bytes, size_t count, uint32_t *offsets, double *durations, size_t capacity);

/// The allocations between `allocation_count_begin` and `allocation_count_end`.
typedef struct {
    uint64_t allocations;
    int64_t live_bytes;
    int64_t peak_bytes;
} allocation_counts;

allocation_counts allocation_counts_now(void);

/// Sets the counts to 0 and begins to count.
void allocation_count_begin(void);

/// Ends counting.
void allocation_count_end(void);

#endif
