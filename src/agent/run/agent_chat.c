/* SPDX-License-Identifier: MIT
 * A conversation with one agent.  What always holds: the messages that are kept form a conversation that can be
 * continued (ptc_messages_check), however the runs ended. */
#include "agent/run/agent_chat.h"

#include <stdio.h>

enum { CHAT_BYTES = 256 * PTC_MB };

/* ------------------------------------------------------------------------------- opening */

/* Text is shown as it arrives, so it cannot be checked against a type. */
static bool check_definition(const PtcAgentDef *def, PtcWhy *fault)
{
    bool has = def->signature.bytes || def->schema.bytes;
    if (def->output != PTC_OUTPUT_TEXT || !has)
        return true;
    return ptc_fault_set(
        fault, def->schema.bytes ? "schema" : "signature",
        "a chat with output \"text\" has none: answers are plain text; leave it out, or run "
        "the agent with ptc run");
}

bool ptc_agent_chat_open(PtcAgentChat *c, PtcAgentDef *def, const PtcTreeHost *host,
                         const PtcWorkInput *input, PtcWhy *fault)
{
    *c = (PtcAgentChat){.def = ptc_definition_retain(def), .input = *input};
    c->input.servers = host->servers != NULL;
    ptc_mem_init(&c->mem, CHAT_BYTES);
    ptc_arena_init(&c->arena, &c->mem);
    bool tree = ptc_tree_init(&c->tree, host, def->turn_budget, def->mission_timeout_ms);
    bool work = ptc_work_open(&c->work, def, &c->input, fault);
    if (work && !tree)
        ptc_why_no_memory(fault);
    return tree && work && check_definition(def, fault);
}

void ptc_agent_chat_close(PtcAgentChat *c)
{
    ptc_work_close(&c->work);
    ptc_tree_deinit(&c->tree);
    ptc_arena_deinit(&c->arena);
    ptc_definition_release(c->def);
}

bool ptc_agent_chat_reset(PtcAgentChat *c, PtcWhy *fault)
{
    ptc_work_close(&c->work);
    ptc_arena_reset(&c->arena);
    c->messages = NULL;
    c->count = 0;
    return ptc_work_open(&c->work, c->def, &c->input, fault);
}

/* ------------------------------------------------------------------------------- talking */

void ptc_agent_chat_begin(PtcAgentChat *c, PtcAgentRun *run, PtcText message,
                          const PtcAgentOptions *options)
{
    PtcAgentOptions o = *options;
    o.input = (PtcWorkInput){.context = {NULL, 0}};
    o.work = &c->work;
    o.messages = c->messages;
    o.message_count = c->count;
    o.message = message;
    o.stream = ptc_definition_is_plain(c->def);
    ptc_tree_renew(&c->tree, c->def->turn_budget, c->def->mission_timeout_ms);
    ptc_agent_run_begin(run, &c->tree, c->def, &o);
}

/* How many messages to keep: calls at the end that were never answered are dropped, with the message that made them. */
static size_t count_whole_messages(const PtcConversation *said)
{
    size_t count = said->count;
    while (count > 0 && !ptc_messages_check(said->items, count, NULL))
        count--;
    return count;
}

bool ptc_agent_chat_keep(PtcAgentChat *c, const PtcAgentRun *run)
{
    const PtcConversation *said = &run->step.now.messages;
    PtcConversation kept;
    PtcArena arena;
    if (run->invalid || run->step.now.turn_count == 0)
        return true;
    ptc_arena_init(&arena, &c->mem);
    ptc_messages_init(&kept, &arena);
    if (!ptc_messages_add_earlier(&kept, said->items, count_whole_messages(said))) {
        ptc_arena_deinit(&arena);
        return false;
    }
    ptc_arena_deinit(&c->arena);
    c->arena = arena;
    c->messages = kept.items;
    c->count = kept.count;
    return true;
}
