/* SPDX-License-Identifier: MIT
 * sql.h - the process that asks databases: this program started again, with a question on standard input and rows on
 * standard output (sql_wire.h); a failure is a text on standard error and an exit status. */
#ifndef PTC_SQL_SQL_H
#define PTC_SQL_SQL_H

#include "base/text.h"
#include "base/units.h"

#define PTC_SQL_ARGUMENT "--ptc-sql"

/* Exit statuses. */
enum {
    PTC_SQL_FAILED = 1,  /* the database said no, or we did before we asked it */
    PTC_SQL_UNKNOWN = 2, /* a change was sent, and nobody said whether it was made */
    PTC_SQL_BUSY = 75,   /* nothing was done, and another try may go well */
};

/* What a question may bring at most, unless it says less. */
enum {
    PTC_SQL_ROWS = 100000,
    PTC_SQL_ROWS_MAX = 10 * PTC_MILLION,
    PTC_SQL_MS = 30000,
    PTC_SQL_COLUMNS_MAX = 2000,
};

typedef enum { PTC_SQL_NONE, PTC_SQL_SQLITE, PTC_SQL_POSTGRES } PtcSqlDialect;

/* sqlite:FILE, postgres://... or postgresql://...; PTC_SQL_NONE: anything else. */
PtcSqlDialect ptc_sql_dialect(PtcText url);

/* A main() asks this first, so that the program can be started in this way. */
bool ptc_sql_asked(int argc, char **argv);
/* Did it?  Otherwise nobody would answer. */
bool ptc_sql_is_served(void);
int ptc_sql_main(void);

#endif
