/* SPDX-License-Identifier: MIT
 * http_endpoint.c - the MCP endpoint.  POST brings a message; GET opens the stream of a legacy session, DELETE ends
 * it.  The eras differ in what it means when a client vanishes: that cancels a modern call, while a legacy call
 * continues. */
#define _GNU_SOURCE /* POLLRDHUP */
#include "mcp/http/http_endpoint.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "base/budget.h"

/* The first version without sessions; dates compare as text. */
#define MODERN_VERSION "2026-07-28"

static bool says_modern(const PtcHttpExchange *ex)
{
    PtcText v = ex->head.field[PTC_HTTP_PROTOCOL_VERSION];
    size_t len = sizeof MODERN_VERSION - 1;
    return v.len == len && memcmp(v.bytes, MODERN_VERSION, len) >= 0;
}

/* ----------------------------------------------------------------- sessions */

/* Finds the session named by the request.  False: refused. */
static bool find_http_session(PtcHttpExchange *ex)
{
    PtcText id = ex->head.field[PTC_HTTP_SESSION_ID];
    if (!id.bytes || ex->shared->stateless || says_modern(ex))
        return true;
    ex->session = ptc_http_session_hold(&ex->shared->sessions, id, ex->owner, ex->begun_ns);
    if (ex->session)
        return true;
    ptc_http_refuse(ex, 404, PTC_HTTP_FAULT_SESSION, PTC_MCP_INVALID_REQUEST,
                    "this session is unknown or has ended: send initialize without MCP-Session-Id");
    return false;
}

static void refuse_without_session(PtcHttpExchange *ex)
{
    ptc_http_refuse(ex, 400, PTC_HTTP_FAULT_SESSION, PTC_MCP_INVALID_REQUEST,
                    "MCP-Session-Id is missing: send the one that initialize was answered with");
}

/* A successful initialize opens a session; in stateless mode what was agreed ends with the call. */
static void open_http_session(PtcHttpExchange *ex)
{
    if (ex->session || ex->shared->stateless)
        return;
    PtcMcpPeer *peer = ptc_mcp_take_peer(ex->call);
    if (!peer)
        return;
    ex->session = ptc_http_session_new(&ex->shared->sessions, peer, ex->owner, ptc_clock_ns(NULL));
    if (ex->session) {
        ex->out.session = ptc_http_session_id(ex->session);
        return;
    }
    ptc_mcp_peer_close(peer);
    ptc_mcp_call_free(ex->call);
    ptc_mcp_peer_free(peer);
    ex->call = NULL;
    ptc_http_refuse(ex, 503, PTC_HTTP_FAULT_BUSY, PTC_MCP_BUSY,
                    "no room for another session now: try again later");
    ex->out.retry_after = "60";
}

/* ------------------------------------------------------------------ streams */

/* Waits until a stream that has no answer of its own ends: the client goes, its session ends, or the server stops. */
static void keep_stream(PtcHttpExchange *ex)
{
    PtcHttpStream *stream = &ex->stream;
    struct pollfd p[2] = {{.fd = stream->fd}, {.fd = ex->shared->stop_fd, .events = POLLIN}};
    while (stream->fd >= 0 && ptc_http_stream_is_open(stream) &&
           !atomic_load(&ex->shared->stopping) &&
           !(ex->session && ptc_http_session_ended(ex->session))) {
        p[0].events = POLLRDHUP | (ptc_http_stream_is_behind(stream) ? POLLOUT : 0);
        if (poll(p, 2, 1000) < 0 && errno != EINTR)
            return;
        if (p[0].revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL))
            return;
        if (p[0].revents & POLLOUT)
            ptc_http_stream_tick(stream, stream->sent_ns);
    }
}

static bool accepts_events(const PtcHttpExchange *ex)
{
    return ptc_http_head_accepts(&ex->head, "text/event-stream");
}

static void refuse_accept(PtcHttpExchange *ex)
{
    ptc_http_refuse(ex, 406, PTC_HTTP_FAULT_REQUEST, PTC_MCP_INVALID_REQUEST,
                    "the answer is text/event-stream: Accept it");
}

static PtcMcpSink sink_of(PtcHttpExchange *ex)
{
    return (PtcMcpSink){ptc_http_stream_send, &ex->stream};
}

/* subscriptions/listen without a session. */
static void listen_on_stream(PtcHttpExchange *ex)
{
    atomic_fetch_add(&ex->shared->streams, 1);
    if (ptc_http_stream_begin(&ex->stream) && ptc_mcp_listen(ex->call)) {
        keep_stream(ex);
        ptc_mcp_listen_end(ex->call);
    }
    ptc_mcp_cancel(ex->call);
    ptc_http_stream_finish(&ex->stream, NULL, 0);
    atomic_fetch_sub(&ex->shared->streams, 1);
    ex->out = (PtcHttpOut){.status = 200, .streamed = true};
}

/* --------------------------------------------------------------------- POST */

/* Publishes which call other threads may cancel (NULL: none); returns whether the client is still there. */
static bool set_running(PtcHttpExchange *ex, PtcMcpCall *call)
{
    pthread_mutex_lock(&ex->lock);
    ex->running = call;
    bool there = !ex->vanished;
    pthread_mutex_unlock(&ex->lock);
    return there;
}

/* Runs the handler.  False: the client is gone and the call was cancelled. */
static bool run_http_call(PtcHttpExchange *ex)
{
    bool modern = ptc_mcp_era(ex->call) == PTC_MCP_MODERN;
    if (accepts_events(ex))
        ptc_http_stream_arm(&ex->stream, ex->begun_ns);
    if (!set_running(ex, ex->call) && modern)
        ptc_mcp_cancel(ex->call);
    ptc_mcp_run(ex->call);
    return set_running(ex, NULL) || !modern;
}

/* Errors of calls are answered with 200, because client libraries then show their text. */
static PtcHttpFault fault_of(const PtcMcpCall *call)
{
    int status = ptc_mcp_http_status(call), code = ptc_mcp_error_code(call);
    if (code == PTC_MCP_BUSY || status == 503)
        return PTC_HTTP_FAULT_BUSY;
    if (status < 400)
        return code ? PTC_HTTP_FAULT_CALL : PTC_HTTP_FAULT_NONE;
    if (status == 413)
        return PTC_HTTP_FAULT_SIZE;
    return status < 500 ? PTC_HTTP_FAULT_REQUEST : PTC_HTTP_FAULT_SERVER;
}

/* The call's answer as JSON, or as the last event of a stream, if one has begun or the client accepts nothing else. */
static void give_answer(PtcHttpExchange *ex)
{
    const PtcBuf *answer = ptc_mcp_answer(ex->call);
    int status = ptc_mcp_http_status(ex->call);
    PtcText accept = ex->head.field[PTC_HTTP_ACCEPT];
    bool only_events =
        accept.bytes && status == 200 && !ptc_http_head_accepts(&ex->head, "application/json");
    ex->fault = fault_of(ex->call);
    if (ptc_http_stream_disarm(&ex->stream) || (only_events && answer && !ex->out.session)) {
        ptc_http_stream_finish(&ex->stream, answer ? answer->data : NULL, answer ? answer->len : 0);
        ex->out = (PtcHttpOut){.status = 200, .streamed = true};
        return;
    }
    if (!answer && atomic_load(&ex->shared->stopping) && ptc_mcp_is_request(ex->call)) {
        ptc_http_refuse(ex, 503, PTC_HTTP_FAULT_BUSY, PTC_MCP_BUSY, "the server is stopping");
        return;
    }
    ex->out.status = answer || status != 200 ? status : 202; /* 202: cancelled by a message */
    if (answer) {
        ex->out.type = "application/json";
        ex->out.text = answer->data;
        ex->out.len = answer->len;
    }
}

/* The client is gone; an answer would go nowhere. */
static void give_nothing(PtcHttpExchange *ex)
{
    ex->fault = PTC_HTTP_FAULT_CANCELLED;
    ex->out = (PtcHttpOut){.status = 0};
}

/* Did a legacy message come without the session it needs? */
static bool lacks_session(const PtcHttpExchange *ex)
{
    if (ex->session || ex->shared->stateless || ptc_mcp_era(ex->call) == PTC_MCP_MODERN)
        return false;
    PtcText method = ptc_mcp_method(ex->call);
    PtcText text = {method.bytes, method.len};
    return !ptc_http_text_is(text, "initialize") && ptc_mcp_http_status(ex->call) < 400;
}

static PtcMcpCall *begin_http_call(PtcHttpExchange *ex)
{
    PtcHttpShared *shared = ex->shared;
    if (ex->too_long)
        return ptc_mcp_begin_too_long(shared->mcp);
    PtcMcpIn in = {.text = ex->body.data ? ex->body.data : "",
                   .len = ex->body.len,
                   .peer = ex->session ? ptc_http_session_peer(ex->session) : NULL,
                   .owner = ex->owner,
                   .header = ptc_http_head_find,
                   .header_user = &ex->head};
    if (accepts_events(ex))
        in.sink = sink_of(ex);
    return ptc_mcp_begin(shared->mcp, &in);
}

/* Without an Accept header anything is fine, as HTTP says. */
static bool judge_post(PtcHttpExchange *ex)
{
    PtcText accept = ex->head.field[PTC_HTTP_ACCEPT];
    if (!ptc_http_is_json(ex->head.field[PTC_HTTP_CONTENT_TYPE])) {
        ptc_http_refuse(ex, 415, PTC_HTTP_FAULT_REQUEST, PTC_MCP_INVALID_REQUEST,
                        "the body must be application/json");
        return false;
    }
    if (accept.bytes && !ptc_http_head_accepts(&ex->head, "application/json") &&
        !ptc_http_head_accepts(&ex->head, "text/event-stream")) {
        ptc_http_refuse(ex, 406, PTC_HTTP_FAULT_REQUEST, PTC_MCP_INVALID_REQUEST,
                        "answers are application/json or text/event-stream: Accept both");
        return false;
    }
    return true;
}

static void run_call(PtcHttpExchange *ex)
{
    switch (ptc_mcp_next(ex->call)) {
    case PTC_MCP_LISTEN:
        if (accepts_events(ex))
            listen_on_stream(ex);
        else
            refuse_accept(ex);
        return;
    case PTC_MCP_RUN:
        if (!run_http_call(ex)) {
            give_nothing(ex);
            return;
        }
        break;
    case PTC_MCP_DONE: break;
    }
    open_http_session(ex);
    if (ex->call)
        give_answer(ex);
}

static void post(PtcHttpExchange *ex)
{
    if (!judge_post(ex) || !find_http_session(ex))
        return;
    ex->call = begin_http_call(ex);
    if (!ex->call)
        ptc_http_refuse(ex, 503, PTC_HTTP_FAULT_BUSY, PTC_MCP_BUSY,
                        "the server is out of memory: try again later");
    else if (lacks_session(ex))
        refuse_without_session(ex);
    else
        run_call(ex);
}

/* -------------------------------------------------------------- GET, DELETE */

static void refuse_method(PtcHttpExchange *ex, const char *allow)
{
    ptc_http_refuse(ex, 405, PTC_HTTP_FAULT_REQUEST, PTC_MCP_INVALID_REQUEST,
                    "this method is not served here");
    ex->out.allow = allow;
}

static bool has_sessions(const PtcHttpExchange *ex)
{
    return !ex->shared->stateless && !says_modern(ex);
}

/* The session that GET and DELETE are about.  False: refused. */
static bool need_session(PtcHttpExchange *ex)
{
    if (!find_http_session(ex))
        return false;
    if (!ex->session)
        refuse_without_session(ex);
    return ex->session != NULL;
}

/* The stream for what belongs to no call; a session has one. */
static void keep_session_stream(PtcHttpExchange *ex)
{
    if (!need_session(ex))
        return;
    if (!accepts_events(ex)) {
        refuse_accept(ex);
        return;
    }
    if (!ptc_http_session_take_stream(ex->session)) {
        ptc_http_refuse(ex, 409, PTC_HTTP_FAULT_SESSION, PTC_MCP_INVALID_REQUEST,
                        "this session has an open stream already");
        return;
    }
    PtcMcpPeer *peer = ptc_http_session_peer(ex->session);
    atomic_fetch_add(&ex->shared->streams, 1);
    /* The sink comes first, so that a client that has read the head of the response misses nothing that happens from
     * then on. */
    ptc_mcp_peer_set_sink(peer, sink_of(ex));
    if (ptc_http_stream_begin(&ex->stream))
        keep_stream(ex);
    ptc_mcp_peer_set_sink(peer, (PtcMcpSink){NULL, NULL});
    ptc_http_stream_finish(&ex->stream, NULL, 0);
    atomic_fetch_sub(&ex->shared->streams, 1);
    ptc_http_session_give_stream(ex->session);
    ex->out = (PtcHttpOut){.status = 200, .streamed = true};
}

static void end_session(PtcHttpExchange *ex)
{
    if (!need_session(ex))
        return;
    ptc_http_session_end(&ex->shared->sessions, ex->session, true);
    ex->out.status = 204;
}

void ptc_http_endpoint(PtcHttpExchange *ex)
{
    if (strcmp(ex->verb, "POST") == 0)
        post(ex);
    else if (!has_sessions(ex))
        refuse_method(ex, "POST");
    else if (strcmp(ex->verb, "GET") == 0)
        keep_session_stream(ex);
    else if (strcmp(ex->verb, "DELETE") == 0)
        end_session(ex);
    else
        refuse_method(ex, "GET, POST, DELETE");
}
