/* SPDX-License-Identifier: MIT
 * sig_check.h - values against signatures: strict validation, lenient coercion, the four modes.
 *
 * All of it works on values in any heap; `heap` provides the budget, the memory and room for new values.  Nothing is
 * allocated as long as a value is as the signature wants it, and such a value is returned unchanged.  No program code
 * is called and nothing is collected, so nothing needs rooting meanwhile. */
#ifndef PTC_TOOL_SIG_SIG_CHECK_H
#define PTC_TOOL_SIG_SIG_CHECK_H

#include "tool/sig/sig.h"

enum { PTC_SIG_ISSUES_MAX = 64 };

/* One step from a value to a part of it. */
typedef struct PtcSigStep {
    const char *name; /* key of a map; NULL: index in a list */
    size_t len, index;
} PtcSigStep;

typedef struct PtcSigIssue {
    const PtcSigStep *path;
    size_t path_len;
    const char *message; /* ends with a NUL that is not counted */
    size_t message_len;
} PtcSigIssue;

/* What was found, in order; owns its texts. */
typedef struct PtcSigIssues {
    PtcArena arena;
    size_t count; /* of items */
    size_t total; /* found, whether or not they are kept */
    const PtcSigType *
        listed; /* whose names the last one about an unexpected field had: not told twice in a row */
    PtcSigIssue items[PTC_SIG_ISSUES_MAX];
} PtcSigIssues;

/* Costs nothing until there is an issue.  End with _deinit. */
void ptc_sig_issues_init(PtcSigIssues *issues, PtcMem *mem);
void ptc_sig_issues_deinit(PtcSigIssues *issues);
/* Appends `results[0].customer.id: expected int, got string "abc"`. */
bool ptc_sig_issue_print(PtcBuf *buf, const PtcSigIssue *issue);
/* Appends all of them with a separator in between, and how many more there were. */
bool ptc_sig_issues_print(PtcBuf *buf, const PtcSigIssues *issues, const char *separator);
/* Appends [{"path":["items",0,"id"],"message":"..."}]. */
bool ptc_sig_issues_json(PtcBuf *buf, const PtcSigIssues *issues);

/* Is v of the type?  False with issues, or without any if the budget stopped.  `closed`: maps with fields must have
 * no others. */
PTC_MUST_USE bool ptc_sig_validate(PtcHeap *heap, const PtcSigType *type, bool closed, PtcValue v,
                                   PtcSigIssues *issues);

/* What becomes of fields that the type does not name, at every depth. */
typedef enum {
    PTC_SIG_EXTRA_REFUSED,
    PTC_SIG_EXTRA_WARNED, /* kept, with a warning */
    PTC_SIG_EXTRA_KEPT,
    PTC_SIG_EXTRA_LEFT_OUT,
} PtcSigExtra;

/* v made to fit the type where that is obvious enough ("42" for 42); what was changed is in warnings.  PTC_NONE with
 * errors, or without any if out of memory or the budget stopped. */
PTC_MUST_USE PtcValue ptc_sig_coerce(PtcHeap *heap, const PtcSigType *type, PtcSigExtra extra,
                                     PtcValue v, PtcSigIssues *warnings, PtcSigIssues *errors);

/* A value that was JSON, with what JSON cannot express filled in where the type wants it: datetimes for ISO 8601
 * strings, keywords for strings.  What does not fit is left for validation to find.  PTC_NONE if out of memory or
 * the budget stopped. */
PTC_MUST_USE PtcValue ptc_sig_atomize(PtcHeap *heap, const PtcSigType *type, PtcValue v);

/* A value that a program computed, with 3438 for 3438.0 where the type wants an int: divisions and sums of JSON numbers
 * give floats.  What does not fit is left for validation to find.  PTC_NONE as from ptc_sig_atomize. */
PTC_MUST_USE PtcValue ptc_sig_whole(PtcHeap *heap, const PtcSigType *type, PtcValue v);

/* How strictly a signature is applied. */
typedef enum {
    PTC_SIG_ENABLED,   /* inputs are coerced, outputs validated */
    PTC_SIG_WARN_ONLY, /* the same, but errors become warnings and the value is passed on unchanged */
    PTC_SIG_DISABLED, /* nothing is checked */
    PTC_SIG_STRICT,   /* no coercion, and no fields of results other than those named */
} PtcSigMode;

/* The arguments of a call, a map or nil for none, as the mode wants them.  A signature without a parameter list
 * leaves them unchanged.  PTC_NONE as from ptc_sig_coerce. */
PTC_MUST_USE PtcValue ptc_sig_input(PtcHeap *heap, const PtcSig *sig, PtcSigMode mode,
                                    PtcSigExtra extra, PtcValue args, PtcSigIssues *warnings,
                                    PtcSigIssues *errors);
/* Such arguments without the optional ones that are nil: a paging loop passes nil for the token it does not have yet,
 * while tools only distinguish present from absent.  PTC_NONE: out of memory, or the budget stopped. */
PTC_MUST_USE PtcValue ptc_sig_leave_out_nil(PtcHeap *heap, const PtcSig *sig, PtcValue args);
/* May this value be the result?  False as from ptc_sig_validate. */
PTC_MUST_USE bool ptc_sig_output(PtcHeap *heap, const PtcSig *sig, PtcSigMode mode, PtcValue v,
                                 PtcSigIssues *warnings, PtcSigIssues *errors);
/* The reference's validate_return: strict; with sig NULL it accepts everything.  The value counts as what it is in
 * JSON: a keyword or a date is also a string, a set a list. */
PTC_MUST_USE bool ptc_sig_validate_return(PtcHeap *heap, const PtcSig *sig, PtcValue v,
                                          PtcSigIssues *errors);

#endif
