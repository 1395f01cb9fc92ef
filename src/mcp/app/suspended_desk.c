/* SPDX-License-Identifier: MIT
 * Runs that wait, for a person who looks at the store from another place: what is asked, and the answer.  What always
 * holds: an answer is for the question that was shown, and the first one counts. */
#include <stdio.h>

#include "base/grow.h"
#include "base/text/hex.h"
#include "base/utf8.h"
#include "json/emit.h"
#include "mcp/app/suspended.h"
#include "tool/wire/fence.h"

enum { DESK_ROWS = 200, DESK_PROGRAM_BYTES = 2000, DESK_MARK = 2 * sizeof(uint64_t) + 1 };

/* Names of records, collected before any of them is read; `last` was looked at last, `page` since the listing began. */
typedef struct {
    PtcMem *mem;
    PtcBuf names;
    struct {
        size_t owner, key; /* lengths */
    } lengths[DESK_ROWS];
    size_t count, page;
    PtcStoreKey last;
    char room[2][PTC_STORE_NAME];
} DeskNames;

/* False: no server of ours gave that name. */
static bool remember_last(DeskNames *n, const PtcStoreKey *key)
{
    if (key->owner.len > PTC_STORE_NAME || key->key.len > PTC_STORE_NAME)
        return false;
    memcpy(n->room[0], key->owner.bytes, key->owner.len);
    memcpy(n->room[1], key->key.bytes, key->key.len);
    n->last =
        (PtcStoreKey){ptc_suspended_kind, {n->room[0], key->owner.len}, {n->room[1], key->key.len}};
    n->page++;
    return true;
}

static bool collect_name(void *user, const PtcStoreKey *key, const PtcStored *stored)
{
    DeskNames *n = user;
    if (!remember_last(n, key))
        return true;
    if (stored->meta_len && stored->meta[0] == PTC_SUSPENDED_OVER)
        return true;
    ptc_buf_add(&n->names, key->owner.bytes, key->owner.len);
    ptc_buf_add(&n->names, key->key.bytes, key->key.len);
    n->lengths[n->count].owner = key->owner.len;
    n->lengths[n->count++].key = key->key.len;
    return n->count < DESK_ROWS;
}

/* Those that were answered are in between, so that one listing may not find those that wait. */
static bool collect_names(PtcStore *store, DeskNames *n)
{
    PtcStoreStatus status = PTC_STORE_OK;
    n->page = 1;
    for (bool begun = false; status == PTC_STORE_OK && n->page && n->count < DESK_ROWS;
         begun = true) {
        PtcStoreKey after = n->last;
        char room[2][PTC_STORE_NAME];
        memcpy(room, n->room, sizeof room);
        after.owner.bytes = room[0];
        after.key.bytes = room[1];
        n->page = 0;
        status = ptc_store_list(store, ptc_suspended_kind, (PtcText){NULL, 0},
                                begun ? &after : NULL, PTC_STORE_LISTED, collect_name, n);
    }
    return status == PTC_STORE_OK && ptc_buf_ok(&n->names);
}

static bool waits_for_decision(const PtcSuspendedRow *row, int64_t now)
{
    return row->state == PTC_ROW_WAITING && !row->inquiry && row->asked.len && row->ends_ms > now;
}

static void write_mark(const PtcSuspendedRow *row, char text[DESK_MARK])
{
    snprintf(text, DESK_MARK, "%016llx", (unsigned long long)row->mark);
}

/* As a person reads it: nothing is hidden in it, and what is left out is said. */
static void put_program(const PtcSuspendedRow *row, PtcBuf *out)
{
    PtcText program = row->program;
    PtcBuf text;
    ptc_buf_init(&text, out->mem, 16 * DESK_PROGRAM_BYTES);
    if (program.len > DESK_PROGRAM_BYTES)
        program.len = ptc_utf8_valid_prefix(program.bytes, DESK_PROGRAM_BYTES);
    ptc_fence_add_visible(&text, program.bytes ? program : PTC_TEXT(""));
    if (program.len < row->program.len)
        ptc_buf_addf(&text, "\n... and %zu bytes more that are not shown",
                     row->program.len - program.len);
    ptc_emit_field_text(out, "program", ptc_buf_view(&text));
    ptc_buf_end_part(out, &text);
}

static void put_waiting_row(const PtcSuspendedRow *row, PtcText id, int64_t now, PtcBuf *out)
{
    char mark[DESK_MARK];
    write_mark(row, mark);
    ptc_emit_object(out);
    ptc_emit_field_cstr(out, "owner", row->owner);
    ptc_emit_field_text(out, "id", id);
    ptc_emit_field_uint(out, "round", row->round);
    ptc_emit_field_cstr(out, "mark", mark);
    ptc_emit_field_cstr(out, "tool", row->is_task ? "lisp_task" : "lisp_eval");
    ptc_emit_field_int(out, "waits_ms", now - row->first_ms);
    ptc_emit_field_int(out, "left_ms", row->ends_ms - now);
    put_program(row, out);
    ptc_emit_field_text(out, "question", ptc_buf_view(&row->asked));
    if (row->said.len)
        ptc_emit_field_raw(out, "said", ptc_buf_view(&row->said));
    ptc_emit_object_end(out);
}

/* What cannot be read, or was answered meanwhile, is left out. */
static void put_named_row(PtcStore *store, PtcMem *mem, PtcText owner, PtcText id, PtcBuf *out)
{
    PtcStoreStatus status;
    int64_t now = ptc_store_now(store);
    PtcSuspendedRow *row = ptc_suspended_row_read(store, mem, owner, id, &status);
    if (!row)
        return;
    if (waits_for_decision(row, now))
        put_waiting_row(row, id, now, out);
    ptc_suspended_row_free(mem, row);
}

bool ptc_suspended_list(PtcStore *store, PtcMem *mem, PtcBuf *out)
{
    DeskNames names = {.mem = mem};
    ptc_buf_init(&names.names, mem, DESK_ROWS * 2 * PTC_STORE_NAME);
    bool ok = collect_names(store, &names);
    const char *at = names.names.data;
    ptc_emit_array(out);
    for (size_t i = 0; ok && i < names.count; i++) {
        PtcText owner = {at, names.lengths[i].owner};
        PtcText id = {at + owner.len, names.lengths[i].key};
        at += owner.len + id.len;
        put_named_row(store, mem, owner, id, out);
    }
    ptc_emit_array_end(out);
    ptc_buf_deinit(&names.names);
    return ok;
}

/* ------------------------------------------------------------------------------------ the answer */

static bool is_decision(PtcText text)
{
    static const char *const words[] = {"once", "run", "process", "always", "no"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (ptc_text_is(text, words[i]))
            return true;
    return false;
}

/* The same again is accepted. */
static bool answer_row(PtcStore *store, PtcMem *mem, PtcSuspendedRow *row,
                       const PtcSuspendedSay *say, PtcWhy *why)
{
    char said[80], mark[DESK_MARK];
    write_mark(row, mark);
    snprintf(said, sizeof said, "{\"action\":\"accept\",\"content\":{\"decision\":\"%.*s\"}}",
             PTC_ARG(say->decision));
    if (row->said.len && ptc_text_is(ptc_buf_view(&row->said), said))
        return true;
    if (row->said.len || !waits_for_decision(row, ptc_store_now(store)))
        return ptc_why_say(why, PTC_WHY_REFUSED,
                           "this question was answered already, or its time is over");
    if (row->round != say->round || !ptc_text_is(say->mark, mark))
        return ptc_why_say(why, PTC_WHY_REFUSED,
                           "another question has taken the place of the one that was shown");
    ptc_buf_add_cstr(&row->said, said);
    ptc_suspended_digest(row->round, ptc_buf_view(&row->said), row->reply);
    row->replied = row->round + 1;
    if (ptc_suspended_row_write(store, mem, row) == PTC_STORE_OK)
        return true;
    return ptc_why_say(why, PTC_WHY_UNAVAILABLE,
                       "somebody else was faster, or the store cannot be written");
}

bool ptc_suspended_say(PtcStore *store, PtcMem *mem, const PtcSuspendedSay *say, PtcWhy *why)
{
    PtcStoreStatus status;
    if (!is_decision(say->decision))
        return ptc_why_say(why, PTC_WHY_INVALID,
                           "the decision must be once, run, process, always or no");
    PtcSuspendedRow *row = ptc_suspended_row_read(store, mem, say->owner, say->id, &status);
    if (!row)
        return ptc_why_say(why, PTC_WHY_REFUSED, "there is no such question, or it was answered");
    bool ok = answer_row(store, mem, row, say, why);
    ptc_suspended_row_free(mem, row);
    return ok;
}
