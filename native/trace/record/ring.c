// Creates, retires and forks the rings of events (for hooks: trace/record/ring.h; for Python: ring_read.c).
//
// Overview. A session (ring_wanted) sets mode, size and place. A thread's first record creates its ring: one
// mapping, whose first page is the header; the rest are records. With a directory the mapping is a file. A
// store into a mapped file raises SIGBUS when the disk is full, so each page is faulted in before it is
// written. Where even the header does not fit the ring is anonymous memory, and its header says so; where a
// later page does not fit, its records are counted as dropped.
//
// Life cycle. ring_end sets every `limit` to 0: the next ring_open takes the slow path, sees that the
// generation is over, and releases the ring (LEFT). The reader copies what it wants and releases it too
// (TAKEN). Whoever of the two is second unmaps it, so a thread inside a hook at the end of the session still
// writes into mapped memory. A thread that exits releases its ring as well. Nothing else unmaps a ring.
//
// Races. The owner writes `limit`, and ring_end sets it to 0. The owner writes it, then checks the
// generation; ring_end advances the generation, then writes the 0. So one of the two sees the other's store.
//
// Fork. A child shares the parent's mapped files and must not write into them. pthread_atfork drops every
// ring in the child; its threads create their own, in files named by its own process id.
//
// Pages. They are faulted in as the ring fills, NEXT_PAGES_RECORDS at a time. A whole ring of 32 MiB per
// thread costs more than what most threads record: a first Dask groupby took 1.3 times as long, and reserving
// the whole file on disk took 4 to 10 ms of a thread's first record.
//
// Folding. In mode "sums" records of calls that repeat are added up once a ring has FIRST_PAGES_RECORDS
// (trace/record/folding.h): the head goes back then. A file may be left at any moment by a crash: while
// records move its head stands before them, and they count as dropped; `tail` is its first record that is
// whole.
//
// Limits. All rings together stay below total_bytes: a late thread gets a shorter ring, down to
// LEAST_RECORDS, then none, and its records are counted in ring_refused. System calls only: no malloc.
// SPDX-License-Identifier: MIT
#include "trace/record/ring.h"
#include "memory/mapped_file.h"
#include "module/clock.h"
#include "trace/record/folding.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LEAST_RECORDS = 1024, RING_LEFT = 1, RING_TAKEN = 2 };
enum { FIRST_PAGES_RECORDS = 1 << 16, NEXT_PAGES_RECORDS = 1 << 12 };

__thread ring_thread ring_here __attribute__((tls_model("initial-exec"), visibility("hidden")));
uint32_t ring_clocks;
ring_session ring_wanted;
ring *ring_first;
void (*ring_forked)(void);
uint64_t ring_refused;
int ring_keeps_each;

static uint64_t session_generation, used_bytes, files_made;
static pthread_key_t ending;

static uint64_t least(uint64_t one, uint64_t other) { return one < other ? one : other; }
static uint64_t most(uint64_t one, uint64_t other) { return one > other ? one : other; }

// snprintf of short fields does not allocate.
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

// The number of records of a new ring: the wanted one, or less as the session's bytes run out; 0: none left.
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
    made->fold_at = least(FIRST_PAGES_RECORDS, records / 2);
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

static void ring_part(ring *of, uint32_t side) {
    if (__atomic_fetch_or(&of->parted, side, __ATOMIC_ACQ_REL) & ~side) {
        munmap(of, of->bytes);
    }
}

void ring_take(ring *taken) { ring_part(taken, RING_TAKEN); }

static void ring_leave(void) {
    ring *own = ring_here.ring;
    ring_here.ring = NULL;
    if (own) {
        ring_part(own, RING_LEFT);
    }
}

static void thread_ends(void *own) {
    (void)own;
    ring_here.left = 1;
    ring_leave();
}

static uint64_t generation_now(void) { return __atomic_load_n(&session_generation, __ATOMIC_SEQ_CST); }

// Sets where the fast path ends; 0 if the session has just ended, or each record must ask for its greenlet.
static void limit_set(ring *own, uint64_t limit) {
    __atomic_store_n(&own->limit, limit, __ATOMIC_SEQ_CST);
    if (generation_now() != own->generation || __atomic_load_n(&greenlets_open, __ATOMIC_SEQ_CST)) {
        own->limit = 0;
    }
}

// Faults in the pages of the next records in one call: a page fault costs more than all records of its page.
// Returns -1 for a file for whose pages the disk has no room.
static int pages_prepare(ring *own, uint64_t records) {
    uint64_t capacity = own->header.capacity, from = own->prepared;
    uint64_t until = from + records < capacity ? from + records : capacity;
    if (mapped_file_populate(own->records + from, (until - from) * sizeof(event)) && errno != EINVAL &&
        own->header.mapped) {
        return -1;
    }
    own->prepared = until < capacity ? until : UINT64_MAX;
    return 0;
}

// The thread whose calls are only counted from a record on (ring_count_begin): one of the process.
static struct {
    ring *ring; // borrowed; NULL: none
    uint64_t from, calls;
} counting;

// The first record that may be added up: of a call, not of what belongs to it.
static uint64_t fold_start(ring *own, uint64_t head) {
    uint64_t capacity = own->header.capacity;
    own->gone = most(own->gone, head > capacity ? head - capacity : 0);
    own->header.tail = own->gone;
    uint64_t from = most(most(own->fold_from, own->gone), head > FOLDING_MOST ? head - FOLDING_MOST : 0);
    while (from < head && own->records[from & own->mask].flags & EVENT_FLAG_CONTINUATION) {
        from++;
    }
    return from;
}

// Adds up calls that repeat; the reader sees an odd `folds` while records move.
static void ring_fold(ring *own) {
    uint64_t head = own->header.head, from = fold_start(own, head);
    folding_ring in = {own->records, own->mask};
    uint32_t last = 0, kept = from < head ? folding_fold(in, from, head, &last) : 0;
    own->fold_at = head + least(NEXT_PAGES_RECORDS, own->header.capacity / 4);
    if (!kept) {
        return;
    }
    __atomic_store_n(&own->folds, own->folds + 1, __ATOMIC_SEQ_CST);
    own->header.dropped += head - from;
    __atomic_store_n(&own->header.head, from, __ATOMIC_SEQ_CST);
    folding_write(in, from, kept);
    __atomic_store_n(&own->header.head, from + kept, __ATOMIC_SEQ_CST);
    own->header.dropped -= head - from;
    __atomic_store_n(&own->folds, own->folds + 1, __ATOMIC_SEQ_CST);
    own->fold_at -= head - from - kept;
    own->fold_from = kept > FOLDING_MOST / 2 ? from + kept - last : from;
}

static int ring_may_fold(const ring *own) {
    return ring_wanted.mode == RING_SUMS && !ring_keeps_each && counting.ring != own &&
           own->header.head >= own->fold_at;
}

// Room for one record in the calling thread's ring, by the mode of the session; NULL where there is none.
static event *ring_renew(ring *own) {
    if (ring_may_fold(own)) {
        ring_fold(own);
    }
    uint64_t head = own->header.head, capacity = own->header.capacity;
    uint64_t step = least(NEXT_PAGES_RECORDS, capacity / 4);
    uint64_t limit =
        ring_wanted.mode == RING_LAST || ring_wanted.mode == RING_SUMS ? head + step : UINT64_MAX;
    if (counting.ring == own) {
        limit = counting.from;
        if (head >= limit) {
            counting.calls++;
            return NULL;
        }
    }
    if (ring_wanted.mode == RING_STREAM) {
        limit = __atomic_load_n(&own->header.tail, __ATOMIC_ACQUIRE) + capacity;
        if (head >= limit) {
            own->header.dropped++;
            return NULL;
        }
    }
    if (head >= own->prepared && pages_prepare(own, NEXT_PAGES_RECORDS) < 0) {
        own->header.dropped++;
        return NULL;
    }
    if (ring_wanted.mode != RING_SAMPLE) {
        limit_set(own, limit < own->prepared ? limit : own->prepared);
    }
    return own->records + (head & own->mask);
}

// The calling thread's ring of this session, created if there is none; NULL: no session, or no room.
static ring *ring_own(void) {
    uint64_t generation = generation_now();
    if (ring_here.ring && ring_here.ring->generation != generation) {
        ring_leave();
    }
    if (!(generation & 1) || ring_here.left) {
        return NULL;
    }
    ring *own = ring_here.ring ? ring_here.ring : ring_create(generation);
    if (!own) {
        __atomic_fetch_add(&ring_refused, 1, __ATOMIC_RELAXED);
    }
    return own;
}

// Says before a record that another greenlet writes now: val is its number, aux that of the one before.
static void note_greenlet(ring *own) {
    greenlets_settle();
    uint32_t now = greenlets_number(), before = own->greenlet;
    event *record = before && now != before ? ring_renew(own) : NULL;
    if (record) {
        *record = (event){.kind = EVENT_GREENLET, .val = now, .aux = before};
        ring_commit();
    }
    own->greenlet = record || !before ? now : before;
}

event *ring_open_slow(void) {
    int number = errno;
    int left_out = ring_wanted.mode == RING_SAMPLE && ring_is_muted();
    ring *own = left_out ? NULL : ring_own();
    if (own && greenlets_open) {
        note_greenlet(own);
    }
    event *record = own ? ring_renew(own) : NULL;
    errno = number;
    return record;
}

uint64_t ring_count_begin(uint64_t records) {
    ring *own = ring_own();
    if (!own) {
        return 0;
    }
    counting.ring = own;
    counting.from = own->header.head + records;
    counting.calls = 0;
    own->limit = 0; // ring_renew sets the next one
    return own->header.head;
}

void ring_count_end(void) { counting.ring = NULL; }

uint64_t ring_counted(uint64_t since) {
    ring *own = ring_here.ring;
    uint64_t calls = 0;
    for (uint64_t at = since; own && at < own->header.head; at++) {
        calls += !(own->records[at & own->mask].flags & EVENT_FLAG_CONTINUATION);
    }
    return calls + (counting.ring == own ? counting.calls : 0);
}

int ring_sampled(void) {
    int is_inside = ring_here.depth && (uintptr_t)__builtin_frame_address(0) < ring_here.top;
    if (is_inside || ring_here.sampled++ % ring_wanted.every == 0) {
        return 1;
    }
    int number = errno;
    ring *own = ring_own();
    errno = number;
    if (own) {
        own->header.skipped++;
    }
    return 0;
}

// A generation is odd while a session is on.
void ring_begin(void) {
    used_bytes = ring_refused = 0;
    ring_clocks = ring_wanted.clocks;
    __atomic_fetch_add(&session_generation, 1, __ATOMIC_SEQ_CST);
    ring_here.muted = ring_here.sampled = 0;
    (void)ring_open_slow(); // creates the caller's ring and its first pages before the first hook
    if (ring_here.ring) {
        (void)pages_prepare(ring_here.ring, FIRST_PAGES_RECORDS);
    }
}

void ring_limits_clear(void) {
    for (ring *each = ring_first; each; each = each->next) {
        __atomic_store_n(&each->limit, 0, __ATOMIC_SEQ_CST);
    }
}

void ring_end(void) {
    __atomic_fetch_add(&session_generation, 1, __ATOMIC_SEQ_CST);
    ring_limits_clear();
    ring_leave(); // the caller is not inside a hook
}

static void forked(void) {
    ring_thread was = ring_here;
    ring_here =
        (ring_thread){.depth = was.depth, .top = was.top, .method = was.method, .greenlet = was.greenlet};
    ring_first = NULL;
    used_bytes = 0;
    folding_forked();
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
        uint64_t ns = clock_now_ns(), ticks = ring_ticks();
        while (clock_now_ns() - ns < SHORT_NS) {
        }
        uint64_t passed = ring_ticks() - ticks;
        known_ps = passed ? (clock_now_ns() - ns) * 1000 / passed : 0;
    }
    ring_wanted.tick_ps = known_ps;
    ring_wanted.start_ns = clock_now_ns();
    ring_wanted.start_ticks = ring_ticks();
    return known_ps ? 0 : -1;
}

__attribute__((constructor)) static void ring_prepare(void) {
    pthread_key_create(&ending, thread_ends);
    pthread_atfork(NULL, NULL, forked);
}
