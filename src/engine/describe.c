/* SPDX-License-Identifier: MIT
 * Values in a few words.  What always holds: of a collection only the part that is shown is examined, so large ones
 * cost no more. */
#include "engine/describe.h"

#include <string.h>

#include "base/utf8.h"
#include "engine/engine.h"
#include "lisp/arglist.h"
#include "lisp/vm_int.h"
#include "tool/fence.h"

enum { BYTES_PER_CHAR = 4, KEY_BYTES = 400 };

/* A description that is being made. */
typedef struct {
    Ptc *ptc;
    const PtcDescribeOptions *options;
    PtcArena *arena;
    PtcBudget budget;
    PtcHeap heap; /* printing needs one */
    PtcBuf text;
} Work;

static void begin(Work *w, Ptc *ptc, const PtcDescribeOptions *options, PtcArena *arena)
{
    size_t chars = options->sample_chars < 100000 ? options->sample_chars : 100000;
    w->ptc = ptc;
    w->options = options;
    w->arena = arena;
    ptc_engine_budget(ptc, &w->budget, ptc->limits.timeout_ms);
    ptc_heap_init(&w->heap, &ptc->pool, &w->budget, (size_t)ptc->limits.memory_bytes);
    ptc_buf_init(&w->text, &ptc->mem, (chars + 1) * BYTES_PER_CHAR + KEY_BYTES);
}

static void end(Work *w)
{
    ptc_buf_deinit(&w->text);
    ptc_heap_deinit(&w->heap);
}

/* -------------------------------------------------------------------------------- texts */

/* The contents of the buffer, cut, in the arena; absent: out of memory. */
static PtcText keep(Work *w, bool *cut)
{
    size_t len = w->text.len ? ptc_utf8_valid_prefix(w->text.data, w->text.len) : 0;
    PtcText all = {w->text.data ? w->text.data : "", len};
    PtcCut to = ptc_cut_chars(all, w->options->sample_chars);
    *cut = *cut || to.left_out > 0;
    char *copy = ptc_arena_alloc(w->arena, to.kept + 1);
    if (!copy)
        return (PtcText){NULL, 0};
    memcpy(copy, all.bytes, to.kept);
    copy[to.kept] = 0;
    return (PtcText){copy, to.kept};
}

static void start_text(Work *w)
{
    ptc_buf_clear(&w->text);
}

static PtcText sample_of(Work *w, PtcValue v, bool *cut)
{
    PtcPrinter printer = ptc_vm_printer(&w->ptc->vm, true);
    printer.heap = &w->heap;
    printer.float_precision = w->ptc->float_precision;
    start_text(w);
    *cut = !ptc_print(&printer, &w->text, v);
    return keep(w, cut);
}

static PtcText first_line(Work *w, PtcValue str)
{
    bool cut = false;
    const char *bytes = ptc_str_bytes(str), *end = memchr(bytes, '\n', ptc_str_len(str));
    size_t len = end ? (size_t)(end - bytes) : ptc_str_len(str), room = w->text.max;
    start_text(w);
    ptc_buf_add(&w->text, bytes, len < room ? len : room);
    return keep(w, &cut);
}

static PtcText copy_name(Work *w, PtcText name)
{
    char *copy = ptc_arena_alloc(w->arena, name.len + 1);
    if (!copy)
        return (PtcText){NULL, 0};
    memcpy(copy, name.bytes, name.len);
    copy[name.len] = 0;
    return (PtcText){copy, name.len};
}

/* -------------------------------------------------------------------------------- values */

const char *ptc_describe_type(PtcValue v)
{
    const char *type = ptc_type_name(v), *space = strchr(type, ' ');
    bool article = space && (space - type == 1 || (space - type == 2 && type[1] == 'n'));
    return article ? space + 1 : type;
}

static size_t count_of(PtcValue v)
{
    if (ptc_is_string(v))
        return ptc_utf8_count(ptc_str_bytes(v), ptc_str_len(v));
    if (ptc_is_sequential(v))
        return ptc_seq_count(v) < PTC_ENDLESS ? ptc_seq_count(v) : 0;
    return ptc_is_map(v) || ptc_is_set(v) ? ptc_obj(v)->count : 0;
}

static bool describe(Work *w, PtcText name, PtcValue v, PtcDescribed *out)
{
    *out = (PtcDescribed){.name = copy_name(w, name), .type = ptc_describe_type(v)};
    if (!ptc_is(v, PTC_T_CLOSURE)) {
        out->count = count_of(v);
        out->sample = sample_of(w, v, &out->cut);
        return !w->arena->failed;
    }
    const PtcClosure *f = (const PtcClosure *)(uintptr_t)v;
    PtcValue doc = ptc_closure_proto(f)->doc;
    start_text(w);
    ptc_arglist_add(&w->text, name, f);
    out->call = keep(w, &out->cut);
    if (doc != PTC_NIL)
        out->doc = first_line(w, doc);
    return !w->arena->failed;
}

static bool make_room(Work *w, size_t total, PtcDescription *out)
{
    size_t n = total < w->options->most ? total : w->options->most;
    *out = (PtcDescription){.total = total};
    out->items = n ? ptc_arena_alloc(w->arena, n * sizeof *out->items) : NULL;
    return n == 0 || out->items != NULL;
}

/* --------------------------------------------------------------------------------- lists */

/* Adds either the definitions that were changed, or those that were not. */
static bool add_definitions(Work *w, PtcSession *s, PtcOutcome *last, bool changed, bool all,
                            PtcDescription *out)
{
    for (size_t i = s->history; i < s->names.count && out->count < w->options->most; i++) {
        const PtcName *name = &s->names.items[i];
        bool is_changed = last && ptc_outcome_changed(last, s, (uint32_t)i);
        if (!ptc_session_defines(s, i) || (!all && is_changed != changed))
            continue;
        if (!describe(w, (PtcText){name->text, name->len}, s->globals[i], &out->items[out->count]))
            return false;
        out->items[out->count++].changed = is_changed;
    }
    return true;
}

bool ptc_describe_session(PtcSession *s, PtcOutcome *last, const PtcDescribeOptions *options,
                          PtcArena *arena, PtcDescription *out)
{
    Work w;
    begin(&w, s->ptc, options, arena);
    bool ok = make_room(&w, ptc_session_binding_count(s), out);
    bool all = out->total <= options->most;
    ok = ok && add_definitions(&w, s, last, true, all, out) &&
         (all || add_definitions(&w, s, last, false, false, out));
    end(&w);
    return ok;
}

static PtcText key_text(Work *w, PtcValue key)
{
    bool cut;
    if (ptc_is_named(key))
        return (PtcText){ptc_str_bytes(key), ptc_str_len(key)};
    return sample_of(w, key, &cut);
}

bool ptc_describe_map(Ptc *ptc, PtcValue map, const PtcDescribeOptions *options, PtcArena *arena,
                      PtcDescription *out)
{
    Work w;
    PtcValue key, value;
    begin(&w, ptc, options, arena);
    bool ok = make_room(&w, map == PTC_NIL ? 0 : ptc_map_count(map), out);
    for (size_t pos = 0; ok && out->count < options->most && map != PTC_NIL &&
                         ptc_map_next(map, &pos, &key, &value);)
        ok = describe(&w, key_text(&w, key), value, &out->items[out->count++]);
    end(&w);
    return ok;
}
