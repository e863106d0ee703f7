// Memory that no allocator's structure explains: the library whose data leads to it.
//
// A library that maps memory for itself keeps its address: an allocator's list of arenas in a static, the
// tables behind that in memory which it mapped too. So the writable data of every loaded library is read for
// words that point into a gap; the library with the most of them is told. Then the words of gaps that have an
// owner are followed to gaps that have none, in a few rounds and not through large ones, which hold payload.
// A word that points there by chance is possible. Two small numbers of 32 bits, as in tables of libbz2, are
// an address that mimalloc uses: what would point right behind a multiple of 4 GB is left out.
// SPDX-License-Identifier: MIT
#define INSPECTOR_WITHOUT_GIL
#include "heap/account/gaps.h"
#include "memory/addresses.h"

#include <dlfcn.h>
#include <link.h>

enum { FOLLOW_ROUNDS = 8, FOLLOW_MAX = 8 << 20, SMALL_NUMBER = 1 << 16 };

typedef struct {
    const gap_table *gaps; // borrowed
    const scan_runs *runs; // borrowed
    uint32_t best[GAPS_MAX];
    char owners[GAPS_MAX][256], followed[GAPS_MAX];
    int of_us; // whether this extension alone is asked
} votes;

// glibc's loader: it keeps threads and modules of all, and maps nothing that others use.
static int is_loader(const char *path) {
    const char *name = strrchr(path, '/');
    return strncmp(name ? name + 1 : path, "ld-linux", 8) == 0;
}

// Whether the image is this extension, whose tables hold addresses of what it looks at.
static int is_ours(const struct dl_phdr_info *image) {
    Dl_info found;
    return dladdr((const void *)is_loader, &found) && (uintptr_t)found.dli_fbase == image->dlpi_addr;
}

// How many words of a library's data point into each gap; the library with the most is told.
static int vote(struct dl_phdr_info *image, size_t size, void *argument) {
    votes *all = argument;
    if (is_loader(image->dlpi_name) || is_ours(image) != all->of_us) {
        return 0;
    }
    const gap_table *gaps = all->gaps;
    uint32_t counts[GAPS_MAX] = {0};
    for (int i = 0; i < image->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &image->dlpi_phdr[i];
        uintptr_t start = (image->dlpi_addr + part->p_vaddr + 7) & ~(uintptr_t)7;
        uintptr_t stop = image->dlpi_addr + part->p_vaddr + part->p_memsz;
        int is_data = part->p_type == PT_LOAD && part->p_flags & PF_W && part->p_flags & PF_R;
        for (uintptr_t at = start; is_data && at + 8 <= stop; at += 8) {
            uintptr_t word = *(uintptr_t *)at;
            int is_numbers = (uint32_t)word < SMALL_NUMBER;
            ptrdiff_t found =
                is_numbers ? -1 : addresses_find(gaps->rows, gaps->count, sizeof *gaps->rows, word);
            counts[found < 0 ? 0 : found] += found >= 0;
        }
    }
    for (size_t i = 0; i < gaps->count; i++) {
        if (counts[i] > all->best[i] && !(all->of_us && all->best[i])) {
            all->best[i] = counts[i];
            snprintf(all->owners[i], sizeof all->owners[i], "%s", image->dlpi_name);
        }
    }
    return 0;
}

// Gaps that a named gap points into have the same owner: an allocator's tables lie in memory that it mapped.
typedef struct {
    votes *all;
    size_t from;
    int news;
} follow_job;

static UNSANITIZED void follow_gap(void *argument) {
    follow_job *job = argument;
    votes *all = job->all;
    const gap_table *gaps = all->gaps;
    gap from = gaps->rows[job->from];
    for (size_t i = 0; i < all->runs->count && all->runs->rows[i].start < from.stop; i++) {
        scan_range run = all->runs->rows[i];
        uintptr_t at = run.start > from.start ? run.start : from.start;
        uintptr_t stop = run.stop < from.stop ? run.stop : from.stop;
        for (at = (at + 7) & ~(uintptr_t)7; at + 8 <= stop; at += 8) {
            ptrdiff_t to = addresses_find(gaps->rows, gaps->count, sizeof *gaps->rows, *(uintptr_t *)at);
            if (to >= 0 && !all->best[to]) {
                all->best[to] = 1;
                memcpy(all->owners[to], all->owners[job->from], sizeof all->owners[to]);
                job->news = 1;
            }
        }
    }
}

static void follow_gaps(votes *all) {
    int news = 1;
    for (int round = 0; news && round < FOLLOW_ROUNDS; round++) {
        news = 0;
        for (size_t i = 0; i < all->gaps->count; i++) {
            follow_job job = {all, i, 0};
            if (all->best[i] && !all->followed[i] && all->gaps->rows[i].resident <= FOLLOW_MAX) {
                all->followed[i] = 1;
                memory_guarded(follow_gap, &job); // what vanished points nowhere
                news |= job.news;
            }
        }
    }
}

PyObject *gaps_rows(const gap_table *gaps, const scan_runs *runs, scratch *memory) {
    votes *all = scratch_alloc(memory, sizeof *all);
    _owned_ PyObject *rows = all ? PyList_New(0) : PyErr_NoMemory();
    if (all && gaps->count) {
        all->gaps = gaps;
        all->runs = runs;
        dl_iterate_phdr(vote, all);
        follow_gaps(all);
        all->of_us = 1; // what has no owner yet may be memory of our own
        dl_iterate_phdr(vote, all);
    }
    for (size_t i = 0; rows && i < gaps->count; i++) {
        const gap *row = &gaps->rows[i];
        PyObject *owner = PyUnicode_DecodeFSDefault(all->owners[i]); // owned
        const char *form = "(KKKNI)";
        if (list_add(rows,
                     owner ? Py_BuildValue(form, row->start, row->stop, row->resident, owner, all->best[i])
                           : NULL) < 0) {
            return NULL;
        }
    }
    return take(rows);
}
