// The patched slots of the process: one row per slot, which trampolines and hooks read.
//
// A slot's number is that of its trampoline. It is never reused, as code that holds the trampoline's address
// may call it for the life of the process. There are GOT_SLOTS trampolines of each grade in the text segment
// (trampolines.c).
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_SLOT_TABLE_H
#define INSPECTOR_SLOT_TABLE_H

#include "module/native.h"

#define GOT_SLOTS 32768 // trampolines of 16 and 32 bytes: 1.5 MiB of text, resident only where used

// Above them, the slots of trace/arm/numpy_table.c: one for each calling module and function of NumPy's.
enum { NUMPY_CALLERS = 2048, NUMPY_ROWS_MAX = 64, GOT_PLACES = GOT_SLOTS + NUMPY_CALLERS * NUMPY_ROWS_MAX };

// GOT_BORDER records only calls that take or release the GIL, and calls of a callable.
typedef enum { GOT_COUNT, GOT_RECORD, GOT_DEEP, GOT_LEDGER, GOT_BORDER } got_grade;
// What the patched slots of one family import: Python's C API, allocators (trace/capi/allocations.c), what
// calls a C function for Python (trace/capi/foreign_calls.c), dlsym of a host (trace/arm/lookups.c),
// reticulate's conversions (trace/arm/conversions.c), functions that free memory (leaks/freeing.c),
// allocators of tracked modules (leaks/raw_memory/hooks.c), of all modules (leaks/sampled/hooks.c).
typedef enum {
    GOT_CAPI,
    GOT_ALLOCATORS,
    GOT_FOREIGN,
    GOT_LOOKUP,
    GOT_CONVERSIONS,
    GOT_FREEING,
    GOT_RAW_MEMORY,
    GOT_GROWTH,
    GOT_FAMILIES
} got_family;

// What the trampolines read, by slot, two slots per cache line: a library's calls use many slots, seldom the
// same one twice in a row. Written before the trampoline is stored anywhere.
typedef struct {
    void *original; // the function that the slot held
    void *target;   // the hook of the slot's grade
    uint64_t count; // number of calls; exact under the GIL
    int64_t here;   // distance of ring_here from the thread pointer, as record trampolines for x86-64 read it
} got_words;
extern got_words got_words_of[GOT_PLACES] __attribute__((visibility("hidden"), aligned(64)));
extern uint16_t got_rows[GOT_SLOTS]
    __attribute__((visibility("hidden"))); // row of trace/capi/capi.def, CAPI_NO_ROW, or of an allocator

#define CAPI_NO_ROW UINT16_MAX
#define GOT_ALLOCATOR_FIRST 0xF000   // the rows of trace/capi/allocations.c, from here to CAPI_NO_ROW
#define GOT_FOREIGN_ROW 0xE000       // that of trace/capi/foreign_calls.c
#define GOT_LOOKUP_FIRST 0xE100      // those of trace/arm/lookups.c, one a host
#define GOT_CONVERSIONS_FIRST 0xE180 // those of trace/arm/conversions.c
#define GOT_FREEING_FIRST 0xE200     // those of leaks/freeing.c
#define GOT_RAW_MEMORY_FIRST 0xE300  // those of leaks/raw_memory/hooks.c
#define GOT_GROWTH_FIRST 0xE400      // those of leaks/sampled/hooks.c

// A function that slots import, by name and address.
typedef struct {
    const char *name; // borrowed: in Python's own string table
    void *address;
    uint16_t row;
} exports_row;

// One family's functions that slots import, and the hook of each: as two tables, or as two functions.
typedef struct {
    uint16_t first; // row of the first function
    int count;
    exports_row *functions; // static; NULL: `find` and `hook` are set instead
    void *const *hooks;
    const exports_row *(*find)(const char *name);
    void *(*hook)(uint16_t row);
} got_source;
// Defines a source of the rows (name, hook) that LIST gives, and its two tables.
#define GOT_SOURCE(source, first_row, prefix, LIST) \
    static exports_row source##_functions[] = {LIST(prefix##_ROW)}; \
    static void *const source##_hooks[] = {LIST(GOT_SOURCE_HOOK)}; \
    const got_source source = {.first = first_row, \
                               .count = sizeof source##_hooks / sizeof *source##_hooks, \
                               .functions = source##_functions, \
                               .hooks = source##_hooks}
#define GOT_SOURCE_HOOK(name, hook) (void *)hook_##hook,
const exports_row *got_source_find(const got_source *source, const char *name); // borrowed, or NULL
void *got_source_hook(const got_source *source, uint16_t row);
void got_source_find_addresses(const got_source *source); // also of libraries that were loaded since

#endif
