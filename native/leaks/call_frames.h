// The arguments of open calls from Python, watched while the calls run.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_LEDGER_FRAMES_H
#define INSPECTOR_LEDGER_FRAMES_H

#include "leaks/call_frame.h"
#include "leaks/entries/entry.h"
#include "trace/record/convention.h"

extern uint32_t ledger_depth __attribute__((visibility("hidden"))); // number of open calls
// The block of `object` is freed, or one at `block` that may have held what an open call watches.
void ledger_watch_freed(uintptr_t block, uintptr_t object);

// An open call, as the C stack holds it: the frame is not on the stack, which a switch of greenlets moves.
typedef struct {
    call_frame *frame; // borrowed: another call's by now if its serial is another
    uint64_t serial;
} ledger_opened;
// Reads the counts of the arguments. With too many calls open the result has no frame.
ledger_opened ledger_frame_enter(uint32_t number, call_convention convention, const uintptr_t words[5]);
// Whether it is still open: not where the ledger was closed, or the call was given up as left by longjmp.
static inline int ledger_is_opened(const ledger_opened *call) {
    return call->frame && call->frame->serial == call->serial;
}
void ledger_frame_leave(call_frame *frame);
void ledger_frames_drop(void);                                  // forgets the open calls
int ledger_frames_watch(const PyObject *object /* borrowed */); // whether an open call watches it
// Number of statics, and fields of open methods' objects, that stopped referring to it, at most `most`.
Py_ssize_t ledger_frames_released(const PyObject *object /* borrowed */, Py_ssize_t most);
void ledger_frame_compare(call_frame *frame); // after the call: what arguments dropped or took
// Charges this change of a count to the frame: no outer call accounts for it again.
void ledger_frame_charge(const call_frame *frame, const PyObject *object /* borrowed */, Py_ssize_t change);

// A call from Python changed a count by an unexplained amount. Returns its entry, or NULL.
typedef struct {
    PyObject *object; // borrowed
    Py_ssize_t change;
    uint32_t number; // of the call
    uint8_t relation, argument, is_blurred;
} ledger_imbalance;
ledger_entry *ledger_unbalanced(const ledger_imbalance *imbalance);
void ledger_frame_place(ledger_touch *touch, uint32_t number /* of the call */); // where the call is now

void ledger_frame_watch(call_frame *frame, PyObject *object /* borrowed */, int argument); // an argument
void ledger_frame_watch_itself(call_frame *frame, PyObject *object /* borrowed */); // and nothing of it
// leaks/keywords.c: watches the values of a dict of keyword arguments, numbered after `argument`; when the
// call is over, what the call took out of the dict or put into it counts as the dict's.
void ledger_keywords_enter(call_frame *frame, PyObject *keywords /* borrowed */, int argument);
void ledger_keywords_leave(call_frame *frame);

void ledger_frame_adopt(call_frame *frame, PyObject *made /* borrowed: the result of a constructor */);
int ledger_frame_has_self(const call_frame *frame); // whether the method's object is alive
// leaks/fields.c: watches what the fields of the method's object hold; call it after all arguments.
void ledger_fields_watch(call_frame *frame);   // what they hold of the ledger's; call it after all arguments
void ledger_fields_compare(call_frame *frame); // counts what fields took or dropped of it
// Notes of what this call made that its one reference is held: by the result or its fields; by a field that
// the call set. `kept`: an argument whose count the call raised, if a field, or a table behind one, has it.
void ledger_settle_result(call_frame *frame, PyObject *result /* borrowed */);
void ledger_settle_fields(call_frame *frame);
void ledger_settle_kept(const call_frame *frame, ledger_entry *entry, Py_ssize_t change);

// leaks/shared.c: None, the truths and NotImplemented, which a method may return without a reference.
void ledger_shared_open(void);
void ledger_shared_given(call_frame *frame, const PyObject *argument /* borrowed */);
void ledger_shared_enter(call_frame *frame);
// A block is freed, of which this many words can be read: bit of each that it may have held.
uint8_t ledger_shared_freed(const uintptr_t *words, uintptr_t count);
// Whether the result is one of them, and its count says that the call took no reference to it.
// `gained`: how many more fields of the method's object hold it than before.
int ledger_shared_unowned(call_frame *frame, const PyObject *result /* borrowed */, Py_ssize_t gained);
// How many more fields of the method's object refer to the object than before the call.
Py_ssize_t ledger_frame_gained(const call_frame *frame, const PyObject *object /* borrowed */);

// leaks/capsule_arrays.c: while a call with a capsule argument is open, the hooks report allocated blocks.
extern int ledger_capsules_open __attribute__((visibility("hidden")));
void ledger_capsules_allocated(const void *block);
void ledger_capsules_wipe(void); // the addresses of a ledger that is closed: a search would find them
void ledger_frames_wipe(void);   // so too, but for the calls that are still open

// leaks/capsule_arrays.c: watches dtypes of arrays behind a capsule; leave() adds the arrays to `found`.
void ledger_capsules_enter(call_frame *frame, PyObject *capsule /* borrowed: the caller holds it */);
void ledger_capsules_leave(call_frame *frame);
void ledger_capsules_end(call_frame *frame); // on every exit; a second call does nothing

#endif
