/* SPDX-License-Identifier: MIT
 * The heap against a graph that the test keeps beside it: what can be reached stays as it was, the
 * rest is memory for new objects, and the accounts agree to the byte. */
#include "check.h"

#include <stdlib.h>

#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/str.h"

static CheckHeap h;

static uint64_t below(uint64_t *rng, uint64_t n)
{
    return (check_random(rng) >> 11) % n;
}

/* -------------------------------------------------------------------- graph */

enum { NODES = 6000, ROOTS = 40, EDGES = 4 };

/* An object in the heap and what it must look like: a FLAT whose slots hold numbers made from `id`
 * but for its edges, or a BYTES full of such numbers. */
typedef struct {
    PtcValue v; /* PTC_NONE: no such node */
    size_t size;
    uint64_t id;
    bool raw;
    size_t edge[EDGES]; /* nodes that the first slots point to; NODES: none */
    bool live;
} Node;

static Node nodes[NODES];
static size_t roots[ROOTS];
static uint64_t next_id = 1;

static PtcValue pattern(const Node *n, size_t i)
{
    return ptc_int((int64_t)((n->id * 0x9e3779b97f4a7c15 + i * 0xbf58476d1ce4e5b9) >> 4));
}

static size_t slot_count(const Node *n)
{
    return (n->size - sizeof(PtcObj)) / sizeof(PtcValue);
}

static PtcValue *slots_of(const Node *n)
{
    return ((PtcFlat *)(uintptr_t)n->v)->items;
}

static bool intact(const Node *n)
{
    const PtcObj *o = ptc_obj(n->v);
    if (o->type != (n->raw ? PTC_T_BYTES : PTC_T_FLAT))
        return false;
    if (n->raw) {
        const PtcBytes *b = (const PtcBytes *)(const void *)o;
        for (size_t i = 0; i < b->obj.count; i++)
            if (b->bytes[i] != (uint8_t)(n->id + i * 7))
                return false;
        return b->obj.count == n->size - sizeof(PtcBytes);
    }
    for (size_t i = 0; i < slot_count(n); i++) {
        bool edge = i < EDGES && n->edge[i] < NODES;
        if (slots_of(n)[i] != (edge ? nodes[n->edge[i]].v : pattern(n, i)))
            return false;
    }
    return o->count == slot_count(n);
}

static size_t random_size(uint64_t *rng, size_t most)
{
    static const size_t edges[] = {8,   16,  24,   40,   120,  128,  136,  144,   264,
                                   520, 904, 2048, 4096, 8184, 8192, 8200, 32768, 40000};
    size_t size = below(rng, 3)   ? 16 + 8 * below(rng, 12)
                  : below(rng, 4) ? 16 + below(rng, 600)
                                  : edges[below(rng, sizeof edges / sizeof edges[0])];
    return size <= most ? size : most;
}

/* Makes node i in the heap; false when there is no room. */
static bool make(size_t i, size_t size, bool raw, uint64_t *rng)
{
    Node n = {.size = raw ? size : size & ~(size_t)7, .id = next_id++, .raw = raw};
    PtcObj *o = ptc_heap_object(&h.heap, raw ? PTC_T_BYTES : PTC_T_FLAT, n.size, 0);
    if (!o)
        return false;
    n.v = ptc_from_obj(o);
    for (size_t e = 0; e < EDGES; e++)
        n.edge[e] = NODES;
    if (raw) {
        o->count = (uint32_t)(n.size - sizeof(PtcBytes));
        for (size_t k = 0; k < o->count; k++)
            ((PtcBytes *)(void *)o)->bytes[k] = (uint8_t)(n.id + k * 7);
    } else {
        o->count = (uint32_t)slot_count(&n);
        for (size_t k = 0; k < slot_count(&n); k++) {
            size_t to = k < EDGES && below(rng, 2) ? below(rng, NODES) : NODES;
            if (to < NODES && (nodes[to].v != PTC_NONE && to != i))
                n.edge[k] = to;
            slots_of(&n)[k] = k < EDGES && n.edge[k] < NODES ? nodes[to].v : pattern(&n, k);
        }
    }
    nodes[i] = n;
    return true;
}

/* An edge from an older node to any, so that there are cycles. */
static void link_back(size_t from, size_t to)
{
    Node *n = &nodes[from];
    if (n->v == PTC_NONE || n->raw || slot_count(n) == 0 || nodes[to].v == PTC_NONE)
        return;
    n->edge[0] = to;
    slots_of(n)[0] = nodes[to].v;
}

static void mark_model(void)
{
    static size_t stack[NODES];
    size_t depth = 0;
    for (size_t i = 0; i < NODES; i++)
        nodes[i].live = false;
    for (size_t r = 0; r < ROOTS; r++)
        if (roots[r] < NODES && !nodes[roots[r]].live) {
            nodes[roots[r]].live = true;
            stack[depth++] = roots[r];
            while (depth) {
                const Node *n = &nodes[stack[--depth]];
                for (size_t e = 0; e < EDGES; e++)
                    if (n->edge[e] < NODES && !nodes[n->edge[e]].live) {
                        nodes[n->edge[e]].live = true;
                        stack[depth++] = n->edge[e];
                    }
            }
        }
}

static size_t bytes_of_pages(void)
{
    size_t sum = 0;
    for (const PtcPage *p = h.heap.pages; p; p = p->next)
        sum += PTC_PAGE_BYTES;
    for (const PtcPage *p = h.heap.large; p; p = p->next)
        sum += p->bytes;
    return sum;
}

/* A collection in the heap and in the model; afterwards they must agree. */
static void collect(void)
{
    size_t live = 0;
    bool good = true;
    mark_model();
    ptc_heap_mark_begin(&h.heap);
    for (size_t r = 0; r < ROOTS; r++)
        if (roots[r] < NODES)
            ptc_heap_mark(&h.heap, nodes[roots[r]].v);
    ptc_heap_mark_finish(&h.heap);
    for (size_t i = 0; i < NODES; i++) {
        if (nodes[i].live) {
            live += (nodes[i].size + 7) & ~(size_t)7;
            good = good && intact(&nodes[i]);
        } else {
            nodes[i].v = PTC_NONE;
        }
    }
    CHECK(good);
    CHECK(h.heap.live == live && h.heap.used == live);
    CHECK(h.heap.page_bytes == bytes_of_pages());
    CHECK(!h.budget.wake);
}

static void check_intact(void)
{
    bool good = true;
    for (size_t i = 0; i < NODES; i++)
        good = good && (nodes[i].v == PTC_NONE || intact(&nodes[i]));
    CHECK(good);
}

static void clear_model(void)
{
    for (size_t i = 0; i < NODES; i++)
        nodes[i] = (Node){.v = PTC_NONE};
    for (size_t r = 0; r < ROOTS; r++)
        roots[r] = NODES;
}

/* As the VM does it: collect when asked to; when an allocation fails, collect and try once more. */
static bool make_or_collect(size_t i, size_t size, bool raw, uint64_t *rng)
{
    if (h.budget.wake)
        collect();
    if (make(i, size, raw, rng))
        return true;
    CHECK(h.budget.stop == PTC_STOP_MEMORY);
    h.budget.stop = PTC_STOP_NONE;
    collect();
    return make(i, size, raw, rng);
}

static void test_random(uint64_t seed, size_t limit, size_t most, int steps)
{
    uint64_t rng = seed;
    check_heap_init(&h);
    h.heap.limit = limit;
    h.heap.collect_at = limit / 4;
    clear_model();
    for (int step = 0; step < steps; step++) {
        size_t i = below(&rng, NODES);
        /* A slot of the model is free again when its node can no longer be reached. */
        if (nodes[i].v != PTC_NONE)
            continue;
        if (!make_or_collect(i, random_size(&rng, most), below(&rng, 4) == 0, &rng)) {
            CHECK(h.budget.stop == PTC_STOP_MEMORY && h.heap.live > limit / 2);
            h.budget.stop = PTC_STOP_NONE;
            for (size_t r = 0; r < ROOTS; r += 2)
                roots[r] = NODES;
            continue;
        }
        roots[below(&rng, ROOTS)] = i;
        if (below(&rng, 8) == 0)
            link_back(below(&rng, NODES), i);
        if (below(&rng, 3000) == 0)
            check_intact();
        if (below(&rng, 2000) == 0)
            collect();
    }
    check_intact();
    for (size_t r = 0; r < ROOTS; r++)
        roots[r] = NODES;
    collect();
    CHECK(h.heap.page_bytes == 0 && h.heap.pages == NULL && h.heap.large == NULL);
    check_heap_deinit(&h);
}

/* -------------------------------------------------------------- steady state */

/* As the VM does it, with the table as roots; NULL when that fails. */
static PtcBytes *bytes_or_collect(size_t size, const PtcValue *table, size_t count)
{
    for (int attempt = 0; attempt < 2; attempt++) {
        if (h.budget.wake || attempt) {
            h.budget.stop = PTC_STOP_NONE;
            ptc_heap_mark_begin(&h.heap);
            for (size_t i = 0; i < count; i++)
                ptc_heap_mark(&h.heap, table[i]);
            ptc_heap_mark_finish(&h.heap);
        }
        PtcBytes *b =
            ptc_heap_object(&h.heap, PTC_T_BYTES, size, (uint32_t)(size - sizeof(PtcBytes)));
        if (b)
            return b;
    }
    return NULL;
}

/* A table of `live` bytes in objects of random sizes between low and high, whose places are given
 * to new ones at random, many times over.  The limit is on live bytes: it must not be hit, and
 * memory must not grow without end. */
static void test_steady(size_t live, size_t low, size_t high)
{
    enum { LIMIT = 4 << 20 };
    uint64_t rng = live * 31 + low * 7 + high;
    size_t count = live / ((low + high) / 2), made = 0, most = 0;
    PtcValue *table = malloc(count * sizeof *table);
    bool good = true;
    check_heap_init(&h);
    ptc_heap_init(&h.heap, &h.pool, &h.budget, LIMIT);
    memset(table, 0, count * sizeof *table);
    size_t enough = (size_t)check_rounds(15) * LIMIT;
    for (size_t allocated = 0; good && allocated < enough; made++) {
        size_t size = low + below(&rng, high - low + 1);
        PtcBytes *b = bytes_or_collect(size, table, count);
        good = b != NULL;
        if (b)
            table[below(&rng, count)] = ptc_from_obj(b);
        most = h.heap.page_bytes > most ? h.heap.page_bytes : most;
        allocated += size;
    }
    CHECK(good);
    if (!good)
        printf("  after %zu objects of %zu to %zu bytes: %zu live bytes, limit %d, pages %zu\n",
               made, low, high, h.heap.live, LIMIT, h.heap.page_bytes);
    /* Twice what is live goes by before a collection; holes cost half as much again. */
    CHECK(most <= 3 * live + (2 << 20) && most <= LIMIT + LIMIT / 10 + 8 * PTC_PAGE_BYTES);
    free(table);
    check_heap_deinit(&h);
}

/* One object of many is kept, as when a program makes rows and much besides.  Those kept may fill
 * most of the limit although they lie far apart at first; of every second one, half of it, since holes lose up to
 * a line to their neighbours. */
static void test_kept(size_t size, int one_of)
{
    enum { LIMIT = 4 << 20 };
    size_t want = (one_of == 2 ? LIMIT / 2 : LIMIT / 3 * 2) / size, n = 0;
    PtcValue *table = malloc(want * sizeof *table);
    PtcBytes *b = NULL;
    check_heap_init(&h);
    ptc_heap_init(&h.heap, &h.pool, &h.budget, LIMIT);
    for (bool good = true; good && n < want;) {
        for (int i = 0; i < one_of && good; i++) {
            b = bytes_or_collect(size, table, n);
            good = b != NULL;
        }
        if (good)
            table[n++] = ptc_from_obj(b);
    }
    CHECK(n == want);
    if (n < want)
        printf("  1 of %d objects of %zu bytes: %zu live bytes, limit %d, pages %zu\n", one_of,
               size, n * size, LIMIT, h.heap.page_bytes);
    free(table);
    check_heap_deinit(&h);
}

static void test_steady_states(void)
{
    static const size_t sizes[] = {16, 24, 40, 136, 264, 272, 520, 1000, 3000, 8000};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (size_t live = 1 << 20; live <= 3 << 20; live += 1 << 20)
            test_steady(live, sizes[i], sizes[i]);
        for (int one_of = 2; one_of <= 32; one_of *= 4)
            test_kept(sizes[i], one_of);
    }
    test_steady(3 << 20, 16, 128);
    test_steady(3 << 20, 16, 600);
    test_steady(2 << 20, 130, 1000);
    test_steady(2 << 20, 16, 8192);
    test_steady(2 << 20, 9000, 50000);
}

/* ---------------------------------------------------------------- mark stack */

/* A list of n cells, each with a string of its own, newest cell first. */
static PtcValue long_list(size_t n)
{
    PtcValue list = ptc_vec_new(&h.heap, NULL, 0, 0);
    char text[32];
    for (size_t i = 0; i < n; i++) {
        snprintf(text, sizeof text, "cell %zu", i);
        list = ptc_cons_new(&h.heap, ptc_str_new(&h.heap, text, strlen(text)), list);
    }
    return list;
}

static bool list_intact(PtcValue list, size_t n)
{
    char text[32];
    for (size_t i = n; i-- > 0;) {
        const PtcCons *c = (const PtcCons *)(uintptr_t)list;
        snprintf(text, sizeof text, "cell %zu", i);
        if (c->obj.type != PTC_T_CONS || c->obj.count != i + 1 ||
            strcmp(ptc_str_bytes(c->first), text) != 0)
            return false;
        list = c->rest;
    }
    return ptc_seq_count(list) == 0;
}

/* One object with n objects in it, each with a string. */
static PtcValue wide_node(size_t n)
{
    PtcNode *w = ptc_heap_object(&h.heap, PTC_T_NODE, sizeof *w + n * sizeof(PtcValue), 0);
    w->obj.aux = 0;
    for (size_t i = 0; i < n; i++) {
        char text[32];
        snprintf(text, sizeof text, "leaf %zu", i);
        PtcValue s = ptc_str_new(&h.heap, text, strlen(text));
        w->slots[i] = ptc_vec_new(&h.heap, &s, 1, 0);
        w->obj.count++;
    }
    return ptc_from_obj(w);
}

static bool wide_intact(PtcValue v, size_t n)
{
    const PtcNode *w = (const PtcNode *)(uintptr_t)v;
    for (size_t i = 0; i < n; i++) {
        char text[32];
        snprintf(text, sizeof text, "leaf %zu", i);
        if (!ptc_is(w->slots[i], PTC_T_FLAT) ||
            strcmp(ptc_str_bytes(ptc_seq_nth(w->slots[i], 0)), text) != 0)
            return false;
    }
    return w->obj.count == n;
}

static void collect_two(PtcValue a, PtcValue b)
{
    ptc_heap_mark_begin(&h.heap);
    ptc_heap_mark(&h.heap, a);
    ptc_heap_mark(&h.heap, b);
    ptc_heap_mark_finish(&h.heap);
}

typedef enum { PLENTY, FAIL_FIRST, FAIL_SECOND, NO_MEMORY } Shortage;

static void test_overflow(size_t n, Shortage shortage)
{
    check_heap_init(&h);
    PtcValue list = long_list(n), wide = wide_node(n);
    size_t before = h.heap.used;
    if (shortage == FAIL_FIRST || shortage == FAIL_SECOND)
        ptc_mem_fail_at(&h.mem, shortage == FAIL_FIRST ? 1 : 2);
    else if (shortage == NO_MEMORY)
        h.mem.limit = h.mem.used;
    for (int round = 0; round < 2; round++) {
        collect_two(list, wide);
        CHECK(list_intact(list, n) && wide_intact(wide, n));
        /* 24 + 24 bytes a cell with a string of 16 to 24, 16 a leaf. */
        CHECK(h.heap.live > n * 80 && h.heap.live <= before);
        CHECK(h.heap.page_bytes == bytes_of_pages());
        for (const PtcPage *p = h.heap.pages; p; p = p->next)
            CHECK(!p->rescan);
        if (round == 0)
            before = h.heap.live;
        else
            CHECK(h.heap.live == before);
    }
    h.mem.limit = SIZE_MAX / 2;
    ptc_mem_fail_at(&h.mem, 0);
    collect_two(list, PTC_NIL);
    CHECK(list_intact(list, n));
    CHECK(h.heap.live < before);
    size_t half = h.heap.live;
    wide = wide_node(n);
    collect_two(list, wide);
    CHECK(h.heap.live == before && half < before);
    CHECK(list_intact(list, n) && wide_intact(wide, n));
    collect_two(PTC_NIL, PTC_NIL);
    CHECK(h.heap.live == 0 && h.heap.page_bytes == 0);
    check_heap_deinit(&h);
}

/* -------------------------------------------------------------------- limits */

static void test_limit(void)
{
    static const size_t sizes[] = {16, 128, 136, 1000, 8192, 8200, 100000};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        size_t limit = 1 << 20, got = 0;
        check_heap_init(&h);
        ptc_heap_init(&h.heap, &h.pool, &h.budget, limit);
        while (ptc_heap_alloc(&h.heap, sizes[s]) != NULL)
            got += sizes[s];
        CHECK(h.budget.stop == PTC_STOP_MEMORY);
        CHECK(h.heap.used <= limit && got <= limit && got > limit / 2);
        size_t used = h.heap.used, held = h.heap.page_bytes, out = h.mem.used;
        for (int i = 0; i < 10; i++)
            CHECK(ptc_heap_alloc(&h.heap, sizes[s]) == NULL);
        CHECK(h.heap.used == used && h.heap.page_bytes == held && h.mem.used == out);
        /* Nothing is live: all of it can be had again. */
        h.budget.stop = PTC_STOP_NONE;
        ptc_heap_mark_begin(&h.heap);
        ptc_heap_mark_finish(&h.heap);
        CHECK(h.heap.used == 0 && h.heap.page_bytes == 0);
        size_t again = 0;
        while (ptc_heap_alloc(&h.heap, sizes[s]) != NULL)
            again += sizes[s];
        CHECK(again == got);
        check_heap_deinit(&h);
    }
    check_heap_init(&h);
    ptc_heap_init(&h.heap, &h.pool, &h.budget, 1 << 20);
    CHECK(ptc_heap_alloc(&h.heap, (1 << 20) + 1) == NULL && h.budget.stop == PTC_STOP_MEMORY);
    CHECK(ptc_heap_alloc(&h.heap, SIZE_MAX / 2 + 100) == NULL);
    CHECK(ptc_heap_alloc(&h.heap, SIZE_MAX - 4096) == NULL);
    CHECK(h.heap.used == 0 && h.heap.page_bytes == 0 && h.mem.used == 0);
    ptc_heap_init(&h.heap, &h.pool, &h.budget, 0);
    CHECK(ptc_heap_alloc(&h.heap, 8) == NULL && h.mem.used == 0);
    check_heap_deinit(&h);
}

/* A collection is asked for in time. */
static void test_wake(void)
{
    check_heap_init(&h);
    ptc_heap_init(&h.heap, &h.pool, &h.budget, 8 << 20);
    size_t got = 0;
    while (!h.budget.wake && ptc_heap_alloc(&h.heap, 64))
        got += 64;
    CHECK(h.budget.wake && got >= 1 << 20 && got <= 4 << 20);
    ptc_heap_mark_begin(&h.heap);
    ptc_heap_mark_finish(&h.heap);
    CHECK(!h.budget.wake);
    check_heap_deinit(&h);
}

/* The ledger says no to the Nth block: no object, no trace. */
static void test_ledger_fails(void)
{
    for (uint64_t nth = 1; nth < 12; nth++) {
        check_heap_init(&h);
        ptc_mem_fail_at(&h.mem, nth);
        bool failed = false;
        for (int i = 0; i < 400 && !failed; i++) {
            size_t used = h.heap.used, held = h.heap.page_bytes, out = h.mem.used;
            failed = ptc_heap_alloc(&h.heap, i % 9 == 8 ? 20000 : 7000) == NULL;
            if (failed) {
                CHECK(h.heap.used == used && h.heap.page_bytes == held && h.mem.used == out);
                CHECK(h.budget.stop == PTC_STOP_MEMORY);
                ptc_mem_fail_at(&h.mem, 0);
                CHECK(ptc_heap_alloc(&h.heap, 7000) != NULL);
            }
        }
        CHECK(failed);
        ptc_mem_fail_at(&h.mem, 0);
        check_heap_deinit(&h);
    }
}

/* ---------------------------------------------------------------------- pool */

static void fill(PtcHeap *heap, size_t pages)
{
    while (heap->page_bytes < pages * PTC_PAGE_BYTES)
        if (!ptc_heap_alloc(heap, 64))
            return;
}

static void test_pool(void)
{
    check_heap_init(&h);
    fill(&h.heap, 20);
    size_t out = h.mem.used;
    ptc_heap_deinit(&h.heap);
    CHECK(h.pool.free_count >= 20 && h.mem.used == out);
    /* The next heap lives on what is there. */
    uint64_t asked = h.mem.count;
    ptc_heap_init(&h.heap, &h.pool, &h.budget, SIZE_MAX / 4);
    fill(&h.heap, 20);
    CHECK(h.mem.count == asked && h.mem.used == out);
    /* Many pages go back to the system, but for those of chunks in use. */
    PtcHeap other;
    ptc_heap_init(&other, &h.pool, &h.budget, SIZE_MAX / 4);
    for (int i = 0; i < 10; i++) {
        fill(&other, (size_t)i * 30 + 10);
        fill(&h.heap, 20 + (size_t)i);
    }
    ptc_heap_deinit(&other);
    CHECK(h.pool.free_count <= 64 + 8 * 30);
    CHECK(h.mem.used <= out + 30 * 8 * (PTC_PAGE_BYTES + 64));
    ptc_heap_deinit(&h.heap);
    CHECK(h.pool.free_count <= 64);
    ptc_heap_init(&h.heap, &h.pool, &h.budget, SIZE_MAX / 4);
    fill(&h.heap, 100);
    ptc_heap_deinit(&h.heap);
    CHECK(h.pool.free_count <= 64);
    check_heap_deinit(&h);
}

/* ---------------------------------------------------------------------- adopt */

static PtcValue rows(PtcHeap *heap, int64_t n)
{
    PtcValue b = ptc_build_new(heap), key = ptc_keyword_new(heap, "k", 1);
    for (int64_t i = 0; i < n; i++) {
        PtcValue m = ptc_map_assoc(heap, ptc_map_empty(heap), key, ptc_int(i));
        CHECK(ptc_build_add(heap, b, m));
    }
    char big[20000];
    memset(big, 'x', sizeof big);
    CHECK(ptc_build_add(heap, b, ptc_str_new(heap, big, sizeof big)));
    return ptc_build_done(heap, b, 0);
}

static bool rows_intact(PtcValue v, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        PtcValue m = ptc_seq_nth(v, (size_t)i), key, value;
        size_t pos = 0;
        if (!ptc_is_map(m) || !ptc_map_next(m, &pos, &key, &value) || value != ptc_int(i))
            return false;
    }
    PtcValue big = ptc_seq_nth(v, (size_t)n);
    return ptc_str_len(big) == 20000 && ptc_str_bytes(big)[19999] == 'x';
}

static void test_adopt(void)
{
    enum { ROWS = 3000 };
    check_heap_init(&h);
    PtcHeap worker;
    PtcValue mine = rows(&h.heap, ROWS), theirs[4];
    ptc_heap_init(&worker, &h.pool, &h.budget, SIZE_MAX / 4);
    for (int round = 0; round < 4; round++) {
        /* A worker that has collected: its pages have holes, its cursor stands in one. */
        PtcValue kept = rows(&worker, ROWS / 2);
        (void)rows(&worker, ROWS);
        ptc_heap_mark_begin(&worker);
        ptc_heap_mark(&worker, kept);
        ptc_heap_mark_finish(&worker);
        CHECK(rows_intact(rows(&worker, ROWS / 4), ROWS / 4));
        theirs[round] = ptc_vec_new(&worker, (PtcValue[]){kept, mine}, 2, 0);
        size_t used = h.heap.used + worker.used, held = h.heap.page_bytes + worker.page_bytes;
        ptc_heap_adopt(&h.heap, &worker);
        CHECK(h.heap.used == used && h.heap.page_bytes == held && held == bytes_of_pages());
        CHECK(worker.pages == NULL && worker.large == NULL && worker.used == 0);
        CHECK(worker.page_bytes == 0);
        CHECK(ptc_heap_owns(&h.heap, theirs[round]) && ptc_heap_owns(&h.heap, kept));
        /* Both go on allocating, each in its own pages. */
        PtcValue more = rows(&h.heap, ROWS), new = rows(&worker, ROWS);
        CHECK(ptc_heap_owns(&h.heap, more) && ptc_heap_owns(&worker, new));
        CHECK(rows_intact(more, ROWS) && rows_intact(new, ROWS) && rows_intact(kept, ROWS / 2));
        ptc_heap_mark_begin(&h.heap);
        for (int i = 0; i <= round; i++)
            ptc_heap_mark(&h.heap, theirs[i]);
        ptc_heap_mark_finish(&h.heap);
        for (int i = 0; i <= round; i++) {
            CHECK(rows_intact(ptc_seq_nth(theirs[i], 0), ROWS / 2));
            CHECK(rows_intact(ptc_seq_nth(theirs[i], 1), ROWS));
        }
        CHECK(rows_intact(new, ROWS));
        ptc_heap_mark_begin(&worker);
        ptc_heap_mark(&worker, new);
        ptc_heap_mark_finish(&worker);
        CHECK(rows_intact(new, ROWS));
    }
    ptc_heap_deinit(&worker);
    check_heap_deinit(&h);
}

/* Marking stops at the pages of another heap. */
static void test_other_heap(void)
{
    check_heap_init(&h);
    PtcHeap older;
    ptc_heap_init(&older, &h.pool, &h.budget, SIZE_MAX / 4);
    PtcValue base = rows(&older, 500), top = ptc_vec_new(&h.heap, &base, 1, 0);
    ptc_heap_mark_begin(&h.heap);
    ptc_heap_mark(&h.heap, top);
    ptc_heap_mark(&h.heap, base);
    ptc_heap_mark_finish(&h.heap);
    CHECK(h.heap.live == 16);
    CHECK(rows_intact(ptc_seq_nth(top, 0), 500));
    for (const PtcPage *p = older.pages; p; p = p->next)
        CHECK(!p->recycled);
    ptc_heap_deinit(&h.heap);
    ptc_heap_init(&h.heap, &h.pool, &h.budget, SIZE_MAX / 4);
    CHECK(rows_intact(base, 500));
    ptc_heap_deinit(&older);
    check_heap_deinit(&h);
}

static void measure(void)
{
    enum { RUNS = 20000 };
    check_heap_init(&h);
    CHECK(ptc_heap_alloc(&h.heap, 64) != NULL);
    int64_t begun = ptc_clock_ns(NULL);
    for (int i = 0; i < RUNS; i++) {
        PtcHeap run;
        ptc_heap_init(&run, &h.pool, &h.budget, 10 << 20);
        CHECK(ptc_heap_alloc(&run, 64) != NULL);
        ptc_heap_deinit(&run);
    }
    printf("heap: start and drop of a run's heap: %lld ns\n",
           (long long)((ptc_clock_ns(NULL) - begun) / RUNS));
    check_heap_deinit(&h);
}

/* What a tool is about to hand to one thread takes nothing from the others, before and after it is handed over. */
static void test_tool_beside_others(void)
{
    enum { LIMIT_BYTES = 1 << 20, RESULT = 3 << 20 };
    CheckHeap rest;
    PtcAccount account;
    PtcHeap a, b;
    check_heap_init(&rest);
    ptc_heap_init(&a, &rest.pool, &rest.budget, LIMIT_BYTES);
    ptc_heap_init(&b, &rest.pool, &rest.budget, LIMIT_BYTES);
    a.tool_bytes = 4 << 20;
    ptc_account_open(&account, &a);
    ptc_account_share(&a, &account);
    ptc_account_share(&b, &account);
    CHECK(ptc_heap_alloc(&b, RESULT) == NULL);
    rest.budget.stop = PTC_STOP_NONE;
    ptc_heap_tool_begin(&a);
    CHECK(ptc_heap_alloc(&a, RESULT) != NULL);
    CHECK(ptc_heap_alloc(&b, LIMIT_BYTES / 2) != NULL);
    ptc_heap_tool_end(&a, PTC_NONE);
    CHECK(ptc_heap_alloc(&b, LIMIT_BYTES / 4) != NULL);
    CHECK(ptc_heap_alloc(&b, LIMIT_BYTES) == NULL);
    CHECK(atomic_load(&account.raised) == a.raised && a.raised >= RESULT);
    ptc_account_leave(&a);
    ptc_account_leave(&b);
    CHECK(atomic_load(&account.used) == 0 && atomic_load(&account.raised) == 0);
    ptc_heap_deinit(&a);
    ptc_heap_deinit(&b);
    check_heap_deinit(&rest);
}

int main(void)
{
    test_tool_beside_others();
    for (uint64_t seed = 1; seed <= 3; seed++) {
        test_random(seed * 0x9e3779b97f4a7c15, 1 << 20, 128, check_rounds(200000));
        test_random(seed * 0xbf58476d1ce4e5b9, 3 << 20, 8192, check_rounds(200000));
        test_random(seed * 0x94d049bb133111eb, 8 << 20, 40000, check_rounds(200000));
    }
    test_steady_states();
    test_overflow(1000, PLENTY);
    test_overflow(200000, PLENTY);
    test_overflow(100000, FAIL_FIRST);
    test_overflow(100000, FAIL_SECOND);
    test_overflow(20000, NO_MEMORY);
    test_limit();
    test_wake();
    test_ledger_fails();
    test_pool();
    test_adopt();
    test_other_heap();
    measure();
    return check_done("heap");
}
