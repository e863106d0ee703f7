// The rows of the trace of lazy vectors: JSON, one object a line.
// SPDX-License-Identifier: MIT
#include "module/platform.h"
#include "r/lazy_trace.h"

#include <string.h>

enum { FRAMES = 48, BUILTINS_MAX = 2048, NAMED_ITEMS = 1000 };

// ----- native frames in words -----

typedef struct {
    const char *name;
    void *function;
    int code, evaluates, arity, kind, precedence;
    unsigned is_right;
} builtin; // R_FunTab: R's functions in C

// Writes the names of the R functions whose C code begins here, spaces between: several share one (do_arith).
static void builtins_write(void *function) {
    static const builtin *table;
    if (!table) {
        table = dlsym(RTLD_DEFAULT, "R_FunTab");
    }
    int count = 0;
    fprintf(lazy.file, "[");
    for (int i = 0; table && function && i < BUILTINS_MAX && table[i].name; i++) {
        if (table[i].function == function) {
            fprintf(lazy.file, "%s", count++ ? ", " : "");
            r_write_text(lazy.file, table[i].name);
        }
    }
    fprintf(lazy.file, "]");
}

// Writes a frame as ["function", "library", ["R function", ...]]; only names of exactly this function are
// told.
static void frame_write(int at, void *address) {
    Dl_info found = {0}, object = {0};
    void *start = _Unwind_FindEnclosingFunction((char *)address - 1);
    int is_named = start && dladdr(start, &found) && found.dli_saddr == start && found.dli_sname;
    dladdr(address, &object);
    const char *file = object.dli_fname ? object.dli_fname : "", *last = strrchr(file, '/');
    fprintf(lazy.file, "%s[", at ? ", " : "");
    r_write_text(lazy.file, is_named ? found.dli_sname : "");
    fprintf(lazy.file, ", ");
    r_write_text(lazy.file, last ? last + 1 : file);
    fprintf(lazy.file, ", ");
    builtins_write(start);
    fprintf(lazy.file, "]");
}

static void frames_write(void) {
    void *frames[FRAMES];
    int count = platform_backtrace(frames, FRAMES);
    fprintf(lazy.file, ", \"frames\": [");
    for (int i = 0; i < count; i++) {
        frame_write(i, frames[i]);
    }
    fprintf(lazy.file, "]");
}

// The name of a call's function: "sort", "base::sort"; "" for an expression.
static const char *called(r_object call) {
    r_object function = r.CAR(call);
    if (r.TYPEOF(function) == 6) { // pkg::name
        function = r.CAR(r.CDR(r.CDR(function)));
    }
    return r.TYPEOF(function) == 1 ? r.R_CHAR(r.PRINTNAME(function)) : "";
}

// What an R function without arguments gives; NULL where it fails. Protected: one more to unprotect.
static r_object asked(const char *function) {
    int failed = 0;
    r_object call = r.Rf_protect(r.Rf_lang1(r.Rf_install(function)));
    r_object found = r.R_tryEvalSilent(call, *r.base, &failed);
    r.Rf_unprotect(1);
    return r.Rf_protect(failed || !found ? *r.nil : found);
}

// R's functions that run, outermost first, and the number of the frame that each was called from.
static void calls_write(void) {
    r_object calls = asked("sys.calls"), parents = asked("sys.parents");
    fprintf(lazy.file, ", \"calls\": [");
    for (int at = 0; calls != *r.nil; calls = r.CDR(calls)) {
        fprintf(lazy.file, "%s", at++ ? ", " : "");
        r_write_text(lazy.file, called(r.CAR(calls)));
    }
    fprintf(lazy.file, "], \"parents\": [");
    ptrdiff_t count = r.TYPEOF(parents) == R_INTEGER ? r.Rf_xlength(parents) : 0;
    for (ptrdiff_t i = 0; i < count; i++) {
        fprintf(lazy.file, "%s%d", i ? ", " : "", r.INTEGER(parents)[i]);
    }
    fprintf(lazy.file, "]");
    r.Rf_unprotect(2);
}

void lazy_write_stacks(void) {
    calls_write();
    frames_write();
}

// ----- vectors and their names -----

static void vector_write(lazy_vector *one, const char *name, const char *item) {
    r_class_name kind = r_class_named(one->class_table);
    fprintf(
        lazy.file,
        "{\"vector\": %d, \"statement\": %d, \"type\": %d, \"length\": %td, \"item_bytes\": %zu, \"class\": ",
        one->number, one->statement, one->type, one->length, r_item_bytes(one->type));
    r_write_text(lazy.file, kind.name);
    fprintf(lazy.file, ", \"package\": ");
    r_write_text(lazy.file, kind.package);
    fprintf(lazy.file, ", \"name\": ");
    r_write_text(lazy.file, name);
    fprintf(lazy.file, ", \"item\": ");
    r_write_text(lazy.file, item);
    fprintf(lazy.file, "}\n");
    one->is_written = 1;
}

static void bound(r_object value, const char *name, const char *item) {
    lazy_vector *one = r.ALTREP(value) ? lazy_vector_of(value) : NULL;
    if (one) {
        one->is_bound = 1;
    }
    if (one && !one->is_named) {
        one->is_named = 1;
        one->length = r.Rf_xlength(value);
        vector_write(one, name, item);
    }
}

static void items_bound(r_object list, const char *name) {
    r_object names = r.Rf_getAttrib(list, *r.names);
    ptrdiff_t count = r.ALTREP(list) ? 0 : r.Rf_xlength(list);
    for (ptrdiff_t i = 0; i < count && i < NAMED_ITEMS; i++) {
        int has = r.TYPEOF(names) == R_STRING && i < r.Rf_xlength(names);
        bound(r.VECTOR_ELT(list, i), name, has ? r.R_CHAR(r.STRING_ELT(names, i)) : "");
    }
}

void lazy_find_names(void) {
    for (int i = 0; i < lazy.vector_count; i++) {
        lazy.vectors[i].was_bound = lazy.vectors[i].is_bound;
        lazy.vectors[i].is_bound = 0;
    }
    r_object names = r.Rf_protect(r.R_lsInternal3(*r.global, 1, 0));
    for (ptrdiff_t i = 0; i < r.Rf_xlength(names); i++) {
        const char *name = r.R_CHAR(r.STRING_ELT(names, i));
        r_object symbol = r.Rf_install(name);
        if (r.R_BindingIsActive(symbol, *r.global)) {
            continue;
        }
        r_object value = r.Rf_findVarInFrame3(*r.global, symbol, 1);
        if (r.TYPEOF(value) == R_LIST) {
            items_bound(value, name);
        } else if (r_item_bytes(r.TYPEOF(value))) {
            bound(value, name, "");
        }
    }
    r.Rf_unprotect(1);
}

void lazy_write_statement(void) {
    for (int i = 0; i < lazy.vector_count; i++) {
        lazy_vector *one = &lazy.vectors[i];
        if (lazy_is_small(one)) {
            continue;
        }
        if (one->elements || one->regions) {
            int is_nameless = one->is_named && !one->was_bound && one->statement < lazy.statement;
            fprintf(lazy.file,
                    "{\"read\": %d, \"statement\": %d, \"elements\": %u, \"regions\": %u, \"strings\": %u, "
                    "\"nameless\": %d}\n",
                    one->number, lazy.statement, one->elements, one->regions, one->strings, is_nameless);
            one->elements = one->regions = one->strings = 0;
        }
        if (!one->is_written) {
            vector_write(one, "", "");
        }
    }
    lazy_forget_small();
}
