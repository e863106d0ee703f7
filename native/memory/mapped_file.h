// A new file mapped for writing, of which a store never finds the disk full: what a trace leaves behind.
#ifndef INSPECTOR_MAPPED_FILE_H
#define INSPECTOR_MAPPED_FILE_H

#include <stddef.h>

typedef enum { MAPPED_FILE_SPARSE, MAPPED_FILE_RESERVED } mapped_file_space;

// `bytes` of a file made at `path`, the first `ready` of them there. Of a sparse one the rest is asked for by
// mapped_file_populate before it is written. NULL with errno, and no file is left. System calls only.
void *mapped_file_create(const char *path, size_t bytes, size_t ready, mapped_file_space space);

// Asks for the pages of a range in one call: 0, or -1 with errno: EINVAL before Linux 5.14, where a sparse
// file was reserved whole.
int mapped_file_populate(void *start, size_t bytes);

#endif
