/* SPDX-License-Identifier: MIT
 * write.h - values as JSON text, without C recursion and without white space.
 *
 * Sequentials and sets become arrays.  Keywords and symbols become strings of their names.  A map's keys become
 * strings: numbers, booleans and nil by their printed text.  It is an error when two keys of one map become the same
 * string (:a and "a"), and so are NaN, infinities, functions, vars, and nesting deeper than the parser reads. */
#ifndef PTC_JSON_WRITE_H
#define PTC_JSON_WRITE_H

#include "base/buf.h"
#include "json/parse.h"

typedef struct PtcJsonWriter {
    PtcHeap *heap; /* for its budget and ledger; nothing is allocated in it but the key strings of
                      maps that mix types of keys */
    int float_precision; /* -1: shortest */
    /* Appends the JSON of what the value layer does not know (a date); may be NULL.  False: it has none; *what may
     * then be set to a name for it, such as "a duration".  For a map's key only a JSON string counts. */
    bool (*other)(const struct PtcJsonWriter *writer, PtcBuf *buf, PtcValue v, const char **what);
} PtcJsonWriter;

/* Appends the JSON of v.  False with *error filled: message says what cannot be JSON and where (`a function cannot
 * be JSON, at $.rows[2]`; what and path say the same in parts), that the buffer is full, or that the budget stopped.
 * What was appended until then stays in the buffer. */
PTC_MUST_USE bool ptc_json_write(const PtcJsonWriter *writer, PtcBuf *buf, PtcValue v,
                                 PtcJsonError *error);

/* The same for an answer: hyphens in keys become underscores at every depth, and keys that become equal clash.
 * `steps` gets the way to what cannot be JSON as a JSON array (["rows",2,"f"]); otherwise it is not touched. */
PTC_MUST_USE bool ptc_json_write_answer(const PtcJsonWriter *writer, PtcBuf *buf, PtcValue v,
                                        PtcBuf *steps, PtcJsonError *error);

/* Appends UTF-8 text as a JSON string, with its quotes. */
bool ptc_json_write_string(PtcBuf *buf, const char *text, size_t len);
/* The same without the quotes: a part of a string. */
bool ptc_json_write_escaped(PtcBuf *buf, const char *text, size_t len);

#endif
