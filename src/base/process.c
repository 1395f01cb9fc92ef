/* SPDX-License-Identifier: MIT
 * Child processes.  What always holds: a child is reaped before ptc_process_run returns, what is left of its
 * group is killed, and no signal handler of the host is touched. */
#define _GNU_SOURCE /* pipe2, memfd_create, posix_spawn_file_actions_addclosefrom_np */
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    READ_BYTES = 16 * 1024,
    LAST_BYTES = 1024 * 1024, /* more than a pipe can hold once its writer is gone */
    SIGNAL_GROUP = 1 << 2,    /* PIDFD_SIGNAL_PROCESS_GROUP, Linux 6.9 */
    LOOK_MS = 2,              /* between two checks for the end, without a pidfd */
    OUT = 0,
    ERR = 1,
    PIPES = 2,
};

typedef struct Child {
    PtcProcess *process;
    pid_t pid;
    int pidfd; /* -1: the system has none; the end is then polled for */
    int in;
    int ends[PIPES], inner[PIPES]; /* of the pipes: ours, the child's; -1: closed */
} Child;

/* ------------------------------------------------------------------------- descriptors */

static void shut(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* A host may have closed its standard descriptors; ours must not take their numbers, or the child's would be
 * overwritten while they are put in place. */
static int lift(int fd)
{
    if (fd < 0 || fd > STDERR_FILENO)
        return fd;
    int higher = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    int error = errno;
    close(fd);
    errno = error;
    return higher;
}

static bool write_all(int fd, const char *bytes, size_t len)
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
    c->in = lift(memfd_create("ptc-input", MFD_CLOEXEC));
    return c->in >= 0 && write_all(c->in, c->process->input, c->process->input_len) &&
           lseek(c->in, 0, SEEK_SET) == 0;
}

static bool open_pipe(Child *c, int i)
{
    int pair[2];
    if (pipe2(pair, O_CLOEXEC) != 0)
        return false;
    c->ends[i] = lift(pair[0]);
    c->inner[i] = lift(pair[1]);
    return c->ends[i] >= 0 && c->inner[i] >= 0 && fcntl(c->ends[i], F_SETFL, O_NONBLOCK) == 0;
}

static void shut_all(Child *c)
{
    shut(&c->in);
    shut(&c->pidfd);
    for (int i = 0; i < PIPES; i++) {
        shut(&c->ends[i]);
        shut(&c->inner[i]);
    }
}

/* ------------------------------------------------------------------------------- start */

static int set_up_files(posix_spawn_file_actions_t *files, const Child *c)
{
    int error = posix_spawn_file_actions_adddup2(files, c->in, STDIN_FILENO);
    if (!error)
        error = posix_spawn_file_actions_adddup2(files, c->inner[OUT], STDOUT_FILENO);
    if (!error)
        error = posix_spawn_file_actions_adddup2(files, c->inner[ERR], STDERR_FILENO);
    if (!error)
        error = posix_spawn_file_actions_addclosefrom_np(files, STDERR_FILENO + 1);
    return error;
}

static int set_up_signals(posix_spawnattr_t *attributes)
{
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(attributes, &none);
    posix_spawnattr_setsigdefault(attributes, &all);
    posix_spawnattr_setpgroup(attributes, 0);
    return posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                                    POSIX_SPAWN_SETSIGDEF);
}

/* 0, or an errno. */
static int spawn(Child *c)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&files);
    if (error)
        return error;
    error = posix_spawnattr_init(&attributes);
    if (error) {
        posix_spawn_file_actions_destroy(&files);
        return error;
    }
    const PtcProcess *p = c->process;
    error = set_up_files(&files, c);
    if (!error)
        error = set_up_signals(&attributes);
    if (!error)
        error = posix_spawnp(&c->pid, p->argv[0], &files, &attributes, p->argv, p->envp);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return error;
}

static bool start(Child *c)
{
    PtcProcess *p = c->process;
    p->end = PTC_PROCESS_NO_START;
    bool opened = open_input(c) && open_pipe(c, OUT) && open_pipe(c, ERR);
    p->code = opened ? spawn(c) : errno;
    if (p->code)
        return false;
    c->pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0);
    shut(&c->in);
    shut(&c->inner[OUT]);
    shut(&c->inner[ERR]);
    return true;
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
static bool take(Child *c, int i, size_t most)
{
    char bytes[READ_BYTES];
    PtcProcess *p = c->process;
    while (c->ends[i] >= 0 && most > 0) {
        ssize_t n = read(c->ends[i], bytes, sizeof bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return true;
        if (n <= 0) {
            shut(&c->ends[i]);
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

static bool has_ended(const Child *c)
{
    siginfo_t info = {0};
    if (c->pidfd >= 0) {
        struct pollfd end = {c->pidfd, POLLIN, 0};
        return poll(&end, 1, 0) > 0;
    }
    if (waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0)
        return errno != EINTR;
    return info.si_pid == c->pid;
}

/* Called before the child is reaped, while its number still belongs to its group.  If the host ignores SIGCHLD, and
 * the child is thus reaped already, the pidfd still identifies the group. */
static void signal_group(const Child *c, int signal)
{
    if (c->pidfd >= 0 &&
        (syscall(SYS_pidfd_send_signal, c->pidfd, signal, NULL, SIGNAL_GROUP) == 0 ||
         errno == ESRCH))
        return;
    kill(-c->pid, signal);
}

static void reap(Child *c)
{
    PtcProcess *p = c->process;
    int status = 0;
    pid_t pid;
    do
        pid = waitpid(c->pid, &status, 0);
    while (pid < 0 && errno == EINTR);
    p->end = pid != c->pid         ? PTC_PROCESS_LOST
             : WIFSIGNALED(status) ? PTC_PROCESS_KILLED
                                   : PTC_PROCESS_EXITED;
    p->code = pid != c->pid ? 0 : WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

/* Waits for output or the end, for at most this long. */
static void wait_a_while(const Child *c, bool output, int ms)
{
    struct pollfd all[] = {{c->pidfd, POLLIN, 0},
                           {output ? c->ends[OUT] : -1, POLLIN, 0},
                           {output ? c->ends[ERR] : -1, POLLIN, 0}};
    if (c->pidfd < 0 && ms > LOOK_MS)
        ms = LOOK_MS;
    poll(all, sizeof all / sizeof *all, ms);
}

static void put_an_end(Child *c, PtcProcessEnd why)
{
    signal_group(c, SIGTERM);
    int step = c->pidfd < 0 ? LOOK_MS : PTC_PROCESS_GRACE_MS;
    for (int ms = 0; ms < PTC_PROCESS_GRACE_MS && !has_ended(c); ms += step)
        wait_a_while(c, false, step);
    signal_group(c, SIGKILL);
    reap(c);
    c->process->end = why;
}

/* The child has ended; what it wrote before is still in the pipes. */
static void finish(Child *c)
{
    signal_group(c, SIGKILL);
    reap(c);
    take(c, ERR, LAST_BYTES);
    if (!take(c, OUT, LAST_BYTES))
        c->process->end = c->process->out->failed ? PTC_PROCESS_NO_MEMORY : PTC_PROCESS_TOO_MUCH;
}

static void follow(Child *c)
{
    PtcProcess *p = c->process;
    for (;;) {
        if (!p->go_on(p->user)) {
            put_an_end(c, PTC_PROCESS_ENDED);
            return;
        }
        if (has_ended(c)) {
            finish(c);
            return;
        }
        if (!take(c, ERR, READ_BYTES) || !take(c, OUT, LAST_BYTES)) {
            put_an_end(c, p->out->failed ? PTC_PROCESS_NO_MEMORY : PTC_PROCESS_TOO_MUCH);
            return;
        }
        wait_a_while(c, true, PTC_PROCESS_SLICE_MS);
    }
}

void ptc_process_run(PtcProcess *process)
{
    Child c = {.process = process, .pidfd = -1, .in = -1, .ends = {-1, -1}, .inner = {-1, -1}};
    if (start(&c))
        follow(&c);
    shut_all(&c);
}
