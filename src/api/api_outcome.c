/* SPDX-License-Identifier: MIT
 * Outcomes, as ptc.h declares them: what a run produced and did, and the answer of `lisp_eval` for it.  What always
 * holds: texts belong to the outcome and live as long as it does. */
#include "api/api_int.h"
#include "engine/payload.h"
#include "tool/wire/protocol.h"

void ptc_outcome_free(PtcOutcome *o)
{
    ptc_outcome_drop(o);
}

bool ptc_outcome_ok(const PtcOutcome *o)
{
    return o && o->ok;
}

PtcValue ptc_outcome_value(const PtcOutcome *o)
{
    return o && o->ok ? o->value : PTC_NONE;
}

const char *ptc_outcome_control(const PtcOutcome *o)
{
    return o ? ptc_control_name(o->control) : NULL;
}

const char *ptc_outcome_text(PtcOutcome *o, size_t *len, bool *cut)
{
    const char *text = ptc_outcome_ok(o) ? ptc_outcome_show_text(o) : NULL;
    if (!text)
        return NULL;
    api_set_len(len, o->text.len);
    if (cut)
        *cut = o->text_cut;
    return text;
}

const char *ptc_outcome_json(PtcOutcome *o, size_t *len)
{
    const char *json = ptc_outcome_ok(o) ? ptc_outcome_show_json(o) : NULL;
    if (json)
        api_set_len(len, o->json.len);
    return json;
}

const char *ptc_outcome_json_problem(PtcOutcome *o, size_t *len, bool *too_long)
{
    if (!ptc_outcome_ok(o) || ptc_outcome_show_json(o) || !o->json_none)
        return NULL;
    api_set_len(len, strlen(o->json_why));
    if (too_long)
        *too_long = o->json_long;
    return o->json_why;
}

size_t ptc_outcome_print_count(const PtcOutcome *o)
{
    return o ? o->prints.count : 0;
}

const char *ptc_outcome_print(const PtcOutcome *o, size_t i, size_t *len)
{
    if (i >= ptc_outcome_print_count(o))
        return NULL;
    PtcText line = ptc_prints_line(&o->prints, i);
    api_set_len(len, line.len);
    return line.bytes;
}

bool ptc_outcome_prints_cut(const PtcOutcome *o)
{
    return o && o->prints.cut;
}

size_t ptc_outcome_warning_count(const PtcOutcome *o)
{
    return o ? o->warnings.count : 0;
}

bool ptc_outcome_warning(const PtcOutcome *o, size_t i, PtcWarning *warning)
{
    if (i >= ptc_outcome_warning_count(o) || !warning || warning->size < sizeof(size_t))
        return false;
    PtcWarning full = ptc_outcome_warned(o, i);
    api_copy_out(warning, warning->size, &full, sizeof full);
    return true;
}

size_t ptc_outcome_error_count(const PtcOutcome *o)
{
    return o ? o->error_count : 0;
}

bool ptc_outcome_error(const PtcOutcome *o, size_t i, PtcError *error)
{
    if (i >= ptc_outcome_error_count(o) || !error || error->size < sizeof(size_t))
        return false;
    PtcError all = ptc_outcome_finding(o, i);
    api_copy_out(error, error->size, &all, sizeof all);
    return true;
}

/* ------------------------------------------------------------------ what a run did outside */

size_t ptc_outcome_tool_count(const PtcOutcome *o, size_t *total)
{
    api_set_len(total, o ? o->log.total : 0);
    return o ? o->log.count : 0;
}

bool ptc_outcome_tool(PtcOutcome *o, size_t i, PtcToolRecord *record)
{
    if (i >= ptc_outcome_tool_count(o, NULL) || !record || record->size < sizeof(size_t))
        return false;
    PtcToolRecord all = ptc_outcome_call(o, i);
    api_copy_out(record, record->size, &all, sizeof all);
    return true;
}

PtcValue ptc_outcome_journal(const PtcOutcome *o)
{
    return o && o->journal != PTC_NIL ? o->journal : PTC_NONE;
}

PtcValue ptc_outcome_summaries(const PtcOutcome *o)
{
    return o && o->summaries != PTC_NIL ? o->summaries : PTC_NONE;
}

/* ------------------------------------------------------------------------------ lisp_eval */

const char *ptc_tool_description(PtcProfile profile)
{
    return ptc_protocol_description(profile);
}

const char *ptc_tool_schema(PtcProfile profile)
{
    return ptc_protocol_schema(profile);
}

void ptc_format_options_init(PtcFormatOptions *options, size_t size)
{
    PtcFormatOptions all;
    ptc_format_unset(&all);
    api_copy_out(options, size, &all, sizeof all);
}

void ptc_payload_options_init(PtcPayloadOptions *options, size_t size)
{
    PtcPayloadOptions all = {0};
    api_copy_out(options, size, &all, sizeof all);
}

const char *ptc_outcome_payload(PtcOutcome *o, const PtcPayloadOptions *given, size_t *len)
{
    PtcPayloadOptions options = {0};
    if (!o || !api_copy_in(&options, sizeof options, given))
        return NULL;
    if (o->payload.mem)
        ptc_buf_deinit(&o->payload);
    ptc_buf_init(&o->payload, &o->ptc->mem, ptc_payload_room(o) + options.validated_json_len);
    if (!ptc_payload_write(o, &options, &o->payload))
        return NULL;
    api_set_len(len, o->payload.len);
    return ptc_buf_text(&o->payload);
}
