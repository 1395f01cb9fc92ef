/* SPDX-License-Identifier: MIT
 * A link over the pipes of a process.  What always holds: whoever sends writes at once if nothing waits before it,
 * otherwise the loop does, so messages never mix; a line is kept up to the limit and skipped beyond, so no server makes
 * the buffer grow; standard error is read as long as the process lives, whatever it says. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/os/sigpipe.h"
#include "base/utf8.h"
#include "json/members.h"
#include "mcp/client/link_int.h"
#include "mcp/client/stdio_child.h"

enum {
    USUAL_BYTES = 2 * ROUND_BYTES, /* of the buffer for lines: more needs room that links share */
    CLAIM_BYTES = 1 << 20,         /* taken of that room at once */
    STDIO_RETRY_MS = 20,           /* between two attempts to get some */
    LARGE_MS = 30 * 1000,          /* for a large line to be complete: it keeps others waiting */
    EDGE_BYTES = 256,              /* kept of both ends of a line that is too long */
    PRINTED_BYTES = 120,           /* shown of what came before the first message */
    LAST_READS = 64,               /* once the process has ended */
    STDIO_LAST_MS = 200,           /* for the process to end once it has closed its output */
};

/* The pipes of a process.  The queue of what is to be written is guarded by the link's lock, since whoever asks
 * may write at once; the rest belongs to the loop's thread. */
struct PtcStdioWire {
    PtcLink *link;
    PtcStdioChild child; /* `in` is under the lock */
    PtcLinkOut *first, **last;
    size_t queued; /* bytes of those; locked as well */
    PtcLoopWatch in, out, err, control;
    PtcLoopTimer timer; /* for room, or for the end of the process */
    /* Of the process: a callback may have ended the one whose output is being read. */
    uint64_t generation;
    /* standard output */
    PtcBuf line;
    size_t scanned; /* no line feed before this */
    bool skipping, out_ended;
    size_t skipped, head_len, tail_len;
    char head[EDGE_BYTES], tail[EDGE_BYTES];
    size_t claimed; /* of the room */
    int64_t large_since_ns;
    size_t printed_len;
    char printed[PRINTED_BYTES]; /* the beginning of what is no message, before the first one */
    /* standard error */
    PtcBuf said; /* the end of it */
    char log[LOG_LINE];
    size_t log_len;
};

#define WIRE_OF(node, member) \
    ((PtcStdioWire *)(void *)((char *)(node)-offsetof(PtcStdioWire, member)))

static int64_t ns_in_ms_from_now(int64_t ms)
{
    return ptc_clock_ns(NULL) + ms * PTC_MS;
}

/* -------------------------------------------------------------------------- sending */

static void free_out(PtcLink *l, PtcLinkOut *node)
{
    ptc_buf_deinit(&node->text);
    ptc_mem_free(l->mem, node, sizeof *node);
}

/* Writes what the pipe takes; -1: the server has closed it. */
static ssize_t write_to_pipe(int fd, const char *bytes, size_t n)
{
    ssize_t wrote;
    PtcSigpipe held;
    ptc_sigpipe_hold(&held); /* hosts of the library need not have ignored the signal */
    do
        wrote = write(fd, bytes, n);
    while (wrote < 0 && errno == EINTR);
    ptc_sigpipe_release(&held);
    return wrote < 0 && errno == EAGAIN ? 0 : wrote;
}

/* Takes the message over; its first bytes may have been written. */
static void queue_stdio_message(PtcLink *l, PtcLinkOut *node, const Outgoing *o, size_t sent)
{
    PtcStdioWire *s = l->stdio;
    *node = (PtcLinkOut){.text = *o->text, .sent = sent, .ask = o->ask, .unasked = o->ask == NULL};
    atomic_fetch_add(&l->unasked, node->unasked);
    ptc_buf_init(o->text, l->mem, PTC_UNBOUNDED);
    s->queued += node->text.len - sent;
    *s->last = node;
    s->last = &node->next;
    if (o->ask)
        o->ask->out = node;
    (void)ptc_link_wake(l); /* a link with a process has a loop that runs */
}

/* Half a message cannot be taken back, so there is a node for its rest before its first byte is written. */
static const char *stdio_send(PtcLink *l, const Outgoing *o)
{
    PtcStdioWire *s = l->stdio;
    if (s->child.in < 0)
        return "it is not connected";
    size_t room = OUT_BYTES - s->queued; /* for the line feed, too */
    if (o->text->len >= room || (!o->ask && atomic_load(&l->unasked) >= UNASKED))
        return "it does not read its standard input";
    PtcLinkOut *node = ptc_mem_alloc(l->mem, sizeof *node);
    bool ready = node && ptc_buf_add(o->text, "\n", 1);
    ssize_t n = !ready || s->first ? 0 : write_to_pipe(s->child.in, o->text->data, o->text->len);
    if (n < 0 && l->state == PTC_LINK_CONNECTING)
        n = 0; /* it has ended: its status and its last words, which are on their way, say more */
    if (o->ask)
        o->ask->delivered = n > 0;
    if (ready && n >= 0 && (size_t)n < o->text->len)
        queue_stdio_message(l, node, o, (size_t)n);
    else
        ptc_mem_free(l->mem, node, sizeof *node);
    return !ready ? "out of memory" : n < 0 ? "it has closed its standard input" : NULL;
}

static void pop_out(PtcLink *l)
{
    PtcStdioWire *s = l->stdio;
    PtcLinkOut *node = s->first;
    s->first = node->next;
    if (!s->first)
        s->last = &s->first;
    if (node->ask)
        node->ask->out = NULL;
    atomic_fetch_sub(&l->unasked, node->unasked);
    free_out(l, node);
}

/* Locked.  Writes of the queue what there is time and room for. */
static void flush_stdio_queue(PtcLink *l)
{
    PtcStdioWire *s = l->stdio;
    for (size_t budget = ROUND_BYTES; s->first && budget > 0;) {
        PtcLinkOut *node = s->first;
        size_t left = node->text.len - node->sent, most = left < budget ? left : budget;
        ssize_t n = write_to_pipe(s->child.in, node->text.data + node->sent, most);
        if (n < 0) { /* closed; its exit, or the time of the asks, tells them */
            s->in.events = 0;
            return;
        }
        if (n == 0)
            return;
        node->sent += (size_t)n;
        s->queued -= (size_t)n;
        budget -= (size_t)n;
        if (node->ask)
            node->ask->delivered = true;
        if (node->sent == node->text.len)
            pop_out(l);
    }
}

static void on_writable(PtcLoopWatch *watch, short events)
{
    PtcStdioWire *s = WIRE_OF(watch, in);
    (void)events;
    pthread_mutex_lock(&s->link->lock);
    if (s->child.in >= 0)
        flush_stdio_queue(s->link);
    if (!s->first)
        watch->events = 0;
    pthread_mutex_unlock(&s->link->lock);
}

static void stdio_wake(PtcLink *l)
{
    PtcStdioWire *s = l->stdio;
    pthread_mutex_lock(&l->lock);
    if (s->first && s->in.at)
        s->in.events = POLLOUT;
    pthread_mutex_unlock(&l->lock);
}

/* What has not begun to be written is taken back; so it can be sent again without being done twice. */
static void stdio_forget(PtcLink *l, PtcLinkAsk *ask)
{
    PtcStdioWire *s = l->stdio;
    PtcLinkOut *node = ask->out, **at = &s->first;
    ask->out = NULL;
    if (!node)
        return;
    node->ask = NULL;
    if (node->sent > 0)
        return;
    while (*at != node)
        at = &(*at)->next;
    *at = node->next;
    if (s->last == &node->next)
        s->last = at;
    s->queued -= node->text.len;
    free_out(l, node);
}

/* ------------------------------------------------------------------- standard error */

static void keep_said(PtcStdioWire *s, const char *bytes, size_t n)
{
    PtcBuf *buf = &s->said;
    if (n > TAIL_BYTES) {
        bytes += n - TAIL_BYTES;
        n = TAIL_BYTES;
    }
    if (n > TAIL_BYTES - buf->len) {
        size_t drop = buf->len + n - TAIL_BYTES;
        buf->len -= drop;
        memmove(buf->data, buf->data + drop, buf->len);
    }
    ptc_buf_add(buf, bytes, n);
}

static void log_child_line(PtcStdioWire *s)
{
    if (s->log_len && s->log[s->log_len - 1] == '\r')
        s->log_len--;
    ptc_link_log(s->link, "%.*s", PTC_ARG_OF(s->log, s->log_len));
    s->log_len = 0;
}

static void take_said(PtcStdioWire *s, const char *bytes, size_t n)
{
    keep_said(s, bytes, n);
    while (n) {
        const char *lf = memchr(bytes, '\n', n);
        size_t len = lf ? (size_t)(lf - bytes) : n, room = sizeof s->log - s->log_len;
        size_t kept = len < room ? len : room;
        memcpy(s->log + s->log_len, bytes, kept);
        s->log_len += kept;
        if (lf && s->log_len)
            log_child_line(s);
        bytes += len + (lf != NULL);
        n -= len + (lf != NULL);
    }
}

/* False: there is nothing more for now. */
static bool read_said(PtcStdioWire *s)
{
    char bytes[16 * PTC_KB];
    ssize_t n = s->child.err < 0 ? -1 : read(s->child.err, bytes, sizeof bytes);
    if (n > 0)
        take_said(s, bytes, (size_t)n);
    else if (n == 0 || errno != EAGAIN)
        s->err.events = 0;
    return n > 0;
}

static void on_said(PtcLoopWatch *watch, short events)
{
    PtcStdioWire *s = WIRE_OF(watch, err);
    (void)events;
    for (int i = 0; i < ROUND_BYTES / (16 * PTC_KB) && read_said(s); i++)
        continue;
}

/* ------------------------------------------------------------------ standard output */

static void release_room(PtcStdioWire *s)
{
    if (s->claimed)
        atomic_fetch_sub(&s->link->config.room->used, s->claimed);
    s->claimed = 0;
    s->large_since_ns = 0;
}

static bool claim_room(PtcStdioWire *s, size_t bytes)
{
    PtcLinkRoom *room = s->link->config.room;
    size_t want = (bytes + CLAIM_BYTES - 1) / CLAIM_BYTES * CLAIM_BYTES;
    if (!room || want <= s->claimed)
        return true;
    size_t more = want - s->claimed, used = atomic_load(&room->used);
    do
        if (used > room->limit || more > room->limit - used)
            return false;
    while (!atomic_compare_exchange_weak(&room->used, &used, used + more));
    s->claimed = want;
    return true;
}

/* From here on this line is not kept. */
static void begin_skipping(PtcStdioWire *s)
{
    size_t n = s->line.len < EDGE_BYTES ? s->line.len : EDGE_BYTES;
    if (n) { /* there may have been no memory for any of it */
        memcpy(s->head, s->line.data, n);
        memcpy(s->tail, s->line.data + s->line.len - n, n);
    }
    s->head_len = s->tail_len = n;
    s->skipped = s->line.len;
    s->skipping = true;
    s->scanned = 0;
    ptc_buf_deinit(&s->line);
    ptc_buf_init(&s->line, s->link->mem, PTC_UNBOUNDED);
    release_room(s);
}

static void skip_line_bytes(PtcStdioWire *s, const char *bytes, size_t n)
{
    s->skipped += n;
    if (n >= EDGE_BYTES) {
        memcpy(s->tail, bytes + n - EDGE_BYTES, EDGE_BYTES);
        s->tail_len = EDGE_BYTES;
        return;
    }
    size_t keep = s->tail_len < EDGE_BYTES - n ? s->tail_len : EDGE_BYTES - n;
    memmove(s->tail, s->tail + s->tail_len - keep, keep);
    memcpy(s->tail + keep, bytes, n);
    s->tail_len = keep + n;
}

/* A large line keeps others from theirs, so it has to come to its end some time. */
static bool claim_in_time(PtcStdioWire *s, size_t need)
{
    int64_t now = ptc_clock_ns(NULL);
    if (s->large_since_ns == 0)
        s->large_since_ns = now;
    if (s->link->config.room && now - s->large_since_ns > LARGE_MS * PTC_MS) {
        begin_skipping(s);
        return true;
    }
    return claim_room(s, need);
}

/* Room for another piece of the line.  False: not now. */
static bool make_line_room(PtcStdioWire *s)
{
    size_t need = s->line.len + ROUND_BYTES;
    if (need > USUAL_BYTES && !claim_in_time(s, need))
        return false;
    if (ptc_buf_reserve(&s->line, ROUND_BYTES))
        return true;
    if (s->line.len) /* without memory this line is lost, but not those behind it */
        begin_skipping(s);
    s->line.failed = false;
    return ptc_buf_reserve(&s->line, ROUND_BYTES);
}

/* As text on one line. */
static void keep_printed(PtcStdioWire *s, PtcText text)
{
    for (size_t i = 0; i < text.len && s->printed_len < PRINTED_BYTES; i++) {
        unsigned char c = (unsigned char)text.bytes[i];
        s->printed[s->printed_len++] = (char)(c < ' ' || c == 0x7f ? ' ' : c);
    }
    if (s->printed_len < PRINTED_BYTES)
        s->printed[s->printed_len++] = ' ';
}

/* Something was printed where only messages belong.  A prompt or a banner without a line feed may stand before an
 * answer to the handshake; later, and before requests, it is more likely to be a log that quotes one. */
static void take_junk(PtcStdioWire *s, PtcText line)
{
    bool early = s->link->state == PTC_LINK_CONNECTING;
    const char *at = early ? memchr(line.bytes, '{', line.len) : NULL;
    PtcText rest = {at, at ? line.len - (size_t)(at - line.bytes) : 0};
    if (at && ptc_members_get(rest, "method").bytes)
        at = NULL;
    if (early)
        keep_printed(s, at ? (PtcText){line.bytes, (size_t)(at - line.bytes)} : line);
    if (s->link->junk++ == 0)
        ptc_link_log(s->link,
                     "something on its standard output is not a message and was skipped: %.*s",
                     PTC_ARG(ptc_text_cut(line, 80)));
    if (at)
        (void)!ptc_link_take_message(s->link, rest);
}

static void take_child_line(PtcStdioWire *s, PtcText line)
{
    if (s->skipping) {
        skip_line_bytes(s, line.bytes, line.len);
        s->skipping = false;
        ptc_link_too_long(s->link, (PtcText){s->head, s->head_len}, (PtcText){s->tail, s->tail_len},
                          s->skipped);
        return;
    }
    while (line.len && (unsigned char)line.bytes[line.len - 1] <= ' ')
        line.len--;
    if (line.len > s->link->config.max_message) { /* it came whole, all at once */
        size_t tail = line.len < sizeof s->tail ? line.len : sizeof s->tail;
        size_t head = line.len < sizeof s->head ? line.len : sizeof s->head;
        ptc_link_too_long(s->link, (PtcText){line.bytes, head},
                          (PtcText){line.bytes + line.len - tail, tail}, line.len);
        return;
    }
    if (line.len && !ptc_link_take_message(s->link, line))
        take_junk(s, line);
}

/* Hands out whole lines; false: a callback has ended this process. */
static bool take_child_lines(PtcStdioWire *s)
{
    uint64_t generation = s->generation;
    size_t from = 0, len = s->line.len;
    for (;;) {
        char *data = s->line.data;
        char *lf = memchr(data + s->scanned, '\n', len - s->scanned);
        if (!lf)
            break;
        take_child_line(s, (PtcText){data + from, (size_t)(lf - data) - from});
        if (generation != s->generation)
            return false;
        from = s->scanned = (size_t)(lf - data) + 1;
    }
    s->line.len = len - from;
    if (from)
        memmove(s->line.data, s->line.data + from, s->line.len);
    s->scanned = s->line.len;
    return true;
}

static void settle_buffer(PtcStdioWire *s)
{
    if (s->skipping) {
        skip_line_bytes(s, s->line.data, s->line.len);
        s->line.len = s->scanned = 0;
    } else if (s->line.len > s->link->config.max_message) {
        begin_skipping(s);
    }
    if (s->line.len + ROUND_BYTES > USUAL_BYTES)
        return;
    release_room(s);
    if (s->line.cap > 2 * USUAL_BYTES)
        (void)!ptc_buf_resize(&s->line, USUAL_BYTES);
}

typedef enum { READ_SOME, READ_NOTHING, NO_ROOM } ReadEnd;

/* One piece. */
static ReadEnd read_output(PtcStdioWire *s)
{
    if (s->child.out < 0 || s->out_ended)
        return READ_NOTHING;
    if (!make_line_room(s))
        return NO_ROOM;
    ssize_t n = read(s->child.out, s->line.data + s->line.len, ROUND_BYTES);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return READ_NOTHING;
    if (n <= 0) {
        s->out_ended = true;
        s->out.events = 0;
        return READ_NOTHING;
    }
    s->line.len += (size_t)n;
    if (take_child_lines(s))
        settle_buffer(s);
    return READ_SOME;
}

/* A server that closed its output cannot answer any more; usually it ends now, and then its status says more. */
static void on_output(PtcLoopWatch *watch, short events)
{
    PtcStdioWire *s = WIRE_OF(watch, out);
    uint64_t generation = s->generation;
    (void)events;
    ReadEnd reading = read_output(s);
    if (generation != s->generation || reading == READ_SOME)
        return;
    if (s->out_ended) {
        ptc_loop_set(s->link->loop, &s->timer, ns_in_ms_from_now(STDIO_LAST_MS));
    } else if (reading == NO_ROOM) { /* others have to finish first */
        watch->events = 0;
        ptc_loop_set(s->link->loop, &s->timer, ns_in_ms_from_now(STDIO_RETRY_MS));
    }
}

/* ------------------------------------------------------------------------------ end */

static void add_exit_status(PtcBuf *why, int status)
{
    if (status < 0)
        ptc_buf_add_cstr(why, "it ended");
    else if (status > 128)
        ptc_buf_addf(why, "it was ended by signal %d (%s)", status - 128, strsignal(status - 128));
    else
        ptc_buf_addf(why, "it ended with status %d", status);
}

/* The last line may have no end yet; those before it have been looked at. */
static void tell_printed(PtcStdioWire *s, PtcBuf *why)
{
    PtcText open = ptc_buf_view(&s->line);
    size_t begin = open.len;
    while (begin && open.bytes[begin - 1] != '\n')
        begin--;
    if (begin < open.len)
        keep_printed(s, (PtcText){open.bytes + begin, open.len - begin});
    bool cut = s->printed_len == PRINTED_BYTES;
    PtcText printed = {s->printed, s->printed_len};
    while (printed.len && printed.bytes[printed.len - 1] == ' ')
        printed.len--;
    if (!printed.len)
        return;
    ptc_buf_add_cstr(why, "; before its first message it printed \"");
    ptc_utf8_add(why, printed);
    ptc_buf_add_cstr(why, cut ? "...\"" : "\""); /* dots, so that half a secret is taken for one */
}

/* What it has said is read first, as far as it has come. */
static void stdio_explain(PtcLink *l, PtcBuf *why)
{
    PtcStdioWire *s = l->stdio;
    for (int i = 0; i < LAST_READS && read_said(s); i++)
        continue;
    tell_printed(s, why);
    PtcText said = ptc_buf_view(&s->said);
    while (said.len && (unsigned char)said.bytes[said.len - 1] <= ' ')
        said.len--;
    if (said.len) {
        ptc_buf_add_cstr(why, "; its standard error ends with: ");
        ptc_utf8_add(why, said); /* it may speak anything */
    }
}

static void take_child_down(PtcStdioWire *s, PtcBuf *why)
{
    PtcLink *l = s->link;
    if (l->state == PTC_LINK_CONNECTING)
        stdio_explain(l, why);
    ptc_link_down(l, ptc_buf_view(why));
    ptc_buf_deinit(why);
}

static void end_silent_child(PtcLoopTimer *timer)
{
    PtcStdioWire *s = WIRE_OF(timer, timer);
    PtcBuf why;
    if (!s->out_ended) {
        s->out.events = POLLIN;
        return;
    }
    ptc_buf_init(&why, s->link->mem, WHY_BYTES);
    ptc_buf_add_cstr(&why, "it closed its standard output");
    take_child_down(s, &why);
}

/* Nothing writes to the pipes any more, so both can be read to their ends; and not further than a pipe can hold, should
 * the leash have been killed and something have survived it. */
static void on_exit_of_leash(PtcLoopWatch *watch, short events)
{
    PtcStdioWire *s = WIRE_OF(watch, control);
    PtcLink *l = s->link;
    uint64_t generation = s->generation;
    PtcBuf why;
    (void)events;
    for (int i = 0; i < LAST_READS && read_said(s); i++)
        continue;
    for (int i = 0; i < LAST_READS && generation == s->generation && read_output(s) == READ_SOME;
         i++)
        continue;
    if (generation != s->generation)
        return;
    ptc_loop_unwatch(watch);
    int status = ptc_stdio_child_reap(&s->child);
    if (ptc_link_hand_again(l))
        return;
    ptc_buf_init(&why, l->mem, WHY_BYTES);
    add_exit_status(&why, status);
    take_child_down(s, &why);
}

/* ----------------------------------------------------------------------------- life */

static void watch_all(PtcStdioWire *s)
{
    PtcLoop *loop = s->link->loop;
    s->in = (PtcLoopWatch){.fd = s->child.in, .events = 0, .ready = on_writable};
    s->out = (PtcLoopWatch){.fd = s->child.out, .events = POLLIN, .ready = on_output};
    s->err = (PtcLoopWatch){.fd = s->child.err, .events = POLLIN, .ready = on_said};
    s->control =
        (PtcLoopWatch){.fd = s->child.control, .events = POLLIN, .ready = on_exit_of_leash};
    /* What is watched last is looked at first: output before the end. */
    ptc_loop_watch(loop, &s->control);
    ptc_loop_watch(loop, &s->in);
    ptc_loop_watch(loop, &s->err);
    ptc_loop_watch(loop, &s->out);
}

static bool stdio_open(PtcLink *l, PtcBuf *why)
{
    PtcStdioWire *s = l->stdio;
    PtcStdioChild child;
    if (!ptc_stdio_child_start(&child, l->mem, &l->config, why))
        return false;
    pthread_mutex_lock(&l->lock);
    s->child = child;
    pthread_mutex_unlock(&l->lock);
    s->generation++;
    s->skipping = s->out_ended = false;
    s->line.len = s->scanned = s->log_len = 0;
    s->said.len = s->printed_len = 0;
    watch_all(s);
    return true;
}

/* The buffer of lines stays, because the message that led here may lie in it. */
static void stdio_shut(PtcLink *l)
{
    PtcStdioWire *s = l->stdio;
    pthread_mutex_lock(&l->lock);
    PtcStdioChild child = s->child;
    s->child = (PtcStdioChild){-1, -1, -1, -1, 0};
    while (s->first)
        pop_out(l);
    s->queued = 0;
    pthread_mutex_unlock(&l->lock);
    s->generation++;
    ptc_loop_unset(&s->timer);
    ptc_loop_unwatch(&s->in);
    ptc_loop_unwatch(&s->out);
    ptc_loop_unwatch(&s->err);
    ptc_loop_unwatch(&s->control);
    release_room(s);
    ptc_stdio_child_leave(&child, l->mem, l->loop);
}

bool ptc_stdio_wire_new(PtcLink *l)
{
    PtcStdioWire *s = ptc_mem_alloc(l->mem, sizeof *s);
    if (!s)
        return false;
    *s = (PtcStdioWire){.link = l, .timer.fire = end_silent_child, .child = {-1, -1, -1, -1, 0}};
    s->last = &s->first;
    ptc_buf_init(&s->line, l->mem, PTC_UNBOUNDED);
    ptc_buf_init(&s->said, l->mem, TAIL_BYTES);
    l->stdio = s;
    return true;
}

void ptc_stdio_wire_free(PtcLink *l)
{
    PtcStdioWire *s = l->stdio;
    ptc_buf_deinit(&s->line);
    ptc_buf_deinit(&s->said);
    ptc_mem_free(l->mem, s, sizeof *s);
}

static void stdio_ready(PtcLink *l)
{
    (void)l;
}

static bool stdio_other_way(PtcLink *l)
{
    (void)l;
    return false;
}

const Wire ptc_stdio_wire = {
    .open = stdio_open,
    .send = stdio_send,
    .forget = stdio_forget,
    .wake = stdio_wake,
    .ready = stdio_ready,
    .other_way = stdio_other_way,
    .shut = stdio_shut,
    .explain = stdio_explain,
};
