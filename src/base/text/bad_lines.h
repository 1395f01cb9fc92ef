/* SPDX-License-Identifier: MIT
 * bad_lines.h - what was left out of a text because it cannot be read, where that is wanted: how much, and what was
 * wrong first. */
#ifndef PTC_BASE_TEXT_BAD_LINES_H
#define PTC_BASE_TEXT_BAD_LINES_H

#include <stddef.h>
#include <stdio.h>

typedef struct PtcBadLines {
    size_t count;
    size_t line, column; /* of the first; column 0: none in particular */
    char why[200];       /* likewise */
} PtcBadLines;

static inline void ptc_bad_lines_add(PtcBadLines *bad, size_t line, size_t column, const char *why)
{
    if (bad->count++ > 0)
        return;
    bad->line = line;
    bad->column = column;
    snprintf(bad->why, sizeof bad->why, "%.199s", why);
}

#endif
