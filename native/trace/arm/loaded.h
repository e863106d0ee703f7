// The loaded objects, for the files of native/trace/arm.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_LOADED_H
#define INSPECTOR_LOADED_H

#include "trace/arm/got.h"
#include "trace/arm/relocations.h"

const char *loaded_path(const struct dl_phdr_info *object); // borrowed
int loaded_left_out(const struct dl_phdr_info *object, got_family family);
int loaded_is_among(const struct dl_phdr_info *object, PyObject *paths /* borrowed: a set of str */);
// trace/arm/pointers.c: calls `visit` for every word of the object's own data that holds the address of one
// of Python's functions. `again`: without RELRO, which the previous search has covered.
void pointers_each(const struct dl_phdr_info *object, int again, relocations_visit visit, void *argument);

#endif
