/* SPDX-License-Identifier: MIT
 * compile_int.h - shared by the files of the compiler. */
#ifndef PTC_LISP_COMPILE_COMPILE_INT_H
#define PTC_LISP_COMPILE_COMPILE_INT_H

#include "lisp/compile/code.h"
#include "lisp/compile/compile.h"
#include "lisp/vm/registry.h"
#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/str.h"

enum { MAX_REGISTERS = 60000, MAX_CALL_ARGS = 250, MAX_CODE = 1 << 20 };

/* One function being compiled.  Registers are a stack: parameters, then locals and temporaries as
 * they come into being. */
typedef struct FnState {
    PtcCompiler *job;
    PtcFn *fn;
    PtcIns *code;
    PtcSpan *spans;
    size_t count;
    PtcValue *constants;
    size_t constant_count;
    uint32_t next;       /* first free register */
    uint32_t most;       /* registers ever in use */
    uint32_t locals_top; /* registers below this hold named values */
    PtcArity *arity;
} FnState;

/* Jumps that wait for their target. */
typedef struct Jumps {
    uint32_t *at;
    size_t count;
} Jumps;

/* All return false when out of memory, or when the function is too large (a finding then says so). */
bool ptc_compile_to(FnState *fs, PtcExpr *x, uint32_t dest); /* value into a register */
bool ptc_compile_return(FnState *fs, PtcExpr *x);            /* value as the function's result */
int64_t ptc_compile_operand(FnState *fs,
                            PtcExpr *x); /* register that holds the value; -1: failed */
bool ptc_compile_call(FnState *fs, PtcExpr *x, uint32_t dest);  /* PTC_X_CALL */
bool ptc_compile_callb(FnState *fs, PtcExpr *x, uint32_t dest); /* PTC_X_CALLB */
bool ptc_compile_collection(FnState *fs, PtcExpr *x, uint32_t dest);
bool ptc_compile_function(FnState *fs, PtcExpr *x, uint32_t dest);

int64_t ptc_compile_temp(FnState *fs);
bool ptc_compile_emit(FnState *fs, const PtcExpr *at, PtcIns ins);
int64_t ptc_compile_constant(FnState *fs, PtcValue v);
bool ptc_compile_load(FnState *fs, const PtcExpr *at, uint32_t dest, PtcValue v);
bool ptc_compile_too_large(FnState *fs, const PtcExpr *at);
/* May a value be made in this register step by step, with nothing else reading it meanwhile? */
static inline bool ptc_compile_fresh(const FnState *fs, uint32_t dest)
{
    return dest + 1 == fs->next && dest >= fs->locals_top;
}

static inline PtcIns ptc_compile_ins(PtcOp op, uint32_t x, uint32_t a, uint32_t b, uint32_t c)
{
    return (PtcIns){(uint8_t)op, (uint8_t)x, (uint16_t)a, (uint16_t)b, (uint16_t)c};
}

#endif
