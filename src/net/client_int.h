/* SPDX-License-Identifier: MIT
 * client_int.h - what client.c (the pool) and client_exchange.c (one exchange) share. */
#ifndef PTC_NET_CLIENT_INT_H
#define PTC_NET_CLIENT_INT_H

#include "net/client.h"
#include "net/curl_library.h"

/* A handle with its connections.  One thread at a time uses it; none does while it is in a list. */
typedef struct Slot {
    struct Slot *next;
    const PtcCurl *curl;
    CURLM *multi;
    CURL *easy;
    PtcMem *mem;                    /* of the client */
    char server[PTC_URL_BYTES + 1]; /* where it was last used: scheme, host and port */
    /* the exchange under way */
    const PtcClientRequest *request; /* NULL: it was given up */
    PtcClientAnswer *answer;
    const char *ca_file;
    struct curl_slist *headers; /* ours, in one block with its texts */
    size_t headers_bytes;
    char error[CURL_ERROR_SIZE];
    size_t sent, header_bytes, body_bytes;
    int64_t asked_ns, begun_ns; /* when the caller asked for it; when it began */
    int64_t last_ns;            /* when a byte last moved */
    int64_t length;             /* that the body is said to have; -1: nothing was said */
    int64_t enough_ns;          /* when the caller had enough; 0: not yet */
    bool looking_up;            /* a name is being looked up */
    bool connected;
    bool direct;  /* no proxy is between us and the server */
    bool refused; /* its address leads inside, and only outside is wanted */
} Slot;

/* ---- client_exchange.c */

/* Performs the exchange in a slot whose handles are idle.  False: the look-up of a name was given up but still runs,
 * so the handles must be left alone until ptc_client_exchange_over says so. */
bool ptc_client_exchange(Slot *slot, const PtcUrl *url, const PtcClientRequest *request,
                         PtcClientAnswer *answer);
/* Has the look-up ended that a slot was given up with? */
bool ptc_client_exchange_over(Slot *slot);
/* Records how it ended, with a text; always false. */
bool ptc_client_end(PtcClientAnswer *answer, PtcClientEnd end, const char *text);
/* Must a request that has not begun end already, because it was cancelled or is past its time? */
bool ptc_client_must_end(const PtcClientRequest *request, int64_t begun_ns,
                         PtcClientAnswer *answer);

#endif
