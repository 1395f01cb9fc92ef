/* SPDX-License-Identifier: MIT
 * Roots for a server.  Values of entries never change, so any thread may read them; what our client says is read once,
 * into a text that has only what we let through. */
#define _GNU_SOURCE /* memmem */
#include "upstream/connect/roots.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/text/clean.h"
#include "json/emit.h"
#include "json/parse.h"
#include "net/url.h"
#include "upstream/connect/endpoint.h"
#include "upstream/connect/manager_int.h"
#include "value/coll/fields.h"

enum {
    ROOT_BYTES = 16 * PTC_KB,
    ROOTS_READ_BYTES = 16 * PTC_MB,
    ROOTS_SETTLE_MS = 200, /* for servers to ask again */
    ROOTS_LOOK_MS = 5
};

bool ptc_roots_any(const PtcEntry *e)
{
    return ptc_fields_count(e->roots) > 0;
}

/* Encodes segment by segment, because slashes are not encoded. */
static void add_root_path(PtcBuf *uri, PtcText path)
{
    for (size_t from = 0; from <= path.len;) {
        const char *slash = memchr(path.bytes + from, '/', path.len - from);
        size_t to = slash ? (size_t)(slash - path.bytes) : path.len;
        (void)!ptc_url_encode(uri, (PtcText){path.bytes + from, to - from});
        if (slash)
            ptc_buf_add_char(uri, '/');
        from = to + 1;
    }
}

static void add_uri(PtcBuf *uri, PtcText root)
{
    char cwd[PATH_MAX];
    if (memmem(root.bytes, root.len, "://", 3)) {
        ptc_buf_add(uri, root.bytes, root.len);
        return;
    }
    ptc_buf_add_cstr(uri, "file://");
    if ((!root.len || root.bytes[0] != '/') && getcwd(cwd, sizeof cwd)) {
        add_root_path(uri, ptc_text_cstr(cwd));
        ptc_buf_add_char(uri, '/');
    }
    add_root_path(uri, root);
}

static bool put_entry_roots(const PtcEntry *e, PtcBuf *out)
{
    ptc_emit_object(out);
    ptc_emit_key(out, "roots");
    ptc_emit_array(out);
    for (size_t i = 0; i < ptc_fields_count(e->roots); i++) {
        PtcBuf uri;
        ptc_buf_init(&uri, out->mem, ROOT_BYTES);
        add_uri(&uri, ptc_str_text(ptc_seq_nth(e->roots, i)));
        ptc_emit_object(out);
        ptc_emit_field_text(out, "uri", ptc_buf_view(&uri));
        ptc_emit_object_end(out);
        out->failed = out->failed || !ptc_buf_ok(&uri);
        ptc_buf_deinit(&uri);
    }
    ptc_emit_array_end(out);
    return ptc_emit_object_end(out);
}

bool ptc_roots_of_client(const PtcUpstream *up)
{
    return up->manager->client_roots && !up->entry.openapi && up->entry.roots == PTC_NONE;
}

bool ptc_roots_answer(const PtcUpstream *up, bool client, PtcBuf *out)
{
    const PtcBuf *said = &up->manager->roots;
    if (ptc_roots_any(&up->entry))
        return put_entry_roots(&up->entry, out);
    if (!client || !ptc_roots_of_client(up))
        return false;
    return said->len ? ptc_buf_add(out, said->data, said->len)
                     : ptc_buf_add_cstr(out, "{\"roots\":[]}");
}

/* ------------------------------------------------------------------------------ of a client */

/* An address that a server may take for a directory of this machine, and nothing that hides in it. */
static bool is_file_uri(PtcText uri)
{
    if (!uri.bytes || uri.len > PTC_ROOT_URI || uri.len < 8 ||
        memcmp(uri.bytes, "file:///", 8) != 0)
        return false;
    for (size_t i = 0; i < uri.len; i++)
        if ((unsigned char)uri.bytes[i] <= ' ' || uri.bytes[i] == 0x7f)
            return false;
    return true;
}

static void put_root_name(PtcBuf *out, PtcMem *mem, PtcText name)
{
    PtcBuf clean;
    if (!name.bytes || !name.len)
        return;
    ptc_buf_init(&clean, mem, 8 * PTC_ROOT_NAME + 64);
    ptc_clean_add(&clean, name, PTC_ROOT_NAME, false);
    ptc_emit_field_text(out, "name", ptc_buf_view(&clean));
    ptc_buf_end_part(out, &clean);
}

static PtcValue roots_in_result(PtcHeap *heap, PtcText result, bool *stopped)
{
    PtcJsonError error = {0};
    if (!result.bytes || result.len > PTC_ROOTS_BYTES)
        return PTC_NONE;
    PtcValue all = ptc_json_parse(heap, result.bytes, result.len, &error);
    *stopped = all == PTC_NONE && error.stopped;
    return all != PTC_NONE && ptc_is_map(all) ? ptc_map_field(heap, all, "roots") : PTC_NONE;
}

static void put_root(PtcBuf *out, PtcMem *mem, PtcText uri, PtcText name)
{
    ptc_emit_object(out);
    ptc_emit_field_text(out, "uri", uri);
    put_root_name(out, mem, name);
    ptc_emit_object_end(out);
}

size_t ptc_roots_read(PtcMem *mem, PtcText result, PtcBuf *out)
{
    PtcScratch scratch;
    bool stopped = false;
    size_t left_out = 0, taken = 0;
    ptc_scratch_init(&scratch, mem, ROOTS_READ_BYTES);
    PtcValue list = roots_in_result(&scratch.heap, result, &stopped);
    ptc_emit_object(out);
    ptc_emit_key(out, "roots");
    ptc_emit_array(out);
    for (size_t i = 0; i < ptc_fields_count(list); i++) {
        PtcValue root = ptc_seq_nth(list, i);
        PtcText uri = ptc_fields_text(&scratch.heap, root, "uri");
        bool good = taken < PTC_ROOTS && is_file_uri(uri);
        if (good)
            put_root(out, mem, uri, ptc_fields_text(&scratch.heap, root, "name"));
        taken += good;
        left_out += !good;
    }
    ptc_emit_array_end(out);
    ptc_emit_object_end(out);
    out->failed = out->failed || stopped;
    ptc_scratch_deinit(&scratch);
    return left_out;
}

/* With the lock held.  True: one of them has not asked again yet. */
static bool any_stale(const PtcManager *m)
{
    bool any = false;
    for (const PtcInstance *i = m->instances; i; i = i->next)
        any = any || (i->stale_roots && i->connected);
    return any;
}

/* With the lock held. */
static void tell_servers(PtcManager *m)
{
    for (PtcInstance *i = m->instances; i; i = i->next) {
        const PtcListing *l = i->upstream->listing;
        if (i->client_roots && i->connected && i->endpoint && !(l && l->modern))
            i->stale_roots = ptc_endpoint_tell(i->endpoint, "notifications/roots/list_changed");
    }
}

/* A call that is sent right behind the notification might be done before the server has asked. */
static void wait_for_roots(PtcManager *m)
{
    struct timespec moment = {.tv_nsec = ROOTS_LOOK_MS * PTC_MS};
    int64_t end = ptc_clock_ns(NULL) + ROOTS_SETTLE_MS * PTC_MS;
    bool wait = true;
    while (wait && ptc_clock_ns(NULL) < end) {
        pthread_mutex_lock(&m->lock);
        wait = any_stale(m);
        pthread_mutex_unlock(&m->lock);
        if (wait)
            nanosleep(&moment, NULL);
    }
}

static void log_left_out(PtcManager *m, size_t n)
{
    char line[160];
    if (!n || !m->config.log)
        return;
    int len = snprintf(line, sizeof line,
                       "%zu of the client's roots are not passed on: file:/// addresses are, of %d "
                       "bytes at most, %d of them",
                       n, PTC_ROOT_URI, PTC_ROOTS);
    m->config.log(m->config.user, (PtcText){line, (size_t)len});
}

void ptc_manager_set_roots(PtcManager *m, PtcText result)
{
    PtcBuf now;
    ptc_buf_init(&now, m->mem, PTC_ROOTS_BYTES);
    log_left_out(m, ptc_roots_read(m->mem, result, &now));
    if (!ptc_buf_ok(&now)) { /* what was known stays */
        ptc_buf_deinit(&now);
        return;
    }
    pthread_mutex_lock(&m->lock);
    bool same = m->roots.len == now.len && memcmp(m->roots.data, now.data, now.len) == 0;
    m->client_roots = true;
    if (!same) {
        PtcBuf before = m->roots;
        m->roots = now;
        now = before;
        tell_servers(m);
    }
    pthread_mutex_unlock(&m->lock);
    ptc_buf_deinit(&now);
    if (!same)
        wait_for_roots(m);
}

bool ptc_manager_takes_roots(const PtcManager *m)
{
    bool any = false;
    for (size_t i = 0; i < m->count; i++) {
        const PtcEntry *e = &m->upstreams[i].entry;
        any = any || (!e->openapi && !e->disabled && !e->unusable.bytes && e->roots == PTC_NONE);
    }
    return any;
}
