/* SPDX-License-Identifier: MIT
 * grants.h - tools that a person has allowed beyond one call: for a run, until the process ends, or permanently.
 *
 * A grant is for one owner and one tool of one server: of the server as its entry starts or reaches it, and of the tool
 * as it was defined when the grant was given.  Another server of that name is another server, and a tool that describes
 * itself differently is another tool.  Nothing here takes a lock: the owner of the grants guards them. */
#ifndef PTC_UPSTREAM_RUN_GRANTS_H
#define PTC_UPSTREAM_RUN_GRANTS_H

#include "base/buf.h"
#include "base/os/shelf.h"
#include "base/packed.h"
#include "base/text/hmac.h"
#include "base/why.h"

enum { PTC_GRANTS_MOST = 4096 };

typedef struct PtcGrant {
    uint8_t name[PTC_SHA256_BYTES]; /* of owner, server and tool */
    uint8_t entry[PTC_SHA256_BYTES];
    uint8_t pin[PTC_SHA256_BYTES];
    int64_t until_ms; /* 0: for good */
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
    const char *realm, *owner; /* where owners have this name, and the name */
    PtcText server, tool;
    const uint8_t *entry, *pin; /* digests: of what the server is, of the tool's definition */
} PtcGrantOf;

/* In the order of likeness. */
typedef enum {
    PTC_GRANT_NONE,
    PTC_GRANT_OTHER_ENTRY, /* for a tool and a server of these names, but another server */
    PTC_GRANT_OTHER_TOOL,  /* for this server, but another definition of the tool */
    PTC_GRANT_HOLDS,
} PtcGrantState;

/* Why a grant that lapsed does not hold, for a person; NULL: it has not, or there was none. */
const char *ptc_grant_lapse(PtcGrantState was);

/* False: out of memory, or there are too many.  An older one for another definition is replaced. */
PTC_MUST_USE bool ptc_grants_add(PtcGrants *grants, PtcGrantOf of);
PtcGrantState ptc_grants_find(const PtcGrants *grants, PtcGrantOf of);

/* As bytes, for another process; false: they are no such bytes, or out of memory, and `in` is bad. */
void ptc_grants_pack(const PtcGrants *grants, PtcBuf *out);
PTC_MUST_USE bool ptc_grants_unpack(PtcGrants *grants, PtcPackedReader *in);

/* False: out of memory; then none are there.  What was there before is dropped. */
PTC_MUST_USE bool ptc_grants_copy(PtcGrants *to, const PtcGrants *from);

enum { PTC_GRANTS_DAY_MS = 24 * 3600 * 1000 };

/* Those that outlive the process, on a shelf (NULL: there is none) that others read and write too: in files of all
 * owners, else of this one.  What is broken, or a file that others may write, counts as empty. */
PtcSheetStatus ptc_grants_load(PtcGrants *grants, PtcShelf *shelf, const char *realm,
                               const char *owner);
/* For good, or for so many milliseconds.  False: it could not be written, and why says so. */
PTC_MUST_USE bool ptc_grants_keep(PtcMem *mem, PtcShelf *shelf, PtcGrantOf of, int64_t ms,
                                  PtcWhy *why);

/* What stands for an owner in a file. */
void ptc_grants_owner(const char *realm, const char *owner, uint8_t out[PTC_SHA256_BYTES]);

#endif
