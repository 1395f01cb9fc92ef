/* SPDX-License-Identifier: MIT
 * check.h - is a text JSON?  For text that is passed on as it is, from a source that is not trusted. */
#ifndef PTC_JSON_CHECK_H
#define PTC_JSON_CHECK_H

#include <stdbool.h>
#include <stddef.h>

/* One JSON value (RFC 8259, strictly) in valid UTF-8, nested at most PTC_JSON_MAX_DEPTH deep, with no control
 * character in it, line ends included: it can stand inside other JSON and on a line of its own.  Linear, allocates
 * nothing. */
bool ptc_json_is_line(const char *text, size_t len);

/* Bytes of the JSON value that the text begins with, up to its end and no further; 0: there is none.  It is as above, but
 * may have white space of every kind between its parts. */
size_t ptc_json_value_len(const char *text, size_t len);

#endif
