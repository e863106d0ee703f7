// The ledger for Python: open, close with rows for objects with suspicious counts, release.
//
// ledger_close() first counts the quick referrers, once for all entries: what every object in the gc lists
// refers to, and the variables of running functions. An object whose count these explain is dropped. The
// rest, and all objects that a call left unbalanced or that died with holders, are returned to Python in
// Subjects; Python then searches memory for their owners. From ledger_close() on nothing is recorded.
// SPDX-License-Identifier: MIT
#define INSPECTOR_INTERNALS
#include "leaks/call_frames.h"
#include "leaks/entries/table.h"
#include "leaks/instances.h"
#include "leaks/leaks.h"
#include "leaks/raw_memory/followed.h"
#include "objects/objects.h"
#include "trace/arm/calls.h"
#include "trace/arm/got.h"
#include "trace/capi/hooks.h"
#include "trace/record/record.h"

#include <dlfcn.h>

enum { HEADER_WORDS = 2 };

// Most references lead to objects without an entry: this filter passes them without a search of the table.
enum { FILTER_LOG2 = 15 };
static uint64_t filter[1 << FILTER_LOG2 >> 6];

static uint32_t bit_of(uintptr_t address) {
    return (uint32_t)((address >> 3) * 0x9E3779B97F4A7C15ULL >> (64 - FILTER_LOG2));
}

static int count_reference(PyObject *object, void *unused) {
    uint32_t bit = bit_of((uintptr_t)object);
    ledger_entry *entry = filter[bit / 64] >> bit % 64 & 1 ? ledger_find((uintptr_t)object) : NULL;
    if (entry) {
        entry->found++;
    }
    return 0;
}

static int count_of_holder(PyObject *holder, void *unused) {
    if (compat_refcount(holder) > 0) { // else released too often: may be half deallocated
        edges_visit(holder, count_reference, NULL);
    }
    return 0;
}

static void count_references(void) {
    uint32_t capacity;
    const ledger_entry *entries = ledger_entries(&capacity);
    memset(filter, 0, sizeof filter);
    for (uint32_t i = 0; i < capacity; i++) {
        uint32_t bit = bit_of(entries[i].address);
        filter[bit / 64] |= (uint64_t)!!entries[i].address << bit % 64;
    }
    if (capacity) {
        edges_each_tracked(count_of_holder, NULL);
        frames_each_value(count_reference, NULL);
    }
}

// Whether a dead object in the free list of its type was released again. A type with its own allocator may
// overwrite the block; then the type word proves nothing (in a free float it is the link of the list).
static int is_released_in_list(const ledger_entry *entry) {
    uintptr_t header[HEADER_WORDS];
    return memory_read(entry->address, header, sizeof header) == sizeof header &&
           compat_refcount((PyObject *)header) < 0 &&
           (header[1] == entry->type || entry->type == (uintptr_t)&PyFloat_Type);
}

static int is_suspicious(ledger_entry *entry) {
    PyObject *object = (PyObject *)entry->address; // borrowed
    if (entry->flags & LEDGER_DEAD) {
        return 1;
    }
    if (entry->flags & LEDGER_LISTED) {
        entry->flags |= is_released_in_list(entry) ? LEDGER_OVER : 0;
        return !!(entry->flags & LEDGER_OVER);
    }
    if (!ledger_is_alive(entry) || compat_is_immortal(object)) {
        return 0;
    }
    Py_ssize_t count = compat_refcount(object) - !!(entry->flags & LEDGER_HELD);
    if (!entry->balance && PyUnicode_CheckExact(object) && PyUnicode_CHECK_INTERNED(object)) {
        return 0; // held by the table of interned strings
    }
    if (entry->balance || entry->flags & LEDGER_HELD || entry->found > (uint64_t)count) {
        return 1;
    }
    return !(entry->flags & LEDGER_GIVEN) && count > (Py_ssize_t)entry->found && count > entry->baseline;
}

static PyObject *subject_of(PyObject *module, const ledger_entry *entry) {
    if (entry->flags & LEDGER_LISTED) {
        Py_RETURN_NONE;
    }
    PyObject *type = (PyObject *)native_get_state(module)->subject_type; // borrowed
    return PyObject_CallOneArg(type, (PyObject *)entry->address);
}

typedef struct {
    ledger_entry *entry; // borrowed
    Py_ssize_t count;
} suspect;

// Types of dead objects, and whether each is alive: it may have died with its last instance. Valid while rows
// are made, since only a collection ends a type and none runs. A static type, in a loaded file, is alive.
enum { TYPE_ROWS = 1024, TYPES_MAX = TYPE_ROWS / 2 }; // later types stay unknown
typedef struct {
    uintptr_t type;
    int is_alive;
} type_row;
static type_row types[TYPE_ROWS];

// The row of a type, or the free one for it.
static type_row *type_row_of(uintptr_t type) {
    size_t at = (type >> 4) % TYPE_ROWS;
    while (types[at].type && types[at].type != type) {
        at = (at + 1) % TYPE_ROWS;
    }
    return &types[at];
}

static int type_found(PyObject *object, void *unused) {
    type_row *row = PyType_Check(object) ? type_row_of((uintptr_t)object) : NULL;
    if (row && row->type) {
        row->is_alive = 1;
    }
    return 0;
}

static int has_type(const ledger_entry *entry) { return !(entry->flags & (LEDGER_DEAD | LEDGER_LISTED)); }

// One walk over all objects finds the heap types among them.
static void types_find(const suspect *found, uint32_t count) {
    int is_open = 0, known = 0;
    memset(types, 0, sizeof types);
    for (uint32_t i = 0; i < count && known < TYPES_MAX; i++) {
        type_row *row = has_type(found[i].entry) ? NULL : type_row_of(found[i].entry->type);
        if (row && !row->type) {
            Dl_info unused;
            *row = (type_row){found[i].entry->type, dladdr((const void *)found[i].entry->type, &unused) != 0};
            is_open |= !row->is_alive;
            known++;
        }
    }
    if (is_open) {
        edges_each_tracked(type_found, NULL);
    }
}

static int is_type_alive(uintptr_t type) { return type_row_of(type)->is_alive; }

static PyObject *type_of(const ledger_entry *entry) {
    return has_type(entry) || is_type_alive(entry->type) ? layout_type_name((PyTypeObject *)entry->type)
                                                         : PyUnicode_FromString("object");
}

static PyObject *row_of(PyObject *module, const ledger_entry *entry, Py_ssize_t count) {
    _owned_ PyObject *subject = subject_of(module, entry);
    _owned_ PyObject *type = subject ? type_of(entry) : NULL;
    _owned_ PyObject *touches = type ? ledger_touches(entry) : NULL;
    return touches ? Py_BuildValue("(OKOInnIiIIiiO)", subject, (unsigned long long)entry->address, type,
                                   (unsigned)entry->flags, entry->baseline, count, entry->found,
                                   entry->balance, entry->calls, (unsigned)entry->all_calls_fell,
                                   (int)entry->relation, (int)entry->argument, touches)
                   : NULL;
}

static PyObject *faults_list(void) {
    uint32_t count;
    const ledger_fault *faults = ledger_faults(&count);
    _owned_ PyObject *rows = PyList_New(0);
    for (uint32_t i = 0; rows && i < count && i < LEDGER_FAULTS_MAX; i++) {
        const ledger_fault *fault = &faults[i];
        if (fault->was_written &&
            list_add(rows,
                     Py_BuildValue("(iiIKIiIK)", fault->kind, fault->row == CAPI_ROW_COUNT ? -1 : fault->row,
                                   fault->slot, (unsigned long long)fault->from, fault->code, fault->lasti,
                                   fault->method, (unsigned long long)fault->address)) < 0) {
            return NULL;
        }
    }
    return take(rows);
}

// Selects the suspicious entries. Takes one reference to each object, so that none dies meanwhile.
static uint32_t suspects_take(suspect *ret, uint32_t limit, uint32_t *ret_left_out) {
    uint32_t capacity, found = 0;
    ledger_entry *entries = ledger_entries(&capacity);
    *ret_left_out = 0;
    for (uint32_t i = 0; i < capacity; i++) {
        ledger_entry *entry = &entries[i];
        if (!entry->address || !is_suspicious(entry)) {
            continue;
        }
        if (found == limit) {
            ++*ret_left_out;
            continue;
        }
        PyObject *object = (PyObject *)entry->address;
        Py_ssize_t missing = entry->flags & LEDGER_DEAD ? ledger_placeholder_missing(object) : 0;
        Py_ssize_t count = entry->flags & LEDGER_DEAD ? -missing : compat_refcount(object);
        ret[found++] = (suspect){entry, count - (entry->flags & LEDGER_HELD ? 1 : 0)};
        if (!(entry->flags & LEDGER_LISTED)) {
            Py_INCREF(object);
        }
    }
    return found;
}

// While it is closed, hooks and patched pointers find NULL, and call nothing here.
static void watch(int is_open) {
    ledger_is_open = is_open;
    calls_watcher = is_open ? ledger_call : NULL;
    capi_ledger_of.new_result = is_open ? ledger_note_result : NULL;
}

static PyObject *ledger_open(PyObject *module, PyObject *skipped) {
    if (ledger_is_open) {
        return PyErr_Format(PyExc_RuntimeError, "the ledger is already open");
    }
    edges_prepare();
    if (ledger_table_init() < 0) {
        return PyErr_NoMemory();
    }
    if (ledger_frees_init() < 0) {
        return NULL;
    }
    names_forget();
    ledger_views_init();
    running_pass_over(skipped);
    ledger_calls_clear();
    ledger_frames_drop();
    ledger_shared_open();
    watch(1);
    Py_RETURN_NONE;
}

// One row per suspect. Releases the reference that suspects_take() took of each.
static PyObject *rows_of(PyObject *module, const suspect *found, uint32_t count) {
    _collector_ int was_on = PyGC_Disable();
    types_find(found, count);
    PyObject *rows = PyList_New(0); // new
    for (uint32_t i = 0; i < count; i++) {
        if (rows && list_add(rows, row_of(module, found[i].entry, found[i].count)) < 0) {
            Py_CLEAR(rows);
        }
        if (!(found[i].entry->flags & LEDGER_LISTED)) {
            Py_DECREF((PyObject *)found[i].entry->address);
        }
    }
    return rows;
}

// Forgets objects that are dead in the free list of their type: a later object may take the block.
static PyObject *ledger_settle(PyObject *module, PyObject *unused) {
    uint32_t capacity;
    ledger_entry *entries = ledger_entries(&capacity);
    for (uint32_t i = 0; i < capacity; i++) {
        if (entries[i].address && !(entries[i].flags & (LEDGER_DEAD | LEDGER_LISTED)) &&
            !ledger_is_alive(&entries[i])) {
            ledger_remove(&entries[i]);
        }
    }
    uint32_t faults;
    ledger_faults(&faults);
    return PyLong_FromUnsignedLong(faults);
}

static PyObject *ledger_close(PyObject *module, PyObject *limit) {
    Py_ssize_t limit_rows = PyLong_AsSsize_t(limit);
    arena memory = {NULL, 0};
    if (limit_rows < 1 || limit_rows > 1 << 20 ||
        arena_resize(&memory, (size_t)limit_rows * sizeof(suspect)) < 0) {
        return PyErr_Format(PyExc_ValueError, "the limit is between 1 and 2**20");
    }
    suspect *found = memory.start;
    uint32_t left_out = 0, count = 0;
    if (ledger_is_open) {
        instances_judge_types();
        watch(0);
        names_forget(); // its references to names are found by no search
        count_references();
        instances_judge_fields();
        count = suspects_take(found, (uint32_t)limit_rows, &left_out);
    }
    PyObject *rows = rows_of(module, found, count);
    arena_deinit(&memory);
    _owned_ PyObject *faults = rows ? faults_list() : NULL;
    _owned_ PyObject *kept_rows = rows;
    _owned_ PyObject *dangling = faults ? ledger_views_found(module) : NULL;
    return dangling
               ? Py_BuildValue("(OOIKKO)", kept_rows, faults, left_out, (unsigned long long)ledger_dropped(),
                               (unsigned long long)ledger_frees_kept(), dangling)
               : NULL;
}

// `keep`: addresses that something still refers to.
static PyObject *ledger_release(PyObject *module, PyObject *keep) {
    uint32_t capacity;
    ledger_entry *entries = ledger_entries(&capacity);
    watch(0);
    for (uint32_t i = 0; i < capacity; i++) {
        ledger_entry *entry = &entries[i];
        if (!entry->address || !(entry->flags & (LEDGER_HELD | LEDGER_DEAD))) {
            continue;
        }
        _owned_ PyObject *address = PyLong_FromUnsignedLongLong(entry->address);
        int is_kept = address ? PySequence_Contains(keep, address) : -1;
        if (is_kept < 0) {
            return NULL;
        }
        if (entry->flags & LEDGER_HELD && !is_kept) {
            entry->flags &= (uint16_t)~LEDGER_HELD;
            Py_DECREF((PyObject *)entry->address);
        }
        entry->flags = (uint16_t)(is_kept ? entry->flags | LEDGER_STORED : entry->flags & ~LEDGER_STORED);
    }
    instances_forget();
    ledger_frees_deinit();
    ledger_views_deinit();
    ledger_frames_wipe();
    ledger_capsules_wipe();
    ledger_statics_deinit();
    ledger_table_deinit();
    Py_RETURN_NONE;
}

static PyObject *ledger_rooms(PyObject *module, PyObject *unused) {
    scan_range ranges[LEDGER_ARENAS + 2];
    ledger_table_ranges(ranges);
    ranges[LEDGER_ARENAS] = allocation_runs_range(); // a block without a header starts at its object
    raw_memory_ranges(ranges + LEDGER_ARENAS + 1);
    PyObject *rows = PyList_New(0); // new
    for (size_t i = 0; rows && i < Py_ARRAY_LENGTH(ranges); i++) {
        if (list_add(rows, Py_BuildValue("(KK)", (unsigned long long)ranges[i].start,
                                         (unsigned long long)ranges[i].stop)) < 0) {
            Py_CLEAR(rows);
        }
    }
    return rows;
}

// Adds the references that were wrongly released, so that the object outlives its owners.
static PyObject *ledger_give_back(PyObject *module, PyObject *args) {
    PyObject *subject;
    Py_ssize_t count;
    if (!PyArg_ParseTuple(args, "On", &subject, &count)) {
        return NULL;
    }
    PyObject *object = subject_object(module, subject); // borrowed
    if (!object) {
        return NULL;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        Py_INCREF(object);
    }
    Py_RETURN_NONE;
}

// The names for the numbers in rows: LEDGER_FLAGS, LEDGER_FAULTS.
int ledger_exec(PyObject *module) {
    capi_ledger_of.hook = ledger_hook;
    numpy_table_ledger = (numpy_ledger){ledger_dtypes_add, ledger_dtypes_deinit};
    static const char *const flags[] = {"FRESH", "DEAD",    "HELD",   "STORED",
                                        "OVER",  "BLURRED", "LISTED", "GIVEN"};
    _owned_ PyObject *masks = PyDict_New();
    for (int i = 0; masks && i < 8; i++) {
        _owned_ PyObject *mask = PyLong_FromLong(1L << i);
        if (!mask || PyDict_SetItemString(masks, flags[i], mask) < 0) {
            return -1;
        }
    }
#define FIRST(name, meaning) #name,
    static const char *const kinds[] = {LEDGER_FAULTS(FIRST)};
    enum { KINDS = sizeof kinds / sizeof *kinds };
    if (!masks || PyModule_AddObjectRef(module, "LEDGER_FLAGS", masks) < 0 ||
        names_add(module, "LEDGER_FAULTS", kinds, KINDS) < 0) {
        return -1;
    }
    return ADD_FUNCTIONS(
        module, {"ledger_open", ledger_open, METH_O, NULL}, {"ledger_close", ledger_close, METH_O, NULL},
        {"ledger_release", ledger_release, METH_O, NULL}, {"ledger_rooms", ledger_rooms, METH_NOARGS, NULL},
        {"ledger_settle", ledger_settle, METH_NOARGS, NULL},
        {"ledger_calls", ledger_calls, METH_NOARGS, NULL},
        {"ledger_give_back", ledger_give_back, METH_VARARGS, NULL});
}
