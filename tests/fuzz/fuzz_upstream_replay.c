/* SPDX-License-Identifier: MIT
 * fuzz_upstream_replay.c - what a run remembers between two calls of a client.  The first byte says which allocation
 * fails, the second what the rest is: a token as a client may bring it back, or steps of a program that is run again
 * and again, with calls that are answered, put aside and approved, in runs that wait, expire and are taken by several
 * owners. */
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

typedef struct {
    PtcSuspended *table;
    PtcBuf tokens[ROWS];
    PtcSuspendedRow *taken;
    size_t begun; /* runs */
} Waiting;

static void park(Waiting *w, PtcSuspendedRow *row, size_t slot, bool expired)
{
    (void)!ptc_suspended_set_end(w->table, row, true);
    ptc_buf_clear(&w->tokens[slot]);
    ptc_suspended_put_token(row, PTC_TEXT("[effects]"), &w->tokens[slot]);
    if (expired)
        row->ends_ms = 1;
    ptc_suspended_wait(w->table, row);
}

static void begin(Waiting *w, size_t slot, size_t owner)
{
    PtcTaskIn in = {.program = PTC_TEXT("(a)")};
    PtcSuspendedRow *row = ptc_suspended_add(w->table, owners[owner], "lisp_eval", &in);
    if (!row)
        return;
    row->asking.run = &ended;
    w->begun++;
    park(w, row, slot, false);
}

/* What was taken goes on: to another question, or to its end. */
static void go_on(Waiting *w, uint8_t how, size_t slot)
{
    PtcSuspendedRow *row = w->taken;
    if (!row)
        return;
    w->taken = NULL;
    if (row->asking.run && how & 1) {
        row->round++;
        park(w, row, slot, how & 2);
        return;
    }
    if (row->asking.run)
        end_run(row->asking.run, NULL);
    row->asking.run = NULL;
    ptc_suspended_answered(w->table, row);
}

static void take(Waiting *w, size_t slot, size_t owner, uint8_t reply)
{
    uint8_t print[PTC_SHA256_BYTES] = {reply};
    PtcSuspendedToken token;
    PtcSuspendedRow *row = NULL;
    if (w->taken || !ptc_suspended_get_token(ptc_buf_view(&w->tokens[slot]), &token))
        return;
    PtcSuspendedFound found =
        ptc_suspended_take(w->table, owners[owner], &token, print, reply & 4, &row);
    assert(found != PTC_SUSPENDED_BUSY); /* nothing is taken */
    if (found == PTC_SUSPENDED_GONE || found == PTC_SUSPENDED_USED || found == PTC_SUSPENDED_OTHER)
        return;
    assert(row && strcmp(row->owner, owners[owner]) == 0 && row->state == PTC_ROW_TAKEN);
    assert(found == PTC_SUSPENDED_SAME || row->asking.run);
    w->taken = row;
}

static void suspended(PtcMem *mem, const uint8_t *data, size_t size)
{
    PtcRemote remote = {.end = end_run};
    Waiting w = {.table = ptc_suspended_new(mem, &remote, NULL, 60000)};
    if (!w.table)
        return;
    ended = 0;
    for (size_t i = 0; i < ROWS; i++)
        ptc_buf_init(&w.tokens[i], mem, PTC_SUSPENDED_TOKEN);
    for (size_t i = 0; i + 1 < size; i += 2) {
        size_t slot = data[i + 1] % ROWS, owner = data[i + 1] >> 7;
        switch (data[i] % 4) {
        case 0: begin(&w, slot, owner); break;
        case 1: take(&w, slot, owner, data[i] >> 2); break;
        case 2: go_on(&w, data[i] >> 2, slot); break;
        default: ptc_suspended_sweep(w.table);
        }
    }
    go_on(&w, 0, 0);
    for (size_t i = 0; i < ROWS; i++)
        ptc_buf_deinit(&w.tokens[i]);
    ptc_suspended_free(w.table);
    assert(ended == w.begun); /* each run once */
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
    if (data[1] & 1)
        replay(&mem, data + 2, size - 2);
    else
        suspended(&mem, data + 2, size - 2);
    assert(atomic_load(&mem.used) == 0);
    return 0;
}
