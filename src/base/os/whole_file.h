/* SPDX-License-Identifier: MIT
 * whole_file.h - files that others see either as they were or as they are now, never half written: journals, caches,
 * keys, state.  A program that dies while it writes leaves the old file in place. */
#ifndef PTC_BASE_OS_WHOLE_FILE_H
#define PTC_BASE_OS_WHOLE_FILE_H

#include <stdint.h>

#include "base/buf.h"

/* How a file is written; what is 0 or false takes the default. */
typedef struct PtcWholeFile {
    unsigned mode; /* 0600 */
    bool line;     /* a line feed goes behind the text */
    bool dirs;     /* missing directories above it are made, for their owner alone */
    bool only_new; /* a file that is there stays as it is, which is no failure */
    bool synced;   /* it is on the disk before the function returns */
    bool locked; /* the caller holds a lock: what a writer that was killed left beside it may go */
} PtcWholeFile;

/* False: errno says why, and nothing has changed. */
PTC_MUST_USE bool ptc_whole_file_put(const char *path, PtcText text, PtcWholeFile how);

/* Appends all of a regular file of ours that nobody else may write.  False: there is none (errno ENOENT), it is
 * something else, or it does not fit. */
PTC_MUST_USE bool ptc_whole_file_read(const char *path, PtcBuf *out);

/* Appends all that can be read from a descriptor.  False: errno says why; EFBIG: it does not fit; ENOMEM: memory
 * ran out. */
PTC_MUST_USE bool ptc_whole_file_read_from(int fd, PtcBuf *out);

/* Takes a lock that other processes see, by a file of its own, which is made (with directories above it) and never
 * removed: removing it would let two hold locks on different files.  Waits for at most `wait_ms`.  The descriptor, to
 * be closed; -1: errno says why (EWOULDBLOCK: somebody else holds it). */
PTC_MUST_USE int ptc_whole_file_lock(const char *path, int64_t wait_ms);

#endif
