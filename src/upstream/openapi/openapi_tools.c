/* SPDX-License-Identifier: MIT
 * Operations as tools.  What always holds: an operation that writes is there only with allow_writes, one that is
 * deprecated only when it is named, and all of them go to one origin, because credentials do. */
#include "upstream/openapi/openapi_tools.h"

#include <strings.h>

#include "base/utf8.h"
#include "net/url.h"
#include "tool/schema/schema_view.h"
#include "upstream/catalog/catalog.h"
#include "upstream/openapi/openapi_refs.h"
#include "value/coll/fields.h"

enum { OPENAPI_DESCRIPTION = 16 * PTC_KB };

/* One document on its way. */
typedef struct {
    PtcArena *arena; /* emptied after each operation */
    PtcHeap *heap;
    PtcValue document, base;
    const PtcEntry *entry;
    PtcValue origin; /* of the operations so far; PTC_NONE: there were none */
    PtcValue names;  /* of the tools so far */
    PtcOpenapiRefs refs;
} ToolMaking;

/* ---------------------------------------------------------------------------------- chosen */

static PtcValue override_of(PtcHeap *heap, const PtcEntry *e, PtcText operation)
{
    PtcValue v =
        e->overrides == PTC_NONE ? PTC_NONE : ptc_fields_get(heap, e->overrides, operation);
    return v != PTC_NONE && ptc_is_map(v) ? v : PTC_NONE;
}

/* NAMED: in full; LISTED: by a glob; LEFT_OUT: also in a similar spelling. */
typedef enum { OPENAPI_NAMED, OPENAPI_LISTED, OPENAPI_LEFT_OUT } How;

static bool is_listed_operation(PtcValue globs, PtcSpelt name, How how)
{
    for (size_t i = 0; i < ptc_fields_count(globs); i++) {
        PtcText glob = ptc_str_text(ptc_seq_nth(globs, i));
        if (glob.bytes &&
            (how == OPENAPI_NAMED ? ptc_text_same(glob, name.raw)
                                  : ptc_policy_fits(glob, name, how == OPENAPI_LEFT_OUT)))
            return true;
    }
    return false;
}

const struct PtcLeftReason ptc_openapi_left_reasons[PTC_LEFT_REASONS] = {
    [PTC_LEFT_NOT] = {"", ""},
    [PTC_LEFT_WRITES] = {"writes", "it writes; \"allow_writes\": true in the entry allows that"},
    [PTC_LEFT_DEPRECATED] = {"deprecated",
                             "it is deprecated; include_operations of the entry must name it"},
    [PTC_LEFT_EXCLUDED] = {"excluded", "exclude_operations of the entry leaves it out"},
    [PTC_LEFT_NOT_INCLUDED] = {"not_included", "include_operations of the entry does not name it"},
    [PTC_LEFT_HIDDEN] = {"hidden", "include_tools or exclude_tools of the entry leaves it out"},
    [PTC_LEFT_TRACE] = {"trace", "TRACE is never sent"},
    [PTC_LEFT_OUTSIDE] = {"path_outside",
                          "its path has a part . or .., which leads out of the service; ask where "
                          "the document comes from"},
    [PTC_LEFT_ELSEWHERE] = {"other_host", "it leads to another host, and credentials go to one; a "
                                          "second entry with that \"base_url\" can have it"},
    [PTC_LEFT_NO_SERVER] = {"no_server", "the document does not say where the service is; "
                                         "\"base_url\" in the entry does"},
    [PTC_LEFT_REMOTE] = {"remote_reference", "it refers to another document, and only references "
                                             "inside of one are followed; bundle them"},
    [PTC_LEFT_BROKEN] = {"broken_reference",
                         "a reference in its path, parameters or body leads nowhere"},
    [PTC_LEFT_PARAMETER] = {"bad_parameter",
                            "one of its parameters has no name, or is in no place that there is"},
    [PTC_LEFT_PARAMETERS] = {"many_parameters", "it has more than 200 parameters"},
    [PTC_LEFT_MEDIA_TYPE] = {"media_type", "it wants a body of a media type that is not sent"},
    [PTC_LEFT_LONG_NAME] = {"long_name", "its name has more than 256 bytes; \"name\" in "
                                         "operation_overrides of the entry gives it another"},
    [PTC_LEFT_SAME_NAME] = {"same_name", "an operation before it has the same name"},
    [PTC_LEFT_MANY] = {"many_tools", "there are more than 5000 before it; include_operations of "
                                     "the entry chooses among them"},
    [PTC_LEFT_SIZE] = {"size", "what it refers to is too large"},
};
_Static_assert(PTC_OPENAPI_PARAMETERS == 200 && PTC_CATALOG_NAME_BYTES == 256 &&
                   PTC_CATALOG_TOOLS == 5000,
               "as the reasons say");

void ptc_openapi_left_note(PtcOpenapiHidden *hidden, PtcSkipReason left, PtcText name)
{
    if (hidden->counts[left]++ == 0)
        hidden->first[left] = name;
}

static PtcSkipReason why_writes(const PtcEntry *e, const PtcOperation *o)
{
    return o->reads || e->allow_writes ? PTC_LEFT_NOT : PTC_LEFT_WRITES;
}

/* As lists of operations may call it. */
static PtcSpelt spell_operation(PtcHeap *heap, const PtcEntry *e, const PtcOperation *o)
{
    return (PtcSpelt){.raw = o->name,
                      .other = ptc_fields_text(heap, override_of(heap, e, o->name), "name")};
}

/* TRACE would show what we send, credentials included. */
static PtcSkipReason why_unwanted(PtcHeap *heap, const PtcEntry *e, const PtcOperation *o)
{
    PtcSpelt name = spell_operation(heap, e, o);
    if (o->left)
        return o->left;
    if (strcmp(o->method, "TRACE") == 0)
        return PTC_LEFT_TRACE;
    if (!ptc_url_path_stays(o->path))
        return PTC_LEFT_OUTSIDE;
    if (why_writes(e, o))
        return PTC_LEFT_WRITES;
    if (is_listed_operation(e->exclude_operations, name, OPENAPI_LEFT_OUT))
        return PTC_LEFT_EXCLUDED;
    if (o->deprecated && !is_listed_operation(e->include_operations, name, OPENAPI_NAMED))
        return PTC_LEFT_DEPRECATED;
    if (e->include_operations != PTC_NONE &&
        !is_listed_operation(e->include_operations, name, OPENAPI_LISTED))
        return PTC_LEFT_NOT_INCLUDED;
    return PTC_LEFT_NOT;
}

static PtcValue base_of(ToolMaking *m, const PtcOperation *o)
{
    PtcText base = m->base == PTC_NIL ? (PtcText){NULL, 0} : ptc_str_text(m->base);
    return ptc_openapi_base(m->heap, m->document, o, base);
}

/* Does it lead where the others do? */
static PtcSkipReason why_away(ToolMaking *m, const PtcOperation *o)
{
    PtcUrl first, other;
    PtcValue base = base_of(m, o);
    if (base == PTC_NONE) {
        PtcOperation plain = {.operation = PTC_NIL, .item = PTC_NIL};
        return base_of(m, &plain) == PTC_NONE ? PTC_LEFT_NO_SERVER : PTC_LEFT_ELSEWHERE;
    }
    if (m->origin == PTC_NONE)
        m->origin = base;
    bool here = ptc_url_parse(ptc_str_text(m->origin), &first, NULL) &&
                ptc_url_parse(ptc_str_text(base), &other, NULL) &&
                ptc_url_same_server(&first, &other);
    return here ? PTC_LEFT_NOT : PTC_LEFT_ELSEWHERE;
}

/* Can its tool have this name? */
static PtcSkipReason why_unnamed(ToolMaking *m, PtcText name)
{
    if (name.len > PTC_CATALOG_NAME_BYTES)
        return PTC_LEFT_LONG_NAME;
    if (ptc_fields_get(m->heap, m->names, name) != PTC_NONE)
        return PTC_LEFT_SAME_NAME;
    return ptc_map_count(m->names) < PTC_CATALOG_TOOLS ? PTC_LEFT_NOT : PTC_LEFT_MANY;
}

/* ---------------------------------------------------------------------------------- schemas */

/* Arguments that the entry gives need not be given again. */
static void drop_given(PtcHeap *heap, PtcValue *schema, PtcValue given)
{
    PtcValue required = ptc_map_field(heap, *schema, "required"), list = ptc_fields_list(heap);
    if (given == PTC_NONE || !ptc_is_map(given))
        return;
    for (size_t i = 0; i < ptc_fields_count(required); i++) {
        PtcValue name = ptc_seq_nth(required, i);
        if (ptc_fields_get(heap, given, ptc_str_text(name)) == PTC_NONE)
            ptc_fields_push(heap, &list, name);
    }
    ptc_fields_put(heap, schema, "required", list);
}

static bool is_json_content_type(PtcText type)
{
    const char *end = memchr(type.bytes, ';', type.len);
    size_t n = end ? (size_t)(end - type.bytes) : type.len;
    return n >= 5 && strncasecmp(type.bytes + n - 4, "json", 4) == 0 &&
           (type.bytes[n - 5] == '/' || type.bytes[n - 5] == '+');
}

static PtcValue json_schema(PtcHeap *heap, PtcValue content)
{
    PtcValue key, media;
    if (content == PTC_NONE || !ptc_is_map(content))
        return PTC_NONE;
    for (size_t pos = 0; ptc_map_next(content, &pos, &key, &media);)
        if (is_json_content_type(ptc_str_text(key)))
            return ptc_map_field(heap, media, "schema");
    return PTC_NONE;
}

/* What a good answer is: one schema, or one of several.  PTC_NONE: nobody says it of all of them. */
static PtcValue output_schema(ToolMaking *m, const PtcOperation *o)
{
    PtcHeap *heap = m->heap;
    PtcValue key, value, answers = ptc_map_field(heap, o->operation, "responses");
    PtcValue any = ptc_fields_list(heap), out = ptc_fields_map(heap);
    if (answers == PTC_NONE || !ptc_is_map(answers))
        return PTC_NONE;
    for (size_t pos = 0; ptc_map_next(answers, &pos, &key, &value);) {
        if (!ptc_text_starts(ptc_str_text(key), "2"))
            continue;
        value = ptc_schema_view_follow(heap, m->document, value);
        PtcValue content = value == PTC_NONE || !ptc_is_map(value)
                               ? PTC_NONE
                               : ptc_map_field(heap, value, "content");
        PtcValue schema = json_schema(heap, content);
        if (schema != PTC_NONE && ptc_is_map(schema))
            ptc_fields_push(heap, &any, schema);
        else if (content != PTC_NONE)
            return PTC_NONE;
    }
    if (ptc_fields_count(any) == 1)
        return ptc_seq_nth(any, 0);
    ptc_fields_put(heap, &out, "anyOf", any);
    return ptc_fields_count(any) ? out : PTC_NONE;
}

/* ------------------------------------------------------------------------------------- tool */

/* As much of a text of the document as is kept; a character is never cut in two. */
static PtcText shortened(PtcText text)
{
    enum { OPENAPI_MOST = OPENAPI_DESCRIPTION / 2 - 2 };
    if (text.len > OPENAPI_MOST)
        text.len = ptc_utf8_valid_prefix(text.bytes, OPENAPI_MOST);
    return text;
}

static void put_description(PtcHeap *heap, PtcValue *tool, const PtcOperation *o, PtcValue override)
{
    PtcBuf text;
    PtcText own =
        override == PTC_NONE ? (PtcText){NULL, 0} : ptc_fields_text(heap, override, "description");
    PtcText summary = shortened(ptc_fields_text(heap, o->operation, "summary"));
    PtcText more = shortened(ptc_fields_text(heap, o->operation, "description"));
    if (own.bytes) {
        ptc_fields_put_text(heap, tool, "description", own);
        return;
    }
    ptc_buf_init(&text, heap->pool->mem, OPENAPI_DESCRIPTION);
    ptc_buf_add(&text, summary.bytes, summary.len);
    if (summary.len && more.len)
        ptc_buf_add_cstr(&text, summary.bytes[summary.len - 1] == '.' ? "\n" : ".\n");
    ptc_buf_add(&text, more.bytes, more.len);
    if (text.len)
        ptc_fields_put(heap, tool, "description", ptc_fields_buf(heap, &text));
    ptc_buf_deinit(&text);
}

static void put_annotations(PtcHeap *heap, PtcValue *tool, PtcEffect effect)
{
    PtcValue hints = ptc_fields_map(heap);
    if (effect.kind == PTC_EFFECT_UNKNOWN)
        return;
    ptc_fields_put(heap, &hints, "readOnlyHint", ptc_bool(effect.kind == PTC_EFFECT_READ));
    ptc_fields_put(heap, &hints, "destructiveHint",
                   ptc_bool(effect.kind == PTC_EFFECT_DESTRUCTIVE));
    ptc_fields_put(heap, &hints, "idempotentHint", ptc_bool(effect.idempotent));
    ptc_fields_put(heap, tool, "annotations", hints);
}

/* What is sent when it is called, "DELETE /pets/{id}", and where to if the document decides that: another operation
 * with the same name is not meant, and whoever agreed to this one did not agree to another. */
static void put_operation_request(ToolMaking *m, PtcValue *tool, const PtcOperation *o)
{
    PtcBuf text;
    ptc_buf_init(&text, m->heap->pool->mem, PTC_UNBOUNDED);
    ptc_buf_addf(&text, "%s ", o->method);
    ptc_buf_add(&text, o->path.bytes, o->path.len);
    ptc_fields_put(m->heap, tool, "request", ptc_fields_buf(m->heap, &text));
    ptc_buf_deinit(&text);
    if (!m->entry->base_url)
        ptc_fields_put(m->heap, tool, "base", base_of(m, o));
}

/* The tool, or why there is none. */
static PtcSkipReason make_tool(ToolMaking *m, PtcOperation *o, PtcValue *tool)
{
    PtcHeap *heap = m->heap;
    PtcValue override = override_of(heap, m->entry, o->name);
    PtcText other = ptc_fields_text(heap, override, "name"), name = other.len ? other : o->name;
    PtcSkipReason left;
    if ((left = why_unwanted(heap, m->entry, o)) || (left = why_away(m, o)) ||
        (left = ptc_openapi_load(m->arena, heap, m->document, o)) ||
        (left = why_writes(m->entry, o)) || (left = why_unnamed(m, name)))
        return left;
    PtcValue in = ptc_openapi_schema(heap, m->document, o), out = output_schema(m, o);
    if (in == PTC_NONE)
        return PTC_LEFT_SIZE;
    if (override != PTC_NONE)
        drop_given(heap, &in, ptc_map_field(heap, override, "default_args"));
    if (!ptc_openapi_refs_add(&m->refs, m->arena, &in) ||
        (out != PTC_NONE && !ptc_openapi_refs_add(&m->refs, m->arena, &out)))
        return PTC_LEFT_SIZE;
    *tool = ptc_fields_map(heap);
    ptc_fields_put_text(heap, tool, "name", name);
    put_description(heap, tool, o, override);
    ptc_fields_put(heap, tool, "inputSchema", in);
    ptc_fields_put(heap, tool, "outputSchema", out);
    put_annotations(heap, tool, o->effect);
    ptc_fields_put_text(heap, tool, "operation", o->name);
    put_operation_request(m, tool, o);
    ptc_fields_put_key(heap, &m->names, name, PTC_TRUE);
    return PTC_LEFT_NOT;
}

/* A name that was made of method and path does not last, so the path stands for it. */
static void note_left(ToolMaking *m, PtcOpenapiHidden *hidden, PtcSkipReason left,
                      const PtcOperation *o)
{
    PtcText name = ptc_fields_text(m->heap, o->operation, "operationId");
    ptc_openapi_left_note(hidden, left, name.len && left != PTC_LEFT_OUTSIDE ? name : o->path);
}

/* The tools of all operations, or of those with this name. */
static PtcValue make_tools(PtcHeap *heap, PtcValue document, const PtcEntry *entry, PtcText only,
                           PtcOpenapiHidden *hidden)
{
    PtcArena arena;
    PtcOperation o;
    PtcOpenapiEach each = {.item = PTC_NONE};
    PtcValue list = ptc_fields_list(heap), tool;
    ToolMaking m = {.arena = &arena,
                    .heap = heap,
                    .document = document,
                    .base = ptc_openapi_tools_base(heap, document, entry),
                    .entry = entry,
                    .refs = ptc_openapi_refs(heap, document),
                    .names = ptc_fields_map(heap),
                    .origin = PTC_NONE};
    ptc_arena_init(&arena, heap->pool->mem);
    while (ptc_fields_ok(heap) && m.base != PTC_NONE &&
           ptc_openapi_next(&arena, heap, document, &each, &o)) {
        if (only.bytes && !ptc_text_same(only, o.name))
            continue;
        PtcSkipReason left = make_tool(&m, &o, &tool);
        if (left == PTC_LEFT_NOT)
            ptc_fields_push(heap, &list, tool);
        else
            note_left(&m, hidden, left, &o);
        if (!arena.failed)
            ptc_arena_reset(&arena);
    }
    bool ok = !arena.failed && ptc_fields_ok(heap);
    ptc_arena_deinit(&arena);
    return ok ? list : PTC_NONE;
}

PtcValue ptc_openapi_tools(PtcHeap *heap, PtcValue document, const PtcEntry *entry,
                           PtcOpenapiHidden *hidden)
{
    return make_tools(heap, document, entry, (PtcText){NULL, 0}, hidden);
}

const char *ptc_openapi_tools_why(PtcHeap *heap, PtcValue document, const PtcEntry *entry,
                                  PtcText operation)
{
    PtcOpenapiHidden hidden = {0};
    (void)!make_tools(heap, document, entry, operation, &hidden);
    for (size_t i = 0; i < PTC_LEFT_REASONS; i++)
        if (hidden.counts[i])
            return ptc_openapi_left_reasons[i].text;
    return NULL;
}

bool ptc_openapi_tools_has(PtcHeap *heap, PtcValue document, const PtcEntry *entry, PtcText glob,
                           bool loosely, PtcNearest *near)
{
    PtcArena arena;
    PtcOperation o;
    PtcOpenapiEach each = {.item = PTC_NONE};
    bool found = false;
    ptc_arena_init(&arena, heap->pool->mem);
    while (!found && ptc_fields_ok(heap) && ptc_openapi_next(&arena, heap, document, &each, &o)) {
        found = ptc_policy_fits(glob, spell_operation(heap, entry, &o), loosely);
        PtcText own = ptc_fields_text(heap, o.operation, "operationId");
        if (own.len) /* it lasts as long as the document */
            ptc_nearest_offer(near, own.bytes, own.len);
        if (!arena.failed)
            ptc_arena_reset(&arena);
    }
    ptc_arena_deinit(&arena);
    return found;
}

/* ------------------------------------------------------------------------------------ about */

PtcValue ptc_openapi_tools_about(PtcHeap *heap, PtcValue document)
{
    PtcValue about = ptc_fields_map(heap), server = ptc_fields_map(heap);
    PtcValue info = ptc_map_field(heap, document, "info");
    if (info == PTC_NONE || !ptc_is_map(info))
        return PTC_NIL;
    PtcText title = ptc_fields_text(heap, info, "title");
    PtcText version = ptc_fields_text(heap, info, "version");
    PtcText says = ptc_fields_text(heap, info, "description");
    if (title.bytes)
        ptc_fields_put_text(heap, &server, "name", title);
    if (version.bytes)
        ptc_fields_put_text(heap, &server, "version", version);
    ptc_fields_put(heap, &about, "serverInfo", server);
    if (says.len)
        ptc_fields_put_text(heap, &about, "instructions", says);
    return about;
}

/* ------------------------------------------------------------------------------------- base */

/* An address without a host is meant as on the server that the document came from. */
PtcValue ptc_openapi_tools_base(PtcHeap *heap, PtcValue document, const PtcEntry *entry)
{
    PtcUrl url;
    PtcBuf out;
    PtcValue servers = ptc_map_field(heap, document, "servers");
    PtcText path = ptc_fields_count(servers) ? ptc_fields_text(heap, ptc_seq_nth(servers, 0), "url")
                                             : PTC_TEXT("/");
    if (entry->base_url)
        return ptc_fields_string(heap, ptc_text_cstr(entry->base_url));
    if (!path.len || path.bytes[0] != '/' || ptc_text_starts(path, "//") || !entry->schema_url)
        return PTC_NIL;
    PtcText from = ptc_text_cstr(entry->schema_url);
    if (!ptc_url_parse(from, &url, NULL))
        return PTC_NIL;
    ptc_buf_init(&out, heap->pool->mem, PTC_URL_BYTES);
    ptc_buf_add(&out, from.bytes, from.len - url.path.len);
    ptc_buf_add(&out, path.bytes, path.len);
    PtcValue base = ptc_buf_ok(&out) ? ptc_fields_buf(heap, &out) : PTC_NIL;
    ptc_buf_deinit(&out);
    return base;
}

/* ------------------------------------------------------------------------------------- auth */

/* What a security scheme of the document is as a binding; PTC_NONE: something that we cannot send. */
static PtcValue binding(PtcHeap *heap, PtcValue document, PtcText scheme, PtcValue credential)
{
    PtcValue components = ptc_map_field(heap, document, "components");
    PtcValue all =
        components == PTC_NONE ? PTC_NONE : ptc_map_field(heap, components, "securitySchemes");
    PtcValue v = all == PTC_NONE ? PTC_NONE : ptc_fields_get(heap, all, scheme);
    v = v == PTC_NONE ? v : ptc_schema_view_follow(heap, document, v);
    if (v == PTC_NONE || !ptc_is_map(v))
        return PTC_NONE;
    PtcValue out = ptc_fields_map(heap);
    PtcText type = ptc_fields_text(heap, v, "type"), how = ptc_fields_text(heap, v, "scheme");
    PtcText name = ptc_fields_text(heap, v, "name"), in = ptc_fields_text(heap, v, "in");
    bool basic = how.bytes && how.len == 5 && strncasecmp(how.bytes, "basic", 5) == 0;
    bool key = type.bytes && ptc_text_is(type, "apiKey");
    if (!type.bytes || (key && (!name.len || !in.bytes)))
        return PTC_NONE;
    ptc_fields_put_text(heap, &out, "scheme",
                        key     ? PTC_TEXT("api_key")
                        : basic ? PTC_TEXT("basic")
                                : PTC_TEXT("bearer"));
    ptc_fields_put(heap, &out, "binding", credential);
    if (key) {
        ptc_fields_put_text(heap, &out, "in", in);
        ptc_fields_put_text(heap, &out, ptc_text_is(in, "header") ? "header" : "name", name);
    }
    return out;
}

/* Are all schemes of a requirement ones that the entry has credentials for? */
static bool is_met(PtcHeap *heap, PtcValue requirement, PtcValue security)
{
    PtcValue key, value;
    if (!ptc_is_map(requirement))
        return false;
    for (size_t pos = 0; ptc_map_next(requirement, &pos, &key, &value);)
        if (ptc_fields_get(heap, security, ptc_str_text(key)) == PTC_NONE)
            return false;
    return true;
}

/* The first of the alternatives that can be met; PTC_NIL: the document says nothing, so every credential may be wanted;
 * PTC_NONE: none can be met. */
static PtcValue wanted_security(PtcHeap *heap, PtcValue document, PtcValue security,
                                PtcOperationName name)
{
    PtcArena arena;
    PtcOperation o;
    PtcOpenapiEach each = {.item = PTC_NONE};
    PtcValue list = ptc_map_field(heap, document, "security");
    ptc_arena_init(&arena, heap->pool->mem);
    while (ptc_openapi_next(&arena, heap, document, &each, &o))
        if (ptc_openapi_is(&o, name)) {
            PtcValue own = ptc_map_field(heap, o.operation, "security");
            list = own == PTC_NONE ? list : own;
            break;
        }
    ptc_arena_deinit(&arena);
    if (list == PTC_NONE)
        return PTC_NIL;
    for (size_t i = 0; i < ptc_fields_count(list); i++)
        if (is_met(heap, ptc_seq_nth(list, i), security))
            return ptc_seq_nth(list, i);
    return PTC_NONE;
}

/* Where the document says that tokens are to be had for client credentials; absent: nowhere. */
static PtcText token_url(PtcHeap *heap, PtcValue document)
{
    PtcValue key, value, components = ptc_map_field(heap, document, "components");
    PtcValue all =
        components == PTC_NONE ? PTC_NONE : ptc_map_field(heap, components, "securitySchemes");
    if (all == PTC_NONE || !ptc_is_map(all))
        return (PtcText){NULL, 0};
    for (size_t pos = 0; ptc_map_next(all, &pos, &key, &value);) {
        value = ptc_schema_view_follow(heap, document, value);
        PtcValue flows = value == PTC_NONE ? PTC_NONE : ptc_map_field(heap, value, "flows");
        PtcValue flow =
            flows == PTC_NONE ? PTC_NONE : ptc_map_field(heap, flows, "clientCredentials");
        PtcText url =
            flow == PTC_NONE ? (PtcText){NULL, 0} : ptc_fields_text(heap, flow, "tokenUrl");
        if (url.len)
            return url;
    }
    return (PtcText){NULL, 0};
}

/* {"token_url"}, when the entry has an id and a secret and the document takes them. */
static void push_client(PtcHeap *heap, PtcValue document, const PtcEntry *entry, PtcValue *out)
{
    PtcValue oauth = ptc_map_field(heap, entry->form, "oauth"), one = ptc_fields_map(heap);
    PtcText url = token_url(heap, document);
    if (oauth == PTC_NONE || !url.len || !ptc_fields_text(heap, oauth, "client_id").len ||
        !ptc_fields_text(heap, oauth, "client_secret").len)
        return;
    ptc_fields_put_text(heap, &one, "token_url", url);
    ptc_fields_push(heap, out, one);
}

PtcValue ptc_openapi_tools_auth(PtcHeap *heap, PtcValue document, const PtcEntry *entry,
                                PtcOperationName operation)
{
    PtcValue key, value, out = ptc_fields_list(heap), security = entry->security;
    for (size_t i = 0; i < ptc_fields_count(entry->auth); i++)
        ptc_fields_push(heap, &out, ptc_seq_nth(entry->auth, i));
    push_client(heap, document, entry, &out);
    if (security == PTC_NONE || !ptc_is_map(security))
        return out;
    PtcValue want = wanted_security(heap, document, security, operation);
    for (size_t pos = 0; want != PTC_NONE && ptc_map_next(security, &pos, &key, &value);) {
        PtcText name = ptc_str_text(key);
        PtcValue one = want == PTC_NIL || ptc_fields_get(heap, want, name) != PTC_NONE
                           ? binding(heap, document, name, value)
                           : PTC_NONE;
        if (one != PTC_NONE)
            ptc_fields_push(heap, &out, one);
    }
    return out;
}
