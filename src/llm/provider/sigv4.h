/* SPDX-License-Identifier: MIT
 * sigv4.h - AWS signatures, version 4, for a POST of JSON. */
#ifndef PTC_LLM_PROVIDER_SIGV4_H
#define PTC_LLM_PROVIDER_SIGV4_H

#include "base/buf.h"

typedef struct PtcSigv4 {
    PtcText access_key, secret_key;
    PtcText session; /* a token that goes with temporary keys; absent: none */
    PtcText region;
    const char *service;
    PtcText host; /* as it is sent, including the port if there is one */
    PtcText path; /* as it is sent, encoded, without a query */
    PtcText body;
    int64_t now_ms; /* the time of day, ms since 1970 */
} PtcSigv4;

/* Appends the values of the two headers that a request needs: X-Amz-Date, and Authorization.  The request must also
 * contain the other headers that are signed: Content-Type: application/json, Host, and X-Amz-Security-Token where
 * there is a session.  False: out of memory. */
PTC_MUST_USE bool ptc_sigv4_sign(const PtcSigv4 *request, PtcMem *mem, PtcBuf *date,
                                 PtcBuf *authorization);

#endif
