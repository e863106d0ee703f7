// An address and what the dynamic linker knows about it: the file it was loaded from, the exported symbol.
// SPDX-License-Identifier: MIT
//
// `image(address)` gives the file that holds the address, where it was loaded, and the first bytes of
// its image in memory, by which inspector/binaries/addresses.py proves that the file on disk is still the one
// loaded. `exported(address)` asks dladdr: only dynamic symbols, by a linear search of the whole table (about
// a millisecond in a library of 100,000 symbols); local symbols are read from the file by places.py.
#define INSPECTOR_WITHOUT_GIL
#include "module/native.h"

#include <dlfcn.h>
#include <link.h>

enum { IMAGE_HEAD_BYTES = 512 }; // the ELF header and the program headers
enum { DEMANGLED_BYTES_MAX = 8192 };

typedef struct {
    uintptr_t address;
    uintptr_t bias;  // added to the file's addresses
    uintptr_t first; // lowest mapped address of the image
    char *path;      // owned by the linker; "" for the executable
    int found;
} Image;

// Whether one of the loaded segments has the address; `first` gets the lowest address of the file's image.
static int holds(struct dl_phdr_info *object, uintptr_t address, uintptr_t *first) {
    int inside = 0;
    *first = UINTPTR_MAX;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        uintptr_t start = object->dlpi_addr + segment->p_vaddr;
        if (segment->p_type != PT_LOAD) {
            continue;
        }
        *first = Py_MIN(*first, start);
        inside |= address >= start && address - start < segment->p_memsz;
    }
    return inside;
}

// Called by dl_iterate_phdr for each loaded file; 1 ends the search.
static int image_visit(struct dl_phdr_info *object, size_t size, void *result) {
    Image *image = result;
    uintptr_t first;
    if (!holds(object, image->address, &first)) {
        return 0;
    }
    image->found = 1;
    image->bias = object->dlpi_addr;
    image->first = first;
    image->path = (char *)object->dlpi_name;
    return 1;
}

static PyObject *symbols_image(PyObject *module, PyObject *argument) {
    Image image = {.address = (uintptr_t)PyLong_AsVoidPtr(argument)};
    if (PyErr_Occurred()) {
        return NULL;
    }
    dl_iterate_phdr(image_visit, &image);
    if (!image.found) {
        Py_RETURN_NONE;
    }
    return Py_BuildValue("(NKKy#)", PyUnicode_DecodeFSDefault(image.path), (unsigned long long)image.bias,
                         (unsigned long long)image.first, (const char *)image.first,
                         (Py_ssize_t)IMAGE_HEAD_BYTES);
}

static PyObject *symbols_exported(PyObject *module, PyObject *argument) {
    void *address = PyLong_AsVoidPtr(argument);
    Dl_info found;
    if (PyErr_Occurred()) {
        return NULL;
    }
    if (!dladdr(address, &found) || !found.dli_sname) {
        Py_RETURN_NONE;
    }
    return Py_BuildValue("(Nn)", text_from_c(found.dli_sname, 200),
                         (Py_ssize_t)((char *)address - (char *)found.dli_saddr));
}

typedef char *(*demangler)(const char *name, char *into, size_t *size, int *status);

// A process that runs C++ has its runtime loaded; the demangler is found there, not linked.
static demangler find_demangler(void) {
    void *runtime = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD);
    demangler found = runtime ? (demangler)dlsym(runtime, "__cxa_demangle") : NULL;
    if (runtime) {
        dlclose(runtime); // only our count of it: whoever loaded it keeps it
    }
    return found;
}

static PyObject *symbols_demangle(PyObject *module, PyObject *argument) {
    const char *name = PyUnicode_Check(argument) ? PyUnicode_AsUTF8(argument) : NULL;
    if (!name) {
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "a symbol is a str");
    }
    demangler demangle = strncmp(name, "_Z", 2) == 0 ? find_demangler() : NULL;
    int status = 0;
    _free_ char *text = demangle ? demangle(name, NULL, NULL, &status) : NULL;
    if (!text) {
        Py_RETURN_NONE;
    }
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strnlen(text, DEMANGLED_BYTES_MAX), "replace");
}

PART_FUNCTIONS(symbols, {"demangle", symbols_demangle, METH_O, NULL}, {"image", symbols_image, METH_O, NULL},
               {"exported", symbols_exported, METH_O, NULL})
