// Which pages of an object's bytes are in memory: private, shared, zero, file or swapped.
//
// PAGEMAP_SCAN (Linux 6.7) returns runs of pages with the same categories: a gigabyte in huge pages is a few
// hundred rows. It tells apart the zero page, file pages, swapped and huge pages. It cannot tell a private
// page from one still shared with a forked child; that is bit 56 of a /proc/self/pagemap word. Of small
// blocks all words are read; of large blocks a sample spread over the block, and all words once a shared page
// is found. Older kernels: words only. mincore(2) is not used: it describes the page cache, not this process.
//
// Nothing is dereferenced, so a range may be unmapped, or lie beyond the end of a truncated file.
// SPDX-License-Identifier: MIT
#define INSPECTOR_WITHOUT_GIL
#include "memory/pagemap.h"
#include "module/native.h"

#include <fcntl.h>

enum { OF_PRIVATE, OF_ZERO, OF_FILE, OF_SHARED, OF_SWAPPED, AMOUNTS };
enum { ANONYMOUS, FILE_BACKED, SHARED_MEMORY };
static const char LETTERS[] = "pzfsw";

// x86-64, and arm64 with 4 KiB pages; larger pages come as several entries, which are added up.
#define PAGE_SIZE_BYTES 4096u
#define CELLS_MAX 4096
#define REGIONS 128
#define WORDS 512            // pages of one read of the table: 4 KiB of words for 2 MiB of memory
#define READS_A_REGION 8     // sampled reads of a region that is larger than so many reads
#define READS_IN_ALL 64      // 0.5 ms
#define WORDS_FIRST_LEAST 32 // pages: from so many on the words are read before a scan

typedef struct {
    uint64_t start, stop;
    int kind;
} residency_range;

typedef struct {
    int pagemap;
    int careful; // every private page is checked for being exclusive
    int reads;   // sampled reads of the table left, while not careful
    uint64_t bytes[AMOUNTS], huge_bytes;
    uint64_t before, total; // bytes of the ranges before the current one; bytes of all ranges
    size_t cell_count;
    uint64_t (*cells)[AMOUNTS];
} residency_tally;

// Adds pages [start, stop) to one amount, clipped to the bytes of the range.
static void residency_add(residency_tally *tally, const residency_range *range, uint64_t start, uint64_t stop,
                          int amount, int huge) {
    start = start > range->start ? start : range->start;
    stop = stop < range->stop ? stop : range->stop;
    if (start >= stop) {
        return;
    }
    tally->bytes[amount] += stop - start;
    tally->huge_bytes += huge ? stop - start : 0;
    uint64_t at = tally->before + (start - range->start), end = at + (stop - start);
    for (size_t cell = (size_t)(at * tally->cell_count / tally->total); at < end && cell < tally->cell_count;
         cell++) {
        uint64_t border = (cell + 1) * tally->total / tally->cell_count, until = border < end ? border : end;
        tally->cells[cell][amount] += until > at ? until - at : 0;
        at = until > at ? until : at;
    }
}

// Adds the pages [start, stop) as exclusive or shared. While not careful adds none; 1: one is shared.
static int residency_exclusive(residency_tally *tally, const residency_range *range, uint64_t start,
                               uint64_t stop, int huge) {
    uint64_t words[WORDS];
    for (uint64_t at = start; at < stop;) {
        uint64_t wanted = (stop - at) / PAGE_SIZE_BYTES < WORDS ? (stop - at) / PAGE_SIZE_BYTES : WORDS;
        ssize_t got = pread(tally->pagemap, words, wanted * 8, (off_t)(at / PAGE_SIZE_BYTES * 8));
        for (uint64_t i = 0; i < wanted; i++, at += PAGE_SIZE_BYTES) {
            int shared = got >= (ssize_t)(8 * (i + 1)) && !(words[i] & PAGEMAP_WORD_EXCLUSIVE);
            if (tally->careful) {
                residency_add(tally, range, at, at + PAGE_SIZE_BYTES, shared ? OF_SHARED : OF_PRIVATE, huge);
            } else if (shared) {
                return 1;
            }
        }
    }
    return 0;
}

// A run of private anonymous pages. Small runs are read in full, large ones in READS_A_REGION places.
static int residency_private(residency_tally *tally, const residency_range *range, uint64_t start,
                             uint64_t stop, int huge) {
    const uint64_t piece = (uint64_t)WORDS * PAGE_SIZE_BYTES, size = stop - start;
    if (tally->careful) {
        return residency_exclusive(tally, range, start, stop, huge);
    }
    uint64_t reads = size <= READS_A_REGION * piece ? (size + piece - 1) / piece : READS_A_REGION;
    for (uint64_t i = 0; i < reads && tally->reads > 0; i++, tally->reads--) {
        uint64_t from = start + size / PAGE_SIZE_BYTES * i / reads * PAGE_SIZE_BYTES;
        if (residency_exclusive(tally, range, from, from + piece < stop ? from + piece : stop, huge)) {
            return 1;
        }
    }
    residency_add(tally, range, start, stop, OF_PRIVATE, huge);
    return 0;
}

// One run of pages with the same categories. 1: a shared page was found, so start again with `careful`.
static int residency_region(residency_tally *tally, const residency_range *range,
                            const struct pagemap_region *region) {
    uint64_t categories = region->categories;
    int huge = !!(categories & PAGEMAP_HUGE);
    if (!(categories & (PAGEMAP_ZERO | PAGEMAP_SWAPPED | PAGEMAP_FILE))) {
        return residency_private(tally, range, region->start, region->end, huge);
    }
    int amount = categories & PAGEMAP_ZERO      ? OF_ZERO
                 : categories & PAGEMAP_SWAPPED ? OF_SWAPPED
                 : range->kind == SHARED_MEMORY ? OF_SHARED
                                                : OF_FILE;
    residency_add(tally, range, region->start, region->end, amount, huge);
    return 0;
}

// 1 where the words show that all pages of a small range are private, so that the ioctl is needed for their
// size only: a scan of 200 pages takes as long as reading their words. 0: scan the range. -1: the kernel
// lacks the ioctl.
static int residency_all_private(residency_tally *tally, const residency_range *range, uint64_t start,
                                 uint64_t stop) {
    const uint64_t huge_page = 2u << 20, must = PAGEMAP_WORD_PRESENT | PAGEMAP_WORD_EXCLUSIVE;
    uint64_t words[WORDS], count = (stop - start) / PAGE_SIZE_BYTES;
    if (range->kind != ANONYMOUS || tally->careful || count < WORDS_FIRST_LEAST || count > WORDS ||
        pread(tally->pagemap, words, count * 8, (off_t)(start / PAGE_SIZE_BYTES * 8)) !=
            (ssize_t)(count * 8)) {
        return 0;
    }
    for (uint64_t i = 0; i < count; i++) {
        if ((words[i] & (must | PAGEMAP_WORD_FILE | PAGEMAP_WORD_SWAPPED)) != must) {
            return 0;
        }
    }
    for (uint64_t at = start; at < stop;) {
        uint64_t end = (at / huge_page + 1) * huge_page;
        int huge;
        if (pagemap_page(tally->pagemap, at, PAGE_SIZE_BYTES, &huge) < 0) {
            return -1;
        }
        residency_add(tally, range, at, end < stop ? end : stop, OF_PRIVATE, huge);
        at = end;
    }
    return 1;
}

// 0: done; 1: start again with `careful`; -1: the kernel lacks the ioctl.
static int residency_by_ioctl(residency_tally *tally, const residency_range *range, uint64_t start,
                              uint64_t stop) {
    struct pagemap_region regions[REGIONS];
    int known = residency_all_private(tally, range, start, stop);
    if (known) {
        return known < 0 ? -1 : 0;
    }
    for (uint64_t at = start; at < stop;) {
        struct pagemap_query query = {
            .size = sizeof query,
            .start = at,
            .end = stop,
            .vec = (uintptr_t)regions,
            .vec_len = REGIONS,
            .category_anyof_mask = PAGEMAP_PRESENT | PAGEMAP_SWAPPED,
            .return_mask = PAGEMAP_FILE | PAGEMAP_PRESENT | PAGEMAP_SWAPPED | PAGEMAP_ZERO | PAGEMAP_HUGE,
        };
        int found = ioctl(tally->pagemap, PAGEMAP_SCAN_IOCTL, &query);
        if (found < 0 && errno == EFAULT) {
            return 0; // beyond the end of the address space: no pages
        }
        if (found < 0 || query.walk_end <= at) {
            return -1;
        }
        for (int i = 0; i < found; i++) {
            if (residency_region(tally, range, &regions[i])) {
                return 1;
            }
        }
        at = query.walk_end;
    }
    return 0;
}

// The amount that a present page counts under, by its word. Bit 61 is set on the huge zero page too.
static int residency_of_word(uint64_t word, int kind) {
    int is_file = (word & PAGEMAP_WORD_FILE) != 0;
    return word & PAGEMAP_WORD_SWAPPED                   ? OF_SWAPPED
           : kind == SHARED_MEMORY                       ? OF_SHARED
           : kind == FILE_BACKED                         ? (is_file ? OF_FILE : OF_PRIVATE)
           : is_file || !(word & PAGEMAP_WORD_EXCLUSIVE) ? OF_ZERO
                                                         : OF_PRIVATE;
}

static int residency_by_table(residency_tally *tally, const residency_range *range, uint64_t start,
                              uint64_t stop) {
    uint64_t words[WORDS];
    for (uint64_t at = start; at < stop;) {
        uint64_t wanted = (stop - at) / PAGE_SIZE_BYTES < WORDS ? (stop - at) / PAGE_SIZE_BYTES : WORDS;
        ssize_t got = pread(tally->pagemap, words, wanted * 8, (off_t)(at / PAGE_SIZE_BYTES * 8));
        if (got < 0) {
            return -1;
        }
        if (got < 8) {
            return 0; // beyond the end of the address space
        }
        for (ssize_t i = 0; i < got / 8; i++, at += PAGE_SIZE_BYTES) {
            if (words[i] & (PAGEMAP_WORD_PRESENT | PAGEMAP_WORD_SWAPPED)) {
                residency_add(tally, range, at, at + PAGE_SIZE_BYTES,
                              residency_of_word(words[i], range->kind), 0);
            }
        }
    }
    return 0;
}

// All ranges by one method. 0: done; 1: start again with `careful`; -1: the method is not available.
static int residency_walk(residency_tally *tally, const residency_range *ranges, size_t count, int by_table) {
    memset(tally->bytes, 0, sizeof tally->bytes);
    memset(tally->cells, 0, tally->cell_count * sizeof *tally->cells);
    tally->huge_bytes = tally->before = 0;
    tally->reads = READS_IN_ALL;
    for (size_t i = 0; i < count; i++) {
        const uint64_t page = PAGE_SIZE_BYTES - 1, start = ranges[i].start & ~page,
                       stop = (ranges[i].stop + page) & ~page;
        int status = by_table ? residency_by_table(tally, &ranges[i], start, stop)
                              : residency_by_ioctl(tally, &ranges[i], start, stop);
        if (status) {
            return status;
        }
        tally->before += ranges[i].stop - ranges[i].start;
    }
    return 0;
}

static void residency_strip(const residency_tally *tally, char *ret) {
    for (size_t cell = 0; cell < tally->cell_count; cell++) {
        uint64_t size =
            (cell + 1) * tally->total / tally->cell_count - cell * tally->total / tally->cell_count;
        uint64_t absent = size, most = 0;
        ret[cell] = '.';
        for (int amount = 0; amount < AMOUNTS; amount++) {
            absent -= tally->cells[cell][amount];
            if (tally->cells[cell][amount] > most) {
                most = tally->cells[cell][amount];
                ret[cell] = LETTERS[amount];
            }
        }
        if (absent > most) {
            ret[cell] = '.';
        }
    }
}

// Parses (start, stop, kind) tuples; 0, or -1 with an exception set.
static int residency_parse(PyObject *fast, residency_range *ranges, uint64_t *ret_total) {
    *ret_total = 0;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(fast); i++) {
        unsigned long long start, stop;
        PyObject *row = PySequence_Fast_GET_ITEM(fast, i); // borrowed
        if (!PyTuple_Check(row)) {
            return error_set(PyExc_TypeError, "a range is a tuple (start, stop, kind)");
        }
        if (!PyArg_ParseTuple(row, "KKi;a range is (start, stop, kind)", &start, &stop, &ranges[i].kind)) {
            return -1;
        }
        ranges[i].start = start;
        ranges[i].stop = stop > start && stop < 1ull << 63 ? stop : start;
        *ret_total += ranges[i].stop - ranges[i].start;
    }
    return 0;
}

static PyObject *residency_read(PyObject *module /* borrowed */, PyObject *args /* borrowed */) {
    PyObject *pairs; // borrowed
    Py_ssize_t cells;
    int portable = 0;
    if (!PyArg_ParseTuple(args, "On|p:residency", &pairs, &cells, &portable)) {
        return NULL;
    }
    if (cells < 0 || cells > CELLS_MAX) {
        return PyErr_Format(PyExc_ValueError, "%zd cells: must be 0 to %d", cells, CELLS_MAX);
    }
    _owned_ PyObject *fast = PySequence_Fast(pairs, "ranges must be a sequence of (start, stop, kind)");
    if (!fast) {
        return NULL;
    }
    size_t count = (size_t)PySequence_Fast_GET_SIZE(fast);
    _free_ residency_range *ranges = calloc(count + 1, sizeof *ranges);
    _free_ uint64_t (*counts)[AMOUNTS] = calloc((size_t)cells + 1, sizeof *counts);
    if (!ranges || !counts) {
        return PyErr_NoMemory();
    }
    residency_tally tally = {.cells = counts, .cell_count = (size_t)cells};
    if (residency_parse(fast, ranges, &tally.total) < 0) {
        return NULL;
    }
    tally.cell_count = tally.total ? tally.cell_count : 0;
    _close_ int pagemap = tally.pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    int by_table = portable, status = pagemap < 0 ? -1 : residency_walk(&tally, ranges, count, by_table);
    if (status == 1) {
        tally.careful = 1;
        status = residency_walk(&tally, ranges, count, by_table);
    }
    if (status < 0 && pagemap >= 0 && !by_table) {
        status = residency_walk(&tally, ranges, count, by_table = 1);
    }
    if (status < 0) {
        Py_RETURN_NONE;
    }
    char strip[CELLS_MAX];
    residency_strip(&tally, strip);
    return Py_BuildValue("(sKKKKKKs#)", by_table ? "pagemap" : "PAGEMAP_SCAN", tally.bytes[OF_PRIVATE],
                         tally.bytes[OF_ZERO], tally.bytes[OF_FILE], tally.bytes[OF_SHARED],
                         tally.bytes[OF_SWAPPED], tally.huge_bytes, strip, (Py_ssize_t)tally.cell_count);
}

PART_FUNCTIONS(residency, {"residency", residency_read, METH_VARARGS, NULL})
