/* SPDX-License-Identifier: MIT
 * number.h - text of doubles, in both directions, independent of the locale. */
#ifndef PTC_VALUE_NUMBER_NUMBER_H
#define PTC_VALUE_NUMBER_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/compiler.h"

enum { PTC_DOUBLE_TEXT = 40 }; /* room for any double's text */

/* Shortest text that reads back as the same double, as Clojure prints it: 1.0, 0.001, 123456.789,
 * 1.0E7, 1.0E-4, -0.0, ##Inf, ##-Inf, ##NaN.  Returns the length; out gets a NUL. */
size_t ptc_double_print(double d, char out[PTC_DOUBLE_TEXT]);

/* The same as JSON: 1.0, 12345678.0, 1.0e21, 1.5e-7; plain from 1e-6 to below 1e16.  d must be
 * finite. */
size_t ptc_double_json(double d, char out[PTC_DOUBLE_TEXT]);

/* The double nearest to d rounded to `precision` digits after the point (0 to 15).  The exact value of d is rounded;
 * ties go away from zero. */
double ptc_double_round(double d, int precision);

/* Reads the whole text as sign? digits (. digits?)?  ((e|E) sign? digits)?, rounded correctly.  False if it is
 * anything else.  Overflow gives infinity, underflow zero. */
PTC_MUST_USE bool ptc_double_parse(const char *text, size_t len, double *out);

#endif
