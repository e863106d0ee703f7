// What a word of memory is part of: a live object, a block, a frame, a static, a stack, or nothing alive.
//
// The order of the questions matters: first the memory whose owner we know for sure (frames, statics,
// stacks), then the two allocators, and only for memory that neither knows a look for an object just
// below the word.
// An object is believed when its own structures say so twice. For an object of the garbage collector: its
// neighbours in the collector's list point back at it, and its type is a type whose method resolution
// order begins with itself. Only such an object may be traversed (tp_traverse on something that merely
// looked like an object crashes). Exact tuples and dicts, which the collector stops tracking when they
// hold only atoms, and the exact types of the layout table are read by their layout and never traversed.
// SPDX-License-Identifier: MIT
#define INSPECTOR_INTERNALS
#include "memory/addresses.h"
#include "objects/objects.h"
#include "search/holders.h"

#define COUNT_MAX ((Py_ssize_t)1 << 40) // above that it is an address, not a refcount
#define STACK_BYTES_MAX ((uintptr_t)16 << 20)
#define GUARD_BYTES_MAX 65536u
#define LOOK_DOWN_WORDS 128u // how far below a word of unknown memory its object may start

// How many bytes a debug allocator puts in front of an object, learned from one of our own.
static void learn_prefix_body(void *argument) {
    search_view *view = ((void **)argument)[0];
    uintptr_t address = (uintptr_t)((void **)argument)[1];
    scan_range block;
    view->object_prefix = -1;
    const memory_map *map = memory_maps_find(&view->maps, address);
    if ((map && pymalloc_block(address, map->start, &block) == BLOCK_LIVE) ||
        malloc_block(&view->malloc, address, &block) == BLOCK_LIVE) {
        view->object_prefix = (long)(address - block.start);
    }
}

int search_view_init(search_view *ret, const scan_runs *runs, scratch *memory, PyObject *own_prefix) {
    PyInterpreterState *interpreter = PyInterpreterState_Get();
    if (search_view_memory(ret, runs, memory) < 0 || frames_init(&ret->frames, memory, own_prefix) < 0) {
        return -1;
    }
    ret->type_cache.start = (uintptr_t)compat_type_cache(interpreter);
    ret->type_cache.stop = (uintptr_t)(compat_type_cache(interpreter) + 1);
    ret->free_lists.start = (uintptr_t)compat_free_lists(interpreter);
    ret->free_lists.stop = (uintptr_t)(compat_free_lists(interpreter) + 1);
    ret->kept.start = (uintptr_t)compat_kept_first(interpreter);
    ret->kept.stop = (uintptr_t)compat_kept_end(interpreter);
    void *sample = PyObject_Malloc(48), *argument[2] = {ret, sample};
    if (!sample || memory_guarded(learn_prefix_body, argument) < 0) {
        ret->object_prefix = -1;
    }
    PyObject_Free(sample);
    return 0;
}

// Whether a word may be followed. Garbage is told here, so that a fault under the guard means only one
// thing: memory that went.
static int is_readable(const search_view *view, uintptr_t address, size_t size) {
    const memory_map *map = address % 8 ? NULL : memory_maps_find(&view->maps, address);
    return map && map->permissions[0] == 'r' && address + size <= map->stop;
}

UNSANITIZED int search_is_tracked(const search_view *view, PyObject *object) {
    const uintptr_t *head = (const uintptr_t *)object - 2;
    uintptr_t next = head[0] & ~(uintptr_t)3, previous = head[1] & ~(uintptr_t)3; // flags in the low bits
    if (!is_readable(view, next, 16) || !is_readable(view, previous, 16)) {
        return 0;
    }
    return (((const uintptr_t *)next)[1] & ~(uintptr_t)3) == (uintptr_t)head &&
           (((const uintptr_t *)previous)[0] & ~(uintptr_t)3) == (uintptr_t)head;
}

// A type proves itself: it heads its own method resolution order.
static UNSANITIZED int is_type(const search_view *view, PyTypeObject *type) {
    if (!is_readable(view, (uintptr_t)type, sizeof *type)) {
        return 0;
    }
    PyTypeObject *meta = Py_TYPE((PyObject *)type);
    if (meta != &PyType_Type &&
        (!is_readable(view, (uintptr_t)meta, sizeof *meta) || !(meta->tp_flags & Py_TPFLAGS_TYPE_SUBCLASS))) {
        return 0;
    }
    PyObject *order = type->tp_mro;
    return type->tp_flags & Py_TPFLAGS_READY && is_readable(view, (uintptr_t)order, sizeof(PyTupleObject)) &&
           Py_TYPE(order) == &PyTuple_Type && ((PyTupleObject *)order)->ob_item[0] == (PyObject *)type;
}

int search_has_layout(const search_view *view, PyTypeObject *type) {
    for (size_t i = 0; i < view->layout_count; i++) {
        if (view->layouts[i].type == type) {
            return 1;
        }
    }
    return 0;
}

// An exact tuple, dict or frozenset that the collector does not track: its sizes must fit its block, and a
// dict's keys or a set's table must be there. Reused memory may hold an old head; of a tracked one the
// collector would know.
static UNSANITIZED int is_untracked_container(const search_view *view, PyObject *object, uintptr_t stop) {
    if (compat_gc_tracked(object)) {
        return 0;
    }
    if (Py_TYPE(object) == &PyTuple_Type) {
        Py_ssize_t size = ((PyVarObject *)object)->ob_size;
        return size > 0 && (uintptr_t)size < (stop - (uintptr_t)object) / sizeof(PyObject *) &&
               (uintptr_t)(((PyTupleObject *)object)->ob_item + size) <= stop;
    }
    if (COMPAT_UNTRACKED_SETS && Py_TYPE(object) == &PyFrozenSet_Type) {
        const PySetObject *set = (const PySetObject *)object;
        return (uintptr_t)(set + 1) <= stop && set->used > 0 && set->used <= set->fill &&
               set->fill <= set->mask &&
               is_readable(view, (uintptr_t)set->table, (size_t)(set->mask + 1) * sizeof(setentry));
    }
    return COMPAT_UNTRACKED_DICTS && Py_TYPE(object) == &PyDict_Type &&
           (uintptr_t)object + sizeof(PyDictObject) <= stop &&
           is_readable(view, (uintptr_t)((PyDictObject *)object)->ma_keys, sizeof(PyDictKeysObject));
}

typedef enum { NO_OBJECT, DEAD_OBJECT, POSSIBLE_OBJECT, CERTAIN_OBJECT } object_state;

// The object whose memory starts with the block at `start`. How far behind the start it lies follows from
// its type: pre-header, header of the collector, neither. What the collector should track and does not is
// no object to us: a block remembers what lived in it before, and that may look like one.
static UNSANITIZED object_state object_at(const search_view *view, uintptr_t start, uintptr_t stop,
                                          PyObject **ret) {
    static const uintptr_t offsets[] = {16, 32, 0};
    for (size_t i = 0; i < 3; i++) {
        PyObject *object = (PyObject *)(start + offsets[i]);
        if ((uintptr_t)(object + 1) > stop) {
            continue;
        }
        Py_ssize_t count = compat_refcount(object);
        if (offsets[i] == 16 && (uintptr_t)object + 24 <= stop && free_lists_have(object)) {
            return DEAD_OBJECT;
        }
        if (count <= 0 || count > COUNT_MAX || !is_type(view, Py_TYPE(object))) {
            continue;
        }
        PyTypeObject *type = Py_TYPE(object);
        int collected = PyType_HasFeature(type, Py_TPFLAGS_HAVE_GC) != 0;
        if (offsets[i] != (collected ? 16u : 0u) + (COMPAT_PREHEADER(type) ? 16u : 0u)) {
            continue;
        }
        if (!collected && !compat_is_immortal(object) && memory_maps_find(&view->maps, (uintptr_t)count)) {
            continue; // an address: a C struct that points to a type, and counting would change its pointer
        }
        if (collected && !search_is_tracked(view, object) && !is_untracked_container(view, object, stop)) {
            continue;
        }
        *ret = object;
        return collected || search_has_layout(view, type) ? CERTAIN_OBJECT : POSSIBLE_OBJECT;
    }
    return NO_OBJECT;
}

// In memory of an unknown allocator: the nearest object below that the collector vouches for.
static UNSANITIZED PyObject *object_below(const search_view *view, uintptr_t word, uintptr_t low) {
    for (size_t i = 0; i < LOOK_DOWN_WORDS; i++) {
        uintptr_t at = word - 8 * i;
        if (at < low + 16) {
            break;
        }
        PyObject *object = (PyObject *)at;
        if (compat_refcount(object) > 0 && search_is_tracked(view, object) &&
            is_type(view, Py_TYPE(object)) && PyType_HasFeature(Py_TYPE(object), Py_TPFLAGS_HAVE_GC)) {
            return object;
        }
    }
    return NULL;
}

int search_holds_nothing(PyTypeObject *type) {
    return type == &PyUnicode_Type || type == &PyBytes_Type || type == &PyLong_Type ||
           type == &PyFloat_Type || type == &PyComplex_Type || type == &PyBool_Type ||
           (type == &PyByteArray_Type && !COMPAT_BYTEARRAY_HOLDS);
}

static void place_in_block(const search_view *view, uintptr_t word, scan_range block, place *ret) {
    // C libraries call malloc without the debug allocator's prefix; what CPython gets from malloc passes
    // through two debug allocators, that of objects and that of raw memory.
    uintptr_t prefix = view->object_prefix < 0 ? 0 : (uintptr_t)view->object_prefix;
    uintptr_t starts[] = {block.start + prefix, block.start + 2 * prefix, block.start};
    object_state state = NO_OBJECT;
    PyObject *object = NULL; // borrowed
    for (size_t i = 0; i < (prefix ? 3 : 1) && state == NO_OBJECT; i++) {
        state = object_at(view, starts[i], block.stop, &object);
    }
    ret->block = block;
    if (state == NO_OBJECT || state == DEAD_OBJECT) {
        int dead = state == DEAD_OBJECT || compat_is_dead_keys(block.start + (uintptr_t)prefix);
        ret->kind = dead ? PLACE_STALE : PLACE_BLOCK;
        return;
    }
    ret->kind = Py_IS_TYPE(object, view->subject_type) ? PLACE_OURS : PLACE_OBJECT;
    if (search_holds_nothing(Py_TYPE(object))) {
        ret->kind = PLACE_STALE; // text and numbers are no pointers, whatever they look like
    }
    ret->object = object;
    ret->certain = state == CERTAIN_OBJECT;
}

// The stack of a thread, live or kept by glibc for the next one, has the thread's control block at its top,
// whose first and third word are its own address (tcbhead_t of x86-64). Looked for on pages that exist, and
// where a word of the same mapping was looked for none before, behind that.
static UNSANITIZED int is_below_thread(search_view *view, const memory_map *map, uintptr_t word) {
    scan_range *none = &view->threadless;
    int is_known = word >= none->start && word < none->stop;
    uintptr_t from = is_known ? none->stop : word;
    uintptr_t stop = map->stop - word < STACK_BYTES_MAX ? map->stop : word + STACK_BYTES_MAX;
    for (size_t i = 0; i < view->runs->count; i++) {
        scan_range run = view->runs->rows[i];
        uintptr_t at = (run.start > from ? run.start : from) & ~(uintptr_t)63;
        for (; at + 64 <= run.stop && at < stop; at += 64) {
            const uintptr_t *block = (const uintptr_t *)at;
            if (at > word && block[0] == at && block[2] == at) {
                return 1;
            }
        }
    }
    *none = (scan_range){is_known ? none->start : word, stop > from ? stop : from};
    return 0;
}

// Or, where glibc maps it (before 2.42), a page below that nobody may touch (pthread_attr_setguardsize(3)).
static int is_above_guard(const search_view *view, const memory_map *map) {
    const memory_map *below = map > view->maps.rows ? map - 1 : NULL;
    return below && below->stop == map->start && below->stop - below->start <= GUARD_BYTES_MAX &&
           memcmp(below->permissions, "---", 3) == 0;
}

static place_kind place_of_stack(const search_view *view, const memory_map *map, uintptr_t word) {
    if (addresses_in(view->stacks, view->stack_count, word)) {
        return PLACE_STACK;
    }
    for (size_t i = 0; i < view->stack_count; i++) {
        if (view->stacks[i].stop == map->stop && word < view->stacks[i].start) {
            return PLACE_STALE; // below the stack pointer
        }
    }
    int is_main = map->path_length == 7 && memcmp(map->path, "[stack]", 7) == 0;
    return is_main ? PLACE_STACK : PLACE_UNKNOWN;
}

void search_place(search_view *view, uintptr_t word, place *ret) {
    scan_range block;
    *ret = (place){.kind = PLACE_UNKNOWN, .frame = frames_find(&view->frames, word)};
    const memory_map *map = memory_maps_find(&view->maps, word);
    if (ret->frame) {
        ret->kind = ret->frame->ours ? PLACE_OURS : PLACE_FRAME;
    } else if (word >= view->own_statics.start && word < view->own_statics.stop) {
        ret->kind = PLACE_OURS;
    } else if (!map || frames_is_dead(&view->frames, word) || addresses_in(&view->type_cache, 1, word) ||
               addresses_in(&view->kept, 1, word)) {
        ret->kind = PLACE_STALE;
    } else if (addresses_in(view->statics, view->static_count, word)) {
        ret->kind = PLACE_STATIC;
    } else if ((ret->kind = place_of_stack(view, map, word)) == PLACE_UNKNOWN) {
        block_state state = pymalloc_block(word, map->start, &block);
        if (state == BLOCK_NONE) {
            state = malloc_block(&view->malloc, word, &block);
        }
        if (state == BLOCK_LIVE) {
            place_in_block(view, word, block, ret);
        } else if (state == BLOCK_FREE) {
            ret->kind = PLACE_STALE;
            ret->block = block;
        } else if ((ret->object = object_below(view, word, map->start))) {
            ret->kind = Py_IS_TYPE(ret->object, view->subject_type) ? PLACE_OURS : PLACE_OBJECT;
            ret->certain = 1;
        } else if (!map->path_length && (is_above_guard(view, map) || is_below_thread(view, map, word))) {
            ret->kind = PLACE_STACK;
        } else if (state == BLOCK_NONE && view->malloc.usable) {
            ret->kind = PLACE_MAPPING;
            ret->block = (scan_range){map->start, map->stop};
        }
    }
}

typedef struct {
    PyObject *target; // borrowed
    long count;
} visit_count;

static int count_visit(PyObject *visited, void *argument) {
    visit_count *counted = argument;
    counted->count += visited == counted->target;
    return 0;
}

long search_visits(PyObject *holder, PyObject *target) {
    visit_count counted = {target, 0};
    if (!Py_TYPE(holder)->tp_traverse || !PyType_HasFeature(Py_TYPE(holder), Py_TPFLAGS_HAVE_GC)) {
        return 0;
    }
    edges_traverse(holder, count_visit, &counted);
    return counted.count;
}
