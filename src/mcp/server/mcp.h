/* SPDX-License-Identifier: MIT
 * mcp.h - an MCP server made of rows, in both protocol eras.
 *
 * A server is a set of constant rows (tools, resources, templates, prompts), each with a handler, passed to
 * ptc_mcp_new.  A transport (stdio.h, or HTTP on transport.h) brings messages; the library parses, routes by era,
 * checks, lists, pages, cancels and answers; a handler sees one call and answers it through the functions below:
 *
 *     static void greet(PtcMcpCall *call)
 *     {
 *         PtcText name;
 *         if (!ptc_mcp_arg_text(call, "name", true, &name))
 *             return;                               -- already answered: what is wrong with the argument
 *         ptc_mcp_textf(call, "Hello, %.*s!", PTC_ARG(name));
 *     }
 *
 * Handlers run on threads of the transport, several at once; a call belongs to its handler's thread, and only
 * ptc_mcp_cancel_flag may be looked at from others.  No function here blocks, except ptc_mcp_ask.  Functions that
 * answer return nothing: if memory runs out the client gets an internal error.  Texts are UTF-8; anything else is
 * answered with an error and never sent. */
#ifndef PTC_MCP_SERVER_MCP_H
#define PTC_MCP_SERVER_MCP_H

#include <stdatomic.h>

#include "base/budget.h"
#include "base/buf.h"
#include "base/text.h"
#include "base/text/trace_context.h"
#include "net/jsonrpc.h"
#include "value/heap.h"

typedef struct PtcMcp PtcMcp;         /* a server */
typedef struct PtcMcpCall PtcMcpCall; /* one message under way */

typedef enum { PTC_MCP_LEGACY, PTC_MCP_MODERN } PtcMcpEra;

/* JSON-RPC and MCP error codes. */
enum {
    PTC_MCP_PARSE_ERROR = PTC_RPC_PARSE_ERROR,
    PTC_MCP_INVALID_REQUEST = PTC_RPC_INVALID_REQUEST,
    PTC_MCP_METHOD_NOT_FOUND = PTC_RPC_METHOD_NOT_FOUND,
    PTC_MCP_INVALID_PARAMS = PTC_RPC_INVALID_PARAMS,
    PTC_MCP_INTERNAL_ERROR = PTC_RPC_INTERNAL_ERROR,
    PTC_MCP_BUSY = -32000,               /* ours: the queue of waiting calls is full */
    PTC_MCP_RESOURCE_NOT_FOUND = -32002, /* legacy only; in the modern era -32602 */
    PTC_MCP_HEADER_MISMATCH = -32020,
    PTC_MCP_MISSING_CAPABILITY = -32021,
    PTC_MCP_UNSUPPORTED_VERSION = -32022,
};

/* --------------------------------------------------------------------------------------------------------- rows */

typedef void PtcMcpHandler(PtcMcpCall *call);

/* Hints for clients; what is not set takes the protocol's default (destructive and open world). */
enum {
    PTC_MCP_READ_ONLY = 1 << 0,
    PTC_MCP_NOT_DESTRUCTIVE = 1 << 1,
    PTC_MCP_IDEMPOTENT = 1 << 2,
    PTC_MCP_CLOSED_WORLD = 1 << 3,
};

/* Does a call of the tool go on as a task when it takes long, for clients that know tasks?  Then its handler may be
 * called again for the same call, with what the client answered to the questions of the call before, as it is when a
 * client does so; and, when the task was cancelled meanwhile, with a call that is cancelled, to let go of what its
 * state names. */
typedef enum {
    PTC_MCP_TASK_NEVER,
    PTC_MCP_TASK_MAY,
    PTC_MCP_TASK_MUST, /* and clients that do not know them may not call it */
} PtcMcpTaskRule;
enum { PTC_MCP_TASK_AT_ONCE = -1 };

/* Strings are constant and outlive the server; NULL: not given.  JSON texts are checked by ptc_mcp_new. */
typedef struct PtcMcpTool {
    const char *name; /* [a-zA-Z0-9_-]{1,64} */
    const char *title, *description;
    /* JSON; the root must say "type":"object" and should not use oneOf, anyOf, allOf.  Handlers only see arguments
     * that fit. */
    const char *input_schema;
    const char *output_schema; /* likewise; then every success must use ptc_mcp_structured */
    unsigned flags;            /* PTC_MCP_READ_ONLY ... */
    /* Names of arguments, ending in NULL, that the handler passes on.  Where they are objects they are checked to be
     * JSON but not turned into values; ptc_mcp_arg_raw gives their text, and ptc_mcp_arg an empty map. */
    const char *const *raw;
    PtcMcpHandler *handler;
    /* Runs in place of the handler when the arguments do not fit input_schema (null counts as absent); `text` says
     * where and what.  NULL: the client is told so. */
    void (*refuse)(PtcMcpCall *call, const char *text, size_t len);
    void *user; /* for ptc_mcp_user */
    PtcMcpTaskRule task;
    int64_t task_after_ms; /* PTC_MCP_TASK_AT_ONCE; 0: as the server has it */
} PtcMcpTool;

typedef struct PtcMcpResource {
    const char *uri, *name, *title, *description, *mime;
    PtcMcpHandler *handler; /* answers with ptc_mcp_contents_* */
    void *user;
    int64_t ttl_ms; /* modern: how long this client may cache the contents; 0: not at all */
} PtcMcpResource;

/* A completion adds suggestions with ptc_mcp_suggest for ptc_mcp_completing(call, ...). */
typedef struct PtcMcpTemplate {
    const char *uri_template; /* RFC 6570 level 1: literal text and {name}, each matching [^/]+ */
    const char *name, *title, *description, *mime;
    PtcMcpHandler *handler; /* ptc_mcp_var gives the variables */
    PtcMcpHandler *complete;
    void *user;
    int64_t ttl_ms;
} PtcMcpTemplate;

typedef struct PtcMcpPromptArg {
    const char *name, *description;
    bool required; /* a missing one is reported before the handler runs */
} PtcMcpPromptArg;

typedef struct PtcMcpPrompt {
    const char *name, *title, *description;
    const PtcMcpPromptArg *args;
    size_t arg_count;
    PtcMcpHandler *handler; /* answers with ptc_mcp_message_* */
    PtcMcpHandler *complete;
    void *user;
} PtcMcpPrompt;

/* Which clients get output schemas and structured content. */
typedef enum {
    PTC_MCP_STRUCTURED_AUTO, /* all but those that are known to show their model the text as well */
    PTC_MCP_STRUCTURED_ALWAYS,
    PTC_MCP_STRUCTURED_NEVER,
} PtcMcpStructured;

/* Where tasks are kept, as bytes by owner and key, so that any server on the same book knows them; any thread. */
typedef enum {
    PTC_MCP_BOOK_OK,
    PTC_MCP_BOOK_ABSENT,
    PTC_MCP_BOOK_CONFLICT, /* it has another version */
    PTC_MCP_BOOK_FULL,
    PTC_MCP_BOOK_FAILED,
} PtcMcpBookAnswer;

typedef struct PtcMcpBook {
    PtcMcpBookAnswer (*get)(void *user, const char *owner, const char *key, PtcBuf *bytes,
                            uint64_t *version);
    /* *version is the one that was read (0: it must be new), and becomes the new one. */
    PtcMcpBookAnswer (*put)(void *user, const char *owner, const char *key, PtcText bytes,
                            int64_t expires_ms, uint64_t *version);
    void (*remove)(void *user, const char *owner, const char *key);
    int64_t (*now_ms)(void *user); /* since 1970, the same for all who use the book */
    bool shared;                   /* other servers use it, and have it when this one has ended */
    void *user;
} PtcMcpBook;

/* Who says how many calls an owner may make, of all servers together; any thread, and both may wait. */
typedef struct PtcMcpQuota {
    /* A call wants to begin.  NULL: it may; otherwise what the owner has too much of, and *retry_ms says when to try
     * again. */
    const char *(*begin)(void *user, const char *owner, int64_t *retry_ms);
    void (*end)(void *user, const char *owner); /* one that began has ended */
    void *user;
} PtcMcpQuota;

/* 0 or NULL takes the default in brackets. */
typedef struct PtcMcpConfig {
    const char *name, *version; /* required */
    const char *title, *instructions;
    const PtcMcpTool *tools;
    size_t tool_count;
    const PtcMcpResource *resources;
    size_t resource_count;
    const PtcMcpTemplate *templates;
    size_t template_count;
    const PtcMcpPrompt *prompts;
    size_t prompt_count;
    bool logging;          /* handlers log: offers the logging capability */
    bool list_changed;     /* ptc_mcp_list_changed will be called */
    bool resource_updates; /* ptc_mcp_resource_updated will be called: offers subscriptions */
    size_t page_size;      /* rows in a page of a list [all] */
    int64_t list_ttl_ms;   /* how long lists may be cached, by anyone [5 minutes] */
    PtcMcpStructured structured;
    bool private_lists;      /* they show what not everybody may know: cached by this client only */
    size_t max_frame_bytes;  /* of one message [4 MiB]; a longer one is answered with an error */
    size_t max_answer_bytes; /* of one answer [32 MiB] */
    size_t memory_bytes;     /* of all messages together [512 MiB] */
    unsigned max_running;    /* handlers at once [number of cores] */
    unsigned max_waiting;    /* calls waiting for their turn [1000]; PTC_MCP_NO_WAITING: none */
    size_t waiting_bytes;    /* of their messages [64 MiB] */
    int64_t wait_ms;         /* how long a call waits for its turn before it is refused [30 s] */
    unsigned max_paused;     /* handlers between ptc_mcp_pause and ptc_mcp_resume [64] */
    unsigned owner_share;    /* percentage of these that one owner may have [100] */
    const PtcMcpQuota *quota; /* outlives the server; NULL: there is none */
    int64_t ask_timeout_ms;   /* legacy: how long ptc_mcp_ask waits for the client [5 minutes] */
    int64_t state_ttl_ms;     /* modern: how long a request state is valid [10 minutes] */
    const PtcMcpBook *book;   /* outlives the server; NULL: no call becomes a task */
    int64_t task_after_ms;    /* a call becomes a task when it has taken so long [10 s] */
    int64_t task_max_ms;      /* a task is ended after this [1 h] */
    int64_t task_ttl_ms;      /* and forgotten so long after it was made [1 h] */
    int64_t
        task_lease_ms; /* a task has failed when its server was not heard of for this long [30 s] */
    int64_t task_refused_ms; /* a call ends after this if it cannot become a task [50 s] */
    unsigned max_tasks;      /* that run at once here [48] */
    /* PTC_MCP_KEY bytes that seal states and cursors, for a server whose clients may meet it again after a restart
     * [random] */
    const unsigned char *key;
    /* A client gets the list of tools; called before the answer is sent, on the thread of the call.  NULL: nobody wants
     * to know. */
    void (*listed)(PtcMcpCall *call);
    void *user;               /* for ptc_mcp_server_user */
    uint64_t fail_allocation; /* testing: as for ptc_mem_fail_at, in the server; 0: none */
} PtcMcpConfig;

#define PTC_MCP_NO_WAITING (~0u)
enum { PTC_MCP_KEY = 32 };

/* A server, to be freed after its transports ended; NULL, and why, when a row is wrong or when
 * out of memory.  Rows and strings are borrowed.  Apart from what calls do, the new server is immutable, and
 * any number of threads may use it. */
PTC_MUST_USE PtcMcp *ptc_mcp_new(const PtcMcpConfig *config, PtcWhy *why);
void ptc_mcp_free(PtcMcp *mcp);
void *ptc_mcp_server_user(const PtcMcp *mcp);
/* The ledger of the server, for transports and handlers to allocate from. */
PtcMem *ptc_mcp_mem(PtcMcp *mcp);

/* Tells every client that wants to know.  Any thread; also inside handlers. */
typedef enum { PTC_MCP_TOOLS, PTC_MCP_PROMPTS, PTC_MCP_RESOURCES } PtcMcpListKind;
void ptc_mcp_list_changed(PtcMcp *mcp, PtcMcpListKind kind);
void ptc_mcp_resource_updated(PtcMcp *mcp, const char *uri);
/* From now on tools are told with what these rows say, which are otherwise those of the configuration, in the same
 * order; clients that want to know are told, unless that says the same.  What was told before stays in memory until the
 * server ends, so this is for changes that people make.  False: memory is short. */
bool ptc_mcp_retell_tools(PtcMcp *mcp, const PtcMcpTool *tools);

/* -------------------------------------------------------------------------------------------- what a call brings */

PtcMcp *ptc_mcp_server(PtcMcpCall *call);
void *ptc_mcp_user(PtcMcpCall *call);    /* of the row */
PtcHeap *ptc_mcp_heap(PtcMcpCall *call); /* the heap of the message; lives as long as the call */
PtcMcpEra ptc_mcp_era(const PtcMcpCall *call);
/* Who calls, as the transport authenticated it; "" if it does not (stdio).  NUL-terminated. */
const char *ptc_mcp_owner(const PtcMcpCall *call);
/* The row of the tool that is called; NULL when it is not a tool call. */
const PtcMcpTool *ptc_mcp_tool(const PtcMcpCall *call);
/* Has the client declared this capability ("sampling", "elicitation", "roots")? */
bool ptc_mcp_client_can(PtcMcpCall *call, const char *capability);

/* Legacy: how often the client said that its roots have changed. */
unsigned ptc_mcp_roots_changes(PtcMcpCall *call);

/* One of the arguments, PTC_NONE when absent. */
PtcValue ptc_mcp_arg(PtcMcpCall *call, const char *name);
/* An argument of one type.  False: it has another type, or is required and absent (null counts as absent); the call
 * has then been answered with an error that says so.  Absent: true, and *out is {NULL, 0}, unchanged, unchanged,
 * PTC_NONE. */
bool ptc_mcp_arg_text(PtcMcpCall *call, const char *name, bool required, PtcText *out);
bool ptc_mcp_arg_int(PtcMcpCall *call, const char *name, bool required, int64_t *out);
bool ptc_mcp_arg_bool(PtcMcpCall *call, const char *name, bool required, bool *out);
bool ptc_mcp_arg_map(PtcMcpCall *call, const char *name, bool required, PtcValue *out);
/* The JSON text of an argument that the row has in `raw` and that is an object; else absent.  Valid as long as the
 * call. */
PtcText ptc_mcp_arg_raw(PtcMcpCall *call, const char *name);
/* A variable of the template that matched. */
PtcText ptc_mcp_var(PtcMcpCall *call, const char *name);
/* A string of the request's _meta, such as traceparent; absent: there is none. */
PtcText ptc_mcp_meta_text(PtcMcpCall *call, const char *name);
/* The trace that the request is part of: its _meta says so, or the headers of HTTP.  Checked; valid as long as the
 * call. */
PtcTraceContext ptc_mcp_trace(PtcMcpCall *call);
/* completion/complete: the name of the argument and what has been typed of it. */
void ptc_mcp_completing(PtcMcpCall *call, PtcText *name, PtcText *typed);

/* Was it asked to stop?  Nothing that is answered or sent after that reaches the client. */
bool ptc_mcp_cancelled(const PtcMcpCall *call);
/* The same for PtcBudget.cancel, or as the outer flag of another; valid as long as the call. */
const PtcCancel *ptc_mcp_cancel_flag(const PtcMcpCall *call);
/* Calls fn(user) once, on the thread that cancels, or at once if that has happened.  fn must be quick and take no
 * lock that is held while calling this library.  NULL takes it back; after that fn is not running and will not run. */
void ptc_mcp_on_cancel(PtcMcpCall *call, void (*fn)(void *user), void *user);

/* A handler that waits for something other than its own computation gives its turn to others meanwhile, and has it
 * again when ptc_mcp_resume returns (unless the call was cancelled).  The two alternate, on any thread.  If too many
 * calls do so, the turn is kept. */
void ptc_mcp_pause(PtcMcpCall *call);
void ptc_mcp_resume(PtcMcpCall *call);
/* May it take longer than its client waits, because it then becomes a task? */
bool ptc_mcp_may_be_task(const PtcMcpCall *call);
/* Ends all tasks that run here; handlers are over when it returns.  Before what they use is freed. */
void ptc_mcp_end_tasks(PtcMcp *mcp);
/* How long ago the call arrived: a handler that must end in time takes into account how long it has waited. */
int64_t ptc_mcp_waited_ms(const PtcMcpCall *call);

/* ---------------------------------------------------------------------------------------------------- answering
 *
 * Contents are added in order.  A handler that adds none answers with an empty list.  After an error nothing is
 * added. */

/* Tools: content blocks.  base64 is already encoded. */
void ptc_mcp_text(PtcMcpCall *call, const char *bytes, size_t len);
void ptc_mcp_textf(PtcMcpCall *call, const char *format, ...) PTC_PRINTF(2, 3);
void ptc_mcp_image(PtcMcpCall *call, const char *base64, const char *mime);
void ptc_mcp_audio(PtcMcpCall *call, const char *base64, const char *mime);
/* A block that is JSON already, as the protocol has it. */
void ptc_mcp_block(PtcMcpCall *call, PtcText json);
void ptc_mcp_embed(PtcMcpCall *call, PtcText uri, const char *mime, const char *bytes, size_t len);
/* structuredContent: a JSON object, as text or as a value.  If the handler adds no text block, the JSON becomes one. */
void ptc_mcp_structured(PtcMcpCall *call, const char *json, size_t len);
/* The tool failed: isError with this text as the only block (structured content is dropped). */
void ptc_mcp_fail(PtcMcpCall *call, const char *bytes, size_t len);
void ptc_mcp_failf(PtcMcpCall *call, const char *format, ...) PTC_PRINTF(2, 3);

/* Why it failed, in a word such as "timeout": for metrics and logs, not for the client. */
void ptc_mcp_reason(PtcMcpCall *call, const char *reason);

/* Prompts: messages; role is "user" or "assistant".  _embed takes the text of a resource. */
void ptc_mcp_message_text(PtcMcpCall *call, const char *role, const char *bytes, size_t len);
void ptc_mcp_message_image(PtcMcpCall *call, const char *role, const char *base64,
                           const char *mime);
void ptc_mcp_message_embed(PtcMcpCall *call, const char *role, PtcText uri, const char *mime,
                           const char *bytes, size_t len);

/* Resources: contents; the URI is that of the call, mime that of the row when NULL. */
void ptc_mcp_contents_text(PtcMcpCall *call, const char *mime, const char *bytes, size_t len);
void ptc_mcp_contents_blob(PtcMcpCall *call, const char *mime, const char *base64);

/* Completions: one more value; at most 100 are sent to the client. */
void ptc_mcp_suggest(PtcMcpCall *call, const char *bytes, size_t len);

/* A protocol error instead of a result; data is JSON or NULL.  The first error stands. */
void ptc_mcp_error(PtcMcpCall *call, int code, const char *message, const char *data);
/* The call needs a capability that the client lacks: -32021 (legacy: -32602). */
void ptc_mcp_need(PtcMcpCall *call, const char *capability);

/* ------------------------------------------------------------------------------------------- on the way to the
 * answer */

/* Did the client send a progress token? */
bool ptc_mcp_wants_progress(const PtcMcpCall *call);
/* Sent only if it did, and only if progress has grown.  total < 0: unknown; message may be NULL. */
void ptc_mcp_progress(PtcMcpCall *call, double progress, double total, const char *message);

typedef enum {
    PTC_MCP_DEBUG,
    PTC_MCP_INFO,
    PTC_MCP_NOTICE,
    PTC_MCP_WARNING,
    PTC_MCP_ERROR,
    PTC_MCP_CRITICAL,
    PTC_MCP_ALERT,
    PTC_MCP_EMERGENCY,
    PTC_MCP_NO_LOG, /* as a threshold */
} PtcMcpLevel;
/* Sent if the client wants this level (modern: only if the request says so).  logger may be NULL. */
void ptc_mcp_log(PtcMcpCall *call, PtcMcpLevel level, const char *logger, const char *bytes,
                 size_t len);

/* Asking the client: "elicitation/create", "sampling/createMessage" or "roots/list" with params as JSON text; key
 * names the question within the call.
 *
 * Modern: the first time the answer is PTC_MCP_ASK_PENDING; the handler may ask more and then returns.  The client
 * gets an input_required result and calls again with the answers.  That is a new call, which asks the same question
 * and finds it PTC_MCP_ASK_READY.  Legacy: sends a request on the stream of the call and waits for the answer,
 * without keeping others from running. */
typedef enum {
    PTC_MCP_ASK_READY,       /* *answer is the client's result: a map, on the call's heap */
    PTC_MCP_ASK_PENDING,     /* return now */
    PTC_MCP_ASK_UNSUPPORTED, /* the client did not declare it: do without, or call ptc_mcp_need */
    /* *answer is a string: the client's error, or what is wrong with its result; PTC_NONE: timeout, cancelled */
    PTC_MCP_ASK_FAILED,
} PtcMcpAsk;
PTC_MUST_USE PtcMcpAsk ptc_mcp_ask(PtcMcpCall *call, const char *key, const char *method,
                                   const char *params, PtcValue *answer);

/* The same; a legacy client has so many milliseconds, for what it should know without asking anybody. */
PTC_MUST_USE PtcMcpAsk ptc_mcp_ask_soon(PtcMcpCall *call, int64_t ms, const char *key,
                                        const char *method, const char *params, PtcValue *answer);

/* Modern: what the client answers with this call to the question `key` of the call before; PTC_NONE: nothing. */
PtcValue ptc_mcp_reply_to(PtcMcpCall *call, const char *key);
/* Can that be asked of this client, on the way this call came? */
bool ptc_mcp_can_ask(PtcMcpCall *call, const char *method);
/* elicitation/create in mode "url": an address that the client opens when its person agrees. */
bool ptc_mcp_can_open(PtcMcpCall *call);
PTC_MUST_USE PtcMcpAsk ptc_mcp_ask_open(PtcMcpCall *call, const char *key, const char *params,
                                        PtcValue *answer);

/* A text for the client to keep, which only this owner can bring back unchanged; what is in it can be read.  False: out
 * of memory. */
PTC_MUST_USE bool ptc_mcp_seal(PtcMcpCall *call, PtcText bytes, PtcBuf *out);
/* Appends what was sealed; false: this server did not give that text to this owner. */
PTC_MUST_USE bool ptc_mcp_unseal(PtcMcpCall *call, PtcText text, PtcBuf *out);

/* Bytes to pass to the call that answers the questions of this one.  The client holds them meanwhile: it can read
 * but not change them, nor use them for another method, name, arguments or owner, nor after state_ttl_ms.  It may
 * use them twice.  In the legacy era, where ptc_mcp_ask waits, they serve no purpose. */
void ptc_mcp_set_state(PtcMcpCall *call, const void *bytes, size_t len);
/* What the previous call set; {NULL, 0} in a first call.  A forged or stale state never gets here. */
PtcText ptc_mcp_state(const PtcMcpCall *call);

#endif
