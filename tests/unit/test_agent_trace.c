/* SPDX-License-Identifier: MIT
 * test_agent_trace.c - limits of a trace, and what becomes of it when it cannot be written.  What is in it is looked at
 * by tests/e2e/test_trace.py. */
#include "check.h"

#include "agent/run/agent_run.h"
#include "agent/run/agent_trace.h"

/* Where lines go. */
typedef struct Sink {
    size_t lines, bytes, longest;
    size_t fail_at; /* the line that is refused; 0: none */
    char last[200]; /* the beginning of the last one */
} Sink;

static bool take(void *user, PtcText line)
{
    Sink *s = user;
    CHECK(line.len > 0 && line.bytes[line.len - 1] == '\n' &&
          memchr(line.bytes, '\n', line.len - 1) == NULL);
    s->lines++;
    s->bytes += line.len;
    s->longest = line.len > s->longest ? line.len : s->longest;
    snprintf(s->last, sizeof s->last, "%.*s", (int)(line.len < 190 ? line.len : 190), line.bytes);
    return s->lines != s->fail_at;
}

static char controls[3 * PTC_TRACE_TEXT]; /* each becomes six bytes in JSON */
static PtcAgentRun run;

static PtcProgress program(size_t bytes)
{
    return (PtcProgress){.kind = PTC_PROGRESS_PROGRAM_BEGAN,
                         .run = 1,
                         .turn = 1,
                         .agent = PTC_TEXT(""),
                         .program = {controls, bytes},
                         .what = &run};
}

/* A line that would be too long is replaced. */
static void test_line(void)
{
    static PtcMessageCall calls[PTC_TRACE_ITEMS + 10];
    Sink sink = {0};
    PtcAgentTrace trace;
    for (size_t i = 0; i < PTC_TRACE_ITEMS + 10; i++)
        calls[i] = (PtcMessageCall){PTC_TEXT("id"), PTC_TEXT("n"), {controls, sizeof controls}};
    PtcLlmReply reply = {.calls = calls, .call_count = PTC_TRACE_ITEMS + 10};
    PtcProgress p = {.kind = PTC_PROGRESS_ANSWERED,
                     .run = 1,
                     .turn = 2,
                     .attempt = 3,
                     .agent = PTC_TEXT(""),
                     .reply = &reply,
                     .what = &run};
    ptc_agent_trace_init(&trace, NULL, take, &sink);
    ptc_agent_trace_tell(&trace, &p);
    CHECK(sink.lines == 2);
    CHECK_STR(sink.last, "{\"event\":\"llm.stop\",\"id\":\"r1.t2.m3\",\"left_out\":true}\n");
    reply.call_count = 2;
    ptc_agent_trace_tell(&trace, &p);
    CHECK(sink.lines == 3 && sink.longest > (size_t)2 * 6 * PTC_TRACE_TEXT &&
          sink.longest < (size_t)2 * 6 * PTC_TRACE_TEXT + 1000);
    CHECK(ptc_agent_trace_deinit(&trace));
}

/* All lines together have a limit, and the last one says so. */
static void test_whole(void)
{
    Sink sink = {0};
    PtcAgentTrace trace;
    PtcProgress p = program(sizeof controls);
    ptc_agent_trace_init(&trace, NULL, take, &sink);
    for (size_t i = 0; i < PTC_TRACE_BYTES / (6 * PTC_TRACE_TEXT) + 10; i++)
        ptc_agent_trace_tell(&trace, &p);
    CHECK_STR(sink.last, "{\"event\":\"trace.stop\",\"reason\":\"too_large\"}\n");
    CHECK(sink.bytes > (size_t)PTC_TRACE_BYTES / 10 * 9 &&
          sink.bytes < (size_t)PTC_TRACE_BYTES + 1000);
    size_t lines = sink.lines;
    ptc_agent_trace_tell(&trace, &p);
    CHECK(sink.lines == lines);
    CHECK(ptc_agent_trace_deinit(&trace));
}

/* After a line that was not written no more come, and the end tells. */
static void test_refused(void)
{
    Sink sink = {.fail_at = 2};
    PtcAgentTrace trace;
    PtcProgress p = program(10);
    ptc_agent_trace_init(&trace, NULL, take, &sink);
    ptc_agent_trace_tell(&trace, &p);
    ptc_agent_trace_tell(&trace, &p);
    CHECK(sink.lines == 2);
    CHECK(!ptc_agent_trace_deinit(&trace));
}

/* Memory that is short costs a line, not the process. */
static void test_memory(void)
{
    Sink sink = {0};
    PtcAgentTrace trace;
    PtcProgress p = program(sizeof controls);
    ptc_agent_trace_init(&trace, NULL, take, &sink);
    trace.mem.limit = 1000;
    ptc_agent_trace_tell(&trace, &p);
    CHECK(sink.lines == 2 && strstr(sink.last, "\"left_out\":true"));
    CHECK(ptc_agent_trace_deinit(&trace));
}

int main(void)
{
    memset(controls, 1, sizeof controls);
    CHECK_RUN(test_line());
    CHECK_RUN(test_whole());
    CHECK_RUN(test_refused());
    CHECK_RUN(test_memory());
    return check_done("test_agent_trace");
}
