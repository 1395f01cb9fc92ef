/* SPDX-License-Identifier: MIT
 * What a run has done in other servers, for whoever has to decide whether it may be run again.  Tools are named with
 * the number of their calls, in the order in which they were first called. */
#include <stdio.h>

#include "base/buf.h"
#include "base/text/clean.h"
#include "json/emit.h"
#include "upstream/catalog/quoted.h"
#include "upstream/run/serve_int.h"

enum { EFFECTS_NAMED = 20, EFFECTS_NAME_BYTES = 200 };

/* A tool that policy refused. */
typedef struct PtcUpDenied {
    struct PtcUpDenied *next;
    PtcText server, tool;
    size_t times;
} PtcUpDenied;

void ptc_run_denied(PtcUpCall *call, const PtcCatalogTool *tool)
{
    PtcUpRun *run = call->run;
    PtcText server = ptc_run_upstream(run, call->slot)->entry.name;
    PtcUpDenied **at = &run->denied, *found;
    if (call->denied)
        return;
    call->denied = true;
    pthread_mutex_lock(&run->denied_lock);
    while ((found = *at) &&
           !(ptc_text_same(found->server, server) && ptc_text_same(found->tool, tool->name)))
        at = &found->next;
    if (!found && (found = ptc_mem_alloc(run->mem, sizeof *found)))
        *found = (PtcUpDenied){.server = server, .tool = tool->name};
    if (found) {
        found->times++;
        *at = found;
    }
    pthread_mutex_unlock(&run->denied_lock);
}

void ptc_run_free_denied(PtcUpRun *run)
{
    for (PtcUpDenied *d; (d = run->denied);) {
        run->denied = d->next;
        ptc_mem_free(run->mem, d, sizeof *d);
    }
}

void ptc_run_save_denied(PtcUpRun *run, PtcBuf *out)
{
    pthread_mutex_lock(&run->denied_lock);
    for (const PtcUpDenied *d = run->denied; d; d = d->next) {
        ptc_pack_text(out, d->server);
        ptc_pack_text(out, d->tool);
        ptc_pack_i64(out, (int64_t)d->times);
    }
    pthread_mutex_unlock(&run->denied_lock);
    ptc_pack_text(out, (PtcText){NULL, 0});
}

/* An absent name ends them. */
void ptc_run_restore_denied(PtcUpRun *run, PtcPackedReader *in)
{
    for (PtcUpDenied **at = &run->denied; !in->bad; at = &(*at)->next) {
        PtcPackedReader ahead = *in;
        if (!ptc_unpack_text(&ahead).bytes) {
            *in = ahead;
            return;
        }
        PtcText server = ptc_run_own_text(run, in), tool = ptc_run_own_text(run, in);
        int64_t times = ptc_unpack_upto(in, INT32_MAX);
        PtcUpDenied *d = in->bad ? NULL : ptc_mem_alloc(run->mem, sizeof *d);
        in->bad = in->bad || !d;
        if (!d)
            return;
        *d = (PtcUpDenied){.server = server, .tool = tool, .times = (size_t)times};
        *at = d;
    }
}

/* ------------------------------------------------------------------------------- what it did */

/* An answer that we cannot use is an answer all the same.  A service that answers 4xx has not done what it was asked
 * for; an MCP tool that says it failed may have done a part of it. */
PtcUpDid ptc_run_did(const PtcUpCall *call, PtcCallReason reason)
{
    const PtcLinkReply *reply = &call->reply;
    bool failed = reason == PTC_CALL_TOOL_ERROR;
    if (!call->sent_ns || reason == PTC_CALL_INPUT_REQUIRED)
        return PTC_DID_NOTHING; /* it has asked instead of doing anything */
    if (reply->end == PTC_LINK_ANSWER)
        return failed && ptc_run_upstream(call->run, call->slot)->entry.openapi ? PTC_DID_FAIL
               : failed || call->reason                                         ? PTC_DID_UNKNOWN
                                                                                : PTC_DID_RUN;
    if (reply->end == PTC_LINK_ERROR)
        return PTC_DID_FAIL;
    if (reply->end == PTC_LINK_HTTP_FAULT && reply->status < 500)
        return reply->status == 401 || reply->status == 407 || reply->status == 429
                   ? PTC_DID_NOTHING
                   : PTC_DID_FAIL;
    return reply->delivered ? PTC_DID_UNKNOWN : PTC_DID_NOTHING;
}

static PtcUpDid did_of(const PtcUpRecord *r)
{
    if (r->effect.kind == PTC_EFFECT_READ)
        return PTC_DID_NOTHING;
    return !r->answered && r->attempts ? PTC_DID_UNKNOWN : r->did;
}

static bool same_tool(const PtcUpRecord *a, const PtcUpRecord *b)
{
    return ptc_text_same(a->server, b->server) && ptc_text_same(a->tool, b->tool);
}

/* Has a name nothing that the line around it is made of? */
static bool is_one_word(PtcText name)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./";
    for (size_t i = 0; i < name.len; i++)
        if (!memchr(plain, name.bytes[i], sizeof plain - 1))
            return false;
    return true;
}

static void put_effect_name(PtcBuf *out, PtcMem *mem, PtcText server, PtcText tool, size_t times)
{
    PtcBuf name;
    ptc_buf_init(&name, mem, 16 * EFFECTS_NAME_BYTES);
    ptc_clean_add(&name, server, EFFECTS_NAME_BYTES, false);
    ptc_buf_add_char(&name, '/');
    if (is_one_word(tool))
        ptc_clean_add(&name, tool, EFFECTS_NAME_BYTES, false);
    else
        ptc_quoted_add(&name, tool, EFFECTS_NAME_BYTES);
    ptc_emit_object(out);
    ptc_emit_field_text(out, "name", ptc_buf_view(&name));
    ptc_emit_field_uint(out, "times", times);
    ptc_emit_object_end(out);
    ptc_buf_end_part(out, &name);
}

/* Calls of the tool of record i with this outcome, unless an earlier record has already counted them. */
static size_t count_tool_calls(const PtcUpRun *run, size_t i, PtcUpDid which)
{
    size_t n = 0;
    for (size_t k = 0; k < run->record_count; k++) {
        const PtcUpRecord *r = &run->records[k];
        if (did_of(r) != which || !same_tool(r, &run->records[i]))
            continue;
        if (k < i)
            return 0;
        n++;
    }
    return n;
}

static bool put_list(const PtcUpRun *run, PtcBuf *out, const char *key, PtcUpDid which)
{
    size_t told = 0;
    for (size_t i = 0; i < run->record_count && told < EFFECTS_NAMED; i++) {
        size_t n = did_of(&run->records[i]) == which ? count_tool_calls(run, i, which) : 0;
        if (n == 0)
            continue;
        if (told++ == 0) {
            ptc_emit_key(out, key);
            ptc_emit_array(out);
        }
        put_effect_name(out, run->mem, run->records[i].server, run->records[i].tool, n);
    }
    if (told)
        ptc_emit_array_end(out);
    return told > 0;
}

static bool put_denied(PtcUpRun *run, PtcBuf *out)
{
    size_t told = 0;
    pthread_mutex_lock(&run->denied_lock);
    if (run->denied) {
        ptc_emit_key(out, "denied");
        ptc_emit_array(out);
    }
    for (const PtcUpDenied *d = run->denied; d && told < EFFECTS_NAMED; d = d->next, told++)
        put_effect_name(out, run->mem, d->server, d->tool, d->times);
    pthread_mutex_unlock(&run->denied_lock);
    if (told)
        ptc_emit_array_end(out);
    return told > 0;
}

/* What may be done twice without harm counts as nothing. */
static const char *run_again_advice(const PtcUpRun *run)
{
    bool unknown = false;
    for (size_t i = 0; i < run->record_count; i++) {
        const PtcUpRecord *r = &run->records[i];
        PtcUpDid did = r->effect.idempotent ? PTC_DID_NOTHING : did_of(r);
        if (did == PTC_DID_RUN)
            return "unsafe";
        unknown = unknown || did != PTC_DID_NOTHING;
    }
    return unknown ? "unknown" : "safe";
}

bool ptc_run_effects(void *user, PtcBuf *out)
{
    PtcUpRun *run = user;
    pthread_mutex_lock(&run->lock);
    ptc_emit_object(out);
    bool any = put_list(run, out, "ran", PTC_DID_RUN);
    any = put_list(run, out, "failed", PTC_DID_FAIL) || any;
    any = put_list(run, out, "unknown", PTC_DID_UNKNOWN) || any;
    any = put_denied(run, out) || any;
    ptc_emit_field_cstr(out, "run_again", run_again_advice(run));
    if (run->unkept.class != PTC_WHY_NONE)
        ptc_emit_field_cstr(out, "not_kept", run->unkept.text);
    ptc_emit_object_end(out);
    pthread_mutex_unlock(&run->lock);
    return any;
}
