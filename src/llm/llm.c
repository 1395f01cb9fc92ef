/* SPDX-License-Identifier: MIT
 * What requests, replies and models have in common: status names, what HTTP statuses mean, defaults. */
#include "llm/llm.h"

const char *ptc_llm_status_name(PtcLlmStatus status)
{
    static const char *const names[] = {
        [PTC_LLM_OK] = "ok",
        [PTC_LLM_RATE_LIMIT] = "rate_limit",
        [PTC_LLM_TIMEOUT] = "timeout",
        [PTC_LLM_SERVER_ERROR] = "server_error",
        [PTC_LLM_CLIENT_ERROR] = "client_error",
        [PTC_LLM_CONFIG_ERROR] = "config_error",
        [PTC_LLM_REFUSED] = "refused",
        [PTC_LLM_TOO_LARGE] = "too_large",
        [PTC_LLM_UNKNOWN] = "unknown",
        [PTC_LLM_REPLAY_MISMATCH] = "replay_mismatch",
        [PTC_LLM_CANCELLED] = "cancelled",
        [PTC_LLM_DEADLINE] = "deadline",
        [PTC_LLM_NO_MEMORY] = "no_memory",
    };
    return names[status];
}

bool ptc_llm_status_find(PtcText name, PtcLlmStatus *status)
{
    for (int s = PTC_LLM_OK; s <= PTC_LLM_NO_MEMORY; s++)
        if (ptc_text_is(name, ptc_llm_status_name((PtcLlmStatus)s))) {
            *status = (PtcLlmStatus)s;
            return true;
        }
    return false;
}

PtcLlmStatus ptc_llm_status_of_http(int http)
{
    if (http >= 200 && http <= 299)
        return PTC_LLM_OK;
    if (http == 429)
        return PTC_LLM_RATE_LIMIT;
    if (http == 408 || (http >= 500 && http <= 599))
        return PTC_LLM_SERVER_ERROR;
    return http >= 300 && http <= 499 ? PTC_LLM_CLIENT_ERROR : PTC_LLM_UNKNOWN;
}

size_t ptc_llm_message_count(const PtcLlmRequest *r)
{
    return r->parts[0].count + r->parts[1].count;
}

const PtcMessage *ptc_llm_message(const PtcLlmRequest *r, size_t i)
{
    return i < r->parts[0].count ? &r->parts[0].items[i]
                                 : &r->parts[1].items[i - r->parts[0].count];
}

PtcText ptc_llm_data_of(const PtcMessage *m)
{
    return m->note ? (PtcText){m->content.bytes, m->note} : m->content;
}

/* A line feed comes before it. */
PtcText ptc_llm_note_of(const PtcMessage *m)
{
    size_t at = m->note + 1;
    return m->note ? (PtcText){m->content.bytes + at, m->content.len - at} : (PtcText){NULL, 0};
}
