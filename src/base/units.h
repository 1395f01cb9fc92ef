/* SPDX-License-Identifier: MIT
 * units.h - units of time and size, and the limit that stands for none. */
#ifndef PTC_BASE_UNITS_H
#define PTC_BASE_UNITS_H

#include <stdint.h>

/* As a limit, one that nothing reaches: two of them may be added, as sizes and as signed numbers. */
#define PTC_UNBOUNDED (INT64_MAX / 2)

#endif
