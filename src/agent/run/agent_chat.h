/* SPDX-License-Identifier: MIT
 * agent_chat.h - one agent and many messages of a user.
 *
 *     PtcAgentChat chat;            ptc_agent_chat_open(&chat, def, &host, &input, &fault);
 *       for each message:           ptc_agent_chat_begin(&chat, &run, message, &options);
 *                                   ptc_agent_run_go(&run);             the answer is in run.step.now.verdict
 *                                   ptc_agent_chat_keep(&chat, &run);
 *                                   ptc_agent_run_end(&run);
 *                                   ptc_agent_chat_close(&chat);
 *
 * A message takes the place of the agent's prompt, unchanged: it is not a template.  What was said, what programs
 * defined, *1, the journal and the cache are kept from one message to the next; turns, tokens and the deadline start
 * afresh. */
#ifndef PTC_AGENT_RUN_AGENT_CHAT_H
#define PTC_AGENT_RUN_AGENT_CHAT_H

#include "agent/run/agent_run.h"

typedef struct PtcAgentChat {
    PtcAgentDef *def;   /* held */
    PtcWorkInput input; /* borrowed */
    PtcAgentTree tree;  /* of the current run, or the last one */
    PtcWork work;
    PtcMem mem;
    PtcArena arena; /* of the messages */
    PtcMessage *messages;
    size_t count;
} PtcAgentChat;

/* False with the fault: the agent cannot chat, or the input does not fit.  ptc_agent_chat_close in any case. */
PTC_MUST_USE bool ptc_agent_chat_open(PtcAgentChat *chat, PtcAgentDef *def, const PtcTreeHost *host,
                                      const PtcWorkInput *input, PtcWhy *fault);
void ptc_agent_chat_close(PtcAgentChat *chat);

/* Fills in a run that answers the message, which is borrowed until the run ends.  The options input, messages, work
 * and stream are set by the chat. */
void ptc_agent_chat_begin(PtcAgentChat *chat, PtcAgentRun *run, PtcText message,
                          const PtcAgentOptions *options);
/* Takes over what was said in a run that has ended.  A message that got no reply leaves nothing behind, so that it
 * can be sent again.  False: out of memory, and the conversation is as it was before. */
PTC_MUST_USE bool ptc_agent_chat_keep(PtcAgentChat *chat, const PtcAgentRun *run);
/* Forgets everything.  False with the fault: the chat can then only be closed with ptc_agent_chat_close. */
PTC_MUST_USE bool ptc_agent_chat_reset(PtcAgentChat *chat, PtcWhy *fault);

#endif
