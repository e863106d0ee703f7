// The PAGEMAP_SCAN ioctl of /proc/self/pagemap: which pages of a range are of a kind (Linux 6.7;
// Documentation/admin-guide/mm/pagemap.rst, include/uapi/linux/fs.h, which build machines may lack).
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

// Bits of a word of /proc/self/pagemap.
#define PAGEMAP_WORD_EXCLUSIVE (1ull << 56)
#define PAGEMAP_WORD_FILE (1ull << 61)
#define PAGEMAP_WORD_SWAPPED (1ull << 62)
#define PAGEMAP_WORD_PRESENT (1ull << 63)

#endif
