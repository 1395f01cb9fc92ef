/* SPDX-License-Identifier: MIT
 * check.h - is a text JSON?  For text that is passed on as it is, from a source that is not trusted. */
#ifndef PTC_JSON_CHECK_H
#define PTC_JSON_CHECK_H

#include <stdbool.h>
#include <stddef.h>

/* One JSON value (RFC 8259, strictly) in valid UTF-8, nested at most PTC_JSON_MAX_DEPTH deep, without any control
 * character, line ends included, so that it can be put inside other JSON or on a line of its own.  Takes linear time
 * and allocates nothing. */
bool ptc_json_is_line(const char *text, size_t len);

/* Is the text, which begins with no white space, made of JSON values one behind the other, or if it is not the `whole`
 * text, the beginning of some?  Numbers, strings and words stand on lines of their own.  UTF-8 is not checked. */
bool ptc_json_begins(const char *text, size_t len, bool whole);

/* Length of the JSON value that the text begins with; 0: there is none.  As above, but white space of any kind is
 * allowed between its parts. */
size_t ptc_json_value_len(const char *text, size_t len);

#endif
