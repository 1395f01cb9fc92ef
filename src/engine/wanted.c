/* SPDX-License-Identifier: MIT
 * Checks the result of a run against a signature or a JSON Schema. */
#include "engine/wanted.h"

#include <string.h>

#include "engine/heap_box.h"
#include "json/parse.h"
#include "lisp/vm/vm_int.h"
#include "tool/schema/type_text.h"
#include "tool/sig/sig_sketch.h"

static bool read_wanted_signature(Ptc *ptc, const PtcRun *run, PtcContract *w, PtcDiags *diags)
{
    PtcSigError e;
    if (ptc_sig_parse(&ptc->arena, run->signature, run->signature_len, &w->sig, &e))
        return (w->sketch = ptc_sig_sketch(&ptc->arena, w->sig->result, false)) != NULL;
    PtcDiag *d =
        ptc_diag_add(diags, PTC_E_ARGS, PTC_NO_PLACE, PTC_NO_PLACE,
                     "the signature is wrong at column %u: %s", (unsigned)e.column, e.message);
    if (e.nearest)
        ptc_diag_hint(d, "did you mean :%s?", e.nearest);
    else
        ptc_diag_hint(d, "a signature is a type such as {count :int, names [:string]}");
    return false;
}

/* Without it nothing is known of the answer before the program runs. */
static void sketch_schema(Ptc *ptc, PtcHeapBox *box, PtcValue schema, PtcContract *w)
{
    PtcBuf text;
    ptc_buf_init(&text, &ptc->mem, PTC_SKETCH_BYTES);
    ptc_type_text_add_whole(&text, &box->heap, schema, schema, true);
    const char *written = text.full ? NULL : ptc_buf_text(&text);
    if (written && !ptc_sketch_read(&ptc->arena, (PtcText){written, text.len}, &w->sketch))
        w->sketch = NULL;
    ptc_buf_deinit(&text);
}

static bool read_wanted_schema(Ptc *ptc, const PtcRun *run, PtcContract *w, PtcDiags *diags)
{
    PtcHeapBox *box = ptc_box_new(ptc, (size_t)ptc->limits.context_bytes);
    PtcJsonError e = {0};
    PtcSchemaError why = {0};
    if (!box)
        return false;
    PtcValue schema = ptc_json_parse(&box->heap, run->output_schema, run->output_schema_len, &e);
    bool ok = schema != PTC_NONE &&
              ptc_schema_compile(&ptc->arena, &ptc->mem, &box->budget, schema, &w->schema, &why);
    if (schema == PTC_NONE)
        ptc_diag_add(diags, PTC_E_ARGS, PTC_NO_PLACE, PTC_NO_PLACE,
                     "the output schema is not JSON: line %u, column %u: %s", (unsigned)e.line,
                     (unsigned)e.column, e.stopped ? "it is too large" : e.message);
    else if (!ok)
        ptc_diag_add(diags, PTC_E_ARGS, PTC_NO_PLACE, PTC_NO_PLACE, "the output schema at %s: %s",
                     why.path, why.stopped ? "it is too large" : why.message);
    if (ok)
        sketch_schema(ptc, box, schema, w);
    ptc_box_release(&box->heap);
    return ok;
}

bool ptc_wanted_read(Ptc *ptc, const PtcRun *run, PtcContract *w, PtcDiags *diags)
{
    *w = (PtcContract){0};
    if (run->signature)
        return read_wanted_signature(ptc, run, w, diags);
    return !run->output_schema || read_wanted_schema(ptc, run, w, diags);
}

/* ----------------------------------------------------------------------------- checking */

static bool refuse_result(PtcVM *vm, PtcBuf *text, const char *expected)
{
    text->full = false;
    const char *issues = ptc_buf_text(text);
    ptc_fail(vm, PTC_E_VALIDATION, "the result is not what was asked for: %s",
             issues ? issues : "");
    ptc_fail_hint(vm, "%s", expected);
    vm->error.first = vm->error.last = 0;
    vm->control = PTC_CONTROL_NONE;
    return false;
}

static bool check_against_signature(PtcVM *vm, const PtcSig *sig, PtcBuf *text)
{
    PtcSigIssues issues;
    ptc_sig_issues_init(&issues, vm->mem);
    bool ok = ptc_sig_validate_return(vm->heap, sig, vm->result, &issues);
    if (!ok && issues.count > 0)
        ptc_sig_issues_print(text, &issues, "; ");
    ptc_sig_issues_deinit(&issues);
    if (ok || text->len == 0)
        return ok || ptc_budget_halt(&vm->budget, PTC_STOP_MEMORY);
    PtcBuf wanted;
    ptc_buf_init(&wanted, vm->mem, PTC_HINT_MAX - 20);
    ptc_sig_type_print(&wanted, sig->result);
    wanted.full = false;
    char hint[PTC_HINT_MAX];
    const char *type = ptc_buf_text(&wanted);
    ptc_diag_format(hint, sizeof hint, "the result must be %s",
                    type ? type : "as its signature says");
    ptc_buf_deinit(&wanted);
    return refuse_result(vm, text, hint);
}

static bool check_against_schema(PtcVM *vm, const PtcSchema *schema, PtcBuf *text)
{
    PtcSchemaIssues *issues = ptc_mem_alloc(vm->mem, sizeof *issues);
    if (!issues)
        return ptc_budget_halt(&vm->budget, PTC_STOP_MEMORY);
    memset(issues, 0, sizeof *issues);
    PtcSchemaVerdict verdict =
        ptc_schema_validate(schema, vm->result, vm->mem, &vm->budget, issues);
    for (size_t i = 0; i < issues->count; i++) {
        if (i)
            ptc_buf_add_cstr(text, "; ");
        ptc_schema_issue_text(text, &issues->items[i]);
    }
    ptc_mem_free(vm->mem, issues, sizeof *issues);
    if (verdict == PTC_SCHEMA_STOPPED)
        return ptc_budget_halt(&vm->budget, PTC_STOP_MEMORY);
    return verdict == PTC_SCHEMA_VALID ||
           refuse_result(vm, text, "the output schema says what is wanted");
}

bool ptc_wanted_check(PtcVM *vm, const PtcContract *w)
{
    PtcBuf text;
    if (!w->sig && !w->schema)
        return true;
    ptc_buf_init(&text, vm->mem, PTC_MESSAGE_MAX);
    bool ok = w->sig ? check_against_signature(vm, w->sig, &text)
                     : check_against_schema(vm, w->schema, &text);
    ptc_buf_deinit(&text);
    if (!ok && !vm->failed) {
        vm->control = PTC_CONTROL_NONE;
        ptc_vm_stopped(vm);
        vm->error.first = vm->error.last = 0;
    }
    return ok;
}

/* -------------------------------------------------------------------------------- judging */

enum { ISSUES_BYTES = 256 * PTC_KB };

static PtcFit judge(PtcOutcome *o, const PtcContract *w, PtcValue v)
{
    PtcMem *mem = &o->ptc->mem;
    ptc_buf_init(&o->answer, mem, (size_t)o->limits.result_bytes);
    ptc_buf_init(&o->issues, mem, ISSUES_BYTES);
    o->answer_done = true;
    PtcFit fit =
        ptc_contract_judge(w, &o->heap, v, o->ptc->float_precision, &o->answer, &o->issues);
    o->answer_none = o->answer.len == 0;
    return fit;
}

bool ptc_wanted_judge(PtcOutcome *o, const PtcContract *w)
{
    PtcVM *vm = &o->ptc->vm;
    size_t limit = o->heap.limit;
    ptc_outcome_refresh(o);
    o->budget.cancel = &o->ptc->cancel;
    o->heap.budget = &o->budget;
    o->heap.limit +=
        (size_t)o->limits.memory_bytes; /* the run's garbage does not count against judging */
    PtcValue whole = w->sig ? ptc_sig_whole(&o->heap, w->sig->result, vm->result) : vm->result;
    PtcFit fit = whole == PTC_NONE ? PTC_UNJUDGED : judge(o, w, whole);
    if (fit == PTC_FITS)
        vm->result = whole;
    if (fit == PTC_UNJUDGED)
        ptc_budget_halt(&o->budget, PTC_STOP_MEMORY); /* unless it has stopped already */
    o->heap.limit = limit;
    o->heap.budget = &vm->budget;
    o->judged = fit != PTC_UNJUDGED;
    o->fits = fit == PTC_FITS;
    if (o->judged)
        return true;
    vm->control = PTC_CONTROL_NONE;
    ptc_budget_halt(&vm->budget, o->budget.stop);
    ptc_vm_stopped(vm);
    vm->error.first = vm->error.last = 0;
    return false;
}
