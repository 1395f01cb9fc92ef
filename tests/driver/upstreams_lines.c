/* SPDX-License-Identifier: MIT
 * `ptc-test-driver upstreams`; README.md describes the lines.  What answers them are the functions that the
 * product uses; here is only what reads a request and writes an answer. */
#include <stdio.h>

#include "driver/driver.h"
#include "driver/upstreams_desk.h"
#include "json/parse.h"

#define HEAP_MAX ((size_t)512 << 20)
enum { LINE_MS = 5 * 1000 };

static const struct {
    const char *name;
    PtcUpstreamsOp answer;
} operations[] = {
    {"config", ptc_upstreams_config},     {"name", ptc_upstreams_name},
    {"lookup", ptc_upstreams_lookup},     {"doc", ptc_upstreams_doc},
    {"args", ptc_upstreams_args},         {"result", ptc_upstreams_result},
    {"policy", ptc_upstreams_policy},     {"request", ptc_upstreams_request},
    {"response", ptc_upstreams_response}, {"mcp_headers", ptc_upstreams_mcp_headers},
    {"clean", ptc_upstreams_clean},       {"redact", ptc_upstreams_redact},
    {"retry", ptc_upstreams_retry},       {"outcome", ptc_upstreams_outcome},
    {"era", ptc_upstreams_era},           {"describe", ptc_upstreams_describe},
    {"apropos", ptc_upstreams_apropos},
};
enum { OPERATIONS = sizeof operations / sizeof *operations };

static void begin(PtcUpstreamsDesk *desk, PtcValue id)
{
    ptc_buf_clear(desk->out);
    ptc_emit_object(desk->out);
    ptc_emit_key(desk->out, "id");
    ptc_emit_value(desk->out, &desk->heap, id == PTC_NONE ? PTC_NIL : id);
}

static void answer_error(PtcUpstreamsDesk *desk, PtcValue id, const char *why)
{
    begin(desk, id);
    ptc_emit_field_bool(desk->out, "ok", false);
    ptc_emit_field_cstr(desk->out, "error", why);
    ptc_emit_object_end(desk->out);
}

static void answer_request(PtcUpstreamsDesk *desk, PtcValue request)
{
    PtcValue id = ptc_map_field(&desk->heap, request, "id");
    PtcText op = ptc_fields_text(&desk->heap, request, "op");
    const char *why = "out of memory";
    size_t i = 0;
    while (i < OPERATIONS && !(op.bytes && ptc_text_is(op, operations[i].name)))
        i++;
    desk->input = ptc_map_field(&desk->heap, request, "input");
    if (i == OPERATIONS) {
        answer_error(desk, id,
                     "\"op\" is not one of the operations that tests/driver/README.md lists");
    } else if (desk->input == PTC_NONE || !ptc_is_map(desk->input)) {
        answer_error(desk, id, "\"input\" must be an object");
    } else {
        begin(desk, id);
        bool ok = operations[i].answer(desk, &why);
        if (!ok || !ptc_fields_ok(&desk->heap))
            answer_error(desk, id, ok ? "out of memory" : why);
        else
            ptc_emit_object_end(desk->out);
    }
}

static void answer(PtcUpstreamsDesk *desk, const char *line, size_t len)
{
    char why[300];
    PtcJsonError error;
    PtcValue request = ptc_json_parse(&desk->heap, line, len, &error);
    if (request == PTC_NONE) {
        snprintf(why, sizeof why, "the line is not JSON: %s, at column %u", error.message,
                 (unsigned)error.column);
        answer_error(desk, PTC_NONE, why);
    } else if (!ptc_is_map(request)) {
        answer_error(desk, PTC_NONE,
                     "a request is a JSON object with \"id\", \"op\" and \"input\"");
    } else {
        answer_request(desk, request);
    }
}

static void answer_upstreams_line(PtcMem *mem, PtcText line, PtcBuf *out)
{
    PtcUpstreamsDesk desk = {.mem = mem, .out = out};
    ptc_pool_init(&desk.pool, mem);
    ptc_budget_init(&desk.budget);
    desk.budget.deadline_ns = ptc_clock_ns(NULL) + (int64_t)LINE_MS * 1000000;
    ptc_heap_init(&desk.heap, &desk.pool, &desk.budget, HEAP_MAX);
    ptc_arena_init(&desk.arena, mem);
    answer(&desk, line.bytes, line.len);
    ptc_arena_deinit(&desk.arena);
    ptc_heap_deinit(&desk.heap);
    ptc_pool_deinit(&desk.pool);
}

const PtcDriver ptc_driver_upstreams = {
    .name = "upstreams",
    .no_memory = "{\"id\":null,\"ok\":false,\"error\":\"no memory to answer this line\"}",
    .too_long = "{\"id\":null,\"ok\":false,\"error\":\"the line is longer than 64 MiB\"}",
    .answer = answer_upstreams_line,
};
