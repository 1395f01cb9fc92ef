/* SPDX-License-Identifier: MIT
 * One run: from what the host gives to the outcome.  What always holds: whatever happens, the VM is reset, and a
 * session is only changed by a commit that succeeds as a whole (its journal aside, which is kept in any case). */
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "engine/engine.h"
#include "engine/session.h"
#include "engine/wanted.h"
#include "lisp/vm/vm_int.h"
#include "value/calendar.h"

/* A run in progress. */
typedef struct RunWork {
    Ptc *ptc;
    const PtcRun *run;
    const PtcRunMore *more;
    PtcContract wanted;
    PtcOutcome *o;
} RunWork;

/* What is passed in must outlive the outcome: only counted heaps (of a PtcData or a session) can be kept. */
static bool good_map(const Ptc *ptc, PtcValue v)
{
    if (v == PTC_NONE || v == PTC_NIL)
        return true;
    return ptc_is_map(v) && ptc_page_of(v)->heap->pool == &ptc->pool &&
           ptc_page_of(v)->heap->refs > 0;
}

static bool good_run(const Ptc *ptc, const PtcRun *run, const PtcRunMore *more)
{
    if (more->wanted && (run->signature || run->output_schema))
        return false;
    return good_map(ptc, run->context) && good_map(ptc, run->journal) &&
           good_map(ptc, run->budget) && (!run->session || run->session->ptc == ptc) &&
           !(run->signature && run->output_schema) && ptc_millis_fit(run->now_ms);
}

static PtcValue or_nil(PtcValue v)
{
    return v == PTC_NONE ? PTC_NIL : v;
}

/* ----------------------------------------------------------------------------- journal */

/* The session's journal with what the host adds to it, in the run's heap; PTC_NONE: out of memory. */
static PtcValue first_journal(const PtcRun *run, PtcHeap *heap)
{
    PtcValue key, value, journal = run->session ? run->session->journal : PTC_NIL;
    PtcValue more = or_nil(run->journal);
    if (journal == PTC_NIL || more == PTC_NIL)
        return journal == PTC_NIL ? more : journal;
    for (size_t pos = 0; journal != PTC_NONE && ptc_map_next(more, &pos, &key, &value);)
        journal = ptc_map_assoc(heap, journal, key, value);
    return journal;
}

/* What tasks did is kept even if the program did not finish. */
static bool keep_journal(PtcSession *s, PtcValue journal)
{
    if (!s || journal == s->journal || journal == PTC_NIL)
        return true;
    return ptc_session_set_journal(s, journal) == PTC_OK;
}

bool ptc_engine_keep_journal(PtcSession *s, const PtcOutcome *o)
{
    return keep_journal(s, o->journal);
}

/* A program that waits for somebody is run again, and its tasks must do the same then as now. */
static bool is_run_suspended(const PtcVM *vm)
{
    return vm->failed && vm->error.kind == PTC_E_SUSPENDED;
}

/* ------------------------------------------------------------------------------- tools */

static bool any_cached(const PtcTools *tools)
{
    for (size_t i = 0; i < tools->count; i++)
        if (tools->items[i].info.cache)
            return true;
    return false;
}

/* The session's cache; without a session one for this run only.  NULL: none. */
static PtcCache *find_cache(Ptc *ptc, const PtcRun *run, PtcCache *own)
{
    if (!run->tools || !any_cached(run->tools))
        return NULL;
    if (run->session)
        return ptc_session_cache(run->session);
    bool made = ptc_cache_init(own, &ptc->pool, (size_t)ptc->limits.tool_bytes, PTC_CACHE_ENTRIES);
    return made ? own : NULL;
}

/* Other servers, for this run; false: out of memory. */
static bool find_servers(Ptc *ptc, PtcRemoteServers *servers)
{
    if (!ptc->remote_names) {
        ptc->remote_names = ptc_mem_alloc(&ptc->mem, sizeof *ptc->remote_names);
        if (!ptc->remote_names)
            return false;
        ptc_remote_names_init(ptc->remote_names, &ptc->mem);
    }
    ptc_remote_servers_init(servers, ptc->remote, ptc->remote_names, &ptc->mem);
    return true;
}

/* A run that nobody has begun there yet; false: out of memory. */
static bool begin_engine_remote(Ptc *ptc, int64_t deadline_ms, PtcRemoteRun *run)
{
    PtcRemote *remote = ptc->remote_home;
    int64_t now = ptc_clock_ns(NULL), most = (INT64_MAX - now) / PTC_MS;
    int64_t end = deadline_ms < most ? now + deadline_ms * PTC_MS : INT64_MAX;
    *run = (PtcRemoteRun){.remote = remote};
    run->run = remote->begin(remote, "", end, &ptc->cancel, &run->version);
    if (run->run)
        ptc->remote = run;
    return run->run != NULL;
}

static void end_engine_remote(Ptc *ptc, PtcRemoteRun *run)
{
    if (ptc->remote_call_log)
        ptc_buf_clear(ptc->remote_call_log);
    run->remote->end(run->run, ptc->remote_call_log);
    ptc->remote = NULL;
}

/* --------------------------------------------------------------------------------- runs */

/* It never ran: the findings are about what the host passed in. */
static void reset_vm(PtcVM *vm)
{
    vm->failed = false;
    vm->control = PTC_CONTROL_NONE;
    vm->prints = (PtcPrints){0};
    vm->warnings = (PtcWarnings){0};
    vm->log = (PtcLog){0};
    vm->journal = vm->summaries = (PtcNotes){PTC_NIL, PTC_NIL};
    vm->error_source = PTC_NIL;
}

/* Will nothing follow this run? */
static bool ends_all(const RunWork *w)
{
    const PtcVM *vm = &w->ptc->vm;
    bool value = vm->result != PTC_NIL && !ptc_is(vm->result, PTC_T_VAR);
    if (w->more->judge && !w->o->fits)
        return false;
    return w->more->ending != PTC_RUN_ENDS_NEVER &&
           (vm->control == PTC_CONTROL_RETURN ||
            (w->more->ending == PTC_RUN_ENDS_BY_VALUE && value));
}

static bool fail_over(PtcVM *vm, int64_t most)
{
    ptc_fail(vm, PTC_E_DEFINITIONS,
             "the definitions take more than their limit of %lld bytes; those of this program were "
             "not kept",
             (long long)most);
    ptc_fail_hint(vm, "def less: keep what is computed from the data instead of the data");
    vm->error.first = vm->error.last = 0;
    vm->control = PTC_CONTROL_NONE;
    return false;
}

/* Are the definitions within their limit, or may they be discarded?  False: the VM has failed. */
static bool check_definitions(const RunWork *w)
{
    PtcVM *vm = &w->ptc->vm;
    int64_t most = w->more->definition_bytes;
    bool over = false;
    if (most <= 0)
        return true;
    if (!ptc_session_over(w->run->session, vm, (size_t)most, &over))
        return false;
    w->o->dropped = over && ends_all(w);
    return !over || w->o->dropped || fail_over(vm, most);
}

/* The run has failed already, in time or for another reason: its message says this too. */
static void note_journal(const PtcSession *s, PtcVM *vm)
{
    char note[160], *message = vm->error.message;
    size_t len =
        (size_t)snprintf(note, sizeof note,
                         "; what its tasks did does not fit in the session's limit of %lld "
                         "bytes and was not kept",
                         (long long)s->box->heap.limit);
    size_t most = sizeof vm->error.message - 1 - len;
    size_t kept = strlen(message) < most ? strlen(message) : ptc_utf8_valid_prefix(message, most);
    memcpy(message + kept, note, len + 1);
}

/* The tasks of a run do not fit in the session; the definitions did, and are there. */
static void fail_journal(const PtcSession *s, PtcVM *vm)
{
    if (vm->failed) {
        note_journal(s, vm);
        return;
    }
    ptc_fail(vm, PTC_E_MEMORY,
             "what the tasks did does not fit in the session's limit of %lld bytes; it was not "
             "kept, the definitions were",
             (long long)s->box->heap.limit);
    ptc_fail_hint(vm, "let tasks end with less data, or end the session");
    vm->error.first = vm->error.last = 0;
    vm->control = PTC_CONTROL_NONE;
}

/* Names and aliases that a failed run added are removed again. */
static bool commit(const RunWork *w, bool ok, PtcNamesMark known)
{
    PtcSession *s = w->run->session;
    PtcVM *vm = &w->ptc->vm;
    PtcOutcome *o = w->o;
    if (ok && s)
        ok = check_definitions(w) && ptc_session_commit(s, vm, o, !o->dropped);
    bool kept = ok && s && !o->dropped;
    if (!kept && w->more->judge)
        ptc_outcome_note_lost(o, s, vm);
    if (!kept && s)
        ptc_names_note_lost(vm->names, known);
    if (!kept)
        ptc_names_reset(vm->names, s ? known : (PtcNamesMark){0});
    if (is_run_suspended(vm) || keep_journal(s, vm->journal.all))
        return ok;
    fail_journal(s, vm);
    return false;
}

/* Is the result what is wanted?  False: the VM has failed. */
static bool check_wanted_result(RunWork *w)
{
    const PtcContract *wanted = &w->wanted;
    bool ok =
        w->more->judge ? ptc_wanted_judge(w->o, wanted) : ptc_wanted_check(&w->ptc->vm, wanted);
    w->o->validated = ok && (wanted->sig || wanted->schema) && (!w->more->judge || w->o->fits);
    return ok;
}

static bool run_checked(RunWork *w, PtcProgram *p, PtcDiags *diags)
{
    PtcVM *vm = &w->ptc->vm;
    PtcPhase phase;
    PtcNamesMark known = ptc_names_mark(p->names);
    p->log = w->ptc->spare_log;
    w->ptc->spare_log = (PtcLog){0};
    bool ok = ptc_program_run(vm, p, &w->ptc->arena, diags, &phase);
    ptc_engine_task_after(w->ptc);
    if (p->only_check) {
        ptc_names_reset(vm->names, w->run->session ? known : (PtcNamesMark){0});
        return ptc_outcome_fill(w->o, ok, diags, phase, p->source, p->len);
    }
    ok = ok || vm->control == PTC_CONTROL_RETURN;
    ok = ok && check_wanted_result(w);
    ok = commit(w, ok, known);
    return ptc_outcome_fill(w->o, ok, diags, phase, p->source, p->len);
}

/* What is wanted; false: it is invalid, with a finding in diags. */
static bool read_wanted(RunWork *w, PtcDiags *diags)
{
    if (!w->more->wanted)
        return ptc_wanted_read(w->ptc, w->run, &w->wanted, diags);
    w->wanted = *w->more->wanted;
    return true;
}

static bool run_engine_program(RunWork *w)
{
    Ptc *ptc = w->ptc;
    const PtcRun *run = w->run;
    PtcOutcome *o = w->o;
    PtcSession *s = run->session;
    PtcDiags diags;
    PtcCache own;
    PtcRemoteServers servers;
    if (ptc->remote && !find_servers(ptc, &servers))
        return false;
    ptc->vm.budget.stop = PTC_STOP_NONE; /* left by the run before */
    PtcToolRun tools = {.tools = run->tools,
                        .cache = find_cache(ptc, run, &own),
                        .max_calls = o->limits.max_tool_calls,
                        .watch = ptc->watch,
                        .host = w->more->host,
                        .tally = w->more->tally};
    PtcProgram p = {.source = run->program,
                    .len = run->program_len,
                    .context = or_nil(run->context),
                    .bare_data = w->more->bare_data,
                    .only_check = w->more->only_check,
                    .names = s ? &s->names : &ptc->no_names,
                    .globals = s ? s->globals : NULL,
                    .limits = o->limits,
                    .end_ns = ptc->task_end_ns,
                    .host = run->tools ? &run->tools->host : NULL,
                    .host_user = &tools,
                    .servers = ptc->remote ? &servers.base : NULL,
                    .journal = first_journal(run, &o->heap),
                    .remaining = or_nil(run->budget),
                    .now_ms = run->now_ms,
                    .hard_ns = w->more->hard_ns,
                    .pmap_ms = w->more->pmap_ms,
                    .heap = &o->heap,
                    .answer_text = {run->signature, run->signature ? run->signature_len : 0},
                    .checked = &ptc->checked,
                    .bare_answer = w->more->judge ? w->more->bare_answer : PTC_BARE_ANY};
    bool filled = false;
    ptc_arena_reset(&ptc->arena);
    ptc_diags_init(&diags, &ptc->arena);
    if (p.journal == PTC_NONE) {
        filled = false;
    } else if (!read_wanted(w, &diags)) {
        reset_vm(&ptc->vm);
        filled = diags.count > 0 && ptc_outcome_fill(o, false, &diags, PTC_PHASE_CHECK,
                                                     run->program, run->program_len);
    } else {
        p.limits.check = w->more->unchecked ? PTC_CHECK_OFF : p.limits.check;
        p.answer = w->wanted.sketch;
        filled = run_checked(w, &p, &diags);
    }
    if (tools.cache == &own)
        ptc_cache_deinit(&own);
    return filled;
}

static void keep_given(PtcOutcome *o, const PtcRun *run)
{
    ptc_outcome_keep(o, PTC_KEPT_SESSION, PTC_NONE, run->session ? &run->session->box->heap : NULL);
    ptc_outcome_keep(o, PTC_KEPT_CONTEXT, run->context, NULL);
    ptc_outcome_keep(o, PTC_KEPT_JOURNAL, run->journal, NULL);
    ptc_outcome_keep(o, PTC_KEPT_BUDGET, run->budget, NULL);
    o->tools = ptc_toolset_retain(run->tools);
}

/* From here on ptc_engine_cancel and the given cancel flag end the current run.  Returns the outer flag that was set
 * before, for end. */
static const PtcCancel *begin_cancellable(Ptc *ptc, const PtcCancel *cancel)
{
    const PtcCancel *outer = ptc->cancel.outer;
    if (cancel)
        ptc->cancel.outer = cancel;
    atomic_store(&ptc->cancel.asked, false);
    atomic_store(&ptc->running, true);
    return outer;
}

static void end_cancellable(Ptc *ptc, const PtcCancel *outer)
{
    atomic_store(&ptc->running, false);
    ptc->cancel.outer = outer;
}

bool ptc_engine_call(Ptc *ptc, PtcSession *s, PtcTools *tools, PtcText name, PtcText args,
                     const PtcNativeOptions *options, PtcBuf *out, PtcNativeAnswer *answer)
{
    PtcNativeOptions mine = *options;
    *answer = (PtcNativeAnswer){.end = PTC_NATIVE_MEMORY};
    if (!ptc->native && !(ptc->native = ptc_native_new()))
        return false;
    mine.cache = s ? ptc_session_cache(s) : NULL;
    mine.cancel = &ptc->cancel;
    const PtcCancel *outer = begin_cancellable(ptc, options->cancel);
    int tool = ptc_toolset_find(tools, name);
    bool told = ptc_native_ask(ptc->native, tools, tool, args, &mine, out, answer);
    end_cancellable(ptc, outer);
    return told;
}

PtcStatus ptc_engine_run(Ptc *ptc, const PtcRun *run, PtcOutcome **out)
{
    return ptc_engine_run_more(ptc, run, NULL, out);
}

PtcStatus ptc_engine_run_more(Ptc *ptc, const PtcRun *run, const PtcRunMore *more, PtcOutcome **out)
{
    static const PtcRunMore none;
    PtcLimits limits;
    more = more ? more : &none;
    *out = NULL;
    if (!good_run(ptc, run, more) || !ptc_limits_merge(&limits, run->limits, &ptc->limits))
        return PTC_BAD_ARGUMENT;
    if (!ptc_vm_ensure_depth(&ptc->vm, limits.max_depth))
        return PTC_NO_MEMORY;
    PtcOutcome *o = ptc_outcome_new(ptc, &limits);
    if (!o)
        return PTC_NO_MEMORY;
    if (ptc->fail_allocation)
        ptc_mem_fail_at(&ptc->mem, (uint64_t)ptc->fail_allocation);
    keep_given(o, run);
    const PtcCancel *outer = begin_cancellable(ptc, more->cancel);
    PtcRemoteRun remote;
    bool own = ptc->remote_home && !ptc->remote;
    bool begun = !own || begin_engine_remote(ptc, limits.deadline_ms, &remote);
    bool filled =
        begun && run_engine_program(&(RunWork){.ptc = ptc, .run = run, .more = more, .o = o});
    if (own && begun)
        end_engine_remote(ptc, &remote);
    end_cancellable(ptc, outer);
    if (ptc->fail_allocation)
        ptc_mem_fail_at(&ptc->mem, 0);
    if (!filled) {
        ptc_outcome_drop(o);
        return PTC_NO_MEMORY;
    }
    *out = o;
    return PTC_OK;
}
