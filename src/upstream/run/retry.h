/* SPDX-License-Identifier: MIT
 * retry.h - what a failed call means: may it be sent again, has it taken effect, and what all calls of a run together
 * mean for running the program again. */
#ifndef PTC_UPSTREAM_RUN_RETRY_H
#define PTC_UPSTREAM_RUN_RETRY_H

#include "mcp/client/link.h"
#include "upstream/config/policy.h"

/* What the end of an exchange with a server means; an answer means nothing before it is read. */
PtcCallReason ptc_retry_reason(const PtcLinkReply *reply);

typedef enum { PTC_AGAIN_SAFE, PTC_AGAIN_UNSAFE, PTC_AGAIN_UNKNOWN } PtcAgain;

typedef struct PtcRetry {
    bool retry;
    bool effect_unknown; /* else it took no effect */
    PtcAgain run_again;
} PtcRetry;

/* `delivered`: the upstream may have got the request. */
PtcRetry ptc_retry_decide(PtcEffect effect, PtcCallReason reason, bool delivered);

#endif
