// What a call from Python was given, watched while it runs.
#ifndef INSPECTOR_LEDGER_FRAMES_H
#define INSPECTOR_LEDGER_FRAMES_H

#include "ledger.h"

enum { WATCHED_MAX = 24 };

typedef struct {
    PyObject *object; // borrowed: as long as the caller has it
    Py_ssize_t count;
    Py_ssize_t found; // in the result
    uint8_t relation, argument, held, is_blurred, died, header;
} watched;

typedef struct call_frame {
    watched items[WATCHED_MAX];
    int count;
    uint32_t number, outer_method;
    uintptr_t low, high;      // addresses watched
    struct call_frame *outer; // borrowed: of this thread or another that waits for the GIL
} call_frame;

// Counts of the arguments before the call; the frame is this thread's innermost until it is left.
void ledger_frame_enter(call_frame *frame, uint32_t number, call_convention convention,
                        const uintptr_t words[5]);
uint32_t ledger_frame_leave(call_frame *frame); // how many calls are still open
// The frame answers for this change of a count: no call around it does.
void ledger_frame_charge(const call_frame *frame, const PyObject *object /* borrowed */, Py_ssize_t change);

#endif
