// Finds the words of a loaded object's own data that hold the address of one of Python's functions.
//
// A host that opens libpython and calls dlsym for each function imports nothing, so ld.so has no slot for it.
// It keeps dlsym's results in variables, in .data or .bss, which are writable segments of its file. A word
// there that equals the address of an exported function is taken for such a variable.
//
// An object that imports Python by relocations has more such words: its import slots (trace/arm/got.c), and
// words set by its initialisers. Of these a writable word is a value (a type's slot, a row of a method table)
// and is left out; a word in RELRO belongs to a constant table through which code calls.
//
// Not found: pointers on the heap or a stack from before the trace. trace/arm/lookups.c covers later ones.
//
// Each arming searches again, since a host may fill its variables at any time. Of a large segment only
// written pages are read (a tenth of OpenBLAS's), and RELRO once: it cannot be written any more.
// SPDX-License-Identifier: MIT
#include "memory/addresses.h"
#include "memory/memory.h"
#include "memory/pagemap.h"
#include "trace/arm/got.h"
#include "trace/capi/slot_table.h"

#include <fcntl.h>
#include <unistd.h>

enum { CHUNK_WORDS = 4096, SEGMENT_MAX = 64 << 20, PAGEMAP_BYTES_LEAST = 64 << 10 };

typedef struct {
    uintptr_t start, stop;    // of the words to read
    uintptr_t lowest, widest; // of the functions' addresses: the lowest, and the highest minus the lowest
    relocations_visit visit;
    void *argument;
    const struct dl_phdr_info *object;
    relocations_range relro;
    uintptr_t *filled; // owned, sorted: words that ld.so filled in and that are no variables
    size_t filled_count, filled_room;
    int has_filled; // `filled` is complete: built at the first match, which most objects do not have
    int error;      // out of memory
} words_search;

static void filled_add(const relocation *found, void *argument) {
    words_search *search = argument;
    uintptr_t at = (uintptr_t)found->address;
    int is_constant = found->is_word && at >= search->relro.start && at < search->relro.stop;
    if (is_constant || search->error || !exports_find(found->name)) {
        return;
    }
    if (search->filled_count == search->filled_room) {
        size_t room = search->filled_room * 2 + 64;
        uintptr_t *grown = realloc(search->filled, room * sizeof *grown);
        search->error = !grown;
        search->filled = grown ? grown : search->filled;
        search->filled_room = grown ? room : search->filled_room;
    }
    if (!search->error) {
        search->filled[search->filled_count++] = at;
    }
}

static int is_filled(words_search *search, uintptr_t at) {
    if (!search->has_filled) {
        search->has_filled = 1;
        relocations_each_word(search->object, filled_add, search);
        if (search->filled_count) {
            qsort(search->filled, search->filled_count, sizeof *search->filled, addresses_compare);
        }
    }
    return search->error || (search->filled_count && bsearch(&at, search->filled, search->filled_count,
                                                             sizeof at, addresses_compare) != NULL);
}

static void words_search_in(words_search *search, uintptr_t at, uintptr_t stop) {
    uintptr_t words[CHUNK_WORDS];
    for (; at < stop; at += sizeof words) {
        size_t count = memory_read(at, words, stop - at < sizeof words ? stop - at : sizeof words) / 8;
        for (size_t i = 0; i < count; i++) {
            const exports_row *function =
                words[i] - search->lowest <= search->widest ? exports_at((void *)words[i]) : NULL;
            if (function && !is_filled(search, at + 8 * i)) {
                search->visit(&(relocation){function->name, (void **)at + i, 1, 0, 0}, search->argument);
            }
        }
    }
}

static void pages_search(const struct pagemap_region *pages, void *argument) {
    words_search *search = argument;
    words_search_in(search, pages->start > search->start ? pages->start : search->start,
                    pages->end < search->stop ? pages->end : search->stop);
}

// Searches written pages only: others hold zeros or the file's bytes. -1 where the kernel lacks the ioctl.
static int written_search(words_search *search) {
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    struct pagemap_query query = {.category_inverted = PAGEMAP_ZERO | PAGEMAP_FILE,
                                  .category_mask = PAGEMAP_ZERO | PAGEMAP_FILE,
                                  .category_anyof_mask = PAGEMAP_PRESENT | PAGEMAP_SWAPPED,
                                  .return_mask = PAGEMAP_PRESENT};
    _close_ int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    return pagemap < 0 ? -1
                       : pagemap_walk(pagemap, query, search->start & ~(page - 1),
                                      (search->stop + page - 1) & ~(page - 1), pages_search, search);
}

static void range_search(words_search *search, uintptr_t start, uintptr_t stop) {
    search->start = start;
    search->stop = stop;
    // A kernel without the ioctl fails at the first call.
    if (start < stop && (stop - start < PAGEMAP_BYTES_LEAST || written_search(search) < 0)) {
        words_search_in(search, start, stop);
    }
}

void pointers_each(const struct dl_phdr_info *object, int again, relocations_visit visit, void *argument) {
    words_search search = {
        .visit = visit, .argument = argument, .object = object, .relro = relocations_relro(object)};
    exports_span(&search.lowest, &search.widest);
    for (int i = 0; !search.error && i < object->dlpi_phnum; i++) {
        const elf_segment *part = &object->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && (part->p_flags & PF_W)) {
            uintptr_t start = (object->dlpi_addr + part->p_vaddr + 7) & ~(uintptr_t)7;
            uintptr_t bytes = part->p_memsz < SEGMENT_MAX ? part->p_memsz : SEGMENT_MAX;
            uintptr_t stop = object->dlpi_addr + part->p_vaddr + bytes;
            int is_known = again && start >= search.relro.start && start < search.relro.stop;
            range_search(&search, is_known ? search.relro.stop : start, stop);
        }
    }
    free(search.filled);
}
