// Which of some words are memory that C code uses: the struct of an extension's object, a block, static
// data, a mapping. A word in freed memory, in a cache that borrows, on a stack or in a frame is not, nor
// one of CPython's own objects: what it does not own there is left from before.
// SPDX-License-Identifier: MIT
#define INSPECTOR_INTERNALS
#include "search/holders.h"

#include <dlfcn.h>

typedef struct {
    search_view view;
    scan_runs runs;
    uintptr_t word;
    place found;
} kept_search;

static void place_body(void *argument) {
    kept_search *s = argument;
    search_place(&s->view, s->word, &s->found);
}

static const void *library_of(const void *function) {
    Dl_info found;
    return dladdr(function, &found) ? found.dli_fbase : NULL;
}

static int is_of_extension(const PyTypeObject *type) {
    const void *python = library_of((const void *)PyLong_FromLong);
    while (type && library_of((const void *)type->tp_dealloc) == python) {
        type = type->tp_base;
    }
    return type != NULL;
}

// The block of the word, (0, 0) in static data; None: it is no such memory.
static PyObject *block_of(kept_search *s, uintptr_t word) { // new
    s->word = word;
    if (memory_guarded(place_body, s) < 0) {
        Py_RETURN_NONE; // gone meanwhile
    }
    int is_kept =
        s->found.kind == PLACE_BLOCK || s->found.kind == PLACE_STATIC || s->found.kind == PLACE_MAPPING;
    if (s->found.kind == PLACE_OBJECT) {
        is_kept = is_of_extension(Py_TYPE(s->found.object));
    }
    scan_range block = s->found.block;
    return is_kept ? Py_BuildValue("(KK)", (unsigned long long)block.start, (unsigned long long)block.stop)
                   : Py_NewRef(Py_None);
}

static int prepare(kept_search *s, PyObject *module, PyObject *own_prefix, uintptr_t frame, scratch *memory) {
    scan_range *own = scratch_alloc(memory, SCAN_OWN_RANGES * sizeof *own);
    s->view.subject_type = native_get_state(module)->subject_type;
    if (!own || memory_maps_init(&s->view.maps, memory) < 0) {
        return -1;
    }
    size_t count = scan_ranges_own(own, &s->view.maps, memory, frame);
    return scan_runs_init(&s->runs, &s->view.maps, own, count, memory) < 0
               ? -1
               : search_view_init(&s->view, &s->runs, memory, own_prefix);
}

static PyObject *blocks_in_use(PyObject *module, PyObject *args) {
    PyObject *words, *own_prefix; // borrowed
    _scratch_ scratch memory = {0};
    if (!PyArg_ParseTuple(args, "O!U:blocks_in_use", &PyList_Type, &words, &own_prefix)) {
        return NULL;
    }
    kept_search *s = scratch_init(&memory, SCRATCH_BYTES) < 0 ? NULL : scratch_alloc(&memory, sizeof *s);
    if (!s || prepare(s, module, own_prefix, (uintptr_t)__builtin_frame_address(0), &memory) < 0) {
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    }
    _owned_ PyObject *blocks = PyList_New(0);
    memory_guard_arm();
    for (Py_ssize_t i = 0; blocks && i < PyList_GET_SIZE(words); i++) {
        uintptr_t word = (uintptr_t)PyLong_AsUnsignedLongLong(PyList_GET_ITEM(words, i));
        if (PyErr_Occurred() || list_add(blocks, block_of(s, word)) < 0) {
            Py_CLEAR(blocks);
        }
    }
    memory_guard_disarm();
    return take(blocks);
}

PART_FUNCTIONS(kept_words, {"blocks_in_use", blocks_in_use, METH_VARARGS, NULL})
