/* SPDX-License-Identifier: MIT
 * Reading what providers send.  What always holds: either `reply` has failed or everything read so far is in it;
 * values of the box live for one event, so everything that outlives it is copied. */
#include "llm/provider/wire.h"

#include <stdio.h>
#include <strings.h>

#include "json/write.h"
#include "net/retry_after.h"
#include "value/str.h"

enum { WIRE_WORDS = 4096 }; /* bytes of a provider's text that are examined */

static bool on_sse(void *user, PtcText name, PtcText data);
static bool on_message(void *user, const PtcEventMessage *message);

void ptc_wire_init(PtcWire *w, PtcMem *mem, const PtcDialect *dialect, const PtcLlmRequest *request,
                   const PtcProviderKeys *keys)
{
    *w = (PtcWire){.dialect = dialect, .streaming = request && request->stream};
    ptc_reply_init(&w->reply, mem, request, keys);
    ptc_json_box_init(&w->box, mem);
    ptc_buf_init(&w->body, mem, PTC_LLM_BODY_BYTES);
    ptc_buf_init(&w->thought, mem, PTC_LLM_TEXT_BYTES);
    ptc_buf_init(&w->signature, mem, PTC_LLM_TEXT_BYTES);
    ptc_buf_init(&w->refusal, mem, PTC_LLM_TEXT_BYTES);
    ptc_buf_init(&w->opaque, mem, PTC_REPLY_OPAQUE_BYTES);
    ptc_sse_init(&w->sse, mem, PTC_LLM_BODY_BYTES);
    w->sse.event = on_sse;
    w->sse.user = w;
    ptc_eventstream_init(&w->events, mem, PTC_LLM_BODY_BYTES);
    w->events.message = on_message;
    w->events.user = w;
}

void ptc_wire_deinit(PtcWire *w)
{
    ptc_reply_deinit(&w->reply);
    ptc_json_box_deinit(&w->box);
    ptc_buf_deinit(&w->body);
    ptc_buf_deinit(&w->thought);
    ptc_buf_deinit(&w->signature);
    ptc_buf_deinit(&w->refusal);
    ptc_buf_deinit(&w->opaque);
    ptc_sse_deinit(&w->sse);
    ptc_eventstream_deinit(&w->events);
}

/* --------------------------------------------------------------------------------- JSON */

/* Some servers split a stream of text between the two halves of a surrogate pair, which then is not valid JSON.  Such
 * halves are replaced in place by U+FFFD; \uXXXX is as long as \ufffd. */
static void mend_surrogates(char *text, size_t len)
{
    for (size_t i = 0; i + 6 <= len; i++) {
        if (text[i] != '\\')
            continue;
        if (text[i + 1] != 'u') {
            i++;
            continue;
        }
        bool half = strchr("dD", text[i + 2]) && strchr("89abcdefABCDEF", text[i + 3]);
        bool high = half && strchr("89abAB", text[i + 3]);
        bool pair = high && i + 12 <= len && text[i + 6] == '\\' && text[i + 7] == 'u' &&
                    strchr("dD", text[i + 8]) && strchr("cdefCDEF", text[i + 9]);
        if (half && !pair)
            memcpy(text + i + 2, "fffd", 4);
        i += pair ? 11 : 5;
    }
}

static PtcValue read_mended(PtcWire *w, PtcText text, PtcWhy *why)
{
    PtcBuf copy;
    PtcValue v = PTC_NONE;
    ptc_buf_init(&copy, w->reply.mem, PTC_LLM_BODY_BYTES);
    if (ptc_buf_add(&copy, text.bytes, text.len)) {
        mend_surrogates(copy.data, copy.len);
        v = ptc_json_box_read(&w->box, ptc_buf_view(&copy), why);
    } else {
        ptc_why_no_memory(why);
    }
    ptc_buf_deinit(&copy);
    return v;
}

/* The value of a JSON text; PTC_NONE fails the reply. */
static PtcValue read_wire_json(PtcWire *w, PtcText text)
{
    PtcWhy why;
    ptc_json_box_clear(&w->box);
    PtcValue v = ptc_json_box_read(&w->box, text, &why);
    if (v == PTC_NONE && why.class == PTC_WHY_INVALID &&
        memchr(text.bytes ? text.bytes : "", '\\', text.len))
        v = read_mended(w, text, &why);
    if (v != PTC_NONE)
        return v;
    if (why.class == PTC_WHY_NO_MEMORY)
        ptc_reply_fail(&w->reply, PTC_LLM_NO_MEMORY, PTC_TEXT("out of memory"));
    else if (why.class == PTC_WHY_REFUSED)
        ptc_reply_fail(&w->reply, PTC_LLM_TOO_LARGE,
                       PTC_TEXT("the answer takes more memory than an answer may"));
    else
        ptc_reply_failf(&w->reply, PTC_LLM_UNKNOWN, "the answer is not JSON: %s", why.text);
    return PTC_NONE;
}

/* -------------------------------------------------------------------------------- parts */

/* Adds a text to the parts that are sent back, with a comma if needed. */
static bool keep_json(PtcWire *w, PtcText json)
{
    return (w->opaque.len == 0 || ptc_buf_add(&w->opaque, ",", 1)) &&
           ptc_buf_add(&w->opaque, json.bytes, json.len);
}

/* One of both buffers is full or has failed. */
static void keep_failed(PtcWire *w, const PtcBuf *json)
{
    if (w->opaque.failed || json->failed)
        ptc_reply_fail(&w->reply, PTC_LLM_NO_MEMORY, PTC_TEXT("out of memory"));
    else
        ptc_reply_fail(&w->reply, PTC_LLM_TOO_LARGE, PTC_TEXT("the model's thoughts are too long"));
}

void ptc_wire_keep(PtcWire *w, PtcValue value, bool matters)
{
    PtcJsonError error;
    PtcBuf json;
    PtcJsonWriter writer = {.heap = &w->box.heap, .float_precision = -1};
    ptc_buf_init(&json, w->reply.mem, PTC_REPLY_OPAQUE_BYTES);
    w->opaque_matters = w->opaque_matters || matters;
    if (!ptc_json_write(&writer, &json, value, &error) || !keep_json(w, ptc_buf_view(&json)))
        keep_failed(w, &json);
    ptc_buf_deinit(&json);
}

/* A thought that came in pieces is sent back whole. */
static void close_part(PtcWire *w)
{
    if (w->part == PTC_WIRE_PART_THOUGHT && w->dialect->thought && ptc_reply_ok(&w->reply)) {
        PtcBuf json;
        ptc_buf_init(&json, w->reply.mem, PTC_REPLY_OPAQUE_BYTES);
        w->dialect->thought(w, &json);
        w->opaque_matters = true;
        if (!ptc_buf_ok(&json) || !keep_json(w, ptc_buf_view(&json)))
            keep_failed(w, &json);
        ptc_buf_deinit(&json);
    }
    ptc_buf_clear(&w->thought);
    ptc_buf_clear(&w->signature);
    w->sealed = false;
    w->label[0] = 0;
    w->call = NULL;
    w->part = PTC_WIRE_PART_NONE;
}

void ptc_wire_part(PtcWire *w, PtcWirePart kind, int64_t number)
{
    if (w->part == kind && w->part_number == number)
        return;
    close_part(w);
    w->part = kind;
    w->part_number = number;
}

static void add_thought_piece(PtcWire *w, PtcBuf *to, PtcText piece)
{
    if (!piece.bytes || ptc_buf_add(to, piece.bytes, piece.len))
        return;
    if (to->failed)
        ptc_reply_fail(&w->reply, PTC_LLM_NO_MEMORY, PTC_TEXT("out of memory"));
    else
        ptc_reply_fail(&w->reply, PTC_LLM_TOO_LARGE,
                       PTC_TEXT("a thought of the model is too long"));
}

void ptc_wire_add_thought(PtcWire *w, PtcText piece)
{
    add_thought_piece(w, &w->thought, piece);
}

void ptc_wire_add_signature(PtcWire *w, PtcText piece)
{
    add_thought_piece(w, &w->signature, piece);
}

/* ------------------------------------------------------------------------------- errors */

PtcLlmStatus ptc_wire_class(PtcText name)
{
    static const struct {
        const char *part;
        PtcLlmStatus status;
    } rows[] = {
        {"rate_limit", PTC_LLM_RATE_LIMIT},    {"ratelimit", PTC_LLM_RATE_LIMIT},
        {"throttl", PTC_LLM_RATE_LIMIT},       {"too_many", PTC_LLM_RATE_LIMIT},
        {"toomany", PTC_LLM_RATE_LIMIT},       {"exhausted", PTC_LLM_RATE_LIMIT},
        {"quota", PTC_LLM_RATE_LIMIT},         {"overloaded", PTC_LLM_SERVER_ERROR},
        {"unavailable", PTC_LLM_SERVER_ERROR}, {"internal", PTC_LLM_SERVER_ERROR},
        {"server", PTC_LLM_SERVER_ERROR},      {"api_error", PTC_LLM_SERVER_ERROR},
        {"timeout", PTC_LLM_SERVER_ERROR},     {"notready", PTC_LLM_SERVER_ERROR},
        {"modelstream", PTC_LLM_SERVER_ERROR}, {"filter", PTC_LLM_REFUSED},
        {"safety", PTC_LLM_REFUSED},           {"invalid", PTC_LLM_CLIENT_ERROR},
        {"validation", PTC_LLM_CLIENT_ERROR},  {"authentication", PTC_LLM_CLIENT_ERROR},
        {"permission", PTC_LLM_CLIENT_ERROR},  {"denied", PTC_LLM_CLIENT_ERROR},
        {"not_found", PTC_LLM_CLIENT_ERROR},   {"notfound", PTC_LLM_CLIENT_ERROR},
        {"too_large", PTC_LLM_CLIENT_ERROR},   {"billing", PTC_LLM_CLIENT_ERROR},
        {"unauth", PTC_LLM_CLIENT_ERROR},
    };
    for (size_t i = 0; name.bytes && i < sizeof rows / sizeof *rows; i++)
        for (size_t at = 0, n = strlen(rows[i].part); at + n <= name.len; at++)
            if (strncasecmp(name.bytes + at, rows[i].part, n) == 0)
                return rows[i].status;
    return PTC_LLM_UNKNOWN;
}

/* The text of an error, and what the provider behind a gateway said, if the gateway reports it. */
static PtcText provider_error_text(PtcWire *w, PtcValue error, PtcText *more)
{
    static const char *const names[] = {"message", "Message", "error", "detail"};
    PtcText text = ptc_str_text(error);
    for (size_t i = 0; !text.bytes && i < sizeof names / sizeof *names; i++)
        text = ptc_json_box_text(&w->box, error, names[i]);
    *more = ptc_json_box_text(&w->box, ptc_json_box_get(&w->box, error, "metadata"), "raw");
    return text;
}

/* The class, judging by the names and numbers in an error. */
static PtcLlmStatus error_class(PtcWire *w, PtcValue error)
{
    static const char *const names[] = {"type", "status", "code"};
    PtcLlmStatus status = PTC_LLM_UNKNOWN;
    for (size_t i = 0; status == PTC_LLM_UNKNOWN && i < sizeof names / sizeof *names; i++)
        status = ptc_wire_class(ptc_json_box_text(&w->box, error, names[i]));
    int64_t code = ptc_json_box_count(&w->box, error, "code", 999, 0);
    if (status == PTC_LLM_UNKNOWN && code >= 300)
        status = ptc_llm_status_of_http((int)code);
    return status;
}

void ptc_wire_error(PtcWire *w, PtcValue error)
{
    PtcText more, text = provider_error_text(w, error, &more);
    PtcLlmStatus status = error_class(w, error);
    if (!text.bytes)
        text = PTC_TEXT("the provider reports an error without a text");
    ptc_reply_failf(&w->reply, status, "%.*s%s%.*s", PTC_ARG(ptc_text_cut(text, WIRE_WORDS)),
                    more.bytes ? ": " : "", PTC_ARG(ptc_text_cut(more, WIRE_WORDS)));
}

/* For errors that say how long to wait, as Gemini's details do. */
static void take_delay(PtcWire *w, PtcValue error)
{
    PtcValue details = ptc_json_box_get(&w->box, error, "details");
    for (size_t i = 0; i < ptc_json_box_length(details); i++) {
        PtcText delay = ptc_json_box_text(&w->box, ptc_json_box_item(details, i), "retryDelay");
        int64_t ms = delay.bytes ? ptc_retry_delay_ms(delay, 1000) : -1;
        if (ms >= 0 && w->reply.retry_after_ms < 0)
            w->reply.retry_after_ms = ms;
    }
}

/* The error object of a body: under "error", in the first item of a list, or the body itself. */
static PtcValue find_error(PtcWire *w, PtcValue body)
{
    if (ptc_json_box_length(body))
        body = ptc_json_box_item(body, 0);
    PtcValue error = ptc_json_box_get(&w->box, body, "error");
    return error != PTC_NONE ? error : body;
}

void ptc_wire_http_error(PtcWire *w, int http, PtcText body, PtcText error_type)
{
    PtcText more = {NULL, 0}, text = {NULL, 0};
    const char *colon = error_type.len ? memchr(error_type.bytes, ':', error_type.len) : NULL;
    if (colon) /* an address follows, which says nothing more */
        error_type.len = (size_t)(colon - error_type.bytes);
    ptc_json_box_clear(&w->box);
    PtcValue v = ptc_json_box_read(&w->box, body, NULL);
    if (v != PTC_NONE) {
        PtcValue error = find_error(w, v);
        text = provider_error_text(w, error, &more);
        take_delay(w, error);
    }
    if (!text.bytes)
        text = body.len ? body : PTC_TEXT("no text");
    ptc_reply_failf(&w->reply, ptc_llm_status_of_http(http), "HTTP %d%s%.*s: %.*s%s%.*s", http,
                    error_type.len ? " " : "", PTC_ARG(ptc_text_cut(error_type, WIRE_WORDS)),
                    PTC_ARG(ptc_text_cut(text, WIRE_WORDS)), more.bytes ? ": " : "",
                    PTC_ARG(ptc_text_cut(more, WIRE_WORDS)));
}

/* -------------------------------------------------------------------------------- bytes */

static bool may_wire_go_on(const PtcWire *w)
{
    return ptc_reply_ok(&w->reply) && !w->over;
}

static void take_wire_event(PtcWire *w, PtcText name, PtcText data)
{
    PtcValue v = read_wire_json(w, data);
    if (v != PTC_NONE)
        w->dialect->event(w, name, v);
}

static bool on_sse(void *user, PtcText name, PtcText data)
{
    PtcWire *w = user;
    if (ptc_text_is(data, "[DONE]"))
        w->over = true;
    else if (data.len)
        take_wire_event(w, name, data);
    return may_wire_go_on(w);
}

/* An exception or an error ends the stream; its payload says why. */
static void take_exception(PtcWire *w, const PtcEventMessage *m)
{
    PtcText name = m->event_type.bytes ? m->event_type : m->error_code;
    PtcText text = m->error_message, more;
    ptc_json_box_clear(&w->box);
    PtcValue v = ptc_json_box_read(&w->box, m->payload, NULL);
    if (v != PTC_NONE && !text.bytes)
        text = provider_error_text(w, v, &more);
    ptc_reply_failf(&w->reply, ptc_wire_class(name), "%.*s: %.*s",
                    PTC_ARG(ptc_text_cut(name, WIRE_WORDS)),
                    PTC_ARG(ptc_text_cut(text, WIRE_WORDS)));
}

static bool on_message(void *user, const PtcEventMessage *m)
{
    PtcWire *w = user;
    if (m->message_type.bytes && !ptc_text_is(m->message_type, "event"))
        take_exception(w, m);
    else
        take_wire_event(w, m->event_type.bytes ? m->event_type : PTC_TEXT(""), m->payload);
    return may_wire_go_on(w);
}

/* A stream that we stopped ourselves has its reply already. */
static void break_stream(PtcWire *w, const PtcWhy *why)
{
    PtcLlmStatus status = why->class == PTC_WHY_NO_MEMORY ? PTC_LLM_NO_MEMORY
                          : why->class == PTC_WHY_REFUSED ? PTC_LLM_TOO_LARGE
                                                          : PTC_LLM_UNKNOWN;
    if (why->class != PTC_WHY_CANCELLED)
        ptc_reply_fail(&w->reply, status, ptc_text_cstr(why->text));
}

static void feed_sse(PtcWire *w, PtcText bytes, bool last)
{
    PtcWhy why;
    if (!(last ? ptc_sse_end(&w->sse, &why) : ptc_sse_feed(&w->sse, bytes, &why)))
        break_stream(w, &why);
}

static void feed_eventstream(PtcWire *w, PtcText bytes)
{
    PtcWhy why;
    if (!ptc_eventstream_feed(&w->events, bytes, &why))
        break_stream(w, &why);
}

static bool add_whole_body(PtcWire *w, PtcText bytes)
{
    if (ptc_buf_add(&w->body, bytes.bytes, bytes.len))
        return true;
    return w->body.failed
               ? ptc_reply_fail(&w->reply, PTC_LLM_NO_MEMORY, PTC_TEXT("out of memory"))
               : ptc_reply_failf(&w->reply, PTC_LLM_TOO_LARGE, "the answer is larger than %d bytes",
                                 PTC_LLM_BODY_BYTES);
}

/* The line in the buffer is complete. */
static void end_wire_line(PtcWire *w)
{
    if (!ptc_text_is_blank(ptc_buf_view(&w->body)))
        take_wire_event(w, PTC_TEXT(""), ptc_buf_view(&w->body));
    ptc_buf_clear(&w->body);
}

static void feed_lines(PtcWire *w, PtcText bytes)
{
    while (bytes.len && may_wire_go_on(w)) {
        const char *end = memchr(bytes.bytes, '\n', bytes.len);
        size_t n = end ? (size_t)(end - bytes.bytes) : bytes.len;
        if (!add_whole_body(w, (PtcText){bytes.bytes, n}))
            return;
        if (end)
            end_wire_line(w);
        n += end != NULL;
        bytes = (PtcText){bytes.bytes + n, bytes.len - n};
    }
}

bool ptc_wire_feed(PtcWire *w, PtcText bytes)
{
    if (!may_wire_go_on(w))
        return false;
    if (!w->streaming)
        add_whole_body(w, bytes);
    else if (w->dialect->framing == PTC_FRAMING_SSE)
        feed_sse(w, bytes, false);
    else if (w->dialect->framing == PTC_FRAMING_LINES)
        feed_lines(w, bytes);
    else
        feed_eventstream(w, bytes);
    return may_wire_go_on(w);
}

/* Stores what is to be sent back, under the name of the only dialect that understands it. */
static void seal_opaque(PtcWire *w)
{
    PtcBuf *out = &w->reply.opaque;
    if (!w->opaque_matters)
        return;
    ptc_buf_addf(out, "{\"%s\":[", w->dialect->name);
    ptc_buf_add(out, w->opaque.data, w->opaque.len);
    ptc_buf_add_cstr(out, "]}");
    if (!ptc_buf_ok(out))
        keep_failed(w, out);
}

/* Once all of it has come: a stream brings it in pieces. */
static void tell_refusal(PtcWire *w)
{
    if (w->refusal.len)
        ptc_reply_fail(&w->reply, PTC_LLM_REFUSED, ptc_buf_view(&w->refusal));
}

static void end_stream(PtcWire *w)
{
    if (w->dialect->framing == PTC_FRAMING_SSE && !w->over)
        feed_sse(w, PTC_TEXT(""), true);
    if (w->dialect->framing == PTC_FRAMING_LINES && !w->over)
        end_wire_line(w);
    close_part(w);
    tell_refusal(w);
    if (!w->ended)
        ptc_reply_fail(&w->reply, PTC_LLM_UNKNOWN,
                       PTC_TEXT("the stream broke off before the reply was complete"));
}

void ptc_wire_end(PtcWire *w)
{
    if (!ptc_reply_ok(&w->reply))
        return;
    if (w->streaming) {
        end_stream(w);
    } else {
        PtcValue v = read_wire_json(w, ptc_buf_view(&w->body));
        if (v != PTC_NONE)
            w->dialect->whole(w, v);
        close_part(w);
        tell_refusal(w);
    }
    if (ptc_reply_ok(&w->reply))
        seal_opaque(w);
}

/* -------------------------------------------------------------------------------- tools */

int64_t ptc_wire_tokens(PtcWire *w, PtcValue usage, const char *name, int64_t otherwise)
{
    int64_t n = ptc_json_box_count(&w->box, usage, name, PTC_WIRE_TOKENS, -1);
    if (n < 0)
        return otherwise;
    w->reply.tokens.reported = true;
    return n;
}

void ptc_wire_args_value(PtcWire *w, PtcReplyCall *call, PtcValue value)
{
    PtcJsonError error;
    PtcBuf json;
    PtcJsonWriter writer = {.heap = &w->box.heap, .float_precision = -1};
    if (value == PTC_NONE || value == PTC_NIL || !call)
        return;
    ptc_buf_init(&json, w->reply.mem, PTC_LLM_ARGS_BYTES);
    if (ptc_json_write(&writer, &json, value, &error))
        ptc_reply_add_args(&w->reply, call, ptc_buf_view(&json));
    else
        ptc_reply_fail(&w->reply, json.full ? PTC_LLM_TOO_LARGE : PTC_LLM_NO_MEMORY,
                       json.full ? PTC_TEXT("the arguments of a call are too long")
                                 : PTC_TEXT("out of memory"));
    ptc_buf_deinit(&json);
}
