/* SPDX-License-Identifier: MIT
 * Engines and runs, as ptc.h declares them.  What always holds: arguments are checked here; what computes lives in
 * src/engine. */
#include "api/api_int.h"

enum { FLOAT_PRECISION_MAX = 15 };

void ptc_limits_init(PtcLimits *limits, size_t size)
{
    PtcLimits all;
    ptc_limits_unset(&all);
    api_copy_out(limits, size, &all, sizeof all);
}

static PtcOptions unset_options(void)
{
    return (PtcOptions){.size = sizeof(PtcOptions),
                        .float_precision = PTC_UNSET,
                        .fail_allocation = PTC_UNSET,
                        .history_depth = PTC_UNSET};
}

void ptc_options_init(PtcOptions *options, size_t size)
{
    PtcOptions all = unset_options();
    api_copy_out(options, size, &all, sizeof all);
}

void ptc_run_init(PtcRun *run, size_t size)
{
    PtcRun all = {0};
    api_copy_out(run, size, &all, sizeof all);
}

Ptc *ptc_new(const PtcOptions *given)
{
    PtcOptions options = unset_options();
    PtcLimits limits;
    if (!api_copy_in(&options, sizeof options, given) ||
        !ptc_limits_merge(&limits, options.limits, &ptc_default_limits) ||
        options.float_precision > FLOAT_PRECISION_MAX || options.history_depth > PTC_HISTORY_MAX)
        return NULL;
    return ptc_engine_new(&options, &limits);
}

void ptc_free(Ptc *ptc)
{
    if (ptc)
        ptc_engine_free(ptc);
}

const PtcLimits *ptc_limits_of(const Ptc *ptc)
{
    return ptc ? &ptc->limits : NULL;
}

void ptc_cancel(Ptc *ptc)
{
    if (ptc)
        ptc_engine_cancel(ptc);
}

static PtcStatus run_given(Ptc *ptc, const PtcRun *given, const PtcRunMore *more, PtcOutcome **out)
{
    PtcRun run = {0};
    if (!out || !given)
        return PTC_BAD_ARGUMENT;
    *out = NULL;
    if (!api_copy_in(&run, sizeof run, given) || !run.program || !api_idle(ptc))
        return PTC_BAD_ARGUMENT;
    return ptc_engine_run_more(ptc, &run, more, out);
}

PtcStatus ptc_eval(Ptc *ptc, const PtcRun *run, PtcOutcome **out)
{
    return run_given(ptc, run, NULL, out);
}

PtcStatus ptc_check(Ptc *ptc, const PtcRun *run, PtcOutcome **out)
{
    static const PtcRunMore more = {.only_check = true};
    return run_given(ptc, run, &more, out);
}

void ptc_text_free(Ptc *ptc, char *text, size_t len)
{
    (void)len; /* the text carries its length; older versions needed this one */
    if (ptc && text)
        ptc_engine_text_free(ptc, text);
}
