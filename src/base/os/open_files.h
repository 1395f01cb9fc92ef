/* SPDX-License-Identifier: MIT
 * open_files.h - how many files this process may have open, and what programs that it starts may. */
#ifndef PTC_BASE_OS_OPEN_FILES_H
#define PTC_BASE_OS_OPEN_FILES_H

#include <stddef.h>

/* Raises the soft limit as far as the hard one allows, within reason. */
void ptc_open_files_raise(void);
/* How many may be open now. */
size_t ptc_open_files_limit(void);
/* The soft limit before it was raised; 0: it was not.  A program that we start gets it back, since there are programs
 * that cannot use descriptors above 1023. */
size_t ptc_open_files_before(void);
/* In a process that is about to become such a program. */
void ptc_open_files_lower(size_t before);

#endif
