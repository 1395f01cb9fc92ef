/* SPDX-License-Identifier: MIT
 * writes.h - the calls of a run that changed something outside, or may have: for whoever corrects a program that
 * failed and must not make them again.
 *
 * As in the log of calls (host.h), arguments and results are values until the next collection and texts after that;
 * here the texts are JSON, short but whole, so that a program can read them. */
#ifndef PTC_LISP_VM_WRITES_H
#define PTC_LISP_VM_WRITES_H

#include "base/buf.h"
#include "base/text.h"
#include "value/print.h"

enum { PTC_WRITES_MAX = 1000 }; /* of a run; beyond that they are only counted */

typedef struct PtcWrite {
    PtcText tool;          /* its name, which lives as long as the run */
    bool unknown;          /* nobody knows whether it took effect */
    PtcValue args, result; /* PTC_NONE once they are texts */
    char *
        json; /* the arguments (args_len bytes), then the result (result_len), in the VM's ledger */
    uint32_t args_len, result_len;
} PtcWrite;

typedef struct PtcWrites {
    PtcWrite *items;
    size_t count, cap;
    size_t settled; /* entries before this one have no values any more */
    size_t total;
} PtcWrites;

/* Adds an entry for the caller to fill and returns it; NULL: one that cannot be kept, since there are too many or no
 * memory is left, is counted. */
PtcWrite *ptc_writes_add(PtcWrites *writes, PtcMem *mem);
/* Turns the values of all entries into texts. */
void ptc_writes_settle(PtcWrites *writes, PtcMem *mem, const PtcPrinter *printer);
/* Moves entries [from, from + n) to the end of another list, which counts `total` for them. */
void ptc_writes_move(PtcWrites *to, PtcMem *mem, PtcWrites *writes, size_t from, size_t n,
                     size_t total);
void ptc_writes_deinit(PtcWrites *writes, PtcMem *mem);

/* The texts of an entry that is settled; what was not kept for lack of memory is null. */
PtcText ptc_write_args(const PtcWrite *write);
PtcText ptc_write_result(const PtcWrite *write);

#endif
