/* SPDX-License-Identifier: MIT
 * transport.h - what a transport calls: one message in, its answer out.
 *
 *     PtcMcpCall *call = ptc_mcp_begin(mcp, &in);      parse, route, check; may answer already
 *     switch (ptc_mcp_next(call)) {
 *     case PTC_MCP_DONE:   break;                      answered, or nothing to answer
 *     case PTC_MCP_RUN:    ptc_mcp_run(call); break;   a handler: blocks until it is done (or busy or cancelled)
 *     case PTC_MCP_LISTEN: ptc_mcp_listen(call); ...   a stream of notifications, until cancelled or closed
 *     }
 *     send ptc_mcp_answer(call), if there is one
 *     ptc_mcp_call_free(call);
 *
 * The headers of HTTP are judged here too, since that needs the body; sessions, Origin, Host and tokens are
 * the transport's.  Thread rules: one thread at a time for one call, but for ptc_mcp_cancel; anything else from any
 * thread. */
#ifndef PTC_MCP_SERVER_TRANSPORT_H
#define PTC_MCP_SERVER_TRANSPORT_H

#include "mcp/server/mcp.h"

/* Where messages go that are not the answer: progress, log, requests to the client, notifications.  send takes one
 * whole JSON message (no line end), is called by any thread and often under a lock of the library: it must not call
 * back, and must not wait for long.  False: the client is gone.  send NULL: nowhere (they are dropped). */
typedef struct PtcMcpSink {
    bool (*send)(void *user, const char *json, size_t len);
    void *user;
} PtcMcpSink;

/* A legacy client between `initialize` and the end of its connection or session: negotiated version, capabilities, log
 * level, subscriptions, requests under way by id.  stdio has one for the process, which also tells its modern requests
 * apart by id; over HTTP each legacy session has one, and modern requests have none. */
typedef struct PtcMcpPeer PtcMcpPeer;

/* stdio: before the first message.  sink: for what belongs to no call.  NULL: no memory. */
PTC_MUST_USE PtcMcpPeer *ptc_mcp_peer_new(PtcMcp *mcp, PtcMcpSink sink);
/* Sets or (send NULL) takes away the stream for what belongs to no call: the GET stream of an HTTP session.  When this
 * returns, the old sink is no longer used. */
void ptc_mcp_peer_set_sink(PtcMcpPeer *peer, PtcMcpSink sink);
/* Has it a sink now? */
bool ptc_mcp_peer_has_sink(PtcMcpPeer *peer);
/* Cancels all calls of the peer, wakes handlers that wait for its answers; later calls are refused.  To be called before
 * waiting for the threads that run them. */
void ptc_mcp_peer_close(PtcMcpPeer *peer);
/* After all its calls were freed (but for listening calls that the peer holds, see ptc_mcp_listen). */
void ptc_mcp_peer_free(PtcMcpPeer *peer);

/* What was agreed on with the client, as bytes from which another process of the same program makes the same peer: for
 * sessions that outlive a server.  Requests under way are not in them.  False: memory is short. */
PTC_MUST_USE bool ptc_mcp_peer_save(PtcMcpPeer *peer, PtcBuf *out);
/* NULL: no memory, or bytes that are not such. */
PTC_MUST_USE PtcMcpPeer *ptc_mcp_peer_restore(PtcMcp *mcp, PtcText bytes);

typedef struct PtcMcpIn {
    const char *text; /* the message; may be freed when ptc_mcp_begin returned */
    size_t len;
    PtcMcpSink
        sink; /* for this call; must stay good until the call is freed.  Over HTTP the first message that is
                          sent here makes the answer a stream */
    PtcMcpPeer *peer;  /* NULL: HTTP without a session */
    const char *owner; /* who calls, NUL-ended, good until the call is freed; NULL is "" */
    /* HTTP: the value of a header by its name (any case), NULL when absent; good until ptc_mcp_begin returned.
     * NULL: not HTTP. */
    const char *(*header)(void *user, const char *name);
    void *header_user;
} PtcMcpIn;

/* Never fails but for memory (NULL: answer HTTP 503, or on stdio drop the message).  Notifications, answers of the
 * client and whatever needs no handler are dealt with before it returns. */
PTC_MUST_USE PtcMcpCall *ptc_mcp_begin(PtcMcp *mcp, const PtcMcpIn *in);

/* For a message over ptc_mcp_max_frame bytes, which is never read whole: a call that is answered with an error already.
 * NULL: no memory. */
PTC_MUST_USE PtcMcpCall *ptc_mcp_begin_too_long(PtcMcp *mcp);
size_t ptc_mcp_max_frame(const PtcMcp *mcp);

typedef enum { PTC_MCP_DONE, PTC_MCP_RUN, PTC_MCP_LISTEN } PtcMcpNext;
PtcMcpNext ptc_mcp_next(const PtcMcpCall *call);

/* Runs the handler, after waiting for its turn. */
void ptc_mcp_run(PtcMcpCall *call);

/* subscriptions/listen: sends the acknowledgement to the sink and from now on what was subscribed to.  Returns at once.
 * With a peer the call now belongs to it, which frees it when it is cancelled by a message or the peer is freed: do not
 * touch it again.  Without one the transport keeps it, sends keep-alives, and frees it when the client is gone or the
 * server ends; ptc_mcp_listen_end before that tells the client of a graceful end.  False: the client is gone or memory
 * is short; the call is still the transport's in both cases. */
PTC_MUST_USE bool ptc_mcp_listen(PtcMcpCall *call);
void ptc_mcp_listen_end(PtcMcpCall *call);

/* Cancels a call: any thread, any number of times, until it is freed.  A modern HTTP client that disconnects cancels
 * its call, a legacy one does not. */
void ptc_mcp_cancel(PtcMcpCall *call);

/* The answer as one JSON text, NULL when there is none to send: a notification, a response, a cancelled call. */
const PtcBuf *ptc_mcp_answer(const PtcMcpCall *call);
/* For HTTP: 200, 202 (nothing to answer), 400, 404, 413, 503 ...  Only good once the call is done; a stream that has
 * begun stays 200. */
int ptc_mcp_http_status(const PtcMcpCall *call);
/* The JSON-RPC error that the answer is, 0 when it is none: for metrics. */
int ptc_mcp_error_code(const PtcMcpCall *call);

/* How the call of a tool ended: "" well, else the reason as a word of lower-case letters; NULL when it was none. */
const char *ptc_mcp_tool_failure(const PtcMcpCall *call);

/* What the call was, for sessions and logs.  method is "" when the message had none, and is whatever the client sent. */
PtcText ptc_mcp_method(const PtcMcpCall *call);
/* Is it one of the protocol, whether offered here or not? */
bool ptc_mcp_is_method(PtcText name);
bool ptc_mcp_is_request(const PtcMcpCall *call); /* has an id and a method */
/* The id as JSON text (`7`, `"a"`), "null" when there is none. */
PtcText ptc_mcp_id(const PtcMcpCall *call);

/* HTTP: a successful `initialize` without a peer made one; the transport takes it (NULL: there is none) and frees it
 * with its session.  Not taken, it ends with the call. */
PTC_MUST_USE PtcMcpPeer *ptc_mcp_take_peer(PtcMcpCall *call);

void ptc_mcp_call_free(PtcMcpCall *call);

/* How many handlers run and how many calls wait now: for /metrics and /ready. */
void ptc_mcp_load(PtcMcp *mcp, unsigned *running, unsigned *waiting);
/* How many threads in ptc_mcp_run are enough: with more, those beyond would only wait for their turn. */
unsigned ptc_mcp_max_threads(const PtcMcp *mcp);
/* A transport may keep calls for which it has no thread yet, and run them later in the order they came.  Such a call
 * counts among those that wait, of which there are ptc_mcp_max_waiting at most; false: too many do. */
PTC_MUST_USE bool ptc_mcp_queue(PtcMcpCall *call);
unsigned ptc_mcp_max_waiting(const PtcMcp *mcp);
/* Has it waited too long, or was it cancelled meanwhile?  Then it is done, and answered where there is somebody to
 * answer. */
PTC_MUST_USE bool ptc_mcp_expire(PtcMcpCall *call, int64_t now_ns);
/* Answers a call that is not run, because too many wait: busy. */
void ptc_mcp_turn_away(PtcMcpCall *call);
/* No calls are started any more and those that wait are turned away.  Calls fn(user) of ptc_mcp_on_stop, which stdio
 * uses; one at a time, NULL takes it back. */
void ptc_mcp_stop(PtcMcp *mcp);
void ptc_mcp_on_stop(PtcMcp *mcp, void (*fn)(void *user), void *user);

#endif
