// Which memory beyond the small blocks live objects use: large objects, lists' items, dicts' tables, arrays.
//
// A block of more than 512 bytes is not pymalloc's. Of each live object the addresses of such blocks are
// noted, under its type, so that the account (heap/account/account.c) can say whose a block of malloc is.
// Only what C structs tell is read, so that no code of an object runs.
// SPDX-License-Identifier: MIT
#define INSPECTOR_WITHOUT_GIL
#define INSPECTOR_INTERNALS
#include "heap/account/claims.h"
#include "heap/census.h"
#include "memory/addresses.h"
#include "objects/spans.h"

static int add(claims *all, PyObject *object, const void *start, uint64_t bytes, claim_kind kind,
               int is_view) {
    if ((all->count + 1) * sizeof(claim) > all->place.bytes) {
        if (arena_resize(&all->place, all->place.bytes ? all->place.bytes * 2 : 1 << 16) < 0) {
            return -1;
        }
        all->rows = all->place.start;
    }
    uintptr_t first = (uintptr_t)start;
    all->rows[all->count++] = (claim){first, first + bytes, object, kind, is_view};
    return 0;
}

// The one block of an object that lies elsewhere; 0 bytes: none.
static size_t other_block(PyObject *object, own_bytes_how how, const void **ret) {
    if (how == OWN_LIST) {
        *ret = ((PyListObject *)object)->ob_item;
        return (size_t)((PyListObject *)object)->allocated * sizeof(PyObject *);
    }
    if (how == OWN_DICT) {
        PyDictKeysObject *keys = ((PyDictObject *)object)->ma_keys;
        *ret = keys;
        return keys->dk_refcnt == 1 ? compat_keys_bytes(keys) : 0;
    }
    if (how == OWN_SET) {
        const PySetObject *set = (PySetObject *)object;
        *ret = set->table;
        return set->table == set->smalltable ? 0 : ((size_t)set->mask + 1) * sizeof(setentry);
    }
    if (how == OWN_BYTEARRAY) {
        *ret = PyByteArray_AS_STRING(object);
        return compat_bytearray_bytes(object);
    }
    return 0;
}

static int is_inside(const PyObject *object, uintptr_t start, size_t own) {
    return start >= (uintptr_t)object && start < (uintptr_t)object + own;
}

// The bytes of an array or the like, unless they are part of the object. 0, or -1: memory is out.
static int add_buffer(claims *all, PyObject *object, size_t own) {
    data_span span;
    if (PyUnicode_Check(object) || PyBytes_Check(object) || PyByteArray_Check(object) ||
        !spans_read(object, &span) || span.span_bytes < CLAIM_LEAST || is_inside(object, span.start, own)) {
        return 0;
    }
    return add(all, object, (const void *)span.start, span.span_bytes, CLAIM_BUFFER,
               !(span.flags & SPAN_OWNED));
}

static int look(PyObject *object, const own_bytes_rule *rule, void *argument) {
    claims *all = argument;
    tally_row *row = tally_find(&all->small, Py_TYPE(object));
    const void *other = NULL; // of the object, or NULL
    size_t own = own_bytes(object, rule), apart = other_block(object, rule->how, &other);
    size_t here = own_bytes_block(object, rule), told = here + apart;
    const char *block = (const char *)object - own_bytes_header(object);
    if (!row) {
        return -1;
    }
    if (apart >= CLAIM_LEAST && add(all, object, other, apart, CLAIM_OBJECT, 0) < 0) {
        return -1;
    }
    if (here >= CLAIM_LEAST && add(all, object, block, here, CLAIM_OBJECT, 0) < 0) {
        return -1;
    }
    size_t small = own > told && own - told < CLAIM_LEAST ? own - told : 0; // of an instance's values
    row->objects++;
    row->bytes += (Py_ssize_t)(small + (here < CLAIM_LEAST ? here : 0) + (apart < CLAIM_LEAST ? apart : 0));
    return add_buffer(all, object, here);
}

int claims_collect(claims *ret, PyObject *ours, interrupt_watch *watch) {
    return census_each(ours, look, ret, watch);
}

int claims_add_told(claims *ret, PyObject *told) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(told); i++) {
        unsigned long long start, stop;
        PyObject *object; // borrowed
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(told, i), "KKO", &start, &stop, &object)) {
            return -1;
        }
        if (start < stop && add(ret, object, (void *)(uintptr_t)start, stop - start, CLAIM_BUFFER, 1) < 0) {
            return error_no_memory();
        }
    }
    return 0;
}

// By address; who owns the memory before who views it; then the longer one.
static int compare(const void *a, const void *b) {
    const claim *x = a, *y = b;
    if (x->start != y->start) {
        return x->start < y->start ? -1 : 1;
    }
    return x->is_view != y->is_view ? x->is_view - y->is_view : (x->stop < y->stop) - (x->stop > y->stop);
}

void claims_settle(claims *all) {
    size_t kept = 0;
    if (all->count) {
        qsort(all->rows, all->count, sizeof *all->rows, compare);
    }
    for (size_t i = 0; i < all->count; i++) {
        claim row = all->rows[i];
        uintptr_t before = kept ? all->rows[kept - 1].stop : 0;
        row.start = row.start > before ? row.start : before;
        if (row.start < row.stop) {
            all->rows[kept++] = row;
        }
    }
    all->count = kept;
}

void claims_deinit(claims *held) {
    arena_deinit(&held->place);
    tally_deinit(&held->small);
}
