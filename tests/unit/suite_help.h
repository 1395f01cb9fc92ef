/* SPDX-License-Identifier: MIT
 * suite_help.h - test suites that others publish, run where they lie: in the directory that the variable PTC_SUITES
 * names, or in ../shared/suites.  The project contains none of their files, so a test that misses its suite says so and
 * passes. */
#ifndef PTC_TESTS_SUITE_HELP_H
#define PTC_TESTS_SUITE_HELP_H

#include "json_help.h"

#include <dirent.h>
#include <errno.h>

enum { SUITE_PATH = 2048, SUITE_FILE_BYTES = 1 << 20 };

/* Writes the path of a part of the suites; false, with the reason on a line of its own, when it is not there. */
static inline bool suite_find(const char *part, char path[SUITE_PATH])
{
    const char *from = getenv("PTC_SUITES");
    bool named = from && *from;
    snprintf(path, SUITE_PATH, "%s/%s", named ? from : "../shared/suites", part);
    DIR *dir = opendir(path);
    if (dir)
        return closedir(dir) == 0;
    printf("skipped: no %s (%s)%s\n", path, strerror(errno),
           named ? "" : "; PTC_SUITES names the directory of the suites");
    return false;
}

static inline int suite_is_visible(const struct dirent *d)
{
    return d->d_name[0] != '.';
}

/* Calls visit for what a directory holds, in the order of the names; returns how many there were, or -1. */
static inline int suite_each(const char *path, void (*visit)(const char *path, const char *name))
{
    struct dirent **found;
    char inner[SUITE_PATH];
    int n = scandir(path, &found, suite_is_visible, alphasort);
    for (int i = 0; i < n; i++) {
        if (snprintf(inner, sizeof inner, "%s/%s", path, found[i]->d_name) < (int)sizeof inner)
            visit(inner, found[i]->d_name);
        free(found[i]);
    }
    if (n >= 0)
        free(found);
    return n;
}

/* The bytes of a file in a block of exactly their size, so that a sanitizer sees reads beyond them. */
static inline char *suite_read(const char *path, size_t *len)
{
    FILE *f = fopen(path, "rb");
    char *all = malloc(SUITE_FILE_BYTES);
    *len = f ? fread(all, 1, SUITE_FILE_BYTES, f) : 0;
    bool whole = f && *len < SUITE_FILE_BYTES && !ferror(f);
    if (f)
        fclose(f);
    char *text = whole ? malloc(*len + !*len) : NULL;
    if (whole)
        memcpy(text, all, *len);
    free(all);
    return text;
}

static inline bool suite_ends_with(const char *name, const char *end)
{
    size_t n = strlen(name), k = strlen(end);
    return n >= k && strcmp(name + n - k, end) == 0;
}

#endif
