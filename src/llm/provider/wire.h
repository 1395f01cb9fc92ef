/* SPDX-License-Identifier: MIT
 * wire.h - what the wire formats of providers have in common: how a request becomes a body, and how the bytes that
 * come back, in pieces of any length, become a reply.  Nothing here knows about connections.
 *
 * A dialect is such a format; a provider (provider.h) is a row with its dialect, its address and its keys. */
#ifndef PTC_LLM_PROVIDER_WIRE_H
#define PTC_LLM_PROVIDER_WIRE_H

#include "base/units.h"
#include "json/emit.h"
#include "llm/json_box.h"
#include "llm/provider/closed_schema.h"
#include "llm/reply_maker.h"
#include "net/eventstream.h"
#include "net/sse.h"

enum { PTC_WIRE_TOKENS = 1000 * PTC_MILLION }; /* the largest number of tokens that is counted */

typedef struct PtcWire PtcWire;
typedef struct PtcDialect PtcDialect;
typedef struct PtcProvider PtcProvider;

/* A model at a provider. */
typedef struct PtcTarget {
    const PtcProvider *provider;
    PtcText model; /* as the provider calls it */
    PtcText base;  /* address without a trailing slash */
} PtcTarget;

/* A request that is being turned into a body. */
typedef struct PtcWireOut {
    PtcBuf *out;
    const PtcDialect *dialect;
    const PtcTarget *target;
    const PtcLlmRequest *request;
    bool stream;
    /* The endpoint does not know schemas: it is told to write JSON, and gets the schema in words. */
    bool json_object;
    PtcJsonBox *box;
} PtcWireOut;

typedef enum {
    PTC_FRAMING_SSE,
    PTC_FRAMING_LINES,       /* one JSON text per line */
    PTC_FRAMING_EVENTSTREAM, /* of AWS */
} PtcFraming;

struct PtcDialect {
    const char *name; /* under which an opaque part is kept */
    PtcFraming framing;
    /* Appends the body.  Failure is sticky in the buffer. */
    void (*write)(const PtcWireOut *out);
    /* Appends what follows the base of the address. */
    void (*path)(PtcBuf *url, const PtcTarget *target, bool stream);
    /* Takes a whole answer. */
    void (*whole)(PtcWire *wire, PtcValue body);
    /* Takes an event of a stream; the name is "" if events have none. */
    void (*event)(PtcWire *wire, PtcText name, PtcValue data);
    /* Writes a thought that came in pieces in the form in which it is sent back; NULL if that never happens. */
    void (*thought)(const PtcWire *wire, PtcBuf *json);
};

/* -------------------------------------------------------------------------------- reading */

/* Part of an answer that comes in pieces, for dialects that number such parts.  One is open at a time. */
typedef enum {
    PTC_WIRE_PART_NONE,
    PTC_WIRE_PART_TEXT,
    PTC_WIRE_PART_CALL,
    PTC_WIRE_PART_THOUGHT,
    PTC_WIRE_PART_OTHER, /* skipped */
} PtcWirePart;

struct PtcWire {
    const PtcDialect *dialect;
    PtcReply reply;
    PtcJsonBox box;
    bool streaming;
    bool over;   /* the answer is complete: what comes after does not matter */
    bool ended;  /* the provider said how the answer ended; a stream without that was cut off */
    PtcBuf body; /* whole answers, and the last line of PTC_FRAMING_LINES */
    PtcSse sse;
    PtcEventStream events;
    /* the part that is open */
    PtcWirePart part;
    int64_t part_number;
    PtcReplyCall *call;
    PtcBuf thought, signature; /* of PTC_WIRE_PART_THOUGHT, or sealed data in `signature` */
    bool sealed;
    char label[64];      /* what else is known about it; up to the dialect */
    PtcBuf refusal;      /* why the model does not answer, as it says itself; empty: it does */
    PtcBuf opaque;       /* parts to be sent back, JSON texts separated by commas ... */
    bool opaque_matters; /* ... but only if one of them could not be written again */
};

void ptc_wire_init(PtcWire *wire, PtcMem *mem, const PtcDialect *dialect,
                   const PtcLlmRequest *request, const PtcProviderKeys *keys);
void ptc_wire_deinit(PtcWire *wire);

/* Takes bytes of a successful answer; false: no more are wanted, because it failed or is complete. */
bool ptc_wire_feed(PtcWire *wire, PtcText bytes);
/* All bytes have come: the reply is complete or has failed. */
void ptc_wire_end(PtcWire *wire);
/* Takes the body of an unsuccessful answer. */
void ptc_wire_http_error(PtcWire *wire, int http, PtcText body, PtcText error_type);

/* For dialects, while reading: */

/* An error as providers write it in a body or a stream: {"message", "type", "code", ...} or a text. */
void ptc_wire_error(PtcWire *wire, PtcValue error);
/* The class for the name of an error, such as overloaded_error or ThrottlingException. */
PtcLlmStatus ptc_wire_class(PtcText name);
/* A sum of counts, limited like a count. */
static inline int64_t ptc_wire_sum(int64_t a, int64_t b, int64_t c)
{
    int64_t sum = a + b + c;
    return sum > PTC_WIRE_TOKENS ? PTC_WIRE_TOKENS : sum;
}
/* A number of tokens under a name; `otherwise` when there is none. */
int64_t ptc_wire_tokens(PtcWire *wire, PtcValue usage, const char *name, int64_t otherwise);
/* Writes a value as JSON into the arguments of a call. */
void ptc_wire_args_value(PtcWire *wire, PtcReplyCall *call, PtcValue value);
/* Closes the open part, if it has another number, and opens this one. */
void ptc_wire_part(PtcWire *wire, PtcWirePart kind, int64_t number);
/* Pieces of a thought, and of the signature that proves it is the model's; absent ones add nothing. */
void ptc_wire_add_thought(PtcWire *wire, PtcText piece);
void ptc_wire_add_signature(PtcWire *wire, PtcText piece);
/* Adds a JSON value to what is sent back unchanged.  Nothing is sent back unless one of them `matters`: the rest
 * could be written again from text and calls. */
void ptc_wire_keep(PtcWire *wire, PtcValue value, bool matters);

/* ---------------------------------------------------------------- writing: wire_write.c */

/* The parts that a message's opaque text has for this dialect, an array that is not empty; PTC_NONE: none.
 * Good until another text is read: by this or one of the functions below. */
PtcValue ptc_wire_opaque(const PtcWireOut *w, const PtcMessage *message);
/* Messages for providers where roles alternate: consecutive ones of one role become one, {"role": R, KEY: [blocks]},
 * R being "user" for users and tools.  `blocks` writes those of one message; i is its number. */
void ptc_wire_write_turns(const PtcWireOut *w, const char *model_role, const char *key,
                          void (*blocks)(const PtcWireOut *w, const PtcMessage *message, size_t i));
/* The two texts of the system prompt as an array under a key; nothing when both are empty.  `part` writes one; the
 * first is `fixed`: it stays the same throughout a run, so a mark for the provider's cache may follow it. */
void ptc_wire_write_system(const PtcWireOut *w, const char *key,
                           void (*part)(const PtcWireOut *w, PtcText text, bool fixed));
/* The members of a tool: name, description and parameters, the last under this key. */
void ptc_wire_write_tool(const PtcWireOut *w, const PtcLlmTool *tool, const char *key);
/* Arguments of a call as a JSON object; {} if they are not an object. */
void ptc_wire_args_object(const PtcWireOut *w, const PtcMessageCall *call);
/* The same as JSON text in a string. */
void ptc_wire_args_text(const PtcWireOut *w, const PtcMessageCall *call);
/* Appends the request's schema to another buffer, as closed_schema.h does; when that fails, the body fails too. */
PtcClosedSchema ptc_wire_closed_schema(const PtcWireOut *w, PtcBuf *closed);
/* A tool's result as a JSON object. */
void ptc_wire_result_object(const PtcWireOut *w, const PtcMessage *message);
/* The text of a message; a short mark if it is empty, since providers refuse empty ones. */
PtcText ptc_wire_content(const PtcMessage *message);
/* Does a request ask for thinking? */
static inline bool ptc_wire_thinks(const PtcLlmRequest *r)
{
    return r->effort != PTC_EFFORT_NONE || r->thinking_tokens > 0;
}
/* "low", "medium", "high": as asked, or the one closest to the number of tokens asked for. */
const char *ptc_wire_effort(const PtcLlmRequest *r);
/* Tokens for thinking, as asked or as the effort implies, within the bounds of the model. */
int64_t ptc_wire_thinking_tokens(const PtcLlmRequest *r, int64_t least, int64_t most);
/* 405 for claude-haiku-4-5 and so on, 0 for models other than Claude; INT_MAX for one without a number, which must be
 * new. */
int ptc_wire_claude(PtcText model);

#endif
