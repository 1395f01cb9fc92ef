/* SPDX-License-Identifier: MIT
 * sign_in_flow.h - a sign-in from beginning to end: by whoever calls it, or in the background for a server that cannot
 * wait. */
#ifndef PTC_UPSTREAM_CONNECT_SIGN_IN_FLOW_H
#define PTC_UPSTREAM_CONNECT_SIGN_IN_FLOW_H

#include "oauth/oauth_login.h"
#include "upstream/connect/sign_in.h"

/* Signs in and keeps the tokens at `place`, whole or not at all.  Blocks.  False: w->why says what went wrong. */
PTC_MUST_USE bool ptc_sign_in_login(PtcOauthWork *w, const PtcOauthSite *site, PtcOauthWay way,
                                    const PtcOauthPerson *person, const PtcOauthPlace *place,
                                    PtcOauthRecord *record);

/* One in the background, on a thread of its own: a person opens an address, whose answer comes to a port of this
 * machine. */
typedef struct PtcSignInFlow PtcSignInFlow;

/* NULL: out of memory.  Entry and place outlive it; the heap is that of the entry, which nobody else uses meanwhile. */
PTC_MUST_USE PtcSignInFlow *ptc_sign_in_flow_new(PtcMem *mem, const PtcEntry *entry, PtcHeap *heap,
                                                 const PtcOauthPlace *place);
/* Ends it, if one is under way. */
void ptc_sign_in_flow_free(PtcSignInFlow *flow);

/* Begins, unless one is under way; waits for one that was cancelled.  False: it cannot be. */
PTC_MUST_USE bool ptc_sign_in_flow_begin(PtcSignInFlow *flow);
/* Nobody wants it any more. */
void ptc_sign_in_flow_cancel(PtcSignInFlow *flow);
/* The address to be opened, once there is one after `told`, the number of the last; its number.  0: there is none. */
unsigned ptc_sign_in_flow_address(PtcSignInFlow *flow, unsigned told, int64_t ms, PtcBuf *url);
/* Waits for the end, or for an address after `told`.  False: it goes on. */
PTC_MUST_USE bool ptc_sign_in_flow_await(PtcSignInFlow *flow, unsigned told, int64_t ms);

#endif
