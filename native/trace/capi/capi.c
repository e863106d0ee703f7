// The table of trace/capi/capi.def's rows: looked up by name for patching, shown to Python as CAPI_ROWS.
// SPDX-License-Identifier: MIT
#define INSPECTOR_PLAIN_NAMES
#include "trace/capi/capi.h"

enum { BUCKETS = 1 << 10 };

// All columns as text: decoders read from here what the words of a record mean.
typedef struct {
    const char *name, *type, *parameters, *obj, *val, *aux, *keep, *fails, *owns, *effects, *direction, *form;
} capi_row;

#define TEXT_OF(...) #__VA_ARGS__
#define EXPANDED(...) TEXT_OF(__VA_ARGS__)
#define CAPI(name, type, params, args, obj, val, aux, keep, fails, owns, effects, direction, text) \
    {#name, #type, EXPANDED params, #obj, #val, #aux, #keep, #fails, #owns, effects, #direction, "call"},
#define CAPI_VOID(name, params, args, obj, val, aux, keep, effects, direction, text) \
    {#name, "void",  EXPANDED params, #obj,    #val,       #aux, \
     #keep, "NEVER", "NOTHING",       effects, #direction, "call"},
#define CAPI_VA(name, type, params, fails, owns, direction) \
    {#name, #type, EXPANDED params, "", "", "", "", #fails, #owns, "", #direction, "variadic"},
#define CAPI_ENTRY(name, type, params, says) \
    {#name, #type, EXPANDED params, "", "", "", "", "NEVER", "", "", #says, "entry"},
static const capi_row rows[CAPI_ROW_COUNT] = {
#include "trace/capi/capi.def"
};

static uint16_t buckets[BUCKETS]; // row + 1; filled under the GIL, once

uint32_t capi_hash(const char *name) {
    uint32_t hash = 5381;
    for (; *name; name++) {
        hash = hash * 33 + (unsigned char)*name;
    }
    return hash;
}

static void buckets_fill(void) {
    for (uint16_t row = 0; row < CAPI_ROW_COUNT; row++) {
        uint32_t at = capi_hash(rows[row].name) % BUCKETS;
        while (buckets[at]) {
            at = (at + 1) % BUCKETS;
        }
        buckets[at] = row + 1;
    }
}

uint16_t capi_find(const char *name) {
    for (uint32_t at = capi_hash(name) % BUCKETS; buckets[at]; at = (at + 1) % BUCKETS) {
        if (strcmp(rows[buckets[at] - 1].name, name) == 0) {
            return buckets[at] - 1;
        }
    }
    return CAPI_NO_ROW;
}

int capi_calls(uint16_t row) {
    static const char callable[] = "PyObject *callable";
    return row != CAPI_NO_ROW && strncmp(rows[row].parameters, callable, sizeof callable - 1) == 0;
}

int capi_exec(PyObject *module) {
    _owned_ PyObject *table = PyTuple_New(CAPI_ROW_COUNT);
    for (Py_ssize_t i = 0; table && i < CAPI_ROW_COUNT; i++) {
        const capi_row *row = &rows[i];
        if (tuple_set(table, i,
                      Py_BuildValue("(ssssssssssss)", row->name, row->type, row->parameters, row->obj,
                                    row->val, row->aux, row->keep, row->fails, row->owns, row->effects,
                                    row->direction, row->form)) < 0) {
            return -1;
        }
    }
    if (!buckets[capi_hash(rows[0].name) % BUCKETS]) {
        buckets_fill();
    }
    return table ? PyModule_AddObjectRef(module, "CAPI_ROWS", table) : -1;
}
