/* SPDX-License-Identifier: MIT
 * What a client hears apart from answers: progress, log messages, changes of lists and resources.  What always
 * holds: nothing is sent for a call after it was cancelled or finished. */
#include <math.h>
#include <stdio.h>

#include "base/utf8.h"
#include "mcp/server/task_record.h"
#include "value/coll/vec.h"

bool ptc_mcp_call_send(PtcMcpCall *call, const PtcBuf *message)
{
    bool sent = false;
    if (call->work)
        return ptc_mcp_work_send(call->work, message);
    if (!call->sink.send)
        return false;
    /* With the lock held, so that nothing follows a cancellation. */
    pthread_mutex_lock(&call->lock);
    if (!atomic_load(&call->cancel.asked) && !call->finished)
        sent = call->sink.send(call->sink.user, message->data, message->len);
    pthread_mutex_unlock(&call->lock);
    return sent;
}

/* ------------------------------------------------------------------- progress and log */

/* Whole numbers are written without a point, as counts are. */
static void add_progress_number(PtcBuf *out, const char *key, double d)
{
    ptc_emit_key(out, key);
    if (d == floor(d) && fabs(d) < 1e15)
        ptc_emit_int(out, (int64_t)d);
    else
        ptc_emit_double(out, d);
}

/* Begins a notification, up to the members of its params. */
static void begin_note(PtcBuf *out, const char *method)
{
    ptc_buf_clear(out);
    ptc_rpc_begin_notification(out, method);
    ptc_emit_key(out, "params");
    ptc_emit_object(out);
}

/* Ends it and sends it where the call's messages go; false: not sent. */
static bool end_note(PtcMcpCall *call, PtcBuf *out)
{
    ptc_emit_object_end(out);
    return ptc_emit_object_end(out) && ptc_mcp_call_send(call, out);
}

bool ptc_mcp_wants_progress(const PtcMcpCall *call)
{
    return call->token.len > 0 || call->work;
}

/* Progress that does not grow would be a breach of the protocol, so it is not sent. */
void ptc_mcp_progress(PtcMcpCall *call, double progress, double total, const char *message)
{
    if (!ptc_mcp_wants_progress(call) || !isfinite(progress) ||
        (call->progressed && progress <= call->progress))
        return;
    call->progressed = true;
    call->progress = progress;
    if (call->work && message && ptc_utf8_valid(message, strlen(message)))
        ptc_mcp_work_note(call->work, message);
    if (!call->token.len)
        return;
    PtcBuf *out = &call->scratch;
    begin_note(out, "notifications/progress");
    ptc_emit_field_raw(out, "progressToken", ptc_buf_view(&call->token));
    add_progress_number(out, "progress", progress);
    if (isfinite(total) && total >= 0)
        add_progress_number(out, "total", total);
    if (message && ptc_utf8_valid(message, strlen(message)))
        ptc_emit_field_cstr(out, "message", message);
    (void)!end_note(call, out);
}

void ptc_mcp_log(PtcMcpCall *call, PtcMcpLevel level, const char *logger, const char *bytes,
                 size_t len)
{
    if (level >= PTC_MCP_NO_LOG || level < call->level || !call->mcp->config.logging ||
        !ptc_utf8_valid(bytes, len))
        return;
    PtcBuf *out = &call->scratch;
    begin_note(out, "notifications/message");
    ptc_emit_field_cstr(out, "level", ptc_mcp_level_name(level));
    if (logger && ptc_utf8_valid(logger, strlen(logger)))
        ptc_emit_field_cstr(out, "logger", logger);
    ptc_emit_field_text(out, "data", (PtcText){bytes ? bytes : "", len});
    (void)!end_note(call, out);
}

/* -------------------------------------------------------------------------------- URIs */

/* Where the URI is in the text; NULL: it is not there. */
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

static bool mcp_uris_has(const PtcMcpUris *uris, PtcText uri)
{
    return uris->count && find_uri(uris, uri);
}

/* A URI with a NUL could not be told from two, so it is refused. */
bool ptc_mcp_uris_add(PtcMcpUris *uris, PtcText uri)
{
    if (mcp_uris_has(uris, uri))
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

static bool is_wanted_change(PtcMcpCall *call, PtcValue filter, const char *name, bool *bad)
{
    PtcValue v = ptc_map_field(&call->heap, filter, name);
    *bad = *bad || (v != PTC_NONE && !ptc_is_bool(v));
    return v == PTC_TRUE;
}

/* Ticks, because the list comes from a client and each URI is compared with those before it. */
static bool take_uris(PtcMcpCall *call, PtcValue list)
{
    if (list == PTC_NONE)
        return true;
    bool ok = ptc_is_sequential(list);
    for (size_t i = 0; ok && i < ptc_seq_count(list); i++) {
        PtcText uri = ptc_str_text(ptc_seq_nth(list, i));
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
    PtcValue filter = ptc_map_field(&call->heap, call->params, "notifications");
    bool bad = filter == PTC_NONE || !ptc_is_map(filter);
    for (unsigned i = 0; i < 3; i++)
        if (is_wanted_change(call, filter, names[i], &bad) && c->list_changed && has[i])
            call->wants |= 1u << i;
    PtcValue ids = bad ? PTC_NONE : ptc_map_field(&call->heap, filter, "taskIds");
    if (ids != PTC_NONE && c->book && !ptc_mcp_take_task_ids(call, ids))
        return;
    if (bad || !take_uris(call, ptc_map_field(&call->heap, filter, "resourceSubscriptions"))) {
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

/* Which subscription this is for: "_meta":{...} */
static void add_subscription(PtcMcpCall *call, PtcBuf *out)
{
    ptc_emit_key(out, "_meta");
    ptc_emit_object(out);
    ptc_emit_field_raw(out, PTC_MCP_META "subscriptionId", ptc_mcp_id_of(call));
    ptc_emit_object_end(out);
}

static void add_uris(const PtcMcpUris *uris, const char *key, PtcBuf *out)
{
    const char *end = uris->text.data + uris->text.len;
    ptc_emit_key(out, key);
    ptc_emit_array(out);
    for (const char *p = uris->text.data; p < end; p += strlen(p) + 1)
        ptc_emit_cstr(out, p);
    ptc_emit_array_end(out);
}

static bool acknowledge(PtcMcpCall *call)
{
    static const char *const names[] = {"toolsListChanged", "promptsListChanged",
                                        "resourcesListChanged"};
    PtcBuf *out = &call->scratch;
    begin_note(out, "notifications/subscriptions/acknowledged");
    add_subscription(call, out);
    ptc_emit_key(out, "notifications");
    ptc_emit_object(out);
    for (unsigned i = 0; i < 3; i++)
        if (call->wants >> i & 1)
            ptc_emit_field_bool(out, names[i], true);
    if (call->uris.count)
        add_uris(&call->uris, "resourceSubscriptions", out);
    if (call->tasks.count)
        add_uris(&call->tasks, "taskIds", out);
    ptc_emit_object_end(out);
    return end_note(call, out);
}

bool ptc_mcp_listen(PtcMcpCall *call)
{
    PtcMcp *mcp = call->mcp;
    if (call->next != PTC_MCP_LISTEN)
        return false;
    /* Under the lock, so that no change is sent before the acknowledgement and none is missed after it. */
    pthread_mutex_lock(&mcp->lock);
    bool ok = acknowledge(call);
    if (ok) {
        call->listed = true;
        call->listen_next = mcp->listeners;
        if (mcp->listeners)
            mcp->listeners->listen_prev = call;
        mcp->listeners = call;
    }
    call->listening = ok;
    bool tasks = ok && call->tasks.count;
    pthread_mutex_unlock(&mcp->lock);
    if (tasks)
        ptc_mcp_mind_wake(mcp);
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

/* Off the list first, so that nothing is sent after the closing message. */
void ptc_mcp_listen_end(PtcMcpCall *call)
{
    ptc_mcp_unlist(call);
    PtcBuf *out = &call->scratch;
    ptc_buf_clear(out);
    ptc_rpc_begin_result(out, ptc_mcp_id_of(call));
    ptc_emit_object(out);
    ptc_emit_field_cstr(out, "resultType", "complete");
    add_subscription(call, out);
    (void)!end_note(call, out);
}

void ptc_mcp_tell_task(PtcMcpCall *call, const char *id, const PtcMcpTask *task, PtcBuf *out)
{
    begin_note(out, "notifications/tasks");
    add_subscription(call, out);
    ptc_mcp_task_emit(out, id, task, true);
    (void)!end_note(call, out);
}

/* ----------------------------------------------------------------------------- changes */

/* What changed: a list, or (uri) a resource. */
typedef struct {
    const char *method;
    unsigned wants;
    PtcText uri;
} Change;

static void tell_listener(PtcMcpCall *call, const Change *change, PtcBuf *out)
{
    if (!(change->uri.bytes ? mcp_uris_has(&call->uris, change->uri)
                            : (call->wants & change->wants) != 0))
        return;
    begin_note(out, change->method);
    add_subscription(call, out);
    if (change->uri.bytes)
        ptc_emit_field_text(out, "uri", change->uri);
    (void)!end_note(call, out);
}

/* A client that has not finished the handshake must not be sent anything. */
static void tell_peer(PtcMcpPeer *peer, const Change *change, PtcBuf *out)
{
    ptc_buf_clear(out);
    ptc_rpc_begin_notification(out, change->method);
    if (change->uri.bytes) {
        ptc_emit_key(out, "params");
        ptc_emit_object(out);
        ptc_emit_field_text(out, "uri", change->uri);
        ptc_emit_object_end(out);
    }
    bool ok = ptc_emit_object_end(out);
    pthread_mutex_lock(&peer->lock);
    bool wants = !change->uri.bytes || mcp_uris_has(&peer->uris, change->uri);
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
    static const char *const methods[] = {"notifications/tools/list_changed",
                                          "notifications/prompts/list_changed",
                                          "notifications/resources/list_changed"};
    if (mcp->config.list_changed)
        tell_all(mcp, &(Change){methods[kind], 1u << kind, {NULL, 0}});
}

void ptc_mcp_resource_updated(PtcMcp *mcp, const char *uri)
{
    if (mcp->config.resource_updates && ptc_utf8_valid(uri, strlen(uri)))
        tell_all(mcp, &(Change){"notifications/resources/updated", 0, {uri, strlen(uri)}});
}
