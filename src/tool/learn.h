/* SPDX-License-Identifier: MIT
 * learn.h - what results of the tools of a set are like, where their signatures do not say: learnt from calls, known as
 * long as the set.  A set that several people use must not learn: each would see what the others' results were like. */
#ifndef PTC_TOOL_LEARN_H
#define PTC_TOOL_LEARN_H

#include "tool/toolset.h"

/* Does it?  To be said before its first run; it does not unless somebody says so. */
void ptc_toolset_learn(PtcTools *tools, bool learns);

/* Does the tool leave what its results are like to whoever looks at them? */
bool ptc_tool_is_open(const PtcTool *tool);

/* A call of an open tool went well. */
void ptc_tool_learn(PtcTools *tools, uint32_t number, PtcMem *mem, PtcValue result);

/* Appends what results of a tool were like (tool/seen), if that is known; PtcHost.seen of a set. */
void ptc_tool_seen(const PtcHost *host, size_t tool, PtcBuf *out);

#endif
