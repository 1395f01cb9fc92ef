/* SPDX-License-Identifier: MIT
 * mock.h - tools for tests that do more than constants (constant.h): give back what they were given, answer in turn, take
 * their time. */
#ifndef PTC_TOOL_MOCK_H
#define PTC_TOOL_MOCK_H

#include "tool/toolset.h"

/* Answers with its arguments. */
PtcToolAnswer ptc_mock_echo(PtcToolCall *call, void *user);

/* Fills function and user of a tool that answers its nth call, from any thread, with the nth of `values` (a sequence in
 * the heap of the set), and goes on with the last.  {"$error": "text"} fails.  False with the reason. */
PTC_MUST_USE bool ptc_mock_seq(PtcTools *tools, PtcValue values, PtcTool *tool, char *why,
                               size_t size);

/* Lets the tool wait before it answers; a cancel ends the waiting.  False: no memory. */
PTC_MUST_USE bool ptc_mock_delay(PtcTools *tools, int64_t ms, PtcTool *tool);

#endif
