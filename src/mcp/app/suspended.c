/* SPDX-License-Identifier: MIT
 * What always holds: of several that want to go on with a run, the one whose write of the record succeeds does; a run
 * of this process is ended exactly once. */
#include "mcp/app/suspended.h"

#include <time.h>

#include "base/budget.h"
#include "base/text/secret.h"
#include "base/utf8.h"

enum { SUSPENDED_KEPT_BYTES = 1 << 20 }; /* of an answer; a larger one is not kept */

PtcSuspended *ptc_suspended_new(PtcMem *mem, PtcRemote *remote, PtcStore *store, int64_t ttl_ms)
{
    PtcSuspended *t = ptc_mem_alloc(mem, sizeof *t);
    if (!t)
        return NULL;
    memset(t, 0, sizeof *t);
    t->mem = mem;
    t->remote = remote;
    t->store = store;
    t->ttl_ms = ttl_ms;
    if (!ptc_random_bytes(t->node, sizeof t->node)) {
        ptc_mem_free(mem, t, sizeof *t);
        return NULL;
    }
    pthread_mutex_init(&t->lock, NULL);
    return t;
}

static int64_t suspended_now_ms(const PtcSuspended *t)
{
    return ptc_store_now(t->store);
}

/* --------------------------------------------------------------------------- runs of this process */

/* Nobody continues it. */
static void end_run_here(PtcSuspended *t, PtcSuspendedHere *here)
{
    if (here->background)
        ptc_background_task_free(here->background);
    else if (here->run)
        t->remote->end(here->run, NULL);
    here->run = NULL;
    here->background = NULL;
}

/* Takes those out of the list whose time is over, or all. */
static void end_runs_here(PtcSuspended *t, int64_t until_ms)
{
    PtcSuspendedHere *over = NULL;
    pthread_mutex_lock(&t->lock);
    for (PtcSuspendedHere **at = &t->here, *h; (h = *at);) {
        if (h->ends_ms > until_ms) {
            at = &h->next;
            continue;
        }
        *at = h->next;
        h->next = over;
        over = h;
    }
    pthread_mutex_unlock(&t->lock);
    for (PtcSuspendedHere *h = over, *next; h; h = next) {
        next = h->next;
        end_run_here(t, h);
        ptc_mem_free(t->mem, h, sizeof *h);
    }
}

void ptc_suspended_sweep(PtcSuspended *t)
{
    end_runs_here(t, suspended_now_ms(t));
}

void ptc_suspended_free(PtcSuspended *t)
{
    if (!t)
        return;
    end_runs_here(t, INT64_MAX);
    pthread_mutex_destroy(&t->lock);
    ptc_mem_free(t->mem, t, sizeof *t);
}

/* Before the record is written, so that whoever reads it finds the run.  False: no memory. */
static bool keep_run_here(PtcSuspended *t, const PtcSuspendedRow *row)
{
    PtcSuspendedHere *h = ptc_mem_alloc(t->mem, sizeof *h);
    if (!h)
        return false;
    *h = row->here;
    memcpy(h->id, row->id, sizeof h->id);
    h->ends_ms = row->ends_ms;
    pthread_mutex_lock(&t->lock);
    h->next = t->here;
    t->here = h;
    pthread_mutex_unlock(&t->lock);
    return true;
}

/* False: it has none here. */
static bool take_run_here(PtcSuspended *t, PtcSuspendedRow *row)
{
    pthread_mutex_lock(&t->lock);
    PtcSuspendedHere **at = &t->here, *h;
    while ((h = *at) && memcmp(h->id, row->id, sizeof h->id) != 0)
        at = &h->next;
    if (h)
        *at = h->next;
    pthread_mutex_unlock(&t->lock);
    if (!h)
        return false;
    row->here = *h;
    ptc_mem_free(t->mem, h, sizeof *h);
    return true;
}

/* --------------------------------------------------------------------------------------- rows */

void ptc_suspended_drop(PtcSuspended *t, PtcSuspendedRow *row)
{
    end_run_here(t, &row->here);
    ptc_suspended_row_free(t->mem, row);
}

static PtcStoreKey key_of_row(const PtcSuspendedRow *row, char text[PTC_SUSPENDED_KEY])
{
    return ptc_suspended_key(ptc_text_cstr(row->owner), row->id, text);
}

/* While a row is taken its taker holds it, and while its run is in one process that does, so that others know whether
 * the process is still there. */
static const PtcStoreHold holder = {1, 1, 5000};

static PtcStoreStatus put_row(PtcSuspended *t, PtcSuspendedRow *row, PtcRowState state)
{
    char text[PTC_SUSPENDED_KEY];
    PtcStoreKey key = key_of_row(row, text);
    bool here = state == PTC_ROW_WAITING && !row->run.bytes;
    row->state = state;
    if (state == PTC_ROW_TAKEN)
        memcpy(row->node, t->node, sizeof row->node);
    else if (!here)
        ptc_store_let_go(t->store, &key, false);
    row->expires_ms = row->ends_ms + t->ttl_ms;
    return ptc_suspended_row_write(t->store, t->mem, row);
}

static bool copy_program_texts(PtcSuspendedRow *row, const PtcSuspendedNew *new)
{
    const PtcText *from[] = {&new->in->program, &new->in->context, &new->in->signature,
                             &new->in->output_schema, &new->session};
    PtcText *to[] = {&row->program, &row->context, &row->signature, &row->output_schema,
                     &row->session};
    enum { SUSPENDED_TEXTS = sizeof to / sizeof *to };
    for (size_t i = 0; i < SUSPENDED_TEXTS; i++)
        ptc_buf_add(&row->bytes, from[i]->bytes, from[i]->len);
    if (!ptc_buf_ok(&row->bytes))
        return false;
    const char *at = row->bytes.data ? row->bytes.data : "";
    for (size_t i = 0; i < SUSPENDED_TEXTS; at += from[i++]->len)
        if (from[i]->bytes)
            *to[i] = (PtcText){at, from[i]->len};
    return true;
}

/* ------------------------------------------------------------------------------------- adding */

/* The rows of an owner. */
typedef struct {
    int64_t open_ms; /* a row whose record ends later has time left */
    size_t open;
    int64_t oldest_ms; /* of those that were answered */
    char oldest[PTC_SUSPENDED_KEY];
    size_t all;
} OwnerRows;

static bool count_owner_row(void *user, const PtcStoreKey *key, const PtcStored *stored)
{
    OwnerRows *rows = user;
    bool over = stored->meta_len && stored->meta[0] == PTC_SUSPENDED_OVER;
    rows->all++;
    rows->open += !over && stored->expires_ms > rows->open_ms;
    if (over && key->key.len < sizeof rows->oldest &&
        (!rows->oldest[0] || stored->used_ms < rows->oldest_ms)) {
        memcpy(rows->oldest, key->key.bytes, key->key.len);
        rows->oldest[key->key.len] = '\0';
        rows->oldest_ms = stored->used_ms;
    }
    return true;
}

/* Has the owner room for one more?  If need be an old answer makes room. */
static bool has_owner_room(PtcSuspended *t, const char *owner)
{
    OwnerRows rows = {.open_ms = suspended_now_ms(t) + t->ttl_ms};
    PtcText name = ptc_text_cstr(owner);
    (void)!ptc_store_expire(t->store, ptc_suspended_kind, PTC_STORE_LISTED);
    if (ptc_store_list(t->store, ptc_suspended_kind, name, NULL, PTC_STORE_LISTED, count_owner_row,
                       &rows) != PTC_STORE_OK ||
        rows.open >= PTC_SUSPENDED_OF_OWNER)
        return false;
    PtcStoreKey key = {ptc_suspended_kind, name, ptc_text_cstr(rows.oldest)};
    if (rows.all >= PTC_SUSPENDED_OWNER_ROWS && rows.oldest[0])
        (void)!ptc_store_remove(t->store, &key, 0);
    return true;
}

PtcSuspendedRow *ptc_suspended_add(PtcSuspended *t, const PtcSuspendedNew *new)
{
    ptc_suspended_sweep(t);
    PtcSuspendedRow *row = has_owner_room(t, new->owner)
                               ? ptc_suspended_row_new(t->mem, ptc_text_cstr(new->owner))
                               : NULL;
    if (!row)
        return NULL;
    row->is_task = new->is_task;
    row->now_ms = new->in->now_ms;
    if (copy_program_texts(row, new) && ptc_random_bytes(row->id, sizeof row->id))
        return row;
    ptc_suspended_drop(t, row);
    return NULL;
}

/* ------------------------------------------------------------------------------------- tokens */

bool ptc_suspended_set_end(PtcSuspended *t, PtcSuspendedRow *row, bool new)
{
    int64_t now = suspended_now_ms(t);
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

bool ptc_suspended_is_late(const PtcSuspended *t, const PtcSuspendedToken *token)
{
    return token->ends_ms <= suspended_now_ms(t);
}

/* ------------------------------------------------------------------------------------- taking */

void ptc_suspended_digest(uint32_t round, PtcText answer, uint8_t reply[PTC_SHA256_BYTES])
{
    PtcText parts[] = {{(const char *)&round, sizeof round}, answer};
    ptc_sha256_parts(parts, 2, reply);
}

/* The row of a token, as it is in the store. */
static PtcSuspendedFound read_row(PtcSuspended *t, const char *owner,
                                  const PtcSuspendedToken *token, PtcSuspendedRow **out)
{
    char text[PTC_SUSPENDED_KEY];
    PtcStoreStatus status;
    PtcStoreKey key = ptc_suspended_key(ptc_text_cstr(owner), token->id, text);
    *out = ptc_suspended_row_read(t->store, t->mem, key.owner, key.key, &status);
    return *out                                                        ? PTC_SUSPENDED_TAKEN
           : status == PTC_STORE_ABSENT || status == PTC_STORE_DAMAGED ? PTC_SUSPENDED_GONE
                                                                       : PTC_SUSPENDED_FAILED;
}

/* Is it what was said before, whose consequence is the row as it is now?  However many questions have been asked since:
 * a run that was told to go on has done so. */
static bool is_same_reply(const PtcSuspendedRow *row, const PtcSuspendedToken *token,
                          const uint8_t reply[PTC_SHA256_BYTES])
{
    return token->round < row->replied && memcmp(row->reply, reply, sizeof row->reply) == 0;
}

/* What had taken effect when the run ended; the token may be older. */
static void tell_later(const PtcSuspendedRow *row, PtcSuspendedToken *token, bool late)
{
    if (late)
        token->ends_ms = row->first_ms; /* it is over, whatever the token says */
    if (!ptc_buf_ok(&row->message) || row->message.len > sizeof token->later)
        return;
    token->effects = (PtcText){token->later, row->message.len};
    memcpy(token->later, row->message.data ? row->message.data : "", row->message.len);
}

/* Without memory for it others may think that we are gone. */
static void hold_row(PtcSuspended *t, const PtcSuspendedRow *row)
{
    char text[PTC_SUSPENDED_KEY];
    PtcStoreKey key = key_of_row(row, text);
    if (ptc_store_hold(t->store, &key, &holder) == PTC_STORE_OK)
        (void)!ptc_store_keep_hold(t->store, &key);
}

/* Nobody holds it who should.  It may have been put back after it was read. */
static bool is_abandoned(PtcSuspended *t, const PtcSuspendedRow *row)
{
    static const PtcStoreHold none = {0, 1, 0};
    char text[PTC_SUSPENDED_KEY];
    PtcStored now;
    PtcStoreKey key = key_of_row(row, text);
    if (ptc_store_hold(t->store, &key, &holder) != PTC_STORE_OK)
        return false;
    bool same = ptc_store_get(t->store, &key, NULL, &now, NULL) == PTC_STORE_OK &&
                now.version == row->version;
    (void)!ptc_store_hold(t->store, &key, &none);
    return same;
}

/* The write decides who has it.  What is then not there has ended with its time.  A hold that was of no use ends by
 * itself: another call of this process may have it too. */
static PtcSuspendedFound take_waiting_row(PtcSuspended *t, PtcSuspendedRow *row,
                                          PtcSuspendedFound how)
{
    char text[PTC_SUSPENDED_KEY];
    PtcStoreKey key = key_of_row(row, text);
    bool written = row->run.bytes != NULL;
    if (!written && memcmp(row->node, t->node, sizeof row->node) != 0)
        return is_abandoned(t, row) ? PTC_SUSPENDED_LOST : PTC_SUSPENDED_ELSEWHERE;
    PtcStoreStatus status = ptc_store_hold(t->store, &key, &holder);
    if (status == PTC_STORE_OK)
        status = put_row(t, row, PTC_ROW_TAKEN);
    if (status == PTC_STORE_CONFLICT || status == PTC_STORE_ABSENT || status == PTC_STORE_HELD)
        return PTC_SUSPENDED_BUSY; /* somebody was faster */
    if (status != PTC_STORE_OK)
        return PTC_SUSPENDED_FAILED;
    (void)!ptc_store_keep_hold(t->store, &key); /* without it others may think that we are gone */
    return written || take_run_here(t, row) ? how : PTC_SUSPENDED_GONE;
}

static PtcSuspendedFound take_row_for_reply(PtcSuspended *t, PtcSuspendedRow *row,
                                            PtcSuspendedToken *token, const uint8_t *reply,
                                            bool peek)
{
    bool same =
        is_same_reply(row, token, reply) || (row->said.len && peek && token->round < row->replied);
    bool open = token->round >= row->replied;
    bool now = token->round == row->round; /* even if a reply came, which was none */
    if (row->state == PTC_ROW_TAKEN)
        return !(open || peek || same) ? PTC_SUSPENDED_USED
               : memcmp(row->node, t->node, sizeof row->node) != 0 && is_abandoned(t, row)
                   ? PTC_SUSPENDED_LOST
                   : PTC_SUSPENDED_BUSY;
    if (row->state == PTC_ROW_WAITING && (open || now)) {
        if (!peek && !now)
            return PTC_SUSPENDED_OTHER;
        if (row->said.len && !peek && !token->resumes &&
            memcmp(row->reply, reply, sizeof row->reply) != 0)
            return PTC_SUSPENDED_USED;
        if (!peek) {
            row->replied = row->round + 1;
            memcpy(row->reply, reply, sizeof row->reply);
        }
        return take_waiting_row(t, row, PTC_SUSPENDED_TAKEN);
    }
    if (!same)
        return PTC_SUSPENDED_USED;
    return row->state == PTC_ROW_WAITING ? take_waiting_row(t, row, PTC_SUSPENDED_SAME)
                                         : PTC_SUSPENDED_SAME;
}

PtcSuspendedFound ptc_suspended_take(PtcSuspended *t, const char *owner, PtcSuspendedToken *token,
                                     const uint8_t reply[PTC_SHA256_BYTES], bool peek,
                                     PtcSuspendedRow **out)
{
    ptc_suspended_sweep(t);
    PtcSuspendedFound found = read_row(t, owner, token, out);
    PtcSuspendedRow *row = *out;
    if (!row)
        return found;
    bool late = row->state != PTC_ROW_TAKEN && row->ends_ms <= suspended_now_ms(t);
    found = late ? PTC_SUSPENDED_GONE : take_row_for_reply(t, row, token, reply, peek);
    if (found == PTC_SUSPENDED_GONE || found == PTC_SUSPENDED_LOST)
        tell_later(row, token, late);
    token->version = row->version;
    if (found == PTC_SUSPENDED_TAKEN || found == PTC_SUSPENDED_SAME)
        return found;
    ptc_suspended_drop(t, row);
    *out = NULL;
    return found;
}

/* --------------------------------------------------------------------------------- putting back */

/* Beside a run its record has these. */
static size_t texts_bytes(const PtcSuspendedRow *row)
{
    return row->program.len + row->context.len + row->signature.len + row->output_schema.len +
           64 * PTC_KB;
}

static bool save_run_of_row(PtcSuspended *t, PtcSuspendedRow *row)
{
    size_t texts = texts_bytes(row);
    ptc_buf_clear(&row->saved);
    row->saved.max = texts < PTC_SUSPENDED_BYTES ? PTC_SUSPENDED_BYTES - texts : 0;
    return !row->here.background && t->remote->save && t->remote->save(row->here.run, &row->saved);
}

/* What others can go on with is written; anything else stays here.  A row that was taken and left alone has it. */
static bool settle_run(PtcSuspended *t, PtcSuspendedRow *row)
{
    if (!row->here.run)
        return row->run.bytes != NULL;
    memcpy(row->node, t->node, sizeof row->node);
    row->run = (PtcText){NULL, 0};
    if (save_run_of_row(t, row)) {
        row->run = ptc_buf_view(&row->saved);
        end_run_here(t, &row->here);
        return true;
    }
    if (!keep_run_here(t, row))
        return false;
    row->here = (PtcSuspendedHere){.run = NULL};
    hold_row(t, row);
    return true;
}

bool ptc_suspended_wait(PtcSuspended *t, PtcSuspendedRow *row)
{
    bool ok = settle_run(t, row) && put_row(t, row, PTC_ROW_WAITING) == PTC_STORE_OK;
    if (!ok && !row->run.bytes && !row->here.run)
        (void)take_run_here(t, row); /* to be ended */
    ptc_suspended_drop(t, row);
    return ok;
}

void ptc_suspended_answered(PtcSuspended *t, PtcSuspendedRow *row)
{
    size_t bytes = row->out.text.len + row->out.json.len + row->out.prints.len;
    if (bytes > SUSPENDED_KEPT_BYTES && row->has_out) {
        ptc_task_out_deinit(&row->out);
        row->has_out = false;
    }
    if (row->version)
        (void)put_row(t, row, PTC_ROW_ANSWERED);
    ptc_suspended_drop(t, row);
}

void ptc_suspended_await(PtcSuspended *t, const char *owner, const PtcSuspendedToken *token,
                         int64_t ms)
{
    char text[PTC_SUSPENDED_KEY];
    PtcStoreKey key = ptc_suspended_key(ptc_text_cstr(owner), token->id, text);
    ptc_store_wait(t->store, &key, token->version, ms);
}
