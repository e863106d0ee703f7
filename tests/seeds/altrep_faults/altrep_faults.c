// Lazy vectors for R, twice the numbers of another vector: one class that keeps its contract, and for each
// method one or two that differ from it in this method only. twice(x, "sum") has the class "twice_sum".
// SPDX-License-Identifier: MIT
//
// data1 is the input, marked as not mutable; data2 is NULL until Dataptr is asked for, then the results.

#include <math.h>
#include <string.h>

#include <R.h>
#include <Rinternals.h>
// After Rinternals.h, whose types it uses.
#include <R_ext/Altrep.h>

enum { CLASSES_MAX = 32 };
static struct {
    char name[32];
    R_altrep_class_t made;
} classes[CLASSES_MAX];
static int class_count;

static SEXP input(SEXP x) { return R_altrep_data1(x); }
static R_xlen_t length_of(SEXP x) { return XLENGTH(input(x)); }
static double at(SEXP x, R_xlen_t i) { return 2 * REAL_RO(input(x))[i]; }

static SEXP results(SEXP x) {
    SEXP made = allocVector(REALSXP, length_of(x));
    for (R_xlen_t i = 0; i < XLENGTH(made); i++)
        REAL(made)[i] = at(x, i);
    return made;
}

// ----- the methods -----

static const void *or_null(SEXP x) {
    return R_altrep_data2(x) == R_NilValue ? NULL : REAL_RO(R_altrep_data2(x));
}
static void *dataptr(SEXP x, Rboolean writable) {
    if (R_altrep_data2(x) == R_NilValue)
        R_set_altrep_data2(x, results(x));
    return REAL(R_altrep_data2(x));
}
static double element(SEXP x, R_xlen_t i) { return or_null(x) ? ((const double *)or_null(x))[i] : at(x, i); }
static R_xlen_t region(SEXP x, R_xlen_t start, R_xlen_t count, double *out) {
    R_xlen_t left = length_of(x) - start, given = left < count ? left : count;
    for (R_xlen_t i = 0; i < given; i++)
        out[i] = element(x, start + i);
    return given;
}
static SEXP folded(SEXP x, Rboolean without_na, double start, double (*fold)(double, double)) {
    for (R_xlen_t i = 0; i < length_of(x); i++) {
        if (ISNAN(element(x, i))) {
            if (!without_na)
                return ScalarReal(NA_REAL);
        } else {
            start = fold(start, element(x, i));
        }
    }
    return ScalarReal(start);
}
static double plus(double a, double b) { return a + b; }
static double least(double a, double b) { return a < b ? a : b; }
static double most(double a, double b) { return a > b ? a : b; }
static SEXP sum(SEXP x, Rboolean without_na) { return folded(x, without_na, 0, plus); }
static SEXP min(SEXP x, Rboolean without_na) { return folded(x, without_na, R_PosInf, least); }
static SEXP max(SEXP x, Rboolean without_na) { return folded(x, without_na, R_NegInf, most); }
static int no_na(SEXP x) {
    for (R_xlen_t i = 0; i < length_of(x); i++)
        if (ISNAN(element(x, i)))
            return 0;
    return 1;
}
static int is_sorted(SEXP x) { return UNKNOWN_SORTEDNESS; }
static SEXP subset(SEXP x, SEXP places, SEXP call) {
    SEXP made = PROTECT(allocVector(REALSXP, XLENGTH(places)));
    for (R_xlen_t i = 0; i < XLENGTH(places); i++) {
        int place = INTEGER_ELT(places, i);
        REAL(made)[i] = place == NA_INTEGER || place > length_of(x) ? NA_REAL : element(x, place - 1);
    }
    UNPROTECT(1);
    return made;
}
static SEXP duplicate_of(SEXP x, Rboolean deep) { return results(x); }
static SEXP recipe(SEXP x) { return input(x); }

// ----- one mistake each -----

static double elt_wrong(SEXP x, R_xlen_t i) { return element(x, i) + (i == 1); }
static R_xlen_t region_materializes(SEXP x, R_xlen_t start, R_xlen_t count, double *out) {
    dataptr(x, FALSE);
    return region(x, start, count, out);
}
static R_xlen_t region_from_start(SEXP x, R_xlen_t start, R_xlen_t count, double *out) {
    region(x, 0, count, out);
    return length_of(x) - start < count ? length_of(x) - start : count;
}
static R_xlen_t region_promises(SEXP x, R_xlen_t start, R_xlen_t count, double *out) {
    region(x, start, count, out);
    return count;
}
static R_xlen_t region_too_far(SEXP x, R_xlen_t start, R_xlen_t count, double *out) {
    R_xlen_t given = region(x, start, count, out);
    out[count] = 7;
    return given;
}
static void *dataptr_wrong(SEXP x, Rboolean writable) {
    int is_new = !or_null(x);
    double *found = dataptr(x, writable);
    if (is_new)
        found[1] += 1;
    return found;
}
static void *dataptr_moves(SEXP x, Rboolean writable) {
    R_set_altrep_data2(x, results(x));
    return REAL(R_altrep_data2(x));
}
static const void *or_null_materializes(SEXP x) { return dataptr(x, FALSE); }
static SEXP sum_wrong(SEXP x, Rboolean without_na) {
    return folded(x, TRUE, 0, plus); // NA is left out without being asked
}
static SEXP min_wrong(SEXP x, Rboolean without_na) { return folded(x, without_na, 0, least); }
static SEXP max_fails(SEXP x, Rboolean without_na) { error("no maximum"); }
static int no_na_wrong(SEXP x) { return 1; }
static int is_sorted_wrong(SEXP x) { return SORTED_INCR; }
static SEXP subset_wrong(SEXP x, SEXP places, SEXP call) {
    SEXP made = subset(x, places, call);
    REAL(made)[0] = element(x, 0); // counts from the wrong end
    return made;
}
static SEXP subset_beyond(SEXP x, SEXP places, SEXP call) {
    SEXP made = subset(x, places, call);
    for (R_xlen_t i = 0; i < XLENGTH(places); i++)
        if (INTEGER_ELT(places, i) > length_of(x))
            REAL(made)[i] = 0;
    return made;
}
static SEXP duplicate_shares(SEXP x, Rboolean deep) { return x; }
static SEXP unserialize_half(SEXP class, SEXP state);
static SEXP min_crashes(SEXP x, Rboolean without_na) { return ScalarReal(*(volatile double *)NULL); }

// ----- the classes -----

static SEXP made_of(const char *name, SEXP x) {
    for (int i = 0; i < class_count; i++)
        if (strcmp(classes[i].name, name) == 0)
            return R_new_altrep(classes[i].made, x, R_NilValue);
    error("no class %s", name);
}
static SEXP unserialized(SEXP class, SEXP state) { return made_of("twice", state); }
static SEXP unserialize_half(SEXP class, SEXP state) {
    return made_of("twice", lengthgets(state, XLENGTH(state) / 2));
}

SEXP twice(SEXP x, SEXP fault) {
    char name[32];
    MARK_NOT_MUTABLE(x);
    snprintf(name, sizeof name, "twice%s%s", *CHAR(asChar(fault)) ? "_" : "", CHAR(asChar(fault)));
    return made_of(name, x);
}

static R_altrep_class_t class_add(const char *fault, DllInfo *library) {
    char *name = classes[class_count].name;
    snprintf(name, sizeof classes->name, "twice%s%s", *fault ? "_" : "", fault);
    R_altrep_class_t made = R_make_altreal_class(name, "altrep_faults", library);
    classes[class_count++].made = made;
    R_set_altrep_Length_method(made, length_of);
    R_set_altrep_Duplicate_method(made, duplicate_of);
    R_set_altrep_Serialized_state_method(made, recipe);
    R_set_altrep_Unserialize_method(made, unserialized);
    R_set_altvec_Dataptr_method(made, dataptr);
    R_set_altvec_Dataptr_or_null_method(made, or_null);
    R_set_altvec_Extract_subset_method(made, subset);
    R_set_altreal_Elt_method(made, element);
    R_set_altreal_Get_region_method(made, region);
    R_set_altreal_Sum_method(made, sum);
    R_set_altreal_Min_method(made, min);
    R_set_altreal_Max_method(made, max);
    R_set_altreal_No_NA_method(made, no_na);
    R_set_altreal_Is_sorted_method(made, is_sorted);
    return made;
}

void R_init_altrep_faults(DllInfo *library) {
    class_add("", library);
    R_set_altreal_Elt_method(class_add("elt", library), elt_wrong);
    R_set_altreal_Get_region_method(class_add("region_lazy", library), region_materializes);
    R_set_altreal_Get_region_method(class_add("region_start", library), region_from_start);
    R_set_altreal_Get_region_method(class_add("region_count", library), region_promises);
    R_set_altreal_Get_region_method(class_add("region_end", library), region_too_far);
    R_set_altvec_Dataptr_method(class_add("dataptr", library), dataptr_wrong);
    R_set_altvec_Dataptr_method(class_add("dataptr_moves", library), dataptr_moves);
    R_set_altvec_Dataptr_or_null_method(class_add("or_null", library), or_null_materializes);
    R_set_altreal_Sum_method(class_add("sum", library), sum_wrong);
    R_set_altreal_Min_method(class_add("min", library), min_wrong);
    R_set_altreal_Min_method(class_add("min_crash", library), min_crashes);
    R_set_altreal_Max_method(class_add("max", library), max_fails);
    R_set_altreal_No_NA_method(class_add("no_na", library), no_na_wrong);
    R_set_altreal_Is_sorted_method(class_add("is_sorted", library), is_sorted_wrong);
    R_set_altvec_Extract_subset_method(class_add("subset", library), subset_wrong);
    R_set_altvec_Extract_subset_method(class_add("subset_na", library), subset_beyond);
    R_set_altrep_Duplicate_method(class_add("duplicate", library), duplicate_shares);
    R_set_altrep_Unserialize_method(class_add("serialize", library), unserialize_half);
}
