// The trampolines of trace/arm/calls.c: number N loads N as a sixth argument and jumps on.
//
// They stand in groups. Each loads its place in its group, and the end of the group adds the group's first
// number: so all groups but their ends are the same bytes, and a wheel is 180 kB smaller. Included once.
// SPDX-License-Identifier: MIT
#ifndef INSPECTOR_CALL_TRAMPOLINES_H
#define INSPECTOR_CALL_TRAMPOLINES_H

#include "machine/machine.h"
#include "trace/arm/calls.h"

enum { TRAMPOLINE_BYTES = 16, GROUPED = 15, GROUP_BYTES = (GROUPED + 1) * TRAMPOLINE_BYTES };
_Static_assert(CALLS_MAX == 4096 * GROUPED && GROUPED == 15, "the assembler counts to these");

// All of them; `enter`: the name of the function they jump to.
// clang-format off
#define CALL_TRAMPOLINES(enter) \
    ".pushsection .text\n.hidden " enter "\n.balign 16\ncalls_trampolines:\n" \
    ".set .Lgroup_first, 0\n.rept 4096\n.set .Lin_group, 0\n" \
    ".rept 15\n.balign 16\n" MACHINE_CALL_TRAMPOLINE(".Lin_group") \
    ".set .Lin_group, .Lin_group + 1\n.endr\n" \
    ".balign 16\n" MACHINE_CALL_GROUP(".Lgroup_first", enter) \
    ".set .Lgroup_first, .Lgroup_first + 15\n.endr\n.balign 16\n.popsection\n"
// clang-format on
extern const char calls_trampolines[] __attribute__((visibility("hidden")));

static uintptr_t call_trampoline(uint32_t number) {
    uintptr_t group = (uintptr_t)calls_trampolines + (uintptr_t)(number / GROUPED) * GROUP_BYTES;
    return group + number % GROUPED * TRAMPOLINE_BYTES;
}

static int call_number(uintptr_t pointer) {
    uintptr_t offset = pointer - (uintptr_t)calls_trampolines;
    uintptr_t group = offset / GROUP_BYTES, within = offset % GROUP_BYTES;
    int is_one =
        group < CALLS_MAX / GROUPED && within % TRAMPOLINE_BYTES == 0 && within / TRAMPOLINE_BYTES < GROUPED;
    return is_one ? (int)(group * GROUPED + within / TRAMPOLINE_BYTES) : -1;
}

#endif
