/* SPDX-License-Identifier: MIT
 * Waiting without a network.  What always holds: a wait ends soon after the request is cancelled or its time is up. */
#include "llm/waiting.h"

#include <time.h>

#include "net/client.h"

PtcLlmStatus ptc_waiting_end(const PtcLlmRequest *r, int64_t begun_ns)
{
    int64_t now = ptc_clock_ns(NULL);
    int64_t total_ms = r->timeout_ms > 0 ? r->timeout_ms : PTC_CLIENT_TOTAL_MS;
    if (ptc_cancelled(r->cancel))
        return PTC_LLM_CANCELLED;
    if (now >= r->deadline_ns)
        return PTC_LLM_DEADLINE;
    return (now - begun_ns) / PTC_MS >= total_ms ? PTC_LLM_TIMEOUT : PTC_LLM_OK;
}

static void pause(int64_t ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * PTC_MS}, NULL);
}

PtcLlmStatus ptc_waiting_sleep(const PtcLlmRequest *r, int64_t ms)
{
    int64_t begun = ptc_clock_ns(NULL), end = begun + ms * PTC_MS;
    PtcLlmStatus status = ptc_waiting_end(r, begun);
    while (ms > 0 && status == PTC_LLM_OK) {
        int64_t left = (end - ptc_clock_ns(NULL) + 999999) / PTC_MS;
        if (left <= 0)
            break;
        pause(left < PTC_WAITING_SLICE_MS ? left : PTC_WAITING_SLICE_MS);
        status = ptc_waiting_end(r, begun);
    }
    return status;
}

void ptc_waiting_stopped(PtcLlmStatus status, PtcArena *arena, PtcLlmReply *out)
{
    ptc_reply_error(out, arena, NULL, status,
                    status == PTC_LLM_TIMEOUT    ? PTC_TEXT("the answer did not come in time")
                    : status == PTC_LLM_DEADLINE ? PTC_TEXT("the deadline passed")
                                                 : PTC_TEXT("cancelled"));
}

void ptc_waiting_hand_on(const PtcLlmRequest *r, PtcArena *arena, PtcLlmReply *out)
{
    if (out->status != PTC_LLM_OK || !r->stream || !out->text.len)
        return;
    if (r->stream(r->stream_user, out->text))
        out->streamed = true;
    else
        ptc_reply_error(out, arena, NULL, PTC_LLM_CANCELLED,
                        PTC_TEXT("the reader of the text stopped"));
}
