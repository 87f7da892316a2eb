// Counts allocations by replacing the allocation functions of glibc; elsewhere the counts stay 0. Nothing is counted
// outside the measurements of memory, because counting takes time.
#include "limits_of_c.h"

#ifdef __GLIBC__
#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

static _Atomic int is_counting;
static _Atomic uint64_t allocations;
static _Atomic int64_t live_bytes;
static _Atomic int64_t peak_bytes;

static void *counted(void *pointer) {
    if (pointer == NULL || !atomic_load_explicit(&is_counting, memory_order_relaxed)) return pointer;
    atomic_fetch_add(&allocations, 1);
    int64_t size = (int64_t)malloc_usable_size(pointer);
    int64_t live = atomic_fetch_add(&live_bytes, size) + size;
    int64_t peak = atomic_load(&peak_bytes);
    while (live > peak && !atomic_compare_exchange_weak(&peak_bytes, &peak, live)) {}
    return pointer;
}

static void forget(void *pointer) {
    if (pointer == NULL || !atomic_load_explicit(&is_counting, memory_order_relaxed)) return;
    atomic_fetch_sub(&live_bytes, (int64_t)malloc_usable_size(pointer));
}

void *malloc(size_t size) { return counted(__libc_malloc(size)); }
void *calloc(size_t count, size_t size) { return counted(__libc_calloc(count, size)); }
void *realloc(void *pointer, size_t size) {
    forget(pointer);
    return counted(__libc_realloc(pointer, size));
}
void free(void *pointer) {
    forget(pointer);
    __libc_free(pointer);
}
void *memalign(size_t alignment, size_t size) { return counted(__libc_memalign(alignment, size)); }
void *aligned_alloc(size_t alignment, size_t size) { return counted(__libc_memalign(alignment, size)); }
int posix_memalign(void **result, size_t alignment, size_t size) {
    void *pointer = counted(__libc_memalign(alignment, size));
    if (pointer == NULL) return ENOMEM;
    *result = pointer;
    return 0;
}

allocation_counts allocation_counts_now(void) {
    allocation_counts counts = {atomic_load(&allocations), atomic_load(&live_bytes), atomic_load(&peak_bytes)};
    return counts;
}

void allocation_count_begin(void) {
    atomic_store(&allocations, 0);
    atomic_store(&live_bytes, 0);
    atomic_store(&peak_bytes, 0);
    atomic_store(&is_counting, 1);
}

void allocation_count_end(void) { atomic_store(&is_counting, 0); }
#else
allocation_counts allocation_counts_now(void) {
    allocation_counts counts = {0, 0, 0};
    return counts;
}

void allocation_count_begin(void) {}

void allocation_count_end(void) {}
#endif
