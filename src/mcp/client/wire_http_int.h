/* SPDX-License-Identifier: MIT
 * wire_http_int.h - what the files of a link over HTTP share.
 *
 *   wire_http.c     what is sent and what arrives, from the link's side
 *   http_queue.c    jobs that wait, and the threads that do them
 *   http_job.c      one exchange, on such a thread
 *   http_renew.c    sessions that the server has ended
 *   http_outcome.c  what the end of an exchange means */
#ifndef PTC_MCP_CLIENT_WIRE_HTTP_INT_H
#define PTC_MCP_CLIENT_WIRE_HTTP_INT_H

#include "mcp/client/http_job_int.h"

enum { HTTP_ALL_THREADS = HTTP_THREADS + 2 }; /* and those that listen */

typedef struct PtcHttpJobs {
    PtcLinkJob *first, **last;
} PtcHttpJobs;

struct PtcHttpWire {
    PtcLink *link;
    /* locked */
    PtcHttpJobs queue, held, active;
    Arrival *arrived, **arrived_last;
    size_t arrived_bytes;
    pthread_cond_t work, drained;
    pthread_t threads[HTTP_ALL_THREADS];
    size_t thread_count, idle;
    bool quit;
    bool holding; /* what is sent waits: for a session, or for where to post to */
    uint64_t generation;
    char session[HTTP_SESSION];
    char endpoint[PTC_URL_BYTES + 1]; /* where to post */
    /* loop */
    bool sse; /* HTTP+SSE, not Streamable HTTP */
    bool renewing;
    PtcLinkAsk renew;
};

/* ---- http_queue.c: with link->lock held */
void ptc_http_queue_take(PtcHttpJobs *jobs, PtcLinkJob *job);
/* To be done as soon as a thread can.  False: no thread can do it. */
PTC_MUST_USE bool ptc_http_queue_add(PtcHttpWire *w, PtcLinkJob *job);
/* To be done when what is held back is let go. */
void ptc_http_queue_hold(PtcHttpWire *w, PtcLinkJob *job);
/* Where it is sent to, and with which session. */
void ptc_http_queue_address(PtcHttpWire *w, PtcLinkJob *job);
void ptc_http_queue_cancel(PtcHttpWire *w, PtcLinkJob *job);

/* ---- http_renew.c: on the loop's thread */
/* Lets go what was held back. */
void ptc_http_renew_release(PtcLink *l);
/* Did the exchange end because the server does not know the session any more? */
bool ptc_http_renew_is_lost(const PtcLinkJob *job);
/* Sends a request once more in a new session.  False: that was tried already. */
PTC_MUST_USE bool ptc_http_renew_send_again(PtcLink *l, PtcLinkJob *job, PtcLinkAsk *ask);

/* ---- http_outcome.c */
/* Fills the reply to whoever asked, for a job that has ended without one. */
void ptc_http_outcome(PtcLinkReply *r, const PtcLinkJob *job);

#endif
