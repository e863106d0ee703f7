// Slots patched for leak checks only: functions that free memory, and allocators that chosen modules import.
// SPDX-License-Identifier: MIT
#include "leaks/leaks.h"
#include "leaks/raw_memory/followed.h"
#include "trace/arm/got.h"
#include "trace/capi/slot_table.h"

static PyObject *freeing_arm(PyObject *module, PyObject *ignored) {
    got_outcome outcome;
    got_source_find_addresses(&freeing_source);
    return got_patch(GOT_FREEING, GOT_RECORD, NULL, &outcome) < 0 ? NULL
                                                                  : PyLong_FromUnsignedLong(outcome.stored);
}

// Blocks may be freed between two runs too, so the slots stay patched until raw_memory_close().
static PyObject *freeing_disarm(PyObject *module, PyObject *ignored) {
    got_outcome outcome;
    if (!raw_memory_is_open()) {
        got_restore(GOT_FREEING, &outcome);
        ledger_frees_retire();
    }
    Py_RETURN_NONE;
}

static int text_note(struct dl_phdr_info *object, size_t size, void *paths) {
    for (int i = 0; loaded_is_among(object, paths) && i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD && segment->p_flags & PF_X) {
            uintptr_t start = object->dlpi_addr + segment->p_vaddr;
            raw_memory_text_add((scan_range){start, start + segment->p_memsz});
        }
    }
    return 0;
}

static PyObject *raw_memory_arm(PyObject *module, PyObject *paths) {
    got_outcome outcome;
    if (!PyFrozenSet_CheckExact(paths)) {
        return PyErr_Format(PyExc_TypeError, "raw_memory_arm() takes a frozenset");
    }
    got_source_find_addresses(&raw_memory_source);
    if (got_patch(GOT_RAW_MEMORY, GOT_RECORD, paths, &outcome) < 0) {
        return NULL;
    }
    dl_iterate_phdr(text_note, paths);
    return PyLong_FromUnsignedLong(outcome.stored);
}

static PyObject *raw_memory_disarm(PyObject *module, PyObject *ignored) {
    got_outcome outcome;
    got_restore(GOT_RAW_MEMORY, &outcome);
    Py_RETURN_NONE;
}

int arming_exec(PyObject *module) {
    got_family_add(GOT_FREEING, &freeing_source);
    got_family_add(GOT_RAW_MEMORY, &raw_memory_source);
    return ADD_FUNCTIONS(module, {"freeing_arm", freeing_arm, METH_NOARGS, NULL},
                         {"freeing_disarm", freeing_disarm, METH_NOARGS, NULL},
                         {"raw_memory_arm", raw_memory_arm, METH_O, NULL},
                         {"raw_memory_disarm", raw_memory_disarm, METH_NOARGS, NULL});
}
