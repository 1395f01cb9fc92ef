/* SPDX-License-Identifier: MIT
 * A call of an operation as the HTTP request that is sent.  It is made on the thread of the run, without credentials:
 * those are added by whoever sends it. */
#include "json/emit.h"
#include "net/address.h"
#include "net/url.h"
#include "upstream/openapi/openapi_request.h"
#include "upstream/openapi/openapi_tools.h"
#include "upstream/run/serve_int.h"
#include "value/coll/fields.h"

/* With the lock of the run for a moment; blobs stay until the run ends. */
static PtcText blob(void *user, PtcText ref)
{
    PtcUpRun *run = user;
    pthread_mutex_lock(&run->lock);
    PtcText data = ptc_run_find_blob(run, ref);
    pthread_mutex_unlock(&run->lock);
    return data;
}

/* An address that only a document from the network has named must not lead to where strangers have no business, unless
 * that document came from there too. */
static bool is_strange_origin(const PtcEntry *e, PtcText origin)
{
    PtcUrl from, to;
    if (e->base_url || !e->schema_url)
        return false;
    if (!ptc_url_parse(ptc_text_cstr(e->schema_url), &from, NULL) ||
        !ptc_url_parse(origin, &to, NULL))
        return true;
    return !ptc_url_same_server(&from, &to) && !from.loopback &&
           !ptc_address_text_is_inside(from.host);
}

static bool refuse_service_request(PtcUpCall *call, const PtcOpenapiRequest *request,
                                   PtcText operation)
{
    const PtcEntry *e = &ptc_run_upstream(call->run, call->slot)->entry;
    if (request->code == PTC_CALL_INVALID_ARGS)
        return ptc_serve_refuse_arguments(call, &request->issues);
    if (request->code == PTC_CALL_UNSUPPORTED_BODY)
        return ptc_call_refuse(
            call, PTC_CALL_INVALID_ARGS,
            "the body of %.*s cannot be made of this value: forms take a map, files a string, "
            "{\"text\" \"...\"} or {\"ref\" \"blob-1\"} with a ref of this program's results",
            PTC_ARG(operation));
    if (request->code == PTC_CALL_REQUEST_TOO_LARGE)
        return ptc_call_refuse(call, PTC_CALL_INVALID_ARGS,
                               "the request would be too large: its address may have %d bytes, its "
                               "body %d MiB",
                               PTC_URL_BYTES, PTC_OPENAPI_BODY_MB);
    return ptc_call_refuse(
        call, PTC_CALL_BAD_ANSWER, "%.*s cannot be called in the form that %.*s gives: %s",
        PTC_ARG(operation), PTC_ARG(e->name), ptc_call_reasons[request->code].word);
}

/* What is sent goes into the call. */
static bool take_service_request(PtcUpCall *call, PtcScratch *scratch, PtcOpenapiRequest *request,
                                 PtcOperationName operation)
{
    PtcHeap *heap = &scratch->heap;
    const PtcEntry *e = &ptc_run_upstream(call->run, call->slot)->entry;
    PtcText origin = ptc_str_text(request->origin), target = ptc_str_text(request->target);
    PtcValue auth = ptc_openapi_tools_auth(heap, call->seen->document, e, operation);
    call->method = request->method;
    call->web.has_body = request->has_body;
    call->web.outside = is_strange_origin(e, origin);
    ptc_buf_add(&call->web.url, origin.bytes, origin.len);
    ptc_buf_add(&call->web.url, target.bytes, target.len);
    if (call->web.url.full)
        return ptc_call_refuse(call, PTC_CALL_INVALID_ARGS,
                               "the address would have more than %d bytes", PTC_URL_BYTES);
    PtcValue headers = request->headers;
    char parent[PTC_TRACE_PARENT];
    ptc_trace_carry_next(&call->run->trace, parent, call->span);
    if (!call->web.outside)
        ptc_trace_carry_map(&call->run->trace, parent, heap, &headers);
    ptc_emit_value(&call->headers, heap, headers);
    if (call->headers.full)
        return ptc_call_refuse(call, PTC_CALL_INVALID_ARGS, "the headers would be too large");
    ptc_emit_value(&call->web.auth, heap, auth);
    ptc_buf_add(&call->params, ptc_buf_view(&request->body).bytes, request->body.len);
    if (call->params.full)
        return ptc_call_refuse(call, PTC_CALL_INVALID_ARGS, "the body would be too large");
    return (ptc_buf_ok(&call->web.url) && ptc_buf_ok(&call->headers) &&
            ptc_buf_ok(&call->web.auth) && ptc_buf_ok(&call->params) && ptc_fields_ok(heap)) ||
           ptc_call_refuse(call, PTC_CALL_NO_MEMORY, "out of memory");
}

bool ptc_serve_request(PtcUpCall *call, PtcScratch *scratch, PtcValue definition, PtcValue args)
{
    PtcHeap *heap = &scratch->heap;
    const PtcEntry *e = &ptc_run_upstream(call->run, call->slot)->entry;
    PtcOperationName operation = {.text = ptc_fields_text(heap, definition, "operation"),
                                  .request = ptc_fields_text(heap, definition, "request")};
    PtcValue override =
        e->overrides == PTC_NONE ? PTC_NONE : ptc_fields_get(heap, e->overrides, operation.text);
    PtcValue base = ptc_openapi_tools_base(heap, call->seen->document, e);
    PtcOpenapiRequest request;
    PtcOpenapiCall in = {
        .document = call->seen->document,
        .operation = operation,
        .args = args,
        .defaults = override == PTC_NONE ? PTC_NONE : ptc_map_field(heap, override, "default_args"),
        .base_url = base == PTC_NONE ? (PtcText){NULL, 0} : ptc_str_text(base),
        .allow_writes = e->allow_writes,
        .auth = PTC_NONE,
        .credentials = PTC_NONE,
        .static_headers = PTC_NONE,
        .blob = blob,
        .user = call->run};
    bool made = operation.text.bytes && ptc_openapi_request(&scratch->arena, heap, &in, &request);
    if (!made) {
        if (operation.text.bytes)
            ptc_openapi_request_deinit(&request);
        return ptc_call_refuse(call, PTC_CALL_NO_MEMORY, "out of memory");
    }
    bool ok = request.code ? refuse_service_request(call, &request, operation.text)
                           : take_service_request(call, scratch, &request, operation);
    ptc_openapi_request_deinit(&request);
    return ok;
}
