// SPDX-License-Identifier: MIT
/* Put before each C file of a package: which planted fault is on, which places ran, and who called them.
   One build holds every fault. `planted` is the number of the one that is on, 0 for none. Weak: a package of
   several C files has one of each. */
#ifndef PLANTED_H
#define PLANTED_H

int backtrace(void **buffer, int size); /* execinfo.h: no header may come before Python.h */

#define PLANTED_PLACES 8192
#define PLANTED_STACKS 16
#define PLANTED_DEPTH 48

__attribute__((weak)) int planted;
__attribute__((weak)) unsigned char planted_reached[PLANTED_PLACES];
__attribute__((weak)) void *planted_stacks[PLANTED_STACKS][PLANTED_DEPTH]; /* of the first passes */
__attribute__((weak)) int planted_passes;

__attribute__((weak, constructor)) void planted_begin(void) {
    backtrace(planted_stacks[0], 1); /* the first one loads a library */
    planted_stacks[0][0] = 0;
}

/* Whether the fault of this number is on here, where it matters: `live` is 0 for what was NULL anyhow. */
__attribute__((weak, noinline)) int planted_here(int number, int live) {
    if (!live)
        return 0;
    planted_reached[number] = 1;
    if (planted != number)
        return 0;
    if (planted_passes < PLANTED_STACKS)
        backtrace(planted_stacks[planted_passes++], PLANTED_DEPTH);
    return 1;
}
#endif
