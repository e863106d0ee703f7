// The ledger: the objects that native code obtained, passed on and lost, kept without references to them.
//
// An entry is an address with the type and the count found there, and a chain of touches: each is a C-API
// call or a call from Python that concerned the object. The table owns no references: one reference more
// makes correct code fail (_PyBytes_Resize, PyTuple_SetItem, ndarray.resize). leaks/frees.c sees each block
// that is freed and removes its entry, so an address always means the same object. All of it runs under the
// GIL; calls without the GIL are recorded apart, in `ledger_faults`.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_ENTRY_H
#define INSPECTOR_ENTRY_H

#include "memory/memory.h"

// Kinds of touches. ROLE(name, letter, meaning): the letter is that of column "..." in trace/capi/capi.def.
#define LEDGER_ROLES(ROLE) \
    ROLE(MADE, 'n', "the call returned a new reference") \
    ROLE(LENT, 'b', "the call returned a borrowed reference") \
    ROLE(STOLEN, 'S', "the call stole the caller's reference") \
    ROLE(MAYBE_STOLEN, 's', "the call stole the caller's reference, if it succeeded") \
    ROLE(STOLEN_FAILING, 'f', "the call failed, and stole the reference all the same") \
    ROLE(NOT_STOLEN, 'k', "the call failed, and so did not steal the reference") \
    ROLE(KEPT, '+', "the callee keeps a reference of its own") \
    ROLE(RELEASED, '-', "the call released a reference") \
    ROLE(OUTPUT, '=', "the call stored a new reference") \
    ROLE(LOOKED, 'o', "the call stored a borrowed reference") \
    ROLE(REPLACED, '*', "the call replaced the caller's reference") \
    ROLE(DIED, 'x', "its last reference was released here") \
    ROLE(UNBALANCED, 'B', "a call from Python changed its count") \
    ROLE(RETURNED, 'r', "a call from Python returned it") \
    ROLE(SETTLED, 'h', \
         "the call that made it returned, and its one reference was held by the result or a field") \
    ROLE(OUTLIVED, 'd', "the object that held it died, and left it as it was") \
    ROLE(COLLECTED, 'c', "the same, by a collection")

enum {
    LEDGER_FRESH = 1,    // its first touch created it, with one reference
    LEDGER_DEAD = 2,     // its block is a placeholder now (leaks/entries/placeholder.c)
    LEDGER_HELD = 4,     // the ledger owns one reference: it would have died with holders left
    LEDGER_STORED = 8,   // passed to something that keeps it
    LEDGER_OVER = 16,    // released after its death
    LEDGER_BLURRED = 32, // a possible holder died in the same call: the balance is no proof
    LEDGER_LISTED = 64,  // dead, in the free list of its type
    LEDGER_GIVEN = 128,  // argument of a method that left its count: reported if it has too many owners
};

typedef struct {
    uintptr_t address; // 0: no entry. Not a reference: read only while the block lives
    uintptr_t type;    // as found at the first touch
    Py_ssize_t baseline;
    uint32_t first, last; // touches; 0: none
    int32_t balance;      // of calls from Python: added references, without those in results
    uint32_t calls;       // calls that changed its count
    uint32_t found;       // references of gc objects and variables, counted at the end
    uint16_t touches, flags;
    uint8_t relation; // of the unbalanced call: LEDGER_ITSELF ...
    uint8_t argument;
    uint8_t header;          // bytes of the block before the object
    uint16_t all_calls_fell; // each of `calls` left fewer references
} ledger_entry;

typedef struct {
    uintptr_t from; // return address in the caller; SETTLED: the holder or 0; OUTLIVED: the holder's type
    uint32_t slot;  // of the C-API call; for UNBALANCED and RETURNED unused
    uint32_t code;  // id in INTERNED
    int32_t lasti;
    uint32_t next;
    uint32_t method; // 1 + number of the enclosing call from Python; 0: none
    uint16_t row;    // of trace/capi/capi.def
    uint8_t role;
    int8_t delta; // UNBALANCED: the change, clamped to 127; OUTLIVED: 1 if a field had it to the end;
                  // of a C-API call: the count as it was noted, of a result with the new reference
} ledger_touch;

enum { LEDGER_ITSELF, LEDGER_DTYPE, LEDGER_BASE, LEDGER_TYPE }; // what of the object is the argument

// Faults that are wrong for any count. FAULT(name, meaning)
#define LEDGER_FAULTS(FAULT) \
    FAULT(NULL_WITHOUT_EXCEPTION, "NULL was returned and no exception set") \
    FAULT(RESULT_WITH_EXCEPTION, "a result was returned with an exception set") \
    FAULT(WITHOUT_GIL, "the C-API was called without the GIL") \
    FAULT(DIED_IN_CALL, "an argument died while its caller held it") \
    FAULT(RETURNED_UNOWNED, "the result holds an argument and took no reference to it") \
    FAULT(RETURNED_SHARED, "None or a truth was returned, and its count did not rise")
#define LEDGER_FAULT(name, meaning) LEDGER_##name,
enum { LEDGER_FAULTS(LEDGER_FAULT) };

enum { LEDGER_FAULTS_MAX = 256 };
typedef struct {
    uintptr_t from, address, type;
    uint32_t slot, code, method;
    int32_t lasti;
    uint16_t row;
    uint8_t kind, was_written;
} ledger_fault;

// leaks/entries/placeholder.c: the object that replaces a dead one in its block.
int ledger_placeholder_init(void); // 0, or -1 with an exception set
void ledger_placeholder_make(PyObject *object /* owned: the dead object of the block */);
int ledger_is_placeholder(PyObject *object /* borrowed */);
Py_ssize_t ledger_placeholder_missing(PyObject *object /* borrowed */); // references released since

#endif
