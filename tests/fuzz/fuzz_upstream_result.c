/* SPDX-License-Identifier: MIT
 * fuzz_upstream_result.c - what servers say: results, listings with their schemas, descriptions; and arguments for
 * them.  {"result", "tool", "args", "query"}. */
#include "base/text/clean.h"
#include "fuzz/upstream_help.h"
#include "upstream/catalog/catalog_text.h"
#include "upstream/catalog/naming.h"
#include "upstream/catalog/tool_doc.h"
#include "upstream/catalog/tool_search.h"
#include "upstream/connect/mcp_headers.h"
#include "upstream/run/arguments.h"
#include "upstream/run/tool_result.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_result(Desk *d, PtcValue input, bool modern)
{
    PtcToolResult out;
    PtcToolResultIn in = {.result = ptc_map_field(&d->heap, input, "result"), .modern = modern};
    PtcValue tool = ptc_map_field(&d->heap, input, "tool");
    in.output_schema = ptc_map_field(&d->heap, tool, "outputSchema");
    if (in.result != PTC_NONE && ptc_tool_result_read(&d->heap, &in, &out))
        desk_check_json(d, out.ok ? out.value : out.message);
}

static void read_arguments(Desk *d, PtcValue input)
{
    PtcArgumentIssues issues;
    PtcValue schema =
        ptc_map_field(&d->heap, ptc_map_field(&d->heap, input, "tool"), "inputSchema");
    PtcValue args = ptc_map_field(&d->heap, input, "args");
    PtcArgumentsIn in = {.schema = schema, .root = schema, .args = args};
    if (args == PTC_NONE)
        return;
    PtcValue sent = ptc_arguments_fit(&d->heap, &in, &issues);
    assert(sent != PTC_NONE || issues.count || !ptc_fields_ok(&d->heap));
    desk_check_json(d, sent);
    if (schema != PTC_NONE && ptc_mcp_headers_fit(&d->heap, schema))
        desk_check_json(d, ptc_mcp_headers(&d->heap, PTC_TEXT("x"), schema, args));
}

static void read_listing(Desk *d, PtcValue input)
{
    PtcCatalogServer server;
    PtcToolHit *hits;
    PtcBuf text;
    size_t count;
    PtcValue tools = ptc_fields_list(&d->heap);
    ptc_fields_push(&d->heap, &tools, ptc_map_field(&d->heap, input, "tool"));
    if (tools == PTC_NONE ||
        !ptc_catalog_server(&d->arena, &d->heap, PTC_TEXT("s"), (PtcText){NULL, 0}, tools, &server))
        return;
    PtcCatalog catalog = {&server, 1};
    PtcText query = ptc_fields_text(&d->heap, input, "query");
    for (size_t i = 0; i < server.count; i++)
        desk_check_json(d, ptc_tool_doc(&d->heap, &server, &server.tools[i], (PtcEffect){0}));
    ptc_buf_init(&text, &d->mem, SIZE_MAX / 4);
    ptc_catalog_text_add(&text, &d->heap, &catalog, 400);
    assert(text.len <= 400);
    ptc_clean_add(&text, query, 50, true);
    assert(text.len <= 450 && (text.failed || ptc_utf8_valid(ptc_buf_view(&text).bytes, text.len)));
    ptc_buf_deinit(&text);
    if (query.bytes)
        (void)!ptc_tool_search(&d->arena, &d->heap, &catalog, query, &hits, &count);
    (void)!ptc_naming_find(&d->arena, &catalog, PTC_TEXT("s"), query.bytes ? query : PTC_TEXT("x"),
                           &(PtcNamed){0});
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Desk d;
    PtcJsonError error;
    if (size < 2)
        return 0;
    char *copy = desk_copy(data, size);
    desk_init(&d);
    PtcValue input = ptc_json_parse(&d.heap, copy, size - 1, &error);
    ptc_mem_fail_at(&d.mem, data[0] & 0x80 ? data[0] & 0x7f : 0);
    if (input != PTC_NONE && ptc_is_map(input)) {
        read_result(&d, input, data[0] & 1);
        read_arguments(&d, input);
        read_listing(&d, input);
    }
    desk_deinit(&d);
    free(copy);
    return 0;
}
