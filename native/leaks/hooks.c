// The hooks of the ledger: rows of trace/capi/capi.def that create, lend, steal or release references.
//
// Each row generates a function with the row's own signature, as in trace/capi/hooks.c. It notes what
// happened to each object, by the columns "owns" and "...", and the return address of the caller. It writes
// no ring and reads no clock. Rows that move no reference (PyLong_AsLong) have no hook here.
// SPDX-License-Identifier: MIT
#define INSPECTOR_PLAIN_NAMES
#include "trace/capi/hooks.h"
#include "leaks/leaks.h"
#include "trace/capi/failures.h"
#include "trace/record/ring.h"

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
#define ADDRESSES_10(a, b, c, d, e, f, g, h, i, j) &a, &b, &c, &d, &e, &f, &g, &h, &i, &j,
#define COUNTED(_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, chosen, ...) ADDRESSES_##chosen
#define ADDRESSES(...) COUNTED(0, ##__VA_ARGS__, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0)(__VA_ARGS__)

enum { ROLE_NEW = 'n', ROLE_BORROWED = 'b', ROLE_MEMORY = 'm' };
enum { ROLE_SCALAR, ROLE_STATUS = 0, ROLE_POINTER = 0, ROLE_NOTHING = 0 };
#define OBJECT_NEW(result) ((PyObject *)(uintptr_t)(result))
#define OBJECT_BORROWED(result) ((PyObject *)(uintptr_t)(result))
#define OBJECT_SCALAR(result) NULL
#define OBJECT_STATUS(result) NULL
#define OBJECT_POINTER(result) NULL
#define OBJECT_MEMORY(result) ((PyObject *)(uintptr_t)(result)) // not an object: the address of the memory
#define OBJECT_NOTHING(result) NULL
// A status of 0 where a borrowed reference would be stored: nothing was stored, the variable is unchanged.
#define GAVE_NONE_NEW(result) 0
#define GAVE_NONE_BORROWED(result) 0
#define GAVE_NONE_SCALAR(result) 0
#define GAVE_NONE_STATUS(result) ((result) == 0)
#define GAVE_NONE_POINTER(result) 0
#define GAVE_NONE_MEMORY(result) 0
#define GAVE_NONE_NOTHING(result) 0

#define BEGIN(name, args, letters, letter) \
    void *const addresses[] = {ADDRESSES args NULL}; \
    noted_call call = {.effects = letters, \
                       .where = addresses, \
                       .from = (uintptr_t)__builtin_return_address(0), \
                       .slot = ring_here.slot, \
                       .row = capi_##name, \
                       .role = letter, \
                       .gil = PyGILState_UNLOCKED}; \
    ledger_note_before(&call)

#define CAPI(name, type, params, args, obj, val, aux, keep, fails, owns, effects, direction, text) \
    static type ledger_##name params { \
        BEGIN(name, args, effects, ROLE_##owns); \
        type result = ((type(*) params)got_words_of[call.slot].original)args; \
        int failed = call.took_gil ? 0 : FAILS_##fails(result); \
        call.gave_none = GAVE_NONE_##owns(result); \
        ledger_note_after(&call, OBJECT_##owns(result), ROLE_##owns, failed); \
        return result; \
    }
#define CAPI_VOID(name, params, args, obj, val, aux, keep, effects, direction, text) \
    static void ledger_##name params { \
        BEGIN(name, args, effects, 0); \
        ((void(*) params)got_words_of[call.slot].original) args; \
        ledger_note_after(&call, NULL, 0, 0); \
    }
#include "trace/capi/capi.def"

typedef struct {
    void *hook;
    const char *effects;
    char role;
} hook_row;

#define CAPI(name, type, params, args, obj, val, aux, keep, fails, owns, effects, direction, text) \
    [capi_##name] = {ledger_##name, effects, ROLE_##owns},
#define CAPI_VOID(name, params, args, obj, val, aux, keep, effects, direction, text) \
    [capi_##name] = {ledger_##name, effects, 0},
static const hook_row hooks[CAPI_ROW_COUNT] = {
#include "trace/capi/capi.def"
};

// Whether a row moves a reference. PyErr_Occurred and iterator state stay inside CPython.
static int moves(const hook_row *row) {
    return row->role || strspn(row->effects, ".") < strlen(row->effects);
}

void *ledger_hook(uint16_t row) {
    if (row == CAPI_NO_ROW || row == capi_PyErr_Occurred) {
        return NULL;
    }
    void *written = hooks_va_find(row, GOT_RECORD);
    if (written) {
        return written == (void *)trampolines_entry ? NULL : written;
    }
    return hooks[row].hook && moves(&hooks[row]) ? hooks[row].hook : NULL;
}
