// Asks each method of an ALTREP class about one vector, each in a forked child: what they say is compared
// outside of R. A method that crashes, hangs or raises an error ends its child, and R goes on.
//
// Life cycle. inspector_check_altrep writes one row of JSON for each question: the elements as numbers of 64
// bits (the bits of a double; of a string a number made from its text), what was returned, and whether the
// vector was lazy before and after. Nothing is judged here.
//
// Limits. Of a longer vector the first CHECKED_MAX elements are asked for. A child has DEADLINE_S seconds.
// SPDX-License-Identifier: MIT
#include "r/r.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

enum { CHECKED_MAX = 10000, DEADLINE_S = 30, CANARY = 0x5A, SPARE_BYTES = 256 };

typedef struct {
    r_object x;
    FILE *file;
    const char *family; // "integer" in R_set_altinteger_Sum_method
    int type;
    size_t item_bytes;
    ptrdiff_t length, checked;
} subject;

typedef void (*question)(subject *);

// ----- elements as numbers -----

static uint64_t number_of_text(r_object text) {
    uint64_t number = 14695981039346656037u;
    for (const unsigned char *at = (const unsigned char *)r.R_CHAR(text); *at; at++) {
        number = (number ^ *at) * 1099511628211u;
    }
    return number ^ (text == *(r_object *)dlsym(RTLD_DEFAULT, "R_NaString"));
}

static uint64_t number_at(const subject *from, const void *elements, ptrdiff_t at) {
    uint64_t number = 0;
    if (from->type == R_STRING) {
        return number_of_text(((const r_object *)elements)[at]);
    }
    const char *place = (const char *)elements + (size_t)at * from->item_bytes;
    if (from->type == R_COMPLEX) {
        uint64_t parts[2];
        memcpy(parts, place, sizeof parts);
        return parts[0] ^ (parts[1] * 1099511628211u);
    }
    if (from->item_bytes == 4) {
        int32_t value;
        memcpy(&value, place, sizeof value);
        return (uint64_t)(int64_t)value;
    }
    memcpy(&number, place, from->item_bytes);
    return number;
}

static void numbers_write(const subject *from, const char *name, const void *elements, ptrdiff_t count) {
    fprintf(from->file, ", \"%s\": [", name);
    for (ptrdiff_t i = 0; i < count; i++) {
        fprintf(from->file, "%s%llu", i ? ", " : "", (unsigned long long)number_at(from, elements, i));
    }
    fprintf(from->file, "]");
}

// An element by Elt, into memory.
static void element(const subject *from, r_object x, ptrdiff_t at, void *to) {
    switch (from->type) {
    case R_INTEGER:
        *(int *)to = ((int (*)(r_object, ptrdiff_t))dlsym(RTLD_DEFAULT, "INTEGER_ELT"))(x, at);
        break;
    case R_LOGICAL:
        *(int *)to = ((int (*)(r_object, ptrdiff_t))dlsym(RTLD_DEFAULT, "LOGICAL_ELT"))(x, at);
        break;
    case R_REAL:
        *(double *)to = ((double (*)(r_object, ptrdiff_t))dlsym(RTLD_DEFAULT, "REAL_ELT"))(x, at);
        break;
    case R_COMPLEX: {
        typedef struct {
            double real, imaginary;
        } complex_number;
        *(complex_number *)to =
            ((complex_number (*)(r_object, ptrdiff_t))dlsym(RTLD_DEFAULT, "COMPLEX_ELT"))(x, at);
        break;
    }
    case R_RAW:
        *(unsigned char *)to =
            ((unsigned char (*)(r_object, ptrdiff_t))dlsym(RTLD_DEFAULT, "RAW_ELT"))(x, at);
        break;
    default:
        *(r_object *)to = r.STRING_ELT(x, at);
    }
}

static void elements_write(const subject *from, const char *name, r_object x, ptrdiff_t count) {
    char *found = calloc((size_t)count + 1, from->item_bytes);
    for (ptrdiff_t i = 0; found && i < count; i++) {
        element(from, x, i, found + (size_t)i * from->item_bytes);
    }
    numbers_write(from, name, found, found ? count : 0);
    free(found);
}

// ----- the questions, each in a child of its own -----

// The class's own method, by the setter: the word that it changes is the method's, and is put back.
static void *method(const subject *from, const char *family, const char *name) {
    char setter[64];
    snprintf(setter, sizeof setter, "R_set_%s_%s_method", family, name);
    void (*set)(r_class, void *) = (void (*)(r_class, void *))dlsym(RTLD_DEFAULT, setter);
    r_object table = r.ALTREP_CLASS(from->x);
    void *own = set ? r_method_replace(table, set, (void *)r_find) : NULL;
    if (own) {
        set((r_class){table}, own);
    }
    return own;
}

static void *own_method(const subject *from, const char *name) {
    char family[32];
    snprintf(family, sizeof family, "alt%s", from->family);
    return method(from, family, name);
}

static void ask_length(subject *from) { fprintf(from->file, ", \"given\": %td", r.Rf_xlength(from->x)); }

static void ask_elt(subject *from) { elements_write(from, "elements", from->x, from->checked); }

static void ask_or_null(subject *from) {
    r_object before = r.R_altrep_data2(from->x);
    const void *found = r.DATAPTR_OR_NULL(from->x);
    fprintf(from->file, ", \"changed\": %d", r.R_altrep_data2(from->x) != before);
    if (found) {
        numbers_write(from, "elements", found, from->checked);
    }
}

// Writes elements of a region, what the method returned, and whether it wrote behind what was asked for.
static void region_write(subject *from, const char *name, ptrdiff_t start, ptrdiff_t count) {
    char asks[64];
    snprintf(asks, sizeof asks, "%s_GET_REGION",
             from->type == R_INTEGER   ? "INTEGER"
             : from->type == R_LOGICAL ? "LOGICAL"
             : from->type == R_REAL    ? "REAL"
             : from->type == R_COMPLEX ? "COMPLEX"
                                       : "RAW");
    ptrdiff_t (*ask)(r_object, ptrdiff_t, ptrdiff_t, void *) = dlsym(RTLD_DEFAULT, asks);
    size_t bytes = (size_t)count * from->item_bytes;
    unsigned char *out = malloc(bytes + SPARE_BYTES);
    if (!ask || !out || from->type == R_STRING) {
        free(out);
        return;
    }
    memset(out, CANARY, bytes + SPARE_BYTES);
    ptrdiff_t given = ask(from->x, start, count, out), behind = 0;
    for (size_t i = bytes; i < bytes + SPARE_BYTES; i++) {
        behind += out[i] != CANARY;
    }
    char words[64];
    snprintf(words, sizeof words, "%selements", name);
    numbers_write(from, words, out, count);
    fprintf(from->file, ", \"%sgiven\": %td, \"%sbehind\": %td", name, given, name, behind);
    free(out);
}

static void ask_region(subject *from) { region_write(from, "", 0, from->checked); }
static void ask_middle(subject *from) { region_write(from, "", 1, from->length > 2 ? 2 : 0); }
static void ask_end(subject *from) { region_write(from, "", from->length - 1, 5); }

static void ask_dataptr(subject *from) {
    const void *first = r.DATAPTR_RO(from->x);
    numbers_write(from, "elements", first, from->checked);
    fprintf(from->file, ", \"same\": %d, \"or_null\": %d", r.DATAPTR_RO(from->x) == first,
            r.DATAPTR_OR_NULL(from->x) == first);
    elements_write(from, "by_elt", from->x, from->checked);
}

static void write_zero(const subject *from, void *elements) {
    memset(elements, 0, from->type == R_STRING ? 0 : from->item_bytes);
}

static void ask_writing(subject *from) {
    void *elements = ((void *(*)(r_object))dlsym(RTLD_DEFAULT, "DATAPTR"))(from->x);
    write_zero(from, elements);
    numbers_write(from, "elements", elements, 1);
    elements_write(from, "by_elt", from->x, 1);
}

static void ask_number(subject *from, const char *name) {
    int (*own)(r_object) = (int (*)(r_object))own_method(from, name);
    if (own) {
        fprintf(from->file, ", \"given\": %d", own(from->x));
    }
}

static void ask_no_na(subject *from) { ask_number(from, "No_NA"); }
static void ask_is_sorted(subject *from) { ask_number(from, "Is_sorted"); }

// Sum, Min and Max: a vector of one, or NULL where R is to compute it.
static void ask_summary(subject *from, const char *name, int without_na) {
    r_object (*own)(r_object, int) = (r_object (*)(r_object, int))own_method(from, name);
    r_object said = own ? own(from->x, without_na) : NULL;
    if (!said || said == *r.nil) {
        return;
    }
    double value =
        r.TYPEOF(said) == R_REAL ? *(const double *)r.DATAPTR_RO(said) : *(const int *)r.DATAPTR_RO(said);
    int is_na = r.TYPEOF(said) == R_REAL ? isnan(value) : *(const int *)r.DATAPTR_RO(said) == -2147483647 - 1;
    if (is_na) {
        fprintf(from->file, ", \"given\": \"NA\"");
    } else {
        fprintf(from->file, ", \"given\": \"%.17g\"", value);
    }
}

static void ask_sum(subject *from) { ask_summary(from, "Sum", 0); }
static void ask_min(subject *from) { ask_summary(from, "Min", 0); }
static void ask_max(subject *from) { ask_summary(from, "Max", 0); }
static void ask_sum_without_na(subject *from) { ask_summary(from, "Sum", 1); }

// All elements backwards, then one behind the end and NA: both are to give NA.
static void ask_subset(subject *from) {
    r_object (*own)(r_object, r_object, r_object) =
        (r_object (*)(r_object, r_object, r_object))method(from, "altvec", "Extract_subset");
    r_object places = r.Rf_protect(r.Rf_allocVector(R_INTEGER, from->checked + 2));
    for (ptrdiff_t i = 0; i < from->checked; i++) {
        r.INTEGER(places)[i] = (int)(from->checked - i);
    }
    r.INTEGER(places)[from->checked] = (int)from->length + 1;
    r.INTEGER(places)[from->checked + 1] = -2147483647 - 1;
    r_object said = own ? own(from->x, places, *r.nil) : NULL;
    if (said && said != *r.nil) {
        fprintf(from->file, ", \"given\": %td", r.Rf_xlength(said));
        elements_write(from, "elements", said,
                       r.Rf_xlength(said) < from->checked + 2 ? r.Rf_xlength(said) : from->checked + 2);
    }
    r.Rf_unprotect(1);
}

static void ask_duplicate(subject *from) {
    r_object (*own)(r_object, int) = (r_object (*)(r_object, int))method(from, "altrep", "Duplicate");
    r_object said = own ? r.Rf_protect(own(from->x, 1)) : NULL;
    if (said && said != *r.nil) {
        fprintf(from->file, ", \"given\": %td", r.Rf_xlength(said));
        elements_write(from, "elements", said, from->checked);
        write_zero(from, ((void *(*)(r_object))dlsym(RTLD_DEFAULT, "DATAPTR"))(said));
        elements_write(from, "by_elt", from->x, from->checked);
    }
}

static void ask_serialize(subject *from) {
    int failed = 0;
    r_object bytes = r.Rf_lang3(r.Rf_install("serialize"), from->x, *r.nil);
    r_object said =
        r.R_tryEvalSilent(r.Rf_protect(r.Rf_lang2(r.Rf_install("unserialize"), bytes)), *r.base, &failed);
    if (failed || !said) {
        fprintf(from->file, ", \"error\": \"serialize or unserialize\"");
        return;
    }
    r.Rf_protect(said);
    fprintf(from->file, ", \"given\": %td", r.Rf_xlength(said));
    elements_write(from, "elements", said,
                   r.TYPEOF(said) == from->type && r.Rf_xlength(said) == from->length ? from->checked : 0);
}

static const struct {
    const char *name;
    question ask;
} questions[] = {
    {"Length", ask_length},
    {"Elt", ask_elt},
    {"Dataptr_or_null", ask_or_null},
    {"Get_region", ask_region},
    {"middle", ask_middle},
    {"end", ask_end},
    {"Dataptr", ask_dataptr},
    {"writing", ask_writing},
    {"No_NA", ask_no_na},
    {"Is_sorted", ask_is_sorted},
    {"Sum", ask_sum},
    {"sum without NA", ask_sum_without_na},
    {"Min", ask_min},
    {"Max", ask_max},
    {"Extract_subset", ask_subset},
    {"Duplicate", ask_duplicate},
    {"Serialize", ask_serialize},
};
enum { QUESTIONS = sizeof questions / sizeof *questions };

// ----- a child for each -----

typedef struct {
    subject *from;
    question ask;
} asked;

static void ask_in_r(void *one) { ((asked *)one)->ask(((asked *)one)->from); }

static void answer_in_child(subject *from, int number) {
    int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, 2); // R prints an error that we tell
    signal(SIGALRM, SIG_DFL);
    signal(SIGSEGV, SIG_DFL); // R's own handlers would ask a user
    signal(SIGBUS, SIG_DFL);
    signal(SIGILL, SIG_DFL);
    alarm(DEADLINE_S);
    fprintf(from->file, "{\"check\": \"%s\"", questions[number].name);
    asked one = {from, questions[number].ask};
    if (!r.R_ToplevelExec(ask_in_r, &one)) {
        const char *(*said)(void) = (const char *(*)(void))dlsym(RTLD_DEFAULT, "R_curErrorBuf");
        fprintf(from->file, ", \"error\": ");
        r_write_text(from->file, said ? said() : "an error of R");
    }
    fprintf(from->file, ", \"made\": %d}\n", r.DATAPTR_OR_NULL(from->x) != NULL);
    fflush(from->file);
    _exit(0);
}

static void ask_each(subject *from) {
    for (int i = 0; i < QUESTIONS; i++) {
        fflush(from->file);
        pid_t child = fork();
        if (child == 0) {
            answer_in_child(from, i);
        }
        int status = 0;
        if (child < 0 || waitpid(child, &status, 0) < 0 || status) {
            int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
            fprintf(from->file, "{\"check\": \"%s\", \"signal\": %d}\n", questions[i].name, number);
        }
    }
}

// Writes into a file what each method of the vector's class says.
EXPORTED r_object inspector_check_altrep(r_object x, r_object path);
r_object inspector_check_altrep(r_object x, r_object path) {
    FILE *file = r_find() ? fopen(r.R_CHAR(r.STRING_ELT(path, 0)), "ae") : NULL;
    if (!file) {
        return *r.nil;
    }
    int type = r.TYPEOF(x), is_lazy = r.ALTREP(x);
    fprintf(file, "{\"type\": %d, \"altrep\": %d", type, is_lazy);
    if (is_lazy) {
        r_class_name kind = r_class_named(r.ALTREP_CLASS(x));
        const char *families[] = {[R_LOGICAL] = "logical", [R_INTEGER] = "integer", [R_REAL] = "real",
                                  [R_COMPLEX] = "complex", [R_STRING] = "string",   [R_RAW] = "raw",
                                  [R_TYPES - 1] = NULL};
        subject from = {
            x, file, families[type] ? families[type] : "list", type, r_item_bytes(type), r.Rf_xlength(x), 0};
        from.checked = from.length < CHECKED_MAX ? from.length : CHECKED_MAX;
        fprintf(file, ", \"class\": \"%s\", \"package\": \"%s\", \"length\": %td, \"checked\": %td}\n",
                kind.name, kind.package, from.length, from.checked);
        if (families[type] && from.length > 0) {
            ask_each(&from);
        }
    } else {
        fprintf(file, "}\n");
    }
    fclose(file);
    return *r.nil;
}
