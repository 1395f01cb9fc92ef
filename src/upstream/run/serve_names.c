/* SPDX-License-Identifier: MIT
 * Names in programs: which tool is meant, whether it may be called, and whether literal arguments fit.  Answered from
 * what is known; an upstream is asked only before a name would be refused, because what is on disk may be old. */
#include <stdio.h>

#include "base/text/nearest.h"
#include "json/emit.h"
#include "json/parse.h"
#include "tool/schema/type_text.h"
#include "upstream/catalog/naming.h"
#include "upstream/catalog/tool_doc.h"
#include "upstream/openapi/openapi_tools.h"
#include "upstream/run/arguments_check.h"
#include "upstream/run/serve_int.h"
#include "value/coll/fields.h"

/* ------------------------------------------------------------------------------------ names */

static void keep_nearest(PtcUpCall *call, PtcText near)
{
    size_t n = near.len < sizeof call->nearest - 1 ? near.len : 0;
    if (near.bytes)
        memcpy(call->nearest, near.bytes, n);
    call->nearest[n] = '\0';
}

static void refuse_several(PtcUpCall *call, const PtcListing *l, PtcText name,
                           const PtcNamed *named)
{
    PtcBuf list;
    ptc_buf_init(&list, call->run->mem, 300);
    for (size_t i = 0; i < named->several_count; i++)
        ptc_buf_addf(&list, "%s%.*s", i ? ", " : "", PTC_ARG(named->several[i]));
    PtcText all = ptc_buf_view(&list);
    (void)ptc_call_refuse(call, PTC_CALL_AMBIGUOUS, "%.*s/%.*s may be any of %.*s",
                          PTC_ARG(l->server.ns), PTC_ARG(name), PTC_ARG(all));
    ptc_buf_deinit(&list);
}

static void refuse_tool_name(PtcUpCall *call, PtcScratch *scratch, const PtcListing *l,
                             PtcText name, const PtcNamed *named)
{
    const PtcEntry *e = &ptc_run_upstream(call->run, call->slot)->entry;
    if (scratch->arena.failed) {
        (void)ptc_call_refuse(call, PTC_CALL_NO_MEMORY, "out of memory");
        return;
    }
    const char *why = l->document == PTC_NONE
                          ? NULL
                          : ptc_openapi_tools_why(&scratch->heap, l->document, e, name);
    if (why) {
        (void)ptc_call_refuse(call, PTC_CALL_UNKNOWN_TOOL, "%.*s does not offer %.*s: %s",
                              PTC_ARG(l->server.ns), PTC_ARG(name), why);
        return;
    }
    if (named->several) {
        refuse_several(call, l, name, named);
        return;
    }
    if (named->nearest.bytes)
        snprintf(call->nearest, sizeof call->nearest, "%.*s/%.*s", PTC_ARG(l->server.ns),
                 PTC_ARG(named->nearest));
    (void)ptc_call_refuse(call, PTC_CALL_UNKNOWN_TOOL, "%.*s has no tool %.*s%s%s%s",
                          PTC_ARG(l->server.ns), PTC_ARG(name),
                          call->nearest[0] ? "; did you mean " : "", call->nearest,
                          call->nearest[0] ? "?" : "");
}

static bool find_in_listing(PtcUpCall *call, PtcScratch *scratch, PtcListing *l, uint32_t slot,
                            PtcText name, PtcNamed *named)
{
    PtcCatalogServer server = l->server;
    PtcCatalog catalog = {.servers = &server, .count = 1};
    if (!ptc_naming_find(&scratch->arena, &catalog, server.ns, name, named) || !named->tool)
        return false;
    call->slot = slot;
    call->tool = (uint32_t)(named->tool - l->server.tools);
    call->seen = l;
    return true;
}

/* What is on disk counts only until the upstream has said itself what it has. */
PtcServeFind ptc_serve_find(PtcUpCall *call, PtcScratch *scratch, PtcText name, bool sure)
{
    PtcUpRun *run = call->run;
    uint32_t n = (uint32_t)run->manager->count, first = call->slot % n;
    PtcListing *then = ptc_run_view(run, first), *now = NULL;
    PtcNamed named = {0};
    if (!name.bytes)
        name = (PtcText){"", 0};
    if (!then || then->cached)
        now = ptc_run_view_later(run, first);
    if (then && !now && find_in_listing(call, scratch, then, first, name, &named))
        return PTC_FIND_OK;
    if (!now)
        now = ptc_run_view_later(run, first);
    if (now && find_in_listing(call, scratch, now, first + n, name, &named))
        return PTC_FIND_OK;
    if (!sure && !now && (!then || then->cached))
        return PTC_FIND_UNSURE;
    if (now || then)
        refuse_tool_name(call, scratch, now ? now : then, name, &named);
    else
        (void)ptc_call_refuse(call, PTC_CALL_UNAVAILABLE, "it has not listed its tools yet");
    return PTC_FIND_NOT;
}

void ptc_serve_nearest_server(PtcManager *m, PtcText ns, PtcBuf *nearest)
{
    PtcNearest near;
    ptc_nearest_init(&near, ns.bytes, ns.len);
    for (size_t i = 0; i < m->count; i++)
        ptc_nearest_offer(&near, m->upstreams[i].entry.ns.bytes, m->upstreams[i].entry.ns.len);
    if (near.best)
        ptc_buf_add(nearest, near.best, near.best_len);
}

/* ----------------------------------------------------------------------------------- lookup */

static bool refuse_server(PtcUpCall *call, PtcText ns)
{
    PtcManager *m = call->run->manager;
    PtcBuf near;
    ptc_buf_init(&near, call->run->mem, sizeof call->nearest - 1);
    ptc_serve_nearest_server(m, ns, &near);
    keep_nearest(call, ptc_buf_view(&near));
    ptc_buf_deinit(&near);
    return ptc_call_refuse(call, PTC_CALL_UNKNOWN_SERVER, "there is no upstream %.*s%s%s%s",
                           PTC_ARG(ns), call->nearest[0] ? "; did you mean " : "", call->nearest,
                           call->nearest[0] ? "?" : "");
}

static bool count_lookup(PtcUpCall *call)
{
    PtcUpRun *run = call->run;
    pthread_mutex_lock(&run->lock);
    bool fits = run->lookups++ < PTC_MANAGER_LOOKUPS;
    pthread_mutex_unlock(&run->lock);
    return fits ||
           ptc_call_refuse(call, PTC_CALL_CAP_EXHAUSTED,
                           "a program may name tools of upstreams %d times", PTC_MANAGER_LOOKUPS);
}

/* Would what is on disk alone have the call refused?  Then the upstream is asked first. */
static bool is_denied_by_cache(PtcUpCall *call, PtcScratch *scratch)
{
    const PtcUpstream *up = ptc_run_upstream(call->run, call->slot);
    const PtcListing *l = call->seen;
    if (!l->cached ||
        ptc_serve_decide(call->run, &scratch->heap, up, l, call->tool).decision == PTC_POLICY_ALLOW)
        return false;
    call->seen = NULL; /* so it is looked up again */
    return true;
}

bool ptc_serve_lookup_begin(PtcUpCall *call, PtcScratch *scratch, PtcValue in)
{
    PtcText ns = ptc_fields_text(&scratch->heap, in, "ns");
    PtcText name = ptc_fields_text(&scratch->heap, in, "name");
    if (!count_lookup(call))
        return false;
    int slot = ns.bytes ? ptc_serve_slot(call->run->manager, ns) : -1;
    if (slot < 0)
        return refuse_server(call, ns.bytes ? ns : (PtcText){"", 0});
    call->slot = (uint32_t)slot;
    PtcServeFind found = ptc_serve_find(call, scratch, name, false);
    return (found == PTC_FIND_UNSURE ||
            (found == PTC_FIND_OK && is_denied_by_cache(call, scratch))) &&
           ptc_call_await_listing(call);
}

/* What a person would have to write so that it may be called; a rule that denies wins over all others. */
static void put_rule(PtcBuf *out, const PtcUpRun *run, const PtcUpstream *up,
                     const PtcCatalogTool *tool, PtcPolicyOut policy)
{
    PtcWhy why;
    const PtcEntry *e = &up->entry;
    if (run->mode == PTC_REMOTE_ONLY_READS && policy.effect.kind != PTC_EFFECT_READ)
        ptc_why_say(&why, PTC_WHY_REFUSED, "its effect is %s, and this run may only read",
                    ptc_effect_name(policy.effect.kind));
    else if (policy.why == PTC_CALL_CANNOT_ASK)
        ptc_why_say(
            &why, PTC_WHY_REFUSED,
            "its effect is %s and nobody can be asked; \"%.*s\": \"allow\" in \"policy\" of %.*s "
            "allows it, and so does --allow %.*s/%.*s",
            ptc_effect_name(policy.effect.kind), PTC_ARG(ptc_text_cut(tool->name, 60)),
            PTC_ARG(ptc_text_cut(e->name, 40)), PTC_ARG(ptc_text_cut(e->ns, 40)),
            PTC_ARG(ptc_text_cut(tool->symbol, 60)));
    else if (policy.why == PTC_CALL_NO_MEMORY)
        ptc_why_no_memory(&why);
    else if (policy.detail)
        ptc_why_say(&why, PTC_WHY_REFUSED,
                    "%.200s; until it is mended, only reads of this server are called",
                    policy.detail);
    else if (ptc_serve_pins_allow(up->manager, &up->entry, tool, policy, &why))
        ptc_why_say(&why, PTC_WHY_REFUSED, "%s", ptc_serve_denied_by(policy));
    ptc_emit_field_cstr(out, "rule", why.text);
}

static void put_type(PtcUpRun *run, PtcHeap *heap, PtcBuf *out, const char *key, PtcValue root,
                     PtcValue schema)
{
    PtcBuf type;
    ptc_buf_init(&type, run->mem, PTC_TYPE_TEXT_BYTES);
    ptc_type_text_add_whole(&type, heap, root, schema, *key == 'g');
    ptc_emit_field_text(out, key, ptc_buf_view(&type));
    ptc_buf_end_part(out, &type);
}

static void put_seen(PtcUpCall *call, PtcBuf *out)
{
    PtcUpRun *run = call->run;
    PtcBuf seen;
    ptc_buf_init(&seen, run->mem, PTC_TYPE_TEXT_BYTES);
    if (ptc_serve_seen(run->manager, run->owner, ptc_run_upstream(run, call->slot), call->seen,
                       call->tool, &seen))
        ptc_emit_field_text(out, "seen", ptc_buf_view(&seen));
    ptc_buf_end_part(out, &seen);
}

static void put_found(PtcUpCall *call, PtcScratch *scratch, PtcBuf *out)
{
    PtcUpRun *run = call->run;
    PtcHeap *heap = &scratch->heap;
    PtcManager *m = run->manager;
    const PtcUpstream *up = ptc_run_upstream(run, call->slot);
    const PtcCatalogTool *tool = &call->seen->server.tools[call->tool];
    PtcPolicyOut policy = ptc_serve_decide(run, heap, up, call->seen, call->tool);
    PtcValue schema = ptc_map_field(heap, tool->definition, "inputSchema");
    ptc_emit_object(out);
    ptc_emit_field_uint(out, "slot", call->slot);
    ptc_emit_field_uint(out, "tool", call->tool);
    ptc_emit_field_uint(out, "version", call->slot < m->count ? run->version : 0);
    ptc_emit_field_text(out, "server", up->entry.name);
    ptc_emit_field_text(out, "name", tool->name);
    ptc_emit_field_text(out, "symbol", tool->symbol);
    ptc_emit_field_cstr(out, "effect", ptc_effect_name(policy.effect.kind));
    ptc_emit_field_cstr(out, "policy", ptc_policy_name(policy.decision));
    if (policy.decision == PTC_POLICY_DENY)
        put_rule(out, run, up, tool, policy);
    if (schema != PTC_NONE) {
        ptc_emit_key(out, "schema");
        ptc_emit_value(out, heap, schema);
        put_type(run, heap, out, "takes", schema, schema);
    }
    PtcValue root, result = ptc_tool_doc_result(heap, tool, &root);
    if (result != PTC_NONE)
        put_type(run, heap, out, "gives", root, result);
    put_seen(call, out);
    ptc_emit_object_end(out);
}

bool ptc_serve_lookup(PtcUpCall *call, PtcScratch *scratch, PtcBuf *out)
{
    PtcJsonError error;
    if (!call->reason && !call->seen) { /* it waited for the listing, which is there now */
        PtcText text = call->ask->text;
        PtcValue in = ptc_json_parse(&scratch->heap, text.bytes, text.len, &error);
        if (in == PTC_NONE ||
            ptc_serve_find(call, scratch, ptc_fields_text(&scratch->heap, in, "name"), true) !=
                PTC_FIND_OK)
            return ptc_serve_fail(call, out);
    }
    if (call->reason)
        return ptc_serve_fail(call, out);
    put_found(call, scratch, out);
    return true;
}

/* ------------------------------------------------------------------------------------ check */

#define NO_ISSUES "{\"issues\":[]}"

/* Where the upstream has the tool of the call; what is on disk counts while nothing else is known.  NULL: there is
 * none. */
static PtcListing *listing_now(PtcUpCall *call, size_t *tool)
{
    PtcListing *l = ptc_run_view(call->run, call->slot);
    if (!l || call->tool >= l->server.count)
        return NULL;
    *tool = call->tool;
    PtcListing *now = l->cached ? ptc_run_view_later(call->run, call->slot) : NULL;
    if (!now)
        return l;
    int n = ptc_listing_find(now, l->server.tools[call->tool].name);
    *tool = (size_t)n;
    return n < 0 ? NULL : now;
}

/* What takes too long is left to the call. */
static bool check_arguments(PtcUpCall *call, PtcScratch *scratch, PtcListing *l, size_t tool,
                            PtcBuf *out)
{
    PtcRunCheck check;
    PtcValue schema =
        ptc_map_field(&scratch->heap, l->server.tools[tool].definition, "inputSchema");
    ptc_run_check_begin(&check, call, l, tool, false);
    PtcArgumentsIn in = {
        .schema = schema, .compiled = check.schema, .checks = &check.budget, .root = schema};
    bool checked = ptc_arguments_check(&scratch->heap, in, call->ask->text, out);
    (void)ptc_run_check_end(&check, &scratch->budget, false);
    return checked && ptc_fields_ok(&scratch->heap);
}

/* What is on disk alone refuses nothing: the upstream is asked first. */
bool ptc_serve_check_begin(PtcUpCall *call, PtcScratch *scratch)
{
    size_t tool;
    PtcBuf issues;
    PtcListing *l = listing_now(call, &tool);
    if (!l || !l->cached)
        return false;
    ptc_buf_init(&issues, call->run->mem, 64 * PTC_KB);
    bool none = check_arguments(call, scratch, l, tool, &issues) &&
                ptc_text_is(ptc_buf_view(&issues), NO_ISSUES);
    ptc_buf_deinit(&issues);
    return !none && ptc_call_await_listing(call);
}

bool ptc_serve_check(PtcUpCall *call, PtcScratch *scratch, PtcBuf *out)
{
    size_t tool;
    PtcListing *l = listing_now(call, &tool);
    if (!l && !call->reason)
        (void)ptc_call_refuse(call, PTC_CALL_UNKNOWN_TOOL, "there is no such tool");
    if (call->reason)
        return ptc_serve_fail(call, out);
    if (!check_arguments(call, scratch, l, tool, out))
        out->failed = true;
    return true;
}
