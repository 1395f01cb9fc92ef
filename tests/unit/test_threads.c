/* SPDX-License-Identifier: MIT
 * What threads may do at once; run it under ThreadSanitizer (preset tsan).
 * Threads report by a flag of their own; only the main thread counts checks. */
#include "check.h"

#include <pthread.h>
#include <stdlib.h>

#include "json/write.h"
#include "ptc/ptc.h"
#include "value/coll/iter.h"
#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/copy.h"
#include "value/equal.h"
#include "value/number/bigint.h"
#include "value/print.h"
#include "value/str.h"

enum { THREADS = 2 };

static void run_all(void *(*body)(void *), void *items, size_t item_size)
{
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, body, (char *)items + i * item_size) == 0);
    for (size_t i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
}

/* A heap and budget for one thread, on a pool for all. */
typedef struct {
    PtcBudget budget;
    PtcHeap heap;
} Own;

static void own_init(Own *own, PtcPool *pool)
{
    ptc_budget_init(&own->budget);
    ptc_heap_init(&own->heap, pool, &own->budget, SIZE_MAX / 4);
}

/* ------------------------------------------------------------------ readers */

static PtcValue named(PtcHeap *heap, bool keyword, const char *format, int i)
{
    char text[32];
    int n = snprintf(text, sizeof text, format, i);
    return keyword ? ptc_keyword_new(heap, text, (size_t)n) : ptc_str_new(heap, text, (size_t)n);
}

/* Rows, a large map by string, a set, a list, numbers that need objects.  Nothing that could cache
 * a hash in the large map has done so for the values. */
static PtcValue make_tree(PtcHeap *heap)
{
    PtcValue rows = ptc_build_new(heap), big = ptc_map_empty(heap), set = ptc_set_empty(heap);
    PtcValue list = ptc_vec_new(heap, NULL, 0, 0);
    bool ok = true;
    for (int i = 0; i < 300; i++) {
        PtcValue row = ptc_map_empty(heap);
        row = ptc_map_assoc(heap, row, named(heap, true, "user-id", 0), ptc_int(i));
        row = ptc_map_assoc(heap, row, named(heap, false, "name", 0), named(heap, false, "n%d", i));
        row =
            ptc_map_assoc(heap, row, named(heap, true, "score", 0), ptc_float_new(heap, i * 1e80));
        ok = ok && ptc_build_add(heap, rows, row);
        big =
            ptc_map_assoc(heap, big, named(heap, false, "key_%d", i), named(heap, false, "v%d", i));
        set = ptc_set_add(heap, set, named(heap, true, "tag%d", i % 40));
        list = ptc_cons_new(heap, named(heap, true, "k%d", i), list);
    }
    PtcValue parts[] = {ptc_build_done(heap, rows, 0),
                        big,
                        set,
                        list,
                        ptc_int_parse(heap, "123456789012345678901234567890", 30),
                        ptc_range_new(heap, 5, 3, 1000)};
    return ok ? ptc_vec_new(heap, parts, 6, 0) : PTC_NONE;
}

typedef struct {
    Own own;
    PtcMem *mem;
    PtcValue tree, twin;
    PtcBuf text, json;
    uint32_t hash;
    bool good;
} Reader;

static bool read_rows(Reader *r)
{
    PtcHeap *heap = &r->own.heap;
    PtcValue rows = ptc_seq_nth(r->tree, 0), row;
    PtcValue id = named(heap, false, "user_id", 0), name = named(heap, true, "name", 0);
    PtcIter it;
    int i = 0;
    if (!ptc_iter_init(&it, heap, rows))
        return false;
    for (; ptc_iter_next(&it, &row); i++) {
        if (ptc_map_get_flex(heap, row, id) != ptc_int(i))
            return false;
        if (!ptc_same(heap, ptc_map_get_flex(heap, row, name), named(heap, false, "n%d", i)))
            return false;
    }
    return i == 300;
}

static bool read_maps(Reader *r)
{
    PtcHeap *heap = &r->own.heap;
    PtcValue big = ptc_seq_nth(r->tree, 1), set = ptc_seq_nth(r->tree, 2);
    for (int i = 0; i < 300; i++) {
        PtcValue got = ptc_map_get_flex(heap, big, named(heap, true, "key-%d", i));
        if (got == PTC_NONE || ptc_hash(heap, got) != ptc_hash(heap, named(heap, true, "v%d", i)))
            return false;
        if (ptc_set_has(heap, set, named(heap, true, "tag%d", i)) != (i < 40))
            return false;
    }
    return true;
}

/* New versions of shared collections, in a heap of one's own. */
static bool go_on(Reader *r)
{
    PtcHeap *heap = &r->own.heap;
    PtcValue rows = ptc_seq_nth(r->tree, 0), big = ptc_seq_nth(r->tree, 1);
    PtcValue small = ptc_seq_nth(rows, 7);
    for (int i = 0; i < 100; i++) {
        rows = ptc_vec_conj(heap, rows, ptc_int(i));
        big = ptc_map_assoc(heap, big, ptc_int(i), PTC_TRUE);
        small = ptc_map_assoc(heap, small, ptc_int(i), PTC_TRUE);
        big = ptc_map_dissoc(heap, big, named(heap, false, "key_%d", i));
        rows = ptc_vec_assoc(heap, rows, (size_t)i * 3, PTC_NIL);
    }
    return ptc_seq_count(rows) == 400 && ptc_map_count(big) == 300 && ptc_map_count(small) == 103;
}

static void *reader_body(void *arg)
{
    Reader *r = arg;
    PtcHeap *heap = &r->own.heap;
    PtcJsonError error;
    r->good = read_rows(r) && read_maps(r) && go_on(r);
    r->hash = ptc_hash(heap, r->tree);
    r->good = r->good && ptc_equal(heap, r->tree, r->twin) && ptc_same(heap, r->twin, r->tree);
    PtcPrinter printer = {.heap = heap, .readable = true, .float_precision = -1};
    PtcJsonWriter writer = {.heap = heap, .float_precision = -1};
    r->good = r->good && ptc_print(&printer, &r->text, r->tree);
    r->good = r->good && ptc_json_write(&writer, &r->json, r->tree, &error);
    PtcCopy copy;
    ptc_copy_init(&copy, heap);
    PtcValue mine = ptc_copy_value(&copy, r->tree);
    ptc_copy_deinit(&copy);
    r->good = r->good && mine != PTC_NONE && ptc_same(heap, mine, r->tree);
    ptc_heap_mark_begin(heap);
    ptc_heap_mark(heap, mine);
    ptc_heap_mark_finish(heap);
    r->good = r->good && ptc_same(heap, mine, r->tree) && r->own.budget.stop == PTC_STOP_NONE;
    return NULL;
}

static void test_readers(void)
{
    for (int round = 0; round < 10; round++) {
        static CheckHeap h;
        static Reader readers[THREADS];
        check_heap_init(&h);
        PtcValue tree = make_tree(&h.heap), twin = make_tree(&h.heap);
        for (int i = 0; i < THREADS; i++) {
            own_init(&readers[i].own, &h.pool);
            readers[i].tree = tree;
            readers[i].twin = twin;
            ptc_buf_init(&readers[i].text, &h.mem, SIZE_MAX / 2);
            ptc_buf_init(&readers[i].json, &h.mem, SIZE_MAX / 2);
        }
        run_all(reader_body, readers, sizeof readers[0]);
        for (int i = 0; i < THREADS; i++) {
            CHECK(readers[i].good);
            CHECK(readers[i].hash == ptc_hash(&h.heap, twin));
            CHECK(readers[i].text.len > 10000 && readers[i].json.len > 10000);
            CHECK_STR(ptc_buf_text(&readers[i].text), ptc_buf_text(&readers[0].text));
            CHECK_STR(ptc_buf_text(&readers[i].json), ptc_buf_text(&readers[0].json));
        }
        for (int i = 0; i < THREADS; i++) {
            ptc_buf_deinit(&readers[i].text);
            ptc_buf_deinit(&readers[i].json);
            ptc_heap_deinit(&readers[i].own.heap);
        }
        CHECK(ptc_equal(&h.heap, tree, twin));
        check_heap_deinit(&h);
    }
}

/* ------------------------------------------------------------------ workers */

typedef struct {
    Own own;
    PtcValue input; /* of the parent */
    int number;
    PtcValue result;
    bool good;
} Worker;

static PtcValue work_row(PtcHeap *heap, PtcValue row, int number)
{
    PtcValue m = ptc_map_assoc(heap, row, named(heap, true, "worker", 0), ptc_int(number));
    return ptc_map_assoc(heap, m, named(heap, true, "text", 0),
                         named(heap, false, "by %d", number));
}

static void collect_from(PtcHeap *heap, PtcValue root)
{
    ptc_heap_mark_begin(heap);
    ptc_heap_mark(heap, root);
    ptc_heap_mark_finish(heap);
}

/* Maps the parent's rows to new ones that point into them, with much garbage and some collections. */
static void *worker_body(void *arg)
{
    Worker *w = arg;
    PtcHeap *heap = &w->own.heap;
    PtcValue rows = ptc_seq_nth(w->input, 0), b = ptc_build_new(heap);
    w->good = true;
    for (int turn = 0; turn < 40; turn++) {
        for (size_t i = 0; i < ptc_seq_count(rows); i++) {
            PtcValue row = work_row(heap, ptc_seq_nth(rows, i), w->number);
            w->good = w->good && row != PTC_NONE && (turn % 4 || ptc_build_add(heap, b, row));
        }
        char large[20000];
        memset(large, 'a' + w->number, sizeof large);
        PtcValue s = ptc_str_new(heap, large, sizeof large);
        w->good = w->good && ptc_build_add(heap, b, s);
        collect_from(heap, b);
    }
    w->result = ptc_build_done(heap, b, 0);
    w->good = w->good && w->own.budget.stop == PTC_STOP_NONE;
    return NULL;
}

static bool result_right(PtcHeap *heap, const Worker *w)
{
    PtcValue rows = ptc_seq_nth(w->input, 0), x;
    size_t n = ptc_seq_count(rows), i = 0;
    PtcIter it;
    if (ptc_seq_count(w->result) != 10 * n + 40 || !ptc_iter_init(&it, heap, w->result))
        return false;
    for (int turn = 0; turn < 40; turn++) {
        for (i = 0; turn % 4 == 0 && i < n; i++) {
            PtcValue want = work_row(heap, ptc_seq_nth(rows, i), w->number);
            if (!ptc_iter_next(&it, &x) || !ptc_same(heap, x, want))
                return false;
        }
        if (!ptc_iter_next(&it, &x) || !ptc_is_string(x) || ptc_str_len(x) != 20000 ||
            ptc_str_bytes(x)[19999] != 'a' + w->number)
            return false;
    }
    return true;
}

static void test_workers(void)
{
    static CheckHeap h;
    static Worker workers[THREADS];
    check_heap_init(&h);
    PtcValue tree = make_tree(&h.heap), kept = ptc_vec_new(&h.heap, &tree, 1, 0);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < THREADS; i++) {
            own_init(&workers[i].own, &h.pool);
            workers[i].input = tree;
            workers[i].number = i;
        }
        run_all(worker_body, workers, sizeof workers[0]);
        for (int i = 0; i < THREADS; i++) {
            CHECK(workers[i].good);
            ptc_heap_adopt(&h.heap, &workers[i].own.heap);
            CHECK(ptc_heap_owns(&h.heap, workers[i].result));
            ptc_heap_deinit(&workers[i].own.heap);
        }
        for (int i = 0; i < THREADS; i++) {
            CHECK(result_right(&h.heap, &workers[i]));
            kept = ptc_vec_conj(&h.heap, kept, workers[i].result);
        }
        collect_from(&h.heap, kept);
        for (int i = 0; i < THREADS; i++)
            CHECK(result_right(&h.heap, &workers[i]));
        CHECK(h.budget.stop == PTC_STOP_NONE);
    }
    collect_from(&h.heap, PTC_NIL);
    CHECK(h.heap.page_bytes == 0);
    check_heap_deinit(&h);
}

/* Heaps come and go on one pool at the same time. */
typedef struct {
    PtcPool *pool;
    bool good;
} Churner;

static void *churn_body(void *arg)
{
    Churner *c = arg;
    c->good = true;
    for (int i = 0; i < 300; i++) {
        Own own;
        own_init(&own, c->pool);
        size_t want = (size_t)(i % 90) * PTC_PAGE_BYTES;
        while (own.heap.page_bytes < want && c->good) {
            char *p = ptc_heap_alloc(&own.heap, 600);
            c->good = p != NULL;
            if (p)
                memset(p, i, 600);
        }
        ptc_heap_deinit(&own.heap);
    }
    return NULL;
}

static void test_pool(void)
{
    static CheckHeap h;
    check_heap_init(&h);
    Churner churners[THREADS];
    for (int i = 0; i < THREADS; i++)
        churners[i].pool = &h.pool;
    run_all(churn_body, churners, sizeof churners[0]);
    for (int i = 0; i < THREADS; i++)
        CHECK(churners[i].good);
    check_heap_deinit(&h);
}

/* ------------------------------------------------------------------ engines */

static const char *const programs[][2] = {
    {"(reduce + (map inc (range 1000)))", "500500"},
    {"(count (loop [m {} i 0] (if (< i 2000) (recur (assoc m (str \"k\" (mod i 700)) [i]) (inc i)) "
     "m)))",
     "700"},
    {"(count (loop [v [] i 0] (if (< i 2000) (recur (conj v (str i)) (inc i)) v)))", "2000"},
    {"(get {:user-id 7} \"user_id\")", "7"},
    {"(def total (+ 1 (* 2 3)))\n(+ total 1)", "8"},
    {"(str (reverse [1 2 3]) :k \"s\")", NULL},
    {"(first nil)", "nil"},
};
enum { PROGRAMS = sizeof programs / sizeof programs[0] };

/* Does this program say what it should? */
static bool eval_right(Ptc *ptc, PtcSession *session, const char *program, const char *want)
{
    PtcRun run;
    PtcOutcome *o = NULL;
    ptc_run_init(&run, sizeof run);
    run.program = program;
    run.program_len = strlen(program);
    run.session = session;
    if (ptc_eval(ptc, &run, &o) != PTC_OK)
        return false;
    const char *text = ptc_outcome_text(o, NULL, NULL);
    bool good = ptc_outcome_ok(o) && text && (!want || strcmp(text, want) == 0);
    ptc_outcome_free(o);
    return good;
}

static void *engine_body(void *arg)
{
    bool *good = arg;
    *good = true;
    for (int engine = 0; engine < 5; engine++) {
        PtcOptions options;
        PtcLimits limits;
        ptc_options_init(&options, sizeof options);
        ptc_limits_init(&limits, sizeof limits);
        limits.timeout_ms = 60000; /* a sanitizer is slow */
        options.limits = &limits;
        options.gc_stress = engine == 4;
        Ptc *ptc = ptc_new(&options);
        PtcSession *session = ptc ? ptc_session_new(ptc) : NULL;
        *good = *good && session;
        for (int round = 0; *good && round < (options.gc_stress ? 1 : 6); round++)
            for (size_t p = 0; *good && p < PROGRAMS; p++)
                *good = eval_right(ptc, round % 2 ? session : NULL, programs[p][0], programs[p][1]);
        ptc_session_free(session);
        ptc_free(ptc);
    }
    return NULL;
}

static void test_engines(void)
{
    bool good[THREADS];
    run_all(engine_body, good, sizeof good[0]);
    for (int i = 0; i < THREADS; i++)
        CHECK(good[i]);
}

/* Several threads read one outcome. */
typedef struct {
    PtcValue value;
    bool good;
} OutcomeReader;

static void *outcome_body(void *arg)
{
    OutcomeReader *r = arg;
    r->good = ptc_value_count(r->value) == 500;
    for (size_t i = 0; i < 500 && r->good; i++) {
        PtcValue row = ptc_value_at(r->value, i);
        const char *text;
        size_t len;
        int64_t n;
        char want[16];
        snprintf(want, sizeof want, "%zu", i);
        r->good = ptc_value_int(ptc_value_get(row, "user_id", 7), &n) && n == (int64_t)i &&
                  ptc_value_string(ptc_value_get(row, "name", 4), &text, &len) &&
                  strcmp(text, want) == 0 && ptc_value_get(row, "none", 4) == 0;
    }
    return NULL;
}

static void test_outcome(void)
{
    static const char program[] = "(mapv (fn [i] {:user-id i :name (str i)}) (range 500))";
    Ptc *ptc = ptc_new(NULL);
    PtcLimits limits;
    PtcRun run;
    PtcOutcome *o = NULL;
    ptc_run_init(&run, sizeof run);
    ptc_limits_init(&limits, sizeof limits);
    limits.timeout_ms = 60000;
    run.limits = &limits;
    run.program = program;
    run.program_len = sizeof program - 1;
    CHECK(ptc_eval(ptc, &run, &o) == PTC_OK && ptc_outcome_ok(o));
    OutcomeReader readers[THREADS];
    for (int i = 0; i < THREADS; i++)
        readers[i].value = ptc_outcome_value(o);
    run_all(outcome_body, readers, sizeof readers[0]);
    for (int i = 0; i < THREADS; i++)
        CHECK(readers[i].good);
    ptc_outcome_free(o);
    ptc_free(ptc);
}

/* ------------------------------------------------------------------- cancel */

typedef struct {
    Ptc *ptc;
    const char *program;
    atomic_bool done;
    char kind[32];
    bool ok;
} Endless;

static void *endless_body(void *arg)
{
    Endless *e = arg;
    PtcLimits limits;
    PtcRun run;
    PtcOutcome *o = NULL;
    ptc_limits_init(&limits, sizeof limits);
    limits.loop_limit = (int64_t)1 << 60;
    limits.timeout_ms = limits.deadline_ms = 600000;
    ptc_run_init(&run, sizeof run);
    run.program = e->program;
    run.program_len = strlen(e->program);
    run.limits = &limits;
    PtcError error = {.size = sizeof error};
    if (ptc_eval(e->ptc, &run, &o) == PTC_OK) {
        e->ok = ptc_outcome_ok(o);
        if (ptc_outcome_error(o, 0, &error))
            snprintf(e->kind, sizeof e->kind, "%s", error.kind);
        ptc_outcome_free(o);
    }
    atomic_store(&e->done, true);
    return NULL;
}

static void test_cancel(void)
{
    static const char *const endless[] = {
        "(loop [] (recur))",
        "(loop [v [] i 0] (recur (if (> (count v) 1000) [] (conj v (str i))) (inc i)))",
        "(reduce (fn [a x] (reduce + a (range 1000000000))) 0 (range 1000000000))",
    };
    Ptc *ptc = ptc_new(NULL);
    for (size_t i = 0; i < sizeof endless / sizeof endless[0]; i++) {
        Endless e = {.ptc = ptc, .program = endless[i]};
        pthread_t thread;
        ptc_cancel(ptc); /* nothing runs: has no effect */
        CHECK(pthread_create(&thread, NULL, endless_body, &e) == 0);
        check_pause_us(30000);
        CHECK(!atomic_load(&e.done));
        /* The run may not have begun yet, so once is not enough. */
        int64_t before = check_cpu_ms();
        while (!atomic_load(&e.done)) {
            ptc_cancel(ptc);
            check_pause_us(1000);
        }
        CHECK(check_cpu_ms() - before < 3000);
        pthread_join(thread, NULL);
        CHECK(!e.ok);
        CHECK_STR(e.kind, "cancelled");
        /* The engine is as good as new. */
        CHECK(eval_right(ptc, NULL, "(+ 1 2)", "3"));
    }
    ptc_free(ptc);
}

int main(void)
{
    CHECK_RUN(test_readers());
    CHECK_RUN(test_workers());
    CHECK_RUN(test_pool());
    CHECK_RUN(test_engines());
    CHECK_RUN(test_outcome());
    CHECK_RUN(test_cancel());
    return check_done("threads");
}
