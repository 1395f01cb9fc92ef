/* SPDX-License-Identifier: MIT
 * kinds.h - the kinds of values that the checker of programs knows (lisp/check), and what a builtin's row says with
 * them: what it takes, what it gives.
 *
 * A value of a kind that a row does not take must end in a failure, whatever the other arguments are.  What it gives is
 * every kind that may come out.  With PTC_B_LONE both hold only of calls with other numbers of arguments than one.  A
 * row that says nothing takes and gives anything.
 * tests/unit/test_row_kinds.c calls every builtin that says something with values of every kind. */
#ifndef PTC_LISP_VM_KINDS_H
#define PTC_LISP_VM_KINDS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    PTC_IS_NIL = 1 << 0,
    PTC_IS_BOOL = 1 << 1,
    PTC_IS_INT = 1 << 2, /* of any size */
    PTC_IS_FLOAT = 1 << 3,
    PTC_IS_DECIMAL = 1 << 4,
    PTC_IS_STRING = 1 << 5,
    PTC_IS_KEYWORD = 1 << 6,
    PTC_IS_LIST =
        1
        << 7, /* vectors, lists, ranges, entries of maps, lazy sequences: what sequential? holds for */
    PTC_IS_SET = 1 << 8,
    PTC_IS_MAP = 1 << 9, /* also values of defrecord */
    PTC_IS_FN = 1 << 10, /* functions, also composed and builtin ones and tools; no keywords */
    PTC_IS_OTHER =
        1 << 11, /* symbols, dates, patterns, vars, atoms, errors, values of deftype ... */

    PTC_KINDS = 12,
    PTC_IS_ANY = (1 << PTC_KINDS) - 1,
    PTC_IS_NUMBER = PTC_IS_INT | PTC_IS_FLOAT | PTC_IS_DECIMAL,
    PTC_IS_SCALAR = PTC_IS_NIL | PTC_IS_BOOL | PTC_IS_NUMBER | PTC_IS_STRING | PTC_IS_KEYWORD,
    PTC_IS_SEQABLE = PTC_IS_NIL | PTC_IS_STRING | PTC_IS_LIST | PTC_IS_SET | PTC_IS_MAP,
    PTC_IS_MAPPED = PTC_IS_NIL | PTC_IS_MAP,          /* a map, or nil for none */
    PTC_IS_ASSOCIATIVE = PTC_IS_MAPPED | PTC_IS_LIST, /* what has keys or indexes, or nil */
    PTC_IS_CALLED =
        PTC_IS_KEYWORD | PTC_IS_LIST | PTC_IS_SET | PTC_IS_MAP | PTC_IS_FN | PTC_IS_OTHER,
    PTC_IS_KEYED =
        PTC_IS_CALLED | PTC_IS_STRING, /* or the name of a key, for what is called with elements */
};

/* How the outline of a result follows from those of the arguments, beyond its kinds (lisp/check/rules).  f is called
 * with what the name says. */
typedef enum {
    PTC_RULE_NONE,
    PTC_RULE_KIND_TEST, /* true for exactly the kinds that the row gives as its second argument: string?, nil? */
    PTC_RULE_NOT, /* not */
    PTC_RULE_COMPARE, /* < > <= >=: two arguments that are not nil must both be numbers, or both of one other kind
                       * that is no bool, set or map */
    PTC_RULE_EQUAL,    /* = */
    PTC_RULE_SAME,     /* identity, doall: the first argument itself */
    PTC_RULE_TUPLE,    /* vector, list: a list of the arguments */
    PTC_RULE_FIRST,    /* first: an element that is there if one is known to be */
    PTC_RULE_SECOND,   /* second */
    PTC_RULE_LAST,     /* last */
    PTC_RULE_NTH,      /* (nth coll i default?) */
    PTC_RULE_SEQ,      /* seq, not-empty: nil if it is empty, else its elements */
    PTC_RULE_ELEMENTS, /* vec, reverse, sort, shuffle: a list of all elements of the last argument */
    PTC_RULE_SOME_OF, /* rest, next, butlast, distinct, dedupe: fewer elements of the first argument */
    PTC_RULE_SOME_OF_2,   /* take, drop, take-last: the same of the second */
    PTC_RULE_SET_OF,      /* set */
    PTC_RULE_MAP,         /* map, mapv, pmap */
    PTC_RULE_MAPCAT,      /* mapcat */
    PTC_RULE_MAP_INDEXED, /* map-indexed */
    PTC_RULE_FILTER,      /* filter, filterv */
    PTC_RULE_REMOVE,      /* remove */
    PTC_RULE_WHILE,       /* take-while, drop-while */
    PTC_RULE_KEEP,        /* keep */
    PTC_RULE_SOME,        /* some */
    PTC_RULE_EVERY,       /* every?, not-every?, not-any? */
    PTC_RULE_EACH,        /* run!: called with every element, gives nothing of it */
    PTC_RULE_REDUCE,      /* (reduce f init? coll) */
    PTC_RULE_REDUCE_KV,   /* (reduce-kv f init map) */
    PTC_RULE_TRANSDUCE,   /* (transduce xform f init? coll) */
    PTC_RULE_INTO,        /* (into to xform? from) */
    PTC_RULE_CONCAT,      /* concat */
    PTC_RULE_CONJ,        /* conj */
    PTC_RULE_SORT_BY, /* (sort-by key comparator? coll), distinct-by: elements, key called with each */
    PTC_RULE_GROUP_BY,  /* (group-by key coll): lists of elements */
    PTC_RULE_INDEX_BY,  /* (index-by key coll): elements */
    PTC_RULE_COUNT_BY,  /* frequencies: a map from elements to ints */
    PTC_RULE_PICK_BY,   /* (max-by key coll), min-by: one element or nil; not of more arguments */
    PTC_RULE_NUMBER_BY, /* (sum-by key coll), avg-by: what key gives is a number */
    PTC_RULE_PARTITION, /* (partition n step? pad? coll): lists of elements, and of those of pad */
    PTC_RULE_PARTITION_BY, /* (partition-by f coll): lists of elements */
    PTC_RULE_APPLY,        /* (apply f a ... args) */
    PTC_RULE_COMP,         /* comp */
    PTC_RULE_PARTIAL,      /* partial */
    PTC_RULE_JUXT,         /* juxt */
    PTC_RULE_CONSTANTLY,   /* constantly */
    PTC_RULE_CALL_ALL,     /* pcalls: what each argument gives without arguments */
    PTC_RULE_GET,          /* (get m k default?) */
    PTC_RULE_GET_IN,       /* (get-in m ks default?) */
    PTC_RULE_CONTAINS,     /* contains? */
    PTC_RULE_FIND,         /* find */
    PTC_RULE_ASSOC,        /* (assoc m k v ...) */
    PTC_RULE_ASSOC_IN,     /* assoc-in */
    PTC_RULE_DISSOC,       /* dissoc */
    PTC_RULE_UPDATE,       /* (update m k f a ...) */
    PTC_RULE_UPDATE_IN,    /* update-in */
    PTC_RULE_MERGE,        /* merge */
    PTC_RULE_SELECT_KEYS,  /* select-keys */
    PTC_RULE_KEYS,         /* keys, key */
    PTC_RULE_VALS,         /* vals, val */
    PTC_RULE_UPDATE_VALS,  /* update-vals */
    PTC_RULE_HASH_MAP,     /* hash-map */
    PTC_RULE_ZIPMAP,       /* zipmap */
    PTC_RULE_COUNT,
} PtcRule;

/* In the flags of a row, beside PTC_B_...: a rule; the kinds of the first, the second, and all further arguments; the
 * kinds of the result.  0 for an argument or the result: any. */
enum { PTC_RULE_AT = 8, PTC_TAKES_AT = 14, PTC_GIVES_AT = PTC_TAKES_AT + 3 * PTC_KINDS };

#define PTC_RULE(rule_) ((uint64_t)PTC_RULE_##rule_ << PTC_RULE_AT)
#define PTC_TAKES3(first_, second_, others_)                                                  \
    ((uint64_t)(first_) << PTC_TAKES_AT | (uint64_t)(second_) << (PTC_TAKES_AT + PTC_KINDS) | \
     (uint64_t)(others_) << (PTC_TAKES_AT + 2 * PTC_KINDS))
#define PTC_TAKES(first_) PTC_TAKES3(first_, 0, 0)
#define PTC_TAKES2(first_, second_) PTC_TAKES3(first_, second_, 0)
#define PTC_TAKES_ALL(each_) PTC_TAKES3(each_, each_, each_)
#define PTC_GIVES(kinds_) ((uint64_t)(kinds_) << PTC_GIVES_AT)

static inline PtcRule ptc_row_rule(uint64_t flags)
{
    return (PtcRule)(flags >> PTC_RULE_AT & 63);
}

/* The kinds that argument number i may have, from 0. */
static inline unsigned ptc_row_takes(uint64_t flags, uint32_t i)
{
    unsigned kinds = (unsigned)(flags >> (PTC_TAKES_AT + PTC_KINDS * (i < 2 ? i : 2))) & PTC_IS_ANY;
    return kinds ? kinds : PTC_IS_ANY;
}

/* The same in a call with so many arguments, of which a rule may know more: which one is walked or called. */
static inline unsigned ptc_row_takes_of(uint64_t flags, uint32_t i, uint32_t argc)
{
    unsigned kinds = ptc_row_takes(flags, i);
    bool last = i + 1 == argc;
    switch (ptc_row_rule(flags)) {
    case PTC_RULE_ELEMENTS: return last ? kinds & PTC_IS_SEQABLE : kinds;
    case PTC_RULE_REDUCE:
    case PTC_RULE_TRANSDUCE:
    case PTC_RULE_INTO:
    case PTC_RULE_SORT_BY:
    case PTC_RULE_PARTITION:
    case PTC_RULE_APPLY: return last && i > 0 ? kinds & PTC_IS_SEQABLE : kinds;
    case PTC_RULE_PICK_BY: return argc == 2 && i == 1 ? kinds & PTC_IS_SEQABLE : kinds;
    case PTC_RULE_UPDATE:
    case PTC_RULE_UPDATE_IN: return i == 2 ? PTC_IS_CALLED : kinds;
    default: return kinds;
    }
}

static inline unsigned ptc_row_gives(uint64_t flags)
{
    unsigned kinds = (unsigned)(flags >> PTC_GIVES_AT) & PTC_IS_ANY;
    return kinds ? kinds : PTC_IS_ANY;
}

#endif
