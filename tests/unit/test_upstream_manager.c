/* SPDX-License-Identifier: MIT
 * test_upstream_manager.c - the manager through its PtcRemote, with real processes: starts, changes, caps, owners,
 * caches, many threads, and memory that runs out. */
#define _GNU_SOURCE
#include "base/os/cancel.h"
#include "base/os/leash.h"
#include "base/utf8.h"
#include "mcp/client/link.h"
#include "unit/manager_help.h"

enum { ANSWER = 32 * 1024, THREADS = 16, ASKS = 50 };

static char answer[ANSWER];

#define ECHO(ns) "{\"server\":\"" ns "\",\"tool\":\"echo\",\"args\":{\"text\":\"hi\"}}"
#define LOOKUP(ns, name) "{\"ns\":\"" ns "\",\"name\":\"" name "\"}"

static bool says(const char *part)
{
    if (strstr(answer, part))
        return true;
    printf("answer: %.300s\n", answer);
    return false;
}

static bool ask1(World *w, void *run, PtcRemoteOp op, const char *text)
{
    return ask(w, run, op, text, answer, sizeof answer);
}

/* ----------------------------------------------------------------------------------- one run */

static void test_plain(void)
{
    World w;
    char a[1024];
    PtcMem own;
    PtcBuf call_log;
    world_init(&w);
    world_open(&w, entry(a, sizeof a, &w, "s", "", "1", ""));
    ptc_mem_init(&own, SIZE_MAX / 2);
    ptc_buf_init(&call_log, &own, 1 << 20);
    void *run = run_begin(&w, "me");
    CHECK(state_of(&w, 0).state == PTC_INSTANCE_COLD && lines_of(&w, "s.starts") == 0);
    CHECK(ask1(&w, run, PTC_REMOTE_LOOKUP, LOOKUP("s", "echo")) && says("\"effect\":\"read\""));
    Asked call;
    ask_begin(&w, run, &call, PTC_REMOTE_CALL, number_of(answer, "\"slot\":"),
              number_of(answer, "\"tool\":"), "{\"text\":\"hi\"}");
    CHECK(ask_end(&w, run, &call, answer, sizeof answer) && says("\"value\":\"hi\""));
    CHECK(!ask1(&w, run, PTC_REMOTE_CALL_NAMED,
                "{\"server\":\"s\",\"tool\":\"write\",\"args\":{\"text\":\"x\"}}") &&
          says("denied"));
    CHECK(!ask1(&w, run, PTC_REMOTE_LOOKUP, LOOKUP("s", "ehco")) && says("s/echo"));
    CHECK(ask1(&w, run, PTC_REMOTE_LOOKUP, LOOKUP("s", "sum")) &&
          says("\"takes\":\"{a? number, b? number}\"") && says("\"gives\":\"{sum number}\""));
    w.remote->end(run, &call_log);
    CHECK(strstr(ptc_buf_text(&call_log), "\"status\":\"ok\"") != NULL);
    ptc_buf_deinit(&call_log);
    CHECK(lines_of(&w, "s.count") == 1 && lines_of(&w, "s.starts") == 1);
    world_end(&w);
}

/* What a worker may send that lies. */
static void test_lies(void)
{
    World w;
    char a[1024];
    static const struct {
        uint32_t slot, tool;
    } odd[] = {{0, 99}, {1, 0}, {2, 0}, {UINT32_MAX, 0}, {0, UINT32_MAX}, {UINT32_MAX, UINT32_MAX}};
    static const char *const texts[] = {"", "[]", "{", "null", "{\"ns\":1}", "{\"server\":\"s\"}"};
    world_init(&w);
    world_open(&w, entry(a, sizeof a, &w, "s", "", "1", ""));
    void *run = run_begin(&w, "me");
    CHECK(ask1(&w, run, PTC_REMOTE_LOOKUP, LOOKUP("s", "echo")));
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        for (int op = PTC_REMOTE_LOOKUP; op <= PTC_REMOTE_OPS; op++) {
            Asked call;
            ask_begin(&w, run, &call, (PtcRemoteOp)op, odd[i].slot, odd[i].tool, "{\"args\":{}}");
            bool ok = ask_end(&w, run, &call, answer, sizeof answer);
            CHECK(op == PTC_REMOTE_LOOK || op == PTC_REMOTE_CHECK || !ok);
        }
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (int op = PTC_REMOTE_LOOKUP; op <= PTC_REMOTE_OPS; op++) {
            bool ok = ask1(&w, run, (PtcRemoteOp)op, texts[i]);
            CHECK(op == PTC_REMOTE_LOOK || op == PTC_REMOTE_CHECK || !ok);
        }
    w.remote->end(run, NULL);
    CHECK(lines_of(&w, "s.count") == 0);
    world_end(&w);
}

static void test_caps(void)
{
    World w;
    char a[1024];
    world_init(&w);
    world_open(&w, entry(a, sizeof a, &w, "s", "", "1", ""));
    void *run = run_begin(&w, "me");
    bool all = true;
    for (int i = 0; i < 200; i++)
        all = ask1(&w, run, PTC_REMOTE_CALL_NAMED, ECHO("s")) && all;
    CHECK(all);
    CHECK(!ask1(&w, run, PTC_REMOTE_CALL_NAMED, ECHO("s")) && says("cap_exhausted"));
    for (int i = 0; i < 100; i++)
        CHECK(ask1(&w, run, PTC_REMOTE_LOOK, "{\"op\":\"servers\"}") && says("\"s\""));
    CHECK(ask1(&w, run, PTC_REMOTE_LOOK, "{\"op\":\"servers\"}") && says("null"));
    w.remote->end(run, NULL);
    CHECK(lines_of(&w, "s.count") == 200);
    world_end(&w);
}

/* ------------------------------------------------------------------------------------ starts */

/* A new run calls `s`, which has then been started this often. */
static void check_echo(World *w, int starts)
{
    void *run = run_begin(w, "me");
    CHECK(ask1(w, run, PTC_REMOTE_CALL_NAMED, ECHO("s")) && says("hi"));
    w->remote->end(run, NULL);
    CHECK(lines_of(w, "s.starts") == starts);
}

static void test_slow_start(bool warm)
{
    World w;
    char a[1024];
    world_init(&w);
    w.load_ms = 100;
    world_open(&w, entry(a, sizeof a, &w, "s", "slow_start", "2", ""));
    if (warm)
        ptc_manager_warm(w.manager, "me", 0, 0);
    void *run = run_begin(&w, "me");
    CHECK(!ask1(&w, run, PTC_REMOTE_LOOKUP, LOOKUP("s", "echo")) && says("upstream_unavailable") &&
          says("starting"));
    w.remote->end(run, NULL);
    CHECK(wait_for(&w, 0, PTC_INSTANCE_READY));
    check_echo(&w, 1);
    world_end(&w);
}

/* One that was only listed ends again, and starts when it is called. */
static void test_warm(void)
{
    World w;
    char a[1024];
    world_init(&w);
    world_open(&w, entry(a, sizeof a, &w, "s", "", "1", ""));
    ptc_manager_warm(w.manager, "me", 0, 0);
    for (int n = 0; n < 6000 && !state_of(&w, 0).listed; n++)
        check_pause_us(10000);
    CHECK(state_of(&w, 0).tools == 7 && wait_for(&w, 0, PTC_INSTANCE_COLD));
    check_echo(&w, 2);
    world_end(&w);
}

/* A listing that fails does not leave it starting for ever. */
static void test_failed_list(void)
{
    World w;
    char a[1024];
    bool ok = false;
    world_init(&w);
    world_open(&w, entry(a, sizeof a, &w, "s", "fails_once", "1", ""));
    void *run = run_begin(&w, "me");
    CHECK(!ask1(&w, run, PTC_REMOTE_LOOKUP, LOOKUP("s", "echo")) && says("not now"));
    for (int n = 0; n < 600 && !ok; n++) {
        ok = ask1(&w, run, PTC_REMOTE_CALL_NAMED, ECHO("s"));
        if (!ok)
            check_pause_us(100000);
    }
    CHECK(ok && lines_of(&w, "s.starts") == 2);
    w.remote->end(run, NULL);
    world_end(&w);
}

/* A search that may load starts what was never listed, one after the other. */
static void test_load(void)
{
    World w;
    char a[1024], b[1024], c[1024], all[3200];
    world_init(&w);
    snprintf(all, sizeof all, "%s,%s,%s", entry(a, sizeof a, &w, "s", "", "1", ""),
             entry(b, sizeof b, &w, "off", "", "1", ",\"enabled\":false"),
             entry(c, sizeof c, &w, "t", "", "1", ""));
    world_open(&w, all);
    void *run = run_begin(&w, "me");
    CHECK(ask1(&w, run, PTC_REMOTE_LOOK, "{\"op\":\"apropos\",\"query\":\"say again\"}") &&
          says("[]"));
    CHECK(lines_of(&w, "s.starts") + lines_of(&w, "t.starts") == 0);
    CHECK(ask1(&w, run, PTC_REMOTE_LOOK,
               "{\"op\":\"apropos\",\"query\":\"say again\",\"load\":true}") &&
          says("s/echo") && says("t/echo"));
    w.remote->end(run, NULL);
    CHECK(lines_of(&w, "s.starts") == 1 && lines_of(&w, "t.starts") == 1);
    world_end(&w);
}

static void test_owners(void)
{
    World w;
    char a[1024], b[1024], both[2100];
    world_init(&w);
    snprintf(both, sizeof both, "%s,%s", entry(a, sizeof a, &w, "s", "", "1", ""),
             entry(b, sizeof b, &w, "t", "", "1", ",\"shared\":true"));
    world_open(&w, both);
    void *mine = run_begin(&w, "me"), *yours = run_begin(&w, "you");
    CHECK(ask1(&w, mine, PTC_REMOTE_CALL_NAMED, ECHO("s")));
    CHECK(ask1(&w, yours, PTC_REMOTE_CALL_NAMED, ECHO("s")));
    CHECK(ask1(&w, mine, PTC_REMOTE_CALL_NAMED, ECHO("t")));
    CHECK(ask1(&w, yours, PTC_REMOTE_CALL_NAMED, ECHO("t")));
    CHECK(lines_of(&w, "s.starts") == 2 && lines_of(&w, "t.starts") == 1);
    w.remote->end(mine, NULL);
    w.remote->end(yours, NULL);
    world_end(&w);
}

/* Ends with starts and asks under way. */
static void test_ends_early(void)
{
    enum { TIMES = 12 };
    World w;
    char a[1024], b[1024], both[2100];
    for (unsigned i = 0; i < TIMES; i++) {
        Asked lookup, call;
        world_init(&w);
        snprintf(both, sizeof both, "%s,%s", entry(a, sizeof a, &w, "s", "slow_start", "20", ""),
                 entry(b, sizeof b, &w, "t", "", "1", ""));
        world_open(&w, both);
        ptc_manager_warm(w.manager, "me", 0, 0);
        void *run = run_begin(&w, "me");
        ask_begin(&w, run, &lookup, PTC_REMOTE_LOOKUP, 0, 0, LOOKUP("s", "echo"));
        ask_begin(&w, run, &call, PTC_REMOTE_CALL_NAMED, 0, 0, ECHO("t"));
        check_pause_us(i * 30000);
        w.remote->cancel(run, &lookup.base);
        w.remote->cancel(run, &call.base);
        (void)ask_end(&w, run, &lookup, answer, sizeof answer);
        (void)ask_end(&w, run, &call, answer, sizeof answer);
        w.remote->end(run, NULL);
        world_end(&w);
    }
}

/* ----------------------------------------------------------------------------------- changes */

/* Owners who call nothing for long lose their connections, and get new ones when they call again; shared ones stay. */
static void test_idle(void)
{
    World w;
    char a[1024], b[1024], both[2100];
    world_init(&w);
    w.idle_ms = 200;
    snprintf(both, sizeof both, "%s,%s", entry(a, sizeof a, &w, "s", "", "1", ""),
             entry(b, sizeof b, &w, "t", "", "1", ",\"shared\":true"));
    world_open(&w, both);
    for (int round = 1; round <= 3; round++) {
        void *run = run_begin(&w, "me");
        CHECK(ask1(&w, run, PTC_REMOTE_CALL_NAMED, ECHO("s")));
        CHECK(ask1(&w, run, PTC_REMOTE_CALL_NAMED, ECHO("t")));
        w.remote->end(run, NULL);
        CHECK(wait_for(&w, 0, PTC_INSTANCE_COLD));
        CHECK(lines_of(&w, "s.starts") >= round && lines_of(&w, "s.count") == round);
    }
    CHECK(lines_of(&w, "t.starts") == 1 && state_of(&w, 1).state == PTC_INSTANCE_READY);
    world_end(&w);
}

/* Until a new run is told this: servers list again after five seconds. */
static void await(World *w, PtcRemoteOp op, const char *what, const char *wanted)
{
    for (bool there = false; !there; check_pause_us(10000)) {
        void *run = run_begin(w, "me");
        there = ask1(w, run, op, what) && says(wanted);
        w->remote->end(run, NULL);
    }
}

/* What a run looked up is not what the upstream has when it is called. */
static void test_changed(void)
{
    World w;
    char a[1024], b[1024], both[2100];
    Asked call;
    world_init(&w);
    snprintf(both, sizeof both, "%s,%s",
             entry(a, sizeof a, &w, "s", "becomes_destructive,changes_description", "1", ""),
             entry(b, sizeof b, &w, "t", "changes_list", "1", ""));
    world_open(&w, both);
    void *run = run_begin(&w, "me");
    CHECK(ask1(&w, run, PTC_REMOTE_LOOKUP, LOOKUP("s", "echo")));
    uint32_t slots[2] = {number_of(answer, "\"slot\":"), 0};
    CHECK(ask1(&w, run, PTC_REMOTE_LOOKUP, LOOKUP("t", "echo")));
    slots[1] = number_of(answer, "\"slot\":");
    await(&w, PTC_REMOTE_LOOK, "{\"op\":\"doc\",\"ns\":\"s\",\"name\":\"echo\"}", "destructive");
    await(&w, PTC_REMOTE_LOOKUP, LOOKUP("t", "other"), "");
    ask_begin(&w, run, &call, PTC_REMOTE_CALL, slots[0], 0, "{\"text\":\"hi\"}");
    CHECK(!ask_end(&w, run, &call, answer, sizeof answer) && says("\"denied\""));
    ask_begin(&w, run, &call, PTC_REMOTE_CALL, slots[1], 0, "{\"text\":\"hi\"}");
    CHECK(!ask_end(&w, run, &call, answer, sizeof answer) && says("\"upstream_error\"") &&
          says("no longer has"));
    w.remote->end(run, NULL);
    CHECK(lines_of(&w, "s.count") == 0 && lines_of(&w, "t.count") == 0);
    run = run_begin(&w, "me");
    CHECK(ask1(&w, run, PTC_REMOTE_CALL_NAMED, "{\"server\":\"t\",\"tool\":\"other\"}"));
    w.remote->end(run, NULL);
    world_end(&w);
}

/* ------------------------------------------------------------------------------------- cache */

/* The one file of the cache. */
static bool cache_file(const World *w, char path[512])
{
    char dir[160];
    snprintf(dir, sizeof dir, "%s/upstreams", w->cache);
    DIR *d = opendir(dir);
    struct dirent *e = NULL;
    while (d && (e = readdir(d)) && e->d_name[0] == '.')
        ;
    if (e)
        snprintf(path, 512, "%s/%s", dir, e->d_name);
    if (d)
        closedir(d);
    return e != NULL;
}

static void put_text(const char *path, const char *text)
{
    unlink(path);
    FILE *f = fopen(path, "w");
    CHECK(f && fputs(text, f) >= 0);
    if (f)
        fclose(f);
    chmod(path, 0600);
}

/* Is there anything known from disk?  Starts nothing. */
static bool is_known(World *w, const char *upstreams)
{
    world_open(w, upstreams);
    bool known = state_of(w, 0).cached;
    CHECK(known == state_of(w, 0).listed);
    world_close(w);
    return known;
}

static void list_once(World *w, const char *upstreams)
{
    world_open(w, upstreams);
    void *run = run_begin(w, "me");
    CHECK(ask1(w, run, PTC_REMOTE_LOOKUP, LOOKUP("s", "echo")));
    w->remote->end(run, NULL);
    world_close(w);
}

/* Files that cannot be used are as good as none. */
static void test_cache(void)
{
    static const char *const broken[] = {
        "",
        "{",
        "[]",
        "null",
        "{\"format\":1}",
        "{\"format\":2,\"era\":\"legacy\",\"tools\":[]}",
        "{\"format\":1,\"era\":\"legacy\",\"tools\":{}}",
        "{\"format\":1,\"era\":7,\"tools\":[]}",
        "{\"format\":1,\"era\":\"legacy\",\"tools\":[{\"name\":\"echo\"",
    };
    World w;
    struct stat st;
    char a[1024], path[512] = "", kept[600];
    world_init(&w);
    entry(a, sizeof a, &w, "s", "", "1", "");
    list_once(&w, a);
    CHECK(cache_file(&w, path));
    CHECK(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600);
    CHECK(is_known(&w, a));
    snprintf(kept, sizeof kept, "%s.kept", path);
    CHECK(chmod(path, 0666) == 0 && !is_known(&w, a));
    CHECK(chmod(path, 0600) == 0 && rename(path, kept) == 0 && symlink(kept, path) == 0);
    CHECK(!is_known(&w, a));
    unlink(path);
    CHECK(mkfifo(path, 0600) == 0 && !is_known(&w, a));
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        put_text(path, broken[i]);
        CHECK(!is_known(&w, a));
    }
    CHECK(lines_of(&w, "s.starts") == 1);
    world_remove(&w);
}

/* A tool that is gone, one that is new, one that was harmless, and one that has another schema. */
static void test_old_cache(void)
{
    World w;
    char a[1024], path[512] = "";
    world_init(&w);
    entry(a, sizeof a, &w, "s", "", "1", "");
    list_once(&w, a);
    CHECK(cache_file(&w, path));
    put_text(path, "{\"format\":1,\"era\":\"legacy\",\"tools\":["
                   "{\"name\":\"gone\",\"annotations\":{\"readOnlyHint\":true}},"
                   "{\"name\":\"write\",\"annotations\":{\"readOnlyHint\":true}},"
                   "{\"name\":\"count\",\"annotations\":{\"destructiveHint\":true}},"
                   "{\"name\":\"sum\",\"annotations\":{\"readOnlyHint\":true},\"inputSchema\":{"
                   "\"type\":\"object\",\"properties\":{},\"additionalProperties\":false}}]}");
    world_open(&w, a);
    CHECK(state_of(&w, 0).cached && state_of(&w, 0).tools == 4);
    void *run = run_begin(&w, "me");
    Asked call;
    ask_begin(&w, run, &call, PTC_REMOTE_CALL, 0, 3, "{\"a\":1,\"b\":2}");
    CHECK(ask_end(&w, run, &call, answer, sizeof answer) && says("\"sum\":3"));
    ask_begin(&w, run, &call, PTC_REMOTE_CHECK, 0, 3, "{\"args\":{\"a\":1},\"open\":[]}");
    CHECK(ask_end(&w, run, &call, answer, sizeof answer) && says("\"issues\":[]"));
    CHECK(!ask1(&w, run, PTC_REMOTE_CALL_NAMED, "{\"server\":\"s\",\"tool\":\"gone\"}") &&
          says("has no tool"));
    ask_begin(&w, run, &call, PTC_REMOTE_CALL, 0, 0, "{}");
    CHECK(!ask_end(&w, run, &call, answer, sizeof answer) && says("no longer has"));
    ask_begin(&w, run, &call, PTC_REMOTE_CALL, 0, 1, "{\"text\":\"x\"}");
    CHECK(!ask_end(&w, run, &call, answer, sizeof answer) && says("denied"));
    CHECK(ask1(&w, run, PTC_REMOTE_LOOKUP, LOOKUP("s", "count")) && says("\"allow\""));
    CHECK(ask1(&w, run, PTC_REMOTE_CALL_NAMED, ECHO("s")));
    w.remote->end(run, NULL);
    CHECK(lines_of(&w, "s.count") == 2);
    world_end(&w);
}

/* ----------------------------------------------------------------------------------- secrets */

static void test_secrets(void)
{
    static const char secret[] = "t0ken/with\"odd&signs";
    static const char *const looks[] = {
        "{\"op\":\"servers\"}",
        "{\"op\":\"dir\",\"ns\":\"s\"}",
        "{\"op\":\"doc\",\"ns\":\"s\"}",
        "{\"op\":\"doc\",\"ns\":\"s\",\"name\":\"count\"}",
        "{\"op\":\"meta\",\"ns\":\"s\",\"name\":\"count\"}",
        "{\"op\":\"meta\",\"ns\":\"s\",\"name\":\"echo\"}",
    };
    World w;
    char a[1024], b[1024], both[2100], command[300];
    PtcMem own;
    PtcBuf call_log;
    world_init(&w);
    w.token = secret;
    snprintf(
        both, sizeof both, "%s,%s",
        entry(a, sizeof a, &w, "s", "echoes_credential", "1", ",\"env\":{\"TOKEN\":\"${TOKEN}\"}"),
        entry(b, sizeof b, &w, "t", "echoes_credential,exit_at_start", "1",
              ",\"env\":{\"TOKEN\":\"${TOKEN}\"},\"call_timeout_ms\":1000"));
    world_open(&w, both);
    ptc_mem_init(&own, SIZE_MAX / 2);
    ptc_buf_init(&call_log, &own, 1 << 20);
    void *run = run_begin(&w, "me");
    CHECK(ask1(&w, run, PTC_REMOTE_CALL_NAMED, ECHO("s")) && says("[secret]") &&
          !strstr(answer, "t0ken"));
    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++)
        CHECK(ask1(&w, run, PTC_REMOTE_LOOK, looks[i]) && !strstr(answer, "t0ken"));
    CHECK(ask1(&w, run, PTC_REMOTE_LOOKUP, LOOKUP("s", "count")) && !strstr(answer, "t0ken"));
    CHECK(ask1(&w, run, PTC_REMOTE_CALL_NAMED, "{\"server\":\"s\",\"tool\":\"big\"}") &&
          says("blob-1"));
    CHECK(ask1(&w, run, PTC_REMOTE_BLOB, "{\"ref\":\"blob-1\"}") && says("[secret]"));
    CHECK(!ask1(&w, run, PTC_REMOTE_LOOKUP, LOOKUP("t", "echo")) && !strstr(answer, "t0ken") &&
          says("[secret]"));
    CHECK(!ask1(&w, run, PTC_REMOTE_CALL_NAMED, ECHO("t")) && !strstr(answer, "t0ken"));
    CHECK(!strstr(state_of(&w, 1).reason, "t0ken"));
    w.remote->end(run, &call_log);
    CHECK(!strstr(ptc_buf_text(&call_log), "t0ken"));
    ptc_buf_deinit(&call_log);
    world_close(&w);
    snprintf(command, sizeof command, "! grep -rq t0ken '%s'", w.cache);
    CHECK(system(command) == 0);
    world_remove(&w);
}

/* A secret that is a number, and one behind an escape: what is left is JSON. */
static void test_secret_number(void)
{
    World w;
    char a[1024];
    world_init(&w);
    w.token = "123456789012";
    world_open(&w, entry(a, sizeof a, &w, "s", "number", "1", ",\"env\":{\"TOKEN\":\"${TOKEN}\"}"));
    void *run = run_begin(&w, "me");
    CHECK(ask1(&w, run, PTC_REMOTE_CALL_NAMED, ECHO("s")) &&
          says("{\"id\":\"[secret]\",\"ok\":true,\"x\":\"\\n[secret]\"}"));
    w.remote->end(run, NULL);
    world_end(&w);
}

/* What a server wrote before it ended may be anything; what is told of it is text, also where it was cut. */
static void test_last_words(void)
{
    World w;
    world_init(&w);
    world_open(&w, "\"s\":{\"command\":\"python3\",\"args\":[\"-c\",\"import os; os.write(2, "
                   "b'caf\\\\xe9 ' + b'\\\\xc3\\\\xa9' * 400); raise SystemExit(1)\"]}");
    void *run = run_begin(&w, "me");
    CHECK(!ask1(&w, run, PTC_REMOTE_LOOKUP, LOOKUP("s", "echo")) && says("caf?"));
    PtcUpstreamState state = state_of(&w, 0);
    CHECK(strstr(state.reason, "caf?") && ptc_utf8_valid(state.reason, strlen(state.reason)));
    w.remote->end(run, NULL);
    world_end(&w);
}

/* A person is shown the arguments, and nothing else of what would be sent. */
static void test_question(void)
{
    World w;
    char a[1024];
    PtcMem own;
    PtcBuf shown;
    world_init(&w);
    world_open(&w, entry(a, sizeof a, &w, "s", "", "1", ""));
    ptc_mem_init(&own, SIZE_MAX / 2);
    ptc_buf_init(&shown, &own, 1 << 16);
    void *run = run_begin(&w, "me");
    w.remote->allow(run, PTC_REMOTE_ASKS);
    PtcTraceContext trace = {
        .parent = PTC_TEXT("00-0123456789abcdef0123456789abcdef-0123456789abcdef-01")};
    w.remote->trace(run, &trace);
    CHECK(!ask1(&w, run, PTC_REMOTE_CALL_NAMED,
                "{\"server\":\"s\",\"tool\":\"write\",\"args\":{\"text\":\"x\"}}") &&
          says("suspended"));
    /* what nobody could read is not decided */
    ptc_mem_fail_at(&own, 1);
    CHECK(w.remote->question(run, &shown, NULL) == 0 && shown.failed);
    ptc_mem_fail_at(&own, 0);
    ptc_buf_clear(&shown);
    CHECK(w.remote->decide(run, PTC_REMOTE_ALWAYS, NULL));
    CHECK(w.remote->question(run, NULL, NULL) == 1);
    CHECK(w.remote->question(run, &shown, NULL) == 1);
    CHECK_STR(ptc_buf_text(&shown), "\n1. destructive \"s\"/\"write\" {\"text\":\"x\"}");
    ptc_buf_deinit(&shown);
    CHECK(w.remote->decide(run, PTC_REMOTE_ALWAYS, NULL));
    w.remote->end(run, NULL);
    /* whoever cannot be asked inherits nothing, unless it is a command of the person's own */
    static const PtcRemoteMode modes[] = {PTC_REMOTE_REFUSES, PTC_REMOTE_GRANTED, PTC_REMOTE_ASKS};
    for (size_t i = 0; i < 3; i++) {
        run = run_begin(&w, "me");
        w.remote->allow(run, modes[i]);
        CHECK(ask1(&w, run, PTC_REMOTE_CALL_NAMED,
                   "{\"server\":\"s\",\"tool\":\"write\",\"args\":{\"text\":\"x\"}}") == (i > 0));
        w.remote->end(run, NULL);
    }
    world_end(&w);
}

/* Checking arguments against a schema that takes forever ends with the run. */
static void test_slow_schema(void)
{
    World w;
    char a[1024];
    uint64_t version;
    PtcCancel cancel = {0};
    struct timespec spent;
    world_init(&w);
    world_open(&w, entry(a, sizeof a, &w, "s", "slow_schema", "1", ""));
    void *run = run_begin(&w, "me");
    CHECK(ask1(&w, run, PTC_REMOTE_CALL_NAMED, "{\"server\":\"s\",\"tool\":\"count\"}"));
    w.remote->end(run, NULL);
    run = w.remote->begin(w.remote, "me", INT64_MAX, &cancel, &version);
    ptc_cancel_ask(&cancel);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
    int64_t before = spent.tv_sec * 1000 + spent.tv_nsec / 1000000;
    CHECK(!ask1(&w, run, PTC_REMOTE_CALL_NAMED, ECHO("s")));
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
    CHECK(spent.tv_sec * 1000 + spent.tv_nsec / 1000000 - before < 500);
    w.remote->end(run, NULL);
    CHECK(lines_of(&w, "s.count") == 1);
    world_close(&w);
    world_remove(&w);
}

/* ------------------------------------------------------------------------------------- crowd */

/* Eight upstreams have all calls there may be; those to the ninth go out when one of theirs ends. */
static void test_crowd(void)
{
    enum { SERVERS = 9, EACH = 8 };
    static Asked asked[SERVERS * EACH];
    World w;
    char all[SERVERS * 700], text[128];
    size_t len = 0;
    world_init(&w);
    for (int i = 0; i < SERVERS; i++) {
        char a[700], name[8];
        snprintf(name, sizeof name, "s%d", i);
        len += (size_t)snprintf(all + len, sizeof all - len, "%s%s", i ? "," : "",
                                entry(a, sizeof a, &w, name, i < SERVERS - 1 ? "slow" : "", "1",
                                      ",\"call_timeout_ms\":120000"));
    }
    world_open(&w, all);
    void *run = run_begin(&w, "me");
    for (int i = 0; i < SERVERS; i++) {
        snprintf(text, sizeof text, "{\"ns\":\"s%d\",\"name\":\"echo\"}", i);
        CHECK(ask1(&w, run, PTC_REMOTE_LOOKUP, text));
    }
    int64_t begun = ptc_clock_ns(NULL);
    for (int i = 0; i < SERVERS * EACH; i++) {
        snprintf(text, sizeof text,
                 "{\"server\":\"s%d\",\"tool\":\"echo\",\"args\":{\"text\":\"hi\"}}", i / EACH);
        ask_begin(&w, run, &asked[i], PTC_REMOTE_CALL_NAMED, 0, 0, text);
    }
    for (int i = 0; i < SERVERS * EACH; i++)
        CHECK(ask_end(&w, run, &asked[i], answer, sizeof answer));
    CHECK(ptc_clock_ns(NULL) - begun < (int64_t)100 * 1000000000);
    w.remote->end(run, NULL);
    world_end(&w);
}

/* ----------------------------------------------------------------------------------- threads */

typedef struct {
    World *w;
    unsigned seed;
    long answered;
} Worker;

static const struct {
    PtcRemoteOp op;
    const char *text;
} things[] = {
    {PTC_REMOTE_CALL_NAMED, ECHO("s")},
    {PTC_REMOTE_CALL_NAMED, ECHO("slow")},
    {PTC_REMOTE_CALL_NAMED, ECHO("dies")},
    {PTC_REMOTE_CALL, "{\"text\":\"hi\"}"},
    {PTC_REMOTE_LOOKUP, LOOKUP("s", "sum")},
    {PTC_REMOTE_LOOKUP, LOOKUP("dies", "nothing")},
    {PTC_REMOTE_LOOKUP, LOOKUP("nobody", "nothing")},
    {PTC_REMOTE_CHECK, "{\"args\":{\"text\":1},\"open\":[]}"},
    {PTC_REMOTE_LOOK, "{\"op\":\"servers\"}"},
    {PTC_REMOTE_LOOK, "{\"op\":\"apropos\",\"query\":\"say again\"}"},
    {PTC_REMOTE_LOOK, "{\"op\":\"doc\",\"ns\":\"s\",\"name\":\"echo\"}"},
    {PTC_REMOTE_BLOB, "{\"ref\":\"blob-1\"}"},
    {PTC_REMOTE_RESOURCE, "{\"server\":\"s\",\"uri\":\"file:///x\"}"},
    {PTC_REMOTE_CALL_NAMED, "{\"server\":\"s\",\"tool\":\"big\",\"args\":{\"bytes\":100000}}"},
};
enum { THINGS = sizeof things / sizeof *things };

static void *work(void *user)
{
    Worker *worker = user;
    World *w = worker->w;
    char out[1024], owner[2] = {(char)('a' + worker->seed % 2), 0};
    void *run = run_begin(w, owner);
    PtcMem own;
    PtcBuf call_log;
    ptc_mem_init(&own, SIZE_MAX / 2);
    ptc_buf_init(&call_log, &own, 1 << 20);
    for (int i = 0; i < ASKS; i++) {
        Asked asked[3];
        int n = 1 + (int)(rand_r(&worker->seed) % 3);
        for (int k = 0; k < n; k++) {
            unsigned what = (unsigned)rand_r(&worker->seed) % THINGS;
            ask_begin(w, run, &asked[k], things[what].op, 0, 0, things[what].text);
        }
        for (int k = 0; k < n; k++) {
            if (rand_r(&worker->seed) % 4 == 0 && asked[k].status == PTC_REMOTE_PENDING)
                w->remote->cancel(run, &asked[k].base);
            (void)ask_end(w, run, &asked[k], out, sizeof out);
            worker->answered += out[0] != '\0';
        }
        i += n - 1;
    }
    w->remote->end(run, &call_log);
    ptc_buf_deinit(&call_log);
    return NULL;
}

static void test_threads(void)
{
    World w;
    char a[1024], b[1024], c[1024], all[3200];
    pthread_t threads[THREADS];
    Worker workers[THREADS];
    long answered = 0;
    world_init(&w);
    snprintf(all, sizeof all, "%s,%s,%s", entry(a, sizeof a, &w, "s", "", "1", ""),
             entry(b, sizeof b, &w, "slow", "slow", "0.02", ",\"max_concurrency\":3"),
             entry(c, sizeof c, &w, "dies", "dies", "1", ",\"call_timeout_ms\":700"));
    world_open(&w, all);
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (Worker){.w = &w, .seed = i + 1};
        CHECK(pthread_create(&threads[i], NULL, work, &workers[i]) == 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        answered += workers[i].answered;
    }
    CHECK(answered >= THREADS * ASKS);
    void *run = run_begin(&w, "a");
    CHECK(ask1(&w, run, PTC_REMOTE_CALL_NAMED, ECHO("s")) && says("hi"));
    w.remote->end(run, NULL);
    world_end(&w);
}

/* ------------------------------------------------------------------------------------ memory */

/* Two allocations in a row fail, then others in another try: whatever happens, every ask ends, and afterwards all is
 * well. */
static void test_no_memory(bool running, uint64_t step)
{
    World w;
    char a[1024];
    int64_t end = ptc_clock_ns(NULL) + (int64_t)60 * 1000000000;
    bool reached = true;
    for (uint64_t n = 1; reached && ptc_clock_ns(NULL) < end; n += step) {
        world_init(&w);
        world_open(&w, entry(a, sizeof a, &w, "s", "", "1", ",\"call_timeout_ms\":5000"));
        void *run = run_begin(&w, "me");
        for (int times = running ? 20 : 1; times; times--, n += running ? step : 0) {
            if (running)
                CHECK(ask1(&w, run, PTC_REMOTE_CALL_NAMED, ECHO("s")) || n > 1);
            ptc_mem_fail_at(&w.mem, n);
            (void)ask1(&w, run, PTC_REMOTE_LOOKUP, LOOKUP("s", "count"));
            (void)ask1(&w, run, PTC_REMOTE_CALL_NAMED, ECHO("s"));
            (void)ask1(&w, run, PTC_REMOTE_LOOK, "{\"op\":\"doc\",\"ns\":\"s\",\"name\":\"sum\"}");
            reached = atomic_load(&w.mem.count) >= n;
            ptc_mem_fail_at(&w.mem, 0);
        }
        w.remote->end(run, NULL);
        bool ok = false;
        for (int again = 0; again < 100 && !ok; again++) {
            run = run_begin(&w, "me");
            ok = ask1(&w, run, PTC_REMOTE_CALL_NAMED, ECHO("s"));
            w.remote->end(run, NULL);
            if (!ok)
                check_pause_us(200000);
        }
        CHECK(ok);
        world_end(&w);
    }
}

int main(int argc, char **argv)
{
    if (ptc_leash_asked(argc, argv))
        return ptc_leash_main(argc, argv);
    signal(SIGPIPE, SIG_IGN);
    const char *only = argc > 1 ? argv[1] : "";
#define RUN(call)            \
    if (strstr(#call, only)) \
    CHECK_RUN(call)
    RUN(test_plain());
    RUN(test_lies());
    RUN(test_caps());
    RUN(test_slow_start(false));
    RUN(test_slow_start(true));
    RUN(test_warm());
    RUN(test_failed_list());
    RUN(test_load());
    RUN(test_owners());
    RUN(test_ends_early());
    RUN(test_changed());
    RUN(test_idle());
    RUN(test_cache());
    RUN(test_old_cache());
    RUN(test_secrets());
    RUN(test_secret_number());
    RUN(test_last_words());
    RUN(test_question());
    RUN(test_slow_schema());
    RUN(test_crowd());
    RUN(test_threads());
    bool full = getenv("PTC_TEST_FULL") != NULL; /* each try starts a server */
    RUN(test_no_memory(true, full ? 1 : 2));
    RUN(test_no_memory(false, full ? 2 : 8));
    return check_done("test_upstream_manager");
}
