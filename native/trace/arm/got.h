// Import slots of loaded modules: found, patched, restored; and the functions that they import.
#ifndef INSPECTOR_GOT_H
#define INSPECTOR_GOT_H

#include "trace/capi/slot_table.h"

// trace/arm/exports.c: the functions that this Python exports, whether it is a shared library or the program
// itself.
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

// trace/arm/families.c: a function of the family, or NULL; the hook of a row.
const exports_row *got_function(got_family family, const char *name); // borrowed
void *got_hook(uint16_t row, got_grade grade);
// A family of slots whose hooks lie above this room: its functions, and the hooks of its rows from `first`
// on.
typedef struct {
    uint16_t first;
    const exports_row *(*find)(const char *name); // borrowed, or NULL
    void *(*hook)(uint16_t row);
} got_source;
void got_family_add(got_family family, const got_source *source /* static */);

// trace/arm/got.c, for the sources beside the C API.
typedef struct {
    uint32_t stored;  // slots patched, or restored
    uint32_t failed;  // their page could not be made writable
    uint32_t foreign; // another tracer's now
    uint32_t no_room; // no trampoline was left
    uint32_t gone;    // of modules that were unloaded
} got_outcome;
// The slots of these objects (a set of paths), or of every loaded one (NULL); 0, or -1 with an exception set.
int got_patch(got_family family, got_grade grade, PyObject *paths /* borrowed */, got_outcome *ret);
void got_restore(got_family family, got_outcome *ret);
// The same; a new tuple: stored, foreign, gone, failed.
PyObject *got_restored(got_family family);

#endif
