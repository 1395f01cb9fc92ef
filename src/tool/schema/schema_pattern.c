/* SPDX-License-Identifier: MIT
 * Patterns of JSON Schema are ECMA-262's.  They are rewritten in the notation of regex.h, which is Java's;
 * the two mostly agree.  What PCRE2 would understand but ECMA-262 would not is refused if it would mean something
 * surprising. */
#include "tool/schema/schema_int.h"

#include <string.h>

#include "base/ascii.h"
#include "value/regex/regex.h"
#include "value/str.h"

typedef struct {
    const char *p, *end;
    PtcBuf out;
    const char *wrong; /* what is wrong with the pattern */
} Pattern;

/* Always false. */
static bool refuse_schema_pattern(Pattern *t, const char *wrong)
{
    t->wrong = wrong;
    return false;
}

static bool copy_pattern_chars(Pattern *t, size_t n)
{
    bool ok = ptc_buf_add(&t->out, t->p, n);
    t->p += n;
    return ok;
}

static bool put_pattern_text(Pattern *t, size_t skip, const char *text)
{
    t->p += skip;
    return ptc_buf_add_cstr(&t->out, text);
}

/* ----------------------------------------------------------------- properties */

/* Long names of general categories. */
static const struct {
    const char *name, *code;
} categories[] = {
    {"Letter", "L"},
    {"Cased_Letter", "L&"},
    {"Uppercase_Letter", "Lu"},
    {"Lowercase_Letter", "Ll"},
    {"Titlecase_Letter", "Lt"},
    {"Modifier_Letter", "Lm"},
    {"Other_Letter", "Lo"},
    {"Mark", "M"},
    {"Nonspacing_Mark", "Mn"},
    {"Spacing_Mark", "Mc"},
    {"Enclosing_Mark", "Me"},
    {"Number", "N"},
    {"Decimal_Number", "Nd"},
    {"digit", "Nd"},
    {"Letter_Number", "Nl"},
    {"Other_Number", "No"},
    {"Punctuation", "P"},
    {"punct", "P"},
    {"Connector_Punctuation", "Pc"},
    {"Dash_Punctuation", "Pd"},
    {"Open_Punctuation", "Ps"},
    {"Close_Punctuation", "Pe"},
    {"Initial_Punctuation", "Pi"},
    {"Final_Punctuation", "Pf"},
    {"Other_Punctuation", "Po"},
    {"Symbol", "S"},
    {"Math_Symbol", "Sm"},
    {"Currency_Symbol", "Sc"},
    {"Modifier_Symbol", "Sk"},
    {"Other_Symbol", "So"},
    {"Separator", "Z"},
    {"Space_Separator", "Zs"},
    {"Line_Separator", "Zl"},
    {"Paragraph_Separator", "Zp"},
    {"Other", "C"},
    {"Control", "Cc"},
    {"Format", "Cf"},
    {"Surrogate", "Cs"},
    {"Private_Use", "Co"},
    {"Unassigned", "Cn"},
};

/* \p{Name}, \p{Kind=Name}, \P{...}. */
static bool convert_property(Pattern *t)
{
    char letter = t->p[1];
    const char *name = t->p + 3;
    const char *close =
        t->end - t->p > 3 && t->p[2] == '{' ? memchr(name, '}', (size_t)(t->end - name)) : NULL;
    if (!close)
        return refuse_schema_pattern(t, "\\p is followed by the name of a property in braces");
    const char *equals = memchr(name, '=', (size_t)(close - name));
    if (equals)
        name = equals + 1;
    size_t len = (size_t)(close - name);
    t->p = close + 1;
    for (size_t i = 0; i < sizeof categories / sizeof categories[0]; i++)
        if (strlen(categories[i].name) == len && memcmp(categories[i].name, name, len) == 0)
            return ptc_buf_addf(&t->out, "\\%c{%s}", letter, categories[i].code);
    return ptc_buf_addf(&t->out, "\\%c{%.*s}", letter,
                        PTC_ARG(ptc_text_cut((PtcText){name, len}, 64)));
}

/* -------------------------------------------------------------------- escapes */

/* What escapes stand for inside a class.  White space is ECMA-262's.  Negated ones are spelled out, since PCRE2 10.42
 * forgets their characters above 255 in a negated class that also has a property.  Each begins and ends with an
 * escape that stands for a class, so that a hyphen next to it cannot form a range. */
#define PATTERN_SPACES                                                                             \
    "\\s\\x{a0}\\x{feff}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}" \
    "\\s"
#define NO_SPACES                                                                                \
    "\\d\\x{0}-\\x{8}\\x{e}-\\x{1f}\\x{21}-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}" \
    "-\\x{2027}\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}"     \
    "\\x{ff00}-\\x{10ffff}\\d"
#define NO_DIGITS "\\D\\x{0}-\\x{2f}\\x{3a}-\\x{10ffff}\\D"
#define NO_WORDS "\\W\\x{0}-\\x{2f}\\x{3a}-\\x{40}\\x{5b}-\\x{5e}\\x{60}\\x{7b}-\\x{10ffff}\\W"

/* \d \D \w \W \s \S; outside a class PCRE2's meaning is right except for white space. */
static bool kind(Pattern *t, bool in_class)
{
    switch (t->p[1]) {
    case 's': return put_pattern_text(t, 2, in_class ? PATTERN_SPACES : "[" PATTERN_SPACES "]");
    case 'S': return put_pattern_text(t, 2, in_class ? NO_SPACES : "[^" PATTERN_SPACES "]");
    case 'D': return in_class ? put_pattern_text(t, 2, NO_DIGITS) : copy_pattern_chars(t, 2);
    case 'W': return in_class ? put_pattern_text(t, 2, NO_WORDS) : copy_pattern_chars(t, 2);
    default: return copy_pattern_chars(t, 2);
    }
}

/* \uXXXX is Java's too. */
static bool unicode(Pattern *t)
{
    if (t->end - t->p < 4 || t->p[2] != '{')
        return copy_pattern_chars(t, 2);
    const char *close = t->p + 3;
    while (close < t->end && ptc_ascii_is_hex(*close))
        close++;
    if (close == t->end || *close != '}' || close == t->p + 3)
        return refuse_schema_pattern(
            t, "\\u is followed by four hexadecimal digits, or more in braces");
    size_t n = (size_t)(close + 1 - t->p - 2);
    t->p += 2;
    return ptc_buf_add(&t->out, "\\x", 2) && copy_pattern_chars(t, n);
}

/* \xXX; PCRE2 would accept fewer digits, or more in braces. */
static bool hexadecimal(Pattern *t)
{
    if (t->end - t->p < 4 || !ptc_ascii_is_hex(t->p[2]) || !ptc_ascii_is_hex(t->p[3]))
        return refuse_schema_pattern(t, "\\x is followed by two hexadecimal digits");
    return copy_pattern_chars(t, 4);
}

static bool control(Pattern *t)
{
    if (t->end - t->p <= 2 || !ptc_ascii_is_letter(t->p[2]))
        return refuse_schema_pattern(t, "\\c is followed by a letter");
    return copy_pattern_chars(t, 3);
}

/* \0 is the null character, other numbers are back references.  Only in ECMA-262 does a reference to a group that
 * took no part match the empty string instead of failing. */
static bool convert_number_escape(Pattern *t, bool in_class)
{
    const char *from = t->p + 1, *to = from;
    while (to < t->end && ptc_ascii_is_digit(*to))
        to++;
    int n = (int)(to - from);
    if (*from == '0')
        return n == 1 ? put_pattern_text(t, 2, "\\x00")
                      : refuse_schema_pattern(t, "\\0 is not followed by a digit");
    if (in_class || n > 4)
        return refuse_schema_pattern(t, "there is no group with this number");
    t->p = to;
    return ptc_buf_addf(&t->out, "(?(%.*s)\\g{%.*s})", PTC_ARG_OF(from, n), PTC_ARG_OF(from, n));
}

/* \k<name>, likewise. */
static bool convert_named_reference(Pattern *t, bool in_class)
{
    enum { LONGEST = 32 };
    const char *name = t->p + 3;
    const char *close = t->end - t->p > 3 && t->p[2] == '<' && !in_class
                            ? memchr(name, '>', (size_t)(t->end - name))
                            : NULL;
    if (!close || close - name > LONGEST)
        return refuse_schema_pattern(t, "\\k is followed by the name of a group, as \\k<name>");
    int n = (int)(close - name);
    t->p = close + 1;
    return ptc_buf_addf(&t->out, "(?(<%.*s>)\\k<%.*s>)", PTC_ARG_OF(name, n), PTC_ARG_OF(name, n));
}

/* At a backslash. */
static bool convert_escape(Pattern *t, bool in_class)
{
    if (t->end - t->p < 2)
        return refuse_schema_pattern(t, "it ends with a single backslash");
    char c = t->p[1];
    if (ptc_ascii_is_digit(c))
        return convert_number_escape(t, in_class);
    switch (c) {
    case 'd':
    case 'D':
    case 'w':
    case 'W':
    case 's':
    case 'S': return kind(t, in_class);
    case 'b':
    case 'B':
    case 'f':
    case 'n':
    case 'r':
    case 't': return copy_pattern_chars(t, 2);
    case 'k': return convert_named_reference(t, in_class);
    case 'x': return hexadecimal(t);
    case 'c': return control(t);
    case 'v': return put_pattern_text(t, 2, "\\x0b");
    case 'u': return unicode(t);
    case 'p':
    case 'P': return convert_property(t);
    default: break;
    }
    if (ptc_ascii_is_letter(c))
        return refuse_schema_pattern(t,
                                     "this letter after a backslash means nothing in JSON Schema");
    return copy_pattern_chars(t, 2);
}

/* -------------------------------------------------------------------- classes */

/* At the bracket that opens a class. */
static bool convert_class(Pattern *t)
{
    bool negated = t->end - t->p > 1 && t->p[1] == '^';
    const char *first = t->p + 1 + negated;
    if (first < t->end && *first == ']') /* with no characters */
        return put_pattern_text(t, (size_t)(first + 1 - t->p), negated ? "(?s:.)" : "(?!)");
    bool ok = copy_pattern_chars(t, 1 + (size_t)negated);
    while (ok && t->p < t->end && *t->p != ']') {
        if (*t->p == '\\')
            ok = convert_escape(t, true);
        else if (*t->p && strchr("[&.:=", *t->p)) /* [: :], [. .], [= =] and && have meanings */
            ok = ptc_buf_add_char(&t->out, '\\') && copy_pattern_chars(t, 1);
        else
            ok = copy_pattern_chars(t, 1);
    }
    if (ok && t->p == t->end)
        return refuse_schema_pattern(t, "a [ has no closing ]");
    return ok && copy_pattern_chars(t, 1);
}

static bool translate(Pattern *t)
{
    bool ok = true;
    while (ok && t->p < t->end) {
        switch (*t->p) {
        case '\\': ok = convert_escape(t, false); break;
        case '[': ok = convert_class(t); break;
        case '.': ok = put_pattern_text(t, 1, "[^\\n\\r\\x{2028}\\x{2029}]"); break;
        case '$':
            ok = put_pattern_text(t, 1, "\\z");
            break; /* Java's also matches before a line end */
        default: ok = copy_pattern_chars(t, 1);
        }
    }
    return ok && ptc_buf_ok(&t->out);
}

/* -------------------------------------------------------------------- compile */

static bool refuse_pattern_keyword(PtcSchemaCompiler *c, const PtcSchemaPending *at,
                                   const char *keyword, PtcText text, const char *wrong)
{
    char shown[PTC_SCHEMA_LINE];
    return ptc_schema_refuse(c, at, keyword, "the pattern %s is not valid: %s",
                             ptc_schema_line(shown, text, 80), wrong);
}

static bool compile_schema_pattern(PtcSchemaCompiler *c, const PtcSchemaPending *at,
                                   const char *keyword, const PtcBuf *java, PtcSchemaPattern *out)
{
    PtcRegexError error;
    PtcValue str = ptc_str_new(&c->work.heap, java->len ? java->data : "", java->len);
    PtcValue regex = str == PTC_NONE ? PTC_NONE : ptc_regex_new(&c->work.heap, str, &error);
    if (regex != PTC_NONE)
        return ptc_schema_freeze(c, regex, &out->regex);
    if (str == PTC_NONE || !error.message[0])
        return false;
    return refuse_pattern_keyword(c, at, keyword, out->text, error.message);
}

bool ptc_schema_pattern(PtcSchemaCompiler *c, const PtcSchemaPending *at, const char *keyword,
                        const char *bytes, size_t len, PtcSchemaPattern *out)
{
    Pattern t = {.p = bytes, .end = bytes + len};
    if (c->form_only)
        return true;
    if (!ptc_schema_keep(c, bytes, len, &out->text) || !ptc_tick(c->work.budget, (int64_t)len))
        return false;
    ptc_buf_init(&t.out, c->work.mem, 2 * PTC_REGEX_BYTES);
    bool ok = translate(&t) && compile_schema_pattern(c, at, keyword, &t.out, out);
    if (t.wrong)
        refuse_pattern_keyword(c, at, keyword, out->text, t.wrong);
    else if (t.out.full)
        refuse_pattern_keyword(c, at, keyword, out->text, "it is too long");
    else if (t.out.failed)
        ptc_schema_no_memory(c);
    ptc_buf_deinit(&t.out);
    return ok;
}
