/* SPDX-License-Identifier: MIT
 * The helper process: it is told what workers need, shuts itself in, and then only forks workers.  What always
 * holds: it has one thread and one descriptor, its control socket (0); a fork of it is therefore a clean worker. */
#define _GNU_SOURCE
#include "exec/zygote.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/sanitized.h"
#include "engine/engine.h"
#include "exec/sandbox.h"
#include "exec/worker_talk.h"

enum { ZYGOTE_CONTROL = 0, LAST_KEPT = PTC_SANITIZED ? 2 : 0 };

typedef struct Helper {
    PtcWorker *worker;
    bool locked;
    PtcMem mem;    /* for the source */
    PtcBuf source; /* of the tool announced next */
    char packet[PTC_ZYGOTE_PACKET];
    char answer[PTC_ZYGOTE_PACKET];
    PtcWhy why;
} Helper;

/* ---------------------------------------------------------------------------- answers */

/* Every packet is answered, so that the server never waits in vain. */
static bool answer_server(Helper *h, bool ok, const char *text, size_t len)
{
    uint32_t word = ok;
    memcpy(h->answer, &word, sizeof word);
    if (len)
        memcpy(h->answer + sizeof word, text, len);
    return ptc_zygote_send(ZYGOTE_CONTROL, h->answer, sizeof word + len, -1);
}

static bool answer_why(Helper *h, bool ok)
{
    return answer_server(h, ok, h->why.text, ok ? 0 : strlen(h->why.text));
}

/* ------------------------------------------------------------------------- before the lock */

/* A text that ends in NUL, as put_text() of the server writes it. */
static const char *take_zygote_text(PtcPackedReader *c)
{
    PtcText view = ptc_unpack_text(c);
    return view.bytes && view.len > 0 && !view.bytes[view.len - 1] ? view.bytes : NULL;
}

static bool load_zygote_data(Helper *h, PtcPackedReader *c)
{
    PtcMem mem;
    PtcBuf about, text;
    PtcLoaded loaded = {.about = &about};
    const char *name = take_zygote_text(c), *path = take_zygote_text(c);
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    ptc_buf_init(&about, &mem, PTC_ZYGOTE_DESCRIBE);
    ptc_buf_init(&text, &mem, PTC_ZYGOTE_PACKET);
    ptc_why_say(&h->why, PTC_WHY_REFUSED, "out of order");
    bool ok =
        name && path && !h->locked && ptc_worker_load(h->worker, name, path, &loaded, &h->why);
    ptc_pack_i64(&text, (int64_t)loaded.count);
    ptc_pack_i64(&text, (int64_t)loaded.bytes);
    ptc_buf_add(&text, about.data, about.len);
    bool sent = ok ? answer_server(h, true, text.data, text.len) : answer_why(h, false);
    ptc_buf_deinit(&text);
    ptc_buf_deinit(&about);
    return sent;
}

static bool add_zygote_source(Helper *h, PtcPackedReader *c)
{
    PtcText piece = ptc_unpack_text(c);
    ptc_why_say(&h->why, PTC_WHY_NO_MEMORY, "out of memory, or too long");
    return answer_why(h,
                      piece.bytes && !h->locked && ptc_buf_add(&h->source, piece.bytes, piece.len));
}

static bool add_zygote_tool(Helper *h, PtcPackedReader *c)
{
    PtcWorkerTool tool = {.name = ptc_unpack_text(c),
                          .signature = ptc_unpack_text(c),
                          .description = ptc_unpack_text(c)};
    tool.skip_validation = ptc_unpack_u32(c);
    tool.extra = ptc_unpack_u32(c);
    tool.cache = ptc_unpack_u32(c);
    tool.on_error_value = ptc_unpack_u32(c);
    tool.read_only = ptc_unpack_u32(c);
    if (ptc_unpack_u32(c))
        tool.lisp = ptc_buf_view(&h->source);
    tool.serial = ptc_unpack_u32(c);
    tool.learns = ptc_unpack_u32(c);
    tool.timeout_ms = ptc_unpack_i64(c);
    ptc_why_say(&h->why, PTC_WHY_REFUSED, "out of order");
    bool ok = !c->bad && !h->locked && ptc_worker_add_tool(h->worker, &tool, &h->why);
    ptc_buf_deinit(&h->source);
    return answer_why(h, ok);
}

/* In this order because each step takes away what the steps before it need. */
static bool shut_in(Helper *h, bool inspectable, PtcLimits *limits)
{
    if (!ptc_worker_prepare(h->worker, limits, &h->why) ||
        !ptc_sandbox_resources(limits, &h->why) || !ptc_sandbox_privileges(&h->why))
        return false;
    if (chdir("/") != 0 || prctl(PR_SET_DUMPABLE, inspectable, 0, 0, 0) != 0)
        return ptc_why_say(&h->why, PTC_WHY_UNAVAILABLE, "PR_SET_DUMPABLE: %s", strerror(errno));
    return ptc_sandbox_helper(&h->why);
}

static bool lock_zygote(Helper *h, PtcPackedReader *c)
{
    PtcLimits limits;
    bool inspectable = ptc_unpack_u32(c);
    ptc_limits_unset(&limits);
    PtcText given = ptc_unpack_text(c);
    ptc_why_say(&h->why, PTC_WHY_REFUSED, "out of order");
    if (h->locked || !given.bytes || given.len != sizeof limits)
        return answer_why(h, false);
    memcpy(&limits, given.bytes, sizeof limits);
    h->locked = shut_in(h, inspectable, &limits);
    return answer_why(h, h->locked);
}

/* -------------------------------------------------------------------------------- fork */

/* In the new process: the worker's socket replaces the control socket, and everything else is closed. */
static _Noreturn void become_worker(Helper *h, int socket, pid_t helper)
{
    bool alone = prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0 && getppid() == helper &&
                 dup3(socket, ZYGOTE_CONTROL, 0) == ZYGOTE_CONTROL &&
                 syscall(SYS_close_range, LAST_KEPT + 1, ~0U, 0) == 0;
    if (!alone)
        ptc_sandbox_end();
    ptc_worker_serve(h->worker);
}

static bool answer_fork(Helper *h, pid_t pid)
{
    uint32_t words[2] = {1, (uint32_t)pid};
    int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (pidfd < 0) {
        ptc_why_say(&h->why, PTC_WHY_UNAVAILABLE, "pidfd_open: %s", strerror(errno));
        return answer_why(h, false);
    }
    bool sent = ptc_zygote_send(ZYGOTE_CONTROL, words, sizeof words, pidfd);
    close(pidfd);
    return sent;
}

/* Refused before the lock, because a worker must inherit the locked-down state. */
static bool fork_worker(Helper *h, int socket)
{
    pid_t self = getpid(), pid = -1;
    ptc_why_say(&h->why, PTC_WHY_REFUSED, "out of order");
    if (h->locked && socket >= 0)
        pid = fork();
    if (pid == 0)
        become_worker(h, socket, self);
    if (socket >= 0)
        close(socket);
    if (pid > 0)
        return answer_fork(h, pid);
    if (h->locked)
        ptc_why_say(&h->why, PTC_WHY_UNAVAILABLE, "fork: %s", strerror(errno));
    return answer_why(h, false);
}

/* -------------------------------------------------------------------------------- main */

/* An unknown packet means that the two sides disagree; ending is the only safe answer. */
static bool handle_zygote_packet(Helper *h, size_t len, int socket)
{
    PtcPackedReader c = ptc_unpack_begin(h->packet, len);
    switch (ptc_unpack_u32(&c)) {
    case PTC_ZYGOTE_DATA: return load_zygote_data(h, &c);
    case PTC_ZYGOTE_SOURCE: return add_zygote_source(h, &c);
    case PTC_ZYGOTE_TOOL: return add_zygote_tool(h, &c);
    case PTC_ZYGOTE_LOCK: return lock_zygote(h, &c);
    case PTC_ZYGOTE_FORK: return fork_worker(h, socket);
    default: return false;
    }
}

/* Ignoring SIGCHLD means dead workers need not be waited for. */
static void set_signals(void)
{
    signal(SIGPIPE, SIG_IGN);
    signal(SIGCHLD, SIG_IGN);
    ptc_talk_signals();
}

bool ptc_zygote_asked(int argc, char **argv)
{
    return argc == 2 && strcmp(argv[1], PTC_ZYGOTE_ARGUMENT) == 0;
}

int ptc_zygote_main(PtcWorkerHook hook)
{
    PtcMem mem;
    int socket;
    ssize_t n;
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    Helper *h = ptc_mem_alloc(&mem, sizeof *h);
    if (!h || syscall(SYS_close_range, LAST_KEPT + 1, ~0U, 0) != 0)
        return 1;
    memset(h, 0, sizeof *h);
    ptc_mem_init(&h->mem, PTC_UNBOUNDED);
    ptc_buf_init(&h->source, &h->mem, PTC_ZYGOTE_SOURCE_MAX);
    set_signals();
    h->worker = ptc_worker_new(hook);
    while (h->worker &&
           (n = ptc_zygote_receive(ZYGOTE_CONTROL, h->packet, sizeof h->packet, &socket)) > 0)
        if (!handle_zygote_packet(h, (size_t)n, socket))
            break;
    ptc_sandbox_end(); /* the server is gone, and workers end with us */
}
