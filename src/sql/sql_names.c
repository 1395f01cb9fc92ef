/* SPDX-License-Identifier: MIT
 * Parameters of questions.  What always holds: a text that is read otherwise than the database reads it can only be an
 * error, because what stands in place of a name is a number, and values travel apart. */
#include "sql/sql_names.h"

#include "base/ascii.h"

typedef struct {
    PtcSqlDialect dialect;
    PtcText sql;
    size_t at;
    PtcSqlNames *out;
    PtcBuf *numbered;
    PtcWhy *why;
} SqlScan;

static char char_at(const SqlScan *s, size_t at)
{
    return at < s->sql.len ? s->sql.bytes[at] : 0;
}

static bool is_word_char(char c)
{
    return ptc_ascii_is_alnum(c) || c == '_' || (unsigned char)c >= 0x80;
}

/* ------------------------------------------------------------------------------ skipping */

/* Behind the closing quote; one that is doubled, or escaped where that is possible, does not close. */
static size_t after_quoted(const SqlScan *s, char close, bool escapes)
{
    size_t at = s->at + 1;
    for (; at < s->sql.len; at++) {
        char c = s->sql.bytes[at];
        if (escapes && c == '\\')
            at++;
        else if (c == close && char_at(s, at + 1) == close && close != ']')
            at++;
        else if (c == close)
            return at + 1;
    }
    return s->sql.len;
}

static size_t after_line(const SqlScan *s)
{
    const char *end = memchr(s->sql.bytes + s->at, '\n', s->sql.len - s->at);
    return end ? (size_t)(end - s->sql.bytes) + 1 : s->sql.len;
}

/* PostgreSQL has comments inside of comments. */
static size_t after_comment(const SqlScan *s)
{
    size_t at = s->at + 2, depth = 1;
    bool nests = s->dialect == PTC_SQL_POSTGRES;
    while (at < s->sql.len && depth > 0) {
        bool ends = char_at(s, at) == '*' && char_at(s, at + 1) == '/';
        bool begins = nests && char_at(s, at) == '/' && char_at(s, at + 1) == '*';
        depth = ends ? depth - 1 : begins ? depth + 1 : depth;
        at += ends || begins ? 2 : 1;
    }
    return at < s->sql.len ? at : s->sql.len;
}

/* Behind $tag$ ... $tag$; where we are: it is none. */
static size_t after_dollars(const SqlScan *s)
{
    size_t n = 1;
    while (is_word_char(char_at(s, s->at + n)))
        n++;
    if (char_at(s, s->at + n) != '$' || ptc_ascii_is_digit(char_at(s, s->at + 1)))
        return s->at;
    n++;
    for (size_t at = s->at + n; at + n <= s->sql.len; at++)
        if (memcmp(s->sql.bytes + at, s->sql.bytes + s->at, n) == 0)
            return at + n;
    return s->sql.len;
}

/* A word, with the string that may belong to it: E'it\'s'. */
static size_t after_word(SqlScan *s)
{
    size_t begin = s->at, end = s->at;
    while (is_word_char(char_at(s, end)) || char_at(s, end) == '$')
        end++;
    if (!s->out->first.bytes)
        s->out->first = (PtcText){s->sql.bytes + begin, end - begin};
    bool escapes = s->dialect == PTC_SQL_POSTGRES && end == begin + 1 &&
                   ptc_ascii_lower(s->sql.bytes[begin]) == 'e' && char_at(s, end) == '\'';
    if (!escapes)
        return end;
    s->at = end;
    end = after_quoted(s, '\'', true);
    s->at = begin;
    return end;
}

/* Behind what is no parameter, whatever it holds. */
static size_t after_part(SqlScan *s)
{
    char c = char_at(s, s->at), next = char_at(s, s->at + 1);
    bool lite = s->dialect == PTC_SQL_SQLITE;
    if (c == '\'' || c == '"' || (lite && c == '`'))
        return after_quoted(s, c, false);
    if (lite && c == '[')
        return after_quoted(s, ']', false);
    if (c == '-' && next == '-')
        return after_line(s);
    if (c == '/' && next == '*')
        return after_comment(s);
    if (is_word_char(c))
        return after_word(s);
    if (c == ':' && (next == ':' || next == '='))
        return s->at + 2;
    size_t after = c == '$' && !lite ? after_dollars(s) : s->at;
    return after > s->at ? after : s->at + 1;
}

/* ---------------------------------------------------------------------------------- names */

static bool number_name(SqlScan *s, PtcText name)
{
    PtcSqlNames *out = s->out;
    size_t i = 0;
    while (i < out->count && !ptc_text_same(out->names[i], name))
        i++;
    if (i == PTC_SQL_NAMES_MAX)
        return ptc_why_say(s->why, PTC_WHY_INVALID, "it has more than %d parameters",
                           PTC_SQL_NAMES_MAX);
    if (i == out->count)
        out->names[out->count++] = name;
    if (s->numbered)
        ptc_buf_addf(s->numbered, "$%zu", i + 1);
    return true;
}

/* A colon behind a word or a bracket belongs to a slice: a[1:n]. */
static bool begins_name(const SqlScan *s)
{
    char c = char_at(s, s->at + 1), before = s->at ? s->sql.bytes[s->at - 1] : ' ';
    return char_at(s, s->at) == ':' && (ptc_ascii_is_letter(c) || c == '_') &&
           !is_word_char(before) && before != ']' && before != ')';
}

/* Placeholders of other kinds would mean one of ours, or nothing. */
static bool check_placeholder(const SqlScan *s)
{
    char c = char_at(s, s->at), next = char_at(s, s->at + 1);
    bool lite = s->dialect == PTC_SQL_SQLITE;
    bool other = (c == '$' && (lite ? is_word_char(next) : ptc_ascii_is_digit(next))) ||
                 (lite && (c == '?' || (c == '@' && is_word_char(next))));
    return !other || ptc_why_say(s->why, PTC_WHY_INVALID,
                                 "parameters are written :name, not %c as at byte %zu", c, s->at);
}

static bool scan_sql(SqlScan *s)
{
    while (s->at < s->sql.len) {
        size_t begin = s->at;
        if (begins_name(s)) {
            while (++s->at < s->sql.len && is_word_char(s->sql.bytes[s->at]))
                continue;
            if (!number_name(s, (PtcText){s->sql.bytes + begin + 1, s->at - begin - 1}))
                return false;
            continue;
        }
        if (!check_placeholder(s))
            return false;
        s->at = after_part(s);
        if (s->numbered)
            ptc_buf_add(s->numbered, s->sql.bytes + begin, s->at - begin);
    }
    return !s->numbered || ptc_buf_ok(s->numbered) || ptc_why_no_memory(s->why);
}

bool ptc_sql_names(PtcSqlDialect dialect, PtcText sql, PtcSqlNames *out, PtcBuf *numbered,
                   PtcWhy *why)
{
    SqlScan s = {dialect, sql, 0, out, numbered, why};
    memset(out, 0, sizeof *out);
    if (sql.len > PTC_SQL_TEXT_MAX || memchr(ptc_text_shown(sql.bytes), 0, sql.len))
        return ptc_why_say(why, PTC_WHY_INVALID, "it is longer than 1 MiB, or has a NUL");
    return scan_sql(&s);
}

bool ptc_sql_word_fits(PtcText first, bool write)
{
    static const char *const words[] = {"select", "with",   "values", "table", "explain", "show",
                                        "insert", "update", "delete", "merge", "replace", "call"};
    enum { READING = 6 };
    size_t count = write ? sizeof words / sizeof *words : READING;
    for (size_t i = 0; first.bytes && i < count; i++) {
        size_t n = 0;
        while (n < first.len && ptc_ascii_lower(first.bytes[n]) == words[i][n])
            n++;
        if (n == first.len && !words[i][n])
            return true;
    }
    return false;
}
