// The objects that the collector tracks: all, or those in whose structs given words may lie.
//
// The lists of the gc are walked as they are, also that of gc.freeze(), which gc.get_objects() leaves out;
// the GIL is held and the gc switched off meanwhile.
//
// SPDX-License-Identifier: MIT
#define INSPECTOR_INTERNALS
#include "memory/addresses.h"
#include "module/arena.h"
#include "objects/objects.h"

enum { STRUCT_BYTES_MAX = 1 << 16 };

static int into(PyObject *object, void *list) { return object == list ? 0 : PyList_Append(list, object); }

static PyObject *tracked_objects(PyObject *module, PyObject *none) {
    PyObject *all = PyList_New(0); // owned
    _collector_ int was_on = PyGC_Disable();
    if (all && edges_each_tracked(into, all)) {
        Py_CLEAR(all);
    }
    return all;
}

typedef struct {
    uintptr_t word;
    PyObject *before; // borrowed: the nearest object that begins there or before; NULL: none is near
} word_row;

typedef struct {
    word_row *rows; // by word
    size_t count;
} word_rows;

static int note_before(PyObject *object, void *argument) {
    const word_rows *asked = argument;
    size_t at = addresses_below(asked->rows, asked->count, sizeof *asked->rows, (uintptr_t)object);
    word_row *row = &asked->rows[at];
    if (at < asked->count && row->word - (uintptr_t)object < STRUCT_BYTES_MAX && row->before < object) {
        row->before = object;
    }
    return 0;
}

// An object was noted at the first word after it; the words that follow have it too, until the next object.
static PyObject *list_of(word_rows asked) {
    _owned_ PyObject *found = PyList_New((Py_ssize_t)asked.count);
    PyObject *before = NULL; // borrowed
    for (size_t i = 0; found && i < asked.count; i++) {
        before = asked.rows[i].before ? asked.rows[i].before : before;
        PyList_SET_ITEM(found, (Py_ssize_t)i, Py_NewRef(before ? before : Py_None));
    }
    return take(found);
}

static int rows_fill(word_rows asked, PyObject *words) {
    for (size_t i = 0; i < asked.count; i++) {
        asked.rows[i].word = (uintptr_t)PyLong_AsVoidPtr(PyList_GET_ITEM(words, (Py_ssize_t)i));
    }
    return PyErr_Occurred() ? -1 : 0;
}

static PyObject *tracked_before(PyObject *module, PyObject *words) {
    if (!PyList_CheckExact(words)) {
        return PyErr_Format(PyExc_TypeError, "a list of sorted addresses is expected");
    }
    arena memory = {NULL, 0};
    word_rows asked = {.count = (size_t)PyList_GET_SIZE(words)};
    if (arena_resize(&memory, (asked.count + 1) * sizeof *asked.rows) < 0) {
        return PyErr_NoMemory();
    }
    asked.rows = memory.start;
    PyObject *found = NULL; // owned
    if (rows_fill(asked, words) == 0) {
        _collector_ int was_on = PyGC_Disable();
        edges_each_tracked(note_before, &asked);
        found = list_of(asked);
    }
    arena_deinit(&memory);
    return found;
}

PART_FUNCTIONS(tracked, {"tracked_objects", tracked_objects, METH_NOARGS, NULL},
               {"tracked_before", tracked_before, METH_O, NULL})
