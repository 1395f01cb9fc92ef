/* SPDX-License-Identifier: MIT
 * reply_maker.h - a reply that is being made: text and calls as they arrive, whole or in pieces, within the limits of
 * llm.h, and without secrets.  Pieces of text are passed on to the request's `stream`, except for an end that may be
 * the beginning of a secret. */
#ifndef PTC_LLM_REPLY_MAKER_H
#define PTC_LLM_REPLY_MAKER_H

#include "llm/llm.h"
#include "llm/provider/provider_keys.h"

enum {
    PTC_REPLY_NAME_BYTES = 1024, /* of an id or a name */
    PTC_REPLY_ERROR_BYTES = 230, /* of what a provider says */
    PTC_REPLY_OPAQUE_BYTES = 4 * PTC_MB,
};

typedef struct PtcReplyCall {
    int64_t key; /* the number a provider gave it */
    bool has_id, has_args;
    PtcBuf id, name, args;
} PtcReplyCall;

typedef struct PtcReply {
    PtcMem *mem;
    const PtcLlmRequest *request; /* its `stream` gets the pieces */
    const PtcProviderKeys *keys;  /* whose secrets are removed; NULL: none are known */
    PtcBuf text, held;            /* the text so far; the part that was not passed on yet */
    bool has_text;
    PtcReplyCall *calls;
    size_t call_count, call_cap;
    PtcBuf opaque; /* JSON, or empty */
    PtcTokens tokens;
    bool cut;
    bool streamed;
    PtcLlmStatus status; /* of the first failure */
    PtcBuf error;
    int64_t retry_after_ms;
} PtcReply;

void ptc_reply_init(PtcReply *reply, PtcMem *mem, const PtcLlmRequest *request,
                    const PtcProviderKeys *keys);
void ptc_reply_deinit(PtcReply *reply);

/* All of these return false after a failure, their own or an earlier one. */
bool ptc_reply_ok(const PtcReply *reply);
bool ptc_reply_add_text(PtcReply *reply, PtcText piece);
/* A new call; NULL when there are too many. */
PtcReplyCall *ptc_reply_new_call(PtcReply *reply, int64_t key);
/* The latest call with this number, or NULL. */
PtcReplyCall *ptc_reply_find_call(PtcReply *reply, int64_t key);
/* An absent text is not set. */
bool ptc_reply_set_id(PtcReply *reply, PtcReplyCall *call, PtcText id);
bool ptc_reply_set_name(PtcReply *reply, PtcReplyCall *call, PtcText name);
bool ptc_reply_add_args(PtcReply *reply, PtcReplyCall *call, PtcText piece);

/* Records a failure, unless there is one already; only the beginning of the text is kept in the end.  Always false. */
bool ptc_reply_fail(PtcReply *reply, PtcLlmStatus status, PtcText text);
bool ptc_reply_failf(PtcReply *reply, PtcLlmStatus status, const char *format, ...)
    PTC_PRINTF(3, 4);

/* Ends it: passes on what was held back and writes the result, whose texts are in the arena. */
void ptc_reply_finish(PtcReply *reply, PtcArena *arena, PtcLlmReply *out);

/* Shortcuts for models that have nothing to collect: a failure with a text, cut as above and without secrets. */
void ptc_reply_error(PtcLlmReply *out, PtcArena *arena, const PtcProviderKeys *keys,
                     PtcLlmStatus status, PtcText text);

/* A copy in the arena; absent with *failed set when out of memory, and for an absent text. */
PtcText ptc_reply_keep(PtcArena *arena, PtcText text, bool *failed);

#endif
