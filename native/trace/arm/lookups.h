// Hosts whose dlsym calls are answered with trampolines.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_LOOKUPS_H
#define INSPECTOR_LOOKUPS_H

#include "trace/arm/got.h"
#include "trace/arm/relocations.h"
#include "trace/capi/slot_table.h"

const exports_row *lookups_find(const char *name); // borrowed, or NULL: the row of dlsym for the aimed host
void *lookups_hook(uint16_t row);
int lookups_is_host(const struct dl_phdr_info *object);
// Makes the object a host. 0, also where HOSTS_MAX is reached; -1 when out of memory.
int lookups_add(const struct dl_phdr_info *object, const char *path);
// Selects the host whose dlsym slot lookups_find returns from now on. Its path (borrowed); NULL: no such
// host.
const char *lookups_aim(uint32_t host);
// Calls `visit` for each word that answers the dlsym of this host; only the first time for each host.
void lookups_each(const struct dl_phdr_info *object, relocations_visit visit, void *argument);

#endif
