// One call from Python that is open, with what it was given.
#ifndef INSPECTOR_CALL_FRAME_H
#define INSPECTOR_CALL_FRAME_H

#include "leaks/entries/table.h"
#include "objects/objects.h"
#include "trace/arm/calls.h"

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

// What the frame watches an object as; NULL: it does not, or there is none.
static inline watched *ledger_frame_find(call_frame *frame, const PyObject *object /* borrowed */) {
    for (int i = 0; object && i < frame->count; i++) {
        if (frame->items[i].object == object) {
            return &frame->items[i];
        }
    }
    return NULL;
}

#endif
