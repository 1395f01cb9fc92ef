/* SPDX-License-Identifier: MIT
 * Lists in pages.  What always holds: the array that is handed over is made of checked items, and no server can make
 * the listing longer than the limits: a cursor that was there before ends it, and so do too many pages, items or
 * bytes. */
#include "json/emit.h"
#include "json/members.h"
#include "mcp/client/link_int.h"

enum { PAGES = 200, ITEMS = 5000, ALL_BYTES = 16 << 20, CURSOR_BYTES = 64 * PTC_KB };

static bool ask_page(PtcLinkList *list, PtcText cursor);

static void finish_link_list(PtcLinkList *list, PtcLinkReply *reply)
{
    ptc_buf_deinit(&list->cursors);
    list->listed(list, reply); /* may free the list */
    ptc_buf_deinit(&reply->text);
}

static void fail_link_list(PtcLinkList *list, PtcLinkReply *reply)
{
    ptc_buf_deinit(&list->all);
    finish_link_list(list, reply);
}

static void fail_because(PtcLinkList *list, PtcLinkEnd end, const char *why)
{
    PtcLinkReply reply = ptc_link_reply(list->link, end);
    reply.delivered = true;
    ptc_buf_add_cstr(&reply.text, why);
    fail_link_list(list, &reply);
}

static void succeed(PtcLinkList *list, const PtcLinkReply *last)
{
    PtcLinkReply reply = ptc_link_reply(list->link, PTC_LINK_ANSWER);
    if (!ptc_emit_array_end(&list->all)) {
        fail_because(list, PTC_LINK_NO_MEMORY, "out of memory");
        return;
    }
    reply.delivered = true;
    reply.bytes = last->bytes;
    reply.text = list->all;
    list->all = (PtcBuf){0};
    finish_link_list(list, &reply);
}

/* Notes the cursor; false: it was there before, or there are too many to know. */
static bool is_new_cursor(PtcLinkList *list, PtcText cursor)
{
    PtcText all = ptc_buf_view(&list->cursors);
    size_t at = 0;
    while (at < all.len) { /* JSON strings have no line feeds in them */
        const char *end = memchr(all.bytes + at, '\n', all.len - at);
        size_t n = (size_t)(end - all.bytes) - at;
        if (ptc_text_same((PtcText){all.bytes + at, n}, cursor))
            return false;
        at += n + 1;
    }
    return ptc_buf_add(&list->cursors, cursor.bytes, cursor.len) &&
           ptc_buf_add(&list->cursors, "\n", 1);
}

/* Adds the items of a page; false: a limit was reached, which is noted, or memory. */
static bool add_page_items(PtcLinkList *list, PtcText items)
{
    PtcText key, value;
    PtcMembers members = ptc_members_of(items);
    while (ptc_members_next(&members, &key, &value)) {
        if (list->items == ITEMS) {
            list->note = "it has more than 5000 entries";
            return false;
        }
        size_t before = list->all.len;
        ptc_emit_raw(&list->all, value);
        if (list->all.failed)
            return false;
        if (list->all.full || list->all.len > ALL_BYTES) {
            list->note = "it has more than 16 MiB";
            list->all.len = before;
            list->all.full = false;
            return false;
        }
        list->items++;
    }
    return true;
}

static void keep_first(PtcLinkList *list, PtcText result)
{
    PtcText key, value;
    PtcMembers members = ptc_members_of(result);
    ptc_emit_object(&list->first);
    while (ptc_members_next(&members, &key, &value)) {
        if (ptc_text_is(key, list->member) || ptc_text_is(key, "nextCursor"))
            continue;
        ptc_emit_next(&list->first);
        ptc_buf_addf(&list->first, "\"%.*s\":", PTC_ARG(key));
        ptc_emit_raw(&list->first, value);
    }
    ptc_emit_object_end(&list->first);
    if (!ptc_buf_ok(&list->first))
        ptc_buf_clear(&list->first);
}

/* Is there another page to ask for?  If not, a note says why. */
static bool may_ask_next_page(PtcLinkList *list, PtcText cursor)
{
    if (list->pages == PAGES)
        list->note = "it has more than 200 pages";
    else if (!is_new_cursor(list, cursor))
        list->note = "it gave the same cursor twice";
    return !list->note;
}

static void on_page(PtcLinkAsk *ask, PtcLinkReply *reply)
{
    PtcLinkList *list = (PtcLinkList *)(void *)ask;
    if (reply->end != PTC_LINK_ANSWER) {
        fail_link_list(list, reply);
        return;
    }
    PtcText result = ptc_buf_view(&reply->text);
    PtcText items = ptc_members_get(result, list->member);
    PtcText cursor = ptc_members_get(result, "nextCursor");
    if (!items.bytes || items.bytes[0] != '[') {
        fail_because(list, PTC_LINK_BROKEN, "its answer has no list");
        return;
    }
    if (list->pages++ == 0)
        keep_first(list, result);
    bool more = add_page_items(list, items) && cursor.bytes && cursor.bytes[0] == '"';
    if (list->all.failed || (more && may_ask_next_page(list, cursor) && !ask_page(list, cursor)))
        fail_because(list, PTC_LINK_NO_MEMORY, "out of memory");
    else if (!more || list->note)
        succeed(list, reply);
}

static bool ask_page(PtcLinkList *list, PtcText cursor)
{
    PtcBuf params;
    ptc_buf_init(&params, list->link->mem, PTC_UNBOUNDED);
    ptc_emit_object(&params);
    if (cursor.bytes)
        ptc_emit_field_raw(&params, "cursor", cursor);
    ptc_emit_object_end(&params);
    bool ok = ptc_buf_ok(&params) && ptc_link_ask(list->link, &list->ask, list->method,
                                                  ptc_buf_view(&params), (PtcText){NULL, 0});
    ptc_buf_deinit(&params);
    return ok;
}

bool ptc_link_list(PtcLink *link, PtcLinkList *list, const char *method, const char *member)
{
    list->link = link;
    list->method = method;
    list->member = member;
    list->note = NULL;
    list->pages = list->items = 0;
    list->ask.done = on_page;
    ptc_buf_init(&list->all, link->mem, 2 * ALL_BYTES);
    ptc_buf_init(&list->cursors, link->mem, PAGES * CURSOR_BYTES);
    ptc_buf_init(&list->first, link->mem, CURSOR_BYTES);
    ptc_emit_array(&list->all);
    if (ptc_buf_ok(&list->all) && ask_page(list, (PtcText){NULL, 0}))
        return true;
    ptc_buf_deinit(&list->all);
    return false;
}
