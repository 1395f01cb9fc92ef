/* SPDX-License-Identifier: MIT
 * jsonl.h - one request per line, one answer per line: `ptc eval --jsonl` (docs/batch.md), `ptc run --jsonl`. */
#ifndef PTC_CLI_CMD_JSONL_H
#define PTC_CLI_CMD_JSONL_H

#include "api/batch.h"
#include "base/mem.h"

/* Answers a line on standard output (ptc_shown_result); false ends the batch: that cannot be written, or it was
 * cancelled. */
typedef bool (*PtcJsonlAnswer)(void *user, const char *line, size_t len);

/* Has every line of standard input answered except blank ones, each before the next is read; lines that are too long
 * get the constant answer.  Returns the exit status: 0 when all were answered, whatever the answers say. */
int ptc_jsonl_each(PtcMem *mem, const char *command, const char *too_long, PtcJsonlAnswer answer,
                   void *user);

/* The lines of `ptc eval --jsonl`. */
int ptc_jsonl_run(PtcMem *mem, Ptc *ptc, const PtcBatchOptions *options);

#endif
