/* SPDX-License-Identifier: MIT
 * sql_out.h - the rows of an answer on their way to standard output.
 *
 * Failure is sticky, and is told on standard error once. */
#ifndef PTC_SQL_SQL_OUT_H
#define PTC_SQL_SQL_OUT_H

#include "base/buf.h"
#include "sql/sql_wire.h"

typedef struct PtcSqlOut {
    PtcBuf buf;
    int64_t rows, bytes;           /* written so far */
    int64_t most_rows, most_bytes; /* allowed */
    bool failed;
} PtcSqlOut;

void ptc_sql_out_init(PtcSqlOut *out, PtcMem *mem, int64_t most_rows, int64_t most_bytes);
/* Names of columns: ptc_sql_out_text for each; one that comes again gets a number. */
void ptc_sql_out_columns(PtcSqlOut *out, const char *const *names, size_t count);
/* False: there are too many, or nobody reads them any more. */
bool ptc_sql_out_row(PtcSqlOut *out);
bool ptc_sql_out_end(PtcSqlOut *out);
bool ptc_sql_out_flush(PtcSqlOut *out);
void ptc_sql_out_tag(PtcSqlOut *out, char tag);
void ptc_sql_out_int(PtcSqlOut *out, char tag, int64_t n);
void ptc_sql_out_float(PtcSqlOut *out, double d);
/* Made UTF-8 if it is not. */
void ptc_sql_out_text(PtcSqlOut *out, char tag, PtcText text);
/* Bytes as base64. */
void ptc_sql_out_bytes(PtcSqlOut *out, const void *bytes, size_t len);

/* What is wrong, on standard error. */
bool ptc_sql_say(const char *format, ...) PTC_PRINTF(1, 2);

#endif
