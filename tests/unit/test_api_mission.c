/* SPDX-License-Identifier: MIT
 * test_api_mission.c - missions from C: models that are functions, events, stopping, records, threads. */
#include "mission_help.h"

/* --------------------------------------------------------------------------------- models */

typedef struct Model {
    atomic_int asked;
    const char *replies[4]; /* JSON, or text when it begins with a backquote */
    bool again;             /* a second reply is refused */
    char request[TEXT];
} Model;

static void answer(PtcAsk *ask, void *user)
{
    Model *model = user;
    size_t len = 0;
    const char *reply = model->replies[atomic_fetch_add(&model->asked, 1)];
    const char *request = ptc_ask_json(ask, &len);
    CHECK(request && strlen(request) == len && ptc_ask_json(ask, NULL) == request);
    snprintf(model->request, sizeof model->request, "%s", request);
    CHECK_STR(ptc_ask_agent(ask, &len), "");
    CHECK(!ptc_ask_cancelled(ask) && ptc_ask_time_left_ms(ask) > 0);
    if (!reply)
        return;
    if (reply[0] == '`')
        CHECK(ptc_ask_text(ask, reply, strlen(reply)));
    else
        (void)ptc_ask_reply(ask, reply, strlen(reply));
    CHECK(!ptc_ask_text(ask, "x", 1) && !ptc_ask_fail(ask, NULL, "x", 1) &&
          !ptc_ask_stream(ask, "x", 1));
}

static void test_callback(void)
{
    Model model = {.replies = {PROGRAM("(def a 20)"),
                               "{\"content\":\"```clojure\\n(return (inc a))\\n```\","
                               "\"tokens\":{\"input\":7,\"output\":3}}"}};
    PtcMissionOptions o = options();
    o.ask = answer;
    o.ask_user = &model;
    PtcMission *m = go(an_agent("{\"prompt\":\"Say {{x}}.\"}"), &o);
    PtcMissionUsage usage = {.size = sizeof usage};
    CHECK(ptc_mission_usage(m, &usage) && usage.input_tokens == 7 && usage.output_tokens == 3);
    CHECK(strstr(model.request, "\"ptc_llm\":1") && strstr(model.request, "a = 20"));
    expect_answer(m, "21");
}

static void test_bad_callbacks(void)
{
    static const struct {
        const char *reply, *message;
    } rows[] = {{NULL, "the host's function gave no reply"},
                {"{\"contents\":1}", "the host's function: "},
                {"nothing", "the host's function did not write JSON"},
                {"{\"error\":\"overloaded\"}", "overloaded"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Model model = {.replies = {rows[i].reply}};
        PtcMissionOptions o = options();
        o.ask = answer;
        o.ask_user = &model;
        expect_reason(go(an_agent("{\"prompt\":\"p\"}"), &o), "llm_error", rows[i].message);
    }
}

static void fail_twice(PtcAsk *ask, void *user)
{
    atomic_int *asked = user;
    CHECK(!ptc_ask_fail(ask, "no such class", "x", 1) && !ptc_ask_fail(ask, "ok", "x", 1));
    CHECK(!ptc_ask_reply(ask, NULL, 0) && !ptc_ask_text(ask, NULL, 0));
    if (atomic_fetch_add(asked, 1) < 2)
        CHECK(ptc_ask_fail(ask, "rate_limit", "slowly", 6));
    else
        CHECK(ptc_ask_text(ask, "(return 5)", 10));
}

static void test_retries(void)
{
    atomic_int asked = 0;
    PtcMissionOptions o = options();
    o.ask = fail_twice;
    o.ask_user = &asked;
    PtcMission *m =
        go(an_agent("{\"prompt\":\"p\",\"llm_retry\":{\"max_attempts\":3,\"base_delay\":1}}"), &o);
    PtcMissionUsage usage = {.size = sizeof usage};
    CHECK(ptc_mission_usage(m, &usage) && usage.failed_requests == 2 && usage.requests == 3);
    expect_answer(m, "5");
}

/* --------------------------------------------------------------------------------- events */

typedef struct Log {
    char text[TEXT];
    size_t len;
} Log;

static void note(void *user, const PtcMissionEvent *e)
{
    static const char *const names[] = {"began",  "ended", "asked", "answered", "program",
                                        "result", "calls", "turn",  "text"};
    Log *log = user;
    CHECK(e->size == sizeof *e && e->at_us >= 0 && e->duration_us >= 0 && e->agent);
    bool told = e->kind == PTC_MISSION_PROGRAM_BEGAN || e->kind == PTC_MISSION_TEXT;
    log->len += (size_t)snprintf(log->text + log->len, sizeof log->text - log->len,
                                 "%s%s %llu.%d %s%s%s%.*s\n", e->agent_len ? e->agent : "",
                                 e->agent_len ? ":" : "", (unsigned long long)e->run, (int)e->turn,
                                 names[e->kind], e->ok ? "" : " ", e->ok ? "" : e->reason,
                                 told ? (int)e->text_len : 0, told ? e->text : "");
}

static void test_events(void)
{
    Log log = {.len = 0};
    PtcMissionOptions o = options();
    o.watch = note;
    o.watch_user = &log;
    expect_answer(
        go(an_agent("{\"prompt\":\"p\",\"tools\":{\"sub\":{\"agent\":{\"prompt\":\"q\","
                    "\"llm\":[{\"content\":\"(return 1)\"}]}}},\"llm\":[{\"content\":\"(/ 1 0)\"},"
                    "{\"content\":\"(return (tool/sub))\"}]}"),
           &o),
        "1");
    CHECK_STR(
        log.text,
        " 1.1 began\n 1.1 asked\n 1.1 answered\n 1.1 program(/ 1 0)\n"
        " 1.1 result arithmetic_error\n 1.1 turn arithmetic_error\n 1.2 asked\n 1.2 answered\n"
        " 1.2 program(return (tool/sub))\nsub: 2.1 began\nsub: 2.1 asked\n"
        "sub: 2.1 answered\nsub: 2.1 program(return 1)\nsub: 2.1 result\nsub: 2.1 turn\n"
        "sub: 2.2 ended\n 1.2 result\n 1.2 turn\n 1.3 ended\n");
}

static void speak(PtcAsk *ask, void *user)
{
    (void)user;
    CHECK(ptc_ask_stream(ask, "Hel", 3) && ptc_ask_stream(ask, "lo", 2));
    CHECK(ptc_ask_text(ask, "Hello", 5));
}

static void test_stream(void)
{
    Log log = {.len = 0};
    PtcMissionOptions o = options();
    o.watch = note;
    o.watch_user = &log;
    o.ask = speak;
    expect_answer(go(an_agent("{\"prompt\":\"p\",\"output\":\"text\"}"), &o), "\"Hello\"");
    CHECK(strstr(log.text, "textHel\n 1.1 textlo\n") != NULL);
    log.len = 0;
    o.ask = NULL; /* a script's text comes in one piece */
    expect_answer(
        go(an_agent("{\"prompt\":\"p\",\"output\":\"text\",\"llm\":[{\"content\":\"Hi\"}]}"), &o),
        "\"Hi\"");
    CHECK(strstr(log.text, "textHi\n") != NULL);
}

/* ------------------------------------------------------------------------------ stopping */

static bool enough(void *user, int64_t requests, int64_t input, int64_t output)
{
    (void)output;
    return requests >= 2 && input >= *(int64_t *)user;
}

static void test_stop(void)
{
    static const char json[] =
        "{\"prompt\":\"p\",\"llm\":[{\"content\":\"(def a "
        "1)\",\"tokens\":{\"input\":5,\"output\":1}},"
        "{\"content\":\"41\",\"tokens\":{\"input\":5,\"output\":1}},{\"content\":\"(return 1)\"}]}";
    int64_t limit = 10;
    PtcMissionOptions o = options();
    o.stop = enough;
    o.stop_user = &limit;
    expect_reason(go(an_agent(json), &o), "budget_callback_exceeded", "");
    o = options();
    o.token_limit = 11;
    expect_reason(go(an_agent(json), &o), "budget_callback_exceeded", "");
    o.token_limit = 12;
    expect_answer(go(an_agent(json), &o), "1");
}

typedef struct Waiting {
    PtcMission *mission;
    atomic_bool waits;
} Waiting;

/* A model that never answers. */
static void hang(PtcAsk *ask, void *user)
{
    atomic_store(&((Waiting *)user)->waits, true);
    while (!ptc_ask_cancelled(ask))
        check_pause_us(1000);
    ptc_ask_fail(ask, "cancelled", "cancelled", 9);
}

static void *cancel_waiting(void *user)
{
    Waiting *w = user;
    while (!atomic_load(&w->waits))
        check_pause_us(1000);
    ptc_mission_cancel(w->mission);
    return NULL;
}

static void test_cancel(void)
{
    Waiting w = {.mission = NULL};
    pthread_t thread;
    PtcMissionOptions o = options();
    o.ask = hang;
    o.ask_user = &w;
    PtcAgent *agent = an_agent("{\"prompt\":\"p\"}");
    CHECK(ptc_mission_new(agent, &o, &w.mission, NULL, 0) == PTC_OK);
    CHECK(pthread_create(&thread, NULL, cancel_waiting, &w) == 0);
    CHECK(ptc_mission_run(w.mission) == PTC_OK);
    pthread_join(thread, NULL);
    CHECK_STR(ptc_mission_reason(w.mission), "cancelled");
    ptc_mission_free(w.mission);
    CHECK(ptc_mission_new(agent, &o, &w.mission, NULL, 0) == PTC_OK);
    ptc_mission_cancel(w.mission); /* before it runs */
    CHECK(ptc_mission_run(w.mission) == PTC_OK);
    CHECK_STR(ptc_mission_reason(w.mission), "cancelled");
    ptc_mission_free(w.mission);
    ptc_agent_free(agent);
}

static void cancel_at_program(void *user, const PtcMissionEvent *e)
{
    if (e->kind == PTC_MISSION_PROGRAM_BEGAN)
        ptc_mission_cancel(*(PtcMission **)user);
}

/* From inside of an event. */
static void test_cancel_event(void)
{
    PtcMission *m = NULL;
    PtcMissionOptions o = options();
    o.watch = cancel_at_program;
    o.watch_user = &m;
    PtcAgent *agent =
        an_agent("{\"prompt\":\"p\",\"timeout\":60000," SCRIPT("(loop [] (recur))") "}");
    CHECK(ptc_mission_new(agent, &o, &m, NULL, 0) == PTC_OK);
    CHECK(ptc_mission_run(m) == PTC_OK);
    CHECK_STR(ptc_mission_reason(m), "cancelled");
    ptc_mission_free(m);
    ptc_agent_free(agent);
}

/* ---------------------------------------------------------------------------------- input */

static void test_input(void)
{
    PtcMissionOptions o = options();
    o.journal = "{\"t\":7}";
    o.journal_len = strlen(o.journal);
    o.memory = "{\"m\":30}";
    o.memory_len = strlen(o.memory);
    o.messages = "[{\"role\":\"user\",\"content\":\"earlier\"},{\"role\":\"assistant\",\"content\":"
                 "\"yes\"}]";
    o.messages_len = strlen(o.messages);
    o.collect_messages = true;
    PtcMission *m = go(
        an_agent("{\"prompt\":\"p\"," SCRIPT("(return (+ m (task \\\"t\\\" (fail 1))))") "}"), &o);
    const char *json = ptc_mission_json(m, NULL);
    CHECK(strstr(json, "\"content\":\"earlier\"") && strstr(json, "\"journal\":{\"t\":7}"));
    expect_answer(m, "37");
}

static int64_t one_each(void *user, const char *text, size_t len)
{
    CHECK(text && strlen(text) >= len);
    atomic_fetch_add((atomic_int *)user, 1);
    return 1;
}

static void test_token_counter(void)
{
    atomic_int counted = 0;
    PtcMissionOptions o = options();
    PtcAgentSource s =
        a_source("{\"prompt\":\"p\",\"compaction\":{\"trigger\":{\"tokens\":1000}}," SCRIPT(
            "(return 1)") "}");
    s.count_tokens = one_each;
    s.count_tokens_user = &counted;
    expect_answer(go(read_agent(&s), &o), "1");
    CHECK(atomic_load(&counted) > 0);
}

/* --------------------------------------------------------------------- records and replays */

static PtcLlm *an_llm(const char *record)
{
    PtcLlmOptions o;
    PtcLlm *llm = NULL;
    char error[500] = "";
    ptc_llm_options_init(&o, sizeof o);
    o.record = record;
    CHECK(ptc_llm_new(&o, &llm, error, sizeof error) == PTC_OK);
    CHECK_STR(error, "");
    return llm;
}

/* Runs with a model and keeps the outcome. */
static void run_with(PtcLlm *llm, const char *spec, Model *model, const char *prompt,
                     char out[TEXT])
{
    char json[300];
    PtcMissionOptions o = options();
    o.llm = llm;
    o.model = spec;
    o.ask = model ? answer : NULL;
    o.ask_user = model;
    snprintf(json, sizeof json, "{\"prompt\":\"%s\"}", prompt);
    PtcMission *m = go(an_agent(json), &o);
    snprintf(out, TEXT, "%s", ptc_mission_json(m, NULL));
    ptc_mission_free(m);
}

static void test_replay(void)
{
    char path[] = "/tmp/ptc-record-XXXXXX", spec[64], first[TEXT], second[TEXT], error[300] = "";
    int fd = mkstemp(path);
    Model model = {.replies = {PROGRAM("(def a 20)"), PROGRAM("(return (inc a))")}};
    PtcLlm *llm = an_llm(path);
    close(fd);
    run_with(llm, NULL, &model, "p", first);
    CHECK(ptc_llm_free(llm, error, sizeof error) == PTC_OK);
    snprintf(spec, sizeof spec, "replay:%s", path);
    llm = an_llm(NULL);
    run_with(llm, spec, NULL, "p", second);
    CHECK_STR(second, first);
    run_with(llm, spec, NULL, "q", second);
    CHECK(strstr(second, "\"reason\":\"replay_mismatch\"") != NULL);
    CHECK(ptc_llm_free(llm, NULL, 0) == PTC_OK);
    unlink(path);
}

static const char *no_variable(void *user, const char *name)
{
    (void)user, (void)name;
    return NULL;
}

static void test_named_models(void)
{
    PtcLlmOptions lo;
    PtcLlm *llm = NULL;
    PtcMission *m = NULL;
    PtcAgent *agent = NULL;
    char error[500] = "";
    ptc_llm_options_init(&lo, sizeof lo);
    lo.aliases = "/nowhere/aliases.json";
    CHECK(ptc_llm_new(&lo, &llm, error, sizeof error) == PTC_BAD_DATA && !llm && error[0]);
    CHECK(ptc_llm_new(&lo, NULL, NULL, 0) == PTC_BAD_ARGUMENT);
    lo.aliases = NULL;
    lo.variable = no_variable;
    CHECK(ptc_llm_new(&lo, &llm, error, sizeof error) == PTC_OK);
    PtcAgentSource s = a_source("{\"prompt\":\"p\",\"llm\":\"haikku\"}");
    s.llm = llm;
    CHECK(ptc_agent_new(&s, &agent, error, sizeof error) == PTC_BAD_DATA &&
          strstr(error, "llm: ") == error);
    s.json = "{\"prompt\":\"p\",\"llm\":\"haiku\"}";
    s.json_len = strlen(s.json);
    agent = read_agent(&s);
    PtcMissionOptions o = options();
    o.llm = llm;
    o.model = "haikku";
    CHECK(ptc_mission_new(agent, &o, &m, error, sizeof error) == PTC_BAD_DATA && !m);
    o.model = NULL; /* its own model has no key */
    m = go(agent, &o);
    expect_reason(m, "llm_error", "KEY");
    CHECK(ptc_llm_free(llm, NULL, 0) == PTC_OK);
}

/* -------------------------------------------------------------------------- conversations */

static void say(PtcMission *m, const char *message, const char *want)
{
    CHECK(ptc_mission_say(m, message, strlen(message)) == PTC_OK);
    CHECK_STR(ptc_mission_ok(m) ? ptc_mission_answer(m, NULL) : ptc_mission_message(m, NULL), want);
}

static void test_chat(void)
{
    Model model = {.replies = {PROGRAM("(def a 20) (return a)"), PROGRAM("(return (inc a))"), NULL,
                               PROGRAM("(return (+ *1 a))")}};
    PtcMission *m = NULL;
    PtcMissionUsage usage = {.size = sizeof usage};
    PtcMissionOptions o = options();
    o.ask = answer;
    o.ask_user = &model;
    PtcAgent *agent = an_agent("{\"prompt\":\"p\"}");
    CHECK(ptc_mission_new(agent, &o, &m, NULL, 0) == PTC_OK);
    ptc_agent_free(agent);
    CHECK(ptc_mission_say(m, NULL, 0) == PTC_BAD_ARGUMENT);
    say(m, "Take {{20}}.", "20");
    CHECK(strstr(model.request, "Take {{20}}.") != NULL);
    CHECK(ptc_mission_run(m) == PTC_BAD_ARGUMENT);
    say(m, "One more?", "21");
    CHECK(strstr(model.request, "Take {{20}}.") && strstr(model.request, "One more?"));
    say(m, "Nobody answers.", "the host's function gave no reply");
    CHECK_STR(ptc_mission_reason(m), "llm_error");
    say(m, "All?", "41");
    CHECK(!strstr(model.request, "Nobody answers."));
    CHECK(ptc_mission_usage(m, &usage) && usage.turns == 1);
    ptc_mission_cancel(m); /* the next message, and no other */
    say(m, "Not now.", "the run was cancelled");
    ptc_mission_free(m);
}

static void test_chat_refused(void)
{
    PtcMission *m = NULL;
    PtcMissionUsage usage = {.size = sizeof usage};
    PtcAgent *agent =
        an_agent("{\"prompt\":\"p\",\"output\":\"text\",\"signature\":\"() -> :int\"}");
    CHECK(ptc_mission_new(agent, NULL, &m, NULL, 0) == PTC_OK);
    ptc_agent_free(agent);
    CHECK(ptc_mission_say(m, "Hi", 2) == PTC_OK && ptc_mission_invalid(m));
    CHECK_STR(ptc_mission_reason(m), "invalid_agent");
    CHECK(!ptc_mission_usage(m, &usage) && ptc_mission_json(m, NULL));
    CHECK(ptc_mission_say(m, "Hi", 2) == PTC_BAD_ARGUMENT);
    ptc_mission_free(m);
}

/* A conversation goes on in another mission. */
static void test_chat_earlier(void)
{
    PtcMission *m = NULL;
    Model model = {.replies = {PROGRAM("(return 1)"), PROGRAM("(return 2)")}};
    PtcMissionOptions o = options();
    o.ask = answer;
    o.ask_user = &model;
    o.messages = "[{\"role\":\"user\",\"content\":\"earlier\"},"
                 "{\"role\":\"assistant\",\"content\":\"yes\"}]";
    o.messages_len = strlen(o.messages);
    PtcAgent *agent = an_agent("{\"prompt\":\"p\"}");
    CHECK(ptc_mission_new(agent, &o, &m, NULL, 0) == PTC_OK);
    ptc_agent_free(agent);
    say(m, "a", "1");
    say(m, "b", "2");
    CHECK(strstr(model.request, "earlier") && strstr(model.request, "(return 1)"));
    ptc_mission_free(m);
}

/* -------------------------------------------------------------------------------- threads */

typedef struct Runner {
    PtcAgent *agent;
    pthread_t thread;
    int well; /* missions that had an answer */
} Runner;

static void *run_many(void *user)
{
    Runner *r = user;
    for (int i = 0; i < 20; i++) {
        PtcMission *m = NULL;
        PtcMissionOptions o = options();
        if (ptc_mission_new(r->agent, &o, &m, NULL, 0) == PTC_OK && ptc_mission_run(m) == PTC_OK)
            r->well += ptc_mission_ok(m);
        ptc_mission_free(m);
    }
    return NULL;
}

/* Any number of missions share an agent, and its tools. */
static void test_threads(void)
{
    enum { THREADS = 4 };
    Shop shop = {0};
    Runner runners[THREADS];
    PtcTools *tools = shop_tools(&shop, "price");
    PtcAgentSource s =
        a_source("{\"prompt\":\"p\"," SCRIPT("(return (tool/price {:sku \\\"x\\\"}))") "}");
    s.tools = tools;
    PtcAgent *agent = read_agent(&s);
    ptc_tools_free(tools);
    for (int i = 0; i < THREADS; i++) {
        runners[i] = (Runner){.agent = agent};
        CHECK(pthread_create(&runners[i].thread, NULL, run_many, &runners[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(runners[i].thread, NULL);
        CHECK(runners[i].well == 20);
    }
    ptc_agent_free(agent);
    CHECK(atomic_load(&shop.calls) == THREADS * 20 && atomic_load(&shop.freed) == 1);
}

int main(void)
{
    test_callback();
    test_bad_callbacks();
    test_retries();
    test_events();
    test_stream();
    test_stop();
    test_cancel();
    test_cancel_event();
    test_input();
    test_token_counter();
    test_replay();
    test_named_models();
    test_chat();
    test_chat_refused();
    test_chat_earlier();
    test_threads();
    return check_done("test_api_mission");
}
