// Dtypes that no argument refers to: their counts are checked when a C-API call steals one.
//
// A loop in C may run functions that Python does not call (pytensor runs its operations through capsules), so
// their arguments are not known. But the dtypes that C code steals are known, since NumPy has one per type
// number. Their counts are read when the outermost call from Python begins. When a recorded call has stolen
// one, its count must have risen by the arrays made with it since, and fallen by those that died. If it is
// lower, the stolen reference belonged to another owner.
//
// Arrays are no objects of the gc: an allocated block of the size of an ndarray may become one, and is
// inspected when needed. After each check a new account begins. Dtypes that an open call watches are skipped.
//
// Limits and why. An object that is no array and holds a dtype dies in a block that contains its address; a
// Python function, or another thread, may release one in any way. After one of these, or after more than
// ALLOCATED_MAX blocks of that size, a lower count is no proof: nothing is reported, but several runs may
// show it. References released by statics and fields are known (ledger_frames_released), those of heap
// structs not.
// SPDX-License-Identifier: MIT
#include "leaks/call_frames.h"
#include "leaks/leaks.h"
#include "objects/objects.h"
#include "trace/record/record.h"
#include "trace/record/ring.h"

enum { ALLOCATED_MAX = 128, WORDS_CHECKED = 16, PAGE_BYTES = 4096 };

typedef struct {
    PyObject *dtype; // borrowed: NumPy's own, lives as long as NumPy
    Py_ssize_t count;
    int died;       // arrays that existed before
    int is_blurred; // another possible holder died
} dtype_row;

size_t ledger_dtypes_array_bytes;
int ledger_dtypes_count;
static dtype_row rows[LEDGER_DTYPES_MAX];
static uintptr_t low, high; // range of their addresses
static uintptr_t allocated[ALLOCATED_MAX];
static int allocated_count; // more than ALLOCATED_MAX: some are not known
static int is_blurred;      // an array of unknown dtype died
static running_moment since;

void ledger_dtypes_add(PyObject *dtype) {
    int is_new = ledger_dtypes_count < LEDGER_DTYPES_MAX && !compat_is_immortal(dtype);
    for (int i = 0; i < ledger_dtypes_count; i++) {
        is_new &= rows[i].dtype != dtype;
    }
    if (is_new) {
        rows[ledger_dtypes_count++] = (dtype_row){.dtype = dtype, .is_blurred = 1}; // until the next account
        low = !low || (uintptr_t)dtype < low ? (uintptr_t)dtype : low;
        high = (uintptr_t)dtype > high ? (uintptr_t)dtype : high;
    }
}

void ledger_dtypes_deinit(void) {
    ledger_dtypes_count = 0;
    memset(allocated, 0, sizeof allocated);
    low = high = ledger_dtypes_array_bytes = 0;
}

void ledger_dtypes_begin(void) {
    for (int i = 0; i < ledger_dtypes_count; i++) {
        rows[i].count = compat_refcount(rows[i].dtype);
        rows[i].died = rows[i].is_blurred = 0;
    }
    allocated_count = is_blurred = 0;
    since = running_now();
    ledger_dtypes_array_bytes = arrays_type ? (size_t)arrays_type->tp_basicsize : 0;
}

void ledger_dtypes_end(void) { ledger_dtypes_array_bytes = 0; }

// Clears the type word, so that an earlier array in the block is not taken for a new one.
void ledger_dtypes_allocated(void *block) {
    ((uintptr_t *)block)[1] = 0;
    if (allocated_count < ALLOCATED_MAX) {
        allocated[allocated_count] = (uintptr_t)block;
    }
    allocated_count += allocated_count <= ALLOCATED_MAX;
}

static int take_allocated(uintptr_t block) {
    for (int i = allocated_count < ALLOCATED_MAX ? allocated_count : ALLOCATED_MAX;
         i-- > 0;) { // the latest ones die first
        if (allocated[i] == block) {
            allocated[i] = 0;
            return 1;
        }
    }
    return 0;
}

static dtype_row *row_of(uintptr_t dtype) {
    for (int i = 0; dtype >= low && dtype <= high && i < ledger_dtypes_count; i++) {
        if ((uintptr_t)rows[i].dtype == dtype) {
            return &rows[i];
        }
    }
    return NULL;
}

// The end of the block is not known, but its page is mapped.
static uintptr_t page_end(uintptr_t block) { return (block & ~(uintptr_t)(PAGE_BYTES - 1)) + PAGE_BYTES; }

static UNSANITIZED int is_array(uintptr_t block) {
    return ((const uintptr_t *)block)[1] == (uintptr_t)arrays_type;
}

// The block may be no array, so a read beyond its page goes through memory_read().
static UNSANITIZED uintptr_t dtype_in(uintptr_t block) {
    ndarray_fields copy = {.descr = NULL};
    if (block + sizeof copy <= page_end(block)) {
        return (uintptr_t)((const ndarray_fields *)block)->descr;
    }
    return memory_read(block, &copy, sizeof copy) == sizeof copy ? (uintptr_t)copy.descr : 0;
}

void ledger_dtypes_freed(uintptr_t block) {
    if (take_allocated(block)) {
        return;
    }
    if (!is_array(block)) {
        ledger_dtypes_memory_freed(block);
        return;
    }
    uintptr_t dtype = dtype_in(block);
    dtype_row *row = row_of(dtype);
    if (row) {
        row->died++;
    }
    is_blurred |= !dtype; // NumPy 2.5 clears the field first
}

UNSANITIZED void ledger_dtypes_memory_freed(uintptr_t block) {
    const uintptr_t *words = (const uintptr_t *)block;
    uintptr_t stop = page_end(block);
    for (int n = 0; n < WORDS_CHECKED && (uintptr_t)(words + n + 1) <= stop; n++) {
        dtype_row *row = row_of(words[n]);
        if (row) {
            row->is_blurred = 1;
        }
    }
}

static int made_since(const dtype_row *row) {
    int count = 0;
    for (int i = 0; i < allocated_count; i++) {
        count += allocated[i] && is_array(allocated[i]) && dtype_in(allocated[i]) == (uintptr_t)row->dtype;
    }
    return count;
}

// How many references are missing by the account; 0 where the account is not exact.
static Py_ssize_t missing_references(const dtype_row *row) {
    Py_ssize_t change = compat_refcount(row->dtype) - row->count - made_since(row) + row->died;
    int is_exact =
        allocated_count <= ALLOCATED_MAX && !row->is_blurred && !is_blurred && running_was_alone(&since);
    return is_exact && change < 0 ? -change : 0;
}

void ledger_dtypes_stolen(PyObject *object) {
    dtype_row *row = ledger_dtypes_array_bytes ? row_of((uintptr_t)object) : NULL;
    uint32_t method = ring_here.method;
    if (!row || !method || ledger_frames_watch(object)) {
        return;
    }
    Py_ssize_t lost = missing_references(row);
    lost -= lost ? ledger_frames_released(object, lost) : 0;
    if (lost) {
        ledger_unbalanced(&(ledger_imbalance){
            .object = object, .change = -lost, .number = method - 1, .relation = LEDGER_DTYPE});
    }
    ledger_dtypes_begin();
}
