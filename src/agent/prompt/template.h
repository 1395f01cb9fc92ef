/* SPDX-License-Identifier: MIT
 * template.h - prompts as Mustache templates: {{a}}, {{a.b}}, {{{a}}}, {{&a}}, sections, inverted sections, {{.}},
 * comments, other delimiters, standalone lines.  There are no partials or lambdas.
 *
 * Nothing is escaped.  Strings go in as they are, other scalars as in JSON, lists and maps as compact JSON, nil as
 * nothing.  nil, false, "" and [] remove a section.
 *
 * A template is read once, into an arena, and never changes: any number of threads may fill it in.  The work is
 * bounded on both sides: sections nest PTC_TEMPLATE_DEPTH deep, filling in visits at most PTC_TEMPLATE_ENTRIES
 * entries of sections and writes into a buffer with a maximum.  A value that was filled in is never read as a
 * template. */
#ifndef PTC_AGENT_PROMPT_TEMPLATE_H
#define PTC_AGENT_PROMPT_TEMPLATE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/units.h"
#include "base/why.h"
#include "tool/sig/sig.h"

enum {
    PTC_TEMPLATE_DEPTH = 20,            /* sections inside each other */
    PTC_TEMPLATE_NAMES = 32,            /* parts of a.b.c */
    PTC_TEMPLATE_ENTRIES = PTC_MILLION, /* of sections, in one pass */
    PTC_TEMPLATE_BYTES = 4 * PTC_MB     /* of a template that is filled in */
};

typedef enum {
    PTC_TEMPLATE_TEXT,
    PTC_TEMPLATE_VALUE,
    PTC_TEMPLATE_SECTION,
    PTC_TEMPLATE_INVERTED,
    PTC_TEMPLATE_END, /* of a section */
} PtcTemplateKind;

typedef struct PtcTemplateNode {
    PtcTemplateKind kind;
    PtcText text;         /* TEXT: what it says; else the tag as it was written */
    const PtcText *names; /* of a.b.c; of {{.}} none */
    size_t name_count;
    size_t first_name; /* number of names[0] in the whole template */
    size_t end;        /* SECTION, INVERTED: number of its END; END: number of what it ends */
} PtcTemplateNode;

typedef struct PtcTemplate {
    PtcTemplateNode *nodes;
    size_t count;
    size_t name_count; /* of all nodes together */
} PtcTemplate;

typedef struct PtcTemplateError {
    uint32_t line, column; /* from 1 */
    bool no_memory;
    char message[240];
} PtcTemplateError;

/* Reads a template, valid UTF-8; nodes point into `text`.  False with *error filled. */
PTC_MUST_USE bool ptc_template_read(PtcArena *arena, PtcText text, PtcTemplate *out,
                                    PtcTemplateError *error);

/* ---------------------------------------------------------------- template_check.c */

/* Do all placeholders refer to parameters of the signature, or fields inside them?  False with the message. */
PTC_MUST_USE bool ptc_template_check(const PtcTemplate *t, const PtcSig *sig, PtcWhy *why);
/* Does a placeholder or section begin with this name (`-` and `_` alike)? */
bool ptc_template_uses(const PtcTemplate *t, PtcText name);

/* ----------------------------------------------------------------- template_fill.c */

typedef struct PtcTemplateOptions {
    bool references;   /* outside sections {{a.b}} becomes data/a.b, not its value */
    bool keep_missing; /* what has no value stays as written; otherwise it becomes nothing */
    /* For a model: strings of several lines are fenced, and what is not seen is shown. */
    bool fences;
} PtcTemplateOptions;

typedef enum {
    PTC_TEMPLATE_OK,
    PTC_TEMPLATE_TOO_LARGE, /* more entries or bytes than allowed */
    PTC_TEMPLATE_NO_JSON,   /* a value has none */
    PTC_TEMPLATE_STOPPED,   /* out of memory, or the heap's budget stopped */
} PtcTemplateStatus;

/* Appends the template with values of the map `context`; the heap provides its budget and holds the strings used as
 * keys. *missing (may be NULL) counts placeholders that had no value. */
PTC_MUST_USE PtcTemplateStatus ptc_template_fill(const PtcTemplate *t, PtcHeap *heap,
                                                 PtcValue context,
                                                 const PtcTemplateOptions *options, PtcBuf *out,
                                                 size_t *missing);

#endif
