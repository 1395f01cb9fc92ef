/* SPDX-License-Identifier: MIT
 * One check of a program, from beginning to report. */
#include "lisp/check/check_program.h"

#include <stddef.h>
#include <string.h>

#include "lisp/check/check_int.h"

/* A program that reaches for nothing outside has nothing to be held against. */
static bool is_worth_it(const PtcCheckJob *job)
{
    return job->mode != PTC_CHECK_OFF && job->facts->outside;
}

static Checker *begin(const PtcCheckJob *job)
{
    const PtcAnalysis *a = job->analysis;
    size_t n = job->facts->def_count;
    Checker *c = ptc_arena_alloc(a->arena, sizeof *c);
    if (c)
        memset(c, 0, offsetof(Checker, trail));
    if (!c || !(c->globals = ptc_arena_zalloc(a->arena, (n ? n : 1) * sizeof *c->globals)))
        return NULL;
    c->os.arena = c->arena = a->arena;
    c->os.lost = ptc_check_lost;
    c->os.user = c;
    c->heap = a->heap;
    c->job = job;
    c->here = (Here){.certain = true};
    c->data = (PtcValueWalk){.os = &c->os,
                             .heap = a->heap,
                             .flags = PTC_OUTLINE_GIVEN,
                             .of_fn = ptc_check_fn_of_value,
                             .user = c};
    c->text = c->data;
    c->text.flags = 0;
    return c;
}

/* Is what is found in it the same whenever it is checked with these tools? */
static bool may_be_kept(const PtcCheckJob *job)
{
    const PtcAnalysis *a = job->analysis;
    return job->kept && a->host && !a->servers && !job->facts->values &&
           (!job->answer || job->answer_text.bytes);
}

bool ptc_check_program(const PtcCheckJob *job, PtcFn *program)
{
    const PtcAnalysis *a = job->analysis;
    PtcBudget *budget = a->heap->budget;
    PtcText source = {a->source, a->source_len};
    if (!is_worth_it(job))
        return true;
    bool keeps = may_be_kept(job);
    if (keeps && ptc_check_kept_has(job->kept, source, job->answer_text, a->host->number))
        return true;
    Checker *c = begin(job);
    if (!c)
        return false;
    c->fn = program;
    (void)ptc_check_expr(c, program->arities[0].body, true);
    ptc_check_end_functions(c);
    c->here = (Here){.certain = true};
    ptc_check_report_keys(c);
    ptc_check_end_answers(c);
    bool ok = ptc_check_report(c) && budget->stop == PTC_STOP_NONE && !c->arena->failed;
    if (ok && keeps && c->finding_count == 0 && !c->passing)
        ptc_check_kept_add(job->kept, a->arena->mem, source, job->answer_text, a->host->number);
    return ok;
}
