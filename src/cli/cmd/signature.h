/* SPDX-License-Identifier: MIT
 * signature.h - what `ptc signature` works with, and the test driver too. */
#ifndef PTC_CLI_CMD_SIGNATURE_H
#define PTC_CLI_CMD_SIGNATURE_H

#include "json/parse.h"
#include "tool/sig/sig_check.h"

/* Everything needed to answer one question; released as a whole. */
typedef struct PtcSigDesk {
    PtcMem *mem;
    PtcPool pool;
    PtcBudget budget;
    PtcHeap heap;
    PtcArena arena;
    PtcSigIssues errors, warnings;
} PtcSigDesk;

/* ---- signature_desk.c */
void ptc_sig_desk_init(PtcSigDesk *desk, PtcMem *mem);
void ptc_sig_desk_deinit(PtcSigDesk *desk);

/* Appends the JSON of a value, datetimes as ISO 8601. */
PTC_MUST_USE bool ptc_sig_desk_write(PtcSigDesk *desk, PtcBuf *out, PtcValue v);
/* The value as input: coerced to the parameters, or to the type alone where the signature has none. */
PTC_MUST_USE PtcValue ptc_sig_desk_input(PtcSigDesk *desk, const PtcSig *sig, PtcSigMode mode,
                                         PtcValue v);

#endif
