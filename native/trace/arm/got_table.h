// The import slots found so far and the loaded objects that they are of: filled by trace/arm/got.c.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_GOT_TABLE_H
#define INSPECTOR_GOT_TABLE_H

#include "trace/arm/got.h"

typedef struct {
    void **address;
    void *before;                // the previous word
    void *patch;                 // our trampoline; NULL before the first patch
    const exports_row *function; // borrowed, for the life of the process
    uint32_t module;             // index into modules
    uint8_t on;                  // our trampoline was stored and not taken back
    uint8_t chained;             // another tracer's function is called in between
    uint8_t in_relro;
    uint8_t is_pointer; // a word of a library's own data
    uint8_t changed;    // its owner changed it while it held our trampoline; it is left as it is
} got_slot;

typedef struct {
    char *path; // owned, for the life of the process
    uintptr_t base;
    const elf_segment *headers; // borrowed: distinguishes it from a later module at the same address
    relocations_range relro;
    uint32_t first, count; // slots
    uint32_t without;      // slots for which no trampoline was left
    got_family family;     // an object searched for two families has two records
    uint8_t is_host;       // of the object's own data; each search that finds more slots adds a record
    uint8_t is_searched;   // in the record of the imports: the object's own data has been searched before
} got_module;

extern got_slot got_all_slots[GOT_SLOTS] __attribute__((visibility("hidden")));
extern got_module *got_modules __attribute__((visibility("hidden"))); // owned, for the life of the process
extern uint32_t got_slot_count __attribute__((visibility("hidden")));
extern uint32_t got_module_count __attribute__((visibility("hidden")));

#endif
