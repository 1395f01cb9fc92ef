/* SPDX-License-Identifier: MIT
 * service_int.h - a service and one exchange with it, for the files that make it. */
#ifndef PTC_UPSTREAM_OPENAPI_SERVICE_INT_H
#define PTC_UPSTREAM_OPENAPI_SERVICE_INT_H

#include <pthread.h>

#include "base/why.h"
#include "upstream/config/secret_ring.h"
#include "upstream/openapi/service.h"

enum { PTC_SERVICE_THREADS = 64, PTC_SERVICE_TOKEN = 8 * PTC_KB };

typedef enum { PTC_SERVICE_CONNECT, PTC_SERVICE_LIST, PTC_SERVICE_CALL } PtcServiceWork;

/* Something that a thread does; it belongs to that thread until its end, except `cancel`. */
typedef struct PtcServiceJob {
    struct PtcServiceJob *next, **at; /* service->lock: in the queue, or under way */
    PtcService *service;
    PtcServiceWork work;
    PtcLinkAsk *ask;   /* of CALL */
    PtcLinkList *list; /* of LIST */
    PtcServiceRequest request;
    PtcCancel cancel;
    int64_t end_ns;
    /* the exchange */
    char url[PTC_URL_BYTES + 1];
    size_t most;         /* bytes of a body */
    PtcBuf text;         /* the body of a 2xx answer */
    PtcBuf lines, query; /* what was sent, credentials included */
    PtcWhy why;          /* credentials could not be had, if that is so */
    PtcClientAnswer answer;
    unsigned hops;
    bool strayed; /* it was sent to another place than it may go */
} PtcServiceJob;

struct PtcService {
    PtcMem *mem;
    PtcServiceConfig config;
    /* It guards all below but the tokens that are hidden.  Whoever asks takes it under the lock of the manager,
     * the threads of the service take it between jobs; no other lock is taken inside, and nothing is sent under
     * it. */
    pthread_mutex_t lock;
    pthread_cond_t work;
    PtcServiceJob *first, **last, *active;
    pthread_t threads[PTC_SERVICE_THREADS];
    size_t thread_count, idle, queued;
    bool quit, doubt;
    char origin[PTC_URL_BYTES + 1]; /* of the last request that had no answer */
    bool origin_outside;            /* a stranger named it */
    char token[PTC_SERVICE_TOKEN];  /* by client credentials; "": none */
    int64_t token_end_ns;           /* then it is not used any more */
    PtcSecretRing tokens;           /* it and those before it, hidden */
    /* It is held by the thread that asks the server for a token, so that others wait and use that one.  It guards
     * no member: `lock` is taken inside, and so are the locks of the HTTP client and of the secrets. */
    pthread_mutex_t token_lock;
};

/* ---- service_job.c */
/* Sends job->request and follows redirects within its server; the answer is in the job. */
void ptc_service_send(PtcServiceJob *job);
/* The answer as the reply of an ask; its text moves there. */
void ptc_service_reply(PtcServiceJob *job, PtcLinkReply *reply);

/* ---- service_token.c */
/* Appends a token that the server at `url` gives for the entry's client credentials, or gave before.  False: job->why
 * says why. */
PTC_MUST_USE bool ptc_service_token(PtcServiceJob *job, PtcText url, PtcBuf *out);
/* A request with these header lines was refused: if the token was in them, it is not used again. */
void ptc_service_token_refused(PtcService *service, PtcText lines);

/* ---- service_load.c */
/* The document as JSON; false: why says it. */
PTC_MUST_USE bool ptc_service_load(PtcServiceJob *job, PtcBuf *out, PtcWhy *why);

#endif
