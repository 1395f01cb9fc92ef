/* SPDX-License-Identifier: MIT
 * The server's side of the helper process: start it, tell it what workers need, have it fork them.  What always
 * holds: everything the helper was told is kept, so that a helper that died can be replaced by one that knows the
 * same. */
#define _GNU_SOURCE
#include "exec/zygote.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/budget.h"
#include "engine/engine.h"

struct PtcZygote {
    PtcMem mem;
    /* It lets one question to the helper and its answer pass at a time, and guards everything below.  Threads that
     * want a worker wait for it while another is forked; no other lock is taken inside. */
    pthread_mutex_t lock;
    char *path;
    size_t path_size;
    int control; /* -1: it is not running */
    pid_t pid;
    PtcBuf told; /* all packets sent so far, each preceded by its length */
    char packet[PTC_ZYGOTE_PACKET];
};

static bool refuse_zygote(PtcWhy *why, const char *what, int error)
{
    return ptc_why_say(why, PTC_WHY_UNAVAILABLE, "%s: %s", what, strerror(error));
}

/* ------------------------------------------------------------------------------ start */

/* In its own process group, so that Ctrl-C at a terminal reaches only the server. */
static void set_attributes(posix_spawnattr_t *attr)
{
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(attr, &none);
    posix_spawnattr_setpgroup(attr, 0);
    posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
}

/* The environment is empty, so that no secret in a variable can reach a worker. */
static int spawn(PtcZygote *z, const posix_spawn_file_actions_t *actions)
{
    static const char name[] = "ptc", argument[] = PTC_ZYGOTE_ARGUMENT;
    char *argv[] = {(char *)(uintptr_t)name, (char *)(uintptr_t)argument, NULL}, *envp[] = {NULL};
    posix_spawnattr_t attr;
    int error = posix_spawnattr_init(&attr);
    if (error)
        return error;
    set_attributes(&attr);
    error = posix_spawn(&z->pid, z->path, actions, &attr, argv, envp);
    posix_spawnattr_destroy(&attr);
    return error;
}

static int spawn_with(PtcZygote *z, int socket)
{
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);
    if (error)
        return error;
    error = posix_spawn_file_actions_adddup2(&actions, socket, 0);
    if (!error)
        error = spawn(z, &actions);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

static bool launch(PtcZygote *z, PtcWhy *why)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return refuse_zygote(why, "no socket for the helper process", errno);
    int error = spawn_with(z, ends[1]);
    close(ends[1]);
    if (error) {
        close(ends[0]);
        return refuse_zygote(why, "the helper process does not start", error);
    }
    z->control = ends[0];
    return true;
}

/* Killed rather than asked: it holds nothing that must be saved. */
static void kill_zygote(PtcZygote *z)
{
    if (z->control < 0)
        return;
    close(z->control);
    z->control = -1;
    kill(z->pid, SIGKILL);
    while (waitpid(z->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
}

static bool set_zygote_path(PtcZygote *z, const char *path)
{
    z->path_size = strlen(path) + 1;
    z->path = ptc_mem_alloc(&z->mem, z->path_size);
    if (z->path)
        memcpy(z->path, path, z->path_size);
    return z->path;
}

/* The struct is not charged to the ledger inside it, because that ledger does not exist yet. */
static PtcZygote *new_zygote(void)
{
    PtcMem mem;
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    PtcZygote *z = ptc_mem_alloc(&mem, sizeof *z);
    if (!z)
        return NULL;
    memset(z, 0, sizeof *z);
    ptc_mem_init(&z->mem, PTC_UNBOUNDED);
    ptc_buf_init(&z->told, &z->mem, 64 * PTC_MB);
    z->control = -1;
    pthread_mutex_init(&z->lock, NULL);
    return z;
}

PtcZygote *ptc_zygote_start(const char *path, PtcWhy *why)
{
    PtcZygote *z = new_zygote();
    ptc_why_no_memory(why);
    if (z && set_zygote_path(z, path ? path : "/proc/self/exe") && launch(z, why))
        return z;
    ptc_zygote_free(z);
    return NULL;
}

void ptc_zygote_free(PtcZygote *z)
{
    PtcMem mem;
    if (!z)
        return;
    kill_zygote(z);
    pthread_mutex_destroy(&z->lock);
    ptc_buf_deinit(&z->told);
    ptc_mem_free(&z->mem, z->path, z->path_size);
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    atomic_store(&mem.used, sizeof *z);
    ptc_mem_free(&mem, z, sizeof *z);
}

/* -------------------------------------------------------------------- question, answer */

/* A fork takes a millisecond, on a busy machine more; a helper that takes this long was stopped by somebody. */
enum { FORK_MS = 5000, NO_HURRY = -1 };

typedef struct ZygoteAnswer {
    bool gone; /* the helper died, or does not answer */
    PtcText rest;
    int fd;
} ZygoteAnswer;

/* Is there an answer within this time? */
static bool await_answer(const PtcZygote *z, int ms)
{
    struct pollfd p = {.fd = z->control, .events = POLLIN};
    int64_t end = ptc_clock_ns(NULL) + ms * PTC_MS;
    int n;
    do
        n = poll(&p, 1, ms);
    while (n < 0 && errno == EINTR && (ms < 0 || ptc_clock_ns(NULL) < end));
    return n != 0;
}

/* Sends a question and reads the answer.  False: the helper refused, with its reason in why, has ended, or did not
 * answer in time. */
static bool ask_zygote(PtcZygote *z, const void *bytes, size_t len, int fd, int ms, ZygoteAnswer *a,
                       PtcWhy *why)
{
    *a = (ZygoteAnswer){.gone = true, .fd = -1};
    ptc_why_say(why, PTC_WHY_INVALID, "the helper process has ended");
    if (z->control < 0 || !ptc_zygote_send(z->control, bytes, len, fd))
        return false;
    if (!await_answer(z, ms))
        return ptc_why_say(why, PTC_WHY_INVALID, "the helper process does not answer");
    ssize_t n = ptc_zygote_receive(z->control, z->packet, sizeof z->packet, &a->fd);
    if (n < (ssize_t)sizeof(uint32_t))
        return false;
    PtcPackedReader c = ptc_unpack_begin(z->packet, (size_t)n);
    bool ok = ptc_unpack_u32(&c);
    a->gone = false;
    a->rest = (PtcText){c.at, (size_t)(c.end - c.at)};
    if (!ok)
        ptc_why_say(why, PTC_WHY_INVALID, "%.*s", PTC_ARG(a->rest));
    return ok;
}

/* Sends something that a replacement helper must be told as well. */
static bool tell_zygote(PtcZygote *z, const PtcBuf *packet, ZygoteAnswer *a, PtcWhy *why)
{
    ptc_why_say(why, PTC_WHY_NO_MEMORY, "out of memory, or too long");
    if (!ptc_buf_ok(packet) || packet->len > PTC_ZYGOTE_PACKET)
        return false;
    if (!ask_zygote(z, packet->data, packet->len, -1, NO_HURRY, a, why))
        return false;
    ptc_why_no_memory(why);
    return ptc_pack_text(&z->told, (PtcText){packet->data, packet->len});
}

/* Starts a new helper and repeats everything its predecessor was told.  One that does not take all of it (a data file
 * may be gone) is stopped, so that the next fork tries again. */
static bool revive(PtcZygote *z, PtcWhy *why)
{
    ZygoteAnswer a;
    PtcPackedReader c = ptc_unpack_begin(z->told.data, z->told.len);
    kill_zygote(z);
    if (!launch(z, why))
        return false;
    while (c.at < c.end) {
        PtcText packet = ptc_unpack_text(&c);
        if (!ask_zygote(z, packet.bytes, packet.len, -1, NO_HURRY, &a, why)) {
            kill_zygote(z);
            return false;
        }
    }
    return true;
}

/* Including the NUL, so that the helper can use the bytes as a C string. */
static bool put_zygote_text(PtcBuf *buf, const char *text)
{
    return ptc_pack_text(buf, (PtcText){text, strlen(text) + 1});
}

static bool take_loaded(PtcText answer, PtcLoaded *loaded)
{
    PtcPackedReader c = ptc_unpack_begin(answer.bytes, answer.len);
    loaded->count = (size_t)ptc_unpack_i64(&c);
    loaded->bytes = (size_t)ptc_unpack_i64(&c);
    if (c.bad || !loaded->about)
        return !c.bad;
    ptc_buf_clear(loaded->about);
    return ptc_buf_add(loaded->about, c.at, (size_t)(c.end - c.at));
}

bool ptc_zygote_load(PtcZygote *z, const char *name, const char *path, PtcLoaded *loaded,
                     PtcWhy *why)
{
    PtcBuf packet;
    ZygoteAnswer a;
    ptc_buf_init(&packet, &z->mem, PTC_ZYGOTE_PACKET);
    ptc_pack_u32(&packet, PTC_ZYGOTE_DATA);
    put_zygote_text(&packet, name);
    put_zygote_text(&packet, path);
    pthread_mutex_lock(&z->lock);
    bool ok = tell_zygote(z, &packet, &a, why);
    if (ok && !take_loaded(a.rest, loaded)) {
        ptc_why_no_memory(why);
        ok = false;
    }
    pthread_mutex_unlock(&z->lock);
    ptc_buf_deinit(&packet);
    return ok;
}

/* ------------------------------------------------------------------------------- lock */

static PtcText cut_zygote_text(const char *text, size_t len)
{
    return (PtcText){text, len < PTC_ZYGOTE_DESCRIBE ? len : PTC_ZYGOTE_DESCRIBE};
}

/* A packet holds only a part of a long text, so it goes in pieces. */
static bool tell_source(PtcZygote *z, PtcText source, PtcWhy *why)
{
    bool ok = true;
    for (size_t at = 0; ok && at < source.len; at += PTC_ZYGOTE_DESCRIBE) {
        PtcBuf packet;
        ZygoteAnswer a;
        ptc_buf_init(&packet, &z->mem, PTC_ZYGOTE_PACKET);
        ptc_pack_u32(&packet, PTC_ZYGOTE_SOURCE);
        ptc_pack_text(&packet, cut_zygote_text(source.bytes + at, source.len - at));
        ok = tell_zygote(z, &packet, &a, why);
        ptc_buf_deinit(&packet);
    }
    return ok;
}

static bool tell_tool(PtcZygote *z, const PtcTool *tool, bool learns, PtcWhy *why)
{
    const PtcToolInfo *info = &tool->info;
    bool is_lisp = tool->lisp != PTC_NONE;
    PtcBuf packet;
    ZygoteAnswer a;
    if (is_lisp && !tell_source(z, tool->source, why))
        return false;
    ptc_buf_init(&packet, &z->mem, PTC_ZYGOTE_PACKET);
    ptc_pack_u32(&packet, PTC_ZYGOTE_TOOL);
    ptc_pack_text(&packet, cut_zygote_text(info->name, info->name_len));
    ptc_pack_text(&packet, cut_zygote_text(info->signature, info->signature_len));
    ptc_pack_text(&packet, cut_zygote_text(info->description, info->description_len));
    ptc_pack_u32(&packet, info->skip_validation);
    ptc_pack_u32(&packet, info->extra);
    ptc_pack_u32(&packet, info->cache);
    ptc_pack_u32(&packet, info->on_error_value);
    ptc_pack_u32(&packet, info->read_only);
    ptc_pack_u32(&packet, is_lisp);
    ptc_pack_u32(&packet, is_lisp && info->serial);
    ptc_pack_u32(&packet, learns);
    /* Other tools are called by the server, which bounds each try. */
    ptc_pack_i64(&packet, is_lisp ? info->timeout_ms : 0);
    bool ok = tell_zygote(z, &packet, &a, why);
    ptc_buf_deinit(&packet);
    return ok;
}

static bool tell_lock(PtcZygote *z, const PtcLimits *limits, bool inspectable, PtcWhy *why)
{
    PtcBuf packet;
    PtcLimits all;
    ZygoteAnswer a;
    ptc_limits_unset(&all);
    if (limits && limits->size >= sizeof limits->size)
        memcpy(&all, limits, limits->size < sizeof all ? limits->size : sizeof all);
    all.size = sizeof all;
    ptc_buf_init(&packet, &z->mem, PTC_ZYGOTE_PACKET);
    ptc_pack_u32(&packet, PTC_ZYGOTE_LOCK);
    ptc_pack_u32(&packet, inspectable);
    ptc_pack_text(&packet, (PtcText){(const char *)&all, sizeof all});
    bool ok = tell_zygote(z, &packet, &a, why);
    ptc_buf_deinit(&packet);
    return ok;
}

bool ptc_zygote_lock(PtcZygote *z, const PtcTools *tools, const PtcLimits *limits, bool inspectable,
                     PtcWhy *why)
{
    bool ok = true;
    pthread_mutex_lock(&z->lock);
    for (size_t i = 0; ok && tools && i < tools->count; i++)
        ok = tell_tool(z, &tools->items[i], tools->learns, why);
    ok = ok && tell_lock(z, limits, inspectable, why);
    pthread_mutex_unlock(&z->lock);
    return ok;
}

/* ------------------------------------------------------------------------------- fork */

static bool ask_fork(PtcZygote *z, int end, int *pidfd, pid_t *pid, PtcWhy *why, bool *gone)
{
    uint32_t word = PTC_ZYGOTE_FORK;
    ZygoteAnswer a;
    bool ok = ask_zygote(z, &word, sizeof word, end, FORK_MS, &a, why);
    *gone = a.gone;
    *pidfd = a.fd;
    if (!ok || a.fd < 0 || a.rest.len != sizeof word) {
        if (a.fd >= 0)
            close(a.fd);
        return false;
    }
    memcpy(&word, a.rest.bytes, sizeof word);
    *pid = (pid_t)word;
    return true;
}

/* A helper that died or was stopped is replaced once; if that fails too, the caller is told. */
static bool fork_with(PtcZygote *z, int end, int *pidfd, pid_t *pid, PtcWhy *why)
{
    bool gone;
    if (ask_fork(z, end, pidfd, pid, why, &gone))
        return true;
    return gone && revive(z, why) && ask_fork(z, end, pidfd, pid, why, &gone);
}

/* The socket is made here, so that the helper never sees more than one end of it. */
bool ptc_zygote_fork(PtcZygote *z, int *fd, int *pidfd, pid_t *pid, PtcWhy *why)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return refuse_zygote(why, "no socket for a worker", errno);
    pthread_mutex_lock(&z->lock);
    bool ok = fork_with(z, ends[1], pidfd, pid, why);
    pthread_mutex_unlock(&z->lock);
    close(ends[1]);
    if (!ok)
        close(ends[0]);
    *fd = ends[0];
    return ok;
}
