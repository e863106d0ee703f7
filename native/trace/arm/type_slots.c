// Type slots by an allow list: those through which CPython asks an object for bytes, a number or its items.
//
// calls.c replaces a slot in the type itself. CPython, NumPy and Cython compare some of them (tp_new,
// tp_setattro, the binary operators): there all types that hold a function get one trampoline. Left out: what
// libraries compare with a function of their own (tp_alloc, tp_dealloc), and every slot that holds one of
// CPython's own functions. CPython compares some of these too (dict_iter in Objects/dictobject.c), and all
// types share them. Only functions that the chosen extensions implement are replaced. The widest list, with
// destructors, getters and setters, is armed for one run only (leaks/charges.c).
//
// `A.__add__` and super().__add__ call the function by a descriptor, from which new subclasses take it too:
// for the ledger it gets the trampoline of its type's slot.
//
// A subclass holds copies of its base's pointers. One created before arming is armed with its base if it
// shares the pointer. One created while the base is armed copies our trampoline: type_slots_settle restores
// the original there, before the bases are restored. A table shared with a base is armed once, as the base's.
// SPDX-License-Identifier: MIT
#include "memory/memory.h"
#include "trace/arm/calls.h"
#include "trace/arm/got.h"
#include "trace/record/convention.h"
#include "trace/record/event.h"

#include <link.h>

typedef struct {
    const char *name;
    size_t table; // offset of the pointer to the table in the type; 0: the slot is in the type itself
    size_t offset;
    call_convention convention;
    int purpose; // who arms it: FOR_ALL, or what looks at counts only
} type_slot;

enum { FOR_ALL, FOR_LEDGER, FOR_CHARGES };
static int widest = FOR_ALL; // whose slots a class of today may have copied

#define IN_TABLE(table, methods, name, convention) \
    {#name, offsetof(PyTypeObject, table), offsetof(methods, name), convention, FOR_ALL}
#define COUNTED_IN(table, methods, name, convention, purpose) \
    {#name, offsetof(PyTypeObject, table), offsetof(methods, name), convention, purpose}
// Called with the left operand's slot alone: no comparison, unlike the binary operators.
#define IN_PLACE(name) COUNTED_IN(tp_as_number, PyNumberMethods, nb_inplace_##name, CALL_O, FOR_LEDGER)
#define OPERATOR(name) COUNTED_IN(tp_as_number, PyNumberMethods, nb_##name, CALL_OPERATOR, FOR_LEDGER)
#define IN_TYPE(name, convention, purpose) {#name, 0, offsetof(PyTypeObject, name), convention, purpose}
static const type_slot allowed[] = {
    IN_TABLE(tp_as_buffer, PyBufferProcs, bf_getbuffer, CALL_BUFFER),
    IN_TABLE(tp_as_number, PyNumberMethods, nb_index, CALL_UNARY),
    IN_TABLE(tp_as_number, PyNumberMethods, nb_float, CALL_UNARY),
    IN_TABLE(tp_as_number, PyNumberMethods, nb_int, CALL_UNARY),
    IN_TABLE(tp_as_sequence, PySequenceMethods, sq_item, CALL_INDEXED),
    {"tp_iter", 0, offsetof(PyTypeObject, tp_iter), CALL_UNARY, 0},
    {"tp_finalize", 0, offsetof(PyTypeObject, tp_finalize), CALL_DEALLOC, 0},
    COUNTED_IN(tp_as_mapping, PyMappingMethods, mp_subscript, CALL_O, FOR_LEDGER),
    COUNTED_IN(tp_as_mapping, PyMappingMethods, mp_ass_subscript, CALL_ASSIGN, FOR_LEDGER),
    IN_TYPE(tp_init, CALL_INIT, FOR_LEDGER),
    IN_TYPE(tp_call, CALL_KEYWORDS, FOR_LEDGER),
    IN_TYPE(tp_iternext, CALL_NEXT, FOR_LEDGER),
    IN_TYPE(tp_richcompare, CALL_O, FOR_LEDGER),
    IN_TYPE(tp_repr, CALL_UNARY, FOR_LEDGER),
    IN_TYPE(tp_str, CALL_UNARY, FOR_LEDGER),
    IN_TYPE(tp_dealloc, CALL_DEALLOC, FOR_CHARGES),
    IN_TYPE(tp_setattro, CALL_ASSIGN, FOR_LEDGER),
    IN_TYPE(tp_new, CALL_KEYWORDS, FOR_LEDGER),
    IN_TYPE(tp_hash, CALL_LENGTH, FOR_LEDGER),
    IN_TYPE(tp_getattro, CALL_O, FOR_LEDGER),
    IN_TYPE(tp_descr_get, CALL_O, FOR_LEDGER),
    IN_TYPE(tp_descr_set, CALL_ASSIGN, FOR_LEDGER),
    COUNTED_IN(tp_as_number, PyNumberMethods, nb_negative, CALL_UNARY, FOR_LEDGER),
    COUNTED_IN(tp_as_number, PyNumberMethods, nb_positive, CALL_UNARY, FOR_LEDGER),
    COUNTED_IN(tp_as_number, PyNumberMethods, nb_absolute, CALL_UNARY, FOR_LEDGER),
    COUNTED_IN(tp_as_number, PyNumberMethods, nb_invert, CALL_UNARY, FOR_LEDGER),
    COUNTED_IN(tp_as_number, PyNumberMethods, nb_bool, CALL_ASKED, FOR_LEDGER),
    COUNTED_IN(tp_as_sequence, PySequenceMethods, sq_length, CALL_LENGTH, FOR_LEDGER),
    COUNTED_IN(tp_as_mapping, PyMappingMethods, mp_length, CALL_LENGTH, FOR_LEDGER),
    COUNTED_IN(tp_as_sequence, PySequenceMethods, sq_ass_item, CALL_PUT, FOR_LEDGER),
    COUNTED_IN(tp_as_async, PyAsyncMethods, am_await, CALL_UNARY, FOR_LEDGER),
    COUNTED_IN(tp_as_async, PyAsyncMethods, am_aiter, CALL_UNARY, FOR_LEDGER),
    COUNTED_IN(tp_as_async, PyAsyncMethods, am_anext, CALL_UNARY, FOR_LEDGER),
    COUNTED_IN(tp_as_async, PyAsyncMethods, am_send, CALL_SEND, FOR_LEDGER),
    COUNTED_IN(tp_as_sequence, PySequenceMethods, sq_contains, CALL_SET, FOR_LEDGER),
    COUNTED_IN(tp_as_sequence, PySequenceMethods, sq_concat, CALL_O, FOR_LEDGER),
    COUNTED_IN(tp_as_sequence, PySequenceMethods, sq_repeat, CALL_INDEXED, FOR_LEDGER),
    COUNTED_IN(tp_as_sequence, PySequenceMethods, sq_inplace_concat, CALL_O, FOR_LEDGER),
    COUNTED_IN(tp_as_sequence, PySequenceMethods, sq_inplace_repeat, CALL_INDEXED, FOR_LEDGER),
    IN_PLACE(add),
    IN_PLACE(subtract),
    IN_PLACE(multiply),
    IN_PLACE(matrix_multiply),
    IN_PLACE(true_divide),
    IN_PLACE(floor_divide),
    IN_PLACE(remainder),
    IN_PLACE(power),
    IN_PLACE(lshift),
    IN_PLACE(rshift),
    IN_PLACE(and),
    IN_PLACE(xor),
    IN_PLACE(or),
    OPERATOR(add),
    OPERATOR(subtract),
    OPERATOR(multiply),
    OPERATOR(matrix_multiply),
    OPERATOR(true_divide),
    OPERATOR(floor_divide),
    OPERATOR(remainder),
    OPERATOR(divmod),
    OPERATOR(power),
    OPERATOR(lshift),
    OPERATOR(rshift),
    OPERATOR(and),
    OPERATOR(xor),
    OPERATOR(or),
};

static scan_range python; // stays loaded

static int find_python(struct dl_phdr_info *object, size_t size, void *argument) {
    if (!relocations_inside(object, (const void *)PyLong_FromLong)) {
        return 0;
    }
    python = (scan_range){UINTPTR_MAX, 0};
    for (int i = 0; i < object->dlpi_phnum; i++) {
        uintptr_t start = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
        uintptr_t stop = start + object->dlpi_phdr[i].p_memsz;
        int is_loaded = object->dlpi_phdr[i].p_type == PT_LOAD;
        python.start = is_loaded && start < python.start ? start : python.start;
        python.stop = is_loaded && stop > python.stop ? stop : python.stop;
    }
    return 1;
}

static int is_pythons_own(uintptr_t function) {
    if (!python.stop) {
        dl_iterate_phdr(find_python, NULL);
    }
    return function >= python.start && function < python.stop;
}

// The type's own slot; NULL where it has no such table, or shares its base's.
static uintptr_t *place_of(PyTypeObject *type, const type_slot *slot) {
    if (!slot->table) {
        return (uintptr_t *)((char *)type + slot->offset);
    }
    char *table = *(char **)((char *)type + slot->table);
    char *shared = type->tp_base ? *(char **)((char *)type->tp_base + slot->table) : NULL;
    return table && table != shared ? (uintptr_t *)(table + slot->offset) : NULL;
}

// The trampoline of the type's slot that held the function; 0: it is not armed.
static uintptr_t armed_for(PyTypeObject *type, uintptr_t function) {
    for (size_t i = 0; i < Py_ARRAY_LENGTH(allowed); i++) {
        uintptr_t *place = place_of(type, &allowed[i]);
        if (place && calls_original(*place) == function) {
            return *place;
        }
    }
    return 0;
}

// Whether this slot of a base, which a subclass copies, is armed for the function.
static int is_shared(PyTypeObject *type, const type_slot *slot, uintptr_t function) {
    PyObject *bases = type->tp_mro; // borrowed
    for (Py_ssize_t i = 1; bases && i < PyTuple_GET_SIZE(bases); i++) {
        const uintptr_t *held = place_of((PyTypeObject *)PyTuple_GET_ITEM(bases, i), slot);
        if (held && calls_original(*held) == function) {
            return 1;
        }
    }
    return 0;
}

static int is_compared(const type_slot *slot) {
    int in_type =
        slot->offset == offsetof(PyTypeObject, tp_new) || slot->offset == offsetof(PyTypeObject, tp_setattro);
    return slot->convention == CALL_OPERATOR || (!slot->table && in_type);
}

// As its base: what compares the two finds them equal.
static int arm_compared(PyTypeObject *type, const type_slot *slot, uintptr_t *place) {
    PyObject *bases = type->tp_mro; // borrowed
    uintptr_t function = *place, of_base = 0;
    for (Py_ssize_t i = 1; bases && i < PyTuple_GET_SIZE(bases) && !of_base; i++) {
        const uintptr_t *held = place_of((PyTypeObject *)PyTuple_GET_ITEM(bases, i), slot);
        int is_same = held && (*held == function || calls_original(*held) == function);
        of_base = is_same ? *held : 0;
    }
    if (of_base == function) {
        return CALLS_UNSEEN; // nobody watches the base
    }
    calls_slot where = {(uint16_t)slot->table, (uint16_t)slot->offset};
    return calls_arm_compared(place, slot->convention, where, of_base, (PyObject *)type);
}

static int arm_slot(PyTypeObject *type, const type_slot *slot, int chosen) { // its number, or below 0
    uintptr_t *place = place_of(type, slot);
    uintptr_t function = place ? *place : 0;
    if (!function || calls_original(function)) {
        return CALLS_UNSEEN; // empty, or armed already
    }
    int is_finalizer = slot->convention == CALL_DEALLOC && slot->purpose == FOR_ALL;
    // CPython's own finalizer of a class statement's type calls its __del__: that one is armed.
    int is_statement = type->tp_flags & Py_TPFLAGS_HEAPTYPE && !(type->tp_flags & Py_TPFLAGS_IMMUTABLETYPE);
    if ((is_pythons_own(function) && !(is_finalizer && is_statement)) ||
        !(chosen || is_shared(type, slot, function))) {
        return CALLS_UNSEEN;
    }
    if (is_compared(slot)) {
        return arm_compared(type, slot, place);
    }
    return calls_arm(place, is_finalizer ? EVENT_FINALIZE : EVENT_SLOT, slot->convention, (PyObject *)type);
}

// The getters and setters that the type itself has.
static int arm_getsets(PyTypeObject *type, PyObject *found) {
    _owned_ PyObject *names = compat_type_dict(type);
    PyObject *key, *value; // borrowed
    for (Py_ssize_t at = 0; names && PyDict_Next(names, &at, &key, &value);) {
        PyGetSetDef *pair =
            Py_TYPE(value) == &PyGetSetDescr_Type ? ((PyGetSetDescrObject *)value)->d_getset : NULL;
        for (int sets = 0; pair && sets < 2; sets++) {
            uintptr_t *place = sets ? (uintptr_t *)(void *)&pair->set : (uintptr_t *)(void *)&pair->get;
            if (!*place || calls_original(*place) || is_pythons_own(*place)) {
                continue;
            }
            int number = calls_arm(place, EVENT_SLOT, sets ? CALL_SET : CALL_UNARY, (PyObject *)type);
            if (number >= 0 && list_add(found, Py_BuildValue("(iOO)", number, type, key)) < 0) {
                return -1;
            }
        }
    }
    return 0;
}

static PyObject *descriptors; // owned: a list of those that hold a trampoline; NULL: none

static int arm_descriptors(PyTypeObject *type) {
    _owned_ PyObject *names = compat_type_dict(type);
    PyObject *key, *value; // borrowed
    for (Py_ssize_t at = 0; names && PyDict_Next(names, &at, &key, &value);) {
        int is_own = Py_IS_TYPE(value, &PyWrapperDescr_Type) && PyDescr_TYPE(value) == type;
        uintptr_t *place = is_own ? (uintptr_t *)(void *)&((PyWrapperDescrObject *)value)->d_wrapped : NULL;
        uintptr_t armed = place && *place ? armed_for(type, *place) : 0;
        if (!armed) {
            continue;
        }
        if ((!descriptors && !(descriptors = PyList_New(0))) || PyList_Append(descriptors, value) < 0) {
            return -1;
        }
        *place = armed;
    }
    return 0;
}

static void settle_descriptors(void) {
    for (Py_ssize_t i = 0; descriptors && i < PyList_GET_SIZE(descriptors); i++) {
        PyWrapperDescrObject *one = (PyWrapperDescrObject *)PyList_GET_ITEM(descriptors, i);
        uintptr_t original = calls_original((uintptr_t)one->d_wrapped);
        one->d_wrapped = original ? (void *)original : one->d_wrapped;
    }
    Py_CLEAR(descriptors);
}

static int is_wanted(const type_slot *slot, int purpose) {
    int counts = call_counts(slot->convention) || slot->purpose == FOR_CHARGES;
    return purpose == FOR_ALL ? slot->purpose == FOR_ALL : counts && slot->purpose <= purpose;
}

const char *type_slots_unhooked(PyTypeObject *type, int (*is_watched)(uintptr_t function)) {
    for (size_t i = 0; i < Py_ARRAY_LENGTH(allowed); i++) {
        const uintptr_t *place = is_wanted(&allowed[i], FOR_LEDGER) ? place_of(type, &allowed[i]) : NULL;
        if (place && is_watched(*place)) {
            return allowed[i].name;
        }
    }
    return is_watched((uintptr_t)(void *)type->tp_vectorcall) ? "tp_vectorcall" : NULL;
}

static int arm_type(PyTypeObject *type, int chosen, int purpose, PyObject *found) {
    int is_armed = 0;
    for (size_t i = 0; i < Py_ARRAY_LENGTH(allowed); i++) {
        int number = is_wanted(&allowed[i], purpose) ? arm_slot(type, &allowed[i], chosen) : CALLS_UNSEEN;
        is_armed |= number >= 0 || number == CALLS_SHARED;
        if (number >= 0 && list_add(found, Py_BuildValue("(iOs)", number, type, allowed[i].name)) < 0) {
            return -1;
        }
    }
    if (purpose != FOR_ALL && chosen && is_armed && arm_descriptors(type) < 0) {
        return -1;
    }
    int has_room = purpose == FOR_CHARGES || (purpose == FOR_LEDGER && calls_are_few());
    return chosen && has_room ? arm_getsets(type, found) : 0;
}

static PyObject *type_slots_arm(PyObject *module, PyObject *args) {
    PyObject *types; // borrowed
    int chosen, purpose = FOR_ALL;
    if (!PyArg_ParseTuple(args, "O!p|i", &PyList_Type, &types, &chosen, &purpose)) {
        return NULL;
    }
    calls_forget_old_pages();
    widest = purpose > widest ? purpose : widest;
    _owned_ PyObject *found = PyList_New(0);
    for (Py_ssize_t i = 0; found && i < PyList_GET_SIZE(types); i++) {
        PyObject *type = PyList_GET_ITEM(types, i); // borrowed
        if (PyType_Check(type) && arm_type((PyTypeObject *)type, chosen, purpose, found) < 0) {
            return NULL;
        }
    }
    return take(found);
}

static PyObject *type_slots_settle(PyObject *module, PyObject *types) {
    Py_ssize_t settled = 0;
    if (!PyList_CheckExact(types)) {
        return PyErr_Format(PyExc_TypeError, "type_slots_settle() takes a list");
    }
    calls_forget_pages();
    settle_descriptors();
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(types); i++) {
        PyTypeObject *type = (PyTypeObject *)PyList_GET_ITEM(types, i);
        for (size_t k = 0; PyType_Check(type) && k < Py_ARRAY_LENGTH(allowed); k++) {
            uintptr_t *place = allowed[k].purpose <= widest ? place_of(type, &allowed[k]) : NULL;
            uintptr_t original = place && !calls_is_armed(place) ? calls_original(*place) : 0;
            settled += original && calls_store(place, original) == 0;
        }
    }
    return PyLong_FromSsize_t(settled);
}

static PyObject *type_slots_capsules(PyObject *module, PyObject *ignored) {
    uintptr_t *place = (uintptr_t *)(void *)&PyCapsule_Type.tp_dealloc;
    return PyLong_FromLong(calls_arm(place, EVENT_FINALIZE, CALL_DEALLOC, (PyObject *)&PyCapsule_Type));
}

PART_FUNCTIONS(type_slots, {"type_slots_arm", type_slots_arm, METH_VARARGS, NULL},
               {"type_slots_settle", type_slots_settle, METH_O, NULL},
               {"type_slots_capsules", type_slots_capsules, METH_NOARGS, NULL})
