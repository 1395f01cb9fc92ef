/* SPDX-License-Identifier: MIT
 * buf_part.h - buffers whose contents go into another one.  Each notes for itself that memory ran out, so the one that
 * is looked at in the end must be told about the others. */
#ifndef PTC_BASE_BUF_PART_H
#define PTC_BASE_BUF_PART_H

#include "base/buf.h"

/* Ends `part`; if memory ran out for it, `whole` is not whole either. */
static inline void ptc_buf_end_part(PtcBuf *whole, PtcBuf *part)
{
    whole->failed = whole->failed || part->failed;
    ptc_buf_deinit(part);
}

#endif
