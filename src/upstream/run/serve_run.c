/* SPDX-License-Identifier: MIT
 * What a run of a program asks of upstreams, from its beginning to its end.  What always holds: a run sees the listings
 * that were there when it began.  Only where there was none, or one from disk that lacks a tool, does it get the
 * upstream's own, once, beside the first: a slot below the number of upstreams is what there was at the beginning, a
 * slot above it is what came later, and the number of a tool stays good for as long as the run.  Everything asked may
 * come from a worker that lies. */
#include <stdio.h>

#include "json/emit.h"
#include "json/parse.h"
#include "upstream/catalog/naming.h"
#include "upstream/connect/call_progress.h"
#include "upstream/connect/inquiry.h"
#include "upstream/connect/manager_int.h"
#include "upstream/run/serve_int.h"
#include "value/coll/fields.h"

enum { RUN_BYTES = 64 * PTC_MB, PLAN_BYTES = 256 * PTC_KB };

/* ------------------------------------------------------------------------------------ begin */

/* With manager->lock held.  What an upstream has listed before it changed does not count for a run that begins now: it
 * waits for the new list where it needs one. */
static void see_upstream(PtcUpRun *run, size_t n)
{
    PtcManager *m = run->manager;
    const PtcUpstream *up = &m->upstreams[n];
    PtcInstance *i = ptc_instance_find(m, up, run->owner);
    bool live = i && up->listing && !up->listing->cached;
    if (live && i->changed <= i->listed && ptc_entry_stamp(&up->entry) != up->stamp) {
        i->changed = ++m->changes;
        atomic_fetch_add(&m->version, 1);
    }
    run->needs[n] = i && i->changed > i->listed ? i->changed : 0;
    if (!run->needs[n])
        run->view[n] = ptc_listing_hold(up->listing);
}

bool ptc_run_is_listed(const PtcUpRun *run, uint32_t slot, const PtcInstance *i)
{
    return i->listed >= run->needs[slot % run->manager->count];
}

static void *begin_upstream_run(PtcRemote *self, const char *owner, int64_t deadline_ns,
                                const PtcCancel *cancel, uint64_t *version)
{
    PtcManager *m = (PtcManager *)((char *)self - offsetof(PtcManager, remote));
    size_t len = strlen(owner) + 1, slots = 2 * m->count + 1;
    PtcUpRun *run = ptc_mem_alloc(m->mem, sizeof *run);
    PtcListing **view = ptc_mem_alloc(m->mem, slots * sizeof *view);
    uint64_t *needs = ptc_mem_alloc(m->mem, slots * sizeof *needs);
    char *name = ptc_mem_alloc(m->mem, len);
    if (!run || !view || !needs || !name) {
        ptc_mem_free(m->mem, run, sizeof *run);
        ptc_mem_free(m->mem, view, slots * sizeof *view);
        ptc_mem_free(m->mem, needs, slots * sizeof *needs);
        ptc_mem_free(m->mem, name, len);
        return NULL;
    }
    memset(view, 0, slots * sizeof *view);
    memset(needs, 0, slots * sizeof *needs);
    memcpy(name, owner, len);
    atomic_fetch_add(&m->runs, 1);
    *run = (PtcUpRun){.manager = m,
                      .mem = m->mem,
                      .owner = name,
                      .deadline_ns = deadline_ns,
                      .cancel = cancel,
                      .view = view,
                      .needs = needs,
                      .load_ns = m->config.load_ms * PTC_MS};
    pthread_mutex_init(&run->lock, NULL);
    pthread_mutex_init(&run->denied_lock, NULL);
    ptc_buf_init(&run->plan, m->mem, PLAN_BYTES);
    ptc_arena_init(&run->names, m->mem);
    ptc_trace_carry_init(&run->trace, m->mem);
    ptc_replay_init(&run->replay, m->mem);
    ptc_grants_init(&run->granted, m->mem);
    ptc_grants_init(&run->declined, m->mem);
    if (m->pins && ptc_pins_refresh(m->pins)) /* somebody approved something */
        atomic_fetch_add(&m->version, 1);
    if (m->seen && ptc_serve_refresh_seen(m, owner))
        atomic_fetch_add(&m->version, 1);
    pthread_mutex_lock(&m->lock);
    for (size_t i = 0; i < m->count; i++)
        see_upstream(run, i);
    *version = run->version = atomic_load(&m->version);
    pthread_mutex_unlock(&m->lock);
    return run;
}

/* ------------------------------------------------------------------------------------- view */

PtcListing *ptc_run_view(PtcUpRun *run, uint32_t slot)
{
    size_t n = run->manager->count;
    if (slot < n)
        return run->view[slot];
    if (slot >= 2 * n)
        return NULL;
    pthread_mutex_lock(&run->lock);
    PtcListing *l = run->view[slot];
    pthread_mutex_unlock(&run->lock);
    return l;
}

PtcListing *ptc_run_view_later(PtcUpRun *run, uint32_t slot)
{
    PtcManager *m = run->manager;
    uint32_t later = slot % (uint32_t)m->count + (uint32_t)m->count;
    pthread_mutex_lock(&run->lock);
    if (!run->view[later]) {
        pthread_mutex_lock(&m->lock);
        const PtcUpstream *up = ptc_run_upstream(run, slot);
        const PtcInstance *i = ptc_instance_find(m, up, run->owner);
        PtcListing *now = up->listing;
        if (now && !now->cached && now != run->view[slot % m->count] &&
            (i ? ptc_run_is_listed(run, slot, i) : !run->needs[slot % m->count]))
            run->view[later] = ptc_listing_hold(now);
        pthread_mutex_unlock(&m->lock);
    }
    PtcListing *l = run->view[later];
    pthread_mutex_unlock(&run->lock);
    return l;
}

PtcUpstream *ptc_run_upstream(const PtcUpRun *run, uint32_t slot)
{
    return &run->manager->upstreams[slot % run->manager->count];
}

int ptc_run_slot(PtcManager *m, PtcText ns)
{
    for (size_t i = 0; i < m->count; i++)
        if (ptc_text_same(m->upstreams[i].entry.ns, ns))
            return (int)i;
    for (size_t i = 0; i < m->count; i++)
        if (ptc_naming_same_namespace(m->upstreams[i].entry.ns, ns))
            return (int)i;
    return -1;
}

/* ------------------------------------------------------------------------------------- asks */

bool ptc_call_refuse(PtcUpCall *call, PtcCallReason reason, const char *format, ...)
{
    va_list args;
    call->reason = reason;
    va_start(args, format);
    vsnprintf(call->message, sizeof call->message, format, args);
    va_end(args);
    return false;
}

static PtcUpCall *new_upstream_call(PtcUpRun *run, PtcRemoteAsk *ask)
{
    PtcManager *m = run->manager;
    PtcUpCall *call = ptc_mem_alloc(m->mem, sizeof *call);
    if (!call)
        return NULL;
    memset(call, 0, sizeof *call);
    call->ask = ask;
    call->op = ask->op;
    call->run = run;
    call->slot = ask->slot;
    call->tool = ask->tool;
    call->reply.retry_after_ms = -1;
    call->begun_ns = ptc_clock_ns(NULL);
    ptc_buf_init(&call->params, m->mem, RUN_BYTES);
    ptc_buf_init(&call->headers, m->mem, 64 * PTC_KB);
    ptc_buf_init(&call->web.url, m->mem, PTC_URL_BYTES);
    ptc_buf_init(&call->web.auth, m->mem, 64 * PTC_KB);
    ptc_buf_init(&call->web.head, m->mem, 64 * PTC_KB);
    ask->own = call;
    pthread_mutex_lock(&m->lock);
    call->sibling = run->calls;
    call->sibling_at = &run->calls;
    if (run->calls)
        run->calls->sibling_at = &call->sibling;
    run->calls = call;
    pthread_mutex_unlock(&m->lock);
    return call;
}

/* A call that its run has left is not in the run's lists any more, and whoever frees it holds the lock. */
static void unlink_run_call(PtcUpCall *call)
{
    PtcManager *m = call->run->manager;
    pthread_mutex_lock(&m->lock);
    *call->sibling_at = call->sibling;
    if (call->sibling)
        call->sibling->sibling_at = call->sibling_at;
    pthread_mutex_unlock(&m->lock);
}

void ptc_call_free(PtcUpCall *call)
{
    PtcMem *mem = call->run ? call->run->mem : call->instance->upstream->manager->mem;
    if (call->run)
        unlink_run_call(call);
    ptc_buf_deinit(&call->params);
    ptc_buf_deinit(&call->headers);
    ptc_buf_deinit(&call->web.url);
    ptc_buf_deinit(&call->web.auth);
    ptc_buf_deinit(&call->web.head);
    ptc_buf_deinit(&call->reply.text);
    ptc_mem_free(mem, call, sizeof *call);
}

/* Connects the call to its upstream; false: refused. */
bool ptc_call_attach(PtcUpCall *call)
{
    PtcUpRun *run = call->run;
    PtcUpstream *up = ptc_run_upstream(run, call->slot);
    PtcWhy why;
    if (up->entry.unusable.bytes)
        return ptc_call_refuse(call, PTC_CALL_UNAVAILABLE, "%.*s cannot be used: %.*s",
                               PTC_ARG(up->entry.name), PTC_ARG(up->entry.unusable));
    if (up->entry.disabled)
        return ptc_call_refuse(call, PTC_CALL_UNAVAILABLE, "%.*s is disabled in its file",
                               PTC_ARG(up->entry.name));
    call->instance = ptc_instance_get(run->manager, up, run->owner, &why);
    if (!call->instance)
        return ptc_call_refuse(call, PTC_CALL_UNAVAILABLE, "%.*s cannot be started: %s",
                               PTC_ARG(up->entry.name), why.text);
    call->instance->warming = false; /* whoever asks now will ask again: it stays up */
    if (call->instance->state == PTC_INSTANCE_COLD || call->instance->state == PTC_INSTANCE_DOWN)
        call->instance->offers = ptc_inquiry_allowed(run->offers, &up->entry);
    return true;
}

/* Waits until the upstream has been listed by this process.  False: refused, or it need not wait. */
bool ptc_call_await_listing(PtcUpCall *call)
{
    PtcUpRun *run = call->run;
    PtcManager *m = run->manager;
    pthread_mutex_lock(&run->lock);
    int64_t left = run->load_ns;
    pthread_mutex_unlock(&run->lock);
    pthread_mutex_lock(&m->lock);
    bool waits = ptc_call_attach(call);
    if (waits && call->instance->state == PTC_INSTANCE_READY &&
        ptc_run_is_listed(run, call->slot, call->instance)) {
        waits = false;
    } else if (waits && (left <= 0 || call->cancelled)) {
        waits = ptc_call_refuse(call, PTC_CALL_UNAVAILABLE,
                                "%.*s is not there yet, and the time for waiting is used up",
                                PTC_ARG(call->instance->upstream->entry.name));
    } else if (waits) {
        PtcInstance *i = call->instance;
        call->state = PTC_UP_WAITING;
        call->end_ns = call->begun_ns + left; /* however often it waits */
        if (call->end_ns > run->deadline_ns)
            call->end_ns = run->deadline_ns;
        call->next = i->waiting;
        i->waiting = call;
        ptc_instance_start(i);
        ptc_queue_watch(i);
    }
    pthread_mutex_unlock(&m->lock);
    return waits;
}

static bool parse_ask_text(PtcUpCall *call, PtcScratch *scratch, PtcValue *out)
{
    PtcJsonError error;
    PtcText text = call->ask->text;
    *out = ptc_json_parse(&scratch->heap, text.bytes ? text.bytes : "", text.len, &error);
    if (!ptc_fields_ok(&scratch->heap))
        return ptc_call_refuse(call, PTC_CALL_NO_MEMORY, "out of memory");
    return (*out != PTC_NONE && ptc_is_map(*out)) ||
           ptc_call_refuse(call, PTC_CALL_INVALID_ARGS, "what was asked is not a JSON object");
}

/* Answers at once (false), or later (true). */
static bool dispatch_ask(PtcUpCall *call, PtcScratch *scratch)
{
    PtcValue in;
    if (!parse_ask_text(call, scratch, &in))
        return false;
    switch (call->ask->op) {
    case PTC_REMOTE_CALL: return ptc_serve_call(call, scratch, in);
    case PTC_REMOTE_CALL_NAMED: return ptc_serve_call_named(call, scratch, in);
    case PTC_REMOTE_RESOURCE: return ptc_serve_resource(call, scratch, in);
    case PTC_REMOTE_LOOKUP: return ptc_serve_lookup_begin(call, scratch, in);
    case PTC_REMOTE_LOOK: return ptc_serve_look_begin(call, scratch, in);
    case PTC_REMOTE_CHECK: return ptc_serve_check_begin(call, scratch);
    case PTC_REMOTE_SITE: return ptc_serve_site(call, scratch, in);
    case PTC_REMOTE_BLOB: return false;
    case PTC_REMOTE_OPS: break;
    }
    return ptc_call_refuse(call, PTC_CALL_BAD_ANSWER, "this cannot be asked");
}

void ptc_run_hurry(const PtcUpRun *run, PtcScratch *scratch)
{
    scratch->budget.cancel = run->cancel;
    if (run->deadline_ns < scratch->budget.deadline_ns)
        scratch->budget.deadline_ns = run->deadline_ns;
}

static PtcRemoteStatus ask_remote(void *user, PtcRemoteAsk *ask)
{
    PtcUpRun *run = user;
    PtcScratches *scratches = &run->manager->scratches;
    PtcScratch *scratch = ptc_scratches_borrow(scratches, RUN_BYTES);
    if (scratch)
        ptc_run_hurry(run, scratch);
    PtcUpCall *call = scratch ? new_upstream_call(run, ask) : NULL;
    PtcRemoteStatus status = call ? PTC_REMOTE_NOW : PTC_REMOTE_NO_MEMORY;
    if (call && !ptc_serve_meet(call) && !ptc_inquiry_rejoin(call, &status) &&
        dispatch_ask(call, scratch))
        status = PTC_REMOTE_PENDING;
    if (scratch)
        ptc_scratches_give_back(scratches, scratch);
    return status;
}

static void cancel_remote(void *user, PtcRemoteAsk *ask)
{
    PtcUpRun *run = user;
    pthread_mutex_lock(&run->manager->lock);
    ptc_queue_cancel(ask->own);
    pthread_mutex_unlock(&run->manager->lock);
}

/* ----------------------------------------------------------------------------------- finish */

/* Time spent waiting for a listing is the run's. */
static void count_wait(PtcUpCall *call)
{
    PtcUpRun *run = call->run;
    if (call->state != PTC_UP_ANSWERED || call->method)
        return;
    pthread_mutex_lock(&run->lock);
    run->load_ns -= call->ended_ns - call->begun_ns;
    pthread_mutex_unlock(&run->lock);
}

static bool put_ask_answer(PtcUpCall *call, PtcScratch *scratch, PtcBuf *out, bool *may_repeat)
{
    switch (call->ask->op) {
    case PTC_REMOTE_CALL:
    case PTC_REMOTE_CALL_NAMED:
    case PTC_REMOTE_RESOURCE: return ptc_serve_result(call, scratch, out, may_repeat);
    case PTC_REMOTE_LOOKUP: return ptc_serve_lookup(call, scratch, out);
    case PTC_REMOTE_CHECK: return ptc_serve_check(call, scratch, out);
    case PTC_REMOTE_LOOK: return ptc_serve_look(call, scratch, out);
    case PTC_REMOTE_BLOB: return ptc_serve_blob(call, scratch, out);
    case PTC_REMOTE_SITE: return !call->reason ? ptc_emit_null(out) : ptc_serve_fail(call, out);
    case PTC_REMOTE_OPS: break;
    }
    return ptc_serve_fail(call, out);
}

static bool finish_upstream_ask(void *user, PtcRemoteAsk *ask, PtcRemoteAnswer *answer)
{
    PtcUpRun *run = user;
    PtcUpCall *call = ask->own;
    PtcBuf *out = &answer->text;
    PtcScratches *scratches = &run->manager->scratches;
    PtcScratch *scratch = ptc_scratches_borrow(scratches, RUN_BYTES);
    /* What was answered is read even if the run is over, because it may have changed something. */
    if (scratch && !call->method)
        ptc_run_hurry(run, scratch);
    count_wait(call);
    call->answer = answer;
    answer->value = PTC_NONE;
    answer->kind = NULL;
    answer->may_repeat = scratch != NULL; /* what cannot be read may have changed something */
    size_t before = out->len;
    answer->ok = call->replayed
                     ? ptc_serve_replay(call, out, &answer->may_repeat)
                     : scratch && put_ask_answer(call, scratch, out, &answer->may_repeat);
    if (!answer->may_repeat && (call->replayed || !scratch))
        answer->took = answer->ok ? PTC_TOOK_EFFECT : PTC_TOOK_UNKNOWN;
    bool aside = call->reason == PTC_CALL_ASIDE;
    bool again = ptc_inquiry_note_refusal(call);
    if (call->part && !call->replayed && !aside && !again)
        ptc_serve_keep(call, answer->ok, answer->may_repeat,
                       (PtcText){out->data ? out->data + before : "", out->len - before});
    bool whole = scratch && ptc_buf_ok(out) && ptc_fields_ok(&scratch->heap);
    if (scratch)
        ptc_scratches_give_back(scratches, scratch);
    ptc_call_free(call);
    return whole;
}

/* -------------------------------------------------------------------------------------- end */

static void end_upstream_run(void *user, PtcBuf *call_log)
{
    PtcUpRun *run = user;
    PtcManager *m = run->manager;
    ptc_run_record_open(run);
    if (call_log)
        ptc_run_call_log(run, call_log);
    ptc_inquiry_end(run);
    ptc_serve_keep_seen(m, run->owner);
    while (run->calls)
        ptc_call_free(run->calls);
    for (size_t i = 0; i < 2 * m->count; i++)
        ptc_listing_drop(run->view[i]);
    ptc_run_free_blobs(run);
    ptc_run_free_records(run);
    ptc_run_free_denied(run);
    ptc_buf_deinit(&run->plan);
    ptc_trace_carry_deinit(&run->trace);
    ptc_replay_deinit(&run->replay);
    ptc_grants_deinit(&run->granted);
    ptc_grants_deinit(&run->declined);
    ptc_arena_deinit(&run->names);
    ptc_mem_free(m->mem, run->view, (2 * m->count + 1) * sizeof *run->view);
    ptc_mem_free(m->mem, run->needs, (2 * m->count + 1) * sizeof *run->needs);
    ptc_mem_free(m->mem, run->owner, strlen(run->owner) + 1);
    pthread_mutex_destroy(&run->lock);
    pthread_mutex_destroy(&run->denied_lock);
    ptc_mem_free(m->mem, run, sizeof *run);
    atomic_fetch_sub(&m->runs, 1); /* last: the manager may end now */
}

static bool knows_namespace(PtcRemote *self, PtcText ns, PtcBuf *nearest)
{
    PtcManager *m = (PtcManager *)((char *)self - offsetof(PtcManager, remote));
    if (ptc_run_slot(m, ns) >= 0)
        return true;
    /* tool/call takes the name in the file as well; one that no symbol can have hides nothing of the language */
    if (!ptc_naming_is_namespace(ns) && ptc_serve_slot(m, ns) >= 0)
        return true;
    if (nearest)
        ptc_serve_nearest_server(m, ns, nearest);
    return false;
}

static void trace(void *user, const PtcTraceContext *context)
{
    PtcUpRun *run = user;
    ptc_trace_carry_take(&run->trace, context);
}

static void pictures(void *user, PtcText json, PtcBuf *out)
{
    ptc_run_pictures(user, json, out);
}

void ptc_run_fill(PtcManager *m)
{
    m->remote = (PtcRemote){.begin = begin_upstream_run,
                            .ask = ask_remote,
                            .finish = finish_upstream_ask,
                            .cancel = cancel_remote,
                            .end = end_upstream_run,
                            .trace = trace,
                            .listen = ptc_progress_listen,
                            .pictures = pictures,
                            .knows = knows_namespace};
    ptc_approve_fill(&m->remote);
    ptc_inquiry_fill(&m->remote);
    ptc_save_fill(&m->remote);
}
