// The code that patched slots point at: one small trampoline a slot and grade, made by the assembler.
//
// A count trampoline adds one and jumps on: no frame, no register changed. A record trampoline writes its
// slot's number into the thread's ring_here and jumps to the hook, which so knows which module called, tail
// calls included. trampolines_entry is the hook of functions whose call may not come back: it keeps every
// register that can hold an argument (the System V ABI's six words, eight vectors and al), notes the call,
// and jumps on; the callee never learns of it, and unwinders see the caller's own frame. trampolines_named (a
// signature that is unknown), trampolines_released and trampolines_taken (the GIL) write the same record
// themselves, in two registers and the bytes below the stack; where the ring has no room just so, or there is
// more to say, they jump to trampolines_entry.
//
// trampolines_walk is what arming and disarming end with. A processor that saw a jump go to two places
// foretells it by a slower table from then on: the module's own jump through a slot, which cost 1.1 ns a call
// (Zen 4), armed or not, until the processor forgot it. It keeps some thousands of jumps, so a walk over
// 16,384 makes it forget in 0.1 ms. The walk's jumps stand behind the record trampolines, in bytes that were
// empty.
//
// Static code, so nothing is ever made executable at run time, and nothing is ever freed.
#include "trace/capi/trampolines.h"
#include "trace/capi/slot_table.h"
#include "trace/record/ring.h"

trampolines_asked trampolines_note, trampolines_note_numpy;

_Static_assert(offsetof(ring_thread, slot) == 8, "the record trampolines write ring_here.slot");
_Static_assert(sizeof(got_words) == 32 && offsetof(got_words, target) == 8 &&
                   offsetof(got_words, count) == 16,
               "the trampolines read got_words_of");
_Static_assert(GOT_SLOTS == 32768, "the assembler below counts to 32768");

#if defined(__x86_64__)
__asm__(".text\n"
        ".p2align 5\n"
        ".globl trampolines_count\n.hidden trampolines_count\n.type trampolines_count, @function\n"
        "trampolines_count:\n"
        ".set thunk, 0\n"
        ".rept 32768\n"
        ".p2align 4\n"
        "incq got_words_of + 16 + 32 * thunk(%rip)\n"
        "jmpq *got_words_of + 32 * thunk(%rip)\n"
        ".set thunk, thunk + 1\n"
        ".endr\n"
        ".size trampolines_count, . - trampolines_count\n"
        ".p2align 5\n"
        ".globl trampolines_record\n.hidden trampolines_record\n.type trampolines_record, @function\n"
        "trampolines_record:\n"
        ".set thunk, 0\n"
        ".rept 32768\n"
        ".p2align 5\n"
        "movq ring_here@gottpoff(%rip), %r11\n"
        "movl $thunk, %fs:8(%r11)\n"
        "jmpq *got_words_of + 8 + 32 * thunk(%rip)\n"
        "1: .if thunk < 16384\njmp 1f\n.else\nret\n.endif\n"
        ".set thunk, thunk + 1\n"
        ".endr\n"
        ".size trampolines_record, . - trampolines_record\n"
        ".globl trampolines_walk\n.hidden trampolines_walk\n.type trampolines_walk, @function\n"
        "trampolines_walk:\n"
        "jmp trampolines_record + 22\n"
        ".size trampolines_walk, . - trampolines_walk\n");

// A function that keeps what may hold an argument, asks `note` of C where to go, and jumps there.
#define KEEPING(name, note) \
    ".p2align 5\n" \
    ".globl " name "\n.hidden " name "\n.type " name ", @function\n" name ":\n" \
    ".cfi_startproc\n" \
    "pushq %rbp\n" \
    ".cfi_def_cfa_offset 16\n.cfi_offset rbp, -16\n" \
    "movq %rsp, %rbp\n" \
    ".cfi_def_cfa_register rbp\n" \
    "subq $192, %rsp\n" \
    "movq %rdi, (%rsp)\nmovq %rsi, 8(%rsp)\nmovq %rdx, 16(%rsp)\n" \
    "movq %rcx, 24(%rsp)\nmovq %r8, 32(%rsp)\nmovq %r9, 40(%rsp)\nmovq %rax, 48(%rsp)\n" \
    "movups %xmm0, 64(%rsp)\nmovups %xmm1, 80(%rsp)\nmovups %xmm2, 96(%rsp)\nmovups %xmm3, 112(%rsp)\n" \
    "movups %xmm4, 128(%rsp)\nmovups %xmm5, 144(%rsp)\nmovups %xmm6, 160(%rsp)\nmovups %xmm7, 176(%rsp)\n" \
    "movq %rsp, %rdi\n" \
    "call *" note "(%rip)\n" \
    "movq %rax, %r11\n" \
    "movq (%rsp), %rdi\nmovq 8(%rsp), %rsi\nmovq 16(%rsp), %rdx\n" \
    "movq 24(%rsp), %rcx\nmovq 32(%rsp), %r8\nmovq 40(%rsp), %r9\nmovq 48(%rsp), %rax\n" \
    "movups 64(%rsp), %xmm0\nmovups 80(%rsp), %xmm1\nmovups 96(%rsp), %xmm2\nmovups 112(%rsp), %xmm3\n" \
    "movups 128(%rsp), %xmm4\nmovups 144(%rsp), %xmm5\nmovups 160(%rsp), %xmm6\nmovups 176(%rsp), %xmm7\n" \
    "leave\n" \
    ".cfi_def_cfa rsp, 8\n" \
    "jmpq *%r11\n" \
    ".cfi_endproc\n" \
    ".size " name ", . - " name "\n"

__asm__(".text\n" KEEPING("trampolines_entry", "trampolines_note")
            KEEPING("numpy_entry", "trampolines_note_numpy"));

_Static_assert(offsetof(ring_thread, ring) == 0 && offsetof(ring_thread, depth) == 12 &&
                   offsetof(ring, header.head) == 16 && offsetof(ring, limit) == 96 &&
                   offsetof(ring, mask) == 104 && offsetof(ring, records) == 112 && RING_AHEAD == 3,
               "NOTING opens and commits a record as trace/record/ring.h does");
_Static_assert(offsetof(event, obj) == 8 && offsetof(event, val) == 16 && offsetof(event, aux) == 24 &&
                   offsetof(event, duration) == 32 && offsetof(event, slot) == 36 &&
                   offsetof(event, type) == 40 && offsetof(event, refs_delta) == 56 &&
                   offsetof(event, func) == 58 && offsetof(event, flags) == 60 &&
                   offsetof(event, kind) == 62 && offsetof(event, depth) == 63,
               "NOTING fills a record");
_Static_assert((EVENT_NAMED << 16 | EVENT_FLAG_ENTRY | EVENT_FLAG_NO_GIL) == 0x20014 &&
                   (EVENT_GIL << 16 | EVENT_FLAG_ENTRY | EVENT_FLAG_NO_GIL) == 0xb0014 &&
                   CAPI_NO_ROW == 0xffff,
               "what NOTING's records are");

// What trampolines_note writes of a call that is nothing more than noted: its func in the upper half of
// `func`, its kind and flags in `kind`. `ask` may jump to 9, where trampolines_note does it.
#define NOTING(name, func, kind, ask) \
    ".p2align 6\n" \
    ".globl " name "\n.hidden " name "\n.type " name ", @function\n" name ":\n" \
    ".cfi_startproc\n" \
    "movq ring_here@gottpoff(%rip), %r11\n" \
    "movq %fs:(%r11), %r10\n" \
    "testq %r10, %r10\nje 9f\n" ask "movq %rax, -8(%rsp)\nmovq %rcx, -16(%rsp)\n" \
    "movl %fs:12(%r11), %ecx\n" \
    "movq 16(%r10), %rax\n" \
    "cmpl $255, %ecx\nja 8f\n" \
    "cmpq 96(%r10), %rax\njae 8f\n" \
    "movl %fs:8(%r11), %r11d\n" \
    "andq 104(%r10), %rax\n" \
    "shlq $6, %rax\n" \
    "addq 112(%r10), %rax\n" \
    "cmpl $0, ring_clocks(%rip)\njne 7f\n" \
    "movq $0, (%rax)\n" \
    "1: movq %rdi, 8(%rax)\nmovq %rsi, 16(%rax)\nmovq %rdx, 24(%rax)\n" \
    "shlq $32, %r11\nmovq %r11, 32(%rax)\n" \
    "movq $0, 40(%rax)\nmovq $0, 48(%rax)\n" \
    "shll $24, %ecx\norl $" kind ", %ecx\n" \
    "movl $" func ", 56(%rax)\nmovl %ecx, 60(%rax)\n" \
    "prefetcht0 256(%rax)\n" \
    "incq 16(%r10)\n" \
    "shrq $27, %r11\n" \
    "leaq got_words_of(%rip), %r10\n" \
    "movq -16(%rsp), %rcx\nmovq -8(%rsp), %rax\n" \
    "jmpq *(%r10,%r11)\n" \
    "7: movq %rax, -24(%rsp)\nmovq %rdx, -32(%rsp)\n" \
    "rdtsc\nshlq $32, %rdx\norq %rax, %rdx\n" \
    "movq -24(%rsp), %rax\nmovq %rdx, (%rax)\nmovq -32(%rsp), %rdx\n" \
    "jmp 1b\n" \
    "8: movq -16(%rsp), %rcx\nmovq -8(%rsp), %rax\n" \
    "9: jmp trampolines_entry\n" \
    ".cfi_endproc\n" \
    ".size " name ", . - " name "\n"

__asm__(".text\n" NOTING("trampolines_named", "0xffff0000", "0x20014", "")
            NOTING("trampolines_released", "0", "0xb0014", "cmpl $0, foreign_open(%rip)\njne 9f\n")
                NOTING("trampolines_taken", "0x10000", "0xb0014", ""));

_Static_assert(NUMPY_ROWS_MAX == 64, "the assembler below counts to 64");
__asm__(".text\n"
        ".p2align 5\n"
        ".globl trampolines_numpy\n.hidden trampolines_numpy\n.type trampolines_numpy, @function\n"
        "trampolines_numpy:\n"
        ".set thunk, 0\n"
        ".rept 64\n"
        ".p2align 5\n"
        "movq ring_here@gottpoff(%rip), %r11\n"
        "movl $thunk, %fs:8(%r11)\n"
        "jmp numpy_entry\n"
        ".set thunk, thunk + 1\n"
        ".endr\n"
        ".size trampolines_numpy, . - trampolines_numpy\n");
#else
#error \
    "the C-API trace is written for x86-64: trace/arm/trampolines.c needs its three trampolines for this machine"
#endif
