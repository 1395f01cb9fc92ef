/* SPDX-License-Identifier: MIT
 * vm.h - the state of one run. */
#ifndef PTC_LISP_VM_VM_H
#define PTC_LISP_VM_VM_H

#include "base/buf.h"
#include "base/stack.h"
#include "lisp/analyze/warnings.h"
#include "lisp/compile/code.h"
#include "lisp/read/diag.h"
#include "lisp/vm/host.h"
#include "lisp/vm/prints.h"
#include "ptc/ptc.h"
#include "value/coll/iter.h"
#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/equal.h"
#include "value/number/bigint.h"
#include "value/print.h"
#include "value/str.h"

enum {
    PTC_STACK_VALUES = 256 * PTC_KB, /* registers of all frames; never moves */
    PTC_ROOT_SLOTS = 64 * PTC_KB,    /* temporaries of builtins that call back */
    PTC_WORKERS_MAX = 64,
    PTC_NATIVE_DEPTH = 5000, /* builtin -> program -> builtin ... */
};

#define PTC_NO_LOOP_LIMIT ((int64_t)1 << 62) /* time ends a loop */

/* A frame: one function being run. */
typedef struct PtcCall {
    const PtcIns *pc; /* next instruction, whenever something may collect or call */
    PtcValue *base;   /* register 0 */
    const PtcClosure *closure;
} PtcCall;

/* Names of global variables, by index; owned by a session or by the run. */
typedef struct PtcNames PtcNames;

typedef enum { PTC_CONTROL_NONE, PTC_CONTROL_RETURN, PTC_CONTROL_FAIL } PtcControl;

struct PtcCrew;
struct PtcSeat;

/* What a run notes beside its result (notes.h). */
typedef struct PtcNotes {
    PtcValue all;     /* a map, or nil */
    PtcValue changes; /* of the item, inside of a pmap: a map, or nil */
} PtcNotes;

/* The state of one thread of a run: stack, frames, roots, error, what was printed and called.  It is used for one
 * run after the other, by one thread at a time; a pmap gives every helper a VM of its own. */
typedef struct PtcVM {
    PtcBudget budget;
    PtcHeap *heap;
    PtcMem *mem;   /* scratch and output */
    PtcCall *call; /* current frame; call[-1] called it.  calls - 1 when none is running */
    PtcCall *calls, *calls_end;
    size_t calls_cap;
    PtcValue *stack, *stack_limit, *stack_end; /* slots below stack_limit hold valid values */
    PtcValue *stack_most; /* the highest limit of all runs so far; NULL: none was deep */
    /* End of arguments above the frame, while a callback is being entered; else NULL. */
    PtcValue *args_end;
    int64_t loops_left; /* of limits.loop_limit */
    PtcValue *globals;  /* by index; PTC_UNBOUND when not defined */
    size_t global_count;
    PtcNames *names;
    PtcValue context; /* map, or nil */
    PtcValue program; /* proto of the program, a root */
    uint32_t running; /* index of the builtin being run */
    uint32_t native_depth;
    PtcStack deep;   /* where it goes on beyond PTC_SHALLOW levels; made when it is first needed */
    bool is_deep;    /* it is there */
    bool deep_dirty; /* it was there in this run */
    size_t deep_charged; /* bytes of it that count as memory of the run */
    PtcValue *roots;
    size_t root_count;
    const PtcValue *kept; /* more roots */
    size_t kept_count;
    PtcLimits limits; /* every field set */
    bool gc_stress;
    bool made_lazy;    /* a lazy sequence was made in this run */
    bool lazy_refused; /* the error is that a builtin did not take a lazy argument */
    /* Nothing is collected: a comparator runs inside an operation that cannot root its values. */
    bool held;
    /* The operation that is about to call comparators has rooted all: they may collect. */
    bool rooted;
    /* The builtin that walks a sequence without end and sets it no bound, or NULL. */
    const char *endless;
    bool defined;               /* a def was run since this was last cleared */
    const PtcHost *host;        /* its tools; or NULL */
    struct PtcServers *servers; /* other servers that it may call; or NULL */
    void *host_user;            /* the tool layer's state of this run, shared by its threads */
    PtcLog log;                 /* of tool calls */
    PtcNotes journal;           /* from task id to result; nil: no journal is kept */
    PtcNotes summaries;         /* from step id to summary; nil: none */
    PtcValue remaining;         /* what (budget/remaining) gives: a map of the host, or nil */
    int64_t math_digits;        /* of decimals in with-precision; 0: all */
    int math_mode;              /* PtcRounding */
    uint64_t random;            /* where rand and its kin are; begins with the seed of the run */
    /* Which call of another server the next one is: the way through pmaps and their items, and how many there were on
     * it.  The same in every run of the program with the same answers. */
    uint64_t call_path;
    uint32_t call_count;
    int64_t now_ms;         /* since 1970: the time of day for the whole run, so that runs repeat */
    struct PtcCrew *crew;   /* or NULL */
    struct PtcWatch *watch; /* of runs, or NULL */
    struct PtcSeat *seat;   /* in a pmap; or NULL */
    int64_t pmap_ms;        /* for one pmap; 0: no limit */
    bool may_stop;          /* return and fail may end this: no pmap is around it */
    PtcValue memo; /* what memoized functions gave: function -> arguments -> result; or nil */
    PtcPrints prints;
    PtcWarnings warnings;
    /* how it ended */
    PtcControl control;
    PtcValue result;
    bool failed;   /* error holds what went wrong */
    PtcDiag error; /* its place is in the text of error_source */
    PtcValue error_source;
    PtcValue error_value; /* of (fail v), thrown values */
} PtcVM;

#endif
