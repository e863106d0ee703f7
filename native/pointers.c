// Finds the words of a loaded object's own data that hold the address of a function of Python's.
//
// A host that opens libpython and asks dlsym for each function imports nothing: ld.so has no slot to tell of.
// What dlsym gave it lies in its variables, in .data or .bss, and those are writable segments of its file. A
// word there that is the very address of an exported function is taken for such a variable. Objects that
// import Python by relocations are not searched: an address in their data is a value (a slot of a type), not
// a call.
//
// Not found: pointers on the heap or on a stack that dlsym gave before the trace began (lookups.c has those
// since).
#define _GNU_SOURCE
#include "loaded.h"
#include "native.h"

enum { CHUNK_WORDS = 512, SEGMENT_MAX = 64 << 20 };

static void words_look(const struct dl_phdr_info *object, uintptr_t start, uintptr_t stop,
                       relocations_look look, void *argument) {
    relocations_range relro = relocations_relro(object);
    uintptr_t words[CHUNK_WORDS];
    for (uintptr_t at = start; at < stop; at += sizeof words) {
        size_t wanted = stop - at < sizeof words ? stop - at : sizeof words;
        size_t count = memory_read(at, words, wanted) / sizeof *words;
        for (size_t i = 0; i < count; i++) {
            uintptr_t address = at + i * sizeof *words;
            const exports_row *function =
                address - relro.start < relro.stop - relro.start ? NULL : exports_at((void *)words[i]);
            if (function) {
                look(&(relocation){function->name, (void **)address, 1, 0}, argument);
            }
        }
    }
}

void pointers_each(const struct dl_phdr_info *object, relocations_look look, void *argument) {
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const elf_segment *part = &object->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && (part->p_flags & PF_W)) {
            uintptr_t start = (object->dlpi_addr + part->p_vaddr + 7) & ~(uintptr_t)7;
            uintptr_t bytes = part->p_memsz < SEGMENT_MAX ? part->p_memsz : SEGMENT_MAX;
            words_look(object, start, object->dlpi_addr + part->p_vaddr + bytes, look, argument);
        }
    }
}
