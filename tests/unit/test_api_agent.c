/* SPDX-License-Identifier: MIT
 * test_api_agent.c - agents from C: definitions, tools and agents of the host, and what a host may get wrong. */
#include "mission_help.h"

/* --------------------------------------------------------------------------- definitions */

static void test_plain(void)
{
    PtcMissionOptions o = options();
    o.context = "{\"a\":[1,2,3]}";
    o.context_len = strlen(o.context);
    PtcMission *m = go(an_agent("{\"prompt\":\"Sum {{a}}.\",\"signature\":\"(a [:int]) -> "
                                ":int\"," SCRIPT("(return (reduce + data/a))") "}"),
                       &o);
    PtcMissionUsage usage = {.size = sizeof usage};
    CHECK(ptc_mission_usage(m, &usage) && usage.turns == 1 && usage.requests == 1);
    CHECK(!ptc_mission_invalid(m));
    CHECK_STR(ptc_mission_json(m, NULL),
              "{\"outcome\":\"ok\",\"return\":6,\"by\":\"return\",\"turns\":[{\"type\":\"normal\","
              "\"ok\":true,\"program\":\"(return (reduce + data/a))\",\"value\":6,\"prints\":[],"
              "\"calls\":[]}],\"usage\":{\"turns\":1,\"llm_requests\":1,\"llm_errors\":0},"
              "\"memory\":{},\"journal\":{},\"summaries\":{},\"children\":0}");
    expect_answer(m, "6");
}

static void test_outcomes(void)
{
    PtcMissionOptions o = options();
    expect_answer(go(an_agent("{\"prompt\":\"p\",\"max_turns\":1," SCRIPT("nil") "}"), &o), "null");
    expect_reason(go(an_agent("{\"prompt\":\"p\"," SCRIPT("(fail :why)") "}"), &o), "failed", "");
    expect_reason(go(an_agent("{\"prompt\":\"p\"}"), &o), "llm_required", "model");
    PtcMission *m = go(an_agent("{\"prompt\":\"{{n}}\",\"signature\":\"(n :int) -> :any\"}"), &o);
    CHECK(ptc_mission_invalid(m));
    expect_reason(m, "invalid_input", "missing");
    expect_reason(go(an_agent("{\"prompt\":\"p\",\"llm\":\"haiku\"}"), &o), "invalid_agent",
                  "cannot be named here");
}

static void expect_refused(const char *json, PtcTools *tools, const char *want)
{
    PtcAgentSource s = a_source(json);
    PtcAgent *agent = (PtcAgent *)(uintptr_t)1;
    char error[900] = "";
    s.tools = tools;
    CHECK(ptc_agent_new(&s, &agent, error, sizeof error) == PTC_BAD_DATA && !agent);
    CHECK_STR(error, want);
    CHECK(ptc_agent_new(&s, &agent, NULL, 0) == PTC_BAD_DATA);
}

static void test_refused(void)
{
    expect_refused("{\"prompt\":\"p\",\"max_turn\":1}", NULL,
                   "max_turn: there is no such field; did you mean max_turns?");
    expect_refused("{", NULL,
                   "not JSON: line 1, column 2: expected a key in quotes, but the text ends");
    expect_refused("{\"prompt\":\"p\",\"tools\":{\"t\":{\"command\":[\"ls\"]}}}", NULL,
                   "tools.t.command: command tools are not allowed here; allow_commands of the "
                   "PtcAgentSource allows them");
    expect_refused("{\"prompt\":\"p\",\"tools\":{\"t\":{\"agent\":\"f.json\"}}}", NULL,
                   "tools.t.agent: agents are objects here, not files");
}

/* Whoever prints the error must not print what was on the stack before. */
static bool refuses(const PtcAgentSource *s, const char *part)
{
    PtcAgent *agent = NULL;
    char error[300];
    memset(error, '?', sizeof error);
    return ptc_agent_new(s, &agent, error, sizeof error) == PTC_BAD_ARGUMENT && !agent &&
           strstr(error, part);
}

static bool refuses_mission(PtcAgent *agent, const PtcMissionOptions *o, const char *part)
{
    PtcMission *m = NULL;
    char error[300];
    memset(error, '?', sizeof error);
    return ptc_mission_new(agent, o, &m, error, sizeof error) == PTC_BAD_ARGUMENT && !m &&
           strstr(error, part);
}

static void test_wrong_arguments(void)
{
    PtcAgentSource s = a_source("{\"prompt\":\"p\"}");
    PtcAgent *agent = NULL;
    PtcMission *m = NULL;
    char error[300] = "";
    CHECK(ptc_agent_new(NULL, &agent, NULL, 0) == PTC_BAD_ARGUMENT);
    CHECK(ptc_agent_new(&s, NULL, NULL, 0) == PTC_BAD_ARGUMENT);
    s.path = "agent.json";
    CHECK(refuses(&s, "either json or path"));
    s.path = NULL;
    s.child_count = 1;
    CHECK(refuses(&s, "child_names and children"));
    s.child_count = SIZE_MAX;
    CHECK(refuses(&s, "at most 1000"));
    s.child_count = 0;
    s.compile = s.compiled = true;
    CHECK(refuses(&s, "compiled goes with json"));
    s.size = 1;
    CHECK(refuses(&s, "*_init"));
    agent = an_agent("{\"prompt\":\"p\"}");
    PtcMissionOptions o = options();
    CHECK(refuses_mission(NULL, &o, "an argument is NULL"));
    CHECK(ptc_mission_new(agent, &o, NULL, NULL, 0) == PTC_BAD_ARGUMENT);
    o.model = "haiku"; /* without llm */
    CHECK(refuses_mission(agent, &o, "needs llm"));
    o = options();
    o.token_limit = -2;
    CHECK(refuses_mission(agent, &o, "token_limit"));
    o = options();
    o.messages = "[{\"role\":\"tool\"}]";
    o.messages_len = strlen(o.messages);
    CHECK(ptc_mission_new(agent, &o, &m, error, sizeof error) == PTC_BAD_DATA);
    CHECK(strstr(error, "messages[0]") != NULL);
    o.messages_len = 3;
    CHECK(ptc_mission_new(agent, &o, &m, error, sizeof error) == PTC_BAD_DATA);
    CHECK(strstr(error, "messages: not JSON") != NULL);
    CHECK(ptc_mission_run(NULL) == PTC_BAD_ARGUMENT && !ptc_mission_json(NULL, NULL) &&
          !ptc_mission_usage(NULL, NULL) && !ptc_mission_invalid(NULL));
    ptc_mission_cancel(NULL);
    ptc_mission_free(NULL);
    CHECK(ptc_llm_free(NULL, NULL, 0) == PTC_OK);
    CHECK(ptc_mission_new(agent, NULL, &m, NULL, 0) == PTC_OK);
    ptc_mission_free(m); /* never ran */
    ptc_agent_free(agent);
    ptc_agent_free(NULL);
}

/* ---------------------------------------------------------------------------------- tools */

static void test_tools(void)
{
    Shop shop = {0};
    PtcMissionOptions o = options();
    PtcTools *tools = shop_tools(&shop, "price");
    PtcAgentSource s =
        a_source("{\"prompt\":\"p\",\"tools\":{\"double\":{\"lisp\":\"(fn [a] (* 2 (:n "
                 "a)))\"}}," SCRIPT("(return (pmap (fn [s] (tool/double {:n "
                                    "(tool/price {:sku s})})) [:a :bb :ccc]))") "}");
    s.tools = tools;
    PtcMission *m = go(read_agent(&s), &o);
    ptc_tools_free(tools);
    CHECK(atomic_load(&shop.freed) == 0); /* the agent holds them, the mission the agent */
    expect_answer(m, "[22,24,26]");
    CHECK(atomic_load(&shop.calls) == 3 && atomic_load(&shop.freed) == 1);
}

/* In text mode the model itself calls what is native. */
static void test_native_tool(void)
{
    Shop shop = {0};
    PtcMissionOptions o = options();
    PtcTools *tools = shop_tools(&shop, "price");
    PtcAgentSource s =
        a_source("{\"prompt\":\"p\",\"output\":\"text\",\"signature\":\"() -> :int\",\"llm\":["
                 "{\"tool_calls\":[{\"name\":\"price\",\"args\":{\"sku\":\"abc\"}}]},"
                 "{\"content\":\"13\"}]}");
    s.tools = tools;
    expect_answer(go(read_agent(&s), &o), "13");
    ptc_tools_free(tools);
    CHECK(atomic_load(&shop.calls) == 1);
}

static void test_tool_names(void)
{
    Shop shop = {0};
    PtcTools *tools = shop_tools(&shop, "lisp-eval");
    expect_refused(
        "{\"prompt\":\"p\"}", tools,
        "tools.lisp-eval: lisp_eval is the tool that runs programs: choose another name");
    ptc_tools_free(tools);
    tools = shop_tools(&shop, "a-b");
    expect_refused(
        "{\"prompt\":\"p\",\"tools\":{\"a_b\":{\"value\":1}}}", tools,
        "tools.a-b: at a provider it would have the same name as a_b: choose another name");
    ptc_tools_free(tools);
    CHECK(atomic_load(&shop.freed) == 2);
}

static void test_children(void)
{
    PtcMissionOptions o = options();
    PtcAgent *child = an_agent("{\"prompt\":\"Twice {{n}}.\",\"signature\":\"(n :int) -> "
                               ":int\"," SCRIPT("(return (* 2 data/n))") "}");
    const char *names[] = {"twice"};
    PtcAgentSource s = a_source("{\"prompt\":\"p\"," SCRIPT("(return (tool/twice {:n 21}))") "}");
    s.child_names = names;
    s.children = &child;
    s.child_count = 1;
    PtcAgent *parent = read_agent(&s);
    ptc_agent_free(child);
    PtcMission *m = go(parent, &o);
    PtcMissionUsage usage = {.size = sizeof usage};
    CHECK(ptc_mission_usage(m, &usage) && usage.turns == 2 && usage.requests == 2);
    expect_answer(m, "42");
}

/* A pile of agents ends somewhere. */
static void test_levels(void)
{
    const char *names[] = {"next"};
    PtcAgent *below = an_agent("{\"prompt\":\"p\"}");
    char error[300] = "";
    int levels = 1;
    for (;; levels++) {
        PtcAgent *above = NULL;
        PtcAgentSource s = a_source("{\"prompt\":\"p\"}");
        s.child_names = names;
        s.children = &below;
        s.child_count = 1;
        PtcStatus status = ptc_agent_new(&s, &above, error, sizeof error);
        ptc_agent_free(below);
        if (status != PTC_OK)
            break;
        below = above;
    }
    CHECK(levels == 16);
    CHECK_STR(error, "tools.next: agents are nested deeper than 16");
}

int main(void)
{
    test_plain();
    test_outcomes();
    test_refused();
    test_wrong_arguments();
    test_tools();
    test_native_tool();
    test_tool_names();
    test_children();
    test_levels();
    return check_done("test_api_agent");
}
