/* SPDX-License-Identifier: MIT
 * The handshake.  `server/discover` is asked first; what comes back, silence, or the end of the process decides the era
 * (era_probe.h).  What always holds: of the two requests under way after a silence, the first result decides and the
 * other is forgotten. */
#include <stdio.h>

#include "json/members.h"
#include "mcp/client/link_task.h"
#include "net/jsonrpc.h"
#include "ptc/ptc.h"
#include "value/coll/map.h"

#define LEGACY_VERSION "2025-11-25"
#define MODERN_VERSION "2026-07-28"
#define HAND_META "io.modelcontextprotocol/"

enum { DETAIL = 500 }; /* bytes shown of what a server said */

static void send_initialize(PtcLink *l, const char *version);

static void set_era(PtcLink *l, PtcLinkEra era, PtcText version)
{
    pthread_mutex_lock(&l->lock);
    l->era = era;
    snprintf(l->version, sizeof l->version, "%.*s", PTC_ARG(version));
    pthread_mutex_unlock(&l->lock);
}

static void fail_handshake(PtcLink *l, const char *what, PtcText detail)
{
    PtcBuf why;
    ptc_buf_init(&why, l->mem, WHY_BYTES);
    ptc_buf_add_cstr(&why, what);
    if (detail.len) {
        ptc_buf_add_cstr(&why, ": ");
        ptc_buf_add(&why, detail.bytes, detail.len < DETAIL ? detail.len : DETAIL);
    }
    l->wire->explain(l, &why);
    ptc_link_down(l, ptc_buf_view(&why));
    ptc_buf_deinit(&why);
}

/* The reply is none that can be used. */
static void fail_reply(PtcLink *l, const char *what, const PtcLinkReply *reply)
{
    if (reply->end == PTC_LINK_NO_MEMORY || reply->text.failed)
        fail_handshake(l, "out of memory", (PtcText){NULL, 0});
    else
        fail_handshake(l, what, ptc_buf_view(&reply->text));
}

static void fail_auth(PtcLink *l, const PtcLinkReply *reply)
{
    PtcText challenge = reply->text.len ? ptc_buf_view(&reply->text) : PTC_TEXT("Bearer");
    ptc_buf_clear(&l->auth);
    ptc_buf_add(&l->auth, reply->own ? "" : challenge.bytes, reply->own ? 0 : challenge.len);
    l->refused = true;
    if (reply->own)
        ptc_link_down(l, challenge);
    else
        fail_handshake(l, "it wants authorization", challenge);
}

/* -------------------------------------------------------------------------- agreed */

/* What is passed on about the server, whichever era told it. */
static void keep_about(PtcLink *l, PtcText result)
{
    PtcBuf *out = &l->about;
    PtcText capabilities = ptc_members_get(result, "capabilities");
    PtcText instructions = ptc_members_get(result, "instructions");
    PtcText info = ptc_members_get(result, "serverInfo");
    if (!info.bytes)
        info = ptc_members_get(ptc_members_get(result, "_meta"), HAND_META "serverInfo");
    ptc_buf_clear(out);
    ptc_emit_object(out);
    if (ptc_members_is_object(info))
        ptc_emit_field_raw(out, "serverInfo", info);
    if (instructions.bytes && instructions.bytes[0] == '"')
        ptc_emit_field_raw(out, "instructions", instructions);
    ptc_emit_field_raw(out, "capabilities",
                       ptc_members_is_object(capabilities) ? capabilities : PTC_TEXT("{}"));
    ptc_emit_field_cstr(out, "version", l->version);
    ptc_emit_object_end(out);
    if (!ptc_buf_ok(out)) { /* too long to keep, and not needed to continue */
        ptc_buf_clear(out);
        ptc_buf_add_cstr(out, "{\"capabilities\":{}}");
    }
}

/* The stream of changes ended: with the connection it is asked for again. */
static void on_listen_end(PtcLinkAsk *ask, PtcLinkReply *reply)
{
    PtcLink *l = LINK_OF(ask, listen);
    l->listening = false;
    ask->id = 0;
    if (reply->end == PTC_LINK_ERROR)
        ptc_link_log(l, "it refused subscriptions/listen");
}

/* In the modern era only those who asked for changes are told about them. */
static void listen_for_changes(PtcLink *l)
{
    PtcText all = ptc_buf_view(&l->about), value;
    PtcText tools = ptc_members_get(ptc_members_get(all, "capabilities"), "tools");
    value = ptc_members_get(tools, "listChanged");
    if (!value.bytes || !ptc_text_is(value, "true"))
        return;
    l->listen = (PtcLinkAsk){.done = on_listen_end};
    l->listening = ptc_link_ask_inner(l, &l->listen, "subscriptions/listen",
                                      PTC_TEXT("{\"notifications\":{\"toolsListChanged\":true}}"));
}

static bool has_task_extension(PtcText about)
{
    PtcText all = ptc_members_get(ptc_members_get(about, "capabilities"), "extensions");
    return ptc_members_is_object(ptc_members_get(all, PTC_LINK_TASKS));
}

static void ready(PtcLink *l, PtcText result)
{
    bool modern = l->era == PTC_LINK_MODERN;
    keep_about(l, result);
    pthread_mutex_lock(&l->lock);
    l->offers_tasks = modern && has_task_extension(ptc_buf_view(&l->about));
    pthread_mutex_unlock(&l->lock);
    ptc_link_hand_stop(l);
    if (!modern)
        ptc_link_notify(l, "notifications/initialized", (PtcText){NULL, 0});
    l->wire->ready(l);
    if (modern)
        listen_for_changes(l);
    ptc_link_set_state(l, PTC_LINK_READY, PTC_TEXT(""));
}

/* --------------------------------------------------------------------------- probe */

static PtcEra era_of_reply(PtcLink *l, PtcLinkReply *reply)
{
    PtcLinkScratch s;
    if (reply->end == PTC_LINK_HTTP_FAULT)
        return reply->status >= 500 ? (PtcEra){PTC_ERA_FAIL, NULL, "upstream_unavailable"}
                                    : (PtcEra){PTC_ERA_INITIALIZE, NULL, NULL};
    ptc_link_scratch_init(&s, l);
    PtcValue v = ptc_link_scratch_value(&s, ptc_buf_view(&reply->text));
    bool is_error = reply->end == PTC_LINK_ERROR;
    if (v == PTC_NONE && s.heap.budget->stop == PTC_STOP_MEMORY)
        reply->end = PTC_LINK_NO_MEMORY;
    PtcEra era = v == PTC_NONE
                     ? (PtcEra){PTC_ERA_FAIL, NULL, "upstream_error"}
                     : ptc_era_of_answer(&s.heap, is_error ? PTC_NONE : v, is_error ? v : PTC_NONE);
    ptc_link_scratch_deinit(&s);
    return era;
}

static void send_probe(PtcLink *l);

/* An error of a modern server says its versions, but not what it can do: it is asked again where that may help. */
static void on_probe(PtcLinkAsk *ask, PtcLinkReply *reply)
{
    PtcLink *l = LINK_OF(ask, probe);
    l->probing = false;
    ask->id = 0;
    if (reply->end == PTC_LINK_AUTH) {
        fail_auth(l, reply);
        return;
    }
    if (reply->end != PTC_LINK_ANSWER && reply->end != PTC_LINK_ERROR &&
        reply->end != PTC_LINK_HTTP_FAULT) {
        if (!l->initializing)
            fail_reply(l, "no usable answer to server/discover", reply);
        return;
    }
    PtcEra era = era_of_reply(l, reply);
    if (era.step == PTC_ERA_MODERN && reply->end == PTC_LINK_ANSWER) {
        set_era(l, PTC_LINK_MODERN, ptc_text_cstr(era.version));
        ready(l, ptc_buf_view(&reply->text));
    } else if (era.step == PTC_ERA_MODERN && !l->reprobed) {
        l->reprobed = true; /* it is asked again, in the version that it says to know */
        send_probe(l);
    } else if (era.step == PTC_ERA_MODERN) {
        fail_handshake(l, "it refused server/discover", ptc_buf_view(&reply->text));
    } else if (era.step == PTC_ERA_INITIALIZE) {
        if (!l->initializing)
            send_initialize(l, era.version ? era.version : LEGACY_VERSION);
    } else if (!l->initializing) {
        fail_reply(l, "no usable answer to server/discover", reply);
    }
}

static void send_probe(PtcLink *l)
{
    set_era(l, PTC_LINK_MODERN, PTC_TEXT(MODERN_VERSION));
    l->probe = (PtcLinkAsk){.done = on_probe};
    l->probed = true;
    l->probing = ptc_link_ask_inner(l, &l->probe, "server/discover", (PtcText){NULL, 0});
    if (!l->probing)
        fail_handshake(l, "server/discover could not be sent", (PtcText){NULL, 0});
    else
        ptc_loop_set(l->loop, &l->hand_due, ptc_clock_ns(NULL) + PTC_ERA_SILENCE_MS * PTC_MS);
}

/* ---------------------------------------------------------------------- initialize */

static bool is_known_version(PtcText version)
{
    static const char *const known[] = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (version.bytes && ptc_text_is(version, known[i]))
            return true;
    return false;
}

/* Another process, or another way to the same server. */
static void open_again(PtcLink *l)
{
    PtcBuf why;
    ptc_link_hand_stop(l);
    l->wire->shut(l);
    ptc_buf_init(&why, l->mem, WHY_BYTES);
    if (l->wire->open(l, &why))
        ptc_link_hand_begin(l);
    else
        ptc_link_down(l, ptc_buf_view(&why));
    ptc_buf_deinit(&why);
}

/* When the probe failed before, both have: there is no third way. */
static void initialize_failed(PtcLink *l, PtcLinkReply *reply)
{
    if (l->probing)
        return;
    bool refused = reply->status >= 400 && reply->status < 500 && l->wire->other_way(l);
    if (refused)
        open_again(l);
    else if (!l->probed && (reply->end == PTC_LINK_ERROR || reply->end == PTC_LINK_HTTP_FAULT))
        send_probe(l);
    else
        fail_reply(l, "it refused initialize", reply);
}

static void on_initialize(PtcLinkAsk *ask, PtcLinkReply *reply)
{
    PtcLink *l = LINK_OF(ask, init);
    l->initializing = false;
    ask->id = 0;
    if (reply->end == PTC_LINK_AUTH) {
        fail_auth(l, reply);
        return;
    }
    if (reply->end != PTC_LINK_ANSWER) {
        initialize_failed(l, reply);
        return;
    }
    PtcText result = ptc_buf_view(&reply->text);
    PtcText version = ptc_members_plain(ptc_members_get(result, "protocolVersion"));
    if (!is_known_version(version)) {
        fail_handshake(l, "it speaks a version that this client does not know", version);
        return;
    }
    set_era(l, PTC_LINK_LEGACY, version);
    ready(l, result);
}

bool ptc_link_hand_params(PtcLink *l, PtcBuf *out, const char *version)
{
    ptc_emit_object(out);
    ptc_emit_field_cstr(out, "protocolVersion", version);
    ptc_emit_field_raw(out, "capabilities", l->config.capabilities);
    ptc_emit_key(out, "clientInfo");
    return ptc_buf_add_cstr(out, "{\"name\":\"ptc\",\"version\":\"" PTC_VERSION "\"}}");
}

static void send_initialize(PtcLink *l, const char *version)
{
    PtcBuf params;
    set_era(l, PTC_LINK_LEGACY, ptc_text_cstr(version));
    ptc_buf_init(&params, l->mem, PTC_UNBOUNDED);
    l->init = (PtcLinkAsk){.done = on_initialize};
    l->initializing = ptc_link_hand_params(l, &params, version) &&
                      ptc_link_ask_inner(l, &l->init, "initialize", ptc_buf_view(&params));
    ptc_buf_deinit(&params);
    if (!l->initializing)
        fail_handshake(l, "initialize could not be sent", (PtcText){NULL, 0});
    else
        ptc_loop_set(l->loop, &l->hand_due, l->hand_end_ns);
}

/* ---------------------------------------------------------------------------- life */

/* A version of an earlier connection is good enough to begin with. */
static const char *first_version(const PtcLink *l)
{
    return l->config.era == PTC_LINK_LEGACY && is_known_version(l->config.version)
               ? l->config.version.bytes
               : LEGACY_VERSION;
}

void ptc_link_hand_begin(PtcLink *l)
{
    if (l->config.era == PTC_LINK_LEGACY || l->respawned || ptc_http_wire_is_sse(l))
        send_initialize(l, first_version(l));
    else
        send_probe(l);
}

void ptc_link_hand_stop(PtcLink *l)
{
    ptc_loop_unset(&l->hand_due);
    if (l->probing)
        ptc_link_drop_ask(l, &l->probe);
    if (l->initializing)
        ptc_link_drop_ask(l, &l->init);
    if (l->listening)
        ptc_link_drop_ask(l, &l->listen);
    l->probing = l->initializing = l->listening = false;
}

bool ptc_link_hand_again(PtcLink *l)
{
    if (!l->probing || l->initializing || l->respawned || l->state != PTC_LINK_CONNECTING)
        return false;
    l->respawned = true;
    open_again(l);
    return true;
}

/* Silence after the probe: the other way is tried as well.  Later: it took too long. */
void ptc_link_hand_due(PtcLoopTimer *timer)
{
    PtcLink *l = LINK_OF(timer, hand_due);
    if (l->probing && !l->initializing && ptc_clock_ns(NULL) < l->hand_end_ns)
        send_initialize(l, LEGACY_VERSION);
    else if (ptc_clock_ns(NULL) < l->hand_end_ns)
        ptc_loop_set(l->loop, timer, l->hand_end_ns);
    else
        fail_handshake(l, "the handshake took too long", (PtcText){NULL, 0});
}
