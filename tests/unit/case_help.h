/* SPDX-License-Identifier: MIT
 * case_help.h - files of cases that are written by hand, one thing a line: reads them, and counts a case with its
 * name. */
#ifndef PTC_TESTS_CASE_HELP_H
#define PTC_TESTS_CASE_HELP_H

#include "json_help.h"

#include <glob.h>

enum { CASE_LINE = 1 << 14 };

static struct {
    const char *file;
    int line;
} case_at; /* where the case that is running stands */

/* Counts; a failure is shown with its place. */
static inline void check_case(bool ok, const char *name, const char *what)
{
    if (check_count(ok))
        printf("%s:%d: %s: %s\n", case_at.file, case_at.line, name, what);
}

static inline void case_each_line(const char *path, void (*run)(char *line))
{
    static char line[CASE_LINE];
    FILE *f = fopen(path, "r");
    case_at.file = path;
    case_at.line = 0;
    CHECK(f != NULL);
    while (f && fgets(line, sizeof line, f)) {
        size_t n = strlen(line);
        case_at.line++;
        if (n == sizeof line - 1)
            check_case(false, "this line", "too long");
        while (n && (line[n - 1] == '\n' || line[n - 1] == ' '))
            line[--n] = 0;
        run(line);
    }
    if (f)
        fclose(f);
}

/* Runs every line of every file that the pattern names; `done` comes after each file. */
static inline void case_each_file(const char *pattern, void (*run)(char *line), void (*done)(void))
{
    glob_t found;
    CHECK(glob(pattern, 0, NULL, &found) == 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        case_each_line(found.gl_pathv[i], run);
        done();
    }
    globfree(&found);
}

/* FNV-1a, to find names that occur twice without keeping them. */
static inline uint64_t case_name_hash(const char *name)
{
    uint64_t hash = 0xcbf29ce484222325;
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 0x100000001b3;
    return hash;
}

#endif
