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

/* -------------------------------------------------------------------------------- pieces */

/* The pieces of a text, as the program of an agent sees them. */
static void expect_pieces(const char *text, PtcChunkUnit unit, int64_t size, int64_t overlap,
                          const char *want)
{
    PtcMissionOptions o = options();
    o.context = "{\"a\":1}";
    o.context_len = 7;
    PtcMission *m = make("{\"prompt\":\"p\"," SCRIPT("(return [data/a data/log])") "}", &o);
    CHECK(ptc_mission_chunk(m, "log", text, strlen(text), unit, size, overlap, NULL, 0) == PTC_OK);
    CHECK(ptc_mission_run(m) == PTC_OK);
    CHECK(ptc_mission_chunk(m, "log", text, strlen(text), unit, size, overlap, NULL, 0) ==
          PTC_BAD_ARGUMENT);
    expect_answer(m, want);
}

static void test_chunks(void)
{
    expect_pieces("one\ntwo\nthree\n", PTC_CHUNK_LINES, 2, 0, "[1,[\"one\\ntwo\",\"three\"]]");
    expect_pieces("a\nb\nc", PTC_CHUNK_LINES, 2, 1, "[1,[\"a\\nb\",\"b\\nc\"]]");
    expect_pieces("", PTC_CHUNK_LINES, 1, 0, "[1,[]]");
    expect_pieces("\n\n", PTC_CHUNK_LINES, 1, 0, "[1,[\"\",\"\"]]");
    expect_pieces("abcde", PTC_CHUNK_CHARS, 2, 0, "[1,[\"ab\",\"cd\",\"e\"]]");
    expect_pieces("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z", PTC_CHUNK_CHARS, 2, 1,
                  "[1,[\"a\xc3\xa9\",\"\xc3\xa9\xe2\x82\xac\",\"\xe2\x82\xac\xf0\x9f\x98\x80\","
                  "\"\xf0\x9f\x98\x80z\"]]");
    expect_pieces("abcdefghij", PTC_CHUNK_TOKENS, 2, 1, "[1,[\"abcdefgh\",\"efghij\"]]");
    expect_pieces("abc", PTC_CHUNK_CHARS, (int64_t)1 << 40, 0, "[1,[\"abc\"]]");
}

static void test_bad_chunks(void)
{
    static const struct {
        PtcChunkUnit unit;
        int64_t size, overlap;
    } rows[] = {{PTC_CHUNK_LINES, 0, 0},          {PTC_CHUNK_LINES, -1, -2},
                {PTC_CHUNK_LINES, 2, 2},          {PTC_CHUNK_LINES, 2, -1},
                {PTC_CHUNK_TOKENS, INT64_MAX, 0}, {PTC_CHUNK_CHARS, INT64_MAX, INT64_MAX - 1},
                {PTC_CHUNK_CHARS, 5, INT64_MIN},  {(PtcChunkUnit)3, 1, 0}};
    PtcMissionOptions o = options();
    char error[300] = "", *many = malloc(200001);
    PtcMission *m = make("{\"prompt\":\"p\"," SCRIPT("(return (keys data/all))") "}", &o);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK(ptc_mission_chunk(m, "k", "x", 1, rows[i].unit, rows[i].size, rows[i].overlap, NULL,
                                0) == PTC_BAD_ARGUMENT);
    CHECK(ptc_mission_chunk(NULL, "k", "x", 1, PTC_CHUNK_LINES, 1, 0, NULL, 0) == PTC_BAD_ARGUMENT);
    CHECK(ptc_mission_chunk(m, "", "x", 1, PTC_CHUNK_LINES, 1, 0, NULL, 0) == PTC_BAD_ARGUMENT);
    CHECK(ptc_mission_chunk(m, "k", "\xff", 1, PTC_CHUNK_LINES, 1, 0, error, sizeof error) ==
          PTC_BAD_DATA);
    CHECK_STR(error, "it is not UTF-8");
    memset(many, 'x', 200000);
    CHECK(ptc_mission_chunk(m, "k", many, 200000, PTC_CHUNK_CHARS, 1, 0, error, sizeof error) ==
          PTC_BAD_DATA);
    CHECK_STR(error, "it gives more than 100000 pieces");
    /* each piece is nearly all of the text: memory ends it, not time */
    CHECK(ptc_mission_chunk(m, "k", many, 200000, PTC_CHUNK_CHARS, 100000, 99999, error,
                            sizeof error) == PTC_BAD_DATA);
    CHECK_STR(error, "out of memory");
    ptc_mission_free(m);
    o.context = "[1]";
    o.context_len = 3;
    m = make("{\"prompt\":\"p\"," SCRIPT("1") "}", &o);
    CHECK(ptc_mission_chunk(m, "k", "x", 1, PTC_CHUNK_LINES, 1, 0, error, sizeof error) ==
          PTC_BAD_DATA);
    CHECK_STR(error, "the context is not a JSON object");
    ptc_mission_free(m);
    free(many);
}

/* ----------------------------------------------------------------------------- compiling */

#define PRICED "\"signature\":\"(article :string) -> :int\""

static PtcMission *to_compile(const char *json, PtcTools *tools, const char *context)
{
    PtcMission *m = NULL;
    PtcAgentSource s = a_source(json);
    PtcMissionOptions o = options();
    s.compile = true;
    s.tools = tools;
    o.context = context;
    o.context_len = context ? strlen(context) : 0;
    PtcAgent *agent = read_agent(&s);
    CHECK(ptc_mission_new(agent, &o, &m, NULL, 0) == PTC_OK);
    ptc_agent_free(agent);
    return m;
}

/* An agent from what compiling gave. */
static PtcAgent *compiled_agent(PtcMission *m, PtcTools *tools)
{
    PtcAgentSource s = a_source(NULL);
    char error[400] = "";
    CHECK(ptc_mission_compile(m, error, sizeof error) == PTC_OK);
    CHECK_STR(error, "");
    s.json = ptc_mission_compiled(m, &s.json_len);
    CHECK(s.json && strlen(s.json) == s.json_len && strstr(s.json, "\"ptc_compiled\":1"));
    s.compiled = true;
    s.tools = tools;
    PtcAgent *agent = read_agent(&s);
    ptc_mission_free(m);
    return agent;
}

static void test_compile(void)
{
    Shop shop = {0};
    PtcTools *tools = shop_tools(&shop, "price");
    PtcMissionOptions o = options();
    PtcMissionUsage usage = {.size = sizeof usage};
    const char *json = "{\"prompt\":\"{{article}}\"," PRICED
                       "," SCRIPT("(return (* 2 (tool/price {:sku data/article})))") "}";
    PtcMission *m = to_compile(json, tools, NULL);
    CHECK(!ptc_mission_compiled(m, NULL));
    PtcAgent *agent = compiled_agent(m, tools);
    ptc_tools_free(tools);
    CHECK(atomic_load(&shop.calls) == 2); /* asked, and again alone */
    o.context = "{\"article\":\"abc\"}";
    o.context_len = strlen(o.context);
    CHECK(ptc_mission_new(agent, &o, &m, NULL, 0) == PTC_OK && ptc_mission_run(m) == PTC_OK);
    CHECK(ptc_mission_usage(m, &usage) && usage.requests == 0 && usage.turns == 0);
    CHECK(strstr(ptc_mission_json(m, NULL), "\"by\":\"return\",\"turns\":[],"));
    expect_answer(m, "26");
    o.context = NULL;
    CHECK(ptc_mission_new(agent, &o, &m, NULL, 0) == PTC_OK && ptc_mission_run(m) == PTC_OK);
    CHECK(ptc_mission_invalid(m));
    expect_reason(m, "invalid_input", "missing");
    ptc_agent_free(agent);
}

/* How a compiled program fails is how an agent of one turn would. */
static void expect_failure(const char *program, const char *reason, const char *part)
{
    char json[500] = "";
    PtcMission *m = NULL;
    PtcAgentSource s = a_source(json);
    PtcMissionOptions o = options();
    snprintf(json, sizeof json,
             "{\"ptc_compiled\":1,\"program\":\"%s\",\"signature\":\"() -> :int\"}", program);
    s.json_len = strlen(json);
    s.compiled = true;
    PtcAgent *agent = read_agent(&s);
    CHECK(ptc_mission_new(agent, &o, &m, NULL, 0) == PTC_OK && ptc_mission_run(m) == PTC_OK);
    ptc_agent_free(agent);
    CHECK(strstr(ptc_mission_json(m, NULL), part));
    expect_reason(m, reason, "");
}

static void test_compiled_failures(void)
{
    expect_failure("(fail 7)", "failed", "\"value\":7");
    expect_failure("(return 1.5)", "max_turns_exceeded", "\"cause\":\"return_validation_failed\"");
    expect_failure("(+ 1 nothing)", "max_turns_exceeded", "\"cause\":\"unbound_var\"");
}

/* A compiled agent may be a part of a chain. */
static void test_compiled_in_chain(void)
{
    PtcAgent *then[] = {
        compiled_agent(to_compile("{\"prompt\":\"b\",\"signature\":\"(n :int) -> :int\"," SCRIPT(
                                      "(* 2 data/n)") "}",
                                  NULL, "{\"n\":1}"),
                       NULL)};
    PtcMissionOptions o = options();
    o.then = then;
    o.then_count = 1;
    PtcMission *m = make(FIRST, &o);
    ptc_agent_free(then[0]);
    CHECK(ptc_mission_run(m) == PTC_OK);
    expect_answer(m, "8");
}

static void expect_uncompiled(const char *json, const char *why)
{
    char error[700] = "";
    PtcMission *m = to_compile(json, NULL, NULL);
    CHECK(ptc_mission_compile(m, error, sizeof error) == PTC_BAD_DATA);
    CHECK(strstr(error, why));
    CHECK(!ptc_mission_compiled(m, NULL));
    ptc_mission_free(m);
}

static void test_uncompiled(void)
{
    PtcAgent *agent = NULL;
    char error[400] = "";
    PtcMissionOptions o = options();
    PtcMission *m = make(FIRST, &o);
    CHECK(ptc_mission_compile(m, NULL, 0) == PTC_BAD_ARGUMENT); /* not made for it */
    ptc_mission_free(m);
    expect_uncompiled("{\"prompt\":\"p\",\"output\":\"text\"," SCRIPT("1") "}", "output");
    expect_uncompiled("{\"prompt\":\"p\",\"max_turns\":2," SCRIPT("1") "}", "max_turns");
    expect_uncompiled("{\"prompt\":\"p\"," SCRIPT("(fail 1)") "}", "failed");
    expect_uncompiled("{\"prompt\":\"p\",\"signature\":\"() -> :int\",\"retry_turns\":1,\"llm\":["
                      "{\"content\":\"```clojure\\n(do (def a 1) \\\"x\\\")\\n```\"},"
                      "{\"content\":\"```clojure\\n(return a)\\n```\"}]}",
                      "does not work alone");
    PtcAgentSource s = a_source("{\"prompt\":\"p\"}");
    s.compiled = true;
    CHECK(ptc_agent_new(&s, &agent, error, sizeof error) == PTC_BAD_DATA);
    CHECK(strstr(error, "not a compiled agent"));
    s.compile = true;
    CHECK(ptc_agent_new(&s, &agent, NULL, 0) == PTC_BAD_ARGUMENT && !agent);
}

int main(void)
{
    CHECK_RUN(test_chain());
    CHECK_RUN(test_broken_chains());
    CHECK_RUN(test_bad_chains());
    CHECK_RUN(test_watched());
    CHECK_RUN(test_trace());
    CHECK_RUN(test_trace_of_chat());
    CHECK_RUN(test_chunks());
    CHECK_RUN(test_bad_chunks());
    CHECK_RUN(test_compile());
    CHECK_RUN(test_compiled_failures());
    CHECK_RUN(test_compiled_in_chain());
    CHECK_RUN(test_uncompiled());
    return check_done("test_api_chain");
}
