// The table of sampled blocks that are still in use.
//
// Overview. Each thread counts the bytes that it asks for down from a random number. The block at which the
// count ends is sampled: its address, size and site are kept until it is freed. The numbers are exponential
// with the mean `mean_bytes`, so a block of s bytes is sampled with probability 1 - exp(-s / mean), whatever
// was asked before it (a Poisson process in bytes). Its bytes stand for s divided by that.
//
// Cost. A block that is not sampled costs a subtraction, a freed one a look at a filter that counts the live
// samples of each page. A sampled one costs microseconds.
//
// Safety. Hooks run in any thread, with and without the GIL. A spin lock guards the table; pthread_atfork
// keeps it consistent in a child. Nothing is allocated.
//
// Limits. GROWTH_ROWS live samples, at half of which more are dropped and counted: at 512 KiB a sample that
// is 16 GiB. A block that is freed where no hook sees it (by a pointer to free) stays: the reader asks the
// allocator.
// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "leaks/sampled/growth.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>

int growth_open;
uint8_t growth_filter[1 << GROWTH_FILTER_LOG2];
static growth_row rows[GROWTH_ROWS];
static uint32_t count, mappings;
static uint64_t dropped, started_ns, ended_ns, drawn;
static double mean_bytes;
static int lock;

static void lock_take(void) {
    while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE)) {
        sched_yield();
    }
}

static void lock_give(void) { __atomic_store_n(&lock, 0, __ATOMIC_RELEASE); }

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

// Bytes to the next sample: exponential (splitmix64 makes the uniform number), at least 1.
static int64_t draw(void) {
    uint64_t x = __atomic_add_fetch(&drawn, 0x9E3779B97F4A7C15ULL, __ATOMIC_RELAXED);
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ x >> 27) * 0x94D049BB133111EBULL;
    double uniform = (double)((x ^ x >> 31) >> 11) * 0x1p-53;
    return 1 + (int64_t)(-log1p(-uniform) * mean_bytes);
}

static uint32_t home_of(uintptr_t address) {
    return (uint32_t)((address >> 4) * 0x9E3779B97F4A7C15ULL >> 32) % GROWTH_ROWS;
}

static growth_row *place_of(uintptr_t address) {
    uint32_t at = home_of(address);
    while (rows[at].hidden && rows[at].hidden != ~address) {
        at = (at + 1) % GROWTH_ROWS;
    }
    return &rows[at];
}

static void filter_add(uintptr_t address, int change) { // 255 stays: its count is not known any more
    uint8_t *of = &growth_filter[growth_bit(address)];
    *of = (uint8_t)(*of == UINT8_MAX ? UINT8_MAX : *of + change);
}

static int is_mapping(const growth_row *row) {
    return row->function == GROWTH_mmap || row->function == GROWTH_mmap64;
}

static void put(const growth_row *row) {
    growth_row *place = place_of(~row->hidden);
    if (!place->hidden && count >= GROWTH_ROWS / 2) {
        dropped++;
        return;
    }
    if (!place->hidden) { // else an earlier block was freed unseen
        count++;
        mappings += is_mapping(row);
        filter_add(~row->hidden, 1);
    }
    *place = *row;
}

static void take_out(growth_row *row) {
    filter_add(~row->hidden, -1);
    count--;
    mappings -= is_mapping(row);
    uint32_t hole = (uint32_t)(row - rows);
    for (uint32_t at = (hole + 1) % GROWTH_ROWS; rows[at].hidden; at = (at + 1) % GROWTH_ROWS) {
        uint32_t home = home_of(~rows[at].hidden);
        if ((at - home) % GROWTH_ROWS >= (at - hole) % GROWTH_ROWS) {
            rows[hole] = rows[at];
            hole = at;
        }
    }
    rows[hole].hidden = 0;
}

static void sampled(int function, const void *block, size_t bytes, const void *frame) {
    growth_row row = {.hidden = ~(uintptr_t)block,
                      .bytes = bytes,
                      .ns = now_ns() - started_ns,
                      .function = (uint32_t)function};
    lock_take();
    row.site = growth_site_here(frame, function);
    put(&row);
    lock_give();
}

void growth_allocated_slow(int function, const void *block, size_t bytes, const void *frame) {
    if (!growth_open) {
        return;
    }
    int64_t left = ring_here.sample_left ? ring_here.sample_left : draw(); // 0: the thread's first block
    if ((int64_t)bytes < left) {
        ring_here.sample_left = left - (int64_t)bytes;
        return;
    }
    ring_here.sample_left = draw();
    if (block && !ring_here.quiet) {
        int before = errno;
        sampled(function, block, bytes, frame);
        errno = before;
    }
}

int growth_taken_slow(const void *block, growth_row *ret) {
    lock_take();
    growth_row *row = block ? place_of((uintptr_t)block) : NULL;
    int is_there = row && row->hidden;
    if (is_there) {
        *ret = *row;
        take_out(row);
    }
    lock_give();
    return is_there;
}

void growth_put(const growth_row *row) {
    lock_take();
    put(row);
    lock_give();
}

// Samples of mappings that begin in a range, which are few: what lies behind it stays.
void growth_unmapped(uintptr_t start, size_t bytes) {
    lock_take();
    for (uint32_t at = 0; mappings && at < GROWTH_ROWS; at++) {
        growth_row row = rows[at];
        if (!row.hidden || !is_mapping(&row) || ~row.hidden - start >= bytes) {
            continue;
        }
        take_out(&rows[at--]);
        size_t less = start + bytes - ~row.hidden;
        if (row.bytes > less) {
            row.bytes -= less;
            row.hidden = ~(start + bytes);
            put(&row);
        }
    }
    lock_give();
}

size_t growth_copy(growth_row *ret, size_t most) {
    size_t copied = 0;
    lock_take();
    for (uint32_t at = 0; count && at < GROWTH_ROWS && copied < most; at++) {
        if (rows[at].hidden) {
            ret[copied++] = rows[at];
        }
    }
    lock_give();
    return copied;
}

uint64_t growth_dropped(void) { return dropped; }
uint64_t growth_watched_ns(void) { return (growth_open ? now_ns() : ended_ns) - started_ns; }

void growth_forget_all(void) {
    lock_take();
    memset(rows, 0, count ? sizeof rows : 0);
    memset(growth_filter, 0, sizeof growth_filter);
    count = mappings = 0;
    dropped = 0;
    lock_give();
}

void growth_start(double mean) {
    static int has_atfork;
    if (!has_atfork && pthread_atfork(lock_take, lock_give, lock_give) == 0) {
        has_atfork = 1;
    }
    growth_forget_all();
    mean_bytes = mean;
    started_ns = now_ns();
    drawn ^= started_ns;
}

void growth_stop(void) {
    growth_open = 0;
    ended_ns = now_ns();
}
