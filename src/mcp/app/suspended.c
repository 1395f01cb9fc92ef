/* SPDX-License-Identifier: MIT
 * What always holds: a row in state TAKEN is touched by its taker alone; a run is ended, and a session let go, exactly
 * once. */
#include "mcp/app/suspended.h"

#include <time.h>

#include "base/budget.h"
#include "base/os/cond.h"
#include "base/text/secret.h"
#include "base/utf8.h"

enum { SUSPENDED_KEPT_BYTES = 1 << 20 }; /* of an answer; a larger one is not kept */

PtcSuspended *ptc_suspended_new(PtcMem *mem, PtcRemote *remote, PtcSessions *sessions,
                                int64_t ttl_ms)
{
    PtcSuspended *t = ptc_mem_alloc(mem, sizeof *t);
    if (!t)
        return NULL;
    memset(t, 0, sizeof *t);
    t->mem = mem;
    t->remote = remote;
    t->sessions = sessions;
    t->ttl_ms = ttl_ms;
    pthread_mutex_init(&t->lock, NULL);
    ptc_cond_init(&t->changed);
    return t;
}

/* Nobody continues it. */
static void end_suspended_run(PtcSuspended *t, PtcSuspendedRow *row)
{
    if (row->background)
        ptc_background_task_free(row->background);
    else if (row->asking.run)
        t->remote->end(row->asking.run, NULL);
    if (row->held)
        ptc_sessions_let_go(t->sessions, row->held, NULL);
    row->asking.run = NULL;
    row->held = NULL;
    row->background = NULL;
}

/* Everything of the row; its place is free afterwards. */
static void clear_suspended_row(PtcSuspended *t, PtcSuspendedRow *row)
{
    end_suspended_run(t, row);
    if (row->has_out)
        ptc_task_out_deinit(&row->out);
    ptc_buf_deinit(&row->message);
    ptc_buf_deinit(&row->told);
    ptc_mem_free(t->mem, row->texts, row->texts_len);
    if (row->owner)
        ptc_mem_free(t->mem, row->owner, strlen(row->owner) + 1);
    memset(row, 0, sizeof *row);
}

void ptc_suspended_free(PtcSuspended *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < PTC_SUSPENDED_ROWS; i++)
        clear_suspended_row(t, &t->rows[i]);
    pthread_cond_destroy(&t->changed);
    pthread_mutex_destroy(&t->lock);
    ptc_mem_free(t->mem, t, sizeof *t);
}

/* A run that nobody has answered in time ends at once, but what it did is remembered for as long again: an older token
 * of it does not know. */
static void expire_suspended_row(PtcSuspended *t, PtcSuspendedRow *row)
{
    if (row->state != PTC_ROW_WAITING) {
        clear_suspended_row(t, row);
        return;
    }
    end_suspended_run(t, row);
    row->state = PTC_ROW_EXPIRED;
    row->ends_ms += t->ttl_ms;
}

/* With the lock held.  Ending a run takes no time: it has no call under way. */
static void sweep_suspended_rows(PtcSuspended *t)
{
    int64_t now = ptc_clock_wall_ms();
    for (size_t i = 0; i < PTC_SUSPENDED_ROWS; i++) {
        PtcSuspendedRow *row = &t->rows[i];
        while (row->state != PTC_ROW_FREE && row->state != PTC_ROW_TAKEN && row->ends_ms <= now)
            expire_suspended_row(t, row);
    }
}

void ptc_suspended_sweep(PtcSuspended *t)
{
    pthread_mutex_lock(&t->lock);
    sweep_suspended_rows(t);
    pthread_mutex_unlock(&t->lock);
}

/* ------------------------------------------------------------------------------------- adding */

/* What is kept for whoever asks again only. */
static bool is_row_over(const PtcSuspendedRow *row)
{
    return row->state == PTC_ROW_ANSWERED || row->state == PTC_ROW_EXPIRED;
}

/* With the lock held.  A free place, if need be that of the oldest answer; NULL: all wait, or the owner has too
 * many. */
static PtcSuspendedRow *find_row_place(PtcSuspended *t, const char *owner)
{
    PtcSuspendedRow *place = NULL, *oldest = NULL;
    size_t of_owner = 0;
    for (size_t i = 0; i < PTC_SUSPENDED_ROWS; i++) {
        PtcSuspendedRow *row = &t->rows[i];
        if (row->state == PTC_ROW_FREE)
            place = row;
        else if (is_row_over(row) && (!oldest || row->ends_ms < oldest->ends_ms))
            oldest = row;
        of_owner +=
            row->state != PTC_ROW_FREE && !is_row_over(row) && strcmp(row->owner, owner) == 0;
    }
    if (of_owner >= PTC_SUSPENDED_OF_OWNER)
        return NULL;
    if (!place && oldest) {
        clear_suspended_row(t, oldest);
        place = oldest;
    }
    return place;
}

static bool copy_program_texts(PtcSuspended *t, PtcSuspendedRow *row)
{
    PtcText *texts[] = {&row->in.program, &row->in.context, &row->in.signature,
                        &row->in.output_schema};
    enum { SUSPENDED_TEXTS = sizeof texts / sizeof *texts };
    size_t len = 0;
    for (size_t i = 0; i < SUSPENDED_TEXTS; i++)
        len += texts[i]->len;
    if (!(row->texts = ptc_mem_alloc(t->mem, len + 1)))
        return false;
    row->texts_len = len + 1;
    char *to = row->texts;
    for (size_t i = 0; i < SUSPENDED_TEXTS; i++) {
        if (!texts[i]->bytes)
            continue;
        memcpy(to, texts[i]->bytes, texts[i]->len);
        texts[i]->bytes = to;
        to += texts[i]->len;
    }
    return true;
}

PtcSuspendedRow *ptc_suspended_add(PtcSuspended *t, const char *owner, const char *tool,
                                   const PtcTaskIn *in)
{
    size_t len = strlen(owner) + 1;
    pthread_mutex_lock(&t->lock);
    sweep_suspended_rows(t);
    PtcSuspendedRow *row = find_row_place(t, owner);
    char *name = row ? ptc_mem_alloc(t->mem, len) : NULL;
    if (name) {
        memcpy(name, owner, len);
        row->owner = name;
        row->tool = tool;
        row->in = *in;
        row->in.turn = NULL;
        row->in.asking = NULL;
        row->in.traceparent = (PtcText){NULL, 0}; /* of the call, not of the run */
        ptc_buf_init(&row->message, t->mem, 4096);
        ptc_buf_init(&row->told, t->mem, SUSPENDED_KEPT_BYTES);
        row->state = PTC_ROW_TAKEN;
        if (!copy_program_texts(t, row) || !ptc_random_bytes(row->id, sizeof row->id)) {
            clear_suspended_row(t, row);
            row = NULL;
        }
    }
    pthread_mutex_unlock(&t->lock);
    return name ? row : NULL;
}

/* ------------------------------------------------------------------------------------- tokens */

bool ptc_suspended_set_end(PtcSuspended *t, PtcSuspendedRow *row, bool new)
{
    int64_t now = ptc_clock_wall_ms();
    if (!row->first_ms)
        row->first_ms = now;
    int64_t last = row->first_ms + PTC_SUSPENDED_TIMES * t->ttl_ms;
    if (new)
        row->ends_ms = now + t->ttl_ms < last ? now + t->ttl_ms : last;
    return now < row->ends_ms;
}

void ptc_suspended_put_token(PtcSuspendedRow *row, PtcText effects, PtcBuf *out)
{
    if (effects.len > PTC_SUSPENDED_EFFECTS)
        effects.len = ptc_utf8_valid_prefix(effects.bytes, PTC_SUSPENDED_EFFECTS);
    ptc_buf_clear(&row->message);
    ptc_buf_add(&row->message, effects.bytes, effects.len);
    ptc_buf_add(out, row->id, sizeof row->id);
    ptc_buf_add(out, &row->round, sizeof row->round);
    ptc_buf_add(out, &row->mark, sizeof row->mark);
    ptc_buf_add(out, &row->ends_ms, sizeof row->ends_ms);
    ptc_buf_add(out, effects.bytes, effects.len);
}

static const char *take_token_bytes(const char *from, void *to, size_t len)
{
    memcpy(to, from, len);
    return from + len;
}

bool ptc_suspended_get_token(PtcText bytes, PtcSuspendedToken *out)
{
    const size_t head = sizeof out->id + sizeof out->round + sizeof out->mark + sizeof out->ends_ms;
    if (bytes.len < head || bytes.len > PTC_SUSPENDED_TOKEN)
        return false;
    const char *from = take_token_bytes(bytes.bytes, out->id, sizeof out->id);
    from = take_token_bytes(from, &out->round, sizeof out->round);
    from = take_token_bytes(from, &out->mark, sizeof out->mark);
    from = take_token_bytes(from, &out->ends_ms, sizeof out->ends_ms);
    out->effects = (PtcText){from, bytes.len - head};
    return true;
}

/* ------------------------------------------------------------------------------------- taking */

/* With the lock held. */
static PtcSuspendedRow *find_suspended_row(PtcSuspended *t, const char *owner,
                                           const PtcSuspendedToken *token)
{
    for (size_t i = 0; i < PTC_SUSPENDED_ROWS; i++) {
        PtcSuspendedRow *row = &t->rows[i];
        if (row->state != PTC_ROW_FREE && ptc_secret_same(row->id, token->id, sizeof row->id) &&
            strcmp(row->owner, owner) == 0)
            return row;
    }
    return NULL;
}

/* With the lock held: is it what was said before, whose consequence is the row as it is now?  However many questions
 * have been asked since: a run that was told to go on has done so. */
static bool is_same_reply(const PtcSuspendedRow *row, const PtcSuspendedToken *token,
                          const uint8_t reply[PTC_SHA256_BYTES])
{
    return token->round < row->replied && memcmp(row->reply, reply, sizeof row->reply) == 0;
}

/* What had taken effect when the run ended; the token may be older. */
static void tell_later(const PtcSuspendedRow *row, PtcSuspendedToken *token)
{
    token->ends_ms = row->first_ms; /* it is over, whatever the token says */
    if (!ptc_buf_ok(&row->message) || row->message.len > sizeof token->later)
        return;
    token->effects = (PtcText){token->later, row->message.len};
    memcpy(token->later, row->message.data ? row->message.data : "", row->message.len);
}

static PtcSuspendedFound take_row_for_reply(PtcSuspended *t, const char *owner,
                                            PtcSuspendedToken *token, const uint8_t *reply,
                                            bool peek, PtcSuspendedRow **out)
{
    sweep_suspended_rows(t);
    PtcSuspendedRow *row = *out = find_suspended_row(t, owner, token);
    if (row && row->state == PTC_ROW_EXPIRED)
        tell_later(row, token);
    if (!row || row->state == PTC_ROW_EXPIRED)
        return PTC_SUSPENDED_GONE;
    bool open = token->round >= row->replied;
    if (row->state == PTC_ROW_TAKEN)
        return open || peek || is_same_reply(row, token, reply) ? PTC_SUSPENDED_BUSY
                                                                : PTC_SUSPENDED_USED;
    bool now = token->round == row->round; /* even if a reply came, which was none */
    if (row->state == PTC_ROW_WAITING && (open || now)) {
        if (!peek && !now)
            return PTC_SUSPENDED_OTHER;
        row->state = PTC_ROW_TAKEN;
        if (!peek) {
            row->replied = row->round + 1;
            memcpy(row->reply, reply, sizeof row->reply);
        }
        return PTC_SUSPENDED_TAKEN;
    }
    if (!is_same_reply(row, token, reply))
        return PTC_SUSPENDED_USED;
    row->state = PTC_ROW_TAKEN;
    return PTC_SUSPENDED_SAME;
}

PtcSuspendedFound ptc_suspended_take(PtcSuspended *t, const char *owner, PtcSuspendedToken *token,
                                     const uint8_t reply[PTC_SHA256_BYTES], bool peek,
                                     PtcSuspendedRow **row)
{
    pthread_mutex_lock(&t->lock);
    PtcSuspendedFound found = take_row_for_reply(t, owner, token, reply, peek, row);
    pthread_mutex_unlock(&t->lock);
    return found;
}

static void put_row_state(PtcSuspended *t, PtcSuspendedRow *row, int state)
{
    pthread_mutex_lock(&t->lock);
    row->state = state;
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->lock);
}

void ptc_suspended_wait(PtcSuspended *t, PtcSuspendedRow *row)
{
    put_row_state(t, row, PTC_ROW_WAITING);
}

void ptc_suspended_answered(PtcSuspended *t, PtcSuspendedRow *row)
{
    size_t bytes = row->out.text.len + row->out.json.len + row->out.prints.len;
    if (bytes > SUSPENDED_KEPT_BYTES && row->has_out) {
        ptc_task_out_deinit(&row->out);
        row->has_out = false;
    }
    put_row_state(t, row, PTC_ROW_ANSWERED);
}

void ptc_suspended_await(PtcSuspended *t, int64_t ms)
{
    pthread_mutex_lock(&t->lock);
    (void)ptc_cond_wait_ms(&t->changed, &t->lock, ms);
    pthread_mutex_unlock(&t->lock);
}
