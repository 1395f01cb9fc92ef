/* SPDX-License-Identifier: MIT
 * io.h - reading files with a bound, writing all of something.  No stdio: what is written is out when the function
 * returns. */
#ifndef PTC_CLI_IO_H
#define PTC_CLI_IO_H

#include "base/buf.h"

enum { PTC_IO_STDIN = 0, PTC_IO_STDOUT = 1, PTC_IO_STDERR = 2 };

/* The longest line, and the largest file, that a command accepts. */
#define PTC_IO_MAX ((size_t)64 << 20)

/* Writes everything.  False when there is no reader any more (EPIPE) or the device fails. */
PTC_MUST_USE bool ptc_io_write(int fd, const void *bytes, size_t len);
/* The same followed by a line feed, in one system call. */
PTC_MUST_USE bool ptc_io_write_line(int fd, const char *text, size_t len);

/* Formats to a descriptor; for messages, where failure makes no difference.  They may quote what others wrote: see
 * shown.h. */
void ptc_io_printf(int fd, const char *format, ...) PTC_PRINTF(2, 3);

/* Appends the whole file ("-": standard input) to a buffer.  NULL, or why not: a constant text. */
PTC_MUST_USE const char *ptc_io_read(PtcBuf *buf, const char *path);

/* Could reading it wait for a writer, or never end?  True for pipes and devices. */
bool ptc_io_may_wait(const char *path);

#endif
