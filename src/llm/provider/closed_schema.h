/* SPDX-License-Identifier: MIT
 * closed_schema.h - JSON Schemas in the form that providers accept when they make a model follow one.  They want
 * every object closed, and refuse keywords they cannot enforce; what is left out here is checked when the answer is
 * read. */
#ifndef PTC_LLM_PROVIDER_CLOSED_SCHEMA_H
#define PTC_LLM_PROVIDER_CLOSED_SCHEMA_H

#include "llm/json_box.h"

typedef enum {
    PTC_CLOSED_SCHEMA_OPEN, /* some object may have members that are not named: nothing was written */
    PTC_CLOSED_SCHEMA_CLOSED, /* every object names all its members ... */
    PTC_CLOSED_SCHEMA_STRICT, /* ... and all of them are required */
} PtcClosedSchema;

/* Appends the schema so that every object says "additionalProperties": false.  Out of memory: the buffer fails. */
PtcClosedSchema ptc_closed_schema_write(PtcJsonBox *box, PtcText schema, PtcBuf *out);

#endif
