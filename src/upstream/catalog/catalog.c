/* SPDX-License-Identifier: MIT
 * From listings to a catalogue.  Entries without a name, with a schema that is not an object, or with the name of an
 * earlier one are left out and counted, so that one bad entry does not cost a server its other tools. */
#include "upstream/catalog/catalog.h"

#include "upstream/catalog/naming.h"
#include "value/coll/fields.h"

/* The name of an entry; absent: it is no tool that can be called. */
static PtcText entry_name(PtcHeap *heap, PtcValue entry)
{
    if (ptc_is_string(entry))
        return ptc_str_text(entry);
    PtcValue schema = ptc_map_field(heap, entry, "inputSchema");
    if (schema != PTC_NONE && !ptc_is_map(schema))
        return (PtcText){NULL, 0};
    return ptc_fields_text(heap, entry, "name");
}

/* Has this name not been seen before?  Notes it. */
static bool is_new_name(PtcHeap *heap, PtcValue *seen, PtcText name)
{
    if (ptc_fields_get(heap, *seen, name) != PTC_NONE)
        return false;
    ptc_fields_put_key(heap, seen, name, PTC_TRUE);
    return true;
}

static bool add_catalog_tools(PtcArena *arena, PtcHeap *heap, PtcValue tools, PtcCatalogServer *out)
{
    size_t n = ptc_fields_count(tools);
    size_t room = n < PTC_CATALOG_TOOLS ? n : PTC_CATALOG_TOOLS;
    PtcValue seen = ptc_fields_map(heap);
    out->tools = ptc_arena_zalloc(arena, (room + 1) * sizeof *out->tools);
    if (!out->tools || seen == PTC_NONE)
        return false;
    for (size_t i = 0; i < n && out->count < room; i++) {
        PtcValue entry = ptc_seq_nth(tools, i);
        PtcText name = entry_name(heap, entry);
        if (!name.bytes || !name.len || name.len > PTC_CATALOG_NAME_BYTES ||
            !is_new_name(heap, &seen, name))
            continue;
        out->tools[out->count++] =
            (PtcCatalogTool){.name = name,
                             .description = ptc_fields_text(heap, entry, "description"),
                             .definition = ptc_is_map(entry) ? entry : PTC_NONE};
    }
    out->left_out = n - out->count;
    return ptc_fields_ok(heap);
}

bool ptc_catalog_server(PtcArena *arena, PtcHeap *heap, PtcText name, PtcText ns, PtcValue tools,
                        PtcCatalogServer *out)
{
    *out = (PtcCatalogServer){.name = name, .ns = ns};
    if (!ns.bytes && !ptc_naming_namespace(arena, name, &out->ns))
        return false;
    return add_catalog_tools(arena, heap, tools, out) && ptc_naming_symbols(arena, heap, out);
}
