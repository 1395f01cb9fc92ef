/* SPDX-License-Identifier: MIT
 * $id, $anchor and what references lead to.  Only places in the same document can be reached, and the meta-schema,
 * which is recognized by its address: a value is valid against it if it can be read as a schema. */
#include "tool/schema/schema_int.h"

#include <string.h>

#include "base/ascii.h"
#include "base/utf8.h"
#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/str.h"

typedef PtcSchemaCompiler Compiler;
typedef PtcText Text;

#define META_URI "https://json-schema.org/draft/2020-12/schema"

const PtcSchemaNode ptc_schema_meta = {.form = PTC_SCHEMA_META};

static bool same(Text a, Text b)
{
    return a.len == b.len && memcmp(a.bytes, b.bytes, a.len) == 0;
}

/* ------------------------------------------------------------------ resources */

static PtcSchemaResource *find_schema_resource(Compiler *c, Text uri)
{
    for (PtcSchemaResource *r = c->resources; r && ptc_tick(c->work.budget, 1); r = r->next)
        if (same(r->uri, uri))
            return r;
    return NULL;
}

static PtcSchemaResource *new_resource(Compiler *c, Text uri, PtcValue root)
{
    PtcSchemaResource *r = ptc_arena_zalloc(c->arena, sizeof *r);
    if (!r) {
        ptc_schema_no_memory(c);
        return NULL;
    }
    *r = (PtcSchemaResource){.next = c->resources, .uri = uri, .root = root, .entered = true};
    return c->resources = r;
}

static bool make_absolute(Compiler *c, const PtcSchemaPending *at, const char *keyword, Text base,
                          Text ref, Text *out)
{
    if (!ptc_tick(c->work.budget, 1 + (int64_t)((base.len + ref.len) / 64)))
        return false;
    if (ptc_schema_uri(c->arena, base, ref, out))
        return true;
    if (c->arena->failed)
        return ptc_schema_no_memory(c);
    return ptc_schema_refuse(c, at, keyword, "this address has more than %d bytes",
                             PTC_SCHEMA_URI_BYTES);
}

/* Registers a place under this address; if a resource already has it, it must be the same place. */
static bool enter_uri(Compiler *c, const PtcSchemaPending *at, Text uri, PtcValue value,
                      PtcSchemaResource **resource)
{
    char shown[PTC_SCHEMA_LINE];
    PtcSchemaResource *known = find_schema_resource(c, uri);
    if (known && known->root != value)
        return ptc_schema_refuse(c, at, "$id", "two schemas have the address %s",
                                 ptc_schema_line(shown, uri, 100));
    if (!known && (*resource)->root == value) { /* the document itself */
        (*resource)->uri = uri;
        return true;
    }
    *resource = known ? known : new_resource(c, uri, value);
    return *resource != NULL && c->work.budget->stop == PTC_STOP_NONE;
}

bool ptc_schema_enter(Compiler *c, PtcValue value, const PtcSchemaStep *step,
                      PtcSchemaResource **resource)
{
    PtcSchemaPending at = {
        .up = step->up, .keyword = step->keyword, .key = step->key, .index = step->index};
    const PtcSchemaPending *place = step->keyword ? &at : NULL;
    PtcValue id = ptc_schema_get(&c->work, value, "$id", 3);
    Text uri;
    if (id == PTC_NONE)
        return c->work.budget->stop == PTC_STOP_NONE;
    if (!ptc_is_named(id))
        return ptc_schema_refuse(c, place, "$id", "expected a string");
    Text text = {ptc_str_bytes(id), ptc_str_len(id)};
    const char *hash = memchr(text.bytes, '#', text.len);
    if (hash && hash + 1 != text.bytes + text.len)
        return ptc_schema_refuse(c, place, "$id", "expected no #fragment; $anchor makes one");
    if (c->form_only || ((*resource)->root == value && (*resource)->entered))
        return true;
    (*resource)->entered = (*resource)->entered || (*resource)->root == value;
    return make_absolute(c, place, "$id", (*resource)->uri, text, &uri) &&
           enter_uri(c, place, uri, value, resource);
}

/* -------------------------------------------------------------------- anchors */

static const PtcSchemaAnchor *find_anchor(Compiler *c, const PtcSchemaResource *resource, Text name)
{
    for (const PtcSchemaAnchor *a = resource->anchors; a && ptc_tick(c->work.budget, 1);
         a = a->next)
        if (same(a->name, name))
            return a;
    return NULL;
}

bool ptc_schema_add_anchor(Compiler *c, PtcSchemaPending *at, const char *keyword, Text name,
                           bool dynamic)
{
    char shown[PTC_SCHEMA_LINE];
    const PtcSchemaAnchor *known = find_anchor(c, at->resource, name);
    if (known && known->node != at->node && !c->form_only)
        return ptc_schema_refuse(c, at, keyword, "two schemas have the anchor %s",
                                 ptc_schema_line(shown, name, 60));
    PtcSchemaAnchor *a = ptc_arena_zalloc(c->arena, sizeof *a);
    if (!a)
        return ptc_schema_no_memory(c);
    *a = (PtcSchemaAnchor){
        .next = at->resource->anchors, .name = name, .node = at->node, .dynamic = dynamic};
    at->resource->anchors = a;
    return true;
}

/* ------------------------------------------------------------------- pointers */

/* A copy without %XX. */
static bool decode_percent(Compiler *c, Text text, Text *out)
{
    char *to = ptc_arena_alloc(c->arena, text.len + 1);
    size_t n = 0;
    if (!to)
        return ptc_schema_no_memory(c);
    for (size_t i = 0; i < text.len; i++) {
        bool coded = text.bytes[i] == '%' && i + 2 < text.len &&
                     ptc_ascii_hex_value(text.bytes[i + 1]) >= 0 &&
                     ptc_ascii_hex_value(text.bytes[i + 2]) >= 0;
        to[n++] = coded ? (char)(ptc_ascii_hex_value(text.bytes[i + 1]) * 16 +
                                 ptc_ascii_hex_value(text.bytes[i + 2]))
                        : text.bytes[i];
        i += coded ? 2 : 0;
    }
    *out = (Text){to, n};
    return true;
}

/* The next step of a pointer, starting at its slash, with ~0 and ~1 decoded; written over the pointer's own bytes. */
static Text next_pointer_step(char **at, const char *end)
{
    char *from = *at + 1, *p = from, *to = from;
    for (; p < end && *p != '/'; p++) {
        bool coded = *p == '~' && p + 1 < end && (p[1] == '0' || p[1] == '1');
        *to++ = !coded ? *p : p[1] == '0' ? '~' : '/';
        p += coded;
    }
    *at = p;
    return (Text){from, (size_t)(to - from)};
}

static PtcValue find_array_step(PtcValue array, Text step)
{
    size_t i = 0;
    if (step.len == 0 || step.len > 9 || (step.len > 1 && step.bytes[0] == '0'))
        return PTC_NONE;
    for (size_t k = 0; k < step.len; k++) {
        if (!ptc_ascii_is_digit(step.bytes[k]))
            return PTC_NONE;
        i = i * 10 + (size_t)(step.bytes[k] - '0');
    }
    return i < ptc_schema_count(array) ? ptc_seq_nth(array, i) : PTC_NONE;
}

/* The resource that a value is the root of, as far as they are known; otherwise the one around it. */
static PtcSchemaResource *resource_at(Compiler *c, PtcValue value, PtcSchemaResource *around)
{
    for (PtcSchemaResource *r = c->resources; r && ptc_tick(c->work.budget, 1); r = r->next)
        if (r->root == value)
            return r;
    return around;
}

/* Follows a pointer; PTC_NONE: it leads nowhere. */
static PtcValue follow_pointer(Compiler *c, Text pointer, PtcSchemaResource **resource)
{
    char *at = (char *)(uintptr_t)pointer.bytes;
    PtcValue v = (*resource)->root;
    while (at < pointer.bytes + pointer.len && v != PTC_NONE) {
        Text step = next_pointer_step(&at, pointer.bytes + pointer.len);
        if (!ptc_tick(c->work.budget, 1))
            return PTC_NONE;
        if (ptc_is_map(v))
            v = ptc_schema_get(&c->work, v, step.bytes, step.len);
        else
            v = ptc_is_sequential(v) ? find_array_step(v, step) : PTC_NONE;
        if (ptc_is_map(v))
            *resource = resource_at(c, v, *resource);
    }
    return v;
}

/* ----------------------------------------------------------------- references */

static bool leads_nowhere(Compiler *c, const PtcSchemaRef *ref)
{
    const char *keyword = ref->dynamic ? "$dynamicRef" : "$ref";
    char shown[PTC_SCHEMA_LINE];
    if (c->work.budget->stop != PTC_STOP_NONE)
        return false;
    return ptc_schema_refuse(c, ref->at, keyword, "%s leads to no place in this schema",
                             ptc_schema_line(shown, ref->text, 120));
}

static bool is_outside(Compiler *c, const PtcSchemaRef *ref, Text uri)
{
    const char *keyword = ref->dynamic ? "$dynamicRef" : "$ref";
    char shown[PTC_SCHEMA_LINE];
    if (c->work.budget->stop != PTC_STOP_NONE)
        return false;
    return ptc_schema_refuse(c, ref->at, keyword,
                             "%s is not in this document, and others are never fetched; put it "
                             "under $defs with that $id",
                             ptc_schema_line(shown, uri, 100));
}

static bool set_ref_target(Compiler *c, const PtcSchemaRef *ref, const PtcSchemaNode *target,
                           Text name)
{
    PtcSchemaNode *node = ref->at->node;
    if (!node->logic && !(node->logic = ptc_arena_zalloc(c->arena, sizeof *node->logic)))
        return ptc_schema_no_memory(c);
    if (!ref->dynamic) {
        node->logic->ref = target;
    } else {
        node->logic->dynamic = target;
        node->logic->dynamic_name = name;
    }
    return true;
}

static bool resolve_pointer(Compiler *c, const PtcSchemaRef *ref, PtcSchemaResource *resource,
                            Text pointer)
{
    PtcValue value = follow_pointer(c, pointer, &resource);
    if (value == PTC_NONE || (!ptc_is_map(value) && !ptc_is_bool(value)))
        return leads_nowhere(c, ref);
    PtcSchemaStep step = {.up = ref->at, .keyword = "$ref", .index = -1};
    const PtcSchemaNode *target = ptc_schema_node(c, value, resource, &step);
    return target && set_ref_target(c, ref, target, (Text){NULL, 0});
}

static bool resolve_anchor(Compiler *c, const PtcSchemaRef *ref, const PtcSchemaResource *resource,
                           Text name)
{
    const PtcSchemaAnchor *anchor = find_anchor(c, resource, name);
    if (!anchor)
        return leads_nowhere(c, ref);
    Text none = {NULL, 0};
    return set_ref_target(c, ref, anchor->node, anchor->dynamic ? anchor->name : none);
}

bool ptc_schema_resolve(Compiler *c, const PtcSchemaRef *ref)
{
    Text whole, fragment = {"", 0};
    if (!make_absolute(c, ref->at, ref->dynamic ? "$dynamicRef" : "$ref", ref->at->resource->uri,
                       ref->text, &whole))
        return false;
    const char *hash = memchr(whole.bytes, '#', whole.len);
    Text uri = {whole.bytes, hash ? (size_t)(hash - whole.bytes) : whole.len};
    if (hash && !decode_percent(c, (Text){hash + 1, whole.len - uri.len - 1}, &fragment))
        return false;
    if (!ptc_utf8_valid(fragment.bytes, fragment.len))
        return leads_nowhere(c, ref);
    PtcSchemaResource *resource = find_schema_resource(c, uri);
    if (!resource && fragment.len == 0 && same(uri, (Text){META_URI, strlen(META_URI)}))
        return set_ref_target(c, ref, &ptc_schema_meta, (Text){NULL, 0});
    if (!resource)
        return is_outside(c, ref, uri);
    if (fragment.len && fragment.bytes[0] != '/')
        return resolve_anchor(c, ref, resource, fragment);
    return resolve_pointer(c, ref, resource, fragment);
}
