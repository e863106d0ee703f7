// The hooks of variadic functions. A hook cannot pass "..." on, so each makes the call by a counterpart.
//
// PyArg_ParseTuple, Py_BuildValue and the like have a counterpart that takes a va_list. Callables are called
// as CPython does it (Objects/call.c): with gathered arguments and PyObject_Vectorcall; for formats with
// Py_VaBuildValue's value, where a single tuple is the argument list. PyTuple_Pack and PyArg_UnpackTuple are
// written out here; a wrong count is left to the original, which then reads no further argument. These hooks
// do not call the hook of a tracer that patched the slot before us; all other hooks do.
//
// The record is followed by its continuations: the format as TEXT, then each value (trace/capi/formats.c).
// SPDX-License-Identifier: MIT
#define INSPECTOR_PLAIN_NAMES
#include "trace/capi/failures.h"
#include "trace/capi/hooks.h"
#include "trace/record/convention.h"
#include "trace/record/ring.h"

// Exported by every version so far, but declared in no public header.
__attribute__((weak)) int _PyArg_VaParse_SizeT(PyObject * /* borrowed */, const char *, va_list);
__attribute__((weak)) int _PyArg_VaParseTupleAndKeywords_SizeT(PyObject * /* borrowed */,
                                                               PyObject * /* borrowed */, const char *,
                                                               char **, va_list);
__attribute__((weak)) PyObject *_Py_VaBuildValue_SizeT(const char *, va_list);

typedef struct {
    uint16_t row;
    uint16_t flags;
    PyObject *object; // borrowed
    int made;         // object is the result
    uint64_t val, aux;
} va_outcome;

// Writes the record of the call itself: 1, or 0 where the ring had no room.
static int outcome_put(const hook_call *call, int deep, va_outcome outcome) {
    capi_new_result note = capi_ledger_of.new_result; // once: another thread may close the ledger
    if (note && outcome.flags & EVENT_FLAG_NEW) {
        PyObject *result = outcome.made ? outcome.object : (PyObject *)outcome.val; // borrowed
        note(call->slot, outcome.row, call->from, result);
    }
    event *record = hook_open(call, outcome.row, outcome.flags);
    if (!record) {
        return 0;
    }
    record->obj = (uint64_t)outcome.object;
    record->val = outcome.val;
    record->aux = outcome.aux;
    if (deep) {
        hook_deep(record, call, outcome.object, outcome.made, 0);
    } else {
        hook_plain(record);
    }
    if (capi_calls(outcome.row)) {
        hook_callback(record, outcome.object);
    }
    ring_commit();
    if (deep) {
        stacks_note(call->slot, ring_depth_byte(call->depth));
    }
    return 1;
}

typedef void (*walk_function)(format_walk *walk, const char *format);

static void outcome_walk(const hook_call *call, int deep, va_outcome outcome, const char *format,
                         format_walk *walk, walk_function each) {
    if (outcome_put(call, deep, outcome) && format) {
        hook_text(call, format, -1);
        walk->call = call;
        walk->deep = deep;
        if (!(outcome.flags & EVENT_FLAG_ERROR) || each != format_walk_parse) {
            each(walk, format);
        }
    }
}

// Sets what a parse was passed by position (args is a tuple; the call itself has checked it) and by name.
static void arguments_set(format_walk *walk, PyObject *args, PyObject *names) {
    walk->positional = PyTuple_Check(args) ? (uint32_t)PyTuple_GET_SIZE(args) : UINT32_MAX;
    walk->items = PyTuple_Check(args) ? PySequence_Fast_ITEMS(args) : NULL;
    walk->named = names && PyDict_CheckExact(names) && ((PyDictObject *)names)->ma_used > 0;
}

// Before the call: its own list of the values after `last`, and a copy for the walk.
#define WALK_BEGIN(last) \
    format_walk walk = {.positional = 0}; \
    va_list values; \
    va_start(values, last); \
    va_copy(walk.values, values)
#define WALK_END(deep, outcome, each) \
    outcome_walk(&call, deep, outcome, format, &walk, each); \
    va_end(walk.values); \
    ring_exit(call.depth)

#define PARSE(deep, grade, name, counterpart) \
    static int va_##grade##_##name(PyObject *args, const char *format, ...) { \
        hook_call call = hook_begin(deep, args); \
        WALK_BEGIN(format); \
        int result = counterpart(args, format, values); \
        va_end(values); \
        arguments_set(&walk, args, NULL); \
        va_outcome outcome = {capi_##name, result ? 0 : EVENT_FLAG_ERROR, args, 0, (uint64_t)format, 0}; \
        WALK_END(deep, outcome, format_walk_parse); \
        return result; \
    }

#define PARSE_NAMED(deep, grade, name, counterpart) \
    static int va_##grade##_##name(PyObject *args, PyObject *names, const char *format, char **keywords, \
                                   ...) { \
        hook_call call = hook_begin(deep, args); \
        WALK_BEGIN(keywords); \
        int result = counterpart(args, names, format, keywords, values); \
        va_end(values); \
        arguments_set(&walk, args, names); \
        va_outcome outcome = {capi_##name,       result ? 0 : EVENT_FLAG_ERROR, args, 0, (uint64_t)format, \
                              (uint64_t)keywords}; \
        WALK_END(deep, outcome, format_walk_parse); \
        return result; \
    }

#define BUILD(deep, grade, name, counterpart, each) \
    static PyObject *va_##grade##_##name(const char *format, ...) { \
        hook_call call = hook_begin(deep, NULL); \
        WALK_BEGIN(format); \
        PyObject *result = counterpart(format, values); \
        va_end(values); \
        uint16_t flags = result ? EVENT_FLAG_NEW : EVENT_FLAG_ERROR; \
        va_outcome outcome = {capi_##name, flags, result, 1, (uint64_t)format, 0}; \
        WALK_END(deep, outcome, each); \
        return result; \
    }

// Calls `callable` with the value of a format, as _PyObject_CallFunctionVa does: a tuple is the argument
// list.
static PyObject *call_built(PyObject *callable, PyObject *built /* stolen */) {
    if (!built) {
        return NULL;
    }
    PyObject *result =
        PyTuple_Check(built) ? PyObject_Call(callable, built, NULL) : PyObject_CallOneArg(callable, built);
    Py_DECREF(built);
    return result;
}

typedef PyObject *(*build_function)(const char *format, va_list values);

static PyObject *call_formatted(PyObject *callable, const char *format, build_function build,
                                va_list values) {
    return format && *format ? call_built(callable, build(format, values)) : PyObject_CallNoArgs(callable);
}

static PyObject *call_method(PyObject *object, const char *name, const char *format, build_function build,
                             va_list values) {
    _owned_ PyObject *method = PyObject_GetAttrString(object, name);
    if (method && !PyCallable_Check(method)) {
        return PyErr_Format(PyExc_TypeError, "attribute of type '%.200s' is not callable",
                            Py_TYPE(method)->tp_name);
    }
    return method ? call_formatted(method, format, build, values) : NULL;
}

#define CALL_FORMATTED(deep, grade, name, build) \
    static PyObject *va_##grade##_##name(PyObject *callable, const char *format, ...) { \
        hook_call call = hook_begin(deep, callable); \
        if (!callable) { \
            return ((PyObject * (*)(PyObject *, const char *)) got_words_of[call.slot].original)(NULL, ""); \
        } \
        WALK_BEGIN(format); \
        PyObject *result = call_formatted(callable, format, build, values); \
        va_end(values); \
        uint16_t flags = result ? EVENT_FLAG_NEW : EVENT_FLAG_ERROR; \
        va_outcome outcome = {capi_##name, flags, callable, 0, (uint64_t)result, (uint64_t)format}; \
        WALK_END(deep, outcome, format_walk_build); \
        return result; \
    }

#define CALL_METHOD(deep, grade, name, build) \
    static PyObject *va_##grade##_##name(PyObject *object, const char *method, const char *format, ...) { \
        hook_call call = hook_begin(deep, object); \
        if (!object || !method) { \
            return ( \
                (PyObject * (*)(PyObject *, const char *, const char *)) got_words_of[call.slot].original)( \
                object, method, ""); \
        } \
        WALK_BEGIN(format); \
        PyObject *result = call_method(object, method, format, build, values); \
        va_end(values); \
        uint16_t flags = result ? EVENT_FLAG_NEW : EVENT_FLAG_ERROR; \
        va_outcome outcome = {capi_##name, flags, object, 0, (uint64_t)result, (uint64_t)method}; \
        WALK_END(deep, outcome, format_walk_build); \
        return result; \
    }

static void values_put(const hook_call *call, PyObject *const *objects, Py_ssize_t count) {
    for (Py_ssize_t i = 0; i < count; i++) {
        hook_value(call, (uint32_t)i, 'O', (uint64_t)objects[i], 0);
    }
}

static Py_ssize_t objects_count(va_list *values) {
    va_list counted;
    Py_ssize_t count = 0;
    va_copy(counted, *values);
    while (va_arg(counted, PyObject *)) {
        count++;
    }
    va_end(counted);
    return count;
}

#define CALL_OBJECTS(deep, grade) \
    static PyObject *va_##grade##_PyObject_CallFunctionObjArgs(PyObject *callable, ...) { \
        hook_call call = hook_begin(deep, callable); \
        if (!callable) { \
            return ((PyObject * (*)(PyObject *, PyObject *)) got_words_of[call.slot].original)(NULL, NULL); \
        } \
        va_list values; \
        va_start(values, callable); \
        Py_ssize_t count = objects_count(&values); \
        PyObject *objects[count + 1]; \
        for (Py_ssize_t i = 0; i < count; i++) { \
            objects[i] = va_arg(values, PyObject *); \
        } \
        va_end(values); \
        PyObject *result = PyObject_Vectorcall(callable, objects, (size_t)count, NULL); \
        uint16_t flags = result ? EVENT_FLAG_NEW : EVENT_FLAG_ERROR; \
        va_outcome outcome = { \
            capi_PyObject_CallFunctionObjArgs, flags, callable, 0, (uint64_t)result, (uint64_t)count}; \
        if (outcome_put(&call, deep, outcome)) { \
            values_put(&call, objects, count); \
        } \
        ring_exit(call.depth); \
        return result; \
    } \
    static PyObject *va_##grade##_PyObject_CallMethodObjArgs(PyObject *object, PyObject *name, ...) { \
        hook_call call = hook_begin(deep, object); \
        if (!object || !name) { \
            return ((PyObject * (*)(PyObject *, PyObject *, PyObject *)) got_words_of[call.slot].original)( \
                object, name, NULL); \
        } \
        va_list values; \
        va_start(values, name); \
        Py_ssize_t count = objects_count(&values) + 1; \
        PyObject *objects[count]; \
        objects[0] = object; \
        for (Py_ssize_t i = 1; i < count; i++) { \
            objects[i] = va_arg(values, PyObject *); \
        } \
        va_end(values); \
        PyObject *result = PyObject_VectorcallMethod(name, objects, (size_t)count, NULL); \
        uint16_t flags = result ? EVENT_FLAG_NEW : EVENT_FLAG_ERROR; \
        va_outcome outcome = { \
            capi_PyObject_CallMethodObjArgs, flags, object, 0, (uint64_t)result, (uint64_t)name}; \
        if (outcome_put(&call, deep, outcome)) { \
            values_put(&call, objects + 1, count - 1); \
        } \
        ring_exit(call.depth); \
        return result; \
    }

#define TUPLES(deep, grade) \
    static PyObject *va_##grade##_PyTuple_Pack(Py_ssize_t count, ...) { \
        hook_call call = hook_begin(deep, NULL); \
        PyObject *result = PyTuple_New(count); \
        va_list values; \
        va_start(values, count); \
        for (Py_ssize_t i = 0; result && i < count; i++) { \
            PyTuple_SET_ITEM(result, i, Py_NewRef(va_arg(values, PyObject *))); \
        } \
        va_end(values); \
        uint16_t flags = result ? EVENT_FLAG_NEW : EVENT_FLAG_ERROR; \
        va_outcome outcome = {capi_PyTuple_Pack, flags, result, 1, (uint64_t)count, 0}; \
        if (outcome_put(&call, deep, outcome) && result) { \
            values_put(&call, ((PyTupleObject *)result)->ob_item, count); \
        } \
        ring_exit(call.depth); \
        return result; \
    } \
    static int va_##grade##_PyArg_UnpackTuple(PyObject *args, const char *name, Py_ssize_t least, \
                                              Py_ssize_t most, ...) { \
        hook_call call = hook_begin(deep, args); \
        Py_ssize_t count = PyTuple_Check(args) ? PyTuple_GET_SIZE(args) : -1; \
        int result; \
        if (count < least || count > most) { \
            result = \
                ((int (*)(PyObject *, const char *, Py_ssize_t, Py_ssize_t, ...))got_words_of[call.slot] \
                     .original)(args, name, least, most); \
        } else { \
            va_list values; \
            va_start(values, most); \
            for (Py_ssize_t i = 0; i < count; i++) { \
                *va_arg(values, PyObject **) = PyTuple_GET_ITEM(args, i); \
            } \
            va_end(values); \
            result = 1; \
        } \
        va_outcome \
            outcome = {capi_PyArg_UnpackTuple, result ? 0 : EVENT_FLAG_ERROR, args, 0, (uint64_t)count, \
                       (uint64_t)name}; \
        if (outcome_put(&call, deep, outcome) && result) { \
            values_put(&call, ((PyTupleObject *)args)->ob_item, count); \
        } \
        ring_exit(call.depth); \
        return result; \
    }

#define ERROR_FORMAT(deep, grade) \
    static PyObject *va_##grade##_PyErr_Format(PyObject *exception, const char *format, ...) { \
        hook_call call = hook_begin(deep, exception); \
        WALK_BEGIN(format); \
        PyErr_FormatV(exception, format, values); \
        va_end(values); \
        va_outcome outcome = {capi_PyErr_Format, 0, exception, 0, (uint64_t)format, 0}; \
        WALK_END(deep, outcome, format_walk_print); \
        return NULL; \
    }

#define EVERY(deep, grade) \
    PARSE(deep, grade, PyArg_ParseTuple, PyArg_VaParse) \
    PARSE(deep, grade, _PyArg_ParseTuple_SizeT, _PyArg_VaParse_SizeT) \
    PARSE_NAMED(deep, grade, PyArg_ParseTupleAndKeywords, PyArg_VaParseTupleAndKeywords) \
    PARSE_NAMED(deep, grade, _PyArg_ParseTupleAndKeywords_SizeT, _PyArg_VaParseTupleAndKeywords_SizeT) \
    BUILD(deep, grade, Py_BuildValue, Py_VaBuildValue, format_walk_build) \
    BUILD(deep, grade, _Py_BuildValue_SizeT, _Py_VaBuildValue_SizeT, format_walk_build) \
    BUILD(deep, grade, PyUnicode_FromFormat, PyUnicode_FromFormatV, format_walk_print) \
    BUILD(deep, grade, PyBytes_FromFormat, PyBytes_FromFormatV, format_walk_print) \
    CALL_FORMATTED(deep, grade, PyObject_CallFunction, Py_VaBuildValue) \
    CALL_FORMATTED(deep, grade, _PyObject_CallFunction_SizeT, _Py_VaBuildValue_SizeT) \
    CALL_METHOD(deep, grade, PyObject_CallMethod, Py_VaBuildValue) \
    CALL_METHOD(deep, grade, _PyObject_CallMethod_SizeT, _Py_VaBuildValue_SizeT) \
    CALL_OBJECTS(deep, grade) \
    TUPLES(deep, grade) \
    ERROR_FORMAT(deep, grade)
EVERY(0, record)
EVERY(1, deep)

// Where this Python does not export a counterpart, the call is recorded as it begins.
void *hooks_va_find(uint16_t row, got_grade grade) {
    int is_size = row == capi__PyArg_ParseTuple_SizeT || row == capi__PyArg_ParseTupleAndKeywords_SizeT ||
                  row == capi__Py_BuildValue_SizeT || row == capi__PyObject_CallFunction_SizeT ||
                  row == capi__PyObject_CallMethod_SizeT;
    if (is_size &&
        !(_PyArg_VaParse_SizeT && _PyArg_VaParseTupleAndKeywords_SizeT && _Py_VaBuildValue_SizeT)) {
        return trampolines_entry;
    }
    switch (row) {
#define CAPI_VA(name, ...) \
    case capi_##name: \
        return grade == GOT_DEEP ? (void *)va_deep_##name : (void *)va_record_##name;
#include "trace/capi/capi.def"
    default:
        return NULL;
    }
}
