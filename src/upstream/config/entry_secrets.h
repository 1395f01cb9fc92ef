/* SPDX-License-Identifier: MIT
 * entry_secrets.h - what of an entry nobody may read, by its name: variables that a server is given, and options on its
 * command line. */
#ifndef PTC_UPSTREAM_CONFIG_ENTRY_SECRETS_H
#define PTC_UPSTREAM_CONFIG_ENTRY_SECRETS_H

#include "upstream/config/entry.h"

/* Calls `hide` for each; false: it has failed. */
PTC_MUST_USE bool ptc_entry_secrets(const PtcEntry *entry, bool (*hide)(void *user, PtcText text),
                                    void *user);

#endif
