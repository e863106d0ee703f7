// Patched GOT slots, as the thunks, the hooks and other parts see them.
//
// A slot's number is its thunk's: it is given once and never taken back, since code that got hold of the
// thunk may call it for as long as the process lives. GOT_SLOTS thunks of each grade stand in the text
// segment (thunks.c).
#ifndef INSPECTOR_GOT_H
#define INSPECTOR_GOT_H

#include "native.h"

#include <stdint.h>

#define GOT_SLOTS 32768 // thunks of 16 and 32 bytes: 1.5 MiB of text, touched where used

// From there on, the slots of numpy_table.c: one a module that calls and a function of NumPy's.
enum { NUMPY_CALLERS = 512, NUMPY_ROWS_MAX = 64, GOT_PLACES = GOT_SLOTS + NUMPY_CALLERS * NUMPY_ROWS_MAX };

// GOT_BORDER records only what takes or releases the GIL, and what calls an object.
typedef enum { GOT_COUNT, GOT_RECORD, GOT_DEEP, GOT_LEDGER, GOT_BORDER } got_grade;
// What the patched slots of one family import: Python's C API, what gives memory (allocations.c), what calls
// a C function for Python (foreign.c), what a host asks for functions (lookups.c), what gives memory back
// (freeing.c), what gives memory to modules whose blocks are followed (outside_hooks.c).
typedef enum { GOT_CAPI, GOT_ALLOCATORS, GOT_FOREIGN, GOT_LOOKUP, GOT_FREEING, GOT_OUTSIDE } got_family;

// What the thunks read, by slot, two slots a cache line: a library's calls are of many slots, seldom twice in
// a row. Written before the thunk is stored anywhere.
typedef struct {
    void *original; // what the slot held
    void *target;   // the hook of grade record or deep
    uint64_t count; // calls; exact under the GIL
    uint64_t unused;
} got_words;
extern got_words got_words_of[GOT_PLACES] __attribute__((visibility("hidden"), aligned(64)));
extern uint16_t got_rows[GOT_SLOTS]
    __attribute__((visibility("hidden"))); // row of capi.def, CAPI_NO_ROW, or of an allocator

// thunks.c
extern char thunks_count[] __attribute__((visibility("hidden"))); // 16 bytes each: count, jump on
extern char thunks_record[]
    __attribute__((visibility("hidden"))); // 32 bytes each: say the slot, jump to the hook
// Hooks of what is recorded when it begins: all of it, what has no row, what releases or takes the GIL.
extern char thunks_entry[] __attribute__((visibility("hidden")));
extern char thunks_named[] __attribute__((visibility("hidden")));
extern char thunks_released[] __attribute__((visibility("hidden")));
extern char thunks_taken[] __attribute__((visibility("hidden")));
void thunks_walk(void); // the processor forgets what it knew of patched jumps
extern char thunks_numpy[] __attribute__((visibility("hidden"))); // 32 bytes each: words of NumPy's table
static inline void *thunks_of(got_grade grade, uint32_t slot) {
    return grade == GOT_COUNT ? thunks_count + 16 * (uint64_t)slot : thunks_record + 32 * (uint64_t)slot;
}
void *thunks_note(const uint64_t *words);     // hooks.c: records a call that begins; what to jump to
void *numpy_table_note(const uint64_t *kept); // numpy_table.c: the hook to jump to, or the function

// hooks.c: the rows of capi.def.
#define CAPI_NO_ROW UINT16_MAX
#define GOT_ALLOCATOR_FIRST 0xF000    // the rows of allocations.c, from here to CAPI_NO_ROW
#define GOT_FOREIGN_ROW 0xE000        // that of foreign.c
#define GOT_LOOKUP_FIRST 0xE100       // those of lookups.c, one a host
#define GOT_FREEING_FIRST 0xE200      // those of freeing.c
#define GOT_OUTSIDE_FIRST 0xE300      // those of outside_hooks.c
uint16_t capi_find(const char *name); // the row, or CAPI_NO_ROW
void *capi_hook(uint16_t row, got_grade grade);
// Whether grade record counts its calls, and deep alone records them: no value crosses, or it has no row.
int capi_is_counted(uint16_t row);
int capi_calls(uint16_t row); // capi.c: whether its first parameter is what it calls

// exports.c: the functions that this Python exports, whether it is a shared library or the program itself.
typedef struct {
    const char *name; // borrowed: in Python's own string table
    void *address;
    uint16_t row;
} exports_row;
// Lives as long as the process runs Python; NULL before the first running_is_ours.
extern PyInterpreterState *running_main __attribute__((visibility("hidden"))); // borrowed
int running_is_ours(void); // running.c: whether this thread runs in the main interpreter
int exports_prepare(void); // once; 0, or -1 with an exception set
const exports_row *exports_find(const char *name);
const exports_row *exports_at(const void *address);             // borrowed, or NULL
void exports_span(uintptr_t *ret_lowest, uintptr_t *ret_width); // of their addresses
uint32_t exports_count(void);
const exports_row *exports_row_of(uint32_t number); // borrowed
uint32_t exports_number(const exports_row *row);
int exports_is_compared(const char *name); // modules compare it as a value too
// Every name under which the object that holds the address exports it. New list, or NULL with an exception.
PyObject *exports_names(const void *address);

// got_families.c: a function of the family, or NULL; the hook of a row.
const exports_row *got_function(got_family family, const char *name); // borrowed
void *got_hook(uint16_t row, got_grade grade);

// got.c, for the sources beside the C API.
typedef struct {
    uint32_t stored;  // slots patched, or restored
    uint32_t failed;  // their page could not be made writable
    uint32_t foreign; // another tracer's now
    uint32_t no_room; // no thunk was left
    uint32_t gone;    // of modules that were unloaded
} got_outcome;
// The slots of these objects (a set of paths), or of every loaded one (NULL); 0, or -1 with an exception set.
int got_patch(got_family family, got_grade grade, PyObject *paths /* borrowed */, got_outcome *ret);
void got_restore(got_family family, got_outcome *ret);
// The same; a new tuple: stored, foreign, gone, failed.
PyObject *got_restored(got_family family);

// allocations.c: functions that give memory, as slots import them.
const exports_row *allocations_find(const char *name); // borrowed, or NULL
void *allocations_hook(uint16_t row);
void allocations_find_addresses(void); // of functions whose library came since

// freeing.c: functions that give memory back, as slots import them.
const exports_row *freeing_find(const char *name); // borrowed, or NULL
void *freeing_hook(uint16_t row);
void freeing_find_addresses(void); // of functions whose library came since

// outside_hooks.c: functions that give memory, as slots of chosen modules import them.
const exports_row *outside_find(const char *name); // borrowed, or NULL
void *outside_hook(uint16_t row);
void outside_find_addresses(void); // of functions whose library came since

// foreign.c: the function that calls C functions, as slots import it.
const exports_row *foreign_find(const char *name); // borrowed, or NULL
void *foreign_hook(void);
void foreign_find_addresses(PyObject *path /* borrowed str */);
extern int foreign_open __attribute__((visibility("hidden"))); // its calls are recorded
void foreign_leaves_python(void);                              // this thread is about to release the GIL

#endif
