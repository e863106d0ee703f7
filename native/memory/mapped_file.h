// A new file mapped for writing, into which a store never fails for a full disk: what a trace leaves behind.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_MAPPED_FILE_H
#define INSPECTOR_MAPPED_FILE_H

#include <stddef.h>

typedef enum { MAPPED_FILE_SPARSE, MAPPED_FILE_RESERVED } mapped_file_space;

// Creates a file of `bytes` at `path` and maps it; its first `ready` bytes are faulted in. The caller faults
// in the rest of a sparse file by mapped_file_populate before it writes there, and unmaps the file. NULL with
// errno set, and no file left behind. Makes system calls only.
void *mapped_file_create(const char *path, size_t bytes, size_t ready, mapped_file_space space);

// Faults in the pages of a range in one call: 0, or -1 with errno set: EINVAL before Linux 5.14, where
// mapped_file_create has reserved all of a sparse file.
int mapped_file_populate(void *start, size_t bytes);

#endif
