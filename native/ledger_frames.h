// What a call from Python was given, watched while it runs.
#ifndef INSPECTOR_LEDGER_FRAMES_H
#define INSPECTOR_LEDGER_FRAMES_H

#include "ledger.h"

enum { WATCHED_MAX = 24, HOLDERS_MAX = 16, BEHIND_MAX = 16, FIELDS_MAX = 32 };

typedef struct {
    PyObject *object; // borrowed: as long as the caller has it
    Py_ssize_t count;
    Py_ssize_t found; // in the result
    uint8_t relation, argument, held, is_blurred, died, header;
    uint8_t is_behind; // the dtype of arrays behind a capsule only: they may be kept elsewhere too
} watched;

// An array in a list that the struct behind a capsule refers to.
typedef struct {
    PyObject *array, *dtype; // not references: compared only, the array may be gone after the call
    int is_there;            // after the call
} behind_row;

// What an argument held one level down before the call: not references, compared only.
typedef struct {
    PyObject *holder, *held[3]; // an array's dtype and base, an instance's class
} held_row;

typedef struct call_frame {
    watched items[WATCHED_MAX];
    held_row holders[HOLDERS_MAX];
    int count, holder_count, is_method; // its first argument is no module: it may keep the others
    uint32_t number, outer_method;
    uintptr_t low, high; // addresses watched
    PyObject *capsule;   // borrowed: the first that was given; NULL: none was
    behind_row behind[BEHIND_MAX];
    int behind_count, behind_left_out;
    PyObject *self; // borrowed: a method's own object; NULL: its fields are not compared
    uintptr_t fields[FIELDS_MAX];
    int field_count;
    struct call_frame *outer; // borrowed: of this thread or another that waits for the GIL
} call_frame;

// Counts of the arguments before the call; the frame is this thread's innermost until it is left.
void ledger_frame_enter(call_frame *frame, uint32_t number, call_convention convention,
                        const uintptr_t words[5]);
uint32_t ledger_frame_leave(call_frame *frame); // how many calls are still open
// What the frame watches an object as; NULL: it does not, or there is none.
static inline watched *ledger_frame_find(call_frame *frame, const PyObject *object /* borrowed */) {
    for (int i = 0; object && i < frame->count; i++) {
        if (frame->items[i].object == object) {
            return &frame->items[i];
        }
    }
    return NULL;
}
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

// ledger_cells.c: watches the dtypes of arrays behind a capsule; after the call, says who holds them in
// `found`.
void ledger_cells_enter(call_frame *frame, PyObject *capsule /* borrowed: the caller has it */);
void ledger_cells_leave(call_frame *frame);
void ledger_cells_end(call_frame *frame); // on every way out; a second call does nothing

#endif
