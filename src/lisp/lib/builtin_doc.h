/* SPDX-License-Identifier: MIT
 * builtin_doc.h - the rows of the builtins as documentation: what doc, dir and apropos answer with, and
 * `ptc doc` and `ptc docs functions` print. */
#ifndef PTC_LISP_LIB_BUILTIN_DOC_H
#define PTC_LISP_LIB_BUILTIN_DOC_H

#include "lisp/vm/builtin.h"

enum { PTC_ROWS_MAX = 2048 };

/* Numbers of rows. */
typedef struct PtcRows {
    uint16_t at[PTC_ROWS_MAX];
    size_t count;
} PtcRows;

/* "ptc-builtin", "java-interop", "special-form". */
const char *ptc_row_kind(const PtcBuiltin *row);
/* "clojure.core", "java.lang.Math" ... */
const char *ptc_row_namespace(const PtcBuiltin *row);
/* A heading: "Core", "String Functions" ... */
const char *ptc_row_section(const PtcBuiltin *row);

/* The rows of this name: the one a program would find, else all with that bare name. */
void ptc_rows_named(PtcRows *rows, const char *name, size_t len);
/* Adds all others with this bare name, whatever their namespace. */
void ptc_rows_namesakes(PtcRows *rows, const char *name, size_t len);
/* The namespace as rows spell it ("str" is "clojure.string"), or NULL. */
const char *ptc_rows_namespace(const char *name, size_t len);
/* Its rows, by name. */
void ptc_rows_in(PtcRows *rows, const char *ns);
/* All namespaces, one by one: *pos starts at 0; NULL at the end. */
const char *ptc_rows_next_namespace(uint32_t *pos);
/* What (apropos query) finds, best first; *scores (may be NULL) of PTC_ROWS_MAX rows, by number. */
void ptc_rows_apropos(PtcRows *rows, const char *query, size_t len, int *scores);
/* How well a query fits something that is no row: its name and a text about it. */
int ptc_rows_score(const char *query, size_t len, const char *name, const char *text);

/* Name, doc, usage, examples; as (doc f) gives it. */
void ptc_row_describe(PtcBuf *buf, uint32_t index);

#endif
