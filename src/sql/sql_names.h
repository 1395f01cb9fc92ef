/* SPDX-License-Identifier: MIT
 * sql_names.h - the parameters of a question, written :name, as the databases themselves would find them: none is in a
 * string, a quoted identifier, a comment or a text between dollars, and a :: is a cast. */
#ifndef PTC_SQL_SQL_NAMES_H
#define PTC_SQL_SQL_NAMES_H

#include "base/buf.h"
#include "base/why.h"
#include "sql/sql.h"

enum { PTC_SQL_NAMES_MAX = 200, PTC_SQL_TEXT_MAX = 1024 * 1024 };

typedef struct PtcSqlNames {
    PtcText first;                    /* the word that it begins with; absent: it has none */
    PtcText names[PTC_SQL_NAMES_MAX]; /* each once, in the order in which they come */
    size_t count;
} PtcSqlNames;

/* Finds them.  `numbered` (or NULL) gets the text with $1, $2 ... in their place.  False: the question can be none. */
PTC_MUST_USE bool ptc_sql_names(PtcSqlDialect dialect, PtcText sql, PtcSqlNames *out,
                                PtcBuf *numbered, PtcWhy *why);

/* Is it a word that questions begin with, or (write) changes?  Everything else would be about the session. */
bool ptc_sql_word_fits(PtcText first, bool write);

#endif
