// The account of resident memory: account.c walks it, account_pieces.c adds up whose it is.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_ACCOUNT_H
#define INSPECTOR_ACCOUNT_H

#include "heap/account/claims.h"
#include "heap/account/gaps.h"
#include "heap/account/python_pools.h"
#include "heap/account/r_blocks.h"
#include "search/holders.h"

enum { ACCOUNT_LARGEST = 16 };

typedef enum {
    PIECE_OBJECTS,     // live blocks of pymalloc, and larger blocks that objects claim
    PIECE_BUFFERS,     // what arrays and the like claim
    PIECE_BLOCKS,      // other live blocks of malloc
    PIECE_PYTHON_FREE, // pymalloc's
    PIECE_MALLOC_FREE, // glibc's, fast bins left out
    PIECE_FAST,        // in fast bins: counted among PIECE_BLOCKS too
    PIECE_STACKS,
    PIECE_STATICS,
    PIECE_OURS,
    PIECE_R, // blocks of malloc that R's heap is made of
    PIECE_KINDS,
} piece_kind;

typedef struct {
    uintptr_t start, stop;
    piece_kind kind;
} known_range;

typedef struct {
    PyObject *object; // borrowed
    uint64_t bytes;   // resident, of one block
} large_object;

typedef struct {
    claims claims;
    large_object largest[ACCOUNT_LARGEST];
    size_t at_claim; // the first that ends behind the walk
    search_view view;
    scan_runs runs;
    size_t at_run;
    known_range *known; // borrowed: in the scratch, by address
    size_t known_count;
    gap_table gaps;
    gap open;                    // the gap that is being walked
    tally large[CLAIM_KINDS];    // resident bytes of claims by type
    uint64_t bytes[PIECE_KINDS]; // of the current mapping
    uint64_t pools, pool_blocks; // of all
    python_pools python;
    const memory_map *map; // borrowed: the current mapping
    int has_r;             // libR is loaded
    int failed;
} account;

// The walk goes on from here: everything is told in order of addresses.
void account_add(account *a, uintptr_t start, uintptr_t stop, piece_kind kind, const claim *by /* or NULL */);
void account_gap(account *a, uintptr_t start, uintptr_t stop);
void account_close_gap(account *a);
uint64_t account_resident(account *a, uintptr_t start, uintptr_t stop);  // bytes
const claim *account_claim(account *a, uintptr_t start, uintptr_t stop); // the first in there, or NULL

#endif
