// Native stacks as numbers: equal stacks have the same number, which a record holds.
//
// Overview. The C++ unwinder (libgcc) walks outwards from the hook by unwind tables, so it needs no frame
// pointers. Frames of this extension are left out, and the interpreter's first frame ends the walk: a stack
// begins at the call of the C API and ends at the function that Python called.
//
// A hook must not allocate, and allocators are called without the GIL. So the table lies in the library's
// zeroed memory. A compare-and-swap claims an entry; other threads read it once it is complete. The table is
// emptied only while no hook is armed.
//
// Limits. STACKS_MAX different stacks of up to FRAMES_MAX frames; later ones get number 0. Code without
// unwind tables (generated at run time) ends the walk. A frame costs some 300 ns, so only requested stacks
// are recorded.
// SPDX-License-Identifier: MIT
#include "trace/record/stacks.h"
#include "memory/memory.h"
#include "trace/record/record.h"
#include "trace/record/ring.h"

#include <unwind.h>

enum { STACKS_MAX = 1 << 13, STACKS_TRIED = 64, FRAMES_MAX = 24 };
enum { STACK_FREE, STACK_CLAIMED, STACK_READY };

typedef struct {
    uint32_t state, count;
    uint64_t hash;
    uintptr_t frames[FRAMES_MAX]; // return addresses, innermost first
} native_stack;

typedef struct {
    uint64_t hash;
    uint32_t count;
    uintptr_t frames[FRAMES_MAX];
} walk;

int stacks_open;
static native_stack stacks[STACKS_MAX];  // number 0 is no stack
static int stacks_used;                  // 1: entries were added since the table was emptied
static scan_range own_text, interpreter; // code of this extension; of what calls through our trampolines

static int is_inside(uintptr_t address, scan_range range) {
    return address >= range.start && address < range.stop;
}

static _Unwind_Reason_Code walk_step(struct _Unwind_Context *frame, void *into) {
    walk *ret = into;
    uintptr_t at = _Unwind_GetIP(frame);
    if (is_inside(at, own_text)) {
        return ret->count ? _URC_END_OF_STACK
                          : _URC_NO_REASON; // the trampoline that Python called; the hook itself
    }
    if (!at || is_inside(at, interpreter) || ret->count == FRAMES_MAX) {
        return _URC_END_OF_STACK;
    }
    ret->frames[ret->count++] = at;
    ret->hash = (ret->hash ^ at) * 0x9E3779B97F4A7C15ULL;
    return _URC_NO_REASON;
}

static int is_same(const native_stack *entry, const walk *found) {
    return entry->hash == found->hash && entry->count == found->count &&
           memcmp(entry->frames, found->frames, found->count * sizeof *found->frames) == 0;
}

// The number of an equal entry, or of a free one, which is then filled; 0 where neither is found.
static uint32_t stacks_number(const walk *found) {
    for (uint32_t tried = 0; tried < STACKS_TRIED; tried++) {
        uint32_t number = (uint32_t)((found->hash >> 32) + tried) % STACKS_MAX, free = STACK_FREE;
        native_stack *entry = &stacks[number];
        if (!number) {
            continue;
        }
        if (__atomic_compare_exchange_n(&entry->state, &free, STACK_CLAIMED, 0, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE)) {
            stacks_used = 1;
            entry->hash = found->hash;
            entry->count = found->count;
            memcpy(entry->frames, found->frames, found->count * sizeof *found->frames);
            __atomic_store_n(&entry->state, STACK_READY, __ATOMIC_RELEASE);
            journal_add_stack(number, found->count, found->frames);
            return number;
        }
        if (free == STACK_READY && is_same(entry, found)) {
            return number;
        }
    }
    return 0;
}

uint32_t stacks_take(void) {
    walk found = {.count = 0};
    _Unwind_Backtrace(walk_step, &found);
    return found.count ? stacks_number(&found) : 0;
}

void stacks_record(uint32_t slot, uint8_t depth) {
    event record = {.kind = EVENT_STACK, .flags = EVENT_FLAG_CONTINUATION, .slot = slot, .depth = depth};
    record.val = stacks_take();
    if (record.val) {
        ring_record(&record);
    }
}

int stacks_text_of(const void *address, scan_range *ret) {
    _scratch_ scratch memory = {NULL, 0, 0};
    memory_maps maps;
    if (scratch_init(&memory, SCRATCH_BYTES) < 0 || memory_maps_init(&maps, &memory) < 0) {
        return error_no_memory();
    }
    const memory_map *map = memory_maps_find(&maps, (uintptr_t)address);
    *ret = map ? (scan_range){map->start, map->stop} : (scan_range){0, 0};
    return 0;
}

int stacks_prepare(void) {
    int is_known = interpreter.stop > 0; // neither is ever moved
    if (!is_known && (stacks_text_of((void *)stacks_record, &own_text) < 0 ||
                      stacks_text_of((void *)PyObject_Call, &interpreter) < 0)) {
        return -1;
    }
    memset(stacks, 0, stacks_used ? sizeof stacks : 0);
    stacks_used = 0;
    return 0;
}

static PyObject *stacks_set_open(PyObject *module, PyObject *open) {
    stacks_open = 0;
    if (open == Py_True && stacks_prepare() < 0) {
        return NULL;
    }
    stacks_open = open == Py_True;
    Py_RETURN_NONE;
}

static PyObject *stacks_frames(const native_stack *from) {
    _owned_ PyObject *frames = PyTuple_New((Py_ssize_t)from->count);
    for (uint32_t i = 0; frames && i < from->count; i++) {
        if (tuple_set(frames, i, PyLong_FromUnsignedLongLong(from->frames[i])) < 0) {
            return NULL;
        }
    }
    return take(frames);
}

PyObject *stacks_frames_of(uint32_t number) {
    int is_known = number && number < STACKS_MAX;
    return is_known && __atomic_load_n(&stacks[number].state, __ATOMIC_ACQUIRE) == STACK_READY
               ? stacks_frames(&stacks[number])
               : PyTuple_New(0);
}

static PyObject *stacks_seen(PyObject *module, PyObject *unused) {
    _owned_ PyObject *seen = PyDict_New();
    for (uint32_t number = 1; seen && number < STACKS_MAX; number++) {
        if (__atomic_load_n(&stacks[number].state, __ATOMIC_ACQUIRE) != STACK_READY) {
            continue;
        }
        _owned_ PyObject *key = PyLong_FromUnsignedLong(number);
        _owned_ PyObject *frames = key ? stacks_frames(&stacks[number]) : NULL;
        if (!frames || PyDict_SetItem(seen, key, frames) < 0) {
            return NULL;
        }
    }
    return take(seen);
}

PART_FUNCTIONS(stacks, {"stacks_open", stacks_set_open, METH_O, NULL},
               {"stacks", stacks_seen, METH_NOARGS, NULL})
