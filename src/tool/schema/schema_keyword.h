/* SPDX-License-Identifier: MIT
 * schema_keyword.h - what each keyword adds to a node; for schema_compile.c. */
#ifndef PTC_TOOL_SCHEMA_SCHEMA_KEYWORD_H
#define PTC_TOOL_SCHEMA_SCHEMA_KEYWORD_H

#include "tool/schema/schema_int.h"
#include "value/coll/map.h"

/* Reads one member of a schema object; unknown ones have no meaning. */
PTC_MUST_USE bool ptc_schema_read_keyword(PtcSchemaCompiler *c, PtcSchemaPending *at, PtcText name,
                                          PtcValue value);

#endif
