// One object read: the subject, what it refers to, how it holds that, its own bytes, its type.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_OBJECTS_H
#define INSPECTOR_OBJECTS_H

#include "module/native.h"

// objects/subject.c: the object under inspection, seen from any part. Borrowed; NULL with TypeError set
// when `maybe_subject` is not a Subject.
PyObject *subject_object(PyObject *module /* borrowed */, PyObject *maybe_subject /* borrowed */);
// The object in what is known to be a Subject: borrowed, NULL where it holds none, no exception set.
PyObject *subject_peek(PyObject *subject /* borrowed */);

// objects/edges.c: what an object refers to. edges_visit may only be asked where edges_has says yes.
void edges_prepare(void); // before a walk: finds the types of libraries that are imported
int edges_has(PyObject *object /* borrowed */);
int edges_visit(PyObject *object /* borrowed */, visitproc visit, void *arg);
int edges_traverse(PyObject *object /* borrowed */, visitproc visit, void *arg); // tp_traverse alone
void edges_prefetch(PyObject *object /* borrowed */);
#define EDGES_AHEAD 16 // objects of a list of the gc between the chase and the look
typedef int (*edges_look)(PyObject *object /* borrowed */, void *arg);
// heap/collector_lists.c, without the GIL collector_heaps.c: all that the gc tracks; 0, or what ended the
// walk.
int edges_each_tracked(edges_look look, void *arg);
static inline int edges_plain(const PyTypeObject *type /* borrowed */) { // the commonest, without a namespace
    return type == &PyList_Type || type == &PyTuple_Type || type == &PyDict_Type;
}

// module/free_threaded/deferred.c: all references to an object, but for those of variables and stacks where
// they are not counted; and the objects which those hold. 0, or what ended the round: 1 where a frame does
// not say what it holds.
#ifdef Py_GIL_DISABLED
Py_ssize_t deferred_references(PyObject *object /* borrowed */);
int deferred_each_uncounted(visitproc visit, void *argument);
#else
static inline Py_ssize_t deferred_references(PyObject *object /* borrowed */) { return Py_REFCNT(object); }
static inline int deferred_each_uncounted(visitproc visit, void *argument) { return 0; }
#endif

// objects/frames.c: every running frame of every thread; `look` ends the round by a result other than 0.
typedef struct {
    PyCodeObject *code;     // borrowed
    PyObject *function;     // borrowed, or NULL
    PyObject *globals;      // borrowed, or NULL
    PyObject *locals;       // borrowed, or NULL: the dict of a module or class body
    PyObject *frame_object; // borrowed, or NULL
    PyObject **slots;       // borrowed: variables, then what is known of the evaluation stack; may be NULL.
                            // Each is read by compat_slot
    int variables, values;  // how many slots are variables, and how many may be read
    void *start;            // the frame itself: where its fields begin
    int values_known;       // 0: how much of the stack lives is in a register of the interpreter
    int last_byte;          // offset of the current instruction in the bytecode
    int depth;              // 0: the innermost of its thread
    int calls_python;       // the next inner frame took its arguments from this one's stack
    unsigned long thread;   // as threading.get_ident()
} frame_view;
typedef int (*frame_look)(const frame_view *view, void *arg);
int frames_each(frame_look look, void *arg);
// Visits what the frames' slots hold; or all that the frames refer to. 0, or what ended the round.
int frames_each_value(visitproc visit, void *arg);
int frames_each_reference(visitproc visit, void *arg);
// The frame of a frame object, a generator or a coroutine: 1, or 0 where it has none any more.
int frames_of_object(PyObject *object /* borrowed */, frame_view *ret);

// objects/links.c: how one object holds another. A name is static text, an object (exact type or not), or an
// index.
typedef struct {
    const char *kind; // one of OWNER_KINDS (facts/refs.py), or "key"
    const char *name; // or NULL
    PyObject *key;    // borrowed, or NULL
    Py_ssize_t index; // or -1
} link_found;
void links_find(PyObject *holder /* borrowed */, PyObject *target /* borrowed */, link_found *ret);

typedef struct { // Modules/_ctypes/ctypes.h: CDataObject
    PyObject_HEAD char *memory;
    int needs_free;
    PyObject *base;                  // borrowed: the object owns it
    Py_ssize_t bytes, length, index; // length: elements
    PyObject *kept;                  // borrowed: the object owns it
} ctypes_fields;

// A type that a module defines, if the module is imported by now; borrowed, NULL with or without an
// exception.
static inline PyTypeObject *native_imported_type(const char *module, const char *name) {
    _owned_ PyObject *key = PyUnicode_FromString(module);
    _owned_ PyObject *found = key ? PyImport_GetModule(key) : NULL;
    PyObject *type = found && PyModule_CheckExact(found) // borrowed
                         ? PyDict_GetItemString(PyModule_GetDict(found), name)
                         : NULL;
    return type && PyType_Check(type) ? (PyTypeObject *)type : NULL;
}

// objects/datetimes.c
void datetimes_prepare(void); // before a walk: finds the types of `datetime`, if they are imported
int datetimes_is(PyTypeObject *type /* borrowed */);
int datetimes_visit(PyObject *object /* borrowed */, visitproc visit, void *arg);

// objects/arrays.c: what an ndarray refers to; NumPy's ABI, written down so that NumPy is not needed to
// build.
typedef struct { // numpy/ndarraytypes.h: PyArrayObject_fields, the same in NumPy 1 and 2
    PyObject_HEAD char *memory;
    int nd;
    Py_ssize_t *dimensions;
    Py_ssize_t *strides;
    PyObject *base;  // borrowed: the array owns it
    PyObject *descr; // borrowed: the array owns it
    int flags;
} ndarray_fields;
void arrays_prepare(void);                      // before a walk: finds NumPy, if the process has imported it
int arrays_is(PyObject *object /* borrowed */); // an ndarray, or an instance of a subclass
int arrays_has_objects(PyObject *object /* borrowed */); // it owns a block of objects
extern PyTypeObject *arrays_type;                        // borrowed: static; NULL until NumPy is imported
int arrays_visit(PyObject *object /* borrowed */, visitproc visit, void *arg);
int arrays_find(PyObject *array /* borrowed */, PyObject *target /* borrowed */, link_found *ret);
int links_in_slots(PyCodeObject *code /* borrowed */, PyObject **slots, PyObject *target /* borrowed */,
                   link_found *ret);
// The dict that is the namespace of an instance, a class or a module: borrowed, or NULL; none is made.
PyObject *links_own_dict(PyObject *object /* borrowed */);

// objects/own_bytes.c: an object's own bytes, headers included. The rule is found once a type.
typedef enum {
    OWN_BASIC,
    OWN_LIST,
    OWN_BYTEARRAY,
    OWN_DICT,
    OWN_SET,
    OWN_INT,
    OWN_STR,
    OWN_CALL,
} own_bytes_how;
typedef struct {
    own_bytes_how how;
    PyCFunction sizeof_; // of a C type, for OWN_CALL and for subclasses of int and str
    size_t before;       // bytes of the pointers before the object, the gc header left out
} own_bytes_rule;
void own_bytes_plan(PyTypeObject *type /* borrowed */, own_bytes_rule *ret);
int own_bytes_has_size(PyTypeObject *type /* borrowed */);  // 1: its objects' ob_size counts items
int own_bytes_plausible(PyTypeObject *type /* borrowed */); // 0: its tp_basicsize or tp_itemsize is wrong
// Bytes of a block before its object: none; the gc's; that with a managed dict before it.
#ifdef Py_GIL_DISABLED // the gc has none
enum { OWN_NO_HEADER = 0, OWN_GC_HEADER = 0, OWN_DICT_HEADER = 16 };
#else
enum { OWN_NO_HEADER = 0, OWN_GC_HEADER = 16, OWN_DICT_HEADER = 32 };
#endif
size_t own_bytes_header(PyObject *object /* borrowed */);
size_t own_bytes(PyObject *object /* borrowed */, const own_bytes_rule *rule);
// Of these, those of the block that the object lies in, with the headers before it.
size_t own_bytes_block(PyObject *object /* borrowed */, const own_bytes_rule *rule);

// objects/secret.c: whether a key holds one of `words` (lower case, exact str) as a word. 0 or 1.
int secret_has_name(PyObject *words /* borrowed tuple */, PyObject *name /* borrowed, may be NULL */);

// objects/preview.c: whether what a glance at the value reads is not all memory of this process. 0 or 1.
int preview_faults(PyObject *object /* borrowed */);

// objects/kinds.c: the full name of a type, read from its C struct: no metaclass code runs. New str.
PyObject *layout_type_name(PyTypeObject *type /* borrowed */);
// objects/kinds.c: the names of the types in a tuple, as tp_mro; an empty one for NULL. New tuple.
PyObject *layout_type_names(PyObject *types /* borrowed */);
// objects/kinds.c: the module a type says it lives in; "" where it does not say. New str.
PyObject *layout_type_module(PyTypeObject *type /* borrowed */);
// objects/layout.c: an address in the file that defines the type; NULL for a class statement.
const void *layout_type_origin(PyTypeObject *type /* borrowed */);
// objects/kinds.c: what `dict` has under the str `key`, without anyone's __hash__ or __eq__. Borrowed;
// NULL where there is none among its first entries. Never sets an exception.
PyObject *layout_lookup(PyObject *dict /* borrowed, may be NULL */, const char *key);

// objects/types.c: rows of the tables a type or module was made from, for the parts that show one.
// A new (name, flags, address, first line of the doc).
PyObject *types_method_row(const PyMethodDef *method);
// A new list of such rows, up to the row without a name; empty for NULL.
PyObject *types_method_rows(const PyMethodDef *methods);
// A new str: the first line of a doc string after its signature; "" for NULL.
PyObject *types_first_line(const char *doc);
// The C name of the slot at an offset of PyHeapTypeObject; "" where there is none.
const char *types_slot_name(Py_ssize_t offset);

#endif
