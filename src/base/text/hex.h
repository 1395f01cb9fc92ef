/* SPDX-License-Identifier: MIT
 * hex.h - bytes as hexadecimal digits in lower case. */
#ifndef PTC_BASE_TEXT_HEX_H
#define PTC_BASE_TEXT_HEX_H

#include "base/text.h"

/* Writes 2 * len digits, and a NUL behind them. */
void ptc_hex_write(char *out, const void *bytes, size_t len);
/* The text must be exactly 2 * len digits, which become `len` bytes. */
bool ptc_hex_read(PtcText text, void *out, size_t len);

#endif
