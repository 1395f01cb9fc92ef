/* SPDX-License-Identifier: MIT
 * roots.h - the directories that a server is told to work in: `roots` of its entry. */
#ifndef PTC_UPSTREAM_ROOTS_H
#define PTC_UPSTREAM_ROOTS_H

#include "upstream/entry.h"

bool ptc_roots_any(const PtcEntry *entry);
/* The result of roots/list: addresses as they are written, paths as file: addresses.  False: out of memory. */
PTC_MUST_USE bool ptc_roots_put(const PtcEntry *entry, PtcBuf *out);

#endif
