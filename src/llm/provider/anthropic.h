/* SPDX-License-Identifier: MIT
 * anthropic.h - Anthropic's messages. */
#ifndef PTC_LLM_PROVIDER_ANTHROPIC_H
#define PTC_LLM_PROVIDER_ANTHROPIC_H

#include "llm/provider/wire.h"

enum {
    PTC_CLAUDE_ADAPTIVE = 406,  /* from this version on a model decides itself how much to think */
    PTC_CLAUDE_SCHEMA = 405,    /* from this version on it can be made to follow a schema */
    PTC_CLAUDE_OUTPUT = 8192,   /* tokens of a reply if nobody says */
    PTC_CLAUDE_THINKING = 1024, /* the fewest tokens to think with ... */
    PTC_CLAUDE_THINKING_MAX = 32768, /* ... and the most that we ask for */
};

extern const PtcDialect ptc_anthropic_dialect;

#endif
