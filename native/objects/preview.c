// A glance at a value: at most PREVIEW_CHARS printable characters, made from exact built-in types only.
//
// Overview. `preview(subject, secret_words)` writes into a `text` (module/text.c) on the C stack. It reads
// the objects' C structs: no __repr__, __len__, __iter__, __hash__ or __eq__ of anyone runs, and no Python
// code at all, so no other thread can change a container while it is read. References are borrowed for the
// length of the call; nothing is allocated on behalf of the subject.
//
// Limits, and why. Nesting is followed PREVIEW_DEPTH levels (a cycle or 100,000 nested lists end there);
// SCANNED_MAX entries of a set or dict are looked at (a table of a million empty entries is not walked to
// its end); an int of more than INT_BITS_MAX bits is told by its length, since its decimal form costs
// quadratic time. A container that is still being built may hold NULL: shown as <NULL>. An object that C code
// broke (freed too early, half made) may point anywhere: the read runs under the guard of memory.c, and the
// text ends with <unreadable> where it faults.
//
// Secrets. A dict value (or the second of a pair) under a str key that objects/secret.c calls secret is
// written <masked>.
// SPDX-License-Identifier: MIT
#include "memory/memory.h"
#include "objects/objects.h"

enum { PREVIEW_CHARS = 60, PREVIEW_DEPTH = 2, SCANNED_MAX = 4096, INT_BITS_MAX = 160 };

typedef struct {
    text out;
    PyObject *secret_words; // borrowed tuple of str, lower case
    PyObject *object;       // borrowed
    int is_shown;           // its type has a form of its own
} Glance;

#define FULL(glance) ((glance)->out.full)

static void put_value(Glance *glance, PyObject *value /* borrowed, may be NULL */, int depth);

// Only as many characters are read as fit: a str of a gigabyte costs as much as a short one.
static void put_str(Glance *glance, PyObject *value /* borrowed */) {
    if (!PyUnicode_IS_READY(value)) { // a legacy str before 3.12: making it ready would change it
        text_put_ascii(&glance->out, "<str not ready>");
        return;
    }
    text_put(&glance->out, '\'');
    for (Py_ssize_t i = 0; i < PyUnicode_GET_LENGTH(value) && !FULL(glance); i++) {
        text_may_cut(&glance->out);
        text_put_escaped(&glance->out, PyUnicode_READ_CHAR(value, i), '\'');
    }
    text_put(&glance->out, '\'');
}

// Also the content of a bytearray: it cannot be resized while the GIL is held.
static void put_bytes(Glance *glance, const char *bytes, Py_ssize_t size) {
    char escape[8];
    text_put_ascii(&glance->out, "b'");
    for (Py_ssize_t i = 0; i < size && !FULL(glance); i++) {
        unsigned char byte = (unsigned char)bytes[i];
        text_may_cut(&glance->out);
        if (byte < 0x80) {
            text_put_escaped(&glance->out, byte, '\'');
        } else {
            PyOS_snprintf(escape, sizeof(escape), "\\x%02x", byte);
            text_put_ascii(&glance->out, escape);
        }
    }
    text_put(&glance->out, '\'');
}

// Told exactly up to INT_BITS_MAX bits: 49 digits, which take no time to find.
static void put_int(Glance *glance, PyObject *value /* borrowed */) {
    size_t bits = _PyLong_NumBits(value);
    if (bits == (size_t)-1 || bits > INT_BITS_MAX) {
        char text[64];
        PyErr_Clear(); // more bits than a size_t counts
        PyOS_snprintf(text, sizeof(text), "<int of %zu bits>", bits);
        text_put_ascii(&glance->out, text);
        return;
    }
    _owned_ PyObject *digits = PyLong_Type.tp_repr(value);
    if (!digits) {
        PyErr_Clear();
        return;
    }
    text_put_ascii(&glance->out, PyUnicode_DATA(digits));
}

static void put_float(Glance *glance, double value, int flags) {
    char *text = PyOS_double_to_string(value, 'r', 0, flags, NULL);
    if (text) {
        text_put_ascii(&glance->out, text);
    }
    PyErr_Clear();
    PyMem_Free(text);
}

// As Python writes it, "(1+2j)"; the brackets stay even where the real part is zero.
static void put_complex(Glance *glance, Py_complex value) {
    text_put(&glance->out, '(');
    put_float(glance, value.real, 0);
    put_float(glance, value.imag, Py_DTSF_SIGN);
    text_put_ascii(&glance->out, "j)");
}

// A list, tuple or slice; `brackets` says which. Items may be NULL.
static void put_items(Glance *glance, PyObject **items /* borrowed */, Py_ssize_t count, int depth,
                      const char *brackets) {
    PyObject *first = count ? items[0] : NULL; // borrowed
    int secret_pair = count == 2 && brackets[0] == '(' && secret_has_name(glance->secret_words, first);
    text_put(&glance->out, brackets[0]);
    if (count && depth >= PREVIEW_DEPTH) {
        text_put(&glance->out, 0x2026);
        count = 0;
    }
    for (Py_ssize_t i = 0; i < count && !FULL(glance); i++) {
        text_may_cut(&glance->out);
        if (i == 1 && secret_pair) {
            text_put_ascii(&glance->out, "<masked>");
        } else {
            put_value(glance, items[i], depth + 1);
        }
        if (i + 1 < count || (count == 1 && brackets[0] == '(')) {
            text_put_ascii(&glance->out, i + 1 < count ? ", " : ",");
        }
    }
    text_put(&glance->out, brackets[1]);
}

// PyDict_Next neither hashes nor compares, and skips the entries of removed keys.
static void put_dict(Glance *glance, PyObject *dict /* borrowed */, int depth) {
    PyObject *key, *value; // borrowed
    Py_ssize_t at = 0, seen = 0;
    text_put(&glance->out, '{');
    if (PyDict_GET_SIZE(dict) && depth >= PREVIEW_DEPTH) {
        text_put(&glance->out, 0x2026);
    } else {
        while (!FULL(glance) && PyDict_Next(dict, &at, &key, &value)) {
            text_may_cut(&glance->out);
            if (seen++) {
                text_put_ascii(&glance->out, ", ");
                text_may_cut(&glance->out);
            }
            put_value(glance, key, depth + 1);
            text_put_ascii(&glance->out, ": ");
            if (secret_has_name(glance->secret_words, key)) {
                text_put_ascii(&glance->out, "<masked>");
            } else {
                put_value(glance, value, depth + 1);
            }
        }
    }
    text_put(&glance->out, '}');
}

// CPython has no public iteration without an iterator object; the table is public (cpython/setobject.h).
static void put_set(Glance *glance, PySetObject *set /* borrowed */, int depth) {
    Py_ssize_t seen = 0, at = 0;
    if (!set->used) {
        text_put_ascii(&glance->out, "set()");
        return;
    }
    text_put(&glance->out, '{');
    for (; at <= set->mask && at < SCANNED_MAX && seen < set->used && !FULL(glance); at++) {
        setentry *entry = &set->table[at];
        if (!entry->key || entry->hash == -1) { // empty, or CPython's dummy of a removed key
            continue;
        }
        if (depth >= PREVIEW_DEPTH) {
            break;
        }
        text_may_cut(&glance->out);
        if (seen++) {
            text_put_ascii(&glance->out, ", ");
        }
        put_value(glance, entry->key, depth + 1);
    }
    if (seen < set->used) {
        text_put(&glance->out, 0x2026);
    }
    text_put(&glance->out, '}');
}

// The full name at the top; inside a container, where room is short, what stands after its last dot.
static void put_type_name(Glance *glance, PyTypeObject *type, int full) {
    _owned_ PyObject *name = layout_type_name(type);
    if (!name) {
        PyErr_Clear();
        text_put(&glance->out, '?');
        return;
    }
    Py_ssize_t length = PyUnicode_GET_LENGTH(name);
    Py_ssize_t dot = full ? -1 : PyUnicode_FindChar(name, '.', 0, length, -1);
    for (Py_ssize_t i = Py_MAX(dot, -1) + 1; i < length && !FULL(glance); i++) {
        text_may_cut(&glance->out);
        text_put(&glance->out, PyUnicode_READ_CHAR(name, i));
    }
}

// Writes what an exact built-in type shows by itself; returns 0 where it has no such form.
// The order is by how often a thing is met; nothing here follows a reference.
static int put_scalar(Glance *glance, PyObject *value /* borrowed */) {
    PyTypeObject *type = Py_TYPE(value);
    if (value == Py_None || value == Py_True || value == Py_False) {
        text_put_ascii(&glance->out, value == Py_None ? "None" : value == Py_True ? "True" : "False");
    } else if (value == Py_Ellipsis || value == Py_NotImplemented) {
        text_put_ascii(&glance->out, value == Py_Ellipsis ? "Ellipsis" : "NotImplemented");
    } else if (type == &PyLong_Type) {
        put_int(glance, value);
    } else if (type == &PyFloat_Type) {
        put_float(glance, PyFloat_AS_DOUBLE(value), Py_DTSF_ADD_DOT_0);
    } else if (type == &PyComplex_Type) {
        put_complex(glance, ((PyComplexObject *)value)->cval);
    } else if (type == &PyUnicode_Type) {
        put_str(glance, value);
    } else if (type == &PyBytes_Type) {
        put_bytes(glance, PyBytes_AS_STRING(value), PyBytes_GET_SIZE(value));
    } else if (type == &PyByteArray_Type) {
        text_put_ascii(&glance->out, "bytearray ");
        put_bytes(glance, PyByteArray_AS_STRING(value), PyByteArray_GET_SIZE(value));
    } else {
        return 0;
    }
    return 1;
}

// Exact types only: a subclass may compute its items, and says so by its own name instead.
static int put_container(Glance *glance, PyObject *value /* borrowed */, int depth) {
    PyTypeObject *type = Py_TYPE(value);
    if (type == &PyList_Type) {
        put_items(glance, ((PyListObject *)value)->ob_item, Py_SIZE(value), depth, "[]");
    } else if (type == &PyTuple_Type) {
        put_items(glance, ((PyTupleObject *)value)->ob_item, Py_SIZE(value), depth, "()");
    } else if (type == &PyDict_Type) {
        put_dict(glance, value, depth);
    } else if (type == &PySet_Type) {
        put_set(glance, (PySetObject *)value, depth);
    } else if (type == &PyFrozenSet_Type) {
        text_put_ascii(&glance->out, "frozenset ");
        put_set(glance, (PySetObject *)value, depth);
    } else if (type == &PySlice_Type) {
        PySliceObject *slice = (PySliceObject *)value;
        PyObject *parts[] = {slice->start, slice->stop, slice->step};
        text_put_ascii(&glance->out, "slice");
        put_items(glance, parts, 3, depth, "()");
    } else {
        return 0;
    }
    return 1;
}

// Names that C keeps by itself: a type, a builtin function. Returns 0 for anything else.
static int put_name(Glance *glance, PyObject *value /* borrowed */, int full) {
    if (PyType_Check(value)) {
        text_put_ascii(&glance->out, "class ");
        put_type_name(glance, (PyTypeObject *)value, full);
    } else if (Py_IS_TYPE(value, &PyCFunction_Type)) {
        text_put_ascii(&glance->out, "builtin ");
        for (const char *c = ((PyCFunctionObject *)value)->m_ml->ml_name; *c && !FULL(glance); c++) {
            text_put_escaped(&glance->out, (unsigned char)*c, 0);
        }
    } else {
        return 0;
    }
    return 1;
}

// What is inside a container: its value, or else its type in angle brackets.
static void put_value(Glance *glance, PyObject *value, int depth) {
    if (!value) {
        text_put_ascii(&glance->out, "<NULL>");
    } else if (!put_scalar(glance, value) && !put_container(glance, value, depth)) {
        text_put(&glance->out, '<');
        if (!put_name(glance, value, 0)) {
            put_type_name(glance, Py_TYPE(value), 0);
        }
        text_put(&glance->out, '>');
    }
}

// The bracket or quote that ends the text of `value`, so that a cut text still reads as one.
static Py_UCS4 closing_of(PyObject *value /* borrowed */) {
    PyTypeObject *type = Py_TYPE(value);
    return type == &PyList_Type                                                            ? ']'
           : type == &PyTuple_Type || type == &PySlice_Type                                ? ')'
           : type == &PyDict_Type || type == &PySet_Type || type == &PyFrozenSet_Type      ? '}'
           : type == &PyUnicode_Type || type == &PyBytes_Type || type == &PyByteArray_Type ? '\''
                                                                                           : 0;
}

static void glance_body(void *argument) {
    Glance *glance = argument;
    PyObject *object = glance->object;
    glance->is_shown =
        put_scalar(glance, object) || put_container(glance, object, 0) || put_name(glance, object, 1);
}

static int glance_guarded(Glance *glance) {
    memory_guard_arm();
    int faulted = memory_guarded(glance_body, glance) < 0;
    memory_guard_disarm();
    return faulted;
}

int preview_faults(PyObject *object) {
    _owned_ PyObject *none = PyTuple_New(0);
    Glance glance = {.out = {.limit = PREVIEW_CHARS}, .secret_words = none, .object = object};
    return !none || glance_guarded(&glance);
}

// None tells that only code of the type could show the value; the caller says so in words.
static PyObject *preview_preview(PyObject *module, PyObject *args) {
    PyObject *subject, *words; // borrowed
    if (!PyArg_ParseTuple(args, "OO!:preview", &subject, &PyTuple_Type, &words)) {
        return NULL;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(words); i++) {
        PyObject *word = PyTuple_GET_ITEM(words, i); // borrowed
        if (!PyUnicode_CheckExact(word) || !PyUnicode_IS_ASCII(word)) {
            return PyErr_Format(PyExc_TypeError, "secret words are ASCII str");
        }
    }
    PyObject *object = subject_object(module, subject); // borrowed
    if (!object) {
        return NULL;
    }
    Glance glance = {.out = {.limit = PREVIEW_CHARS, .closing = closing_of(object)},
                     .secret_words = words,
                     .object = object};
    if (glance_guarded(&glance)) {
        text_put_ascii(&glance.out, "<unreadable>");
    } else if (!glance.is_shown) {
        Py_RETURN_NONE;
    }
    return text_finish(&glance.out);
}

PART_FUNCTIONS(preview, {"preview", preview_preview, METH_VARARGS, NULL})
