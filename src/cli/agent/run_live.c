/* SPDX-License-Identifier: MIT
 * The live line.  What always holds: the call that ends it only returns once the line is erased and nothing more will
 * be drawn. */
#include "cli/agent/run_live.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "agent/run/agent_run.h"
#include "base/os/cond.h"
#include "cli/io.h"
#include "cli/out/shown.h"
#include "engine/outcome.h"

enum { TICK_MS = 100, COLUMNS = 80, LIVE_LINE_BYTES = 512 };

static const char erase[] = "\r\033[K";

/* ------------------------------------------------------------------------------- drawing */

static size_t terminal_columns(void)
{
    struct winsize size;
    return ioctl(PTC_IO_STDERR, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col : COLUMNS;
}

static void add_counted_word(PtcBuf *out, uint64_t n, const char *what)
{
    if (n)
        ptc_buf_addf(out, ", %llu %s%s", (unsigned long long)n, what, n == 1 ? "" : "s");
}

/* Without the lock: a terminal may be slow. */
static void draw_live_line(const PtcRunLive *l, const PtcLiveState *now)
{
    PtcMem mem;
    PtcBuf text, line;
    double seconds = (double)(ptc_clock_ns(NULL) - l->began_ns) / 1e9;
    ptc_mem_init(&mem, (size_t)64 * LIVE_LINE_BYTES);
    ptc_buf_init(&text, &mem, LIVE_LINE_BYTES);
    ptc_buf_init(&line, &mem, (size_t)8 * LIVE_LINE_BYTES);
    ptc_buf_addf(&text, "turn %lld, ", (long long)now->turn);
    ptc_shown_add(&text, now->doing, strlen(now->doing));
    add_counted_word(&text, now->calls, "tool call");
    add_counted_word(&text, now->tokens, "token");
    ptc_buf_addf(&text, ", %.1f s", seconds);
    if (text.len >= terminal_columns())
        text.len =
            terminal_columns() - 1; /* all of it is ASCII: a line that wraps could not be erased */
    ptc_buf_addf(&line, "%s%s%.*s%s", erase, l->colour ? "\033[2m" : "",
                 PTC_ARG_OF(text.data, text.len), l->colour ? "\033[0m" : "");
    if (ptc_buf_ok(&line))
        (void)!ptc_io_write(PTC_IO_STDERR, line.data, line.len);
    ptc_buf_deinit(&line);
    ptc_buf_deinit(&text);
}

/* With the lock held: the line is away until somebody calls resume. */
static void rest(PtcRunLive *l, bool *drawn)
{
    if (*drawn)
        (void)!ptc_io_write(PTC_IO_STDERR, erase, sizeof erase - 1);
    *drawn = false;
    l->resting = true;
    pthread_cond_broadcast(&l->rested);
    while (l->paused && !l->over)
        pthread_cond_wait(&l->wake, &l->lock);
    l->resting = false;
}

static void *draw_all(void *user)
{
    PtcRunLive *l = user;
    bool drawn = false;
    int64_t next = ptc_clock_ns(NULL);
    pthread_mutex_lock(&l->lock);
    while (!l->over) {
        next += TICK_MS * PTC_MS;
        while (!l->over && !l->paused && ptc_cond_wait_until(&l->wake, &l->lock, next))
            continue;
        if (l->paused)
            rest(l, &drawn);
        if (l->over)
            break;
        PtcLiveState now = l->now;
        pthread_mutex_unlock(&l->lock);
        draw_live_line(l, &now);
        drawn = true;
        pthread_mutex_lock(&l->lock);
        next = ptc_clock_ns(NULL);
    }
    pthread_mutex_unlock(&l->lock);
    if (drawn)
        (void)!ptc_io_write(PTC_IO_STDERR, erase, sizeof erase - 1);
    return NULL;
}

/* ---------------------------------------------------------------------- beginning and end */

static bool can_draw(void)
{
    const char *term = getenv("TERM");
    return ptc_shown_on(PTC_IO_STDERR) && term && *term && strcmp(term, "dumb") != 0;
}

/* Signals are left to the thread that runs the agent. */
static bool start_drawing(PtcRunLive *l)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    bool ok = pthread_create(&l->thread, NULL, draw_all, l) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return ok;
}

void ptc_run_live_begin(PtcRunLive *l)
{
    const char *plain = getenv("NO_COLOR");
    *l = (PtcRunLive){.began_ns = ptc_clock_ns(NULL),
                      .colour = !(plain && *plain),
                      .now = {.turn = 1, .doing = "starting"}};
    if (!can_draw() || pthread_mutex_init(&l->lock, NULL) != 0)
        return;
    ptc_cond_init(&l->wake);
    ptc_cond_init(&l->rested);
    l->on = start_drawing(l);
}

/* A pause has begun once nothing more is written. */
static void set_paused(PtcRunLive *l, bool paused)
{
    if (!l->on)
        return;
    pthread_mutex_lock(&l->lock);
    l->paused = paused;
    pthread_cond_signal(&l->wake);
    while (paused && !l->resting)
        pthread_cond_wait(&l->rested, &l->lock);
    pthread_mutex_unlock(&l->lock);
}

void ptc_run_live_pause(PtcRunLive *l)
{
    set_paused(l, true);
}

void ptc_run_live_resume(PtcRunLive *l)
{
    set_paused(l, false);
}

void ptc_run_live_end(PtcRunLive *l)
{
    if (!l->on)
        return;
    l->on = false;
    pthread_mutex_lock(&l->lock);
    l->over = true;
    pthread_cond_signal(&l->wake);
    pthread_mutex_unlock(&l->lock);
    pthread_join(l->thread, NULL);
    pthread_cond_destroy(&l->rested);
    pthread_cond_destroy(&l->wake);
    pthread_mutex_destroy(&l->lock);
}

/* -------------------------------------------------------------------------------- events */

/* What is being done, and by which agent if it is not the top one. */
static void set_doing(PtcLiveState *l, const PtcProgress *p, const char *what, PtcText tool)
{
    snprintf(l->doing, sizeof l->doing, "%s%.*s%s%.*s", what, PTC_ARG(ptc_text_cut(tool, 64)),
             p->agent.len ? " in " : "", PTC_ARG(ptc_text_cut(p->agent, 40)));
}

static PtcText first_tool(const PtcProgress *p)
{
    const PtcToolInfo *info = &p->what->def->tools->items[p->orders[0].tool].info;
    return (PtcText){info->name, info->name_len};
}

static void take_live_progress(PtcLiveState *l, const PtcProgress *p)
{
    static const PtcText none;
    switch (p->kind) {
    case PTC_PROGRESS_ASKED:
        l->turn = p->agent.len ? l->turn : p->turn;
        set_doing(l, p, "asking the model", none);
        break;
    case PTC_PROGRESS_ANSWERED:
        l->tokens += (uint64_t)(p->reply->tokens.input + p->reply->tokens.output);
        break;
    case PTC_PROGRESS_PROGRAM_BEGAN: set_doing(l, p, "running a program", none); break;
    case PTC_PROGRESS_PROGRAM_ENDED: l->calls += p->outcome ? p->outcome->log.total : 0; break;
    case PTC_PROGRESS_CALLING: set_doing(l, p, "calling ", first_tool(p)); break;
    case PTC_PROGRESS_CALLED: l->calls += p->call_count; break;
    case PTC_PROGRESS_RUN_BEGAN:
    case PTC_PROGRESS_RUN_ENDED:
    case PTC_PROGRESS_TURN_ENDED: break;
    }
}

void ptc_run_live_tell(PtcRunLive *l, const PtcProgress *p)
{
    if (!l->on)
        return;
    pthread_mutex_lock(&l->lock);
    take_live_progress(&l->now, p);
    pthread_mutex_unlock(&l->lock);
}
