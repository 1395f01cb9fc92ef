/* SPDX-License-Identifier: MIT
 * kind.h - kinds of tools, one row for each: what a definition writes, how that is read, what a schema and a page say
 * about it, who answers a call.
 *
 * A new kind is its file, which ends with the row; the list that names the row (kind.c, or agent/agent_kinds.c if it
 * needs an agent around it); schemas/agent.json; and a line in the table of docs/tools.md or docs/agents.md.
 * tests/unit/test_agent_definition.c holds the last two to the rows. */
#ifndef PTC_TOOL_KIND_KIND_H
#define PTC_TOOL_KIND_KIND_H

#include "tool/file.h"
#include "tool/source.h"
#include "value/copy.h"

/* Options that only go with some kinds. */
enum { PTC_KIND_ENV = 1, PTC_KIND_MODEL = 2, PTC_KIND_SLEEP = 4, PTC_KIND_RETRY = 8 };

/* The state of reading one file; from `tool` on, of the current tool. */
typedef struct PtcToolReader {
    PtcTools *tools;
    const PtcToolsFileOptions *allow;
    PtcCopy copy;
    PtcSource source;
    PtcWhy *why; /* what is wrong */
    PtcTool tool;
    const struct PtcToolKind *kind;
    const char *key;  /* being read, such as native_result.limit; NULL: the tool as a whole */
    PtcValue env;     /* PTC_NONE: none */
    PtcValue model;   /* "llm" with the name of a model or its replies; PTC_NONE: none */
    int64_t sleep_ms; /* 0: none */
    bool has_read_only, has_idempotent, has_retry;
} PtcToolReader;

typedef struct PtcToolKind {
    const char *key;    /* whose value is read; the name of a built-in tool */
    const char *doc;    /* one sentence: in the schema, or for the model if the tool is built in */
    const char *schema; /* JSON Schema of the value, without the doc */
    const char *signature; /* of a built-in tool */
    /* Fills in what the row does not know.  NULL: the tool is built in. */
    bool (*read)(PtcToolReader *r, PtcValue v);
    PtcToolFn call; /* NULL: the VM of the program calls it */
    PtcToolType type;
    unsigned options; /* those that go with it, of the above */
    bool inside;      /* reaches nothing outside, so it is read-only unless it says otherwise */
    bool pure;        /* its function changes nothing anywhere */
    bool in_agent;    /* needs an agent around it */
    bool uncounted;   /* its time is no time of the program that calls it */
    bool extra;       /* always takes arguments that its signature does not name */
    bool is_word;     /* the definition is this word, and not an object with the key */
    bool or_model;    /* only an object is a tool; anything else is the model of another kind */
} PtcToolKind;

/* Those that need no agent; NULL ends them. */
extern const PtcToolKind *const ptc_tool_kinds[];

/* Makes the tool one of this kind, as far as the row knows. */
void ptc_kind_apply(const PtcToolKind *kind, PtcTool *tool);

/* The tool's name, cut where it is too long to be shown. */
PtcText ptc_kind_shown_name(const PtcToolReader *r);

/* Says what is wrong with the key being read.  Each is always false. */
bool ptc_kind_refuse(PtcToolReader *r, const char *format, ...) PTC_PRINTF(2, 3);
bool ptc_kind_refuse_memory(PtcToolReader *r);
/* ... with something inside it, at this path behind the key. */
bool ptc_kind_refuse_inside(PtcToolReader *r, const char *path, const char *text);
/* ... with the kind, which nobody has allowed; the advice (or NULL) says how to. */
bool ptc_kind_refuse_reach(PtcToolReader *r, const char *kind, const char *advice);

/* The value in the heap of the set.  PTC_NONE: out of memory, and refused. */
PtcValue ptc_kind_keep(PtcToolReader *r, PtcValue v);

#endif
