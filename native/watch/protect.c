// Write-protects pages without ever failing a write: asynchronous write protection of userfaultfd(2).
//
// At the first write the kernel removes the protection and continues: no thread waits, and writes of the
// kernel itself (read(2)) succeed as well. Needs Linux 6.7, but no privilege (UFFD_USER_MODE_ONLY).
// SPDX-License-Identifier: MIT
#include "watch/writes.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

// Missing in older headers: include/uapi/linux/userfaultfd.h.
#define PROTECT_UNPOPULATED (1ull << 13)
#define PROTECT_ASYNC (1ull << 15)

static struct {
    uintptr_t first, last; // whole pages
    int userfault;
    pid_t owner; // a forked child inherits the descriptor, but it refers to the parent's mappings
} range = {.userfault = -1};

int writes_protect(uintptr_t from, uintptr_t to, int on) {
    from &= ~(uintptr_t)(WRITES_PAGE - 1);
    to = (to + WRITES_PAGE - 1) & ~(uintptr_t)(WRITES_PAGE - 1);
    from = from > range.first ? from : range.first;
    to = to < range.last ? to : range.last;
    struct uffdio_writeprotect request = {.range = {from, to - from},
                                          .mode = on ? UFFDIO_WRITEPROTECT_MODE_WP : 0};
    return from < to ? ioctl(range.userfault, UFFDIO_WRITEPROTECT, &request) : 0;
}

// Opens a userfaultfd with these features. A descriptor, or -1 with errno: EINVAL or ENOSYS before Linux 6.7.
static int protect_open(void) {
    int userfault = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY);
    struct uffdio_api request = {
        .api = UFFD_API,
        .features = UFFD_FEATURE_PAGEFAULT_FLAG_WP | PROTECT_UNPOPULATED | PROTECT_ASYNC,
    };
    if (userfault >= 0 && ioctl(userfault, UFFDIO_API, &request) < 0) {
        int error = errno;
        close(userfault);
        errno = error;
        return -1;
    }
    return userfault;
}

int writes_protect_refused(void) {
    int userfault = protect_open(), error = userfault < 0 ? errno : 0;
    if (userfault >= 0) {
        close(userfault);
    }
    return error;
}

int writes_protect_begin(uintptr_t first, uintptr_t last) {
    struct uffdio_register request = {.range = {first, last - first}, .mode = UFFDIO_REGISTER_MODE_WP};
    range.first = first;
    range.last = last;
    range.owner = getpid();
    range.userfault = protect_open();
    return range.userfault < 0 ? -1 : ioctl(range.userfault, UFFDIO_REGISTER, &request);
}

void writes_protect_end(void) {
    struct uffdio_range all = {range.first, range.last - range.first};
    if (range.userfault >= 0) {
        if (range.owner == getpid()) {
            ioctl(range.userfault, UFFDIO_UNREGISTER, &all);
        }
        close(range.userfault);
    }
    range.userfault = -1;
}
