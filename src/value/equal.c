/* SPDX-License-Identifier: MIT
 * Equality, hashing and order.  What always holds: no C recursion except through keys of maps, which is counted;
 * every loop ticks. */
#include "value/equal.h"

#include <math.h>

#include "base/text.h"
#include "value/cell.h"
#include "value/coll/lazy.h"
#include "value/coll/map.h"
#include "value/coll/typed.h"
#include "value/coll/vec.h"
#include "value/coll/walk.h"
#include "value/number/bigint.h"
#include "value/number/decimal.h"
#include "value/str.h"

/* Looking up a key in a map compares keys, which may contain maps in turn: that recursion uses the C stack, so it is
 * counted. */
enum { KEY_DEPTH = 64, COMPARE_DEPTH = 200 };

/* ----------------------------------------------------------------- equality */

/* What it costs to go through a big integer, or through a string that has no hash yet. */
static bool tick_big(PtcHeap *heap, PtcValue v)
{
    return !ptc_is_bigint(v) || ptc_tick_bytes(heap->budget, ptc_obj(v)->count * sizeof(uint64_t));
}

static bool number_equal(PtcHeap *heap, PtcValue a, PtcValue b, bool strict)
{
    bool ia = ptc_is_integer(a), ib = ptc_is_integer(b);
    if (ia && ib)
        return tick_big(heap, a) && ptc_int_compare(a, b) == 0;
    if (!ia && !ib) {
        double x = ptc_to_float(a), y = ptc_to_float(b);
        return x == y || (strict && isnan(x) && isnan(y));
    }
    if (strict)
        return false;
    double d = ptc_to_float(ia ? b : a);
    return !isnan(d) && ptc_int_compare_double(ia ? a : b, d) == 0;
}

/* One of them is a decimal: by value, but as keys numbers of two kinds stay apart. */
static bool decimal_equal(PtcHeap *heap, PtcValue a, PtcValue b, bool strict)
{
    bool both = ptc_is_decimal(a) && ptc_is_decimal(b);
    if (ptc_is_float(a) || ptc_is_float(b)) {
        double x = ptc_is_float(a) ? ptc_to_float(a) : ptc_decimal_to_double(heap, a);
        double y = ptc_is_float(b) ? ptc_to_float(b) : ptc_decimal_to_double(heap, b);
        return !strict && x == y;
    }
    bool exact = (both || !strict) && (ptc_is_decimal(a) || ptc_is_integer(a)) &&
                 (ptc_is_decimal(b) || ptc_is_integer(b));
    return exact && ptc_decimal_compare(heap, a, b) == 0;
}

typedef enum { DIFFERENT, SAME, LOOK_INSIDE, LOOK_BEHIND } Verdict;

static Verdict both_collections(PtcValue a, PtcValue b)
{
    if (ptc_is_sequential(a) && ptc_is_sequential(b))
        return ptc_seq_count(a) == ptc_seq_count(b) ? LOOK_INSIDE : DIFFERENT;
    if ((ptc_is_map(a) && ptc_is_map(b)) || (ptc_is_set(a) && ptc_is_set(b)))
        return ptc_map_count(a) == ptc_map_count(b) ? LOOK_INSIDE : DIFFERENT;
    return ptc_is_lazy(a) || ptc_is_lazy(b) ? LOOK_BEHIND : DIFFERENT;
}

static bool record_equal(PtcHeap *heap, PtcValue a, PtcValue b)
{
    const PtcObj *x = ptc_obj(a), *y = ptc_obj(b);
    if (x->type != y->type || x->aux != y->aux || x->count != y->count)
        return false;
    const PtcValue *p = ((const PtcRecord *)(const void *)x)->fields;
    const PtcValue *q = ((const PtcRecord *)(const void *)y)->fields;
    for (size_t i = 0; i < x->count; i++) {
        bool names = ptc_is_named(p[i]) && ptc_is_named(q[i]) && ptc_tag(p[i]) == ptc_tag(q[i]);
        bool numbers = ptc_is_integer(p[i]) && ptc_is_integer(q[i]);
        if (p[i] != q[i] && !(names && ptc_str_same(heap->budget, p[i], q[i])) &&
            !(numbers && number_equal(heap, p[i], q[i], true)))
            return false;
    }
    return true;
}

/* Compares without walking into collections. */
static Verdict compare_shallow(PtcHeap *heap, PtcValue a, PtcValue b, bool strict)
{
    if (a == b)
        return ptc_is_float(a) && !strict && isnan(ptc_to_float(a)) ? DIFFERENT : SAME;
    if (PTC_UNLIKELY(ptc_is_decimal(a) || ptc_is_decimal(b)))
        return decimal_equal(heap, a, b, strict) ? SAME : DIFFERENT;
    if (ptc_is_number(a))
        return ptc_is_number(b) && number_equal(heap, a, b, strict) ? SAME : DIFFERENT;
    if (!ptc_is_obj(a) || !ptc_is_obj(b))
        return DIFFERENT;
    if (ptc_is_named(a))
        return ptc_tag(a) == ptc_tag(b) && ptc_str_same(heap->budget, a, b) ? SAME : DIFFERENT;
    if (ptc_is_cell(a) || ptc_is_object(a))
        return DIFFERENT;                 /* unless it is the same one */
    if (ptc_is_type(a) && ptc_is_type(b)) /* by name */
        return ptc_str_same(heap->budget, ptc_type_field(a, PTC_TYPE_NAME),
                            ptc_type_field(b, PTC_TYPE_NAME))
                   ? SAME
                   : DIFFERENT;
    if (ptc_is(a, PTC_T_RECORD) || ptc_is(a, PTC_T_VAR))
        return record_equal(heap, a, b) ? SAME : DIFFERENT;
    if (PTC_UNLIKELY(ptc_obj(a)->flags & PTC_TYPED || ptc_obj(b)->flags & PTC_TYPED) &&
        !ptc_typed_alike(heap, a, b))
        return DIFFERENT;
    return both_collections(a, b);
}

/* What is behind something lazy; false when it must be computed first.  As keys are compared where programs may not be
 * run again (strict), it is computed at once if that is possible. */
static bool unwrap_lazy(PtcHeap *heap, PtcValue *v, bool strict)
{
    if (!ptc_is_lazy(*v))
        return true;
    PtcValue plain = strict ? ptc_lazy_compute(heap, *v) : ptc_lazy_demand(heap, *v);
    *v = plain == PTC_NONE ? PTC_NIL : plain;
    return plain != PTC_NONE;
}

/* The verdict on what is behind two values, one of them lazy. */
static PTC_NOINLINE Verdict compare_unwrapped(PtcHeap *heap, PtcValue *a, PtcValue *b, bool strict)
{
    return unwrap_lazy(heap, a, strict) && unwrap_lazy(heap, b, strict)
               ? compare_shallow(heap, *a, *b, strict)
               : DIFFERENT;
}

/* Takes the next element of a sequential at (*seq, *i); cons lists are walked cell by cell. */
static PtcValue take_next_element(PtcValue *seq, size_t *i)
{
    if (!ptc_is(*seq, PTC_T_CONS))
        return ptc_seq_nth(*seq, (*i)++);
    const PtcCons *c = (const PtcCons *)(uintptr_t)*seq;
    *seq = c->rest;
    return c->first;
}

/* The next pair of elements to compare: false at the end; *missing if b has no counterpart. */
static bool next_pair(PtcHeap *heap, PtcFrame *f, bool strict, PtcValue *x, PtcValue *y,
                      bool *missing)
{
    if (ptc_is_sequential(f->a)) {
        if (f->acc == 0)
            return false;
        f->acc--;
        *x = take_next_element(&f->a, &f->pos);
        *y = take_next_element(&f->b, &f->pos_b);
        return true;
    }
    PtcValue key, value = PTC_NIL;
    bool is_map = ptc_is_map(f->a);
    if (!ptc_map_next(f->a, &f->pos, &key, is_map ? &value : NULL))
        return false;
    *x = value;
    *y = is_map ? ptc_map_get(heap, f->b, key) : PTC_NIL;
    *missing = is_map ? *y == PTC_NONE : !ptc_set_has(heap, f->b, key);
    if (ptc_is_float(key) && isnan(ptc_to_float(key)) && !strict)
        *missing = true; /* NaN is found as a key, and equals nothing */
    return true;
}

static bool push_pair(PtcWalk *walk, PtcValue a, PtcValue b)
{
    if (!ptc_walk_push(walk, a, b))
        return false;
    if (ptc_is_sequential(a))
        ptc_walk_top(walk)->acc = ptc_seq_count(a);
    return true;
}

/* Walks two collections of the same kind and size. */
static bool equal_inside(PtcHeap *heap, PtcValue a, PtcValue b, bool strict)
{
    PtcWalk walk;
    ptc_walk_init(&walk, heap);
    bool same = push_pair(&walk, a, b);
    while (same && walk.count) {
        PtcValue x, y;
        bool missing = false;
        if (!ptc_tick(heap->budget, 1)) {
            same = false;
        } else if (!next_pair(heap, ptc_walk_top(&walk), strict, &x, &y, &missing)) {
            walk.count--;
        } else {
            Verdict v = missing ? DIFFERENT : compare_shallow(heap, x, y, strict);
            if (PTC_UNLIKELY(v == LOOK_BEHIND))
                v = compare_unwrapped(heap, &x, &y, strict);
            same = v == SAME || (v == LOOK_INSIDE && push_pair(&walk, x, y));
        }
    }
    ptc_walk_deinit(&walk);
    return same;
}

static bool are_equal(PtcHeap *heap, PtcValue a, PtcValue b, bool strict)
{
    Verdict v = compare_shallow(heap, a, b, strict);
    if (PTC_UNLIKELY(v == LOOK_BEHIND))
        v = compare_unwrapped(heap, &a, &b, strict);
    if (v != LOOK_INSIDE)
        return v == SAME;
    if (heap->budget->nesting >= KEY_DEPTH)
        return ptc_budget_exceed(heap->budget, PTC_STOP_DEPTH,
                                 "collections used as keys are nested deeper than", KEY_DEPTH);
    heap->budget->nesting++;
    bool same = equal_inside(heap, a, b, strict);
    heap->budget->nesting--;
    return same;
}

bool ptc_equal(PtcHeap *heap, PtcValue a, PtcValue b)
{
    return are_equal(heap, a, b, false);
}

bool ptc_same(PtcHeap *heap, PtcValue a, PtcValue b)
{
    return are_equal(heap, a, b, true);
}

/* ------------------------------------------------------------------ hashing */

/* Everything goes through the secret of str.h, step by step: without it, anybody could construct any number of values
 * with the same hash, be they floats, or vectors of nothing but true and false.  A weighted sum would not do for
 * ordered elements, whatever their hashes are: there are sequences whose sums are equal for any. */
typedef enum {
    OF_WORD = 1,
    OF_FLOAT,
    OF_RECORD,
    OF_ENTRY,
    OF_SEQ,
    OF_MAP,
    OF_SET,
    OF_FUNCTION,
} HashOf;

static uint32_t mix_hash(HashOf of, uint64_t x)
{
    return ptc_hash_finish(ptc_hash_step(ptc_hash_begin(of), x));
}

static uint32_t hash_double(double d)
{
    if (isnan(d))
        return mix_hash(OF_FLOAT, 0x7ff8000000000000);
    if (d == 0.0)
        d = 0.0; /* -0.0 and 0.0 are the same key */
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    return mix_hash(OF_FLOAT, bits);
}

static uint32_t hash_atom(PtcHeap *heap, PtcValue v);
static uint32_t hash_inside(PtcHeap *heap, PtcValue v);
static uint32_t hash_function(PtcHeap *heap, PtcValue v);

/* Of an object that is equal to nothing but itself.  Its address will not do, since that changes when it is copied, and
 * a large map is copied with the hashes of its keys. */
static uint32_t hash_identity(PtcValue v)
{
    return mix_hash(OF_WORD, (uint64_t)ptc_obj(v)->count << 32 | ptc_tag(v));
}

static uint32_t hash_field(PtcHeap *heap, PtcValue x)
{
    bool other = ptc_is_obj(x) && !ptc_is_named(x) && !ptc_is_number(x);
    return other ? hash_identity(x) : hash_atom(heap, x);
}

static uint32_t hash_record(PtcHeap *heap, PtcValue v)
{
    const PtcRecord *r = (const PtcRecord *)(uintptr_t)v;
    uint64_t h = ptc_hash_begin(OF_RECORD + ((uint64_t)r->obj.aux << 8));
    if (ptc_is_cell(v) || ptc_is_object(v)) /* what it holds does not count */
        return ptc_hash_finish(ptc_hash_step(h, r->fields[PTC_CELL_NUMBER]));
    if (ptc_is_type(v))
        return ptc_hash_finish(ptc_hash_step(h, ptc_str_hash(r->fields[PTC_TYPE_NAME])));
    for (size_t i = 0; i < r->obj.count; i++)
        h = ptc_hash_step(h, hash_field(heap, r->fields[i]));
    return ptc_hash_finish(h);
}

static bool is_walked_collection(PtcValue v)
{
    return ptc_is_sequential(v) || ptc_is_map(v) || ptc_is_set(v);
}

/* A string caches its hash, and a stop while it is computed costs no more than this one. */
static uint32_t hash_name(PtcHeap *heap, PtcValue v)
{
    return ptc_str_hashed(v) || ptc_tick_bytes(heap->budget, ptc_str_len(v)) ? ptc_str_hash(v) : 1;
}

static uint32_t hash_atom(PtcHeap *heap, PtcValue v)
{
    if (ptc_is_integer(v))
        return tick_big(heap, v) ? ptc_int_hash(v) : 1;
    if (ptc_is_named(v))
        return hash_name(heap, v);
    if (ptc_is_float(v))
        return hash_double(ptc_to_float(v));
    if (ptc_is_decimal(v)) /* the same for 1.5M and 1.50M */
        return hash_double(ptc_decimal_to_double(heap, v));
    if (ptc_is(v, PTC_T_RECORD) || ptc_is(v, PTC_T_VAR))
        return hash_record(heap, v);
    if (ptc_is(v, PTC_T_CLOSURE))
        return hash_function(heap, v);
    if (ptc_is_lazy(v))
        return unwrap_lazy(heap, &v, true) && is_walked_collection(v) ? hash_inside(heap, v) : 1;
    return ptc_is_obj(v) ? hash_identity(v) : mix_hash(OF_WORD, v);
}

/* Frames of a hash walk: acc is the sum so far; pos_b is, for sequentials, the elements left, and for maps the hash of
 * a key whose value (b) comes next, or 0. */
static bool next_hashed_element(PtcFrame *f, PtcValue *x)
{
    if (ptc_is_sequential(f->a)) {
        if (f->pos_b == 0)
            return false;
        f->pos_b--;
        *x = take_next_element(&f->a, &f->pos);
        return true;
    }
    if (ptc_is_set(f->a))
        return ptc_map_next(f->a, &f->pos, x, NULL);
    if (f->pos_b == 0)
        return ptc_map_next(f->a, &f->pos, x, &f->b);
    *x = f->b;
    return true;
}

/* Elements of sequentials count in order; entries of maps and elements of sets are simply added up. */
static void add_hash(PtcFrame *f, uint32_t h)
{
    if (ptc_is_sequential(f->a)) {
        f->acc = ptc_hash_step(f->acc, h);
    } else if (ptc_is_set(f->a)) {
        f->acc += mix_hash(OF_ENTRY, h);
    } else if (f->pos_b == 0) {
        f->pos_b = h;
    } else {
        f->acc += mix_hash(OF_ENTRY, (uint64_t)f->pos_b << 32 | h);
        f->pos_b = 0;
    }
}

/* A collection by the first few of its elements, anything else whole. */
static uint32_t hash_captured(PtcHeap *heap, PtcValue v)
{
    enum { EQUAL_LOOKS = 8 };
    PtcValue x;
    if (!is_walked_collection(v) || (ptc_is_sequential(v) && ptc_seq_count(v) >= PTC_ENDLESS))
        return hash_field(heap, v);
    PtcFrame f = {.a = v, .pos_b = ptc_is_sequential(v) ? ptc_seq_count(v) : 0};
    for (int i = 0; i < EQUAL_LOOKS && next_hashed_element(&f, &x); i++)
        add_hash(&f, hash_field(heap, x));
    return mix_hash(OF_FUNCTION, f.acc);
}

/* Where it was written and what it captured: functions that one fn makes in a loop mostly differ in that.  Functions
 * that it captured do not count, since those of letfn get each other only after they are made. */
static uint32_t hash_function(PtcHeap *heap, PtcValue v)
{
    const PtcClosure *f = (const PtcClosure *)(uintptr_t)v;
    const PtcProto *p = (const PtcProto *)(uintptr_t)f->proto;
    uint64_t h = ptc_hash_step(ptc_hash_begin(OF_FUNCTION), (uint64_t)p->first << 32 | p->last);
    for (size_t i = 0; i < f->obj.count && ptc_tick(heap->budget, 1); i++) {
        PtcValue x = f->captured[i];
        if (x != PTC_NONE && !ptc_is(x, PTC_T_CLOSURE))
            h = ptc_hash_step(h, hash_captured(heap, x));
    }
    return ptc_hash_finish(h);
}

static bool push_hash(PtcWalk *walk, PtcValue v)
{
    if (!ptc_walk_push(walk, v, PTC_NIL))
        return false;
    if (ptc_is_sequential(v))
        ptc_walk_top(walk)->pos_b = ptc_seq_count(v);
    return true;
}

static uint32_t hash_done(const PtcFrame *f)
{
    return mix_hash(ptc_is_sequential(f->a) ? OF_SEQ : ptc_is_set(f->a) ? OF_SET : OF_MAP, f->acc);
}

static uint32_t hash_inside(PtcHeap *heap, PtcValue v)
{
    PtcWalk walk;
    ptc_walk_init(&walk, heap);
    bool ok = push_hash(&walk, v);
    uint32_t h = 1;
    while (ok && walk.count) {
        PtcValue x;
        PtcFrame *f = ptc_walk_top(&walk);
        if (!ptc_tick(heap->budget, 1)) {
            ok = false;
        } else if (!next_hashed_element(f, &x)) {
            h = hash_done(f);
            walk.count--;
            if (walk.count)
                add_hash(ptc_walk_top(&walk), h);
        } else if (is_walked_collection(x)) {
            ok = push_hash(&walk, x);
        } else if (ptc_is_lazy(x)) {
            ok = unwrap_lazy(heap, &x, true) && push_hash(&walk, x);
        } else {
            add_hash(f, hash_atom(heap, x));
        }
    }
    ptc_walk_deinit(&walk);
    return h;
}

uint32_t ptc_hash(PtcHeap *heap, PtcValue v)
{
    return is_walked_collection(v) ? hash_inside(heap, v) : hash_atom(heap, v);
}

/* -------------------------------------------------------------------- order */

static int sign_of_int(int64_t n)
{
    return (n > 0) - (n < 0);
}

static int compare_numbers(PtcHeap *heap, PtcValue a, PtcValue b)
{
    bool ia = ptc_is_integer(a), ib = ptc_is_integer(b);
    if (ia && ib)
        return tick_big(heap, a) ? ptc_int_compare(a, b) : 0;
    if (!ia && !ib) {
        double x = ptc_to_float(a), y = ptc_to_float(b);
        return (x > y) - (x < y);
    }
    double d = ptc_to_float(ia ? b : a);
    if (isnan(d))
        return 0;
    return ia ? ptc_int_compare_double(a, d) : -ptc_int_compare_double(b, d);
}

static int compare_bytes(PtcHeap *heap, PtcText a, PtcText b)
{
    int c = ptc_bytes_compare(heap->budget, a.bytes, b.bytes, a.len < b.len ? a.len : b.len);
    return c ? sign_of_int(c) : sign_of_int((int64_t)a.len - (int64_t)b.len);
}

/* Where the slash of a keyword or symbol stands; its length when there is none. */
static size_t slash_of(PtcHeap *heap, PtcText t)
{
    const char *slash = t.len > 1 ? ptc_bytes_find_char(heap->budget, t.bytes, t.len, '/') : NULL;
    return slash ? (size_t)(slash - t.bytes) : t.len;
}

/* Keywords and symbols: those without a namespace first, then by namespace, then by name. */
static int compare_idents(PtcHeap *heap, PtcText a, PtcText b)
{
    size_t na = slash_of(heap, a), nb = slash_of(heap, b);
    if (na == a.len || nb == b.len)
        return na < a.len ? 1 : nb < b.len ? -1 : compare_bytes(heap, a, b);
    int c = compare_bytes(heap, (PtcText){a.bytes, na}, (PtcText){b.bytes, nb});
    return c ? c
             : compare_bytes(heap, (PtcText){a.bytes + na, a.len - na},
                             (PtcText){b.bytes + nb, b.len - nb});
}

static int compare_name_values(PtcHeap *heap, PtcValue a, PtcValue b)
{
    PtcText x = {ptc_str_bytes(a), ptc_str_len(a)}, y = {ptc_str_bytes(b), ptc_str_len(b)};
    return ptc_is_string(a) ? compare_bytes(heap, x, y) : compare_idents(heap, x, y);
}

static int compare_seqs(PtcHeap *heap, PtcValue a, PtcValue b, bool *ok)
{
    size_t na = ptc_seq_count(a), nb = ptc_seq_count(b), i = 0, k = 0;
    if (na != nb)
        return na < nb ? -1 : 1;
    if (heap->budget->nesting >= COMPARE_DEPTH) {
        ptc_budget_exceed(heap->budget, PTC_STOP_DEPTH, "compared values are nested deeper than",
                          COMPARE_DEPTH);
        return 0;
    }
    heap->budget->nesting++;
    int c = 0;
    for (size_t left = na; left > 0 && c == 0 && *ok; left--) {
        if (!ptc_tick(heap->budget, 1))
            break;
        PtcValue x = take_next_element(&a, &i), y = take_next_element(&b, &k);
        c = ptc_compare(heap, x, y, ok);
    }
    heap->budget->nesting--;
    return c;
}

static bool same_record_kind(PtcValue a, PtcValue b)
{
    /* cells and what comes after them have no order */
    return ptc_is(a, PTC_T_RECORD) && ptc_is(b, PTC_T_RECORD) &&
           ptc_obj(a)->aux == ptc_obj(b)->aux && ptc_obj(a)->aux < PTC_R_CELL &&
           ptc_obj(a)->count > 0 && ptc_obj(b)->count > 0;
}

/* The last field if it is a small integer: the nanoseconds of a time, the number of a constant. */
static int64_t last_number(PtcValue record)
{
    const PtcRecord *r = (const PtcRecord *)(uintptr_t)record;
    PtcValue last = r->fields[r->obj.count - 1];
    return ptc_is_int(last) ? ptc_to_int(last) : 0;
}

/* By the first fields, which may themselves be records, then by the last. */
static int compare_records(PtcHeap *heap, PtcValue a, PtcValue b, bool *ok)
{
    int64_t x = 0, y = 0;
    while (same_record_kind(a, b)) {
        if (!ptc_tick(heap->budget, 1))
            return 0;
        x = last_number(a);
        y = last_number(b);
        a = ((PtcRecord *)(uintptr_t)a)->fields[0];
        b = ((PtcRecord *)(uintptr_t)b)->fields[0];
    }
    int c = ptc_compare(heap, a, b, ok);
    return c == 0 && *ok ? (x > y) - (x < y) : c;
}

static bool is_ordered_number(PtcValue v)
{
    return ptc_is_number(v) || ptc_is_decimal(v);
}

/* One of them is a decimal. */
static int compare_decimals(PtcHeap *heap, PtcValue a, PtcValue b)
{
    if (!ptc_is_float(a) && !ptc_is_float(b))
        return ptc_decimal_compare(heap, a, b);
    double x = ptc_is_float(a) ? ptc_to_float(a) : ptc_decimal_to_double(heap, a);
    double y = ptc_is_float(b) ? ptc_to_float(b) : ptc_decimal_to_double(heap, b);
    return (x > y) - (x < y);
}

/* Two values of which one was lazy, so that they are sequences or cannot be compared. */
static int compare_behind(PtcHeap *heap, PtcValue a, PtcValue b, bool *ok)
{
    if (ptc_is_sequential(a) && ptc_is_sequential(b))
        return compare_seqs(heap, a, b, ok);
    *ok = false;
    return 0;
}

int ptc_compare(PtcHeap *heap, PtcValue a, PtcValue b, bool *ok)
{
    if (ptc_is_int(a) && ptc_is_int(b))
        return ((int64_t)a > (int64_t)b) - ((int64_t)a < (int64_t)b);
    if ((ptc_is_decimal(a) && is_ordered_number(b)) || (ptc_is_decimal(b) && is_ordered_number(a)))
        return compare_decimals(heap, a, b);
    if (same_record_kind(a, b))
        return compare_records(heap, a, b, ok);
    if (a == PTC_NIL || b == PTC_NIL)
        return (a != PTC_NIL) - (b != PTC_NIL);
    if (ptc_is_number(a) && ptc_is_number(b))
        return compare_numbers(heap, a, b);
    if (ptc_is_bool(a) && ptc_is_bool(b))
        return (a == PTC_TRUE) - (b == PTC_TRUE);
    if (ptc_is_named(a) && ptc_tag(a) == ptc_tag(b))
        return compare_name_values(heap, a, b);
    if (ptc_is_sequential(a) && ptc_is_sequential(b))
        return compare_seqs(heap, a, b, ok);
    if (ptc_is_lazy(a) || ptc_is_lazy(b))
        return unwrap_lazy(heap, &a, true) && unwrap_lazy(heap, &b, true)
                   ? compare_behind(heap, a, b, ok)
                   : 0;
    *ok = a == b;
    return 0;
}
