// CPython's cache of attributes (Objects/typeobject.c) owns the names that were looked up. No search finds
// these references, so the cache is emptied where counts are read.
//
// Up to 3.11 PyType_ClearCache() puts None in the place of each name; the next lookups release it again, one
// by one, and change the count of None within other code (sys.getrefcount(None) in a test of ujson). There a
// text of our own takes the place of names and of None. From 3.12 on None is immortal.
// SPDX-License-Identifier: MIT
#define INSPECTOR_INTERNALS
#include "leaks/leaks.h"

#if !COMPAT_NONE_IS_COUNTED
void names_forget(void) { PyType_ClearCache(); }
#else
void names_forget(void) {
    static PyObject *nameless; // owned for the life of the process
    nameless = nameless ? nameless : PyUnicode_FromString("no attribute");
    if (!nameless) {
        PyErr_Clear();
        return;
    }
    struct type_cache *cache = &PyInterpreterState_Get()->type_cache;
    for (size_t i = 0; i < sizeof cache->hashtable / sizeof *cache->hashtable; i++) {
        struct type_cache_entry *entry = &cache->hashtable[i];
        PyObject *name = entry->name; // owned, until it is replaced
        entry->version = 0;           // no type's
        entry->value = NULL;
        if (name && name != nameless) {
            entry->name = Py_NewRef(nameless);
        }
        if (name && name != nameless && name != Py_None) { // None keeps its reference: its count stays
            Py_DECREF(name);
        }
    }
}
#endif
