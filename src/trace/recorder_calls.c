/* SPDX-License-Identifier: MIT
 * Calls of other servers in records and traces.  What always holds: what was asked, what came back and what was said of
 * a failure are payloads, of which the policy decides how much is shown. */
#include <string.h>

#include "json/emit.h"
#include "trace/recorder_int.h"
#include "value/calendar.h"
#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/str.h"

/* RING_TEXT: of each text of a call, since the ring holds many calls of programs that may each call a lot. */
enum { RING_TEXT = 256 };

static void put_call_member(PtcRecorder *r, PtcBuf *out, PtcCallLog *l, PtcText name,
                            PtcValue value, size_t max)
{
    const char *payload = ptc_call_log_payload(name);
    if (payload) {
        ptc_recorder_put_payload(r, out, payload, ptc_str_text(value), max);
        return;
    }
    ptc_emit_key_text(out, name);
    ptc_emit_value(out, &l->heap, value);
}

typedef enum { PUT_ALL, PUT_ASKED, PUT_REST } CallPart;

/* The members of a call, or those of one side of it. */
static void put_call_members(PtcRecorder *r, PtcBuf *out, PtcCallLog *l, size_t i, CallPart part)
{
    PtcValue key, value, call = ptc_seq_nth(l->calls, i);
    for (size_t pos = 0; ptc_is_map(call) && ptc_map_next(call, &pos, &key, &value);) {
        PtcText name = ptc_str_text(key);
        bool asked = ptc_call_log_is_asked(name);
        if (part == PUT_ALL || (!ptc_text_is(name, "id") && asked == (part == PUT_ASKED)))
            put_call_member(r, out, l, name, value, part == PUT_ALL ? RING_TEXT : PTC_RECORD_TEXT);
    }
}

void ptc_recorder_put_calls(PtcRecorder *r, PtcBuf *out, const PtcCallNote *n, PtcCallLog *l)
{
    PtcCallSums sums;
    if (l->count == 0)
        return;
    ptc_call_log_sum(l, &sums);
    ptc_emit_key(out, "upstream_calls");
    ptc_emit_array(out);
    for (size_t i = 0; i < l->count; i++) {
        ptc_emit_object(out);
        put_call_members(r, out, l, i, PUT_ALL);
        ptc_emit_object_end(out);
    }
    ptc_emit_array_end(out);
    ptc_call_log_put_metrics(out, &sums, n->answered_bytes, n->printed_bytes);
}

static void put_event(PtcRecorder *r, PtcBuf *out, PtcCallLog *l, size_t i, CallPart part)
{
    ptc_emit_object(out);
    ptc_emit_field_cstr(out, "event", part == PUT_ASKED ? "upstream.start" : "upstream.stop");
    ptc_emit_key(out, "id");
    ptc_buf_addf(out, "\"u%llu\"", (unsigned long long)ptc_call_log_number(l, i, "id"));
    put_call_members(r, out, l, i, part);
    ptc_emit_object_end(out);
    ptc_buf_add_char(out, '\n');
}

void ptc_recorder_put_events(PtcRecorder *r, PtcBuf *out, PtcCallLog *l)
{
    for (size_t i = 0; i < l->count; i++) {
        put_event(r, out, l, i, PUT_ASKED);
        put_event(r, out, l, i, PUT_REST);
    }
}
