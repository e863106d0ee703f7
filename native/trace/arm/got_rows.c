// The import slots of trace/arm/got.c as rows for Python.
// SPDX-License-Identifier: MIT
#include "module/native.h"
#include "trace/arm/got_table.h"
#include "trace/capi/hooks.h"

static int row_of(uint32_t number) {
    static const int other[] = {[GOT_ALLOCATORS] = -2,  [GOT_FOREIGN] = -3, [GOT_LOOKUP] = -4,
                                [GOT_CONVERSIONS] = -7, [GOT_FREEING] = -5, [GOT_RAW_MEMORY] = -6,
                                [GOT_GROWTH] = -8};
    got_family family = got_modules[got_all_slots[number].module].family;
    return family != GOT_CAPI ? other[family] : got_rows[number] == CAPI_NO_ROW ? -1 : got_rows[number];
}

static PyObject *slot_row(uint32_t number) {
    const got_slot *slot = &got_all_slots[number];
    return Py_BuildValue(
        "(IssiKKiiiKKii)", number, got_modules[slot->module].path, slot->function->name, row_of(number),
        (unsigned long long)(uintptr_t)slot->address, (unsigned long long)got_words_of[number].count,
        (int)slot->on, (int)slot->chained, (int)slot->in_relro, (unsigned long long)(uintptr_t)slot->before,
        (unsigned long long)(uintptr_t)slot->patch, (int)slot->is_pointer, (int)slot->changed);
}

static PyObject *got_slots(PyObject *module, PyObject *unused) {
    _owned_ PyObject *rows = PyList_New(0);
    for (uint32_t i = 0; rows && i < got_slot_count; i++) {
        if (list_add(rows, slot_row(i)) < 0) {
            return NULL;
        }
    }
    return take(rows);
}

static PyObject *got_slot_of(PyObject *module, PyObject *number) {
    unsigned long at = PyLong_AsUnsignedLong(number);
    if (at >= got_slot_count) {
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_IndexError, "no slot %lu", at);
    }
    return Py_BuildValue("(ssi)", got_modules[got_all_slots[at].module].path,
                         got_all_slots[at].function->name, row_of((uint32_t)at));
}

static PyObject *module_row(const got_module *module) {
    int imports = 0, with_row = 0;
    for (uint32_t i = module->first; i < module->first + module->count; i++) {
        int is_import = got_all_slots[i].on && !got_all_slots[i].is_pointer;
        imports += is_import;
        with_row += is_import && row_of(i) >= 0;
    }
    int row = module->family == GOT_CAPI ? -1 : row_of(module->first);
    return Py_BuildValue("(siIIii)", module->path, row, module->first, module->count, imports, with_row);
}

static PyObject *got_libraries(PyObject *module, PyObject *unused) {
    _owned_ PyObject *rows = PyList_New(0);
    for (uint32_t i = 0; rows && i < got_module_count; i++) {
        if (got_modules[i].count && list_add(rows, module_row(&got_modules[i])) < 0) {
            return NULL;
        }
    }
    return take(rows);
}

static PyObject *got_without_trampoline(PyObject *module, PyObject *unused) {
    _owned_ PyObject *rows = PyList_New(0);
    for (uint32_t i = 0; rows && i < got_module_count; i++) {
        if (got_modules[i].without && got_modules[i].family == GOT_CAPI &&
            list_add(rows, Py_BuildValue("(sI)", got_modules[i].path, got_modules[i].without)) < 0) {
            return NULL;
        }
    }
    return take(rows);
}

static PyObject *got_hooked(PyObject *module, PyObject *unused) {
    PyObject *found = PyBytes_FromStringAndSize(NULL, got_slot_count); // new
    for (uint32_t i = 0; found && i < got_slot_count; i++) {
        PyBytes_AS_STRING(found)[i] = (char)got_all_slots[i].on;
    }
    return found;
}

PART_FUNCTIONS(got_rows, {"got_slots", got_slots, METH_NOARGS, NULL}, {"got_slot", got_slot_of, METH_O, NULL},
               {"got_libraries", got_libraries, METH_NOARGS, NULL},
               {"got_without_trampoline", got_without_trampoline, METH_NOARGS, NULL},
               {"got_hooked", got_hooked, METH_NOARGS, NULL})
