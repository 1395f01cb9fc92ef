/* SPDX-License-Identifier: MIT
 * test_engine_agent.c - what the loop of an agent asks of the engine: results that are judged, values of (fail v) as
 * data, answers as JSON. */
#include "api_help.h"

#include "engine/wanted.h"
#include "json/parse.h"

/* ------------------------------------------------------------------------------- judging */

static PtcOutcome *run_more(Ptc *ptc, PtcSession *s, const char *program, const char *signature,
                            const char *schema, const PtcRunMore *more)
{
    PtcRun run = a_run(program, s, 0);
    PtcOutcome *o = NULL;
    run.signature = signature;
    run.signature_len = signature ? strlen(signature) : 0;
    run.output_schema = schema;
    run.output_schema_len = schema ? strlen(schema) : 0;
    CHECK(ptc_engine_run_more(ptc, &run, more, &o) == PTC_OK);
    return o;
}

/* "fits JSON", "misfit ISSUES" or "failed KIND". */
static void expect_verdict(int line, Ptc *ptc, const char *signature, const char *schema,
                           const char *program, const char *want)
{
    char got[TEXT];
    PtcOutcome *o = run_more(ptc, NULL, program, signature, schema, &(PtcRunMore){.judge = true});
    if (!o->ok)
        snprintf(got, sizeof got, "failed %s", first_error(o).kind);
    else if (o->fits)
        snprintf(got, sizeof got, "fits %s", ptc_outcome_show_answer(o));
    else
        snprintf(got, sizeof got, "misfit %.*s", (int)o->issues.len, o->issues.data);
    check_str("", line, program, got, want);
    CHECK(o->judged == o->ok);
    ptc_outcome_drop(o);
}

#define VERDICT(signature, schema, program, want) \
    expect_verdict(__LINE__, ptc, signature, schema, program, want)

static void test_signatures(Ptc *ptc)
{
    VERDICT("{total :int}", NULL, "(return {:total 5})", "fits {\"total\":5}");
    VERDICT("{total :int}", NULL, "{:total 5}", "fits {\"total\":5}");
    VERDICT("{total :int}", NULL, "(return {:total \"5\"})",
            "misfit [{\"path\":[\"total\"],\"message\":\"expected int, got string \\\"5\\\"\"}]");
    VERDICT("[{id :int}]", NULL, "[{:id 1} {:id :x}]",
            "misfit [{\"path\":[1,\"id\"],\"message\":\"expected int, got keyword :x\"}]");
    VERDICT(":int", NULL, "(return \"5\")",
            "misfit [{\"path\":[],\"message\":\"expected int, got string \\\"5\\\"\"}]");
    VERDICT("(x :int) -> {due-date :string}", NULL, "(return {:due-date :today})",
            "fits {\"due_date\":\"today\"}");
    VERDICT(":int", NULL, "(/ 1 0)", "failed arithmetic_error");
    VERDICT(":int", NULL, "(fail 1)", "failed fail");
    VERDICT(":inte", NULL, "1", "failed args_error");
}

static void test_schemas(Ptc *ptc)
{
    static const char schema[] =
        "{\"type\":\"object\",\"required\":[\"rows\"],\"properties\":{\"rows\":{\"type\":\"array\","
        "\"items\":{\"type\":\"integer\"}}}}";
    VERDICT(NULL, schema, "(return {:rows [1 2]})", "fits {\"rows\":[1,2]}");
    VERDICT(
        NULL, schema, "(return {:rows [1 :a]})",
        "misfit [{\"path\":[\"rows\",1],\"message\":\"expected integer, got string \\\"a\\\"\"}]");
    VERDICT(NULL, "{\"type\":3}", "1", "failed args_error");
}

/* What has no JSON fits nothing. */
static void test_without_json(Ptc *ptc)
{
    VERDICT(NULL, NULL, "(return (fn [x] x))",
            "misfit [{\"path\":[],\"message\":\"expected a value that JSON can express, got a "
            "function\"}]");
    VERDICT(":any", NULL, "{:rows [1 {:f inc}]}",
            "misfit [{\"path\":[\"rows\",1,\"f\"],\"message\":\"expected a value that JSON can "
            "express, got a "
            "function\"}]");
    VERDICT(NULL, NULL, "{:a {:x-y 1 :x_y 2}}",
            "misfit [{\"path\":[\"a\"],\"message\":\"expected a value that JSON can express, got "
            "two keys that "
            "become the same string\"}]");
    VERDICT(
        NULL, NULL, "(def x 1)",
        "misfit [{\"path\":[],\"message\":\"expected a value that JSON can express, got a var\"}]");
    VERDICT(NULL, NULL, "{:work-turns #{4} \"a-b\" {:c-d :e-f}}",
            "fits {\"work_turns\":[4],\"a_b\":{\"c_d\":\"e-f\"}}");
    VERDICT(NULL, NULL, "nil", "fits null");
}

/* A result that does not fit is kept as any other: definitions, *1. */
static void test_misfit_keeps(Ptc *ptc)
{
    PtcSession *s = ptc_session_new(ptc);
    PtcOutcome *o =
        run_more(ptc, s, "(def a 7) (return \"no\")", ":int", NULL, &(PtcRunMore){.judge = true});
    CHECK(o->ok && !o->fits && o->control == PTC_CONTROL_RETURN);
    ptc_outcome_drop(o);
    EXPECT(ptc, s, "[a *1]", "[7 \"no\"]");
    ptc_session_free(s);
}

/* A contract that was read once, in an arena of its own. */
static void test_read_contract(Ptc *ptc)
{
    PtcMem mem;
    PtcArena arena;
    PtcSigError e;
    PtcContract wanted = {0};
    ptc_mem_init(&mem, 1 << 20);
    ptc_arena_init(&arena, &mem);
    CHECK(ptc_sig_parse(&arena, ":int", 4, &wanted.sig, &e));
    PtcRunMore more = {.judge = true, .wanted = &wanted};
    PtcOutcome *o = run_more(ptc, NULL, "(return 3)", NULL, NULL, &more);
    CHECK(o->fits && o->validated);
    ptc_outcome_drop(o);
    more.judge = false;
    o = run_more(ptc, NULL, "(return :x)", NULL, NULL, &more);
    CHECK_STR(first_error(o).kind, "validation_error");
    ptc_outcome_drop(o);
    PtcRun both = a_run("1", NULL, 0);
    both.signature = ":int";
    both.signature_len = 4;
    CHECK(ptc_engine_run_more(ptc, &both, &more, &o) == PTC_BAD_ARGUMENT);
    ptc_arena_deinit(&arena);
}

/* What is too long for an answer does not fit, and says so. */
static void test_too_long(void)
{
    PtcLimits limits;
    ptc_limits_unset(&limits);
    limits.result_bytes = 20;
    Ptc *ptc = ptc_engine_with(&limits);
    VERDICT(NULL, NULL, "(range 20)",
            "misfit [{\"path\":[],\"message\":\"expected at most 20 bytes of JSON, got more\"}]");
    end_engine(ptc);
}

/* ----------------------------------------------------------------------------- (fail v) */

static void expect_fail(int line, Ptc *ptc, const char *program, const char *want)
{
    PtcOutcome *o = start(ptc, program, NULL, 0);
    const char *json = ptc_outcome_show_answer(o);
    CHECK(!o->ok && o->control == PTC_CONTROL_FAIL);
    CHECK(!json == o->answer_none);
    check_str("", line, program, json ? json : "none", want);
    ptc_outcome_drop(o);
}

#define FAILS(program, want) expect_fail(__LINE__, ptc, program, want)

static void test_fail_values(Ptc *ptc)
{
    FAILS("(fail {:why :fog :at-least 3})", "{\"why\":\"fog\",\"at_least\":3}");
    FAILS("(fail nil)", "null");
    FAILS("(fail \"fog\")", "\"fog\"");
    FAILS("(fail inc)", "none");
    PtcOutcome *o = start(ptc, "(/ 1 0)", NULL, 0);
    CHECK(!ptc_outcome_show_answer(o) && o->answer_none);
    ptc_outcome_drop(o);
}

/* --------------------------------------------------------------- definitions over a limit */

static const char log_of_900[] = "(def log (apply str (repeat 900 \"q\")))";

static PtcOutcome *run_limited(Ptc *ptc, PtcSession *s, const char *program, PtcRunEnding ending)
{
    PtcRunMore more = {.judge = true, .definition_bytes = 400, .ending = ending};
    return run_more(ptc, s, program, ":string", NULL, &more);
}

static void expect_over(int line, Ptc *ptc, PtcSession *s, const char *more, PtcRunEnding ending,
                        const char *want)
{
    char program[200], got[TEXT];
    snprintf(program, sizeof program, "(def small 2) %s %s", log_of_900, more);
    PtcOutcome *o = run_limited(ptc, s, program, ending);
    if (o->ok)
        snprintf(got, sizeof got, "%s%s", o->dropped ? "dropped " : "kept ",
                 ptc_outcome_show_answer(o));
    else
        snprintf(got, sizeof got, "failed %s", first_error(o).kind);
    check_str("", line, more, got, want);
    CHECK(o->lost.len == 10 && memcmp(o->lost.data, "small\nlog\n", 10) == 0);
    ptc_outcome_drop(o);
    EXPECT(ptc, s, "small", "1");
    EXPECT(ptc, s, "log", "!unbound_var 1:1");
}

#define OVER(more, ending, want) expect_over(__LINE__, ptc, s, more, ending, want)

static void test_over_limit(Ptc *ptc)
{
    PtcSession *s = ptc_session_new(ptc);
    PtcOutcome *o = run_limited(ptc, s, "(def small 1)", PTC_RUN_ENDS_NEVER);
    CHECK(o->ok && !o->dropped && o->lost.len == 0);
    ptc_outcome_drop(o);
    OVER("", PTC_RUN_ENDS_BY_RETURN, "failed memory_limit");
    OVER("\"x\"", PTC_RUN_ENDS_BY_RETURN, "failed memory_limit");
    OVER("(return \"x\")", PTC_RUN_ENDS_NEVER, "failed memory_limit");
    OVER("(return 5)", PTC_RUN_ENDS_BY_RETURN, "failed memory_limit");
    OVER("(return \"x\")", PTC_RUN_ENDS_BY_RETURN, "dropped \"x\"");
    OVER("\"y\"", PTC_RUN_ENDS_BY_VALUE, "dropped \"y\"");
    OVER("", PTC_RUN_ENDS_BY_VALUE, "failed memory_limit");
    o = run_limited(ptc, s, "(return \"z\")", PTC_RUN_ENDS_BY_RETURN);
    CHECK(o->ok && !o->dropped);
    ptc_outcome_drop(o);
    EXPECT(ptc, s, "*1", "\"z\"");
    ptc_session_free(s);
}

/* What is shared counts once, results of earlier programs and what nothing is bound to not at all. */
static void test_weight(Ptc *ptc)
{
    PtcSession *s = ptc_session_new(ptc);
    PtcRunMore more = {.judge = true, .definition_bytes = 1500};
    PtcOutcome *o = run_more(ptc, s, "(apply str (repeat 9000 \"q\"))", NULL, NULL, &more);
    ptc_outcome_drop(o);
    o = run_more(ptc, s, "(def a (apply str (repeat 900 \"q\"))) (def b [a a a]) (def c {:b b})",
                 NULL, NULL, &more);
    CHECK(o->ok);
    ptc_outcome_drop(o);
    o = run_more(ptc, s, "(def d (str a \"x\"))", NULL, NULL, &more);
    CHECK_STR(first_error(o).kind, "memory_limit");
    CHECK_STR(first_error(o).reason, "memory_limit");
    ptc_outcome_drop(o);
    ptc_session_free(s);
}

static void test_lost_names(Ptc *ptc)
{
    PtcSession *s = ptc_session_new(ptc);
    EXPECT(ptc, s, "(def a 1)", "#'a");
    PtcOutcome *o = run_more(ptc, s, "(def a 1) (def b 2) (def a 3) (/ 1 0) (def c 3)", NULL, NULL,
                             &(PtcRunMore){.judge = true});
    CHECK(!o->ok && o->lost.len == 4 && memcmp(o->lost.data, "a\nb\n", 4) == 0);
    ptc_outcome_drop(o);
    ptc_session_free(s);
}

/* ------------------------------------------------------------------------------- history */

static void test_history_bytes(Ptc *ptc)
{
    PtcSession *s = ptc_session_new(ptc);
    s->history_bytes = 100;
    EXPECT(ptc, s, "(apply str (repeat 50 \"q\")) ",
           "\"qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq\"");
    EXPECT(ptc, s, "(count *1)", "50");
    EXPECT(ptc, s, "(vec (range 200 202))", "[200 201]");
    EXPECT(ptc, s, "(count (mapv str (range 90)))", "90");
    PtcOutcome *o = start(ptc, "(mapv str (range 90))", s, 0);
    ptc_outcome_drop(o);
    EXPECT(ptc, s, "*1", "\"not kept: a vector of 90 elements, over 100 bytes\"");
    ptc_session_free(s);
}

/* Every allocation of a judged run fails in turn; nothing leaks, and the verdict is right or the run failed. */
static void test_no_memory(void)
{
    bool done = false;
    for (int64_t n = 1; n < 400 && !done; n++) {
        PtcOptions options;
        ptc_options_init(&options, sizeof options);
        options.fail_allocation = n;
        Ptc *ptc = ptc_new(&options);
        PtcRun run = a_run("(return {:a-b [1 inc]})", NULL, 0);
        run.signature = "{a_b [:int]}";
        run.signature_len = 12;
        PtcOutcome *o = NULL;
        PtcStatus status = ptc_engine_run_more(ptc, &run, &(PtcRunMore){.judge = true}, &o);
        CHECK(status == PTC_OK || status == PTC_NO_MEMORY);
        if (o && o->ok)
            CHECK(o->judged && !o->fits && o->issues.len > 2);
        done = o && o->ok && n > 5;
        ptc_outcome_drop(o);
        end_engine(ptc);
    }
    CHECK(done);
}

int main(void)
{
    Ptc *ptc = ptc_new(NULL);
    test_signatures(ptc);
    test_schemas(ptc);
    test_without_json(ptc);
    test_misfit_keeps(ptc);
    test_read_contract(ptc);
    test_fail_values(ptc);
    test_over_limit(ptc);
    test_weight(ptc);
    test_lost_names(ptc);
    test_history_bytes(ptc);
    end_engine(ptc);
    test_too_long();
    test_no_memory();
    return check_done("test_engine_agent");
}
