// The patched slots of the process, shared by trampolines, hooks and the code that arms them (slot_table.h).
// SPDX-License-Identifier: MIT
#include "trace/capi/slot_table.h"

#include <dlfcn.h>

got_words got_words_of[GOT_PLACES];
uint16_t got_rows[GOT_SLOTS];

const exports_row *got_source_find(const got_source *source, const char *name) {
    if (source->find) {
        return source->find(name);
    }
    for (int i = 0; i < source->count; i++) {
        if (strcmp(source->functions[i].name, name) == 0) {
            return &source->functions[i];
        }
    }
    return NULL;
}

void *got_source_hook(const got_source *source, uint16_t row) {
    return source->hook ? source->hook(row) : source->hooks[row - source->first];
}

// C++'s functions are visible once their library is loaded.
void got_source_find_addresses(const got_source *source) {
    for (int i = 0; i < source->count; i++) {
        exports_row *function = &source->functions[i];
        function->address = function->address ? function->address : dlsym(RTLD_DEFAULT, function->name);
    }
}
