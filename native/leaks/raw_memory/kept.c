// Whether a word that refers to a block keeps it: live memory has words that were never written.
// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#define INSPECTOR_INTERNALS
#include "leaks/raw_memory/search_parts.h"
#include "memory/memory.h"

#include <link.h>
#include <unistd.h>

enum { REST_MAX = 64 };

// The bytes of a text or number that Python code wrote: an address in them may be a handle. What lies before
// and behind them, the flags of a str and its padding, was never written as whole words. A float has its
// block for itself, and fills three of its four words.
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
    if (PyLong_CheckExact(object)) {
        size_t bytes = compat_int_digits(object) * sizeof(digit);
        return (scan_range){at + COMPAT_INT_HEAD, at + COMPAT_INT_HEAD + bytes};
    }
    return (scan_range){at + sizeof(PyObject), at + (uintptr_t)Py_TYPE(object)->tp_basicsize};
}

typedef struct {
    const search_view *view;
    const place *found;
    uintptr_t word;
    const char *text; // borrowed: the library's name in the block, or NULL
    int is_kept;
} kept_query;

// The name of a loaded library, if the block holds it.
static int find_name(struct dl_phdr_info *library, size_t size, void *query) {
    kept_query *q = query;
    q->text = (uintptr_t)library->dlpi_name == q->found->block.start ? library->dlpi_name : q->text;
    return q->text != NULL;
}

static const char *variable_at(uintptr_t start) {
    for (char **one = environ; one && *one; one++) {
        if ((uintptr_t)*one == start) {
            return *one;
        }
    }
    return NULL;
}

// The process has two kinds of text that it allocates often, and that are known as such: variables of the
// environment and names of libraries. Such a block ends with its text; what follows are old words.
static __attribute__((no_sanitize("address"))) int is_behind_text(const kept_query *q) {
    const char *text = q->text ? q->text : variable_at(q->found->block.start);
    return text && q->word > (uintptr_t)text + strlen(text);
}

// Whether a type is the interpreter's own: then tp_basicsize is the size of its objects.
static int is_builtin(const search_view *view, const PyTypeObject *type) {
    for (size_t i = 0; i < view->static_count; i++) {
        scan_range range = view->statics[i];
        if ((uintptr_t)&PyType_Type >= range.start && (uintptr_t)&PyType_Type < range.stop) {
            return (uintptr_t)type >= range.start && (uintptr_t)type < range.stop;
        }
    }
    return 0;
}

// Bytes that an object requested, if its type says so; else SIZE_MAX. Some types request one item more.
static __attribute__((no_sanitize("address"))) size_t size_of(const search_view *view, PyObject *object) {
    const PyTypeObject *type = Py_TYPE(object);
    int is_tuple = PyTuple_CheckExact(object);
    int is_known = is_tuple || PyType_Check(object) || (type->tp_itemsize == 0 && is_builtin(view, type));
    if (!is_known || type->tp_alloc != PyType_GenericAlloc) {
        return SIZE_MAX;
    }
    size_t items = type->tp_itemsize ? (size_t)(Py_SIZE(object) + !is_tuple) : 0;
    return (size_t)type->tp_basicsize + items * (size_t)type->tp_itemsize;
}

// An object ends with its members; its block may be larger, with old words in the slack.
static __attribute__((no_sanitize("address"))) int is_behind(const kept_query *q) {
    PyObject *object = q->found->object;
    return object && q->word > (uintptr_t)object && q->word - (uintptr_t)object >= size_of(q->view, object);
}

// Whether a word lies where a block of malloc may have slack.
static int is_at_end(const kept_query *q) {
    return q->found->kind == PLACE_BLOCK && q->found->block.stop - q->word <= REST_MAX;
}

// Generators and frames have fields that only other kinds of them set, and a stack whose free part is old.
static int is_of_frame(const place *found) {
    PyObject *object = found->certain ? found->object : NULL;
    return object && (PyGen_CheckExact(object) || PyCoro_CheckExact(object) ||
                      PyAsyncGen_CheckExact(object) || PyFrame_Check(object));
}

static __attribute__((no_sanitize("address"))) void kept_body(void *argument) {
    kept_query *q = argument;
    const place *found = q->found;
    if (found->kind == PLACE_STALE && found->object) {
        scan_range bytes = chosen_bytes(found->object);
        q->is_kept = q->word + sizeof q->word > bytes.start && q->word < bytes.stop;
    } else if (found->kind == PLACE_FRAME) {
        int unused;
        q->is_kept = frames_part(found->frame, q->word, &unused) != FRAME_DEAD;
    } else if (is_of_frame(found)) {
        q->is_kept = search_visits(found->object, *(PyObject **)q->word) > 0;
    } else {
        q->is_kept = found->kind != PLACE_STALE && found->kind != PLACE_OURS && !is_behind(q);
    }
    if (q->is_kept && is_at_end(q)) {
        q->is_kept = !is_behind_text(q);
    }
}

// Memory that was unmapped meanwhile keeps nothing.
int raw_memory_is_kept_by(const search_view *view, const place *found, uintptr_t word) {
    kept_query q = {.view = view, .found = found, .word = word};
    if (is_at_end(&q)) {
        dl_iterate_phdr(find_name, &q);
    }
    return memory_guarded(kept_body, &q) == 0 && q.is_kept;
}

// The slack of a block (size rounded up, less than a chunk) holds words of an earlier block.
int raw_memory_is_slack_of(scan_range requested, const place *found, uintptr_t word) {
    return found->kind == PLACE_BLOCK && word >= requested.stop && word < found->block.stop &&
           requested.start >= found->block.start && found->block.stop - requested.stop < REST_MAX;
}
