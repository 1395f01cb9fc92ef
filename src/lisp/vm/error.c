/* SPDX-License-Identifier: MIT
 * Errors of builtins and of the VM: message first, place filled in by the frame that ran it. */
#include <stdarg.h>
#include <stdio.h>

#include "base/ascii.h"
#include "lisp/lazy/seq_int.h"
#include "lisp/vm/builtin.h"
#include "lisp/vm/element.h"
#include "lisp/vm/record.h"
#include "lisp/vm/vm_int.h"
#include "value/cell.h"
#include "value/number/decimal.h"

enum {
    ERROR_SHOWN_BYTES = 40,
    MANY_LOOPS = 1000, /* turns after which it is worth asking whether a loop ends */
    FAIL_TICKS = 100,  /* for the text; texts from programs are cut before they are formatted */
};

static void set_error(PtcVM *vm, unsigned kind)
{
    vm->failed = true;
    vm->error.kind = (PtcErrorKind)(kind & ((1u << PTC_AS_SHIFT) - 1));
    vm->error.thrown =
        kind >> PTC_AS_SHIFT ? (PtcThrown)(kind >> PTC_AS_SHIFT) : ptc_error_thrown(vm->error.kind);
    vm->error.first = vm->error.last = PTC_NO_PLACE;
    vm->error.message[0] = vm->error.hint[0] = 0;
    vm->error.detail = PTC_DETAIL_NONE;
    vm->error.about_nil = vm->lazy_refused = false;
    vm->error_source = PTC_NIL;
}

/* "class/name: ..."; the class, or both, may be empty. */
static void fail_with(PtcVM *vm, unsigned kind, const char *class, const char *name,
                      const char *format, va_list args)
{
    if (vm->budget.stop != PTC_STOP_NONE || vm->failed)
        return; /* the first error stands */
    set_error(vm, kind);
    ptc_fuel_use(&vm->budget, FAIL_TICKS);
    char text[2 * PTC_MESSAGE_MAX]; /* longer than the field, which is cut between characters */
    vsnprintf(text, sizeof text, format, args);
    ptc_diag_format(vm->error.message, PTC_MESSAGE_MAX + 1, "%s%s%s%s%s", class, *class ? "/" : "",
                    name, *name ? ": " : "", text);
}

bool ptc_fail(PtcVM *vm, unsigned kind, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fail_with(vm, kind, "", "", format, args);
    va_end(args);
    return false;
}

bool ptc_fail_here(PtcVM *vm, unsigned kind, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fail_with(vm, kind, "", ptc_builtin_name(vm->running), format, args);
    va_end(args);
    return false;
}

bool ptc_fail_full(PtcVM *vm, unsigned kind, const char *format, ...)
{
    const PtcBuiltin *row = ptc_builtin_row(vm->running);
    va_list args;
    va_start(args, format);
    fail_with(vm, kind, ptc_ascii_is_upper(row->ns[0]) ? row->ns : "", row->name, format, args);
    va_end(args);
    return false;
}

bool ptc_fail_hint(PtcVM *vm, const char *format, ...)
{
    if (!vm->failed || vm->error.hint[0])
        return false;
    va_list args;
    va_start(args, format);
    vsnprintf(vm->error.hint, sizeof vm->error.hint, format, args);
    va_end(args);
    return false;
}

static const char *record_type_name(unsigned kind)
{
    static const char *const names[PTC_R_KINDS] = {
        [PTC_R_FN] = "a function",
        [PTC_R_ERROR] = "an exception",
        [PTC_R_REGEX] = "a regex",
        [PTC_R_DATE] = "a date",
        [PTC_R_DATETIME] = "a date-time",
        [PTC_R_INSTANT] = "an instant",
        [PTC_R_DURATION] = "a duration",
        [PTC_R_PERIOD] = "a period",
        [PTC_R_ENUM] = "a constant",
        [PTC_R_DECIMAL] = "a decimal",
        [PTC_R_FORMATTER] = "a formatter",
        [PTC_R_TYPE] = "a type",
        [PTC_R_PROTOCOL] = "a protocol",
        [PTC_R_METHOD] = "a function",
        [PTC_R_MULTI] = "a function",
        [PTC_R_PRODUCER] = "an endless sequence",
        [PTC_R_MATCHER] = "a matcher",
        [PTC_R_CLOCK] = "a time of day",
        [PTC_R_ZONED] = "a date-time with an offset",
        [PTC_R_ZONE] = "an offset",
        [PTC_R_YEARMONTH] = "a month of a year",
        [PTC_R_YEAR] = "a year",
        [PTC_R_ADJUSTER] = "an adjuster",
    };
    return kind < PTC_R_KINDS && names[kind] ? names[kind] : "an object";
}

static const char *cell_name(PtcValue v)
{
    PtcCellKind kind = ptc_cell_kind(v);
    return kind == PTC_CELL_DELAY      ? "a delay"
           : kind == PTC_CELL_VOLATILE ? "a volatile"
                                       : "an atom";
}

const char *ptc_type_name(PtcValue v)
{
    if (v == PTC_NIL)
        return "nil";
    if (ptc_is_bool(v))
        return "a boolean";
    if (ptc_is_integer(v))
        return "an integer";
    if (ptc_is_float(v))
        return "a float";
    switch (ptc_tag(v)) {
    case PTC_T_STRING: return "a string";
    case PTC_T_KEYWORD: return "a keyword";
    case PTC_T_SYMBOL: return "a symbol";
    case PTC_T_FLAT:
    case PTC_T_VEC:
    case PTC_T_SLICE:
    case PTC_T_RANGE:
    case PTC_T_CONS: return ptc_is_seq_flagged(v) ? "a sequence" : "a vector";
    case PTC_T_SSET:
    case PTC_T_BSET: return "a set";
    case PTC_T_SMAP:
    case PTC_T_BMAP: return "a map";
    case PTC_T_VAR: return "a var";
    case PTC_T_LAZY: return "a lazy sequence";
    case PTC_T_RECORD: return ptc_is_cell(v) ? cell_name(v) : record_type_name(ptc_obj(v)->aux);
    default: return "a function";
    }
}

/* "a string \"abc\"": the type and, when it is short, the value. */
static void describe_error_value(PtcVM *vm, PtcValue v, char *out, size_t size)
{
    char shown[ERROR_SHOWN_BYTES + 1];
    PtcBuf buf = {.mem = vm->mem, .data = shown, .cap = sizeof shown, .max = ERROR_SHOWN_BYTES};
    PtcPrinter printer = ptc_vm_printer(vm, true);
    bool bare = v == PTC_NIL || ptc_is(v, PTC_T_CLOSURE) || !ptc_print(&printer, &buf, v);
    shown[buf.len] = 0;
    ptc_diag_format(out, size, "%s%s%s", ptc_type_name(v), bare ? "" : " ", bare ? "" : shown);
}

static const PtcBuiltin *running(const PtcVM *vm)
{
    return ptc_builtin_row(vm->running);
}

enum { ERROR_FIRST = 1, OTHERS = 2 };

/* Functions that do not cast what they are given, and what they throw when they cannot use it. */
static const struct {
    const char *names;
    unsigned class;
    uint8_t where; /* in their first argument, in the others */
} refusals[] = {
    {" count nth rand-nth union intersection difference subset? superset? ", PTC_AS(UNSUPPORTED),
     ERROR_FIRST},
    {" vec to-array ", PTC_AS(RUNTIME), ERROR_FIRST},
    {" format ", PTC_AS(FORMAT_CONVERSION), OTHERS},
    {" shuffle with-meta vary-meta ", PTC_AS(CLASS_CAST), ERROR_FIRST},
    {" find select-keys keys vals get-in update-in assoc-in update-keys update-vals map-invert "
     "rename-keys contains? sort-by group-by inst-ms alength valueOf select project index rename "
     "bigint biginteger bigdec BigDecimal. ",
     PTC_AS(ILLEGAL_ARGUMENT), ERROR_FIRST},
    {" bit-and bit-or bit-xor bit-not bit-and-not bit-clear bit-set bit-flip bit-test "
     "bit-shift-left bit-shift-right unsigned-bit-shift-right ",
     PTC_AS(ILLEGAL_ARGUMENT), ERROR_FIRST | OTHERS},
};

static bool holds_word(const char *words, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = words; (at = strstr(at, word)) != NULL; at += n)
        if (at[-1] == ' ' && at[n] == ' ')
            return true;
    return false;
}

/* What cannot be a sequence, and what has no such method, is an illegal argument; other misfits are casts that fail. */
static unsigned misfit_class(const char *name, PtcValue v, const char *role, const char *expected)
{
    if (v == PTC_NIL)
        return PTC_AS(NULL_POINTER);
    unsigned where = strcmp(role, "argument 1") == 0 ? ERROR_FIRST : OTHERS;
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++)
        if (where & refusals[i].where && holds_word(refusals[i].names, name))
            return refusals[i].class;
    return (where == ERROR_FIRST && name[0] == '.') || strncmp(expected, "a [key", 6) == 0 ||
                   strncmp(expected, "a collection", 12) == 0
               ? PTC_AS(ILLEGAL_ARGUMENT)
               : 0;
}

bool ptc_fail_value_type(PtcVM *vm, PtcValue v, const char *role, const char *expected)
{
    char what[96];
    if (vm->budget.stop != PTC_STOP_NONE || vm->failed)
        return false;
    describe_error_value(vm, v, what, sizeof what);
    ptc_fail(vm, PTC_E_TYPE | misfit_class(running(vm)->name, v, role, expected),
             "%s: %s is %s, expected %s", running(vm)->name, role, what, expected);
    vm->error.about_nil = v == PTC_NIL;
    vm->lazy_refused = ptc_is_lazy(v);
    bool text = ptc_is_string(v) && strcmp(expected, "a number") == 0;
    bool test = ptc_is_bool(v) && strcmp(expected, "a function") == 0;
    bool parsed = strcmp(expected, "JSON text") == 0;
    return ptc_fail_hint(
        vm,
        v == PTC_NIL ? PTC_ELEMENT_MISSING "; usage: %s"
        : text       ? "turn text into a number with parse-long or parse-double; usage: %s"
        : parsed     ? "answers of tools are values already: use it as it is; usage: %s"
        : test       ? "write the test as a function of one element, such as "
                       "#(= (:key %%) 1); usage: %s"
                     : "usage: %s",
        running(vm)->usage);
}

bool ptc_fail_type(PtcVM *vm, const PtcValue *argv, int i, const char *expected)
{
    char role[32];
    snprintf(role, sizeof role, "argument %d", i + 1);
    return ptc_fail_value_type(vm, argv[i], role, expected);
}

bool ptc_fail_arity(PtcVM *vm, const char *name, const char *takes, int got, const char *usage)
{
    ptc_fail(vm, PTC_E_ARITY, "%s takes %s, got %d", name, takes, got);
    if (usage)
        ptc_fail_hint(vm, "usage: %s", usage);
    return false;
}

void ptc_arity_text(char *out, size_t size, int min, int max)
{
    const char *s = (max < 0 ? min : max) == 1 ? "" : "s";
    if (min == max)
        snprintf(out, size, "%d argument%s", min, s);
    else if (max < 0)
        snprintf(out, size, "at least %d argument%s", min, s);
    else
        snprintf(out, size, "%d to %d argument%s", min, max, s);
}

/* ------------------------------------------------------------------ arguments */

bool ptc_arg_int(PtcVM *vm, const PtcValue *argv, int i, int64_t *out)
{
    if (ptc_is_int(argv[i])) {
        *out = ptc_to_int(argv[i]);
        return true;
    }
    if (!ptc_is_bigint(argv[i]))
        return ptc_fail_type(vm, argv, i, "an integer");
    if (ptc_int_get(argv[i], out))
        return true;
    return ptc_fail(vm, PTC_E_VALUE, "%s: argument %d is too large an integer", running(vm)->name,
                    i + 1);
}

bool ptc_arg_number(PtcVM *vm, const PtcValue *argv, int i)
{
    return ptc_is_number(argv[i]) || ptc_fail_type(vm, argv, i, "a number");
}

bool ptc_arg_double(PtcVM *vm, const PtcValue *argv, int i, double *out)
{
    if (ptc_is_decimal(argv[i])) {
        *out = ptc_decimal_to_double(vm->heap, argv[i]);
        return vm->budget.stop == PTC_STOP_NONE;
    }
    if (!ptc_arg_number(vm, argv, i))
        return false;
    *out = ptc_is_float(argv[i]) ? ptc_to_float(argv[i]) : ptc_int_to_double(argv[i]);
    return true;
}

bool ptc_arg_string(PtcVM *vm, const PtcValue *argv, int i, const char **bytes, size_t *len)
{
    if (!ptc_is_string(argv[i]))
        return ptc_fail_type(vm, argv, i, "a string");
    *bytes = ptc_str_bytes(argv[i]);
    *len = ptc_str_len(argv[i]);
    return true;
}

bool ptc_arg_map(PtcVM *vm, const PtcValue *argv, int i)
{
    return ptc_is_map(argv[i]) || ptc_fail_type(vm, argv, i, "a map");
}

bool ptc_arg_iter(PtcVM *vm, const PtcValue *argv, int i, PtcIter *it)
{
    if (PTC_LIKELY(ptc_iter_init(it, vm->heap, argv[i])))
        return true;
    if (ptc_is_producer(argv[i]))
        return ptc_fail_endless(vm, i);
    return ptc_fail_type(vm, argv, i, "a collection, string or nil");
}

bool ptc_arg_count(PtcVM *vm, const PtcValue *argv, int i, size_t *out)
{
    if (ptc_is_int(argv[i])) {
        int64_t n = ptc_to_int(argv[i]);
        *out = n < 0 ? 0 : (size_t)n;
        return true;
    }
    double d;
    if (!ptc_arg_double(vm, argv, i, &d))
        return false;
    *out = !(d >= 1) ? 0 : d >= 4e18 ? PTC_UNBOUNDED : (size_t)d;
    return true;
}

bool ptc_arg_callable(PtcVM *vm, const PtcValue *argv, int i)
{
    unsigned takes = ptc_row_takes(ptc_builtin_row(vm->running)->flags, (uint32_t)i);
    bool names = takes != PTC_IS_ANY && (takes & PTC_IS_STRING);
    return ptc_is_callable(argv[i]) || (names && ptc_is_string(argv[i])) ||
           ptc_fail_type(vm, argv, i, "a function");
}

/* ---------------------------------------------------------------------- limits */

/* Hints are for the author of the program, usually a model, and name only what a program can do about the error.
 * How to raise a limit is for the host that set it to say. */

static bool fail_stopped_limit(PtcVM *vm, PtcErrorKind kind, const char *hint, const char *format,
                               ...) PTC_PRINTF(4, 5);

static bool fail_stopped_limit(PtcVM *vm, PtcErrorKind kind, const char *hint, const char *format,
                               ...)
{
    set_error(vm, kind);
    va_list args;
    va_start(args, format);
    vsnprintf(vm->error.message, sizeof vm->error.message, format, args);
    va_end(args);
    bool endless =
        vm->endless && (kind == PTC_E_TIMEOUT || kind == PTC_E_MEMORY || kind == PTC_E_LOOP);
    if (!endless)
        return ptc_fail_hint(vm, "%s", hint);
    return ptc_fail_hint(vm, "%s walks a sequence without end: cut that with (take n coll)%s",
                         vm->endless, strcmp(vm->endless, "doseq") ? "" : " or :while test");
}

bool ptc_vm_stopped(PtcVM *vm)
{
    switch (vm->budget.stop) {
    case PTC_STOP_NONE: break;
    case PTC_STOP_LAZY:
        vm->budget.stop = PTC_STOP_NONE;
        ptc_fail(vm, PTC_E_VALUE, "a lazy sequence that is not computed yet cannot be used here");
        return ptc_fail_hint(vm, "compute it before with (vec coll) or (doall coll)");
    case PTC_STOP_TIMEOUT:
        return fail_stopped_limit(vm, PTC_E_TIMEOUT,
                                  vm->limits.loop_limit - vm->loops_left > MANY_LOOPS
                                      ? "check that recur reaches an end, or do less work"
                                      : "do less work, or on less data",
                                  "the program computed longer than its limit of %lld ms",
                                  (long long)vm->limits.timeout_ms);
    case PTC_STOP_DEADLINE:
        if (vm->budget.what)
            return fail_stopped_limit(vm, PTC_E_DEADLINE, "call fewer or faster tools in it",
                                      "%s its limit of %lld ms", vm->budget.what,
                                      (long long)vm->budget.limit);
        return fail_stopped_limit(vm, PTC_E_DEADLINE, "call fewer or faster tools",
                                  "the program took longer than its deadline of %lld ms",
                                  (long long)vm->limits.deadline_ms);
    case PTC_STOP_CANCELLED:
        return fail_stopped_limit(vm, PTC_E_CANCELLED, "", "the run was cancelled by its host");
    case PTC_STOP_MEMORY:
        return fail_stopped_limit(vm, PTC_E_MEMORY, "keep less data alive at once",
                                  "the program's live data passed its memory limit of %lld bytes",
                                  (long long)vm->limits.memory_bytes);
    case PTC_STOP_LOOP:
        return fail_stopped_limit(vm, PTC_E_LOOP, "check that recur reaches an end",
                                  "loops passed their limit of %lld iterations",
                                  (long long)vm->limits.loop_limit);
    case PTC_STOP_DEPTH:
        return fail_stopped_limit(vm, PTC_E_DEPTH,
                                  "use loop/recur or reduce instead of nested calls", "%s %lld",
                                  vm->budget.what, (long long)vm->budget.limit);
    case PTC_STOP_ASIDE:
        return fail_stopped_limit(vm, PTC_E_SUSPENDED, "",
                                  "a call needs an approval that was not given");
    case PTC_STOP_SIZE:
        return fail_stopped_limit(vm, PTC_E_SIZE, "build smaller values", "%s %lld",
                                  vm->budget.what, (long long)vm->budget.limit);
    }
    return false;
}

/* ---------------------------------------------------------------- text in a buffer */

/* When nobody has said why it failed, it was a buffer: this one, or that of a part. */
bool ptc_format_check(PtcVM *vm, const PtcBuf *buf, bool ok)
{
    bool told = vm->failed || vm->budget.stop != PTC_STOP_NONE;
    return (ok && ptc_buf_ok(buf)) || (!told && ptc_budget_halt(&vm->budget, PTC_STOP_MEMORY));
}

bool ptc_format_give(PtcVM *vm, PtcBuf *buf, bool ok, PtcValue *out)
{
    ok = ptc_format_check(vm, buf, ok) && ptc_give(out, ptc_str_take(vm->heap, buf));
    ptc_buf_deinit(buf);
    return ok;
}
