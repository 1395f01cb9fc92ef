/* SPDX-License-Identifier: MIT
 * What kind of value is it?  Also identity, boolean and not. */
#include "lisp/vm/predicate.h"

#include "lisp/lazy/seq_int.h"
#include "value/coll/typed.h"
#include "value/number/decimal.h"

/* ---------------------------------------------------------------- predicates */

/* Endless ones included. */
static bool is_sequence(PtcValue v)
{
    return ptc_is_sequential(v) || ptc_is_producer(v);
}

static bool is_seq(PtcValue v)
{
    return (ptc_is_sequential(v) && ptc_is_seq_flagged(v)) || ptc_is_producer(v);
}

static bool is_coll(PtcValue v)
{
    return is_sequence(v) || ptc_is_map(v) || ptc_is_set(v);
}

static bool is_associative(PtcValue v)
{
    return ptc_is_map(v) || ptc_is_vector(v);
}

static bool is_counted(PtcValue v)
{
    return (is_coll(v) && !ptc_is_producer(v)) || ptc_is_string(v);
}

static bool is_indexed(PtcValue v)
{
    return ptc_is_vector(v) || ptc_is_string(v);
}

static bool is_map_entry(PtcValue v)
{
    return ptc_is(v, PTC_T_FLAT) && (ptc_obj(v)->flags & PTC_ENTRY) != 0;
}

static bool is_ifn(PtcValue v)
{
    return ptc_is_function(v) || ptc_is_keyword(v) || ptc_is_map(v) || ptc_is_set(v) ||
           ptc_is_vector(v);
}

static bool is_symbol(PtcValue v)
{
    return ptc_is(v, PTC_T_SYMBOL);
}

/* sign: of the integer asked for */
static bool is_int_of_sign(PtcValue v, int sign)
{
    return ptc_is_integer(v) && ptc_int_sign(v) == sign;
}

PTC_KIND_PREDICATE(core_is_any, "any?", PTC_IS_ANY, "Always true.",
                   "(any? nil) => true\n(any? 1) => true\n(any?) !! arity_error", true)
PTC_KIND_PREDICATE(core_is_nil, "nil?", PTC_IS_NIL, "Is it nil.",
                   "(nil? nil) => true\n(nil? false) => false", x == PTC_NIL)
PTC_KIND_PREDICATE(
    core_is_some, "some?", PTC_IS_ANY & ~PTC_IS_NIL, "Is it anything but nil.",
    "(some? 0) => true\n(some? nil) => false\n(filter some? [1 nil false]) => [1 false]",
    x != PTC_NIL)
PTC_PREDICATE(core_is_true, "true?", "Is it true itself.",
              "(true? true) => true\n(true? 1) => false", x == PTC_TRUE)
PTC_PREDICATE(core_is_false, "false?", "Is it false itself.",
              "(false? false) => true\n(false? nil) => false", x == PTC_FALSE)
PTC_KIND_PREDICATE(core_is_boolean, "boolean?", PTC_IS_BOOL, "Is it true or false.",
                   "(boolean? false) => true\n(boolean? nil) => false", ptc_is_bool(x))
PTC_KIND_PREDICATE(core_is_number, "number?", PTC_IS_NUMBER,
                   "Is it a number, NaN and the infinite ones included.",
                   "(number? 1.5) => true\n(number? ##NaN) => true\n(number? \"1\") => false",
                   ptc_is_number(x) || ptc_is_decimal(x))
PTC_KIND_PREDICATE(core_is_integer, "integer?", PTC_IS_INT, "Is it an integer, of any size.",
                   "(integer? 5) => true\n(integer? 5.0) => false\n(integer? nil) => false",
                   ptc_is_integer(x))
PTC_KIND_PREDICATE(core_is_int, "int?", PTC_IS_INT, "The same as integer?.",
                   "(int? 5) => true\n(int? 5.0) => false", ptc_is_integer(x))
PTC_KIND_PREDICATE(core_is_float, "float?", PTC_IS_FLOAT, "Is it a float.",
                   "(float? 5.0) => true\n(float? 5) => false", ptc_is_float(x))
PTC_KIND_PREDICATE(core_is_double, "double?", PTC_IS_FLOAT, "The same as float?.",
                   "(double? 5.0) => true\n(double? 5) => false", ptc_is_float(x))
PTC_PREDICATE(core_is_nat_int, "nat-int?", "Is it an integer that is not negative.",
              "(nat-int? 0) => true\n(nat-int? -1) => false\n(nat-int? 1.0) => false",
              ptc_is_integer(x) && ptc_int_sign(x) >= 0)
PTC_PREDICATE(core_is_pos_int, "pos-int?", "Is it an integer above zero.",
              "(pos-int? 1) => true\n(pos-int? 0) => false\n(pos-int? nil) => false",
              is_int_of_sign(x, 1))
PTC_PREDICATE(core_is_neg_int, "neg-int?", "Is it an integer below zero.",
              "(neg-int? -1) => true\n(neg-int? 0) => false\n(neg-int? -1.0) => false",
              is_int_of_sign(x, -1))
PTC_KIND_PREDICATE(core_is_rational, "rational?", PTC_IS_INT | PTC_IS_DECIMAL,
                   "Is it an exact number: an integer or a decimal.",
                   "(rational? 3) => true\n(rational? 0.5M) => true\n(rational? 0.5) => false",
                   ptc_is_integer(x) || ptc_is_decimal(x))
PTC_PREDICATE(core_is_ratio, "ratio?", "Always false: there are no fractions, (/ 1 3) is a float.",
              "(ratio? (/ 1 3)) => false\n(ratio? 1) => false", false)
PTC_KIND_PREDICATE(core_is_decimal, "decimal?", PTC_IS_DECIMAL, "Is it an exact decimal, as 1.5M.",
                   "(decimal? 1.5M) => true\n(decimal? 1.5) => false\n(decimal? 1) => false",
                   ptc_is_decimal(x))
PTC_KIND_PREDICATE(core_is_string, "string?", PTC_IS_STRING, "Is it a string.",
                   "(string? \"a\") => true\n(string? :a) => false", ptc_is_string(x))
PTC_KIND_PREDICATE(core_is_keyword, "keyword?", PTC_IS_KEYWORD, "Is it a keyword.",
                   "(keyword? :a) => true\n(keyword? \"a\") => false", ptc_is_keyword(x))
PTC_PREDICATE(core_is_symbol, "symbol?", "Is it a symbol; only quoted programs hold any.",
              "(symbol? 'a) => true\n(symbol? :a) => false", is_symbol(x))
PTC_KIND_PREDICATE(core_is_map, "map?", PTC_IS_MAP, "Is it a map.",
                   "(map? {:a 1}) => true\n(map? [1]) => false", ptc_is_map(x))
PTC_KIND_PREDICATE(core_is_set, "set?", PTC_IS_SET, "Is it a set.",
                   "(set? #{1}) => true\n(set? [1]) => false", ptc_is_set(x))
PTC_PREDICATE(core_is_vector, "vector?", "Is it a vector, not a list or another sequence.",
              "(vector? [1]) => true\n(vector? (list 1)) => false\n(vector? nil) => false",
              ptc_is_vector(x))
PTC_PREDICATE(core_is_list, "list?", "The same as seq?: lists and sequences are one kind here.",
              "(list? (list 1)) => true\n(list? [1]) => false", is_seq(x))
PTC_PREDICATE(core_is_seq, "seq?", "Is it a list or another sequence, not a vector.",
              "(seq? (rest [1 2])) => true\n(seq? [1]) => false\n(seq? nil) => false", is_seq(x))
PTC_KIND_PREDICATE(core_is_coll, "coll?", PTC_IS_LIST | PTC_IS_SET | PTC_IS_MAP,
                   "Is it a vector, sequence, map or set.",
                   "(coll? [1]) => true\n(coll? {}) => true\n(coll? \"ab\") => false", is_coll(x))
PTC_KIND_PREDICATE(core_is_sequential, "sequential?", PTC_IS_LIST,
                   "Is it a vector or another sequence.",
                   "(sequential? [1]) => true\n(sequential? {:a 1}) => false", is_sequence(x))
PTC_PREDICATE(core_is_associative, "associative?", "Does it take assoc: a map or vector.",
              "(associative? {}) => true\n(associative? [1]) => true\n(associative? #{1}) => false",
              is_associative(x))
PTC_PREDICATE(core_is_counted, "counted?", "Is its count known: a collection or string.",
              "(counted? [1]) => true\n(counted? {}) => true\n(counted? nil) => false",
              is_counted(x))
PTC_PREDICATE(core_is_indexed, "indexed?", "Are its elements found by number: a vector or string.",
              "(indexed? [1]) => true\n(indexed? \"ab\") => true\n(indexed? {}) => false",
              is_indexed(x))
PTC_PREDICATE(core_is_reversible, "reversible?",
              "Can it be walked from the end: a vector, sorted collection or string.",
              "(reversible? [1]) => true\n(reversible? \"ab\") => true\n(reversible? {}) => false",
              is_indexed(x) || ptc_is_sorted(x))
PTC_KIND_PREDICATE(core_is_seqable, "seqable?", PTC_IS_SEQABLE,
                   "Can seq walk it: a collection, a string or nil.",
                   "(seqable? \"ab\") => true\n(seqable? nil) => true\n(seqable? 5) => false",
                   ptc_is_seqable(x) || ptc_is_producer(x))
PTC_PREDICATE(core_is_sorted, "sorted?", "Is it a sorted map or sorted set.",
              "(sorted? (sorted-set 2 1)) => true\n(sorted? [1 2]) => false\n(sorted? {}) => false",
              ptc_is_sorted(x))
PTC_PREDICATE(core_is_map_entry, "map-entry?", "Is it an entry taken from a map.",
              "(map-entry? (first {:a 1})) => true\n(map-entry? [:a 1]) => false", is_map_entry(x))
PTC_KIND_PREDICATE(core_is_fn, "fn?", PTC_IS_FN, "Is it a function.",
                   "(fn? inc) => true\n(fn? (fn [x] x)) => true\n(fn? :a) => false",
                   ptc_is_function(x))
PTC_PREDICATE(core_is_ifn, "ifn?", "Can it be called: a function, keyword, map, set or vector.",
              "(ifn? inc) => true\n(ifn? :a) => true\n(ifn? \"a\") => false", is_ifn(x))

PTC_BUILTIN(core_is_char, "clojure.core", "char?", 1, 1, PTC_GIVES(PTC_IS_BOOL), "(char? x)",
            "Is it a string of exactly one character.",
            "(char? \"a\") => true\n(char? \"ab\") => false\n(char? 5) => false")
{
    return (!ptc_is_string(argv[0]) ||
            ptc_tick(&vm->budget, (int64_t)(ptc_str_len(argv[0]) / 32))) &&
           ptc_give(out, ptc_bool(ptc_is_char(vm, argv[0])));
}

/* -------------------------------------------------------------------- values */

PTC_BUILTIN_EXPR(core_identity, "clojure.core", "identity", 1, 1, PTC_RULE(SAME), "(identity x)",
                 "Its argument, unchanged.",
                 "(identity 42) => 42\n(filter identity [1 nil 2]) => [1 2]",
                 ptc_give(out, argv[0]))

PTC_PREDICATE(core_boolean, "boolean", "false for nil and false, true for everything else.",
              "(boolean nil) => false\n(boolean 0) => true\n(boolean \"\") => true", ptc_truthy(x))
PTC_PREDICATE_OF(core_not, "not", PTC_RULE(NOT),
                 "true for nil and false, false for everything else.",
                 "(not nil) => true\n(not 0) => false\n(not true) => false", !ptc_truthy(x))

/* The type's noun without its article. */
static const char *type_word(PtcValue v)
{
    if (ptc_is_number(v) || ptc_is_decimal(v))
        return "number";
    if (ptc_is_sequential(v))
        return "vector";
    const char *noun = ptc_type_name(v), *space = strchr(noun, ' ');
    return space ? space + 1 : noun;
}

PTC_BUILTIN(core_type, "clojure.core", "type", 1, 1,
            PTC_GIVES(PTC_IS_NIL | PTC_IS_KEYWORD | PTC_IS_OTHER), "(type x)",
            "The kind of a value as a keyword, nil for nil; of a value of a defrecord or deftype, "
            "that type; of an exception, its class.",
            "(type 1.5) => :number\n(type [1]) => :vector\n(type {}) => :map\n(type nil) => nil")
{
    if (argv[0] == PTC_NIL)
        return ptc_give(out, PTC_NIL);
    if (ptc_typed_type(argv[0]) != PTC_NONE)
        return ptc_give(out, ptc_typed_type(argv[0]));
    const char *class = ptc_thrown_full(ptc_except_class(argv[0]));
    if (*class)
        return ptc_give(out, ptc_symbol_new(vm->heap, class, strlen(class)));
    const char *word = type_word(argv[0]);
    return ptc_give(out, ptc_keyword_new(vm->heap, word, strlen(word)));
}

PTC_BUILTIN_TABLE(ptc_lib_pred, core_is_nil, core_is_some, core_is_true, core_is_false,
                  core_is_boolean, core_is_number, core_is_integer, core_is_int, core_is_float,
                  core_is_double, core_is_nat_int, core_is_pos_int, core_is_neg_int,
                  core_is_rational, core_is_ratio, core_is_decimal, core_is_string, core_is_char,
                  core_is_keyword, core_is_symbol, core_is_map, core_is_set, core_is_vector,
                  core_is_list, core_is_seq, core_is_coll, core_is_sequential, core_is_associative,
                  core_is_counted, core_is_indexed, core_is_reversible, core_is_seqable,
                  core_is_sorted, core_is_map_entry, core_is_fn, core_is_ifn, core_identity,
                  core_boolean, core_not, core_type, core_is_any);
