/* SPDX-License-Identifier: MIT
 * Tasks: what goes in, what comes out, in this process. */
#include "exec/task.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"

#define VIEW(text) ((PtcText){text, strlen(text)})

static PtcMem mem;

static void out_init(PtcTaskOut *out)
{
    PtcBuf *bufs[] = {&out->payload,   &out->text,   &out->json,
                      &out->validated, &out->prints, &out->session};
    memset(out, 0, sizeof *out);
    for (int i = 0; i < 6; i++)
        ptc_buf_init(bufs[i], &mem, 1 << 20);
}

static void out_deinit(PtcTaskOut *out)
{
    PtcBuf *bufs[] = {&out->payload,   &out->text,   &out->json,
                      &out->validated, &out->prints, &out->session};
    for (int i = 0; i < 6; i++)
        ptc_buf_deinit(bufs[i]);
}

static PtcTaskIn task(const char *program)
{
    return (PtcTaskIn){.program = VIEW(program),
                       .timeout_ms = PTC_UNSET,
                       .memory_bytes = PTC_UNSET,
                       .max_tool_calls = PTC_UNSET,
                       .program_bytes = PTC_UNSET,
                       .context_bytes = PTC_UNSET,
                       .session_bytes = PTC_UNSET,
                       .preview_chars = PTC_UNSET,
                       .result_bytes = PTC_UNSET,
                       .use_tools = true,
                       .use_data = true};
}

static PtcExecutor *executor(PtcExecutorConfig config)
{
    char why[200];
    if (config.limits.size == 0)
        ptc_limits_init(&config.limits, sizeof config.limits);
    config.max_idle = 2;
    PtcExecutor *e = ptc_executor_in_process(&config, why);
    CHECK(e != NULL);
    return e;
}

static const char *text_of(PtcBuf *buf)
{
    const char *text = ptc_buf_text(buf);
    return text ? text : "";
}

/* ------------------------------------------------------------------------------------- runs */

typedef struct {
    const char *program, *context, *signature, *schema;
    const char *text, *json, *validated, *prints; /* when it succeeds */
    const char *reason, *kind;                    /* when it fails */
} Case;

static const Case cases[] = {
    {.program = "(+ 1 2)", .text = "3", .json = "3"},
    {.program = "nil", .text = "nil", .json = "null"},
    {.program = "(do (println 1) (println \"a\\nb\") :k)",
     .text = ":k",
     .json = "\"k\"",
     .prints = "1\na\nb\n"},
    {.program = "inc", .text = "#fn[inc]", .json = ""},
    {.program = "data/a", .context = "{\"a\":[1]}", .text = "[1]", .json = "[1]"},
    {.program = "{:n 1}",
     .signature = "{n :int}",
     .text = "{:n 1}",
     .json = "{\"n\":1}",
     .validated = "{\"n\":1}"},
    {.program = "7",
     .schema = "{\"type\":\"integer\"}",
     .text = "7",
     .json = "7",
     .validated = "7"},
    {.program = "\"x\"",
     .signature = ":int",
     .reason = "validation_error",
     .kind = "validation_error"},
    {.program = "1", .signature = "{n", .reason = "args_error", .kind = "args_error"},
    {.program = "1",
     .signature = ":int",
     .schema = "{}",
     .reason = "args_error",
     .kind = "args_error"},
    {.program = "(", .reason = "parse_error", .kind = "parse_error"},
    {.program = "(/ 1 0)", .reason = "runtime_error", .kind = "arithmetic_error"},
    {.program = "(fail 1)", .reason = "fail", .kind = "fail"},
    {.program = "1", .context = "[1]", .reason = "args_error", .kind = "args_error"},
    {.program = "1", .context = "{", .reason = "args_error", .kind = "args_error"},
    {.program = "1", .context = "{\"\":1}", .reason = "args_error", .kind = "args_error"},
    {.program = "1", .context = "{\"a/b\":1}", .reason = "args_error", .kind = "args_error"},
};

static void test_cases(void)
{
    PtcExecutor *e = executor((PtcExecutorConfig){0});
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const Case *c = &cases[i];
        PtcTaskIn in = task(c->program);
        PtcTaskOut out;
        out_init(&out);
        in.context = c->context ? VIEW(c->context) : (PtcText){NULL, 0};
        in.signature = c->signature ? VIEW(c->signature) : (PtcText){NULL, 0};
        in.output_schema = c->schema ? VIEW(c->schema) : (PtcText){NULL, 0};
        CHECK(e->submit(e, "", &in, NULL, &out) == PTC_TASK_DONE);
        CHECK(out.ok == (c->reason == NULL));
        CHECK_STR(text_of(&out.text), c->text ? c->text : "");
        CHECK_STR(text_of(&out.json), c->json ? c->json : "");
        CHECK_STR(text_of(&out.validated), c->validated ? c->validated : "");
        CHECK_STR(text_of(&out.prints), c->prints ? c->prints : "");
        CHECK_STR(out.reason, c->reason ? c->reason : "");
        CHECK_STR(out.kind, c->kind ? c->kind : "");
        CHECK(strstr(text_of(&out.payload),
                     c->reason ? "\"status\":\"error\"" : "\"status\":\"ok\""));
        CHECK(c->reason == NULL || out.message[0]);
        CHECK(out.session.len == 0);
        out_deinit(&out);
    }
    e->free(e);
}

/* What does not fit is cut, and said to be. */
static void test_cut(void)
{
    PtcExecutor *e = executor((PtcExecutorConfig){0});
    PtcTaskIn in =
        task("(do (dotimes [i 100] (println \"\\u00e4\")) (apply str (repeat 100 \"\\u00e4\")))");
    PtcTaskOut out;
    out_init(&out);
    out.text.max = 50;
    out.prints.max = 10;
    out.json.max = 50;
    CHECK(e->submit(e, "", &in, NULL, &out) == PTC_TASK_DONE && out.ok);
    CHECK(out.text_cut && out.text.len == 49);
    CHECK(out.prints_cut && out.prints.len <= 10);
    CHECK(out.json.len == 0);
    out_deinit(&out);
    e->free(e);
}

/* -------------------------------------------------------------------------------- sessions */

/* A step of a session: every one may run in another engine. */
static bool step(PtcExecutor *e, PtcBuf *snapshot, PtcTaskIn in, const char *want)
{
    PtcTaskOut out;
    out_init(&out);
    in.in_session = true;
    in.session = (PtcText){snapshot->len ? snapshot->data : NULL, snapshot->len};
    bool done = e->submit(e, "", &in, NULL, &out) == PTC_TASK_DONE;
    const char *got = in.kind == PTC_TASK_EVAL ? text_of(&out.text) : text_of(&out.payload);
    CHECK(done && strstr(got, want));
    if (out.session.len) {
        ptc_buf_clear(snapshot);
        ptc_buf_add(snapshot, out.session.data, out.session.len);
    }
    bool ok = out.ok;
    out_deinit(&out);
    return ok;
}

static void test_session(void)
{
    PtcExecutor *a = executor((PtcExecutorConfig){0}), *b = executor((PtcExecutorConfig){0});
    PtcBuf snapshot;
    PtcTaskIn in = task("");
    ptc_buf_init(&snapshot, &mem, 1 << 20);
    CHECK(step(a, &snapshot, task("(def x 20)"), "#'x"));
    CHECK(step(b, &snapshot, task("(defn f [y] (+ x y))"), "#'f"));
    CHECK(step(a, &snapshot, task("(f 1)"), "21"));
    CHECK(step(b, &snapshot, task("*1"), "21"));
    size_t before = snapshot.len;
    CHECK(!step(a, &snapshot, task("(do (def x 0) (/ 1 0))"), ""));
    CHECK(snapshot.len == before && step(b, &snapshot, task("x"), "20"));
    in.kind = PTC_TASK_INSPECT;
    CHECK(step(a, &snapshot, in, "\"count\":2"));
    in.kind = PTC_TASK_FORGET;
    in.name = VIEW("x");
    CHECK(step(b, &snapshot, in, "{\"forgotten\":1}"));
    CHECK(step(b, &snapshot, in, "{\"forgotten\":0}"));
    in.name = (PtcText){NULL, 0};
    CHECK(step(a, &snapshot, in, "{\"forgotten\":1}"));
    CHECK(!step(a, &snapshot, task("x"), ""));
    snapshot.data[snapshot.len / 2] ^= 1;
    CHECK(!step(a, &snapshot, task("1"), ""));
    ptc_buf_clear(&snapshot);
    PtcTaskIn small = task("(def big (vec (range 10000)))");
    small.session_bytes = 4096;
    CHECK(!step(a, &snapshot, small, "") && snapshot.len == 0);
    ptc_buf_deinit(&snapshot);
    a->free(a);
    b->free(b);
}

/* ------------------------------------------------------------------------- cancelling, data */

typedef struct {
    PtcExecutor *e;
    PtcCancel *cancel;
    PtcTaskStatus status;
} Running;

static void *run_long(void *user)
{
    Running *r = user;
    PtcTaskIn in = task("(reduce + (map #(count (sort (range %))) (range 1000000)))");
    PtcTaskOut out;
    out_init(&out);
    in.timeout_ms = 60000;
    r->status = r->e->submit(r->e, "", &in, r->cancel, &out);
    out_deinit(&out);
    return NULL;
}

static void test_cancel(void)
{
    PtcCancel cancel = {0};
    Running r = {executor((PtcExecutorConfig){0}), &cancel, PTC_TASK_DONE};
    pthread_t thread;
    pthread_create(&thread, NULL, run_long, &r);
    usleep(20000);
    atomic_store(&cancel.asked, true);
    pthread_join(thread, NULL);
    CHECK(r.status == PTC_TASK_CANCELLED);
    run_long(&r);
    CHECK(r.status == PTC_TASK_CANCELLED); /* asked before it began */
    PtcTaskIn in = task("1");
    PtcTaskOut out;
    out_init(&out);
    CHECK(r.e->submit(r.e, "", &in, NULL, &out) == PTC_TASK_DONE && out.ok);
    out_deinit(&out);
    r.e->free(r.e);
}

static void *aggregate(void *user)
{
    Running *r = user;
    for (int i = 0; i < 20; i++) {
        PtcTaskIn in = task("[(reduce + (map :n data/rows)) (count (conj data/rows 1)) "
                            "(:n (assoc (first data/rows) :n 5))]");
        PtcTaskOut out;
        out_init(&out);
        r->status = r->e->submit(r->e, "", &in, NULL, &out);
        if (strcmp(text_of(&out.text), "[499500 1001 5]") != 0)
            r->status = PTC_TASK_LOST;
        out_deinit(&out);
    }
    return NULL;
}

/* Threads read the same data at once. */
static void test_data(void)
{
    char path[] = "/tmp/ptc-test-task-XXXXXX.csv", why[300];
    int fd = mkstemps(path, 4);
    FILE *f = fdopen(fd, "w");
    fprintf(f, "n,who\n");
    for (int i = 0; i < 1000; i++)
        fprintf(f, "%d,w%d\n", i, i % 7);
    fclose(f);
    PtcShared *data = ptc_shared_new();
    CHECK(ptc_shared_load(data, "rows", path, why, sizeof why));
    unlink(path);
    size_t before = ptc_shared_bytes(data);
    PtcExecutor *e = executor((PtcExecutorConfig){.data = data});
    pthread_t threads[4];
    Running runs[4];
    for (int i = 0; i < 4; i++) {
        runs[i] = (Running){e, NULL, PTC_TASK_DONE};
        pthread_create(&threads[i], NULL, aggregate, &runs[i]);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        CHECK(runs[i].status == PTC_TASK_DONE);
    }
    CHECK(ptc_shared_bytes(data) == before);
    e->free(e);
    ptc_shared_free(data);
}

static void test_bad_limits(void)
{
    PtcExecutorConfig config = {.max_idle = 1};
    char why[200];
    ptc_limits_init(&config.limits, sizeof config.limits);
    config.limits.timeout_ms = -7;
    CHECK(ptc_executor_in_process(&config, why) == NULL && why[0]);
}

int main(void)
{
    ptc_mem_init(&mem, SIZE_MAX / 2);
    test_cases();
    test_cut();
    test_session();
    test_cancel();
    test_data();
    test_bad_limits();
    CHECK(atomic_load(&mem.used) == 0);
    return check_done("mcp_task");
}
