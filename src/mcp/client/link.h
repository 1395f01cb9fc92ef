/* SPDX-License-Identifier: MIT
 * link.h - the MCP client library: one connection to one MCP server, over stdio or HTTP, in either era.
 *
 * All callbacks come on the loop's thread, one at a time, and must not block, except `headers`, which comes on the
 * thread that sends.  Nothing here knows of programs, policy or catalogues.  Every request gets exactly one done(),
 * whatever happens.  The host ignores SIGPIPE. */
#ifndef PTC_MCP_CLIENT_LINK_H
#define PTC_MCP_CLIENT_LINK_H

#include "base/buf.h"
#include "net/client.h"
#include "net/loop.h"

typedef enum {
    PTC_LINK_STDIO,
    PTC_LINK_HTTP,        /* Streamable HTTP */
    PTC_LINK_SSE,         /* HTTP+SSE, of 2024 */
    PTC_LINK_HTTP_OR_SSE, /* the first; the second where the first is refused */
} PtcLinkTransport;

typedef enum { PTC_LINK_ERA_UNKNOWN, PTC_LINK_LEGACY, PTC_LINK_MODERN } PtcLinkEra;

typedef enum {
    PTC_LINK_IDLE,       /* not started */
    PTC_LINK_CONNECTING, /* starting, probing, initialising */
    PTC_LINK_READY,
    PTC_LINK_DOWN, /* could not be reached, or died; why says it.  connect() tries again */
} PtcLinkState;

typedef enum {
    PTC_LINK_ANSWER,     /* text: the result as JSON */
    PTC_LINK_ERROR,      /* text: the error object as JSON; the server said so */
    PTC_LINK_BROKEN,     /* text: why; no answer (died, reset, refused) */
    PTC_LINK_BAD_ANSWER, /* text: why; something came that breaks the protocol */
    PTC_LINK_HTTP_FAULT, /* status is not 2xx; text: why */
    PTC_LINK_AUTH,       /* 401 or 403; text: WWW-Authenticate */
    PTC_LINK_TIMEOUT,
    PTC_LINK_CANCELLED,
    PTC_LINK_TOO_LARGE,
    PTC_LINK_NO_MEMORY,
} PtcLinkEnd;

typedef struct PtcLinkReply {
    PtcLinkEnd end;
    PtcBuf text;       /* done() may take it over (and must then zero it); else it is freed after */
    bool delivered;    /* bytes of the request may have reached the server */
    bool session_lost; /* HTTP: the session was gone and could not be renewed */
    bool own;   /* AUTH: the text says what went wrong here; else it is what the server sent */
    int status; /* of HTTP; 0: none */
    int64_t retry_after_ms; /* -1: not said */
    size_t bytes;           /* received for this answer */
} PtcLinkReply;

typedef struct PtcLink PtcLink;
struct PtcLinkOut;
struct PtcLinkJob;

/* A request under way; part of the caller's struct, who keeps it until done. */
typedef struct PtcLinkAsk {
    struct PtcLinkAsk *next;
    uint64_t id;
    /* Then it is cancelled and ends as TIMEOUT; progress may extend it up to most_ns. */
    int64_t end_ns;
    int64_t most_ns;                                           /* 0: progress extends nothing */
    void (*done)(struct PtcLinkAsk *ask, PtcLinkReply *reply); /* once, loop thread */
    void (*progress)(struct PtcLinkAsk *ask, double done, double total,
                     PtcText message); /* or NULL */
    void *user;
    /* of the library; no need to set them */
    int64_t given_ns;       /* by how much progress extends */
    struct PtcLinkOut *out; /* stdio: not wholly written yet */
    struct PtcLinkJob *job; /* HTTP: the exchange */
    PtcLinkEnd wanted;      /* how it is to end, once the loop gets to it */
    const char *why;        /* a constant text */
    bool delivered, resent, ending;
    bool opens;               /* an initialize, which is not cancelled */
    bool tasks;               /* the server may answer with a task */
    bool polled;              /* it has: the ask has a number that the server never saw */
    struct PtcLinkTask *task; /* that it is about (link_task.h); NULL: none */
} PtcLinkAsk;

/* What several links share: bytes of messages that are longer than the usual buffer.  A link that gets none waits, and
 * does not read meanwhile. */
typedef struct PtcLinkRoom {
    atomic_size_t used;
    size_t limit;
} PtcLinkRoom;

/* What a link is made from.  Texts are copied; functions are called from the loop's thread or from threads of the
 * wire, as each says, until the link is freed. */
typedef struct PtcLinkConfig {
    PtcText name; /* for logs */
    PtcLinkTransport transport;
    const char *const *argv, *const *env; /* STDIO: whole environment, NULL at the end */
    const char *cwd;                      /* NULL: ours */
    const char *leash;                    /* the program to start as leash; NULL: the running one */
    const char *url;                      /* HTTP */
    /* Adds header lines "Name: value", each with a line feed, for a request to the configured origin (credentials);
     * loop or wire thread; false: they cannot be made; why is filled in unless memory ran out. */
    bool (*headers)(void *user, PtcBuf *lines, PtcWhy *why);
    /* The server answered 401 or 403 to a request with these lines.  True: there are other credentials now, so it is
     * sent again, once; wire thread.  False: why is filled in if it went wrong here.  Or NULL. */
    bool (*refused)(void *user, int status, const char *challenge, PtcText lines, PtcWhy *why);
    PtcClient *http; /* NULL for STDIO */
    bool insecure_http;
    PtcLinkEra era;  /* from an earlier connection; probed again when wrong */
    PtcText version; /* the one of that connection */
    int64_t handshake_ms, connect_ms,
        silence_ms;       /* 0: 60 s, 10 s, as long as the request may take */
    size_t max_message;   /* bytes of one message; 0: 16 MiB */
    PtcLinkRoom *room;    /* or NULL */
    PtcText capabilities; /* JSON object that is offered to the server; absent: {} */
    void (*state)(void *user, PtcLinkState state, PtcText why);
    void (*notice)(void *user, PtcText method,
                   PtcText params); /* list_changed, messages; progress is taken care of */
    /* A request of the server (ping is answered here).  True: `result` has the answer.  False: refused. */
    bool (*request)(void *user, PtcText method, PtcText params, PtcBuf *result);
    /* Before that, or NULL: one that takes a while.  True: ptc_link_answer comes for this id (JSON).  False, *why set:
     * it is refused, *why being a constant text; not set: `request` decides. */
    bool (*question)(void *user, PtcText id, PtcText method, PtcText params, const char **why);
    void (*log)(
        void *user,
        PtcText line); /* a line of standard error, or what went wrong; begins with [name] */
    void *user;
} PtcLinkConfig;

/* The config is copied, with its texts.  NULL: out of memory. */
PTC_MUST_USE PtcLink *ptc_link_new(PtcMem *mem, PtcLoop *loop, const PtcLinkConfig *config);
/* Any thread.  Starts connecting, unless it is connected or about to be.  False: no thread could be started, and
 * state() will not come. */
PTC_MUST_USE bool ptc_link_connect(PtcLink *link);
/* Loop.  Ends the connection as if it had broken: asks end as BROKEN, then state() tells it.  Not from a callback of
 * the link. */
void ptc_link_disconnect(PtcLink *link, PtcText why);
/* Any thread.  The request `method` with `params` (a JSON object without the envelope that the era adds).  Written at
 * once by the calling thread when that does not block.  `headers`: lines for HTTP (Mcp-Param-*), or absent.  False: out
 * of memory, or the link is being freed; done() will not come.  Before READY it ends as BROKEN, not delivered.  A call
 * of a tool that the server answers with a task ends with what becomes of the task (link_task.h). */
PTC_MUST_USE bool ptc_link_ask(PtcLink *link, PtcLinkAsk *ask, const char *method, PtcText params,
                               PtcText headers);
void ptc_link_cancel(PtcLink *link,
                     PtcLinkAsk *ask); /* any thread; done(CANCELLED) comes unless it has come */

/* Any thread.  Answers a question of the server with a JSON object, or (absent) with an error.  False: it could not be
 * sent. */
bool ptc_link_answer(PtcLink *link, PtcText id, PtcText result);
/* Any thread.  A notification without parameters.  False: it could not be sent. */
bool ptc_link_tell(PtcLink *link, const char *method);
/* Any thread.  An ask that is still under way ends at another time, which progress may extend as far as that. */
void ptc_link_extend(PtcLink *link, PtcLinkAsk *ask, int64_t end_ns, int64_t most_ns);
/* Before ptc_link_connect: what is offered from then on, a constant text. */
void ptc_link_offer(PtcLink *link, PtcText capabilities);

/* ---- link_list.c */

/* All pages of tools/list (or another list) as one JSON array text; limits and odd cursors as the contract says. */
typedef struct PtcLinkList {
    PtcLinkAsk ask; /* end_ns is for all pages together */
    void (*listed)(struct PtcLinkList *list, PtcLinkReply *reply); /* ANSWER: text is the array */
    void *user;
    const char *note; /* set when not all was taken: what ended it; else NULL */
    /* The first page's members beside the list (ttlMs ...): a JSON object, or empty.  listed() frees it, whatever the
     * end. */
    PtcBuf first;
    /* of the library */
    PtcLink *link;
    const char *method, *member;
    PtcBuf all, cursors;
    size_t pages, items;
} PtcLinkList;
PTC_MUST_USE bool ptc_link_list(PtcLink *link, PtcLinkList *list, const char *method,
                                const char *member);

/* ---- link.c */

/* What was negotiated, once READY; texts live until the next connect. */
PtcLinkEra ptc_link_era(PtcLink *link);
PtcText ptc_link_about(PtcLink *link); /* {"serverInfo","instructions","capabilities","version"} */
/* Once DOWN: the WWW-Authenticate that the last connect failed with (one without text becomes "Bearer"); empty: there
 * were no credentials to send; absent: it was something else. */
PtcText ptc_link_auth(PtcLink *link);

/* Ends the connection politely without waiting for the process; every ask gets done() first.  Any thread but the
 * loop's. */
void ptc_link_free(PtcLink *link);

#endif
