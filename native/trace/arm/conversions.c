// The conversions of an R that embeds Python: reticulate's C++ functions between R's objects and Python's.
//
// Overview. reticulate exports `py_to_r(PyObject *, bool)` and `r_to_py(RObject, bool)` and calls them
// through its own import slots, so got.c can patch those. Only the outermost conversion is told; within it
// the calls of Python's C API are recorded at first (RECORDED), and then only counted: a vector of a million
// elements is millions of calls that say the same.
//
// Life cycle. conversions_arm keeps a callable of ours and an R function (R_PreserveObject) until
// conversions_disarm. The R function is evaluated after the conversion, where R expects C code that calls R.
//
// Threads. R has one thread; conversions in another one, or without the GIL, go on untold.
//
// Limits. Names and calling convention are those of reticulate 1.28 and 1.47, and of GCC: an RObject by value
// is the address of one whose first word is the SEXP. A reticulate whose functions are hidden has no such
// slots.
// SPDX-License-Identifier: MIT
#include "trace/arm/got.h"
#include "trace/record/ring.h"

#include <dlfcn.h>
#include <pthread.h>

typedef void *r_object; // a SEXP

enum { FUNCTIONS_MAX = 8, RECORDED = 512, STRING = 16, LIST = 19 };

#define R_FUNCTIONS(FUNCTION) \
    FUNCTION(r_object, Rf_protect, (r_object)) \
    FUNCTION(void, Rf_unprotect, (int)) \
    FUNCTION(void, R_PreserveObject, (r_object)) \
    FUNCTION(void, R_ReleaseObject, (r_object)) \
    FUNCTION(r_object, Rf_mkString, (const char *)) \
    FUNCTION(r_object, Rf_lang1, (r_object)) \
    FUNCTION(r_object, R_ParseVector, (r_object, int, int *, r_object)) \
    FUNCTION(r_object, R_tryEvalSilent, (r_object, r_object, int *)) \
    FUNCTION(int, TYPEOF, (r_object)) \
    FUNCTION(int, Rf_length, (r_object)) \
    FUNCTION(r_object, VECTOR_ELT, (r_object, ptrdiff_t)) \
    FUNCTION(r_object, STRING_ELT, (r_object, ptrdiff_t)) \
    FUNCTION(const char *, Rf_translateCharUTF8, (r_object))
#define R_MEMBER(type, name, params) type(*name) params;
static struct {
    R_FUNCTIONS(R_MEMBER)
} r; // libR's, while the process lives
static r_object *r_nil, *r_base;

static PyObject *observer; // owned while armed
static r_object lines;     // preserved while armed: the R function
static pthread_t r_thread;

static exports_row functions[FUNCTIONS_MAX]; // names are reticulate's own
static int function_count;

typedef struct {
    uint64_t start_ns, from, calls;
} conversion;

static uintptr_t running; // the frame of the outermost hook; 0: none

static void conversion_close(conversion *open) {
    (void)open;
    ring_count_end();
    running = 0;
}

static void conversion_begin(conversion *open, uintptr_t frame) {
    running = frame;
    open->from = ring_count_begin(RECORDED);
    open->start_ns = clock_now_ns();
}

// New tuple of the texts that the R function gave. NULL with an exception set.
static PyObject *texts_of(r_object texts) {
    int count = r.TYPEOF(texts) == STRING ? r.Rf_length(texts) : 0;
    _owned_ PyObject *found = PyTuple_New(count);
    for (int i = 0; found && i < count; i++) {
        const char *text = r.Rf_translateCharUTF8(r.STRING_ELT(texts, i));
        if (tuple_set(found, i, PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace")) < 0) {
            return NULL;
        }
    }
    return take(found);
}

// Asks R for the line and calls the observer. What fails here is forgotten: the program goes on as without
// us.
static void ask_and_tell(int to_r, PyObject *object /* borrowed */, r_object value, const conversion *open,
                         uint64_t stop_ns) {
    int failed = 0;
    r.Rf_protect(value);
    r_object call = r.Rf_protect(r.Rf_lang1(lines));
    r_object said = r.Rf_protect(r.R_tryEvalSilent(call, *r_base, &failed));
    int is_known = !failed && said && r.TYPEOF(said) == LIST;
    _owned_ PyObject *texts = is_known ? texts_of(r.VECTOR_ELT(said, 0)) : PyTuple_New(0);
    r_object frame = is_known && r.TYPEOF(r.VECTOR_ELT(said, 1)) == LIST ? r.VECTOR_ELT(said, 1) : NULL;
    _owned_ PyObject *done =
        texts
            ? PyObject_CallFunction(observer, "iOKKKKOK", to_r, object, (unsigned long long)(uintptr_t)value,
                                    (unsigned long long)open->start_ns, (unsigned long long)stop_ns,
                                    (unsigned long long)open->calls, texts,
                                    (unsigned long long)(uintptr_t)frame)
            : NULL;
    if (!done) {
        PyErr_Clear();
    }
    r.Rf_unprotect(3);
}

static void conversion_end(int to_r, PyObject *object /* borrowed */, r_object value, conversion *open) {
    uint64_t stop_ns = clock_now_ns();
    open->calls = ring_counted(open->from);
    if (!observer || !object || !value || !PyGILState_Check()) {
        return;
    }
    PyObject *type, *error, *trace;
    int number = errno;
    uint16_t left = ring_quiet();
    PyErr_Fetch(&type, &error, &trace);
    Py_INCREF(object);
    ask_and_tell(to_r, object, value, open, stop_ns);
    Py_DECREF(object);
    PyErr_Restore(type, error, trace);
    ring_loud(left);
    errno = number;
}

// Whether no conversion is open. One that an error of R jumped over is not closed: its frame is gone then,
// and this one's is as far out or further. An exception of C++ closes it (-fexceptions).
static int is_outermost(uintptr_t frame) {
    if (!observer || !pthread_equal(pthread_self(), r_thread)) {
        return 0;
    }
    if (running && frame >= running) {
        conversion_close(NULL);
    }
    return !running;
}

// `more` is the third argument of py_to_r_cpp; py_to_r has none, and does not look at that register.
static r_object hook_to_r(PyObject *object, _Bool convert, uintptr_t more) {
    r_object (*original)(PyObject *, _Bool, uintptr_t) = got_words_of[ring_here.slot].original;
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    if (!is_outermost(frame)) {
        return original(object, convert, more);
    }
    conversion __attribute__((cleanup(conversion_close))) open;
    conversion_begin(&open, frame);
    r_object made = original(object, convert, more);
    conversion_end(1, object, made, &open);
    return made;
}

static PyObject *hook_to_python(r_object *from, _Bool convert) {
    PyObject *(*original)(r_object *, _Bool) = got_words_of[ring_here.slot].original;
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    if (!is_outermost(frame)) {
        return original(from, convert);
    }
    conversion __attribute__((cleanup(conversion_close))) open;
    conversion_begin(&open, frame);
    PyObject *made = original(from, convert);
    conversion_end(0, made, *from, &open);
    return made;
}

static const exports_row *conversions_find(const char *name) {
    for (int i = 0; i < function_count; i++) {
        if (strcmp(functions[i].name, name) == 0) {
            return &functions[i];
        }
    }
    return NULL;
}

static void *conversions_hook(uint16_t row) {
    const char *name = functions[row - GOT_CONVERSIONS_FIRST].name;
    return strstr(name, "py_to_r") ? (void *)hook_to_r : (void *)hook_to_python;
}

static const got_source conversions_source = {
    .first = GOT_CONVERSIONS_FIRST, .find = conversions_find, .hook = conversions_hook};

static int is_conversion(const char *name) {
    static const char *const starts[] = {"_Z7py_to_rP", "_Z11py_to_r_cppPN", "_Z7r_to_pyN4Rcpp",
                                         "_Z11r_to_py_cppN4Rcpp", "_Z13r_to_py_numpyN4Rcpp"};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        if (strncmp(name, starts[i], strlen(starts[i])) == 0) {
            return 1;
        }
    }
    return 0;
}

static void function_add(const relocation *found, void *handle) {
    void *address =
        is_conversion(found->name) && !conversions_find(found->name) ? dlsym(handle, found->name) : NULL;
    if (address && function_count < FUNCTIONS_MAX) {
        uint16_t row = (uint16_t)(GOT_CONVERSIONS_FIRST + function_count);
        functions[function_count++] = (exports_row){found->name, address, row};
    }
}

static int functions_find(struct dl_phdr_info *object, size_t size, void *paths) {
    if (loaded_is_among(object, paths)) {
        void *handle = dlopen(loaded_path(object), RTLD_LAZY | RTLD_NOLOAD);
        if (handle) {
            relocations_each(object, function_add, handle);
            dlclose(handle); // it stays loaded: R holds it
        }
    }
    return 0;
}

static int r_find(void) {
#define R_FIND(type, name, params) r.name = (type(*) params)dlsym(RTLD_DEFAULT, #name);
#define R_MISSING(type, name, params) || !r.name
    R_FUNCTIONS(R_FIND)
    r_nil = dlsym(RTLD_DEFAULT, "R_NilValue");
    r_base = dlsym(RTLD_DEFAULT, "R_BaseEnv");
    return !(!r_nil || !r_base R_FUNCTIONS(R_MISSING));
}

// The value of R source, preserved; NULL where it fails.
static r_object r_value(const char *source) {
    int status, failed = 0;
    r_object text = r.Rf_protect(r.Rf_mkString(source));
    r_object parsed = r.Rf_protect(r.R_ParseVector(text, -1, &status, *r_nil));
    r_object found = NULL;
    for (int i = 0; status == 1 && !failed && i < r.Rf_length(parsed); i++) {
        found = r.R_tryEvalSilent(r.VECTOR_ELT(parsed, i), *r_base, &failed);
    }
    if (found && !failed) {
        r.R_PreserveObject(found);
    }
    r.Rf_unprotect(2);
    return failed ? NULL : found;
}

static PyObject *conversions_arm(PyObject *module, PyObject *args) {
    PyObject *paths, *callable;
    const char *source;
    if (!PyArg_ParseTuple(args, "O!Os", &PyFrozenSet_Type, &paths, &callable, &source)) {
        return NULL;
    }
    dl_iterate_phdr(functions_find, paths);
    if (observer || !function_count || !r_find() || !(lines = r_value(source))) {
        Py_RETURN_FALSE;
    }
    got_outcome done;
    got_family_add(GOT_CONVERSIONS, &conversions_source);
    r_thread = pthread_self();
    observer = Py_NewRef(callable);
    return got_patch(GOT_CONVERSIONS, GOT_RECORD, paths, &done) < 0 ? NULL : PyBool_FromLong(done.stored > 0);
}

static PyObject *conversions_disarm(PyObject *module, PyObject *none) {
    if (lines) {
        r.R_ReleaseObject(lines);
    }
    lines = NULL;
    Py_CLEAR(observer);
    return got_restored(GOT_CONVERSIONS);
}

PART_FUNCTIONS(conversions, {"conversions_arm", conversions_arm, METH_VARARGS, NULL},
               {"conversions_disarm", conversions_disarm, METH_NOARGS, NULL})
