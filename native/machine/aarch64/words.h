// machine.h for aarch64. ELF for the Arm 64-bit Architecture; Procedure Call Standard (AAPCS64).
// SPDX-License-Identifier: MIT
#define MACHINE_NAME "aarch64"
#define MACHINE_JUMP_SLOT R_AARCH64_JUMP_SLOT
#define MACHINE_GLOB_DAT R_AARCH64_GLOB_DAT
#define MACHINE_WORD R_AARCH64_ABS64
#define MACHINE_TRAMPOLINES_H "machine/aarch64/trampolines.h"
#define MACHINE_COUNT_BYTES 32
#define MACHINE_RECORD_BYTES 64
#define MACHINE_RETURN_WORD 27
#define MACHINE_CALL_TRAMPOLINE(number) "bti c\n mov w5, #" number "\n b 1f\n"
#define MACHINE_CALL_GROUP(first, enter) "1: mov w16, #" first "\n add w5, w5, w16\n b " enter "\n"
#define MACHINE_AVX2 0
#define MACHINE_STEPS 0
#define MACHINE_REMOTE_CALLS 0

static inline int machine_has_avx2(void) { return 0; }
static inline uint64_t machine_ticks(void) {
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
}

static inline char *machine_thread_pointer(void) {
    char *ret;
    __asm__("mrs %0, tpidr_el0" : "=r"(ret));
    return ret;
}
static inline uintptr_t machine_pc(const ucontext_t *context) { return (uintptr_t)context->uc_mcontext.pc; }
static inline uintptr_t machine_sp(const ucontext_t *context) { return (uintptr_t)context->uc_mcontext.sp; }
