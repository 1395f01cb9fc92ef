/* SPDX-License-Identifier: MIT
 * call.h - one call of a tool, whoever makes it: a program (program_call.c) or the host for a model (native.c).  The
 * tool's side is in answer.h.
 *
 * A call needs a heap for its result, a ledger, a budget and two roots; that is a PtcCaller.  What only a VM can do
 * (collect, run a tool that is written in PTC-Lisp) it does through hooks.
 *
 * The PtcToolCall itself is on the C stack of the thread that calls, unless its tool may answer later: then it is
 * counted, in the ledger of the set, and outlives the run when nobody waits for it any more. */
#ifndef PTC_TOOL_CALL_H
#define PTC_TOOL_CALL_H

#include "lisp/diag.h"
#include "tool/toolset.h"

/* A place to make values in: a PtcData of the host's, or (ptc NULL) the heap of a run. */
struct PtcData {
    Ptc *ptc;
    PtcHeap *heap;
};

enum { PTC_TOOL_TEXT = 2048 }; /* room for what a tool failed with */

/* How a tool's own code ended: its result is in slots[1], or error says what went wrong; an empty error that the budget
 * has stopped. */
typedef struct PtcToolReply {
    bool ok;
    bool ended; /* the tool came to its end, well or not */
    char error[PTC_TOOL_TEXT];
} PtcToolReply;

/* Each may be NULL. */
typedef struct PtcCallerHooks {
    /* Frees memory that nothing uses, after an allocation failed; true: try again. */
    bool (*recover)(void *user);
    /* Room for a result, before the call is made: it cannot be made twice.  False: the run is over. */
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
    void *user;     /* for the hooks */
    bool raw;       /* a failure is told as it is, also by tools that turn theirs into a value */
    PtcBuf *issues; /* gets what is wrong with arguments, as ptc_sig_issues_json has it; or NULL */
} PtcCaller;

/* Why a call failed.  PTC_E_NONE: the budget has stopped, and says why. */
typedef struct PtcToolFailure {
    PtcErrorKind kind; /* PTC_E_TOOL_ARGS, PTC_E_TOOL_LIMIT, PTC_E_TOOL */
    bool late;         /* PTC_E_TOOL: it passed the tool's own time limit */
    char text[PTC_TOOL_TEXT];
} PtcToolFailure;

/* Calls a tool with arguments as a program writes them (one map, or keywords and values): checked, counted, answered from
 * the cache or by the tool, recorded.  The result is *out, in slots[1] too. */
PTC_MUST_USE bool ptc_tool_call(PtcCaller *caller, uint32_t number, int argc, const PtcValue *argv,
                                PtcValue *out, PtcToolFailure *failure);

/* Runs a tool that is written in PTC-Lisp, in a VM, under its limits; return and fail end the tool and nothing else
 * (program_call.c). */
void ptc_vm_run_tool(PtcVM *vm, PtcValue function, PtcValue *slots, PtcToolReply *reply);

/* ------------------------------------------------------------------------------ one call */

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
    int64_t begun_ns, end_ns; /* when nobody waits any more */
    atomic_bool inside;       /* the function is running, on `thread` */
    atomic_bool cancelled;    /* after it: nobody waits */
    /* the answer; under the lock when counted */
    pthread_mutex_t lock;
    pthread_cond_t answered_now;
    bool answered, ok;
    bool unsure;     /* it failed, and what it did before that is not known */
    bool elsewhere;  /* answered from another thread, which has let go of the call then */
    PtcValue result; /* PTC_NONE: in text */
    char *text;      /* JSON, or the error's message, in the ledger of the set */
    size_t text_len;
};

/* What the host gave with the run that the call belongs to, be it made by a program, in a pmap, by a tool in PTC-Lisp or by
 * the host itself; NULL when it gave nothing. */
static inline void *ptc_call_host(const PtcToolCall *call)
{
    return call->host;
}

/* The wish to stop that holds for the call, for work that it starts.  Inside the tool's function only. */
static inline const PtcCancel *ptc_call_cancel(const PtcToolCall *call)
{
    return call->budget->cancel;
}

/* --- answering: answer.c --- */

/* The time since the call began was spent waiting, not computing; the clock starts again.  Returns it. */
int64_t ptc_call_pause(PtcToolCall *call);
/* JSON text as a value in a heap; PTC_NONE with a message when it is not JSON, with none at a limit. */
PtcValue ptc_call_parse(PtcHeap *heap, PtcText json, char *error, size_t size);
void ptc_call_release(PtcToolCall *call);

#endif
