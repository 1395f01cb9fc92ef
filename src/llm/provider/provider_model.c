/* SPDX-License-Identifier: MIT
 * Asking a provider.  What always holds: keys are in the header lines of a request and nowhere else; a request is
 * sent once, or a second time only if the endpoint refused the form of the schema and said so. */
#define _GNU_SOURCE /* memmem */
#include "llm/provider/provider_model.h"

#include <stdio.h>
#include <strings.h>

#include "llm/provider/bedrock.h"
#include "llm/provider/openai.h"
#include "llm/provider/provider_auth.h"
#include "net/retry_after.h"

enum { ID_BYTES = 512, TEXTS_BYTES = 8 * PTC_KB };

typedef struct Remote {
    PtcModel model;
    const PtcProviderPlace *place;
    PtcTarget target;
    PtcText region; /* of Bedrock */
    bool plain, with_key;
    atomic_bool json_object; /* the endpoint refused a schema */
    PtcBuf texts;            /* what the target and the name point to; it does not move */
} Remote;

/* --------------------------------------------------------------------------------- body */

/* Appends the body; false with the reason in the reply. */
static bool write_provider_body(const Remote *m, const PtcLlmRequest *r, bool stream,
                                bool json_object, PtcBuf *out, PtcReply *reply)
{
    PtcJsonBox box;
    const PtcDialect *dialect = m->target.provider->dialect;
    PtcWireOut w = {out, dialect, &m->target, r, stream, json_object, &box};
    ptc_json_box_init(&box, out->mem);
    dialect->write(&w);
    ptc_json_box_deinit(&box);
    if (ptc_buf_ok(out))
        return true;
    return out->full ? ptc_reply_failf(reply, PTC_LLM_TOO_LARGE,
                                       "the request is larger than %d bytes", PTC_LLM_REQUEST_BYTES)
                     : ptc_reply_fail(reply, PTC_LLM_NO_MEMORY, PTC_TEXT("out of memory"));
}

/* For records and --dry-run: without the member that asks for a stream, so that it is the same either way. */
static bool remote_body(PtcModel *self, const PtcLlmRequest *r, PtcBuf *out)
{
    const Remote *m = (const Remote *)self;
    PtcBuf body;
    PtcReply reply;
    ptc_buf_init(&body, out->mem, PTC_LLM_REQUEST_BYTES);
    ptc_reply_init(&reply, out->mem, r, NULL);
    bool ok = write_provider_body(m, r, false, false, &body, &reply);
    if (ok)
        ptc_secrets_blot(&m->place->keys->shown, out, ptc_buf_view(&body), false);
    ptc_reply_deinit(&reply);
    ptc_buf_deinit(&body);
    return ok && ptc_buf_ok(out);
}

/* ----------------------------------------------------------------------------- exchange */

static PtcPiece take_reply_piece(void *user, const PtcClientAnswer *answer, PtcText bytes)
{
    PtcWire *w = user;
    /* some endpoints answer all at once although a stream was requested */
    if (w->dialect->framing != PTC_FRAMING_LINES &&
        strncasecmp(answer->content_type, "application/json", 16) == 0)
        w->streaming = false;
    if (ptc_wire_feed(w, bytes))
        return PTC_PIECE_MORE;
    return ptc_reply_ok(&w->reply) ? PTC_PIECE_ENOUGH : PTC_PIECE_STOP;
}

static PtcLlmStatus status_of(const PtcClientAnswer *a)
{
    if (a->why.class == PTC_WHY_NO_MEMORY)
        return PTC_LLM_NO_MEMORY;
    switch (a->why.code) {
    case PTC_CLIENT_BAD_REQUEST:
    case PTC_CLIENT_BAD_TLS: return PTC_LLM_CONFIG_ERROR;
    case PTC_CLIENT_NO_CONNECTION:
    case PTC_CLIENT_CONNECT_TIMEOUT:
    case PTC_CLIENT_SILENCE:
    case PTC_CLIENT_TIMEOUT: return PTC_LLM_TIMEOUT;
    case PTC_CLIENT_DEADLINE: return PTC_LLM_DEADLINE;
    case PTC_CLIENT_CANCELLED: return PTC_LLM_CANCELLED;
    case PTC_CLIENT_TOO_LARGE: return PTC_LLM_TOO_LARGE;
    case PTC_CLIENT_NOT_HTTP:
    case PTC_CLIENT_BROKEN: return a->touched ? PTC_LLM_UNKNOWN : PTC_LLM_SERVER_ERROR;
    default: return PTC_LLM_UNKNOWN;
    }
}

static void read_answer_delay(const PtcClientAnswer *a, PtcReply *reply)
{
    int64_t ms = -1;
    if (a->retry_after_ms[0])
        ms = ptc_retry_delay_ms(ptc_text_cstr(a->retry_after_ms), 1);
    if (ms < 0 && a->retry_after[0])
        ms = ptc_retry_after_ms(ptc_text_cstr(a->retry_after), ptc_clock_wall_ms());
    if (ms >= 0)
        reply->retry_after_ms = ms;
}

/* What came, as a reply. */
static void take_provider_answer(const Remote *m, PtcWire *w, const PtcClientAnswer *a)
{
    PtcText body = ptc_buf_view(&a->error_body);
    if (!ptc_client_answered(a)) {
        ptc_reply_failf(&w->reply, status_of(a), "%s (%s)", a->why.text, m->model.name);
    } else if (a->status >= 300 && a->status <= 399) {
        ptc_reply_failf(&w->reply, PTC_LLM_CLIENT_ERROR,
                        "HTTP %d: the server sends us to %s, and redirects are not followed; "
                        "correct the address",
                        a->status, a->location[0] ? a->location : "another address");
    } else if (a->status < 200 || a->status > 299) {
        read_answer_delay(a, &w->reply);
        ptc_wire_http_error(w, a->status, body, ptc_text_cstr(a->error_type));
    } else {
        ptc_wire_end(w);
    }
}

/* Did the endpoint refuse only the schema, not the request? */
static bool refused_schema(const Remote *m, const PtcLlmRequest *r, const PtcClientAnswer *a)
{
    static const char *const words[] = {"json_schema", "response_format", "schema"};
    PtcText body = ptc_buf_view(&a->error_body);
    bool refused = a->status == 400 || a->status == 404 || a->status == 422 || a->status == 501;
    if (!r->schema.bytes || m->target.provider->dialect != &ptc_openai_dialect ||
        !ptc_client_answered(a) || !refused)
        return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (memmem(body.bytes, body.len, words[i], strlen(words[i])))
            return true;
    return false;
}

static bool make_provider_url(const Remote *m, bool stream, PtcBuf *url, PtcReply *reply)
{
    ptc_buf_add(url, m->target.base.bytes, m->target.base.len);
    m->target.provider->dialect->path(url, &m->target, stream);
    if (m->target.provider->auth == PTC_AUTH_AWS && !ptc_bedrock_is_region(m->region))
        return ptc_reply_fail(reply, PTC_LLM_CONFIG_ERROR,
                              PTC_TEXT("AWS_REGION must be a region such as eu-north-1"));
    if (!url->full && !ptc_buf_text(url))
        return ptc_reply_fail(reply, PTC_LLM_NO_MEMORY, PTC_TEXT("out of memory"));
    return !url->full ||
           ptc_reply_fail(reply, PTC_LLM_CONFIG_ERROR, PTC_TEXT("the address is too long"));
}

/* Sends one body; the caller ends the answer. */
static void send_body(const Remote *m, const PtcLlmRequest *r, PtcText body, int64_t total_ms,
                      PtcWire *w, PtcClientAnswer *answer)
{
    PtcBuf url;
    PtcHeaders headers = {0};
    PtcMem *mem = w->reply.mem;
    ptc_buf_init(&url, mem, PTC_URL_BYTES);
    bool ok = make_provider_url(m, r->stream != NULL, &url, &w->reply) &&
              ptc_provider_auth_make(&headers, mem, m->target.provider, m->place->keys, m->with_key,
                                     m->region, ptc_buf_view(&url), body, &w->reply);
    if (ok) {
        PtcClientRequest request = {
            .method = "POST",
            .url = ptc_buf_text(&url),
            .body = body,
            .headers = headers.lines,
            .header_count = headers.count,
            .plain = m->plain,
            .max_body = PTC_LLM_BODY_BYTES,
            .connect_ms = m->place->connect_ms,
            .silence_ms = m->place->silence_ms,
            .total_ms = total_ms,
            .deadline_ns = r->deadline_ns,
            .cancel = r->cancel,
            .piece = take_reply_piece,
            .user = w,
        };
        ptc_client_send(m->place->client, mem, &request, answer);
    }
    ptc_provider_auth_drop(&headers);
    ptc_buf_deinit(&url);
}

/* One attempt; true: the endpoint wants another form of the schema, and there is no reply yet. */
static bool attempt(Remote *m, const PtcLlmRequest *r, bool json_object, int64_t total_ms,
                    PtcArena *arena, PtcLlmReply *out)
{
    PtcWire wire;
    PtcBuf body;
    PtcClientAnswer answer = {.why = {PTC_WHY_CANCELLED, PTC_CLIENT_STOPPED, "", ""}};
    bool again = false;
    ptc_wire_init(&wire, arena->mem, m->target.provider->dialect, r, m->place->keys);
    ptc_buf_init(&body, arena->mem, PTC_LLM_REQUEST_BYTES);
    if (write_provider_body(m, r, r->stream != NULL, json_object, &body, &wire.reply))
        send_body(m, r, ptc_buf_view(&body), total_ms, &wire, &answer);
    if (ptc_reply_ok(&wire.reply) || answer.why.code != PTC_CLIENT_STOPPED) {
        again = !json_object && refused_schema(m, r, &answer);
        take_provider_answer(m, &wire, &answer);
    }
    if (!again)
        ptc_reply_finish(&wire.reply, arena, out);
    ptc_client_answer_deinit(&answer);
    ptc_buf_deinit(&body);
    ptc_wire_deinit(&wire);
    return again;
}

static void ask_remote_model(PtcModel *self, const PtcLlmRequest *r, PtcArena *arena,
                             PtcLlmReply *out)
{
    Remote *m = (Remote *)self;
    int64_t begun = ptc_clock_ns(NULL);
    int64_t total_ms = r->timeout_ms > 0 ? r->timeout_ms : PTC_CLIENT_TOTAL_MS;
    bool json_object = atomic_load(&m->json_object) && r->schema.bytes;
    if (!attempt(m, r, json_object, total_ms, arena, out))
        return;
    atomic_store(&m->json_object, true);
    total_ms -= (ptc_clock_ns(NULL) - begun) / PTC_MS;
    attempt(m, r, true, total_ms > 0 ? total_ms : 1, arena, out);
}

/* ------------------------------------------------------------------------------- opening */

static void remote_free(PtcModel *self)
{
    Remote *m = (Remote *)self;
    PtcMem *mem = m->place->mem;
    ptc_buf_deinit(&m->texts);
    ptc_mem_free(mem, m, sizeof *m);
}

/* OLLAMA_HOST may lack a scheme and port, and may be the address of all interfaces; a path may follow it. */
static void add_host(PtcBuf *out, PtcText value)
{
    const char *scheme = memmem(value.bytes, value.len, "://", 3);
    size_t skipped = scheme ? (size_t)(scheme - value.bytes) + 3 : 0;
    if (!scheme)
        ptc_buf_add_cstr(out, "http://");
    ptc_buf_add(out, value.bytes, skipped);
    value = (PtcText){value.bytes + skipped, value.len - skipped};
    const char *slash = memchr(value.bytes, '/', value.len);
    size_t host = slash ? (size_t)(slash - value.bytes) : value.len;
    const char *bracket = memchr(value.bytes, ']', host); /* the colons of [::1] are its own */
    size_t from = bracket ? (size_t)(bracket - value.bytes) : 0;
    bool port = memchr(value.bytes + from, ':', host - from) != NULL;
    if (ptc_text_starts(value, ":") || ptc_text_starts(value, "0.0.0.0")) {
        size_t skip = value.bytes[0] == ':' ? 0 : 7;
        ptc_buf_add_cstr(out, "127.0.0.1");
        value = (PtcText){value.bytes + skip, value.len - skip};
        host -= skip;
    }
    ptc_buf_add(out, value.bytes, host);
    if (!port)
        ptc_buf_add_cstr(out, ":11434");
    ptc_buf_add(out, value.bytes + host, value.len - host);
}

static void drop_slashes(PtcBuf *out, size_t from)
{
    while (out->len > from && out->data[out->len - 1] == '/')
        out->len--;
}

/* Appends the address: the endpoint's, or else the variable's, the table's, the region's. */
static PtcText add_base(PtcBuf *out, const Remote *m, PtcText base)
{
    const PtcProvider *p = m->target.provider;
    PtcText set = ptc_provider_keys_get(m->place->keys, p->base_var);
    size_t from = out->len;
    if (base.bytes)
        ptc_buf_add(out, base.bytes, base.len);
    else if (set.bytes && p->auth == PTC_AUTH_NONE)
        add_host(out, set);
    else if (set.bytes)
        ptc_buf_add(out, set.bytes, set.len);
    else if (p->base)
        ptc_buf_add_cstr(out, p->base);
    else
        ptc_buf_addf(out, "https://bedrock-runtime.%.*s.amazonaws.com", PTC_ARG(m->region));
    drop_slashes(out, from);
    return ptc_buf_ok(out) ? (PtcText){out->data + from, out->len - from} : (PtcText){NULL, 0};
}

/* Could a provider use this as a model's id?  Printable, without blanks. */
static bool is_model_id(PtcText id)
{
    for (size_t i = 0; i < id.len; i++)
        if (id.bytes[i] <= ' ' || id.bytes[i] > '~')
            return false;
    return id.len > 0 && id.len <= ID_BYTES;
}

static bool fill_model_texts(Remote *m, PtcText id, PtcText base)
{
    const PtcProvider *p = m->target.provider;
    PtcBuf *texts = &m->texts;
    size_t from = 0;
    if (!ptc_buf_reserve(texts, TEXTS_BYTES))
        return false;
    /* opening a model by this name gives the same model */
    ptc_buf_addf(texts, "%s:", p->name);
    if (base.bytes)
        ptc_buf_addf(texts, "%.*s|", PTC_ARG(base));
    ptc_buf_addf(texts, "%.*s", PTC_ARG(id));
    ptc_buf_add_char(texts, 0);
    m->model.name = texts->data;
    m->target.base = add_base(texts, m, base);
    from = texts->len;
    if (p->auth == PTC_AUTH_AWS)
        ptc_bedrock_add_model(texts, id, m->region);
    else
        ptc_buf_add(texts, id.bytes, id.len);
    if (!ptc_buf_ok(texts))
        return false;
    m->target.model = (PtcText){texts->data + from, texts->len - from};
    return true;
}

PtcModel *ptc_provider_model_new(const PtcProviderPlace *place, const PtcProvider *provider,
                                 PtcText id, PtcText base, bool with_key, PtcWhy *why)
{
    PtcUrl url;
    if (!is_model_id(id)) {
        ptc_why_say(why, PTC_WHY_INVALID,
                    "the id of a model is 1 to %d printable characters without blanks", ID_BYTES);
        return NULL;
    }
    if (base.bytes && !ptc_url_parse(base, &url, why)) {
        ptc_why_prefix(why, "the address of the endpoint ");
        return NULL;
    }
    Remote *m = ptc_mem_alloc(place->mem, sizeof *m);
    if (!m) {
        ptc_why_no_memory(why);
        return NULL;
    }
    PtcText region = ptc_provider_keys_get(place->keys, PTC_AWS_REGION);
    *m = (Remote){
        .model = {.ask = ask_remote_model,
                  .body = remote_body,
                  .free = remote_free,
                  .network = true},
        .place = place,
        .target = {.provider = provider},
        .region = region.bytes ? region : PTC_TEXT("eu-north-1"),
        .plain = base.bytes != NULL,
        .with_key = with_key,
    };
    ptc_buf_init(&m->texts, place->mem, TEXTS_BYTES);
    if (fill_model_texts(m, id, base))
        return &m->model;
    remote_free(&m->model);
    ptc_why_say(why, PTC_WHY_INVALID, "the name or the address of the model is too long");
    return NULL;
}
