/* SPDX-License-Identifier: MIT
 * mcp_int.h - the layouts that the files of this layer share.
 *
 * Locks, in the order in which they may be taken: PtcMcp.lock (peers, listeners), PtcMcpPeer.lock (calls by id,
 * questions, legacy state), PtcMcpCall.lock (cancelling against sending and finishing), then the locks of a sink or
 * the gate. */
#ifndef PTC_MCP_SERVER_MCP_INT_H
#define PTC_MCP_SERVER_MCP_INT_H

#include "base/arena.h"
#include "base/text/hmac.h"
#include "mcp/server/gate.h"
#include "mcp/server/seal.h"
#include "mcp/server/transport.h"
#include "net/jsonrpc.h"
#include "value/coll/map.h"
#include "value/str.h"

#define PTC_MCP_META "io.modelcontextprotocol/"
#define PTC_MCP_VERSION_MODERN "2026-07-28"
#define PTC_MCP_VERSION_LEGACY "2025-11-25" /* the newest of that era */

typedef enum {
    PTC_MCP_LIST_TOOLS,
    PTC_MCP_LIST_RESOURCES,
    PTC_MCP_LIST_TEMPLATES,
    PTC_MCP_LIST_PROMPTS,
    PTC_MCP_LIST_COUNT
} PtcMcpList;

/* The rows of a list as JSON objects with commas between them.  The output schema is the last member of a row. */
typedef struct PtcMcpRows {
    PtcBuf text;
    struct PtcMcpRowEnd {
        size_t end,
            output; /* where the row ends, and where that begins, with its comma; 0: there is none */
    } * ends;
    size_t count;
    struct PtcMcpRows
        *before; /* of tools that were told again: what was told until then; NULL: nothing */
} PtcMcpRows;

/* What clients can be told about, as bits. */
enum {
    PTC_MCP_WANTS_TOOLS = 1 << PTC_MCP_TOOLS,
    PTC_MCP_WANTS_PROMPTS = 1 << PTC_MCP_PROMPTS,
    PTC_MCP_WANTS_RESOURCES = 1 << PTC_MCP_RESOURCES,
};

/* A small set of URIs, NUL-terminated, one after the other. */
typedef struct PtcMcpUris {
    PtcBuf text;
    size_t count;
} PtcMcpUris;
enum { PTC_MCP_MAX_URIS = 1024, PTC_MCP_MAX_URI_BYTES = 8192 };

enum { PTC_MCP_MAX_RAW = 8 }; /* names of arguments that rows want as text */

/* The tasks that run on this node, or wait here for answers. */
typedef struct PtcMcpWorkList {
    /* It guards all works and what is below.  Threads of calls and of tasks take it and the one that looks after
     * tasks; it may be taken under the lock of a call; nothing is taken inside. */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct PtcMcpWork *works;
    unsigned threads;  /* of works */
    unsigned detached; /* works that became tasks and run */
    pthread_t mind;
    bool has_mind, woken, ending;
    uint8_t node[16];
} PtcMcpWorkList;

struct PtcMcp {
    PtcMem mem;
    PtcPool pool;
    PtcMcpConfig config; /* with defaults filled in */
    unsigned char key[PTC_MCP_KEY];
    PtcMcpRows rows[PTC_MCP_LIST_COUNT];
    pthread_mutex_t
        retold_lock; /* who tells tools again takes it; nothing is taken inside but what tells clients */
    PtcMcpRows *retold;                 /* tools, as they are told after the last change */
    _Atomic(const PtcMcpRows *) newest; /* the same for readers; NULL: nothing has changed */
    PtcArena checks_arena;
    const struct PtcSchema **checks;            /* for the arguments, one per tool; NULL: none */
    const char *raw_names[PTC_MCP_MAX_RAW + 1]; /* from all rows; ends in NULL */
    PtcBuf info;                                /* {"name":...,"version":...} */
    PtcBuf capabilities;                        /* {"tools":{},...} */
    PtcBuf modern_capabilities;                 /* the same with extensions */
    PtcMcpGate gate;
    PtcMcpWorkList tasks;
    /* It guards everything below.  Threads that make or free a peer take it, listeners, and whoever tells all of
     * them; the locks of peers and calls are taken inside, never the other way round. */
    pthread_mutex_t lock;
    PtcMcpPeer *peers;
    PtcMcpCall *listeners;
    void (*on_stop)(void *user);
    void *stop_user;
    bool stopped;
};

/* A question to a legacy client that waits for its answer; lives on the stack of the handler's thread. */
typedef struct PtcMcpQuestion {
    struct PtcMcpQuestion *next;
    uint64_t number;
    PtcBuf reply; /* the message, once `answered` */
    bool answered;
} PtcMcpQuestion;

struct PtcMcpPeer {
    PtcMcp *mcp;
    PtcMcpPeer *prev, *next; /* under mcp->lock */
    /* It guards everything below but roots_changes.  Threads of calls and the transport take it; the lock of a
     * call, of base/os/cancel.c and of the gate may be taken inside, in this order. */
    pthread_mutex_t lock;
    pthread_cond_t answered; /* a question was answered, a call cancelled, the peer closed */
    PtcMcpSink sink;
    PtcMcpCall *calls; /* requests under way */
    PtcMcpQuestion *questions;
    uint64_t last_question;
    bool closed;
    bool initialized;          /* a legacy client: gets notifications that belong to no call */
    unsigned can;              /* PTC_MCP_CAN_* */
    atomic_uint roots_changes; /* how often it said that its roots have changed */
    PtcMcpLevel level;
    PtcMcpUris uris;
};

enum {
    PTC_MCP_CAN_SAMPLE = 1,
    PTC_MCP_CAN_ELICIT = 2,
    PTC_MCP_CAN_ROOTS = 4,
    PTC_MCP_OPENS = 8,      /* it elicits by addresses */
    PTC_MCP_NO_FORMS = 16,  /* and only by these */
    PTC_MCP_TEXT_ONLY = 32, /* it gets no structured content */
    PTC_MCP_CAN_ALL = 63,
};

/* Which member of the result a handler adds to. */
typedef enum {
    PTC_MCP_BODY_NONE,
    PTC_MCP_BODY_TOOL,     /* content */
    PTC_MCP_BODY_PROMPT,   /* messages */
    PTC_MCP_BODY_RESOURCE, /* contents */
    PTC_MCP_BODY_COMPLETE, /* values */
    PTC_MCP_BODY_OWN,      /* the handler writes the whole result, and needs no turn */
} PtcMcpBody;

enum { PTC_MCP_REASON = 24 };
enum { PTC_MCP_MAX_VARS = 8, PTC_MCP_MAX_SUGGESTIONS = 100 };

/* One message of a client and its answer.  It belongs to the thread that brought it, then to that of its handler;
 * what others change (cancelling, lists of calls and listeners) stands at its end, with the lock that guards it. */
struct PtcMcpCall {
    PtcMcp *mcp;
    PtcMcpPeer *peer;
    bool own_peer; /* made by `initialize` and not taken by anyone yet */
    PtcMcpSink sink;
    const char *owner;
    const PtcMcpIn *in; /* during ptc_mcp_begin only */

    PtcBudget budget;
    PtcHeap heap;
    PtcValue params, meta, args, capabilities, replies; /* maps, or PTC_NONE */
    PtcRpcKind kind;
    PtcMcpEra era;
    PtcMcpNext next;
    PtcText method, name;
    PtcBuf id;    /* as JSON; "null" when there is none */
    PtcBuf token; /* progress token as JSON; empty: none */
    /* traceparent, tracestate and baggage of the headers, a NUL after each; empty: there is none */
    PtcBuf head_trace;
    PtcMcpLevel level;

    const PtcMcpTool *tool; /* the row, one of these four */
    const PtcMcpResource *resource;
    const PtcMcpTemplate *template;
    const PtcMcpPrompt *prompt;
    PtcMcpHandler *handler;
    void *user;
    PtcText vars[PTC_MCP_MAX_VARS];
    PtcText completing, typed;
    /* by mcp->raw_names: first in the message, then (ptc_mcp_raw_keep) in raw_text */
    PtcText raw[PTC_MCP_MAX_RAW];
    PtcBuf raw_text;
    PtcBuf message; /* the whole text of a call that may become a task, else empty */

    PtcBuf answer, structured, scratch;
    PtcMcpBody body;
    size_t head; /* where the body begins in `answer` */
    size_t added, suggested;
    bool is_error; /* the tool failed */
    char reason[PTC_MCP_REASON];
    bool settled;   /* answered with an error: nothing may be added any more */
    bool http;      /* has headers */
    bool text_only; /* the client gets no structured content, and no output schemas */
    bool has_answer;
    bool asks_client; /* the answer is input_required */
    int status, code; /* of HTTP; of the error, 0: none */
    double progress;
    bool progressed; /* at least once */

    PtcBuf asks;         /* modern: "key":{"method":...,"params":...},... */
    PtcBuf state, given; /* to be sealed; what was sealed by the previous call */
    bool has_state, was_given;
    unsigned char digest[PTC_SHA256_BYTES]; /* what a state is bound to */

    PtcGateTicket ticket;
    int64_t begun_ns; /* when the message arrived */

    /* It guards what follows down to cancel_user, and is held while a notification is sent, so that none follows a
     * cancellation.  The handler's thread takes it, and whoever cancels, which calls on_cancel under it; the lock
     * of base/os/cancel.c is taken inside. */
    pthread_mutex_t lock;
    PtcCancel cancel;
    bool finished; /* too late to cancel */
    void (*on_cancel)(void *user);
    void *cancel_user;

    PtcMcpCall *prev, *next_call; /* in peer->calls, under peer->lock */
    bool registered;
    struct PtcMcpWork *work; /* of a call that may be a task; NULL: none */
    bool dropped;            /* nobody wants it any more: its handler lets go of what it has */
    PtcMcpCall *listen_prev, *listen_next; /* in mcp->listeners, under mcp->lock */
    bool listening, listed;
    unsigned wants;
    PtcMcpUris uris;
    PtcMcpUris tasks; /* ids that it listens for ... */
    uint32_t *told;   /* ... and which change of each it was told last */
};

/* ---- level.c */
bool ptc_mcp_level_of(PtcValue v, PtcMcpLevel *level);
const char *ptc_mcp_level_name(PtcMcpLevel level);

/* ---- reply.c: the texts of answers */
/* The id of the call as JSON. */
static inline PtcText ptc_mcp_id_of(const PtcMcpCall *call)
{
    return (PtcText){call->id.data, call->id.len};
}
/* An error with a message of ours; quote the client's words with %.*s after ptc_text_cut. */
void ptc_mcp_refuse(PtcMcpCall *call, int status, int code, const char *data, const char *format,
                    ...) PTC_PRINTF(5, 6);
/* Begins a result; its members follow, through the emitter. */
void ptc_mcp_result_begin(PtcMcpCall *call);
/* The same with another resultType than "complete". */
void ptc_mcp_result_begin_as(PtcMcpCall *call, const char *type);
/* Ends it, with _meta in the modern era. */
void ptc_mcp_result_end(PtcMcpCall *call);
/* Caching hints in the modern era, else nothing. */
void ptc_mcp_cache_hints(PtcMcpCall *call, int64_t ttl_ms, bool public_scope);
void ptc_mcp_empty_result(PtcMcpCall *call);
void ptc_mcp_body_begin(PtcMcpCall *call, PtcMcpBody body);
void ptc_mcp_body_end(PtcMcpCall *call);

/* ---- rows.c: lists as constant text */
PTC_MUST_USE bool ptc_mcp_rows_init(PtcMcp *mcp, PtcWhy *why);
void ptc_mcp_rows_deinit(PtcMcp *mcp);
/* What is told now. */
const PtcMcpRows *ptc_mcp_rows_of(PtcMcp *mcp, PtcMcpList list);

/* ---- args_fit.c */
PTC_MUST_USE bool ptc_mcp_checks_init(PtcMcp *mcp, PtcWhy *why);
void ptc_mcp_checks_deinit(PtcMcp *mcp);
/* Do the arguments fit the schema of the tool?  False: answered. */
PTC_MUST_USE bool ptc_mcp_args_fit(PtcMcpCall *call);

/* ---- era.c */
/* Decides the era and checks the envelope and the headers; false: refused. */
PTC_MUST_USE bool ptc_mcp_route(PtcMcpCall *call);
bool ptc_mcp_legacy_version(PtcText version);
/* Do headers repeat the arguments that the schema of the tool says (x-mcp-header)?  False: refused. */
PTC_MUST_USE bool ptc_mcp_check_params(PtcMcpCall *call);
/* Does a client that says this of itself (PTC_NONE: nothing) get text only? */
bool ptc_mcp_text_only(PtcMcpCall *call, PtcValue info);

/* ---- methods.c: calls the function of a method */
void ptc_mcp_dispatch(PtcMcpCall *call);
void ptc_mcp_notified(PtcMcpCall *call);

/* ---- list.c */
void ptc_mcp_do_list(PtcMcpCall *call, PtcMcpList list);
void ptc_mcp_do_discover(PtcMcpCall *call);
void ptc_mcp_do_initialize(PtcMcpCall *call);
void ptc_mcp_do_set_level(PtcMcpCall *call);
void ptc_mcp_do_subscribe(PtcMcpCall *call, bool on);

/* ---- raw_args.c: arguments that stay text */
/* Collects the names that rows want as text; false: too many. */
PTC_MUST_USE bool ptc_mcp_raw_init(PtcMcp *mcp, PtcWhy *why);
/* The message is gone once the call begins to run, so this copies what the row wants as text, and puts the rest back
 * among the arguments.  Without a row nothing is wanted.  False: refused. */
PTC_MUST_USE bool ptc_mcp_raw_keep(PtcMcpCall *call);

/* ---- row_calls.c */
void ptc_mcp_do_tools_call(PtcMcpCall *call);
void ptc_mcp_do_resources_read(PtcMcpCall *call);
void ptc_mcp_do_prompts_get(PtcMcpCall *call);
void ptc_mcp_do_complete(PtcMcpCall *call);

/* ---- uri_template.c */
/* Does the template match the URI?  Fills vars in the order of its names. */
bool ptc_mcp_template_match(const char *uri_template, PtcText uri, PtcText vars[PTC_MCP_MAX_VARS]);
/* Position of a variable in the template, -1 if there is none of that name.  With name NULL it checks the template
 * and returns the number of its variables, -1 if it is malformed. */
int ptc_mcp_template_var(const char *uri_template, const char *name);

/* ---- ask.c */
/* Reads inputResponses and requestState of a modern call; false: refused. */
PTC_MUST_USE bool ptc_mcp_take_replies(PtcMcpCall *call);
/* Appends the state that the handler set, sealed. */
void ptc_mcp_add_state(PtcMcpCall *call, PtcBuf *out);

/* ---- notify.c */
void ptc_mcp_do_listen(PtcMcpCall *call);
/* Sends a message to the sink of the call unless it was cancelled or finished; false: not sent. */
bool ptc_mcp_call_send(PtcMcpCall *call, const PtcBuf *message);
void ptc_mcp_unlist(PtcMcpCall *call);

/* ---- uris, in notify.c */
/* False: too many, too long, or out of memory. */
PTC_MUST_USE bool ptc_mcp_uris_add(PtcMcpUris *uris, PtcText uri);
void ptc_mcp_uris_remove(PtcMcpUris *uris, PtcText uri);

/* ---- peer.c */
void ptc_mcp_peer_wake(PtcMcpPeer *peer);
/* Adds the call to those of its peer; false: the id is in use or the peer is closed, and the call was refused. */
PTC_MUST_USE bool ptc_mcp_register(PtcMcpCall *call);
void ptc_mcp_unregister(PtcMcpCall *call);
/* notifications/cancelled: `id` as JSON. */
void ptc_mcp_cancel_id(PtcMcpPeer *peer, const PtcBuf *id);
/* An answer of the client to one of our questions. */
void ptc_mcp_reply(PtcMcpPeer *peer, PtcValue id, const char *text, size_t len);

/* ---- call_life.c */
/* ptc_mcp_cancel without waking the peer, whose lock the caller may hold. */
void ptc_mcp_set_cancelled(PtcMcpCall *call);
/* The next step is to run this handler. */
void ptc_mcp_will_run(PtcMcpCall *call, PtcMcpBody body, PtcMcpHandler *handler, void *user);
/* Leaves the gate while a handler waits, and comes back; false: cancelled or stopped. */
void ptc_mcp_step_out(PtcMcpCall *call);
PTC_MUST_USE bool ptc_mcp_step_in(PtcMcpCall *call);

/* ---- ask.c */
/* PTC_MCP_OPENS, PTC_MCP_NO_FORMS: what a client's capability `elicitation` says; PTC_NONE: it has none. */
unsigned ptc_mcp_elicits(PtcHeap *heap, PtcValue how);

#endif
