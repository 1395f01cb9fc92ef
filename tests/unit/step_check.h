/* SPDX-License-Identifier: MIT
 * step_check.h - what always holds of the step of an agent, whatever the events. */
#ifndef PTC_TESTS_STEP_CHECK_H
#define PTC_TESTS_STEP_CHECK_H

#include "step_help.h"

/* Roles and calls; the answers to the calls of the last turn may be missing while that is under way. */
static inline const char *messages_wrong(const PtcStep *s)
{
    const PtcConversation *c = &s->now.messages;
    bool busy = s->now.state == PTC_STEP_RUNNING || s->now.state == PTC_STEP_CALLING;
    size_t count = busy ? s->now.turn_first : c->count;
    static PtcWhy why;
    if (!ptc_messages_check(c->items, count, &why))
        return why.text;
    for (size_t i = 1; i < count; i++)
        if (c->items[i].role == PTC_ROLE_USER && c->items[i - 1].role == PTC_ROLE_USER)
            return "two messages of the user stand together";
    if (busy && (c->count != count + 1 || c->items[count].role != PTC_ROLE_ASSISTANT))
        return "a turn under way has one message";
    return NULL;
}

static inline const char *ids_wrong(const PtcStep *s)
{
    const PtcConversation *c = &s->now.messages;
    for (size_t i = 0; i < c->count; i++)
        for (size_t k = 0; k < c->items[i].call_count; k++)
            for (size_t j = 0; j <= i; j++)
                for (size_t l = 0; l < c->items[j].call_count && (j < i || l < k); l++)
                    if (ptc_text_same(c->items[i].calls[k].id, c->items[j].calls[l].id))
                        return "two calls have one id";
    return NULL;
}

static inline const char *turns_wrong(const PtcStep *s)
{
    const PtcStepNow *n = &s->now;
    if (n->work < 0 || n->retry < 0 || n->work > s->def->max_turns ||
        n->retry > s->def->retry_turns)
        return "turns are out of bounds";
    if ((int64_t)n->turn_count + n->work + n->retry != s->def->max_turns + s->def->retry_turns)
        return "turns do not add up";
    for (size_t i = 0; i < n->turn_count; i++)
        if (n->turns[i].ok == (n->turns[i].reason != PTC_FAULT_NONE))
            return "a turn is ok, or has a reason";
    return NULL;
}

/* What is sent begins with a user's message and ends with a user's or a tool's, roles alternating. */
static inline const char *request_wrong(const PtcAction *a)
{
    static PtcMessage all[4096];
    size_t n = 0;
    static PtcWhy why;
    if (a->kind != PTC_ACTION_ASK)
        return NULL;
    for (int p = 0; p < 2; p++)
        for (size_t i = 0; i < a->request.parts[p].count && n < 4096; i++)
            all[n++] = a->request.parts[p].items[i];
    if (n == 0)
        return "an empty request";
    if (!ptc_messages_check(all, n, &why))
        return why.text;
    return all[n - 1].role == PTC_ROLE_ASSISTANT ? "a request ends with the assistant" : NULL;
}

static inline const char *verdict_wrong(const Driver *d)
{
    const PtcVerdict *v = &d->step.now.verdict;
    bool done = d->step.now.state == PTC_STEP_DONE;
    if (done != (d->action.kind == PTC_ACTION_FINISH))
        return "done without a finish";
    if (done && (v->ok == (v->reason != PTC_FAULT_NONE) || v->ok != (v->by != NULL)))
        return "a verdict is ok, or has a reason";
    return done && v->ok && !v->value.bytes ? "an answer without a value" : NULL;
}

/* What is wrong, or NULL.  budget: turns of the tree at the start, when nobody else took any; else -1. */
static inline const char *step_wrong(const Driver *d, int64_t budget)
{
    int64_t used = budget - d->facts.budget - d->claimed;
    bool busy = d->step.now.state == PTC_STEP_RUNNING || d->step.now.state == PTC_STEP_CALLING;
    bool done = d->step.now.state == PTC_STEP_DONE;
    if (d->facts.budget < 0)
        return "the budget is negative";
    if (budget >= 0 && !done && used != (int64_t)d->step.now.turn_count + busy)
        return "the budget does not add up";
    const char *wrong[] = {messages_wrong(&d->step), ids_wrong(&d->step), turns_wrong(&d->step),
                           request_wrong(&d->action), verdict_wrong(d)};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (wrong[i])
            return wrong[i];
    return NULL;
}

#endif
