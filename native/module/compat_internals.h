// Differences between CPython versions in the interpreter's own structures: for parts that define
// INSPECTOR_INTERNALS before they include module/native.h. All others see the public API only.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_COMPAT_INTERNALS_H
#define INSPECTOR_COMPAT_INTERNALS_H

#include <internal/pycore_dict.h>
#include <internal/pycore_frame.h>
#include <internal/pycore_gc.h>
#include <internal/pycore_interp.h>
#include <internal/pycore_moduleobject.h>
#include <internal/pycore_object.h>

#define COMPAT_SAYS_LAYOUT (PY_VERSION_HEX >= 0x030D0000) // _Py_DebugOffsets

// The gc's lists (Python/gc.c): circular, doubly linked, with a head that is no object. Three generations;
// the first releases of 3.14 have one young and two old lists (see CMakeLists.txt).
#ifndef Py_GIL_DISABLED
#define COMPAT_GC_LISTS 4
#if PY_VERSION_HEX < 0x030E0000
// By the collector's pointer to the first: 3.13.5 has them 4 bytes lower than 3.13.0, at equal sizes.
#define compat_gc_list(gc, i) \
    ((i) == 3 ? &(gc)->permanent_generation.head : &((struct gc_generation *)(gc)->generation0)[i].head)
#elif INSPECTOR_GC_GENERATIONS
#define compat_gc_list(gc, i) ((i) == 3 ? &(gc)->permanent_generation.head : &(gc)->generations[i].head)
#else
#define compat_gc_list(gc, i) \
    ((i) == 0 ? &(gc)->young.head : (i) == 3 ? &(gc)->permanent_generation.head : &(gc)->old[(i) - 1].head)
#endif
// Whether the collector runs; unknown, so no, where its fields move between releases of one version.
#if PY_VERSION_HEX < 0x030D0000
#define compat_is_collecting() (PyInterpreterState_Get()->gc.collecting != 0)
#else
#define compat_is_collecting() 0
#endif
// The low bits of _gc_next are flags (3.14: which old space; during a collection: unreachable).
#define compat_gc_next(head) ((PyGC_Head *)((head)->_gc_next & ~(uintptr_t)3))
#define compat_gc_previous(head) ((PyGC_Head *)((head)->_gc_prev & ~(uintptr_t)3))
#define compat_gc_object(head) ((PyObject *)((head) + 1))
#define compat_gc_head(object) ((PyGC_Head *)(object) - 1)
#define compat_gc_tracked(object) (compat_gc_head(object)->_gc_next != 0)
#define COMPAT_GC_HEAD_BYTES sizeof(PyGC_Head)
#define compat_is_deferred(object) ((void)(object), 0)
#else // no lists, no head: a bit in the object; collector_heaps.c finds those that have it
#define COMPAT_GC_HEAD_BYTES 0
#define compat_gc_tracked(object) _PyObject_GC_IS_TRACKED(object)
// Not all its references are counted in it: of functions, classes, code, modules; and each thread counts its
// own to a namespace that functions run in.
static inline int compat_is_deferred(PyObject *object /* borrowed */) {
    return (PyDict_Check(object) && _PyDict_UniqueId((PyDictObject *)object) != 0) ||
           (_Py_atomic_load_uint8_relaxed(&object->ob_gc_bits) & _PyGC_BITS_DEFERRED) != 0;
}
#endif
#define COMPAT_UNTRACKED_DICTS (PY_VERSION_HEX < 0x030E0000) // later each is tracked from its making on
#define COMPAT_UNTRACKED_SETS \
    (PY_VERSION_HEX >= 0x030F0000) // frozensets of what the collector does not track
// Exact types whose objects hold others also where the collector does not track them.
#define compat_may_be_untracked(type) \
    ((type) == &PyTuple_Type || (type) == &PyDict_Type || \
     (COMPAT_UNTRACKED_SETS && (type) == &PyFrozenSet_Type))

// Bytes of a dict's keys table, and how many values a split table has room for (Objects/dictobject.c).
static inline size_t compat_keys_bytes(PyDictKeysObject *keys /* borrowed */) {
    size_t entry = keys->dk_kind == DICT_KEYS_GENERAL ? sizeof(PyDictKeyEntry) : sizeof(PyDictUnicodeEntry);
    size_t usable = ((size_t)DK_SIZE(keys) << 1) / 3;
    return sizeof(PyDictKeysObject) + ((size_t)1 << keys->dk_log2_index_bytes) + usable * entry;
}
#define compat_keys_room(keys) ((size_t)((keys)->dk_nentries + (keys)->dk_usable))

// Where an instance keeps its attributes while it has no dict: the values, in the order of its class's shared
// keys. And its dict, if there is one. Both borrowed or NULL; neither call creates anything.
#if PY_VERSION_HEX >= 0x030D0000
static inline PyDictValues *compat_instance_values(PyObject *object /* borrowed */) {
    int has = PyType_HasFeature(Py_TYPE(object), Py_TPFLAGS_INLINE_VALUES);
    return has && _PyObject_InlineValues(object)->valid ? _PyObject_InlineValues(object) : NULL;
}
#define compat_managed_dict(object) ((PyObject *)_PyObject_GetManagedDict(object))
#elif PY_VERSION_HEX >= 0x030C0000
static inline PyDictValues *compat_instance_values(PyObject *object /* borrowed */) {
    if (!PyType_HasFeature(Py_TYPE(object), Py_TPFLAGS_MANAGED_DICT)) {
        return NULL;
    }
    PyDictOrValues held = *_PyObject_DictOrValuesPointer(object);
    return _PyDictOrValues_IsValues(held) ? _PyDictOrValues_GetValues(held) : NULL;
}
static inline PyObject *compat_managed_dict(PyObject *object /* borrowed */) {
    PyDictOrValues held = *_PyObject_DictOrValuesPointer(object);
    return _PyDictOrValues_IsValues(held) ? NULL : _PyDictOrValues_GetDict(held);
}
#else
static inline PyDictValues *compat_instance_values(PyObject *object /* borrowed */) {
    int has = PyType_HasFeature(Py_TYPE(object), Py_TPFLAGS_MANAGED_DICT);
    return has ? *_PyObject_ValuesPointer(object) : NULL;
}
#define compat_managed_dict(object) (*_PyObject_ManagedDictPointer(object))
#endif

// Bytes of an instance's attribute values that `__sizeof__` leaves out. Up to 3.12 the values are a separate
// block, and the byte before them is the length of its prefix; from 3.13 on they lie in the object.
#if PY_VERSION_HEX >= 0x030D0000
#define compat_values_in_dict(dict) ((dict)->ma_values && !(dict)->ma_values->embedded)
static inline size_t compat_values_bytes(PyObject *object /* borrowed */) {
    if (!(Py_TYPE(object)->tp_flags & Py_TPFLAGS_INLINE_VALUES)) {
        return 0;
    }
    PyDictValues *values = (PyDictValues *)((char *)object + Py_TYPE(object)->tp_basicsize);
    size_t room = values->capacity;
    return ((room + 7) & ~(size_t)7) + (room + 1) * sizeof(PyObject *);
}
#else
#define compat_values_in_dict(dict) ((dict)->ma_values != NULL)
static inline size_t compat_values_bytes(PyObject *object /* borrowed */) {
    PyDictValues *values = compat_instance_values(object);
    if (!values) {
        return 0;
    }
    size_t prefix = ((uint8_t *)values)[-1];
    size_t room = compat_keys_room(((PyHeapTypeObject *)Py_TYPE(object))->ht_cached_keys);
    size_t least = prefix > 9 ? prefix - 9 : 0; // the prefix is room + 2, rounded up to 8
    return prefix + (room > least ? room : least) * sizeof(PyObject *);
}
#endif

// Running frames (internal/pycore_frame.h). A frame without a code object is an entry trampoline of the C
// stack. compat_frame_from_c: C called the function, so its arguments were copied into the frame, not moved.
// From 3.14 on, variables and stack hold tagged words (internal/pycore_stackref.h): a set low bit means
// borrowed (LOAD_FAST_BORROW), or no object; both low bits mean a number. compat_slot is the object that a
// word owns, or NULL; compat_slot_value the one that it shows, which a caller may own for it. The frame
// stores its stack's end whenever C code runs; before 3.14 while it is suspended.
#if PY_VERSION_HEX >= 0x030E0000
#include <internal/pycore_code.h>
#include <internal/pycore_interpframe_structs.h>
#define COMPAT_SLOTS_TAGGED 1
#define compat_slot(word) ((uintptr_t)(word) & 3 ? NULL : (PyObject *)(word))
#define compat_slot_value(word) \
    (((uintptr_t)(word) & 3) == 3 ? NULL : (PyObject *)((uintptr_t)(word) & ~(uintptr_t)3))
#define compat_untagged(reference) ((PyObject *)((reference).bits & ~(uintptr_t)3))
#define compat_thread_frame(thread) ((thread)->current_frame)
#define compat_frame_from_c(frame) \
    ((frame)->previous && (frame)->previous->owner >= FRAME_OWNED_BY_INTERPRETER)
#define compat_frame_function(frame) compat_untagged((frame)->f_funcobj)
static inline PyCodeObject *compat_frame_code(const _PyInterpreterFrame *frame) { // borrowed
    PyObject *code = compat_untagged(frame->f_executable);                        // borrowed
    return frame->owner < FRAME_OWNED_BY_INTERPRETER && code && PyCode_Check(code) ? (PyCodeObject *)code
                                                                                   : NULL;
}
#define compat_frame_code_word(frame) compat_untagged((frame)->f_executable)
#define compat_frame_top(frame) ((frame)->stackpointer ? (frame)->stackpointer - (frame)->localsplus : -1)
#define compat_generator_frame(generator) (&((PyGenObject *)(generator))->gi_iframe)
#elif PY_VERSION_HEX >= 0x030D0000
#define compat_frame_code_word(frame) ((frame)->f_executable)
#define compat_frame_from_c(frame) ((frame)->previous && (frame)->previous->owner == FRAME_OWNED_BY_CSTACK)
#define compat_thread_frame(thread) ((thread)->current_frame)
#define compat_frame_function(frame) ((frame)->f_funcobj)
#define compat_frame_code(frame) \
    ((frame)->owner != FRAME_OWNED_BY_CSTACK && PyCode_Check((frame)->f_executable) \
         ? (PyCodeObject *)(frame)->f_executable \
         : NULL)
#elif PY_VERSION_HEX >= 0x030C0000
#define compat_frame_code_word(frame) ((frame)->f_code)
#define compat_frame_from_c(frame) ((frame)->previous && (frame)->previous->owner == FRAME_OWNED_BY_CSTACK)
#define compat_thread_frame(thread) ((thread)->cframe->current_frame)
#define compat_frame_function(frame) ((frame)->f_funcobj)
#define compat_frame_code(frame) ((frame)->owner != FRAME_OWNED_BY_CSTACK ? (frame)->f_code : NULL)
#else
#define compat_frame_code_word(frame) ((frame)->f_code)
#define compat_thread_frame(thread) ((thread)->cframe->current_frame)
#define compat_frame_from_c(frame) ((frame)->is_entry)
#define compat_frame_function(frame) ((PyObject *)(frame)->f_func)
#define compat_frame_code(frame) ((frame)->f_code)
#endif
// What a variable has: without the GIL it holds functions and classes without a count.
#ifdef Py_GIL_DISABLED
#define compat_variable(word) compat_slot_value(word)
#else
#define compat_variable(word) compat_slot(word)
#endif
#if PY_VERSION_HEX < 0x030E0000
#define COMPAT_SLOTS_TAGGED 0
#define compat_slot(word) ((PyObject *)(word))
#define compat_slot_value(word) compat_slot(word)
#define compat_frame_top(frame) ((frame)->stacktop)
#define compat_generator_frame(generator) ((_PyInterpreterFrame *)((PyGenObject *)(generator))->gi_iframe)
#endif
// A frame's current instruction; its fields that own a reference (f_globals and f_builtins borrow); whether C
// entered the interpreter with it: a flag in 3.11, from 3.12 on a trampoline frame before it.
#if PY_VERSION_HEX >= 0x030D0000
#define compat_frame_instruction(frame) ((frame)->instr_ptr)
#define COMPAT_FRAME_OWNED(FIELD) FIELD(f_executable) FIELD(f_funcobj) FIELD(f_locals) FIELD(frame_obj)
#define compat_frame_is_entry(frame) ((void)(frame), 0)
#elif PY_VERSION_HEX >= 0x030C0000
#define compat_frame_instruction(frame) ((frame)->prev_instr)
#define COMPAT_FRAME_OWNED(FIELD) FIELD(f_code) FIELD(f_funcobj) FIELD(f_locals) FIELD(frame_obj)
#define compat_frame_is_entry(frame) ((void)(frame), 0)
#else
#define compat_frame_instruction(frame) ((frame)->prev_instr)
#define COMPAT_FRAME_OWNED(FIELD) FIELD(f_code) FIELD(f_func) FIELD(f_locals) FIELD(frame_obj)
#define compat_frame_is_entry(frame) ((frame)->is_entry)
#endif
static inline int compat_frame_owns(size_t offset) {
#define COMPAT_FRAME_IS(field) || offset == offsetof(_PyInterpreterFrame, field)
    return 0 COMPAT_FRAME_OWNED(COMPAT_FRAME_IS);
#undef COMPAT_FRAME_IS
}

// The method cache borrows its entries: a pointer in it owns nothing. Freed dict keys that wait for reuse in
// the interpreter still hold their old pointers.
#if PY_VERSION_HEX >= 0x030C0000
#define compat_type_cache(interpreter) (&(interpreter)->types.type_cache)
#define compat_gil_switches(interpreter) \
    ((interpreter)->ceval.gil->switch_number) // switches to another thread
#else
#define compat_type_cache(interpreter) (&(interpreter)->type_cache)
#define compat_gil_switches(interpreter) (_PyRuntime.ceval.gil.switch_number)
#endif
// The free lists lie in [first, end); 3.14 chains tuples, lists and dicts instead of keeping arrays.
#define COMPAT_KEPT_CHAINED (PY_VERSION_HEX >= 0x030E0000)
#if PY_VERSION_HEX >= 0x030D0000
#define compat_free_lists(interpreter) (&(interpreter)->object_state)
#define compat_kept_first(interpreter) (&(interpreter)->object_state)
#define compat_kept_end(interpreter) (&(interpreter)->object_state + 1)
#define compat_kept_tuples(interpreter) (&(interpreter)->object_state.freelists.tuples)
#define compat_kept_lists(interpreter) (&(interpreter)->object_state.freelists.lists)
#define compat_kept_dicts(interpreter) (&(interpreter)->object_state.freelists.dicts)
#define COMPAT_KEPT_ITEMS items
#else
#define compat_free_lists(interpreter) (&(interpreter)->dict_state)
#define compat_kept_first(interpreter) (&(interpreter)->slice_cache)
#define compat_kept_end(interpreter) (&(interpreter)->exc_state)
#define compat_kept_tuples(interpreter) (&(interpreter)->tuple)
#define compat_kept_lists(interpreter) (&(interpreter)->list)
#define compat_kept_dicts(interpreter) (&(interpreter)->dict_state)
#define COMPAT_KEPT_ITEMS free_list
#endif
// Behind its count an array of a free list has old entries: those blocks are in use again, or freed.
static inline int compat_is_behind(uintptr_t word, const void *items, int used, int room) {
    uintptr_t first = (uintptr_t)items;
    return word >= first + (uintptr_t)used * sizeof(void *) &&
           word < first + (uintptr_t)room * sizeof(void *);
}

#if PY_VERSION_HEX >= 0x030E0000 // chains have no left-over entries
#define compat_is_behind_reuse(interpreter, word) ((void)(interpreter), (void)(word), 0)
#elif PY_VERSION_HEX >= 0x030D0000
static inline int compat_is_behind_reuse(PyInterpreterState *interpreter, uintptr_t word) {
    const struct _Py_object_freelists *kept = &interpreter->object_state.freelists;
    return compat_is_behind(word, kept->lists.items, kept->lists.numfree, PyList_MAXFREELIST) ||
           compat_is_behind(word, kept->dicts.items, kept->dicts.numfree, PyDict_MAXFREELIST) ||
           compat_is_behind(word, kept->dictkeys.items, kept->dictkeys.numfree, PyDict_MAXFREELIST) ||
           compat_is_behind(word, kept->async_gens.items, kept->async_gens.numfree,
                            _PyAsyncGen_MAXFREELIST) ||
           compat_is_behind(word, kept->async_gen_asends.items, kept->async_gen_asends.numfree,
                            _PyAsyncGen_MAXFREELIST);
}
#else
static inline int compat_is_behind_reuse(PyInterpreterState *interpreter, uintptr_t word) {
    const struct _Py_dict_state *kept = &interpreter->dict_state;
    return compat_is_behind(word, kept->free_list, kept->numfree, PyDict_MAXFREELIST) ||
           compat_is_behind(word, kept->keys_free_list, kept->keys_numfree, PyDict_MAXFREELIST);
}
#endif

// Whether a block is one of the freed dict keys. Up to 3.13 the interpreter points at each of them. In 3.14
// it points at the first only, whose first word points at the next.
#if PY_VERSION_HEX >= 0x030E0000 && !defined(Py_GIL_DISABLED)
static inline int compat_is_dead_keys(uintptr_t block) {
    const struct _Py_freelist *dead = &PyInterpreterState_Get()->object_state.freelists.dictkeys;
    const void *at = dead->freelist;
    for (Py_ssize_t i = 0; at && i < dead->size; i++, at = *(void *const *)at) {
        if ((uintptr_t)at == block) {
            return 1;
        }
    }
    return 0;
}
#else
#define compat_is_dead_keys(block) ((void)(block), 0)
#endif

// The values of an instance without a `__dict__`: before 3.13 a separate block, whose address is in the
// pre-header (3.12 tags it by subtracting one); from 3.13 on a part of the object.
#if PY_VERSION_HEX >= 0x030D0000
#define COMPAT_VALUES_INLINE 1
#elif PY_VERSION_HEX >= 0x030C0000
#define COMPAT_VALUES_INLINE 0
#define COMPAT_VALUES_LINK (-24)
#define compat_values(word) ((PyDictValues *)((word) & 1 ? (word) + 1 : 0))
#else
#define COMPAT_VALUES_INLINE 0
#define COMPAT_VALUES_LINK (-32)
#define compat_values(word) ((PyDictValues *)(word))
#endif

#endif
