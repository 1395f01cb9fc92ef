/* SPDX-License-Identifier: MIT
 * upstreams_open.h - from the options of a command to its upstreams: which files are read, what they say together, and
 * the manager over it. */
#ifndef PTC_CLI_UPSTREAMS_OPEN_H
#define PTC_CLI_UPSTREAMS_OPEN_H

#include "cli/options.h"
#include "engine/engine.h"
#include "ptc/ptc.h"
#include "upstream/desk.h"
#include "upstream/manager.h"

/* The options that commands with upstreams share. */
typedef struct PtcUpstreamsOptions {
    PtcOptionList files;   /* --upstreams [CLIENT:]FILE */
    PtcOptionList imports; /* --import CLIENT */
    bool none;             /* --no-upstreams */
    int policy;            /* --upstreams-policy; -1: not given */
    int64_t call_ms;       /* --upstream-call-timeout-ms; 0: not given */
    int64_t load_ms;       /* how long a start is waited for; 0: as programs do */
    bool approved;         /* a person has said yes to what would have to be asked about */
} PtcUpstreamsOptions;

#define PTC_UPSTREAMS_DEFAULTS \
    {                          \
        .policy = -1           \
    }

/* Rows for the table of a command whose struct has a PtcUpstreamsOptions at `at`. */
#define PTC_UPSTREAMS_ROWS(at)                                                                     \
    {"upstreams",                                                                                  \
     0,                                                                                            \
     PTC_OPTION_LIST,                                                                              \
     (at) + offsetof(PtcUpstreamsOptions, files),                                                  \
     "[CLIENT:]FILE",                                                                              \
     "MCP servers that programs may call (ptc docs upstreams)",                                    \
     0,                                                                                            \
     0},                                                                                           \
        {"import",                                                                                 \
         0,                                                                                        \
         PTC_OPTION_LIST,                                                                          \
         (at) + offsetof(PtcUpstreamsOptions, imports),                                            \
         "CLIENT",                                                                                 \
         "the servers in your own file of claude-code, claude-desktop, cursor, vscode, windsurf, " \
         "zed or gemini",                                                                          \
         0,                                                                                        \
         0},                                                                                       \
        {"no-upstreams",                                                                           \
         0,                                                                                        \
         PTC_OPTION_FLAG,                                                                          \
         (at) + offsetof(PtcUpstreamsOptions, none),                                               \
         NULL,                                                                                     \
         "none, not even those of ~/.config/ptc/upstreams.json",                                   \
         0,                                                                                        \
         0},                                                                                       \
        {"upstreams-policy",                                                                       \
         0,                                                                                        \
         PTC_OPTION_CHOICE,                                                                        \
         (at) + offsetof(PtcUpstreamsOptions, policy),                                             \
         "default|read-only|trusting|allow-all",                                                   \
         "which tools may be called where no rule says so; default: those that only read",         \
         0,                                                                                        \
         0},                                                                                       \
    {                                                                                              \
        "upstream-call-timeout-ms", 0, PTC_OPTION_INT,                                             \
            (at) + offsetof(PtcUpstreamsOptions, call_ms), "N", "for one call of a tool (30000)",  \
            1, 24 * 3600 * 1000                                                                    \
    }

/* What was read, and the manager over it.  The values live in the desk. */
typedef struct PtcUpstreams {
    PtcMem *mem;
    PtcDesk desk;
    PtcValue entries, policy, credentials, secrets;
    PtcValue places; /* for each entry: {"file", "path", "line"?, "message"?} */
    char cache_dir[4096], state_dir[4096];
    PtcManager *manager; /* NULL: there are no upstreams */
} PtcUpstreams;

/* Reads the files and makes the manager.  False: a message is on standard error, and `status` the exit status.  Starts no
 * process.  `log` gets lines about upstreams; it may be called from any thread. */
PTC_MUST_USE bool ptc_upstreams_open(PtcUpstreams *u, PtcMem *mem, const char *command,
                                     const PtcUpstreamsOptions *options,
                                     void (*log)(void *user, PtcText line), void *user,
                                     int *status);
/* Limits that are not set get what programs that wait for others need: more time, memory and calls at once. */
void ptc_upstreams_limits(const PtcUpstreams *u, PtcLimits *limits);
/* ptc_eval for programs that may call them; with `more` (may be NULL) ptc_engine_run_more. */
PTC_MUST_USE PtcStatus ptc_upstreams_eval(PtcUpstreams *u, Ptc *ptc, const PtcRun *run,
                                          const PtcRunMore *more, PtcOutcome **outcome);
/* Ends all upstreams. */
void ptc_upstreams_close(PtcUpstreams *u);

#endif
