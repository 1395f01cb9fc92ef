/* SPDX-License-Identifier: MIT
 * private_file.h - files that nobody but their owner may read or write: stores, keys, tokens. */
#ifndef PTC_BASE_PRIVATE_FILE_H
#define PTC_BASE_PRIVATE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/compiler.h"

/* False, with a text in why that says how to mend it, when others may read or write the file.  A file of root's that a
 * group may read is private: this is how service managers hand secrets to a service.  True too for what is no plain file
 * or cannot be looked at; whoever opens it hears why. */
PTC_MUST_USE bool ptc_private_file_check(const char *path, char *why, size_t size);

#endif
