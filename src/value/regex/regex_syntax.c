/* SPDX-License-Identifier: MIT
 * Most of Java's notation is PCRE2's too and is copied.  What Java spells otherwise is translated; what
 * means something else there, or would let a pattern reach PCRE2's controls, is refused. */
#include "value/regex/regex_syntax.h"

#include <stdio.h>

#include "base/ascii.h"
#include "base/utf8.h"

static bool refuse_regex(PtcRegexText *t, const char *message)
{
    if (!t->error->message[0]) {
        snprintf(t->error->message, sizeof t->error->message, "%s", message);
        t->error->at = t->at;
    }
    return false;
}

/* The next bytes are these. */
static bool ahead(const PtcRegexText *t, const char *text)
{
    size_t n = strlen(text);
    return t->len - t->at >= n && memcmp(t->pattern + t->at, text, n) == 0;
}

static bool copy_regex_chars(PtcRegexText *t, size_t n)
{
    if (n > t->len - t->at)
        n = t->len - t->at;
    bool ok = ptc_buf_add(&t->out, t->pattern + t->at, n);
    t->at += n;
    return ok;
}

/* Up to and with the first `end`, or all. */
static bool copy_through(PtcRegexText *t, const char *end)
{
    while (t->at < t->len && !ahead(t, end))
        if (!copy_regex_chars(t, 1))
            return false;
    return copy_regex_chars(t, strlen(end));
}

/* -------------------------------------------------------------------- escapes */

/* \uXXXX at `at`; false when there is none. */
static bool code_unit(const PtcRegexText *t, size_t at, uint32_t *unit)
{
    if (t->len < 6 || at > t->len - 6 || t->pattern[at] != '\\' || t->pattern[at + 1] != 'u')
        return false;
    *unit = 0;
    for (size_t i = at + 2; i < at + 6; i++) {
        int digit = ptc_ascii_hex_value(t->pattern[i]);
        if (digit < 0)
            return false;
        *unit = *unit * 16 + (uint32_t)digit;
    }
    return true;
}

static bool translate_unicode_escape(PtcRegexText *t)
{
    uint32_t code, low;
    char utf8[4];
    size_t used = 6;
    if (!code_unit(t, t->at, &code))
        return refuse_regex(t, "\\u is followed by four hexadecimal digits");
    if (code >= 0xd800 && code < 0xdc00 && code_unit(t, t->at + 6, &low) && low >= 0xdc00 &&
        low < 0xe000) {
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        used = 12;
    }
    if (ptc_utf8_encode(code, utf8) == 0)
        return refuse_regex(t, "\\u names half of a character; write both halves");
    t->at += used;
    return ptc_buf_addf(&t->out, "\\x{%x}", (unsigned)code);
}

/* Java's names of ASCII classes. */
static const struct {
    const char *java, *posix;
} classes[] = {
    {"Alpha", "alpha"}, {"Digit", "digit"}, {"Alnum", "alnum"}, {"Upper", "upper"},
    {"Lower", "lower"}, {"Punct", "punct"}, {"Space", "space"}, {"Blank", "blank"},
    {"Cntrl", "cntrl"}, {"Graph", "graph"}, {"Print", "print"}, {"XDigit", "xdigit"},
    {"ASCII", "ascii"},
};

/* Unicode properties that Java names differently, after Is. */
static const struct {
    const char *java, *pcre;
} properties[] = {
    {"Letter", "L"}, {"Digit", "Nd"}, {"Punctuation", "P"}, {"Titlecase", "Lt"}, {"Control", "Cc"},
};

static bool is_property_name(const char *name, size_t len, const char *text)
{
    return strlen(text) == len && memcmp(name, text, len) == 0;
}

static bool add_class(PtcRegexText *t, const char *name, bool negated, bool in_class)
{
    if (in_class)
        return ptc_buf_addf(&t->out, "[:%s%s:]", negated ? "^" : "", name);
    return ptc_buf_addf(&t->out, "[%s[:%s:]]", negated ? "^" : "", name);
}

/* \p{Name}, \P{Name}; one-letter forms are PCRE2's too. */
static bool translate_property(PtcRegexText *t, bool in_class)
{
    const char *name = t->pattern + t->at + 3;
    size_t left = t->len - t->at;
    const char *end = left > 3 && t->pattern[t->at + 2] == '{' ? memchr(name, '}', left - 3) : NULL;
    bool negated = t->pattern[t->at + 1] == 'P';
    if (!end)
        return copy_regex_chars(t, 2);
    size_t len = (size_t)(end - name), whole = len + 4;
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++)
        if (is_property_name(name, len, classes[i].java)) {
            t->at += whole;
            return add_class(t, classes[i].posix, negated, in_class);
        }
    if (len <= 2 || name[0] != 'I' || name[1] != 's')
        return copy_regex_chars(t, whole);
    name += 2;
    len -= 2;
    t->at += whole;
    for (size_t i = 0; i < sizeof properties / sizeof properties[0]; i++)
        if (is_property_name(name, len, properties[i].java)) {
            name = properties[i].pcre;
            len = strlen(name);
            break;
        }
    return ptc_buf_addf(&t->out, "\\%c{%.*s}", negated ? 'P' : 'p', PTC_ARG_OF(name, len));
}

/* At a backslash. */
static bool translate_escape(PtcRegexText *t, bool in_class)
{
    switch (t->at + 1 < t->len ? t->pattern[t->at + 1] : 0) {
    case 'Q': return copy_through(t, "\\E");
    case 'u': return translate_unicode_escape(t);
    case 'p':
    case 'P': return translate_property(t, in_class);
    case 'c': return copy_regex_chars(t, 3);
    case 'C': return refuse_regex(t, "\\C would cut a character in two; use . instead");
    case 'K': return refuse_regex(t, "\\K is not supported; use a group or a look-behind (?<=...)");
    default: return copy_regex_chars(t, 2);
    }
}

/* --------------------------------------------------------------------- classes */

/* At a bracket inside a class: [:name:], or Java's class in a class. */
static bool inner_bracket(PtcRegexText *t)
{
    size_t i = t->at + 2;
    if (ahead(t, "[:")) {
        while (i < t->len && (ptc_ascii_is_letter(t->pattern[i]) || t->pattern[i] == '^'))
            i++;
        if (i + 1 < t->len && t->pattern[i] == ':' && t->pattern[i + 1] == ']')
            return copy_regex_chars(t, i + 2 - t->at);
    }
    return refuse_regex(
        t, "a class inside a class is not supported; write \\[ for the bracket itself");
}

/* At the bracket that opens a class. */
static bool translate_class(PtcRegexText *t)
{
    bool ok = copy_regex_chars(t, ahead(t, "[^") ? 2 : 1);
    if (ok && ahead(t, "]"))
        ok = copy_regex_chars(t, 1);
    while (ok && t->at < t->len && !ahead(t, "]")) {
        if (ahead(t, "&&"))
            return refuse_regex(
                t, "&& in a class is not supported; write a look-ahead such as (?![aeiou])[a-z]");
        ok = ahead(t, "\\")  ? translate_escape(t, true)
             : ahead(t, "[") ? inner_bracket(t)
                             : copy_regex_chars(t, 1);
    }
    return ok && copy_regex_chars(t, 1);
}

/* ---------------------------------------------------------------------- groups */

/* (?ims) or (?i-s: at a parenthesis; false with *is_flags false when it is something else. */
static bool flags(PtcRegexText *t, bool *is_flags)
{
    size_t i = t->at + 2;
    bool on = true;
    while (i < t->len && strchr("imsxuUdnJ-", t->pattern[i]) && t->pattern[i])
        i++;
    *is_flags = i > t->at + 2 && i < t->len && (t->pattern[i] == ')' || t->pattern[i] == ':');
    if (!*is_flags)
        return false;
    bool ok = ptc_buf_add_cstr(&t->out, "(?");
    for (t->at += 2; ok && t->at < i; t->at++) {
        char c = t->pattern[t->at];
        on = on && c != '-';
        if (c == 'd')
            return refuse_regex(t, "the flag d is not supported");
        t->caseless = t->caseless || (on && c == 'i');
        t->extended = t->extended || (on && c == 'x');
        t->unicode = t->unicode || (on && c == 'U');
        if (c != 'u' && c != 'U')
            ok = ptc_buf_add_char(&t->out, c);
    }
    return ok && copy_regex_chars(t, 1);
}

/* At an opening parenthesis. */
static bool group(PtcRegexText *t)
{
    bool is_flags;
    if (ahead(t, "(*"))
        return refuse_regex(t, "nothing comes before the quantifier *");
    if (ahead(t, "(?C"))
        return refuse_regex(t, "(?C is not supported");
    if (ahead(t, "(?#"))
        return copy_through(t, ")");
    if (!ahead(t, "(?"))
        return copy_regex_chars(t, 1);
    bool ok = flags(t, &is_flags);
    return is_flags ? ok : copy_regex_chars(t, 2);
}

bool ptc_regex_translate(PtcRegexText *t)
{
    bool ok = true;
    t->source = t->len;
    while (ok && t->at < t->len) {
        size_t from = t->at;
        switch (t->pattern[t->at]) {
        case '\\': ok = translate_escape(t, false); break;
        case '[': ok = translate_class(t); break;
        case '(': ok = group(t); break;
        case '#': ok = t->extended ? copy_through(t, "\n") : copy_regex_chars(t, 1); break;
        default: ok = copy_regex_chars(t, 1);
        }
        if (t->out.len > t->target && t->source == t->len)
            t->source = from;
    }
    return ok && ptc_buf_ok(&t->out);
}
