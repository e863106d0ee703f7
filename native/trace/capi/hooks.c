// The hooks, their table and their ids, expanded from the rows of capi.def.
//
// Each row gives two functions with the row's own signature, hook_record_<name> and hook_deep_<name>; the
// slot's `target` points at the one that runs. The slot's `original` is the previous function, so a second
// tracer's hook stays in the chain, and a build for an older Python needs no symbols of a newer one.
// SPDX-License-Identifier: MIT
#define INSPECTOR_PLAIN_NAMES
#include "trace/capi/hooks.h"
#include "trace/capi/failures.h"
#include "trace/capi/foreign_calls.h"
#include "trace/record/ring.h"
#include "trace/values/call_values.h"

#define NO_TEXT
#define TEXT(start, length) hook_text(&call, start, length)
#define BUFFER(view) hook_buffer(&call, view)

#define BEFORE_KEPT(obj) (obj)
#define BEFORE_GONE(obj) (obj)
#define BEFORE_MADE(obj) NULL
#define BEFORE_LENT(obj) NULL
#define BEFORE_OUTPUT(obj) NULL
#define BEFORE_NONE(obj) NULL
enum { KEPT, GONE, NONE, MADE, LENT, OUTPUT };
enum { NEW, BORROWED, SCALAR, STATUS, POINTER, MEMORY, NOTHING };

// A call of a Python function is recorded as a callback, with more columns.
#define IS_BRIEF(deep, object) (!(deep) && __builtin_strcmp(#object, "callable") != 0)
#define IS_NUMPYS(name) (__builtin_strncmp(#name, "PyArray_", 8) == 0)
#define FINISH(deep, name, object, value, second, keep, failed, owned, text, losses) \
    if (IS_BRIEF(deep, object)) { \
        if (hook_record(&call, (uint64_t)(object), HOOK_WORD(value), HOOK_WORD(second), capi_##name, failed, \
                        owned)) { \
            losses; \
        } \
        ring_exit((uint32_t)(call.at >> 32)); \
    } else { \
        uint16_t outcome = (uint16_t)((failed) ? EVENT_FLAG_ERROR : (owned)); \
        event *record = hook_open(&call, capi_##name, outcome); \
        if (record) { \
            record->obj = (uint64_t)(object); \
            record->val = HOOK_WORD(value); \
            record->aux = HOOK_WORD(second); \
            if (deep) { \
                hook_deep(record, &call, (PyObject *)(object), keep >= MADE, keep == GONE); \
            } else { \
                hook_plain(record); \
            } \
            if (__builtin_strcmp(#object, "callable") == 0) { \
                hook_callback(record, (PyObject *)(object)); \
            } \
            ring_commit(); \
            if (deep) { \
                text; \
                stacks_note(call.slot, ring_depth_byte(call.depth)); \
            } \
            losses; \
        } \
        ring_exit(call.depth); \
    }

#define HOOK(deep, grade, name, type, params, args, object, value, second, keep, fails, owns, text) \
    static type hook_##grade##_##name params { \
        hook_call call = hook_begin(deep, (PyObject *)BEFORE_##keep(object)); \
        type result = ((type(*) params)got_words_of[call.slot].original)args; \
        int failed = FAILS_##fails(result); \
        FINISH(deep, name, object, value, second, keep, failed, owns == NEW ? EVENT_FLAG_NEW : 0, text, \
               if (HOOK_LOSES(name) && !failed) hook_lost(&call, (PyObject *)(object), HOOK_LOSES(name), \
                                                          &result, sizeof result, HOOK_WORD(second)); \
               if (IS_NUMPYS(name) && !failed) hook_array(&call, capi_##name, (PyObject *)(object), \
                                                          HOOK_WORD(value), (const void *)&result)); \
        return result; \
    }
#define CAPI(name, type, params, args, obj, val, aux, keep, fails, owns, effects, direction, text) \
    HOOK(0, record, name, type, params, args, obj, val, aux, keep, fails, owns, NO_TEXT) \
    HOOK(1, deep, name, type, params, args, obj, val, aux, keep, fails, owns, text)

// Without a result the words are read before the call, which may free their memory; except outputs.
#define EARLY(keep, value) (keep == OUTPUT ? 0 : HOOK_WORD(value))
#define LATE(keep, value, early) (keep == OUTPUT ? HOOK_WORD(value) : early)
#define HOOK_VOID(deep, grade, name, params, args, object, value, second, keep, text) \
    static void hook_##grade##_##name params { \
        uint64_t obj_word = EARLY(keep, object), val_word = EARLY(keep, value); \
        uint64_t aux_word = EARLY(keep, second); \
        hook_call call = hook_begin(deep, (PyObject *)BEFORE_##keep((PyObject *)obj_word)); \
        ((void(*) params)got_words_of[call.slot].original) args; \
        FINISH(deep, name, LATE(keep, object, obj_word), LATE(keep, value, val_word), \
               LATE(keep, second, aux_word), keep, 0, 0, text, (void)0); \
    }
#define CAPI_VOID(name, params, args, obj, val, aux, keep, effects, direction, text) \
    HOOK_VOID(0, record, name, params, args, obj, val, aux, keep, NO_TEXT) \
    HOOK_VOID(1, deep, name, params, args, obj, val, aux, keep, text)

#include "trace/capi/capi.def"

#define CAPI(name, ...) [capi_##name] = {hook_record_##name, hook_deep_##name},
#define CAPI_VOID(name, ...) [capi_##name] = {hook_record_##name, hook_deep_##name},
#define ENTRY_CALLED trampolines_entry
#define ENTRY_RELEASED trampolines_released
#define ENTRY_TAKEN trampolines_taken
#define ENTRY_SWAPPED trampolines_entry
#define CAPI_ENTRY(name, type, params, says) [capi_##name] = {ENTRY_##says, ENTRY_##says},
static void *const hooks[CAPI_ROW_COUNT][2] = {
#include "trace/capi/capi.def"
};

// What a call does with the GIL: 1 + EVENT_GIL's func; 0: keeps it.
enum { CALLED, RELEASED, TAKEN, SWAPPED };
static const uint8_t entry_says[CAPI_ROW_COUNT] = {
#define CAPI_ENTRY(name, type, params, says) [capi_##name] = says,
#include "trace/capi/capi.def"
};

// What each row moves: column `direction`.
enum { TO_C, TO_PYTHON, CONTAINER, CALLS, BUFFERS, LIFETIME, ERRORS, GIL, QUESTION, UPKEEP };
static const uint8_t moves[CAPI_ROW_COUNT] = {
#define CAPI(name, type, params, args, obj, val, aux, keep, fails, owns, effects, direction, text) \
    [capi_##name] = direction,
#define CAPI_VOID(name, params, args, obj, val, aux, keep, effects, direction, text) \
    [capi_##name] = direction,
#define CAPI_VA(name, type, params, fails, owns, direction) [capi_##name] = direction,
#define CAPI_ENTRY(name, ...) [capi_##name] = GIL,
#include "trace/capi/capi.def"
};

int capi_is_counted(uint16_t row) {
    return row == CAPI_NO_ROW || (row < CAPI_ROW_COUNT && moves[row] >= QUESTION);
}

void *capi_hook(uint16_t row, got_grade grade) {
    if (grade == GOT_LEDGER) {
        return capi_ledger_of.hook(row);
    }
    if (grade == GOT_BORDER && (row == CAPI_NO_ROW || !(entry_says[row] || capi_calls(row)))) {
        return NULL;
    }
    if (row == CAPI_NO_ROW) {
        return trampolines_named;
    }
    void *written = hooks_va_find(row, grade);
    return written ? written : hooks[row][grade == GOT_DEEP];
}

// Records a call as it begins. It may lack the GIL and may never return, so no object is read.
static void *note(const uint64_t *words) {
    uint32_t slot = ring_here.slot;
    uint16_t row = got_rows[slot];
    uint8_t says = row == CAPI_NO_ROW ? CALLED : entry_says[row];
    if (says == RELEASED && foreign_open) {
        foreign_leaves_python();
    }
    greenlets_settle();
    event record = {.start = ring_start_ticks(), .obj = words[0], .val = words[1], .aux = words[2]};
    record.slot = slot;
    record.func = says == CALLED ? row : says - 1u;
    record.kind = says != CALLED ? EVENT_GIL : row == CAPI_NO_ROW ? EVENT_NAMED : EVENT_CAPI;
    record.flags = EVENT_FLAG_ENTRY | EVENT_FLAG_NO_GIL;
    record.depth = ring_depth_byte(ring_here.depth);
    ring_record(&record);
    return got_words_of[slot].original;
}

int hooks_exec(PyObject *module) {
    trampolines_note = note;
    return 0;
}
