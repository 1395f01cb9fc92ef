/* SPDX-License-Identifier: MIT
 * Loads zlib. */
#include "data/zlib_library.h"

#include <stdio.h>

#include "base/library.h"

static const char *const files[] = {"libz.so.1", "libz.so", NULL};
static const char *const names[] = {"inflateInit2_", "inflate", "inflateReset", "inflateEnd"};

void *ptc_zlib_load(PtcZlib *lib, PtcWhy *why)
{
    const char *missing;
    void *so = PTC_LIBRARY_LOAD(files, names, lib, &missing);
    if (!so)
        ptc_why_say(
            why, PTC_WHY_UNAVAILABLE,
            "it is packed with gzip, and zlib (libz.so.1) is not installed: unpack it first");
    return so;
}
