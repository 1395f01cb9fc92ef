/* SPDX-License-Identifier: MIT
 * Special forms that choose and bind: let, if, when, cond, case, condp, if-let, and, or, do ... */
#include "lisp/analyze/analyze_int.h"

static PtcText head_of(const PtcForm *form)
{
    return (PtcText){form->items[0]->text, form->items[0]->len};
}

#define FORM_MANY SIZE_MAX

/* Reports a form with too few or too many parts. */
static bool check_part_count(Analyzer *an, const PtcForm *form, size_t min, size_t max,
                             const char *usage, PtcExpr **bad)
{
    size_t n = form->count - 1;
    if (n >= min && n <= max)
        return true;
    if (max == FORM_MANY)
        *bad = ptc_analyze_error(an, PTC_E_INVALID_FORM, form, usage,
                                 "%.*s takes at least %zu parts, got %zu", PTC_ARG(head_of(form)),
                                 min, n);
    else if (min == max)
        *bad =
            ptc_analyze_error(an, PTC_E_INVALID_FORM, form, usage, "%.*s takes %zu part%s, got %zu",
                              PTC_ARG(head_of(form)), min, min == 1 ? "" : "s", n);
    else
        *bad = ptc_analyze_error(an, PTC_E_INVALID_FORM, form, usage,
                                 "%.*s takes %zu to %zu parts, got %zu", PTC_ARG(head_of(form)),
                                 min, max, n);
    return false;
}

/* ----------------------------------------------------------------------- if and kin */

static PtcExpr *if_form(Analyzer *an, const PtcForm *form, bool tail)
{
    PtcExpr *bad;
    if (!check_part_count(an, form, 2, 3, "(if test then else)", &bad))
        return bad;
    PtcExpr *test = ptc_analyze_form(an, form->items[1], false);
    PtcExpr *then = test ? ptc_analyze_form(an, form->items[2], tail) : NULL;
    PtcExpr *otherwise =
        then && form->count == 4 ? ptc_analyze_form(an, form->items[3], tail) : NULL;
    if (form->count == 4 && !otherwise)
        return NULL;
    return ptc_analyze_if(an, test, then, otherwise, form);
}

static PtcExpr *if_not_form(Analyzer *an, const PtcForm *form, bool tail)
{
    PtcExpr *bad;
    if (!check_part_count(an, form, 2, 3, "(if-not test then else)", &bad))
        return bad;
    PtcExpr *test = ptc_analyze_form(an, form->items[1], false);
    PtcExpr *then = test ? ptc_analyze_form(an, form->items[2], tail) : NULL;
    PtcExpr *otherwise = then && form->count == 4 ? ptc_analyze_form(an, form->items[3], tail)
                                                  : ptc_analyze_nil(an, form);
    return otherwise ? ptc_analyze_if(an, test, otherwise, then, form) : NULL;
}

static PtcExpr *when_form(Analyzer *an, const PtcForm *form, bool tail)
{
    PtcExpr *bad;
    if (!check_part_count(an, form, 1, FORM_MANY, "(when test body...)", &bad))
        return bad;
    PtcExpr *test = ptc_analyze_form(an, form->items[1], false);
    PtcExpr *body =
        test ? ptc_analyze_body(an, form->items + 2, form->count - 2, form, tail) : NULL;
    return ptc_analyze_if(an, test, body, NULL, form);
}

static PtcExpr *when_not_form(Analyzer *an, const PtcForm *form, bool tail)
{
    PtcExpr *bad;
    if (!check_part_count(an, form, 1, FORM_MANY, "(when-not test body...)", &bad))
        return bad;
    PtcExpr *test = ptc_analyze_form(an, form->items[1], false);
    PtcExpr *body =
        test ? ptc_analyze_body(an, form->items + 2, form->count - 2, form, tail) : NULL;
    return body ? ptc_analyze_if(an, test, ptc_analyze_nil(an, form), body, form) : NULL;
}

static PtcExpr *cond_form(Analyzer *an, const PtcForm *form, bool tail)
{
    if (form->count % 2 == 0)
        return ptc_analyze_error(
            an, PTC_E_INVALID_FORM, form, "(cond test1 result1 test2 result2 :else result3)",
            "cond needs pairs of test and result; the last test has no result");
    PtcExpr *x = ptc_analyze_new(an, PTC_X_COND, form);
    if (!x || !(x->items = ptc_analyze_items(an, form->count)))
        return NULL;
    x->count = form->count - 1;
    for (size_t i = 1; i < form->count; i++)
        if (!(x->items[i - 1] = ptc_analyze_form(an, form->items[i], tail && i % 2 == 0)))
            return NULL;
    return x;
}

static PtcExpr *analyze_and_or(Analyzer *an, const PtcForm *form, bool tail, PtcExprKind kind)
{
    if (form->count == 1)
        return ptc_analyze_const(an, kind == PTC_X_AND ? PTC_TRUE : PTC_NIL, form);
    PtcExpr *x = ptc_analyze_new(an, kind, form);
    if (!x || !(x->items = ptc_analyze_items(an, form->count)))
        return NULL;
    x->count = form->count - 1;
    for (size_t i = 1; i < form->count; i++)
        if (!(x->items[i - 1] = ptc_analyze_form(an, form->items[i], tail && i + 1 == form->count)))
            return NULL;
    return x;
}

static PtcExpr *and_form(Analyzer *an, const PtcForm *form, bool tail)
{
    return analyze_and_or(an, form, tail, PTC_X_AND);
}

static PtcExpr *or_form(Analyzer *an, const PtcForm *form, bool tail)
{
    return analyze_and_or(an, form, tail, PTC_X_OR);
}

/* --------------------------------------------------------------------- case, condp */

/* A constant to compare with, as quoted data. */
static bool case_pair(Analyzer *an, PtcExpr *x, const PtcForm *constant, PtcExpr *result)
{
    PtcExpr *c = ptc_analyze_const(an, ptc_analyze_quote(an, constant), constant);
    PtcExpr **items = c ? ptc_arena_push(an->arena, x->items, x->count, sizeof *items) : NULL;
    if (!items)
        return false;
    items[x->count++] = c;
    if (!(items = ptc_arena_push(an->arena, items, x->count, sizeof *items)))
        return false;
    items[x->count++] = result;
    x->items = items;
    return true;
}

static PtcExpr *analyze_case(Analyzer *an, const PtcForm *form, bool tail)
{
    PtcExpr *bad;
    if (!check_part_count(an, form, 2, FORM_MANY, "(case x 1 \"one\" (2 3) \"few\" \"many\")",
                          &bad))
        return bad;
    PtcLocal *scope = an->scope;
    Bindings b = {0};
    PtcExpr *x = ptc_analyze_new(an, PTC_X_CASE, form);
    PtcExpr *subject = x ? ptc_analyze_form(an, form->items[1], false) : NULL;
    PtcLocal *local = subject ? ptc_analyze_temp(an) : NULL;
    if (!ptc_analyze_add_binding(an, &b, local, subject) ||
        !(x->a = ptc_analyze_local(an, local, form)))
        return NULL;
    size_t i = 2;
    for (; i + 1 < form->count; i += 2) {
        const PtcForm *test = form->items[i];
        PtcExpr *result = ptc_analyze_form(an, form->items[i + 1], tail);
        if (!result)
            return NULL;
        bool group = test->kind == PTC_F_LIST;
        /* 'a is the list (quote a), so that both are meant, as in Clojure. */
        if (test->kind == PTC_F_QUOTE) {
            const PtcForm *quote = ptc_analyze_symbol_form(an, "quote", test);
            if (!quote || !case_pair(an, x, quote, result) ||
                !case_pair(an, x, test->items[0], result))
                return NULL;
            continue;
        }
        for (size_t k = 0; k < (group ? test->count : 1); k++)
            if (!case_pair(an, x, group ? test->items[k] : test, result))
                return NULL;
    }
    if (i < form->count && !(x->b = ptc_analyze_form(an, form->items[i], tail)))
        return NULL;
    an->scope = scope;
    return ptc_analyze_let(an, &b, x, form);
}

/* (pred test subject) for one clause of condp. */
static PtcExpr *condp_test(Analyzer *an, PtcLocal *pred, PtcLocal *subject, const PtcForm *test)
{
    PtcExpr *call = ptc_analyze_new(an, PTC_X_CALL, test);
    PtcExpr **args = ptc_analyze_items(an, 2);
    if (!call || !args)
        return NULL;
    call->a = ptc_analyze_local(an, pred, test);
    args[0] = ptc_analyze_form(an, test, false);
    args[1] = ptc_analyze_local(an, subject, test);
    call->items = args;
    call->count = 2;
    return call->a && args[0] && args[1] ? call : NULL;
}

static bool is_arrow(const PtcForm *f)
{
    return f->kind == PTC_F_KEYWORD && f->len == 2 && memcmp(f->text, ">>", 2) == 0;
}

/* test :>> f: the result is (f value-of-test). */
static PtcExpr *condp_arrow(Analyzer *an, PtcLocal *hit, const PtcForm *f)
{
    PtcExpr *call = ptc_analyze_new(an, PTC_X_CALL, f);
    PtcExpr **args = ptc_analyze_items(an, 1);
    if (!call || !args || !(call->a = ptc_analyze_form(an, f, false)) ||
        !(args[0] = ptc_analyze_local(an, hit, f)))
        return NULL;
    call->items = args;
    call->count = 1;
    return call;
}

static PtcExpr *condp_from(Analyzer *an, const PtcForm *form, size_t i, PtcLocal *pred,
                           PtcLocal *subject, bool tail)
{
    size_t left = form->count - i;
    if (left == 0)
        return ptc_analyze_nil(an, form);
    if (left == 1)
        return ptc_analyze_form(an, form->items[i], tail);
    bool arrow = left >= 3 && is_arrow(form->items[i + 1]);
    PtcExpr *test = condp_test(an, pred, subject, form->items[i]);
    if (!test || an->depth >= PTC_EXPR_DEPTH)
        return test ? ptc_analyze_error(an, PTC_E_DEPTH, form, "use cond",
                                        "condp has too many clauses")
                    : NULL;
    an->depth++;
    PtcExpr *x = NULL;
    if (!arrow) {
        PtcExpr *then = ptc_analyze_form(an, form->items[i + 1], tail);
        PtcExpr *rest = then ? condp_from(an, form, i + 2, pred, subject, tail) : NULL;
        x = rest ? ptc_analyze_if(an, test, then, rest, form) : NULL;
    } else {
        Bindings b = {0};
        PtcLocal *hit = ptc_analyze_temp(an);
        PtcExpr *then = hit ? condp_arrow(an, hit, form->items[i + 2]) : NULL;
        PtcExpr *rest = then ? condp_from(an, form, i + 3, pred, subject, tail) : NULL;
        if (rest && ptc_analyze_add_binding(an, &b, hit, test))
            x = ptc_analyze_let(
                an, &b, ptc_analyze_if(an, ptc_analyze_local(an, hit, form), then, rest, form),
                form);
    }
    an->depth--;
    return x;
}

static PtcExpr *analyze_condp(Analyzer *an, const PtcForm *form, bool tail)
{
    PtcExpr *bad;
    if (!check_part_count(an, form, 2, FORM_MANY, "(condp = x 1 \"one\" 2 \"two\" \"other\")",
                          &bad))
        return bad;
    PtcLocal *scope = an->scope;
    Bindings b = {0};
    PtcExpr *pred = ptc_analyze_form(an, form->items[1], false);
    PtcExpr *subject = pred ? ptc_analyze_form(an, form->items[2], false) : NULL;
    PtcLocal *p = subject ? ptc_analyze_temp(an) : NULL, *s = p ? ptc_analyze_temp(an) : NULL;
    if (!ptc_analyze_add_binding(an, &b, p, pred) || !ptc_analyze_add_binding(an, &b, s, subject))
        return NULL;
    PtcExpr *body = condp_from(an, form, 3, p, s, tail);
    an->scope = scope;
    return ptc_analyze_let(an, &b, body, form);
}

/* ----------------------------------------------------------------------------- let */

static bool binding_vector(Analyzer *an, const PtcForm *form, const char *usage, PtcExpr **bad)
{
    const PtcForm *v = form->count > 1 ? form->items[1] : NULL;
    if (!v || v->kind != PTC_F_VECTOR) {
        *bad = ptc_analyze_error(an, PTC_E_INVALID_FORM, v ? v : form, usage,
                                 "%.*s needs a vector of bindings", PTC_ARG(head_of(form)));
        return false;
    }
    if (v->count % 2 != 0) {
        *bad = ptc_analyze_error(an, PTC_E_INVALID_FORM, v, usage,
                                 "%.*s needs pairs of name and value; the last has no value",
                                 PTC_ARG(head_of(form)));
        return false;
    }
    return true;
}

static PtcExpr *let_form(Analyzer *an, const PtcForm *form, bool tail)
{
    PtcExpr *bad;
    if (!binding_vector(an, form, "(let [a 1 b 2] body...)", &bad))
        return bad;
    const PtcForm *v = form->items[1];
    PtcLocal *scope = an->scope;
    Bindings b = {0};
    for (size_t i = 0; i < v->count; i += 2)
        if (!ptc_analyze_destructure(an, &b, v->items[i],
                                     ptc_analyze_form(an, v->items[i + 1], false)))
            return NULL;
    PtcExpr *body = ptc_analyze_body(an, form->items + 2, form->count - 2, form, tail);
    an->scope = scope;
    return ptc_analyze_let(an, &b, body, form);
}

/* if-let and kin: the value is tested, then bound for the first branch only. */
static PtcExpr *test_let(Analyzer *an, const PtcForm *form, bool tail, bool some, bool when)
{
    PtcExpr *bad;
    const char *usage = when ? "(when-let [x expr] body...)" : "(if-let [x expr] then else)";
    if (!check_part_count(an, form, when ? 1 : 2, when ? FORM_MANY : 3, usage, &bad) ||
        !binding_vector(an, form, usage, &bad))
        return bad;
    const PtcForm *v = form->items[1];
    if (v->count != 2)
        return ptc_analyze_error(an, PTC_E_INVALID_FORM, v, usage, "%.*s takes one binding",
                                 PTC_ARG(head_of(form)));
    PtcLocal *scope = an->scope;
    Bindings outer = {0}, inner = {0};
    PtcExpr *value = ptc_analyze_form(an, v->items[1], false);
    PtcLocal *temp = value ? ptc_analyze_temp(an) : NULL;
    if (!ptc_analyze_add_binding(an, &outer, temp, value))
        return NULL;
    PtcExpr *otherwise = !when && form->count == 4 ? ptc_analyze_form(an, form->items[3], tail)
                                                   : ptc_analyze_nil(an, form);
    if (!otherwise ||
        !ptc_analyze_destructure(an, &inner, v->items[0], ptc_analyze_local(an, temp, v)))
        return NULL;
    PtcExpr *then = when ? ptc_analyze_body(an, form->items + 2, form->count - 2, form, tail)
                         : ptc_analyze_form(an, form->items[2], tail);
    then = ptc_analyze_let(an, &inner, then, form);
    an->scope = scope;
    PtcExpr *test = ptc_analyze_local(an, temp, v);
    if (!then || !test)
        return NULL;
    if (some) {
        PtcExpr **arg = ptc_analyze_items(an, 1);
        if (!arg)
            return NULL;
        arg[0] = test;
        return ptc_analyze_let(
            an, &outer,
            ptc_analyze_if(an, ptc_analyze_builtin(an, "nil?", arg, 1, v), otherwise, then, form),
            form);
    }
    return ptc_analyze_let(an, &outer, ptc_analyze_if(an, test, then, otherwise, form), form);
}

static PtcExpr *if_let_form(Analyzer *an, const PtcForm *form, bool tail)
{
    return test_let(an, form, tail, false, false);
}

static PtcExpr *when_let_form(Analyzer *an, const PtcForm *form, bool tail)
{
    return test_let(an, form, tail, false, true);
}

static PtcExpr *if_some_form(Analyzer *an, const PtcForm *form, bool tail)
{
    return test_let(an, form, tail, true, false);
}

static PtcExpr *when_some_form(Analyzer *an, const PtcForm *form, bool tail)
{
    return test_let(an, form, tail, true, true);
}

/* (when-first [x coll] body...): nothing when coll is empty, even if its first element would be nil. */
static PtcExpr *when_first_form(Analyzer *an, const PtcForm *form, bool tail)
{
    PtcExpr *bad;
    const char *usage = "(when-first [x coll] body...)";
    if (!binding_vector(an, form, usage, &bad))
        return bad;
    const PtcForm *v = form->items[1];
    if (v->count != 2)
        return ptc_analyze_error(an, PTC_E_INVALID_FORM, v, usage, "when-first takes one binding");
    PtcLocal *scope = an->scope;
    Bindings outer = {0}, inner = {0};
    PtcExpr **args = ptc_analyze_items(an, 2);
    PtcExpr **first = ptc_analyze_items(an, 2);
    if (!args || !first || !(args[0] = ptc_analyze_form(an, v->items[1], false)))
        return NULL;
    PtcLocal *seq = ptc_analyze_temp(an);
    if (!ptc_analyze_add_binding(an, &outer, seq, ptc_analyze_builtin(an, "seq", args, 1, v)) ||
        !(first[0] = ptc_analyze_local(an, seq, v)))
        return NULL;
    if (!ptc_analyze_destructure(an, &inner, v->items[0],
                                 ptc_analyze_builtin(an, "first", first, 1, v)))
        return NULL;
    PtcExpr *body = ptc_analyze_body(an, form->items + 2, form->count - 2, form, tail);
    body = ptc_analyze_let(an, &inner, body, form);
    an->scope = scope;
    return ptc_analyze_let(
        an, &outer, ptc_analyze_if(an, ptc_analyze_local(an, seq, v), body, NULL, form), form);
}

/* ----------------------------------------------------------------------- the others */

static PtcExpr *do_form(Analyzer *an, const PtcForm *form, bool tail)
{
    return ptc_analyze_body(an, form->items + 1, form->count - 1, form, tail);
}

static PtcExpr *comment_form(Analyzer *an, const PtcForm *form, bool tail)
{
    (void)tail;
    return ptc_analyze_nil(an, form);
}

static PtcExpr *quote_form(Analyzer *an, const PtcForm *form, bool tail)
{
    (void)tail;
    PtcExpr *bad;
    if (!check_part_count(an, form, 1, 1, "(quote form)", &bad))
        return bad;
    return ptc_analyze_const(an, ptc_analyze_quote(an, form->items[1]), form);
}

static PtcExpr *stop_form(Analyzer *an, const PtcForm *form, uint32_t which)
{
    PtcExpr *bad;
    if (!check_part_count(an, form, 1, 1, which ? "(fail reason)" : "(return value)", &bad))
        return bad;
    PtcExpr *x = ptc_analyze_new(an, PTC_X_STOP, form);
    if (!x || !(x->a = ptc_analyze_form(an, form->items[1], false)))
        return NULL;
    x->index = which;
    an->facts.stops |= an->fn->parent != NULL;
    return x;
}

static PtcExpr *return_form(Analyzer *an, const PtcForm *form, bool tail)
{
    (void)tail;
    return stop_form(an, form, 0);
}

static PtcExpr *analyze_fail_form(Analyzer *an, const PtcForm *form, bool tail)
{
    (void)tail;
    return stop_form(an, form, 1);
}

/* (set! *warn-on-reflection* true), with which many files begin, is for a compiler that is not here. */
static PtcExpr *set_form(Analyzer *an, const PtcForm *form, bool tail)
{
    if (form->count == 3 && (ptc_form_is_symbol(form->items[1], "*warn-on-reflection*") ||
                             ptc_form_is_symbol(form->items[1], "*unchecked-math*")))
        return ptc_analyze_form(an, form->items[2], tail);
    return ptc_analyze_unknown(an, form->items[0]);
}

static const struct {
    const char *name;
    FormFn fn;
} specials[] = {
    /* in the order of memcmp */
    {"->", ptc_analyze_thread_first},
    {"->>", ptc_analyze_thread_last},
    {".", ptc_analyze_dot},
    {"..", ptc_analyze_dots},
    {"and", and_form},
    {"as->", ptc_analyze_thread_as},
    {"case", analyze_case},
    {"comment", comment_form},
    {"cond", cond_form},
    {"cond->", ptc_analyze_thread_cond_first},
    {"cond->>", ptc_analyze_thread_cond_last},
    {"condp", analyze_condp},
    {"declare", ptc_analyze_declare},
    {"def", ptc_analyze_def},
    {"defmethod", ptc_analyze_defmethod},
    {"defmulti", ptc_analyze_defmulti},
    {"defn", ptc_analyze_defn},
    {"defn-", ptc_analyze_defn},
    {"defonce", ptc_analyze_defonce},
    {"defprotocol", ptc_analyze_defprotocol},
    {"defrecord", ptc_analyze_defrecord},
    {"deftype", ptc_analyze_deftype},
    {"delay", ptc_analyze_delay},
    {"do", do_form},
    {"doseq", ptc_analyze_doseq},
    {"dotimes", ptc_analyze_dotimes},
    {"doto", ptc_analyze_doto},
    {"extend-protocol", ptc_analyze_extend_protocol},
    {"extend-type", ptc_analyze_extend_type},
    {"fail", analyze_fail_form},
    {"fn", ptc_analyze_fn_form},
    {"for", ptc_analyze_for},
    {"if", if_form},
    {"if-let", if_let_form},
    {"if-not", if_not_form},
    {"if-some", if_some_form},
    {"import", ptc_analyze_import},
    {"lazy-cat", ptc_analyze_lazy_cat},
    {"lazy-seq", ptc_analyze_lazy_seq},
    {"let", let_form},
    {"letfn", ptc_analyze_letfn},
    {"loop", ptc_analyze_loop},
    {"memfn", ptc_analyze_memfn},
    {"new", ptc_analyze_new_object},
    {"ns", ptc_analyze_ns},
    {"or", or_form},
    {"quote", quote_form},
    {"recur", ptc_analyze_recur},
    {"reify", ptc_analyze_reify},
    {"require", ptc_analyze_require},
    {"return", return_form},
    {"set!", set_form},
    {"some->", ptc_analyze_thread_some_first},
    {"some->>", ptc_analyze_thread_some_last},
    {"task", ptc_analyze_task},
    {"try", ptc_analyze_try},
    {"use", ptc_analyze_require},
    {"when", when_form},
    {"when-first", when_first_form},
    {"when-let", when_let_form},
    {"when-not", when_not_form},
    {"when-some", when_some_form},
    {"while", ptc_analyze_while},
    {"with-out-str", ptc_analyze_with_out_str},
    {"with-precision", ptc_analyze_with_precision},
};

FormFn ptc_analyze_special(const char *name, size_t len)
{
    static const char core[] = "clojure.core/";
    if (len > sizeof core - 1 && memcmp(name, core, sizeof core - 1) == 0) {
        name += sizeof core - 1;
        len -= sizeof core - 1;
    }
    size_t lo = 0, hi = sizeof specials / sizeof specials[0];
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        int c = specials[mid].name[0] - name[0]; /* decides nearly always */
        if (c == 0) {
            size_t n = strlen(specials[mid].name);
            c = memcmp(specials[mid].name, name, n < len ? n : len);
            c = c ? c : (n > len) - (n < len);
            if (c == 0)
                return specials[mid].fn;
        }
        if (c < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return NULL;
}

bool ptc_analyze_is_form(const char *name, size_t len)
{
    return ptc_analyze_special(name, len) != NULL;
}

bool ptc_analyze_is_ours(const PtcForm *head)
{
    return ptc_form_is_symbol(head, "return") || ptc_form_is_symbol(head, "fail") ||
           ptc_form_is_symbol(head, "task");
}
