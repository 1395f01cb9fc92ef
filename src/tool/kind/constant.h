/* SPDX-License-Identifier: MIT
 * constant.h - tools whose answers are known in advance, for tests and mocks: one value, one error, or a table from
 * arguments to values.  The answers are in the heap of the set and are shared, never copied. */
#ifndef PTC_TOOL_KIND_CONSTANT_H
#define PTC_TOOL_KIND_CONSTANT_H

/* The keys of a table are arguments as JSON text, of which 2 and 2.0 are different; "*" stands for all others. */
extern const struct PtcToolKind ptc_constant_value_kind, ptc_constant_error_kind,
    ptc_constant_table_kind;

#endif
