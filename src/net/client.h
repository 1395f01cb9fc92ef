/* SPDX-License-Identifier: MIT
 * client.h - one HTTP request and its answer, over libcurl.
 *
 * Nothing is sent twice: there is no retry, no redirect is followed.  Every part has a bound, in time and in bytes, and
 * whoever waits can be told to stop: the cancel flag is looked at every PTC_CLIENT_SLICE_MS.  Connections are kept for
 * the next request.  Proxies come from the environment as libcurl reads it (HTTPS_PROXY, NO_PROXY ...), but never for
 * addresses of this machine.  Any number of threads may use one client. */
#ifndef PTC_NET_CLIENT_H
#define PTC_NET_CLIENT_H

#include "base/budget.h"
#include "base/buf.h"
#include "net/url.h"

enum {
    PTC_CLIENT_SLICE_MS = 50,
    PTC_CLIENT_IN_USE = 64, /* exchanges at once; further ones wait for one to end */
    PTC_CLIENT_IDLE = 16,   /* kept with their connections */
    PTC_CLIENT_LOOKUPS =
        16, /* names that nobody waits for any more but that are still being looked up */
    PTC_CLIENT_CONNECT_MS = 10 * 1000,
    PTC_CLIENT_SILENCE_MS = 60 * 1000,
    PTC_CLIENT_TOTAL_MS = 120 * 1000,
    PTC_CLIENT_HEADER_BYTES = 256 * 1024, /* of an answer, those of status 1xx included */
    PTC_CLIENT_ERROR_BYTES = 64 * 1024,   /* kept of a body whose status is not 2xx */
    PTC_CLIENT_GRACE_MS =
        250, /* for an answer that is complete to end by itself, so that its connection can be kept */
};

typedef enum {
    PTC_PIECE_MORE,   /* go on */
    PTC_PIECE_ENOUGH, /* what was wanted is there: what follows is not looked at */
    PTC_PIECE_STOP,   /* give up */
} PtcPiece;

typedef enum {
    PTC_CLIENT_OK,          /* an answer came, with whatever status */
    PTC_CLIENT_BAD_REQUEST, /* nothing was sent: no library, an address or a header that is none */
    PTC_CLIENT_NO_CONNECTION, /* refused, no such name, too many look-ups that hang */
    PTC_CLIENT_BAD_TLS,       /* the other side could not prove who it is */
    PTC_CLIENT_CONNECT_TIMEOUT,
    PTC_CLIENT_SILENCE, /* no byte for too long */
    PTC_CLIENT_TIMEOUT, /* the whole exchange took too long */
    PTC_CLIENT_DEADLINE,
    PTC_CLIENT_CANCELLED,
    PTC_CLIENT_STOPPED,   /* by the caller's function */
    PTC_CLIENT_TOO_LARGE, /* headers or body */
    PTC_CLIENT_BROKEN,    /* the connection broke, or what came is not HTTP */
    PTC_CLIENT_NO_MEMORY,
} PtcClientEnd;

enum { PTC_CLIENT_FIELD = 128, PTC_CLIENT_WHY = 256 };

typedef struct PtcClientAnswer {
    PtcClientEnd end;
    int status;   /* 0: none came */
    bool touched; /* a byte of an answer came */
    /* headers, "" where there was none; longer ones are cut */
    char content_type[PTC_CLIENT_FIELD];
    char retry_after[PTC_CLIENT_FIELD];
    char retry_after_ms[PTC_CLIENT_FIELD];
    char error_type[PTC_CLIENT_FIELD]; /* x-amzn-errortype */
    char location[PTC_URL_BYTES + 1];
    PtcBuf error_body;        /* of a status other than 2xx, as far as it was kept */
    char why[PTC_CLIENT_WHY]; /* unless PTC_CLIENT_OK: what happened */
} PtcClientAnswer;

typedef struct PtcClientRequest {
    const char *method; /* POST, GET, ... */
    const char *url;
    PtcText body;           /* absent: none */
    const PtcText *headers; /* each a line `Name: value` */
    size_t header_count;
    bool plain;      /* http:// is fine to any host; else only to this machine */
    size_t max_body; /* bytes of a 2xx body after decompression */
    /* limits in ms, 0: as above; all of them end at the deadline at the latest */
    int64_t connect_ms, silence_ms, total_ms;
    int64_t deadline_ns; /* INT64_MAX: none */
    const PtcCancel *cancel;
    /* Called with the body of a 2xx answer in pieces; status and headers are there already. */
    PtcPiece (*piece)(void *user, const PtcClientAnswer *answer, PtcText bytes);
    void *user;
} PtcClientRequest;

typedef struct PtcClient PtcClient;

/* `ca_file` names the certificates to trust in place of the system's, NULL: the system's; it is copied.  NULL: no
 * memory.  Nothing is loaded yet. */
PTC_MUST_USE PtcClient *ptc_client_new(PtcMem *mem, const char *ca_file);
/* No request may be under way. */
void ptc_client_free(PtcClient *client);

/* Sends and waits for the end.  The answer's buffer belongs to the caller, who ends with ptc_client_answer_deinit, and
 * is charged to `mem`. */
void ptc_client_send(PtcClient *client, PtcMem *mem, const PtcClientRequest *request,
                     PtcClientAnswer *answer);
void ptc_client_answer_deinit(PtcClientAnswer *answer);

/* For tests: look-ups that were given up and go on. */
size_t ptc_client_lookups(PtcClient *client);

#endif
