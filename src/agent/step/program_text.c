/* SPDX-License-Identifier: MIT
 * Walks over program text.  What always holds: literals and comments are copied unchanged, and the walk is linear. */
#include "agent/step/program_text.h"

#include "base/utf8.h"

typedef enum { ORDINARY, DOUBLE, SINGLE, SPACE, NOTHING } Odd;

static Odd odd_kind(uint32_t c)
{
    switch (c) {
    case 0x2018: /* ‘ and similar marks, including primes */
    case 0x2019:
    case 0x201a:
    case 0x201b:
    case 0x2032:
    case 0x2035: return SINGLE;
    case 0x201c:
    case 0x201d:
    case 0x201e:
    case 0x201f:
    case 0x2033:
    case 0x2036: return DOUBLE;
    case 0x85:
    case 0xa0:
    case 0x1680:
    case 0x2028:
    case 0x2029:
    case 0x202f:
    case 0x205f:
    case 0x3000: return SPACE;
    case 0xad: /* soft hyphen, Mongolian vowel separator, joiners, byte order marks */
    case 0x180e:
    case 0x200b:
    case 0x200c:
    case 0x200d:
    case 0x2060:
    case 0xfeff:
    case 0xfffe: return NOTHING;
    default: return c >= 0x2000 && c <= 0x200a ? SPACE : ORDINARY;
    }
}

/* The bytes at pos, unchanged. */
static void copy_plain_bytes(PtcPlainText *p, size_t n)
{
    ptc_buf_add(p->out, p->text.bytes + p->pos, n);
    p->pos += n;
}

static void replace_plain_bytes(PtcPlainText *p, size_t n, const char *by)
{
    ptc_buf_add_cstr(p->out, by);
    p->pos += n;
}

static size_t width(const PtcPlainText *p, size_t at)
{
    uint32_t code;
    return at < p->text.len ? ptc_utf8_decode(p->text.bytes + at, p->text.len - at, &code) : 0;
}

static Odd odd_here(const PtcPlainText *p, size_t *n)
{
    uint32_t code;
    *n = ptc_utf8_decode(p->text.bytes + p->pos, p->text.len - p->pos, &code);
    return odd_kind(code);
}

static void step_wide(PtcPlainText *p)
{
    size_t n;
    switch (odd_here(p, &n)) {
    case ORDINARY: copy_plain_bytes(p, n); break;
    case SINGLE: replace_plain_bytes(p, n, "'"); break;
    case SPACE: replace_plain_bytes(p, n, " "); break;
    case NOTHING: replace_plain_bytes(p, n, ""); break;
    case DOUBLE:
        replace_plain_bytes(p, n, "\"");
        p->state = PTC_PLAIN_CURLY;
        break;
    }
}

static void step_over_code(PtcPlainText *p)
{
    unsigned char c = (unsigned char)p->text.bytes[p->pos];
    if (c >= 0x80) {
        step_wide(p);
        return;
    }
    if (c == '(' || c == '[' || c == '{')
        p->depth++;
    else if (c == ')' || c == ']' || c == '}')
        p->depth--;
    else if (c == '"')
        p->state = PTC_PLAIN_STRING;
    else if (c == ';')
        p->state = PTC_PLAIN_COMMENT;
    /* A backslash begins a character literal: what follows it is neither a bracket nor a quote. */
    copy_plain_bytes(p, c == '\\' ? 1 + width(p, p->pos + 1) : 1);
}

static void step_string(PtcPlainText *p)
{
    char c = p->text.bytes[p->pos];
    size_t n;
    if (c == '\\') {
        copy_plain_bytes(p, 1 + width(p, p->pos + 1));
    } else if (c == '"') {
        copy_plain_bytes(p, 1);
        p->state = PTC_PLAIN_CODE;
    } else if (p->state == PTC_PLAIN_CURLY && (unsigned char)c >= 0x80 &&
               odd_here(p, &n) == DOUBLE) {
        replace_plain_bytes(p, n, "\"");
        p->state = PTC_PLAIN_CODE;
    } else {
        copy_plain_bytes(p, 1);
    }
}

static void step_over_plain(PtcPlainText *p)
{
    switch (p->state) {
    case PTC_PLAIN_CODE: step_over_code(p); break;
    case PTC_PLAIN_STRING:
    case PTC_PLAIN_CURLY: step_string(p); break;
    case PTC_PLAIN_COMMENT:
        if (p->text.bytes[p->pos] == '\n')
            p->state = PTC_PLAIN_CODE;
        copy_plain_bytes(p, 1);
        break;
    }
}

/* Is this where </ begins, or a run of ` or ~ that can be a fence?  A run is reported once, at its beginning. */
static bool at_closing_sign(const PtcPlainText *p)
{
    const char *at = p->text.bytes + p->pos;
    size_t left = p->text.len - p->pos;
    if (p->state != PTC_PLAIN_CODE || left < 2 || (*at != '<' && *at != '`' && *at != '~'))
        return false;
    return *at == '<' ? at[1] == '/' : left >= 3 && at[1] == *at && at[2] == *at && at[-1] != *at;
}

PtcPlainStop ptc_plain_next(PtcPlainText *p)
{
    for (size_t begun = p->pos; p->pos < p->text.len && ptc_buf_ok(p->out);) {
        if (p->pos > begun && at_closing_sign(p))
            return PTC_PLAIN_SIGN;
        step_over_plain(p);
        if (p->text.bytes[p->pos - 1] == '\n')
            return PTC_PLAIN_LINE;
    }
    return PTC_PLAIN_END;
}

bool ptc_plain_add(PtcBuf *out, PtcText text)
{
    PtcPlainText p = {.text = text, .out = out};
    while (ptc_plain_next(&p) != PTC_PLAIN_END)
        ;
    return ptc_buf_ok(out);
}

bool ptc_plain_add_lines(PtcBuf *out, PtcText text)
{
    size_t from = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.bytes[i] != '\r')
            continue;
        ptc_buf_add(out, text.bytes + from, i - from);
        if (i + 1 == text.len || text.bytes[i + 1] != '\n')
            ptc_buf_add_char(out, '\n');
        from = i + 1;
    }
    return ptc_buf_add(out, text.bytes + from, text.len - from);
}
