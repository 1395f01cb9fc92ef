/* SPDX-License-Identifier: MIT
 * secret.h - bytes that others must not learn: compared in constant time, wiped after use, drawn from the system. */
#ifndef PTC_BASE_TEXT_SECRET_H
#define PTC_BASE_TEXT_SECRET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/compiler.h"

/* Are two secrets of the same length equal?  Takes the same time wherever they differ. */
bool ptc_secret_same(const void *a, const void *b, size_t len);
/* Overwrites a block in a way that the compiler does not optimize away. */
void ptc_secret_wipe(void *block, size_t len);
/* Unguessable bytes from the system; false when it has none. */
PTC_MUST_USE bool ptc_random_bytes(void *out, size_t len);

#endif
