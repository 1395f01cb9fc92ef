/* SPDX-License-Identifier: MIT
 * Judging answers.  The type is checked first, since its findings say what is wanted; only then is the JSON written. */
#include "tool/contract.h"

#include <stdio.h>
#include <string.h>

#include "json/emit.h"
#include "tool/convert.h"
#include "tool/sig/sig_check.h"

enum { STEPS_BYTES = 4096 }; /* of the path to what has no JSON form */

static PtcFit stop_contract_check(PtcHeap *heap)
{
    ptc_budget_halt(heap->budget, PTC_STOP_MEMORY); /* unless it has stopped already */
    return PTC_UNJUDGED;
}

/* ----------------------------------------------------------------------------------- types */

static PtcFit check_contract_signature(const PtcSig *sig, PtcHeap *heap, PtcValue v, PtcBuf *issues)
{
    PtcSigIssues found;
    ptc_sig_issues_init(&found, heap->pool->mem);
    bool fits = ptc_sig_validate_return(heap, sig, v, &found);
    bool told = !fits && found.count > 0 && ptc_sig_issues_json(issues, &found);
    ptc_sig_issues_deinit(&found);
    return fits ? PTC_FITS : told ? PTC_MISFIT : stop_contract_check(heap);
}

static PtcFit check_contract_schema(const PtcSchema *schema, PtcHeap *heap, PtcValue v,
                                    PtcBuf *issues)
{
    PtcMem *mem = heap->pool->mem;
    PtcSchemaIssues *found = ptc_mem_alloc(mem, sizeof *found);
    if (!found)
        return stop_contract_check(heap);
    memset(found, 0, sizeof *found);
    PtcSchemaVerdict verdict = ptc_schema_validate(schema, v, mem, heap->budget, found);
    bool told = verdict == PTC_SCHEMA_INVALID && ptc_schema_issues_json(issues, found);
    ptc_mem_free(mem, found, sizeof *found);
    return verdict == PTC_SCHEMA_VALID ? PTC_FITS : told ? PTC_MISFIT : stop_contract_check(heap);
}

static PtcFit check_contract_type(const PtcContract *c, PtcHeap *heap, PtcValue v, PtcBuf *issues)
{
    if (c->schema)
        return check_contract_schema(c->schema, heap, v, issues);
    return check_contract_signature(c->sig, heap, v, issues);
}

/* ------------------------------------------------------------------------------------ JSON */

/* One finding; `steps` is empty for the value itself. */
static bool report_contract_issue(PtcBuf *issues, const PtcBuf *steps, const char *message)
{
    bool whole = steps->len > 0 && ptc_buf_ok(steps);
    ptc_emit_array(issues);
    ptc_emit_object(issues);
    ptc_emit_field_raw(issues, "path", whole ? ptc_buf_view(steps) : (PtcText){"[]", 2});
    ptc_emit_field_cstr(issues, "message", message);
    ptc_emit_object_end(issues);
    return ptc_emit_array_end(issues);
}

/* Why there is no JSON form, in the words of the other findings. */
static void explain_unwritable(const PtcJsonError *e, const PtcBuf *json, char *out, size_t size)
{
    if (e->what[0])
        snprintf(out, size, "expected a value that JSON can express, got %s", e->what);
    else if (json->full)
        snprintf(out, size, "expected at most %zu bytes of JSON, got more", json->max);
    else
        snprintf(out, size, "expected a value that JSON can express: %s", e->message);
}

static PtcFit write_contract_json(PtcHeap *heap, PtcValue v, int float_precision, PtcBuf *json,
                                  PtcBuf *issues)
{
    PtcJsonError e;
    PtcBuf steps;
    char message[320];
    ptc_buf_init(&steps, heap->pool->mem, STEPS_BYTES);
    bool ok = ptc_to_json_answer(heap, json, v, float_precision, &steps, &e);
    bool over = !ok && (e.stopped || json->failed || heap->budget->stop != PTC_STOP_NONE);
    if (!ok) {
        explain_unwritable(&e, json, message, sizeof message);
        json->len = 0;
        json->full = false;
        /* If the type did not fit, those findings are what matters. */
        over = over || (issues->len == 0 && !report_contract_issue(issues, &steps, message));
    }
    ptc_buf_deinit(&steps);
    return ok ? PTC_FITS : over ? stop_contract_check(heap) : PTC_MISFIT;
}

PtcFit ptc_contract_judge(const PtcContract *c, PtcHeap *heap, PtcValue v, int float_precision,
                          PtcBuf *json, PtcBuf *issues)
{
    PtcFit type = check_contract_type(c, heap, v, issues);
    if (type == PTC_UNJUDGED)
        return type;
    PtcFit written = write_contract_json(heap, v, float_precision, json, issues);
    return type == PTC_FITS || written == PTC_UNJUDGED ? written : type;
}
