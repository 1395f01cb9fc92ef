/* SPDX-License-Identifier: MIT
 * fuzz_agent_step.c - the step of an agent under any events.  Two bytes choose the agent, one says when memory fails,
 * then each byte (with those behind it for details) is an event.  What always holds must hold after each. */
#include <assert.h>

#include "unit/step_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t *at, *end;

static unsigned take(unsigned n)
{
    return at < end ? *at++ % n : 0;
}

static PtcAgentDef *make_agent(void)
{
    static const char *const modes[] = {"\"output\":\"ptc_lisp\"",
                                        "\"ptc_transport\":\"tool_call\"", "\"output\":\"text\"",
                                        "\"output\":\"text\",\"ptc_transport\":\"tool_call\""};
    char json[700];
    unsigned mode = take(4), bits = take(256);
    PtcWhy fault;
    snprintf(json, sizeof json,
             "{\"prompt\":\"x\",%s,\"max_turns\":%u,\"retry_turns\":%u,\"turn_budget\":%u%s%s%s%s,"
             "\"tools\":{\"a\":{\"value\":1}},"
             "\"llm_retry\":{\"max_attempts\":2}}",
             modes[mode], 1 + bits % 5, bits / 5 % 3, 1 + bits / 15 % 9,
             bits & 1 ? ",\"max_tool_calls\":2" : "",
             mode < 2 && bits & 2 ? ",\"completion_mode\":\"explicit\"" : "",
             mode < 2 && bits & 4
                 ? ",\"compaction\":{\"trigger\":{\"tokens\":5},\"keep_recent_turns\":1}"
                 : "",
             mode != 2 && bits & 8
                 ? ",\"plan\":[\"one\"],\"memory_strategy\":\"rollback\",\"journaling\":true"
                 : "");
    PtcAgentDef *def = ptc_definition_read_json(ptc_text_cstr(json), &step_reading, &fault);
    assert(def);
    return def;
}

static const char *const lines[] = {
    "start",
    "start earlier=3 log=\"a\"",
    "reply program (p)",
    "reply program lisp_eval#x (p)",
    "reply program lisp_eval# (p) in=5 out=5",
    "reply calls a#x a#x!unknown_tool a#",
    "reply calls a#tc_1 a#tc_2",
    "reply calls ghost#g!unknown_tool",
    "reply answer \"x\"",
    "reply bad no_code_found text=\"\"",
    "reply bad unknown_tool a#q!unknown_tool a#q!unknown_tool",
    "reply bad multiple_tool_calls quiet a#!multiple_tool_calls",
    "reply nomem",
    "failed rate_limit",
    "failed timeout after=7",
    "failed client_error",
    "failed deadline",
    "waited",
    "ran value 1 done=1 did=x log=\"l\"",
    "ran value nil",
    "ran value #'a",
    "ran value 1 misfit",
    "ran return 1",
    "ran return 1 misfit",
    "ran fail 1",
    "ran failed kind=type_error lost=a tool/b",
    "ran memory_limit",
    "ran cancelled",
    "ran no_memory",
    "called 1",
    "called 1 !tool_error",
    "called *1 2 3",
    "cancel",
    "waited stop",
    "ran value 1 tokens=1000000000",
};

/* Mostly an event that can follow, so that runs are long. */
static const char *choose(const Driver *d)
{
    unsigned any = take(256);
    if (any < 40)
        return lines[any % (sizeof lines / sizeof *lines)];
    bool native = d->def->mode != PTC_MODE_CONTENT, text = d->def->output == PTC_OUTPUT_TEXT;
    switch (d->step.now.state) {
    case PTC_STEP_NEW: return lines[any % 2];
    case PTC_STEP_ASKING:
        return any < 60  ? lines[13 + any % 3]
               : !native ? lines[any & 1 ? 2 : 9]
                         : lines[text      ? 4 + any % 8
                                 : any & 1 ? 3
                                           : 10];
    case PTC_STEP_WAITING: return "waited";
    case PTC_STEP_RUNNING: return lines[18 + any % 8];
    case PTC_STEP_CALLING:
        return d->action.call.count == 1   ? "called 1"
               : d->action.call.count == 2 ? "called 1 *2"
                                           : lines[31];
    case PTC_STEP_DONE: break;
    }
    return "cancel";
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static Driver d;
    static bool ready;
    if (!ready)
        check_heap_init(&h), ready = true;
    if (size < 4)
        return 0;
    at = data;
    end = data + size;
    PtcAgentDef *def = make_agent();
    PtcStepOptions options = ptc_step_options(def);
    unsigned fail_at = take(256);
    options.token_limit = fail_at & 1 ? 1000 : -1;
    options.return_partial = fail_at & 2;
    driver_init(&d, def, &options);
    ptc_mem_fail_at(&d.step.mem, fail_at >> 2);
    for (int events = 0; at < end && events < 300; events++) {
        assert(driver_event(&d, choose(&d)));
        const char *wrong = step_wrong(&d, fail_at >> 2 ? -1 : d.def->turn_budget);
        if (wrong)
            fprintf(stderr, "%s\n", wrong);
        assert(!wrong);
        check_heap_deinit(&h); /* what texts of events were read into */
        check_heap_init(&h);
    }
    driver_deinit(&d);
    assert(atomic_load(&d.step.mem.used) == 0);
    return 0;
}
