/* SPDX-License-Identifier: MIT
 * sql_wire.h - what goes between the two processes.
 *
 * The question is a JSON object:
 *     {"url", "query", "params": {...}, "write"?, "allow_writing_role"?, "rows", "bytes", "ms"}
 *
 * The answer is one byte and what follows from it:
 *     PTC_SQL_CHANGED   a number: so many rows were changed
 *     PTC_SQL_TABLE     the number of columns (32 bits), their names as texts, and for each row PTC_SQL_ROW with a
 *                       value for each column; PTC_SQL_END behind the last one
 * A value is a byte of those below; a text is its length in 32 bits and its bytes.  Numbers are as this machine has
 * them. */
#ifndef PTC_SQL_SQL_WIRE_H
#define PTC_SQL_SQL_WIRE_H

enum {
    PTC_SQL_CHANGED = 'c',
    PTC_SQL_TABLE = 'T',
    PTC_SQL_ROW = 'r',
    PTC_SQL_END = 'e', /* of the rows, of a list */

    PTC_SQL_NIL = 'n',
    PTC_SQL_TRUE = 't',
    PTC_SQL_FALSE = 'f',
    PTC_SQL_INT = 'i',   /* 64 bits */
    PTC_SQL_FLOAT = 'd', /* 64 bits */
    PTC_SQL_TEXT = 's',  /* a text, and so are all of these */
    PTC_SQL_DECIMAL = 'm',
    PTC_SQL_JSON = 'j',
    PTC_SQL_DATE = 'D', /* in ISO 8601 */
    PTC_SQL_DATETIME = 'L',
    PTC_SQL_INSTANT = 'I',
    PTC_SQL_CLOCK = 'C',
    PTC_SQL_LIST = 'l', /* values, and PTC_SQL_END */
};

enum { PTC_SQL_DEPTH = 8 }; /* lists in lists */

#endif
