/* SPDX-License-Identifier: MIT
 * app.h - the server `ptc mcp`: its tools, built on the library of mcp.h.
 *
 *   lisp_eval           runs a program, with nothing remembered
 *   lisp_result_page    more of a result that was too large for its answer
 *   lisp_session_...    with sessions: start, eval, inspect, list, forget, close
 *   lisp_task           with a model: a task in plain words
 *   lisp_debug          with the debug tool: what was called recently
 *
 * Everything that runs a program goes through a PtcExecutor.  docs/mcp.md describes the tools. */
#ifndef PTC_MCP_APP_APP_H
#define PTC_MCP_APP_APP_H

#include "exec/task.h"
#include "mcp/app/sessions.h"
#include "mcp/server/mcp.h"
#include "trace/recorder.h"

typedef struct PtcApp PtcApp;

/* How much an answer says about a run. */
typedef enum { PTC_APP_SLIM, PTC_APP_STRUCTURED, PTC_APP_DEBUG } PtcAppProfile;

/* One call of lisp_task: what is asked, and what comes of it. */
typedef struct PtcAppTask {
    const char *owner;
    PtcText task, context; /* context: a JSON object; absent: none */
    int64_t max_items;     /* of the answer; 0: not said */
    int64_t waited_ms;     /* since the call arrived */
    int64_t may_ms;        /* how long it may take since then; 0: as usual */
    const PtcCancel *cancel;
    const PtcTaskTurn *turn; /* to give away while others are waited for */
    PtcTraceContext trace;
    struct PtcRemoteListener *listener; /* of progress in other servers (remote.h); NULL: none */
    /* Asks a person about the calls that wait in this run of PtcAppConfig.remote, and returns when it was decided.
     * False: the task is over.  NULL: nobody can be asked. */
    bool (*ask)(struct PtcAppTask *task, void *run);
    unsigned offers; /* then also what servers may ask (PTC_REMOTE_ELICITS ...) */
    /* To be filled in; texts that are JSON may stay empty. */
    bool ok, show_program;
    char reason[40];                             /* not ok */
    PtcBuf message;                              /* likewise */
    PtcBuf answer;                               /* ok: for people */
    PtcBuf result;                               /* ok: JSON of it, unless it is a text */
    PtcBuf program;                              /* the last one that ran */
    PtcBuf call_log, effects, planner, warnings; /* JSON */
} PtcAppTask;

/* Who does tasks; any thread, any number at once. */
typedef struct PtcAppTasks {
    void (*run)(void *user, PtcAppTask *task); /* NULL: lisp_task is not offered */
    void (*about)(void *user, PtcBuf *out);    /* what tasks can be about, for the description */
    bool changes;                              /* they may change something */
    void *user;
} PtcAppTasks;

/* 0 or NULL takes the default in brackets; strings are only needed during ptc_app_new. */
typedef struct PtcAppConfig {
    PtcExecutor *executor;       /* required; outlives the app */
    PtcTools *tools;             /* that programs can call: for the description */
    const char *about_data;      /* lines of ptc_shared_describe: likewise */
    const char *about_upstreams; /* what programs can call in other servers: likewise */
    bool upstreams_later;        /* some of them were never listed: ptc_app_retell will be called */
    bool upstreams_change;       /* some of what they can call may change something */
    /* A client of this owner was told about the tools, and can be asked this (PTC_REMOTE_ELICITS ...); any thread.
     * NULL: nobody wants to know. */
    void (*listed)(void *user, const char *owner, unsigned offers);
    /* Writes a JSON array: how the servers that programs call are, as this owner may know.  NULL: there are none. */
    void (*upstream_stats)(void *user, const char *owner, PtcBuf *out);
    /* What the client answered to roots/list; absent: nothing.  NULL: nobody wants to know, or it is not one client
     * alone. */
    void (*roots)(void *user, PtcText result);
    void *user;               /* for all three */
    struct PtcRemote *remote; /* what programs can call in other servers; or NULL */
    /* Clients are at this machine and of one owner: they may be asked to sign in to servers. */
    bool can_sign_in;
    bool can_ask; /* clients may be asked about calls: everything that is called can be replayed */
    int64_t approval_ttl_ms;  /* how long such a question waits [10 minutes] */
    int64_t approval_wait_ms; /* how long a call of a legacy client waits for an answer [45 s] */
    /* A call of lisp_eval or lisp_task that takes so long becomes a task, which ends and is forgotten after this: see
     * PtcMcpConfig. */
    int64_t task_after_ms, task_max_ms, task_ttl_ms, task_lease_ms;
    const unsigned char *key;  /* see PtcMcpConfig */
    const PtcLimits *limits;   /* of programs: for the description */
    PtcAppProfile profile;     /* [slim] */
    PtcStore *store;           /* required; what outlives a call is kept there; outlives the app */
    bool sessions;             /* offers the session tools */
    PtcSessionsConfig session; /* for them; its store is this one */
    PtcAppTasks tasks;
    bool debug_tool;            /* offers lisp_debug */
    PtcRecorderConfig recorder; /* its ring is only used with the debug tool */
    size_t max_program_bytes;   /* [64 KiB] */
    size_t max_context_bytes;   /* of its JSON [4 MiB] */
    size_t kept_bytes;          /* for results of an owner kept for lisp_result_page [64 MiB] */
    int64_t progress_ms;    /* between notifications for a client with a progress token [10 s] */
    size_t max_frame_bytes; /* see PtcMcpConfig, like those below */
    unsigned max_running, max_waiting;
    int64_t wait_ms;
    PtcMcpStructured structured;
    bool private_lists; /* only holders of a token may see the tools; so it is with tools or data */
    unsigned owner_share; /* percentage of calls, sessions, results that one owner may have [100] */
    const PtcMcpQuota *quota;
} PtcAppConfig;

/* NULL, and why. */
PTC_MUST_USE PtcApp *ptc_app_new(const PtcAppConfig *config, PtcWhy *why);
/* Tells clients of upstreams that were not known at the start, or are others now; `about` and `change` are
 * about_upstreams and upstreams_change of the configuration.  Nothing when that changes nothing.  Any thread. */
void ptc_app_retell(PtcApp *app, const char *about, bool change);
/* For the transports; lives as long as the app. */
PtcMcp *ptc_app_mcp(PtcApp *app);
/* After the transports have ended. */
void ptc_app_free(PtcApp *app);

#endif
