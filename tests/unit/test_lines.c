/* SPDX-License-Identifier: MIT
 * Lines of a descriptor: pieces as a pipe brings them, lines that are too long, a last line without its end, a request
 * to stop, memory that fails. */
#include "net/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"

static PtcMem mem;

/* A thread that writes pieces of a text, of chance sizes, and then closes. */
typedef struct {
    int fd;
    const char *text;
    size_t len, most;
    uint64_t seed;
} Writer;

static void *write_pieces(void *user)
{
    Writer *w = user;
    for (size_t at = 0; at < w->len;) {
        size_t n = 1 + (size_t)(check_random(&w->seed) % w->most);
        n = n < w->len - at ? n : w->len - at;
        ssize_t done = write(w->fd, w->text + at, n);
        if (done <= 0)
            break;
        at += (size_t)done;
    }
    close(w->fd);
    return NULL;
}

/* What was read, one line in brackets after the other, `~` for one that was too long. */
static const char *read_all(const char *text, size_t len, size_t max, size_t most, bool blocks)
{
    static char seen[1 << 16];
    PtcLines lines;
    PtcText line;
    PtcLineStatus status;
    int fds[2];
    size_t n = 0;
    pthread_t thread;
    CHECK(pipe(fds) == 0);
    if (!blocks)
        fcntl(fds[0], F_SETFL, O_NONBLOCK);
    Writer writer = {fds[1], text, len, most, 0x9e3779b97f4a7c15};
    CHECK(pthread_create(&thread, NULL, write_pieces, &writer) == 0);
    ptc_lines_init(&lines, &mem, fds[0], max);
    while ((status = ptc_lines_next(&lines, &line)) != PTC_LINE_END && status != PTC_LINE_FAILED) {
        CHECK((status == PTC_LINE_OK) == (line.bytes != NULL));
        n += (size_t)snprintf(seen + n, sizeof seen - n, status == PTC_LINE_OK ? "(%.*s)" : "~",
                              (int)line.len, line.bytes ? line.bytes : "");
    }
    CHECK(status == PTC_LINE_END);
    CHECK(ptc_lines_next(&lines, &line) == PTC_LINE_END);
    CHECK(lines.buf.cap <= max + 3 * 64 * 1024);
    seen[n] = 0;
    ptc_lines_deinit(&lines);
    pthread_join(thread, NULL);
    close(fds[0]);
    return seen;
}

static void test_lines(void)
{
    static const char text[] = "one\n\ntwo\r\n1234567890\n12345678901\nlast";
    for (size_t most = 1; most < 40; most += 3)
        for (int blocks = 0; blocks < 2; blocks++)
            CHECK_STR(read_all(text, sizeof text - 1, 10, most, blocks),
                      "(one)()(two\r)(1234567890)~(last)");
    CHECK_STR(read_all("", 0, 10, 1, true), "");
    CHECK_STR(read_all("\n", 1, 10, 1, true), "()");
    CHECK_STR(read_all("12345678901", 11, 10, 4, true), "~");
}

/* A line much longer than the bound takes no memory, and what follows is read. */
static void test_too_long(void)
{
    enum { LONG = 1 << 20 };
    char *text = malloc(LONG + 3);
    memset(text, 'x', LONG);
    memcpy(text + LONG, "\nok", 3);
    CHECK_STR(read_all(text, LONG + 3, 1000, 1 << 16, true), "~(ok)");
    free(text);
}

static void test_stop(void)
{
    PtcLines lines;
    PtcText line;
    int in[2], stop[2];
    CHECK(pipe(in) == 0 && pipe(stop) == 0);
    ptc_lines_init(&lines, &mem, in[0], 100);
    lines.stop = stop[0];
    CHECK(write(in[1], "a\nb\nhalf", 8) == 8);
    CHECK(ptc_lines_next(&lines, &line) == PTC_LINE_OK && ptc_text_is(line, "a"));
    CHECK(ptc_lines_pending(&lines));
    CHECK(write(stop[1], "", 1) == 1);
    CHECK(ptc_lines_next(&lines, &line) == PTC_LINE_OK && ptc_text_is(line, "b"));
    CHECK(ptc_lines_next(&lines, &line) == PTC_LINE_END);
    CHECK(ptc_lines_next(&lines, &line) == PTC_LINE_END);
    ptc_lines_deinit(&lines);
    for (int i = 0; i < 2; i++) {
        close(in[i]);
        close(stop[i]);
    }
}

static void test_failures(void)
{
    PtcLines lines;
    PtcText line;
    int fds[2];
    ptc_lines_init(&lines, &mem, -1, 100);
    CHECK(ptc_lines_next(&lines, &line) == PTC_LINE_FAILED && errno == EBADF);
    ptc_lines_deinit(&lines);
    CHECK(pipe(fds) == 0);
    ptc_mem_fail_at(&mem, 1);
    ptc_lines_init(&lines, &mem, fds[0], 100);
    CHECK(ptc_lines_next(&lines, &line) == PTC_LINE_FAILED && errno == ENOMEM);
    ptc_lines_deinit(&lines);
    ptc_mem_fail_at(&mem, 0);
    close(fds[0]);
    close(fds[1]);
}

int main(void)
{
    ptc_mem_init(&mem, SIZE_MAX / 2);
    test_lines();
    test_too_long();
    test_stop();
    test_failures();
    CHECK(ptc_line_is_blank(PTC_TEXT(" \t\r")) && !ptc_line_is_blank(PTC_TEXT(" x")));
    CHECK(atomic_load(&mem.used) == 0);
    return check_done("lines");
}
