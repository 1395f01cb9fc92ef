/* SPDX-License-Identifier: MIT
 * http_exchange.c - the life of one request: who may speak, the body, the answer, the end.  The answers of the MCP
 * endpoint are in http_endpoint.c.  What always holds: a request is refused before its body is kept, and logs and
 * metrics show nothing a client made up. */
#include "mcp/http/http_exchange.h"

#include <string.h>

#include "mcp/http/http_endpoint.h"

enum {
    KEPT_BODY = 64 * PTC_KB,     /* a buffer up to this size is kept for the next request */
    FORGOTTEN_MAX = 64 * PTC_MB, /* how much of a refused body is read */
    HTTP_PAGE_MAX = 32 * PTC_KB,
    METRICS_MAX = 4 * PTC_MB, /* with those of many upstreams */
};

bool ptc_http_shared_init(PtcHttpShared *shared, PtcMcp *mcp, bool loopback, size_t max_sessions,
                          int log_fd)
{
    memset(shared, 0, sizeof *shared);
    shared->mcp = mcp;
    shared->mem = ptc_mcp_mem(mcp);
    shared->path = "/mcp";
    shared->max_body_bytes = PTC_UNBOUNDED;
    shared->stop_fd = -1;
    if (!ptc_http_guard_init(&shared->guard, shared->mem, loopback))
        return false;
    if (!ptc_http_sessions_init(&shared->sessions, mcp, max_sessions)) {
        ptc_http_guard_deinit(&shared->guard);
        return false;
    }
    ptc_http_metrics_init(&shared->metrics);
    ptc_http_log_init(&shared->log, shared->mem, log_fd);
    return true;
}

void ptc_http_shared_deinit(PtcHttpShared *shared)
{
    ptc_http_sessions_deinit(&shared->sessions);
    ptc_http_guard_deinit(&shared->guard);
    ptc_http_log_deinit(&shared->log);
    ptc_http_metrics_deinit(&shared->metrics);
}

void ptc_http_exchange_init(PtcHttpExchange *ex, PtcHttpShared *shared, PtcHttpPeer peer,
                            const char *address, int fd)
{
    memset(ex, 0, sizeof *ex);
    ex->shared = shared;
    ex->peer = peer;
    ex->address = address;
    ptc_http_stream_init(&ex->stream, shared->mem, fd);
    ptc_buf_init(&ex->body, shared->mem, ptc_mcp_max_frame(shared->mcp));
    ptc_buf_init(&ex->page, shared->mem, HTTP_PAGE_MAX);
    pthread_mutex_init(&ex->lock, NULL);
}

void ptc_http_exchange_deinit(PtcHttpExchange *ex)
{
    ptc_http_stream_deinit(&ex->stream);
    ptc_buf_deinit(&ex->body);
    ptc_buf_deinit(&ex->page);
    pthread_mutex_destroy(&ex->lock);
}

void ptc_http_exchange_vanish(PtcHttpExchange *ex)
{
    pthread_mutex_lock(&ex->lock);
    ex->vanished = true;
    if (ex->running && ptc_mcp_era(ex->running) == PTC_MCP_MODERN)
        ptc_mcp_cancel(ex->running);
    pthread_mutex_unlock(&ex->lock);
}

void ptc_http_exchange_cancel(PtcHttpExchange *ex)
{
    pthread_mutex_lock(&ex->lock);
    if (ex->running)
        ptc_mcp_cancel(ex->running);
    pthread_mutex_unlock(&ex->lock);
}

/* ----------------------------------------------------------------- refusals */

void ptc_http_refuse(PtcHttpExchange *ex, int status, PtcHttpFault fault, int code,
                     const char *message)
{
    ptc_buf_clear(&ex->page);
    ptc_rpc_add_error(&ex->page, (PtcText){NULL, 0}, code, ptc_text_cstr(message),
                      (PtcText){NULL, 0});
    ex->refused = true;
    ex->fault = fault;
    ex->out = (PtcHttpOut){.status = status, .type = "application/json"};
    ex->out.text = ex->page.data;
    ex->out.len = ptc_buf_ok(&ex->page) ? ex->page.len : 0;
}

static void answer_exchange_text(PtcHttpExchange *ex, int status, const char *type,
                                 const char *text)
{
    ex->out = (PtcHttpOut){.status = status, .type = type, .text = text, .len = strlen(text)};
}

static bool judge_place(PtcHttpExchange *ex)
{
    switch (ptc_http_guard_place(&ex->shared->guard, &ex->head)) {
    case PTC_HTTP_BAD_HOST:
        ptc_http_refuse(ex, 403, PTC_HTTP_FAULT_HOST, PTC_MCP_INVALID_REQUEST,
                        "this Host name is not served here; add it with --allow-host");
        return false;
    case PTC_HTTP_BAD_ORIGIN:
        ptc_http_refuse(ex, 403, PTC_HTTP_FAULT_ORIGIN, PTC_MCP_INVALID_REQUEST,
                        "this Origin may not call; add it with --allow-origin");
        return false;
    default: return true;
    }
}

static bool judge_token(PtcHttpExchange *ex)
{
    PtcHttpGuard *guard = &ex->shared->guard;
    switch (ptc_http_guard_token(guard, &ex->head, ex->peer, ex->begun_ns, ex->owner)) {
    case PTC_HTTP_NO_TOKEN:
        ptc_http_refuse(ex, 401, PTC_HTTP_FAULT_TOKEN, PTC_MCP_INVALID_REQUEST,
                        "a token is needed: send `Authorization: Bearer <token>`");
        ex->out.authenticate = "Bearer realm=\"ptc\"";
        return false;
    case PTC_HTTP_WRONG_TOKEN:
        ptc_http_refuse(ex, 401, PTC_HTTP_FAULT_TOKEN, PTC_MCP_INVALID_REQUEST,
                        "this token is not known here");
        ex->out.authenticate = "Bearer realm=\"ptc\", error=\"invalid_token\"";
        return false;
    case PTC_HTTP_TOO_MANY_BAD:
        ptc_http_refuse(ex, 429, PTC_HTTP_FAULT_GUESSING, PTC_MCP_INVALID_REQUEST,
                        "too many wrong tokens: wait a minute, and send the right one");
        ex->out.retry_after = "60";
        return false;
    default: atomic_store(&ex->welcome, true); return true;
    }
}

/* Where two servers in a row could disagree about where a request ends, the second must not guess: it refuses and
 * closes the connection, because nobody knows what the next bytes are. */
static bool judge_form(PtcHttpExchange *ex)
{
    bool one_length = ptc_http_head_has_one_length(&ex->head);
    if (!ex->head.odd && one_length)
        return true;
    ptc_http_refuse(
        ex, 400, PTC_HTTP_FAULT_REQUEST, PTC_MCP_INVALID_REQUEST,
        one_length ? "the head of the request is not plain HTTP/1.1: lines that end with CR LF, "
                     "names without blanks, no control characters"
                   : "give Content-Length, or Transfer-Encoding: chunked, and not both");
    ex->out.close = true;
    return false;
}

static bool judge_head(PtcHttpExchange *ex)
{
    if (ex->head.twice.bytes || ex->head.broken || ex->head.crowded) {
        ptc_http_refuse(ex, 400, PTC_HTTP_FAULT_REQUEST, PTC_MCP_HEADER_MISMATCH,
                        ex->head.twice.bytes ? "a header that may come only once came twice"
                        : ex->head.broken    ? "a header holds characters other than visible ASCII"
                                             : "more than 32 Mcp-Param headers");
        ex->out.close = ex->head.twice.bytes != NULL; /* it may have been the length of the body */
        return false;
    }
    return true;
}

/* Load balancers use whatever host name they know; these pages reveal nothing. */
static bool is_probe(const PtcHttpExchange *ex)
{
    static const char *const probes[] = {"/health", "/healthz", "/ready"};
    for (size_t i = 0; i < sizeof probes / sizeof *probes; i++)
        if (strcmp(ex->path, probes[i]) == 0)
            return true;
    return false;
}

/* A browser asks, without a token, before it lets a page call: yes for pages that were allowed by name. */
static bool answer_preflight(PtcHttpExchange *ex)
{
    PtcText origin = ex->head.field[PTC_HTTP_ORIGIN];
    if (strcmp(ex->verb, "OPTIONS") != 0 || !ex->head.field[PTC_HTTP_REQUEST_METHOD].bytes ||
        !ptc_http_guard_lists_origin(&ex->shared->guard, origin))
        return false;
    ex->refused = true;
    ex->out = (PtcHttpOut){.status = 204, .preflight = true};
    return true;
}

/* While the server stops nothing new is begun, but whoever monitors it may still ask. */
static bool judge_time(PtcHttpExchange *ex)
{
    if (!atomic_load(&ex->shared->stopping) || strcmp(ex->path, ex->shared->path) != 0)
        return true;
    ptc_http_refuse(ex, 503, PTC_HTTP_FAULT_BUSY, PTC_MCP_BUSY, "the server is stopping");
    ex->out.retry_after = "5";
    return false;
}

static void restart(PtcHttpExchange *ex)
{
    ex->out = (PtcHttpOut){0};
    ex->fault = PTC_HTTP_FAULT_NONE;
    ex->refused = ex->too_long = false;
    ex->received = 0;
    ex->owner[0] = '\0';
    ex->begun_ns = ex->answered_ns = ptc_clock_ns(NULL);
    ptc_buf_clear(&ex->body);
}

/* The form comes first, then probes, which need no token, then who may speak. */
void ptc_http_exchange_open(PtcHttpExchange *ex, const char *verb, const char *path)
{
    restart(ex);
    ex->verb = verb;
    ex->path = path;
    atomic_fetch_add_explicit(&ex->shared->metrics.under_way, 1, memory_order_relaxed);
    PtcText origin = ex->head.field[PTC_HTTP_ORIGIN];
    bool listed = ptc_http_guard_lists_origin(&ex->shared->guard, origin);
    ex->stream.origin = listed ? origin : (PtcText){NULL, 0};
    if (!judge_form(ex) || is_probe(ex) || !judge_head(ex) || !judge_place(ex) ||
        answer_preflight(ex) || !judge_token(ex))
        return;
    (void)judge_time(ex);
}

/* --------------------------------------------------------------------- body */

static void uncount_body_bytes(PtcHttpExchange *ex)
{
    atomic_fetch_sub(&ex->shared->body_bytes, ex->counted);
    ex->counted = 0;
}

/* Bodies that never end must not use up all memory, however many connections they come on. */
static bool count_body(PtcHttpExchange *ex, size_t len)
{
    size_t all = atomic_fetch_add(&ex->shared->body_bytes, len) + len;
    ex->counted += len;
    if (all <= ex->shared->max_body_bytes)
        return true;
    uncount_body_bytes(ex);
    ptc_buf_deinit(&ex->body);
    ptc_http_refuse(ex, 503, PTC_HTTP_FAULT_BUSY, PTC_MCP_BUSY,
                    "too many large requests are on their way: try again a little later");
    ex->out.retry_after = "5";
    return false;
}

/* A refused body is read but not kept, so that the client gets to read the answer. */
void ptc_http_exchange_body(PtcHttpExchange *ex, const char *bytes, size_t len)
{
    ex->received += len;
    if (ex->refused || ex->too_long || !count_body(ex, len) || ptc_buf_add(&ex->body, bytes, len))
        return;
    uncount_body_bytes(ex);
    ex->too_long = ex->body.full;
    if (!ex->too_long)
        ptc_http_refuse(ex, 503, PTC_HTTP_FAULT_BUSY, PTC_MCP_BUSY,
                        "the server is out of memory: try again later");
    ptc_buf_deinit(&ex->body);
}

bool ptc_http_exchange_enough(const PtcHttpExchange *ex)
{
    return ex->received > FORGOTTEN_MAX;
}

/* ------------------------------------------------------------------- answer */

/* Also says how programs run, so that an operator sees a server that runs without isolation. */
static void answer_ready(PtcHttpExchange *ex)
{
    PtcHttpShared *shared = ex->shared;
    bool ready = false;
    ptc_buf_clear(&ex->page);
    if (atomic_load(&shared->leaving))
        ptc_buf_add_cstr(&ex->page, "stopping\n");
    else if (!shared->ready || (ready = shared->ready(shared->ready_user, &ex->page)))
        ready = ptc_buf_add_cstr(&ex->page, "ready\n");
    if (shared->isolation)
        ptc_buf_addf(&ex->page, "isolation %s\n", shared->isolation);
    ex->fault = ready ? PTC_HTTP_FAULT_NONE : PTC_HTTP_FAULT_BUSY;
    ex->out = (PtcHttpOut){.status = ready ? 200 : 503, .type = "text/plain"};
    ex->out.text = ex->page.data;
    ex->out.len = ptc_buf_ok(&ex->page) ? ex->page.len : 0;
}

static void answer_metrics(PtcHttpExchange *ex)
{
    PtcHttpShared *shared = ex->shared;
    PtcHttpGauges g = {
        .sessions = ptc_http_sessions_count(&shared->sessions),
        .connections = atomic_load(&shared->connections),
        .streams = atomic_load(&shared->streams),
        .memory = atomic_load(&shared->mem->used),
        .body_bytes = atomic_load(&shared->body_bytes),
        .isolation = shared->isolation,
    };
    ptc_mcp_load(shared->mcp, &g.running, &g.waiting);
    ptc_buf_clear(&ex->page);
    ex->page.max = METRICS_MAX;
    bool whole = ptc_http_metrics_write(&ex->page, &shared->metrics, &g);
    if (whole && shared->more_metrics)
        shared->more_metrics(shared->metrics_user, &ex->page);
    if (!whole || !ptc_buf_ok(&ex->page)) {
        ptc_http_refuse(ex, 503, PTC_HTTP_FAULT_BUSY, PTC_MCP_BUSY,
                        "the server is out of memory: try again later");
        return;
    }
    ex->out = (PtcHttpOut){.status = 200, .type = "text/plain; version=0.0.4; charset=utf-8"};
    ex->out.text = ex->page.data;
    ex->out.len = ex->page.len;
}

/* The pages beside the endpoint. */
static const struct {
    const char *path;
    void (*answer)(PtcHttpExchange *ex);
} PAGES[] = {
    {"/ready", answer_ready},
    {"/metrics", answer_metrics},
};

static void answer_page(PtcHttpExchange *ex)
{
    bool get = strcmp(ex->verb, "GET") == 0 || strcmp(ex->verb, "HEAD") == 0;
    for (size_t i = 0; i < sizeof PAGES / sizeof *PAGES; i++)
        if (get && strcmp(ex->path, PAGES[i].path) == 0) {
            PAGES[i].answer(ex);
            return;
        }
    if (get && is_probe(ex)) {
        answer_exchange_text(ex, 200, "text/plain", "ok\n");
        return;
    }
    answer_exchange_text(ex, 404, "text/plain",
                         "nothing here: the endpoint is the path given at start\n");
    ex->fault = PTC_HTTP_FAULT_REQUEST;
}

void ptc_http_exchange_answer(PtcHttpExchange *ex)
{
    ex->begun_ns = ptc_clock_ns(NULL);
    uncount_body_bytes(ex);
    if (!ex->refused) {
        if (strcmp(ex->path, ex->shared->path) == 0)
            ptc_http_endpoint(ex);
        else
            answer_page(ex);
    }
    ex->answered_ns = ptc_clock_ns(NULL);
}

/* ---------------------------------------------------------------------- end */

/* Logs only show our own words: what a client sent may be a token in the wrong place. */
static const char *known_path(const PtcHttpExchange *ex)
{
    bool known = is_probe(ex) || strcmp(ex->path, ex->shared->path) == 0;
    for (size_t i = 0; i < sizeof PAGES / sizeof *PAGES && !known; i++)
        known = strcmp(ex->path, PAGES[i].path) == 0;
    return known ? ex->path : "?";
}

static const char *known_verb(const char *verb)
{
    static const char *const verbs[] = {"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"};
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (strcmp(verb, verbs[i]) == 0)
            return verbs[i];
    return "?";
}

static PtcText known_method(const PtcHttpExchange *ex)
{
    PtcText method = ex->call ? ptc_mcp_method(ex->call) : (PtcText){NULL, 0};
    return method.len == 0 || ptc_mcp_is_method(method) ? method : (PtcText){"?", 1};
}

/* The time is that of the answer being ready: how fast the client reads says nothing about the server. */
static void count_and_log(PtcHttpExchange *ex)
{
    PtcHttpShared *shared = ex->shared;
    int64_t took = ex->answered_ns - ex->begun_ns;
    size_t out = ex->out.streamed ? ex->stream.sent : ex->out.len;
    PtcText method = known_method(ex);
    const char *failure = ex->call ? ptc_mcp_tool_failure(ex->call) : NULL;
    const char *tool = failure ? ptc_mcp_tool(ex->call)->name : NULL;
    if (tool)
        ptc_http_metrics_tool(&shared->metrics, tool, failure, took);
    atomic_fetch_sub_explicit(&shared->metrics.under_way, 1, memory_order_relaxed);
    ptc_http_metrics_fault(&shared->metrics, ex->fault);
    ptc_http_metrics_done(&shared->metrics, ex->out.status, took, ex->received, out);
    ptc_http_log_add(&shared->log, &(PtcHttpLogLine){.address = ex->address,
                                                     .owner = ex->owner,
                                                     .verb = known_verb(ex->verb),
                                                     .path = known_path(ex),
                                                     .method = {method.bytes, method.len},
                                                     .tool = tool,
                                                     .failure = failure,
                                                     .status = ex->out.status,
                                                     .took_ns = took,
                                                     .in = ex->received,
                                                     .out = out});
}

/* Requests that change what was agreed in a session. */
static bool changes_session(const PtcHttpExchange *ex)
{
    static const char *const methods[] = {"logging/setLevel", "resources/subscribe",
                                          "resources/unsubscribe"};
    PtcText method = ex->call ? ptc_mcp_method(ex->call) : (PtcText){NULL, 0};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (ptc_http_text_is(method, methods[i]))
            return true;
    return false;
}

/* The session is saved before the call is freed, which knows whether it changed anything. */
void ptc_http_exchange_close(PtcHttpExchange *ex)
{
    count_and_log(ex);
    if (ex->session)
        ptc_http_session_keep(&ex->shared->sessions, ex->session, changes_session(ex),
                              ex->answered_ns);
    if (ex->call)
        ptc_mcp_call_free(ex->call);
    if (ex->session)
        ptc_http_session_drop(&ex->shared->sessions, ex->session, ex->answered_ns);
    uncount_body_bytes(ex); /* in case it was cut off */
    ex->call = NULL;
    ex->session = NULL;
    memset(&ex->head, 0, sizeof ex->head);
    if (ex->body.cap > KEPT_BODY)
        ptc_buf_deinit(&ex->body);
}
