/* SPDX-License-Identifier: MIT
 * What an OpenAPI service answered, as the value that the program gets or the failure that it sees. */
#include <time.h>

#include "base/text/base64.h"
#include "base/utf8.h"
#include "tool/schema/schema.h"
#include "upstream/config/header.h"
#include "upstream/openapi/openapi_response.h"
#include "upstream/run/serve_int.h"
#include "value/coll/fields.h"

/* {"content-type": "..."}; of one that stands twice, both with a comma between them. */
static void put_response_header(PtcHeap *heap, PtcValue *headers, PtcText name, PtcText value)
{
    PtcBuf both;
    PtcValue lower = ptc_header_lower(heap, name);
    if (lower == PTC_NONE || !ptc_utf8_valid(name.bytes, name.len) ||
        !ptc_utf8_valid(value.bytes, value.len))
        return;
    PtcValue there = ptc_fields_get(heap, *headers, ptc_str_text(lower));
    PtcText before = there == PTC_NONE ? (PtcText){"", 0} : ptc_str_text(there);
    ptc_buf_init(&both, heap->pool->mem, PTC_UNBOUNDED);
    ptc_buf_add(&both, before.bytes, before.len);
    ptc_buf_add_cstr(&both, before.len ? ", " : "");
    ptc_buf_add(&both, value.bytes, value.len);
    ptc_fields_put_key(heap, headers, ptc_str_text(lower), ptc_fields_buf(heap, &both));
    ptc_buf_deinit(&both);
}

static PtcValue read_response_head(PtcHeap *heap, const PtcBuf *head)
{
    PtcValue headers = ptc_fields_map(heap);
    PtcText rest = ptc_buf_view(head);
    while (rest.len && headers != PTC_NONE) {
        const char *lf = memchr(rest.bytes, '\n', rest.len);
        size_t len = lf ? (size_t)(lf - rest.bytes) : rest.len;
        const char *colon = memchr(rest.bytes, ':', len);
        if (colon && colon > rest.bytes) {
            size_t n = (size_t)(colon - rest.bytes);
            put_response_header(heap, &headers, (PtcText){rest.bytes, n},
                                ptc_text_trim((PtcText){colon + 1, len - n - 1}, " \t"));
        }
        rest.bytes += len + (lf != NULL);
        rest.len -= len + (lf != NULL);
    }
    return headers;
}

/* Is the value as the document has it?  A schema that cannot be compiled says nothing. */
static PtcSchemaVerdict check_response_value(PtcUpCall *call, PtcScratch *scratch, PtcValue value)
{
    PtcRunCheck check;
    ptc_run_check_begin(&check, call, call->seen, call->tool, true);
    PtcSchemaVerdict verdict =
        check.given_up || check.budget.stop ? PTC_SCHEMA_STOPPED
        : check.schema
            ? ptc_schema_validate(check.schema, value, scratch->heap.pool->mem, &check.budget, NULL)
            : PTC_SCHEMA_VALID;
    call->notes |= ptc_run_check_end(&check, &scratch->budget, true);
    return verdict;
}

static bool put_response_result(PtcUpCall *call, PtcScratch *scratch, PtcBuf *out,
                                PtcToolResult *result)
{
    const PtcEntry *e = &ptc_run_upstream(call->run, call->slot)->entry;
    if (!result->ok)
        return ptc_serve_put_failure(call, out, result->reason, ptc_str_text(result->message),
                                     result->notes);
    PtcSchemaVerdict verdict = result->kind == PTC_TOOL_RESULT_JSON
                                   ? check_response_value(call, scratch, result->value)
                                   : PTC_SCHEMA_VALID;
    if (verdict == PTC_SCHEMA_INVALID)
        result->notes |= PTC_NOTE_SCHEMA_MISMATCH;
    if (e->strict_output && verdict != PTC_SCHEMA_VALID)
        return ptc_serve_put_failure(
            call, out, PTC_CALL_BAD_ANSWER,
            verdict == PTC_SCHEMA_INVALID
                ? PTC_TEXT("the answer does not match the document of the service")
                : PTC_TEXT("the answer could not be checked: a pattern of the document takes too "
                           "long, or ptc is out of memory"),
            result->notes);
    return ptc_serve_put_read(call, scratch, out, result);
}

/* {"status", "headers", "body"}: text where it is text, else base64. */
static bool put_raw_response(PtcUpCall *call, PtcScratch *scratch, PtcBuf *out, PtcValue headers)
{
    PtcHeap *heap = &scratch->heap;
    PtcText body = ptc_buf_view(&call->reply.text);
    PtcValue value = ptc_fields_map(heap);
    PtcBuf coded;
    ptc_fields_put(heap, &value, "status", ptc_int(call->reply.status));
    ptc_fields_put(heap, &value, "headers", headers);
    if (ptc_utf8_valid(body.bytes, body.len)) {
        ptc_fields_put_text(heap, &value, "body", body);
    } else {
        ptc_buf_init(&coded, heap->pool->mem, PTC_UNBOUNDED);
        ptc_base64_add(&coded, body.bytes, body.len, false);
        ptc_fields_put(heap, &value, "body_base64", ptc_fields_buf(heap, &coded));
        ptc_buf_deinit(&coded);
    }
    PtcToolResult raw = {.ok = true, .kind = PTC_TOOL_RESULT_JSON, .value = value};
    return ptc_fields_ok(heap) ? ptc_serve_put_read(call, scratch, out, &raw)
                               : ptc_serve_put_too_large(call, scratch, out);
}

static bool read_service_answer(PtcUpCall *call, PtcScratch *scratch, PtcValue headers,
                                PtcResponse *response)
{
    PtcUpRun *run = call->run;
    PtcResponseIn in = {.status = call->reply.status,
                        .headers = headers,
                        .body = ptc_buf_view(&call->reply.text),
                        .max_bytes = ptc_run_upstream(run, call->slot)->entry.max_response,
                        .now_ms = ptc_clock_wall_ms(),
                        .answer = call->answer};
    PtcBlobNumbers numbers = ptc_run_take_numbers(run, 1); /* the body, if it is no text */
    in.blobs = numbers.before;
    return ptc_openapi_response(&scratch->heap, &in, response) &&
           ptc_run_keep_blobs(run, &scratch->heap, response->result.blobs, numbers);
}

bool ptc_serve_response(PtcUpCall *call, PtcScratch *scratch, PtcBuf *out)
{
    PtcResponse response;
    PtcValue headers = read_response_head(&scratch->heap, &call->web.head);
    if (headers == PTC_NONE)
        return ptc_serve_put_too_large(call, scratch, out);
    if (call->raw)
        return put_raw_response(call, scratch, out, headers);
    if (!read_service_answer(call, scratch, headers, &response))
        return ptc_serve_put_too_large(call, scratch, out);
    return put_response_result(call, scratch, out, &response.result);
}
