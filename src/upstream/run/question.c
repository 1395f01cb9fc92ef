/* SPDX-License-Identifier: MIT
 * The question about calls that wait.  What always holds: a call is marked as asked about only if its tool stands in
 * the text, with its effect before its name and the number of its calls behind it; a tool that does not fit waits for
 * the next question with all of its calls. */
#include "upstream/run/question.h"

#include "base/text/clean.h"
#include "json/emit.h"
#include "upstream/catalog/quoted.h"
#include "upstream/run/serve_int.h"

/* More calls of a tool than the first are shown while there are few and the question is short. */
enum {
    QUESTION_TEXT_BYTES = 16 * PTC_KB,
    SHORT_BYTES = 6 * PTC_KB,
    QUESTION_SEEN_BYTES = 1024, /* of a question whose end is read with its beginning in sight */
    SHOWN_CALLS = 20,
    QUESTION_NAME_BYTES = 300,
};

typedef struct {
    PtcUpRun *run;
    PtcBuf *text;
    size_t begin;        /* of the question in the text */
    size_t tools, calls; /* that it is about */
    size_t shown;        /* calls with their arguments */
} Question;

static bool is_same_tool(const PtcReplayCall *a, const PtcReplayCall *b)
{
    return ptc_replay_waits(a) && ptc_replay_waits(b) && a->effect == b->effect &&
           memcmp(a->pin, b->pin, sizeof a->pin) == 0 && ptc_text_same(a->server, b->server) &&
           ptc_text_same(a->tool, b->tool);
}

/* How many calls of its tool wait; 0: an earlier call stands for them. */
static size_t count_calls(const PtcReplay *r, size_t first)
{
    size_t n = 0;
    for (size_t i = 0; i < r->count; i++) {
        bool same = is_same_tool(&r->items[first], &r->items[i]);
        if (same && i < first)
            return 0;
        n += same;
    }
    return n;
}

/* 1. destructive "notes"/"write" {"text":"a"} */
static size_t add_asked_calls(const Question *q, size_t first, size_t n, PtcBuf *out)
{
    const PtcReplay *r = &q->run->replay;
    const PtcReplayCall *part = &r->items[first];
    size_t shown = 0;
    ptc_buf_addf(out, "\n%zu. %s ", q->tools + 1, ptc_effect_name(part->effect));
    ptc_quoted_add(out, part->server, QUESTION_NAME_BYTES);
    ptc_buf_add_char(out, '/');
    ptc_quoted_add(out, part->tool, QUESTION_NAME_BYTES);
    if (n > 1)
        ptc_buf_addf(out, ", %zu calls:", n);
    if (ptc_grant_lapse(part->was))
        ptc_buf_addf(out, "\n   (%s)%s", ptc_grant_lapse(part->was), n > 1 ? "" : "\n  ");
    for (size_t i = first; i < r->count; i++) {
        const PtcReplayCall *call = &r->items[i];
        bool fits = q->shown + shown < SHOWN_CALLS &&
                    q->text->len - q->begin + out->len + call->args_len < SHORT_BYTES;
        if (!is_same_tool(part, call) || (shown && !fits))
            continue;
        ptc_buf_addf(out, "%s%.*s", n > 1 ? "\n   " : " ", PTC_ARG_OF(call->args, call->args_len));
        shown++;
    }
    if (shown < n)
        ptc_buf_addf(out, "\n   and %zu more, whose arguments are not shown", n - shown);
    return shown;
}

static void add_asked_tool(Question *q, size_t first)
{
    PtcReplay *r = &q->run->replay;
    PtcBuf part;
    size_t n = count_calls(r, first);
    ptc_buf_init(&part, q->run->mem, QUESTION_TEXT_BYTES);
    size_t shown = n ? add_asked_calls(q, first, n, &part) : 0;
    bool fits = n && !part.full && q->text->len - q->begin + part.len <= QUESTION_TEXT_BYTES;
    if (fits && ptc_buf_add(q->text, part.data, part.len)) {
        q->tools++;
        q->calls += n;
        q->shown += shown;
        for (size_t i = first; i < r->count; i++)
            r->items[i].asked = r->items[i].asked || is_same_tool(&r->items[first], &r->items[i]);
    }
    ptc_buf_end_part(q->text, &part);
}

/* What does the most harm comes first. */
static const PtcEffectKind order[] = {PTC_EFFECT_DESTRUCTIVE, PTC_EFFECT_UNKNOWN, PTC_EFFECT_WRITE,
                                      PTC_EFFECT_READ};

/* The beginning of a long question may be out of sight when its end is read. */
static void add_totals(const Question *q)
{
    const PtcReplay *r = &q->run->replay;
    const char *before = "\nthese are ";
    for (size_t k = 0; k < sizeof order / sizeof *order; k++) {
        size_t n = 0;
        for (size_t i = 0; i < r->count; i++)
            n += r->items[i].asked && r->items[i].effect == order[k];
        if (n)
            ptc_buf_addf(q->text, "%s%zu %s", before, n, ptc_effect_name(order[k]));
        before = n ? ", " : before;
    }
    ptc_buf_add_cstr(q->text, q->calls == 1 ? " call" : " calls");
}

static size_t add_question_text(PtcUpRun *run, PtcBuf *text)
{
    Question q = {.run = run, .text = text, .begin = text->len};
    size_t all = ptc_replay_waiting(&run->replay);
    for (size_t i = 0; i < run->replay.count; i++)
        run->replay.items[i].asked = false;
    for (size_t k = 0; k < sizeof order / sizeof *order; k++)
        for (size_t i = 0; i < run->replay.count; i++)
            if (ptc_replay_waits(&run->replay.items[i]) && run->replay.items[i].effect == order[k])
                add_asked_tool(&q, i);
    if (text->len - q.begin > QUESTION_SEEN_BYTES)
        add_totals(&q);
    if (q.calls < all)
        ptc_buf_addf(text, "\n%zu more calls wait; this question is not about them", all - q.calls);
    return q.calls;
}

static void put_clean_line(PtcBuf *out, PtcMem *mem, const char *key, PtcText text)
{
    PtcBuf clean;
    ptc_buf_init(&clean, mem, 8 * PTC_CLEAN_LINE);
    ptc_clean_add(&clean, text, PTC_CLEAN_LINE, false);
    ptc_emit_field_text(out, key, ptc_buf_view(&clean));
    ptc_buf_end_part(out, &clean);
}

static void add_question_json(PtcUpRun *run, PtcBuf *out)
{
    size_t shown = 0;
    ptc_emit_array(out);
    if (run->mode == PTC_REMOTE_PLANS)
        ptc_buf_add(out, run->plan.data, run->plan.len);
    for (size_t i = 0; i < run->replay.count && shown < SHOWN_CALLS; i++) {
        const PtcReplayCall *part = &run->replay.items[i];
        if (!ptc_replay_waits(part))
            continue;
        shown++;
        ptc_emit_object(out);
        put_clean_line(out, run->mem, "server", part->server);
        put_clean_line(out, run->mem, "tool", part->tool);
        ptc_emit_field_cstr(out, "effect", ptc_effect_name(part->effect));
        ptc_emit_field_text(out, "args", (PtcText){part->args ? part->args : "", part->args_len});
        ptc_emit_object_end(out);
    }
    ptc_emit_array_end(out);
}

size_t ptc_question_add(void *user, PtcBuf *text, PtcBuf *json)
{
    PtcUpRun *run = user;
    if (json)
        add_question_json(run, json);
    return text ? add_question_text(run, text) : ptc_replay_waiting(&run->replay);
}
