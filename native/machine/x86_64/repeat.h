// Runs `rep movs` and `rep stos` whole for a watch on pages: a step would trap at each iteration.
//
// Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2: REP, MOVS, STOS. It is executed
// here with the registers of the thread, only if the direction flag is clear, as in the ABI.
// SPDX-License-Identifier: MIT
#include <stdint.h>
#include <ucontext.h>

typedef struct {
    int length, width, copies; // bytes of the instruction; bytes of an element; 1: movs, 0: stos
} machine_repeat;

// Decodes the instruction at `code`: whether it is such a store. Reads as far as it matches: the bytes behind
// it may not be mapped.
static inline int machine_repeat_read(const unsigned char *code, machine_repeat *ret) {
    int repeated = 0, wide = 0, narrow = 0, i = 0;
    for (; i < 4; i++) {
        if (code[i] == 0xF3 || code[i] == 0xF2) {
            repeated = 1;
        } else if (code[i] == 0x66) { // operands of 16 bits
            narrow = 1;
        } else if ((code[i] & 0xF0) == 0x40) { // REX, and its bit W: operands of 64 bits
            wide = code[i] & 8;
        } else {
            break;
        }
    }
    int words = code[i] & 1;
    ret->length = i + 1;
    ret->width = !words ? 1 : wide ? 8 : narrow ? 2 : 4;
    ret->copies = (code[i] & 0xFE) == 0xA4;
    return repeated && (ret->copies || (code[i] & 0xFE) == 0xAA);
}

// Runs it with the registers of the interrupted thread, and updates them. For a signal handler.
static inline void machine_repeat_run(const machine_repeat *repeat, greg_t *registers) {
    uint64_t to = (uint64_t)registers[REG_RDI], from = (uint64_t)registers[REG_RSI],
             count = (uint64_t)registers[REG_RCX];
#define RUN(text) \
    __asm__ volatile(text : "+D"(to), "+S"(from), "+c"(count) : "a"(registers[REG_RAX]) : "memory")
    switch (repeat->width) {
    case 1:
        repeat->copies ? ({ RUN("rep movsb"); }) : ({ RUN("rep stosb"); });
        break;
    case 2:
        repeat->copies ? ({ RUN("rep movsw"); }) : ({ RUN("rep stosw"); });
        break;
    case 4:
        repeat->copies ? ({ RUN("rep movsl"); }) : ({ RUN("rep stosl"); });
        break;
    default:
        repeat->copies ? ({ RUN("rep movsq"); }) : ({ RUN("rep stosq"); });
    }
    registers[REG_RDI] = (greg_t)to;
    registers[REG_RSI] = (greg_t)from;
    registers[REG_RCX] = (greg_t)count;
    registers[REG_RIP] += repeat->length;
}
