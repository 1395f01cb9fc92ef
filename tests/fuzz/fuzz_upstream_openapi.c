/* SPDX-License-Identifier: MIT
 * fuzz_upstream_openapi.c - OpenAPI documents with arguments: {"document", "args"}, or a document alone in YAML.  Its
 * operations become tools; each is called, and what is made of it stays within its address; answers are read as
 * well. */
#include "fuzz/upstream_help.h"
#include "upstream/catalog/canonical.h"
#include "upstream/config/header.h"
#include "upstream/openapi/openapi_dialect.h"
#include "upstream/openapi/openapi_request.h"
#include "upstream/openapi/openapi_response.h"
#include "upstream/openapi/openapi_tools.h"
#include "yaml/yaml_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_request(const PtcOpenapiRequest *request)
{
    PtcValue key, value;
    PtcText target = ptc_str_text(request->target);
    assert(ptc_is_string(request->origin) && target.len && target.bytes[0] == '/');
    for (size_t i = 0; i < target.len; i++)
        assert(target.bytes[i] > ' ' && target.bytes[i] <= '~' && target.bytes[i] != '#');
    for (size_t pos = 0; ptc_map_next(request->headers, &pos, &key, &value);)
        assert(ptc_header_is_name(ptc_str_text(key)) && ptc_header_is_value(ptc_str_text(value)));
}

static void call(Desk *d, PtcValue document, PtcValue args, PtcText name)
{
    PtcOpenapiRequest request;
    PtcOpenapiCall what = {.document = document,
                           .operation = {.text = name},
                           .args = args != PTC_NONE && ptc_is_map(args) ? args
                                                                        : ptc_fields_map(&d->heap),
                           .base_url = PTC_TEXT("https://a.example/b/"),
                           .allow_writes = true};
    if (what.args == PTC_NONE)
        return;
    if (ptc_openapi_request(&d->arena, &d->heap, &what, &request) && !request.code)
        check_request(&request);
    ptc_openapi_request_deinit(&request);
}

static void answer(Desk *d, PtcText body, uint8_t how)
{
    PtcResponse out;
    PtcValue headers = ptc_fields_map(&d->heap);
    static const char *const types[] = {"application/json", "text/plain", "application/zip", ""};
    ptc_fields_put_text(&d->heap, &headers, "Content-Type", ptc_text_cstr(types[how % 4]));
    PtcResponseIn in = {.status = how & 4 ? 200 : 400, .headers = headers, .body = body};
    if (headers != PTC_NONE && ptc_openapi_response(&d->heap, &in, &out)) {
        desk_check_json(d, out.result.value);
        desk_check_json(d, out.result.message);
    }
}

/* Every operation, one spelling of its answers, and what becomes of credentials. */
static void list(Desk *d, PtcValue document, uint8_t how)
{
    PtcOpenapiHidden hidden = {0};
    PtcBuf text;
    PtcValue security = ptc_fields_map(&d->heap), memo = ptc_fields_map(&d->heap);
    ptc_fields_put_text(&d->heap, &security, "key", PTC_TEXT("credential"));
    PtcEntry entry = {.openapi = true,
                      .allow_writes = true,
                      .base_url = how & 1 ? "https://a.example/b" : NULL,
                      .schema_url = how & 2 ? "https://a.example/c.json" : NULL,
                      .security = security};
    PtcValue tools = ptc_openapi_tools(&d->heap, document, &entry, &hidden);
    desk_check_json(d, tools);
    for (size_t i = 0; tools != PTC_NONE && i < ptc_fields_count(tools) && i < 4; i++) {
        PtcText name = ptc_fields_text(&d->heap, ptc_seq_nth(tools, i), "operation");
        desk_check_json(d, ptc_openapi_tools_auth(&d->heap, document, &entry,
                                                  (PtcOperationName){.text = name}));
        PtcValue schema = ptc_map_field(&d->heap, ptc_seq_nth(tools, i), "outputSchema");
        ptc_buf_init(&text, &d->mem, 1 << 20);
        if (memo != PTC_NONE && schema != PTC_NONE)
            ptc_canonical_add_schema(&text, &d->heap, &memo, schema);
        ptc_buf_deinit(&text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Desk d;
    PtcJsonError error;
    PtcOperation operation;
    PtcOpenapiEach each = {.item = PTC_NONE};
    if (size < 2)
        return 0;
    char *copy = desk_copy(data, size);
    desk_init(&d);
    PtcValue input = ptc_json_parse(&d.heap, copy, size - 1, &error);
    ptc_mem_fail_at(&d.mem, data[0] & 0x80 ? data[0] & 0x7f : 0);
    PtcYamlError yaml;
    if (input == PTC_NONE && size < 8000 && ptc_fields_ok(&d.heap)) {
        PtcValue alone = ptc_yaml_read(&d.heap, (PtcText){copy, size - 1}, &yaml);
        if (alone != PTC_NONE)
            alone = ptc_openapi_dialect(&d.heap, alone, NULL);
        if (alone != PTC_NONE)
            list(&d, alone, data[0]);
    }
    if (input != PTC_NONE && ptc_is_map(input)) {
        PtcValue document = ptc_map_field(&d.heap, input, "document");
        PtcValue args = ptc_map_field(&d.heap, input, "args");
        if (document != PTC_NONE)
            document = ptc_openapi_dialect(&d.heap, document, NULL);
        if (document != PTC_NONE && size < 20000)
            list(&d, document, data[0]);
        for (int i = 0; i < 8 && document != PTC_NONE &&
                        ptc_openapi_next(&d.arena, &d.heap, document, &each, &operation);
             i++)
            call(&d, document, args, operation.name);
    }
    answer(&d, (PtcText){copy, size - 1}, data[0]);
    desk_deinit(&d);
    free(copy);
    return 0;
}
