/* SPDX-License-Identifier: MIT
 * Maps and sets against plain ordered lists.  Many versions live side by side and the collector
 * runs in between.  The keys are spelled so that many share one hash. */
#include "check.h"

#include <math.h>
#include <stdlib.h>

#include "value/coll/dict.h"
#include "value/coll/iter.h"
#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/equal.h"
#include "value/number/bigint.h"
#include "value/str.h"

static CheckHeap h;       /* the versions */
static PtcHeap older;     /* the keys: a heap that outlives the other */
static int64_t fresh = 1; /* every value is another number */

enum { KEYS = 700, TWINS = 2, VERSIONS = 12, NAME = 24 };

/* Key k in two objects of the same content; text is empty for what is not named. */
static struct {
    PtcValue twins[TWINS];
    char text[NAME];
} keys[KEYS];

typedef struct {
    size_t key;
    PtcValue stored; /* the very object that went in first */
    PtcValue value;
} Entry;

/* A map or set and what it must hold, in order. */
typedef struct {
    PtcValue v;
    Entry *entries;
    size_t n;
} Version;

static uint64_t below(uint64_t *rng, uint64_t n)
{
    return (check_random(rng) >> 11) % n;
}

/* --------------------------------------------------------------------- keys */

static PtcValue named(PtcTag tag, const char *text)
{
    size_t n = strlen(text);
    return tag == PTC_T_STRING    ? ptc_str_new(&older, text, n)
           : tag == PTC_T_KEYWORD ? ptc_keyword_new(&older, text, n)
                                  : ptc_symbol_new(&older, text, n);
}

/* Eight spellings of one word, as string and as keyword: sixteen keys with one hash. */
static size_t add_family(size_t k, const char *stem)
{
    static const PtcTag tags[] = {PTC_T_STRING, PTC_T_KEYWORD};
    for (unsigned spelling = 0; spelling < 16 && k < KEYS; spelling++, k++) {
        snprintf(keys[k].text, NAME, "%s%cx%cy%cz", stem, spelling & 1 ? '-' : '_',
                 spelling & 2 ? '-' : '_', spelling & 4 ? '-' : '_');
        for (int t = 0; t < TWINS; t++)
            keys[k].twins[t] = named(tags[spelling >> 3], keys[k].text);
    }
    return k;
}

static PtcValue boxed(double d)
{
    PtcFloat *f = ptc_heap_object(&older, PTC_T_FLOAT, sizeof *f, 0);
    f->value = d;
    return ptc_from_obj(f);
}

/* Things that are easily mistaken for each other. */
static PtcValue odd_key(size_t i)
{
    PtcHeap *o = &older;
    PtcValue one = ptc_int(1), two = ptc_int(2);
    PtcValue items[] = {one, two};
    switch (i) {
    case 0: return PTC_NIL;
    case 1: return PTC_TRUE;
    case 2: return PTC_FALSE;
    case 3: return ptc_flonum(1.0);
    case 4: return boxed(0.0);
    case 5: return boxed(NAN);
    case 6: return boxed(1e300);
    case 7: return ptc_int_parse(o, "123456789012345678901234567890", 30);
    case 8: return ptc_int_parse(o, "-123456789012345678901234567890", 31);
    case 9: return ptc_vec_new(o, items, 2, 0);
    case 10: return ptc_vec_new(o, items, 1, PTC_SEQ);
    case 11: return ptc_map_empty(o);
    case 12: return ptc_set_empty(o);
    case 13: return ptc_map_assoc(o, ptc_map_empty(o), one, two);
    case 14: return ptc_set_add(o, ptc_set_empty(o), one);
    case 15: return ptc_vec_new(o, NULL, 0, 0);
    default: return ptc_builtin((uint32_t)i);
    }
}

enum { FAMILIES = 12, ODD = 20 };

static void make_keys(void)
{
    size_t k = 0;
    for (int f = 0; f < FAMILIES; f++)
        k = add_family(k, (char[]){(char)('a' + f), 0});
    for (size_t i = 0; i < ODD; i++, k++)
        for (int t = 0; t < TWINS; t++)
            keys[k].twins[t] = odd_key(i);
    for (int n = 0; k < KEYS; n++, k++) {
        if (n % 3 == 0)
            snprintf(keys[k].text, NAME, "key%d", n);
        for (int t = 0; t < TWINS; t++)
            keys[k].twins[t] = n % 3 == 0
                                   ? named(n % 2 ? PTC_T_STRING : PTC_T_KEYWORD, keys[k].text)
                                   : ptc_int(n - 100);
    }
}

static bool fold_same(const char *a, const char *b)
{
    for (; *a && *b; a++, b++)
        if (*a != *b && !((*a == '-' || *a == '_') && (*b == '-' || *b == '_')))
            return false;
    return *a == *b;
}

/* As in map.h: 3 the key itself, 2 other type, 1 other dashes, 0 another key. */
static int likeness(size_t a, size_t b)
{
    if (a == b)
        return 3;
    if (!keys[a].text[0] || !keys[b].text[0])
        return 0;
    return strcmp(keys[a].text, keys[b].text) == 0 ? 2 : fold_same(keys[a].text, keys[b].text);
}

static Entry *find(const Version *x, size_t key, bool flex)
{
    Entry *best = NULL;
    int like = flex ? 0 : 2;
    for (size_t i = 0; i < x->n; i++) {
        int l = likeness(x->entries[i].key, key);
        if (l > like) {
            like = l;
            best = &x->entries[i];
        }
    }
    return best;
}

/* ----------------------------------------------------------------- versions */

static bool is_map(const Version *x)
{
    return ptc_is_map(x->v);
}

static Version empty(bool set)
{
    return (Version){set ? ptc_set_empty(&h.heap) : ptc_map_empty(&h.heap), NULL, 0};
}

static Version copy_of(const Version *x)
{
    Version to = {x->v, malloc((x->n + 1) * sizeof(Entry)), x->n};
    if (x->n)
        memcpy(to.entries, x->entries, x->n * sizeof(Entry));
    return to;
}

static void drop(Version *x)
{
    free(x->entries);
    x->entries = NULL;
}

static bool same_order(const Version *x)
{
    PtcValue key, value = PTC_NONE;
    size_t pos = 0, i = 0;
    for (; ptc_map_next(x->v, &pos, &key, is_map(x) ? &value : NULL); i++) {
        if (i >= x->n || key != x->entries[i].stored)
            return false;
        if (is_map(x) && value != x->entries[i].value)
            return false;
    }
    return i == x->n;
}

static bool same_by_iter(const Version *x)
{
    PtcIter it;
    PtcValue got;
    if (!ptc_iter_init(&it, &h.heap, x->v) || ptc_iter_hint(&it) != x->n)
        return false;
    for (size_t i = 0; i < x->n; i++) {
        if (!ptc_iter_next(&it, &got))
            return false;
        const Entry *e = &x->entries[i];
        if (is_map(x) ? ptc_seq_nth(got, 0) != e->stored || ptc_seq_nth(got, 1) != e->value
                      : got != e->stored)
            return false;
    }
    return !ptc_iter_next(&it, &got) && !it.failed;
}

/* Asks for one key in all ways. */
static bool answers(const Version *x, size_t key, int twin)
{
    PtcValue k = keys[key].twins[twin];
    const Entry *e = find(x, key, false), *f = find(x, key, true);
    if (!is_map(x))
        return ptc_set_has(&h.heap, x->v, k) == (e != NULL) &&
               ptc_set_get(&h.heap, x->v, k) == (e ? e->stored : PTC_NONE);
    return ptc_map_get(&h.heap, x->v, k) == (e ? e->value : PTC_NONE) &&
           ptc_map_get_flex(&h.heap, x->v, k) == (f ? f->value : PTC_NONE) &&
           ptc_map_key_flex(&h.heap, x->v, k) == (f ? f->stored : PTC_NONE);
}

static bool right_form(const Version *x)
{
    bool small = ptc_is(x->v, PTC_T_SMAP) || ptc_is(x->v, PTC_T_SSET);
    return x->n > PTC_SMALL_MAX ? !small : x->n > PTC_SMALL_MAX / 2 || small;
}

static bool holds(const Version *x, bool all_keys, uint64_t *rng)
{
    if (x->v == PTC_NONE || ptc_map_count(x->v) != x->n || !right_form(x) || !same_order(x))
        return false;
    for (size_t k = all_keys ? 0 : KEYS - 24; k < KEYS; k++)
        if (!answers(x, all_keys ? k : below(rng, KEYS), (int)below(rng, TWINS)))
            return false;
    return same_by_iter(x);
}

static void collect(const Version *versions)
{
    ptc_heap_mark_begin(&h.heap);
    for (size_t i = 0; i < VERSIONS; i++)
        ptc_heap_mark(&h.heap, versions[i].v);
    ptc_heap_mark_finish(&h.heap);
}

/* ----------------------------------------------------------------- changing */

static Version put(const Version *x, size_t key, bool flex, uint64_t *rng)
{
    Version to = copy_of(x);
    PtcValue k = keys[key].twins[below(rng, TWINS)], value = ptc_int(fresh++);
    Entry *e = find(&to, key, flex && is_map(x));
    if (e)
        e->value = value;
    else
        to.entries[to.n++] = (Entry){key, k, value};
    to.v = !is_map(x) ? ptc_set_add(&h.heap, x->v, k)
           : flex     ? ptc_map_assoc_flex(&h.heap, x->v, k, value)
                      : ptc_map_assoc(&h.heap, x->v, k, value);
    return to;
}

static Version take_out(const Version *x, size_t key, uint64_t *rng)
{
    Version to = copy_of(x);
    PtcValue k = keys[key].twins[below(rng, TWINS)];
    Entry *e = find(&to, key, false);
    if (e) {
        to.n--;
        memmove(e, e + 1, (size_t)(to.entries + to.n - e) * sizeof *e);
    }
    to.v = is_map(x) ? ptc_map_dissoc(&h.heap, x->v, k) : ptc_set_remove(&h.heap, x->v, k);
    CHECK(e || to.v == x->v);
    return to;
}

/* The same contents, through a builder. */
static Version built(const Version *x, uint64_t *rng)
{
    PtcDictBuild b;
    Version to = copy_of(x);
    CHECK(ptc_dict_build_init(&b, &h.heap, !is_map(x)));
    for (size_t i = 0; i < to.n; i++) {
        Entry *e = &to.entries[i];
        CHECK(ptc_dict_build_find(&b, e->stored) == -1);
        CHECK(ptc_dict_build_put(&b, e->stored, ptc_int(0)));
        size_t again = below(rng, i + 1);
        PtcValue other = keys[to.entries[again].key].twins[below(rng, TWINS)];
        CHECK(ptc_dict_build_find(&b, other) == (int64_t)again);
        CHECK(ptc_dict_build_key(&b, (int64_t)again) == to.entries[again].stored);
        CHECK(ptc_dict_build_put(&b, other, ptc_int(1)));
    }
    for (size_t i = 0; i < to.n && is_map(x); i++)
        *ptc_dict_build_slot(&b, (int64_t)i) = to.entries[i].value;
    CHECK(b.count == to.n);
    to.v = ptc_dict_build_done(&b);
    CHECK(ptc_same(&h.heap, to.v, x->v) && ptc_same(&h.heap, x->v, to.v));
    CHECK(ptc_hash(&h.heap, to.v) == ptc_hash(&h.heap, x->v));
    return to;
}

typedef struct {
    size_t first, count; /* the keys used */
    unsigned put;        /* of 100 steps; the others take out */
} Mix;

static Version random_step(const Version *x, const Mix *mix, uint64_t *rng)
{
    size_t key = mix->first + below(rng, mix->count);
    if (below(rng, 40) == 0)
        return built(x, rng);
    if (below(rng, 100) < mix->put)
        return put(x, key, below(rng, 4) == 0, rng);
    if (x->n && below(rng, 4))
        key = x->entries[below(rng, x->n)].key;
    return take_out(x, key, rng);
}

/* Several steps on, so that versions grow apart from a common root. */
static Version random_walk(const Version *x, const Mix *mix, uint64_t *rng)
{
    Version v = copy_of(x);
    for (uint64_t steps = 1 + (below(rng, 4) ? 0 : below(rng, 30)); steps > 0; steps--) {
        Version next = random_step(&v, mix, rng);
        drop(&v);
        v = next;
    }
    return v;
}

static void test_random(uint64_t seed, bool set, size_t first, size_t count, int steps)
{
    Version versions[VERSIONS];
    uint64_t rng = seed;
    check_heap_init(&h);
    for (size_t i = 0; i < VERSIONS; i++)
        versions[i] = empty(set);
    for (int step = 0; step < steps; step++) {
        /* Tides: mostly growing, then mostly shrinking. */
        Mix mix = {first, count, step % 400 < 280 ? 85 : 15};
        const Version *from = &versions[below(&rng, VERSIONS)];
        Version to = random_walk(from, &mix, &rng);
        CHECK(holds(from, false, &rng));
        CHECK(holds(&to, false, &rng));
        size_t at = below(&rng, VERSIONS);
        drop(&versions[at]);
        versions[at] = to;
        if (step % 7 == 0)
            collect(versions);
        for (size_t i = 0; i < VERSIONS && step % 100 == 99; i++)
            CHECK(holds(&versions[i], true, &rng));
    }
    for (size_t i = 0; i < VERSIONS; i++)
        drop(&versions[i]);
    CHECK(h.budget.stop == PTC_STOP_NONE);
    check_heap_deinit(&h);
}

/* ------------------------------------------------------------------- shapes */

/* Up to all keys and down to none, every version on the way kept for a while. */
static void test_up_and_down(bool set)
{
    uint64_t rng = 42;
    check_heap_init(&h);
    Version v = empty(set), kept[8] = {{0}};
    for (int round = 0; round < 2 * KEYS; round++) {
        Version next = round < KEYS ? put(&v, (size_t)round, false, &rng)
                                    : take_out(&v, v.entries[below(&rng, v.n)].key, &rng);
        drop(&kept[round % 8]);
        kept[round % 8] = v;
        v = next;
        CHECK(ptc_map_count(v.v) == v.n && right_form(&v));
        if (round % 32 == 31)
            for (int i = 0; i < 8; i++)
                CHECK(holds(&kept[i], true, &rng));
    }
    CHECK(v.n == 0 && holds(&v, true, &rng));
    for (int i = 0; i < 8; i++)
        drop(&kept[i]);
    drop(&v);
    check_heap_deinit(&h);
}

/* Keys of one hash only, so that the root of the trie itself is a clash. */
static void test_one_hash(void)
{
    uint64_t rng = 7;
    check_heap_init(&h);
    PtcValue odd[4];
    static const char *const names[] = {"a_x-y_z", "a-x-y_z", "a_x_y_z", "a-x-y-z"};
    for (int i = 0; i < 4; i++)
        odd[i] = ptc_symbol_new(&h.heap, names[i], 7);
    Version v = empty(false);
    for (size_t k = 0; k < 16; k++) {
        Version next = put(&v, k, false, &rng);
        drop(&v);
        v = next;
    }
    PtcValue big = v.v;
    for (int i = 0; i < 4; i++)
        big = ptc_map_assoc(&h.heap, big, odd[i], ptc_int(-i));
    CHECK(ptc_is(big, PTC_T_BMAP) && ptc_map_count(big) == 20);
    for (size_t k = 0; k < 16; k++)
        CHECK(ptc_map_get(&h.heap, big, keys[k].twins[1]) == v.entries[k].value);
    for (int i = 0; i < 4; i++)
        CHECK(ptc_map_get(&h.heap, big, odd[i]) == ptc_int(-i));
    PtcValue other = ptc_map_assoc(&h.heap, big, keys[16].twins[0], ptc_int(5));
    CHECK(ptc_map_get(&h.heap, other, keys[16].twins[1]) == ptc_int(5));
    CHECK(ptc_map_get(&h.heap, big, keys[16].twins[1]) == PTC_NONE);
    PtcValue less = big;
    for (size_t k = 0; k < 9; k++)
        less = ptc_map_dissoc(&h.heap, less, keys[k].twins[1]);
    CHECK(ptc_is(less, PTC_T_BMAP) && ptc_map_count(less) == 11);
    for (size_t k = 0; k < 16; k++)
        CHECK((ptc_map_get(&h.heap, less, keys[k].twins[0]) == PTC_NONE) == (k < 9));
    for (size_t k = 9; k < 16; k++)
        less = ptc_map_dissoc(&h.heap, less, keys[k].twins[1]);
    for (int i = 0; i < 4; i++)
        less = ptc_map_dissoc(&h.heap, less, odd[i]);
    CHECK(ptc_is(less, PTC_T_SMAP) && ptc_map_count(less) == 0);
    drop(&v);
    check_heap_deinit(&h);
}

/* Over all that a heap has handed out. */
static uint64_t checksum(const PtcHeap *heap)
{
    uint64_t sum = 0;
    for (const PtcPage *p = heap->pages; p; p = p->next) {
        const char *end = (const char *)p + PTC_PAGE_BYTES;
        if (p == heap->hole_page)
            end = heap->cur;
        for (const char *at = (const char *)p + PTC_PAGE_FIRST; at < end; at += 8) {
            uint64_t word;
            memcpy(&word, at, 8);
            sum = (sum ^ word) * 0x9e3779b97f4a7c15;
        }
    }
    return sum;
}

/* Removing leaves the trie as it was even when its nodes seem to be the remover's own: an index may
 * lie where a dead one was, whose nodes live on in other versions. */
static void test_remove_copies(void)
{
    enum { N = 3000 };
    static PtcValue slots[N], work[N], scratch[N];
    uint64_t rng = 3;
    check_heap_init(&h);
    PtcValue owner = ptc_map_empty(&h.heap); /* any object will do */
    for (uint32_t i = 0; i < N; i++)
        slots[i] = ptc_hamt_slot((uint32_t)check_random(&rng) & (i % 2 ? 0xffc00fff : ~0u), i);
    memcpy(work, slots, sizeof work);
    PtcValue root = ptc_hamt_build(&h.heap, owner, work, scratch, N);
    for (size_t i = 0; i < N; i++) {
        PtcValue less = ptc_hamt_remove(&h.heap, owner, root, slots[i]);
        const PtcValue *found;
        CHECK(less != root);
        CHECK(ptc_hamt_find(less, (uint32_t)(slots[i] >> 32), &found) == 0 || *found != slots[i]);
        CHECK(ptc_hamt_find(root, (uint32_t)(slots[i] >> 32), &found) != 0);
    }
    /* Nor does inserting touch what is in another heap. */
    PtcHeap younger;
    ptc_heap_init(&younger, &h.pool, &h.budget, SIZE_MAX / 4);
    uint64_t before = checksum(&h.heap);
    for (uint32_t i = 0; i < N; i++) {
        PtcValue slot = ptc_hamt_slot((uint32_t)check_random(&rng), N + i);
        CHECK(ptc_hamt_insert(&younger, owner, root, slot) != root);
    }
    CHECK(checksum(&h.heap) == before);
    ptc_heap_deinit(&younger);
    check_heap_deinit(&h);
}

/* The exact spelling, then the other type, then other dashes; in small and in large maps. */
static void test_precedence(void)
{
    check_heap_init(&h);
    PtcHeap *o = &h.heap;
    for (int filler = 0; filler <= 40; filler += 40) {
        PtcValue m = ptc_map_empty(o);
        for (int i = 0; i < filler; i++)
            m = ptc_map_assoc(o, m, ptc_int(i), PTC_NIL);
        PtcValue key = named(PTC_T_KEYWORD, "a-b");
        CHECK(ptc_map_get_flex(o, m, key) == PTC_NONE);
        PtcValue m1 = ptc_map_assoc(o, m, named(PTC_T_STRING, "a_b"), ptc_int(1));
        CHECK(ptc_map_get_flex(o, m1, key) == ptc_int(1));
        CHECK(ptc_map_get(o, m1, key) == PTC_NONE);
        PtcValue m2 = ptc_map_assoc(o, m1, named(PTC_T_KEYWORD, "a_b"), ptc_int(2));
        CHECK(ptc_map_get_flex(o, m2, key) == ptc_int(1));
        PtcValue m3 = ptc_map_assoc(o, m2, named(PTC_T_STRING, "a-b"), ptc_int(3));
        CHECK(ptc_map_get_flex(o, m3, key) == ptc_int(3));
        PtcValue m4 = ptc_map_assoc(o, m3, key, ptc_int(4));
        CHECK(ptc_map_get_flex(o, m4, named(PTC_T_KEYWORD, "a-b")) == ptc_int(4));
        CHECK(ptc_map_count(m4) == (size_t)filler + 4);
        CHECK(ptc_map_get_flex(o, m4, named(PTC_T_STRING, "a_b")) == ptc_int(1));
        CHECK(ptc_map_get_flex(o, m1, key) == ptc_int(1));
        /* assoc_flex hits what get_flex finds. */
        PtcValue m5 = ptc_map_assoc_flex(o, m2, key, ptc_int(9));
        CHECK(ptc_map_count(m5) == (size_t)filler + 2);
        CHECK(ptc_map_get(o, m5, named(PTC_T_STRING, "a_b")) == ptc_int(9));
        CHECK(ptc_map_get(o, m5, named(PTC_T_KEYWORD, "a_b")) == ptc_int(2));
    }
    check_heap_deinit(&h);
}

/* Two histories that end in one map give one answer where two keys are alike. */
static void test_precedence_and_history(void)
{
    check_heap_init(&h);
    PtcHeap *o = &h.heap;
    PtcValue m = ptc_map_empty(o), one = ptc_int(1), two = ptc_int(2);
    for (int i = 0; i < 40; i++)
        m = ptc_map_assoc(o, m, ptc_int(i), PTC_NIL);
    PtcValue s = named(PTC_T_STRING, "a_b"), k = named(PTC_T_KEYWORD, "a_b");
    PtcValue left = m;
    for (int i = 40; i < 43; i++)
        left = ptc_map_assoc(o, left, ptc_int(i), PTC_NIL);
    left = ptc_map_assoc(o, left, s, one); /* puts s at entry 43 of the index they share */
    PtcValue right = ptc_map_assoc(o, m, ptc_int(-1), PTC_NIL);
    right = ptc_map_assoc(o, right, k, two);
    right = ptc_map_assoc(o, right, ptc_int(-2), PTC_NIL);
    right = ptc_map_assoc(o, right, s, one);
    CHECK(ptc_map_get_flex(o, right, named(PTC_T_KEYWORD, "a-b")) == two);
    CHECK(ptc_map_get_flex(o, left, named(PTC_T_KEYWORD, "a-b")) == one);
    check_heap_deinit(&h);
}

/* After a collection a shape may lie where another was: the look-up cache must not remember. */
static void test_cache(void)
{
    check_heap_init(&h);
    bool good = true;
    for (int round = 0; round < 200; round++) {
        PtcValue m = ptc_map_empty(&h.heap);
        size_t first = (size_t)round % 11;
        for (size_t k = 0; k < 5; k++)
            m = ptc_map_assoc(&h.heap, m, keys[(first + k) * 16].twins[0], ptc_int((int64_t)k));
        for (size_t k = 0; k < 5; k++) {
            PtcValue got = ptc_map_get_flex(&h.heap, m, keys[(first + k) * 16].twins[1]);
            good = good && got == ptc_int((int64_t)k);
        }
        for (size_t k = 0; k < 12; k++) {
            bool in = k >= first && k < first + 5;
            PtcValue got = ptc_map_get_flex(&h.heap, m, keys[k * 16].twins[0]);
            good = good && (got != PTC_NONE) == in;
        }
        ptc_heap_mark_begin(&h.heap);
        ptc_heap_mark_finish(&h.heap);
    }
    CHECK(good);
    check_heap_deinit(&h);
}

/* Maps that took the same steps share their shape. */
static void test_shapes(void)
{
    check_heap_init(&h);
    PtcValue rows[50];
    for (int i = 0; i < 50; i++) {
        rows[i] = ptc_map_empty(&h.heap);
        for (size_t k = 0; k < 6; k++)
            rows[i] = ptc_map_assoc(&h.heap, rows[i], keys[k * 16].twins[0], ptc_int(i));
    }
    PtcValue shape = ((PtcSmap *)(uintptr_t)rows[0])->shape;
    for (int i = 0; i < 50; i++)
        CHECK(((PtcSmap *)(uintptr_t)rows[i])->shape == shape);
    check_heap_deinit(&h);
}

/* ------------------------------------------------------- memory and the ledger */

/* A builder that loses any of its allocations gives everything back. */
static void test_build_fails(void)
{
    check_heap_init(&h);
    CHECK(ptc_build_new(&h.heap) != PTC_NONE); /* the first page */
    int failures = 0;
    for (uint64_t nth = 1; nth < 20; nth++) {
        PtcDictBuild b;
        size_t used = h.mem.used, held = h.heap.page_bytes;
        ptc_mem_fail_at(&h.mem, nth);
        bool ok = ptc_dict_build_init(&b, &h.heap, false);
        for (size_t k = 0; ok && k < KEYS; k++)
            ok = ptc_dict_build_put(&b, keys[k].twins[0], ptc_int((int64_t)k));
        PtcValue m = PTC_NONE;
        if (ok)
            m = ptc_dict_build_done(&b);
        else
            ptc_dict_build_cancel(&b);
        ptc_mem_fail_at(&h.mem, 0);
        CHECK((m == PTC_NONE) == (h.budget.stop == PTC_STOP_MEMORY));
        CHECK(h.heap.page_bytes != held || h.mem.used == used);
        CHECK(m == PTC_NONE || ptc_map_count(m) == KEYS);
        failures += m == PTC_NONE;
        h.budget.stop = PTC_STOP_NONE;
    }
    CHECK(failures >= 8);
    check_heap_deinit(&h);
}

/* From here on only so many words can be had. */
static void leave_words(size_t words)
{
    while ((size_t)(h.heap.end - h.heap.cur) < 8 * words)
        CHECK(ptc_heap_alloc(&h.heap, 64) != NULL);
    h.heap.end = h.heap.cur + 8 * words;
    h.heap.over = h.heap.over_end = NULL;
    h.heap.limit = h.heap.used;
}

/* Each operation with room for 0, 1, 2 ... words only: it fails without a trace, and succeeds when
 * tried again with room. */
static void test_short_of_memory(bool set)
{
    static const size_t sizes[] = {0, 5, 15, 16, 17, 18, 33, 60, 200};
    uint64_t rng = 99;
    long failures = 0;
    check_heap_init(&h);
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
        for (size_t words = 0; words < 200; words += words < 12 ? 1 : 5) {
            Version v = empty(set);
            for (size_t k = 0; k < sizes[s]; k++) {
                Version next = put(&v, k * 3, false, &rng);
                drop(&v);
                v = next;
            }
            bool add = v.n == 0 || words % 2;
            leave_words(words);
            size_t key = add ? KEYS - 1 : v.entries[v.n / 2].key;
            Version w = add ? put(&v, key, false, &rng) : take_out(&v, key, &rng);
            CHECK((w.v == PTC_NONE) == (h.budget.stop == PTC_STOP_MEMORY));
            failures += w.v == PTC_NONE;
            h.budget.stop = PTC_STOP_NONE;
            h.heap.limit = SIZE_MAX / 4;
            if (w.v == PTC_NONE) {
                drop(&w);
                w = add ? put(&v, key, false, &rng) : take_out(&v, key, &rng);
            }
            CHECK(holds(&v, true, &rng));
            CHECK(holds(&w, true, &rng));
            drop(&v);
            drop(&w);
        }
    CHECK(failures > 50);
    check_heap_deinit(&h);
}

/* A heap on top of another: what the older one holds must not be written to. */
static void test_two_heaps(bool set)
{
    uint64_t rng = 1234;
    for (size_t n = 3; n < 300; n = n * 2 + 1) {
        PtcHeap base_heap;
        check_heap_init(&h);
        ptc_heap_init(&base_heap, &h.pool, &h.budget, SIZE_MAX / 4);
        Version v = empty(set);
        for (size_t k = 0; k < n; k++) {
            Version next = put(&v, k, false, &rng);
            drop(&v);
            v = next;
        }
        ptc_heap_adopt(&base_heap, &h.heap);
        uint64_t before = checksum(&base_heap);
        Mix mix = {0, KEYS, 70};
        for (int i = 0; i < 50; i++) {
            Version w = random_walk(&v, &mix, &rng);
            CHECK(holds(&w, false, &rng) && holds(&v, false, &rng));
            drop(&w);
        }
        CHECK(holds(&v, true, &rng) && checksum(&base_heap) == before);
        ptc_heap_deinit(&h.heap); /* the older heap needs nothing of the younger */
        ptc_heap_init(&h.heap, &h.pool, &h.budget, SIZE_MAX / 4);
        CHECK(holds(&v, true, &rng));
        drop(&v);
        ptc_heap_deinit(&base_heap);
        check_heap_deinit(&h);
    }
}

/* Fields by name in small, large and sorted maps: only string keys count, and names of any length are found. */
static void test_fields(void)
{
    char long_name[101] = {0};
    memset(long_name, 'n', 100);
    PtcValue map = ptc_map_empty(&older);
    CHECK(ptc_map_field(&older, map, "a") == PTC_NONE);
    CHECK(ptc_map_field(&older, PTC_NONE, "a") == PTC_NONE);
    CHECK(ptc_map_field(&older, PTC_NIL, "a") == PTC_NONE);
    CHECK(ptc_map_field(&older, ptc_int(1), "a") == PTC_NONE);
    map = ptc_map_assoc(&older, map, named(PTC_T_KEYWORD, "a"), ptc_int(1));
    map = ptc_map_assoc(&older, map, named(PTC_T_STRING, "a_b"), ptc_int(2));
    map = ptc_map_assoc(&older, map, named(PTC_T_STRING, long_name), ptc_int(3));
    map = ptc_map_assoc(&older, map, named(PTC_T_STRING, ""), ptc_int(4));
    for (int large = 0; large < 2; large++) {
        CHECK(ptc_map_field(&older, map, "a") == PTC_NONE);
        CHECK(ptc_map_field(&older, map, "a-b") == PTC_NONE);
        CHECK(ptc_map_field(&older, map, "a_b") == ptc_int(2));
        CHECK(ptc_map_field(&older, map, long_name) == ptc_int(3));
        CHECK(ptc_map_field(&older, map, "") == ptc_int(4));
        for (int i = 0; i < 100; i++) {
            char name[NAME];
            snprintf(name, sizeof name, "k%d", i);
            map = ptc_map_assoc(&older, map, named(PTC_T_STRING, name), ptc_int(i));
        }
    }
    CHECK(ptc_map_field(&older, map, "k99") == ptc_int(99));
    CHECK(ptc_map_field(&older, map, "k100") == PTC_NONE);
}

int main(void)
{
    CheckHeap rest;
    check_heap_init(&rest);
    ptc_heap_init(&older, &rest.pool, &rest.budget, SIZE_MAX / 4);
    make_keys();
    for (int set = 0; set < 2; set++) {
        for (uint64_t seed = 1; seed <= 4; seed++) {
            test_random(seed * 0x9e3779b97f4a7c15, set, 0, 48, check_rounds(1200));
            test_random(seed * 0xbf58476d1ce4e5b9, set, 0, 220, check_rounds(1200));
            test_random(seed * 0x94d049bb133111eb, set, 0, KEYS, check_rounds(1200));
        }
        test_up_and_down(set);
        test_short_of_memory(set);
        test_two_heaps(set);
    }
    test_one_hash();
    test_remove_copies();
    test_precedence();
    test_precedence_and_history();
    test_cache();
    test_shapes();
    test_fields();
    test_build_fails();
    ptc_heap_deinit(&older);
    check_heap_deinit(&rest);
    return check_done("map");
}
