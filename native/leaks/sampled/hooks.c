// Hooks of allocating and freeing functions in the import slots of all loaded libraries, for sampled growth.
//
// trace/arm/got.c patches calls alone (JUMP_SLOT), not addresses taken as values, which libraries compare. So
// a library that calls malloc by a pointer is not seen, and its blocks are not either: never half of it. What
// ctypes and cffi call has no slot: their call of libffi is patched, which gets the function's address.
// SPDX-License-Identifier: MIT
#include "leaks/sampled/counted.h"
#include "trace/capi/foreign_calls.h"

#include <dlfcn.h>
#include <sys/mman.h>

#define CALL(type, ...) ((type)got_words_of[slot].original)(__VA_ARGS__)
#define ALLOCATED(block, bytes) \
    growth_allocated(got_rows[slot] - GOT_GROWTH_FIRST, block, bytes, __builtin_frame_address(0))

#define HOOK(name, parameters, size, ...) \
    static void *hook_##name parameters { \
        uint32_t slot = ring_here.slot; \
        void *block = CALL(void *(*)parameters, __VA_ARGS__); \
        ALLOCATED(block, size); \
        return block; \
    }
HOOK(size, (size_t bytes), bytes, bytes)
HOOK(second, (size_t first, size_t bytes), bytes, first, bytes)
HOOK(product, (size_t count, size_t each), (count * each), count, each) // an overflow returns no block
HOOK(text, (const char *from), (block ? strlen(block) + 1 : 0), from)
HOOK(some_text, (const char *from, size_t most), (block ? strlen(block) + 1 : 0), from, most)

// Removes the row before the move: then another thread may get the address.
#define MOVING(name, parameters, size, ...) \
    static void *hook_##name parameters { \
        uint32_t slot = ring_here.slot; \
        growth_row row; \
        int was_there = growth_taken(before, &row); \
        void *block = CALL(void *(*)parameters, __VA_ARGS__); \
        if (was_there && !block && (size) != 0) { \
            growth_put(&row); \
        } \
        ALLOCATED(block, size); \
        return block; \
    }
MOVING(moved, (void *before, size_t bytes), bytes, before, bytes)
MOVING(moved_product, (void *before, size_t count, size_t each), (count * each), before, count, each)

static int hook_stored(void **ret, size_t alignment, size_t bytes) {
    uint32_t slot = ring_here.slot;
    int failed = CALL(int (*)(void **, size_t, size_t), ret, alignment, bytes);
    ALLOCATED(failed ? NULL : *ret, bytes);
    return failed;
}

static void *hook_mapped(void *wanted, size_t bytes, int access, int flags, int file, off_t offset) {
    uint32_t slot = ring_here.slot;
    void *block =
        CALL(void *(*)(void *, size_t, int, int, int, off_t), wanted, bytes, access, flags, file, offset);
    if (flags & MAP_ANONYMOUS) {
        ALLOCATED(block == MAP_FAILED ? NULL : block, bytes);
    }
    return block;
}

static void hook_freed(void *block) {
    uint32_t slot = ring_here.slot;
    growth_freed(block);
    CALL(void (*)(void *), block);
}

static int hook_unmapped(void *start, size_t bytes) {
    uint32_t slot = ring_here.slot;
    growth_unmapped((uintptr_t)start, bytes);
    return CALL(int (*)(void *, size_t), start, bytes);
}

static void hook_foreign(foreign_interface *, foreign_function, void *, void **);

#define GROWTH_ROW(name, hook) {#name, NULL, GOT_GROWTH_FIRST + GROWTH_##name},
GOT_SOURCE(growth_source, GOT_GROWTH_FIRST, GROWTH, GROWTH_IMPORTED);

// The allocator of that address, GROWTH_FUNCTIONS: none. A program may call another one by the same name.
static int allocator_of(foreign_function function) {
    int id = 0;
    while (id < GROWTH_ffi_call && growth_source_functions[id].address != (void *)function) {
        id++;
    }
    return id < GROWTH_ffi_call ? id : GROWTH_FUNCTIONS;
}

static size_t bytes_of(int id, uint64_t first, uint64_t second, uint64_t third, const void *block) {
    switch (id) {
    case GROWTH_calloc:
        return first * second;
    case GROWTH_reallocarray:
        return second * third;
    case GROWTH_posix_memalign:
        return third;
    case GROWTH_strdup:
    case GROWTH_strndup:
        return block ? strlen(block) + 1 : 0;
    case GROWTH_malloc:
        return first;
    default: // realloc, aligned_alloc, memalign, mmap
        return second;
    }
}

static void *block_of(int id, const foreign_interface *call, const void *result, uint64_t first,
                      uint64_t flags) {
    if (id == GROWTH_posix_memalign) {
        return result && *(const int *)result == 0 ? *(void **)first : NULL;
    }
    int is_mapped = id == GROWTH_mmap || id == GROWTH_mmap64;
    if (!result || call->result->size != sizeof(void *) || (is_mapped && !(flags & MAP_ANONYMOUS))) {
        return NULL; // an address declared as an int has lost its upper half
    }
    void *block = *(void *const *)result;
    return block == MAP_FAILED ? NULL : block;
}

static void hook_foreign(foreign_interface *call, foreign_function function, void *result, void **values) {
    foreign_caller caller = (foreign_caller)got_words_of[ring_here.slot].original;
    int id = allocator_of(function);
    uint64_t words[4] = {0};
    for (uint32_t i = 0; id < GROWTH_FUNCTIONS && i < call->count && i < Py_ARRAY_LENGTH(words); i++) {
        words[i] = foreign_word(call->types[i], values[i]);
    }
    growth_row row;
    int was_there = 0;
    if (id == GROWTH_munmap) {
        growth_unmapped(words[0], words[1]);
    } else if (id == GROWTH_free || id == GROWTH_realloc || id == GROWTH_reallocarray) {
        was_there = growth_taken((void *)words[0], &row);
    }
    caller(call, function, result, values);
    int error = errno; // ctypes reads it next
    if (id < GROWTH_free) {
        void *block = block_of(id, call, result, words[0], words[3]);
        size_t bytes = bytes_of(id, words[0], words[1], words[2], block);
        if (was_there && !block && bytes) { // the block stayed where it was
            growth_put(&row);
        }
        growth_allocated(id, block, bytes, __builtin_frame_address(0));
    }
    errno = error;
}

static void find_in(const char *module, int id) {
    PyObject *loaded = PyDict_GetItemString(PyImport_GetModuleDict(), module); // borrowed
    _owned_ PyObject *path = loaded ? PyObject_GetAttrString(loaded, "__file__") : NULL;
    const char *file = path && PyUnicode_Check(path) ? PyUnicode_AsUTF8(path) : NULL;
    void *library = file ? dlopen(file, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    if (library) {
        exports_row *function = &growth_source_functions[id];
        function->address = dlsym(library, function->name);
        dlclose(library); // drops only the count that dlopen took
    }
    PyErr_Clear();
}

void growth_foreign_find(void) {
    find_in("_ctypes", GROWTH_ffi_call);
    find_in("_cffi_backend", GROWTH_cffistatic_ffi_call);
}
