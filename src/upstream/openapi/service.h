/* SPDX-License-Identifier: MIT
 * service.h - one OpenAPI service, reached over HTTP: its document loaded, its operations requested.
 *
 * It has the shape of a link (mcp/client/link.h), so that whoever starts, lists and calls upstreams does the same with
 * both.  libcurl waits, so each exchange has a thread, started when all others are busy.  Callbacks come on those
 * threads and without a lock of the service. */
#ifndef PTC_UPSTREAM_OPENAPI_SERVICE_H
#define PTC_UPSTREAM_OPENAPI_SERVICE_H

#include "upstream/config/credentials.h"

typedef struct PtcService PtcService;

typedef struct PtcServiceConfig {
    const PtcEntry *entry; /* all of them outlive the service */
    PtcCredentials *credentials;
    PtcClient *http;
    void (*state)(void *user, PtcLinkState state,
                  PtcText why); /* READY or DOWN, for each connect */
    void *user;
} PtcServiceConfig;

/* What is sent; the texts stay until done(). */
typedef struct PtcServiceRequest {
    const char *method; /* a constant */
    PtcText url;        /* whole, without credentials */
    PtcText headers;    /* a JSON object */
    PtcText auth;       /* bindings of credentials, a JSON array */
    PtcText body;       /* absent: none */
    bool outside;       /* a stranger named the address */
    PtcBuf *head;       /* gets the header lines of the answer */
} PtcServiceRequest;

PTC_MUST_USE PtcService *ptc_service_new(PtcMem *mem, const PtcServiceConfig *config);
/* Any thread.  Says READY at once, unless the service is in doubt: then it is asked for something harmless first.
 * False: no thread could be started. */
PTC_MUST_USE bool ptc_service_connect(PtcService *service);
/* The next connect must see that there is an answer: several requests in a row had none. */
void ptc_service_doubt(PtcService *service);
/* Loads the document; listed() gets it as JSON (ANSWER), or why it cannot be had (BROKEN).  False: as above. */
PTC_MUST_USE bool ptc_service_list(PtcService *service, PtcLinkList *list);
/* ask->done() gets a body of a 2xx answer (ANSWER), of another one (HTTP_FAULT), or no answer; only end_ns and done of
 * the ask are used.  False: as above, done() will not come. */
PTC_MUST_USE bool ptc_service_ask(PtcService *service, PtcLinkAsk *ask,
                                  const PtcServiceRequest *request);
/* done(CANCELLED) comes soon, unless it has come. */
void ptc_service_cancel(PtcService *service, const PtcLinkAsk *ask);
/* Every ask gets done() first.  Not from a callback. */
void ptc_service_free(PtcService *service);

#endif
