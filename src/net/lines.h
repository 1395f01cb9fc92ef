/* SPDX-License-Identifier: MIT
 * lines.h - messages that are lines of a descriptor, each handed out as soon as it has arrived.
 *
 * A line has a maximum length; a longer one is skipped while it is read, so that no sender can make the buffer grow.
 * One thread at a time. */
#ifndef PTC_NET_LINES_H
#define PTC_NET_LINES_H

#include "base/buf.h"

typedef struct PtcLines {
    int fd;
    int stop;   /* another descriptor: reading ends as soon as that one is readable; -1: none */
    size_t max; /* bytes of a line */
    PtcBuf buf;
    size_t next;    /* where the next line begins in buf */
    size_t scanned; /* no line feed before this */
    bool ended, skipping;
} PtcLines;

typedef enum {
    PTC_LINE_OK,
    PTC_LINE_END,      /* end of input, or `stop` became readable; half a line is then dropped */
    PTC_LINE_TOO_LONG, /* it was skipped; the next call continues after it */
    PTC_LINE_FAILED,   /* errno says why; ENOMEM: out of memory */
} PtcLineStatus;

/* The descriptor is not closed; it may be one that does not block. */
void ptc_lines_init(PtcLines *lines, PtcMem *mem, int fd, size_t max);
void ptc_lines_deinit(PtcLines *lines);

/* Waits for a line.  *line is valid until the next call and does not include the line feed, which may be missing at
 * the end of input. */
PTC_MUST_USE PtcLineStatus ptc_lines_next(PtcLines *lines, PtcText *line);

/* Has more been read than was handed out? */
static inline bool ptc_lines_pending(const PtcLines *lines)
{
    return lines->buf.len > lines->next;
}

/* Nothing but blanks, tabs and carriage returns. */
bool ptc_line_is_blank(PtcText line);

#endif
