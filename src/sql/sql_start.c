/* SPDX-License-Identifier: MIT
 * What whoever asks has to know before it asks. */
#include "sql/sql.h"

static bool main_asks; /* the running program answers when it is started for that */

bool ptc_sql_asked(int argc, char **argv)
{
    main_asks = true;
    return argc == 2 && strcmp(argv[1], PTC_SQL_ARGUMENT) == 0;
}

bool ptc_sql_is_served(void)
{
    return main_asks;
}

PtcSqlDialect ptc_sql_dialect(PtcText url)
{
    if (ptc_text_starts(url, "sqlite:"))
        return PTC_SQL_SQLITE;
    return ptc_text_starts(url, "postgres://") || ptc_text_starts(url, "postgresql://")
               ? PTC_SQL_POSTGRES
               : PTC_SQL_NONE;
}
