/* SPDX-License-Identifier: MIT
 * traceparent: 00-(32 digits, the trace)-(16 digits, the caller)-(2 digits, flags), hexadecimal in lower case.
 * tracestate: key=value,key=value.  baggage: key=value;property,key=value. */
#include "base/text/trace_context.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "base/text/secret.h"

enum { TRACE_AT = 3, TRACE_LEN = 32, PARENT_AT = 36, PARENT_LEN = 16, FLAGS_AT = 53 };
enum { STATE_KEY = 256, STATE_VALUE = 256 };

/* ------------------------------------------------------------------------------------ parent */

static bool is_place_of_dash(size_t i)
{
    return i == TRACE_AT - 1 || i == PARENT_AT - 1 || i == FLAGS_AT - 1;
}

static bool is_zero(const char *digits, size_t n)
{
    return strspn(digits, "0") >= n;
}

static bool is_whole_trace_parent(PtcText text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.bytes[i];
        if (is_place_of_dash(i) ? c != '-' : !ptc_ascii_is_lower_hex(c))
            return false;
    }
    return text.len == PTC_TRACE_PARENT - 1 && memcmp(text.bytes, "00", 2) == 0;
}

void ptc_trace_parent_read(PtcText text, char out[PTC_TRACE_PARENT])
{
    out[0] = '\0';
    if (!text.bytes || text.len >= PTC_TRACE_PARENT || !is_whole_trace_parent(text))
        return;
    memcpy(out, text.bytes, text.len);
    out[text.len] = '\0';
    if (is_zero(out + TRACE_AT, TRACE_LEN) || is_zero(out + PARENT_AT, PARENT_LEN))
        out[0] = '\0';
}

static bool put_random_id(char *digits)
{
    uint64_t id;
    if (!ptc_random_bytes(&id, sizeof id))
        return false;
    snprintf(digits, PARENT_LEN + 1, "%016" PRIx64, id ? id : 1);
    return true;
}

bool ptc_trace_parent_next(const char parent[PTC_TRACE_PARENT], char out[PTC_TRACE_PARENT],
                           char span[17])
{
    char id[PARENT_LEN + 1];
    if (!put_random_id(id))
        return false;
    memcpy(out, parent, PTC_TRACE_PARENT);
    memcpy(out + PARENT_AT, id, PARENT_LEN);
    if (span)
        memcpy(span, id, sizeof id);
    return true;
}

bool ptc_trace_parent_new(char out[PTC_TRACE_PARENT])
{
    char high[PARENT_LEN + 1], low[PARENT_LEN + 1], span[PARENT_LEN + 1];
    if (!put_random_id(high) || !put_random_id(low) || !put_random_id(span))
        return false;
    snprintf(out, PTC_TRACE_PARENT, "00-%s%s-%s-01", high, low, span);
    return true;
}

bool ptc_trace_parent_is_sampled(const char parent[PTC_TRACE_PARENT])
{
    return parent[0] && strchr("13579bdf", parent[FLAGS_AT + 1]) != NULL;
}

/* ------------------------------------------------------------------------------------- lists */

/* The member before the next comma, without blanks around it; *rest moves on.  False: there is none left. */
static bool next_member(PtcText *rest, PtcText *member)
{
    if (!rest->bytes)
        return false;
    const char *comma = memchr(rest->bytes, ',', rest->len);
    size_t n = comma ? (size_t)(comma - rest->bytes) : rest->len;
    *member = ptc_text_trim((PtcText){rest->bytes, n}, " \t");
    *rest = comma ? (PtcText){comma + 1, rest->len - n - 1} : (PtcText){NULL, 0};
    return true;
}

static PtcText key_of(PtcText member)
{
    const char *equals = memchr(member.bytes, '=', member.len);
    return (PtcText){member.bytes, equals ? (size_t)(equals - member.bytes) : 0};
}

static bool is_state_key(PtcText key)
{
    static const char signs[] = "_-*/@";
    for (size_t i = 0; i < key.len; i++) {
        char c = key.bytes[i];
        bool letter = ptc_ascii_is_lower(c) || ptc_ascii_is_digit(c);
        if (!letter && (i == 0 || !c || !strchr(signs, c)))
            return false;
    }
    return key.len > 0 && key.len <= STATE_KEY;
}

static bool is_state_member(PtcText member)
{
    PtcText key = key_of(member);
    if (!is_state_key(key) || member.len - key.len - 1 > STATE_VALUE)
        return false;
    for (size_t i = key.len + 1; i < member.len; i++)
        if (member.bytes[i] < ' ' || member.bytes[i] > '~' || member.bytes[i] == '=')
            return false;
    return true;
}

/* One that cannot be parsed, has too many members or one twice means nothing at all. */
static bool is_trace_state(PtcText state)
{
    PtcText rest = state, member, keys[PTC_TRACE_MEMBERS];
    size_t count = 0;
    while (next_member(&rest, &member)) {
        if (!member.len)
            continue;
        if (count == PTC_TRACE_MEMBERS || !is_state_member(member))
            return false;
        keys[count] = key_of(member);
        for (size_t i = 0; i < count; i++)
            if (ptc_text_same(keys[i], keys[count]))
                return false;
        count++;
    }
    return count > 0;
}

/* Whole members from the left, as many as fit: those on the right are the oldest. */
static PtcText fit_state(PtcText state)
{
    if (state.len <= PTC_TRACE_STATE)
        return state;
    size_t n = PTC_TRACE_STATE;
    while (n > 0 && state.bytes[n] != ',')
        n--;
    return n ? (PtcText){state.bytes, n} : (PtcText){NULL, 0};
}

static bool is_token(PtcText key)
{
    static const char signs[] = "!#$%&'*+-.^_`|~";
    for (size_t i = 0; i < key.len; i++) {
        char c = key.bytes[i];
        if (!ptc_ascii_is_alnum(c) && !(c && strchr(signs, c)))
            return false;
    }
    return key.len > 0;
}

static bool is_baggage_member(PtcText member)
{
    PtcText key = key_of(member);
    if (!is_token(ptc_text_trim(key, " \t")))
        return false;
    for (size_t i = key.len + 1; i < member.len; i++) {
        char c = member.bytes[i];
        if ((c < ' ' && c != '\t') || c > '~' || c == '"' || c == '\\')
            return false;
    }
    return true;
}

static bool is_baggage(PtcText baggage)
{
    PtcText rest = baggage, member;
    size_t count = 0;
    if (baggage.len > PTC_TRACE_BAGGAGE)
        return false;
    while (next_member(&rest, &member))
        if (!is_baggage_member(member) || ++count > PTC_TRACE_CARRIED)
            return false;
    return count > 0;
}

void ptc_trace_context_check(PtcTraceContext *context)
{
    static const PtcText none = {NULL, 0};
    char parent[PTC_TRACE_PARENT];
    ptc_trace_parent_read(context->parent, parent);
    if (!parent[0])
        context->parent = none;
    if (!context->parent.bytes || !context->state.bytes || !is_trace_state(context->state))
        context->state = none;
    context->state = fit_state(context->state);
    if (!context->baggage.bytes || !is_baggage(context->baggage))
        context->baggage = none;
}
