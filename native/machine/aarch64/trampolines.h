// The trampolines of trace/capi for aarch64.
//
// AAPCS64: x16 and x17 are free between a call and the function's first instruction, where the PLT uses them
// too; a jump through x16 may lead to a `bti c`. Each trampoline begins with one itself, since a PLT jumps
// through a register. Thread-local words are read by the initial-exec model: the GOT holds their distance
// from tpidr_el0.
//
// A count is one load and one store: of two threads that count at once without the GIL one may be lost, as on
// x86-64. Named calls and those that release or take the GIL are recorded by C (trampolines_entry): a few
// nanoseconds more than a record that is written here.
//
// Included once, by trace/capi/trampolines.c, which knows the structs.
// SPDX-License-Identifier: MIT
_Static_assert(MACHINE_COUNT_BYTES == 32 && MACHINE_RECORD_BYTES == 64, "the trampolines' sizes");
_Static_assert(MACHINE_RETURN_WORD == 27, "where KEEPING saves x30");

#define FUNCTION(name) ".p2align 6\n.globl " name "\n.hidden " name "\n.type " name ", %function\n" name ":\n"
#define SIZED(name) ".size " name ", . - " name "\n"
// x16 = ring_here of this thread; its slot = the trampoline's number.
#define NOTE_SLOT \
    "adrp x16, :gottprel:ring_here\nldr x16, [x16, :gottprel_lo12:ring_here]\n" \
    "mrs x17, tpidr_el0\nadd x16, x16, x17\nmov w17, trampoline\nstr w17, [x16, 8]\n"

__asm__(".text\n" FUNCTION(
    "trampolines_count") ".set trampoline, 0\n"
                         ".rept 32768\n"
                         ".p2align 5\n"
                         "bti c\n"
                         "adrp x16, got_words_of + 32 * trampoline\n"
                         "add x16, x16, :lo12:got_words_of + 32 * trampoline\n"
                         "ldr x17, [x16, 16]\nadd x17, x17, 1\nstr x17, [x16, 16]\n"
                         "ldr x16, [x16]\nbr x16\n"
                         ".set trampoline, trampoline + 1\n"
                         ".endr\n" SIZED("trampolines_count") FUNCTION(
                             "trampolines_record") ".set trampoline, 0\n"
                                                   ".rept 32768\n"
                                                   ".p2align 6\n"
                                                   "bti c\n" NOTE_SLOT
                                                   "adrp x16, got_words_of + 8 + 32 * trampoline\n"
                                                   "ldr x16, [x16, :lo12:got_words_of + 8 + 32 * "
                                                   "trampoline]\nbr x16\n"
                                                   ".set trampoline, trampoline + 1\n"
                                                   ".endr\n" SIZED("trampolines_record") FUNCTION(
                                                       "trampolines_numpy") ".set trampoline, 0\n"
                                                                            ".rept 64\n"
                                                                            ".p2align 6\n"
                                                                            "bti c\n" NOTE_SLOT
                                                                            "b numpy_entry\n"
                                                                            ".set trampoline, trampoline + "
                                                                            "1\n"
                                                                            ".endr\n" SIZED(
                                                                                "trampolines_numpy"));

// A function that saves the argument registers, calls `note` for the address to go on at, and jumps there.
#define KEEPING(name, note) \
    FUNCTION(name) \
    ".cfi_startproc\n" \
    "bti c\n" \
    "sub sp, sp, 224\n.cfi_def_cfa_offset 224\n" \
    "stp x29, x30, [sp, 208]\n.cfi_offset x29, -16\n.cfi_offset x30, -8\n" \
    "add x29, sp, 208\n" \
    "stp x0, x1, [sp]\nstp x2, x3, [sp, 16]\nstp x4, x5, [sp, 32]\nstp x6, x7, [sp, 48]\n" \
    "str x8, [sp, 64]\n" \
    "stp q0, q1, [sp, 80]\nstp q2, q3, [sp, 112]\nstp q4, q5, [sp, 144]\nstp q6, q7, [sp, 176]\n" \
    "mov x0, sp\n" \
    "adrp x16, " note "\nldr x16, [x16, :lo12:" note "]\nblr x16\n" \
    "mov x16, x0\n" \
    "ldp x0, x1, [sp]\nldp x2, x3, [sp, 16]\nldp x4, x5, [sp, 32]\nldp x6, x7, [sp, 48]\n" \
    "ldr x8, [sp, 64]\n" \
    "ldp q0, q1, [sp, 80]\nldp q2, q3, [sp, 112]\nldp q4, q5, [sp, 144]\nldp q6, q7, [sp, 176]\n" \
    "ldp x29, x30, [sp, 208]\n.cfi_restore x29\n.cfi_restore x30\n" \
    "add sp, sp, 224\n.cfi_def_cfa_offset 0\n" \
    "br x16\n" \
    ".cfi_endproc\n" SIZED(name)
#define LEADING(name) FUNCTION(name) "bti c\nb trampolines_entry\n" SIZED(name)

__asm__(".text\n" KEEPING("trampolines_entry", "trampolines_note")
            KEEPING("numpy_entry", "trampolines_note_numpy") LEADING("trampolines_named")
                LEADING("trampolines_released") LEADING("trampolines_taken"));

// What a walk mends was measured on x86-64 alone.
__asm__(".text\n" FUNCTION("trampolines_walk") "bti c\nret\n" SIZED("trampolines_walk"));
