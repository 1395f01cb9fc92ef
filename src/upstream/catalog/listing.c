/* SPDX-License-Identifier: MIT
 * From the text of tools/list to a listing.  Nothing that an upstream says is trusted: entries that are not tools are
 * left out and counted, and the rest stays data. */
#include "upstream/catalog/listing.h"

#include "base/text/hex.h"
#include "base/text/hmac.h"
#include "json/parse.h"
#include "tool/schema/schema.h"
#include "upstream/catalog/canonical.h"
#include "upstream/catalog/naming.h"
#include "upstream/catalog/tool_doc.h"
#include "upstream/connect/mcp_headers.h"
#include "value/coll/fields.h"

/* Of an operation; an MCP server may write what it likes there. */
static PtcText operation_name_of(PtcHeap *heap, const PtcEntry *entry, PtcValue tool)
{
    return entry->openapi ? ptc_fields_text(heap, tool, "operation") : (PtcText){NULL, 0};
}

PtcSpelt ptc_listing_spelt(PtcHeap *heap, const PtcEntry *entry, PtcValue tool,
                           char symbol[PTC_CATALOG_NAME_BYTES + 1])
{
    PtcText name = ptc_fields_text(heap, tool, "name");
    PtcSpelt out = {.raw = name, .other = operation_name_of(heap, entry, tool)};
    if (name.bytes && name.len <= PTC_CATALOG_NAME_BYTES)
        out.shown = (PtcText){symbol, ptc_naming_symbol(name, symbol)};
    return out;
}

PtcSpelt ptc_listing_spelt_tool(PtcHeap *heap, const PtcEntry *entry, const PtcCatalogTool *tool)
{
    return (PtcSpelt){tool->name, tool->symbol, operation_name_of(heap, entry, tool->definition)};
}

/* May programs see this entry of the listing?  Over HTTP a tool whose headers cannot be made cannot be called. */
static bool is_shown_tool(PtcHeap *heap, const PtcEntry *entry, PtcValue tool)
{
    char symbol[PTC_CATALOG_NAME_BYTES + 1];
    PtcSpelt name = ptc_listing_spelt(heap, entry, tool, symbol);
    if (!name.raw.bytes || !ptc_entry_shows(entry, name))
        return false;
    PtcValue schema = ptc_map_field(heap, tool, "inputSchema");
    return !entry->web || schema == PTC_NONE || ptc_mcp_headers_fit(heap, schema);
}

static PtcValue list_shown_tools(PtcListing *l, const PtcEntry *entry, PtcValue tools)
{
    PtcHeap *heap = &l->scratch.heap;
    PtcValue list = ptc_fields_list(heap);
    size_t n = ptc_fields_count(tools);
    for (size_t i = 0; list != PTC_NONE && i < n; i++) {
        PtcValue tool = ptc_seq_nth(tools, i);
        if (is_shown_tool(heap, entry, tool))
            ptc_fields_push(heap, &list, tool);
        else
            ptc_openapi_left_note(&l->hidden, PTC_LEFT_HIDDEN, ptc_fields_text(heap, tool, "name"));
    }
    return list;
}

static bool read_listing_effects(PtcListing *l, const PtcEntry *entry)
{
    PtcHeap *heap = &l->scratch.heap;
    l->effects = ptc_arena_alloc(&l->scratch.arena, (l->server.count + 1) * sizeof *l->effects);
    for (size_t i = 0; l->effects && i < l->server.count; i++) {
        const PtcCatalogTool *tool = &l->server.tools[i];
        l->effects[i] = ptc_effect_of(heap, ptc_listing_spelt_tool(heap, entry, tool),
                                      ptc_map_field(heap, tool->definition, "annotations"),
                                      entry->effects, !entry->distrust);
    }
    return l->effects != NULL;
}

static bool make_schemas(PtcListing *l)
{
    size_t n = 2 * l->server.count + 1;
    l->schemas = ptc_arena_zalloc(&l->scratch.arena, n * sizeof *l->schemas);
    l->compiled = ptc_arena_zalloc(&l->scratch.arena, n);
    l->digests = ptc_arena_zalloc(&l->scratch.arena, (l->server.count + 1) * sizeof *l->digests);
    l->open = ptc_arena_zalloc(&l->scratch.arena, l->server.count + 1);
    return l->schemas && l->compiled && l->digests && l->open;
}

/* The tools of a document, which is kept: calls are made from it. */
static PtcValue read_document(PtcListing *l, const PtcEntry *entry, PtcValue document)
{
    PtcHeap *heap = &l->scratch.heap;
    if (document == PTC_NONE || !ptc_is_map(document) ||
        !ptc_openapi_is_document(heap, document, NULL))
        return PTC_NONE;
    l->document = document;
    l->about = ptc_openapi_tools_about(heap, document);
    return ptc_openapi_tools(heap, document, entry, &l->hidden);
}

static bool fill_listing(PtcListing *l, const PtcEntry *entry, PtcText tools, PtcText about)
{
    PtcJsonError error;
    PtcHeap *heap = &l->scratch.heap;
    PtcValue list = ptc_json_parse(heap, tools.bytes, tools.len, &error);
    l->about =
        about.bytes && about.len ? ptc_json_parse(heap, about.bytes, about.len, &error) : PTC_NIL;
    if (entry->openapi)
        list = read_document(l, entry, list);
    if (list == PTC_NONE || !ptc_is_sequential(list) || l->about == PTC_NONE)
        return false;
    l->all = list;
    PtcValue visible = list_shown_tools(l, entry, list);
    if (visible == PTC_NONE ||
        !ptc_catalog_server(&l->scratch.arena, heap, entry->name, entry->ns, visible, &l->server))
        return false;
    PtcValue info = ptc_map_field(heap, l->about, "serverInfo");
    l->server.description =
        entry->description.len ? entry->description : ptc_fields_text(heap, info, "description");
    return read_listing_effects(l, entry) && make_schemas(l) && ptc_fields_ok(heap);
}

PtcListing *ptc_listing_new(PtcMem *mem, const PtcEntry *entry, PtcText tools, PtcText about,
                            bool modern)
{
    PtcListing *l = ptc_mem_alloc(mem, sizeof *l);
    if (!l)
        return NULL;
    memset(l, 0, sizeof *l);
    l->mem = mem;
    l->modern = modern;
    l->wall_ms = ptc_clock_wall_ms();
    l->bytes = tools.len;
    l->document = PTC_NONE;
    atomic_init(&l->refs, 1);
    pthread_mutex_init(&l->lock, NULL);
    ptc_scratch_init(&l->scratch, mem, PTC_LISTING_BYTES);
    l->memo = ptc_fields_map(&l->scratch.heap);
    if (fill_listing(l, entry, tools, about))
        return l;
    ptc_listing_drop(l);
    return NULL;
}

PtcListing *ptc_listing_hold(PtcListing *l)
{
    if (l)
        atomic_fetch_add(&l->refs, 1);
    return l;
}

void ptc_listing_drop(PtcListing *l)
{
    if (!l || atomic_fetch_sub(&l->refs, 1) > 1)
        return;
    ptc_scratch_deinit(&l->scratch);
    pthread_mutex_destroy(&l->lock);
    ptc_mem_free(l->mem, l, sizeof *l);
}

/* With the lock held.  False: the budget has stopped, and another may not. */
static bool compile_tool_schema(PtcListing *l, size_t tool, bool results, PtcBudget *budget,
                                const PtcSchema **out)
{
    PtcSchemaError error = {0};
    PtcValue value = ptc_map_field(&l->scratch.heap, l->server.tools[tool].definition,
                                   results ? "outputSchema" : "inputSchema");
    if (value == PTC_NONE ||
        !ptc_schema_compile(&l->scratch.arena, l->mem, budget, value, out, &error))
        *out = NULL;
    return !error.stopped;
}

const PtcSchema *ptc_listing_schema(PtcListing *l, size_t tool, bool results, PtcBudget *budget)
{
    size_t at = tool + (results ? l->server.count : 0);
    pthread_mutex_lock(&l->lock);
    if (!l->compiled[at])
        l->compiled[at] = compile_tool_schema(l, tool, results, budget, &l->schemas[at]);
    const PtcSchema *schema = l->schemas[at];
    pthread_mutex_unlock(&l->lock);
    return schema;
}

/* With the lock held.  What a tool does not say is not the same as an empty text. */
static bool add_definition_digest(PtcListing *l, PtcValue definition, const char *const members[3],
                                  char *out)
{
    enum { LISTING_HALF = PTC_LISTING_DIGEST / 4 / 2 };
    uint8_t sum[PTC_SHA256_BYTES];
    PtcBuf text;
    bool ok = true;
    ptc_buf_init(&text, l->mem, PTC_LISTING_BYTES);
    for (size_t i = 0; ok && i < 3 && members[i]; i++) {
        PtcValue v = ptc_map_field(&l->scratch.heap, definition, members[i]);
        ok = v == PTC_NONE || ptc_canonical_add_schema(&text, &l->scratch.heap, &l->memo, v);
    }
    ptc_sha256(text.data ? text.data : "", text.len, sum);
    ptc_hex_write(out, sum, LISTING_HALF);
    ptc_buf_deinit(&text);
    return ok;
}

/* How an operation is sent counts as its arguments do. */
static char *make_digest(PtcListing *l, size_t tool)
{
    static const char *const members[][3] = {
        {"description"}, {"inputSchema", "request", "base"}, {"outputSchema"}, {"annotations"}};
    PtcValue definition = l->server.tools[tool].definition;
    char *out = ptc_arena_alloc(&l->scratch.arena, PTC_LISTING_DIGEST + 1);
    for (size_t i = 0; out && i < 4; i++)
        if (!add_definition_digest(l, definition, members[i], out + i * PTC_LISTING_DIGEST / 4))
            return NULL;
    return out;
}

const char *ptc_listing_digest(PtcListing *l, size_t tool)
{
    pthread_mutex_lock(&l->lock);
    if (!l->digests[tool])
        l->digests[tool] = make_digest(l, tool);
    const char *digest = l->digests[tool];
    pthread_mutex_unlock(&l->lock);
    return digest;
}

bool ptc_listing_is_open(PtcListing *l, size_t tool)
{
    pthread_mutex_lock(&l->lock);
    if (!l->open[tool])
        l->open[tool] = ptc_tool_doc_is_open(&l->scratch.heap, &l->server.tools[tool]) ? 'y' : 'n';
    bool open = l->open[tool] == 'y';
    pthread_mutex_unlock(&l->lock);
    return open;
}

int ptc_listing_find(const PtcListing *l, PtcText name)
{
    for (size_t i = 0; i < l->server.count; i++)
        if (ptc_text_same(l->server.tools[i].name, name))
            return (int)i;
    return -1;
}
