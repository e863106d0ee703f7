// The entries and touches of the ledger, in memory of its own.
//
// Open addressing with deletion by shifting back, so no tombstones slow a table from which every object that
// dies is taken out. Touches of an entry are a chain in a pool; beyond TOUCHES_KEPT the last one is
// overwritten, so the first ones, which made the object, and the latest stay. Bounds: ENTRIES_MAX objects
// alive at a time, POOL_MAX touches; what finds no room is counted.
#define INSPECTOR_INTERNALS
#include "ledger.h"

#include "room.h"

enum { ENTRIES_MAX = 1 << 18, POOL_MAX = 1 << 21, TOUCHES_KEPT = 12 };

int ledger_is_open;
static room table_room, pool_room;
static ledger_entry *table;
static ledger_touch *pool;
static uint32_t entry_count, pool_used, pool_free;
static uint64_t dropped;
static ledger_fault faults[LEDGER_FAULTS_MAX];
static uint32_t fault_count;

// The room is reserved, not resident: what is not touched costs nothing.
int ledger_table_init(void) {
    ledger_table_deinit();
    if (room_resize(&table_room, (size_t)2 * ENTRIES_MAX * sizeof *table) < 0 ||
        room_resize(&pool_room, (size_t)POOL_MAX * sizeof *pool) < 0) {
        ledger_table_deinit();
        return -1;
    }
    table = table_room.start;
    pool = pool_room.start;
    pool_used = 1;
    return 0;
}

void ledger_table_deinit(void) {
    room_deinit(&table_room);
    room_deinit(&pool_room);
    table = NULL;
    pool = NULL;
    entry_count = pool_free = fault_count = 0;
    dropped = 0;
    memset(faults, 0, sizeof faults);
}

size_t ledger_header_bytes(PyObject *object) {
    int has_gc = PyType_HasFeature(Py_TYPE(object), Py_TPFLAGS_HAVE_GC) && PyObject_IS_GC(object);
    return has_gc ? COMPAT_PREHEADER(Py_TYPE(object)) ? LEDGER_DICT_HEADER : LEDGER_GC_HEADER
                  : LEDGER_NO_HEADER;
}

static uint32_t home(uintptr_t address) {
    return (uint32_t)((address >> 4) * 0x9E3779B97F4A7C15ULL >> 45) & (2 * ENTRIES_MAX - 1);
}

static uint32_t next(uint32_t at) { return (at + 1) & (2 * ENTRIES_MAX - 1); }

static uint32_t place_of(uintptr_t address) {
    uint32_t at = home(address);
    while (table[at].address && table[at].address != address) {
        at = next(at);
    }
    return at;
}

ledger_entry *ledger_find(uintptr_t address) {
    if (!entry_count) {
        return NULL;
    }
    ledger_entry *found = &table[place_of(address)];
    return found->address ? found : NULL;
}

static void touches_free(ledger_entry *entry) {
    if (entry->first) {
        pool[entry->last].next = pool_free;
        pool_free = entry->first;
    }
    entry->first = entry->last = entry->touches = 0;
}

// Objects whose count says nothing: immortal ones, and the singletons of 3.11, which everybody takes.
static int is_counted(PyObject *object) {
    return !compat_is_immortal(object) && object != Py_None && object != Py_True && object != Py_False &&
           object != Py_NotImplemented && object != Py_Ellipsis &&
           (!PyType_Check(object) || PyType_HasFeature((PyTypeObject *)object, Py_TPFLAGS_HEAPTYPE));
}

static void begin(ledger_entry *entry, PyObject *object, Py_ssize_t given) {
    Py_ssize_t baseline = Py_REFCNT(object) - given;
    *entry = (ledger_entry){.address = (uintptr_t)object, .type = (uintptr_t)Py_TYPE(object)};
    entry->baseline = baseline;
    entry->flags = given && baseline == 0 ? LEDGER_FRESH : 0;
    entry->header = (uint8_t)ledger_header_bytes(object);
}

ledger_entry *ledger_enter(PyObject *object, Py_ssize_t given) {
    if (!object || !Py_TYPE(object) || !is_counted(object) || ledger_is_placeholder(object)) {
        return NULL;
    }
    uint32_t at = place_of((uintptr_t)object);
    ledger_entry *entry = &table[at];
    if (entry->address) {
        // A block of a free list is given out again without a word: what is new has one reference.
        int is_other = entry->type != (uintptr_t)Py_TYPE(object) || entry->flags & LEDGER_LISTED ||
                       (given && Py_REFCNT(object) == given && !(entry->flags & LEDGER_HELD));
        if (is_other) {
            touches_free(entry);
            begin(entry, object, given);
        }
        return entry;
    }
    if (entry_count == ENTRIES_MAX) {
        dropped++;
        return NULL;
    }
    entry_count++;
    begin(entry, object, given);
    return entry;
}

void ledger_remove(ledger_entry *entry) {
    touches_free(entry);
    uint32_t hole = (uint32_t)(entry - table);
    for (uint32_t at = next(hole); table[at].address; at = next(at)) {
        uint32_t wanted = home(table[at].address);
        // It may move back if its home is not between the hole and itself.
        if (((at - wanted) & (2 * ENTRIES_MAX - 1)) >= ((at - hole) & (2 * ENTRIES_MAX - 1))) {
            table[hole] = table[at];
            hole = at;
        }
    }
    table[hole].address = 0;
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
    *ret_capacity = table && entry_count ? 2 * ENTRIES_MAX : 0;
    return table;
}

const ledger_touch *ledger_touch_at(uint32_t number) { return number ? &pool[number] : NULL; }

const ledger_fault *ledger_faults(uint32_t *ret_count) {
    *ret_count = fault_count;
    return faults;
}

void ledger_table_ranges(uintptr_t ret[4]) {
    ret[0] = (uintptr_t)table_room.start;
    ret[1] = ret[0] + table_room.bytes;
    ret[2] = (uintptr_t)pool_room.start;
    ret[3] = ret[2] + pool_room.bytes;
}

uint64_t ledger_dropped(void) { return dropped; }
