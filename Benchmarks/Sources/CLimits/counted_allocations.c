// Counts what is allocated by standing in front of the allocator of glibc; elsewhere the counts stay 0.
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

static _Atomic uint64_t allocations;
static _Atomic int64_t live_bytes;
static _Atomic int64_t peak_bytes;

static void *counted(void *pointer) {
    if (pointer == NULL) return NULL;
    atomic_fetch_add(&allocations, 1);
    int64_t live = atomic_fetch_add(&live_bytes, (int64_t)malloc_usable_size(pointer)) + (int64_t)malloc_usable_size(pointer);
    int64_t peak = atomic_load(&peak_bytes);
    while (live > peak && !atomic_compare_exchange_weak(&peak_bytes, &peak, live)) {}
    return pointer;
}

static void forget(void *pointer) {
    if (pointer != NULL) atomic_fetch_sub(&live_bytes, (int64_t)malloc_usable_size(pointer));
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

void allocation_peak_begin(void) { atomic_store(&peak_bytes, atomic_load(&live_bytes)); }
#else
allocation_counts allocation_counts_now(void) {
    allocation_counts counts = {0, 0, 0};
    return counts;
}

void allocation_peak_begin(void) {}
#endif
