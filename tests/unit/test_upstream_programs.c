/* SPDX-License-Identifier: MIT
 * test_upstream_programs.c - programs that call tools of other servers, against a remote that is none: what is found
 * before the run, what a call gives and throws, discovery, sessions; with engines of this process and with workers.
 * Started by the helper's argument, this program is the helper: see main. */
#define _GNU_SOURCE
#include "worker_help.h"

#include <sched.h>

#include "base/os/cancel.h"
#include "engine/engine.h"
#include "engine/outcome.h"
#include "exec/frame.h"
#include "remote_fake.h"

typedef struct {
    PtcTaskOut out;
    PtcTaskStatus status;
} Ran;

static Fake fake;

static PtcTaskIn a_task(const char *program)
{
    PtcTaskIn in;
    ptc_task_in_init(&in);
    in.program = (PtcText){program, strlen(program)};
    in.use_tools = true;
    return in;
}

static Ran submit(PtcExecutor *ex, const PtcTaskIn *in, const PtcCancel *cancel)
{
    Ran ran;
    ptc_task_out_init(&ran.out, &mem, 64 << 20);
    ran.status = ex->submit(ex, "a", in, cancel, &ran.out);
    return ran;
}

/* The result as JSON, or "kind: message" of a failure. */
static void shown(const Ran *ran, char *out, size_t size)
{
    const PtcTaskOut *o = &ran->out;
    if (ran->status != PTC_TASK_DONE)
        snprintf(out, size, "status %d: %s", ran->status, o->message);
    else if (o->ok)
        snprintf(out, size, "%.*s", (int)o->text.len, o->text.data ? o->text.data : "");
    else
        snprintf(out, size, "%s: %s", o->kind, o->message);
}

static void gives(PtcExecutor *ex, const char *program, const char *want)
{
    char got[2048];
    PtcTaskIn in = a_task(program);
    Ran ran = submit(ex, &in, NULL);
    shown(&ran, got, sizeof got);
    if (check_count(strcmp(got, want) == 0))
        printf("%s\n  got:  %s\n  want: %s\n", program, got, want);
    ptc_task_out_deinit(&ran.out);
}

/* The failure begins so, and the feedback has the hint. */
static void refuses(PtcExecutor *ex, const char *program, const char *start, const char *hint)
{
    char got[2048];
    PtcTaskIn in = a_task(program);
    int calls = atomic_load(&fake.calls);
    Ran ran = submit(ex, &in, NULL);
    shown(&ran, got, sizeof got);
    char *feedback = ran.out.feedback.data;
    bool hinted = feedback && memmem(feedback, ran.out.feedback.len, hint, strlen(hint));
    if (check_count(strncmp(got, start, strlen(start)) == 0 && hinted))
        printf("%s\n  got:  %s\n%.*s\n  want: %s, %s\n", program, got, (int)ran.out.feedback.len,
               feedback ? feedback : "", start, hint);
    CHECK(atomic_load(&fake.calls) == calls); /* nothing was called */
    ptc_task_out_deinit(&ran.out);
}

/* ----------------------------------------------------------------------------------- calls */

static void test_calls(PtcExecutor *ex)
{
    gives(ex, "(github/get_pr {:number 7})", "{\"number\" 7}");
    gives(ex, "(github/get_pr :number 7 :per-page 3)", "{\"number\" 7, \"per-page\" 3}");
    gives(ex, "(github/status)", "\"fine\"");
    gives(ex, "(map github/create_issue [{:a 1} {:a-b [1 :x]}])",
          "[{\"a\" 1} {\"a-b\" [1 \"x\"]}]");
    gives(ex, "(->> (range 1 20) (pmap #(github/get_pr {:number %})) (map :number) (reduce +))",
          "190");
    gives(ex, "(let [f github/create_issue] (f {:title \"x\"}))", "{\"title\" \"x\"}");
    gives(ex, "(require '[github :as gh]) (gh/get_pr {:number 1})", "{\"number\" 1}");
    gives(ex, "(require '[github :refer [get_pr]]) (get_pr {:number 1})", "{\"number\" 1}");
    gives(ex, "(github/broken)", "nil");
    gives(ex, "(+ 1 2)", "3");
}

static void test_failures(PtcExecutor *ex)
{
    gives(ex, "(github/limited)", "tool_error: github/limited failed: too many");
    gives(ex, "(try (github/limited) (catch Exception e (ex-data e)))",
          "{:server \"github\", :tool \"limited\", :reason :rate_limited, :message \"too many\", "
          ":status 429, :retry_after_ms 1500, :effect :none}");
    gives(ex, "(try (github/picky) (catch Exception e (:reason (ex-data e))))",
          ":invalid_tool_args");
    gives(ex, "(github/picky)", "invalid_tool_args: github/picky: argument id: it is required");
    gives(ex, "(try (github/create_issue {:f inc}) (catch Exception e (ex-message e)))",
          "\"github/create_issue: argument f is a function\"");
    gives(ex, "(try (github/create_issue 1) (catch Exception e (ex-message e)))",
          "\"github/create_issue: it takes one map, or keywords and values in turn\"");
    gives(ex, "(try (down/ping) (catch Exception e (:reason (ex-data e))))",
          ":upstream_unavailable");
}

static void test_call_named(PtcExecutor *ex)
{
    gives(ex, "(tool/call {:server \"github\" :tool \"get_pr\" :args {:number 7}})",
          "{:ok true, :value {\"number\" 7}, :value_kind :json}");
    gives(ex, "(tool/call {:server \"github\" :tool \"limited\"})",
          "{:ok false, :reason :rate_limited, :message \"too many\"}");
    gives(ex, "(let [s \"nobody\"] (tool/call {:server s :tool \"x\"}))",
          "{:ok false, :reason :unknown_tool, :message \"the server has no such tool\"}");
    gives(ex, "(tool/blob \"blob-1\")", "\"aGVsbG8=\"");
    gives(ex, "(tool/blob \"blob-2\")", "tool_error: tool/blob failed: there is no such blob");
    gives(ex, "(tool/resource {:server \"files\" :uri \"file:///a\"})", "\"text\"");
}

/* -------------------------------------------------------------------------------- findings */

static void test_findings(PtcExecutor *ex)
{
    refuses(ex, "(github/create_issue {}) (gihub/get_pr {:number 1})",
            "unbound_var: there is no server gihub", "did you mean github?");
    refuses(ex, "(github/create_issue {}) (github/get_prs {:number 1})",
            "unknown_tool: github/get_prs: the server has no such tool",
            "did you mean github/get_pr?");
    refuses(ex, "(github/create_issue {}) (github/delete_repo {})",
            "tool_denied: github/delete_repo: it may not be called: deny github/delete_*", "");
    refuses(ex, "(github/create_issue {}) (github/get_pr {})",
            "invalid_tool_args: github/get_pr: argument number: ", "doc 'github/get_pr");
    refuses(ex, "(github/create_issue {}) (github/get_pr {:numbr 1})",
            "invalid_tool_args: github/get_pr: argument numbr: ", "did you mean number?");
    refuses(ex, "(github/create_issue {}) (github/get_pr {:number \"x\" :state \"opened\"})",
            "invalid_tool_args: github/get_pr: argument number: ", "argument state");
    refuses(ex, "(github/create_issue {}) (let [n 1] (github/get_pr {:number n :sate 1}))",
            "invalid_tool_args: github/get_pr: argument sate: ", "did you mean state?");
    refuses(ex, "(tool/call {:server \"github\" :tool \"get_pr\" :args {:x 1}})",
            "invalid_tool_args: ", "");
    refuses(ex, "(tool/call {:server \"github\" :tol \"get_pr\"})",
            "invalid_tool_args: tool/call takes", "did you mean tool?");
    refuses(ex, "(tool/call {:server \"gihub\" :tool \"get_pr\"})", "unbound_var: ", "github");
    refuses(ex, "(require '[clojure.string :as github])",
            "invalid_form: github is the namespace of a server", "choose another name");
    refuses(ex, "(nowhere/at_all)", "unbound_var: there is no namespace nowhere",
            "the servers that (tool/servers) lists");
    gives(ex, "(let [n 1] (github/get_pr {:number n}))", "{\"number\" 1}");
}

/* ------------------------------------------------------------------------------- discovery */

static void test_discovery(PtcExecutor *ex)
{
    gives(ex, "(map :name (tool/servers))", "[\"GitHub\"]");
    gives(ex, "(doc 'github/get_pr)", "\"Get a pull request\"");
    gives(ex, "(doc github/get_pr)", "\"Get a pull request\"");
    gives(ex, "(doc 'github)", "\"Issues of a forge\"");
    gives(ex, "(doc 'github/nothing)", "nil");
    gives(ex, "(dir 'github)", "[\"github/get_pr - Get a pull request\"]");
    gives(ex, "(:effect (meta 'github/get_pr))", "\"read\"");
    gives(ex, "(keys (ns-publics 'github))", "[\"get_pr\" \"slow\"]");
    gives(ex, "(apropos \"pull\" {:limit 1})", "[\"github/get_pr - Get a pull request\"]");
    gives(ex, "(apropos \"pull\" {:limit 1 :offset 1})", "[\"github/slow - Wait\"]");
    gives(ex, "(some #(= % \"github - Issues\") (dir))", "true");
    gives(ex, "(count (remove nil? (for [i (range 150)] (doc 'github))))", "100");
}

/* ---------------------------------------------------------------------------------- limits */

static void test_limits(PtcExecutor *ex)
{
    fake.cap = 5;
    gives(ex,
          "(frequencies (map (fn [_] (try (github/status) :ok (catch Exception e (:reason (ex-data "
          "e))))) (range 8)))",
          "{:ok 5, :cap_exhausted 3}");
    fake.cap = 200;
    PtcTaskIn in = a_task("(github/stuck {:a 1})");
    in.limits.deadline_ms = 100;
    int cancelled = atomic_load(&fake.cancelled);
    Ran ran = submit(ex, &in, NULL);
    CHECK(ran.status != PTC_TASK_CANCELLED && !ran.out.ok);
    CHECK(strcmp(ran.out.kind, "deadline") == 0);
    CHECK(ran.out.effects == 1); /* it was sent, and nobody knows what it did */
    CHECK(atomic_load(&fake.cancelled) > cancelled);
    ptc_task_out_deinit(&ran.out);
    gives(ex, "(github/status)", "\"fine\"");
}

static void *cancel_later(void *arg)
{
    while (atomic_load(&fake.asks) == 0)
        sched_yield();
    ptc_cancel_ask(arg);
    return NULL;
}

static void test_cancel(PtcExecutor *ex)
{
    PtcCancel cancel = {.asked = false};
    pthread_t thread;
    PtcTaskIn in = a_task("(github/stuck)");
    gives(ex, "(count [github/stuck])", "1"); /* so that the next ask is the call */
    atomic_store(&fake.asks, 0);
    CHECK(pthread_create(&thread, NULL, cancel_later, &cancel) == 0);
    Ran ran = submit(ex, &in, &cancel);
    pthread_join(thread, NULL);
    CHECK(ran.status == PTC_TASK_CANCELLED);
    ptc_task_out_deinit(&ran.out);
    gives(ex, "(github/status)", "\"fine\"");
}

static void test_effects(PtcExecutor *ex)
{
    static const struct {
        const char *program;
        uint64_t effects;
    } rows[] = {{"(github/get_pr {:number 1})", 0},
                {"(github/create_issue {})", 1},
                {"(pmap #(github/create_issue {:n %}) (range 10))", 10},
                {"(doc 'github)", 0},
                {"(try (github/limited) (catch Exception e 1))", 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PtcTaskIn in = a_task(rows[i].program);
        Ran ran = submit(ex, &in, NULL);
        CHECK(ran.status == PTC_TASK_DONE && ran.out.ok);
        if (check_count(ran.out.effects == rows[i].effects))
            printf("%s: %d effects\n", rows[i].program, (int)ran.out.effects);
        CHECK(ran.out.call_log.len > 2 && ran.out.call_log.data[0] == '[');
        ptc_task_out_deinit(&ran.out);
    }
}

/* ------------------------------------------------------------------------------- remembered */

static void test_warm(PtcExecutor *ex)
{
    const char *program = "(github/get_pr {:number 1}) (github/get_pr {:number 2})";
    gives(ex, program, "{\"number\" 2}");
    int lookups = atomic_load(&fake.lookups), checks = atomic_load(&fake.checks);
    for (int i = 0; i < 10; i++)
        gives(ex, program, "{\"number\" 2}");
    /* one engine or worker has seen it by now; there are as many as max_idle */
    CHECK(atomic_load(&fake.lookups) <= lookups + 3);
    CHECK(atomic_load(&fake.checks) <= checks + 6);
    fake.version++;
    lookups = atomic_load(&fake.lookups);
    gives(ex, program, "{\"number\" 2}");
    CHECK(atomic_load(&fake.lookups) == lookups + 1);
    fake.version++;
    fake.unsettled = true;
    lookups = atomic_load(&fake.lookups);
    checks = atomic_load(&fake.checks);
    for (int i = 0; i < 3; i++)
        gives(ex, program, "{\"number\" 2}");
    CHECK(atomic_load(&fake.lookups) == lookups + 3);
    CHECK(atomic_load(&fake.checks) == checks + 6);
    fake.unsettled = false;
}

/* -------------------------------------------------------------------------------- sessions */

static Ran in_session(PtcExecutor *ex, const char *program, PtcText session)
{
    PtcTaskIn in = a_task(program);
    in.in_session = true;
    in.session = session;
    return submit(ex, &in, NULL);
}

static void test_sessions(PtcExecutor *ex)
{
    char got[512];
    Ran first = in_session(ex,
                           "(require '[github :as gh]) (def t github/get_pr) (defn f [n] "
                           "(gh/get_pr {:number n})) 1",
                           (PtcText){NULL, 0});
    CHECK(first.status == PTC_TASK_DONE && first.out.ok && first.out.session.len > 0);
    PtcText kept = {first.out.session.data, first.out.session.len};
    fake.version++;
    Ran again = in_session(ex, "[(f 3) (t {:number 4})]", kept);
    shown(&again, got, sizeof got);
    CHECK_STR(got, "[{\"number\" 3} {\"number\" 4}]");
    ptc_task_out_deinit(&again.out);
    fake.version++;
    fake.gone = true;
    again = in_session(ex, "(f 3)", kept);
    shown(&again, got, sizeof got);
    CHECK(strncmp(got, "unknown_tool: github/get_pr: ", 29) == 0);
    ptc_task_out_deinit(&again.out);
    again = in_session(ex, "(+ 1 2)", kept); /* loading it is no error */
    shown(&again, got, sizeof got);
    CHECK_STR(got, "3");
    ptc_task_out_deinit(&again.out);
    fake.gone = false;
    fake.version++;
    ptc_task_out_deinit(&first.out);
}

static void test_all(PtcExecutor *ex)
{
    test_calls(ex);
    test_failures(ex);
    test_call_named(ex);
    test_findings(ex);
    test_discovery(ex);
    test_limits(ex);
    test_cancel(ex);
    test_effects(ex);
    test_warm(ex);
    test_sessions(ex);
    CHECK(atomic_load(&fake.begun) == atomic_load(&fake.ended));
}

/* --------------------------------------------------------------------------------- speed */

static double best_us(PtcExecutor *ex, const char *program)
{
    double best = 1e9;
    PtcTaskIn in = a_task(program);
    for (int i = 0; i < 200; i++) {
        int64_t from = ptc_clock_ns(NULL);
        Ran ran = submit(ex, &in, NULL);
        double took = (double)(ptc_clock_ns(NULL) - from) / 1e3;
        CHECK(ran.status == PTC_TASK_DONE && ran.out.ok);
        ptc_task_out_deinit(&ran.out);
        best = took < best ? took : best;
    }
    return best;
}

static const char ten_calls[] =
    "(when (= 1 2) (github/get_pr {:number 1}) (github/get_pr {:number 2 :state \"open\"}) "
    "(github/create_issue {:title \"a\" :body \"b\"}) (github/get_pr {:number 4 :per-page 5}) "
    "(github/status {}) (github/slow {:a 1}) (files/read {:path \"/tmp/a\"}) "
    "(github/limited {:x [1 2 3]}) (files/read {:path \"/tmp/b\"}) (github/get_pr {:number 9}))";

static void show_speed(PtcExecutor *ex, const char *where)
{
    fake.cap = 1000000;
    double before = best_us(ex, "(+ 1 2)");
    double now = best_us(ex, "(dotimes [i 100] (github/status))");
    double later = best_us(ex, "(dotimes [i 100] (github/create_issue {:n i}))");
    double wide = best_us(ex, "(count (pmap #(github/create_issue {:n %}) (range 100)))");
    double ten = best_us(ex, ten_calls), after = best_us(ex, "(+ 1 2)");
    printf("%s: (+ 1 2) %.1f us, after calls %.1f us; a call answered at once %.1f us, later %.1f "
           "us, 100 in a pmap %.0f us; ten calls checked %.1f us\n",
           where, before, after, (now - before) / 100, (later - before) / 100, wide, ten - before);
    fake.cap = 200;
}

/* ----------------------------------------------------------------------- workers that lie */

static void send_ask(int fd, uint64_t id, uint32_t op, uint32_t slot, uint32_t tool,
                     const char *text)
{
    uint32_t numbers[PTC_FRAME_ASK_NUMBERS] = {op, slot, tool};
    PtcFrameHead head = {(uint32_t)(sizeof numbers + strlen(text)), PTC_FRAME_ASK, id};
    (void)!write(fd, &head, sizeof head);
    (void)!write(fd, numbers, sizeof numbers);
    (void)!write(fd, text, strlen(text));
}

/* Asks, and gives back what came as an answer. */
static void ask_forged(int fd, PtcTaskOut *out)
{
    char answer[400];
    send_ask(fd, 1, PTC_REMOTE_CALL, 99, 123456, "{}");
    PtcFrameHead head;
    size_t got = 0;
    (void)!read(fd, &head, sizeof head);
    while (got < head.len && head.len < sizeof answer)
        got += (size_t)read(fd, answer + got, head.len - got);
    ptc_buf_add(&out->text, answer + 8, got > 8 ? got - 8 : 0);
}

/* In the worker, in place of a program. */
static bool hook(const PtcTaskIn *in, PtcTaskOut *out, int fd)
{
    if (in->program.len == 0 || in->program.bytes[0] != '!')
        return false;
    PtcText how = {in->program.bytes + 1, in->program.len - 1};
    out->ok = true;
    if (ptc_text_is(how, "forged"))
        ask_forged(fd, out);
    else if (ptc_text_is(how, "op"))
        send_ask(fd, 10, 999, 0, 0, "{}");
    else if (ptc_text_is(how, "json"))
        send_ask(fd, 10, PTC_REMOTE_LOOKUP, 0, 0, "{]");
    else if (ptc_text_is(how, "again"))
        send_ask(fd, 0, PTC_REMOTE_LOOKUP, 0, 0, "{}");
    else if (ptc_text_is(how, "many"))
        for (uint64_t id = 10; id < 1000; id++)
            send_ask(fd, id, PTC_REMOTE_CALL, 7, 5, "{}");
    while (!ptc_text_is(how, "forged"))
        sched_yield();
    return true;
}

/* In new workers, since ids must grow.  What a worker says is checked; what it asks for and never reads is given up
 * with it. */
static void test_lies(PtcExecutor *ex)
{
    static const char *const lies[] = {"!op", "!json", "!again", "!many"};
    gives(ex, "!forged",
          "{\"reason\":\"unknown_tool\",\"message\":\"the server has no such tool\"}");
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        PtcTaskIn in = a_task(lies[i]);
        Ran ran = submit(ex, &in, NULL);
        if (check_count(ran.status == PTC_TASK_LOST && ran.out.message[0]))
            printf("%s: %d %s\n", lies[i], ran.status, ran.out.message);
        CHECK(strcmp(lies[i], "!many") != 0 || ran.out.effects >= 200);
        ptc_task_out_deinit(&ran.out);
        gives(ex, "(github/status)", "\"fine\"");
    }
    CHECK(atomic_load(&fake.begun) == atomic_load(&fake.ended));
}

static PtcExecutorConfig config_of(void)
{
    PtcExecutorConfig config = a_config(NULL);
    config.remote = &fake.base;
    config.limits.max_workers = 16;
    return config;
}

/* An engine that begins its runs there by itself, as a command has it. */
static void test_engine(void)
{
    static const char program[] = "(:number (github/get_pr {:number 7}))";
    PtcBuf call_log;
    PtcOutcome *o = NULL;
    PtcRun run = {.size = sizeof run, .program = program, .program_len = sizeof program - 1};
    Ptc *ptc = ptc_engine_with(NULL);
    ptc_buf_init(&call_log, &mem, 1 << 20);
    ptc_engine_set_remote(ptc, &fake.base, &call_log);
    for (int i = 0; i < 2; i++) {
        CHECK(ptc_engine_run(ptc, &run, &o) == PTC_OK && o->ok && o->value == ptc_int(7));
        CHECK(ptc_text_is(ptc_buf_view(&call_log), "[1]"));
        ptc_outcome_drop(o);
    }
    for (int i = 1; i < 120; i++) { /* every allocation fails once */
        ptc->fail_allocation = i;
        PtcStatus status = ptc_engine_run(ptc, &run, &o);
        CHECK(status == PTC_NO_MEMORY || status == PTC_OK);
        ptc_outcome_drop(o);
        if (ptc->remote_names)
            ptc_remote_names_begin(ptc->remote_names, 0); /* so that all is asked again */
    }
    ptc->fail_allocation = 0;
    ptc_engine_set_remote(ptc, NULL, NULL);
    CHECK(ptc_engine_run(ptc, &run, &o) == PTC_OK && !o->ok);
    ptc_outcome_drop(o);
    ptc_engine_free(ptc);
    ptc_buf_deinit(&call_log);
}

static bool has_shapes(PtcServers *servers, PtcHeap *heap, const char *name, const char *takes)
{
    uint32_t number;
    PtcServerWord word;
    PtcToolShapes shapes;
    PtcText wanted = ptc_text_cstr(takes);
    return servers->find(servers, heap, PTC_TEXT("github"), ptc_text_cstr(name), &number, &word) ==
               PTC_SERVER_FOUND &&
           servers->shapes(servers, number, &shapes) &&
           (shapes.takes.bytes != NULL) == (takes != NULL) && ptc_text_same(shapes.takes, wanted) &&
           ptc_text_is(takes ? shapes.gives : shapes.seen, "{title string}") &&
           !(takes ? shapes.seen : shapes.gives).bytes;
}

/* What is known of a tool comes with its name, and is remembered with it. */
static void test_shapes(void)
{
    CheckHeap h;
    PtcRemoteNames names;
    PtcRemoteServers servers;
    PtcToolShapes shapes;
    PtcRemoteRun run = {.remote = &fake.base};
    check_heap_init(&h);
    ptc_remote_names_init(&names, &h.mem);
    for (int i = 0; i < 2; i++) {
        run.run = fake.base.begin(&fake.base, "a", INT64_MAX, NULL, &run.version);
        ptc_remote_servers_init(&servers, &run, &names, &h.mem);
        int lookups = atomic_load(&fake.lookups);
        CHECK(has_shapes(&servers.base, &h.heap, "get_pr", "{number int}"));
        CHECK(has_shapes(&servers.base, &h.heap, "status", NULL));
        CHECK(atomic_load(&fake.lookups) == lookups + (i == 0 ? 2 : 0));
        CHECK(!servers.base.shapes(&servers.base, 99, &shapes));
        fake.base.end(run.run, NULL);
    }
    ptc_remote_names_deinit(&names);
    check_heap_deinit(&h);
}

static void test_in_process(void)
{
    PtcWhy why;
    PtcExecutorConfig config = config_of();
    PtcExecutor *ex = ptc_executor_in_process(&config, &why);
    CHECK(ex != NULL);
    test_all(ex);
    show_speed(ex, "in this process");
    ex->free(ex);
}

static void test_workers(void)
{
    PtcExecutorConfig config = config_of();
    PtcExecutor *ex = start_with(&config);
    test_all(ex);
    show_speed(ex, "in a worker");
    ex->free(ex);
    ex = start_with(&config);
    test_lies(ex);
    ex->free(ex);
}

int main(int argc, char **argv)
{
    if (ptc_zygote_asked(argc, argv))
        return ptc_zygote_main(hook);
    ptc_mem_init(&mem, SIZE_MAX / 2);
    fake_start(&fake);
    CHECK_RUN(test_engine());
    CHECK_RUN(test_shapes());
    CHECK_RUN(test_in_process());
    if (argc < 2)
        CHECK_RUN(test_workers());
    fake_stop(&fake);
    return check_done("upstream_programs");
}
