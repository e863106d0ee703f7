// The functions that this Python exports: name -> address and row, from its dynamic symbol table.
//
// Python is a shared library (libpython) or the program itself (Debian, conda, uv): the object that holds
// PyLong_FromLong. The table is read from memory, so a stripped file works as well. Reading it once replaces
// a dlsym and a dladdr for each slot, which together cost 50 us.
// SPDX-License-Identifier: MIT
#include "trace/arm/got.h"
#include "trace/capi/capi.h"

#include <dlfcn.h>

enum { BUCKETS = 1 << 13 };

static exports_row *rows;            // owned, for the life of the process
static uint32_t row_count, *buckets; // index + 1 into rows, hashed by name
static uint32_t *by_address;         // the same, hashed by address
static uintptr_t lowest, highest;    // of the functions' addresses
typedef struct {
    const void *inside;        // an address of the object
    const char *path;          // borrowed
    const elf_symbol *symbols; // borrowed: mapped by ld.so
    const char *strings;       // borrowed
    const uint32_t *gnu_hash;  // borrowed
    uintptr_t base;
} symbol_source;

static int find_object(struct dl_phdr_info *object, size_t size, void *argument) {
    symbol_source *ret = argument;
    if (!relocations_inside(object, ret->inside)) {
        return 0;
    }
    ret->base = object->dlpi_addr;
    ret->path = object->dlpi_name;
    const elf_dynamic *entry = relocations_dynamic(object);
    for (; entry && entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_SYMTAB) {
            ret->symbols = relocations_pointer(object, entry);
        } else if (entry->d_tag == DT_STRTAB) {
            ret->strings = relocations_pointer(object, entry);
        } else if (entry->d_tag == DT_GNU_HASH) {
            ret->gnu_hash = relocations_pointer(object, entry);
        }
    }
    return 1;
}

// Number of symbols: the end of the last chain of the GNU hash table (sourceware.org/gnu-gabi, DT_GNU_HASH).
static uint32_t symbol_count(const uint32_t *hash) {
    uint32_t bucket_count = hash[0], first = hash[1], bloom_words = hash[2], last = 0;
    const uint32_t *starts = hash + 4 + bloom_words * (sizeof(void *) / 4), *chain = starts + bucket_count;
    for (uint32_t i = 0; i < bucket_count; i++) {
        last = starts[i] > last ? starts[i] : last;
    }
    if (last < first) {
        return first;
    }
    while (!(chain[last - first] & 1)) {
        last++;
    }
    return last + 1;
}

static uint32_t address_hash(const void *address) {
    return (uint32_t)(((uintptr_t)address >> 4) * 0x9E3779B97F4A7C15ULL >> 40);
}

// The first empty bucket for the hash.
static uint32_t *first_empty(uint32_t *table, uint32_t hash) {
    uint32_t at = hash % BUCKETS;
    while (table[at]) {
        at = (at + 1) % BUCKETS;
    }
    return &table[at];
}

static void row_add(const char *name, void *address) {
    uintptr_t word = (uintptr_t)address;
    rows[row_count++] = (exports_row){name, address, capi_find(name)};
    *first_empty(buckets, capi_hash(name)) = row_count;
    *first_empty(by_address, address_hash(address)) = row_count;
    lowest = !lowest || word < lowest ? word : lowest;
    highest = word > highest ? word : highest;
}

static int is_python_name(const char *name) {
    return strncmp(name, "Py", 2) == 0 || strncmp(name, "_Py", 3) == 0;
}

int exports_prepare(void) {
    symbol_source python = {.inside = (const void *)PyLong_FromLong};
    if (rows) {
        return 0;
    }
    dl_iterate_phdr(find_object, &python);
    if (!python.symbols || !python.strings || !python.gnu_hash) {
        return error_set(PyExc_RuntimeError, "this Python has no dynamic symbol table with a GNU hash");
    }
    uint32_t symbols = symbol_count(python.gnu_hash);
    rows = calloc(symbols, sizeof *rows);
    buckets = calloc(BUCKETS, sizeof *buckets);
    by_address = calloc(BUCKETS, sizeof *by_address);
    if (!rows || !buckets || !by_address) {
        return error_no_memory();
    }
    for (uint32_t i = 0; i < symbols && row_count < BUCKETS / 2; i++) {
        const elf_symbol *symbol = &python.symbols[i];
        const char *name = python.strings + symbol->st_name;
        if (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx != SHN_UNDEF &&
            is_python_name(name)) {
            row_add(name, (void *)(python.base + symbol->st_value));
        }
    }
    return 0;
}

const exports_row *exports_find(const char *name) {
    for (uint32_t at = capi_hash(name) % BUCKETS; buckets[at]; at = (at + 1) % BUCKETS) {
        const exports_row *row = &rows[buckets[at] - 1];
        if (strcmp(row->name, name) == 0) {
            return row;
        }
    }
    return NULL;
}

void exports_span(uintptr_t *ret_lowest, uintptr_t *ret_width) {
    *ret_lowest = lowest;
    *ret_width = highest - lowest;
}

const exports_row *exports_at(const void *address) {
    if ((uintptr_t)address < lowest || (uintptr_t)address > highest) {
        return NULL;
    }
    const exports_row *found = NULL; // of two names of one function, prefer the one that has a row
    for (uint32_t at = address_hash(address) % BUCKETS; by_address[at]; at = (at + 1) % BUCKETS) {
        const exports_row *row = &rows[by_address[at] - 1];
        if (row->address == address && (!found || found->row == CAPI_NO_ROW)) {
            found = row;
        }
    }
    return found;
}

// The function that a symbol leads to. An STT_GNU_IFUNC is chosen at binding time: dlsym resolves it.
static const void *leads_to(const symbol_source *object, const elf_symbol *symbol, void *library) {
    int type = ELF64_ST_TYPE(symbol->st_info);
    if (symbol->st_shndx == SHN_UNDEF || (type != STT_FUNC && type != STT_GNU_IFUNC)) {
        return NULL;
    }
    return type == STT_FUNC ? (const void *)(object->base + symbol->st_value)
           : library        ? dlsym(library, object->strings + symbol->st_name)
                            : NULL;
}

PyObject *exports_names(const void *address) {
    symbol_source object = {.inside = address};
    _owned_ PyObject *found = PyList_New(0);
    dl_iterate_phdr(find_object, &object);
    uint32_t symbols =
        object.symbols && object.strings && object.gnu_hash ? symbol_count(object.gnu_hash) : 0;
    void *library = symbols ? dlopen(*object.path ? object.path : NULL, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    for (uint32_t i = 0; found && i < symbols; i++) {
        if (leads_to(&object, &object.symbols[i], library) == address &&
            list_add(found, text_from_c(object.strings + object.symbols[i].st_name, 200)) < 0) {
            Py_CLEAR(found);
        }
    }
    if (library) {
        dlclose(library); // drops only the count that dlopen took
    }
    return take(found);
}

static const char *const compared[] = {
    "PyObject_GenericGetAttr",
    "PyObject_GenericSetAttr",
    "PyObject_GenericGetDict",
    "PyType_GenericAlloc",
    "PyType_GenericNew",
    "PyObject_Free",
    "PyObject_GC_Del",
    "PyObject_Del",
    "PyObject_SelfIter",
    "PyObject_HashNotImplemented",
    "_PyObject_NextNotImplemented",
    "PyVectorcall_Call",
    "_Py_HashPointer",
    "PyObject_Malloc",
    "PyObject_Hash",
    "PyObject_GenericHash",
};

int exports_is_compared(const char *name) {
    for (size_t i = 0; i < sizeof compared / sizeof *compared; i++) {
        if (strcmp(compared[i], name) == 0) {
            return 1;
        }
    }
    return 0;
}

uint32_t exports_count(void) { return row_count; }
const exports_row *exports_row_of(uint32_t number) { return &rows[number]; }
uint32_t exports_number(const exports_row *row) { return (uint32_t)(row - rows); }
