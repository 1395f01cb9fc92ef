/* SPDX-License-Identifier: MIT
 * call_outcomes.h - how calls of other servers ended, counted by server and reason. */
#ifndef PTC_TRACE_CALL_OUTCOMES_H
#define PTC_TRACE_CALL_OUTCOMES_H

#include "trace/call_log.h"

/* MAX: pairs that are counted; whatever comes after them is counted for the server "other". */
enum { PTC_CALL_OUTCOMES_MAX = 256, PTC_CALL_OUTCOMES_NAME = 65, PTC_CALL_OUTCOMES_LABEL = 24 };

typedef struct PtcOutcomeCount {
    /* What is counted apart; label: the word of the reason, "" for calls that went well. */
    char server[PTC_CALL_OUTCOMES_NAME], label[PTC_CALL_OUTCOMES_LABEL];
    uint64_t calls;
} PtcOutcomeCount;

/* All zero: none yet. */
typedef struct PtcCallOutcomes {
    PtcOutcomeCount *items;
    size_t count, cap;
} PtcCallOutcomes;

/* Without memory they are not counted. */
void ptc_call_outcomes_add(PtcCallOutcomes *outcomes, PtcMem *mem, PtcText server, PtcText reason,
                           uint64_t calls);
void ptc_call_outcomes_add_log(PtcCallOutcomes *outcomes, PtcMem *mem, PtcCallLog *call_log);
void ptc_call_outcomes_add_all(PtcCallOutcomes *outcomes, PtcMem *mem, const PtcCallOutcomes *from);
void ptc_call_outcomes_free(PtcCallOutcomes *outcomes, PtcMem *mem);
/* {"total", "ok", "by_reason", "by_server"}. */
void ptc_call_outcomes_put(const PtcCallOutcomes *outcomes, PtcBuf *out);

#endif
