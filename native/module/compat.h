// Differences between CPython versions, kept here as data so that no part tests the version itself.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_COMPAT_H
#define INSPECTOR_COMPAT_H

#include <Python.h>

// A part that is proved without the GIL says so: it defines INSPECTOR_WITHOUT_GIL before it includes this.
#if defined(Py_GIL_DISABLED) && !defined(INSPECTOR_WITHOUT_GIL)
#error "native-inspector needs the GIL: free-threaded builds of CPython are not supported yet."
#endif

// PEP 683: immortal objects, from 3.12 on. 3.11 gives its static objects (small ints, one-letter strings)
// 999,999,999 references (_PyObject_IMMORTAL_REFCNT, internal/pycore_object.h), which mean just as little.
#if PY_VERSION_HEX >= 0x030C0000
#define compat_is_immortal(object) _Py_IsImmortal(object)
#define compat_never_counted(object) _Py_IsImmortal(object)
#define COMPAT_NONE_IS_COUNTED 0
#else
#define COMPAT_NONE_IS_COUNTED 1
#define compat_is_immortal(object) (Py_REFCNT(object) > 500000000)
#define compat_never_counted(object) 0 // its refcount changes like any other
#endif

// The cache of a code object (Include/cpython/code.h): in 3.11 the bytes of `co_code`, from 3.12 on a block
// of references. And the current exception of a thread, with its traceback.
#if PY_VERSION_HEX >= 0x030C0000
#define COMPAT_CODE_CACHE _co_cached
#define COMPAT_CODE_CACHE_NAME "_co_cached"
#define compat_raised(thread) ((thread)->current_exception)
#define compat_raised_traceback(thread) ((PyObject *)NULL) // from 3.12 on the exception owns it
#else
#define COMPAT_CODE_CACHE _co_code
#define COMPAT_CODE_CACHE_NAME "_co_code"
#define compat_raised(thread) ((thread)->curexc_value)
#define compat_raised_traceback(thread) ((thread)->curexc_traceback)
#endif

// The refcount of what may be an object; CPython links freed objects through that word. Up to 3.13 an address
// there is recognised by its size. In 3.14 the count is the low half, without a sign; the upper is 0 in a
// live object only. Few releases too many leave it just below 2^32, far above an immortal object's 3 * 2^30.
#if PY_VERSION_HEX >= 0x030E0000 && !defined(Py_GIL_DISABLED)
static inline Py_ssize_t compat_refcount(PyObject *object /* borrowed */) {
    uint32_t count = object->ob_overflow ? 0 : (uint32_t)Py_REFCNT(object);
    return count >= 0xF0000000u ? (Py_ssize_t)(int32_t)count : (Py_ssize_t)count;
}
#else
#define compat_refcount(object) Py_REFCNT(object)
#endif

// PEP 684: from 3.12 on a module declares whether it supports several interpreters; patches are process-wide.
#ifdef Py_GIL_DISABLED
#define COMPAT_INTERPRETERS_SLOT \
    {Py_mod_multiple_interpreters, Py_MOD_PER_INTERPRETER_GIL_SUPPORTED}, { Py_mod_gil, Py_MOD_GIL_NOT_USED }
#elif PY_VERSION_HEX >= 0x030C0000
#define COMPAT_INTERPRETERS_SLOT {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED}
#else
#define COMPAT_INTERPRETERS_SLOT {0, NULL} // ends the slots one line early
#endif

// The namespace of a type: a new reference, or NULL without an exception. From 3.12 on the interpreter owns
// the dict of a static built-in type and tp_dict is NULL.
#if PY_VERSION_HEX >= 0x030C0000
#define compat_type_dict(type) PyType_GetDict(type)
#else
#define compat_type_dict(type) Py_XNewRef((type)->tp_dict)
#endif

// What lies before the gc header of an object whose type manages a dict or weak references
// (internal/pycore_object.h): FIELD(type flag, name, offset in bytes). COMPAT_PREHEADER: both words exist.
#if PY_VERSION_HEX >= 0x030C0000
#define COMPAT_PREHEADER(type) (((type)->tp_flags & Py_TPFLAGS_PREHEADER) != 0)
#define COMPAT_PREHEADER_FIELDS(FIELD) \
    FIELD(Py_TPFLAGS_MANAGED_WEAKREF, "weakreflist", -32) \
    FIELD(Py_TPFLAGS_MANAGED_DICT, "managed dict", -24)
#else
#define COMPAT_PREHEADER(type) (((type)->tp_flags & Py_TPFLAGS_MANAGED_DICT) != 0)
#define COMPAT_PREHEADER_FIELDS(FIELD) \
    FIELD(Py_TPFLAGS_MANAGED_DICT, "dict values", -32) \
    FIELD(Py_TPFLAGS_MANAGED_DICT, "managed dict", -24)
#endif

// The field that holds an int's sign and digit count.
#if PY_VERSION_HEX >= 0x030C0000
#define COMPAT_INT_SIZE_FIELD "lv_tag"
#else
#define COMPAT_INT_SIZE_FIELD "ob_size"
#endif

#define COMPAT_BYTESIO_VISITS \
    (PY_VERSION_HEX >= 0x030C0000) // its tp_traverse: the bytes that __sizeof__ counts
#define COMPAT_LINES_BY_TRACE (PY_VERSION_HEX < 0x030C0000) // later sys.monitoring tells lines (PEP 669)

// Names of the tp_flags bits (Include/object.h): FLAG(name). COMPAT_TYPE_FLAGS_NEW: what some version lacks.
#if PY_VERSION_HEX >= 0x030D0000
#define COMPAT_TYPE_FLAGS_NEW(FLAG) \
    FLAG(_Py_TPFLAGS_STATIC_BUILTIN), FLAG(Py_TPFLAGS_INLINE_VALUES), FLAG(Py_TPFLAGS_MANAGED_WEAKREF), \
        FLAG(Py_TPFLAGS_ITEMS_AT_END),
#elif PY_VERSION_HEX >= 0x030C0000
#define COMPAT_TYPE_FLAGS_NEW(FLAG) \
    FLAG(_Py_TPFLAGS_STATIC_BUILTIN), FLAG(Py_TPFLAGS_MANAGED_WEAKREF), FLAG(Py_TPFLAGS_ITEMS_AT_END),
#else
#define COMPAT_TYPE_FLAGS_NEW(FLAG)
#endif
#define COMPAT_TYPE_FLAGS(FLAG) \
    FLAG(Py_TPFLAGS_HEAPTYPE), FLAG(Py_TPFLAGS_IMMUTABLETYPE), FLAG(Py_TPFLAGS_BASETYPE), \
        FLAG(Py_TPFLAGS_DISALLOW_INSTANTIATION), FLAG(Py_TPFLAGS_HAVE_GC), FLAG(Py_TPFLAGS_MANAGED_DICT), \
        COMPAT_TYPE_FLAGS_NEW(FLAG) FLAG(Py_TPFLAGS_HAVE_VECTORCALL), FLAG(Py_TPFLAGS_METHOD_DESCRIPTOR), \
        FLAG(Py_TPFLAGS_SEQUENCE), FLAG(Py_TPFLAGS_MAPPING), FLAG(Py_TPFLAGS_IS_ABSTRACT), \
        FLAG(Py_TPFLAGS_READY), FLAG(Py_TPFLAGS_READYING), FLAG(Py_TPFLAGS_VALID_VERSION_TAG), \
        FLAG(_Py_TPFLAGS_MATCH_SELF), FLAG(Py_TPFLAGS_LONG_SUBCLASS), FLAG(Py_TPFLAGS_LIST_SUBCLASS), \
        FLAG(Py_TPFLAGS_TUPLE_SUBCLASS), FLAG(Py_TPFLAGS_BYTES_SUBCLASS), FLAG(Py_TPFLAGS_UNICODE_SUBCLASS), \
        FLAG(Py_TPFLAGS_DICT_SUBCLASS), FLAG(Py_TPFLAGS_BASE_EXC_SUBCLASS), FLAG(Py_TPFLAGS_TYPE_SUBCLASS)

#if PY_VERSION_HEX >= 0x030D0000 // the current thread state, or NULL; never an error
#define compat_thread_unchecked() PyThreadState_GetUnchecked()
#else
#define compat_thread_unchecked() _PyThreadState_UncheckedGet()
#endif

// Whether an int is negative: 3.14 has a public function and deprecates the private one.
#if PY_VERSION_HEX >= 0x030E0000
#define compat_is_negative(number) (PyLong_IsNegative(number) == 1)
#else
#define compat_is_negative(number) (_PyLong_Sign(number) < 0)
#endif

// _PyLong_AsByteArray has a sixth parameter from 3.13 on.
#if PY_VERSION_HEX >= 0x030D0000
#define COMPAT_INT_BYTES_PARAMETERS \
    (PyLongObject * v, unsigned char *bytes, size_t n, int little_endian, int is_signed, int with_exceptions)
#define COMPAT_INT_BYTES_ARGUMENTS (v, bytes, n, little_endian, is_signed, with_exceptions)
#else
#define COMPAT_INT_BYTES_PARAMETERS \
    (PyLongObject * v, unsigned char *bytes, size_t n, int little_endian, int is_signed)
#define COMPAT_INT_BYTES_ARGUMENTS (v, bytes, n, little_endian, is_signed)
#endif

// _PyArg_UnpackKeywords has one more parameter, `varpos`, from 3.14 on.
#if PY_VERSION_HEX >= 0x030E0000
#define COMPAT_UNPACK_PARAMETERS \
    (PyObject *const *args, Py_ssize_t nargs, PyObject *kwargs, PyObject *kwnames, \
     struct _PyArg_Parser *parser, int minpos, int maxpos, int minkw, int varpos, PyObject **buf)
#define COMPAT_UNPACK_ARGUMENTS (args, nargs, kwargs, kwnames, parser, minpos, maxpos, minkw, varpos, buf)
#else
#define COMPAT_UNPACK_PARAMETERS \
    (PyObject *const *args, Py_ssize_t nargs, PyObject *kwargs, PyObject *kwnames, \
     struct _PyArg_Parser *parser, int minpos, int maxpos, int minkw, PyObject **buf)
#define COMPAT_UNPACK_ARGUMENTS (args, nargs, kwargs, kwnames, parser, minpos, maxpos, minkw, buf)
#endif

// Digits that an int has room for. 3.12 on keeps their number in a tag and always allocates at least one.
#if PY_VERSION_HEX >= 0x030C0000
static inline size_t compat_int_digits(PyObject *object /* borrowed */) {
    size_t digits = ((PyLongObject *)object)->long_value.lv_tag >> 3;
    return digits ? digits : 1;
}
#define COMPAT_INT_HEAD offsetof(PyLongObject, long_value.ob_digit)
#define compat_int_sign(object) (1 - (int)(((PyLongObject *)(object))->long_value.lv_tag & 3))
#define compat_int_digit(object, i) (((PyLongObject *)(object))->long_value.ob_digit[i])
#else
#define compat_int_digits(object) ((size_t)Py_ABS(Py_SIZE(object)))
#define COMPAT_INT_HEAD offsetof(PyLongObject, ob_digit)
#define compat_int_sign(object) ((Py_SIZE(object) > 0) - (Py_SIZE(object) < 0))
#define compat_int_digit(object, i) (((PyLongObject *)(object))->ob_digit[i])
#endif

// Bytes of a bytearray beside its struct. From 3.15 on they are a bytes object of its own, with a head.
#if PY_VERSION_HEX >= 0x030F0000
static inline size_t compat_bytearray_bytes(PyObject *object /* borrowed */) {
    size_t room = (size_t)((PyByteArrayObject *)object)->ob_alloc;
    return room ? offsetof(PyBytesObject, ob_sval) + 1 + room : 0;
}
#define COMPAT_BYTEARRAY_HOLDS offsetof(PyByteArrayObject, ob_bytes_object)
// The bytes object of a bytearray (borrowed), NULL of anything else. The size of the bytearray includes it.
#define compat_bytearray_holds(object) \
    (Py_IS_TYPE(object, &PyByteArray_Type) ? ((PyByteArrayObject *)(object))->ob_bytes_object : NULL)
#else
#define COMPAT_BYTEARRAY_HOLDS 0 // it refers to no object
#define compat_bytearray_holds(object) ((PyObject *)NULL)
#define compat_bytearray_bytes(object) ((size_t)((PyByteArrayObject *)(object))->ob_alloc)
#endif

// Returns 1 and the value of an int of at most two digits, or 0 for a longer one.
static inline int compat_int_short(PyObject *object /* borrowed */, int64_t *ret) {
    size_t digits = compat_int_digits(object);
    int64_t low = compat_int_digit(object, 0), sign = compat_int_sign(object);
    if (__builtin_expect(digits <= 1, 1)) {
        *ret = sign * low; // the digit of 0 is 0
        return 1;
    }
    *ret = sign * (low | (int64_t)compat_int_digit(object, 1) << PyLong_SHIFT);
    return digits == 2;
}

#ifdef INSPECTOR_INTERNALS
#include "module/compat_internals.h"
#endif
#endif
