/* SPDX-License-Identifier: MIT
 * test_agent_step.c - the step of an agent: tests/agent/step.txt event by event; what always holds, under random
 * events; short memory at every allocation.  With `--print FILE` the cases are shown as they come out. */
#include "step_help.h"

static bool printing;

/* -------------------------------------------------------------------------------- cases */

static PtcAgentDef *case_def(const Case *c)
{
    static char json[STEP_TEXT];
    PtcWhy fault;
    const char *given = part(c, "agent") ? said(part(c, "agent")) : "{}";
    const char *rest = strchr(given, '{') ? strchr(given, '{') + 1 : "}";
    snprintf(json, sizeof json, "{\"prompt\":\"x\"%s%s", *rest == '}' ? "" : ",", rest);
    PtcAgentDef *def = ptc_definition_read_json(ptc_text_cstr(json), &step_reading, &fault);
    check_that(def != NULL, "agent", fault.text, fault.path);
    return def;
}

static PtcStepOptions case_options(const Case *c, const PtcAgentDef *def)
{
    Driver words = {.def = NULL};
    char line[500];
    PtcStepOptions o = ptc_step_options(def);
    snprintf(line, sizeof line, "options %s", part(c, "options") ? said(part(c, "options")) : "");
    driver_split(&words, line);
    o.token_limit = driver_int(&words, "token_limit", -1);
    o.return_partial = driver_has(&words, "partial");
    o.depth = driver_int(&words, "depth", 1);
    o.has_model = !driver_has(&words, "no_model");
    o.retry.max_attempts = driver_int(&words, "attempts", o.retry.max_attempts);
    return o;
}

static char *take_line(char **at)
{
    char *line = *at, *end = line ? strchr(line, '\n') : NULL;
    if (!line || !*line)
        return NULL;
    *at = end ? end + 1 : NULL;
    if (end)
        *end = 0;
    return line;
}

/* Runs the events; the actions are held to the indented lines behind them. */
static void run_events(Driver *d, char *steps)
{
    static char text[STEP_TEXT];
    snprintf(text, sizeof text, "%s", steps);
    char *at = text;
    for (char *line; (line = take_line(&at));) {
        PtcBuf got;
        if (*line == ' ')
            continue;
        ptc_buf_init(&got, &h.mem, SIZE_MAX / 2);
        check_that(driver_event(d, line), "event", line, "a known one");
        show_action(&got, d);
        while (at && strncmp(at, "    ", 4) == 0) { /* the event goes on */
            take_line(&at);
        }
        char *want = at && strncmp(at, "  ", 2) == 0 ? take_line(&at) + 2 : "";
        if (printing)
            printf("%s\n  %s\n", line, ptc_buf_text(&got));
        else
            check_that(strcmp(ptc_buf_text(&got), want) == 0, line, ptc_buf_text(&got), want);
        ptc_buf_deinit(&got);
    }
}

static void check_part(const Case *c, const char *key, void (*shown)(PtcBuf *to, const PtcStep *s),
                       const PtcStep *s)
{
    PtcBuf got;
    const CasePart *p = part(c, key);
    if (!p)
        return;
    ptc_buf_init(&got, &h.mem, SIZE_MAX / 2);
    shown(&got, s);
    while (got.len && got.data[got.len - 1] == '\n')
        got.len--;
    if (printing)
        printf("-- %s\n%s\n", key, ptc_buf_text(&got));
    else
        check_text(key, ptc_buf_text(&got), p->text ? p->text : "");
    ptc_buf_deinit(&got);
}

static void show_usage(PtcBuf *to, const PtcStep *s)
{
    const PtcStepNow *n = &s->now;
    ptc_buf_addf(to, "turns=%zu requests=%lld errors=%lld", n->turn_count, (long long)n->requests,
                 (long long)n->errors);
    if (n->tokens.reported)
        ptc_buf_addf(to, " in=%lld out=%lld made=%lld read=%lld", (long long)n->tokens.input,
                     (long long)n->tokens.output, (long long)n->tokens.cache_creation,
                     (long long)n->tokens.cache_read);
    for (size_t i = 0; i < n->done_count; i++)
        ptc_buf_addf(to, " %.*s:%.*s", (int)n->done[i].id.len, n->done[i].id.bytes,
                     (int)n->done[i].text.len, n->done[i].text.bytes);
}

static void show_compaction(PtcBuf *to, const PtcStep *s)
{
    const PtcCompacted *k = &s->now.compacted;
    ptc_buf_addf(to, "%s%s %s before=%zu after=%zu tokens=%llu/%llu initial=%d recent=%lld over=%d",
                 k->enabled ? "enabled" : "off", k->triggered ? " triggered" : "",
                 k->reason ? k->reason : "-", k->messages_before, k->messages_after,
                 (unsigned long long)k->tokens_before, (unsigned long long)k->tokens_after,
                 k->kept_initial_user, (long long)k->kept_recent_turns, k->over_budget);
}

static void show_verdict_message(PtcBuf *to, const PtcStep *s)
{
    ptc_buf_add(to, s->now.verdict.message.bytes, s->now.verdict.message.len);
}

static void show_more(PtcBuf *to, const PtcStep *s)
{
    ptc_buf_add(to, s->now.system_more.bytes, s->now.system_more.len);
}

static void run_case(const Case *c)
{
    static Driver d;
    PtcAgentDef *def = case_def(c);
    if (!def)
        return;
    PtcStepOptions options = case_options(c, def);
    driver_init(&d, def, &options);
    if (printing)
        printf("== %s\n", c->name);
    run_events(&d, part(c, "steps") && part(c, "steps")->text ? part(c, "steps")->text : "");
    check_part(c, "turns", show_turns, &d.step);
    check_part(c, "messages", show_messages, &d.step);
    check_part(c, "usage", show_usage, &d.step);
    check_part(c, "compaction", show_compaction, &d.step);
    check_part(c, "message", show_verdict_message, &d.step);
    check_part(c, "more", show_more, &d.step);
    driver_deinit(&d);
}

int main(int argc, char **argv)
{
    check_heap_init(&h);
    printing = argc == 3 && strcmp(argv[1], "--print") == 0;
    int cases = case_file(printing ? argv[2] : "tests/agent/step.txt", run_case);
    if (!printing)
        CHECK(cases > 150);
    check_heap_deinit(&h);
    return check_done("agent_step");
}
