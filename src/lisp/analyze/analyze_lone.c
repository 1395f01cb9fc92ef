/* SPDX-License-Identifier: MIT
 * One function without the program around it: what it captures are locals of an empty program, and the globals that it
 * may name are given. */
#include "lisp/analyze/analyze_int.h"

/* Names of captured values become locals of the function around it.  False: out of memory, or a name is empty. */
static bool bind_captured(Analyzer *an, const PtcLoneFn *lone, PtcLocal **locals, size_t count)
{
    const char *at = lone->captures, *end = at + lone->captures_len;
    for (size_t i = 0; i < count; i++) {
        const char *space = memchr(at, ' ', (size_t)(end - at));
        size_t len = (size_t)((space ? space : end) - at);
        if (len == 0 || !(locals[i] = ptc_analyze_bind(an, at, len)))
            return false;
        at += len + 1;
    }
    return true;
}

static size_t count_capture_names(const char *names, size_t len)
{
    size_t n = len > 0;
    for (size_t i = 0; i < len; i++)
        n += names[i] == ' ';
    return n;
}

static PtcExpr *lone_form(Analyzer *an, const PtcLoneFn *lone)
{
    PtcForm body = *lone->form;
    const PtcForm *f = lone->form;
    if (lone->kind != PTC_FORM_SHORT && f->kind == PTC_F_SHORT_FN) { /* #(fn ...): what it gives */
        body.kind = PTC_F_LIST;
        f = &body;
    }
    bool named = f->kind == PTC_F_LIST && f->count > 1 && f->items[0]->kind == PTC_F_SYMBOL;
    switch (lone->kind) {
    case PTC_FORM_FN: return named ? ptc_analyze_fn_form(an, f, false) : NULL;
    case PTC_FORM_SHORT: return f->kind == PTC_F_SHORT_FN ? ptc_analyze_short_fn(an, f) : NULL;
    case PTC_FORM_LETFN: return named ? ptc_analyze_letfn_fn(an, f) : NULL;
    case PTC_FORM_DEFN:
        return named && f->count > 2 && f->items[1]->kind == PTC_F_SYMBOL
                   ? ptc_analyze_defn_fn(an, f)
                   : NULL;
    case PTC_FORM_METHOD: return named ? ptc_analyze_method_fn(an, f) : NULL;
    case PTC_FORM_DEFMETHOD:
        return named && f->count > 3 && f->items[1]->kind == PTC_F_SYMBOL
                   ? ptc_analyze_defmethod_fn(an, f)
                   : NULL;
    case PTC_FORM_DELAY:
        return f->kind == PTC_F_LIST && f->count > 0 ? ptc_analyze_delay_fn(an, f) : NULL;
    case PTC_FORM_NONE:
    case PTC_FORM_COUNT: break;
    }
    return NULL;
}

PtcFn *ptc_analyze_lone(const PtcAnalysis *job, const PtcLoneFn *lone)
{
    Analyzer an;
    PtcFn *around = ptc_analyze_start(&an, job);
    size_t count = count_capture_names(lone->captures, lone->captures_len);
    PtcLocal **locals = ptc_arena_zalloc(an.arena, (count + 1) * sizeof(PtcLocal *));
    an.fn = around;
    an.lone = lone;
    an.has_ns = lone->aliases && an.names->alias_count > 0;
    if (!locals || !around || !bind_captured(&an, lone, locals, count))
        return NULL;
    PtcExpr *x = lone_form(&an, lone);
    if (!x || x->kind != PTC_X_FN || an.diags->count > 0 || an.arena->failed ||
        x->fn->capture_count != count)
        return NULL;
    for (size_t i = 0; i < count; i++)
        if (x->fn->captures[i].local != locals[i])
            return NULL;
    return x->fn;
}
