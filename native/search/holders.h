// What the parts that verify hits share: blocks of memory, frames, places, and who holds what.
//
// Functions marked "guarded" read memory that may be anything: call them under memory_guarded.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_HOLDERS_H
#define INSPECTOR_HOLDERS_H

#include "memory/memory.h"
#include "module/interrupt.h"

// --- blocks: what an allocator says of an address ---

typedef enum {
    BLOCK_NONE, // not this allocator's, as far as can be told
    BLOCK_LOST, // this allocator's, but which block could not be told
    BLOCK_FREE, // freed, or never handed out
    BLOCK_LIVE,
} block_state;

// search/pymalloc.c (guarded). The block that holds `word`, as the allocator handed it out.
// `low` is where the mapping with the word starts.
block_state pymalloc_block(uintptr_t word, uintptr_t low, scan_range *ret);

// Parts runs into what looks like pools of blocks of `size` bytes, and everything else: for the order of a
// search, never for its result. 0; 1 where memory went meanwhile and the parts are not whole; -1 when full.
int pymalloc_split(const scan_runs *runs, uint32_t size, scan_runs *ret_with, scan_runs *ret_without,
                   scratch *memory);

// nearest.c. The same runs in pieces: the `near` nearest to a needle first, then the others by address.
// Needles are sorted; 0, or -1 when full.
#define NEAREST_PIECE_BYTES ((uintptr_t)1 << 20)
int nearest_first(const scan_runs *runs, const scan_range *needles, size_t count, size_t near, scan_runs *ret,
                  scratch *memory);

// malloc_chunks.c. What was learned of glibc's malloc in this process.
typedef struct {
    const memory_maps *maps;          // borrowed
    uintptr_t tcache_key;             // second word of a block in a thread's cache; 0: not learned
    const scan_runs *runs;            // borrowed: pages that exist
    int usable;                       // malloc is glibc's own
    uintptr_t main_arena;             // 0: not found
    uintptr_t last_start, last_chunk; // where the last walk was: hits come in order of addresses
} malloc_view;

void malloc_view_init(malloc_view *ret, const memory_maps *maps, const scan_runs *runs);
block_state malloc_block(malloc_view *view, uintptr_t word, scan_range *ret); // guarded

// malloc_arena.c. glibc's main arena, or 0; whether a free chunk of this size is in an arena's fast bins
// (guarded).
enum { MALLOC_ARENA_BYTES = 2200 }; // struct malloc_state
uintptr_t malloc_arena_find(const memory_maps *maps);
int malloc_arena_has(const memory_maps *maps, uintptr_t arena, uintptr_t chunk, uintptr_t size);

// For walks over all of malloc's memory (all guarded), malloc_chunks.c and glibc_arena.c.
// The first chunk of the heap that begins at `at`; 0: none does.
uintptr_t malloc_heap_start(const malloc_view *view, const memory_map *map, uintptr_t at);
// Where a thread's heap ends, and its arena.
uintptr_t malloc_thread_heap(uintptr_t at, uintptr_t *ret_arena);
// Tells of every chunk, header included; returns where the walk ended.
typedef void (*malloc_look)(uintptr_t start, uintptr_t stop, block_state state, void *argument);
uintptr_t malloc_each(const malloc_view *view, uintptr_t start, uintptr_t stop, malloc_look look,
                      void *argument);
// Bytes of a large block with a mapping of its own, header included, that begins at this page; 0: none.
uintptr_t malloc_mapped_size(uintptr_t page, uintptr_t stop);
uintptr_t malloc_arena_top(uintptr_t arena);                          // its last chunk, which is free
uint64_t malloc_fast_bytes(const memory_maps *maps, uintptr_t arena); // of free chunks in fast bins

// --- frames of running Python functions ---

typedef enum { FRAME_FIELD, FRAME_LOCAL, FRAME_STACK, FRAME_BORROWED, FRAME_DEAD } frame_part;

typedef struct {
    uintptr_t start, stop;   // the frame, to the end of the room for its stack
    uintptr_t locals, stack; // first local, first stack slot
    uintptr_t top;           // end of the stack's live part; 0 while the frame runs: it is in a register
    PyObject *code;          // borrowed
    PyObject *function;      // borrowed, or NULL
    PyObject *globals;       // borrowed
    int last_byte;           // offset of the current instruction in the bytecode
    int depth;               // 0 is the innermost frame of its thread
    int calls_python;        // the next inner frame took its arguments from this one's stack
    int ours;                // the frame is the tool's own
    unsigned long thread;    // as threading.get_ident()
} frame_row;

typedef struct {
    frame_row *rows; // borrowed: in the scratch, by address
    size_t count;
    scan_range *chunks; // borrowed: in the scratch; memory of frames, dead ones too
    size_t chunk_count;
} frame_table;

// frame_words.c. `own_prefix` is the folder of the tool's own code. 0, or -1 when the scratch is full.
int frames_init(frame_table *ret, scratch *memory, PyObject *own_prefix /* borrowed */);
const frame_row *frames_find(const frame_table *frames, uintptr_t word); // borrowed, or NULL
int frames_is_dead(const frame_table *frames, uintptr_t word);           // in a chunk, in no frame
frame_part frames_part(const frame_row *frame, uintptr_t word, int *ret_index);
// The name of a local. Result borrowed, NULL where there is none.
PyObject *frames_local_name(PyObject *code /* borrowed */, int index);
// Index of the local kept at `word` in a generator, coroutine or frame object; -1 where it is none. The
// code in ret_code is borrowed.
#define FRAME_SLOT_BORROWED (-2) // a tagged word that owns nothing (3.14)
int frames_object_local(PyObject *object /* borrowed */, uintptr_t word, PyObject **ret_code /* borrowed */);
// The words of the frame in a suspended generator or coroutine; 0 where the object is none.
int frames_of_generator(PyObject *object /* borrowed */, uintptr_t *ret_start, uintptr_t *ret_stop);
// A frame as Python gets it: FrameRow of _native.pyi. New reference.
PyObject *frames_tuple(const frame_row *frame);

// --- places: what a word is part of ---

typedef enum {
    PLACE_STALE, // freed memory, a dead frame, a cache that borrows
    PLACE_OURS,  // the tool's own
    PLACE_OBJECT,
    PLACE_BLOCK, // a live block that is no object: items of a list, keys of a dict, a C struct
    PLACE_FRAME,
    PLACE_STATIC,
    PLACE_STACK,
    PLACE_MAPPING, // mapped by C code for itself
    PLACE_UNKNOWN,
} place_kind;

typedef struct {
    place_kind kind;
    int certain;            // PLACE_OBJECT: the gc list agrees, or the exact type has a layout
    scan_range block;       // what an allocator says; PLACE_MAPPING: the mapping
    PyObject *object;       // borrowed: PLACE_OBJECT
    const frame_row *frame; // borrowed: PLACE_FRAME
} place;

typedef struct {
    PyTypeObject *type;      // borrowed
    const uint32_t *offsets; // borrowed: of the fields that own a reference
    size_t count;
} holder_layout;

typedef struct {
    memory_maps maps;
    frame_table frames;
    malloc_view malloc;
    scan_range *statics; // borrowed: in the scratch; writable segments of loaded files
    size_t static_count;
    scan_range *stacks; // borrowed: in the scratch; live parts of C stacks, then dead ones
    size_t stack_count;
    const scan_runs *runs;        // borrowed: pages that exist
    scan_range threadless;        // of one mapping: no thread's control block is in there
    scan_range own_statics;       // of this extension
    scan_range type_cache;        // in the interpreter: values are borrowed
    scan_range free_lists;        // in the interpreter: blocks kept for reuse, with what they held
    scan_range kept;              // in the interpreter: all it keeps for reuse, objects too
    long object_prefix;           // bytes a debug allocator puts before a block; -1: not known
    const holder_layout *layouts; // borrowed
    size_t layout_count;
    PyTypeObject *subject_type; // borrowed
} search_view;

// `maps` is filled in before; 0, or -1 when the scratch is full. The first knows of no frames, and nothing of
// the interpreter: memory_view.c.
int search_view_memory(search_view *ret, const scan_runs *runs, scratch *memory);
int search_view_init(search_view *ret, const scan_runs *runs, scratch *memory,
                     PyObject *own_prefix /* borrowed */);
void search_place(search_view *view, uintptr_t word, place *ret); // guarded
// How often tp_traverse of a certain gc object visits `target` (guarded; both borrowed).
long search_visits(PyObject *holder /* borrowed */, PyObject *target /* borrowed */);
int search_holds_nothing(PyTypeObject *type /* borrowed */); // text and numbers
int search_has_layout(const search_view *view, PyTypeObject *type /* borrowed */);
int search_is_tracked(const search_view *view, PyObject *object /* borrowed */); // guarded

// --- slots: which part of an object a word is ---

typedef enum {
    SLOT_OWNED,
    SLOT_BORROWED,
    SLOT_UNUSED, // the block is the holder's, and holds nothing there (behind a list's length ...)
    SLOT_ASK,    // tp_traverse knows
    SLOT_STATE,  // a module's C state, which tp_traverse may or may not tell of
} slot_verdict;

typedef struct {
    const char *name; // static: "item", "key", "value", "attribute" ...
    int64_t index;
    PyObject *key; // borrowed, or NULL
} slot;

// search/slots.c (guarded). `link` is the word in `holder` that points to the block with `word`; 0: none.
slot_verdict slot_read(const search_view *view, PyObject *holder /* borrowed */, uintptr_t word,
                       uintptr_t link, slot *ret);

// --- one search: search/search.c, search/blocks.c, search/resolve.c, search/owners.c ---

// One hit that may be a reference, or many in one block.
typedef struct {
    uint32_t target; // index into the sorted targets
    place_kind kind;
    int certain, resolved; // resolved: the holder is known, directly or through its block
    int instances;         // the word is the type of an object, and `words` objects have it
    uintptr_t word, link;
    uintptr_t last;         // the edge stands for `words` words of one block, the last of them here
    size_t words;           // 1 for most
    scan_range block;       // the block of the word, where it is in one
    PyObject *holder;       // borrowed, or NULL
    const frame_row *frame; // borrowed, or NULL
    slot part;
    long references; // 0: holds none
} edge;

// A block that is no object, whose owner is looked for.
typedef struct {
    scan_range range;
    scan_range parent; // a block that points here, if no object does
    uint32_t target;   // of its first edge
    uintptr_t word;    // of its first edge
    PyObject *holder;  // borrowed, or NULL
    uintptr_t link;
    int rank, certain;
    uintptr_t static_word; // a static that points here; 0: none
    int holds_nothing;     // text or numbers, or the interpreter keeps it for reuse
    int owned;             // a layout says that the holder uses that word: it is not left over
    int is_parent;         // it points to the block with the word, which is looked for through it
} block_row;

typedef struct {
    search_view view;
    scan_runs runs;
    PyObject **targets; // borrowed: in the scratch, sorted by address; each is held by its Subject
    uint32_t *numbers;  // of a target, in the order the caller gave them
    size_t target_count;
    scan_range *needles; // borrowed: in the scratch; of the targets
    Py_ssize_t *boxes; // borrowed: in the scratch; references to each target that are the tool's own; or NULL
    edge *edges;       // borrowed: in the scratch
    size_t edge_count, edge_capacity;
    size_t *instances;               // borrowed: in the scratch; two for each target
    place last_place;                // of the last hit
    block_row *blocks;               // borrowed: in the scratch, by address
    size_t block_count, blocks_open; // open: their owner is still looked for
    scan_hit *hits;                  // borrowed: in the scratch; of one slice
    PyObject *namespaces;            // borrowed: a tuple of dicts whose tables are known without a search
    int near_only; // owners of blocks are looked for around the blocks and what they hold, nowhere else
    int is_trial;  // all owners of blocks are looked for, not one name
    int brief;     // blocks of targets that are named already are not searched
    int unaligned; // places at no multiple of 8 are searched, and nothing else
    uint64_t hit_count, stale, ours, truncated, scanned_bytes, left_out_bytes, scan_ns, verify_ns;
    PyObject *progress; // borrowed, or NULL
    uint64_t progress_ns;
    int progress_ran;
    interrupt_watch watch;
    PyObject *own_prefix; // borrowed
} search;

// Looks at the hits of one slice: 0 to go on, 1 when enough was found, -1 with an exception set.
typedef int (*search_take)(search *s, const scan_hit *hits, size_t count);

// One search of memory for needles. 0, or -1 with an exception set.
int search_scan(search *s, const scan_runs *runs, scan_range *needles, size_t count, search_take take);
Py_ssize_t search_references(const search *s, size_t target); // without the tool's own: `boxes` is given
void search_place_guarded(search *s, uintptr_t word, place *ret);
void search_place_hit(search *s, uintptr_t word, place *ret); // remembers the last block
int search_needles(search *s, scratch *memory);       // of the targets; before the first search for them
int search_targets(search *s, const scan_runs *runs); // `runs`: all, or a part
int search_tell(search *s, uint64_t scanned_bytes);   // to `progress`: 0, or -1 where that ends the search
int search_forget(search *s, scratch *memory);  // what Python code, if it ran in between, may have changed
int search_refresh(search *s, scratch *memory); // the same, and asks again about each edge
void search_resolve(search *s);
block_row *search_block(search *s, uintptr_t address); // the block around a word: borrowed, or NULL
// search/blocks.c: finds the owners of all blocks among the edges. 0, or -1.
int blocks_search(search *s, scratch *memory);

// search/free_lists.c (guarded). Whether it is a dead object that the interpreter keeps for reuse.
int free_lists_have(PyObject *object /* borrowed */);

// search/deques.c: gives the inner blocks of deques their holder.
void deques_search(search *s);

// search/unaligned.c: where the address of the one target stands at no multiple of 8. 0, or -1 when
// interrupted.
int unaligned_search(search *s, scratch *memory);

// search/brief.c: a search that ends when the owners found are as many as the references. 0, or -1.
int brief_search(search *s, scratch *memory);

// search/owners.c: from and to Python. One Subject or a tuple of them, and the layouts; 0, or -1 with an
// exception.
int owners_take(search *s, PyObject *module /* borrowed */, PyObject *subjects /* borrowed */,
                PyObject *layouts /* borrowed */, scratch *memory);
// The edges that hold a reference, as rows. New list.
PyObject *owners_rows(search *s);
// A new Subject around an object, new None around nothing.
PyObject *owners_box(search *s, PyObject *object /* borrowed, may be NULL */);

#endif
