/* SPDX-License-Identifier: MIT
 * http_mhd.c - loads libmicrohttpd.  What always holds: either every function was found, or the library is closed
 * again. */
#include "mcp/http/http_mhd.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define LIBRARY "libmicrohttpd.so.12"

/* dlsym returns a data pointer; the function pointer is copied because a cast would not be portable C. */
static bool find_mhd_symbol(const PtcMhd *mhd, const char *name, void *to)
{
    void *symbol = dlsym(mhd->library, name);
    memcpy(to, &symbol, sizeof symbol);
    return symbol != NULL;
}

bool ptc_mhd_load(PtcMhd *mhd, char *why, size_t why_size)
{
    memset(mhd, 0, sizeof *mhd);
    mhd->library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!mhd->library) {
        (void)snprintf(why, why_size,
                       "HTTP needs " LIBRARY ", which is not installed here "
                       "(on Debian and Ubuntu: apt install libmicrohttpd12)");
        return false;
    }
#define PTC_MHD_FIND(name)                                                      \
    if (!find_mhd_symbol(mhd, #name, &mhd->name)) {                             \
        (void)snprintf(why, why_size, "%s has no function %s", LIBRARY, #name); \
        ptc_mhd_unload(mhd);                                                    \
        return false;                                                           \
    }
    PTC_MHD_FUNCTIONS(PTC_MHD_FIND)
#undef PTC_MHD_FIND
    mhd->trusts_nul = strncmp(mhd->MHD_get_version(), "0.", 2) == 0;
    return true;
}

void ptc_mhd_unload(PtcMhd *mhd)
{
    if (mhd->library)
        dlclose(mhd->library);
    mhd->library = NULL;
}
