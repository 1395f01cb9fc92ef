/* SPDX-License-Identifier: MIT
 * http_head.c - finding and reading header fields.  What always holds: whatever two readers of a head could
 * understand in two ways is noted (`odd`, `twice`), never resolved by guessing. */
#include "mcp/http/http_head.h"

#include <string.h>

#include "base/ascii.h"

#define PARAM_PREFIX "mcp-param-"

/* In the order of PtcHttpField. */
static const char *const FIELDS[PTC_HTTP_FIELD_COUNT] = {
    "host",
    "origin",
    "authorization",
    "accept",
    "content-type",
    "content-length",
    "transfer-encoding",
    "expect",
    "mcp-protocol-version",
    "mcp-method",
    "mcp-name",
    "mcp-session-id",
    "last-event-id",
    "access-control-request-method",
    "traceparent",
    "tracestate",
    "baggage",
};

/* `want` is in lower case. */
static bool same_nocase(const char *text, const char *want, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (ptc_ascii_lower(text[i]) != want[i])
            return false;
    return true;
}

static bool same_either(const char *a, const char *b, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (ptc_ascii_lower(a[i]) != ptc_ascii_lower(b[i]))
            return false;
    return true;
}

bool ptc_http_text_is(PtcText text, const char *want)
{
    return text.bytes && strlen(want) == text.len && memcmp(text.bytes, want, text.len) == 0;
}

bool ptc_http_text_is_nocase(PtcText text, const char *want)
{
    return text.bytes && strlen(want) == text.len && same_nocase(text.bytes, want, text.len);
}

static bool is_visible_value(PtcText text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.bytes[i] != '\t' && (text.bytes[i] < ' ' || text.bytes[i] > '~'))
            return false;
    return true;
}

/* A name is a token of RFC 9110: no blanks, not even before the colon. */
static bool is_field_name(const char *name, size_t len)
{
    static const char signs[] = "!#$%&'*+-.^_`|~";
    for (size_t i = 0; i < len; i++) {
        char c = name[i];
        if (!ptc_ascii_is_alnum(c) && !(c && strchr(signs, c)))
            return false;
    }
    return len > 0;
}

/* Control characters in a value, including a carriage return, end a line for some readers and not for others. */
static bool has_control_chars(PtcText text)
{
    for (size_t i = 0; i < text.len; i++)
        if (((unsigned char)text.bytes[i] < ' ' && text.bytes[i] != '\t') || text.bytes[i] == 0x7f)
            return true;
    return false;
}

static int find_http_field(const char *name, size_t len)
{
    for (int i = 0; i < PTC_HTTP_FIELD_COUNT; i++)
        if (strlen(FIELDS[i]) == len && same_nocase(name, FIELDS[i], len))
            return i;
    return -1;
}

static void add_header_param(PtcHttpHead *head, PtcText name, PtcText value)
{
    if (head->param_count == PTC_HTTP_PARAMS_MAX)
        head->crowded = true;
    else
        head->param[head->param_count++] = (PtcHttpParam){name, value};
}

/* A list field may come in pieces; for all others a second one could show two readers two values. */
static bool may_repeat(int field)
{
    return field == PTC_HTTP_ACCEPT || field == PTC_HTTP_EXPECT;
}

static bool is_of_trace(int field)
{
    return field >= PTC_HTTP_TRACE_PARENT && field <= PTC_HTTP_BAGGAGE;
}

void ptc_http_head_add(PtcHttpHead *head, const char *name, size_t name_len, const char *value,
                       size_t value_len)
{
    size_t prefix = sizeof PARAM_PREFIX - 1;
    PtcText text = ptc_text_trim((PtcText){value ? value : "", value ? value_len : 0}, " \t");
    head->odd |= !is_field_name(name, name_len) || has_control_chars(text);
    if (name_len > prefix && same_nocase(name, PARAM_PREFIX, prefix)) {
        add_header_param(head, (PtcText){name + prefix, name_len - prefix}, text);
        head->broken |= !is_visible_value(text);
        return;
    }
    int field = find_http_field(name, name_len);
    if (field < 0)
        return;
    if (is_of_trace(field)) {
        head->field[field] = head->field[field].bytes ? PTC_TEXT("") : text;
        return;
    }
    head->broken |= !is_visible_value(text);
    if (!head->field[field].bytes)
        head->field[field] = text;
    else if (!may_repeat(field))
        head->twice = (PtcText){name, name_len};
    else if (field == PTC_HTTP_ACCEPT && head->accept_count < PTC_HTTP_ACCEPTS_MAX)
        head->accept[head->accept_count++] = text;
}

bool ptc_http_head_has_one_length(const PtcHttpHead *head)
{
    PtcText coding = head->field[PTC_HTTP_TRANSFER_ENCODING];
    if (!coding.bytes)
        return true;
    return !head->field[PTC_HTTP_CONTENT_LENGTH].bytes &&
           ptc_http_text_is_nocase(coding, "chunked");
}

const char *ptc_http_head_find(void *user, const char *name)
{
    const PtcHttpHead *head = user;
    size_t len = strlen(name), prefix = sizeof PARAM_PREFIX - 1;
    int field = find_http_field(name, len);
    if (field >= 0)
        return head->field[field].bytes;
    if (len <= prefix || !same_nocase(name, PARAM_PREFIX, prefix))
        return NULL;
    for (size_t i = 0; i < head->param_count; i++)
        if (head->param[i].name.len == len - prefix &&
            same_either(head->param[i].name.bytes, name + prefix, len - prefix))
            return head->param[i].value.bytes;
    return NULL;
}

/* ------------------------------------------------------------- media types */

/* The piece of the list before the next comma, without its parameters; *rest moves on. */
static PtcText next_accepted_type(PtcText *rest)
{
    const char *comma = memchr(rest->bytes, ',', rest->len);
    size_t len = comma ? (size_t)(comma - rest->bytes) : rest->len;
    const char *piece = rest->bytes;
    rest->bytes += comma ? len + 1 : len;
    rest->len -= comma ? len + 1 : len;
    const char *semicolon = memchr(piece, ';', len);
    return ptc_text_trim((PtcText){piece, semicolon ? (size_t)(semicolon - piece) : len}, " \t");
}

/* Is `piece` the type itself, its family with a star, or the star for everything? */
static bool type_matches(PtcText piece, const char *type)
{
    size_t family = strcspn(type, "/") + 1;
    if (ptc_http_text_is(piece, "*/*") || ptc_http_text_is_nocase(piece, type))
        return true;
    return piece.len == family + 1 && piece.bytes[family] == '*' &&
           same_nocase(piece.bytes, type, family);
}

bool ptc_http_accepts(PtcText accept, const char *type)
{
    PtcText rest = accept;
    while (rest.len)
        if (type_matches(next_accepted_type(&rest), type))
            return true;
    return false;
}

bool ptc_http_head_accepts(const PtcHttpHead *head, const char *type)
{
    bool found = ptc_http_accepts(head->field[PTC_HTTP_ACCEPT], type);
    for (size_t i = 0; i < head->accept_count && !found; i++)
        found = ptc_http_accepts(head->accept[i], type);
    return found;
}

bool ptc_http_is_json(PtcText content_type)
{
    PtcText rest = content_type;
    return rest.len && ptc_http_text_is_nocase(next_accepted_type(&rest), "application/json");
}
