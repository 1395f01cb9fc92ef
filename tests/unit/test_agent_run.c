/* SPDX-License-Identifier: MIT
 * test_agent_run.c - the loop of an agent with a function as its model: cancelling and deadlines at every place where a
 * run can wait, retries, effects, limits of what is shown and remembered. */
#define _GNU_SOURCE
#include "agent_run_help.h"

#include "engine/engine.h"

/* ------------------------------------------------------------------- where a run can wait */

enum {
    IN_ASK,
    IN_PROGRAM,
    IN_NATIVE,
    IN_CHILD,
    IN_CHILD_PROGRAM,
    IN_PMAP,
    IN_WAIT,
    IN_TOOL,
    PLACES
};

#define CHILD "\"child\":{\"agent\":{\"prompt\":\"c\",\"signature\":\"(i :int?) -> :any\"}}"
#define SLOW "\"slow\":{\"value\":1,\"sleep_ms\":200000}"

static const char *const places[PLACES] = {
    [IN_ASK] = "",
    [IN_PROGRAM] = "",
    [IN_NATIVE] = ",\"output\":\"text\",\"tools\":{" SLOW "}",
    [IN_CHILD] = ",\"tools\":{" CHILD "}",
    [IN_CHILD_PROGRAM] = ",\"tools\":{" CHILD "}",
    [IN_PMAP] = ",\"tools\":{" CHILD "}",
    [IN_WAIT] = ",\"llm_retry\":{\"max_attempts\":9,\"base_delay\":200000}",
    [IN_TOOL] = ",\"tools\":{" SLOW "}",
};

#define LOOP "(defn f [n] (if (< n 2) n (+ (f (- n 1)) (f (- n 2))))) (return (f 90))"

/* Brings the run to its place. */
static void go_there(Trial *t, const PtcLlmRequest *q, PtcArena *arena, PtcLlmReply *reply)
{
    int place = *(const int *)t->user;
    bool top = trial_is(q, "");
    if (place == IN_ASK || (!top && (place == IN_CHILD || place == IN_PMAP))) {
        trial_hang(t, q, arena, reply);
        return;
    }
    if (top && (place == IN_CHILD || place == IN_CHILD_PROGRAM))
        trial_say(reply, arena, "(return (tool/child {}))");
    else if (top && place == IN_PMAP)
        trial_say(reply, arena, "(return (pmap (fn [i] (tool/child {:i i})) (range 6)))");
    else if (place == IN_NATIVE)
        trial_call(reply, arena, "slow", "{}");
    else if (place == IN_WAIT)
        trial_fail(reply, PTC_LLM_RATE_LIMIT, -1);
    else if (place == IN_TOOL)
        trial_say(reply, arena, "(def a 1) (tool/slow {})");
    else
        trial_say(reply, arena, LOOP);
    atomic_store(&t->under_way, true);
}

static void open_place(Trial *t, int *place, const char *more)
{
    char json[1000];
    snprintf(json, sizeof json, "{\"prompt\":\"p\",\"timeout\":250000,\"pmap_timeout\":250000%s%s}",
             places[*place], more);
    if (*place == IN_NATIVE) /* has no use for some of them */
        snprintf(json, sizeof json, "{\"prompt\":\"p\",\"timeout\":250000%s%s}", places[*place],
                 more);
    trial_open(t, json, go_there, place);
}

static void test_cancel(void)
{
    for (int place = 0; place < PLACES; place++) {
        Trial t;
        open_place(&t, &place, "");
        trial_go_cancelled(&t);
        TRIAL_HAS(&t, "\"outcome\":\"error\",\"reason\":\"cancelled\"");
        CHECK(!trial_has(&t, "internal"));
        trial_close(&t);
    }
}

static void test_deadline(void)
{
    for (int place = 0; place < PLACES; place++) {
        Trial t;
        open_place(&t, &place, ",\"mission_timeout\":300");
        trial_go(&t);
        /* a wait beyond the deadline is not begun */
        TRIAL_HAS(&t, place == IN_WAIT ? "\"outcome\":\"error\",\"reason\":\"llm_error\""
                                       : "\"outcome\":\"error\",\"reason\":\"mission_timeout\"");
        trial_close(&t);
    }
}

/* A run that was cancelled before it began sends nothing. */
static void test_cancelled_before(void)
{
    Trial t;
    int place = IN_ASK;
    open_place(&t, &place, "");
    atomic_store(&t.cancel.asked, true);
    trial_go(&t);
    TRIAL_HAS(&t, "\"reason\":\"cancelled\"");
    CHECK(atomic_load(&t.asked) == 0);
    trial_close(&t);
}

/* The deadline of a child's own ends the child alone. */
static void child_is_late(Trial *t, const PtcLlmRequest *q, PtcArena *arena, PtcLlmReply *reply)
{
    if (trial_is(q, ""))
        trial_say(reply, arena,
                  "(return (try (tool/child {}) (catch Exception e (ex-message e))))");
    else
        trial_hang(t, q, arena, reply);
}

static void test_child_deadline(void)
{
    Trial t;
    trial_of(
        &t,
        "{\"prompt\":\"p\",\"timeout\":60000,\"tools\":{\"child\":{\"agent\":{\"prompt\":\"c\","
        "\"mission_timeout\":50}}}}",
        child_is_late, NULL);
    TRIAL_HAS(&t, "\"outcome\":\"ok\"");
    TRIAL_HAS(&t, "mission_timeout");
    trial_close(&t);
    trial_of(
        &t,
        "{\"prompt\":\"p\",\"timeout\":60000,\"tools\":{\"child\":{\"agent\":{\"prompt\":\"c\"}"
        ",\"timeout_ms\":50}}}",
        child_is_late, NULL);
    TRIAL_HAS(&t, "\"outcome\":\"ok\"");
    trial_close(&t);
}

/* One request may take so long and no longer. */
static void test_request_timeout(void)
{
    Trial t;
    int place = IN_ASK;
    open_place(&t, &place, "");
    t.llm_timeout_ms = 30;
    trial_go(&t);
    TRIAL_HAS(&t, "\"reason\":\"llm_error\"");
    TRIAL_HAS(&t, "\"cause\":\"timeout\"");
    trial_close(&t);
}

/* ------------------------------------------------------------------ time inside of children */

static void slow_child(Trial *t, const PtcLlmRequest *q, PtcArena *arena, PtcLlmReply *reply)
{
    if (trial_is(q, "")) {
        trial_say(reply, arena, t->user);
        return;
    }
    PtcLlmStatus status = ptc_waiting_sleep(q, 1200);
    if (status != PTC_LLM_OK)
        ptc_waiting_stopped(status, arena, reply);
    else
        trial_say(reply, arena, "(return 7)");
}

static void test_child_time_is_free(void)
{
    static const char *const programs[] = {
        "(return (+ (tool/child {}) (tool/child {})))",
        "(return (reduce + (pmap (fn [i] (tool/child {:i i})) [1 2])))",
    };
    for (size_t i = 0; i < 2; i++) {
        Trial t;
        trial_of(&t,
                 "{\"prompt\":\"p\",\"timeout\":1000,\"pmap_timeout\":1000,\"tools\":{" CHILD "}}",
                 slow_child, (void *)programs[i]);
        TRIAL_HAS(&t, "\"outcome\":\"ok\",\"return\":14");
        trial_close(&t);
    }
}

/* ------------------------------------------------------------------------------- retries */

/* Fails so often, then answers. */
typedef struct Failing {
    long times;
    PtcLlmStatus status;
    int64_t retry_after_ms;
} Failing;

static void fail_first(Trial *t, const PtcLlmRequest *q, PtcArena *arena, PtcLlmReply *reply)
{
    const Failing *f = t->user;
    (void)q;
    if (atomic_load(&t->asked) <= f->times)
        trial_fail(reply, f->status, f->retry_after_ms);
    else
        trial_say(reply, arena, "(return 1)");
}

static void retry(Trial *t, Failing f, const char *more)
{
    char json[600];
    snprintf(json, sizeof json, "{\"prompt\":\"p\",\"turn_budget\":1%s}", more);
    static Failing kept;
    kept = f;
    trial_of(t, json, fail_first, &kept);
}

#define ATTEMPTS(n, delay) ",\"llm_retry\":{\"max_attempts\":" #n ",\"base_delay\":" #delay "}"

static void test_retry(void)
{
    Trial t;
    int64_t begun = ptc_clock_ns(NULL);
    retry(&t, (Failing){2, PTC_LLM_RATE_LIMIT, 40}, ATTEMPTS(3, 200000));
    CHECK(ptc_clock_ns(NULL) - begun >= 80 * 1000000);
    TRIAL_HAS(&t, "\"return\":1");
    TRIAL_HAS(&t, "\"llm_requests\":3,\"llm_errors\":2");
    trial_close(&t);
    retry(&t, (Failing){2, PTC_LLM_SERVER_ERROR, -1}, ATTEMPTS(2, 1));
    TRIAL_HAS(&t, "\"reason\":\"llm_error\"");
    TRIAL_HAS(&t, "\"cause\":\"server_error\"");
    CHECK(atomic_load(&t.asked) == 2);
    CHECK(t.tree.budget == 1);
    trial_close(&t);
    retry(&t, (Failing){1, PTC_LLM_CLIENT_ERROR, 0}, ATTEMPTS(9, 1));
    TRIAL_HAS(&t, "\"cause\":\"client_error\"");
    CHECK(atomic_load(&t.asked) == 1);
    trial_close(&t);
}

/* A wait that cannot help is not begun. */
static void test_retry_too_long(void)
{
    Trial t;
    retry(&t, (Failing){1, PTC_LLM_RATE_LIMIT, 600 * 1000}, ATTEMPTS(3, 1));
    TRIAL_HAS(&t, "\"reason\":\"llm_error\"");
    TRIAL_HAS(&t, "600");
    trial_close(&t);
    retry(&t, (Failing){1, PTC_LLM_RATE_LIMIT, 250 * 1000},
          ATTEMPTS(3, 1) ",\"mission_timeout\":60000");
    TRIAL_HAS(&t, "\"outcome\":\"error\"");
    CHECK(t.run->ended_ns - t.run->began_ns < (int64_t)60 * 1000000000);
    trial_close(&t);
    retry(&t, (Failing){1, PTC_LLM_RATE_LIMIT, INT64_MAX}, ATTEMPTS(3, 1));
    TRIAL_HAS(&t, "\"reason\":\"llm_error\"");
    trial_close(&t);
}

/* ------------------------------------------------------------------------------- effects */

static void one_program(Trial *t, const PtcLlmRequest *q, PtcArena *arena, PtcLlmReply *reply)
{
    if (trial_is(q, "child"))
        trial_say(reply, arena, "(do (tool/pay {}) (fail \"no\"))");
    else
        trial_say(reply, arena, t->user);
}

#define PAY(more) "\"pay\":{\"command\":[\"true\"]" more "}"
#define EFFECTS(tools) "{\"prompt\":\"p\",\"max_turns\":1,\"timeout\":60000,\"tools\":{" tools "}}"

static const struct {
    const char *agent, *program, *has;
} effects[] = {
    {EFFECTS(PAY("")), "(do (tool/pay {}) (fail 1))",
     "\"ran\":[{\"name\":\"pay\",\"times\":1}],\"unknown\":[],\"lost\":[],\"safe_to_retry\":false"},
    {EFFECTS(PAY(",\"read_only\":true")), "(do (tool/pay {}) (tool/pay {}) (fail 1))",
     "\"ran\":[{\"name\":\"pay\",\"times\":2}],\"unknown\":[],\"lost\":[],\"safe_to_retry\":true"},
    {EFFECTS(PAY(",\"idempotent\":true")), "(do (def a 1) (def b 2) (tool/pay {}) (fail 1))",
     "\"lost\":[\"a\",\"b\"],\"safe_to_retry\":true"},
    {EFFECTS(PAY("")), "(fail 1)", "\"ran\":[],\"unknown\":[],\"lost\":[],\"safe_to_retry\":true"},
    {EFFECTS("\"pay\":{\"command\":[\"sleep\",\"100\"],\"timeout_ms\":50}"),
     "(do (def a 1) (tool/pay {}))",
     "\"ran\":[],\"unknown\":[{\"name\":\"pay\",\"times\":1}],\"lost\":[\"a\"],"
     "\"safe_to_retry\":false"},
    {EFFECTS(PAY(",\"cache\":true")), "(do (tool/pay {}) (tool/pay {}) (fail 1))",
     "\"ran\":[{\"name\":\"pay\",\"times\":1}]"},
    /* what a child did before it failed happened as well */
    {EFFECTS("\"child\":{\"agent\":{\"prompt\":\"c\",\"tools\":{" PAY("") "}}}"),
     "(do (try (tool/child {}) (catch Exception e 1)) (fail 1))", "\"safe_to_retry\":false"},
    {EFFECTS("\"child\":{\"agent\":{\"prompt\":\"c\",\"tools\":{" PAY(",\"read_only\":true") "}}}"),
     "(do (try (tool/child {}) (catch Exception e 1)) (fail 1))", "\"safe_to_retry\":true"},
};

static void test_effects(void)
{
    for (size_t i = 0; i < sizeof effects / sizeof *effects; i++) {
        Trial t;
        trial_of(&t, effects[i].agent, one_program, (void *)effects[i].program);
        TRIAL_HAS(&t, effects[i].has);
        trial_close(&t);
    }
}

/* ---------------------------------------------------------------------------- large things */

static void call_big(Trial *t, const PtcLlmRequest *q, PtcArena *arena, PtcLlmReply *reply)
{
    const PtcMessage *m = ptc_llm_message(q, ptc_llm_message_count(q) - 1);
    (void)t;
    if (atomic_load(&t->asked) == 1) {
        trial_call(reply, arena, "big", "{}");
        return;
    }
    CHECK(m->role == PTC_ROLE_TOOL && m->content.len <= PTC_WORK_RESULT_BYTES);
    CHECK(trial_heard(q, "truncated"));
    trial_say(reply, arena, "done");
}

static void test_large_result(void)
{
    enum { SIZE = 200 * 1000 };
    static char json[SIZE + 200];
    Trial t;
    int n = snprintf(json, sizeof json,
                     "{\"prompt\":\"p\",\"output\":\"text\",\"tools\":{\"big\":{"
                     "\"value\":\"");
    memset(json + n, 'x', SIZE);
    snprintf(json + n + SIZE, sizeof json - (size_t)n - SIZE, "\"}}}");
    trial_of(&t, json, call_big, NULL);
    TRIAL_HAS(&t, "\"return\":\"done\"");
    trial_close(&t);
}

static void define_big(Trial *t, const PtcLlmRequest *q, PtcArena *arena, PtcLlmReply *reply)
{
    (void)q;
    if (atomic_load(&t->asked) == 1)
        trial_say(reply, arena, "(def big (vec (range 10000))) (def small 1)");
    else
        trial_say(reply, arena, "(return (str data/fail))");
}

static void test_memory_limit(void)
{
    Trial t;
    trial_of(&t, "{\"prompt\":\"p\",\"memory_limit\":1000}", define_big, NULL);
    TRIAL_HAS(&t, "\"reason\":\"memory_limit_exceeded\"");
    TRIAL_HAS(&t, "\"memory\":{}");
    TRIAL_HAS(&t, "\"lost\":[\"big\",\"small\"]");
    trial_close(&t);
    trial_of(&t, "{\"prompt\":\"p\",\"memory_limit\":1000,\"memory_strategy\":\"rollback\"}",
             define_big, NULL);
    TRIAL_HAS(&t, "\"outcome\":\"ok\"");
    TRIAL_HAS(&t, "memory_limit");
    TRIAL_HAS(&t, "\"memory\":{}");
    trial_close(&t);
    trial_of(&t, "{\"prompt\":\"p\",\"memory_limit\":null}", define_big, NULL);
    TRIAL_HAS(&t, "\"outcome\":\"ok\"");
    TRIAL_HAS(&t, "\"small\":1");
    trial_close(&t);
}

static void use_input(Trial *t, const PtcLlmRequest *q, PtcArena *arena, PtcLlmReply *reply)
{
    CHECK(ptc_llm_message_count(q) == 3 || atomic_load(&t->asked) > 1);
    trial_say(reply, arena, "(return {:x x :t (task \"a\" 9) :u (task \"b\" 2)})");
}

static void test_input(void)
{
    static const PtcMessage earlier[] = {
        {.role = PTC_ROLE_USER, .content = {"before", 6}},
        {.role = PTC_ROLE_ASSISTANT, .content = {"after", 5}},
    };
    Trial t;
    trial_open(&t, "{\"prompt\":\"p\"}", use_input, NULL);
    t.options.input.memory = PTC_TEXT("{\"x\":{\"y\":[1]}}");
    t.options.input.journal = PTC_TEXT("{\"a\":5}");
    t.options.messages = earlier;
    t.options.message_count = 2;
    trial_go(&t);
    TRIAL_HAS(&t, "\"return\":{\"x\":{\"y\":[1]},\"t\":5,\"u\":2}");
    TRIAL_HAS(&t, "\"journal\":{\"a\":5,\"b\":2}");
    trial_close(&t);
}

/* Names of any length are told, cut. */
static void test_bad_memory(void)
{
    char json[600];
    for (int n = 100; n <= 450; n += 50) {
        Trial t;
        trial_open(&t, "{\"prompt\":\"p\"}", use_input, NULL);
        snprintf(json, sizeof json, "{\"1%0*d\":1}", n - 1, 7);
        t.options.input.memory = ptc_text_cstr(json);
        trial_go(&t);
        TRIAL_HAS(&t, "\"outcome\":\"invalid\",\"reason\":\"invalid_input\"");
        TRIAL_HAS(&t, "\"path\":\"run.memory.1000");
        trial_close(&t);
    }
}

/* What is remembered is written out whole, however late it is: a journal on disk must not lose the middle of a result
 * because the machine was busy. */
static void test_late_journal(void)
{
    PtcWhy fault;
    PtcWork w;
    PtcBuf out;
    PtcMem mem;
    PtcRan ran;
    PtcCancel cancel = {.asked = false};
    PtcAgentReading how = {.files = NULL};
    PtcAgentDef *def =
        ptc_definition_read_json(PTC_TEXT("{\"prompt\":\"p\",\"journaling\":true}"), &how, &fault);
    PtcWorkInput in = {.servers = false};
    PtcAction a = {.kind = PTC_ACTION_RUN,
                   .run.program = PTC_TEXT("(task \"x\" (vec (range 100000)))")};
    PtcWorkLimits limits = {.cancel = &cancel, .end_ns = INT64_MAX};
    CHECK(def && ptc_work_open(&w, def, &in, &fault));
    ptc_work_run(&w, &a, &limits, &ran);
    CHECK(ran.end == PTC_RAN_VALUE || ran.end == PTC_RAN_RETURN);
    w.ptc->limits.timeout_ms = 0;
    ptc_mem_init(&mem, SIZE_MAX / 2);
    ptc_buf_init(&out, &mem, 1 << 20);
    ptc_work_journal_whole(&w, &out);
    CHECK(ptc_buf_ok(&out) && strncmp(out.data, "{\"x\":[0,1,2", 11) == 0 && out.len > 500000);
    ptc_buf_deinit(&out);
    ptc_work_close(&w);
    ptc_definition_release(def);
}

int main(void)
{
    CHECK_RUN(test_late_journal());
    CHECK_RUN(test_cancel());
    CHECK_RUN(test_deadline());
    CHECK_RUN(test_cancelled_before());
    CHECK_RUN(test_child_deadline());
    CHECK_RUN(test_request_timeout());
    CHECK_RUN(test_child_time_is_free());
    CHECK_RUN(test_retry());
    CHECK_RUN(test_retry_too_long());
    CHECK_RUN(test_effects());
    CHECK_RUN(test_large_result());
    CHECK_RUN(test_memory_limit());
    CHECK_RUN(test_input());
    CHECK_RUN(test_bad_memory());
    return check_done("agent_run");
}
