/* SPDX-License-Identifier: MIT
 * test_agent_step_random.c - what always holds of the step of an agent: under random events in random agents, and in
 * every case of tests/agent/step.txt when each allocation in turn fails. */
#include "step_help.h"

static uint64_t state = 88172645463325252u;

static unsigned roll(unsigned n)
{
    return (unsigned)(check_random(&state) % n);
}

/* ---------------------------------------------------------------------- what always holds */

static bool fail(const char *what)
{
    if (check_count(false))
        printf("%s: %s\n", running ? running->name : "random", what);
    return false;
}

/* Roles and calls; the answers to the calls of the last turn may be missing while that is under way. */
static bool check_messages(const PtcStep *s)
{
    const PtcConversation *c = &s->now.messages;
    bool busy = s->now.state == PTC_STEP_RUNNING || s->now.state == PTC_STEP_CALLING;
    size_t at;
    const char *why;
    size_t count = busy ? s->now.turn_first : c->count;
    if (!ptc_messages_check(c->items, count, &at, &why))
        return fail(why);
    for (size_t i = 1; i < count; i++)
        if (c->items[i].role == PTC_ROLE_USER && c->items[i - 1].role == PTC_ROLE_USER)
            return fail("two messages of the user stand together");
    if (busy && (c->count != count + 1 || c->items[count].role != PTC_ROLE_ASSISTANT))
        return fail("a turn under way has one message");
    return true;
}

static bool check_ids(const PtcStep *s)
{
    const PtcConversation *c = &s->now.messages;
    for (size_t i = 0; i < c->count; i++)
        for (size_t k = 0; k < c->items[i].call_count; k++)
            for (size_t j = 0; j <= i; j++)
                for (size_t l = 0; l < c->items[j].call_count && (j < i || l < k); l++)
                    if (ptc_text_same(c->items[i].calls[k].id, c->items[j].calls[l].id))
                        return fail("two calls have one id");
    return true;
}

static bool check_turns(const PtcStep *s)
{
    int64_t all = s->def->max_turns + s->def->retry_turns;
    const PtcStepNow *n = &s->now;
    if (n->work < 0 || n->retry < 0 || n->work > s->def->max_turns ||
        n->retry > s->def->retry_turns)
        return fail("turns are out of bounds");
    if ((int64_t)n->turn_count + n->work + n->retry != all)
        return fail("turns do not add up");
    for (size_t i = 0; i < n->turn_count; i++)
        if (n->turns[i].ok == (n->turns[i].reason != NULL))
            return fail("a turn is ok, or has a reason");
    return true;
}

/* What is sent begins with a user's message and ends with a user's or a tool's, roles alternating. */
static bool check_request(const PtcAction *a)
{
    PtcMessage all[4096];
    size_t n = 0, at;
    const char *why;
    if (a->kind != PTC_ACTION_ASK)
        return true;
    for (int p = 0; p < 2; p++)
        for (size_t i = 0; i < a->request.parts[p].count && n < 4096; i++)
            all[n++] = a->request.parts[p].items[i];
    if (n == 0 || !ptc_messages_check(all, n, &at, &why))
        return fail(n ? why : "an empty request");
    return all[n - 1].role != PTC_ROLE_ASSISTANT || fail("a request ends with the assistant");
}

static bool check_verdict(const Driver *d)
{
    const PtcVerdict *v = &d->step.now.verdict;
    if (d->action.kind != PTC_ACTION_FINISH)
        return d->step.now.state != PTC_STEP_DONE || fail("done without a finish");
    if (d->step.now.state != PTC_STEP_DONE || v->ok == (v->reason != NULL) ||
        v->ok != (v->by != NULL))
        return fail("a verdict is ok, or has a reason");
    return !v->ok || v->value.bytes || fail("an answer without a value");
}

static bool check_all(const Driver *d, int64_t budget)
{
    int64_t used = budget - d->facts.budget - d->claimed;
    bool busy = d->step.now.state == PTC_STEP_RUNNING || d->step.now.state == PTC_STEP_CALLING;
    if (d->facts.budget < 0)
        return fail("the budget is negative");
    if (budget >= 0 && used != (int64_t)d->step.now.turn_count + busy &&
        d->step.now.state != PTC_STEP_DONE)
        return fail("the budget does not add up");
    return check_messages(&d->step) && check_ids(&d->step) && check_turns(&d->step) &&
           check_request(&d->action) && check_verdict(d);
}

/* --------------------------------------------------------------------------- random runs */

static PtcAgentDef *random_agent(void)
{
    static const char *const modes[] = {"\"output\":\"ptc_lisp\"",
                                        "\"ptc_transport\":\"tool_call\"", "\"output\":\"text\"",
                                        "\"output\":\"text\",\"ptc_transport\":\"tool_call\""};
    char json[1000];
    unsigned mode = roll(4);
    PtcFault fault;
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
    if (!def)
        fail(fault.message);
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
        check_count(good);
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
    PtcFault fault;
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
            check_count(check_all(&d, -1));
        }
    const char *reason = d.step.now.verdict.reason;
    bool told = d.step.now.state == PTC_STEP_DONE && reason && strcmp(reason, "no_memory") == 0;
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
