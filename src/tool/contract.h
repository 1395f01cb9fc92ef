/* SPDX-License-Identifier: MIT
 * contract.h - what an answer must be, and whether a value is that.
 *
 * A value counts as what it becomes in JSON (a keyword is a string, a set a list), and the answer is that JSON, with
 * underscores in the names of keys at every depth.  So what has no JSON form (functions, infinities, two keys that
 * become the same) does not fit any contract, not even an empty one.  Nothing here changes a contract: threads may
 * share one. */
#ifndef PTC_TOOL_CONTRACT_H
#define PTC_TOOL_CONTRACT_H

#include "json/sketch.h"
#include "tool/schema/schema.h"
#include "tool/sig/sig.h"

/* At most one of the two; neither: any value that has a JSON form. */
typedef struct PtcContract {
    const PtcSig *sig; /* what comes after its arrow */
    const PtcSchema *schema;
    const PtcSketch *sketch; /* the same as far as a sketch can say it; NULL: anything */
} PtcContract;

typedef enum {
    PTC_FITS,
    PTC_MISFIT,
    PTC_UNJUDGED, /* the heap's budget stopped, or out of memory: the budget says which */
} PtcFit;

/* Judges a value.  PTC_FITS: `json` got the answer.  PTC_MISFIT: `issues` got at least one finding, as
 * [{"path":["rows",0,"id"],"message":"expected int, got string \"x\""}]; `json` got the value's JSON if it has one,
 * else nothing.  An answer that is longer than `json` may become does not fit.  float_precision as in convert.h.  Both
 * buffers must be empty. */
PTC_MUST_USE PtcFit ptc_contract_judge(const PtcContract *contract, PtcHeap *heap, PtcValue v,
                                       int float_precision, PtcBuf *json, PtcBuf *issues);

#endif
