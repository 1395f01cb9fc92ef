/* SPDX-License-Identifier: MIT
 * mission_help.h - what the tests of agents from C share: agents, missions, a tool of the host. */
#ifndef PTC_TESTS_MISSION_HELP_H
#define PTC_TESTS_MISSION_HELP_H

#include "check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "ptc/ptc.h"

enum { TEXT = 8192 };

#define PROGRAM(text) "```clojure\n" text "\n```"
#define SCRIPT(text) "\"llm\":[{\"content\":\"```clojure\\n" text "\\n```\"}]"

/* -------------------------------------------------------------------------------- helpers */

static inline PtcAgentSource a_source(const char *json)
{
    PtcAgentSource s;
    ptc_agent_source_init(&s, sizeof s);
    s.json = json;
    s.json_len = json ? strlen(json) : 0;
    return s;
}

static inline PtcAgent *read_agent(const PtcAgentSource *s)
{
    PtcAgent *agent = NULL;
    char error[900] = "";
    CHECK(ptc_agent_new(s, &agent, error, sizeof error) == PTC_OK);
    CHECK_STR(error, "");
    return agent;
}

static inline PtcAgent *an_agent(const char *json)
{
    PtcAgentSource s = a_source(json);
    return read_agent(&s);
}

static inline PtcMissionOptions options(void)
{
    PtcMissionOptions o;
    ptc_mission_options_init(&o, sizeof o);
    o.without_times = true;
    return o;
}

/* Runs an agent to its end and gives up the caller's hold on it at once. */
static inline PtcMission *go(PtcAgent *agent, const PtcMissionOptions *o)
{
    PtcMission *m = NULL;
    char error[500] = "";
    CHECK(ptc_mission_new(agent, o, &m, error, sizeof error) == PTC_OK);
    CHECK_STR(error, "");
    ptc_agent_free(agent);
    CHECK(!ptc_mission_json(m, NULL) && !ptc_mission_ok(m) && !ptc_mission_reason(m));
    CHECK(ptc_mission_run(m) == PTC_OK);
    CHECK(ptc_mission_run(m) == PTC_BAD_ARGUMENT);
    return m;
}

static inline void expect_answer(PtcMission *m, const char *want)
{
    size_t len = 0;
    const char *answer = ptc_mission_answer(m, &len);
    CHECK(ptc_mission_ok(m) && !ptc_mission_reason(m) && !ptc_mission_message(m, NULL));
    CHECK_STR(answer ? answer : ptc_mission_json(m, NULL), want);
    CHECK(!answer || strlen(answer) == len);
    ptc_mission_free(m);
}

static inline void expect_reason(PtcMission *m, const char *reason, const char *message)
{
    CHECK(!ptc_mission_ok(m) && !ptc_mission_answer(m, NULL));
    CHECK_STR(ptc_mission_reason(m), reason);
    CHECK(ptc_mission_message(m, NULL) && strstr(ptc_mission_message(m, NULL), message));
    ptc_mission_free(m);
}

/* ------------------------------------------------------------------------ a tool of the host */

typedef struct Shop {
    atomic_int calls, freed;
} Shop;

static inline PtcToolAnswer price(PtcToolCall *call, void *user)
{
    const char *sku;
    size_t len;
    atomic_fetch_add(&((Shop *)user)->calls, 1);
    if (!ptc_value_string(ptc_value_get(ptc_call_args(call), "sku", 3), &sku, &len))
        ptc_call_fail(call, "which sku?", 10);
    else
        ptc_call_return(call, ptc_make_int(ptc_call_data(call), 10 + (int64_t)len));
    return PTC_TOOL_ANSWERED;
}

static inline void free_shop(void *user)
{
    atomic_fetch_add(&((Shop *)user)->freed, 1);
}

static inline PtcTools *shop_tools(Shop *shop, const char *name)
{
    PtcTools *tools = ptc_tools_new();
    PtcToolDef def;
    char error[300] = "";
    ptc_tool_def_init(&def, sizeof def);
    def.name = name;
    def.name_len = strlen(name);
    def.function = price;
    def.user = shop;
    def.free_user = free_shop;
    def.serial = true;
    def.signature = "(sku :string) -> :int";
    def.signature_len = strlen(def.signature);
    CHECK(ptc_tools_add(tools, &def, error, sizeof error) == PTC_OK);
    return tools;
}

#endif
