/* SPDX-License-Identifier: MIT
 * call_reason.h - why a call of a tool in another server did not go well, and why policy decides as it does: one table
 * of codes.  A reason is found where it enters (an answer, a status, a silence, the end of a process, a decision, a
 * word of an earlier process); everybody behind that looks at its code or its row, never at its word. */
#ifndef PTC_TOOL_CALL_REASON_H
#define PTC_TOOL_CALL_REASON_H

#include <stdint.h>

#include "base/text.h"

typedef enum PtcCallReason {
    PTC_CALL_WELL,
    /* what programs, ledgers and metrics tell apart */
    PTC_CALL_UNAVAILABLE,
    PTC_CALL_BAD_ANSWER, /* of the server: it breaks the protocol, or is none that can be used */
    PTC_CALL_TOOL_ERROR, /* the tool says that it failed */
    PTC_CALL_AUTH_FAILED,
    PTC_CALL_RATE_LIMITED,
    PTC_CALL_TIMEOUT,
    PTC_CALL_TOO_LARGE,
    PTC_CALL_CAP_EXHAUSTED,
    PTC_CALL_DENIED,
    PTC_CALL_DECLINED, /* by a person */
    PTC_CALL_INPUT_REQUIRED,
    PTC_CALL_INVALID_ARGS,
    PTC_CALL_OTHER, /* what metrics call all that stand behind it */
    PTC_CALL_UNKNOWN_SERVER,
    PTC_CALL_UNKNOWN_TOOL,
    PTC_CALL_AMBIGUOUS,
    PTC_CALL_ASIDE, /* somebody must be asked first: this part of the program ends, and no program sees it */
    /* what is told apart here only, and shown as one of those above */
    PTC_CALL_NO_MEMORY,
    PTC_CALL_BUSY,          /* it says that it cannot do this now, but soon */
    PTC_CALL_LATE,          /* it exceeded its own time limit, and the run may have time left */
    PTC_CALL_NOT_CONNECTED, /* refused, or the process did not start: nothing was sent */
    PTC_CALL_RESET,
    PTC_CALL_DIED,
    PTC_CALL_SESSION_LOST,
    PTC_CALL_TOKEN_EXPIRED,
    PTC_CALL_HTTP_407,
    PTC_CALL_HTTP_408,
    PTC_CALL_HTTP_502,
    PTC_CALL_HTTP_503,
    PTC_CALL_HTTP_504,
    PTC_CALL_HTTP_5XX, /* any other */
    PTC_CALL_RPC_ERROR,
    PTC_CALL_CANCELLED,
    PTC_CALL_UNSUPPORTED_BODY, /* a request that cannot be made: this one to ... */
    PTC_CALL_REQUEST_TOO_LARGE,
    PTC_CALL_UNSUPPORTED_DOCUMENT,
    PTC_CALL_WRITES_NOT_ALLOWED, /* ... this one */
    /* what policy decides by, whether it allows, asks or denies */
    PTC_CALL_BY_EFFECT,
    PTC_CALL_BY_RULE,
    PTC_CALL_BY_POSTURE,
    PTC_CALL_BY_APPROVAL,
    PTC_CALL_BY_CHANGE,      /* since it was pinned */
    PTC_CALL_BY_PIN,         /* likewise, with "pin": "strict" */
    PTC_CALL_BY_MISSING_PIN, /* what it was cannot be known */
    PTC_CALL_CANNOT_ASK,
    PTC_CALL_REASONS
} PtcCallReason;

typedef enum { PTC_TOOK_NO_EFFECT, PTC_TOOK_EFFECT, PTC_TOOK_UNKNOWN } PtcTookEffect;

typedef struct PtcCallReasonRow {
    const char *word;    /* its own */
    PtcTookEffect took;  /* unknown: it took none if the call was not delivered */
    bool may_repeat;     /* another try may go well */
    PtcCallReason shown; /* the reason that others see in its place; 0: itself */
} PtcCallReasonRow;

/* How a call failed, as the edge that saw it can tell. */
typedef struct PtcCallFault {
    PtcCallReason reason;   /* PTC_CALL_WELL: the tool says that it failed, and no more is known */
    bool begun;             /* the tool may have begun to do what it was asked for */
    int64_t retry_after_ms; /* -1: nobody said when to try again */
} PtcCallFault;

extern const PtcCallReasonRow ptc_call_reasons[PTC_CALL_REASONS];

/* The reason that programs, ledgers and metrics see, and its word; "" when it went well. */
PtcCallReason ptc_call_reason_shown(PtcCallReason reason);
const char *ptc_call_reason_word(PtcCallReason reason);
/* The reason with this word of its own; PTC_CALL_OTHER: there is none. */
PtcCallReason ptc_call_reason_find(PtcText word);
/* Does nobody know whether the call took effect?  A tool that says itself that it failed is believed. */
static inline bool ptc_call_is_unsure(const PtcCallFault *fault)
{
    return fault->begun && ptc_call_reasons[fault->reason].took == PTC_TOOK_UNKNOWN;
}

/* What a status of HTTP says that is no success. */
PtcCallReason ptc_call_reason_of_status(int64_t status);

#endif
