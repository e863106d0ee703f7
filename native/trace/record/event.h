// The event record: 64 bytes, one cache line, the same in every ring, file and store.
//
// The tables below are the only definition of fields, kinds and flags: the struct, the enums and what Python
// sees (EVENT_FIELDS, EVENT_KINDS, EVENT_FLAGS of inspector._native) are generated from them.
//
// A record is written when its call returns, so children stand before their parent. `depth` gives the tree
// without a clock: the children of a record are the records one deeper before it, back to the last record of
// its own depth or less. A record with EVENT_ENTRY is written when its call begins, as the hook has no frame
// to return to: its children follow it, at the same depth. Continuations directly follow their record; a full
// ring drops them with it.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_EVENT_H
#define INSPECTOR_EVENT_H

#include <stdint.h>

// FIELD(C type, name, format code of Python's struct module, meaning)
#define EVENT_FIELDS(FIELD) \
    FIELD(uint64_t, start, "Q", "clock at the call, in ticks; 0 without a clock") \
    FIELD(uint64_t, obj, "Q", "address of the object that was converted, made or queried; 0 for none") \
    FIELD(uint64_t, val, "Q", "the C value: result or argument, by the row; bits of a double") \
    FIELD(uint64_t, aux, "Q", "a second word, by the row: size, key, index, format") \
    FIELD(uint32_t, duration, "I", "ticks until the return; 0 without two clocks; see COARSE") \
    FIELD(uint32_t, slot, "I", "the patched place, by its source's own table: gives the calling module") \
    FIELD(uint32_t, type, "I", "id of obj's type in INTERNED; 0 unless DEEP") \
    FIELD(uint32_t, code, "I", "id of the running code object in INTERNED; 0 unless DEEP") \
    FIELD(int32_t, lasti, "i", "offset in that code's bytecode, in bytes") \
    FIELD(int32_t, refs, "i", "refcount of obj before the call; of a NEW result after it; DEEP only") \
    FIELD(int16_t, refs_delta, "h", "refcount of obj after minus before; -32768: it may be freed") \
    FIELD(uint16_t, func, "H", "row of the function in its kind's table") \
    FIELD(uint16_t, flags, "H", "EVENT_FLAGS") \
    FIELD(uint8_t, kind, "B", "EVENT_KINDS") \
    FIELD(uint8_t, depth, "B", "number of open hooked calls of this thread around this one; at most 255")

#define EVENT_MEMBER(ctype, name, code, meaning) ctype name;
typedef struct {
    EVENT_FIELDS(EVENT_MEMBER)
} __attribute__((aligned(64))) event;

_Static_assert(sizeof(event) == 64, "an event is one cache line");

#define EVENT_REFS_GONE INT16_MIN // refs_delta of an object that the call may have freed

// KIND(name, meaning). Append only, never reorder: stored traces hold the numbers.
#define EVENT_KINDS(KIND) \
    KIND(NONE, "no event") \
    KIND(CAPI, "a C-API function returned: func is its row of CAPI_ROWS") \
    KIND(NAMED, "a function without a row was called (ENTRY): obj, val, aux are its first argument words") \
    KIND(VALUE, "continuation: value number `lasti` of the call before; func is its format character") \
    KIND(BUFFER, "continuation: a Py_buffer: obj exporter, val buf, aux len, lasti itemsize, refs ndim, " \
                 "func readonly; " \
                 "the bytes of start are its format, cut at 8") \
    KIND(ARGUMENTS, "continuation: further raw words of the call before") \
    KIND(METHOD, "a method of the chosen modules returned: slot names it") \
    KIND(SLOT, "a type slot returned: slot names it") \
    KIND(VECTORCALL, "a call through an instance's vectorcall pointer returned: slot names it") \
    KIND(ALLOCATION, \
         "func, a row of ALLOCATORS, allocated val bytes at obj; aux: the caller of Python's allocator, or " \
         "mmap's file descriptor plus 1; lasti and refs: lower and upper half of the old address of a " \
         "block that grew, 0 for a new one") \
    KIND(RELEASE, "the block at obj was freed") \
    KIND(GIL, "the GIL is released (func 0), taken (1), or the thread state is swapped (2)") \
    KIND(CALLBACK, "native code called Python: obj is the callable") \
    KIND(FOREIGN, "a call made by ctypes or cffi returned") \
    KIND(COPY, "val bytes were copied to obj from aux") \
    KIND(MATERIALIZE, "obj materialized val bytes; func is the cause") \
    KIND(FINALIZE, "a destructor or finalizer ran on obj") \
    KIND(MARK, "a mark of the session: func, obj, val and aux are its words") \
    KIND(SPAN, \
         "continuation: the bytes of argument `slot`, or (OUTPUT) of the result: val start, aux extent, " \
         "start logical bytes, lasti itemsize, refs SPAN_FLAGS, func NumPy's kind, code samples") \
    KIND(TEXT, "continuation: the bytes of obj, val and aux are a text; duration is its length, cut at 25") \
    KIND(LOSS, \
         "continuation: aux elements of argument `slot` were lost by func, a row of LOSS_RULES; the first " \
         "is number `start`: obj before, val after, of the kinds in lasti and refs; duration of `type` " \
         "elements were compared; code: of rounded ones the largest relative error, a float's bits") \
    KIND(PLAIN, "continuation: `func` numbers, booleans or None: letter and argument number (128: the " \
                "result) of each in a byte of refs and of lasti, lowest first; words: start, obj, val, aux") \
    KIND(STACK, "continuation: val is the number of the native stack that the call before came through") \
    KIND(BYTES, "continuation: the call before made (func 1), copied (2) or shared (3) the val bytes " \
                "of the array obj") \
    KIND(GREENLET, "the records from here on are those of greenlet number val; before, of number aux") \
    KIND(SUM, \
         "continuation: val more calls are told by the record before, of aux ticks, the last of them at " \
         "start; of func results, where it is 1, they hold obj logical bytes more, and of the extent " \
         "lasti (lower half) and refs more; of a GIL record obj is the longest, in ticks")

#define EVENT_KIND(name, meaning) EVENT_##name,
enum { EVENT_KINDS(EVENT_KIND) };

// FLAG(name, bit, meaning)
#define EVENT_FLAGS(FLAG) \
    FLAG(ERROR, 0, \
         "the call failed: by its return value, and by a set exception where the value is in doubt") \
    FLAG(CONTINUATION, 1, "belongs to the record before it") \
    FLAG(ENTRY, 2, "written when the call began: it has no result and no duration") \
    FLAG(DEEP, 3, "type, code, lasti and refs are filled in") \
    FLAG(NO_GIL, 4, "the thread did not hold the GIL, or may not have: no object was read") \
    FLAG(COARSE, 5, "duration counts 1024 ticks") \
    FLAG(NEW, 6, "obj is a new reference that the call made") \
    FLAG(STOLEN, 7, "the call took over the caller's reference to obj") \
    FLAG(ESTIMATED, 8, "val is an estimate") \
    FLAG(LOSSY, 9, "the conversion lost a part of the value") \
    FLAG(OUTPUT, 10, "continuation: the call wrote the value; it is no argument") \
    FLAG(INSIDE, 11, "continuation: an item of the list or tuple in the continuation before") \
    FLAG(COMPACT, 12, "obj, val, aux and refs hold the call's values, by refs_delta (COMPACT_KINDS)") \
    FLAG(FILL, 13, "of a LOSS: one number became every element, which a computation may make too") \
    FLAG(REPEATED, 14, \
         "a CAPI record tells `refs` more calls of the function, side by side; duration: of all")

#define EVENT_FLAG(name, bit, meaning) EVENT_FLAG_##name = 1 << (bit),
enum { EVENT_FLAGS(EVENT_FLAG) };

// The half bytes of refs_delta in a COMPACT record (trace/values/compact_record.h). KIND(name, meaning)
#define COMPACT_KINDS(KIND) \
    KIND(NOTHING, "absent, or in a VALUE continuation") \
    KIND(INT, "an int in a word") \
    KIND(FLOAT, "the bits of a float in a word") \
    KIND(NONE, "None") \
    KIND(TRUE, "True") \
    KIND(FALSE, "False") \
    KIND(TEXT, "a str of `func` characters: its address, and the first 16 in two words") \
    KIND(SMALL, "an int of 32 bits in refs") \
    KIND(LIST, "a list: its address; a word with the item count below and the first item's type id above") \
    KIND(TUPLE, "a tuple: likewise") \
    KIND(DICT, "a dict: likewise, without a type id")
#define COMPACT_KIND(name, meaning) COMPACT_##name,
enum { COMPACT_KINDS(COMPACT_KIND) };

#endif
