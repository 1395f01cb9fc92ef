/* SPDX-License-Identifier: MIT
 * What the host can see and change in a session: names, values, forgetting.  What always holds: a change that fails
 * leaves the session as it was. */
#include <string.h>

#include "base/utf8.h"
#include "engine/engine.h"
#include "engine/session.h"
#include "lisp/read/form.h"
#include "value/copy.h"

size_t ptc_session_size(PtcSession *s)
{
    if (s->stale)
        ptc_session_compact(s);
    return s->box->heap.used;
}

size_t ptc_session_binding_count(const PtcSession *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->names.count; i++)
        n += ptc_session_defines(s, i);
    return n;
}

/* ------------------------------------------------------------------------------ reading */

/* Keeps a cursor, so that going through all names in order visits each only once. */
PtcText ptc_session_binding(PtcSession *s, size_t index)
{
    if (index < s->cursor_index)
        s->cursor_index = s->cursor_at = 0;
    size_t at = s->cursor_at, n = s->cursor_index;
    for (; at < s->names.count; at++)
        if (ptc_session_defines(s, at) && n++ == index)
            break;
    if (at >= s->names.count)
        return (PtcText){NULL, 0};
    s->cursor_index = index;
    s->cursor_at = at;
    return (PtcText){s->names.items[at].text, s->names.items[at].len};
}

/* The index of a name that has a value, -1 if it has none. */
static int find_bound(const PtcSession *s, PtcText name)
{
    int at = ptc_names_find(&s->names, name.bytes, name.len);
    bool bound = at >= 0 && (size_t)at < s->global_cap && s->globals[at] != PTC_UNBOUND;
    return bound ? at : -1;
}

PtcValue ptc_session_lookup(const PtcSession *s, PtcText name)
{
    int at = find_bound(s, name);
    return at >= 0 ? s->globals[at] : PTC_NONE;
}

/* ----------------------------------------------------------------------------- changing */

/* Would (def name ...) accept it?  The reader knows what a symbol is. */
static PtcStatus check_definable_name(Ptc *ptc, PtcText name)
{
    PtcForm **forms;
    size_t count;
    PtcDiags diags;
    PtcBudget budget;
    PtcHeap heap;
    if (name.len == 0 || name.len > (size_t)ptc->limits.program_bytes ||
        !ptc_utf8_valid(name.bytes, name.len) ||
        (name.len > 1 && memchr(name.bytes, '/', name.len)))
        return PTC_BAD_ARGUMENT;
    ptc_arena_reset(&ptc->arena);
    ptc_diags_init(&diags, &ptc->arena);
    ptc_engine_budget(ptc, &budget, ptc->limits.timeout_ms);
    ptc_heap_init(&heap, &ptc->pool, &budget, (size_t)ptc->limits.memory_bytes);
    PtcReader reader = {name.bytes, name.len, &ptc->arena, &heap, &diags};
    bool ok = ptc_read(&reader, &forms, &count) && count == 1 && forms[0]->kind == PTC_F_SYMBOL &&
              forms[0]->len == name.len;
    ptc_heap_deinit(&heap);
    bool short_of = ptc->arena.failed || budget.stop == PTC_STOP_MEMORY;
    return ok ? PTC_OK : short_of ? PTC_NO_MEMORY : PTC_BAD_ARGUMENT;
}

/* Values are freed with the engine's pool; one of another engine would dangle. */
static bool is_engine_value(const Ptc *ptc, PtcValue v)
{
    return v != PTC_NONE && v != PTC_UNBOUND &&
           (!ptc_is_obj(v) || ptc_page_of(v)->heap->pool == &ptc->pool);
}

/* As long as the session's limit lets it be: a journal of tasks that took effect must be kept. */
static PtcValue copy_into_session(PtcSession *s, PtcValue v)
{
    PtcCopy copy;
    s->box->heap.limit = (size_t)s->ptc->limits.session_bytes;
    ptc_engine_budget_unclocked(s->ptc, &s->box->budget);
    ptc_copy_init(&copy, &s->box->heap);
    PtcValue mine = ptc_copy_value(&copy, v);
    ptc_copy_deinit(&copy);
    return mine;
}

/* The value goes to a new heap with everything but the old one. */
static bool replace_with(PtcSession *s, int at, PtcValue *values, PtcValue v)
{
    PtcStop stop;
    PtcHeapBox *box = ptc_box_new(s->ptc, s->box->heap.limit);
    if (box)
        ptc_engine_budget_unclocked(s->ptc, &box->budget);
    if (at >= 0)
        values[at] = v;
    return ptc_session_replace(s, box, values, at < 0 ? v : s->journal, &stop);
}

/* There is no room beside the old value, or memory is short.  `at` -1: the journal. */
static PtcStatus rebind_in_full_session(PtcSession *s, int at, PtcValue v)
{
    size_t bytes = s->global_cap * sizeof v;
    PtcValue *values = ptc_mem_alloc(&s->ptc->mem, bytes);
    if (!values)
        return PTC_NO_MEMORY;
    memcpy(values, s->globals, bytes);
    bool ok = replace_with(s, at, values, v);
    ptc_mem_free(&s->ptc->mem, values, bytes);
    s->stale = s->stale || !ok; /* part of what did not fit is still there */
    return ok ? PTC_OK : PTC_BAD_DATA;
}

static PtcStatus bind(PtcSession *s, int at, PtcValue v)
{
    PtcValue *place = at < 0 ? &s->journal : &s->globals[at], mine = copy_into_session(s, v);
    if (mine == PTC_NONE)
        return rebind_in_full_session(s, at, v);
    s->stale = s->stale || ptc_is_obj(*place);
    *place = mine;
    return PTC_OK;
}

PtcStatus ptc_session_set_journal(PtcSession *s, PtcValue journal)
{
    return ptc_session_room(s, 1) ? bind(s, -1, journal) : PTC_NO_MEMORY;
}

PtcStatus ptc_session_define(PtcSession *s, PtcText name, PtcValue value)
{
    PtcNamesMark known = ptc_names_mark(&s->names);
    if (!is_engine_value(s->ptc, value))
        return PTC_BAD_ARGUMENT;
    PtcStatus status = check_definable_name(s->ptc, name);
    if (status != PTC_OK)
        return status;
    int at = ptc_names_add(&s->names, name.bytes, name.len);
    status = at >= 0 && ptc_session_room(s, s->names.count) ? bind(s, at, value) : PTC_NO_MEMORY;
    if (status != PTC_OK)
        ptc_names_reset(&s->names, known);
    s->cursor_index = s->cursor_at = 0;
    return status;
}

bool ptc_session_undefine(PtcSession *s, PtcText name)
{
    int at = find_bound(s, name);
    if (at < 0)
        return false;
    s->globals[at] = (size_t)at < s->history ? PTC_NIL : PTC_UNBOUND;
    s->cursor_index = s->cursor_at = 0;
    s->stale = true;
    return true;
}

PtcStatus ptc_session_clear(PtcSession *s)
{
    PtcHeapBox *box = ptc_box_new(s->ptc, s->box->heap.limit);
    if (!box)
        return PTC_NO_MEMORY;
    ptc_box_release(&s->box->heap);
    s->box = box;
    s->journal = PTC_NIL;
    ptc_session_drop_cache(s);
    ptc_names_reset(&s->names, (PtcNamesMark){.count = s->history});
    for (size_t i = 0; i < s->global_cap; i++)
        s->globals[i] = i < s->history ? PTC_NIL : PTC_UNBOUND;
    s->cursor_index = s->cursor_at = 0;
    s->stale = false;
    return PTC_OK;
}
