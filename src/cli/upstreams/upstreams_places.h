/* SPDX-License-Identifier: MIT
 * upstreams_places.h - where clients keep the files that name their servers: the person's own below the home directory,
 * and those that come with a project. */
#ifndef PTC_CLI_UPSTREAMS_UPSTREAMS_PLACES_H
#define PTC_CLI_UPSTREAMS_UPSTREAMS_PLACES_H

#include "upstream/config/config.h"

enum { PTC_UPSTREAMS_PATH = 4096 }; /* bytes of a path */

/* The files of a client that are there, one by one; *at begins as 0.  `cwd` NULL: the person's own.  Else those of a
 * project, in the nearest directory from there upwards, without the home directory, whose files are the person's own;
 * `project` gets that directory.  False: there is none any more. */
PTC_MUST_USE bool ptc_upstreams_places_next(size_t *at, PtcConfigDialect dialect, const char *cwd,
                                            char path[PTC_UPSTREAMS_PATH],
                                            char project[PTC_UPSTREAMS_PATH]);

/* The file that such a client would have, below the home directory or a project; NULL: clients have none there. */
const char *ptc_upstreams_places_name(PtcConfigDialect dialect, bool project);

#endif
