// This process's memory: its mappings, reads that cannot crash, pages, and the search for words.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_MEMORY_H
#define INSPECTOR_MEMORY_H

#include "module/native.h"

// memory/mappings.c: the text of /proc/self/smaps, as new bytes, in a room that was mapped before: a new
// mapping may grow one that is being told of.
PyObject *mappings_smaps(PyObject *room /* stolen */);
// That room: new bytes.
PyObject *mappings_room(void);

// memory/memory.c: mappings, safe reads, and scratch memory. None of these touch Python objects.
typedef struct {
    char *start; // owned: one anonymous mapping
    size_t used, size;
} scratch;

#define SCRATCH_BYTES ((size_t)128 << 20) // address space; only what a search fills becomes resident

int scratch_init(scratch *ret, size_t size);
void scratch_deinit(scratch *memory);
void *scratch_alloc(scratch *memory, size_t size); // zeroed; NULL when full
#define _scratch_ __attribute__((cleanup(scratch_deinit)))

typedef struct {
    uintptr_t start, stop;
    uint64_t file_offset, inode;
    const char *path; // borrowed: in the scratch, not terminated
    size_t path_length;
    char permissions[4];
} memory_map;

typedef struct {
    memory_map *rows; // borrowed: in the scratch, by address
    size_t count;
} memory_maps;

int memory_maps_init(memory_maps *ret, scratch *memory);
const memory_map *memory_maps_find(const memory_maps *maps, uintptr_t address); // borrowed, or NULL
size_t memory_read(uintptr_t address, void *to, size_t size);                   // bytes read

// Runs a body that reads memory which may vanish: 0, or -1 on a fault. Only between arm and disarm.
void memory_guard_arm(void);
void memory_guard_disarm(void);
int memory_guarded(void (*body)(void *), void *argument);

// memory/pages.c: the ranges that a search reads.
typedef struct {
    uintptr_t start, stop;
} scan_range;

typedef struct {
    scan_range *rows; // borrowed: in the scratch, by address
    size_t count;
    uint64_t bytes, left_out_bytes, untouched_bytes;
} scan_runs;

int scan_runs_init(scan_runs *ret, const memory_maps *maps, scan_range *left_out, size_t left_out_count,
                   scratch *memory);
// The same without what is swapped out: the pages that the kernel counts as resident.
int resident_runs_init(scan_runs *ret, const memory_maps *maps, scratch *memory);

// memory/scan.c: finds every word of those ranges whose value lies in a needle.
typedef struct {
    uintptr_t word, value;
    uint32_t needle; // index into the sorted needles
} scan_hit;

#define SCAN_SLICE_WORDS ((size_t)1 << 17)
typedef struct scan_job {
    scan_range *needles; // borrowed: sorted by scan_words; must not overlap
    size_t needle_count;
    const scan_runs *runs;          // borrowed
    scan_hit *hits;                 // borrowed: room for hit_capacity
    size_t hit_capacity, hit_count; // hits beyond the capacity are counted, not kept
    uint64_t scanned_bytes, vanished_bytes, scan_ns;
    int portable;     // never AVX2
    uint64_t ignored; // bits of a word that are no part of its value: tags
    // NULL, or called after each slice with the hits of that slice alone, which are at most SCAN_SLICE_WORDS:
    // 0 continues, 1 stops the search without an error, -1 stops it with an exception set.
    int (*collect)(struct scan_job *job, void *argument);
    void *argument;
} scan_job;

int scan_words(scan_job *job); // 0, or -1 with an exception set
// A new list of the hits that were kept: pairs of word and value.
PyObject *scan_hits(const scan_job *job);
// (start, stop) pairs from Python, with room for `spare` more; 0, or -1 with an exception set.
int scan_ranges_parse(PyObject *pairs /* borrowed */, scratch *memory, size_t spare, scan_range **ret,
                      size_t *ret_count);
// What a search must not read: its scratch, its stack below `frame`, the thread's alternate signal stack.
enum { SCAN_OWN_RANGES = 3 };
size_t scan_ranges_own(scan_range *ret, const memory_maps *maps, const scratch *memory, uintptr_t frame);

#endif
