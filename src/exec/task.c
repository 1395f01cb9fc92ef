/* SPDX-License-Identifier: MIT
 * One evaluation with an engine: bytes in, bytes out.  What always holds: a part that does not fit its buffer is cut
 * between characters (text) or left out (JSON), so that every part is valid UTF-8 and valid JSON. */
#include "exec/task.h"

#include <stdio.h>

#include "base/utf8.h"
#include "engine/engine.h"
#include "engine/payload.h"
#include "engine/snapshot/snapshot.h"
#include "json/emit.h"
#include "json/parse.h"
#include "tool/wire/feedback.h"
#include "tool/wire/protocol.h"

_Static_assert(offsetof(PtcTaskOut, answer) ==
                   offsetof(PtcTaskOut, parts) + (PTC_TASK_PARTS - 1) * sizeof(PtcBuf),
               "parts are all of the buffers");

/* Snapshots travel from task to task through the executor's caller and never reach a client, so the tag only guards
 * against damaged bytes and needs no secret. */
static const PtcText snapshot_key = {"a snapshot between two tasks", 29};

enum { TOOK_BYTES = 64 * PTC_KB };

/* Everything one task holds; released together at the end. */
typedef struct {
    Ptc *ptc;
    const PtcTaskIn *in;
    PtcTaskOut *out;
    PtcHeapBox *data;
    PtcSession *session;
    PtcOutcome *outcome;
} TaskWork;

/* ----------------------------------------------------------------------------------- parts */

void ptc_task_in_init(PtcTaskIn *in)
{
    memset(in, 0, sizeof *in);
    ptc_limits_unset(&in->limits);
    in->preview_chars = PTC_UNSET;
}

void ptc_task_out_init(PtcTaskOut *out, PtcMem *mem, size_t max)
{
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < PTC_TASK_PARTS; i++)
        ptc_buf_init(&out->parts[i], mem, max);
    ptc_buf_init(&out->pictures, mem, max);
    ptc_buf_init(&out->call_log, mem, max);
    ptc_buf_init(&out->took, mem, TOOK_BYTES);
}

void ptc_task_out_deinit(PtcTaskOut *out)
{
    for (size_t i = 0; i < PTC_TASK_PARTS; i++)
        ptc_buf_deinit(&out->parts[i]);
    ptc_buf_deinit(&out->pictures);
    ptc_buf_deinit(&out->call_log);
    ptc_buf_deinit(&out->took);
}

/* Keeps message, reason and call log: they say why the task was lost, and what it had done. */
void ptc_task_out_clear(PtcTaskOut *out)
{
    for (size_t i = 0; i < PTC_TASK_PARTS; i++)
        ptc_buf_clear(&out->parts[i]);
    out->ok = out->validated = out->text_cut = out->prints_cut = out->suspended = false;
    out->tool_calls = out->bindings = 0;
}

void ptc_task_out_pictures(PtcTaskOut *out, struct PtcRemote *remote, void *run)
{
    ptc_buf_clear(&out->pictures);
    if (!remote->pictures || !out->ok || !out->json.len)
        return;
    remote->pictures(run, ptc_buf_view(&out->json), &out->pictures);
    if (!ptc_buf_ok(&out->pictures)) /* a part of a block is none */
        ptc_buf_clear(&out->pictures);
}

/* In the engine's words (ptc_vm_stopped), so that nobody needs to know which of the two noticed. */
bool ptc_task_out_overrun(PtcTaskOut *out, bool computing, int64_t limit_ms)
{
    PtcFormatOptions format;
    ptc_task_out_clear(out);
    snprintf(out->reason, sizeof out->reason, "%s", ptc_reason_name(PTC_REASON_TIMEOUT));
    snprintf(out->kind, sizeof out->kind, "%s", computing ? "timeout" : "deadline");
    snprintf(out->message, sizeof out->message, "the program %s of %lld ms",
             computing ? "computed longer than its limit" : "took longer than its deadline",
             (long long)limit_ms);
    PtcFinding finding = {.message = ptc_text_cstr(out->message),
                          .hint = ptc_text_cstr(computing ? "do less work, or on less data"
                                                          : "call fewer or faster tools")};
    PtcFailure failure = {.kind = out->kind, .ran = true, .findings = &finding, .finding_count = 1};
    ptc_format_resolve(&format, NULL);
    ptc_feedback_error(&out->feedback, &failure, &format);
    return !out->feedback.failed;
}

/* Adds as much of a text as fits, cut between characters.  Returns false when it was cut. */
static bool put_whole_characters(PtcBuf *buf, const char *text, size_t len)
{
    size_t room = buf->max - buf->len;
    if (len <= room)
        return ptc_buf_add(buf, text, len);
    ptc_buf_add(buf, text, ptc_utf8_valid_prefix(text, room));
    return false;
}

/* -------------------------------------------------------------------------------- failing */

/* Fills in the answer of a task that could not run, or whose result cannot be kept.  What was printed and which
 * tools were called is still reported. */
static PtcTaskStatus refuse_task(TaskWork *w, PtcReason reason, const char *kind,
                                 const char *message)
{
    PtcTaskOut *out = w->out;
    size_t len = strlen(message);
    if (len >= sizeof out->message)
        len = ptc_utf8_valid_prefix(message, sizeof out->message - 1);
    out->ok = false;
    snprintf(out->reason, sizeof out->reason, "%s", ptc_reason_name(reason));
    snprintf(out->kind, sizeof out->kind, "%s", kind);
    snprintf(out->message, sizeof out->message, "%.*s", PTC_ARG_OF(message, len));
    PtcBuf *gone[] = {&out->text,    &out->json,   &out->feedback,
                      &out->changed, &out->stored, &out->memory};
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
        ptc_buf_clear(gone[i]);
    out->validated = out->text_cut = false;
    put_whole_characters(&out->feedback, out->message, len);
    return out->feedback.failed ? PTC_TASK_NO_MEMORY : PTC_TASK_DONE;
}

static PtcTaskStatus bad_args(TaskWork *w, const char *message)
{
    return refuse_task(w, PTC_REASON_ARGS, "args_error", message);
}

/* -------------------------------------------------------------------------------- context */

/* data/key must be a symbol that a program can write. */
static bool check_keys(PtcValue map, PtcWhy *why)
{
    PtcValue key, value;
    for (size_t pos = 0; ptc_map_next(map, &pos, &key, &value);) {
        if (ptc_str_len(key) == 0)
            return ptc_why_say(why, PTC_WHY_INVALID,
                               "a key of `context` is empty; a program reads key k as data/k");
        if (memchr(ptc_str_bytes(key), '/', ptc_str_len(key)))
            return ptc_why_say(why, PTC_WHY_INVALID,
                               "a key of `context` has a / in it; a program reads key k as "
                               "data/k, so k cannot have one");
    }
    return true;
}

/* Why the context was not read: it is not JSON, or it is too large. */
static bool explain_context(const PtcHeapBox *box, const PtcJsonError *e, PtcWhy *why)
{
    if (e->stopped && box->budget.stop == PTC_STOP_MEMORY)
        return ptc_why_say(why, PTC_WHY_REFUSED,
                           "`context`: the JSON needs more than its limit of %zu bytes once "
                           "decoded",
                           box->heap.limit);
    if (e->stopped)
        return ptc_why_say(why, PTC_WHY_LATE, "`context`: reading the JSON took too long");
    return ptc_why_say(why, PTC_WHY_INVALID, "`context`: line %u, column %u: %s", (unsigned)e->line,
                       (unsigned)e->column, e->message);
}

/* The context as a value. */
static bool read_task_context(TaskWork *w, PtcValue *v, PtcWhy *why)
{
    PtcJsonError e = {0};
    PtcText text = w->in->context;
    *v = ptc_json_parse(&w->data->heap, text.bytes, text.len, &e);
    if (*v == PTC_NONE)
        return explain_context(w->data, &e, why);
    if (!ptc_is_map(*v))
        return ptc_why_say(why, PTC_WHY_INVALID,
                           "`context` must be an object, such as {\"rows\": [1, 2]}");
    return check_keys(*v, why);
}

/* The context merged with the shared data; PTC_NONE when there is neither.  Returns false with *status set when the
 * task cannot go on. */
static bool make_task_context(TaskWork *w, const PtcShared *shared, PtcValue *context,
                              PtcTaskStatus *status)
{
    PtcWhy why;
    *context = PTC_NONE;
    if (!w->in->context.bytes && !shared)
        return true;
    *status = PTC_TASK_NO_MEMORY;
    int64_t limit = w->in->limits.context_bytes;
    w->data =
        ptc_box_new(w->ptc, (size_t)(limit == PTC_UNSET ? w->ptc->limits.context_bytes : limit));
    if (!w->data)
        return false;
    if (w->in->context.bytes && !read_task_context(w, context, &why)) {
        *status = bad_args(w, why.text);
        return false;
    }
    return !shared || (*context = ptc_shared_context(shared, &w->data->heap, *context)) != PTC_NONE;
}

/* -------------------------------------------------------------------------------- session */

static bool open_task_session(TaskWork *w, PtcTaskStatus *status)
{
    PtcWhy why;
    if (!w->in->in_session)
        return true;
    if (!w->in->session.bytes) {
        *status = PTC_TASK_NO_MEMORY;
        return (w->session = ptc_session_open(w->ptc)) != NULL;
    }
    if (ptc_snapshot_load(w->ptc, snapshot_key, w->in->session, &w->session, &why))
        return true;
    /* A snapshot that cannot be read is the caller's problem, unless memory ran out. */
    *status = why.class == PTC_WHY_NO_MEMORY ? PTC_TASK_NO_MEMORY : bad_args(w, why.text);
    return false;
}

/* Saves the session.  A session that cannot be saved turns a successful run into a failure: the caller must never
 * believe that definitions were kept when they were not. */
static PtcTaskStatus save_task_session(TaskWork *w)
{
    PtcBuf *out = &w->out->session;
    PtcWhy why;
    if (ptc_snapshot_save(w->session, snapshot_key, out, &why))
        return PTC_TASK_DONE;
    bool full = out->full && !out->failed;
    ptc_buf_clear(out);
    if (full)
        return refuse_task(w, PTC_REASON_MEMORY, "memory_exceeded",
                           "the session became too large to be kept, so nothing of this run was");
    if (why.class == PTC_WHY_NO_MEMORY)
        return PTC_TASK_NO_MEMORY;
    ptc_why_prefix(&why, "the session cannot be kept, so nothing of this run was: ");
    return refuse_task(w, PTC_REASON_RUNTIME, "value_error", why.text);
}

/* ---------------------------------------------------------------------------------- output */

static void put_prints(TaskWork *w)
{
    PtcTaskOut *out = w->out;
    const PtcPrints *prints = &w->outcome->prints;
    out->prints_cut = prints->cut;
    for (size_t i = 0; i < prints->count; i++) {
        PtcText line = ptc_prints_line(prints, i);
        if (!put_whole_characters(&out->prints, line.bytes, line.len) ||
            !put_whole_characters(&out->prints, "\n", 1)) {
            out->prints_cut = true;
            break;
        }
    }
}

static bool failed_as(const TaskWork *w, PtcErrorKind kind)
{
    const PtcOutcome *o = w->outcome;
    return !o->ok && o->error_count > 0 && o->errors[0].kind == kind;
}

/* Only the first finding: the feedback has them all. */
static void put_task_error(TaskWork *w)
{
    PtcError e = ptc_outcome_finding(w->outcome, 0);
    snprintf(w->out->reason, sizeof w->out->reason, "%s", e.reason);
    snprintf(w->out->kind, sizeof w->out->kind, "%s", e.kind);
    w->out->suspended = failed_as(w, PTC_E_SUSPENDED);
    snprintf(w->out->message, sizeof w->out->message, "%.*s", PTC_ARG_OF(e.message, e.message_len));
}

/* Writes the result as text and as JSON; JSON that does not fit is left out whole. */
static bool put_task_result(TaskWork *w)
{
    PtcTaskOut *out = w->out;
    PtcOutcome *o = w->outcome;
    if (!ptc_outcome_show_text(o))
        return false;
    out->text_cut = !put_whole_characters(&out->text, o->text.data, o->text.len) || o->text_cut;
    if (ptc_outcome_show_json(o) && o->json.len <= out->json.max)
        ptc_buf_add(&out->json, o->json.data, o->json.len);
    out->validated = o->validated && out->json.len > 0;
    return true;
}

/* Feedback of a failure is always made, because it is what the model reads. */
static bool put_parts(TaskWork *w)
{
    PtcTaskOut *out = w->out;
    unsigned want = w->in->want;
    PtcFormatOptions format;
    PtcPayloadOptions options = {.format = &format, .session = w->session};
    PtcPayloadParts parts = {
        .feedback = !out->ok || (want & PTC_WANT_FEEDBACK) ? &out->feedback : NULL,
        .calls = want & PTC_WANT_CALLS ? &out->calls : NULL,
    };
    if (out->ok && w->session) {
        parts.changed = &out->changed;
        parts.stored = want & PTC_WANT_STORED ? &out->stored : NULL;
        parts.memory = want & PTC_WANT_MEMORY ? &out->memory : NULL;
    }
    ptc_format_unset(&format);
    format.preview_max_chars = w->in->preview_chars;
    format.output_max_bytes = PTC_MB; /* whoever answers cuts, and says so */
    return ptc_payload_parts(w->outcome, &options, &parts);
}

/* Half an array would not be JSON, so warnings that do not fit are dropped. */
static void put_warnings(TaskWork *w)
{
    PtcBuf *out = &w->out->warnings;
    if (w->outcome->warnings.count == 0)
        return;
    ptc_outcome_write_warnings(w->outcome, out);
    if (out->full)
        ptc_buf_clear(out);
}

static bool bufs_ok(const PtcTaskOut *out)
{
    bool ok = true;
    for (size_t i = 0; i < PTC_TASK_PARTS; i++)
        ok = ok && !out->parts[i].failed;
    return ok;
}

/* The session is saved last: by then everything that may fail for memory has succeeded. */
static PtcTaskStatus finish_task_run(TaskWork *w)
{
    PtcTaskOut *out = w->out;
    out->ok = w->outcome->ok;
    out->tool_calls = w->outcome->log.total;
    if (w->session)
        out->bindings = ptc_session_binding_count(w->session);
    put_prints(w);
    put_warnings(w);
    if (!out->ok)
        put_task_error(w);
    bool has_value = out->ok || w->outcome->control == PTC_CONTROL_FAIL;
    if ((has_value && !put_task_result(w)) || !put_parts(w) || !bufs_ok(out))
        return PTC_TASK_NO_MEMORY;
    if (out->ok && w->session)
        return save_task_session(w);
    return failed_as(w, PTC_E_CANCELLED) ? PTC_TASK_CANCELLED : PTC_TASK_DONE;
}

/* ----------------------------------------------------------------------------------- tasks */

static void set_view(const char **bytes, size_t *len, const PtcText *view)
{
    *bytes = view->bytes;
    *len = view->len;
}

static PtcTaskStatus eval_task(TaskWork *w, PtcTools *tools, const PtcShared *shared)
{
    PtcRun run = {.size = sizeof run};
    PtcTaskStatus status = PTC_TASK_NO_MEMORY;
    const PtcTaskIn *in = w->in;
    if (in->signature.bytes && in->output_schema.bytes)
        return bad_args(w, "give `signature` or `output_schema`, not both");
    if (!make_task_context(w, in->use_data ? shared : NULL, &run.context, &status) ||
        !open_task_session(w, &status))
        return status;
    set_view(&run.program, &run.program_len, &in->program);
    set_view(&run.signature, &run.signature_len, &in->signature);
    set_view(&run.output_schema, &run.output_schema_len, &in->output_schema);
    run.now_ms = in->now_ms;
    run.session = w->session;
    run.limits = &in->limits;
    run.tools = in->use_tools ? tools : NULL;
    PtcStatus got = ptc_engine_run(w->ptc, &run, &w->outcome);
    if (got == PTC_BAD_ARGUMENT)
        return bad_args(w, "a limit of the call is out of range");
    return got == PTC_OK ? finish_task_run(w) : PTC_TASK_NO_MEMORY;
}

static PtcTaskStatus inspect_task_session(TaskWork *w)
{
    w->out->bindings = ptc_session_binding_count(w->session);
    w->out->ok = ptc_session_describe(w->session, &w->out->answer) && ptc_buf_ok(&w->out->answer);
    return w->out->ok ? PTC_TASK_DONE : PTC_TASK_NO_MEMORY;
}

static PtcTaskStatus forget_task_names(TaskWork *w)
{
    size_t before = ptc_session_binding_count(w->session);
    if (w->in->name.bytes)
        (void)ptc_session_undefine(w->session, w->in->name);
    else if (ptc_session_clear(w->session) != PTC_OK)
        return PTC_TASK_NO_MEMORY;
    w->out->ok = true;
    w->out->bindings = ptc_session_binding_count(w->session);
    ptc_emit_object(&w->out->answer);
    ptc_emit_field_uint(&w->out->answer, "forgotten", before - w->out->bindings);
    if (!ptc_emit_object_end(&w->out->answer))
        return PTC_TASK_NO_MEMORY;
    return save_task_session(w);
}

static PtcTaskStatus of_session(TaskWork *w)
{
    PtcTaskStatus status = PTC_TASK_NO_MEMORY;
    if (!w->in->in_session)
        return bad_args(w, "this needs a session");
    if (!open_task_session(w, &status))
        return status;
    return w->in->kind == PTC_TASK_INSPECT ? inspect_task_session(w) : forget_task_names(w);
}

PtcTaskStatus ptc_task_run(Ptc *ptc, const PtcTaskIn *in, PtcTools *tools, const PtcShared *data,
                           PtcTaskOut *out)
{
    TaskWork w = {.ptc = ptc, .in = in, .out = out};
    int64_t begun = ptc_clock_ns(NULL);
    ptc_engine_task_begin(ptc, in->limits.timeout_ms);
    PtcTaskStatus status = in->kind == PTC_TASK_EVAL ? eval_task(&w, tools, data) : of_session(&w);
    ptc_outcome_drop(w.outcome);
    ptc_session_drop(w.session);
    if (w.data)
        ptc_box_release(&w.data->heap);
    ptc_engine_task_end(ptc);
    out->compute_us = (ptc_clock_ns(NULL) - begun) / 1000;
    return status;
}
