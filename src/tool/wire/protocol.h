/* SPDX-License-Identifier: MIT
 * protocol.h - the wire format of the tool `lisp_eval`: how it is described to a model, what it takes, what it
 * answers.  Nothing here runs a program: plain structs in, JSON text out.  docs/protocol.md describes the format.
 *
 * What always holds: a description is one constant and says what a program can do, never how to work; the set of
 * reasons is closed; an absent field is left out, never null, except in the two cases that say so. */
#ifndef PTC_TOOL_WIRE_PROTOCOL_H
#define PTC_TOOL_WIRE_PROTOCOL_H

#include "tool/wire/feedback.h"
#include "value/print.h"

#define PTC_TOOL_NAME "lisp_eval"

/* The description, the arguments as a JSON Schema, and both as a tool in OpenAI's function format; NULL for an
 * unknown profile. */
const char *ptc_protocol_description(PtcProfile profile);
const char *ptc_protocol_parameters(PtcProfile profile);
const char *ptc_protocol_schema(PtcProfile profile);

/* Whether the argument `program` (PTC_NONE when absent) is text that can be run.  If not, appends what is wrong: the
 * message of an `args_error`. */
bool ptc_protocol_validate_program(PtcValue program, const PtcPrinter *printer, PtcBuf *message);

/* ------------------------------------------------------------------- success */

/* Names that live on; see PtcExecution for their order. */
typedef struct PtcMemory {
    const PtcStoredPreview *changed;
    size_t changed_count;
    const PtcText *stored;
    size_t stored_count;
    bool truncated;
} PtcMemory;

typedef struct PtcSuccess {
    PtcText result; /* "user=> ..."; absent: left out if the value was nil, else null */
    bool value_nil;
    const PtcText *prints;
    size_t print_count;
    PtcText feedback;
    bool truncated;          /* printed text or result were cut */
    const PtcMemory *memory; /* NULL: nothing is remembered, no `memory` */
    PtcText validated;       /* JSON, written unchanged; absent: no `validated` */
    PtcText warnings;        /* the same; none: no `warnings` */
    bool no_feedback;        /* left out: the caller adds its own */
} PtcSuccess;

void ptc_protocol_render_success(PtcBuf *out, const PtcSuccess *success);

/* What a successful run produced, uncut. */
typedef struct PtcShown {
    PtcText text; /* the value, printed; absent if it is nil, or not worth showing (a var) */
    bool value_nil, text_cut;
    const PtcText *prints;
    size_t print_count;
    bool prints_cut;
    PtcText validated, warnings; /* JSON, or none */
    bool no_feedback;            /* as in PtcSuccess */
} PtcShown;

/* The answer for a step: previews, feedback and flags are made here.  With `memory` (NULL: an independent call) the
 * feedback is for a model that continues. */
void ptc_protocol_render_step(PtcBuf *out, const PtcShown *step, const PtcMemory *memory,
                              const PtcFormatOptions *options);

/* Parts of that answer, for callers that compose it differently: its feedback, or with `whole` one text that says
 * everything, for a model that sees no other part; and the value of `memory`. */
void ptc_protocol_feedback(PtcBuf *out, const PtcShown *step, const PtcMemory *memory,
                           const PtcFormatOptions *options, bool whole);
void ptc_protocol_add_memory(PtcBuf *out, const PtcMemory *memory);

/* --------------------------------------------------------------------- errors */

typedef enum {
    PTC_REASON_PARSE,
    PTC_REASON_RUNTIME,
    PTC_REASON_TIMEOUT,
    PTC_REASON_MEMORY,
    PTC_REASON_ARGS,
    PTC_REASON_FAIL,
    PTC_REASON_VALIDATION,
    PTC_REASON_COUNT
} PtcReason;

/* "parse_error" and so on. */
const char *ptc_reason_name(PtcReason reason);
/* The reason of that name; PTC_REASON_RUNTIME for any other. */
PtcReason ptc_reason_find(const char *name);

typedef struct PtcErrorAnswer {
    PtcReason reason;
    PtcText message;
    PtcText feedback; /* none: the message */
    PtcText result;   /* a preview of v in (fail v); absent: null.  Only for that reason */
    PtcText warnings; /* JSON, written as it is; none: no `warnings` */
    bool no_feedback; /* as in PtcSuccess */
} PtcErrorAnswer;

void ptc_protocol_render_error(PtcBuf *out, const PtcErrorAnswer *error);

#endif
