/* SPDX-License-Identifier: MIT
 * The desk of `ptc signature`: a heap and an arena for one question, so that nothing of it remains. */
#include "cli/cmd/signature.h"

#include "json/time_json.h"
#include "json/write.h"
#include "value/time/time.h"

#define HEAP_MAX ((size_t)512 * PTC_MB)

void ptc_sig_desk_init(PtcSigDesk *desk, PtcMem *mem)
{
    desk->mem = mem;
    ptc_pool_init(&desk->pool, mem);
    ptc_budget_init(&desk->budget);
    ptc_heap_init(&desk->heap, &desk->pool, &desk->budget, HEAP_MAX);
    ptc_arena_init(&desk->arena, mem);
    ptc_sig_issues_init(&desk->errors, mem);
    ptc_sig_issues_init(&desk->warnings, mem);
}

void ptc_sig_desk_deinit(PtcSigDesk *desk)
{
    ptc_sig_issues_deinit(&desk->warnings);
    ptc_sig_issues_deinit(&desk->errors);
    ptc_arena_deinit(&desk->arena);
    ptc_heap_deinit(&desk->heap);
    ptc_pool_deinit(&desk->pool);
}

bool ptc_sig_desk_write(PtcSigDesk *desk, PtcBuf *out, PtcValue v)
{
    PtcJsonError error;
    PtcJsonWriter writer = {&desk->heap, -1, ptc_time_json};
    return ptc_json_write(&writer, out, v, &error);
}

PtcValue ptc_sig_desk_input(PtcSigDesk *desk, const PtcSig *sig, PtcSigMode mode, PtcValue v)
{
    const PtcSigType *result = sig->result;
    if (sig->has_params)
        return ptc_sig_input(&desk->heap, sig, mode, PTC_SIG_EXTRA_REFUSED, v, &desk->warnings,
                             &desk->errors);
    if (mode == PTC_SIG_DISABLED)
        return v;
    if (mode == PTC_SIG_STRICT)
        return ptc_sig_validate(&desk->heap, result, true, v, &desk->errors) ? v : PTC_NONE;
    PtcSigIssues *errors = mode == PTC_SIG_WARN_ONLY ? &desk->warnings : &desk->errors;
    PtcValue to =
        ptc_sig_coerce(&desk->heap, result, PTC_SIG_EXTRA_LEFT_OUT, v, &desk->warnings, errors);
    bool go_on = mode == PTC_SIG_WARN_ONLY && desk->budget.stop == PTC_STOP_NONE;
    return to == PTC_NONE && go_on ? v : to;
}
