/* SPDX-License-Identifier: MIT
 * Lines of traces.  What always holds: numbers are within their ranges whatever a line said, so that sums and
 * differences of them cannot overflow. */
#include "viewer/trace_event.h"

#include <stdio.h>

#include "base/ascii.h"
#include "base/utf8.h"
#include "json/members.h"
#include "value/calendar.h"

static const char *const field_names[PTC_FIELD_COUNT] = {
#define EVENT_NAME(name) #name,
    PTC_TRACE_FIELDS(EVENT_NAME)
#undef EVENT_NAME
};

const char *ptc_part_kind_name(PtcTracePartKind kind)
{
    static const char *const names[PTC_TRACE_PART_COUNT] = {"run",     "turn", "model",
                                                            "program", "tool", "call"};
    return names[kind];
}

/* --------------------------------------------------------------------------------- events */

typedef struct {
    const char *name;
    PtcEventStep step;
    PtcTracePartKind kind;
} Known;

static const Known known[] = {
    {"trace.start", PTC_EVENT_FIRST, 0},
    {"trace.stop", PTC_EVENT_CUT, 0},
    {"run.start", PTC_EVENT_BEGIN, PTC_TRACE_PART_RUN},
    {"run.stop", PTC_EVENT_END, PTC_TRACE_PART_RUN},
    {"turn.start", PTC_EVENT_BEGIN, PTC_TRACE_PART_TURN},
    {"turn.stop", PTC_EVENT_END, PTC_TRACE_PART_TURN},
    {"llm.start", PTC_EVENT_BEGIN, PTC_TRACE_PART_MODEL},
    {"llm.stop", PTC_EVENT_END, PTC_TRACE_PART_MODEL},
    {"program.start", PTC_EVENT_BEGIN, PTC_TRACE_PART_PROGRAM},
    {"program.stop", PTC_EVENT_END, PTC_TRACE_PART_PROGRAM},
    {"tool", PTC_EVENT_WHOLE, PTC_TRACE_PART_TOOL},
    {"upstream.start", PTC_EVENT_BEGIN, PTC_TRACE_PART_TOOL},
    {"upstream.stop", PTC_EVENT_END, PTC_TRACE_PART_TOOL},
    {"call.start", PTC_EVENT_BEGIN, PTC_TRACE_PART_CALL},
    {"call.stop", PTC_EVENT_END, PTC_TRACE_PART_CALL},
};

static void take_event_field(PtcTraceEvent *e, PtcText key, PtcText value)
{
    for (int i = 0; i < PTC_FIELD_COUNT; i++)
        if (ptc_text_is(key, field_names[i])) {
            e->field[i] = value;
            return;
        }
}

/* An integer from 0 on; others are brought into the range, fractions and what is no number are absent. */
static int64_t event_number_of(PtcText json, int64_t most, int64_t absent)
{
    int64_t n;
    if (!json.bytes || !ptc_members_int(json, &n))
        return absent;
    return n < 0 ? 0 : n > most ? most : n;
}

/* An id goes into tables and other formats as it is, so it must be short and plain. */
static bool take_event_id(PtcText json, PtcText *id)
{
    PtcText plain = ptc_members_plain(json);
    *id = (PtcText){NULL, 0};
    if (!json.bytes || ptc_text_is(json, "null"))
        return true;
    for (size_t i = 0; i < plain.len; i++)
        if (plain.bytes[i] <= ' ' || plain.bytes[i] > '~')
            return false;
    *id = plain;
    return plain.bytes && plain.len > 0 && plain.len < PTC_TRACE_ID_BYTES;
}

static bool trace_event_is(const PtcTraceEvent *e, int field, const char *text)
{
    PtcText plain = ptc_members_plain(e->field[field]);
    return plain.bytes && ptc_text_is(plain, text);
}

static bool went_well(const PtcTraceEvent *e)
{
    switch (e->kind) {
    case PTC_TRACE_PART_RUN: return trace_event_is(e, PTC_FIELD_outcome, "ok");
    case PTC_TRACE_PART_MODEL: return trace_event_is(e, PTC_FIELD_status, "ok");
    case PTC_TRACE_PART_PROGRAM:
        return trace_event_is(e, PTC_FIELD_end, "value") ||
               trace_event_is(e, PTC_FIELD_end, "return");
    default:
        return ptc_text_is(e->field[PTC_FIELD_ok], "true") ||
               (e->kind == PTC_TRACE_PART_TOOL && trace_event_is(e, PTC_FIELD_status, "ok"));
    }
}

/* The names of events have no escapes, so others are unknown to us. */
static void find_event_kind(PtcTraceEvent *e)
{
    PtcText name = ptc_members_plain(e->field[PTC_FIELD_event]);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (name.bytes && ptc_text_is(name, known[i].name)) {
            e->step = known[i].step;
            e->kind = known[i].kind;
        }
    if (e->field[PTC_FIELD_left_out].bytes)
        e->step = PTC_EVENT_OTHER;
}

static bool take_fields(PtcTraceEvent *e, PtcText object)
{
    PtcText key, value;
    PtcMembers m = ptc_members_of(object);
    while (!m.array && ptc_members_next(&m, &key, &value))
        take_event_field(e, key, value);
    return !m.broken && !m.array;
}

/* Calls of other servers are told in milliseconds with a fraction: 4.392 are 4392 microseconds. */
static int64_t milliseconds(PtcText json)
{
    const char *point = json.bytes ? memchr(json.bytes, '.', json.len) : NULL;
    size_t whole = point ? (size_t)(point - json.bytes) : json.len, at = whole + 1;
    int64_t ms = event_number_of((PtcText){json.bytes, whole}, PTC_TRACE_TIME / 1000 - 1, -1),
            us = 0;
    for (int unit = 100; point && unit > 0 && at < json.len; unit /= 10, at++) {
        if (!ptc_ascii_is_digit(json.bytes[at]))
            return -1; /* an exponent, which nobody writes */
        us += (json.bytes[at] - '0') * unit;
    }
    return ms < 0 ? -1 : ms * 1000 + us;
}

static void take_numbers(PtcTraceEvent *e)
{
    e->at_us = event_number_of(e->field[PTC_FIELD_at_us], PTC_TRACE_TIME, 0);
    e->start_us = event_number_of(e->field[PTC_FIELD_start_us], PTC_TRACE_TIME, -1);
    e->duration_us = event_number_of(e->field[PTC_FIELD_duration_us], PTC_TRACE_TIME, -1);
    if (e->duration_us < 0)
        e->duration_us = milliseconds(e->field[PTC_FIELD_duration_ms]);
    e->ok = went_well(e);
}

bool ptc_trace_event_item(PtcTraceEvent *e, PtcText item)
{
    *e = (PtcTraceEvent){.step = PTC_EVENT_WHOLE, .kind = PTC_TRACE_PART_TOOL};
    if (!take_fields(e, item))
        return false;
    take_numbers(e);
    return true;
}

bool ptc_trace_event_read(PtcTraceEvent *e, PtcText line, PtcWhy *why)
{
    *e = (PtcTraceEvent){.step = PTC_EVENT_OTHER};
    if (!take_fields(e, line))
        return ptc_why_say(why, PTC_WHY_INVALID, "it is not a JSON object");
    if (!e->field[PTC_FIELD_event].bytes || e->field[PTC_FIELD_event].bytes[0] != '"')
        return ptc_why_say(why, PTC_WHY_INVALID,
                           "it is not an event: there is no \"event\" with a name");
    find_event_kind(e);
    if (!take_event_id(e->field[PTC_FIELD_id], &e->id) ||
        !take_event_id(e->field[PTC_FIELD_parent], &e->parent))
        return ptc_why_say(why, PTC_WHY_INVALID,
                           "\"id\" and \"parent\" must be 1 to 63 visible ASCII characters");
    bool part =
        e->step == PTC_EVENT_BEGIN || e->step == PTC_EVENT_END || e->step == PTC_EVENT_WHOLE;
    if (part && !e->id.bytes && e->kind != PTC_TRACE_PART_CALL)
        return ptc_why_say(why, PTC_WHY_INVALID, "the event has no \"id\"");
    take_numbers(e);
    return true;
}

PtcTraceTokens ptc_trace_event_tokens(const PtcTraceEvent *e)
{
    PtcText t = e->field[PTC_FIELD_tokens];
    PtcTraceTokens tokens = {.reported = ptc_members_is_object(t)};
    if (!tokens.reported)
        return tokens;
    tokens.input = event_number_of(ptc_members_get(t, "input"), PTC_TRACE_TOKENS, 0);
    tokens.output = event_number_of(ptc_members_get(t, "output"), PTC_TRACE_TOKENS, 0);
    tokens.cache_read = event_number_of(ptc_members_get(t, "cache_read"), PTC_TRACE_TOKENS, 0);
    return tokens;
}

/* ---------------------------------------------------------------------------------- texts */

/* Four hexadecimal digits, which json/check.h has found there. */
static uint32_t read_hex4_code(const char *s)
{
    uint32_t n = 0;
    for (int i = 0; i < 4; i++)
        n = n * 16 + (uint32_t)ptc_ascii_hex_value(s[i]);
    return n;
}

/* The character behind a backslash at *at, which moves behind it.  Halves of pairs come in pairs: json/check.h allows
 * no others. */
static uint32_t read_escaped_char(PtcText s, size_t *at)
{
    char c = s.bytes[*at + 1];
    *at += 2;
    if (c != 'u')
        return c == '"' || c == '\\' || c == '/' ? (uint32_t)c : ' ';
    uint32_t code = read_hex4_code(s.bytes + *at);
    *at += 4;
    if (code < 0xD800 || code > 0xDFFF || s.len - *at < 6)
        return code;
    uint32_t low = read_hex4_code(s.bytes + *at + 2);
    *at += 6;
    return 0x10000 + ((code & 0x3FF) << 10) + (low & 0x3FF);
}

/* Control characters, and those that turn the direction of text, would do something to a terminal. */
static bool acts_on_terminal(uint32_t c)
{
    return c < ' ' || (c >= 0x7F && c < 0xA0) || (c >= 0x200B && c <= 0x200F) ||
           (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) || c == 0xFEFF;
}

static uint32_t next_character(PtcText s, size_t *at)
{
    uint32_t c;
    if (s.bytes[*at] == '\\')
        return read_escaped_char(s, at);
    *at += ptc_utf8_decode(s.bytes + *at, s.len - *at, &c);
    return c;
}

void ptc_trace_event_show(const PtcTraceEvent *e, int field, char *out, size_t size)
{
    PtcText s = e->field[field];
    size_t n = 0, at = 0;
    char bytes[4];
    if (s.len >= 2 && s.bytes[0] == '"')
        s = (PtcText){s.bytes + 1, s.len - 2};
    else
        s.len = 0;
    while (at < s.len) {
        uint32_t c = next_character(s, &at);
        size_t len = ptc_utf8_encode(acts_on_terminal(c) ? ' ' : c, bytes);
        if (n + len + 4 > size) { /* room for this one, dots or the end */
            memcpy(out + n, "...", 3);
            n += 3;
            break;
        }
        memcpy(out + n, bytes, len);
        n += len;
    }
    out[n] = '\0';
}

bool ptc_trace_event_time(const PtcTraceEvent *e, int64_t *ms)
{
    char ts[64];
    ptc_trace_event_show(e, PTC_FIELD_ts, ts, sizeof ts);
    return ts[0] && ptc_iso_millis(ts, strlen(ts), ms) && *ms > 0;
}
