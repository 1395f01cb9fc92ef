/* SPDX-License-Identifier: MIT
 * outcome.h - what one run produced.  The outcome owns the run's heap, so its value stays readable until it is
 * dropped, and holds whatever that value may point into. */
#ifndef PTC_ENGINE_OUTCOME_H
#define PTC_ENGINE_OUTCOME_H

#include "engine/heap_box.h"
#include "json/path.h"
#include "lisp/compile/program.h"
#include "tool/toolset.h"

typedef struct PtcOutcomeError {
    PtcErrorKind kind;
    PtcDiagDetail detail;
    PtcPhase phase;
    uint32_t line, column;
    bool earlier; /* these are positions in an earlier program */
    char message[PTC_MESSAGE_MAX + 4];
    char hint[PTC_HINT_MAX + 4];
    char form[84];
} PtcOutcomeError;

/* What a definition was before the run. */
typedef struct PtcOldGlobal {
    uint32_t index;
    PtcValue value; /* in the session's heap, which the outcome keeps; PTC_UNBOUND for a new name */
} PtcOldGlobal;

enum {
    PTC_KEPT_SESSION,
    PTC_KEPT_CONTEXT,
    PTC_KEPT_JOURNAL,
    PTC_KEPT_BUDGET,
    PTC_KEPT_HEAPS,
};

/* What one run produced.  It owns the heap of the run, and holds every heap that its values point into, so that it
 * can be read when the session and the context have long gone on; the engine must still be there. */
struct PtcOutcome {
    Ptc *ptc;
    PtcHeap heap;                  /* the run's */
    PtcBudget budget;              /* for rendering after the run */
    PtcHeap *kept[PTC_KEPT_HEAPS]; /* of what it was given */
    PtcTools *tools;               /* held; or NULL */
    PtcLog log;                    /* of tool calls */
    PtcValue journal, summaries;   /* maps, or nil */
    bool validated;                /* the result was checked against a signature or schema */
    bool judged, fits; /* PtcRunMore.judge: the result was examined, and is what is wanted */
    PtcBuf issues;     /* judged, does not fit: why, see tool/contract.h */
    bool dropped;      /* it succeeded, but its definitions exceeded their limit and are not kept */
    PtcBuf lost; /* PtcRunMore.judge: names that it defined and that are not kept, one per line */
    bool ok;
    PtcControl control;
    PtcValue value; /* the result; for (fail v) its v; PTC_NONE if it failed otherwise */
    PtcLimits limits;
    PtcPrints prints;
    PtcWarnings warnings;
    PtcOutcomeError *errors;
    size_t error_count;
    PtcBuf text, json, payload, answer;
    bool text_done, text_cut, json_done;
    bool json_none; /* the value has no JSON form, or too long a one; not set when out of memory */
    bool json_long; /* too long, or too slow to write */
    char json_why[PTC_PATH_BYTES + 64]; /* then: what and where, or how long */
    bool answer_done, answer_none;      /* the same for the answer */
    const PtcSession *session;          /* only for comparing: it may have been freed */
    PtcOldGlobal *old;                  /* of definitions the run changed, by index */
    size_t old_count;
};

/* An empty outcome for a run that is about to start; NULL: out of memory. */
PTC_MUST_USE PtcOutcome *ptc_outcome_new(Ptc *ptc, const PtcLimits *limits);
/* NULL is allowed. */
void ptc_outcome_drop(PtcOutcome *o);
/* Holds the heap of v, or `heap` itself, until the outcome is dropped. */
void ptc_outcome_keep(PtcOutcome *o, int which, PtcValue v, PtcHeap *heap);

/* Takes result, prints and errors out of the VM.  False: out of memory. */
PTC_MUST_USE bool ptc_outcome_fill(PtcOutcome *o, bool ok, const PtcDiags *diags, PtcPhase phase,
                                   const char *source, size_t len);
/* Remembers the session's definitions from before the run, as far as the run changed them. */
PTC_MUST_USE bool ptc_outcome_note_changes(PtcOutcome *o, const PtcSession *session,
                                           const PtcVM *vm);

/* Did the definition with this number change in the run?  An equal value is not a change. */
bool ptc_outcome_changed(PtcOutcome *o, const PtcSession *session, uint32_t index);
/* Remembers the names of definitions that the run made and that will be discarded, in o->lost, as far as memory
 * allows. */
void ptc_outcome_note_lost(PtcOutcome *o, const PtcSession *session, const PtcVM *vm);

/* Another full timeout for turning values into text. */
void ptc_outcome_refresh(PtcOutcome *o);
/* Prints a value the way results are printed.  False: incomplete, or out of memory. */
bool ptc_outcome_print_value(PtcOutcome *o, PtcBuf *buf, PtcValue v);

/* The result of a successful run, as PTC-Lisp text (o->text_cut says whether it was cut) and as JSON; made once,
 * NUL-terminated.  NULL: out of memory; or it has no JSON form (o->json_none). */
const char *ptc_outcome_show_text(PtcOutcome *o);
const char *ptc_outcome_show_json(PtcOutcome *o);
/* The same JSON in the form of an answer, with underscores in keys; for a successful run the result, for (fail v) v.
 * NULL: out of memory; or there is none (o->answer_none). */
const char *ptc_outcome_show_answer(PtcOutcome *o);

/* Warning i, from 0 to warnings.count - 1; and all of them as a JSON array of {"kind", "phase", "message", "line",
 * "column", "hint"}, with "earlier" where it is true. */
PtcWarning ptc_outcome_warned(const PtcOutcome *o, size_t i);
bool ptc_outcome_write_warnings(const PtcOutcome *o, PtcBuf *out);

/* Finding i, from 0 to error_count - 1; call i, from 0 to log.count - 1.  Texts belong to the outcome. */
PtcError ptc_outcome_finding(const PtcOutcome *o, size_t i);
PtcToolRecord ptc_outcome_call(PtcOutcome *o, size_t i);
/* The calls that changed something outside, or may have, all as texts. */
const PtcWrites *ptc_outcome_writes(PtcOutcome *o);

/* "return", "fail", or NULL. */
const char *ptc_control_name(PtcControl control);

#endif
