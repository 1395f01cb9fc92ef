/* SPDX-License-Identifier: MIT
 * The ledger of a run: a line for each call that was counted, in the order in which they were made. */
#include <stdio.h>

#include "json/emit.h"
#include "upstream/serve_int.h"
#include "upstream/tool_result.h"

enum { FIRST_ROOM = 8, US = 1000 };

/* With run->lock held. */
static bool make_room(PtcUpRun *run)
{
    size_t cap = run->record_cap ? 2 * run->record_cap : FIRST_ROOM;
    if (run->record_count < run->record_cap)
        return true;
    PtcUpRecord *grown = ptc_mem_resize(run->mem, run->records, run->record_cap * sizeof *grown,
                                        cap * sizeof *grown);
    if (!grown)
        return false;
    run->records = grown;
    run->record_cap = cap;
    return true;
}

bool ptc_run_record(PtcUpCall *call)
{
    PtcUpRun *run = call->run;
    const PtcUpstream *up = ptc_run_upstream(run, call->slot);
    pthread_mutex_lock(&run->lock);
    bool ok = make_room(run);
    if (ok) {
        run->records[run->record_count++] =
            (PtcUpRecord){.server = up->entry.name,
                          .tool = call->seen ? call->seen->server.tools[call->tool].name
                                             : ptc_text_cstr(call->method),
                          .effect = call->effect,
                          .policy = call->policy,
                          .request_bytes = call->params.len};
        call->record = run->record_count;
    }
    pthread_mutex_unlock(&run->lock);
    return ok;
}

void ptc_run_record_end(PtcUpCall *call, const char *reason, const char *error, unsigned notes)
{
    PtcUpRun *run = call->run;
    if (!call->record)
        return;
    pthread_mutex_lock(&run->lock);
    PtcUpRecord *r = &run->records[call->record - 1];
    r->answered = true;
    r->reason = reason;
    r->notes = notes | (call->changed ? PTC_NOTE_TOOL_CHANGED : 0);
    r->attempts = call->attempts;
    r->effect = call->effect;
    r->result_bytes = call->reply.bytes;
    r->duration_ns = call->ended_ns - call->begun_ns;
    r->wait_ns = call->sent_ns ? call->sent_ns - call->begun_ns : r->duration_ns;
    snprintf(r->error, sizeof r->error, "%s", reason ? error : "");
    run->bytes += call->reply.bytes;
    pthread_mutex_unlock(&run->lock);
}

static void put_notes(PtcBuf *out, unsigned notes)
{
    if (!notes)
        return;
    ptc_emit_key(out, "notes");
    ptc_emit_array(out);
    for (unsigned i = 0; ptc_tool_result_notes[i]; i++)
        if (notes & (1u << i))
            ptc_emit_cstr(out, ptc_tool_result_notes[i]);
    ptc_emit_array_end(out);
}

static void put_record(PtcBuf *out, const PtcUpRecord *r, size_t id)
{
    ptc_emit_object(out);
    ptc_emit_field_uint(out, "id", id);
    ptc_emit_field_text(out, "server", r->server);
    ptc_emit_field_text(out, "tool", r->tool);
    ptc_emit_field_cstr(out, "status", !r->answered ? "unknown" : r->reason ? "error" : "ok");
    ptc_emit_key(out, "duration_ms");
    ptc_emit_double(out, (double)(r->duration_ns / US) / 1000.0);
    if (r->reason) {
        ptc_emit_field_cstr(out, "reason", r->reason);
        ptc_emit_field_cstr(out, "error", r->error);
    }
    ptc_emit_field_uint(out, "result_bytes", r->result_bytes);
    ptc_emit_field_uint(out, "request_bytes", r->request_bytes);
    ptc_emit_field_cstr(out, "effect", ptc_effect_name(r->effect.kind));
    ptc_emit_field_cstr(out, "policy", ptc_policy_name(r->policy));
    ptc_emit_field_uint(out, "attempts", r->attempts);
    ptc_emit_key(out, "wait_ms");
    ptc_emit_double(out, (double)(r->wait_ns / US) / 1000.0);
    put_notes(out, r->notes);
    ptc_emit_object_end(out);
}

void ptc_run_ledger(PtcUpRun *run, PtcBuf *out)
{
    ptc_emit_array(out);
    for (size_t i = 0; i < run->record_count; i++)
        put_record(out, &run->records[i], i + 1);
    ptc_emit_array_end(out);
}
