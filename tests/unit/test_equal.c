/* SPDX-License-Identifier: MIT
 * Equality, hash and order: of random values against a model that knows nothing of how values are
 * laid out, and of values that are deeper than the C stack. */
#include "check.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "value/coll/dict.h"
#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/copy.h"
#include "value/equal.h"
#include "value/number/bigint.h"
#include "value/print.h"
#include "value/str.h"

static CheckHeap h;

static uint64_t below(uint64_t *rng, uint64_t n)
{
    return (check_random(rng) >> 11) % n;
}

/* -------------------------------------------------------------------- model */

typedef enum { M_WORD, M_INT, M_BIG, M_FLOAT, M_STRING, M_KEYWORD, M_SEQ, M_MAP, M_SET } Kind;

/* items: elements, or key, value, key, value ... */
typedef struct Model {
    Kind kind;
    int64_t number; /* integer, word, digit of a big one */
    double d;
    char text[8];
    struct Model *items;
    size_t n;
} Model;

static void free_model(Model *m)
{
    for (size_t i = 0; i < m->n; i++)
        free_model(&m->items[i]);
    free(m->items);
    m->items = NULL;
    m->n = 0;
}

static bool is_number(const Model *m)
{
    return m->kind == M_INT || m->kind == M_BIG || m->kind == M_FLOAT;
}

/* Big integers are n * 10^30, so that their doubles are never exact. */
static bool numbers_alike(const Model *a, const Model *b, bool strict)
{
    if (a->kind == M_FLOAT && b->kind == M_FLOAT)
        return a->d == b->d || (strict && isnan(a->d) && isnan(b->d));
    if (a->kind == b->kind)
        return a->number == b->number;
    if (strict || a->kind == M_BIG || b->kind == M_BIG)
        return false;
    return a->kind == M_INT ? (double)a->number == b->d : a->d == (double)b->number;
}

static bool alike(const Model *a, const Model *b, bool strict);

/* Every entry of a has its like in b; both have the same number of different ones. */
static bool entries_alike(const Model *a, const Model *b, size_t step, bool strict)
{
    for (size_t i = 0; i < a->n; i += step) {
        size_t k = 0;
        if (!strict && a->items[i].kind == M_FLOAT && isnan(a->items[i].d))
            return false; /* NaN is found as a key, and equals nothing */
        while (k < b->n && !alike(&a->items[i], &b->items[k], true))
            k += step;
        if (k == b->n || (step == 2 && !alike(&a->items[i + 1], &b->items[k + 1], strict)))
            return false;
    }
    return true;
}

static bool alike(const Model *a, const Model *b, bool strict)
{
    if (is_number(a) && is_number(b))
        return numbers_alike(a, b, strict);
    if (a->kind != b->kind || a->n != b->n)
        return false;
    switch (a->kind) {
    case M_STRING:
    case M_KEYWORD: return strcmp(a->text, b->text) == 0;
    case M_SEQ:
        for (size_t i = 0; i < a->n; i++)
            if (!alike(&a->items[i], &b->items[i], strict))
                return false;
        return true;
    case M_MAP: return entries_alike(a, b, 2, strict);
    case M_SET: return entries_alike(a, b, 1, strict);
    default: return a->number == b->number;
    }
}

/* Few different atoms, so that equal ones are common. */
static Model random_atom(uint64_t *rng)
{
    static const double doubles[] = {0.0, -0.0, 1.0, 2.0, 1.5, 1e300, -1e300, NAN, INFINITY, 3.0};
    static const char *const texts[] = {"", "a", "b", "a-b", "a_b", "1"};
    Model m = {.kind = (Kind)below(rng, M_SEQ)};
    m.number = m.kind == M_WORD ? (int64_t)below(rng, 4) : (int64_t)below(rng, 5) - 1;
    if (m.kind == M_BIG && m.number == 0)
        m.number = 3;
    m.d = doubles[below(rng, 10)];
    snprintf(m.text, sizeof m.text, "%s", texts[below(rng, 6)]);
    return m;
}

static Model random_model(uint64_t *rng, int depth)
{
    if (depth == 0 || below(rng, 3) == 0)
        return random_atom(rng);
    Model m = {.kind = M_SEQ + (Kind)below(rng, 3)};
    size_t most = below(rng, 12) ? 4 : 45, step = m.kind == M_MAP ? 2 : 1;
    size_t want = below(rng, most);
    int inner = most > 4 && depth > 1 ? 1 : depth - 1;
    m.items = malloc((want + 1) * 2 * sizeof(Model));
    for (size_t i = 0; i < want; i++) {
        Model key = random_model(rng, inner);
        bool known = false;
        for (size_t k = 0; m.kind != M_SEQ && k < m.n; k += step)
            known = known || alike(&m.items[k], &key, true);
        if (known) {
            free_model(&key);
            continue;
        }
        m.items[m.n++] = key;
        if (step == 2)
            m.items[m.n++] = random_model(rng, inner);
    }
    return m;
}

/* ---------------------------------------------------- one model, many values */

static PtcValue realize(const Model *m, uint64_t *rng);

static PtcValue boxed(double d)
{
    PtcFloat *f = ptc_heap_object(&h.heap, PTC_T_FLOAT, sizeof *f, 0);
    f->value = d;
    return ptc_from_obj(f);
}

static PtcValue realize_atom(const Model *m, uint64_t *rng)
{
    static const PtcValue words[] = {PTC_NIL, PTC_TRUE, PTC_FALSE, PTC_BUILTIN_TAG};
    char digits[64];
    switch (m->kind) {
    case M_WORD: return words[m->number];
    case M_INT: return ptc_int(m->number);
    case M_BIG:
        snprintf(digits, sizeof digits, "%d000000000000000000000000000000", (int)m->number);
        return ptc_int_parse(&h.heap, digits, strlen(digits));
    case M_FLOAT: return below(rng, 2) ? boxed(m->d) : ptc_float_new(&h.heap, m->d);
    case M_STRING: return ptc_str_new(&h.heap, m->text, strlen(m->text));
    default: return ptc_keyword_new(&h.heap, m->text, strlen(m->text));
    }
}

/* Is it an arithmetic progression of integers? */
static bool is_range(const Model *m)
{
    for (size_t i = 0; i < m->n; i++)
        if (m->items[i].kind != M_INT || (i > 1 && m->items[i].number - m->items[i - 1].number !=
                                                       m->items[1].number - m->items[0].number))
            return false;
    return m->n > 0;
}

static PtcValue realize_seq(const Model *m, uint64_t *rng)
{
    PtcValue items[64], junk = ptc_int(77);
    int flags = below(rng, 2) ? PTC_SEQ : 0;
    size_t before = below(rng, 3) ? 1 : 1 + below(rng, 8);
    for (size_t i = 0; i < m->n; i++)
        items[before + i] = realize(&m->items[i], rng);
    for (size_t i = 0; i < before; i++)
        items[i] = junk;
    items[before + m->n] = junk;
    PtcValue v;
    if (is_range(m) && below(rng, 2)) {
        int64_t step = m->n > 1 ? m->items[1].number - m->items[0].number : 5;
        return ptc_range_new(&h.heap, m->items[0].number, step, m->n);
    }
    switch (below(rng, 5)) {
    case 0: return ptc_vec_new(&h.heap, items + before, m->n, flags);
    case 1:
        v = ptc_vec_new(&h.heap, NULL, 0, flags);
        for (size_t i = 0; i < m->n; i++)
            v = ptc_vec_conj(&h.heap, v, items[before + i]);
        return v;
    case 2:
        v = ptc_vec_new(&h.heap, items, before + m->n + 1, 0);
        return ptc_seq_slice(&h.heap, v, before, m->n, flags);
    case 3:
        v = ptc_vec_new(&h.heap, items + before, m->n + 1, flags);
        return ptc_vec_pop(&h.heap, v);
    default: {
        size_t cells = below(rng, m->n + 1);
        v = ptc_vec_new(&h.heap, items + before + cells, m->n - cells, flags);
        while (cells-- > 0)
            v = ptc_cons_new(&h.heap, items[before + cells], v);
        return v;
    }
    }
}

/* Entries in any order, sometimes by a builder, sometimes with holes from keys that went again. */
static PtcValue realize_dict(const Model *m, uint64_t *rng)
{
    size_t step = m->kind == M_MAP ? 2 : 1, count = m->n / step, order[64];
    for (size_t i = 0; i < count; i++)
        order[i] = i;
    for (size_t i = count; i > 1; i--) {
        size_t k = below(rng, i), t = order[i - 1];
        order[i - 1] = order[k];
        order[k] = t;
    }
    PtcDictBuild b;
    bool build = below(rng, 2), extra = below(rng, 3) == 0;
    PtcValue v = m->kind == M_MAP ? ptc_map_empty(&h.heap) : ptc_set_empty(&h.heap);
    CHECK(!build || ptc_dict_build_init(&b, &h.heap, m->kind == M_SET));
    for (size_t i = 0; i < count; i++) {
        PtcValue key = realize(&m->items[order[i] * step], rng), value = PTC_NIL;
        PtcValue odd = ptc_int(1000 + (int64_t)i);
        if (m->kind == M_MAP)
            value = realize(&m->items[order[i] * 2 + 1], rng);
        if (build) {
            CHECK(ptc_dict_build_put(&b, key, value));
        } else if (m->kind == M_MAP) {
            if (extra)
                v = ptc_map_assoc(&h.heap, v, odd, PTC_NIL);
            v = ptc_map_assoc(&h.heap, v, key, value);
        } else {
            if (extra)
                v = ptc_set_add(&h.heap, v, odd);
            v = ptc_set_add(&h.heap, v, key);
        }
    }
    for (size_t i = 0; i < count && extra && !build; i++)
        v = m->kind == M_MAP ? ptc_map_dissoc(&h.heap, v, ptc_int(1000 + (int64_t)i))
                             : ptc_set_remove(&h.heap, v, ptc_int(1000 + (int64_t)i));
    return build ? ptc_dict_build_done(&b) : v;
}

static PtcValue realize(const Model *m, uint64_t *rng)
{
    return m->kind < M_SEQ    ? realize_atom(m, rng)
           : m->kind == M_SEQ ? realize_seq(m, rng)
                              : realize_dict(m, rng);
}

/* ------------------------------------------------------------------- random */

static void check_pair(const Model *a, const Model *b, uint64_t *rng, long *same, long *lucky)
{
    PtcValue x = realize(a, rng), y = realize(b, rng);
    bool strict = alike(a, b, true), loose = alike(a, b, false);
    CHECK(ptc_same(&h.heap, x, y) == strict);
    CHECK(ptc_same(&h.heap, y, x) == strict);
    CHECK(ptc_equal(&h.heap, x, y) == loose);
    CHECK(ptc_equal(&h.heap, y, x) == loose);
    uint32_t hx = ptc_hash(&h.heap, x), hy = ptc_hash(&h.heap, y);
    CHECK(hx != 0 && hy != 0);
    CHECK(!strict || hx == hy);
    *same += strict;
    *lucky += !strict && !loose && hx == hy && a->kind >= M_SEQ && b->kind >= M_SEQ;
}

static void test_random(uint64_t seed, int rounds, int depth)
{
    enum { MODELS = 12 };
    uint64_t rng = seed;
    long same = 0, lucky = 0;
    for (int round = 0; round < rounds; round++) {
        Model models[MODELS];
        check_heap_init(&h);
        for (int i = 0; i < MODELS; i++)
            models[i] = random_model(&rng, depth);
        for (int i = 0; i < MODELS; i++)
            for (int k = i; k < MODELS; k++)
                check_pair(&models[i], &models[k], &rng, &same, &lucky);
        for (int i = 0; i < MODELS; i++)
            free_model(&models[i]);
        CHECK(h.budget.stop == PTC_STOP_NONE && h.budget.nesting == 0);
        check_heap_deinit(&h);
    }
    CHECK(same > 5 * rounds);
    CHECK(lucky < 10); /* different things that hash alike; `a-b` and `a_b` do on purpose */
}

/* A value equals its like with one leaf changed only when the change is none. */
static void test_one_change(void)
{
    uint64_t rng = 0x1234567;
    for (int round = 0; round < 3000; round++) {
        check_heap_init(&h);
        Model a = random_model(&rng, 3), *leaf = &a;
        PtcValue before = realize(&a, &rng);
        while (leaf->n) {
            size_t i = below(&rng, leaf->n);
            /* Keys stay as they are: a changed one could meet another. */
            if (leaf->kind == M_SET)
                break;
            leaf = &leaf->items[leaf->kind == M_MAP ? i | 1 : i];
        }
        if (leaf->n == 0 && leaf->kind < M_SEQ) {
            Model old = *leaf, now = random_atom(&rng);
            *leaf = now;
            PtcValue after = realize(&a, &rng);
            CHECK(ptc_same(&h.heap, before, after) == alike(&old, &now, true));
        }
        free_model(&a);
        check_heap_deinit(&h);
    }
}

/* -------------------------------------------------------------------- plain */

static PtcValue pair_of(PtcValue a, PtcValue b)
{
    PtcValue both[] = {a, b};
    return ptc_vec_new(&h.heap, both, 2, 0);
}

static void check_alike(PtcValue a, PtcValue b, bool loose, bool strict)
{
    for (int wrapped = 0; wrapped < 3; wrapped++) {
        CHECK(ptc_equal(&h.heap, a, b) == loose && ptc_equal(&h.heap, b, a) == loose);
        CHECK(ptc_same(&h.heap, a, b) == strict && ptc_same(&h.heap, b, a) == strict);
        CHECK(!strict || ptc_hash(&h.heap, a) == ptc_hash(&h.heap, b));
        PtcValue key = ptc_keyword_new(&h.heap, "k", 1);
        a = wrapped ? ptc_map_assoc(&h.heap, ptc_map_empty(&h.heap), key, a) : pair_of(a, key);
        b = wrapped ? ptc_map_assoc(&h.heap, ptc_map_empty(&h.heap), key, b) : pair_of(b, key);
    }
}

static void test_numbers(void)
{
    check_heap_init(&h);
    PtcHeap *o = &h.heap;
    PtcValue big = ptc_int_parse(o, "9007199254740993", 16);         /* 2^53 + 1 */
    PtcValue huge = ptc_int_parse(o, "1180591620717411303424", 22);  /* 2^70 */
    PtcValue huge1 = ptc_int_parse(o, "1180591620717411303425", 22); /* 2^70 + 1 */
    check_alike(ptc_int(1), ptc_float_new(o, 1.0), true, false);
    check_alike(ptc_int(1), ptc_int(1), true, true);
    check_alike(ptc_int(1), ptc_float_new(o, 1.5), false, false);
    check_alike(big, ptc_float_new(o, 9007199254740992.0), false, false);
    check_alike(huge, ptc_float_new(o, 1180591620717411303424.0), true, false);
    check_alike(huge1, ptc_float_new(o, 1180591620717411303424.0), false, false);
    check_alike(huge, ptc_int_parse(o, "1180591620717411303424", 22), true, true);
    check_alike(boxed(1.0), ptc_flonum(1.0), true, true);
    check_alike(ptc_float_new(o, 0.0), ptc_float_new(o, -0.0), true, true);
    check_alike(ptc_int(0), ptc_float_new(o, -0.0), true, false);
    check_alike(boxed(NAN), boxed(NAN), false, true);
    check_alike(boxed(NAN), ptc_int(1), false, false);
    check_alike(boxed(INFINITY), boxed(INFINITY), true, true);
    check_alike(boxed(INFINITY), boxed(-INFINITY), false, false);
    check_alike(ptc_int(PTC_INT_MAX), ptc_float_new(o, 4611686018427387904.0), false, false);
    check_alike(ptc_int(PTC_INT_MIN), ptc_float_new(o, -4611686018427387904.0), true, false);
    check_alike(PTC_NIL, PTC_FALSE, false, false);
    check_alike(ptc_int(1), ptc_str_new(o, "1", 1), false, false);
    check_alike(ptc_str_new(o, "a", 1), ptc_keyword_new(o, "a", 1), false, false);
    check_alike(ptc_str_new(o, "a\0b", 3), ptc_str_new(o, "a\0c", 3), false, false);
    check_alike(ptc_vec_new(o, NULL, 0, 0), ptc_map_empty(o), false, false);
    check_alike(ptc_vec_new(o, NULL, 0, 0), ptc_set_empty(o), false, false);
    check_alike(ptc_map_empty(o), ptc_set_empty(o), false, false);
    check_alike(ptc_vec_new(o, NULL, 0, 0), ptc_range_new(o, 0, 1, 0), true, true);
    check_alike(ptc_vec_new(o, NULL, 0, 0), PTC_NIL, false, false);
    /* NaN is a key like any other. */
    PtcValue m = ptc_map_assoc(o, ptc_map_empty(o), boxed(NAN), ptc_int(1));
    CHECK(ptc_map_get(o, m, boxed(NAN)) == ptc_int(1));
    check_heap_deinit(&h);
}

static PtcValue record(unsigned kind, PtcValue a, PtcValue b)
{
    PtcRecord *r = ptc_heap_object(&h.heap, PTC_T_RECORD, sizeof *r + 2 * sizeof a, 2);
    r->obj.aux = (uint16_t)kind;
    r->fields[0] = a;
    r->fields[1] = b;
    return ptc_from_obj(r);
}

static void test_records(void)
{
    check_heap_init(&h);
    PtcValue s = ptc_str_new(&h.heap, "x", 1), s2 = ptc_str_new(&h.heap, "x", 1);
    check_alike(record(1, ptc_int(3), s), record(1, ptc_int(3), s2), true, true);
    check_alike(record(1, ptc_int(3), s), record(2, ptc_int(3), s2), false, false);
    check_alike(record(1, ptc_int(3), s), record(1, ptc_int(4), s2), false, false);
    check_alike(record(1, ptc_int(3), s), record(1, ptc_int(3), ptc_keyword_new(&h.heap, "x", 1)),
                false, false);
    bool ok = true;
    CHECK(ptc_compare(&h.heap, record(1, ptc_int(3), s), record(1, ptc_int(4), s), &ok) < 0 && ok);
    CHECK(ptc_compare(&h.heap, record(1, ptc_int(3), s), record(2, ptc_int(4), s), &ok) == 0 &&
          !ok);
    check_heap_deinit(&h);
}

/* -------------------------------------------------------------------- order */

static int sign(int n)
{
    return (n > 0) - (n < 0);
}

/* Of one type, so that all compare: depth 0 numbers, 1 sequences of them, 2 names. */
static PtcValue random_ordered(uint64_t *rng, int kind)
{
    static const double doubles[] = {0.0,
                                     -0.0,
                                     0.5,
                                     1.0,
                                     2.0,
                                     1e30,
                                     -1e30,
                                     INFINITY,
                                     -INFINITY,
                                     9007199254740992.0,
                                     4611686018427387904.0,
                                     1e300};
    static const char *const bigs[] = {"9007199254740993", "1000000000000000000000000000000",
                                       "4611686018427387904", "-1000000000000000000000000000000",
                                       "1000000000000000019884624838656"};
    PtcValue items[3];
    char text[4];
    switch (kind) {
    case 0:
        switch (below(rng, 4)) {
        case 0: return ptc_float_new(&h.heap, doubles[below(rng, 12)]);
        case 1: {
            const char *digits = bigs[below(rng, 5)];
            return ptc_int_parse(&h.heap, digits, strlen(digits));
        }
        default: return ptc_int((int64_t)below(rng, 5) - 2);
        }
    case 1: {
        size_t n = below(rng, 4);
        for (size_t i = 0; i < n; i++)
            items[i] = random_ordered(rng, 0);
        PtcValue v = ptc_vec_new(&h.heap, items, n, 0);
        return below(rng, 2) ? ptc_cons_new(&h.heap, ptc_int(1), v)
                             : ptc_vec_conj(&h.heap, v, ptc_int(1));
    }
    case 2: {
        size_t n = below(rng, 4);
        for (size_t i = 0; i < n; i++)
            text[i] = (char)('a' + below(rng, 3));
        return ptc_str_new(&h.heap, text, n);
    }
    default: return below(rng, 3) == 0 ? PTC_NIL : ptc_bool(below(rng, 2));
    }
}

static void test_order(void)
{
    uint64_t rng = 0xabcdef;
    check_heap_init(&h);
    for (int round = 0; round < 40000; round++) {
        int kind = round % 4;
        bool ok = true;
        PtcValue a = random_ordered(&rng, kind), b = random_ordered(&rng, kind);
        PtcValue c = random_ordered(&rng, kind);
        int ab = sign(ptc_compare(&h.heap, a, b, &ok)), ba = sign(ptc_compare(&h.heap, b, a, &ok));
        int bc = sign(ptc_compare(&h.heap, b, c, &ok)), ac = sign(ptc_compare(&h.heap, a, c, &ok));
        CHECK(ok && ab == -ba);
        CHECK(ptc_compare(&h.heap, a, a, &ok) == 0 && ok);
        CHECK(!(ab <= 0 && bc <= 0) || ac <= 0);
        CHECK(!(ab < 0 && bc <= 0) || ac < 0);
        CHECK((ab == 0) == ptc_equal(&h.heap, a, b));
    }
    /* nil is first, and what has no order says so. */
    PtcValue one = ptc_int(1), s = ptc_str_new(&h.heap, "s", 1),
             k = ptc_keyword_new(&h.heap, "s", 1);
    PtcValue odd[][2] = {{one, s},
                         {s, k},
                         {one, PTC_TRUE},
                         {pair_of(one, one), one},
                         {s, PTC_FALSE},
                         {ptc_map_empty(&h.heap), ptc_map_empty(&h.heap)},
                         {pair_of(one, s), pair_of(one, one)}};
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        bool ok = true;
        CHECK(ptc_compare(&h.heap, odd[i][0], odd[i][1], &ok) == 0 && !ok);
        ok = true;
        CHECK(ptc_compare(&h.heap, PTC_NIL, odd[i][0], &ok) < 0 && ok);
        CHECK(ptc_compare(&h.heap, odd[i][0], PTC_NIL, &ok) > 0 && ok);
    }
    check_heap_deinit(&h);
}

/* --------------------------------------------------------------------- deep */

enum { DEEP = 100000, SMALL_STACK = 256 * 1024 };

typedef PtcValue (*Wrap)(PtcValue inner);

static PtcValue in_vector(PtcValue inner)
{
    return ptc_vec_new(&h.heap, &inner, 1, 0);
}

static PtcValue in_map(PtcValue inner)
{
    return ptc_map_assoc(&h.heap, ptc_map_empty(&h.heap), ptc_int(1), inner);
}

static PtcValue in_cons(PtcValue inner)
{
    return ptc_cons_new(&h.heap, inner, ptc_vec_new(&h.heap, &inner, 0, 0));
}

static PtcValue in_reduced(PtcValue inner)
{
    return record(2, inner, PTC_NIL);
}

static PtcValue nested(Wrap wrap, PtcValue inner, int levels)
{
    while (levels-- > 0)
        inner = wrap(inner);
    return inner;
}

static void check_deep(Wrap wrap)
{
    PtcValue a = nested(wrap, ptc_int(1), DEEP), b = nested(wrap, ptc_int(1), DEEP);
    PtcValue c = nested(wrap, ptc_int(2), DEEP), d = nested(wrap, ptc_flonum(1.0), DEEP);
    CHECK(ptc_equal(&h.heap, a, b) && ptc_same(&h.heap, a, b));
    CHECK(!ptc_equal(&h.heap, a, c) && ptc_equal(&h.heap, a, d) && !ptc_same(&h.heap, a, d));
    CHECK(ptc_hash(&h.heap, a) == ptc_hash(&h.heap, b));
    CHECK(ptc_hash(&h.heap, a) != ptc_hash(&h.heap, c));
    CHECK(h.budget.stop == PTC_STOP_NONE);
    PtcBuf buf;
    ptc_buf_init(&buf, &h.mem, SIZE_MAX / 2);
    CHECK(ptc_print(&(PtcPrinter){.heap = &h.heap, .readable = true, .float_precision = -1}, &buf,
                    a));
    CHECK(buf.len >= 2 * DEEP + 1);
    ptc_buf_deinit(&buf);
    ptc_heap_mark_begin(&h.heap);
    ptc_heap_mark(&h.heap, a);
    ptc_heap_mark(&h.heap, b);
    ptc_heap_mark_finish(&h.heap);
    CHECK(ptc_equal(&h.heap, a, b));
    PtcHeap other;
    PtcCopy copy;
    ptc_heap_init(&other, &h.pool, &h.budget, SIZE_MAX / 4);
    ptc_copy_init(&copy, &other);
    PtcValue copied = ptc_copy_value(&copy, a);
    ptc_copy_deinit(&copy);
    CHECK(copied != PTC_NONE && ptc_equal(&h.heap, a, copied));
    ptc_heap_deinit(&other);
}

/* Ends for depth, not by overflowing the stack. */
static void check_stops(bool stopped)
{
    CHECK(stopped == (h.budget.stop == PTC_STOP_DEPTH));
    CHECK(h.budget.nesting == 0);
    h.budget.stop = PTC_STOP_NONE;
}

static PtcValue as_key(PtcValue inner)
{
    return ptc_map_assoc(&h.heap, ptc_map_empty(&h.heap), inner, ptc_int(1));
}

static PtcValue as_element(PtcValue inner)
{
    return ptc_set_add(&h.heap, ptc_set_empty(&h.heap), inner);
}

static void check_key_depth(Wrap wrap)
{
    PtcValue a = nested(wrap, ptc_int(1), 64), b = nested(wrap, ptc_int(1), 64);
    CHECK(ptc_equal(&h.heap, a, b) && ptc_same(&h.heap, a, b));
    check_stops(false);
    CHECK(!ptc_equal(&h.heap, a, nested(wrap, ptc_int(2), 64)));
    check_stops(false);
    a = wrap(a);
    b = wrap(b);
    CHECK(!ptc_same(&h.heap, a, b));
    check_stops(true);
    CHECK(!ptc_equal(&h.heap, a, b));
    check_stops(true);
    /* Far deeper; hashing such a key at every level is quadratic, so not by 100,000. */
    a = nested(wrap, ptc_int(1), 2000);
    b = nested(wrap, ptc_int(1), 2000);
    CHECK(!ptc_equal(&h.heap, a, b));
    check_stops(true);
    CHECK(ptc_map_get(&h.heap, as_key(a), b) == PTC_NONE);
    check_stops(true);
}

static void *deep_thread(void *unused)
{
    (void)unused;
    check_heap_init(&h);
    check_deep(in_vector);
    check_deep(in_map);
    check_deep(in_cons);
    bool ok = true;
    PtcValue a = nested(in_vector, ptc_int(1), 200), b = nested(in_vector, ptc_int(2), 200);
    CHECK(ptc_compare(&h.heap, a, b, &ok) < 0 && ok);
    check_stops(false);
    a = nested(in_vector, a, DEEP);
    b = nested(in_vector, b, DEEP);
    (void)ptc_compare(&h.heap, a, b, &ok);
    check_stops(true);
    /* Records compare by what they hold, however deep. */
    a = nested(in_reduced, ptc_int(1), DEEP);
    b = nested(in_reduced, ptc_int(2), DEEP);
    ok = true;
    CHECK(ptc_compare(&h.heap, a, b, &ok) < 0 && ok);
    check_stops(false);
    check_key_depth(as_key);
    check_key_depth(as_element);
    check_heap_deinit(&h);
    return NULL;
}

static void test_deep(void)
{
    pthread_attr_t attr;
    pthread_t thread;
    pthread_attr_init(&attr);
    CHECK(pthread_attr_setstacksize(&attr, SMALL_STACK) == 0);
    CHECK(pthread_create(&thread, &attr, deep_thread, NULL) == 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attr);
}

/* A walk that may not have its memory, or runs out of time, says so. */
static void test_stops(void)
{
    check_heap_init(&h);
    PtcValue a = nested(in_vector, ptc_int(1), 2000), b = nested(in_vector, ptc_int(1), 2000);
    for (uint64_t nth = 1; nth < 6; nth++) {
        size_t used = h.mem.used;
        ptc_mem_fail_at(&h.mem, nth);
        CHECK(!ptc_equal(&h.heap, a, b));
        CHECK(h.budget.stop == PTC_STOP_MEMORY && h.mem.used == used && h.budget.nesting == 0);
        h.budget.stop = PTC_STOP_NONE;
        ptc_mem_fail_at(&h.mem, nth);
        CHECK(ptc_hash(&h.heap, a) != 0);
        CHECK(h.budget.stop == PTC_STOP_MEMORY && h.mem.used == used);
        h.budget.stop = PTC_STOP_NONE;
    }
    ptc_mem_fail_at(&h.mem, 0);
    PtcCancel cancel = {.asked = true};
    h.budget.cancel = &cancel;
    PtcValue r = ptc_range_new(&h.heap, 0, 1, 100000000),
             s = ptc_range_new(&h.heap, 0, 1, 100000000);
    CHECK(!ptc_equal(&h.heap, r, s) && h.budget.stop == PTC_STOP_CANCELLED);
    h.budget.stop = PTC_STOP_NONE;
    (void)ptc_hash(&h.heap, r);
    CHECK(h.budget.stop == PTC_STOP_CANCELLED);
    h.budget.stop = PTC_STOP_NONE;
    bool ok = true;
    (void)ptc_compare(&h.heap, r, s, &ok);
    CHECK(h.budget.stop == PTC_STOP_CANCELLED);
    check_heap_deinit(&h);
}

/* ------------------------------------------------------------------ crafted keys */

enum { CRAFTED = 60000 };

/* The number that times `odd` is 1, modulo 2^64. */
static uint64_t inverse(uint64_t odd)
{
    uint64_t x = odd;
    for (int i = 0; i < 6; i++)
        x *= 2 - odd * x;
    return x;
}

/* A float that a mixing function without a secret gave the hash 12345, as it did once; one for each `low`. */
static double crafted(uint32_t low)
{
    uint64_t x = (uint64_t)12345 << 32 | low;
    x *= inverse(0xbf58476d1ce4e5b9u);
    x ^= x >> 29 ^ x >> 58;
    x *= inverse(0x9e3779b97f4a7c15u);
    x ^= x >> 32;
    x ^= 0x5bd1e995;
    double d;
    memcpy(&d, &x, sizeof d);
    return d;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static size_t distinct(uint32_t *hashes, size_t n)
{
    size_t count = 0;
    qsort(hashes, n, sizeof *hashes, by_number);
    for (size_t i = 0; i < n; i++)
        count += i == 0 || hashes[i] != hashes[i - 1];
    return count;
}

static void test_crafted_floats(void)
{
    static uint32_t hashes[CRAFTED];
    check_heap_init(&h);
    size_t n = 0;
    for (uint32_t i = 0; i < CRAFTED; i++) {
        double d = crafted(i);
        if (!isnan(d) && d != 0)
            hashes[n++] = ptc_hash(&h.heap, ptc_float_new(&h.heap, d));
    }
    CHECK(n > CRAFTED - 100 && distinct(hashes, n) > n - 100);
    check_heap_deinit(&h);
}

/* A vector of 256 values, x and y in the order of Thue and Morse: with x and y exchanged, the sum of its elements with
 * the powers of 31 is the same, whatever x and y are. */
static PtcValue thue_morse(PtcValue x, PtcValue y)
{
    PtcValue b = ptc_build_new(&h.heap);
    for (unsigned i = 0; i < 256; i++)
        CHECK(ptc_build_add(&h.heap, b, __builtin_parity(i) ? x : y));
    return ptc_build_done(&h.heap, b, 0);
}

static void expect_apart(PtcValue x, PtcValue y)
{
    CHECK(ptc_hash(&h.heap, thue_morse(x, y)) != ptc_hash(&h.heap, thue_morse(y, x)));
}

static void test_crafted_vectors(void)
{
    check_heap_init(&h);
    expect_apart(PTC_TRUE, PTC_FALSE);
    expect_apart(ptc_int(1), ptc_int(2));
    expect_apart(ptc_str_new(&h.heap, "a", 1), ptc_str_new(&h.heap, "b", 1));
    check_heap_deinit(&h);
}

/* Enough keys of one hash would make a table quadratic: every step ticks, when it grows too. */
static void test_probes(void)
{
    check_heap_init(&h);
    PtcDictBuild b;
    CHECK(ptc_dict_build_init(&b, &h.heap, true));
    for (int i = 0; i < 1024; i++)
        CHECK(ptc_dict_build_put(&b, ptc_int(i), PTC_NIL));
    for (uint32_t i = 0; i < b.count; i++)
        b.hashes[i] = 1; /* as if they had one */
    PtcCancel cancel = {.asked = true};
    h.budget.cancel = &cancel;
    ptc_fuel_set(&h.budget, 100000);
    CHECK(!ptc_dict_build_put(&b, ptc_int(5000), PTC_NIL));
    CHECK(h.budget.stop == PTC_STOP_CANCELLED && b.count == 1024);
    ptc_dict_build_cancel(&b);
    check_heap_deinit(&h);
}

int main(void)
{
    test_numbers();
    test_records();
    test_random(0x9e3779b97f4a7c15, 250, 2);
    test_random(0xbf58476d1ce4e5b9, 200, 3);
    test_random(0x94d049bb133111eb, 60, 5);
    test_one_change();
    test_order();
    test_deep();
    test_stops();
    test_crafted_floats();
    test_crafted_vectors();
    test_probes();
    return check_done("equal");
}
