// The functions of each family of slots, by name, and the hooks of their rows.
#include "got.h"

#include "lookups.h"

const exports_row *got_function(got_family family, const char *name) {
    return family == GOT_CAPI      ? exports_find(name)
           : family == GOT_FOREIGN ? foreign_find(name)
           : family == GOT_LOOKUP  ? lookups_find(name)
           : family == GOT_FREEING ? freeing_find(name)
           : family == GOT_OUTSIDE ? outside_find(name)
                                   : allocations_find(name);
}

void *got_hook(uint16_t row, got_grade grade) {
    if (row == GOT_FOREIGN_ROW) {
        return foreign_hook();
    }
    if (row >= GOT_LOOKUP_FIRST && row < GOT_ALLOCATOR_FIRST) {
        return row < GOT_FREEING_FIRST   ? lookups_hook(row)
               : row < GOT_OUTSIDE_FIRST ? freeing_hook(row)
                                         : outside_hook(row);
    }
    int allocator = row >= GOT_ALLOCATOR_FIRST && row != CAPI_NO_ROW;
    return allocator ? allocations_hook(row) : capi_hook(row, grade);
}
