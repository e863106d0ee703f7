// The functions of libR that our library in an R process calls, found when R first asks for us: it is built
// without R's headers, and works with each R from 4.0 on.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_R_H
#define INSPECTOR_R_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct r_node *r_object; // a SEXP
typedef struct {
    r_object table; // a raw vector: the pointers of the class's methods
} r_class;          // R_altrep_class_t

enum {
    R_LOGICAL = 10,
    R_INTEGER = 13,
    R_REAL = 14,
    R_COMPLEX = 15,
    R_STRING = 16,
    R_LIST = 19,
    R_RAW = 24,
    R_TYPES = 32
};

#define R_FUNCTIONS(FUNCTION) \
    FUNCTION(int, ALTREP, (r_object)) \
    FUNCTION(r_object, ALTREP_CLASS, (r_object)) \
    FUNCTION(r_object, ATTRIB, (r_object)) \
    FUNCTION(r_object, R_altrep_data2, (r_object)) \
    FUNCTION(r_object, CAR, (r_object)) \
    FUNCTION(r_object, CDR, (r_object)) \
    FUNCTION(r_object, PRINTNAME, (r_object)) \
    FUNCTION(const char *, R_CHAR, (r_object)) \
    FUNCTION(int, TYPEOF, (r_object)) \
    FUNCTION(ptrdiff_t, Rf_xlength, (r_object)) \
    FUNCTION(unsigned char *, RAW, (r_object)) \
    FUNCTION(int *, INTEGER, (r_object)) \
    FUNCTION(r_object, VECTOR_ELT, (r_object, ptrdiff_t)) \
    FUNCTION(r_object, STRING_ELT, (r_object, ptrdiff_t)) \
    FUNCTION(r_object, Rf_protect, (r_object)) \
    FUNCTION(void, Rf_unprotect, (int)) \
    FUNCTION(r_object, Rf_install, (const char *)) \
    FUNCTION(r_object, Rf_lang1, (r_object)) \
    FUNCTION(r_object, Rf_lang2, (r_object, r_object)) \
    FUNCTION(r_object, Rf_lang3, (r_object, r_object, r_object)) \
    FUNCTION(r_object, Rf_allocVector, (unsigned, ptrdiff_t)) \
    FUNCTION(r_object, Rf_mkString, (const char *)) \
    FUNCTION(r_object, R_tryEvalSilent, (r_object, r_object, int *)) \
    FUNCTION(int, R_ToplevelExec, (void (*)(void *), void *)) \
    FUNCTION(r_object, R_lsInternal3, (r_object, int, int)) \
    FUNCTION(r_object, Rf_findVarInFrame3, (r_object, r_object, int)) \
    FUNCTION(int, R_BindingIsActive, (r_object, r_object)) \
    FUNCTION(r_object, Rf_getAttrib, (r_object, r_object)) \
    FUNCTION(void, R_set_altrep_Duplicate_method, (r_class, void *)) \
    FUNCTION(void, R_set_altvec_Dataptr_method, (r_class, void *)) \
    FUNCTION(void, R_set_altinteger_Elt_method, (r_class, void *)) \
    FUNCTION(void, R_set_altreal_Elt_method, (r_class, void *)) \
    FUNCTION(void, R_set_altlogical_Elt_method, (r_class, void *)) \
    FUNCTION(void, R_set_altstring_Elt_method, (r_class, void *)) \
    FUNCTION(void, R_set_altinteger_Get_region_method, (r_class, void *)) \
    FUNCTION(void, R_set_altreal_Get_region_method, (r_class, void *)) \
    FUNCTION(void, R_set_altlogical_Get_region_method, (r_class, void *)) \
    FUNCTION(const void *, DATAPTR_OR_NULL, (r_object)) \
    FUNCTION(const void *, DATAPTR_RO, (r_object))

#define R_MEMBER(type, name, params) type(*name) params;
typedef struct {
    R_FUNCTIONS(R_MEMBER)
    r_object *nil, *global, *base, *names;
} r_functions;

extern r_functions r;

// Finds them; 0 where one is missing. Runs once.
int r_find(void);

// Bytes of an element of a vector's type; 0 for no vector with elements in a block.
size_t r_item_bytes(int type);

// A class's name and package, as it registered itself.
typedef struct {
    const char *name, *package;
    int type;
} r_class_name;
r_class_name r_class_named(r_object table);

// Calls a setter of R with a hook. The word of the class's table that it changed is where the method is, and
// what was there is the result; NULL where it changed none.
void *r_method_replace(r_object table, void (*set)(r_class, void *), void *hook);

// Writes a text as a JSON string.
void r_write_text(FILE *file, const char *text);

#endif
