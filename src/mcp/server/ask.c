/* SPDX-License-Identifier: MIT
 * Asking the client.  In the modern era questions end the call and come back answered with the next one, together
 * with a sealed state.  In the legacy era we send a request and wait for its answer.  What always holds: a state is
 * accepted only for the method, name, arguments and owner it was made for. */
#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "base/os/cond.h"

#include "base/text/hmac.h"
#include "mcp/server/mcp_int.h"

enum { QUESTION_ID = 32 };

/* ------------------------------------------------------------------------------- state */

/* The arguments, followed by those kept as text. */
static bool put_call_args(PtcMcpCall *call, PtcBuf *args)
{
    ptc_buf_clear(args);
    bool ok = ptc_emit_value(args, &call->heap, call->args);
    for (size_t i = 0; ok && call->mcp->raw_names[i]; i++)
        ok =
            ptc_buf_add_char(args, '\n') && ptc_buf_add(args, call->raw[i].bytes, call->raw[i].len);
    return ok;
}

/* What a state is bound to: method, name, arguments, owner.  False: out of memory. */
static bool digest_call(PtcMcpCall *call)
{
    PtcBuf *args = &call->scratch;
    if (!put_call_args(call, args))
        return false;
    PtcText texts[] = {
        call->method, call->name, {args->data, args->len}, ptc_text_cstr(call->owner)};
    enum { ASK_TEXTS = sizeof texts / sizeof *texts };
    uint64_t lengths[ASK_TEXTS];
    PtcText parts[2 * ASK_TEXTS];
    for (size_t i = 0; i < ASK_TEXTS; i++) {
        lengths[i] = texts[i].len;
        parts[2 * i] = (PtcText){(const char *)&lengths[i], sizeof lengths[i]};
        parts[2 * i + 1] = texts[i];
    }
    ptc_sha256_parts(parts, 2 * ASK_TEXTS, call->digest);
    return true;
}

/* By the calendar, because a state may outlive the server (PtcMcpConfig.key) and the machine's other clocks. */
void ptc_mcp_set_state(PtcMcpCall *call, const void *bytes, size_t len)
{
    int64_t until = ptc_clock_wall_ms() + call->mcp->config.state_ttl_ms;
    ptc_buf_clear(&call->state);
    call->has_state = true;
    if (!ptc_buf_add(&call->state, &until, sizeof until) ||
        !ptc_buf_add(&call->state, bytes, len) || !digest_call(call))
        ptc_mcp_refuse(call, 200, PTC_MCP_INTERNAL_ERROR, NULL, "out of memory");
}

void ptc_mcp_add_state(PtcMcpCall *call, PtcBuf *out)
{
    ptc_seal_add(out, call->mcp->key, call->digest, sizeof call->digest, call->state.data,
                 call->state.len);
}

PtcText ptc_mcp_state(const PtcMcpCall *call)
{
    size_t stamp = sizeof(int64_t);
    if (!call->was_given)
        return (PtcText){NULL, 0};
    return (PtcText){call->given.data + stamp, call->given.len - stamp};
}

/* What a text for an owner is bound to: no state or cursor has this context. */
static void owner_context(const PtcMcpCall *call, uint8_t context[PTC_SHA256_BYTES])
{
    PtcText parts[] = {PTC_TEXT("a text to keep\0"), ptc_text_cstr(call->owner)};
    ptc_sha256_parts(parts, 2, context);
}

bool ptc_mcp_seal(PtcMcpCall *call, PtcText bytes, PtcBuf *out)
{
    uint8_t context[PTC_SHA256_BYTES];
    owner_context(call, context);
    return ptc_seal_add(out, call->mcp->key, context, sizeof context, bytes.bytes, bytes.len);
}

bool ptc_mcp_unseal(PtcMcpCall *call, PtcText text, PtcBuf *out)
{
    uint8_t context[PTC_SHA256_BYTES];
    owner_context(call, context);
    return ptc_seal_open(out, call->mcp->key, context, sizeof context, text.bytes, text.len);
}

/* The digest is computed from this call, so a state opens only where it was made. */
static bool open_state(PtcMcpCall *call, PtcText text)
{
    int64_t until;
    if (!digest_call(call) ||
        !ptc_seal_open(&call->given, call->mcp->key, call->digest, sizeof call->digest, text.bytes,
                       text.len) ||
        call->given.len < sizeof until)
        return false;
    memcpy(&until, call->given.data, sizeof until);
    return call->was_given = ptc_clock_wall_ms() < until;
}

static bool take_state(PtcMcpCall *call)
{
    PtcValue state = ptc_map_field(&call->heap, call->params, "requestState");
    if (state == PTC_NONE)
        return true;
    if (ptc_is_string(state) && open_state(call, ptc_str_text(state)))
        return true;
    ptc_mcp_refuse(call, 200, PTC_MCP_INVALID_PARAMS, NULL,
                   "\"requestState\" is not what this server gave for this request, or is too old");
    return false;
}

bool ptc_mcp_take_replies(PtcMcpCall *call)
{
    if (call->era != PTC_MCP_MODERN)
        return true;
    PtcValue replies = ptc_map_field(&call->heap, call->params, "inputResponses"), key, value;
    size_t pos = 0;
    if (replies == PTC_NONE)
        return take_state(call);
    bool good = ptc_is_map(replies);
    while (good && ptc_map_next(replies, &pos, &key, &value))
        good = ptc_is_map(value);
    if (good) {
        call->replies = replies;
        return take_state(call);
    }
    ptc_mcp_refuse(call, 200, PTC_MCP_INVALID_PARAMS, NULL,
                   "\"inputResponses\" must be an object of objects");
    return false;
}

/* ------------------------------------------------------------------------------ modern */

PtcValue ptc_mcp_reply_to(PtcMcpCall *call, const char *key)
{
    return call->era == PTC_MCP_MODERN ? ptc_map_field(&call->heap, call->replies, key) : PTC_NONE;
}

static PtcMcpAsk ask_modern(PtcMcpCall *call, const char *key, const char *method,
                            const char *params, PtcValue *answer)
{
    PtcValue reply = ptc_mcp_reply_to(call, key);
    if (reply != PTC_NONE) {
        *answer = reply;
        return PTC_MCP_ASK_READY;
    }
    PtcBuf *asks = &call->asks;
    ptc_emit_key(asks, key);
    ptc_emit_object(asks);
    ptc_emit_field_cstr(asks, "method", method);
    ptc_emit_field_raw(asks, "params", ptc_text_cstr(params));
    if (ptc_emit_object_end(asks))
        return PTC_MCP_ASK_PENDING;
    ptc_mcp_refuse(call, 200, PTC_MCP_INTERNAL_ERROR, NULL, "out of memory");
    return PTC_MCP_ASK_FAILED;
}

/* ------------------------------------------------------------------------------ legacy */

/* Entered before it is sent, so that even an immediate answer finds it. */
static void put_peer_question(PtcMcpPeer *peer, PtcMcpQuestion *q)
{
    pthread_mutex_lock(&peer->lock);
    q->number = ++peer->last_question;
    q->next = peer->questions;
    peer->questions = q;
    pthread_mutex_unlock(&peer->lock);
}

/* Waits (if it was sent) until the question is answered or waiting has become pointless, then takes it back. */
static bool await_reply(PtcMcpCall *call, PtcMcpQuestion *q, bool sent, int64_t ms)
{
    PtcMcpPeer *peer = call->peer;
    int64_t end = ptc_clock_ns(NULL) + ms * PTC_MS;
    pthread_mutex_lock(&peer->lock);
    while (sent && !q->answered && !peer->closed && !ptc_mcp_cancelled(call) &&
           ptc_cond_wait_until(&peer->answered, &peer->lock, end))
        continue;
    PtcMcpQuestion **at = &peer->questions;
    while (*at != q)
        at = &(*at)->next;
    *at = q->next;
    pthread_mutex_unlock(&peer->lock);
    return q->answered;
}

/* Our ids are strings such as "ptc-7"; ptc_mcp_reply reads them back. */
static PtcText question_id(const PtcMcpQuestion *q, char text[QUESTION_ID])
{
    int n = snprintf(text, QUESTION_ID, "\"ptc-%llu\"", (unsigned long long)q->number);
    return (PtcText){text, (size_t)n};
}

static bool send_question(PtcMcpCall *call, const PtcMcpQuestion *q, const char *method,
                          const char *params)
{
    char id[QUESTION_ID];
    PtcBuf *out = &call->scratch;
    ptc_buf_clear(out);
    ptc_rpc_begin_request(out, question_id(q, id), method);
    ptc_emit_field_raw(out, "params", ptc_text_cstr(params));
    return ptc_emit_object_end(out) && ptc_mcp_call_send(call, out);
}

/* Tells the client that a late answer would be of no use. */
static void forget_question(PtcMcpCall *call, const PtcMcpQuestion *q)
{
    char id[QUESTION_ID];
    PtcBuf *out = &call->scratch;
    ptc_buf_clear(out);
    ptc_rpc_begin_notification(out, "notifications/cancelled");
    ptc_emit_key(out, "params");
    ptc_emit_object(out);
    ptc_emit_field_raw(out, "requestId", question_id(q, id));
    ptc_emit_field_cstr(out, "reason", "no answer in time");
    ptc_emit_object_end(out);
    if (ptc_emit_object_end(out))
        (void)!ptc_mcp_call_send(call, out);
}

/* What is said about a reply that is not an answer: the client's own words, if there are any. */
static PtcValue read_refusal(PtcMcpCall *call, const PtcRpcMessage *m, bool is_message)
{
    PtcValue text = is_message ? ptc_map_field(&call->heap, m->error, "message") : PTC_NONE;
    if (text != PTC_NONE && ptc_is_string(text) && ptc_str_len(text) > 0)
        return text;
    PtcText ours = is_message && m->kind == PTC_RPC_RESULT
                       ? PTC_TEXT("its result is not an object")
                       : PTC_TEXT("it sent an error without a message");
    return ptc_str_new(&call->heap, ours.bytes, ours.len);
}

/* Anything but a result with an object counts as a refusal. */
static PtcMcpAsk read_question_reply(PtcMcpCall *call, const PtcBuf *reply, PtcValue *answer)
{
    PtcRpcMessage m;
    bool ok = ptc_rpc_parse(&call->heap, ptc_buf_view(reply), NULL, &m, NULL);
    bool ready = ok && m.kind == PTC_RPC_RESULT && ptc_is_map(m.result);
    *answer = ready ? m.result : read_refusal(call, &m, ok);
    return ready ? PTC_MCP_ASK_READY : PTC_MCP_ASK_FAILED;
}

/* Outside the gate while it waits: a slow user must not keep other calls from running. */
static PtcMcpAsk ask_legacy(PtcMcpCall *call, int64_t ms, const char *method, const char *params,
                            PtcValue *answer)
{
    PtcMcpQuestion q = {.answered = false};
    PtcMcpAsk ask = PTC_MCP_ASK_FAILED;
    ptc_buf_init(&q.reply, &call->mcp->mem, call->mcp->config.max_frame_bytes);
    put_peer_question(call->peer, &q);
    ptc_mcp_step_out(call);
    bool sent = send_question(call, &q, method, params);
    bool answered = await_reply(call, &q, sent, ms);
    if (sent && !answered)
        forget_question(call, &q);
    if (ptc_mcp_step_in(call) && answered)
        ask = read_question_reply(call, &q.reply, answer);
    ptc_buf_deinit(&q.reply);
    return ask;
}

static const char *capability_of(const char *method)
{
    static const char *const rows[][2] = {{"elicitation/create", "elicitation"},
                                          {"sampling/createMessage", "sampling"},
                                          {"roots/list", "roots"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i][0], method) == 0)
            return rows[i][1];
    return NULL;
}

unsigned ptc_mcp_elicits(PtcHeap *heap, PtcValue how)
{
    if (how == PTC_NONE || !ptc_is_map(how) || ptc_map_field(heap, how, "url") == PTC_NONE)
        return 0;
    return PTC_MCP_OPENS | (ptc_map_field(heap, how, "form") == PTC_NONE ? PTC_MCP_NO_FORMS : 0u);
}

/* How the client elicits: PTC_MCP_OPENS, PTC_MCP_NO_FORMS. */
static unsigned elicits(PtcMcpCall *call)
{
    unsigned can = 0;
    if (call->era == PTC_MCP_MODERN)
        return ptc_mcp_elicits(&call->heap,
                               ptc_map_field(&call->heap, call->capabilities, "elicitation"));
    if (call->peer) {
        pthread_mutex_lock(&call->peer->lock);
        can = call->peer->can;
        pthread_mutex_unlock(&call->peer->lock);
    }
    return can;
}

static bool is_reached(const PtcMcpCall *call)
{
    return call->era == PTC_MCP_MODERN || (call->peer && call->sink.send);
}

bool ptc_mcp_can_open(PtcMcpCall *call)
{
    return (elicits(call) & PTC_MCP_OPENS) && is_reached(call);
}

bool ptc_mcp_can_ask(PtcMcpCall *call, const char *method)
{
    const char *capability = capability_of(method);
    if (!capability || !ptc_mcp_client_can(call, capability))
        return false;
    if (strcmp(capability, "elicitation") == 0 && (elicits(call) & PTC_MCP_NO_FORMS))
        return false;
    return is_reached(call);
}

static PtcMcpAsk ask_client(PtcMcpCall *call, bool can, int64_t ms, const char *key,
                            const char *method, const char *params, PtcValue *answer)
{
    *answer = PTC_NONE;
    if (!can)
        return PTC_MCP_ASK_UNSUPPORTED;
    if (call->era == PTC_MCP_MODERN)
        return ask_modern(call, key, method, params, answer);
    return ask_legacy(call, ms, method, params, answer);
}

PtcMcpAsk ptc_mcp_ask(PtcMcpCall *call, const char *key, const char *method, const char *params,
                      PtcValue *answer)
{
    return ask_client(call, ptc_mcp_can_ask(call, method), call->mcp->config.ask_timeout_ms, key,
                      method, params, answer);
}

PtcMcpAsk ptc_mcp_ask_soon(PtcMcpCall *call, int64_t ms, const char *key, const char *method,
                           const char *params, PtcValue *answer)
{
    return ask_client(call, ptc_mcp_can_ask(call, method), ms, key, method, params, answer);
}

PtcMcpAsk ptc_mcp_ask_open(PtcMcpCall *call, const char *key, const char *params, PtcValue *answer)
{
    return ask_client(call, ptc_mcp_can_open(call), call->mcp->config.ask_timeout_ms, key,
                      "elicitation/create", params, answer);
}
