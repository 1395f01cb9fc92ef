/* SPDX-License-Identifier: MIT
 * rule_check.h - rules that are about nothing, as misspelt ones are: what they were to forbid must not be allowed in
 * silence. */
#ifndef PTC_UPSTREAM_CONFIG_RULE_CHECK_H
#define PTC_UPSTREAM_CONFIG_RULE_CHECK_H

#include "base/why.h"
#include "upstream/catalog/listing.h"

typedef void PtcRuleTell(void *user, PtcText line);

/* Rules of files, globs of server/tool.  False: one is for a server that no entry has, and `why` says so with the
 * nearest name.  Patterns that fit no server are told. */
PTC_MUST_USE bool ptc_rule_check_servers(PtcHeap *heap, PtcValue entries, PtcValue policy,
                                         PtcRuleTell *tell, void *user, PtcWhy *why);

/* Rules of an entry, and those of files for it, that fit none of the tools of its server: each is told (or tell is
 * NULL), and the first that would deny a tool by its name is noted in the listing (PtcListing.misspelt). */
void ptc_rule_check_tools(PtcListing *listing, const PtcEntry *entry, PtcValue policy,
                          PtcRuleTell *tell, void *user);

#endif
