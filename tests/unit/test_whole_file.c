/* SPDX-License-Identifier: MIT
 * Whole files: written, replaced, kept, read, locked. */
#define _GNU_SOURCE
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os/whole_file.h"

static char dir[64];
static PtcMem mem;

static const char *at(const char *name)
{
    static char path[8][160];
    static int next;
    char *p = path[next++ % 8];
    snprintf(p, 160, "%s/%s", dir, name);
    return p;
}

static bool holds(const char *path, const char *text)
{
    PtcBuf buf;
    ptc_buf_init(&buf, &mem, 4096);
    bool same = ptc_whole_file_read(path, &buf) && ptc_text_is(ptc_buf_view(&buf), text);
    ptc_buf_deinit(&buf);
    return same;
}

static unsigned mode_of(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? st.st_mode & 0777 : 0;
}

static int files_in_dir(void)
{
    char command[128];
    int n = -1;
    snprintf(command, sizeof command, "ls -A %s | wc -l", dir);
    FILE *f = popen(command, "r");
    if (!f || fscanf(f, "%d", &n) != 1)
        n = -1;
    if (f)
        pclose(f);
    return n;
}

static void test_put(void)
{
    CHECK(ptc_whole_file_put(at("a/b/c"), PTC_TEXT("one"), (PtcWholeFile){.dirs = true}));
    CHECK(holds(at("a/b/c"), "one"));
    CHECK(mode_of(at("a/b/c")) == 0600);
    CHECK(mode_of(at("a/b")) == 0700);
    CHECK(ptc_whole_file_put(at("a/b/c"), PTC_TEXT("two"), (PtcWholeFile){.line = true}));
    CHECK(holds(at("a/b/c"), "two\n"));
    CHECK(ptc_whole_file_put(at("a/b/c"), PTC_TEXT("three"), (PtcWholeFile){.only_new = true}));
    CHECK(holds(at("a/b/c"), "two\n"));
    CHECK(ptc_whole_file_put(at("new"), PTC_TEXT("four"),
                             (PtcWholeFile){.only_new = true, .synced = true}));
    CHECK(holds(at("new"), "four"));
    CHECK(!ptc_whole_file_put(at("none/x"), PTC_TEXT("five"), (PtcWholeFile){0}));
    CHECK(errno == ENOENT);
    CHECK(files_in_dir() == 2); /* nothing is left beside them */
}

static void test_left_over(void)
{
    int fd = open(at("j.next"), O_WRONLY | O_CREAT, 0600);
    CHECK(fd >= 0 && close(fd) == 0);
    CHECK(ptc_whole_file_put(at("j"), PTC_TEXT("{}"), (PtcWholeFile){.locked = true}));
    CHECK(holds(at("j"), "{}"));
    CHECK(access(at("j.next"), F_OK) != 0);
}

static void test_links(void)
{
    CHECK(ptc_whole_file_put(at("real"), PTC_TEXT("kept"), (PtcWholeFile){0}));
    CHECK(symlink(at("real"), at("link")) == 0);
    CHECK(!holds(at("link"), "kept"));
    CHECK(ptc_whole_file_put(at("link"), PTC_TEXT("own"), (PtcWholeFile){0}));
    CHECK(holds(at("real"), "kept") && holds(at("link"), "own"));
}

static void test_loose(void)
{
    PtcBuf buf;
    CHECK(ptc_whole_file_put(at("loose"), PTC_TEXT("text"), (PtcWholeFile){0}));
    CHECK(chmod(at("loose"), 0622) == 0 && !holds(at("loose"), "text"));
    CHECK(errno == EPERM);
    CHECK(chmod(at("loose"), 0644) == 0 && holds(at("loose"), "text"));
    CHECK(!holds(at("missing"), "") && errno == ENOENT);
    CHECK(!holds(dir, ""));
    ptc_buf_init(&buf, &mem, 3);
    CHECK(!ptc_whole_file_read(at("loose"), &buf) && errno == EFBIG);
    ptc_buf_deinit(&buf);
}

/* The child holds the lock until the parent has seen that it is held. */
static void test_lock(void)
{
    int there[2], go[2];
    char byte = 0;
    CHECK(pipe(there) == 0 && pipe(go) == 0);
    pid_t child = fork();
    if (child == 0) {
        close(go[1]);
        bool held = ptc_whole_file_lock(at("lock"), 0) >= 0 && write(there[1], &byte, 1) == 1;
        _exit(held && read(go[0], &byte, 1) == 0 ? 0 : 1);
    }
    CHECK(child > 0 && read(there[0], &byte, 1) == 1);
    CHECK(ptc_whole_file_lock(at("lock"), 20) < 0 && errno == EWOULDBLOCK);
    close(go[1]);
    int status = 1, fd = ptc_whole_file_lock(at("lock"), 60 * 1000);
    CHECK(fd >= 0);
    close(fd);
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static void test_unread(void)
{
    PtcMem none;
    PtcBuf buf;
    CHECK(ptc_whole_file_put(at("long"), PTC_TEXT("some text"), (PtcWholeFile){.line = true}));
    ptc_buf_init(&buf, &mem, 4);
    CHECK(!ptc_whole_file_read(at("long"), &buf) && errno == EFBIG);
    ptc_buf_deinit(&buf);
    ptc_mem_init(&none, 0);
    ptc_buf_init(&buf, &none, 4096);
    CHECK(!ptc_whole_file_read(at("long"), &buf) && errno == ENOMEM);
    ptc_buf_deinit(&buf);
}

int main(void)
{
    snprintf(dir, sizeof dir, "/tmp/ptc-whole-XXXXXX");
    CHECK(mkdtemp(dir) != NULL);
    ptc_mem_init(&mem, 1 << 20);
    umask(022);
    test_put();
    test_left_over();
    test_links();
    test_loose();
    test_lock();
    test_unread();
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", dir);
    CHECK(system(command) == 0);
    return check_done("whole_file");
}
