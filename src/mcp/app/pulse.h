/* SPDX-License-Identifier: MIT
 * pulse.h - signs of life for clients that gave a progress token: while a call waits for its program, a notification
 * every few seconds.  Clients abort what is silent for too long.
 *
 * One thread serves all calls; it is made when the first one needs it, and sleeps while there are none. */
#ifndef PTC_MCP_APP_PULSE_H
#define PTC_MCP_APP_PULSE_H

#include "mcp/server/mcp.h"

typedef struct PtcPulse PtcPulse;

/* One call that waits; in the frame of its handler. */
typedef struct PtcBeat {
    PtcMcpCall *call; /* NULL: not waiting, or without a token */
    int64_t begun_ns, due_ns;
    struct PtcBeat *prev, *next;
} PtcBeat;

/* NULL: memory is short. */
PTC_MUST_USE PtcPulse *ptc_pulse_new(int64_t every_ms);
/* No call waits any more. */
void ptc_pulse_free(PtcPulse *pulse);

/* From here on the call belongs to the pulse and the handler does nothing with it, until ptc_pulse_end: after that
 * nothing is sent.  Where no thread can be made nothing is sent at all. */
void ptc_pulse_begin(PtcPulse *pulse, PtcBeat *beat, PtcMcpCall *call);
void ptc_pulse_end(PtcPulse *pulse, PtcBeat *beat);

#endif
