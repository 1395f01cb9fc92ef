/* SPDX-License-Identifier: MIT
 * What the host sees of a session and changes in it: names, values, forgetting, inspecting. */
#include "engine/engine_int.h"
#include "engine/snapshot/idmap.h"
#include "base/utf8.h"
#include "lisp/form.h"
#include "lisp/vm_int.h"
#include "value/copy.h"
#include "value/walk.h"

#include <string.h>

enum { PREVIEW_BYTES = 160, COPY_MS = 2000 };

size_t ptc_session_bytes(PtcSession *s)
{
    if (!s)
        return 0;
    if (s->stale && !atomic_load(&s->ptc->running))
        ptc_session_compact(s);
    return s->box->heap.used;
}

size_t ptc_session_count(const PtcSession *s)
{
    size_t n = 0;
    for (size_t i = 0; s && i < s->names.count; i++)
        n += ptc_session_defines(s, i);
    return n;
}

/* ------------------------------------------------------------------------------ reading */

/* Going through all names in order looks at each of them once. */
const char *ptc_session_name(PtcSession *s, size_t index, size_t *len)
{
    if (!s)
        return NULL;
    if (index < s->cursor_index)
        s->cursor_index = s->cursor_at = 0;
    size_t at = s->cursor_at, n = s->cursor_index;
    for (; at < s->names.count; at++)
        if (ptc_session_defines(s, at) && n++ == index)
            break;
    if (at >= s->names.count)
        return NULL;
    s->cursor_index = index;
    s->cursor_at = at;
    if (len)
        *len = s->names.items[at].len;
    return s->names.items[at].text;
}

/* The place of a name that programs can write, -1 when it has none. */
static int find_name(const PtcSession *s, const char *name, size_t len)
{
    return s && name && len > 0 && name[0] != ' ' ? ptc_names_find(&s->names, name, len) : -1;
}

PtcValue ptc_session_value(const PtcSession *s, const char *name, size_t len)
{
    int at = find_name(s, name, len);
    bool bound = at >= 0 && (size_t)at < s->global_cap && s->globals[at] != PTC_UNBOUND;
    return bound ? s->globals[at] : PTC_NONE;
}

/* ----------------------------------------------------------------------------- changing */

/* Would (def name ...) take it?  The reader knows what a symbol is. */
static PtcStatus check_name(Ptc *ptc, const char *name, size_t len)
{
    PtcForm **forms;
    size_t count;
    PtcDiags diags;
    PtcBudget budget;
    PtcHeap heap;
    if (len == 0 || len > (size_t)ptc->limits.program_bytes || !ptc_utf8_valid(name, len) ||
        (len > 1 && memchr(name, '/', len)))
        return PTC_BAD_ARGUMENT;
    ptc_arena_reset(&ptc->arena);
    ptc_diags_init(&diags, &ptc->arena);
    ptc_budget_start(ptc, &budget, ptc->limits.timeout_ms);
    ptc_heap_init(&heap, &ptc->pool, &budget, (size_t)ptc->limits.memory_bytes);
    PtcReader reader = {name, len, &ptc->arena, &heap, &diags};
    bool ok = ptc_read(&reader, &forms, &count) && count == 1 && forms[0]->kind == PTC_F_SYMBOL &&
              forms[0]->len == len;
    ptc_heap_deinit(&heap);
    bool short_of = ptc->arena.failed || budget.stop == PTC_STOP_MEMORY;
    return ok ? PTC_OK : short_of ? PTC_NO_MEMORY : PTC_BAD_ARGUMENT;
}

/* Values die with the engine's pool; one of another engine would dangle. */
static bool is_ours(const Ptc *ptc, PtcValue v)
{
    return v != PTC_NONE && v != PTC_UNBOUND &&
           (!ptc_is_obj(v) || ptc_page_of(v)->heap->pool == &ptc->pool);
}

static PtcValue copy_in(PtcSession *s, PtcValue v)
{
    PtcCopy copy;
    s->box->heap.limit = (size_t)s->ptc->limits.session_bytes;
    ptc_budget_start(s->ptc, &s->box->budget, COPY_MS);
    ptc_copy_init(&copy, &s->box->heap);
    PtcValue mine = ptc_copy_value(&copy, v);
    ptc_copy_deinit(&copy);
    return mine;
}

/* Binds global `at`, in a new heap without what was bound before when there is no room beside it. */
static PtcStatus bind(PtcSession *s, int at, PtcValue v)
{
    PtcStop stop;
    PtcValue mine = copy_in(s, v);
    if (mine != PTC_NONE) {
        s->stale = s->stale || s->globals[at] != PTC_UNBOUND;
        s->globals[at] = mine;
        return PTC_OK;
    }
    size_t bytes = s->global_cap * sizeof v;
    PtcValue *values = ptc_mem_alloc(&s->ptc->mem, bytes);
    if (!values)
        return PTC_NO_MEMORY;
    memcpy(values, s->globals, bytes);
    values[at] = v;
    bool ok = s->box->budget.stop == PTC_STOP_MEMORY && ptc_session_replace(s, values, &stop);
    ptc_mem_free(&s->ptc->mem, values, bytes);
    s->stale = s->stale || !ok; /* of what did not fit, a part lies there */
    return ok ? PTC_OK : PTC_BAD_DATA;
}

PtcStatus ptc_session_set(PtcSession *s, const char *name, size_t len, PtcValue value)
{
    if (!s || !name || atomic_load(&s->ptc->running) || !is_ours(s->ptc, value))
        return PTC_BAD_ARGUMENT;
    PtcStatus named = check_name(s->ptc, name, len);
    return named == PTC_OK ? ptc_session_put(s, name, len, value) : named;
}

PtcStatus ptc_session_put(PtcSession *s, const char *name, size_t len, PtcValue value)
{
    uint32_t known = s->names.count;
    int at = ptc_names_add(&s->names, name, len);
    if (at < 0 || !ptc_session_room(s, s->names.count)) {
        ptc_names_truncate(&s->names, known);
        return PTC_NO_MEMORY;
    }
    PtcStatus status = bind(s, at, value);
    if (status != PTC_OK)
        ptc_names_truncate(&s->names, known);
    s->cursor_index = s->cursor_at = 0;
    return status;
}

bool ptc_session_forget(PtcSession *s, const char *name, size_t len)
{
    int at = find_name(s, name, len);
    if (at < 0 || (size_t)at >= s->global_cap || s->globals[at] == PTC_UNBOUND ||
        atomic_load(&s->ptc->running))
        return false;
    s->globals[at] = (size_t)at < s->history ? PTC_NIL : PTC_UNBOUND;
    s->cursor_index = s->cursor_at = 0;
    s->stale = true;
    return true;
}

PtcStatus ptc_session_forget_all(PtcSession *s)
{
    if (!s || atomic_load(&s->ptc->running))
        return PTC_BAD_ARGUMENT;
    PtcHeapBox *box = ptc_box_new(s->ptc, s->box->heap.limit);
    if (!box)
        return PTC_NO_MEMORY;
    ptc_heap_release(&s->box->heap);
    s->box = box;
    ptc_session_drop_cache(s);
    ptc_names_truncate(&s->names, s->history);
    for (size_t i = 0; i < s->global_cap; i++)
        s->globals[i] = i < s->history ? PTC_NIL : PTC_UNBOUND;
    s->cursor_index = s->cursor_at = 0;
    s->stale = false;
    return PTC_OK;
}

/* --------------------------------------------------------------------------- inspecting */

/* Bytes of all that v refers to, each object once.  False: no memory. */
static bool count_bytes(PtcSession *s, PtcValue v, size_t *bytes)
{
    PtcWalk walk;
    PtcIdMap seen;
    bool ok = true, fresh;
    *bytes = 0;
    ptc_walk_init(&walk, &s->box->heap);
    ptc_idmap_init(&seen, &s->ptc->mem);
    if (ptc_is_obj(v))
        ok = ptc_idmap_at(&seen, v, &fresh) && ptc_walk_push(&walk, v, 0);
    for (PtcFrame *f; ok && (f = ptc_walk_top(&walk)) != NULL;) {
        PtcLayout at = ptc_object_layout(ptc_obj(f->a));
        *bytes += f->pos == 0 ? at.size : 0;
        if (f->pos >= at.value_count) {
            walk.count--;
            continue;
        }
        PtcValue child = at.values[f->pos++];
        fresh = false;
        if (ptc_is_obj(child))
            ok = ptc_idmap_at(&seen, child, &fresh) != NULL;
        if (ok && fresh)
            ok = ptc_walk_push(&walk, child, 0);
    }
    ptc_walk_deinit(&walk);
    ptc_idmap_deinit(&seen);
    return ok;
}

static void add_string(PtcBuf *out, const char *text, size_t len)
{
    ptc_json_write_string(out, text, len);
}

static void add_preview(PtcSession *s, PtcBuf *out, PtcValue v)
{
    PtcBuf text;
    ptc_buf_init(&text, &s->ptc->mem, PREVIEW_BYTES);
    PtcPrinter printer = ptc_vm_printer(&s->ptc->vm, true);
    printer.heap = &s->box->heap;
    bool whole = ptc_print(&printer, &text, v);
    size_t len = text.len ? ptc_utf8_valid_prefix(text.data, text.len) : 0;
    if (!whole && len > PREVIEW_BYTES - 3)
        len = ptc_utf8_valid_prefix(text.data, PREVIEW_BYTES - 3);
    text.len = len;
    text.full = text.failed = false;
    if (!whole)
        ptc_buf_add_cstr(&text, "...");
    ptc_buf_add_cstr(out, ",\"preview\":");
    add_string(out, text.len ? text.data : "", text.len);
    ptc_buf_deinit(&text);
}

static void add_arity(PtcBuf *out, const PtcProto *p)
{
    if (p->variadic)
        ptc_buf_addf(out, "[%u,null]", (unsigned)p->params);
    else
        ptc_buf_addf(out, "[%u,%u]", (unsigned)p->params, (unsigned)p->params);
}

static void add_function(PtcBuf *out, PtcValue v)
{
    const PtcProto *p = ptc_closure_proto((const PtcClosure *)(uintptr_t)v);
    ptc_buf_add_cstr(out, ",\"arities\":[");
    if (p->arities == PTC_NIL) {
        add_arity(out, p);
    } else {
        const PtcNode *all = (const PtcNode *)(uintptr_t)p->arities;
        for (uint32_t i = 0; i < all->obj.count; i++) {
            if (i > 0)
                ptc_buf_add_char(out, ',');
            add_arity(out, (const PtcProto *)(uintptr_t)all->slots[i]);
        }
    }
    ptc_buf_add_char(out, ']');
    if (p->doc != PTC_NIL) {
        ptc_buf_add_cstr(out, ",\"doc\":");
        add_string(out, ptc_str_bytes(p->doc), ptc_str_len(p->doc));
    }
}

static bool add_binding(PtcSession *s, PtcBuf *out, size_t i)
{
    const PtcName *name = &s->names.items[i];
    PtcValue v = s->globals[i];
    const char *type = ptc_type_name(v), *space = strchr(type, ' ');
    bool article = space && (space - type == 1 || (space - type == 2 && type[1] == 'n'));
    size_t bytes;
    if (!count_bytes(s, v, &bytes))
        return false;
    ptc_buf_add_cstr(out, "{\"name\":");
    add_string(out, name->text, name->len);
    ptc_buf_addf(out, ",\"type\":\"%s\",\"bytes\":%zu", article ? space + 1 : type, bytes);
    add_preview(s, out, v);
    if (ptc_is(v, PTC_T_CLOSURE))
        add_function(out, v);
    return ptc_buf_add_char(out, '}');
}

static bool add_bindings(PtcSession *s, PtcBuf *out, size_t from, size_t to)
{
    bool first = true;
    for (size_t i = from; i < to; i++) {
        if (i >= s->global_cap || s->globals[i] == PTC_UNBOUND || s->names.items[i].text[0] == ' ')
            continue;
        if (!first)
            ptc_buf_add_char(out, ',');
        first = false;
        ptc_budget_start(s->ptc, &s->box->budget, s->ptc->limits.timeout_ms);
        if (!add_binding(s, out, i))
            return false;
    }
    return true;
}

PtcStatus ptc_session_inspect(PtcSession *s, char **out, size_t *out_len)
{
    if (!s || !out || !out_len || atomic_load(&s->ptc->running))
        return PTC_BAD_ARGUMENT;
    PtcBuf buf;
    ptc_buf_init(&buf, &s->ptc->mem, SIZE_MAX / 4);
    ptc_buf_addf(&buf, "{\"count\":%zu,\"bytes\":%zu,\"limit\":%zu,\"bindings\":[",
                 ptc_session_count(s), ptc_session_bytes(s), s->box->heap.limit);
    bool ok = add_bindings(s, &buf, s->history, s->names.count);
    ptc_buf_add_cstr(&buf, "],\"history\":[");
    ok = ok && add_bindings(s, &buf, 0, s->history);
    ptc_buf_add_cstr(&buf, "]}");
    return ptc_text_give(&buf, ok, out, out_len);
}
