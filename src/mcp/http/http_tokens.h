/* SPDX-License-Identifier: MIT
 * http_tokens.h - bearer tokens and their owners.  Filled from the text of a file, then only read. */
#ifndef PTC_MCP_HTTP_HTTP_TOKENS_H
#define PTC_MCP_HTTP_HTTP_TOKENS_H

#include "base/mem.h"
#include "base/text.h"
#include "base/why.h"

enum {
    PTC_HTTP_TOKENS_MAX = 64,
    PTC_HTTP_TOKEN_MIN = 16, /* bytes; shorter ones can be guessed */
    PTC_HTTP_TOKEN_MAX = 256,
    PTC_HTTP_OWNER_MAX = 64,
};

typedef struct PtcHttpToken {
    size_t len;
    char bytes[PTC_HTTP_TOKEN_MAX]; /* zeros after the token */
    char owner[PTC_HTTP_OWNER_MAX];
} PtcHttpToken;

typedef struct PtcHttpTokens {
    PtcMem *mem;
    PtcHttpToken *token; /* room for PTC_HTTP_TOKENS_MAX */
    size_t count;
} PtcHttpTokens;

/* False: out of memory. */
PTC_MUST_USE bool ptc_http_tokens_init(PtcHttpTokens *tokens, PtcMem *mem);
/* Wipes them. */
void ptc_http_tokens_deinit(PtcHttpTokens *tokens);

/* Adds a token of `owner`, if it is acceptable. */
PTC_MUST_USE bool ptc_http_tokens_add(PtcHttpTokens *tokens, PtcText token, PtcText owner,
                                      PtcWhy *why);
/* Adds the tokens of a file's text: each line has `TOKEN` or `OWNER TOKEN`; empty lines and lines that start with #
 * are skipped.  A token without an owner belongs to "default".  The path of a failure is the line. */
PTC_MUST_USE bool ptc_http_tokens_read(PtcHttpTokens *tokens, PtcText text, PtcWhy *why);

/* The token that equals `given`, or NULL; takes the same time whichever it is. */
const PtcHttpToken *ptc_http_tokens_find(const PtcHttpTokens *tokens, PtcText given);
bool ptc_http_tokens_have_owner(const PtcHttpTokens *tokens, const char *owner);
/* How many owners there are. */
size_t ptc_http_tokens_owners(const PtcHttpTokens *tokens);

#endif
