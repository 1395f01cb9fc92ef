/* SPDX-License-Identifier: MIT
 * fuzz_upstream_openapi.c - OpenAPI documents with arguments: {"document", "args"}.  Every operation is called; what is made
 * of it stays within its address, and answers are read as well. */
#include "fuzz/upstream_help.h"
#include "upstream/header.h"
#include "upstream/openapi_request.h"
#include "upstream/openapi_response.h"

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

static void call(Desk *d, PtcValue input, PtcText name)
{
    PtcOpenapiRequest request;
    PtcValue args = ptc_map_field(&d->heap, input, "args");
    PtcOpenapiCall what = {.document = ptc_map_field(&d->heap, input, "document"),
                           .operation = name,
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
    if (input != PTC_NONE && ptc_is_map(input)) {
        PtcValue document = ptc_map_field(&d.heap, input, "document");
        for (int i = 0; i < 8 && document != PTC_NONE && ptc_is_map(document) &&
                        ptc_openapi_next(&d.arena, &d.heap, document, &each, &operation);
             i++)
            call(&d, input, operation.name);
    }
    answer(&d, (PtcText){copy, size - 1}, data[0]);
    desk_deinit(&d);
    free(copy);
    return 0;
}
