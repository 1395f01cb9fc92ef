/* SPDX-License-Identifier: MIT
 * Exceptions: throw, ex-info and kin, and what try compiles to.  Program and tool errors can be caught;
 * limits, (return v) and (fail v) never. */
#include "lisp/record.h"
#include "lisp/vm_int.h"

enum { F_MESSAGE, F_DATA, F_CAUSE, F_KIND, F_FIRST, F_LAST, F_SOURCE, F_COUNT };

PtcErrorKind ptc_except_kind(PtcValue error)
{
    return (PtcErrorKind)ptc_to_int(ptc_record_field(error, F_KIND));
}

/* The error that ended a call, as a value. */
static PtcValue error_value(PtcVM *vm)
{
    if (vm->error_value != PTC_NIL)
        return vm->error_value;
    PtcValue f[F_COUNT] = {ptc_str_new(vm->heap, vm->error.message, strlen(vm->error.message)),
                           PTC_NIL,
                           PTC_NIL,
                           ptc_int(vm->error.kind),
                           ptc_int(vm->error.first),
                           ptc_int(vm->error.last),
                           vm->error_source};
    return f[0] == PTC_NONE ? PTC_NONE : ptc_record_new(vm, PTC_R_ERROR, f, F_COUNT);
}

/* Ends the call with an error value; a place it has already is kept. */
static bool throw_error(PtcVM *vm, PtcValue error)
{
    PtcValue message = ptc_record_field(error, F_MESSAGE);
    ptc_fail(vm, ptc_except_kind(error), "%.*s", 2 * PTC_MESSAGE_MAX,
             message == PTC_NIL ? "an exception without a message" : ptc_str_bytes(message));
    if (!vm->failed)
        return false;
    vm->error.first = (uint32_t)ptc_to_int(ptc_record_field(error, F_FIRST));
    vm->error.last = (uint32_t)ptc_to_int(ptc_record_field(error, F_LAST));
    vm->error_source = ptc_record_field(error, F_SOURCE);
    vm->error_value = error;
    return false;
}

bool ptc_except_throw(PtcVM *vm, PtcErrorKind kind, PtcValue message, PtcValue data)
{
    PtcValue f[F_COUNT] = {
        message, data, PTC_NIL, ptc_int(kind), ptc_int(PTC_NO_PLACE), ptc_int(PTC_NO_PLACE),
        PTC_NIL};
    PtcValue error = ptc_record_new(vm, PTC_R_ERROR, f, F_COUNT);
    return error != PTC_NONE && throw_error(vm, error);
}

PTC_BUILTIN(
    core_throw, "clojure.core", "throw", 1, 1, 0, "(throw (ex-info message data))",
    "Ends the program with an error, unless a try around it catches the error.",
    "(throw (ex-info \"no stock\" {:id 7})) !! thrown\n"
    "(try (throw (ex-info \"no stock\" {:id 7})) (catch Exception e (ex-data e))) => {:id 7}\n"
    "(throw 1) !! type_error")
{
    PTC_UNUSED(argc);
    PTC_UNUSED(out);
    if (!ptc_is_record(argv[0], PTC_R_ERROR))
        return ptc_fail_type(vm, argv, 0, "an exception made by ex-info");
    return throw_error(vm, argv[0]);
}

PTC_BUILTIN(
    core_ex_info, "clojure.core", "ex-info", 2, 3, 0, "(ex-info message data cause?)",
    "An exception with a message and a map of data, for throw.",
    "(ex-message (ex-info \"late\" {:days 3})) => \"late\"\n(ex-info \"late\" 3) !! type_error")
{
    if (!ptc_is_string(argv[0]) && argv[0] != PTC_NIL)
        return ptc_fail_type(vm, argv, 0, "a string");
    if (!ptc_is_map(argv[1]) && argv[1] != PTC_NIL)
        return ptc_fail_type(vm, argv, 1, "a map");
    PtcValue f[F_COUNT] = {argv[0],
                           argv[1],
                           argc == 3 ? argv[2] : PTC_NIL,
                           ptc_int(PTC_E_THROWN),
                           ptc_int(PTC_NO_PLACE),
                           ptc_int(PTC_NO_PLACE),
                           PTC_NIL};
    return ptc_give(out, ptc_record_new(vm, PTC_R_ERROR, f, F_COUNT));
}

static bool error_field(const PtcValue *argv, size_t field, PtcValue *out)
{
    *out = ptc_is_record(argv[0], PTC_R_ERROR) ? ptc_record_field(argv[0], field) : PTC_NIL;
    return true;
}

PTC_BUILTIN(
    core_ex_message, "clojure.core", "ex-message", 1, 1, 0, "(ex-message error)",
    "The message of a caught or made exception, nil for anything else.",
    "(try (/ 1 0) (catch Exception e (string? (ex-message e)))) => true\n(ex-message 1) => nil")
{
    PTC_UNUSED(vm);
    PTC_UNUSED(argc);
    return error_field(argv, F_MESSAGE, out);
}

PTC_BUILTIN(core_ex_data, "clojure.core", "ex-data", 1, 1, 0, "(ex-data error)",
            "The data of an exception made by ex-info, nil for anything else.",
            "(ex-data (ex-info \"late\" {:days 3})) => {:days 3}\n(ex-data nil) => nil")
{
    PTC_UNUSED(vm);
    PTC_UNUSED(argc);
    return error_field(argv, F_DATA, out);
}

PTC_BUILTIN(core_ex_cause, "clojure.core", "ex-cause", 1, 1, 0, "(ex-cause error)",
            "The exception given to ex-info as cause, or nil.",
            "(ex-cause (ex-info \"late\" {})) => nil")
{
    PTC_UNUSED(vm);
    PTC_UNUSED(argc);
    return error_field(argv, F_CAUSE, out);
}

PTC_BUILTIN(core_get_message, "clojure.core", ".getMessage", 1, 1, 0, "(.getMessage error)",
            "The message of an exception, as ex-message gives it.",
            "(.getMessage (ex-info \"late\" {})) => \"late\"\n(.getMessage 1) !! type_error")
{
    PTC_UNUSED(argc);
    if (!ptc_is_record(argv[0], PTC_R_ERROR))
        return ptc_fail_type(vm, argv, 0, "an exception");
    return error_field(argv, F_MESSAGE, out);
}

PTC_BUILTIN(core_assert, "clojure.core", "assert", 1, 2, 0, "(assert test message?)",
            "Nil when the test is true, else an error.",
            "(assert (= 1 1)) => nil\n(assert (= 1 2) \"one is not two\") !! value_error")
{
    *out = PTC_NIL;
    if (ptc_truthy(argv[0]))
        return true;
    const char *text =
        argc == 2 && ptc_is_string(argv[1]) ? ptc_str_bytes(argv[1]) : "the condition is false";
    return ptc_fail(vm, PTC_E_VALUE, "assertion failed: %.*s", PTC_MESSAGE_MAX, text);
}

/* ------------------------------------------------------------------------------- try */

static bool word_is(PtcValue keyword, const char *word)
{
    return strcmp(ptc_str_bytes(keyword), word) == 0;
}

/* Does a catch of this class take an error of this kind?  See analyze_try.c for the words. */
static bool takes(PtcValue word, PtcErrorKind kind)
{
    if (word_is(word, "any"))
        return true;
    if (word_is(word, "arithmetic"))
        return kind == PTC_E_ARITH;
    if (word_is(word, "info"))
        return kind == PTC_E_THROWN;
    if (word_is(word, "type"))
        return kind == PTC_E_TYPE || kind == PTC_E_NOT_CALLABLE;
    if (word_is(word, "index"))
        return kind == PTC_E_INDEX;
    if (word_is(word, "arity"))
        return kind == PTC_E_ARITY;
    if (word_is(word, "none"))
        return false;
    return kind == PTC_E_VALUE || kind == PTC_E_TYPE;
}

/* An error that a program may catch is pending. */
static bool catchable(const PtcVM *vm)
{
    return vm->failed && vm->budget.stop == PTC_STOP_NONE && vm->control == PTC_CONTROL_NONE &&
           !ptc_error_is_terminal(vm->error.kind);
}

/* Takes the pending error out of the VM, as a value in *slot. */
static bool take_error(PtcVM *vm, PtcValue *slot)
{
    PtcValue e = error_value(vm);
    if (e == PTC_NONE && ptc_recover(vm))
        e = error_value(vm);
    if (e == PTC_NONE)
        return false;
    *slot = e;
    vm->failed = false;
    vm->error_value = PTC_NIL;
    return true;
}

/* Calls the handler of the first catch that takes the error in slot; false with the error pending again when none
 * does. */
static bool handle(PtcVM *vm, int argc, const PtcValue *argv, PtcValue *slot, PtcValue *out)
{
    for (int i = 2; i + 1 < argc; i += 2)
        if (takes(argv[i], ptc_except_kind(*slot)))
            return ptc_call1(vm, argv[i + 1], *slot, out);
    return throw_error(vm, *slot);
}

/* Runs finally; what was pending (an error, return or fail) is pending afterwards, unless finally itself failed. */
static bool run_finally(PtcVM *vm, PtcValue f, bool ok, PtcValue *slots)
{
    PtcControl control = vm->control;
    PtcValue ignored;
    bool error = catchable(vm);
    if (vm->budget.stop != PTC_STOP_NONE || (!ok && control == PTC_CONTROL_NONE && !error))
        return ok; /* a limit: nothing runs any more */
    if (error && !take_error(vm, &slots[0]))
        return false;
    slots[1] = vm->result;
    vm->control = PTC_CONTROL_NONE;
    if (!ptc_call(vm, f, 0, NULL, &ignored))
        return false;
    vm->control = control;
    vm->result = slots[1];
    return error ? throw_error(vm, slots[0]) : ok;
}

PTC_BUILTIN(core_try, "ptc", "try", 2, -1, PTC_B_HIDDEN | PTC_B_CALLS,
            "(try body (catch Exception e ...) (finally ...))",
            "Runs the body; hands an error to the first catch that takes it.", "")
{
    PtcValue *slots = ptc_roots(vm, 4); /* error, result of the run, result, spare */
    size_t roots = vm->root_count;
    uint32_t depth = vm->native_depth;
    if (!slots)
        return false;
    PtcValue result = PTC_NIL;
    bool ok = ptc_call(vm, argv[0], 0, NULL, &result);
    vm->root_count = roots;
    vm->native_depth = depth;
    if (!ok && catchable(vm) && argc > 2)
        ok = take_error(vm, &slots[3]) && handle(vm, argc, argv, &slots[3], &result);
    slots[2] = ok ? result : PTC_NIL;
    if (argv[1] != PTC_NIL)
        ok = run_finally(vm, argv[1], ok, slots);
    *out = slots[2];
    return ok;
}

/* What was printed since `lines`, with its line feeds, and no longer among the run's output. */
static PtcValue take_prints(PtcVM *vm, size_t lines)
{
    const PtcPrints *prints = &vm->prints;
    size_t from = ptc_prints_start(prints, lines), ended = prints->count - prints->open;
    size_t len = prints->text.len - from - prints->open; /* an open line ends in no line feed */
    PtcValue str = ptc_str_begin(vm->heap, PTC_T_STRING, len);
    if (str == PTC_NONE)
        return str;
    char *to = ptc_str_room(str);
    memcpy(to, prints->text.data + from, len);
    for (size_t i = lines; i < ended; i++)
        to[prints->ends[i] - from - 1] = '\n';
    ptc_str_seal(str);
    ptc_prints_truncate(&vm->prints, lines);
    return str;
}

PTC_BUILTIN(core_with_out_str, "ptc", "with-out-str", 1, 1, PTC_B_HIDDEN | PTC_B_CALLS,
            "(with-out-str body...)", "What the body prints, as a string.", "")
{
    PTC_UNUSED(argc);
    size_t lines = vm->prints.count;
    bool open = vm->prints.open; /* a line around this one, which goes on afterwards */
    PtcValue text, ignored;
    vm->prints.open = false;
    if (!ptc_call(vm, argv[0], 0, NULL, &ignored))
        return false;
    if (vm->prints.count == lines)
        text = ptc_str_new(vm->heap, "", 0);
    else if ((text = take_prints(vm, lines)) == PTC_NONE && ptc_recover(vm))
        text = take_prints(vm, lines);
    vm->prints.open = open;
    return ptc_give(out, text);
}

/* (Exception. "message") and kin. */
static bool new_error(PtcVM *vm, int argc, const PtcValue *argv, PtcErrorKind kind, PtcValue *out)
{
    PtcValue message = argc > 0 ? argv[0] : PTC_NIL;
    if (message != PTC_NIL && !ptc_is_string(message))
        return ptc_fail_type(vm, argv, 0, "a string");
    PtcValue f[F_COUNT] = {message,
                           PTC_NIL,
                           argc == 2 ? argv[1] : PTC_NIL,
                           ptc_int(kind),
                           ptc_int(PTC_NO_PLACE),
                           ptc_int(PTC_NO_PLACE),
                           PTC_NIL};
    return ptc_give(out, ptc_record_new(vm, PTC_R_ERROR, f, F_COUNT));
}

#define CONSTRUCTOR(id, name_, kind_)                                                         \
    PTC_BUILTIN(id, "clojure.core", name_, 0, 2, 0, "(" name_ " message)",                    \
                "An exception with a message, for throw.",                                    \
                "(ex-message (" name_ " \"late\")) => \"late\"\n(" name_ " 1) !! type_error") \
    {                                                                                         \
        return new_error(vm, argc, argv, kind_, out);                                         \
    }

CONSTRUCTOR(core_exception, "Exception.", PTC_E_THROWN)
CONSTRUCTOR(core_runtime_exception, "RuntimeException.", PTC_E_THROWN)
CONSTRUCTOR(core_illegal_argument, "IllegalArgumentException.", PTC_E_VALUE)
CONSTRUCTOR(core_illegal_state, "IllegalStateException.", PTC_E_VALUE)
CONSTRUCTOR(core_arithmetic_exception, "ArithmeticException.", PTC_E_ARITH)
CONSTRUCTOR(core_throwable, "Throwable.", PTC_E_THROWN)
CONSTRUCTOR(core_error, "Error.", PTC_E_THROWN)
CONSTRUCTOR(core_unsupported, "UnsupportedOperationException.", PTC_E_TYPE)
CONSTRUCTOR(core_class_cast, "ClassCastException.", PTC_E_TYPE)
CONSTRUCTOR(core_null_pointer, "NullPointerException.", PTC_E_TYPE)
CONSTRUCTOR(core_number_format, "NumberFormatException.", PTC_E_VALUE)
CONSTRUCTOR(core_assertion_error, "AssertionError.", PTC_E_VALUE)
CONSTRUCTOR(core_index_exception, "IndexOutOfBoundsException.", PTC_E_INDEX)

const PtcBuiltin *const ptc_lib_except[] = {
    &core_with_out_str_def,
    &core_exception_def,
    &core_runtime_exception_def,
    &core_illegal_argument_def,
    &core_illegal_state_def,
    &core_arithmetic_exception_def,
    &core_throwable_def,
    &core_error_def,
    &core_unsupported_def,
    &core_class_cast_def,
    &core_null_pointer_def,
    &core_number_format_def,
    &core_assertion_error_def,
    &core_index_exception_def,
    &core_throw_def,
    &core_ex_info_def,
    &core_ex_message_def,
    &core_ex_data_def,
    &core_ex_cause_def,
    &core_get_message_def,
    &core_assert_def,
    &core_try_def,
    NULL,
};
