/* SPDX-License-Identifier: MIT
 * engine_int.h - what stands behind the handles of ptc.h. */
#ifndef PTC_ENGINE_ENGINE_INT_H
#define PTC_ENGINE_ENGINE_INT_H

#include <string.h>

#include "json/write.h"
#include "lisp/crew.h"
#include "lisp/program.h"
#include "tool/call.h"
#include "tool/native.h"
#include "tool/schema/schema.h"

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
    PtcNative *native; /* for calls of tools without a program; or NULL */
    PtcCrew *crew;     /* threads for pmap */
    PtcLimits limits;  /* every field set */
    int float_precision;
    uint32_t history;        /* results that new sessions keep */
    int64_t fail_allocation; /* 0: none */
    int64_t (*clock_ms)(void *user);
    void *clock_user;
    PtcCancel cancel;
    atomic_bool running;
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

/* What a definition held before the run. */
typedef struct OldGlobal {
    uint32_t index;
    PtcValue value; /* in the session's heap that the outcome keeps; PTC_UNBOUND for a new name */
} OldGlobal;

enum { KEPT_SESSION, KEPT_CONTEXT, KEPT_JOURNAL, KEPT_BUDGET, KEPT_HEAPS };

struct PtcOutcome {
    Ptc *ptc;
    PtcHeap heap;              /* the run's */
    PtcBudget budget;          /* for rendering after the run */
    PtcHeap *kept[KEPT_HEAPS]; /* of what it was given */
    PtcTools *tools;           /* held; or NULL */
    PtcLog log;                /* of tool calls */
    PtcValue journal, summaries;
    bool validated; /* the result was held to a signature or schema */
    bool ok;
    PtcControl control;
    PtcValue value;
    PtcLimits limits;
    PtcPrints prints;
    OutcomeError *errors;
    size_t error_count;
    PtcBuf text, json, payload;
    bool text_done, text_cut, json_done;
    bool json_none;            /* the value has no JSON, or too much; not: memory was short */
    const PtcSession *session; /* only to be compared: it may be gone */
    OldGlobal *old;            /* of definitions the run changed */
    size_t old_count;
};

/* The first `history` names are *1, *2 ...: the last results, newest first. */
struct PtcSession {
    Ptc *ptc;
    PtcNames names;
    PtcValue *globals; /* at least names.count of them */
    size_t global_cap;
    PtcHeapBox *box;
    size_t compact_at; /* bytes */
    uint32_t history;
    bool stale;                     /* something was forgotten, and its bytes are still held */
    size_t cursor_index, cursor_at; /* ptc_session_name: where the binding of that number is */
    PtcCache *cache;                /* results of tools, or NULL before the first */
};
enum { PTC_HISTORY_MAX = 9, PTC_HISTORY_BYTES = 64 * 1024 };

static inline PtcHeapBox *ptc_data_box(const PtcData *data)
{
    return (PtcHeapBox *)(void *)data->heap;
}

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

/* Remembers what the session's definitions were, as far as the run changed them. */
bool ptc_outcome_note_changes(PtcOutcome *o, const PtcSession *session, const PtcVM *vm);
/* Prints a value as results are printed.  False: not whole, or memory is short. */
PtcPrinter ptc_outcome_printer(PtcOutcome *o);
bool ptc_outcome_print_value(PtcOutcome *o, PtcBuf *buf, PtcValue v);

/* Makes the run's definitions the session's, and its result *1; the definitions all or none.  The outcome remembers
 * what they were. */
bool ptc_session_commit(PtcSession *session, PtcVM *vm, PtcOutcome *o);
/* A session with this many results of history, and room for `bytes` of values. */
PtcSession *ptc_session_make(Ptc *ptc, uint32_t history, int64_t bytes);
/* Binds any name to a copy of a value; see ptc_session_set. */
PtcStatus ptc_session_put(PtcSession *session, const char *name, size_t len, PtcValue value);
/* The name of the journal: a map, kept also when a run fails. */
#define PTC_JOURNAL " journal"
/* Forgets the results of tools. */
void ptc_session_drop_cache(PtcSession *session);
/* Results of its cached tools, made when first needed; NULL: no memory. */
PtcCache *ptc_session_cache(PtcSession *session);
/* Room for one value for each of n names. */
PTC_MUST_USE bool ptc_session_room(PtcSession *session, size_t n);
/* Gives the session a new heap with copies of `values`, one for each name, instead of what it holds.  When that
 * fails, everything stays; *stop says why. */
PTC_MUST_USE bool ptc_session_replace(PtcSession *session, const PtcValue *values, PtcStop *stop);
/* Lets go of what nothing is bound to; false when there is no memory for that. */
bool ptc_session_compact(PtcSession *session);
static inline bool ptc_is_journal(const char *name, size_t len)
{
    return len == sizeof PTC_JOURNAL - 1 && memcmp(name, PTC_JOURNAL, len) == 0;
}
/* The journal, a map; nil when the session has none. */
PtcValue ptc_session_journal(const PtcSession *session);
/* Does global i have a value that outlives runs: a definition, or the journal? */
static inline bool ptc_session_holds(const PtcSession *s, size_t i)
{
    return i >= s->history && i < s->names.count && i < s->global_cap &&
           s->globals[i] != PTC_UNBOUND &&
           (s->names.items[i].text[0] != ' ' ||
            ptc_is_journal(s->names.items[i].text, s->names.items[i].len));
}
/* Is global i something that a program or the host defined? */
static inline bool ptc_session_defines(const PtcSession *s, size_t i)
{
    return ptc_session_holds(s, i) && s->names.items[i].text[0] != ' ';
}
/* What is in buf as a text for ptc_text_free; frees it instead when not `ok` or when it failed. */
PtcStatus ptc_text_give(PtcBuf *buf, bool ok, char **out, size_t *out_len);
/* What a run was asked to hold its result to, read before it starts. */
typedef struct PtcWanted {
    const PtcSig *sig;
    const PtcSchema *schema;
} PtcWanted;

/* False: the signature or schema is wrong, with a finding in diags. */
PTC_MUST_USE bool ptc_wanted_read(Ptc *ptc, const PtcRun *run, PtcWanted *wanted, PtcDiags *diags);
/* Is the VM's result what is wanted?  Else it has failed with a validation_error. */
PTC_MUST_USE bool ptc_wanted_check(PtcVM *vm, const PtcWanted *wanted);

void ptc_batch_deinit(Ptc *ptc);

#endif
