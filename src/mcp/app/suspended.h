/* SPDX-License-Identifier: MIT
 * suspended.h - runs that wait for a person's answer between two calls of a client: what is needed to go on with them,
 * and for a while what became of them, so that the same call gets the same answer again.
 *
 * A row is a record of a store, which other processes may share: whichever of them gets an answer goes on with the run,
 * from what was recorded.  A row is found by a token.  Tokens are authenticated by whoever carries them (mcp.h); they
 * name the row, which of its questions they are for, when it ends, and what had taken effect by then, so that this can
 * be told when the row is gone.  Each question gets its own time, but a run as a whole has no more than
 * PTC_SUSPENDED_TIMES of it.
 *
 * A run that cannot be written, since a call of it is open here or a task has it, is kept in this process beside its
 * record.  Any thread; a row in memory belongs to whoever added or took it, until it is put back or dropped. */
#ifndef PTC_MCP_APP_SUSPENDED_H
#define PTC_MCP_APP_SUSPENDED_H

#include <pthread.h>

#include "base/text/hmac.h"
#include "exec/task.h"
#include "mcp/app/background_task.h"
#include "mcp/app/sessions.h"
#include "store/store.h"
#include "tool/remote/remote.h"

enum {
    PTC_SUSPENDED_OF_OWNER = 8,    /* that wait for an answer */
    PTC_SUSPENDED_ALL_MB = 512,    /* of records, where the store counts bytes */
    PTC_SUSPENDED_OWNER_ROWS = 64, /* with those that were answered */
    PTC_SUSPENDED_ID = 16,
    PTC_SUSPENDED_TIMES = 6,     /* how often the time for a question a run may wait altogether */
    PTC_SUSPENDED_EFFECTS = 600, /* bytes of the line about effects in a token */
    PTC_SUSPENDED_TOKEN = PTC_SUSPENDED_ID + 20 + PTC_SUSPENDED_EFFECTS,
    PTC_SUSPENDED_BYTES = 16 * PTC_MB - 4 * PTC_KB, /* of a record */
};

/* Further questions of servers that a modern client was asked together with the first. */
enum { PTC_ALONG = 7 };
typedef struct PtcAlong {
    uint64_t numbers[PTC_ALONG]; /* PtcRemote.inquiry */
    unsigned count;
} PtcAlong;

typedef enum { PTC_ROW_WAITING, PTC_ROW_TAKEN, PTC_ROW_ANSWERED } PtcRowState;

/* What of a run is in this process alone. */
typedef struct PtcSuspendedHere {
    struct PtcSuspendedHere *next;
    uint8_t id[PTC_SUSPENDED_ID];
    int64_t ends_ms;
    void *run;                     /* of PtcRemote */
    PtcBackgroundTask *background; /* a task, which has `run`; or NULL */
} PtcSuspendedHere;

/* One run.  Texts are the row's own. */
typedef struct PtcSuspendedRow {
    uint8_t id[PTC_SUSPENDED_ID];
    uint64_t version; /* of the record; 0: there is none yet */
    PtcRowState state;
    uint32_t round;   /* of the question that is open, or was open last */
    uint64_t mark;    /* of that question, so that only those who have seen it can answer */
    uint64_t inquiry; /* it is this one of a server (PtcRemote.inquiry); 0: it is about calls */
    PtcAlong along;
    int64_t first_ms, ends_ms; /* of its first question, and when it ends; the store's clock */
    int64_t expires_ms;        /* of the record: what it did is told for longer */
    char *owner;
    bool is_task; /* of lisp_task */
    PtcBuf
        asked; /* the question, for a person at another place; empty: it can only be answered by the client */
    PtcBuf said; /* what that person has answered, JSON as of a client; empty: nothing */
    /* the program */
    PtcText program, context, signature, output_schema;
    PtcText session; /* handle; absent: it runs in none */
    int64_t now_ms;
    unsigned mode, offers;
    PtcText run; /* PtcRemote.save; absent: `here` has it, in the process `node` */
    uint8_t node[PTC_SUSPENDED_ID]; /* that; of one that was taken, who has it */
    PtcSuspendedHere here;          /* while it is taken, or new; run NULL: nothing */
    uint32_t replied;               /* questions before this one were replied to */
    uint8_t reply[PTC_SHA256_BYTES];
    /* when it is ANSWERED */
    PtcTaskOut out;
    PtcSessionInfo info;
    bool has_out, failed;
    char reason[24];
    PtcBuf message; /* of the failure; while it waits, the line about effects */
    PtcBuf told;    /* the answer of a task, JSON; empty: there is none, or it was too large */
    bool told_ok;
    PtcBuf bytes, saved; /* where the texts are */
} PtcSuspendedRow;

typedef struct PtcSuspended {
    PtcMem *mem;
    PtcRemote *remote;
    PtcStore *store;
    int64_t ttl_ms;
    uint8_t node[PTC_SUSPENDED_ID]; /* names this process */
    /* It guards the list.  Ending a run, which takes the locks of tasks and of the upstream layer, is done without
     * it. */
    pthread_mutex_t lock;
    PtcSuspendedHere *here;
} PtcSuspended;

/* NULL: out of memory.  remote and store outlive it. */
PTC_MUST_USE PtcSuspended *ptc_suspended_new(PtcMem *mem, PtcRemote *remote, PtcStore *store,
                                             int64_t ttl_ms);
/* Ends all runs of this process.  None is taken. */
void ptc_suspended_free(PtcSuspended *table);
/* Ends what has waited too long in this process. */
void ptc_suspended_sweep(PtcSuspended *table);

/* What a new row is about; the texts are copied. */
typedef struct PtcSuspendedNew {
    const char *owner;
    bool is_task;
    const PtcTaskIn *in;
    PtcText session; /* absent: none */
} PtcSuspendedNew;
/* A new row, which is no record yet.  NULL: there are too many, or no memory. */
PTC_MUST_USE PtcSuspendedRow *ptc_suspended_add(PtcSuspended *table, const PtcSuspendedNew *new);

/* What a token says. */
typedef struct PtcSuspendedToken {
    uint8_t id[PTC_SUSPENDED_ID];
    uint32_t round;
    uint64_t mark;
    int64_t ends_ms;
    PtcText effects;  /* points into the token, or to `later` */
    uint64_t version; /* of the record, when it was found busy */
    bool
        resumes; /* set by whoever has it: it comes without an answer from a client that is asked in a call */
    char later[PTC_SUSPENDED_EFFECTS];
} PtcSuspendedToken;
/* Sets when the row ends: a question that is `new` gets its whole time, if the run has that much left.  False: the time
 * is over. */
PTC_MUST_USE bool ptc_suspended_set_end(PtcSuspended *table, PtcSuspendedRow *row, bool new);
/* The token of the row's open question; the row keeps the effects too. */
void ptc_suspended_put_token(PtcSuspendedRow *row, PtcText effects, PtcBuf *out);
PTC_MUST_USE bool ptc_suspended_get_token(PtcText bytes, PtcSuspendedToken *out);
/* Is its time over? */
bool ptc_suspended_is_late(const PtcSuspended *table, const PtcSuspendedToken *token);

typedef enum {
    PTC_SUSPENDED_TAKEN, /* go on with it */
    PTC_SUSPENDED_SAME, /* it was answered with the same reply: to be answered in the same way; taken if it waits */
    PTC_SUSPENDED_USED, /* it was answered with another one */
    PTC_SUSPENDED_OTHER, /* another question has taken the place of the one that this is an answer to */
    PTC_SUSPENDED_BUSY, /* the same was asked before and is being done */
    PTC_SUSPENDED_GONE, /* expired, or lost: *token says what had taken effect, as late as it is known */
    PTC_SUSPENDED_LOST, /* likewise, with a process that went on with it: it may have done more */
    PTC_SUSPENDED_ELSEWHERE, /* only another process can go on with it */
    PTC_SUSPENDED_FAILED,    /* the store, or no memory */
} PtcSuspendedFound;
/* `reply` is the digest of what was said, and to which question where that matters.  With `peek` a row whose question
 * is open is not taken as answered: the question can be asked again, or what has taken its place.  *row is there with
 * TAKEN and SAME. */
PtcSuspendedFound ptc_suspended_take(PtcSuspended *table, const char *owner,
                                     PtcSuspendedToken *token,
                                     const uint8_t reply[PTC_SHA256_BYTES], bool peek,
                                     PtcSuspendedRow **row);
/* Puts a row back that waits for an answer, with the run in row->here; the row is gone.  False: it could not be kept,
 * and the run was ended. */
PTC_MUST_USE bool ptc_suspended_wait(PtcSuspended *table, PtcSuspendedRow *row);
/* Puts it back as answered: it keeps the answer for as long as a question would have had; the row is gone. */
void ptc_suspended_answered(PtcSuspended *table, PtcSuspendedRow *row);
/* Forgets a row, whose record stays as it is; its run is ended. */
void ptc_suspended_drop(PtcSuspended *table, PtcSuspendedRow *row);
/* Waits a little for a row that was busy to be put back. */
void ptc_suspended_await(PtcSuspended *table, const char *owner, const PtcSuspendedToken *token,
                         int64_t ms);

/* Whoever has what a question was answered with, by a client or by a person at another place. */
void ptc_suspended_digest(uint32_t round, PtcText answer, uint8_t reply[PTC_SHA256_BYTES]);

/* ---- suspended_desk.c: for a person at another place */
/* The runs of all owners that wait for a decision about calls, as a JSON array of {"owner", "id", "round", "mark",
 * "tool", "waits_ms", "left_ms", "program", "question", "said"?}.  False: the store cannot be read. */
PTC_MUST_USE bool ptc_suspended_list(PtcStore *store, PtcMem *mem, PtcBuf *out);
/* The decision about one of them, named by the members of that; whoever comes next goes on with the run.  False with a
 * text in why: it was answered already, is gone, or another question is open. */
typedef struct PtcSuspendedSay {
    PtcText owner, id;
    int64_t round;
    PtcText mark, decision;
} PtcSuspendedSay;
PTC_MUST_USE bool ptc_suspended_say(PtcStore *store, PtcMem *mem, const PtcSuspendedSay *say,
                                    PtcWhy *why);

/* ---- suspended_rows.c: rows in the store, for these files */
PTC_MUST_USE PtcSuspendedRow *ptc_suspended_row_new(PtcMem *mem, PtcText owner);
void ptc_suspended_row_free(PtcMem *mem, PtcSuspendedRow *row);
/* The row as it is in the store; NULL when it could not be read, and *status says why: PTC_STORE_OK when the bytes are
 * not what they should be. */
PtcSuspendedRow *ptc_suspended_row_read(PtcStore *store, PtcMem *mem, PtcText owner, PtcText id,
                                        PtcStoreStatus *status);
/* Writes it, in the state that it has, if nobody else did. */
PtcStoreStatus ptc_suspended_row_write(PtcStore *store, PtcMem *mem, PtcSuspendedRow *row);
enum { PTC_SUSPENDED_KEY = 2 * PTC_SUSPENDED_ID + 1 };
extern const char ptc_suspended_kind[];
/* What lies beside a record of a row that was answered. */
enum { PTC_SUSPENDED_OVER = 'a' };
/* Its key; `text` has the name. */
PtcStoreKey ptc_suspended_key(PtcText owner, const uint8_t *id, char text[PTC_SUSPENDED_KEY]);

/* ---- suspended_bytes.c: a row as the bytes of its record */
void ptc_suspended_pack(const PtcSuspendedRow *row, PtcBuf *out);
/* Into a row that is empty but for its buffers; the texts point into `bytes`.  False: it is none, or of another format,
 * or there is no memory. */
PTC_MUST_USE bool ptc_suspended_unpack(PtcSuspendedRow *row, PtcText bytes);

#endif
