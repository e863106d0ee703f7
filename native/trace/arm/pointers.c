// Finds the words of a loaded object's own data that hold the address of a function of Python's.
//
// A host that opens libpython and asks dlsym for each function imports nothing: ld.so has no slot to tell of.
// What dlsym gave it lies in its variables, in .data or .bss, and those are writable segments of its file. A
// word there that is the very address of an exported function is taken for such a variable.
//
// An object that imports Python by relocations has more of them: its import slots (trace/arm/got.c), and what
// its initialisers named. Of these a writable word is a value, a type's slot or a row of a method table, and
// left alone; a word in RELRO is one of a constant table, through which somebody calls.
//
// Not found: pointers on the heap or on a stack that dlsym gave before the trace began (trace/arm/lookups.c
// has those since).
//
// The search is made again at each arming, since a host fills its variables when it likes: of a large segment
// only the pages that somebody wrote are read (a tenth of OpenBLAS's), and RELRO once: nobody writes there.
#define _GNU_SOURCE
#include "memory/memory.h"
#include "memory/pagemap.h"
#include "module/native.h"
#include "trace/arm/got.h"
#include "trace/arm/loaded.h"
#include "trace/capi/slot_table.h"

#include <fcntl.h>
#include <unistd.h>

enum { CHUNK_WORDS = 4096, SEGMENT_MAX = 64 << 20, ASKED_FROM = 64 << 10 };

typedef struct {
    uintptr_t start, stop;    // of the words that are looked at
    uintptr_t lowest, widest; // the functions' addresses: the first, and how far the last is from it
    relocations_look look;
    void *argument;
    const struct dl_phdr_info *object;
    relocations_range relro;
    uintptr_t *filled; // owned, in order: words that ld.so filled in and that are no variables
    size_t filled_count, filled_room;
    int asked; // filled is made: at the first word that is a function's, which most objects have none of
    int error; // memory is out
} words_search;

static int by_address(const void *one, const void *other) {
    uintptr_t a = *(const uintptr_t *)one, b = *(const uintptr_t *)other;
    return (a > b) - (a < b);
}

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
    if (!search->asked) {
        search->asked = 1;
        relocations_each_word(search->object, filled_add, search);
        if (search->filled_count) {
            qsort(search->filled, search->filled_count, sizeof *search->filled, by_address);
        }
    }
    return search->error || (search->filled_count && bsearch(&at, search->filled, search->filled_count,
                                                             sizeof at, by_address) != NULL);
}

static void words_look(words_search *search, uintptr_t at, uintptr_t stop) {
    uintptr_t words[CHUNK_WORDS];
    for (; at < stop; at += sizeof words) {
        size_t count = memory_read(at, words, stop - at < sizeof words ? stop - at : sizeof words) / 8;
        for (size_t i = 0; i < count; i++) {
            const exports_row *function =
                words[i] - search->lowest <= search->widest ? exports_at((void *)words[i]) : NULL;
            if (function && !is_filled(search, at + 8 * i)) {
                search->look(&(relocation){function->name, (void **)at + i, 1, 0, 0}, search->argument);
            }
        }
    }
}

static void pages_look(const struct pagemap_region *pages, void *argument) {
    words_search *search = argument;
    words_look(search, pages->start > search->start ? pages->start : search->start,
               pages->end < search->stop ? pages->end : search->stop);
}

// Pages that nobody wrote since they were mapped hold no variable's value: zeros, or what is in the file.
static int written_look(words_search *search) {
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    struct pagemap_query query = {.category_inverted = PAGEMAP_ZERO | PAGEMAP_FILE,
                                  .category_mask = PAGEMAP_ZERO | PAGEMAP_FILE,
                                  .category_anyof_mask = PAGEMAP_PRESENT | PAGEMAP_SWAPPED,
                                  .return_mask = PAGEMAP_PRESENT};
    _close_ int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    return pagemap < 0 ? -1
                       : pagemap_walk(pagemap, query, search->start & ~(page - 1),
                                      (search->stop + page - 1) & ~(page - 1), pages_look, search);
}

static void range_look(words_search *search, uintptr_t start, uintptr_t stop) {
    search->start = start;
    search->stop = stop;
    // A kernel that does not know the question refuses it at once.
    if (start < stop && (stop - start < ASKED_FROM || written_look(search) < 0)) {
        words_look(search, start, stop);
    }
}

void pointers_each(const struct dl_phdr_info *object, int again, relocations_look look, void *argument) {
    words_search search = {
        .look = look, .argument = argument, .object = object, .relro = relocations_relro(object)};
    exports_span(&search.lowest, &search.widest);
    for (int i = 0; !search.error && i < object->dlpi_phnum; i++) {
        const elf_segment *part = &object->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && (part->p_flags & PF_W)) {
            uintptr_t start = (object->dlpi_addr + part->p_vaddr + 7) & ~(uintptr_t)7;
            uintptr_t bytes = part->p_memsz < SEGMENT_MAX ? part->p_memsz : SEGMENT_MAX;
            uintptr_t stop = object->dlpi_addr + part->p_vaddr + bytes;
            int is_known = again && start >= search.relro.start && start < search.relro.stop;
            range_look(&search, is_known ? search.relro.stop : start, stop);
        }
    }
    free(search.filled);
}
