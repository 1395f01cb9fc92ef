/* SPDX-License-Identifier: MIT
 * Starts servers under leashes.  What always holds: every leash that was started is reaped, by whoever has its control
 * socket (the wire, or a node of its own in the loop once the wire has left it), or later, when the loop has ended. */
#define _GNU_SOURCE /* pipe2 */
#include "mcp/client/stdio_child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os/leash.h"

/* A leash that nobody talks to any more. */
typedef struct {
    PtcLoopWatch watch; /* first, so that the watch is the node */
    PtcMem *mem;
    PtcStdioChild child;
} Orphan;

static void shut(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* ---------------------------------------------------------------------------- later */

/* Leashes that outlived their loop.  Each start and each loop that ends looks for them, so that their number stays
 * bounded, however often a host makes links and frees them. */
enum { LATER = 32 };
static struct {
    /* It guards the list, for a moment; no other lock is taken inside. */
    pthread_mutex_t lock;
    pid_t pids[LATER]; /* 0: free */
} later = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void reap_ended(void)
{
    pthread_mutex_lock(&later.lock);
    for (int i = 0; i < LATER; i++)
        if (later.pids[i] && waitpid(later.pids[i], NULL, WNOHANG) != 0)
            later.pids[i] = 0;
    pthread_mutex_unlock(&later.lock);
}

/* When there is no room, the first is waited for: a leash ends within a second or two. */
static void reap_later(pid_t pid)
{
    reap_ended();
    if (waitpid(pid, NULL, WNOHANG) != 0)
        return;
    pthread_mutex_lock(&later.lock);
    int i = 0;
    while (i < LATER && later.pids[i])
        i++;
    if (i == LATER) {
        i = 0;
        (void)!waitpid(later.pids[i], NULL, 0);
    }
    later.pids[i] = pid;
    pthread_mutex_unlock(&later.lock);
}

/* ---------------------------------------------------------------------------- start */

/* pairs[i][0] is ours, pairs[i][1] the child's, whose number will be i. */
static bool open_pairs(int pairs[3][2])
{
    int ends[2];
    for (int i = 0; i < 3; i++) {
        bool in = i == STDIN_FILENO;
        if (pipe2(ends, O_CLOEXEC) != 0)
            return false;
        pairs[i][0] = ends[in];
        pairs[i][1] = ends[!in];
        if (!ptc_leash_lift(&pairs[i][0]) || !ptc_leash_lift(&pairs[i][1]) ||
            fcntl(pairs[i][0], F_SETFL, O_NONBLOCK | (in ? O_WRONLY : 0)) != 0)
            return false;
    }
    return true;
}

static int start_server(PtcStdioChild *child, PtcMem *mem, const PtcLinkConfig *c, int pairs[3][2])
{
    static const char *const nothing[] = {NULL};
    int fds[] = {pairs[0][1], pairs[1][1], pairs[2][1]};
    PtcLeashStart s = {.argv = c->argv,
                       .envp = c->env ? c->env : nothing,
                       .cwd = c->cwd,
                       .leash = c->leash,
                       .grace_ms = PTC_STDIO_GRACE_MS,
                       .fds = fds};
    return ptc_leash_start(mem, &s, &child->pid, &child->control);
}

/* What cannot be started here is the leash; of a program that is not there the leash tells. */
static void tell_start_failure(PtcBuf *why, const PtcLinkConfig *c, int error)
{
    if (!c->argv || !c->argv[0])
        ptc_buf_add_cstr(why, "its command is empty");
    else if (c->leash && !c->leash[0])
        ptc_buf_addf(why, "%s would run under the command ptc, which is not on the PATH",
                     c->argv[0]);
    else
        ptc_buf_addf(why, "%s would run under %s, which cannot be started: %s", c->argv[0],
                     c->leash ? c->leash : "ptc", strerror(error));
}

bool ptc_stdio_child_start(PtcStdioChild *child, PtcMem *mem, const PtcLinkConfig *c, PtcBuf *why)
{
    int pairs[3][2] = {{-1, -1}, {-1, -1}, {-1, -1}};
    reap_ended();
    *child = (PtcStdioChild){-1, -1, -1, -1, 0};
    bool has = c->argv && c->argv[0] && !(c->leash && !c->leash[0]);
    int error = !has ? EINVAL : open_pairs(pairs) ? start_server(child, mem, c, pairs) : errno;
    for (int i = 0; i < 3; i++) {
        shut(&pairs[i][1]);
        if (error)
            shut(&pairs[i][0]);
    }
    if (error) {
        tell_start_failure(why, c, error);
        return false;
    }
    child->in = pairs[0][0];
    child->out = pairs[1][0];
    child->err = pairs[2][0];
    return true;
}

/* ------------------------------------------------------------------------------ end */

/* It has closed its last descriptor, so it ends in this moment: waiting takes no time worth mentioning. */
int ptc_stdio_child_reap(PtcStdioChild *child)
{
    int status = 0;
    pid_t pid;
    do
        pid = waitpid(child->pid, &status, 0);
    while (pid < 0 && errno == EINTR);
    shut(&child->control);
    return pid != child->pid     ? -1
           : WIFSIGNALED(status) ? 128 + WTERMSIG(status)
                                 : WEXITSTATUS(status);
}

static void free_orphan(Orphan *o)
{
    ptc_mem_free(o->mem, o, sizeof *o);
}

static void on_end(PtcLoopWatch *watch, short events)
{
    Orphan *o = (Orphan *)(void *)watch;
    (void)events;
    ptc_loop_unwatch(watch);
    (void)ptc_stdio_child_reap(&o->child);
    free_orphan(o);
}

/* The loop ends before the leash did: the leash goes on alone, and a host that lives on reaps it later. */
static void on_drop(PtcLoopWatch *watch)
{
    Orphan *o = (Orphan *)(void *)watch;
    shut(&o->child.control);
    reap_later(o->child.pid);
    free_orphan(o);
}

/* The leash ends the server when it sees that we no longer write: half of the socket is closed, the other half tells
 * us. */
void ptc_stdio_child_leave(PtcStdioChild *child, PtcMem *mem, PtcLoop *loop)
{
    shut(&child->in);
    shut(&child->out);
    shut(&child->err);
    if (child->control < 0)
        return;
    shutdown(child->control, SHUT_WR);
    Orphan *o = ptc_mem_alloc(mem, sizeof *o);
    if (!o) { /* an unreaped process is the lesser evil */
        shut(&child->control);
        return;
    }
    *o = (Orphan){.mem = mem, .child = *child};
    o->watch =
        (PtcLoopWatch){.fd = child->control, .events = POLLIN, .ready = on_end, .drop = on_drop};
    ptc_loop_watch(loop, &o->watch);
    child->control = -1;
}
