// Which frame of a running Python function a word belongs to, and what it is there.
//
// objects/frames.c reads the frames themselves; here they become a table by address. Those of functions lie
// in chunks of each thread (tstate->datastack_chunk), those of generators inside the generator object. Locals
// are always initialised (NULL where unset). How much of the evaluation stack is live is saved only while a
// frame is suspended; in a running frame the interpreter keeps it in a register, and Python works it out
// from the bytecode (inspector/stack_depth.py). Memory in a chunk that belongs to no frame is dead: old
// locals. With the GIL held no frame moves.
// SPDX-License-Identifier: MIT
#define INSPECTOR_INTERNALS
#include "memory/addresses.h"
#include "objects/objects.h"
#include "search/holders.h"

#define FRAMES_MAX 4096u // innermost ones of all threads; recursion may be deeper, and the rest is said stale
#define CHUNKS_MAX 1024u

static int frame_is_ours(PyObject *code, PyObject *own_prefix) {
    PyObject *file = ((PyCodeObject *)code)->co_filename; // borrowed
    if (!own_prefix || !file || !PyUnicode_CheckExact(file)) {
        return 0;
    }
    return PyUnicode_Tailmatch(file, own_prefix, 0, PY_SSIZE_T_MAX, -1) == 1;
}

typedef struct {
    frame_table *table;
    PyObject *own_prefix; // borrowed
} frame_collector;

static int frame_collect(const frame_view *view, void *argument) {
    frame_collector *collector = argument;
    frame_table *table = collector->table;
    if (table->count == FRAMES_MAX) {
        return 1;
    }
    uintptr_t locals = (uintptr_t)view->slots, stack = (uintptr_t)(view->slots + view->variables);
    table->rows[table->count++] = (frame_row){
        .start = (uintptr_t)view->start,
        .locals = locals,
        .stack = stack,
        .stop = stack + (size_t)view->code->co_stacksize * sizeof(PyObject *),
        .top = view->values_known ? (uintptr_t)(view->slots + view->values) : 0,
        .code = (PyObject *)view->code,
        .function = view->function,
        .globals = view->globals,
        .last_byte = view->last_byte,
        .depth = view->depth,
        .calls_python = view->calls_python,
        .thread = view->thread,
        .ours = frame_is_ours((PyObject *)view->code, collector->own_prefix),
    };
    return 0;
}

// The chunks of every thread: memory of frames, dead ones too.
static void frames_chunks(frame_table *table) {
    PyThreadState *thread = PyInterpreterState_ThreadHead(PyInterpreterState_Get());
    for (; thread; thread = PyThreadState_Next(thread)) {
        for (_PyStackChunk *chunk = thread->datastack_chunk; chunk && table->chunk_count < CHUNKS_MAX;
             chunk = chunk->previous) {
            table->chunks[table->chunk_count++] =
                (scan_range){(uintptr_t)chunk, (uintptr_t)chunk + chunk->size};
        }
    }
}

int frames_init(frame_table *ret, scratch *memory, PyObject *own_prefix) {
    frame_collector collector = {ret, own_prefix};
    *ret = (frame_table){.rows = scratch_alloc(memory, FRAMES_MAX * sizeof *ret->rows),
                         .chunks = scratch_alloc(memory, CHUNKS_MAX * sizeof *ret->chunks)};
    if (!ret->rows || !ret->chunks) {
        return -1;
    }
    frames_each(frame_collect, &collector);
    frames_chunks(ret);
    addresses_sort(ret->rows, ret->count, sizeof *ret->rows, addresses_compare);
    return 0;
}

const frame_row *frames_find(const frame_table *frames, uintptr_t word) {
    ptrdiff_t at = addresses_find(frames->rows, frames->count, sizeof *frames->rows, word);
    return at < 0 ? NULL : &frames->rows[at];
}

int frames_is_dead(const frame_table *frames, uintptr_t word) {
    return addresses_in(frames->chunks, frames->chunk_count, word);
}

frame_part frames_part(const frame_row *frame, uintptr_t word, int *ret_index) {
    *ret_index = 0;
    if (!compat_slot(*(const uintptr_t *)word)) {
        return FRAME_BORROWED;
    }
    if (word >= frame->stack) {
        *ret_index = (int)((word - frame->stack) / sizeof(PyObject *));
        return frame->top && word >= frame->top ? FRAME_DEAD : FRAME_STACK;
    }
    if (word >= frame->locals) {
        *ret_index = (int)((word - frame->locals) / sizeof(PyObject *));
        return FRAME_LOCAL;
    }
    size_t offset = word - frame->start;
    *ret_index = (int)offset;
    return compat_frame_owns(offset) ? FRAME_FIELD : FRAME_BORROWED;
}

PyObject *frames_local_name(PyObject *code, int index) {
    PyObject *names = ((PyCodeObject *)code)->co_localsplusnames; // borrowed
    return names && index >= 0 && index < PyTuple_GET_SIZE(names) ? PyTuple_GET_ITEM(names, index) : NULL;
}

UNSANITIZED int frames_object_local(PyObject *object, uintptr_t word, PyObject **ret_code) {
    _PyInterpreterFrame *frame;
    if (PyGen_CheckExact(object) || PyCoro_CheckExact(object) || PyAsyncGen_CheckExact(object)) {
        frame = compat_generator_frame(object);
    } else if (PyFrame_Check(object)) {
        frame = (_PyInterpreterFrame *)((PyFrameObject *)object)->_f_frame_data;
        if (((PyFrameObject *)object)->f_frame != frame) {
            return -1; // it runs still: its words are not here
        }
    } else {
        return -1;
    }
    if (word < (uintptr_t)frame->localsplus) {
        return -1;
    }
    *ret_code = (PyObject *)compat_frame_code(frame);
    if (COMPAT_SLOTS_TAGGED && (!compat_slot(*(const uintptr_t *)word) ||
                                word >= (uintptr_t)(frame->localsplus + compat_frame_top(frame)))) {
        return FRAME_SLOT_BORROWED;
    }
    return *ret_code ? (int)((word - (uintptr_t)frame->localsplus) / sizeof(PyObject *)) : -1;
}

int frames_of_generator(PyObject *object, uintptr_t *ret_start, uintptr_t *ret_stop) {
    if (!PyGen_CheckExact(object) && !PyCoro_CheckExact(object) && !PyAsyncGen_CheckExact(object)) {
        return 0;
    }
    const _PyInterpreterFrame *frame = compat_generator_frame(object);
    Py_ssize_t top = compat_frame_top(frame);
    *ret_start = (uintptr_t)frame->localsplus;
    *ret_stop = *ret_start + (top > 0 ? (size_t)top : 0) * sizeof(PyObject *);
    return ((PyGenObject *)object)->gi_frame_state < FRAME_EXECUTING; // running ones are among the frames
}

PyObject *frames_tuple(const frame_row *frame) {
    PyCodeObject *code = (PyCodeObject *)frame->code;
    int line = PyCode_Addr2Line(code, frame->last_byte < 0 ? 0 : frame->last_byte);
    return Py_BuildValue("OiiikK", frame->code, line, frame->last_byte, frame->depth, frame->thread,
                         (unsigned long long)frame->calls_python);
}
