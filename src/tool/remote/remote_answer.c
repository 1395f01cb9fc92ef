/* SPDX-License-Identifier: MIT
 * Values of answers.  What always holds: what a server says never stops the run, except by taking its memory or its
 * time. */
#include "tool/remote/remote_answer.h"

#include "json/parse.h"
#include "value/str.h"

/* An integer that is too large is the fault of the text, which is told by whoever reads it again. */
static bool has_new_room(PtcRemoteAnswer *answer)
{
    PtcBudget *budget = answer->heap->budget;
    ptc_budget_go_on(budget);
    return budget->stop == PTC_STOP_MEMORY && answer->make_room && answer->make_room(answer);
}

static bool wants_values(const PtcRemoteAnswer *answer)
{
    return answer && answer->heap && answer->heap->budget->stop == PTC_STOP_NONE;
}

PtcValue ptc_remote_answer_read(PtcRemoteAnswer *answer, PtcText json, size_t *used)
{
    PtcJsonError error;
    PtcValue v = PTC_NONE;
    if (!wants_values(answer))
        return PTC_NONE;
    do
        v = ptc_json_parse_prefix(answer->heap, json.bytes, json.len, used, &error);
    while (v == PTC_NONE && has_new_room(answer));
    return v;
}

PtcValue ptc_remote_answer_json(PtcRemoteAnswer *answer, PtcText json)
{
    size_t used = 0;
    PtcValue v = ptc_remote_answer_read(answer, json, &used);
    return used == json.len ? v : PTC_NONE;
}

PtcValue ptc_remote_answer_string(PtcRemoteAnswer *answer, PtcText text)
{
    PtcValue v = PTC_NONE;
    if (!wants_values(answer))
        return PTC_NONE;
    do
        v = ptc_str_new(answer->heap, text.bytes, text.len);
    while (v == PTC_NONE && has_new_room(answer));
    return v;
}
