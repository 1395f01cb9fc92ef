/* SPDX-License-Identifier: MIT
 * call.h - one call of a tool, whoever makes it: a program (program_call.c) or the host for a model (native.c).  The
 * tool's side is in answer.h.
 *
 * A call needs a heap for its result, a ledger, a budget and two roots; together they are a PtcCaller.  What only a
 * VM can do (collect, run a tool written in PTC-Lisp) goes through hooks.
 *
 * The PtcToolCall itself is on the C stack of the thread that calls, unless its tool may answer later: then it is
 * counted, lives in the ledger of the set, and may outlive the run if nobody waits for it any longer. */
#ifndef PTC_TOOL_CALL_H
#define PTC_TOOL_CALL_H

#include "lisp/read/diag.h"
#include "tool/call_reason.h"
#include "tool/toolset.h"

/* A place to make values in: a PtcData of the host's, or (ptc NULL) the heap of a run. */
struct PtcData {
    Ptc *ptc;
    PtcHeap *heap;
};

enum { PTC_TOOL_TEXT = 2048 }; /* room for the error message of a tool */

/* How a tool's own code ended: its result is in slots[1], or `error` says what went wrong; an empty error means that
 * the budget has stopped. */
typedef struct PtcToolReply {
    bool ok;
    bool ended; /* the tool ran to its end, successfully or not */
    bool did;   /* successfully, as it says; its result may still be none that can be used */
    PtcCallFault fault;
    char error[PTC_TOOL_TEXT];
} PtcToolReply;

/* Each may be NULL. */
typedef struct PtcCallerHooks {
    /* Frees memory that nothing uses after an allocation failed; true: try again. */
    bool (*recover)(void *user);
    /* Makes room for a result before the call is made, since it cannot be made twice.  False: the run is over. */
    bool (*make_room)(void *user);
    /* The call may take long: others may use the time. */
    void (*offer)(void *user);
    /* Calls a function of the language with slots[0], result in slots[1]. */
    void (*run_lisp)(void *user, PtcValue function, PtcValue *slots, PtcToolReply *reply);
} PtcCallerHooks;

typedef struct PtcCaller {
    PtcHeap *heap;
    PtcMem *mem;
    PtcBudget *budget; /* waiting moves the end of its compute time along */
    PtcToolRun *run;   /* tools, cache, number of calls so far */
    PtcLog *log;
    PtcValue *slots; /* two roots: the arguments, the result */
    const PtcCallerHooks *hooks;
    void *user; /* for the hooks */
    bool raw;   /* a failure is reported as such, even by tools that turn theirs into a value */
    /* Gets what is wrong with arguments, in the form of ptc_sig_issues_json; or NULL. */
    PtcBuf *issues;
} PtcCaller;

/* Why a call failed.  PTC_E_NONE: the budget has stopped, and says why. */
typedef struct PtcToolFailure {
    PtcErrorKind kind; /* PTC_E_TOOL_ARGS, PTC_E_TOOL_LIMIT, PTC_E_TOOL */
    bool late;         /* PTC_E_TOOL: it exceeded the tool's own time limit */
    char text[PTC_TOOL_TEXT];
} PtcToolFailure;

/* Calls a tool with arguments as a program writes them (one map, or keywords and values): checked, counted, answered
 * from the cache or by the tool, recorded.  The result is *out, in slots[1] too. */
PTC_MUST_USE bool ptc_tool_call(PtcCaller *caller, uint32_t number, int argc, const PtcValue *argv,
                                PtcValue *out, PtcToolFailure *failure);

/* Runs a tool written in PTC-Lisp, in a VM, under its limits; return and fail end only the tool (program_call.c). */
void ptc_vm_run_tool(PtcVM *vm, PtcValue function, PtcValue *slots, PtcToolReply *reply);

/* Counts a call that is made in another way, as ptc_tool_call does its own; false: the program has failed
 * (program_call.c). */
PTC_MUST_USE bool ptc_program_count_call(PtcVM *vm);
/* Takes that back, the call was not made after all (program_call.c). */
void ptc_program_uncount_call(PtcVM *vm);

/* ------------------------------------------------------------------------------ one call */

/* One call of a tool, from its arguments to its answer.  One that is answered at once lives on the caller's stack;
 * one that may be answered later is counted, and outlives the run if its tool is slow. */
struct PtcToolCall {
    const PtcTool *tool;
    PtcTools *tools; /* held, when counted */
    bool counted;
    atomic_uint refs; /* counted: the caller and the tool */
    PtcMem *mem;
    PtcBudget *budget;
    PtcValue args;
    PtcData data;      /* where a result can be made */
    size_t most_bytes; /* of a result */
    void *host;        /* given with the run, or NULL */
    PtcBuf json;       /* args as text, when asked for */
    pthread_t thread;
    int64_t begun_ns, end_ns; /* when the wait ends */
    atomic_bool inside;       /* the function is running, on `thread` */
    atomic_bool cancelled;    /* set after the answer is no longer awaited */
    /* The lock guards the answer of a call that is counted: whoever answers, on any thread, and the caller who
     * waits take it.  No other lock is taken inside. */
    pthread_mutex_t lock;
    pthread_cond_t answered_now;
    bool answered, ok;
    PtcCallFault fault;
    bool did;        /* it ended well, though its answer is not JSON */
    bool elsewhere;  /* answered from another thread, which has then released the call */
    PtcValue result; /* PTC_NONE: in text */
    char *text;      /* JSON, or the error's message, in the ledger of the set */
    size_t text_len;
};

/* What the host passed with the run that the call belongs to, whether it is made by a program, in a pmap, by a tool
 * in PTC-Lisp or by the host itself; NULL if it passed nothing. */
static inline void *ptc_call_host(const PtcToolCall *call)
{
    return call->host;
}

/* The cancel flag that applies to the call, for work that it starts.  Only inside the tool's function. */
static inline const PtcCancel *ptc_call_cancel(const PtcToolCall *call)
{
    return call->budget->cancel;
}

/* --- answering: answer.c --- */

/* The time since the call began was spent waiting, not computing; the clock starts again.  Returns that time. */
int64_t ptc_call_pause(PtcToolCall *call);
/* JSON text as a value in a heap; PTC_NONE with a message if it is not JSON, without one at a limit.  *crowded: other
 * threads may have been in the way, so that it can be tried again. */
PtcValue ptc_call_parse(PtcHeap *heap, PtcText json, char *error, size_t size, bool *crowded);
void ptc_call_release(PtcToolCall *call);

#endif
