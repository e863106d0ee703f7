// What chosen modules ask malloc and its kin for, while the ledger is open: their import slots.
//
// trace/arm/got.c patches the slots of the chosen modules alone, so that who asked needs no question. realloc
// has its hook in leaks/freeing.c, which stands in every library's slot: a block may grow anywhere. Functions
// that other libraries give blocks by (libxml2's xmlStrdup) end in malloc slots of their own, and count where
// those libraries are chosen.
//
// Left out: slots that are compared as values, as in leaks/freeing.c; mmap, whose memory is no block.
#define _GNU_SOURCE
#include "leaks/raw_memory/hooks.h"
#include "leaks/raw_memory/followed.h"
#include "trace/capi/slot_table.h"

#include <dlfcn.h>
#include <stdarg.h>

#include "trace/record/ring.h"

#define CALL(type, ...) ((type)got_words_of[slot].original)(__VA_ARGS__)
#define GIVEN(block, bytes) raw_memory_given(function_of(slot), block, bytes, frame_of_caller)
// Where the return address of the slot's caller lies: the trampoline jumped here.
#define frame_of_caller ((char *)__builtin_frame_address(0) + sizeof(void *))

static int function_of(uint32_t slot) { return got_rows[slot] - GOT_RAW_MEMORY_FIRST; }

static void *hook_size(size_t bytes) {
    uint32_t slot = ring_here.slot;
    void *block = CALL(void *(*)(size_t), bytes);
    GIVEN(block, bytes);
    return block;
}

static void *hook_first(size_t bytes, uintptr_t second) {
    uint32_t slot = ring_here.slot;
    void *block = CALL(void *(*)(size_t, uintptr_t), bytes, second);
    GIVEN(block, bytes);
    return block;
}

static void *hook_second(size_t first, size_t bytes) {
    uint32_t slot = ring_here.slot;
    void *block = CALL(void *(*)(size_t, size_t), first, bytes);
    GIVEN(block, bytes);
    return block;
}

static void *hook_product(size_t count, size_t each) { // a product that overflows gives no block
    uint32_t slot = ring_here.slot;
    void *block = CALL(void *(*)(size_t, size_t), count, each);
    GIVEN(block, count * each);
    return block;
}

static int hook_stored(void **ret, size_t alignment, size_t bytes) {
    uint32_t slot = ring_here.slot;
    int failed = CALL(int (*)(void **, size_t, size_t), ret, alignment, bytes);
    GIVEN(failed ? NULL : *ret, bytes);
    return failed;
}

static char *hook_text(const char *text) {
    uint32_t slot = ring_here.slot;
    char *copy = CALL(char *(*)(const char *), text);
    GIVEN(copy, copy ? strlen(copy) + 1 : 0);
    return copy;
}

static char *hook_part(const char *text, size_t most) {
    uint32_t slot = ring_here.slot;
    char *copy = CALL(char *(*)(const char *, size_t), text, most);
    GIVEN(copy, copy ? strlen(copy) + 1 : 0);
    return copy;
}

static int written(char **ret, int length) { // its block is the original's own choice: enough for the text
    return length < 0 || !*ret ? 0 : length + 1;
}

static int hook_written(char **ret, const char *format, ...) {
    uint32_t slot = ring_here.slot;
    va_list values;
    va_start(values, format);
    int length = vasprintf(ret, format, values); // "..." cannot be called on with
    va_end(values);
    GIVEN(written(ret, length) ? *ret : NULL, (size_t)written(ret, length));
    return length;
}

static int hook_written_list(char **ret, const char *format, va_list values) {
    uint32_t slot = ring_here.slot;
    int length = CALL(int (*)(char **, const char *, va_list), ret, format, values);
    GIVEN(written(ret, length) ? *ret : NULL, (size_t)written(ret, length));
    return length;
}

static void *hook_moved(void *block, size_t bytes) { // what it moves, leaks/raw_memory/raw_domain.c tells
    uint32_t slot = ring_here.slot;
    void *moved = CALL(void *(*)(void *, size_t), block, bytes);
    if (!block) {
        GIVEN(moved, bytes);
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

const exports_row *raw_memory_find(const char *name) {
    for (int i = 0; i < IMPORTED; i++) {
        if (strcmp(imported[i].name, name) == 0) {
            return &imported[i];
        }
    }
    return NULL;
}

void *raw_memory_hook(uint16_t row) { return hooks[row - GOT_RAW_MEMORY_FIRST]; }

void raw_memory_find_addresses(void) {
    for (int i = 0; i < IMPORTED; i++) {
        imported[i].address =
            imported[i].address ? imported[i].address : dlsym(RTLD_DEFAULT, imported[i].name);
    }
}
