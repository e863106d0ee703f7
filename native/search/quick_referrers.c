// Who holds an object, as far as can be seen at little cost: no search of memory, no walk of the gc's list.
//
// Looked at are the frames of every thread, the namespaces the caller names, and one step further: the
// containers, instances and arrays that those frames and namespaces name. Everything seen here is alive and
// under the GIL, so words are read directly. A budget bounds the words looked at, whatever the size of the
// containers, and the caller is told when it did not suffice.
// What is found goes through the same search/slots.c and search/search.c as the hits of a search: the same
// names, the same certainty.
// SPDX-License-Identifier: MIT
#define INSPECTOR_INTERNALS
#include "search/holders.h"

#define EDGES_MAX 4096u
#define NAMES_MAX 1024u
#define NAMESPACES_MAX 64u
#define CONTAINER_WORDS_MAX 4096u // of one container reached through a name

// Under which name a holder was reached: the dict or the frame that has it.
typedef struct {
    PyObject *holder;       // borrowed
    PyObject *parent;       // borrowed, or NULL: a dict; the instance or function whose part the holder is
    PyObject *key;          // borrowed, or NULL
    const frame_row *frame; // borrowed, or NULL
} known_name;

typedef struct {
    search *s;
    uintptr_t target;
    size_t budget;
    known_name *names; // borrowed: in the scratch
    size_t name_count;
    PyObject *namespaces[NAMESPACES_MAX]; // borrowed
    size_t namespace_count;
    int cut; // the budget did not suffice
} glance;

static void glance_words(glance *g, PyObject *holder, uintptr_t start, uintptr_t stop, uintptr_t link,
                         size_t most) {
    size_t words = (stop - start) / sizeof(uintptr_t), allowed = g->budget < most ? g->budget : most;
    if (words > allowed) {
        words = allowed;
        g->cut = 1;
    }
    g->budget -= words;
    for (size_t i = 0; i < words; i++) {
        if (((const uintptr_t *)start)[i] == g->target && g->s->edge_count < EDGES_MAX) {
            g->s->edges[g->s->edge_count++] = (edge){
                .kind = PLACE_OBJECT,
                .certain = 1,
                .resolved = 1,
                .holder = holder,
                .word = start + i * sizeof(uintptr_t),
                .last = start + i * sizeof(uintptr_t),
                .words = 1,
                .link = link,
            };
        }
    }
}

static void glance_keys(glance *g, PyObject *holder, PyDictKeysObject *keys, uintptr_t link, size_t most) {
    uintptr_t entries = (uintptr_t)keys->dk_indices + ((size_t)1 << keys->dk_log2_index_bytes);
    size_t width = DK_IS_UNICODE(keys) ? sizeof(PyDictUnicodeEntry) : sizeof(PyDictKeyEntry);
    glance_words(g, holder, entries, entries + (size_t)keys->dk_nentries * width, link, most);
}

static void glance_dict(glance *g, PyObject *holder, size_t most) {
    PyDictObject *dict = (PyDictObject *)holder;
    glance_keys(g, holder, dict->ma_keys, (uintptr_t)&dict->ma_keys, most);
    if (dict->ma_values) {
        uintptr_t values = (uintptr_t)dict->ma_values->values;
        glance_words(g, holder, values, values + (size_t)dict->ma_keys->dk_nentries * sizeof(PyObject *),
                     (uintptr_t)&dict->ma_values, most);
    }
}

// If what was looked at since `before` edges turned out to hold the target: its name.
static void remember(glance *g, size_t before, known_name name) {
    if (g->s->edge_count > before && g->name_count < NAMES_MAX) {
        g->names[g->name_count++] = name;
    }
}

// The attributes of an instance: its values, or the dict it manages.
static void glance_attributes(glance *g, PyObject *holder) {
    PyTypeObject *type = Py_TYPE(holder);
    size_t before = g->s->edge_count;
    if (!(type->tp_flags & Py_TPFLAGS_MANAGED_DICT)) {
        return;
    }
    PyDictKeysObject *keys = ((PyHeapTypeObject *)type)->ht_cached_keys;
    size_t count = keys ? (size_t)keys->dk_nentries : 0;
#if COMPAT_VALUES_INLINE
    if (type->tp_flags & Py_TPFLAGS_INLINE_VALUES) {
        PyDictValues *values = (PyDictValues *)((char *)holder + type->tp_basicsize);
        glance_words(g, holder, (uintptr_t)values->values, (uintptr_t)(values->values + values->capacity), 0,
                     CONTAINER_WORDS_MAX);
    }
    (void)count;
    uintptr_t managed = ((const uintptr_t *)holder)[-3];
#else
    uintptr_t link = (uintptr_t)holder + COMPAT_VALUES_LINK;
    PyDictValues *values = compat_values(*(const uintptr_t *)link);
    if (values) {
        glance_words(g, holder, (uintptr_t)values->values, (uintptr_t)(values->values + count), link,
                     CONTAINER_WORDS_MAX);
    }
    uintptr_t managed = ((const uintptr_t *)holder)[-3] & 1 ? 0 : ((const uintptr_t *)holder)[-3];
#endif
    if (managed && PyDict_CheckExact((PyObject *)managed)) {
        glance_dict(g, (PyObject *)managed, CONTAINER_WORDS_MAX);
        remember(g, before, (known_name){(PyObject *)managed, holder, NULL, NULL});
    }
}

// The variables a function has from outside, and what a suspended generator has in its own.
static void glance_variables(glance *g, PyObject *holder) {
    PyObject *cells = PyFunction_Check(holder) ? PyFunction_GET_CLOSURE(holder) : NULL; // borrowed
    for (Py_ssize_t i = 0; cells && i < PyTuple_GET_SIZE(cells); i++) {
        PyObject *cell = PyTuple_GET_ITEM(cells, i); // borrowed
        size_t before = g->s->edge_count;
        glance_words(g, cell, (uintptr_t)(cell + 1), (uintptr_t)cell + sizeof(PyCellObject), 0, 1);
        remember(g, before, (known_name){cell, holder, NULL, NULL});
    }
    uintptr_t start, stop;
    if (frames_of_generator(holder, &start, &stop)) {
        glance_words(g, holder, start, stop, 0, CONTAINER_WORDS_MAX);
    }
}

// The words of an object's own struct, and of the block it keeps its items in. search/slots.c says which of
// those that match own a reference; memory that is not a pointer does no harm.
static void glance_object(glance *g, PyObject *holder) {
    PyTypeObject *type = Py_TYPE(holder);
    size_t size = (size_t)type->tp_basicsize;
    if (!PyType_HasFeature(type, Py_TPFLAGS_HAVE_GC) && !search_has_layout(&g->s->view, type)) {
        return; // strings, numbers, bytes: they hold nothing
    }
    if (PyType_HasFeature(type, Py_TPFLAGS_HAVE_GC) && PyObject_IS_GC(holder) && !compat_gc_tracked(holder) &&
        !compat_may_be_untracked(type)) {
        return; // half built, or known to hold nothing
    }
    if (type->tp_flags & Py_TPFLAGS_TUPLE_SUBCLASS && Py_SIZE(holder) > 0) {
        size += (size_t)Py_SIZE(holder) * sizeof(PyObject *);
    }
    glance_words(g, holder, (uintptr_t)(holder + 1), (uintptr_t)holder + size, 0, CONTAINER_WORDS_MAX);
    if (type->tp_flags & Py_TPFLAGS_LIST_SUBCLASS && Py_SIZE(holder) > 0) {
        PyListObject *list = (PyListObject *)holder;
        glance_words(g, holder, (uintptr_t)list->ob_item, (uintptr_t)(list->ob_item + Py_SIZE(holder)),
                     (uintptr_t)&list->ob_item, CONTAINER_WORDS_MAX);
    } else if (type->tp_flags & Py_TPFLAGS_DICT_SUBCLASS) {
        glance_dict(g, holder, CONTAINER_WORDS_MAX);
    } else if (PyAnySet_CheckExact(holder)) {
        PySetObject *set = (PySetObject *)holder;
        if (set->table != set->smalltable) {
            glance_words(g, holder, (uintptr_t)set->table, (uintptr_t)(set->table + set->mask + 1),
                         (uintptr_t)&set->table, CONTAINER_WORDS_MAX);
        }
    }
    glance_attributes(g, holder);
    glance_variables(g, holder);
}

// Looks into what a name refers to, and remembers the name if it holds the target.
static void glance_through(glance *g, PyObject *holder, PyObject *parent, PyObject *key,
                           const frame_row *frame) {
    size_t before = g->s->edge_count;
    if (!holder || !g->budget || (uintptr_t)holder == g->target ||
        Py_IS_TYPE(holder, g->s->view.subject_type) || PyModule_Check(holder) || PyType_Check(holder)) {
        return;
    }
    for (size_t i = 0; i < g->name_count; i++) {
        if (g->names[i].holder == holder) {
            return; // seen under another name
        }
    }
    glance_object(g, holder);
    remember(g, before, (known_name){holder, parent, key, frame});
}

static void glance_frames(glance *g) {
    const frame_table *frames = &g->s->view.frames;
    for (size_t i = 0; i < frames->count; i++) {
        const frame_row *row = &frames->rows[i];
        uintptr_t stop = row->top ? row->top : row->stop;
        for (uintptr_t at = row->start; at < stop && !row->ours; at += sizeof(uintptr_t)) {
            if (*(const uintptr_t *)at == g->target && g->s->edge_count < EDGES_MAX) {
                g->s->edges[g->s->edge_count++] =
                    (edge){.kind = PLACE_FRAME, .word = at, .last = at, .words = 1, .frame = row};
            }
        }
    }
}

static void glance_locals(glance *g) {
    const frame_table *frames = &g->s->view.frames;
    for (size_t i = 0; i < frames->count; i++) {
        const frame_row *row = &frames->rows[i];
        for (uintptr_t at = row->locals; at < row->stack && !row->ours; at += sizeof(uintptr_t)) {
            int index = (int)((at - row->locals) / sizeof(uintptr_t));
            glance_through(g, compat_slot(*(PyObject *const *)at), NULL, frames_local_name(row->code, index),
                           row);
        }
    }
}

static void add_namespace(glance *g, PyObject *dict) {
    for (size_t i = 0; i < g->namespace_count; i++) {
        if (g->namespaces[i] == dict) {
            return;
        }
    }
    if (dict && PyDict_CheckExact(dict) && g->namespace_count < NAMESPACES_MAX) {
        g->namespaces[g->namespace_count++] = dict;
    }
}

// The namespaces given, and the globals of the running frames: first all of them, then what they name.
static void glance_namespaces(glance *g, PyObject *dicts) {
    PyObject *key, *value; // borrowed
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(dicts); i++) {
        add_namespace(g, PyTuple_GET_ITEM(dicts, i));
    }
    for (size_t i = 0; i < g->s->view.frames.count; i++) {
        if (!g->s->view.frames.rows[i].ours) {
            add_namespace(g, g->s->view.frames.rows[i].globals);
        }
    }
    for (size_t i = 0; i < g->namespace_count; i++) {
        glance_dict(g, g->namespaces[i], g->budget);
    }
    for (size_t i = 0; i < g->namespace_count; i++) {
        for (Py_ssize_t at = 0; g->budget && PyDict_Next(g->namespaces[i], &at, &key, &value);) {
            g->budget--;
            glance_through(g, value, g->namespaces[i], key, NULL);
        }
    }
}

// From 3.13 on the dict of an instance reads the words inside the instance: where both were looked at, the
// reference is the instance's.
static void drop_shared_values(search *s) {
#if COMPAT_VALUES_INLINE
    size_t kept = 0;
    for (size_t i = 0; i < s->edge_count; i++) {
        PyObject *holder = s->edges[i].holder; // borrowed
        int shared = holder && PyDict_CheckExact(holder) && ((PyDictObject *)holder)->ma_values &&
                     s->edges[i].link == (uintptr_t)&((PyDictObject *)holder)->ma_values,
            twice = 0;
        for (size_t k = 0; shared && k < s->edge_count && !twice; k++) {
            twice = k != i && s->edges[k].word == s->edges[i].word && (k < kept || k > i);
        }
        if (!twice) {
            s->edges[kept++] = s->edges[i];
        }
    }
    s->edge_count = kept;
#else
    (void)s;
#endif
}

static PyObject *name_tuple(glance *g, const known_name *name) {
    _owned_ PyObject *frame = name->frame ? frames_tuple(name->frame) : Py_NewRef(Py_None); // owned
    if (!frame) {
        return NULL;
    }
    return Py_BuildValue("NNNO", owners_box(g->s, name->holder), owners_box(g->s, name->parent),
                         owners_box(g->s, name->key), frame);
}

static PyObject *glance_names(glance *g) {
    _owned_ PyObject *list = PyList_New(0); // owned
    for (size_t i = 0; list && i < g->name_count; i++) {
        if (list_add(list, name_tuple(g, &g->names[i])) < 0) {
            return NULL;
        }
    }
    return take(list);
}

static PyObject *quick_referrers_find(PyObject *module, PyObject *args) {
    PyObject *subject, *dicts, *layouts, *own_prefix; // borrowed
    Py_ssize_t budget;
    if (!PyArg_ParseTuple(args, "OO!O!Un:quick_referrers", &subject, &PyTuple_Type, &dicts, &PyTuple_Type,
                          &layouts, &own_prefix, &budget)) {
        return NULL;
    }
    _scratch_ scratch memory = {0};
    if (scratch_init(&memory, (size_t)4 << 20) < 0) {
        return PyErr_NoMemory();
    }
    search *s = scratch_alloc(&memory, sizeof *s);
    glance g = {.s = s, .budget = budget < 0 ? 0 : (size_t)budget};
    s->edges = scratch_alloc(&memory, EDGES_MAX * sizeof *s->edges);
    g.names = scratch_alloc(&memory, NAMES_MAX * sizeof *g.names);
    if (owners_take(s, module, subject, layouts, &memory) < 0 ||
        frames_init(&s->view.frames, &memory, own_prefix) < 0) {
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    }
    g.target = (uintptr_t)s->targets[0];
    _collector_ int was_on = PyGC_Disable(); // rows are made while holders are borrowed
    glance_frames(&g);
    glance_locals(&g);
    glance_namespaces(&g, dicts);
    drop_shared_values(s);
    search_resolve(s);
    _owned_ PyObject *names = glance_names(&g);
    _owned_ PyObject *rows = names ? owners_rows(s) : NULL;
    return rows ? Py_BuildValue("OOO", rows, names, g.cut || !g.budget ? Py_False : Py_True) : NULL;
}

PART_FUNCTIONS(quick_referrers, {"quick_referrers", quick_referrers_find, METH_VARARGS, NULL})
