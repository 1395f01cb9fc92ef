/* SPDX-License-Identifier: MIT
 * Answers by profile: what is told of a run, what is cut, and where the rest is.
 *
 * Clients show either the text or the structured content to their model, so both tell everything.  An answer that is
 * too large as a whole is made again with less (`level`), until it fits. */
#include "mcp/app/app_int.h"

#include <stdio.h>

#include "base/utf8.h"
#include "json/write.h"
#include "tool/protocol.h"
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

/* Element i of a vector, which came from a worker and may be anything. */
static PtcText text_at(PtcValue items, size_t i)
{
    PtcValue v = ptc_value_at(items, i);
    return v != PTC_NONE && ptc_is_string(v) ? ptc_str_text(v) : (PtcText){"", 0};
}

static PtcText key_at(PtcValue map, size_t i)
{
    PtcValue v = ptc_value_key_at(map, i);
    return v != PTC_NONE && ptc_is_string(v) ? ptc_str_text(v) : (PtcText){"", 0};
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
    size_t n = ptc_value_count(a->prints), bytes = 2;
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
    PtcValue payload = ptc_job_payload(job);
    return payload != PTC_NONE && ptc_is_map(payload)
               ? ptc_map_field(ptc_mcp_heap(job->call), payload, name)
               : PTC_NONE;
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
    a->prints_cut =
        out->prints_cut || (a->prints != PTC_NONE && a->print_count < ptc_value_count(a->prints));
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

static void add_member(Answer *a, const char *name)
{
    ptc_buf_addf(&a->json, "%s\"%s\":", a->json.len > 1 ? "," : "", name);
}

static void add_string(Answer *a, const char *name, const char *text, size_t len)
{
    add_member(a, name);
    ptc_json_write_string(&a->json, text, len);
}

static void add_number(Answer *a, const char *name, uint64_t n)
{
    add_member(a, name);
    ptc_buf_addf(&a->json, "%llu", (unsigned long long)n);
}

static void add_true(Answer *a, const char *name, bool when)
{
    if (when) {
        add_member(a, name);
        ptc_buf_add_cstr(&a->json, "true");
    }
}

static void add_value(Answer *a, const char *name, PtcValue v)
{
    if (v == PTC_NONE)
        return;
    add_member(a, name);
    (void)!ptc_emit_value(&a->json, ptc_mcp_heap(a->job->call), v);
}

static void add_result(Answer *a)
{
    PtcBuf *json = &a->json;
    add_member(a, "result");
    size_t begin = json->len;
    ptc_json_write_string(json, a->job->out.text.data, a->result_len);
    /* "user=> " goes behind the quote that opens. */
    static const char prompt[] = "user=> ";
    if (ptc_buf_add(json, prompt, sizeof prompt - 1)) {
        memmove(json->data + begin + sizeof prompt, json->data + begin + 1,
                json->len - begin - sizeof prompt);
        memcpy(json->data + begin + 1, prompt, sizeof prompt - 1);
    }
}

static void add_prints(Answer *a)
{
    if (a->print_count == 0 && a->profile != PTC_APP_DEBUG)
        return;
    add_member(a, "prints");
    ptc_buf_add_char(&a->json, '[');
    for (size_t i = 0; i < a->print_count; i++) {
        PtcText line = text_at(a->prints, i);
        ptc_buf_add_cstr(&a->json, i ? "," : "");
        ptc_json_write_string(&a->json, line.bytes, line.len);
    }
    ptc_buf_add_char(&a->json, ']');
}

/* A validated value is there exactly or not at all. */
static void add_validated(Answer *a)
{
    const PtcBuf *validated = &a->job->out.validated;
    if (validated->len == 0)
        return;
    if (a->exact) {
        add_member(a, "validated");
        ptc_buf_add(&a->json, validated->data, validated->len);
        return;
    }
    if (a->level == 0) {
        add_string(a, "validated_preview", validated->data, a->validated_len);
        add_true(a, "validated_preview_truncated", a->preview_cut);
    }
    add_number(a, "validated_bytes", validated->len);
}

/* The names of the map `changed`. */
static void add_names(Answer *a, const char *name, PtcValue map)
{
    add_member(a, name);
    ptc_buf_add_char(&a->json, '[');
    for (size_t i = 0; i < ptc_value_count(map); i++) {
        PtcText key = key_at(map, i);
        ptc_buf_add_cstr(&a->json, i ? "," : "");
        ptc_json_write_string(&a->json, key.bytes, key.len);
    }
    ptc_buf_add_char(&a->json, ']');
}

static PtcValue memory_field(Answer *a, const char *name)
{
    PtcValue memory = payload_field(a->job, "memory");
    return memory != PTC_NONE && ptc_is_map(memory)
               ? ptc_map_field(ptc_mcp_heap(a->job->call), memory, name)
               : PTC_NONE;
}

static void add_session(Answer *a)
{
    const PtcSessionInfo *info = &a->job->info;
    PtcValue changed = memory_field(a, "changed");
    if (!a->job->in.in_session)
        return;
    if (a->profile == PTC_APP_SLIM) {
        if (ptc_value_count(changed) && a->level == 0)
            add_names(a, "stored", changed);
        return;
    }
    add_member(a, "session");
    ptc_buf_addf(&a->json, "{\"session_id\":\"%s\",\"evals\":%llu,\"bindings\":%zu,\"bytes\":%zu}",
                 info->handle, (unsigned long long)info->evals, info->bindings, info->bytes);
    if (a->level > 0)
        return;
    if (a->profile == PTC_APP_DEBUG)
        add_value(a, "memory", payload_field(a->job, "memory"));
    if (changed != PTC_NONE)
        add_names(a, "changed_keys", changed);
    if (a->profile == PTC_APP_STRUCTURED)
        add_value(a, "stored_keys", memory_field(a, "stored_keys"));
}

static void add_diagnostics(Answer *a)
{
    const PtcJob *job = a->job;
    PtcValue feedback = payload_field(a->job, "feedback");
    if (a->level == 0 && feedback != PTC_NONE && ptc_is_string(feedback)) {
        size_t len = ptc_str_len(feedback), most = a->sizes->feedback_bytes;
        if (len > most)
            len = ptc_utf8_valid_prefix(ptc_str_bytes(feedback), most);
        add_string(a, "feedback", ptc_str_bytes(feedback), len);
    }
    add_member(a, "metrics");
    ptc_buf_addf(
        &a->json,
        "{\"compute_us\":%lld,\"tool_calls\":%llu,\"program_bytes\":%zu,\"context_bytes\":%zu,"
        "\"result_bytes\":%zu}",
        (long long)job->out.compute_us, (unsigned long long)job->out.tool_calls,
        job->in.program.len, job->in.context.len, job->out.text.len);
}

static void add_structured(Answer *a)
{
    ptc_buf_add_char(&a->json, '{');
    if (a->profile != PTC_APP_SLIM)
        add_string(a, "status", "ok", 2);
    add_result(a);
    add_prints(a);
    add_validated(a);
    add_session(a);
    if (a->profile == PTC_APP_DEBUG)
        add_diagnostics(a);
    if (a->profile == PTC_APP_DEBUG && !a->cut) {
        add_member(a, "truncated");
        ptc_buf_add_cstr(&a->json, "false");
    }
    add_true(a, "truncated", a->cut);
    add_true(a, "output_truncated", a->cut);
    add_true(a, "prints_truncated", a->prints_cut);
    if (a->cut)
        add_number(a, "result_bytes", a->job->out.text.len);
    if (a->handle[0])
        add_string(a, "result_handle", a->handle, strlen(a->handle));
    ptc_buf_add_char(&a->json, '}');
}

/* -------------------------------------------------------------------------------------- text */

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
    PtcValue changed = a->job->in.in_session ? memory_field(a, "changed") : PTC_NONE;
    for (size_t i = 0; a->level == 0 && i < ptc_value_count(changed); i++) {
        PtcText name = key_at(changed, i);
        ptc_buf_addf(text, "%s%.*s", i ? ", " : "\n[stored: ", (int)name.len, name.bytes);
    }
    if (a->level == 0 && ptc_value_count(changed))
        ptc_buf_add_char(text, ']');
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
    PtcValue v = payload_field(job, "feedback");
    const char *text = job->out.message;
    size_t len = strlen(text);
    if (v != PTC_NONE && ptc_is_string(v)) {
        text = ptc_str_bytes(v);
        len = ptc_str_len(v);
        if (len > a->sizes->feedback_bytes)
            len = ptc_utf8_valid_prefix(text, a->sizes->feedback_bytes);
    }
    job->failed = true;
    snprintf(job->reason, sizeof job->reason, "%s",
             ptc_reason_name(ptc_reason_find(job->out.reason)));
    ptc_buf_add_cstr(&job->message, job->out.message);
    if (a->profile == PTC_APP_DEBUG && job->out.payload.len) {
        ptc_mcp_fail(job->call, job->out.payload.data, job->out.payload.len);
        return;
    }
    while (len > 0 && text[len - 1] == '\n')
        len--;
    ptc_mcp_failf(job->call, "%s: %.*s%s", job->reason, (int)len, text,
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
