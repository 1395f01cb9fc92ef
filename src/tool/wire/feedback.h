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
    /* The model continues from here: it is shown the result and what is stored.  Otherwise only the printed text. */
    bool more_turns;
} PtcExecution;

/* Appends all of it in fences, for a model that sees nothing else; nothing if there is nothing to report. */
void ptc_feedback_run(PtcBuf *out, const PtcExecution *run);

/* What was left out of result and prints, because there was no room for it. */
typedef struct PtcCutNote {
    size_t result_chars, result_rows; /* left out; whole rows that are shown, 0: not known */
    size_t print_chars, print_lines;  /* left out; lines that are shown */
    bool result_more, prints_more;    /* the run itself had dropped more of it */
    bool again;                       /* later programs have the result as *1 */
} PtcCutNote;

/* Says how much was cut and how to see it; nothing if nothing was. */
void ptc_feedback_cuts(PtcBuf *out, const PtcCutNote *cut);

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
