/* SPDX-License-Identifier: MIT
 * worker_help.h - tasks for worker processes, and what tests ask about processes. */
#ifndef PTC_TESTS_WORKER_HELP_H
#define PTC_TESTS_WORKER_HELP_H

#include "check.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/sanitized.h"
#include "exec/worker.h"

static PtcMem mem;

typedef struct {
    PtcTaskStatus status;
    bool ok;
    char text[1024], reason[24], kind[32], message[320], feedback[1024];
} Got;

typedef struct {
    int64_t timeout_ms, deadline_ms; /* 0: those of the executor */
    const PtcCancel *cancel;
    bool use_data;
    const char *context;
} With;

static inline Got run_with(PtcExecutor *ex, const char *owner, const char *program, With with)
{
    PtcTaskOut out;
    Got got = {.status = PTC_TASK_LOST};
    PtcTaskIn in;
    ptc_task_in_init(&in);
    in.program = (PtcText){program, strlen(program)};
    in.limits.timeout_ms = with.timeout_ms ? with.timeout_ms : PTC_UNSET;
    in.limits.deadline_ms = with.deadline_ms ? with.deadline_ms : PTC_UNSET;
    in.use_tools = true;
    in.use_data = with.use_data;
    if (with.context)
        in.context = (PtcText){with.context, strlen(with.context)};
    ptc_task_out_init(&out, &mem, 64 << 20);
    got.status = ex->submit(ex, owner, &in, with.cancel, &out);
    got.ok = out.ok;
    snprintf(got.text, sizeof got.text, "%.*s", (int)out.text.len,
             out.text.data ? out.text.data : "");
    snprintf(got.reason, sizeof got.reason, "%s", out.reason);
    snprintf(got.kind, sizeof got.kind, "%s", out.kind);
    snprintf(got.message, sizeof got.message, "%s", out.message);
    snprintf(got.feedback, sizeof got.feedback, "%.*s", (int)out.feedback.len,
             out.feedback.data ? out.feedback.data : "");
    ptc_task_out_deinit(&out);
    return got;
}

static inline Got run(PtcExecutor *ex, const char *owner, const char *program)
{
    return run_with(ex, owner, program, (With){0});
}

static inline void expect(PtcExecutor *ex, const char *program, const char *want)
{
    Got got = run(ex, "a", program);
    if (check_count(got.status == PTC_TASK_DONE && strcmp(got.text, want) == 0))
        printf("%s\n  got:  %d %s %s\n  want: %s\n", program, got.status, got.text, got.message,
               want);
}

static inline int pid_of(PtcExecutor *ex, const char *owner)
{
    Got got = run(ex, owner, "!pid");
    CHECK(got.status == PTC_TASK_DONE);
    return (int)strtol(got.text, NULL, 10);
}

static inline PtcExecutorConfig a_config(PtcTools *tools)
{
    PtcExecutorConfig config = {.tools = tools, .max_idle = 4};
    ptc_limits_init(&config.limits, sizeof config.limits);
    config.limits.loop_limit = (int64_t)1 << 60;
    config.limits.timeout_ms = 60000; /* on a busy machine the default is not enough for all */
    return config;
}

static inline PtcExecutor *start_with(const PtcExecutorConfig *config)
{
    PtcWhy why;
    PtcExecutor *ex = ptc_executor_workers(config, &why);
    if (!ex) {
        printf("no workers: %s\n", why.text);
        exit(1);
    }
    return ex;
}

/* 0 when the process is gone with all its threads, also when nobody has taken note of its end. */
static inline int parent_of(int pid)
{
    char path[64], line[512], state = 'Z';
    int parent = 0, threads = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *f = fopen(path, "r");
    if (f && fgets(line, sizeof line, f) && strrchr(line, ')'))
        sscanf(strrchr(line, ')'),
               ") %c %d %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %d", &state,
               &parent, &threads);
    if (f)
        fclose(f);
    return (state == 'Z' || state == 'X') && threads <= 1 ? 0 : parent;
}

#endif
