/* SPDX-License-Identifier: MIT
 * test_agent_parallel.c - agents inside of agents, one after the other and beside each other in pmap: what a tree
 * shares is shared exactly, whoever is faster.  Clean under the thread sanitizer (script/test --full). */
#define _GNU_SOURCE
#include "agent_run_help.h"

#include "base/sanitized.h"

enum { ROUNDS = PTC_SANITIZED ? 8 : 30 };

#define CHILD(more) \
    "\"child\":{\"agent\":{\"prompt\":\"c\",\"signature\":\"(i :int) -> :int\"" more "}}"
#define FAN(n)                                                                             \
    "(return (pmap (fn [i] (try (tool/child {:i i}) (catch Exception e (ex-message e)))) " \
    "(range " #n ")))"

/* -------------------------------------------------------------------------------- nested */

static void by_level(Trial *t, const PtcLlmRequest *q, PtcArena *arena, PtcLlmReply *reply)
{
    (void)t;
    if (trial_is(q, ""))
        trial_say(reply, arena, "(return (inc (tool/a {:n 1})))");
    else if (trial_is(q, "a"))
        trial_say(reply, arena, "(return (* 10 (tool/b {:n (inc data/n)})))");
    else if (trial_is(q, "a/b"))
        trial_say(reply, arena, "(return (+ data/n 5))");
}

static void test_nested(void)
{
    Trial t;
    trial_of(
        &t,
        "{\"prompt\":\"p\",\"tools\":{\"a\":{\"agent\":{\"prompt\":\"a\",\"signature\":\"(n :int) "
        "-> :int\",\"tools\":{\"b\":{\"agent\":{\"prompt\":\"b\",\"signature\":\"(n :int) -> "
        ":int\"}}}}}}}",
        by_level, NULL);
    TRIAL_HAS(&t, "\"return\":71");
    CHECK(t.tree.sums.turns == 3 && t.tree.runs == 3);
    trial_close(&t);
}

/* Counts down by itself, one level deeper each time. */
static void count_down(Trial *t, const PtcLlmRequest *q, PtcArena *arena, PtcLlmReply *reply)
{
    (void)t, (void)q;
    trial_say(reply, arena, "(return (if (= 0 data/n) 0 (inc (tool/again {:n (dec data/n)}))))");
}

#define SELF(depth)                                        \
    "{\"prompt\":\"p {{n}}\",\"signature\":\"(n :int) -> " \
    ":int\",\"max_turns\":2,\"max_depth\":" #depth         \
    ",\"turn_budget\":1000,\"timeout\":200000,\"tools\":{\"again\":\"self\"}}"

static void test_self(void)
{
    Trial t;
    trial_open(&t, SELF(16), count_down, NULL);
    t.options.input.context = PTC_TEXT("{\"n\":15}");
    trial_go(&t);
    TRIAL_HAS(&t, "\"return\":15");
    CHECK(atomic_load(&t.deepest) == 15);
    trial_close(&t);
    trial_open(&t, SELF(4), count_down, NULL);
    t.options.input.context = PTC_TEXT("{\"n\":4}");
    trial_go(&t);
    TRIAL_HAS(&t, "\"reason\":\"max_turns_exceeded\"");
    CHECK(atomic_load(&t.deepest) == 3); /* level 5 would have been asked otherwise */
    trial_close(&t);
}

/* The same from inside of functions that builtins call, as deep as they go on the thread's own stack (deep.h). */
static void count_down_deep(Trial *t, const PtcLlmRequest *q, PtcArena *arena, PtcLlmReply *reply)
{
    (void)t, (void)q;
    trial_say(reply, arena,
              "(defn nest [d] (if (= d 0) (tool/again {:n (dec data/n)}) "
              "(first (map (fn [_] (nest (dec d))) [1]))))"
              "(return (try (if (= 0 data/n) \"end\" (nest 90)) "
              "(catch Exception e (ex-message e))))");
}

/* On a small stack deep agents are refused before the stack ends. */
static void *deep_thread(void *unused)
{
    Trial t;
    (void)unused;
    trial_open(&t,
               "{\"prompt\":\"p {{n}}\",\"signature\":\"(n :int) -> :string\",\"max_depth\":16,"
               "\"turn_budget\":1000,\"timeout\":200000,\"tools\":{\"again\":\"self\"}}",
               count_down_deep, NULL);
    t.options.input.context = PTC_TEXT("{\"n\":15}");
    trial_go(&t);
    TRIAL_HAS(&t, "max_depth_exceeded: agents are nested too deeply for this thread");
    trial_close(&t);
    return NULL;
}

static void test_small_stack(void)
{
    pthread_t thread;
    pthread_attr_t attr;
    size_t size = (PTC_SANITIZED ? 2048 : 768) * 1024;
    pthread_attr_init(&attr);
    CHECK(pthread_attr_setstacksize(&attr, size) == 0);
    bool begun = pthread_create(&thread, &attr, deep_thread, NULL) == 0;
    if (begun)
        pthread_join(thread, NULL);
    CHECK(begun);
    pthread_attr_destroy(&attr);
}

/* ----------------------------------------------------------------------------------- fan */

/* A child needs two turns; every reply reports seven tokens. */
static void two_turns(Trial *t, const PtcLlmRequest *q, PtcArena *arena, PtcLlmReply *reply)
{
    reply->tokens = (PtcTokens){.reported = true, .input = 3, .output = 4};
    if (trial_is(q, ""))
        trial_say(reply, arena, t->user);
    else if (ptc_llm_message_count(q) == 1)
        trial_say(reply, arena, "(def x data/i)");
    else
        trial_say(reply, arena, "(return (* 2 x))");
}

static void check_tokens(const Trial *t)
{
    CHECK(t->tree.sums.requests == atomic_load(&t->asked));
    CHECK(ptc_tree_tokens(&t->tree) == 7 * t->tree.sums.requests);
}

static void test_shared_turns(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        Trial t;
        char json[500];
        int budget = 1 + round;
        snprintf(json, sizeof json,
                 "{\"prompt\":\"p\",\"turn_budget\":%d,\"timeout\":200000,\"pmap_timeout\":200000,"
                 "\"pmap_max_concurrency\":%d,\"tools\":{" CHILD("") "}}",
                 budget, 1 + round % 16);
        trial_of(&t, json, two_turns, FAN(30));
        TRIAL_HAS(&t, "\"outcome\":\"ok\"");
        CHECK(t.tree.sums.turns == budget && t.tree.budget == 0);
        CHECK(atomic_load(&t.asked) == budget);
        CHECK(atomic_load(&t.run->children) == 30 && t.tree.runs == 31);
        TRIAL_HAS(&t, "turn_budget_exhausted");
        check_tokens(&t);
        trial_close(&t);
    }
}

static void test_enough_turns(void)
{
    Trial t;
    trial_of(
        &t,
        "{\"prompt\":\"p\",\"turn_budget\":1000,\"timeout\":200000,\"pmap_timeout\":200000,"
        "\"tools\":{" CHILD("") "}}",
        two_turns,
        "(return (= (pmap (fn [i] (tool/child {:i i})) (range 60)) (map (fn [i] (* 2 i)) (range "
        "60))))");
    TRIAL_HAS(&t, "\"return\":true");
    CHECK(t.tree.sums.turns == 121 && t.tree.budget == 1000 - 121);
    check_tokens(&t);
    trial_close(&t);
}

/* Nobody asks after the reply that passed the limit; what was under way by then still counts. */
static void test_shared_tokens(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        enum { WORKERS = 8 };
        Trial t;
        int64_t limit = 7 * (1 + round);
        trial_open(
            &t,
            "{\"prompt\":\"p\",\"turn_budget\":1000,\"timeout\":200000,\"pmap_timeout\":200000,"
            "\"tools\":{" CHILD("") "}}",
            two_turns, FAN(40));
        t.options.token_limit = limit;
        trial_go(&t);
        CHECK(ptc_tree_tokens(&t.tree) > limit);
        CHECK(ptc_tree_tokens(&t.tree) <= limit + 7 * (WORKERS + 1));
        TRIAL_HAS(&t, "budget_callback_exceeded");
        check_tokens(&t);
        trial_close(&t);
    }
}

/* Three levels, each a pmap: 1 + 4 + 16 agents. */
static void fan_out(Trial *t, const PtcLlmRequest *q, PtcArena *arena, PtcLlmReply *reply)
{
    (void)t;
    reply->tokens = (PtcTokens){.reported = true, .input = 3, .output = 4};
    trial_say(reply, arena,
              trial_is(q, "again/again")
                  ? "(return 1)"
                  : "(return (reduce + (pmap (fn [i] (tool/again {:n i})) (range 4))))");
}

static void test_nested_fans(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        Trial t;
        trial_open(&t, SELF(3), fan_out, NULL);
        t.options.input.context = PTC_TEXT("{\"n\":1}");
        trial_go(&t);
        TRIAL_HAS(&t, "\"return\":16");
        CHECK(t.tree.runs == 21 && t.tree.sums.turns == 21 && atomic_load(&t.deepest) == 2);
        check_tokens(&t);
        trial_close(&t);
    }
}

/* The caller's cancel reaches agents at every level, while others come and go. */
static void fan_and_hang(Trial *t, const PtcLlmRequest *q, PtcArena *arena, PtcLlmReply *reply)
{
    if (!trial_is(q, "again/again"))
        fan_out(t, q, arena, reply);
    else if (atomic_load(&t->asked) % 3)
        trial_say(reply, arena, "(return 1)");
    else
        trial_hang(t, q, arena, reply);
}

static void test_cancel_fan(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        Trial t;
        trial_open(&t, SELF(3), fan_and_hang, NULL);
        t.options.input.context = PTC_TEXT("{\"n\":1}");
        trial_go_cancelled(&t);
        TRIAL_HAS(&t, "\"reason\":\"cancelled\"");
        trial_close(&t);
    }
}

/* A failure of one child ends those that come after it. */
static void one_fails(Trial *t, const PtcLlmRequest *q, PtcArena *arena, PtcLlmReply *reply)
{
    if (trial_is(q, ""))
        trial_say(reply, arena, "(return (pmap (fn [i] (tool/child {:i i})) (range 8)))");
    else if (atomic_fetch_add((atomic_int *)t->user, 1) == 0)
        trial_say(reply, arena, "(fail \"the first\")");
    else
        trial_hang(t, q, arena, reply);
}

static void test_failing_child(void)
{
    Trial t;
    atomic_int count = 0;
    trial_of(&t,
             "{\"prompt\":\"p\",\"max_turns\":1,\"timeout\":200000,\"pmap_timeout\":200000,"
             "\"mission_timeout\":1000,\"tools\":{" CHILD("") "}}",
             one_fails, &count);
    TRIAL_HAS(&t, "\"outcome\":\"error\"");
    trial_close(&t);
}

/* ------------------------------------------------------------------------------ questions */

static void answer_query(Trial *t, const PtcLlmRequest *q, PtcArena *arena, PtcLlmReply *reply)
{
    if (trial_is(q, "")) {
        trial_say(reply, arena, t->user);
        return;
    }
    atomic_fetch_add(&t->free_turns, 1);
    trial_say(reply, arena, "{\"value\": 3}");
}

/* Questions cost no turns, so another limit ends those that never end. */
static void test_request_limit(void)
{
    Trial t;
    trial_of(
        &t,
        "{\"prompt\":\"p\",\"llm_query\":true,\"turn_budget\":2,\"max_turns\":1,\"timeout\":200000,"
        "\"pmap_timeout\":200000,\"max_tool_calls\":2000}",
        answer_query,
        "(return (frequencies (pmap (fn [i] (try (tool/llm-query {:prompt \"x\" :signature "
        "\":int\"}) (catch Exception e \"no\"))) (range 1200))))");
    TRIAL_HAS(&t, "\"outcome\":\"ok\"");
    TRIAL_HAS(&t, "999");
    CHECK(atomic_load(&t.asked) == PTC_TREE_REQUESTS);
    trial_close(&t);
}

static const struct {
    const char *template, *has;
} templates[] = {
    {"(str {{value}} \\\"x\\\")", "\"return\":\"3x\""},
    {"(str {{value}} \\\" {{x}}\\\")", "{{x}} is not a field"},
    {"(vec (range {{value}}))", "\"return\":[0,1,2]"},
    {"(tool/llm-query {:prompt \\\"again\\\"})", "response_template"},
    {"(+ data/i {{value}})", "response_template"},
    {"(loop [] (recur))", "response_template"},
    {"{{nothing}}", "nothing"},
    {"(", "response_template"},
    {"(fn [] {{value}})", "has no JSON"},
};

static void test_templates(void)
{
    for (size_t i = 0; i < sizeof templates / sizeof *templates; i++) {
        Trial t;
        char program[500];
        snprintf(program, sizeof program,
                 "(return (try (tool/llm-query {:prompt \"x\" :signature \"{value :int}\" "
                 ":response_template \"%s\"}) (catch Exception e (ex-message e))))",
                 templates[i].template);
        /* the template is a string in the program: one level of quotes less than in C */
        trial_of(&t, "{\"prompt\":\"p\",\"llm_query\":true,\"timeout\":200000}", answer_query,
                 program);
        TRIAL_HAS(&t, "\"outcome\":\"ok\"");
        TRIAL_HAS(&t, templates[i].has);
        trial_close(&t);
    }
}

int main(void)
{
    CHECK_RUN(test_nested());
    CHECK_RUN(test_self());
    CHECK_RUN(test_small_stack());
    CHECK_RUN(test_shared_turns());
    CHECK_RUN(test_enough_turns());
    CHECK_RUN(test_shared_tokens());
    CHECK_RUN(test_nested_fans());
    CHECK_RUN(test_cancel_fan());
    CHECK_RUN(test_failing_child());
    CHECK_RUN(test_request_limit());
    CHECK_RUN(test_templates());
    return check_done("agent_parallel");
}
