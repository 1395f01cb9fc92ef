/* SPDX-License-Identifier: MIT
 * jsonl.h - `ptc eval --jsonl`: one request a line, one answer a line; see docs/batch.md. */
#ifndef PTC_CLI_JSONL_H
#define PTC_CLI_JSONL_H

#include "api/batch.h"
#include "base/mem.h"

/* Answers every line of standard input on standard output, each before the next is read.  Returns
 * the exit status: 0 when all lines were answered, whatever the answers say. */
int ptc_jsonl_run(PtcMem *mem, Ptc *ptc, const PtcBatchOptions *options);

#endif
