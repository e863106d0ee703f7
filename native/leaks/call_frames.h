// What a call from Python was given, watched while it runs.
#ifndef INSPECTOR_LEDGER_FRAMES_H
#define INSPECTOR_LEDGER_FRAMES_H

#include "leaks/call_frame.h"
#include "leaks/entries/entry.h"
#include "trace/record/convention.h"

extern uint32_t ledger_depth __attribute__((visibility("hidden"))); // how many
// The block of `object` is being freed, or one at `block` that may have held what a running call watches.
void ledger_watch_freed(uintptr_t block, uintptr_t object);

// Counts of the arguments before the call; the frame is this thread's innermost until it is left.
void ledger_frame_enter(call_frame *frame, uint32_t number, call_convention convention,
                        const uintptr_t words[5]);
uint32_t ledger_frame_leave(call_frame *frame);                 // how many calls are still open
int ledger_frames_watch(const PyObject *object /* borrowed */); // whether an open call does
// How many statics, and fields of open methods' own objects, pointed at it before and do no more; up to
// `most`.
Py_ssize_t ledger_frames_let_go(const PyObject *object /* borrowed */, Py_ssize_t most);
void ledger_frame_compare(call_frame *frame); // after the call: what an argument let go of, or holds since
// The frame answers for this change of a count: no call around it does.
void ledger_frame_charge(const call_frame *frame, const PyObject *object /* borrowed */, Py_ssize_t change);

// A call from Python changed a count by what nothing explains. Its entry, or NULL.
typedef struct {
    PyObject *object; // borrowed
    Py_ssize_t change;
    uint32_t number; // of the call
    uint8_t relation, argument, is_blurred;
} ledger_imbalance;
ledger_entry *ledger_unbalanced(const ledger_imbalance *one);
void ledger_frame_place(ledger_touch *touch, uint32_t number /* of the call */); // where it is

// leaks/capsule_arrays.c: while a call that was given a capsule is open, blocks given out are told.
extern int ledger_cells_open __attribute__((visibility("hidden")));
void ledger_cells_born(const void *block);

// leaks/capsule_arrays.c: watches the dtypes of arrays behind a capsule; after the call, says who holds them
// in `found`.
void ledger_cells_enter(call_frame *frame, PyObject *capsule /* borrowed: the caller has it */);
void ledger_cells_leave(call_frame *frame);
void ledger_cells_end(call_frame *frame); // on every way out; a second call does nothing

#endif
