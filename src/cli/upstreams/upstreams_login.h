/* SPDX-License-Identifier: MIT
 * upstreams_login.h - `ptc upstreams login` and `logout`. */
#ifndef PTC_CLI_UPSTREAMS_UPSTREAMS_LOGIN_H
#define PTC_CLI_UPSTREAMS_UPSTREAMS_LOGIN_H

#include "cli/upstreams/upstreams_ask.h"

/* Each returns the exit status. */
int ptc_upstreams_login(PtcUpstreamsCommand *c);
int ptc_upstreams_logout(PtcUpstreamsCommand *c);

#endif
