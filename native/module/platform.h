// Differences between compilers and between C libraries, kept here so that no part tests for either.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_PLATFORM_H
#define INSPECTOR_PLATFORM_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <unwind.h>

// Functions between these two lines use AVX2; whoever calls them has asked the processor before.
#ifdef __clang__
#define PLATFORM_AVX2_BEGIN \
    _Pragma("clang attribute push(__attribute__((target(\"avx2\"))), apply_to = function)")
#define PLATFORM_AVX2_END _Pragma("clang attribute pop")
#define PLATFORM_OPTIMIZED
#else
#define PLATFORM_AVX2_BEGIN _Pragma("GCC push_options") _Pragma("GCC target(\"avx2\")")
#define PLATFORM_AVX2_END _Pragma("GCC pop_options")
#define PLATFORM_OPTIMIZED __attribute__((optimize("O3"))) // in a debug build too
#endif

// An address inside glibc; 0 with another C library, whose allocator has no arenas to look for.
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#define PLATFORM_IN_GLIBC ((uintptr_t)&gnu_get_libc_version)
#else
#define PLATFORM_IN_GLIBC ((uintptr_t)0)
#endif

// Free bytes at the top of malloc's heap: mallinfo2's tenth count. 0 where there is none (glibc before 2.33).
static inline size_t platform_heap_top_bytes(void) {
    typedef struct {
        size_t counts[10];
    } heap_counts;
    heap_counts (*count)(void) = (heap_counts (*)(void))dlsym(RTLD_DEFAULT, "mallinfo2");
    return count ? count().counts[9] : 0;
}

typedef struct {
    void **frames; // borrowed
    int count, capacity;
} platform_frames;

static inline _Unwind_Reason_Code platform_frame_add(struct _Unwind_Context *context, void *argument) {
    platform_frames *found = argument;
    void *address = (void *)_Unwind_GetIP(context);
    if (!address || found->count == found->capacity) {
        return _URC_END_OF_STACK; // 0: where a thread begins
    }
    found->frames[found->count++] = address;
    return _URC_NO_REASON;
}

// Return addresses of this thread's native frames, innermost first; their number. Not every C library has
// `backtrace`. The first call may load the unwinder.
static inline int platform_backtrace(void **frames /* borrowed */, int capacity) {
    platform_frames found = {frames, 0, capacity};
    _Unwind_Backtrace(platform_frame_add, &found);
    return found.count;
}

#endif
