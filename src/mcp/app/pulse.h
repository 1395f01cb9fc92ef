/* SPDX-License-Identifier: MIT
 * pulse.h - signs of life for clients that sent a progress token: while a call waits for its program, a notification
 * every few seconds, and what other servers say about their progress, at most once a second.  Clients give up on a call
 * that is silent for too long.
 *
 * One thread serves all calls; it is started when the first one needs it, and sleeps while there are none. */
#ifndef PTC_MCP_APP_PULSE_H
#define PTC_MCP_APP_PULSE_H

#include "mcp/server/mcp.h"
#include "tool/remote/remote.h"

typedef struct PtcPulse PtcPulse;

/* One call that waits; lives on its handler's stack. */
typedef struct PtcBeat {
    PtcRemoteListener listener; /* first: progress() casts back */
    PtcPulse *pulse;
    PtcMcpCall *call; /* NULL: not waiting, or without a token */
    int64_t begun_ns, due_ns, told_ns;
    char line[320]; /* of another server, to be told; "": none */
    struct PtcBeat *prev, *next;
} PtcBeat;

/* NULL: out of memory. */
PTC_MUST_USE PtcPulse *ptc_pulse_new(PtcMem *mem, int64_t every_ms);
/* Only when no call waits any more. */
void ptc_pulse_free(PtcPulse *pulse);

/* From here on the call belongs to the pulse, and the handler must not use it until ptc_pulse_end; after that
 * nothing is sent.  If no thread can be started, nothing is sent at all. */
void ptc_pulse_begin(PtcPulse *pulse, PtcBeat *beat, PtcMcpCall *call);
/* The listener for the progress of other servers; NULL: the client does not want it. */
PtcRemoteListener *ptc_pulse_listener(PtcBeat *beat);
void ptc_pulse_end(PtcPulse *pulse, PtcBeat *beat);

#endif
