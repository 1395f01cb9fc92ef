/* SPDX-License-Identifier: MIT
 * value.h - the 64-bit value word.
 *
 *   ...1  integer of 63 bits, stored shifted left by one
 *   ..10  double: its bits rotated left by one (sign last), minus FLOAT_BIAS, shifted left by two.
 *         That fits when the exponent is in the middle half (magnitudes of about 1e-77 to
 *         1e77).  +0.0 takes the word 2; every other double is a heap object (PTC_T_FLOAT).
 *   .000  pointer to a heap object, never NULL
 *   .100  constants: nil, false, true, "unbound"; builtin functions by number
 *
 * The word 0 is no value: functions return it for "failed" (the reason is in the heap's budget)
 * or, where they say so, for "absent". */
#ifndef PTC_VALUE_VALUE_H
#define PTC_VALUE_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/compiler.h"
#include "ptc/ptc.h"

#define PTC_NONE ((PtcValue)0)
#define PTC_NIL ((PtcValue)0x04)
#define PTC_FALSE ((PtcValue)0x0c)
#define PTC_TRUE ((PtcValue)0x14)
#define PTC_UNBOUND ((PtcValue)0x1c) /* a variable without a value; never seen by programs */
#define PTC_BUILTIN_TAG ((PtcValue)0x24)

#define PTC_INT_MAX (INT64_MAX >> 1)
#define PTC_INT_MIN (INT64_MIN >> 1)

typedef enum {
    PTC_T_NONE = 0,
    PTC_T_STRING,   /* PtcStr */
    PTC_T_KEYWORD,  /* PtcStr */
    PTC_T_SYMBOL,   /* PtcStr; only in quoted data */
    PTC_T_FLOAT,    /* PtcFloat: doubles that do not fit the word */
    PTC_T_BIGINT,   /* PtcBig */
    PTC_T_FLAT,     /* PtcFlat: vector of up to 32 elements */
    PTC_T_VEC,      /* PtcVec: larger vector */
    PTC_T_NODE,     /* PtcNode: inside of a PtcVec, or plain array of values */
    PTC_T_SLICE,    /* PtcSlice: part of a FLAT or VEC */
    PTC_T_RANGE,    /* PtcRange */
    PTC_T_CONS,     /* PtcCons */
    PTC_T_SSET,     /* PtcShape: set of up to 16, also the shape of an SMAP */
    PTC_T_SMAP,     /* PtcSmap: map of up to 16 entries */
    PTC_T_BSET,     /* PtcDict */
    PTC_T_BMAP,     /* PtcDict */
    PTC_T_INDEX,    /* PtcIndex: inside of a PtcDict */
    PTC_T_HAMT,     /* PtcHamt: inside of a PtcIndex */
    PTC_T_CLOSURE,  /* PtcClosure */
    PTC_T_PROTO,    /* PtcProto: compiled function */
    PTC_T_BYTES,    /* PtcBytes: raw bytes inside of other objects */
    PTC_T_VAR,      /* PtcRecord of 1: #'name */
    PTC_T_VECBUILD, /* PtcVecBuild: a vector in the making, never seen by programs */
    PTC_T_RECORD,   /* PtcRecord: kind in aux; composed functions, exceptions, dates ... */
    PTC_T_LAZY,     /* PtcLazy: a sequence computed on demand; lazy.h */
    PTC_T_COUNT
} PtcTag;

/* Header of every heap object. */
typedef struct PtcObj {
    uint8_t type;   /* PtcTag */
    uint8_t flags;  /* by type, see object.h */
    uint16_t aux;   /* by type */
    uint32_t count; /* elements, bytes, limbs ... by type */
} PtcObj;

static inline bool ptc_is_int(PtcValue v)
{
    return (v & 1) != 0;
}

static inline bool ptc_is_obj(PtcValue v)
{
    return (v & 7) == 0 && v != 0;
}

static inline PtcObj *ptc_obj(PtcValue v)
{
    return (PtcObj *)(uintptr_t)v;
}

static inline PtcValue ptc_from_obj(const void *obj)
{
    return (PtcValue)(uintptr_t)obj;
}

/* Copies a few values: two at a time inline, where calling memcpy would cost more than the copying. */
static inline void ptc_copy_few(PtcValue *to, const PtcValue *from, size_t n)
{
    for (; n >= 2; n -= 2, to += 2, from += 2)
        memcpy(to, from, 2 * sizeof *to);
    if (n)
        *to = *from;
}

/* The heap type of a value, PTC_T_NONE for words. */
static inline PtcTag ptc_tag(PtcValue v)
{
    return ptc_is_obj(v) ? (PtcTag)ptc_obj(v)->type : PTC_T_NONE;
}

static inline bool ptc_is(PtcValue v, PtcTag tag)
{
    return ptc_is_obj(v) && ptc_obj(v)->type == tag;
}

static inline bool ptc_truthy(PtcValue v)
{
    return (v & ~(PtcValue)8) != 4;
}

static inline PtcValue ptc_bool(bool b)
{
    return b ? PTC_TRUE : PTC_FALSE;
}

static inline bool ptc_is_bool(PtcValue v)
{
    return v == PTC_TRUE || v == PTC_FALSE;
}

static inline bool ptc_fits_int(int64_t n)
{
    return n >= PTC_INT_MIN && n <= PTC_INT_MAX;
}

/* n must fit; ptc_int_new accepts any. */
static inline PtcValue ptc_int(int64_t n)
{
    return ((PtcValue)n << 1) | 1;
}

static inline int64_t ptc_to_int(PtcValue v)
{
    return (int64_t)v >> 1;
}

static inline bool ptc_is_builtin(PtcValue v)
{
    return (v & 0xff) == PTC_BUILTIN_TAG;
}

static inline PtcValue ptc_builtin(uint32_t index)
{
    return ((PtcValue)index << 32) | PTC_BUILTIN_TAG;
}

static inline uint32_t ptc_builtin_index(PtcValue v)
{
    return (uint32_t)(v >> 32);
}

/* ----------------------------------------------------------------- doubles */

#define PTC_FLOAT_BIAS ((uint64_t)0x6000000000000000)

typedef struct PtcFloat {
    PtcObj obj;
    double value;
} PtcFloat;

static inline bool ptc_is_flonum(PtcValue v)
{
    return (v & 3) == 2;
}

static inline bool ptc_is_float(PtcValue v)
{
    return ptc_is_flonum(v) || ptc_is(v, PTC_T_FLOAT);
}

/* The word for d, or PTC_NONE if it needs a heap object. */
static inline PtcValue ptc_flonum(double d)
{
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    uint64_t u = ((bits << 1) | (bits >> 63)) - PTC_FLOAT_BIAS;
    if (PTC_LIKELY((u >> 62) == 0 && u != 0))
        return (u << 2) | 2;
    return bits == 0 ? 2 : PTC_NONE;
}

static inline double ptc_to_float(PtcValue v)
{
    if (PTC_UNLIKELY(!ptc_is_flonum(v)))
        return ((const PtcFloat *)(uintptr_t)v)->value;
    if (v == 2)
        return 0.0;
    uint64_t u = (v >> 2) + PTC_FLOAT_BIAS;
    uint64_t bits = (u >> 1) | (u << 63);
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}

static inline bool ptc_is_bigint(PtcValue v)
{
    return ptc_is(v, PTC_T_BIGINT);
}

static inline bool ptc_is_integer(PtcValue v)
{
    return ptc_is_int(v) || ptc_is_bigint(v);
}

static inline bool ptc_is_number(PtcValue v)
{
    return ptc_is_int(v) || ptc_is_flonum(v) || ptc_is(v, PTC_T_BIGINT) || ptc_is(v, PTC_T_FLOAT);
}

static inline bool ptc_is_string(PtcValue v)
{
    return ptc_is(v, PTC_T_STRING);
}

static inline bool ptc_is_keyword(PtcValue v)
{
    return ptc_is(v, PTC_T_KEYWORD);
}

static inline bool ptc_is_map(PtcValue v)
{
    return ptc_is(v, PTC_T_SMAP) || ptc_is(v, PTC_T_BMAP);
}

static inline bool ptc_is_set(PtcValue v)
{
    return ptc_is(v, PTC_T_SSET) || ptc_is(v, PTC_T_BSET);
}

/* Vectors, lists, ranges, slices. */
static inline bool ptc_is_sequential(PtcValue v)
{
    PtcTag t = ptc_tag(v);
    return t == PTC_T_FLAT || t == PTC_T_VEC || t == PTC_T_SLICE || t == PTC_T_RANGE ||
           t == PTC_T_CONS;
}

#endif
