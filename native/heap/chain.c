// Chain: the shortest path from a root to an object, each step a reference.
//
// Breadth first from the roots, in one pass: loaded modules (their namespaces and their state), the frames
// that run (their variables and globals), namespaces the user knows by name, and what each thread keeps.
// Every object is entered once, marked in a bitmap, with the entry it was reached from; the search ends at
// the first reference to the object asked about, so a short path in a large heap costs little. The object is
// compared as it is met, before anything is read from it: the last layer, which is most of the heap, is
// never touched. Leaves are told by their address (heap/leaf_pools.c) and not entered. The queue says what
// comes next, so headers and bodies are fetched ahead of their turn, many at once, and so is the bit that
// says whether what was met is new; a large layer is followed in the order of memory (heap/chain_order.c).
//
// A namespace counts as part of what it belongs to (objects/links.c): its values are one step from its owner.
// The tool's own frames and Subjects are not entered; the caller's are.
//
// Memory: 8 bytes an object entered, 12 one that others were entered from, a bit for each 16 bytes of heap
// (three while large layers are followed) and a byte for each pool of small blocks, given back at the end.
// Nothing changes meanwhile (module/still.h), so all object pointers are borrowed and stay good until the
// path has been written down.
// SPDX-License-Identifier: MIT
#define INSPECTOR_WITHOUT_GIL
#define INSPECTOR_INTERNALS
#include "heap/chain_search.h"
#include "module/still.h"
#include "objects/objects.h"

#define TOGETHER 64 // objects whose memory is asked for in one go
#define AT_ONCE 4096
#define BEFORE_OBJECT 32 // what stands before an object: the gc's header, an instance's dict

static void add_root(chain_search *search, chain_root root) {
    if (root.object && marks_add(&search->seen, root.object) != 1) {
        return; // already a root
    }
    size_t bytes = (search->root_count + 1) * sizeof(chain_root);
    if (bytes > search->roots.bytes && arena_resize(&search->roots, (bytes + 65536) * 2) < 0) {
        search->failed = 1;
        return;
    }
    *root_at(search, search->root_count++) = root;
}

static void add_module(chain_search *search, PyObject *module) {
    if (!PyModule_Check(module)) {
        return;
    }
    PyObject *dict = PyModule_GetDict(module); // borrowed
    add_root(search, (chain_root){.kind = ROOT_DICT, .object = dict, .owner = module});
    add_root(search, (chain_root){.kind = ROOT_MODULE, .object = module});
}

static int is_ours(chain_search *search, PyCodeObject *code) {
    return PyUnicode_Tailmatch(code->co_filename, search->folder, 0, PY_SSIZE_T_MAX, -1) == 1;
}

static int add_frame(const frame_view *view, void *arg) {
    chain_search *search = arg;
    if (is_ours(search, view->code)) {
        return 0;
    }
    add_root(search, (chain_root){.kind = ROOT_FRAME, .frame = *view});
    return 0;
}

// The dicts a frame runs in, where they are no module's: of an exec, of a class body.
static int add_frame_dicts(const frame_view *view, void *arg) {
    chain_search *search = arg;
    if (is_ours(search, view->code)) {
        return 0;
    }
    if (view->locals && view->locals != view->globals && PyDict_Check(view->locals)) {
        add_root(search, (chain_root){.kind = ROOT_DICT, .object = view->locals, .frame = *view});
    }
    if (view->globals && PyDict_Check(view->globals)) {
        add_root(search, (chain_root){.kind = ROOT_DICT, .object = view->globals, .frame = *view});
    }
    return 0;
}

// The namespaces the user knows by name, found among the values of __main__ (IPython's Out): an id alone is
// no proof that an object lives there.
static void add_named(chain_search *search, PyObject *main) {
    PyObject *name, *value; // borrowed
    Py_ssize_t position = 0;
    PyObject *dict = PyModule_Check(main) ? PyModule_GetDict(main) : NULL; // borrowed
    while (dict && PyDict_Next(dict, &position, &name, &value)) {
        for (Py_ssize_t i = 0; PyDict_Check(value) && i < PyTuple_GET_SIZE(search->names); i++) {
            if (PyLong_AsVoidPtr(PyTuple_GET_ITEM(search->names, i)) == value) {
                add_root(search, (chain_root){.kind = ROOT_DICT, .object = value});
            }
        }
    }
    PyErr_Clear();
}

// __main__ first, then frames, then the other modules: of two paths of one length, the nearer is told.
static void add_roots(chain_search *search) {
    PyObject *modules = PyImport_GetModuleDict(); // borrowed
    PyObject *name, *module;                      // borrowed
    Py_ssize_t position = 0;
    PyObject *main = modules && PyDict_CheckExact(modules) ? layout_lookup(modules, "__main__") : NULL;
    if (main) {
        add_module(search, main);
        add_named(search, main);
    }
    frames_each(add_frame, search);
    while (modules && PyDict_CheckExact(modules) && PyDict_Next(modules, &position, &name, &module)) {
        add_module(search, module);
    }
    frames_each(add_frame_dicts, search);
    PyThreadState *thread = PyInterpreterState_ThreadHead(PyInterpreterState_Get());
    for (; thread; thread = PyThreadState_Next(thread)) {
        if (thread->dict) {
            add_root(search, (chain_root){.kind = ROOT_THREAD, .object = thread->dict});
        }
        if (thread->context) {
            add_root(search, (chain_root){.kind = ROOT_THREAD, .object = thread->context});
        }
    }
}

// Makes place for one row more; 0, or -1 when memory is out.
static int queue_grow(chain_search *search, arena *place, size_t count, size_t bytes_each) {
    size_t rows = place->bytes ? count * 2 : 1 << 16;
    if (rows > UINT32_MAX || arena_resize(place, rows * bytes_each) < 0) {
        search->failed = 1;
        return -1;
    }
    arena_huge(place);
    return 0;
}

static int begin_family(chain_search *search, chain_holder holder) {
    if ((search->family_count + 1) * sizeof(chain_family) > search->families.bytes &&
        queue_grow(search, &search->families, search->family_count, sizeof(chain_family)) < 0) {
        return 1;
    }
    *family_at(search, search->family_count++) = (chain_family){(uint32_t)search->count, holder};
    search->last = holder;
    return 0;
}

static int enter(chain_search *search, const chain_met *met) {
    if (!marks_set(met->word, met->object)) {
        return 0;
    }
    if ((search->count + 1) * sizeof(PyObject *) > search->objects.bytes &&
        queue_grow(search, &search->objects, search->count, sizeof(PyObject *)) < 0) {
        return 1;
    }
    if (met->holder != search->last && begin_family(search, met->holder)) {
        return 1;
    }
    *object_at(search, search->count++) = met->object;
    search->unaligned |= (int)((uintptr_t)met->object & 15);
    if (search->count - search->layer.stop == CHAIN_LARGE_LAYER) {
        chain_order_note(search);
    }
    return 0;
}

// A visitproc. Ends the visit (1) when the object is met.
static int meet(PyObject *object, void *arg) {
    chain_search *search = arg;
    if (object == search->target) {
        search->found = 1;
        return 1;
    }
    if (leaf_pools_has(&search->leaves, object)) {
        return 0;
    }
    uint64_t *word = marks_word(&search->seen, object);
    if (!word) {
        search->failed = 1;
        return 1;
    }
    __builtin_prefetch(word, 1);
    chain_met *met = &search->met[search->met_next++ % CHAIN_MET];
    int stop = met->object ? enter(search, met) : 0;
    *met = (chain_met){object, word, search->holder};
    return stop;
}

// Enters what was met last.
static void enter_all(chain_search *search) {
    for (unsigned i = 0; i < CHAIN_MET; i++) {
        chain_met *met = &search->met[search->met_next++ % CHAIN_MET];
        if (met->object && !search->failed) {
            enter(search, met);
        }
        met->object = NULL;
    }
}

// What an object refers to, its own namespace's values among them.
static void follow(chain_search *search, PyObject *object) {
    if (!edges_has(object) || Py_IS_TYPE(object, search->passed_over)) {
        return;
    }
    PyObject *dict = edges_plain(Py_TYPE(object)) ? NULL : links_own_dict(object); // borrowed
    if (dict && dict != search->target && PyDict_Check(dict)) {
        marks_add(&search->seen, dict);
        if (search->before.rows) {
            marks_add(&search->before, dict); // its values belong to the layer, not the dict
        }
        if (edges_visit(dict, meet, search)) {
            return;
        }
    }
    edges_visit(object, meet, search);
}

static void follow_frame(chain_search *search, const frame_view *view) {
    for (int i = 0; i < view->variables && !search->found; i++) {
        PyObject *value = compat_variable(view->slots[i]); // borrowed
        if (!value) {
            continue;
        }
        PyObject *inside = PyCell_Check(value) ? PyCell_GET(value) : NULL; // borrowed
        if (meet(value, search) || (inside && meet(inside, search))) {
            return;
        }
    }
}

static void follow_roots(chain_search *search) {
    for (size_t i = 0; i < search->root_count && !search->found && !search->failed; i++) {
        chain_root *root = root_at(search, i);
        search->holder = i << 1 | 1;
        if (root->kind == ROOT_FRAME) {
            follow_frame(search, &root->frame);
        } else {
            follow(search, root->object);
        }
    }
}

static void prefetch_headers(PyObject *const *objects, size_t first, size_t stop) {
    for (size_t i = first; i < stop; i++) {
        __builtin_prefetch(objects[i]);
        __builtin_prefetch((const char *)objects[i] - BEFORE_OBJECT);
    }
}

static void prefetch_bodies(PyObject *const *objects, size_t first, size_t stop) {
    for (size_t i = first; i < stop; i++) {
        edges_prefetch(objects[i]);
    }
}

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

static void follow_some(chain_search *search, PyObject *const *objects, size_t count) {
    prefetch_headers(objects, 0, smaller(2 * TOGETHER, count));
    prefetch_bodies(objects, 0, smaller(TOGETHER, count));
    for (size_t i = 0; i < count && !search->found && !search->failed; i++) {
        if (i % TOGETHER == 0) {
            prefetch_headers(objects, smaller(i + 2 * TOGETHER, count), smaller(i + 3 * TOGETHER, count));
            prefetch_bodies(objects, smaller(i + TOGETHER, count), smaller(i + 2 * TOGETHER, count));
        }
        search->holder = (chain_holder)objects[i];
        search->failed |= interrupt_step(&search->watch);
        follow(search, objects[i]);
    }
}

static void chain_run(chain_search *search) {
    PyObject *objects[AT_ONCE]; // borrowed
    add_roots(search);
    follow_roots(search);
    enter_all(search);
    while (!search->found && !search->failed && search->count > search->layer.stop) {
        chain_order_begin(search);
        size_t count;
        while (!search->found && !search->failed && (count = chain_order_take(search, objects, AT_ONCE))) {
            follow_some(search, objects, count);
        }
        enter_all(search);
    }
}

static void chain_deinit(chain_search *search) {
    leaf_pools_deinit(&search->leaves);
    marks_deinit(&search->seen);
    arena_deinit(&search->roots);
    arena_deinit(&search->objects);
    arena_deinit(&search->families);
    chain_order_deinit(search);
}

static PyObject *chain_answer(chain_search *search) { // new
    uint64_t begin = clock_now_ns();
    _still_ int began = still_begin();
    if (marks_init(&search->seen) < 0) {
        return PyErr_NoMemory();
    }
    leaf_pools_init(&search->leaves);
    chain_run(search);
    if (search->failed) {
        return NULL;
    }
    PyObject *rows = search->found ? chain_steps(search) : Py_NewRef(Py_None); // owned
    size_t extra = marks_bytes(&search->seen) + search->leaves.asked + search->roots.bytes +
                   search->objects.bytes + search->families.bytes + search->layer_bytes;
    return rows ? Py_BuildValue("NnLn", rows, (Py_ssize_t)(search->root_count + search->count),
                                (long long)(clock_now_ns() - begin), (Py_ssize_t)extra)
                : NULL;
}

static PyObject *chain_take(PyObject *module, PyObject *args) {
    PyObject *maybe_subject, *names, *folder; // borrowed
    if (!PyArg_ParseTuple(args, "OO!U:chain", &maybe_subject, &PyTuple_Type, &names, &folder)) {
        return NULL;
    }
    PyObject *target = subject_object(module, maybe_subject); // borrowed
    if (!target) {
        return NULL;
    }
    chain_search search = {
        .target = target, .passed_over = Py_TYPE(maybe_subject), .names = names, .folder = folder};
    edges_prepare();
    PyObject *answer = chain_answer(&search); // owned
    chain_deinit(&search);
    if (!answer && !PyErr_Occurred()) {
        interrupt_raise(&search.watch);
    }
    return answer;
}

PART_FUNCTIONS(chain, {"chain", chain_take, METH_VARARGS, NULL})
