// Lazy vectors for R: absolute values of another vector, and a file of doubles that is mapped.
// SPDX-License-Identifier: MIT
//
// lazy_abs: data1 is the input, marked as not mutable; data2 is NULL until Dataptr is asked for, then the
// results. Elt and Get_region compute what is asked and leave data2 as it is.
// lazy_abs_faulty: the same with the Get_region of the article's package: it materializes, fills nothing and
// returns the larger count.
// mapped_file: data1 is an external pointer to a mapping, data2 the path. The bytes are there from the start.

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <R.h>
#include <Rinternals.h>
// After Rinternals.h, whose types it uses.
#include <R_ext/Altrep.h>

#define PACKAGE "altrep_classes"

static R_altrep_class_t abs_class, abs_faulty_class, mapped_class;

// ----- lazy_abs -----

static int is_materialized(SEXP x) { return R_altrep_data2(x) != R_NilValue; }
static R_xlen_t abs_length(SEXP x) { return XLENGTH(R_altrep_data1(x)); }

// Writes |input[start]| ... to out; gives how many there were. The input may be lazy itself: it is asked for
// regions as well.
static R_xlen_t abs_compute(SEXP x, R_xlen_t start, R_xlen_t count, double *out) {
    R_xlen_t given = REAL_GET_REGION(R_altrep_data1(x), start, count, out);
    for (R_xlen_t i = 0; i < given; i++)
        out[i] = fabs(out[i]);
    return given;
}

static const double *abs_materialize(SEXP x) {
    if (!is_materialized(x)) {
        SEXP results = PROTECT(allocVector(REALSXP, abs_length(x)));
        abs_compute(x, 0, XLENGTH(results), REAL(results));
        R_set_altrep_data2(x, results);
        UNPROTECT(1);
    }
    return REAL_RO(R_altrep_data2(x));
}

static void *abs_dataptr(SEXP x, Rboolean writable) { return (void *)abs_materialize(x); }

static const void *abs_dataptr_or_null(SEXP x) {
    return is_materialized(x) ? REAL_RO(R_altrep_data2(x)) : NULL;
}

static double abs_elt(SEXP x, R_xlen_t i) {
    return is_materialized(x) ? REAL_RO(R_altrep_data2(x))[i] : fabs(REAL_ELT(R_altrep_data1(x), i));
}

static R_xlen_t abs_get_region(SEXP x, R_xlen_t start, R_xlen_t count, double *out) {
    return is_materialized(x) ? REAL_GET_REGION(R_altrep_data2(x), start, count, out)
                              : abs_compute(x, start, count, out);
}

static R_xlen_t faulty_get_region(SEXP x, R_xlen_t start, R_xlen_t count, double *out) {
    abs_materialize(x); // the results are there now, and the caller's buffer is as it was
    R_xlen_t left = abs_length(x) - start;
    return left > count ? left : count;
}

static int abs_no_na(SEXP x) { return REAL_NO_NA(R_altrep_data1(x)); } // fabs makes and removes no NA

static Rboolean abs_inspect(SEXP x, int pre, int deep, int pvec, void (*subtree)(SEXP, int, int, int)) {
    Rprintf("%slazy(abs) (len=%ld)\n", is_materialized(x) ? "materialized " : "", (long)abs_length(x));
    subtree(R_altrep_data1(x), pre, deep + 1, pvec);
    if (is_materialized(x))
        subtree(R_altrep_data2(x), pre, deep + 1, pvec);
    return TRUE;
}

SEXP lazy_abs(SEXP input, SEXP faulty) {
    if (TYPEOF(input) != REALSXP)
        error("lazy_abs needs doubles");
    MARK_NOT_MUTABLE(input); // whoever writes it copies it first
    return R_new_altrep(asLogical(faulty) ? abs_faulty_class : abs_class, input, R_NilValue);
}

// ----- mapped_file -----

typedef struct {
    double *first;
    size_t bytes;
} mapping;

static mapping *mapped_of(SEXP x) { return R_ExternalPtrAddr(R_altrep_data1(x)); }

static void unmap(SEXP pointer) {
    mapping *held = R_ExternalPtrAddr(pointer);
    munmap(held->first, held->bytes);
    free(held);
    R_ClearExternalPtr(pointer);
}

static R_xlen_t mapped_length(SEXP x) { return mapped_of(x)->bytes / sizeof(double); }
static void *mapped_dataptr(SEXP x, Rboolean writable) { return mapped_of(x)->first; }
static const void *mapped_dataptr_or_null(SEXP x) { return mapped_of(x)->first; }
static double mapped_elt(SEXP x, R_xlen_t i) { return mapped_of(x)->first[i]; }

static R_xlen_t mapped_get_region(SEXP x, R_xlen_t start, R_xlen_t count, double *out) {
    R_xlen_t left = mapped_length(x) - start, given = left < count ? left : count;
    memcpy(out, mapped_of(x)->first + start, given * sizeof *out);
    return given;
}

static int mapped_no_na(SEXP x) { return 0; } // unknown: the file is not read to find out

static Rboolean mapped_inspect(SEXP x, int pre, int deep, int pvec, void (*subtree)(SEXP, int, int, int)) {
    Rprintf("mapped file (len=%ld, %s)\n", (long)mapped_length(x), CHAR(STRING_ELT(R_altrep_data2(x), 0)));
    return TRUE;
}

// The mapping of a file, to be freed with it; an error of R's where it cannot be mapped. The pages are
// private: what R may write there never reaches the file.
static mapping *map(const char *path) {
    struct stat status;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &status) < 0 || status.st_size < (off_t)sizeof(double)) {
        if (file >= 0)
            close(file);
        error("%s cannot be read, or holds no double", path);
    }
    size_t bytes = status.st_size - status.st_size % sizeof(double);
    void *first = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
    close(file);
    mapping *made = first == MAP_FAILED ? NULL : malloc(sizeof *made);
    if (made == NULL)
        error("%s cannot be mapped", path);
    *made = (mapping){first, bytes};
    return made;
}

SEXP mapped_file(SEXP path) {
    mapping *made = map(R_ExpandFileName(CHAR(asChar(path))));
    SEXP pointer = PROTECT(R_MakeExternalPtr(made, R_NilValue, R_NilValue));
    R_RegisterCFinalizerEx(pointer, unmap, TRUE);
    SEXP x = R_new_altrep(mapped_class, pointer, path);
    UNPROTECT(1);
    return x;
}

// ----- the classes' tables of methods -----

static R_altrep_class_t abs_register(const char *name, DllInfo *library) {
    R_altrep_class_t made = R_make_altreal_class(name, PACKAGE, library);
    R_set_altrep_Length_method(made, abs_length);
    R_set_altrep_Inspect_method(made, abs_inspect);
    R_set_altvec_Dataptr_method(made, abs_dataptr);
    R_set_altvec_Dataptr_or_null_method(made, abs_dataptr_or_null);
    R_set_altreal_Elt_method(made, abs_elt);
    R_set_altreal_Get_region_method(made, abs_get_region);
    R_set_altreal_No_NA_method(made, abs_no_na);
    return made;
}

void R_init_altrep_classes(DllInfo *library) {
    abs_class = abs_register("lazy_abs", library);
    abs_faulty_class = abs_register("lazy_abs_faulty", library);
    R_set_altreal_Get_region_method(abs_faulty_class, faulty_get_region);
    mapped_class = R_make_altreal_class("mapped_file", PACKAGE, library);
    R_set_altrep_Length_method(mapped_class, mapped_length);
    R_set_altrep_Inspect_method(mapped_class, mapped_inspect);
    R_set_altvec_Dataptr_method(mapped_class, mapped_dataptr);
    R_set_altvec_Dataptr_or_null_method(mapped_class, mapped_dataptr_or_null);
    R_set_altreal_Elt_method(mapped_class, mapped_elt);
    R_set_altreal_Get_region_method(mapped_class, mapped_get_region);
    R_set_altreal_No_NA_method(mapped_class, mapped_no_na);
}
