/* SPDX-License-Identifier: MIT
 * One run: from what the host gives to the outcome. */
#include "engine/engine_int.h"
#include "lisp/vm_int.h"

#include <string.h>

enum { CACHE_ENTRIES = 1024 };

/* What is given must outlive the outcome: only heaps that are counted (a PtcData's, a session's) can be kept. */
static bool good_map(const Ptc *ptc, PtcValue v)
{
    if (v == PTC_NONE || v == PTC_NIL)
        return true;
    return ptc_is_map(v) && ptc_page_of(v)->heap->pool == &ptc->pool &&
           ptc_page_of(v)->heap->refs > 0;
}

static bool good_run(Ptc *ptc, const PtcRun *run)
{
    return ptc && run && run->program && !atomic_load(&ptc->running) &&
           good_map(ptc, run->context) && good_map(ptc, run->journal) &&
           good_map(ptc, run->budget) && (!run->session || run->session->ptc == ptc) &&
           !(run->signature && run->output_schema);
}

static void keep_heap(PtcOutcome *o, int which, PtcValue v, PtcHeap *heap)
{
    if (!heap && ptc_is_obj(v))
        heap = ptc_page_of(v)->heap;
    if (heap) {
        ptc_heap_retain(heap);
        o->kept[which] = heap;
    }
}

static PtcValue or_nil(PtcValue v)
{
    return v == PTC_NONE ? PTC_NIL : v;
}

/* ----------------------------------------------------------------------------- journal */

PtcValue ptc_session_journal(const PtcSession *s)
{
    int at = s ? ptc_names_find(&s->names, PTC_JOURNAL, sizeof PTC_JOURNAL - 1) : -1;
    bool bound = at >= 0 && (size_t)at < s->global_cap && s->globals[at] != PTC_UNBOUND;
    return bound ? s->globals[at] : PTC_NIL;
}

/* The session's journal with what the host adds to it, in the run's heap; PTC_NONE: no memory. */
static PtcValue first_journal(const PtcRun *run, PtcHeap *heap)
{
    PtcValue key, value, journal = ptc_session_journal(run->session), more = or_nil(run->journal);
    if (journal == PTC_NIL || more == PTC_NIL)
        return journal == PTC_NIL ? more : journal;
    for (size_t pos = 0; journal != PTC_NONE && ptc_map_next(more, &pos, &key, &value);)
        journal = ptc_map_assoc(heap, journal, key, value);
    return journal;
}

/* What tasks did is kept whether or not the program came to its end. */
static bool keep_journal(PtcSession *s, PtcVM *vm)
{
    if (!s || vm->journal == ptc_session_journal(s) || vm->journal == PTC_NIL)
        return true;
    return ptc_session_put(s, PTC_JOURNAL, sizeof PTC_JOURNAL - 1, vm->journal) == PTC_OK;
}

/* ------------------------------------------------------------------------------- tools */

static bool any_cached(const PtcTools *tools)
{
    for (size_t i = 0; i < tools->count; i++)
        if (tools->items[i].info.cache)
            return true;
    return false;
}

PtcCache *ptc_session_cache(PtcSession *s)
{
    Ptc *ptc = s->ptc;
    if (s->cache)
        return s->cache;
    PtcCache *cache = ptc_mem_alloc(&ptc->mem, sizeof *cache);
    if (cache &&
        !ptc_cache_init(cache, &ptc->pool, (size_t)ptc->limits.tool_bytes, CACHE_ENTRIES)) {
        ptc_mem_free(&ptc->mem, cache, sizeof *cache);
        cache = NULL;
    }
    return s->cache = cache;
}

/* The session's cache; without a session one for this run.  NULL: none. */
static PtcCache *find_cache(Ptc *ptc, const PtcRun *run, PtcCache *own)
{
    if (!run->tools || !any_cached(run->tools))
        return NULL;
    if (run->session)
        return ptc_session_cache(run->session);
    return ptc_cache_init(own, &ptc->pool, (size_t)ptc->limits.tool_bytes, CACHE_ENTRIES) ? own
                                                                                          : NULL;
}

/* --------------------------------------------------------------------------------- runs */

/* Not run at all: the findings are about what the host gave. */
static void reset_vm(PtcVM *vm)
{
    vm->failed = false;
    vm->control = PTC_CONTROL_NONE;
    vm->prints = (PtcPrints){0};
    vm->log = (PtcLog){0};
    vm->journal = vm->summaries = vm->error_source = PTC_NIL;
}

/* Names that a failed run added go before the journal adds its own. */
static bool commit(PtcSession *s, PtcVM *vm, PtcOutcome *o, bool ok, uint32_t known)
{
    if (ok && s)
        ok = ptc_session_commit(s, vm, o);
    if (!ok || !s)
        ptc_names_truncate(vm->names, s ? known : 0);
    return keep_journal(s, vm) && ok;
}

static bool run_checked(Ptc *ptc, const PtcRun *run, PtcOutcome *o, PtcProgram *p,
                        const PtcWanted *wanted, PtcDiags *diags)
{
    PtcVM *vm = &ptc->vm;
    PtcPhase phase;
    uint32_t known = p->names->count;
    bool ok = ptc_program_run(vm, p, &ptc->arena, diags, &phase);
    ok = ok || vm->control == PTC_CONTROL_RETURN;
    ok = ok && ptc_wanted_check(vm, wanted);
    o->validated = ok && (wanted->sig || wanted->schema);
    ok = commit(run->session, vm, o, ok, known);
    return ptc_outcome_fill(o, ok, diags, phase, run->program, run->program_len);
}

static bool run_program(Ptc *ptc, const PtcRun *run, PtcOutcome *o)
{
    PtcSession *s = run->session;
    PtcDiags diags;
    PtcWanted wanted;
    PtcCache own;
    ptc->vm.budget.stop = PTC_STOP_NONE; /* of the run before */
    PtcToolRun tools = {.tools = run->tools,
                        .cache = find_cache(ptc, run, &own),
                        .max_calls = o->limits.max_tool_calls};
    PtcProgram p = {.source = run->program,
                    .len = run->program_len,
                    .context = or_nil(run->context),
                    .names = s ? &s->names : &ptc->no_names,
                    .globals = s ? s->globals : NULL,
                    .limits = o->limits,
                    .host = run->tools ? &run->tools->host : NULL,
                    .host_user = &tools,
                    .journal = first_journal(run, &o->heap),
                    .remaining = or_nil(run->budget),
                    .heap = &o->heap};
    bool filled = false;
    ptc_arena_reset(&ptc->arena);
    ptc_diags_init(&diags, &ptc->arena);
    if (p.journal == PTC_NONE) {
        filled = false;
    } else if (!ptc_wanted_read(ptc, run, &wanted, &diags)) {
        reset_vm(&ptc->vm);
        filled = diags.count > 0 && ptc_outcome_fill(o, false, &diags, PTC_PHASE_CHECK,
                                                     run->program, run->program_len);
    } else {
        filled = run_checked(ptc, run, o, &p, &wanted, &diags);
    }
    if (tools.cache == &own)
        ptc_cache_deinit(&own);
    return filled;
}

static void keep_given(PtcOutcome *o, const PtcRun *run)
{
    keep_heap(o, KEPT_SESSION, PTC_NONE, run->session ? &run->session->box->heap : NULL);
    keep_heap(o, KEPT_CONTEXT, run->context, NULL);
    keep_heap(o, KEPT_JOURNAL, run->journal, NULL);
    keep_heap(o, KEPT_BUDGET, run->budget, NULL);
    o->tools = ptc_tools_retain(run->tools);
}

PtcStatus ptc_eval(Ptc *ptc, const PtcRun *given, PtcOutcome **out)
{
    PtcRun run;
    PtcLimits limits;
    ptc_run_init(&run, sizeof run);
    if (!out || !given || given->size < sizeof(size_t))
        return PTC_BAD_ARGUMENT;
    *out = NULL;
    memcpy(&run, given, given->size < sizeof run ? given->size : sizeof run);
    if (!good_run(ptc, &run) || !ptc_limits_merge(&limits, run.limits, &ptc->limits))
        return PTC_BAD_ARGUMENT;
    if (!ptc_vm_ensure_depth(&ptc->vm, limits.max_depth))
        return PTC_NO_MEMORY;
    PtcOutcome *o = ptc_outcome_new(ptc, &limits);
    if (!o)
        return PTC_NO_MEMORY;
    if (ptc->fail_allocation)
        ptc_mem_fail_at(&ptc->mem, (uint64_t)ptc->fail_allocation);
    keep_given(o, &run);
    atomic_store(&ptc->cancel.asked, false);
    atomic_store(&ptc->running, true);
    bool filled = run_program(ptc, &run, o);
    atomic_store(&ptc->running, false);
    if (ptc->fail_allocation)
        ptc_mem_fail_at(&ptc->mem, 0);
    if (!filled) {
        ptc_outcome_free(o);
        return PTC_NO_MEMORY;
    }
    *out = o;
    return PTC_OK;
}
