/* SPDX-License-Identifier: MIT
 * api_int.h - what stands behind the handles of ptc.h. */
#ifndef PTC_API_API_INT_H
#define PTC_API_API_INT_H

#include "json/write.h"
#include "lisp/program.h"

/* A heap of its own for context or session values, shared by its maker and by the outcomes whose
 * values point into it; heap.refs counts them. */
typedef struct PtcHeapBox {
    PtcHeap heap; /* first: a PtcHeap pointer is a box pointer */
    PtcBudget budget;
} PtcHeapBox;

typedef struct NamedSession NamedSession;

struct Ptc {
    PtcMem mem;
    PtcPool pool;
    PtcArena arena;
    PtcVM vm;
    PtcLimits limits; /* every field set */
    int float_precision;
    int64_t fail_allocation; /* 0: none */
    int64_t (*clock_ms)(void *user);
    void *clock_user;
    atomic_bool cancel, running;
    PtcNames no_names;   /* for runs without a session */
    PtcOutcome *spare;   /* kept for the next run */
    NamedSession *named; /* sessions of batch lines */
    size_t named_count;
};

typedef struct OutcomeError {
    PtcErrorKind kind;
    PtcPhase phase;
    uint32_t line, column;
    bool earlier; /* these are in the text of an earlier program */
    char message[PTC_MESSAGE_MAX + 4];
    char hint[PTC_HINT_MAX + 4];
    char form[84];
} OutcomeError;

struct PtcOutcome {
    Ptc *ptc;
    PtcHeap heap;     /* the run's */
    PtcBudget budget; /* for rendering after the run */
    PtcHeap *kept[2]; /* session's and context's */
    bool ok;
    PtcControl control;
    PtcValue value;
    PtcLimits limits;
    PtcBuf prints;
    uint32_t *print_ends;
    size_t print_count, print_cap;
    bool prints_cut;
    OutcomeError *errors;
    size_t error_count;
    PtcBuf text, json;
    bool text_done, text_cut, json_done;
};

struct PtcSession {
    Ptc *ptc;
    PtcNames names;
    PtcValue *globals; /* names.count of them */
    size_t global_cap;
    PtcHeapBox *box;
    size_t compact_at; /* bytes */
};

struct PtcData {
    Ptc *ptc;
    PtcHeapBox *box;
};

/* Hands the buffer's text to the host, who frees it with ptc_text_free; the buffer is freed in either case. */
PtcStatus ptc_text_give(Ptc *ptc, PtcBuf *buf, char **out, size_t *len);

PtcHeapBox *ptc_box_new(Ptc *ptc, size_t limit);
void ptc_heap_retain(PtcHeap *heap);
void ptc_heap_release(PtcHeap *heap);
/* A budget that ends `ms` from now. */
void ptc_budget_start(Ptc *ptc, PtcBudget *budget, int64_t ms);

/* Fills unset fields of `limits` from `from`; false when one is out of range. */
bool ptc_limits_merge(PtcLimits *limits, const PtcLimits *given, const PtcLimits *from);

PtcOutcome *ptc_outcome_new(Ptc *ptc, const PtcLimits *limits);
/* Takes result, prints and errors out of the VM. */
bool ptc_outcome_fill(PtcOutcome *o, bool ok, const PtcDiags *diags, PtcPhase phase,
                      const char *source, size_t len);

/* Makes the run's definitions the session's; all or nothing. */
bool ptc_session_commit(PtcSession *session, PtcVM *vm);
void ptc_batch_deinit(Ptc *ptc);

#endif
