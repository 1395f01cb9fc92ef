/* SPDX-License-Identifier: MIT
 * Equal values, equal bytes.  What always holds: two values that differ in more than the order of members never get the
 * same spelling. */
#include "upstream/canonical.h"

#include <stdlib.h>

#include "base/arena.h"
#include "json/emit.h"
#include "json/parse.h"
#include "upstream/fields.h"

typedef struct {
    PtcText name;
    PtcValue value;
} Member;

typedef struct {
    PtcBuf *out;
    PtcHeap *heap;
    PtcArena arena;
} Writer;

static int by_name(const void *left, const void *right)
{
    PtcText a = ((const Member *)left)->name, b = ((const Member *)right)->name;
    size_t n = a.len < b.len ? a.len : b.len;
    int order = n ? memcmp(a.bytes, b.bytes, n) : 0;
    return order ? order : (a.len > b.len) - (a.len < b.len);
}

static void put(Writer *w, PtcValue v, int depth);

static void put_map(Writer *w, PtcValue map, int depth)
{
    PtcValue key, value;
    size_t n = 0;
    Member *members = ptc_arena_alloc(&w->arena, (ptc_map_count(map) + 1) * sizeof *members);
    if (!members) {
        w->out->failed = true;
        return;
    }
    for (size_t pos = 0; ptc_map_next(map, &pos, &key, &value);)
        members[n++] = (Member){ptc_str_text(key), value};
    qsort(members, n, sizeof *members, by_name);
    ptc_emit_object(w->out);
    for (size_t i = 0; i < n; i++) {
        ptc_emit_key_text(w->out, members[i].name);
        put(w, members[i].value, depth + 1);
    }
    ptc_emit_object_end(w->out);
}

static void put(Writer *w, PtcValue v, int depth)
{
    if (!ptc_buf_ok(w->out))
        return;
    if (depth < PTC_JSON_MAX_DEPTH && ptc_is_map(v)) {
        put_map(w, v, depth);
    } else if (depth < PTC_JSON_MAX_DEPTH && ptc_is_sequential(v)) {
        ptc_emit_array(w->out);
        for (size_t i = 0; i < ptc_seq_count(v); i++)
            put(w, ptc_seq_nth(v, i), depth + 1);
        ptc_emit_array_end(w->out);
    } else if (!ptc_emit_value(w->out, w->heap, v)) {
        w->out->failed = true;
    }
}

bool ptc_canonical_add(PtcBuf *out, PtcHeap *heap, PtcValue v)
{
    Writer w = {.out = out, .heap = heap};
    ptc_arena_init(&w.arena, heap->pool->mem);
    put(&w, v, 0);
    ptc_arena_deinit(&w.arena);
    return ptc_buf_ok(out);
}
