// Hooks of Python's allocators: frees of objects, and blocks that are kept while code may refer to them.
//
// Overview. PyMem_SetAllocator (PEP 445) replaces the functions of PYMEM_DOMAIN_OBJ. Allocations are passed
// on. A free looks up whether the block is that of an entry, with or without a gc header before the object.
// If it is, and no native call is open, the entry is removed and the block is freed.
//
// While a call from Python is open, or if a call left fewer references than it found, the block is not freed
// yet: it becomes a placeholder (leaks/entries/placeholder.c). When the outermost call ends, placeholders
// that nothing released and that no call stored are freed. The others wait until the ledger is closed. A
// block that a view still shows is kept as well (leaks/views.c); for that PYMEM_DOMAIN_MEM is hooked too.
//
// A block that is freed between calls, while C code may still refer to it, waits as a placeholder too: the
// latest WAITING_MAX small blocks, of gc types or touched last by a host. The oldest is freed, unless it was
// released again.
//
// Who frees. Each kept block is in `kept`, owned, until ledger_frees_settle() or ledger_frees_deinit() frees
// it. A placeholder that lost references, or that something still refers to, is never freed.
//
// Types that keep dead objects for reuse (float, tuple, list, dict) free nothing. The hook of _Py_Dealloc,
// and a count of 0, show these deaths. The block of an object that the module did not make, or passed on, is
// kept too: it is the next block of the free list, so reclaim allocates it at once, before other code does.
//
// Limits and why. At most KEPT_MAX blocks wait; more are freed at once. A type's own allocator is not seen.
// SPDX-License-Identifier: MIT
#include "leaks/call_frames.h"
#include "leaks/entries/table.h"
#include "leaks/instances.h"
#include "leaks/leaks.h"
#include "leaks/raw_memory/followed.h"
#include "objects/objects.h"

enum { KEPT_MAX = 1 << 15, WAITING_MAX = 1 << 11, WAITING_BYTES = 512 };

typedef struct {
    void *block;
    PyObject *object; // owned: the placeholder in the block
} kept_block;

static PyMemAllocatorEx before, before_memory; // of PYMEM_DOMAIN_OBJ; of PYMEM_DOMAIN_MEM
static kept_block kept[KEPT_MAX];              // owned
static uint32_t kept_count, settled;
int ledger_frees_waiting;               // kept_count > settled
static kept_block waiting[WAITING_MAX]; // owned; a ring
static uint32_t waiting_next;
static int is_installed, is_bare, is_bare_memory; // bare: pymalloc alone (leaks/raw_memory/raw_domain.c)
static uint64_t kept_ever;

static ledger_entry *entry_of(void *block, PyObject **ret) {
    static const size_t headers[] = {OWN_NO_HEADER, OWN_GC_HEADER, OWN_DICT_HEADER};
    if (!ledger_may_hold((uintptr_t)block)) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        ledger_entry *entry = ledger_find((uintptr_t)block + headers[i]);
        if (entry && entry->header == headers[i]) {
            *ret = (PyObject *)((char *)block + headers[i]);
            return entry;
        }
    }
    return NULL;
}

static int was_released(const kept_block *row) { return ledger_placeholder_missing(row->object) != 0; }

static void free_in(void *allocator, void *block) {
    const PyMemAllocatorEx *domain = allocator;
    domain->free(domain->ctx, block);
}

static ledger_freeing freeing_of(PyMemAllocatorEx *domain, const char *function) {
    return (ledger_freeing){.give_back = free_in, .context = domain, .function = function};
}

static void give_back(const kept_block *row) {
    ledger_entry *entry = ledger_find((uintptr_t)row->object);
    ledger_freeing freeing = freeing_of(&before, "PyObject_Free");
    if (entry) {
        ledger_remove(entry);
    }
    if (!ledger_views_keep((uintptr_t)row->block, &freeing)) {
        before.free(before.ctx, row->block);
    }
}

static kept_block kill(void *block, PyObject *object, ledger_entry *entry) {
    entry->flags |= LEDGER_DEAD;
    ledger_placeholder_make(object);
    kept_ever++;
    return (kept_block){block, object};
}

// Queues a block. The oldest one leaves: it is freed, or kept for good if it was released again.
static void wait_in_ring(kept_block row) {
    kept_block *place = &waiting[waiting_next++ % WAITING_MAX];
    if (place->block && was_released(place) && kept_count < KEPT_MAX && !ledger_depth) {
        kept[kept_count++] = *place;
        settled = kept_count;
    } else if (place->block && !was_released(place)) {
        give_back(place);
    }
    *place = row;
}

static int is_small(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    if (PyType_Check(object) || PyUnicode_Check(object)) {
        return PyUnicode_Check(object) && PyUnicode_IS_COMPACT_ASCII(object) &&
               PyUnicode_GET_LENGTH(object) <= WAITING_BYTES;
    }
    Py_ssize_t items = own_bytes_has_size(type) ? Py_SIZE(object) : 0;
    return type->tp_basicsize + (items < 0 ? -items : items) * type->tp_itemsize <= WAITING_BYTES;
}

// Whether the entry is of an earlier object in this block: one from the free list of its type, or one that
// was freed where no hook saw it. Then the block holds no object of the entry.
static __attribute__((no_sanitize("address"))) int is_earlier_object(const ledger_entry *entry,
                                                                     const PyObject *object) {
    return entry->flags & LEDGER_LISTED || (entry->header && (uintptr_t)Py_TYPE(object) != entry->type);
}

// Returns 1 if the block must not be freed now.
static int must_keep(void *block) {
    PyObject *object = NULL;
    ledger_entry *entry = entry_of(block, &object);
    if (ledger_dtypes_array_bytes) {
        ledger_dtypes_freed((uintptr_t)block);
    }
    if (ledger_depth) {
        ledger_watch_freed((uintptr_t)block, (uintptr_t)object);
        entry = object ? ledger_find((uintptr_t)object) : entry_of(block, &object);
    }
    if (!entry) {
        return 0;
    }
    if (entry->flags & LEDGER_DEAD) { // freed again: released once too often
        entry->flags |= LEDGER_OVER;
        return 1;
    }
    if (is_earlier_object(entry, object)) {
        ledger_remove(entry);
        return 0;
    }
    int may_wait =
        !ledger_depth && entry->balance >= 0 && (entry->header || ledger_is_of_host(entry, object));
    if (may_wait && is_small(object)) {
        wait_in_ring(kill(block, object, entry));
        return 1;
    }
    int is_argument = entry->flags & LEDGER_GIVEN; // too many of these within a call to keep them
    if ((!ledger_depth && entry->balance >= 0) || is_argument || kept_count == KEPT_MAX) {
        ledger_remove(entry);
        return 0;
    }
    kept[kept_count++] = kill(block, object, entry);
    ledger_frees_waiting = 1;
    return 1;
}

// The latest block of the free list of a type, as a new object. NULL if the type has no list.
static PyObject *new_from_free_list(const PyTypeObject *type, Py_ssize_t size) {
    return type == &PyList_Type                ? PyList_New(0)
           : type == &PyDict_Type              ? PyDict_New()
           : type == &PyFloat_Type             ? PyFloat_FromDouble(0)
           : type == &PyTuple_Type && size > 0 ? PyTuple_New(size)
                                               : NULL;
}

int ledger_frees_reclaim(PyObject *dead, const ledger_dying *was) {
    ledger_entry *entry = ledger_find((uintptr_t)dead);
    if (!was->is_shared || !entry || entry->flags & LEDGER_DEAD || kept_count == KEPT_MAX) {
        return 0;
    }
    PyObject *error, *value, *trace; // what the code raised before it released the object; owned
    PyErr_Fetch(&error, &value, &trace);
    PyObject *reused = new_from_free_list((PyTypeObject *)entry->type, was->size); // new
    PyErr_Restore(error, value, trace);
    if (!reused) {
        return 0;
    }
    if (reused != dead) {
        Py_DECREF(reused);
        return 0;
    }
    if (PyObject_IS_GC(reused) && PyObject_GC_IsTracked(reused)) {
        PyObject_GC_UnTrack(reused);
    }
    kept[kept_count++] = kill((char *)reused - entry->header, reused, entry);
    ledger_frees_waiting = 1;
    return 1;
}

ledger_dying ledger_frees_dying(PyObject *object) {
    const ledger_entry *entry = ledger_find((uintptr_t)object);
    int is_shared = entry && entry->flags != LEDGER_FRESH && !(entry->flags & LEDGER_GIVEN);
    return (ledger_dying){is_shared, PyTuple_CheckExact(object) ? PyTuple_GET_SIZE(object) : 0};
}

static void *note_allocation(void *block, size_t size) {
    if (allocation_run && ledger_is_open && block) {
        allocation_runs_add(block);
    }
    if (ledger_capsules_open && block) {
        ledger_capsules_allocated(block);
    }
    if (size && size == ledger_dtypes_array_bytes && block) {
        ledger_dtypes_allocated(block);
    }
    return block;
}

// Records an allocation for its caller: the allocators are jumped to, so the return address is the caller's.
#define FOLLOWS raw_memory_follows((uintptr_t)__builtin_return_address(0))
#define RECORD_BLOCK(domain, block, size, follows) \
    raw_memory_domain_allocated(RAW_MEMORY_##domain, block, size, \
                                (char *)__builtin_frame_address(0) + sizeof(void *), follows)

static int is_apart(int bare, int follows) { return bare && (follows || raw_memory_is_handing); }

static void *ledger_malloc(void *context, size_t size) {
    int follows = FOLLOWS;
    void *block = note_allocation(is_apart(is_bare, follows) ? raw_memory_from_malloc(&before, size, 0)
                                                             : before.malloc(before.ctx, size),
                                  size);
    RECORD_BLOCK(PyObject_Malloc, block, size, follows);
    return block;
}

static void *ledger_calloc(void *context, size_t count, size_t size) {
    int follows = FOLLOWS;
    void *block =
        note_allocation(is_apart(is_bare, follows) ? raw_memory_from_malloc(&before, count * size, 1)
                                                   : before.calloc(before.ctx, count, size),
                        count * size);
    RECORD_BLOCK(PyObject_Malloc, block, count * size, follows);
    return block;
}

static void *ledger_realloc(void *context, void *block, size_t size) {
    int follows = !block && FOLLOWS;
    void *moved = is_apart(is_bare, follows) ? raw_memory_from_malloc(&before, size, 0)
                                             : raw_memory_moved(&before, before.ctx, block, size);
    if (!block) {
        RECORD_BLOCK(PyObject_Malloc, moved, size, follows);
    }
    if (allocation_run && moved && moved != block && (allocation_runs_remove(block) || ledger_is_open)) {
        allocation_runs_add(moved);
    }
    if (ledger_is_open && moved && block && moved != block) {
        PyObject *object;
        ledger_freeing freeing = freeing_of(&before, "PyObject_Realloc");
        freeing.cannot_keep = 1;
        ledger_views_domain((uintptr_t)block, &freeing);
        ledger_entry *entry = entry_of(block, &object);
        if (entry) {
            ledger_remove(entry); // the hook of the resizing call enters the new one
        }
    }
    return moved;
}

static void ledger_free(void *context, void *block) {
    raw_memory_freed(block);
    if (allocation_run && block) {
        allocation_runs_remove(block);
    }
    if (block && ledger_is_open) {
        ledger_freeing freeing = freeing_of(&before, "PyObject_Free");
        instances_freed((uintptr_t)block);
        int is_kept = must_keep(block);
        freeing.give_back = is_kept ? NULL : freeing.give_back; // the ledger frees it later
        if (ledger_views_domain((uintptr_t)block, &freeing) || is_kept) {
            return;
        }
    }
    before.free(before.ctx, block);
}

static void *memory_malloc(void *context, size_t size) {
    int follows = FOLLOWS;
    void *block = is_apart(is_bare_memory, follows) ? raw_memory_from_malloc(&before_memory, size, 0)
                                                    : before_memory.malloc(before_memory.ctx, size);
    RECORD_BLOCK(PyMem_Malloc, block, size, follows);
    return block;
}

static void *memory_calloc(void *context, size_t count, size_t size) {
    int follows = FOLLOWS;
    void *block = is_apart(is_bare_memory, follows) ? raw_memory_from_malloc(&before_memory, count * size, 1)
                                                    : before_memory.calloc(before_memory.ctx, count, size);
    RECORD_BLOCK(PyMem_Malloc, block, count * size, follows);
    return block;
}

static void *memory_realloc(void *context, void *block, size_t size) {
    int follows = !block && FOLLOWS;
    void *moved = is_apart(is_bare_memory, follows)
                      ? raw_memory_from_malloc(&before_memory, size, 0)
                      : raw_memory_moved(&before_memory, before_memory.ctx, block, size);
    if (!block) {
        RECORD_BLOCK(PyMem_Malloc, moved, size, follows);
    }
    if (ledger_is_open && moved && block && moved != block) {
        ledger_freeing freeing = freeing_of(&before_memory, "PyMem_Realloc");
        freeing.cannot_keep = 1;
        ledger_views_domain((uintptr_t)block, &freeing);
    }
    return moved;
}

static void memory_free(void *context, void *block) {
    raw_memory_freed(block);
    if (ledger_dtypes_array_bytes && block) {
        ledger_dtypes_memory_freed((uintptr_t)block);
    }
    ledger_freeing freeing = freeing_of(&before_memory, "PyMem_Free");
    if (!block || !ledger_is_open || !ledger_views_domain((uintptr_t)block, &freeing)) {
        before_memory.free(before_memory.ctx, block);
    }
}

static int is_outermost(void) {
    PyMemAllocatorEx now, memory;
    PyMem_GetAllocator(PYMEM_DOMAIN_OBJ, &now);
    PyMem_GetAllocator(PYMEM_DOMAIN_MEM, &memory);
    return now.free == ledger_free && memory.free == memory_free;
}

int ledger_frees_init(void) {
    if (ledger_placeholder_init() < 0) {
        return -1;
    }
    kept_count = settled = waiting_next = 0;
    kept_ever = 0;
    if (!is_installed) {
        PyMemAllocatorEx ours = {NULL, ledger_malloc, ledger_calloc, ledger_realloc, ledger_free};
        PyMemAllocatorEx memory = {NULL, memory_malloc, memory_calloc, memory_realloc, memory_free};
        PyMem_GetAllocator(PYMEM_DOMAIN_OBJ, &before);
        PyMem_GetAllocator(PYMEM_DOMAIN_MEM, &before_memory);
        PyMem_SetAllocator(PYMEM_DOMAIN_OBJ, &ours);
        PyMem_SetAllocator(PYMEM_DOMAIN_MEM, &memory);
        raw_memory_domain_begin();
        is_bare = raw_memory_is_bare(&before);
        is_bare_memory = raw_memory_is_bare(&before_memory);
        is_installed = 1;
    }
    return 0;
}

// Settles the blocks of the call that ends: those from index `settled` on.
void ledger_frees_settle(void) {
    uint32_t kept_end = settled;
    for (uint32_t i = settled; i < kept_count; i++) {
        ledger_entry *entry = ledger_find((uintptr_t)kept[i].object);
        // An object that the call made and stored nowhere has no holder; a search finds others at the end.
        int was_stored = entry && (entry->flags & LEDGER_STORED || !(entry->flags & LEDGER_FRESH));
        if (entry && was_released(&kept[i])) {
            entry->flags |= LEDGER_OVER;
        }
        if (was_stored || was_released(&kept[i])) {
            kept[kept_end++] = kept[i];
        } else {
            give_back(&kept[i]);
        }
    }
    kept_count = settled = kept_end;
    ledger_frees_waiting = 0;
}

static void give_all_back(const kept_block *blocks, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        ledger_entry *entry = blocks[i].block ? ledger_find((uintptr_t)blocks[i].object) : NULL;
        if (entry && !(entry->flags & LEDGER_STORED) && !was_released(&blocks[i])) {
            give_back(&blocks[i]);
        }
    }
}

void ledger_frees_retire(void) {
    int is_needed = ledger_is_open || allocation_run || raw_memory_is_open(); // frees between runs
    if (is_installed && !is_needed && is_outermost()) {                       // else a later hook calls ours
        PyMem_SetAllocator(PYMEM_DOMAIN_OBJ, &before);
        PyMem_SetAllocator(PYMEM_DOMAIN_MEM, &before_memory);
        raw_memory_domain_end();
        is_installed = 0;
    }
}

// Closes the ledger. leaks/ledger.c left LEDGER_STORED on entries that something still refers to.
void ledger_frees_deinit(void) {
    ledger_frees_retire();
    give_all_back(kept, kept_count);
    give_all_back(waiting, WAITING_MAX);
    memset(waiting, 0, sizeof waiting);
    kept_count = settled = 0;
}

uint64_t ledger_frees_kept(void) { return kept_ever; }
