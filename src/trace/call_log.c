/* SPDX-License-Identifier: MIT
 * Sums over the calls of a run.  Nothing is made up: a ratio with nothing on one side is null, and what a model would
 * have spent without programs is not known here. */
#include "trace/call_log.h"

#include "json/emit.h"
#include "json/parse.h"
#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/str.h"

enum { CALL_LOG_MEMORY = 64 * PTC_MB, BYTES_A_TOKEN = 4 };

void ptc_call_log_open(PtcCallLog *l, PtcMem *mem, PtcText json)
{
    PtcJsonError error;
    ptc_pool_init(&l->pool, mem);
    ptc_budget_init(&l->budget);
    ptc_heap_init(&l->heap, &l->pool, &l->budget, CALL_LOG_MEMORY);
    l->calls = json.len ? ptc_json_parse(&l->heap, json.bytes, json.len, &error) : PTC_NONE;
    if (l->calls != PTC_NONE && !ptc_is_sequential(l->calls))
        l->calls = PTC_NONE;
    l->count = l->calls == PTC_NONE ? 0 : ptc_seq_count(l->calls);
}

void ptc_call_log_close(PtcCallLog *l)
{
    ptc_heap_deinit(&l->heap);
    ptc_pool_deinit(&l->pool);
}

PtcValue ptc_call_log_member(PtcCallLog *l, size_t i, const char *name)
{
    return ptc_map_field(&l->heap, ptc_seq_nth(l->calls, i), name);
}

PtcText ptc_call_log_text(PtcCallLog *l, size_t i, const char *name)
{
    PtcValue v = ptc_call_log_member(l, i, name);
    return v == PTC_NONE ? (PtcText){NULL, 0} : ptc_str_text(v);
}

uint64_t ptc_call_log_number(PtcCallLog *l, size_t i, const char *name)
{
    PtcValue v = ptc_call_log_member(l, i, name);
    return v != PTC_NONE && ptc_is_int(v) && ptc_to_int(v) > 0 ? (uint64_t)ptc_to_int(v) : 0;
}

static const char *find_known_name(PtcText name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (ptc_text_is(name, names[i]))
            return names[i];
    return NULL;
}

bool ptc_call_log_is_asked(PtcText name)
{
    static const char *const names[] = {"ts",     "server",   "tool",          "effect",
                                        "policy", "approved", "request_bytes", "arguments",
                                        "span_id"};
    return find_known_name(name, names, sizeof names / sizeof *names) != NULL;
}

const char *ptc_call_log_payload(PtcText name)
{
    static const char *const names[] = {"arguments", "result", "error"};
    return find_known_name(name, names, sizeof names / sizeof *names);
}

PtcText ptc_call_log_reason(PtcCallLog *l, size_t i)
{
    if (ptc_text_is(ptc_call_log_text(l, i, "status"), "ok"))
        return PTC_TEXT("");
    PtcText reason = ptc_call_log_text(l, i, "reason");
    return reason.len ? reason : PTC_TEXT("unknown");
}

void ptc_call_log_put_call(PtcBuf *out, PtcHeap *heap, PtcValue call, uint64_t id)
{
    PtcValue key, value;
    ptc_emit_object(out);
    if (id)
        ptc_emit_field_uint(out, "id", id);
    for (size_t pos = 0; ptc_is_map(call) && ptc_map_next(call, &pos, &key, &value);) {
        PtcText name = ptc_str_text(key);
        if (ptc_text_is(name, "arguments") || ptc_text_is(name, "result") ||
            (id && ptc_text_is(name, "id")))
            continue;
        ptc_emit_key_text(out, name);
        ptc_emit_value(out, heap, value);
    }
    ptc_emit_object_end(out);
}

void ptc_call_log_put_calls(PtcCallLog *l, PtcBuf *out)
{
    ptc_emit_key(out, "upstream_calls");
    ptc_emit_array(out);
    for (size_t i = 0; i < l->count; i++)
        ptc_call_log_put_call(out, &l->heap, ptc_seq_nth(l->calls, i), 0);
    ptc_emit_array_end(out);
}

void ptc_call_log_sum(PtcCallLog *l, PtcCallSums *sums)
{
    *sums = (PtcCallSums){.calls = l->count};
    for (size_t i = 0; i < l->count; i++) {
        uint64_t bytes = ptc_call_log_number(l, i, "result_bytes");
        bool oversize = ptc_call_log_member(l, i, "oversize") == PTC_TRUE;
        bool ok = ptc_call_log_reason(l, i).len == 0;
        *(oversize ? &sums->oversize : ok ? &sums->ok : &sums->errors) += 1;
        *(oversize ? &sums->oversize_bytes
          : ok     ? &sums->result_bytes
                   : &sums->error_bytes) += bytes;
    }
}

int64_t ptc_call_log_ratio(uint64_t received, uint64_t answered)
{
    if (received == 0 || answered == 0)
        return -1;
    return (int64_t)((double)received / (double)answered * 100.0 + 0.5);
}

void ptc_call_log_put_ratio(PtcBuf *out, const char *key, int64_t hundredths)
{
    ptc_emit_key(out, key);
    if (hundredths < 0)
        ptc_emit_null(out);
    else
        ptc_emit_double(out, (double)hundredths / 100.0);
}

static uint64_t tokens(uint64_t bytes)
{
    return (bytes + BYTES_A_TOKEN - 1) / BYTES_A_TOKEN;
}

static void put_baseline(PtcBuf *out, const PtcCallSums *sums, int64_t ratio)
{
    ptc_emit_key(out, "baseline");
    ptc_emit_object(out);
    ptc_emit_key(out, "conservative");
    ptc_emit_object(out);
    ptc_emit_field_cstr(out, "name", "successful_upstream_results_only");
    ptc_emit_field_uint(out, "bytes", sums->result_bytes);
    ptc_call_log_put_ratio(out, "ratio", ratio);
    ptc_emit_field_cstr(out, "note",
                        "bytes of the answers that programs could use, as received; descriptions "
                        "of tools and questions to them are not in it");
    ptc_emit_object_end(out);
    ptc_emit_key(out, "optimistic");
    ptc_emit_object(out);
    ptc_emit_field_cstr(out, "name", "no_ptc_direct_llm_workflow");
    ptc_emit_field_bool(out, "available", false);
    ptc_emit_field_cstr(out, "note", "what a model would have read without programs is not known");
    ptc_emit_object_end(out);
    ptc_emit_object_end(out);
}

void ptc_call_log_put_metrics(PtcBuf *out, const PtcCallSums *sums, uint64_t answered,
                              uint64_t printed)
{
    int64_t ratio = ptc_call_log_ratio(sums->result_bytes, answered);
    ptc_emit_key(out, "ptc_metrics");
    ptc_emit_object(out);
    ptc_emit_field_uint(out, "schema_version", 1);
    ptc_emit_field_uint(out, "final_result_bytes", answered);
    ptc_emit_field_uint(out, "prints_bytes", printed);
    ptc_emit_field_uint(out, "upstream_call_count", sums->calls);
    ptc_emit_field_uint(out, "upstream_ok_count", sums->ok);
    ptc_emit_field_uint(out, "upstream_error_count", sums->errors);
    ptc_emit_field_uint(out, "upstream_oversize_count", sums->oversize);
    ptc_emit_field_uint(out, "upstream_result_bytes", sums->result_bytes);
    ptc_emit_field_uint(out, "upstream_error_bytes", sums->error_bytes);
    ptc_emit_field_uint(out, "upstream_oversize_bytes", sums->oversize_bytes);
    ptc_call_log_put_ratio(out, "payload_reduction_ratio", ratio);
    ptc_emit_field_uint(out, "estimated_final_result_tokens", tokens(answered));
    ptc_emit_field_uint(out, "estimated_upstream_result_tokens", tokens(sums->result_bytes));
    ptc_emit_field_cstr(out, "token_estimate_method", "utf8_bytes_div_4");
    put_baseline(out, sums, ratio);
    ptc_emit_object_end(out);
}
