// The ledger: which objects native code obtained, gave away and lost, kept without a reference to any.
//
// An entry is an address with the type and the count found there, and a chain of touches: one a C-API call or
// a call from Python that concerned the object. Nothing here owns a reference to an object in the table: one
// reference more makes honest code fail (_PyBytes_Resize, PyTuple_SetItem, ndarray.resize). That an address
// means the same object is known from its block: ledger_frees.c sees each block that is freed, and takes the
// entry out. All of it under the GIL; calls without the GIL are noted apart, in `ledger_faults`.
#ifndef INSPECTOR_LEDGER_H
#define INSPECTOR_LEDGER_H

#include "native.h"

#include "calls.h"

// What a touch was. ROLE(name, letter, meaning): the letter is that of capi.def's column "...".
#define LEDGER_ROLES(ROLE) \
    ROLE(MADE, 'n', "the call gave a new reference") \
    ROLE(LENT, 'b', "the call gave a borrowed reference") \
    ROLE(STOLEN, 'S', "the call took the caller's reference over") \
    ROLE(MAYBE_STOLEN, 's', "the call took the caller's reference over: it succeeded") \
    ROLE(KEPT, '+', "the callee keeps a reference of its own") \
    ROLE(RELEASED, '-', "the call gave a reference back") \
    ROLE(OUTPUT, '=', "the call stored a new reference") \
    ROLE(LOOKED, 'o', "the call stored a borrowed reference") \
    ROLE(REPLACED, '*', "the call replaced the caller's reference") \
    ROLE(DIED, 'x', "its last reference was given back here") \
    ROLE(UNBALANCED, 'B', "a call from Python changed its count") \
    ROLE(RETURNED, 'r', "a call from Python returned it")

enum {
    LEDGER_FRESH = 1,    // its first touch made it: it had one reference
    LEDGER_DEAD = 2,     // its block is a placeholder now (ledger_placeholder.c)
    LEDGER_HELD = 4,     // one reference of the ledger's: it would have died with references left
    LEDGER_STORED = 8,   // given to something that keeps it
    LEDGER_OVER = 16,    // released after its death
    LEDGER_BLURRED = 32, // what may have held it died in the same call: its balance is no proof
    LEDGER_LISTED = 64,  // dead, but in a list of blocks for reuse
    LEDGER_GIVEN = 128,  // a method was given it and left its count: of interest where owners are too many
};

// Bytes of a block before its object: none; the gc's; that with a managed dict before it.
enum { LEDGER_NO_HEADER = 0, LEDGER_GC_HEADER = 16, LEDGER_DICT_HEADER = 32 };

typedef struct {
    uintptr_t address; // 0: no entry. Not a reference: only read while the block lives
    uintptr_t type;    // as found at the first touch
    Py_ssize_t baseline;
    uint32_t first, last; // touches; 0: none
    int32_t balance;      // of calls from Python: references more than before, results taken out
    uint32_t calls;       // that changed its count
    uint32_t found;       // references by objects of the gc and by variables, at the end
    uint16_t touches, flags;
    uint8_t relation; // of the unbalanced call: LEDGER_RELATIONS
    uint8_t argument;
    uint8_t header;          // bytes of its block before it
    uint16_t all_calls_fell; // each of them left fewer references
} ledger_entry;

typedef struct {
    uintptr_t from; // where the caller goes on
    uint32_t slot;  // of the C-API call; for UNBALANCED and RETURNED unused
    uint32_t code;  // id in INTERNED
    int32_t lasti;
    uint32_t next;
    uint32_t method; // 1 + number of the call from Python it was in; 0: none
    uint16_t row;    // of capi.def
    uint8_t role;
    int8_t delta; // UNBALANCED: the change, cut at 127
} ledger_touch;

#define LEDGER_RELATIONS(RELATION) RELATION(ITSELF) RELATION(DTYPE) RELATION(BASE) RELATION(TYPE)
enum {
#define LEDGER_RELATION(name) LEDGER_##name,
    LEDGER_RELATIONS(LEDGER_RELATION)
#undef LEDGER_RELATION
};

// What is wrong whatever the counts say. FAULT(name, meaning)
#define LEDGER_FAULTS(FAULT) \
    FAULT(NULL_WITHOUT_EXCEPTION, "NULL was returned and no exception set") \
    FAULT(RESULT_WITH_EXCEPTION, "a result was returned with an exception set") \
    FAULT(WITHOUT_GIL, "the C-API was called without the GIL") \
    FAULT(DIED_IN_CALL, "an argument died while its caller held it") \
    FAULT(RETURNED_UNOWNED, "the result holds an argument and took no reference to it")
enum {
#define LEDGER_FAULT(name, meaning) LEDGER_##name,
    LEDGER_FAULTS(LEDGER_FAULT)
#undef LEDGER_FAULT
};

enum { LEDGER_FAULTS_MAX = 256 };
typedef struct {
    uintptr_t from, address, type;
    uint32_t slot, code, method;
    int32_t lasti;
    uint16_t row;
    uint8_t kind, was_written;
} ledger_fault;

// ledger_placeholder.c: what a dead object's block is made to.
int ledger_placeholder_init(void); // 0, or -1 with an exception set
void ledger_placeholder_make(PyObject *object /* owned: the block's last one */);
int ledger_is_placeholder(PyObject *object /* borrowed */);
Py_ssize_t ledger_placeholder_missing(PyObject *object /* borrowed */); // references taken from it since

// ledger_table.c
size_t ledger_header_bytes(PyObject *object /* borrowed */); // of its block that stand before it
extern int ledger_is_open __attribute__((visibility("hidden")));
int ledger_table_init(void); // 0, or -1 when memory is out
void ledger_table_deinit(void);
enum { LEDGER_ROOMS = 3 };
void ledger_table_ranges(scan_range ret[LEDGER_ROOMS]); // a search leaves them out
ledger_entry *ledger_find(uintptr_t address);           // or NULL
// Whether the block may be that of an entry: a bit each, set by some others too. Most blocks that are freed
// are nobody's, and these few kilobytes stay in the nearest cache.
enum { LEDGER_FILTER_LOG2 = 16, LEDGER_FILTER_BITS = 1 << LEDGER_FILTER_LOG2 };
extern uint64_t ledger_filter[LEDGER_FILTER_BITS / 64] __attribute__((visibility("hidden")));
static inline uint32_t ledger_filter_bit(uintptr_t block) {
    return (uint32_t)((block >> 4) * 0x9E3779B97F4A7C15ULL >> (64 - LEDGER_FILTER_LOG2));
}
static inline int ledger_may_hold(uintptr_t block) {
    uint32_t bit = ledger_filter_bit(block);
    return (int)(ledger_filter[bit / 64] >> bit % 64 & 1);
}
ledger_entry *ledger_enter(PyObject *object /* borrowed */, Py_ssize_t given); // or NULL: not of interest
// Watches what a method was given: the new entry, or NULL where there is one already, or no room.
ledger_entry *ledger_enter_given(PyObject *object /* borrowed */);
void ledger_remove(ledger_entry *entry);
void ledger_add(ledger_entry *entry, const ledger_touch *touch);
// New list of its touches as rows of _native.pyi; empty for NULL.
PyObject *ledger_touches(const ledger_entry *entry);
void ledger_fault_add(const ledger_fault *fault); // needs no GIL
ledger_entry *ledger_entries(uint32_t *ret_capacity);
const ledger_touch *ledger_touch_at(uint32_t number);
const ledger_fault *ledger_faults(uint32_t *ret_count);
uint64_t ledger_dropped(void); // touches and entries for which there was no room

// ledger_frames.c: the calls from Python that are open.
extern uint32_t ledger_depth __attribute__((visibility("hidden"))); // how many
uint32_t ledger_method(void); // 1 + number of this thread's innermost call; 0: none
// The block of `object` is being freed, or one at `block` that may have held what a running call watches.
void ledger_watch_freed(uintptr_t block, uintptr_t object);

// ledger_frees.c: deaths.
int ledger_frees_init(void); // 0, or -1 with an exception set
void ledger_frees_deinit(void);
void ledger_frees_retire(void); // the allocator is put back, where nobody listens any more
// A call from Python begins, and the outermost one ends: blocks that waited for its end are given back.
void ledger_frees_settle(void);
extern int ledger_frees_waiting __attribute__((visibility("hidden"))); // whether there is something to settle
uint64_t ledger_frees_kept(void);
typedef struct {
    int is_others;   // it was lent to the module, or the module gave it away
    Py_ssize_t size; // of a tuple
} ledger_of_dying;
ledger_of_dying ledger_frees_dying(PyObject *object /* borrowed */); // asked before it dies
// 1: its block is kept apart, and is no longer in the list of dead of its type.
int ledger_frees_reclaim(PyObject *dead /* borrowed: an address */, const ledger_of_dying *was);

// ledger_cells.c: while a call that was given a capsule is open, blocks given out are told.
extern int ledger_cells_open __attribute__((visibility("hidden")));
void ledger_cells_born(const void *block);

// births.c: blocks given out while births_run is not 0, the number of the run.
extern int births_run __attribute__((visibility("hidden")));
void births_add(void *block);
int births_remove(void *block); // whether it was known
void births_deinit(void);
scan_range births_range(void); // memory that names blocks: a search for blocks leaves it out
// Asks `look` of each object in such a block, borrowed, and its run; `is_type`: whether a type is at an
// address.
void births_each(int (*is_type)(uintptr_t), void (*look)(PyObject * /* borrowed */, int));

// ledger_calls.c: what a call from Python did to the counts of its arguments.
typedef uintptr_t (*ledger_target)(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);
typedef struct {
    ledger_target original;
    uint32_t number;
    call_convention convention;
} ledger_called;
static inline int ledger_takes(call_convention convention) {
    return convention != CALL_BUFFER && convention != CALL_DEALLOC;
}
uintptr_t ledger_call(const ledger_called *called, const uintptr_t words[5]);

// ledger_hooks.c
void *ledger_hook(uint16_t row); // NULL: nothing to note of it

#endif
