/* SPDX-License-Identifier: MIT
 * http_mhd.c - loads libmicrohttpd. */
#include "mcp/http/http_mhd.h"

#include <stdio.h>
#include <string.h>

#include "base/library.h"

#define LIBRARY "libmicrohttpd.so.12"

bool ptc_mhd_load(PtcMhd *mhd, PtcWhy *why)
{
#define PTC_MHD_NAME(name) #name,
    static const char *const names[] = {PTC_MHD_FUNCTIONS(PTC_MHD_NAME)};
#undef PTC_MHD_NAME
    static const char *const files[] = {LIBRARY, NULL};
    const char *missing;
    if (PTC_LIBRARY_LOAD(files, names, mhd, &missing))
        return true;
    if (missing)
        return ptc_why_say(why, PTC_WHY_UNAVAILABLE, "%s has no function %s", LIBRARY, missing);
    return ptc_why_say(why, PTC_WHY_UNAVAILABLE,
                       "HTTP needs " LIBRARY ", which is not installed here "
                       "(on Debian and Ubuntu: apt install libmicrohttpd12)");
}

bool ptc_mhd_trusts_nul(const PtcMhd *mhd)
{
    return strncmp(mhd->MHD_get_version(), "0.", 2) == 0;
}
