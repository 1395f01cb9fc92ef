/* SPDX-License-Identifier: MIT
 * What the dialects share when they write a request.  Nothing here fails by itself: failure is sticky in the buffer. */
#include <limits.h>

#include "base/ascii.h"
#include "llm/provider/wire.h"
#include "value/str.h"

/* Reads a text in place of the one before it; PTC_NONE: it is not JSON, or there is no memory, and the body fails. */
static PtcValue read_written_json(const PtcWireOut *w, PtcText text)
{
    PtcWhy why;
    ptc_json_box_clear(w->box);
    PtcValue v = ptc_json_box_read(w->box, text, &why);
    if (v == PTC_NONE && why.class != PTC_WHY_INVALID)
        w->out->failed = true;
    return v;
}

PtcValue ptc_wire_opaque(const PtcWireOut *w, const PtcMessage *m)
{
    const PtcDialect *dialect = w->dialect;
    if (!m->opaque.bytes)
        return PTC_NONE;
    PtcValue v = read_written_json(w, m->opaque);
    PtcValue parts = ptc_json_box_get(w->box, v, dialect->name);
    return ptc_json_box_length(parts) ? parts : PTC_NONE;
}

void ptc_wire_write_turns(const PtcWireOut *w, const char *model_role, const char *key,
                          void (*blocks)(const PtcWireOut *w, const PtcMessage *message, size_t i))
{
    size_t count = ptc_llm_message_count(w->request);
    bool by_model = false;
    ptc_emit_array(w->out);
    for (size_t i = 0; i < count; i++) {
        const PtcMessage *m = ptc_llm_message(w->request, i);
        bool turn = i == 0 || by_model != (m->role == PTC_ROLE_ASSISTANT);
        if (turn && i > 0)
            ptc_buf_add_cstr(w->out, "]}");
        by_model = m->role == PTC_ROLE_ASSISTANT;
        if (turn) {
            ptc_emit_object(w->out);
            ptc_emit_field_cstr(w->out, "role", by_model ? model_role : "user");
            ptc_emit_key(w->out, key);
            ptc_emit_array(w->out);
        }
        blocks(w, m, i);
    }
    if (count)
        ptc_buf_add_cstr(w->out, "]}");
    ptc_emit_array_end(w->out);
}

/* Is a text a JSON object? */
static bool is_object_text(const PtcWireOut *w, PtcText text)
{
    PtcValue v = text.bytes ? read_written_json(w, text) : PTC_NONE;
    return v != PTC_NONE && ptc_is_map(v);
}

void ptc_wire_write_system(const PtcWireOut *w, const char *key,
                           void (*part)(const PtcWireOut *w, PtcText text, bool fixed))
{
    const PtcLlmRequest *r = w->request;
    if (!r->system.len && !r->system_more.len)
        return;
    ptc_emit_key(w->out, key);
    ptc_emit_array(w->out);
    if (r->system.len)
        part(w, r->system, true);
    if (r->system_more.len)
        part(w, r->system_more, false);
    ptc_emit_array_end(w->out);
}

void ptc_wire_write_tool(const PtcWireOut *w, const PtcLlmTool *tool, const char *key)
{
    ptc_emit_field_text(w->out, "name", tool->name);
    if (tool->description.len) /* not every provider takes an empty one */
        ptc_emit_field_text(w->out, "description", tool->description);
    ptc_emit_field_raw(w->out, key, tool->parameters);
}

void ptc_wire_args_object(const PtcWireOut *w, const PtcMessageCall *call)
{
    ptc_emit_raw(w->out, is_object_text(w, call->args) ? call->args : PTC_TEXT("{}"));
}

void ptc_wire_args_text(const PtcWireOut *w, const PtcMessageCall *call)
{
    ptc_emit_text(w->out, is_object_text(w, call->args) ? call->args : PTC_TEXT("{}"));
}

PtcClosedSchema ptc_wire_closed_schema(const PtcWireOut *w, PtcBuf *closed)
{
    ptc_json_box_clear(w->box);
    PtcClosedSchema form = ptc_closed_schema_write(w->box, w->request->schema, closed);
    w->out->failed = w->out->failed || closed->failed;
    w->out->full = w->out->full || closed->full;
    return form;
}

void ptc_wire_result_object(const PtcWireOut *w, const PtcMessage *m)
{
    PtcText text = m->content.bytes ? ptc_llm_data_of(m) : PTC_TEXT("");
    PtcValue v = read_written_json(w, text);
    if (v != PTC_NONE && ptc_is_map(v)) {
        ptc_emit_raw(w->out, text);
        return;
    }
    ptc_emit_object(w->out);
    ptc_emit_key(w->out, m->is_error ? "error" : "result");
    if (v != PTC_NONE)
        ptc_emit_raw(w->out, text);
    else
        ptc_emit_text(w->out, text);
    ptc_emit_object_end(w->out);
}

PtcText ptc_wire_content(const PtcMessage *m)
{
    return ptc_text_is_blank(m->content) ? PTC_TEXT("(empty)") : m->content;
}

/* The number of tokens that each effort corresponds to, and the reverse. */
enum { LOW_TOKENS = 2048, MEDIUM_TOKENS = 8192, HIGH_TOKENS = 16384 };

const char *ptc_wire_effort(const PtcLlmRequest *r)
{
    if (r->thinking_tokens > 0)
        return r->thinking_tokens <= LOW_TOKENS      ? "low"
               : r->thinking_tokens <= MEDIUM_TOKENS ? "medium"
                                                     : "high";
    return r->effort == PTC_EFFORT_LOW ? "low" : r->effort == PTC_EFFORT_MEDIUM ? "medium" : "high";
}

int64_t ptc_wire_thinking_tokens(const PtcLlmRequest *r, int64_t least, int64_t most)
{
    int64_t n = r->thinking_tokens > 0           ? r->thinking_tokens
                : r->effort == PTC_EFFORT_LOW    ? LOW_TOKENS
                : r->effort == PTC_EFFORT_MEDIUM ? MEDIUM_TOKENS
                                                 : HIGH_TOKENS;
    return n < least ? least : n > most ? most : n;
}

static const char *find_text_part(PtcText text, const char *part)
{
    size_t n = strlen(part);
    for (size_t at = 0; at + n <= text.len; at++)
        if (memcmp(text.bytes + at, part, n) == 0)
            return text.bytes + at;
    return NULL;
}

/* A number of one or two digits that is not part of a longer one; -1: there is none. */
static int small_number(const char *at, const char *end)
{
    int n = 0, digits = 0;
    for (; at < end && ptc_ascii_is_digit(*at); at++, digits++)
        n = digits < 2 ? n * 10 + (*at - '0') : n;
    return digits >= 1 && digits <= 2 ? n : -1;
}

/* The first number after a hyphen is the major version; one after a hyphen or point following it is the minor one. */
int ptc_wire_claude(PtcText model)
{
    const char *end = model.bytes + model.len, *at = find_text_part(model, "claude");
    if (!at)
        return 0;
    for (at += strlen("claude"); at < end; at++) {
        int major = at[-1] == '-' ? small_number(at, end) : -1;
        if (major < 0)
            continue;
        while (at < end && ptc_ascii_is_digit(*at))
            at++;
        int minor = at < end && (*at == '-' || *at == '.') ? small_number(at + 1, end) : -1;
        return major * 100 + (minor > 0 ? minor : 0);
    }
    return INT_MAX;
}
