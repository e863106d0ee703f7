// Answers a host's dlsym with trampolines of ours: what it asks for after the trace began is traced too.
//
// Overview. A host that opens libpython asks dlsym for a function when it first needs it (a global of Swift
// is made at its first use), and may keep the answer where no search finds it: on the heap, on a stack. So
// dlsym's own import slot is patched, in the program and in the libraries that are hosts already. What is a
// function of Python's is answered from a table, one word a function: while the trace is armed
// trace/arm/got.c holds a trampoline in each word, as it does in any slot of the host, and afterwards the
// function itself.
//
// Life cycle. The table is made when the host is seen first, and never freed. A trampoline that the host got
// leads, once the trace is over, straight to the function (trace/arm/got.c, slot_disarm).
//
// Any thread may ask, with and without the GIL: the tables are written before the slot of dlsym is patched,
// and their words are read by one atomic load. dlsym looks at who called it for RTLD_NEXT, and for
// RTLD_DEFAULT in what its caller is linked to: those questions are jumped on with, but for a function of
// Python's by RTLD_DEFAULT.
//
// Left out: hosts beyond HOSTS_MAX, dlvsym, GetProcAddress-like functions of a library that calls dlsym
// itself.
#define _GNU_SOURCE
#include "trace/arm/lookups.h"
#include "trace/arm/got.h"
#include "trace/capi/slot_table.h"

#include <dlfcn.h>

#include "module/native.h"
#include "trace/record/ring.h"

enum { HOSTS_MAX = 3 };

typedef struct {
    const elf_segment *headers; // borrowed: tells the object
    char *path;                 // owned: for as long as the process lives
    void **given;               // owned likewise: a word for each row of trace/arm/exports.c
    int told;                   // its words are slots of trace/arm/got.c
} lookups_host;

static lookups_host hosts[HOSTS_MAX];
static uint32_t host_count, arming; // arming: the host whose slot of dlsym is looked for

static void *asked(uint32_t host, void *handle, const char *name) __attribute__((always_inline));
static inline void *asked(uint32_t host, void *handle, const char *name) {
    void *(*original)(void *, const char *) = got_words_of[ring_here.slot].original;
    if (handle == RTLD_NEXT || (handle == RTLD_DEFAULT && !exports_find(name))) {
        return original(handle, name); // a jump: dlsym sees the host
    }
    void *found = original(handle, name);
    const exports_row *function = exports_at(found);
    return function ? __atomic_load_n(&hosts[host].given[exports_number(function)], __ATOMIC_ACQUIRE) : found;
}

static void *hook_0(void *handle, const char *name) { return asked(0, handle, name); }
static void *hook_1(void *handle, const char *name) { return asked(1, handle, name); }
static void *hook_2(void *handle, const char *name) { return asked(2, handle, name); }
static void *(*const hooks[HOSTS_MAX])(void *, const char *) = {hook_0, hook_1, hook_2};

static exports_row imported[HOSTS_MAX];

const exports_row *lookups_find(const char *name) {
    return strcmp(name, "dlsym") == 0 ? &imported[arming] : NULL;
}

void *lookups_hook(uint16_t row) { return (void *)hooks[row - GOT_LOOKUP_FIRST]; }

int lookups_is_host(const struct dl_phdr_info *object) {
    for (uint32_t i = 0; i < host_count; i++) {
        if (hosts[i].headers == object->dlpi_phdr) {
            return 1;
        }
    }
    return 0;
}

void lookups_each(const struct dl_phdr_info *object, relocations_look look, void *argument) {
    for (uint32_t i = 0; i < host_count; i++) {
        if (hosts[i].headers != object->dlpi_phdr || hosts[i].told) {
            continue;
        }
        hosts[i].told = 1;
        for (uint32_t row = 0; row < exports_count(); row++) {
            look(&(relocation){exports_row_of(row)->name, &hosts[i].given[row], 0, 0, 0}, argument);
        }
    }
}

// ----- hosts --------------------------------------------------------------------------------------

int lookups_add(const struct dl_phdr_info *object, const char *path) {
    if (host_count == HOSTS_MAX) {
        return 0;
    }
    void **given = calloc(exports_count(), sizeof *given);
    char *kept = strdup(path);
    if (!given || !kept) {
        free(given);
        free(kept);
        return -1;
    }
    for (uint32_t row = 0; row < exports_count(); row++) {
        given[row] = exports_row_of(row)->address;
    }
    imported[host_count] = (exports_row){"dlsym", (void *)dlsym, (uint16_t)(GOT_LOOKUP_FIRST + host_count)};
    hosts[host_count++] = (lookups_host){object->dlpi_phdr, kept, given, 0};
    return 0;
}

const char *lookups_aim(uint32_t host) {
    arming = host;
    return host < host_count ? hosts[host].path : NULL;
}
