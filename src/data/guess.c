/* SPDX-License-Identifier: MIT
 * Guesses what a text is.  What always holds: a text that is cut off is judged by what is certainly whole in it, so
 * that the place of the cut changes nothing as long as enough is left. */
#include "data/guess.h"

#include "base/ascii.h"
#include "data/charset.h"
#include "data/csv.h"
#include "json/check.h"

enum { GUESS_NAME_BYTES = 64 };

/* The beginning of a text as CSV, divided by one separator. */
typedef struct {
    const char *at, *end;
    char separator;
    size_t records, fields; /* fields of the first record */
    bool alike;             /* all records have as many */
    size_t names;           /* fields that look like names, before one that does not */
} GuessTable;

typedef enum { AT_FIELD, AT_RECORD, AT_OPEN_QUOTE, AT_NONSENSE } Next;

/* ------------------------------------------------------------------------------------ names */

static bool is_name_letter(char c)
{
    return ptc_ascii_is_letter(c) || (c & 0x80);
}

static bool is_sign_of(char c, const char *set)
{
    return c && strchr(set, c);
}

/* Numbers, dates, times, addresses, paths and messages are no names.  Quotes are for names with other characters. */
static bool is_column_name(PtcText t, bool quoted)
{
    bool ok = t.len > 0 && t.len <= GUESS_NAME_BYTES &&
              (is_name_letter(*t.bytes) || is_sign_of(*t.bytes, "_#@$%"));
    for (size_t i = 0; ok && !quoted && i < t.len; i++)
        ok = is_name_letter(t.bytes[i]) || is_sign_of(t.bytes[i], "0123456789 _-./#%()[]$&+*?@'");
    return ok;
}

static bool is_distinct_name(const PtcText *names, size_t n, PtcText name)
{
    while (n > 0 && !ptc_text_same(names[n - 1], name))
        n--;
    return n == 0;
}

/* ---------------------------------------------------------------------------------- records */

static const char *field_end(const GuessTable *t, bool *quoted)
{
    const char *p = t->at;
    *quoted = p < t->end && *p == '"';
    if (!*quoted) {
        while (p < t->end && *p != t->separator && *p != '\n' && *p != '\r')
            p++;
        return p;
    }
    do {
        p = memchr(p + 1, '"', (size_t)(t->end - p - 1));
    } while (p && ++p < t->end && *p == '"');
    return p;
}

/* Moves past a field and what ends it, empty lines too. */
static Next skip_field(GuessTable *t, PtcText *field, bool *quoted)
{
    const char *p = field_end(t, quoted);
    if (!p)
        return AT_OPEN_QUOTE;
    *field = (PtcText){t->at + *quoted, (size_t)(p - t->at) - 2 * *quoted};
    t->at = p;
    if (p < t->end && *p == t->separator) {
        t->at++;
        return AT_FIELD;
    }
    while (t->at < t->end && (*t->at == '\n' || *t->at == '\r'))
        t->at++;
    return t->at > p || p == t->end ? AT_RECORD : AT_NONSENSE;
}

static Next look_at_names(GuessTable *t)
{
    PtcText names[PTC_CSV_COLUMNS], field;
    bool quoted;
    Next next = AT_FIELD;
    for (; next == AT_FIELD; t->fields++) {
        next = skip_field(t, &field, &quoted);
        if (next >= AT_OPEN_QUOTE)
            return next;
        field = ptc_text_trim(field, " \t");
        if (t->names == t->fields && t->names < PTC_CSV_COLUMNS && is_column_name(field, quoted) &&
            is_distinct_name(names, t->names, field))
            names[t->names++] = field;
    }
    return next;
}

static Next count_record(GuessTable *t, size_t *fields)
{
    PtcText field;
    bool quoted;
    Next next = AT_FIELD;
    for (*fields = 0; next == AT_FIELD; ++*fields)
        next = skip_field(t, &field, &quoted);
    return next;
}

/* A quote that is open where the text was cut belongs to a record that does not count. */
static GuessTable look_at_table(PtcText text, char separator, bool whole)
{
    GuessTable t = {.at = text.bytes, .end = text.bytes + text.len, .separator = separator};
    size_t fields = 0;
    while (t.at < t.end && (*t.at == '\n' || *t.at == '\r'))
        t.at++;
    Next next = look_at_names(&t);
    t.alike = t.fields > 1 && next == AT_RECORD;
    if (!t.alike)
        t.names = 0;
    for (t.records = 1; t.alike && t.at < t.end; t.records++) {
        next = count_record(&t, &fields);
        if (next == AT_OPEN_QUOTE && !whole)
            break;
        t.alike = next == AT_RECORD && fields == t.fields;
    }
    t.alike = t.alike && t.records > 1;
    return t;
}

static void guess_csv(PtcText text, bool whole, PtcDataForm *form)
{
    static const char separators[] = {',', ';', '\t'};
    for (size_t i = 0; i < sizeof separators; i++) {
        GuessTable t = look_at_table(text, separators[i], whole);
        bool named = t.names > 0 && t.names == t.fields;
        if (t.alike && named && t.fields > form->columns) {
            form->kind = PTC_DATA_CSV;
            form->other = PTC_DATA_LINES;
            form->separator = t.separator;
            form->columns = t.fields;
        } else if ((named || (t.alike && t.names > 0)) && form->other == PTC_DATA_TOLD) {
            form->other = t.separator == '\t' ? PTC_DATA_TSV : PTC_DATA_CSV;
        }
    }
}

/* ------------------------------------------------------------------------------------- text */

/* Up to the end of its last line, both bytes of it in UTF-16. */
static PtcText without_last_line(PtcText t)
{
    size_t n = t.len;
    while (n > 0 && t.bytes[n - 1] != '\n' && t.bytes[n - 1] != '\r')
        n--;
    n += n % 2 && n < t.len && t.bytes[n] == 0;
    return (PtcText){t.bytes, n};
}

/* A text whose encoding is wrong is told so by who reads its lines. */
static bool guess_table(PtcMem *mem, PtcText text, bool whole, PtcDataForm *form)
{
    PtcBuf converted;
    PtcCharsetError wrong = {0};
    PtcText decoded;
    ptc_buf_init(&converted, mem, 4 * PTC_GUESS_BYTES);
    if (!whole)
        text = without_last_line(text);
    bool ok = ptc_charset_decode(text.bytes, text.len, &converted, &decoded, &wrong);
    if (ok)
        guess_csv(decoded, whole, form);
    ptc_buf_deinit(&converted);
    return ok || !wrong.stopped;
}

/* Is it meant as JSON, whatever is wrong in it?  In many logs a line begins with a time or a word in brackets. */
static bool is_meant_as_json(PtcText t)
{
    PtcText inside = ptc_text_trim((PtcText){t.bytes + 1, t.len - 1}, " \t\r\n");
    return is_sign_of(*t.bytes, "{[") && inside.len > 0 && is_sign_of(*inside.bytes, "\"'{[");
}

static bool has_json_line(PtcText text)
{
    const char *lf = memchr(text.bytes, '\n', text.len);
    size_t len = lf ? (size_t)(lf - text.bytes) : text.len;
    return ptc_json_value_len(text.bytes, len) > 0;
}

/* Where rows that cannot be read are left out, rows are what is meant, also if some of the first are such. */
static void take_despite_bad_rows(PtcDataForm *form, PtcText text)
{
    if (form->kind == PTC_DATA_JSON ? has_json_line(text) : form->other == PTC_DATA_JSON)
        form->kind = PTC_DATA_JSONL;
    else if (form->kind == PTC_DATA_LINES && form->other != PTC_DATA_TOLD)
        form->kind = form->other;
    else
        return;
    form->other = PTC_DATA_LINES;
}

/* The next line of a text, which is shortened by it. */
static PtcText next_guess_line(PtcText *text)
{
    const char *lf = memchr(text->bytes, '\n', text->len);
    PtcText line = {text->bytes, lf ? (size_t)(lf - text->bytes) : text->len};
    size_t used = line.len + (lf != NULL);
    text->bytes += used;
    text->len -= used;
    return ptc_text_trim(line, "\r");
}

/* - item, key: value, "key": */
static bool is_yaml_line(PtcText line)
{
    PtcText t = ptc_text_trim(line, " ");
    const char *colon = memchr(t.bytes, ':', t.len);
    if (t.len > 0 && *t.bytes == '-' && (t.len == 1 || t.bytes[1] == ' '))
        return true;
    return t.len > 0 && colon && (colon + 1 == t.bytes + t.len || colon[1] == ' ') &&
           (is_name_letter(*t.bytes) || is_sign_of(*t.bytes, "_\"'"));
}

/* Text in Markdown begins with such a line, too, and has another before what is no YAML. */
static bool begins_yaml(PtcText text)
{
    PtcText line = next_guess_line(&text);
    if (ptc_text_starts(line, "%YAML "))
        return true;
    bool begins = ptc_text_is(line, "---"), ok = begins && text.len > 0;
    for (bool first = true; ok && text.len > 0;) {
        line = next_guess_line(&text);
        if (first && (line.len == 0 || *line.bytes == '#'))
            continue;
        ok = !begins || is_yaml_line(line);
        begins = ptc_text_is(line, "---");
        first = false;
    }
    return ok;
}

bool ptc_data_guess(PtcMem *mem, PtcText text, bool whole, PtcDataForm *form)
{
    *form = (PtcDataForm){
        .kind = PTC_DATA_LINES, .guessed = true, .file = form->file, .bad = form->bad};
    if (text.len > PTC_GUESS_BYTES) {
        text.len = PTC_GUESS_BYTES;
        whole = false;
    }
    PtcText json = ptc_text_trim(ptc_charset_unmarked(text), " \t\r\n");
    if (json.len == 0)
        return true;
    bool is_json = ptc_json_begins(json.bytes, json.len, whole);
    if (is_json)
        form->kind = PTC_DATA_JSON;
    if (!is_json && begins_yaml(json)) {
        form->kind = PTC_DATA_YAML;
        return true;
    }
    if (is_json && !is_sign_of(*json.bytes, "{[\""))
        form->other = PTC_DATA_LINES; /* numbers may be meant as text */
    if (!is_json && is_meant_as_json(json))
        form->other = PTC_DATA_JSON;
    bool ok = is_json || guess_table(mem, text, whole, form);
    if (form->bad)
        take_despite_bad_rows(form, json);
    return ok;
}
