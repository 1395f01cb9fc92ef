/* SPDX-License-Identifier: MIT
 * client.h - one HTTP request and its answer, over libcurl.
 *
 * Nothing is sent twice: there are no retries, and redirects are not followed.  Everything has a bound in time and
 * in bytes, and a waiting caller can be told to stop: the cancel flag is looked at every PTC_CLIENT_SLICE_MS.
 * Connections are kept for the next request.  Proxies come from the environment as libcurl reads it (HTTPS_PROXY,
 * NO_PROXY ...), but are never used for addresses of this machine.  Any number of threads may use one client. */
#ifndef PTC_NET_CLIENT_H
#define PTC_NET_CLIENT_H

#include "base/budget.h"
#include "base/buf.h"
#include "net/url.h"

enum {
    PTC_CLIENT_SLICE_MS = 50,
    PTC_CLIENT_IN_USE = 64,  /* exchanges at once; further ones wait for one to end */
    PTC_CLIENT_STREAMS = 16, /* that may last forever, beside those; further ones are refused */
    PTC_CLIENT_IDLE = 16,    /* slots kept with their connections */
    PTC_CLIENT_LOOKUPS = 16, /* look-ups still running that nobody waits for any more */
    PTC_CLIENT_CONNECT_MS = 10 * 1000,
    PTC_CLIENT_SILENCE_MS = 60 * 1000,
    PTC_CLIENT_TOTAL_MS = 120 * 1000,
    PTC_CLIENT_HEADER_BYTES = 256 * PTC_KB, /* of an answer, those of status 1xx included */
    PTC_CLIENT_ERROR_BYTES = 64 * PTC_KB,   /* kept of a body whose status is not 2xx */
    /* for a complete answer to end by itself, so that its connection can be kept */
    PTC_CLIENT_GRACE_MS = 250,
};

typedef enum {
    PTC_PIECE_MORE,   /* go on */
    PTC_PIECE_ENOUGH, /* we have what we wanted: ignore what follows */
    PTC_PIECE_STOP,   /* give up */
} PtcPiece;

/* How an exchange ended without an answer, unless memory ran out. */
typedef enum {
    PTC_CLIENT_BAD_REQUEST = 1, /* nothing was sent: no library, or a bad address or header */
    PTC_CLIENT_NO_CONNECTION,   /* refused, no such name, or too many hanging look-ups */
    PTC_CLIENT_BAD_TLS,         /* the other side could not prove its identity */
    PTC_CLIENT_CONNECT_TIMEOUT,
    PTC_CLIENT_SILENCE, /* no byte for too long */
    PTC_CLIENT_TIMEOUT, /* the whole exchange took too long */
    PTC_CLIENT_DEADLINE,
    PTC_CLIENT_CANCELLED,
    PTC_CLIENT_STOPPED,   /* by the caller's function */
    PTC_CLIENT_TOO_LARGE, /* headers or body */
    PTC_CLIENT_BROKEN,    /* the connection broke */
    PTC_CLIENT_NOT_HTTP, /* what came is not HTTP, or its Content-Length is wrong or contradictory */
} PtcClientEnd;

enum {
    PTC_CLIENT_FIELD = 128,
    PTC_CLIENT_SESSION = 4096, /* it may be a signed token */
    PTC_CLIENT_CHALLENGE = 4096
};

typedef struct PtcClientAnswer {
    PtcWhy why;   /* unless an answer came: what happened; the code is a PtcClientEnd */
    int status;   /* 0: none came */
    bool touched; /* a byte of an answer came */
    bool sent;    /* there was a connection, so the request may have reached the server */
    bool inside;  /* it led to a private network or this machine; behind a proxy nobody knows */
    /* headers, "" where there was none; longer ones are cut */
    char content_type[PTC_CLIENT_FIELD];
    char retry_after[PTC_CLIENT_FIELD];
    char retry_after_ms[PTC_CLIENT_FIELD];
    char error_type[PTC_CLIENT_FIELD];           /* x-amzn-errortype */
    char session_id[PTC_CLIENT_SESSION];         /* mcp-session-id */
    char www_authenticate[PTC_CLIENT_CHALLENGE]; /* several are joined by commas */
    char location[PTC_URL_BYTES + 1];
    PtcBuf error_body; /* of a status other than 2xx, as far as it was kept */
} PtcClientAnswer;

typedef struct PtcClientRequest {
    const char *method; /* POST, GET, ... */
    const char *url;
    PtcText body;           /* absent: none */
    const PtcText *headers; /* each a line `Name: value` */
    size_t header_count;
    bool plain; /* http:// is allowed to any host; otherwise only to this machine */
    /* what leads to a private network or this machine is refused (address.h); where there is a proxy, it goes there in
     * any case */
    bool outside;
    bool stream;     /* it may last forever, and counts for PTC_CLIENT_STREAMS */
    size_t max_body; /* bytes of a 2xx body after decompression */
    size_t max_told; /* the largest Content-Length that is accepted; 0: max_body */
    /* Limits in ms, 0: as above; the deadline ends all of them. */
    int64_t connect_ms, silence_ms, total_ms;
    int64_t deadline_ns; /* INT64_MAX: none */
    const PtcCancel *cancel;
    /* Called with the body of a 2xx answer in pieces; status and headers are known by then. */
    PtcPiece (*piece)(void *user, const PtcClientAnswer *answer, PtcText bytes);
    /* Called with each header line of the answer, whatever its status, without its end; an absent text says that the
     * headers begin, and that those before were only preliminary.  May be NULL. */
    void (*header)(void *user, PtcText line);
    void *user;
} PtcClientRequest;

typedef struct PtcClient PtcClient;

/* `ca_file` names the certificates to trust in place of the system's (NULL: the system's); it is copied.  NULL: out
 * of memory.  Nothing is loaded yet. */
PTC_MUST_USE PtcClient *ptc_client_new(PtcMem *mem, const char *ca_file);
/* No request may be under way. */
void ptc_client_free(PtcClient *client);

/* Sends and waits for the end.  The answer's buffer is charged to `mem` and belongs to the caller, who frees it with
 * ptc_client_answer_deinit. */
void ptc_client_send(PtcClient *client, PtcMem *mem, const PtcClientRequest *request,
                     PtcClientAnswer *answer);
void ptc_client_answer_deinit(PtcClientAnswer *answer);
/* Did an answer come, with whatever status? */
static inline bool ptc_client_answered(const PtcClientAnswer *answer)
{
    return answer->why.class == PTC_WHY_NONE;
}

/* Header lines of a text, one a line, empty ones left out; at most so many.  They point into the text. */
size_t ptc_client_header_lines(PtcText all, PtcText *lines, size_t most);

#endif
