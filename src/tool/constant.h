/* SPDX-License-Identifier: MIT
 * constant.h - tools whose answers are known in advance, for tests and mocks: one value, one error, or a table from
 * arguments to values.  The answers are in the heap of the set and are shared, never copied. */
#ifndef PTC_TOOL_CONSTANT_H
#define PTC_TOOL_CONSTANT_H

#include "tool/toolset.h"

/* Each fills in function and user of the tool, with memory of the set; the values must be in its heap.  False with
 * the reason, which begins with the key. */
PTC_MUST_USE bool ptc_constant_value(PtcTools *tools, PtcValue value, PtcTool *tool, char *why,
                                     size_t size);
PTC_MUST_USE bool ptc_constant_error(PtcTools *tools, PtcValue text, PtcTool *tool, char *why,
                                     size_t size);
/* entries: a map from arguments as JSON text to values; "*" stands for all others.  2 and 2.0 are different. */
PTC_MUST_USE bool ptc_constant_table(PtcTools *tools, PtcValue entries, PtcTool *tool, char *why,
                                     size_t size);

#endif
