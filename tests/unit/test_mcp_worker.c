/* SPDX-License-Identifier: MIT
 * test_mcp_worker.c - programs in worker processes: tasks, tools, cancelling, owners, and workers that die, hang or
 * lie.  What they can reach is in test_mcp_sandbox.c.  Started by the helper's argument, this program is the helper:
 * see main. */
#define _GNU_SOURCE
#include "worker_help.h"

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>

#include "base/os/cancel.h"
#include "exec/frame.h"
#include "tool/file.h"

/* ------------------------------------------------------- inside a worker: the hook's tricks */

static void send_frame(int fd, PtcFrameHead head, const char *payload)
{
    (void)!write(fd, &head, sizeof head);
    (void)!write(fd, payload, head.len);
}

static _Noreturn void hang(void)
{
    for (;;)
        sched_yield();
}

/* A good answer, though not of a success, and more bytes behind it. */
static void send_more(int fd)
{
    PtcMem own;
    PtcTaskOut out;
    PtcBuf frame;
    ptc_mem_init(&own, SIZE_MAX / 2);
    ptc_task_out_init(&out, &own, 0);
    ptc_buf_init(&frame, &own, PTC_FRAME_MAX);
    if (ptc_frame_put_done(&frame, 1, PTC_TASK_NO_MEMORY, &out) && ptc_buf_add_cstr(&frame, "more"))
        (void)!write(fd, frame.data, frame.len);
}

static const char empty[4096];

/* Frames and bytes that no worker of ours sends; then it waits to be ended. */
static bool lie(const char *how, int fd)
{
    if (strcmp(how, "!garbage") == 0)
        (void)!write(fd, "garbage, and quite a lot of it", 30);
    else if (strcmp(how, "!huge") == 0)
        send_frame(fd, (PtcFrameHead){UINT32_MAX, PTC_FRAME_DONE, 1}, NULL);
    else if (strcmp(how, "!other") == 0)
        send_frame(fd, (PtcFrameHead){200, PTC_FRAME_DONE, 999}, empty);
    else if (strcmp(how, "!zeros") == 0)
        send_frame(fd, (PtcFrameHead){200, PTC_FRAME_DONE, 1}, empty);
    else if (strcmp(how, "!again") == 0)
        send_frame(fd, (PtcFrameHead){0, PTC_FRAME_READY, 0}, NULL);
    else if (strcmp(how, "!no-tool") == 0)
        send_frame(fd, (PtcFrameHead){6, PTC_FRAME_CALL, 1}, "\xff\xff\xff\xff{}");
    else if (strcmp(how, "!old-call") == 0)
        send_frame(fd, (PtcFrameHead){6, PTC_FRAME_CALL, 0}, "\0\0\0\0{}");
    else if (strcmp(how, "!not-json") == 0)
        send_frame(fd, (PtcFrameHead){6, PTC_FRAME_CALL, 1}, "\0\0\0\0{]");
    else if (strcmp(how, "!more") == 0)
        send_more(fd);
    else if (strcmp(how, "!lisp-call") == 0) /* a tool that runs in workers only */
        send_frame(fd, (PtcFrameHead){6, PTC_FRAME_CALL, 1}, "\7\0\0\0{}");
    else
        return false;
    hang();
}

static void flood(int fd)
{
    for (uint64_t id = 1;; id++)
        send_frame(fd, (PtcFrameHead){6, PTC_FRAME_CALL, id}, "\0\0\0\0{}");
}

static bool hook(const PtcTaskIn *in, PtcTaskOut *out, int fd)
{
    char how[32];
    snprintf(how, sizeof how, "%.*s", (int)in->program.len, in->program.bytes);
    if (how[0] != '!')
        return false;
    if (strcmp(how, "!pid") == 0)
        ptc_buf_addf(&out->text, "%d", (int)getpid());
    else if (strcmp(how, "!hang") == 0)
        hang();
    else if (strcmp(how, "!die") == 0)
        syscall(SYS_exit_group, 1);
    else if (strcmp(how, "!crash") == 0)
        __builtin_trap();
    else if (strcmp(how, "!flood") == 0)
        flood(fd);
    else
        lie(how, fd);
    out->ok = true;
    return true;
}

/* ------------------------------------------------------------------------- tools, in here */

static PtcToolAnswer square(PtcToolCall *call, void *user)
{
    int64_t n = 0;
    (void)user;
    ptc_value_int(ptc_value_get(ptc_call_args(call), "n", 1), &n);
    ptc_call_return(call, ptc_make_int(ptc_call_data(call), n * n));
    return PTC_TOOL_ANSWERED;
}

static PtcToolAnswer echo(PtcToolCall *call, void *user)
{
    size_t len = 0;
    (void)user;
    const char *json = ptc_call_args_json(call, &len);
    ptc_call_return_json(call, json, len);
    return PTC_TOOL_ANSWERED;
}

static PtcToolAnswer fails(PtcToolCall *call, void *user)
{
    (void)user;
    ptc_call_fail(call, "no luck today", 13);
    return PTC_TOOL_ANSWERED;
}

static atomic_int inside;

/* Answers when `user` calls of it are under way. */
static PtcToolAnswer meet(PtcToolCall *call, void *user)
{
    int wanted = (int)(intptr_t)user;
    atomic_fetch_add(&inside, 1);
    while (atomic_load(&inside) < wanted && !ptc_call_cancelled(call))
        check_pause_us(1000);
    ptc_call_return(call, ptc_make_bool(atomic_load(&inside) >= wanted));
    return PTC_TOOL_ANSWERED;
}

static atomic_bool blocked;

static PtcToolAnswer block(PtcToolCall *call, void *user)
{
    (void)user;
    atomic_store(&blocked, true);
    while (!ptc_call_cancelled(call))
        check_pause_us(1000);
    atomic_store(&blocked, false);
    ptc_call_fail(call, "cancelled", 9);
    return PTC_TOOL_ANSWERED;
}

static void add_tool(PtcTools *tools, const char *name, PtcToolFn function, intptr_t user,
                     const char *signature)
{
    PtcToolDef def;
    char error[200] = "";
    ptc_tool_def_init(&def, sizeof def);
    def.name = name;
    def.name_len = strlen(name);
    def.function = function;
    def.user = (void *)user;
    def.signature = signature;
    def.signature_len = signature ? strlen(signature) : 0;
    def.on_error_value = strcmp(name, "fails-softly") == 0;
    def.timeout_ms = strcmp(name, "slow") == 0 ? 20 : PTC_UNSET;
    CHECK(ptc_tools_add(tools, &def, error, sizeof error) == PTC_OK);
    CHECK_STR(error, "");
}

/* In PTC-Lisp; the first of them has the number 7. */
static const char lisp_tools[] =
    "{\"twice\":{\"lisp\":\"(fn [{:keys [n]}] (* 2 n))\",\"signature\":\"(n :int) -> :int\"},"
    "\"own\":{\"lisp\":\"(let [k {\\\"a\\\" :x}] (fn [args] (get k (:key args))))\"},"
    "\"spin\":{\"lisp\":\"(fn [args] (loop [] (recur)))\"},"
    "\"hog\":{\"lisp\":\"(fn [args] (count (vec (range 3000000))))\"},"
    "\"stops\":{\"lisp\":\"(fn [args] (fail \\\"not today\\\"))\",\"on_error\":\"value\"},"
    "\"once\":{\"lisp\":\"(fn [args] (:n args))\",\"cache\":true,\"serial\":true},"
    "\"long\":{\"lisp\":\"(fn [args] (count \\\"%s\\\"))\"}}";

static void add_lisp(PtcTools *tools)
{
    enum { LEN = 60000 }; /* more than fits into one packet for the helper */
    static char text[LEN + 1], json[LEN + sizeof lisp_tools];
    PtcWhy why = {0};
    memset(text, 'x', LEN);
    int n = snprintf(json, sizeof json, lisp_tools, text);
    CHECK(ptc_tools_read_json(tools, json, (size_t)n, &(PtcToolsFileOptions){.http = false}, &why));
    CHECK_STR(why.text, "");
}

static PtcTools *some_tools(void)
{
    PtcTools *tools = ptc_tools_new();
    add_tool(tools, "square", square, 0, "(n :int) -> :int");
    add_tool(tools, "echo", echo, 0, NULL);
    add_tool(tools, "fails", fails, 0, NULL);
    add_tool(tools, "fails-softly", fails, 0, NULL);
    add_tool(tools, "meet", meet, 4, NULL);
    add_tool(tools, "block", block, 0, NULL);
    add_tool(tools, "slow", block, 0, NULL);
    add_lisp(tools);
    return tools;
}

/* ------------------------------------------------------------------------- tasks and tools */

static void check_tasks(PtcExecutor *ex)
{
    expect(ex, "(+ 1 2)", "3");
    expect(ex, "(reduce + (range 1000))", "499500");
    expect(ex, "(count (pmap (fn [x] (reduce + (range x))) (range 100)))", "100");
    expect(ex, "(re-find #\"b+\" \"abbc\")", "\"bb\"");
    Got got = run(ex, "a", "(+ 1 :x)");
    CHECK(got.status == PTC_TASK_DONE && !got.ok && got.message[0]);
    got = run_with(ex, "a", "(count data/xs)", (With){.context = "{\"xs\":[1,2,3]}"});
    CHECK_STR(got.text, "3");
    got = run_with(ex, "a", "(loop [] (recur))", (With){.timeout_ms = 30});
    CHECK(got.status == PTC_TASK_DONE && !got.ok);
    got = run(ex, "a", "(count (vec (range 3000000)))");
    CHECK(got.status == PTC_TASK_DONE && !got.ok);
    expect(ex, "(+ 1 2)", "3");
}

/* A context and a result that are larger than a socket's buffer. */
static void check_large(PtcExecutor *ex)
{
    enum { LEN = 3 << 20 };
    char *context = malloc(LEN + 100);
    strcpy(context, "{\"s\":\"");
    memset(context + 6, 'x', LEN);
    strcpy(context + 6 + LEN, "\"}");
    Got got = run_with(ex, "a", "(count data/s)", (With){.context = context});
    CHECK_STR(got.text, "3145728");
    got = run_with(ex, "a", "(tool/echo {:s data/s})", (With){.context = context});
    CHECK(got.status == PTC_TASK_DONE && got.ok);
    free(context);
}

static void check_tools(PtcExecutor *ex)
{
    expect(ex, "(tool/square {:n 12})", "144");
    expect(ex, "(tool/echo {:a [1 2.5 nil \"x\"] :b-c true})",
           "{\"a\" [1 2.5 nil \"x\"], \"b_c\" true}");
    expect(ex, "(reduce + (map (fn [n] (tool/square {:n n})) (range 50)))", "40425");
    expect(ex, "(reduce + (pmap (fn [n] (tool/square {:n n})) (range 50)))", "40425");
    expect(ex, "(:ok (tool/fails-softly {}))", "false");
    atomic_store(&inside, 0);
    expect(ex, "(pmap (fn [n] (tool/meet {})) (range 4))", "[true true true true]");
    Got got = run(ex, "a", "(tool/fails {})");
    CHECK(!got.ok && strstr(got.message, "tool/fails failed: no luck today"));
    got = run(ex, "a", "(tool/square {:n \"x\"})");
    CHECK(got.status == PTC_TASK_DONE && !got.ok);
    got = run(ex, "a", "(tool/slow {})");
    CHECK(got.status == PTC_TASK_DONE && !got.ok);
    expect(ex, "(+ 1 2)", "3");
}

static void expect_limit(PtcExecutor *ex, const char *program, const char *kind)
{
    bool by_time =
        strcmp(kind, "timeout") == 0; /* other limits must be met first, on any machine */
    Got got = run_with(ex, "a", program, (With){.timeout_ms = by_time ? 300 : 0});
    if (check_count(got.status == PTC_TASK_DONE && !got.ok && strcmp(got.kind, kind) == 0))
        printf("%s: %d %s %s\n", program, got.status, got.kind, got.text);
}

/* Tools in PTC-Lisp are a part of the program: they give values of every kind, and its limits are theirs, which nothing
 * can catch. */
static void check_lisp_tools(PtcExecutor *ex)
{
    expect(ex, "(tool/twice {:n 21})", "42");
    expect(ex, "(tool/own {:key \"a\"})", ":x");
    expect(ex, "(tool/stops)", "{:ok false, :message \"not today\"}");
    expect(ex, "(tool/long)", "60000");
    expect(ex, "(reduce + (pmap (fn [i] (tool/once {:n (mod i 7)})) (range 100)))", "295");
    expect(ex, "(+ (tool/square {:n 3}) (tool/twice {:n 3}))", "15");
    Got got = run(ex, "a", "(tool/twice {:n \"x\"})");
    CHECK(got.status == PTC_TASK_DONE && !got.ok);
    CHECK_STR(got.kind, "invalid_tool_args");
    expect_limit(ex, "(try (tool/spin) (catch Exception e 1))", "timeout");
    expect_limit(ex, "(try (tool/hog) (catch Exception e 1))", "memory_exceeded");
    expect_limit(ex, "(pmap (fn [i] (try (tool/spin) (catch Exception e 1))) (range 4))",
                 "timeout");
    expect(ex, "(+ 1 2)", "3");
}

/* --------------------------------------------------------------------------- cancelling */

static void *cancel_soon(void *flag)
{
    check_pause_us(30000);
    ptc_cancel_ask(flag);
    return NULL;
}

static Got run_cancelled(PtcExecutor *ex, const char *program)
{
    pthread_t thread;
    PtcCancel cancel = {.asked = false};
    pthread_create(&thread, NULL, cancel_soon, &cancel);
    Got got = run_with(ex, "a", program, (With){.timeout_ms = 100000, .cancel = &cancel});
    pthread_join(thread, NULL);
    return got;
}

/* A worker that is asked to stop and does so lives on.  On a busy machine it may be late and be killed, but not
 * always. */
static void check_asked(PtcExecutor *ex, const char *program)
{
    bool same = false;
    for (int i = 0; i < 50 && !same; i++) {
        int pid = pid_of(ex, "a");
        CHECK(run_cancelled(ex, program).status == PTC_TASK_CANCELLED);
        same = pid_of(ex, "a") == pid;
    }
    CHECK(same);
}

static void check_cancel(PtcExecutor *ex)
{
    const PtcCancel already = {.asked = true};
    CHECK(run_with(ex, "a", "(+ 1 2)", (With){.cancel = &already}).status == PTC_TASK_CANCELLED);
    check_asked(ex, "(loop [] (recur))");
    check_asked(ex, "(pmap (fn [x] (loop [] (recur))) (range 4))");
    CHECK(run_cancelled(ex, "(tool/block {})").status == PTC_TASK_CANCELLED);
    while (atomic_load(&blocked))
        check_pause_us(1000);
    int pid = pid_of(ex, "a");
    CHECK(run_cancelled(ex, "!hang").status == PTC_TASK_CANCELLED);
    CHECK(pid_of(ex, "a") != pid);
    expect(ex, "(+ 1 2)", "3");
}

/* --------------------------------------------------- owners, and workers that go wrong */

static void check_owners(PtcExecutor *ex)
{
    int a = pid_of(ex, "a"), b = pid_of(ex, "b");
    CHECK(a != b && a == pid_of(ex, "a") && b == pid_of(ex, "b"));
    char name[20];
    int seen[12] = {a, b};
    for (int i = 2; i < 12; i++) { /* more than are kept */
        snprintf(name, sizeof name, "owner %d", i);
        seen[i] = pid_of(ex, name);
        for (int k = 0; k < i; k++)
            CHECK(seen[i] != seen[k]);
    }
    CHECK(pid_of(ex, "owner 11") == seen[11]);
}

static void check_liars(PtcExecutor *ex)
{
    static const char *const ways[] = {"!garbage",   "!huge",    "!other",    "!zeros",
                                       "!again",     "!no-tool", "!old-call", "!not-json",
                                       "!lisp-call", "!flood",   "!die",      "!crash"};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        int other = pid_of(ex, "b");
        Got got = run(ex, "a", ways[i]);
        if (check_count(got.status == PTC_TASK_LOST && got.message[0] && !got.ok))
            printf("%s: %d %s\n", ways[i], got.status, got.message);
        expect(ex, "(+ 1 2)", "3");
        CHECK(pid_of(ex, "b") == other);
    }
    /* A new owner, so that this is the first task of its worker. */
    Got got = run(ex, "new", "!more");
    CHECK(got.status == PTC_TASK_LOST && strstr(got.message, "more bytes after its answer"));
    CHECK_STR(run(ex, "new", "(+ 1 2)").text, "3");
}

/* A hung worker's program failed as one that the engine stopped: same kind, same words, apart from its place. */
static void check_overrun(Got got, const char *kind, const char *message)
{
    char heading[100];
    CHECK(got.status == PTC_TASK_DONE && !got.ok);
    CHECK_STR(got.reason, "timeout");
    CHECK_STR(got.kind, kind);
    CHECK_STR(got.message, message);
    snprintf(heading, sizeof heading, "The program failed: %s. ", kind);
    CHECK(strncmp(got.feedback, heading, strlen(heading)) == 0);
    CHECK(strstr(got.feedback, message) && strstr(got.feedback, "\n  hint: "));
}

static void check_hang(PtcExecutor *ex)
{
    int pid = pid_of(ex, "a");
    check_overrun(run_with(ex, "a", "!hang", (With){.deadline_ms = 50}), "deadline",
                  "the program took longer than its deadline of 50 ms");
    CHECK(pid_of(ex, "a") != pid);
}

/* One that does not keep its time has half a second beyond it, not several times as much as it was given. */
static void check_grace(PtcExecutor *ex)
{
    int pid = pid_of(ex, "a");
    int64_t begun = ptc_clock_ns(NULL);
    Got got = run_with(ex, "a", "!hang", (With){.timeout_ms = 1000});
    int64_t ms = (ptc_clock_ns(NULL) - begun) / 1000000;
    check_overrun(got, "timeout", "the program computed longer than its limit of 1000 ms");
    CHECK(ms >= 1400 && ms < 5000);
    CHECK(pid_of(ex, "a") != pid);
}

/* ------------------------------------------------------------------------ death under load */

typedef struct {
    PtcExecutor *ex;
    int number, done, lost, wrong;
    atomic_int pid;
    pthread_t thread;
} Client;

enum { CLIENTS = 4, TASKS = 150 };
static atomic_int at_work;

static void *use_workers(void *arg)
{
    Client *c = arg;
    char owner[20], program[100], want[20];
    snprintf(owner, sizeof owner, "client %d", c->number);
    for (int i = 0; i < TASKS; i++) {
        Got got = run(c->ex, owner, "!pid");
        if (i % 3 == 0 && got.status == PTC_TASK_DONE)
            atomic_store(&c->pid, (int)strtol(got.text, NULL, 10));
        snprintf(program, sizeof program, "(+ %d (tool/square {:n %d}))", c->number, i);
        snprintf(want, sizeof want, "%d", c->number + i * i);
        got = run(c->ex, owner, program);
        c->done += got.status == PTC_TASK_DONE;
        c->lost += got.status == PTC_TASK_LOST;
        c->wrong += got.status == PTC_TASK_DONE && strcmp(got.text, want) != 0;
    }
    atomic_fetch_sub(&at_work, 1);
    return NULL;
}

static void check_load(PtcExecutor *ex)
{
    Client clients[CLIENTS];
    int kills = 0, lost = 0;
    atomic_store(&at_work, CLIENTS);
    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = (Client){.ex = ex, .number = i};
        pthread_create(&clients[i].thread, NULL, use_workers, &clients[i]);
    }
    while (atomic_load(&at_work) > 0) {
        int pid = atomic_exchange(&clients[kills % CLIENTS].pid, 0);
        kills += pid > 0 && kill(pid, SIGKILL) == 0;
        check_pause_us(2000);
    }
    for (int i = 0; i < CLIENTS; i++) {
        pthread_join(clients[i].thread, NULL);
        CHECK(clients[i].wrong == 0 && clients[i].done + clients[i].lost == TASKS);
        CHECK(clients[i].done >=
              TASKS / 2); /* a kill costs one task, and one in three is named to be killed */
        lost += clients[i].lost;
    }
    CHECK(kills > 0);
    printf("load: %d tasks with tools, %d kills, %d tasks lost\n", CLIENTS * TASKS, kills, lost);
    expect(ex, "(+ 1 2)", "3");
}

/* --------------------------------------------------------------------------- the helper dies */

static void check_helper(PtcExecutor *ex)
{
    int worker = pid_of(ex, "a"), helper = parent_of(worker);
    CHECK(helper > 1 && helper != getpid() && parent_of(helper) == getpid());
    CHECK(kill(helper, SIGKILL) == 0);
    while (parent_of(worker) > 0) /* no worker outlives it */
        check_pause_us(1000);
    CHECK(pid_of(ex, "a") != worker);
    expect(ex, "(tool/square {:n 3})", "9");
    expect(ex, "[(tool/twice {:n 3}) (tool/long)]",
           "[6 60000]"); /* the new one was told everything again */
}

/* ----------------------------------------------------------------------------------- data */

/* A helper that died is replaced once its data can be read again, however often that failed before. */
static void check_data_again(PtcExecutor *ex, const char *path)
{
    int worker = pid_of(ex, "a"), helper = parent_of(worker);
    CHECK(helper > 1 && kill(helper, SIGKILL) == 0);
    while (parent_of(worker) > 0)
        check_pause_us(1000);
    for (int i = 0; i < 2; i++) {
        Got got = run(ex, "a", "(+ 1 2)");
        CHECK(got.status == PTC_TASK_LOST && strstr(got.message, path));
    }
    FILE *f = fopen(path, "w");
    CHECK(f && fputs("[4,5]", f) >= 0 && fclose(f) == 0);
    CHECK_STR(run_with(ex, "a", "data/rows", (With){.use_data = true}).text, "[4 5]");
    unlink(path);
}

static void check_data(void)
{
    PtcWhy why;
    char path[] = "/tmp/ptc-test-XXXXXX.json";
    PtcBuf about;
    PtcLoaded loaded = {.about = &about};
    int fd = mkstemps(path, 5);
    CHECK(fd >= 0 && write(fd, "[1,2,3]", 7) == 7);
    close(fd);
    ptc_buf_init(&about, &mem, 1000);
    PtcExecutorConfig config = a_config(NULL);
    config.zygote = ptc_zygote_start(NULL, &why);
    CHECK(config.zygote);
    CHECK(!ptc_zygote_load(config.zygote, "none", "/nowhere/at/all.json", &loaded, &why));
    CHECK(strstr(why.text, "/nowhere/at/all.json"));
    CHECK(ptc_zygote_load(config.zygote, "rows", path, &loaded, &why));
    CHECK(loaded.count == 3 && loaded.bytes > 0);
    CHECK(about.len > 0 && strstr(ptc_buf_text(&about), "rows"));
    unlink(path);
    PtcExecutor *ex = start_with(&config);
    CHECK_STR(run_with(ex, "a", "(reduce + data/rows)", (With){.use_data = true}).text, "6");
    CHECK_STR(run_with(ex, "b", "(count data/rows)", (With){.use_data = true}).text, "3");
    check_data_again(ex, path);
    ex->free(ex);
    ptc_buf_deinit(&about);
}

/* -------------------------------------------------------------------------- no such luck */

static void check_refused(void)
{
    PtcWhy why;
    PtcExecutorConfig config = a_config(NULL);
    config.worker_path = "/nowhere/ptc";
    CHECK(!ptc_executor_workers(&config, &why) && strstr(why.text, "does not start"));
    config.worker_path = "/bin/true"; /* starts, and is no helper */
    CHECK(!ptc_executor_workers(&config, &why) && strstr(why.text, "has ended"));
    config = a_config(NULL);
    config.limits.max_workers = 1000;
    CHECK(!ptc_executor_workers(&config, &why) && strstr(why.text, "limit"));
}

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void show_speed(PtcExecutor *ex)
{
    enum { ROUNDS = 300, FORKS = 20 };
    run(ex, "speed", "(+ 1 2)");
    double from = now_us();
    for (int i = 0; i < ROUNDS; i++)
        run(ex, "speed", "(+ 1 2)");
    double each = (now_us() - from) / ROUNDS;
    from = now_us();
    for (int i = 0; i < ROUNDS; i++)
        run(ex, "speed", "(tool/square {:n 5})");
    double tool = (now_us() - from) / ROUNDS;
    from = now_us();
    for (int i = 0; i < FORKS; i++) {
        char owner[20];
        snprintf(owner, sizeof owner, "speed %d", i);
        run(ex, owner, "(+ 1 2)");
    }
    printf("a task %.1f us, with a tool call %.1f us, with a new worker %.0f us\n", each, tool,
           (now_us() - from) / FORKS);
}

int main(int argc, char **argv)
{
    if (ptc_zygote_asked(argc, argv))
        return ptc_zygote_main(hook);
    ptc_mem_init(&mem, SIZE_MAX / 2);
    PtcTools *tools = some_tools();
    PtcExecutorConfig config = a_config(tools);
    PtcExecutor *ex = start_with(&config);
    CHECK_RUN(check_tasks(ex));
    CHECK_RUN(check_large(ex));
    CHECK_RUN(check_tools(ex));
    CHECK_RUN(check_lisp_tools(ex));
    CHECK_RUN(check_cancel(ex));
    CHECK_RUN(check_owners(ex));
    CHECK_RUN(check_liars(ex));
    CHECK_RUN(check_hang(ex));
    CHECK_RUN(check_grace(ex));
    CHECK_RUN(check_load(ex));
    CHECK_RUN(check_helper(ex));
    show_speed(ex);
    ex->free(ex);
    ptc_tools_free(tools);
    CHECK_RUN(check_data());
    CHECK_RUN(check_refused());
    CHECK(atomic_load(&mem.used) == 0);
    return check_done("test_mcp_worker");
}
