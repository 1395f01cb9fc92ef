/* SPDX-License-Identifier: MIT
 * jsonrpc.h - JSON-RPC 2.0: reading a message, writing a message.
 *
 * Nothing here knows who sends or what the methods mean: servers and clients use the same functions.  Batches, which
 * MCP does not use, are refused. */
#ifndef PTC_NET_JSONRPC_H
#define PTC_NET_JSONRPC_H

#include "base/why.h"
#include "json/emit.h"
#include "json/parse.h"
#include "value/heap.h"

/* The error codes of the standard. */
enum {
    PTC_RPC_PARSE_ERROR = -32700,
    PTC_RPC_INVALID_REQUEST = -32600,
    PTC_RPC_METHOD_NOT_FOUND = -32601,
    PTC_RPC_INVALID_PARAMS = -32602,
    PTC_RPC_INTERNAL_ERROR = -32603,
};

typedef enum {
    PTC_RPC_BAD, /* too malformed to say what it was meant to be */
    PTC_RPC_REQUEST,
    PTC_RPC_NOTIFICATION,
    PTC_RPC_RESULT, /* an answer: what was asked for */
    PTC_RPC_ERROR,  /* an answer: why not */
} PtcRpcKind;

/* A message taken apart; its values and texts live in the heap it was read into. */
typedef struct PtcRpcMessage {
    PtcRpcKind kind;
    PtcValue id;    /* of a request a string or an integer, of an answer anything; PTC_NONE: none */
    PtcText method; /* of a request or notification */
    PtcValue params; /* of the same: a map, or PTC_NONE */
    PtcValue result; /* of a result */
    PtcValue error;  /* of an error: whatever came */
} PtcRpcMessage;

/* Takes a text apart.  `keep` (or NULL) names members wanted as text.  False with the reason, whose code
 * is one of the above (no memory: the heap or its budget ran out); kind and id are then set as far as they could be
 * read, because it is reported for the request's id. */
PTC_MUST_USE bool ptc_rpc_parse(PtcHeap *heap, PtcText text, const PtcJsonKeep *keep,
                                PtcRpcMessage *message, PtcWhy *why);

/* Writing.  `id` is JSON (`7`, `"a"`), as ptc_emit_value writes that of a request.  Each begins an object that the
 * caller continues and ends with ptc_emit_object_end. */

/* {"jsonrpc":"2.0","id":ID,"method":METHOD -- "params" may follow. */
bool ptc_rpc_begin_request(PtcBuf *out, PtcText id, const char *method);
bool ptc_rpc_begin_notification(PtcBuf *out, const char *method);
/* {"jsonrpc":"2.0","id":ID,"result": -- and now the value. */
bool ptc_rpc_begin_result(PtcBuf *out, PtcText id);
/* A whole answer.  An absent id is left out, for errors that belong to no request; data is JSON or absent. */
bool ptc_rpc_add_error(PtcBuf *out, PtcText id, int code, PtcText text, PtcText data);

#endif
