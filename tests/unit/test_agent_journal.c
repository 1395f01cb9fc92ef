/* SPDX-License-Identifier: MIT
 * test_agent_journal.c - journals in files: one run at a time, and whole at every moment, also when the run is
 * killed. */
#define _GNU_SOURCE
#include "check.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/run/journal_file.h"
#include "json/check.h"

static char dir[] = "/tmp/ptc-journal-XXXXXX";
static char path[200];
static PtcMem mem;

static PtcJournalFile *open_it(const char *name, PtcWhy *why)
{
    ptc_why_init(why);
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return ptc_journal_file_open(&mem, path, why);
}

static void write_plain(const char *name, const char *text)
{
    char full[200];
    snprintf(full, sizeof full, "%s/%s", dir, name);
    FILE *f = fopen(full, "w");
    CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

static void test_write_and_read(void)
{
    PtcWhy why;
    PtcJournalFile *f = open_it("a", &why);
    CHECK(f && !ptc_journal_file_text(f).bytes);
    CHECK(f && ptc_journal_file_write(f, PTC_TEXT("{\"x\":1}"), &why));
    CHECK(f && ptc_journal_file_write(f, PTC_TEXT("{\"x\":2}"), &why));
    ptc_journal_file_close(f);
    struct stat st;
    CHECK(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600);
    f = open_it("a", &why);
    CHECK(f && ptc_text_is(ptc_journal_file_text(f), "{\"x\":2}\n"));
    ptc_journal_file_close(f);
    CHECK(atomic_load(&mem.used) == 0);
}

static void test_lock(void)
{
    PtcWhy why;
    PtcJournalFile *f = open_it("b", &why), *second = open_it("b", &why);
    CHECK(f && !second && strstr(why.text, "another run"));
    ptc_journal_file_close(f);
    f = open_it("b", &why);
    CHECK(f != NULL);
    ptc_journal_file_close(f);
}

static void test_bad_places(void)
{
    PtcWhy why;
    char full[300];
    CHECK(!open_it("no/such/dir", &why) && why.text[0]);
    snprintf(full, sizeof full, "%s/folder", dir);
    CHECK(mkdir(full, 0700) == 0);
    CHECK(!open_it("folder", &why) && strstr(why.text, "regular"));
    snprintf(full, sizeof full, "%s/pipe", dir);
    CHECK(mkfifo(full, 0600) == 0);
    CHECK(!open_it("pipe", &why) && strstr(why.text, "regular"));
    char *longest = malloc(6000);
    memset(longest, 'x', 5999);
    longest[5999] = 0;
    CHECK(!ptc_journal_file_open(&mem, longest, &why) && why.text[0]);
    free(longest);
    CHECK(atomic_load(&mem.used) == 0);
}

/* What another run left behind, or somebody put there, is no obstacle and nothing is written through it. */
static void test_leftovers(void)
{
    PtcWhy why;
    char next[300], victim[300];
    write_plain("c.next", "half");
    PtcJournalFile *f = open_it("c", &why);
    CHECK(f && ptc_journal_file_write(f, PTC_TEXT("{}"), &why));
    snprintf(next, sizeof next, "%s/c.next", dir);
    snprintf(victim, sizeof victim, "%s/victim", dir);
    write_plain("victim", "keep");
    CHECK(symlink(victim, next) == 0);
    CHECK(f && ptc_journal_file_write(f, PTC_TEXT("{\"y\":1}"), &why));
    ptc_journal_file_close(f);
    struct stat st;
    CHECK(stat(victim, &st) == 0 && st.st_size == 4);
    CHECK(lstat(next, &st) != 0);
}

/* A process that writes longer and longer journals until it is killed. */
static void write_forever(void)
{
    PtcWhy why;
    static char text[20000];
    PtcMem own;
    ptc_mem_init(&own, SIZE_MAX / 2);
    PtcJournalFile *f = ptc_journal_file_open(&own, path, &why);
    for (int n = 0; f; n = (n + 997) % 19000) {
        int at = snprintf(text, sizeof text, "{\"n\":\"");
        memset(text + at, 'x', (size_t)n);
        snprintf(text + at + n, sizeof text - (size_t)(at + n), "\"}");
        if (!ptc_journal_file_write(f, ptc_text_cstr(text), &why))
            break;
    }
    _exit(1);
}

static void test_killed(void)
{
    enum { TIMES = 25 };
    PtcWhy why;
    uint64_t random = 88172645463325252u;
    snprintf(path, sizeof path, "%s/k", dir);
    for (int i = 0; i < TIMES; i++) {
        int status;
        pid_t pid = fork();
        if (pid == 0)
            write_forever();
        while (access(path, F_OK) != 0)
            check_pause_us(200);
        check_pause_us((long)(check_random(&random) % 8000));
        CHECK(kill(pid, SIGKILL) == 0 && waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
        PtcJournalFile *f = ptc_journal_file_open(&mem, path, &why);
        PtcText text = f ? ptc_journal_file_text(f) : (PtcText){NULL, 0};
        CHECK(text.len > 3 && text.bytes[text.len - 1] == '\n' &&
              ptc_json_is_line(text.bytes, text.len - 1));
        ptc_journal_file_close(f);
    }
}

static void test_no_memory(void)
{
    PtcWhy why;
    write_plain("m", "{\"a\":1}\n");
    snprintf(path, sizeof path, "%s/m", dir);
    for (uint64_t n = 1; n < 6; n++) {
        ptc_mem_fail_at(&mem, n);
        PtcJournalFile *f = ptc_journal_file_open(&mem, path, &why);
        CHECK(f ? ptc_text_is(ptc_journal_file_text(f), "{\"a\":1}\n") : why.text[0] != 0);
        ptc_mem_fail_at(&mem, 0);
        ptc_journal_file_close(f);
        CHECK(atomic_load(&mem.used) == 0);
    }
}

int main(void)
{
    char command[300];
    ptc_mem_init(&mem, SIZE_MAX / 2);
    CHECK(mkdtemp(dir) != NULL);
    CHECK_RUN(test_write_and_read());
    CHECK_RUN(test_lock());
    CHECK_RUN(test_bad_places());
    CHECK_RUN(test_leftovers());
    CHECK_RUN(test_killed());
    CHECK_RUN(test_no_memory());
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    CHECK(system(command) == 0);
    return check_done("agent_journal");
}
