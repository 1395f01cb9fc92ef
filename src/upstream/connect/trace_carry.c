/* SPDX-License-Identifier: MIT
 * What servers get of a trace.  What always holds: a state is never sent without its parent, and everything that is
 * sent was checked. */
#include "upstream/connect/trace_carry.h"

#include <string.h>

#include "json/emit.h"
#include "value/coll/fields.h"

enum { CARRIED = 3 };

typedef struct {
    const char *name;
    PtcText text; /* absent: none */
} Carried;

void ptc_trace_carry_init(PtcTraceCarry *carry, PtcMem *mem)
{
    *carry = (PtcTraceCarry){.ours = false};
    ptc_buf_init(&carry->state, mem, PTC_TRACE_STATE);
    ptc_buf_init(&carry->baggage, mem, PTC_TRACE_BAGGAGE);
}

void ptc_trace_carry_deinit(PtcTraceCarry *carry)
{
    ptc_buf_deinit(&carry->state);
    ptc_buf_deinit(&carry->baggage);
}

void ptc_trace_carry_take(PtcTraceCarry *carry, const PtcTraceContext *context)
{
    PtcTraceContext c = *context;
    ptc_trace_context_check(&c);
    ptc_trace_parent_read(c.parent, carry->parent);
    carry->ours = c.ours && carry->parent[0];
    ptc_buf_clear(&carry->state);
    ptc_buf_clear(&carry->baggage);
    if (c.state.bytes)
        ptc_buf_add(&carry->state, c.state.bytes, c.state.len);
    if (c.baggage.bytes)
        ptc_buf_add(&carry->baggage, c.baggage.bytes, c.baggage.len);
}

void ptc_trace_carry_next(const PtcTraceCarry *carry, char parent[PTC_TRACE_PARENT], char span[17])
{
    span[0] = parent[0] = '\0';
    if (carry->parent[0] && !ptc_trace_parent_next(carry->parent, parent, span))
        parent[0] = '\0';
    if (!carry->ours)
        span[0] = '\0';
}

static PtcText carried_text(const PtcBuf *buf, bool wanted)
{
    return wanted && buf->len && ptc_buf_ok(buf) ? ptc_buf_view(buf) : (PtcText){NULL, 0};
}

static void list_carried(const PtcTraceCarry *carry, const char *parent, Carried all[CARRIED])
{
    PtcText own = parent[0] ? ptc_text_cstr(parent) : (PtcText){NULL, 0};
    all[0] = (Carried){"traceparent", own};
    all[1] = (Carried){"tracestate", carried_text(&carry->state, parent[0])};
    all[2] = (Carried){"baggage", carried_text(&carry->baggage, true)};
}

void ptc_trace_carry_meta(const PtcTraceCarry *carry, const char parent[PTC_TRACE_PARENT],
                          PtcBuf *params)
{
    Carried all[CARRIED];
    list_carried(carry, parent, all);
    if (!all[0].text.bytes && !all[2].text.bytes)
        return;
    ptc_emit_key(params, "_meta");
    ptc_emit_object(params);
    for (size_t i = 0; i < CARRIED; i++)
        if (all[i].text.bytes)
            ptc_emit_field_text(params, all[i].name, all[i].text);
    ptc_emit_object_end(params);
}

void ptc_trace_carry_lines(const PtcTraceCarry *carry, const char parent[PTC_TRACE_PARENT],
                           PtcBuf *headers)
{
    Carried all[CARRIED];
    list_carried(carry, parent, all);
    for (size_t i = 0; i < CARRIED; i++)
        if (all[i].text.bytes)
            ptc_buf_addf(headers, "%s: %.*s\n", all[i].name, PTC_ARG(all[i].text));
}

void ptc_trace_carry_map(const PtcTraceCarry *carry, const char parent[PTC_TRACE_PARENT],
                         PtcHeap *heap, PtcValue *headers)
{
    Carried all[CARRIED];
    list_carried(carry, parent, all);
    for (size_t i = 0; i < CARRIED; i++) {
        if (!all[i].text.bytes)
            continue;
        if (*headers == PTC_NONE)
            *headers = ptc_fields_map(heap);
        if (*headers != PTC_NONE && ptc_map_field(heap, *headers, all[i].name) == PTC_NONE)
            ptc_fields_put_text(heap, headers, all[i].name, all[i].text);
    }
}
