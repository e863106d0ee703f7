// Answers a host's dlsym with our trampolines, so that functions it looks up during the trace are traced too.
//
// Overview. A host that opens libpython looks up a function by dlsym at its first use (a global of Swift is
// created at its first use), and may keep the address where no search finds it: on the heap or a stack. So
// the import slot of dlsym itself is patched, in the program and in the libraries that are hosts already. For
// one of Python's functions the answer comes from a table with one word per function: trace/arm/got.c arms
// these words like any slot of the host, so a word holds a trampoline during the trace, and the function
// itself afterwards.
//
// Life cycle. A host's table is created when the host is found, and never freed. A trampoline that the host
// has kept calls the function directly once the trace is over (trace/arm/got.c, slot_disarm).
//
// Threads. Any thread may call dlsym, with or without the GIL: the tables are complete before the slot of
// dlsym is patched, and a word is read by one atomic load. For RTLD_NEXT dlsym depends on its caller, and for
// RTLD_DEFAULT on the libraries of its caller. These calls go on by a jump, except RTLD_DEFAULT for one of
// Python's functions.
//
// Left out: hosts beyond HOSTS_MAX, dlvsym, and functions like GetProcAddress of a library that calls dlsym
// itself.
// SPDX-License-Identifier: MIT
#include "trace/arm/got.h"
#include "trace/capi/slot_table.h"
#include "trace/record/ring.h"

#include <dlfcn.h>

enum { HOSTS_MAX = 3 };

typedef struct {
    const elf_segment *headers; // borrowed: identifies the object
    char *path;                 // owned, for the life of the process
    void **answers;             // owned likewise: a word for each row of trace/arm/exports.c
    int are_slots;              // its words are slots of trace/arm/got.c
} lookups_host;

static lookups_host hosts[HOSTS_MAX];
static uint32_t host_count, arming; // arming: the host whose dlsym slot lookups_find returns

static void *answer(uint32_t host, void *handle, const char *name) __attribute__((always_inline));
static inline void *answer(uint32_t host, void *handle, const char *name) {
    void *(*original)(void *, const char *) = got_words_of[ring_here.slot].original;
    if (handle == RTLD_NEXT || (handle == RTLD_DEFAULT && !exports_find(name))) {
        return original(handle, name); // a jump, so that dlsym sees the host as its caller
    }
    void *found = original(handle, name);
    const exports_row *function = exports_at(found);
    return function ? __atomic_load_n(&hosts[host].answers[exports_number(function)], __ATOMIC_ACQUIRE)
                    : found;
}

static void *hook_0(void *handle, const char *name) { return answer(0, handle, name); }
static void *hook_1(void *handle, const char *name) { return answer(1, handle, name); }
static void *hook_2(void *handle, const char *name) { return answer(2, handle, name); }
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

void lookups_each(const struct dl_phdr_info *object, relocations_visit visit, void *argument) {
    for (uint32_t i = 0; i < host_count; i++) {
        if (hosts[i].headers != object->dlpi_phdr || hosts[i].are_slots) {
            continue;
        }
        hosts[i].are_slots = 1;
        for (uint32_t row = 0; row < exports_count(); row++) {
            visit(&(relocation){exports_row_of(row)->name, &hosts[i].answers[row], 0, 0, 0}, argument);
        }
    }
}

int lookups_add(const struct dl_phdr_info *object, const char *path) {
    if (host_count == HOSTS_MAX) {
        return 0;
    }
    void **answers = calloc(exports_count(), sizeof *answers);
    char *kept = strdup(path);
    if (!answers || !kept) {
        free(answers);
        free(kept);
        return -1;
    }
    for (uint32_t row = 0; row < exports_count(); row++) {
        answers[row] = exports_row_of(row)->address;
    }
    imported[host_count] = (exports_row){"dlsym", (void *)dlsym, (uint16_t)(GOT_LOOKUP_FIRST + host_count)};
    hosts[host_count++] = (lookups_host){object->dlpi_phdr, kept, answers, 0};
    return 0;
}

const char *lookups_aim(uint32_t host) {
    arming = host;
    return host < host_count ? hosts[host].path : NULL;
}
