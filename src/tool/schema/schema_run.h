/* SPDX-License-Identifier: MIT
 * schema_run.h - the state of one validation; for the files that check values. */
#ifndef PTC_TOOL_SCHEMA_SCHEMA_RUN_H
#define PTC_TOOL_SCHEMA_SCHEMA_RUN_H

#include "tool/schema/schema_int.h"

/* A place in the value: the step from the place above. */
typedef struct PtcSchemaPlace {
    const struct PtcSchemaPlace *up; /* NULL: the value itself */
    PtcValue key;                    /* of a map; PTC_NONE: index */
    size_t index;
    bool name; /* not the member itself but its name */
} PtcSchemaPlace;

/* A subschema that is being applied. */
typedef struct PtcSchemaFrame {
    const struct PtcSchemaFrame *up;
    const PtcSchemaNode *node;
    const PtcSchemaPlace *place;
} PtcSchemaFrame;

/* Which members or elements of one value were evaluated: a bit each. */
typedef struct PtcSchemaBits {
    uint64_t *words;
    size_t count; /* words */
    uint64_t few[2];
} PtcSchemaBits;

typedef struct PtcSchemaRun {
    PtcSchemaWork work;
    PtcSchemaIssues *issues; /* NULL: only the verdict matters */
    unsigned mute;           /* above 0: issues do not count, as inside `not` */
    unsigned depth;
    bool broken; /* no more can be said: budget, depth or an endless reference */
    /* Broken because of the schema or the value: invalid, with an issue that says why. */
    bool hopeless;
} PtcSchemaRun;

/* Ranks of issues: why an alternative does not fit.  The higher, the more likely it was meant. */
enum { PTC_SCHEMA_OTHER_TYPE, PTC_SCHEMA_OTHER_VALUE, PTC_SCHEMA_ALMOST };

/* --- schema_issue.c --- */

/* Is it worth continuing after a failure? */
static inline bool ptc_schema_collects(const PtcSchemaRun *run)
{
    return run->issues && !run->mute && !run->broken && run->issues->count < PTC_SCHEMA_MAX_ISSUES;
}
/* Adds an issue if they count.  `got` is appended as ", got string "abc"" unless it is PTC_NONE.  Always false. */
PTC_PRINTF(5, 6)
bool ptc_schema_complain(PtcSchemaRun *run, const PtcSchemaPlace *place, int rank, PtcValue got,
                         const char *format, ...);
/* The same, and ends the validation. */
bool ptc_schema_give_up(PtcSchemaRun *run, const PtcSchemaPlace *place, const char *why);
/* A short text of a value, for the messages. */
enum { PTC_SCHEMA_SHOWN = 64 };
const char *ptc_schema_show(PtcSchemaRun *run, PtcValue v, char out[PTC_SCHEMA_SHOWN]);

/* --- schema_check.c --- */

/* Applies a subschema to a value.  marks: where to note what was evaluated, or NULL. */
bool ptc_schema_apply(PtcSchemaRun *run, const PtcSchemaNode *node, PtcValue v,
                      const PtcSchemaPlace *place, const PtcSchemaFrame *up, PtcSchemaBits *marks);

/* --- schema_logic.c --- */

/* The rules that apply subschemas to the same place. */
bool ptc_schema_check_logic(PtcSchemaRun *run, const PtcSchemaFrame *frame, PtcValue v,
                            PtcSchemaBits *marks);

/* --- schema_object.c, schema_array.c --- */
bool ptc_schema_check_object(PtcSchemaRun *run, const PtcSchemaFrame *frame, PtcValue v,
                             PtcSchemaBits *marks);
bool ptc_schema_check_unevaluated_properties(PtcSchemaRun *run, const PtcSchemaFrame *frame,
                                             PtcValue v, const PtcSchemaBits *marks);
bool ptc_schema_check_array(PtcSchemaRun *run, const PtcSchemaFrame *frame, PtcValue v,
                            PtcSchemaBits *marks);
bool ptc_schema_check_unevaluated_items(PtcSchemaRun *run, const PtcSchemaFrame *frame, PtcValue v,
                                        const PtcSchemaBits *marks);

/* --- schema_check.c --- */

/* Does a pattern occur in a text?  str is the text as a value. */
bool ptc_schema_matches(PtcSchemaRun *run, const PtcSchemaPattern *pattern, PtcValue str,
                        const PtcSchemaPlace *place);

/* --- bits --- */
PTC_MUST_USE bool ptc_schema_bits_init(PtcSchemaRun *run, PtcSchemaBits *bits, size_t n);
void ptc_schema_bits_deinit(PtcSchemaRun *run, PtcSchemaBits *bits);
void ptc_schema_bits_merge(PtcSchemaRun *run, PtcSchemaBits *into, const PtcSchemaBits *from);

static inline void ptc_schema_mark(PtcSchemaBits *bits, size_t i)
{
    if (bits)
        bits->words[i / 64] |= (uint64_t)1 << (i % 64);
}

static inline bool ptc_schema_is_marked(const PtcSchemaBits *bits, size_t i)
{
    return (bits->words[i / 64] >> (i % 64) & 1) != 0;
}

#endif
