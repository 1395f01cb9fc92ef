/* SPDX-License-Identifier: MIT
 * Vectors and the other sequentials against plain arrays.  Many versions live side by side, so that
 * writing into a shared place shows up in the version that must not change. */
#include "check.h"

#include <stdlib.h>

#include "value/coll/iter.h"
#include "value/coll/vec.h"
#include "value/str.h"

static CheckHeap h;
static PtcHeap *in = &h.heap; /* where things are made */
static int64_t fresh;         /* every element is another number */

/* A sequential and what it must hold. */
typedef struct {
    PtcValue v;
    int64_t *items;
    size_t n;
    bool seq; /* must be flagged as a seq */
} Version;

enum { VERSIONS = 24 };

static uint64_t below(uint64_t *rng, uint64_t n)
{
    return (check_random(rng) >> 11) % n;
}

static Version copy_of(const Version *from, size_t start, size_t n, size_t room)
{
    Version to = {PTC_NONE, malloc((n + room + 1) * sizeof(int64_t)), n, from->seq};
    if (n)
        memcpy(to.items, from->items + start, n * sizeof(int64_t));
    return to;
}

static void drop(Version *x)
{
    free(x->items);
    *x = (Version){PTC_NONE, NULL, 0, false};
}

/* ---------------------------------------------------------------- comparing */

static bool same_by_chunks(const Version *x)
{
    PtcTag tag = ptc_tag(x->v);
    if (tag == PTC_T_RANGE || tag == PTC_T_CONS)
        return true;
    size_t n = 0;
    for (size_t i = 0; i < x->n; i += n) {
        const PtcValue *p = ptc_vec_chunk(x->v, i, &n);
        if (n == 0 || n > PTC_FLAT_MAX || n > x->n - i)
            return false;
        for (size_t k = 0; k < n; k++)
            if (p[k] != ptc_int(x->items[i + k]))
                return false;
    }
    return true;
}

static bool same_by_iter(const Version *x)
{
    PtcIter it;
    PtcValue got;
    size_t i = 0;
    if (!ptc_iter_init(&it, &h.heap, x->v))
        return false;
    while (ptc_iter_hint(&it) == x->n - i && ptc_iter_next(&it, &got)) {
        if (i >= x->n || got != ptc_int(x->items[i]))
            return false;
        i++;
    }
    return i == x->n && !it.failed && ptc_iter_hint(&it) == 0 && !ptc_iter_next(&it, &got);
}

/* Elements by number: all of a short one, a sample of a long one and of cons lists. */
static bool same_by_nth(const Version *x)
{
    size_t step = x->n < 200 ? 1 : ptc_is(x->v, PTC_T_CONS) ? x->n / 8 : x->n / 300 + 1;
    for (size_t i = 0; i < x->n; i += step)
        if (ptc_seq_nth(x->v, i) != ptc_int(x->items[i]))
            return false;
    return x->n == 0 || ptc_seq_nth(x->v, x->n - 1) == ptc_int(x->items[x->n - 1]);
}

static bool holds(const Version *x)
{
    return x->v != PTC_NONE && ptc_is_sequential(x->v) && ptc_seq_count(x->v) == x->n &&
           ptc_is_seq_flagged(x->v) == x->seq && same_by_iter(x) && same_by_nth(x) &&
           same_by_chunks(x);
}

static void check_all(const Version *versions)
{
    for (size_t i = 0; i < VERSIONS; i++)
        CHECK(holds(&versions[i]));
}

static void collect(const Version *versions)
{
    ptc_heap_mark_begin(&h.heap);
    for (size_t i = 0; i < VERSIONS; i++)
        ptc_heap_mark(&h.heap, versions[i].v);
    ptc_heap_mark_finish(&h.heap);
}

/* ------------------------------------------------------------------- making */

static Version made_by_new(size_t n, bool seq)
{
    Version to = {PTC_NONE, malloc((n + 1) * sizeof(int64_t)), n, seq};
    PtcValue *items = malloc((n + 1) * sizeof *items);
    for (size_t i = 0; i < n; i++) {
        to.items[i] = fresh++;
        items[i] = ptc_int(to.items[i]);
    }
    to.v = ptc_vec_new(in, items, n, seq ? PTC_SEQ : 0);
    free(items);
    return to;
}

/* The same through a builder, some elements put right afterwards. */
static Version made_by_build(size_t n, bool seq, uint64_t *rng)
{
    Version to = {PTC_NONE, malloc((n + 1) * sizeof(int64_t)), n, seq};
    PtcValue b = ptc_build_new(in);
    for (size_t i = 0; i < n; i++) {
        to.items[i] = fresh++;
        CHECK(ptc_build_add(in, b, ptc_int(to.items[i])));
        if (below(rng, 8) == 0) {
            size_t k = below(rng, i + 1);
            CHECK(*ptc_build_slot(b, k) == ptc_int(to.items[k]));
            to.items[k] = fresh++;
            *ptc_build_slot(b, k) = ptc_int(to.items[k]);
        }
    }
    CHECK(ptc_build_count(b) == n);
    to.v = ptc_build_done(in, b, seq ? PTC_SEQ : 0);
    return to;
}

static Version made_by_range(size_t n, uint64_t *rng)
{
    static const int64_t steps[] = {1, -1, 7, 0, -1000003, 1 << 20};
    Version to = {PTC_NONE, malloc((n + 1) * sizeof(int64_t)), n, true};
    int64_t start = (int64_t)below(rng, 1000), step = steps[below(rng, 6)];
    for (size_t i = 0; i < n; i++)
        to.items[i] = start + (int64_t)i * step;
    to.v = ptc_range_new(in, start, step, n);
    return to;
}

/* ----------------------------------------------------------------- changing */

static bool is_vector(const Version *x)
{
    return ptc_is(x->v, PTC_T_FLAT) || ptc_is(x->v, PTC_T_VEC) || ptc_is(x->v, PTC_T_SLICE);
}

static Version append(const Version *x, size_t times)
{
    Version to = copy_of(x, 0, x->n, times);
    to.v = x->v;
    for (; times > 0; times--) {
        to.items[to.n] = fresh++;
        to.v = ptc_vec_conj(in, to.v, ptc_int(to.items[to.n]));
        to.n++;
    }
    return to;
}

static Version append_pairs(const Version *x, size_t times)
{
    Version to = copy_of(x, 0, x->n, 2 * times);
    to.v = x->v;
    for (; times > 0; times--) {
        to.items[to.n] = fresh++;
        to.items[to.n + 1] = fresh++;
        to.v = ptc_vec_conj2(in, to.v, ptc_int(to.items[to.n]), ptc_int(to.items[to.n + 1]));
        to.n += 2;
    }
    return to;
}

static Version pop(const Version *x, size_t times)
{
    times = times < x->n ? times : x->n;
    Version to = copy_of(x, 0, x->n - times, 0);
    to.v = x->v;
    for (; times > 0; times--)
        to.v = ptc_vec_pop(in, to.v);
    return to;
}

static Version assoc(const Version *x, uint64_t *rng)
{
    Version to = copy_of(x, 0, x->n, 0);
    size_t i = below(rng, 3) ? below(rng, x->n) : x->n - 1;
    to.items[i] = fresh++;
    to.v = ptc_vec_assoc(in, x->v, i, ptc_int(to.items[i]));
    return to;
}

static Version cut(const Version *x, uint64_t *rng)
{
    static const size_t near[] = {0, 1, 2, 3, 31, 32, 33};
    size_t start = below(rng, 4) ? near[below(rng, 7)] : below(rng, x->n + 1);
    start = start < x->n ? start : x->n;
    /* Often up to the end: such a slice grows in place. */
    size_t n = below(rng, 2) ? x->n - start : below(rng, x->n - start + 1);
    Version to = copy_of(x, start, n, 0);
    to.seq = below(rng, 2);
    to.v = ptc_seq_slice(in, x->v, start, n, to.seq ? PTC_SEQ : 0);
    if (ptc_is(to.v, PTC_T_CONS))
        to.seq = true;
    return to;
}

static Version cons(const Version *x, size_t times)
{
    Version to = {x->v, malloc((x->n + times + 1) * sizeof(int64_t)), x->n + times, true};
    memcpy(to.items + times, x->items, x->n * sizeof(int64_t));
    for (; times > 0; times--) {
        to.items[times - 1] = fresh++;
        to.v = ptc_cons_new(in, ptc_int(to.items[times - 1]), to.v);
    }
    return to;
}

static Version random_new(size_t most, uint64_t *rng)
{
    size_t n = below(rng, 2) ? below(rng, 70) : below(rng, most);
    switch (below(rng, 3)) {
    case 0: return made_by_new(n, below(rng, 2));
    case 1: return made_by_build(n, below(rng, 2), rng);
    default: return made_by_range(n, rng);
    }
}

/* How far one step goes: mostly one, now and then over a boundary. */
static size_t stride(uint64_t *rng)
{
    return below(rng, 6) ? 1 : 1 + below(rng, 80);
}

static Version random_step(const Version *x, size_t most, uint64_t *rng)
{
    uint64_t what = below(rng, 20);
    if (what == 0 || (x->n > most && what < 4))
        return random_new(most, rng);
    if (what < 3)
        return cons(x, stride(rng));
    if (what < 6 || !is_vector(x) || x->n == 0)
        return is_vector(x) && x->n == 0 ? append(x, stride(rng)) : cut(x, rng);
    if (what < 9)
        return pop(x, stride(rng));
    if (what < 12)
        return assoc(x, rng);
    if (what < 14)
        return append_pairs(x, stride(rng));
    return append(x, stride(rng));
}

static void test_random(uint64_t seed, size_t most, int steps)
{
    Version versions[VERSIONS];
    uint64_t rng = seed;
    check_heap_init(&h);
    for (size_t i = 0; i < VERSIONS; i++)
        versions[i] = random_new(most, &rng);
    for (int step = 0; step < steps; step++) {
        const Version *from = &versions[below(&rng, VERSIONS)];
        Version to = random_step(from, most, &rng);
        CHECK(holds(from));
        CHECK(holds(&to));
        size_t at = below(&rng, VERSIONS);
        drop(&versions[at]);
        versions[at] = to;
        if (step % 50 == 0)
            check_all(versions);
        if (step % 97 == 0)
            collect(versions);
    }
    check_all(versions);
    for (size_t i = 0; i < VERSIONS; i++)
        drop(&versions[i]);
    CHECK(h.budget.stop == PTC_STOP_NONE);
    check_heap_deinit(&h);
}

/* ------------------------------------------------------------------- shapes */

static const size_t edges[] = {0,    1,     2,     31,    32,    33,    34,   63,
                               64,   65,    66,    1023,  1024,  1025,  1055, 1056,
                               1057, 1058,  1087,  1088,  1089,  2048,  2080, 2081,
                               4000, 32767, 32768, 32799, 32800, 32801, 32833};
enum { EDGES = sizeof edges / sizeof edges[0] };

/* From every edge two branches that append different things, in turns, and one that shrinks. */
static void test_branches(void)
{
    check_heap_init(&h);
    for (size_t e = 0; e < EDGES; e++) {
        Version base = made_by_new(edges[e], false);
        Version a = append(&base, 1), b = append(&base, 1), c = pop(&base, 1);
        for (int i = 0; i < 70; i++) {
            Version a2 = append(&a, 1), b2 = append(&b, 1), c2 = i % 3 ? pop(&c, 1) : append(&c, 1);
            Version back = pop(&a2, 1), again = append(&back, 1);
            bool look = edges[e] < 100 || i % 16 == 0 || i == 69;
            CHECK(!look || (holds(&a) && holds(&b) && holds(&c) && holds(&a2) && holds(&b2)));
            CHECK(!look || (holds(&c2) && holds(&back) && holds(&again)));
            drop(&a);
            drop(&b);
            drop(&c);
            drop(&back);
            drop(&again);
            a = a2;
            b = b2;
            c = c2;
        }
        CHECK(holds(&base));
        drop(&base);
        drop(&a);
        drop(&b);
        drop(&c);
    }
    check_heap_deinit(&h);
}

/* Down to nothing and up again, past every edge. */
static void test_down_and_up(void)
{
    check_heap_init(&h);
    Version top = made_by_new(33900, false), v = copy_of(&top, 0, top.n, 0);
    v.v = top.v;
    while (v.n > 0) {
        v.v = ptc_vec_pop(&h.heap, v.v);
        v.n--;
        CHECK(ptc_seq_count(v.v) == v.n);
        CHECK(v.n == 0 || ptc_seq_nth(v.v, v.n - 1) == ptc_int(v.items[v.n - 1]));
        if (v.n % 1000 == 0 || v.n < 40)
            CHECK(holds(&v));
    }
    while (v.n < top.n) {
        v.items[v.n] = fresh++;
        v.v = ptc_vec_conj(&h.heap, v.v, ptc_int(v.items[v.n]));
        v.n++;
        if (v.n % 1000 == 0 || v.n < 40)
            CHECK(holds(&v));
    }
    CHECK(holds(&v));
    CHECK(holds(&top));
    drop(&v);
    drop(&top);
    check_heap_deinit(&h);
}

/* A queue: conj at the end, rest at the front; memory must follow what is in it. */
static void test_queue(void)
{
    enum { LONG = 200, TURNS = 100000 };
    check_heap_init(&h);
    PtcValue q = ptc_vec_new(&h.heap, NULL, 0, 0);
    bool good = true;
    size_t most = 0;
    for (int64_t i = 0; i < TURNS; i++) {
        q = ptc_vec_conj(&h.heap, q, ptc_int(i));
        if (i >= LONG)
            q = ptc_seq_slice(&h.heap, q, 1, ptc_seq_count(q) - 1, 0);
        good = good && ptc_to_int(ptc_seq_nth(q, 0)) == (i >= LONG ? i - LONG + 1 : 0);
        good = good && ptc_to_int(ptc_seq_nth(q, ptc_seq_count(q) - 1)) == i;
        if (i % 5000 == 0) {
            ptc_heap_mark_begin(&h.heap);
            ptc_heap_mark(&h.heap, q);
            ptc_heap_mark_finish(&h.heap);
            most = h.heap.live > most ? h.heap.live : most;
        }
    }
    CHECK(good);
    CHECK(ptc_seq_count(q) == LONG);
    CHECK(most < 64 * LONG);
    check_heap_deinit(&h);
}

/* ----------------------------------------------------------- two heaps, limits */

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

/* A run's heap on top of another: what the older heap holds must not be written to. */
static void test_two_heaps(void)
{
    PtcHeap older;
    check_heap_init(&h);
    ptc_heap_init(&older, &h.pool, &h.budget, SIZE_MAX / 4);
    for (size_t e = 0; e < EDGES; e++) {
        in = &older;
        Version made = made_by_new(edges[e], false), base = append(&made, 1);
        in = &h.heap;
        CHECK(ptc_heap_owns(&older, base.v));
        uint64_t before = checksum(&older);
        Version a = append(&base, 40), b = append(&base, 3), c = assoc(&base, &(uint64_t){7});
        Version d = pop(&base, 1), d2 = append(&d, 2);
        CHECK(checksum(&older) == before);
        PtcValue x = ptc_int(fresh++), in_place = ptc_vec_conj(&older, base.v, x);
        CHECK(holds(&made) && holds(&base) && holds(&a) && holds(&b) && holds(&c));
        CHECK(holds(&d) && holds(&d2));
        CHECK(ptc_seq_nth(in_place, base.n) == x && ptc_seq_count(in_place) == base.n + 1);
        Version *all[] = {&made, &base, &a, &b, &c, &d, &d2};
        for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
            drop(all[i]);
    }
    ptc_heap_deinit(&older);
    check_heap_deinit(&h);
}

typedef enum { OP_CONJ, OP_CONJ2, OP_ASSOC, OP_POP, OP_CUT, OP_CONS, OP_COUNT } Op;

static PtcValue apply(Op op, PtcValue v)
{
    size_t n = ptc_seq_count(v);
    switch (op) {
    case OP_CONJ: return ptc_vec_conj(&h.heap, v, ptc_int(-1));
    case OP_CONJ2: return ptc_vec_conj2(&h.heap, v, ptc_int(-1), ptc_int(-2));
    case OP_ASSOC: return ptc_vec_assoc(&h.heap, v, n / 2, ptc_int(-1));
    case OP_POP: return ptc_vec_pop(&h.heap, v);
    case OP_CUT: return ptc_seq_slice(&h.heap, v, 1, n - 1, PTC_SEQ);
    default: return ptc_cons_new(&h.heap, ptc_int(-1), v);
    }
}

/* What apply must give. */
static Version expected(Op op, const Version *x)
{
    Version to = copy_of(x, op == OP_CUT, x->n - (op == OP_CUT || op == OP_POP), 2);
    to.seq = op == OP_CUT || op == OP_CONS;
    if (op == OP_ASSOC)
        to.items[x->n / 2] = -1;
    if (op == OP_CONJ || op == OP_CONJ2)
        to.items[to.n++] = -1;
    if (op == OP_CONJ2)
        to.items[to.n++] = -2;
    if (op == OP_CONS) {
        memmove(to.items + 1, x->items, x->n * sizeof(int64_t));
        to.items[0] = -1;
        to.n++;
    }
    return to;
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
static void test_short_of_memory(void)
{
    static const size_t sizes[] = {3, 31, 32, 33, 64, 65, 1055, 1056, 1057, 2080};
    check_heap_init(&h);
    long failures = 0;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
        for (Op op = 0; op < OP_COUNT; op++)
            for (size_t words = 0; words < 120; words += words < 12 ? 1 : 7) {
                Version base = made_by_new(sizes[s], false), want = expected(op, &base);
                leave_words(words);
                size_t used = h.heap.used;
                want.v = apply(op, base.v);
                CHECK((want.v == PTC_NONE) == (h.budget.stop == PTC_STOP_MEMORY));
                CHECK(h.heap.used == used);
                failures += want.v == PTC_NONE;
                h.budget.stop = PTC_STOP_NONE;
                h.heap.limit = SIZE_MAX / 4;
                if (want.v == PTC_NONE)
                    want.v = apply(op, base.v);
                CHECK(holds(&want));
                CHECK(holds(&base));
                drop(&base);
                drop(&want);
            }
    CHECK(failures > 500);
    check_heap_deinit(&h);
}

/* ------------------------------------------------------------------ the rest */

static void test_ranges(void)
{
    check_heap_init(&h);
    /* Both ends of what a small integer holds. */
    PtcValue wide = ptc_range_new(&h.heap, PTC_INT_MIN, PTC_INT_MAX, 3);
    CHECK(ptc_to_int(ptc_seq_nth(wide, 0)) == PTC_INT_MIN);
    CHECK(ptc_to_int(ptc_seq_nth(wide, 2)) == PTC_INT_MAX - 1);
    PtcValue back = ptc_range_new(&h.heap, PTC_INT_MAX, PTC_INT_MIN, 2);
    CHECK(ptc_to_int(ptc_seq_nth(back, 1)) == -1);
    PtcValue last = ptc_seq_slice(&h.heap, wide, 2, 1, PTC_SEQ);
    CHECK(ptc_seq_count(last) == 1 && ptc_to_int(ptc_seq_nth(last, 0)) == PTC_INT_MAX - 1);
    PtcIter it;
    PtcValue x = PTC_NONE;
    CHECK(ptc_iter_init(&it, &h.heap, wide));
    while (ptc_iter_next(&it, &x)) {
    }
    CHECK(ptc_to_int(x) == PTC_INT_MAX - 1);
    PtcValue none = ptc_seq_slice(&h.heap, wide, 3, 0, 0);
    CHECK(ptc_seq_count(none) == 0 && ptc_is(none, PTC_T_FLAT));
    /* A length that does not fit the header. */
    CHECK(ptc_range_new(&h.heap, 0, 0, UINT32_MAX) == PTC_NONE);
    CHECK(h.budget.stop == PTC_STOP_SIZE);
    check_heap_deinit(&h);
}

static void test_iter_others(void)
{
    static const char *const parts[] = {"a", "e\xcc\x81", "\xf0\x9f\x87\xa9\xf0\x9f\x87\xaa", "z"};
    check_heap_init(&h);
    PtcValue s = ptc_str_new(&h.heap, "ae\xcc\x81\xf0\x9f\x87\xa9\xf0\x9f\x87\xaaz", 13), x;
    PtcIter it;
    size_t i = 0;
    CHECK(ptc_iter_init(&it, &h.heap, s));
    for (; ptc_iter_next(&it, &x); i++)
        CHECK(i < 4 && strcmp(ptc_str_bytes(x), parts[i]) == 0);
    CHECK(i == 4);
    CHECK(ptc_iter_init(&it, &h.heap, PTC_NIL) && !ptc_iter_next(&it, &x) && !it.failed);
    CHECK(!ptc_iter_init(&it, &h.heap, ptc_int(1)) && !ptc_is_seqable(ptc_int(1)));
    CHECK(!ptc_iter_init(&it, &h.heap, PTC_TRUE) && !ptc_is_seqable(PTC_TRUE));
    CHECK(ptc_is_seqable(PTC_NIL) && ptc_is_seqable(s));
    PtcValue pair = ptc_vec_pair(&h.heap, PTC_TRUE, PTC_FALSE);
    CHECK(ptc_seq_count(pair) == 2 && ptc_seq_nth(pair, 0) == PTC_TRUE);
    CHECK(!ptc_is_seq_flagged(pair) && (ptc_obj(pair)->flags & PTC_ENTRY));
    /* What is made from an entry is no entry. */
    PtcValue more[] = {ptc_vec_conj(&h.heap, pair, PTC_NIL),
                       ptc_vec_assoc(&h.heap, pair, 0, PTC_NIL), ptc_vec_pop(&h.heap, pair),
                       ptc_seq_slice(&h.heap, pair, 1, 1, 0)};
    for (i = 0; i < 4; i++)
        CHECK((ptc_obj(more[i])->flags & PTC_ENTRY) == 0);
    /* Without room for a grapheme the iterator fails. */
    CHECK(ptc_iter_init(&it, &h.heap, s));
    h.heap.end = h.heap.cur;
    h.heap.limit = 0;
    CHECK(!ptc_iter_next(&it, &x) && it.failed && h.budget.stop == PTC_STOP_MEMORY);
    check_heap_deinit(&h);
}

int main(void)
{
    for (uint64_t seed = 1; seed <= 12; seed++)
        test_random(seed * 0x9e3779b97f4a7c15, 200, 1500);
    for (uint64_t seed = 1; seed <= 4; seed++)
        test_random(seed * 0xbf58476d1ce4e5b9, 2500, 1500);
    test_random(0x94d049bb133111eb, 36000, 1500);
    test_branches();
    test_down_and_up();
    test_queue();
    test_two_heaps();
    test_short_of_memory();
    test_ranges();
    test_iter_others();
    return check_done("vec");
}
