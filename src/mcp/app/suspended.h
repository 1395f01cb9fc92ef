/* SPDX-License-Identifier: MIT
 * suspended.h - runs that wait for a person's answer between two calls of a client: what is needed to go on with them,
 * and for a while what became of them, so that the same call gets the same answer again.
 *
 * A row is found by a token.  Tokens are authenticated by whoever carries them (mcp.h); they name the row, which of its
 * questions they are for, when it ends, and what had taken effect by then, so that this can be told when the row is
 * gone.  Each question gets its own time, but a run as a whole has no more than PTC_SUSPENDED_TIMES of it.  Any thread;
 * a row that was taken belongs to its taker until it is put back. */
#ifndef PTC_MCP_APP_SUSPENDED_H
#define PTC_MCP_APP_SUSPENDED_H

#include <pthread.h>

#include "base/text/hmac.h"
#include "exec/task.h"
#include "mcp/app/background_task.h"
#include "tool/remote/remote.h"

enum {
    PTC_SUSPENDED_ROWS = 32,
    PTC_SUSPENDED_OF_OWNER = 8,
    PTC_SUSPENDED_ID = 16,
    PTC_SUSPENDED_TIMES = 6,     /* how often the time for a question a run may wait altogether */
    PTC_SUSPENDED_EFFECTS = 600, /* bytes of the line about effects in a token */
    PTC_SUSPENDED_TOKEN = PTC_SUSPENDED_ID + 20 + PTC_SUSPENDED_EFFECTS,
};

/* Further questions of servers that a modern client was asked together with the first. */
enum { PTC_ALONG = 7 };
typedef struct PtcAlong {
    uint64_t numbers[PTC_ALONG]; /* PtcRemote.inquiry */
    unsigned count;
} PtcAlong;

/* One run.  Texts of `in` are the row's own copies, except those of the session, which is held. */
typedef struct PtcSuspendedRow {
    uint8_t id[PTC_SUSPENDED_ID];
    uint32_t round;   /* of the question that is open, or was open last */
    uint64_t mark;    /* of that question, so that only those who have seen it can answer */
    uint64_t inquiry; /* it is this one of a server (PtcRemote.inquiry); 0: it is about calls */
    PtcAlong along;
    enum { PTC_ROW_FREE, PTC_ROW_WAITING, PTC_ROW_TAKEN, PTC_ROW_ANSWERED, PTC_ROW_EXPIRED } state;
    int64_t first_ms, ends_ms; /* of its first question, and when it ends; since 1970 */
    char *owner;
    const char *tool;
    PtcTaskIn in;
    char *texts;
    size_t texts_len;
    PtcTaskAsking asking;
    PtcSessionEntry *held;         /* or NULL */
    PtcBackgroundTask *background; /* a task, which has the run of `asking`; or NULL */
    uint32_t replied;              /* questions before this one were replied to */
    uint8_t reply[PTC_SHA256_BYTES];
    /* when it is ANSWERED */
    PtcTaskOut out;
    PtcSessionInfo info;
    bool has_out, failed;
    char reason[24];
    PtcBuf message; /* of the failure; while it waits, the line about effects */
    PtcBuf told;    /* the answer of a task, JSON; empty: there is none, or it was too large */
    bool told_ok;
} PtcSuspendedRow;

typedef struct PtcSuspended {
    PtcMem *mem;
    PtcRemote *remote;
    PtcSessions *sessions; /* or NULL */
    int64_t ttl_ms;
    /* It guards the rows but those that are taken, which belong to the call that took them.  Calls take it to
     * find, add and give back a row; ending a row takes the locks of sessions, of tasks and of the upstream layer
     * inside. */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    PtcSuspendedRow rows[PTC_SUSPENDED_ROWS];
} PtcSuspended;

/* NULL: out of memory.  remote and sessions outlive it. */
PTC_MUST_USE PtcSuspended *ptc_suspended_new(PtcMem *mem, PtcRemote *remote, PtcSessions *sessions,
                                             int64_t ttl_ms);
/* Ends all runs.  None is taken. */
void ptc_suspended_free(PtcSuspended *table);
/* Ends what has waited too long. */
void ptc_suspended_sweep(PtcSuspended *table);

/* A new row, taken, with copies of what the task needs.  NULL: there are too many, or no memory. */
PTC_MUST_USE PtcSuspendedRow *ptc_suspended_add(PtcSuspended *table, const char *owner,
                                                const char *tool, const PtcTaskIn *in);

/* What a token says. */
typedef struct PtcSuspendedToken {
    uint8_t id[PTC_SUSPENDED_ID];
    uint32_t round;
    uint64_t mark;
    int64_t ends_ms;
    PtcText effects; /* points into the token, or to `later` */
    char later[PTC_SUSPENDED_EFFECTS];
} PtcSuspendedToken;
/* Sets when the row ends: a question that is `new` gets its whole time, if the run has that much left.  False: the time
 * is over. */
PTC_MUST_USE bool ptc_suspended_set_end(PtcSuspended *table, PtcSuspendedRow *row, bool new);
/* The token of the row's open question; the row keeps the effects too. */
void ptc_suspended_put_token(PtcSuspendedRow *row, PtcText effects, PtcBuf *out);
PTC_MUST_USE bool ptc_suspended_get_token(PtcText bytes, PtcSuspendedToken *out);

typedef enum {
    PTC_SUSPENDED_TAKEN, /* go on with it */
    PTC_SUSPENDED_SAME, /* it was answered with the same reply: taken, to be answered in the same way */
    PTC_SUSPENDED_USED, /* it was answered with another one */
    PTC_SUSPENDED_OTHER, /* another question has taken the place of the one that this is an answer to */
    PTC_SUSPENDED_BUSY, /* the same was asked before and is being done */
    PTC_SUSPENDED_GONE, /* expired, or lost: *token says what had taken effect, as late as it is known */
} PtcSuspendedFound;
/* `reply` is the digest of what was said, and to which question where that matters.  With `peek` a row whose question
 * is open is not taken as answered: the question can be asked again, or what has taken its place. */
PtcSuspendedFound ptc_suspended_take(PtcSuspended *table, const char *owner,
                                     PtcSuspendedToken *token,
                                     const uint8_t reply[PTC_SHA256_BYTES], bool peek,
                                     PtcSuspendedRow **row);
/* Puts a row back that waits for an answer. */
void ptc_suspended_wait(PtcSuspended *table, PtcSuspendedRow *row);
/* Puts it back as answered: it keeps the answer for as long as a question would have had. */
void ptc_suspended_answered(PtcSuspended *table, PtcSuspendedRow *row);
/* Waits a little for a row to be put back. */
void ptc_suspended_await(PtcSuspended *table, int64_t ms);

#endif
