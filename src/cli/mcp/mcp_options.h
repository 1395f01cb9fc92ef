/* SPDX-License-Identifier: MIT
 * mcp_options.h - the options of `ptc mcp` from three places: a configuration file, the environment, the command
 * line; the later one wins.  One table lists all of them. */
#ifndef PTC_CLI_MCP_MCP_OPTIONS_H
#define PTC_CLI_MCP_MCP_OPTIONS_H

#include "base/arena.h"
#include "base/buf.h"
#include "cli/mcp/mcp_task.h"
#include "cli/options.h"
#include "cli/store_options.h"
#include "cli/upstreams/upstreams_open.h"

/* The options of the command, whichever of the three places they came from.  Texts are borrowed from argv and the
 * environment, or lie in the arena that was given for reading. */
typedef struct PtcMcpOptions {
    const char *http, *token_file, *tools, *trace_dir, *otlp, *config;
    int profile, isolation; /* -1: not given */
    int check;              /* likewise; PTC_CHECK_* */
    int structured, trace_payloads, log_format, print_config, install;
    bool sessions, debug_tool, quiet, stateless;
    PtcOptionList data, dbs, hosts, origins;
    int64_t approval_ttl_ms, approval_wait_ms;
    int64_t task_after_ms, task_max_ms, task_ttl_ms, lease_ms;
    int64_t max_sessions, session_ttl_ms, session_idle_ms, session_wait_ms, session_memory_kb,
        sessions_memory_mb;
    int64_t debug_ring, trace_max_files;
    int64_t max_running, max_waiting, queue_ms, max_frame_bytes, max_program_bytes,
        max_context_bytes;
    int64_t program_timeout_ms, program_memory_mb; /* 0: not given */
    int64_t max_tool_calls, progress_ms;
    int64_t owner_share, owner_calls, owner_rate;
    PtcUpstreamsOptions upstreams;
    PtcStoreOptions store;
    PtcMcpTaskOptions task;
    int64_t max_connections, request_ms, send_ms, drain_ms; /* of --http; 0: not given */
    int64_t leave_ms;                                       /* of --http; -1: not given */
} PtcMcpOptions;

/* Limits of programs where none are given and there are no upstreams, which take more. */
enum { PTC_MCP_PROGRAM_MS = 1000, PTC_MCP_PROGRAM_MB = 10 };

enum { PTC_ISOLATION_AUTO, PTC_ISOLATION_ON, PTC_ISOLATION_NONE };

extern const PtcUsage ptc_mcp_usage;

/* Fills the options; texts live in argv, the environment or the arena.  Mistakes are reported on standard error, with
 * the place they came from. */
PtcParse ptc_mcp_options_read(PtcMcpOptions *options, PtcArena *arena, int *argc, char **argv);

/* Prints what to paste into the configuration of a client, for this binary and these arguments, which it changes
 * (mcp_print.c).  Returns the exit status. */
int ptc_mcp_print_config(PtcArena *arena, const PtcMcpOptions *options, int argc, char **argv);
/* The same for --install, as a whole file of JSON with nothing but this entry (mcp_print.c).  *section is the object in
 * it that holds the entry, *file the client's own file below the home directory.  PTC_EXIT_OK: all three are set;
 * otherwise the message is on standard error. */
int ptc_mcp_print_document(PtcArena *arena, const PtcMcpOptions *options, int argc, char **argv,
                           PtcBuf *out, const char **section, const char **file);
/* Writes the entry into the file of the client (mcp_install.c).  Returns the exit status. */
int ptc_mcp_install(PtcArena *arena, const PtcMcpOptions *options, int argc, char **argv);

#endif
