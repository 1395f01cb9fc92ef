/* SPDX-License-Identifier: MIT
 * toolset.h - a set of tools, and what one run needs to call them.
 *
 * A set belongs to no engine: it has its own ledger, is filled before the first run, never changes after that, and is
 * freed with its last holder (the host, runs, calls that have not been answered yet). */
#ifndef PTC_TOOL_TOOLSET_H
#define PTC_TOOL_TOOLSET_H

#include <pthread.h>

#include "lisp/vm/vm.h"
#include "ptc/ptc.h"
#include "tool/cache.h"
#include "tool/sig/sig_check.h"
#include "tool/tool.h"
#include "value/scratch.h"

/* Whose turn it is with a tool that takes one call at a time. */
typedef struct PtcSerial {
    /* It guards `taken`, and is not held during the call: threads that want the tool wait for `over`. */
    pthread_mutex_t lock;
    pthread_cond_t over;
    bool taken;
} PtcSerial;

typedef struct PtcTool {
    PtcToolInfo info;
    PtcSigMode mode; /* how strictly its signature is applied */
    PtcToolFn function;
    void *user;
    void (*free_user)(void *user);
    PtcPreviewFunction preview;
    bool pending;
    /* A tool written in PTC-Lisp: a function in the set's heap, called in the VM of the program; else PTC_NONE. */
    PtcValue lisp;
    PtcText source; /* its text; whatever runs it in another process reads that again */
    /* A function that makes a preview of its result (native_result); else PTC_NONE. */
    PtcValue preview_lisp;
    bool native_only;     /* programs do not see it: only the model calls it */
    PtcSerial *turn;      /* when info.serial; else NULL */
    bool pure;            /* its function changes nothing anywhere */
    PtcHostShapes shapes; /* what the signature says, as sketches */
    bool borrowed; /* belongs to another set, which is held: `user` and `turn` are that one's */
} PtcTool;

/* May a call be repeated without anybody noticing?  Yes if it changes nothing, or if its results may be cached. */
static inline bool ptc_tool_may_repeat(const PtcTool *tool)
{
    return tool->pure || tool->lisp != PTC_NONE || tool->info.cache;
}

/* What results of a tool were like; a text that is too long for its room moves. */
typedef struct PtcToolShape {
    char *text; /* NULL: not known */
    size_t len, room;
} PtcToolShape;

struct PtcTools {
    PtcHost host; /* first: a PtcHost pointer is a set */
    PtcMem mem;
    PtcScratch
        kept; /* as long as the set: functions of tools in PTC-Lisp, constant results, names */
    PtcTool *items;
    size_t count, cap;
    atomic_uint refs;
    bool learns; /* learn.h */
    /* It guards both below; no other lock is taken inside. */
    pthread_mutex_t shape_lock;
    PtcToolShape *shapes; /* of each tool; NULL: nothing is known */
    PtcArena shape_arena;
};

/* May a program that calls any of them be run again?  What is marked says so itself.  NULL is a set without tools. */
static inline bool ptc_toolset_may_repeat(const PtcTools *tools)
{
    bool all = true;
    for (size_t i = 0; all && tools && i < tools->count; i++) {
        const PtcTool *tool = &tools->items[i];
        all = tool->info.read_only || tool->info.idempotent || ptc_tool_may_repeat(tool);
    }
    return all;
}

/* An empty set with one holder; NULL: out of memory. */
PTC_MUST_USE PtcTools *ptc_toolset_new(void);
/* NULL is allowed for both. */
PtcTools *ptc_toolset_retain(PtcTools *tools);
void ptc_toolset_release(PtcTools *tools);
/* Adds a tool; the texts of its info are copied.  The code of what is wrong is as of ptc_tool_check. */
PTC_MUST_USE bool ptc_toolset_put(PtcTools *tools, const PtcTool *tool, PtcWhy *why);

/* Adds a tool of another set, which the caller holds as long as this one: user, function and turn are shared. */
PTC_MUST_USE bool ptc_toolset_borrow(PtcTools *tools, const PtcTool *tool, PtcWhy *why);

/* Index of the tool of this name, whoever may call it; -1: there is none. */
int ptc_toolset_find(const PtcTools *tools, PtcText name);

/* Notified of every call to a tool's function, before and after, on the thread that waits for it.  Time spent in
 * `end` counts as waiting too. */
typedef struct PtcToolWatch {
    void (*begin)(void *user, const PtcTool *tool);
    void (*end)(void *user, const PtcTool *tool, bool ok);
    void *user;
} PtcToolWatch;

/* How often a tool itself ran, cache hits apart.  What was started and has neither succeeded nor failed was not awaited
 * to its end: nobody knows what it did.  `kept` of them, successes and unknown ones, were made in tasks whose results
 * are in the journal, so that whoever goes on with it does not make them again. */
typedef struct PtcToolTally {
    atomic_uint_fast64_t started, ok, failed, kept;
} PtcToolTally;

/* What the threads of one run share; vm->host_user. */
typedef struct PtcToolRun {
    PtcTools *tools;
    PtcCache *cache; /* of the session or of this run */
    atomic_int_fast64_t calls;
    int64_t max_calls;
    const PtcToolWatch *watch; /* or NULL */
    void *host;                /* for ptc_call_host; or NULL */
    PtcToolTally *tally;       /* one for each tool, added to; or NULL */
} PtcToolRun;

/* A call that a program makes (program_call.c); PtcHost.call of a set. */
bool ptc_program_call(PtcVM *vm, uint32_t tool, int argc, const PtcValue *argv, PtcValue *out);
/* What arguments would be refused for (program_call.c); PtcHost.refuses of a set. */
bool ptc_program_refuses(const PtcHost *host, size_t tool, PtcHeap *heap, PtcMem *mem,
                         PtcValue args, PtcHostRefusal *out);

#endif
