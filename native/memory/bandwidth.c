// Memory bandwidth of this process: the limit of a search, and the estimate of what a first one costs.
// SPDX-License-Identifier: MIT
#include "memory/memory.h"
#include "module/platform.h"

// Sums every word. Eight independent sums keep the additions from waiting for each other and let the compiler
// use vectors. The sum is returned so that the compiler cannot drop the reads.
static UNSANITIZED PLATFORM_OPTIMIZED uint64_t sum_words(const uint64_t *at, const uint64_t *stop) {
    uint64_t sums[8] = {0};
    for (; at + 8 <= stop; at += 8) {
        __builtin_prefetch(at + 128, 0, 0);
        for (int i = 0; i < 8; i++) {
            sums[i] += at[i];
        }
    }
    return sums[0] + sums[1] + sums[2] + sums[3] + sums[4] + sums[5] + sums[6] + sums[7];
}

typedef struct {
    const scan_runs *runs; // borrowed
    uint64_t most, read, sum;
} reading;

static UNSANITIZED void read_body(void *argument) {
    reading *r = argument;
    for (size_t i = 0; i < r->runs->count && r->read < r->most; i++) {
        scan_range run = r->runs->rows[i];
        if (run.stop - run.start > r->most - r->read) {
            run.stop = run.start + ((r->most - r->read) & ~(uint64_t)63);
        }
        r->sum += sum_words((const uint64_t *)run.start, (const uint64_t *)run.stop);
        r->read += run.stop - run.start;
        if (run.stop == run.start) {
            break;
        }
    }
}

static PyObject *bandwidth_read_all(PyObject *module, PyObject *args) {
    unsigned long long most = UINT64_MAX;
    if (!PyArg_ParseTuple(args, "|K:read_all", &most)) {
        return NULL;
    }
    _scratch_ scratch memory = {0};
    memory_maps maps;
    scan_runs runs;
    scan_range own[SCAN_OWN_RANGES];
    if (scratch_init(&memory, SCRATCH_BYTES) < 0 || memory_maps_init(&maps, &memory) < 0) {
        return PyErr_NoMemory();
    }
    size_t count = scan_ranges_own(own, &maps, &memory, (uintptr_t)__builtin_frame_address(0));
    if (scan_runs_init(&runs, &maps, own, count, &memory) < 0) {
        return PyErr_NoMemory();
    }
    reading r = {.runs = &runs, .most = most};
    uint64_t start = clock_now_ns();
    memory_guard_arm();
    memory_guarded(read_body, &r); // a fault ends the reading early; what was read is timed
    memory_guard_disarm();
    uint64_t ns = clock_now_ns() - start;
    return Py_BuildValue("KKK", (unsigned long long)r.read, (unsigned long long)ns,
                         (unsigned long long)r.sum);
}

PART_FUNCTIONS(bandwidth, {"read_all", bandwidth_read_all, METH_VARARGS, NULL})
