/* SPDX-License-Identifier: MIT
 * The table of limits, and what is derived from it. */
#include "lisp/vm/limits.h"

#include <string.h>

#include "lisp/vm/vm.h"

#define TWO_TO(n) ((int64_t)1 << (n))

/* Field, default, largest value, its name in a batch line, the unit there, or words for the numbers from 0; in the
 * order of PtcLimits. */
#define ALL_LIMITS(ROW, WORDS)                                             \
    ROW(timeout_ms, 1000, TWO_TO(40), "timeout_ms", 1)                     \
    ROW(deadline_ms, 60000, TWO_TO(40), "deadline_ms", 1)                  \
    ROW(memory_bytes, 10 * PTC_MB, TWO_TO(46), "memory_mb", PTC_MB)        \
    ROW(loop_limit, PTC_NO_LOOP_LIMIT, PTC_NO_LOOP_LIMIT, "loop_limit", 1) \
    ROW(max_depth, 10000, PTC_DEPTH_MAX, "max_depth", 1)                   \
    ROW(max_int_bits, 1 << 18, PTC_INT_BITS_MAX, NULL, 1)                  \
    ROW(program_bytes, 64 * PTC_KB, 64 * PTC_MB, NULL, 1)                  \
    ROW(context_bytes, 4 * PTC_MB, TWO_TO(46), NULL, 1)                    \
    ROW(session_bytes, 10 * PTC_MB, TWO_TO(46), NULL, 1)                   \
    ROW(print_bytes, 64 * PTC_KB, TWO_TO(31), NULL, 1)                     \
    ROW(result_bytes, PTC_MB, TWO_TO(31), NULL, 1)                         \
    ROW(max_tool_calls, 1 << 30, 1 << 30, "max_tool_calls", 1)             \
    ROW(tool_bytes, 16 * PTC_MB, TWO_TO(46), NULL, 1)                      \
    ROW(max_workers, 8, PTC_WORKERS_MAX, NULL, 1)                          \
    ROW(seed, 0, TWO_TO(62), "seed", 1)                                    \
    WORDS(check, 0, 2, "check", PTC_CHECK_WORDS)

#define LIMIT_NORMAL(field, normal, most, line, rest) .field = normal,
#define LIMIT_ROW(field, normal, most, line, unit) \
    {#field, offsetof(PtcLimits, field), normal, most, line, unit, NULL},
#define LIMIT_WORDS(field, normal, most, line, words) \
    {#field, offsetof(PtcLimits, field), normal, most, line, 1, words},

const PtcLimits ptc_default_limits = {.size = sizeof(PtcLimits),
                                      ALL_LIMITS(LIMIT_NORMAL, LIMIT_NORMAL)};
static const PtcLimit rows[] = {ALL_LIMITS(LIMIT_ROW, LIMIT_WORDS)};

enum { LIMIT_COUNT = sizeof rows / sizeof *rows };
_Static_assert(sizeof(PtcLimits) == offsetof(PtcLimits, timeout_ms) + LIMIT_COUNT * sizeof(int64_t),
               "every limit has a row");

const PtcLimit *ptc_limits_row(size_t i)
{
    return i < LIMIT_COUNT ? &rows[i] : NULL;
}

const PtcLimit *ptc_limits_of_line(PtcText name)
{
    for (size_t i = 0; i < LIMIT_COUNT; i++)
        if (rows[i].line && ptc_text_is(name, rows[i].line))
            return &rows[i];
    return NULL;
}

int64_t *ptc_limits_field(PtcLimits *all, const PtcLimit *limit)
{
    return (int64_t *)(void *)((char *)all + limit->offset);
}

void ptc_limits_unset(PtcLimits *all)
{
    all->size = sizeof *all;
    for (size_t i = 0; i < LIMIT_COUNT; i++)
        *ptc_limits_field(all, &rows[i]) = PTC_UNSET;
}

bool ptc_limits_merge(PtcLimits *all, const PtcLimits *given, const PtcLimits *from)
{
    PtcLimits mine;
    ptc_limits_unset(&mine);
    if (given && given->size < sizeof(size_t))
        return false;
    if (given)
        memcpy(&mine, given, given->size < sizeof mine ? given->size : sizeof mine);
    *all = *from;
    for (size_t i = 0; i < LIMIT_COUNT; i++) {
        int64_t n = *ptc_limits_field(&mine, &rows[i]);
        if (n == PTC_UNSET)
            continue;
        if (n < 0 || n > rows[i].most)
            return false;
        *ptc_limits_field(all, &rows[i]) = n;
    }
    return true;
}
