/* SPDX-License-Identifier: MIT
 * private_file.h - files that only their owner may read or write: stores, keys, tokens. */
#ifndef PTC_BASE_OS_PRIVATE_FILE_H
#define PTC_BASE_OS_PRIVATE_FILE_H

#include "base/why.h"

/* False, with a reason that says how to fix it, if others may read or write the file.  A file owned by root that
 * a group may read counts as private: this is how service managers pass secrets to a service.  Also true for what is
 * not a regular file or cannot be examined; whoever opens it learns why. */
PTC_MUST_USE bool ptc_private_file_check(const char *path, PtcWhy *why);

#endif
