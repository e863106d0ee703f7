// A type object as rows: flags, filled slots, and the method, member and getset tables it was made from.
//
// Overview. `type_layout(subject)` reads the PyTypeObject and the number, sequence, mapping, async and
// buffer tables it points to (Doc/c-api/typeobj.rst). Nothing is looked up through the type: a metaclass
// may answer for every attribute, and lookups fill the method cache and the version tag of the type.
//
// Own or inherited. PyType_Ready copies a base's function into an empty slot, so a filled slot says
// nothing yet. A slot is the type's own if the type's dict holds one of its special methods (a class
// statement, or the wrapper PyType_Ready made for a C function), or if no base has the same function.
// For slots without a special method (tp_dealloc, tp_free) only the second can be told: a type that
// names its base's function once more counts as inheriting it.
//
// Tables. tp_methods, tp_members and tp_getset are C arrays of the defining type, ended by a row without
// a name; ROWS_MAX bounds a table that never ends. A class statement has none: then the tables of its
// nearest base that has some are told, under that base's name (torch.Tensor is a class over a C type).
// SPDX-License-Identifier: MIT
#include "objects/objects.h"

#include <structmember.h>

enum { ROWS_MAX = 4096, LINE_MAX_CHARS = 120, DOC_MAX_BYTES = 2000, MRO_MAX = 64 };

typedef struct {
    const char *name;
    Py_ssize_t table;  // offset of the pointer to the table in PyTypeObject, -1: the slot is in there itself
    Py_ssize_t offset; // in the table, or in PyTypeObject
    const char *methods[2]; // special methods that fill it, as Objects/typeobject.c slotdefs pairs them
} slot_row;

#define TYPE_SLOT(field, ...) \
    { \
        #field, -1, offsetof(PyTypeObject, field), { __VA_ARGS__ } \
    }
#define TABLE_SLOT(table, struct_, field, ...) \
    { \
        #field, offsetof(PyTypeObject, table), offsetof(struct_, field), { __VA_ARGS__ } \
    }
#define NB(field, ...) TABLE_SLOT(tp_as_number, PyNumberMethods, field, __VA_ARGS__)
#define SQ(field, ...) TABLE_SLOT(tp_as_sequence, PySequenceMethods, field, __VA_ARGS__)
#define MP(field, ...) TABLE_SLOT(tp_as_mapping, PyMappingMethods, field, __VA_ARGS__)
#define AM(field, ...) TABLE_SLOT(tp_as_async, PyAsyncMethods, field, __VA_ARGS__)
#define BF(field, ...) TABLE_SLOT(tp_as_buffer, PyBufferProcs, field, __VA_ARGS__)

static const slot_row slot_rows[] = {
    // life
    TYPE_SLOT(tp_new, "__new__"),
    TYPE_SLOT(tp_init, "__init__"),
    TYPE_SLOT(tp_alloc, NULL),
    TYPE_SLOT(tp_dealloc, NULL),
    TYPE_SLOT(tp_finalize, "__del__"),
    TYPE_SLOT(tp_del, NULL),
    TYPE_SLOT(tp_free, NULL),
    TYPE_SLOT(tp_traverse, NULL),
    TYPE_SLOT(tp_clear, NULL),
    TYPE_SLOT(tp_is_gc, NULL),
    // text, identity, attributes, calls, iteration
    TYPE_SLOT(tp_repr, "__repr__"),
    TYPE_SLOT(tp_str, "__str__"),
    TYPE_SLOT(tp_hash, "__hash__"),
    TYPE_SLOT(tp_richcompare, "__eq__", "__lt__"),
    TYPE_SLOT(tp_call, "__call__"),
    TYPE_SLOT(tp_vectorcall, NULL),
    TYPE_SLOT(tp_getattr, NULL),
    TYPE_SLOT(tp_setattr, NULL),
    TYPE_SLOT(tp_getattro, "__getattribute__", "__getattr__"),
    TYPE_SLOT(tp_setattro, "__setattr__", "__delattr__"),
    TYPE_SLOT(tp_descr_get, "__get__"),
    TYPE_SLOT(tp_descr_set, "__set__", "__delete__"),
    TYPE_SLOT(tp_iter, "__iter__"),
    TYPE_SLOT(tp_iternext, "__next__"),
    // buffer
    BF(bf_getbuffer, "__buffer__"),
    BF(bf_releasebuffer, "__release_buffer__"),
    // sequence and mapping
    SQ(sq_length, "__len__"),
    SQ(sq_concat, "__add__"),
    SQ(sq_repeat, "__mul__", "__rmul__"),
    SQ(sq_item, "__getitem__"),
    SQ(sq_ass_item, "__setitem__", "__delitem__"),
    SQ(sq_contains, "__contains__"),
    SQ(sq_inplace_concat, "__iadd__"),
    SQ(sq_inplace_repeat, "__imul__"),
    MP(mp_length, "__len__"),
    MP(mp_subscript, "__getitem__"),
    MP(mp_ass_subscript, "__setitem__", "__delitem__"),
    // numbers
    NB(nb_add, "__add__", "__radd__"),
    NB(nb_subtract, "__sub__", "__rsub__"),
    NB(nb_multiply, "__mul__", "__rmul__"),
    NB(nb_remainder, "__mod__", "__rmod__"),
    NB(nb_divmod, "__divmod__", "__rdivmod__"),
    NB(nb_power, "__pow__", "__rpow__"),
    NB(nb_negative, "__neg__"),
    NB(nb_positive, "__pos__"),
    NB(nb_absolute, "__abs__"),
    NB(nb_bool, "__bool__"),
    NB(nb_invert, "__invert__"),
    NB(nb_lshift, "__lshift__", "__rlshift__"),
    NB(nb_rshift, "__rshift__", "__rrshift__"),
    NB(nb_and, "__and__", "__rand__"),
    NB(nb_xor, "__xor__", "__rxor__"),
    NB(nb_or, "__or__", "__ror__"),
    NB(nb_int, "__int__"),
    NB(nb_float, "__float__"),
    NB(nb_inplace_add, "__iadd__"),
    NB(nb_inplace_subtract, "__isub__"),
    NB(nb_inplace_multiply, "__imul__"),
    NB(nb_inplace_remainder, "__imod__"),
    NB(nb_inplace_power, "__ipow__"),
    NB(nb_inplace_lshift, "__ilshift__"),
    NB(nb_inplace_rshift, "__irshift__"),
    NB(nb_inplace_and, "__iand__"),
    NB(nb_inplace_xor, "__ixor__"),
    NB(nb_inplace_or, "__ior__"),
    NB(nb_floor_divide, "__floordiv__", "__rfloordiv__"),
    NB(nb_true_divide, "__truediv__", "__rtruediv__"),
    NB(nb_inplace_floor_divide, "__ifloordiv__"),
    NB(nb_inplace_true_divide, "__itruediv__"),
    NB(nb_index, "__index__"),
    NB(nb_matrix_multiply, "__matmul__", "__rmatmul__"),
    NB(nb_inplace_matrix_multiply, "__imatmul__"),
    // async
    AM(am_await, "__await__"),
    AM(am_aiter, "__aiter__"),
    AM(am_anext, "__anext__"),
    AM(am_send, NULL),
};

enum { SLOTS = sizeof(slot_rows) / sizeof(*slot_rows) };

static void *slot_function(PyTypeObject *type, const slot_row *slot) {
    char *table = (char *)type;
    if (slot->table >= 0) {
        table = *(char **)((char *)type + slot->table);
    }
    return table ? *(void **)(table + slot->offset) : NULL;
}

static int is_defined_by(PyObject *dict /* borrowed, may be NULL */, const slot_row *slot) {
    return (slot->methods[0] && layout_lookup(dict, slot->methods[0])) ||
           (slot->methods[1] && layout_lookup(dict, slot->methods[1]));
}

static int is_in_a_base(PyTypeObject *type, const slot_row *slot, void *function) {
    PyObject *mro = type->tp_mro; // borrowed; NULL for a half-built type
    Py_ssize_t count = mro && PyTuple_Check(mro) ? Py_MIN(PyTuple_GET_SIZE(mro), MRO_MAX) : 0;
    for (Py_ssize_t i = 1; i < count; i++) {
        PyObject *base = PyTuple_GET_ITEM(mro, i); // borrowed
        if (PyType_Check(base) && slot_function((PyTypeObject *)base, slot) == function) {
            return 1;
        }
    }
    return 0;
}

static PyObject *slot_list(PyTypeObject *type) { // new list of (name, address, inherited)
    _owned_ PyObject *rows = PyList_New(0);
    _owned_ PyObject *dict = compat_type_dict(type);
    for (int i = 0; rows && i < SLOTS; i++) {
        void *function = slot_function(type, &slot_rows[i]);
        if (!function) {
            continue;
        }
        int inherited = is_in_a_base(type, &slot_rows[i], function) && !is_defined_by(dict, &slot_rows[i]);
        if (list_add(rows, Py_BuildValue("(sNO)", slot_rows[i].name, PyLong_FromVoidPtr(function),
                                         inherited ? Py_True : Py_False)) < 0) {
            return NULL;
        }
    }
    return take(rows);
}

const char *types_slot_name(Py_ssize_t offset) {
    // wrapperbase.offset counts in PyHeapTypeObject, where the tables follow the type itself.
    static const struct {
        Py_ssize_t table, start, size;
    } tables[] = {
#define TABLE(table, field) \
    {offsetof(PyTypeObject, table), offsetof(PyHeapTypeObject, field), sizeof(((PyHeapTypeObject *)0)->field)}
        TABLE(tp_as_async, as_async),       TABLE(tp_as_number, as_number), TABLE(tp_as_mapping, as_mapping),
        TABLE(tp_as_sequence, as_sequence), TABLE(tp_as_buffer, as_buffer),
    };
    for (int i = 0; i < SLOTS; i++) {
        Py_ssize_t at = slot_rows[i].offset;
        for (size_t k = 0; k < sizeof(tables) / sizeof(*tables); k++) {
            if (tables[k].table == slot_rows[i].table) {
                at += tables[k].start;
            }
        }
        if (at == offset) {
            return slot_rows[i].name;
        }
    }
    return "";
}

typedef struct {
    const char *name;
    unsigned long bit;
} bit_name;

#define BIT(name) {#name, name}
static const bit_name type_bits[] = {COMPAT_TYPE_FLAGS(BIT)};
static const bit_name method_bits[] = {
    BIT(METH_VARARGS), BIT(METH_KEYWORDS), BIT(METH_NOARGS), BIT(METH_O),       BIT(METH_FASTCALL),
    BIT(METH_METHOD),  BIT(METH_CLASS),    BIT(METH_STATIC), BIT(METH_COEXIST),
};

static PyObject *bit_names(const bit_name *table, size_t count, unsigned long bits) { // new tuple
    _owned_ PyObject *names = PyList_New(0);
    for (size_t i = 0; names && i < count; i++) {
        if (bits & table[i].bit) {
            if (list_add(names, PyUnicode_InternFromString(table[i].name)) < 0) {
                return NULL;
            }
        }
    }
    return names ? PyList_AsTuple(names) : NULL;
}

// The first line of a doc string, after the signature that Argument Clinic puts before it
// ("name($self, /)\n--\n\n", Objects/typeobject.c).
PyObject *types_first_line(const char *doc) {
    char line[LINE_MAX_CHARS * 4 + 8];
    if (!doc) {
        return PyUnicode_FromString("");
    }
    const char *end_of_signature = memmem(doc, strnlen(doc, DOC_MAX_BYTES), "\n--\n\n", 5);
    const char *text = end_of_signature ? end_of_signature + 5 : doc;
    while (*text == '\n' || *text == ' ') {
        text++;
    }
    size_t size = strcspn(text, "\n");
    size = Py_MIN(size, sizeof(line) - 1);
    memcpy(line, text, size);
    line[size] = 0;
    return text_from_c(line, LINE_MAX_CHARS);
}

PyObject *types_method_row(const PyMethodDef *method) {
    size_t count = sizeof(method_bits) / sizeof(*method_bits);
    return Py_BuildValue("(NNNN)", text_from_c(method->ml_name, LINE_MAX_CHARS),
                         bit_names(method_bits, count, (unsigned long)method->ml_flags),
                         PyLong_FromVoidPtr((void *)method->ml_meth), types_first_line(method->ml_doc));
}

static PyObject *getset_row(const PyGetSetDef *row) {
    return Py_BuildValue("(NNNN)", text_from_c(row->name, LINE_MAX_CHARS),
                         PyLong_FromVoidPtr((void *)row->get), PyLong_FromVoidPtr((void *)row->set),
                         types_first_line(row->doc));
}

static const char *member_type_name(int type) {
    static const char *const names[] = {
        "T_SHORT", "T_INT",  "T_LONG",      "T_FLOAT",    "T_DOUBLE",    "T_STRING",   "T_OBJECT",
        "T_CHAR",  "T_BYTE", "T_UBYTE",     "T_USHORT",   "T_UINT",      "T_ULONG",    "T_STRING_INPLACE",
        "T_BOOL",  "T_?",    "T_OBJECT_EX", "T_LONGLONG", "T_ULONGLONG", "T_PYSSIZET", "T_NONE",
    };
    return type >= 0 && type < (int)(sizeof(names) / sizeof(*names)) ? names[type] : "T_?";
}

static PyObject *member_row(const PyMemberDef *member) { // new str
    _owned_ PyObject *name = text_from_c(member->name, LINE_MAX_CHARS);
    return name ? PyUnicode_FromFormat("%U: %s at %zd%s", name, member_type_name(member->type),
                                       member->offset, member->flags & READONLY ? " read-only" : "")
                : NULL;
}

// A function that gives a new list: `row_of` of each row of a table.
#define ROWS_OF(function, type, name, row_of) \
    PyObject *function(const type *table) { \
        _owned_ PyObject *rows = PyList_New(0); \
        for (int i = 0; rows && table && i < ROWS_MAX && table[i].name; i++) { \
            if (list_add(rows, row_of(&table[i])) < 0) { \
                return NULL; \
            } \
        } \
        return take(rows); \
    }
ROWS_OF(types_method_rows, PyMethodDef, ml_name, types_method_row)
static ROWS_OF(getset_rows, PyGetSetDef, name, getset_row) static ROWS_OF(member_rows, PyMemberDef, name,
                                                                          member_row)

    // The type whose C tables describe `type`: itself, or for a class statement its nearest base with some.
    static PyTypeObject *type_with_tables(PyTypeObject *type) {
    for (PyTypeObject *base = type; base && base != &PyBaseObject_Type; base = base->tp_base) {
        int statement = (base->tp_flags & Py_TPFLAGS_HEAPTYPE) && !((PyHeapTypeObject *)base)->_ht_tpname;
        if (!statement) {
            return base;
        }
    }
    return type;
}

static int has_dict(PyTypeObject *type) {
    return type->tp_dictoffset != 0 || (type->tp_flags & Py_TPFLAGS_MANAGED_DICT);
}

static PyObject *types_layout(PyObject *module, PyObject *subject) {
    PyObject *object = subject_object(module, subject); // borrowed
    if (!object || !PyType_Check(object)) {
        return object ? Py_NewRef(Py_None) : NULL;
    }
    PyTypeObject *type = (PyTypeObject *)object, *tables = type_with_tables(type);
    return Py_BuildValue(
        "{sN sN sN sn sn sN sN sN sN sN sN sN sN sO sO}", "name", layout_type_name(type), "module",
        layout_type_module(type), "origin", PyLong_FromVoidPtr((void *)layout_type_origin(type)), "basicsize",
        type->tp_basicsize, "itemsize", type->tp_itemsize, "flags",
        bit_names(type_bits, sizeof(type_bits) / sizeof(*type_bits), type->tp_flags), "bases",
        layout_type_names(type->tp_bases), "metatype", layout_type_name(Py_TYPE(type)), "slots",
        slot_list(type), "tables_of", layout_type_name(tables), "methods",
        types_method_rows(tables->tp_methods), "members",
        member_rows(type == tables || !type->tp_members ? tables->tp_members : type->tp_members), "getset",
        getset_rows(tables->tp_getset), "instances_hold_dict", has_dict(type) ? Py_True : Py_False,
        "instances_weakrefable", type->tp_weaklistoffset ? Py_True : Py_False);
}

PART_FUNCTIONS(types, {"type_layout", types_layout, METH_O, NULL})
