/* SPDX-License-Identifier: MIT
 * The answer: what stands at every return, and at the end, against what was asked for.  Only where all of them are
 * wrong is it certain that the program has none. */
#include <stdio.h>

#include "lisp/check/check_int.h"

static void say_wrong_answer(Finding *f, const Misfit *m)
{
    char word[CHECK_WORD];
    if (m->missing.bytes)
        ptc_diag_format(f->message, PTC_MESSAGE_MAX + 1,
                        "the answer is not what was asked for: it has no :%s",
                        ptc_check_word(m->missing, word));
    else
        ptc_diag_format(f->message, PTC_MESSAGE_MAX + 1,
                        "the answer is not what was asked for: %s%s%s", m->path,
                        m->path[0] ? ": " : "", m->what);
    ptc_diag_format(f->hint, PTC_HINT_MAX + 1, "nothing has run yet: give what the signature asks");
}

void ptc_check_answer(Checker *c, const PtcExpr *at, const PtcOutline *o)
{
    Misfit m;
    const PtcSketch *want = c->job->answer;
    bool is_end = at->kind != PTC_X_STOP;
    unsigned none = PTC_IS_NIL | PTC_IS_OTHER;
    if (!want || c->dry || o->kinds == 0 || !c->job->facts->calls)
        return; /* without calls there is nothing to be saved: who has the value can say it better */
    if (is_end &&
        (c->job->bare == PTC_BARE_NONE || (c->job->bare == PTC_BARE_PLAIN && o->kinds & none))) {
        c->answer_unsure = true; /* the program may end without an answer */
        return;
    }
    c->answers++;
    if (!ptc_check_misfit(c, FIT_ANSWER, o, want, &m))
        return;
    c->misfits++;
    Finding *f = ptc_check_claim(c, at, false, PTC_E_VALIDATION, PTC_W_ANSWER);
    if (f)
        say_wrong_answer(f, &m);
}

void ptc_check_end_answers(Checker *c)
{
    bool all = c->answers > 0 && c->answers == c->misfits && !c->answer_unsure;
    for (uint32_t i = 0; all && i < c->finding_count; i++)
        if (c->findings[i].kind == PTC_E_VALIDATION)
            c->findings[i].error = true;
}
