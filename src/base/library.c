/* SPDX-License-Identifier: MIT
 * Loading libraries.  What always holds: either every function was found, or the library is closed again. */
#include "base/library.h"

#include <dlfcn.h>
#include <string.h>

void *ptc_library_load(const char *const *files, const char *const *names, size_t count,
                       void *table, const char **missing)
{
    void *so = NULL;
    *missing = NULL;
    for (; !so && *files; files++)
        so = dlopen(*files, RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; so && i < count; i++) {
        void *at = dlsym(so, names[i]);
        memcpy((char *)table + i * sizeof at, &at, sizeof at);
        if (at)
            continue;
        *missing = names[i];
        dlclose(so);
        return NULL;
    }
    return so;
}

void ptc_library_share(const char *const *files)
{
    while (*files && !dlopen(*files, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD))
        files++;
}
