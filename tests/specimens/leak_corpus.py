"""Forty small functions in C: twenty with one fault each, twenty honest ones that look suspicious.

One module, built once. A fault's line ends with a comment "// fault"; where the fault is a macro's, which
leaves no trace of its own, the line that made or took the reference does. FAULTS says what is expected of
each; HONEST only names them. A function takes one argument, made by `argument(name)`.
"""

# SPDX-License-Identifier: MIT
from typing import Any, Final

FAULTS: Final[dict[str, tuple[str, str]]] = {
    "key_not_released": ("leaked", "str"),
    "value_not_released": ("leaked", "int"),
    "leak_on_error": ("leaked", "list"),
    "leak_on_second_error": ("leaked", "dict"),
    "leak_after_break": ("leaked", "int"),
    "incref_of_argument": ("leaked", "Thing"),
    "result_twice": ("leaked", "list"),
    "attribute_not_released": ("leaked", "Thing"),
    "iterator_not_released": ("leaked", "list_iterator"),
    "tuple_of_buildvalue": ("leaked", "list"),
    "double_decref": ("over-released", "str"),
    "release_after_append": ("over-released", "bytearray"),
    "release_of_argument": ("over-released", "Thing"),
    "release_of_borrowed_item": ("over-released", "Thing"),
    "stolen_then_released": ("borrowed reference stolen", "bytearray"),
    "borrowed_given_to_stealer": ("borrowed reference stolen", "Thing"),
    "buffer_kept": ("buffer not released", "bytearray"),
    "capsule_lost": ("capsule leaked", "PyCapsule"),
    "null_without_exception": ("NULL without an exception", ""),
    "without_the_gil": ("C-API call without the GIL", ""),
}
HONEST: Final = (
    "tuple_set_item", "bytes_resize", "bytearray_resize", "tuple_resize", "string_growth",
    "cached_in_static", "cached_in_dict", "cached_in_malloc", "interned_name", "takes_and_gives_back",
    "borrowed_and_kept", "many_temporaries", "exception_cleared", "fails_with_exception", "cycle_left_to_gc",
    "stored_in_argument", "takes_out_of_list", "buffer_released", "capsule_returned", "memoryview_returned",
)  # fmt: skip
TAKE_LISTS: Final = (
    "release_of_borrowed_item", "takes_out_of_list", "borrowed_given_to_stealer", "leak_after_break",
)  # fmt: skip


class Thing:
    """An argument with attributes."""


def argument(name: str) -> Any:
    """What a function of the corpus takes."""
    if name in ("key_not_released", "value_not_released", "cached_in_dict"):
        return {}
    if name in ("buffer_kept", "buffer_released", "memoryview_returned"):
        return bytearray(b"eight by")
    if name in TAKE_LISTS:
        return [Thing(), Thing()]
    thing = Thing()
    thing.part = Thing()  # type: ignore[attr-defined]
    return thing


SOURCE: Final = r"""
#include <Python.h>
#include <stdlib.h>
static PyObject *cached;
static PyObject **cell;
static PyObject *key_not_released(PyObject *self, PyObject *dict) {
    PyObject *key = PyUnicode_FromFormat("key %d", 2); // fault
    PyObject *value = PyLong_FromLong(123456);
    int failed = PyDict_SetItem(dict, key, value);
    Py_DECREF(value);
    return failed ? NULL : Py_NewRef(Py_None);
}
static PyObject *value_not_released(PyObject *self, PyObject *dict) {
    PyObject *value = PyLong_FromLong(654321); // fault
    return PyDict_SetItemString(dict, "value", value) ? NULL : Py_NewRef(Py_None);
}
static PyObject *leak_on_error(PyObject *self, PyObject *x) {
    PyObject *list = PyList_New(0); // fault
    if (PyLong_AsLong(x) == -1 && PyErr_Occurred())
        return NULL;
    return list;
}
static PyObject *leak_on_second_error(PyObject *self, PyObject *x) {
    PyObject *first = PyList_New(0), *second;
    second = PyDict_New(); // fault
    PyObject *name = PyObject_GetAttrString(x, "no_such_attribute");
    if (!name) {
        Py_DECREF(first);
        return NULL;
    }
    Py_DECREF(name);
    Py_DECREF(second);
    return first;
}
static PyObject *leak_after_break(PyObject *self, PyObject *list) {
    for (Py_ssize_t i = 0; i < PyList_Size(list); i++) {
        PyObject *number = PyLong_FromSsize_t(i + 100000); // fault
        if (i == 0)
            break;
        Py_DECREF(number);
    }
    Py_RETURN_NONE;
}
static PyObject *incref_of_argument(PyObject *self, PyObject *x) { // fault
    Py_INCREF(x);
    Py_RETURN_NONE;
}
static PyObject *result_twice(PyObject *self, PyObject *x) {
    PyObject *list = PyList_New(0); // fault
    Py_INCREF(list);
    return list;
}
static PyObject *attribute_not_released(PyObject *self, PyObject *x) {
    PyObject *part = PyObject_GetAttrString(x, "part"); // fault
    return part ? Py_NewRef(Py_None) : NULL;
}
static PyObject *iterator_not_released(PyObject *self, PyObject *x) {
    PyObject *list = PyList_New(0);
    PyObject *iterator = PyObject_GetIter(list); // fault
    Py_DECREF(list);
    return iterator ? Py_NewRef(Py_None) : NULL;
}
static PyObject *tuple_of_buildvalue(PyObject *self, PyObject *x) {
    PyObject *list = PyList_New(0); // fault
    return Py_BuildValue("(O)", list);
}
static PyObject *double_decref(PyObject *self, PyObject *x) {
    PyObject *volatile text = PyUnicode_FromFormat("text %d", 7);
    Py_DECREF(text); // fault
    Py_DECREF(text);
    Py_RETURN_NONE;
}
static PyObject *release_after_append(PyObject *self, PyObject *x) {
    PyObject *list = PyList_New(0);
    PyObject *volatile bytes = PyByteArray_FromStringAndSize("abc", 3);
    PyList_Append(list, bytes);
    Py_DECREF(bytes);
    Py_DECREF(bytes); // fault
    return list;
}
static PyObject *release_of_argument(PyObject *self, PyObject *x) { // fault
    Py_DECREF(x);
    Py_RETURN_NONE;
}
static PyObject *release_of_borrowed_item(PyObject *self, PyObject *list) {
    PyObject *item = PyList_GetItem(list, 1); // fault
    Py_DECREF(item);
    Py_RETURN_NONE;
}
static PyObject *stolen_then_released(PyObject *self, PyObject *x) {
    PyObject *tuple = PyTuple_New(1);
    PyObject *volatile bytes = PyByteArray_FromStringAndSize("abc", 3);
    PyTuple_SetItem(tuple, 0, bytes); // fault
    Py_DECREF(bytes);
    return tuple;
}
static PyObject *borrowed_given_to_stealer(PyObject *self, PyObject *list) {
    PyObject *tuple = PyTuple_New(1);
    PyObject *item = PyList_GetItem(list, 0);
    PyTuple_SetItem(tuple, 0, item); // fault
    return tuple;
}
static PyObject *buffer_kept(PyObject *self, PyObject *x) {
    Py_buffer view;
    if (PyObject_GetBuffer(x, &view, PyBUF_SIMPLE) < 0) // fault
        return NULL;
    return PyLong_FromSsize_t(view.len);
}
static PyObject *capsule_lost(PyObject *self, PyObject *x) {
    PyObject *capsule = PyCapsule_New(&cached, "corpus.pointer", NULL); // fault
    return capsule ? Py_NewRef(Py_None) : NULL;
}
static PyObject *null_without_exception(PyObject *self, PyObject *x) { // fault
    return NULL;
}
static PyObject *without_the_gil(PyObject *self, PyObject *x) {
    PyObject *number;
    Py_BEGIN_ALLOW_THREADS
    number = PyLong_FromLong(5); // fault; a small one: 3.12 on has no allocator without a thread state
    Py_END_ALLOW_THREADS
    return number;
}
static PyObject *tuple_set_item(PyObject *self, PyObject *x) {
    PyObject *tuple = PyTuple_New(2); // SetItem refuses a tuple with a second reference
    if (PyTuple_SetItem(tuple, 0, PyLong_FromLong(100001)) < 0 || PyTuple_SetItem(tuple, 1, Py_NewRef(x)) < 0)
        return NULL;
    return tuple;
}
static PyObject *bytes_resize(PyObject *self, PyObject *x) {
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, 4000); // refuses one with a second reference
    memset(PyBytes_AS_STRING(bytes), 'x', 4000);
    if (_PyBytes_Resize(&bytes, 20) < 0)
        return NULL;
    return bytes;
}
static PyObject *bytearray_resize(PyObject *self, PyObject *x) {
    PyObject *bytes = PyByteArray_FromStringAndSize("abc", 3);
    if (PyByteArray_Resize(bytes, 100000) < 0)
        return NULL;
    return bytes;
}
static PyObject *tuple_resize(PyObject *self, PyObject *x) {
    PyObject *tuple = PyTuple_New(100); // SystemError with a second reference
    for (int i = 0; i < 100; i++)
        PyTuple_SetItem(tuple, i, PyLong_FromLong(i + 100000));
    if (_PyTuple_Resize(&tuple, 3) < 0)
        return NULL;
    return tuple;
}
static PyObject *string_growth(PyObject *self, PyObject *x) {
    PyObject *text = PyUnicode_FromString("grows "); // in place, if nobody else has it
    for (int i = 0; i < 50; i++)
        PyUnicode_AppendAndDel(&text, PyUnicode_FromFormat("%d,", i));
    return text;
}
static PyObject *cached_in_static(PyObject *self, PyObject *x) {
    Py_XSETREF(cached, Py_NewRef(x));
    Py_RETURN_NONE;
}
static PyObject *cached_in_dict(PyObject *self, PyObject *dict) {
    PyObject *value = PyObject_GetAttrString((PyObject *)Py_TYPE(dict), "__doc__");
    int failed = PyDict_SetItemString(dict, "doc", value);
    Py_DECREF(value);
    return failed ? NULL : Py_NewRef(Py_None);
}
static PyObject *cached_in_malloc(PyObject *self, PyObject *x) {
    cell = cell ? cell : calloc(4, sizeof *cell);
    Py_XSETREF(cell[1], PyByteArray_FromStringAndSize("kept", 4));
    Py_RETURN_NONE;
}
static PyObject *interned_name(PyObject *self, PyObject *x) {
    static PyObject *name;
    name = name ? name : PyUnicode_InternFromString("corpus_interned_name");
    return Py_NewRef(name);
}
static PyObject *takes_and_gives_back(PyObject *self, PyObject *x) {
    for (int i = 0; i < 100; i++)
        Py_INCREF(x);
    for (int i = 0; i < 100; i++)
        Py_DECREF(x);
    Py_RETURN_NONE;
}
static PyObject *borrowed_and_kept(PyObject *self, PyObject *x) {
    PyObject *pair = PyTuple_Pack(2, x, x), *item = PyTuple_GetItem(pair, 0);
    Py_INCREF(item);
    Py_DECREF(pair);
    return item;
}
static PyObject *many_temporaries(PyObject *self, PyObject *x) {
    for (int i = 0; i < 5000; i++) {
        PyObject *number = PyFloat_FromDouble(i + 0.5), *list = PyList_New(1);
        PyList_SetItem(list, 0, number);
        Py_DECREF(list);
    }
    Py_RETURN_NONE;
}
static PyObject *exception_cleared(PyObject *self, PyObject *x) {
    PyObject *found = PyObject_GetAttrString(x, "surely_not_there");
    if (!found)
        PyErr_Clear();
    Py_XDECREF(found);
    Py_RETURN_NONE;
}
static PyObject *fails_with_exception(PyObject *self, PyObject *x) {
    PyErr_SetObject(PyExc_ValueError, x);
    return NULL;
}
static PyObject *cycle_left_to_gc(PyObject *self, PyObject *x) {
    PyObject *list = PyList_New(0);
    PyList_Append(list, list);
    Py_DECREF(list);
    Py_RETURN_NONE;
}
static PyObject *stored_in_argument(PyObject *self, PyObject *x) {
    PyObject *value = PyList_New(0);
    int failed = PyObject_SetAttrString(x, "stored", value);
    Py_DECREF(value);
    return failed ? NULL : Py_NewRef(Py_None);
}
static PyObject *takes_out_of_list(PyObject *self, PyObject *list) {
    return PySequence_DelItem(list, 0) < 0 ? NULL : Py_NewRef(Py_None);
}
static PyObject *buffer_released(PyObject *self, PyObject *x) {
    Py_buffer view;
    if (PyObject_GetBuffer(x, &view, PyBUF_SIMPLE) < 0)
        return NULL;
    Py_ssize_t length = view.len;
    PyBuffer_Release(&view);
    return PyLong_FromSsize_t(length);
}
static PyObject *capsule_returned(PyObject *self, PyObject *x) {
    return PyCapsule_New(&cached, "corpus.pointer", NULL);
}
static PyObject *memoryview_returned(PyObject *self, PyObject *x) { return PyMemoryView_FromObject(x); }
"""
