// Writes the plain values of a call: letters in `refs` and argument numbers in `lasti`, a byte each, lowest
// first; words in start, obj, val and aux.
// SPDX-License-Identifier: MIT
#include "trace/record/plain.h"
#include "trace/record/ring.h"

void plain_write(const plain_values *values, uint8_t depth) {
    for (uint32_t from = 0; from < values->count; from += PLAIN_PER_RECORD) {
        event *record = ring_open();
        if (!record) {
            return;
        }
        const uint64_t *words = &values->words[from];
        uint32_t count = values->count - from;
        *record = (event){.kind = EVENT_PLAIN,
                          .flags = EVENT_FLAG_CONTINUATION,
                          .depth = depth,
                          .func = (uint16_t)(count < PLAIN_PER_RECORD ? count : PLAIN_PER_RECORD),
                          .refs = (int32_t)(uint32_t)(values->letters >> 8 * from),
                          .lasti = (int32_t)(uint32_t)(values->numbers >> 8 * from),
                          .start = words[0],
                          .obj = words[1],
                          .val = words[2],
                          .aux = words[3]};
        ring_commit();
    }
}
