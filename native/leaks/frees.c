// Deaths: the object allocator is asked first, and the dead are kept apart as long as somebody may err.
//
// Overview. The functions of PYMEM_DOMAIN_OBJ are replaced (PyMem_SetAllocator): allocation goes straight on;
// a free looks up whether the block is that of an entry, with or without a gc header before the object. If it
// is, and no native call is open, the entry is taken out and the block goes its way.
//
// While a call from Python is open, or where a call left fewer references than it found, the block is not
// given back yet: it becomes a placeholder (leaks/entries/placeholder.c). When the outermost call ends,
// placeholders that nobody touched and that nothing was told to keep are freed; the others wait until the
// ledger is closed. A block that a view still shows is kept as well (leaks/views.c); for that the domain of
// other memory is passed through here too.
//
// A block that dies between calls, where something of C's may still point at it, waits as a placeholder too:
// the WAITING_MAX latest ones, small ones of the gc only. The oldest is given back, if nobody has touched it.
//
// Who frees. Each block kept is in `kept`, owned, until it is freed by ledger_frees_settle or _deinit; a
// placeholder that lost references, or that something still points at, is never given back.
//
// Types that keep their dead for reuse (float, tuple, list, dict) free nothing: their deaths are told by the
// hook of _Py_Dealloc, and by a count of 0. What the module did not make, or gave away, is kept as well: the
// block is the next that its type gives out, so it is asked for at once, before it is somebody else's.
//
// Limits and why. At most KEPT_MAX blocks wait; beyond that blocks go at once. A type with an allocator of
// its own is not seen.
#include "leaks/frees.h"
#include "leaks/call_frames.h"
#include "leaks/entries/entry.h"
#include "leaks/entries/table.h"
#include "leaks/raw_memory/allocation_runs.h"
#include "objects/objects.h"

#include "leaks/dtypes.h"
#include "leaks/raw_memory/followed.h"
#include "leaks/views.h"

enum { KEPT_MAX = 1 << 15, WAITING_MAX = 1 << 11, WAITING_BYTES = 512 };

typedef struct {
    void *block;
    PyObject *object; // owned: the placeholder in the block
} kept_block;

static PyMemAllocatorEx before, before_memory; // of the domains of objects, and of other memory
static kept_block kept[KEPT_MAX];              // owned
static uint32_t kept_count, settled;
int ledger_frees_waiting;               // kept_count > settled
static kept_block waiting[WAITING_MAX]; // owned; a ring
static uint32_t waiting_next;
static int is_installed, is_bare,
    is_bare_memory; // bare: pymalloc and nothing else (leaks/raw_memory/raw_domain.c)
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

static int was_touched(const kept_block *one) { return ledger_placeholder_missing(one->object) != 0; }

static void free_in(void *allocator, void *block) {
    const PyMemAllocatorEx *domain = allocator;
    domain->free(domain->ctx, block);
}

static ledger_freeing freeing_of(PyMemAllocatorEx *domain, const char *function) {
    return (ledger_freeing){.give_back = free_in, .context = domain, .function = function};
}

static void give_back(const kept_block *one) {
    ledger_entry *entry = ledger_find((uintptr_t)one->object);
    ledger_freeing how = freeing_of(&before, "PyObject_Free");
    if (entry) {
        ledger_remove(entry);
    }
    if (!ledger_views_hold((uintptr_t)one->block, &how)) {
        before.free(before.ctx, one->block);
    }
}

static kept_block kill(void *block, PyObject *object, ledger_entry *entry) {
    entry->flags |= LEDGER_DEAD;
    ledger_placeholder_make(object);
    kept_ever++;
    return (kept_block){block, object};
}

// The oldest that waits makes room: for good if somebody has touched it.
static void await(kept_block one) {
    kept_block *place = &waiting[waiting_next++ % WAITING_MAX];
    if (place->block && was_touched(place) && kept_count < KEPT_MAX && !ledger_depth) {
        kept[kept_count++] = *place;
        settled = kept_count;
    } else if (place->block && !was_touched(place)) {
        give_back(place);
    }
    *place = one;
}

static int is_small(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    if (PyType_Check(object) || PyUnicode_Check(object)) {
        return 0;
    }
    Py_ssize_t items = type->tp_itemsize ? Py_SIZE(object) : 0;
    return type->tp_basicsize + (items < 0 ? -items : items) * type->tp_itemsize <= WAITING_BYTES;
}

// Whether an entry is of what the block was before: an object whose own list of dead gave it back, or one
// that was freed unseen. Nothing of the block is an object then.
static __attribute__((no_sanitize("address"))) int is_of_before(const ledger_entry *entry,
                                                                const PyObject *object) {
    return entry->flags & LEDGER_LISTED || (entry->header && (uintptr_t)Py_TYPE(object) != entry->type);
}

// 1: the block is not to be freed now.
static int is_to_keep(void *block) {
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
    if (entry->flags & LEDGER_DEAD) { // freed again, through a reference too many
        entry->flags |= LEDGER_OVER;
        return 1;
    }
    if (is_of_before(entry, object)) {
        ledger_remove(entry);
        return 0;
    }
    if (!ledger_depth && entry->balance >= 0 && entry->header && is_small(object)) {
        await(kill(block, object, entry));
        return 1;
    }
    int is_given = entry->flags & LEDGER_GIVEN; // within a call these are too many to keep
    if ((!ledger_depth && entry->balance >= 0) || is_given || kept_count == KEPT_MAX) {
        ledger_remove(entry);
        return 0;
    }
    kept[kept_count++] = kill(block, object, entry);
    ledger_frees_waiting = 1;
    return 1;
}

// The latest block of a type's list of its dead, as an object made anew, or NULL where the type has no list.
static PyObject *out_of_list(const PyTypeObject *type, Py_ssize_t size) {
    if (type == &PyList_Type) {
        return PyList_New(0);
    }
    if (type == &PyDict_Type) {
        return PyDict_New();
    }
    if (type == &PyFloat_Type) {
        return PyFloat_FromDouble(0);
    }
    return type == &PyTuple_Type && size > 0 ? PyTuple_New(size) : NULL;
}

int ledger_frees_reclaim(PyObject *dead, const ledger_of_dying *was) {
    ledger_entry *entry = ledger_find((uintptr_t)dead);
    if (!was->is_others || !entry || entry->flags & LEDGER_DEAD || kept_count == KEPT_MAX) {
        return 0;
    }
    PyObject *again = out_of_list((PyTypeObject *)entry->type, was->size); // new
    if (!again) {
        PyErr_Clear();
        return 0;
    }
    if (again != dead) {
        Py_DECREF(again);
        return 0;
    }
    if (PyObject_IS_GC(again) && PyObject_GC_IsTracked(again)) {
        PyObject_GC_UnTrack(again);
    }
    kept[kept_count++] = kill((char *)again - entry->header, again, entry);
    ledger_frees_waiting = 1;
    return 1;
}

ledger_of_dying ledger_frees_dying(PyObject *object) {
    const ledger_entry *entry = ledger_find((uintptr_t)object);
    int is_others = entry && entry->flags != LEDGER_FRESH && !(entry->flags & LEDGER_GIVEN);
    return (ledger_of_dying){is_others, PyTuple_CheckExact(object) ? PyTuple_GET_SIZE(object) : 0};
}

static void *born(void *block, size_t size) {
    if (allocation_run && ledger_is_open && block) {
        allocation_runs_add(block);
    }
    if (ledger_cells_open && block) {
        ledger_cells_born(block);
    }
    if (size && size == ledger_dtypes_array_bytes && block) {
        ledger_dtypes_born(block);
    }
    return block;
}

// Blocks of a domain, for who asked for them: these functions are jumped to.
#define FOLLOWS raw_memory_follows((uintptr_t)__builtin_return_address(0))
#define GIVEN(domain, block, size, follows) \
    raw_memory_domain(RAW_MEMORY_##domain, block, size, (char *)__builtin_frame_address(0) + sizeof(void *), \
                      follows)

static int is_apart(int bare, int follows) { return bare && (follows || raw_memory_is_handing); }

static void *ledger_malloc(void *context, size_t size) {
    int follows = FOLLOWS;
    void *block =
        born(is_apart(is_bare, follows) ? raw_memory_ask(&before, size, 0) : before.malloc(before.ctx, size),
             size);
    GIVEN(PyObject_Malloc, block, size, follows);
    return block;
}

static void *ledger_calloc(void *context, size_t count, size_t size) {
    int follows = FOLLOWS;
    void *block = born(is_apart(is_bare, follows) ? raw_memory_ask(&before, count * size, 1)
                                                  : before.calloc(before.ctx, count, size),
                       count * size);
    GIVEN(PyObject_Malloc, block, count * size, follows);
    return block;
}

static void *ledger_realloc(void *context, void *block, size_t size) {
    int follows = !block && FOLLOWS;
    void *moved = is_apart(is_bare, follows) ? raw_memory_ask(&before, size, 0)
                                             : raw_memory_moved(&before, before.ctx, block, size);
    if (!block) {
        GIVEN(PyObject_Malloc, moved, size, follows);
    }
    if (allocation_run && moved && moved != block && (allocation_runs_remove(block) || ledger_is_open)) {
        allocation_runs_add(moved);
    }
    if (ledger_is_open && moved && block && moved != block) {
        PyObject *object;
        ledger_freeing how = freeing_of(&before, "PyObject_Realloc");
        how.is_gone = 1;
        ledger_views_domain((uintptr_t)block, &how);
        ledger_entry *entry = entry_of(block, &object);
        if (entry) {
            ledger_remove(entry); // what it became is entered by the hook of the call that resized it
        }
    }
    return moved;
}

static void ledger_free(void *context, void *block) {
    raw_memory_gone(block);
    if (allocation_run && block) {
        allocation_runs_remove(block);
    }
    if (block && ledger_is_open) {
        ledger_freeing how = freeing_of(&before, "PyObject_Free");
        int is_kept = is_to_keep(block);
        how.give_back = is_kept ? NULL : how.give_back; // the ledger gives it back, when it does
        if (ledger_views_domain((uintptr_t)block, &how) || is_kept) {
            return;
        }
    }
    before.free(before.ctx, block);
}

static void *memory_malloc(void *context, size_t size) {
    int follows = FOLLOWS;
    void *block = is_apart(is_bare_memory, follows) ? raw_memory_ask(&before_memory, size, 0)
                                                    : before_memory.malloc(before_memory.ctx, size);
    GIVEN(PyMem_Malloc, block, size, follows);
    return block;
}

static void *memory_calloc(void *context, size_t count, size_t size) {
    int follows = FOLLOWS;
    void *block = is_apart(is_bare_memory, follows) ? raw_memory_ask(&before_memory, count * size, 1)
                                                    : before_memory.calloc(before_memory.ctx, count, size);
    GIVEN(PyMem_Malloc, block, count * size, follows);
    return block;
}

static void *memory_realloc(void *context, void *block, size_t size) {
    int follows = !block && FOLLOWS;
    void *moved = is_apart(is_bare_memory, follows)
                      ? raw_memory_ask(&before_memory, size, 0)
                      : raw_memory_moved(&before_memory, before_memory.ctx, block, size);
    if (!block) {
        GIVEN(PyMem_Malloc, moved, size, follows);
    }
    if (ledger_is_open && moved && block && moved != block) {
        ledger_freeing how = freeing_of(&before_memory, "PyMem_Realloc");
        how.is_gone = 1;
        ledger_views_domain((uintptr_t)block, &how);
    }
    return moved;
}

static void memory_free(void *context, void *block) {
    raw_memory_gone(block);
    if (ledger_dtypes_array_bytes && block) {
        ledger_dtypes_memory_freed((uintptr_t)block);
    }
    ledger_freeing how = freeing_of(&before_memory, "PyMem_Free");
    if (!block || !ledger_is_open || !ledger_views_domain((uintptr_t)block, &how)) {
        before_memory.free(before_memory.ctx, block);
    }
}

static int is_still_ours(void) {
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

// Blocks of the call that ends now: those after `settled`, which moves behind what stays.
void ledger_frees_settle(void) {
    uint32_t stay = settled;
    for (uint32_t i = settled; i < kept_count; i++) {
        ledger_entry *entry = ledger_find((uintptr_t)kept[i].object);
        // What the call made and gave to nobody has no holder; who else may point at it is searched at the
        // end.
        int was_given = entry && (entry->flags & LEDGER_STORED || !(entry->flags & LEDGER_FRESH));
        if (entry && was_touched(&kept[i])) {
            entry->flags |= LEDGER_OVER;
        }
        if (was_given || was_touched(&kept[i])) {
            kept[stay++] = kept[i];
        } else {
            give_back(&kept[i]);
        }
    }
    kept_count = settled = stay;
    ledger_frees_waiting = 0;
}

static void give_all_back(const kept_block *blocks, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        ledger_entry *entry = blocks[i].block ? ledger_find((uintptr_t)blocks[i].object) : NULL;
        if (entry && !(entry->flags & LEDGER_STORED) && !was_touched(&blocks[i])) {
            give_back(&blocks[i]);
        }
    }
}

void ledger_frees_retire(void) {
    int listens = ledger_is_open || allocation_run || raw_memory_is_open(); // a block may go between two runs
    if (is_installed && !listens && is_still_ours()) { // else somebody stands before us: it stays a passage
        PyMem_SetAllocator(PYMEM_DOMAIN_OBJ, &before);
        PyMem_SetAllocator(PYMEM_DOMAIN_MEM, &before_memory);
        raw_memory_domain_end();
        is_installed = 0;
    }
}

// The ledger is closed: `LEDGER_STORED` was left on entries that something still points at (leaks/ledger.c).
void ledger_frees_deinit(void) {
    ledger_frees_retire();
    give_all_back(kept, kept_count);
    give_all_back(waiting, WAITING_MAX);
    memset(waiting, 0, sizeof waiting);
    kept_count = settled = 0;
}

uint64_t ledger_frees_kept(void) { return kept_ever; }
