/* SPDX-License-Identifier: MIT
 * step_help.h - drives the step of an agent as the loop would, without engine, model or thread: events are written as
 * lines of words, actions are shown as such lines.  tests/agent/step.txt says how. */
#ifndef PTC_TESTS_STEP_HELP_H
#define PTC_TESTS_STEP_HELP_H

#include "agent/step/step.h"

#include "agent_help.h"

enum { STEP_WORDS = 64, STEP_TEXT = 1 << 16 };

static const PtcAgentReading step_reading = {.allow_scripts = true};

/* A step with the world around it. */
typedef struct Driver {
    PtcAgentDef *def;
    PtcStep step;
    PtcFacts facts;
    bool claimed;
    PtcAction action;
    char line[STEP_TEXT]; /* the event being read */
    char *words[STEP_WORDS];
    int count;
} Driver;

/* ----------------------------------------------------------------------------- the world */

static inline void driver_init(Driver *d, PtcAgentDef *def, const PtcStepOptions *options)
{
    memset(d, 0, sizeof *d);
    d->def = def;
    ptc_step_init(&d->step, def, options);
    d->facts = (PtcFacts){.deadline_ns = INT64_MAX, .budget = def->turn_budget};
}

static inline void driver_deinit(Driver *d)
{
    ptc_step_deinit(&d->step);
    ptc_definition_release(d->def);
}

/* Gives the event to the step and does with turns what the loop does. */
static inline void driver_take(Driver *d, PtcEvent *e)
{
    e->facts = d->facts;
    d->action = ptc_step(&d->step, e);
    if (d->action.turn_back && d->claimed)
        d->facts.budget++;
    if (e->kind == PTC_EVENT_REPLY || e->kind == PTC_EVENT_FAILED || d->action.turn_back)
        d->claimed = false;
    if (d->action.kind == PTC_ACTION_ASK) {
        d->facts.budget--;
        d->claimed = true;
    }
}

/* --------------------------------------------------------------------------------- words */

/* The end of a word: blanks in quotes and brackets are part of it. */
static inline char *driver_word_end(char *p)
{
    for (int depth = 0; *p && (depth > 0 || *p != ' '); p++) {
        depth += strchr("([{", *p) ? 1 : strchr(")]}", *p) ? -1 : 0;
        if (*p == '"')
            while (p[1] && *++p != '"')
                p += *p == '\\' && p[1];
    }
    return p;
}

static inline void driver_split(Driver *d, const char *text)
{
    snprintf(d->line, sizeof d->line, "%s", text);
    d->count = 0;
    for (char *p = d->line; d->count < STEP_WORDS;) {
        while (*p == ' ')
            p++;
        if (!*p)
            break;
        d->words[d->count++] = p;
        p = driver_word_end(p);
        if (*p)
            *p++ = 0;
    }
}

static inline PtcAgentFault driver_fault(const char *word)
{
    for (PtcAgentFault i = PTC_FAULT_NONE + 1; i < PTC_FAULT_COUNT; i++)
        if (strcmp(ptc_agent_fault_word(i), word) == 0)
            return i;
    CHECK(!"a fault that the table has");
    return PTC_FAULT_INTERNAL;
}

/* Kinds are constants to the step: words that stay. */
static inline const char *driver_constant(const char *word)
{
    static char kept[64][40];
    static int count;
    for (int i = 0; i < count; i++)
        if (strcmp(kept[i], word) == 0)
            return kept[i];
    if (count == 64)
        return "too_many_kinds";
    snprintf(kept[count], sizeof kept[0], "%s", word);
    return kept[count++];
}

/* The value of key=value, or NULL. */
static inline const char *driver_value(const Driver *d, const char *key)
{
    size_t n = strlen(key);
    for (int i = 1; i < d->count; i++)
        if (strncmp(d->words[i], key, n) == 0 && d->words[i][n] == '=')
            return d->words[i] + n + 1;
    return NULL;
}

static inline bool driver_has(const Driver *d, const char *word)
{
    for (int i = 1; i < d->count; i++)
        if (strcmp(d->words[i], word) == 0)
            return true;
    return false;
}

static inline int64_t driver_int(const Driver *d, const char *key, int64_t otherwise)
{
    const char *v = driver_value(d, key);
    return v ? strtoll(v, NULL, 10) : otherwise;
}

static inline PtcText driver_text(const Driver *d, const char *key)
{
    const char *v = driver_value(d, key);
    return v && *v == '"' ? ptc_text_cstr(unquote(v)) : ptc_text_cstr(v);
}

/* The word after the first that is no key=value: the number n of them, from 1. */
static inline const char *driver_word(const Driver *d, int n)
{
    for (int i = 1; i < d->count; i++) {
        char first = d->words[i][0];
        bool whole = first == '(' || first == '{' || first == '[' || first == '"' ||
                     strchr(d->words[i], '\'');
        if ((whole || !strpbrk(d->words[i], "=#")) && --n == 0)
            return d->words[i];
    }
    return "";
}

/* -------------------------------------------------------------------------------- events */

/* name#id!reason */
static inline PtcHeardCall driver_call(char *word, size_t tool)
{
    char *reason = strchr(word, '!'), *id;
    if (reason)
        *reason++ = 0;
    if ((id = strchr(word, '#')))
        *id++ = 0;
    return (PtcHeardCall){.id = ptc_text_cstr(id && *id ? id : NULL),
                          .name = ptc_text_cstr(word),
                          .args = PTC_TEXT("{}"),
                          .tool = tool,
                          .reason = reason ? driver_fault(reason) : PTC_FAULT_NONE,
                          .message = reason ? PTC_TEXT("refused") : (PtcText){NULL, 0}};
}

static inline void driver_reply(const Driver *d, PtcEvent *e)
{
    static PtcHeard heard;
    static PtcHeardCall calls[STEP_WORDS];
    static const char *const kinds[] = {"program", "calls", "answer", "bad", "nomem"};
    heard = (PtcHeard){.content = driver_text(d, "text"), .calls = calls};
    for (int i = 0; i < 5; i++)
        if (strcmp(driver_word(d, 1), kinds[i]) == 0)
            heard.kind = (PtcHeardKind)i;
    heard.program =
        heard.kind == PTC_HEARD_PROGRAM ? ptc_text_cstr(driver_word(d, 2)) : (PtcText){NULL, 0};
    heard.reason = heard.kind == PTC_HEARD_BAD ? driver_fault(driver_word(d, 2)) : PTC_FAULT_NONE;
    heard.answer =
        heard.kind == PTC_HEARD_ANSWER ? ptc_text_cstr(driver_word(d, 2)) : (PtcText){NULL, 0};
    for (int i = 2; i < d->count; i++)
        if (strchr(d->words[i], '#') && !strchr("([{\"'", d->words[i][0]))
            calls[heard.call_count] = driver_call(d->words[i], heard.call_count),
            heard.call_count++;
    if (!heard.content.bytes && !heard.call_count)
        heard.content = heard.kind == PTC_HEARD_PROGRAM  ? heard.program
                        : heard.kind == PTC_HEARD_ANSWER ? heard.answer
                                                         : PTC_TEXT("Words.");
    if (heard.kind == PTC_HEARD_BAD) {
        heard.message = PTC_TEXT("bad reply");
        heard.feedback = driver_has(d, "quiet") ? (PtcText){NULL, 0} : PTC_TEXT("Feedback.");
        heard.issues = driver_text(d, "issues");
    }
    e->kind = PTC_EVENT_REPLY;
    e->reply.heard = &heard;
    e->reply.opaque = driver_text(d, "opaque");
    e->reply.tokens = (PtcTokens){.reported = driver_value(d, "in") || driver_value(d, "out"),
                                  .input = driver_int(d, "in", 0),
                                  .output = driver_int(d, "out", 0),
                                  .cache_creation = driver_int(d, "made", 0),
                                  .cache_read = driver_int(d, "read", 0)};
}

static inline void driver_failed(const Driver *d, PtcEvent *e)
{
    e->kind = PTC_EVENT_FAILED;
    e->failed.status = PTC_LLM_UNKNOWN;
    for (int i = PTC_LLM_OK; i <= PTC_LLM_NO_MEMORY; i++)
        if (strcmp(driver_word(d, 1), ptc_llm_status_name((PtcLlmStatus)i)) == 0)
            e->failed.status = (PtcLlmStatus)i;
    e->failed.error = PTC_TEXT("provider says no");
    e->failed.retry_after_ms = driver_int(d, "after", -1);
    e->failed.streamed = driver_has(d, "streamed");
}

static inline void driver_ran(const Driver *d, PtcEvent *e)
{
    static const char *const ends[] = {"value",        "return",    "fail",     "failed",
                                       "memory_limit", "cancelled", "no_memory"};
    static PtcTurnCall calls[STEP_WORDS];
    static PtcDoneStep done;
    static PtcText lost;
    const char *value = driver_word(d, 2);
    PtcRan *ran = &e->ran;
    e->kind = PTC_EVENT_RAN;
    *ran =
        (PtcRan){.fits = !driver_has(d, "misfit"),
                 .prints = driver_text(d, "prints"),
                 .calls = calls,
                 .journal_log = driver_text(d, "log"),
                 .kind = driver_value(d, "kind") ? driver_constant(driver_value(d, "kind")) : NULL};
    for (int i = 0; i < 7; i++)
        if (strcmp(driver_word(d, 1), ends[i]) == 0)
            ran->end = (PtcRanEnd)i;
    ran->value_kind = strcmp(value, "nil") == 0 ? PTC_VALUE_NIL
                      : *value == '#'           ? PTC_VALUE_VAR
                                                : PTC_VALUE_PLAIN;
    if (ran->value_kind != PTC_VALUE_NIL && ran->end <= PTC_RAN_FAIL)
        ran->value = ptc_text_cstr(value);
    ran->answer = !ran->fits                         ? (PtcText){NULL, 0}
                  : ran->value_kind == PTC_VALUE_NIL ? PTC_TEXT("null")
                                                     : ran->value;
    if (!ran->fits) {
        ran->issues = PTC_TEXT("[{\"path\":[],\"message\":\"wrong\"}]");
        ran->findings = PTC_TEXT("wrong");
    }
    bool failed = ran->end >= PTC_RAN_FAIL;
    ran->message = failed ? PTC_TEXT("it went wrong") : (PtcText){NULL, 0};
    ran->payload = failed ? PTC_TEXT("{\"status\":\"error\"}") : PTC_TEXT("{\"status\":\"ok\"}");
    ran->feedback = PTC_TEXT("Result.");
    for (int i = 1; i < d->count; i++)
        if (strncmp(d->words[i], "tool/", 5) == 0)
            calls[ran->call_count++] =
                (PtcTurnCall){ptc_text_cstr(d->words[i] + 5), false, true, false, 1};
    done = (PtcDoneStep){driver_text(d, "done"), driver_text(d, "did")};
    ran->done = &done;
    ran->done_count = done.id.bytes != NULL;
    lost = driver_text(d, "lost");
    ran->lost = &lost;
    ran->lost_count = lost.bytes != NULL;
}

static inline void driver_called(const Driver *d, PtcEvent *e)
{
    static PtcCallResult results[STEP_WORDS];
    e->kind = PTC_EVENT_CALLED;
    e->called.results = results;
    e->called.count = 0;
    for (int i = 1; i < d->count; i++) {
        bool ok = d->words[i][0] != '!', cached = d->words[i][0] == '*';
        if (strchr(d->words[i], '=') && !strchr("\"[{", d->words[i][0]))
            continue;
        PtcText content = ptc_text_cstr(d->words[i] + (!ok || cached));
        results[e->called.count++] =
            (PtcCallResult){.ok = ok,
                            .cached = cached,
                            .content = ok ? content : PTC_TEXT("it failed"),
                            .reason = ok ? PTC_FAULT_NONE : driver_fault(content.bytes)};
    }
}

static inline void driver_start(Driver *d, PtcEvent *e)
{
    static PtcMessage earlier[3];
    e->kind = PTC_EVENT_START;
    e->opening = (PtcOpening){.system = PTC_TEXT("System."),
                              .mission = PTC_TEXT("Mission."),
                              .journal_log = driver_text(d, "log"),
                              .earlier = earlier,
                              .earlier_count = (size_t)driver_int(d, "earlier", 0)};
    earlier[0] = (PtcMessage){.role = PTC_ROLE_USER, .content = PTC_TEXT("Before.")};
    earlier[1] = (PtcMessage){.role = PTC_ROLE_ASSISTANT, .content = PTC_TEXT("Yes.")};
    earlier[2] = (PtcMessage){.role = PTC_ROLE_USER, .content = PTC_TEXT("And.")};
}

/* Takes an event that is written as a line; false: there is no such event. */
static inline bool driver_event(Driver *d, const char *line)
{
    static const struct {
        const char *name;
        void (*read)(const Driver *d, PtcEvent *e);
    } events[] = {{"reply", driver_reply},
                  {"failed", driver_failed},
                  {"ran", driver_ran},
                  {"called", driver_called}};
    PtcEvent e = {.kind = PTC_EVENT_CANCEL};
    driver_split(d, line);
    d->facts.now_ns = driver_int(d, "now", d->facts.now_ns / 1000000) * 1000000;
    if (driver_value(d, "deadline")) {
        d->facts.deadline_ns = driver_int(d, "deadline", 0) * 1000000;
        d->facts.hurried = true;
    }
    d->facts.budget = driver_int(d, "budget", d->facts.budget);
    d->facts.tree_tokens = driver_int(d, "tokens", d->facts.tree_tokens);
    d->facts.stop = driver_has(d, "stop");
    const char *name = d->count ? d->words[0] : "";
    bool known = strcmp(name, "cancel") == 0;
    if (strcmp(name, "start") == 0)
        driver_start(d, &e), known = true;
    if (strcmp(name, "waited") == 0)
        e.kind = PTC_EVENT_WAITED, known = true;
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        if (strcmp(name, events[i].name) == 0)
            events[i].read(d, &e), known = true;
    if (known)
        driver_take(d, &e);
    return known;
}

/* --------------------------------------------------------------------------------- shown */

static inline void show(PtcBuf *to, const char *name, PtcText text)
{
    if (text.bytes)
        ptc_buf_addf(to, " %s%.*s", name, (int)text.len, text.bytes);
}

static inline void show_request(PtcBuf *to, const Driver *d)
{
    static const char *const types[] = {"normal", "must_return", "retry"};
    const PtcLlmRequest *r = &d->action.request;
    ptc_buf_addf(to, "ask %s ", types[d->step.now.type]);
    for (int p = 0; p < 2; p++)
        for (size_t i = 0; i < r->parts[p].count; i++)
            ptc_buf_addf(to, "%c", "uat"[r->parts[p].items[i].role]);
    if (d->step.now.compacted.triggered)
        ptc_buf_addf(to, " %s", d->step.now.compacted.reason);
}

static inline void show_finish(PtcBuf *to, const Driver *d)
{
    const PtcVerdict *v = &d->step.now.verdict;
    ptc_buf_addf(to, v->ok ? "finish ok %s" : "finish error %s",
                 v->ok ? v->by : ptc_agent_fault_word(v->reason));
    if (v->cause)
        ptc_buf_addf(to, " cause=%s", v->cause);
    show(to, v->ok ? "" : "value=", v->value);
    show(to, "partial=", v->partial);
}

/* The last action. */
static inline void show_action(PtcBuf *to, const Driver *d)
{
    static const char *const endings[] = {"never", "return", "due_return", "due_value", "due_nil"};
    const PtcAction *a = &d->action;
    switch (a->kind) {
    case PTC_ACTION_ASK: show_request(to, d); break;
    case PTC_ACTION_RUN:
        ptc_buf_addf(to, "run %s", endings[a->run.ending]);
        if (a->run.fail_kind)
            ptc_buf_addf(to, " fail=%s", a->run.fail_kind);
        show(to, "", a->run.program);
        break;
    case PTC_ACTION_CALL:
        ptc_buf_addf(to, "call");
        for (size_t i = 0; i < a->call.count; i++)
            ptc_buf_addf(to, " %zu", a->call.calls[i].tool);
        break;
    case PTC_ACTION_WAIT: ptc_buf_addf(to, "wait %lld", (long long)a->wait_ms); break;
    case PTC_ACTION_FINISH: show_finish(to, d); break;
    }
    if (a->turn_back)
        ptc_buf_addf(to, " back");
}

static inline void show_turns(PtcBuf *to, const PtcStep *s)
{
    static const char *const types[] = {"normal", "must_return", "retry"};
    for (size_t i = 0; i < s->now.turn_count; i++) {
        const PtcTurn *t = &s->now.turns[i];
        ptc_buf_addf(to, "%s %s", types[t->type], t->ok ? "ok" : ptc_turn_word(t));
        show(to, "", t->program);
        show(to, "value=", t->value);
        show(to, "issues=", t->issues);
        show(to, "prints=", t->prints);
        for (size_t k = 0; k < t->call_count; k++)
            ptc_buf_addf(to, " %s%.*s:%s%s", t->calls[k].native ? "" : "tool/",
                         (int)t->calls[k].name.len, t->calls[k].name.bytes,
                         t->calls[k].ok ? "ok" : "no", t->calls[k].cached ? ":cached" : "");
        for (size_t k = 0; k < t->lost_count; k++)
            show(to, "lost=", t->lost[k]);
        ptc_buf_addf(to, "\n");
    }
}

static inline void show_messages(PtcBuf *to, const PtcStep *s)
{
    for (size_t i = 0; i < s->now.messages.count; i++) {
        const PtcMessage *m = &s->now.messages.items[i];
        ptc_buf_addf(to, "%s",
                     m->role == PTC_ROLE_USER   ? "user"
                     : m->role == PTC_ROLE_TOOL ? "tool"
                                                : "assistant");
        show(to, "", m->call_id);
        if (m->is_error)
            ptc_buf_addf(to, " error");
        for (size_t k = 0; k < m->call_count; k++)
            ptc_buf_addf(to, " %.*s#%.*s", (int)m->calls[k].name.len, m->calls[k].name.bytes,
                         (int)m->calls[k].id.len, m->calls[k].id.bytes);
        show(to, "opaque=", m->opaque);
        ptc_buf_addf(to, "\n");
        if (m->content.bytes)
            ptc_buf_addf(to, "%.*s\n", (int)m->content.len, m->content.bytes);
    }
}

#endif
