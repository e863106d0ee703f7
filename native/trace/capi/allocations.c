// Blocks of 4 KiB and more, with the library that asked for them: the memory in which results lie.
//
// Overview. A library allocates through its import slots (malloc, posix_memalign, mmap, operator new ...).
// trace/arm/got.c patches those of every loaded object except Python, which has its own allocators
// (trace/capi/pymem.c), and the library that holds the allocator. The trampoline gives the slot, the slot
// gives the caller's library; one record holds address and size. A block that one library requests for
// another (operator new calls malloc) is recorded by both, the outer one last.
//
// Not hooked: free. The records of a call say which block its result lies in, and later calls have records of
// their own. Besides, libraries compare the address of free with a deleter.
//
// Limits. An allocator linked into a library (mimalloc in Arrow, jemalloc in polars) hands out memory that it
// mapped before: it uses no slot, so nothing is recorded. Blocks under 4 KiB cost two comparisons and are not
// recorded. Hooks run in any thread, with and without the GIL: no Python, no lock.
// SPDX-License-Identifier: MIT
#include "trace/capi/allocations.h"
#include "memory/memory.h"
#include "trace/record/ring.h"
#include "trace/record/stacks.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { CHUNK_SLACK = 64 }; // more than the bytes by which a glibc chunk exceeds the request

int allocations_open;
static struct timespec opened; // when recording began, by the clock of file times
static int has_chunks;         // malloc is glibc's: the word before a block holds its size

void allocations_record(const allocation *of) {
    event *record = ring_open();
    if (record) {
        *record = (event){.kind = EVENT_ALLOCATION,
                          .slot = of->slot,
                          .func = (uint16_t)of->func,
                          .flags = EVENT_FLAG_NO_GIL,
                          .obj = (uint64_t)(uintptr_t)of->block,
                          .val = of->bytes,
                          .aux = (uint64_t)(uintptr_t)of->caller,
                          .lasti = (int32_t)(of->grown & UINT32_MAX),
                          .refs = (int32_t)(of->grown >> 32),
                          .start = ring_start_ticks(),
                          .depth = ring_depth_byte(ring_here.depth)};
        ring_commit();
        stacks_note(of->slot, ring_depth_byte(ring_here.depth));
    }
}

// The size that glibc writes before a block; 0 where the word is no such size. Uses a guarded read, as a
// block of another malloc may begin at its mapping.
static size_t chunk_bytes(uintptr_t block) {
    uintptr_t header = 0;
    int before = errno;
    size_t got = block % 16 ? 0 : memory_read(block - sizeof header, &header, sizeof header);
    errno = before;
    size_t chunk = header & ~(uintptr_t)7;
    return got && chunk % 16 == 0 && chunk <= PTRDIFF_MAX ? chunk : 0;
}

uintptr_t allocations_grown(const void *before, size_t bytes) {
    uintptr_t where = (uintptr_t)before;
    int counts = allocations_counts(bytes) && where && has_chunks;
    return counts && chunk_bytes(where) >= ALLOCATIONS_LEAST_BYTES + CHUNK_SLACK ? where : 0;
}

// ----- hooks, one for each signature ----------------------------------------------------------------

static void note(uint32_t slot, const void *block, size_t bytes) {
    allocations_note(slot, (uint32_t)got_rows[slot] - GOT_ALLOCATOR_FIRST, block, bytes, NULL, 0);
}

#define CALL(type, ...) ((type)got_words_of[slot].original)(__VA_ARGS__)

static void *hook_size(size_t bytes) {
    uint32_t slot = ring_here.slot;
    void *block = CALL(void *(*)(size_t), bytes);
    note(slot, block, bytes);
    return block;
}

static void *hook_first(size_t bytes, size_t second) {
    uint32_t slot = ring_here.slot;
    void *block = CALL(void *(*)(size_t, size_t), bytes, second);
    note(slot, block, bytes);
    return block;
}

static void *hook_second(size_t first, size_t bytes) {
    uint32_t slot = ring_here.slot;
    void *block = CALL(void *(*)(size_t, size_t), first, bytes);
    note(slot, block, bytes);
    return block;
}

static void *hook_product(size_t count, size_t each) { // a product that overflows returns no block
    uint32_t slot = ring_here.slot;
    void *block = CALL(void *(*)(size_t, size_t), count, each);
    note(slot, block, count * each);
    return block;
}

static void note_grown(uint32_t slot, const void *block, size_t bytes, uintptr_t grown) {
    allocations_note(slot, (uint32_t)got_rows[slot] - GOT_ALLOCATOR_FIRST, block, bytes, NULL, grown);
}

static void *hook_grown(void *before, size_t bytes) {
    uint32_t slot = ring_here.slot;
    uintptr_t grown = allocations_grown(before, bytes);
    void *block = CALL(void *(*)(void *, size_t), before, bytes);
    note_grown(slot, block, bytes, grown);
    return block;
}

static void *hook_grown_product(void *before, size_t count, size_t each) {
    uint32_t slot = ring_here.slot;
    uintptr_t grown = allocations_grown(before, count * each);
    void *block = CALL(void *(*)(void *, size_t, size_t), before, count, each);
    note_grown(slot, block, count * each, grown);
    return block;
}

static int hook_stored(void **ret, size_t alignment, size_t bytes) {
    uint32_t slot = ring_here.slot;
    int failed = CALL(int (*)(void **, size_t, size_t), ret, alignment, bytes);
    note(slot, failed ? NULL : *ret, bytes);
    return failed;
}

// A file created during the trace (mostly shared memory) holds no older data: mapping it allocates.
static int is_new(int file) {
    struct statx found;
    int before = errno, failed = statx(file, "", AT_EMPTY_PATH, STATX_BTIME, &found);
    errno = before;
    struct timespec born = {found.stx_btime.tv_sec, found.stx_btime.tv_nsec};
    return failed || (found.stx_mask & STATX_BTIME &&
                      (born.tv_sec > opened.tv_sec ||
                       (born.tv_sec == opened.tv_sec && born.tv_nsec >= opened.tv_nsec)));
}

static void *hook_mapped(void *wanted, size_t bytes, int access, int flags, int file, off_t offset) {
    uint32_t slot = ring_here.slot;
    void *block =
        CALL(void *(*)(void *, size_t, int, int, int, off_t), wanted, bytes, access, flags, file, offset);
    uintptr_t shown = flags & MAP_ANONYMOUS || is_new(file) ? 0 : (uintptr_t)file + 1;
    allocations_note(slot, (uint32_t)got_rows[slot] - GOT_ALLOCATOR_FIRST, block == MAP_FAILED ? NULL : block,
                     bytes, (const void *)shown, 0);
    return block;
}

// ----- the table ----------------------------------------------------------------------------------

static exports_row imported[] = {
#define ALLOCATOR(name, hook) {#name, NULL, GOT_ALLOCATOR_FIRST + ALLOCATION_##name},
    ALLOCATIONS_IMPORTED(ALLOCATOR)
#undef ALLOCATOR
};
static void *const hooks[] = {
#define ALLOCATOR(name, hook) (void *)hook_##hook,
    ALLOCATIONS_IMPORTED(ALLOCATOR)
#undef ALLOCATOR
};

const got_source allocations_source = {
    .first = GOT_ALLOCATOR_FIRST, .count = ALLOCATIONS_IMPORTED_COUNT, .functions = imported, .hooks = hooks};

static int malloc_has_chunks(void) {
    void *volatile block = malloc(5000);
    int has = block && chunk_bytes((uintptr_t)block) >= 5008 && chunk_bytes((uintptr_t)block) <= 5040;
    free(block);
    return has;
}

static PyObject *allocations_set_open(PyObject *module, PyObject *open) {
    clock_gettime(CLOCK_REALTIME_COARSE, &opened);
    has_chunks = malloc_has_chunks();
    allocations_open = open == Py_True;
    Py_RETURN_NONE;
}

static PyMethodDef allocations_methods[] = {
    {"allocations_open", allocations_set_open, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

int allocations_exec(PyObject *module) {
#define ALLOCATOR(name, ...) #name,
    static const char *const names[] = {ALLOCATIONS_IMPORTED(ALLOCATOR) ALLOCATIONS_DOMAINS(ALLOCATOR)};
#undef ALLOCATOR
    return names_add(module, "ALLOCATORS", names, ALLOCATIONS_COUNT) < 0
               ? -1
               : PyModule_AddFunctions(module, allocations_methods);
}
