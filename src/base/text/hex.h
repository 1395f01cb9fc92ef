/* SPDX-License-Identifier: MIT
 * hex.h - bytes as hexadecimal digits in lower case. */
#ifndef PTC_BASE_TEXT_HEX_H
#define PTC_BASE_TEXT_HEX_H

#include <stddef.h>

/* Writes 2 * len digits, and a NUL behind them. */
void ptc_hex_write(char *out, const void *bytes, size_t len);

#endif
