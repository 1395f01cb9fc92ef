/* SPDX-License-Identifier: MIT
 * Lines of the terminal.  What always holds: whoever waits for one stops when the run is cancelled. */
#include "cli/term/terminal_line.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "cli/io.h"

enum { WAKE_MS = 200 };

bool ptc_terminal_line_possible(void)
{
    return isatty(PTC_IO_STDERR) == 1 && isatty(PTC_IO_STDIN) == 1;
}

bool ptc_terminal_line_open(PtcTerminalLine *line, const PtcCancel *cancel)
{
    line->fd = open("/dev/tty", O_RDONLY | O_CLOEXEC);
    line->cancel = cancel;
    line->len = 0;
    ptc_terminal_line_forget(line);
    return line->fd >= 0;
}

void ptc_terminal_line_forget(const PtcTerminalLine *line)
{
    (void)tcflush(line->fd, TCIFLUSH);
}

void ptc_terminal_line_close(PtcTerminalLine *line)
{
    close(line->fd);
}

/* Waits for a key; false: the run was cancelled, or the terminal is gone.  A signal may be handled by another thread,
 * so it need not interrupt this one. */
static bool wait_key(const PtcTerminalLine *line)
{
    struct pollfd p = {.fd = line->fd, .events = POLLIN};
    int ready;
    do {
        ready = ptc_cancelled(line->cancel) ? -1 : poll(&p, 1, WAKE_MS);
    } while (ready == 0 || (ready < 0 && errno == EINTR && !ptc_cancelled(line->cancel)));
    return ready > 0;
}

static bool is_blank_char(char c)
{
    return (unsigned char)c <= ' ';
}

static void trim_terminal_line(PtcTerminalLine *line)
{
    size_t from = 0;
    while (line->len > 0 && is_blank_char(line->text[line->len - 1]))
        line->len--;
    while (from < line->len && is_blank_char(line->text[from]))
        from++;
    line->len -= from;
    memmove(line->text, line->text + from, line->len);
}

PtcTerminalTyped ptc_terminal_line_read(PtcTerminalLine *line)
{
    line->len = 0;
    line->cut = false;
    for (;;) {
        char c;
        if (!wait_key(line))
            return PTC_TERMINAL_GONE;
        ssize_t got = read(line->fd, &c, 1);
        if (got != 1)
            return got == 0 ? PTC_TERMINAL_END : PTC_TERMINAL_GONE;
        if (c == '\n')
            break;
        line->cut = line->cut || line->len == sizeof line->text;
        if (!line->cut)
            line->text[line->len++] = c;
    }
    trim_terminal_line(line);
    return PTC_TERMINAL_LINE;
}
