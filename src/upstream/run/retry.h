/* SPDX-License-Identifier: MIT
 * retry.h - what a failed call means: may it be sent again, has it taken effect, and what all calls of a run together
 * mean for running the program again. */
#ifndef PTC_UPSTREAM_RUN_RETRY_H
#define PTC_UPSTREAM_RUN_RETRY_H

#include "upstream/config/policy.h"

typedef enum {
    PTC_FAILURE_REFUSED, /* no connection, or the process did not start */
    PTC_FAILURE_RESET,
    PTC_FAILURE_DIED,
    PTC_FAILURE_TIMEOUT,
    PTC_FAILURE_SESSION_LOST,
    PTC_FAILURE_RATE_LIMITED,
    PTC_FAILURE_TOKEN_EXPIRED,
    PTC_FAILURE_UNAVAILABLE, /* 502, 503, 504 */
    PTC_FAILURE_TOOL_ERROR,
} PtcFailure;

/* refused, reset, died, timeout, session_lost, rate_limited, token_expired, http_502 to http_504, tool_error. */
bool ptc_failure_parse(PtcText text, PtcFailure *out);

typedef enum { PTC_AGAIN_SAFE, PTC_AGAIN_UNSAFE, PTC_AGAIN_UNKNOWN } PtcAgain;
const char *ptc_again_name(PtcAgain again);

typedef struct PtcRetry {
    bool retry;
    bool effect_unknown; /* else it took no effect */
    PtcAgain run_again;
} PtcRetry;

/* `delivered`: the upstream may have got the request. */
PtcRetry ptc_retry_decide(PtcEffect effect, PtcFailure failure, bool delivered);

/* What became of one call. */
typedef enum { PTC_CALL_OK, PTC_CALL_FAILED, PTC_CALL_UNKNOWN } PtcCallStatus;

/* Did this call take effect, may it have, and does it leave the run safe to be run again?  Over the calls of a run the
 * worst of them counts: start with PTC_AGAIN_SAFE. */
typedef struct PtcCallOutcome {
    bool took_effect, unknown;
} PtcCallOutcome;
PtcCallOutcome ptc_retry_count_call(PtcEffect effect, PtcCallStatus status, PtcAgain *again);

#endif
