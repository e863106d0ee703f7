// The imports of a loaded object by its relocations, read from memory through the tables that ld.so used.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_RELOCATIONS_H
#define INSPECTOR_RELOCATIONS_H

#include <elf.h>
#include <link.h>
#include <stdint.h>

typedef ElfW(Dyn) elf_dynamic;
typedef ElfW(Phdr) elf_segment;
typedef ElfW(Rela) elf_relocation;
typedef ElfW(Sym) elf_symbol;

typedef struct {
    const char *name; // borrowed: valid while the object is loaded
    void **address;   // the slot
    int is_value;     // GLOB_DAT: may be an address taken instead of a call
    int is_own;       // the object defines the function itself, and still calls it through its table
    int is_word;      // R_X86_64_64: a word of the object's own data
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

#endif
