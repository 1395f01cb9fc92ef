/* SPDX-License-Identifier: MIT
 *
 * ptc_upstreams.h - MCP servers and OpenAPI services that programs of an engine may call (docs/upstreams.md).  A part
 * of ptc.h, with the same rules. */
#ifndef PTC_PTC_UPSTREAMS_H
#define PTC_PTC_UPSTREAMS_H

#include "ptc/ptc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* MCP servers and OpenAPI services that programs may call (docs/upstreams.md).  One PtcUpstreamSet may be used by any
 * number of engines, from any threads; it is freed after their runs have ended.  Nothing is started before a program
 * needs it. */
typedef struct PtcUpstreamSet PtcUpstreamSet;

/* Where they are named, and how they are used.  Only json or path must be set. */
typedef struct {
    size_t size;
    const char *json; /* one of these: the text of an upstreams file ... */
    size_t json_len;
    const char *path;   /* ... or a file, of ours or of another client */
    const char *policy; /* "default", "read-only", "trusting" or "allow-all"; NULL: "default" */
    bool approved;      /* make calls without asking the person who would have to be asked */
    /* The `ptc` command: servers that are processes run under it, so that they end however the host ends.  NULL: the
     * one on the PATH. */
    const char *command;
    const char *cache_dir, *state_dir; /* where listings and pins are kept; NULL: nowhere */
    int64_t call_timeout_ms;           /* of one call, a day at most (PTC_UNSET: 30 s) */
    /* Takes a line about servers, without its line feed; from any thread.  NULL: none are wanted. */
    void (*log)(void *user, const char *line, size_t len);
    void *log_user;
} PtcUpstreamOptions;

PTC_API void ptc_upstream_options_init(PtcUpstreamOptions *options, size_t size);
/* PTC_BAD_ARGUMENT: json and path are both set, or neither is; no such policy; or a path that is too long.
 * PTC_BAD_DATA: the file cannot be used; error (may be NULL) has the place, what was found and what is allowed.  *out
 * is then NULL.  What the options point to is copied. */
PTC_API PtcStatus ptc_upstream_set_new(const PtcUpstreamOptions *options, PtcUpstreamSet **out,
                                       char *error, size_t error_size);
/* Ends all of them, and waits until their threads have ended.  No engine may use them any more.  NULL is allowed. */
PTC_API void ptc_upstream_set_free(PtcUpstreamSet *upstreams);
/* From its next run on, programs of the engine may call them; a set of NULL: none.  PTC_BAD_ARGUMENT: the engine is
 * running. */
PTC_API PtcStatus ptc_upstream_set_use(PtcUpstreamSet *upstreams, Ptc *ptc);

/* The state of one of them.  The reader sets size. */
typedef struct {
    size_t size;
    const char *name;  /* borrowed from the PtcUpstreamSet */
    const char *state; /* "ready", "cold", "starting", "down", "unusable" or "disabled" */
    size_t tools;      /* as far as they are known */
    char reason[256];  /* why it is down or unusable; "" otherwise */
} PtcUpstreamStatus;

/* How many the file names; 0 for NULL.  This and the next from any thread. */
PTC_API size_t ptc_upstream_set_count(const PtcUpstreamSet *upstreams);
/* False beyond the last, or without a size. */
PTC_API bool ptc_upstream_set_state(PtcUpstreamSet *upstreams, size_t index,
                                    PtcUpstreamStatus *state);

#ifdef __cplusplus
}
#endif
#endif
