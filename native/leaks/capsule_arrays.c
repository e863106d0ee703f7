// Arrays behind a capsule that a call from Python was given.
//
// Generated C (pytensor's and Theano's operations) takes no arguments: Python calls one function with a
// capsule, whose struct refers to lists of one item, and it reads and writes the arrays in those. So the
// dtypes of these arrays are watched as an argument's are. What they should count after the call is known
// from the lists: an array that was made meanwhile holds one reference more, one that left them may have
// died. Arrays that are kept elsewhere hold more references still; so only a count that is too low is told of
// what lies behind a capsule.
//
// The struct is C's own: each word is read with care, and believed where a list lives at it.
#include "leaks/call_frame.h"
#include "leaks/call_frames.h"
#include "memory/memory.h"
#include "objects/objects.h"

enum { STRUCT_WORDS = 16, CELL_ITEMS = 4, LIST_WORDS = 3, BORN_MAX = 512 };

int ledger_cells_open;           // frames with a capsule
static uintptr_t born[BORN_MAX]; // blocks given out since the outermost of them began
static uint32_t born_count;      // more than BORN_MAX: not all are known

void ledger_cells_born(const void *block) {
    if (born_count < BORN_MAX) {
        born[born_count] = (uintptr_t)block;
    }
    born_count += born_count <= BORN_MAX;
}

static int is_born(const PyObject *array) {
    for (uint32_t i = 0; i < born_count && i < BORN_MAX; i++) {
        if (born[i] == (uintptr_t)array) {
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

static behind_row *known(call_frame *frame, PyObject *array) {
    for (int i = 0; i < frame->behind_count; i++) {
        if (frame->behind[i].array == array) {
            return &frame->behind[i];
        }
    }
    return NULL;
}

static behind_row *note(call_frame *frame, PyObject *array) {
    if (frame->behind_count == BEHIND_MAX) {
        frame->behind_left_out = 1;
        return NULL;
    }
    behind_row *row = &frame->behind[frame->behind_count++];
    *row = (behind_row){.array = array, .dtype = ((ndarray_fields *)array)->descr};
    return row;
}

static void enter(call_frame *frame, PyObject *array) {
    if (!known(frame, array)) {
        note(frame, array);
    }
}

void ledger_cells_enter(call_frame *frame, PyObject *capsule) {
    if (!frame->capsule) {
        frame->capsule = capsule;
        born_count = ledger_cells_open++ ? born_count : 0;
        each_array(capsule, enter, frame);
    }
}

static void leave(call_frame *frame, PyObject *array) {
    behind_row *row = known(frame, array);
    if (row) {
        row->is_there = 1;
    } else if ((row = note(frame, array))) {
        watched *one = is_born(array) ? ledger_frame_find(frame, row->dtype) : NULL;
        row->is_there = 1;
        if (one) {
            one->found++;
        }
    }
}

void ledger_cells_end(call_frame *frame) {
    ledger_cells_open -= frame->capsule != NULL;
    frame->capsule = NULL;
}

void ledger_cells_leave(call_frame *frame) {
    if (!frame->capsule) {
        return;
    }
    each_array(frame->capsule, leave, frame);
    ledger_cells_end(frame);
    for (int i = 0; i < frame->behind_count; i++) {
        watched *one = ledger_frame_find(frame, frame->behind[i].dtype);
        if (one) {
            one->found -= !frame->behind[i].is_there;
            one->is_blurred |= frame->behind_left_out || born_count > BORN_MAX;
        }
    }
}
