// Patches NumPy's function table PyArray_API, through which every extension calls NumPy.
//
// Overview. NumPy publishes its C API as one array of pointers, in the capsule `_ARRAY_API`; a module keeps
// the array's address and calls `PyArray_API[184](...)`. All modules share one word per function, so only the
// return address identifies the caller. The word holds a trampoline (trace/capi/trampolines.c), whose note
// looks up which chosen module the return address lies in. For a chosen module it continues at the row's
// hook, with a slot number for that module and function; for any other at the function. NumPy's own calls do
// not use the table.
//
// A tail call leaves no return address in its own module, but one in Python, or in this extension where the
// method is hooked. It counts as a chosen module's call while a hooked call is open; its module is unknown.
//
// What is kept. `before` is the previous word. It is restored only while our trampoline is still there, and
// the hooks call it, so another tracer stays in the chain. Nothing is freed: calls under way still use
// trampolines and slot numbers. All but the note needs the GIL, and so do NumPy's functions.
// SPDX-License-Identifier: MIT
#define INSPECTOR_PLAIN_NAMES
#include "machine/machine.h"
#include "memory/addresses.h"
#include "trace/arm/calls.h"
#include "trace/arm/got.h"
#include "trace/capi/hooks.h"
#include "trace/record/record.h"
#include "trace/record/ring.h"

enum { TAIL_CALLER, CALLER_FIRST };
enum { TABLE_BYTES = 304 * sizeof(uintptr_t) }; // up to the last row

typedef struct {
    uint16_t row;
    uint16_t places[2]; // index in the table of NumPy 1, of NumPy 2
} table_row;

static const table_row table[] = {
#define NUMPY(name, first, second) {capi_##name, {first, second}},
#include "trace/arm/numpy.def"
};
enum { ROWS = sizeof table / sizeof *table };
_Static_assert((int)ROWS <= (int)NUMPY_ROWS_MAX, "trace/capi/trampolines.c has so many trampolines");

typedef struct {
    uintptr_t *place; // NULL: not patched
    uintptr_t before;
    void *hook; // NULL: this grade records nothing of it
} table_word;

typedef struct {
    uintptr_t start, stop; // addresses of its code
    uint16_t number;
} code_range;

static table_word words[ROWS];
static int is_armed, is_counting, is_for_ledger;
static int is_writable;                   // the table lies in a writable segment: no page protection to check
static char *caller_paths[NUMPY_CALLERS]; // owned, for the life of the process
static uint8_t is_chosen[NUMPY_CALLERS];
static code_range ranges[NUMPY_CALLERS]; // sorted by address
static uint32_t caller_count = CALLER_FIRST, range_count;

// The range with the highest start up to the address; range_count where there is none.
static uint32_t range_below(uintptr_t address) {
    uint32_t above = (uint32_t)addresses_below(ranges, range_count, sizeof *ranges, address + 1);
    return above ? above - 1 : range_count;
}

// Number of the chosen module that the return address lies in; -1 for any other.
static int caller_of(uintptr_t address) {
    uint32_t at = range_below(address);
    if (at >= range_count || address >= ranges[at].stop) {
        return -1;
    }
    if (ranges[at].number == TAIL_CALLER) {
        return ring_here.depth > 0 || ring_here.method ? TAIL_CALLER : -1;
    }
    return is_chosen[ranges[at].number] ? ranges[at].number : -1;
}

static void *note_call(const uint64_t *kept) {
    uint32_t number = ring_here.slot;
    void *original = (void *)words[number].before;
    int caller = is_armed ? caller_of(kept[MACHINE_RETURN_WORD]) : -1;
    if (caller < 0) {
        return original;
    }
    uint32_t slot = GOT_SLOTS + (uint32_t)caller * NUMPY_ROWS_MAX + number;
    __atomic_store_n(&got_words_of[slot].original, original, __ATOMIC_RELEASE);
    got_words_of[slot].count++;
    ring_here.slot = slot;
    return is_counting || !words[number].hook ? original : words[number].hook;
}

static code_range code_of(const struct dl_phdr_info *object) {
    code_range found = {UINTPTR_MAX, 0, 0};
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const elf_segment *part = &object->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && part->p_flags & PF_X) {
            uintptr_t start = object->dlpi_addr + part->p_vaddr;
            found.start = start < found.start ? start : found.start;
            found.stop = start + part->p_memsz > found.stop ? start + part->p_memsz : found.stop;
        }
    }
    return found;
}

// Adds a range, and drops the ranges of unloaded libraries that it overlaps.
static void range_put(code_range new) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < range_count; i++) {
        if (ranges[i].stop <= new.start || ranges[i].start >= new.stop) {
            ranges[kept++] = ranges[i];
        }
    }
    range_count = kept;
    uint32_t at = range_below(new.start);
    at = at == range_count ? 0 : at + 1;
    memmove(&ranges[at + 1], &ranges[at], (range_count - at) * sizeof *ranges);
    ranges[at] = new;
    range_count++;
}

// The number of a known module, or a new one; -1 where there is no room or no memory.
static int number_of(const char *path, const code_range *code) {
    uint32_t at = range_below(code->start);
    if (at < range_count && ranges[at].start == code->start && ranges[at].number != TAIL_CALLER &&
        strcmp(caller_paths[ranges[at].number], path) == 0) {
        return ranges[at].number;
    }
    char *copy = caller_count < NUMPY_CALLERS ? strdup(path) : NULL;
    if (!copy) {
        return -1;
    }
    caller_paths[caller_count] = copy;
    return (int)caller_count++;
}

static int object_choose(struct dl_phdr_info *object, size_t size, void *argument) {
    code_range code = code_of(object);
    int is_python = loaded_left_out(object, GOT_CAPI);
    if (code.stop <= code.start || !(is_python || loaded_is_among(object, argument))) {
        return 0;
    }
    int number = is_python ? TAIL_CALLER : number_of(loaded_path(object), &code);
    if (number >= 0 && range_count < NUMPY_CALLERS) {
        code.number = (uint16_t)number;
        range_put(code);
        is_chosen[number] = 1;
    }
    return 0;
}

static uintptr_t trampoline_of(uint32_t number) {
    return (uintptr_t)trampolines_numpy + MACHINE_RECORD_BYTES * (uintptr_t)number;
}

static int store(uintptr_t *place, uintptr_t value) {
    if (!is_writable) {
        return calls_store(place, value);
    }
    __atomic_store_n(place, value, __ATOMIC_RELEASE);
    return 0;
}

typedef struct {
    const uintptr_t *table;
    int is_in_one;
} table_object;

// Whether one object holds both the table and its first function; sets is_writable for it.
static int object_holds(struct dl_phdr_info *object, size_t size, void *argument) {
    table_object *of = argument;
    if (!relocations_inside(object, of->table)) {
        return 0;
    }
    of->is_in_one = relocations_inside(object, (const void *)of->table[0]);
    relocations_range relro = relocations_relro(object);
    uintptr_t first = (uintptr_t)of->table, last = first + TABLE_BYTES;
    is_writable = 0;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const elf_segment *part = &object->dlpi_phdr[i];
        uintptr_t start = object->dlpi_addr + part->p_vaddr;
        is_writable |= part->p_type == PT_LOAD && (part->p_flags & PF_W) && first >= start &&
                       last <= start + part->p_memsz && (first >= relro.stop || last <= relro.start);
    }
    return 1;
}

// 0 for NumPy 1, 1 for NumPy 2 (NPY_VERSION, numpy/numpyconfig.h); -1: not recognised as NumPy's table.
static int abi_of(uintptr_t *found) {
    table_object of = {found, 0};
    dl_iterate_phdr(object_holds, &of);
    unsigned version = of.is_in_one ? ((unsigned (*)(void))found[0])() : 0;
    return version >> 24 == 1 ? 0 : version >> 24 == 2 ? 1 : -1;
}

static int word_arm(uint32_t number, uintptr_t *place, got_grade grade) {
    table_word *word = &words[number];
    word->hook = grade == GOT_COUNT ? NULL : capi_hook(table[number].row, grade);
    if (!*place || *place == trampoline_of(number)) {
        return *place != 0;
    }
    word->before = *place;
    if (store(place, trampoline_of(number)) < 0) {
        return 0;
    }
    word->place = place;
    return 1;
}

enum { NUMPY_TYPES = 24 }; // type numbers of its own dtypes (numpy/ndarraytypes.h), in NumPy 1 and 2

// NumPy has one dtype for each of its type numbers; any other dtype it returns is made for the caller.
numpy_ledger numpy_table_ledger;

static void report_dtypes(void) {
    for (uint32_t i = 0; i < ROWS; i++) {
        PyObject *(*of_number)(int) = (PyObject * (*)(int)) words[i].before;
        int is_it = table[i].row == capi_PyArray_DescrFromType && words[i].place;
        for (int number = 0; is_it && number < NUMPY_TYPES; number++) {
            _owned_ PyObject *dtype = of_number(number);
            if (!dtype) {
                PyErr_Clear();
            } else if (compat_refcount(dtype) > 1) {
                numpy_table_ledger.know_dtype(dtype);
            }
        }
    }
}

static int has_word(const uintptr_t *at, const uintptr_t *stop, uintptr_t word) {
    int found = 0;
    while (at < stop && !found) {
        for (const uintptr_t *end = stop - at > 512 ? at + 512 : stop; at < end; at++) { // vectorized
            found |= *at == word;
        }
    }
    return found;
}

// Whether the object is a chosen module that keeps the table's address, as each module does that calls NumPy.
static int object_calls_numpy(struct dl_phdr_info *object, size_t size, void *address) {
    uint32_t at = range_below(code_of(object).start);
    int found = 0, is_ours = at < range_count && ranges[at].number != TAIL_CALLER &&
                             is_chosen[ranges[at].number] && ranges[at].start == code_of(object).start;
    for (int i = 0; is_ours && !found && i < object->dlpi_phnum; i++) {
        const elf_segment *part = &object->dlpi_phdr[i];
        uintptr_t start = (object->dlpi_addr + part->p_vaddr + 7) & ~(uintptr_t)7;
        uintptr_t stop = object->dlpi_addr + part->p_vaddr + part->p_memsz;
        if (part->p_type == PT_LOAD && part->p_flags & PF_W) {
            found = has_word((const uintptr_t *)start, (const uintptr_t *)(stop & ~(uintptr_t)7),
                             (uintptr_t)address);
        }
    }
    return found;
}

static PyObject *numpy_table_choose(PyObject *module, PyObject *paths) {
    if (!PyFrozenSet_CheckExact(paths)) {
        return PyErr_Format(PyExc_TypeError, "numpy_table_choose() takes a frozenset");
    }
    dl_iterate_phdr(object_choose, paths);
    if (is_armed && is_for_ledger) { // a module chosen now may call NumPy as soon as it is initialized
        report_dtypes();
    }
    Py_RETURN_NONE;
}

static PyObject *numpy_table_arm(PyObject *module, PyObject *args) {
    PyObject *capsule; // borrowed
    int grade;
    if (!PyArg_ParseTuple(args, "Oi", &capsule, &grade)) {
        return NULL;
    }
    uintptr_t *found = PyCapsule_GetPointer(capsule, NULL);
    if (!found) {
        return NULL;
    }
    int abi = running_is_ours() ? abi_of(found) : -1, armed = 0;
    calls_forget_pages();
    for (uint32_t i = 0; abi >= 0 && i < ROWS; i++) {
        armed += word_arm(i, found + table[i].places[abi], (got_grade)grade);
    }
    is_counting = grade == GOT_COUNT;
    is_for_ledger = grade == GOT_LEDGER;
    is_armed = armed > 0;
    if (is_armed && is_for_ledger && dl_iterate_phdr(object_calls_numpy, found)) {
        report_dtypes();
    }
    return PyLong_FromLong(armed);
}

static PyObject *numpy_table_disarm(PyObject *module, PyObject *unused) {
    unsigned restored = 0, foreign = 0;
    is_armed = 0;
    numpy_table_ledger.forget_dtypes();
    memset(is_chosen, 0, sizeof is_chosen);
    calls_forget_pages();
    for (uint32_t i = 0; i < ROWS; i++) {
        table_word *word = &words[i];
        int is_ours = word->place && *word->place == trampoline_of(i);
        foreign += word->place && !is_ours;
        restored += is_ours && store(word->place, word->before) == 0;
        word->place = NULL;
    }
    return Py_BuildValue("(II)", restored, foreign);
}

static int rows_add(PyObject *list, uint32_t caller) {
    for (uint32_t i = 0; i < ROWS; i++) {
        uint32_t slot = GOT_SLOTS + caller * NUMPY_ROWS_MAX + i;
        if (!got_words_of[slot].original) {
            continue;
        }
        if (list_add(list, Py_BuildValue("(IsiK)", slot, caller_paths[caller] ? caller_paths[caller] : "",
                                         (int)table[i].row, (unsigned long long)got_words_of[slot].count)) <
            0) {
            return -1;
        }
    }
    return 0;
}

static PyObject *numpy_table_slots(PyObject *module, PyObject *unused) {
    _owned_ PyObject *list = PyList_New(0);
    for (uint32_t caller = 0; list && caller < caller_count; caller++) {
        if (rows_add(list, caller) < 0) {
            return NULL;
        }
    }
    return take(list);
}

static PyObject *places_made(void) {
    PyObject *places = PyTuple_New(ROWS);
    for (uint32_t i = 0; places && i < ROWS; i++) {
        PyTuple_SET_ITEM(
            places, i,
            Py_BuildValue("(iii)", (int)table[i].row, (int)table[i].places[0], (int)table[i].places[1]));
    }
    return places;
}

int numpy_table_exec(PyObject *module) {
    trampolines_note_numpy = note_call;
    _owned_ PyObject *places = places_made();
    if (!places || PyErr_Occurred() || PyModule_AddObjectRef(module, "NUMPY_PLACES", places) < 0) {
        return -1;
    }
    return ADD_FUNCTIONS(module, {"numpy_table_choose", numpy_table_choose, METH_O, NULL},
                         {"numpy_table_arm", numpy_table_arm, METH_VARARGS, NULL},
                         {"numpy_table_disarm", numpy_table_disarm, METH_NOARGS, NULL},
                         {"numpy_table_slots", numpy_table_slots, METH_NOARGS, NULL});
}
