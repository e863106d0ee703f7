// The bytes that are an object's own: its block with the headers before it, and the blocks that only it
// uses (a list's items, a dict's table, an instance's values). Not what it refers to.
//
// No Python code runs: where a class overrides `__sizeof__` in Python, the C one below it in the MRO is
// taken, so a liar is not believed. Common built-in types are read by layout; other C implementations of
// `__sizeof__` are called only for types of CPython and NumPy, because they cannot run user code. They may
// make an int, which is no gc object: a walk over the gc's lists is not disturbed.
// Source: Objects/*object.c, the `__sizeof__` of each type; sys.getsizeof adds the same headers.
// SPDX-License-Identifier: MIT
#define INSPECTOR_WITHOUT_GIL
#define INSPECTOR_INTERNALS
#include "objects/objects.h"

// A type whose struct was overwritten may say anything; a sum over the heap must survive it.
int own_bytes_plausible(PyTypeObject *type) {
    return type->tp_basicsize >= (Py_ssize_t)sizeof(PyObject) && type->tp_basicsize <= INT32_MAX &&
           type->tp_itemsize >= 0 && type->tp_itemsize <= INT32_MAX;
}

// Whether ob_size counts items of tp_itemsize bytes. What is or has a frame has an item size and no ob_size.
int own_bytes_has_size(PyTypeObject *type) {
    return type->tp_itemsize && type != &PyGen_Type && type != &PyCoro_Type && type != &PyAsyncGen_Type &&
           type != &PyFrame_Type;
}

// What object.__sizeof__ says. ob_size may be negative (int keeps its sign there up to 3.11).
static size_t basic_bytes(PyObject *object, PyTypeObject *type) {
    size_t items = 0;
    if (!own_bytes_plausible(type)) {
        return sizeof(PyObject);
    }
    if (own_bytes_has_size(type)) {
        items = (size_t)Py_ABS(Py_SIZE(object)) * (size_t)type->tp_itemsize;
    }
    return (size_t)type->tp_basicsize + items;
}

static size_t int_bytes(PyObject *object) {
    return COMPAT_INT_HEAD + compat_int_digits(object) * sizeof(digit);
}

// A str is one block, or two if it is of a subclass, and a cached UTF-8 form may be one more.
static size_t str_bytes(PyObject *object) {
    size_t length = (size_t)PyUnicode_GET_LENGTH(object);
    if (PyUnicode_IS_COMPACT_ASCII(object)) {
        return sizeof(PyASCIIObject) + length + 1;
    }
    PyCompactUnicodeObject *compact = (PyCompactUnicodeObject *)object;
    void *text = PyUnicode_DATA(object);
    size_t bytes = (length + 1) * (size_t)PyUnicode_KIND(object);
    bytes += PyUnicode_IS_COMPACT(object) ? sizeof(PyCompactUnicodeObject) : sizeof(PyUnicodeObject);
    if (compact->utf8 && (void *)compact->utf8 != text) {
        bytes += (size_t)compact->utf8_length + 1;
    }
    return bytes;
}

// A key table that is shared belongs to the class, whose __sizeof__ counts it.
static size_t dict_bytes(PyObject *object, PyTypeObject *type) {
    PyDictObject *dict = (PyDictObject *)object;
    size_t bytes = basic_bytes(object, type);
    if (compat_values_in_dict(dict)) {
        bytes += compat_keys_room(dict->ma_keys) * sizeof(PyObject *);
    }
    return bytes + (dict->ma_keys->dk_refcnt == 1 ? compat_keys_bytes(dict->ma_keys) : 0);
}

// Up to eight entries lie in the set itself.
static size_t set_bytes(PyObject *object, PyTypeObject *type) {
    PySetObject *set = (PySetObject *)object;
    size_t table = set->table == set->smalltable ? 0 : ((size_t)set->mask + 1) * sizeof(setentry);
    return basic_bytes(object, type) + table;
}

// Asks the C implementation. Its answer may be anything: what is no plain int is not believed.
static size_t call_bytes(PyObject *object, PyTypeObject *type, PyCFunction sizeof_) {
    _owned_ PyObject *answer = sizeof_(object, NULL); // owned
    Py_ssize_t bytes = answer && PyLong_CheckExact(answer) ? PyLong_AsSsize_t(answer) : -1;
    PyErr_Clear();
    return bytes < 0 ? basic_bytes(object, type) : (size_t)bytes;
}

// Whose C code may be called: types of CPython itself (a static type without a dot in its name, or one of
// its modules), of NumPy and of bitarray. A compiled class of somebody else (Cython) is user code.
static int own_bytes_trusts(PyTypeObject *owner) {
    static const char *const prefixes[] = {
        "collections.", "_collections.", "array.",     "_io.", "io.",   "numpy.",
        "itertools.",   "_struct.",      "functools.", "re.",  "_sre.", "xml.etree.ElementTree.",
        "bitarray.",    "decimal."};
    if (!strchr(owner->tp_name, '.')) {
        return !PyType_HasFeature(owner, Py_TPFLAGS_HEAPTYPE);
    }
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++) {
        if (strncmp(owner->tp_name, prefixes[i], strlen(prefixes[i])) == 0) {
            return 1;
        }
    }
    return 0;
}

// Whether tp_traverse visits what `__sizeof__` counts.
static int own_bytes_are_visited(PyTypeObject *owner) {
    return COMPAT_BYTESIO_VISITS && strcmp(owner->tp_name, "_io.BytesIO") == 0;
}

// The entry `__sizeof__` of one class, found by its name's text: no hash, no `__eq__` of odd keys. Borrowed.
static PyObject *own_sizeof(PyTypeObject *type) {
    _owned_ PyObject *dict = compat_type_dict(type); // owned
    PyObject *key, *value;                           // borrowed
    Py_ssize_t position = 0;
    while (dict && PyDict_Next(dict, &position, &key, &value)) {
        if (PyUnicode_CheckExact(key) && PyUnicode_CompareWithASCIIString(key, "__sizeof__") == 0) {
            return Py_IS_TYPE(value, &PyMethodDescr_Type) ? value : NULL;
        }
    }
    return NULL;
}

// Which layout a class has, by the class whose `__sizeof__` it inherits.
static own_bytes_how choose(PyTypeObject *owner) {
    return owner == &PyBaseObject_Type                          ? OWN_BASIC
           : owner == &PyList_Type                              ? OWN_LIST
           : owner == &PyDict_Type                              ? OWN_DICT
           : owner == &PySet_Type || owner == &PyFrozenSet_Type ? OWN_SET
           : owner == &PyByteArray_Type                         ? OWN_BYTEARRAY
           : owner == &PyLong_Type                              ? OWN_INT
           : owner == &PyUnicode_Type                           ? OWN_STR
           : own_bytes_are_visited(owner)                       ? OWN_BASIC
           : own_bytes_trusts(owner)                            ? OWN_CALL
                                                                : OWN_BASIC;
}

// The first C implementation in the MRO decides. It must be one of a base, or it would read a foreign layout
// (`class A: __sizeof__ = list.__sizeof__`).
void own_bytes_plan(PyTypeObject *type, own_bytes_rule *ret) {
    ret->how = OWN_BASIC;
    ret->sizeof_ = NULL;
    ret->before = COMPAT_PREHEADER(type) ? 2 * sizeof(PyObject *) : 0;
    PyObject *mro = type->tp_mro; // borrowed; NULL in a half-built type
    for (Py_ssize_t i = 0; mro && PyTuple_CheckExact(mro) && i < PyTuple_GET_SIZE(mro); i++) {
        PyTypeObject *base = (PyTypeObject *)PyTuple_GET_ITEM(mro, i);
        PyObject *descriptor = PyType_Check(base) ? own_sizeof(base) : NULL; // borrowed
        PyTypeObject *owner = descriptor ? PyDescr_TYPE(descriptor) : NULL;
        if (!owner || !PyType_IsSubtype(type, owner)) {
            continue;
        }
        ret->how = choose(owner);
        PyMethodDef *method = ((PyMethodDescrObject *)descriptor)->d_method;
        ret->sizeof_ = method->ml_meth;
        if (ret->how == OWN_CALL && method->ml_flags != METH_NOARGS) {
            ret->how = OWN_BASIC;
        }
        return;
    }
}

size_t own_bytes(PyObject *object, const own_bytes_rule *rule) {
    PyTypeObject *type = Py_TYPE(object);
    size_t bytes = rule->before;
    if (PyType_HasFeature(type, Py_TPFLAGS_HAVE_GC) && PyObject_IS_GC(object)) {
        bytes += COMPAT_GC_HEAD_BYTES;
    }
    if (PyType_HasFeature(type, Py_TPFLAGS_MANAGED_DICT) && own_bytes_plausible(type)) {
        bytes += compat_values_bytes(object);
    }
    switch (rule->how) {
    case OWN_LIST:
        return bytes + basic_bytes(object, type) +
               (size_t)((PyListObject *)object)->allocated * sizeof(PyObject *);
    case OWN_BYTEARRAY:
        return bytes + basic_bytes(object, type) + compat_bytearray_bytes(object);
    case OWN_DICT:
        return bytes + dict_bytes(object, type);
    case OWN_SET:
        return bytes + set_bytes(object, type);
    case OWN_INT:
        return bytes + (type == &PyLong_Type ? int_bytes(object) : call_bytes(object, type, rule->sizeof_));
    case OWN_STR:
        return bytes +
               (type == &PyUnicode_Type ? str_bytes(object) : call_bytes(object, type, rule->sizeof_));
    case OWN_CALL:
        return bytes + call_bytes(object, type, rule->sizeof_);
    case OWN_BASIC:
        break;
    }
    return bytes + basic_bytes(object, type);
}

size_t own_bytes_header(PyObject *object) {
    int has_gc = PyType_HasFeature(Py_TYPE(object), Py_TPFLAGS_HAVE_GC) && PyObject_IS_GC(object);
    return has_gc ? COMPAT_PREHEADER(Py_TYPE(object)) ? OWN_DICT_HEADER : OWN_GC_HEADER : OWN_NO_HEADER;
}

// A str's text is in its block if it is compact; a cached UTF-8 form never is.
static size_t str_block_bytes(PyObject *object) {
    if (!PyUnicode_IS_COMPACT(object)) {
        return sizeof(PyUnicodeObject);
    }
    size_t head = PyUnicode_IS_COMPACT_ASCII(object) ? sizeof(PyASCIIObject) : sizeof(PyCompactUnicodeObject);
    return head + ((size_t)PyUnicode_GET_LENGTH(object) + 1) * (size_t)PyUnicode_KIND(object);
}

size_t own_bytes_block(PyObject *object, const own_bytes_rule *rule) {
    PyTypeObject *type = Py_TYPE(object);
    size_t header = own_bytes_header(object);
    if (rule->how == OWN_INT && type == &PyLong_Type) {
        return header + int_bytes(object);
    }
    if (rule->how == OWN_STR && type == &PyUnicode_Type) {
        return header + str_block_bytes(object);
    }
    if (rule->how == OWN_CALL && type->tp_itemsize && !own_bytes_has_size(type)) {
        return header + call_bytes(object, type, rule->sizeof_);
    }
    return header + basic_bytes(object, type);
}
