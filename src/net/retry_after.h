/* SPDX-License-Identifier: MIT
 * retry_after.h - how long a server asks us to wait, in whichever way it says so. */
#ifndef PTC_NET_RETRY_AFTER_H
#define PTC_NET_RETRY_AFTER_H

#include <stdint.h>

#include "base/text.h"

/* The longest wait ever returned; whoever waits has limits of its own. */
#define PTC_RETRY_AFTER_MAX ((int64_t)1 << 40)

/* The value of a Retry-After header: seconds, perhaps with a fraction, or a date, which is compared with now_ms
 * (since 1970).  In ms; -1: it says nothing. */
int64_t ptc_retry_after_ms(PtcText value, int64_t now_ms);

/* A duration such as `34.07s` or `250ms`; without a unit it is in `unit_ms`.  -1: it is not one. */
int64_t ptc_retry_delay_ms(PtcText value, double unit_ms);

#endif
