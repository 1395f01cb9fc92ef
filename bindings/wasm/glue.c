/* SPDX-License-Identifier: MIT
 * What ptc.mjs calls: one engine, requests and answers as JSON (docs/batch.md).  What always holds: an answer lives
 * until the next request, and the engine until the page ends. */
#include <emscripten.h>
#include <ptc/ptc.h>
#include <stdlib.h>
#include <string.h>

static Ptc *engine;
static char *answer;

/* Makes the engine anew with these limits; -1: the default.  False: one of them is out of range. */
EMSCRIPTEN_KEEPALIVE int ptc_wasm_open(double timeout_ms, double memory_bytes, double loop_limit)
{
    PtcLimits limits;
    PtcOptions options;
    if (engine)
        ptc_text_free(engine, answer, 0);
    ptc_free(engine);
    answer = NULL;
    ptc_limits_init(&limits, sizeof limits);
    ptc_options_init(&options, sizeof options);
    limits.timeout_ms = (int64_t)timeout_ms;
    limits.memory_bytes = (int64_t)memory_bytes;
    limits.loop_limit = (int64_t)loop_limit;
    options.limits = &limits;
    engine = ptc_new(&options);
    return engine != NULL;
}

/* The answer to a request; NULL: out of memory. */
EMSCRIPTEN_KEEPALIVE const char *ptc_wasm_eval(const char *request)
{
    if (!engine)
        return NULL;
    ptc_text_free(engine, answer, 0);
    answer = NULL;
    return ptc_eval_json(engine, request, strlen(request), &answer, NULL) == PTC_OK ? answer : NULL;
}

EMSCRIPTEN_KEEPALIVE const char *ptc_wasm_version(void)
{
    return ptc_version();
}

EMSCRIPTEN_KEEPALIVE const char *ptc_wasm_card(void)
{
    return ptc_language_card(false);
}
