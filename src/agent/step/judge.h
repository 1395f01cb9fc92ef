/* SPDX-License-Identifier: MIT
 * judge.h - an agent's answer: what it must be, whether a value is that, and the JSON that it becomes.
 *
 * Keys of maps get underscores for hyphens, at every depth.  Two keys that become the same, and values that have no
 * JSON form, are findings like any other. */
#ifndef PTC_AGENT_STEP_JUDGE_H
#define PTC_AGENT_STEP_JUDGE_H

#include "agent/step/bench.h"
#include "tool/schema/schema.h"
#include "tool/sig/sig.h"

/* How an answer that is not an object is wrapped for providers that require one: {"items": [...]}, {"value": x}. */
typedef enum { PTC_WRAP_NONE, PTC_WRAP_ITEMS, PTC_WRAP_VALUE } PtcWrap;

/* Everything may be absent: then any value will do. */
typedef struct PtcWant {
    const PtcSig *sig; /* its result */
    const PtcSchema *schema;
    PtcText schema_json; /* the same as text */
    PtcWrap wrap;
    int float_precision; /* of numbers in the JSON; -1: all digits */
} PtcWant;

/* Texts are in the bench's arena. */
typedef struct PtcJudged {
    bool fits;
    PtcText json;     /* absent: it has none */
    PtcText issues;   /* it does not fit: [{"path":["rows",0],"message":"..."}] */
    PtcText findings; /* the same, a line each */
} PtcJudged;

/* The type that is wanted, without `?`; NULL: none, or a schema is used instead. */
const PtcSigType *ptc_want_type(const PtcWant *want);

/* Judges a value, in any heap; new values are made in the bench's.  False: out of memory, or the budget stopped. */
PTC_MUST_USE bool ptc_judge(PtcBench *b, const PtcWant *want, PtcValue v, PtcJudged *out);

/* The lines of findings that came as JSON (tool/contract.h), in the bench's arena.  Absent: out of memory. */
PTC_MUST_USE PtcText ptc_judge_findings(PtcBench *b, PtcText issues);

#endif
