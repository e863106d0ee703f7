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
    event record = {.kind = EVENT_ALLOCATION,
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
    if (ring_record(&record)) {
        stacks_note(of->slot, record.depth);
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

static void note(uint32_t slot, const void *block, size_t bytes, uintptr_t grown) {
    allocations_note(slot, (uint32_t)got_rows[slot] - GOT_ALLOCATOR_FIRST, block, bytes, NULL, grown);
}

#define CALL(type, ...) ((type)got_words_of[slot].original)(__VA_ARGS__)

// A hook that allocates `size` bytes; `grown_from` is the old address of a block that grows, else 0.
#define HOOK(name, parameters, size, grown_from, ...) \
    static void *hook_##name parameters { \
        uint32_t slot = ring_here.slot; \
        uintptr_t grown = grown_from; \
        void *block = CALL(void *(*)parameters, __VA_ARGS__); \
        note(slot, block, size, grown); \
        return block; \
    }
HOOK(size, (size_t bytes), bytes, 0, bytes)
HOOK(first, (size_t bytes, size_t second), bytes, 0, bytes, second)
HOOK(second, (size_t first, size_t bytes), bytes, 0, first, bytes)
HOOK(product, (size_t count, size_t each), (count * each), 0, count, each) // an overflow returns no block
HOOK(grown, (void *before, size_t bytes), bytes, allocations_grown(before, bytes), before, bytes)
HOOK(grown_product, (void *before, size_t count, size_t each), (count * each),
     allocations_grown(before, (count * each)), before, count, each)

static int hook_stored(void **ret, size_t alignment, size_t bytes) {
    uint32_t slot = ring_here.slot;
    int failed = CALL(int (*)(void **, size_t, size_t), ret, alignment, bytes);
    note(slot, failed ? NULL : *ret, bytes, 0);
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

#define ALLOCATION_ROW(name, hook) {#name, NULL, GOT_ALLOCATOR_FIRST + ALLOCATION_##name},
GOT_SOURCE(allocations_source, GOT_ALLOCATOR_FIRST, ALLOCATION, ALLOCATIONS_IMPORTED);

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

#define ALLOCATION_NAME(name, ...) #name,
static const char *const names[] = {ALLOCATIONS_IMPORTED(ALLOCATION_NAME)
                                        ALLOCATIONS_DOMAINS(ALLOCATION_NAME)};

int allocations_exec(PyObject *module) {
    return names_add(module, "ALLOCATORS", names, ALLOCATIONS_COUNT) < 0
               ? -1
               : ADD_FUNCTIONS(module, {"allocations_open", allocations_set_open, METH_O, NULL});
}
