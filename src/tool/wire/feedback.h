/* SPDX-License-Identifier: MIT
 * feedback.h - the text that a model reads after its program ran: what was printed, the result, what is stored, or
 * what went wrong.  Everything that comes from the program or its data is fenced (fence.h). */
#ifndef PTC_TOOL_WIRE_FEEDBACK_H
#define PTC_TOOL_WIRE_FEEDBACK_H

#include "ptc/ptc.h"
#include "tool/wire/fence.h"

/* Every field PTC_UNSET. */
void ptc_format_unset(PtcFormatOptions *options);
/* Copies what `given` has (NULL: nothing) over the defaults.  False when its size or a field is out of range. */
bool ptc_format_resolve(PtcFormatOptions *options, const PtcFormatOptions *given);

/* Appends a text cut to max_chars, with a note saying how much is missing.  `more`: the text itself is incomplete.
 * True if something is missing. */
bool ptc_preview_add(PtcBuf *out, PtcText text, bool more, int64_t max_chars);

/* A stored name and the preview of its value. */
typedef struct PtcStoredPreview {
    PtcText name, preview;
} PtcStoredPreview;

/* What a successful run leaves to report. */
typedef struct PtcExecution {
    PtcText result; /* "user=> ..." as a preview; none when there is nothing to show */
    const PtcText *prints;
    size_t print_count;
    const PtcStoredPreview *changed; /* new or different since the run before, by name */
    size_t changed_count;
    const PtcText *stored; /* all names, sorted */
    size_t stored_count;
    bool prints_cut; /* the run itself dropped printed text */
    /* The model continues from here: it is shown the result (unless it printed: then it has chosen what it wants to
     * see) and what is stored.  Otherwise only the printed text, since the answer has the result beside it. */
    bool more_turns;
} PtcExecution;

/* Appends the feedback, or nothing if there is nothing to report.  True if printed text had to be cut. */
bool ptc_feedback_run(PtcBuf *out, const PtcExecution *run, const PtcFormatOptions *options);

/* One thing that went wrong. */
typedef struct PtcFinding {
    PtcText message, form, hint; /* form and hint may be none or empty */
    uint32_t line, column;       /* from 1; 0: unknown */
} PtcFinding;

typedef struct PtcFailure {
    const char *kind; /* closed set, "type_error" */
    bool ran;         /* false: the findings were made before anything ran */
    const PtcFinding *findings;
    size_t finding_count;
    const PtcText *prints; /* what was printed until then */
    size_t print_count;
    bool prints_cut;
} PtcFailure;

/* Appends the feedback of a program that failed. */
void ptc_feedback_error(PtcBuf *out, const PtcFailure *failure, const PtcFormatOptions *options);

#endif
