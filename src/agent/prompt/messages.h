/* SPDX-License-Identifier: MIT
 * messages.h - the conversation of a run: messages in the order in which they are sent, with ids for native calls
 * that no two calls share.
 *
 * What always holds: the first message is a user's; after one of a user comes one of the assistant; after an
 * assistant's with calls come the answers to all of them, in order; only then a user's.  Messages are only added,
 * never changed, and lie in the arena of the step; so a copy of the struct is a point to which one can return. */
#ifndef PTC_AGENT_PROMPT_MESSAGES_H
#define PTC_AGENT_PROMPT_MESSAGES_H

#include "agent/agent_fault.h"
#include "base/arena.h"
#include "base/buf.h"
#include "llm/llm.h"

typedef struct PtcConversation {
    PtcArena *arena;
    PtcMessage *items;
    uint32_t *tokens; /* estimated, of each */
    size_t count;
    size_t bytes; /* of all texts */
    /* Ids in use, as an open-addressed table, and their number. */
    PtcText *ids;
    size_t id_count, id_cap;
    uint64_t next_made;                                /* lower numbers are used up */
    int64_t (*count_tokens)(void *user, PtcText text); /* NULL: characters / 4 */
    void *count_user;
} PtcConversation;

void ptc_messages_init(PtcConversation *c, PtcArena *arena);

/* Can this conversation be continued?  If not, the path of the fault is the first message that cannot be where it is,
 * such as run.messages[3]. */
bool ptc_messages_check(const PtcMessage *items, size_t count, PtcWhy *why);
/* Adds copies of the messages of an earlier conversation that was checked; its last one may be a user's. */
PTC_MUST_USE bool ptc_messages_add_earlier(PtcConversation *c, const PtcMessage *items,
                                           size_t count);

/* Each adds one message with copies of its texts.  False: out of memory.  A user's text after another user's text is
 * joined to it. */
PTC_MUST_USE bool ptc_messages_add_user(PtcConversation *c, PtcText text);
PTC_MUST_USE bool ptc_messages_add_assistant(PtcConversation *c, PtcText content,
                                             const PtcMessageCall *calls, size_t call_count,
                                             PtcText opaque);
PTC_MUST_USE bool ptc_messages_add_tool(PtcConversation *c, const PtcMessageCall *call,
                                        PtcText content, bool is_error);
/* Of the message that was just added, a tool's: from `at` on, its content is a note of ours. */
void ptc_messages_mark_note(PtcConversation *c, size_t at);

/* The id that a call gets: the one it came with, or the first free tc_N when that is absent or taken.  The id is in
 * use from then on.  Absent: out of memory. */
PTC_MUST_USE PtcText ptc_messages_id(PtcConversation *c, PtcText id, uint64_t n);

/* A copy in the arena; an absent text stays absent.  Absent for any other: out of memory, and the arena has failed. */
PtcText ptc_messages_keep(PtcArena *arena, PtcText text);

/* Appends the answer to a call that gave no result: {"status":"error","reason":...,"message":...,"feedback":...}.
 * Without feedback the field is "": the message says everything. */
void ptc_messages_error(PtcBuf *out, PtcAgentFault reason, PtcText message, PtcText feedback);
/* Appends an answer of lisp_eval: `payload`, an object without feedback, with the feedback added. */
void ptc_messages_payload(PtcBuf *out, PtcText payload, PtcText feedback);

#endif
