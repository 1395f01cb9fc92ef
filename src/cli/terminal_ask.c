/* SPDX-License-Identifier: MIT
 * The question goes to the terminal itself, since standard input may be the program and standard output its result.  What
 * always holds: anything but a yes that was typed is no yes; the end of input and an interrupt end the run. */
#include "cli/terminal_ask.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "cli/io.h"
#include "exec/asked_calls.h"
#include "upstream/desk.h"

enum { LIST_BYTES = 64 * 1024, HEAP_BYTES = 8 << 20, TRIES = 5, WAKE_MS = 200 };

static const struct {
    const char *word;
    char key;
    int decision; /* PtcRemoteDecision; -1: the run ends */
} answers[] = {{"once", 'o', PTC_REMOTE_ONCE},
               {"yes", 'y', PTC_REMOTE_ONCE},
               {"run", 'r', PTC_REMOTE_RUN},
               {"process", 'p', PTC_REMOTE_PROCESS},
               {"always", 'a', PTC_REMOTE_ALWAYS},
               {"no", 'n', PTC_REMOTE_NO},
               {"cancel", 'c', -1}};

bool ptc_terminal_can_ask(void)
{
    return isatty(PTC_IO_STDERR) == 1 && isatty(PTC_IO_STDIN) == 1;
}

/* -2: none of them. */
static int read_answer(PtcText line)
{
    while (line.len > 0 && (unsigned char)line.bytes[line.len - 1] <= ' ')
        line.len--;
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        if (ptc_text_is(line, answers[i].word) ||
            (line.len == 1 && line.bytes[0] == answers[i].key))
            return answers[i].decision;
    return -2;
}

/* False: they cannot be shown, since memory is short. */
static bool show_calls(PtcMem *mem, PtcRemote *remote, void *run)
{
    PtcDesk desk;
    PtcBuf list, shown;
    ptc_desk_init(&desk, mem, HEAP_BYTES);
    ptc_buf_init(&list, mem, LIST_BYTES);
    ptc_buf_init(&shown, mem, LIST_BYTES);
    PtcAskedCalls calls = {remote, run, &desk.heap, mem};
    size_t n = ptc_asked_calls_add(&calls, &list, NULL);
    ptc_buf_addf(&shown, "The program wants to make %zu call%s:", n, n == 1 ? "" : "s");
    ptc_buf_add(&shown, list.data, list.len);
    ptc_buf_add_char(&shown, '\n');
    bool ok = ptc_buf_ok(&list) && ptc_buf_ok(&shown);
    if (ok)
        ok = ptc_io_write(PTC_IO_STDERR, shown.data, shown.len);
    ptc_buf_deinit(&shown);
    ptc_buf_deinit(&list);
    ptc_desk_deinit(&desk);
    return ok;
}

/* Waits for a key; false: the run was cancelled, or the terminal is gone.  A signal may be handled by another thread, so it
 * need not interrupt this one. */
static bool wait_key(int fd, const PtcCancel *cancel)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    int ready;
    do {
        ready = ptc_cancelled(cancel) ? -1 : poll(&p, 1, WAKE_MS);
    } while (ready == 0 || (ready < 0 && errno == EINTR && !ptc_cancelled(cancel)));
    return ready > 0;
}

/* A line of the terminal; false: the end of input, or an interrupt. */
static bool read_line(int fd, const PtcCancel *cancel, char *line, size_t size, size_t *len)
{
    *len = 0;
    for (;;) {
        char c;
        if (!wait_key(fd, cancel) || read(fd, &c, 1) != 1)
            return false;
        if (c == '\n')
            return true;
        if (*len < size)
            line[(*len)++] = c;
    }
}

bool ptc_terminal_ask(PtcMem *mem, PtcRemote *remote, void *run, const PtcCancel *cancel)
{
    char line[64];
    size_t len;
    int answer = -2, fd = open("/dev/tty", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    if (!show_calls(mem, remote, run))
        answer = -1;
    for (int i = 0; i < TRIES && answer == -2; i++) {
        ptc_io_printf(PTC_IO_STDERR,
                      "yes, once (y), for this run (r), until ptc ends (p), always (a), no "
                      "(n), or cancel (c)? ");
        answer =
            read_line(fd, cancel, line, sizeof line, &len) ? read_answer((PtcText){line, len}) : -1;
    }
    close(fd);
    if (answer < 0)
        return false;
    if (!remote->decide(run, (PtcRemoteDecision)answer))
        ptc_io_printf(PTC_IO_STDERR, "this could not be kept for later\n");
    return true;
}
