/* SPDX-License-Identifier: MIT
 * definition.h - what an agent is: prompt, signature, tools, limits, the form of its replies.
 *
 * A definition is made in three steps: ptc_definition_new gives one with the defaults, fields are filled in (from a
 * JSON object by ptc_definition_read, or by a host in C), and ptc_definition_finish checks everything and derives the
 * rest.  From then on it never changes: runs on any number of threads share it.  It is counted, and holds the
 * definitions of the agents that are its tools.
 *
 * Every mistake is reported before anything runs, with the path of the field, what was found, what is allowed and the
 * nearest name. */
#ifndef PTC_AGENT_DEFINITION_DEFINITION_H
#define PTC_AGENT_DEFINITION_DEFINITION_H

#include "agent/agent_fault.h"
#include "agent/definition/definition_parts.h"
#include "agent/prompt/template.h"
#include "agent/step/judge.h"
#include "base/why.h"

/* --------------------------------------------------------------------------- definition */

/* An agent as its file, or its host, describes it.  Whoever reads the definition fills in the first part, which is
 * then checked as a whole; afterwards nothing in it changes, so any number of runs, on any threads, share it. */
struct PtcAgentDef {
    /* To be filled in; texts belong to the arena or outlive the definition. */
    PtcText name, description, prompt;
    size_t prompt_line; /* lines of its file before it, for messages; 0: it is a field */
    PtcText llm;        /* a model; absent: none */
    PtcText llm_script; /* its replies as a JSON list, in place of a model; absent: none */
    PtcModelChoice fallbacks[PTC_AGENT_FALLBACKS]; /* models to go on with when that one fails */
    size_t fallback_count;
    PtcOutput output;
    PtcTransport transport;
    bool compact_reference; /* asked for */
    PtcText signature, schema;
    bool grep, llm_query;
    int64_t max_turns, retry_turns, turn_budget, max_depth;
    int64_t mission_timeout_ms; /* 0: none */
    int64_t timeout_ms, deadline_ms, pmap_timeout_ms, pmap_workers, max_heap;
    int64_t llm_timeout_ms; /* of one request; 0: the model's */
    int64_t max_tool_calls; /* 0: no limit */
    int64_t memory_limit;   /* 0: no limit */
    bool memory_rollback, explicit_completion;
    int check; /* PTC_CHECK_* */
    PtcLlmRetry retry;
    PtcPlanStep *plan;
    size_t plan_count;
    bool journaling;
    PtcCompactionRule compaction;
    PtcAgentFormat format;
    int64_t float_precision; /* -1: all digits */
    PtcThinking thinking;
    PtcDescriptions fields, context; /* of the answer; of the context */
    PtcSystemPrompt system;
    int64_t prompt_limit; /* characters of the system prompt; 0: none */
    /* From C only: */
    int64_t (*count_tokens)(void *user, PtcText text);
    void *count_tokens_user;
    bool loose_prompt; /* placeholders are not checked against the signature (llm-query) */
    const PtcSig *sig; /* set before _finish: in place of `signature` */
    PtcTools *tools;   /* a set of its own, to be filled by ptc_toolset_put or by reading */
    PtcText source;    /* read for compiling: the text it was read from; else absent */
    PtcText program;   /* of a compiled agent, which runs in place of asking a model; else absent */

    /* Derived by ptc_definition_finish: */
    PtcAgentMode mode;
    PtcTemplate template;
    PtcWant want;
    PtcText answer_type; /* the signature's result as text; absent: none, or a schema */
    const PtcAgentTool **agent_tools; /* by number of the tool */
    const PtcLlmTool *offer;          /* native tools in the order of the file, lisp_eval last */
    size_t offer_count;
    const size_t *offer_tools; /* the number of each in the set; SIZE_MAX for lisp_eval */
    PtcText send_schema;       /* for the provider, wrapped; absent: none is sent */
    unsigned levels;           /* of agents inside agents, this one being 1 */

    /* Its own: */
    PtcMem mem;
    PtcArena arena;
    struct PtcAgentNote *notes; /* on the tools that are not plain ones */
    PtcTools *host_tools;       /* held: those that a host brought; or NULL */
    uint64_t given;             /* fields that were in the JSON, a bit for the number of each row */
    bool finished;
    atomic_uint refs;
};

/* Can a reply be nothing but the answer, so that its text may be shown as it comes? */
static inline bool ptc_definition_is_plain(const PtcAgentDef *def)
{
    return def->mode == PTC_MODE_TEXT && def->offer_count == 0;
}

/* Was this field in the file, or is its value the default? */
bool ptc_definition_gives(const PtcAgentDef *def, const char *field);

/* The notes of a definition, newest first. */
typedef struct PtcAgentNote {
    PtcAgentTool tool;
    struct PtcAgentNote *next;
} PtcAgentNote;

/* One with the defaults and one holder; NULL: out of memory. */
PTC_MUST_USE PtcAgentDef *ptc_definition_new(void);
/* NULL is allowed for both. */
PtcAgentDef *ptc_definition_retain(PtcAgentDef *def);
void ptc_definition_release(PtcAgentDef *def);

/* Checks everything and derives the rest.  False with the fault; the definition can then only be released. */
PTC_MUST_USE bool ptc_definition_finish(PtcAgentDef *def, PtcWhy *fault);

/* ------------------------------------------------------------- reading (definition_read.c) */

struct PtcAgentFiles;

/* An agent that is a tool of another one. */
typedef struct PtcAgentChild {
    PtcText name;
    PtcAgentDef *def;
} PtcAgentChild;

typedef struct PtcAgentReading {
    bool allow_commands, allow_http;
    const char *command_advice, *http_advice; /* how to allow them, as in tool/file.h; or NULL */
    bool allow_scripts;                       /* `llm` may be a list of replies */
    bool only_scripts;                        /* ... and nothing else */
    /* One turn, and two more for an answer with tools, unless the file says otherwise. */
    bool compiling;
    const int *
        check; /* PTC_CHECK_*, in place of what the file and those that it names say; NULL: what they say */
    /* Does this model exist?  False with the reason.  NULL: any name is accepted. */
    bool (*check_model)(void *user, PtcText model, PtcWhy *why);
    void *user;
    struct PtcAgentFiles *files; /* NULL: "agent" may not name files */
    /* From C, only for the top agent, in addition to the tools of the file: functions of the host, and agents. */
    PtcTools *tools; /* or NULL */
    const struct PtcAgentChild *children;
    size_t child_count;
    unsigned depth; /* of agents inside agents, set by the reader */
    /* Of the agent itself, not of those inside, set by the reader: the prompt that stands outside its fields, and the
     * lines of the file before it. */
    PtcText prompt;
    size_t prompt_line;
} PtcAgentReading;

/* Reads an agent from a JSON object, in any heap, and finishes it.  NULL with the fault. */
PTC_MUST_USE PtcAgentDef *ptc_definition_read(PtcValue object, const PtcAgentReading *how,
                                              PtcWhy *fault);
/* The same from the text of a file. */
PTC_MUST_USE PtcAgentDef *ptc_definition_read_json(PtcText json, const PtcAgentReading *how,
                                                   PtcWhy *fault);
/* Reads an llm_retry object on top of what *retry holds: for the options of a run.  False with the fault. */
PTC_MUST_USE bool ptc_definition_read_retry(PtcValue v, PtcLlmRetry *retry, PtcWhy *fault);

/* --------------------------------------------------------------- files (definition_file.c) */

/* Reads the agent in a file, and the files that it names, each once.  NULL with the fault, whose message names the
 * file. */
PTC_MUST_USE PtcAgentDef *ptc_definition_open(const char *path, const PtcAgentReading *how,
                                              PtcWhy *fault);

/* ------------------------------------------------------------ input (definition_context.c) */

/* The context of a run as its programs see it: a map (nil for none), coerced by the signature; keys that match no
 * parameter are kept.  Made in `heap`.  PTC_NONE with the fault. */
PTC_MUST_USE PtcValue ptc_definition_context(const PtcAgentDef *def, PtcHeap *heap, PtcMem *mem,
                                             PtcValue context, PtcWhy *fault);

#endif
