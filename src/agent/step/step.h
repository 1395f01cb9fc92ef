/* SPDX-License-Identifier: MIT
 * step.h - the loop of an agent as a pure function: a state and an event in, the state changed and one action out.
 *
 * It knows no clock, no input or output, no engine and no model.  What it must know about the world comes with each
 * event as facts; what it wants done is returned as an action:
 *
 *     start              -> ASK | FINISH
 *     reply              -> RUN | CALL | ASK | FINISH      (asking)
 *     failed             -> WAIT | FINISH                  (asking)
 *     waited             -> ASK | FINISH                   (waiting)
 *     ran                -> ASK | FINISH                   (running)
 *     called             -> ASK | FINISH                   (calling)
 *     cancel             -> FINISH                         (any)
 *
 * Turns are claimed by the loop: before it performs an ASK it takes one turn from the tree's budget, under the same
 * lock as the step itself; `turn_back` in a later action says that the claimed turn was not used.  In the facts, the
 * turns that are left do not include claimed ones.
 *
 * Everything lives in one arena with a limit.  When that is reached, or the system is out of memory, the state is as
 * before the event and the action is FINISH with no_memory.  An event in a state where it cannot happen is a mistake
 * in the loop: FINISH with internal_error.  After FINISH nothing changes.  Kinds that come in are constants. */
#ifndef PTC_AGENT_STEP_STEP_H
#define PTC_AGENT_STEP_STEP_H

#include "agent/prompt/agent_words.h"
#include "agent/prompt/compaction.h"
#include "agent/prompt/did_words.h"
#include "agent/step/heard.h"

enum { PTC_STEP_BYTES = 64 * PTC_MB };

/* ------------------------------------------------------------------------------- options */

/* What a run sets; ptc_step_options gives the defaults. */
typedef struct PtcStepOptions {
    int64_t token_limit;      /* of the tree; -1: none */
    bool return_partial;      /* on_budget_exceeded */
    PtcLlmRetry retry;        /* max_attempts is at least 1 */
    int64_t depth, max_depth; /* of this agent, the top one being 1 */
    bool has_model;
    int64_t fallbacks; /* models to go on with when requests to one fail */
} PtcStepOptions;

PtcStepOptions ptc_step_options(const PtcAgentDef *def);

/* -------------------------------------------------------------------------------- events */

typedef struct PtcFacts {
    int64_t now_ns, deadline_ns; /* INT64_MAX: none */
    bool hurried;   /* the deadline was asked for: a wait of any length before it is fine */
    int64_t budget; /* turns of the tree that are left, not counting claimed ones */
    int64_t tree_tokens;
    bool stop; /* the host's budget callback says so */
} PtcFacts;

typedef enum {
    PTC_EVENT_START,
    PTC_EVENT_REPLY,
    PTC_EVENT_FAILED,
    PTC_EVENT_WAITED,
    PTC_EVENT_RAN,
    PTC_EVENT_CALLED,
    PTC_EVENT_CANCEL,
} PtcEventKind;

/* START: the conversation so far; messages that ptc_messages_check accepted. */
typedef struct PtcOpening {
    PtcText system, mission;
    PtcText journal_log; /* absent: nothing to show */
    const PtcMessage *earlier;
    size_t earlier_count;
} PtcOpening;

/* RAN: how a program ended ... */
typedef enum {
    PTC_RAN_VALUE,
    PTC_RAN_RETURN,
    PTC_RAN_FAIL,         /* (fail v) */
    PTC_RAN_FAILED,       /* an error or a limit */
    PTC_RAN_MEMORY_LIMIT, /* what it defined was too large, and is discarded */
    PTC_RAN_CANCELLED,
    PTC_RAN_NO_MEMORY,
    PTC_RAN_UNFIT, /* it was not run: no answer that it has is what it should be */
} PtcRanEnd;

typedef enum { PTC_VALUE_PLAIN, PTC_VALUE_NIL, PTC_VALUE_VAR } PtcValueKind;

/* A tool call of a turn. */
typedef struct PtcTurnCall {
    PtcText name;
    bool native, ok, cached;
    uint32_t tries; /* how often its tool was called */
} PtcTurnCall;

/* ... and what came of it.  A value is always judged, whether or not it ends the run. */
typedef struct PtcRan {
    PtcRanEnd end;
    PtcValueKind value_kind;
    bool fits;
    PtcText value;  /* VALUE, RETURN, FAIL: as JSON, {"$text":...} when it has none; absent: nil */
    PtcText answer; /* fits: the answer's JSON */
    PtcText issues, findings; /* !fits: as in PtcJudged */
    PtcText prints;           /* a JSON list */
    const char *kind;         /* FAILED: "type_error" and so on */
    PtcText message;          /* FAIL, FAILED, MEMORY_LIMIT */
    PtcText payload;          /* the answer of lisp_eval without feedback */
    PtcText feedback;         /* what the model reads about the run; may be empty */
    PtcText journal_log;      /* absent: unchanged */
    const PtcTurnCall *calls;
    size_t call_count;
    const PtcText *lost; /* names that it defined and that were discarded */
    size_t lost_count;
    const PtcDoneStep *done; /* steps it checked off */
    size_t done_count;
    PtcDidCalls did; /* of a program that failed: what it changed outside */
    bool own_fail;   /* data/fail is the caller's */
} PtcRan;

/* CALLED: what a native call gave. */
typedef struct PtcCallResult {
    bool ok, cached;
    PtcText content;           /* ok: JSON; else what went wrong */
    PtcAgentFault reason;      /* not ok */
    uint32_t tries;            /* how often its tool was called */
    int64_t took_ns, ended_ns; /* for the observer; ended_ns 0: it was not called */
} PtcCallResult;

typedef struct PtcEvent {
    PtcEventKind kind;
    PtcFacts facts;
    union {
        PtcOpening opening;
        struct {
            const PtcHeard *heard;
            PtcTokens tokens;
            PtcText opaque;
        } reply;
        struct {
            PtcLlmStatus status; /* not PTC_LLM_OK */
            PtcText error;
            int64_t retry_after_ms;
            bool streamed;
            PtcTokens tokens;
        } failed;
        PtcRan ran;
        struct {
            const PtcCallResult *results; /* one for each call of the action, in order */
            size_t count;
        } called; /* no results: out of memory */
    };
} PtcEvent;

/* ------------------------------------------------------------------------------- actions */

/* What a program must do to end the run, provided that the value fits. */
typedef enum {
    PTC_ENDS_NEVER,      /* nothing: combined mode */
    PTC_ENDS_RETURN,     /* (return v) */
    PTC_ENDS_DUE_RETURN, /* the same, and the answer is due now */
    PTC_ENDS_DUE_VALUE,  /* the answer is due: a value counts too, but nil and vars do not */
    PTC_ENDS_DUE_NIL,    /* the same, and nil counts */
} PtcEnding;

/* (budget/remaining) */
typedef struct PtcRemaining {
    int64_t turns, work_turns, retry_turns, depth, max_depth;
    PtcTokens tokens;
    int64_t llm_requests;
} PtcRemaining;

typedef enum {
    PTC_ACTION_ASK,
    PTC_ACTION_RUN,
    PTC_ACTION_CALL,
    PTC_ACTION_WAIT,
    PTC_ACTION_FINISH,
} PtcActionKind;

/* A native call that is to be made. */
typedef struct PtcCallOrder {
    size_t tool;
    PtcText args;
} PtcCallOrder;

typedef struct PtcAction {
    PtcActionKind kind;
    bool turn_back; /* the turn claimed for the last request was not used */
    union {
        PtcLlmRequest request; /* ASK; the loop adds cancel, stream, agent and timeout */
        struct {
            PtcText program;
            PtcEnding ending;
            const char *fail_kind; /* data/fail: {:reason kind :message text ...}; NULL: none */
            PtcText fail_message;
            PtcDidCalls did; /* ... :done and :unknown */
            PtcRemaining remaining;
        } run;
        struct {
            const PtcCallOrder *calls;
            size_t count;
        } call;
        int64_t wait_ms;
    };
} PtcAction;

/* Does a program that ended this way end the run?  For the caller that must know before the step does
 * (memory_limit). */
bool ptc_step_ends(PtcEnding ending, PtcRanEnd end, PtcValueKind kind, bool fits);
/* Must the model correct it, so that what it changed outside matters? */
bool ptc_step_fails(PtcEnding ending, PtcRanEnd end, PtcValueKind kind, bool fits);

/* --------------------------------------------------------------------------------- state */

typedef enum { PTC_TURN_NORMAL, PTC_TURN_MUST_RETURN, PTC_TURN_RETRY } PtcTurnType;

typedef struct PtcTurn {
    PtcTurnType type;
    bool ok;
    PtcAgentFault reason; /* not ok */
    const char *kind;     /* PTC_FAULT_PROGRAM: that of the error, "type_error" and so on */
    PtcText message;
    PtcText program; /* absent: none ran */
    PtcText value;   /* JSON; absent: none to show */
    /* JSON of a value that a program ended with, without return; absent: nil, a var, none. */
    PtcText bare;
    PtcText answer;         /* JSON of it as an answer; absent: it does not fit */
    PtcText issues, prints; /* JSON lists; absent: none */
    const PtcTurnCall *calls;
    size_t call_count;
    const PtcText *lost;
    size_t lost_count;
    PtcTokens tokens;
} PtcTurn;

/* The word for why it failed; NULL: it did not. */
const char *ptc_turn_word(const PtcTurn *turn);

typedef enum {
    PTC_STEP_NEW,
    PTC_STEP_ASKING,
    PTC_STEP_WAITING,
    PTC_STEP_RUNNING,
    PTC_STEP_CALLING,
    PTC_STEP_DONE,
} PtcStepState;

/* A native call of the current turn. */
typedef struct PtcPending {
    PtcMessageCall call; /* with the id that it has in the conversation */
    size_t tool;
    PtcAgentFault reason; /* refused; NONE: it is made */
    PtcText message;
} PtcPending;

/* How a run ended. */
typedef struct PtcVerdict {
    bool ok;
    const char *by;       /* ok: "return", "value", "answer", "partial" */
    PtcAgentFault reason; /* error */
    PtcLlmStatus status;  /* PTC_FAULT_LLM_ERROR: the class of the request's failure */
    /* Error: the word for why the last turn failed, or for `status`; or NULL. */
    const char *cause;
    PtcText message;
    PtcText value;   /* ok: the answer; failed: v of (fail v), absent for nil */
    PtcText partial; /* error: absent: none */
} PtcVerdict;

/* Everything that an event changes. */
typedef struct PtcStepNow {
    PtcStepState state;
    int64_t work, retry; /* turns that are left */
    int64_t attempts;    /* requests of this turn so far */
    int64_t fallback;    /* which model is asked: 0, or one of the fallbacks from 1 */
    int64_t gone;        /* requests of this turn to models before that one */
    PtcTurnType type;    /* of the turn that was asked for */
    PtcConversation messages;
    size_t mission;       /* number of its message */
    size_t turn_first;    /* messages from here on belong to the current turn */
    PtcTurn *turns, turn; /* those that are over; the current one */
    size_t turn_count;
    PtcPending *pending;
    size_t pending_count;
    PtcEnding ending;          /* of the program that runs */
    PtcText bare, bare_answer; /* of the latest turn that has one; see PtcTurn */
    PtcTokens tokens;
    int64_t requests, errors, calls, native_calls;
    const char *fail_kind;
    PtcText fail_message;
    PtcDidCalls did;     /* what programs changed outside since one last succeeded */
    PtcText system_more; /* the journal's log, in words; absent: none */
    const PtcDoneStep *done;
    size_t done_count;
    PtcCompacted compacted;
    PtcVerdict verdict;
} PtcStepNow;

typedef struct PtcStep {
    const PtcAgentDef *def; /* held by the run */
    PtcStepOptions options;
    PtcText system;
    PtcMessage note; /* in place of the mission, when compaction leaves it out */
    PtcMem mem;
    PtcArena arena;
    PtcBuf text; /* for texts being composed */
    PtcStepNow now;
} PtcStep;

void ptc_step_init(PtcStep *s, const PtcAgentDef *def, const PtcStepOptions *options);
void ptc_step_deinit(PtcStep *s);

/* Takes an event.  The action points into the state and is good until the next event. */
PTC_MUST_USE PtcAction ptc_step(PtcStep *s, const PtcEvent *event);

#endif
