// The functions of each family of import slots, by name, and the hooks of their rows.
// SPDX-License-Identifier: MIT
#include "trace/arm/got.h"
#include "trace/capi/allocations.h"
#include "trace/capi/foreign_calls.h"
#include "trace/capi/hooks.h"

static const got_source foreign_source = {
    .first = GOT_FOREIGN_ROW, .find = foreign_find, .hook = foreign_hook};
static const got_source lookup_source = {
    .first = GOT_LOOKUP_FIRST, .find = lookups_find, .hook = lookups_hook};
static const got_source *sources[GOT_FAMILIES] = {
    [GOT_FOREIGN] = &foreign_source, [GOT_LOOKUP] = &lookup_source, [GOT_ALLOCATORS] = &allocations_source};

void got_family_add(got_family family, const got_source *source) { sources[family] = source; }

const exports_row *got_function(got_family family, const char *name) {
    return family == GOT_CAPI ? exports_find(name) : got_source_find(sources[family], name);
}

void *got_hook(uint16_t row, got_grade grade) {
    const got_source *nearest = NULL; // the source with the highest first row up to this one
    for (int i = 0; row != CAPI_NO_ROW && i < GOT_FAMILIES; i++) {
        if (sources[i] && sources[i]->first <= row && (!nearest || sources[i]->first > nearest->first)) {
            nearest = sources[i];
        }
    }
    return nearest ? got_source_hook(nearest, row) : capi_hook(row, grade);
}
