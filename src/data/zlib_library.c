/* SPDX-License-Identifier: MIT
 * Loads zlib.  What always holds: either every function was found, or the library is closed again. */
#include "data/zlib_library.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char *const names[] = {"inflateInit2_", "inflate", "inflateReset", "inflateEnd"};
_Static_assert(sizeof names / sizeof *names == sizeof(PtcZlib) / sizeof(void *), "one name each");

static bool find_all(void *so, PtcZlib *lib)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *at = dlsym(so, names[i]);
        if (!at)
            return false;
        memcpy((char *)lib + i * sizeof at, &at, sizeof at);
    }
    return true;
}

void *ptc_zlib_load(PtcZlib *lib, char *why, size_t size)
{
    void *so = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!so)
        so = dlopen("libz.so", RTLD_NOW | RTLD_LOCAL);
    if (so && find_all(so, lib))
        return so;
    if (so)
        dlclose(so);
    snprintf(why, size,
             "it is packed with gzip, and zlib (libz.so.1) is not installed: unpack it first");
    return NULL;
}
