/* SPDX-License-Identifier: MIT
 * fuzz_agent_reply.c - replies of models through every mode.  The first byte chooses the agent, the second says when
 * memory fails; then texts apart by bytes 0xff: the reply's text, and for each call its id, name and arguments.  What
 * is heard must be fit to be used, and the work linear. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "agent/step/find_program.h"
#include "agent/step/heard.h"
#include "agent/step/read_answer.h"
#include "base/utf8.h"
#include "json/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { AGENTS = 12, CALLS = 8 };

static const char *const agents[AGENTS] = {
    "",
    ",\"ptc_transport\":\"tool_call\"",
    ",\"output\":\"text\"",
    ",\"output\":\"text\",\"ptc_transport\":\"tool_call\"",
    ",\"ptc_transport\":\"tool_call\",\"signature\":\"{n :int, rows [{id :int, at :datetime?}]}\"",
    ",\"output\":\"text\",\"signature\":\"[:keyword]\"",
    ",\"output\":\"text\",\"signature\":\":int\"",
    ",\"output\":\"text\",\"signature\":\":any\"",
    ",\"output\":\"text\",\"signature\":\":datetime\"",
    ",\"output\":\"text\",\"signature\":\":keyword\"",
    ",\"output\":\"text\",\"schema\":{\"type\":\"object\",\"required\":[\"a\"]}",
    ",\"output\":\"text\",\"ptc_transport\":\"tool_call\",\"signature\":\":map\"",
};

static PtcAgentDef *agent(size_t n)
{
    static PtcAgentDef *defs[AGENTS];
    static const PtcAgentReading reading;
    PtcWhy fault;
    char json[500];
    if (!defs[n]) {
        snprintf(json, sizeof json,
                 "{\"prompt\":\"x\",\"tools\":{\"a-b\":{\"value\":1},\"c\":{\"value\":2}}%s}",
                 agents[n]);
        defs[n] = ptc_definition_read_json(ptc_text_cstr(json), &reading, &fault);
        assert(defs[n]);
    }
    return defs[n];
}

/* The next text, up to 0xff, in a block of exactly its size; absent at the end. */
static PtcText next(const uint8_t **at, const uint8_t *end, char **block)
{
    if (*at >= end)
        return (PtcText){NULL, 0};
    const uint8_t *stop = memchr(*at, 0xff, (size_t)(end - *at));
    size_t n = (size_t)((stop ? stop : end) - *at);
    *block = malloc(n + !n);
    memcpy(*block, *at, n);
    *at += n + 1;
    return (PtcText){*block, n};
}

static void check_call(const PtcHeardCall *call, bool refused)
{
    assert(call->args.bytes && ptc_json_is_line(call->args.bytes, call->args.len) &&
           call->args.bytes[0] == '{');
    assert(call->name.len > 0 && (!call->id.bytes || call->id.len > 0));
    assert(!call->reason || call->message.bytes);
    assert(!refused || call->reason);
}

static void check_heard(const PtcHeard *heard, const PtcAgentDef *def)
{
    assert(!heard->content.bytes || ptc_utf8_valid(heard->content.bytes, heard->content.len));
    assert(heard->kind != PTC_HEARD_PROGRAM || heard->program.bytes);
    assert(heard->kind != PTC_HEARD_ANSWER ||
           ptc_json_is_line(heard->answer.bytes, heard->answer.len));
    assert(heard->kind != PTC_HEARD_BAD || (heard->reason && heard->message.bytes));
    assert(heard->kind != PTC_HEARD_BAD || heard->feedback.bytes || heard->call_count);
    assert(heard->kind != PTC_HEARD_CALLS || (heard->call_count && def->output == PTC_OUTPUT_TEXT));
    for (size_t i = 0; heard->kind != PTC_HEARD_NO_MEMORY && i < heard->call_count; i++)
        check_call(&heard->calls[i], heard->kind == PTC_HEARD_BAD);
}

static void check_work(PtcText text, const PtcAgentDef *def, bool cut)
{
    PtcBench b;
    PtcFound found;
    PtcAnswer answer;
    if (!text.bytes || !ptc_utf8_valid(text.bytes, text.len))
        return;
    ptc_bench_init(&b);
    bool ok = ptc_find_program(&b, text, cut, &found);
    assert(ok && found.work <= PTC_FIND_WORK * text.len);
    ok = ptc_read_answer(&b, &def->want, text, &answer);
    assert(ok && answer.work <= 10 * text.len);
    ptc_bench_deinit(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    PtcMessageCall calls[CALLS];
    char *blocks[1 + 3 * CALLS] = {NULL};
    size_t n = 0;
    if (size < 2)
        return 0;
    const uint8_t *at = data + 2, *end = data + size;
    const PtcAgentDef *def = agent((data[0] & 0x7f) % AGENTS);
    PtcLlmReply reply = {.cut = data[0] & 0x80, .calls = calls};
    reply.text = next(&at, end, &blocks[n]);
    n += reply.text.bytes != NULL;
    for (; at < end && reply.call_count < CALLS; reply.call_count++) {
        PtcMessageCall *call = &calls[reply.call_count];
        call->id = next(&at, end, &blocks[n]), n += call->id.bytes != NULL;
        call->name = next(&at, end, &blocks[n]), n += call->name.bytes != NULL;
        call->args = next(&at, end, &blocks[n]), n += call->args.bytes != NULL;
    }
    PtcBench b;
    PtcHeard heard;
    ptc_bench_init(&b);
    ptc_mem_fail_at(&b.mem, data[1]);
    ptc_hear(&b, def, &reply, &heard);
    assert(data[1] || heard.kind != PTC_HEARD_NO_MEMORY);
    check_heard(&heard, def);
    ptc_bench_deinit(&b);
    assert(atomic_load(&b.mem.used) == 0);
    if (!data[1])
        check_work(reply.text, def, reply.cut);
    while (n--)
        free(blocks[n]);
    return 0;
}
