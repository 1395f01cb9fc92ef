/* SPDX-License-Identifier: MIT
 * Calls that were made, a line each: `add_row {"id":2} -> "ok"`.  Arguments that are the same in all calls of a tool
 * do not tell them apart and are left out. */
#include "agent/prompt/did_words.h"

#include "agent/step/bench.h"
#include "json/emit.h"
#include "json/parse.h"
#include "tool/wire/fence.h"
#include "value/coll/map.h"
#include "value/equal.h"
#include "value/str.h"

/* Bytes of the lines of what is done and of what is unknown; characters of a call's name, arguments and result. */
enum {
    DONE_BYTES = 480,
    UNKNOWN_BYTES = 200,
    NAME_CHARS = 60,
    ARGS_CHARS = 100,
    RESULT_CHARS = 40,
    LOST_SHOWN = 20, /* of definitions */
};

typedef struct DidLines {
    const PtcDidCalls *did;
    PtcBench bench;
    PtcValue *args; /* of each call; PTC_NIL: none can be told */
} DidLines;

static bool read_did_args(DidLines *l)
{
    PtcJsonError e = {0};
    l->args = ptc_arena_alloc(&l->bench.arena, (l->did->count + 1) * sizeof *l->args);
    for (size_t i = 0; l->args && i < l->did->count; i++) {
        PtcText json = l->did->items[i].args;
        PtcValue v = ptc_json_parse(&l->bench.heap, json.bytes, json.len, &e);
        l->args[i] = v != PTC_NONE && ptc_is_map(v) ? v : PTC_NIL;
    }
    return l->args != NULL;
}

/* Has every call of the tool of call i the same value under this key? */
static bool is_common(DidLines *l, size_t i, PtcValue key, PtcValue value)
{
    const PtcDidCall *calls = l->did->items;
    for (size_t k = 0; k < l->did->count; k++) {
        if (!ptc_text_same(calls[k].tool, calls[i].tool))
            continue;
        PtcValue other =
            l->args[k] == PTC_NIL ? PTC_NONE : ptc_map_get(&l->bench.heap, l->args[k], key);
        if (other == PTC_NONE || !ptc_equal(&l->bench.heap, other, value))
            return false;
    }
    return true;
}

static bool add_differing_args(DidLines *l, size_t i, bool all, PtcBuf *out)
{
    PtcValue key, value;
    bool any = false;
    ptc_buf_clear(out);
    ptc_emit_object(out);
    for (size_t pos = 0; ptc_map_next(l->args[i], &pos, &key, &value);)
        if (all || !is_common(l, i, key, value)) {
            ptc_emit_key_text(out, ptc_str_text(key));
            ptc_emit_value(out, &l->bench.heap, value);
            any = true;
        }
    ptc_emit_object_end(out);
    return any;
}

static void add_cut(PtcBuf *out, PtcText text, size_t chars)
{
    PtcCut cut = ptc_cut_chars(text, chars);
    ptc_buf_add(out, text.bytes, cut.kept);
    if (cut.left_out)
        ptc_buf_add_cstr(out, "...");
}

static void add_did_line(DidLines *l, size_t i, PtcBuf *out)
{
    const PtcDidCall *call = &l->did->items[i];
    PtcBuf args;
    add_cut(out, call->tool, NAME_CHARS);
    ptc_buf_init(&args, &l->bench.mem, 64 * PTC_KB);
    if (l->args[i] != PTC_NIL) {
        if (!add_differing_args(l, i, false, &args))
            add_differing_args(l, i, true, &args);
        ptc_buf_add_char(out, ' ');
        add_cut(out, ptc_buf_view(&args), ARGS_CHARS);
    }
    ptc_buf_deinit(&args);
    if (!call->unknown && !ptc_text_is(call->result, "null")) {
        ptc_buf_add_cstr(out, " -> ");
        add_cut(out, call->result, RESULT_CHARS);
    }
    ptc_buf_add_char(out, '\n');
}

/* The first of the calls that are unknown, or of the others; how many there are beyond them. */
static size_t add_did_lines(DidLines *l, bool unknown, size_t most, PtcBuf *lines)
{
    size_t more = 0;
    for (size_t i = 0; i < l->did->count; i++) {
        size_t before = lines->len;
        if (l->did->items[i].unknown != unknown)
            continue;
        if (more == 0)
            add_did_line(l, i, lines);
        if (more > 0 || (before > 0 && lines->len > most)) {
            lines->len = before;
            more++;
        }
    }
    return more;
}

static void add_did_part(DidLines *l, bool unknown, PtcBuf *out)
{
    PtcBuf lines;
    ptc_buf_init(&lines, &l->bench.mem, PTC_MB);
    size_t more = add_did_lines(l, unknown, unknown ? UNKNOWN_BYTES : DONE_BYTES, &lines);
    more += unknown ? 0 : l->did->cut;
    if (lines.len > 0) {
        ptc_buf_add_cstr(out, unknown ? "\nCalls that may have taken effect; nobody knows:\n"
                                      : "\nCalls that took effect before the failure:\n");
        ptc_fence_add(out, unknown ? "unknown" : "done", ptc_buf_view(&lines));
        if (more)
            ptc_buf_addf(out, "and %zu more.\n", more);
    }
    ptc_buf_deinit(&lines);
}

void ptc_words_did(PtcBuf *out, const PtcDidCalls *did, bool data)
{
    DidLines l = {.did = did};
    if (did->count == 0)
        return;
    ptc_bench_init(&l.bench);
    if (read_did_args(&l)) {
        add_did_part(&l, false, out);
        add_did_part(&l, true, out);
        ptc_buf_add_cstr(out, "Skip what is done, and look first at what is unknown.");
        ptc_buf_add_cstr(out, data
                                  ? " data/fail has both as data for the corrected program: {:done "
                                    "[{:tool :args :result}] :unknown [{:tool :args}]}.\n"
                                  : "\n");
    }
    ptc_bench_deinit(&l.bench);
}

void ptc_words_lost(PtcBuf *out, const PtcText *names, size_t count)
{
    size_t shown = count < LOST_SHOWN ? count : LOST_SHOWN;
    PtcBuf list;
    if (count == 0)
        return;
    ptc_buf_init(&list, out->mem, PTC_MB);
    for (size_t i = 0; i < shown; i++) {
        ptc_buf_add_cstr(&list, i ? " " : "");
        add_cut(&list, names[i], NAME_CHARS);
    }
    ptc_buf_add_cstr(out, "\nWhat the program defined is not kept:\n");
    ptc_fence_add(out, "lost", ptc_buf_view(&list));
    if (shown < count)
        ptc_buf_addf(out, "and %zu more.\n", count - shown);
    ptc_buf_end_part(out, &list);
}
