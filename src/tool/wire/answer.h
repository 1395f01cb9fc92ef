/* SPDX-License-Identifier: MIT
 * answer.h - a call from the tool's side: what was asked, how much time is left, and the answer, which is given once,
 * on the thread that called or later from any (see call.h). */
#ifndef PTC_TOOL_WIRE_ANSWER_H
#define PTC_TOOL_WIRE_ANSWER_H

#include "tool/call.h"

/* The arguments as JSON, NUL-terminated, in call->json; NULL: out of memory.  Only inside the tool's function. */
const char *ptc_answer_args_json(PtcToolCall *call);
/* Has everybody stopped waiting?  Milliseconds until they do.  From any thread. */
bool ptc_answer_cancelled(PtcToolCall *call);
int64_t ptc_answer_time_left_ms(PtcToolCall *call);

/* Each ends the call; false: it came too late or was not understood, and the call has failed.  Values only inside the
 * function, made in call->data or taken from the arguments; texts are copied. */
bool ptc_answer_value(PtcToolCall *call, PtcValue value);
bool ptc_answer_json(PtcToolCall *call, PtcText json);
bool ptc_answer_fail(PtcToolCall *call, PtcText message);
/* A failure of which more is known: whether another try may go well, and whether this one may have taken effect.  Only
 * inside the function. */
bool ptc_answer_fault(PtcToolCall *call, PtcCallFault fault, PtcText message);

#endif
