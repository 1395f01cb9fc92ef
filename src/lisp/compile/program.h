/* SPDX-License-Identifier: MIT
 * program.h - runs programs: from text to a value or an error, in one VM that is used again and again. */
#ifndef PTC_LISP_COMPILE_PROGRAM_H
#define PTC_LISP_COMPILE_PROGRAM_H

#include "lisp/analyze/names.h"
#include "lisp/check/check_program.h"
#include "lisp/vm/vm.h"

/* What one run is given. */
typedef struct PtcProgram {
    const char *source;
    size_t len;
    PtcValue context; /* map or nil */
    bool bare_data; /* its keys are names too: rows is data/rows where nothing else is named rows */
    PtcNames *names;         /* of the session, or an empty list */
    const PtcValue *globals; /* values of those names (names->count of them), copied */
    PtcLimits limits;        /* every field set */
    const PtcHost *host;     /* its tools, or NULL */
    void *host_user;
    PtcServers *servers; /* other servers that it may call, or NULL */
    PtcValue journal;    /* map, or nil for none */
    PtcValue remaining;  /* map or nil, for (budget/remaining) */
    int64_t now_ms;      /* the run's time; 0: the system's when it begins */
    int64_t hard_ns; /* its end whatever is waited for, in the system's clock; 0: its deadline */
    int64_t pmap_ms; /* for one pmap or pcalls; 0: no limit */
    PtcHeap *heap;   /* for the run: initialised, empty; its budget is vm->budget */
    int64_t end_ns;  /* by the budget's clock, where it comes before timeout_ms; 0: none */
    const PtcSketch *answer; /* what the answer must be, for the check; NULL: anything */
    PtcBareAnswer bare_answer;
    PtcText answer_text;   /* the signature that says it; or absent */
    PtcCheckKept *checked; /* programs in which nothing was found; or NULL */
    PtcLog log;            /* empty, perhaps with room: the record of its calls begins in it */
    bool only_check;       /* it is not run: its value is nil if there are no findings */
} PtcProgram;

typedef enum { PTC_PHASE_PARSE, PTC_PHASE_CHECK, PTC_PHASE_RUN } PtcPhase;

/* Allocates the stacks of a VM; max_depth frames at most.  False: out of memory. */
PTC_MUST_USE bool ptc_vm_init(PtcVM *vm, PtcMem *mem, int64_t max_depth);
void ptc_vm_deinit(PtcVM *vm);
/* Makes room for deeper calls than it was made for; between runs only. */
PTC_MUST_USE bool ptc_vm_ensure_depth(PtcVM *vm, int64_t depth);

/* Gives back what the registers of a deep run took, when it is much; between runs only. */
void ptc_vm_trim(PtcVM *vm);

/* Prepares a VM with everything that a program is given except its text; heap, budget and clock must be set.  For
 * calls that no program makes. */
void ptc_vm_start(PtcVM *vm, const PtcProgram *program);

/* Reads, checks, compiles and runs.  True: the value is vm->result and vm->globals hold the new
 * values (in the arena).  False: with vm->control for (return v) and (fail v); else the findings are in
 * diags, or the one error of the run in vm->error.  Arena and diags must be fresh. */
PTC_MUST_USE bool ptc_program_run(PtcVM *vm, const PtcProgram *program, PtcArena *arena,
                                  PtcDiags *diags, PtcPhase *phase);

#endif
