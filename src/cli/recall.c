/* SPDX-License-Identifier: MIT
 * Reaches behind the public API (api_int.h): a result cannot be stored by a program, because it is
 * known only when the program has ended. */
#include "cli/recall.h"

#include "api/api_int.h"
#include "value/copy.h"

enum { RESULTS = 3, COPY_MS = 2000 };

static const char *const names[RESULTS] = {"*1", "*2", "*3"};

PtcSession *ptc_recall_session(Ptc *ptc)
{
    PtcSession *s = ptc_session_new(ptc);
    PtcOutcome *outcome = NULL;
    PtcRun run;
    ptc_run_init(&run, sizeof run);
    run.program = "(def *1 nil) (def *2 nil) (def *3 nil)";
    run.program_len = strlen(run.program);
    run.session = s;
    if (s && ptc_eval(ptc, &run, &outcome) == PTC_OK && ptc_outcome_ok(outcome)) {
        ptc_outcome_free(outcome);
        return s;
    }
    ptc_outcome_free(outcome);
    ptc_session_free(s);
    return NULL;
}

void ptc_recall_push(PtcSession *s, PtcValue value)
{
    PtcCopy copy;
    PtcValue *slots[RESULTS];
    for (int i = 0; i < RESULTS; i++) {
        int at = ptc_names_find(&s->names, names[i], 2);
        if (at < 0 || (size_t)at >= s->global_cap)
            return;
        slots[i] = &s->globals[at];
    }
    ptc_budget_start(s->ptc, &s->box->budget, COPY_MS);
    ptc_copy_init(&copy, &s->box->heap);
    PtcValue mine = ptc_copy_value(&copy, value);
    ptc_copy_deinit(&copy);
    if (mine == PTC_NONE)
        return;
    for (int i = RESULTS - 1; i > 0; i--)
        *slots[i] = *slots[i - 1];
    *slots[0] = mine;
}

void ptc_recall_names(const PtcSession *s, void (*each)(void *user, const char *name, size_t len),
                      void *user)
{
    for (size_t i = 0; i < s->names.count && i < s->global_cap; i++)
        if (s->globals[i] != PTC_UNBOUND && s->names.items[i].text[0] != '*')
            each(user, s->names.items[i].text, s->names.items[i].len);
}

const PtcLimits *ptc_recall_limits(const Ptc *ptc)
{
    return &ptc->limits;
}
