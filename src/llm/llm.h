/* SPDX-License-Identifier: MIT
 * llm.h - one question to one model: a request in, a reply or a failure with its class out.
 *
 * A PtcModel is a provider over HTTP, a script, a record of an earlier run, an external program or a function of the
 * host; the caller cannot tell which.  It never retries and knows nothing about agents.  Any number of threads may
 * ask one model at once.  Texts are UTF-8.  What a request points to belongs to the caller and stays until ask
 * returns; what a reply points to is in the arena that was passed to ask. */
#ifndef PTC_LLM_LLM_H
#define PTC_LLM_LLM_H

#include "base/arena.h"
#include "base/budget.h"
#include "base/buf.h"
#include "base/text.h"

/* Limits of a reply; more is a failure of class PTC_LLM_TOO_LARGE. */
enum {
    PTC_LLM_TEXT_BYTES = 4 * PTC_MB,
    PTC_LLM_ARGS_BYTES = PTC_MB, /* arguments of one call */
    PTC_LLM_CALLS = 128,
    PTC_LLM_BODY_BYTES = 16 * PTC_MB, /* of a response, after decompression */
    PTC_LLM_JSON_DEPTH = 200,
    PTC_LLM_REQUEST_BYTES = 32 * PTC_MB, /* of the body that is sent */
};

/* ------------------------------------------------------------------------------ messages */

typedef enum { PTC_ROLE_USER, PTC_ROLE_ASSISTANT, PTC_ROLE_TOOL } PtcRole;

/* A tool call that a model asked for. */
typedef struct PtcMessageCall {
    PtcText id;   /* absent: the provider gave none */
    PtcText name; /* as the model wrote it */
    /* JSON of any kind, or the model's text unchanged if it is not JSON; absent: none came. */
    PtcText args;
} PtcMessageCall;

typedef struct PtcMessage {
    PtcRole role;
    PtcText content;             /* absent: null */
    const PtcMessageCall *calls; /* of an assistant */
    size_t call_count;
    PtcText call_id, call_name; /* of a tool's result: which call it answers */
    bool is_error;              /* of a tool's result */
    size_t note;                /* of it: where in the content a note of ours begins; 0: nowhere */
    /* Of an assistant: what the provider wants back unchanged (signed thoughts, parts), JSON that only it reads;
     * absent in messages that came from elsewhere. */
    PtcText opaque;
} PtcMessage;

/* ------------------------------------------------------------------------------- request */

typedef struct PtcLlmTool {
    PtcText name, description;
    PtcText parameters; /* a JSON Schema, root "type":"object" */
} PtcLlmTool;

typedef enum { PTC_EFFORT_NONE, PTC_EFFORT_LOW, PTC_EFFORT_MEDIUM, PTC_EFFORT_HIGH } PtcEffort;

/* A sequence of messages; a request has two, so that what lies between them can be left out without copying. */
typedef struct PtcMessages {
    const PtcMessage *items;
    size_t count;
} PtcMessages;

typedef struct PtcLlmRequest {
    PtcText system;      /* constant throughout a run, so that providers can cache it ... */
    PtcText system_more; /* ... and what may change, after it; absent: nothing */
    PtcMessages parts[2];
    const PtcLlmTool *tools;
    size_t tool_count;
    bool one_call;  /* ask for one call at a time, where the provider can */
    PtcText schema; /* the answer's JSON Schema; absent: none */
    PtcEffort effort;
    int64_t thinking_tokens;   /* 0: by effort */
    int64_t max_output_tokens; /* 0: the model's default */
    int64_t deadline_ns;       /* in the system's monotonic clock; INT64_MAX: none */
    int64_t timeout_ms;        /* of the whole request; 0: 120 s */
    const PtcCancel *cancel;   /* checked every 100 ms; may be NULL */
    /* Called with pieces of the answer's text as they arrive; NULL: not wanted.  False stops the request. */
    bool (*stream)(void *user, PtcText piece);
    void *stream_user;
    PtcText agent; /* path of the agent that asks, "" for the top one: for records */
} PtcLlmRequest;

/* The messages of both sequences, one after the other. */
size_t ptc_llm_message_count(const PtcLlmRequest *request);
const PtcMessage *ptc_llm_message(const PtcLlmRequest *request, size_t i);

/* The content of a message without our note, and the note; absent: there is none. */
PtcText ptc_llm_data_of(const PtcMessage *message);
PtcText ptc_llm_note_of(const PtcMessage *message);

/* --------------------------------------------------------------------------------- reply */

/* Counts are 0 to 1e9, whatever the provider reports; input is everything sent, cached or not. */
typedef struct PtcTokens {
    bool reported;
    int64_t input, output, cache_creation, cache_read;
    int64_t cost; /* billionths of a dollar; 0: not known (model_price.h) */
} PtcTokens;

typedef enum {
    PTC_LLM_OK,
    PTC_LLM_RATE_LIMIT,
    PTC_LLM_TIMEOUT, /* connecting, silence, or the whole request took too long */
    PTC_LLM_SERVER_ERROR,
    PTC_LLM_CLIENT_ERROR,
    PTC_LLM_CONFIG_ERROR, /* nothing was sent: no key, no library, a bad address */
    PTC_LLM_REFUSED,      /* the model, or a filter, will not answer */
    PTC_LLM_TOO_LARGE,
    PTC_LLM_UNKNOWN,         /* an answer that makes no sense, a stream that broke off */
    PTC_LLM_REPLAY_MISMATCH, /* the request is not the recorded one */
    PTC_LLM_CANCELLED,
    PTC_LLM_DEADLINE, /* the request's deadline passed */
    PTC_LLM_NO_MEMORY,
} PtcLlmStatus;

/* "rate_limit", "timeout" and so on, as outcomes name them; and back. */
const char *ptc_llm_status_name(PtcLlmStatus status);
bool ptc_llm_status_find(PtcText name, PtcLlmStatus *status);
/* What a status of HTTP means. */
PtcLlmStatus ptc_llm_status_of_http(int http);

typedef struct PtcLlmReply {
    PtcLlmStatus status;
    /* PTC_LLM_OK: */
    PtcText text; /* absent: null */
    const PtcMessageCall *calls;
    size_t call_count;
    PtcText opaque;
    bool cut; /* it ended at the output limit */
    /* otherwise: */
    PtcText error;          /* the provider's words, cut to 230 bytes, without secrets */
    int64_t retry_after_ms; /* -1: not said */
    bool streamed;          /* a piece of text had been given to `stream` */
    /* both: */
    PtcTokens tokens;
} PtcLlmReply;

/* --------------------------------------------------------------------------------- model */

/* For one token, in millionths of a millionth of a dollar; -1: there is none for this kind. */
typedef struct PtcPrice {
    bool known;
    int64_t input, output, cache_read, cache_creation;
    int64_t most_input; /* requests with more have another price; 0: all have this one */
} PtcPrice;

typedef struct PtcModel PtcModel;
struct PtcModel {
    /* Asks and waits.  Allocates only from `arena`; when that fails the status is PTC_LLM_NO_MEMORY. */
    void (*ask)(PtcModel *self, const PtcLlmRequest *request, PtcArena *arena, PtcLlmReply *reply);
    /* Appends the body that would be sent, without keys: for --dry-run and records.  False: out of memory. */
    bool (*body)(PtcModel *self, const PtcLlmRequest *request, PtcBuf *out);
    void (*free)(PtcModel *self);
    const char *name; /* "anthropic:claude-haiku-4-5", for traces and records */
    bool network;     /* answers come over a network: worth retrying */
    PtcPrice price;
};

#endif
