/* SPDX-License-Identifier: MIT
 * link_int.h - what the files of a link share.
 *
 *   link.c           asks by id, their ends, the one task that the loop runs for a link
 *   link_message.c   what came: answers, requests, notifications; and the envelope of what goes out
 *   link_hand.c      the handshake of both eras, and what was agreed
 *   link_list.c      pages
 *   link_task.c      calls that are answered with a task
 *   wire_stdio.c     a process and its pipes (stdio_child.c starts it)
 *   wire_http.c      requests over HTTP on threads of their own; http_job.c is what those threads do
 *
 * "Loop" in a comment: only the loop's thread calls it.  "Locked": the caller holds link->lock. */
#ifndef PTC_MCP_CLIENT_LINK_INT_H
#define PTC_MCP_CLIENT_LINK_INT_H

#include <pthread.h>

#include "base/arena.h"
#include "mcp/client/era_probe.h"
#include "mcp/client/link.h"

enum {
    ASK_BUCKETS = 64,
    ROUND_BYTES =
        64 * PTC_KB,      /* read from or written to a descriptor before others have their turn */
    OUT_BYTES = 32 << 20, /* waiting to be written */
    UNASKED = 256, /* answers and notifications on their way: a server may ask without reading */
    SCRATCH_BYTES = 32 << 20, /* of a heap for one message */
    ABOUT_BYTES = 1 << 20,    /* what a server says about itself */
    TAIL_BYTES = 8 * PTC_KB,  /* of standard error, for a start that failed */
    LOG_LINE = 1024,          /* of a line of standard error */
    LOG_LINES = 200,          /* in a minute, whatever they are about */
    MINUTE_MS = 60 * 1000,
    WHY_BYTES = 1024 + TAIL_BYTES, /* why a link is down */
    MESSAGE_BYTES = 16 << 20,
    HANDSHAKE_MS = 60 * 1000,
    VERSION_BYTES = 32,
};

/* A message that could not be written at once; stdio. */
typedef struct PtcLinkOut {
    struct PtcLinkOut *next;
    PtcBuf text;
    size_t sent;
    PtcLinkAsk *ask; /* NULL: a notification or an answer, or nobody waits any more */
    bool unasked;    /* a notification or an answer */
} PtcLinkOut;

/* What is to be sent. */
typedef struct Outgoing {
    PtcLinkAsk *ask; /* NULL: nothing comes back */
    const char *method;
    PtcText params;  /* to find the name for Mcp-Name */
    PtcText headers; /* lines for HTTP */
    PtcBuf *text;    /* the message without a line feed; may be taken over */
} Outgoing;

/* A kind of connection. */
typedef struct Wire {
    bool (*open)(PtcLink *link, PtcBuf *why); /* loop */
    /* Locked.  NULL, or why it cannot be sent: a constant text. */
    const char *(*send)(PtcLink *link, const Outgoing *out);
    void (*forget)(PtcLink *link, PtcLinkAsk *ask); /* locked: the ask ends without an answer */
    void (*wake)(PtcLink *link);                    /* loop: something was sent, or arrived */
    void (*ready)(PtcLink *link);                   /* loop: the handshake is done */
    bool (*other_way)(
        PtcLink *link);          /* loop: initialize was refused; true: open again, another way */
    void (*shut)(PtcLink *link); /* loop: ends the connection, open or not */
    void (*explain)(PtcLink *link,
                    PtcBuf *why); /* loop: adds what helps to see why a start failed */
} Wire;

typedef struct PtcStdioWire PtcStdioWire;
typedef struct PtcHttpWire PtcHttpWire;

/* One connection to one server.  Any thread asks and cancels, under the lock; messages, timers and the handshake
 * belong to the loop's thread, which alone calls back. */
struct PtcLink {
    PtcMem *mem;
    PtcLoop *loop;
    PtcArena arena; /* of the config's texts */
    PtcLinkConfig config;
    const Wire *wire;
    PtcStdioWire *stdio; /* one of the two */
    PtcHttpWire *http;

    /* It guards what follows, up to the line, and what the wires say is locked.  Any thread takes it to ask and to
     * cancel, often under the lock of the manager; the loop's thread takes it to end asks.  The lock of the loop
     * is taken inside; done() and other callbacks come without it. */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    PtcLinkState state;
    PtcLinkEra era;
    char version[VERSION_BYTES];
    PtcLinkAsk *asks[ASK_BUCKETS];
    PtcLinkAsk *ended; /* not in the table any more; `wanted` and `why` are set */
    size_t ending;     /* asks in the table that were cancelled */
    uint64_t last_id;
    bool offers_tasks; /* the server does */
    int64_t due_ns;    /* the loop's timer is set to this or will be; 0: it is not */
    bool connect_wanted, close_wanted;
    bool closing, closed; /* closing: what is asked from now on would end no more */
    /* Messages under way that nobody waits for; they are freed without the lock. */
    atomic_size_t unasked;
    /* ------------------------------------------------------------------ loop */
    PtcLoopTask task;
    PtcLoopTimer due;      /* the end of an ask */
    PtcLoopTimer hand_due; /* silence after the probe; the end of the handshake */
    PtcLinkAsk probe, init, listen;
    bool probing, initializing, listening;
    bool probed;    /* this connect: the probe was sent */
    bool reprobed;  /* this connect: the probe was sent again, after an error of the modern era */
    bool respawned; /* this connect: the process ended at the probe and was started again */
    int64_t hand_end_ns;
    PtcBuf about;
    PtcBuf auth;             /* the challenge that the last connect failed with */
    bool refused;            /* it failed for want of authorization */
    uint64_t junk;           /* messages that were none */
    size_t logged, left_out; /* lines of this minute */
    int64_t minute_ns;
};

#define LINK_OF(node, member) ((PtcLink *)(void *)((char *)(node)-offsetof(PtcLink, member)))

/* ---- link.c */

/* Asks the loop to look at this link. */
bool ptc_link_wake(PtcLink *link);
/* Sends a request of the library's own, in any state; loop.  Its end_ns is set, or 0: none.  False: out of memory, or
 * it could not be sent. */
bool ptc_link_ask_inner(PtcLink *link, PtcLinkAsk *ask, const char *method, PtcText params);
/* Sends a notification, or an answer (`text` is the whole message); loop. */
void ptc_link_notify(PtcLink *link, const char *method, PtcText params);
void ptc_link_send_text(PtcLink *link, PtcBuf *text);
/* Takes an ask out of the table; NULL: it is not there (any more). */
PtcLinkAsk *ptc_link_take_ask(PtcLink *link, uint64_t id);
/* Is it there? */
bool ptc_link_has_ask(PtcLink *link, uint64_t id);
/* Of an ask in the table: its task; `polled`: the ask has a number that the server never saw. */
struct PtcLinkTask *ptc_link_task_of(PtcLink *link, uint64_t id, bool *polled);
/* Locked.  The request of an ask was answered, but the ask goes on, under another number; NULL: it is not there, or
 * (`tasks`) a task cannot be the answer to it. */
PtcLinkAsk *ptc_link_renumber(PtcLink *link, uint64_t id, bool tasks);
/* Ends an ask that is in no list; loop.  The text of the reply is freed. */
void ptc_link_end_ask(PtcLink *link, PtcLinkAsk *ask, PtcLinkReply *reply);
void ptc_link_end_ask_why(PtcLink *link, PtcLinkAsk *ask, PtcLinkEnd end, PtcText why);
/* Forgets an ask of the library without calling done; loop. */
void ptc_link_drop_ask(PtcLink *link, PtcLinkAsk *ask);
/* The connection is over; loop.  Ends every ask and tells the state, unless the handshake knows another way. */
void ptc_link_down(PtcLink *link, PtcText why);
void ptc_link_set_state(PtcLink *link, PtcLinkState state, PtcText why);
void ptc_link_log(PtcLink *link, const char *format, ...) PTC_PRINTF(2, 3);
/* Progress came for an ask; loop. */
void ptc_link_progress(PtcLink *link, uint64_t id, double done, double total, PtcText message);
PtcLinkReply ptc_link_reply(PtcLink *link, PtcLinkEnd end);

/* ---- link_message.c */

/* A heap for a moment. */
typedef struct PtcLinkScratch {
    PtcPool pool;
    PtcBudget budget;
    PtcHeap heap;
} PtcLinkScratch;
void ptc_link_scratch_init(PtcLinkScratch *scratch, PtcLink *link);
void ptc_link_scratch_deinit(PtcLinkScratch *scratch);
/* The value of a JSON text; PTC_NONE: absent, broken, or out of memory. */
PtcValue ptc_link_scratch_value(PtcLinkScratch *scratch, PtcText json);
/* What a JSON string says; absent: it is not a string. */
PtcText ptc_link_scratch_text(PtcLinkScratch *scratch, PtcText json);

/* Takes a message that came; loop.  False: it is no JSON-RPC message. */
bool ptc_link_take_message(PtcLink *link, PtcText text);
/* Writes a request, or (id 0) a notification.  False: out of memory. */
bool ptc_link_write(PtcLink *link, PtcBuf *out, uint64_t id, const char *method, PtcText params,
                    bool progress);
/* An answer that was longer than a message may be: its ask, where that can be told from the two ends of it; loop. */
void ptc_link_too_long(PtcLink *link, PtcText head, PtcText tail, size_t bytes);

/* ---- link_hand.c */

/* The connection is open: begins the handshake; loop. */
void ptc_link_hand_begin(PtcLink *link);
/* The parameters of `initialize`. */
bool ptc_link_hand_params(PtcLink *link, PtcBuf *out, const char *version);
void ptc_link_hand_stop(PtcLink *link); /* no handshake is under way any more */
/* The process ended.  True: that was because of the probe, and it is started again. */
bool ptc_link_hand_again(PtcLink *link);
void ptc_link_hand_due(PtcLoopTimer *timer);

/* ---- wire_stdio.c */

bool ptc_stdio_wire_new(PtcLink *link);
void ptc_stdio_wire_free(PtcLink *link);
extern const Wire ptc_stdio_wire;

/* ---- wire_http.c */

bool ptc_http_wire_new(PtcLink *link);
void ptc_http_wire_free(PtcLink *link);         /* joins its threads; any thread but the loop's */
bool ptc_http_wire_is_sse(const PtcLink *link); /* HTTP+SSE, which only the legacy era has */
extern const Wire ptc_http_wire;

#endif
