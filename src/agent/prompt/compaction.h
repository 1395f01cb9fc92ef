/* SPDX-License-Identifier: MIT
 * compaction.h - which messages of a long conversation are sent.  A turn is an assistant's message with everything up
 * to the next one.  Only whole turns are kept, so calls stay with their answers and roles alternate. */
#ifndef PTC_AGENT_PROMPT_COMPACTION_H
#define PTC_AGENT_PROMPT_COMPACTION_H

#include "agent/definition/definition_parts.h"
#include "agent/prompt/messages.h"

/* What was sent in the last request. */
typedef struct PtcCompacted {
    bool enabled, triggered;
    const char *reason; /* "turn_pressure", "token_pressure"; NULL: not triggered */
    size_t messages_before, messages_after;
    uint64_t tokens_before, tokens_after; /* estimated */
    bool kept_initial_user;
    int64_t kept_recent_turns;
    bool over_budget; /* a single message that is kept already exceeds trigger.tokens */
} PtcCompacted;

/* What is to be sent: `first`, one message (or NULL: none), then the messages from `from` on. */
typedef struct PtcSending {
    const PtcMessage *first;
    size_t from;
} PtcSending;

/* Decides for the request of turn number `turn` (from 1).  `mission` is the number of the mission's message, `note`
 * replaces it when it is left out too.  *out is filled when the rule is enabled. */
PtcSending ptc_compaction_decide(const PtcCompactionRule *rule, const PtcConversation *c,
                                 size_t mission, int64_t turn, const PtcMessage *note,
                                 PtcCompacted *out);

#endif
