/* SPDX-License-Identifier: MIT
 * random.h - random numbers that repeat: they follow from the seed of the run and from what the program does. */
#ifndef PTC_LISP_NUMBER_RANDOM_H
#define PTC_LISP_NUMBER_RANDOM_H

#include <stdint.h>

#include "lisp/vm/vm.h"

/* Where the numbers of part i of a job begin, which was at `state` when it was divided. */
uint64_t ptc_random_of(uint64_t state, uint64_t i);
/* The next number of the run, at least 0 and below 1. */
double ptc_random_fraction(PtcVM *vm);

#endif
