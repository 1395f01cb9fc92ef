/* SPDX-License-Identifier: MIT
 * Calls that a person must be asked about, and programs that are run again afterwards.  What always holds: an approval
 * is for what was shown, namely this tool with this definition, and for one call also with these arguments; what was
 * called once is never called again for the same call of the program. */
#include "base/buf.h"
#include "json/emit.h"
#include "json/parse.h"
#include "upstream/catalog/quoted.h"
#include "upstream/run/question.h"
#include "upstream/run/serve_int.h"
#include "value/coll/fields.h"
#include "value/coll/map.h"

/* ------------------------------------------------------------------------------------ replay */

static bool is_call_operation(PtcRemoteOp op)
{
    return op == PTC_REMOTE_CALL || op == PTC_REMOTE_CALL_NAMED || op == PTC_REMOTE_RESOURCE;
}

/* What is called with what.  Tool and server go by their names: their numbers may be others when the program is run
 * again, in another process too. */
static void take_print(const PtcUpCall *call, uint8_t print[PTC_SHA256_BYTES])
{
    PtcUpRun *run = call->run;
    const PtcRemoteAsk *ask = call->ask;
    PtcText name = {"", 0}, server = {"", 0};
    if (ask->op == PTC_REMOTE_CALL) {
        const PtcListing *l = ptc_run_view(run, call->slot);
        if (l && call->tool < l->server.count)
            name = l->server.tools[call->tool].name;
        server = ptc_run_upstream(run, call->slot)->entry.name;
    }
    uint64_t numbers[] = {ask->op, server.len, name.len, ask->text.len};
    PtcText parts[] = {{(const char *)numbers, sizeof numbers}, server, name, ask->text};
    ptc_sha256_parts(parts, sizeof parts / sizeof *parts, print);
}

static PtcMeet meet_replay_part(PtcUpCall *call, size_t *part)
{
    PtcUpRun *run = call->run;
    take_print(call, call->print);
    pthread_mutex_lock(&run->lock);
    PtcMeet met = is_call_operation(call->ask->op)
                      ? ptc_replay_meet(&run->replay, call->ask->id, call->print, part)
                      : ptc_replay_meet_look(&run->replay, call->print, part);
    pthread_mutex_unlock(&run->lock);
    return met;
}

void ptc_serve_diverge(PtcUpCall *call)
{
    PtcUpRun *run = call->run;
    pthread_mutex_lock(&run->lock);
    run->replay.diverged = true;
    pthread_mutex_unlock(&run->lock);
    (void)ptc_call_refuse(call, PTC_CALL_ASIDE, "the program does not repeat itself");
}

bool ptc_serve_meet(PtcUpCall *call)
{
    size_t part = 0;
    PtcRemoteMode mode = call->run->mode;
    bool refuses = mode == PTC_REMOTE_REFUSES || mode == PTC_REMOTE_GRANTED;
    if ((refuses && !call->run->offers) || mode == PTC_REMOTE_ONLY_READS ||
        (!is_call_operation(call->ask->op) && call->ask->op != PTC_REMOTE_LOOK))
        return false;
    switch (meet_replay_part(call, &part)) {
    case PTC_MEET_FULL: return false;
    case PTC_MEET_DIVERGED:
        return !ptc_call_refuse(call, PTC_CALL_ASIDE, "the program does not repeat itself");
    case PTC_MEET_ANSWER: call->replayed = true; break;
    case PTC_MEET_CALL: break;
    }
    call->part = part + 1;
    return call->replayed;
}

bool ptc_serve_replay(PtcUpCall *call, PtcBuf *out, bool *may_repeat)
{
    PtcUpRun *run = call->run;
    pthread_mutex_lock(&run->lock);
    const PtcReplayCall *part = &run->replay.items[call->part - 1];
    bool ok = part->ok;
    *may_repeat = part->may_repeat;
    ptc_buf_add(out, part->answer, part->len);
    pthread_mutex_unlock(&run->lock);
    return ok;
}

void ptc_serve_keep(PtcUpCall *call, bool ok, bool may_repeat, PtcText answer)
{
    PtcUpRun *run = call->run;
    pthread_mutex_lock(&run->lock);
    if (run->replay.items[call->part - 1].state != PTC_REPLAY_ASIDE)
        ptc_replay_keep(&run->replay, call->part - 1, ok, may_repeat, answer);
    pthread_mutex_unlock(&run->lock);
}

/* -------------------------------------------------------------------------------- definitions */

/* All that a tool says of itself.  False: out of memory. */
static bool take_pin(PtcMem *mem, PtcHeap *heap, const PtcCatalogTool *tool,
                     uint8_t pin[PTC_SHA256_BYTES])
{
    static const char *const names[] = {"name",        "title",        "description",
                                        "inputSchema", "outputSchema", "annotations"};
    static const char *const sent[] = {"request", "base"}; /* of operations */
    PtcBuf text;
    ptc_buf_init(&text, mem, PTC_UNBOUNDED);
    ptc_emit_object(&text);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        PtcValue v = ptc_map_field(heap, tool->definition, names[i]);
        ptc_emit_key(&text, names[i]);
        ptc_emit_value(&text, heap, v == PTC_NONE ? PTC_NIL : v);
    }
    for (size_t i = 0; i < sizeof sent / sizeof *sent; i++) {
        PtcValue v = ptc_map_field(heap, tool->definition, sent[i]);
        if (v != PTC_NONE && ptc_emit_key(&text, sent[i]))
            ptc_emit_value(&text, heap, v);
    }
    bool ok = ptc_emit_object_end(&text);
    ptc_sha256(text.data ? text.data : "", text.len, pin);
    ptc_buf_deinit(&text);
    return ok;
}

bool ptc_serve_redefined(PtcUpCall *call, PtcHeap *heap, const PtcListing *now, size_t tool)
{
    PtcMem *mem = call->run->manager->mem;
    uint8_t before[PTC_SHA256_BYTES], after[PTC_SHA256_BYTES];
    return !take_pin(mem, heap, &call->seen->server.tools[call->tool], before) ||
           !take_pin(mem, heap, &now->server.tools[tool], after) ||
           memcmp(before, after, sizeof before) != 0;
}

/* ---------------------------------------------------------------------------------- approvals */

static PtcGrantOf grant_of_run_tool(const PtcUpRun *run, uint32_t slot, PtcText tool,
                                    const uint8_t *pin)
{
    const PtcUpstream *up = ptc_run_upstream(run, slot);
    const char *realm = run->manager->config.realm;
    return (PtcGrantOf){realm ? realm : "", run->owner, up->entry.name, tool, up->identity, pin};
}

/* What other servers may have written is read each time, so that it counts at once; what cannot be read is not
 * allowed.  No lock is held. */
static PtcGrantState find_shared_grant(PtcManager *m, PtcGrantOf of)
{
    PtcGrants grants;
    if (!m->shelf || !m->shelf->shared)
        return PTC_GRANT_NONE;
    ptc_grants_init(&grants, m->mem);
    (void)ptc_grants_load(&grants, m->shelf, of.realm, of.owner);
    PtcGrantState state = ptc_grants_find(&grants, of);
    ptc_grants_deinit(&grants);
    return state;
}

/* Did somebody allow it for longer than a run? */
static PtcGrantState find_grant(PtcUpRun *run, PtcGrantOf of)
{
    PtcManager *m = run->manager;
    PtcGrantState shared = find_shared_grant(m, of);
    pthread_mutex_lock(&m->lock);
    if (!m->grants_read && m->shelf && !m->shelf->shared)
        (void)ptc_grants_load(&m->grants, m->shelf, of.realm, of.owner);
    m->grants_read = true;
    PtcGrantState kept = ptc_grants_find(&m->grants, of);
    kept = shared > kept ? shared : kept;
    PtcGrantState passing = ptc_grants_find(&m->process_grants, of);
    pthread_mutex_unlock(&m->lock);
    return kept > passing ? kept : passing;
}

bool ptc_manager_take_grants(PtcManager *m, PtcManager *from)
{
    pthread_mutex_lock(&from->lock);
    bool ok = ptc_grants_copy(&m->process_grants, &from->process_grants);
    pthread_mutex_unlock(&from->lock);
    return ok;
}

void ptc_manager_reread_grants(PtcManager *m)
{
    pthread_mutex_lock(&m->lock);
    ptc_grants_deinit(&m->grants);
    ptc_grants_init(&m->grants, m->mem);
    m->grants_read = false;
    pthread_mutex_unlock(&m->lock);
}

PtcPolicyOut ptc_serve_decide(PtcUpRun *run, PtcHeap *heap, const PtcUpstream *up,
                              const PtcListing *l, size_t tool)
{
    PtcPolicyOut out = ptc_serve_policy(run, heap, up, l, tool);
    const PtcCatalogTool *t = &l->server.tools[tool];
    uint32_t slot = (uint32_t)(up - run->manager->upstreams);
    uint8_t pin[PTC_SHA256_BYTES];
    if (run->mode == PTC_REMOTE_GRANTED && out.why == PTC_CALL_CANNOT_ASK &&
        take_pin(run->manager->mem, heap, t, pin) &&
        find_grant(run, grant_of_run_tool(run, slot, t->name, pin)) == PTC_GRANT_HOLDS)
        return (PtcPolicyOut){out.effect, PTC_POLICY_ALLOW, PTC_CALL_BY_APPROVAL, NULL};
    return out;
}

static bool decline(PtcUpCall *call, PtcText tool)
{
    return ptc_call_refuse(call, PTC_CALL_DECLINED,
                           "%.*s may not be called: a person was asked and said no", PTC_ARG(tool));
}

static bool cannot_wait(PtcUpCall *call, const PtcCatalogTool *tool)
{
    const PtcEntry *e = &ptc_run_upstream(call->run, call->slot)->entry;
    ptc_run_denied(call, tool);
    return ptc_call_refuse(call, PTC_CALL_DENIED,
                           "%.*s needs a person's approval, but what this program has received is "
                           "more than can be kept meanwhile (16 MiB); read less before it, or "
                           "allow it: \"%.*s\": \"allow\" in \"policy\" of %.*s",
                           PTC_ARG(tool->name), PTC_ARG(tool->name), PTC_ARG(e->name));
}

/* The arguments as they are sent; of an operation, which is sent in pieces, as the program gives them. */
static PtcValue sent_arguments_of(const PtcUpCall *call, PtcHeap *heap)
{
    PtcJsonError error;
    bool sent = call->args_at && call->args_at + call->args_len <= call->params.len;
    PtcText text =
        sent ? (PtcText){call->params.data + call->args_at, call->args_len} : call->ask->text;
    PtcValue args = ptc_json_parse(heap, text.bytes, text.len, &error);
    if (!sent && call->ask->op == PTC_REMOTE_CALL_NAMED && args != PTC_NONE)
        args = ptc_map_field(heap, args, "args");
    return args == PTC_NONE && ptc_fields_ok(heap) ? ptc_fields_map(heap) : args;
}

/* Nobody is asked about what cannot be shown.  A dry run asks nobody. */
static bool show_args(PtcUpCall *call, PtcHeap *heap, const PtcCatalogTool *tool, PtcBuf *out)
{
    PtcValue args = sent_arguments_of(call, heap);
    if (args != PTC_NONE && ptc_quoted_add_value(out, heap, args))
        return true;
    if (args == PTC_NONE || out->failed || !ptc_fields_ok(heap))
        return ptc_call_refuse(call, PTC_CALL_NO_MEMORY, "out of memory");
    if (call->run->mode == PTC_REMOTE_READS)
        return ptc_buf_add_cstr(out, "(more arguments than can be shown)");
    ptc_run_denied(call, tool);
    return ptc_call_refuse(call, PTC_CALL_DENIED,
                           "%.*s needs a person's approval, and its arguments have more keys than "
                           "can be shown to a person (%d bytes); make several calls of it, or "
                           "allow it by a rule",
                           PTC_ARG(tool->name), PTC_QUOTED_BYTES);
}

/* With run->lock held. */
static bool put_aside(PtcUpCall *call, const PtcCatalogTool *tool, PtcEffectKind effect,
                      const uint8_t *pin, PtcText args, PtcGrantState was)
{
    PtcUpRun *run = call->run;
    PtcReplayCall *part = &run->replay.items[call->part - 1];
    size_t most = run->manager->config.calls;
    /* Nobody is asked about a call that could not be made afterwards. */
    if (run->made + ptc_replay_to_come(&run->replay) >= most)
        return ptc_call_refuse(call, PTC_CALL_CAP_EXHAUSTED,
                               "a program may call upstreams %zu times, with those that wait for "
                               "approval",
                               most);
    part->server = ptc_run_upstream(run, call->slot)->entry.name;
    part->slot = call->slot;
    part->tool = tool->name;
    part->effect = effect;
    part->was = was;
    memcpy(part->pin, pin, sizeof part->pin);
    if (!ptc_replay_put_aside(&run->replay, call->part - 1, args))
        return ptc_call_refuse(call, PTC_CALL_NO_MEMORY, "out of memory");
    return ptc_call_refuse(call, PTC_CALL_ASIDE, "it waits for a person's answer");
}

/* With run->lock held: what a person has decided about it in this run. */
static bool is_approved_in_run(const PtcUpCall *call, PtcGrantOf of)
{
    const PtcUpRun *run = call->run;
    const PtcReplayCall *part = &run->replay.items[call->part - 1];
    return (part->state == PTC_REPLAY_APPROVED &&
            memcmp(part->pin, of.pin, sizeof part->pin) == 0) ||
           ptc_grants_find(&run->granted, of) == PTC_GRANT_HOLDS;
}

/* Always false: it waits, or cannot. */
static bool wait_for_person(PtcUpCall *call, PtcHeap *heap, const PtcCatalogTool *tool,
                            PtcEffectKind effect, const uint8_t *pin, PtcGrantState was)
{
    PtcUpRun *run = call->run;
    PtcBuf args;
    ptc_buf_init(&args, run->mem, PTC_QUOTED_BYTES);
    if (show_args(call, heap, tool, &args)) {
        pthread_mutex_lock(&run->lock);
        (void)put_aside(call, tool, effect, pin, ptc_buf_view(&args),
                        run->mode == PTC_REMOTE_ASKS ? was : PTC_GRANT_NONE);
        pthread_mutex_unlock(&run->lock);
    }
    ptc_buf_deinit(&args);
    return false;
}

static bool decide_ask(PtcUpCall *call, PtcHeap *heap, const PtcCatalogTool *tool,
                       PtcEffectKind effect, const uint8_t *pin)
{
    PtcUpRun *run = call->run;
    PtcGrantOf of = grant_of_run_tool(run, call->slot, tool->name, pin);
    PtcGrantState was = find_grant(run, of);
    bool asks = run->mode == PTC_REMOTE_ASKS;
    if (asks && was == PTC_GRANT_HOLDS)
        return call->approved = true;
    if (!call->part)
        return cannot_wait(call, tool);
    pthread_mutex_lock(&run->lock);
    bool may = asks && is_approved_in_run(call, of);
    bool declined = ptc_grants_find(&run->declined, of) != PTC_GRANT_NONE;
    bool full = run->replay.full;
    pthread_mutex_unlock(&run->lock);
    call->approved = may;
    if (may || declined)
        return may || decline(call, tool->name);
    return full ? cannot_wait(call, tool) : wait_for_person(call, heap, tool, effect, pin, was);
}

bool ptc_serve_approved(PtcUpCall *call, PtcScratch *scratch, PtcPolicyOut policy)
{
    const PtcUpRun *run = call->run;
    const PtcCatalogTool *tool = &call->seen->server.tools[call->tool];
    uint8_t pin[PTC_SHA256_BYTES];
    bool plain = policy.decision == PTC_POLICY_ALLOW &&
                 (run->mode != PTC_REMOTE_READS || policy.effect.kind == PTC_EFFECT_READ);
    if (plain)
        return true;
    if (!take_pin(run->manager->mem, &scratch->heap, tool, pin))
        return ptc_call_refuse(call, PTC_CALL_NO_MEMORY, "out of memory");
    return decide_ask(call, &scratch->heap, tool, policy.effect.kind, pin);
}

void ptc_serve_not_aside(PtcUpCall *call)
{
    PtcUpRun *run = call->run;
    if (!call->part)
        return;
    pthread_mutex_lock(&run->lock);
    PtcReplayCall *part = &run->replay.items[call->part - 1];
    if (part->state == PTC_REPLAY_ASIDE)
        part->state = PTC_REPLAY_CALLED;
    pthread_mutex_unlock(&run->lock);
}

/* ------------------------------------------------------------------------------- the question */

static void set_run_mode(void *user, PtcRemoteMode mode)
{
    PtcUpRun *run = user;
    run->mode = mode;
}

static size_t waiting(void *user, PtcWhy *why)
{
    PtcUpRun *run = user;
    bool full = run->replay.full && (run->mode == PTC_REMOTE_ASKS || run->offers);
    if (full)
        ptc_why_say(why, PTC_WHY_REFUSED,
                    "what the program has received is more than can be kept while a person is "
                    "asked (16 MiB); read less before or beside calls that need approval");
    if (run->mode == PTC_REMOTE_PLANS)
        return run->site_count;
    size_t parts = ptc_replay_waiting(&run->replay);
    return full || run->replay.diverged ? 0 : parts ? parts : run->asides;
}

/* --------------------------------------------------------------------------------- the answer */

/* For longer than the run.  False: not as long as was said.  Processes that share a store go on for each other, so
 * that what was meant for one of them ends with the day. */
static bool grant(PtcUpRun *run, PtcGrantOf of, bool always)
{
    PtcManager *m = run->manager;
    bool shared = m->shelf && m->shelf->shared;
    bool kept = (always || shared) &&
                ptc_grants_keep(m->mem, m->shelf, of, always ? 0 : PTC_GRANTS_DAY_MS, &run->unkept);
    if (kept && shared)
        return true;
    pthread_mutex_lock(&m->lock);
    bool ok = ptc_grants_add(kept ? &m->grants : &m->process_grants, of);
    pthread_mutex_unlock(&m->lock);
    if (!ok)
        return ptc_why_say(&run->unkept, PTC_WHY_REFUSED,
                           "there are too many, or ptc is out of memory");
    return !always || kept;
}

static bool decide_part(PtcUpRun *run, PtcReplayCall *part, PtcRemoteDecision decision)
{
    PtcGrantOf of = grant_of_run_tool(run, part->slot, part->tool, part->pin);
    /* Even if a grant cannot be remembered: this very call was asked about. */
    part->state = decision == PTC_REMOTE_NO ? part->state : PTC_REPLAY_APPROVED;
    switch (decision) {
    case PTC_REMOTE_ONCE: break;
    case PTC_REMOTE_RUN: (void)!ptc_grants_add(&run->granted, of); break;
    case PTC_REMOTE_NO: (void)!ptc_grants_add(&run->declined, of); break;
    case PTC_REMOTE_PROCESS:
    case PTC_REMOTE_ALWAYS: return grant(run, of, decision == PTC_REMOTE_ALWAYS);
    }
    return true;
}

/* What was named, and nothing else.  No program is running now, so nothing else looks at the replay. */
static bool decide_waiting_parts(void *user, PtcRemoteDecision decision, PtcWhy *why)
{
    PtcUpRun *run = user;
    bool ok = true;
    for (size_t i = 0; i < run->replay.count; i++) {
        PtcReplayCall *part = &run->replay.items[i];
        if (ptc_replay_waits(part) && part->asked)
            ok = decide_part(run, part, decision) && ok;
        part->asked = false;
    }
    return ok || ptc_why_copy(why, &run->unkept);
}

static void begin_run_again(void *user, int64_t deadline_ns, const PtcCancel *cancel,
                            uint64_t *version)
{
    PtcUpRun *run = user;
    ptc_replay_again(&run->replay);
    run->deadline_ns = deadline_ns;
    run->cancel = cancel;
    run->lookups = 0;
    run->asides = 0;
    run->load_ns = run->manager->config.load_ms * PTC_MS;
    *version = run->version;
}

static bool diverged(void *user)
{
    const PtcUpRun *run = user;
    return run->replay.diverged;
}

void ptc_approve_fill(PtcRemote *remote)
{
    remote->allow = set_run_mode;
    remote->waiting = waiting;
    remote->question = ptc_question_add;
    remote->decide = decide_waiting_parts;
    remote->again = begin_run_again;
    remote->diverged = diverged;
    remote->effects = ptc_run_effects;
}
