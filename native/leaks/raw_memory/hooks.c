// Hooks of malloc and similar functions in the import slots of chosen modules, while the ledger is open.
//
// trace/arm/got.c patches only slots of the chosen modules, so a hook need not find out its caller. The hook
// of realloc is in leaks/freeing.c, which patches every library: a block may be reallocated anywhere.
// Functions of other libraries that return blocks (libxml2's xmlStrdup) end in malloc slots of those
// libraries, and count where those libraries are chosen.
//
// Left out: slots whose values are compared, as in leaks/freeing.c; mmap, whose memory is no block.
// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "leaks/raw_memory/followed.h"
#include "trace/capi/slot_table.h"
#include "trace/record/ring.h"

#include <dlfcn.h>
#include <stdarg.h>

#define CALL(type, ...) ((type)got_words_of[slot].original)(__VA_ARGS__)
#define RECORD_BLOCK(block, bytes) raw_memory_allocated(function_of(slot), block, bytes, frame_of_caller)
// Address of the return address of the slot's caller: the trampoline jumps here.
#define frame_of_caller ((char *)__builtin_frame_address(0) + sizeof(void *))

static int function_of(uint32_t slot) { return got_rows[slot] - GOT_RAW_MEMORY_FIRST; }

#define HOOK(name, parameters, size, ...) \
    static void *hook_##name parameters { \
        uint32_t slot = ring_here.slot; \
        void *block = CALL(void *(*)parameters, __VA_ARGS__); \
        RECORD_BLOCK(block, size); \
        return block; \
    }
HOOK(size, (size_t bytes), bytes, bytes)
HOOK(first, (size_t bytes, uintptr_t second), bytes, bytes, second)
HOOK(second, (size_t first, size_t bytes), bytes, first, bytes)
HOOK(product, (size_t count, size_t each), (count * each), count, each) // an overflow returns no block
HOOK(text, (const char *from), (block ? strlen(block) + 1 : 0), from)
HOOK(part, (const char *from, size_t most), (block ? strlen(block) + 1 : 0), from, most)

static int hook_stored(void **ret, size_t alignment, size_t bytes) {
    uint32_t slot = ring_here.slot;
    int failed = CALL(int (*)(void **, size_t, size_t), ret, alignment, bytes);
    RECORD_BLOCK(failed ? NULL : *ret, bytes);
    return failed;
}

static int written(char **ret, int length) { // the original chooses the size of the block: at least the text
    return length < 0 || !*ret ? 0 : length + 1;
}

static int hook_written(char **ret, const char *format, ...) {
    uint32_t slot = ring_here.slot;
    va_list values;
    va_start(values, format);
    int length = vasprintf(ret, format, values); // variadic arguments cannot be forwarded
    va_end(values);
    RECORD_BLOCK(written(ret, length) ? *ret : NULL, (size_t)written(ret, length));
    return length;
}

static int hook_written_list(char **ret, const char *format, va_list values) {
    uint32_t slot = ring_here.slot;
    int length = CALL(int (*)(char **, const char *, va_list), ret, format, values);
    RECORD_BLOCK(written(ret, length) ? *ret : NULL, (size_t)written(ret, length));
    return length;
}

static void *hook_moved(void *block, size_t bytes) { // leaks/raw_memory/raw_domain.c reports moved blocks
    uint32_t slot = ring_here.slot;
    void *moved = CALL(void *(*)(void *, size_t), block, bytes);
    if (!block) {
        RECORD_BLOCK(moved, bytes);
    }
    return moved;
}

static exports_row imported[] = {
#define RAW_MEMORY_ROW(name, hook) {#name, NULL, GOT_RAW_MEMORY_FIRST + RAW_MEMORY_##name},
    RAW_MEMORY_IMPORTED(RAW_MEMORY_ROW)
#undef RAW_MEMORY_ROW
};
static void *const hooks[] = {
#define RAW_MEMORY_HOOK(name, hook) (void *)hook_##hook,
    RAW_MEMORY_IMPORTED(RAW_MEMORY_HOOK)
#undef RAW_MEMORY_HOOK
};
enum { IMPORTED = sizeof imported / sizeof *imported };

const got_source raw_memory_source = {
    .first = GOT_RAW_MEMORY_FIRST, .count = IMPORTED, .functions = imported, .hooks = hooks};
