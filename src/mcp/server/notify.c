/* SPDX-License-Identifier: MIT
 * What a client hears beside answers: progress, log, changes of lists and resources. */
#include <math.h>
#include <stdio.h>

#include "base/utf8.h"
#include "json/write.h"
#include "mcp/server/mcp_int.h"
#include "value/number.h"
#include "value/vec.h"

bool ptc_mcp_call_send(PtcMcpCall *call, const PtcBuf *message)
{
    bool sent = false;
    if (!call->sink.send)
        return false;
    /* The lock makes sure that nothing follows a cancellation. */
    pthread_mutex_lock(&call->lock);
    if (!atomic_load(&call->cancel.asked) && !call->finished)
        sent = call->sink.send(call->sink.user, message->data, message->len);
    pthread_mutex_unlock(&call->lock);
    return sent;
}

/* ------------------------------------------------------------------- progress and log */

static void add_number(PtcBuf *out, double d)
{
    char text[PTC_DOUBLE_TEXT];
    if (d == floor(d) && fabs(d) < 1e15)
        ptc_buf_addf(out, "%.0f", d);
    else
        ptc_buf_add(out, text, ptc_double_json(d, text));
}

void ptc_mcp_progress(PtcMcpCall *call, double progress, double total, const char *message)
{
    PtcBuf *out = &call->scratch;
    if (!call->token.len || !isfinite(progress) || (call->progressed && progress <= call->progress))
        return;
    call->progressed = true;
    call->progress = progress;
    ptc_buf_clear(out);
    ptc_buf_add_cstr(out, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":"
                          "{\"progressToken\":");
    ptc_buf_add(out, call->token.data, call->token.len);
    ptc_buf_add_cstr(out, ",\"progress\":");
    add_number(out, progress);
    if (isfinite(total) && total >= 0) {
        ptc_buf_add_cstr(out, ",\"total\":");
        add_number(out, total);
    }
    if (message && ptc_utf8_valid(message, strlen(message))) {
        ptc_buf_add_cstr(out, ",\"message\":");
        ptc_json_write_string(out, message, strlen(message));
    }
    if (ptc_buf_add_cstr(out, "}}"))
        (void)!ptc_mcp_call_send(call, out);
}

void ptc_mcp_log(PtcMcpCall *call, PtcMcpLevel level, const char *logger, const char *bytes,
                 size_t len)
{
    PtcBuf *out = &call->scratch;
    if (level >= PTC_MCP_NO_LOG || level < call->level || !call->mcp->config.logging ||
        !ptc_utf8_valid(bytes, len))
        return;
    ptc_buf_clear(out);
    ptc_buf_addf(out,
                 "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":"
                 "{\"level\":\"%s\"",
                 ptc_mcp_level_name(level));
    if (logger && ptc_utf8_valid(logger, strlen(logger))) {
        ptc_buf_add_cstr(out, ",\"logger\":");
        ptc_json_write_string(out, logger, strlen(logger));
    }
    ptc_buf_add_cstr(out, ",\"data\":");
    ptc_json_write_string(out, bytes, len);
    if (ptc_buf_add_cstr(out, "}}"))
        (void)!ptc_mcp_call_send(call, out);
}

/* -------------------------------------------------------------------------------- URIs */

/* Where the URI is in the text; NULL: it is not. */
static char *find_uri(const PtcMcpUris *uris, PtcText uri)
{
    char *p = uris->text.data, *end = p + uris->text.len;
    while (p < end) {
        size_t n = strlen(p);
        if (n == uri.len && memcmp(p, uri.bytes, n) == 0)
            return p;
        p += n + 1;
    }
    return NULL;
}

bool ptc_mcp_uris_has(const PtcMcpUris *uris, PtcText uri)
{
    return uris->count && find_uri(uris, uri);
}

bool ptc_mcp_uris_add(PtcMcpUris *uris, PtcText uri)
{
    if (ptc_mcp_uris_has(uris, uri))
        return true;
    size_t before = uris->text.len;
    if (uris->count == PTC_MCP_MAX_URIS || uri.len > PTC_MCP_MAX_URI_BYTES ||
        memchr(uri.bytes, 0, uri.len))
        return false;
    if (!ptc_buf_add(&uris->text, uri.bytes, uri.len) || !ptc_buf_add_char(&uris->text, 0)) {
        ptc_buf_clear(&uris->text);
        uris->text.len = before;
        return false;
    }
    uris->count++;
    return true;
}

void ptc_mcp_uris_remove(PtcMcpUris *uris, PtcText uri)
{
    char *p = uris->count ? find_uri(uris, uri) : NULL;
    if (!p)
        return;
    char *after = p + uri.len + 1;
    memmove(p, after, (size_t)(uris->text.data + uris->text.len - after));
    uris->text.len -= uri.len + 1;
    uris->count--;
}

/* -------------------------------------------------------------------------- listening */

static bool wanted(PtcMcpCall *call, PtcValue filter, const char *name, bool *bad)
{
    PtcValue v = ptc_mcp_field(call, filter, name);
    *bad = *bad || (v != PTC_NONE && !ptc_is_bool(v));
    return v == PTC_TRUE;
}

static bool take_uris(PtcMcpCall *call, PtcValue list)
{
    if (list == PTC_NONE)
        return true;
    bool ok = ptc_is_sequential(list);
    for (size_t i = 0; ok && i < ptc_seq_count(list); i++) {
        PtcText uri = ptc_mcp_text_of(ptc_seq_nth(list, i));
        ok = uri.bytes && ptc_tick(&call->budget, 1000) && ptc_mcp_uris_add(&call->uris, uri);
    }
    if (!call->mcp->config.resource_updates)
        call->uris.count = call->uris.text.len = 0;
    return ok;
}

void ptc_mcp_do_listen(PtcMcpCall *call)
{
    static const char *const names[] = {"toolsListChanged", "promptsListChanged",
                                        "resourcesListChanged"};
    const PtcMcpConfig *c = &call->mcp->config;
    bool has[] = {c->tool_count > 0, c->prompt_count > 0, c->resource_count || c->template_count};
    PtcValue filter = ptc_mcp_field(call, call->params, "notifications");
    bool bad = filter == PTC_NONE || !ptc_is_map(filter);
    for (unsigned i = 0; i < 3; i++)
        if (wanted(call, filter, names[i], &bad) && c->list_changed && has[i])
            call->wants |= 1u << i;
    if (bad || !take_uris(call, ptc_mcp_field(call, filter, "resourceSubscriptions"))) {
        ptc_mcp_refuse(
            call, 200, PTC_MCP_INVALID_PARAMS, NULL,
            "\"notifications\" must be an object of toolsListChanged, promptsListChanged,"
            " resourcesListChanged (booleans) and resourceSubscriptions (up to %d URIs)",
            PTC_MCP_MAX_URIS);
        return;
    }
    call->next = PTC_MCP_LISTEN;
    call->status = 200;
}

/* {"jsonrpc":"2.0","method":METHOD,"params":{"_meta":{subscription id} -- open. */
static void begin_tagged(PtcMcpCall *call, PtcBuf *out, const char *method)
{
    ptc_buf_clear(out);
    ptc_buf_addf(out, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/%s\",\"params\":", method);
    ptc_buf_add_cstr(out, "{\"_meta\":{\"" PTC_MCP_META "subscriptionId\":");
    ptc_buf_add(out, call->id.data, call->id.len);
    ptc_buf_add_char(out, '}');
}

static bool acknowledge(PtcMcpCall *call)
{
    static const char *const names[] = {"toolsListChanged", "promptsListChanged",
                                        "resourcesListChanged"};
    PtcBuf *out = &call->scratch;
    const char *comma = "";
    begin_tagged(call, out, "subscriptions/acknowledged");
    ptc_buf_add_cstr(out, ",\"notifications\":{");
    for (unsigned i = 0; i < 3; i++)
        if (call->wants >> i & 1) {
            ptc_buf_addf(out, "%s\"%s\":true", comma, names[i]);
            comma = ",";
        }
    if (call->uris.count) {
        ptc_buf_addf(out, "%s\"resourceSubscriptions\":[", comma);
        for (const char *p = call->uris.text.data; p < call->uris.text.data + call->uris.text.len;
             p += strlen(p) + 1) {
            if (p > call->uris.text.data)
                ptc_buf_add_char(out, ',');
            ptc_json_write_string(out, p, strlen(p));
        }
        ptc_buf_add_char(out, ']');
    }
    return ptc_buf_add_cstr(out, "}}}") && ptc_mcp_call_send(call, out);
}

bool ptc_mcp_listen(PtcMcpCall *call)
{
    PtcMcp *mcp = call->mcp;
    if (call->next != PTC_MCP_LISTEN)
        return false;
    /* Under the lock, so that no change comes before the acknowledgement and none after it is missed. */
    pthread_mutex_lock(&mcp->lock);
    bool ok = acknowledge(call);
    if (ok) {
        call->listed = true;
        call->listen_next = mcp->listeners;
        if (mcp->listeners)
            mcp->listeners->listen_prev = call;
        mcp->listeners = call;
    }
    pthread_mutex_unlock(&mcp->lock);
    call->listening = ok;
    return ok;
}

void ptc_mcp_unlist(PtcMcpCall *call)
{
    if (!call->listed)
        return;
    pthread_mutex_lock(&call->mcp->lock);
    *(call->listen_prev ? &call->listen_prev->listen_next : &call->mcp->listeners) =
        call->listen_next;
    if (call->listen_next)
        call->listen_next->listen_prev = call->listen_prev;
    call->listed = false;
    pthread_mutex_unlock(&call->mcp->lock);
}

void ptc_mcp_listen_end(PtcMcpCall *call)
{
    ptc_mcp_unlist(call);
    PtcBuf *out = &call->scratch;
    ptc_buf_clear(out);
    ptc_buf_add_cstr(out, "{\"jsonrpc\":\"2.0\",\"id\":");
    ptc_buf_add(out, call->id.data, call->id.len);
    ptc_buf_add_cstr(out, ",\"result\":{\"resultType\":\"complete\",\"_meta\":{\"" PTC_MCP_META
                          "subscriptionId\":");
    ptc_buf_add(out, call->id.data, call->id.len);
    if (ptc_buf_add_cstr(out, "}}}"))
        (void)!ptc_mcp_call_send(call, out);
}

/* ----------------------------------------------------------------------------- changes */

/* What changed: a list, or (uri) a resource. */
typedef struct {
    const char *method;
    unsigned wants;
    PtcText uri;
} Change;

static void add_uri(PtcBuf *out, PtcText uri)
{
    ptc_buf_add_cstr(out, "\"uri\":");
    ptc_json_write_string(out, uri.bytes, uri.len);
}

static void tell_listener(PtcMcpCall *call, const Change *change, PtcBuf *out)
{
    if (!(change->uri.bytes ? ptc_mcp_uris_has(&call->uris, change->uri)
                            : (call->wants & change->wants) != 0))
        return;
    begin_tagged(call, out, change->method);
    if (change->uri.bytes) {
        ptc_buf_add_char(out, ',');
        add_uri(out, change->uri);
    }
    if (ptc_buf_add_cstr(out, "}}"))
        (void)!ptc_mcp_call_send(call, out);
}

static void tell_peer(PtcMcpPeer *peer, const Change *change, PtcBuf *out)
{
    ptc_buf_clear(out);
    ptc_buf_addf(out, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/%s\"", change->method);
    if (change->uri.bytes) {
        ptc_buf_add_cstr(out, ",\"params\":{");
        add_uri(out, change->uri);
        ptc_buf_add_char(out, '}');
    }
    bool ok = ptc_buf_add_char(out, '}');
    pthread_mutex_lock(&peer->lock);
    bool wants = !change->uri.bytes || ptc_mcp_uris_has(&peer->uris, change->uri);
    if (ok && wants && peer->initialized && !peer->closed && peer->sink.send)
        (void)!peer->sink.send(peer->sink.user, out->data, out->len);
    pthread_mutex_unlock(&peer->lock);
}

static void tell_all(PtcMcp *mcp, const Change *change)
{
    PtcBuf out;
    ptc_buf_init(&out, &mcp->mem, mcp->config.max_answer_bytes);
    pthread_mutex_lock(&mcp->lock);
    for (PtcMcpCall *call = mcp->listeners; call; call = call->listen_next)
        tell_listener(call, change, &out);
    for (PtcMcpPeer *peer = mcp->peers; peer; peer = peer->next)
        tell_peer(peer, change, &out);
    pthread_mutex_unlock(&mcp->lock);
    ptc_buf_deinit(&out);
}

void ptc_mcp_list_changed(PtcMcp *mcp, PtcMcpListKind kind)
{
    static const char *const methods[] = {"tools/list_changed", "prompts/list_changed",
                                          "resources/list_changed"};
    if (mcp->config.list_changed)
        tell_all(mcp, &(Change){methods[kind], 1u << kind, {NULL, 0}});
}

void ptc_mcp_resource_updated(PtcMcp *mcp, const char *uri)
{
    if (mcp->config.resource_updates && ptc_utf8_valid(uri, strlen(uri)))
        tell_all(mcp, &(Change){"resources/updated", 0, {uri, strlen(uri)}});
}
