/* SPDX-License-Identifier: MIT
 * What a schema refers to.  What always holds: each component is walked through once for a schema, however often it is
 * referred to, and nothing recurses. */
#include "upstream/openapi_refs.h"

#include "upstream/fields.h"
#include "upstream/schema_view.h"

enum { STEP = 512 };

typedef struct {
    PtcArena *arena;
    PtcHeap *heap;
    PtcValue document, components;
    PtcValue *stack; /* to be walked through */
    size_t count;
    size_t *left;
    bool failed;
} Refs;

static void push(Refs *r, PtcValue v)
{
    if (r->failed || !(ptc_is_map(v) || ptc_is_sequential(v)))
        return;
    PtcValue *grown = ptc_arena_push(r->arena, r->stack, r->count, sizeof *grown);
    r->failed = grown == NULL || *r->left == 0;
    if (r->failed)
        return;
    --*r->left;
    r->stack = grown;
    grown[r->count++] = v;
}

/* The next step of a pointer, read; false: there is none. */
static bool next_step(PtcText *rest, char step[STEP], PtcText *out)
{
    size_t n = 0;
    if (rest->len == 0 || rest->bytes[0] != '/')
        return false;
    while (n + 1 < rest->len && rest->bytes[n + 1] != '/')
        n++;
    if (n == 0 || n > STEP)
        return false;
    *out = (PtcText){step, ptc_schema_view_step((PtcText){rest->bytes + 1, n}, step)};
    *rest = (PtcText){rest->bytes + n + 1, rest->len - n - 1};
    return true;
}

/* The whole component that a pointer leads to or into. */
static void note(Refs *r, PtcText ref)
{
    char first[STEP], second[STEP];
    PtcText kind, name, rest = {ref.bytes + 12, ref.len - 12};
    if (!next_step(&rest, first, &kind) || !next_step(&rest, second, &name))
        return;
    PtcHeap *heap = r->heap;
    PtcValue all = ptc_map_field(heap, r->document, "components");
    PtcValue group = all == PTC_NONE ? PTC_NONE : ptc_fields_get(heap, all, kind);
    PtcValue value = group == PTC_NONE ? PTC_NONE : ptc_fields_get(heap, group, name);
    PtcValue mine = ptc_fields_get(heap, r->components, kind);
    if (value == PTC_NONE || (mine != PTC_NONE && ptc_fields_get(heap, mine, name) != PTC_NONE))
        return;
    if (mine == PTC_NONE)
        mine = ptc_fields_map(heap);
    ptc_fields_put_key(heap, &mine, name, value);
    ptc_fields_put_key(heap, &r->components, kind, mine);
    push(r, value);
}

static void walk(Refs *r, PtcValue v)
{
    PtcValue key, value;
    for (size_t i = 0; i < ptc_fields_count(v) && !r->failed; i++)
        push(r, ptc_seq_nth(v, i));
    if (!ptc_is_map(v))
        return;
    for (size_t pos = 0; !r->failed && ptc_map_next(v, &pos, &key, &value);) {
        PtcText name = ptc_str_text(key), text = ptc_str_text(value);
        if (text.bytes && name.bytes && ptc_text_is(name, "$ref") &&
            ptc_text_starts(text, "#/components/"))
            note(r, text);
        else
            push(r, value);
    }
}

bool ptc_openapi_refs_add(PtcArena *scratch, PtcHeap *heap, PtcValue document, PtcValue *schema,
                          size_t *left)
{
    Refs r = {.arena = scratch,
              .heap = heap,
              .document = document,
              .components = ptc_fields_map(heap),
              .left = left};
    if (r.components == PTC_NONE)
        return false;
    for (push(&r, *schema); r.count && !r.failed && ptc_fields_ok(heap);)
        walk(&r, r.stack[--r.count]);
    if (ptc_map_count(r.components))
        ptc_fields_put(heap, schema, "components", r.components);
    return !r.failed && ptc_fields_ok(heap);
}
