/* SPDX-License-Identifier: MIT
 * seal.h - bytes that a client keeps for us and must give back unchanged: cursors, request states.
 *
 * A sealed text is base64url(HMAC-SHA-256 cut to 16 bytes, payload).  The MAC covers the payload and a context that
 * both sides know, so a text sealed for one use is not accepted for another.  It is authenticated, not secret. */
#ifndef PTC_MCP_SERVER_SEAL_H
#define PTC_MCP_SERVER_SEAL_H

#include "base/buf.h"

enum { PTC_SEAL_KEY = 32, PTC_SEAL_MAC = 16 };

/* Appends the sealed text. */
bool ptc_seal_add(PtcBuf *buf, const unsigned char key[PTC_SEAL_KEY], const void *context,
                  size_t context_len, const void *payload, size_t payload_len);
/* Appends the payload; false if the text was not sealed with this key and context. */
PTC_MUST_USE bool ptc_seal_open(PtcBuf *buf, const unsigned char key[PTC_SEAL_KEY],
                                const void *context, size_t context_len, const char *text,
                                size_t len);

#endif
