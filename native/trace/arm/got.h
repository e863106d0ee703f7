// Import slots of loaded modules: finding, patching and restoring them; and the functions they import.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_GOT_H
#define INSPECTOR_GOT_H

#include "trace/capi/slot_table.h"

// trace/arm/exports.c: the functions that this Python exports, as a shared library or as the program itself.
int exports_prepare(void); // reads the table once; 0, or -1 with an exception set
const exports_row *exports_find(const char *name);
const exports_row *exports_at(const void *address);             // borrowed, or NULL
void exports_span(uintptr_t *ret_lowest, uintptr_t *ret_width); // the range of their addresses
uint32_t exports_count(void);
const exports_row *exports_row_of(uint32_t number); // borrowed
uint32_t exports_number(const exports_row *row);
int exports_is_compared(const char *name); // modules also compare its address as a value
// All names under which an object exports this address. New list, or NULL with an exception set.
PyObject *exports_names(const void *address);

// trace/arm/families.c: a function of a family, or NULL; the hook of a row.
const exports_row *got_function(got_family family, const char *name); // borrowed
void *got_hook(uint16_t row, got_grade grade);
// Adds a family whose hooks lie above this room.
void got_family_add(got_family family, const got_source *source /* static */);

// trace/arm/got.c, for the families beside the C API.
typedef struct {
    uint32_t stored;  // slots patched, or restored
    uint32_t failed;  // their page could not be made writable
    uint32_t foreign; // hold another tracer's function now
    uint32_t no_room; // no trampoline was left
    uint32_t gone;    // of modules that were unloaded
} got_outcome;
// Patches the slots of these objects (a set of paths), or of all (NULL); 0, or -1 with an exception set.
int got_patch(got_family family, got_grade grade, PyObject *paths /* borrowed */, got_outcome *ret);
void got_restore(got_family family, got_outcome *ret);
// Restores and returns a new tuple: stored, foreign, gone, failed.
PyObject *got_restored(got_family family);

#endif
