// A path, written down step by step: how each holder holds the next, and what a person calls it.
//
// Runs right after the search, under the same hold of the GIL and with the gc still off: the objects and the
// frames of the path are borrowed. Names and keys come from the program; text_visible makes them harmless.
// SPDX-License-Identifier: MIT
#define INSPECTOR_WITHOUT_GIL
#include "heap/chain_search.h"
#include "objects/objects.h"

#define NAME_LIMIT 80

static PyObject *key_object(const link_found *link) { // new
    if (link->name) {
        return PyUnicode_FromString(link->name);
    }
    if (link->index >= 0) {
        return PyLong_FromSsize_t(link->index);
    }
    if (!link->key) {
        return PyUnicode_FromString("");
    }
    if (PyUnicode_CheckExact(link->key)) {
        return text_visible(link->key, NAME_LIMIT);
    }
    if (PyLong_CheckExact(link->key)) {
        return Py_NewRef(link->key);
    }
    return Py_BuildValue("(N)", layout_type_name(Py_TYPE(link->key)));
}

// The name a holder has of its own (function, class, module), or "".
static PyObject *holder_name(PyObject *holder) { // new
    PyObject *name = NULL;                       // borrowed
    if (PyType_Check(holder)) {
        return layout_type_name((PyTypeObject *)holder);
    }
    if (PyFunction_Check(holder)) {
        name = ((PyFunctionObject *)holder)->func_qualname;
    } else if (PyCode_Check(holder)) {
        name = ((PyCodeObject *)holder)->co_qualname;
    } else if (PyModule_Check(holder)) {
        name = layout_lookup(PyModule_GetDict(holder), "__name__");
    } else {
        frame_view view;
        name = frames_of_object(holder, &view) ? view.code->co_qualname : NULL;
    }
    return name && PyUnicode_CheckExact(name) ? text_visible(name, NAME_LIMIT) : PyUnicode_FromString("");
}

static Py_ssize_t holder_length(PyObject *holder) {
    return PyDict_Check(holder)                            ? ((PyDictObject *)holder)->ma_used
           : PyAnySet_Check(holder)                        ? ((PySetObject *)holder)->used
           : PyList_Check(holder) || PyTuple_Check(holder) ? Py_SIZE(holder)
                                                           : -1;
}

static PyObject *step_row(PyObject *holder, PyObject *target) { // new
    link_found link;
    links_find(holder, target, &link);
    return Py_BuildValue("sNNnNN", link.kind, layout_type_name(Py_TYPE(holder)), holder_name(holder),
                         holder_length(holder), PyLong_FromVoidPtr(holder), key_object(&link));
}

static PyObject *frame_row(const chain_root *root, PyObject *target) { // new
    link_found link = {"local", NULL, NULL, -1};
    const frame_view *view = &root->frame;
    if (!links_in_slots(view->code, view->slots, target, &link)) {
        link.key = NULL;
    }
    return Py_BuildValue("sNNnNN", "local", text_visible(view->code->co_filename, NAME_LIMIT * 4),
                         text_visible(view->code->co_qualname, NAME_LIMIT), (Py_ssize_t)-1,
                         PyLong_FromVoidPtr(view->code), key_object(&link));
}

// A namespace: of a module, of the code that runs in it, of a thread, or one the user knows.
static PyObject *namespace_row(const chain_root *root, PyObject *target) { // new
    link_found link;
    links_find(root->object, target, &link);
    PyObject *name; // owned
    const char *kind = "global", *what = "module";
    if (root->owner) {
        name = holder_name(root->owner);
    } else if (root->kind == ROOT_THREAD) {
        kind = "thread-local";
        what = "thread";
        name = PyUnicode_FromString("");
    } else if (root->frame.code) {
        kind = root->object == root->frame.globals ? "global" : "local";
        what = "frame";
        name = text_visible(root->frame.code->co_filename, NAME_LIMIT * 4);
    } else {
        what = "namespace";
        name = PyUnicode_FromString("");
    }
    return Py_BuildValue("ssNnNN", kind, what, name, (Py_ssize_t)-1, PyLong_FromVoidPtr(root->object),
                         key_object(&link));
}

// Who entered the object that stands before the `*below` first; where it stands is below from then on.
static chain_holder holder_of(chain_search *search, const PyObject *object, size_t *below) {
    do {
        --*below;
    } while (*object_at(search, *below) != object);
    size_t low = 0, high = search->family_count; // the family is the last that begins no later
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (family_at(search, middle)->first <= *below) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return family_at(search, low)->holder;
}

// From the object back to its root, so the list is turned round at the end. Who holds was entered earlier.
PyObject *chain_steps(chain_search *search) { // new
    PyObject *target = search->target;        // borrowed
    _owned_ PyObject *rows = PyList_New(0);
    size_t below = search->count;
    for (chain_holder at = search->holder; rows; at = holder_of(search, target, &below)) {
        chain_root *root = at & 1 ? root_at(search, at >> 1) : NULL;
        PyObject *holder = root ? root->object : (PyObject *)at; // borrowed
        _owned_ PyObject *row = !root || root->kind == ROOT_MODULE ? step_row(holder, target)
                                : root->kind == ROOT_FRAME         ? frame_row(root, target)
                                                                   : namespace_row(root, target);
        if (!row || PyList_Append(rows, row) < 0 || (root && PyList_Reverse(rows) < 0)) {
            return NULL;
        }
        if (root) {
            break;
        }
        target = holder;
    }
    return take(rows);
}
