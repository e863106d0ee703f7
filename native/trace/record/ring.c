// Makes, retires and forks the rings of events. What a hook does is in trace/record/ring.h; what Python sees
// in ring_read.c.
//
// Overview. A session (ring_wanted) sets mode, size and place. A thread's first record makes its ring: one
// mapping, its first page the head, the rest records. With a directory the mapping is a file. A store into a
// mapped file that finds the disk full is SIGBUS, so each page is asked for before it is written. Where not
// even the head has room the ring is anonymous memory, and its head says so; where a later page has none, its
// records are counted as dropped.
//
// Life cycle. ring_end sets every `limit` to 0, so that the next ring_open takes the slow path, sees that the
// generation is over, and gives the ring up (LEFT). The reader copies what it wants and gives it up as well
// (TAKEN). Whoever comes second unmaps: a thread that is inside a hook while the session ends still writes
// into memory that is there. A thread that ends leaves too. Nobody else ever unmaps.
//
// Races. `limit` is written by its owner, and set to 0 by ring_end. The owner writes it, then looks at the
// generation again; ring_end advances the generation, then writes the 0: one of the two sees the other.
//
// Fork. A child shares the parent's mapped files. It must not write into them: pthread_atfork forgets every
// ring in the child, whose threads make their own, in files of its own process number.
//
// Pages. A ring's are asked for as it fills, NEXT_PAGES_RECORDS at a time: a whole ring of 32 MiB for each of
// a program's threads cost more than what most of them record (a first Dask groupby took 1.3 times as long;
// the whole file reserved on the disk was 4 to 10 ms of a thread's first record).
//
// Limits. Rings of all threads together stay below total_bytes: a late thread gets a shorter one, down to
// LEAST_RECORDS, then none, and its records are counted in ring_refused. System calls only: no malloc.
#define _GNU_SOURCE
#include "trace/record/ring.h"
#include "memory/mapped_file.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { LEAST_RECORDS = 1024, RING_LEFT = 1, RING_TAKEN = 2 };
enum { FIRST_PAGES_RECORDS = 1 << 16, NEXT_PAGES_RECORDS = 1 << 12 };

__thread ring_thread ring_here __attribute__((tls_model("initial-exec"), visibility("hidden")));
uint32_t ring_clocks;
ring_session ring_wanted;
ring *ring_first;
void (*ring_forked)(void);
uint64_t ring_refused;

static uint64_t session_generation, used_bytes, files_made;
static pthread_key_t ending;

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t ring_ticks_slow(void) { return now_ns(); }

// A path without printf's malloc for long fields: snprintf of short ones makes none.
static void *file_map(size_t bytes) {
    char path[sizeof ring_wanted.directory + 64];
    uint64_t number = __atomic_fetch_add(&files_made, 1, __ATOMIC_RELAXED);
    snprintf(path, sizeof path, "%s/ring-%d-%llu.events", ring_wanted.directory, (int)getpid(),
             (unsigned long long)number);
    return mapped_file_create(path, bytes, RING_HEADER_BYTES, MAPPED_FILE_SPARSE);
}

static ring *ring_map(size_t bytes) {
    ring *made = ring_wanted.directory[0] ? file_map(bytes) : NULL;
    int mapped = made != NULL;
    if (!mapped) {
        made = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    }
    if (made == MAP_FAILED) {
        return NULL;
    }
    made->header.mapped = mapped;
    made->bytes = bytes;
    return made;
}

// Records for one more ring: the wanted number, or less where the session's bytes come to their end; 0: none.
static uint64_t ring_room(size_t *ret_bytes) {
    for (uint64_t records = ring_wanted.capacity; records; records /= 2) {
        size_t bytes = RING_HEADER_BYTES + records * sizeof(event);
        if (__atomic_add_fetch(&used_bytes, bytes, __ATOMIC_RELAXED) <= ring_wanted.total_bytes) {
            *ret_bytes = bytes;
            return records;
        }
        __atomic_sub_fetch(&used_bytes, bytes, __ATOMIC_RELAXED);
        if (records <= LEAST_RECORDS) {
            break;
        }
    }
    return 0;
}

static void ring_describe(ring *made, uint64_t records) {
    made->records = (event *)((char *)made + RING_HEADER_BYTES);
    made->mask = records - 1;
    made->header.capacity = records;
    made->header.start_ticks = ring_wanted.start_ticks;
    made->header.start_ns = ring_wanted.start_ns;
    made->header.tick_ps = ring_wanted.tick_ps;
    made->header.pthread = (uint64_t)pthread_self();
    made->header.pid = (uint32_t)getpid();
    made->header.tid = (uint32_t)syscall(SYS_gettid);
    made->header.mode = ring_wanted.mode;
    __atomic_store_n(&made->header.magic, RING_MAGIC, __ATOMIC_RELEASE);
}

static ring *ring_create(uint64_t generation) {
    size_t bytes;
    uint64_t records = ring_room(&bytes);
    ring *made = records ? ring_map(bytes) : NULL;
    if (!made) {
        return NULL;
    }
    made->generation = generation;
    ring_describe(made, records);
    ring_here.ring = made;
    pthread_setspecific(ending, made);
    made->next = __atomic_load_n(&ring_first, __ATOMIC_ACQUIRE);
    while (
        !__atomic_compare_exchange_n(&ring_first, &made->next, made, 1, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    }
    return made;
}

static void ring_part(ring *of, uint32_t who) {
    if (__atomic_fetch_or(&of->parted, who, __ATOMIC_ACQ_REL) & ~who) {
        munmap(of, of->bytes);
    }
}

void ring_take(ring *taken) { ring_part(taken, RING_TAKEN); }

static void ring_leave(void) {
    ring *mine = ring_here.ring;
    ring_here.ring = NULL;
    if (mine) {
        ring_part(mine, RING_LEFT);
    }
}

static void thread_ends(void *mine) {
    (void)mine;
    ring_here.left = 1;
    ring_leave();
}

static uint64_t generation_now(void) { return __atomic_load_n(&session_generation, __ATOMIC_SEQ_CST); }

// Sets where the fast path ends, unless the session has just ended.
static void limit_set(ring *mine, uint64_t limit) {
    __atomic_store_n(&mine->limit, limit, __ATOMIC_SEQ_CST);
    if (generation_now() != mine->generation) {
        mine->limit = 0;
    }
}

// Asks for the pages of the next records in one call: a fault costs more than all the records of its page,
// and pages that are never written are nobody's. -1: a file, and the disk has no room for them.
static int pages_prepare(ring *mine, uint64_t records) {
    uint64_t capacity = mine->header.capacity, from = mine->prepared;
    uint64_t until = from + records < capacity ? from + records : capacity;
    if (mapped_file_populate(mine->records + from, (until - from) * sizeof(event)) && errno != EINVAL &&
        mine->header.mapped) {
        return -1;
    }
    mine->prepared = until < capacity ? until : UINT64_MAX;
    return 0;
}

// Room for one record in the calling thread's ring, by its mode; NULL where there is none.
static event *ring_renew(ring *mine) {
    uint64_t head = mine->header.head, capacity = mine->header.capacity;
    uint64_t limit = UINT64_MAX;
    if (ring_wanted.mode == RING_STREAM) {
        limit = __atomic_load_n(&mine->header.tail, __ATOMIC_ACQUIRE) + capacity;
        if (head >= limit) {
            mine->header.dropped++;
            return NULL;
        }
    }
    if (head >= mine->prepared && pages_prepare(mine, NEXT_PAGES_RECORDS) < 0) {
        mine->header.dropped++;
        return NULL;
    }
    if (ring_wanted.mode != RING_SAMPLE) {
        limit_set(mine, limit < mine->prepared ? limit : mine->prepared);
    }
    return mine->records + (head & mine->mask);
}

// The calling thread's ring of this session, made where it has none; NULL: no session, or no room.
static ring *ring_mine(void) {
    uint64_t generation = generation_now();
    if (ring_here.ring && ring_here.ring->generation != generation) {
        ring_leave();
    }
    if (!(generation & 1) || ring_here.left) {
        return NULL;
    }
    ring *mine = ring_here.ring ? ring_here.ring : ring_create(generation);
    if (!mine) {
        __atomic_fetch_add(&ring_refused, 1, __ATOMIC_RELAXED);
    }
    return mine;
}

event *ring_open_slow(void) {
    int number = errno;
    int left_out = ring_wanted.mode == RING_SAMPLE && ring_is_muted();
    ring *mine = left_out ? NULL : ring_mine();
    event *record = mine ? ring_renew(mine) : NULL;
    errno = number;
    return record;
}

int ring_sampled(void) {
    int is_inside = ring_here.depth && (uintptr_t)__builtin_frame_address(0) < ring_here.top;
    if (is_inside || ring_here.sampled++ % ring_wanted.every == 0) {
        return 1;
    }
    int number = errno;
    ring *mine = ring_mine();
    errno = number;
    if (mine) {
        mine->header.skipped++;
    }
    return 0;
}

// Generations are odd while a session is on.
void ring_begin(void) {
    used_bytes = ring_refused = 0;
    ring_clocks = ring_wanted.clocks;
    __atomic_fetch_add(&session_generation, 1, __ATOMIC_SEQ_CST);
    ring_here.muted = ring_here.sampled = 0;
    (void)ring_open_slow(); // the caller's ring is made, and its first pages are there, before the first hook
    if (ring_here.ring) {
        (void)pages_prepare(ring_here.ring, FIRST_PAGES_RECORDS);
    }
}

void ring_end(void) {
    __atomic_fetch_add(&session_generation, 1, __ATOMIC_SEQ_CST);
    for (ring *each = ring_first; each; each = each->next) {
        __atomic_store_n(&each->limit, 0, __ATOMIC_SEQ_CST);
    }
    ring_leave(); // the caller is in no hook
}

static void forked(void) {
    uint32_t depth = ring_here.depth;
    uintptr_t top = ring_here.top;
    ring_here = (ring_thread){.depth = depth, .top = top, .method = ring_here.method};
    ring_first = NULL;
    used_bytes = 0;
    if (ring_wanted.mode == RING_STREAM) {
        ring_wanted.mode = RING_LAST;
    }
    if (ring_forked) {
        ring_forked();
    }
}

int ring_calibrate(void) {
    enum { SHORT_NS = 2000000 };
    static uint64_t known_ps;
    if (!known_ps) {
        uint64_t ns = now_ns(), ticks = ring_ticks();
        while (now_ns() - ns < SHORT_NS) {
        }
        uint64_t passed = ring_ticks() - ticks;
        known_ps = passed ? (now_ns() - ns) * 1000 / passed : 0;
    }
    ring_wanted.tick_ps = known_ps;
    ring_wanted.start_ns = now_ns();
    ring_wanted.start_ticks = ring_ticks();
    return known_ps ? 0 : -1;
}

__attribute__((constructor)) static void ring_prepare(void) {
    pthread_key_create(&ending, thread_ends);
    pthread_atfork(NULL, NULL, forked);
}
