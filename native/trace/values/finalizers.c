// Destructors of capsules and finalizers of objects, as events: what released native memory, when, how long.
//
// A capsule's destructor pointer lies in the capsule, which may outlive the trace, so it is not replaced.
// PyCapsule's own tp_dealloc, which calls it, is. The capsule's struct is read beforehand
// (Objects/capsule.c), as it is freed afterwards. Capsules without a destructor are not recorded. tp_finalize
// is replaced in the types of the chosen modules (trace/arm/type_slots.c).
// SPDX-License-Identifier: MIT
#include "trace/record/interned.h"
#include "trace/record/ring.h"
#include "trace/record/sites.h"
#include "trace/values/call_values.h"

typedef struct {
    PyObject_HEAD void *pointer;
    const char *name;
    void *context;
    PyCapsule_Destructor destructor;
} capsule_words;

enum { NAME_KEPT = 24 };

static void write_name(const event *record, const char *name, size_t length) {
    event text = {.kind = EVENT_TEXT, .flags = EVENT_FLAG_CONTINUATION, .depth = record->depth};
    text.duration = (uint32_t)length;
    memcpy(&text.obj, name, length < NAME_KEPT ? length : NAME_KEPT);
    ring_record(&text);
}

// Copies the capsule's name, cut to NAME_KEPT; returns its length, NAME_KEPT + 1 where it was cut.
static size_t copy_name(const capsule_words *capsule, char *name) {
    if (!capsule->name) {
        return 0;
    }
    const size_t length = strnlen(capsule->name, NAME_KEPT + 1);
    memcpy(name, capsule->name, Py_MIN(length, NAME_KEPT));
    return length;
}

void finalize_enter(finalize_call original, PyObject *object, int kind, uint32_t number) {
    const capsule_words *capsule = PyCapsule_CheckExact(object) ? (const capsule_words *)object : NULL;
    char name[NAME_KEPT + 1] = "";
    if (capsule && !capsule->destructor) {
        original(object);
        return;
    }
    event record = {.kind = (uint8_t)kind, .slot = number, .obj = (uint64_t)(uintptr_t)object};
    record.flags = EVENT_FLAG_DEEP;
    record.refs_delta = EVENT_REFS_GONE;
    record.type = interned_id((PyObject *)Py_TYPE(object));
    size_t length = 0;
    if (capsule) {
        record.aux = (uint64_t)(uintptr_t)capsule->destructor;
        length = copy_name(capsule, name);
    }
    sites_locate(&record);
    record.start = ring_start_ticks();
    {
        const uint32_t _entered_ depth = ring_enter();
        record.depth = ring_depth_byte(depth);
        original(object);
    }
    ring_stop_ticks(&record);
    if (ring_record(&record) && capsule) {
        write_name(&record, name, length);
    }
}
