/* SPDX-License-Identifier: MIT
 * header_value.h - texts of any kind as values of the headers that MCP has. */
#ifndef PTC_MCP_CLIENT_HEADER_VALUE_H
#define PTC_MCP_CLIENT_HEADER_VALUE_H

#include "base/buf.h"

/* As it is when it has only visible ASCII and blanks inside; else, and when it looks encoded, as =?base64?...?=, so
 * that no text can end a header. */
bool ptc_header_value_add(PtcBuf *out, PtcText text);

#endif
