/* SPDX-License-Identifier: MIT
 * Literals that begin with # and a name: #inst and #uuid, which are data, and maps whose keys share a namespace,
 * #:order{:id 7}.  No other tag is known, and none can be added: reading must not run code. */
#include "base/ascii.h"
#include "base/text/uuid.h"
#include "lisp/read/read_int.h"
#include "value/time/time.h"

static bool is_reader_tag(const PtcReading *r, const char *tag)
{
    uint32_t at = r->pos + 1, end = ptc_read_token_end(r, at);
    return end - at == strlen(tag) && memcmp(r->source + at, tag, end - at) == 0;
}

static PtcForm *bad_text(PtcReading *r, uint32_t first, const char *tag, const char *expected)
{
    PtcDiag *d = PTC_READ_FAIL(r, first, r->pos, "#%s is followed by `%s`", tag,
                               ptc_read_excerpt(r, first + (uint32_t)strlen(tag) + 1, r->pos).text);
    ptc_diag_hint(d, "write #%s \"%s\"", tag, expected);
    return NULL;
}

static PtcForm *read_inst(PtcReading *r)
{
    uint32_t first = r->pos;
    const PtcForm *text = ptc_read_operand(r, 5);
    if (!text)
        return NULL;
    PtcValue v =
        text->kind == PTC_F_STRING ? ptc_time_inst(r->in->heap, text->text, text->len) : PTC_NIL;
    if (v == PTC_NIL)
        return bad_text(r, first, "inst", "2024-01-31T00:00:00Z");
    PtcForm *f = v == PTC_NONE ? NULL : ptc_read_new(r, PTC_F_TAGGED, first);
    if (f)
        f->value = v;
    return f;
}

/* A UUID is a string here. */
static PtcForm *read_uuid(PtcReading *r)
{
    uint32_t first = r->pos;
    PtcForm *text = ptc_read_operand(r, 5);
    if (!text)
        return NULL;
    if (text->kind != PTC_F_STRING || !ptc_is_uuid(text->text, text->len))
        return bad_text(r, first, "uuid", "b6883c0a-0342-4007-9966-bc2dfa6b109e");
    char *lower = ptc_arena_alloc(r->in->arena, text->len);
    if (!lower)
        return NULL;
    for (size_t i = 0; i < text->len; i++)
        lower[i] = ptc_ascii_lower(text->text[i]);
    text->text = lower;
    return text;
}

/* A key of such a map: names without a namespace get that of the map, _/name loses its own. */
static bool name_key(PtcReading *r, PtcForm *key, const char *ns, size_t len)
{
    if (key->kind != PTC_F_KEYWORD && key->kind != PTC_F_SYMBOL)
        return true;
    if (key->len > 2 && key->text[0] == '_' && key->text[1] == '/') {
        key->text += 2;
        key->len -= 2;
        return true;
    }
    if (memchr(key->text, '/', key->len))
        return true;
    char *full = ptc_arena_alloc(r->in->arena, len + 1 + key->len);
    if (!full)
        return false;
    memcpy(full, ns, len);
    full[len] = '/';
    memcpy(full + len + 1, key->text, key->len);
    key->text = full;
    key->len += len + 1;
    return true;
}

static PtcForm *bad_namespaced(PtcReading *r, uint32_t end)
{
    PtcDiag *d = PTC_READ_FAIL(r, r->pos, end, "`%s` does not begin a map with a namespace",
                               ptc_read_excerpt(r, r->pos, end).text);
    ptc_diag_hint(d, "write #:order{:id 7}, which is {:order/id 7}");
    return NULL;
}

/* #:order{...}; #::{...} is for the one namespace that there is. */
static PtcForm *read_namespaced(PtcReading *r)
{
    uint32_t first = r->pos, at = first + 2;
    bool own = at < r->len && r->source[at] == ':';
    at += own;
    uint32_t end = ptc_read_token_end(r, at), open = end;
    while (open < r->len && ptc_read_blank(r, open))
        open += ptc_read_blank(r, open);
    if (open >= r->len || r->source[open] != '{' || (end == at && !own))
        return bad_namespaced(r, open);
    r->pos = open;
    PtcForm *map = ptc_read_map(r);
    for (uint32_t i = 0; map && i < map->count; i += 2)
        if (!(end > at ? name_key(r, map->items[i], r->source + at, end - at)
                       : name_key(r, map->items[i], "user", 4)))
            return NULL;
    if (map)
        map->first = first;
    return map;
}

PtcForm *ptc_read_tagged(PtcReading *r, bool *known)
{
    *known = true;
    if (is_reader_tag(r, "inst"))
        return read_inst(r);
    if (is_reader_tag(r, "uuid"))
        return read_uuid(r);
    if (r->pos + 1 < r->len && r->source[r->pos + 1] == ':')
        return read_namespaced(r);
    *known = false;
    return NULL;
}
