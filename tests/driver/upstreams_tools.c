/* SPDX-License-Identifier: MIT
 * `ptc-test-driver upstreams`: names, documentation, search and policy of tools. */
#include "driver/upstreams_desk.h"

#include "base/text/clean.h"
#include "upstream/catalog/catalog_text.h"
#include "upstream/catalog/naming.h"
#include "upstream/catalog/tool_doc.h"
#include "upstream/catalog/tool_search.h"
#include "upstream/config/policy.h"

/* A catalogue of [{"name", "description"?, "namespace"?, "tools"}, ...]; anything else is left out. */
static bool read_servers(PtcArena *arena, PtcHeap *heap, PtcValue servers, PtcCatalog *out)
{
    size_t n = ptc_fields_count(servers);
    *out = (PtcCatalog){.servers = ptc_arena_zalloc(arena, (n + 1) * sizeof *out->servers)};
    if (!out->servers)
        return false;
    for (size_t i = 0; i < n; i++) {
        PtcValue server = ptc_seq_nth(servers, i);
        PtcText name = ptc_fields_text(heap, server, "name");
        if (!name.bytes)
            continue;
        PtcCatalogServer *to = &out->servers[out->count++];
        PtcValue tools = ptc_map_field(heap, server, "tools");
        if (!ptc_catalog_server(arena, heap, name, ptc_fields_text(heap, server, "namespace"),
                                tools, to))
            return false;
        to->description = ptc_fields_text(heap, server, "description");
    }
    return true;
}

static const char *catalog_form_name(PtcCatalogForm form)
{
    static const char *const names[] = {"inline", "summary", "lazy", "absent"};
    return names[form];
}

static bool read_catalog(PtcUpstreamsDesk *desk, PtcCatalog *catalog, const char **why)
{
    PtcValue servers = ptc_upstreams_in(desk, "servers");
    *why = "\"servers\" must be an array";
    if (servers == PTC_NONE || !ptc_is_sequential(servers))
        return false;
    *why = "out of memory";
    return read_servers(&desk->arena, &desk->heap, servers, catalog);
}

bool ptc_upstreams_name(PtcUpstreamsDesk *desk, const char **why)
{
    PtcCatalog catalog;
    PtcBuf *out = desk->out;
    if (!read_catalog(desk, &catalog, why))
        return false;
    ptc_emit_key(out, "names");
    ptc_emit_array(out);
    for (size_t i = 0; i < catalog.count; i++) {
        const PtcCatalogServer *server = &catalog.servers[i];
        ptc_emit_object(out);
        ptc_emit_field_text(out, "server", server->name);
        ptc_emit_field_text(out, "namespace", server->ns);
        ptc_emit_key(out, "tools");
        ptc_emit_array(out);
        for (size_t j = 0; j < server->count; j++) {
            ptc_emit_object(out);
            ptc_emit_field_text(out, "tool", server->tools[j].name);
            ptc_emit_field_text(out, "symbol", server->tools[j].symbol);
            ptc_emit_object_end(out);
        }
        ptc_emit_array_end(out);
        ptc_emit_object_end(out);
    }
    ptc_emit_array_end(out);
    return true;
}

static void put_not_found(PtcBuf *out, const PtcNamed *named)
{
    ptc_emit_field_cstr(out, "kind", named->server ? "unknown_tool" : "unbound_var");
    if (named->nearest.bytes)
        ptc_emit_field_text(out, "nearest", named->nearest);
    if (!named->several)
        return;
    ptc_emit_key(out, "ambiguous");
    ptc_emit_array(out);
    for (size_t i = 0; i < named->several_count; i++)
        ptc_emit_text(out, named->several[i]);
    ptc_emit_array_end(out);
}

bool ptc_upstreams_lookup(PtcUpstreamsDesk *desk, const char **why)
{
    PtcCatalog catalog;
    PtcText symbol = ptc_upstreams_text(desk, "symbol");
    const char *slash = symbol.bytes ? memchr(symbol.bytes, '/', symbol.len) : NULL;
    if (!read_catalog(desk, &catalog, why))
        return false;
    *why = "\"symbol\" must be a name such as \"server/tool\"";
    if (!slash)
        return false;
    size_t n = (size_t)(slash - symbol.bytes);
    PtcNamed named;
    *why = "out of memory";
    if (!ptc_naming_find(&desk->arena, &catalog, (PtcText){symbol.bytes, n},
                         (PtcText){slash + 1, symbol.len - n - 1}, &named))
        return false;
    ptc_emit_field_bool(desk->out, "ok", named.tool != NULL);
    if (named.tool) {
        ptc_emit_field_text(desk->out, "server", named.server->name);
        ptc_emit_field_text(desk->out, "tool", named.tool->name);
    } else {
        put_not_found(desk->out, &named);
    }
    return true;
}

bool ptc_upstreams_doc(PtcUpstreamsDesk *desk, const char **why)
{
    PtcHeap *heap = &desk->heap;
    PtcCatalogServer server;
    PtcValue key, value, tool = ptc_upstreams_in(desk, "tool"), tools = ptc_fields_list(heap);
    ptc_fields_push(heap, &tools, tool);
    *why = "\"server\" must be a name and \"tool\" an entry of tools/list";
    if (!ptc_catalog_server(&desk->arena, heap, ptc_upstreams_text(desk, "server"),
                            (PtcText){NULL, 0}, tools, &server) ||
        server.count == 0)
        return false;
    PtcValue annotations = ptc_map_field(heap, tool, "annotations");
    PtcEffect effect =
        ptc_effect_of(heap, (PtcSpelt){.raw = server.tools[0].name}, annotations, PTC_NONE, true);
    PtcValue doc = ptc_tool_doc(heap, &server, &server.tools[0], effect);
    if (doc != PTC_NONE)
        for (size_t pos = 0; ptc_map_next(doc, &pos, &key, &value);)
            ptc_upstreams_put(desk, ptc_str_bytes(key), value);
    return doc != PTC_NONE;
}

bool ptc_upstreams_describe(PtcUpstreamsDesk *desk, const char **why)
{
    PtcCatalog catalog;
    PtcBuf text;
    PtcValue budget = ptc_upstreams_in(desk, "budget");
    size_t max = budget != PTC_NONE && ptc_is_int(budget) && ptc_to_int(budget) > 0
                     ? (size_t)ptc_to_int(budget)
                     : PTC_CATALOG_TEXT_BYTES;
    if (!read_catalog(desk, &catalog, why))
        return false;
    ptc_buf_init(&text, desk->mem, PTC_UNBOUNDED);
    PtcCatalogForm form = ptc_catalog_text_add(&text, &desk->heap, &catalog, max);
    if (form == PTC_CATALOG_ABSENT)
        ptc_emit_field_bool(desk->out, "absent", true);
    else
        ptc_emit_field_cstr(desk->out, "form", catalog_form_name(form));
    ptc_emit_field_uint(desk->out, "bytes", text.len);
    ptc_emit_field_uint(desk->out, "max_bytes", max);
    ptc_emit_field_text(desk->out, "text", ptc_buf_view(&text));
    ptc_buf_deinit(&text);
    return true;
}

static void put_hit(PtcUpstreamsDesk *desk, const PtcToolHit *hit)
{
    ptc_emit_string(desk->out);
    ptc_emit_string_part(desk->out, hit->server->ns);
    ptc_emit_string_part(desk->out, PTC_TEXT("/"));
    ptc_emit_string_part(desk->out, hit->tool->symbol);
    ptc_emit_string_end(desk->out);
}

bool ptc_upstreams_apropos(PtcUpstreamsDesk *desk, const char **why)
{
    PtcCatalog catalog;
    PtcToolHit *hits;
    size_t count;
    PtcText query = ptc_upstreams_text(desk, "query");
    if (!read_catalog(desk, &catalog, why))
        return false;
    *why = "\"query\" must be a string";
    if (!query.bytes || !ptc_tool_search(&desk->arena, &desk->heap, &catalog, query, &hits, &count))
        return false;
    ptc_emit_field_bool(desk->out, "empty", count == 0);
    if (count) {
        ptc_emit_key(desk->out, "first");
        put_hit(desk, &hits[0]);
    }
    ptc_emit_key(desk->out, "found");
    ptc_emit_array(desk->out);
    for (size_t i = 0; i < count && i < 8; i++)
        put_hit(desk, &hits[i]);
    ptc_emit_array_end(desk->out);
    return true;
}

static bool parse_posture(PtcText text, PtcPosture *out)
{
    static const char *const names[] = {"default", "read-only", "trusting", "allow-all"};
    for (int i = 0; i < 4; i++)
        if (ptc_text_is(text, names[i])) {
            *out = (PtcPosture)i;
            return true;
        }
    return false;
}

bool ptc_upstreams_policy(PtcUpstreamsDesk *desk, const char **why)
{
    PtcHeap *heap = &desk->heap;
    PtcValue tool = ptc_upstreams_in(desk, "tool");
    PtcText posture = ptc_upstreams_text(desk, "posture");
    PtcPolicyIn in = {
        .server.raw = ptc_upstreams_text(desk, "server"),
        .tool.raw = ptc_fields_text(heap, tool, "name"),
        .annotations = ptc_map_field(heap, tool, "annotations"),
        .was = ptc_upstreams_in(desk, "was"),
        .effects = ptc_upstreams_in(desk, "effects"),
        .upstream_policy = ptc_upstreams_in(desk, "upstream_policy"),
        .file_policy = ptc_upstreams_in(desk, "policy"),
        .distrust = ptc_upstreams_in(desk, "trust_annotations") == PTC_FALSE,
        .approved = ptc_upstreams_in(desk, "approved") == PTC_TRUE,
        .cannot_ask = ptc_upstreams_in(desk, "can_ask") == PTC_FALSE,
    };
    *why =
        "\"tool\" must have a name, and \"posture\" be default, read-only, trusting or allow-all";
    if (!in.tool.raw.bytes || (posture.bytes && !parse_posture(posture, &in.posture)))
        return false;
    PtcPolicyOut out = ptc_policy_decide(heap, &in);
    ptc_emit_field_cstr(desk->out, "effect", ptc_effect_name(out.effect.kind));
    ptc_emit_field_bool(desk->out, "idempotent", out.effect.idempotent);
    ptc_emit_field_cstr(desk->out, "decision", ptc_policy_name(out.decision));
    ptc_emit_field_cstr(desk->out, "why", ptc_call_reasons[out.why].word);
    return true;
}
