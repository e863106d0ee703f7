// One object read as C sees it: its type, its own size, the fields of its header by name and offset.
//
// Overview. `object_layout(subject)` reads the PyObject, what CPython puts before it (gc head, managed
// dict, weak reference list) and the C struct of its type. Python's way to the same facts (`type(x)
// .__name__`, `len`, `sys.getsizeof`) runs metaclass and user code; here only memory is read.
//
// Size. The same rule as in the census (objects/own_bytes.c): what `sys.getsizeof` says without a user's
// __sizeof__. Unknown where the type's sizes cannot be right (its struct was overwritten).
//
// Every refcount shown is without the Subject's own reference.
// SPDX-License-Identifier: MIT
#include "objects/objects.h"

#define WORD ((Py_ssize_t)sizeof(void *))

static int has_gc_head(PyObject *object /* borrowed */) { return PyObject_IS_GC(object); }

// Bytes of the object itself, as the census counts them; -1 where its type's sizes cannot be right.
static Py_ssize_t own_size(PyObject *object /* borrowed */) {
    own_bytes_rule rule;
    if (!own_bytes_plausible(Py_TYPE(object))) {
        return -1;
    }
    own_bytes_plan(Py_TYPE(object), &rule);
    return (Py_ssize_t)own_bytes(object, &rule);
}

// Whether a type is a built-in container's or a subclass that counts its items as that does. A `__len__` of
// its own is in both slots; CPython puts a lookup of `__len__` in one of them where it is inherited.
static int counts_as(PyTypeObject *type, PyTypeObject *base) {
    PySequenceMethods *own = type->tp_as_sequence, *of_base = base->tp_as_sequence;
    PyMappingMethods *map = type->tp_as_mapping, *base_map = base->tp_as_mapping;
    return type == base ||
           (PyType_IsSubtype(type, base) &&
            ((own && of_base && of_base->sq_length && own->sq_length == of_base->sq_length) ||
             (map && base_map && base_map->mp_length && map->mp_length == base_map->mp_length)));
}

// Items of a built-in container, -1 for anything else and for a class with a `__len__` of its own.
static Py_ssize_t length_of(PyObject *object /* borrowed */) {
    PyTypeObject *type = Py_TYPE(object);
    int is_sized = counts_as(type, &PyList_Type) || counts_as(type, &PyTuple_Type) ||
                   counts_as(type, &PyBytes_Type) || counts_as(type, &PyByteArray_Type);
    int is_set = counts_as(type, &PySet_Type) || counts_as(type, &PyFrozenSet_Type);
    return is_sized                                                         ? Py_SIZE(object)
           : counts_as(type, &PyDict_Type)                                  ? PyDict_GET_SIZE(object)
           : is_set                                                         ? ((PySetObject *)object)->used
           : counts_as(type, &PyUnicode_Type) && PyUnicode_IS_READY(object) ? PyUnicode_GET_LENGTH(object)
                                                                            : -1;
}

static int add_field(PyObject *rows /* borrowed list */, const char *name, Py_ssize_t offset, Py_ssize_t size,
                     PyObject *value /* stolen, NULL on error */) {
    _owned_ PyObject *text = value;
    return list_add(rows, text ? Py_BuildValue("(snnO)", name, offset, size, text) : NULL);
}

// A pointer field reads as an address, or NULL.
static int add_pointer(PyObject *rows /* borrowed */, PyObject *object /* borrowed */, const char *name,
                       Py_ssize_t offset) {
    void *pointer = *(void **)((char *)object + offset);
    return add_field(rows, name, offset, WORD,
                     pointer ? PyUnicode_FromFormat("%p", pointer) : PyUnicode_FromString("NULL"));
}

static int add_preheader(PyObject *rows /* borrowed */, PyObject *object /* borrowed */) {
#define ADD_IF(flag, name, offset) \
    if ((Py_TYPE(object)->tp_flags & (flag)) && add_pointer(rows, object, name, offset) < 0) { \
        return -1; \
    }
    COMPAT_PREHEADER_FIELDS(ADD_IF)
    return 0;
}

// PyGC_Head: neighbours in the gc's list; the low bits of _gc_prev are flags (internal/pycore_gc.h).
static int add_gc_head(PyObject *rows /* borrowed */, PyObject *object /* borrowed */) {
    uintptr_t previous = ((uintptr_t *)object)[-1];
    const char *finalized = previous & 1 ? " finalized" : "", *collecting = previous & 2 ? " collecting" : "";
    if (add_pointer(rows, object, "_gc_next", -2 * WORD) < 0) {
        return -1;
    }
    return add_field(
        rows, "_gc_prev", -WORD, WORD,
        PyUnicode_FromFormat("%p%s%s", (void *)(previous & ~(uintptr_t)3), finalized, collecting));
}

// Only what is laid out as PyVarObject has the field: types with items, list, bytearray. A type with wrong
// sizes is not believed: behind a bare header lies a stranger's memory.
static int add_size_field(PyObject *rows /* borrowed */, PyObject *object /* borrowed */) {
    const Py_ssize_t offset = offsetof(PyVarObject, ob_size);
    PyTypeObject *type = Py_TYPE(object); // borrowed
    int is_int = PyLong_Check(object);
    int room = type->tp_basicsize >= (Py_ssize_t)sizeof(PyVarObject);
    int sized = own_bytes_has_size(type) && room && own_bytes_plausible(type);
    if (!sized && !PyList_Check(object) && !PyByteArray_Check(object)) {
        return 0;
    }
    return add_field(rows, is_int ? COMPAT_INT_SIZE_FIELD : "ob_size", offset, WORD,
                     PyUnicode_FromFormat("%zd", ((PyVarObject *)object)->ob_size));
}

// PyASCIIObject, the head of every str (cpython/unicodeobject.h).
static int add_str_fields(PyObject *rows /* borrowed */, PyObject *object /* borrowed */) {
    static const char *const interned[] = {"not interned", "interned", "interned immortal",
                                           "interned static"};
    PyASCIIObject *text = (PyASCIIObject *)object;
    const Py_ssize_t state_at = offsetof(PyASCIIObject, state);
    if (add_field(rows, "length", offsetof(PyASCIIObject, length), WORD,
                  PyUnicode_FromFormat("%zd", text->length)) < 0 ||
        add_field(rows, "hash", offsetof(PyASCIIObject, hash), WORD,
                  text->hash == -1 ? PyUnicode_FromString("-1 (not computed)")
                                   : PyUnicode_FromFormat("%zd", text->hash)) < 0) {
        return -1;
    }
    return add_field(rows, "state", state_at, (Py_ssize_t)sizeof(text->state),
                     PyUnicode_FromFormat("%s, %d B a character%s%s", interned[text->state.interned & 3],
                                          (int)text->state.kind, text->state.compact ? ", compact" : "",
                                          text->state.ascii ? ", ASCII" : ""));
}

// All fields, by rising offset: those before the object first.
static PyObject *header_rows(PyObject *object /* borrowed */) { // new tuple
    _owned_ PyObject *rows = PyList_New(0);
    _owned_ PyObject *type_name = rows ? layout_type_name(Py_TYPE(object)) : NULL;
    if (!type_name || add_preheader(rows, object) < 0 ||
        (has_gc_head(object) && add_gc_head(rows, object) < 0)) {
        return NULL;
    }
    PyObject *count = compat_is_immortal(object) ? PyUnicode_FromString("immortal")
                                                 : PyUnicode_FromFormat("%zd", Py_REFCNT(object) - 1);
    if (add_field(rows, "ob_refcnt", 0, WORD, count) < 0 ||
        add_field(rows, "ob_type", offsetof(PyObject, ob_type), WORD,
                  PyUnicode_FromFormat("%p %U", Py_TYPE(object), type_name)) < 0 ||
        add_size_field(rows, object) < 0 || (PyUnicode_Check(object) && add_str_fields(rows, object) < 0)) {
        return NULL;
    }
    return PyList_AsTuple(rows);
}

// An address in the file that defines the type: the type itself, its module's definition, or one of its
// functions. NULL for a class statement (and for a type made by PyType_FromSpec without a function).
const void *layout_type_origin(PyTypeObject *type) {
    if (!(type->tp_flags & Py_TPFLAGS_HEAPTYPE)) {
        return type;
    }
    PyHeapTypeObject *heap = (PyHeapTypeObject *)type;
    if (!heap->_ht_tpname) { // set by PyType_FromSpec only
        return NULL;
    }
    if (heap->ht_module && PyModule_Check(heap->ht_module) && PyModule_GetDef(heap->ht_module)) {
        return PyModule_GetDef(heap->ht_module);
    }
    if (type->tp_methods && type->tp_methods->ml_name) {
        return type->tp_methods;
    }
    return type->tp_getset && type->tp_getset->name ? (const void *)type->tp_getset : NULL;
}

// Stores a fresh value and gives its reference up, so that a row reads as one list of puts.
static int put(PyObject *dict /* borrowed */, const char *key, PyObject *value /* stolen, NULL on error */) {
    _owned_ PyObject *owned = value;
    return owned ? PyDict_SetItemString(dict, key, owned) : -1;
}

static PyObject *size_or_none(Py_ssize_t size) { // new
    return size < 0 ? Py_NewRef(Py_None) : PyLong_FromSsize_t(size);
}

static PyObject *interned_or_none(PyObject *object /* borrowed */) { // new
    if (!PyUnicode_Check(object)) {
        Py_RETURN_NONE;
    }
    return PyBool_FromLong(((PyASCIIObject *)object)->state.interned != 0);
}

static PyObject *gc_tracked_or_none(PyObject *object /* borrowed */) { // new
    if (!has_gc_head(object)) {
        Py_RETURN_NONE;
    }
    return PyBool_FromLong(PyObject_GC_IsTracked(object));
}

static PyObject *layout_object(PyObject *module, PyObject *subject) {
    PyObject *object = subject_object(module, subject); // borrowed
    if (!object) {
        return NULL;
    }
    PyTypeObject *type = Py_TYPE(object);
    _owned_ PyObject *row = PyDict_New();
    if (!row || put(row, "type_name", layout_type_name(type)) < 0 ||
        put(row, "type_address", PyLong_FromVoidPtr(type)) < 0 ||
        put(row, "type_mro", layout_type_names(type->tp_mro)) < 0 ||
        put(row, "heap_type", PyBool_FromLong((type->tp_flags & Py_TPFLAGS_HEAPTYPE) != 0)) < 0 ||
        put(row, "type_module", layout_type_module(type)) < 0 ||
        put(row, "type_origin", PyLong_FromVoidPtr((void *)layout_type_origin(type))) < 0 ||
        put(row, "size_bytes", size_or_none(own_size(object))) < 0 ||
        put(row, "length", size_or_none(length_of(object))) < 0 ||
        put(row, "gc_tracked", gc_tracked_or_none(object)) < 0 ||
        put(row, "immortal", PyBool_FromLong(compat_is_immortal(object))) < 0 ||
        put(row, "interned", interned_or_none(object)) < 0 || put(row, "header", header_rows(object)) < 0) {
        return NULL;
    }
    return take(row);
}

PART_FUNCTIONS(layout, {"object_layout", layout_object, METH_O, NULL})
