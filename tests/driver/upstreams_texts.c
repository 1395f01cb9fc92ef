/* SPDX-License-Identifier: MIT
 * `ptc-test-driver upstreams`: files, requests and answers of services, and texts. */
#include "driver/upstreams_desk.h"

#include "base/text/clean.h"
#include "base/utf8.h"
#include "trace/redact.h"
#include "upstream/config/config.h"
#include "upstream/openapi/openapi_dialect.h"
#include "upstream/openapi/openapi_request.h"
#include "upstream/openapi/openapi_response.h"
#include "yaml/yaml_read.h"

bool ptc_upstreams_clean(PtcUpstreamsDesk *desk, const char **why)
{
    PtcBuf out;
    PtcText text = ptc_upstreams_text(desk, "text");
    PtcValue max = ptc_upstreams_in(desk, "max");
    size_t bytes = max != PTC_NONE && ptc_is_int(max) && ptc_to_int(max) > 0
                       ? (size_t)ptc_to_int(max)
                       : PTC_CLEAN_DOC;
    *why = "\"text\" must be a string";
    if (!text.bytes)
        return false;
    ptc_buf_init(&out, desk->mem, PTC_UNBOUNDED);
    ptc_clean_add(&out, text, bytes, ptc_upstreams_in(desk, "first_sentence") == PTC_TRUE);
    ptc_emit_field_text(desk->out, "text", ptc_buf_view(&out));
    ptc_buf_deinit(&out);
    return true;
}

static bool add_secrets(PtcSecrets *secrets, PtcValue list)
{
    for (size_t i = 0; i < ptc_fields_count(list); i++) {
        PtcText text = ptc_str_text(ptc_seq_nth(list, i));
        if (text.bytes && !ptc_secrets_add(secrets, text.bytes, text.len))
            return false;
    }
    return true;
}

bool ptc_upstreams_redact(PtcUpstreamsDesk *desk, const char **why)
{
    PtcBuf out;
    PtcSecrets secrets;
    PtcText text = ptc_upstreams_text(desk, "text");
    *why = "\"text\" must be a string and \"secrets\" an array of strings";
    if (!text.bytes)
        return false;
    ptc_secrets_init(&secrets, desk->mem, PTC_SECRET_MIN);
    ptc_buf_init(&out, desk->mem, PTC_UNBOUNDED);
    bool ok = add_secrets(&secrets, ptc_upstreams_in(desk, "secrets"));
    if (ok) {
        ptc_secrets_blot_part(&secrets, &out, text, true);
        ptc_emit_field_text(desk->out, "text", ptc_buf_view(&out));
    }
    ptc_buf_deinit(&out);
    ptc_secrets_deinit(&secrets);
    return ok;
}

/* ----------------------------------------------------------------------------------- files */

/* What a request gives instead of an environment and of files. */
typedef struct {
    PtcHeap *heap;
    PtcValue env, files;
} World;

static PtcText find_variable(void *user, PtcText name)
{
    World *world = user;
    PtcValue v = ptc_fields_get(world->heap, world->env, name);
    return v == PTC_NONE ? (PtcText){NULL, 0} : ptc_str_text(v);
}

static PtcText find_file(void *user, PtcText path)
{
    World *world = user;
    PtcValue v = ptc_fields_get(world->heap, world->files, path);
    return v == PTC_NONE ? (PtcText){NULL, 0} : ptc_str_text(v);
}

/* Members of the normal form that answers have. */
static bool is_shown(PtcText key)
{
    static const char *const hidden[] = {"env_file",
                                         "effects",
                                         "trust_annotations",
                                         "retry",
                                         "parse_json",
                                         "strict_output",
                                         "pin",
                                         "roots",
                                         "sampling",
                                         "elicitation",
                                         "shared",
                                         "ca_file",
                                         "allow_insecure_http",
                                         "allow_insecure_auth",
                                         "operation_overrides",
                                         "security"};
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
        if (ptc_text_is(key, hidden[i]))
            return false;
    return true;
}

static void put_upstreams(PtcUpstreamsDesk *desk, PtcValue upstreams)
{
    PtcValue key, value;
    ptc_emit_key(desk->out, "upstreams");
    ptc_emit_array(desk->out);
    for (size_t i = 0; i < ptc_fields_count(upstreams); i++) {
        ptc_emit_object(desk->out);
        for (size_t pos = 0; ptc_map_next(ptc_seq_nth(upstreams, i), &pos, &key, &value);)
            if (is_shown(ptc_str_text(key)))
                ptc_upstreams_put(desk, ptc_str_bytes(key), value);
        ptc_emit_object_end(desk->out);
    }
    ptc_emit_array_end(desk->out);
}

/* Places and codes, then the same for people. */
static void put_errors(PtcUpstreamsDesk *desk, PtcText file, PtcValue errors)
{
    PtcHeap *heap = &desk->heap;
    ptc_emit_key(desk->out, "errors");
    ptc_emit_array(desk->out);
    for (size_t i = 0; i < ptc_fields_count(errors); i++) {
        PtcValue error = ptc_seq_nth(errors, i);
        ptc_emit_object(desk->out);
        ptc_upstreams_put(desk, "path", ptc_map_field(heap, error, "path"));
        ptc_upstreams_put(desk, "code", ptc_map_field(heap, error, "code"));
        ptc_emit_object_end(desk->out);
    }
    ptc_emit_array_end(desk->out);
    ptc_emit_key(desk->out, "messages");
    ptc_emit_array(desk->out);
    for (size_t i = 0; i < ptc_fields_count(errors); i++) {
        PtcBuf text;
        ptc_buf_init(&text, desk->mem, PTC_UNBOUNDED);
        ptc_config_message(&text, heap, file, ptc_seq_nth(errors, i));
        ptc_emit_text(desk->out, ptc_buf_view(&text));
        ptc_buf_deinit(&text);
    }
    ptc_emit_array_end(desk->out);
}

bool ptc_upstreams_config(PtcUpstreamsDesk *desk, const char **why)
{
    PtcConfig config;
    World world = {&desk->heap, ptc_upstreams_in(desk, "env"), ptc_upstreams_in(desk, "files")};
    PtcText dialect = ptc_upstreams_text(desk, "dialect");
    PtcText project = ptc_upstreams_text(desk, "project");
    PtcConfigIn in = {.text = ptc_upstreams_text(desk, "text"),
                      .file = ptc_upstreams_text(desk, "file"),
                      .project = project.bytes ? project : PTC_TEXT("/home/ana/project"),
                      .variable = find_variable,
                      .read = find_file,
                      .user = &world};
    *why = "\"text\" must be a string and \"dialect\" the name of a client";
    if (!in.text.bytes || (dialect.bytes && !ptc_dialect_parse(dialect, &in.dialect)))
        return false;
    *why = "out of memory";
    if (!ptc_config_read(&desk->heap, &in, &config))
        return false;
    ptc_emit_field_bool(desk->out, "ok", config.ok);
    if (config.ok) {
        put_upstreams(desk, config.upstreams);
        ptc_upstreams_put(desk, "notes", config.notes);
    } else {
        put_errors(desk, in.file, config.errors);
    }
    return true;
}

/* -------------------------------------------------------------------------------- services */

static void put_request(PtcUpstreamsDesk *desk, PtcOpenapiRequest *request)
{
    ptc_emit_field_cstr(desk->out, "method", request->method);
    ptc_upstreams_put(desk, "origin", request->origin);
    ptc_upstreams_put(desk, "target", request->target);
    ptc_upstreams_put(desk, "headers", request->headers);
    PtcText body = ptc_buf_view(&request->body);
    if (request->has_body && ptc_utf8_valid(body.bytes, body.len))
        ptc_emit_field_text(desk->out, "body", body);
    else if (request->has_body)
        ptc_emit_field_uint(desk->out, "body_bytes", body.len);
}

bool ptc_upstreams_request(PtcUpstreamsDesk *desk, const char **why)
{
    PtcOpenapiRequest request;
    PtcValue args = ptc_upstreams_in(desk, "args");
    PtcOpenapiCall call = {
        .document = ptc_upstreams_in(desk, "document"),
        .operation = {.text = ptc_upstreams_text(desk, "operation")},
        .args = args == PTC_NONE ? ptc_fields_map(&desk->heap) : args,
        .defaults = ptc_upstreams_in(desk, "defaults"),
        .base_url = ptc_upstreams_text(desk, "base_url"),
        .allow_writes = ptc_upstreams_in(desk, "allow_writes") == PTC_TRUE,
        .auth = ptc_upstreams_in(desk, "auth"),
        .credentials = ptc_upstreams_in(desk, "credentials"),
        .static_headers = ptc_upstreams_in(desk, "static_headers"),
    };
    PtcText yaml = ptc_upstreams_text(desk, "yaml");
    PtcYamlError error = {0};
    PtcWhy unread = {0};
    *why = "\"document\" or \"yaml\", \"operation\" and \"args\" must be there";
    if ((call.document == PTC_NONE && !yaml.bytes) || !call.operation.text.bytes ||
        !ptc_is_map(call.args))
        return false;
    if (call.document == PTC_NONE)
        call.document = ptc_yaml_read(&desk->heap, yaml, &error);
    if (call.document != PTC_NONE)
        call.document = ptc_openapi_dialect(&desk->heap, call.document, &unread);
    if (call.document == PTC_NONE && ptc_fields_ok(&desk->heap)) {
        ptc_emit_field_bool(desk->out, "ok", false);
        ptc_emit_field_cstr(desk->out, "code", "unsupported_document");
        ptc_emit_field_cstr(desk->out, "message", error.message[0] ? error.message : unread.text);
        return true;
    }
    *why = "out of memory";
    if (call.document == PTC_NONE)
        return false;
    bool ok = ptc_openapi_request(&desk->arena, &desk->heap, &call, &request);
    if (ok) {
        ptc_emit_field_bool(desk->out, "ok", !request.code);
        if (!request.code)
            put_request(desk, &request);
        else
            ptc_emit_field_cstr(desk->out, "code", ptc_call_reasons[request.code].word);
        if (request.code)
            ptc_upstreams_put_issues(desk->out, &request.issues);
    }
    ptc_openapi_request_deinit(&request);
    return ok;
}

bool ptc_upstreams_response(PtcUpstreamsDesk *desk, const char **why)
{
    PtcResponse out;
    PtcValue status = ptc_upstreams_in(desk, "status"), max = ptc_upstreams_in(desk, "max_bytes");
    PtcResponseIn in = {.headers = ptc_upstreams_in(desk, "headers"),
                        .body = ptc_upstreams_text(desk, "body")};
    *why = "\"status\" must be a number and \"body\" a string";
    if (status == PTC_NONE || !ptc_is_int(status) || !in.body.bytes)
        return false;
    in.status = ptc_to_int(status);
    in.max_bytes =
        max != PTC_NONE && ptc_is_int(max) && ptc_to_int(max) > 0 ? (size_t)ptc_to_int(max) : 0;
    *why = "out of memory";
    if (!ptc_openapi_response(&desk->heap, &in, &out))
        return false;
    ptc_emit_field_bool(desk->out, "ok", out.result.ok);
    if (out.result.ok) {
        ptc_emit_field_cstr(desk->out, "kind", ptc_tool_result_kind(out.result.kind));
        ptc_upstreams_put(desk, "value", out.result.value);
        return true;
    }
    ptc_emit_field_cstr(desk->out, "reason", ptc_call_reason_word(out.result.reason));
    ptc_emit_field_int(desk->out, "status", in.status);
    if (out.retry_after_ms >= 0)
        ptc_emit_field_int(desk->out, "retry_after_ms", out.retry_after_ms);
    ptc_upstreams_put(desk, "message", out.result.message);
    return true;
}
