/* SPDX-License-Identifier: MIT
 * Programs and native calls of an agent, run by an engine in this process.
 *
 * The context is there twice: for the prompt, which a text agent needs without any engine, and as a copy in the
 * engine, whose runs only accept values of its own. */
#include "agent/run/work.h"

#include <stdio.h>

#include "agent/run/work_int.h"
#include "agent/step/judge.h"
#include "base/utf8.h"
#include "engine/engine.h"
#include "json/parse.h"
#include "value/coll/map.h"
#include "value/copy.h"
#include "value/str.h"

enum {
    WORK_BYTES = 512 * PTC_MB,
    CONTEXT_BYTES = 64 * PTC_MB,
    SESSION_BYTES = 256 * PTC_MB,
    SERVERS_MS = 60 * 1000, /* of a program that may wait for other servers, at least */
    WORK_SMALL_BYTES = CONTEXT_BYTES / 64 /* JSON that fits for sure: if not, memory is short */
};

/* ------------------------------------------------------------------------------- opening */

static bool has_programs(const PtcAgentDef *def)
{
    return def->mode != PTC_MODE_TEXT;
}

/* A JSON object in a heap; an absent text is nil.  PTC_NONE with the fault. */
static PtcValue read_json_object(PtcHeap *heap, PtcText json, const char *path, PtcWhy *fault)
{
    PtcJsonError e = {0};
    char why[400];
    if (!json.bytes)
        return PTC_NIL;
    PtcValue v = ptc_json_parse(heap, json.bytes, json.len, &e);
    if (v != PTC_NONE && (ptc_is_map(v) || v == PTC_NIL))
        return v;
    if (v == PTC_NONE && e.stopped && json.len < WORK_SMALL_BYTES) {
        ptc_why_no_memory(fault);
        return PTC_NONE;
    }
    if (v != PTC_NONE)
        snprintf(why, sizeof why, "found something else; allowed is an object");
    else if (e.stopped)
        snprintf(why, sizeof why, "it does not fit in memory");
    else
        snprintf(why, sizeof why, "not JSON: line %u, column %u: %s", (unsigned)e.line,
                 (unsigned)e.column, e.message);
    ptc_fault_input(fault, path, "%s", why);
    return PTC_NONE;
}

static bool has_named_key(PtcValue map, const char *name)
{
    PtcValue key, value;
    for (size_t pos = 0; ptc_is_map(map) && ptc_map_next(map, &pos, &key, &value);)
        if (ptc_is_named(key) && ptc_text_is(ptc_str_text(key), name))
            return true;
    return false;
}

static bool read_work_context(PtcWork *w, PtcText json, PtcWhy *fault)
{
    PtcValue v = read_json_object(&w->bench.heap, json, "context", fault);
    if (v == PTC_NONE)
        return false;
    w->context = ptc_definition_context(w->def, &w->bench.heap, &w->bench.mem, v, fault);
    w->own_fail = w->context != PTC_NONE && has_named_key(w->context, "fail");
    return w->context != PTC_NONE;
}

/* Other servers take their time, and what they send is large. */
static void widen_work_limits(PtcWork *w, PtcLimits *limits)
{
    const PtcAgentDef *def = w->def;
    w->pmap_ms = w->pmap_ms > SERVERS_MS ? w->pmap_ms : SERVERS_MS;
    if (!ptc_definition_gives(def, "max_heap"))
        limits->memory_bytes = 64 * PTC_MB;
    if (!ptc_definition_gives(def, "pmap_max_concurrency"))
        limits->max_workers = 16;
}

static void set_work_limits(PtcWork *w, PtcLimits *limits)
{
    const PtcAgentDef *def = w->def;
    ptc_limits_unset(limits);
    limits->timeout_ms = def->timeout_ms;
    limits->deadline_ms =
        ptc_definition_gives(def, "deadline_ms") || def->deadline_ms > def->timeout_ms
            ? def->deadline_ms
            : def->timeout_ms;
    limits->memory_bytes = def->max_heap;
    limits->context_bytes = CONTEXT_BYTES;
    limits->session_bytes = SESSION_BYTES;
    limits->max_workers = def->pmap_workers;
    limits->check = def->check;
    if (def->max_tool_calls)
        limits->max_tool_calls = def->max_tool_calls;
    w->pmap_ms = def->pmap_timeout_ms;
    if (w->servers)
        widen_work_limits(w, limits);
}

static bool open_engine(PtcWork *w, PtcWhy *fault)
{
    PtcLimits limits;
    set_work_limits(w, &limits);
    w->ptc = ptc_engine_with(&limits);
    if (!w->ptc || !(w->session = ptc_session_open(w->ptc)) ||
        !(w->data = ptc_box_new(w->ptc, CONTEXT_BYTES)))
        return ptc_why_no_memory(fault);
    w->ptc->float_precision = (int)w->def->float_precision;
    w->session->history_bytes = (size_t)w->def->format.history_max_bytes;
    PtcCopy copy;
    ptc_copy_init(&copy, &w->data->heap);
    w->data_map = ptc_copy_value(&copy, w->context);
    ptc_copy_deinit(&copy);
    return w->data_map != PTC_NONE || ptc_why_no_memory(fault);
}

/* Definitions that the run starts with. */
static bool define_all(PtcWork *w, PtcValue map, PtcWhy *fault)
{
    PtcValue key, value;
    char path[200];
    for (size_t pos = 0; ptc_is_map(map) && ptc_map_next(map, &pos, &key, &value);) {
        PtcStatus status = ptc_session_define(w->session, ptc_str_text(key), value);
        if (status == PTC_NO_MEMORY)
            return ptc_why_no_memory(fault);
        if (status == PTC_OK)
            continue;
        snprintf(path, sizeof path, "run.memory.%.*s",
                 PTC_ARG(ptc_text_cut(ptc_str_view(key), 150)));
        return ptc_fault_input(fault, path, "%s",
                               status == PTC_BAD_DATA ? "it is larger than memory_limit allows"
                                                      : "found a name that no program can define");
    }
    return true;
}

static bool bring_in(PtcWork *w, const PtcWorkInput *in, PtcWhy *fault)
{
    PtcValue memory = read_json_object(&w->data->heap, in->memory, "run.memory", fault);
    PtcValue journal = memory == PTC_NONE
                           ? PTC_NONE
                           : read_json_object(&w->data->heap, in->journal, "run.journal", fault);
    if (journal == PTC_NONE || !define_all(w, memory, fault))
        return false;
    if (journal == PTC_NIL)
        journal = ptc_map_empty(&w->data->heap);
    return (journal != PTC_NONE && ptc_session_set_journal(w->session, journal) == PTC_OK) ||
           ptc_why_no_memory(fault);
}

/* Without programs nothing changes a journal or a memory, but what was brought is passed on in the outcome. */
static bool needs_session(const PtcAgentDef *def, const PtcWorkInput *in)
{
    return has_programs(def) || in->journal.bytes || in->memory.bytes;
}

bool ptc_work_open(PtcWork *w, const PtcAgentDef *def, const PtcWorkInput *in, PtcWhy *fault)
{
    memset(w, 0, sizeof *w);
    w->def = def;
    w->servers = in->servers;
    w->context = w->data_map = PTC_NIL;
    ptc_mem_init(&w->mem, WORK_BYTES);
    ptc_arena_init(&w->arena, &w->mem);
    ptc_bench_init(&w->bench);
    if (!read_work_context(w, in->context, fault))
        return false;
    size_t n = def->tools ? def->tools->count : 0;
    w->tally = ptc_mem_alloc(&w->mem, (n + 1) * sizeof *w->tally);
    if (!w->tally)
        return ptc_why_no_memory(fault);
    memset(w->tally, 0, (n + 1) * sizeof *w->tally);
    return !needs_session(def, in) || (open_engine(w, fault) && bring_in(w, in, fault));
}

void ptc_work_close(PtcWork *w)
{
    ptc_outcome_drop(w->outcome);
    ptc_native_free(w->native);
    if (w->data)
        ptc_box_release(&w->data->heap);
    ptc_session_drop(w->session);
    if (w->ptc)
        ptc_engine_free(w->ptc);
    size_t n = w->def->tools ? w->def->tools->count : 0;
    if (w->tally)
        ptc_mem_free(&w->mem, w->tally, (n + 1) * sizeof *w->tally);
    ptc_bench_deinit(&w->bench);
    ptc_arena_deinit(&w->arena);
}

/* A text agent has no session of its own; its cache lives in one all the same. */
PtcCache *ptc_work_cache(PtcWork *w)
{
    PtcWhy ignored;
    bool any = false;
    for (size_t i = 0; i < w->def->tools->count; i++)
        any = any || w->def->tools->items[i].info.cache;
    if (any && !w->ptc && !open_engine(w, &ignored))
        return NULL;
    return any && w->session ? ptc_session_cache(w->session) : NULL;
}

void ptc_work_rest(PtcWork *w)
{
    ptc_outcome_drop(w->outcome);
    w->outcome = NULL;
    if (w->ptc)
        ptc_engine_rest(w->ptc);
}
