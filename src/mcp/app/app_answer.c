/* SPDX-License-Identifier: MIT
 * Answers by profile: what is said about a run, what is cut, and where the rest can be found.
 *
 * Clients show either the text or the structured content to their model, and some show both.  So each of the two is
 * complete, and neither says a thing twice.  They are put together from the parts of a PtcTaskOut; parts that are
 * JSON go into the answer unchanged.  What always holds: an answer that would be too large is composed again with
 * less detail (`level`) until it fits. */
#define _GNU_SOURCE /* memmem */
#include "mcp/app/app_int.h"

#include <stdio.h>

#include "base/ascii.h"
#include "base/utf8.h"
#include "json/parse.h"
#include "tool/wire/protocol.h"
#include "trace/call_log.h"
#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/str.h"

#define KIB ((size_t)1024)

const PtcAppSizes ptc_app_sizes[] = {
    [PTC_APP_SLIM] = {.result_bytes = 8 * KIB,
                      .print_entries = 20,
                      .print_bytes = 8 * KIB,
                      .feedback_bytes = 8 * KIB,
                      .envelope_bytes = 32 * KIB},
    [PTC_APP_STRUCTURED] = {.result_bytes = 16 * KIB,
                            .print_entries = 50,
                            .print_bytes = 16 * KIB,
                            .feedback_bytes = 16 * KIB,
                            .validated_bytes = 32 * KIB,
                            .preview_bytes = 1024,
                            .envelope_bytes = 96 * KIB},
    [PTC_APP_DEBUG] = {.result_bytes = 64 * KIB,
                       .print_entries = 200,
                       .print_bytes = 64 * KIB,
                       .feedback_bytes = 64 * KIB,
                       .validated_bytes = 128 * KIB,
                       .preview_bytes = 2048,
                       .envelope_bytes = 512 * KIB},
};

enum { LEVELS = 3, LEAST_BYTES = 1024 };

/* What one answer is made from. */
typedef struct {
    PtcJob *job;
    PtcAppProfile profile;
    const PtcAppSizes *sizes;
    int level;
    size_t result_len; /* bytes of the printed result that are shown */
    size_t prints_len; /* likewise of the printed lines */
    bool as_json;      /* the result is shown as JSON */
    bool exact;        /* `validated` is shown in full */
    bool cut;          /* any of these was cut: */
    bool result_cut, prints_cut, preview_cut;
    char handle[PTC_RESULT_HANDLE]; /* of what was kept; "": nothing */
    PtcBuf json, text;
} Answer;

static size_t cut_at(const PtcBuf *text, size_t most)
{
    return text->len <= most ? text->len : ptc_utf8_valid_prefix(text->data, most);
}

/* Takes the next line of the first `len` bytes, without its line feed; false: there is none. */
static bool next_buffered_line(const PtcBuf *lines, size_t len, size_t *pos, PtcText *line)
{
    if (*pos >= len)
        return false;
    const char *from = lines->data + *pos, *end = memchr(from, '\n', len - *pos);
    *line = (PtcText){from, end ? (size_t)(end - from) : len - *pos};
    *pos += line->len + (end != NULL);
    return true;
}

/* ------------------------------------------------------------------------------ what is told */

/* Bytes a character takes inside a JSON string; control characters are counted at their longest. */
static size_t escaped_char(char c)
{
    return (unsigned char)c < 0x20 ? 6 : c == '"' || c == '\\' ? 2 : 1;
}

/* Bytes a text takes as a JSON string, without its quotes. */
static size_t escaped_length(PtcText text)
{
    size_t n = 0;
    for (size_t i = 0; i < text.len; i++)
        n += escaped_char(text.bytes[i]);
    return n;
}

/* As many printed lines as fit, the last perhaps only in part. */
static size_t fitting_prints(const Answer *a)
{
    const PtcBuf *prints = &a->job->out.prints;
    size_t lines = 0, bytes = 4, at = 0; /* brackets, and quotes of the first */
    while (at < prints->len && lines < a->sizes->print_entries) {
        bool ends = prints->data[at] == '\n';
        bytes += ends ? 3 : escaped_char(prints->data[at]);
        if (bytes > a->sizes->print_bytes)
            return ptc_utf8_valid_prefix(prints->data, at);
        lines += ends;
        at++;
    }
    return at;
}

/* Keeps the whole result for lisp_result_page, once per answer. */
static void keep_rest(Answer *a)
{
    PtcJob *job = a->job;
    const PtcTaskOut *out = &job->out;
    PtcText parts[PTC_RESULT_PARTS] = {
        [PTC_RESULT_TEXT] = {out->text.data, out->text.len},
        [PTC_RESULT_JSON] = {out->json.data, out->json.len},
        [PTC_RESULT_PRINTS] = {out->prints.data, out->prints.len},
    };
    if (!a->handle[0] && !ptc_results_keep(&job->app->results, job->owner, parts, a->handle))
        a->handle[0] = 0;
}

/* In the slim profile the result is the value itself, unless it cannot be JSON or would be much longer that way. */
static void decide_result(Answer *a, size_t most)
{
    const PtcTaskOut *out = &a->job->out;
    a->result_len = cut_at(&out->text, most);
    a->result_cut = a->result_len < out->text.len || out->text_cut;
    a->as_json = a->profile == PTC_APP_SLIM && !a->result_cut && out->json.len > 0 &&
                 out->json.len <= 2 * most;
}

/* A validated value is shown in full or not at all; in the slim profile it is the result. */
static void decide_validated(Answer *a)
{
    const PtcTaskOut *out = &a->job->out;
    bool wanted = out->validated && a->profile != PTC_APP_SLIM;
    a->exact = wanted && out->json.len <= a->sizes->validated_bytes && a->level < 2;
    a->preview_cut = wanted && !a->exact && out->json.len > a->sizes->preview_bytes;
}

/* Each level shows less: half the result, then its first bytes; printed lines only at the first. */
static void decide_answer_parts(Answer *a)
{
    const PtcTaskOut *out = &a->job->out;
    size_t most = a->level == 0   ? a->sizes->result_bytes
                  : a->level == 1 ? a->sizes->result_bytes / 2
                                  : LEAST_BYTES;
    decide_result(a, most);
    decide_validated(a);
    a->prints_len = a->level == 0 ? fitting_prints(a) : 0;
    a->prints_cut = out->prints_cut || a->prints_len < out->prints.len;
    a->cut = a->result_cut || a->prints_cut || a->preview_cut;
    a->job->answered_bytes = a->as_json ? out->json.len : a->result_len;
    a->job->printed_bytes = a->prints_len;
    if (a->cut)
        keep_rest(a);
}

/* -------------------------------------------------------------------------- structured content */

static void add_true(Answer *a, const char *name, bool when)
{
    if (when)
        ptc_emit_field_bool(&a->json, name, true);
}

/* A part that is JSON goes in unchanged, if there is one. */
static void add_answer_part(Answer *a, const char *name, const PtcBuf *part)
{
    if (part->len)
        ptc_emit_field_raw(&a->json, name, ptc_buf_view(part));
}

static void add_answer_result(Answer *a)
{
    PtcBuf *json = &a->json;
    const PtcTaskOut *out = &a->job->out;
    PtcText shown = {ptc_buf_view(&out->text).bytes, a->result_len};
    ptc_emit_key(json, "result");
    if (a->as_json) {
        ptc_emit_raw(json, ptc_buf_view(&out->json));
        return;
    }
    ptc_emit_string(json);
    if (a->profile != PTC_APP_SLIM)
        ptc_emit_string_part(json, PTC_TEXT("user=> "));
    ptc_emit_string_part(json, shown);
    ptc_emit_string_end(json);
}

/* Lines as an array of strings. */
static void add_answer_lines(Answer *a, const char *key, const PtcBuf *lines, size_t len)
{
    PtcText line;
    ptc_emit_key(&a->json, key);
    ptc_emit_array(&a->json);
    for (size_t pos = 0; next_buffered_line(lines, len, &pos, &line);)
        ptc_emit_text(&a->json, line);
    ptc_emit_array_end(&a->json);
}

static void add_answer_prints(Answer *a)
{
    if (a->prints_len > 0 || a->profile == PTC_APP_DEBUG)
        add_answer_lines(a, "prints", &a->job->out.prints, a->prints_len);
}

static void add_validated(Answer *a)
{
    const PtcTaskOut *out = &a->job->out;
    const PtcBuf *value = &out->json;
    if (!out->validated || a->profile == PTC_APP_SLIM)
        return;
    if (a->exact) {
        add_answer_part(a, "validated", value);
        return;
    }
    if (a->level == 0) {
        PtcText shown = {value->data, cut_at(value, a->sizes->preview_bytes)};
        ptc_emit_field_text(&a->json, "validated_preview", shown);
        add_true(a, "validated_preview_truncated", a->preview_cut);
    }
    ptc_emit_field_uint(&a->json, "validated_bytes", value->len);
}

static void add_session_info(PtcBuf *out, const PtcSessionInfo *info)
{
    ptc_emit_key(out, "session");
    ptc_emit_object(out);
    ptc_emit_field_cstr(out, "session_id", info->handle);
    ptc_emit_field_uint(out, "evals", info->evals);
    ptc_emit_field_uint(out, "bindings", info->bindings);
    ptc_emit_field_uint(out, "bytes", info->bytes);
    ptc_emit_object_end(out);
}

static void add_session(Answer *a)
{
    const PtcTaskOut *out = &a->job->out;
    if (!a->job->in.in_session)
        return;
    if (a->profile != PTC_APP_SLIM)
        add_session_info(&a->json, &a->job->info);
    if (a->level > 0)
        return;
    if (a->profile == PTC_APP_SLIM) {
        if (out->changed.len)
            add_answer_lines(a, "stored", &out->changed, out->changed.len);
        return;
    }
    add_answer_part(a, "memory", &out->memory);
    add_answer_lines(a, "changed_keys", &out->changed, out->changed.len);
    if (a->profile == PTC_APP_STRUCTURED)
        add_answer_lines(a, "stored_keys", &out->stored, out->stored.len);
}

/* The text, cut between characters to at most that many bytes. */
static PtcText cut_text(PtcText text, size_t most)
{
    if (text.len > most)
        text.len = ptc_utf8_valid_prefix(text.bytes, most);
    return text;
}

/* The calls of other servers, and what they brought.  Nothing without upstreams. */
static void add_upstream_calls(Answer *a, PtcBuf *out)
{
    const PtcJob *job = a->job;
    PtcCallLog call_log;
    PtcCallSums sums;
    if (!job->out.call_log.len)
        return;
    ptc_call_log_open(&call_log, a->json.mem, ptc_buf_view(&job->out.call_log));
    ptc_call_log_sum(&call_log, &sums);
    if (a->level == 0)
        ptc_call_log_put_calls(&call_log, out);
    ptc_call_log_close(&call_log);
    ptc_call_log_put_metrics(out, &sums, job->answered_bytes, job->printed_bytes);
}

/* Feedback and calls can be large, so they are the first to go. */
static void add_diagnostics(Answer *a)
{
    const PtcJob *job = a->job;
    PtcBuf *out = &a->json;
    if (a->level == 0) {
        ptc_emit_field_text(out, "feedback",
                            cut_text(ptc_buf_view(&job->out.feedback), a->sizes->feedback_bytes));
        add_answer_part(a, "tool_calls", &job->out.calls);
    }
    ptc_emit_key(out, "metrics");
    ptc_emit_object(out);
    ptc_emit_field_int(out, "compute_us", job->out.compute_us);
    ptc_emit_field_uint(out, "tool_calls", job->out.tool_calls);
    ptc_emit_field_uint(out, "program_bytes", job->in.program.len);
    ptc_emit_field_uint(out, "context_bytes", job->in.context.len);
    ptc_emit_field_uint(out, "result_bytes", job->out.text.len);
    ptc_emit_object_end(out);
    add_upstream_calls(a, out);
}

/* What was cut, and where lisp_result_page continues. */
static void add_cut_notes(Answer *a)
{
    PtcBuf *out = &a->json;
    if (a->profile == PTC_APP_DEBUG || a->cut)
        ptc_emit_field_bool(out, "truncated", a->cut);
    add_true(a, "output_truncated", a->cut && a->profile != PTC_APP_SLIM);
    if (a->result_cut) {
        ptc_emit_field_uint(out, "result_bytes", a->job->out.text.len);
        ptc_emit_field_uint(out, "next_offset", a->result_len);
    }
    add_true(a, "prints_truncated", a->prints_cut);
    if (a->prints_cut)
        ptc_emit_field_uint(out, "prints_next_offset", a->prints_len);
    if (a->handle[0])
        ptc_emit_field_cstr(out, "result_handle", a->handle);
}

static void add_structured(Answer *a)
{
    PtcBuf *out = &a->json;
    ptc_emit_object(out);
    if (a->profile != PTC_APP_SLIM)
        ptc_emit_field_cstr(out, "status", "ok");
    add_answer_result(a);
    add_answer_prints(a);
    add_validated(a);
    add_session(a);
    if (a->level == 0)
        add_answer_part(a, "warnings", &a->job->out.warnings);
    ptc_job_effects(a->job, out);
    if (a->profile == PTC_APP_DEBUG)
        add_diagnostics(a);
    add_cut_notes(a);
    ptc_emit_object_end(out);
}

/* -------------------------------------------------------------------------------------- text */

/* [stored: a, b] for names that were given values. */
static void add_stored(Answer *a)
{
    const PtcBuf *changed = &a->job->out.changed;
    const char *before = "\n[stored: ";
    PtcText name;
    if (a->level > 0 || changed->len == 0)
        return;
    for (size_t pos = 0; next_buffered_line(changed, changed->len, &pos, &name); before = ", ") {
        ptc_buf_add_cstr(&a->text, before);
        ptc_buf_add(&a->text, name.bytes, name.len);
    }
    ptc_buf_add_char(&a->text, ']');
}

/* [warning: line 1, column 9: message; hint] */
static void add_warning(PtcBuf *text, PtcHeap *heap, PtcValue warning)
{
    PtcText message = ptc_str_text(ptc_map_field(heap, warning, "message"));
    PtcText hint = ptc_str_text(ptc_map_field(heap, warning, "hint"));
    PtcValue line = ptc_map_field(heap, warning, "line");
    PtcValue column = ptc_map_field(heap, warning, "column");
    if (!message.bytes)
        return;
    ptc_buf_add_cstr(text, "\n[warning: ");
    if (line != PTC_NONE && ptc_is_int(line) && column != PTC_NONE && ptc_is_int(column))
        ptc_buf_addf(text, "line %lld, column %lld: ", (long long)ptc_to_int(line),
                     (long long)ptc_to_int(column));
    ptc_buf_add(text, message.bytes, message.len);
    if (hint.len)
        ptc_buf_addf(text, "; %.*s", PTC_ARG(hint));
    ptc_buf_add_char(text, ']');
}

/* Has call i of the log the note? */
static bool is_changed(PtcCallLog *l, size_t i)
{
    PtcValue notes = ptc_call_log_member(l, i, "notes");
    for (size_t n = 0; notes != PTC_NONE && ptc_is_sequential(notes) && n < ptc_seq_count(notes);
         n++)
        if (ptc_text_is(ptc_str_text(ptc_seq_nth(notes, n)), "tool_changed"))
            return true;
    return false;
}

/* A server may give its tools any names; all characters except letters, digits, - and . are shown as _. */
static void add_tool_name_shown(PtcBuf *text, PtcText name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.bytes[i];
        ptc_buf_add_char(text, ptc_ascii_is_alnum(c) || c == '-' || c == '.' ? c : '_');
    }
}

/* Tools that are not what they were when a person first saw them; each once, and not many. */
static void add_changed(PtcBuf *text, PtcJob *job)
{
    enum { ANSWER_MOST = 5, ANSWER_NAME = 100 };
    static const char note[] = "\"tool_changed\"";
    const PtcBuf *json = &job->out.call_log;
    PtcCallLog l;
    size_t told = 0;
    if (!json->len || !memmem(json->data, json->len, note, sizeof note - 1))
        return;
    ptc_call_log_open(&l, text->mem, ptc_buf_view(json));
    for (size_t i = 0; i < l.count && told < ANSWER_MOST; i++) {
        PtcText server = ptc_call_log_text(&l, i, "server"),
                tool = ptc_call_log_text(&l, i, "tool");
        bool new = is_changed(&l, i) && server.len < ANSWER_NAME &&tool.len < ANSWER_NAME;
        for (size_t k = 0; k < i && new; k++)
            new = !is_changed(&l, k) || !ptc_text_same(ptc_call_log_text(&l, k, "tool"), tool) ||
                  !ptc_text_same(ptc_call_log_text(&l, k, "server"), server);
        if (!new)
            continue;
        ptc_buf_add_cstr(text, told++ ? ", " : "\n[changed since it was pinned: ");
        add_tool_name_shown(text, server);
        ptc_buf_add_char(text, '/');
        add_tool_name_shown(text, tool);
    }
    ptc_buf_add_cstr(text, told ? "; ptc upstreams pins shows how]" : "");
    ptc_call_log_close(&l);
}

/* There are few and usually none, so parsing them costs little.  They may come from a worker, and may then be
 * anything. */
static void add_warning_lines(PtcBuf *text, PtcJob *job)
{
    PtcJsonError error;
    add_changed(text, job);
    PtcHeap *heap = ptc_mcp_heap(job->call);
    const PtcBuf *json = &job->out.warnings;
    PtcValue all = json->len ? ptc_json_parse(heap, json->data, json->len, &error) : PTC_NONE;
    if (all == PTC_NONE || !ptc_is_sequential(all))
        return;
    for (size_t i = 0; i < ptc_seq_count(all); i++)
        add_warning(text, heap, ptc_seq_nth(all, i));
}

/* How to continue where a part was cut. */
static void add_page_hint(Answer *a, const char *part, size_t offset)
{
    if (a->handle[0])
        ptc_buf_addf(&a->text, "; lisp_result_page {\"handle\":\"%s\"%s,\"offset\":%zu} goes on",
                     a->handle, part, offset);
    ptc_buf_add_char(&a->text, ']');
}

static void add_cut_notice(Answer *a)
{
    const PtcTaskOut *out = &a->job->out;
    if (a->result_cut) {
        ptc_buf_addf(&a->text, "\n[cut: %zu of %s%zu bytes", a->result_len,
                     out->text_cut ? "more than " : "", out->text.len);
        add_page_hint(a, "", a->result_len);
    }
    if (a->prints_cut) {
        ptc_buf_add_cstr(&a->text, "\n[cut: more was printed");
        add_page_hint(a, ",\"part\":\"prints\"", a->prints_len);
    }
}

/* What was printed, then the value. */
static void add_answer_text(Answer *a)
{
    PtcBuf *text = &a->text;
    const PtcTaskOut *out = &a->job->out;
    ptc_buf_add(text, out->prints.data, a->prints_len);
    if (a->prints_len > 0 && text->len > 0 && text->data[text->len - 1] != '\n')
        ptc_buf_add_char(text, '\n');
    ptc_buf_add(text, out->text.data, a->result_len);
    add_stored(a);
    if (a->level == 0)
        add_warning_lines(text, a->job);
    ptc_job_effects_line(a->job, text);
    add_cut_notice(a);
}

/* Composes the answer at one level; true: it is within its size. */
static bool compose_answer(Answer *a)
{
    enum { AROUND = 256 };
    ptc_buf_clear(&a->json);
    ptc_buf_clear(&a->text);
    decide_answer_parts(a);
    add_structured(a);
    if (a->profile != PTC_APP_DEBUG)
        add_answer_text(a);
    const PtcBuf *shown = a->profile == PTC_APP_DEBUG ? &a->json : &a->text;
    return a->json.len + escaped_length(ptc_buf_view(shown)) + AROUND <= a->sizes->envelope_bytes;
}

/* Pictures and files that the result refers to, behind the text. */
static void add_pictures(PtcJob *job)
{
    const PtcBuf *blocks = &job->out.pictures;
    PtcText block;
    for (size_t pos = 0; next_buffered_line(blocks, blocks->len, &pos, &block);)
        ptc_mcp_block(job->call, block);
}

static void answer_eval_ok(Answer *a)
{
    while (!compose_answer(a) && a->level < LEVELS - 1)
        a->level++;
    if (!ptc_buf_ok(&a->json) || !ptc_buf_ok(&a->text)) {
        ptc_job_fail(a->job, "no_memory", "the server is out of memory; try again a little later");
        return;
    }
    const PtcBuf *shown = a->profile == PTC_APP_DEBUG ? &a->json : &a->text;
    if (a->profile != PTC_APP_DEBUG || a->job->out.pictures.len)
        ptc_mcp_text(a->job->call, shown->data, shown->len);
    add_pictures(a->job);
    ptc_mcp_structured(a->job->call, a->json.data, a->json.len);
}

/* ------------------------------------------------------------------------------------- errors */

/* In the debug profile: the error in the form lisp_eval uses elsewhere. */
static void fail_payload(Answer *a)
{
    enum { PREVIEW_CHARS = 250 };
    const PtcTaskOut *out = &a->job->out;
    PtcErrorAnswer error = {.reason = ptc_reason_find(out->reason),
                            .message = ptc_text_cstr(out->message),
                            .feedback = ptc_buf_view(&out->feedback)};
    PtcBuf shown;
    ptc_buf_init(&shown, a->json.mem, a->json.max);
    if (out->text.len && !ptc_text_is(ptc_buf_view(&out->text), "nil")) {
        ptc_preview_add(&shown, ptc_buf_view(&out->text), out->text_cut, PREVIEW_CHARS);
        error.result = ptc_buf_view(&shown);
    }
    ptc_protocol_render_error(&a->json, &error);
    if (a->json.len && ptc_buf_ok(&a->json) && a->json.data[a->json.len - 1] == '}') {
        a->json.len--; /* the object goes on */
        ptc_job_effects(a->job, &a->json);
        if (out->call_log.len)
            add_upstream_calls(a, &a->json);
        ptc_emit_object_end(&a->json);
    }
    ptc_mcp_fail(a->job->call, a->json.data, ptc_buf_ok(&a->json) ? a->json.len : 0);
    ptc_buf_deinit(&shown);
}

/* A failed program has changed nothing in its session, and the model is told so. */
static void answer_failed(Answer *a)
{
    PtcJob *job = a->job;
    PtcText text = cut_text(ptc_buf_view(&job->out.feedback), a->sizes->feedback_bytes);
    if (text.len == 0)
        text = ptc_text_cstr(job->out.message);
    job->failed = true;
    snprintf(job->reason, sizeof job->reason, "%s",
             ptc_reason_name(ptc_reason_find(job->out.reason)));
    ptc_buf_add_cstr(&job->message, job->out.message);
    if (a->profile == PTC_APP_DEBUG) {
        fail_payload(a);
        return;
    }
    while (text.len > 0 && text.bytes[text.len - 1] == '\n')
        text.len--;
    ptc_buf_addf(&a->text, "%s: %.*s", job->reason, PTC_ARG(text));
    add_warning_lines(&a->text, job);
    ptc_job_effects_line(job, &a->text);
    ptc_buf_add_cstr(&a->text, job->in.in_session ? "\n[the session is as it was before]" : "");
    ptc_mcp_fail(job->call, a->text.data, ptc_buf_ok(&a->text) ? a->text.len : 0);
}

void ptc_job_answer(PtcJob *job)
{
    PtcMem *mem = ptc_mcp_mem(ptc_mcp_server(job->call));
    Answer a = {.job = job, .profile = job->app->config.profile, .sizes = job->app->sizes};
    job->answered = true;
    ptc_buf_init(&a.json, mem, 8 * KIB * KIB);
    ptc_buf_init(&a.text, mem, 8 * KIB * KIB);
    if (job->out.ok)
        answer_eval_ok(&a);
    else
        answer_failed(&a);
    ptc_buf_deinit(&a.json);
    ptc_buf_deinit(&a.text);
}
