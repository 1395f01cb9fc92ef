/* SPDX-License-Identifier: MIT
 * cancel.h - waking those who sleep when a PtcCancel (budget.h) is asked for.  A flag alone is seen only by who
 * looks. */
#ifndef PTC_BASE_OS_CANCEL_H
#define PTC_BASE_OS_CANCEL_H

#include "base/budget.h"

/* Somebody who sleeps; in the sleeper's own memory. */
typedef struct PtcCancelWait {
    struct PtcCancelWait *next, **link;
    const PtcCancel *cancel;  /* this one or an outer one */
    void (*kick)(void *user); /* from any thread; must not block for long, nor call back here */
    void *user;
} PtcCancelWait;

/* Sets the flag and kicks all who wait for it.  Not for signal handlers: those set the flag alone. */
void ptc_cancel_ask(PtcCancel *cancel);
/* From here to the end a request is followed by a kick.  Look at the flag after this, not before. */
void ptc_cancel_wait_begin(PtcCancelWait *wait);
void ptc_cancel_wait_end(PtcCancelWait *wait);

#endif
