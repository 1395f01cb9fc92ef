/* SPDX-License-Identifier: MIT
 * progress_sender.h - signs of life for clients that sent a progress token: while a call waits for its program, a
 * notification every few seconds, a line when it calls something and when that has ended, and what other servers say
 * about their progress, at most once a second.  Clients give up on a call that is silent for too long.
 *
 * Lines about calls are told one by one while they are few; of many, some are left out, but never the last.
 *
 * One thread serves all calls; it is started when the first one needs it, and sleeps while there are none. */
#ifndef PTC_MCP_APP_PROGRESS_SENDER_H
#define PTC_MCP_APP_PROGRESS_SENDER_H

#include "mcp/server/mcp.h"
#include "tool/remote/remote.h"

typedef struct PtcProgressSender PtcProgressSender;

enum { PTC_PROGRESS_LINE = 320, PTC_PROGRESS_CALLS = 64 };

/* One call that waits; lives on its handler's stack. */
typedef struct PtcProgressCall {
    PtcRemoteListener listener; /* first: its functions cast back */
    PtcProgressSender *sender;
    PtcMcpCall *call; /* NULL: not waiting, or without a token */
    int64_t begun_ns, due_ns, reported_ns, told_ms;
    int64_t paid_ns;                  /* lines about calls that were told count until then */
    char (*lines)[PTC_PROGRESS_LINE]; /* about calls, to be told in order: a ring; NULL: none yet */
    unsigned line_at, line_count;
    char last[PTC_PROGRESS_LINE]; /* to be told after these, once it is due; "": none */
    int64_t last_due_ns;
    bool last_of_call;
    bool sending; /* a notification, without the lock */
    struct PtcProgressCall *prev, *next;
} PtcProgressCall;

/* NULL: out of memory. */
PTC_MUST_USE PtcProgressSender *ptc_progress_sender_new(PtcMem *mem, int64_t every_ms);
/* Only when no call waits any more. */
void ptc_progress_sender_free(PtcProgressSender *sender);

/* From here on the call belongs to the sender, and the handler must not use it until ptc_progress_sender_end; after
 * that nothing is sent.  If no thread can be started, nothing is sent at all. */
void ptc_progress_sender_begin(PtcProgressSender *sender, PtcProgressCall *waiting,
                               PtcMcpCall *call);
/* The listener for the progress of other servers; NULL: the client does not want it. */
PtcRemoteListener *ptc_progress_sender_listener(PtcProgressCall *waiting);
void ptc_progress_sender_end(PtcProgressSender *sender, PtcProgressCall *waiting);

#endif
