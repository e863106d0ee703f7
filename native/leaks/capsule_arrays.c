// Arrays that native code reaches through a capsule argument.
//
// Generated C (operations of pytensor and Theano) takes no array arguments. Python calls one function with a
// capsule, whose struct refers to lists of one item, and the function reads and writes the arrays in those
// lists. So the dtypes of these arrays are watched like those of arguments. The expected count after the call
// follows from the lists: an array that was made during the call adds one reference, an array that left the
// lists may have died. An array that is stored elsewhere too adds more references, so only a count that is
// too low is reported for arrays behind a capsule.
//
// The struct belongs to the C code: each word is read by memory_read() and used only if a list is there.
// SPDX-License-Identifier: MIT
#include "leaks/call_frames.h"
#include "objects/objects.h"

enum { STRUCT_WORDS = 16, CELL_ITEMS = 4, LIST_WORDS = 3, ALLOCATED_MAX = 512 };

int ledger_capsules_open;                  // number of open frames with a capsule
static uintptr_t allocated[ALLOCATED_MAX]; // blocks allocated since the outermost of them began
static uint32_t allocated_count;           // more than ALLOCATED_MAX: some are not known

void ledger_capsules_allocated(const void *block) {
    if (allocated_count < ALLOCATED_MAX) {
        allocated[allocated_count] = (uintptr_t)block;
    }
    allocated_count += allocated_count <= ALLOCATED_MAX;
}

void ledger_capsules_wipe(void) { memset(allocated, 0, sizeof allocated); }

static int is_allocated_since(const PyObject *array) {
    for (uint32_t i = 0; i < allocated_count && i < ALLOCATED_MAX; i++) {
        if (allocated[i] == (uintptr_t)array) {
            return 1;
        }
    }
    return 0;
}

static PyListObject *list_at(uintptr_t address) {
    uintptr_t words[LIST_WORDS];
    if (!address || address % sizeof(void *) || memory_read(address, words, sizeof words) != sizeof words ||
        words[1] != (uintptr_t)&PyList_Type) {
        return NULL;
    }
    return compat_refcount((PyObject *)words) > 0 ? (PyListObject *)address : NULL;
}

static void each_array(PyObject *capsule, void (*visit)(call_frame *, PyObject *), call_frame *frame) {
    uintptr_t words[STRUCT_WORDS];
    void *context = PyCapsule_GetContext(capsule);
    void *memory = context ? context : PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule));
    size_t count = memory_read((uintptr_t)memory, words, sizeof words) / sizeof *words;
    for (size_t i = 0; i < count; i++) {
        PyListObject *list = list_at(words[i]); // borrowed
        for (Py_ssize_t n = 0; list && n < Py_SIZE(list) && n < CELL_ITEMS; n++) {
            if (list->ob_item[n] && arrays_is(list->ob_item[n])) {
                visit(frame, list->ob_item[n]);
            }
        }
    }
}

static behind_row *row_of(call_frame *frame, PyObject *array) {
    for (int i = 0; i < frame->behind_count; i++) {
        if (frame->behind[i].array == array) {
            return &frame->behind[i];
        }
    }
    return NULL;
}

static behind_row *row_add(call_frame *frame, PyObject *array) {
    if (frame->behind_count == BEHIND_MAX) {
        frame->behind_left_out = 1;
        return NULL;
    }
    behind_row *row = &frame->behind[frame->behind_count++];
    *row = (behind_row){.array = array, .dtype = ((ndarray_fields *)array)->descr};
    return row;
}

static void enter(call_frame *frame, PyObject *array) {
    if (!row_of(frame, array)) {
        row_add(frame, array);
    }
}

void ledger_capsules_enter(call_frame *frame, PyObject *capsule) {
    if (!frame->capsule) {
        frame->capsule = capsule;
        allocated_count = ledger_capsules_open++ ? allocated_count : 0;
        each_array(capsule, enter, frame);
    }
}

static void leave(call_frame *frame, PyObject *array) {
    behind_row *row = row_of(frame, array);
    if (row) {
        row->is_present = 1;
    } else if ((row = row_add(frame, array))) {
        watched *dtype = is_allocated_since(array) ? ledger_frame_find(frame, row->dtype) : NULL;
        row->is_present = 1;
        if (dtype) {
            dtype->found++;
        }
    }
}

void ledger_capsules_end(call_frame *frame) {
    ledger_capsules_open -= frame->capsule != NULL;
    frame->capsule = NULL;
}

void ledger_capsules_leave(call_frame *frame) {
    if (!frame->capsule) {
        return;
    }
    each_array(frame->capsule, leave, frame);
    ledger_capsules_end(frame);
    for (int i = 0; i < frame->behind_count; i++) {
        watched *dtype = ledger_frame_find(frame, frame->behind[i].dtype);
        if (dtype) {
            dtype->found -= !frame->behind[i].is_present;
            dtype->is_blurred |= frame->behind_left_out || allocated_count > ALLOCATED_MAX;
        }
    }
}
