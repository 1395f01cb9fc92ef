/* SPDX-License-Identifier: MIT
 * fuzz_upstream_messages.c - what a server sends to a link: lines of stdio, or an event stream in pieces (first byte,
 * lowest bit; the other bits say which allocation fails).  An ask with progress, a listing and a handshake wait for
 * answers 1 to 3. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "json/check.h"
#include "mcp/client/link_int.h"
#include "net/sse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t ends;

static const char *drop(PtcLink *link, const Outgoing *out)
{
    (void)link;
    assert(!ptc_buf_ok(out->text) || ptc_json_is_line(out->text->data, out->text->len));
    return NULL;
}

static void forget(PtcLink *link, PtcLinkAsk *ask)
{
    (void)link;
    (void)ask;
}

static const Wire nowhere = {.send = drop, .forget = forget};

static void on_done(PtcLinkAsk *ask, PtcLinkReply *reply)
{
    (void)ask;
    ends++;
    assert(reply->end != PTC_LINK_ANSWER || ptc_json_value_len(reply->text.data, reply->text.len));
}

static void on_listed(PtcLinkList *list, PtcLinkReply *reply)
{
    ends++;
    assert(reply->end != PTC_LINK_ANSWER || ptc_json_value_len(reply->text.data, reply->text.len));
    ptc_buf_deinit(&list->first);
}

static void on_progress(PtcLinkAsk *ask, double done, double total, PtcText message)
{
    (void)done;
    (void)total;
    (void)message;
    assert(ask->id == 1);
}

static bool on_request(void *user, PtcText method, PtcText params, PtcBuf *result)
{
    (void)user;
    (void)params;
    return method.len % 2 && ptc_buf_add_cstr(result, "{}");
}

static void on_notice(void *user, PtcText method, PtcText params)
{
    (void)user;
    (void)method;
    assert(ptc_json_value_len(params.bytes, params.len) == params.len);
}

static void take_lines(PtcLink *l, const char *text, size_t len)
{
    while (len) {
        const char *lf = memchr(text, '\n', len);
        size_t n = lf ? (size_t)(lf - text) : len;
        if (!ptc_link_take_message(l, (PtcText){text, n}))
            ptc_link_too_long(l, (PtcText){text, n / 2}, (PtcText){text + n / 2, n - n / 2}, n);
        text += n + (lf != NULL);
        len -= n + (lf != NULL);
    }
}

static bool on_event(void *user, PtcText name, PtcText data)
{
    (void)name;
    (void)ptc_link_take_message(user, data);
    return true;
}

static void take_events(PtcLink *l, const char *text, size_t len)
{
    PtcSse sse;
    bool ok = true;
    ptc_sse_init(&sse, l->mem, 1 << 16);
    sse.event = on_event;
    sse.user = l;
    for (size_t at = 0, n = 1; at < len && ok; at += n, n = n % 13 + 1) {
        n = n < len - at ? n : len - at;
        ok = ptc_sse_feed(&sse, (PtcText){text + at, n}, NULL);
    }
    if (ok)
        (void)!ptc_sse_end(&sse, NULL);
    assert(sse.id_len <= sizeof sse.id && sse.retry_ms >= -1);
    ptc_sse_deinit(&sse);
}

static void free_asks(PtcLink *l, PtcLinkList *list)
{
    for (uint64_t id = 1; id <= l->last_id; id++) {
        PtcLinkAsk *ask = ptc_link_take_ask(l, id);
        if (ask)
            ptc_link_end_ask_why(l, ask, PTC_LINK_BROKEN, PTC_TEXT("over"));
    }
    (void)list;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    PtcMem mem;
    PtcLink l;
    PtcLinkAsk ask = {.done = on_done, .progress = on_progress};
    PtcLinkList list = {.listed = on_listed};
    if (size < 2)
        return 0;
    char *copy = malloc(size - 1);
    memcpy(copy, data + 1, size - 1);
    ptc_mem_init(&mem, (size_t)256 << 20);
    memset(&l, 0, sizeof l);
    l.mem = &mem;
    l.wire = &nowhere;
    l.state = PTC_LINK_READY;
    l.era = data[0] & 2 ? PTC_LINK_MODERN : PTC_LINK_LEGACY;
    l.config.max_message = 1 << 20;
    l.config.capabilities = PTC_TEXT("{}");
    l.config.request = on_request;
    l.config.notice = on_notice;
    pthread_mutex_init(&l.lock, NULL);
    ends = 0;
    ptc_mem_fail_at(&mem, data[0] >> 2);
    size_t began = ptc_link_ask(&l, &ask, "tools/call", PTC_TEXT("{\"a\":1}"), (PtcText){NULL, 0});
    began += ptc_link_list(&l, &list, "tools/list", "tools");
    if (data[0] & 1)
        take_events(&l, copy, size - 1);
    else
        take_lines(&l, copy, size - 1);
    free_asks(&l, &list);
    assert(ends == began);
    pthread_mutex_destroy(&l.lock);
    assert(atomic_load(&mem.used) == 0);
    free(copy);
    return 0;
}
