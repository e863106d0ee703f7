// Keeps what a thread's hooks know of open calls for each greenlet.
//
// Overview. greenlet (under gevent, SQLAlchemy's asyncio and Playwright) runs many chains of calls on one C
// stack: a switch copies a part of the stack away and another part back. A hook that stays on that stack is
// moved with it, which is harmless, as its variables are its own. But ring_here describes the chain that
// runs: its depth, its outermost call. So a hook settles first: where another greenlet runs than before, the
// state of the old one is put away and that of the new one is fetched.
//
// Which one runs is known without asking greenlet. Each has its own stack of Python frames
// (tstate->datastack_chunk), whose first chunk stays until the greenlet ends. Its address is the key. A
// greenlet that begins at the address of one that has ended continues its row: nothing was open in it.
//
// A switch may go into a hooked call, out of it, or never come back: nothing here waits for a return.
//
// Limits. ROWS greenlets alive at a time; further ones begin at depth 0 after each switch. While greenlet
// switches it calls Python with a stack that is neither the old nor the new one, so its own slots are not
// hooked (tracing/arm/targets.py).
// SPDX-License-Identifier: MIT
#define INSPECTOR_INTERNALS
#include "trace/record/greenlets.h"
#include "module/native.h"
#include "trace/record/ring.h"

enum { ROWS = 1 << 14, TRIED = 32 };

typedef struct {
    uintptr_t stack; // address of the first chunk of frames; 0: the row is free. Never freed again
    uintptr_t top, muted;
    uint32_t number, depth, method;
} greenlet_row;

int greenlets_open;
static greenlet_row rows[ROWS]; // row 0 is no greenlet
static uint32_t numbers;

static uintptr_t stack_of(const PyThreadState *thread) {
    const _PyStackChunk *chunk = thread->datastack_chunk;
    while (chunk && chunk->previous) {
        chunk = chunk->previous;
    }
    return chunk ? (uintptr_t)chunk : (uintptr_t)thread | 1; // no Python frame yet
}

// The greenlet's row, claimed by one compare-and-swap, as other threads claim theirs; 0 where none is free.
static uint32_t row_of(uintptr_t stack) {
    uint32_t at = (uint32_t)((stack >> 4) * 0x9E3779B97F4A7C15ULL >> 50);
    for (int tried = 0; tried < TRIED; tried++, at = (at + 1) % ROWS) {
        uintptr_t held = __atomic_load_n(&rows[at].stack, __ATOMIC_ACQUIRE);
        if (at &&
            (held == stack || (!held && __atomic_compare_exchange_n(&rows[at].stack, &held, stack, 0,
                                                                    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)))) {
            return at;
        }
    }
    return 0;
}

static void put_away(greenlet_row *row) {
    row->depth = ring_here.depth;
    row->top = ring_here.top;
    row->muted = ring_here.muted;
    row->method = ring_here.method;
}

static void fetch(const greenlet_row *row) {
    ring_here.depth = row->depth;
    ring_here.top = row->top;
    ring_here.muted = row->muted;
    ring_here.method = row->method;
}

void greenlets_settle_slow(void) {
    PyThreadState *thread = PyGILState_GetThisThreadState();
    uint32_t now = thread ? row_of(stack_of(thread)) : 0, before = ring_here.greenlet;
    if (!thread || (now == before && now)) {
        return;
    }
    if (!rows[now].number) {
        rows[now].number = __atomic_add_fetch(&numbers, 1, __ATOMIC_RELAXED);
    }
    ring_here.greenlet = now;
    if (before) { // else the thread settles for the first time: what it has is this greenlet's
        put_away(&rows[before]);
        fetch(now ? &rows[now] : &(greenlet_row){0});
    }
}

uint32_t greenlets_number(void) { return rows[ring_here.greenlet].number; }
