/* SPDX-License-Identifier: MIT
 * Calls by server and reason.  Names come from files and servers, so their number and length are bounded here. */
#include "trace/call_outcomes.h"

#include <stdio.h>
#include <string.h>

#include "base/grow.h"
#include "base/utf8.h"
#include "json/emit.h"

static const char OTHER[] = "other";

static void copy_name(char *to, size_t size, PtcText name)
{
    size_t n = name.len < size ? name.len : ptc_utf8_valid_prefix(name.bytes, size - 1);
    if (n)
        memcpy(to, name.bytes, n);
    to[n] = '\0';
}

static PtcOutcomeCount *find_outcome_count(PtcCallOutcomes *o, const PtcOutcomeCount *wanted)
{
    for (size_t i = 0; i < o->count; i++)
        if (strcmp(o->items[i].server, wanted->server) == 0 &&
            strcmp(o->items[i].label, wanted->label) == 0)
            return &o->items[i];
    return NULL;
}

/* Reasons are few, so even "other" cannot grow without end. */
static void add_outcome_count(PtcCallOutcomes *o, PtcMem *mem, PtcOutcomeCount item)
{
    PtcOutcomeCount *found = find_outcome_count(o, &item);
    if (!found && o->count >= PTC_CALL_OUTCOMES_MAX) {
        snprintf(item.server, sizeof item.server, "%s", OTHER);
        found = find_outcome_count(o, &item);
    }
    if (found)
        found->calls += item.calls;
    else if (o->count < 2 * PTC_CALL_OUTCOMES_MAX &&
             PTC_GROW(mem, &o->items, &o->cap, o->count + 1))
        o->items[o->count++] = item;
}

void ptc_call_outcomes_add(PtcCallOutcomes *o, PtcMem *mem, PtcText server, PtcText reason,
                           uint64_t calls)
{
    PtcOutcomeCount item = {.calls = calls};
    copy_name(item.server, sizeof item.server, server);
    copy_name(item.label, sizeof item.label, reason);
    add_outcome_count(o, mem, item);
}

void ptc_call_outcomes_add_log(PtcCallOutcomes *o, PtcMem *mem, PtcCallLog *call_log)
{
    for (size_t i = 0; i < call_log->count; i++)
        ptc_call_outcomes_add(o, mem, ptc_call_log_text(call_log, i, "server"),
                              ptc_call_log_reason(call_log, i), 1);
}

void ptc_call_outcomes_add_all(PtcCallOutcomes *o, PtcMem *mem, const PtcCallOutcomes *from)
{
    for (size_t i = 0; i < from->count; i++)
        add_outcome_count(o, mem, from->items[i]);
}

void ptc_call_outcomes_free(PtcCallOutcomes *o, PtcMem *mem)
{
    ptc_mem_free(mem, o->items, o->cap * sizeof *o->items);
    *o = (PtcCallOutcomes){0};
}

/* ------------------------------------------------------------------------------------- JSON */

/* Is item i the first of its server, or of its label among those of `server` (NULL: all)? */
static bool is_first(const PtcCallOutcomes *o, size_t i, bool by_label, const char *server)
{
    for (size_t k = 0; k < i; k++) {
        if (server && strcmp(o->items[k].server, server) != 0)
            continue;
        if (by_label ? strcmp(o->items[k].label, o->items[i].label) == 0
                     : strcmp(o->items[k].server, o->items[i].server) == 0)
            return false;
    }
    return true;
}

/* Calls of a server (NULL: all) with a label (NULL: any). */
static uint64_t sum_outcome_calls(const PtcCallOutcomes *o, const char *server, const char *label)
{
    uint64_t n = 0;
    for (size_t i = 0; i < o->count; i++)
        if ((!server || strcmp(o->items[i].server, server) == 0) &&
            (!label || strcmp(o->items[i].label, label) == 0))
            n += o->items[i].calls;
    return n;
}

static void put_outcome_members(const PtcCallOutcomes *o, PtcBuf *out, const char *server)
{
    ptc_emit_field_uint(out, "total", sum_outcome_calls(o, server, NULL));
    ptc_emit_field_uint(out, "ok", sum_outcome_calls(o, server, ""));
    ptc_emit_key(out, "by_reason");
    ptc_emit_object(out);
    for (size_t i = 0; i < o->count; i++) {
        const PtcOutcomeCount *item = &o->items[i];
        if (item->label[0] && (!server || strcmp(item->server, server) == 0) &&
            is_first(o, i, true, server))
            ptc_emit_field_uint(out, item->label, sum_outcome_calls(o, server, item->label));
    }
    ptc_emit_object_end(out);
}

void ptc_call_outcomes_put(const PtcCallOutcomes *o, PtcBuf *out)
{
    ptc_emit_object(out);
    put_outcome_members(o, out, NULL);
    ptc_emit_key(out, "by_server");
    ptc_emit_object(out);
    for (size_t i = 0; i < o->count; i++) {
        if (!is_first(o, i, false, NULL))
            continue;
        ptc_emit_key(out, o->items[i].server);
        ptc_emit_object(out);
        put_outcome_members(o, out, o->items[i].server);
        ptc_emit_object_end(out);
    }
    ptc_emit_object_end(out);
    ptc_emit_object_end(out);
}
