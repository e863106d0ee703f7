// Replaces function pointers by trampolines; calls_enter is the one function that all trampolines jump to.
//
// Overview. CPython calls C through pointers in tables: PyMethodDef.ml_meth, an instance's vectorcall, a
// type's slots. To see such calls a pointer is replaced in place. The replacement must know which place it
// was called for, and the calling conventions pass no such word. But none of them passes more than five
// words, so the sixth argument register is free: trampoline N loads N there and jumps to calls_enter, an
// ordinary C function that receives the five words unchanged, and N. It loads its place in its group, and the
// end of the group adds the rest: all groups but for their ends are the same bytes (a wheel is 180 kB
// smaller). The stack is not touched: unwinders, debuggers and C++ exceptions see a plain tail call.
//
// Life cycle. calls_arm writes a row and then the pointer, by one aligned store; calls_disarm restores the
// pointer. A row does not change once its trampoline has been stored anywhere, and trampolines are static
// text. So a call in flight during a disarm, or through a copied pointer (a new subclass inherits slots),
// still reaches the original. A place armed again gets its old row if it holds the same pointer.
//
// Ownership. While a place is armed its row owns a reference to the place's owner (function, type), so that
// the memory of the place stays. calls_disarm releases these references.
//
// Limits. CALLS_MAX places at a time, and CALLS_MAX functions in the life of the process: trampolines lie in
// the library's text, so that no memory is both writable and executable. A place that other code patches
// afterwards is left as it is, and counted.
// SPDX-License-Identifier: MIT
#define INSPECTOR_INTERNALS
#include "trace/arm/calls.h"
#include "machine/machine.h"
#include "trace/arm/call_trampolines.h"
#include "trace/record/convention.h"
#include "trace/record/record.h"
#include "trace/record/ring.h"
#include "trace/record/sites.h"
#include "trace/values/call_values.h"
#include "trace/values/compact_record.h"

enum { REUSED_FROM = 8192 }; // rows; below it a place that is armed again finds its own row
enum { PLACES_HASHED = 1 << 17, FUNCTIONS_HASHED = 1 << 16 };

typedef uintptr_t (*call_target)(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);

typedef struct {
    call_target original; // the function to call
    uintptr_t held;       // what the place held: the same, or 0 where it was empty
    uintptr_t *place;
    PyObject *owner; // owned while armed, else NULL
    uint8_t kind;    // EVENT_METHOD, EVENT_VECTORCALL, EVENT_SLOT
    uint8_t convention;
    uint8_t is_common; // of bytes, bytearray or memoryview, which the standard library calls very often
    calls_slot slot;   // of what calls_arm_compared armed
} call_row;

static call_row rows[CALLS_MAX];
static uint32_t row_count;
calls_watch calls_watcher;
int calls_watches_ends;
static uint32_t by_place[PLACES_HASHED];       // row number + 1
static uint32_t places_hashed;                 // entries of by_place in use
static uint32_t by_function[FUNCTIONS_HASHED]; // last row of those whose function has this hash, + 1
static uint32_t row_before[CALLS_MAX];         // the one before it, + 1
static uint32_t free_of[FUNCTIONS_HASHED];     // how many of these rows are disarmed

uintptr_t calls_enter(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e, uint32_t number);

__asm__(CALL_TRAMPOLINES("calls_enter"));

uintptr_t calls_original(uintptr_t pointer) {
    int number = call_number(pointer);
    return number >= 0 && (uint32_t)number < row_count ? (uintptr_t)rows[number].original : 0;
}

int calls_are_few(void) { return row_count < CALLS_MAX / 2; }

int calls_is_armed(const uintptr_t *place) {
    int number = call_number(*place);
    return number >= 0 && (uint32_t)number < row_count && rows[number].place == place && rows[number].owner;
}

static void unmute(const int *unused) {
    (void)unused;
    ring_unmute();
}

// A call that the sample leaves out, with everything that it calls.
static __attribute__((noinline)) uintptr_t enter_muted(const call_row *row, const uintptr_t words[5]) {
    const int muted __attribute__((cleanup(unmute))) = 1; // a C++ exception unmutes too
    ring_mute();
    (void)muted;
    return row->original(words[0], words[1], words[2], words[3], words[4]);
}

// A call that began as a compact record but whose result does not fit one; its arguments have not changed.
static __attribute__((noinline)) void write_expanded(const call_row *row, const uintptr_t words[5],
                                                     uintptr_t result, const compact_call *call,
                                                     const compact_inputs *inputs) {
    call_values seen;
    event record = {.kind = row->kind, .slot = call->slot, .func = row->convention, .depth = call->depth};
    call_values_before((call_convention)row->convention, words, &record, &seen);
    if (inputs->kind) {
        seen.arguments[0].aux = (uint32_t)inputs->size;
        seen.arguments[0].val = inputs->size >> 32;
    }
    record.start = call->start;
    ring_keep_ticks(&record, call->spent);
    call_values_after((call_convention)row->convention, words, result, &record, &seen);
}

// Operators compare pointers: NumPy's and Cython's ask whether that of an operand is the function that runs.
// So while it runs the operands' types hold it. What other threads call meanwhile is not seen.
typedef struct {
    const call_row *row;
    uintptr_t *places[2], trampolines[2];
} bared;

static void bare(const call_row *row, const uintptr_t words[5], bared *ret) {
    ret->row = row;
    for (int i = 0; i < 2; i++) {
        char *table = *(char **)((char *)Py_TYPE((PyObject *)words[i]) + row->slot.table);
        uintptr_t *place = (uintptr_t *)(void *)(table + row->slot.offset);
        if (table && calls_original(*place) == (uintptr_t)row->original) {
            ret->places[i] = place;
            ret->trampolines[i] = *place;
            __atomic_store_n(place, (uintptr_t)row->original, __ATOMIC_RELEASE);
        }
    }
}

static void dress(const bared *done) {
    for (int i = 0; i < 2 && done->row && done->row->owner; i++) {
        uintptr_t *place = done->places[i];
        if (place && *place == (uintptr_t)done->row->original) {
            __atomic_store_n(place, done->trampolines[i], __ATOMIC_RELEASE);
        }
    }
}

static uintptr_t enter_watched(const call_row *row, uint32_t number, const uintptr_t words[5]) {
    calls_watch watcher = calls_watcher; // once: another thread may close the ledger
    int is_watched = call_counts((call_convention)row->convention) ||
                     (row->convention == CALL_DEALLOC && calls_watches_ends);
    bared operands __attribute__((cleanup(dress))) = {0}; // a C++ exception dresses them too
    if (row->convention == CALL_OPERATOR) {
        bare(row, words, &operands);
    }
    if (watcher && !ring_here.quiet && is_watched) {
        return watcher(&(calls_called){row->original, number, row->convention}, words);
    }
    return row->original(words[0], words[1], words[2], words[3], words[4]);
}

static __attribute__((noinline)) uintptr_t enter_other(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d,
                                                       uintptr_t e, uint32_t number) {
    const call_row *row = &rows[number];
    const uintptr_t words[5] = {a, b, c, d, e};
    if (row->convention == CALL_DEALLOC && call_values_open && !ring_here.quiet && running_is_ours()) {
        finalize_enter((finalize_call)(void *)row->original, (PyObject *)a, row->kind, number);
        return 0;
    }
    int is_ledgers = row->convention >= CALL_ASSIGN;
    if (__builtin_expect(ring_here.quiet || !call_values_open || is_ledgers || !running_is_ours(), 0)) {
        return enter_watched(row, number, words);
    }
    if (row->is_common && !call_values_of_stdlib && sites_is_of_stdlib()) {
        return row->original(a, b, c, d, e);
    }
    if (__builtin_expect(call_values_open == CALL_VALUES_SAMPLE, 0)) {
        if (ring_is_muted()) {
            return row->original(a, b, c, d, e);
        }
        if (!ring_sampled()) {
            return enter_muted(row, words);
        }
    }
    call_values seen;
    event record = {.kind = row->kind, .slot = number, .func = row->convention};
    call_values_before((call_convention)row->convention, words, &record, &seen);
    record.start = ring_start_ticks();
    uintptr_t result;
    {
        const uint32_t _entered_ depth = ring_enter();
        record.depth = ring_depth_byte(depth);
        result = row->original(a, b, c, d, e);
    }
    ring_stop_ticks(&record);
    call_values_after((call_convention)row->convention, words, result, &record, &seen);
    return result;
}

uintptr_t calls_enter(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e, uint32_t number) {
    const call_row *row = &rows[number];
    PyThreadState *thread = compat_thread_unchecked();
    compact_inputs inputs;
    if (call_values_open != CALL_VALUES_ALL || ring_here.quiet || row->is_common || !thread ||
        thread->interp != running_main || !compact_before(row->convention, a, b, c, d, &inputs)) {
        return enter_other(a, b, c, d, e, number);
    }
    compact_call call = {.slot = number, .kind = row->kind};
    call.type = a ? interned_id((PyObject *)Py_TYPE((PyObject *)a)) : 0;
    call.site = sites_of(thread);
    uintptr_t result;
    {
        const uint32_t _entered_ depth = ring_enter();
        call.depth = ring_depth_byte(depth);
        call.start = ring_start_ticks();
        result = row->original(a, b, c, d, e);
    }
    call.spent = ring_spent_ticks(call.start);
    compact_values values;
    if (result && compact_read(&inputs, (PyObject *)result, &values)) {
        compact_write(&call, &inputs, (PyObject *)result, &values);
    } else {
        const uintptr_t words[5] = {a, b, c, d, e};
        write_expanded(row, words, result, &call, &inputs);
    }
    return result;
}

// The entry of by_place that holds the place's row number, or the empty one where it belongs.
static uint32_t *hashed(const uintptr_t *place) {
    size_t at = ((uintptr_t)place >> 3) * 0x9E3779B97F4A7C15ULL >> 47;
    while (by_place[at] && rows[by_place[at] - 1].place != place) {
        at = (at + 1) % PLACES_HASHED;
    }
    return &by_place[at];
}

// Rebuilds by_place: a row that moved to another place leaves a stale entry behind.
static void hash_again(void) {
    memset(by_place, 0, sizeof by_place);
    places_hashed = row_count;
    for (uint32_t number = 0; number < row_count; number++) {
        *hashed(rows[number].place) = number + 1;
    }
}

static size_t function_hash(call_target function) {
    return (uintptr_t)function * 0x9E3779B97F4A7C15ULL >> 48;
}

// A disarmed row that calls the same function in the same way, or CALLS_FULL. It can be reused: its
// trampoline does the same as before for any copy of it. Thousands of rows may call one function: pybind11's
// dispatcher; they are not searched where all are armed.
static int row_again(int kind, call_convention convention, call_target original) {
    size_t hash = function_hash(original);
    for (uint32_t next = free_of[hash] ? by_function[hash] : 0; next; next = row_before[next - 1]) {
        const call_row *row = &rows[next - 1];
        if (!row->owner && row->original == original && row->kind == kind && row->convention == convention) {
            return (int)next - 1;
        }
    }
    return CALLS_FULL;
}

static uint32_t row_new(const call_row *row) {
    uint32_t *last = &by_function[function_hash(row->original)];
    rows[row_count] = *row;
    free_of[function_hash(row->original)]++;
    row_before[row_count] = *last;
    return (*last = ++row_count) - 1;
}

static int row_placed(uint32_t number, uintptr_t *place) {
    if (places_hashed >= PLACES_HASHED * 3 / 4) {
        hash_again();
    }
    uint32_t *known = hashed(place);
    places_hashed += !*known;
    *known = number + 1;
    rows[number].place = place;
    rows[number].held = *place;
    return (int)number;
}

// A row for the function that the place holds: its old one, a reusable one or a new one; or CALLS_FULL.
static int row_for(uintptr_t *place, int kind, call_convention convention, call_target original) {
    const uint32_t *known = hashed(place);
    if (*known) {
        const call_row *row = &rows[*known - 1];
        if (row->original == original && row->kind == kind && row->convention == convention) {
            return *known - 1;
        }
    }
    int again = row_count >= REUSED_FROM ? row_again(kind, convention, original) : CALLS_FULL;
    if (again >= 0) {
        return row_placed((uint32_t)again, place);
    }
    if (row_count == CALLS_MAX) {
        return CALLS_FULL;
    }
    call_row row = {original, *place, place, NULL, (uint8_t)kind, (uint8_t)convention, 0, {0, 0}};
    return row_placed(row_new(&row), place);
}

static int is_common(PyObject *owner) {
    int is_method = Py_IS_TYPE(owner, &PyMethodDescr_Type) || Py_IS_TYPE(owner, &PyClassMethodDescr_Type);
    PyObject *type = is_method ? (PyObject *)PyDescr_TYPE(owner) : owner; // borrowed
    return type == (PyObject *)&PyBytes_Type || type == (PyObject *)&PyByteArray_Type ||
           type == (PyObject *)&PyMemoryView_Type;
}

int calls_arm(uintptr_t *place, int kind, call_convention convention, PyObject *owner) {
    return calls_arm_empty(place, kind, convention, *place, owner);
}

int calls_arm_empty(uintptr_t *place, int kind, call_convention convention, uintptr_t instead,
                    PyObject *owner) {
    if (call_number(*place) >= 0) {
        return call_number(*place);
    }
    int number = row_for(place, kind, convention, (call_target)instead);
    if (number < 0) {
        return number;
    }
    if (calls_store(place, call_trampoline((uint32_t)number)) < 0) {
        return CALLS_LOCKED;
    }
    rows[number].is_common = (uint8_t)is_common(owner);
    free_of[function_hash(rows[number].original)] -= !rows[number].owner;
    rows[number].owner = Py_NewRef(owner);
    return number;
}

// The trampoline of an armed row that calls the same function for the same slot; 0: none.
static uintptr_t armed_alike(uintptr_t function, call_convention convention, calls_slot slot) {
    for (uint32_t next = by_function[function_hash((call_target)function)]; next;
         next = row_before[next - 1]) {
        const call_row *row = &rows[next - 1];
        int is_slot = row->slot.table == slot.table && row->slot.offset == slot.offset;
        if (row->owner && (uintptr_t)row->original == function && row->convention == convention && is_slot) {
            return call_trampoline(next - 1);
        }
    }
    return 0;
}

int calls_arm_compared(uintptr_t *place, call_convention convention, calls_slot slot, uintptr_t of_base,
                       PyObject *owner) {
    uintptr_t shared = of_base                       ? of_base
                       : convention == CALL_OPERATOR ? armed_alike(*place, convention, slot)
                                                     : 0;
    if (!calls_is_writable(place)) {
        return CALLS_LOCKED;
    }
    if (shared) {
        __atomic_store_n(place, shared, __ATOMIC_RELEASE);
        return CALLS_SHARED;
    }
    int number = calls_arm(place, EVENT_SLOT, convention, owner);
    if (number >= 0) {
        rows[number].slot = slot;
    }
    return number;
}

// Restores the pointer. 1: restored; 0: other code has written the place since, so it is left as it is.
static int disarm(call_row *row) {
    uint32_t number = (uint32_t)(row - rows);
    int ours = *row->place == call_trampoline(number) && calls_store(row->place, row->held) == 0;
    free_of[function_hash(row->original)]++;
    Py_CLEAR(row->owner);
    return ours;
}

static PyObject *calls_disarm(PyObject *module, PyObject *ignored) {
    Py_ssize_t restored = 0, foreign = 0;
    calls_forget_pages();
    for (uint32_t number = 0; number < row_count; number++) {
        if (rows[number].owner) {
            *(disarm(&rows[number]) ? &restored : &foreign) += 1;
        }
    }
    function_hash_disarm();
    return Py_BuildValue("(nn)", restored, foreign);
}

static PyObject *calls_armed(PyObject *module, PyObject *ignored) {
    Py_ssize_t armed = 0;
    for (uint32_t number = 0; number < row_count; number++) {
        armed += rows[number].owner != NULL;
    }
    return PyLong_FromSsize_t(armed);
}

static PyObject *calls_function(PyObject *module, PyObject *number) {
    unsigned long wanted = PyLong_AsUnsignedLong(number);
    if (wanted >= row_count) {
        return PyErr_Occurred() ? NULL : PyLong_FromLong(0);
    }
    return PyLong_FromVoidPtr((void *)rows[wanted].original);
}

int calls_exec(PyObject *module) {
    (void)running_is_ours(); // sets running_main before the first call
    return ADD_FUNCTIONS(module, {"calls_function", calls_function, METH_O, NULL},
                         {"calls_disarm", calls_disarm, METH_NOARGS, NULL},
                         {"calls_armed", calls_armed, METH_NOARGS, NULL});
}
