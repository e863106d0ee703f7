// The PAGEMAP_SCAN ioctl of /proc/self/pagemap: which pages of a range are of which category (Linux 6.7;
// Documentation/admin-guide/mm/pagemap.rst). The build machine's uapi/linux/fs.h may lack it.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_PAGEMAP_H
#define INSPECTOR_PAGEMAP_H

#include <stdint.h>
#include <sys/ioctl.h>

struct pagemap_region {
    uint64_t start, end, categories;
};
struct pagemap_query {
    uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
    uint64_t category_inverted, category_mask, category_anyof_mask, return_mask;
};
#define PAGEMAP_SCAN_IOCTL _IOWR('f', 16, struct pagemap_query)

// Page categories of that ioctl.
#define PAGEMAP_FILE (1u << 2)
#define PAGEMAP_PRESENT (1u << 3)
#define PAGEMAP_SWAPPED (1u << 4)
#define PAGEMAP_ZERO (1u << 5)
#define PAGEMAP_HUGE (1u << 6) // one entry of the page table's middle level: transparent, or of hugetlbfs

// Calls `each` for every region that matches the query, in address order: 0, or -1 where the kernel lacks the
// ioctl. The caller sets the query's categories, this function its range and vector.
static inline int pagemap_walk(int pagemap, struct pagemap_query query, uint64_t start, uint64_t stop,
                               void (*each)(const struct pagemap_region *region, void *argument),
                               void *argument) {
    struct pagemap_region regions[64];
    query.size = sizeof query;
    query.vec = (uintptr_t)regions;
    query.vec_len = 64;
    query.end = stop;
    for (uint64_t at = start; at < stop; at = query.walk_end) {
        query.start = at;
        query.walk_end = 0;
        int found = ioctl(pagemap, PAGEMAP_SCAN_IOCTL, &query);
        if (found < 0 || query.walk_end <= at) {
            return -1;
        }
        for (int i = 0; i < found; i++) {
            each(&regions[i], argument);
        }
    }
    return 0;
}

// Asks for one page: 1 and whether it is a huge one; 0 where it is not in memory; -1 where the kernel lacks
// the ioctl.
static inline int pagemap_page(int pagemap, uint64_t at, uint64_t page_bytes, int *ret_huge) {
    struct pagemap_region region = {0};
    struct pagemap_query query = {
        .size = sizeof query,
        .start = at,
        .end = at + page_bytes,
        .vec = (uintptr_t)&region,
        .vec_len = 1,
        .category_mask = PAGEMAP_PRESENT,
        .return_mask = PAGEMAP_PRESENT | PAGEMAP_HUGE,
    };
    int found = ioctl(pagemap, PAGEMAP_SCAN_IOCTL, &query);
    *ret_huge = (region.categories & PAGEMAP_HUGE) != 0;
    return found;
}

// Bits of a word of /proc/self/pagemap.
#define PAGEMAP_WORD_EXCLUSIVE (1ull << 56)
#define PAGEMAP_WORD_FILE (1ull << 61)
#define PAGEMAP_WORD_SWAPPED (1ull << 62)
#define PAGEMAP_WORD_PRESENT (1ull << 63)

#endif
