/* SPDX-License-Identifier: MIT
 * test_agent_step_random.c - what always holds of the step of an agent: under random events in random agents, and in
 * every case of tests/agent/step.txt when each allocation in turn fails. */
#include "step_check.h"

static uint64_t state = 88172645463325252u;

static unsigned roll(unsigned n)
{
    return (unsigned)(check_random(&state) % n);
}

/* Counts what always holds; false when it does not. */
static bool check_all(const Driver *d, int64_t budget)
{
    const char *wrong = step_wrong(d, budget);
    if (check_count(!wrong))
        printf("%s: %s\n", running ? running->name : "random", wrong);
    return !wrong;
}

/* --------------------------------------------------------------------------- random runs */

static PtcAgentDef *random_agent(void)
{
    static const char *const modes[] = {"\"output\":\"ptc_lisp\"",
                                        "\"ptc_transport\":\"tool_call\"", "\"output\":\"text\"",
                                        "\"output\":\"text\",\"ptc_transport\":\"tool_call\""};
    char json[1000];
    unsigned mode = roll(4);
    PtcWhy fault;
    snprintf(
        json, sizeof json,
        "{\"prompt\":\"x\",%s,\"max_turns\":%u,\"retry_turns\":%u,\"turn_budget\":%u%s%s%s%s%s,"
        "\"tools\":{\"a\":{\"value\":1},\"b\":{\"value\":1}},\"llm_retry\":{\"max_attempts\":%u}}",
        modes[mode], 1 + roll(6), roll(3), 1 + roll(12), roll(3) ? "" : ",\"max_tool_calls\":3",
        mode < 2 && roll(2) ? ",\"completion_mode\":\"explicit\"" : "",
        mode != 2 && roll(2) ? ",\"memory_strategy\":\"rollback\"" : "",
        mode < 2 && roll(2)
            ? ",\"compaction\":{\"trigger\":{\"turns\":1,\"tokens\":9},\"keep_recent_turns\":1}"
            : "",
        mode != 2 && roll(2) ? ",\"plan\":[\"one\",\"two\"]" : "", 1 + roll(3));
    PtcAgentDef *def = ptc_definition_read_json(ptc_text_cstr(json), &step_reading, &fault);
    CHECK(def != NULL);
    return def;
}

static const char *pick(const char *const *words, unsigned n)
{
    return words[roll(n)];
}

/* A reply that the mode can have. */
static void random_reply(const Driver *d, char line[500])
{
    static const char *const ids[] = {"", "x", "y", "tc_1", "tc_3", "z9"};
    static const char *const bad[] = {"no_code_found", "validation_error", "empty_response"};
    PtcAgentMode mode = d->def->mode;
    unsigned what = roll(10);
    bool native = mode != PTC_MODE_CONTENT;
    if (what < 2) {
        snprintf(line, 500, "reply bad %s", pick(bad, 3));
    } else if (native && what < 4) {
        snprintf(line, 500,
                 "reply bad multiple_tool_calls%s a#%s!multiple_tool_calls "
                 "lisp_eval#%s!multiple_tool_calls",
                 mode == PTC_MODE_TOOL_CALL ? "" : " quiet", pick(ids, 6), pick(ids, 6));
    } else if (native && what == 4) {
        snprintf(line, 500, "reply answer \"x\"");
    } else if (mode == PTC_MODE_TEXT || (mode == PTC_MODE_COMBINED && what < 7)) {
        snprintf(line, 500, "reply calls a#%s%s b#%s a#%s%s", pick(ids, 6),
                 roll(2) ? "!unknown_tool" : "", pick(ids, 6), pick(ids, 6),
                 roll(2) ? "!args_error" : "");
    } else {
        snprintf(line, 500, "reply program %s%s (p)", native ? "lisp_eval#" : "",
                 native ? pick(ids, 6) : "");
    }
    size_t n = strlen(line);
    snprintf(line + n, 500 - n, " in=%u out=1 tokens=%u%s", roll(50), roll(100),
             roll(40) ? "" : " stop");
}

static void random_ran(char line[500])
{
    static const char *const ends[] = {"value 1",
                                       "value nil",
                                       "value #'a",
                                       "value 2 misfit",
                                       "return 1",
                                       "return 2 misfit",
                                       "fail 3",
                                       "failed kind=type_error",
                                       "failed kind=timeout",
                                       "memory_limit",
                                       "cancelled",
                                       "no_memory"};
    unsigned n = roll(100);
    snprintf(line, 500, "ran %s%s%s",
             n < 4    ? pick(ends + 9, 3)
             : n < 12 ? pick(ends + 4, 3)
                      : pick(ends, 9),
             roll(3) ? "" : " done=1 did=x", roll(3) ? "" : " tool/a");
    if (n < 50 && n >= 12)
        snprintf(line, 500, "ran value 1");
}

/* An event that can happen now; sometimes one that cannot. */
static void random_event(const Driver *d, char line[500])
{
    static const char *const failures[] = {"rate_limit", "timeout", "server_error", "client_error",
                                           "unknown"};
    PtcStepState now = d->step.now.state;
    if (roll(200) == 0)
        now = (PtcStepState)roll(PTC_STEP_DONE);
    switch (now) {
    case PTC_STEP_NEW: snprintf(line, 500, "start earlier=%u", roll(4)); break;
    case PTC_STEP_ASKING:
        if (roll(5) == 0)
            snprintf(line, 500, "failed %s%s", pick(failures, 5), roll(2) ? "" : " after=5");
        else
            random_reply(d, line);
        break;
    case PTC_STEP_WAITING: snprintf(line, 500, "waited"); break;
    case PTC_STEP_RUNNING: random_ran(line); break;
    default: {
        size_t n = d->action.kind == PTC_ACTION_CALL ? d->action.call.count : 1;
        snprintf(line, 500, "called");
        while (n--)
            strcat(line, roll(2) ? " 1" : roll(2) ? " *2" : " !tool_error");
        break;
    }
    }
    if (roll(300) == 0)
        snprintf(line, 500, "cancel");
}

/* After the end nothing changes, whatever happens. */
static void check_end(Driver *d)
{
    char line[500];
    PtcStepNow before = d->step.now;
    size_t used = atomic_load(&d->step.mem.used);
    for (int i = 0; i < 3; i++) {
        random_event(d, line);
        driver_event(d, line);
        CHECK(d->action.kind == PTC_ACTION_FINISH && !d->action.turn_back);
    }
    CHECK(memcmp(&before, &d->step.now, sizeof before) == 0);
    CHECK(atomic_load(&d->step.mem.used) == used);
}

static void run_random(void)
{
    static Driver d;
    char line[500];
    PtcAgentDef *def = random_agent();
    if (!def)
        return;
    PtcStepOptions options = ptc_step_options(def);
    options.token_limit = roll(4) ? -1 : 80;
    options.return_partial = roll(2);
    driver_init(&d, def, &options);
    int64_t budget = d.facts.budget;
    bool good = true;
    int events = 0;
    for (; good && d.step.now.state != PTC_STEP_DONE && events < 200; events++) {
        random_event(&d, line);
        good = driver_event(&d, line) && check_all(&d, budget);
        if (!good)
            printf("  at event %d: %s\n", events, line);
    }
    CHECK(events < 200);
    if (good)
        check_end(&d);
    driver_deinit(&d);
    CHECK(atomic_load(&d.step.mem.used) == 0);
}

/* -------------------------------------------------------------------------- short memory */

/* Runs the events of a case with allocation n failing (0: none), or in so many bytes.  True: memory was short. */
static bool run_short(const Case *c, uint64_t n, size_t bytes)
{
    static Driver d;
    static char text[STEP_TEXT], json[STEP_TEXT];
    PtcWhy fault;
    const char *given = part(c, "agent") ? said(part(c, "agent")) : "{}";
    const char *rest = strchr(given, '{') + 1;
    snprintf(json, sizeof json, "{\"prompt\":\"x\"%s%s", *rest == '}' ? "" : ",", rest);
    PtcAgentDef *def = ptc_definition_read_json(ptc_text_cstr(json), &step_reading, &fault);
    if (!def)
        return false;
    PtcStepOptions options = ptc_step_options(def);
    driver_init(&d, def, &options);
    snprintf(text, sizeof text, "%s", part(c, "steps")->text);
    ptc_mem_fail_at(&d.step.mem, n);
    d.step.mem.limit = bytes;
    for (char *line = strtok(text, "\n"); line && d.step.now.state != PTC_STEP_DONE;
         line = strtok(NULL, "\n"))
        if (*line != ' ') {
            driver_event(&d, line);
            check_all(&d, -1);
        }
    bool told =
        d.step.now.state == PTC_STEP_DONE && d.step.now.verdict.reason == PTC_FAULT_NO_MEMORY;
    bool failed =
        n ? atomic_load(&d.step.mem.count) >= n : d.step.arena.failed || !ptc_buf_ok(&d.step.text);
    check_that(told || !d.step.arena.failed, "short memory", "nobody was told", "no_memory");
    driver_deinit(&d);
    return failed;
}

/* Each allocation fails once (a buffer may do with less then); and memory ends after every so many bytes. */
static void run_case(const Case *c)
{
    uint64_t n = 1;
    size_t bytes = 0;
    if (part(c, "options") || strstr(part(c, "steps")->text, "nomem") ||
        strstr(part(c, "steps")->text, "ran no_memory")) /* those cases are about something else */
        return;
    while (n < 300 && run_short(c, n, PTC_STEP_BYTES))
        n++;
    while (bytes < 1 << 20 && run_short(c, 0, bytes))
        bytes += 61;
    check_that(n < 300 && bytes < 1 << 20, "short memory", "too much", "");
}

int main(void)
{
    check_heap_init(&h);
    for (int i = 0; i < 20000; i++)
        run_random();
    CHECK(case_file("tests/agent/step.txt", run_case) > 150);
    check_heap_deinit(&h);
    return check_done("agent_step_random");
}
