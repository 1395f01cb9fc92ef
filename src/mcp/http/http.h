/* SPDX-License-Identifier: MIT
 * http.h - MCP over Streamable HTTP: one endpoint for both eras, beside it /health, /healthz, /ready and /metrics. */
#ifndef PTC_MCP_HTTP_HTTP_H
#define PTC_MCP_HTTP_HTTP_H

#include "mcp/server/transport.h"

typedef struct PtcHttp PtcHttp;

/* Appends the text of the tokens as it is now, in the form of PtcHttpConfig.tokens; false with a text in why. */
typedef bool PtcHttpReload(void *user, PtcBuf *tokens, char why[PTC_MCP_WHY]);

/* Everything 0 or NULL takes the default in brackets.  Strings are copied or not needed after ptc_http_new, but for
 * `path`. */
typedef struct PtcHttpConfig {
    const char *
        listen; /* ADDRESS:PORT, required: `127.0.0.1:7332`, `[::1]:7332`, `localhost:0`, `0.0.0.0:80` */
    const char *path; /* of the endpoint [/mcp] */
    /* Bearer tokens: lines of `TOKEN` or `OWNER TOKEN`, # begins a comment.  Without any, only an address of this
     * machine may be listened on.  The caller wipes its copy. */
    const char *tokens;
    size_t tokens_len;
    const char *const *hosts; /* names served beside those of this machine, without port */
    size_t host_count;
    const char *const *origins; /* such as https://app.example.com */
    size_t origin_count;
    bool stateless;           /* legacy clients get no sessions */
    unsigned max_sessions;    /* of legacy clients [1024] */
    unsigned max_connections; /* [256] each has a thread */
    unsigned
        max_per_address; /* connections of one address: half, or all on an address of this machine */
    int64_t
        request_ms; /* a request must have arrived so long after the connection or the last answer [60 s] */
    int64_t send_ms;      /* an answer must have been read within [120 s] */
    int64_t drain_ms;     /* when asked to stop: calls under way may go on for so long [10 s] */
    size_t stack_bytes;   /* of each connection's thread, which runs handlers [1 MiB] */
    int log_fd;           /* request log; -1: none [2] */
    bool quiet;           /* no request log, only what the server itself says */
    bool json_log;        /* its lines are JSON objects */
    unsigned owner_share; /* percent of the sessions that one owner may have [100] */
    size_t
        max_body_bytes; /* of requests that have not arrived whole, together [64 MiB, at least two messages] */
    const char *isolation; /* how programs run, for /ready and /metrics; NULL: not told */
    PtcHttpReload *reload; /* on SIGUSR1; NULL: the tokens stay */
    void *reload_user;
    const struct PtcHttpKeep
        *keep; /* of sessions, see http_session.h; outlives the server; NULL: in memory only */
} PtcHttpConfig;

/* What a field that is 0 or NULL means; max_per_address is worked out. */
extern const PtcHttpConfig ptc_http_defaults;

/* Loads the HTTP library, binds and starts to listen; NULL with a text in `why`. */
PTC_MUST_USE PtcHttp *ptc_http_new(PtcMcp *mcp, const PtcHttpConfig *given, char why[PTC_MCP_WHY]);
/* The port it listens on, also when 0 was asked for. */
unsigned ptc_http_port(const PtcHttp *http);

/* Serves until ptc_http_stop; or, with `signals`, until SIGTERM, SIGINT or SIGHUP, which must be blocked in this and every
 * other thread (ptc_http_block_signals, before any is started).  Then no call is begun, those under way get
 * drain_ms to end and are cancelled after that (a second signal cancels at once), and all connections are closed.  Until
 * the calls have ended probes are answered.  SIGUSR1 has the tokens read again. */
void ptc_http_serve(PtcHttp *http, bool signals);
/* Blocks them in this thread and those it starts; also ignores SIGPIPE. */
void ptc_http_block_signals(void);
/* Any thread, any number of times, until ptc_http_free; may be called by a signal handler. */
void ptc_http_stop(PtcHttp *http);
/* After ptc_http_serve returned, or instead of it. */
void ptc_http_free(PtcHttp *http);

#endif
