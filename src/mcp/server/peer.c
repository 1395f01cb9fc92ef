/* SPDX-License-Identifier: MIT
 * A client for as long as its connection lasts: which of its requests are under way, and which of our questions it
 * has yet to answer.  What always holds: among the requests under way no two have the same id. */
#include <time.h>

#include "base/ascii.h"
#include "base/os/cond.h"

#include "mcp/server/mcp_int.h"

PtcMcpPeer *ptc_mcp_peer_new(PtcMcp *mcp, PtcMcpSink sink)
{
    PtcMcpPeer *peer = ptc_mem_alloc(&mcp->mem, sizeof *peer);
    if (!peer)
        return NULL;
    memset(peer, 0, sizeof *peer);
    peer->mcp = mcp;
    peer->sink = sink;
    peer->level = PTC_MCP_INFO;
    pthread_mutex_init(&peer->lock, NULL);
    ptc_cond_init(&peer->answered);
    ptc_buf_init(&peer->uris.text, &mcp->mem, PTC_UNBOUNDED);
    pthread_mutex_lock(&mcp->lock);
    peer->next = mcp->peers;
    if (mcp->peers)
        mcp->peers->prev = peer;
    mcp->peers = peer;
    pthread_mutex_unlock(&mcp->lock);
    return peer;
}

void ptc_mcp_peer_set_sink(PtcMcpPeer *peer, PtcMcpSink sink)
{
    pthread_mutex_lock(&peer->lock);
    peer->sink = sink;
    pthread_mutex_unlock(&peer->lock);
}

void ptc_mcp_peer_wake(PtcMcpPeer *peer)
{
    pthread_mutex_lock(&peer->lock);
    pthread_cond_broadcast(&peer->answered);
    pthread_mutex_unlock(&peer->lock);
}

/* Listening calls are not cancelled: ptc_mcp_peer_free tells their clients of a graceful end. */
void ptc_mcp_peer_close(PtcMcpPeer *peer)
{
    pthread_mutex_lock(&peer->lock);
    peer->closed = true;
    for (PtcMcpCall *call = peer->calls; call; call = call->next_call)
        if (!call->listening)
            ptc_mcp_set_cancelled(call);
    pthread_cond_broadcast(&peer->answered);
    pthread_mutex_unlock(&peer->lock);
}

void ptc_mcp_peer_free(PtcMcpPeer *peer)
{
    if (!peer)
        return;
    for (PtcMcpCall *call = peer->calls, *next; call; call = next) {
        next = call->next_call;
        ptc_mcp_listen_end(call);
        ptc_mcp_call_free(call);
    }
    PtcMcp *mcp = peer->mcp;
    pthread_mutex_lock(&mcp->lock);
    *(peer->prev ? &peer->prev->next : &mcp->peers) = peer->next;
    if (peer->next)
        peer->next->prev = peer->prev;
    pthread_mutex_unlock(&mcp->lock);
    ptc_buf_deinit(&peer->uris.text);
    pthread_cond_destroy(&peer->answered);
    pthread_mutex_destroy(&peer->lock);
    ptc_mem_free(&mcp->mem, peer, sizeof *peer);
}

/* ------------------------------------------------------------------------- as bytes */

/* "ptc-peer 1 CAN LEVEL COUNT", a line end, and the URIs it is subscribed to, each ending in NUL. */
static const char SAVED[] = "ptc-peer 1 ";

bool ptc_mcp_peer_save(PtcMcpPeer *peer, PtcBuf *out)
{
    pthread_mutex_lock(&peer->lock);
    bool ok =
        ptc_buf_addf(out, "%s%u %d %zu\n", SAVED, peer->can, (int)peer->level, peer->uris.count) &&
        ptc_buf_add(out, peer->uris.text.data, peer->uris.text.len);
    pthread_mutex_unlock(&peer->lock);
    return ok;
}

/* The number before `end`; false: there is none, or it is over `most`. */
static bool take_peer_number(PtcText *text, char end, unsigned most, unsigned *n)
{
    size_t i = 0;
    for (*n = 0; i < text->len && i < 6 && ptc_ascii_is_digit(text->bytes[i]); i++)
        *n = *n * 10 + (unsigned)(text->bytes[i] - '0');
    if (i == 0 || i == text->len || text->bytes[i] != end || *n > most)
        return false;
    *text = (PtcText){text->bytes + i + 1, text->len - i - 1};
    return true;
}

static bool restore(PtcMcpPeer *peer, PtcText text)
{
    unsigned can, level, count;
    if (!ptc_text_starts(text, SAVED))
        return false;
    text = (PtcText){text.bytes + sizeof SAVED - 1, text.len - (sizeof SAVED - 1)};
    if (!take_peer_number(&text, ' ', PTC_MCP_CAN_ALL, &can) ||
        !take_peer_number(&text, ' ', PTC_MCP_NO_LOG, &level) ||
        !take_peer_number(&text, '\n', PTC_MCP_MAX_URIS, &count))
        return false;
    for (unsigned i = 0; i < count; i++) {
        const char *end = memchr(text.bytes, 0, text.len);
        size_t len = end ? (size_t)(end - text.bytes) : 0;
        if (!end || !ptc_mcp_uris_add(&peer->uris, (PtcText){text.bytes, len}))
            return false;
        text = (PtcText){end + 1, text.len - len - 1};
    }
    peer->can = can;
    peer->level = (PtcMcpLevel)level;
    peer->initialized = true;
    return text.len == 0;
}

PtcMcpPeer *ptc_mcp_peer_restore(PtcMcp *mcp, PtcText bytes)
{
    PtcMcpPeer *peer = ptc_mcp_peer_new(mcp, (PtcMcpSink){NULL, NULL});
    if (peer && !restore(peer, bytes)) {
        ptc_mcp_peer_free(peer);
        peer = NULL;
    }
    return peer;
}

/* ------------------------------------------------------------------------ calls by id */

/* The caller holds the lock. */
static PtcMcpCall *find_call(const PtcMcpPeer *peer, const PtcBuf *id)
{
    for (PtcMcpCall *call = peer->calls; call; call = call->next_call)
        if (call->id.len == id->len && memcmp(call->id.data, id->data, id->len) == 0)
            return call;
    return NULL;
}

static void link_call(PtcMcpPeer *peer, PtcMcpCall *call)
{
    call->next_call = peer->calls;
    if (peer->calls)
        peer->calls->prev = call;
    peer->calls = call;
    call->registered = true;
}

static void unlink_peer_call(PtcMcpPeer *peer, PtcMcpCall *call)
{
    *(call->prev ? &call->prev->next_call : &peer->calls) = call->next_call;
    if (call->next_call)
        call->next_call->prev = call->prev;
    call->prev = call->next_call = NULL;
    call->registered = false;
}

/* The id is what a cancellation names, so two requests under way cannot share one. */
bool ptc_mcp_register(PtcMcpCall *call)
{
    PtcMcpPeer *peer = call->peer;
    if (!peer)
        return true;
    pthread_mutex_lock(&peer->lock);
    bool closed = peer->closed;
    bool taken = find_call(peer, &call->id) != NULL;
    if (!closed && !taken)
        link_call(peer, call);
    pthread_mutex_unlock(&peer->lock);
    PtcText id = ptc_text_cut((PtcText){call->id.data, call->id.len}, 60);
    if (closed)
        ptc_mcp_refuse(call, 404, PTC_MCP_INVALID_REQUEST, NULL, "the connection is closing");
    else if (taken)
        ptc_mcp_refuse(call, 400, PTC_MCP_INVALID_REQUEST, NULL,
                       "the id %.*s belongs to a request that is still under way", PTC_ARG(id));
    return !closed && !taken;
}

void ptc_mcp_unregister(PtcMcpCall *call)
{
    if (!call->registered)
        return;
    pthread_mutex_lock(&call->peer->lock);
    unlink_peer_call(call->peer, call);
    pthread_mutex_unlock(&call->peer->lock);
}

void ptc_mcp_cancel_id(PtcMcpPeer *peer, const PtcBuf *id)
{
    pthread_mutex_lock(&peer->lock);
    PtcMcpCall *call = find_call(peer, id);
    bool listening = call && call->listening;
    if (call)
        ptc_mcp_set_cancelled(call);
    if (listening)
        unlink_peer_call(peer, call);
    pthread_cond_broadcast(&peer->answered);
    pthread_mutex_unlock(&peer->lock);
    if (listening) /* it belonged to the peer; see ptc_mcp_listen */
        ptc_mcp_call_free(call);
}

/* --------------------------------------------------------------------- our questions */

/* Our ids are "ptc-N"; 0: it is not one of ours. */
static uint64_t question_number(PtcValue id)
{
    PtcText text = ptc_str_text(id);
    uint64_t n = 0;
    if (text.len < 5 || text.len > 4 + 18 || memcmp(text.bytes, "ptc-", 4) != 0)
        return 0;
    for (size_t i = 4; i < text.len; i++) {
        if (!ptc_ascii_is_digit(text.bytes[i]))
            return 0;
        n = n * 10 + (uint64_t)(text.bytes[i] - '0');
    }
    return n;
}

/* An answer to no question of ours is ignored. */
void ptc_mcp_reply(PtcMcpPeer *peer, PtcValue id, const char *text, size_t len)
{
    uint64_t number = question_number(id);
    pthread_mutex_lock(&peer->lock);
    for (PtcMcpQuestion *q = peer->questions; q; q = q->next)
        if (q->number == number && !q->answered) {
            (void)!ptc_buf_add(&q->reply, text, len); /* out of memory: an empty reply, a failure */
            q->answered = true;
            pthread_cond_broadcast(&peer->answered);
        }
    pthread_mutex_unlock(&peer->lock);
}
