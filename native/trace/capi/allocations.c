// Blocks of 4 KiB and more, with the library that asked for them: the memory that a result lies in.
//
// Overview. A library asks for memory through its import slots (malloc, posix_memalign, mmap, operator new
// ...). trace/arm/got.c patches those of every loaded object but Python, which has allocators of its own
// (trace/capi/pymem.c), and but the library that gives the memory. The trampoline says the slot, the slot
// says who asked; the address and the size make one record. A block that is asked for on behalf of another
// library (operator new asks malloc) is recorded by both, the outer one last.
//
// Not hooked: free. Which block a result lies in is told by the records of the call that made it; later calls
// have records of their own. And libraries compare the address of free with a deleter they were given.
//
// Limits and why. An allocator that is linked into a library (mimalloc in Arrow, jemalloc in polars) gives
// blocks out of memory it mapped before: no slot is used, nothing is recorded. Blocks under 4 KiB cost two
// compares and are not recorded. Hooks run in any thread, with and without the GIL: no Python, no lock.
#define _GNU_SOURCE
#include "trace/capi/allocations.h"
#include "memory/memory.h"
#include "trace/capi/slot_table.h"
#include "trace/record/ring.h"

#include "module/native.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#include "trace/record/stacks.h"

enum { CHUNK_SLACK = 64 }; // more than a chunk of glibc's may be larger than what was asked for

int allocations_open;
static struct timespec opened; // when: by the clock of files
static int has_chunks;         // malloc is glibc's: a block's size stands in front of it

void allocations_record(const allocation *given) {
    event *record = ring_open();
    if (record) {
        *record = (event){.kind = EVENT_ALLOCATION,
                          .slot = given->slot,
                          .func = (uint16_t)given->func,
                          .flags = EVENT_FLAG_NO_GIL,
                          .obj = (uint64_t)(uintptr_t)given->block,
                          .val = given->bytes,
                          .aux = (uint64_t)(uintptr_t)given->caller,
                          .lasti = (int32_t)(given->grown & UINT32_MAX),
                          .refs = (int32_t)(given->grown >> 32),
                          .start = ring_start_ticks(),
                          .depth = ring_depth_byte(ring_here.depth)};
        ring_commit();
        stacks_note(given->slot, ring_depth_byte(ring_here.depth));
    }
}

// The size of a block as glibc writes it in front; 0 for what does not look like one. It is read guarded: a
// block of another malloc may begin its mapping.
static size_t chunk_bytes(uintptr_t block) {
    uintptr_t header = 0;
    int before = errno;
    size_t got = block % 16 ? 0 : memory_read(block - sizeof header, &header, sizeof header);
    errno = before;
    size_t told = header & ~(uintptr_t)7;
    return got && told % 16 == 0 && told <= PTRDIFF_MAX ? told : 0;
}

uintptr_t allocations_grown(const void *before, size_t bytes) {
    uintptr_t where = (uintptr_t)before;
    int counts = allocations_counts(bytes) && where && has_chunks;
    return counts && chunk_bytes(where) >= ALLOCATIONS_LEAST_BYTES + CHUNK_SLACK ? where : 0;
}

// ----- hooks, one a signature ----------------------------------------------------------------------

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

static void *hook_product(size_t count, size_t each) { // a product that overflows gives no block
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

// A file that was made during the trace (shared memory, most of all) holds nothing from before: it gives
// memory.
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

const exports_row *allocations_find(const char *name) {
    for (int i = 0; i < ALLOCATIONS_IMPORTED_COUNT; i++) {
        if (strcmp(imported[i].name, name) == 0) {
            return &imported[i];
        }
    }
    return NULL;
}

void *allocations_hook(uint16_t row) { return hooks[row - GOT_ALLOCATOR_FIRST]; }

// What C++ exports is found once its library is there, and in sight of this one.
void allocations_find_addresses(void) {
    for (int i = 0; i < ALLOCATIONS_IMPORTED_COUNT; i++) {
        imported[i].address =
            imported[i].address ? imported[i].address : dlsym(RTLD_DEFAULT, imported[i].name);
    }
}

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
