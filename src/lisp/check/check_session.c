/* SPDX-License-Identifier: MIT
 * Functions of earlier programs of the session: their text is read and analyzed again, as far as calls need them. */
#include "lisp/check/check_int.h"
#include "lisp/compile/function.h"
#include "lisp/vm/vm_int.h"

static PtcFn *analyze_text(Checker *c, const PtcFnText *t, uint8_t *seen)
{
    PtcForm **forms;
    size_t count;
    PtcDiags diags;
    const PtcAnalysis *job = c->job->analysis;
    ptc_diags_init(&diags, c->arena);
    PtcReader reader = {t->text, t->len, c->arena, c->heap, &diags};
    if (!ptc_read(&reader, &forms, &count) || count != 1)
        return NULL;
    PtcLoneFn lone = {forms[0],   t->form, t->captures,       t->captures_len,
                      t->aliases, seen,    job->names->count, NULL};
    PtcAnalysis again = {c->arena,  c->heap,      &diags,       job->names, t->text, t->len,
                         job->host, job->servers, job->context, NULL,       false,   NULL};
    return ptc_analyze_lone(&again, &lone);
}

PtcFn *ptc_check_session_fn(Checker *c, PtcValue v)
{
    PtcFnText text;
    PtcValue proto = ptc_function_main(((const PtcClosure *)(uintptr_t)v)->proto);
    size_t n = c->job->analysis->names->count;
    if (c->session_bytes >= CHECK_REGION || !ptc_function_text(proto, &text) || text.prelude ||
        text.len > CHECK_REGION - c->session_bytes)
        return NULL;
    c->session_bytes += (uint32_t)text.len;
    uint8_t *seen = ptc_arena_zalloc(c->arena, n ? n : 1);
    if (!seen)
        return NULL;
    ptc_function_globals(((const PtcClosure *)(uintptr_t)v)->proto, seen, n);
    return analyze_text(c, &text, seen);
}
