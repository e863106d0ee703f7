// Hosts whose dlsym is answered by us, as trace/arm/got.c and trace/arm/loaded.c see them.
#ifndef INSPECTOR_LOOKUPS_H
#define INSPECTOR_LOOKUPS_H

#include "trace/arm/got.h"
#include "trace/arm/relocations.h"
#include "trace/capi/slot_table.h"

const exports_row *lookups_find(const char *name); // borrowed, or NULL: the slot of dlsym, while it is armed
void *lookups_hook(uint16_t row);
int lookups_is_host(const struct dl_phdr_info *object);
// Makes the object a host: 0, as where no room is left for one more, or -1: memory is out.
int lookups_add(const struct dl_phdr_info *object, const char *path);
// From now on `lookups_find` finds the slot of this host; its path (borrowed), NULL where there is no such
// host.
const char *lookups_aim(uint32_t host);
// Calls `look` for each word that a host's dlsym is answered from; once a host.
void lookups_each(const struct dl_phdr_info *object, relocations_look look, void *argument);

#endif
