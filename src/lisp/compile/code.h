/* SPDX-License-Identifier: MIT
 * code.h - the instructions of the register machine.
 *
 * One instruction is 64 bits: opcode, a small operand x, three 16-bit operands.  R[n] is register n
 * of the frame, K[n] constant n of the function.  Jumps are relative to the next instruction; `bc` is
 * the 32-bit number in b and c. */
#ifndef PTC_LISP_COMPILE_CODE_H
#define PTC_LISP_COMPILE_CODE_H

#include <stdint.h>

typedef struct PtcIns {
    uint8_t op, x;
    uint16_t a, b, c;
} PtcIns;

/* The program text an instruction was made from, as byte offsets. */
typedef struct PtcSpan {
    uint32_t first, last;
} PtcSpan;

static inline int32_t ptc_ins_bc(PtcIns i)
{
    return (int32_t)((uint32_t)i.b | (uint32_t)i.c << 16);
}

/* What it costs to go through so many instructions: ticks are charged where code is entered or jumps back, for all that
 * lies ahead, since the way from there to the next tick may be as long as a program can be. */
static inline uint32_t ptc_code_ticks(uint32_t instructions)
{
    return 1 + instructions / 64;
}

/* X(name)  what it does */
#define PTC_OPCODES(X)                                                                             \
    X(MOVE)   /* R[a] = R[b] */                                                                    \
    X(LOADK)  /* R[a] = K[b] */                                                                    \
    X(GETG)   /* R[a] = global b; falls back to the builtin of that name, or fails */              \
    X(DEF)    /* global b = R[a]; R[a] = K[c], the var */                                          \
    X(BOUND)  /* if global b has a value: R[a] = K[c], skip one */                                 \
    X(GETCAP) /* R[a] = captured value b */                                                        \
    X(SELF)   /* R[a] = this function */                                                           \
    X(DATA)   /* R[a] = context value under K[b] */                                                \
    X(JMP)    /* jump bc */                                                                        \
    X(JF)     /* if R[a] is falsy jump bc */                                                       \
    X(JT)     /* if R[a] is truthy jump bc */                                                      \
    X(JNIL)   /* if R[a] is nil jump bc */                                                         \
    X(JNNIL)  /* if R[a] is not nil jump bc */                                                     \
    X(JNLT)   /* unless R[a] < R[b] jump c */                                                      \
    X(JNLE)   /* unless R[a] <= R[b] jump c */                                                     \
    X(JNEQ)   /* unless R[a] = R[b] jump c */                                                      \
    X(JNLTK)  /* unless R[a] < K[b], a small integer, jump c */                                    \
    X(JNLEK)                                                                                       \
    X(JNGTK)                                                                                       \
    X(JNGEK)                                                                                       \
    X(JNEQK) /* unless R[a] = K[b], any constant, jump c */                                        \
    X(JEQ)   /* if R[a] = R[b] jump c */                                                           \
    X(JEQK)                                                                                        \
    X(ADD) /* R[a] = R[b] + R[c]; x: arguments before R[b] in the source */                        \
    X(SUB)                                                                                         \
    X(MUL)                                                                                         \
    X(MOD)                                                                                         \
    X(REM)                                                                                         \
    X(QUOT)                                                                                        \
    X(ADDI) /* R[a] = R[b] + (int16)c; x: 0 called +, 1 called -, 2 inc, 3 dec */                  \
    X(MULI) /* R[a] = R[b] * (int16)c; with MODI the fused loop of bench/ takes 5% less time */    \
    X(MODI)                                                                                        \
    X(LT) /* R[a] = R[b] < R[c] */                                                                 \
    X(LE)                                                                                          \
    X(GT)                                                                                          \
    X(GE)                                                                                          \
    X(EQ)                                                                                          \
    X(NE)                                                                                          \
    X(NOT)     /* R[a] = not R[b] */                                                               \
    X(ISNIL)   /* R[a] = R[b] is nil */                                                            \
    X(KEYGET)  /* R[a] = (K[c] R[b]), K[c] a keyword */                                            \
    X(VEC)     /* R[a] = vector of c values from R[b] */                                           \
    X(MAP)     /* R[a] = small map with shape K[c] and values from R[b] */                         \
    X(CLOSURE) /* R[a] = function of K[b]; captures in the CAP instructions after it */            \
    X(FIXCAP)  /* captured value b of the new function R[a] = R[c] */                              \
    X(CAP)     /* x 0: capture R[a]; 1: captured value a; 2: the function itself */                \
    X(CALL)    /* R[a] = R[a](R[a+1] ... R[a+b]) */                                                \
    X(CALLG)   /* R[a] = global c (R[a+1] ... R[a+b]) */                                           \
    X(CALLB)   /* R[a] = builtin c (x values from R[b]) */                                         \
    X(LOOP)    /* count an iteration, charge a ticks, then jump bc */                              \
    X(ITER)    /* R[a], R[a+1] = start of R[b]; x: may end early; c: 1 + builder of `for`, or 0 */ \
    X(NEXT)    /* charge x ticks; R[b] = next of iterator R[a], or jump c at the end */            \
    X(BUILD)   /* R[a] = empty vector builder */                                                   \
    X(PUSH)    /* add R[b] to builder R[a]; in `for`, what follows reads no register from c on */  \
    X(DONE)    /* R[a] = what builder R[b] made: a seq, or with x a vector */                      \
    X(RET)     /* return R[a] */                                                                   \
    X(STOP)    /* end the program: x 0 return, 1 fail, with R[a] */

typedef enum {
#define X(name) PTC_OP_##name,
    PTC_OPCODES(X)
#undef X
        PTC_OP_COUNT
} PtcOp;

#endif
