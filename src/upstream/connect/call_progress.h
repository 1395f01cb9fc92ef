/* SPDX-License-Identifier: MIT
 * call_progress.h - what servers say about the progress of a call, on its way to whoever started the run. */
#ifndef PTC_UPSTREAM_CONNECT_CALL_PROGRESS_H
#define PTC_UPSTREAM_CONNECT_CALL_PROGRESS_H

#include "mcp/client/link.h"
#include "tool/remote/remote.h"

struct PtcUpCall;

/* PtcRemote.listen */
void ptc_progress_listen(void *run, PtcRemoteListener *listener);

/* PtcLinkAsk.progress of a call.  That there is one makes the server tell, and what it tells gives the call more
 * time. */
void ptc_progress_take(PtcLinkAsk *ask, double done, double total, PtcText message);

/* With the manager's lock held: tells the run's listener that the call begins or has ended. */
void ptc_progress_called(const struct PtcUpCall *call, const char *before, const char *after);

#endif
