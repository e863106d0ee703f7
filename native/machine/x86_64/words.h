// machine.h for x86-64. System V ABI, AMD64 Architecture Processor Supplement.
// SPDX-License-Identifier: MIT
#include "machine/x86_64/repeat.h"

#include <immintrin.h>
#include <x86intrin.h>

#define MACHINE_NAME "x86_64"
#define MACHINE_JUMP_SLOT R_X86_64_JUMP_SLOT
#define MACHINE_GLOB_DAT R_X86_64_GLOB_DAT
#define MACHINE_WORD R_X86_64_64
#define MACHINE_TRAMPOLINES_H "machine/x86_64/trampolines.h"
#define MACHINE_COUNT_BYTES 32
#define MACHINE_RECORD_BYTES 32
#define MACHINE_RETURN_WORD 25
#define MACHINE_CALL_TRAMPOLINE(number) "endbr64\n movl $" number ", %r9d\n jmp 1f\n"
#define MACHINE_CALL_GROUP(first, enter) "1: addl $" first ", %r9d\n jmp " enter "\n"
#define MACHINE_AVX2 1
#define MACHINE_STEPS 1
#define MACHINE_REMOTE_CALLS 1

static inline int machine_has_avx2(void) { return __builtin_cpu_supports("avx2"); }
static inline uint64_t machine_ticks(void) { return __rdtsc(); }
static inline char *machine_thread_pointer(void) {
    char *ret;
    __asm__("movq %%fs:0, %0" : "=r"(ret));
    return ret;
}
static inline uintptr_t machine_pc(const ucontext_t *context) {
    return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
}
static inline uintptr_t machine_sp(const ucontext_t *context) {
    return (uintptr_t)context->uc_mcontext.gregs[REG_RSP];
}
