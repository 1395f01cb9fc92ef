/* SPDX-License-Identifier: MIT
 * units.h - units of time and size, and the limit that stands for none. */
#ifndef PTC_BASE_UNITS_H
#define PTC_BASE_UNITS_H

#include <stdint.h>

/* Spans of time in nanoseconds: a wait of 5 ms is 5 * PTC_MS. */
#define PTC_US INT64_C(1000)
#define PTC_MS INT64_C(1000000)
#define PTC_S INT64_C(1000000000)
/* A second where microseconds are counted. */
#define PTC_SECOND_US 1000000

/* Sizes in bytes. */
#define PTC_KB 1024
#define PTC_MB (1024 * PTC_KB)
#define PTC_GB (1024 * PTC_MB)

/* So many of whatever is counted. */
#define PTC_MILLION 1000000

/* As a limit, one that nothing reaches: two of them may be added, as sizes and as signed numbers. */
#define PTC_UNBOUNDED (INT64_MAX / 2)

#endif
