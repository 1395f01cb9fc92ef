/* SPDX-License-Identifier: MIT
 * test_mcp_app.c - answers of lisp_eval, made of parts that an executor of the test gives: what no program of ours
 * leads to, as when a worker lies. */
#include "mcp_help.h"

#include "mcp/app/app.h"
#include "tool/remote/remote.h"

/* What the next task gives. */
static struct {
    bool ok;
    const char *text, *json, *prints, *feedback, *warnings, *calls;
} given;

/* A run in other servers: a question of one of them that is open, and what was said. */
static struct {
    uint64_t inquiry, replied;
    int decisions;
} world;

static void put(PtcBuf *part, const char *text)
{
    if (text)
        ptc_buf_add_cstr(part, text);
}

static PtcTaskStatus submit(PtcExecutor *self, const char *owner, const PtcTaskIn *in,
                            const PtcCancel *cancel, PtcTaskOut *out)
{
    (void)self, (void)owner, (void)cancel;
    if (in->asking && in->asking->mode == PTC_REMOTE_ASKS && !world.decisions) {
        in->asking->run = &world;
        return PTC_TASK_DONE;
    }
    if (in->asking)
        in->asking->run = NULL;
    out->ok = given.ok;
    put(&out->text, given.text);
    put(&out->json, given.json);
    put(&out->prints, given.prints);
    put(&out->feedback, given.feedback);
    put(&out->warnings, given.warnings);
    put(&out->calls, given.calls);
    if (!given.ok) {
        snprintf(out->reason, sizeof out->reason, "runtime_error");
        snprintf(out->message, sizeof out->message, "the message");
    }
    return PTC_TASK_DONE;
}

#define ONE                                                             \
    "[{\"kind\":\"unknown_data\",\"phase\":\"check\",\"message\":\"no " \
    "data/rwos\",\"line\":1,\"column\":7,"                              \
    "\"hint\":\"did you mean data/rows?\"}]"
#define CALL REQUEST("1", "tools/call", "\"name\":\"lisp_eval\",\"arguments\":{\"program\":\"1\"}")
#define ANSWER(text, structured)                                           \
    RESULT("1", "\"content\":[{\"type\":\"text\",\"text\":\"" text "\"}]," \
                "\"structuredContent\":{" structured "}")
#define FAILED(text) \
    RESULT("1", "\"content\":[{\"type\":\"text\",\"text\":\"" text "\"}],\"isError\":true")

static void test_slim(PtcMcp *mcp)
{
    given.ok = true;
    given.text = "{:a 1}";
    given.json = "{\"a\":1}";
    CHECK_STR(tell(mcp, NULL, CALL), ANSWER("{:a 1}", "\"result\":{\"a\":1}"));
    given.json = NULL;
    CHECK_STR(tell(mcp, NULL, CALL), ANSWER("{:a 1}", "\"result\":\"{:a 1}\""));
    given.prints = "one\n\ntwo";
    CHECK_STR(
        tell(mcp, NULL, CALL),
        ANSWER("one\\n\\ntwo\\n{:a 1}", "\"result\":\"{:a 1}\",\"prints\":[\"one\",\"\",\"two\"]"));
    given.prints = NULL;
    given.text = NULL;
    CHECK_STR(tell(mcp, NULL, CALL), ANSWER("", "\"result\":\"\""));
}

static void test_warnings(PtcMcp *mcp)
{
    given.ok = true;
    given.text = given.json = "0";
    given.warnings = ONE;
    CHECK_STR(tell(mcp, NULL, CALL),
              ANSWER("0\\n[warning: line 1, column 7: no data/rwos; did you mean data/rows?]",
                     "\"result\":0,\"warnings\":" ONE));
    given.warnings = "[{\"message\":\"just so\"},{},7,{\"message\":[1]}]";
    CHECK_STR(tell(mcp, NULL, CALL), ANSWER("0\\n[warning: just so]",
                                            "\"result\":0,\"warnings\":"
                                            "[{\"message\":\"just so\"},{},7,{\"message\":[1]}]"));
    given.ok = false;
    given.feedback = "it failed\n";
    given.warnings = ONE;
    CHECK_STR(tell(mcp, NULL, CALL),
              FAILED("runtime_error: it failed\\n[warning: line 1, column 7: no data/rwos; did you "
                     "mean data/rows?]"));
    given.feedback = given.warnings = NULL;
    CHECK_STR(tell(mcp, NULL, CALL), FAILED("runtime_error: the message"));
}

/* ------------------------------------------------------------------------------- questions */

static uint64_t find_inquiry(void *run, uint64_t after, PtcBuf *out)
{
    (void)run;
    put(out, "{\"method\":\"elicitation/create\",\"params\":{\"message\":\"of a server\"}}");
    return world.inquiry > after ? world.inquiry : 0;
}

static void take_reply(void *run, uint64_t inquiry, PtcText answer)
{
    (void)run;
    world.replied = answer.bytes ? inquiry : 0;
    world.inquiry = world.inquiry == inquiry ? 0 : world.inquiry;
}

static size_t list_calls(void *run, PtcBuf *text, PtcBuf *json)
{
    (void)run, (void)json;
    if (text)
        put(text, "\n1. write \"s\"/\"t\" {}");
    return 1;
}

static size_t count_calls(void *run, PtcWhy *why)
{
    (void)run, (void)why;
    return 1;
}

static bool decide(void *run, PtcRemoteDecision decision, PtcWhy *why)
{
    (void)run, (void)decision, (void)why;
    world.decisions++;
    return true;
}

static bool add_effects(void *run, PtcBuf *out)
{
    (void)run;
    put(out, "{}");
    return false;
}

static void end_run(void *run, PtcBuf *call_log)
{
    (void)run, (void)call_log;
}

static const char *called = "\"name\":\"lisp_eval\",\"arguments\":{\"program\":\"1\"}";

/* What a client has been given: a state, and under which name its answer goes. */
typedef struct {
    char state[2000], key[100];
} Asked;

static const char *copy_between(const char *text, const char *before, char end, char *to,
                                size_t size)
{
    const char *from = strstr(text, before);
    const char *stop = from ? strchr(from + strlen(before), end) : NULL;
    snprintf(to, size, "%.*s", stop ? (int)(stop - from - (int)strlen(before)) : 0,
             stop ? from + strlen(before) : "");
    return text;
}

/* Calls with the state of an earlier call, and its answer if there is one. */
static const char *call_again(PtcMcp *mcp, const Asked *with, const char *answer, Asked *asked)
{
    char message[6000], more[3000] = "";
    if (with)
        snprintf(more, sizeof more, ",\"requestState\":\"%s\"", with->state);
    if (answer)
        snprintf(more + strlen(more), sizeof more - strlen(more), ",\"inputResponses\":{\"%s\":%s}",
                 with->key, answer);
    snprintf(message, sizeof message,
             REQUEST("1", "tools/call", "%s%s," MODERN("{\"elicitation\":{}}", "")), called, more);
    const char *said = tell(mcp, NULL, message);
    copy_between(said, "\"requestState\":\"", '"', asked->state, sizeof asked->state);
    copy_between(said, "\"inputRequests\":{\"", '"', asked->key, sizeof asked->key);
    return said;
}

#define YES "{\"action\":\"accept\",\"content\":{\"decision\":\"always\"}}"

/* An answer counts for the question that it was given to: a form of a server, which may look like ours, approves
 * nothing when the server has withdrawn it meanwhile; and servers are not told what was said about calls. */
static void test_other_question(PtcMcp *mcp)
{
    static Asked first, second, third;
    given.ok = true;
    given.text = given.json = "0";
    given.warnings = NULL;
    world.inquiry = 7;
    CHECK(strstr(call_again(mcp, NULL, NULL, &first), "of a server"));
    world.inquiry = 0;
    CHECK(strstr(call_again(mcp, &first, NULL, &second), "need your approval") ||
          strstr(help_heard.text, "needs your approval"));
    CHECK(strstr(call_again(mcp, &first, YES, &third), "args_error") && !world.decisions);
    world.inquiry = 8;
    CHECK(strstr(call_again(mcp, &second, NULL, &third), "of a server"));
    CHECK(strstr(call_again(mcp, &second, YES, &first), "args_error") && !world.replied);
    CHECK(strstr(call_again(mcp, &third, YES, &first), "approval") && world.replied == 8);
    CHECK(strstr(call_again(mcp, &first, NULL, &second), "approval") && !world.decisions);
    CHECK(strstr(call_again(mcp, &first, "{\"action\":\"accept\"}", &third), "cannot be used"));
    /* the same question, asked twice: both answers are good */
    CHECK(strstr(call_again(mcp, &first, YES, &third), "\"result\":0") && world.decisions == 1);
    CHECK(strstr(call_again(mcp, &first, YES, &third), "\"result\":0") && world.decisions == 1);
}

/* Asks, and gives an answer that is longer as JSON than it is. */
static void do_task(void *user, PtcAppTask *task)
{
    (void)user;
    task->ok = task->ask(task, &world);
    for (int i = 0; i < 700 * 1000; i++)
        ptc_buf_add_char(&task->answer, '"');
}

static void describe(void *user, PtcBuf *out)
{
    (void)user;
    put(out, "nothing");
}

/* What could not be kept is not told in another way when it is asked for again. */
static void test_large_task(PtcMcp *mcp)
{
    static Asked first, second;
    world.decisions = 0;
    world.inquiry = 0;
    called = "\"name\":\"lisp_task\",\"arguments\":{\"task\":\"a\"}";
    CHECK(strstr(call_again(mcp, NULL, NULL, &first), "needs your approval"));
    (void)call_again(mcp, &first, YES, &second); /* more than a test hears */
    CHECK(world.decisions == 1);
    CHECK(strstr(call_again(mcp, &first, YES, &second), "with more than could be kept"));
}

int main(void)
{
    PtcRemote remote = {.inquiry = find_inquiry,
                        .reply = take_reply,
                        .question = list_calls,
                        .waiting = count_calls,
                        .decide = decide,
                        .effects = add_effects,
                        .end = end_run};
    PtcExecutor executor = {.submit = submit};
    PtcWhy why = {0};
    PtcStore *store = ptc_store_open(&(PtcStoreConfig){.url = NULL}, &why);
    PtcAppConfig config = {.executor = &executor, .store = store};
    PtcApp *app = ptc_app_new(&config, &why);
    CHECK(app);
    test_slim(ptc_app_mcp(app));
    test_warnings(ptc_app_mcp(app));
    ptc_app_free(app);
    config.remote = &remote;
    config.can_ask = true;
    config.tasks = (PtcAppTasks){.run = do_task, .about = describe, .changes = true};
    app = ptc_app_new(&config, &why);
    CHECK(app);
    test_other_question(ptc_app_mcp(app));
    test_large_task(ptc_app_mcp(app));
    ptc_app_free(app);
    ptc_store_free(store);
    return check_done("test_mcp_app");
}
