// Whether a word that names a block keeps it: not every word of what is alive was ever written.
#define INSPECTOR_INTERNALS
#include "outside_search.h"

// The bytes of a text or number that Python code chose: an address in them may be a handle. What stands
// before and behind, a text's flags and the bytes that fill them up to a word, was never written as a whole.
static __attribute__((no_sanitize("address"))) scan_range chosen_bytes(PyObject *object) {
    uintptr_t at = (uintptr_t)object;
    if (PyUnicode_CheckExact(object)) {
        uintptr_t start = (uintptr_t)PyUnicode_DATA(object);
        return (scan_range){start, start + (uintptr_t)PyUnicode_GET_LENGTH(object) * PyUnicode_KIND(object)};
    }
    if (PyBytes_CheckExact(object)) {
        return (scan_range){(uintptr_t)PyBytes_AS_STRING(object),
                            (uintptr_t)PyBytes_AS_STRING(object) + (uintptr_t)PyBytes_GET_SIZE(object)};
    }
    return (scan_range){at + sizeof(PyObject), UINTPTR_MAX};
}

// A type's memory ends where its members do; malloc gives some bytes more, with old words in them.
static __attribute__((no_sanitize("address"))) int is_behind(const place *found, uintptr_t word) {
    PyObject *object = found->object;
    if (!object || !PyType_Check(object) || Py_TYPE(object)->tp_alloc != PyType_GenericAlloc) {
        return 0;
    }
    size_t items = (size_t)(Py_SIZE(object) + 1) * (size_t)Py_TYPE(object)->tp_itemsize;
    return word >= (uintptr_t)object + (size_t)Py_TYPE(object)->tp_basicsize + items;
}

typedef struct {
    const place *found;
    uintptr_t word;
    int is_kept;
} kept_question;

static __attribute__((no_sanitize("address"))) void kept_body(void *argument) {
    kept_question *q = argument;
    const place *found = q->found;
    if (found->kind == PLACE_STALE && found->object) {
        scan_range bytes = chosen_bytes(found->object);
        q->is_kept = q->word + sizeof q->word > bytes.start && q->word < bytes.stop;
    } else {
        q->is_kept = found->kind != PLACE_STALE && found->kind != PLACE_OURS && !is_behind(found, q->word);
    }
}

// What went meanwhile keeps nothing.
int outside_is_kept_by(const place *found, uintptr_t word) {
    kept_question q = {found, word, 0};
    return memory_guarded(kept_body, &q) == 0 && q.is_kept;
}
