/* SPDX-License-Identifier: MIT
 * The arguments of tools, their way out as JSON, and their cache keys.  Run from the repository's root, or give the
 * directory of the case files. */
#include "boundary_help.h"

#include <math.h>

#include "tool/cache_key.h"
#include "tool/convert.h"
#include "tool/keys.h"

static Ptc *ptc;

/* ----------------------------------------------------------------------- cases */

/* The date of the case comes to a tool as its text. */
static void case_normalize(PtcValue input, PtcValue expect)
{
    static char program[4096];
    PtcKeysError e;
    PtcValue argv[64], x;
    PtcIter it;
    int argc = 0;
    snprintf(program, sizeof program, "[%s]", ptc_str_bytes(get(input, "args")));
    PtcOutcome *o = run_program(ptc, program);
    CHECK(ptc_iter_init(&it, &o->heap, o->value));
    while (argc < 64 && ptc_iter_next(&it, &x))
        argv[argc++] = x;
    PtcValue got = ptc_tool_args_pairs(&o->heap, "probe", 5, argc, argv, &e);
    check_case((got != PTC_NONE) == (get(expect, "ok") == PTC_TRUE), "accepted or not");
    if (get(expect, "ok") != PTC_TRUE) {
        check_case(strstr(e.message, "(tool/probe {:key value})") != NULL, e.message);
    } else if (got != PTC_NONE) {
        PtcValue want = get(expect, "received");
        if (get(expect, "plain_json") == PTC_FALSE)
            want = parse("{\"day\":\"2024-02-29\"}");
        check_case(ptc_equal(&h.heap, got, want), write(got));
    }
    ptc_outcome_free(o);
}

static const char *key_of(PtcValue call, char text[4096])
{
    PtcBuf buf;
    PtcKeysError e;
    PtcValue name = get(call, "name");
    ptc_buf_init(&buf, &h.mem, 4095);
    bool ok = ptc_cache_key(&h.heap, &buf, ptc_str_bytes(name), ptc_str_len(name),
                            untag(get(call, "args")), &e);
    snprintf(text, 4096, "%.*s", (int)buf.len, buf.data);
    if (!ok)
        snprintf(text, 4096, "! %s", e.message);
    ptc_buf_deinit(&buf);
    return text;
}

static void case_cache_key(PtcValue input, PtcValue expect)
{
    static char a[4096], b[4096];
    key_of(get(input, "a"), a);
    key_of(get(input, "b"), b);
    check_case((strcmp(a, b) == 0) == (get(expect, "same") == PTC_TRUE), a);
    bool clash = strcmp(case_id, "ck-029") == 0; /* two keys that become one are an error here */
    check_case((a[0] == '!') == clash && b[0] != '!', a);
}

/* Sets and durations have a JSON form here: docs/divergences/values-at-the-boundary.md. */
static bool has_json_here(PtcValue kind)
{
    return is_text(kind, "MapSet") || is_text(kind, "Duration");
}

static void case_to_json(PtcValue input, PtcValue expect)
{
    PtcBuf buf;
    PtcJsonError e;
    PtcOutcome *o = run_program(ptc, ptc_str_bytes(get(input, "program")));
    ptc_buf_init(&buf, &h.mem, 1 << 16);
    bool ok = ptc_to_json_value(&o->heap, &buf, o->value, -1, &e);
    PtcValue kind = get(expect, "kind"), want = get(expect, "json");
    if (strcmp(case_id, "tj-050") == 0)
        want =
            PTC_NIL; /* in a regex literal `\\\\` is a backslash, as in Clojure, so nothing is found */
    check_case(ok == (want != PTC_NONE || has_json_here(kind)), e.message);
    if (ok && want != PTC_NONE)
        check_case(ptc_equal(&h.heap, want, ptc_json_parse(&h.heap, buf.data, buf.len, &e)),
                   ptc_buf_text(&buf));
    if (!ok)
        check_case(is_text(get(expect, "path"), e.path) && is_text(kind, "Var") &&
                       strcmp(e.what, "a var") == 0,
                   e.message);
    ptc_buf_deinit(&buf);
    ptc_outcome_free(o);
}

/* ------------------------------------------------------------------------ JSON */

/* JSON of a program's value, or "! what at path". */
static const char *json(const char *program)
{
    PtcBuf buf;
    PtcJsonError e;
    PtcOutcome *o = run_program(ptc, program);
    ptc_buf_init(&buf, &h.mem, 1 << 16);
    bool ok = ptc_to_json_value(&o->heap, &buf, o->value, -1, &e);
    ptc_outcome_free(o);
    if (ok)
        return keep(&buf);
    ptc_buf_deinit(&buf);
    snprintf(out, sizeof out, "! %s at %s", e.what, e.path);
    return out;
}

static void test_json(void)
{
    CHECK_STR(json("42"), "42");
    CHECK_STR(json("1.5"), "1.5");
    CHECK_STR(json(":foo"), "\"foo\"");
    CHECK_STR(json("[1 :ok \"a\"]"), "[1,\"ok\",\"a\"]");
    CHECK_STR(json("(Instant/parse \"2026-05-07T12:00:00Z\")"), "\"2026-05-07T12:00:00Z\"");
    CHECK_STR(json("{:count 2 :items [:a :b]}"), "{\"count\":2,\"items\":[\"a\",\"b\"]}");
    CHECK_STR(json("{:rows [{:ts inc}]}"), "! a function at rows[0].ts");
    CHECK_STR(json("{:rows [{:ts 1} {:a-b {\"odd key\" #\"x\"}}]}"),
              "! a regex at rows[1].a-b[\"odd key\"]");
    CHECK_STR(json("[[1 ##NaN]]"), "! ##NaN at [0][1]");
    CHECK_STR(json("##-Inf"), "! ##-Inf at <root>");
    CHECK_STR(json("{:a {:b 1 \"b\" 2}}"), "! two keys that become the same string at a");
    CHECK_STR(json("[{[1] 2}]"), "! a vector at [0]");
    CHECK_STR(json("{:n 123456789012345678901234567890 :s #{1}}"),
              "{\"n\":123456789012345678901234567890,\"s\":[1]}");
    CHECK_STR(json("{1 {2 inc}}"), "! a function at 1.2");
    CHECK_STR(json("(Duration/ofHours 1)"), "\"PT1H\"");
    CHECK_STR(json("{:f (fn [x] x)}"), "! a function at f");
}

/* ------------------------------------------------------------------- arguments */

/* What a tool gets from the arguments in this text, or "! message". */
static const char *args(const char *text)
{
    static char program[8192], got[8192];
    PtcKeysError e;
    PtcValue argv[64], x;
    PtcIter it;
    int argc = 0;
    snprintf(program, sizeof program, "[%s]", text);
    PtcOutcome *o = run_program(ptc, program);
    CHECK(ptc_iter_init(&it, &o->heap, o->value));
    while (argc < 64 && ptc_iter_next(&it, &x))
        argv[argc++] = x;
    PtcValue v = ptc_tool_args_pairs(&o->heap, "f", 1, argc, argv, &e);
    snprintf(got, sizeof got, "%s%s", v == PTC_NONE ? "! " : "",
             v == PTC_NONE ? e.message : write(v));
    ptc_outcome_free(o);
    return got;
}

static void test_args(void)
{
    CHECK_STR(args(""), "{}");
    CHECK_STR(args("{:a-b {:c-d #{:x-y}}}"), "{\"a_b\":{\"c_d\":[\"x-y\"]}}");
    CHECK_STR(args("{:xs [1 2 :k (range 3) '(a)]}"), "{\"xs\":[1,2,\"k\",[0,1,2],[\"a\"]]}");
    CHECK_STR(args("{true 1 nil 2 -3 4 2.5 5}"), "{\"true\":1,\"nil\":2,\"-3\":4,\"2.5\":5}");
    CHECK_STR(args("{:t (Duration/ofMinutes 5) :d DayOfWeek/MONDAY}"),
              "{\"t\":\"PT5M\",\"d\":\"MONDAY\"}");
    CHECK_STR(args(":a 1 :b-c {:d :e}"), "{\"a\":1,\"b_c\":{\"d\":\"e\"}}");
    /* More than fit a small map, by both ways. */
    CHECK_STR(
        args("(into {} (map (fn [i] [(keyword (str \"k-\" i)) :v]) (range 17)))"),
        "{\"k_0\":\"v\",\"k_1\":\"v\",\"k_2\":\"v\",\"k_3\":\"v\",\"k_4\":\"v\",\"k_5\":\"v\","
        "\"k_6\":\"v\",\"k_7\":\"v\",\"k_8\":\"v\",\"k_9\":\"v\",\"k_10\":\"v\",\"k_11\":\"v\","
        "\"k_12\":\"v\",\"k_13\":\"v\",\"k_14\":\"v\",\"k_15\":\"v\",\"k_16\":\"v\"}");
    CHECK_STR(args(":a 1 :b 2 :c 3 :d 4 :e 5 :f 6 :g 7 :h 8 :i 9 :j 10 :k 11 :l 12 :m 13 :n 14 "
                   ":o 15 :p 16 :q-r :s"),
              "{\"a\":1,\"b\":2,\"c\":3,\"d\":4,\"e\":5,\"f\":6,\"g\":7,\"h\":8,\"i\":9,\"j\":10,"
              "\"k\":11,\"l\":12,\"m\":13,\"n\":14,\"o\":15,\"p\":16,\"q_r\":\"s\"}");
}

static void test_bad_args(void)
{
    CHECK_STR(args("{:a-b 1 \"a_b\" 2}"),
              "! the keys :a-b and \"a_b\" become the same name for a tool: give one of them");
    CHECK_STR(args("{:o [{\"x-y\" 1 \"x_y\" 2}]}"),
              "! in o[0]: the keys \"x-y\" and \"x_y\" become "
              "the same name for a tool: give one of them");
    CHECK_STR(args("(assoc (zipmap (range 20) (range 20)) \"7\" 1)"),
              "! the keys 7 and \"7\" become the same name for a tool: give one of them");
    CHECK_STR(args(":a 1 :a 2"),
              "! the keys :a and :a become the same name for a tool: give one of them");
    CHECK_STR(args("{:rows [{:f inc}]}"),
              "! rows[0].f is a function, but tools take only values that "
              "JSON can express: convert it or leave it out");
    CHECK_STR(args("{:n ##Inf}"), "! n is ##Inf, but tools take only values that JSON can express: "
                                  "convert it or leave it out");
    CHECK(strstr(args("{:m {[1] 2}}"), "m[?] is under a vector as its key") != NULL);
    CHECK(strstr(args("{:s (iterate inc 1)}"), "s is an endless sequence") != NULL);
    CHECK_STR(args("\"text\""),
              "! a tool takes one map, or keywords and values in turn: got a string; write (tool/f "
              "{:key value}) or (tool/f :key value)");
    CHECK(strstr(args(":a 1 \"b\" 2"), "argument 3 is a string where a keyword is expected") !=
          NULL);
    CHECK(strstr(args(":a 1 :b"), "the last keyword, :b, has no value") != NULL);
    CHECK(strstr(args("{:a 1} :b 2"), "argument 1 is a map") != NULL);
}

static PtcValue nested(size_t depth)
{
    PtcValue v = ptc_vec_new(&h.heap, NULL, 0, 0);
    for (size_t i = 2; i < depth; i++)
        v = ptc_vec_new(&h.heap, &v, 1, 0);
    return ptc_map_assoc(&h.heap, ptc_map_empty(&h.heap), keyword("deep"), v);
}

static void test_depth(void)
{
    PtcKeysError e;
    PtcBuf buf;
    ptc_buf_init(&buf, &h.mem, 1 << 16);
    CHECK(ptc_tool_args(&h.heap, nested(PTC_PLACE_DEPTH), &e) != PTC_NONE);
    CHECK(ptc_cache_key(&h.heap, &buf, "f", 1, nested(PTC_PLACE_DEPTH), &e));
    CHECK(ptc_tool_args(&h.heap, nested(PTC_PLACE_DEPTH + 1), &e) == PTC_NONE && !e.stopped);
    CHECK(strstr(e.message, "nested deeper than 200 levels, at deep[0][0]") != NULL);
    CHECK(!ptc_cache_key(&h.heap, &buf, "f", 1, nested(100000), &e) && !e.stopped);
    CHECK(ptc_tool_args(&h.heap, ptc_int(5), &e) == PTC_NONE);
    CHECK_STR(e.message, "the arguments of a tool are a map, such as {:id 7}; this is an integer");
    ptc_buf_deinit(&buf);
}

/* --------------------------------------------------------------------- sharing */

static PtcValue shape_of(PtcValue map)
{
    return ((PtcSmap *)(uintptr_t)map)->shape;
}

/* Bytes that the heap hands out for one conversion. */
static size_t cost(PtcValue map, PtcValue *result)
{
    PtcKeysError e;
    const char *before = h.heap.cur;
    *result = ptc_tool_args(&h.heap, map, &e);
    return (size_t)(h.heap.cur - before);
}

static void test_sharing(void)
{
    PtcValue plain = parse("{\"a\":1,\"b_c\":\"text\",\"d\":[1,[2.5,null]],\"e\":{\"f\":true}}"), r;
    CHECK(cost(plain, &r) == 0 && r == plain);
    PtcValue large = ptc_map_empty(&h.heap);
    for (int i = 0; i < 100; i++) {
        char name[16];
        snprintf(name, sizeof name, "k%d", i);
        large = ptc_map_assoc(&h.heap, large, str(name), ptc_int(i));
    }
    CHECK(cost(large, &r) == 0 && r == large);

    PtcValue text = str("some text that is not copied");
    PtcValue m = ptc_map_assoc(&h.heap, ptc_map_empty(&h.heap), keyword("page-size"), text);
    PtcValue first = PTC_NONE, second = PTC_NONE;
    m = ptc_map_assoc(&h.heap, m, str("q"), ptc_int(1));
    PtcValue again_ = ptc_map_assoc(&h.heap, m, str("q"), ptc_int(2));
    CHECK(cost(m, &first) > sizeof(PtcSmap) + 2 * sizeof(PtcValue));
    /* The second map of one shape costs a map, nothing else. */
    CHECK(cost(again_, &second) == sizeof(PtcSmap) + 2 * sizeof(PtcValue));
    CHECK(shape_of(first) == shape_of(second));
    CHECK_STR(write(second), "{\"page_size\":\"some text that is not copied\",\"q\":2}");
    CHECK(ptc_map_get(&h.heap, second, str("page_size")) == text);
    CHECK(ptc_map_get_flex(&h.heap, second, keyword("page-size")) == text);

    /* After a collection the heap may use the addresses of dead shapes again. */
    ptc_heap_mark_begin(&h.heap);
    ptc_heap_mark(&h.heap, again_);
    ptc_heap_mark_finish(&h.heap);
    PtcValue dummy = parse("{\"x\":[1,2,3],\"y\":{\"z\":\"new\"}}");
    CHECK(dummy != PTC_NONE && cost(again_, &r) > 0);
    CHECK_STR(write(r), "{\"page_size\":\"some text that is not copied\",\"q\":2}");
}

/* A vector is copied from the first element that changes. */
static void test_vectors(void)
{
    PtcKeysError e;
    PtcValue v = ptc_vec_new(&h.heap, NULL, 0, 0);
    for (int i = 0; i < 1000; i++)
        v = ptc_vec_conj(&h.heap, v, ptc_int(i));
    PtcValue m = ptc_map_assoc(&h.heap, ptc_map_empty(&h.heap), str("v"), v);
    CHECK(ptc_tool_args(&h.heap, m, &e) == m);
    m = ptc_map_assoc(&h.heap, m, str("v"), ptc_vec_assoc(&h.heap, v, 700, keyword("k")));
    PtcValue r = ptc_tool_args(&h.heap, m, &e);
    PtcValue got = ptc_map_get(&h.heap, r, str("v"));
    CHECK(ptc_seq_count(got) == 1000 && ptc_seq_nth(got, 999) == ptc_int(999));
    CHECK(is_text(ptc_seq_nth(got, 700), "k") && ptc_seq_nth(got, 0) == ptc_int(0));
}

/* ----------------------------------------------------------------- cache keys */

static const char *key(const char *args_json)
{
    static char text[4096];
    PtcBuf buf;
    PtcKeysError e;
    ptc_buf_init(&buf, &h.mem, 4000);
    bool ok = ptc_cache_key(&h.heap, &buf, "t", 1, untag(parse(args_json)), &e);
    snprintf(text, sizeof text, "%.*s", (int)buf.len, buf.data);
    if (!ok)
        snprintf(text, sizeof text, "! %s", e.message);
    ptc_buf_deinit(&buf);
    return text;
}

static void test_cache_keys(void)
{
    CHECK_STR(key("{\"b-c\":1.0,\"a\":[null,true,\"x;\"]}"), "t1:t{s1:a[nts2:x;]s3:b_ci1;}");
    CHECK_STR(key("{}"), "t1:t{}");
    CHECK_STR(key("{\"s\":{\"$set\":[[2],{\"$set\":[3,1]},\"a\"]}}"),
              "t1:t{s1:s<<i1;i3;>[i2;]s1:a>}");
    CHECK_STR(key("{\"s\":{\"$set\":[\"a\",{\"$set\":[1,3]},[2]]}}"),
              "t1:t{s1:s<<i1;i3;>[i2;]s1:a>}");
    CHECK(strstr(key("{\"o\":{\"a-b\":1,\"a_b\":1}}"), "! in o: the keys \"a") != NULL);
    CHECK(strncmp(key("{\"f\":[{\"$fn\":1}]}"), "! f[0] is a function", 20) == 0);
    PtcBuf small;
    PtcKeysError e;
    ptc_buf_init(&small, &h.mem, 8);
    CHECK(!ptc_cache_key(&h.heap, &small, "name", 4, parse("{\"a\":12345}"), &e) && !e.stopped);
    CHECK_STR(e.message, "the key is longer than 8 bytes");
    ptc_buf_deinit(&small);
}

/* ------------------------------------------------------------------- torture */

static PtcValue torture_args(PtcHeap *heap)
{
    static const char text[] =
        "{\"a-b\":[1,{\"c-d\":[{\"e\":2.5,\"f\":[\"x\",null]}]}],\"big\":123456789012345678901234,"
        "\"k1\":1,\"k2\":2,\"k3\":3,\"k4\":4,\"k5\":5,\"k6\":6,\"k7\":7,\"k8\":8,\"k9\":9,\"k10\":"
        "1,"
        "\"k11\":1,\"k-12\":1,\"k13\":1,\"k14\":1,\"k15\":1e22}";
    PtcJsonError e;
    PtcValue v = ptc_json_parse(heap, text, sizeof text - 1, &e);
    for (int i = 0; v != PTC_NONE && i < 40; i++) {
        PtcValue set = ptc_set_empty(heap), k;
        if (set == PTC_NONE || (k = ptc_keyword_new(heap, "key-word", 8)) == PTC_NONE ||
            (set = ptc_set_add(heap, set, k)) == PTC_NONE)
            return PTC_NONE;
        v = ptc_map_assoc(heap, v, ptc_int(i), set);
    }
    return v;
}

/* Everything with each allocation failing in turn, until none does. */
static void test_torture(void)
{
    for (uint64_t n = 1; n < 10000; n++) {
        CheckHeap t;
        PtcKeysError e = {0};
        PtcJsonError j = {0};
        PtcBuf buf;
        check_heap_init(&t);
        PtcValue v = torture_args(&t.heap);
        ptc_buf_init(&buf, &t.mem, SIZE_MAX / 2);
        ptc_mem_fail_at(&t.mem, n);
        PtcValue r = ptc_tool_args(&t.heap, v, &e);
        bool ok = r != PTC_NONE && ptc_cache_key(&t.heap, &buf, "tool", 4, v, &e);
        CHECK(ok || (e.stopped && t.budget.stop == PTC_STOP_MEMORY));
        bool all = ok && ptc_to_json_value(&t.heap, &buf, v, -1, &j);
        CHECK(all || !ok || (j.stopped && t.budget.stop == PTC_STOP_MEMORY));
        bool done = atomic_load(&t.mem.count) < n;
        ptc_buf_deinit(&buf);
        CHECK(t.heap.scratch == 0);
        check_heap_deinit(&t);
        if (done) {
            CHECK(all && n > 1);
            return;
        }
    }
    CHECK(!"torture ended");
}

/* A budget that stops ends every loop. */
static void test_time(void)
{
    PtcKeysError e;
    PtcBuf buf;
    PtcValue v = ptc_vec_new(&h.heap, NULL, 0, 0);
    for (int i = 0; i < 20000; i++)
        v = ptc_vec_conj(&h.heap, v, ptc_int(i));
    PtcValue m = ptc_map_assoc(&h.heap, ptc_map_empty(&h.heap), str("v"), v);
    PtcCancel cancel = {.asked = true};
    h.budget.cancel = &cancel;
    CHECK(ptc_tool_args(&h.heap, m, &e) == PTC_NONE && e.stopped);
    CHECK(h.budget.stop == PTC_STOP_CANCELLED);
    ptc_budget_init(&h.budget);
    h.budget.cancel = &cancel;
    ptc_buf_init(&buf, &h.mem, 1 << 20);
    CHECK(!ptc_cache_key(&h.heap, &buf, "t", 1, m, &e) && e.stopped);
    ptc_buf_deinit(&buf);
    ptc_budget_init(&h.budget);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        boundary_dir = argv[1];
    check_heap_init(&h);
    CHECK((ptc = ptc_new(NULL)) != NULL);
    CHECK(each_case("normalize_keys.jsonl", case_normalize) == 31);
    CHECK(each_case("cache_key.jsonl", case_cache_key) == 49);
    CHECK(each_case("to_json_value.jsonl", case_to_json) == 29);
    test_json();
    test_args();
    test_bad_args();
    test_depth();
    test_sharing();
    test_vectors();
    test_cache_keys();
    test_torture();
    test_time();
    end_engine(ptc);
    CHECK(h.budget.stop == PTC_STOP_NONE);
    check_heap_deinit(&h);
    return check_done("tool_keys");
}
