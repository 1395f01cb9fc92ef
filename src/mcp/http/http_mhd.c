/* SPDX-License-Identifier: MIT
 * http_mhd.c - loads libmicrohttpd. */
#include "mcp/http/http_mhd.h"

#include <stdio.h>
#include <string.h>

#include "base/library.h"

#define LIBRARY "libmicrohttpd.so.12"

bool ptc_mhd_load(PtcMhd *mhd, char *why, size_t why_size)
{
#define PTC_MHD_NAME(name) #name,
    static const char *const names[] = {PTC_MHD_FUNCTIONS(PTC_MHD_NAME)};
#undef PTC_MHD_NAME
    static const char *const files[] = {LIBRARY, NULL};
    const char *missing;
    if (PTC_LIBRARY_LOAD(files, names, mhd, &missing))
        return true;
    if (missing)
        (void)snprintf(why, why_size, "%s has no function %s", LIBRARY, missing);
    else
        (void)snprintf(why, why_size,
                       "HTTP needs " LIBRARY ", which is not installed here "
                       "(on Debian and Ubuntu: apt install libmicrohttpd12)");
    return false;
}

bool ptc_mhd_trusts_nul(const PtcMhd *mhd)
{
    return strncmp(mhd->MHD_get_version(), "0.", 2) == 0;
}
