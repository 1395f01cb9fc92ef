/* SPDX-License-Identifier: MIT
 * A call of a tool, up to the moment it is sent: is it there, may it be called, do its arguments fit, does the run have
 * calls left.  All of it is checked here, in the process that has the credentials, whatever was checked before. */
#include <stdio.h>

#include "base/text/one_line.h"
#include "json/emit.h"
#include "json/parse.h"
#include "upstream/connect/inquiry.h"
#include "upstream/connect/mcp_headers.h"
#include "upstream/run/arguments.h"
#include "upstream/run/serve_int.h"
#include "value/coll/fields.h"

enum { CALL_BYTES = 64 * PTC_MB };

/* ----------------------------------------------------------------------------------- policy */

static bool are_pins_kept(const PtcManager *m, PtcWhy *why)
{
    return m->pins ? ptc_pins_kept(m->pins, why)
                   : ptc_why_say(why, PTC_WHY_UNAVAILABLE,
                                 "there is no place for pins: set HOME or XDG_STATE_HOME");
}

/* Has it changed since it was pinned, and nobody has approved that? */
static bool serve_is_changed(PtcManager *m, const PtcUpstream *up, const PtcListing *l, size_t tool)
{
    return m->pins && !up->entry.no_pins &&
           ptc_pins_changed(m->pins, ptc_upstream_pinned(up), (PtcListing *)l, tool) != 0;
}

/* With "pin": "strict" a tool must be as it was pinned, and that must be known, also to whoever is asked tomorrow. */
static PtcCallReason why_blocked(PtcManager *m, const PtcUpstream *up, const PtcListing *l,
                                 size_t tool)
{
    return !up->entry.pin_strict              ? PTC_CALL_WELL
           : !are_pins_kept(m, NULL)          ? PTC_CALL_BY_MISSING_PIN
           : serve_is_changed(m, up, l, tool) ? PTC_CALL_BY_PIN
                                              : PTC_CALL_WELL;
}

PtcPolicyOut ptc_serve_policy(const PtcUpRun *run, PtcHeap *heap, const PtcUpstream *up,
                              const PtcListing *l, size_t tool)
{
    PtcManager *m = run->manager;
    bool only_reads = run->mode == PTC_REMOTE_ONLY_READS;
    const PtcCatalogTool *t = &l->server.tools[tool];
    PtcPolicyIn in = {.server = {up->entry.name, up->entry.ns, {NULL, 0}},
                      .tool = ptc_listing_spelt_tool(heap, &up->entry, t),
                      .annotations = ptc_map_field(heap, t->definition, "annotations"),
                      .was = PTC_NONE,
                      .effects = up->entry.effects,
                      .upstream_policy = up->entry.policy,
                      .file_policy = m->config.policy,
                      .posture = only_reads ? PTC_POSTURE_READ_ONLY : m->config.posture,
                      .distrust = up->entry.distrust,
                      .approved = m->config.approved,
                      .cannot_ask = only_reads || run->mode == PTC_REMOTE_REFUSES ||
                                    run->mode == PTC_REMOTE_GRANTED};
    PtcPolicyOut out =
        !m->pins || up->entry.no_pins
            ? ptc_policy_decide(heap, &in)
            : ptc_pins_decide(m->pins, ptc_upstream_pinned(up), (PtcListing *)l, tool, heap, &in);
    PtcCallReason why = why_blocked(m, up, l, tool);
    if (why)
        return (PtcPolicyOut){out.effect, PTC_POLICY_DENY, why, NULL};
    /* One of its tools was to be denied, and nobody knows which. */
    if (l->misspelt && out.effect.kind != PTC_EFFECT_READ && out.decision != PTC_POLICY_DENY)
        return (PtcPolicyOut){out.effect, PTC_POLICY_DENY, PTC_CALL_BY_RULE, l->misspelt};
    return out;
}

bool ptc_serve_pins_allow(PtcManager *m, const PtcEntry *e, const PtcCatalogTool *tool,
                          PtcPolicyOut policy, PtcWhy *why)
{
    char word[PTC_ONE_LINE_WORD];
    ptc_why_init(why);
    if (policy.why == PTC_CALL_BY_MISSING_PIN) {
        (void)are_pins_kept(m, why); /* they may be kept by now */
        return ptc_why_prefix(why, "what it was cannot be known: ");
    }
    if (policy.why != PTC_CALL_BY_CHANGE && policy.why != PTC_CALL_BY_PIN)
        return true;
    return ptc_why_say(why, PTC_WHY_REFUSED,
                       "it has changed since it was pinned; ptc upstreams pins shows how, ptc "
                       "upstreams approve %s accepts it as it is",
                       ptc_one_line_word(word, e->name, tool->name));
}

const char *ptc_serve_denied_by(PtcPolicyOut policy)
{
    return policy.why == PTC_CALL_BY_POSTURE
               ? "only reads are allowed here (--upstreams-policy read-only)"
               : "a rule of this machine denies it";
}

static bool deny(PtcUpCall *call, const PtcCatalogTool *tool, PtcPolicyOut policy)
{
    const PtcEntry *e = &ptc_run_upstream(call->run, call->slot)->entry;
    PtcWhy pin;
    if (policy.why == PTC_CALL_NO_MEMORY)
        return ptc_call_refuse(call, PTC_CALL_NO_MEMORY, "out of memory");
    ptc_run_denied(call, tool);
    if (policy.detail)
        return ptc_call_refuse(call, PTC_CALL_DENIED,
                               "%.*s/%.*s may not be called: %s; until it is mended, only reads of "
                               "this server are called",
                               PTC_ARG(e->ns), PTC_ARG(tool->symbol), policy.detail);
    if (!ptc_serve_pins_allow(call->run->manager, e, tool, policy, &pin))
        return ptc_call_refuse(call, PTC_CALL_DENIED, "%.*s/%.*s may not be called: %s",
                               PTC_ARG(e->ns), PTC_ARG(tool->symbol), pin.text);
    if (call->run->mode == PTC_REMOTE_ONLY_READS && policy.effect.kind != PTC_EFFECT_READ)
        return ptc_call_refuse(call, PTC_CALL_DENIED,
                               "%.*s/%.*s may not be called: its effect is %s, and this run may "
                               "only read",
                               PTC_ARG(e->ns), PTC_ARG(tool->symbol),
                               ptc_effect_name(policy.effect.kind));
    if (policy.decision == PTC_POLICY_DENY && policy.why != PTC_CALL_CANNOT_ASK)
        return ptc_call_refuse(call, PTC_CALL_DENIED, "%.*s/%.*s may not be called: %s",
                               PTC_ARG(e->ns), PTC_ARG(tool->symbol), ptc_serve_denied_by(policy));
    return ptc_call_refuse(
        call, PTC_CALL_DENIED,
        "%.*s/%.*s may not be called: its effect is %s, and a person would have to approve it; "
        "\"%.*s\": \"allow\" in \"policy\" of %.*s allows it, and so does --allow %.*s/%.*s",
        PTC_ARG(e->ns), PTC_ARG(tool->symbol), ptc_effect_name(policy.effect.kind),
        PTC_ARG(tool->name), PTC_ARG(e->name), PTC_ARG(e->ns), PTC_ARG(tool->symbol));
}

static bool gone(PtcUpCall *call, const PtcCatalogTool *tool)
{
    const PtcEntry *e = &ptc_run_upstream(call->run, call->slot)->entry;
    return ptc_call_refuse(call, PTC_CALL_BAD_ANSWER, "%.*s no longer has the tool %.*s",
                           PTC_ARG(e->name), PTC_ARG(tool->name));
}

/* Consent was given to what the tool was, and a request to a service was made of what the document was. */
static bool refuse_changed_tool(PtcUpCall *call, const PtcCatalogTool *tool)
{
    ptc_run_denied(call, tool);
    return ptc_call_refuse(call, PTC_CALL_DENIED,
                           "%.*s was changed by its server after %s; run the program again%s",
                           PTC_ARG(tool->name),
                           call->approved ? "it was asked about, so the answer no longer counts"
                                          : "this program began",
                           call->approved ? " to be asked again" : "");
}

/* What the run saw may be older than what the upstream says now; the stricter of the two holds. */
bool ptc_serve_may_send(PtcUpCall *call)
{
    PtcManager *m = call->run->manager;
    PtcUpstream *up = ptc_run_upstream(call->run, call->slot);
    const PtcListing *seen = call->seen, *now = up->listing;
    if (call->op == PTC_REMOTE_RESOURCE || !seen || !now || seen == now)
        return true;
    const PtcCatalogTool *tool = &seen->server.tools[call->tool];
    int n = ptc_listing_find(now, tool->name);
    if (n < 0)
        return gone(call, tool);
    PtcPolicyOut policy = ptc_serve_policy(call->run, &m->scratch.heap, up, now, (size_t)n);
    call->changed = call->changed || serve_is_changed(m, up, now, (size_t)n);
    if ((call->approved || up->entry.openapi) &&
        ptc_serve_redefined(call, &m->scratch.heap, now, (size_t)n))
        return refuse_changed_tool(call, tool);
    bool asks = policy.decision == PTC_POLICY_ASK || policy.why == PTC_CALL_CANNOT_ASK;
    if (policy.decision == PTC_POLICY_ALLOW || (asks && call->approved)) {
        call->effect = ptc_effect_stricter(call->effect, policy.effect);
        return true;
    }
    return deny(call, tool, policy);
}

/* ------------------------------------------------------------------------------------- caps */

static bool count_run_call(PtcUpCall *call)
{
    PtcUpRun *run = call->run;
    const PtcManagerConfig *config = &run->manager->config;
    pthread_mutex_lock(&run->lock);
    bool calls = run->made < config->calls, bytes = run->bytes < config->bytes;
    run->made += calls && bytes;
    pthread_mutex_unlock(&run->lock);
    if (!calls)
        return ptc_call_refuse(call, PTC_CALL_CAP_EXHAUSTED,
                               "a program may call upstreams %zu time%s", config->calls,
                               config->calls == 1 ? "" : "s");
    return bytes ||
           ptc_call_refuse(call, PTC_CALL_CAP_EXHAUSTED,
                           "a program may receive %zu bytes from upstreams", config->bytes);
}

/* -------------------------------------------------------------------------------- arguments */

bool ptc_serve_refuse_arguments(PtcUpCall *call, const PtcArgumentIssues *issues)
{
    if (issues->count == 0)
        return ptc_call_refuse(call, PTC_CALL_UNAVAILABLE,
                               "its arguments could not be checked in time, or ptc is out of "
                               "memory");
    const PtcArgumentIssue *first = &issues->items[0];
    return ptc_call_refuse(call, PTC_CALL_INVALID_ARGS, "%s: %s%s%s%s%s",
                           first->path[0] ? first->path : "arguments", first->message,
                           first->nearest[0] ? "; did you mean " : "", first->nearest,
                           first->nearest[0] ? "?" : "", issues->count > 1 ? " (and more)" : "");
}

/* Headers that the schema wants to see; those of the protocol are the client's own. */
static bool put_headers(PtcUpCall *call, PtcHeap *heap, PtcText tool, PtcValue schema,
                        PtcValue args)
{
    PtcValue key, value, headers = ptc_mcp_headers(heap, tool, schema, args);
    for (size_t pos = 0; headers != PTC_NONE && ptc_map_next(headers, &pos, &key, &value);) {
        PtcText name = ptc_str_text(key), text = ptc_str_text(value);
        if (!ptc_text_starts(name, "mcp-param-"))
            continue;
        ptc_buf_add(&call->headers, name.bytes, name.len);
        ptc_buf_add_cstr(&call->headers, ": ");
        ptc_buf_add(&call->headers, text.bytes, text.len);
        ptc_buf_add_char(&call->headers, '\n');
    }
    return headers != PTC_NONE && ptc_buf_ok(&call->headers);
}

static bool put_call_request(PtcUpCall *call, PtcScratch *scratch, const PtcCatalogTool *tool,
                             PtcValue args)
{
    PtcBuf json;
    ptc_buf_init(&json, call->run->mem, PTC_ARGUMENTS_BYTES);
    ptc_emit_value(&json, &scratch->heap, args);
    bool large = json.full;
    ptc_buf_deinit(&json);
    if (large)
        return ptc_call_refuse(call, PTC_CALL_INVALID_ARGS, "the arguments have more than 1 MiB");
    return ptc_serve_request(call, scratch, tool->definition, args);
}

/* The arguments as the tool wants them; PTC_NONE: refused.  For a run that has ended meanwhile nothing is sent. */
static PtcValue fit_call_arguments(PtcUpCall *call, PtcScratch *scratch, PtcValue schema,
                                   PtcValue args)
{
    PtcRunCheck check;
    PtcArgumentIssues issues; /* 10 KiB: only its count is ever cleared */
    ptc_run_check_begin(&check, call, call->seen, call->tool, false);
    PtcArgumentsIn in = {.schema = schema,
                         .compiled = check.schema,
                         .checks = &check.budget,
                         .root = schema,
                         .args = args};
    PtcValue sent = ptc_arguments_fit(&scratch->heap, &in, &issues);
    call->notes |= ptc_run_check_end(&check, &scratch->budget, true);
    if (check.budget.stop != PTC_STOP_NONE && !check.late)
        ptc_budget_halt(&scratch->budget, check.budget.stop);
    if (sent == PTC_NONE || !ptc_fields_ok(&scratch->heap)) {
        (void)ptc_serve_refuse_arguments(call, &issues);
        return PTC_NONE;
    }
    return sent;
}

static bool put_params(PtcUpCall *call, PtcScratch *scratch, const PtcCatalogTool *tool,
                       PtcValue args)
{
    PtcHeap *heap = &scratch->heap;
    PtcValue schema = ptc_map_field(heap, tool->definition, "inputSchema");
    PtcValue sent = fit_call_arguments(call, scratch, schema, args);
    if (sent == PTC_NONE)
        return false;
    if (ptc_run_upstream(call->run, call->slot)->entry.openapi)
        return put_call_request(call, scratch, tool, sent);
    ptc_emit_object(&call->params);
    ptc_emit_field_text(&call->params, "name", tool->name);
    ptc_emit_key(&call->params, "arguments");
    call->args_at = call->params.len;
    ptc_emit_value(&call->params, heap, sent);
    call->args_len = call->params.len - call->args_at;
    if (call->args_len > PTC_ARGUMENTS_BYTES)
        return ptc_call_refuse(call, PTC_CALL_INVALID_ARGS, "the arguments have more than 1 MiB");
    char parent[PTC_TRACE_PARENT];
    ptc_trace_carry_next(&call->run->trace, parent, call->span);
    ptc_trace_carry_meta(&call->run->trace, parent, &call->params);
    if (!ptc_inquiry_put_input(call))
        return false;
    ptc_emit_object_end(&call->params);
    bool web = ptc_run_upstream(call->run, call->slot)->entry.web;
    if (web)
        ptc_trace_carry_lines(&call->run->trace, parent, &call->headers);
    if ((web && !put_headers(call, heap, tool->name, schema, sent)) || !ptc_buf_ok(&call->params))
        return ptc_call_refuse(call, PTC_CALL_NO_MEMORY, "out of memory");
    return true;
}

/* ------------------------------------------------------------------------------------- send */

static bool send_call(PtcUpCall *call)
{
    PtcUpRun *run = call->run;
    PtcManager *m = run->manager;
    const PtcEntry *e = &ptc_run_upstream(run, call->slot)->entry;
    if (!count_run_call(call))
        return false;
    if (!ptc_run_record(call))
        return ptc_call_refuse(call, PTC_CALL_NO_MEMORY, "out of memory");
    call->end_ns = ptc_clock_ns(NULL) + e->call_ms * PTC_MS;
    if (call->end_ns > run->deadline_ns)
        call->end_ns = run->deadline_ns;
    pthread_mutex_lock(&m->lock);
    bool sent = ptc_call_attach(call);
    if (sent) {
        ptc_queue_call(call);
        ptc_inquiry_hold(call);
    }
    pthread_mutex_unlock(&m->lock);
    return sent;
}

/* The call with what the upstream has listed itself, where that is known and the run began with what was on disk. */
static bool take_later(PtcUpCall *call, PtcListing **l)
{
    PtcUpRun *run = call->run;
    PtcListing *now = (*l)->cached ? ptc_run_view_later(run, call->slot) : NULL;
    const PtcCatalogTool *tool = &(*l)->server.tools[call->tool];
    if (!now)
        return true;
    int n = ptc_listing_find(now, tool->name);
    call->seen = *l;
    call->method = "tools/call";
    if (n < 0)
        return gone(call, tool);
    call->slot = call->slot % (uint32_t)run->manager->count + (uint32_t)run->manager->count;
    call->tool = (uint32_t)n;
    *l = now;
    return true;
}

static bool prepare_tool_call(PtcUpCall *call, PtcScratch *scratch, PtcListing *l, PtcValue args)
{
    PtcUpRun *run = call->run;
    const PtcCatalogTool *tool = &l->server.tools[call->tool];
    PtcPolicyOut policy =
        ptc_serve_decide(run, &scratch->heap, ptc_run_upstream(run, call->slot), l, call->tool);
    call->seen = l;
    call->method = "tools/call";
    call->effect = policy.effect;
    call->policy = policy.decision;
    call->changed =
        serve_is_changed(run->manager, ptc_run_upstream(run, call->slot), l, call->tool);
    call->approved = policy.why == PTC_CALL_BY_APPROVAL;
    if (policy.decision == PTC_POLICY_DENY)
        return deny(call, tool, policy);
    return put_params(call, scratch, tool, args) && ptc_serve_approved(call, scratch, policy);
}

/* What is on disk alone refuses nothing: forgets what it refused, and waits for the upstream to say it. */
static bool ask_upstream(PtcUpCall *call)
{
    ptc_serve_not_aside(call);
    call->reason = PTC_CALL_WELL;
    call->message[0] = '\0';
    call->seen = NULL;
    call->method = NULL;
    ptc_buf_clear(&call->params);
    ptc_buf_clear(&call->headers);
    ptc_buf_clear(&call->web.url);
    ptc_buf_clear(&call->web.auth);
    return ptc_call_await_listing(call);
}

bool ptc_serve_call(PtcUpCall *call, PtcScratch *scratch, PtcValue args)
{
    PtcListing *l = ptc_run_view(call->run, call->slot);
    if (!l || call->tool >= l->server.count)
        return ptc_call_refuse(call, PTC_CALL_BAD_ANSWER, "there is no such tool");
    if (!take_later(call, &l))
        return false;
    /* What is sent to a service comes from its document, so nothing is sent by one of an earlier day. */
    bool sure = !l->cached || !ptc_run_upstream(call->run, call->slot)->entry.openapi;
    if (sure && prepare_tool_call(call, scratch, l, args))
        return send_call(call);
    if (!l->cached || !ptc_fields_ok(&scratch->heap))
        return false;
    if (ask_upstream(call))
        return true;
    return !call->reason && take_later(call, &l) && prepare_tool_call(call, scratch, l, args) &&
           send_call(call);
}

/* ---------------------------------------------------------------------------------- by name */

int ptc_serve_slot(PtcManager *m, PtcText server)
{
    for (size_t i = 0; i < m->count; i++)
        if (ptc_text_same(m->upstreams[i].entry.name, server))
            return (int)i;
    return ptc_run_slot(m, server);
}

static bool find_slot(PtcUpCall *call, PtcScratch *scratch, PtcValue in)
{
    PtcText server = ptc_fields_text(&scratch->heap, in, "server");
    int slot = server.bytes ? ptc_serve_slot(call->run->manager, server) : -1;
    if (slot < 0)
        return ptc_call_refuse(call, PTC_CALL_UNAVAILABLE, "there is no upstream \"%.*s\"",
                               PTC_ARG(server));
    call->slot = (uint32_t)slot;
    return true;
}

bool ptc_serve_call_named(PtcUpCall *call, PtcScratch *scratch, PtcValue in)
{
    PtcText name = ptc_fields_text(&scratch->heap, in, "tool");
    PtcValue args = ptc_map_field(&scratch->heap, in, "args");
    call->raw = ptc_fields_is(&scratch->heap, in, "raw", PTC_TRUE);
    if (!find_slot(call, scratch, in))
        return false;
    PtcServeFind found = ptc_serve_find(call, scratch, name, false);
    if (found == PTC_FIND_UNSURE) {
        if (ptc_call_await_listing(call))
            return true;
        if (!call->reason)
            found = ptc_serve_find(call, scratch, name, true);
    }
    return found == PTC_FIND_OK && ptc_serve_call(call, scratch, args == PTC_NONE ? PTC_NIL : args);
}

static bool go_on_with_call(PtcUpCall *call, PtcScratch *scratch)
{
    PtcJsonError error;
    PtcValue in =
        ptc_json_parse(&scratch->heap, call->ask->text.bytes, call->ask->text.len, &error);
    if (in == PTC_NONE)
        return ptc_call_refuse(call, PTC_CALL_NO_MEMORY, "out of memory");
    switch (call->ask->op) {
    case PTC_REMOTE_CALL: return ptc_serve_call(call, scratch, in);
    case PTC_REMOTE_LOOK: return ptc_serve_look_on(call, scratch, in);
    default: return ptc_serve_call_named(call, scratch, in);
    }
}

void ptc_serve_go_on(PtcUpCall *list)
{
    for (PtcUpCall *call = list, *next; call; call = next) {
        PtcScratch scratch;
        PtcManager *m = call->run->manager;
        next = call->next;
        ptc_scratch_init(&scratch, m->mem, CALL_BYTES);
        ptc_scratch_hurry(&scratch);
        ptc_run_hurry(call->run, &scratch);
        bool later = go_on_with_call(call, &scratch);
        ptc_scratch_deinit(&scratch);
        if (later)
            continue;
        pthread_mutex_lock(&m->lock);
        ptc_queue_answer(call);
        pthread_mutex_unlock(&m->lock);
    }
}

/* -------------------------------------------------------------------------------- resources */

/* Reading a resource changes nothing, but rules apply to it as to a tool of this name.  Nobody is asked: there is no
 * definition that an approval could be for. */
static bool may_read(PtcUpCall *call, PtcHeap *heap)
{
    static const PtcCatalogTool read = {.name = {"resources/read", 14}};
    const PtcManager *m = call->run->manager;
    const PtcEntry *e = &ptc_run_upstream(call->run, call->slot)->entry;
    PtcValue hints = ptc_fields_map(heap);
    ptc_fields_put(heap, &hints, "readOnlyHint", PTC_TRUE);
    PtcPolicyIn in = {.server = {e->name, e->ns, {NULL, 0}},
                      .tool = {.raw = read.name},
                      .annotations = hints,
                      .was = PTC_NONE,
                      .effects = e->effects,
                      .upstream_policy = e->policy,
                      .file_policy = m->config.policy,
                      .posture = m->config.posture,
                      .approved = m->config.approved,
                      .cannot_ask = true};
    PtcPolicyOut policy = ptc_policy_decide(heap, &in);
    call->policy = policy.decision;
    if (policy.decision == PTC_POLICY_ALLOW)
        return true;
    ptc_run_denied(call, &read);
    return ptc_call_refuse(call, PTC_CALL_DENIED,
                           "resources of %.*s may not be read: rules of this machine do not allow "
                           "%.*s/resources/read",
                           PTC_ARG(e->name), PTC_ARG(e->name));
}

bool ptc_serve_resource(PtcUpCall *call, PtcScratch *scratch, PtcValue in)
{
    PtcText uri = ptc_fields_text(&scratch->heap, in, "uri");
    if (!find_slot(call, scratch, in))
        return false;
    if (!uri.bytes)
        return ptc_call_refuse(call, PTC_CALL_INVALID_ARGS, ":uri must be a string");
    if (ptc_run_upstream(call->run, call->slot)->entry.openapi)
        return ptc_call_refuse(call, PTC_CALL_BAD_ANSWER,
                               "an OpenAPI service has no resources; call its operations");
    call->method = "resources/read";
    call->effect = (PtcEffect){.kind = PTC_EFFECT_READ};
    if (!may_read(call, &scratch->heap))
        return false;
    ptc_emit_object(&call->params);
    ptc_emit_field_text(&call->params, "uri", uri);
    char parent[PTC_TRACE_PARENT];
    ptc_trace_carry_next(&call->run->trace, parent, call->span);
    ptc_trace_carry_meta(&call->run->trace, parent, &call->params);
    if (ptc_run_upstream(call->run, call->slot)->entry.web)
        ptc_trace_carry_lines(&call->run->trace, parent, &call->headers);
    if (!ptc_emit_object_end(&call->params))
        return ptc_call_refuse(call, PTC_CALL_NO_MEMORY, "out of memory");
    return send_call(call);
}
