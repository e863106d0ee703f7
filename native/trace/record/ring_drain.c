// The reader of a streaming session: a thread of the tracer moves records from the rings to a file.
//
// It holds no GIL and touches no Python object. Each chunk of the file is {RING_MAGIC, pthread, records, the
// kernel's thread id} as four 64-bit words, then the records, straight from the ring by one writev. A full
// disk or a closed pipe stops it: the errno is kept, the rings fill up, and records that do not fit are
// counted as dropped. A forked child has no such thread, and the file is the parent's: `forked` drops both.
// SPDX-License-Identifier: MIT
#include "trace/record/ring.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { PAUSE_NS = 500000, MOST_AT_ONCE = 4096 };

static pthread_t reader;
static int running, stopping, target = -1, failed;
static uint64_t written_bytes;

// Writes all of `pieces`, however the kernel splits it; 0, or -1 with `failed` set.
static int write_all(struct iovec *pieces, int count) {
    while (count) {
        ssize_t wrote = writev(target, pieces, count);
        if (wrote < 0 && errno != EINTR) {
            failed = errno;
            return -1;
        }
        written_bytes += wrote > 0 ? (uint64_t)wrote : 0;
        for (; count && wrote >= (ssize_t)pieces->iov_len; pieces++, count--) {
            wrote -= (ssize_t)pieces->iov_len;
        }
        if (count && wrote > 0) {
            pieces->iov_base = (char *)pieces->iov_base + wrote;
            pieces->iov_len -= (size_t)wrote;
        }
    }
    return 0;
}

// Moves records of one ring, up to its end or MOST_AT_ONCE; returns how many.
static uint64_t drain_ring(ring *from) {
    uint64_t head = __atomic_load_n(&from->header.head, __ATOMIC_ACQUIRE), tail = from->header.tail;
    uint64_t count = head - tail, to_end = from->header.capacity - (tail & from->mask);
    count = count < to_end ? count : to_end;
    count = count < MOST_AT_ONCE ? count : MOST_AT_ONCE;
    if (!count || failed) {
        return 0;
    }
    uint64_t words[] = {RING_MAGIC, from->header.pthread, count, from->header.tid};
    struct iovec pieces[] = {{words, sizeof words},
                             {from->records + (tail & from->mask), count * sizeof(event)}};
    if (write_all(pieces, 2) < 0) {
        return 0;
    }
    __atomic_store_n(&from->header.tail, tail + count, __ATOMIC_RELEASE);
    return count;
}

static uint64_t drain_all(void) {
    uint64_t moved = 0;
    for (ring *each = __atomic_load_n(&ring_first, __ATOMIC_ACQUIRE); each; each = each->next) {
        for (uint64_t count; (count = drain_ring(each)) > 0;) {
            moved += count;
        }
    }
    return moved;
}

static void *drain_body(void *unused) {
    (void)unused;
    while (!__atomic_load_n(&stopping, __ATOMIC_ACQUIRE)) {
        if (!drain_all()) {
            nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
        }
    }
    return NULL;
}

static void forked(void) {
    running = 0;
    if (target >= 0) {
        close(target);
    }
    target = -1;
}

int ring_drain_start(int file) {
    sigset_t all, before;
    target = file;
    failed = stopping = 0;
    written_bytes = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); // the program's own threads handle signals
    int number = pthread_create(&reader, NULL, drain_body, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    running = number == 0;
    ring_forked = forked;
    if (!running) {
        close(target);
        target = -1;
    }
    return number;
}

int ring_drain_stop(uint64_t *ret_bytes) {
    if (running) {
        __atomic_store_n(&stopping, 1, __ATOMIC_RELEASE);
        pthread_join(reader, NULL);
        drain_all();
        if (close(target) < 0 && !failed) {
            failed = errno;
        }
    }
    running = 0;
    target = -1;
    *ret_bytes = written_bytes;
    return failed;
}
