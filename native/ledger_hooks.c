// The hooks of the ledger: rows of capi.def by which references are made, lent, taken or given back.
//
// Each row gives a function of the row's own signature, as in hooks.c; it notes, by the row's columns "owns"
// and "...", what became of each object, and where the caller stands. No ring is written and no clock is
// read. Rows that only look (PyLong_AsLong) have no hook here: their slots stay as they are.
//
// A call without the GIL may not touch the ledger: it is noted as a fault. If the thread has let the GIL go
// (Py_BEGIN_ALLOW_THREADS), it is taken for the length of the call, so that the process outlives it; a thread
// that Python does not know goes on as it came.
#define INSPECTOR_PLAIN_NAMES
#include "ledger.h"

#include "hooks.h"
#include "ledger_views.h"

#include "capi_failures.h"

typedef struct {
    const char *effects; // static text: a letter a parameter
    void *const *where;  // borrowed: where the parameters are
    uintptr_t from;
    uint32_t slot;
    uint16_t row;
    uint8_t is_quiet, took_gil, gave_none;
    PyGILState_STATE gil;
} noted_call;

static void note(const noted_call *call, PyObject *object, char role, Py_ssize_t given) {
    ledger_entry *entry = object ? ledger_enter(object, given) : NULL;
    if (!entry) {
        return;
    }
    running_place place = running_where();
    ledger_touch touch = {.from = call->from, .slot = call->slot, .row = call->row, .role = (uint8_t)role};
    touch.code = place.code;
    touch.lasti = place.lasti;
    touch.method = ledger_method();
    ledger_add(entry, &touch);
    if (role == '+' || role == 'S' || role == 's') {
        entry->flags |= LEDGER_STORED;
    } else if (role == 'n' || role == '=') {
        ledger_views_look(object);
    }
}

static PyObject *word_at(const noted_call *call, int i) { return *(PyObject *const *)call->where[i]; }

// What a call takes is noted before it: afterwards the object may be gone.
static void before(noted_call *call) {
    call->is_quiet = !ledger_is_open;
    if (call->is_quiet) {
        return;
    }
    if (!running_has_gil()) {
        call->is_quiet = 1;
        ledger_fault_add(&(ledger_fault){.kind = LEDGER_WITHOUT_GIL,
                                         .from = call->from,
                                         .slot = call->slot,
                                         .row = call->row,
                                         .method = ledger_method()});
        if (PyGILState_GetThisThreadState()) {
            call->gil = PyGILState_Ensure();
            call->took_gil = 1;
        }
        return;
    }
    if (call->row == capi_PyObject_Init) { // raw memory: an object only afterwards
        return;
    }
    for (int i = 0; call->effects[i]; i++) {
        char role = call->effects[i];
        if (role == 'S' || role == 's' || role == 'x' || role == '+') {
            note(call, word_at(call, i), role, 0);
        } else if (role == '-' && call->row == capi_PyBuffer_Release) {
            note(call, (*(Py_buffer *const *)call->where[i])->obj, role, 0);
        } else if (role == '-') {
            note(call, word_at(call, i), role, 0);
        }
    }
}

// A dead object whose block stays in a list of its type: nobody frees it.
static void note_listed(PyObject *object) {
    ledger_entry *entry = ledger_find((uintptr_t)object);
    if (entry && !(entry->flags & LEDGER_DEAD)) {
        entry->flags |= LEDGER_LISTED;
    }
}

static void after(const noted_call *call, PyObject *result, char role, int failed) {
    if (call->took_gil) {
        PyGILState_Release(call->gil);
    }
    if (call->is_quiet || !ledger_is_open) {
        return;
    }
    for (int i = 0; call->effects[i]; i++) {
        if (call->effects[i] == 'x') {
            note_listed(word_at(call, i));
        }
        char role = call->effects[i];
        int is_stored = !failed && (role == '=' || role == '*' || (role == 'o' && !call->gave_none));
        PyObject **stored = is_stored ? (PyObject **)word_at(call, i) : NULL;
        if (stored) { // what was resized in place keeps its history
            int is_new = role == '=' || (role == '*' && !ledger_find((uintptr_t)*stored));
            note(call, *stored, role, is_new);
        }
    }
    if (!failed && role) {
        role = call->row == capi_PyObject_Init ? 'n' : role;
        note(call, result, role, role == 'n');
    }
}

#define ADDRESSES_0()
#define ADDRESSES_1(a) &a,
#define ADDRESSES_2(a, b) &a, &b,
#define ADDRESSES_3(a, b, c) &a, &b, &c,
#define ADDRESSES_4(a, b, c, d) &a, &b, &c, &d,
#define ADDRESSES_5(a, b, c, d, e) &a, &b, &c, &d, &e,
#define ADDRESSES_6(a, b, c, d, e, f) &a, &b, &c, &d, &e, &f,
#define ADDRESSES_7(a, b, c, d, e, f, g) &a, &b, &c, &d, &e, &f, &g,
#define ADDRESSES_8(a, b, c, d, e, f, g, h) &a, &b, &c, &d, &e, &f, &g, &h,
#define ADDRESSES_9(a, b, c, d, e, f, g, h, i) &a, &b, &c, &d, &e, &f, &g, &h, &i,
#define COUNTED(_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, chosen, ...) ADDRESSES_##chosen
#define ADDRESSES(...) COUNTED(0, ##__VA_ARGS__, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0)(__VA_ARGS__)

#define ROLE_NEW 'n'
#define ROLE_BORROWED 'b'
#define ROLE_SCALAR 0
#define ROLE_STATUS 0
#define ROLE_POINTER 0
#define ROLE_MEMORY 0
#define ROLE_NOTHING 0
#define OBJECT_NEW(result) ((PyObject *)(uintptr_t)(result))
#define OBJECT_BORROWED(result) ((PyObject *)(uintptr_t)(result))
#define OBJECT_SCALAR(result) NULL
#define OBJECT_STATUS(result) NULL
#define OBJECT_POINTER(result) NULL
#define OBJECT_MEMORY(result) NULL
#define OBJECT_NOTHING(result) NULL
// A status of 0 where a borrowed reference would be stored: there is none any more, the variable is as it
// was.
#define GAVE_NONE_NEW(result) 0
#define GAVE_NONE_BORROWED(result) 0
#define GAVE_NONE_SCALAR(result) 0
#define GAVE_NONE_STATUS(result) ((result) == 0)
#define GAVE_NONE_POINTER(result) 0
#define GAVE_NONE_MEMORY(result) 0
#define GAVE_NONE_NOTHING(result) 0

#define BEGIN(name, args, effects) \
    void *const where[] = {ADDRESSES args NULL}; \
    noted_call call = {effects, \
                       where, \
                       (uintptr_t)__builtin_return_address(0), \
                       ring_here.slot, \
                       capi_##name, \
                       0, \
                       0, \
                       0, \
                       PyGILState_UNLOCKED}; \
    before(&call)

#define CAPI(name, type, params, args, obj, val, aux, keep, fails, owns, effects, direction, text) \
    static type ledger_##name params { \
        BEGIN(name, args, effects); \
        type result = ((type(*) params)got_originals[call.slot])args; \
        int failed = call.took_gil ? 0 : FAILS_##fails(result); \
        call.gave_none = GAVE_NONE_##owns(result); \
        after(&call, OBJECT_##owns(result), ROLE_##owns, failed); \
        return result; \
    }
#define CAPI_VOID(name, params, args, obj, val, aux, keep, effects, direction, text) \
    static void ledger_##name params { \
        BEGIN(name, args, effects); \
        ((void(*) params)got_originals[call.slot]) args; \
        after(&call, NULL, 0, 0); \
    }
#define CAPI_VA(...)
#define CAPI_ENTRY(...)
#include "capi.def"
#undef CAPI
#undef CAPI_VOID
#undef CAPI_VA
#undef CAPI_ENTRY

typedef struct {
    void *hook;
    const char *effects;
    char role;
} hook_row;

#define CAPI(name, type, params, args, obj, val, aux, keep, fails, owns, effects, direction, text) \
    [capi_##name] = {ledger_##name, effects, ROLE_##owns},
#define CAPI_VOID(name, params, args, obj, val, aux, keep, effects, direction, text) \
    [capi_##name] = {ledger_##name, effects, 0},
#define CAPI_VA(name, ...) [capi_##name] = {NULL, "", 0},
#define CAPI_ENTRY(name, ...) [capi_##name] = {NULL, "", 0},
static const hook_row hooks[CAPI_ROW_COUNT] = {
#include "capi.def"
};
#undef CAPI
#undef CAPI_VOID
#undef CAPI_VA
#undef CAPI_ENTRY

// Whether a row moves a reference. Errors and iteration states come and go within CPython's own code.
static int moves(const hook_row *row) {
    return row->role || strspn(row->effects, ".") < strlen(row->effects);
}

void *ledger_hook(uint16_t row) {
    if (row == CAPI_NO_ROW || row == capi_PyErr_Occurred) {
        return NULL;
    }
    void *written = hooks_va_find(row, GOT_RECORD);
    if (written) {
        return written == (void *)thunks_entry ? NULL : written;
    }
    return hooks[row].hook && moves(&hooks[row]) ? hooks[row].hook : NULL;
}

void ledger_note_result(uint32_t slot, uint16_t row, uintptr_t from, PyObject *result) {
    if (ledger_is_open && result && running_has_gil()) {
        note(&(noted_call){.from = from, .slot = slot, .row = row}, result, 'n', 1);
    }
}
