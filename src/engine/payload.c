/* SPDX-License-Identifier: MIT
 * The answer of `lisp_eval` for an outcome: collects the texts in the form that protocol.h wants, and has it
 * write them.  Parts of the answer come from the same functions, so that an answer in another form cannot say
 * something different. */
#include "engine/payload.h"

#include <string.h>

#include "base/utf8.h"
#include "engine/engine.h"
#include "engine/stored.h"
#include "json/emit.h"
#include "tool/wire/protocol.h"

enum {
    PAYLOAD_VALUE_BYTES =
        64 * PTC_KB,             /* of a stored value that are printed in order to be counted */
    PAYLOAD_SLACK = 16 * PTC_MB, /* for everything except printed text */
    ESCAPED = 6,                 /* bytes that one byte can become in JSON */
};

/* What an answer is made from; all of it is released in release_payload(). */
typedef struct {
    PtcOutcome *o;
    PtcMem *mem;
    PtcBuf *out;
    PtcPayloadOptions options;
    PtcFormatOptions format;
    PtcText *prints;
    uint32_t *names; /* indexes of the session's names, sorted by text */
    size_t name_count, name_cap;
    uint32_t *news; /* those that the run defined or changed, likewise */
    size_t news_count;
    PtcText *stored;
    PtcStoredPreview *changed;
    size_t listed, previewed; /* room in these two */
    PtcBuf previews, warnings;
    PtcMemory memory;
} PayloadWork;

static void release_payload(PayloadWork *w)
{
    ptc_mem_free(w->mem, w->prints, w->o->prints.count * sizeof *w->prints);
    ptc_mem_free(w->mem, w->names, w->name_cap * sizeof *w->names);
    ptc_mem_free(w->mem, w->news, w->o->old_count * sizeof *w->news);
    ptc_mem_free(w->mem, w->stored, w->listed * sizeof *w->stored);
    ptc_mem_free(w->mem, w->changed, w->previewed * sizeof *w->changed);
    ptc_buf_deinit(&w->previews);
    ptc_buf_deinit(&w->warnings);
}

static bool take_payload_prints(PayloadWork *w)
{
    size_t n = w->o->prints.count;
    if (n == 0)
        return true;
    if (!(w->prints = ptc_mem_alloc(w->mem, n * sizeof *w->prints)))
        return false;
    for (size_t i = 0; i < n; i++)
        w->prints[i] = ptc_prints_line(&w->o->prints, i);
    return true;
}

static bool take_warnings(PayloadWork *w)
{
    return w->o->warnings.count == 0 || ptc_outcome_write_warnings(w->o, &w->warnings);
}

/* As JSON; absent: there are no warnings. */
static PtcText warnings_of(const PayloadWork *w)
{
    return (PtcText){w->warnings.len ? w->warnings.data : NULL, w->warnings.len};
}

/* ----------------------------------------------------------------------- memory */

static int compare_session_names(const PtcName *a, const PtcName *b)
{
    int order = memcmp(a->text, b->text, a->len < b->len ? a->len : b->len);
    return order ? order : a->len < b->len ? -1 : a->len > b->len;
}

/* Shell sort: a session may have many names, and the C library's qsort may allocate. */
static void sort_session_names(const PtcName *items, uint32_t *names, size_t n)
{
    size_t gap = 1;
    while (gap < n / 3)
        gap = gap * 3 + 1;
    for (; gap > 0; gap /= 3) {
        for (size_t i = gap; i < n; i++) {
            uint32_t moved = names[i];
            size_t j = i;
            for (; j >= gap && compare_session_names(&items[names[j - gap]], &items[moved]) > 0;
                 j -= gap)
                names[j] = names[j - gap];
            names[j] = moved;
        }
    }
}

static bool take_names(PayloadWork *w, const PtcSession *s)
{
    size_t cap = s->names.count;
    if (cap == 0)
        return true;
    if (!(w->names = ptc_mem_alloc(w->mem, cap * sizeof *w->names)))
        return false;
    w->name_cap = cap;
    for (uint32_t i = 0; i < s->names.count && i < s->global_cap; i++)
        if (ptc_session_defines(s, i))
            w->names[w->name_count++] = i;
    sort_session_names(s->names.items, w->names, w->name_count);
    return true;
}

static PtcText session_name(const PtcSession *s, uint32_t i)
{
    return (PtcText){s->names.items[i].text, s->names.items[i].len};
}

/* How many of n names an answer lists. */
static size_t told(const PayloadWork *w, size_t n)
{
    size_t most = (size_t)w->format.memory_names;
    return n < most ? n : most;
}

static bool list_names(PayloadWork *w, const PtcSession *s)
{
    size_t n = told(w, w->name_count);
    w->memory.truncated = n < w->name_count;
    if (n == 0)
        return true;
    if (!(w->stored = ptc_mem_alloc(w->mem, n * sizeof *w->stored)))
        return false;
    w->listed = n;
    for (size_t i = 0; i < n; i++)
        w->stored[i] = session_name(s, w->names[i]);
    w->memory.stored = w->stored;
    w->memory.stored_count = n;
    return true;
}

static bool take_news(PayloadWork *w, const PtcSession *s)
{
    if (w->o->old_count == 0)
        return true;
    if (!(w->news = ptc_mem_alloc(w->mem, w->o->old_count * sizeof *w->news)))
        return false;
    for (size_t i = 0; i < w->o->old_count; i++)
        if (ptc_outcome_changed(w->o, s, w->o->old[i].index))
            w->news[w->news_count++] = w->o->old[i].index;
    sort_session_names(s->names.items, w->news, w->news_count);
    return true;
}

/* Adds a preview to `previews`; its length is returned through *len. */
static bool add_memory_preview(PayloadWork *w, PtcValue v, size_t *len)
{
    PtcBuf text;
    size_t before = w->previews.len;
    ptc_buf_init(&text, w->mem, PAYLOAD_VALUE_BYTES);
    bool cut = !ptc_outcome_print_value(w->o, &text, v), ok = !text.failed;
    PtcText piece = {text.data ? text.data : "", text.len};
    if (ptc_preview_add(&w->previews, piece, cut, w->format.preview_max_chars))
        w->memory.truncated = true;
    ptc_buf_deinit(&text);
    *len = w->previews.len - before;
    return ok && ptc_buf_ok(&w->previews);
}

/* Adds what is said of a value that nobody asked to see. */
static bool add_memory_news(PayloadWork *w, PtcValue v, size_t *len)
{
    size_t before = w->previews.len;
    ptc_stored_describe(w->o, &w->previews, v, (size_t)w->format.preview_max_chars);
    *len = w->previews.len - before;
    return ptc_buf_ok(&w->previews);
}

/* The buffer may move while it grows, so the places are set at the end. */
static bool preview_changes(PayloadWork *w, const PtcSession *s)
{
    size_t n = told(w, w->news_count), at = 0;
    w->memory.truncated = w->memory.truncated || n < w->news_count;
    if (n == 0)
        return true;
    if (!(w->changed = ptc_mem_alloc(w->mem, n * sizeof *w->changed)))
        return false;
    w->previewed = n;
    for (size_t i = 0; i < n; i++) {
        w->changed[i].name = session_name(s, w->news[i]);
        if (!add_memory_news(w, s->globals[w->news[i]], &w->changed[i].preview.len))
            return false;
    }
    for (size_t i = 0; i < n; i++) {
        w->changed[i].preview.bytes = w->previews.data + at;
        at += w->changed[i].preview.len;
    }
    w->memory.changed = w->changed;
    w->memory.changed_count = n;
    return true;
}

static bool take_memory(PayloadWork *w)
{
    const PtcSession *s = w->options.session;
    return !s || (take_names(w, s) && take_news(w, s) && list_names(w, s) && preview_changes(w, s));
}

/* ---------------------------------------------------------------------- answers */

/* What the run produced; previews of its memory are in w->memory. */
static bool take_shown_step(PayloadWork *w, PtcShown *step)
{
    PtcOutcome *o = w->o;
    *step = (PtcShown){.value_nil = o->value == PTC_NIL,
                       .prints = w->prints,
                       .print_count = o->prints.count,
                       .prints_cut = o->prints.cut,
                       .warnings = warnings_of(w),
                       .validated = {w->options.validated_json, w->options.validated_json_len}};
    if (!step->value_nil && !ptc_is(o->value, PTC_T_VAR)) {
        if (!ptc_outcome_show_text(o))
            return false;
        step->text = (PtcText){o->text.data, o->text.len};
        step->text_cut = o->text_cut;
    }
    ptc_outcome_refresh(o);
    return take_memory(w);
}

static const PtcMemory *memory_of(const PayloadWork *w)
{
    return w->options.session ? &w->memory : NULL;
}

static bool render_ok(PayloadWork *w)
{
    PtcShown step;
    if (!take_shown_step(w, &step))
        return false;
    ptc_protocol_render_step(w->out, &step, memory_of(w), &w->format);
    return true;
}

static PtcFinding finding(const PtcError *e)
{
    return (PtcFinding){.message = {e->message, e->message_len},
                        .form = {e->form, e->form_len},
                        .hint = {e->hint, e->hint_len},
                        .line = e->line,
                        .column = e->column};
}

static void build_payload_feedback(PayloadWork *w, PtcBuf *feedback)
{
    PtcFinding findings[PTC_DIAG_MAX];
    size_t n = 0;
    for (; n < PTC_DIAG_MAX && n < w->o->error_count; n++) {
        PtcError e = ptc_outcome_finding(w->o, n);
        findings[n] = finding(&e);
    }
    PtcFailure failure = {.kind = ptc_error_kind_name(w->o->errors[0].kind),
                          .ran = w->o->errors[0].phase == PTC_PHASE_RUN,
                          .findings = findings,
                          .finding_count = n,
                          .prints = w->prints,
                          .print_count = w->o->prints.count,
                          .prints_cut = w->o->prints.cut};
    ptc_feedback_error(feedback, &failure, &w->format);
}

/* The value of (fail v), as a preview in `previews`. */
static bool preview_failed(PayloadWork *w, PtcText *result)
{
    ptc_outcome_refresh(w->o);
    if (w->o->value == PTC_NIL || w->o->value == PTC_NONE)
        return true;
    if (!add_memory_preview(w, w->o->value, &result->len))
        return false;
    result->bytes = w->previews.data;
    return true;
}

static bool render_failed(PayloadWork *w, bool no_feedback)
{
    PtcBuf feedback;
    PtcError e = ptc_outcome_finding(w->o, 0);
    PtcErrorAnswer answer = {.reason = ptc_reason_find(e.reason),
                             .message = {e.message, e.message_len},
                             .warnings = warnings_of(w),
                             .no_feedback = no_feedback};
    if (answer.reason == PTC_REASON_FAIL && !preview_failed(w, &answer.result))
        return false;
    ptc_buf_init(&feedback, w->mem, w->out->max);
    if (!no_feedback)
        build_payload_feedback(w, &feedback);
    bool ok = ptc_buf_ok(&feedback);
    answer.feedback = (PtcText){feedback.data, feedback.len};
    if (ok)
        ptc_protocol_render_error(w->out, &answer);
    ptc_buf_deinit(&feedback);
    return ok;
}

/* The session must be the run's: otherwise "changed" would be reported for somebody else's names. */
static bool read_payload_options(PayloadWork *w, const PtcPayloadOptions *given)
{
    w->options = *given;
    bool ours = !given->session || !w->o->ok || given->session == w->o->session;
    if (!given->validated_json && w->o->ok && w->o->validated) {
        w->options.validated_json = ptc_outcome_show_json(w->o);
        w->options.validated_json_len = w->o->json.len;
    }
    return ours && ptc_format_resolve(&w->format, given->format);
}

/* ------------------------------------------------------------------------ parts */

/* Names, one per line, as many as fit. */
static void put_names(const PtcSession *s, const uint32_t *names, size_t count, PtcBuf *out)
{
    for (size_t i = 0; i < count; i++) {
        PtcText name = session_name(s, names[i]);
        if (out->max - out->len <= name.len)
            return;
        ptc_buf_add(out, name.bytes, name.len);
        ptc_buf_add_char(out, '\n');
    }
}

static void put_call(PtcBuf *out, const PtcToolRecord *call, uint32_t tries)
{
    ptc_emit_object(out);
    ptc_emit_field_text(out, "name", (PtcText){call->name, call->name_len});
    ptc_emit_field_bool(out, "ok", call->ok);
    ptc_emit_field_bool(out, "cached", call->cached);
    ptc_emit_field_int(out, "duration_us", call->duration_us);
    if (tries > 1)
        ptc_emit_field_uint(out, "attempts", tries);
    ptc_emit_field_text(out, "arguments", (PtcText){call->arguments, call->arguments_len});
    ptc_emit_field_text(out, "result", (PtcText){call->result, call->result_len});
    ptc_emit_object_end(out);
}

static void put_payload_calls(PayloadWork *w, PtcBuf *out)
{
    size_t max = out->max, good;
    if (max < 2)
        return;
    out->max = max - 1; /* for the bracket */
    ptc_emit_array(out);
    good = out->len;
    for (size_t i = 0; i < w->o->log.count && ptc_buf_ok(out); i++) {
        PtcToolRecord call = ptc_outcome_call(w->o, i);
        put_call(out, &call, w->o->log.items[i].tries);
        good = ptc_buf_ok(out) ? out->len : good;
    }
    out->len = good;
    out->full = false;
    out->max = max;
    ptc_emit_array_end(out);
}

/* `step` belongs to a run that succeeded, else NULL.  What is too long is cut between two characters. */
static void put_feedback(PayloadWork *w, const PtcShown *step, PtcBuf *out, bool whole)
{
    PtcBuf text;
    size_t room = out->max - out->len;
    ptc_buf_init(&text, w->mem, ptc_payload_room(w->o));
    if (step)
        ptc_protocol_feedback(&text, step, memory_of(w), &w->format, whole);
    else
        build_payload_feedback(w, &text);
    size_t len = text.len <= room ? text.len : ptc_utf8_valid_prefix(text.data, room);
    ptc_buf_add(out, text.data, len);
    out->failed = out->failed || !ptc_buf_ok(&text);
    ptc_buf_deinit(&text);
}

/* `step` as above. */
static bool put_payload_answer(PayloadWork *w, const PtcShown *step, PtcBuf *out)
{
    bool ok = true;
    w->out = out;
    if (step) {
        PtcShown bare = *step;
        bare.no_feedback = true;
        ptc_protocol_render_step(out, &bare, memory_of(w), &w->format);
    } else {
        ok = render_failed(w, true);
    }
    return ok && ptc_buf_ok(out);
}

static void put_memory(const PayloadWork *w, PtcBuf *out)
{
    ptc_protocol_add_memory(out, &w->memory);
    if (out->full)
        ptc_buf_clear(out);
}

static bool put_payload_parts(PayloadWork *w, const PtcPayloadParts *parts)
{
    const PtcSession *s = w->options.session;
    PtcShown step;
    bool whole = parts->answer || parts->feedback || parts->memory;
    if (whole ? !take_shown_step(w, &step) : s && !take_news(w, s))
        return false;
    if (!whole && parts->stored && s && !take_names(w, s))
        return false;
    if (parts->answer && !put_payload_answer(w, &step, parts->answer))
        return false;
    if (parts->feedback)
        put_feedback(w, &step, parts->feedback, parts->whole);
    if (parts->memory && s)
        put_memory(w, parts->memory);
    if (parts->changed && s)
        put_names(s, w->news, w->news_count, parts->changed);
    if (parts->stored && s)
        put_names(s, w->names, w->name_count, parts->stored);
    return true;
}

static bool put_failed(PayloadWork *w, const PtcPayloadParts *parts)
{
    if (parts->answer && !put_payload_answer(w, NULL, parts->answer))
        return false;
    if (parts->feedback)
        put_feedback(w, NULL, parts->feedback, false);
    return true;
}

bool ptc_payload_parts(PtcOutcome *o, const PtcPayloadOptions *options,
                       const PtcPayloadParts *parts)
{
    PayloadWork w = {.o = o, .mem = &o->ptc->mem};
    if (!read_payload_options(&w, options))
        return false;
    ptc_buf_init(&w.previews, w.mem, ptc_payload_room(o));
    ptc_buf_init(&w.warnings, w.mem,
                 parts->answer ? ptc_payload_room(o) : 0); /* otherwise it is passed separately */
    bool ok = (!parts->feedback && !parts->answer) || take_payload_prints(&w);
    ok = ok && (!parts->answer || take_warnings(&w));
    ok = ok && (o->ok ? put_payload_parts(&w, parts) : put_failed(&w, parts));
    if (ok && parts->calls && o->log.count > 0)
        put_payload_calls(&w, parts->calls);
    release_payload(&w);
    return ok;
}

/* ------------------------------------------------------------------------ whole */

size_t ptc_payload_room(const PtcOutcome *o)
{
    return o->prints.count * ESCAPED + o->prints.text.len * ESCAPED * 2 +
           o->warnings.count * sizeof *o->warnings.items * ESCAPED +
           (size_t)o->limits.result_bytes + PAYLOAD_SLACK;
}

bool ptc_payload_write(PtcOutcome *o, const PtcPayloadOptions *options, PtcBuf *out)
{
    PayloadWork w = {.o = o, .mem = &o->ptc->mem, .out = out};
    if (!read_payload_options(&w, options))
        return false;
    ptc_buf_init(&w.previews, w.mem, ptc_payload_room(o));
    ptc_buf_init(&w.warnings, w.mem, ptc_payload_room(o));
    bool ok = take_payload_prints(&w) && take_warnings(&w) &&
              (o->ok ? render_ok(&w) : render_failed(&w, false));
    release_payload(&w);
    return ok && ptc_buf_ok(out);
}
