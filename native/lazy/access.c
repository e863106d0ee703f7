// Methods and getters of lazy vectors: items, regions, dataptr, and the fields that facts read.
//
// Methods check the arguments from Python and call lazy/region.c and lazy/fill.c. The getters read fields
// only, so inspecting a vector never materializes it and never runs a recipe.
// SPDX-License-Identifier: MIT
#include "lazy/inside.h"

static int check_index(const LazyVector *vector, Py_ssize_t *i) {
    Py_ssize_t length = vector->length;
    *i += *i < 0 ? length : 0;
    if (*i < 0 || *i >= length) {
        return error_set(PyExc_IndexError, "index out of range of a lazy vector of length %zd", length);
    }
    return 0;
}

PyObject *lazy_item(PyObject *self, Py_ssize_t i) {
    LazyVector *vector = (LazyVector *)self;
    uint64_t element;
    if (check_index(vector, &i) < 0 || lazy_prepare(vector) < 0 || lazy_elt(vector, i, &element) < 0) {
        return NULL;
    }
    return lazy_box(vector->kind, &element);
}

PyObject *lazy_subscript(PyObject *self, PyObject *key) {
    if (PyIndex_Check(key) && !PyBool_Check(key)) {
        Py_ssize_t i = PyNumber_AsSsize_t(key, PyExc_IndexError);
        if (i != -1 || !PyErr_Occurred()) {
            return lazy_item(self, i);
        }
        if (!PyErr_ExceptionMatches(PyExc_TypeError)) { // an array has __index__ too, which raises TypeError
            return NULL;
        }
        PyErr_Clear();
    }
    if (PySlice_Check(key)) {
        Py_ssize_t start, stop, step;
        if (PySlice_Unpack(key, &start, &stop, &step) < 0) {
            return NULL;
        }
        Py_ssize_t length = PySlice_AdjustIndices(((LazyVector *)self)->length, &start, &stop, step);
        return lazy_slice_new((LazyVector *)self, start, step, length);
    }
    return PyObject_CallMethod(self, "_chosen", "O", key);
}

Py_ssize_t lazy_length(PyObject *self) { return ((LazyVector *)self)->length; }

static PyObject *vector_elt(PyObject *self, PyObject *index) {
    Py_ssize_t i = PyNumber_AsSsize_t(index, PyExc_IndexError);
    return i == -1 && PyErr_Occurred() ? NULL : lazy_item(self, i);
}

static int same_kind(const lazy_kind *a, const lazy_kind *b) { return a && a->code[0] == b->code[0]; }

// get_region(i, n, out): the number of elements written.
static PyObject *vector_get_region(PyObject *self, PyObject *args) {
    LazyVector *vector = (LazyVector *)self;
    Py_ssize_t i, n;
    PyObject *target; // borrowed
    if (!PyArg_ParseTuple(args, "nnO:get_region", &i, &n, &target)) {
        return NULL;
    }
    if (i < 0 || i > vector->length || n < 0) {
        return PyErr_Format(PyExc_IndexError, "region out of range of a lazy vector of length %zd",
                            vector->length);
    }
    n = n < vector->length - i ? n : vector->length - i;
    _buffer_ Py_buffer out = {0};
    if (PyObject_GetBuffer(target, &out, PyBUF_WRITABLE | PyBUF_FORMAT | PyBUF_C_CONTIGUOUS) < 0) {
        return NULL;
    }
    if (!same_kind(lazy_kind_of(out.format, out.itemsize), vector->kind) || out.len < n * out.itemsize) {
        return PyErr_Format(PyExc_TypeError, "out must have room for %zd elements of %s", n,
                            vector->kind->name);
    }
    int failed = lazy_prepare(vector) < 0 || lazy_region(vector, i, n, out.buf) < 0;
    return failed ? NULL : PyLong_FromSsize_t(n);
}

// take(indices, out): selected elements. `indices` are int64 and checked here, `out` is writable.
static PyObject *vector_take(PyObject *self, PyObject *args) {
    LazyVector *vector = (LazyVector *)self;
    _buffer_ Py_buffer indices = {0}, out = {0};
    PyObject *chosen, *target; // borrowed
    if (!PyArg_ParseTuple(args, "OO:take", &chosen, &target) ||
        PyObject_GetBuffer(chosen, &indices, PyBUF_FORMAT | PyBUF_C_CONTIGUOUS) < 0 ||
        PyObject_GetBuffer(target, &out, PyBUF_WRITABLE | PyBUF_FORMAT | PyBUF_C_CONTIGUOUS) < 0 ||
        lazy_prepare(vector) < 0) {
        return NULL;
    }
    Py_ssize_t count = indices.len / (Py_ssize_t)sizeof(int64_t), size = vector->kind->itemsize;
    if (indices.itemsize != sizeof(int64_t) || out.len != count * size) {
        return PyErr_Format(PyExc_TypeError, "take() requires int64 indices and room for as many elements");
    }
    for (Py_ssize_t k = 0; k < count; k++) {
        Py_ssize_t i = ((const int64_t *)indices.buf)[k];
        if (check_index(vector, &i) < 0 || lazy_elt(vector, i, (char *)out.buf + k * size) < 0) {
            return NULL;
        }
    }
    Py_RETURN_NONE;
}

static PyObject *vector_dataptr_or_null(PyObject *self, PyObject *unused) {
    LazyVector *vector = (LazyVector *)self;
    if (lazy_state_of(vector) == LAZY_DONE) {
        return PyLong_FromVoidPtr(vector->result->bytes);
    }
    const inspector_lazy_provider *provider = vector->provider;
    const void *elements =
        provider && provider->dataptr_or_null ? provider->dataptr_or_null(provider->context) : NULL;
    return elements ? PyLong_FromVoidPtr((void *)elements) : Py_NewRef(Py_None);
}

// dataptr(writable=False, by=None): the address of all elements; materializes them if needed.
static PyObject *vector_dataptr(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"writable", "by", NULL};
    LazyVector *vector = (LazyVector *)self;
    int writable = 0;
    PyObject *by = NULL; // borrowed
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|pO:dataptr", names, &writable, &by) ||
        lazy_materialize(vector, by) < 0 || (writable && lazy_unshare(vector) < 0)) {
        return NULL;
    }
    return PyLong_FromVoidPtr(vector->result->bytes);
}

// materialize_blocks(start, stop, by): materializes the blocks that hold [start, stop).
static PyObject *vector_materialize(PyObject *self, PyObject *args) {
    LazyVector *vector = (LazyVector *)self;
    Py_ssize_t start, stop, most = lazy_block_length(vector);
    PyObject *by; // borrowed
    if (!PyArg_ParseTuple(args, "nnO:materialize", &start, &stop, &by)) {
        return NULL;
    }
    start = start < 0 ? 0 : start;
    stop = stop > vector->length ? vector->length : stop;
    if ((start < stop || !vector->length) &&
        lazy_materialize_blocks(vector, start / most, (stop + most - 1) / most, by) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

// share(other): `self`, a duplicate of `other`, shares its data2 until one of them is written.
static PyObject *vector_share(PyObject *self, PyObject *maybe) {
    LazyVector *vector = (LazyVector *)self, *other = (LazyVector *)maybe;
    native_state *state = native_type_state(Py_TYPE(self));
    if (!state || !PyObject_TypeCheck(maybe, state->lazy_vector_type) ||
        !same_kind(other->kind, vector->kind) || other->length != vector->length) {
        return PyErr_Format(PyExc_TypeError, "share() requires a lazy vector of the same kind and length");
    }
    if (lazy_state_of(other) == LAZY_DONE && lazy_state_of(vector) == LAZY_NOT && !vector->result) {
        vector->result = (LazyStorage *)Py_NewRef((PyObject *)other->result);
        atomic_store_explicit(&vector->state, LAZY_DONE, memory_order_release);
    }
    Py_RETURN_NONE;
}

// note(kind, by, bytes): appends an event that Python reports.
static PyObject *vector_note(PyObject *self, PyObject *args) {
    const char *kind;
    PyObject *by; // borrowed
    Py_ssize_t bytes;
    if (!PyArg_ParseTuple(args, "sOn:note", &kind, &by, &bytes) ||
        lazy_event((LazyVector *)self, kind, by, bytes, 0) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PyMethodDef lazy_access_methods[] = {
    {"elt", vector_elt, METH_O, NULL},
    {"get_region", vector_get_region, METH_VARARGS, NULL},
    {"take", vector_take, METH_VARARGS, NULL},
    {"dataptr_or_null", vector_dataptr_or_null, METH_NOARGS, NULL},
    {"dataptr", (PyCFunction)(void (*)(void))vector_dataptr, METH_VARARGS | METH_KEYWORDS, NULL},
    {"materialize_blocks", vector_materialize, METH_VARARGS, NULL},
    {"input_changed", lazy_input_changed, METH_O, NULL},
    {"share", vector_share, METH_O, NULL},
    {"note", vector_note, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyObject *get_format(PyObject *self, void *unused) {
    return PyUnicode_FromString(((LazyVector *)self)->kind->code);
}

static PyObject *get_nbytes(PyObject *self, void *unused) {
    return PyLong_FromSsize_t(((LazyVector *)self)->length * ((LazyVector *)self)->kind->itemsize);
}

static PyObject *get_origin(PyObject *self, void *unused) {
    static const char *names[] = {"source", "abs", "arange", "slice", "python", "foreign"};
    return PyUnicode_FromString(names[((LazyVector *)self)->recipe]);
}

static PyObject *get_recipe(PyObject *self, void *unused) {
    LazyVector *vector = (LazyVector *)self;
    if (vector->recipe == LAZY_PYTHON) {
        return vector->name ? Py_NewRef(vector->name) : PyUnicode_FromString("not initialised");
    }
    if (vector->recipe == LAZY_FOREIGN) {
        const char *name = vector->provider ? vector->provider->name : NULL;
        return PyUnicode_DecodeUTF8(name ? name : "C", (Py_ssize_t)strlen(name ? name : "C"), "replace");
    }
    return get_origin(self, NULL);
}

static PyObject *get_input(PyObject *self, void *unused) {
    LazyVector *vector = (LazyVector *)self;
    PyObject *input = vector->input ? vector->input : vector->source.obj;
    return Py_NewRef(input ? input : Py_None);
}

static PyObject *count_of(PyObject *object) {
    return compat_is_immortal(object) ? Py_NewRef(Py_None) : PyLong_FromSsize_t(Py_REFCNT(object));
}

// Reference counts of data1, or of each item if it is a tuple. Read here, where inspecting adds no reference.
static PyObject *get_input_references(PyObject *self, void *unused) {
    LazyVector *vector = (LazyVector *)self;
    PyObject *input = vector->input ? vector->input : vector->source.obj; // borrowed
    int is_tuple = input && PyTuple_CheckExact(input);
    Py_ssize_t count = is_tuple ? PyTuple_GET_SIZE(input) : input != NULL;
    _owned_ PyObject *counts = PyTuple_New(count);
    for (Py_ssize_t i = 0; counts && i < count; i++) {
        if (tuple_set(counts, i, count_of(is_tuple ? PyTuple_GET_ITEM(input, i) : input)) < 0) {
            return NULL;
        }
    }
    return take(counts);
}

// (address of the object, refcount, address of the bytes, bytes), or None.
static PyObject *get_storage(PyObject *self, void *unused) {
    LazyStorage *storage = ((LazyVector *)self)->result;
    if (!storage) {
        Py_RETURN_NONE;
    }
    return Py_BuildValue("(NnNn)", PyLong_FromVoidPtr(storage), Py_REFCNT(storage),
                         PyLong_FromVoidPtr(storage->bytes), storage->size);
}

// (done, all)
static PyObject *get_blocks(PyObject *self, void *unused) {
    LazyVector *vector = (LazyVector *)self;
    Py_ssize_t blocks = lazy_blocks(vector), done = 0;
    for (Py_ssize_t block = 0; vector->done && block < blocks; block++) {
        done += vector->done[block / 64] >> (block % 64) & 1;
    }
    return Py_BuildValue("(nn)", lazy_state_of(vector) == LAZY_DONE ? blocks : done, blocks);
}

static PyObject *get_state(PyObject *self, void *unused) {
    static const char *names[] = {"lazy", "filling", "materialized"};
    return PyUnicode_FromString(names[lazy_state_of((LazyVector *)self)]);
}

// The numbers of a slice or an arange: (start, step), or None.
static PyObject *get_steps(PyObject *self, void *unused) {
    LazyVector *vector = (LazyVector *)self;
    if (vector->recipe == LAZY_SLICE) {
        return Py_BuildValue("(nn)", vector->start, vector->step);
    }
    if (vector->recipe != LAZY_ARANGE) {
        Py_RETURN_NONE;
    }
    return vector->kind->family == 'f'   ? Py_BuildValue("(dd)", vector->first.real, vector->by.real)
           : vector->kind->family == 'u' ? Py_BuildValue("(KL)", vector->first.natural, vector->by.whole)
                                         : Py_BuildValue("(LL)", vector->first.whole, vector->by.whole);
}

static PyObject *get_events(PyObject *self, void *unused) {
    PyObject *events = ((LazyVector *)self)->events;
    return events ? PyList_AsTuple(events) : PyTuple_New(0);
}

#define COUNTER(name, field) \
    static PyObject *get_##name(PyObject *self, void *unused) { \
        return PyLong_FromLongLong((long long)((LazyVector *)self)->field); \
    }
COUNTER(length, length)
COUNTER(itemsize, kind->itemsize)
COUNTER(exports, exports)
COUNTER(written, written)
COUNTER(dropped, dropped)
COUNTER(depth, depth)

PyGetSetDef lazy_access_getset[] = {
    {"length", get_length, NULL, NULL, NULL},
    {"format", get_format, NULL, NULL, NULL},
    {"itemsize", get_itemsize, NULL, NULL, NULL},
    {"nbytes", get_nbytes, NULL, NULL, NULL},
    {"origin", get_origin, NULL, NULL, NULL},
    {"recipe", get_recipe, NULL, NULL, NULL},
    {"state", get_state, NULL, NULL, NULL},
    {"blocks", get_blocks, NULL, NULL, NULL},
    {"data1", get_input, NULL, NULL, NULL},
    {"input_references", get_input_references, NULL, NULL, NULL},
    {"data2", get_storage, NULL, NULL, NULL},
    {"steps", get_steps, NULL, NULL, NULL},
    {"events", get_events, NULL, NULL, NULL},
    {"events_dropped", get_dropped, NULL, NULL, NULL},
    {"exports", get_exports, NULL, NULL, NULL},
    {"written", get_written, NULL, NULL, NULL},
    {"depth", get_depth, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
