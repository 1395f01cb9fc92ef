/* SPDX-License-Identifier: MIT
 * What is wrong with a value, in words.  What always holds: messages and paths fit their fields, cut at whole
 * characters and whole steps. */
#include "tool/schema/schema_run.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "base/utf8.h"
#include "json/emit.h"
#include "json/time_json.h"
#include "json/write.h"
#include "lisp/vm/builtin.h"
#include "value/str.h"
#include "value/time/time.h"

enum { ISSUE_TICKS = 16 }; /* composing words costs more than most steps */

/* A buffer on top of the caller's memory. */
static PtcBuf over(PtcSchemaRun *run, char *text, size_t size)
{
    return (PtcBuf){.mem = run->work.mem, .data = text, .cap = size, .max = size};
}

const char *ptc_schema_line(char out[PTC_SCHEMA_LINE], PtcText text, size_t most)
{
    enum { ESCAPE = 6 };
    size_t n = ptc_text_cut(text, most).len, len = 0;
    for (size_t i = 0; i < n && len + ESCAPE < PTC_SCHEMA_LINE; i++) {
        unsigned char c = (unsigned char)text.bytes[i];
        if (c < ' ' || c == 0x7f)
            len += (size_t)snprintf(out + len, ESCAPE + 1, "\\u%04x", c);
        else
            out[len++] = (char)c;
    }
    out[ptc_utf8_valid_prefix(out, len)] = 0;
    return out;
}

/* ---------------------------------------------------------------------- paths */

static bool is_plain_member_name(PtcText name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.bytes[i];
        if (!ptc_ascii_is_name(c) && c != '-')
            return false;
    }
    return name.len > 0;
}

/* .name, or ["odd name"] */
static bool add_issue_key(PtcSchemaRun *run, PtcBuf *buf, PtcValue key)
{
    enum { ISSUE_KEY_BYTES = 60 };
    PtcSchemaKey text;
    bool json;
    if (!ptc_schema_key(&run->work, key, &text, &json))
        return false;
    PtcText name = {text.bytes, text.len};
    size_t n = ptc_text_cut(name, ISSUE_KEY_BYTES).len;
    if (n == name.len && is_plain_member_name(name))
        return ptc_buf_add(buf, ".", buf->len > 0) && ptc_buf_add(buf, name.bytes, n);
    return ptc_buf_add(buf, "[", 1) && ptc_json_write_string(buf, name.bytes, n) &&
           ptc_buf_add_cstr(buf, n < name.len ? "...]" : "]");
}

static bool add_issue_step(PtcSchemaRun *run, PtcBuf *buf, const PtcSchemaPlace *place)
{
    size_t before = buf->len;
    bool ok = place->key != PTC_NONE ? add_issue_key(run, buf, place->key)
                                     : ptc_buf_addf(buf, "[%zu]", place->index);
    ok = ok && (!place->name || ptc_buf_add_cstr(buf, " (the key)"));
    if (!ok)
        buf->len = before; /* whole steps only */
    return ok;
}

/* results[0].customer.id, of n places from the innermost up. */
static void write_issue_path(PtcSchemaRun *run, const PtcSchemaPlace *const *chain, size_t n,
                             char *out, size_t size)
{
    PtcBuf buf = over(run, out, size - 4);
    for (size_t i = n; i > 0; i--)
        if (!add_issue_step(run, &buf, chain[i - 1])) {
            memcpy(out + buf.len, "...", 3);
            buf.len += 3;
            break;
        }
    out[buf.len] = 0;
}

static bool emit_step(PtcSchemaRun *run, PtcBuf *buf, const PtcSchemaPlace *place)
{
    PtcSchemaKey text;
    bool json;
    if (place->key == PTC_NONE)
        return ptc_emit_uint(buf, place->index);
    return ptc_schema_key(&run->work, place->key, &text, &json) &&
           ptc_emit_text(buf, (PtcText){text.bytes, text.len});
}

/* ["results",0,"customer","id"] */
static void write_steps(PtcSchemaRun *run, const PtcSchemaPlace *const *chain, size_t n, char *out,
                        size_t size)
{
    PtcBuf buf = over(run, out, size - 2);
    ptc_emit_array(&buf);
    for (size_t i = n, before = buf.len; i > 0; i--, before = buf.len)
        if (!emit_step(run, &buf, chain[i - 1])) {
            buf.len = before;
            break;
        }
    out[buf.len] = ']';
    out[buf.len + 1] = 0;
}

static void write_issue_place(PtcSchemaRun *run, const PtcSchemaPlace *place, PtcSchemaIssue *issue)
{
    const PtcSchemaPlace *chain[PTC_SCHEMA_MAX_DEPTH];
    size_t n = 0;
    for (; place && place->up && n < PTC_SCHEMA_MAX_DEPTH; place = place->up)
        chain[n++] = place;
    write_issue_path(run, chain, n, issue->path, sizeof issue->path);
    write_steps(run, chain, n, issue->steps, sizeof issue->steps);
    issue->depth = (uint16_t)n;
}

/* --------------------------------------------------------------------- values */

static const char *const kind_names[PTC_SCHEMA_KINDS] = {
    [PTC_SCHEMA_NOT_JSON] = "",        [PTC_SCHEMA_NULL] = "",
    [PTC_SCHEMA_BOOLEAN] = "boolean ", [PTC_SCHEMA_INTEGER] = "integer ",
    [PTC_SCHEMA_FRACTION] = "number ", [PTC_SCHEMA_STRING] = "string ",
    [PTC_SCHEMA_ARRAY] = "array ",     [PTC_SCHEMA_OBJECT] = "object ",
};

static void show_issue_text(PtcSchemaRun *run, PtcValue v, PtcBuf *buf)
{
    enum { ISSUE_TEXT_BYTES = 24 }; /* each may take six when it is escaped */
    PtcSchemaKey text;
    if (!ptc_schema_text(&run->work, v, &text))
        return;
    PtcText all = {text.bytes, text.len};
    size_t n = ptc_text_cut(all, 2 * ISSUE_TEXT_BYTES).len;
    if (!ptc_json_write_string(buf, text.bytes, n)) {
        buf->len = 0;
        buf->full = false;
        n = ptc_text_cut(all, ISSUE_TEXT_BYTES / 3).len;
        ptc_json_write_string(buf, text.bytes, n);
    }
    if (n < text.len)
        ptc_buf_add_cstr(buf, "...");
}

const char *ptc_schema_show(PtcSchemaRun *run, PtcValue v, char out[PTC_SCHEMA_SHOWN])
{
    PtcBuf buf = over(run, out, PTC_SCHEMA_SHOWN - 4);
    PtcJsonError error;
    PtcJsonWriter writer = {&run->work.heap, -1, ptc_time_json};
    PtcSchemaKind kind = ptc_schema_kind(v);
    if (kind == PTC_SCHEMA_NOT_JSON) {
        ptc_buf_add_cstr(&buf, ptc_is_float(v) ? "a number that" : ptc_type_name(v));
        ptc_buf_add_cstr(&buf, ptc_is_float(v) ? " is not finite" : ", which cannot be JSON");
    } else if (kind == PTC_SCHEMA_STRING) {
        show_issue_text(run, v, &buf);
    } else if (!ptc_json_write(&writer, &buf, v, &error)) {
        buf.len = ptc_utf8_valid_prefix(out, buf.len);
        memcpy(out + buf.len, "...", 3);
        buf.len += 3;
    }
    out[buf.len] = 0;
    return out;
}

/* --------------------------------------------------------------------- issues */

static void add_got(PtcSchemaRun *run, PtcSchemaIssue *issue, PtcValue got)
{
    char shown[PTC_SCHEMA_SHOWN];
    size_t len = strlen(issue->message);
    const char *text = ptc_schema_show(run, got, shown);
    snprintf(issue->message + len, sizeof issue->message - len, ", got %s%s",
             kind_names[ptc_schema_kind(got)], text);
}

static void end_message(PtcSchemaIssue *issue)
{
    issue->message[ptc_utf8_valid_prefix(issue->message, strlen(issue->message))] = 0;
}

bool ptc_schema_complain(PtcSchemaRun *run, const PtcSchemaPlace *place, int rank, PtcValue got,
                         const char *format, ...)
{
    va_list args;
    if (!ptc_schema_collects(run) || !ptc_tick(run->work.budget, ISSUE_TICKS))
        return false;
    PtcSchemaIssue *issue = &run->issues->items[run->issues->count++];
    va_start(args, format);
    vsnprintf(issue->message, sizeof issue->message, format, args);
    va_end(args);
    end_message(issue);
    if (got != PTC_NONE)
        add_got(run, issue, got);
    end_message(issue);
    write_issue_place(run, place, issue);
    issue->rank = (uint8_t)rank;
    return false;
}

/* Replaces all issues: the rest was not examined, and the ones so far may belong to a mere alternative. */
bool ptc_schema_give_up(PtcSchemaRun *run, const PtcSchemaPlace *place, const char *why)
{
    if (run->broken)
        return false;
    unsigned mute = run->mute;
    run->mute = 0;
    if (run->issues)
        run->issues->count = 0;
    ptc_schema_complain(run, place, PTC_SCHEMA_ALMOST, PTC_NONE, "%s", why);
    run->mute = mute;
    run->hopeless = run->broken = true;
    return false;
}

bool ptc_schema_issue_text(PtcBuf *buf, const PtcSchemaIssue *issue)
{
    return (!issue->path[0] || (ptc_buf_add_cstr(buf, issue->path) && ptc_buf_add(buf, ": ", 2))) &&
           ptc_buf_add_cstr(buf, issue->message);
}

bool ptc_schema_issues_json(PtcBuf *buf, const PtcSchemaIssues *issues)
{
    ptc_emit_array(buf);
    for (size_t i = 0; i < issues->count; i++) {
        ptc_emit_object(buf);
        ptc_emit_field_raw(buf, "path", ptc_text_cstr(issues->items[i].steps));
        ptc_emit_field_cstr(buf, "message", issues->items[i].message);
        ptc_emit_object_end(buf);
    }
    return ptc_emit_array_end(buf);
}
