// Dtypes that no argument has: weighed where a call of the C-API steals them.
//
// A loop in C may run functions that Python does not call (pytensor's runs its operations through capsules it
// was given long ago). So nobody is asked what they were given; but which dtypes C code steals is known,
// since NumPy has one of each number: their counts are read when the outermost call from Python begins. When
// a call that is recorded has taken one, its count must have risen by the arrays that were made with it
// since, and have fallen by those that died. If it is lower, the reference was another's.
//
// Arrays are no objects of the gc: a block of an ndarray's size that is given out may become one, and is
// looked at when it matters. After each such look a new account begins. A dtype that an open call watches is
// left to it.
//
// Limits and why. What is no array and holds a dtype dies in a block that shows its address, and a Python
// function, or another thread, may let go of one in any way. Where one of these came between, or more than
// BORN_MAX blocks of that size, a fall is no proof: nothing is told, and several runs may. What a static or a
// field of the object kept and lets go of is known (ledger_frames_let_go); of a struct on the heap it is not.
#include "leaks/dtypes.h"
#include "memory/memory.h"
#include "objects/objects.h"
#include "trace/record/ring.h"
#include "trace/record/running.h"

#include <string.h>

#include "leaks/call_frames.h"

enum { BORN_MAX = 128, WORDS_LOOKED_AT = 16, PAGE_BYTES = 4096 };

typedef struct {
    PyObject *dtype; // borrowed: NumPy's own, there as long as NumPy is
    Py_ssize_t count;
    int died;       // arrays that were there before
    int is_blurred; // something else that may have held it died
} dtype_row;

size_t ledger_dtypes_array_bytes;
int ledger_dtypes_known;
static dtype_row rows[LEDGER_DTYPES_MAX];
static uintptr_t low, high; // addresses of them
static uintptr_t born[BORN_MAX];
static int born_count; // more than BORN_MAX: not all are known
static int is_blurred; // an array died, of which dtype is not known
static running_moment since;

void ledger_dtypes_know(PyObject *dtype) {
    int is_new = ledger_dtypes_known < LEDGER_DTYPES_MAX && !compat_is_immortal(dtype);
    for (int i = 0; i < ledger_dtypes_known; i++) {
        is_new &= rows[i].dtype != dtype;
    }
    if (is_new) {
        rows[ledger_dtypes_known++] = (dtype_row){.dtype = dtype, .is_blurred = 1}; // until the next account
        low = !low || (uintptr_t)dtype < low ? (uintptr_t)dtype : low;
        high = (uintptr_t)dtype > high ? (uintptr_t)dtype : high;
    }
}

void ledger_dtypes_deinit(void) {
    ledger_dtypes_known = 0;
    low = high = ledger_dtypes_array_bytes = 0;
}

void ledger_dtypes_begin(void) {
    for (int i = 0; i < ledger_dtypes_known; i++) {
        rows[i].count = compat_refcount(rows[i].dtype);
        rows[i].died = rows[i].is_blurred = 0;
    }
    born_count = is_blurred = 0;
    since = running_now();
    ledger_dtypes_array_bytes = arrays_type ? (size_t)arrays_type->tp_basicsize : 0;
}

void ledger_dtypes_end(void) { ledger_dtypes_array_bytes = 0; }

// What was an array before is none until its type is written again.
void ledger_dtypes_born(void *block) {
    ((uintptr_t *)block)[1] = 0;
    if (born_count < BORN_MAX) {
        born[born_count] = (uintptr_t)block;
    }
    born_count += born_count <= BORN_MAX;
}

static int is_born(uintptr_t block) {
    for (int i = born_count < BORN_MAX ? born_count : BORN_MAX; i-- > 0;) { // the latest ones die first
        if (born[i] == block) {
            born[i] = 0;
            return 1;
        }
    }
    return 0;
}

static dtype_row *row_of(uintptr_t dtype) {
    for (int i = 0; dtype >= low && dtype <= high && i < ledger_dtypes_known; i++) {
        if ((uintptr_t)rows[i].dtype == dtype) {
            return &rows[i];
        }
    }
    return NULL;
}

// The end of a block is not known, but its page is mapped.
static uintptr_t page_end(uintptr_t block) { return (block & ~(uintptr_t)(PAGE_BYTES - 1)) + PAGE_BYTES; }

static __attribute__((no_sanitize("address"))) int is_array(uintptr_t block) {
    return ((const uintptr_t *)block)[1] == (uintptr_t)arrays_type;
}

// What is no array may begin like one: read with care beyond its page.
static __attribute__((no_sanitize("address"))) uintptr_t dtype_in(uintptr_t block) {
    ndarray_fields copy = {.descr = NULL};
    if (block + sizeof copy <= page_end(block)) {
        return (uintptr_t)((const ndarray_fields *)block)->descr;
    }
    return memory_read(block, &copy, sizeof copy) == sizeof copy ? (uintptr_t)copy.descr : 0;
}

void ledger_dtypes_freed(uintptr_t block) {
    if (is_born(block)) {
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
    is_blurred |= !dtype; // NumPy 2.5 takes it out first
}

__attribute__((no_sanitize("address"))) void ledger_dtypes_memory_freed(uintptr_t block) {
    const uintptr_t *words = (const uintptr_t *)block;
    uintptr_t stop = page_end(block);
    for (int n = 0; n < WORDS_LOOKED_AT && (uintptr_t)(words + n + 1) <= stop; n++) {
        dtype_row *row = row_of(words[n]);
        if (row) {
            row->is_blurred = 1;
        }
    }
}

static int made_since(const dtype_row *row) {
    int count = 0;
    for (int i = 0; i < born_count; i++) {
        count += born[i] && is_array(born[i]) && dtype_in(born[i]) == (uintptr_t)row->dtype;
    }
    return count;
}

// How many references fewer there are than the account allows; 0 where it is not exact.
static Py_ssize_t missing(const dtype_row *row) {
    Py_ssize_t change = compat_refcount(row->dtype) - row->count - made_since(row) + row->died;
    int is_exact = born_count <= BORN_MAX && !row->is_blurred && !is_blurred && running_was_alone(&since);
    return is_exact && change < 0 ? -change : 0;
}

void ledger_dtypes_stolen(PyObject *object) {
    dtype_row *row = ledger_dtypes_array_bytes ? row_of((uintptr_t)object) : NULL;
    uint32_t method = ring_here.method;
    if (!row || !method || ledger_frames_watch(object)) {
        return;
    }
    Py_ssize_t lost = missing(row);
    lost -= lost ? ledger_frames_let_go(object, lost) : 0;
    if (lost) {
        ledger_unbalanced(&(ledger_imbalance){
            .object = object, .change = -lost, .number = method - 1, .relation = LEDGER_DTYPE});
    }
    ledger_dtypes_begin();
}
