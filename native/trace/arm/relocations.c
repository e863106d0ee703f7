// Reads the relocations of loaded objects: which word holds the address of which imported function.
//
// ELF, chapter "Dynamic linking": DT_JMPREL and DT_RELA list entries with a type, a symbol and a place. Two
// types matter for undefined symbols: JUMP_SLOT (a call through the PLT) and GLOB_DAT (a call by -fno-plt, or
// an address taken); and MACHINE_WORD, a word of data set by an initialiser. They do not say whether a symbol
// is a function: undefined symbols often have no type.
// SPDX-License-Identifier: MIT
#include "machine/machine.h"
#include "trace/arm/got.h"

#include <unistd.h>

const elf_dynamic *relocations_dynamic(const struct dl_phdr_info *object) {
    for (int i = 0; i < object->dlpi_phnum; i++) {
        if (object->dlpi_phdr[i].p_type == PT_DYNAMIC) {
            return (const void *)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
        }
    }
    return NULL;
}

const void *relocations_pointer(const struct dl_phdr_info *object, const elf_dynamic *entry) {
    uintptr_t value = entry->d_un.d_ptr;
    return (const void *)(value < object->dlpi_addr ? value + object->dlpi_addr : value);
}

int relocations_inside(const struct dl_phdr_info *object, const void *address) {
    uintptr_t offset = (uintptr_t)address - object->dlpi_addr;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const elf_segment *part = &object->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && offset - part->p_vaddr < part->p_memsz) {
            return 1;
        }
    }
    return 0;
}

relocations_range relocations_relro(const struct dl_phdr_info *object) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const elf_segment *part = &object->dlpi_phdr[i];
        if (part->p_type == PT_GNU_RELRO) { // as ld.so protects it: whole pages, without a partial last one
            uintptr_t start = object->dlpi_addr + part->p_vaddr;
            return (relocations_range){start & ~(page - 1), (start + part->p_memsz) & ~(page - 1)};
        }
    }
    return (relocations_range){0, 0};
}

typedef struct {
    const elf_symbol *symbols;
    const char *strings;
    const elf_relocation *entries[2];
    size_t counts[2];
} tables;

static tables tables_of(const struct dl_phdr_info *object) {
    tables found = {0};
    const elf_dynamic *entry = relocations_dynamic(object);
    for (; entry && entry->d_tag != DT_NULL; entry++) {
        switch (entry->d_tag) {
        case DT_STRTAB:
            found.strings = relocations_pointer(object, entry);
            break;
        case DT_SYMTAB:
            found.symbols = relocations_pointer(object, entry);
            break;
        case DT_JMPREL:
            found.entries[0] = relocations_pointer(object, entry);
            break;
        case DT_PLTRELSZ:
            found.counts[0] = entry->d_un.d_val / sizeof(elf_relocation);
            break;
        case DT_RELA:
            found.entries[1] = relocations_pointer(object, entry);
            break;
        case DT_RELASZ:
            found.counts[1] = entry->d_un.d_val / sizeof(elf_relocation);
            break;
        default:
            break;
        }
    }
    return found;
}

static void entries_each(const struct dl_phdr_info *object, int words, relocations_visit visit,
                         void *argument) {
    tables found = tables_of(object);
    for (int table = 0; found.symbols && found.strings && table < 2; table++) {
        for (size_t i = 0; found.entries[table] && i < found.counts[table]; i++) {
            const elf_relocation *entry = &found.entries[table][i];
            const elf_symbol *symbol = &found.symbols[ELF64_R_SYM(entry->r_info)];
            unsigned type = (unsigned)ELF64_R_TYPE(entry->r_info);
            if (type == MACHINE_JUMP_SLOT || type == MACHINE_GLOB_DAT || (words && type == MACHINE_WORD)) {
                relocation found_one = {
                    found.strings + symbol->st_name, (void **)(object->dlpi_addr + entry->r_offset),
                    type == MACHINE_GLOB_DAT, symbol->st_shndx != SHN_UNDEF, type == MACHINE_WORD};
                visit(&found_one, argument);
            }
        }
    }
}

void relocations_each(const struct dl_phdr_info *object, relocations_visit visit, void *argument) {
    entries_each(object, 0, visit, argument);
}

void relocations_each_word(const struct dl_phdr_info *object, relocations_visit visit, void *argument) {
    entries_each(object, 1, visit, argument);
}
