/* SPDX-License-Identifier: MIT
 * mock.h - tools for tests that do more than constants (constant.h): echo their arguments, answer in sequence, take
 * time. */
#ifndef PTC_TOOL_KIND_MOCK_H
#define PTC_TOOL_KIND_MOCK_H

#include "tool/toolset.h"

/* "echo" answers with its arguments.  "seq" answers its nth call, from any thread, with the nth of its values, and
 * repeats the last one; {"$error": "text"} among them fails. */
extern const struct PtcToolKind ptc_mock_echo, ptc_mock_seq;

/* Makes the tool wait before it answers; a cancel ends the wait.  False: out of memory. */
PTC_MUST_USE bool ptc_mock_delay(PtcTools *tools, int64_t ms, PtcTool *tool);

#endif
