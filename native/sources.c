// What is armed beside the C API: functions that give memory and take it back, and those that call C for
// Python.
//
// Overview. got.c patches slots and knows which hook of which source belongs into them (allocations.c,
// freeing.c, foreign.c); Python's own allocators are hooked beside them (pymem.c). Here Python arms and
// disarms each source as a whole.
#define _GNU_SOURCE
#include "got.h"

#include "allocations.h"
#include "ledger.h"
#include "loaded.h"
#include "outside.h"

static PyObject *allocations_arm(PyObject *module, PyObject *ignored) {
    got_outcome done;
    allocations_find_addresses();
    if (got_patch(GOT_ALLOCATORS, GOT_RECORD, NULL, &done) < 0) {
        return NULL;
    }
    return Py_BuildValue("(IIIi)", done.stored, done.failed, done.no_room, pymem_arm());
}

static PyObject *allocations_disarm(PyObject *module, PyObject *ignored) {
    got_outcome done;
    int left = pymem_disarm();
    got_restore(GOT_ALLOCATORS, &done);
    return Py_BuildValue("(IIIIi)", done.stored, done.foreign, done.gone, done.failed, left);
}

static PyObject *foreign_arm(PyObject *module, PyObject *paths) {
    got_outcome calls, border;
    if (!PyFrozenSet_CheckExact(paths)) {
        return PyErr_Format(PyExc_TypeError, "foreign_arm() takes a frozenset");
    }
    _owned_ PyObject *list = PySequence_List(paths);
    for (Py_ssize_t i = 0; list && i < PyList_GET_SIZE(list); i++) {
        foreign_find_addresses(PyList_GET_ITEM(list, i));
    }
    if (!list || exports_prepare() < 0 || got_patch(GOT_FOREIGN, GOT_RECORD, paths, &calls) < 0 ||
        got_patch(GOT_CAPI, GOT_BORDER, paths, &border) < 0) {
        return NULL;
    }
    return Py_BuildValue("(II)", calls.stored, border.stored);
}

static PyObject *foreign_disarm(PyObject *module, PyObject *ignored) { return got_restored(GOT_FOREIGN); }

static PyObject *freeing_arm(PyObject *module, PyObject *ignored) {
    got_outcome done;
    freeing_find_addresses();
    return got_patch(GOT_FREEING, GOT_RECORD, NULL, &done) < 0 ? NULL : PyLong_FromUnsignedLong(done.stored);
}

// Blocks may be freed between two runs too: until outside_close it stays armed.
static PyObject *freeing_disarm(PyObject *module, PyObject *ignored) {
    got_outcome done;
    if (!outside_is_open()) {
        got_restore(GOT_FREEING, &done);
        ledger_frees_retire();
    }
    Py_RETURN_NONE;
}

static int text_note(struct dl_phdr_info *object, size_t size, void *paths) {
    for (int i = 0; loaded_is_among(object, paths) && i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD && segment->p_flags & PF_X) {
            uintptr_t start = object->dlpi_addr + segment->p_vaddr;
            outside_text_add((scan_range){start, start + segment->p_memsz});
        }
    }
    return 0;
}

static PyObject *outside_arm(PyObject *module, PyObject *paths) {
    got_outcome done;
    if (!PyFrozenSet_CheckExact(paths)) {
        return PyErr_Format(PyExc_TypeError, "outside_arm() takes a frozenset");
    }
    outside_find_addresses();
    if (got_patch(GOT_OUTSIDE, GOT_RECORD, paths, &done) < 0) {
        return NULL;
    }
    dl_iterate_phdr(text_note, paths);
    return PyLong_FromUnsignedLong(done.stored);
}

static PyObject *outside_disarm(PyObject *module, PyObject *ignored) {
    got_outcome done;
    got_restore(GOT_OUTSIDE, &done);
    Py_RETURN_NONE;
}

static PyMethodDef sources_methods[] = {
    {"allocations_arm", allocations_arm, METH_NOARGS, NULL},
    {"allocations_disarm", allocations_disarm, METH_NOARGS, NULL},
    {"foreign_arm", foreign_arm, METH_O, NULL},
    {"foreign_disarm", foreign_disarm, METH_NOARGS, NULL},
    {"freeing_arm", freeing_arm, METH_NOARGS, NULL},
    {"freeing_disarm", freeing_disarm, METH_NOARGS, NULL},
    {"outside_arm", outside_arm, METH_O, NULL},
    {"outside_disarm", outside_disarm, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

int sources_exec(PyObject *module) { return PyModule_AddFunctions(module, sources_methods); }
