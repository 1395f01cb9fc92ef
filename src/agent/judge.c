/* SPDX-License-Identifier: MIT
 * Holds values to what an agent's answer must be. */
#include "agent/judge.h"

#include "json/emit.h"
#include "tool/convert.h"
#include "tool/keys.h"
#include "tool/sig/sig_check.h"

enum { JSON_BYTES = 64 * 1024 * 1024, FINDINGS_BYTES = 64 * 1024 };

const PtcSigType *ptc_want_type(const PtcWant *want)
{
    return want->sig ? ptc_sig_required(want->sig->result) : NULL;
}

/* ----------------------------------------------------------------------------- findings */

/* Findings on their way: JSON and lines. */
typedef struct Findings {
    PtcBench *b;
    PtcBuf json, lines;
} Findings;

static void begin(Findings *f, PtcBench *b)
{
    f->b = b;
    ptc_buf_init(&f->json, &b->mem, JSON_BYTES);
    ptc_buf_init(&f->lines, &b->mem, FINDINGS_BYTES);
}

static void end(Findings *f, PtcJudged *out)
{
    f->lines.full = false; /* what fits is enough */
    out->issues = ptc_bench_take(f->b, &f->json);
    out->findings = ptc_bench_take(f->b, &f->lines);
    out->verdict =
        out->issues.bytes && out->findings.bytes ? PTC_JUDGED_WRONG : PTC_JUDGED_NO_MEMORY;
}

static void add_finding(Findings *f, const char *path, const char *message)
{
    ptc_emit_object(&f->json);
    ptc_emit_key(&f->json, "path");
    ptc_path_json(&f->json, path);
    ptc_emit_field_cstr(&f->json, "message", message);
    ptc_emit_object_end(&f->json);
    ptc_buf_addf(&f->lines, "%s%s%s\n", path, *path ? ": " : "", message);
}

static void tell_sig(PtcBench *b, const PtcSigIssues *issues, PtcJudged *out)
{
    Findings f;
    begin(&f, b);
    ptc_sig_issues_json(&f.json, issues);
    ptc_sig_issues_print(&f.lines, issues, "\n");
    end(&f, out);
}

static void tell_schema(PtcBench *b, const PtcSchemaIssues *issues, PtcJudged *out)
{
    Findings f;
    begin(&f, b);
    ptc_emit_array(&f.json);
    for (size_t i = 0; i < issues->count; i++)
        add_finding(&f, issues->items[i].path, issues->items[i].message);
    ptc_emit_array_end(&f.json);
    end(&f, out);
}

static void tell_keys(PtcBench *b, const PtcKeysError *e, PtcJudged *out)
{
    Findings f;
    begin(&f, b);
    ptc_emit_array(&f.json);
    add_finding(&f, e->path, e->what);
    ptc_emit_array_end(&f.json);
    end(&f, out);
}

/* ------------------------------------------------------------------------------ judging */

static void check_sig(PtcBench *b, const PtcSig *sig, PtcValue v, PtcJudged *out)
{
    PtcSigIssues *issues = ptc_mem_alloc(&b->mem, sizeof *issues);
    out->verdict = PTC_JUDGED_NO_MEMORY;
    if (!issues)
        return;
    ptc_sig_issues_init(issues, &b->mem);
    if (ptc_sig_validate_return(&b->heap, sig, v, issues))
        out->verdict = PTC_JUDGED_FITS;
    else if (issues->count > 0)
        tell_sig(b, issues, out);
    ptc_sig_issues_deinit(issues);
    ptc_mem_free(&b->mem, issues, sizeof *issues);
}

static void check_schema(PtcBench *b, const PtcSchema *schema, PtcValue v, PtcJudged *out)
{
    PtcSchemaIssues *issues = ptc_mem_alloc(&b->mem, sizeof *issues);
    out->verdict = PTC_JUDGED_NO_MEMORY;
    if (!issues)
        return;
    memset(issues, 0, sizeof *issues);
    PtcSchemaVerdict verdict = ptc_schema_validate(schema, v, &b->mem, &b->budget, issues);
    if (verdict == PTC_SCHEMA_VALID)
        out->verdict = PTC_JUDGED_FITS;
    else if (verdict == PTC_SCHEMA_INVALID)
        tell_schema(b, issues, out);
    ptc_mem_free(&b->mem, issues, sizeof *issues);
}

/* The JSON of the value; what has none is a finding, unless there are others already. */
static void make_json(PtcBench *b, const PtcWant *want, PtcValue v, PtcJudged *out)
{
    PtcKeysError e;
    PtcJsonError bad = {0};
    PtcBuf buf;
    PtcValue plain = ptc_tool_value(&b->heap, v, &e);
    if (plain == PTC_NONE) {
        if (e.stopped)
            out->verdict = PTC_JUDGED_NO_MEMORY;
        else if (out->verdict == PTC_JUDGED_FITS)
            tell_keys(b, &e, out);
        return;
    }
    ptc_buf_init(&buf, &b->mem, JSON_BYTES);
    if (ptc_to_json_value(&b->heap, &buf, plain, want->float_precision, &bad))
        out->json = ptc_bench_take(b, &buf);
    else
        ptc_buf_deinit(&buf);
    if (!out->json.bytes)
        out->verdict = PTC_JUDGED_NO_MEMORY;
}

void ptc_judge(PtcBench *b, const PtcWant *want, PtcValue v, PtcJudged *out)
{
    *out = (PtcJudged){.verdict = PTC_JUDGED_FITS};
    if (want->sig)
        check_sig(b, want->sig, v, out);
    if (out->verdict == PTC_JUDGED_FITS && want->schema)
        check_schema(b, want->schema, v, out);
    if (out->verdict != PTC_JUDGED_NO_MEMORY)
        make_json(b, want, v, out);
    if (b->budget.stop != PTC_STOP_NONE)
        out->verdict = PTC_JUDGED_NO_MEMORY;
}
