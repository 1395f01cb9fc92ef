/* SPDX-License-Identifier: MIT
 * registry.h - what the VM, analyzer and compiler need of the builtin table beside builtin.h. */
#ifndef PTC_LISP_VM_REGISTRY_H
#define PTC_LISP_VM_REGISTRY_H

#include "lisp/compile/code.h"
#include "lisp/vm/builtin.h"

/* Makes the table of count tables of rows, each with NULL at its end.  Whoever has them calls it once, before anything
 * is looked up: see lisp/lib/builtins.h. */
void ptc_registry_fill(const PtcBuiltin *const *const *tables, size_t count);
/* The builtin that an opcode stands for, for messages and slow paths. */
uint32_t ptc_op_builtin(PtcOp op);
/* Builtins that the compiler turns into instructions. */
typedef enum {
    PTC_FUSE_NONE,
    PTC_FUSE_ADD,
    PTC_FUSE_SUB,
    PTC_FUSE_MUL,
    PTC_FUSE_MOD,
    PTC_FUSE_REM,
    PTC_FUSE_QUOT,
    PTC_FUSE_LT,
    PTC_FUSE_LE,
    PTC_FUSE_GT,
    PTC_FUSE_GE,
    PTC_FUSE_EQ,
    PTC_FUSE_NE,
    PTC_FUSE_NOT,
    PTC_FUSE_NIL,
    PTC_FUSE_INC,
    PTC_FUSE_DEC,
    PTC_FUSE_GET,
} PtcFuse;
PtcFuse ptc_builtin_fuse(uint32_t index);
/* Known prefixes one by one, NULL at the end. */
const char *ptc_namespace_prefix(size_t i);

/* The namespace that a prefix stands for: Math for java.lang.Math, clojure.string for str; NULL when it is unknown. */
const char *ptc_namespace_of(const char *prefix, size_t len);

#endif
