// libR's functions by name, and a few words that all of this room needs.
// SPDX-License-Identifier: MIT
#include "r/r.h"

#include <dlfcn.h>
#include <string.h>

r_functions r;

int r_find(void) {
    static int found;
    if (!found) {
#define R_FIND(type, name, params) r.name = (type(*) params)dlsym(RTLD_DEFAULT, #name);
#define R_MISSING(type, name, params) || !r.name
        R_FUNCTIONS(R_FIND)
        r.nil = dlsym(RTLD_DEFAULT, "R_NilValue");
        r.global = dlsym(RTLD_DEFAULT, "R_GlobalEnv");
        r.base = dlsym(RTLD_DEFAULT, "R_BaseEnv");
        r.names = dlsym(RTLD_DEFAULT, "R_NamesSymbol");
        found = !r.nil || !r.global || !r.base || !r.names R_FUNCTIONS(R_MISSING) ? -1 : 1;
    }
    return found > 0;
}

size_t r_item_bytes(int type) {
    switch (type) {
    case R_LOGICAL:
    case R_INTEGER:
        return 4;
    case R_REAL:
    case R_STRING:
    case R_LIST:
        return 8;
    case R_COMPLEX:
        return 16;
    default:
        return type == R_RAW;
    }
}

static const char *symbol_text(r_object symbol) { return r.R_CHAR(r.PRINTNAME(symbol)); }

// A class's attributes are a pairlist: two symbols and its type.
r_class_name r_class_named(r_object table) {
    r_object pairs = r.ATTRIB(table);
    r_object second = r.CDR(pairs), third = r.CDR(second);
    return (r_class_name){symbol_text(r.CAR(pairs)), symbol_text(r.CAR(second)), r.INTEGER(r.CAR(third))[0]};
}

void r_write_text(FILE *file, const char *text) {
    fprintf(file, "\"");
    for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
        if (*at == '"' || *at == '\\') {
            fprintf(file, "\\%c", *at);
        } else if (*at < ' ') {
            fprintf(file, "\\u%04x", *at);
        } else {
            fputc(*at, file);
        }
    }
    fprintf(file, "\"");
}

void *r_method_replace(r_object table, void (*set)(r_class, void *), void *hook) {
    enum { WORDS = 64 };
    void *before[WORDS], **words = (void **)r.RAW(table);
    ptrdiff_t count = r.Rf_xlength(table) / (ptrdiff_t)sizeof(void *);
    count = count < WORDS ? count : WORDS;
    memcpy(before, words, (size_t)count * sizeof *words);
    set((r_class){table}, hook);
    for (ptrdiff_t i = 0; i < count; i++) {
        if (words[i] != before[i]) {
            return before[i];
        }
    }
    return NULL;
}
