/* SPDX-License-Identifier: MIT
 * Values of PostgreSQL.  What always holds: a text that is not as the server writes its type stays a text. */
#include "sql/sql_pg_values.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/ascii.h"
#include "json/emit.h"
#include "value/coll/fields.h"
#include "value/number/number.h"

/* What a type becomes, and the type of lists of it (0: it is not known).  The numbers are part of the protocol. */
typedef struct {
    unsigned type, list;
    char tag;
} PgType;

enum { PG_VALUE_BYTES = 'b', PG_BOOL = 'o' };

static const PgType pg_types[] = {
    {16, 1000, PG_BOOL},
    {17, 1001, PG_VALUE_BYTES},
    {20, 1016, PTC_SQL_INT},
    {21, 1005, PTC_SQL_INT},
    {23, 1007, PTC_SQL_INT},
    {26, 1028, PTC_SQL_INT},
    {700, 1021, PTC_SQL_FLOAT},
    {701, 1022, PTC_SQL_FLOAT},
    {1700, 1231, PTC_SQL_DECIMAL},
    {114, 199, PTC_SQL_JSON},
    {3802, 3807, PTC_SQL_JSON},
    {1082, 1182, PTC_SQL_DATE},
    {1114, 1115, PTC_SQL_DATETIME},
    {1184, 1185, PTC_SQL_INSTANT},
    {1083, 1183, PTC_SQL_CLOCK},
    {25, 1009, PTC_SQL_TEXT},
    {1043, 1015, PTC_SQL_TEXT},
    {1042, 1014, PTC_SQL_TEXT},
    {19, 1003, PTC_SQL_TEXT},
    {2950, 2951, PTC_SQL_TEXT},
    {869, 1041, PTC_SQL_TEXT},
    {1186, 1187, PTC_SQL_TEXT},
    {650, 651, PTC_SQL_TEXT},
    {2205, 2210, PTC_SQL_TEXT},
};

static char tag_of(unsigned type, bool *list)
{
    *list = false;
    for (size_t i = 0; i < sizeof pg_types / sizeof *pg_types; i++)
        if (pg_types[i].type == type || pg_types[i].list == type) {
            *list = pg_types[i].list == type;
            return pg_types[i].tag;
        }
    return PTC_SQL_TEXT;
}

/* ---------------------------------------------------------------------------------- results */

static void put_whole(PtcSqlOut *out, PtcText text)
{
    char *end;
    errno = 0;
    long long n = strtoll(text.bytes, &end, 10);
    if (errno || end != text.bytes + text.len)
        ptc_sql_out_text(out, PTC_SQL_TEXT, text);
    else
        ptc_sql_out_int(out, PTC_SQL_INT, n);
}

/* \x and two digits for each byte. */
static void put_bytes(PtcSqlOut *out, PtcText text)
{
    PtcBuf bytes;
    ptc_buf_init(&bytes, out->buf.mem, PTC_UNBOUNDED);
    bool ok = ptc_text_starts(text, "\\x") && text.len % 2 == 0;
    for (size_t i = 2; ok && i < text.len; i += 2) {
        char digits[] = {text.bytes[i], text.bytes[i + 1], 0}, *end;
        ptc_buf_add_char(&bytes, (char)strtol(digits, &end, 16));
        ok = !*end;
    }
    if (ok && ptc_buf_ok(&bytes))
        ptc_sql_out_bytes(out, ptc_buf_view(&bytes).bytes, bytes.len);
    else
        ptc_sql_out_text(out, PTC_SQL_TEXT, text);
    ptc_buf_deinit(&bytes);
}

/* NaN and the infinities are words here. */
static void put_float(PtcSqlOut *out, PtcText text)
{
    double d = ptc_text_is(text, "-Infinity")  ? -INFINITY
               : ptc_text_is(text, "Infinity") ? INFINITY
                                               : NAN;
    if (text.len > 0 && ptc_ascii_is_digit(text.bytes[text.len - 1]) &&
        !ptc_double_parse(text.bytes, text.len, &d))
        d = NAN;
    ptc_sql_out_float(out, d);
}

/* The text ends with a NUL, as libpq's do. */
static void put_scalar(PtcSqlOut *out, char tag, PtcText text)
{
    bool number = text.len > 0 && (ptc_ascii_is_digit(text.bytes[text.len - 1]));
    switch (tag) {
    case PG_BOOL: ptc_sql_out_tag(out, *text.bytes == 't' ? PTC_SQL_TRUE : PTC_SQL_FALSE); return;
    case PG_VALUE_BYTES: put_bytes(out, text); return;
    case PTC_SQL_INT: put_whole(out, text); return;
    case PTC_SQL_FLOAT: put_float(out, text); return;
    case PTC_SQL_DECIMAL: /* or NaN and the infinities, which no decimal is */
        if (number)
            ptc_sql_out_text(out, tag, text);
        else
            put_float(out, text);
        return;
    default: ptc_sql_out_text(out, tag, text);
    }
}

/* An element of a list, from `at` on, into `one`; the offset behind it. */
static size_t take_element(PtcText text, size_t at, PtcBuf *one, bool *quoted)
{
    *quoted = at < text.len && text.bytes[at] == '"';
    at += *quoted;
    ptc_buf_clear(one);
    for (; at < text.len; at++) {
        char c = text.bytes[at];
        if (c == '\\' && at + 1 < text.len)
            c = text.bytes[++at];
        else if (*quoted ? c == '"' : c == ',' || c == '}')
            break;
        ptc_buf_add_char(one, c);
    }
    return at + *quoted;
}

static void put_element(PtcSqlOut *out, char tag, PtcBuf *one, bool quoted)
{
    PtcText text = ptc_buf_view(one);
    if (!quoted && text.len == 4 && memcmp(text.bytes, "NULL", 4) == 0) {
        ptc_sql_out_tag(out, PTC_SQL_NIL);
        return;
    }
    ptc_buf_add_char(one, 0);
    put_scalar(out, tag, (PtcText){ptc_buf_view(one).bytes, text.len});
}

/* {1,2,NULL}, {{"a","b"},{c,d}}; bounds that do not begin at 1 stand before it: [0:1]={...}. */
static void put_list(PtcSqlOut *out, char tag, PtcText text)
{
    PtcBuf one;
    bool quoted;
    const char *begin = memchr(text.bytes, '{', text.len);
    size_t at = begin ? (size_t)(begin - text.bytes) : text.len;
    ptc_buf_init(&one, out->buf.mem, PTC_UNBOUNDED);
    while (at < text.len && ptc_buf_ok(&out->buf)) {
        char c = text.bytes[at];
        if (c == '{' || c == '}')
            ptc_sql_out_tag(out, c == '{' ? PTC_SQL_LIST : PTC_SQL_END);
        if (c == '{' || c == '}' || c == ',') {
            at++;
            continue;
        }
        at = take_element(text, at, &one, &quoted);
        put_element(out, tag, &one, quoted);
    }
    ptc_buf_deinit(&one);
}

void ptc_sql_pg_put(PtcSqlOut *out, unsigned type, PtcText text)
{
    bool list;
    char tag = tag_of(type, &list);
    if (list)
        put_list(out, tag, text);
    else
        put_scalar(out, tag, text);
}

/* ------------------------------------------------------------------------------- parameters */

static bool add_scalar(PtcHeap *heap, PtcValue v, PtcBuf *text)
{
    if (ptc_is_string(v))
        return ptc_buf_add(text, ptc_str_bytes(v), ptc_str_len(v));
    if (ptc_is_bool(v))
        return ptc_buf_add_cstr(text, v == PTC_TRUE ? "true" : "false");
    return ptc_emit_value(text, heap, v); /* numbers as they are, anything else as JSON */
}

static bool add_quoted(PtcHeap *heap, PtcValue v, PtcBuf *text)
{
    PtcBuf one;
    ptc_buf_init(&one, text->mem, PTC_UNBOUNDED);
    bool ok = add_scalar(heap, v, &one);
    ptc_buf_add_char(text, '"');
    for (size_t i = 0; ok && i < one.len; i++) {
        if (one.data[i] == '"' || one.data[i] == '\\')
            ptc_buf_add_char(text, '\\');
        ptc_buf_add_char(text, one.data[i]);
    }
    ptc_buf_deinit(&one);
    return ptc_buf_add_char(text, '"') && ok;
}

static bool add_list(PtcHeap *heap, PtcValue v, PtcBuf *text)
{
    bool ok = ptc_buf_add_char(text, '{');
    for (size_t i = 0; ok && i < ptc_seq_count(v); i++) {
        PtcValue one = ptc_seq_nth(v, i);
        ok = (i == 0 || ptc_buf_add_char(text, ',')) &&
             (one == PTC_NIL ? ptc_buf_add_cstr(text, "NULL") : add_quoted(heap, one, text));
    }
    return ok && ptc_buf_add_char(text, '}');
}

/* JSON of a string is quoted: a column of JSON takes values, not texts of them. */
bool ptc_sql_pg_text(PtcHeap *heap, unsigned type, PtcValue v, PtcBuf *text)
{
    bool list, ok;
    char tag = tag_of(type, &list);
    if (ptc_is_sequential(v) && list)
        ok = add_list(heap, v, text);
    else if (tag == PTC_SQL_JSON && !list)
        ok = ptc_emit_value(text, heap, v);
    else
        ok = add_scalar(heap, v, text);
    return ok && !memchr(ptc_buf_view(text).bytes, 0, text->len) && ptc_buf_add(text, "", 1);
}
