// Import slots of loaded modules: finding, patching and restoring them; the hosts' dlsym; NumPy's table.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_GOT_H
#define INSPECTOR_GOT_H

#include "trace/capi/slot_table.h"

#include <elf.h>
#include <link.h>
#include <stdint.h>

// The imports of a loaded object by its relocations, read from memory through the tables that ld.so used.
typedef ElfW(Dyn) elf_dynamic;
typedef ElfW(Phdr) elf_segment;
typedef ElfW(Rela) elf_relocation;
typedef ElfW(Sym) elf_symbol;

typedef struct {
    const char *name; // borrowed: valid while the object is loaded
    void **address;   // the slot
    int is_value;     // GLOB_DAT: may be an address taken instead of a call
    int is_own;       // the object defines the function itself, and still calls it through its table
    int is_word;      // R_X86_64_64 or R_AARCH64_ABS64: a word of the object's own data
} relocation;

typedef struct {
    uintptr_t start, stop;
} relocations_range;

// Calls `visit` for every function, imported or the object's own, with a JUMP_SLOT or GLOB_DAT relocation.
typedef void (*relocations_visit)(const relocation *found, void *argument);
void relocations_each(const struct dl_phdr_info *object, relocations_visit visit, void *argument);
// The same, and the words of data that ld.so filled with a symbol's address.
void relocations_each_word(const struct dl_phdr_info *object, relocations_visit visit, void *argument);
// The pages that ld.so made read-only after filling in the slots; start == stop where there are none.
relocations_range relocations_relro(const struct dl_phdr_info *object);
// Whether an address lies in a segment of the object.
int relocations_inside(const struct dl_phdr_info *object, const void *address);
// A pointer of the dynamic section: glibc's ld.so relocates it in place, musl's does not.
const void *relocations_pointer(const struct dl_phdr_info *object, const elf_dynamic *entry);
const elf_dynamic *relocations_dynamic(const struct dl_phdr_info *object);

// Import slots of loaded modules: finding, patching and restoring them; and the functions they import.
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

// The loaded objects, for the files of native/trace/arm.
const char *loaded_path(const struct dl_phdr_info *object); // borrowed
int loaded_left_out(const struct dl_phdr_info *object, got_family family);
int loaded_is_among(const struct dl_phdr_info *object, PyObject *paths /* borrowed: a set of str */);
// trace/arm/pointers.c: calls `visit` for every word of the object's own data that holds the address of one
// of Python's functions. `again`: without RELRO, which the previous search has covered.
void pointers_each(const struct dl_phdr_info *object, int again, relocations_visit visit, void *argument);

// Hosts whose dlsym calls are answered with trampolines.
const exports_row *lookups_find(const char *name); // borrowed, or NULL: the row of dlsym for the aimed host
void *lookups_hook(uint16_t row);
int lookups_is_host(const struct dl_phdr_info *object);
// Makes the object a host. 0, also where HOSTS_MAX is reached; -1 when out of memory.
int lookups_add(const struct dl_phdr_info *object, const char *path);
// Selects the host whose dlsym slot lookups_find returns from now on. Its path (borrowed); NULL: no such
// host.
const char *lookups_aim(uint32_t host);
// Calls `visit` for each word that answers the dlsym of this host; only the first time for each host.
void lookups_each(const struct dl_phdr_info *object, relocations_visit visit, void *argument);

// NumPy's function table PyArray_API (numpy_table.c), as the ledger of references uses it.
// Set by the ledger when it is loaded. know_dtype gets NumPy's own dtypes when the table is armed for it.
typedef struct {
    void (*know_dtype)(PyObject *dtype /* borrowed */);
    void (*forget_dtypes)(void);
} numpy_ledger;
extern numpy_ledger numpy_table_ledger __attribute__((visibility("hidden")));

#endif
