// The imports of a loaded object, as its relocations tell them; read from memory, by the tables that ld.so
// used.
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
    int is_value;     // GLOB_DAT: may be an address taken, not a call
    int is_own;       // the object itself defines it, and calls it through its table all the same
    int is_word;      // R_X86_64_64: a word of the object's own data
} relocation;

typedef struct {
    uintptr_t start, stop;
} relocations_range;

// Calls `each` for every import, and every function of its own, by JUMP_SLOT or GLOB_DAT.
typedef void (*relocations_look)(const relocation *found, void *argument);
void relocations_each(const struct dl_phdr_info *object, relocations_look look, void *argument);
// The same, and the words of its data that ld.so filled with a symbol's address.
void relocations_each_word(const struct dl_phdr_info *object, relocations_look look, void *argument);
// The pages that ld.so made read-only after it had filled in the slots; start == stop where there are none.
relocations_range relocations_relro(const struct dl_phdr_info *object);
// Whether an address lies in a segment of the object.
int relocations_inside(const struct dl_phdr_info *object, const void *address);
// A pointer of the dynamic section: glibc's ld.so has relocated it in place, musl's has not.
const void *relocations_pointer(const struct dl_phdr_info *object, const elf_dynamic *entry);
const elf_dynamic *relocations_dynamic(const struct dl_phdr_info *object);

#endif
