/* SPDX-License-Identifier: MIT
 * llm_json.h - requests and replies in our own JSON form, used by scripts, records and programs (docs/replay.md). */
#ifndef PTC_LLM_LLM_JSON_H
#define PTC_LLM_LLM_JSON_H

#include "base/why.h"
#include "llm/json_box.h"
#include "llm/reply_maker.h"

enum { PTC_LLM_JSON_VERSION = 1 };

/* Appends a request; false: out of memory, or the buffer is full. */
bool ptc_llm_json_write_request(PtcBuf *out, const PtcLlmRequest *request);

/* Appends a reply in a form that reads back unchanged. */
bool ptc_llm_json_write_reply(PtcBuf *out, const PtcLlmReply *reply);
/* The member "tokens" of an object. */
void ptc_llm_json_write_tokens(PtcBuf *out, const PtcTokens *tokens);
/* The member "cost_usd" in dollars; nothing where no cost is known. */
void ptc_llm_json_write_cost(PtcBuf *out, const PtcTokens *tokens);

/* Reads a reply, which may be a failure, into one that is being made; *sleep_ms is how long it should take.  False
 * with a reason if the value is not a reply. */
PTC_MUST_USE bool ptc_llm_json_read_reply(PtcJsonBox *box, PtcValue value, PtcReply *reply,
                                          int64_t *sleep_ms, PtcWhy *why);

/* Reads the text of a reply into one that is being made.  False: it is not a reply, which is a failure that names
 * `who`. */
bool ptc_llm_json_take_reply(PtcReply *reply, PtcText json, const char *who);

#endif
