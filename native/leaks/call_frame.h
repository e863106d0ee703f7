// One open call from Python and the objects that it watches.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_CALL_FRAME_H
#define INSPECTOR_CALL_FRAME_H

#include "leaks/entries/table.h"
#include "objects/objects.h"
#include "trace/arm/calls.h"

enum { WATCHED_MAX = 24, HOLDERS_MAX = 16, BEHIND_MAX = 16, FIELDS_MAX = 32, SHARED_MAX = 4 };

typedef struct {
    PyObject *object; // borrowed: the caller holds it during the call
    Py_ssize_t count;
    Py_ssize_t found; // references found in the result
    uint8_t relation, argument, held, is_blurred, died, header;
    uint8_t is_field;  // held by a field of the method's object as the call began: no argument
    uint8_t is_behind; // dtype only of arrays behind a capsule, which may be stored elsewhere too
} watched;

// An array in a list that the struct of a capsule refers to.
typedef struct {
    PyObject *array, *dtype; // borrowed: only compared, the array may be freed after the call
    int is_present;          // still in a list after the call
} behind_row;

// What an argument referred to before the call. Borrowed: only compared, never followed.
typedef struct {
    PyObject *holder, *held[3]; // an array's dtype and base, an instance's class
} held_row;

typedef struct call_frame {
    watched items[WATCHED_MAX];
    held_row holders[HOLDERS_MAX];
    int count, holder_count, is_method; // is_method: the first argument is no module and may keep the others
    uint32_t number, outer_method;
    uintptr_t low, high; // range of the watched addresses
    PyObject *capsule;   // borrowed: the first capsule argument, or NULL
    behind_row behind[BEHIND_MAX];
    int behind_count, behind_left_out;
    PyObject *keywords; // borrowed: the caller's dict of keyword arguments, or NULL
    PyObject *self;     // borrowed: object of the method; NULL: its fields are not compared
    uintptr_t fields[FIELDS_MAX];
    int field_count;
    Py_ssize_t shared[SHARED_MAX]; // counts before the call, of what all code uses (leaks/shared.c)
    uint8_t given[SHARED_MAX];     // how often each is an argument: the caller has a reference for each
    uint8_t shared_lost;           // bit of each that a freed block may have held
    struct call_frame *outer;      // borrowed: opened before, by this thread or another one
    uint64_t serial;               // of the call; 0: the frame is free
    uintptr_t thread, stack;       // where the call was made: its greenlet's thread state; its C frame
    uint32_t greenlet;
} call_frame;

// The row that watches the object, or NULL.
static inline watched *ledger_frame_find(call_frame *frame, const PyObject *object /* borrowed */) {
    for (int i = 0; object && i < frame->count; i++) {
        if (frame->items[i].object == object) {
            return &frame->items[i];
        }
    }
    return NULL;
}

#endif
