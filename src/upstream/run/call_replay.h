/* SPDX-License-Identifier: MIT
 * call_replay.h - what a run has called, by the identity of each call: so that its program can be run again after a
 * person was asked, gets the same answers as before, and makes no call twice.
 *
 * Nothing here takes a lock: the owner of a replay guards it. */
#ifndef PTC_UPSTREAM_RUN_CALL_REPLAY_H
#define PTC_UPSTREAM_RUN_CALL_REPLAY_H

#include "base/mem.h"
#include "base/text/hmac.h"
#include "tool/remote/remote.h"
#include "upstream/config/policy.h"
#include "upstream/run/grants.h"

enum {
    PTC_REPLAY_BYTES = 16 * PTC_MB, /* of all answers */
    PTC_REPLAY_CALLS = 4096,
};

typedef enum {
    PTC_REPLAY_CALLED, /* it was met, and is not answered yet */
    PTC_REPLAY_ANSWERED,
    PTC_REPLAY_ASIDE,    /* it waits for a person */
    PTC_REPLAY_APPROVED, /* this call alone */
} PtcReplayState;

/* One call of a run. */
typedef struct PtcReplayCall {
    PtcRemoteId id;
    PtcReplayState state;
    bool met; /* since the program was run last */
    bool ok, may_repeat;
    uint8_t print[PTC_SHA256_BYTES]; /* of what is called with what */
    char *answer;
    size_t len;
    /* of one that waits: */
    PtcText server, tool; /* borrowed: of what the run sees, or has of an earlier process */
    uint32_t slot;        /* of the server */
    PtcGrantState was;    /* what was said before, which does not hold for it; NONE: nothing */
    PtcEffectKind effect;
    uint8_t pin[PTC_SHA256_BYTES]; /* of the tool's definition */
    char *args;                    /* as a person reads them */
    size_t args_len;
    bool asked; /* the question that was composed last names its tool, and counts it */
} PtcReplayCall;

typedef struct PtcReplay {
    PtcMem *mem;
    PtcReplayCall *items;
    size_t count, cap;
    size_t next;  /* where the next call is probably found */
    size_t bytes; /* of answers */
    bool full;    /* not all of them were kept: the program cannot be run again */
    bool diverged;
} PtcReplay;

void ptc_replay_init(PtcReplay *replay, PtcMem *mem);
void ptc_replay_deinit(PtcReplay *replay);

typedef enum {
    PTC_MEET_CALL,     /* *part is new, or was not called before: go on */
    PTC_MEET_ANSWER,   /* *part has the answer */
    PTC_MEET_DIVERGED, /* the program does something else than before */
    PTC_MEET_FULL,     /* there is no room for it, or no memory; it is not recorded */
} PtcMeet;
/* A call of the program; *part is its number. */
PtcMeet ptc_replay_meet(PtcReplay *replay, PtcRemoteId id, const uint8_t print[PTC_SHA256_BYTES],
                        size_t *part);
/* The same for a question that the program may ask as often as it likes, and gets one answer to. */
PtcMeet ptc_replay_meet_look(PtcReplay *replay, const uint8_t print[PTC_SHA256_BYTES],
                             size_t *part);
/* Its answer; one that does not fit makes the replay full. */
void ptc_replay_keep(PtcReplay *replay, size_t part, bool ok, bool may_repeat, PtcText answer);
/* Puts it aside; `args` as a person reads them.  False: out of memory. */
PTC_MUST_USE bool ptc_replay_put_aside(PtcReplay *replay, size_t part, PtcText args);

/* Does it wait, now that the program has ended? */
static inline bool ptc_replay_waits(const PtcReplayCall *part)
{
    return part->state == PTC_REPLAY_ASIDE && part->met;
}
size_t ptc_replay_waiting(const PtcReplay *replay);
/* How many calls wait, or were approved and are not made yet. */
size_t ptc_replay_to_come(const PtcReplay *replay);
/* The program is run again. */
void ptc_replay_again(PtcReplay *replay);

#endif
