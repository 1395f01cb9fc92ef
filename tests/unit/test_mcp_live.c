/* SPDX-License-Identifier: MIT
 * MCP: what happens while a call is under way: cancelling, ids in use, subscriptions, questions, the queue. */
#include <sched.h>

#include "base/text/base64.h"
#include "mcp/server/gate.h"
#include "mcp_help.h"

#define M MODERN("{}", "")
#define LISTEN(id, filter) REQUEST(id, "subscriptions/listen", M ",\"notifications\":{" filter "}")
#define TAG(id) "\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":" id "}"
#define NOTE(method, params) \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/" method "\",\"params\":{" params "}}"
#define CANCEL(id) \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":" id "}}"

/* ------------------------------------------------------------------------------ threads */

/* A handler that waits to be let go or cancelled. */
static atomic_int started, cancelled_seen, let_go, on_cancel_runs;

static void noted(void *user)
{
    atomic_fetch_add((atomic_int *)user, 1);
}

static void row_wait(PtcMcpCall *call)
{
    ptc_mcp_on_cancel(call, noted, &on_cancel_runs);
    atomic_fetch_add(&started, 1);
    while (!atomic_load(&let_go) && !ptc_mcp_cancelled(call))
        sched_yield();
    if (ptc_mcp_cancelled(call))
        atomic_fetch_add(&cancelled_seen, 1);
    ptc_mcp_progress(call, 1, 1, NULL);
    ptc_mcp_text(call, "waited", 6);
}

static const PtcMcpTool wait_tools[] = {
    {.name = "wait", .handler = row_wait},
    {.name = "echo", .handler = row_echo},
    {.name = "ask", .handler = row_ask},
};

static PtcMcp *wait_server(unsigned running, unsigned waiting)
{
    PtcMcpConfig c = help_config();
    c.tools = wait_tools;
    c.tool_count = 3;
    c.max_running = running;
    c.max_waiting = waiting;
    atomic_store(&started, 0);
    atomic_store(&let_go, 0);
    atomic_store(&cancelled_seen, 0);
    atomic_store(&on_cancel_runs, 0);
    return help_server(c);
}

typedef struct {
    PtcMcpCall *call;
    pthread_t thread;
    Heard heard;
} Running;

static void *run_call(void *user)
{
    Running *r = user;
    ptc_mcp_run(r->call);
    return NULL;
}

static Running *begin(PtcMcp *mcp, PtcMcpPeer *peer, const char *message)
{
    Running *r = calloc(1, sizeof *r);
    pthread_mutex_init(&r->heard.lock, NULL);
    r->call = ptc_mcp_begin(
        mcp, &(PtcMcpIn){
                 .text = message, .len = strlen(message), .sink = {hear, &r->heard}, .peer = peer});
    pthread_create(&r->thread, NULL, run_call, r);
    return r;
}

/* The answer after the thread is done, "" when there is none. */
static const char *end(Running *r)
{
    static char text[4096];
    pthread_join(r->thread, NULL);
    const PtcBuf *answer = ptc_mcp_answer(r->call);
    text[0] = 0;
    if (answer)
        sprintf(text, "%.*s", (int)answer->len, answer->data);
    ptc_mcp_call_free(r->call);
    pthread_mutex_destroy(&r->heard.lock);
    free(r);
    return text;
}

static void await(atomic_int *n, int value)
{
    while (atomic_load(n) < value)
        sched_yield();
}

/* A cancelled call says nothing any more.  Its id may be used again. */
static void test_cancel(void)
{
    PtcMcp *mcp = wait_server(4, 4);
    PtcMcpPeer *peer = ptc_mcp_peer_new(mcp, (PtcMcpSink){NULL, NULL});
    const char *wait =
        REQUEST("\"a\"", "tools/call", "\"name\":\"wait\",\"_meta\":{\"progressToken\":1}");
    Running *r = begin(mcp, peer, wait);
    await(&started, 1);
    CHECK_STR(
        tell(mcp, peer, REQUEST("\"a\"", "tools/call", "\"name\":\"echo\"")),
        ERROR("\"a\"", "-32600", "the id \\\"a\\\" belongs to a request that is still under way"));
    CHECK(strstr(tell(mcp, peer, REQUEST("1", "tools/call", "\"name\":\"echo\"")), "isError"));
    tell(mcp, peer, CANCEL("\"b\""));
    tell(mcp, NULL, CANCEL("\"a\""));
    CHECK(atomic_load(&on_cancel_runs) == 0);
    tell(mcp, peer, CANCEL("\"a\""));
    tell(mcp, peer, CANCEL("\"a\""));
    pthread_join(r->thread, NULL);
    CHECK(!ptc_mcp_answer(r->call) && r->heard.len == 0);
    CHECK(atomic_load(&on_cancel_runs) == 1 && atomic_load(&cancelled_seen) == 1);
    ptc_mcp_cancel(r->call);
    pthread_create(&r->thread, NULL, run_call, r); /* running again does nothing */
    CHECK_STR(end(r), "");
    atomic_store(&let_go, 1);
    r = begin(mcp, peer, wait);
    CHECK(strstr(end(r), "waited"));
    /* Closing the peer cancels all. */
    atomic_store(&let_go, 0);
    r = begin(mcp, peer, wait);
    await(&started, 3);
    ptc_mcp_peer_close(peer);
    CHECK_STR(end(r), "");
    CHECK(strstr(tell(mcp, peer, wait), "the connection is closing"));
    ptc_mcp_peer_free(peer);
    ptc_mcp_free(mcp);
}

/* At most so many run, so many wait, the next is busy; who waits can be cancelled. */
static void test_queue(void)
{
    PtcMcp *mcp = wait_server(1, 2);
    unsigned running, waiting;
    const char *wait = REQUEST("1", "tools/call", "\"name\":\"wait\"");
    Running *r[4];
    r[0] = begin(mcp, NULL, wait);
    await(&started, 1);
    r[1] = begin(mcp, NULL, wait);
    r[2] = begin(mcp, NULL, wait);
    do
        ptc_mcp_load(mcp, &running, &waiting);
    while (waiting < 2);
    CHECK(running == 1 && ptc_mcp_max_waiting(mcp) == 2);
    CHECK_STR(
        tell(mcp, NULL, wait),
        ERROR("1", "-32000", "busy: 1 call is running and 2 waiting; try again a little later"));
    ptc_mcp_cancel(r[1]->call);
    CHECK_STR(end(r[1]), "");
    CHECK(atomic_load(&started) == 1);
    atomic_store(&let_go, 1);
    CHECK(strstr(end(r[0]), "waited"));
    CHECK(strstr(end(r[2]), "waited"));
    ptc_mcp_load(mcp, &running, &waiting);
    CHECK(running == 0 && waiting == 0);
    ptc_mcp_stop(mcp);
    CHECK_STR(tell(mcp, NULL, wait), ERROR("1", "-32000", "the server is shutting down"));
    ptc_mcp_free(mcp);
}

/* ------------------------------------------------------------------------- subscriptions */

static const char *heard_since(void)
{
    static char copy[4096];
    if (help_heard.len)
        help_heard.text[help_heard.len - 1] = 0;
    strcpy(copy, help_heard.len ? help_heard.text : "");
    help_heard.len = 0;
    return copy;
}

static void test_listen(PtcMcp *mcp)
{
    PtcMcpPeer *peer = ptc_mcp_peer_new(mcp, (PtcMcpSink){hear, &help_heard});
    CHECK_STR(tell(mcp, peer,
                   LISTEN("5", "\"toolsListChanged\":true,\"promptsListChanged\":false,"
                               "\"unknown\":true")),
              NOTE("subscriptions/acknowledged",
                   TAG("5") ",\"notifications\":{\"toolsListChanged\":true}"));
    CHECK_STR(tell(mcp, peer,
                   LISTEN("\"x\"", "\"promptsListChanged\":true,\"resourceSubscriptions\":"
                                   "[\"r://one\",\"r://one\",\"r://2\"]")),
              NOTE("subscriptions/acknowledged",
                   TAG("\"x\"") ",\"notifications\":{\"promptsListChanged\":true,"
                                "\"resourceSubscriptions\":"
                                "[\"r://one\",\"r://2\"]}"));
    CHECK(strstr(tell(mcp, peer, LISTEN("5", "")), "still under way"));
    heard_since();
    ptc_mcp_list_changed(mcp, PTC_MCP_TOOLS);
    CHECK_STR(heard_since(), NOTE("tools/list_changed", TAG("5")));
    ptc_mcp_list_changed(mcp, PTC_MCP_RESOURCES);
    ptc_mcp_resource_updated(mcp, "r://two");
    CHECK_STR(heard_since(), "");
    ptc_mcp_resource_updated(mcp, "r://one");
    CHECK_STR(heard_since(), NOTE("resources/updated", TAG("\"x\"") ",\"uri\":\"r://one\""));
    tell(mcp, peer, CANCEL("5"));
    ptc_mcp_list_changed(mcp, PTC_MCP_TOOLS);
    CHECK_STR(heard_since(), "");
    /* Legacy clients hear without tags, once they have said hello. */
    tell(mcp, peer, REQUEST("1", "initialize", "\"protocolVersion\":\"2025-11-25\""));
    tell(mcp, peer, REQUEST("1", "resources/subscribe", "\"uri\":\"r://two\""));
    heard_since();
    ptc_mcp_list_changed(mcp, PTC_MCP_TOOLS);
    CHECK_STR(heard_since(),
              "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}");
    ptc_mcp_resource_updated(mcp, "r://two");
    CHECK_STR(heard_since(), NOTE("resources/updated", "\"uri\":\"r://two\""));
    /* A graceful end is an answer. */
    ptc_mcp_peer_free(peer);
    CHECK_STR(heard_since(), RESULT("\"x\"", "\"resultType\":\"complete\"," TAG("\"x\"")));
    static const char *const bad[] = {
        "\"notifications\":7",
        "\"notifications\":{\"toolsListChanged\":1}",
        "\"notifications\":{\"resourceSubscriptions\":\"r://one\"}",
        "\"notifications\":{\"resourceSubscriptions\":[7]}",
        "\"other\":7",
    };
    char in[600];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        sprintf(in, REQUEST("1", "subscriptions/listen", M ",%s"), bad[i]);
        CHECK(strstr(tell(mcp, NULL, in), "\"code\":-32602"));
    }
}

/* ----------------------------------------------------------------------------- questions */

#define CAN "{\"elicitation\":{},\"roots\":{}}"
#define ASK(id, rest) REQUEST(id, "tools/call", "\"name\":\"ask\"," MODERN(CAN, "") rest)

#define REPLIES ",\"inputResponses\":{\"who\":{\"a\":1,\"b\":2},\"roots\":{},\"extra\":{}}"
#define STALE "\\\"requestState\\\" is not what this server gave for this request, or is too old"

/* The state that a server hands out with its questions; "" when it asked none. */
static void asked_state(PtcMcp *mcp, char state[400])
{
    const char *p = strstr(tell(mcp, NULL, ASK("1", "")), "\"requestState\":\"");
    state[0] = '\0';
    if (p)
        sscanf(p + 16, "%399[^\"]", state);
}

static void test_modern_questions(PtcMcp *mcp)
{
    char state[400], in[1500];
    const char *out = tell(mcp, NULL, ASK("1", ""));
    CHECK(strstr(out,
                 "\"resultType\":\"input_required\",\"inputRequests\":{\"who\":{\"method\":"
                 "\"elicitation/create\",\"params\":{\"message\":\"?\"}},\"roots\":{\"method\":"
                 "\"roots/list\",\"params\":{}}},"));
    asked_state(mcp, state);
    CHECK(state[0]);
    sprintf(in, ASK("2", REPLIES ",\"requestState\":\"%s\""), state);
    CHECK_STR(tell(mcp, NULL, in),
              RESULT("2", "\"resultType\":\"complete\",\"content\":[{\"type\":\"text\",\"text\":"
                          "\"state S, 2 fields\"}]," INFO));
    CHECK_STR(tell(mcp, NULL, ASK("2", REPLIES)),
              RESULT("2", "\"resultType\":\"complete\",\"content\":[{\"type\":\"text\",\"text\":"
                          "\"state , 2 fields\"}]," INFO));
    /* Only what is missing is asked again. */
    out = tell(mcp, NULL, ASK("3", ",\"inputResponses\":{\"who\":{}}"));
    CHECK(strstr(out, "\"inputRequests\":{\"roots\":") && !strstr(out, "elicitation/create"));
    /* Nothing is asked that the client cannot answer. */
    CHECK_STR(tell(mcp, NULL,
                   REQUEST("1", "tools/call", "\"name\":\"ask\"," MODERN("{\"roots\":{}}", ""))),
              ERROR_DATA("1", "-32021", "the client must declare the capability elicitation",
                         "{\"requiredCapabilities\":{\"elicitation\":{}}}"));
}

/* A client may bring a state to the next process, after the machine was started again, so its end is a time of the
 * calendar. */
static void test_state_time(PtcMcp *mcp)
{
    char state[400];
    PtcBuf bytes;
    bool found = false;
    int64_t until, now = ptc_clock_wall_ms();
    asked_state(mcp, state);
    ptc_buf_init(&bytes, ptc_mcp_mem(mcp), sizeof state);
    CHECK(ptc_base64_decode(&bytes, state, strlen(state), true));
    for (size_t at = 0; at + sizeof until <= bytes.len; at++) {
        memcpy(&until, bytes.data + at, sizeof until);
        found = found || (until >= now && until < now + 24 * 3600 * 1000);
    }
    CHECK(found);
    ptc_buf_deinit(&bytes);
}

/* The state comes back only as it was given, for the same call and owner. */
static void test_forged_state(PtcMcp *mcp)
{
    char state[400], in[1500];
    int status;
    asked_state(mcp, state);
    sprintf(in, ASK("2", REPLIES ",\"requestState\":\"%s-TAMPERED\""), state);
    CHECK_STR(tell(mcp, NULL, in), ERROR("2", "-32602", STALE));
    sprintf(in, ASK("2", REPLIES ",\"arguments\":{\"x\":1},\"requestState\":\"%s\""), state);
    CHECK_STR(tell(mcp, NULL, in), ERROR("2", "-32602", STALE));
    sprintf(in, ASK("2", REPLIES ",\"arguments\":{\"doc\":{\"a\":1}},\"requestState\":\"%s\""),
            state);
    CHECK_STR(tell(mcp, NULL, in), ERROR("2", "-32602", STALE));
    sprintf(
        in,
        REQUEST("2", "tools/call", "\"name\":\"echo\"," MODERN(CAN, "") ",\"requestState\":\"%s\""),
        state);
    CHECK_STR(tell(mcp, NULL, in), ERROR("2", "-32602", STALE));
    sprintf(in, ASK("2", REPLIES ",\"requestState\":\"%s\""), state);
    CHECK_STR(tell_in(mcp, (PtcMcpIn){.text = in, .len = strlen(in), .owner = "mallory"}, &status),
              ERROR("2", "-32602", STALE));
    for (size_t i = 0; state[i]; i++) { /* every single letter counts */
        char was = state[i];
        state[i] = was == 'A' ? 'B' : 'A';
        sprintf(in, ASK("2", REPLIES ",\"requestState\":\"%s\""), state);
        CHECK_STR(tell(mcp, NULL, in), ERROR("2", "-32602", STALE));
        state[i] = was;
    }
}

static void test_bad_state(PtcMcp *mcp)
{
    char in[1500];
    static const char *const bad[] = {"7", "null", "\"\"", "{}", "\"AAAA\""};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        sprintf(in, ASK("2", ",\"requestState\":%s"), bad[i]);
        CHECK_STR(tell(mcp, NULL, in), ERROR("2", "-32602", STALE));
    }
    static const char *const wrong[] = {"7", "null", "[]", "{\"who\":12345}", "{\"who\":null}"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        sprintf(in, ASK("2", ",\"inputResponses\":%s"), wrong[i]);
        CHECK_STR(tell(mcp, NULL, in),
                  ERROR("2", "-32602", "\\\"inputResponses\\\" must be an object of objects"));
    }
}

static void test_stale_state(void)
{
    char state[400], in[1500];
    PtcMcpConfig c = help_config();
    c.state_ttl_ms = -1;
    PtcMcp *mcp = help_server(c);
    asked_state(mcp, state);
    sprintf(in, ASK("2", REPLIES ",\"requestState\":\"%s\""), state);
    CHECK_STR(tell(mcp, NULL, in), ERROR("2", "-32602", STALE));
    ptc_mcp_free(mcp);
}

static void await_text(Running *r, const char *text)
{
    bool there = false;
    while (!there) {
        pthread_mutex_lock(&r->heard.lock);
        there = strstr(r->heard.text, text) != NULL;
        pthread_mutex_unlock(&r->heard.lock);
        sched_yield();
    }
}

/* Waits until the handler has asked question n, then answers it. */
static void reply(PtcMcp *mcp, PtcMcpPeer *peer, Running *r, int n, const char *result)
{
    char id[20], in[300];
    sprintf(id, "\"ptc-%d\"", n);
    await_text(r, id);
    sprintf(in, "{\"jsonrpc\":\"2.0\",\"id\":%s,%s}", id, result);
    CHECK_STR(tell(mcp, peer, in), "");
}

/* Legacy: requests on the stream of the call; others run meanwhile. */
static void test_legacy_questions(void)
{
    PtcMcp *mcp = wait_server(1, 4);
    PtcMcpPeer *peer = ptc_mcp_peer_new(mcp, (PtcMcpSink){NULL, NULL});
    const char *ask = REQUEST("1", "tools/call", "\"name\":\"ask\"");
    CHECK(strstr(tell(mcp, peer, ask), "\"code\":-32602"));
    tell(mcp, peer,
         REQUEST("0", "initialize", "\"protocolVersion\":\"2025-11-25\",\"capabilities\":" CAN));
    Running *r = begin(mcp, peer, ask);
    reply(mcp, peer, r, 1, "\"result\":{\"x\":1}");
    CHECK(
        strstr(tell(mcp, peer,
                    REQUEST("2", "tools/call", "\"name\":\"echo\",\"arguments\":{\"say\":\"hi\"}")),
               "hi"));
    reply(mcp, peer, r, 2, "\"result\":{}");
    CHECK_STR(end(r),
              RESULT("1", "\"content\":[{\"type\":\"text\",\"text\":\"state , 1 fields\"}]"));
    r = begin(mcp, peer, ask);
    reply(mcp, peer, r, 3, "\"error\":{\"code\":-1,\"message\":\"no thanks\"}");
    reply(mcp, peer, r, 4, "\"result\":{}");
    CHECK(strstr(end(r), "failed: no thanks"));
    r = begin(mcp, peer, ask);
    reply(mcp, peer, r, 5, "\"result\":7");
    reply(mcp, peer, r, 6, "\"result\":{}");
    CHECK(strstr(end(r), "failed: its result is not an object"));
    r = begin(mcp, peer, ask);
    await_text(r, "ptc-7");
    tell(mcp, peer, CANCEL("1"));
    CHECK_STR(end(r), "");
    r = begin(mcp, peer, ask);
    await_text(r, "ptc-9");
    ptc_mcp_peer_close(peer);
    CHECK_STR(end(r), "");
    ptc_mcp_peer_free(peer);
    ptc_mcp_free(mcp);
}

static void test_question_timeout(void)
{
    PtcMcpConfig c = help_config();
    c.ask_timeout_ms = 1;
    PtcMcp *mcp = help_server(c);
    PtcMcpPeer *peer = ptc_mcp_peer_new(mcp, (PtcMcpSink){NULL, NULL});
    tell(mcp, peer,
         REQUEST("0", "initialize", "\"protocolVersion\":\"2025-11-25\",\"capabilities\":" CAN));
    const char *out = tell(mcp, peer, REQUEST("1", "tools/call", "\"name\":\"ask\""));
    CHECK(
        strstr(out, "\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":\"ptc-1\""));
    CHECK(strstr(out, "failed: -"));
    ptc_mcp_peer_free(peer);
    ptc_mcp_free(mcp);
}

int main(void)
{
    PtcMcp *mcp = help_server(help_config());
    CHECK_RUN(test_cancel());
    CHECK_RUN(test_queue());
    CHECK_RUN(test_listen(mcp));
    CHECK_RUN(test_modern_questions(mcp));
    CHECK_RUN(test_state_time(mcp));
    CHECK_RUN(test_forged_state(mcp));
    CHECK_RUN(test_bad_state(mcp));
    CHECK_RUN(test_stale_state());
    CHECK_RUN(test_legacy_questions());
    CHECK_RUN(test_question_timeout());
    ptc_mcp_free(mcp);
    return check_done("mcp_live");
}
