/* SPDX-License-Identifier: MIT
 * object.h - layouts of heap objects.  In every object the traced values are contiguous, so that marking and copying
 * only need ptc_object_layout. */
#ifndef PTC_VALUE_OBJECT_H
#define PTC_VALUE_OBJECT_H

#include <stdatomic.h>

#include "value/value.h"

enum {
    PTC_FLAT_MAX = 32, /* elements of a PtcFlat, children of a PtcNode */
    PTC_SMALL_MAX = 16 /* entries of a small map or set */
};

/* flag of any object: it came with the result of a tool (ptc_heap_tool_end) */
#define PTC_FROM_TOOL 0x80

/* Strings, keywords, symbols: count bytes of UTF-8, then a NUL that is not counted. */
typedef struct PtcStr {
    PtcObj obj;
    _Atomic uint32_t hash; /* 0: not computed yet; written by relaxed stores only */
    char bytes[];
} PtcStr;
/* flag: one byte is one grapheme (ASCII) */
#define PTC_STR_SIMPLE 1

/* Magnitude in count limbs, least first, no leading zero limb; never fits a small integer. */
typedef struct PtcBig {
    PtcObj obj;
    uint64_t limbs[];
} PtcBig;
#define PTC_BIG_NEGATIVE 1

/* flag of FLAT, VEC, SLICE, RANGE: Clojure would call this a seq, not a vector */
#define PTC_SEQ 1
/* flag of FLAT: a map entry, as made by seq on a map */
#define PTC_ENTRY 2
/* flag of FLAT, VEC, SLICE: a queue, which peek and pop take from the front */
#define PTC_QUEUE 4

typedef struct PtcFlat {
    PtcObj obj;
    PtcValue items[];
} PtcFlat;

/* Inner node or leaf of a PtcVec: obj.count slots in use of obj.aux.  With aux 0: an array of values. */
typedef struct PtcNode {
    PtcObj obj;
    PtcValue slots[];
} PtcNode;

/* More than PTC_FLAT_MAX elements; obj.aux is the shift of the root.  The tail holds the last 1 to 32. */
typedef struct PtcVec {
    PtcObj obj;
    PtcValue root, tail; /* PtcNode */
} PtcVec;

/* count elements of base from start. */
typedef struct PtcSlice {
    PtcObj obj;
    PtcValue base; /* FLAT or VEC, never a slice */
    uint64_t start;
} PtcSlice;

/* start, start+step, ...; every element fits a small integer. */
typedef struct PtcRange {
    PtcObj obj;
    int64_t start, step;
} PtcRange;

typedef struct PtcCons {
    PtcObj obj; /* count: length of the whole list */
    PtcValue first;
    PtcValue rest; /* any sequential */
} PtcCons;

/* Small set and shape: distinct keys in insertion order, followed by their 32-bit hashes. */
typedef struct PtcShape {
    PtcObj obj;
    PtcValue keys[];
} PtcShape;

static inline uint32_t *ptc_shape_hashes(const PtcShape *s)
{
    return (uint32_t *)(uintptr_t)(s->keys + s->obj.count);
}

typedef struct PtcSmap {
    PtcObj obj;
    PtcValue shape; /* PtcShape with obj.count keys */
    PtcValue values[];
} PtcSmap;

/* Large map or set.  entries is a FLAT or VEC of key, value, key, value ... (BMAP) or keys (BSET) in
 * insertion order, where PTC_UNBOUND as key marks a deleted entry.  obj.count counts live entries. */
typedef struct PtcDict {
    PtcObj obj;
    PtcValue entries;
    PtcValue index; /* PtcIndex */
} PtcDict;

/* flag of BMAP, BSET: a PtcSorted; see sorted.h */
#define PTC_SORTED 1
/* flag of SMAP, BMAP that is not sorted: its type follows; see typed.h */
#define PTC_TYPED 2

typedef struct PtcSorted {
    PtcDict dict;
    PtcValue order; /* NODE: entry numbers by rank */
    PtcValue by;    /* what orders the keys */
} PtcSorted;

/* From hash to entry number, shared by the versions of a map; see dict.h.  obj.count: entries of the
 * newest version that uses it. */
typedef struct PtcIndex {
    PtcObj obj;
    PtcValue root; /* PtcHamt */
} PtcIndex;

/* Hash trie node.  A slot is a child (PtcHamt) or a packed entry: hash << 32 | entry number << 1 | 1.
 * flag PTC_HAMT_CLASH: all slots are entries with one hash, in no order, bitmap unused. */
typedef struct PtcHamt {
    PtcObj obj; /* count: slots in use */
    uint32_t bitmap;
    uint32_t cap;   /* slots there is room for */
    uint64_t owner; /* the index that may change it in place; not traced, may be stale */
    PtcValue slots[];
} PtcHamt;
#define PTC_HAMT_CLASH 1

typedef struct PtcBytes {
    PtcObj obj; /* count: bytes */
    uint8_t bytes[];
} PtcBytes;

typedef struct PtcClosure {
    PtcObj obj; /* count: captured values */
    PtcValue proto;
    PtcValue captured[];
} PtcClosure;

/* A compiled function; code.h has the instructions. */
typedef struct PtcProto {
    PtcObj obj;
    PtcValue name;      /* symbol, or nil */
    PtcValue source;    /* string: the program text it was read from; nil: lisp/prelude/prelude.h */
    PtcValue constants; /* NODE */
    PtcValue code;      /* BYTES: instructions, then one source offset for each */
    PtcValue arities;   /* NODE of further protos of a multi-arity function, or nil */
    PtcValue doc;       /* string, or nil */
    PtcValue captures;  /* string: names of the captured values, separated by spaces; or nil */
    uint32_t code_count;
    uint32_t first, last; /* its form in the source, as byte offsets */
    uint16_t params;      /* required parameters */
    uint16_t registers;   /* size of the frame */
    uint8_t variadic;     /* takes more, as a seq in register `params` */
    uint8_t form;         /* how it is written: PtcFnForm of expr.h */
    uint16_t ticks;       /* what a call is charged, by the length of the code */
    uint16_t row; /* of the prelude: the number of the builtin that it defines, plus 1; or 0 */
    uint8_t spare[2];
} PtcProto;
enum { PTC_PROTO_VALUES = 7 };

/* obj.count values; obj.aux says what they mean (value/record_kinds.h). */
typedef struct PtcRecord {
    PtcObj obj;
    PtcValue fields[];
} PtcRecord;

/* A vector being built in place. */
typedef struct PtcVecBuild {
    PtcObj obj;          /* count: elements so far */
    PtcValue root, tail; /* PtcNode or nil */
    uint32_t shift;
    uint32_t waits; /* 1: it keeps no elements; root is what gets them (ptc_build_waiting) */
} PtcVecBuild;

/* Size in bytes of an object, and where its values are. */
typedef struct {
    size_t size;
    PtcValue *values;
    size_t value_count;
} PtcLayout;

PtcLayout ptc_object_layout(const PtcObj *obj);

#endif
