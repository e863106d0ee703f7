// THE event record: 64 bytes, one cache line, the same in every ring, file and store.
//
// Each table below is the only place where its names are written: the struct, the enums and what Python sees
// (EVENT_FIELDS, EVENT_KINDS, EVENT_FLAGS of inspector._native) are made from it, so nothing that decodes
// a record writes the struct a second time.
//
// A record is written when its call returns, so children stand before their parent; `depth` rebuilds the tree
// without a clock: the children of a record are those before it, back to the last one of its own depth or
// less, that are one deeper. A record with EVENT_ENTRY was written when its call began (the call left no
// frame to come back to): what it called stands behind it, at the same depth. Continuations follow the record
// they belong to at once; if the ring is full they are dropped with it.
#ifndef INSPECTOR_EVENT_H
#define INSPECTOR_EVENT_H

#include <stdint.h>

// FIELD(C type, name, code of Python's struct module, meaning)
#define EVENT_FIELDS(FIELD) \
    FIELD(uint64_t, start, "Q", "clock at the call, in ticks; 0 without a clock") \
    FIELD(uint64_t, obj, "Q", "address of the object that was converted, made or asked; 0 for none") \
    FIELD(uint64_t, val, "Q", "the C value: result or argument, as the row says; bits of a double") \
    FIELD(uint64_t, aux, "Q", "a second word, as the row says: size, key, index, format") \
    FIELD(uint32_t, duration, "I", "ticks until the return; 0 without two clocks; see COARSE") \
    FIELD(uint32_t, slot, "I", "the patched place: which module called; id of its source's own table") \
    FIELD(uint32_t, type, "I", "id of obj's type in INTERNED; 0 unless DEEP") \
    FIELD(uint32_t, code, "I", "id of the running code object in INTERNED; 0 unless DEEP") \
    FIELD(int32_t, lasti, "i", "offset in that code's bytecode, in bytes") \
    FIELD(int32_t, refs, "i", "refcount of obj before the call; with a NEW result: after it; DEEP only") \
    FIELD(int16_t, refs_delta, "h", "refcount of obj after minus before; -32768: it may be gone") \
    FIELD(uint16_t, func, "H", "row of the function in its kind's table") \
    FIELD(uint16_t, flags, "H", "EVENT_FLAGS") \
    FIELD(uint8_t, kind, "B", "EVENT_KINDS") \
    FIELD(uint8_t, depth, "B", "hooked calls of this thread that were open around this one; stops at 255")

typedef struct {
#define EVENT_MEMBER(ctype, name, code, meaning) ctype name;
    EVENT_FIELDS(EVENT_MEMBER)
#undef EVENT_MEMBER
} __attribute__((aligned(64))) event;

_Static_assert(sizeof(event) == 64, "an event is one cache line");

#define EVENT_REFS_GONE INT16_MIN // refs_delta of an object that the call may have freed

// KIND(name, meaning). Appended to, never reordered: stored traces hold the numbers.
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
         "val bytes were given at obj by func, a row of ALLOCATORS; aux: where Python was asked from; " \
         "of mmap the number of the file that they show, plus 1; lasti and refs: the lower and upper half " \
         "of " \
         "where a block that grew lay before, 0 for a new one") \
    KIND(RELEASE, "the block at obj was freed") \
    KIND(GIL, "the GIL is released (func 0), taken (1), or the thread state is swapped (2)") \
    KIND(CALLBACK, "native code called Python: obj is the callable") \
    KIND(FOREIGN, "a call made by ctypes or cffi returned") \
    KIND(COPY, "val bytes were copied to obj from aux") \
    KIND(MATERIALIZE, "obj materialized val bytes; func is the cause") \
    KIND(FINALIZE, "a destructor or finalizer ran on obj") \
    KIND(MARK, "a mark of the session's own: func, obj, val and aux are its words") \
    KIND(SPAN, \
         "continuation: the bytes behind argument `slot`, or (OUTPUT) the result: val where, aux extent, " \
         "start logical bytes, lasti itemsize, refs SPAN_FLAGS, func NumPy's kind, code samples") \
    KIND(TEXT, "continuation: the bytes of obj, val and aux are a text; duration is its length, cut at 25") \
    KIND(LOSS, \
         "continuation: aux elements of argument `slot` are not kept: func is a row of LOSS_RULES; of the " \
         "first, number `start`, obj was before and val is after, as lasti and refs say; duration were " \
         "compared " \
         "of `type`") \
    KIND(PLAIN, "continuation: `func` numbers, truths or None: letter and argument number (128: the " \
                "result) of each " \
                "in a byte of refs and of lasti, lowest first; their words in start, obj, val, aux") \
    KIND(STACK, "continuation: val is the number of the native frames that the call before came through") \
    KIND(BYTES, "continuation: the call before made (func 1), copied (2) or handed on (3) the val bytes " \
                "of the array obj")

enum {
#define EVENT_KIND(name, meaning) EVENT_##name,
    EVENT_KINDS(EVENT_KIND)
#undef EVENT_KIND
        EVENT_KIND_COUNT
};

// FLAG(name, bit, meaning)
#define EVENT_FLAGS(FLAG) \
    FLAG(ERROR, 0, \
         "the call failed: by its return value, and by a set exception where the value is in doubt") \
    FLAG(CONTINUATION, 1, "belongs to the record before it") \
    FLAG(ENTRY, 2, "written when the call began: it has no result and no duration") \
    FLAG(DEEP, 3, "type, code, lasti and refs are filled in") \
    FLAG(NO_GIL, 4, "the thread did not hold the GIL, or may not have: no object was looked at") \
    FLAG(COARSE, 5, "duration counts 1024 ticks") \
    FLAG(NEW, 6, "obj is a new reference that the call made") \
    FLAG(STOLEN, 7, "the call took over the caller's reference to obj") \
    FLAG(ESTIMATED, 8, "val is an estimate") \
    FLAG(LOSSY, 9, "the conversion lost a part of the value") \
    FLAG(OUTPUT, 10, "continuation: the value was written by the call, not given to it") \
    FLAG(INSIDE, 11, "continuation: an item of the list or tuple in the continuation before") \
    FLAG(COMPACT, 12, "obj, val, aux and refs hold the call's values, as refs_delta says (COMPACT_KINDS)")

enum {
#define EVENT_FLAG(name, bit, meaning) EVENT_FLAG_##name = 1 << (bit),
    EVENT_FLAGS(EVENT_FLAG)
#undef EVENT_FLAG
};

// Half bytes of refs_delta in a record with COMPACT (trace/values/compact_record.h). KIND(name, meaning)
#define COMPACT_KINDS(KIND) \
    KIND(NOTHING, "not there, or a VALUE continuation says it") \
    KIND(INT, "an int in a word") \
    KIND(FLOAT, "the bits of a float in a word") \
    KIND(NONE, "None") \
    KIND(TRUE, "True") \
    KIND(FALSE, "False") \
    KIND(TEXT, "a str of `func` characters: its address, and the first 16 in two words") \
    KIND(SMALL, "an int of 32 bits in refs") \
    KIND(LIST, \
         "a list: its address; a word of items in its lower half and the first one's type in its upper") \
    KIND(TUPLE, "a tuple, likewise") \
    KIND(DICT, "a dict, likewise, with no type")
enum {
#define COMPACT_KIND(name, meaning) COMPACT_##name,
    COMPACT_KINDS(COMPACT_KIND)
#undef COMPACT_KIND
};

#endif
