/* SPDX-License-Identifier: MIT
 * The contents of a session, as JSON for a person or a model: names, types, sizes and previews. */
#include <string.h>

#include "base/utf8.h"
#include "engine/engine.h"
#include "engine/session.h"
#include "engine/weigh.h"
#include "json/emit.h"
#include "lisp/vm/builtin.h"
#include "lisp/vm/vm_int.h"

enum { PREVIEW_BYTES = 160 };

/* "vector", "integer": a type's name without an article. */
static const char *type_without_article(PtcValue v)
{
    const char *type = ptc_type_name(v), *space = strchr(type, ' ');
    bool article = space && (space - type == 1 || (space - type == 2 && type[1] == 'n'));
    return article ? space + 1 : type;
}

static void add_binding_preview(PtcSession *s, PtcBuf *out, PtcValue v)
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
    ptc_emit_field_text(out, "preview", ptc_buf_view(&text));
    ptc_buf_deinit(&text);
}

static void add_arity(PtcBuf *out, const PtcProto *p)
{
    ptc_emit_array(out);
    ptc_emit_uint(out, p->params);
    if (p->variadic)
        ptc_emit_null(out);
    else
        ptc_emit_uint(out, p->params);
    ptc_emit_array_end(out);
}

static void add_function_arities(PtcBuf *out, PtcValue v)
{
    const PtcProto *p = ptc_closure_proto((const PtcClosure *)(uintptr_t)v);
    ptc_emit_key(out, "arities");
    ptc_emit_array(out);
    if (p->arities == PTC_NIL) {
        add_arity(out, p);
    } else {
        const PtcNode *all = (const PtcNode *)(uintptr_t)p->arities;
        for (uint32_t i = 0; i < all->obj.count; i++)
            add_arity(out, (const PtcProto *)(uintptr_t)all->slots[i]);
    }
    ptc_emit_array_end(out);
    if (p->doc != PTC_NIL)
        ptc_emit_field_text(out, "doc", ptc_str_text(p->doc));
}

static bool add_binding(PtcSession *s, PtcBuf *out, size_t i)
{
    const PtcName *name = &s->names.items[i];
    PtcValue v = s->globals[i];
    size_t bytes;
    if (!ptc_weigh(&s->box->heap, &v, 1, SIZE_MAX, &bytes))
        return false;
    ptc_emit_object(out);
    ptc_emit_field_text(out, "name", (PtcText){name->text, name->len});
    ptc_emit_field_cstr(out, "type", type_without_article(v));
    ptc_emit_field_uint(out, "bytes", bytes);
    add_binding_preview(s, out, v);
    if (ptc_is(v, PTC_T_CLOSURE))
        add_function_arities(out, v);
    return ptc_emit_object_end(out);
}

static bool add_bindings(PtcSession *s, PtcBuf *out, const char *key, size_t from, size_t to)
{
    bool ok = true;
    ptc_emit_key(out, key);
    ptc_emit_array(out);
    for (size_t i = from; ok && i < to; i++) {
        if (i >= s->global_cap || s->globals[i] == PTC_UNBOUND)
            continue;
        ptc_engine_budget(s->ptc, &s->box->budget, s->ptc->limits.timeout_ms);
        ok = add_binding(s, out, i);
    }
    return ptc_emit_array_end(out) && ok;
}

bool ptc_session_describe(PtcSession *s, PtcBuf *out)
{
    ptc_emit_object(out);
    ptc_emit_field_uint(out, "count", ptc_session_binding_count(s));
    ptc_emit_field_uint(out, "bytes", ptc_session_size(s));
    ptc_emit_field_uint(out, "limit", s->box->heap.limit);
    bool ok = add_bindings(s, out, "bindings", s->history, s->names.count);
    ok = ok && add_bindings(s, out, "history", 0, s->history);
    return ptc_emit_object_end(out) && ok;
}
