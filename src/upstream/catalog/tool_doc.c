/* SPDX-License-Identifier: MIT
 * What a model reads of a tool.  Texts of the upstream (names of arguments, defaults) are passed on as values; whoever
 * writes them out cleans them. */
#include "upstream/catalog/tool_doc.h"

#include "base/text/clean.h"
#include "tool/schema/schema_view.h"
#include "tool/schema/type_text.h"
#include "tool/seen/seen.h"
#include "value/coll/fields.h"

/* The schema of the arguments of one tool. */
typedef struct {
    PtcHeap *heap;
    PtcValue root, properties, required;
} Arguments;

static Arguments arguments_of(PtcHeap *heap, const PtcCatalogTool *tool)
{
    Arguments a = {heap, PTC_NONE, PTC_NONE, PTC_NONE};
    if (tool->definition != PTC_NONE)
        a.root = ptc_map_field(heap, tool->definition, "inputSchema");
    PtcValue schema = a.root == PTC_NONE ? PTC_NONE : ptc_schema_view_follow(heap, a.root, a.root);
    if (schema != PTC_NONE && ptc_is_map(schema)) {
        a.properties = ptc_schema_view_properties(heap, a.root, schema);
        a.required = ptc_schema_view_required(heap, a.root, schema);
    }
    return a;
}

static PtcValue type_text_of(PtcHeap *heap, PtcValue root, PtcValue schema, bool gives)
{
    PtcBuf text;
    ptc_buf_init(&text, heap->pool->mem, PTC_UNBOUNDED);
    ptc_type_text_add(&text, heap, root, schema, gives);
    PtcValue type = ptc_fields_buf(heap, &text);
    ptc_buf_deinit(&text);
    return type;
}

static PtcValue make_argument_doc(const Arguments *a, PtcText name, PtcValue schema, bool required)
{
    PtcValue out = ptc_fields_map(a->heap);
    PtcValue behind = ptc_schema_view_follow(a->heap, a->root, schema);
    PtcValue value = ptc_map_field(a->heap, schema, "default");
    if (value == PTC_NONE && behind != PTC_NONE)
        value = ptc_map_field(a->heap, behind, "default");
    ptc_fields_put_text(a->heap, &out, "name", name);
    ptc_fields_put(a->heap, &out, "type", type_text_of(a->heap, a->root, schema, false));
    ptc_fields_put(a->heap, &out, "required", ptc_bool(required));
    ptc_fields_put(a->heap, &out, "default", value);
    return out;
}

/* Calls `each` for every argument in the order of readers: required ones as they are listed, then the others. */
static void each_argument(const Arguments *a, void (*each)(void *, PtcText, PtcValue, bool),
                          void *user)
{
    PtcValue name, schema, seen = ptc_fields_map(a->heap);
    if (a->properties == PTC_NONE || seen == PTC_NONE)
        return;
    for (size_t i = 0; i < ptc_fields_count(a->required); i++) {
        PtcText text = ptc_str_text(ptc_seq_nth(a->required, i));
        PtcValue found = text.bytes ? ptc_fields_get(a->heap, a->properties, text) : PTC_NONE;
        if (found == PTC_NONE || ptc_fields_get(a->heap, seen, text) != PTC_NONE ||
            ptc_schema_view_implied(a->heap, a->root, found) != PTC_NONE)
            continue;
        ptc_fields_put_key(a->heap, &seen, text, PTC_TRUE);
        each(user, text, found, true);
    }
    for (size_t pos = 0; ptc_map_next(a->properties, &pos, &name, &schema);)
        if (ptc_map_get(a->heap, seen, name) == PTC_NONE)
            each(user, ptc_str_text(name), schema, false);
}

typedef struct {
    const Arguments *arguments;
    PtcValue args, keys;
} Lists;

static void list_argument(void *user, PtcText name, PtcValue schema, bool required)
{
    Lists *to = user;
    PtcHeap *heap = to->arguments->heap;
    ptc_fields_push(heap, &to->args, make_argument_doc(to->arguments, name, schema, required));
    if (required)
        ptc_fields_push(heap, &to->keys, ptc_fields_string(heap, name));
}

/* FastMCP's wrapping is taken away from results, so it is from their type. */
PtcValue ptc_tool_doc_result(PtcHeap *heap, const PtcCatalogTool *tool, PtcValue *root)
{
    *root = tool->definition == PTC_NONE ? PTC_NONE
                                         : ptc_map_field(heap, tool->definition, "outputSchema");
    if (*root == PTC_NONE || !ptc_is_map(*root))
        return PTC_NONE;
    PtcValue properties = ptc_map_field(heap, *root, "properties"), inner = PTC_NONE;
    if (ptc_fields_is(heap, *root, "x-fastmcp-wrap-result", PTC_TRUE) && properties != PTC_NONE)
        inner = ptc_map_field(heap, properties, "result");
    return inner == PTC_NONE ? *root : inner;
}

bool ptc_tool_doc_is_open(PtcHeap *heap, const PtcCatalogTool *tool)
{
    PtcValue root, schema = ptc_tool_doc_result(heap, tool, &root);
    PtcBuf type;
    if (schema == PTC_NONE)
        return true;
    ptc_buf_init(&type, heap->pool->mem, PTC_TYPE_TEXT_BYTES);
    ptc_type_text_add_whole(&type, heap, root, schema, true);
    bool open = ptc_seen_leaves_open(type.mem, ptc_buf_view(&type));
    ptc_buf_deinit(&type);
    return open;
}

void ptc_tool_doc_seen(PtcBuf *out, const PtcCatalogTool *tool)
{
    if (!tool->seen.bytes)
        return;
    ptc_buf_add_cstr(out, " => seen ");
    ptc_seen_add_short(out, tool->seen, PTC_CLEAN_LINE);
}

static PtcValue returns(PtcHeap *heap, const PtcCatalogTool *tool)
{
    PtcValue root, schema = ptc_tool_doc_result(heap, tool, &root);
    return schema == PTC_NONE ? ptc_fields_string(heap, PTC_TEXT("unknown"))
                              : type_text_of(heap, root, schema, true);
}

static PtcValue symbol_of(PtcHeap *heap, const PtcCatalogServer *server, const PtcCatalogTool *tool)
{
    PtcBuf text;
    ptc_buf_init(&text, heap->pool->mem, PTC_UNBOUNDED);
    ptc_buf_add(&text, server->ns.bytes, server->ns.len);
    ptc_buf_add_char(&text, '/');
    ptc_buf_add(&text, tool->symbol.bytes, tool->symbol.len);
    PtcValue symbol = ptc_fields_buf(heap, &text);
    ptc_buf_deinit(&text);
    return symbol;
}

PtcValue ptc_tool_doc(PtcHeap *heap, const PtcCatalogServer *server, const PtcCatalogTool *tool,
                      PtcEffect effect)
{
    Arguments a = arguments_of(heap, tool);
    Lists lists = {&a, ptc_fields_list(heap), ptc_fields_list(heap)};
    PtcValue doc = ptc_fields_map(heap);
    each_argument(&a, list_argument, &lists);
    ptc_fields_put(heap, &doc, "symbol", symbol_of(heap, server, tool));
    ptc_fields_put(heap, &doc, "args", lists.args);
    ptc_fields_put(heap, &doc, "example_keys", lists.keys);
    ptc_fields_put(heap, &doc, "returns", returns(heap, tool));
    ptc_fields_put_text(heap, &doc, "effect", ptc_text_cstr(ptc_effect_name(effect.kind)));
    return ptc_fields_ok(heap) ? doc : PTC_NONE;
}

/* ------------------------------------------------------------------------------- one line */

typedef struct {
    const Arguments *arguments;
    PtcBuf *out;
    size_t count;
} DocLine;

static void write_argument(void *user, PtcText name, PtcValue schema, bool required)
{
    DocLine *line = user;
    if (line->count++)
        ptc_buf_add_cstr(line->out, ", ");
    ptc_clean_add(line->out, name, PTC_CLEAN_LINE, false);
    ptc_buf_add_cstr(line->out, required ? " " : "? ");
    ptc_type_text_add(line->out, line->arguments->heap, line->arguments->root, schema, false);
}

void ptc_tool_doc_arguments(PtcBuf *out, PtcHeap *heap, const PtcCatalogTool *tool)
{
    Arguments a = arguments_of(heap, tool);
    DocLine line = {&a, out, 0};
    ptc_buf_add_char(out, '{');
    each_argument(&a, write_argument, &line);
    ptc_buf_add_char(out, '}');
}
