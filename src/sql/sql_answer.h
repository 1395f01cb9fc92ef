/* SPDX-License-Identifier: MIT
 * sql_answer.h - one question in the process that answers it. */
#ifndef PTC_SQL_SQL_ANSWER_H
#define PTC_SQL_SQL_ANSWER_H

#include "sql/sql_names.h"
#include "sql/sql_out.h"
#include "value/heap.h"

typedef struct PtcSqlTask {
    PtcHeap *heap;
    PtcText url, query;
    PtcSqlNames names; /* of its parameters; the first word fits */
    PtcValue params;   /* a map */
    bool write, allow_writing_role;
    int64_t ms;
    PtcSqlOut out;
} PtcSqlTask;

/* Each tells a failure on standard error and gives the exit status. */
int ptc_sql_answer_lite(PtcSqlTask *task);
int ptc_sql_answer_pg(PtcSqlTask *task);

/* The value of the nth parameter; PTC_NIL if there is none. */
PtcValue ptc_sql_param(const PtcSqlTask *task, size_t n);

#endif
