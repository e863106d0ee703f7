// The loaded objects: their paths, which of them are never patched, and which embed this Python.
// SPDX-License-Identifier: MIT
#include "trace/arm/got.h"
#include "trace/capi/allocations.h"

#include <limits.h>
#include <sys/auxv.h>
#include <unistd.h>

// ld.so has no path for the program itself.
const char *loaded_path(const struct dl_phdr_info *object) {
    static char program[PATH_MAX];
    if (object->dlpi_name && *object->dlpi_name) {
        return object->dlpi_name;
    }
    if (!*program && readlink("/proc/self/exe", program, sizeof program - 1) < 0) {
        strcpy(program, "/proc/self/exe");
    }
    return program;
}

// Whether the object holds an allocator: libc, or a library preloaded in its place.
static int allocations_inside(const struct dl_phdr_info *object) {
    void *allocator = got_source_find(&allocations_source, "malloc")->address;
    return relocations_inside(object, allocator) || relocations_inside(object, (void *)&getauxval);
}

// Never patched: Python itself, this extension, the dynamic linker. In the families of functions that
// allocate or free memory also the program and the libraries that hold an allocator.
int loaded_left_out(const struct dl_phdr_info *object, got_family family) {
    int is_program = !object->dlpi_name || !*object->dlpi_name;
    return relocations_inside(object, (void *)PyLong_FromLong) || relocations_inside(object, got_words_of) ||
           object->dlpi_addr == getauxval(AT_BASE) ||
           ((family == GOT_ALLOCATORS || family >= GOT_FREEING) &&
            (is_program || allocations_inside(object)));
}

int loaded_is_among(const struct dl_phdr_info *object, PyObject *paths) {
    _owned_ PyObject *path = PyUnicode_DecodeFSDefault(loaded_path(object));
    if (!path) {
        PyErr_Clear();
        return 0;
    }
    return PySet_Contains(paths, path) == 1;
}

static int object_name(struct dl_phdr_info *object, size_t size, void *argument) {
    PyObject *names = argument; // borrowed
    if (object->dlpi_name && *object->dlpi_name) {
        return list_add(names, PyUnicode_DecodeFSDefault(object->dlpi_name)) < 0;
    }
    return 0;
}

static PyObject *got_objects(PyObject *module, PyObject *unused) {
    _owned_ PyObject *names = PyList_New(0);
    return !names || dl_iterate_phdr(object_name, names) ? NULL : take(names);
}

static void import_count(const relocation *found, void *argument) {
    *(uint32_t *)argument += exports_find(found->name) != NULL;
}

static int host_name(struct dl_phdr_info *object, size_t size, void *argument) {
    PyObject *names = argument; // borrowed
    if (loaded_left_out(object, GOT_CAPI)) {
        return 0;
    }
    uint32_t imports = 0, pointers = 0;
    relocations_each(object, import_count, &imports);
    if (!imports) {
        pointers_each(object, 0, import_count, &pointers);
    }
    int is_program = !object->dlpi_name || !*object->dlpi_name;
    if (!pointers && !lookups_is_host(object) &&
        !(is_program && imports > 1)) { // Python's own launcher imports only Py_BytesMain
        return 0;
    }
    return list_add(names, PyUnicode_DecodeFSDefault(loaded_path(object))) < 0;
}

static PyObject *got_hosts(PyObject *module, PyObject *unused) {
    _owned_ PyObject *names = PyList_New(0);
    return !names || exports_prepare() < 0 || dl_iterate_phdr(host_name, names) ? NULL : take(names);
}

PART_FUNCTIONS(loaded, {"got_objects", got_objects, METH_NOARGS, NULL},
               {"got_hosts", got_hosts, METH_NOARGS, NULL})
