/* SPDX-License-Identifier: MIT
 * entry_identity.h - what an entry stands for: consent that was given to one server is not given to another that
 * happens to have its name. */
#ifndef PTC_UPSTREAM_CONFIG_ENTRY_IDENTITY_H
#define PTC_UPSTREAM_CONFIG_ENTRY_IDENTITY_H

#include "upstream/config/entry.h"

/* Appends a text that is the same for entries that start the same program with the same arguments in the same
 * directory, or lead to the same address, with variables, headers and credentials of the same names.  It may hold
 * secrets.  False: out of memory. */
PTC_MUST_USE bool ptc_entry_identity(const PtcEntry *entry, PtcHeap *heap, PtcBuf *out);

#endif
