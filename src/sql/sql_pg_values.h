/* SPDX-License-Identifier: MIT
 * sql_pg_values.h - values of PostgreSQL, which come and go as texts of a type. */
#ifndef PTC_SQL_SQL_PG_VALUES_H
#define PTC_SQL_SQL_PG_VALUES_H

#include "sql/sql_out.h"
#include "value/heap.h"

/* Writes a value of the type to the answer. */
void ptc_sql_pg_put(PtcSqlOut *out, unsigned type, PtcText text);
/* The text of a parameter of the type, and a NUL; false: it cannot be one. */
PTC_MUST_USE bool ptc_sql_pg_text(PtcHeap *heap, unsigned type, PtcValue v, PtcBuf *text);

#endif
