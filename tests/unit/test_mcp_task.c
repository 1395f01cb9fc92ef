/* SPDX-License-Identifier: MIT
 * Tasks: what goes in, what comes out, in this process. */
#include "exec/task.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "json/check.h"
#include "tool/file.h"

#define VIEW(text) ((PtcText){text, strlen(text)})

static PtcMem mem;

static PtcTaskIn task(const char *program)
{
    PtcTaskIn in;
    ptc_task_in_init(&in);
    in.program = VIEW(program);
    in.use_tools = in.use_data = true;
    return in;
}

static PtcExecutor *executor(PtcExecutorConfig config)
{
    PtcWhy why;
    if (config.limits.size == 0)
        ptc_limits_init(&config.limits, sizeof config.limits);
    config.max_idle = 2;
    PtcExecutor *e = ptc_executor_in_process(&config, &why);
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
    const char *text, *json, *prints; /* when it succeeds */
    bool validated;
    const char *reason, *kind; /* when it fails */
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
     .validated = true},
    {.program = "7",
     .schema = "{\"type\":\"integer\"}",
     .text = "7",
     .json = "7",
     .validated = true},
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
    {.program = "(fail {:a [1]})",
     .text = "{:a [1]}",
     .json = "{\"a\":[1]}",
     .reason = "fail",
     .kind = "fail"},
    {.program = "(do (println 7) (fail nil))",
     .text = "nil",
     .json = "null",
     .prints = "7\n",
     .reason = "fail",
     .kind = "fail"},
    {.program = "(fail 1)",
     .signature = ":int",
     .text = "1",
     .json = "1",
     .reason = "fail",
     .kind = "fail"},
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
        ptc_task_out_init(&out, &mem, 1 << 20);
        in.context = c->context ? VIEW(c->context) : (PtcText){NULL, 0};
        in.signature = c->signature ? VIEW(c->signature) : (PtcText){NULL, 0};
        in.output_schema = c->schema ? VIEW(c->schema) : (PtcText){NULL, 0};
        CHECK(e->submit(e, "", &in, NULL, &out) == PTC_TASK_DONE);
        CHECK(out.ok == (c->reason == NULL));
        CHECK_STR(text_of(&out.text), c->text ? c->text : "");
        CHECK_STR(text_of(&out.json), c->json ? c->json : "");
        CHECK(out.validated == c->validated);
        CHECK_STR(text_of(&out.prints), c->prints ? c->prints : "");
        CHECK_STR(out.reason, c->reason ? c->reason : "");
        CHECK_STR(out.kind, c->kind ? c->kind : "");
        CHECK(c->reason == NULL || out.message[0]);
        CHECK((out.feedback.len > 0) == (c->reason != NULL));
        CHECK(out.session.len == 0 && out.changed.len == 0 && out.calls.len == 0);
        ptc_task_out_deinit(&out);
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
    ptc_task_out_init(&out, &mem, 1 << 20);
    out.text.max = 50;
    out.prints.max = 10;
    out.json.max = 50;
    CHECK(e->submit(e, "", &in, NULL, &out) == PTC_TASK_DONE && out.ok);
    CHECK(out.text_cut && out.text.len == 49);
    CHECK(out.prints_cut && out.prints.len <= 10);
    CHECK(out.json.len == 0);
    ptc_task_out_deinit(&out);
    e->free(e);
}

/* -------------------------------------------------------------------------------- sessions */

/* A step of a session: every one may run in another engine. */
static bool step(PtcExecutor *e, PtcBuf *snapshot, PtcTaskIn in, const char *want)
{
    PtcTaskOut out;
    ptc_task_out_init(&out, &mem, 1 << 20);
    in.in_session = true;
    in.session = (PtcText){snapshot->len ? snapshot->data : NULL, snapshot->len};
    bool done = e->submit(e, "", &in, NULL, &out) == PTC_TASK_DONE;
    const char *got = in.kind == PTC_TASK_EVAL ? text_of(&out.text) : text_of(&out.answer);
    CHECK(done && strstr(got, want));
    if (out.session.len) {
        ptc_buf_clear(snapshot);
        ptc_buf_add(snapshot, out.session.data, out.session.len);
    }
    bool ok = out.ok;
    ptc_task_out_deinit(&out);
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
    small.limits.session_bytes = 4096;
    CHECK(!step(a, &snapshot, small, "") && snapshot.len == 0);
    ptc_buf_deinit(&snapshot);
    a->free(a);
    b->free(b);
}

/* ------------------------------------------------------------------------------- what is told */

static const char tools_json[] = "{\"price\":{\"table\":{\"{\\\"sku\\\":\\\"A\\\"}\":5}},"
                                 "\"one\":{\"value\":1,\"cache\":true}}";

static PtcTools *some_tools(void)
{
    const PtcToolsFileOptions allow = {.http = false};
    PtcWhy why = {0};
    PtcTools *tools = ptc_tools_new();
    CHECK(ptc_tools_read_json(tools, tools_json, sizeof tools_json - 1, &allow, &why));
    CHECK_STR(why.text, "");
    return tools;
}

/* Parts that are made only when they are asked for. */
static void test_wants(void)
{
    PtcTools *tools = some_tools();
    PtcExecutor *e = executor((PtcExecutorConfig){.tools = tools});
    PtcTaskIn in = task("(def b 2) (def a {:x 1}) (println 9) (tool/one) (tool/one) "
                        "(try (tool/price {:sku \"Z\"}) (catch Exception e 0)) "
                        "(tool/price {:sku \"A\"})");
    PtcTaskOut out;
    in.in_session = true;
    ptc_task_out_init(&out, &mem, 1 << 20);
    CHECK(e->submit(e, "", &in, NULL, &out) == PTC_TASK_DONE && out.ok);
    CHECK_STR(text_of(&out.changed), "a\nb\n");
    CHECK(out.bindings == 2 && out.tool_calls == 4);
    CHECK(!out.feedback.len && !out.memory.len && !out.calls.len && !out.stored.len);
    ptc_task_out_clear(&out);
    in.want = PTC_WANT_FEEDBACK | PTC_WANT_MEMORY | PTC_WANT_STORED | PTC_WANT_CALLS;
    CHECK(e->submit(e, "", &in, NULL, &out) == PTC_TASK_DONE && out.ok);
    CHECK_STR(text_of(&out.changed), "a\nb\n");
    CHECK_STR(text_of(&out.stored), "a\nb\n");
    CHECK_STR(text_of(&out.memory), "{\"changed\":{\"a\":\"{:x 1}\",\"b\":\"2\"},"
                                    "\"stored_keys\":[\"a\",\"b\"],\"truncated\":false}");
    CHECK(out.feedback.len == 0);
    const char *calls = text_of(&out.calls);
    CHECK(strstr(calls, "[{\"name\":\"one\",\"ok\":true,\"cached\":false,\"duration_us\":") ==
          calls);
    CHECK(strstr(calls, "{\"name\":\"one\",\"ok\":true,\"cached\":true,"));
    CHECK(strstr(calls, "\"arguments\":\"{\\\"sku\\\" \\\"A\\\"}\",\"result\":\"5\"}]"));
    CHECK(strstr(calls, "{\"name\":\"price\",\"ok\":false,"));
    ptc_task_out_deinit(&out);
    e->free(e);
    ptc_tools_free(tools);
}

/* A list of calls that does not fit has the first ones, and is JSON. */
static void test_many_calls(void)
{
    PtcTools *tools = some_tools();
    PtcExecutor *e = executor((PtcExecutorConfig){.tools = tools});
    PtcTaskIn in = task("(dotimes [i 50] (tool/price {:sku \"A\"}))");
    PtcTaskOut out;
    in.want = PTC_WANT_CALLS;
    for (size_t max = 0; max < 400; max++) {
        ptc_task_out_init(&out, &mem, 1 << 20);
        out.calls.max = max;
        CHECK(e->submit(e, "", &in, NULL, &out) == PTC_TASK_DONE && out.ok && out.tool_calls == 50);
        CHECK(out.calls.len <= max &&
              (max < 2 ? out.calls.len == 0 : ptc_json_is_line(out.calls.data, out.calls.len)));
        CHECK(max < 399 || strstr(text_of(&out.calls), "},{"));
        ptc_task_out_deinit(&out);
    }
    e->free(e);
    ptc_tools_free(tools);
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
    ptc_task_out_init(&out, &mem, 1 << 20);
    in.limits.timeout_ms = 60000;
    r->status = r->e->submit(r->e, "", &in, r->cancel, &out);
    ptc_task_out_deinit(&out);
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
    ptc_task_out_init(&out, &mem, 1 << 20);
    CHECK(r.e->submit(r.e, "", &in, NULL, &out) == PTC_TASK_DONE && out.ok);
    ptc_task_out_deinit(&out);
    r.e->free(r.e);
}

static void *aggregate(void *user)
{
    Running *r = user;
    for (int i = 0; i < 20; i++) {
        PtcTaskIn in = task("[(reduce + (map :n data/rows)) (count (conj data/rows 1)) "
                            "(:n (assoc (first data/rows) :n 5))]");
        PtcTaskOut out;
        ptc_task_out_init(&out, &mem, 1 << 20);
        r->status = r->e->submit(r->e, "", &in, NULL, &out);
        if (strcmp(text_of(&out.text), "[499500 1001 5]") != 0)
            r->status = PTC_TASK_LOST;
        ptc_task_out_deinit(&out);
    }
    return NULL;
}

/* Threads read the same data at once. */
static void test_data(void)
{
    char path[] = "/tmp/ptc-test-task-XXXXXX.csv";
    int fd = mkstemps(path, 4);
    FILE *f = fdopen(fd, "w");
    fprintf(f, "n,who\n");
    for (int i = 0; i < 1000; i++)
        fprintf(f, "%d,w%d\n", i, i % 7);
    fclose(f);
    PtcShared *data = ptc_shared_new();
    CHECK(ptc_shared_load(data, "rows", path, NULL, NULL));
    unlink(path);
    const PtcHeap *shared = ptc_page_of(ptc_shared_value(data, "rows"))->heap;
    size_t before = shared->page_bytes;
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
    CHECK(shared->page_bytes == before);
    e->free(e);
    ptc_shared_free(data);
}

static void test_bad_limits(void)
{
    PtcExecutorConfig config = {.max_idle = 1};
    PtcWhy why;
    ptc_limits_init(&config.limits, sizeof config.limits);
    config.limits.timeout_ms = -7;
    CHECK(ptc_executor_in_process(&config, &why) == NULL && why.text[0]);
}

int main(void)
{
    ptc_mem_init(&mem, SIZE_MAX / 2);
    CHECK_RUN(test_cases());
    CHECK_RUN(test_cut());
    CHECK_RUN(test_session());
    CHECK_RUN(test_wants());
    CHECK_RUN(test_many_calls());
    CHECK_RUN(test_cancel());
    CHECK_RUN(test_data());
    CHECK_RUN(test_bad_limits());
    CHECK(atomic_load(&mem.used) == 0);
    return check_done("mcp_task");
}
