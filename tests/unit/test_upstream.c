/* SPDX-License-Identifier: MIT
 * Upstreams, what the cases of tests/upstream do not say: sizes at their edges, schemas and documents that refer to
 * themselves, work that stays bounded, and every allocation failing once. */
#include "check.h"

#include <time.h>

#include "base/os/cancel.h"
#include "base/text/clean.h"
#include "json/emit.h"
#include "json/parse.h"
#include "tool/schema/type_text.h"
#include "trace/redact.h"
#include "upstream/catalog/canonical.h"
#include "upstream/catalog/catalog_text.h"
#include "upstream/catalog/naming.h"
#include "upstream/catalog/quoted.h"
#include "upstream/catalog/tool_doc.h"
#include "upstream/catalog/tool_search.h"
#include "upstream/config/config.h"
#include "upstream/config/credentials.h"
#include "upstream/config/header.h"
#include "upstream/config/policy.h"
#include "upstream/connect/auth_apply.h"
#include "upstream/connect/roots.h"
#include "upstream/openapi/openapi_body.h"
#include "upstream/openapi/openapi_dialect.h"
#include "upstream/openapi/openapi_request.h"
#include "upstream/openapi/openapi_tools.h"
#include "upstream/run/arguments.h"
#include "upstream/run/tool_result.h"
#include "value/coll/fields.h"
#include "value/scratch.h"
#include "yaml/yaml_read.h"

static PtcValue parse(PtcHeap *heap, const char *json)
{
    PtcJsonError error;
    return ptc_json_parse(heap, json, strlen(json), &error);
}

/* ------------------------------------------------------------------------------------ roots */

static const char *read_roots(CheckHeap *h, PtcText result, size_t *left_out)
{
    static char shown[4096];
    PtcBuf out;
    ptc_buf_init(&out, &h->mem, PTC_ROOTS_BYTES);
    *left_out = ptc_roots_read(&h->mem, result, &out);
    CHECK(ptc_buf_ok(&out));
    snprintf(shown, sizeof shown, "%.*s", (int)out.len, out.data);
    ptc_buf_deinit(&out);
    return shown;
}

static void add_roots(PtcBuf *out, size_t count, size_t len)
{
    ptc_emit_object(out);
    ptc_emit_key(out, "roots");
    ptc_emit_array(out);
    for (size_t i = 0; i < count; i++) {
        ptc_buf_addf(out, "%s{\"uri\":\"file:///", i ? "," : "");
        for (size_t n = 8; n < len; n++)
            ptc_buf_add_char(out, 'x');
        ptc_buf_add_cstr(out, "\"}");
    }
    ptc_emit_array_end(out);
    ptc_emit_object_end(out);
}

/* What a client says of its directories is passed on to servers: files only, so many, and nothing that is hidden in
 * them. */
static void test_roots(CheckHeap *h)
{
    static const char *const none[] = {"",  "null",          "[]",
                                       "{", "{\"roots\":7}", "{\"roots\":{\"uri\":\"file:///a\"}}"};
    static const struct {
        const char *uri;
        bool good;
    } rows[] = {
        {"file:///", true},           {"file:///a%20b", true},        {"file:///a b", false},
        {"file:///a\\nb", false},     {"file://host/a", false},       {"file:/a", false},
        {"FILE:///a", false},         {"https://example.com", false}, {"", false},
        {"file:///a\\u0000b", false}, {"file:///a\\u007f", false}};
    size_t left;
    PtcBuf text;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        CHECK_STR(read_roots(h, ptc_text_cstr(none[i]), &left), "{\"roots\":[]}");
    CHECK_STR(read_roots(h, (PtcText){NULL, 0}, &left), "{\"roots\":[]}");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char one[200];
        snprintf(one, sizeof one, "{\"roots\":[{\"uri\":\"%s\",\"name\":7},{},3]}", rows[i].uri);
        (void)read_roots(h, ptc_text_cstr(one), &left);
        CHECK(left == (rows[i].good ? 2 : 3));
    }
    CHECK_STR(read_roots(
                  h,
                  PTC_TEXT("{\"roots\":[{\"uri\":\"file:///a\",\"name\":\"x\\ny\",\"_meta\":{}}]}"),
                  &left),
              "{\"roots\":[{\"uri\":\"file:///a\",\"name\":\"x y\"}]}");
    ptc_buf_init(&text, &h->mem, SIZE_MAX / 4);
    add_roots(&text, PTC_ROOTS + 3, 20);
    (void)read_roots(h, ptc_buf_view(&text), &left);
    CHECK(left == 3);
    for (size_t len = PTC_ROOT_URI; len <= PTC_ROOT_URI + 1; len++) {
        ptc_buf_clear(&text);
        add_roots(&text, 1, len);
        (void)read_roots(h, ptc_buf_view(&text), &left);
        CHECK(left == len - PTC_ROOT_URI);
    }
    ptc_buf_clear(&text);
    add_roots(&text, 200, 4000); /* more than is read at all */
    CHECK_STR(read_roots(h, ptc_buf_view(&text), &left), "{\"roots\":[]}");
    ptc_buf_deinit(&text);
}

/* ------------------------------------------------------------------------------------ texts */

static const char *cleaned(CheckHeap *h, const char *text, size_t max, bool first)
{
    static char shown[4096];
    PtcBuf out;
    ptc_buf_init(&out, &h->mem, SIZE_MAX / 4);
    ptc_clean_add(&out, ptc_text_cstr(text), max, first);
    CHECK(out.len <= max);
    snprintf(shown, sizeof shown, "%.*s", (int)out.len, out.data ? out.data : "");
    ptc_buf_deinit(&out);
    return shown;
}

static void test_clean(CheckHeap *h)
{
    CHECK_STR(cleaned(h, " a \t\r\n b  ", 100, false), "a b");
    CHECK_STR(cleaned(h, "abcdef", 6, false), "abcdef");
    CHECK_STR(cleaned(h, "abcdefg", 6, false), "abc...");
    CHECK_STR(cleaned(h, "ab\xc3\xa9gh", 6, false), "ab\xc3\xa9gh");
    CHECK_STR(cleaned(h, "ab\xc3\xa9ghi", 6, false), "ab...");
    CHECK_STR(cleaned(h,
                      "a\xe2\x80\x8b"
                      "b",
                      9, false),
              "a..."); /* no half of an escape */
    CHECK_STR(cleaned(h, "abc", 2, false), "..");
    CHECK_STR(cleaned(h, "abc", 0, false), "");
    CHECK_STR(cleaned(h, "", 10, true), "");
    CHECK_STR(cleaned(h, "Lists things, e.g. files. More", 100, true), "Lists things, e.g. files.");
    CHECK_STR(cleaned(h, "\n\nRead a file\n\nArgs: x", 100, true), "Read a file");
    CHECK_STR(cleaned(h, "Read\na file! Now", 100, true), "Read a file!");
    CHECK_STR(cleaned(h, "broken \xff here", 100, false), "broken");
}

static bool glob(const char *pattern, const char *text)
{
    return ptc_policy_glob(ptc_text_cstr(pattern), ptc_text_cstr(text));
}

static void test_globs(void)
{
    CHECK(glob("*", "") && glob("*", "abc") && glob("", "") && !glob("", "a"));
    CHECK(glob("a?c", "abc") && !glob("a?c", "ac") && glob("a?", "a\xc3\xa9"));
    CHECK(glob("*b*", "abc") && glob("**", "x") && !glob("*b", "abc") && glob("a*b*c", "axxbyyc"));
    char text[257], pattern[257];
    memset(text, 'a', 256);
    memset(pattern, '*', 256);
    text[256] = pattern[256] = 0;
    for (size_t i = 1; i < 256; i += 2)
        pattern[i] = 'a';
    pattern[255] = 'b';
    CHECK(!glob(pattern, text));
}

static void test_headers(CheckHeap *h)
{
    CHECK(ptc_header_is_name(PTC_TEXT("X-A")) && !ptc_header_is_name(PTC_TEXT("X A")));
    CHECK(!ptc_header_is_name(PTC_TEXT("")) && !ptc_header_is_name(PTC_TEXT("a:")));
    CHECK(ptc_header_is_value(PTC_TEXT("a\tb")) && !ptc_header_is_value(PTC_TEXT("a\nb")));
    CHECK(!ptc_header_is_value((PtcText){"a\0b", 3}));
    PtcValue headers = parse(&h->heap, "{\"Retry-After\": \"5\"}");
    CHECK(ptc_text_is(ptc_header_get(headers, "retry-after"), "5"));
    CHECK(!ptc_header_get(headers, "x").bytes && !ptc_header_get(PTC_NONE, "x").bytes);
}

/* ------------------------------------------------------------------------------------ names */

static void test_names(CheckHeap *h, PtcArena *arena)
{
    PtcText ns;
    char name[300];
    memset(name, 'a', sizeof name);
    CHECK(ptc_naming_namespace(arena, (PtcText){name, 64}, &ns) && ns.len == 64 &&
          ns.bytes[57] == 'a');
    CHECK(ptc_naming_namespace(arena, (PtcText){name, 65}, &ns) && ns.len == 64 &&
          ns.bytes[57] == '-');
    CHECK(ptc_naming_namespace(arena, (PtcText){"a\0b", 3}, &ns) && ptc_text_is(ns, "a-b"));
    CHECK(ptc_naming_is_namespace(PTC_TEXT("a.b")) && !ptc_naming_is_namespace(PTC_TEXT("Math")));
    CHECK(!ptc_naming_is_namespace(PTC_TEXT("a-")) && !ptc_naming_is_namespace(PTC_TEXT("1a")));
    /* A name that another tool's digits would lead to gets more of them. */
    PtcCatalogServer server;
    PtcValue tools =
        parse(&h->heap, "[\"a b\", \"a:b\", \"a_b-c868\", \"a b\", \"\", 5, {\"x\": 1}, "
                        "{\"name\": \"z\", \"inputSchema\": 5}]");
    CHECK(ptc_catalog_server(arena, &h->heap, PTC_TEXT("s"), (PtcText){NULL, 0}, tools, &server));
    CHECK(server.count == 3 && server.left_out == 5);
    CHECK(ptc_text_starts(server.tools[0].symbol, "a_b-c868") && server.tools[0].symbol.len == 12);
    CHECK(ptc_text_is(server.tools[2].symbol, "a_b-c868"));
    PtcCatalog catalog = {&server, 1};
    PtcNamed named;
    CHECK(ptc_naming_find(arena, &catalog, PTC_TEXT("S"), PTC_TEXT("a:b"), &named));
    CHECK(named.tool == &server.tools[1]);
    CHECK(ptc_naming_find(arena, &catalog, PTC_TEXT(""), PTC_TEXT(""), &named) && !named.server);
    CHECK(ptc_naming_find(arena, &catalog, PTC_TEXT("s"), PTC_TEXT(""), &named));
    CHECK(named.server && !named.tool && !named.several);
}

/* ---------------------------------------------------------------------------------- schemas */

static const char *typed(CheckHeap *h, const char *json)
{
    static char shown[8192];
    PtcBuf out;
    PtcValue schema = parse(&h->heap, json);
    ptc_buf_init(&out, &h->mem, SIZE_MAX / 4);
    ptc_type_text_add(&out, &h->heap, schema, schema, false);
    snprintf(shown, sizeof shown, "%.*s", (int)out.len, out.data ? out.data : "");
    ptc_buf_deinit(&out);
    return shown;
}

static void test_types(CheckHeap *h)
{
    CHECK_STR(typed(h, "{\"$ref\":\"#\"}"), "any");
    CHECK_STR(typed(h, "{\"$ref\":\"https://x.example/y\"}"), "any");
    CHECK_STR(typed(h, "{\"properties\":{\"a\":{\"$ref\":\"#\"}}}"), "{a? map}");
    CHECK_STR(typed(h, "{\"items\":{\"$ref\":\"#\"}}"), "[map]");
    CHECK_STR(typed(h, "{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"string\"}]}"), "string");
    CHECK_STR(typed(h, "{\"type\":\"string\",\"nullable\":true}"), "string|nil");
    CHECK_STR(typed(h, "{\"const\":\"a\\u200bb\"}"), "\"a\\u{200b}b\"");
    CHECK_STR(typed(h, "{\"$ref\":\"#/$defs/a~1b\",\"$defs\":{\"a/b\":{\"type\":\"integer\"}}}"),
              "int");
}

/* Twelve alternatives, each of which has twelve, and so on: the text and the time stay small. */
static void test_wide_schema(CheckHeap *h)
{
    PtcBuf json;
    PtcArgumentIssues issues;
    ptc_buf_init(&json, &h->mem, SIZE_MAX / 4);
    ptc_buf_add_cstr(&json, "{\"$ref\":\"#/$defs/d0\",\"$defs\":{");
    for (int i = 0; i < 30; i++) {
        ptc_buf_addf(&json, "%s\"d%d\":{\"type\":\"object\",\"properties\":{", i ? "," : "", i);
        for (int j = 0; j < 12; j++)
            ptc_buf_addf(&json,
                         "%s\"p%d\":{\"anyOf\":[{\"$ref\":\"#/$defs/d%d\"},{\"allOf\":[{\"$ref\":"
                         "\"#/$defs/d%d\"},{\"$ref\":\"#/$defs/d%d\"}]}]}",
                         j ? "," : "", j, i + 1, i + 1, i + 1);
        ptc_buf_add_cstr(&json, "}}");
    }
    ptc_buf_add_cstr(&json, ",\"d30\":{\"type\":\"string\"}}}");
    ptc_buf_add_char(&json, 0);
    CHECK(strlen(typed(h, json.data)) <= PTC_TYPE_TEXT_BYTES);
    PtcValue schema = parse(&h->heap, json.data);
    PtcValue args = parse(
        &h->heap, "{\"p0\":{\"p1\":{\"p2\":{\"p3\":{\"p4\":{\"p5\":{\"p6\":{\"p7\":5}}}}}}}}");
    PtcArgumentsIn in = {.schema = schema, .root = schema, .args = args, .unchecked = true};
    int64_t before = check_cpu_ms();
    CHECK((ptc_arguments_fit(&h->heap, &in, &issues) == PTC_NONE) == (issues.count > 0));
    CHECK(check_cpu_ms() - before < 20000);
    ptc_buf_deinit(&json);
}

/* ------------------------------------------------------------------------------------- YAML */

static const char *yaml(CheckHeap *h, const char *text)
{
    static char shown[4096];
    PtcBuf out;
    PtcYamlError error;
    PtcValue v = ptc_yaml_read(&h->heap, ptc_text_cstr(text), &error);
    ptc_buf_init(&out, &h->mem, SIZE_MAX / 4);
    if (v != PTC_NONE)
        ptc_emit_value(&out, &h->heap, v);
    else
        ptc_buf_addf(&out, "%zu: %s", error.line, error.message);
    snprintf(shown, sizeof shown, "%.*s", (int)out.len, out.data ? out.data : "");
    ptc_buf_deinit(&out);
    return shown;
}

static void test_yaml(CheckHeap *h)
{
    CHECK_STR(
        yaml(h, "[yes, no, on, true, ~, null, 010, +5, 0x1f, 0o17, 1.5, 1e3, .inf, \"1\", 1_000]"),
        "[\"yes\",\"no\",\"on\",true,null,null,10,5,31,15,1.5,1000.0,\".inf\",\"1\",\"1_000\"]");
    CHECK_STR(yaml(h, "200: a\ntrue: b\n? c\n: [d]\n"),
              "{\"200\":\"a\",\"true\":\"b\",\"c\":[\"d\"]}");
    CHECK_STR(yaml(h, "a: &x {b: 1}\nc: *x\n"), "{\"a\":{\"b\":1},\"c\":{\"b\":1}}");
    CHECK_STR(yaml(h, "a: 1\na: 2\n"), "2: a key occurs twice");
    CHECK_STR(yaml(h, "a: !!str 1\n"), "1: tags are not read");
    CHECK_STR(yaml(h, "--- a\n--- b\n"), "2: it has several documents");
    CHECK_STR(yaml(h, "{[a]: b}"), "1: a key must be plain text");
    CHECK_STR(yaml(h, "a: *x\n"), "1: an alias names no anchor before it");
    CHECK_STR(yaml(h, ""), "1: it is empty");
    CHECK_STR(yaml(h, "a: &a [*a]"), "1: an alias names no anchor before it");
    CHECK(strstr(yaml(h, "a: [b"), ": "));
    PtcBuf text;
    ptc_buf_init(&text, &h->mem, SIZE_MAX / 4);
    ptc_buf_add_cstr(&text, "a0: &a0 [x]\n");
    for (int i = 1; i < 30; i++)
        ptc_buf_addf(&text, "a%d: &a%d [*a%d, *a%d, *a%d, *a%d]\n", i, i, i - 1, i - 1, i - 1,
                     i - 1);
    ptc_buf_add_char(&text, 0);
    CHECK(strstr(yaml(h, text.data), "too large once its aliases are followed"));
    ptc_buf_clear(&text);
    for (int i = 0; i < 1000; i++)
        ptc_buf_add_char(&text, '[');
    ptc_buf_add_char(&text, 0);
    CHECK_STR(yaml(h, text.data), "1: it is nested too deep");
    ptc_buf_deinit(&text);
}

/* ----------------------------------------------------------------------------------- memory */

static PtcText no_variable(void *user, PtcText name)
{
    (void)user;
    return ptc_text_is(name, "A") ? PTC_TEXT("value") : (PtcText){NULL, 0};
}

static const char config_text[] =
    "{\"credentials\": {\"k\": {\"source\": \"env\", \"var\": \"A\"}}, // mine\n"
    " \"upstreams\": {\"a\": {\"command\": \"x\", \"args\": [\"${A}\"], \"env\": {\"B\": "
    "\"${C:-d}\"}},\n"
    "  \"b\": {\"url\": \"https://b.example\", \"auth\": [{\"scheme\": \"bearer\", \"binding\": "
    "\"k\"}],},\n"
    "  \"c\": {\"comand\": 5}}, \"mcpServers\": {\"d\": {\"command\": [\"y\", 1]}}}";

static const char call_text[] =
    "{\"document\": {\"openapi\": \"3.1.0\", \"servers\": [{\"url\": \"https://a.example\"}], "
    "\"paths\": "
    "{\"/x/{id}\": {\"post\": {\"operationId\": \"x\", \"parameters\": [{\"name\": \"q\", \"in\": "
    "\"query\", \"style\": \"deepObject\", \"schema\": {\"type\": \"object\"}}], \"requestBody\": "
    "{\"content\": {\"multipart/form-data\": {}}}}}}},"
    " \"args\": {\"id\": \"a b\", \"q\": {\"a\": [1, 2]}, \"body\": {\"f\": \"g\", \"h\": {\"i\": "
    "1}}},"
    " \"tool\": {\"name\": \"get_user\", \"description\": \"Get a user. Now\", \"inputSchema\": "
    "{\"type\": "
    "\"object\", \"properties\": {\"id\": {\"type\": \"string\", \"enum\": [\"a b\"]}, \"q\": "
    "{\"anyOf\": "
    "[{\"type\": \"integer\"}, {\"type\": \"object\"}]}}, \"required\": [\"id\"]}},"
    " \"result\": {\"content\": [{\"type\": \"text\", \"text\": \"[1]\"}, {\"type\": \"image\", "
    "\"data\": "
    "\"AAAA\", \"mimeType\": \"image/png\"}]}}";

static void test_secrets(CheckHeap *h)
{
    PtcConfig config;
    PtcBuf out;
    static const char text[] =
        "{\"credentials\": {\"k\": {\"source\": \"literal\", \"value\": \"kv\"}, \"unused\": "
        "{\"source\": "
        "\"literal\", \"value\": \"no\"}}, \"upstreams\": {\"a\": {\"command\": \"${A}\", \"env\": "
        "{\"P\": "
        "\"x-${A}\", \"API_KEY\": \"plain\", \"LEVEL\": \"debug\"}}, \"b\": {\"url\": "
        "\"https://b.example\", "
        "\"auth\": [{\"scheme\": \"bearer\", \"binding\": \"k\"}]}}, \"mcpServers\": {\"c\": "
        "{\"url\": "
        "\"https://c.example\", \"headers\": {\"Authorization\": \"Bearer tok\"}}}}";
    PtcConfigIn in = {.text = ptc_text_cstr(text),
                      .project = PTC_TEXT("/p"),
                      .variable = no_variable,
                      .read = no_variable};
    ptc_buf_init(&out, &h->mem, SIZE_MAX / 4);
    CHECK(ptc_config_read(&h->heap, &in, &config) && config.ok);
    ptc_emit_value(&out, &h->heap, config.secrets);
    CHECK_STR(ptc_buf_text(&out), "[\"value\",\"plain\",\"kv\",\"Bearer tok\",\"tok\"]");
    ptc_buf_deinit(&out);
}

static const char shop_text[] =
    "{\"swagger\": \"2.0\", \"host\": \"a.example\", \"definitions\": {\"A\": {\"properties\": "
    "{\"b\": "
    "{\"$ref\": \"#/definitions/B\"}}}, \"B\": {\"type\": \"object\", \"x-nullable\": true, "
    "\"properties\": "
    "{\"a\": {\"$ref\": \"#/definitions/A\"}}}}, \"responses\": {\"R\": {\"schema\": {\"$ref\": "
    "\"#/definitions/B\"}}}, \"paths\": {\"/a\": {\"get\": {\"responses\": {\"200\": {\"$ref\": "
    "\"#/responses/R\"}}}, \"trace\": {}, \"patch\": {\"consumes\": "
    "[\"application/json-patch+json\", "
    "\"application/xml\", \"image/*\"], \"parameters\": [{\"name\": \"b\", \"in\": \"body\", "
    "\"schema\": "
    "{\"$ref\": \"#/definitions/A\"}}], \"responses\": {\"200\": {\"schema\": {\"$ref\": "
    "\"#/definitions/A\"}}}}}}}";

/* The tools of a document in Swagger, and one spelling of each. */
static size_t count_operations(PtcHeap *heap)
{
    PtcBuf text;
    PtcOpenapiHidden hidden = {0};
    PtcEntry entry = {.allow_writes = true};
    PtcValue document = parse(heap, shop_text), tools = PTC_NONE;
    if (document != PTC_NONE)
        document = ptc_openapi_dialect(heap, document, NULL);
    if (document != PTC_NONE)
        tools = ptc_openapi_tools(heap, document, &entry, &hidden);
    size_t n = 0;
    PtcValue memo = ptc_fields_map(heap);
    ptc_buf_init(&text, heap->pool->mem, SIZE_MAX / 4);
    for (size_t i = 0; memo != PTC_NONE && i < ptc_fields_count(tools); i++)
        n += ptc_canonical_add_schema(&text, heap, &memo,
                                      ptc_map_field(heap, ptc_seq_nth(tools, i), "outputSchema"));
    ptc_buf_deinit(&text);
    return n;
}

/* Everything once, with a heap of its own; whatever fails, nothing is left. */
static bool run_all(PtcMem *mem)
{
    PtcPool pool;
    PtcBudget budget;
    PtcHeap heap;
    PtcArena arena;
    PtcConfig config;
    PtcToolResult result;
    PtcCatalogServer server;
    PtcToolHit *hits;
    PtcArgumentIssues issues;
    PtcOpenapiRequest request;
    PtcBuf text;
    size_t count = 0;
    ptc_pool_init(&pool, mem);
    ptc_budget_init(&budget);
    ptc_heap_init(&heap, &pool, &budget, (size_t)64 << 20);
    ptc_arena_init(&arena, mem);
    ptc_buf_init(&text, mem, SIZE_MAX / 4);
    PtcConfigIn in = {.text = ptc_text_cstr(config_text),
                      .project = PTC_TEXT("/p"),
                      .variable = no_variable,
                      .read = no_variable};
    bool ok = ptc_config_read(&heap, &in, &config);
    PtcValue all = ok ? parse(&heap, call_text) : PTC_NONE;
    if ((ok = all != PTC_NONE)) {
        PtcValue tool = ptc_map_field(&heap, all, "tool"), tools = ptc_vec_new(&heap, &tool, 1, 0);
        PtcValue schema = ptc_map_field(&heap, tool, "inputSchema");
        PtcValue args = ptc_map_field(&heap, all, "args");
        PtcToolResultIn from = {.result = ptc_map_field(&heap, all, "result"),
                                .output_schema = PTC_NONE};
        PtcArgumentsIn fit = {.schema = schema, .root = schema, .args = args};
        PtcOpenapiCall call = {.document = ptc_map_field(&heap, all, "document"),
                               .operation = {.text = PTC_TEXT("x")},
                               .args = args,
                               .allow_writes = true};
        ok = ptc_tool_result_read(&heap, &from, &result) &&
             ptc_arguments_fit(&heap, &fit, &issues) != PTC_NONE && tools != PTC_NONE &&
             ptc_catalog_server(&arena, &heap, PTC_TEXT("s t"), (PtcText){NULL, 0}, tools, &server);
        PtcCatalog catalog = {&server, 1};
        ok = ok &&
             ptc_tool_doc(&heap, &server, server.tools, (PtcEffect){PTC_EFFECT_READ, true}) !=
                 PTC_NONE &&
             ptc_tool_search(&arena, &heap, &catalog, PTC_TEXT("user"), &hits, &count) &&
             count == 1;
        if (ok)
            ok = ptc_catalog_text_add(&text, &heap, &catalog, 500) == PTC_CATALOG_INLINE &&
                 ptc_buf_ok(&text);
        ok = ptc_quoted_add_value(&text, &heap, all) && ok;
        bool made = ptc_openapi_request(&arena, &heap, &call, &request);
        ok = made && !request.code && ok && ptc_buf_ok(&request.body);
        ptc_openapi_request_deinit(&request);
        ok = ok && count_operations(&heap) == 2;
    }
    ptc_buf_deinit(&text);
    ptc_arena_deinit(&arena);
    ptc_heap_deinit(&heap);
    ptc_pool_deinit(&pool);
    return ok;
}

/* A search through a catalogue, which a server may make large, ends with the run. */
static void test_search_stops(void)
{
    PtcMem mem;
    PtcScratch scratch;
    PtcJsonError error;
    PtcCatalogServer server;
    PtcToolHit *hits;
    PtcBuf text;
    size_t count = 0;
    PtcCancel cancel = {0};
    ptc_mem_init(&mem, SIZE_MAX / 2);
    ptc_scratch_init(&scratch, &mem, (size_t)64 << 20);
    ptc_buf_init(&text, &mem, 1 << 20);
    ptc_buf_add_cstr(&text, "[{\"name\":\"a\",\"description\":\"");
    for (int i = 0; i < 100000; i++)
        ptc_buf_add_cstr(&text, "word ");
    ptc_buf_add_cstr(&text, "\"}]");
    PtcValue tools = ptc_json_parse(&scratch.heap, text.data, text.len, &error);
    CHECK(tools != PTC_NONE && ptc_catalog_server(&scratch.arena, &scratch.heap, PTC_TEXT("s"),
                                                  PTC_TEXT("s"), tools, &server));
    PtcCatalog catalog = {&server, 1};
    CHECK(
        ptc_tool_search(&scratch.arena, &scratch.heap, &catalog, PTC_TEXT("word"), &hits, &count));
    CHECK(count == 1 && scratch.budget.stop == PTC_STOP_NONE);
    scratch.budget.cancel = &cancel;
    ptc_cancel_ask(&cancel);
    CHECK(
        ptc_tool_search(&scratch.arena, &scratch.heap, &catalog, PTC_TEXT("word"), &hits, &count));
    CHECK(scratch.budget.stop == PTC_STOP_CANCELLED);
    ptc_buf_deinit(&text);
    ptc_scratch_deinit(&scratch);
}

static void test_no_memory(void)
{
    PtcMem mem;
    ptc_mem_init(&mem, SIZE_MAX / 2);
    CHECK(run_all(&mem));
    for (uint64_t n = 1; n < 5000; n++) {
        ptc_mem_fail_at(&mem, n);
        bool ok = run_all(&mem);
        bool reached = atomic_load(&mem.count) >= n;
        CHECK(atomic_load(&mem.used) == 0);
        if (ok && !reached)
            break;
    }
    ptc_mem_fail_at(&mem, 0);
}

/* Long, so that memory can be too short for it and still do for everything that is written after it. */
#define LONG_TEXT                                                                                  \
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" \
    "aaaaaaaaaaaaaaaaaaaaaaa"                                                                      \
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" \
    "aaaaaaaaaaaaaaaaaaaaaaa"
static const char long_text[] =
    "{\"document\": {\"openapi\": \"3.1.0\", \"servers\": [{\"url\": \"https://a.example\"}], "
    "\"paths\": {\"/x\": {\"post\": {\"operationId\": \"x\", \"parameters\": [{\"name\": \"q\", "
    "\"in\": \"query\", \"schema\": {\"type\": \"string\"}}], \"requestBody\": {\"content\": "
    "{\"multipart/form-data\": {}}}}}}}, \"args\": {\"q\": \"b\", \"body\": {\"f\": \"" LONG_TEXT
    "\"}}}";

/* A value that is written into a buffer of its own before it is encoded. */
#define STYLED(how, value)                                                                        \
    "{\"document\": {\"openapi\": \"3.1.0\", \"servers\": [{\"url\": \"https://a.example\"}], "   \
    "\"paths\": {\"/x\": {\"post\": {\"operationId\": \"x\", \"parameters\": [{\"name\": \"q\", " \
    "\"in\": \"query\", " how "}]}}}}, \"args\": {\"q\": " value "}}"

/* The same in the words of Swagger, with a body of this media type and this member of a form. */
#define SWAGGER(media, member, value)                                                     \
    "{\"document\": {\"swagger\": \"2.0\", \"host\": \"a.example\", \"paths\": {\"/x\": " \
    "{\"post\": "                                                                         \
    "{\"operationId\": \"x\", \"consumes\": [\"" media                                    \
    "\"], \"parameters\": [{\"name\": \"f\", \"in\": \"formData\", " member               \
    "}]}}}}, \"args\": {\"body\": {\"f\": " value "}}}"

/* The request of the operation in `text` as one line; "": it was not made. */
static bool show_request(PtcMem *mem, const char *text, char shown[600])
{
    PtcPool pool;
    PtcBudget budget;
    PtcHeap heap;
    PtcArena arena;
    PtcOpenapiRequest request;
    ptc_pool_init(&pool, mem);
    ptc_budget_init(&budget);
    ptc_heap_init(&heap, &pool, &budget, (size_t)64 << 20);
    ptc_arena_init(&arena, mem);
    PtcValue all = parse(&heap, text);
    PtcOpenapiCall call = {.operation = {.text = PTC_TEXT("x")}, .allow_writes = true};
    bool made = false;
    shown[0] = '\0';
    if (all != PTC_NONE) {
        call.document = ptc_openapi_dialect(&heap, ptc_map_field(&heap, all, "document"), NULL);
        call.args = ptc_map_field(&heap, all, "args");
        call.defaults = call.auth = call.credentials = call.static_headers = PTC_NONE;
    }
    if (all != PTC_NONE && call.document != PTC_NONE) {
        made = ptc_openapi_request(&arena, &heap, &call, &request);
        if (made && !request.code)
            snprintf(shown, 600, "%s %s", ptc_str_bytes(request.target),
                     request.body.len ? ptc_buf_text(&request.body) : "");
        ptc_openapi_request_deinit(&request);
    }
    ptc_arena_deinit(&arena);
    ptc_heap_deinit(&heap);
    ptc_pool_deinit(&pool);
    return made;
}

/* A request that lost a parameter or the end of its body to a lack of memory would mean something else: it is not
 * made. */
static void check_whole(const char *text, const char *begin, const char *end)
{
    char whole[600], shown[600];
    bool made = false;
    PtcMem mem;
    ptc_mem_init(&mem, SIZE_MAX / 2);
    CHECK(show_request(&mem, text, whole));
    CHECK(strncmp(whole, begin, strlen(begin)) == 0 && strstr(whole, end));
    for (size_t limit = 1000; !made && limit < 4 << 20; limit += 50) {
        ptc_mem_init(&mem, limit);
        made = show_request(&mem, text, shown) && shown[0];
        CHECK(!made || strcmp(shown, whole) == 0);
        CHECK(atomic_load(&mem.used) == 0);
    }
    CHECK(made);
}

static void test_whole_requests(void)
{
    check_whole(long_text, "/x?q=b ", "\r\n--ptc-");
    check_whole(STYLED("\"schema\": {\"type\": \"string\"}", "\"" LONG_TEXT "\""), "/x?q=a", "a ");
    check_whole(STYLED("\"explode\": false, \"schema\": {}", "[[\"" LONG_TEXT "\"]]"), "/x?q=%5B",
                "%5D ");
    check_whole(STYLED("\"style\": \"deepObject\", \"schema\": {}", "{\"" LONG_TEXT "\": 1}"),
                "/x?q%5B", "a%5D=1 ");
    check_whole(
        STYLED("\"style\": \"deepObject\", \"schema\": {}", "[{\"a\": [\"" LONG_TEXT "\"]}]"),
        "/x?q%5B0%5D%5Ba%5D%5B%5D=a", "a ");
    check_whole(
        SWAGGER("multipart/form-data", "\"type\": \"file\"", "{\"text\": \"" LONG_TEXT "\"}"),
        "/x --ptc-", "; filename=\"f\"\r\nContent-Type: application/octet-stream\r\n\r\naaa");
    check_whole(SWAGGER("multipart/form-data",
                        "\"type\": \"array\", \"collectionFormat\": \"pipes\"",
                        "[\"" LONG_TEXT "\", 2]"),
                "/x --ptc-", "a|2\r\n--ptc-");
    check_whole(SWAGGER("application/x-www-form-urlencoded", "\"type\": \"array\"",
                        "[\"" LONG_TEXT "\", 2]"),
                "/x f=aaa", "a,2");
    check_whole(STYLED("\"content\": {\"application/json\": {}}", "[\"" LONG_TEXT "\"]"),
                "/x?q=%5B", "%5D ");
}

/* ------------------------------------------------------------------------------ credentials */

/* The header that one binding of an entry makes. */
static const char *header_of(CheckHeap *h, PtcCredentials *c, const char *auth)
{
    static char shown[1000];
    PtcBuf lines, query;
    PtcWhy why;
    PtcEntry entry = {.name = PTC_TEXT("x"),
                      .headers = PTC_NONE,
                      .security = PTC_NONE,
                      .form = parse(&h->heap, "{}"),
                      .auth = parse(&h->heap, auth)};
    ptc_buf_init(&lines, &h->mem, 1000);
    ptc_buf_init(&query, &h->mem, 1000);
    bool ok = ptc_credentials_headers(c, &entry, &lines, &query, &why);
    snprintf(shown, sizeof shown, "%s", ok ? ptc_buf_text(&lines) : why.text);
    ptc_buf_deinit(&lines);
    ptc_buf_deinit(&query);
    return shown;
}

static bool is_hidden(CheckHeap *h, const PtcSecrets *secrets, const char *text)
{
    PtcBuf out;
    ptc_buf_init(&out, &h->mem, 1000);
    ptc_secrets_blot(secrets, &out, ptc_text_cstr(text), false);
    bool hidden = strstr(ptc_buf_text(&out), "[secret]") != NULL;
    ptc_buf_deinit(&out);
    return hidden;
}

/* Of a program that prints another value each time, the last few are hidden, and what is kept of them does not grow. */
static void check_bounded(CheckHeap *h, PtcCredentials *c, const char *auth)
{
    char first[200], last[200] = "";
    size_t count = 0;
    snprintf(first, sizeof first, "%s", header_of(h, c, auth));
    for (int i = 0; i < 60; i++) {
        snprintf(last, sizeof last, "%s", header_of(h, c, auth));
        count = i == 30 ? c->hidden->count : count;
    }
    CHECK(strcmp(first, last) != 0 && c->hidden->count <= count + 8);
    CHECK(is_hidden(h, c->hidden, last) && is_hidden(h, c->told, last));
    CHECK(!is_hidden(h, c->hidden, first));
}

/* What a program printed is kept for a while; when it is too old the program is asked again, and no other credential
 * that is kept takes its place. */
static void test_kept_credentials(CheckHeap *h)
{
    static const char *const environment[] = {"PATH=/usr/bin:/bin", NULL};
    static const char old[] = "[{\"scheme\": \"bearer\", \"binding\": \"old\"}]";
    static const char young[] = "[{\"scheme\": \"bearer\", \"binding\": \"young\"}]";
    PtcSecrets told, hidden;
    ptc_secrets_init(&told, &h->mem, PTC_SECRET_MIN);
    ptc_secrets_init(&hidden, &h->mem, PTC_SECRET_MIN);
    PtcCredentials c = {
        .mem = &h->mem,
        .definitions =
            parse(&h->heap,
                  "{\"young\": {\"source\": \"exec\", \"command\": [\"echo\", \"young-value\"]},"
                  " \"old\": {\"source\": \"exec\", \"command\": [\"echo\", \"old-value\"], "
                  "\"ttl_ms\": 1}, \"new\": {\"source\": \"exec\", \"ttl_ms\": 0, "
                  "\"command\": [\"sh\", \"-c\", \"echo new-$$-value\"]}}"),
        .environment = environment,
        .told = &told,
        .hidden = &hidden};
    ptc_credentials_init(&c);
    CHECK_STR(header_of(h, &c, young), "authorization: Bearer young-value\n");
    for (int i = 0; i < 3; i++) {
        CHECK_STR(header_of(h, &c, old), "authorization: Bearer old-value\n");
        struct timespec wait = {0, 5000000};
        nanosleep(&wait, NULL);
    }
    check_bounded(h, &c, "[{\"scheme\": \"bearer\", \"binding\": \"new\"}]");
    CHECK(is_hidden(h, &hidden, "young-value"));
    ptc_credentials_deinit(&c);
    ptc_secrets_deinit(&told);
    ptc_secrets_deinit(&hidden);
}

/* ----------------------------------------------------------------------------------- bodies */

static PtcText blob_of(void *user, PtcText ref)
{
    (void)ref;
    return ptc_text_cstr(user);
}

/* A multipart body with one file, and its content type. */
static const char *file_body(CheckHeap *h, const char *base64, char type[200])
{
    static char shown[500];
    PtcBuf body;
    PtcOpenapiBodyIn in = {
        .media = {PTC_BODY_MULTIPART, PTC_TEXT("multipart/form-data"), PTC_NONE, PTC_NONE},
        .value = parse(&h->heap, "{\"f\": [{\"ref\": \"blob-1\"}]}"),
        .blob = blob_of,
        .user = (void *)(uintptr_t)base64};
    ptc_buf_init(&body, &h->mem, sizeof shown - 1);
    PtcText media = ptc_str_text(ptc_openapi_body_write(&body, &h->heap, &in));
    snprintf(type, 200, "%.*s", (int)media.len, media.bytes);
    snprintf(shown, sizeof shown, "%s", ptc_buf_text(&body));
    ptc_buf_deinit(&body);
    return shown;
}

/* A server that sent a file knows by which name a program will send it on, but must not know the boundary: with it, the
 * file could end its part and add others. */
static void test_boundary(CheckHeap *h)
{
    char plain[200], again[200], other[200];
    CHECK(strstr(file_body(h, "QUFB", plain), "\r\n\r\nAAA\r\n--ptc-"));
    file_body(h, "QUFB", again);
    CHECK_STR(plain, again);
    CHECK(strstr(file_body(h, "QkJC", other), "\r\n\r\nBBB\r\n--ptc-"));
    CHECK(strcmp(plain, other) != 0);
}

/* Credentials go out whole, or it is known that memory ran out: a part of them is somebody else's, or nobody's. */
static void test_whole_credentials(void)
{
    static const char values[] =
        "{\"b\": \"{\\\"user\\\": \\\"me\\\", \\\"pass\\\": \\\"secret\\\"}\"}";
    bool ok = false;
    for (uint64_t n = 1; n < 100 && !ok; n++) {
        CheckHeap h;
        PtcText binding;
        check_heap_init(&h);
        PtcValue auth = parse(&h.heap, "[{\"scheme\": \"basic\", \"binding\": \"b\"}]");
        PtcValue given = parse(&h.heap, values), headers = ptc_fields_map(&h.heap);
        ptc_mem_fail_at(&h.mem, n);
        ok = ptc_auth_apply(&h.heap, auth, given, &headers, NULL, &binding) &&
             ptc_fields_ok(&h.heap);
        PtcValue sent = ptc_fields_get(&h.heap, headers, PTC_TEXT("authorization"));
        CHECK(sent == PTC_NONE ? !ok : ptc_text_is(ptc_str_text(sent), "Basic bWU6c2VjcmV0"));
        check_heap_deinit(&h);
    }
    CHECK(ok);
}

int main(void)
{
    CheckHeap h;
    PtcArena arena;
    check_heap_init(&h);
    ptc_arena_init(&arena, &h.mem);
    CHECK_RUN(test_clean(&h));
    CHECK_RUN(test_roots(&h));
    CHECK_RUN(test_globs());
    CHECK_RUN(test_headers(&h));
    CHECK_RUN(test_names(&h, &arena));
    CHECK_RUN(test_types(&h));
    CHECK_RUN(test_wide_schema(&h));
    CHECK_RUN(test_secrets(&h));
    CHECK_RUN(test_yaml(&h));
    CHECK_RUN(test_kept_credentials(&h));
    CHECK_RUN(test_boundary(&h));
    CHECK_RUN(test_whole_requests());
    CHECK_RUN(test_whole_credentials());
    CHECK_RUN(test_search_stops());
    CHECK_RUN(test_no_memory());
    ptc_arena_deinit(&arena);
    check_heap_deinit(&h);
    return check_done("test_upstream");
}
