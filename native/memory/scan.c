// Finds every word of the process's writable memory whose value lies in one of some ranges (needles).
//
// A pointer to an object is a word in [object, object + 8), since its low three bits may carry tags. A
// pointer into a block is a word in [block, block + size). One range test serves both. The search reads
// memory in order, at memory bandwidth, instead of following pointers from object to object, each a cache
// miss. It finds candidates only: native/search/owners.c verifies them.
//
// Up to eight needles are compared side by side, 64 bytes a step: with AVX2 where the processor has it, else
// in plain C. More needles, or ignored bits, use a filter: one bit for each page that a needle touches, and a
// binary search where the bit is set.
//
// Every run is read under the guard of memory.c. A run that faults (another thread unmapped it, a file was
// truncated) is read again through process_vm_readv, which skips only the pages that are really gone.
// SPDX-License-Identifier: MIT
#include "machine/machine.h"
#include "memory/addresses.h"
#include "memory/memory.h"

#define STEP_WORDS 8u          // a cache line
#define FILTER_BITS (1u << 18) // 32 KiB: stays in the first-level cache
#define NEEDLES_BY_COMPARISON 8u
#define SLICE_BYTES (SCAN_SLICE_WORDS * 8)

typedef struct {
    scan_job *job;             // borrowed
    const uint64_t *at, *stop; // the rest of the run
    uintptr_t shift;    // added to an address in `at` when a copy is searched: gives the original's address
    uint64_t low, span; // all needles lie in [low, low + span)
    uint8_t *filter;    // borrowed: NULL for few needles
} scan_walk;

// The needle that holds the value, or NULL. Needles are sorted and do not overlap.
static const scan_range *needle_of(const scan_job *job, uint64_t value) {
    ptrdiff_t at = addresses_find(job->needles, job->needle_count, sizeof *job->needles, value);
    return at < 0 ? NULL : &job->needles[at];
}

// Records the words of a step that lie in a needle.
static __attribute__((noinline)) void scan_collect(scan_walk *walk, const uint64_t *at, size_t words) {
    scan_job *job = walk->job;
    for (size_t i = 0; i < words; i++) {
        uint64_t value = at[i] & ~job->ignored;
        const scan_range *needle = value - walk->low < walk->span ? needle_of(job, value) : NULL;
        if (needle) {
            if (job->hit_count < job->hit_capacity) {
                job->hits[job->hit_count] =
                    (scan_hit){(uintptr_t)(at + i) + walk->shift, at[i], (uint32_t)(needle - job->needles)};
            }
            job->hit_count++;
        }
    }
}

// The searches below leave walk->at where they stopped. A step is one cache line. Each search has one copy
// for each number of needles.
#define SCAN_COUNT(FUNCTION, walk, count) \
    if ((walk)->job->needle_count <= count) { \
        FUNCTION(walk, count); \
        return; \
    }
#define SCAN_WITH_COUNTS(FUNCTION, walk) \
    SCAN_COUNT(FUNCTION, walk, 1) \
    SCAN_COUNT(FUNCTION, walk, 2) \
    SCAN_COUNT(FUNCTION, walk, 3) \
    SCAN_COUNT(FUNCTION, walk, 4) \
    SCAN_COUNT(FUNCTION, walk, 5) \
    SCAN_COUNT(FUNCTION, walk, 6) \
    SCAN_COUNT(FUNCTION, walk, 7) \
    FUNCTION(walk, 8)

// `count` is a constant in each copy of the loop, so the needles stay in registers. The reads are aligned
// words of memory that a sanitizer knows nothing of.
ALWAYS_INLINE void scan_plain(scan_walk *walk, const int count) {
    const scan_range *needles = walk->job->needles;
    const uint64_t *at = walk->at, *stop = walk->stop;
    for (; at + STEP_WORDS <= stop; at += STEP_WORDS) {
        int found = 0;
#pragma GCC unroll 8
        for (size_t i = 0; i < STEP_WORDS; i++) {
#pragma GCC unroll 8
            for (int n = 0; n < count; n++) {
                found |= at[i] - needles[n].start < needles[n].stop - needles[n].start;
            }
        }
        if (__builtin_expect(found, 0)) {
            scan_collect(walk, at, STEP_WORDS);
        }
    }
    walk->at = at;
}

static void scan_words_plain(scan_walk *walk) { SCAN_WITH_COUNTS(scan_plain, walk); }

#if MACHINE_AVX2
// AVX2 compares signed numbers, so both sides are shifted by 2^63: free, as the needles are constants.
static inline __attribute__((always_inline, target("avx2"))) void scan_avx2(scan_walk *walk,
                                                                            const int count) {
    const uint64_t *at = walk->at, *stop = walk->stop, sign = 1ull << 63;
    __m256i low[8], span[8];
#pragma GCC unroll 8
    for (int n = 0; n < count; n++) {
        const scan_range *needle = &walk->job->needles[n];
        low[n] = _mm256_set1_epi64x((long long)(needle->start ^ sign));
        span[n] = _mm256_set1_epi64x((long long)((needle->stop - needle->start) ^ sign));
    }
    for (; at + STEP_WORDS <= stop; at += STEP_WORDS) {
        _mm_prefetch((const char *)at + 1024, _MM_HINT_NTA);
        __m256i a = _mm256_loadu_si256((const void *)at), b = _mm256_loadu_si256((const void *)(at + 4));
        __m256i found = _mm256_setzero_si256();
#pragma GCC unroll 8
        for (int n = 0; n < count; n++) {
            found = _mm256_or_si256(found, _mm256_cmpgt_epi64(span[n], _mm256_sub_epi64(a, low[n])));
            found = _mm256_or_si256(found, _mm256_cmpgt_epi64(span[n], _mm256_sub_epi64(b, low[n])));
        }
        if (__builtin_expect(!_mm256_testz_si256(found, found), 0)) {
            scan_collect(walk, at, STEP_WORDS);
        }
    }
    walk->at = at;
}

static __attribute__((target("avx2"))) void scan_words_avx2(scan_walk *walk) {
    SCAN_WITH_COUNTS(scan_avx2, walk);
}
#endif

// For many needles: is the value between the lowest and the highest, and does its page hold a needle? Both
// tests miss nothing; a false positive costs a binary search.
#define FILTER_BIT(value) (((value) >> 12) & (FILTER_BITS - 1))

static void scan_words_filtered(scan_walk *walk) {
    const uint64_t *at = walk->at, *stop = walk->stop, low = walk->low, span = walk->span;
    uint64_t counts = ~walk->job->ignored;
    const uint8_t *filter = walk->filter;
    for (; at < stop; at++) {
        uint64_t value = *at & counts;
        if (value - low < span && filter[FILTER_BIT(value) / 8] >> (FILTER_BIT(value) % 8) & 1) {
            scan_collect(walk, at, 1);
        }
    }
    walk->at = at;
}

static void scan_body(void *argument) {
    scan_walk *walk = argument;
    if (walk->filter) {
        scan_words_filtered(walk);
        return;
    }
#if MACHINE_AVX2
    if (machine_has_avx2() && !walk->job->portable) {
        scan_words_avx2(walk);
    } else
#endif
    {
        scan_words_plain(walk);
    }
    if (walk->at < walk->stop) { // the last words, less than a step
        scan_collect(walk, walk->at, (size_t)(walk->stop - walk->at));
    }
}

// Reads a run that faulted by copying it page by page, as memory vanishes by pages. Other pages count as
// vanished.
static void scan_run_by_copy(scan_walk *walk, scan_range run) {
    uint64_t copy[512];
    for (uintptr_t at = run.start; at < run.stop;) {
        uintptr_t end = (at & ~(uintptr_t)4095) + 4096;
        size_t size = (end < run.stop ? end : run.stop) - at;
        if (memory_read(at, copy, size) == size) {
            walk->shift = at - (uintptr_t)copy;
            scan_collect(walk, copy, size / 8);
            walk->job->scanned_bytes += size;
        } else {
            walk->job->vanished_bytes += size;
        }
        at += size;
    }
    walk->shift = 0;
}

// Searches one run as a whole: after a fault its hits are dropped and it is read again by copies.
static void scan_run(scan_walk *walk, scan_range run) {
    size_t hits_before = walk->job->hit_count;
    walk->at = (const uint64_t *)run.start;
    walk->stop = (const uint64_t *)(run.stop & ~(uintptr_t)7);
    if (memory_guarded(scan_body, walk) < 0) {
        walk->job->hit_count = hits_before;
        scan_run_by_copy(walk, run);
        return;
    }
    walk->job->scanned_bytes += run.stop - run.start;
}

// A needle longer than the filter sets every bit: slow but correct.
static void fill_filter(scan_walk *walk) {
    const scan_job *job = walk->job;
    memset(walk->filter, 0, FILTER_BITS / 8);
    for (size_t n = 0; n < job->needle_count; n++) {
        uint64_t page = job->needles[n].start >> 12, last = (job->needles[n].stop - 1) >> 12;
        for (uint64_t k = 0; page <= last && k < FILTER_BITS; page++, k++) {
            uint64_t bit = page & (FILTER_BITS - 1);
            walk->filter[bit / 8] |= (uint8_t)(1u << (bit % 8));
        }
    }
}

// The cost of the next search is estimated from the last one.
#define SPEED_BYTES_MIN (4u << 20)             // a smaller search measures the caches, not memory
static uint64_t last_scan_bytes, last_scan_ns; // under the GIL

// A run is searched in slices: they bound the hits waiting for `collect`, and the time between two checks for
// pending signals. A slice is small against a run and large against the cost of a check.
int scan_words(scan_job *job) {
    if (!job->needle_count) {
        return 0;
    }
    scan_walk walk = {.job = job};
    uint64_t start = clock_now_ns();
    addresses_sort(job->needles, job->needle_count, sizeof *job->needles, addresses_compare);
    walk.low = job->needles[0].start;
    walk.span = job->needles[job->needle_count - 1].stop - walk.low;
    _free_ uint8_t *filter = NULL;
    if (job->needle_count > NEEDLES_BY_COMPARISON || job->ignored) {
        walk.filter = filter = malloc(FILTER_BITS / 8);
        if (!filter) {
            return error_no_memory();
        }
        fill_filter(&walk);
    }
    uint64_t taken_ns = 0;
    int status = 0;
    memory_guard_arm();
    for (size_t i = 0; i < job->runs->count && status == 0; i++) {
        scan_range run = job->runs->rows[i];
        while (run.start < run.stop && status == 0) {
            scan_range slice = run;
            if (slice.stop - slice.start > SLICE_BYTES) {
                slice.stop = slice.start + SLICE_BYTES;
            }
            scan_run(&walk, slice);
            run.start = slice.stop;
            if (job->collect) {
                uint64_t taken = job->hit_count ? clock_now_ns() : 0;
                status = job->collect(job, job->argument);
                taken_ns += taken ? clock_now_ns() - taken : 0;
                job->hit_count = 0;
            }
        }
    }
    memory_guard_disarm();
    job->scan_ns = clock_now_ns() - start - taken_ns;
    if (job->scanned_bytes >= SPEED_BYTES_MIN) {
        last_scan_bytes = job->scanned_bytes;
        last_scan_ns = job->scan_ns;
    }
    return status < 0 ? -1 : 0;
}

PyObject *scan_hits(const scan_job *job) {
    size_t count = job->hit_count < job->hit_capacity ? job->hit_count : job->hit_capacity;
    _owned_ PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < count; i++) {
        if (list_add(list, Py_BuildValue("KK", (unsigned long long)job->hits[i].word,
                                         (unsigned long long)job->hits[i].value)) < 0) {
            return NULL;
        }
    }
    return take(list);
}

static PyObject *scan_words_python(PyObject *module, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"needles", "leave_out", "limit", "portable", "ignored", NULL};
    PyObject *needles, *leave_out = NULL; // borrowed
    Py_ssize_t limit = 65536;
    unsigned long long ignored = 0;
    int portable = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|OnpK:scan_words", names, &needles, &leave_out, &limit,
                                     &portable, &ignored)) {
        return NULL;
    }
    _scratch_ scratch memory = {0};
    scan_range *left_out = NULL;
    size_t left_out_count = 0;
    scan_job job = {.portable = portable, .ignored = ignored, .hit_capacity = limit < 0 ? 0 : (size_t)limit};
    _owned_ PyObject *nothing = PyTuple_New(0);
    if (!nothing || scratch_init(&memory, SCRATCH_BYTES) < 0) {
        return PyErr_NoMemory();
    }
    if (scan_ranges_parse(needles, &memory, 0, &job.needles, &job.needle_count) < 0 ||
        scan_ranges_parse(leave_out ? leave_out : nothing, &memory, SCAN_OWN_RANGES, &left_out,
                          &left_out_count) < 0) {
        return NULL;
    }
    memory_maps maps;
    scan_runs runs;
    job.hits = scratch_alloc(&memory, job.hit_capacity * sizeof *job.hits);
    if (!job.hits || memory_maps_init(&maps, &memory) < 0) {
        return PyErr_NoMemory();
    }
    left_out_count +=
        scan_ranges_own(left_out + left_out_count, &maps, &memory, (uintptr_t)__builtin_frame_address(0));
    if (scan_runs_init(&runs, &maps, left_out, left_out_count, &memory) < 0) {
        return PyErr_NoMemory();
    }
    job.runs = &runs; // from here on the runs are fixed: memory mapped later is not read
    if (scan_words(&job) < 0) {
        return NULL;
    }
    return Py_BuildValue(
        "NnKKK", scan_hits(&job), (Py_ssize_t)job.hit_count, (unsigned long long)job.scanned_bytes,
        (unsigned long long)(runs.left_out_bytes + runs.untouched_bytes + job.vanished_bytes - memory.size),
        (unsigned long long)job.scan_ns);
}

// Bytes per second of the last search; 0 before the first.
static PyObject *scan_bandwidth(PyObject *module, PyObject *unused) {
    double seconds = (double)last_scan_ns / 1e9;
    return PyFloat_FromDouble(seconds > 0 ? (double)last_scan_bytes / seconds : 0.0);
}

PART_FUNCTIONS(scan,
               {"scan_words", (PyCFunction)(void (*)(void))scan_words_python, METH_VARARGS | METH_KEYWORDS,
                NULL},
               {"scan_bandwidth", scan_bandwidth, METH_NOARGS, NULL})
