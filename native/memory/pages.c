// Which bytes of the process a search reads: the existing pages of writable mappings.
//
// A page that was never touched holds zeros and no pointer. Reading it would fault it in, and reading a
// file's page would load it from disk. So the kernel is asked which pages exist: the PAGEMAP_SCAN ioctl
// (Linux 6.7) returns ranges, /proc/self/pagemap one word a page. Where neither can be read, every page
// counts as existing: slower, but nothing is missed.
//
// Ranges to leave out (the scratch, payloads that the caller knows to be numbers) are cut away once, here, so
// that every pass over the same runs reads the same bytes.
// SPDX-License-Identifier: MIT
#define INSPECTOR_WITHOUT_GIL
#include "memory/addresses.h"
#include "memory/memory.h"
#include "memory/pagemap.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>

// x86-64, and arm64 with 4 KiB pages; larger pages come as several entries, which pages_append merges.
#define PAGE_SIZE_BYTES 4096u
#define RUNS_MAX (1u << 18)

typedef struct {
    scan_runs *runs;
    const scan_range *left_out; // borrowed: sorted
    size_t left_out_count, next;
    uint64_t wanted; // categories, of which a page must have one
} pages_cut;

// Adds a run, or extends the last one: adjacent mappings and regions become one read.
static void pages_append(scan_runs *runs, uintptr_t start, uintptr_t stop) {
    if (runs->count && runs->rows[runs->count - 1].stop == start) {
        runs->rows[runs->count - 1].stop = stop;
    } else if (runs->count < RUNS_MAX) {
        runs->rows[runs->count++] = (scan_range){start, stop};
    } else {
        runs->left_out_bytes += stop - start; // reported to the caller
        return;
    }
    runs->bytes += stop - start;
}

// Appends [start, stop) without the ranges that are left out. Calls come in address order.
static void pages_add(pages_cut *cut, uintptr_t start, uintptr_t stop) {
    while (cut->next < cut->left_out_count && cut->left_out[cut->next].stop <= start) {
        cut->next++;
    }
    for (size_t i = cut->next; i < cut->left_out_count && cut->left_out[i].start < stop; i++) {
        uintptr_t from = (cut->left_out[i].start + 7) & ~(uintptr_t)7,
                  to = cut->left_out[i].stop & ~(uintptr_t)7;
        if (from > start) {
            pages_append(cut->runs, start, from < stop ? from : stop);
        }
        if (to > start) {
            uintptr_t end = to < stop ? to : stop, begin = from > start ? from : start;
            cut->runs->left_out_bytes += end > begin ? end - begin : 0;
            start = end;
        }
    }
    if (start < stop) {
        pages_append(cut->runs, start, stop);
    }
}

typedef struct {
    pages_cut *cut;
    uint64_t present_bytes;
} pages_present;

static void pages_region(const struct pagemap_region *region, void *argument) {
    pages_present *present = argument;
    pages_add(present->cut, region->start, region->end);
    present->present_bytes += region->end - region->start;
}

// Returns 0, or -1 where the kernel lacks the ioctl.
static int pages_by_ioctl(int pagemap, uintptr_t start, uintptr_t stop, pages_cut *cut) {
    struct pagemap_query query = {.category_inverted = PAGEMAP_ZERO,
                                  .category_mask = PAGEMAP_ZERO,
                                  .category_anyof_mask = cut->wanted,
                                  .return_mask = PAGEMAP_PRESENT};
    pages_present present = {cut, 0};
    if (pagemap_walk(pagemap, query, start, stop, pages_region, &present) < 0) {
        return -1;
    }
    cut->runs->untouched_bytes += (stop - start) - present.present_bytes;
    return 0;
}

// Reads 512 words a call: one 4 KiB buffer covers 2 MiB of memory.
static int pages_by_table(int pagemap, uintptr_t start, uintptr_t stop, pages_cut *cut) {
    uint64_t entries[512];
    uint64_t words = PAGEMAP_WORD_PRESENT | (cut->wanted & PAGEMAP_SWAPPED ? PAGEMAP_WORD_SWAPPED : 0);
    for (uintptr_t at = start; at < stop;) {
        size_t wanted = (stop - at) / PAGE_SIZE_BYTES < 512 ? (stop - at) / PAGE_SIZE_BYTES : 512;
        ssize_t got = pread(pagemap, entries, wanted * 8, (off_t)(at / PAGE_SIZE_BYTES * 8));
        if (got < 8) {
            return -1;
        }
        for (size_t i = 0; i < (size_t)got / 8; i++, at += PAGE_SIZE_BYTES) {
            if (entries[i] & words) {
                pages_add(cut, at, at + PAGE_SIZE_BYTES);
            } else {
                cut->runs->untouched_bytes += PAGE_SIZE_BYTES;
            }
        }
    }
    return 0;
}

static int begins_with(const memory_map *map, const char *prefix) {
    return map->path_length >= strlen(prefix) && memcmp(map->path, prefix, strlen(prefix)) == 0;
}

// An owned reference lies in memory that its owner can write: that of this process alone, and, where `shared`
// memory counts, that which no file or device has.
static int pages_is_searched(const memory_map *map, int shared) {
    int is_own = map->permissions[3] == 'p' ||
                 (shared && (begins_with(map, "/dev/zero (") || begins_with(map, "/memfd:")));
    return map->permissions[0] == 'r' && map->permissions[1] == 'w' && is_own &&
           !begins_with(map, "[v"); // [vvar] and the like belong to the kernel
}

static int runs_init(scan_runs *ret, const memory_maps *maps, scan_range *left_out, size_t left_out_count,
                     uint64_t wanted, scratch *memory) {
    *ret = (scan_runs){.rows = scratch_alloc(memory, RUNS_MAX * sizeof(scan_range))};
    if (!ret->rows) {
        return -1;
    }
    _close_ int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    pages_cut cut = {ret, left_out, left_out_count, 0, wanted};
    if (left_out_count) {
        addresses_sort(left_out, left_out_count, sizeof *left_out, addresses_compare);
    }
    int way = pagemap >= 0 ? 0 : 2; // 0: ioctl, 1: table, 2: every page
    for (size_t i = 0; i < maps->count; i++) {
        const memory_map *map = &maps->rows[i];
        if (!pages_is_searched(map, wanted & PAGEMAP_SWAPPED)) {
            continue;
        }
        // An unsupported method fails at its first call, before it has added a run.
        if (way == 0 && pages_by_ioctl(pagemap, map->start, map->stop, &cut) < 0) {
            way = 1;
        }
        if (way == 1 && pages_by_table(pagemap, map->start, map->stop, &cut) < 0) {
            way = 2;
        }
        if (way == 2) {
            pages_add(&cut, map->start, map->stop);
        }
    }
    return 0;
}

int scan_runs_init(scan_runs *ret, const memory_maps *maps, scan_range *left_out, size_t left_out_count,
                   scratch *memory) {
    return runs_init(ret, maps, left_out, left_out_count, PAGEMAP_PRESENT | PAGEMAP_SWAPPED, memory);
}

int resident_runs_init(scan_runs *ret, const memory_maps *maps, scratch *memory) {
    return runs_init(ret, maps, NULL, 0, PAGEMAP_PRESENT, memory);
}

int scan_ranges_parse(PyObject *pairs, scratch *memory, size_t spare, scan_range **ret, size_t *ret_count) {
    _owned_ PyObject *fast = PySequence_Fast(pairs, "ranges must be a sequence of (start, stop)");
    if (!fast) {
        return -1;
    }
    Py_ssize_t count = PySequence_Fast_GET_SIZE(fast);
    scan_range *ranges = scratch_alloc(memory, ((size_t)count + spare) * sizeof *ranges);
    if (!ranges) {
        return error_no_memory();
    }
    *ret_count = 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        unsigned long long start, stop;
        PyObject *pair = PySequence_Fast_GET_ITEM(fast, i); // borrowed
        if (!PyTuple_Check(pair)) {
            return error_set(PyExc_TypeError, "a range is a tuple (start, stop)");
        }
        if (!PyArg_ParseTuple(pair, "KK;a range is (start, stop)", &start, &stop)) {
            return -1;
        }
        if (start < stop) {
            ranges[(*ret_count)++] = (scan_range){start, stop};
        }
    }
    *ret = ranges;
    return 0;
}

// The stack grows down: everything below the frame of the search belongs to the search. The alternate signal
// stack holds what past handlers left there, saved registers included: after a fault in one of our own reads
// these are the very addresses that the search looks for.
size_t scan_ranges_own(scan_range *ret, const memory_maps *maps, const scratch *memory, uintptr_t frame) {
    const memory_map *stack = memory_maps_find(maps, frame);
    ret[0] = (scan_range){(uintptr_t)memory->start, (uintptr_t)memory->start + memory->size};
    ret[1] = (scan_range){stack ? stack->start : frame, frame};
    stack_t signals;
    int is_dead = sigaltstack(NULL, &signals) == 0 && !(signals.ss_flags & (SS_DISABLE | SS_ONSTACK));
    uintptr_t start = is_dead ? (uintptr_t)signals.ss_sp : 0;
    ret[2] = (scan_range){start, start + (is_dead ? signals.ss_size : 0)};
    return SCAN_OWN_RANGES;
}
