// The entries and touches of the ledger, in memory of its own.
//
// Entries are contiguous, and removed ones are reused first, so a call that creates a thousand objects
// touches twenty pages and not a thousand: page faults were most of the cost of a watched call. An index
// finds entries by open addressing. Each word holds an address and the number of an entry, so looking up an
// absent address (most freed blocks) reads one word. It begins small and is kept at most a quarter full.
// Deletion shifts entries back, so no tombstones slow a table from which every dead object is removed.
//
// The touches of an entry form a chain in a pool. Past TOUCHES_KEPT the last one is overwritten: the first
// ones, which created it, and the latest stay. Bounds: ENTRIES_MAX live objects, POOL_MAX touches; more are
// counted.
// SPDX-License-Identifier: MIT
#define INSPECTOR_INTERNALS
#include "leaks/entries/table.h"
#include "memory/memory.h"
#include "module/arena.h"
#include "objects/objects.h"
#include "trace/capi/capi.h"

enum { ENTRIES_MAX = 1 << 18, POOL_MAX = 1 << 21, TOUCHES_KEPT = 12 };
enum { INDEX_FIRST = 1 << 13, INDEX_MAX = 4 * ENTRIES_MAX, SPARSE = 4 };
enum {
    NUMBER_BITS = 19,
    ADDRESSED_BITS = 48,
    ALIGNED_BITS = 3
}; // fields of an index word; numbers start at 1
enum { CROWDED = LEDGER_FILTER_BITS / 8 };
enum { READY_BYTES = 1 << 16 }; // of each arena, made resident when the ledger opens

int ledger_is_open;
uint64_t ledger_filter[LEDGER_FILTER_BITS / 64];
static uint32_t filter_set; // number of bits set
static arena index_arena, table_arena, pool_arena;
static uint64_t *index_words; // 0: free
static uint32_t index_mask;
static ledger_entry *table; // [0] is unused
static ledger_touch *pool;
static uint32_t entry_count, entries_used, entry_free, pool_used, pool_free;
static uint64_t dropped;
static ledger_fault faults[LEDGER_FAULTS_MAX];
static uint32_t fault_count;

// Reserves an arena. Only its beginning is made resident now, at once rather than page by page.
static int reserve(arena *target, size_t bytes) {
    if (arena_resize(target, bytes) < 0) {
        return -1;
    }
    room_ready(target, READY_BYTES);
    return 0;
}

static void filter_clear(void) {
    memset(ledger_filter, 0, sizeof ledger_filter);
    filter_set = 0;
}

int ledger_table_init(void) {
    ledger_table_deinit();
    if (reserve(&index_arena, (size_t)INDEX_MAX * sizeof *index_words) < 0 ||
        reserve(&table_arena, ((size_t)ENTRIES_MAX + 1) * sizeof *table) < 0 ||
        reserve(&pool_arena, (size_t)POOL_MAX * sizeof *pool) < 0) {
        ledger_table_deinit();
        return -1;
    }
    index_words = index_arena.start;
    index_mask = INDEX_FIRST - 1;
    table = table_arena.start;
    pool = pool_arena.start;
    pool_used = entries_used = 1;
    return 0;
}

void ledger_table_deinit(void) {
    arena_deinit(&index_arena);
    arena_deinit(&table_arena);
    arena_deinit(&pool_arena);
    index_words = NULL;
    table = NULL;
    pool = NULL;
    entry_count = entries_used = entry_free = pool_free = fault_count = 0;
    dropped = 0;
    memset(faults, 0, sizeof faults);
    filter_clear();
}

static uint64_t key_of(uintptr_t address) { return (uint64_t)address >> ALIGNED_BITS << NUMBER_BITS; }

static uint32_t number_in(uint64_t word) { return word & ((1U << NUMBER_BITS) - 1); }

static uint32_t home(uint64_t key) {
    return (uint32_t)((key >> NUMBER_BITS) * 0x9E3779B97F4A7C15ULL >> 40) & index_mask;
}

static uint32_t next(uint32_t at) { return (at + 1) & index_mask; }

// Index of the word of an address, or of the free word for it.
static uint32_t place_of(uintptr_t address) {
    uint64_t key = key_of(address);
    uint32_t at = home(key);
    while (index_words[at] && (index_words[at] ^ key) >> NUMBER_BITS) {
        at = next(at);
    }
    return at;
}

ledger_entry *ledger_find(uintptr_t address) {
    if (!entry_count) {
        return NULL;
    }
    uint64_t word = index_words[place_of(address)];
    ledger_entry *found = &table[number_in(word)]; // [0] is unused
    return word && found->address == address ? found : NULL;
}

static void index_widen(void) {
    memset(index_words, 0, ((size_t)index_mask + 1) * sizeof *index_words);
    index_mask = index_mask * 2 + 1;
    for (uint32_t number = 1; number < entries_used; number++) {
        if (table[number].address) {
            index_words[place_of(table[number].address)] = key_of(table[number].address) | number;
        }
    }
}

static void touches_free(ledger_entry *entry) {
    if (entry->first) {
        pool[entry->last].next = pool_free;
        pool_free = entry->first;
    }
    entry->first = entry->last = entry->touches = 0;
}

// Excludes objects whose count means nothing: immortal ones, and the singletons of 3.11, which all code uses.
static int is_counted(PyObject *object) {
    return !compat_is_immortal(object) && object != Py_None && object != Py_True && object != Py_False &&
           object != Py_NotImplemented && object != Py_Ellipsis &&
           (!PyType_Check(object) || PyType_HasFeature((PyTypeObject *)object, Py_TPFLAGS_HEAPTYPE));
}

static void filter_add(const ledger_entry *entry) {
    uint32_t bit = ledger_filter_bit(entry->address - entry->header);
    uint64_t mask = (uint64_t)1 << bit % 64;
    filter_set += !(ledger_filter[bit / 64] & mask);
    ledger_filter[bit / 64] |= mask;
}

// Bits of removed entries stay in the filter until they are too many. Then it is rebuilt.
static void filter_rebuild(void) {
    filter_clear();
    for (uint32_t number = 1; number < entries_used; number++) {
        if (table[number].address) {
            filter_add(&table[number]);
        }
    }
}

static void begin(ledger_entry *entry, PyObject *object, Py_ssize_t new_references) {
    Py_ssize_t baseline = compat_refcount(object) - new_references;
    *entry = (ledger_entry){.address = (uintptr_t)object, .type = (uintptr_t)Py_TYPE(object)};
    entry->baseline = baseline;
    entry->flags = new_references && baseline == 0 ? LEDGER_FRESH : 0;
    entry->header = (uint8_t)own_bytes_header(object);
    filter_add(entry);
    if (filter_set > CROWDED && filter_set > 2 * entry_count) {
        filter_rebuild();
    }
}

// Creates an entry for the address and indexes it. NULL if the table is full.
static ledger_entry *entry_new(uintptr_t address) {
    if (entry_count == ENTRIES_MAX || address >> ADDRESSED_BITS || address % (1 << ALIGNED_BITS)) {
        dropped++;
        return NULL;
    }
    if ((uint64_t)entry_count * SPARSE > index_mask && index_mask + 1 < INDEX_MAX) {
        index_widen();
    }
    uint32_t number = entry_free ? entry_free : entries_used++;
    entry_free = entry_free ? table[number].first : 0;
    index_words[place_of(address)] = key_of(address) | number;
    entry_count++;
    return &table[number];
}

ledger_entry *ledger_enter(PyObject *object, Py_ssize_t new_references) {
    if (!object || !Py_TYPE(object) || !is_counted(object) || ledger_is_placeholder(object)) {
        return NULL;
    }
    ledger_entry *entry = ledger_find((uintptr_t)object);
    if (!entry) {
        entry = entry_new((uintptr_t)object);
        if (entry) {
            begin(entry, object, new_references);
        }
        return entry;
    }
    // A block from a free list is reused without a hook: a new object has one reference.
    int is_new_object =
        entry->type != (uintptr_t)Py_TYPE(object) || entry->flags & (LEDGER_LISTED | LEDGER_GIVEN) ||
        (new_references && compat_refcount(object) == new_references && !(entry->flags & LEDGER_HELD));
    if (is_new_object) {
        touches_free(entry);
        begin(entry, object, new_references);
    }
    return entry;
}

ledger_entry *ledger_enter_argument(PyObject *object) {
    ledger_entry *known = ledger_find((uintptr_t)object);
    ledger_entry *entry = known ? NULL : ledger_enter(object, 0);
    if (entry) {
        entry->flags |= LEDGER_GIVEN;
    }
    return entry;
}

int ledger_is_alive(const ledger_entry *entry) {
    PyObject head;
    if (memory_read(entry->address, &head, sizeof head) != sizeof head) {
        return 0;
    }
    Py_ssize_t count = compat_refcount(&head);
    return (uintptr_t)head.ob_type == entry->type && count > 0 && count < (Py_ssize_t)1 << 40;
}

void ledger_remove(ledger_entry *entry) {
    touches_free(entry);
    uint32_t hole = place_of(entry->address);
    for (uint32_t at = next(hole); index_words[at]; at = next(at)) {
        uint32_t wanted = home(index_words[at]);
        // It may move back unless its home lies between the hole and itself.
        if (((at - wanted) & index_mask) >= ((at - hole) & index_mask)) {
            index_words[hole] = index_words[at];
            hole = at;
        }
    }
    index_words[hole] = 0;
    entry->address = 0;
    entry->first = entry_free;
    entry_free = (uint32_t)(entry - table);
    entry_count--;
}

static uint32_t touch_new(void) {
    uint32_t number = pool_free;
    if (number) {
        pool_free = pool[number].next;
        return number;
    }
    return pool_used < POOL_MAX ? pool_used++ : 0;
}

void ledger_add(ledger_entry *entry, const ledger_touch *touch) {
    uint32_t number = entry->touches < TOUCHES_KEPT ? touch_new() : entry->last;
    if (!number) {
        dropped++;
        return;
    }
    pool[number] = *touch;
    pool[number].next = 0;
    if (number == entry->last) {
        return;
    }
    if (entry->last) {
        pool[entry->last].next = number;
    } else {
        entry->first = number;
    }
    entry->last = number;
    entry->touches++;
}

void ledger_fault_add(const ledger_fault *fault) {
    uint32_t number = __atomic_fetch_add(&fault_count, 1, __ATOMIC_RELAXED);
    if (number < LEDGER_FAULTS_MAX) {
        faults[number] = *fault;
        __atomic_store_n(&faults[number].was_written, 1, __ATOMIC_RELEASE);
    }
}

ledger_entry *ledger_entries(uint32_t *ret_capacity) {
    *ret_capacity = entry_count ? entries_used : 0; // [0] is unused
    return table;
}

const ledger_touch *ledger_touch_at(uint32_t number) { return number ? &pool[number] : NULL; }

int ledger_is_of_host(const ledger_entry *entry, PyObject *object) {
    const ledger_touch *last = ledger_touch_at(entry->last);
    return last && !last->method && last->row != CAPI_ROW_COUNT && (uintptr_t)Py_TYPE(object) == entry->type;
}

void ledger_touch_failed(ledger_entry *entry, uint16_t row) {
    ledger_touch *last = &pool[entry->last];
    if (entry->last && last->row == row) {
        last->role = last->role == 'S' ? 'f' : last->role == 's' ? 'k' : last->role;
    }
}

const ledger_fault *ledger_faults(uint32_t *ret_count) {
    *ret_count = fault_count;
    return faults;
}

void ledger_table_ranges(scan_range ret[LEDGER_ARENAS]) {
    const arena *const arenas[LEDGER_ARENAS] = {&index_arena, &table_arena, &pool_arena};
    for (int i = 0; i < LEDGER_ARENAS; i++) {
        ret[i].start = (uintptr_t)arenas[i]->start;
        ret[i].stop = ret[i].start + arenas[i]->bytes;
    }
}

uint64_t ledger_dropped(void) { return dropped; }

PyObject *ledger_touches(const ledger_entry *entry) {
    _owned_ PyObject *touches = PyList_New(0);
    for (const ledger_touch *at = entry ? ledger_touch_at(entry->first) : NULL; touches && at;
         at = ledger_touch_at(at->next)) {
        if (list_add(touches, Py_BuildValue("(CiIKIiIi)", at->role, at->row == CAPI_ROW_COUNT ? -1 : at->row,
                                            at->slot, (unsigned long long)at->from, at->code, at->lasti,
                                            at->method, at->delta)) < 0) {
            return NULL;
        }
    }
    return take(touches);
}
