/* SPDX-License-Identifier: MIT
 * schema_help.h - schemas compiled and applied, for the tests of JSON Schema. */
#ifndef PTC_TESTS_SCHEMA_HELP_H
#define PTC_TESTS_SCHEMA_HELP_H

#include "json_help.h"

#include "tool/schema/schema.h"

static PtcArena arena;
static PtcSchemaIssues issues;
static PtcSchemaError mistake;

static inline const PtcSchema *compile(PtcValue schema)
{
    const PtcSchema *made;
    bool ok = ptc_schema_compile(&arena, &h.mem, &h.budget, schema, &made, &mistake);
    CHECK(ok == (made != NULL) && ok == !mistake.message[0]);
    return made;
}

/* The verdict; with and without issues it must be the same. */
static inline PtcSchemaVerdict validate(const PtcSchema *schema, PtcValue v)
{
    PtcSchemaVerdict got = ptc_schema_validate(schema, v, &h.mem, &h.budget, &issues);
    CHECK(ptc_schema_validate(schema, v, &h.mem, &h.budget, NULL) == got);
    CHECK((issues.count > 0) == (got == PTC_SCHEMA_INVALID));
    return got;
}

#endif
