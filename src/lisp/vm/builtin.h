/* SPDX-License-Identifier: MIT
 * builtin.h - how functions of the language are written in C.
 *
 * One row each: namespace, name, arity, usage, doc, examples, then the body.  From the rows come name
 * resolution, arity checks, (doc f), docs/functions.md and the doctests.
 *
 *   PTC_BUILTIN(core_quot, "clojure.core", "quot", 2, 2, 0, "(quot num div)",
 *               "Integer quotient, truncated toward zero.",
 *               "(quot 7 2) => 3\n(quot 1 0) !! arithmetic_error")
 *   {
 *       ...read argv[0 .. argc-1], set *out, return true; or return ptc_fail(...)
 *   }
 *
 * and its place in the file's table (a forgotten row is a compile error: unused variable):
 *
 *   PTC_BUILTIN_TABLE(ptc_lib_num, core_quot);
 *
 * Rules for bodies:
 *  - arity is checked already; types are not.  A body need not look at all of its parameters.
 *  - every loop whose length the program controls calls ptc_tick(&vm->budget, n) and returns false
 *    when that does; work on bytes is charged by their number, see base/budget.h and base/bytes.h.
 *  - a function that returns PTC_NONE or false has said why: return false at once.
 *  - without PTC_B_CALLS: must not call ptc_call; nothing is collected while it runs, so plain C
 *    locals may hold values.  It may be run a second time after it ran out of memory, so *out is written and
 *    effects happen only on the way to `return true`, and scratch memory is freed on every path.
 *  - with PTC_B_CALLS: any ptc_call may collect.  Values that must survive it are arguments
 *    (argv stays valid and rooted) or in slots from ptc_roots(vm, n), released when the builtin returns. */
#ifndef PTC_LISP_VM_BUILTIN_H
#define PTC_LISP_VM_BUILTIN_H

#include "lisp/vm/kinds.h"
#include "lisp/vm/vm.h"

typedef bool (*PtcBuiltinFn)(PtcVM *vm, int argc, const PtcValue *argv, PtcValue *out);

enum {
    PTC_B_CALLS = 1,  /* may call back into the program */
    PTC_B_HIDDEN = 2, /* for the compiler's use; no name in the language */
    PTC_B_EFFECT = 4, /* has an effect: not to be run twice or dropped */
    PTC_B_FORM =
        8, /* documentation of a special form or constant: no function, never found by name */
    PTC_B_NAME = 16, /* its first argument may be a name without a quote, as (doc if) in Clojure */
    PTC_B_LONE = 32, /* a single argument is not looked at: what kinds.h says holds from two on */
};

typedef struct PtcBuiltin {
    const char *ns, *name;
    const char *usage, *doc, *examples; /* the last two are NULL in hidden rows */
    PtcBuiltinFn fn;
    int16_t min, max; /* max -1: any number */
    uint8_t name_len;
    uint64_t flags; /* PTC_B_..., and what kinds.h says of arguments and result */
} PtcBuiltin;

/* Every start reads all names.  Side by side they fill three pages; spread among the other texts they would make
 * most of those pages resident. */
#ifdef __ELF__
#define PTC_NAMES_TOGETHER __attribute__((section("ptc_names")))
#else
#define PTC_NAMES_TOGETHER
#endif

/* A row whose function is elsewhere; PTC_BUILTIN is the usual way to write one.  What says something to readers of the
 * language is left out for hidden ones, whose rows then cost a start less. */
#define PTC_BUILTIN_ROW(id, fn_, ns_, name_, min_, max_, flags_, usage_, doc_, examples_)   \
    static const char id##_name[] PTC_NAMES_TOGETHER = name_;                               \
    static const PtcBuiltin id[1] = {{.ns = ns_,                                            \
                                      .name = id##_name,                                    \
                                      .usage = usage_,                                      \
                                      .doc = (flags_)&PTC_B_HIDDEN ? NULL : doc_,           \
                                      .examples = (flags_)&PTC_B_HIDDEN ? NULL : examples_, \
                                      .fn = fn_,                                            \
                                      .min = min_,                                          \
                                      .max = max_,                                          \
                                      .flags = flags_,                                      \
                                      .name_len = sizeof name_ - 1}}

#define PTC_BUILTIN(id, ns_, name_, min_, max_, flags_, usage_, doc_, examples_)            \
    static bool run_##id(PtcVM *vm, int argc, const PtcValue *argv, PtcValue *out);         \
    PTC_BUILTIN_ROW(id, run_##id, ns_, name_, min_, max_, flags_, usage_, doc_, examples_); \
    static bool run_##id(PTC_UNUSED PtcVM *vm, PTC_UNUSED int argc,                         \
                         PTC_UNUSED const PtcValue *argv, PTC_UNUSED PtcValue *out)

/* What is documented as a builtin but is a special form or constant: the analyzer gives it its meaning. */
#define PTC_FORM(id, ns_, name_, usage_, doc_, examples_) \
    PTC_BUILTIN_ROW(id, NULL, ns_, name_, 0, -1, PTC_B_FORM, usage_, doc_, examples_)

/* The rows of a file, in the order of their numbers. */
#define PTC_BUILTIN_TABLE(table, ...) const PtcBuiltin *const table[] = {__VA_ARGS__, NULL}

/* A builtin whose body is one expression of vm, argc, argv and out, as most are that leave the work to a function or
 * another builtin. */
#define PTC_BUILTIN_EXPR(id, ns_, name_, min_, max_, flags_, usage_, doc_, examples_, expr_) \
    PTC_BUILTIN(id, ns_, name_, min_, max_, flags_, usage_, doc_, examples_)                 \
    {                                                                                        \
        return expr_;                                                                        \
    }

/* --- errors (error.c).  All return false.  They know which builtin is running. --- */

/* "message"; the hint is optional and set afterwards with ptc_fail_hint.  kind: a PtcErrorKind, with PTC_AS(class)
 * where Clojure throws something else than ptc_error_thrown says. */
bool ptc_fail(PtcVM *vm, unsigned kind, const char *format, ...) PTC_PRINTF(3, 4);
/* "<name>: message", the name of the builtin that is running. */
bool ptc_fail_here(PtcVM *vm, unsigned kind, const char *format, ...) PTC_PRINTF(3, 4);
/* The same with its class, where it is one of Java's: "<class>/<name>: message". */
bool ptc_fail_full(PtcVM *vm, unsigned kind, const char *format, ...) PTC_PRINTF(3, 4);
bool ptc_fail_hint(PtcVM *vm, const char *format, ...) PTC_PRINTF(2, 3);
/* type_error: "<fn>: argument <i+1> is <what it is, shown>, expected <expected>" with the usage line as
 * hint.  expected reads like "a number" or "a map or nil". */
bool ptc_fail_type(PtcVM *vm, const PtcValue *argv, int i, const char *expected);
/* The same for a value that is not an argument itself, e.g. an element: role "element 3 of argument 2". */
bool ptc_fail_value_type(PtcVM *vm, PtcValue v, const char *role, const char *expected);

/* A short noun with article for the type of a value: "nil", "a string", "an integer" ... */
const char *ptc_type_name(PtcValue v);

/* --- arguments (error.c): check and convert, or fail with a type_error --- */
/* One that does not fit in an int64_t is a value_error. */
bool ptc_arg_int(PtcVM *vm, const PtcValue *argv, int i, int64_t *out);
bool ptc_arg_number(PtcVM *vm, const PtcValue *argv, int i);
bool ptc_arg_double(PtcVM *vm, const PtcValue *argv, int i, double *out); /* any number */
bool ptc_arg_string(PtcVM *vm, const PtcValue *argv, int i, const char **bytes, size_t *len);
bool ptc_arg_map(PtcVM *vm, const PtcValue *argv, int i); /* a map */
bool ptc_arg_iter(PtcVM *vm, const PtcValue *argv, int i,
                  PtcIter *it); /* anything seqable, nil too */
/* Clamped to 0 .. PTC_UNBOUNDED; floats are truncated toward zero. For counts such as (take n ...). */
bool ptc_arg_count(PtcVM *vm, const PtcValue *argv, int i, size_t *out);
/* Is it something ptc_call accepts, or a string where the row takes the name of a key (ptc_call_element)? */
bool ptc_arg_callable(PtcVM *vm, const PtcValue *argv, int i);

/* After ptc_iter_next said no: true at the end, false when it failed. */
static inline bool ptc_iter_end(const PtcIter *it)
{
    return !it->failed;
}

/* --- calling back (invoke.c); only with PTC_B_CALLS --- */

/* Calls any callable: functions, builtins, keywords, maps, sets, vectors.  May collect. */
PTC_MUST_USE bool ptc_call(PtcVM *vm, PtcValue f, int argc, const PtcValue *argv, PtcValue *out);
static inline PTC_MUST_USE bool ptc_call1(PtcVM *vm, PtcValue f, PtcValue a, PtcValue *out)
{
    return ptc_call(vm, f, 1, &a, out);
}
/* What x has under a name, in any spelling; nil if it is no collection. */
bool ptc_call_key(PtcVM *vm, PtcValue name, PtcValue x, PtcValue *out);
/* f is called with an element: a function, or a string that names a key. */
static inline PTC_MUST_USE bool ptc_call_element(PtcVM *vm, PtcValue f, PtcValue x, PtcValue *out)
{
    return PTC_UNLIKELY(ptc_is_string(f)) ? ptc_call_key(vm, f, x, out) : ptc_call1(vm, f, x, out);
}
static inline PTC_MUST_USE bool ptc_call2(PtcVM *vm, PtcValue f, PtcValue a, PtcValue b,
                                          PtcValue *out)
{
    PtcValue args[2] = {a, b};
    return ptc_call(vm, f, 2, args, out);
}

/* --- values that outlive a collection (vm_gc.c) --- */

/* n slots (set to nil) that the collector sees; valid until this builtin returns. NULL: too deep (failed). */
PTC_MUST_USE PtcValue *ptc_roots(PtcVM *vm, int n);

/* A vector builder in a root slot, for builtins with PTC_B_CALLS: collects and tries again when
 * out of memory.  x is kept alive meanwhile. */
PTC_MUST_USE bool ptc_root_build(PtcVM *vm, PtcValue *slot);
PTC_MUST_USE bool ptc_root_push(PtcVM *vm, PtcValue *slot, PtcValue x);
PTC_MUST_USE bool ptc_root_done(PtcVM *vm, PtcValue *slot, int flags, PtcValue *out);
/* Collects now, so that an allocation that failed can be tried again: for PTC_B_CALLS builtins only, with all of
 * their values in arguments or roots.  False if the failure had another cause than memory. */
PTC_MUST_USE bool ptc_recover(PtcVM *vm);
/* What expr gives, or, when that is PTC_NONE, NULL or false, what it gives after ptc_recover: it reads only arguments
 * and roots, and may run twice. */
#define PTC_RETRY(vm, expr)                          \
    (__extension__({                                 \
        __typeof__(expr) first_ = (expr);            \
        !first_ &&ptc_recover(vm) ? (expr) : first_; \
    }))

/* The same for any builtin: its arguments and one more value are kept (invoke.c). */
PTC_MUST_USE bool ptc_recover_keeping(PtcVM *vm, int argc, const PtcValue *argv, PtcValue keep);

/* Wraps a result that is PTC_NONE on failure. */
static inline bool ptc_give(PtcValue *out, PtcValue v)
{
    *out = v;
    return v != PTC_NONE;
}

/* --- printing to the run's output (program.c) --- */
/* More text for the line being printed, which `ends` with it or stays open.  What exceeds the limit is cut off and
 * flagged; the only error is out of memory. */
PTC_MUST_USE bool ptc_vm_print(PtcVM *vm, const char *text, size_t len, bool ends);
/* Prints v into buf as str (readable false) or pr-str does; sets an error when that fails. */
PTC_MUST_USE bool ptc_vm_write(PtcVM *vm, PtcBuf *buf, PtcValue v, bool readable);

/* --- text made in a buffer of the heap (error.c) --- */
/* `ok`, unless the buffer is full or failed, which ends the run if nothing else did. */
PTC_MUST_USE bool ptc_format_check(PtcVM *vm, const PtcBuf *buf, bool ok);
/* Ends work in a buffer of the heap: its text, or false when something failed before. */
PTC_MUST_USE bool ptc_format_give(PtcVM *vm, PtcBuf *buf, bool ok, PtcValue *out);

/* --- the table of all rows (registry.c) --- */
enum { PTC_BUILTIN_MAX = 2048 };
size_t ptc_builtin_count(void);
const PtcBuiltin *ptc_builtin_row(uint32_t index);
const char *ptc_builtin_name(uint32_t index);
/* By name as written ("map", "str/join", "clojure.string/join", "Math/abs"); -1 when there is none.
 * Hidden ones are found as "%name". */
int ptc_builtin_find(const char *name, size_t len);
/* The same for a name that a program wrote, to which hidden ones do not exist: they trust what they are given. */
static inline int ptc_builtin_written(const char *name, size_t len)
{
    return len > 0 && name[0] == '%' ? -1 : ptc_builtin_find(name, len);
}
/* Is it for people to see? */
static inline bool ptc_row_shown(const PtcBuiltin *row)
{
    return !(row->flags & PTC_B_HIDDEN);
}
/* Does it have a Java name? */
bool ptc_row_is_java(const PtcBuiltin *row);
enum { PTC_ROW_NAME = 80 };
/* How a program writes it: "map", "json/parse-string", "Math/abs". */
void ptc_row_ref(uint32_t index, char out[PTC_ROW_NAME]);
/* Is this the prefix of a namespace we know ("str", "clojure.string", "Math")? */
bool ptc_namespace_known(const char *prefix, size_t len);

#endif
