/* SPDX-License-Identifier: MIT
 * Requests that a function of the host answers, as ptc.h declares them.  They use the same JSON as programs that act
 * as models. */
#include "api/api_ask.h"

#include "api/api_int.h"
#include "llm/callback_model.h"
#include "llm/llm_json.h"
#include "llm/waiting.h"

struct PtcAsk {
    const PtcLlmRequest *request;
    PtcMem *mem;
    PtcBuf json; /* the request, once somebody has asked for it */
    PtcReply reply;
    bool answered, streamed, unwanted;
};

/* --------------------------------------------------------------------------------- model */

static void finish_ask_reply(PtcAsk *a, PtcArena *arena, PtcLlmReply *out)
{
    if (!a->answered)
        ptc_reply_fail(&a->reply, PTC_LLM_UNKNOWN, PTC_TEXT("the host's function gave no reply"));
    ptc_reply_finish(&a->reply, arena, out);
    if (a->unwanted)
        ptc_reply_error(out, arena, NULL, PTC_LLM_CANCELLED,
                        PTC_TEXT("the reader of the text stopped"));
    else if (!a->streamed)
        ptc_waiting_hand_on(a->request, arena, out);
    out->streamed = out->streamed || a->streamed;
}

static void ask_host(void *user, const PtcLlmRequest *request, PtcArena *arena, PtcLlmReply *out)
{
    const PtcAskTarget *target = user;
    PtcAsk ask = {.request = request, .mem = arena->mem};
    ptc_buf_init(&ask.json, arena->mem, PTC_LLM_REQUEST_BYTES);
    ptc_reply_init(&ask.reply, arena->mem, NULL, NULL);
    target->function(&ask, target->user);
    finish_ask_reply(&ask, arena, out);
    ptc_reply_deinit(&ask.reply);
    ptc_buf_deinit(&ask.json);
}

PtcModel *ptc_ask_model_new(PtcMem *mem, const PtcAskTarget *target)
{
    return ptc_callback_model_new(mem, "host", ask_host, (void *)(uintptr_t)target);
}

/* ------------------------------------------------------------------------------- request */

const char *ptc_ask_json(PtcAsk *a, size_t *len)
{
    if (!a || (a->json.len == 0 && !ptc_llm_json_write_request(&a->json, a->request)))
        return NULL;
    api_set_len(len, a->json.len);
    return api_cstr(&a->json);
}

const char *ptc_ask_agent(const PtcAsk *a, size_t *len)
{
    api_set_len(len, a ? a->request->agent.len : 0);
    return a && a->request->agent.bytes ? a->request->agent.bytes : "";
}

bool ptc_ask_cancelled(const PtcAsk *a)
{
    return !a || ptc_cancelled(a->request->cancel) || ptc_ask_time_left_ms(a) <= 0;
}

int64_t ptc_ask_time_left_ms(const PtcAsk *a)
{
    if (!a)
        return 0;
    if (a->request->deadline_ns == INT64_MAX)
        return INT64_MAX;
    int64_t left = a->request->deadline_ns - ptc_clock_ns(NULL);
    return left > 0 ? left / PTC_MS : 0;
}

/* --------------------------------------------------------------------------------- reply */

bool ptc_ask_stream(PtcAsk *a, const char *text, size_t len)
{
    if (!a || !text || a->answered || a->unwanted)
        return false;
    if (!a->request->stream || len == 0)
        return true;
    a->streamed = true;
    a->unwanted = !a->request->stream(a->request->stream_user, (PtcText){text, len});
    return !a->unwanted;
}

static bool claim_ask(PtcAsk *a, const char *text)
{
    if (!a || !text || a->answered)
        return false;
    a->answered = true;
    return true;
}

bool ptc_ask_reply(PtcAsk *a, const char *json, size_t len)
{
    if (!claim_ask(a, json))
        return false;
    return ptc_llm_json_take_reply(&a->reply, (PtcText){json, len}, "the host's function");
}

bool ptc_ask_text(PtcAsk *a, const char *text, size_t len)
{
    return claim_ask(a, text) && ptc_reply_add_text(&a->reply, (PtcText){text, len});
}

bool ptc_ask_fail(PtcAsk *a, const char *failure, const char *message, size_t len)
{
    PtcLlmStatus status = PTC_LLM_UNKNOWN;
    bool known =
        !failure || (ptc_llm_status_find(ptc_text_cstr(failure), &status) && status != PTC_LLM_OK);
    if (!known || !claim_ask(a, message))
        return false;
    (void)ptc_reply_fail(&a->reply, status, (PtcText){message, len});
    return true;
}
