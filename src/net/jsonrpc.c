/* SPDX-License-Identifier: MIT
 * JSON-RPC messages.  What always holds: a message that ptc_rpc_parse accepts has the fields of its kind and no
 * others, each of the type that the header says, so its users need not check types again. */
#include "net/jsonrpc.h"

#include "value/coll/map.h"
#include "value/str.h"

/* ----------------------------------------------------------------------------- reading */

/* Always false. */
static bool say_invalid(PtcWhy *why, const char *text)
{
    return ptc_why_say_code(why, PTC_WHY_INVALID, PTC_RPC_INVALID_REQUEST, "%s", text);
}

/* A message that is too large for the heap is our limit, not the sender's fault, so it is an internal error. */
static PtcValue parse_rpc_text(PtcHeap *heap, PtcText text, const PtcJsonKeep *keep, PtcWhy *why)
{
    PtcJsonError error;
    PtcValue v = keep ? ptc_json_parse_keeping(heap, text, keep, &error)
                      : ptc_json_parse(heap, text.bytes, text.len, &error);
    if (v != PTC_NONE)
        return v;
    if (error.stopped)
        ptc_why_say_code(why, PTC_WHY_NO_MEMORY, PTC_RPC_INTERNAL_ERROR,
                         "the message needs more memory or time than there is");
    else
        ptc_why_say_code(why, PTC_WHY_INVALID, PTC_RPC_PARSE_ERROR, "not JSON: %s, at byte %zu",
                         error.message, error.offset);
    return v;
}

/* An answer has no method, and a result or an error. */
static PtcRpcKind kind_of_answer(PtcHeap *heap, PtcValue v, PtcRpcMessage *m)
{
    if (ptc_map_field(heap, v, "method") != PTC_NONE)
        return PTC_RPC_BAD;
    m->result = ptc_map_field(heap, v, "result");
    m->error = ptc_map_field(heap, v, "error");
    return m->result != PTC_NONE  ? PTC_RPC_RESULT
           : m->error != PTC_NONE ? PTC_RPC_ERROR
                                  : PTC_RPC_BAD;
}

static bool take_method(PtcHeap *heap, PtcValue v, PtcRpcMessage *m, PtcWhy *why)
{
    PtcText method = ptc_str_text(ptc_map_field(heap, v, "method"));
    PtcValue params = ptc_map_field(heap, v, "params");
    if (!method.bytes)
        return say_invalid(why, "a message needs a \"method\" that is a string");
    m->method = method;
    m->kind = m->id != PTC_NONE ? PTC_RPC_REQUEST : PTC_RPC_NOTIFICATION;
    if (params != PTC_NONE && !ptc_is_map(params))
        return ptc_why_say_code(why, PTC_WHY_INVALID, PTC_RPC_INVALID_PARAMS,
                                "\"params\" must be an object");
    m->params = params;
    return true;
}

/* The id comes first, so that whatever is wrong with the rest can be reported for that id. */
static bool take_rpc_apart(PtcHeap *heap, PtcValue v, PtcRpcMessage *m, PtcWhy *why)
{
    PtcValue id = ptc_map_field(heap, v, "id");
    m->kind = kind_of_answer(heap, v, m);
    bool answer = m->kind != PTC_RPC_BAD;
    if (!answer && id != PTC_NONE && !ptc_is_string(id) && !ptc_is_integer(id))
        return say_invalid(why, "the id of a request is a string or an integer");
    m->id = id;
    if (!ptc_text_is(ptc_str_text(ptc_map_field(heap, v, "jsonrpc")), "2.0"))
        return say_invalid(why, "\"jsonrpc\" must be \"2.0\"");
    return answer || take_method(heap, v, m, why);
}

bool ptc_rpc_parse(PtcHeap *heap, PtcText text, const PtcJsonKeep *keep, PtcRpcMessage *m,
                   PtcWhy *why)
{
    *m = (PtcRpcMessage){.id = PTC_NONE, .params = PTC_NONE, .result = PTC_NONE, .error = PTC_NONE};
    PtcValue v = parse_rpc_text(heap, text, keep, why);
    if (v == PTC_NONE)
        return false;
    if (ptc_is_sequential(v))
        return say_invalid(why, "batches are not supported: send one message at a time");
    if (!ptc_is_map(v))
        return say_invalid(why, "a message is a JSON object");
    return take_rpc_apart(heap, v, m, why);
}

/* ----------------------------------------------------------------------------- writing */

static bool begin_rpc_answer(PtcBuf *out, PtcText id)
{
    ptc_emit_object(out);
    bool ok = ptc_emit_field_cstr(out, "jsonrpc", "2.0");
    return id.bytes ? ptc_emit_field_raw(out, "id", id) : ok;
}

bool ptc_rpc_begin_request(PtcBuf *out, PtcText id, const char *method)
{
    begin_rpc_answer(out, id);
    return ptc_emit_field_cstr(out, "method", method);
}

bool ptc_rpc_begin_notification(PtcBuf *out, const char *method)
{
    return ptc_rpc_begin_request(out, (PtcText){NULL, 0}, method);
}

bool ptc_rpc_begin_result(PtcBuf *out, PtcText id)
{
    begin_rpc_answer(out, id);
    return ptc_emit_key(out, "result");
}

bool ptc_rpc_add_error(PtcBuf *out, PtcText id, int code, PtcText text, PtcText data)
{
    begin_rpc_answer(out, id);
    ptc_emit_key(out, "error");
    ptc_emit_object(out);
    ptc_emit_field_int(out, "code", code);
    ptc_emit_field_text(out, "message", text);
    if (data.bytes)
        ptc_emit_field_raw(out, "data", data);
    ptc_emit_object_end(out);
    return ptc_emit_object_end(out);
}
