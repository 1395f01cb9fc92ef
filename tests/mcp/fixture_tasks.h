/* SPDX-License-Identifier: MIT
 * fixture_tasks.h - the tools of the fixture server that become tasks. */
#ifndef PTC_TESTS_MCP_FIXTURE_TASKS_H
#define PTC_TESTS_MCP_FIXTURE_TASKS_H

#include <stdio.h>
#include <time.h>

#include "mcp/server/mcp.h"

/* False: the call was cancelled meanwhile. */
static inline bool task_sleep(PtcMcpCall *call, int64_t ms)
{
    for (; ms > 0 && !ptc_mcp_cancelled(call); ms -= 10)
        nanosleep(&(struct timespec){0, 10 * 1000000}, NULL);
    return !ptc_mcp_cancelled(call);
}

static inline void greet(PtcMcpCall *call)
{
    PtcText name;
    if (ptc_mcp_arg_text(call, "name", true, &name))
        ptc_mcp_textf(call, "Hello, %.*s!", (int)name.len, name.bytes);
}

static inline void slow_compute(PtcMcpCall *call)
{
    int64_t seconds = 0;
    if (ptc_mcp_arg_int(call, "seconds", false, &seconds) && task_sleep(call, seconds * 1000))
        ptc_mcp_textf(call, "Computed for %lld s.", (long long)seconds);
}

static inline void failing_job(PtcMcpCall *call)
{
    if (task_sleep(call, 300))
        ptc_mcp_failf(call, "This job fails, on purpose.");
}

static inline void protocol_error_job(PtcMcpCall *call)
{
    if (task_sleep(call, 300))
        ptc_mcp_error(call, PTC_MCP_INTERNAL_ERROR, "broken, on purpose", NULL);
}

#define TASK_CONFIRM                                                                   \
    "{\"message\":\"Sure?\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{" \
    "\"confirm\":{\"type\":\"boolean\"}},\"required\":[\"confirm\"]}}"
#define TASK_NAME                                                                           \
    "{\"message\":\"Your name?\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{" \
    "\"name\":{\"type\":\"string\"}},\"required\":[\"name\"]}}"

static inline void confirm_delete(PtcMcpCall *call)
{
    PtcValue answer;
    if (ptc_mcp_ask(call, "confirm", "elicitation/create", TASK_CONFIRM, &answer) ==
        PTC_MCP_ASK_READY)
        ptc_mcp_textf(call, "Deleted.");
}

static inline void multi_input(PtcMcpCall *call)
{
    PtcValue answer;
    bool name =
        ptc_mcp_ask(call, "name", "elicitation/create", TASK_NAME, &answer) == PTC_MCP_ASK_READY;
    bool sure = ptc_mcp_ask(call, "confirm", "elicitation/create", TASK_CONFIRM, &answer) ==
                PTC_MCP_ASK_READY;
    if (name && sure)
        ptc_mcp_textf(call, "Both.");
}

/* Asks in the call, and then becomes a task. */
static inline void ask_then_task(PtcMcpCall *call)
{
    PtcValue answer;
    if (ptc_mcp_ask(call, "user_name", "elicitation/create", TASK_NAME, &answer) !=
            PTC_MCP_ASK_READY ||
        !task_sleep(call, 400))
        return;
    PtcHeap *heap = ptc_mcp_heap(call);
    PtcText name =
        ptc_str_text(ptc_map_field(heap, ptc_map_field(heap, answer, "content"), "name"));
    ptc_mcp_textf(call, "Hello, %.*s!", (int)name.len, name.bytes);
}

#define TASK_TOOL(name_, what_, handler_, rule_, after_)                         \
    {                                                                            \
        .name = name_, .description = what_, .handler = handler_, .task = rule_, \
        .task_after_ms = after_                                                  \
    }

#define TASK_TOOLS                                                                               \
    {.name = "greet",                                                                            \
     .description = "Greets",                                                                    \
     .input_schema = STRING_ARG("name"),                                                         \
     .handler = greet},                                                                          \
        {.name = "slow_compute",                                                                 \
         .description = "Computes for some seconds",                                             \
         .input_schema = "{\"type\":\"object\",\"properties\":{\"seconds\":{\"type\":"           \
                         "\"integer\"},\"label\":{\"type\":\"string\"}}}",                       \
         .handler = slow_compute,                                                                \
         .task = PTC_MCP_TASK_MAY,                                                               \
         .task_after_ms = 50},                                                                   \
        TASK_TOOL("failing_job", "Fails", failing_job, PTC_MCP_TASK_MUST, PTC_MCP_TASK_AT_ONCE), \
        TASK_TOOL("protocol_error_job", "Breaks", protocol_error_job, PTC_MCP_TASK_MAY,          \
                  PTC_MCP_TASK_AT_ONCE),                                                         \
        TASK_TOOL("confirm_delete", "Asks first", confirm_delete, PTC_MCP_TASK_MAY,              \
                  PTC_MCP_TASK_AT_ONCE),                                                         \
        TASK_TOOL("multi_input", "Asks two things", multi_input, PTC_MCP_TASK_MAY,               \
                  PTC_MCP_TASK_AT_ONCE),                                                         \
        TASK_TOOL("test_tool_with_task", "Asks, then takes long", ask_then_task,                 \
                  PTC_MCP_TASK_MUST, 100)

#endif
