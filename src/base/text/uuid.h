/* SPDX-License-Identifier: MIT
 * uuid.h - UUIDs as text. */
#ifndef PTC_BASE_TEXT_UUID_H
#define PTC_BASE_TEXT_UUID_H

#include <stdbool.h>
#include <stddef.h>

/* xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx, hexadecimal in either case? */
bool ptc_is_uuid(const char *text, size_t len);

#endif
