/* SPDX-License-Identifier: MIT
 * mcp_upstreams.h - the upstreams of a server, for its executor, its app, its tasks and its HTTP server.
 *
 * When their files are read again there is another manager.  A run stays with the one it began with, which ends when
 * the last of its runs has. */
#ifndef PTC_CLI_MCP_MCP_UPSTREAMS_H
#define PTC_CLI_MCP_MCP_UPSTREAMS_H

#include <pthread.h>

#include "base/text/hmac.h"
#include "cli/upstreams/upstreams_open.h"
#include "mcp/app/app.h"

enum { PTC_MCP_ABOUT_BYTES = 4096 };

/* What the files said at one time. */
typedef struct PtcMcpUpstreamsRead {
    struct PtcMcpUpstreamsRead *before; /* with runs that have not ended, maybe */
    PtcUpstreams files;
    uint8_t digest[PTC_SHA256_BYTES]; /* of what they said */
    size_t holds;
} PtcMcpUpstreamsRead;

typedef struct PtcMcpUpstreams {
    PtcRemote
        remote; /* first: its functions are those of the managers, but for those that have no run */
    PtcMem *mem; /* NULL: there are no upstreams */
    PtcUpstreamsOptions options;
    void (*log)(void *user, PtcText line);
    void *user;
    /* It guards what follows.  Locks of managers are never taken inside. */
    pthread_mutex_t lock;
    PtcMcpUpstreamsRead *now;
    char *warm_owner; /* for whom upstreams were warmed; NULL: nobody yet */
    unsigned warm_offers;
    bool again, ending; /* what the thread is to do */
    bool has_thread;
    pthread_t thread; /* which reads again, and frees what is over; begun when it is first needed */
    pthread_cond_t wake;
    /* It guards the app, and is held while clients are told, so that whoever takes the app away knows that nobody is
     * telling it anything. */
    pthread_mutex_t app_lock;
    PtcApp *app; /* NULL: nobody is told */
} PtcMcpUpstreams;

/* ptc_upstreams_open for a server; options are copied, but what they point to stays.  It stays where it is until it is
 * closed, in any case. */
PTC_MUST_USE bool ptc_mcp_upstreams_open(PtcMcpUpstreams *u, PtcMem *mem,
                                         const PtcUpstreamsOptions *options,
                                         void (*log)(void *user, PtcText line), void *user,
                                         int *status);
/* No run may be under way. */
void ptc_mcp_upstreams_close(PtcMcpUpstreams *u);
/* Soon, on another thread, the files are read again.  If they are wrong, everything stays; the log says how it went. */
void ptc_mcp_upstreams_read_again(void *upstreams);

/* The newest manager, which stays until it is released; NULL: there are none. */
PtcManager *ptc_mcp_upstreams_hold(PtcMcpUpstreams *u);
void ptc_mcp_upstreams_release(PtcMcpUpstreams *u, PtcManager *manager);
/* NULL: there are none. */
PtcRemote *ptc_mcp_upstreams_remote(PtcMcpUpstreams *u);

/* ---- mcp_upstreams_tell.c */
/* Sets what the app must know of them; `about` describes them for models, and lives as long as the upstreams.
 * `one_client`: all calls come from one client at this machine, whose directories upstreams may be told. */
void ptc_mcp_upstreams_tell(PtcMcpUpstreams *u, const char *about, bool one_client,
                            PtcAppConfig *config);
/* PtcHttpConfig.metrics, with the upstreams as its user. */
void ptc_mcp_upstreams_metrics(void *upstreams, PtcBuf *out);
void ptc_mcp_upstreams_describe(PtcMcpUpstreams *u, PtcBuf *out, size_t budget);
bool ptc_mcp_upstreams_are_read_only(PtcMcpUpstreams *u);
/* From now on clients of the app are told of upstreams that become known, or are others; NULL: no longer. */
void ptc_mcp_upstreams_follow(PtcMcpUpstreams *u, PtcApp *app);
/* Tells them.  It is what ptc_manager_on_known calls. */
void ptc_mcp_upstreams_retell(void *upstreams);

#endif
