// Functions that give memory back, as slots import them (freeing.c).
#ifndef INSPECTOR_FREEING_H
#define INSPECTOR_FREEING_H

#include "trace/capi/slot_table.h"

const exports_row *freeing_find(const char *name); // borrowed, or NULL
void *freeing_hook(uint16_t row);
void freeing_find_addresses(void); // of functions whose library came since

#endif
