/* SPDX-License-Identifier: MIT
 * test_api_chain.c - what missions have beyond one run: chains, traces, data in pieces, compiled programs. */
#include "mission_help.h"

#define FIRST \
    "{\"prompt\":\"a\",\"signature\":\"(n :int?) -> {n :int}\"," SCRIPT("(return {:n 4})") "}"
#define SECOND                                                            \
    "{\"prompt\":\"b {{n}}\",\"signature\":\"(n :int) -> :int\"," SCRIPT( \
        "(return (* 2 data/n))") "}"
#define TOKENS(text) \
    "{\"content\":\"```clojure\\n" text "\\n```\",\"tokens\":{\"input\":30,\"output\":10}}"

static PtcMission *make(const char *first, const PtcMissionOptions *o)
{
    PtcMission *m = NULL;
    PtcAgent *agent = an_agent(first);
    CHECK(ptc_mission_new(agent, o, &m, NULL, 0) == PTC_OK);
    ptc_agent_free(agent);
    return m;
}

/* Runs a chain of two; the second agent is given up before it runs. */
static PtcMission *run_two(const char *first, const char *second, PtcMissionOptions o)
{
    PtcAgent *then[] = {an_agent(second)};
    o.then = then;
    o.then_count = 1;
    PtcMission *m = make(first, &o);
    ptc_agent_free(then[0]);
    CHECK(ptc_mission_say(m, "x", 1) == PTC_BAD_ARGUMENT);
    CHECK(ptc_mission_run(m) == PTC_OK);
    return m;
}

/* -------------------------------------------------------------------------------- chains */

static void test_chain(void)
{
    PtcMission *m = run_two(FIRST, SECOND, options());
    PtcMissionUsage usage = {.size = sizeof usage};
    CHECK(ptc_mission_usage(m, &usage) && usage.turns == 2 && usage.requests == 2);
    CHECK(strstr(ptc_mission_json(m, NULL), "\"chain\":[{\"outcome\":\"ok\",\"return\":{\"n\":4}"));
    CHECK(!ptc_mission_invalid(m) && ptc_mission_traced(m));
    expect_answer(m, "8");
}

static void test_broken_chains(void)
{
    PtcMissionUsage usage = {.size = sizeof usage};
    PtcMission *m =
        run_two("{\"prompt\":\"a\"," SCRIPT("(fail \\\"no\\\")") "}", SECOND, options());
    CHECK(strstr(ptc_mission_json(m, NULL), "\"cause\":\"failed\""));
    expect_reason(m, "chained_failure", "agent 1 of the chain failed: failed");
    m = run_two("{\"prompt\":\"a\",\"signature\":\"{m :int}\"," SCRIPT("(return {:m 1})") "}",
                SECOND, options());
    CHECK(ptc_mission_usage(m, &usage) && usage.requests == 0 && usage.duration_us == 0);
    CHECK(!ptc_mission_invalid(m));
    expect_reason(m, "chain_error", "needs n");
    m = run_two(FIRST, "{\"prompt\":\"b\"," SCRIPT("(fail 1)") "}", options());
    expect_reason(m, "failed", "");
}

static void test_bad_chains(void)
{
    PtcMission *m = NULL;
    PtcMissionOptions o = options();
    PtcAgent *agent = an_agent(FIRST), *then[32];
    o.then_count = 1;
    CHECK(ptc_mission_new(agent, &o, &m, NULL, 0) == PTC_BAD_ARGUMENT);
    o.then = then;
    then[0] = NULL;
    CHECK(ptc_mission_new(agent, &o, &m, NULL, 0) == PTC_BAD_ARGUMENT);
    for (size_t i = 0; i < 32; i++)
        then[i] = agent;
    o.then_count = 32;
    CHECK(ptc_mission_new(agent, &o, &m, NULL, 0) == PTC_BAD_ARGUMENT && !m);
    o.then_count = 31;
    CHECK(ptc_mission_new(agent, &o, &m, NULL, 0) == PTC_OK);
    CHECK(ptc_mission_run(m) == PTC_OK);
    expect_answer(m, "{\"n\":4}");
    ptc_agent_free(agent);
}

/* Every agent of a chain is watched, and may be stopped by what all of them used. */
typedef struct Watched {
    size_t began[2], text[2];
    int64_t requests, input;
    int64_t stop_at; /* this many requests */
} Watched;

static void watch(void *user, const PtcMissionEvent *e)
{
    Watched *w = user;
    CHECK(e->link < 2);
    w->began[e->link] += e->kind == PTC_MISSION_BEGAN;
    w->text[e->link] += e->kind == PTC_MISSION_TEXT;
}

static bool stop(void *user, int64_t requests, int64_t input, int64_t output)
{
    Watched *w = user;
    CHECK(3 * output == input);
    w->requests = requests;
    w->input = input;
    return requests >= w->stop_at;
}

static void test_watched(void)
{
    const char *first = "{\"prompt\":\"a\",\"llm\":[" TOKENS("(return {:n 4})") "]}";
    const char *second =
        "{\"prompt\":\"b {{n}}\",\"output\":\"text\",\"llm\":[{\"content\":\"four\","
        "\"tokens\":{\"input\":30,\"output\":10}}]}";
    Watched w = {.stop_at = 3};
    PtcMissionOptions o = options();
    o.watch = watch;
    o.watch_user = &w;
    o.stop = stop;
    o.stop_user = &w;
    expect_answer(run_two(first, second, o), "\"four\"");
    CHECK(w.began[0] == 1 && w.began[1] == 1 && w.text[0] == 0 && w.text[1] > 0);
    CHECK(w.requests == 2 && w.input == 60);
    w.stop_at = 1;
    expect_reason(run_two(first, second, o), "chained_failure", "budget_callback_exceeded");
    o.stop = NULL;
    o.token_limit = 79;
    expect_reason(run_two(first, second, o), "budget_callback_exceeded", "");
}

/* -------------------------------------------------------------------------------- traces */

typedef struct Lines {
    char text[4 * TEXT];
    size_t len;
    int left; /* lines to take before it refuses */
} Lines;

static bool take_line(void *user, const char *line, size_t len)
{
    Lines *l = user;
    CHECK(len > 2 && line[0] == '{' && line[len - 1] == '\n' && l->len + len < sizeof l->text);
    memcpy(l->text + l->len, line, len);
    l->text[l->len += len] = 0;
    return l->left-- > 0;
}

static size_t count_of(const char *text, const char *part)
{
    size_t n = 0;
    while ((text = strstr(text, part)) && ++n)
        text++;
    return n;
}

static void test_trace(void)
{
    Lines lines = {.left = 1000};
    PtcMissionOptions o = options();
    o.trace = take_line;
    o.trace_user = &lines;
    PtcMission *m = run_two(FIRST, SECOND, o);
    CHECK(ptc_mission_traced(m));
    expect_answer(m, "8");
    CHECK(strncmp(lines.text, "{\"event\":\"trace.start\"", 22) == 0);
    CHECK(count_of(lines.text, "\"event\":\"run.start\"") == 2 &&
          count_of(lines.text, "\"event\":\"run.stop\"") == 2 &&
          count_of(lines.text, "\"event\":\"program.start\"") == 2);
    lines = (Lines){.left = 2};
    m = run_two(FIRST, SECOND, o);
    CHECK(!ptc_mission_traced(m) && count_of(lines.text, "\n") == 3);
    expect_answer(m, "8");
}

/* A conversation is one trace. */
static void test_trace_of_chat(void)
{
    Lines lines = {.left = 1000};
    PtcMissionOptions o = options();
    o.trace = take_line;
    o.trace_user = &lines;
    PtcMission *m = make("{\"prompt\":\"p\",\"output\":\"text\",\"llm\":[{\"content\":\"one\"},"
                         "{\"content\":\"two\"}]}",
                         &o);
    CHECK(ptc_mission_say(m, "first", 5) == PTC_OK && ptc_mission_say(m, "second", 6) == PTC_OK);
    CHECK(count_of(lines.text, "trace.start") == 1 && count_of(lines.text, "run.start") == 2);
    expect_answer(m, "\"two\"");
}

int main(void)
{
    CHECK_RUN(test_chain());
    CHECK_RUN(test_broken_chains());
    CHECK_RUN(test_bad_chains());
    CHECK_RUN(test_watched());
    CHECK_RUN(test_trace());
    CHECK_RUN(test_trace_of_chat());
    return check_done("test_api_chain");
}
