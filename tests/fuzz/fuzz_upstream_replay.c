/* SPDX-License-Identifier: MIT
 * fuzz_upstream_replay.c - what a run remembers between two calls of a client.  The first byte says which allocation
 * fails, the second what the rest is: a token as a client may bring it back; steps of a program that is run again and
 * again, with calls that are answered, put aside and approved; runs that wait in one of two processes, expire and are
 * taken by several owners; or the record of one. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "mcp/app/suspended.h"
#include "upstream/run/call_replay.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ROWS = 8, IDS = 16 };

static size_t ended;

static void end_run(void *run, PtcBuf *call_log)
{
    (void)run;
    (void)call_log;
    ended++;
}

/* ------------------------------------------------------------------------------------ replay */

/* What the identity was answered with; an answer is the print it was given for. */
typedef struct {
    bool answered, met;
    uint8_t print;
} Known;

static void check_met(const PtcReplay *r, const Known *k, PtcMeet met, size_t part, uint8_t print)
{
    if (met == PTC_MEET_ANSWER)
        assert(k->answered && !k->met && k->print == print && r->items[part].len == 1 &&
               (uint8_t)r->items[part].answer[0] == print);
    if (met == PTC_MEET_CALL)
        assert(!k->met && !k->answered && part < r->count);
}

static void step(PtcReplay *r, Known known[IDS], uint8_t what, uint8_t print)
{
    uint8_t digest[PTC_SHA256_BYTES] = {print};
    size_t part = 0, id = what % IDS;
    Known *k = &known[id];
    PtcMeet met = ptc_replay_meet(r, (PtcRemoteId){id / 4, (uint32_t)(id % 4)}, digest, &part);
    if (!r->full)
        check_met(r, k, met, part, print);
    k->met |= met == PTC_MEET_CALL || met == PTC_MEET_ANSWER;
    if (met != PTC_MEET_CALL)
        return;
    if (what & 0x40) {
        (void)!ptc_replay_put_aside(r, part, (PtcText){(const char *)&print, 1});
    } else {
        ptc_replay_keep(r, part, what & 0x20, true, (PtcText){(const char *)&print, 1});
        k->answered = true;
        k->print = print;
    }
}

static void again(PtcReplay *r, Known known[IDS], bool approve)
{
    size_t waiting = ptc_replay_waiting(r), seen = 0;
    for (size_t i = 0; i < r->count; i++) {
        seen += ptc_replay_waits(&r->items[i]);
        if (approve && ptc_replay_waits(&r->items[i]))
            r->items[i].state = PTC_REPLAY_APPROVED;
    }
    assert(waiting == seen);
    ptc_replay_again(r);
    assert(ptc_replay_waiting(r) == 0 && ptc_replay_to_come(r) <= r->count);
    for (size_t i = 0; i < IDS; i++)
        known[i].met = false;
}

static void replay(PtcMem *mem, const uint8_t *data, size_t size)
{
    PtcReplay r;
    Known known[IDS] = {{0}};
    ptc_replay_init(&r, mem);
    for (size_t i = 0; i + 1 < size; i += 2) {
        if (data[i] & 0x80)
            again(&r, known, data[i] & 1);
        else
            step(&r, known, data[i], data[i + 1]);
        assert(r.bytes <= PTC_REPLAY_BYTES);
    }
    ptc_replay_deinit(&r);
}

/* --------------------------------------------------------------------------------- suspended */

static const char *const owners[] = {"ann", "bob"};

/* Two processes with one store; an odd run can be written. */
typedef struct {
    PtcSuspended *tables[2];
    PtcBuf tokens[ROWS];
    PtcSuspendedRow *taken;
    PtcSuspended *taker;
} Waiting;

static size_t begun;
static char runs[2];

static bool save_run(void *run, PtcBuf *out)
{
    return run == &runs[1] && ptc_buf_add_char(out, 'r');
}

static void *restore_run(PtcRemote *self, const char *owner, PtcText bytes)
{
    (void)self;
    (void)owner;
    assert(ptc_text_is(bytes, "r"));
    begun++;
    return &runs[1];
}

static void park(Waiting *w, PtcSuspended *table, PtcSuspendedRow *row, size_t slot, bool expired)
{
    (void)!ptc_suspended_set_end(table, row, true);
    ptc_buf_clear(&w->tokens[slot]);
    ptc_suspended_put_token(row, PTC_TEXT("[effects]"), &w->tokens[slot]);
    if (expired)
        row->ends_ms = 1;
    (void)!ptc_suspended_wait(table, row);
}

static void begin(Waiting *w, size_t slot, size_t owner)
{
    PtcTaskIn in = {.program = PTC_TEXT("(a)")};
    PtcSuspendedNew new = {.owner = owners[owner], .in = &in};
    PtcSuspendedRow *row = ptc_suspended_add(w->tables[slot & 1], &new);
    if (!row)
        return;
    row->here.run = &runs[(slot >> 1) & 1];
    begun++;
    park(w, w->tables[slot & 1], row, slot, false);
}

/* What was taken goes on: to another question, or to its end. */
static void go_on(Waiting *w, uint8_t how, size_t slot)
{
    PtcSuspendedRow *row = w->taken;
    if (!row)
        return;
    w->taken = NULL;
    if (!row->here.run && how & 4)
        row->here.run = restore_run(NULL, "", row->run);
    if (how & 1) {
        row->round++;
        park(w, w->taker, row, slot, how & 2);
        return;
    }
    if (row->here.run)
        end_run(row->here.run, NULL);
    row->here.run = NULL;
    ptc_suspended_answered(w->taker, row);
}

static void take(Waiting *w, size_t slot, size_t owner, uint8_t reply)
{
    uint8_t print[PTC_SHA256_BYTES] = {reply};
    PtcSuspendedToken token;
    PtcSuspendedRow *row = NULL;
    PtcSuspended *table = w->tables[reply >> 5];
    if (w->taken || !ptc_suspended_get_token(ptc_buf_view(&w->tokens[slot]), &token))
        return;
    PtcSuspendedFound found =
        ptc_suspended_take(table, owners[owner], &token, print, reply & 4, &row);
    assert(!row == (found != PTC_SUSPENDED_TAKEN && found != PTC_SUSPENDED_SAME));
    if (!row)
        return;
    assert(strcmp(row->owner, owners[owner]) == 0);
    assert(row->state == PTC_ROW_ANSWERED || row->here.run || row->run.bytes);
    if (row->state == PTC_ROW_ANSWERED) {
        ptc_suspended_drop(table, row);
        return;
    }
    w->taken = row;
    w->taker = table;
}

static void use_rows(Waiting *w, const uint8_t *data, size_t size)
{
    for (size_t i = 0; i + 1 < size; i += 2) {
        size_t slot = data[i + 1] % ROWS, owner = data[i + 1] >> 7;
        switch (data[i] % 4) {
        case 0: begin(w, slot, owner); break;
        case 1: take(w, slot, owner, data[i] >> 2); break;
        case 2: go_on(w, data[i] >> 2, slot); break;
        default: ptc_suspended_sweep(w->tables[owner]);
        }
    }
    go_on(w, 0, 0);
}

static void suspended(PtcMem *mem, const uint8_t *data, size_t size)
{
    PtcWhy why;
    PtcRemote remote = {.end = end_run, .save = save_run, .restore = restore_run};
    PtcStore *store = ptc_store_open(&(PtcStoreConfig){.url = NULL}, &why);
    Waiting w = {.tables = {ptc_suspended_new(mem, &remote, store, 60000),
                            ptc_suspended_new(mem, &remote, store, 60000)}};
    ended = begun = 0;
    for (size_t i = 0; i < ROWS; i++)
        ptc_buf_init(&w.tokens[i], mem, PTC_SUSPENDED_TOKEN);
    if (w.tables[0] && w.tables[1])
        use_rows(&w, data, size);
    for (size_t i = 0; i < ROWS; i++)
        ptc_buf_deinit(&w.tokens[i]);
    ptc_suspended_free(w.tables[0]);
    ptc_suspended_free(w.tables[1]);
    ptc_store_free(store);
    assert(ended == begun); /* each run once */
}

/* Any bytes as a record: what can be read can be written, and reads as the same. */
static void record(PtcMem *mem, const uint8_t *data, size_t size)
{
    PtcWhy why;
    PtcRemote remote = {.end = end_run};
    PtcTaskIn in = {.program = {NULL, 0}};
    PtcSuspendedNew new = {.owner = "ann", .in = &in};
    PtcStore *store = ptc_store_open(&(PtcStoreConfig){.url = NULL}, &why);
    PtcSuspended *t = ptc_suspended_new(mem, &remote, store, 60000);
    PtcSuspendedRow *row = t ? ptc_suspended_add(t, &new) : NULL;
    PtcBuf packed;
    ptc_buf_init(&packed, mem, PTC_SUSPENDED_BYTES);
    if (row && ptc_suspended_unpack(row, (PtcText){(const char *)data, size})) {
        ptc_suspended_pack(row, &packed);
        assert(!ptc_buf_ok(&packed) || packed.len <= size + 64);
    }
    if (row)
        ptc_suspended_drop(t, row);
    ptc_buf_deinit(&packed);
    ptc_suspended_free(t);
    ptc_store_free(store);
}

static void token(const uint8_t *data, size_t size)
{
    PtcSuspendedToken said;
    PtcText text = {(const char *)data, size};
    if (ptc_suspended_get_token(text, &said))
        assert(said.effects.len <= size &&
               said.effects.bytes + said.effects.len == text.bytes + size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    PtcMem mem;
    if (size < 2)
        return 0;
    ptc_mem_init(&mem, (size_t)64 << 20);
    ptc_mem_fail_at(&mem, data[0] == 0 ? 0 : data[0]);
    token(data + 2, size - 2);
    switch (data[1] % 3) {
    case 0: suspended(&mem, data + 2, size - 2); break;
    case 1: replay(&mem, data + 2, size - 2); break;
    default: record(&mem, data + 2, size - 2);
    }
    assert(atomic_load(&mem.used) == 0);
    return 0;
}
