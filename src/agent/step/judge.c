/* SPDX-License-Identifier: MIT
 * Checks values against what an agent's answer must be, and writes the findings as lines for a model. */
#include "agent/step/judge.h"

#include "json/parse.h"
#include "tool/contract.h"
#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/str.h"

enum { JUDGE_JSON_BYTES = 64 * PTC_MB, FINDINGS_BYTES = 64 * PTC_KB };

const PtcSigType *ptc_want_type(const PtcWant *want)
{
    return want->sig ? ptc_sig_required(want->sig->result) : NULL;
}

/* rows[0].id */
static void add_issue_path(PtcBuf *out, PtcValue steps)
{
    for (size_t i = 0; i < ptc_seq_count(steps); i++) {
        PtcValue step = ptc_seq_nth(steps, i);
        PtcText name = ptc_str_text(step);
        if (name.bytes)
            ptc_buf_addf(out, "%s%.*s", i ? "." : "", PTC_ARG(name));
        else if (ptc_is_int(step))
            ptc_buf_addf(out, "[%lld]", (long long)ptc_to_int(step));
    }
    if (ptc_seq_count(steps))
        ptc_buf_add_cstr(out, ": ");
}

PtcText ptc_judge_findings(PtcBench *b, PtcText issues)
{
    PtcBuf lines;
    PtcJsonError e = {0};
    PtcValue list = ptc_json_parse(&b->heap, issues.bytes, issues.len, &e);
    ptc_buf_init(&lines, &b->mem, FINDINGS_BYTES);
    for (size_t i = 0; list != PTC_NONE && i < ptc_seq_count(list); i++) {
        PtcValue issue = ptc_seq_nth(list, i), path = ptc_map_field(&b->heap, issue, "path");
        PtcText message = ptc_str_text(ptc_map_field(&b->heap, issue, "message"));
        if (i)
            ptc_buf_add_char(&lines, '\n');
        add_issue_path(&lines, path);
        ptc_buf_add(&lines, message.bytes, message.len);
    }
    lines.full = false; /* what fits is enough */
    lines.failed = lines.failed || list == PTC_NONE;
    return ptc_bench_take(b, &lines);
}

bool ptc_judge(PtcBench *b, const PtcWant *want, PtcValue v, PtcJudged *out)
{
    PtcBuf json, issues;
    PtcContract contract = {.sig = want->sig, .schema = want->schema};
    ptc_buf_init(&json, &b->mem, JUDGE_JSON_BYTES);
    ptc_buf_init(&issues, &b->mem, JUDGE_JSON_BYTES);
    PtcFit fit = ptc_contract_judge(&contract, &b->heap, v, want->float_precision, &json, &issues);
    bool has_json = json.len > 0;
    PtcText text = ptc_bench_take(b, &json), found = ptc_bench_take(b, &issues);
    if (fit == PTC_UNJUDGED || !text.bytes || !found.bytes || b->budget.stop != PTC_STOP_NONE)
        return false;
    *out = (PtcJudged){.fits = fit == PTC_FITS, .json = has_json ? text : (PtcText){NULL, 0}};
    if (out->fits)
        return true;
    out->issues = found;
    out->findings = ptc_judge_findings(b, found);
    return out->findings.bytes != NULL;
}
