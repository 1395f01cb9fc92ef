/* SPDX-License-Identifier: MIT
 * http.h - MCP over Streamable HTTP: one endpoint for both eras, and beside it /health, /healthz, /ready and
 * /metrics. */
#ifndef PTC_MCP_HTTP_HTTP_H
#define PTC_MCP_HTTP_HTTP_H

#include "base/why.h"
#include "mcp/server/transport.h"

typedef struct PtcHttp PtcHttp;

/* Appends the current text of the tokens, in the form of PtcHttpConfig.tokens; false with a text in why. */
typedef bool PtcHttpReload(void *user, PtcBuf *tokens, PtcWhy *why);

/* 0 or NULL takes the default in brackets.  Strings are copied or not needed after ptc_http_new, except `path`. */
typedef struct PtcHttpConfig {
    /* ADDRESS:PORT, required: `127.0.0.1:7332`, `[::1]:7332`, `localhost:0`, `0.0.0.0:80` */
    const char *listen;
    const char *path; /* of the endpoint [/mcp] */
    /* Bearer tokens: lines of `TOKEN` or `OWNER TOKEN`, # begins a comment.  Without any, only an address of this
     * machine can be listened on.  The caller wipes its copy. */
    const char *tokens;
    size_t tokens_len;
    const char *const *hosts; /* names served besides those of this machine, without port */
    size_t host_count;
    const char *const *origins; /* such as https://app.example.com */
    size_t origin_count;
    bool stateless;           /* legacy clients get no sessions */
    unsigned max_sessions;    /* of legacy clients [1024] */
    unsigned max_connections; /* [256] each has a thread */
    unsigned max_per_address; /* connections [half; all on an address of this machine] */
    int64_t request_ms; /* for a request to arrive after the connection or last answer [60 s] */
    int64_t send_ms;    /* how long a client may take to read an answer [120 s] */
    /* when asked to stop: how long calls are still taken, while /ready says no [2 s; below 0: no longer] ... */
    int64_t leave_ms;
    int64_t drain_ms;      /* ... and how long those under way may then continue [10 s] */
    size_t stack_bytes;    /* for each connection's thread, which runs handlers [1 MiB] */
    int log_fd;            /* request log; -1: none [2] */
    bool quiet;            /* no request log, only what the server itself says */
    bool json_log;         /* its lines are JSON objects */
    unsigned owner_share;  /* percentage of sessions and connections of one owner [100] */
    size_t max_body_bytes; /* of all unfinished requests [64 MiB, at least two messages] */
    const char *isolation; /* how programs run, for /ready and /metrics; NULL: not shown */
    /* Appends more lines to /metrics; any thread.  NULL: there are no more. */
    void (*metrics)(void *user, PtcBuf *out);
    void *metrics_user;
    /* Can calls be served?  If not, it says why, a line.  Must not wait; any thread.  NULL: always. */
    bool (*ready)(void *user, PtcBuf *out);
    void *ready_user;
    PtcHttpReload *reload; /* on SIGHUP and SIGUSR1; NULL: the tokens stay as they are */
    void *reload_user;
    void (*again)(void *user); /* likewise, for what else is read again; must not wait; or NULL */
    void *again_user;
    /* for sessions, see http_session.h; outlives the server; NULL: in memory only */
    const struct PtcHttpKeep *keep;
} PtcHttpConfig;

/* What 0 or NULL in a field means; max_per_address is computed. */
extern const PtcHttpConfig ptc_http_defaults;

/* Loads the HTTP library, binds and starts to listen; NULL with a text in `why`. */
PTC_MUST_USE PtcHttp *ptc_http_new(PtcMcp *mcp, const PtcHttpConfig *given, PtcWhy *why);
/* The port it listens on, even if 0 was asked for. */
unsigned ptc_http_port(const PtcHttp *http);

/* Serves until SIGTERM or SIGINT, which must be blocked in this and every other thread
 * (ptc_http_block_signals, before any is started).  How it ends then is in http_stop.c; SIGINT, or a second signal,
 * leaves out what is only for the sake of other nodes.  SIGHUP and SIGUSR1 make it read again; a SIGHUP because the
 * terminal is gone ends it. */
void ptc_http_serve(PtcHttp *http);
/* Blocks those signals in this thread and the threads it starts; also ignores SIGPIPE. */
void ptc_http_block_signals(void);
/* After ptc_http_serve has returned, or instead of it. */
void ptc_http_free(PtcHttp *http);

#endif
