/* SPDX-License-Identifier: MIT
 * analyze_int.h - shared by the files of the analyzer. */
#ifndef PTC_LISP_ANALYZE_INT_H
#define PTC_LISP_ANALYZE_INT_H

#include "lisp/builtin.h"
#include "lisp/expr.h"

enum { PTC_EXPR_DEPTH = 400 }; /* nesting after sugar is opened up */

/* A call of a global, checked against its definition once that is known. */
typedef struct CallSite {
    uint32_t global, argc;
    const PtcForm *form;
} CallSite;

typedef struct Analyzer {
    PtcArena *arena;
    PtcHeap *heap;
    PtcDiags *diags;
    PtcNames *names;
    const char *source;
    size_t source_len;
    const PtcHost *host;
    PtcFn *fn;            /* being analyzed */
    PtcLocal *scope;      /* innermost name */
    PtcExpr *loop;        /* innermost loop that recur may reach; NULL: the function's start */
    uint32_t recur_count; /* values recur must give, -1u: recur has no place here */
    bool no_recur;        /* inside a part of try: recur may not reach the function made of it */
    bool has_ns;          /* there are aliases, see analyze_ns.c */
    uint32_t depth;
    PtcValue *constants; /* keywords and strings seen so far, open-addressed */
    size_t constant_count, constant_cap;
    CallSite *sites;
    size_t site_count;
    PtcFn **global_fns;   /* by global: its only definition, or NULL */
    uint8_t *global_defs; /* by global: how often the program defines it */
    bool *global_known;   /* by global: from here on it may be used, as in Clojure */
    size_t global_cap;
    const PtcLoneFn *lone; /* NULL: a program */
} Analyzer;

#define NO_RECUR UINT32_MAX

/* Fills the analyzer; the program as a function whose body is to come, or NULL. */
PtcFn *ax_start(Analyzer *an, const PtcAnalysis *job);

/* Every ax_* function returns an expression, also after reporting a finding. NULL: out of memory. */
PtcExpr *ax_form(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ax_body(Analyzer *an, PtcForm *const *forms, size_t count, const PtcForm *whole,
                 bool tail);
PtcExpr *ax_new(Analyzer *an, PtcExprKind kind, const PtcForm *at);
PtcExpr *ax_nil(Analyzer *an, const PtcForm *at);
PtcExpr *ax_const(Analyzer *an, PtcValue v, const PtcForm *at);
PtcExpr *ax_local(Analyzer *an, PtcLocal *local, const PtcForm *at);
PtcExpr *ax_builtin(Analyzer *an, const char *name, PtcExpr **args, size_t count,
                    const PtcForm *at);
PtcExpr *ax_if(Analyzer *an, PtcExpr *test, PtcExpr *then, PtcExpr *otherwise, const PtcForm *at);
/* What a function is called, and whether its body sees that name as a local. */
typedef struct FnName {
    const char *text;
    size_t len;
    bool bound;
    PtcValue doc;
    PtcFnForm form;
} FnName;
/* Parameters and body begin at item `first`. */
PtcExpr *ax_fn(Analyzer *an, const PtcForm *form, size_t first, const FnName *name);
PtcExpr *ax_fn_form(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ax_short_fn(Analyzer *an, const PtcForm *form);
/* The function that (defn name ...), of three items at least, defines. */
PtcExpr *ax_defn_fn(Analyzer *an, const PtcForm *form);
/* (name [params] body...) of letfn, of two items at least. */
PtcExpr *ax_letfn_fn(Analyzer *an, const PtcForm *form);
/* Items array of n entries; NULL: out of memory. */
PtcExpr **ax_items(Analyzer *an, size_t n);
bool ax_all(Analyzer *an, PtcForm *const *forms, size_t n, PtcExpr **out);

/* A finding at a form; returns a nil expression. */
PtcExpr *ax_error(Analyzer *an, PtcErrorKind kind, const PtcForm *at, const char *hint,
                  const char *format, ...) PTC_PRINTF(5, 6);

/* The global of this name that may be used here; -1: none, or its def comes later. */
void ax_know_global(Analyzer *an, int global);

/* Scope. */
PtcLocal *ax_bind(Analyzer *an, const char *name, size_t len);
PtcLocal *ax_temp(Analyzer *an);

/* Constants of the program: equal keywords and strings share one value. */
PtcValue ax_keyword(Analyzer *an, const char *text, size_t len);
PtcValue ax_string(Analyzer *an, const char *text, size_t len);
/* The compiled regex of a literal; nil after a finding, PTC_NONE when memory or time is short. */
PtcValue ax_regex(Analyzer *an, const PtcForm *form);
/* The var of a global as a value, #'name. */
PtcValue ax_var(Analyzer *an, const PtcForm *name, int global);
/* Quoted data as a value; PTC_NONE: out of memory. */
PtcValue ax_quote(Analyzer *an, const PtcForm *form);

bool form_is_symbol(const PtcForm *form, const char *name);
PtcForm *ax_new_form(Analyzer *an, PtcFormKind kind, const PtcForm *at, size_t count);
PtcForm *ax_symbol_form(Analyzer *an, const char *name, const PtcForm *at);

/* Destructuring (analyze_bind.c): bindings gathered in order, then made into a LET. */
typedef struct Bindings {
    PtcLocal **locals;
    PtcExpr **values;
    size_t count;
} Bindings;
bool ax_add_binding(Analyzer *an, Bindings *b, PtcLocal *local, PtcExpr *value);
/* Binds the pattern after & to the rest of the values: a map pattern takes them as keyword arguments. */
bool ax_destructure_rest(Analyzer *an, Bindings *b, const PtcForm *pattern, PtcExpr *value);
/* Binds `pattern` to `value`; the names are in scope afterwards. */
bool ax_destructure(Analyzer *an, Bindings *b, const PtcForm *pattern, PtcExpr *value);
PtcExpr *ax_let(Analyzer *an, Bindings *b, PtcExpr *body, const PtcForm *at);

/* Special forms: NULL when the name is none. */
typedef PtcExpr *(*FormFn)(Analyzer *an, const PtcForm *form, bool tail);
FormFn ax_special(const char *name, size_t len);
/* For analyze_forms.c's table. */
PtcExpr *ax_thread_first(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ax_thread_last(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ax_thread_as(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ax_thread_cond_first(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ax_thread_cond_last(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ax_thread_some_first(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ax_thread_some_last(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ax_loop(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ax_recur(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ax_for(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ax_doseq(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ax_dotimes(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ax_declare(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ax_def(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ax_defonce(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ax_defn(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ax_try(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ax_task(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ax_with_out_str(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ax_letfn(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ax_doto(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ax_while(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ax_ns(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ax_require(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ax_import(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ax_case(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ax_condp(Analyzer *an, const PtcForm *form, bool tail);

/* ptc_builtin_find through the aliases and referred names of this program (analyze_ns.c). */
int ax_find_builtin(Analyzer *an, const char *text, size_t len);
bool ax_is_alias(Analyzer *an, const char *text, size_t len);

/* Names (analyze_name.c). */
PtcExpr *ax_symbol(Analyzer *an, const PtcForm *form);
/* Is this a name of Clojure's that we do not have, with a hint of its own? */
bool ax_is_missing(const PtcForm *symbol);
/* Number of the global that a name means, -1 when it means none. */
int ax_global(Analyzer *an, const char *name, size_t len);
PtcLocal *ax_find_local(Analyzer *an, const char *name, size_t len);
/* Row number of the builtin a call of this symbol means, -1 when it means something else. */
int ax_builtin_of(Analyzer *an, const PtcForm *symbol);

#endif
