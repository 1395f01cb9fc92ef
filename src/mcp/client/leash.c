/* SPDX-License-Identifier: MIT
 * The leash: a small process between us and a stdio server, which makes sure that no process of the server is left when
 * either of us ends, however that happens.
 *
 *     ptc --ptc-leash DIRECTORY PROGRAM [ARGUMENT...]      descriptors 0 1 2: the server's; 3: control
 *
 * It is this program started again.  The server leads a session of its own, and all descendants that lose their parent
 * become children of the leash, so it can find them even if they have left the server's group.  The control socket is
 * closed by the kernel when ptc dies.  What always holds: the leash ends after the last descendant did, with the
 * server's exit status. */
#define _GNU_SOURCE
#include "mcp/client/leash.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/budget.h"

enum {
    LOOK_MS = 2,       /* between two attempts to kill what is left */
    GIVE_UP_MS = 5000, /* for processes that cannot be killed */
    NO_START = 127,    /* exit status, as of shells */
    BY_SIGNAL = 128,   /* added to the signal that ended the server */
};

typedef enum { RUNNING, ASKED, TERMINATED } Stage;

typedef struct {
    pid_t server;
    int signals; /* a signalfd */
    bool reaped; /* the server has ended */
    int status;
    Stage stage;
    int64_t until_ns; /* of the stage; 0: no end */
} Leash;

bool ptc_leash_asked(int argc, char **argv)
{
    return argc >= 4 && strcmp(argv[1], PTC_LEASH_ARGUMENT) == 0;
}

/* --------------------------------------------------------------------------- start */

/* In the new process; returns only if the program could not be started. */
static void become_server(const sigset_t *before, pid_t leash, char **argv)
{
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != leash)
        return;
    sigprocmask(SIG_SETMASK, before, NULL);
    if (*argv[0] && chdir(argv[0]) != 0) {
        dprintf(STDERR_FILENO, "cannot change to the directory %s: %s\n", argv[0], strerror(errno));
        return;
    }
    execvp(argv[1], argv + 1);
    dprintf(STDERR_FILENO, "cannot start %s: %s\n", argv[1], strerror(errno));
}

static bool start(Leash *l, char **argv)
{
    sigset_t ours, none;
    pid_t self = getpid();
    sigemptyset(&none);
    sigemptyset(&ours);
    sigaddset(&ours, SIGCHLD);
    sigaddset(&ours, SIGTERM);
    sigaddset(&ours, SIGINT);
    sigaddset(&ours, SIGHUP);
    sigprocmask(SIG_BLOCK, &ours, NULL);
    l->signals = signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
    if (l->signals < 0 || fcntl(PTC_LEASH_CONTROL, F_SETFD, FD_CLOEXEC) != 0)
        return false;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    l->server = fork();
    if (l->server == 0) {
        become_server(&none, self, argv);
        syscall(SYS_exit_group, NO_START);
    }
    return l->server > 0;
}

/* ----------------------------------------------------------------------------- end */

/* The parent of a process; 0: it is gone. */
static pid_t parent_of(const char *name)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%.20s/stat", name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = 0;
    const char *after = strrchr(text, ')'); /* the name of a program may contain anything */
    return after && strlen(after) > 4 ? (pid_t)strtol(after + 4, NULL, 10) : 0;
}

/* Every process in the server's group, and every child of ours: their numbers are not used for others until we reap
 * them. */
static void signal_all(const Leash *l, int number)
{
    pid_t self = getpid();
    if (!l->reaped)
        kill(-l->server, number);
    DIR *all = opendir("/proc");
    const struct dirent *entry;
    while (all && (entry = readdir(all)))
        if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9' && parent_of(entry->d_name) == self)
            kill((pid_t)strtol(entry->d_name, NULL, 10), number);
    if (all)
        closedir(all);
}

/* False: there is no child left. */
static bool reap(Leash *l)
{
    int status;
    for (;;) {
        pid_t pid = waitpid(-1, &status, WNOHANG);
        if (pid == 0 || (pid < 0 && errno == EINTR))
            return true;
        if (pid < 0)
            return false;
        if (pid == l->server) {
            l->reaped = true;
            l->status = WIFSIGNALED(status) ? BY_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
        }
    }
}

static void kill_all(Leash *l)
{
    for (int ms = 0; ms < GIVE_UP_MS; ms += LOOK_MS) {
        signal_all(l, SIGKILL);
        if (!reap(l))
            return;
        poll(NULL, 0, LOOK_MS);
    }
}

static int64_t ms_from_now(int ms)
{
    return ptc_clock_ns(NULL) + (int64_t)ms * 1000000;
}

/* Time, or an event, for the next stage; false: it was the last. */
static bool advance(Leash *l)
{
    if (l->stage == RUNNING && !l->reaped) {
        l->stage = ASKED; /* its standard input is closed by now, or ptc is dead */
    } else if (l->stage != TERMINATED) {
        l->stage = TERMINATED;
        signal_all(l, SIGTERM);
    } else {
        return false;
    }
    l->until_ns = ms_from_now(PTC_LEASH_GRACE_MS);
    return true;
}

/* Reads what signals came; true: one that asks us to end. */
static bool take_signals(const Leash *l)
{
    struct signalfd_siginfo info;
    bool end = false;
    while (read(l->signals, &info, sizeof info) == sizeof info)
        end |= info.ssi_signo != SIGCHLD;
    return end;
}

static int left_ms(const Leash *l)
{
    int64_t left = l->until_ns - ptc_clock_ns(NULL);
    return !l->until_ns ? -1 : left <= 0 ? 0 : (int)(left / 1000000 + 1);
}

int ptc_leash_main(int argc, char **argv)
{
    Leash l = {.signals = -1, .status = NO_START};
    (void)argc;
    if (!start(&l, argv + 2)) {
        dprintf(STDERR_FILENO, "cannot start %s: %s\n", argv[3], strerror(errno));
        return NO_START;
    }
    /* so that the server's end of its pipes is the only one */
    close(STDIN_FILENO);
    close(STDOUT_FILENO);
    while (reap(&l)) {
        struct pollfd p[] = {{l.stage == RUNNING ? PTC_LEASH_CONTROL : -1, POLLIN, 0},
                             {l.signals, POLLIN, 0}};
        bool due = l.stage == RUNNING && l.reaped; /* what it left behind goes with it */
        int n = due ? 0 : poll(p, 2, left_ms(&l));
        due |= n == 0 || (n > 0 && p[0].revents);
        due |= n > 0 && p[1].revents && take_signals(&l) && l.stage == RUNNING;
        if (due && !advance(&l)) {
            kill_all(&l);
            break;
        }
    }
    return l.status;
}
