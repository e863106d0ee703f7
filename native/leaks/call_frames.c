// The open calls from Python, each with its arguments and what these refer to.
//
// A block that is freed during a call and contains the address of a watched object may have held it: the
// balance of that object is marked as blurred.
//
// The frames do not lie on the C stack: greenlet moves that away while a call is open, and others look
// through its frames meanwhile. A call beyond FRAMES_MAX open ones is not watched. The C stack holds a
// frame's address and serial number. A call that longjmp left never returns: its frame is given up when a
// call of the same greenlet begins at a place of the stack that the left call would still occupy.
// SPDX-License-Identifier: MIT
#include "leaks/call_frames.h"
#include "leaks/entries/table.h"
#include "leaks/leaks.h"
#include "objects/objects.h"
#include "trace/capi/capi.h"
#include "trace/record/convention.h"
#include "trace/record/record.h"
#include "trace/record/ring.h"

enum { ARGUMENTS_MAX = 12, WORDS_CHECKED = 16, FRAMES_MAX = 1 << 13 };

uint32_t ledger_depth;
static call_frame frames[FRAMES_MAX]; // the search leaves this extension's memory out
static uint32_t frames_used;
static call_frame *innermost, *unused; // borrowed: in `frames`
static uint64_t serials;

static void watch(call_frame *frame, PyObject *object, int relation, int argument) {
    if (!object || compat_is_immortal(object) || object == Py_None || frame->count == WATCHED_MAX) {
        return;
    }
    for (int i = 0; i < frame->count; i++) {
        if (frame->items[i].object == object) {
            frame->items[i].held += relation == LEDGER_ITSELF;
            return;
        }
    }
    frame->items[frame->count++] = (watched){.object = object,
                                             .count = compat_refcount(object),
                                             .relation = (uint8_t)relation,
                                             .argument = (uint8_t)argument,
                                             .held = relation == LEDGER_ITSELF,
                                             .header = (uint8_t)own_bytes_header(object)};
    frame->low = (uintptr_t)object < frame->low ? (uintptr_t)object : frame->low;
    frame->high = (uintptr_t)object > frame->high ? (uintptr_t)object : frame->high;
}

void ledger_frame_watch_itself(call_frame *frame, PyObject *object) {
    watch(frame, object, LEDGER_ITSELF, 0);
}

static void watch_behind(call_frame *frame, PyObject *capsule, int argument) {
    ledger_capsules_enter(frame, capsule);
    for (int i = 0; i < frame->behind_count; i++) {
        int before = frame->count;
        watch(frame, frame->behind[i].dtype, LEDGER_DTYPE, argument);
        if (frame->count > before) {
            frame->items[before].is_behind = 1;
        }
    }
}

static held_row held_by(PyObject *object) {
    PyObject *type = (PyObject *)Py_TYPE(object);
    const ndarray_fields *array = arrays_is(object) ? (ndarray_fields *)object : NULL;
    int is_heap = PyType_HasFeature(Py_TYPE(object), Py_TPFLAGS_HEAPTYPE);
    return (held_row){object,
                      {array ? array->descr : NULL, array ? array->base : NULL, is_heap ? type : NULL}};
}

static void watch_held(call_frame *frame, PyObject *object, int argument) {
    static const int relations[] = {LEDGER_DTYPE, LEDGER_BASE, LEDGER_TYPE};
    held_row row = held_by(object);
    if (!row.held[0] && !row.held[2]) { // no dtype means no base
        return;
    }
    for (int i = 0; i < 3; i++) {
        watch(frame, row.held[i], relations[i], argument);
    }
    for (int i = 0; i < frame->holder_count; i++) {
        if (frame->holders[i].holder == object) {
            return;
        }
    }
    if (frame->holder_count < HOLDERS_MAX) {
        frame->holders[frame->holder_count++] = row;
    }
}

void ledger_frame_watch(call_frame *frame, PyObject *object, int argument) {
    ledger_shared_given(frame, object);
    if (!object || PyModule_CheckExact(object) || PyType_Check(object)) {
        return;
    }
    int is_plain = PyLong_CheckExact(object) || PyUnicode_CheckExact(object) || PyFloat_CheckExact(object);
    if (!is_plain && PyModule_Check(object)) { // this check walks the bases of the type
        return;
    }
    watch(frame, object, LEDGER_ITSELF, argument);
    if (is_plain) { // most arguments; they refer to nothing
        return;
    }
    if (PyCapsule_CheckExact(object)) {
        watch_behind(frame, object, argument);
    }
    watch_held(frame, object, argument);
}

static void count_held(call_frame *frame, const PyObject *object, int change) {
    watched *item = ledger_frame_find(frame, object);
    if (item) {
        item->found += change;
    }
}

static void keep_fields(call_frame *frame, PyObject *self) {
    size_t bytes = (size_t)Py_TYPE(self)->tp_basicsize - sizeof(PyObject);
    frame->field_count = (int)Py_MIN(bytes / sizeof *frame->fields, FIELDS_MAX);
    frame->self = self;
    memcpy(frame->fields, self + 1, (size_t)frame->field_count * sizeof *frame->fields);
}

// What a constructor made holds the arguments that it kept.
void ledger_frame_adopt(call_frame *frame, PyObject *made) {
    if (!frame->self && compat_refcount(made) == 1 && !arrays_is(made)) {
        keep_fields(frame, made);
        memset(frame->fields, 0, sizeof frame->fields);
    }
}

int ledger_frame_has_self(const call_frame *frame) {
    return frame->self && !ledger_is_placeholder(frame->self) && compat_refcount(frame->self) > 0;
}

Py_ssize_t ledger_frame_gained(const call_frame *frame, const PyObject *object) {
    const uintptr_t *fields = ledger_frame_has_self(frame) ? (const uintptr_t *)(frame->self + 1) : NULL;
    Py_ssize_t gained = 0;
    for (int i = 0; fields && i < frame->field_count; i++) {
        gained += (fields[i] == (uintptr_t)object) - (frame->fields[i] == (uintptr_t)object);
    }
    return gained;
}

Py_ssize_t ledger_frames_released(const PyObject *object, Py_ssize_t most) {
    Py_ssize_t released = 0;
    for (const call_frame *frame = innermost; frame; frame = frame->outer) {
        released += Py_MAX(-ledger_frame_gained(frame, object), 0);
    }
    return released < most ? released + ledger_statics_released(object, most - released) : most;
}

// Accounts for references that fields took, and for those that fields and statics released.
static void count_kept(call_frame *frame, watched *item) {
    Py_ssize_t change = compat_refcount(item->object) - item->count - item->found;
    if (change > 0) {
        item->found += Py_MIN(Py_MAX(ledger_frame_gained(frame, item->object), 0), change);
    } else if (change < 0) {
        item->found -= ledger_frames_released(item->object, -change);
    }
}

// ndarray.__setstate__, .dtype = and .__class__ = change the dtype, base or class of an argument.
void ledger_frame_compare(call_frame *frame) {
    for (int i = 0; i < frame->holder_count; i++) {
        const held_row *before = &frame->holders[i];
        const watched *holder = ledger_frame_find(frame, before->holder);
        if (!holder || holder->died || ledger_is_placeholder(before->holder) ||
            compat_refcount(before->holder) <= 0) {
            continue;
        }
        held_row after = held_by(before->holder);
        for (int n = 0; n < 3; n++) {
            if (after.held[n] != before->held[n]) {
                count_held(frame, before->held[n], -1);
                count_held(frame, after.held[n], 1);
            }
        }
    }
    for (int i = 0; i < frame->count; i++) {
        watched *item = &frame->items[i];
        if ((item->relation == LEDGER_DTYPE || item->relation == LEDGER_BASE) && !item->died) {
            count_kept(frame, item);
        }
    }
}

static void watch_items(call_frame *frame, PyObject *const *items, Py_ssize_t count) {
    for (Py_ssize_t i = 0; i < count && i < ARGUMENTS_MAX; i++) {
        ledger_frame_watch(frame, items[i], (int)i + 1);
    }
}

// How many keyword arguments follow the positional ones.
static Py_ssize_t named(uintptr_t names) {
    return names && PyTuple_CheckExact((PyObject *)names) ? PyTuple_GET_SIZE((PyObject *)names) : 0;
}

static void watch_arguments(call_frame *frame, call_convention convention, const uintptr_t words[5]) {
    PyObject *first = (PyObject *)words[0], *second = (PyObject *)words[1]; // borrowed
    frame->is_method = convention != CALL_VECTOR && first && !PyModule_Check(first);
    if (convention != CALL_VECTOR) {
        ledger_frame_watch(frame, first, 0);
    }
    if (frame->is_method && !arrays_is(first) && !PyType_Check(first)) {
        keep_fields(frame, first);
    }
    switch (convention) {
    case CALL_VARARGS:
    case CALL_KEYWORDS:
    case CALL_INIT:
        if (second && PyTuple_Check(second)) {
            watch_items(frame, ((PyTupleObject *)second)->ob_item, PyTuple_GET_SIZE(second));
        }
        return;
    case CALL_FASTCALL:
        watch_items(frame, (PyObject *const *)words[1], (Py_ssize_t)words[2]);
        return;
    case CALL_FAST_NAMES:
        watch_items(frame, (PyObject *const *)words[1], (Py_ssize_t)words[2] + named(words[3]));
        return;
    case CALL_VECTOR:
        watch_items(frame, (PyObject *const *)words[1], calls_positional(words[2]) + named(words[3]));
        return;
    case CALL_METHOD:
        watch_items(frame, (PyObject *const *)words[2], (Py_ssize_t)words[3] + named(words[4]));
        return;
    case CALL_O:
    case CALL_SET:
    case CALL_OPERATOR:
        ledger_frame_watch(frame, second, 1);
        return;
    case CALL_PUT:
        ledger_frame_watch(frame, (PyObject *)words[2], 1);
        return;
    case CALL_ASSIGN:
        ledger_frame_watch(frame, second, 1);
        ledger_frame_watch(frame, (PyObject *)words[2], 2);
        return;
    default:
        return;
    }
}

UNSANITIZED void ledger_watch_freed(uintptr_t block, uintptr_t object) {
    const uintptr_t *words = (const uintptr_t *)block;
    uintptr_t stop = (block & ~(uintptr_t)4095) + 4096; // end unknown, but the page is mapped
    uint8_t lost = ledger_shared_freed(words, (stop - block) / sizeof *words);
    for (call_frame *frame = innermost; frame; frame = frame->outer) {
        for (int i = 0; i < frame->count; i++) {
            watched *item = &frame->items[i];
            uintptr_t address = (uintptr_t)item->object;
            if (address - block == item->header && !item->died) {
                item->died = address == object || ledger_enter(item->object, 0) != NULL;
            }
        }
        frame->shared_lost |= lost;
        for (int n = 0; n < WORDS_CHECKED && (uintptr_t)(words + n + 1) <= stop; n++) {
            if (words[n] < frame->low || words[n] > frame->high) {
                continue;
            }
            for (int i = 0; i < frame->count; i++) {
                frame->items[i].is_blurred |= words[n] == (uintptr_t)frame->items[i].object;
            }
        }
    }
}

void ledger_frame_place(ledger_touch *touch, uint32_t number) {
    running_place place = running_where_held();
    touch->code = place.code;
    touch->lasti = place.lasti;
    touch->method = number + 1;
}

ledger_entry *ledger_unbalanced(const ledger_imbalance *imbalance) {
    ledger_entry *entry = ledger_enter(imbalance->object, 0);
    if (!entry) {
        return NULL;
    }
    int fell = imbalance->change < 0;
    entry->balance += (int32_t)imbalance->change;
    entry->all_calls_fell = fell && entry->calls == entry->all_calls_fell ? entry->calls + 1 : 0;
    entry->calls++;
    entry->relation = imbalance->relation;
    entry->argument = imbalance->argument;
    entry->flags |= imbalance->is_blurred ? LEDGER_BLURRED : 0;
    int shown = (int)Py_MAX(-127, Py_MIN(127, imbalance->change));
    ledger_touch touch = {.role = 'B', .row = CAPI_ROW_COUNT, .delta = (int8_t)shown};
    ledger_frame_place(&touch, imbalance->number);
    ledger_add(entry, &touch);
    return entry;
}

int ledger_frames_watch(const PyObject *object) {
    call_frame *frame = innermost;
    while (frame && !ledger_frame_find(frame, object)) {
        frame = frame->outer;
    }
    return frame != NULL;
}

// Outer calls saw the change as well. A call that began later, in another greenlet or thread, saw a part of
// it.
void ledger_frame_charge(const call_frame *frame, const PyObject *object, Py_ssize_t change) {
    int is_outer = 0;
    for (call_frame *each = innermost; each; each = each->outer) {
        watched *item = each == frame ? NULL : ledger_frame_find(each, object);
        is_outer |= each == frame;
        if (item && is_outer) {
            item->count += change;
        } else if (item) {
            item->is_blurred = 1;
        }
    }
}

static void give_back(call_frame **place) {
    call_frame *frame = *place;
    *place = frame->outer;
    ledger_capsules_end(frame);
    frame->serial = 0;
    frame->outer = unused;
    unused = frame;
    ledger_depth--;
}

// Gives up the calls that longjmp left.
static void drop_left(const call_frame *next) {
    for (call_frame **at = &innermost; *at;) {
        const call_frame *frame = *at;
        int is_same = frame->thread == next->thread && frame->greenlet == next->greenlet;
        if (is_same && frame->stack <= next->stack) {
            give_back(at);
        } else {
            at = &(*at)->outer;
        }
    }
}

static call_frame *frame_take(void) {
    call_frame *frame = unused;
    if (!frame) {
        return frames_used < FRAMES_MAX ? &frames[frames_used++] : NULL;
    }
    unused = frame->outer;
    return frame;
}

void ledger_frames_wipe(void) {
    for (call_frame *frame = unused; frame; frame = frame->outer) {
        *frame = (call_frame){.outer = frame->outer};
    }
}

ledger_opened ledger_frame_enter(uint32_t number, call_convention convention, const uintptr_t words[5]) {
    call_frame *frame = frame_take();
    if (!frame) {
        return (ledger_opened){0};
    }
    greenlets_settle();
    frame->thread = (uintptr_t)compat_thread_unchecked();
    frame->stack = (uintptr_t)__builtin_frame_address(0);
    frame->greenlet = ring_here.greenlet;
    drop_left(frame);
    frame->count = frame->holder_count = frame->behind_count = frame->behind_left_out = 0;
    frame->field_count = frame->is_method = 0;
    frame->capsule = frame->self = frame->keywords = NULL;
    frame->number = number;
    frame->outer_method = ring_here.method;
    frame->low = UINTPTR_MAX;
    frame->high = 0;
    frame->serial = ++serials;
    memset(frame->given, 0, sizeof frame->given);
    watch_arguments(frame, convention, words);
    frame->outer = innermost;
    innermost = frame;
    ledger_depth++;
    ring_here.method = number + 1;
    return (ledger_opened){frame, frame->serial};
}

void ledger_frame_leave(call_frame *frame) {
    greenlets_settle();
    ring_here.method = frame->outer_method;
    for (call_frame **at = &innermost; *at; at = &(*at)->outer) {
        if (*at == frame) {
            give_back(at);
            return;
        }
    }
}

void ledger_frames_drop(void) {
    while (innermost) {
        give_back(&innermost);
    }
}
