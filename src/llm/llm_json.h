/* SPDX-License-Identifier: MIT
 * llm_json.h - requests and replies in JSON of our own, which scripts, records and programs speak (docs/replay.md). */
#ifndef PTC_LLM_LLM_JSON_H
#define PTC_LLM_LLM_JSON_H

#include "llm/json_box.h"
#include "llm/reply_maker.h"

enum { PTC_LLM_JSON_VERSION = 1 };

/* Appends a request; false: no memory, or the buffer is full. */
bool ptc_llm_json_write_request(PtcBuf *out, const PtcLlmRequest *request);

/* Appends a reply, so that reading it gives the same again. */
bool ptc_llm_json_write_reply(PtcBuf *out, const PtcLlmReply *reply);

/* Reads a reply into one in the making, which may be a failure; *sleep_ms is how long it is to take.  False with a reason
 * when the value is no reply. */
PTC_MUST_USE bool ptc_llm_json_read_reply(PtcJsonBox *box, PtcValue value, PtcReply *reply,
                                          int64_t *sleep_ms, char *why, size_t size);

/* Reads the text of a reply into one in the making.  False: it is none, which is a failure that says who wrote it. */
bool ptc_llm_json_take_reply(PtcReply *reply, PtcText json, const char *who);

#endif
