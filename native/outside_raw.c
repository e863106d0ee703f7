// Blocks that PyMem_RawFree takes back: the interpreter's own call of free is in no import slot that we see.
//
// The raw domain's functions may run in any thread without the GIL while they are replaced, a word at a time:
// so ours take the context of those before them, and every mixture of old and new words works.
#include "outside.h"

static PyMemAllocatorEx before_raw;
static int stands; // ours are in the domain, or in the chain of somebody who came later

static void raw_free(void *context, void *block) {
    outside_gone(block);
    before_raw.free(context, block);
}

static void *raw_realloc(void *context, void *block, size_t bytes) {
    return outside_moved(&before_raw, context, block, bytes);
}

void outside_raw_begin(void) {
    if (!stands) {
        PyMem_GetAllocator(PYMEM_DOMAIN_RAW, &before_raw);
        PyMemAllocatorEx ours = before_raw;
        ours.free = raw_free;
        ours.realloc = raw_realloc;
        PyMem_SetAllocator(PYMEM_DOMAIN_RAW, &ours);
        stands = 1;
    }
}

void outside_raw_end(void) {
    PyMemAllocatorEx now;
    PyMem_GetAllocator(PYMEM_DOMAIN_RAW, &now);
    if (stands && now.free == raw_free) { // else somebody stands before us: it stays a passage
        PyMem_SetAllocator(PYMEM_DOMAIN_RAW, &before_raw);
        stands = 0;
    }
}
