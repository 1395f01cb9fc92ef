/* SPDX-License-Identifier: MIT
 * definition_int.h - declarations shared by the definition_*.c files. */
#ifndef PTC_AGENT_DEFINITION_DEFINITION_INT_H
#define PTC_AGENT_DEFINITION_DEFINITION_INT_H

#include "agent/definition/definition.h"
#include "tool/file.h"

/* ------------------------------------------------------------------ faults (definition.c) */

enum { PTC_FOUND_BYTES = 80 };
/* What a value is, for messages: 0, "text", an object. */
const char *ptc_fault_found(PtcValue v, char out[PTC_FOUND_BYTES]);

/* ----------------------------------------------------------- fields (definition_fields.c) */

/* Bits of PtcAgentMode. */
enum {
    PTC_MODES_LISP = 1u << PTC_MODE_CONTENT | 1u << PTC_MODE_TOOL_CALL,
    PTC_MODES_PROGRAMS = PTC_MODES_LISP | 1u << PTC_MODE_COMBINED,
    PTC_MODES_COMBINED = 1u << PTC_MODE_COMBINED,
    PTC_MODES_ALL = 0,
};

struct PtcFieldReader;

/* A row for each field of an object: how it is read, what is allowed, in which modes it has an effect. */
typedef struct PtcFieldRow {
    const char *name;
    enum { PTC_FIELD_TEXT, PTC_FIELD_BOOL, PTC_FIELD_INT, PTC_FIELD_WORD, PTC_FIELD_OTHER } kind;
    bool nullable;     /* null counts as absent */
    unsigned modes;    /* bits; PTC_MODES_ALL: it always has an effect */
    size_t offset;     /* in the definition; unused by OTHER */
    int64_t min, max;  /* INT */
    const char *words; /* WORD: "strict rollback"; the number of the word is stored ... */
    size_t size;       /* ... in this many bytes */
    bool (*read)(struct PtcFieldReader *r, PtcValue v);
} PtcFieldRow;

/* An object that is being read. */
typedef struct PtcFieldReader {
    PtcAgentDef *def;
    const PtcAgentReading *how;
    PtcHeap *heap; /* for its budget */
    PtcWhy *fault;
    char path[120]; /* of the field being read */
    void *user;     /* for readers of rows that are not in the definition */
} PtcFieldReader;

/* Rows of the file; the row with name NULL ends them. */
extern const PtcFieldRow ptc_definition_rows[];

/* Are the values of all rows in range?  Also for definitions that came from C. */
bool ptc_fields_check(const PtcAgentDef *def, PtcWhy *fault);
/* Reads an object by rows; `given` (may be NULL) gets a bit for each row that was present. */
bool ptc_fields_read(PtcFieldReader *r, PtcValue object, const PtcFieldRow *rows, uint64_t *given);
/* Refuses the field being read.  Always false. */
bool ptc_fields_refuse(PtcFieldReader *r, PtcValue found, const char *allowed);
/* Copies a string into the definition's arena; refuses anything else, and an empty one. */
bool ptc_fields_text(PtcFieldReader *r, PtcValue v, PtcText *out);
/* A copy in the arena; false: the fault says "out of memory". */
bool ptc_fields_copy(PtcFieldReader *r, PtcText from, PtcText *out);
/* The JSON of a value, in the arena. */
bool ptc_fields_json(PtcFieldReader *r, PtcValue v, PtcText *out);

/* A model's name, or the replies of a script as JSON (definition_read.c). */
bool ptc_definition_read_model(PtcFieldReader *r, PtcValue v, PtcText *model, PtcText *script);

/* ------------------------------------------------------------- tools (definition_tools.c) */

/* Reads the field `tools`. */
bool ptc_definition_read_tools(PtcFieldReader *r, PtcValue v);
/* Adds those that the host provides. */
bool ptc_definition_take_tools(PtcAgentDef *def, const PtcAgentReading *how, PtcWhy *fault);
/* The rest: built-in tools, "self", who may call which tool, what is offered to the model. */
bool ptc_definition_finish_tools(PtcAgentDef *def, PtcWhy *fault);
/* A note, which becomes the user of the tool (NULL: of none); NULL: out of memory. */
PtcAgentTool *ptc_definition_note(PtcAgentDef *def, PtcTool *tool);
/* The tool takes its signature and description from the child unless it has its own. */
void ptc_definition_borrow(const PtcAgentDef *child, PtcTool *tool);

/* ------------------------------------------------------------ checks (definition_check.c) */

/* Everything except tools, once the mode is known. */
bool ptc_definition_check(PtcAgentDef *def, PtcWhy *fault);

/* ------------------------------------------------------------- files (definition_file.c) */

/* The agent in a file that another one names. */
PTC_MUST_USE PtcAgentDef *ptc_definition_include(PtcText name, const PtcAgentReading *how,
                                                 PtcWhy *fault);
/* Appends the text of a file that an agent names, found in the same way. */
PTC_MUST_USE bool ptc_definition_include_text(PtcText name, const PtcAgentReading *how, PtcBuf *out,
                                              PtcWhy *fault);

#endif
