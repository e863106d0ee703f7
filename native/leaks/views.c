// Views: objects that show memory they do not own, and what happens to that memory.
//
// Overview. The ledger watches each memoryview, each ndarray without its own data and each ctypes object at
// an address that it meets: its address, and the bytes that it shows. leaks/frees.c and leaks/freeing.c ask
// about every block that is freed. A filter bit, or one search of a sorted table, passes most of them. A
// block that a view shows is not freed: its contents stay, and no other code gets the address. A view that
// lives when the ledger is closed, and still shows such a block, dangles.
//
// Who frees. A kept block that no dangling view shows is freed when the ledger is released. The others are
// never freed: views_freed() reports their ranges to code that would draw them. A view that died first, was
// released, or shows something else by now, does not dangle.
//
// Threads. C code frees without the GIL, so a mutex guards the tables; nothing is called under it. A child
// watches none.
//
// Views that existed before are looked for when the first watched call begins: a block of code without one
// costs nothing.
//
// Limits and why. VIEWS_MAX views, half of them for views that existed before, and KEPT_BYTES_MAX. A block
// beyond these is freed at once, and its view is reported as possible: its address may be reused by now.
// Which block contains an inner address is known at once for pymalloc, for malloc only when it is freed.
// SPDX-License-Identifier: MIT
#define INSPECTOR_INTERNALS
#include "leaks/entries/table.h"
#include "leaks/leaks.h"
#include "leaks/raw_memory/followed.h"
#include "memory/addresses.h"
#include "objects/objects.h"
#include "search/holders.h"
#include "trace/record/record.h"
#include "trace/record/ring.h"

#include <pthread.h>

enum { VIEWS_MAX = 1 << 12, EARLIER_MAX = VIEWS_MAX / 2, FREES_MAX = 1024, FOREVER_MAX = 1024 };
enum { FILTER_LOG2 = 16, FILTER_BITS = 1 << FILTER_LOG2 };
static const size_t KEPT_BYTES_MAX = (size_t)64 << 20;

typedef struct {
    uintptr_t start, stop; // bytes shown: the first one, and one past the first byte of the last element
    uintptr_t object;
    uintptr_t block; // of pymalloc; 0: none
    uint32_t freed;  // 1 + index into `frees`; 0: not freed
    uint8_t is_reported;
} view_row;

typedef struct {
    ledger_freeing freeing;
    uintptr_t block;
    size_t bytes;
    uint32_t code, method;
    int32_t lasti;
    uint8_t is_kept;
} freed_row;

uint32_t ledger_views_count;
int ledger_views_earlier;
static view_row views[VIEWS_MAX]; // sorted by start
static freed_row frees[FREES_MAX];
static uint32_t freed_count;
static size_t kept_bytes, forever_bytes;
static uint8_t filter[FILTER_BITS / 8]; // blocks to look up: of a view, or shown by one
static scan_range forever[FOREVER_MAX]; // never freed
static uint32_t forever_count;
static uintptr_t prefix; // bytes that a debug allocator puts before a block (PYTHONMALLOC=debug)
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uint32_t bit_of(uintptr_t address) {
    return (uint32_t)((address >> 3) * 0x9E3779B97F4A7C15ULL >> (64 - FILTER_LOG2));
}

static void filter_add(uintptr_t address) {
    filter[bit_of(address) / 8] |= (uint8_t)(1 << bit_of(address) % 8);
}

static int filter_has(uintptr_t address) { return filter[bit_of(address) / 8] >> bit_of(address) % 8 & 1; }

static void prefix_body(void *sample) {
    scan_range block;
    int is_block = pymalloc_block((uintptr_t)sample, 0, &block) == BLOCK_LIVE;
    prefix = is_block ? (uintptr_t)sample - block.start : 0;
}

static void block_body(void *argument) {
    view_row *row = argument;
    scan_range block;
    if (pymalloc_block(row->start, 0, &block) == BLOCK_LIVE) {
        row->block = block.start + prefix;
    }
}

// The first row that shows memory at or above the address.
static uint32_t first_from(uintptr_t address) {
    return (uint32_t)addresses_below(views, ledger_views_count, sizeof *views, address);
}

static view_row *row_of_object(uintptr_t object) {
    for (uint32_t i = 0; i < ledger_views_count; i++) {
        if (views[i].object == object) {
            return &views[i];
        }
    }
    return NULL;
}

static void row_remove(uintptr_t object) {
    view_row *row = row_of_object(object);
    if (row) {
        memmove(row, row + 1, (size_t)(&views[--ledger_views_count] - row) * sizeof *views);
    }
}

static void row_insert(const view_row *row) {
    uint32_t at = first_from(row->start);
    memmove(&views[at + 1], &views[at], (ledger_views_count++ - at) * sizeof *views);
    views[at] = *row;
}

static void watch(view_row *row, uintptr_t holder) {
    memory_guard_arm(); // reads the pool header before the bytes, which may not be mapped
    memory_guarded(block_body, row);
    memory_guard_disarm();
    row_remove(row->object);
    if (ledger_views_count == VIEWS_MAX) {
        return;
    }
    row_insert(row);
    filter_add(holder);
    filter_add(row->block ? row->block : row->start);
    if (!row->block) { // the text of a large bytes object begins behind its header
        filter_add(row->start - offsetof(PyBytesObject, ob_sval));
    }
}

void ledger_views_watch(PyObject *object) {
    view_row row = {.object = (uintptr_t)object};
    if (!borrowed_range(object, &row.start, &row.stop)) {
        return;
    }
    pthread_mutex_lock(&lock);
    uintptr_t holder = row.object - own_bytes_header(object);
    const view_row *known = filter_has(holder) ? row_of_object(row.object) : NULL;
    if (!known || known->start != row.start || known->stop != row.stop) {
        watch(&row, holder);
    }
    pthread_mutex_unlock(&lock);
}

static void locate(freed_row *row) {
    if (running_has_gil()) {
        running_place place = running_where();
        row->code = place.code;
        row->lasti = place.lasti;
        row->method = ring_here.method;
    }
}

static int is_in(const view_row *row, uintptr_t block, size_t bytes) {
    return bytes        ? row->start >= block && row->start - block < bytes
           : row->block ? row->block == block
                        : row->start == block || row->start - offsetof(PyBytesObject, ob_sval) == block;
}

// Marks the views of a block as freed. `bytes` 0: unknown size, of a domain. Returns 1 to keep the block.
static int mark(uintptr_t block, size_t bytes, const ledger_freeing *freeing, freed_row *row) {
    int found = 0;
    uint32_t first = bytes ? first_from(block) : 0;
    for (uint32_t i = first; i < ledger_views_count; i++) {
        if (bytes && views[i].start - block >= bytes) {
            break;
        }
        if (!views[i].freed && is_in(&views[i], block, bytes)) {
            size_t shown = views[i].stop - views[i].start;
            row->bytes = bytes ? bytes : shown > row->bytes ? shown : row->bytes;
            views[i].freed = freed_count + 1;
            found = 1;
        }
    }
    if (!found) {
        return 0;
    }
    row->freeing = *freeing;
    row->block = block;
    row->is_kept = !freeing->cannot_keep && freeing->give_back && kept_bytes + row->bytes <= KEPT_BYTES_MAX;
    kept_bytes += row->is_kept ? row->bytes : 0;
    frees[freed_count++] = *row;
    return row->is_kept;
}

int ledger_views_freed(uintptr_t block, size_t bytes, const ledger_freeing *freeing) {
    freed_row row = {.is_kept = 0};
    if (!ledger_views_shows(block, bytes)) {
        return 0;
    }
    locate(&row);
    pthread_mutex_lock(&lock);
    int is_kept = freed_count < FREES_MAX && mark(block, bytes, freeing, &row);
    pthread_mutex_unlock(&lock);
    return is_kept;
}

int ledger_views_shows(uintptr_t block, size_t bytes) {
    pthread_mutex_lock(&lock);
    uint32_t at = first_from(block);
    int shows = at < ledger_views_count && views[at].start - block < bytes;
    pthread_mutex_unlock(&lock);
    return shows;
}

int ledger_views_domain(uintptr_t block, const ledger_freeing *freeing) {
    if (!ledger_views_count || !filter_has(block)) {
        return 0;
    }
    freed_row row = {.is_kept = 0};
    locate(&row);
    pthread_mutex_lock(&lock);
    row_remove(block + OWN_NO_HEADER);
    row_remove(block + OWN_GC_HEADER);
    row_remove(block + OWN_DICT_HEADER);
    int is_kept = freed_count < FREES_MAX && mark(block, 0, freeing, &row);
    pthread_mutex_unlock(&lock);
    return is_kept;
}

static int is_shown(uint32_t number, int by_reported) {
    for (uint32_t i = 0; i < ledger_views_count; i++) {
        if (views[i].freed == number + 1 && (!by_reported || views[i].is_reported)) {
            return 1;
        }
    }
    return 0;
}

int ledger_views_keep(uintptr_t block, const ledger_freeing *freeing) {
    for (uint32_t i = 0; i < freed_count; i++) {
        if (frees[i].block == block && !frees[i].freeing.give_back && is_shown(i, 0)) {
            frees[i].freeing.give_back = freeing->give_back;
            frees[i].freeing.context = freeing->context;
            frees[i].is_kept = 1;
            return 1;
        }
    }
    return 0;
}

static int watch_local(PyObject *object, void *unused) {
    ledger_views_watch(object);
    return 0;
}

static int watch_referent(PyObject *object, void *unused) {
    ledger_views_watch(object);
    return ledger_views_count >= EARLIER_MAX;
}

// An array is in no list of the gc, so all that refers to one is asked; other views are tracked themselves.
static int watch_tracked(PyObject *object, void *unused) {
    return arrays_type ? edges_visit(object, watch_referent, NULL) : watch_referent(object, NULL);
}

// The first watched call begins. Those of running functions first, then those of gc objects.
void ledger_views_watch_earlier(void) {
    ledger_views_earlier = 0;
    raw_memory_fresh_begin();
    memory_guard_arm(); // once for all views
    frames_each_value(watch_local, NULL);
    edges_each_tracked(watch_tracked, NULL);
    memory_guard_disarm();
}

void ledger_views_init(void) {
    borrowed_prepare();
    void *sample = PyObject_Malloc(48);
    memory_guard_arm();
    if (sample) {
        memory_guarded(prefix_body, sample);
        PyObject_Free(sample);
    }
    memory_guard_disarm();
    ledger_views_earlier = 1;
}

static PyObject *found_row(PyObject *module, view_row *view) {
    const freed_row *freed = &frees[view->freed - 1];
    PyObject *type = (PyObject *)native_get_state(module)->subject_type; // borrowed
    _owned_ PyObject *subject = PyObject_CallOneArg(type, (PyObject *)view->object);
    int is_kept = freed->is_kept || !freed->freeing.give_back; // here, or by leaks/frees.c
    view->is_reported = 1;
    _owned_ PyObject *touches = subject ? ledger_touches(ledger_find(view->object)) : NULL;
    return touches ? Py_BuildValue("(OKKisIKIiIO)", subject, (unsigned long long)view->start,
                                   (unsigned long long)view->stop, is_kept, freed->freeing.function,
                                   freed->freeing.slot, (unsigned long long)freed->freeing.from, freed->code,
                                   freed->lasti, freed->method, touches)
                   : NULL;
}

PyObject *ledger_views_found(PyObject *module) {
    _owned_ PyObject *rows = PyList_New(0);
    for (uint32_t i = 0; rows && i < ledger_views_count; i++) {
        uintptr_t start, stop;
        PyObject *object = (PyObject *)views[i].object; // borrowed
        if (!views[i].freed || !borrowed_range(object, &start, &stop) || start != views[i].start) {
            continue;
        }
        if (list_add(rows, found_row(module, &views[i])) < 0) {
            return NULL;
        }
    }
    return take(rows);
}

static void keep_forever(const view_row *view) {
    if (view->is_reported && frees[view->freed - 1].is_kept && forever_count < FOREVER_MAX) {
        forever[forever_count++] = (scan_range){view->start, view->stop};
    }
}

void ledger_views_deinit(void) {
    for (uint32_t i = 0; i < ledger_views_count; i++) {
        keep_forever(&views[i]);
    }
    for (uint32_t i = 0; i < freed_count; i++) {
        if (frees[i].is_kept && is_shown(i, 1)) {
            forever_bytes += frees[i].bytes;
        } else if (frees[i].is_kept) {
            frees[i].freeing.give_back(frees[i].freeing.context, (void *)frees[i].block);
        }
    }
    ledger_views_count = freed_count = 0;
    ledger_views_earlier = 0;
    kept_bytes = forever_bytes;
    memset(filter, 0, sizeof filter);
}

static PyObject *views_freed(PyObject *module, PyObject *args) {
    unsigned long long start, stop;
    if (!PyArg_ParseTuple(args, "KK", &start, &stop)) {
        return NULL;
    }
    for (uint32_t i = 0; i < forever_count; i++) {
        if (forever[i].start < stop && start < forever[i].stop) {
            Py_RETURN_TRUE;
        }
    }
    Py_RETURN_FALSE;
}

// Another thread may have held the lock at the fork, so the child resets it. The child watches nothing.
static void ledger_views_forked(void) {
    pthread_mutex_init(&lock, NULL);
    ledger_views_count = 0;
    ledger_views_earlier = 0;
}

__attribute__((constructor)) static void ledger_views_prepare(void) {
    pthread_atfork(NULL, NULL, ledger_views_forked);
}

PART_FUNCTIONS(ledger_views, {"views_freed", views_freed, METH_VARARGS, NULL})
