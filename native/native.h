// The one header of the extension: module state, and the init of each part.
#ifndef INSPECTOR_NATIVE_H
#define INSPECTOR_NATIVE_H

// A part that reads CPython's internal structures defines this before it includes native.h (compat.h).
#ifdef INSPECTOR_INTERNALS
#define Py_BUILD_CORE 1
#define Py_BUILD_CORE_MODULE 1
#endif
// A part that names the functions themselves: up to 3.12 PY_SSIZE_T_CLEAN makes others of some.
#ifndef INSPECTOR_PLAIN_NAMES
#define PY_SSIZE_T_CLEAN
#endif
#include <Python.h>
#include <stdint.h>

#include "cleanup.h"
#include "compat.h"
#include "room.h"

typedef struct {
    PyTypeObject *subject_type;      // owned
    PyTypeObject *lazy_vector_type;  // owned
    PyTypeObject *lazy_storage_type; // owned
    PyTypeObject *lazy_class; // owned: inspector.lazy.Vector, what recipes make; NULL before its import
} native_state;

native_state *native_get_state(PyObject *module /* borrowed */);
// The state behind one of our types or a subclass of it; NULL with TypeError set for any other.
native_state *native_type_state(PyTypeObject *type /* borrowed */);

// names.c: adds a tuple of names to the module, one a number of an enum. 0, or -1 with an exception set.
int names_add(PyObject *module /* borrowed */, const char *attribute, const char *const *names, int count);

// A part is one C file; `part_exec` adds its functions and types to the module.
// Returns 0, or -1 with an exception set. To add a part: one line here.
#define INSPECTOR_PARTS(PART) \
    PART(subject) \
    PART(call) \
    PART(census) \
    PART(names) \
    PART(retained) \
    PART(chain) \
    PART(walk_told) \
    PART(memory) \
    PART(scan) \
    PART(owners) \
    PART(glances) \
    PART(bandwidth) \
    PART(preview) \
    PART(layout) \
    PART(symbols) \
    PART(buffer) \
    PART(protocols) \
    PART(attributes) \
    PART(mappings) \
    PART(residency) \
    PART(locals) \
    PART(types) \
    PART(functions) \
    PART(lazy_vector) \
    PART(ring_read) \
    PART(interned) \
    PART(stacks) \
    PART(journal) \
    PART(asked) \
    PART(calls) \
    PART(losses) \
    PART(methods) \
    PART(type_slots) \
    PART(foreign) \
    PART(capi) \
    PART(got) \
    PART(hosts) \
    PART(numpy_table) \
    PART(loaded) \
    PART(allocations) \
    PART(sources) \
    PART(ledger) \
    PART(ledger_views) \
    PART(outside) \
    PART(outside_search) \
    PART(outside_traces) \
    PART(surplus) \
    PART(exits) \
    PART(traps) \
    PART(remote) \
    PART(remote_call) \
    PART(remote_objects) \
    PART(hits) \
    PART(writes) \
    PART(writes_pages) \
    PART(docs)

#define DECLARE_PART(name) int name##_exec(PyObject *module /* borrowed */);
INSPECTOR_PARTS(DECLARE_PART)
#undef DECLARE_PART

// subject.c: the object under inspection, seen from any part. Borrowed; NULL with TypeError set
// when `maybe_subject` is not a Subject.
PyObject *subject_object(PyObject *module /* borrowed */, PyObject *maybe_subject /* borrowed */);
// The object in what is known to be a Subject: borrowed, NULL where it holds none, no exception set.
PyObject *subject_peek(PyObject *subject /* borrowed */);

// walk_told.c: says how many objects a walk has looked at, where somebody listens.
void walk_tell(unsigned objects);

// edges.c: what an object refers to. edges_visit may only be asked where edges_has says yes.
int edges_has(PyObject *object /* borrowed */);
int edges_visit(PyObject *object /* borrowed */, visitproc visit, void *arg);
int edges_traverse(PyObject *object /* borrowed */, visitproc visit, void *arg); // tp_traverse alone
void edges_prefetch(PyObject *object /* borrowed */);
static inline int edges_plain(const PyTypeObject *type /* borrowed */) { // the commonest, without a namespace
    return type == &PyList_Type || type == &PyTuple_Type || type == &PyDict_Type;
}

// frames.c: every running frame of every thread; `look` ends the round by a result other than 0.
typedef struct {
    PyCodeObject *code;     // borrowed
    PyObject *function;     // borrowed, or NULL
    PyObject *globals;      // borrowed
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
// The frame of a frame object, a generator or a coroutine: 1, or 0 where it has none any more.
int frames_of_object(PyObject *object /* borrowed */, frame_view *ret);

// links.c: how one object holds another. A name is static text, an object (exact type or not), or an index.
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

// arrays.c: what an ndarray refers to; NumPy's ABI, written down so that NumPy is not needed to build.
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
extern PyTypeObject *arrays_type;               // borrowed: static; NULL until NumPy is imported
int arrays_visit(PyObject *object /* borrowed */, visitproc visit, void *arg);
int arrays_find(PyObject *array /* borrowed */, PyObject *target /* borrowed */, link_found *ret);
int links_in_slots(PyCodeObject *code /* borrowed */, PyObject **slots, PyObject *target /* borrowed */,
                   link_found *ret);
// The dict that is the namespace of an instance, a class or a module: borrowed, or NULL; none is made.
PyObject *links_own_dict(PyObject *object /* borrowed */);

// census.c: the live objects of each type named in `wanted`, borrowed, valid until something runs; `ours` are
// types left out. The caller has switched the gc off. 0, or -1 with an exception set.
int census_collect(PyObject *ours /* borrowed */, PyObject *wanted /* borrowed */, room_stack *found);

// own_bytes.c: an object's own bytes, headers included. The rule is found once a type.
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
int own_bytes_plausible(PyTypeObject *type /* borrowed */); // 0: its tp_basicsize or tp_itemsize is wrong
size_t own_bytes(PyObject *object /* borrowed */, const own_bytes_rule *rule);

// memory.c: mappings, safe reads, and scratch memory (none of these touch Python objects).
typedef struct {
    char *start; // owned: one anonymous mapping
    size_t used, size;
} scratch;

#define SCRATCH_BYTES ((size_t)128 << 20) // reserved, not resident: a search touches what it fills

int scratch_init(scratch *ret, size_t size);
void scratch_deinit(scratch *memory);
void *scratch_alloc(scratch *memory, size_t size); // zeroed; NULL when full
#define _scratch_ __attribute__((cleanup(scratch_deinit)))

typedef struct {
    uintptr_t start, stop;
    uint64_t file_offset, inode;
    const char *path; // borrowed: in the scratch, not terminated
    size_t path_length;
    char permissions[4];
} memory_map;

typedef struct {
    memory_map *rows; // borrowed: in the scratch, by address
    size_t count;
} memory_maps;

int memory_maps_init(memory_maps *ret, scratch *memory);
const memory_map *memory_maps_find(const memory_maps *maps, uintptr_t address); // borrowed, or NULL
size_t memory_read(uintptr_t address, void *to, size_t size);                   // bytes read

// Runs a body that reads memory which may go: 0, or -1 when it faulted. Between arm and disarm only.
void memory_guard_arm(void);
void memory_guard_disarm(void);
int memory_guarded(void (*body)(void *), void *argument);

// pages.c: the bytes a search reads.
typedef struct {
    uintptr_t start, stop;
} scan_range;

typedef struct {
    scan_range *rows; // borrowed: in the scratch, by address
    size_t count;
    uint64_t bytes, left_out_bytes, untouched_bytes;
} scan_runs;

int scan_runs_init(scan_runs *ret, const memory_maps *maps, scan_range *left_out, size_t left_out_count,
                   scratch *memory);

// scan.c: every word of those bytes that lies in a needle.
typedef struct {
    uintptr_t word, value;
    uint32_t needle; // index into the sorted needles
} scan_hit;

#define SCAN_SLICE_WORDS ((size_t)1 << 17)
typedef struct scan_job {
    scan_range *needles; // borrowed: sorted by scan_words; must not overlap
    size_t needle_count;
    const scan_runs *runs;          // borrowed
    scan_hit *hits;                 // borrowed: room for hit_capacity
    size_t hit_capacity, hit_count; // hits beyond the capacity are counted, not kept
    uint64_t scanned_bytes, vanished_bytes, scan_ns;
    int portable; // never AVX2
    // NULL, or called after each slice with the hits of that slice alone: 0 goes on, 1 is content with what
    // was found, -1 ends with an exception. The hits of a slice fit into SCAN_SLICE_WORDS.
    int (*collect)(struct scan_job *job, void *argument);
    void *argument;
} scan_job;

int scan_words(scan_job *job); // 0, or -1 with an exception set
// A new list of what was kept of the hits: pairs of word and value.
PyObject *scan_hits(const scan_job *job);
// (start, stop) pairs from Python, with room for `spare` more; 0, or -1 with an exception set.
int scan_ranges_parse(PyObject *pairs /* borrowed */, scratch *memory, size_t spare, scan_range **ret,
                      size_t *ret_count);
// What a search must not read: its scratch, the stack below `frame`, its own, and the thread's alternate one.
enum { SCAN_OWN_RANGES = 3 };
size_t scan_ranges_own(scan_range *ret, const memory_maps *maps, const scratch *memory, uintptr_t frame);

// text.c: short printable text. Room is on the stack; `limit` is at most TEXT_MAX_CHARS.
enum { TEXT_MAX_CHARS = 200 };

typedef struct {
    Py_UCS4 characters[TEXT_MAX_CHARS];
    int limit, length;
    int safe;        // length at the last place where the text may be cut
    int full;        // something did not fit
    Py_UCS4 closing; // put behind the "…" of a cut text; 0 for none
} text;

void text_put(text *into, Py_UCS4 character);
void text_put_ascii(text *into, const char *ascii);
// Printable characters as they are, others as Python escapes them; `quote` and backslash get a backslash.
void text_put_escaped(text *into, Py_UCS4 character, Py_UCS4 quote /* 0: none is escaped */);
// Where the text so far may end, should the rest not fit.
void text_may_cut(text *into);
// A new str of what was put; the text is spent.
PyObject *text_finish(text *from);
// A ready str with everything a terminal would act upon escaped. New str.
PyObject *text_visible(PyObject *original /* borrowed */, Py_ssize_t limit);
// The same from C: UTF-8 with broken bytes replaced, "" for NULL. New str.
PyObject *text_from_c(const char *original, Py_ssize_t limit);

// layout.c: the full name of a type, read from its C struct: no metaclass code runs. New str.
PyObject *layout_type_name(PyTypeObject *type /* borrowed */);
// layout.c: the names of the types in a tuple, as tp_mro; an empty one for NULL. New tuple.
PyObject *layout_type_names(PyObject *types /* borrowed */);
// layout.c: the module a type says it lives in; "" where it does not say. New str.
PyObject *layout_type_module(PyTypeObject *type /* borrowed */);
// layout.c: an address in the file that defines the type; NULL for a class statement.
const void *layout_type_origin(PyTypeObject *type /* borrowed */);
// layout.c: what `dict` has under the str `key`, without anyone's __hash__ or __eq__. Borrowed; NULL
// where there is none among its first entries. Never sets an exception.
PyObject *layout_lookup(PyObject *dict /* borrowed, may be NULL */, const char *key);

// types.c: rows of the tables a type or module was made from, for the parts that show one.
// A new (name, flags, address, first line of the doc).
PyObject *types_method_row(const PyMethodDef *method);
// A new list of such rows, up to the row without a name; empty for NULL.
PyObject *types_method_rows(const PyMethodDef *methods);
// A new str: the first line of a doc string after its signature; "" for NULL.
PyObject *types_first_line(const char *doc);
// The C name of the slot at an offset of PyHeapTypeObject; "" where there is none.
const char *types_slot_name(Py_ssize_t offset);

#endif
