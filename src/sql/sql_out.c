/* SPDX-License-Identifier: MIT
 * Rows as bytes.  What always holds: nothing is written beyond what was allowed, so whoever reads has room for it. */
#include "sql/sql_out.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/text/base64.h"
#include "base/utf8.h"
#include "sql/sql.h"

enum { OUT_CHUNK = 64 * PTC_KB, COLUMN_NAME_MAX = 1000, COLUMN_NAME_CUT = 960 };

bool ptc_sql_say(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vdprintf(STDERR_FILENO, format, args);
    va_end(args);
    return false;
}

void ptc_sql_out_init(PtcSqlOut *out, PtcMem *mem, int64_t most_rows, int64_t most_bytes)
{
    *out = (PtcSqlOut){.most_rows = most_rows, .most_bytes = most_bytes};
    ptc_buf_init(&out->buf, mem, PTC_UNBOUNDED);
}

static bool fail_out(PtcSqlOut *out, const char *what, int64_t n)
{
    if (!out->failed)
        ptc_sql_say(what, (long long)n);
    out->failed = true;
    return false;
}

bool ptc_sql_out_flush(PtcSqlOut *out)
{
    const char *p = out->buf.data;
    size_t left = out->buf.len;
    out->bytes += (int64_t)left;
    if (out->bytes > out->most_bytes)
        return fail_out(out, "its rows have more than %lld bytes; ask for fewer columns or rows",
                        (long long)out->most_bytes);
    if (!ptc_buf_ok(&out->buf))
        return fail_out(out, "a row takes too much memory", 0);
    while (left > 0 && !out->failed) {
        ssize_t n = write(STDOUT_FILENO, p, left);
        out->failed = n < 0 && errno != EINTR;
        p += n > 0 ? n : 0;
        left -= n > 0 ? (size_t)n : 0;
    }
    ptc_buf_clear(&out->buf);
    return !out->failed;
}

bool ptc_sql_out_row(PtcSqlOut *out)
{
    if (out->failed || (out->buf.len >= OUT_CHUNK && !ptc_sql_out_flush(out)))
        return false;
    if (++out->rows > out->most_rows)
        return fail_out(out, "it has more than %lld rows; add a limit, or aggregate in the query",
                        (long long)out->most_rows);
    ptc_sql_out_tag(out, PTC_SQL_ROW);
    return true;
}

bool ptc_sql_out_end(PtcSqlOut *out)
{
    ptc_sql_out_tag(out, PTC_SQL_END);
    bool ok = !out->failed && ptc_sql_out_flush(out);
    ptc_buf_deinit(&out->buf);
    return ok;
}

void ptc_sql_out_tag(PtcSqlOut *out, char tag)
{
    ptc_buf_add_char(&out->buf, tag);
}

void ptc_sql_out_int(PtcSqlOut *out, char tag, int64_t n)
{
    char bytes[1 + sizeof n];
    bytes[0] = tag;
    memcpy(bytes + 1, &n, sizeof n);
    ptc_buf_add(&out->buf, bytes, sizeof bytes);
}

void ptc_sql_out_float(PtcSqlOut *out, double d)
{
    char bytes[1 + sizeof d];
    bytes[0] = PTC_SQL_FLOAT;
    memcpy(bytes + 1, &d, sizeof d);
    ptc_buf_add(&out->buf, bytes, sizeof bytes);
}

/* A length that is not known before the text is written. */
static void set_text_length(PtcSqlOut *out, size_t at)
{
    uint32_t len = (uint32_t)(out->buf.len - at - sizeof len);
    if (ptc_buf_ok(&out->buf))
        memcpy(out->buf.data + at, &len, sizeof len);
}

static size_t begin_text(PtcSqlOut *out, char tag)
{
    uint32_t none = 0;
    ptc_sql_out_tag(out, tag);
    size_t at = out->buf.len;
    ptc_buf_add(&out->buf, &none, sizeof none);
    return at;
}

void ptc_sql_out_text(PtcSqlOut *out, char tag, PtcText text)
{
    size_t at = begin_text(out, tag);
    if (text.len > (size_t)out->most_bytes)
        fail_out(out, "one of its values has more than %lld bytes", out->most_bytes);
    else if (ptc_utf8_valid(text.bytes, text.len))
        ptc_buf_add(&out->buf, text.bytes, text.len);
    else
        ptc_utf8_add(&out->buf, text);
    set_text_length(out, at);
}

void ptc_sql_out_bytes(PtcSqlOut *out, const void *bytes, size_t len)
{
    size_t at = begin_text(out, PTC_SQL_TEXT);
    if (len > (size_t)out->most_bytes)
        fail_out(out, "one of its values has more than %lld bytes", out->most_bytes);
    else
        ptc_base64_add(&out->buf, bytes, len, false);
    set_text_length(out, at);
}

static size_t count_name(const char *const *names, size_t count, const char *name)
{
    size_t times = 0;
    for (size_t i = 0; i < count; i++)
        times += strcmp(names[i], name) == 0;
    return times;
}

/* A name that comes again gets the next number behind it with which it is no other one. */
static int write_column_name(const char *const *names, size_t count, size_t i,
                             char name[COLUMN_NAME_MAX])
{
    size_t again = count_name(names, i, names[i]), number = 1;
    int len = snprintf(name, COLUMN_NAME_MAX, "%.*s", PTC_ARG_OF(names[i], COLUMN_NAME_CUT));
    while (again > 0) {
        len = snprintf(name, COLUMN_NAME_MAX, "%.*s_%zu", PTC_ARG_OF(names[i], COLUMN_NAME_CUT),
                       ++number);
        again -= count_name(names, count, name) == 0;
    }
    return len;
}

void ptc_sql_out_columns(PtcSqlOut *out, const char *const *names, size_t count)
{
    uint32_t n = (uint32_t)count;
    char name[COLUMN_NAME_MAX];
    ptc_sql_out_tag(out, PTC_SQL_TABLE);
    ptc_buf_add(&out->buf, &n, sizeof n);
    for (size_t i = 0; i < count; i++) {
        int len = write_column_name(names, count, i, name);
        ptc_sql_out_text(out, PTC_SQL_TEXT, (PtcText){name, (size_t)len});
    }
}
