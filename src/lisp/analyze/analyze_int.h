/* SPDX-License-Identifier: MIT
 * analyze_int.h - shared by the files of the analyzer. */
#ifndef PTC_LISP_ANALYZE_ANALYZE_INT_H
#define PTC_LISP_ANALYZE_ANALYZE_INT_H

#include "lisp/analyze/expr.h"
#include "lisp/vm/builtin.h"

#include <string.h>

enum { PTC_EXPR_DEPTH = 400 }; /* nesting after sugar is opened up */

/* A call of a global, checked against its definition once that is known. */
typedef struct CallSite {
    uint32_t global, argc;
    const PtcForm *form;
} CallSite;

/* One program being checked: what was given with it, the scopes around the form that is looked at, and what was
 * found.  It lives on the stack of the run's thread until the program is analyzed; everything that outlasts it is
 * in the arena. */
typedef struct Analyzer {
    PtcArena *arena;
    PtcHeap *heap;
    PtcDiags *diags;
    PtcNames *names;
    const char *source;
    size_t source_len;
    const PtcHost *host;
    PtcServers *servers; /* or NULL */
    PtcValue context;
    bool bare_data;        /* names of the context may be written without data/ */
    PtcWarnings *warnings; /* or NULL */
    const PtcForm *parent; /* the list around the form being analyzed, or NULL */
    PtcFn *fn;             /* being analyzed */
    PtcLocal *scope;       /* innermost name */
    PtcExpr *loop;         /* innermost loop that recur may reach; NULL: the function's start */
    uint32_t repeats; /* forms around this one that repeat it, loop aside; counted for sites only */
    uint32_t recur_count; /* values recur must give, -1u: recur has no place here */
    const char *barrier;  /* what stands between here and the loop around it: "try"; or NULL */
    const char *no_recur; /* the next function is a part of this: recur may not reach it; or NULL */
    PtcLocal *self;       /* first parameter of the method around it, which recur leaves out */
    bool has_ns;          /* there are aliases, see analyze_ns.c */
    bool has_types;       /* there are types of the program's, or the session's */
    bool missing_defs;    /* a form such as defmacro at the top was reported */
    bool hides_forms;     /* the program defines something that has the name of a form */
    uint32_t depth;
    PtcValue *constants; /* keywords and strings seen so far, open-addressed */
    size_t constant_count, constant_cap;
    CallSite *sites;
    size_t site_count;
    PtcFn **global_fns;    /* by global: its only definition, or NULL */
    uint8_t *global_defs;  /* by global: how often the program defines it */
    uint8_t *global_known; /* by global: from here on it may be used, as in Clojure; KNOWN_... */
    size_t global_cap;
    const PtcLoneFn *lone; /* NULL: a program */
    PtcProgramFacts facts;
} Analyzer;

#define NO_RECUR UINT32_MAX

/* Defined by an earlier program of the session; by this one. */
enum { KNOWN_EARLIER = 1, KNOWN_HERE };

/* Fills the analyzer; the program as a function whose body is to come, or NULL. */
PtcFn *ptc_analyze_start(Analyzer *an, const PtcAnalysis *job);

/* Each of these returns an expression, also after reporting a finding.  NULL: out of memory. */
PtcExpr *ptc_analyze_form(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ptc_analyze_body(Analyzer *an, PtcForm *const *forms, size_t count, const PtcForm *whole,
                          bool tail);
PtcExpr *ptc_analyze_new(Analyzer *an, PtcExprKind kind, const PtcForm *at);
PtcExpr *ptc_analyze_nil(Analyzer *an, const PtcForm *at);
PtcExpr *ptc_analyze_const(Analyzer *an, PtcValue v, const PtcForm *at);
PtcExpr *ptc_analyze_local(Analyzer *an, PtcLocal *local, const PtcForm *at);
PtcExpr *ptc_analyze_builtin(Analyzer *an, const char *name, PtcExpr **args, size_t count,
                             const PtcForm *at);
PtcExpr *ptc_analyze_if(Analyzer *an, PtcExpr *test, PtcExpr *then, PtcExpr *otherwise,
                        const PtcForm *at);
/* What a function is called, and whether its body sees that name as a local. */
typedef struct FnName {
    const char *text;
    size_t len;
    bool bound;
    PtcValue doc;
    PtcFnForm form;
} FnName;
/* Parameters and body begin at item `first`. */
PtcExpr *ptc_analyze_fn(Analyzer *an, const PtcForm *form, size_t first, const FnName *name);
PtcExpr *ptc_analyze_fn_form(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ptc_analyze_short_fn(Analyzer *an, const PtcForm *form);
/* The function that (defn name ...), of three items at least, defines. */
PtcExpr *ptc_analyze_defn_fn(Analyzer *an, const PtcForm *form);
/* (name [params] body...) of letfn, of two items at least. */
PtcExpr *ptc_analyze_letfn_fn(Analyzer *an, const PtcForm *form);
/* Items array of n entries; NULL: out of memory. */
PtcExpr **ptc_analyze_items(Analyzer *an, size_t n);
bool ptc_analyze_all(Analyzer *an, PtcForm *const *forms, size_t n, PtcExpr **out);

/* A finding at a form; returns a nil expression. */
PtcExpr *ptc_analyze_error(Analyzer *an, PtcErrorKind kind, const PtcForm *at, const char *hint,
                           const char *format, ...) PTC_PRINTF(5, 6);

/* The global of this name that may be used here; -1: none, or its def comes later. */
void ptc_analyze_know_global(Analyzer *an, int global);

/* Scope. */
PtcLocal *ptc_analyze_bind(Analyzer *an, const char *name, size_t len);
PtcLocal *ptc_analyze_temp(Analyzer *an);

/* Constants of the program: equal keywords and strings share one value. */
PtcValue ptc_analyze_keyword(Analyzer *an, const char *text, size_t len);
PtcValue ptc_analyze_string(Analyzer *an, const char *text, size_t len);
/* The compiled regex of a literal; nil after a finding, PTC_NONE: out of memory or time. */
PtcValue ptc_analyze_regex(Analyzer *an, const PtcForm *form);
/* The var of a global as a value, #'name. */
PtcValue ptc_analyze_var(Analyzer *an, const PtcForm *name, int global);
/* Quoted data as a value; PTC_NONE: out of memory. */
PtcValue ptc_analyze_quote(Analyzer *an, const PtcForm *form);

/* Syntax quote as data (analyze_template.c); ~ and ~@ outside of one. */
PtcExpr *ptc_analyze_template(Analyzer *an, const PtcForm *form);
PtcExpr *ptc_analyze_unquote(Analyzer *an, const PtcForm *form);

/* Asked of every form with a dozen names, so it is inline: the length of a literal name is known to the compiler. */
static inline bool ptc_form_is_symbol(const PtcForm *form, const char *name)
{
    size_t len = strlen(name);
    return form->kind == PTC_F_SYMBOL && form->len == len && memcmp(form->text, name, len) == 0;
}
PtcForm *ptc_analyze_new_form(Analyzer *an, PtcFormKind kind, const PtcForm *at, size_t count);
PtcForm *ptc_analyze_symbol_form(Analyzer *an, const char *name, const PtcForm *at);

/* Destructuring (analyze_bind.c): bindings gathered in order, then made into a LET. */
typedef struct Bindings {
    PtcLocal **locals;
    PtcExpr **values;
    size_t count;
} Bindings;
bool ptc_analyze_add_binding(Analyzer *an, Bindings *b, PtcLocal *local, PtcExpr *value);
/* Binds the pattern after & to the rest of the values: a map pattern takes them as keyword arguments. */
bool ptc_analyze_destructure_rest(Analyzer *an, Bindings *b, const PtcForm *pattern,
                                  PtcExpr *value);
/* Binds `pattern` to `value`; the names are in scope afterwards. */
bool ptc_analyze_destructure(Analyzer *an, Bindings *b, const PtcForm *pattern, PtcExpr *value);
PtcExpr *ptc_analyze_let(Analyzer *an, Bindings *b, PtcExpr *body, const PtcForm *at);

/* Special forms: NULL when the name is none. */
typedef PtcExpr *(*FormFn)(Analyzer *an, const PtcForm *form, bool tail);
FormFn ptc_analyze_special(const char *name, size_t len);
/* A form that Clojure does not have: return, fail, task. */
bool ptc_analyze_is_ours(const PtcForm *head);
/* Warns of a call whose head has the name of a form; `hidden`: it is something of the program's, not that form. */
void ptc_analyze_warn_form(Analyzer *an, const PtcForm *head, bool hidden);
/* For analyze_forms.c's table. */
PtcExpr *ptc_analyze_thread_first(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ptc_analyze_thread_last(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ptc_analyze_thread_as(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ptc_analyze_thread_cond_first(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ptc_analyze_thread_cond_last(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ptc_analyze_thread_some_first(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ptc_analyze_thread_some_last(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ptc_analyze_loop(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ptc_analyze_recur(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ptc_analyze_for(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ptc_analyze_doseq(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ptc_analyze_dotimes(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ptc_analyze_declare(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ptc_analyze_def(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ptc_analyze_defonce(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ptc_analyze_defn(Analyzer *an, const PtcForm *form, bool tail);
/* The name as a global with this value, at the place of `at`. */
PtcExpr *ptc_analyze_define(Analyzer *an, const PtcForm *at, const PtcForm *name, PtcExpr *value);
/* Types, protocols, multimethods (analyze_types.c). */
PtcExpr *ptc_analyze_defrecord(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ptc_analyze_deftype(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ptc_analyze_defprotocol(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ptc_analyze_extend_type(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ptc_analyze_extend_protocol(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ptc_analyze_reify(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ptc_analyze_defmulti(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ptc_analyze_defmethod(Analyzer *an, const PtcForm *form, bool tail);
/* The function of (method [this] ...) in a type, and of a defmethod of four items at least. */
PtcExpr *ptc_analyze_method_fn(Analyzer *an, const PtcForm *form);
PtcExpr *ptc_analyze_defmethod_fn(Analyzer *an, const PtcForm *form);
/* The field that a call (.-name x) reads; NULL: it is something else, or out of memory. */
PtcExpr *ptc_analyze_field(Analyzer *an, const PtcForm *form);
/* (->Point a b) for (Point. a b), where the program has that type; else NULL. */
PtcForm *ptc_analyze_constructor(Analyzer *an, const PtcForm *form);
/* Symbol number i that a form of these defines; NULL beyond the last. */
const PtcForm *ptc_analyze_defined(Analyzer *an, const PtcForm *form, size_t i);
PtcExpr *ptc_analyze_try(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ptc_analyze_delay(Analyzer *an, const PtcForm *form, bool tail);
/* The function inside of (delay body...). */
PtcExpr *ptc_analyze_delay_fn(Analyzer *an, const PtcForm *form);
PtcExpr *ptc_analyze_task(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ptc_analyze_with_precision(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ptc_analyze_with_out_str(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ptc_analyze_lazy_seq(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ptc_analyze_lazy_cat(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ptc_analyze_letfn(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ptc_analyze_doto(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ptc_analyze_while(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ptc_analyze_dot(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ptc_analyze_dots(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ptc_analyze_memfn(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ptc_analyze_new_object(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ptc_analyze_ns(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ptc_analyze_require(Analyzer *an, const PtcForm *form, bool tail);
PtcExpr *ptc_analyze_import(Analyzer *an, const PtcForm *form, bool tail);

/* ptc_builtin_find through the aliases and referred names of this program (analyze_ns.c). */
int ptc_analyze_find_builtin(Analyzer *an, const char *text, size_t len);
/* Does a name, or the prefix of names, come from a namespace that was reported to be unknown? */
bool ptc_analyze_is_lost(Analyzer *an, PtcText name, bool namespace);
/* Does the prefix mean the names that this program itself defines? */
bool ptc_analyze_is_own(Analyzer *an, PtcText ns);
bool ptc_analyze_is_alias(Analyzer *an, const char *text, size_t len);

/* Offers the names of data, the first thousand: a context may have any number
 * (analyze_unknown.c). */
struct PtcSuggest;
void ptc_analyze_offer_data(const Analyzer *an, struct PtcSuggest *s);

/* Warnings (analyze_warn.c): of data/... that may not be there; of the forms of a body but the last. */
void ptc_analyze_warn_data(Analyzer *an, const PtcForm *form, PtcValue key);
void ptc_analyze_warn_dropped(Analyzer *an, PtcForm *const *forms, PtcExpr *const *items,
                              size_t count, bool whole_program);

/* Names (analyze_name.c). */
PtcExpr *ptc_analyze_symbol(Analyzer *an, const PtcForm *form);
/* A function that calls what is named so in a call of %tool: "name" of the host, "ns/name" of another server. */
PtcValue ptc_analyze_tool_value(Analyzer *an, uint32_t number, const char *name, size_t len);
/* Number of the global that a name means, -1 when it means none. */
int ptc_analyze_global(Analyzer *an, const char *name, size_t len);
PtcLocal *ptc_analyze_find_local(Analyzer *an, const char *name, size_t len);
/* Names that mean nothing (analyze_unknown.c), with the nearest that do: a symbol; one of a namespace, whose prefix has
 * so many bytes; a tool. */
PtcExpr *ptc_analyze_unknown(Analyzer *an, const PtcForm *form);
PtcExpr *ptc_analyze_unknown_in(Analyzer *an, const PtcForm *form, size_t prefix);
PtcExpr *ptc_analyze_unknown_tool(Analyzer *an, const PtcForm *form, const char *name, size_t len);
/* Tools of other servers (analyze_server.c): what ns/name at a form means, NULL also for a namespace that no server
 * has: then *known is false. */
PtcExpr *ptc_analyze_server(Analyzer *an, const PtcForm *form, PtcText ns, PtcText name,
                            bool *known);
/* Is it the namespace of a server? */
bool ptc_analyze_is_server(Analyzer *an, PtcText ns);
/* (tool/call {...}): names and arguments that are literal are checked. */
void ptc_analyze_check_call(Analyzer *an, const PtcForm *call);
/* Does it name a form that does not exist here, so that there is no point in analyzing what follows it? */
bool ptc_analyze_is_missing(const PtcForm *symbol);
/* Row number of the builtin a call of this symbol means, -1 when it means something else. */
int ptc_analyze_builtin_of(Analyzer *an, const PtcForm *symbol);

#endif
