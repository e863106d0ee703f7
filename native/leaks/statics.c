// The writable data of native libraries, copied before the first call of each library.
//
// A C cache may drop its own object, or pass its reference to a call that steals it. Both are correct, but
// the object's count falls and no holder dies. So the writable data of each library is copied when its first
// function is called while the ledger is open. If a count fell, each word that named the object then and no
// longer does accounts for one reference, once.
//
// Left out: libraries with more than LIBRARY_BYTES of such data, and those beyond WORDS_MAX. Fields of
// structs on the heap are not seen; those of a method's own object are (leaks/call_frames.c).
// SPDX-License-Identifier: MIT
#include "leaks/leaks.h"
#include "memory/memory.h"
#include "trace/arm/got.h"

enum { LIBRARIES_MAX = 64, WORDS_MAX = 1 << 15, LIBRARY_BYTES = 32 << 10 };

typedef struct {
    uintptr_t low, high; // the whole library
    uintptr_t start;     // its writable data
    uint32_t first, count;
} library_row;

static library_row libraries[LIBRARIES_MAX];
static uintptr_t words[WORDS_MAX]; // the copies; a search skips our own static data
static uint32_t library_count, word_count;

static int is_in(const library_row *row, uintptr_t address) {
    return address >= row->low && address < row->high;
}

static void span(const struct dl_phdr_info *object, library_row *ret) {
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const elf_segment *part = &object->dlpi_phdr[i];
        if (part->p_type == PT_LOAD) {
            uintptr_t start = object->dlpi_addr + part->p_vaddr;
            ret->low = !ret->low || start < ret->low ? start : ret->low;
            ret->high = start + part->p_memsz > ret->high ? start + part->p_memsz : ret->high;
        }
    }
}

// Copies the data behind the RELRO part, which ld.so made read-only.
static void copy(const struct dl_phdr_info *object, library_row *ret) {
    relocations_range relro = relocations_relro(object);
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const elf_segment *part = &object->dlpi_phdr[i];
        uintptr_t start = object->dlpi_addr + part->p_vaddr, stop = start + part->p_memsz;
        start = (Py_MAX(start, start < relro.stop ? relro.stop : 0) + 7) & ~(uintptr_t)7;
        uint32_t count = stop > start ? (uint32_t)((stop - start) / sizeof *words) : 0;
        int is_data = part->p_type == PT_LOAD && part->p_flags & PF_W && count && !ret->count;
        if (is_data && stop - start <= LIBRARY_BYTES && word_count + count <= WORDS_MAX) {
            ret->start = start;
            ret->first = word_count;
            ret->count = (uint32_t)(memory_read(start, words + word_count, count * sizeof *words) / 8);
            word_count += ret->count;
        }
    }
}

static int library_keep(struct dl_phdr_info *object, size_t size, void *function) {
    if (!relocations_inside(object, function)) {
        return 0;
    }
    library_row row = {0};
    span(object, &row);
    copy(object, &row);
    libraries[library_count++] = row;
    return 1;
}

void ledger_statics_copy(void *function) {
    static uint32_t last;
    if (last < library_count && is_in(&libraries[last], (uintptr_t)function)) {
        return;
    }
    for (last = 0; last < library_count && !is_in(&libraries[last], (uintptr_t)function); last++) {
    }
    if (last == library_count && library_count < LIBRARIES_MAX) {
        dl_iterate_phdr(library_keep, function);
    }
}

static Py_ssize_t released_in(const library_row *row, uintptr_t object, Py_ssize_t most) {
    Py_ssize_t found = 0;
    for (uint32_t i = 0; i < row->count && found < most; i++) {
        uintptr_t now;
        if (words[row->first + i] == object &&
            memory_read(row->start + 8 * (uintptr_t)i, &now, sizeof now) == sizeof now && now != object) {
            words[row->first + i] = now; // each word counts once
            found++;
        }
    }
    return found;
}

Py_ssize_t ledger_statics_released(const PyObject *object, Py_ssize_t most) {
    Py_ssize_t found = 0;
    for (uint32_t i = 0; i < library_count && found < most; i++) {
        found += released_in(&libraries[i], (uintptr_t)object, most - found);
    }
    return found;
}

void ledger_statics_deinit(void) { library_count = word_count = 0; }
