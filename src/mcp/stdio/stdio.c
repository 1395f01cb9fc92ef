/* SPDX-License-Identifier: MIT
 * MCP over stdio: one message per line.
 *
 * Threads take turns reading (leader and followers): the one that reads a call runs it, so a call is never handed
 * from one thread to another on its way to the answer.  Meanwhile it keeps the turn to read; if the call takes
 * longer than a millisecond, the minder passes the turn on, so that cancellations are read.  Most calls are over
 * before that, and a client that sends one request after the other is served by one thread.  What needs no handler
 * is answered by the reader at once, in order.
 *
 * There are only as many threads as can be of use, and one is always left to read: when all others are busy, calls
 * are queued, and whoever finishes one takes the next. */
#include "mcp/stdio/stdio.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/os/cond.h"
#include "net/lines.h"

enum { PIPE_BYTES = 4096 };

/* How long a call may keep the turn; how many idle rounds the minder makes before it sleeps; how often it looks at
 * queued calls. */
enum { KEEP_NS = PTC_MS, QUIET_LOOKS = 20, STDIO_LOOK_MS = 100 };

/* A server on two descriptors.  Its threads take turns at reading: whoever has the turn reads a message, passes
 * the turn on and runs the call itself. */
typedef struct {
    PtcMcp *mcp;
    const PtcMcpStdio *io;
    PtcMcpPeer *peer;
    int wake[2]; /* a byte in it ends the reading */

    PtcLines lines; /* used by the reader only */

    /* It guards everything below, up to the next lock.  The threads take it between calls, and release it while
     * one reads or runs a handler.  Calls that waited too long are answered under it: then the locks of the call,
     * of its peer and of the library are taken inside, and `write_lock`. */
    pthread_mutex_t lock;
    pthread_cond_t turn, done; /* somebody may read; the input or a call ended */
    pthread_t *threads;
    unsigned thread_count, thread_max;
    unsigned idle, running;
    bool has_reader, ended;
    PtcMcpCall **queue; /* calls waiting for a thread, oldest first; NULL: there never was one */
    unsigned queued;

    /* The turn to read, while its holder runs a call. */
    bool kept;
    pthread_t keeper;
    int64_t kept_ns; /* since when */
    pthread_t minder;
    pthread_cond_t mind; /* something is kept, or it is all over */
    bool minder_sleeps;

    /* It is held while a line is written, so that lines stay whole.  It is taken last, under any other. */
    pthread_mutex_t write_lock;
    bool socket;
    atomic_int broken; /* errno of the first failure */
} Stdio;

static void wake_reader(void *user)
{
    Stdio *s = user;
    (void)!write(s->wake[1], "", 1);
}

/* Only the first failure counts; what follows is a consequence of it. */
static void break_off(Stdio *s, int error)
{
    int none = 0;
    if (atomic_compare_exchange_strong(&s->broken, &none, error))
        wake_reader(s);
}

/* ----------------------------------------------------------------------------- writing */

/* Writes as much as fits without waiting; 0: nothing does.  A pipe that polls writable takes PIPE_BYTES at once. */
static ssize_t write_to_client(Stdio *s, const char *bytes, size_t len)
{
    ssize_t n;
    if (s->socket)
        n = send(s->io->out, bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL);
    else
        n = write(s->io->out, bytes, len < PIPE_BYTES ? len : PIPE_BYTES);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
        return 0;
    return n;
}

/* Waits until the client reads; false: it does not. */
static bool wait_client_writable(Stdio *s)
{
    struct pollfd p = {.fd = s->io->out, .events = POLLOUT};
    int64_t ms = s->io->write_ms ? s->io->write_ms : 10000;
    int n;
    do
        n = poll(&p, 1, (int)ms);
    while (n < 0 && errno == EINTR);
    if (n == 0)
        errno = ETIMEDOUT;
    return n > 0;
}

/* A pipe is polled first, because writing to a full one would block; a socket can be asked not to. */
static bool write_all_to_client(Stdio *s, const char *bytes, size_t len)
{
    while (len) {
        ssize_t n = s->socket ? write_to_client(s, bytes, len) : 0;
        if (n == 0 && !wait_client_writable(s))
            return false;
        if (n == 0)
            n = write_to_client(s, bytes, len);
        if (n < 0)
            return false;
        bytes += n;
        len -= (size_t)n;
    }
    return true;
}

/* Messages are usually short: then the line end is sent along with them. */
static bool send_line(void *user, const char *json, size_t len)
{
    Stdio *s = user;
    char small[2048];
    bool ok = false;
    if (len < sizeof small) {
        memcpy(small, json, len);
        small[len] = '\n';
        json = small;
    }
    pthread_mutex_lock(&s->write_lock);
    if (!atomic_load(&s->broken)) {
        ok = len < sizeof small
                 ? write_all_to_client(s, json, len + 1)
                 : write_all_to_client(s, json, len) && write_all_to_client(s, "\n", 1);
        if (!ok)
            break_off(s, errno);
    }
    pthread_mutex_unlock(&s->write_lock);
    return ok;
}

/* ----------------------------------------------------------------------------- reading */

/* The next message; false: there are no more.  A message that is too long comes as an absent text. */
static bool next_client_line(Stdio *s, PtcText *line)
{
    PtcLineStatus status = ptc_lines_next(&s->lines, line);
    if (status == PTC_LINE_FAILED)
        break_off(s, errno);
    return status == PTC_LINE_OK || status == PTC_LINE_TOO_LONG;
}

static void answer_client_call(Stdio *s, PtcMcpCall *call)
{
    const PtcBuf *text = ptc_mcp_answer(call);
    if (text)
        (void)!send_line(s, text->data, text->len);
    ptc_mcp_call_free(call);
}

/* Handles messages until one needs a handler; NULL: the input ended. */
static PtcMcpCall *next_call(Stdio *s)
{
    PtcText line;
    while (!atomic_load(&s->broken) && next_client_line(s, &line)) {
        if (line.bytes && ptc_line_is_blank(line))
            continue;
        PtcMcpIn in = {
            .text = line.bytes, .len = line.len, .sink = {send_line, s}, .peer = s->peer};
        PtcMcpCall *call = line.bytes ? ptc_mcp_begin(s->mcp, &in) : ptc_mcp_begin_too_long(s->mcp);
        if (!call)
            continue;
        if (ptc_mcp_next(call) == PTC_MCP_RUN)
            return call;
        if (ptc_mcp_next(call) == PTC_MCP_LISTEN && ptc_mcp_listen(call))
            continue; /* it belongs to the peer now */
        answer_client_call(s, call);
    }
    return NULL;
}

/* ----------------------------------------------------------------------------- threads */

static void *serve_turns(void *user);

/* With the lock held: lets somebody else read; false: nobody is free and no thread can be made. */
static bool pass_reading_on(Stdio *s)
{
    bool ok = true;
    if (s->idle) {
        pthread_cond_signal(&s->turn);
    } else {
        ok = s->thread_count < s->thread_max &&
             pthread_create(&s->threads[s->thread_count], NULL, serve_turns, s) == 0;
        s->thread_count += ok;
    }
    if (ok)
        s->has_reader = false;
    return ok;
}

/* With the lock held: queues a call until a thread is free.  False: there is no room. */
static bool enqueue_client_call(Stdio *s, PtcMcpCall *call)
{
    size_t max = ptc_mcp_max_waiting(s->mcp);
    if (!s->queue && max)
        s->queue = ptc_mem_alloc(ptc_mcp_mem(s->mcp), max * sizeof *s->queue);
    if (!s->queue || s->queued == max || !ptc_mcp_queue(call))
        return false;
    s->queue[s->queued++] = call;
    if (s->minder_sleeps)
        pthread_cond_signal(&s->mind);
    return true;
}

/* With the lock held: takes the i-th call out of the queue. */
static PtcMcpCall *dequeue(Stdio *s, unsigned i)
{
    PtcMcpCall *call = s->queue[i];
    s->queued--;
    memmove(s->queue + i, s->queue + i + 1, (s->queued - i) * sizeof *s->queue);
    return call;
}

/* What becomes of a call that was read. */
typedef enum { STDIO_RUNS, STDIO_QUEUED, STDIO_REFUSED } Fate;

/* A call is about to run.  If more has been read already, another thread must take that; otherwise this thread keeps
 * the turn. */
static Fate begin_run(Stdio *s, PtcMcpCall *call)
{
    bool more = ptc_lines_pending(&s->lines);
    Fate fate = STDIO_RUNS;
    pthread_mutex_lock(&s->lock);
    bool crowded = s->queued || s->running + 1 >= s->thread_max || (more && !pass_reading_on(s));
    /* A thread that runs a call takes queued ones next, so these will be served.  When none runs, the threads have just
     * finished their calls and are about to be idle: this one need not wait for them. */
    if (crowded && s->running) {
        fate = enqueue_client_call(s, call) ? STDIO_QUEUED : STDIO_REFUSED;
    } else {
        s->running++;
        if (!more || crowded) {
            s->kept = true;
            s->keeper = pthread_self();
            s->kept_ns = ptc_clock_ns(NULL);
            if (s->minder_sleeps)
                pthread_cond_signal(&s->mind);
        }
    }
    pthread_mutex_unlock(&s->lock);
    return fate;
}

/* A call has run.  *next: a call that was waiting for a thread, or NULL.  Returns whether this thread still has the
 * turn to read. */
static bool end_client_call(Stdio *s, PtcMcpCall **next)
{
    pthread_mutex_lock(&s->lock);
    bool mine = s->kept && pthread_equal(s->keeper, pthread_self());
    *next = !mine && s->queued ? dequeue(s, 0) : NULL;
    s->running -= !*next;
    if (mine)
        s->kept = false;
    if (s->ended)
        pthread_cond_signal(&s->done);
    pthread_mutex_unlock(&s->lock);
    return mine;
}

/* Answers calls that were queued for too long.  With the lock held, which is released meanwhile. */
static void expire_queued(Stdio *s)
{
    int64_t now = ptc_clock_ns(NULL);
    for (unsigned i = 0; i < s->queued;) {
        if (!ptc_mcp_expire(s->queue[i], now)) {
            i++;
            continue;
        }
        PtcMcpCall *call = dequeue(s, i);
        pthread_mutex_unlock(&s->lock);
        answer_client_call(s, call);
        pthread_mutex_lock(&s->lock);
        i = 0;
    }
}

/* With the lock held: sleeps until something is kept, or only briefly if something was kept just now. */
static void mind_on(Stdio *s, int *quiet)
{
    struct timespec moment = {0, KEEP_NS};
    if (s->kept)
        *quiet = 0;
    if (++*quiet > QUIET_LOOKS) {
        s->minder_sleeps = true;
        while (!s->kept && !s->ended && !s->queued)
            pthread_cond_wait(&s->mind, &s->lock);
        if (!s->kept && !s->ended)
            (void)ptc_cond_wait_ms(&s->mind, &s->lock, STDIO_LOOK_MS);
        s->minder_sleeps = false;
        return;
    }
    pthread_mutex_unlock(&s->lock);
    nanosleep(&moment, NULL);
    pthread_mutex_lock(&s->lock);
}

static void *mind(void *user)
{
    Stdio *s = user;
    int quiet = QUIET_LOOKS;
    pthread_mutex_lock(&s->lock);
    while (!s->ended) {
        mind_on(s, &quiet);
        if (s->kept && ptc_clock_ns(NULL) - s->kept_ns >= KEEP_NS && pass_reading_on(s))
            s->kept = false;
        expire_queued(s);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* Waits for the turn to read; false: there is nothing left to read. */
static bool take_reading_turn(Stdio *s)
{
    pthread_mutex_lock(&s->lock);
    s->idle++;
    while (s->has_reader && !s->ended)
        pthread_cond_wait(&s->turn, &s->lock);
    s->idle--;
    bool mine = !s->ended;
    if (mine)
        s->has_reader = true;
    pthread_mutex_unlock(&s->lock);
    return mine;
}

static void end_reading(Stdio *s)
{
    pthread_mutex_lock(&s->lock);
    s->ended = true;
    pthread_cond_broadcast(&s->turn);
    pthread_cond_signal(&s->mind);
    pthread_cond_signal(&s->done);
    pthread_mutex_unlock(&s->lock);
}

/* Runs a call, and then those waiting for a thread; true: this thread still has the turn to read. */
static bool run_calls(Stdio *s, PtcMcpCall *call)
{
    bool mine = false;
    while (call) {
        ptc_mcp_run(call);
        answer_client_call(s, call);
        mine = end_client_call(s, &call);
    }
    return mine;
}

/* Serves messages for as long as this thread has the turn. */
static void serve_turn(Stdio *s)
{
    bool mine = true;
    while (mine) {
        PtcMcpCall *call = next_call(s);
        if (!call) {
            end_reading(s);
            return;
        }
        Fate fate = begin_run(s, call);
        if (fate == STDIO_RUNS) {
            mine = run_calls(s, call);
        } else if (fate == STDIO_REFUSED) {
            ptc_mcp_turn_away(call);
            answer_client_call(s, call);
        }
    }
}

static void *serve_turns(void *user)
{
    Stdio *s = user;
    while (take_reading_turn(s))
        serve_turn(s);
    return NULL;
}

/* For the main thread: waits for the end of input, then a while for the calls. */
static void wait_for_end(Stdio *s)
{
    int64_t grace = s->io->grace_ms ? s->io->grace_ms : 100;
    pthread_mutex_lock(&s->lock);
    while (!s->ended)
        pthread_cond_wait(&s->done, &s->lock);
    int64_t end = ptc_clock_ns(NULL) + grace * PTC_MS;
    while (s->running && !atomic_load(&s->broken) && ptc_cond_wait_until(&s->done, &s->lock, end))
        continue;
    pthread_mutex_unlock(&s->lock);
    ptc_mcp_peer_close(s->peer);
    pthread_join(s->minder, NULL);
    for (unsigned i = 0; i < s->thread_count; i++)
        pthread_join(s->threads[i], NULL);
}

/* -------------------------------------------------------------------------------- life */

static bool is_socket(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode);
}

static int open_stdio(Stdio *s)
{
    PtcMem *mem = ptc_mcp_mem(s->mcp);
    ptc_lines_init(&s->lines, mem, s->io->in, ptc_mcp_max_frame(s->mcp));
    s->socket = is_socket(s->io->out);
    s->thread_max = ptc_mcp_max_threads(s->mcp) + 2;
    s->threads = ptc_mem_alloc(mem, s->thread_max * sizeof *s->threads);
    s->peer = ptc_mcp_peer_new(s->mcp, (PtcMcpSink){send_line, s});
    if (!s->threads || !s->peer)
        return ENOMEM;
    if (pipe(s->wake) != 0)
        return errno;
    for (int i = 0; i < 2; i++)
        fcntl(s->wake[i], F_SETFD, FD_CLOEXEC);
    s->lines.stop = s->wake[0];
    int error = pthread_create(&s->minder, NULL, mind, s);
    if (error)
        return error;
    pthread_mutex_lock(&s->lock);
    bool ok = pass_reading_on(s);
    pthread_mutex_unlock(&s->lock);
    if (ok)
        return 0;
    end_reading(s);
    pthread_join(s->minder, NULL);
    return EAGAIN;
}

static void close_stdio(Stdio *s)
{
    ptc_mcp_peer_free(s->peer);
    ptc_mem_free(ptc_mcp_mem(s->mcp), s->threads, s->thread_max * sizeof *s->threads);
    ptc_mem_free(ptc_mcp_mem(s->mcp), s->queue, ptc_mcp_max_waiting(s->mcp) * sizeof *s->queue);
    ptc_lines_deinit(&s->lines);
    for (int i = 0; i < 2; i++)
        if (s->wake[i] >= 0)
            close(s->wake[i]);
}

/* Timed waits use the monotonic clock, so that setting the time of day does not disturb them. */
int ptc_mcp_stdio_serve(PtcMcp *mcp, const PtcMcpStdio *io)
{
    Stdio s = {.mcp = mcp, .io = io, .wake = {-1, -1}};
    pthread_cond_init(&s.turn, NULL);
    ptc_cond_init(&s.mind);
    ptc_cond_init(&s.done);
    pthread_mutex_init(&s.lock, NULL);
    pthread_mutex_init(&s.write_lock, NULL);
    int error = open_stdio(&s);
    if (!error) {
        ptc_mcp_on_stop(mcp, wake_reader, &s);
        wait_for_end(&s);
        ptc_mcp_on_stop(mcp, NULL, NULL);
        error = atomic_load(&s.broken);
    }
    close_stdio(&s);
    pthread_cond_destroy(&s.turn);
    pthread_cond_destroy(&s.mind);
    pthread_cond_destroy(&s.done);
    pthread_mutex_destroy(&s.lock);
    pthread_mutex_destroy(&s.write_lock);
    return error;
}

bool ptc_mcp_stdio_open(PtcMcpStdio *io)
{
    *io = (PtcMcpStdio){.in = fcntl(0, F_DUPFD_CLOEXEC, 3), .out = fcntl(1, F_DUPFD_CLOEXEC, 3)};
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    bool ok = io->in >= 0 && io->out >= 0 && nothing >= 0 && dup2(nothing, 0) == 0 &&
              dup2(2, 1) == 1 && signal(SIGPIPE, SIG_IGN) != SIG_ERR;
    if (nothing > 2)
        close(nothing);
    return ok;
}
