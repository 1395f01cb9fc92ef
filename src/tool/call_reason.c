/* SPDX-License-Identifier: MIT
 * The table of reasons.  What always holds: no word stands in it twice. */
#include "tool/call_reason.h"

const PtcCallReasonRow ptc_call_reasons[PTC_CALL_REASONS] = {
    [PTC_CALL_WELL] = {"", PTC_TOOK_EFFECT, false, 0},
    [PTC_CALL_UNAVAILABLE] = {"upstream_unavailable", PTC_TOOK_UNKNOWN, false, 0},
    [PTC_CALL_BAD_ANSWER] = {"upstream_error", PTC_TOOK_UNKNOWN, false, 0},
    [PTC_CALL_TOOL_ERROR] = {"tool_error", PTC_TOOK_UNKNOWN, false, 0},
    [PTC_CALL_AUTH_FAILED] = {"auth_failed", PTC_TOOK_NO_EFFECT, false, 0},
    [PTC_CALL_RATE_LIMITED] = {"rate_limited", PTC_TOOK_NO_EFFECT, true, 0},
    [PTC_CALL_TIMEOUT] = {"timeout", PTC_TOOK_UNKNOWN, false, 0},
    [PTC_CALL_TOO_LARGE] = {"response_too_large", PTC_TOOK_UNKNOWN, false, 0},
    [PTC_CALL_CAP_EXHAUSTED] = {"cap_exhausted", PTC_TOOK_NO_EFFECT, false, 0},
    [PTC_CALL_DENIED] = {"denied", PTC_TOOK_NO_EFFECT, false, 0},
    [PTC_CALL_DECLINED] = {"declined", PTC_TOOK_NO_EFFECT, false, 0},
    [PTC_CALL_INPUT_REQUIRED] = {"input_required", PTC_TOOK_NO_EFFECT, false, 0},
    [PTC_CALL_INVALID_ARGS] = {"invalid_tool_args", PTC_TOOK_NO_EFFECT, false, 0},
    [PTC_CALL_OTHER] = {"other", PTC_TOOK_UNKNOWN, false, 0},
    [PTC_CALL_UNKNOWN_SERVER] = {"unknown_server", PTC_TOOK_NO_EFFECT, false, 0},
    [PTC_CALL_UNKNOWN_TOOL] = {"unknown_tool", PTC_TOOK_NO_EFFECT, false, 0},
    [PTC_CALL_AMBIGUOUS] = {"ambiguous", PTC_TOOK_NO_EFFECT, false, 0},
    [PTC_CALL_ASIDE] = {"suspended", PTC_TOOK_NO_EFFECT, false, 0},
    [PTC_CALL_NO_MEMORY] = {"memory", PTC_TOOK_UNKNOWN, false, PTC_CALL_UNAVAILABLE},
    [PTC_CALL_BUSY] = {"busy", PTC_TOOK_UNKNOWN, true, PTC_CALL_UNAVAILABLE},
    [PTC_CALL_LATE] = {"late", PTC_TOOK_UNKNOWN, true, PTC_CALL_TIMEOUT},
    [PTC_CALL_NOT_CONNECTED] = {"refused", PTC_TOOK_NO_EFFECT, true, PTC_CALL_UNAVAILABLE},
    [PTC_CALL_RESET] = {"reset", PTC_TOOK_UNKNOWN, true, PTC_CALL_UNAVAILABLE},
    [PTC_CALL_DIED] = {"died", PTC_TOOK_UNKNOWN, true, PTC_CALL_UNAVAILABLE},
    [PTC_CALL_SESSION_LOST] = {"session_lost", PTC_TOOK_NO_EFFECT, true, PTC_CALL_TOOL_ERROR},
    [PTC_CALL_TOKEN_EXPIRED] = {"token_expired", PTC_TOOK_NO_EFFECT, true, PTC_CALL_AUTH_FAILED},
    [PTC_CALL_HTTP_407] = {"http_407", PTC_TOOK_NO_EFFECT, false, PTC_CALL_UNAVAILABLE},
    [PTC_CALL_HTTP_408] = {"http_408", PTC_TOOK_NO_EFFECT, false, PTC_CALL_TIMEOUT},
    [PTC_CALL_HTTP_502] = {"http_502", PTC_TOOK_UNKNOWN, true, PTC_CALL_UNAVAILABLE},
    [PTC_CALL_HTTP_503] = {"http_503", PTC_TOOK_UNKNOWN, true, PTC_CALL_UNAVAILABLE},
    [PTC_CALL_HTTP_504] = {"http_504", PTC_TOOK_UNKNOWN, true, PTC_CALL_UNAVAILABLE},
    [PTC_CALL_HTTP_5XX] = {"http_5xx", PTC_TOOK_UNKNOWN, false, PTC_CALL_UNAVAILABLE},
    [PTC_CALL_RPC_ERROR] = {"rpc_error", PTC_TOOK_NO_EFFECT, false, PTC_CALL_BAD_ANSWER},
    [PTC_CALL_CANCELLED] = {"cancelled", PTC_TOOK_UNKNOWN, false, PTC_CALL_TIMEOUT},
    [PTC_CALL_UNSUPPORTED_BODY] = {"unsupported_body", PTC_TOOK_NO_EFFECT, false,
                                   PTC_CALL_INVALID_ARGS},
    [PTC_CALL_REQUEST_TOO_LARGE] = {"too_large", PTC_TOOK_NO_EFFECT, false, PTC_CALL_INVALID_ARGS},
    [PTC_CALL_UNSUPPORTED_DOCUMENT] = {"unsupported_document", PTC_TOOK_NO_EFFECT, false,
                                       PTC_CALL_BAD_ANSWER},
    [PTC_CALL_WRITES_NOT_ALLOWED] = {"writes_not_allowed", PTC_TOOK_NO_EFFECT, false,
                                     PTC_CALL_BAD_ANSWER},
    [PTC_CALL_BY_EFFECT] = {"effect", PTC_TOOK_NO_EFFECT, false, PTC_CALL_DENIED},
    [PTC_CALL_BY_RULE] = {"rule", PTC_TOOK_NO_EFFECT, false, PTC_CALL_DENIED},
    [PTC_CALL_BY_POSTURE] = {"posture", PTC_TOOK_NO_EFFECT, false, PTC_CALL_DENIED},
    [PTC_CALL_BY_APPROVAL] = {"approved", PTC_TOOK_NO_EFFECT, false, PTC_CALL_DENIED},
    [PTC_CALL_BY_CHANGE] = {"changed", PTC_TOOK_NO_EFFECT, false, PTC_CALL_DENIED},
    [PTC_CALL_BY_PIN] = {"pinned", PTC_TOOK_NO_EFFECT, false, PTC_CALL_DENIED},
    [PTC_CALL_BY_MISSING_PIN] = {"unpinned", PTC_TOOK_NO_EFFECT, false, PTC_CALL_DENIED},
    [PTC_CALL_CANNOT_ASK] = {"cannot_ask", PTC_TOOK_NO_EFFECT, false, PTC_CALL_DENIED},
};

PtcCallReason ptc_call_reason_shown(PtcCallReason reason)
{
    PtcCallReason shown = ptc_call_reasons[reason].shown;
    return shown ? shown : reason;
}

const char *ptc_call_reason_word(PtcCallReason reason)
{
    return ptc_call_reasons[ptc_call_reason_shown(reason)].word;
}

PtcCallReason ptc_call_reason_find(PtcText word)
{
    for (PtcCallReason i = PTC_CALL_WELL + 1; word.bytes && i < PTC_CALL_REASONS; i++)
        if (ptc_text_is(word, ptc_call_reasons[i].word))
            return i;
    return PTC_CALL_OTHER;
}

PtcCallReason ptc_call_reason_of_status(int64_t status)
{
    switch (status) {
    case 401: return PTC_CALL_AUTH_FAILED;
    case 407: return PTC_CALL_HTTP_407;
    case 408: return PTC_CALL_HTTP_408;
    case 429: return PTC_CALL_RATE_LIMITED;
    case 502: return PTC_CALL_HTTP_502;
    case 503: return PTC_CALL_HTTP_503;
    case 504: return PTC_CALL_HTTP_504;
    }
    return status >= 500   ? PTC_CALL_HTTP_5XX
           : status >= 400 ? PTC_CALL_TOOL_ERROR
                           : PTC_CALL_BAD_ANSWER;
}
