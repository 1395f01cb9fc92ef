/* SPDX-License-Identifier: MIT
 * roots.h - the directories that a server is told to work in: `roots` of its entry, else those of our client. */
#ifndef PTC_UPSTREAM_CONNECT_ROOTS_H
#define PTC_UPSTREAM_CONNECT_ROOTS_H

#include "upstream/config/entry.h"

enum {
    PTC_ROOTS = 64, /* of a client */
    PTC_ROOT_URI = 4096,
    PTC_ROOT_NAME = 200,
    PTC_ROOTS_BYTES = 512 * PTC_KB
};

struct PtcUpstream;

/* Does the entry have some? */
bool ptc_roots_any(const PtcEntry *entry);
/* With manager->lock held: may the server ask for the roots of our client?  Not when its entry has `roots`, be it an
 * empty list. */
bool ptc_roots_of_client(const struct PtcUpstream *up);
/* With manager->lock held: the result of roots/list.  Of an entry addresses as they are written, paths as file:
 * addresses; of a client (when `client` allows that) what it said last.  False: it has none, or out of memory. */
PTC_MUST_USE bool ptc_roots_answer(const struct PtcUpstream *up, bool client, PtcBuf *out);
/* What a client answered to roots/list, as far as it can be passed on: files only, so many, of such lengths.  How many
 * entries were left out. */
size_t ptc_roots_read(PtcMem *mem, PtcText result, PtcBuf *out);

#endif
