/* SPDX-License-Identifier: MIT
 * Questions of upstreams, asked of the client in their name.  What always holds: an answer is given to the question it
 * was for (PtcJob.inquiry), whatever has happened to that meanwhile. */
#include "base/units.h"
#include "mcp/app/app_int.h"

#include "json/parse.h"
#include "value/coll/map.h"
#include "value/str.h"

enum {
    INQUIRE_QUESTION_BYTES = 512 * PTC_KB,
    INQUIRE_ANSWER_BYTES = 64 * PTC_KB,
    INQUIRE_LOOK_MS = 100
};
static const int64_t SIGN_IN_NS = 40 * PTC_S; /* clients wait a minute */

static PtcMem *mem_of(const PtcJob *job)
{
    return ptc_mcp_mem(ptc_mcp_server(job->call));
}

unsigned ptc_app_offers(const PtcApp *app, PtcMcpCall *call)
{
    if (!app->suspended || !app->config.can_ask)
        return 0;
    return (app->config.can_sign_in && ptc_mcp_can_open(call) ? (unsigned)PTC_REMOTE_OPENS : 0) |
           (app->config.roots && ptc_mcp_can_ask(call, "roots/list") ? (unsigned)PTC_REMOTE_ROOTS
                                                                     : 0) |
           (ptc_mcp_can_ask(call, "elicitation/create") ? (unsigned)PTC_REMOTE_ELICITS : 0) |
           (ptc_mcp_can_ask(call, "sampling/createMessage") ? (unsigned)PTC_REMOTE_SAMPLES : 0);
}

/* That somebody has agreed to open an address does not mean that they have signed in. */
static void await_sign_in(PtcJob *job)
{
    PtcRemote *remote = job->app->config.remote;
    int64_t end = ptc_clock_ns(NULL) + SIGN_IN_NS;
    if (!remote->signed_in || remote->signed_in(job->asking.run, 0))
        return;
    ptc_mcp_pause(job->call);
    while (!remote->signed_in(job->asking.run, INQUIRE_LOOK_MS) && !ptc_mcp_cancelled(job->call) &&
           ptc_clock_ns(NULL) < end)
        ;
    ptc_mcp_resume(job->call);
}

static void reply_to_remote(PtcJob *job, uint64_t inquiry, PtcValue answer)
{
    PtcBuf text;
    ptc_buf_init(&text, mem_of(job), INQUIRE_ANSWER_BYTES);
    bool has = answer != PTC_NONE && ptc_is_map(answer) &&
               ptc_emit_value(&text, ptc_mcp_heap(job->call), answer);
    job->app->config.remote->reply(job->asking.run, inquiry,
                                   has ? ptc_buf_view(&text) : (PtcText){NULL, 0});
    ptc_buf_deinit(&text);
}

/* A question that was left without an answer is asked again. */
static void reply_along(PtcJob *job)
{
    char key[PTC_QUESTION_KEY];
    for (unsigned i = 0; i < job->along.count; i++) {
        ptc_job_name_question(key, job->round, job->mark, i + 1);
        PtcValue answer = ptc_mcp_reply_to(job->call, key);
        if (answer != PTC_NONE)
            reply_to_remote(job, job->along.numbers[i], answer);
    }
    job->along.count = 0;
}

void ptc_job_reply(PtcJob *job, PtcValue answer)
{
    reply_to_remote(job, job->inquiry, answer);
    reply_along(job);
    job->inquiry = 0;
    await_sign_in(job);
}

/* An address, not a form. */
static bool opens(PtcHeap *heap, PtcValue params)
{
    PtcValue mode = ptc_is_map(params) ? ptc_map_field(heap, params, "mode") : PTC_NONE;
    return mode != PTC_NONE && ptc_is_string(mode) && ptc_text_is(ptc_str_text(mode), "url");
}

static PtcMcpAsk put_remote_question(PtcJob *job, const char *key, PtcText question,
                                     PtcValue *answer)
{
    PtcHeap *heap = ptc_mcp_heap(job->call);
    PtcJsonError error;
    PtcBuf params;
    PtcMcpAsk asked = PTC_MCP_ASK_UNSUPPORTED;
    PtcValue v = ptc_json_parse(heap, question.bytes, question.len, &error);
    PtcValue method = v == PTC_NONE ? PTC_NONE : ptc_map_field(heap, v, "method");
    PtcValue given = v == PTC_NONE ? PTC_NONE : ptc_map_field(heap, v, "params");
    *answer = PTC_NONE;
    ptc_buf_init(&params, mem_of(job), INQUIRE_QUESTION_BYTES);
    const char *text =
        given != PTC_NONE && ptc_emit_value(&params, heap, given) ? ptc_buf_text(&params) : NULL;
    bool samples = method != PTC_NONE && ptc_is_string(method) &&
                   ptc_text_is(ptc_str_text(method), "sampling/createMessage");
    if (text && opens(heap, given))
        asked = ptc_mcp_ask_open(job->call, key, text, answer);
    else if (text)
        asked =
            ptc_mcp_ask(job->call, key, samples ? "sampling/createMessage" : "elicitation/create",
                        text, answer);
    ptc_buf_deinit(&params);
    return asked;
}

/* What was asked before may be gone, or something else comes first now.  That is another round, since answers to both
 * may come. */
static void tell_apart(PtcJob *job, uint64_t inquiry)
{
    job->round += job->row && !job->decided && inquiry != job->inquiry;
}

/* The next question of a server behind that one, put to the client. */
static uint64_t ask_next(PtcJob *job, uint64_t after, unsigned nth, PtcMcpAsk *asked,
                         PtcValue *answer)
{
    PtcRemote *remote = job->app->config.remote;
    char key[PTC_QUESTION_KEY];
    PtcBuf question;
    ptc_buf_init(&question, mem_of(job), INQUIRE_QUESTION_BYTES);
    ptc_mcp_pause(job->call); /* an address to sign in at takes a while to be found */
    uint64_t number = remote->inquiry(job->asking.run, after, &question);
    ptc_mcp_resume(job->call);
    if (nth == 0)
        tell_apart(job, number);
    ptc_job_name_question(key, job->round, job->mark, nth);
    if (number)
        *asked = put_remote_question(job, key, ptc_buf_view(&question), answer);
    ptc_buf_deinit(&question);
    return number;
}

/* Those that cannot be put beside the first come when it was answered. */
PtcMcpAsk ptc_job_inquire(PtcJob *job, PtcValue *answer)
{
    PtcAlong *along = &job->along;
    PtcMcpAsk first = PTC_MCP_ASK_UNSUPPORTED, asked = PTC_MCP_ASK_PENDING;
    PtcValue ignored;
    *along = (PtcAlong){.count = 0};
    if (!job->app->config.remote->inquiry)
        return first;
    uint64_t number = job->inquiry = ask_next(job, 0, 0, &first, answer);
    while (number && first == PTC_MCP_ASK_PENDING && asked == PTC_MCP_ASK_PENDING &&
           along->count < PTC_ALONG &&
           (number = ask_next(job, number, along->count + 1, &asked, &ignored)))
        if (asked == PTC_MCP_ASK_PENDING)
            along->numbers[along->count++] = number;
    return first;
}
