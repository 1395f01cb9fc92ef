/* SPDX-License-Identifier: MIT
 * policy.h - what a tool does, and whether a program may call it. */
#ifndef PTC_UPSTREAM_CONFIG_POLICY_H
#define PTC_UPSTREAM_CONFIG_POLICY_H

#include "base/text.h"
#include "tool/call_reason.h"
#include "value/heap.h"

typedef enum {
    PTC_EFFECT_READ,
    PTC_EFFECT_WRITE,
    PTC_EFFECT_DESTRUCTIVE,
    PTC_EFFECT_UNKNOWN,
} PtcEffectKind;

typedef struct PtcEffect {
    PtcEffectKind kind;
    bool idempotent;
} PtcEffect;

/* A name as people may spell it in rules: as its server says it, as programs write it, and as the document of a service
 * calls it; absent: there is no such spelling. */
typedef struct PtcSpelt {
    PtcText raw, shown, other;
} PtcSpelt;

/* The words of files and answers: read, write, destructive, unknown. */
const char *ptc_effect_name(PtcEffectKind kind);
/* Reads "write" or "write idempotent".  False: it is neither, or unknown. */
bool ptc_effect_parse(PtcText text, PtcEffect *out);

/* What a tool does: as a person says in `effects` (a map from globs, or PTC_NONE), else as its annotations say
 * (likewise), when they are trusted.  What a person says in a similar spelling counts where it is stricter. */
PtcEffect ptc_effect_of(PtcHeap *heap, PtcSpelt tool, PtcValue annotations, PtcValue effects,
                        bool trust);

/* Of two effects that are stated for the same tool, the stricter one. */
PtcEffect ptc_effect_stricter(PtcEffect a, PtcEffect b);

/* In the order of strictness. */
typedef enum { PTC_POLICY_ALLOW, PTC_POLICY_ASK, PTC_POLICY_DENY } PtcPolicy;
const char *ptc_policy_name(PtcPolicy policy);
bool ptc_policy_parse(PtcText text, PtcPolicy *out);

typedef enum {
    PTC_POSTURE_DEFAULT,
    PTC_POSTURE_READ_ONLY,
    PTC_POSTURE_TRUSTING,
    PTC_POSTURE_ALLOW_ALL,
} PtcPosture;

typedef struct PtcPolicyIn {
    PtcSpelt server, tool;
    PtcValue annotations;     /* a map, or PTC_NONE */
    PtcValue was;             /* those before a change that nobody has approved; PTC_NONE: none */
    PtcValue effects;         /* of the upstream: globs -> effects; PTC_NONE: none */
    PtcValue upstream_policy; /* globs of tools -> decisions; PTC_NONE: none */
    PtcValue file_policy;     /* globs of server/tool -> decisions; PTC_NONE: none */
    PtcPosture posture;
    bool distrust; /* annotations are not looked at */
    bool approved; /* by a person, permanently */
    bool cannot_ask;
} PtcPolicyIn;

typedef struct PtcPolicyOut {
    PtcEffect effect;
    PtcPolicy decision;
    PtcCallReason why;
    const char *detail; /* a sentence about that; NULL: there is none */
} PtcPolicyOut;

PtcPolicyOut ptc_policy_decide(PtcHeap *heap, const PtcPolicyIn *in);

/* Does a glob with * and ? fit the whole text?  At worst it takes time proportional to the product of their lengths. */
bool ptc_policy_glob(PtcText glob, PtcText text);
/* Does it fit one of the spellings?  `loosely`, for what restricts: also without case, blanks, - _ . and other marks;
 * delete_* is about deleteAll too, though not about deleted. */
bool ptc_policy_fits(PtcText glob, PtcSpelt name, bool loosely);
/* Is it a name, without * and ?. */
bool ptc_policy_is_name(PtcText glob);

#endif
