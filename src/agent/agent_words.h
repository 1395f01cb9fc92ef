/* SPDX-License-Identifier: MIT
 * agent_words.h - everything that agents say to models, in one place. */
#ifndef PTC_AGENT_AGENT_WORDS_H
#define PTC_AGENT_AGENT_WORDS_H

#include "agent/definition.h"

/* The description of a built-in tool. */
const char *ptc_words_builtin(PtcAgentToolKind kind);

#endif
