/* SPDX-License-Identifier: MIT
 * Messages of a link.  What always holds: whatever came is checked to be JSON before a part of it is handed on; answers
 * nobody waits for (late, doubled, never asked for) are dropped; every request of a server is answered, with an error
 * if nothing else. */
#define _GNU_SOURCE /* memmem */
#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "json/members.h"
#include "mcp/client/link_task.h"
#include "net/jsonrpc.h"
#include "ptc/ptc.h"
#include "value/number/number.h"
#include "value/str.h"

#define LINK_META "io.modelcontextprotocol/"

enum { LINK_NAMED = 60 }; /* bytes shown of a method that is refused */

typedef struct {
    PtcText id, method, params, result, error; /* JSON, or absent */
    size_t bytes;
} Message;

/* ------------------------------------------------------------------------- scratch */

void ptc_link_scratch_init(PtcLinkScratch *s, PtcLink *l)
{
    ptc_pool_init(&s->pool, l->mem);
    ptc_budget_init(&s->budget);
    ptc_heap_init(&s->heap, &s->pool, &s->budget, SCRATCH_BYTES);
}

void ptc_link_scratch_deinit(PtcLinkScratch *s)
{
    ptc_heap_deinit(&s->heap);
    ptc_pool_deinit(&s->pool);
}

PtcValue ptc_link_scratch_value(PtcLinkScratch *s, PtcText json)
{
    PtcJsonError error;
    return json.bytes ? ptc_json_parse(&s->heap, json.bytes, json.len, &error) : PTC_NONE;
}

PtcText ptc_link_scratch_text(PtcLinkScratch *s, PtcText json)
{
    PtcValue v = ptc_link_scratch_value(s, json);
    return v != PTC_NONE ? ptc_str_text(v) : (PtcText){NULL, 0};
}

/* ------------------------------------------------------------------------- reading */

/* False: not a JSON object. */
static bool take_message_apart(PtcText text, Message *m)
{
    PtcText key, value;
    PtcMembers members = ptc_members_of(text);
    *m = (Message){.bytes = text.len};
    while (!members.array && ptc_members_next(&members, &key, &value)) {
        if (ptc_text_is(key, "id"))
            m->id = value;
        else if (ptc_text_is(key, "method"))
            m->method = value;
        else if (ptc_text_is(key, "params"))
            m->params = value;
        else if (ptc_text_is(key, "result"))
            m->result = value;
        else if (ptc_text_is(key, "error"))
            m->error = value;
    }
    return members.ended && !members.array;
}

static void take_link_answer(PtcLink *l, const Message *m)
{
    int64_t id;
    bool is_error = !m->result.bytes, polled = false;
    if (!ptc_members_int(m->id, &id) || id <= 0)
        return;
    (void)ptc_link_task_of(l, (uint64_t)id, &polled);
    if (polled || (!is_error && ptc_link_task_begin(l, (uint64_t)id, m->result)))
        return;
    PtcLinkAsk *ask = ptc_link_take_ask(l, (uint64_t)id);
    if (!ask)
        return;
    PtcText text = is_error ? m->error : m->result;
    PtcLinkReply reply = ptc_link_reply(l, is_error ? PTC_LINK_ERROR : PTC_LINK_ANSWER);
    reply.delivered = true;
    reply.bytes = m->bytes;
    if (!ptc_members_is_object(text)) {
        reply.end = PTC_LINK_BAD_ANSWER;
        ptc_buf_add_cstr(&reply.text,
                         "its answer has neither a result nor an error that is an object");
    } else if (!ptc_buf_add(&reply.text, text.bytes, text.len)) {
        ptc_buf_deinit(&reply.text);
        reply.end = PTC_LINK_NO_MEMORY;
    }
    ptc_link_end_ask(l, ask, &reply);
}

/* A line feed may only stand between the parts of a JSON text, where a blank is as good; a message is one line. */
static void unfold(PtcBuf *out)
{
    if (!out->len)
        return;
    for (char *at = out->data, *end = out->data + out->len; at < end; at++) {
        at = memchr(at, '\n', (size_t)(end - at));
        if (!at)
            return;
        *at = ' ';
    }
}

static void refuse_server_request(PtcLink *l, PtcText id, PtcText method, const char *why,
                                  PtcBuf *out)
{
    size_t n = method.len < LINK_NAMED ? method.len : LINK_NAMED;
    ptc_rpc_add_error(out, id, why ? PTC_RPC_INTERNAL_ERROR : PTC_RPC_METHOD_NOT_FOUND,
                      why ? ptc_text_cstr(why) : PTC_TEXT("this client does not support it"),
                      (PtcText){NULL, 0});
    ptc_link_log(l, "its request %.*s was refused: %s", PTC_ARG_OF(method.bytes, n),
                 why ? why : "it was not offered");
}

bool ptc_link_answer(PtcLink *l, PtcText id, PtcText result)
{
    PtcBuf text;
    Outgoing out = {.method = "", .text = &text};
    ptc_buf_init(&text, l->mem, PTC_UNBOUNDED);
    if (result.bytes) {
        ptc_rpc_begin_result(&text, id);
        ptc_emit_raw(&text, result);
        ptc_emit_object_end(&text);
        unfold(&text);
    } else {
        ptc_rpc_add_error(&text, id, PTC_RPC_INTERNAL_ERROR, PTC_TEXT("nobody has answered it"),
                          (PtcText){NULL, 0});
    }
    pthread_mutex_lock(&l->lock);
    bool sent = ptc_buf_ok(&text) && l->state == PTC_LINK_READY && !l->wire->send(l, &out);
    pthread_mutex_unlock(&l->lock);
    ptc_buf_deinit(&text);
    return sent;
}

static void answer_request(PtcLink *l, const Message *m, PtcText method)
{
    PtcBuf out, result;
    PtcText params = ptc_members_is_object(m->params) ? m->params : PTC_TEXT("{}");
    ptc_buf_init(&out, l->mem, PTC_UNBOUNDED);
    ptc_buf_init(&result, l->mem, l->config.max_message);
    const char *why = NULL;
    bool ping = ptc_text_is(method, "ping");
    bool later = !ping && l->config.question &&
                 l->config.question(l->config.user, m->id, method, params, &why);
    bool has = ping || (!later && !why && l->config.request &&
                        l->config.request(l->config.user, method, params, &result));
    if (has && ptc_buf_ok(&result)) {
        ptc_rpc_begin_result(&out, m->id);
        ptc_emit_raw(&out, ping ? PTC_TEXT("{}") : ptc_buf_view(&result));
        ptc_emit_object_end(&out);
    } else if (!later) { /* else whoever has it answers */
        refuse_server_request(l, m->id, method, why, &out);
    }
    if (!later)
        ptc_link_send_text(l, &out);
    ptc_buf_deinit(&result);
    ptc_buf_deinit(&out);
}

/* A number of progress; 0 if it is not a number. */
static double progress_number_of(PtcText json)
{
    double d = 0;
    return json.bytes && ptc_double_parse(json.bytes, json.len, &d) ? d : 0;
}

/* Our tokens are the ids of the asks. */
static void take_progress(PtcLink *l, PtcText params)
{
    PtcText key, value, done = {NULL, 0}, total = {NULL, 0}, message = {NULL, 0};
    PtcLinkScratch scratch;
    int64_t id = 0;
    PtcMembers members = ptc_members_of(params);
    while (ptc_members_next(&members, &key, &value)) {
        if (ptc_text_is(key, "progressToken") && !ptc_members_int(value, &id))
            return;
        if (ptc_text_is(key, "progress"))
            done = value;
        else if (ptc_text_is(key, "total"))
            total = value;
        else if (ptc_text_is(key, "message"))
            message = value;
    }
    if (id <= 0)
        return;
    ptc_link_scratch_init(&scratch, l);
    PtcText shown = ptc_link_scratch_text(&scratch, message);
    ptc_link_progress(l, (uint64_t)id, progress_number_of(done), progress_number_of(total), shown);
    ptc_link_scratch_deinit(&scratch);
}

static void take_notice(PtcLink *l, PtcText method, PtcText params)
{
    if (!ptc_members_is_object(params))
        params = PTC_TEXT("{}");
    if (ptc_text_is(method, "notifications/progress"))
        take_progress(l, params);
    else if (l->config.notice)
        l->config.notice(l->config.user, method, params);
}

static bool is_rpc_id(PtcText id)
{
    return id.bytes &&
           (id.bytes[0] == '"' || id.bytes[0] == '-' || ptc_ascii_is_digit(id.bytes[0]));
}

/* -------------------------------------------------------------------------- unreadable */

/* A walk over the bytes of a message that is not whole, which knows how deep it is. */
typedef struct {
    const char *at, *end;
    size_t depth;
} MessageWalk;

/* Takes one character, or a whole string, whose text between the quotes goes to `text`; absent: it was none. */
static char step_over_json(MessageWalk *w, PtcText *text)
{
    char c = *w->at++;
    *text = (PtcText){NULL, 0};
    if (c == '"') {
        const char *from = w->at;
        while (w->at < w->end && *w->at != '"')
            w->at += *w->at == '\\' && w->at + 1 < w->end ? 2 : 1;
        *text = (PtcText){from, (size_t)(w->at - from)};
        w->at += w->at < w->end;
    }
    w->depth += c == '{' || c == '[';
    w->depth -= w->depth && (c == '}' || c == ']');
    return c;
}

/* The number there; 0: there is none. */
static uint64_t take_id_number(MessageWalk *w)
{
    uint64_t id = 0;
    while (w->at < w->end && *w->at == ' ')
        w->at++;
    while (w->at < w->end && ptc_ascii_is_digit(*w->at) && id < UINT64_MAX / 100)
        id = id * 10 + (uint64_t)(*w->at++ - '0');
    return id;
}

/* The id of a message that begins in this way, as far as it is to be seen.  *answer false: it is a request or a
 * notification, and what it calls an id is not one of ours. */
static uint64_t id_at_begin(PtcText head, bool *answer)
{
    MessageWalk w = {head.bytes, head.bytes + head.len, 0};
    PtcText text, key = {NULL, 0};
    uint64_t id = 0;
    while (w.at < w.end) {
        char c = step_over_json(&w, &text);
        if (c == ':' && w.depth == 1 && key.bytes && ptc_text_is(key, "id"))
            id = take_id_number(&w);
        *answer = *answer && !(c == ':' && w.depth == 1 && key.bytes && ptc_text_is(key, "method"));
        if (c != ' ')
            key = text;
    }
    return id;
}

/* Does nothing but the rest of the outermost object follow? */
static bool is_last_part(MessageWalk w)
{
    PtcText text;
    for (w.depth = 1; w.at < w.end && w.depth > 0;)
        step_over_json(&w, &text);
    while (w.at < w.end && (unsigned char)*w.at <= ' ')
        w.at++;
    return w.depth == 0 && w.at == w.end;
}

/* The id of a message that ends in this way; 0: it is not to be seen.  What results contain may have ids too. */
static uint64_t id_at_end(PtcText tail)
{
    static const char name[] = "\"id\":";
    const char *end = tail.bytes + tail.len, *from = tail.bytes;
    uint64_t id = 0;
    while (from && (from = memmem(from, (size_t)(end - from), name, sizeof name - 1))) {
        from += sizeof name - 1;
        MessageWalk w = {from, end, 0};
        uint64_t found = take_id_number(&w);
        if (is_last_part(w))
            id = found;
    }
    return id;
}

/* What is wrong with a text that is no JSON. */
static void add_fault(PtcLink *l, PtcBuf *out, PtcText text)
{
    PtcLinkScratch scratch;
    PtcJsonError error = {.message = "it is not JSON"};
    ptc_link_scratch_init(&scratch, l);
    (void)!ptc_json_parse(&scratch.heap, text.bytes, text.len, &error);
    ptc_buf_addf(out, "its answer cannot be read: %s, at byte %zu", error.message, error.offset);
    ptc_link_scratch_deinit(&scratch);
}

static bool is_link_ready(PtcLink *l)
{
    pthread_mutex_lock(&l->lock);
    bool ready = l->state == PTC_LINK_READY;
    pthread_mutex_unlock(&l->lock);
    return ready;
}

/* An answer that is no JSON, as half a surrogate pair or deep nesting make it: whoever waits for it would wait in vain.
 * False: nobody does.  Servers that are not ready yet say a lot of things. */
static bool take_unreadable(PtcLink *l, PtcText text)
{
    bool answer = true;
    if (!ptc_members_is_object(text) || !is_link_ready(l) ||
        !memmem(text.bytes, text.len, "\"jsonrpc\"", 9))
        return false;
    uint64_t id = id_at_begin(text, &answer);
    PtcLinkAsk *ask = id && answer ? ptc_link_take_ask(l, id) : NULL;
    if (!ask)
        return false;
    PtcLinkReply reply = ptc_link_reply(l, PTC_LINK_BAD_ANSWER);
    reply.delivered = true;
    reply.bytes = text.len;
    add_fault(l, &reply.text, text);
    ptc_link_end_ask(l, ask, &reply);
    return true;
}

bool ptc_link_take_message(PtcLink *l, PtcText text)
{
    Message m;
    if (!take_message_apart(text, &m))
        return take_unreadable(l, text);
    PtcText method = ptc_members_plain(m.method);
    if (method.bytes && is_rpc_id(m.id))
        answer_request(l, &m, method);
    else if (method.bytes && !m.id.bytes)
        take_notice(l, method, m.params);
    else if (!m.method.bytes && (m.result.bytes || m.error.bytes))
        take_link_answer(l, &m);
    else
        return false;
    return true;
}

/* ------------------------------------------------------------------------ too long */

/* The only one that waits, if there is just one. */
static uint64_t only_ask(PtcLink *l)
{
    uint64_t id = 0;
    size_t count = 0;
    pthread_mutex_lock(&l->lock);
    for (size_t i = 0; i < ASK_BUCKETS; i++)
        for (const PtcLinkAsk *ask = l->asks[i]; ask; ask = ask->next) {
            if (ask == &l->listen || ask->polled) /* nothing comes for them */
                continue;
            id = ask->id;
            count++;
        }
    pthread_mutex_unlock(&l->lock);
    return count == 1 ? id : 0;
}

void ptc_link_too_long(PtcLink *l, PtcText head, PtcText tail, size_t bytes)
{
    bool answer = true;
    uint64_t id = id_at_begin(head, &answer);
    if (!id || !ptc_link_has_ask(l, id))
        id = id_at_end(tail);
    if (!id || !ptc_link_has_ask(l, id))
        id = only_ask(l);
    ptc_link_log(l, "a message of more than %zu bytes was skipped", l->config.max_message);
    PtcLinkAsk *ask = id && answer ? ptc_link_take_ask(l, id) : NULL;
    if (!ask)
        return;
    PtcLinkReply reply = ptc_link_reply(l, PTC_LINK_TOO_LARGE);
    reply.delivered = true;
    reply.bytes = bytes;
    ptc_buf_addf(&reply.text, "its answer has more than %zu bytes", l->config.max_message);
    ptc_link_end_ask(l, ask, &reply);
}

/* ------------------------------------------------------------------------- writing */

/* The rest of an object that has been begun: its text from behind the bracket on, without a look at what is inside. */
static void add_object_rest(PtcBuf *out, PtcText object)
{
    PtcText rest = ptc_text_skip_spaces((PtcText){object.bytes + 1, object.len - 1});
    if (rest.len && *rest.bytes != '}')
        ptc_buf_add(out, ",", 1);
    ptc_buf_add(out, rest.bytes, rest.len);
}

/* What the modern era wants with every request. */
static void add_claim(PtcLink *l, PtcBuf *out, const char *method)
{
    ptc_emit_field_cstr(out, LINK_META "protocolVersion", l->version);
    ptc_emit_key(out, LINK_META "clientInfo");
    ptc_buf_add_cstr(out, "{\"name\":\"ptc\",\"version\":\"" PTC_VERSION "\"}");
    PtcText can = l->config.capabilities;
    bool tasks = l->offers_tasks && (strcmp(method, "tools/call") == 0 ||
                                     strncmp(method, "tasks/", strlen("tasks/")) == 0);
    ptc_emit_key(out, LINK_META "clientCapabilities");
    if (!tasks) {
        ptc_emit_raw(out, can);
        return;
    }
    ptc_emit_object(out);
    ptc_emit_key(out, "extensions");
    ptc_buf_add_cstr(out, "{\"" PTC_LINK_TASKS "\":{}}");
    add_object_rest(out, can);
}

/* The caller's own members of `_meta` behind ours. */
static void add_meta_members(PtcBuf *out, PtcText object, const char *but)
{
    PtcText key, value;
    PtcMembers members = ptc_members_of(object);
    while (!members.array && ptc_members_next(&members, &key, &value)) {
        if (but && ptc_text_is(key, but))
            continue;
        ptc_emit_next(out);
        ptc_buf_addf(out, "\"%.*s\":", PTC_ARG(key));
        ptc_emit_raw(out, value);
    }
}

static void add_request_params(PtcLink *l, PtcBuf *out, uint64_t id, const char *method,
                               PtcText params, bool progress)
{
    bool claim = l->era == PTC_LINK_MODERN;
    if (!claim && !progress) {
        ptc_emit_raw(out, params);
        return;
    }
    PtcText own = memmem(params.bytes, params.len, "\"_meta\"", 7)
                      ? ptc_members_get(params, "_meta")
                      : (PtcText){NULL, 0};
    ptc_emit_object(out);
    ptc_emit_key(out, "_meta");
    ptc_emit_object(out);
    if (claim)
        add_claim(l, out, method);
    if (progress)
        ptc_emit_field_uint(out, "progressToken", id);
    if (own.bytes)
        add_meta_members(out, own, NULL);
    ptc_emit_object_end(out);
    if (own.bytes) {
        add_meta_members(out, params, "_meta");
        ptc_emit_object_end(out);
    } else {
        add_object_rest(out, params);
    }
}

bool ptc_link_write(PtcLink *l, PtcBuf *out, uint64_t id, const char *method, PtcText params,
                    bool progress)
{
    char number[24];
    int n = snprintf(number, sizeof number, "%llu", (unsigned long long)id);
    ptc_rpc_begin_request(out, id ? (PtcText){number, (size_t)n} : (PtcText){NULL, 0}, method);
    bool claim = l->era == PTC_LINK_MODERN && id;
    if (params.bytes || claim || progress) {
        ptc_emit_key(out, "params");
        if (id)
            add_request_params(l, out, id, method, params.bytes ? params : PTC_TEXT("{}"),
                               progress);
        else
            ptc_emit_raw(out, params);
    }
    ptc_emit_object_end(out);
    unfold(out);
    return ptc_buf_ok(out);
}
