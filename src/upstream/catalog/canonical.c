/* SPDX-License-Identifier: MIT
 * Equal values, equal bytes.  What always holds: two values that differ in more than the order of members never get the
 * same spelling. */
#include "upstream/catalog/canonical.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/text/hex.h"
#include "base/text/hmac.h"
#include "json/emit.h"
#include "json/parse.h"
#include "value/coll/fields.h"

typedef struct {
    PtcText name;
    PtcValue value;
} CanonicalMember;

typedef struct {
    PtcBuf *out;
    PtcHeap *heap;
    PtcArena arena;
    PtcValue *memo; /* NULL: everything is written */
    int digests;    /* maps at this depth are written as digests; 0: only "components" */
} CanonicalWriter;

static int by_name(const void *left, const void *right)
{
    PtcText a = ((const CanonicalMember *)left)->name, b = ((const CanonicalMember *)right)->name;
    size_t n = a.len < b.len ? a.len : b.len;
    int order = n ? memcmp(a.bytes, b.bytes, n) : 0;
    return order ? order : (a.len > b.len) - (a.len < b.len);
}

/* ----------------------------------------------------------------------------------- digests */

static void put_canonical(CanonicalWriter *w, PtcValue v, int depth);

static PtcValue digest_value(CanonicalWriter *w, PtcValue v, int digests)
{
    enum { CANONICAL_BYTES = 16 };
    PtcBuf text;
    uint8_t sum[PTC_SHA256_BYTES];
    char hex[2 * CANONICAL_BYTES + 1];
    ptc_buf_init(&text, w->heap->pool->mem, w->out->max);
    CanonicalWriter inner = {.out = &text, .heap = w->heap, .digests = digests};
    inner.memo = digests ? w->memo : NULL;
    ptc_arena_init(&inner.arena, w->heap->pool->mem);
    put_canonical(&inner, v, 0);
    ptc_arena_deinit(&inner.arena);
    ptc_sha256(ptc_buf_view(&text).bytes, text.len, sum);
    ptc_hex_write(hex, sum, CANONICAL_BYTES);
    PtcValue digest = ptc_buf_ok(&text) ? ptc_fields_string(w->heap, ptc_text_cstr(hex)) : PTC_NONE;
    ptc_buf_deinit(&text);
    return digest;
}

/* A value as its digest; maps `digests` levels inside of it are digests in their turn (0: none are). */
static void put_digest(CanonicalWriter *w, PtcValue v, int digests)
{
    PtcValue key = ptc_int((int64_t)(v >> 3)); /* where it is: values do not move */
    PtcValue digest = ptc_map_get(w->heap, *w->memo, key);
    if (digest == PTC_NONE) {
        digest = digest_value(w, v, digests);
        PtcValue more =
            digest == PTC_NONE ? PTC_NONE : ptc_map_assoc(w->heap, *w->memo, key, digest);
        *w->memo = more == PTC_NONE ? *w->memo : more;
    }
    if (digest == PTC_NONE || !ptc_emit_value(w->out, w->heap, digest))
        w->out->failed = true;
}

/* ------------------------------------------------------------------------------------ values */

static void put_map(CanonicalWriter *w, PtcValue map, int depth)
{
    PtcValue key, value;
    size_t n = 0;
    CanonicalMember *members =
        ptc_arena_alloc(&w->arena, (ptc_map_count(map) + 1) * sizeof *members);
    if (!members) {
        w->out->failed = true;
        return;
    }
    for (size_t pos = 0; ptc_map_next(map, &pos, &key, &value);)
        members[n++] = (CanonicalMember){ptc_str_text(key), value};
    qsort(members, n, sizeof *members, by_name);
    ptc_emit_object(w->out);
    for (size_t i = 0; i < n; i++) {
        ptc_emit_key_text(w->out, members[i].name);
        bool shared = w->memo && !w->digests && depth == 0 && ptc_is_map(members[i].value) &&
                      ptc_text_is(members[i].name, "components");
        if (shared)
            put_digest(w, members[i].value, 2);
        else
            put_canonical(w, members[i].value, depth + 1);
    }
    ptc_emit_object_end(w->out);
}

static void put_canonical(CanonicalWriter *w, PtcValue v, int depth)
{
    if (!ptc_buf_ok(w->out))
        return;
    if (w->digests && depth == w->digests && ptc_is_map(v)) {
        put_digest(w, v, 0);
    } else if (depth < PTC_JSON_MAX_DEPTH && ptc_is_map(v)) {
        put_map(w, v, depth);
    } else if (depth < PTC_JSON_MAX_DEPTH && ptc_is_sequential(v)) {
        ptc_emit_array(w->out);
        for (size_t i = 0; i < ptc_seq_count(v); i++)
            put_canonical(w, ptc_seq_nth(v, i), depth + 1);
        ptc_emit_array_end(w->out);
    } else if (!ptc_emit_value(w->out, w->heap, v)) {
        w->out->failed = true;
    }
}

bool ptc_canonical_add_schema(PtcBuf *out, PtcHeap *heap, PtcValue *memo, PtcValue v)
{
    CanonicalWriter w = {.out = out, .heap = heap, .memo = memo};
    ptc_arena_init(&w.arena, heap->pool->mem);
    put_canonical(&w, v, 0);
    ptc_arena_deinit(&w.arena);
    return ptc_buf_ok(out);
}

bool ptc_canonical_add(PtcBuf *out, PtcHeap *heap, PtcValue v)
{
    return ptc_canonical_add_schema(out, heap, NULL, v);
}
