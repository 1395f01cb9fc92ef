/* SPDX-License-Identifier: MIT
 * One check of a program, from beginning to report. */
#include "lisp/check/check_program.h"

#include "lisp/check/check_int.h"

/* A program that reaches for nothing outside, and whose answer may be anything, has nothing to be held against. */
static bool is_worth_it(const PtcCheckJob *job)
{
    return job->mode != PTC_CHECK_OFF && (job->facts->outside || job->answer);
}

static Checker *begin(const PtcCheckJob *job)
{
    const PtcAnalysis *a = job->analysis;
    size_t n = job->facts->def_count;
    Checker *c = ptc_arena_zalloc(a->arena, sizeof *c);
    if (!c || !(c->globals = ptc_arena_zalloc(a->arena, (n ? n : 1) * sizeof *c->globals)))
        return NULL;
    c->os.arena = c->arena = a->arena;
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

bool ptc_check_program(const PtcCheckJob *job, PtcFn *program)
{
    PtcBudget *budget = job->analysis->heap->budget;
    if (!is_worth_it(job))
        return true;
    Checker *c = begin(job);
    if (!c)
        return false;
    c->fn = program;
    (void)ptc_check_expr(c, program->arities[0].body, true);
    c->here = (Here){.certain = true};
    ptc_check_report_keys(c);
    ptc_check_end_answers(c);
    return ptc_check_report(c) && budget->stop == PTC_STOP_NONE && !c->arena->failed;
}
