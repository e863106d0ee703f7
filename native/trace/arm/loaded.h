// The loaded objects, as trace/arm/got.c and trace/arm/loaded.c see them.
#ifndef INSPECTOR_LOADED_H
#define INSPECTOR_LOADED_H

#include "trace/arm/got.h"
#include "trace/arm/relocations.h"

const char *loaded_path(const struct dl_phdr_info *object); // borrowed; ld.so has none for the program itself
int loaded_left_out(const struct dl_phdr_info *object, got_family family);
int loaded_is_among(const struct dl_phdr_info *object, PyObject *paths /* borrowed: a set of str */);
// trace/arm/pointers.c: calls `each` for every word of the object's own data that holds the address of a
// function of Python's; `again`: but for those in RELRO, which the last look told.
void pointers_each(const struct dl_phdr_info *object, int again, relocations_look look, void *argument);

#endif
