/* SPDX-License-Identifier: MIT
 * test_agent_chat.c - what a chat keeps of messages whose answers came to no good end. */
#include "check.h"

#include "agent/run/agent_chat.h"
#include "llm/script.h"

/* Asks the run to stop when this happens in this turn. */
typedef struct Watch {
    PtcCancel cancel;
    PtcProgressKind kind;
    int64_t turn;
} Watch;

static void watch(void *user, const PtcProgress *p)
{
    Watch *w = user;
    if (p->kind == w->kind && p->turn == w->turn)
        atomic_store(&w->cancel.asked, true);
}

typedef struct Talk {
    PtcMem mem;
    PtcAgentDef *def;
    PtcModel *model;
    Watch watch;
    PtcAgentChat chat;
} Talk;

static const char text_agent[] =
    "{\"prompt\":\"{{x}}\",\"output\":\"text\",\"tools\":{\"n\":{\"value\":1}}}";

static bool open_talk(Talk *t, const char *agent, const char *replies, PtcWhy *fault)
{
    PtcWhy why;
    PtcAgentReading how = {.allow_scripts = true};
    PtcWorkInput input = {.context = {NULL, 0}};
    *t = (Talk){.watch = {.turn = -1}};
    PtcTreeHost host = {.progress = watch, .progress_user = &t->watch};
    ptc_mem_init(&t->mem, (size_t)1 << 30);
    t->def = ptc_definition_read_json(ptc_text_cstr(agent), &how, fault);
    t->model = ptc_script_new(&t->mem, "script", ptc_text_cstr(replies), NULL, &why);
    CHECK(t->def && t->model);
    return ptc_agent_chat_open(&t->chat, t->def, &host, &input, fault);
}

static void close_talk(Talk *t)
{
    ptc_agent_chat_close(&t->chat);
    t->model->free(t->model);
    ptc_definition_release(t->def);
}

/* Says something; `want` is the answer as JSON, or the reason why there is none. */
static void say(Talk *t, const char *message, const char *want, bool keeps)
{
    PtcAgentRun run;
    PtcAgentOptions options = ptc_agent_options();
    options.model = t->model;
    options.cancel = &t->watch.cancel;
    ptc_agent_chat_begin(&t->chat, &run, ptc_text_cstr(message), &options);
    ptc_agent_run_go(&run);
    const PtcVerdict *v = &run.step.now.verdict;
    CHECK(!run.invalid &&
          ptc_text_is(v->ok ? v->value : ptc_text_cstr(ptc_agent_fault_word(v->reason)), want));
    CHECK(ptc_agent_chat_keep(&t->chat, &run) == keeps);
    ptc_agent_run_end(&run);
    atomic_store(&t->watch.cancel.asked, false);
}

static void expect_roles(const Talk *t, const char *want)
{
    char roles[100] = "";
    for (size_t i = 0; i < t->chat.count && i < sizeof roles - 1; i++)
        roles[i] = "uat"[t->chat.messages[i].role];
    CHECK_STR(roles, want);
    CHECK(ptc_messages_check(t->chat.messages, t->chat.count, NULL));
}

static bool ends(PtcText text, const char *end)
{
    size_t n = strlen(end);
    return text.len >= n && memcmp(text.bytes + text.len - n, end, n) == 0;
}

#define CALL "{\"content\":null,\"tool_calls\":[{\"id\":\"a\",\"name\":\"n\",\"args\":{}}]}"

/* Stopped while tools are called: calls that nobody answered are not kept. */
static void test_stopped(void)
{
    Talk t;
    PtcWhy fault;
    CHECK(open_talk(&t, text_agent, "[" CALL "," CALL ",{\"content\":\"fine\"}]", &fault));
    t.watch.kind = PTC_PROGRESS_CALLING;
    t.watch.turn = 2;
    say(&t, "one", "cancelled", true);
    expect_roles(&t, "uat");
    t.watch.turn = -1;
    say(&t, "{{two}}", "\"fine\"", true);
    expect_roles(&t, "uatua");
    CHECK(ends(t.chat.messages[0].content, "one\n\nYou have 5 turns."));
    CHECK(ends(t.chat.messages[3].content, "{{two}}\n\nYou have 5 turns."));
    CHECK(ptc_agent_chat_reset(&t.chat, &fault));
    expect_roles(&t, "");
    close_talk(&t);
}

/* No reply at all: the message can be sent again. */
static void test_unanswered(void)
{
    Talk t;
    PtcWhy fault;
    CHECK(open_talk(&t, text_agent, "[{\"content\":\"hi\"},{\"error\":{\"http\":400}}]", &fault));
    say(&t, "one", "\"hi\"", true);
    say(&t, "two", "llm_error", true);
    expect_roles(&t, "ua");
    t.watch.kind = PTC_PROGRESS_ASKED;
    t.watch.turn = 1;
    say(&t, "two", "cancelled", true);
    expect_roles(&t, "ua");
    close_talk(&t);
}

/* When out of memory the conversation is as it was before. */
static void test_memory(void)
{
    Talk t;
    PtcWhy fault;
    CHECK(open_talk(&t, text_agent, "[{\"content\":\"hi\"},{\"content\":\"ho\"}]", &fault));
    say(&t, "one", "\"hi\"", true);
    size_t limit = t.chat.mem.limit;
    t.chat.mem.limit = 1;
    say(&t, "two", "\"ho\"", false);
    expect_roles(&t, "ua");
    t.chat.mem.limit = limit;
    close_talk(&t);
}

static void test_refused(void)
{
    static const char *const agents[] = {
        "{\"prompt\":\"x\",\"output\":\"text\",\"signature\":\"() -> :int\"}",
        "{\"prompt\":\"x\",\"output\":\"text\",\"schema\":{\"type\":\"integer\"}}"};
    static const char *const paths[] = {"signature", "schema"};
    for (size_t i = 0; i < 2; i++) {
        Talk t;
        PtcWhy fault;
        CHECK(!open_talk(&t, agents[i], "[]", &fault));
        CHECK_STR(fault.path, paths[i]);
        close_talk(&t);
    }
}

int main(void)
{
    CHECK_RUN(test_stopped());
    CHECK_RUN(test_unanswered());
    CHECK_RUN(test_memory());
    CHECK_RUN(test_refused());
    return check_done("test_agent_chat");
}
