/* SPDX-License-Identifier: MIT
 * One evaluation with an engine: bytes in, bytes out. */
#include "exec/task.h"

#include <stdio.h>

#include "base/utf8.h"
#include "tool/protocol.h"

/* Snapshots go from one task to the next through whoever holds them, never through a client: their tag guards against
 * bytes that were damaged, not against forgery, and needs no secret. */
static const char snapshot_key[] = "a snapshot between two tasks";

/* What one task holds on to; all of it is released in the end. */
typedef struct {
    Ptc *ptc;
    const PtcTaskIn *in;
    PtcTaskOut *out;
    PtcLimits limits;
    PtcData *data;
    PtcSession *session;
    PtcOutcome *outcome;
} Work;

/* -------------------------------------------------------------------------------- failing */

/* Fills the answer of a task that did not come to run.  The message is cut to its room. */
static PtcTaskStatus refuse(Work *w, PtcReason reason, const char *kind, const char *message)
{
    PtcTaskOut *out = w->out;
    size_t len = strlen(message);
    if (len >= sizeof out->message)
        len = ptc_utf8_valid_prefix(message, sizeof out->message - 1);
    out->ok = false;
    snprintf(out->reason, sizeof out->reason, "%s", ptc_reason_name(reason));
    snprintf(out->kind, sizeof out->kind, "%s", kind);
    snprintf(out->message, sizeof out->message, "%.*s", (int)len, message);
    ptc_buf_clear(&out->payload);
    ptc_protocol_render_error(&out->payload,
                              &(PtcErrorAnswer){.reason = reason, .message = {out->message, len}});
    return ptc_buf_ok(&out->payload) ? PTC_TASK_DONE : PTC_TASK_NO_MEMORY;
}

static PtcTaskStatus bad_args(Work *w, const char *message)
{
    return refuse(w, PTC_REASON_ARGS, "args_error", message);
}

static PtcTaskStatus of_status(Work *w, PtcStatus status, const char *what)
{
    char message[320];
    if (status == PTC_NO_MEMORY)
        return PTC_TASK_NO_MEMORY;
    snprintf(message, sizeof message, "%s", what[0] ? what : "it was not understood");
    return bad_args(w, message);
}

/* -------------------------------------------------------------------------------- context */

/* data/key must be a name that a program can write. */
static const char *bad_key(PtcValue map)
{
    const char *text;
    size_t len;
    for (size_t i = 0; i < ptc_value_count(map); i++) {
        if (!ptc_value_string(ptc_value_key_at(map, i), &text, &len))
            continue;
        if (len == 0)
            return "a key of `context` is empty; a program reads key k as data/k";
        if (memchr(text, '/', len))
            return "a key of `context` has a / in it; a program reads key k as data/k, so k "
                   "cannot have one";
    }
    return NULL;
}

/* The context as a value, 0 when there is none.  False: *status says how the task ends. */
static bool make_context(Work *w, const PtcShared *shared, PtcValue *context, PtcTaskStatus *status)
{
    char error[300] = "", message[320];
    const PtcText *text = &w->in->context;
    *context = 0;
    if (!text->bytes && !shared)
        return true;
    *status = PTC_TASK_NO_MEMORY;
    if (!(w->data = ptc_data_new(w->ptc, w->limits.context_bytes)))
        return false;
    if (text->bytes) {
        *context = ptc_make_json(w->data, text->bytes, text->len, error, sizeof error);
        snprintf(message, sizeof message, "`context`: %s", error);
        const char *wrong = *context == 0 ? message : NULL;
        if (!wrong && ptc_value_type(*context) != PTC_TYPE_MAP)
            wrong = "`context` must be an object, such as {\"rows\": [1, 2]}";
        if (!wrong)
            wrong = bad_key(*context);
        if (wrong) {
            *status = bad_args(w, wrong);
            return false;
        }
    }
    if (shared && !(*context = ptc_shared_context(shared, w->data, *context)))
        return false;
    return true;
}

/* -------------------------------------------------------------------------------- session */

static bool open_session(Work *w, PtcTaskStatus *status)
{
    char error[200] = "";
    const PtcText *bytes = &w->in->session;
    if (!w->in->in_session)
        return true;
    if (!bytes->bytes) {
        *status = PTC_TASK_NO_MEMORY;
        return (w->session = ptc_session_new(w->ptc)) != NULL;
    }
    PtcStatus got = ptc_session_restore(w->ptc, snapshot_key, sizeof snapshot_key, bytes->bytes,
                                        bytes->len, &w->session, error, sizeof error);
    if (got == PTC_OK)
        return true;
    *status = of_status(w, got, error);
    return false;
}

static PtcTaskStatus close_session(Work *w)
{
    char *bytes, error[200] = "", message[320];
    size_t len;
    PtcStatus got = ptc_session_snapshot(w->session, snapshot_key, sizeof snapshot_key, &bytes,
                                         &len, error, sizeof error);
    if (got == PTC_NO_MEMORY)
        return PTC_TASK_NO_MEMORY;
    if (got != PTC_OK) {
        snprintf(message, sizeof message,
                 "the session cannot be kept, so nothing of this run was: %s", error);
        return refuse(w, PTC_REASON_RUNTIME, "value_error", message);
    }
    bool fits = ptc_buf_add(&w->out->session, bytes, len);
    ptc_text_free(w->ptc, bytes, len);
    if (fits)
        return PTC_TASK_DONE;
    if (w->out->session.failed)
        return PTC_TASK_NO_MEMORY;
    ptc_buf_clear(&w->out->session);
    return refuse(w, PTC_REASON_MEMORY, "memory_exceeded",
                  "the session became too large to be kept, so nothing of this run was");
}

/* ---------------------------------------------------------------------------------- output */

/* As much of a text as fits, cut between characters; false: it was cut. */
static bool put(PtcBuf *buf, const char *text, size_t len)
{
    size_t room = buf->max - buf->len;
    if (len <= room)
        return ptc_buf_add(buf, text, len);
    ptc_buf_add(buf, text, ptc_utf8_valid_prefix(text, room));
    return false;
}

static void put_prints(Work *w)
{
    PtcTaskOut *out = w->out;
    size_t len;
    out->prints_cut = ptc_outcome_prints_cut(w->outcome);
    for (size_t i = 0; i < ptc_outcome_print_count(w->outcome); i++) {
        const char *line = ptc_outcome_print(w->outcome, i, &len);
        if (!put(&out->prints, line, len) || !put(&out->prints, "\n", 1)) {
            out->prints_cut = true;
            break;
        }
    }
}

static void put_error(Work *w)
{
    PtcError e = {.size = sizeof e};
    if (!ptc_outcome_error(w->outcome, 0, &e))
        return;
    snprintf(w->out->reason, sizeof w->out->reason, "%s", e.reason);
    snprintf(w->out->kind, sizeof w->out->kind, "%s", e.kind);
    snprintf(w->out->message, sizeof w->out->message, "%.*s", (int)e.message_len, e.message);
}

/* The result in its forms; JSON that does not fit is left out whole. */
static bool put_result(Work *w)
{
    PtcTaskOut *out = w->out;
    size_t len;
    bool cut;
    const char *text = ptc_outcome_text(w->outcome, &len, &cut);
    if (!text)
        return false;
    out->text_cut = !put(&out->text, text, len) || cut;
    if ((text = ptc_outcome_json(w->outcome, &len)) && len <= out->json.max)
        ptc_buf_add(&out->json, text, len);
    bool validated = w->in->signature.bytes || w->in->output_schema.bytes;
    if (text && validated && len <= out->validated.max)
        ptc_buf_add(&out->validated, text, len);
    return true;
}

static bool put_payload(Work *w)
{
    PtcPayloadOptions options;
    PtcFormatOptions format;
    size_t len;
    ptc_payload_options_init(&options, sizeof options);
    ptc_format_options_init(&format, sizeof format);
    format.preview_max_chars = w->in->preview_chars;
    options.format = &format;
    options.session = w->session;
    if (w->out->validated.len) {
        options.validated_json = w->out->validated.data;
        options.validated_json_len = w->out->validated.len;
    }
    const char *payload = ptc_outcome_payload(w->outcome, &options, &len);
    return payload && ptc_buf_add(&w->out->payload, payload, len);
}

static bool bufs_ok(const PtcTaskOut *out)
{
    return !out->payload.failed && !out->text.failed && !out->json.failed &&
           !out->validated.failed && !out->prints.failed;
}

static PtcTaskStatus finish(Work *w)
{
    PtcTaskOut *out = w->out;
    size_t total = 0;
    out->ok = ptc_outcome_ok(w->outcome);
    ptc_outcome_tool_count(w->outcome, &total);
    out->tool_calls = total;
    put_prints(w);
    if (!out->ok)
        put_error(w);
    if ((out->ok && !put_result(w)) || !put_payload(w) || !bufs_ok(out))
        return PTC_TASK_NO_MEMORY;
    if (out->ok && w->session)
        return close_session(w);
    if (!out->ok && strcmp(out->kind, "cancelled") == 0)
        return PTC_TASK_CANCELLED;
    return PTC_TASK_DONE;
}

/* ----------------------------------------------------------------------------------- tasks */

static void set_view(const char **bytes, size_t *len, const PtcText *view)
{
    *bytes = view->bytes;
    *len = view->len;
}

static PtcTaskStatus eval(Work *w, PtcTools *tools, const PtcShared *shared)
{
    PtcRun run;
    PtcTaskStatus status = PTC_TASK_NO_MEMORY;
    const PtcTaskIn *in = w->in;
    ptc_run_init(&run, sizeof run);
    if (in->signature.bytes && in->output_schema.bytes)
        return bad_args(w, "give `signature` or `output_schema`, not both");
    if (!make_context(w, in->use_data ? shared : NULL, &run.context, &status) ||
        !open_session(w, &status))
        return status;
    set_view(&run.program, &run.program_len, &in->program);
    set_view(&run.signature, &run.signature_len, &in->signature);
    set_view(&run.output_schema, &run.output_schema_len, &in->output_schema);
    run.session = w->session;
    run.limits = &w->limits;
    run.tools = in->use_tools ? tools : NULL;
    PtcStatus got = ptc_eval(w->ptc, &run, &w->outcome);
    if (got == PTC_BAD_ARGUMENT)
        return bad_args(w, "a limit of the call is out of range");
    return got == PTC_OK ? finish(w) : PTC_TASK_NO_MEMORY;
}

static PtcTaskStatus inspect(Work *w)
{
    char *text;
    size_t len;
    if (ptc_session_inspect(w->session, &text, &len) != PTC_OK)
        return PTC_TASK_NO_MEMORY;
    w->out->ok = ptc_buf_add(&w->out->payload, text, len);
    ptc_text_free(w->ptc, text, len);
    return w->out->ok ? PTC_TASK_DONE : PTC_TASK_NO_MEMORY;
}

static PtcTaskStatus forget(Work *w)
{
    const PtcText *name = &w->in->name;
    size_t before = ptc_session_count(w->session);
    if (name->bytes)
        (void)ptc_session_forget(w->session, name->bytes, name->len);
    else if (ptc_session_forget_all(w->session) != PTC_OK)
        return PTC_TASK_NO_MEMORY;
    w->out->ok = true;
    if (!ptc_buf_addf(&w->out->payload, "{\"forgotten\":%zu}",
                      before - ptc_session_count(w->session)))
        return PTC_TASK_NO_MEMORY;
    return close_session(w);
}

static PtcTaskStatus of_session(Work *w)
{
    PtcTaskStatus status = PTC_TASK_NO_MEMORY;
    if (!w->in->in_session)
        return bad_args(w, "this needs a session");
    if (!open_session(w, &status))
        return status;
    return w->in->kind == PTC_TASK_INSPECT ? inspect(w) : forget(w);
}

static void set_limits(PtcLimits *limits, const PtcTaskIn *in)
{
    ptc_limits_init(limits, sizeof *limits);
    limits->timeout_ms = in->timeout_ms;
    limits->memory_bytes = in->memory_bytes;
    limits->max_tool_calls = in->max_tool_calls;
    limits->program_bytes = in->program_bytes;
    limits->context_bytes = in->context_bytes;
    limits->session_bytes = in->session_bytes;
    limits->result_bytes = in->result_bytes;
}

PtcTaskStatus ptc_task_run(Ptc *ptc, const PtcTaskIn *in, PtcTools *tools, const PtcShared *data,
                           PtcTaskOut *out)
{
    Work w = {.ptc = ptc, .in = in, .out = out};
    int64_t begun = ptc_clock_ns(NULL);
    set_limits(&w.limits, in);
    PtcTaskStatus status = in->kind == PTC_TASK_EVAL ? eval(&w, tools, data) : of_session(&w);
    ptc_outcome_free(w.outcome);
    ptc_session_free(w.session);
    ptc_data_free(w.data);
    out->compute_us = (ptc_clock_ns(NULL) - begun) / 1000;
    return status;
}
