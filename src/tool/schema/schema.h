/* SPDX-License-Identifier: MIT
 * schema.h - JSON Schema 2020-12: compiles a schema once, then validates any number of values with it.
 *
 * A compiled schema lives in the arena it was made in, has copies of everything it needs from the schema's value, and
 * never changes: any number of threads may validate with it at once.  All state of a validation is on the stack and
 * in the ledger it was given.
 *
 * Values need not come from JSON.  They count as what json/write.h makes of them: a keyword is a string, a keyword
 * key is its name, sequences and sets are arrays, dates and times are their ISO text.
 *
 * Both sides may be hostile.  Loops tick; a schema has at most PTC_SCHEMA_MAX_NODES subschemas; checks nest at most
 * PTC_SCHEMA_MAX_DEPTH deep; a reference that comes back to the same place of the value is detected; patterns are
 * matched as regex.h matches them.  Nothing outside of the schema's document is ever read. */
#ifndef PTC_TOOL_SCHEMA_SCHEMA_H
#define PTC_TOOL_SCHEMA_SCHEMA_H

#include "base/arena.h"
#include "base/budget.h"
#include "base/buf.h"
#include "value/value.h"

enum {
    PTC_SCHEMA_MAX_NODES = 10000, /* subschemas of one schema */
    PTC_SCHEMA_MAX_DEPTH = 256,   /* subschemas applied inside each other */
    PTC_SCHEMA_MAX_ISSUES = 20,
};

typedef struct PtcSchema PtcSchema;

/* Why a schema cannot be compiled. */
typedef struct PtcSchemaError {
    bool stopped;      /* not the schema's fault: the budget says why */
    char path[160];    /* the place in the schema: #/properties/id/type */
    char message[240]; /* one sentence */
} PtcSchemaError;

/* One thing that is wrong with a value. */
typedef struct PtcSchemaIssue {
    char path[160];    /* results[0].customer.id; empty: the value itself */
    char message[240]; /* expected integer, got string "abc" */
    char steps[200]; /* the path as a JSON array: ["results",0,"id"]; whole steps, as many as fit */
    uint16_t depth;  /* steps of the path */
    uint8_t rank;    /* for choosing between alternatives */
} PtcSchemaIssue;

typedef struct PtcSchemaIssues {
    size_t count;
    bool more; /* the list is full, or the rest of the value could not be examined */
    PtcSchemaIssue items[PTC_SCHEMA_MAX_ISSUES];
} PtcSchemaIssues;

typedef enum { PTC_SCHEMA_VALID, PTC_SCHEMA_INVALID, PTC_SCHEMA_STOPPED } PtcSchemaVerdict;

/* Compiles a schema: a boolean, or a map as JSON gives it.  *out lives as long as the arena; the schema's value is no
 * longer needed then.  mem is for temporary memory.  False with *error filled; what was allocated in the arena by
 * then stays there. */
PTC_MUST_USE bool ptc_schema_compile(PtcArena *arena, PtcMem *mem, PtcBudget *budget,
                                     PtcValue schema, const PtcSchema **out, PtcSchemaError *error);

/* Validates.  *issues is filled if the value is invalid, with at least one issue; it may be NULL if only the verdict
 * matters.  STOPPED: a limit of the budget was reached, or out of memory; the budget says which. */
PTC_MUST_USE PtcSchemaVerdict ptc_schema_validate(const PtcSchema *schema, PtcValue value,
                                                  PtcMem *mem, PtcBudget *budget,
                                                  PtcSchemaIssues *issues);

/* Appends "path: message", for the value itself only the message.  False if the buffer is full. */
bool ptc_schema_issue_text(PtcBuf *buf, const PtcSchemaIssue *issue);
/* Appends [{"path":["items",0,"id"],"message":"..."}]. */
bool ptc_schema_issues_json(PtcBuf *buf, const PtcSchemaIssues *issues);

#endif
