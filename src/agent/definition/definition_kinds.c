/* SPDX-License-Identifier: MIT
 * Tools of agents that are not agents themselves: one question to a model, and HTTP requests. */
#include <stdio.h>

#include "agent/definition/definition_int.h"
#include "agent/prompt/response_template.h"
#include "base/utf8.h"
#include "value/coll/map.h"
#include "value/str.h"

/* ---------------------------------------------------------------------------- questions */

/* What an llm tool has in addition to the fields of an agent. */
typedef struct Question {
    PtcText json_signature, response_template;
} Question;

static bool read_json_signature(PtcFieldReader *r, PtcValue v)
{
    return ptc_fields_text(r, v, &((Question *)r->user)->json_signature);
}

static bool read_response_template(PtcFieldReader *r, PtcValue v)
{
    return ptc_fields_text(r, v, &((Question *)r->user)->response_template);
}

static bool read_model(PtcFieldReader *r, PtcValue v)
{
    return ptc_definition_read_model(r, v, &r->def->llm, &r->def->llm_script);
}

#define OTHER(name_, read_)                                                     \
    {                                                                           \
        .name = name_, .kind = PTC_FIELD_OTHER, .nullable = true, .read = read_ \
    }

static const PtcFieldRow question_rows[] = {
    {.name = "prompt", .kind = PTC_FIELD_TEXT, .offset = offsetof(PtcAgentDef, prompt)},
    {.name = "signature", .kind = PTC_FIELD_TEXT, .offset = offsetof(PtcAgentDef, signature)},
    OTHER("json_signature", read_json_signature),
    OTHER("response_template", read_response_template),
    OTHER("llm", read_model),
    {.name = "retry_turns",
     .kind = PTC_FIELD_INT,
     .offset = offsetof(PtcAgentDef, retry_turns),
     .max = PTC_AGENT_TURNS_MAX},
    {.name = NULL},
};

static const PtcSig *parse(PtcFieldReader *r, const char *field, PtcText text)
{
    PtcSigError e;
    const PtcSig *sig;
    if (ptc_sig_parse(&r->def->arena, text.bytes, text.len, &sig, &e))
        return sig;
    if (e.stopped)
        ptc_fault_memory(r->fault);
    else
        ptc_fault_set(r->fault, field, "line %u, column %u: %s", (unsigned)e.line,
                      (unsigned)e.column, e.message);
    return NULL;
}

/* The question is an agent in text mode with one turn: its parameters are the tool's, its answer is what the model is
 * asked for. */
static bool set_signature(PtcFieldReader *r, PtcText json_signature)
{
    PtcAgentDef *child = r->def;
    const PtcSig *sig = parse(r, "signature", child->signature);
    const PtcSig *json =
        sig && json_signature.bytes ? parse(r, "json_signature", json_signature) : sig;
    PtcSig *both = sig && json ? ptc_arena_alloc(&child->arena, sizeof *both) : NULL;
    if (!sig || !json)
        return false;
    if (!both)
        return ptc_fault_memory(r->fault);
    *both = *sig;
    both->result = json->result;
    child->sig = both;
    return true;
}

static bool set_response(PtcFieldReader *r, PtcText text, PtcAgentTool *note)
{
    char why[300];
    PtcResponseTemplate *t = ptc_arena_zalloc(&r->def->arena, sizeof *t);
    if (!t)
        return ptc_fault_memory(r->fault);
    if (!ptc_response_template_read(&r->def->arena, text, r->def->sig->result, t, why, sizeof why))
        return ptc_fault_set(r->fault, "response_template", "%s", why);
    note->response = t;
    return true;
}

static bool make_question(PtcFieldReader *r, PtcValue v, PtcAgentTool *note)
{
    PtcAgentDef *child = r->def;
    Question q = {.json_signature = {NULL, 0}};
    r->user = &q;
    if (!ptc_fields_read(r, v, question_rows, NULL))
        return false;
    if (!child->prompt.bytes || !child->signature.bytes)
        return ptc_fault_set(r->fault, child->prompt.bytes ? "signature" : "prompt",
                             "an llm tool needs a prompt and a signature");
    if (q.json_signature.bytes && !q.response_template.bytes)
        return ptc_fault_set(r->fault, "json_signature",
                             "it has no effect without response_template; leave it out");
    child->output = PTC_OUTPUT_TEXT;
    child->max_turns = 1;
    return set_signature(r, q.json_signature) && ptc_definition_finish(child, r->fault) &&
           (!q.response_template.bytes || set_response(r, q.response_template, note));
}

bool ptc_definition_read_llm(PtcFieldReader *r, PtcValue v, PtcTool *tool)
{
    PtcFieldReader inner = *r;
    PtcAgentTool *note = ptc_definition_note(r->def, PTC_AGENT_TOOL_LLM);
    if (note)
        note->child = inner.def = ptc_definition_new(r->def->functions);
    if (!note || !note->child)
        return ptc_fault_memory(r->fault);
    if (!make_question(&inner, v, note))
        return false;
    tool->info.type = PTC_TOOL_LLM;
    tool->user = note;
    if (!tool->info.signature) {
        tool->info.signature = inner.def->signature.bytes;
        tool->info.signature_len = inner.def->signature.len;
    }
    return true;
}

/* --------------------------------------------------------------------------------- http */

static const char *const methods[] = {"GET", "POST", "PUT", "PATCH", "DELETE"};

static bool starts_any_case(PtcText t, const char *word)
{
    size_t n = strlen(word);
    if (t.len < n)
        return false;
    for (size_t i = 0; i < n; i++)
        if ((t.bytes[i] | 0x20) != (word[i] | 0x20))
            return false;
    return true;
}

/* What is between the scheme and the path: a host, perhaps with a port, perhaps with parts that do not belong there. */
static PtcText authority_of(PtcText url, size_t scheme)
{
    size_t n = scheme;
    while (n < url.len && !strchr("/?#", url.bytes[n]))
        n++;
    return (PtcText){url.bytes + scheme, n - scheme};
}

static bool is_loopback(PtcText authority)
{
    const char *colon = memchr(authority.bytes, ':', authority.len);
    size_t n = colon ? (size_t)(colon - authority.bytes) : authority.len;
    PtcText host = {authority.bytes, n};
    return ptc_text_is(host, "localhost") || ptc_text_starts(host, "127.") ||
           ptc_text_starts(authority, "[::1]");
}

static bool read_url(PtcFieldReader *r, PtcValue v, PtcText *out)
{
    if (!ptc_fields_text(r, v, out))
        return false;
    bool https = starts_any_case(*out, "https://"), http = starts_any_case(*out, "http://");
    PtcText authority = authority_of(*out, https ? 8 : http ? 7 : out->len);
    for (size_t i = 0; i < out->len; i++)
        if ((unsigned char)out->bytes[i] <= ' ' || out->bytes[i] == 0x7f)
            return ptc_fields_refuse(r, v, "a URL without blanks");
    if (authority.len == 0)
        return ptc_fields_refuse(r, v, "a URL such as https://example.org/path");
    if (memchr(authority.bytes, '@', authority.len))
        return ptc_fault_set(r->fault, r->path, "a URL must not contain a user name or password");
    if (http && !is_loopback(authority))
        return ptc_fields_refuse(r, v, "https; http only to this machine");
    return true;
}

static bool read_method(PtcFieldReader *r, PtcValue v, PtcHttpMethod *out)
{
    for (int i = PTC_HTTP_GET; i <= PTC_HTTP_DELETE; i++)
        if (ptc_text_is(ptc_str_text(v), methods[i])) {
            *out = (PtcHttpMethod)i;
            return true;
        }
    return ptc_fields_refuse(r, v, "\"GET\", \"POST\", \"PUT\", \"PATCH\" or \"DELETE\"");
}

/* ------------------------------------------------------------------------------- headers */

static bool is_token(PtcText t)
{
    for (size_t i = 0; i < t.len; i++) {
        char c = t.bytes[i], lower = (char)(c | 0x20);
        if (!(lower >= 'a' && lower <= 'z') && !(c >= '0' && c <= '9') &&
            !(c && strchr("!#$%&'*+-.^_`|~", c)))
            return false;
    }
    return t.len > 0;
}

static bool same_any_case(PtcText t, const char *word)
{
    return t.len == strlen(word) && starts_any_case(t, word);
}

static bool is_one_of(PtcText name, const char *const *names)
{
    for (; *names; names++)
        if (same_any_case(name, *names))
            return true;
    return false;
}

/* Does it contain a ${NAME}?  False with *bad set for one that is malformed. */
static bool has_variable(PtcText t, bool *bad)
{
    bool found = false;
    for (size_t i = 0; i + 1 < t.len; i++) {
        if (t.bytes[i] != '$' || t.bytes[i + 1] != '{')
            continue;
        size_t n = i + 2;
        while (n < t.len && ((t.bytes[n] >= 'A' && t.bytes[n] <= 'Z') || t.bytes[n] == '_' ||
                             (t.bytes[n] >= 'a' && t.bytes[n] <= 'z') ||
                             (n > i + 2 && t.bytes[n] >= '0' && t.bytes[n] <= '9')))
            n++;
        if (n == i + 2 || n == t.len || t.bytes[n] != '}')
            *bad = true;
        found = true;
    }
    return found;
}

/* Keys must not be written in a file: it would be copied, shown and kept. */
static bool check_header(PtcFieldReader *r, PtcText name, PtcText value)
{
    static const char *const secret[] = {
        "authorization",  "proxy-authorization", "x-api-key", "api-key",
        "x-goog-api-key", "x-auth-token",        "cookie",    NULL};
    static const char *const ours[] = {"host",       "content-length", "transfer-encoding",
                                       "connection", "expect",         NULL};
    bool bad = false;
    if (!is_token(name) || is_one_of(name, ours))
        return ptc_fault_set(r->fault, r->path, "a header of this name cannot be set");
    for (size_t i = 0; i < value.len; i++)
        if ((unsigned char)value.bytes[i] < ' ' && value.bytes[i] != '\t')
            return ptc_fault_set(r->fault, r->path, "a header must not contain control characters");
    bool variable = has_variable(value, &bad);
    if (bad)
        return ptc_fault_set(r->fault, r->path, "a variable is written ${NAME}");
    if (!variable && is_one_of(name, secret))
        return ptc_fault_set(r->fault, r->path,
                             "keys come from the environment: write ${NAME} and set that variable");
    return true;
}

static bool read_headers(PtcFieldReader *r, PtcValue v, PtcHttpTool *out)
{
    PtcValue key, value;
    char outer[sizeof r->path];
    if (!ptc_is_map(v) || ptc_map_count(v) > 100)
        return ptc_fields_refuse(r, v, "an object from names to texts");
    PtcHttpHeader *headers =
        ptc_arena_zalloc(&r->def->arena, (ptc_map_count(v) + 1) * sizeof *headers);
    if (!headers)
        return ptc_fault_memory(r->fault);
    memcpy(outer, r->path, sizeof outer);
    for (size_t pos = 0; ptc_map_next(v, &pos, &key, &value);) {
        PtcText name = ptc_str_text(key), text = ptc_str_text(value);
        snprintf(r->path, sizeof r->path, "%.60s.%.*s", outer,
                 name.bytes ? ptc_utf8_shown(name.bytes, name.len, 50) : 1,
                 name.bytes ? name.bytes : "?");
        if (!name.bytes || !text.bytes)
            return ptc_fields_refuse(r, value, "a text");
        PtcHttpHeader *h = &headers[out->header_count++];
        if (!check_header(r, name, text) || !ptc_fields_copy(r, name, &h->name) ||
            !ptc_fields_copy(r, text, &h->value))
            return false;
    }
    out->headers = headers;
    return true;
}

static bool read_http_field(PtcFieldReader *r, PtcText name, PtcValue v, PtcHttpTool *out)
{
    if (ptc_text_is(name, "url"))
        return read_url(r, v, &out->url);
    if (ptc_text_is(name, "method"))
        return read_method(r, v, &out->method);
    if (ptc_text_is(name, "headers"))
        return read_headers(r, v, out);
    return ptc_fault_set(r->fault, r->path,
                         "there is no such field; allowed are url, method, headers");
}

bool ptc_definition_read_http(PtcFieldReader *r, PtcValue v, PtcTool *tool)
{
    PtcValue key, value;
    PtcAgentTool *note = ptc_definition_note(r->def, PTC_AGENT_TOOL_HTTP);
    PtcHttpTool *http = ptc_arena_zalloc(&r->def->arena, sizeof *http);
    if (!note || !http)
        return ptc_fault_memory(r->fault);
    if (!ptc_is_map(v))
        return ptc_fields_refuse(r, v, "an object with url");
    http->method = PTC_HTTP_POST;
    for (size_t pos = 0; ptc_map_next(v, &pos, &key, &value);) {
        PtcText name = ptc_str_text(key);
        snprintf(r->path, sizeof r->path, "%.*s",
                 name.bytes ? ptc_utf8_shown(name.bytes, name.len, 60) : 1,
                 name.bytes ? name.bytes : "?");
        if (!read_http_field(r, name, value, http))
            return false;
    }
    if (!http->url.bytes)
        return ptc_fault_set(r->fault, "url", "an http tool needs a url");
    note->http = http;
    tool->user = note;
    return true;
}
