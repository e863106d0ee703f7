// The fields of a method's object: what they held before the call, and hold after it.
//
// C code keeps objects in fields that tp_traverse need not report. A reference that a field drops, or passes
// to a stealing call, in a call of its object's method was its own. An object of the ledger that a field
// holds is watched like an argument: a method that takes one reference too many to it, or loses the old value
// of a field, is told by its name, not the call that made the object. What is right as a call returns is
// settled, with the object that holds it: leaks/instances.c sees that one die.
// SPDX-License-Identifier: MIT
#include "leaks/call_frames.h"
#include "leaks/instances.h"
#include "leaks/raw_memory/followed.h"
#include "memory/memory.h"
#include "trace/capi/capi.h"

enum { UNUSABLE = LEDGER_DEAD | LEDGER_LISTED | LEDGER_HELD };
enum { BLOCK_WORDS = 64, LINKS = 8 };

void ledger_fields_watch(call_frame *frame) {
    for (int i = 0; i < frame->field_count; i++) {
        const ledger_entry *entry = ledger_find(frame->fields[i]);
        PyObject *object = (PyObject *)frame->fields[i]; // borrowed
        int before = frame->count;
        if (!entry || entry->flags & UNUSABLE || !ledger_is_alive(entry) || PyType_Check(object) ||
            ledger_frame_find(frame, object)) {
            continue;
        }
        ledger_frame_watch_itself(frame, object);
        if (frame->count > before) {
            frame->items[before].is_field = 1;
            frame->items[before].held = 0;
        }
    }
}

void ledger_fields_compare(call_frame *frame) {
    for (int i = 0; i < frame->count; i++) {
        watched *item = &frame->items[i];
        if (item->is_field && !item->died) {
            item->found += ledger_frame_gained(frame, item->object);
        }
    }
}

static void settle(ledger_entry *entry, uint32_t number, const PyObject *holder) {
    ledger_touch touch = {.role = 'h', .row = CAPI_ROW_COUNT, .from = (uintptr_t)holder};
    ledger_frame_place(&touch, number);
    ledger_add(entry, &touch);
    instances_alive((uintptr_t)holder);
}

// The entry of an object that this call made; NULL if it is another, or has died.
static ledger_entry *new_entry(const PyObject *object) {
    ledger_entry *entry = ledger_find((uintptr_t)object);
    return entry && entry->flags & LEDGER_FRESH && !(entry->flags & (LEDGER_DEAD | LEDGER_LISTED)) ? entry
                                                                                                   : NULL;
}

// Without asking the kernel: the call has it, as its object or an argument.
static int is_in_call(call_frame *frame, PyObject *object) {
    const watched *item = ledger_frame_find(frame, object);
    return item && !item->is_field && !item->died;
}

// A new object that has one reference: of what holds it now. The field may lead to memory that is gone.
static void settle_field(call_frame *frame, PyObject *object, const PyObject *holder) {
    ledger_entry *entry = new_entry(object);
    if (entry && (is_in_call(frame, object) || ledger_is_alive(entry)) && compat_refcount(object) == 1) {
        settle(entry, frame->number, holder);
    }
}

// What fields hold that the call made, or set: who loses it later is another call.
static void settle_words(call_frame *frame, PyObject *holder, const uintptr_t *before, int limit) {
    PyObject *const *fields = (PyObject *const *)(holder + 1); // borrowed: perhaps no objects
    size_t bytes = (size_t)Py_TYPE(holder)->tp_basicsize - sizeof(PyObject);
    for (int i = 0; i < limit && (size_t)i < bytes / sizeof *fields; i++) {
        if (!before || (uintptr_t)fields[i] != before[i]) {
            settle_field(frame, fields[i], holder);
            if (before) { // a block of a new object is the business of the call that made both
                raw_memory_settle(fields[i]);
            }
        }
    }
}

void ledger_settle_result(call_frame *frame, PyObject *result) {
    ledger_entry *entry = new_entry(result);
    if (entry && (uintptr_t)Py_TYPE(result) == entry->type && compat_refcount(result) == 1) {
        settle(entry, frame->number, NULL);
        settle_words(frame, result, NULL, FIELDS_MAX);
    }
}

void ledger_settle_fields(call_frame *frame) {
    if (ledger_frame_has_self(frame)) {
        settle_words(frame, frame->self, frame->fields, frame->field_count);
    }
}

// Whether a block that a field points to, or one that this one points to, has the object's address: a table.
static int reaches(const uintptr_t *fields, int count, uintptr_t object, int level) {
    uintptr_t words[BLOCK_WORDS];
    for (int i = 0; i < count; i++) {
        int is_pointer = fields[i] && fields[i] % sizeof *fields == 0;
        int read = is_pointer ? (int)(memory_read(fields[i], words, sizeof words) / sizeof *words) : 0;
        for (int n = 0; n < read; n++) {
            if (words[n] == object) {
                return 1;
            }
        }
        if (level && reaches(words, Py_MIN(read, LINKS), object, level - 1)) {
            return 1;
        }
    }
    return 0;
}

void ledger_settle_kept(const call_frame *frame, ledger_entry *entry, Py_ssize_t change) {
    PyObject *object = (PyObject *)entry->address; // borrowed
    if (ledger_frame_gained(frame, object) == change) {
        settle(entry, frame->number, frame->self);
    } else if (change == 1 && ledger_frame_has_self(frame) && object != frame->self && // no owner of itself
               reaches((const uintptr_t *)(frame->self + 1), Py_MIN(frame->field_count, LINKS),
                       entry->address, 1)) {
        settle(entry, frame->number, NULL);
    }
}
