// Calls from Python while the ledger is open: the counts of the arguments before and after.
//
// "Reference Count Details" of CPython's manual, read backwards: who only borrows an argument leaves its
// count as it was, but for the references found in the result. The same goes for what an argument holds one
// level down and C code likes to steal: the dtype and the base of an array, the class of an instance. A
// difference is no verdict yet: it is noted as a balance, and who holds the object is asked at the end.
//
// What protects the process: an argument that is left with no more references than the call itself holds
// would die as soon as the call is over. If it was released too often, somebody still points at it; so it
// gets one reference of the ledger's (LEDGER_HELD), which is given back at the end if nobody does. Nothing
// honest can notice: nobody else has the object.
//
// A block that is freed during a call and holds the address of something watched may have held it: the
// balance of such an object is marked as blurred.
#include "ledger.h"

#include "hooks.h"

enum { WATCHED_MAX = 24, ARGUMENTS_MAX = 12, WORDS_LOOKED_AT = 16, FOLLOWED = 3 };

typedef struct {
    PyObject *object; // borrowed: as long as the caller has it
    Py_ssize_t count;
    Py_ssize_t found; // in the result
    uint8_t relation, argument, held, is_blurred, died, header;
} watched;

typedef struct call_frame {
    watched items[WATCHED_MAX];
    int count;
    uint32_t number, outer_method;
    uintptr_t low, high;      // addresses watched
    struct call_frame *outer; // borrowed: of this thread or another that waits for the GIL
} call_frame;

uint32_t ledger_depth;
static call_frame *innermost; // borrowed: on a C stack
static __thread uint32_t method_now __attribute__((tls_model("initial-exec")));

uint32_t ledger_method(void) { return method_now; }

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
                                             .count = Py_REFCNT(object),
                                             .relation = (uint8_t)relation,
                                             .argument = (uint8_t)argument,
                                             .held = relation == LEDGER_ITSELF,
                                             .header = (uint8_t)ledger_header_bytes(object)};
    frame->low = (uintptr_t)object < frame->low ? (uintptr_t)object : frame->low;
    frame->high = (uintptr_t)object > frame->high ? (uintptr_t)object : frame->high;
}

static void watch_argument(call_frame *frame, PyObject *object, int argument) {
    if (!object || PyModule_Check(object) || PyType_Check(object)) {
        return;
    }
    watch(frame, object, LEDGER_ITSELF, argument);
    if (arrays_is(object)) {
        watch(frame, ((ndarray_fields *)object)->descr, LEDGER_DTYPE, argument);
        watch(frame, ((ndarray_fields *)object)->base, LEDGER_BASE, argument);
    }
    if (PyType_HasFeature(Py_TYPE(object), Py_TPFLAGS_HEAPTYPE)) {
        watch(frame, (PyObject *)Py_TYPE(object), LEDGER_TYPE, argument);
    }
}

static void watch_items(call_frame *frame, PyObject *const *items, Py_ssize_t count) {
    for (Py_ssize_t i = 0; i < count && i < ARGUMENTS_MAX; i++) {
        watch_argument(frame, items[i], (int)i + 1);
    }
}

static void watch_arguments(call_frame *frame, call_convention convention, const uintptr_t words[5]) {
    PyObject *first = (PyObject *)words[0], *second = (PyObject *)words[1]; // borrowed
    if (convention != CALL_VECTOR) {
        watch_argument(frame, first, 0);
    }
    switch (convention) {
    case CALL_VARARGS:
    case CALL_KEYWORDS:
        if (second && PyTuple_Check(second)) {
            watch_items(frame, ((PyTupleObject *)second)->ob_item, PyTuple_GET_SIZE(second));
        }
        return;
    case CALL_FASTCALL:
    case CALL_FAST_NAMES:
        watch_items(frame, (PyObject *const *)words[1], (Py_ssize_t)words[2]);
        return;
    case CALL_VECTOR:
        watch_items(frame, (PyObject *const *)words[1], PyVectorcall_NARGS(words[2]));
        return;
    case CALL_METHOD:
        watch_items(frame, (PyObject *const *)words[2], (Py_ssize_t)words[3]);
        return;
    case CALL_O:
        watch_argument(frame, second, 1);
        return;
    default:
        return;
    }
}

void ledger_watch_freed(uintptr_t block, uintptr_t object) {
    const uintptr_t *words = (const uintptr_t *)block;
    uintptr_t stop = (block & ~(uintptr_t)4095) + 4096; // the block's end is not known, its page is mapped
    for (call_frame *frame = innermost; frame; frame = frame->outer) {
        for (int i = 0; i < frame->count; i++) {
            watched *one = &frame->items[i];
            uintptr_t address = (uintptr_t)one->object;
            if (address - block == one->header && !one->died) {
                one->died = address == object || ledger_enter(one->object, 0) != NULL;
            }
        }
        for (int n = 0; n < WORDS_LOOKED_AT && (uintptr_t)(words + n + 1) <= stop; n++) {
            if (words[n] < frame->low || words[n] > frame->high) {
                continue;
            }
            for (int i = 0; i < frame->count; i++) {
                frame->items[i].is_blurred |= words[n] == (uintptr_t)frame->items[i].object;
            }
        }
    }
}

typedef struct {
    call_frame *frame; // borrowed
    int depth;
} result_walk;

// A child that only its holder has was made by the call: what it refers to is the result's too.
static int visit_result(PyObject *object, void *argument) {
    result_walk *walk = argument;
    for (int i = 0; i < walk->frame->count; i++) {
        if (walk->frame->items[i].object == object) {
            walk->frame->items[i].found++;
            return 0;
        }
    }
    if (walk->depth < FOLLOWED && Py_REFCNT(object) == 1) {
        result_walk inner = {walk->frame, walk->depth + 1};
        if (edges_has(object)) {
            edges_visit(object, visit_result, &inner);
        } else if (PyType_HasFeature(Py_TYPE(object), Py_TPFLAGS_HEAPTYPE)) {
            visit_result((PyObject *)Py_TYPE(object), &inner);
        }
    }
    return 0;
}

static void place_touch(ledger_touch *touch, uint32_t number) {
    running_place place = running_where();
    touch->code = place.code;
    touch->lasti = place.lasti;
    touch->method = number + 1;
}

static void fault(const call_frame *frame, int kind, const PyObject *object) {
    running_place place = running_where();
    ledger_fault_add(&(ledger_fault){.kind = (uint8_t)kind,
                                     .address = (uintptr_t)object,
                                     .method = frame->number + 1,
                                     .row = CAPI_ROW_COUNT,
                                     .code = place.code,
                                     .lasti = place.lasti});
}

static void weigh(call_frame *frame, watched *one) {
    if (one->died || ledger_is_placeholder(one->object) || Py_REFCNT(one->object) <= 0) {
        fault(frame, LEDGER_DIED_IN_CALL, one->object);
        return;
    }
    Py_ssize_t after = Py_REFCNT(one->object), change = after - one->count - one->found;
    if (!change) {
        return;
    }
    ledger_entry *entry = ledger_enter(one->object, 0);
    if (!entry) {
        return;
    }
    entry->balance += (int32_t)change;
    entry->all_calls_fell = change < 0 && entry->calls == entry->all_calls_fell ? entry->calls + 1 : 0;
    entry->calls++;
    entry->relation = one->relation;
    entry->argument = one->argument;
    entry->flags |= one->is_blurred ? LEDGER_BLURRED : 0;
    ledger_touch touch = {.role = 'B',
                          .row = CAPI_ROW_COUNT,
                          .delta = (int8_t)(change > 127    ? 127
                                            : change < -127 ? -127
                                                            : change)};
    place_touch(&touch, frame->number);
    ledger_add(entry, &touch);
    if (change < 0 && after <= one->held && !(entry->flags & LEDGER_HELD)) {
        Py_INCREF(one->object); // the ledger's, until it is closed
        entry->flags |= LEDGER_HELD;
    }
}

// What a call returns was made by it, or had the references that it has now but for one.
static void note_result(PyObject *result, uint32_t number) {
    int is_number = PyLong_CheckExact(result) || PyFloat_CheckExact(result); // too many, and too cheap
    ledger_entry *entry = is_number || ledger_find((uintptr_t)result) ? NULL : ledger_enter(result, 1);
    if (entry) {
        ledger_touch touch = {.role = 'r', .row = CAPI_ROW_COUNT};
        place_touch(&touch, number);
        ledger_add(entry, &touch);
    }
}

static void end(call_frame **place) {
    call_frame *frame = *place;
    for (call_frame **at = &innermost; *at; at = &(*at)->outer) {
        if (*at == frame) {
            *at = frame->outer;
            break;
        }
    }
    method_now = frame->outer_method;
    if (--ledger_depth == 0 && ledger_is_open) {
        ledger_frees_settle();
    }
}

uintptr_t ledger_call(const ledger_called *called, const uintptr_t words[5]) {
    call_frame frame = {.count = 0,
                        .number = called->number,
                        .low = UINTPTR_MAX,
                        .outer = innermost,
                        .outer_method = method_now};
    watch_arguments(&frame, called->convention, words);
    // Given back on the way of a C++ exception too.
    call_frame *given_back __attribute__((cleanup(end))) = &frame;
    (void)given_back;
    innermost = &frame;
    ledger_depth++;
    method_now = called->number + 1;
    uintptr_t result = called->original(words[0], words[1], words[2], words[3], words[4]);
    if (!ledger_is_open) {
        return result;
    }
    if (result) {
        visit_result((PyObject *)result, &(result_walk){&frame, 0});
        note_result((PyObject *)result, called->number);
    }
    int failed = PyErr_Occurred() != NULL;
    if (failed == (result != 0)) {
        fault(&frame, result ? LEDGER_RESULT_WITH_EXCEPTION : LEDGER_NULL_WITHOUT_EXCEPTION, NULL);
        if (result) { // CPython checks not every call: it would come up somewhere else
            PyErr_Clear();
        }
    }
    for (int i = 0; i < frame.count; i++) {
        weigh(&frame, &frame.items[i]);
    }
    return result;
}
