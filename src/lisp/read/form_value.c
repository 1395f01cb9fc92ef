/* SPDX-License-Identifier: MIT
 * Forms as data: what quote and read-string give.  Nothing is evaluated and nothing stands for anything else: 'x inside
 * of data is the list (quote x), #'x is (var x), and `x is (quote x) with what is in it as written. */
#include "lisp/read/form.h"
#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/str.h"

static PtcValue refuse_form_value(PtcFormMaker *m, const PtcForm *form, const char *why)
{
    m->bad = form;
    m->why = why;
    return PTC_NONE;
}

static PtcValue make_form_word(PtcFormMaker *m, PtcTag type, const char *text, size_t len)
{
    if (m->word)
        return m->word(m->user, type, text, len);
    return type == PTC_T_STRING    ? ptc_str_new(m->heap, text, len)
           : type == PTC_T_KEYWORD ? ptc_keyword_new(m->heap, text, len)
                                   : ptc_symbol_new(m->heap, text, len);
}

static PtcValue items(PtcFormMaker *m, const PtcForm *form)
{
    PtcValue b = ptc_build_new(m->heap);
    for (size_t i = 0; b != PTC_NONE && i < form->count; i++) {
        PtcValue v = ptc_form_value(m, form->items[i]);
        if (v == PTC_NONE || !ptc_build_add(m->heap, b, v))
            return PTC_NONE;
    }
    return b == PTC_NONE ? b : ptc_build_done(m->heap, b, form->kind == PTC_F_VECTOR ? 0 : PTC_SEQ);
}

/* (quote x) or (var x). */
static PtcValue pair(PtcFormMaker *m, const char *name, PtcValue second)
{
    PtcValue both[2] = {make_form_word(m, PTC_T_SYMBOL, name, strlen(name)), second};
    if (both[0] == PTC_NONE || both[1] == PTC_NONE)
        return PTC_NONE;
    return ptc_vec_new(m->heap, both, 2, PTC_SEQ);
}

static PtcValue make_form_dict(PtcFormMaker *m, const PtcForm *form)
{
    bool is_set = form->kind == PTC_F_SET;
    PtcDictBuild b;
    if (!ptc_dict_build_init(&b, m->heap, is_set))
        return PTC_NONE;
    for (size_t i = 0; i < form->count; i += is_set ? 1 : 2) {
        PtcValue k = ptc_form_value(m, form->items[i]);
        PtcValue v = k == PTC_NONE || is_set ? PTC_NIL : ptc_form_value(m, form->items[i + 1]);
        if (k == PTC_NONE || v == PTC_NONE || !ptc_dict_build_put(&b, k, v)) {
            ptc_dict_build_cancel(&b);
            return PTC_NONE;
        }
    }
    PtcValue made = ptc_dict_build_done(&b);
    if (made != PTC_NONE && m->strict && ptc_map_count(made) != form->count / (is_set ? 1 : 2))
        return refuse_form_value(
            m, form, is_set ? "an element occurs twice in a set" : "a key occurs twice in a map");
    return made;
}

PtcValue ptc_form_value(PtcFormMaker *m, const PtcForm *form)
{
    switch (form->kind) {
    case PTC_F_NIL: return PTC_NIL;
    case PTC_F_TRUE:
    case PTC_F_FALSE: return ptc_bool(form->kind == PTC_F_TRUE);
    case PTC_F_NUMBER:
    case PTC_F_TAGGED: return form->value;
    case PTC_F_STRING: return make_form_word(m, PTC_T_STRING, form->text, form->len);
    case PTC_F_KEYWORD: return make_form_word(m, PTC_T_KEYWORD, form->text, form->len);
    case PTC_F_SYMBOL: return make_form_word(m, PTC_T_SYMBOL, form->text, form->len);
    case PTC_F_REGEX:
        return m->regex ? m->regex(m->user, form)
                        : refuse_form_value(m, form, "a regex is not data");
    case PTC_F_MAP:
    case PTC_F_SET: return make_form_dict(m, form);
    case PTC_F_LIST:
    case PTC_F_VECTOR: return items(m, form);
    case PTC_F_SHORT_FN:
        return m->strict ? refuse_form_value(m, form, "a function is not data") : items(m, form);
    case PTC_F_QUOTE: return pair(m, "quote", ptc_form_value(m, form->items[0]));
    case PTC_F_UNQUOTE:
    case PTC_F_SPLICE:
        if (m->strict)
            return refuse_form_value(m, form, "an unquote is not data");
        return pair(m,
                    form->kind == PTC_F_UNQUOTE ? "clojure.core/unquote"
                                                : "clojure.core/unquote-splicing",
                    ptc_form_value(m, form->items[0]));
    case PTC_F_TEMPLATE:
        if (m->strict)
            return refuse_form_value(m, form, "a syntax quote is not data");
        return pair(m, "quote", ptc_form_value(m, form->items[0]));
    case PTC_F_VAR: return pair(m, "var", make_form_word(m, PTC_T_SYMBOL, form->text, form->len));
    }
    return PTC_NIL;
}
