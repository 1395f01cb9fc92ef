/* SPDX-License-Identifier: MIT
 * sql_tool.h - tools that are questions to databases: a fixed one, whose parameters are those of the tool, or any that
 * reads.  A process of its own asks (src/sql). */
#ifndef PTC_TOOL_KIND_SQL_TOOL_H
#define PTC_TOOL_KIND_SQL_TOOL_H

/* {"url", "query"?, "write"?, "allow_writing_role"?, "max_rows"?} */
extern const struct PtcToolKind ptc_sql_kind;

#endif
