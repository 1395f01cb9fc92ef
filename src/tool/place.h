/* SPDX-License-Identifier: MIT
 * place.h - how functions that recurse into nested values know where they are: each level has a step on the C stack
 * that points to the one above. */
#ifndef PTC_TOOL_PLACE_H
#define PTC_TOOL_PLACE_H

#include "json/path.h"

/* Levels of nested containers that a tool may be given; deeper ones are refused. */
enum { PTC_PLACE_DEPTH = 200 };

typedef struct PtcPlace {
    const struct PtcPlace *up; /* NULL: the value itself */
    PtcValue key;              /* of a map, or PTC_NONE */
    size_t index;              /* of a sequence */
    unsigned depth;
} PtcPlace;

/* Why arguments cannot be passed to a tool, or no key can be made from them. */
typedef struct PtcKeysError {
    bool stopped; /* not the fault of the arguments: the heap's budget says why */
    /* Of what is wrong, such as rows[0].ts; "" is the arguments as a whole. */
    char path[PTC_PATH_BYTES];
    char message[400]; /* a sentence about a tool's arguments, including the path */
    char what[160];    /* the same without path and tool: a function has no JSON */
} PtcKeysError;

static inline PtcPlace ptc_place_key(const PtcPlace *up, PtcValue key)
{
    return (PtcPlace){up, key, 0, up->depth + 1};
}

static inline PtcPlace ptc_place_index(const PtcPlace *up, size_t index)
{
    return (PtcPlace){up, PTC_NONE, index, up->depth + 1};
}

/* "rows[0].f is a function, but ..." or, at the top, "the argument is ...".  Always false. */
bool ptc_place_refuse(const PtcPlace *place, PtcKeysError *error, const char *what);
/* The same for containers nested deeper than PTC_PLACE_DEPTH.  Always false. */
bool ptc_place_too_deep(const PtcPlace *place, PtcKeysError *error);
/* Two keys of the map at this place that become the same.  Always false. */
bool ptc_place_clash(const PtcPlace *place, PtcKeysError *error, PtcValue first, PtcValue second);

#endif
