// Finds the import slots through which loaded modules call Python's C API; patches and restores them.
//
// Overview. A module calls an imported function through a word that ld.so fills in: JUMP_SLOT for
// calls, GLOB_DAT for calls by -fno-plt and Rust, and for addresses taken as values. got_arm walks
// the relocations of the chosen modules (from memory, so stripped files work as well) and stores a
// trampoline's address into each slot of a function that Python exports. got_disarm stores the previous word
// back. Each store is one aligned 8-byte atomic: a thread that calls meanwhile uses the old word or the new.
//
// What is kept. `before` is the slot's previous word, for restoring. With lazy binding it may point into the
// PLT, before the first call; then dlsym finds the function to call. Any other word that is not Python's
// address is another tracer's: it stays in the chain. A slot is restored only while it holds our trampoline.
//
// A host may import nothing and keep dlsym's results in its own variables: these words are slots too
// (trace/arm/pointers.c), searched each time the host is armed. Its later dlsym calls are answered from words
// that are slots as well (trace/arm/lookups.c).
//
// Left out: functions that modules also compare as values (`tp_free == PyObject_Free`), by GLOB_DAT; data;
// Python itself; this extension.
//
// Safety. Stores happen inside dl_iterate_phdr, whose lock keeps dlclose out, and only into objects that it
// visits: a module unloaded since is skipped. RELRO is made writable for the stores of one object. Nothing
// is ever freed, as code may still hold a trampoline. Needs the GIL.
// SPDX-License-Identifier: MIT
#include "trace/arm/got_table.h"
#include "trace/capi/foreign_calls.h"
#include "trace/capi/hooks.h"
#include "trace/record/record.h"

#include <dlfcn.h>
#include <sys/mman.h>

got_slot got_all_slots[GOT_SLOTS];
got_module *got_modules;
uint32_t got_slot_count, got_module_count;

typedef struct {
    PyObject *paths; // borrowed: a set of str; NULL: every object that is no allocator itself
    got_grade grade;
    got_family family;
    int turn_on;
    int pointers; // search the objects' own data instead of their imports
    got_outcome done;
    int error; // out of memory
} got_walk;

static int is_known(void **address) {
    for (uint32_t i = 0; i < got_slot_count; i++) {
        if (got_all_slots[i].address == address && got_modules[got_all_slots[i].module].is_host) {
            return 1;
        }
    }
    return 0;
}

// libffi's call, for ctypes and cffi: cffi's wheels contain a copy and call it through their own table, and
// the copy of _ctypes may be one that no other object sees.
static int is_foreign_call(const char *name) { return foreign_find(name) != NULL; }

static int may_be_own(const got_module *module, const char *name) {
    return module->family == GOT_FOREIGN || module->family == GOT_CONVERSIONS ||
           (module->family == GOT_GROWTH && is_foreign_call(name));
}

static void slot_add(const relocation *found, void *argument) {
    got_module *module = argument;
    const exports_row *function = got_function(module->family, found->name);
    if (!function || (found->is_own && !may_be_own(module, found->name)) ||
        (found->is_value && (module->family >= GOT_FREEING || exports_is_compared(found->name))) ||
        (module->is_host && is_known(found->address))) {
        return;
    }
    if (got_slot_count == GOT_SLOTS) {
        module->without++;
        return;
    }
    got_slot *slot = &got_all_slots[got_slot_count];
    slot->address = found->address;
    slot->function = function;
    slot->module = (uint32_t)(module - got_modules);
    slot->is_pointer = module->is_host && found->is_value;
    slot->in_relro =
        (uintptr_t)found->address >= module->relro.start && (uintptr_t)found->address < module->relro.stop;
    got_rows[got_slot_count++] = function->row;
    module->count++;
}

static int is_of(const got_module *module, const struct dl_phdr_info *object, got_family family) {
    return module->family == family && module->base == object->dlpi_addr &&
           module->headers == object->dlpi_phdr && strcmp(module->path, loaded_path(object)) == 0;
}

// Appends an empty record; NULL when out of memory.
static got_module *module_add(const struct dl_phdr_info *object, got_family family, int is_host) {
    got_module *grown = realloc(got_modules, (got_module_count + 1) * sizeof *got_modules);
    if (!grown) {
        return NULL;
    }
    got_modules = grown;
    got_module *module = &got_modules[got_module_count];
    *module = (got_module){.path = strdup(loaded_path(object)),
                           .base = object->dlpi_addr,
                           .headers = object->dlpi_phdr,
                           .family = family,
                           .is_host = (uint8_t)is_host};
    if (!module->path) {
        return NULL;
    }
    got_module_count++;
    module->relro = relocations_relro(object);
    module->first = got_slot_count;
    return module;
}

// The record of the object's imports, which are searched the first time. NULL when out of memory.
static got_module *imports_of(const struct dl_phdr_info *object, got_family family) {
    for (uint32_t i = 0; i < got_module_count; i++) {
        if (!got_modules[i].is_host && is_of(&got_modules[i], object, family)) {
            return &got_modules[i];
        }
    }
    got_module *module = module_add(object, family, 0);
    if (module) {
        relocations_each(object, slot_add, module);
    }
    return module;
}

// Adds the words of a host's own data that were filled since the last search.
static int host_search(const struct dl_phdr_info *object, got_family family, int again) {
    got_module *host = module_add(object, family, 1);
    if (!host) {
        return -1;
    }
    pointers_each(object, again, slot_add, host);
    lookups_each(object, slot_add, host);
    if (!host->count) {
        free(host->path);
        got_module_count--;
    }
    return 0;
}

// Searches the object for slots: its imports once, the own data of a host each time.
static int object_search(const struct dl_phdr_info *object, got_family family, int pointers) {
    got_module *imports = imports_of(object, family);
    if (!imports) {
        return -1;
    }
    if (!pointers && (imports->count || family != GOT_CAPI)) {
        return 0;
    }
    int again = imports->is_searched;
    imports->is_searched = 1;
    return host_search(object, family, again);
}

// Finds the function that our trampoline calls. Returns 0 where it is unbound, of a library not seen here.
static int original_find(const struct dl_phdr_info *object, got_slot *slot, void *held) {
    uint32_t number = (uint32_t)(slot - got_all_slots);
    void *exported = slot->function->address, *original = held;
    if (held != exported && relocations_inside(object, held)) { // lazy binding: not bound yet
        int is_local = is_foreign_call(slot->function->name);   // of a library that only this object sees
        original = is_local ? NULL : dlsym(RTLD_DEFAULT, slot->function->name);
        original = original ? original : exported;
    }
    slot->chained = exported && original != exported;
    slot->before = held;
    got_words_of[number].here = (char *)&ring_here - machine_thread_pointer();
    __atomic_store_n(&got_words_of[number].original, original, __ATOMIC_RELEASE);
    return original != NULL;
}

static int is_ours(const got_slot *slot, const void *held) {
    uint32_t number = (uint32_t)(slot - got_all_slots);
    return held == trampolines_of(GOT_COUNT, number) || held == trampolines_of(GOT_RECORD, number);
}

static void slot_arm(const struct dl_phdr_info *object, got_slot *slot, got_walk *walk) {
    uint32_t number = (uint32_t)(slot - got_all_slots);
    if (walk->grade >= GOT_LEDGER && !capi_hook(got_rows[number], walk->grade)) {
        return; // the row changes no refcount, or is not recorded in this grade
    }
    int counted = walk->grade == GOT_RECORD && capi_is_counted(got_rows[number]);
    void *held = __atomic_load_n(slot->address, __ATOMIC_ACQUIRE);
    void *patch = trampolines_of(counted ? GOT_COUNT : walk->grade, number);
    int is_another = slot->is_pointer && held != slot->function->address; // its owner has changed it
    uint64_t above = trampolines_number(held);
    is_another |=
        slot->on && above < got_slot_count && got_all_slots[above].on; // another family's, which calls ours
    if (!is_ours(slot, held) && (is_another || !original_find(object, slot, held))) {
        return;
    }
    slot->changed = 0;
    if (walk->grade != GOT_COUNT) {
        __atomic_store_n(&got_words_of[number].target, got_hook(got_rows[number], walk->grade),
                         __ATOMIC_RELEASE);
    }
    slot->patch = patch;
    slot->on = 1;
    __atomic_store_n(slot->address, patch, __ATOMIC_RELEASE);
    walk->done.stored++;
}

// What the slot held before, without our trampolines of families that ended meanwhile: such a one, armed
// again on top of what it lies under, would call itself.
static void *live_before(const got_slot *slot) {
    void *before = slot->before;
    for (uint64_t at; (at = trampolines_number(before)) < got_slot_count && !got_all_slots[at].on;) {
        before = got_all_slots[at].before;
    }
    return before;
}

static void slot_disarm(got_slot *slot, got_walk *walk) {
    void *patch = slot->patch;
    if (__atomic_compare_exchange_n(slot->address, &patch, live_before(slot), 0, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE)) {
        walk->done.stored++;
    } else if (patch != slot->before && patch != got_words_of[slot - got_all_slots].original) {
        walk->done.foreign++;
        slot->changed = 1;
    }
    slot->on = 0;
    got_words *words = &got_words_of[slot - got_all_slots];
    words->target = words->original; // code that kept the trampoline calls the original from now on
}

static int relro_open(const got_module *module, int permissions) {
    size_t bytes = module->relro.stop - module->relro.start;
    return bytes ? mprotect((void *)module->relro.start, bytes, permissions) : 0;
}

static void module_store(const struct dl_phdr_info *object, got_module *module, got_walk *walk) {
    int in_relro = 0;
    for (uint32_t i = module->first; i < module->first + module->count; i++) {
        in_relro |= got_all_slots[i].in_relro && (walk->turn_on || got_all_slots[i].on);
    }
    int writable = !in_relro || relro_open(module, PROT_READ | PROT_WRITE) == 0;
    walk->done.no_room += walk->turn_on ? module->without : 0;
    for (uint32_t i = module->first; i < module->first + module->count; i++) {
        if (got_all_slots[i].in_relro && !writable) {
            walk->done.failed++;
        } else if (walk->turn_on) {
            slot_arm(object, &got_all_slots[i], walk);
        } else if (got_all_slots[i].on) {
            slot_disarm(&got_all_slots[i], walk);
        }
    }
    if (in_relro && writable) {
        relro_open(module, PROT_READ);
    }
}

static void object_store(const struct dl_phdr_info *object, got_walk *walk) {
    for (uint32_t i = 0; i < got_module_count; i++) {
        if (is_of(&got_modules[i], object, walk->family) && (!walk->pointers || got_modules[i].is_host)) {
            module_store(object, &got_modules[i], walk);
        }
    }
}

static int object_arm(struct dl_phdr_info *object, size_t size, void *argument) {
    got_walk *walk = argument;
    if (loaded_left_out(object, walk->family) ||
        !(walk->paths == NULL || loaded_is_among(object, walk->paths))) {
        return 0;
    }
    walk->error = object_search(object, walk->family, walk->pointers) < 0;
    if (!walk->error) {
        object_store(object, walk);
    }
    return walk->error;
}

static int object_disarm(struct dl_phdr_info *object, size_t size, void *argument) {
    return object_store(object, argument), 0;
}
static int patched(got_walk *walk) {
    if (!running_is_ours()) {
        return error_set(PyExc_RuntimeError, "patches are process-wide: only the main interpreter arms them");
    }
    dl_iterate_phdr(object_arm, walk);
    trampolines_walk();
    return walk->error ? (PyErr_NoMemory(), -1) : 0;
}

int got_patch(got_family family, got_grade grade, PyObject *paths, got_outcome *ret) {
    got_walk walk = {.paths = paths, .grade = grade, .family = family, .turn_on = 1};
    int result = patched(&walk);
    *ret = walk.done;
    return result;
}

void got_restore(got_family family, got_outcome *ret) {
    got_walk walk = {.turn_on = 0, .family = family};
    dl_iterate_phdr(object_disarm, &walk);
    trampolines_walk();
    for (uint32_t i = 0; i < got_slot_count; i++) {
        if (got_all_slots[i].on && got_modules[got_all_slots[i].module].family == family) {
            walk.done.gone++;
            got_all_slots[i].on = 0;
        }
    }
    *ret = walk.done;
}

PyObject *got_restored(got_family family) {
    got_outcome done;
    got_restore(family, &done);
    return Py_BuildValue("(IIII)", done.stored, done.foreign, done.gone, done.failed);
}

static PyObject *got_arm(PyObject *module, PyObject *args) {
    got_walk walk = {.turn_on = 1, .family = GOT_CAPI};
    int grade;
    if (!PyArg_ParseTuple(args, "O!i|p", &PyFrozenSet_Type, &walk.paths, &grade, &walk.pointers) ||
        exports_prepare() < 0) {
        return NULL;
    }
    if (grade < GOT_COUNT || grade > GOT_LEDGER) {
        return PyErr_Format(PyExc_ValueError,
                            "grade %d: must be 0 (count), 1 (record), 2 (deep) or 3 (ledger)", grade);
    }
    walk.grade = (got_grade)grade;
    return patched(&walk) < 0 ? NULL
                              : Py_BuildValue("(III)", walk.done.stored, walk.done.failed, walk.done.no_room);
}

static PyObject *got_disarm(PyObject *module, PyObject *unused) { return got_restored(GOT_CAPI); }

PART_FUNCTIONS(got, {"got_arm", got_arm, METH_VARARGS, NULL}, {"got_disarm", got_disarm, METH_NOARGS, NULL})
