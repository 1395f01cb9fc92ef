/* SPDX-License-Identifier: MIT
 * http_job_int.h - one exchange of a link over HTTP, from its request to the end of its answer, on a thread of the
 * link.
 *
 *   loop, callers            wire_http.c and others (wire_http_int.h): make jobs, hold them back, decide what their
 *                            ends mean
 *   threads of the link      http_job.c: send, read JSON or events, follow a redirect, take a stream up again
 *
 * A job hands over each message as it comes (ptc_http_arrive) and then its end, both to the loop.  Fields under
 * "locked" are under link->lock; the rest belongs to the thread from the start of the job to its end, then to the
 * loop. */
#ifndef PTC_MCP_CLIENT_HTTP_JOB_INT_H
#define PTC_MCP_CLIENT_HTTP_JOB_INT_H

#include "mcp/client/link_int.h"
#include "net/sse.h"

enum {
    HTTP_THREADS = 64,
    HTTP_SESSION = PTC_CLIENT_SESSION,
    HTTP_ARRIVED = 4 << 20, /* bytes that wait for the loop before threads stop reading */
};

typedef enum { JOB_POST, JOB_LISTEN, JOB_DELETE } JobKind;

/* A message or the end of a job, on its way to the loop. */
typedef struct Arrival {
    struct Arrival *next;
    struct PtcLinkJob *job;
    uint64_t generation;
    bool end, endpoint; /* endpoint: the text is where to post */
    PtcBuf text;
} Arrival;

/* One exchange of a link over HTTP: what is sent, and the state of reading its answer.  The link's lock guards
 * where it is; while it is under way everything else belongs to the thread that does it. */
typedef struct PtcLinkJob {
    struct PtcLinkJob *next, **at; /* locked: in the queue, held back, or under way */
    PtcLink *link;
    JobKind kind;
    uint64_t generation;
    uint64_t id;      /* of the request; 0: none */
    bool opens;       /* an initialize: its answer names the session */
    bool gates;       /* what is sent after it waits for its end */
    bool forever;     /* a stream that is not meant to end */
    bool resumable;   /* legacy: a stream that ended early may be taken up again */
    bool unasked;     /* a notification or an answer; PtcLink.unasked counts it */
    bool endless_sse; /* the stream of HTTP+SSE, whose first event names where to post */
    PtcBuf body, headers;
    char url[PTC_URL_BYTES + 1];
    char session[HTTP_SESSION]; /* the one it is sent with */
    char version[VERSION_BYTES];
    PtcCancel cancel;
    /* locked */
    PtcLinkAsk *ask; /* NULL: nobody waits */
    bool began, answered, is_held;
    /* the exchange */
    PtcSse sse;
    PtcBuf text; /* an answer in one piece */
    PtcClientAnswer answer;
    PtcWhy why; /* headers with credentials could not be made */
    size_t bytes;
    bool redirected, too_large, no_memory, is_stream, heard;
    Arrival last; /* its end */
} PtcLinkJob;

/* ---- http_job.c */

PtcLinkJob *ptc_http_job_new(PtcLink *link, JobKind kind);
void ptc_http_job_free(PtcLinkJob *job);
/* Performs it and hands over its end; on a thread of the link. */
void ptc_http_job_run(PtcLinkJob *job);

/* ---- wire_http.c */

/* Copies a message for the loop.  Waits while too much is under way to the loop.  False: out of memory, or the job is
 * not wanted any more. */
bool ptc_http_arrive(PtcLinkJob *job, PtcText text, bool endpoint);
/* The job has ended; it is the loop's from now on. */
void ptc_http_end(PtcLinkJob *job);
/* What is sent from now on has the job's session. */
void ptc_http_set_session(PtcLinkJob *job);

#endif
