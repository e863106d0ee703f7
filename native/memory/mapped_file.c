// Creates and maps the files of rings and journals, and faults in their pages.
//
// A store into a mapping raises SIGBUS when the disk is full. So a file's space is either reserved at once,
// or its pages are faulted in before they are written (MADV_POPULATE_WRITE, Linux 5.14). Readahead is off for
// the mapping: the first fault in a hole would fill megabytes (3 ms on ext4).
// SPDX-License-Identifier: MIT
#include "memory/mapped_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

int mapped_file_populate(void *start, size_t bytes) { return madvise(start, bytes, MADV_POPULATE_WRITE); }

static void *map_whole(int file, size_t bytes, mapped_file_space space) {
    int sized =
        space == MAPPED_FILE_RESERVED ? fallocate(file, 0, 0, (off_t)bytes) : ftruncate(file, (off_t)bytes);
    return sized < 0 ? MAP_FAILED : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
}

static int is_backed(int file, void *start, size_t bytes, size_t ready, mapped_file_space space) {
    madvise(start, bytes, MADV_RANDOM);
    if (!mapped_file_populate(start, ready) || space == MAPPED_FILE_RESERVED) {
        return 1;
    }
    return errno == EINVAL && !fallocate(file, 0, 0, (off_t)bytes);
}

void *mapped_file_create(const char *path, size_t bytes, size_t ready, mapped_file_space space) {
    int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0) {
        return NULL;
    }
    void *start = map_whole(file, bytes, space), *found = NULL;
    if (start != MAP_FAILED && is_backed(file, start, bytes, ready, space)) {
        found = start;
    }
    int number = errno;
    if (!found && start != MAP_FAILED) {
        munmap(start, bytes);
    }
    if (!found) {
        unlink(path);
    }
    close(file);
    errno = number;
    return found;
}
