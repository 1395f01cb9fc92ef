/* SPDX-License-Identifier: MIT
 * mock.h - tools for tests that do more than constants (constant.h): echo their arguments, answer in sequence, take
 * time. */
#ifndef PTC_TOOL_MOCK_H
#define PTC_TOOL_MOCK_H

#include "tool/toolset.h"

/* Answers with its arguments. */
PtcToolAnswer ptc_mock_echo(PtcToolCall *call, void *user);

/* Fills in function and user of a tool that answers its nth call, from any thread, with the nth of `values` (a
 * sequence in the heap of the set), and repeats the last one.  {"$error": "text"} fails.  False with the reason. */
PTC_MUST_USE bool ptc_mock_seq(PtcTools *tools, PtcValue values, PtcTool *tool, char *why,
                               size_t size);

/* Makes the tool wait before it answers; a cancel ends the wait.  False: out of memory. */
PTC_MUST_USE bool ptc_mock_delay(PtcTools *tools, int64_t ms, PtcTool *tool);

#endif
