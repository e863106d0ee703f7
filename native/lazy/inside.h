// Internals of the lazy vector: its struct, and the functions that the files in native/lazy/ share.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_LAZY_INSIDE_H
#define INSPECTOR_LAZY_INSIDE_H

#include "module/native.h" // first: Python.h sets the feature macros

#include "lazy/lazy.h"
#include <pythread.h>
#include <stdatomic.h>
#include <sys/types.h>

#define LAZY_BLOCK_BYTES 131072 // a block: fits into L2, and amortizes a call into Python
#define LAZY_HOLD_GIL_MAX 32768 // elements; shorter work keeps the GIL: releasing it costs more
#define LAZY_DEPTH_MAX 256      // nested vectors; region and elt recurse
#define LAZY_SPANS 32           // number of latest reads below a block that are stamped
#define LAZY_EVENTS_MAX 16      // events kept; the oldest is dropped

typedef union {
    double real;
    int64_t whole;
    uint64_t natural;
} lazy_number;

// One element type and its arithmetic. The table is chosen at run time by the features of the processor.
typedef struct {
    char code[2];     // PEP 3118 format, as NumPy spells it
    const char *name; // NumPy's name
    char family;      // 'b' bool, 'i' signed, 'u' unsigned, 'f' float
    int itemsize;     // bytes
    void (*absolute)(const void *in, void *out, int64_t n);
    void (*sum)(const void *in, int64_t n, lazy_number *total);                  // adds to total
    void (*sum_real)(const void *in, int64_t n, double *total);                  // adds, as doubles
    void (*least)(const void *in, int64_t n, void *least, void *most, int *nan); // narrows
    int (*sorted)(const void *in, int64_t n);                                    // NaN last, as np.sort
    int (*has_nan)(const void *in, int64_t n);
} lazy_kind;

typedef struct {
    uint64_t word[2];
} lazy_stamp;

// lazy/kernels.c
const lazy_kind *lazy_kind_of(const char *format, Py_ssize_t itemsize); // NULL if there is none
void lazy_kernels_choose(int portable);
lazy_stamp lazy_checksum(const void *in, int64_t bytes);
lazy_stamp lazy_sum_f64_stamped(const double *in, int64_t n, int absolute, double *total);

typedef struct {
    Py_ssize_t start, count; // elements
    lazy_stamp stamp;        // of one element: its bytes, and 0
} lazy_span;

// The input as it was read, so that a later change is detected.
typedef struct {
    uint64_t *read;    // one bit per block
    lazy_stamp *block; // checksum of each block that was read
    lazy_span span[LAZY_SPANS];
    unsigned next;      // index of the span to write next
    atomic_int changed; // a block was read again and differed
    Py_ssize_t blocks;
} lazy_stamps;

// The bytes of a materialized vector, or the memory that a Python provider writes a block to.
typedef struct {
    PyObject_HEAD char *bytes; // owned, PyMem_RawMalloc
    Py_ssize_t size;           // bytes
    Py_ssize_t exports;        // buffers that consumers hold
} LazyStorage;

typedef enum { LAZY_SOURCE, LAZY_ABS, LAZY_ARANGE, LAZY_SLICE, LAZY_PYTHON, LAZY_FOREIGN } lazy_recipe;
typedef enum { LAZY_NOT, LAZY_FILLING, LAZY_DONE } lazy_state;

typedef struct LazyVector {
    PyObject_HEAD PyObject *input; // owned, data1: a LazyVector or any object; NULL if it is source.obj
    LazyStorage *result;           // owned, data2: NULL until something is materialized
    PyObject *retired;             // owned list of storages replaced by a writable copy, or NULL
    PyObject *weak;                // borrowed: the first weak reference
    PyObject *events;              // owned list of tuples, or NULL
    PyObject *name;                // owned str of a Python recipe, or NULL
    const lazy_kind *kind;
    Py_ssize_t length;
    Py_ssize_t start, step; // of a slice, in elements of data1; of a buffer `start` is the stride in bytes
    lazy_number first, second, by; // of an arange
    Py_buffer source;              // held while source.obj is set
    lazy_stamps *stamps;           // owned, malloc; NULL until the source is read
    inspector_lazy_provider *provider;
    uint64_t *done;              // owned, malloc: one bit per block of data2
    PyThread_type_lock filled;   // held by the thread that fills
    unsigned long filler;        // id of that thread
    pid_t filler_pid;            // its process: a forked child inherits the state but not the thread
    Py_ssize_t exports;          // buffers, DLPack and Arrow capsules that consumers hold
    long long dropped;           // number of dropped events
    atomic_int state;            // lazy_state
    uint8_t recipe;              // lazy_recipe
    uint8_t native;              // computing an element runs no Python and needs no GIL
    uint8_t over_input;          // data1 is a LazyVector
    uint8_t has_elt, has_region; // of a Python recipe: methods that the subclass defines
    uint8_t ready;               // initialised
    uint8_t written;             // a consumer could write: the recipe may no longer describe the elements
    uint16_t depth;              // lazy vectors below it; a materialized one ends the chain
} LazyVector;

static inline Py_ssize_t lazy_block_length(const LazyVector *vector) {
    return LAZY_BLOCK_BYTES / vector->kind->itemsize;
}
static inline Py_ssize_t lazy_blocks(const LazyVector *vector) {
    return (vector->length + lazy_block_length(vector) - 1) / lazy_block_length(vector);
}
static inline lazy_state lazy_state_of(LazyVector *vector) {
    return (lazy_state)atomic_load_explicit(&vector->state, memory_order_acquire);
}
static inline LazyVector *lazy_input(LazyVector *vector) {
    return vector->over_input ? (LazyVector *)vector->input : NULL;
}

// lazy/numbers.c
// Checks that the byte count of a length fits: 0, or -1 with OverflowError set.
int lazy_check_length(Py_ssize_t length, const lazy_kind *kind);
// lazy_box returns a new Python number; lazy_unbox converts one back: 0, or -1 with an exception set.
PyObject *lazy_box(const lazy_kind *kind, const void *element);
int lazy_unbox(const lazy_kind *kind, PyObject *number /* borrowed */, void *element);
// Raises inspector.lazy.refusals.<name>(*arguments); steals `arguments`, a tuple. Returns -1.
int lazy_refuse(const char *name, PyObject *arguments /* stolen */);

// lazy/storage.c
LazyStorage *lazy_storage_create(PyTypeObject *vector_type /* borrowed */, Py_ssize_t size);
extern PyType_Spec lazy_storage_spec;

// Releases the GIL for a long computation without Python, else keeps it: NULL. Then takes it again. In
// between no data2 is freed that native vectors may read.
PyThreadState *lazy_release_gil(const LazyVector *vector);
void lazy_take_gil(PyThreadState *released);
// Lends data2 to a consumer, who holds the vector; takes it back, from any thread, with or without the GIL.
LazyVector *lazy_lend(LazyVector *vector);
void lazy_lent_back(LazyVector *vector); // NULL: nothing was lent
int lazy_has_gil_free_readers(void);     // whether a thread reads so now

// lazy/region.c: elements without materializing. `i` and `n` must lie inside the vector. 0, or -1 with an
// exception set (never for a native vector, which needs no GIL).
int lazy_elt(LazyVector *vector, Py_ssize_t i, void *out);
int lazy_region(LazyVector *vector, Py_ssize_t i, Py_ssize_t n, void *out);
// Allocates the stamps of the inputs. Call it before releasing the GIL. 0, or -1 with an exception set.
int lazy_prepare(LazyVector *vector);
// Calls `fold` for each block. `fold` returns 0 to continue, 1 to stop, -1 for failure.
typedef int (*lazy_fold)(const lazy_kind *kind, const void *block, Py_ssize_t i, Py_ssize_t n, void *state);
int lazy_each_block(LazyVector *vector, lazy_fold fold, void *state);

// lazy/python.c: recipes written in Python, and in C with lazy.h.
int lazy_python_elt(LazyVector *vector, Py_ssize_t i, void *out);
int lazy_python_region(LazyVector *vector, Py_ssize_t i, Py_ssize_t n, void *out);
int lazy_foreign_elt(LazyVector *vector, Py_ssize_t i, void *out);
int lazy_foreign_region(LazyVector *vector, Py_ssize_t i, Py_ssize_t n, void *out);

// lazy/stamp.c
int lazy_stamps_make(LazyVector *vector);
void lazy_stamps_free(lazy_stamps *stamps);
void lazy_stamp_element(LazyVector *vector, Py_ssize_t i, const void *element);
void lazy_stamp_region(LazyVector *vector, Py_ssize_t i, Py_ssize_t n);
void lazy_stamp_block(lazy_stamps *stamps, Py_ssize_t block, lazy_stamp now);
// A new tuple: changed, compared, touched; counts blocks and spans, compares at most `budget` blocks.
PyObject *lazy_input_changed(PyObject *self /* borrowed */, PyObject *budget /* borrowed */);

// lazy/fill.c: materialization. `cause` names the caller; NULL: the event records the calling line.
int lazy_materialize(LazyVector *vector, PyObject *cause /* borrowed */);
int lazy_materialize_blocks(LazyVector *vector, Py_ssize_t first, Py_ssize_t end,
                            PyObject *cause /* borrowed */);
int lazy_unshare(LazyVector *vector);

// lazy/event.c: sets the listener, returns a new None. lazy_event appends to vector->events.
PyObject *lazy_tell(PyObject *module /* borrowed */, PyObject *listener /* borrowed: kept */);
int lazy_event(LazyVector *vector, const char *kind, PyObject *cause /* borrowed */, Py_ssize_t bytes,
               long long ns);

// lazy/recipes.c. A new vector over a buffer or a vector.
PyObject *lazy_make(PyObject *module /* borrowed */, PyObject *const *args /* borrowed */, Py_ssize_t count);
// A new vector of three numbers.
PyObject *lazy_arange_new(PyObject *module /* borrowed */, PyObject *args /* borrowed */);
// A new vector over a provider of lazy.h.
PyObject *lazy_foreign_new(PyObject *module /* borrowed */, PyObject *args /* borrowed */);
// A new vector of the elements start, start + step, ... of `vector`.
PyObject *lazy_slice_new(LazyVector *vector, Py_ssize_t start, Py_ssize_t step, Py_ssize_t length);

// lazy/access.c, lazy/summary.c, lazy/export.c, lazy/arrow.c: slots and methods of the type.
extern PyMethodDef lazy_access_methods[], lazy_summary_methods[], lazy_export_methods[];
extern PyGetSetDef lazy_access_getset[];
Py_ssize_t lazy_length(PyObject *self /* borrowed */);
// A new Python number.
PyObject *lazy_item(PyObject *self /* borrowed */, Py_ssize_t i);
// A new number, slice or array.
PyObject *lazy_subscript(PyObject *self /* borrowed */, PyObject *key /* borrowed */);
// A new tuple of two capsules.
PyObject *lazy_arrow_array(PyObject *self /* borrowed */, PyObject *args /* borrowed */,
                           PyObject *kwargs /* borrowed, may be NULL */);
int lazy_getbuffer(PyObject *self /* borrowed */, Py_buffer *view, int flags);
void lazy_releasebuffer(PyObject *self /* borrowed */, Py_buffer *view);

#endif
