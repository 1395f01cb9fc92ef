/* SPDX-License-Identifier: MIT
 * upstreams_ask.h - upstreams asked from the command line, one question after the other. */
#ifndef PTC_CLI_UPSTREAMS_UPSTREAMS_ASK_H
#define PTC_CLI_UPSTREAMS_UPSTREAMS_ASK_H

#include "cli/upstreams/upstreams_open.h"

/* Starts an upstream, unless it runs, and waits until it has listed its tools.  False: it did not; the state says
 * why. */
PTC_MUST_USE bool ptc_upstreams_load(PtcUpstreams *u, size_t i, PtcUpstreamState *state);

/* Is there an upstream of this name, or namespace?  If not, standard error says so, with the nearest. */
PTC_MUST_USE bool ptc_upstreams_knows(PtcUpstreams *u, PtcText name);

/* `ptc upstreams list`, check, call, doc: each returns the exit status. */
typedef struct PtcUpstreamsCommand {
    PtcMem *mem;
    PtcUpstreams *upstreams;
    bool json, raw;
    bool quiet; /* a check writes no line */
    int argc;   /* arguments after the word */
    char **argv;
    bool device, paste; /* login */
} PtcUpstreamsCommand;
int ptc_upstreams_list(PtcUpstreamsCommand *c);
int ptc_upstreams_check(PtcUpstreamsCommand *c);
/* Is there a good reason that it is not there: it is disabled, or it is ptc itself, which is in the files of clients
 * that start it? */
bool ptc_upstreams_is_left(const PtcUpstreamState *s);
/* One line of check, with the time that it took.  False: it cannot be used. */
PTC_MUST_USE bool ptc_upstreams_check_one(PtcUpstreamsCommand *c, size_t i, int64_t *ms);
int ptc_upstreams_call(PtcUpstreamsCommand *c);
int ptc_upstreams_tell(PtcUpstreamsCommand *c);
/* ---- upstreams_doctor.c */
int ptc_upstreams_doctor(PtcUpstreamsCommand *c);
/* ---- upstreams_pins.c */
int ptc_upstreams_pins(PtcUpstreamsCommand *c);
int ptc_upstreams_approve(PtcUpstreamsCommand *c);
/* ---- upstreams_forget.c */
int ptc_upstreams_forget(PtcUpstreamsCommand *c);
/* A line for each tool of an upstream that has changed since it was pinned (upstreams_pins.c). */
void ptc_upstreams_put_changed(PtcUpstreamsCommand *c, size_t i, PtcBuf *out);

#endif
