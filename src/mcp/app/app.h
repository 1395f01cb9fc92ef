/* SPDX-License-Identifier: MIT
 * app.h - the server `ptc mcp`: its tools on the library of mcp.h.
 *
 *   lisp_eval           runs a program, with nothing remembered
 *   lisp_result_page    more of a result that was too large for its answer
 *   lisp_session_...    with sessions: start, eval, inspect, list, forget, close
 *   lisp_debug          with the debug tool: what was called lately
 *
 * Everything that runs a program goes through a PtcExecutor.  docs/mcp.md describes the tools. */
#ifndef PTC_MCP_APP_APP_H
#define PTC_MCP_APP_APP_H

#include "exec/task.h"
#include "mcp/app/sessions.h"
#include "mcp/server/mcp.h"
#include "trace/recorder.h"

typedef struct PtcApp PtcApp;

/* How much of a run an answer tells. */
typedef enum { PTC_APP_SLIM, PTC_APP_STRUCTURED, PTC_APP_DEBUG } PtcAppProfile;

/* Everything 0 or NULL takes the default in brackets; strings are needed for ptc_app_new only. */
typedef struct PtcAppConfig {
    PtcExecutor *executor;      /* required; outlives the app */
    PtcTools *tools;            /* that programs have: for the description */
    const char *about_data;     /* lines of ptc_shared_describe: the same */
    const PtcLimits *limits;    /* of programs: for the description */
    PtcAppProfile profile;      /* [slim] */
    bool sessions;              /* offers the session tools */
    PtcSessionsConfig session;  /* of them */
    bool debug_tool;            /* offers lisp_debug */
    PtcRecorderConfig recorder; /* its ring is used when there is a debug tool */
    size_t max_program_bytes;   /* [64 KiB] */
    size_t max_context_bytes;   /* of its JSON [4 MiB] */
    size_t kept_bytes;          /* of results kept for lisp_result_page [64 MiB] */
    int64_t progress_ms; /* between two notifications for a client with a progress token [10 s] */
    size_t max_frame_bytes; /* see PtcMcpConfig, as those below */
    unsigned max_running, max_waiting;
    int64_t wait_ms;
    bool private_lists;   /* only who has a token may know the tools; so it is with tools or data */
    unsigned owner_share; /* percent that one owner may have of calls, sessions and results [100] */
} PtcAppConfig;

/* NULL with a text in why (PTC_MCP_WHY bytes). */
PTC_MUST_USE PtcApp *ptc_app_new(const PtcAppConfig *config, char why[PTC_MCP_WHY]);
/* For the transports; it lives as long as the app. */
PtcMcp *ptc_app_mcp(PtcApp *app);
/* Where sessions are kept over a restart, for others who have something to keep; NULL: nowhere. */
struct PtcStore *ptc_app_store(PtcApp *app);
/* After the transports ended. */
void ptc_app_free(PtcApp *app);

#endif
