/* SPDX-License-Identifier: MIT
 * What a run did outside: its tool calls, its journal, the steps it reported. */
#include "engine/engine_int.h"

#include <string.h>

size_t ptc_outcome_tool_count(const PtcOutcome *o, size_t *total)
{
    if (total)
        *total = o ? o->log.total : 0;
    return o ? o->log.count : 0;
}

bool ptc_outcome_tool(PtcOutcome *o, size_t i, PtcToolRecord *record)
{
    if (!o || i >= o->log.count || !record || record->size < sizeof(size_t))
        return false;
    PtcLogEntry *e = &o->log.items[i];
    PtcPrinter printer = ptc_outcome_printer(o);
    ptc_budget_start(o->ptc, &o->budget, o->limits.timeout_ms);
    ptc_log_render(&o->log, e, &o->ptc->mem, &printer);
    const PtcToolInfo *tool = &o->tools->items[e->tool].info;
    PtcToolRecord all = {.size = record->size,
                         .name = tool->name,
                         .name_len = tool->name_len,
                         .arguments = e->text ? e->text : "",
                         .arguments_len = e->args_len,
                         .result = e->text ? e->text + e->args_len : "",
                         .result_len = e->result_len,
                         .ok = e->ok,
                         .cached = e->cached,
                         .layer = "program",
                         .duration_us = e->took_ns / 1000};
    memcpy(record, &all, record->size < sizeof all ? record->size : sizeof all);
    return true;
}

static PtcValue map_or_none(PtcValue v)
{
    return v == PTC_NIL ? PTC_NONE : v;
}

PtcValue ptc_outcome_journal(const PtcOutcome *o)
{
    return o ? map_or_none(o->journal) : PTC_NONE;
}

PtcValue ptc_outcome_summaries(const PtcOutcome *o)
{
    return o ? map_or_none(o->summaries) : PTC_NONE;
}
