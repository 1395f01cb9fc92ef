/* SPDX-License-Identifier: MIT
 * grants.h - tools that a person has allowed beyond one call: for a run, until the process ends, or permanently.
 *
 * A grant is for one owner, one tool of one server, and the definition that the tool had when it was given: a tool that
 * describes itself differently is another tool.  Nothing here takes a lock: the owner of the grants guards them. */
#ifndef PTC_UPSTREAM_GRANTS_H
#define PTC_UPSTREAM_GRANTS_H

#include "base/buf.h"
#include "base/hmac.h"

enum { PTC_GRANTS_MOST = 4096 };

typedef struct PtcGrant {
    uint8_t tool[PTC_SHA256_BYTES]; /* of owner, server and tool */
    uint8_t pin[PTC_SHA256_BYTES];
} PtcGrant;

typedef struct PtcGrants {
    PtcMem *mem;
    PtcGrant *items;
    size_t count, cap;
} PtcGrants;

void ptc_grants_init(PtcGrants *grants, PtcMem *mem);
void ptc_grants_deinit(PtcGrants *grants);

/* Whose grant of what it is. */
typedef struct PtcGrantOf {
    const char *owner;
    PtcText server, tool;
} PtcGrantOf;

/* False: out of memory, or there are too many.  An older one for another definition is replaced. */
PTC_MUST_USE bool ptc_grants_add(PtcGrants *grants, PtcGrantOf of,
                                 const uint8_t pin[PTC_SHA256_BYTES]);
/* With pin NULL: for any definition. */
bool ptc_grants_has(const PtcGrants *grants, PtcGrantOf of, const uint8_t *pin);

/* The permanent ones, in a file of the state directory, which other processes read and write too.  A file that is
 * broken, or that others may write, counts as empty. */
void ptc_grants_load(PtcGrants *grants, const char *state_dir);
/* False: it could not be written. */
PTC_MUST_USE bool ptc_grants_keep(PtcMem *mem, const char *state_dir, PtcGrantOf of,
                                  const uint8_t pin[PTC_SHA256_BYTES]);

#endif
