/* SPDX-License-Identifier: MIT
 * What a run did in other servers, for its answer: a member `effects`, and one line of text that says the same.  What
 * always holds: whoever reads that it may be run again can do so; where we do not know, we say so. */
#include "mcp/app/app_int.h"

#include "base/utf8.h"
#include "exec/effects_line.h"
#include "json/parse.h"
#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/str.h"

static PtcValue parse_effects_taken(PtcJob *job)
{
    PtcJsonError error;
    const PtcBuf *took = &job->out.took;
    PtcValue v = took->len ? ptc_json_parse(ptc_mcp_heap(job->call), took->data, took->len, &error)
                           : PTC_NONE;
    return v != PTC_NONE && ptc_is_map(v) ? v : PTC_NONE;
}

/* Tools of this server may have changed something as well; they do not say what. */
static PtcText run_again_text(PtcJob *job, PtcValue took)
{
    PtcValue v = ptc_map_field(ptc_mcp_heap(job->call), took, "run_again");
    PtcText said = v != PTC_NONE && ptc_is_string(v) ? ptc_str_text(v) : PTC_TEXT("unknown");
    return ptc_text_is(said, "safe") && job->out.effects ? PTC_TEXT("unknown") : said;
}

static bool is_effect_told(const PtcJob *job)
{
    return job->out.took.len && (!job->out.ok || job->out.took_any);
}

void ptc_job_effects(PtcJob *job, PtcBuf *json)
{
    PtcHeap *heap = ptc_mcp_heap(job->call);
    PtcValue took = is_effect_told(job) ? parse_effects_taken(job) : PTC_NONE;
    if (took == PTC_NONE)
        return;
    ptc_emit_key(json, "effects");
    ptc_emit_object(json);
    for (size_t i = 0; i < PTC_EFFECTS_LISTS; i++) {
        const char *key = ptc_effects_lists[i].key;
        PtcValue list = ptc_map_field(heap, took, key);
        if (list == PTC_NONE)
            continue;
        ptc_emit_key(json, key);
        ptc_emit_value(json, heap, list);
    }
    ptc_emit_field_text(json, "run_again", run_again_text(job, took));
    PtcValue unkept = ptc_map_field(heap, took, "not_kept");
    if (unkept != PTC_NONE && ptc_emit_key(json, "not_kept"))
        ptc_emit_value(json, heap, unkept);
    ptc_emit_object_end(json);
}

void ptc_job_effects_line(PtcJob *job, PtcBuf *text)
{
    PtcValue took = is_effect_told(job) ? parse_effects_taken(job) : PTC_NONE;
    if (took == PTC_NONE)
        return;
    ptc_buf_add_cstr(text, "\n[effects: ");
    ptc_effects_line_add(text, ptc_mcp_heap(job->call), took, run_again_text(job, took));
    ptc_buf_add_char(text, ']');
}

bool ptc_job_fail_effects(PtcJob *job, const char *reason, const char *text)
{
    PtcBuf line;
    ptc_buf_init(&line, ptc_mcp_mem(ptc_mcp_server(job->call)), 64 * PTC_KB);
    job->out.ok = false;
    ptc_job_effects_line(job, &line);
    ptc_job_end_run(job);
    ptc_job_fail(job, reason, "%s%.*s", text, PTC_ARG_OF(line.data, line.len));
    ptc_buf_deinit(&line);
    return false;
}
