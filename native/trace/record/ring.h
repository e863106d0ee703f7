// The rings of events, as a hook uses them: each ring is written by one thread only.
//
//     event *record = ring_open();
//     if (record) {
//         *record = (event){.kind = EVENT_MARK, .obj = ...};
//         ring_commit();
//     }
//
// or ring_record(&filled). Between ring_open and ring_commit no other record may be opened and nothing may be
// called. None of this allocates, locks, touches a Python object or errno, or needs the GIL. The first record
// of a thread creates its ring by system calls (trace/record/ring.c).
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_RING_H
#define INSPECTOR_RING_H

#include "machine/machine.h"
#include "trace/record/event.h"
#include "trace/record/greenlets.h"

#include <stddef.h>
#include <stdint.h>

// The header of a ring, in its first page and so in its file. HEADER(C type, name, struct code, meaning) is
// also RING_HEADER of inspector._native, for reading the file of a dead process.
#define RING_HEADER(HEADER) \
    HEADER(uint64_t, magic, "Q", "RING_MAGIC, written last: a file without it is incomplete") \
    HEADER(uint64_t, capacity, "Q", "records that fit into the ring: a power of two") \
    HEADER(uint64_t, head, "Q", "records written since the start; only grows") \
    HEADER(uint64_t, tail, "Q", "records that the reader has taken (stream); the first whole record (sums)") \
    HEADER(uint64_t, dropped, "Q", "records that did not fit (stream); those that move now (sums)") \
    HEADER(uint64_t, skipped, "Q", "calls from Python that were left out (sample)") \
    HEADER(uint64_t, start_ticks, "Q", "the clock when the session began") \
    HEADER(uint64_t, start_ns, "Q", "CLOCK_MONOTONIC at the same time") \
    HEADER(uint64_t, tick_ps, "Q", "picoseconds per tick") \
    HEADER(uint64_t, pthread, "Q", "the thread, as threading.get_ident() returns it") \
    HEADER(uint32_t, pid, "I", "process id") \
    HEADER(uint32_t, tid, "I", "thread id of the kernel") \
    HEADER(uint32_t, mode, "I", "RING_MODES") \
    HEADER(uint32_t, mapped, "I", "1: in a file; 0: anonymous memory, which a crash loses")

#define RING_MAGIC 0x31474e4952534e49ULL // "INSRING1"
#define RING_HEADER_BYTES 4096
#define RING_AHEAD 3 // records

#define RING_MEMBER(ctype, name, code, meaning) ctype name;
typedef struct {
    RING_HEADER(RING_MEMBER)
} ring_header;

#define RING_MODES(MODE) MODE(OFF) MODE(LAST) MODE(STREAM) MODE(SAMPLE) MODE(SUMS)
// SUMS: as LAST, but calls that repeat are added up.
#define RING_MODE(name) RING_##name,
enum { RING_MODES(RING_MODE) };

typedef struct ring {
    ring_header header; // the owner writes `head`, `dropped`, `skipped`; the reader `tail`
    uint64_t limit;     // where the fast path ends: written by the owner, set to 0 when the session ends
    uint64_t mask;
    event *records;      // borrowed: in this mapping
    uint64_t prepared;   // written by the owner: so many records have their pages; UINT64_MAX: all
    uint64_t generation; // the session it belongs to
    size_t bytes;        // of the whole mapping
    uint32_t parted;     // RING_LEFT, RING_TAKEN: the second one unmaps
    uint32_t greenlet;   // number of the greenlet that wrote the last record; 0: none is known
    struct ring *next;   // borrowed: the list of all rings of the session
    uint64_t fold_from;  // the next record from which calls that repeat may be added up
    uint64_t fold_at;    // the head at which they are
    uint64_t gone;       // records before this one were overwritten, wherever the head is now
    uint64_t folds;      // odd while records move: the reader copies again
} ring;

_Static_assert(sizeof(ring) <= RING_HEADER_BYTES, "the head is one page");

// All thread-local memory of the tracer: 72 bytes of initial-exec TLS, which is scarce for a library loaded
// late (glibc: 1,664 bytes for all such libraries).
typedef struct {
    ring *ring;     // owned by the thread until it leaves; NULL before its first record
    uint32_t slot;  // the patched place of the running trampoline
    uint32_t depth; // number of open hooked calls
    uint16_t quiet; // above 0: the tracer's own code runs, nothing is recorded
    uint16_t left;  // the thread is exiting: no new ring
    uint32_t
        greenlet;  // the one that ran when the thread settled last (trace/record/greenlets.c); 0: not known
    uintptr_t top; // stack address of the outermost open call
    uint32_t code; // where Python released the GIL (trace/capi/foreign_calls.c): id in INTERNED; 0: nowhere
    int32_t lasti;
    uintptr_t muted; // sample: stack address of a call left out with all its callees; 0: none
    union {
        uint64_t sampled;   // sample: outermost calls from Python so far
        uintptr_t deleting; // leaks (leaks/freeing.c): caller of the running operator delete; 0: none runs
    };
    uint32_t deleting_slot; // and the slot that it was called through
    uint32_t method;        // leaks: 1 + number of the innermost open call from Python (leaks/call_frames.c)
    int64_t
        sample_left; // growth: bytes to the next sampled block (leaks/sampled/sampler.c); 0: none was drawn
} ring_thread;
_Static_assert(sizeof(ring_thread) <= 72, "the size stated above");
extern __thread ring_thread ring_here __attribute__((tls_model("initial-exec"), visibility("hidden")));

#define RING_NO_CLOCK 0                                            // no clock is read
#define RING_ENTRY 1                                               // read at the call
#define RING_BOTH 2                                                // read at call and return: durations
extern uint32_t ring_clocks __attribute__((visibility("hidden"))); // one of these, for all hooks

// The slow path of ring_open: no ring yet, no room, mode sample, or the session is over. NULL: no record.
event *ring_open_slow(void);

static inline event *ring_open(void) {
    ring *own = ring_here.ring;
    if (__builtin_expect(own && own->header.head < own->limit, 1)) {
        return own->records + (own->header.head & own->mask);
    }
    return ring_open_slow();
}

// Publishes the record that ring_open returned: a reader that sees the new head sees the record. Prefetches
// the line of a later record: a ring exceeds the caches, and a store that misses costs more than the rest of
// a record. Prefetching an unmapped address does not fault.
static inline void ring_commit(void) {
    ring *own = ring_here.ring;
    uint64_t head = own->header.head + 1;
    __builtin_prefetch(own->records + ((head + RING_AHEAD) & own->mask), 1);
    __atomic_store_n(&own->header.head, head, __ATOMIC_RELEASE);
}

// Returns 1, or 0 where there was no room (counted) or no session.
static inline int ring_record(const event *filled) {
    event *record = ring_open();
    if (!record) {
        return 0;
    }
    *record = *filled;
    ring_commit();
    return 1;
}

// Ticks of the machine's cheapest clock.
static inline uint64_t ring_ticks(void) { return machine_ticks(); }

// The `start` of a call: 0 without a clock.
static inline uint64_t ring_start_ticks(void) { return ring_clocks ? ring_ticks() : 0; }

// Ticks since `start`, at a return; 0 without two clocks.
static inline uint64_t ring_spent_ticks(uint64_t start) {
    return ring_clocks == RING_BOTH ? ring_ticks() - start : 0;
}

// Sets `duration`: in ticks or, from 2**32 on, in units of 1024 ticks.
static inline void ring_keep_ticks(event *record, uint64_t spent) {
    if (__builtin_expect(spent >> 32, 0)) {
        spent >>= 10;
        spent = spent >> 32 ? UINT32_MAX : spent;
        record->flags |= EVENT_FLAG_COARSE;
    }
    record->duration = (uint32_t)spent;
}

// Reads the clock and sets `duration` in a record whose duration is 0.
static inline void ring_stop_ticks(event *record) {
    if (ring_clocks == RING_BOTH) {
        ring_keep_ticks(record, ring_ticks() - record->start);
    }
}

// Begins a hooked call: returns its depth, for the record and for ring_exit. A call left by longjmp or a C++
// exception without ring_exit is forgotten when an outer call returns, or when the stack is as short again.
static inline uint32_t ring_enter(void) {
    uintptr_t here = (uintptr_t)__builtin_dwarf_cfa(); // needs no register, as the frame's address would
    greenlets_settle();
    uint32_t depth = ring_here.depth;
    if (depth == 0 || here >= ring_here.top) {
        ring_here.top = here;
        depth = 0;
    }
    ring_here.depth = depth + 1;
    return depth;
}

static inline void ring_exit(uint32_t depth) { ring_here.depth = depth; }

// Mode "sample". ring_sampled: whether to record the call that begins: one of `every` calls of a thread from
// Python that are not inside a recorded one. Between ring_mute and ring_unmute the thread records nothing; a
// call left by longjmp is forgotten when the stack is as short again.
int ring_sampled(void);
static inline void ring_mute(void) { ring_here.muted = (uintptr_t)__builtin_frame_address(0); }
static inline void ring_unmute(void) { ring_here.muted = 0; }
static inline int ring_is_muted(void) {
    greenlets_settle();
    return ring_here.muted && (uintptr_t)__builtin_frame_address(0) < ring_here.muted;
}

// Of a variable with the result of ring_enter: ring_exit follows on every way out, a C++ exception too.
static inline void ring_exit_at(const uint32_t *depth) { ring_exit(*depth); }
#define _entered_ __attribute__((cleanup(ring_exit_at)))

static inline uint8_t ring_depth_byte(uint32_t depth) {
    return depth < UINT8_MAX ? (uint8_t)depth : UINT8_MAX;
}

// For the files beside trace/record/ring.c: the settings of a session, and its rings.
typedef struct {
    uint32_t mode, clocks;
    uint64_t capacity, every, total_bytes; // records per ring; one of N calls; all rings together
    uint64_t start_ticks, start_ns, tick_ps;
    char directory[200]; // "" for anonymous memory
} ring_session;
extern ring_session ring_wanted __attribute__((visibility("hidden")));
extern int ring_keeps_each __attribute__((visibility("hidden")));   // 1: a host's calls are told one by one
extern ring *ring_first __attribute__((visibility("hidden")));      // newest first
extern uint64_t ring_refused __attribute__((visibility("hidden"))); // records of threads without a ring

void ring_begin(void);          // begins a session with ring_wanted
void ring_end(void);            // lets no new record in
void ring_limits_clear(void);   // each thread's next record takes the slow path
void ring_take(ring *taken);    // the reader releases the ring
int ring_calibrate(void);       // 0, or -1 where the counter cannot be trusted
int ring_drain_start(int file); // takes over the descriptor; 0, or an errno
// Writes the last records and closes the file. Returns the errno that stopped it, or 0; and bytes written.
int ring_drain_stop(uint64_t *ret_bytes);
extern void (*ring_forked)(void) __attribute__((visibility("hidden"))); // called in a forked child

// After `records` more records, this thread's further calls are counted only, until ring_count_end. Returns
// the number of records so far. ring_counted: records since, of calls and of what belongs to them, and calls
// only counted.
uint64_t ring_count_begin(uint64_t records);
void ring_count_end(void);
uint64_t ring_counted(uint64_t since);

// Nothing of this thread is recorded between the two; the second takes what the first gave.
static inline uint16_t ring_quiet(void) {
    uint16_t left = ring_here.left;
    ring_here.quiet++;
    ring_here.left = 1; // without room ring_open takes its slow path, which records nothing now
    if (ring_here.ring) {
        ring_here.ring->limit = 0;
    }
    return left;
}

static inline void ring_loud(uint16_t left) {
    ring_here.left = left;
    ring_here.quiet--;
}

#endif
