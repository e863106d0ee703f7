// Calls that ctypes and cffi make: the C function, its argument words and its result.
//
// Overview. Both make a call through libffi's ffi_call, by an import slot of their own: _ctypes imports it;
// cffi's wheels contain a copy of libffi and still call it through their table. trace/arm/got.c patches that
// slot like any other. libffi's description of the call (https://github.com/libffi/libffi, include/ffi.h.in)
// gives the types of the words.
//
// By then the GIL is released, and without it no reference to a code object can be taken. So the Python line
// is noted when the GIL is released, through the slots of the same two libraries. A call that keeps the GIL
// (ctypes.PyDLL) is located when it is made.
//
// Limits. Memory behind a pointer is not read: its size is not known. A libffi that is linked into _ctypes
// without an import slot is not seen. FUNCTIONS_MAX different functions get a number; others are recorded
// without.
// SPDX-License-Identifier: MIT
#define INSPECTOR_INTERNALS
#include "trace/capi/foreign_calls.h"
#include "trace/record/record.h"
#include "trace/record/ring.h"
#include "trace/record/sites.h"
#include "trace/values/call_values.h"

#include <dlfcn.h>

enum { FUNCTIONS_MAX = 4096, FUNCTIONS_FIRST = 1 << 20, ARGUMENTS_MAX = 12 };
enum { TYPE_FLOAT = 2, TYPE_LONG_DOUBLE = 4, TYPE_COUNT = 16 };

int foreign_open;

// By libffi's type number: void, int, float, double, long double, u8, s8, ... s64, struct, pointer, complex.
static const char letters[TYPE_COUNT + 1] = "NIFFFUIUIUIUIVPV";

static uintptr_t functions[FUNCTIONS_MAX]; // a function's number is its index; never freed

static uint32_t number_of(uintptr_t function) {
    uint32_t at = (uint32_t)((function >> 4) * 0x9E3779B97F4A7C15ULL >> 52);
    for (int tried = 0; tried < FUNCTIONS_MAX; tried++, at = (at + 1) % FUNCTIONS_MAX) {
        uintptr_t held = 0;
        if (functions[at] == function ||
            __atomic_compare_exchange_n(&functions[at], &held, function, 0, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED) ||
            held == function) {
            return FUNCTIONS_FIRST + at;
        }
    }
    return FUNCTIONS_FIRST + FUNCTIONS_MAX;
}

void foreign_leaves_python(void) {
    event place = {0};
    if (running_is_ours()) {
        sites_locate(&place);
    }
    ring_here.code = place.code;
    ring_here.lasti = place.lasti;
}

static void locate(event *record) {
    PyThreadState *running = compat_thread_unchecked();
    if (running && running == PyGILState_GetThisThreadState()) { // the call keeps the GIL
        foreign_leaves_python();
    }
    record->code = ring_here.code;
    record->lasti = ring_here.lasti;
    record->flags |= record->code ? EVENT_FLAG_DEEP : 0;
    ring_here.code = 0;
}

uint64_t foreign_word(const foreign_type *type, const void *value) {
    uint64_t word = 0;
    if (type->type == TYPE_FLOAT || type->type == TYPE_LONG_DOUBLE) {
        double wide =
            type->type == TYPE_FLOAT ? (double)*(const float *)value : (double)*(const long double *)value;
        memcpy(&word, &wide, sizeof word);
        return word;
    }
    memcpy(&word, value, type->size < sizeof word ? type->size : sizeof word);
    int unused_bits = type->size < sizeof word ? (int)(64 - 8 * type->size) : 0;
    int is_signed = type->type < TYPE_COUNT && letters[type->type] == 'I';
    return is_signed && unused_bits ? (uint64_t)((int64_t)(word << unused_bits) >> unused_bits) : word;
}

static void write_value(const event *call, uint32_t number, const foreign_type *type, uint64_t word,
                        int flags) {
    ring_record(&(event){.kind = EVENT_VALUE,
                         .flags = (uint16_t)(flags | EVENT_FLAG_CONTINUATION),
                         .depth = call->depth,
                         .lasti = (int32_t)number,
                         .val = word,
                         .aux = type->size,
                         .start = type->type,
                         .func = (uint8_t)letters[type->type % TYPE_COUNT]});
}

static void call_recorded(foreign_caller caller, foreign_interface *call, foreign_function function,
                          void *result, void **values) {
    uint32_t shown = call->count < ARGUMENTS_MAX ? call->count : ARGUMENTS_MAX;
    uint64_t words[ARGUMENTS_MAX]; // read before the call, which may change the memory they are in
    event record = {.kind = EVENT_FOREIGN, .flags = EVENT_FLAG_NO_GIL, .obj = (uint64_t)(uintptr_t)function};
    record.slot = number_of((uintptr_t)function);
    record.val = call->count - shown;
    locate(&record);
    for (uint32_t i = 0; i < shown; i++) {
        words[i] = foreign_word(call->types[i], values[i]);
    }
    record.start = ring_start_ticks();
    {
        const uint32_t _entered_ depth = ring_enter();
        record.depth = ring_depth_byte(depth);
        caller(call, function, result, values);
    }
    int error = errno; // ctypes reads it next
    ring_stop_ticks(&record);
    if (ring_record(&record)) {
        for (uint32_t i = 0; i < shown; i++) {
            write_value(&record, i + 1, call->types[i], words[i], 0);
        }
        uint64_t returned = result && call->result->type ? foreign_word(call->result, result) : 0;
        write_value(&record, 0, call->result, returned, EVENT_FLAG_OUTPUT);
    }
    errno = error;
}

static void hook_foreign(foreign_interface *call, foreign_function function, void *result, void **values) {
    foreign_caller caller = (foreign_caller)got_words_of[ring_here.slot].original;
    if (foreign_open && !ring_here.quiet) {
        call_recorded(caller, call, function, result, values);
    } else {
        caller(call, function, result, values);
    }
}

static exports_row imported[] = {{"ffi_call", NULL, GOT_FOREIGN_ROW},
                                 {"cffistatic_ffi_call", NULL, GOT_FOREIGN_ROW}};

const exports_row *foreign_find(const char *name) {
    for (size_t i = 0; i < Py_ARRAY_LENGTH(imported); i++) {
        if (strcmp(imported[i].name, name) == 0) {
            return &imported[i];
        }
    }
    return NULL;
}

void *foreign_hook(uint16_t row) { return (void *)hook_foreign; }

// The function that a lazily bound slot will resolve to: searches the library and its dependencies.
void foreign_find_addresses(PyObject *path) {
    _owned_ PyObject *encoded = PyUnicode_EncodeFSDefault(path);
    void *library = encoded ? dlopen(PyBytes_AS_STRING(encoded), RTLD_LAZY | RTLD_NOLOAD) : NULL;
    for (size_t i = 0; library && i < Py_ARRAY_LENGTH(imported); i++) {
        void *found = dlsym(library, imported[i].name);
        imported[i].address = found ? found : imported[i].address;
    }
    if (library) {
        dlclose(library); // drops only the count that dlopen took
    }
    PyErr_Clear();
}

static PyObject *foreign_set_open(PyObject *module, PyObject *open) {
    foreign_open = open == Py_True;
    Py_RETURN_NONE;
}

static PyObject *foreign_functions(PyObject *module, PyObject *ignored) {
    PyObject *found = PyDict_New(); // new
    for (uint32_t i = 0; found && i < FUNCTIONS_MAX; i++) {
        uintptr_t function = __atomic_load_n(&functions[i], __ATOMIC_RELAXED);
        _owned_ PyObject *number = function ? PyLong_FromLong(FUNCTIONS_FIRST + (long)i) : NULL;
        _owned_ PyObject *address = number ? PyLong_FromVoidPtr((void *)function) : NULL;
        if (function && (!address || PyDict_SetItem(found, number, address) < 0)) {
            Py_CLEAR(found);
        }
    }
    return found;
}

PART_FUNCTIONS(foreign, {"foreign_open", foreign_set_open, METH_O, NULL},
               {"foreign_functions", foreign_functions, METH_NOARGS, NULL})
