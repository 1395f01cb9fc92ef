/* SPDX-License-Identifier: MIT
 * http_exchange.h - one HTTP request and its answer, without sockets: what lies between the HTTP library and the MCP
 * library.
 *
 *     ptc_http_exchange_open     the head is known: may this client speak?
 *     ptc_http_exchange_body     pieces of the body
 *     ptc_http_exchange_answer   blocks until there is an answer; its parts are in `out`
 *     ptc_http_exchange_close    after the answer was sent: frees what it was made of, counts, logs
 *
 * All four run on the thread of the connection; ptc_http_exchange_vanish and _cancel on any. */
#ifndef PTC_MCP_HTTP_HTTP_EXCHANGE_H
#define PTC_MCP_HTTP_HTTP_EXCHANGE_H

#include "mcp/http/http_guard.h"
#include "mcp/http/http_log.h"
#include "mcp/http/http_metrics.h"
#include "mcp/http/http_session.h"
#include "mcp/http/http_stream.h"

/* What all connections share. */
typedef struct PtcHttpShared {
    PtcMcp *mcp;
    PtcMem *mem;
    const char *path; /* of the MCP endpoint */
    bool stateless;   /* legacy clients get no sessions */
    PtcHttpGuard guard;
    PtcHttpMetrics metrics;
    PtcHttpSessions sessions;
    PtcHttpLog log;
    atomic_bool leaving;       /* /ready says so, and answers are the last on their connections */
    atomic_bool stopping;      /* after that: no new work; streams end */
    int stop_fd;               /* readable once stopping; -1: none */
    atomic_size_t connections; /* for the metrics page */
    atomic_size_t streams;
    atomic_size_t body_bytes; /* of requests that have not fully arrived */
    size_t max_body_bytes;
    void (*more_metrics)(void *user, PtcBuf *out); /* for the page; or NULL */
    void *metrics_user;
    bool (*ready)(void *user, PtcBuf *out);
    void *ready_user;
    const char *isolation; /* how programs run, for probes; NULL: not shown */
} PtcHttpShared;

/* The answer to send, unless `streamed` says that it was sent already. */
typedef struct PtcHttpOut {
    int status;       /* 0: close the connection without an answer */
    const char *type; /* Content-Type; NULL: no body */
    const char *text; /* valid until ptc_http_exchange_close */
    size_t len;
    const char *allow;        /* 405: the methods that are allowed */
    const char *session;      /* MCP-Session-Id to give, NULL: none */
    const char *authenticate; /* 401: WWW-Authenticate */
    const char *retry_after;  /* 429, 503: seconds */
    bool preflight;           /* the answer to a browser that asks whether a page may call */
    bool streamed;
    bool close; /* answered before the body was read, and the last answer on its connection */
} PtcHttpOut;

/* One request and its answer, on one connection.  It belongs to the thread of the connection; what other threads
 * may look at stands at its end, behind a lock. */
typedef struct PtcHttpExchange {
    PtcHttpShared *shared;
    PtcHttpPeer peer;
    const char *address; /* the peer for the log */
    PtcHttpStream stream;
    /* the request */
    const char *verb, *path;
    PtcHttpHead head;
    char owner[PTC_HTTP_OWNER_MAX];
    atomic_bool welcome; /* its sender has shown a valid token, or a head if none is needed */
    PtcBuf body;
    size_t received; /* bytes of the body, including those that were not kept */
    size_t counted;  /* how many of them are in shared->body_bytes */
    bool refused;    /* `out` is filled: the body is read but not kept */
    bool too_long;
    /* the answer */
    PtcHttpOut out;
    PtcHttpFault fault;
    PtcBuf page; /* texts of `out` that are not a call's answer */
    PtcMcpCall *call;
    PtcHttpSession *session;
    int64_t begun_ns, answered_ns;
    /* The lock guards what other threads may look at, which follows.  The connection's thread takes it around a
     * handler; the server takes it, under the lock of all connections, to cancel, and then the locks of the call
     * inside. */
    pthread_mutex_t lock;
    PtcMcpCall *running; /* the call whose handler is running */
    bool vanished;       /* the client is gone */
} PtcHttpExchange;

/* One exchange serves all requests of a connection, one after the other.  fd -1: no socket (tests). */
void ptc_http_exchange_init(PtcHttpExchange *ex, PtcHttpShared *shared, PtcHttpPeer peer,
                            const char *address, int fd);
void ptc_http_exchange_deinit(PtcHttpExchange *ex);

/* verb and path must stay valid until the close; ex->head must have been filled by ptc_http_head_add. */
void ptc_http_exchange_open(PtcHttpExchange *ex, const char *verb, const char *path);
void ptc_http_exchange_body(PtcHttpExchange *ex, const char *bytes, size_t len);
/* Should the connection be closed instead of reading on?  After a refusal a body is read and discarded, so that the
 * client sees the answer, but not without limit. */
bool ptc_http_exchange_enough(const PtcHttpExchange *ex);
void ptc_http_exchange_answer(PtcHttpExchange *ex);
void ptc_http_exchange_close(PtcHttpExchange *ex);

/* The client closed its side of the connection, which cancels a modern call. */
void ptc_http_exchange_vanish(PtcHttpExchange *ex);
/* Cancels the call under way, if there is one. */
void ptc_http_exchange_cancel(PtcHttpExchange *ex);

/* False with everything undone: out of memory.  guard.tokens and names may be added afterwards. */
PTC_MUST_USE bool ptc_http_shared_init(PtcHttpShared *shared, PtcMcp *mcp, bool loopback,
                                       size_t max_sessions, int log_fd);
void ptc_http_shared_deinit(PtcHttpShared *shared);

#endif
