// Begins and ends the sampling of allocations: arms the hooks of all sources, and restores them.
// SPDX-License-Identifier: MIT
#include "leaks/entries/table.h"
#include "leaks/sampled/growth.h"
#include "trace/arm/got.h"

static int is_allowed(double mean) {
    if (growth_open) {
        return error_set(PyExc_RuntimeError, "growth is already sampled") == 0;
    }
    if (ledger_is_open) { // whose hooks would be below ours when it ends: lost objects were read wrongly
                          // on 3.14
        return error_set(PyExc_RuntimeError, "references are counted: sampling begins first") == 0;
    }
    if (mean < 1) {
        return error_set(PyExc_ValueError, "the mean must be 1 byte or more") == 0;
    }
    return 1;
}

// Hooks the libraries that are loaded by now; a second time only those that came since.
static int widen(got_outcome *patched, int *pools) {
    got_source_find_addresses(&growth_source);
    growth_foreign_find();
    if (got_patch(GOT_GROWTH, GOT_RECORD, NULL, patched) < 0) {
        return -1;
    }
    *pools = growth_pools_arm();
    return 0;
}

static PyObject *growth_begin(PyObject *module, PyObject *args) {
    got_outcome patched;
    int pools;
    double wanted;
    int borrows = 0;
    if (!PyArg_ParseTuple(args, "d|p", &wanted, &borrows) || !is_allowed(wanted) || growth_sites_init() < 0) {
        return NULL;
    }
    growth_borrows = borrows;
    growth_start(wanted);
    if (widen(&patched, &pools) < 0) {
        return NULL;
    }
    growth_domains_arm();
    growth_open = 1;
    return Py_BuildValue("(IIi)", patched.stored, patched.failed + patched.no_room, pools);
}

static PyObject *growth_widen(PyObject *module, PyObject *unused) {
    got_outcome patched;
    int pools;
    if (growth_open && widen(&patched, &pools) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *growth_end(PyObject *module, PyObject *unused) {
    got_outcome restored;
    growth_stop();
    growth_pools_disarm();
    growth_domains_disarm();
    got_restore(GOT_GROWTH, &restored);
    return Py_BuildValue("(II)", restored.stored, restored.foreign);
}

static PyObject *growth_forget(PyObject *module, PyObject *unused) {
    if (!growth_open) {
        growth_forget_all();
        growth_sites_deinit();
    }
    Py_RETURN_NONE;
}

int growth_exec(PyObject *module) {
#define GROWTH_NAME(name, ...) #name,
    static const char *const names[] = {GROWTH_IMPORTED(GROWTH_NAME) GROWTH_OTHERS(GROWTH_NAME)};
    got_family_add(GOT_GROWTH, &growth_source);
    return names_add(module, "GROWTH_FUNCTIONS", names, GROWTH_FUNCTIONS) < 0
               ? -1
               : ADD_FUNCTIONS(module, {"growth_begin", growth_begin, METH_VARARGS, NULL},
                               {"growth_widen", growth_widen, METH_NOARGS, NULL},
                               {"growth_end", growth_end, METH_NOARGS, NULL},
                               {"growth_forget", growth_forget, METH_NOARGS, NULL});
}
