/* SPDX-License-Identifier: MIT
 * Decides whether a call that failed may be sent again.  What always holds: a call that may have reached its server is
 * sent again only if it reads or is idempotent. */
#include "upstream/run/retry.h"

PtcCallReason ptc_retry_reason(const PtcLinkReply *reply)
{
    if (reply->session_lost && reply->end != PTC_LINK_BROKEN)
        return PTC_CALL_SESSION_LOST;
    switch (reply->end) {
    case PTC_LINK_ANSWER: return PTC_CALL_WELL;
    case PTC_LINK_BAD_ANSWER: return PTC_CALL_BAD_ANSWER;
    case PTC_LINK_ERROR: return PTC_CALL_RPC_ERROR;
    case PTC_LINK_BROKEN: return reply->delivered ? PTC_CALL_DIED : PTC_CALL_NOT_CONNECTED;
    case PTC_LINK_AUTH: return PTC_CALL_AUTH_FAILED;
    case PTC_LINK_TIMEOUT: return PTC_CALL_TIMEOUT;
    case PTC_LINK_CANCELLED: return PTC_CALL_CANCELLED;
    case PTC_LINK_TOO_LARGE: return PTC_CALL_TOO_LARGE;
    case PTC_LINK_NO_MEMORY: return PTC_CALL_NO_MEMORY;
    case PTC_LINK_HTTP_FAULT: break;
    }
    return reply->status < 400 ? PTC_CALL_TOOL_ERROR : ptc_call_reason_of_status(reply->status);
}

PtcRetry ptc_retry_decide(PtcEffect effect, PtcCallReason reason, bool delivered)
{
    const PtcCallReasonRow *row = &ptc_call_reasons[reason];
    bool reads = effect.kind == PTC_EFFECT_READ, repeatable = reads || effect.idempotent;
    bool reached = delivered && row->took != PTC_TOOK_NO_EFFECT;
    return (PtcRetry){.retry = row->may_repeat && (!reached || repeatable),
                      .effect_unknown = reached && !reads,
                      .run_again = reached && !repeatable ? PTC_AGAIN_UNKNOWN : PTC_AGAIN_SAFE};
}
