/* SPDX-License-Identifier: MIT
 * seen.h - what results of a tool were like, for tools that do not say: names and types as json/sketch.h writes them,
 * never values.
 *
 * Keys may be data too: ids, addresses, names of people.  What is no identifier, what looks as if a machine had made
 * it, what has a secret in it, and what stands beside many others of one shape is not kept: its map is a "map of".
 * Texts that were kept somewhere are read by the same rules, so that no file can put more into a prompt than a
 * result could. */
#ifndef PTC_TOOL_SEEN_SEEN_H
#define PTC_TOOL_SEEN_SEEN_H

#include "base/buf.h"
#include "trace/redact.h"
#include "value/heap.h"

enum {
    PTC_SEEN_BYTES = 2048,          /* of one text */
    PTC_SEEN_MAPS = 1000,           /* of a result that are looked at */
    PTC_SEEN_LOOKED = 100 * PTC_KB, /* likewise, of keys and values; a value counts as 16 */
    PTC_SEEN_DEPTH = 8,             /* maps and lists inside each other */
    PTC_SEEN_KEYS = 64,             /* of one map */
    PTC_SEEN_ALIKE = 24,            /* keys of one shape; more are data */
    PTC_SEEN_KEY_BYTES = 64,        /* of a key */
};

/* Appends what a result is like.  `secrets` (or NULL) are in no key.  False: out of memory. */
PTC_MUST_USE bool ptc_seen_shape(PtcMem *mem, const PtcSecrets *secrets, PtcValue result,
                                 PtcBuf *out);

/* Appends what results are like of which some were like the one and some like the other.  Texts may be any bytes; one
 * that cannot be read counts for nothing.  False: out of memory. */
PTC_MUST_USE bool ptc_seen_merge(PtcMem *mem, const PtcSecrets *secrets, PtcText one, PtcText other,
                                 PtcBuf *out);

/* Appends a shape in at most this many bytes, for readers; as `any` if it is none. */
void ptc_seen_add_short(PtcBuf *out, PtcText shape, size_t most);

/* Does what a tool declares (in the same notation) leave something open that can be learnt? */
bool ptc_seen_leaves_open(PtcMem *mem, PtcText declared);

/* ---- seen_key.c */
/* Does a key look like data, not like the name of a member? */
bool ptc_seen_is_data(PtcText key);

#endif
