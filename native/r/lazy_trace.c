// Which lazy vectors (ALTREP) an R program makes, which of them it materializes, and by which functions.
//
// Overview. The library is preloaded into R: libR and packages call R_new_altrep through their import slots,
// so ours is found first. It notes the vector and, at the first one of a class, replaces four methods in the
// class's table: Dataptr (through which elements are asked for as a block), Duplicate (which may make an
// ordinary vector of all of them), Elt and Get_region (which leave a vector lazy). R's own setters do that;
// which pointer was there before is the word that they change.
//
// Life cycle. INSPECTOR_R_LAZY names the file for our rows; without it nothing is noted. Our R profile loads
// us again by name and calls inspector_lazy_over after each statement at top level: the statement's rows are
// written then, what is left when R exits. A forked child notes nothing.
//
// Threads. R calls methods in one thread.
//
// Limits. Small vectors without a name are only counted, and those that find no room. An
// address is a vector until another is made there. A materialization is a call of Dataptr before which
// Dataptr_or_null gave no pointer.
// SPDX-License-Identifier: MIT
#include "r/lazy_trace.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

enum { CLASSES_MAX = 256 };

typedef struct {
    r_object table;
    void *dataptr, *duplicate, *elt, *region; // the class's own methods; NULL: not replaced
    int is_base;                              // of R itself: Length may be asked as soon as a vector is made
    int is_deferred;                          // R's deferred strings: each is kept in data2 once it was read
    int is_wrapper;                           // R's: its elements are another vector's, which may be lazy
} known_class;

static known_class classes[CLASSES_MAX];

static int is_on(void) { return lazy.file && !lazy.is_inside; }

static uint64_t now_ns(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (uint64_t)at.tv_sec * 1000000000u + (uint64_t)at.tv_nsec;
}

static known_class *class_of(r_object table) {
    for (int i = 0; i < lazy.class_count; i++) {
        if (classes[i].table == table) {
            return &classes[i];
        }
    }
    return NULL;
}

// Notes a vector; NULL where there is no room. Only R's own classes are asked for a length this early.
static lazy_vector *vector_add(r_object address, r_object table) {
    const known_class *kind = class_of(table);
    return lazy_vector_add(address, table, kind && kind->is_base ? r.Rf_xlength(address) : -1);
}

// ----- the methods -----

static void materialized(r_object x, uint64_t ns, int writable, int is_copy) {
    lazy_vector *one = lazy_vector_of(x);
    if (!one && !(one = vector_add(x, r.ALTREP_CLASS(x)))) {
        return;
    }
    one->length = r.Rf_xlength(x);
    if (lazy_is_small(one)) {
        return;
    }
    lazy.is_inside = 1;
    fprintf(lazy.file,
            "{\"materialized\": %d, \"statement\": %d, \"ns\": %llu, \"writable\": %d, \"copied\": %d, "
            "\"bytes\": %zu",
            one->number, lazy.statement, (unsigned long long)ns, writable, is_copy,
            (size_t)one->length * r_item_bytes(one->type));
    lazy_write_stacks();
    fprintf(lazy.file, "}\n");
    fflush(lazy.file);
    lazy.is_inside = 0;
}

static void *hook_dataptr(r_object x, int writable) {
    known_class *kind = class_of(r.ALTREP_CLASS(x));
    void *(*own)(r_object, int) = (void *(*)(r_object, int))kind->dataptr;
    if (!is_on() || r.DATAPTR_OR_NULL(x)) {
        return own(x, writable);
    }
    uint64_t start = now_ns();
    lazy.is_inside += !kind->is_wrapper; // what it reads of itself on the way is no read of the program's
    void *elements = own(x, writable);
    lazy.is_inside -= !kind->is_wrapper;
    materialized(x, now_ns() - start, writable, 0);
    return elements;
}

static r_object hook_duplicate(r_object x, int is_deep) {
    r_object (*own)(r_object, int) = (r_object (*)(r_object, int))class_of(r.ALTREP_CLASS(x))->duplicate;
    int is_watched = is_on() && !r.DATAPTR_OR_NULL(x);
    uint64_t start = now_ns();
    lazy.is_inside += is_watched;
    r_object made = own(x, is_deep);
    lazy.is_inside -= is_watched;
    if (is_watched && made && made != *r.nil && !r.ALTREP(made)) {
        uint64_t took = now_ns() - start;
        r.Rf_protect(made);
        materialized(x, took, 0, 1);
        r.Rf_unprotect(1);
    }
    return made;
}

static void read_note(r_object x, uint32_t elements, uint32_t regions) {
    lazy_vector *one = lazy_vector_of(x);
    if (one || (one = vector_add(x, r.ALTREP_CLASS(x)))) {
        one->elements += elements;
        one->regions += regions;
    }
}

#define HOOK_ELT(name, type) \
    static type hook_elt_##name(r_object x, ptrdiff_t at) { \
        if (is_on()) { \
            read_note(x, 1, 0); \
        } \
        return ((type (*)(r_object, ptrdiff_t))class_of(r.ALTREP_CLASS(x))->elt)(x, at); \
    }
#define HOOK_REGION(name, type) \
    static ptrdiff_t hook_region_##name(r_object x, ptrdiff_t start, ptrdiff_t count, type *out) { \
        known_class *kind = class_of(r.ALTREP_CLASS(x)); \
        int is_outer = is_on(); \
        if (is_outer) { \
            read_note(x, 0, 1); \
        } \
        lazy.is_inside += is_outer; \
        ptrdiff_t given = \
            ((ptrdiff_t (*)(r_object, ptrdiff_t, ptrdiff_t, type *))kind->region)(x, start, count, out); \
        lazy.is_inside -= is_outer; \
        return given; \
    }
HOOK_ELT(integer, int)
HOOK_ELT(real, double)

// R makes a deferred string when it is read first, and keeps it: from then on the vector is lazy in part.
static int is_string_made(r_object x, ptrdiff_t at) {
    r_object kept = r.R_altrep_data2(x);
    return r.TYPEOF(kept) == R_STRING && ((const r_object *)r.DATAPTR_RO(kept))[at];
}

static r_object hook_elt_string(r_object x, ptrdiff_t at) {
    const known_class *kind = class_of(r.ALTREP_CLASS(x));
    if (is_on()) {
        read_note(x, 1, 0);
        lazy_vector *one = kind->is_deferred && !is_string_made(x, at) ? lazy_vector_of(x) : NULL;
        if (one) {
            one->strings++;
        }
    }
    return ((r_object (*)(r_object, ptrdiff_t))kind->elt)(x, at);
}
HOOK_REGION(integer, int)
HOOK_REGION(real, double)

static void class_add(r_object table) {
    if (class_of(table) || lazy.class_count == CLASSES_MAX) {
        return;
    }
    known_class *kind = &classes[lazy.class_count];
    *kind = (known_class){.table = table};
    kind->is_base = strcmp(r_class_named(table).package, "base") == 0;
    kind->is_deferred = kind->is_base && strcmp(r_class_named(table).name, "deferred_string") == 0;
    kind->is_wrapper = kind->is_base && strncmp(r_class_named(table).name, "wrap_", 5) == 0;
    kind->dataptr = r_method_replace(table, r.R_set_altvec_Dataptr_method, hook_dataptr);
    kind->duplicate = r_method_replace(table, r.R_set_altrep_Duplicate_method, hook_duplicate);
    switch (r_class_named(table).type) {
    case R_INTEGER:
        kind->elt = r_method_replace(table, r.R_set_altinteger_Elt_method, hook_elt_integer);
        kind->region = r_method_replace(table, r.R_set_altinteger_Get_region_method, hook_region_integer);
        break;
    case R_LOGICAL:
        kind->elt = r_method_replace(table, r.R_set_altlogical_Elt_method, hook_elt_integer);
        kind->region = r_method_replace(table, r.R_set_altlogical_Get_region_method, hook_region_integer);
        break;
    case R_REAL:
        kind->elt = r_method_replace(table, r.R_set_altreal_Elt_method, hook_elt_real);
        kind->region = r_method_replace(table, r.R_set_altreal_Get_region_method, hook_region_real);
        break;
    case R_STRING:
        kind->elt = r_method_replace(table, r.R_set_altstring_Elt_method, hook_elt_string);
        break;
    default:
        break;
    }
    lazy.class_count++;
}

// ----- what R calls -----

// In the place of libR's: makes the vector, and notes it.
EXPORTED r_object R_new_altrep(r_class class, r_object one, r_object two);
r_object R_new_altrep(r_class class, r_object one, r_object two) {
    static r_object (*own)(r_class, r_object, r_object);
    if (!own) {
        own = (r_object (*)(r_class, r_object, r_object))dlsym(RTLD_NEXT, "R_new_altrep");
    }
    r_object made = own(class, one, two);
    if (is_on() && r_find()) {
        class_add(class.table);
        if (lazy.statement) {
            vector_add(made, class.table);
        }
    }
    return made;
}

// A statement at top level is over: its number, line and text. The next one begins.
EXPORTED r_object inspector_lazy_over(r_object number, r_object line, r_object text);
r_object inspector_lazy_over(r_object number, r_object line, r_object text) {
    lazy.is_inside = 0; // an error within a method left it
    if (is_on() && r_find()) {
        lazy.is_inside = 1;
        if (lazy.statement) {
            fprintf(lazy.file, "{\"statement\": %d, \"line\": %d, \"text\": ", lazy.statement,
                    r.INTEGER(line)[0]);
            r_write_text(lazy.file, r.R_CHAR(r.STRING_ELT(text, 0)));
            fprintf(lazy.file, "}\n");
            lazy_find_names();
            lazy_write_statement();
            fflush(lazy.file);
        }
        lazy.statement = r.INTEGER(number)[0] + 1;
        lazy.is_inside = 0;
    }
    return *r.nil;
}

static void forked(void) { lazy.file = NULL; }

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("INSPECTOR_R_LAZY");
    char name[4096];
    if (!path || !dlsym(RTLD_DEFAULT, "Rf_initEmbeddedR") ||
        snprintf(name, sizeof name, "%s%d.jsonl", path, (int)getpid()) >= (int)sizeof name) {
        return;
    }
    lazy.file = fopen(name, "ae");
    pthread_atfork(NULL, NULL, forked);
}

__attribute__((destructor)) static void end(void) {
    if (!lazy.file) {
        return;
    }
    lazy.is_inside = 1;
    if (r_find()) {
        lazy_write_statement();
        fprintf(lazy.file, "{\"end\": %d, \"left_out\": %llu, \"small\": %llu}\n", lazy.statement,
                (unsigned long long)lazy.left_out, (unsigned long long)lazy.small);
    }
    fflush(lazy.file);
}
