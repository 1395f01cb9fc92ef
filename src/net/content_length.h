/* SPDX-License-Identifier: MIT
 * content_length.h - how long a body is said to be.  What a server says of it decides how much is waited for, so it
 * must be one number and nothing else. */
#ifndef PTC_NET_CONTENT_LENGTH_H
#define PTC_NET_CONTENT_LENGTH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

/* The value of a header Content-Length, blanks around it included.  *out: the number, INT64_MAX where it is larger than
 * any that could be meant.  False: it is none. */
bool ptc_content_length(PtcText value, int64_t *out);

#endif
