// What depends on the processor, by name: x86_64/ and aarch64/ each define the same words.
//
// Everything outside this folder is the same on both: it asks for a word here, and does not ask which
// processor it is.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_MACHINE_H
#define INSPECTOR_MACHINE_H

#include <elf.h>
#include <stdint.h>
#include <ucontext.h>

#if defined(__x86_64__)
#include "machine/x86_64/words.h"
#elif defined(__aarch64__)
#include "machine/aarch64/words.h"
#else
#error "native-inspector is written for x86-64 and aarch64"
#endif

// MACHINE_NAME                 as `uname -m` prints it
// MACHINE_JUMP_SLOT, MACHINE_GLOB_DAT, MACHINE_WORD
//                              relocation types of a call, an address taken, a word of data
// MACHINE_TRAMPOLINES_H        the header with their code
// MACHINE_COUNT_BYTES, MACHINE_RECORD_BYTES, MACHINE_RETURN_WORD
//                              bytes of a trampoline of each grade; which saved word is the return address
// MACHINE_CALL_TRAMPOLINE(number), MACHINE_CALL_GROUP(first, enter)
//                              16 bytes each: passes the number as a sixth argument and jumps to the end of
//                              its group; that adds the group's first number and jumps to `enter`
//
// MACHINE_AVX2                 1: variants of kernels are compiled for AVX2, and chosen at run time
//
// MACHINE_STEPS                1: one instruction can be stepped from a signal handler (watches of pages)
//
// MACHINE_REMOTE_CALLS         1: a function can be called in a thread of another process that is stopped
//
// machine_has_avx2             whether this processor has it
//
// machine_ticks                the cheapest clock
//
// machine_thread_pointer       where the thread's words are counted from
//
// machine_pc, machine_sp       the instruction at which a signal came; the stack pointer there

#endif
