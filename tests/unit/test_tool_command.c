/* SPDX-License-Identifier: MIT
 * test_tool_command.c - commands as tools, with real children: what they get, what they give, how they are ended; none
 * is left over and no descriptor stays open. */
#define _GNU_SOURCE /* setenv, pipe2 */
#include "tool_file_help.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tool/kind/command.h"

/* ------------------------------------------------------------------------------ children */

/* One tool "t", which is a shell script. */
#define SH(script) "{\"t\":{\"command\":[\"sh\",\"-c\",\"" script "\"]}}"
#define SH_WITH(script, more) "{\"t\":{\"command\":[\"sh\",\"-c\",\"" script "\"]," more "}}"

static const struct {
    const char *tools, *program, *want;
} cases[] = {
    /* what it gets and gives */
    {"{\"t\":{\"command\":[\"cat\"]}}", "(tool/t {:a-b [1 2.5 nil] :c \"é\"})",
     "{\"a_b\" [1 2.5 nil], \"c\" \"é\"}"},
    {"{\"t\":{\"command\":[\"cat\",\"/dev/stdin\"]}}", "(:n (tool/t :n 7))", "7"},
    {"{\"t\":{\"command\":[\"cat\"]}}", "(tool/t)", "{}"},
    {"{\"t\":{\"command\":[\"cat\"]}}", "(map #(:i (tool/t {:i %})) (range 5))", "[0 1 2 3 4]"},
    {"{\"t\":{\"command\":[\"cat\"]}}", "(pmap #(:i (tool/t {:i %})) (range 20))",
     "[0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19]"},
    {"{\"t\":{\"command\":[\"echo\",\"  [1, 2]\"]}}", "(tool/t)", "[1 2]"},
    {"{\"t\":{\"command\":[\"true\"]}}", "(tool/t)", "nil"},
    {SH("printf ' \\\\n'"), "(tool/t)", "nil"},
    {SH("echo noise >&2; echo 1"), "(tool/t)", "1"},
    {SH("exec 0<&-; echo 2"), "(tool/t {:x 1})", "2"},
    {SH("exec 1>&- 2>&-; exit 0"), "(tool/t)", "nil"},
    {SH("head -c 300000 /dev/zero | tr '\\\\0' x | sed 's/^/\\\"/; s/$/\\\"/'"), "(count (tool/t))",
     "300000"},
    {"{\"t\":{\"command\":[\"cat\"]}}",
     "(count (:s (tool/t {:s (apply str (repeat 200000 \"ab\"))})))", "400000"},
    {"{\"t\":{\"command\":[\"true\"]}}", "(tool/t {:s (apply str (repeat 500000 \"ab\"))})",
     "nil"}, /* nobody reads it */
    /* failures */
    {SH("echo out of stock >&2; exit 3"), "(tool/t)", "!tool_error: tool/t failed: out of stock"},
    {SH("exit 3"), "(tool/t)",
     "!tool_error: tool/t failed: exit status 3, with nothing on standard error"},
    {SH("printf '\\\\377\\\\033[1mbad\\\\033' >&2; exit 1"), "(tool/t)",
     "!tool_error: tool/t failed: ??[1mbad?"},
    {SH("kill -9 $$"), "(tool/t)",
     "!tool_error: tool/t failed: it was killed by signal 9 (SIGKILL); it may have taken effect"},
    {SH("kill -TERM $$"), "(tool/t)",
     "!tool_error: tool/t failed: it was killed by signal 15 (SIGTERM); it may have taken effect"},
    {SH("echo '[1,'"), "(tool/t)",
     "!tool_error: tool/t failed: its result is not JSON: line 1, column 4: expected a value, "
     "but the text ends"},
    {"{\"t\":{\"command\":[\"ptc-no-such-program\"]}}", "(tool/t)",
     "!tool_error: tool/t failed: cannot start ptc-no-such-program: there is no such program; it "
     "did not take effect"},
    {"{\"t\":{\"command\":[\"/\"]}}", "(tool/t)",
     "!tool_error: tool/t failed: cannot start /: it may not be run; it did not take effect"},
    {SH_WITH("echo gone >&2; exit 1", "\"on_error\":\"value\""), "(tool/t)",
     "{:ok false, :message \"gone\"}"},
    {SH("echo broke >&2; exit 1"), "(try (tool/t) (catch Exception e :caught))", ":caught"},
    /* limits */
    {SH_WITH("sleep 1000", "\"timeout_ms\":30"), "(tool/t)",
     "!tool_error: tool/t failed: it did not answer within 30 ms; it may have taken effect"},
    {SH_WITH("trap '' TERM; while :; do sleep 1; done", "\"timeout_ms\":30"), "(tool/t)",
     "!tool_error: tool/t failed: it did not answer within 30 ms; it may have taken effect"},
    {SH_WITH("sleep 1000 & wait", "\"timeout_ms\":30"), "(tool/t)",
     "!tool_error: tool/t failed: it did not answer within 30 ms; it may have taken effect"},
    {SH_WITH("yes >&2", "\"timeout_ms\":50"), "(tool/t)",
     "!tool_error: tool/t failed: it did not answer within 50 ms; it may have taken effect"},
    {SH_WITH("kill -STOP $$", "\"timeout_ms\":50"), "(tool/t)",
     "!tool_error: tool/t failed: it did not answer within 50 ms; it may have taken effect"},
    {"{\"t\":{\"command\":[\"yes\"]}}", "(tool/t)",
     "!tool_error: tool/t failed: it wrote more than 1048576 bytes to standard output; "
     "it may have taken effect"},
    /* a grandchild that keeps the pipes open holds nobody up */
    {SH("sleep 1000 & echo 5"), "(tool/t)", "5"},
    {SH("(trap '' TERM; sleep 1000) & echo 6"), "(tool/t)", "6"},
    {SH("(exec >&- 2>&-; sleep 1000) & echo 7"), "(tool/t)", "7"},
    /* signals are as the system sets them, although this process ignores SIGPIPE */
    {SH("(yes; echo $? >&2) 2>/dev/null | head -1 | sed s/y/1/"), "(tool/t)", "1"},
};

static Ptc *an_engine(void)
{
    PtcLimits limits = patient_limits();
    PtcOptions options;
    ptc_options_init(&options, sizeof options);
    limits.tool_bytes = 1 << 20;
    options.limits = &limits;
    return ptc_new(&options);
}

static void test_cases(void)
{
    char out[TEXT];
    Ptc *ptc = an_engine();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_STR(run_json(ptc, cases[i].tools, cases[i].program, out), cases[i].want);
    end_engine(ptc);
}

/* ------------------------------------------------------------------------------- secrets */

/* What a command complains about never has the value of a variable in it, nor a part of one where something was cut. */
static void test_secrets(void)
{
    char out[TEXT];
    Ptc *ptc = an_engine();
    setenv("PTC_TEST_KEY", "k-0123456789-0123456789-0123456789-0123456789-z", 1);
    setenv("PTC_TEST_WORD", "json", 1);
    static const char whole[] = SH_WITH("echo no json for $PTC_TEST_KEY. >&2; exit 1",
                                        "\"env\":[\"PTC_TEST_KEY\",\"PTC_TEST_WORD\"]");
    CHECK_STR(run_json(ptc, whole, "(tool/t)", out),
              "!tool_error: tool/t failed: no json for [secret].");
    /* of more than 64 KiB the beginning is dropped, here in the midst of a key wherever that is */
    for (int bytes = 70000; bytes < 70040; bytes += 7) {
        char tools[300];
        snprintf(
            tools, sizeof tools,
            "{\"t\":{\"command\":[\"sh\",\"-c\",\"yes $PTC_TEST_KEY | head -c %d >&2; exit 1\"],"
            "\"env\":[\"PTC_TEST_KEY\"]}}",
            bytes);
        run_json(ptc, tools, "(tool/t)", out);
        CHECK(strstr(out, "[secret]\n[secret]\n") && !strstr(out, "456789"));
    }
    unsetenv("PTC_TEST_KEY");
    unsetenv("PTC_TEST_WORD");
    end_engine(ptc);
}

/* --------------------------------------------------------------------------- environment */

static void test_environment(void)
{
    char out[TEXT];
    Ptc *ptc = an_engine();
    static const char plain[] = SH("env | grep -c -v -e ^PATH= -e ^HOME= -e ^LANG= -e ^PWD= -e "
                                   "^_= -e ^SHLVL= -e ^OLDPWD=; true");
    static const char named[] = SH_WITH("echo $PTC_TEST_A$PTC_TEST_B",
                                        "\"env\":[\"PTC_TEST_A\",\"PTC_TEST_A\",\"PTC_NOT_SET\"]");
    setenv("PTC_TEST_A", "41", 1);
    setenv("PTC_TEST_B", "9", 1);
    CHECK_STR(run_json(ptc, plain, "(tool/t)", out), "0");
    CHECK_STR(run_json(ptc, named, "(tool/t)", out), "41");
    /* descriptors of the host, inheritable ones too, stay here */
    int open_one = open("/dev/null", O_RDONLY);
    CHECK(open_one >= 0);
    CHECK_STR(run_json(ptc, SH("ls /proc/self/fd | tr '\\\\n' ' ' | sed 's/^/\\\"/; s/$/\\\"/'"),
                       "(tool/t)", out),
              "\"0 1 2 3 \""); /* 3 is the directory itself */
    close(open_one);
    /* a group of its own, and the directory of its parent */
    char cwd[1000] = "", want[1010];
    CHECK(getcwd(cwd, sizeof cwd) != NULL);
    snprintf(want, sizeof want, "\"%s\"", cwd);
    CHECK_STR(run_json(ptc, SH("printf '\\\"%s\\\"' \\\"$(pwd)\\\""), "(tool/t)", out), want);
    CHECK_STR(
        run_json(ptc, SH("set -- $(cat /proc/$$/stat); test $5 = $$ && echo 1"), "(tool/t)", out),
        "1");
    end_engine(ptc);
}

/* A blocked signal is not blocked in the child. */
static void test_mask(void)
{
    sigset_t all, before;
    char out[TEXT];
    Ptc *ptc = an_engine();
    sigfillset(&all);
    sigdelset(&all, SIGALRM); /* a test that hangs is ended by it */
    pthread_sigmask(SIG_BLOCK, &all, &before);
    /* the C library has uses of its own for signals 32 and 33 */
    CHECK_STR(run_json(ptc, SH("grep -c '^Sig[BI][lg][kn]:.*0000000$' /proc/self/status"),
                       "(tool/t)", out),
              "2");
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    end_engine(ptc);
}

/* Standard descriptors that the host has closed do not confuse those of the child. */
static void test_closed_stdio(void)
{
    char out[TEXT];
    Ptc *ptc = an_engine();
    int kept[3];
    for (int i = 0; i < 3; i++)
        kept[i] = fcntl(i, F_DUPFD_CLOEXEC, 10);
    for (int i = 0; i < 3; i++)
        close(i);
    run_json(ptc, SH("cat; echo no >&2"), "(:a (tool/t {:a 3}))", out);
    for (int i = 0; i < 3; i++) {
        if (kept[i] >= 0)
            dup2(kept[i], i);
        close(kept[i]);
    }
    CHECK_STR(out, "3");
    end_engine(ptc);
}

/* ------------------------------------------------------------------------------- SIGCHLD */

static void test_ignored_sigchld(void)
{
    char out[TEXT];
    Ptc *ptc = an_engine();
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    sigaction(SIGCHLD, &ignore, &before);
    CHECK_STR(run_json(ptc, "{\"t\":{\"command\":[\"cat\"]}}", "(tool/t {:a 1})", out),
              "{\"a\" 1}");
    CHECK_STR(run_json(ptc, SH("echo why >&2; exit 1"), "(tool/t)", out),
              "!tool_error: tool/t failed: why");
    CHECK_STR(run_json(ptc, "{\"t\":{\"command\":[\"false\"]}}", "(tool/t)", out),
              "!tool_error: tool/t failed: exit status 1, with nothing on standard error");
    CHECK_STR(run_json(ptc, SH("sleep 1000 & echo 5"), "(tool/t)", out), "5");
    CHECK_STR(
        run_json(ptc, SH_WITH("sleep 1000", "\"timeout_ms\":20"), "(tool/t)", out),
        "!tool_error: tool/t failed: it did not answer within 20 ms; it may have taken effect");
    sigaction(SIGCHLD, &before, NULL);
    end_engine(ptc);
}

/* Another child of the host, which has ended, is the host's to wait for. */
static void test_other_children(void)
{
    char out[TEXT];
    int status = 0;
    Ptc *ptc = an_engine();
    pid_t other = fork();
    if (other == 0)
        _exit(42);
    CHECK_STR(run_json(ptc, SH("sleep 0.02; echo 1"), "(tool/t)", out), "1");
    CHECK(waitpid(other, &status, 0) == other && WEXITSTATUS(status) == 42);
    end_engine(ptc);
}

/* -------------------------------------------------------------------------------- cancel */

static void test_cancel(void)
{
    char out[TEXT];
    Canceller canceller;
    Ptc *ptc = an_engine();
    canceller_start(&canceller, ptc);
    const char *got = run_json(ptc, SH("sleep 1000"), "(pmap tool/t [{:a 1} {:a 2} {:a 3}])", out);
    canceller_stop(&canceller);
    CHECK(strncmp(got, "!cancelled", 10) == 0);
    end_engine(ptc);
}

/* Runs a program with four tools that work in an empty directory: `bad` fails once `write` has begun, `write` takes a
 * while, `more` would be the next call, and `read` never ends by itself.  Which files are there then? */
static void run_with_writes(Ptc *ptc, const char *program, char out[TEXT], char files[TEXT])
{
    char dir[] = "/tmp/ptc-writes-XXXXXX", tools[2 * TEXT], path[TEXT];
    static const char *const names[] = {"begun", "written", "more"};
    CHECK(mkdtemp(dir) != NULL);
    snprintf(
        tools, sizeof tools,
        "{\"bad\":{\"read_only\":true,\"command\":[\"sh\",\"-c\",\"while ! [ -f %s/begun ]; do "
        "sleep "
        "0.01; done; exit 1\"]},"
        "\"write\":{\"command\":[\"sh\",\"-c\",\"echo > %s/begun; sleep 1.5; echo > %s/written\"]},"
        "\"more\":{\"command\":[\"touch\",\"%s/more\"]},"
        "\"read\":{\"read_only\":true,\"command\":[\"sleep\",\"1000\"]}}",
        dir, dir, dir, dir);
    run_json(ptc, tools, program, out);
    files[0] = 0;
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        if (unlink(path) == 0)
            snprintf(files + strlen(files), TEXT - strlen(files), "%s ", names[i]);
    }
    CHECK(rmdir(dir) == 0);
}

/* An item that fails ends the others, but not in the middle of a call that changes something; the next call is not
 * made, and what only reads is ended at once. */
static void test_writes_of_other_items(void)
{
    static const char *const programs[] = {
        "(pmap (fn [i] (if (= i 0) (tool/bad) (do (tool/write) (tool/more)))) [0 1])",
        "(pmap (fn [i] (if (= i 0) (tool/bad) (pmap (fn [f] (f) (tool/more)) [tool/write "
        "tool/read]))) "
        "[0 1])",
        "(pcalls (fn [] (tool/bad)) (fn [] (tool/write)) (fn [] (tool/read)))",
    };
    char out[TEXT], files[TEXT];
    Ptc *ptc = an_engine();
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        run_with_writes(ptc, programs[i], out, files);
        CHECK(strncmp(out, "!tool_error: tool/bad failed", 28) == 0);
        CHECK_STR(files, "begun written ");
    }
    end_engine(ptc);
}

/* The deadline of the run ends a command too. */
static void test_deadline(void)
{
    char out[TEXT];
    PtcLimits limits = patient_limits();
    PtcOptions options;
    ptc_options_init(&options, sizeof options);
    limits.deadline_ms = 40;
    options.limits = &limits;
    Ptc *ptc = ptc_new(&options);
    CHECK(strncmp(run_json(ptc, SH("sleep 1000"), "(tool/t)", out), "!deadline", 9) == 0);
    end_engine(ptc);
}

/* ------------------------------------------------------------------------------ processes */

static bool always(void *user)
{
    (void)user;
    return true;
}

/* What is kept of standard error is its end; the parts of the message are its two ends. */
static void test_long_stderr(void)
{
    char *argv[] = {"sh", "-c",
                    "echo first; i=0; while [ $i -lt 300 ]; do echo "
                    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx$i; i=$((i+1)); done >&2; "
                    "echo last >&2; exit 2",
                    NULL};
    char *envp[] = {"PATH=/usr/bin:/bin", NULL};
    char text[PTC_COMMAND_TEXT];
    const char *json;
    size_t len;
    PtcMem mem;
    PtcBuf out, err;
    ptc_mem_init(&mem, SIZE_MAX / 2);
    ptc_buf_init(&out, &mem, 100);
    ptc_buf_init(&err, &mem, 1000);
    PtcProcess p = {
        .argv = argv, .envp = envp, .input = "", .out = &out, .err = &err, .go_on = always};
    ptc_process_run(&p);
    CHECK(p.end == PTC_PROCESS_EXITED && p.code == 2);
    CHECK(err.len <= 1000 && err.len > 400 && memcmp(err.data + err.len - 5, "last\n", 5) == 0);
    CHECK(out.len == 6);
    CHECK(!ptc_command_judge(&p, &json, &len, text));
    CHECK(strstr(text, " ... ") && strcmp(text + strlen(text) - 4, "last") == 0);
    ptc_buf_deinit(&out);
    ptc_buf_deinit(&err);
    CHECK(atomic_load(&mem.used) == 0);
}

static const char *run_limited(Ptc *ptc, const char *json, rlim_t descriptors, char out[TEXT])
{
    struct rlimit before, few;
    getrlimit(RLIMIT_NOFILE, &before);
    few = (struct rlimit){descriptors, before.rlim_max};
    setrlimit(RLIMIT_NOFILE, &few);
    run_json(ptc, json, "(tool/t)", out);
    setrlimit(RLIMIT_NOFILE, &before);
    return out;
}

/* Seven descriptors are needed. */
static void test_few_descriptors(void)
{
    char out[TEXT];
    Ptc *ptc = an_engine();
    int lowest = open("/dev/null", O_RDONLY);
    close(lowest);
    rlim_t n = (rlim_t)lowest;
    for (rlim_t more = 0; more < 7; more++)
        CHECK_STR(run_limited(ptc, SH("echo 5"), n + more, out),
                  "!tool_error: tool/t failed: cannot start sh: there are too many open files; it "
                  "did not take effect");
    CHECK_STR(run_limited(ptc, SH("sleep 0.01; echo 5"), n + 7, out), "5");
    CHECK_STR(run_limited(ptc, SH("sleep 1000 & echo 6"), n + 7, out), "6");
    CHECK_STR(run_limited(ptc, SH("exit 1"), n + 7, out),
              "!tool_error: tool/t failed: exit status 1, with nothing on standard error");
    CHECK_STR(
        run_limited(ptc, SH_WITH("trap '' TERM; sleep 1000", "\"timeout_ms\":20"), n + 7, out),
        "!tool_error: tool/t failed: it did not answer within 20 ms; it may have taken effect");
    end_engine(ptc);
}

/* Each allocation of a run with a command fails once: an error or the result, nothing left behind. */
static void test_torture(void)
{
    PtcWhy why;
    char out[TEXT];
    PtcOptions options;
    ptc_options_init(&options, sizeof options);
    bool done = false;
    for (int n = 1; n < 200 && !done; n++) {
        options.fail_allocation = n;
        Ptc *ptc = ptc_new(&options);
        PtcTools *tools = read_tools("{\"t\":{\"command\":[\"cat\"]}}", &allow_all, &why);
        CHECK(ptc && tools);
        run_with(ptc, tools, "(tool/t {:a 1})", out);
        done = strcmp(out, "{\"a\" 1}") == 0;
        /* Of a run that could not even begin there is no outcome with a kind of error. */
        CHECK(done || strncmp(out, "!memory_exceeded", 16) == 0 ||
              strncmp(out, "!no_memory", 10) == 0);
        end_engine(ptc);
    }
    CHECK(done);
}

/* ----------------------------------------------------------------------------------- all */

static int count_descriptors(void)
{
    int n = 0;
    DIR *dir = opendir("/proc/self/fd");
    while (dir && readdir(dir))
        n++;
    if (dir)
        closedir(dir);
    return n;
}

/* test_few_descriptors counts from the lowest that is free: what was inherited above it is in its way. */
static void close_inherited_descriptors(void)
{
    for (int fd = 3; fd < 256; fd++)
        close(fd);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    close_inherited_descriptors();
    int before = count_descriptors();
    CHECK_RUN(test_cases());
    CHECK_RUN(test_secrets());
    CHECK_RUN(test_environment());
    CHECK_RUN(test_mask());
    CHECK_RUN(test_closed_stdio());
    CHECK_RUN(test_ignored_sigchld());
    CHECK_RUN(test_other_children());
    CHECK_RUN(test_cancel());
    CHECK_RUN(test_writes_of_other_items());
    CHECK_RUN(test_deadline());
    CHECK_RUN(test_long_stderr());
    CHECK_RUN(test_few_descriptors());
    CHECK_RUN(test_torture());
    CHECK(count_descriptors() == before);
    CHECK(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
    return check_done("test_tool_command");
}
