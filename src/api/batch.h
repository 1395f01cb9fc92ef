/* SPDX-License-Identifier: MIT
 * batch.h - one request line in, one answer line out; see docs/batch.md. */
#ifndef PTC_API_BATCH_H
#define PTC_API_BATCH_H

#include "tool/file.h"

/* What applies to all lines of a batch. */
typedef struct PtcBatchOptions {
    bool one_session;          /* lines that name no session share one */
    PtcToolsFileOptions allow; /* for the tools that lines bring */
    PtcTools *tools;           /* for lines that bring none; or NULL */
    /* That lines may ask for, for each limit that is set; NULL: as much as they like. */
    const PtcLimits *most;
    int64_t now_ms; /* the time for lines that give none; 0: the system's */
} PtcBatchOptions;

/* Like ptc_eval_json. */
PtcStatus ptc_batch_line(Ptc *ptc, const char *line, size_t len, const PtcBatchOptions *options,
                         char **out, size_t *out_len);

#endif
