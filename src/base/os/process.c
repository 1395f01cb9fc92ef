/* SPDX-License-Identifier: MIT
 * Child processes.  What always holds: a child and its leash have ended before ptc_process_run returns, and no signal
 * handler of the host is touched. */
#define _GNU_SOURCE /* pipe2, memfd_create */
#include "base/os/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/budget.h"
#include "base/os/leash.h"

enum {
    PROCESS_READ_BYTES = 16 * PTC_KB,
    LAST_BYTES = PTC_MB, /* more than a pipe can hold once its writer is gone */
    LEASH_MS = 10000,    /* more than a leash takes to end what is left of a child */
    OUT = 0,
    ERR = 1,
    PIPES = 2,
};

typedef struct Child {
    PtcProcess *process;
    pid_t leash;
    int control, in;
    int ends[PIPES], inner[PIPES]; /* of the pipes: ours, the child's; -1: closed */
} Child;

/* ------------------------------------------------------------------------- descriptors */

static void shut_descriptor(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static bool write_process_input(int fd, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t n = write(fd, bytes, len);
        if (n < 0 && errno != EINTR)
            return false;
        bytes += n > 0 ? n : 0;
        len -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* A file in memory rather than a pipe: a child that does not read it cannot block us. */
static bool open_input(Child *c)
{
    c->in = memfd_create("ptc-input", MFD_CLOEXEC);
    return ptc_leash_lift(&c->in) &&
           write_process_input(c->in, c->process->input, c->process->input_len) &&
           lseek(c->in, 0, SEEK_SET) == 0;
}

static bool open_pipe(Child *c, int i)
{
    int pair[2];
    if (pipe2(pair, O_CLOEXEC) != 0)
        return false;
    c->ends[i] = pair[0];
    c->inner[i] = pair[1];
    return ptc_leash_lift(&c->ends[i]) && ptc_leash_lift(&c->inner[i]) &&
           fcntl(c->ends[i], F_SETFL, O_NONBLOCK) == 0;
}

static void shut_all(Child *c)
{
    shut_descriptor(&c->in);
    shut_descriptor(&c->control);
    for (int i = 0; i < PIPES; i++) {
        shut_descriptor(&c->ends[i]);
        shut_descriptor(&c->inner[i]);
    }
}

/* ------------------------------------------------------------------------------- start */

static bool start_child(Child *c)
{
    PtcProcess *p = c->process;
    p->end = PTC_PROCESS_NO_START;
    bool opened = open_input(c) && open_pipe(c, OUT) && open_pipe(c, ERR);
    int fds[] = {c->in, c->inner[OUT], c->inner[ERR]};
    PtcLeashStart s = {.argv = (const char *const *)p->argv,
                       .envp = (const char *const *)p->envp,
                       .grace_ms = PTC_PROCESS_GRACE_MS,
                       .fds = fds};
    p->code = opened ? ptc_leash_start(p->out->mem, &s, &c->leash, &c->control) : errno;
    shut_descriptor(&c->in);
    shut_descriptor(&c->inner[OUT]);
    shut_descriptor(&c->inner[ERR]);
    if (p->code == ENOMEM)
        p->end = PTC_PROCESS_NO_MEMORY;
    return p->code == 0;
}

/* ------------------------------------------------------------------------------ output */

static void keep_last(PtcProcess *p, const char *bytes, size_t n)
{
    PtcBuf *buf = p->err;
    p->err_cut |= n > buf->max - buf->len;
    if (n > buf->max) {
        bytes += n - buf->max;
        n = buf->max;
    }
    if (n > buf->max - buf->len) { /* at least half of it is dropped, so that moving is rare */
        size_t over = buf->len + n - buf->max, half = buf->len / 2,
               drop = over > half ? over : half;
        buf->len -= drop;
        memmove(buf->data, buf->data + drop, buf->len);
    }
    ptc_buf_add(buf, bytes, n);
}

/* Reads at most `most` bytes of what is available; closes at the end.  False: there is too much. */
static bool take_child_output(Child *c, int i, size_t most)
{
    char bytes[PROCESS_READ_BYTES];
    PtcProcess *p = c->process;
    while (c->ends[i] >= 0 && most > 0) {
        ssize_t n = read(c->ends[i], bytes, sizeof bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return true;
        if (n <= 0) {
            shut_descriptor(&c->ends[i]);
            return true;
        }
        most -= (size_t)n < most ? (size_t)n : most;
        if (i == ERR)
            keep_last(p, bytes, (size_t)n);
        else if (!ptc_buf_add(p->out, bytes, (size_t)n))
            return false;
    }
    return true;
}

/* --------------------------------------------------------------------------------- end */

/* Waits for output or the end, for at most this long.  True: the child has ended. */
static bool await_end(const Child *c, bool output, int ms)
{
    struct pollfd all[] = {{c->control, POLLIN, 0},
                           {output ? c->ends[OUT] : -1, POLLIN, 0},
                           {output ? c->ends[ERR] : -1, POLLIN, 0}};
    return poll(all, sizeof all / sizeof *all, ms) > 0 && all[0].revents;
}

/* The leash has ended or does so in this moment.  One that says nothing was killed, and the child with it. */
static void reap_leash(Child *c)
{
    PtcProcess *p = c->process;
    PtcLeashEnd end = {0, SIGKILL};
    (void)!recv(c->control, &end, sizeof end, MSG_DONTWAIT);
    while (waitpid(c->leash, NULL, 0) < 0 && errno == EINTR)
        continue;
    p->end = end.error                 ? PTC_PROCESS_NO_START
             : WIFSIGNALED(end.status) ? PTC_PROCESS_KILLED
                                       : PTC_PROCESS_EXITED;
    p->code = end.error                 ? end.error
              : WIFSIGNALED(end.status) ? WTERMSIG(end.status)
                                        : WEXITSTATUS(end.status);
}

/* A leash that does not do its work, because somebody has stopped it, is killed. */
static void put_an_end(Child *c, PtcProcessEnd why)
{
    shutdown(c->control, SHUT_WR);
    int64_t until = ptc_clock_ns(NULL) + LEASH_MS * PTC_MS;
    while (!await_end(c, false, LEASH_MS) && ptc_clock_ns(NULL) < until)
        continue;
    if (!await_end(c, false, 0))
        kill(c->leash, SIGKILL);
    reap_leash(c);
    c->process->end = why;
}

/* The child has ended; what it wrote before is still in the pipes. */
static void finish_child(Child *c)
{
    reap_leash(c);
    take_child_output(c, ERR, LAST_BYTES);
    if (!take_child_output(c, OUT, LAST_BYTES))
        c->process->end = c->process->out->failed ? PTC_PROCESS_NO_MEMORY : PTC_PROCESS_TOO_MUCH;
}

static void follow_child(Child *c)
{
    PtcProcess *p = c->process;
    bool ended = false;
    while (!ended) {
        if (!p->go_on(p->user)) {
            put_an_end(c, PTC_PROCESS_ENDED);
            return;
        }
        if (!take_child_output(c, ERR, PROCESS_READ_BYTES) ||
            !take_child_output(c, OUT, LAST_BYTES)) {
            put_an_end(c, p->out->failed ? PTC_PROCESS_NO_MEMORY : PTC_PROCESS_TOO_MUCH);
            return;
        }
        ended = await_end(c, true, PTC_PROCESS_SLICE_MS);
    }
    finish_child(c);
}

void ptc_process_run(PtcProcess *process)
{
    Child c = {.process = process, .control = -1, .in = -1, .ends = {-1, -1}, .inner = {-1, -1}};
    if (start_child(&c))
        follow_child(&c);
    shut_all(&c);
}
