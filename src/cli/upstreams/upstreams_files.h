/* SPDX-License-Identifier: MIT
 * upstreams_files.h - which files name upstreams, and what they say together. */
#ifndef PTC_CLI_UPSTREAMS_UPSTREAMS_FILES_H
#define PTC_CLI_UPSTREAMS_UPSTREAMS_FILES_H

#include "cli/upstreams/upstreams_open.h"
#include "cli/upstreams/upstreams_places.h"
#include "upstream/config/config.h"

/* Is there any file to be read? */
bool ptc_upstreams_files_any(const PtcUpstreamsOptions *options);

/* Fills entries, places, rules, credentials, secrets and notes, and finds the directories.  The scratch is there
 * already.  False: a message is on standard error, and `status` the exit status. */
PTC_MUST_USE bool ptc_upstreams_files_read(PtcUpstreams *u, const char *command,
                                           const PtcUpstreamsOptions *options, int *status);

/* The directory of what is kept for good; empty: there is no place for it. */
void ptc_upstreams_files_state(char dir[PTC_UPSTREAMS_PATH]);

/* What the person's own file of a client says, without a word on standard error; false: there is none that can be read.
 * `path` gets its path. */
PTC_MUST_USE bool ptc_upstreams_files_client(PtcUpstreams *u, PtcConfigDialect dialect,
                                             PtcConfig *config, char path[4096]);

/* ---- upstreams_project.c */
/* An entry that came with a project: keeps the digest of what is written of it at its place, and makes it unusable
 * unless a person has approved exactly that.  `how` is the option that names the file. */
void ptc_upstreams_project(PtcUpstreams *u, const char *how, PtcValue *entry, PtcValue *place);
/* What is approved of projects, which are on this machine as its pins are; `files` is filled in.  NULL: out of memory,
 * or there is no place for it. */
struct PtcPins *ptc_upstreams_project_pins(PtcUpstreams *u, PtcFileShelf *files);
/* Makes an entry unusable, for this reason. */
void ptc_upstreams_unusable(PtcHeap *heap, PtcValue *entry, PtcValue *place, const char *code,
                            const char *message);

#endif
