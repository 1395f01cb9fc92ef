/* SPDX-License-Identifier: MIT
 * Answers by profile: what is told of a run, what is cut, and where the rest is.
 *
 * Clients show either the text or the structured content to their model, so both tell everything.  An answer that is
 * too large as a whole is made again with less (`level`), until it fits. */
#include "mcp/app/app_int.h"

#include <stdio.h>

#include "base/utf8.h"
#include "tool/protocol.h"
#include "value/map.h"
#include "value/str.h"
#include "value/vec.h"

#define KIB ((size_t)1024)

const PtcAppSizes ptc_app_sizes[] = {
    [PTC_APP_SLIM] = {.result_bytes = 8 * KIB,
                      .print_entries = 20,
                      .print_bytes = 8 * KIB,
                      .feedback_bytes = 8 * KIB,
                      .validated_bytes = 0,
                      .preview_bytes = 512,
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

/* What one answer is made of. */
typedef struct {
    PtcJob *job;
    PtcAppProfile profile;
    const PtcAppSizes *sizes;
    int level;
    PtcValue prints; /* a vector, or PTC_NONE */
    size_t print_count, result_len, validated_len;
    bool exact; /* `validated` is there */
    bool cut;   /* any of these: */
    bool result_cut, prints_cut, preview_cut;
    char handle[PTC_RESULT_HANDLE]; /* of what was kept; "": nothing */
    PtcBuf json, text;
} Answer;

static size_t cut_at(const PtcBuf *text, size_t most)
{
    return text->len <= most ? text->len : ptc_utf8_valid_prefix(text->data, most);
}

/* ------------------------------------------------------------------------------ what is told */

/* Items of a vector, which came from a worker and may be anything. */
static size_t count_of(PtcValue items)
{
    return items != PTC_NONE && ptc_is_sequential(items) ? ptc_seq_count(items) : 0;
}

static PtcText text_at(PtcValue items, size_t i)
{
    PtcText text = ptc_str_text(ptc_seq_nth(items, i));
    return text.bytes ? text : PTC_TEXT("");
}

/* The next name of the map `changed`, which may be anything too; false: there is none. */
static bool next_name(PtcValue map, size_t *pos, PtcText *name)
{
    PtcValue key;
    if (map == PTC_NONE || !ptc_is_map(map) || !ptc_map_next(map, pos, &key, NULL))
        return false;
    *name = ptc_str_text(key);
    return true;
}

static bool has_names(PtcValue map)
{
    return map != PTC_NONE && ptc_is_map(map) && ptc_map_count(map) > 0;
}

/* Bytes of a text as a JSON string, without its quotes; controls are counted at their longest. */
static size_t escaped(const char *text, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        n += c < 0x20 ? 6 : c == '"' || c == '\\' ? 2 : 1;
    }
    return n;
}

/* How many printed lines fit. */
static size_t fitting_prints(const Answer *a)
{
    size_t n = count_of(a->prints), bytes = 2;
    if (n > a->sizes->print_entries)
        n = a->sizes->print_entries;
    for (size_t i = 0; i < n; i++) {
        PtcText line = text_at(a->prints, i);
        bytes += escaped(line.bytes, line.len) + 3;
        if (bytes > a->sizes->print_bytes)
            return i;
    }
    return n;
}

static PtcValue payload_field(PtcJob *job, const char *name)
{
    return ptc_map_field(ptc_mcp_heap(job->call), ptc_job_payload(job), name);
}

/* Keeps what does not fit, once. */
static void keep_rest(Answer *a)
{
    PtcJob *job = a->job;
    const PtcTaskOut *out = &job->out;
    PtcText parts[PTC_RESULT_PARTS] = {
        [PTC_RESULT_TEXT] = {out->text.data, out->text.len},
        [PTC_RESULT_JSON] = {out->json.data, out->json.len},
        [PTC_RESULT_PRINTS] = {out->prints.data, out->prints.len},
    };
    if (!a->handle[0] && !ptc_results_keep(job->app->results, job->owner, parts, a->handle))
        a->handle[0] = 0;
}

static void decide(Answer *a)
{
    const PtcTaskOut *out = &a->job->out;
    const PtcAppSizes *sizes = a->sizes;
    size_t most = a->level == 0   ? sizes->result_bytes
                  : a->level == 1 ? sizes->result_bytes / 2
                                  : LEAST_BYTES;
    a->prints = out->prints.len ? payload_field(a->job, "prints") : PTC_NONE;
    a->print_count = a->level == 0 && a->prints != PTC_NONE ? fitting_prints(a) : 0;
    a->prints_cut = out->prints_cut || a->print_count < count_of(a->prints);
    a->result_len = cut_at(&out->text, most);
    a->exact = out->validated.len && out->validated.len <= sizes->validated_bytes && a->level < 2;
    a->validated_len = cut_at(&out->validated, sizes->preview_bytes);
    a->preview_cut = !a->exact && a->validated_len < out->validated.len;
    a->result_cut = a->result_len < out->text.len || out->text_cut;
    a->cut = a->result_cut || a->prints_cut || a->preview_cut;
    if (a->cut)
        keep_rest(a);
}

/* -------------------------------------------------------------------------- structured content */

static void add_true(Answer *a, const char *name, bool when)
{
    if (when)
        ptc_emit_field_bool(&a->json, name, true);
}

static void add_value(Answer *a, const char *name, PtcValue v)
{
    if (v != PTC_NONE && ptc_emit_key(&a->json, name))
        (void)!ptc_emit_value(&a->json, ptc_mcp_heap(a->job->call), v);
}

static void add_result(Answer *a)
{
    PtcBuf *json = &a->json;
    ptc_emit_key(json, "result");
    ptc_emit_string(json);
    ptc_emit_string_part(json, PTC_TEXT("user=> "));
    ptc_emit_string_part(json, (PtcText){a->job->out.text.data, a->result_len});
    ptc_emit_string_end(json);
}

static void add_prints(Answer *a)
{
    if (a->print_count == 0 && a->profile != PTC_APP_DEBUG)
        return;
    ptc_emit_key(&a->json, "prints");
    ptc_emit_array(&a->json);
    for (size_t i = 0; i < a->print_count; i++)
        ptc_emit_text(&a->json, text_at(a->prints, i));
    ptc_emit_array_end(&a->json);
}

/* A validated value is there exactly or not at all. */
static void add_validated(Answer *a)
{
    const PtcBuf *validated = &a->job->out.validated;
    if (validated->len == 0)
        return;
    if (a->exact) {
        ptc_emit_field_raw(&a->json, "validated", ptc_buf_view(validated));
        return;
    }
    if (a->level == 0) {
        ptc_emit_field_text(&a->json, "validated_preview",
                            (PtcText){validated->data, a->validated_len});
        add_true(a, "validated_preview_truncated", a->preview_cut);
    }
    ptc_emit_field_uint(&a->json, "validated_bytes", validated->len);
}

/* The names of the map `changed`. */
static void add_names(Answer *a, const char *key, PtcValue map)
{
    PtcText name;
    ptc_emit_key(&a->json, key);
    ptc_emit_array(&a->json);
    for (size_t pos = 0; next_name(map, &pos, &name);)
        ptc_emit_text(&a->json, name);
    ptc_emit_array_end(&a->json);
}

static PtcValue memory_field(Answer *a, const char *name)
{
    return ptc_map_field(ptc_mcp_heap(a->job->call), payload_field(a->job, "memory"), name);
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
    PtcValue changed = memory_field(a, "changed");
    if (!a->job->in.in_session)
        return;
    if (a->profile == PTC_APP_SLIM) {
        if (has_names(changed) && a->level == 0)
            add_names(a, "stored", changed);
        return;
    }
    add_session_info(&a->json, &a->job->info);
    if (a->level > 0)
        return;
    if (a->profile == PTC_APP_DEBUG)
        add_value(a, "memory", payload_field(a->job, "memory"));
    if (changed != PTC_NONE)
        add_names(a, "changed_keys", changed);
    if (a->profile == PTC_APP_STRUCTURED)
        add_value(a, "stored_keys", memory_field(a, "stored_keys"));
}

/* The text, cut to so many bytes at most, between characters. */
static PtcText cut_text(PtcText text, size_t most)
{
    if (text.len > most)
        text.len = ptc_utf8_valid_prefix(text.bytes, most);
    return text;
}

static void add_diagnostics(Answer *a)
{
    const PtcJob *job = a->job;
    PtcBuf *out = &a->json;
    PtcText feedback = ptc_str_text(payload_field(a->job, "feedback"));
    if (a->level == 0 && feedback.bytes)
        ptc_emit_field_text(out, "feedback", cut_text(feedback, a->sizes->feedback_bytes));
    ptc_emit_key(out, "metrics");
    ptc_emit_object(out);
    ptc_emit_field_int(out, "compute_us", job->out.compute_us);
    ptc_emit_field_uint(out, "tool_calls", job->out.tool_calls);
    ptc_emit_field_uint(out, "program_bytes", job->in.program.len);
    ptc_emit_field_uint(out, "context_bytes", job->in.context.len);
    ptc_emit_field_uint(out, "result_bytes", job->out.text.len);
    ptc_emit_object_end(out);
}

static void add_structured(Answer *a)
{
    PtcBuf *out = &a->json;
    ptc_emit_object(out);
    if (a->profile != PTC_APP_SLIM)
        ptc_emit_field_cstr(out, "status", "ok");
    add_result(a);
    add_prints(a);
    add_validated(a);
    add_session(a);
    if (a->profile == PTC_APP_DEBUG)
        add_diagnostics(a);
    if (a->profile == PTC_APP_DEBUG || a->cut)
        ptc_emit_field_bool(out, "truncated", a->cut);
    add_true(a, "output_truncated", a->cut);
    add_true(a, "prints_truncated", a->prints_cut);
    if (a->cut)
        ptc_emit_field_uint(out, "result_bytes", a->job->out.text.len);
    if (a->handle[0])
        ptc_emit_field_cstr(out, "result_handle", a->handle);
    ptc_emit_object_end(out);
}

/* -------------------------------------------------------------------------------------- text */

/* [stored: a, b] where names were given values. */
static void add_stored(Answer *a)
{
    PtcValue changed = a->job->in.in_session ? memory_field(a, "changed") : PTC_NONE;
    PtcText name;
    if (a->level > 0 || !has_names(changed))
        return;
    const char *before = "\n[stored: ";
    for (size_t pos = 0; next_name(changed, &pos, &name); before = ", ") {
        ptc_buf_add_cstr(&a->text, before);
        ptc_buf_add(&a->text, name.bytes, name.len);
    }
    ptc_buf_add_char(&a->text, ']');
}

/* As at a REPL: what was printed, then the value. */
static void add_text(Answer *a)
{
    PtcBuf *text = &a->text;
    const PtcTaskOut *out = &a->job->out;
    for (size_t i = 0; i < a->print_count; i++) {
        PtcText line = text_at(a->prints, i);
        ptc_buf_add(text, line.bytes, line.len);
        ptc_buf_add_char(text, '\n');
    }
    ptc_buf_add_cstr(text, "user=> ");
    ptc_buf_add(text, out->text.data, a->result_len);
    add_stored(a);
    if (a->result_cut)
        ptc_buf_addf(text, "\n[cut: the result has %zu bytes", out->text.len);
    else if (a->prints_cut)
        ptc_buf_add_cstr(text, "\n[cut: more was printed");
    else
        return;
    if (a->handle[0])
        ptc_buf_addf(text, "; lisp_result_page {\"handle\":\"%s\"%s} gives the rest", a->handle,
                     a->result_cut ? "" : ",\"part\":\"prints\"");
    ptc_buf_add_char(text, ']');
}

static void answer_ok(Answer *a)
{
    enum { AROUND = 256 };
    for (a->level = 0; a->level < LEVELS; a->level++) {
        ptc_buf_clear(&a->json);
        ptc_buf_clear(&a->text);
        decide(a);
        add_structured(a);
        if (a->profile != PTC_APP_DEBUG)
            add_text(a);
        const PtcBuf *shown = a->profile == PTC_APP_DEBUG ? &a->json : &a->text;
        size_t text = escaped(shown->data, shown->len);
        if (a->json.len + text + AROUND <= a->sizes->envelope_bytes)
            break;
    }
    if (!ptc_buf_ok(&a->json) || !ptc_buf_ok(&a->text)) {
        ptc_job_fail(a->job, "no_memory",
                     "the server is short of memory; try again a little later");
        return;
    }
    if (a->profile != PTC_APP_DEBUG)
        ptc_mcp_text(a->job->call, a->text.data, a->text.len);
    ptc_mcp_structured(a->job->call, a->json.data, a->json.len);
}

/* ------------------------------------------------------------------------------------- errors */

static void answer_failed(Answer *a)
{
    PtcJob *job = a->job;
    PtcText text = ptc_str_text(payload_field(job, "feedback"));
    text = text.bytes ? cut_text(text, a->sizes->feedback_bytes) : ptc_text_cstr(job->out.message);
    job->failed = true;
    snprintf(job->reason, sizeof job->reason, "%s",
             ptc_reason_name(ptc_reason_find(job->out.reason)));
    ptc_buf_add_cstr(&job->message, job->out.message);
    if (a->profile == PTC_APP_DEBUG && job->out.payload.len) {
        ptc_mcp_fail(job->call, job->out.payload.data, job->out.payload.len);
        return;
    }
    while (text.len > 0 && text.bytes[text.len - 1] == '\n')
        text.len--;
    ptc_mcp_failf(job->call, "%s: %.*s%s", job->reason, (int)text.len, text.bytes,
                  job->in.in_session ? "\n[the session is as it was before]" : "");
}

void ptc_job_answer(PtcJob *job)
{
    PtcMem *mem = ptc_mcp_mem(ptc_mcp_server(job->call));
    Answer a = {.job = job, .profile = job->app->config.profile, .sizes = job->app->sizes};
    ptc_buf_init(&a.json, mem, 8 * KIB * KIB);
    ptc_buf_init(&a.text, mem, 8 * KIB * KIB);
    if (job->out.ok)
        answer_ok(&a);
    else
        answer_failed(&a);
    ptc_buf_deinit(&a.json);
    ptc_buf_deinit(&a.text);
}
