/* SPDX-License-Identifier: MIT
 * upstreams_open.h - from the options of a command to its upstreams: which files are read, what they say together, and
 * the manager over it. */
#ifndef PTC_CLI_UPSTREAMS_UPSTREAMS_OPEN_H
#define PTC_CLI_UPSTREAMS_UPSTREAMS_OPEN_H

#include "cli/options.h"
#include "cli/store_options.h"
#include "engine/engine.h"
#include "ptc/ptc.h"
#include "store/store_shelf.h"
#include "upstream/connect/manager.h"
#include "value/scratch.h"

/* The options that commands with upstreams share. */
typedef struct PtcUpstreamsOptions {
    PtcOptionList files;        /* --upstreams [CLIENT:]FILE */
    PtcOptionList imports;      /* --import CLIENT */
    bool none;                  /* --no-upstreams */
    bool strict;                /* --upstreams-strict */
    bool no_learn;              /* --no-learn */
    PtcOptionList allow, deny;  /* --allow, --deny PATTERN */
    bool read_only;             /* --aggregator-read-only */
    const char *realm;          /* PtcManagerConfig.realm */
    const uint8_t *root_key;    /* PtcManagerConfig.root_key */
    struct PtcSecrets *records; /* of whoever keeps records; NULL: nobody does */
    bool quiet;                 /* notes of the files are not shown */
    bool lines;                 /* places have lines */
    int policy;                 /* --upstreams-policy; -1: not given */
    int64_t call_ms;            /* --upstream-call-timeout-ms; 0: not given */
    int64_t load_ms;            /* how long a start is waited for; 0: as programs do */
    int64_t idle_ms;            /* see PtcManagerConfig */
    bool payloads; /* the log of calls also has the beginning of arguments and results */
    bool approved; /* a person has said yes to what would have to be asked about */
    /* The files are read again, in a process that serves: what is wrong is said here and not on standard error, and
     * pipes are not read.  NULL: they are read for the first time. */
    void (*say)(void *user, PtcText line);
    void *say_user;
    uint64_t version; /* PtcManagerConfig.version */
    PtcShelf *shelf;  /* PtcManagerConfig.shelf */
    /* Without a shelf: the store that it is in, opened here; where a command has --store (PTC_STORE_ROWS). */
    bool stored;
    PtcStoreOptions store;
} PtcUpstreamsOptions;

#define PTC_UPSTREAMS_DEFAULTS \
    {                          \
        .policy = -1           \
    }

#define PTC_UPSTREAMS_ROW(at, group, name, type, field, value, help)                         \
    {                                                                                        \
        name, 0, type, (at) + offsetof(PtcUpstreamsOptions, field), value, help, 0, 0, group \
    }

/* Rows for the table of a command whose struct has a PtcUpstreamsOptions at `at`. */
#define PTC_UPSTREAMS_ROWS(at)                                                                    \
    PTC_UPSTREAMS_ROW(at, PTC_GROUP_UPSTREAMS | PTC_GROUP_COMMON, "upstreams", PTC_OPTION_LIST,   \
                      files, "[CLIENT:]FILE",                                                     \
                      "MCP servers that programs may call (ptc docs upstreams)"),                 \
        PTC_UPSTREAMS_ROW(at, PTC_GROUP_UPSTREAMS, "upstreams-config", PTC_OPTION_LIST, files,    \
                          "[CLIENT:]FILE", "the same as --upstreams"),                            \
        PTC_UPSTREAMS_ROW(                                                                        \
            at, PTC_GROUP_UPSTREAMS, "import", PTC_OPTION_LIST, imports, "CLIENT[:project]",      \
            "the servers in your own configuration of claude-code, claude-desktop, cursor, "      \
            "vscode, windsurf, zed or gemini; with :project those in the project's file"),        \
        PTC_UPSTREAMS_ROW(at, PTC_GROUP_UPSTREAMS, "no-upstreams", PTC_OPTION_FLAG, none, NULL,   \
                          "no upstreams, not even those of ~/.config/ptc/upstreams.json"),        \
        PTC_UPSTREAMS_ROW(at, PTC_GROUP_UPSTREAMS, "upstreams-strict", PTC_OPTION_FLAG, strict,   \
                          NULL,                                                                   \
                          "begin only when every upstream has started and listed its tools"),     \
        PTC_UPSTREAMS_ROW(at, PTC_GROUP_UPSTREAMS, "no-learn", PTC_OPTION_FLAG, no_learn, NULL,   \
                          "what results of tools are like is neither learnt nor shown"),          \
        PTC_UPSTREAMS_ROW(at, PTC_GROUP_APPROVALS | PTC_GROUP_COMMON, "allow", PTC_OPTION_LIST,   \
                          allow, "SERVER/TOOL",                                                   \
                          "tools that may be called, with * and ? as in file names; a server "    \
                          "alone: all its tools"),                                                \
        PTC_UPSTREAMS_ROW(at, PTC_GROUP_APPROVALS, "deny", PTC_OPTION_LIST, deny, "SERVER/TOOL",  \
                          "tools that may never be called; overrides every other rule"),          \
        PTC_UPSTREAMS_ROW(at, PTC_GROUP_APPROVALS, "upstreams-policy", PTC_OPTION_CHOICE, policy, \
                          "default|read-only|trusting|allow-all",                                 \
                          "what may be called without asking where no rule applies; default: "    \
                          "tools that only read"),                                                \
        PTC_UPSTREAMS_ROW(at, PTC_GROUP_APPROVALS, "aggregator-read-only", PTC_OPTION_FLAG,       \
                          read_only, NULL, "the same as --upstreams-policy read-only"),           \
    {                                                                                             \
        "upstream-call-timeout-ms", 0, PTC_OPTION_INT,                                            \
            (at) + offsetof(PtcUpstreamsOptions, call_ms), "N", "time for one call (30000)", 1,   \
            24 * 3600 * 1000, PTC_GROUP_UPSTREAMS                                                 \
    }

/* What was read, and the manager over it.  The values live in the scratch. */
typedef struct PtcUpstreams {
    PtcMem *mem;
    PtcScratch scratch;
    PtcValue entries, policy, credentials, secrets;
    PtcValue places; /* for each entry: {"file", "path", "line"?, "message"?, "digest"?} */
    PtcValue notes;  /* list of {"file", "path", "code"} */
    char cache_dir[4096], state_dir[4096];
    PtcManager *manager; /* NULL: there are no upstreams */
    PtcStore *store;     /* opened here, or NULL */
    PtcStoreShelf kept;
    uint8_t root_key[PTC_STORE_SECRET]; /* of servers with that store */
    PtcBuf effects; /* of the last program, where ptc_upstreams_say_effects has some to tell */
    /* For ptc_upstreams_eval, each may be NULL: whose trace a program is part of; gets its calls (JSON). */
    const PtcTraceContext *trace;
    PtcBuf *call_log;
} PtcUpstreams;

/* Reads the files and makes the manager.  False: a message is on standard error, and `status` the exit status.  Starts
 * no process.  `log` gets lines about upstreams; it may be called from any thread. */
PTC_MUST_USE bool ptc_upstreams_open(PtcUpstreams *u, PtcMem *mem, const char *command,
                                     const PtcUpstreamsOptions *options,
                                     void (*log)(void *user, PtcText line), void *user,
                                     int *status);
/* Where it is kept, for who has no manager: opens the store if there is to be one (false: it was told, and `status`
 * set); and the shelf in it, NULL: the state directory. */
PTC_MUST_USE bool ptc_upstreams_open_store(PtcUpstreams *u, const char *command,
                                           const PtcUpstreamsOptions *options, int *status);
PtcShelf *ptc_upstreams_shelf(PtcUpstreams *u, const PtcUpstreamsOptions *options);
/* Limits that are not set get what programs that wait for others need: more time, memory and calls at once. */
void ptc_upstreams_limits(const PtcUpstreams *u, PtcLimits *limits);
/* ptc_eval for programs that may call them; with `more` (may be NULL) ptc_engine_run_more. */
PTC_MUST_USE PtcStatus ptc_upstreams_eval(PtcUpstreams *u, Ptc *ptc, const PtcRun *run,
                                          const PtcRunMore *more, PtcOutcome **outcome);
/* Says on standard error what the last program took effect with, if it failed and did more than read. */
void ptc_upstreams_say_effects(PtcUpstreams *u);
typedef struct PtcDryRun {
    bool plan;    /* nothing is run; else everything but calls that are no reads */
    bool stopped; /* to be filled in: it did, and both texts say before what (exec/asked_calls.h) */
    PtcBuf *text, *json;
} PtcDryRun;
/* The same as a dry run; there is a manager.  A program that did not stop has ended, with its outcome. */
PTC_MUST_USE PtcStatus ptc_upstreams_dry_run(PtcUpstreams *u, Ptc *ptc, const PtcRun *run,
                                             const PtcRunMore *more, PtcDryRun *dry,
                                             PtcOutcome **outcome);
/* Waits a while for upstreams that were never listed, for whoever is to be told what there is. */
void ptc_upstreams_learn(PtcManager *manager, const PtcRemoteRun *remote, const PtcCancel *cancel,
                         int64_t ms);
/* Ends all upstreams. */
void ptc_upstreams_close(PtcUpstreams *u);

#endif
