// Deaths of instances of watched types: what tp_dealloc forgot.
//
// A tp_dealloc is not hooked: libraries compare the slot of their types with their own function (the
// trashcan, Cython's chain of deallocs), and would go another way. The allocator tells that the block of an
// instance is freed. Two things may be left behind then, and each is noted as the last touch of what was
// lost; a search decides whether it was.
//
// - What was settled as held by a field of that instance (leaks/fields.c), and that nothing touched since.
// - The type: each instance of a heap type holds a reference to it. Its count at the start of the ledger is
//   compared with that at the end; it may have risen by at most as many as died.
//
// Limits. The types are those that the ledger was told, and classes made of them by then; TYPES_MAX of them,
// and the latest death at each of DEATHS_MAX hashed addresses.
// SPDX-License-Identifier: MIT
#define INSPECTOR_INTERNALS
#include "leaks/instances.h"
#include "leaks/call_frames.h"
#include "leaks/entries/table.h"
#include "memory/memory.h"
#include "objects/objects.h"
#include "trace/capi/capi.h"
#include "trace/record/record.h"

enum { TYPES_LOG2 = 13, TYPES_MAX = 1 << (TYPES_LOG2 - 1), DEATHS_LOG2 = 13, REFERENCES_MAX = 1 << 12 };
enum { FIELDS_KEPT = 16 };

typedef struct {
    uintptr_t type, named; // borrowed: the caller keeps both; `named`: it, or the watched base
    Py_ssize_t count, died;
} type_row;

typedef struct {
    uintptr_t object, type;
    int is_collected;              // by a collection, which calls tp_clear first
    uintptr_t fields[FIELDS_KEPT]; // what its first words were as its block was freed
    running_place place;
} death;

static type_row rows[1 << TYPES_LOG2];
static int row_count;
static uint64_t filter[1 << DEATHS_LOG2 >> 6]; // a hashed bit of each type: most freed blocks are of others
static death deaths[1 << DEATHS_LOG2];

static size_t hashed(uintptr_t address, int bits) {
    return (address >> 4) * 0x9E3779B97F4A7C15ULL >> (64 - bits);
}

static int may_be_type(uintptr_t word) {
    size_t bit = hashed(word, DEATHS_LOG2);
    return (int)(filter[bit / 64] >> bit % 64 & 1);
}

// The row of a type, or the free one for it.
static type_row *row_of(uintptr_t type) {
    size_t at = hashed(type, TYPES_LOG2);
    while (rows[at].type && rows[at].type != type) {
        at = (at + 1) % (1 << TYPES_LOG2);
    }
    return &rows[at];
}

static death *death_at(uintptr_t object) { return &deaths[hashed(object, DEATHS_LOG2)]; }

UNSANITIZED void instances_freed(uintptr_t block) {
    static const size_t headers[] = {OWN_NO_HEADER, OWN_GC_HEADER, OWN_DICT_HEADER};
    uintptr_t stop = (block & ~(uintptr_t)4095) + 4096; // end unknown, but the page is mapped
    for (size_t i = 0; row_count && i < Py_ARRAY_LENGTH(headers); i++) {
        PyObject *object = (PyObject *)(block + headers[i]);
        if ((uintptr_t)(object + 1) > stop) {
            return;
        }
        type_row *row = may_be_type((uintptr_t)Py_TYPE(object)) ? row_of((uintptr_t)Py_TYPE(object)) : NULL;
        if (row && row->type && compat_refcount(object) == 0) {
            row->died++;
            death *now = death_at((uintptr_t)object);
            *now = (death){.object = (uintptr_t)object, .type = row->named, .place = running_where_held()};
            now->is_collected = compat_is_collecting();
            size_t bytes = (size_t)Py_TYPE(object)->tp_basicsize - sizeof *object;
            bytes = Py_MIN(bytes, stop - (uintptr_t)(object + 1)); // of what only looks like an instance
            memcpy(now->fields, object + 1, Py_MIN(bytes, sizeof now->fields));
            return;
        }
    }
}

void instances_alive(uintptr_t object) {
    death *last = death_at(object);
    if (last->object == object) {
        last->object = 0;
    }
}

static int still_held(const death *by, uintptr_t object) {
    int at = 0;
    while (at < FIELDS_KEPT && by->fields[at] != object) {
        at++;
    }
    return at < FIELDS_KEPT;
}

static void note(ledger_entry *entry, const death *by) {
    ledger_touch touch = {.role = by->is_collected ? 'c' : 'd', .row = CAPI_ROW_COUNT, .from = by->type};
    touch.delta = (int8_t)still_held(by, entry->address);
    touch.code = by->place.code;
    touch.lasti = by->place.lasti;
    ledger_add(entry, &touch);
}

// The touch that settled it last, if only calls that gave references up came after.
static const ledger_touch *settled(const ledger_entry *entry) {
    const ledger_touch *last = NULL;
    for (uint32_t number = entry->first; number; number = ledger_touch_at(number)->next) {
        const ledger_touch *touch = ledger_touch_at(number);
        int gave_up = touch->role == 'B' && touch->delta < 0;
        last = touch->role == 'h' && touch->from ? touch : gave_up ? last : NULL;
    }
    return last;
}

void instances_judge_fields(void) {
    uint32_t capacity;
    ledger_entry *entries = ledger_entries(&capacity);
    for (uint32_t i = 0; i < capacity; i++) {
        ledger_entry *entry = &entries[i];
        int is_gone = !entry->address || entry->flags & (LEDGER_DEAD | LEDGER_LISTED);
        const ledger_touch *last = is_gone ? NULL : settled(entry);
        const death *by = last ? death_at(last->from) : NULL;
        PyObject now; // some types free their blocks where no hook sees it
        if (by && by->object == last->from && memory_read(entry->address, &now, sizeof now) == sizeof now &&
            (uintptr_t)now.ob_type == entry->type && compat_refcount(&now) > (Py_ssize_t)entry->found) {
            note(entry, by);
            entry->balance += !(entry->flags & LEDGER_FRESH) && !entry->balance;
        }
    }
}

static void judge_type(const type_row *row) {
    Py_ssize_t count = compat_refcount((PyObject *)row->type), rose = Py_MIN(count - row->count, row->died);
    if (rose <= 0 || count > REFERENCES_MAX || row->named != row->type) {
        return;
    }
    ledger_entry *entry = ledger_enter((PyObject *)row->type, 0);
    if (entry && !entry->balance) {
        entry->balance = (int32_t)rose;
        entry->relation = LEDGER_TYPE;
        note(entry, &(death){.type = row->type});
    }
}

void instances_judge_types(void) {
    for (size_t i = 0; row_count && i < Py_ARRAY_LENGTH(rows); i++) {
        if (rows[i].type && PyType_HasFeature((PyTypeObject *)rows[i].type, Py_TPFLAGS_HEAPTYPE)) {
            judge_type(&rows[i]);
        }
    }
}

int instances_died(PyTypeObject *type) { return row_count && row_of((uintptr_t)type)->died > 0; }

void instances_forget(void) {
    memset(rows, 0, sizeof rows);
    memset(deaths, 0, sizeof deaths);
    memset(filter, 0, sizeof filter);
    row_count = 0;
}

static void add(PyObject *type, PyObject *named) {
    type_row *row = row_of((uintptr_t)type);
    if (!row->type && row_count < TYPES_MAX) {
        *row = (type_row){(uintptr_t)type, (uintptr_t)named, compat_refcount(type), 0};
        row_count++;
        size_t bit = hashed((uintptr_t)type, DEATHS_LOG2);
        filter[bit / 64] |= (uint64_t)1 << bit % 64;
    }
}

// The first of its bases that is watched; NULL: none.
static PyObject *watched_base(PyObject *type) {
    PyObject *bases = ((PyTypeObject *)type)->tp_mro; // borrowed
    for (Py_ssize_t i = 1; bases && i < PyTuple_GET_SIZE(bases); i++) {
        const type_row *row = row_of((uintptr_t)PyTuple_GET_ITEM(bases, i));
        if (row->type && row->named == row->type) {
            return (PyObject *)row->type;
        }
    }
    return NULL;
}

static PyObject *instances_watch(PyObject *module, PyObject *args) {
    PyObject *types, *subclasses; // borrowed
    if (!PyArg_ParseTuple(args, "O!O!", &PyList_Type, &types, &PyList_Type, &subclasses)) {
        return NULL;
    }
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(types); i++) {
        add(PyList_GET_ITEM(types, i), PyList_GET_ITEM(types, i));
    }
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(subclasses); i++) {
        PyObject *type = PyList_GET_ITEM(subclasses, i), *base = watched_base(type); // borrowed
        if (base) {
            add(type, base);
        }
    }
    Py_RETURN_NONE;
}

static PyObject *instances_enders(PyObject *module, PyObject *object) {
    PyTypeObject *type = (PyTypeObject *)object; // borrowed
    uintptr_t dealloc = PyType_Check(object) ? (uintptr_t)type->tp_dealloc : 0;
    uintptr_t clear = PyType_Check(object) ? (uintptr_t)type->tp_clear : 0;
    return Py_BuildValue("(KK)", (unsigned long long)dealloc, (unsigned long long)clear);
}

PART_FUNCTIONS(instances, {"instances_watch", instances_watch, METH_VARARGS, NULL},
               {"instances_enders", instances_enders, METH_O, NULL})
