/* SPDX-License-Identifier: MIT
 * The leash.
 *
 *     ptc --ptc-leash GRACE_MS FILES DIRECTORY PROGRAM [ARGUMENT...]      descriptors 0 1 2: the program's; 3: control
 *
 * It is this program started again, or a fork of a host that cannot be.  What it starts leads a session of its own, and
 * all descendants that lose their parent become children of the leash, so it can find them even if they have left that
 * session.  The control socket is closed by the kernel when ptc dies.  What always holds: the leash ends after the last
 * descendant did, with the program's exit status. */
#define _GNU_SOURCE
#include "base/os/leash.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/budget.h"
#include "base/os/open_files.h"

enum {
    LEASH_LOOK_MS = 2, /* between two attempts to kill what is left */
    GIVE_UP_MS = 5000, /* for processes that cannot be killed */
    NO_START = 127,    /* exit status, as of shells */
    BY_SIGNAL = 128,   /* added to the signal that ended the program */
};

typedef enum { RUNNING, ASKED, TERMINATED } Stage;

typedef struct {
    pid_t program;
    int signals; /* a signalfd */
    bool reaped; /* the program has ended */
    int status;
    int grace_ms;
    bool is_piped; /* its standard input ends when ptc closes it */
    Stage stage;
    int64_t until_ns; /* of the stage; 0: no end */
} Leash;

/* --------------------------------------------------------------------------- program */

static void send_end(int error, int status)
{
    PtcLeashEnd end = {error, status};
    (void)!send(PTC_LEASH_CONTROL, &end, sizeof end, MSG_NOSIGNAL);
}

static void tell_no_start(const char *what, const char *name)
{
    int error = errno;
    dprintf(STDERR_FILENO, "cannot %s %s: %s\n", what, name, strerror(error));
    send_end(error, 0);
}

/* In the new process; returns only if the program could not be started. */
static void become_program(pid_t leash, const char *cwd, char *const *argv, char *const *envp)
{
    sigset_t none;
    sigemptyset(&none);
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != leash)
        return;
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (*cwd && chdir(cwd) != 0) {
        tell_no_start("change to the directory", cwd);
        return;
    }
    execvpe(argv[0], argv, envp);
    tell_no_start("start", argv[0]);
}

static bool start_program(Leash *l, const char *cwd, char *const *argv, char *const *envp)
{
    sigset_t ours;
    struct stat input;
    pid_t self = getpid();
    l->is_piped = fstat(STDIN_FILENO, &input) == 0 && S_ISFIFO(input.st_mode);
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
    l->program = fork();
    if (l->program == 0) {
        become_program(self, cwd, argv, envp);
        syscall(SYS_exit_group, NO_START);
    }
    return l->program > 0;
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

/* Every process in the program's group, and every child of ours: their numbers are not used for others until we reap
 * them. */
static void signal_all(const Leash *l, int number)
{
    pid_t self = getpid();
    if (!l->reaped)
        kill(-l->program, number);
    DIR *all = opendir("/proc");
    const struct dirent *entry;
    while (all && (entry = readdir(all)))
        if (ptc_ascii_is_digit(entry->d_name[0]) && parent_of(entry->d_name) == self)
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
        if (pid == l->program) {
            l->reaped = true;
            l->status = status;
        }
    }
}

static void kill_all(Leash *l)
{
    for (int ms = 0; ms < GIVE_UP_MS; ms += LEASH_LOOK_MS) {
        signal_all(l, SIGKILL);
        if (!reap(l))
            return;
        poll(NULL, 0, LEASH_LOOK_MS);
    }
}

static int64_t ns_after_ms(int ms)
{
    return ptc_clock_ns(NULL) + ms * PTC_MS;
}

/* Time, or an event, for the next stage; false: it was the last. */
static bool advance_leash_stage(Leash *l)
{
    if (l->stage == RUNNING && !l->reaped && l->is_piped) {
        l->stage = ASKED; /* its standard input is closed by now, or ptc is dead */
    } else if (l->stage != TERMINATED) {
        l->stage = TERMINATED;
        signal_all(l, SIGTERM);
    } else {
        return false;
    }
    l->until_ns = ns_after_ms(l->grace_ms);
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
    return !l->until_ns ? -1 : left <= 0 ? 0 : (int)(left / PTC_MS + 1);
}

/* Until nothing is left of the program. */
static void hold_program(Leash *l)
{
    while (reap(l)) {
        struct pollfd p[] = {{l->stage == RUNNING ? PTC_LEASH_CONTROL : -1, POLLIN, 0},
                             {l->signals, POLLIN, 0}};
        bool due = l->stage == RUNNING && l->reaped; /* what it left behind goes with it */
        int n = due ? 0 : poll(p, 2, left_ms(l));
        due |= n == 0 || (n > 0 && p[0].revents);
        due |= n > 0 && p[1].revents && take_signals(l) && l->stage == RUNNING;
        if (due && !advance_leash_stage(l)) {
            kill_all(l);
            return;
        }
    }
}

/* The whole of a leash; its exit status is as of a shell. */
static int run_leash(int grace_ms, size_t files, const char *cwd, char *const *argv,
                     char *const *envp)
{
    Leash l = {.signals = -1, .grace_ms = grace_ms, .status = NO_START << 8};
    ptc_open_files_lower(files);
    if (!start_program(&l, cwd, argv, envp)) {
        tell_no_start("start", argv[0]);
        return NO_START;
    }
    /* so that the program's end of its pipes is the only one */
    close(STDIN_FILENO);
    close(STDOUT_FILENO);
    hold_program(&l);
    send_end(0, l.status);
    return WIFSIGNALED(l.status) ? BY_SIGNAL + WTERMSIG(l.status) : WEXITSTATUS(l.status);
}

/* ------------------------------------------------------------------------------ main */

enum { ARG_GRACE = 2, ARG_FILES, ARG_CWD, ARG_PROGRAM };

static bool main_asks; /* the running program can be started as a leash */

bool ptc_leash_asked(int argc, char **argv)
{
    main_asks = true;
    return argc > ARG_PROGRAM && strcmp(argv[1], PTC_LEASH_ARGUMENT) == 0;
}

int ptc_leash_main(int argc, char **argv)
{
    (void)argc;
    return run_leash((int)strtol(argv[ARG_GRACE], NULL, 10), strtoul(argv[ARG_FILES], NULL, 10),
                     argv[ARG_CWD], argv + ARG_PROGRAM, environ);
}

/* ----------------------------------------------------------------------------- start */

/* exec and posix_spawn take texts that they could change but do not. */
static char *const *as_exec_texts(const char *const *texts)
{
    return (char *const *)(uintptr_t)texts;
}

static int set_up_files(posix_spawn_file_actions_t *files, const int fds[4])
{
    int error = 0;
    for (int i = 0; i <= PTC_LEASH_CONTROL && !error; i++)
        error = posix_spawn_file_actions_adddup2(files, fds[i], i);
    return error ? error : posix_spawn_file_actions_addclosefrom_np(files, PTC_LEASH_CONTROL + 1);
}

/* A session of its own, so that a terminal's signals reach only us. */
static void set_up_signals(posix_spawnattr_t *attributes)
{
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(attributes, &none);
    posix_spawnattr_setsigdefault(attributes, &all);
    posix_spawnattr_setflags(attributes,
                             POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

static int spawn_leash(pid_t *pid, const PtcLeashStart *s, const int fds[4],
                       const char *const *argv)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&files);
    if (error)
        return error;
    error = posix_spawnattr_init(&attributes);
    if (!error) {
        error = set_up_files(&files, fds);
        set_up_signals(&attributes);
        if (!error)
            error = posix_spawn(pid, s->leash ? s->leash : "/proc/self/exe", &files, &attributes,
                                as_exec_texts(argv), as_exec_texts(s->envp));
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&files);
    return error;
}

static int spawn_with_words(PtcMem *mem, pid_t *pid, const PtcLeashStart *s, const int fds[4])
{
    char grace[16], files[24];
    size_t n = 0;
    while (s->argv[n])
        n++;
    size_t bytes = (n + 1 + ARG_PROGRAM) * sizeof(char *);
    const char **argv = ptc_mem_alloc(mem, bytes);
    if (!argv)
        return ENOMEM;
    snprintf(grace, sizeof grace, "%d", s->grace_ms);
    argv[0] = "ptc";
    argv[1] = PTC_LEASH_ARGUMENT;
    snprintf(files, sizeof files, "%zu", ptc_open_files_before());
    argv[ARG_GRACE] = grace;
    argv[ARG_FILES] = files;
    argv[ARG_CWD] = s->cwd ? s->cwd : "";
    memcpy(argv + ARG_PROGRAM, s->argv, (n + 1) * sizeof *argv);
    int error = spawn_leash(pid, s, fds, argv);
    ptc_mem_free(mem, argv, bytes);
    return error;
}

/* Other threads of the host may hold any lock, so no more is used of it than the C library has for a fork. */
static int fork_leash(pid_t *pid, const PtcLeashStart *s, const int fds[4])
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* no handler of the host runs in the leash */
    *pid = fork();
    int error = *pid < 0 ? errno : 0;
    if (*pid == 0) {
        setsid();
        for (int i = 1; i < NSIG; i++)
            signal(i, SIG_DFL);
        for (int i = 0; i <= PTC_LEASH_CONTROL; i++)
            dup2(fds[i], i);
        syscall(SYS_close_range, PTC_LEASH_CONTROL + 1, ~0U, 0);
        syscall(SYS_exit_group,
                run_leash(s->grace_ms, ptc_open_files_before(), s->cwd ? s->cwd : "",
                          as_exec_texts(s->argv), as_exec_texts(s->envp)));
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

bool ptc_leash_lift(int *fd)
{
    if (*fd < 0 || *fd > STDERR_FILENO)
        return *fd >= 0;
    int higher = fcntl(*fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), error = errno;
    close(*fd);
    *fd = higher;
    errno = error;
    return higher >= 0;
}

int ptc_leash_start(PtcMem *mem, const PtcLeashStart *s, pid_t *pid, int *control)
{
    int ends[2] = {-1, -1};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return errno;
    bool lifted = ptc_leash_lift(&ends[0]) && ptc_leash_lift(&ends[1]);
    int error = lifted ? 0 : errno, fds[] = {s->fds[0], s->fds[1], s->fds[2], ends[1]};
    if (!error)
        error =
            s->leash || main_asks ? spawn_with_words(mem, pid, s, fds) : fork_leash(pid, s, fds);
    if (ends[1] >= 0)
        close(ends[1]);
    if (error && ends[0] >= 0)
        close(ends[0]);
    *control = error ? -1 : ends[0];
    return error;
}
