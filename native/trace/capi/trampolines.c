// The code that patched slots point at, in the assembler of the processor (machine/*/trampolines.h).
// SPDX-License-Identifier: MIT
#include "trace/capi/trampolines.h"
#include "trace/record/ring.h"

trampolines_asked trampolines_note, trampolines_note_numpy;

_Static_assert(offsetof(ring_thread, slot) == 8, "the record trampolines write ring_here.slot");
_Static_assert(sizeof(got_words) == 32 && offsetof(got_words, target) == 8 &&
                   offsetof(got_words, count) == 16 && offsetof(got_words, here) == 24,
               "the trampolines read got_words_of");
_Static_assert(GOT_SLOTS == 32768 && NUMPY_ROWS_MAX == 64, "the assembler counts to these");

#include MACHINE_TRAMPOLINES_H
