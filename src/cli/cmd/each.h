/* SPDX-License-Identifier: MIT
 * each.h - `ptc --each FILE PROGRAM`: a program for each row of a file that may be larger than memory. */
#ifndef PTC_CLI_CMD_EACH_H
#define PTC_CLI_CMD_EACH_H

#include "base/mem.h"
#include "cli/cmd/data_in.h"
#include "cli/out/data_out.h"

typedef struct PtcEach {
    PtcMem *mem;
    Ptc *ptc;
    const PtcRun *run; /* everything but the program and the rows */
    const char *name;  /* of the program's file; NULL: none */
    PtcText program;   /* sees `row`, and `state` if there is an `init` */
    /* A program for the first state; NULL: each result that is not nil is printed. */
    const char *init;
    char *const
        *inputs; /* files, "-" for standard input; of several every row has its name as `file` */
    int input_count;
    PtcDataIn *in;         /* how they are read */
    PtcDataOut out;        /* for results of rows: JSONL, CSV or TSV */
    int64_t context_bytes; /* what the rows of a batch may take */
} PtcEach;

/* Goes through the file; returns the exit status.  With an init, *last becomes an outcome whose value is the last
 * state. */
int ptc_each(const PtcEach *each, PtcOutcome **last);

#endif
