/* SPDX-License-Identifier: MIT
 * Reads tools written in PTC-Lisp.  What always holds: a text is run once, with its own limits, and only a function
 * without global variables is accepted. */
#include "tool/source.h"

#include <stdio.h>

#include "lisp/compile/program.h"
#include "lisp/lib/builtins.h"
#include "lisp/vm/limits.h"
#include "lisp/vm/record.h"
#include "tool/kind/kind.h"

enum { SOURCE_DEPTH = 1000 };

/* The state of reading one text. */
typedef struct SourceJob {
    PtcSource *source;
    PtcArena arena;
    PtcDiags diags;
    PtcNames names;
    PtcHeap heap;
    const char *text;
    size_t len;
    PtcWhy *why;
} SourceJob;

void ptc_source_init(PtcSource *s, PtcTools *tools)
{
    s->tools = tools;
    s->started = false;
    s->left_ms = PTC_SOURCE_MS;
}

void ptc_source_deinit(PtcSource *s)
{
    if (s->started)
        ptc_vm_deinit(&s->vm);
}

static bool start_source_vm(PtcSource *s)
{
    ptc_builtins_ready(); /* sources are read before there is an engine */
    if (!s->started && ptc_vm_init(&s->vm, &s->tools->mem, SOURCE_DEPTH)) {
        ptc_budget_init(&s->vm.budget);
        s->started = true;
    }
    return s->started;
}

static void open_job(SourceJob *job)
{
    PtcSource *s = job->source;
    ptc_arena_init(&job->arena, &s->tools->mem);
    ptc_diags_init(&job->diags, &job->arena);
    ptc_names_init(&job->names, &s->tools->mem);
    ptc_heap_init(&job->heap, &s->tools->kept.pool, &s->vm.budget,
                  (size_t)ptc_default_limits.memory_bytes);
}

static void close_source_job(SourceJob *job)
{
    PtcVM *vm = &job->source->vm;
    ptc_prints_deinit(&vm->prints);
    ptc_warnings_deinit(&vm->warnings);
    ptc_log_deinit(&vm->log, vm->mem);
    ptc_heap_deinit(&job->heap);
    ptc_names_deinit(&job->names);
    ptc_arena_deinit(&job->arena);
}

/* ------------------------------------------------------------------------------- reasons */

static void tell_diag(const SourceJob *job, const PtcDiag *d)
{
    uint32_t line, column;
    ptc_diag_place(job->text, job->len, d->first < job->len ? d->first : 0, &line, &column);
    ptc_why_say(job->why, PTC_WHY_INVALID, "lisp: line %u, column %u: %s", (unsigned)line,
                (unsigned)column, d->message);
}

static void tell_source_failure(const SourceJob *job)
{
    const PtcVM *vm = &job->source->vm;
    if (job->diags.count > 0)
        tell_diag(job, &job->diags.items[0]);
    else if (vm->control != PTC_CONTROL_NONE)
        ptc_why_say(job->why, PTC_WHY_INVALID, "lisp must give a function, but ends with (%s ...)",
                    vm->control == PTC_CONTROL_FAIL ? "fail" : "return");
    else
        tell_diag(job, &vm->error);
}

static bool is_callable_value(PtcValue v)
{
    return ptc_is(v, PTC_T_CLOSURE) || ptc_is_builtin(v) || ptc_is_record(v, PTC_R_FN);
}

/* Is what the text produced, or uses, acceptable for a tool? */
static bool check_source_result(const SourceJob *job)
{
    PtcValue v = job->source->vm.result;
    if (job->names.count > 0)
        return ptc_why_say(job->why, PTC_WHY_INVALID,
                           "lisp defines the global variable %s, which a tool cannot have; use let",
                           job->names.items[0].text);
    return is_callable_value(v) ||
           ptc_why_say(job->why, PTC_WHY_INVALID,
                       "lisp must give a function, such as (fn [args] ...), not %s",
                       ptc_type_name(v));
}

/* ---------------------------------------------------------------------------------- read */

static PtcValue copy_source_result(const SourceJob *job)
{
    PtcCopy copy;
    ptc_copy_init(&copy, &job->source->tools->kept.heap);
    PtcValue v = ptc_copy_value(&copy, job->source->vm.result);
    ptc_copy_deinit(&copy);
    if (v == PTC_NONE)
        ptc_why_say(job->why, PTC_WHY_NO_MEMORY, "lisp: out of memory");
    return v;
}

static PtcValue run_source(SourceJob *job)
{
    PtcPhase phase;
    PtcProgram program = {.source = job->text,
                          .len = job->len,
                          .context = PTC_NIL,
                          .names = &job->names,
                          .limits = ptc_default_limits,
                          .journal = PTC_NIL,
                          .remaining = PTC_NIL,
                          .heap = &job->heap};
    PtcLimits *limits = &program.limits;
    limits->timeout_ms = limits->deadline_ms = job->source->left_ms;
    limits->max_depth = SOURCE_DEPTH;
    limits->print_bytes = PTC_KB;
    limits->max_workers = 1;
    if (ptc_program_run(&job->source->vm, &program, &job->arena, &job->diags, &phase))
        return check_source_result(job) ? copy_source_result(job) : PTC_NONE;
    tell_source_failure(job);
    return PTC_NONE;
}

PtcValue ptc_source_read(PtcSource *s, const char *text, size_t len, PtcWhy *why)
{
    SourceJob job = {.source = s, .text = text, .len = len, .why = why};
    if (!start_source_vm(s)) {
        ptc_why_say(why, PTC_WHY_NO_MEMORY, "lisp: out of memory");
        return PTC_NONE;
    }
    int64_t begun = ptc_clock_ns(NULL);
    open_job(&job);
    PtcValue v = run_source(&job);
    close_source_job(&job);
    int64_t took = (ptc_clock_ns(NULL) - begun) / PTC_MS;
    s->left_ms = took < s->left_ms ? s->left_ms - took : 0;
    return v;
}

/* A copy that lives as long as the set. */
static bool keep_lisp_source(PtcTools *tools, PtcText text, PtcText *kept)
{
    char *copy = ptc_arena_alloc(&tools->kept.arena, text.len + 1);
    if (!copy)
        return false;
    memcpy(copy, text.bytes, text.len);
    *kept = (PtcText){copy, text.len};
    return true;
}

static bool read_lisp_source(PtcToolReader *r, PtcValue v)
{
    PtcWhy why;
    if (!ptc_is_string(v))
        return ptc_kind_refuse(r, "lisp must be a string such as \"(fn [args] ...)\", not %s",
                               ptc_type_name(v));
    if (!keep_lisp_source(r->tools, ptc_str_text(v), &r->tool.source))
        return ptc_kind_refuse_memory(r);
    r->tool.lisp = ptc_source_read(&r->source, ptc_str_bytes(v), ptc_str_len(v), &why);
    return r->tool.lisp != PTC_NONE || ptc_kind_refuse(r, "%s", why.text);
}

const PtcToolKind ptc_source_kind = {
    .key = "lisp",
    .doc = "a function in PTC-Lisp: (fn [args] ...)",
    .schema = "{\"type\": \"string\"}",
    .read = read_lisp_source,
    .inside = true,
};
