// Which part of an object a word is: an item, a key, an attribute, a local, the type; owned or borrowed.
//
// Lists, tuples, dicts, sets and instances are read by their layout, which answers three things that
// tp_traverse cannot: where, under which key, and whether the word is still in use (list items behind
// the length, values of a split table). For every other type tp_traverse has the last word: SLOT_ASK.
// SPDX-License-Identifier: MIT
#define INSPECTOR_INTERNALS
#include "search/holders.h"

// Marks of inspector/objects/ownership/layouts.py: the field points to a block of references; the field owns
// only what has its holder's type.
#define LAYOUT_ITEMS (1u << 31)
#define LAYOUT_ALIKE (1u << 30)

static slot_verdict owned(slot *ret, const char *name, int64_t index, PyObject *key) {
    *ret = (slot){name, index, key};
    return SLOT_OWNED;
}

// The entry of a keys object that `word` is part of. Both key and value are owned; in a table shared by
// instances only the keys are.
static UNSANITIZED slot_verdict keys_slot(PyDictKeysObject *keys, int shared, uintptr_t word, slot *ret) {
    int plain = DK_IS_UNICODE(keys);
    uintptr_t entries = (uintptr_t)keys->dk_indices + ((size_t)1 << keys->dk_log2_index_bytes);
    size_t width = plain ? sizeof(PyDictUnicodeEntry) : sizeof(PyDictKeyEntry);
    size_t index = (word - entries) / width;
    if (word < entries || (Py_ssize_t)index >= keys->dk_nentries) {
        return SLOT_UNUSED;
    }
    const uintptr_t *entry = (const uintptr_t *)(entries + index * width) + !plain; // skips the hash
    int is_key = word == (uintptr_t)entry;
    if (!is_key && word != (uintptr_t)(entry + 1)) {
        return SLOT_UNUSED; // the hash
    }
    if (!is_key && (shared || !entry[0])) {
        return SLOT_UNUSED;
    }
    return owned(ret, is_key ? "key" : "value", (int64_t)index, (PyObject *)entry[0]);
}

// The words of instance values: named by the shared keys of the class.
static UNSANITIZED slot_verdict values_slot(PyObject *holder, PyDictKeysObject *keys,
                                            const PyDictValues *values, uintptr_t word, slot *ret) {
    size_t index = (word - (uintptr_t)values->values) / sizeof(PyObject *);
    if (word < (uintptr_t)values->values || !keys || (Py_ssize_t)index >= keys->dk_nentries) {
        return SLOT_UNUSED;
    }
    uintptr_t entries = (uintptr_t)keys->dk_indices + ((size_t)1 << keys->dk_log2_index_bytes);
    PyObject *key = ((PyDictUnicodeEntry *)entries)[index].me_key;
    return owned(ret, PyDict_Check(holder) ? "value" : "attribute", (int64_t)index, key);
}

static UNSANITIZED slot_verdict dict_slot(PyObject *holder, uintptr_t word, uintptr_t link, slot *ret) {
    PyDictObject *dict = (PyDictObject *)holder;
    if (link == (uintptr_t)&dict->ma_keys) {
        return keys_slot(dict->ma_keys, dict->ma_values != NULL, word, ret);
    }
    if (link == (uintptr_t)&dict->ma_values) {
        return values_slot(holder, dict->ma_keys, dict->ma_values, word, ret);
    }
    return Py_IS_TYPE(holder, &PyDict_Type) ? SLOT_BORROWED : SLOT_ASK;
}

static UNSANITIZED slot_verdict set_slot(PyObject *holder, uintptr_t word, uintptr_t link, slot *ret) {
    PySetObject *set = (PySetObject *)holder;
    uintptr_t table = (uintptr_t)set->table;
    if (link ? link != (uintptr_t)&set->table : table != (uintptr_t)set->smalltable) {
        return Py_IS_TYPE(holder, &PySet_Type) || Py_IS_TYPE(holder, &PyFrozenSet_Type) ? SLOT_BORROWED
                                                                                        : SLOT_ASK;
    }
    uintptr_t index = (word - table) / sizeof(setentry);
    if (word < table || index > (uintptr_t)set->mask) {
        return SLOT_ASK;
    }
    int is_hash = (word - table) % sizeof(setentry) != 0; // of an int it is its value: the id of an object
    return is_hash ? SLOT_UNUSED : owned(ret, "element", (int64_t)index, NULL);
}

// The words before an object and its type: the same for every type. SLOT_ASK: none of them.
static UNSANITIZED slot_verdict common_slot(PyObject *holder, uintptr_t word, uintptr_t link, slot *ret) {
    PyTypeObject *type = Py_TYPE(holder);
    intptr_t offset = (intptr_t)(word - (uintptr_t)holder);
    if (link == 0 && offset == offsetof(PyObject, ob_type)) {
        return type->tp_flags & Py_TPFLAGS_HEAPTYPE ? owned(ret, "type", 0, NULL) : SLOT_BORROWED;
    }
    if (link == 0 && offset < 0) {
        return offset == -24 && COMPAT_PREHEADER(type) ? owned(ret, "dict", 0, NULL) : SLOT_BORROWED;
    }
    if (!(type->tp_flags & Py_TPFLAGS_MANAGED_DICT)) {
        return SLOT_ASK;
    }
#if COMPAT_VALUES_INLINE
    if (link == 0 && type->tp_flags & Py_TPFLAGS_INLINE_VALUES) {
        PyDictValues *values = (PyDictValues *)((char *)holder + type->tp_basicsize);
        if (word >= (uintptr_t)values && values->valid) {
            return values_slot(holder, ((PyHeapTypeObject *)type)->ht_cached_keys, values, word, ret);
        }
    }
#else
    if (link && link == (uintptr_t)holder + COMPAT_VALUES_LINK) {
        const PyDictValues *values = compat_values(*(const uintptr_t *)link);
        if (values) {
            return values_slot(holder, ((PyHeapTypeObject *)type)->ht_cached_keys, values, word, ret);
        }
    }
#endif
    return SLOT_ASK;
}

// The rest of a block behind an object that the collector does not know: what was there before.
static int is_behind(PyObject *holder, uintptr_t word) {
    PyTypeObject *type = Py_TYPE(holder);
    return !(type->tp_flags & Py_TPFLAGS_HAVE_GC) && !type->tp_itemsize &&
           word >= (uintptr_t)holder + (size_t)type->tp_basicsize;
}

// Values of context variables lie in nodes of a trie: variable, value, variable, value ... (Python/hamt.c).
// Where the variable should be there may be NULL: then the next word is a node below.
static int holds_variables(PyTypeObject *type) { return strcmp(type->tp_name, "hamt_bitmap_node") == 0; }

static UNSANITIZED slot_verdict variable_slot(PyObject *holder, uintptr_t word, slot *ret) {
    uintptr_t first = (uintptr_t)holder + sizeof(PyVarObject) + sizeof(uintptr_t); // behind its bitmap
    uintptr_t index = (word - first) / sizeof(uintptr_t);
    if (word < first || index >= (uintptr_t)Py_SIZE(holder)) {
        return SLOT_ASK;
    }
    uintptr_t variable = index % 2 ? ((const uintptr_t *)word)[-1] : word;
    return owned(ret, index % 2 && variable ? "variable" : "field", (int64_t)(word - (uintptr_t)holder),
                 index % 2 ? (PyObject *)variable : NULL);
}

static slot_verdict layout_slot(const search_view *view, PyObject *holder, uintptr_t word, uintptr_t link,
                                slot *ret) {
    for (size_t i = 0; i < view->layout_count; i++) {
        const holder_layout *layout = &view->layouts[i];
        for (size_t k = 0; layout->type == Py_TYPE(holder) && k < layout->count; k++) {
            uintptr_t field = (uintptr_t)holder + (layout->offsets[k] & ~(LAYOUT_ITEMS | LAYOUT_ALIKE));
            if (layout->offsets[k] & LAYOUT_ITEMS && link == field) {
                return owned(ret, "items", (int64_t)(word - *(const uintptr_t *)field), NULL);
            }
            if (!link && word == field) {
                int is_alike = Py_IS_TYPE(*(PyObject *const *)word, layout->type);
                return layout->offsets[k] & LAYOUT_ALIKE && !is_alike
                           ? SLOT_BORROWED
                           : owned(ret, "field", (int64_t)(field - (uintptr_t)holder), NULL);
            }
        }
        if (layout->type == Py_TYPE(holder)) {
            return SLOT_BORROWED;
        }
    }
    return SLOT_ASK;
}

UNSANITIZED slot_verdict slot_read(const search_view *view, PyObject *holder, uintptr_t word, uintptr_t link,
                                   slot *ret) {
    PyTypeObject *type = Py_TYPE(holder);
    uintptr_t inside = link ? link : word;
    *ret = (slot){link ? "block" : "field", (int64_t)(inside - (uintptr_t)holder), NULL};
    slot_verdict verdict = common_slot(holder, word, link, ret);
    if (verdict != SLOT_ASK) {
        return verdict;
    }
    PyTupleObject *tuple = (PyTupleObject *)holder;
    PyListObject *list = (PyListObject *)holder;
    if (type->tp_flags & Py_TPFLAGS_TUPLE_SUBCLASS && !link && word >= (uintptr_t)tuple->ob_item &&
        word < (uintptr_t)(tuple->ob_item + Py_SIZE(holder))) {
        return owned(ret, "item", (int64_t)(word - (uintptr_t)tuple->ob_item) / 8, NULL);
    }
    if (type->tp_flags & Py_TPFLAGS_LIST_SUBCLASS && link == (uintptr_t)&list->ob_item) {
        uintptr_t index = (word - (uintptr_t)list->ob_item) / 8;
        return index < (uintptr_t)Py_SIZE(holder) ? owned(ret, "item", (int64_t)index, NULL) : SLOT_UNUSED;
    }
    if (type->tp_flags & Py_TPFLAGS_DICT_SUBCLASS) {
        return dict_slot(holder, word, link, ret);
    }
    if (type == &PyByteArray_Type) {
        int holds = !link && word == (uintptr_t)holder + COMPAT_BYTEARRAY_HOLDS;
        return holds ? owned(ret, "bytes", 0, NULL) : SLOT_BORROWED;
    }
    if (PyAnySet_Check(holder)) {
        return set_slot(holder, word, link, ret);
    }
    if (type->tp_flags & Py_TPFLAGS_TYPE_SUBCLASS && type->tp_flags & Py_TPFLAGS_HAVE_GC && link &&
        link == (uintptr_t)&((PyHeapTypeObject *)holder)->ht_cached_keys) {
        return keys_slot(((PyHeapTypeObject *)holder)->ht_cached_keys, 1, word, ret);
    }
    if (PyModule_Check(holder) && link == (uintptr_t)&((PyModuleObject *)holder)->md_state) {
        ret->name = "state";
        return SLOT_STATE;
    }
    if (!link && holds_variables(type)) {
        return variable_slot(holder, word, ret);
    }
    PyObject *code;
    int local = link ? -1 : frames_object_local(holder, word, &code);
    if (local >= 0) {
        *ret = (slot){"local", local, frames_local_name(code, local)};
        return COMPAT_SLOTS_TAGGED ? SLOT_OWNED : SLOT_ASK; // a tagged word tells; tp_traverse counts all
    }
    if (local == FRAME_SLOT_BORROWED || is_behind(holder, inside)) {
        return SLOT_BORROWED;
    }
    return layout_slot(view, holder, word, link, ret);
}
