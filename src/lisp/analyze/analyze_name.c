/* SPDX-License-Identifier: MIT
 * What a symbol means: a local, a captured local, a global, a builtin, data/..., or a mistake with a hint. */
#include <math.h>
#include <stdio.h>

#include "lisp/analyze/analyze_int.h"
#include "lisp/dispatch/class.h"
#include "lisp/prelude/prelude.h"
#include "lisp/vm/record.h"
#include "lisp/vm/registry.h"
#include "value/number/decimal.h"
#include "value/time/time.h"

PtcLocal *ptc_analyze_find_local(Analyzer *an, const char *name, size_t len)
{
    int64_t steps = 0;
    if (len == 1 && name[0] == '%') { /* in #(), % is %1 */
        name = "%1";
        len = 2;
    }
    for (PtcLocal *l = an->scope; l; l = l->outer, steps++)
        if (l->len == len && len > 0 && memcmp(l->name, name, len) == 0)
            return l;
    (void)!ptc_tick(an->heap->budget, steps / 16);
    return NULL;
}

/* Number of the capture of `local` in `fn`, added there and in the functions between when new. */
static int capture(Analyzer *an, PtcFn *fn, PtcLocal *local)
{
    for (uint32_t i = 0; i < fn->capture_count; i++)
        if (fn->captures[i].local == local)
            return (int)i;
    PtcCapture c = {local, 0, 0};
    if (local->fn != fn->parent) {
        int outer = capture(an, fn->parent, local);
        if (outer < 0)
            return -1;
        c.from = 1;
        c.index = (uint16_t)outer;
    } else if (local->is_self) {
        c.from = 2;
    }
    PtcCapture *all = ptc_arena_push(an->arena, fn->captures, fn->capture_count, sizeof *all);
    if (!all || fn->capture_count >= UINT16_MAX)
        return -1;
    fn->captures = all;
    all[fn->capture_count] = c;
    return (int)fn->capture_count++;
}

PtcExpr *ptc_analyze_local(Analyzer *an, PtcLocal *local, const PtcForm *at)
{
    if (local->fn == an->fn) {
        PtcExpr *x = ptc_analyze_new(an, local->is_self ? PTC_X_SELF : PTC_X_LOCAL, at);
        if (x)
            x->local = local;
        return x;
    }
    int index = capture(an, an->fn, local);
    PtcExpr *x = index < 0 ? NULL : ptc_analyze_new(an, PTC_X_CAPTURE, at);
    if (x)
        x->index = (uint32_t)index;
    return x;
}

static const struct {
    const char *name;
    double value;
} float_constants[] = {
    {"POSITIVE_INFINITY", INFINITY},
    {"NEGATIVE_INFINITY", -INFINITY},
    {"NaN", NAN},
    {"Double/POSITIVE_INFINITY", INFINITY},
    {"Double/NEGATIVE_INFINITY", -INFINITY},
    {"Double/NaN", NAN},
    {"Float/POSITIVE_INFINITY", INFINITY},
    {"Float/NEGATIVE_INFINITY", -INFINITY},
    {"Float/NaN", NAN},
    {"Double/MAX_VALUE", 1.7976931348623157e308},
    {"Double/MIN_VALUE", 4.9e-324},
    {"Math/PI", 3.141592653589793},
    {"Math/E", 2.718281828459045},
    {"clojure.math/PI", 3.141592653589793},
    {"clojure.math/E", 2.718281828459045},
    {"Double/MIN_NORMAL", 0x1p-1022},
    {"Float/MAX_VALUE", 0x1.fffffep127},
    {"Float/MIN_VALUE", 0x1p-149},
};

static const struct {
    const char *name;
    int64_t value;
} int_constants[] = {
    {"Integer/MAX_VALUE", INT32_MAX},
    {"Integer/MIN_VALUE", INT32_MIN},
    {"Long/MAX_VALUE", INT64_MAX},
    {"Long/MIN_VALUE", INT64_MIN},
    {"Short/MAX_VALUE", INT16_MAX},
    {"Short/MIN_VALUE", INT16_MIN},
    {"Byte/MAX_VALUE", INT8_MAX},
    {"Byte/MIN_VALUE", INT8_MIN},
    {"Integer/SIZE", 32},
    {"BigDecimal/ROUND_UP", 0},
    {"BigDecimal/ROUND_DOWN", 1},
    {"BigDecimal/ROUND_CEILING", 2},
    {"BigDecimal/ROUND_FLOOR", 3},
    {"BigDecimal/ROUND_HALF_UP", 4},
    {"BigDecimal/ROUND_HALF_DOWN", 5},
    {"BigDecimal/ROUND_HALF_EVEN", 6},
    {"Long/SIZE", 64},
    {"Character/MIN_RADIX", 2},
    {"Character/MAX_RADIX", 36},
};

enum { CONSTANT_BYTES = 80 };

/* The name of a constant as the tables have it: math/PI with an alias is clojure.math/PI, java.lang.Long/MAX_VALUE is
 * Long/MAX_VALUE. */
static PtcText full_constant_name(Analyzer *an, const PtcForm *form, char out[CONSTANT_BYTES])
{
    PtcText whole = {form->text, form->len}, ns = {NULL, 0}, name = whole;
    const char *slash = form->len > 1 ? memchr(form->text + 1, '/', form->len - 1) : NULL;
    if (slash) {
        ns = (PtcText){form->text, (size_t)(slash - form->text)};
        name = (PtcText){slash + 1, form->len - ns.len - 1};
    }
    PtcText other =
        an->has_ns ? ptc_alias_find(an->names, slash ? PTC_ALIAS_NAMESPACE : PTC_ALIAS_REFERRED,
                                    slash ? ns : name)
                   : (PtcText){NULL, 0};
    if (other.bytes)
        ns = other;
    const char *known = ns.bytes ? ptc_namespace_of(ns.bytes, ns.len) : NULL;
    int n = known && name.len < CONSTANT_BYTES
                ? snprintf(out, CONSTANT_BYTES, "%s/%.*s", known, PTC_ARG(name))
                : CONSTANT_BYTES;
    return n < CONSTANT_BYTES ? (PtcText){out, (size_t)n} : whole;
}

static PtcValue class_constant(Analyzer *an, PtcText name)
{
    const char *full = ptc_class_named(name);
    return full ? ptc_symbol_new(an->heap, full, strlen(full)) : PTC_NONE;
}

static PtcValue constant(Analyzer *an, const PtcForm *form)
{
    char room[CONSTANT_BYTES];
    PtcText name = full_constant_name(an, form, room);
    if (ptc_text_is(ptc_class_simple(name), "PersistentQueue/EMPTY"))
        return ptc_vec_new(an->heap, NULL, 0, PTC_QUEUE);
    for (size_t i = 0; i < sizeof float_constants / sizeof float_constants[0]; i++)
        if (ptc_text_is(name, float_constants[i].name))
            return ptc_float_new(an->heap, float_constants[i].value);
    for (size_t i = 0; i < sizeof int_constants / sizeof int_constants[0]; i++)
        if (ptc_text_is(name, int_constants[i].name))
            return ptc_int_new(an->heap, int_constants[i].value);
    static const char *const decimals[] = {"BigDecimal/ZERO", "BigDecimal/ONE", "BigDecimal/TEN"};
    static const int64_t values[] = {0, 1, 10};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        if (ptc_text_is(name, decimals[i]))
            return ptc_decimal_new(an->heap, ptc_int(values[i]), 0);
    PtcValue v = ptc_interop_constant(an->heap, name.bytes, name.len);
    return v == PTC_NONE ? class_constant(an, (PtcText){form->text, form->len}) : v;
}

/* Known by name in every run, and by its number in this one. */
PtcValue ptc_analyze_tool_value(Analyzer *an, uint32_t number, const char *name, size_t len)
{
    PtcRecord *o = ptc_heap_object(an->heap, PTC_T_RECORD, sizeof *o + 3 * sizeof(PtcValue), 3);
    PtcValue text = o ? ptc_str_new(an->heap, name, len) : PTC_NONE;
    if (text == PTC_NONE)
        return PTC_NONE;
    o->obj.aux = PTC_R_FN;
    o->fields[0] = ptc_builtin((uint32_t)ptc_builtin_find("%tool", 5));
    o->fields[1] = text;
    o->fields[2] = ptc_int(number);
    an->facts.outside = an->facts.calls = true;
    return ptc_from_obj(o);
}

static PtcExpr *tool(Analyzer *an, const PtcForm *form, const char *name, size_t len)
{
    int number = an->host ? an->host->find(an->host, name, len) : -1;
    /* A lone function comes from a store, and may be called where the tool is given again. */
    if (number < 0 && !an->lone)
        return ptc_analyze_unknown_tool(an, form, name, len);
    PtcValue f = ptc_analyze_tool_value(an, number < 0 ? 0 : (uint32_t)number, name, len);
    return f == PTC_NONE ? NULL : ptc_analyze_const(an, f, form);
}

static PtcExpr *data(Analyzer *an, const PtcForm *form, const char *name, size_t len)
{
    PtcExpr *x = ptc_analyze_new(an, PTC_X_DATA, form);
    if (!x || (x->value = ptc_analyze_keyword(an, name, len)) == PTC_NONE)
        return NULL;
    an->facts.outside = an->facts.values = true;
    ptc_analyze_warn_data(an, form, x->value);
    return x;
}

/* A name that means nothing else: perhaps data without its data/. */
static PtcExpr *bare(Analyzer *an, const PtcForm *form)
{
    PtcValue key = an->bare_data && ptc_is_map(an->context)
                       ? ptc_analyze_keyword(an, form->text, form->len)
                       : PTC_NONE;
    if (key != PTC_NONE && ptc_map_key_flex(an->heap, an->context, key) != PTC_NONE)
        return data(an, form, form->text, form->len);
    return ptc_analyze_unknown(an, form);
}

/* ns/name is the tool ns.name, where there is one: tools that belong together are written like those of a server. */
static PtcExpr *tool_of_group(Analyzer *an, const PtcForm *form, size_t prefix)
{
    char name[PTC_HOST_NAME];
    size_t len = ptc_host_grouped(an->host, (PtcText){form->text, form->len}, prefix, name);
    return len ? tool(an, form, name, len) : NULL;
}

/* ns/name, where it is neither a builtin nor a constant. */
static PtcExpr *analyze_qualified_name(Analyzer *an, const PtcForm *form, size_t prefix)
{
    const char *name = form->text + prefix + 1;
    size_t name_len = form->len - prefix - 1;
    if (prefix == 4 && memcmp(form->text, "data", 4) == 0)
        return data(an, form, name, name_len);
    if (prefix == 4 && memcmp(form->text, "tool", 4) == 0)
        return tool(an, form, name, name_len);
    PtcExpr *grouped = tool_of_group(an, form, prefix);
    if (grouped)
        return grouped;
    PtcText ns = {form->text, prefix};
    if (ptc_analyze_is_alias(an, ns.bytes, ns.len))
        ns = ptc_alias_find(an->names, PTC_ALIAS_NAMESPACE, ns);
    bool known = false;
    PtcExpr *x = ptc_analyze_server(an, form, ns, (PtcText){name, name_len}, &known);
    return known ? x : ptc_analyze_unknown_in(an, form, prefix);
}

/* A bare name that (require '[github :refer [name]]) has declared; *known is false for any other. */
static PtcExpr *analyze_referred_name(Analyzer *an, const PtcForm *form, bool *known)
{
    PtcText name = {form->text, form->len};
    PtcText ns =
        an->has_ns ? ptc_alias_find(an->names, PTC_ALIAS_REFERRED, name) : (PtcText){NULL, 0};
    return ns.bytes ? ptc_analyze_server(an, form, ns, name, known) : NULL;
}

int ptc_analyze_global(Analyzer *an, const char *name, size_t len)
{
    int global = an->names->count ? ptc_names_find(an->names, name, len) : -1;
    if (global < 0)
        return global;
    if (!an->lone) {
        uint8_t known = (size_t)global < an->global_cap ? an->global_known[global] : KNOWN_HERE;
        /* What has the name of a form hides it in its own program only. */
        return known == 0 || (known == KNOWN_EARLIER && ptc_analyze_special(name, len)) ? -1
                                                                                        : global;
    }
    if ((size_t)global >= an->lone->seen_count || !(an->lone->seen[global] & PTC_MAY_NAME))
        return -1;
    an->lone->seen[global] |= PTC_NAMES;
    return global;
}

void ptc_analyze_know_global(Analyzer *an, int global)
{
    if (global >= 0 && (size_t)global < an->global_cap)
        an->global_known[global] = KNOWN_HERE;
}

/* A definition above this one in a file of the prelude; PTC_NIL: the name means something else. */
static PtcValue defined_above(Analyzer *an, const PtcForm *symbol)
{
    return an->lone && an->lone->prelude
               ? ptc_prelude_named(an->lone->prelude, symbol->text, symbol->len)
               : PTC_NIL;
}

int ptc_analyze_builtin_of(Analyzer *an, const PtcForm *symbol)
{
    if (ptc_analyze_find_local(an, symbol->text, symbol->len) ||
        ptc_analyze_global(an, symbol->text, symbol->len) >= 0 ||
        defined_above(an, symbol) != PTC_NIL)
        return -1;
    return ptc_analyze_find_builtin(an, symbol->text, symbol->len);
}

/* What the writer of a form that stands alone may have meant: jq's input, a loop as Python has it. */
static const char *special_hint(const PtcForm *form)
{
    if (ptc_form_is_symbol(form, "."))
        return "the input is data, and a field of it (:name data); only jq writes a dot for it";
    if (ptc_form_is_symbol(form, "for"))
        return "a loop is in parentheses: (for [x coll] body)";
    if (ptc_form_is_symbol(form, "import"))
        return "nothing needs to be imported: leave it out";
    return "wrap it in a function: #(...)";
}

PtcExpr *ptc_analyze_symbol(Analyzer *an, const PtcForm *form)
{
    PtcLocal *local = ptc_analyze_find_local(an, form->text, form->len);
    if (local)
        return ptc_analyze_local(an, local, form);
    PtcValue above = defined_above(an, form);
    if (above != PTC_NIL)
        return above == PTC_NONE ? NULL : ptc_analyze_const(an, above, form);
    int global = ptc_analyze_global(an, form->text, form->len);
    const char *slash = form->len > 1 ? memchr(form->text + 1, '/', form->len - 1) : NULL;
    size_t prefix = slash ? (size_t)(slash - form->text) : 0;
    if (global < 0 && slash && ptc_analyze_is_own(an, (PtcText){form->text, prefix}))
        global = ptc_analyze_global(an, slash + 1, form->len - prefix - 1);
    if (global >= 0) {
        PtcExpr *x = ptc_analyze_new(an, PTC_X_GLOBAL, form);
        an->facts.values |= (size_t)global < an->facts.earlier;
        an->facts.outside |= an->facts.values;
        if (x)
            x->index = (uint32_t)global;
        return x;
    }
    if (form->len == 2 && form->text[0] == '*' && form->text[1] >= '1' && form->text[1] <= '3')
        return ptc_analyze_nil(an, form); /* *1 *2 *3: results of earlier turns, none yet */
    int row = ptc_analyze_find_builtin(an, form->text, form->len);
    if (row >= 0)
        return ptc_analyze_const(an, ptc_builtin((uint32_t)row), form);
    if (ptc_analyze_special(form->text, form->len))
        return ptc_analyze_error(an, PTC_E_UNBOUND, form, special_hint(form),
                                 "%.*s is a special form, not a value",
                                 PTC_ARG_OF(form->text, form->len));
    PtcValue v = constant(an, form);
    if (v != PTC_NONE)
        return ptc_analyze_const(an, v, form);
    PtcForm last = *form;
    while (an->has_types && !slash && last.len > 0 && memchr(last.text, '.', last.len)) {
        last.text++; /* my.app.Point is Point */
        last.len--;
    }
    global =
        last.len > 0 && last.len < form->len ? ptc_analyze_global(an, last.text, last.len) : -1;
    if (global >= 0)
        return ptc_analyze_symbol(an, &last);
    if (slash)
        return analyze_qualified_name(an, form, prefix);
    bool known = false;
    PtcExpr *x = analyze_referred_name(an, form, &known);
    return known ? x : bare(an, form);
}
