/* SPDX-License-Identifier: MIT
 * Reads direct answers.  Candidates come in a fixed order and are judged one by one; the first that fits ends the
 * search, and if none does, the findings are those of the first. */
#include "agent/step/read_answer.h"

#include "agent/step/blocks.h"
#include "agent/step/program_text.h"
#include "json/parse.h"
#include "tool/sig/sig_check.h"
#include "tool/sig/sig_int.h"
#include "value/coll/map.h"
#include "value/str.h"

enum { FACTOR = 8 };

typedef struct AnswerSearch {
    PtcBench *b;
    const PtcWant *want;
    PtcAnswer *out;
    size_t candidates;
    size_t most; /* bytes that may be read */
    bool failed; /* out of memory: nothing more can be found */
    bool over;   /* that, or an answer was found */
} AnswerSearch;

/* --------------------------------------------------------------------------- candidates */

/* What {"items": [...]} and {"value": x} stand for, when such a wrapper was asked for. */
static PtcValue unwrap_answer(const AnswerSearch *s, PtcValue v)
{
    PtcValue key, value;
    size_t pos = 0;
    if (s->want->wrap == PTC_WRAP_NONE || !ptc_is_map(v) || ptc_map_count(v) != 1 ||
        !ptc_map_next(v, &pos, &key, &value))
        return v;
    bool items = s->want->wrap == PTC_WRAP_ITEMS;
    return ptc_text_is(ptc_str_text(key), items ? "items" : "value") ? value : v;
}

static void give_search_up(AnswerSearch *s)
{
    s->failed = s->over = true;
}

static void accept_answer(AnswerSearch *s, PtcText json)
{
    s->out->kind = PTC_ANSWER_FITS;
    s->out->json = json;
    s->over = true;
}

/* Judges a value that came from JSON. */
static void offer_json_value(AnswerSearch *s, PtcValue v)
{
    PtcJudged judged;
    PtcAnswer *out = s->out;
    v = unwrap_answer(s, v);
    if (s->want->sig)
        v = ptc_sig_atomize(&s->b->heap, s->want->sig->result, v);
    s->candidates++;
    if (v == PTC_NONE || !ptc_judge(s->b, s->want, v, &judged)) {
        give_search_up(s);
    } else if (judged.fits) {
        accept_answer(s, judged.json);
    } else if (out->kind != PTC_ANSWER_WRONG) {
        out->kind = PTC_ANSWER_WRONG;
        out->json = judged.json;
        out->issues = judged.issues;
        out->findings = judged.findings;
    }
}

/* Offers a text that is JSON as a whole. */
static void offer_text(AnswerSearch *s, PtcText text)
{
    PtcJsonError e;
    if (s->over || s->candidates == PTC_ANSWER_CANDIDATES || text.len == 0)
        return;
    s->out->work += text.len;
    PtcValue v = ptc_json_parse(&s->b->heap, text.bytes, text.len, &e);
    ptc_budget_go_on(&s->b->budget);
    if (v != PTC_NONE)
        offer_json_value(s, v);
    else if (e.stopped)
        give_search_up(s);
}

/* --------------------------------------------------------------------------- bare words */

/* Offers the text as a string, when it is a date-time or a word and such a type is wanted. */
static void offer_bare(AnswerSearch *s, const PtcSigType *type, PtcText text)
{
    PtcMoment when;
    PtcWhy why;
    bool keyword = type->kind == PTC_SIG_KEYWORD;
    if (keyword && text.len && text.bytes[0] == ':')
        text = (PtcText){text.bytes + 1, text.len - 1};
    PtcValue str = ptc_str_new(&s->b->heap, text.bytes, text.len);
    if (str == PTC_NONE)
        give_search_up(s);
    else if (keyword ? ptc_sig_keyword_name(str) : ptc_sig_datetime_read(str, &when, &why))
        offer_json_value(s, str);
}

/* ------------------------------------------------------------------------------- search */

static bool is_json_block(const PtcBlock *block)
{
    return block->closed &&
           (block->fence.tag.len == 0 || ptc_blocks_tagged(block->fence.tag, "json"));
}

static void offer_blocks(AnswerSearch *s, PtcText text)
{
    PtcBlock block;
    for (size_t pos = 0; !s->over && ptc_blocks_next(text, &pos, &block);)
        if (is_json_block(&block))
            offer_text(s, ptc_blocks_trim(block.body));
}

/* The position of the next { or [; the length of the text if there is none. */
static size_t next_bracket(PtcText text, size_t at)
{
    while (at < text.len && text.bytes[at] != '{' && text.bytes[at] != '[')
        at++;
    return at;
}

/* Pieces of the text that are JSON objects or arrays, from the left. */
static void offer_pieces(AnswerSearch *s, PtcText text)
{
    size_t at = next_bracket(text, 0);
    while (!s->over && at < text.len && s->candidates < PTC_ANSWER_CANDIDATES &&
           s->out->work <= s->most) {
        PtcJsonError e;
        size_t used = 0, rest = text.len - at;
        PtcValue v = ptc_json_parse_prefix(&s->b->heap, text.bytes + at, rest, &used, &e);
        ptc_budget_go_on(&s->b->budget);
        if (v == PTC_NONE && e.stopped) {
            give_search_up(s);
            return;
        }
        if (v == PTC_NONE)
            used = e.offset > 0 ? e.offset : 1;
        else
            offer_json_value(s, v);
        s->out->work += used;
        at = next_bracket(text, at + used);
    }
}

/* A type that is read from JSON. */
static void search_for_answer(AnswerSearch *s, PtcText text)
{
    const PtcSigType *type = ptc_want_type(s->want);
    PtcText inner = ptc_blocks_trim(text);
    s->out->kind = PTC_ANSWER_NO_JSON;
    if (type && (type->kind == PTC_SIG_DATETIME || type->kind == PTC_SIG_KEYWORD))
        offer_bare(s, type, inner);
    offer_text(s, inner);
    offer_blocks(s, text);
    offer_pieces(s, text);
}

/* ----------------------------------------------------------------------------- the text */

static void take_text_answer(AnswerSearch *s, PtcText text)
{
    PtcValue v = ptc_str_new(&s->b->heap, text.bytes, text.len);
    PtcJudged judged;
    if (v != PTC_NONE && ptc_judge(s->b, &(PtcWant){.float_precision = -1}, v, &judged))
        accept_answer(s, judged.json);
    else
        give_search_up(s);
}

/* For :any, JSON counts only when it is the whole text, or all that a single fence contains.  `lines` is the text
 * with LF. */
static void take_any(AnswerSearch *s, PtcText text, PtcText lines)
{
    PtcBlock block;
    size_t pos = 0;
    PtcText inner = ptc_blocks_trim(lines);
    offer_text(s, inner);
    if (!s->over && ptc_blocks_next(inner, &pos, &block) && block.first == 0 &&
        block.last == inner.len && is_json_block(&block))
        offer_text(s, ptc_blocks_trim(block.body));
    if (!s->over)
        take_text_answer(s, text);
}

bool ptc_read_answer(PtcBench *b, const PtcWant *want, PtcText text, PtcAnswer *out)
{
    const PtcSigType *type = ptc_want_type(want);
    AnswerSearch s = {.b = b, .want = want, .out = out, .most = FACTOR * text.len};
    PtcBuf buf;
    *out = (PtcAnswer){.kind = PTC_ANSWER_EMPTY};
    if (ptc_blocks_trim(text).len == 0)
        return true;
    if (!want->schema && (!type || type->kind == PTC_SIG_STRING)) {
        take_text_answer(&s, text);
        return !s.failed;
    }
    ptc_buf_init(&buf, &b->mem, text.len);
    ptc_plain_add_lines(&buf, text);
    PtcText lines = ptc_bench_take(b, &buf);
    if (!lines.bytes)
        return false;
    if (!want->schema && type->kind == PTC_SIG_ANY)
        take_any(&s, text, lines);
    else
        search_for_answer(&s, lines);
    return !s.failed;
}
