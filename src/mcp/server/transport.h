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
 * HTTP headers are checked here too, because that needs the body; sessions, Origin, Host and tokens are the
 * transport's business.  Threads: one at a time for one call, except for ptc_mcp_cancel; anything else from any
 * thread. */
#ifndef PTC_MCP_SERVER_TRANSPORT_H
#define PTC_MCP_SERVER_TRANSPORT_H

#include "mcp/server/mcp.h"

/* Where messages go that are not the answer: progress, log, requests to the client, notifications.  send takes one
 * whole JSON message (no line end), is called by any thread and often under a lock of the library: it must not call
 * back and must not wait for long.  False: the client is gone.  send NULL: they are dropped. */
typedef struct PtcMcpSink {
    bool (*send)(void *user, const char *json, size_t len);
    void *user;
} PtcMcpSink;

/* A legacy client between `initialize` and the end of its connection or session: negotiated version, capabilities,
 * log level, subscriptions, requests under way by id.  stdio has one for the process, which also tells its modern
 * requests apart by id; over HTTP each legacy session has one, and modern requests have none. */
typedef struct PtcMcpPeer PtcMcpPeer;

/* stdio: call this before the first message.  sink: for what belongs to no call.  NULL: out of memory. */
PTC_MUST_USE PtcMcpPeer *ptc_mcp_peer_new(PtcMcp *mcp, PtcMcpSink sink);
/* Sets or (send NULL) removes the stream for what belongs to no call: the GET stream of an HTTP session.  When this
 * returns, the old sink is no longer in use. */
void ptc_mcp_peer_set_sink(PtcMcpPeer *peer, PtcMcpSink sink);
/* Cancels all calls of the peer and wakes handlers that wait for its answers; later calls are refused.  Call this
 * before waiting for the threads that run them. */
void ptc_mcp_peer_close(PtcMcpPeer *peer);
/* Only after all its calls were freed (except listening calls that the peer holds, see ptc_mcp_listen). */
void ptc_mcp_peer_free(PtcMcpPeer *peer);

/* What was agreed with the client, as bytes from which another process of the same program can make the same peer:
 * for sessions that outlive a server.  Requests under way are not included.  False: out of memory. */
PTC_MUST_USE bool ptc_mcp_peer_save(PtcMcpPeer *peer, PtcBuf *out);
/* NULL: out of memory, or bytes that ptc_mcp_peer_save did not write. */
PTC_MUST_USE PtcMcpPeer *ptc_mcp_peer_restore(PtcMcp *mcp, PtcText bytes);

typedef struct PtcMcpIn {
    const char *text; /* the message; may be freed once ptc_mcp_begin has returned */
    size_t len;
    /* for this call; must stay valid until the call is freed.  Over HTTP the first message sent here makes the answer a
     * stream */
    PtcMcpSink sink;
    PtcMcpPeer *peer;  /* NULL: HTTP without a session */
    const char *owner; /* who calls, NUL-terminated, valid until the call is freed; NULL is "" */
    /* HTTP: the value of a header by its name (any case), NULL when absent; valid until ptc_mcp_begin has returned.
     * NULL: not HTTP. */
    const char *(*header)(void *user, const char *name);
    void *header_user;
} PtcMcpIn;

/* Only fails for lack of memory (NULL: answer HTTP 503, or on stdio drop the message).  Notifications, answers of
 * the client and whatever needs no handler are dealt with before it returns. */
PTC_MUST_USE PtcMcpCall *ptc_mcp_begin(PtcMcp *mcp, const PtcMcpIn *in);

/* For a message over ptc_mcp_max_frame bytes, which is never read whole: a call that has already been answered with
 * an error.  NULL: out of memory. */
PTC_MUST_USE PtcMcpCall *ptc_mcp_begin_too_long(PtcMcp *mcp);
size_t ptc_mcp_max_frame(const PtcMcp *mcp);

typedef enum { PTC_MCP_DONE, PTC_MCP_RUN, PTC_MCP_LISTEN } PtcMcpNext;
PtcMcpNext ptc_mcp_next(const PtcMcpCall *call);

/* Runs the handler, after waiting for its turn. */
void ptc_mcp_run(PtcMcpCall *call);

/* subscriptions/listen: sends the acknowledgement to the sink and from now on what was subscribed to.  Returns at
 * once.  With a peer the call now belongs to it, and the peer frees it when it is cancelled by a message or the peer
 * is freed: do not touch it again.  Without one the transport keeps it, sends keep-alives, and frees it when the
 * client is gone or the server ends; calling ptc_mcp_listen_end before that tells the client of a graceful end.
 * False: the client is gone, or out of memory; the call is then still the transport's. */
PTC_MUST_USE bool ptc_mcp_listen(PtcMcpCall *call);
void ptc_mcp_listen_end(PtcMcpCall *call);

/* Cancels a call: any thread, any number of times, until it is freed.  A modern HTTP client that disconnects cancels
 * its call, a legacy one does not. */
void ptc_mcp_cancel(PtcMcpCall *call);

/* The answer as one JSON text, NULL when there is none to send: for a notification, a response, a cancelled call. */
const PtcBuf *ptc_mcp_answer(const PtcMcpCall *call);
/* For HTTP: 200, 202 (nothing to answer), 400, 404, 413, 503 ...  Only valid once the call is done; a stream that
 * has begun stays 200. */
int ptc_mcp_http_status(const PtcMcpCall *call);
/* The JSON-RPC error code of the answer, 0 if it is not an error: for metrics. */
int ptc_mcp_error_code(const PtcMcpCall *call);

/* How a tool call ended: "" if it succeeded, else the reason as a word of lower-case letters; NULL if it was not a
 * tool call. */
const char *ptc_mcp_tool_failure(const PtcMcpCall *call);

/* What the call was, for sessions and logs.  method is "" if the message had none, and otherwise whatever the client
 * sent. */
PtcText ptc_mcp_method(const PtcMcpCall *call);
/* Is it a method of the protocol, whether offered here or not? */
bool ptc_mcp_is_method(PtcText name);
bool ptc_mcp_is_request(const PtcMcpCall *call); /* has an id and a method */

/* HTTP: a successful `initialize` without a peer made one; the transport takes it (NULL: there is none) and frees it
 * with its session.  If not taken, it ends with the call. */
PTC_MUST_USE PtcMcpPeer *ptc_mcp_take_peer(PtcMcpCall *call);

void ptc_mcp_call_free(PtcMcpCall *call);

/* How many tasks run here whose end others can be told of when this server has ended. */
unsigned ptc_mcp_tasks_to_await(PtcMcp *mcp);

/* How many handlers run and how many calls wait now: for /metrics and /ready. */
void ptc_mcp_load(PtcMcp *mcp, unsigned *running, unsigned *waiting);
/* How many threads in ptc_mcp_run are enough; any more would only wait for their turn. */
unsigned ptc_mcp_max_threads(const PtcMcp *mcp);
/* A transport may keep calls for which it has no thread yet and run them later in the order they came.  Such a call
 * counts as waiting, and at most ptc_mcp_max_waiting may; false: too many do. */
PTC_MUST_USE bool ptc_mcp_queue(PtcMcpCall *call);
unsigned ptc_mcp_max_waiting(const PtcMcp *mcp);
/* Has it waited too long, or was it cancelled meanwhile?  Then it is done, and answered if there is anyone to
 * answer. */
PTC_MUST_USE bool ptc_mcp_expire(PtcMcpCall *call, int64_t now_ns);
/* Answers "busy" to a call that is not run because too many wait. */
void ptc_mcp_turn_away(PtcMcpCall *call);
/* From now on no calls are started, and those that wait are turned away.  Calls fn(user) of ptc_mcp_on_stop, which
 * stdio uses; there is one at a time, and NULL takes it back. */
void ptc_mcp_stop(PtcMcp *mcp);
void ptc_mcp_on_stop(PtcMcp *mcp, void (*fn)(void *user), void *user);

#endif
