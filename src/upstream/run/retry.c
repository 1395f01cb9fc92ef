/* SPDX-License-Identifier: MIT
 * Decides whether a call that failed may be sent again.  What always holds: a call that may have reached its server is
 * sent again only if it reads or is idempotent. */
#include "upstream/run/retry.h"

bool ptc_failure_parse(PtcText text, PtcFailure *out)
{
    static const struct {
        const char *name;
        PtcFailure failure;
    } names[] = {
        {"refused", PTC_FAILURE_REFUSED},
        {"reset", PTC_FAILURE_RESET},
        {"died", PTC_FAILURE_DIED},
        {"timeout", PTC_FAILURE_TIMEOUT},
        {"session_lost", PTC_FAILURE_SESSION_LOST},
        {"rate_limited", PTC_FAILURE_RATE_LIMITED},
        {"token_expired", PTC_FAILURE_TOKEN_EXPIRED},
        {"http_502", PTC_FAILURE_UNAVAILABLE},
        {"http_503", PTC_FAILURE_UNAVAILABLE},
        {"http_504", PTC_FAILURE_UNAVAILABLE},
        {"tool_error", PTC_FAILURE_TOOL_ERROR},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (text.bytes && ptc_text_is(text, names[i].name)) {
            *out = names[i].failure;
            return true;
        }
    return false;
}

const char *ptc_again_name(PtcAgain again)
{
    static const char *const names[] = {"safe", "unsafe", "unknown"};
    return names[again];
}

/* Failures that say that the request was not worked on, whatever was sent. */
static bool turned_away(PtcFailure failure)
{
    return failure == PTC_FAILURE_REFUSED || failure == PTC_FAILURE_SESSION_LOST ||
           failure == PTC_FAILURE_RATE_LIMITED || failure == PTC_FAILURE_TOKEN_EXPIRED;
}

PtcRetry ptc_retry_decide(PtcEffect effect, PtcFailure failure, bool delivered)
{
    bool reads = effect.kind == PTC_EFFECT_READ, repeatable = reads || effect.idempotent;
    PtcRetry out = {.run_again = PTC_AGAIN_SAFE};
    /* A tool that says that it failed may have done a part of its work before. */
    bool final = failure == PTC_FAILURE_TIMEOUT || failure == PTC_FAILURE_TOOL_ERROR;
    bool reached = delivered && !turned_away(failure);
    out.retry = !final && (!reached || repeatable);
    out.effect_unknown = reached && !reads;
    if (reached && !repeatable)
        out.run_again = PTC_AGAIN_UNKNOWN;
    return out;
}

PtcCallOutcome ptc_retry_count_call(PtcEffect effect, PtcCallStatus status, PtcAgain *again)
{
    PtcCallOutcome out = {false, false};
    if (effect.kind == PTC_EFFECT_READ || status == PTC_CALL_FAILED)
        return out;
    out.took_effect = status == PTC_CALL_OK;
    out.unknown = status == PTC_CALL_UNKNOWN;
    if (effect.idempotent)
        return out;
    if (out.took_effect)
        *again = PTC_AGAIN_UNSAFE;
    else if (*again == PTC_AGAIN_SAFE)
        *again = PTC_AGAIN_UNKNOWN;
    return out;
}
