/* SPDX-License-Identifier: MIT
 * What a session holds, as JSON for a person or a model to look at: names, types, sizes and previews. */
#include <string.h>

#include "base/utf8.h"
#include "engine/describe.h"
#include "engine/engine.h"
#include "engine/session.h"
#include "engine/weigh.h"
#include "json/write.h"
#include "lisp/vm_int.h"

enum { PREVIEW_BYTES = 160 };

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
    size_t bytes;
    if (!ptc_weigh(&s->box->heap, &v, 1, SIZE_MAX, &bytes))
        return false;
    ptc_buf_add_cstr(out, "{\"name\":");
    add_string(out, name->text, name->len);
    ptc_buf_addf(out, ",\"type\":\"%s\",\"bytes\":%zu", ptc_describe_type(v), bytes);
    add_preview(s, out, v);
    if (ptc_is(v, PTC_T_CLOSURE))
        add_function(out, v);
    return ptc_buf_add_char(out, '}');
}

static bool add_bindings(PtcSession *s, PtcBuf *out, size_t from, size_t to)
{
    bool first = true;
    for (size_t i = from; i < to; i++) {
        if (i >= s->global_cap || s->globals[i] == PTC_UNBOUND)
            continue;
        if (!first)
            ptc_buf_add_char(out, ',');
        first = false;
        ptc_engine_budget(s->ptc, &s->box->budget, s->ptc->limits.timeout_ms);
        if (!add_binding(s, out, i))
            return false;
    }
    return true;
}

bool ptc_session_describe(PtcSession *s, PtcBuf *out)
{
    ptc_buf_addf(out, "{\"count\":%zu,\"bytes\":%zu,\"limit\":%zu,\"bindings\":[",
                 ptc_session_binding_count(s), ptc_session_size(s), s->box->heap.limit);
    bool ok = add_bindings(s, out, s->history, s->names.count);
    ptc_buf_add_cstr(out, "],\"history\":[");
    ok = ok && add_bindings(s, out, 0, s->history);
    return ptc_buf_add_cstr(out, "]}") && ok;
}
