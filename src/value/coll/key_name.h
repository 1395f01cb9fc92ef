/* SPDX-License-Identifier: MIT
 * key_name.h - how a program writes a key of somebody's data. */
#ifndef PTC_VALUE_COLL_KEY_NAME_H
#define PTC_VALUE_COLL_KEY_NAME_H

#include "value/str.h"

enum { PTC_KEY_WRITTEN = 96 };

/* A string or keyword as the name of a keyword that finds it, without the colon: "Unit Price" as unit-price.  False:
 * no keyword does, as for "price (EUR)". */
bool ptc_key_as_name(PtcValue key, char out[PTC_KEY_WRITTEN]);
/* The same as a program writes it: :unit-price, or the text as a string literal.  What is too long is cut. */
const char *ptc_key_written(PtcValue key, char out[PTC_KEY_WRITTEN]);
/* Is it free of control characters, such as a line end? */
bool ptc_key_is_plain(PtcValue key);

#endif
