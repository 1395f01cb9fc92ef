/* SPDX-License-Identifier: MIT
 * oauth_scopes.h - scopes: words with blanks between them. */
#ifndef PTC_OAUTH_OAUTH_SCOPES_H
#define PTC_OAUTH_OAUTH_SCOPES_H

#include "base/arena.h"
#include "base/text.h"

/* Is the word among them?  NULL has none. */
bool ptc_oauth_scopes_have(const char *scopes, PtcText word);
/* All words of both, each once, in the arena.  Either may be NULL; NULL: neither has a word, or out of memory. */
const char *ptc_oauth_scopes_join(PtcArena *arena, const char *a, const char *b);

#endif
