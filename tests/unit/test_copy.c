/* SPDX-License-Identifier: MIT
 * Copies into another heap: object by object the same graph, sharing and cycles included. */
#include "check.h"

#include <math.h>
#include <stdlib.h>

#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/copy.h"
#include "value/equal.h"
#include "value/number/bigint.h"
#include "value/str.h"

static CheckHeap h; /* what is copied */
static PtcHeap to;  /* where it goes */

static uint64_t below(uint64_t *rng, uint64_t n)
{
    return (check_random(rng) >> 11) % n;
}

static void begin(void)
{
    check_heap_init(&h);
    ptc_heap_init(&to, &h.pool, &h.budget, SIZE_MAX / 4);
}

static void end(void)
{
    ptc_heap_deinit(&to);
    check_heap_deinit(&h);
}

static PtcValue copied(PtcValue v)
{
    PtcCopy c;
    ptc_copy_init(&c, &to);
    PtcValue w = ptc_copy_value(&c, v);
    ptc_copy_deinit(&c);
    return w;
}

/* -------------------------------------------------------------- isomorphism */

/* Pairs met so far, in an open-addressed table by the old value, and the pairs still to look at. */
typedef struct {
    PtcValue (*pairs)[2];
    size_t cap, count;
    PtcValue (*todo)[2];
    size_t depth;
} Matching;

static PtcValue *partner(Matching *m, PtcValue v)
{
    size_t at = (size_t)((v >> 3) * 0x9e3779b97f4a7c15) % m->cap;
    while (m->pairs[at][0] != PTC_NONE && m->pairs[at][0] != v)
        at = (at + 1) % m->cap;
    return m->pairs[at];
}

/* Notes that a became b; false when that contradicts what was seen or must be. */
static bool meet(Matching *m, PtcValue a, PtcValue b)
{
    if (!ptc_is_obj(a) || ptc_heap_owns(&to, a))
        return a == b;
    if (!ptc_is_obj(b) || !ptc_heap_owns(&to, b) || m->count * 2 > m->cap)
        return false;
    PtcValue *pair = partner(m, a);
    if (pair[0] == a)
        return pair[1] == b;
    pair[0] = a;
    pair[1] = b;
    m->todo[m->depth][0] = a;
    m->todo[m->depth++][1] = b;
    m->count++;
    return true;
}

/* Two objects, but for their values: header and plain bytes. */
static bool same_body(PtcValue a, PtcValue b)
{
    const PtcObj *x = ptc_obj(a), *y = ptc_obj(b);
    if (x->type != y->type || x->flags != y->flags || x->aux != y->aux || x->count != y->count)
        return false;
    PtcLayout p = ptc_object_layout(x), q = ptc_object_layout(y);
    if (p.size != q.size || p.value_count != q.value_count)
        return false;
    /* A node's unused slots hold nothing. */
    size_t size = x->type == PTC_T_NODE   ? sizeof(PtcNode) + x->count * sizeof(PtcValue)
                  : x->type == PTC_T_HAMT ? offsetof(PtcHamt, slots) + x->count * sizeof(PtcValue)
                                          : p.size;
    size_t from = p.value_count ? (size_t)((const char *)p.values - (const char *)x) : size;
    size_t after = from + p.value_count * sizeof(PtcValue);
    return memcmp(x, y, from) == 0 &&
           (after >= size ||
            memcmp((const char *)x + after, (const char *)y + after, size - after) == 0);
}

static size_t entry_count(PtcValue v)
{
    return ptc_seq_count(((PtcDict *)(uintptr_t)v)->entries) / (ptc_is_map(v) ? 2 : 1);
}

/* A short slice may become a vector of its own. */
static bool meet_elements(Matching *m, PtcValue a, PtcValue b)
{
    size_t n = ptc_seq_count(a);
    if (!ptc_is_sequential(b) || ptc_seq_count(b) != n || ptc_obj(a)->flags != ptc_obj(b)->flags)
        return false;
    for (size_t i = 0; i < n; i++)
        if (!meet(m, ptc_seq_nth(a, i), ptc_seq_nth(b, i)))
            return false;
    return true;
}

/* A map that shares its index with newer versions gets an index of its own. */
static bool meet_entries(Matching *m, PtcValue a, PtcValue b)
{
    const PtcDict *x = (PtcDict *)(uintptr_t)a, *y = (PtcDict *)(uintptr_t)b;
    PtcValue key, value;
    if (!same_body(a, b) || !ptc_heap_owns(&to, y->index))
        return false;
    if (ptc_obj(y->index)->count > entry_count(b))
        return meet(m, x->index, y->index) && meet(m, x->entries, y->entries);
    for (size_t pos = 0; ptc_map_next(a, &pos, &key, &value);)
        if (ptc_is_map(a) ? ptc_map_get(&to, b, key) == PTC_NONE : !ptc_set_has(&to, b, key))
            return false;
    return meet(m, x->entries, y->entries);
}

/* Compares the insides of two objects. */
static bool meet_inside(Matching *m, PtcValue a, PtcValue b)
{
    if (ptc_is(a, PTC_T_SLICE) && !ptc_is(b, PTC_T_SLICE))
        return meet_elements(m, a, b);
    if ((ptc_is(a, PTC_T_BMAP) || ptc_is(a, PTC_T_BSET)) &&
        ptc_obj(((PtcDict *)(uintptr_t)a)->index)->count > entry_count(a))
        return ptc_tag(a) == ptc_tag(b) && meet_entries(m, a, b);
    if (!same_body(a, b))
        return false;
    PtcLayout p = ptc_object_layout(ptc_obj(a)), q = ptc_object_layout(ptc_obj(b));
    for (size_t i = 0; i < p.value_count; i++)
        if (!meet(m, p.values[i], q.values[i]))
            return false;
    return true;
}

/* Is b the same graph as a, made of other objects, all of them in `to`? */
static bool isomorphic(PtcValue a, PtcValue b, size_t *objects)
{
    enum { CAP = 1 << 21 };
    Matching m = {.cap = CAP};
    m.pairs = calloc(CAP, sizeof *m.pairs);
    m.todo = malloc(CAP * sizeof *m.todo);
    bool good = meet(&m, a, b);
    while (good && m.depth > 0) {
        m.depth--;
        PtcValue x = m.todo[m.depth][0], y = m.todo[m.depth][1];
        good = meet_inside(&m, x, y);
    }
    if (objects)
        *objects = m.count;
    free(m.pairs);
    free(m.todo);
    return good;
}

static size_t live_from(PtcHeap *heap, PtcValue v)
{
    ptc_heap_mark_begin(heap);
    ptc_heap_mark(heap, v);
    ptc_heap_mark_finish(heap);
    return heap->live;
}

/* ------------------------------------------------------------------- values */

static PtcValue pair_of(PtcValue a, PtcValue b)
{
    PtcValue both[] = {a, b};
    return ptc_vec_new(&h.heap, both, 2, 0);
}

static PtcValue str(const char *s)
{
    return ptc_str_new(&h.heap, s, strlen(s));
}

static PtcValue object(PtcTag tag, size_t size, uint32_t count)
{
    PtcObj *o = ptc_heap_object(&h.heap, tag, size, count);
    memset(o + 1, 0, size - sizeof *o);
    return ptc_from_obj(o);
}

static PtcValue node_of(const PtcValue *items, uint32_t n)
{
    PtcValue v = object(PTC_T_NODE, sizeof(PtcNode) + n * sizeof *items, n);
    memcpy(((PtcNode *)(uintptr_t)v)->slots, items, n * sizeof *items);
    return v;
}

static PtcProto *proto_named(const char *name)
{
    PtcProto *p = (PtcProto *)(uintptr_t)object(PTC_T_PROTO, sizeof *p, 0);
    PtcValue code = object(PTC_T_BYTES, sizeof(PtcBytes) + 21, 21);
    memcpy(((PtcBytes *)(uintptr_t)code)->bytes, "twenty-one of machine", 21);
    p->name = ptc_symbol_new(&h.heap, name, strlen(name));
    p->source = str("(defn f ...)");
    p->code = code;
    p->constants = p->arities = p->doc = PTC_NIL;
    p->code_count = 2;
    p->first = 3;
    p->last = 77;
    p->params = 1;
    p->registers = 9;
    p->variadic = 1;
    return p;
}

static PtcValue closure_of(const PtcProto *p, const PtcValue *captured, uint32_t n)
{
    PtcClosure *c =
        (PtcClosure *)(uintptr_t)object(PTC_T_CLOSURE, sizeof *c + n * sizeof(PtcValue), n);
    c->proto = ptc_from_obj(p);
    if (n)
        memcpy(c->captured, captured, n * sizeof *captured);
    return ptc_from_obj(c);
}

static PtcValue boxed(double d)
{
    PtcFloat *f = (PtcFloat *)(uintptr_t)object(PTC_T_FLOAT, sizeof *f, 0);
    f->value = d;
    return ptc_from_obj(f);
}

/* --------------------------------------------------------------------- tests */

static void test_words_and_atoms(void)
{
    begin();
    PtcValue words[] = {PTC_NIL,     PTC_TRUE,        PTC_FALSE,      PTC_UNBOUND,
                        ptc_int(-5), ptc_flonum(1.5), ptc_builtin(3), ptc_int(PTC_INT_MAX)};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        CHECK(copied(words[i]) == words[i]);
    CHECK(to.page_bytes == 0);
    PtcValue atoms[] = {str(""),
                        str("a\0b"),
                        ptc_keyword_new(&h.heap, "key", 3),
                        ptc_symbol_new(&h.heap, "sym", 3),
                        str("gr\xc3\xbc\xc3\x9f"),
                        boxed(-0.0),
                        boxed(1e300),
                        ptc_int_parse(&h.heap, "-123456789012345678901234567890123", 34)};
    for (size_t i = 0; i < sizeof atoms / sizeof atoms[0]; i++) {
        if (i % 2)
            (void)ptc_hash(&h.heap, atoms[i]);
        PtcValue c = copied(atoms[i]);
        CHECK(c != atoms[i] && isomorphic(atoms[i], c, NULL));
        CHECK(ptc_same(&h.heap, atoms[i], c));
        CHECK(ptc_hash(&h.heap, atoms[i]) == ptc_hash(&h.heap, c));
    }
    PtcValue nan = copied(boxed(NAN)), text = copied(str("hello"));
    CHECK(isnan(ptc_to_float(nan)));
    CHECK(strcmp(ptc_str_bytes(text), "hello") == 0);
    end();
}

/* A graph of 61 objects and 2^60 paths. */
static void test_dag(void)
{
    begin();
    PtcValue v = pair_of(ptc_int(1), ptc_int(2));
    for (int i = 0; i < 60; i++)
        v = pair_of(v, v);
    PtcValue c = copied(v);
    size_t objects;
    CHECK(isomorphic(v, c, &objects) && objects == 61);
    CHECK(live_from(&to, c) == 61 * 24);
    for (int i = 0; i < 60; i++) {
        CHECK(ptc_seq_nth(c, 0) == ptc_seq_nth(c, 1));
        c = ptc_seq_nth(c, 0);
    }
    end();
}

/* What several values share is shared by their copies. */
static void test_several(void)
{
    begin();
    PtcCopy c;
    PtcValue shared = pair_of(str("x"), str("y")), a = pair_of(shared, ptc_int(1));
    PtcValue b = pair_of(ptc_int(2), shared);
    ptc_copy_init(&c, &to);
    PtcValue a2 = ptc_copy_value(&c, a), b2 = ptc_copy_value(&c, b), a3 = ptc_copy_value(&c, a);
    ptc_copy_deinit(&c);
    CHECK(isomorphic(a, a2, NULL) && isomorphic(b, b2, NULL) && a2 == a3);
    CHECK(ptc_seq_nth(a2, 0) == ptc_seq_nth(b2, 1));
    /* What is there already stays where it is. */
    PtcValue mixed = pair_of(a2, pair_of(shared, b2)), m2 = copied(mixed);
    CHECK(isomorphic(mixed, m2, NULL));
    CHECK(ptc_seq_nth(m2, 0) == a2 && ptc_seq_nth(ptc_seq_nth(m2, 1), 1) == b2);
    CHECK(copied(a2) == a2 && copied(m2) == m2);
    size_t used = live_from(&to, m2);
    CHECK(used == 6 * 24 + 4 * 16);
    end();
}

/* Functions whose parts point to each other. */
static void test_cycles(void)
{
    begin();
    PtcProto *p = proto_named("f"), *q = proto_named("f");
    PtcValue both[] = {ptc_from_obj(p), ptc_from_obj(q)};
    p->arities = q->arities = node_of(both, 2);
    PtcValue inner[] = {str("captured"), ptc_int(4), ptc_from_obj(q)};
    PtcValue self = closure_of(p, inner, 3), constants[] = {self, both[0], str("k"), PTC_NIL};
    p->constants = node_of(constants, 4);
    ((PtcClosure *)(uintptr_t)self)->captured[1] = self;
    p->doc = str("says f");
    PtcValue c = copied(self);
    size_t objects;
    CHECK(isomorphic(self, c, &objects));
    /* f: closure, 2 protos with 3 parts each, arities, constants, 3 strings */
    CHECK(objects == 1 + 2 * 4 + 2 + 3);
    CHECK(((PtcClosure *)(uintptr_t)c)->captured[1] == c);
    const PtcProto *p2 = (const PtcProto *)(uintptr_t)((PtcClosure *)(uintptr_t)c)->proto;
    CHECK(p2->params == 1 && p2->registers == 9 && p2->last == 77 && p2->variadic == 1);
    ptc_heap_deinit(&h.heap); /* the copy needs nothing of the original */
    ptc_heap_init(&h.heap, &h.pool, &h.budget, SIZE_MAX / 4);
    CHECK(strcmp(ptc_str_bytes(p2->doc), "says f") == 0);
    CHECK(live_from(&to, c) > 0 && strcmp(ptc_str_bytes(p2->source), "(defn f ...)") == 0);
    end();
}

/* ------------------------------------------------------------------- random */

enum { POOL = 400 };

/* One more value made from those in the pool, of any type. */
static PtcValue random_value(uint64_t *rng, const PtcValue *pool, size_t n)
{
    PtcValue items[80];
    size_t count = below(rng, 6) ? below(rng, 5) : below(rng, 80);
    for (size_t i = 0; i < count; i++)
        items[i] = below(rng, 2) ? pool[below(rng, n)] : ptc_int((int64_t)below(rng, 50));
    PtcValue v = ptc_vec_new(&h.heap, items, count, below(rng, 2) ? PTC_SEQ : 0);
    char text[24];
    snprintf(text, sizeof text, "t%d", (int)below(rng, 1000));
    switch (below(rng, 12)) {
    case 0: return str(text);
    case 1: return ptc_keyword_new(&h.heap, text, strlen(text));
    case 2: return boxed((double)below(rng, 1000) * 1e100);
    case 3: return ptc_int_parse(&h.heap, "98765432109876543210987654321", 29);
    case 4: return ptc_range_new(&h.heap, 3, 4, count);
    case 5: return ptc_cons_new(&h.heap, pool[below(rng, n)], v);
    case 6: return count ? ptc_seq_slice(&h.heap, v, count / 2, count - count / 2, 0) : v;
    case 7: {
        PtcValue m = ptc_map_empty(&h.heap);
        for (size_t i = 0; i < count; i++)
            m = ptc_map_assoc(&h.heap, m, ptc_int((int64_t)below(rng, 300)), items[i]);
        return m;
    }
    case 8: {
        PtcValue s = ptc_set_empty(&h.heap);
        for (size_t i = 0; i < count; i++)
            s = ptc_set_add(&h.heap, s, ptc_int((int64_t)below(rng, 300)));
        return s;
    }
    case 9: return closure_of(proto_named(text), items, (uint32_t)count);
    case 10: {
        PtcValue r =
            object(PTC_T_RECORD, sizeof(PtcRecord) + count * sizeof(PtcValue), (uint32_t)count);
        memcpy(((PtcRecord *)(uintptr_t)r)->fields, items, count * sizeof *items);
        return r;
    }
    default: return v;
    }
}

static void test_random(uint64_t seed)
{
    uint64_t rng = seed;
    PtcValue pool[POOL];
    begin();
    size_t n = 0;
    pool[n++] = str("first");
    while (n < POOL) {
        /* Sometimes a value that is in the other heap already. */
        PtcValue v = random_value(&rng, pool, n);
        pool[n++] = below(&rng, 20) == 0 ? copied(v) : v;
    }
    PtcCopy c;
    ptc_copy_init(&c, &to);
    PtcValue all = ptc_vec_new(&h.heap, pool, POOL, 0), one = ptc_copy_value(&c, pool[POOL / 2]);
    PtcValue many = ptc_copy_value(&c, all);
    ptc_copy_deinit(&c);
    CHECK(isomorphic(all, many, NULL));
    CHECK(ptc_seq_nth(many, POOL / 2) == one);
    CHECK(ptc_heap_owns(&to, many));
    for (size_t i = 0; i < POOL; i++) {
        PtcValue a = pool[i], b = ptc_seq_nth(many, i);
        CHECK(ptc_obj(a)->count == ptc_obj(b)->count);
        if (ptc_is_number(a) || ptc_is_string(a) || ptc_is_keyword(a) || ptc_is(a, PTC_T_RANGE))
            CHECK(ptc_same(&h.heap, a, b));
    }
    CHECK(h.budget.stop == PTC_STOP_NONE);
    end();
}

/* Vectors and maps go on from a copy and from the original without meeting. */
static void test_going_on(void)
{
    begin();
    for (int64_t n = 1; n < 3000; n = n * 3 + 1) {
        PtcValue v = ptc_vec_new(&h.heap, NULL, 0, 0), m = ptc_map_empty(&h.heap);
        PtcValue s = ptc_set_empty(&h.heap);
        for (int64_t i = 0; i < n; i++) {
            v = ptc_vec_conj(&h.heap, v, ptc_int(i));
            m = ptc_map_assoc(&h.heap, m, ptc_int(i), ptc_int(-i));
            s = ptc_set_add(&h.heap, s, ptc_int(i));
        }
        /* Newer versions use the same tail and the same index. */
        CHECK(ptc_vec_conj(&h.heap, v, str("newer")) != PTC_NONE);
        CHECK(ptc_map_assoc(&h.heap, m, str("newer"), str("newer")) != PTC_NONE);
        PtcValue v2 = copied(v), m2 = copied(m), s2 = copied(s);
        CHECK(isomorphic(v, v2, NULL) && isomorphic(m, m2, NULL) && isomorphic(s, s2, NULL));
        PtcValue v3 = v2, m3 = m2, s3 = s2, va = v, ma = m, sa = s;
        for (int64_t i = n; i < n + 70; i++) {
            v3 = ptc_vec_conj(&to, v3, ptc_int(i));
            m3 = ptc_map_assoc(&to, m3, ptc_int(i), ptc_int(i));
            s3 = ptc_set_add(&to, s3, ptc_int(i));
            va = ptc_vec_conj(&h.heap, va, PTC_TRUE);
            ma = ptc_map_assoc(&h.heap, ma, ptc_int(-i), PTC_TRUE);
            sa = ptc_set_add(&h.heap, sa, ptc_int(-i));
        }
        CHECK(ptc_same(&h.heap, v, v2) && ptc_same(&h.heap, m, m2) && ptc_same(&h.heap, s, s2));
        CHECK(ptc_map_count(m2) == (size_t)n && ptc_map_count(m3) == (size_t)n + 70);
        bool good = true;
        for (int64_t i = 0; i < n + 70; i++) {
            PtcValue k = ptc_int(i), want = ptc_int(i < n ? -i : i);
            good = good && ptc_seq_nth(v3, (size_t)i) == k && ptc_map_get(&to, m3, k) == want;
            good = good && ptc_set_has(&to, s3, k) && ptc_set_has(&to, s2, k) == (i < n);
            good = good && (ptc_map_get(&h.heap, ma, k) == want) == (i < n);
        }
        CHECK(good);
        CHECK(ptc_map_get(&to, m2, str("newer")) == PTC_NONE);
    }
    end();
}

/* ------------------------------------------------------------------ failures */

static PtcValue many_rows(int n)
{
    PtcValue b = ptc_build_new(&h.heap), key = ptc_keyword_new(&h.heap, "k", 1);
    for (int i = 0; i < n; i++) {
        PtcValue m = ptc_map_assoc(&h.heap, ptc_map_empty(&h.heap), key, str("some text"));
        CHECK(ptc_build_add(&h.heap, b, m));
    }
    return ptc_build_done(&h.heap, b, 0);
}

static void test_failures(void)
{
    begin();
    PtcValue rows = many_rows(3000), c = PTC_NONE;
    int failures = 0;
    for (uint64_t nth = 1; nth < 40; nth++) {
        size_t out = h.mem.used, held = h.pool.free_count + to.page_bytes / PTC_PAGE_BYTES;
        ptc_mem_fail_at(&h.mem, nth);
        c = copied(rows);
        ptc_mem_fail_at(&h.mem, 0);
        CHECK((c == PTC_NONE) == (h.budget.stop == PTC_STOP_MEMORY));
        failures += c == PTC_NONE;
        h.budget.stop = PTC_STOP_NONE;
        if (c != PTC_NONE)
            CHECK(isomorphic(rows, c, NULL));
        /* Nothing is left of it but pages, and they go with the next collection. */
        live_from(&to, PTC_NIL);
        CHECK(to.page_bytes == 0 && (h.mem.used == out || h.pool.free_count > held));
    }
    CHECK(failures > 5);
    to.limit = 100000;
    CHECK(copied(rows) == PTC_NONE && h.budget.stop == PTC_STOP_MEMORY);
    CHECK(to.used <= to.limit);
    h.budget.stop = PTC_STOP_NONE;
    to.limit = SIZE_MAX / 4;
    PtcCancel cancel = {.asked = true};
    h.budget.cancel = &cancel;
    CHECK(copied(rows) == PTC_NONE && h.budget.stop == PTC_STOP_CANCELLED);
    h.budget.stop = PTC_STOP_NONE;
    atomic_store(&cancel.asked, false);
    c = copied(rows);
    CHECK(isomorphic(rows, c, NULL));
    end();
}

/* A copy holds what the value shows, not what lies behind it. */
static void test_hidden(void)
{
    enum { N = 60000 };
    begin();
    PtcValue rows = many_rows(N), few = ptc_seq_slice(&h.heap, rows, 100, 3, PTC_SEQ);
    PtcValue some = ptc_seq_slice(&h.heap, rows, 7, 1000, 0), c = copied(few);
    CHECK(isomorphic(few, c, NULL) && live_from(&to, c) < 400);
    c = copied(some);
    CHECK(isomorphic(some, c, NULL) && live_from(&to, c) < 100000);
    CHECK(ptc_same(&h.heap, c, some) && ptc_vec_conj(&to, c, PTC_NIL) != PTC_NONE);
    /* Slices in slices, without C recursion. */
    PtcValue deep = ptc_int(1);
    for (int i = 0; i < 100000; i++) {
        PtcValue items[] = {PTC_NIL, PTC_NIL, PTC_NIL, deep, PTC_NIL, PTC_NIL, PTC_NIL, PTC_NIL};
        deep = ptc_seq_slice(&h.heap, ptc_vec_new(&h.heap, items, 8, 0), 3, 3, 0);
    }
    c = copied(deep);
    CHECK(isomorphic(deep, c, NULL));
    /* Windows on one vector share it as long as that is less. */
    PtcValue numbers = ptc_build_new(&h.heap), windows = ptc_build_new(&h.heap);
    for (int i = 0; i < N; i++)
        CHECK(ptc_build_add(&h.heap, numbers, ptc_int(i)));
    numbers = ptc_build_done(&h.heap, numbers, 0);
    for (size_t i = 0; i + 1000 < N; i++) {
        PtcValue window = ptc_seq_slice(&h.heap, numbers, i, 1000, 0);
        CHECK(ptc_build_add(&h.heap, windows, window));
    }
    windows = ptc_build_done(&h.heap, windows, 0);
    c = copied(windows);
    CHECK(isomorphic(windows, c, NULL));
    CHECK(live_from(&to, c) < live_from(&h.heap, windows) + 10 * N);
    end();
}

/* Keys that newer versions added to a shared index stay behind. */
static void test_shared_index(void)
{
    enum { N = 20, MORE = 50000 };
    begin();
    for (int set = 0; set < 2; set++) {
        PtcValue base = set ? ptc_set_empty(&h.heap) : ptc_map_empty(&h.heap);
        for (int i = 0; i < N; i++)
            base = set ? ptc_set_add(&h.heap, base, ptc_int(i))
                       : ptc_map_assoc(&h.heap, base, ptc_int(i), ptc_int(i));
        if (!set)
            base = ptc_map_dissoc(&h.heap, base, ptc_int(5)); /* a hole */
        PtcValue more = base;
        for (int i = N; i < MORE; i++)
            more = set ? ptc_set_add(&h.heap, more, ptc_int(i))
                       : ptc_map_assoc(&h.heap, more, ptc_int(i), ptc_int(i));
        PtcValue c = copied(base);
        /* The nodes of the entry vector may bring up to 32 leaves. */
        CHECK(isomorphic(base, c, NULL) && live_from(&to, c) < 12000);
        CHECK(ptc_same(&h.heap, base, c) && ptc_same(&h.heap, c, base));
        for (int i = 0; i < 100; i++)
            c = set ? ptc_set_add(&to, c, ptc_int(-i))
                    : ptc_map_assoc(&to, c, ptc_int(-i), PTC_NIL);
        CHECK(ptc_map_count(c) == ptc_map_count(base) + 99);
        c = copied(more);
        CHECK(isomorphic(more, c, NULL) && ptc_same(&h.heap, c, more));
    }
    /* All versions of a growing map: they go on sharing. */
    PtcValue history = ptc_build_new(&h.heap), m = ptc_map_empty(&h.heap);
    for (int i = 0; i < 3000; i++) {
        m = ptc_map_assoc(&h.heap, m, ptc_int(i), ptc_int(i));
        CHECK(ptc_build_add(&h.heap, history, m));
    }
    history = ptc_build_done(&h.heap, history, 0);
    PtcValue c = copied(history);
    CHECK(isomorphic(history, c, NULL));
    CHECK(live_from(&to, c) < live_from(&h.heap, history) + 2000000);
    end();
}

/* Linear in what is there: a million objects, deep and wide. */
static void test_large(void)
{
    enum { N = 300000 };
    begin();
    PtcValue deep = ptc_vec_new(&h.heap, NULL, 0, 0);
    for (int i = 0; i < N; i++)
        deep = ptc_cons_new(&h.heap, str("x"), deep);
    size_t objects;
    PtcValue c = copied(deep);
    CHECK(isomorphic(deep, c, &objects) && objects == 2 * N + 1);
    CHECK(live_from(&to, c) == live_from(&h.heap, deep));
    end();
}

int main(void)
{
    test_words_and_atoms();
    test_dag();
    test_several();
    test_cycles();
    for (uint64_t seed = 1; seed <= 20; seed++)
        test_random(seed * 0x9e3779b97f4a7c15);
    test_going_on();
    test_failures();
    test_hidden();
    test_shared_index();
    test_large();
    return check_done("copy");
}
