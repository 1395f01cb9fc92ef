/* SPDX-License-Identifier: MIT
 * mcp_task.h - lisp_task of `ptc mcp`: an agent with one model, whose programs call upstreams. */
#ifndef PTC_CLI_MCP_MCP_TASK_H
#define PTC_CLI_MCP_MCP_TASK_H

#include <stdatomic.h>

#include "agent/definition/definition.h"
#include "agent/run/model_host.h"
#include "base/units.h"
#include "cli/mcp/mcp_upstreams.h"
#include "cli/options.h"
#include "mcp/app/app.h"

typedef struct PtcMcpTaskOptions {
    bool on, allow_writes, hide_program;
    const char *model, *agent, *summary;
    int64_t timeout_ms, planner_ms, output_tokens, answer_bytes, summary_bytes;
    int64_t max_turns, retry_turns; /* -1: not given */
} PtcMcpTaskOptions;

#define PTC_MCP_TASK_DEFAULTS                                                                  \
    {                                                                                          \
        .timeout_ms = 45000, .planner_ms = 15000, .output_tokens = 1200, .answer_bytes = 4096, \
        .summary_bytes = 800, .max_turns = -1, .retry_turns = -1                               \
    }

#define PTC_MCP_TASK_ROW(at, name, type, field, value, help, least, most)                   \
    {                                                                                       \
        name, 0, type, (at) + offsetof(PtcMcpTaskOptions, field), value, help, least, most, \
            PTC_GROUP_TASKS                                                                 \
    }

/* Rows for a table of options whose struct has a PtcMcpTaskOptions at `at`. */
#define PTC_MCP_TASK_ROWS(at)                                                                      \
    PTC_MCP_TASK_ROW(at, "task", PTC_OPTION_FLAG, on, NULL,                                        \
                     "offer lisp_task, which does a task in plain words, with a model of its own", \
                     0, 0),                                                                        \
        PTC_MCP_TASK_ROW(at, "task-model", PTC_OPTION_TEXT, model, "MODEL",                        \
                         "the model that writes its programs (ptc docs providers)", 0, 0),         \
        PTC_MCP_TASK_ROW(                                                                          \
            at, "task-allow-writes", PTC_OPTION_FLAG, allow_writes, NULL,                          \
            "let its programs call everything that the policy allows, not only reads", 0, 0),      \
        PTC_MCP_TASK_ROW(at, "task-timeout-ms", PTC_OPTION_INT, timeout_ms, "N",                   \
                         "time for one task", 1, 3600000),                                         \
        PTC_MCP_TASK_ROW(at, "task-planner-timeout-ms", PTC_OPTION_INT, planner_ms, "N",           \
                         "time for one answer of its model", 1, 3600000),                          \
        PTC_MCP_TASK_ROW(at, "task-max-output-tokens", PTC_OPTION_INT, output_tokens, "N",         \
                         "tokens of one answer of its model", 1, PTC_MILLION),                     \
        PTC_MCP_TASK_ROW(at, "task-max-answer-bytes", PTC_OPTION_INT, answer_bytes, "N",           \
                         "largest size of the answer to a task", 1, 1 << 20),                      \
        PTC_MCP_TASK_ROW(at, "task-max-turns", PTC_OPTION_INT, max_turns, "N",                     \
                         "programs that one task may run", 1, 100),                                \
        PTC_MCP_TASK_ROW(at, "task-retry-turns", PTC_OPTION_INT, retry_turns, "N",                 \
                         "further programs, which may only give the answer", 0, 100),              \
        PTC_MCP_TASK_ROW(at, "task-summary-bytes", PTC_OPTION_INT, summary_bytes, "N",             \
                         "size of what lisp_task and its model are told about upstreams", 100,     \
                         65536),                                                                   \
        PTC_MCP_TASK_ROW(at, "task-summary", PTC_OPTION_TEXT, summary, "FILE",                     \
                         "a file with what they are told instead", 0, 0),                          \
        PTC_MCP_TASK_ROW(at, "task-agent", PTC_OPTION_TEXT, agent, "FILE",                         \
                         "a JSON file with turns, and texts around the system prompt", 0, 0),      \
        PTC_MCP_TASK_ROW(at, "task-hide-program", PTC_OPTION_FLAG, hide_program, NULL,             \
                         "do not show the program in answers of lisp_task", 0, 0)

/* Everything that tasks share; it stays where it is until it is closed. */
typedef struct PtcMcpTasks {
    PtcMem *mem;
    const PtcMcpTaskOptions *o;
    PtcMcpUpstreams *upstreams;
    PtcModelHost *host;
    PtcModel *inner; /* as it was opened */
    PtcModel model;  /* the same with a limit on what it says; all zero: not open */
    PtcAgentDef *def;
    int64_t max_turns, retry_turns;
    atomic_bool waited; /* for upstreams that were never listed */
    PtcText summary;    /* of a file, in place of ours; absent: none */
} PtcMcpTasks;

/* Opens the model.  False with the reason; ptc_mcp_tasks_close in any case. */
PTC_MUST_USE bool ptc_mcp_tasks_open(PtcMcpTasks *tasks, PtcMem *mem, const PtcMcpTaskOptions *o,
                                     PtcMcpUpstreams *upstreams, const PtcLimits *limits,
                                     PtcWhy *why);
/* What the app needs to know of them. */
void ptc_mcp_tasks_tell(PtcMcpTasks *tasks, PtcAppTasks *out);
/* After the app, before the manager. */
void ptc_mcp_tasks_close(PtcMcpTasks *tasks);

/* What tasks can be about, for clients and for the model. */
void ptc_mcp_tasks_about(const PtcMcpTasks *tasks, PtcBuf *out);

/* ---- mcp_task_files.c */
/* Reads the files that the options name.  False with the reason. */
PTC_MUST_USE bool ptc_mcp_task_read_files(PtcMcpTasks *tasks, PtcWhy *why);

/* ---- mcp_task_run.c */
/* PtcAppTasks.run, with the tasks as its user. */
void ptc_mcp_task_run(void *tasks, PtcAppTask *task);

#endif
