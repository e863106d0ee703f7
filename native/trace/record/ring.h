// The rings that events go into, as a hook sees them: one thread writes one ring, and nobody else does.
//
//     event *record = ring_open();
//     if (record) {
//         *record = (event){.kind = EVENT_MARK, .obj = ...};
//         ring_commit();
//     }
//
// or ring_record(&filled). From ring_open to ring_commit no other record may be opened, nothing may be
// called. None of it allocates, locks, touches a Python object or errno; it needs no GIL. The first record of
// a thread makes its ring by system calls (trace/record/ring.c).
#ifndef INSPECTOR_RING_H
#define INSPECTOR_RING_H

#include <stddef.h>
#include <stdint.h>

#include "trace/record/event.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

// The head of a ring, in its first page and so in its file. HEADER(C type, name, struct code, meaning): what
// reads a file that a dead process left (RING_HEADER of inspector._native).
#define RING_HEADER(HEADER) \
    HEADER(uint64_t, magic, "Q", "RING_MAGIC, written last: a file without it was not finished") \
    HEADER(uint64_t, capacity, "Q", "records the ring has room for: a power of two") \
    HEADER(uint64_t, head, "Q", "records written since the start; only grows") \
    HEADER(uint64_t, tail, "Q", "records the reader has taken (stream)") \
    HEADER(uint64_t, dropped, "Q", "records there was no room for (stream)") \
    HEADER(uint64_t, skipped, "Q", "calls from Python that were left out (sample)") \
    HEADER(uint64_t, start_ticks, "Q", "the clock when the session began") \
    HEADER(uint64_t, start_ns, "Q", "CLOCK_MONOTONIC at the same time") \
    HEADER(uint64_t, tick_ps, "Q", "picoseconds a tick") \
    HEADER(uint64_t, pthread, "Q", "the thread as threading.get_ident() says it") \
    HEADER(uint32_t, pid, "I", "process") \
    HEADER(uint32_t, tid, "I", "thread, as the kernel numbers it") \
    HEADER(uint32_t, mode, "I", "RING_MODES") \
    HEADER(uint32_t, mapped, "I", "1: in a file; 0: anonymous memory, a crash loses it")

#define RING_MAGIC 0x31474e4952534e49ULL // "INSRING1"
#define RING_HEADER_BYTES 4096
#define RING_AHEAD 3 // records

typedef struct {
#define RING_MEMBER(ctype, name, code, meaning) ctype name;
    RING_HEADER(RING_MEMBER)
#undef RING_MEMBER
} ring_header;

#define RING_MODES(MODE) MODE(OFF) MODE(LAST) MODE(STREAM) MODE(SAMPLE)
enum {
#define RING_MODE(name) RING_##name,
    RING_MODES(RING_MODE)
#undef RING_MODE
};

typedef struct ring {
    ring_header header; // `head`, `dropped`, `skipped`: by the owner; `tail`: by the reader
    uint64_t limit;     // by the owner, 0 by the session's end: where the fast path ends
    uint64_t mask;
    event *records;      // borrowed: in this mapping
    uint64_t prepared;   // by the owner: the pages of so many records are there; UINT64_MAX: all
    uint64_t generation; // the session it belongs to
    size_t bytes;        // of the whole mapping
    uint32_t parted;     // RING_LEFT, RING_TAKEN: who is second unmaps
    struct ring *next;   // borrowed: the list of all rings of the session
} ring;

_Static_assert(sizeof(ring) <= RING_HEADER_BYTES, "the head is one page");

// All the thread-local memory of the tracer: 64 bytes of initial-exec TLS, of which an extension loaded late
// has little (glibc: 1,664 bytes for all of them).
typedef struct {
    ring *ring;     // owned by the thread until it leaves; NULL before its first record
    uint32_t slot;  // which patched place the running trampoline belongs to
    uint32_t depth; // hooked calls that are open
    uint32_t quiet; // above 0: the tracer's own work, nothing is recorded
    uint32_t left;  // the thread is ending: no new ring
    uintptr_t top;  // stack address of the outermost open call
    uint32_t code; // where in Python the GIL was released (trace/capi/foreign_calls.c): id in INTERNED, 0 for
                   // nowhere
    int32_t lasti;
    uintptr_t muted; // sample: stack address of the call that is left out, with all in it; 0: none
    union {
        uint64_t sampled;   // sample: outermost calls from Python so far
        uintptr_t deleting; // leaks (leaks/freeing.c): where operator delete, which runs, was called from; 0:
                            // it does not
    };
    uint32_t deleting_slot; // through which slot
    uint32_t method; // leaks: 1 + number of the innermost call from Python that is open (leaks/call_frames.c)
} ring_thread;
_Static_assert(sizeof(ring_thread) <= 64, "what is promised");
extern __thread ring_thread ring_here __attribute__((tls_model("initial-exec"), visibility("hidden")));

#define RING_NO_CLOCK 0                                            // no clock is read
#define RING_ENTRY 1                                               // one, at the call
#define RING_BOTH 2                                                // two: durations
extern uint32_t ring_clocks __attribute__((visibility("hidden"))); // one of these, for every hook

// The slow path of ring_open: no ring yet, no room, one of N, or a session that is over. NULL: no record.
event *ring_open_slow(void);

static inline event *ring_open(void) {
    ring *mine = ring_here.ring;
    if (__builtin_expect(mine && mine->header.head < mine->limit, 1)) {
        return mine->records + (mine->header.head & mine->mask);
    }
    return ring_open_slow();
}

// Publishes the record that ring_open gave. A reader that sees the new head sees the record. The line of a
// later one is asked for: a ring is larger than the caches, and a store that waits for memory costs more than
// the rest of a record. An address without a page is no fault here.
static inline void ring_commit(void) {
    ring *mine = ring_here.ring;
    uint64_t head = mine->header.head + 1;
    __builtin_prefetch(mine->records + ((head + RING_AHEAD) & mine->mask), 1);
    __atomic_store_n(&mine->header.head, head, __ATOMIC_RELEASE);
}

// 1, or 0 where there was no room (counted) or no session.
static inline int ring_record(const event *filled) {
    event *record = ring_open();
    if (!record) {
        return 0;
    }
    *record = *filled;
    ring_commit();
    return 1;
}

// Ticks of the cheapest clock of the machine: the time stamp counter, else CLOCK_MONOTONIC's nanoseconds.
uint64_t ring_ticks_slow(void);
static inline uint64_t ring_ticks(void) {
#if defined(__x86_64__)
    return __rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return ring_ticks_slow();
#endif
}

// What `start` is at a call: 0 without a clock.
static inline uint64_t ring_start_ticks(void) { return ring_clocks ? ring_ticks() : 0; }

// Ticks since `start` at a return; 0 without two clocks.
static inline uint64_t ring_spent_ticks(uint64_t start) {
    return ring_clocks == RING_BOTH ? ring_ticks() - start : 0;
}

// Writes `duration`: in ticks or, from 2**32 on, in units of 1024.
static inline void ring_keep_ticks(event *record, uint64_t spent) {
    if (__builtin_expect(spent >> 32, 0)) {
        spent >>= 10;
        spent = spent >> 32 ? UINT32_MAX : spent;
        record->flags |= EVENT_FLAG_COARSE;
    }
    record->duration = (uint32_t)spent;
}

// Both, for a record whose duration is 0.
static inline void ring_stop_ticks(event *record) {
    if (ring_clocks == RING_BOTH) {
        ring_keep_ticks(record, ring_ticks() - record->start);
    }
}

// A hooked call begins: gives its depth, for the record and for ring_exit. A call that longjmp or an
// exception of C++ left without ring_exit is forgotten when an outer one returns, or when the stack is as
// short again.
static inline uint32_t ring_enter(void) {
    uintptr_t here = (uintptr_t)__builtin_dwarf_cfa(); // keeps no register, as the frame's address would
    uint32_t depth = ring_here.depth;
    if (depth == 0 || here >= ring_here.top) {
        ring_here.top = here;
        depth = 0;
    }
    ring_here.depth = depth + 1;
    return depth;
}

static inline void ring_exit(uint32_t depth) { ring_here.depth = depth; }

// Mode "sample". ring_sampled: whether the call that begins is recorded: one of `every` of a thread's calls
// from Python that stand in no recorded one. Between ring_mute and ring_unmute none of its thread's records
// get in; a call that longjmp left is forgotten as the stack is as short again.
int ring_sampled(void);
static inline void ring_mute(void) { ring_here.muted = (uintptr_t)__builtin_frame_address(0); }
static inline void ring_unmute(void) { ring_here.muted = 0; }
static inline int ring_is_muted(void) {
    return ring_here.muted && (uintptr_t)__builtin_frame_address(0) < ring_here.muted;
}

static inline uint8_t ring_depth_byte(uint32_t depth) {
    return depth < UINT8_MAX ? (uint8_t)depth : UINT8_MAX;
}

// For the parts beside trace/record/ring.c: what a session asks for, and its rings.
typedef struct {
    uint32_t mode, clocks;
    uint64_t capacity, every, total_bytes; // records a ring; one of N calls; all rings together
    uint64_t start_ticks, start_ns, tick_ps;
    char directory[200]; // "" for anonymous memory
} ring_session;
extern ring_session ring_wanted __attribute__((visibility("hidden")));
extern ring *ring_first __attribute__((visibility("hidden")));      // newest first
extern uint64_t ring_refused __attribute__((visibility("hidden"))); // records of threads without a ring

void ring_begin(void);          // a session with ring_wanted begins
void ring_end(void);            // no new record gets in
void ring_take(ring *taken);    // the reader is through with it
int ring_calibrate(void);       // 0, or -1 where the counter is not to be trusted
int ring_drain_start(int file); // takes the descriptor over; 0, or an errno
// The last records are written and the file is closed: the errno that stopped it, or 0; bytes written.
int ring_drain_stop(uint64_t *ret_bytes);
extern void (*ring_forked)(void) __attribute__((visibility("hidden"))); // called in a child: it has no reader

#endif
