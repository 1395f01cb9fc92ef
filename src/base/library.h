/* SPDX-License-Identifier: MIT
 * library.h - shared libraries that are loaded when they are first needed. */
#ifndef PTC_BASE_LIBRARY_H
#define PTC_BASE_LIBRARY_H

#include <stddef.h>

/* Loads the first of the files that is there (the list ends in NULL), and fills a table of function pointers by the
 * names, one each.  NULL: it is not installed, or too old; then *missing is a name that it does not have, else NULL. */
void *ptc_library_load(const char *const *files, const char *const *names, size_t count,
                       void *table, const char **missing);
/* Shows the functions of the first of the files that is loaded to libraries that are loaded later and need it without
 * saying so. */
void ptc_library_share(const char *const *files);
#define PTC_LIBRARY_LOAD(files, names, table, missing)                                   \
    (__extension__({                                                                     \
        _Static_assert(sizeof(names) == sizeof *(table), "one name for each function");  \
        ptc_library_load(files, names, sizeof(names) / sizeof *(names), table, missing); \
    }))

#endif
