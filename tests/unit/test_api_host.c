/* SPDX-License-Identifier: MIT
 * test_api_host.c - ptc.h, third part: what the host sees of a session and changes in it, history, limits of one
 * run. */
#include "api_help.h"

static PtcStatus set(PtcSession *s, const char *name, PtcValue v)
{
    return ptc_session_set(s, name, strlen(name), v);
}

static bool forget(PtcSession *s, const char *name)
{
    return ptc_session_forget(s, name, strlen(name));
}

static PtcValue value(PtcSession *s, const char *name)
{
    return ptc_session_value(s, name, strlen(name));
}

/* All names, separated by spaces. */
static void names(PtcSession *s, char out[TEXT])
{
    size_t len, used = 0;
    const char *name;
    out[0] = 0;
    for (size_t i = 0; (name = ptc_session_name(s, i, &len)) != NULL; i++)
        used += (size_t)snprintf(out + used, TEXT - used, "%s%s", i ? " " : "", name);
}

static void test_names(void)
{
    Ptc *ptc = patient_engine();
    PtcSession *s = ptc_session_new(ptc);
    char got[TEXT];
    size_t len = 7;
    names(s, got);
    CHECK_STR(got, "");
    EXPECT(ptc, s,
           "(require '[clojure.string :as s]) (def b 1) (def a 2) (declare never) (def c 3)",
           "#'c");
    names(s, got);
    CHECK_STR(got, "b a c");
    CHECK(ptc_session_count(s) == 3);
    CHECK_STR(ptc_session_name(s, 2, &len), "c");
    CHECK_STR(ptc_session_name(s, 0, NULL), "b");
    CHECK(len == 1 && !ptc_session_name(s, 3, NULL) && !ptc_session_name(NULL, 0, NULL));
    int64_t n = 0;
    CHECK(ptc_value_int(value(s, "a"), &n) && n == 2);
    CHECK(value(s, "never") == 0 && value(s, "d") == 0 && value(s, " @s=clojure.string") == 0);
    CHECK(value(NULL, "a") == 0 && ptc_session_value(s, NULL, 0) == 0);
    CHECK(ptc_value_type(value(s, "*1")) == PTC_TYPE_OTHER && value(s, "*2") == ptc_make_nil());
    ptc_session_free(s);
    end_engine(ptc);
}

static void test_set(void)
{
    static const char *const bad[] = {"",    "a b", "1x", ":k", "nil", "true", "a/b",
                                      "(a)", "\"",  "a;", "a,", " a",  "\xff", "x\n"};
    Ptc *ptc = patient_engine(), *other = patient_engine();
    PtcSession *s = ptc_session_new(ptc);
    PtcData *d = ptc_data_new(ptc, PTC_UNSET), *foreign = ptc_data_new(other, PTC_UNSET);
    PtcValue v = ptc_make_json(d, "{\"a\":[1,2,{\"b\":null}]}", 22, NULL, 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(set(s, bad[i], v) == PTC_BAD_ARGUMENT);
    CHECK(set(s, "x", 0) == PTC_BAD_ARGUMENT && set(NULL, "x", v) == PTC_BAD_ARGUMENT);
    CHECK(set(s, "x", ptc_make_string(foreign, "f", 1)) == PTC_BAD_ARGUMENT);
    CHECK(ptc_session_count(s) == 0);
    CHECK(set(s, "rows", v) == PTC_OK && set(s, "ok?", ptc_make_bool(true)) == PTC_OK);
    ptc_data_free(d);
    EXPECT(ptc, s, "[rows ok?]", "[{\"a\" [1 2 {\"b\" nil}]} true]");
    EXPECT(ptc, s, "(def y (:a rows))", "#'y");
    CHECK(set(s, "rows", value(s, "y")) == PTC_OK); /* a value of its own */
    EXPECT(ptc, s, "rows", "[1 2 {\"b\" nil}]");
    CHECK(ptc_session_count(s) == 3);
    PtcOutcome *o = start(ptc, "(mapv str (range 100))", NULL, 0);
    CHECK(set(s, "strings", ptc_outcome_value(o)) == PTC_OK);
    ptc_outcome_free(o);
    EXPECT(ptc, s, "(count strings)", "100");
    ptc_session_free(s);
    ptc_data_free(foreign);
    end_engine(ptc);
    end_engine(other);
}

/* What does not fit is refused and changes nothing; what is replaced makes room. */
static void test_set_limit(void)
{
    PtcOptions options;
    PtcLimits limits = patient_limits();
    ptc_options_init(&options, sizeof options);
    limits.session_bytes = 300 * 1024;
    options.limits = &limits;
    Ptc *ptc = ptc_new(&options);
    CHECK(ptc_limits_of(ptc)->session_bytes == 300 * 1024 && !ptc_limits_of(NULL));
    PtcSession *s = ptc_session_new(ptc);
    PtcOutcome *small = start(ptc, "(mapv str (range 5000))", NULL, 0);
    PtcOutcome *large = start(ptc, "(mapv str (range 20000))", NULL, 0);
    CHECK(set(s, "v", ptc_outcome_value(small)) == PTC_OK);
    for (int i = 0; i < 5; i++)
        CHECK(set(s, "v", ptc_outcome_value(large)) == PTC_BAD_DATA);
    CHECK(set(s, "w", ptc_outcome_value(large)) == PTC_BAD_DATA && ptc_session_count(s) == 1);
    for (int i = 0; i < 5; i++)
        CHECK(set(s, "v", ptc_outcome_value(small)) == PTC_OK);
    CHECK(ptc_session_bytes(s) <= 300 * 1024);
    EXPECT(ptc, s, "[(count v) (peek v)]", "[5000 \"4999\"]");
    ptc_outcome_free(small);
    ptc_outcome_free(large);
    ptc_session_free(s);
    end_engine(ptc);
}

static void test_forget(void)
{
    Ptc *ptc = patient_engine();
    PtcSession *s = ptc_session_new(ptc);
    char got[TEXT];
    EXPECT(ptc, s, "(def big (mapv str (range 20000))) (def x 1) (defn f [] x) (def map 9) 0", "0");
    size_t before = ptc_session_bytes(s);
    CHECK(!forget(s, "nothing") && !forget(s, "") && !forget(NULL, "x"));
    CHECK(forget(s, "big") && !forget(s, "big"));
    CHECK(ptc_session_bytes(s) < before / 4);
    CHECK(forget(s, "x") && forget(s, "map"));
    names(s, got);
    CHECK_STR(got, "f");
    EXPECT(ptc, s, "(f)", "!unbound_var 1:57"); /* its place in the program that defined it */
    EXPECT(ptc, s, "(map inc [1])", "[2]");     /* the builtin again */
    EXPECT(ptc, s, "(def x 5) (f)", "5");
    EXPECT(ptc, s, "(require '[clojure.string :as q]) :r", ":r");
    CHECK(forget(s, "*1"));
    EXPECT(ptc, s, "[*1 *2]", "[nil 5]");
    CHECK(ptc_session_forget_all(s) == PTC_OK && ptc_session_forget_all(NULL) == PTC_BAD_ARGUMENT);
    CHECK(ptc_session_count(s) == 0 && ptc_session_bytes(s) == 0);
    EXPECT(ptc, s, "*1", "nil");
    EXPECT(ptc, s, "f", "!unbound_var 1:1");
    EXPECT(ptc, s, "(q/trim \"\")", "!unbound_var 1:2");
    ptc_session_free(s);
    end_engine(ptc);
}

static void test_inspect(void)
{
    Ptc *ptc = patient_engine();
    PtcSession *s = ptc_session_new(ptc);
    char *json, error[200] = "";
    size_t len;
    EXPECT(ptc, s,
           "(def n 5) (def v (vec (range 1000))) (defn f \"Adds.\" ([x] x) ([x & r] x)) (def text "
           "\"a\\\"b\") (def c (cycle [1])) (def l (letfn [(a [] (b)) (b [] (a))] a)) :done",
           ":done");
    CHECK(ptc_session_inspect(s, &json, &len) == PTC_OK && strlen(json) == len);
    CHECK(strncmp(json, "{\"count\":6,\"bytes\":", 19) == 0);
    CHECK(strstr(json, "{\"name\":\"n\",\"type\":\"integer\",\"bytes\":0,\"preview\":\"5\"}"));
    CHECK(strstr(json, "\"name\":\"v\",\"type\":\"vector\",\"bytes\":8"));
    CHECK(strstr(json, "\"preview\":\"#fn[f]\",\"arities\":[[1,1],[1,null]],\"doc\":\"Adds.\"}"));
    CHECK(strstr(json, "\"preview\":\"\\\"a\\\\\\\"b\\\"\""));
    CHECK(strstr(json, "...\"}"));
    CHECK(strstr(json, "\"history\":[{\"name\":\"*1\",\"type\":\"keyword\",\"bytes\":"));
    PtcData *d = ptc_data_new(ptc, PTC_UNSET);
    PtcValue v = ptc_make_json(d, json, len, error, sizeof error);
    CHECK_STR(error, "");
    PtcValue all = ptc_value_get(v, "bindings", 8);
    CHECK(ptc_value_count(all) == 6 && ptc_value_count(ptc_value_get(v, "history", 7)) == 3);
    for (size_t i = 0; i < ptc_value_count(all); i++) {
        const char *preview;
        size_t n;
        CHECK(ptc_value_string(ptc_value_get(ptc_value_at(all, i), "preview", 7), &preview, &n) &&
              n <= 160);
    }
    ptc_text_free(ptc, json, len);
    ptc_data_free(d);
    CHECK(ptc_session_inspect(NULL, &json, &len) == PTC_BAD_ARGUMENT);
    CHECK(ptc_session_inspect(s, NULL, &len) == PTC_BAD_ARGUMENT);
    ptc_session_free(s);
    end_engine(ptc);
}

/* -------------------------------------------------------------------------------- history */

static void test_history(void)
{
    Ptc *ptc = patient_engine();
    PtcSession *s = ptc_session_new(ptc);
    EXPECT(ptc, s, "(defn last-one [] *1) 1", "1");
    EXPECT(ptc, s, "(return 2)", "2");
    EXPECT(ptc, s, "(/ 1 0)", "!arithmetic_error 1:1"); /* leaves it alone */
    EXPECT(ptc, s, "(fail 3)", "!fail 1:1");
    EXPECT(ptc, s, "[*1 *2 *3 (last-one)]", "[2 1 nil 2]");
    EXPECT(ptc, s, "(def *1 :mine) *1", ":mine"); /* for this run */
    EXPECT(ptc, s, "[*1 *3]", "[:mine 2]");
    CHECK(ptc_session_count(s) == 1);
    EXPECT(ptc, s, "(dir 'user)", "[\"last-one\"]");
    EXPECT(ptc, s, "(fn [x] (* x *1))", "#fn[anonymous]");
    EXPECT(ptc, s, "(def f *1) 21", "21");
    EXPECT(ptc, s, "(f 2)", "42");
    ptc_session_free(s);
    end_engine(ptc);
}

static void test_history_size(void)
{
    Ptc *ptc = patient_engine();
    PtcSession *s = ptc_session_new(ptc);
    PtcOutcome *o = start(ptc, "(mapv str (range 10000))", s, 0);
    CHECK(ptc_value_count(ptc_outcome_value(o)) == 10000);
    ptc_outcome_free(o);
    EXPECT(ptc, s, "*1", "\"not kept: a vector of 10000 elements, over 64 KiB\"");
    o = start(ptc, "(apply str (repeat 70000 \"x\"))", s, 0);
    ptc_outcome_free(o);
    EXPECT(ptc, s, "*1", "\"not kept: a string, over 64 KiB\"");
    o = start(ptc, "(vec (range 1000))", s, 0);
    ptc_outcome_free(o);
    EXPECT(ptc, s, "(count *1)", "1000");
    EXPECT(ptc, s, "(letfn [(a [] (b)) (b [] 7)] a)", "#fn[a]");
    EXPECT(ptc, s, "(*1)", "7");
    ptc_session_free(s);
    end_engine(ptc);
}

static void test_history_depth(void)
{
    PtcOptions options;
    ptc_options_init(&options, sizeof options);
    options.history_depth = 10;
    CHECK(!ptc_new(&options));
    options.history_depth = 0;
    Ptc *ptc = ptc_new(&options);
    PtcSession *s = ptc_session_new(ptc);
    EXPECT(ptc, s, "[1]", "[1]");
    EXPECT(ptc, s, "*1", "nil");
    CHECK(ptc_session_bytes(s) == 0 && ptc_session_value(s, "*1", 2) == 0);
    ptc_session_free(s);
    end_engine(ptc);
    options.history_depth = 5;
    ptc = ptc_new(&options);
    s = ptc_session_new(ptc);
    for (int i = 1; i <= 7; i++) {
        char program[16];
        snprintf(program, sizeof program, "%d", i);
        EXPECT(ptc, s, program, program);
    }
    EXPECT(ptc, s, "[*1 *2 *3 *4 *5]", "[7 6 5 4 3]");
    EXPECT(ptc, s, "*6", "!unbound_var 1:1");
    ptc_session_free(s);
    end_engine(ptc);
}

/* -------------------------------------------------------------------- limits of one run */

static void run_limited(Ptc *ptc, PtcSession *s, const char *program, int64_t bytes,
                        const char *want)
{
    PtcLimits limits;
    PtcRun run = a_run(program, s, 0);
    PtcOutcome *o = NULL;
    char got[TEXT] = "";
    ptc_limits_init(&limits, sizeof limits);
    limits.session_bytes = bytes;
    run.limits = &limits;
    CHECK(ptc_eval(ptc, &run, &o) == PTC_OK);
    tell(o, got);
    check_str("", 0, program, got, want);
    ptc_outcome_free(o);
}

static void test_run_limit(void)
{
    Ptc *ptc = patient_engine();
    PtcSession *s = ptc_session_new(ptc);
    run_limited(ptc, s, "(def v (mapv str (range 20000)))", 100 * 1024, "!memory_exceeded 1:1");
    CHECK(ptc_session_count(s) == 0);
    run_limited(ptc, s, "(def v (mapv str (range 20000)))", PTC_UNSET, "#'v");
    run_limited(ptc, s, "[(count v)]", 100 * 1024, "[20000]"); /* defines nothing */
    run_limited(ptc, s, "(def w (mapv str (range 900)))", 100 * 1024, "!memory_exceeded 1:1");
    run_limited(ptc, s, "(def v 1) (def w (mapv str (range 900)))", 100 * 1024, "#'w");
    CHECK(ptc_session_bytes(s) <= 100 * 1024);
    run_limited(ptc, s, "(def v (mapv str (range 20000)))", PTC_UNSET, "#'v");
    ptc_session_free(s);
    end_engine(ptc);
}

/* Results in the history make room for definitions. */
static void test_history_yields(void)
{
    Ptc *ptc = patient_engine();
    PtcSession *s = ptc_session_new(ptc);
    for (int i = 0; i < 4; i++) {
        PtcOutcome *o = start(ptc, "(vec (range 7000))", s, 0);
        CHECK(ptc_outcome_ok(o));
        ptc_outcome_free(o);
    }
    run_limited(ptc, s, "(def b (vec (range 15000))) :ok", 200 * 1024, ":ok");
    EXPECT(ptc, s, "[(count b) *1]", "[15000 nil]");
    ptc_session_free(s);
    end_engine(ptc);
}

/* ---------------------------------------------------------------------------------- torture */

static void test_torture(void)
{
    Ptc *ptc = patient_engine();
    PtcSession *s = ptc_session_new(ptc);
    PtcData *d = ptc_data_new(ptc, PTC_UNSET);
    PtcValue v = ptc_make_json(d, "[1,{\"a\":\"b\"}]", 13, NULL, 0);
    EXPECT(ptc, s, "(def x [1 2 3]) (defn f [y] y)", "#'f");
    PtcStatus status = PTC_NO_MEMORY;
    for (uint64_t n = 1; status != PTC_OK && n < 100; n++) {
        ptc_mem_fail_at(&ptc->mem, n);
        status = set(s, "y", v);
        ptc_mem_fail_at(&ptc->mem, 0);
        CHECK(ptc_session_count(s) == (status == PTC_OK ? 3u : 2u));
    }
    CHECK(status == PTC_OK);
    char *json = NULL;
    size_t len = 0;
    status = PTC_NO_MEMORY;
    for (uint64_t n = 1; status != PTC_OK && n < 100; n++) {
        ptc_mem_fail_at(&ptc->mem, n);
        status = ptc_session_inspect(s, &json, &len);
        ptc_mem_fail_at(&ptc->mem, 0);
        CHECK(status == PTC_OK || (status == PTC_NO_MEMORY && !json));
    }
    ptc_text_free(ptc, json, len);
    CHECK(forget(s, "x"));
    ptc_mem_fail_at(&ptc->mem, 1);
    CHECK(ptc_session_forget_all(s) == PTC_NO_MEMORY);
    ptc_mem_fail_at(&ptc->mem, 0);
    EXPECT(ptc, s, "[(f 1) y]", "[1 [1 {\"a\" \"b\"}]]");
    for (uint64_t n = 1; n < 20; n++) {
        ptc_mem_fail_at(&ptc->mem, n);
        PtcSession *t = ptc_session_new(ptc);
        ptc_mem_fail_at(&ptc->mem, 0);
        ptc_session_free(t);
    }
    ptc_data_free(d);
    ptc_session_free(s);
    end_engine(ptc);
}

int main(void)
{
    test_names();
    test_set();
    test_set_limit();
    test_forget();
    test_inspect();
    test_history();
    test_history_size();
    test_history_depth();
    test_run_limit();
    test_history_yields();
    test_torture();
    return check_done("test_api_host");
}
