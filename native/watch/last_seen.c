// A copy of the watched range as last seen: a difference shows a change without a recorded store.
//
// A page that was never touched is not read, since reading would create it. In an anonymous mapping it counts
// as zeros; one of a file that was not in memory at the start cannot be compared.
// SPDX-License-Identifier: MIT
#include "memory/pagemap.h"
#include "watch/writes.h"

#include <fcntl.h>
#include <sys/mman.h>

static struct {
    uintptr_t start, stop, first, last; // the bytes, and their pages
    unsigned char *bytes, *known;       // owned, mappings: the copy; 1 per page that it holds
    int anonymous;
} kept;

static void copy_mark(const struct pagemap_region *region, void *marks) {
    memset((unsigned char *)marks + (region->start - kept.first) / WRITES_PAGE, 1,
           (region->end - region->start) / WRITES_PAGE);
}

// Marks the pages of the range that exist, by PAGEMAP_SCAN: 0, or -1 with errno.
static int copy_mark_existing(unsigned char *marks) {
    _close_ int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    struct pagemap_query query = {.category_anyof_mask = PAGEMAP_PRESENT | PAGEMAP_SWAPPED,
                                  .return_mask = PAGEMAP_PRESENT};
    return pagemap_walk(pagemap, query, kept.first, kept.last, copy_mark, marks);
}

// The watched bytes of page number `page`.
static size_t copy_page_part(size_t page, uintptr_t *ret) {
    uintptr_t from = kept.first + page * WRITES_PAGE, to = from + WRITES_PAGE;
    *ret = from > kept.start ? from : kept.start;
    return (to < kept.stop ? to : kept.stop) - *ret;
}

static size_t copy_pages(void) { return (kept.last - kept.first) / WRITES_PAGE; }

static unsigned char *copy_map(size_t bytes) {
    void *memory =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

int writes_copy_init(uintptr_t start, uintptr_t stop, int anonymous) {
    kept.start = start;
    kept.stop = stop;
    kept.first = start & ~(uintptr_t)(WRITES_PAGE - 1);
    kept.last = (stop + WRITES_PAGE - 1) & ~(uintptr_t)(WRITES_PAGE - 1);
    kept.anonymous = anonymous;
    kept.bytes = copy_map(kept.stop - kept.start);
    kept.known = copy_map(copy_pages());
    if (!kept.bytes || !kept.known || copy_mark_existing(kept.known) < 0) {
        return -1;
    }
    for (size_t page = 0; page < copy_pages(); page++) {
        uintptr_t from;
        size_t bytes = copy_page_part(page, &from);
        if (kept.known[page]) {
            memcpy(kept.bytes + (from - kept.start), (const void *)from, bytes);
        }
    }
    return 0;
}

int writes_copy_differs(void) {
    unsigned char *exists = copy_map(copy_pages());
    int found = exists ? copy_mark_existing(exists) : -1;
    for (size_t page = 0; exists && !found && page < copy_pages(); page++) {
        uintptr_t from;
        size_t bytes = copy_page_part(page, &from);
        int comparable = exists[page] && (kept.known[page] || kept.anonymous);
        found = comparable && memcmp(kept.bytes + (from - kept.start), (const void *)from, bytes);
    }
    if (exists) {
        munmap(exists, copy_pages());
    }
    return found < 0 ? -1 : !!found;
}

int writes_copy_agrees(uintptr_t from, size_t bytes) {
    if (!bytes) {
        return 1;
    }
    const unsigned char *known = kept.known + (from - kept.first) / WRITES_PAGE;
    int comparable =
        kept.anonymous || (known[0] && kept.known[(from + bytes - 1 - kept.first) / WRITES_PAGE]);
    return !comparable || !memcmp(kept.bytes + (from - kept.start), (const void *)from, bytes);
}

void writes_copy_keep(uintptr_t from, size_t bytes) {
    memcpy(kept.bytes + (from - kept.start), (const void *)from, bytes);
}

void writes_copy_deinit(void) {
    if (kept.bytes) {
        munmap(kept.bytes, kept.stop - kept.start);
    }
    if (kept.known) {
        munmap(kept.known, copy_pages());
    }
    kept.bytes = kept.known = NULL;
}
