/* SPDX-License-Identifier: MIT
 * What a schema refers to.  What always holds: each component is walked through once for a schema, however often it is
 * referred to, and nothing recurses.  Most schemas refer to one component only, and components often lead to each other
 * in rings, all of which lead to the same: that is made once. */
#include "upstream/openapi/openapi_refs.h"

#include "base/units.h"
#include "tool/schema/schema_view.h"
#include "value/coll/fields.h"

enum { REFS_STEP = 512, REFS_LOOKS = 20 * PTC_MILLION };

/* One schema on its way. */
typedef struct {
    PtcOpenapiRefs *refs;
    PtcArena *arena;
    PtcHeap *heap;
    PtcValue components;
    PtcValue *stack, *later; /* to be walked through: of this value, then the components found */
    size_t count, waiting;
    PtcValue kind, name,
        ref; /* of the only component that the schema itself refers to; PTC_NONE: none, or several */
    PtcValue made; /* what was made before and is all that is needed; PTC_NONE: nothing */
    bool failed;
} Refs;

PtcOpenapiRefs ptc_openapi_refs(PtcHeap *heap, PtcValue document)
{
    return (PtcOpenapiRefs){heap, document, ptc_fields_map(heap), REFS_LOOKS};
}

static void push_ref_value(Refs *r, PtcValue **list, size_t *count, PtcValue v)
{
    if (r->failed || !(ptc_is_map(v) || ptc_is_sequential(v)))
        return;
    PtcValue *grown = ptc_arena_push(r->arena, *list, *count, sizeof *grown);
    r->failed = grown == NULL || r->refs->left == 0;
    if (r->failed)
        return;
    r->refs->left--;
    *list = grown;
    grown[(*count)++] = v;
}

/* The next step of a pointer, read; false: there is none. */
static bool next_ref_step(PtcText *rest, char step[REFS_STEP], PtcText *out)
{
    size_t n = 0;
    if (rest->len == 0 || rest->bytes[0] != '/')
        return false;
    while (n + 1 < rest->len && rest->bytes[n + 1] != '/')
        n++;
    if (n == 0 || n > REFS_STEP)
        return false;
    *out = (PtcText){step, ptc_schema_view_step((PtcText){rest->bytes + 1, n}, step)};
    *rest = (PtcText){rest->bytes + n + 1, rest->len - n - 1};
    return true;
}

/* Does what was made for another reference lead back to where we began?  Then it is what we need. */
static bool is_enough(Refs *r, PtcValue whole)
{
    PtcValue group = r->kind == PTC_NONE ? PTC_NONE : ptc_map_get(r->heap, whole, r->kind);
    return group != PTC_NONE && ptc_map_get(r->heap, group, r->name) != PTC_NONE;
}

/* The whole component that a pointer leads to or into. */
static void note(Refs *r, PtcValue at)
{
    char first[REFS_STEP], second[REFS_STEP];
    PtcText ref = ptc_str_text(at), kind, name, rest = {ref.bytes + 12, ref.len - 12};
    PtcHeap *heap = r->heap;
    PtcValue whole = ptc_map_get(heap, r->refs->made, at);
    if (whole != PTC_NONE && is_enough(r, whole))
        r->made = whole;
    if (r->made != PTC_NONE || !next_ref_step(&rest, first, &kind) ||
        !next_ref_step(&rest, second, &name))
        return;
    PtcValue all = ptc_map_field(heap, r->refs->document, "components");
    PtcValue value = ptc_fields_get(heap, ptc_fields_get(heap, all, kind), name);
    PtcValue mine = ptc_fields_get(heap, r->components, kind);
    if (value == PTC_NONE || (mine != PTC_NONE && ptc_fields_get(heap, mine, name) != PTC_NONE))
        return;
    if (mine == PTC_NONE)
        mine = ptc_fields_map(heap);
    ptc_fields_put_key(heap, &mine, name, value);
    ptc_fields_put_key(heap, &r->components, kind, mine);
    push_ref_value(r, &r->later, &r->waiting, value);
    r->ref = at;
}

static void walk_ref_value(Refs *r, PtcValue v)
{
    PtcValue key, value;
    for (size_t i = 0; i < ptc_fields_count(v) && !r->failed; i++)
        push_ref_value(r, &r->stack, &r->count, ptc_seq_nth(v, i));
    if (!ptc_is_map(v))
        return;
    for (size_t pos = 0; !r->failed && ptc_map_next(v, &pos, &key, &value);) {
        PtcText name = ptc_str_text(key), text = ptc_str_text(value);
        if (text.bytes && name.bytes && ptc_text_is(name, "$ref") &&
            ptc_text_starts(text, "#/components/"))
            note(r, value);
        else
            push_ref_value(r, &r->stack, &r->count, value);
    }
}

/* A value, without what it refers to. */
static void walk_whole(Refs *r, PtcValue v)
{
    for (push_ref_value(r, &r->stack, &r->count, v);
         r->count && !r->failed && ptc_fields_ok(r->heap);)
        walk_ref_value(r, r->stack[--r->count]);
}

/* The schema itself has been walked through: does it refer to one component only? */
static void find_only(Refs *r)
{
    PtcValue group;
    size_t pos = 0, at = 0;
    if (r->waiting != 1 || !ptc_map_next(r->components, &pos, &r->kind, &group) ||
        !ptc_map_next(group, &at, &r->name, NULL))
        r->ref = r->kind = PTC_NONE;
    else
        r->made = ptc_map_get(r->heap, r->refs->made, r->ref);
}

bool ptc_openapi_refs_add(PtcOpenapiRefs *refs, PtcArena *scratch, PtcValue *schema)
{
    PtcHeap *heap = refs->heap;
    Refs r = {.refs = refs, .arena = scratch, .heap = heap, .components = ptc_fields_map(heap)};
    if (r.components == PTC_NONE)
        return false;
    walk_whole(&r, *schema);
    find_only(&r);
    PtcValue only = r.ref;
    while (r.waiting && r.made == PTC_NONE && !r.failed && ptc_fields_ok(heap))
        walk_whole(&r, r.later[--r.waiting]);
    PtcValue whole = r.made == PTC_NONE ? r.components : r.made;
    if (only != PTC_NONE && !r.failed)
        ptc_fields_put_key(heap, &refs->made, ptc_str_text(only), whole);
    if (ptc_map_count(whole))
        ptc_fields_put(heap, schema, "components", whole);
    return !r.failed && ptc_fields_ok(heap);
}
