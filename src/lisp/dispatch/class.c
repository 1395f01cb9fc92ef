/* SPDX-License-Identifier: MIT
 * Classes of Java and Clojure, as far as values here can be said to belong to one: class, instance? and what names
 * them.  Integers are Longs, or BigInts when 64 bits do not hold them; a Character is a string of one; lists and lazy
 * sequences are one kind. */
#include "lisp/dispatch/class.h"

#include "base/text/uuid.h"
#include "lisp/lazy/seq_int.h"
#include "lisp/vm/predicate.h"
#include "lisp/vm/vm_int.h"
#include "value/cell.h"
#include "value/coll/typed.h"
#include "value/number/decimal.h"
#include "value/regex/regex.h"
#include "value/time/time.h"

typedef enum {
    CLASS_ANY,
    CLASS_STRING,
    CLASS_CHAR,
    CLASS_NUMBER,
    CLASS_LONG,
    CLASS_NEVER,
    CLASS_FLOAT,
    CLASS_BOOL,
    CLASS_COMPARABLE,
    CLASS_COLL,
    CLASS_DECIMAL,
    CLASS_BIG,
    CLASS_KEYWORD,
    CLASS_SYMBOL,
    CLASS_NAMED,
    CLASS_CALLABLE,
    CLASS_FUNCTION,
    CLASS_VECTOR,
    CLASS_MAP,
    CLASS_SORTED_MAP,
    CLASS_SET,
    CLASS_SORTED_SET,
    CLASS_SEQ,
    CLASS_SEQUENTIAL,
    CLASS_ASSOCIATIVE,
    CLASS_SORTED,
    CLASS_ENTRY,
    CLASS_QUEUE,
    CLASS_VAR,
    CLASS_INSTANT,
    CLASS_UUID,
    CLASS_REGEX,
    CLASS_DATE,
    CLASS_DATETIME,
    CLASS_DURATION,
    CLASS_PERIOD,
    CLASS_CLOCK,
    CLASS_OFFSET_TIME,
    CLASS_ZONED_TIME,
    CLASS_ZONE,
    CLASS_YEAR_MONTH,
    CLASS_YEAR,
    CLASS_DAY,
    CLASS_MONTH,
    CLASS_INFO,
    CLASS_DEREF,
    CLASS_ATOM,
    CLASS_VOLATILE,
    CLASS_DELAY,
    CLASS_RECORD
} Kind;

static const struct {
    const char *simple, *full;
    Kind kind;
} classes[] = {
    {"Object", "java.lang.Object", CLASS_ANY},
    {"String", "java.lang.String", CLASS_STRING},
    {"CharSequence", "java.lang.CharSequence", CLASS_STRING},
    {"Character", "java.lang.Character", CLASS_CHAR},
    {"Number", "java.lang.Number", CLASS_NUMBER},
    {"Long", "java.lang.Long", CLASS_LONG},
    {"Integer", "java.lang.Integer", CLASS_NEVER},
    {"Short", "java.lang.Short", CLASS_NEVER},
    {"Byte", "java.lang.Byte", CLASS_NEVER},
    {"Double", "java.lang.Double", CLASS_FLOAT},
    {"Float", "java.lang.Float", CLASS_NEVER},
    {"Boolean", "java.lang.Boolean", CLASS_BOOL},
    {"Comparable", "java.lang.Comparable", CLASS_COMPARABLE},
    {"Iterable", "java.lang.Iterable", CLASS_COLL},
    {"BigInteger", "java.math.BigInteger", CLASS_NEVER},
    {"BigDecimal", "java.math.BigDecimal", CLASS_DECIMAL},
    {"BigInt", "clojure.lang.BigInt", CLASS_BIG},
    {"Ratio", "clojure.lang.Ratio", CLASS_NEVER},
    {"Keyword", "clojure.lang.Keyword", CLASS_KEYWORD},
    {"Symbol", "clojure.lang.Symbol", CLASS_SYMBOL},
    {"Named", "clojure.lang.Named", CLASS_NAMED},
    {"IFn", "clojure.lang.IFn", CLASS_CALLABLE},
    {"Fn", "clojure.lang.Fn", CLASS_FUNCTION},
    {"AFunction", "clojure.lang.AFunction", CLASS_FUNCTION},
    {"AFn", "clojure.lang.AFn", CLASS_CALLABLE},
    {"PersistentVector", "clojure.lang.PersistentVector", CLASS_VECTOR},
    {"IPersistentVector", "clojure.lang.IPersistentVector", CLASS_VECTOR},
    {"APersistentVector", "clojure.lang.APersistentVector", CLASS_VECTOR},
    {"IPersistentMap", "clojure.lang.IPersistentMap", CLASS_MAP},
    {"APersistentMap", "clojure.lang.APersistentMap", CLASS_MAP},
    {"PersistentArrayMap", "clojure.lang.PersistentArrayMap", CLASS_MAP},
    {"PersistentHashMap", "clojure.lang.PersistentHashMap", CLASS_MAP},
    {"PersistentTreeMap", "clojure.lang.PersistentTreeMap", CLASS_SORTED_MAP},
    {"IPersistentSet", "clojure.lang.IPersistentSet", CLASS_SET},
    {"APersistentSet", "clojure.lang.APersistentSet", CLASS_SET},
    {"PersistentHashSet", "clojure.lang.PersistentHashSet", CLASS_SET},
    {"PersistentTreeSet", "clojure.lang.PersistentTreeSet", CLASS_SORTED_SET},
    {"ISeq", "clojure.lang.ISeq", CLASS_SEQ},
    {"IPersistentList", "clojure.lang.IPersistentList", CLASS_SEQ},
    {"PersistentList", "clojure.lang.PersistentList", CLASS_SEQ},
    {"LazySeq", "clojure.lang.LazySeq", CLASS_SEQ},
    {"Cons", "clojure.lang.Cons", CLASS_SEQ},
    {"Sequential", "clojure.lang.Sequential", CLASS_SEQUENTIAL},
    {"IPersistentCollection", "clojure.lang.IPersistentCollection", CLASS_COLL},
    {"Associative", "clojure.lang.Associative", CLASS_ASSOCIATIVE},
    {"ILookup", "clojure.lang.ILookup", CLASS_ASSOCIATIVE},
    {"Counted", "clojure.lang.Counted", CLASS_COLL},
    {"Indexed", "clojure.lang.Indexed", CLASS_VECTOR},
    {"Seqable", "clojure.lang.Seqable", CLASS_COLL},
    {"Sorted", "clojure.lang.Sorted", CLASS_SORTED},
    {"Reversible", "clojure.lang.Reversible", CLASS_VECTOR},
    {"MapEntry", "clojure.lang.MapEntry", CLASS_ENTRY},
    {"IMapEntry", "clojure.lang.IMapEntry", CLASS_ENTRY},
    {"PersistentQueue", "clojure.lang.PersistentQueue", CLASS_QUEUE},
    {"Var", "clojure.lang.Var", CLASS_VAR},
    {"IObj", "clojure.lang.IObj", CLASS_COLL},
    {"IMeta", "clojure.lang.IMeta", CLASS_COLL},
    {"IDeref", "clojure.lang.IDeref", CLASS_DEREF},
    {"Atom", "clojure.lang.Atom", CLASS_ATOM},
    {"IAtom", "clojure.lang.IAtom", CLASS_ATOM},
    {"Volatile", "clojure.lang.Volatile", CLASS_VOLATILE},
    {"Delay", "clojure.lang.Delay", CLASS_DELAY},
    {"IRecord", "clojure.lang.IRecord", CLASS_RECORD},
    {"Collection", "java.util.Collection", CLASS_COLL},
    {"List", "java.util.List", CLASS_SEQUENTIAL},
    {"Map", "java.util.Map", CLASS_MAP},
    {"Set", "java.util.Set", CLASS_SET},
    {"Date", "java.util.Date", CLASS_INSTANT},
    {"UUID", "java.util.UUID", CLASS_UUID},
    {"Pattern", "java.util.regex.Pattern", CLASS_REGEX},
    {"Instant", "java.time.Instant", CLASS_INSTANT},
    {"LocalDate", "java.time.LocalDate", CLASS_DATE},
    {"LocalDateTime", "java.time.LocalDateTime", CLASS_DATETIME},
    {"Duration", "java.time.Duration", CLASS_DURATION},
    {"Period", "java.time.Period", CLASS_PERIOD},
    {"LocalTime", "java.time.LocalTime", CLASS_CLOCK},
    {"OffsetDateTime", "java.time.OffsetDateTime", CLASS_OFFSET_TIME},
    {"ZonedDateTime", "java.time.ZonedDateTime", CLASS_ZONED_TIME},
    {"ZoneOffset", "java.time.ZoneOffset", CLASS_ZONE},
    {"ZoneId", "java.time.ZoneId", CLASS_ZONE},
    {"YearMonth", "java.time.YearMonth", CLASS_YEAR_MONTH},
    {"Year", "java.time.Year", CLASS_YEAR},
    {"DayOfWeek", "java.time.DayOfWeek", CLASS_DAY},
    {"Month", "java.time.Month", CLASS_MONTH},
    {"IExceptionInfo", "clojure.lang.IExceptionInfo", CLASS_INFO},
};
/* A class is its number: a row of this table, or ROWS and the number of a class of exceptions. */
enum { CLASS_ROWS = sizeof classes / sizeof classes[0], CLASSES = CLASS_ROWS + PTC_C_COUNT };

static PtcThrown thrown_class(size_t n)
{
    return n > CLASS_ROWS ? (PtcThrown)(n - CLASS_ROWS) : PTC_C_NONE;
}

static const char *full_class_name(size_t n)
{
    return n < CLASS_ROWS ? classes[n].full : ptc_thrown_full(thrown_class(n));
}

/* -------------------------------------------------------------------------------- names */

PtcText ptc_class_simple(PtcText name)
{
    static const char *const packages[] = {
        "java.lang.",       "java.util.",        "java.math.",
        "java.time.",       "java.time.format.", "java.time.temporal.",
        "java.util.regex.", "java.io.",          "clojure.lang."};
    size_t dot = name.len;
    while (dot > 0 && name.bytes[dot - 1] != '.')
        dot--;
    if (dot == name.len && dot > 0) { /* a constructor, java.util.Date. */
        for (dot--; dot > 0 && name.bytes[dot - 1] != '.';)
            dot--;
    }
    for (size_t i = 0; dot > 0 && i < sizeof packages / sizeof packages[0]; i++)
        if (ptc_text_is((PtcText){name.bytes, dot}, packages[i]))
            return (PtcText){name.bytes + dot, name.len - dot};
    return name;
}

/* Looks at the end of the name first, since most names begin alike: methods of protocols are found through this. */
static size_t class_number(PtcText name)
{
    size_t i = 0, dot = name.len;
    while (dot > 0 && name.bytes[dot - 1] != '.')
        dot--;
    PtcText last = {name.bytes + dot, name.len - dot};
    while (i < CLASS_ROWS && !(last.len > 0 && classes[i].simple[0] == last.bytes[0] &&
                               ptc_text_is(last, classes[i].simple) &&
                               (dot == 0 || ptc_text_is(name, classes[i].full))))
        i++;
    PtcThrown thrown = i < CLASS_ROWS ? PTC_C_NONE : ptc_thrown_find(name);
    return i < CLASS_ROWS ? i : thrown == PTC_C_NONE ? CLASSES : CLASS_ROWS + (size_t)thrown;
}

const char *ptc_class_named(PtcText name)
{
    size_t n = class_number(name);
    return n < CLASSES ? full_class_name(n) : NULL;
}

/* ------------------------------------------------------------------------------ members */

static bool fits_long(PtcValue v)
{
    int64_t n;
    return ptc_is_integer(v) && ptc_int_get(v, &n);
}

static bool is_time_of_class(Kind kind, PtcValue v)
{
    switch (kind) {
    case CLASS_INSTANT: return ptc_is_record(v, PTC_R_INSTANT);
    case CLASS_DATE: return ptc_is_record(v, PTC_R_DATE);
    case CLASS_DATETIME: return ptc_is_record(v, PTC_R_DATETIME);
    case CLASS_DURATION: return ptc_is_record(v, PTC_R_DURATION);
    case CLASS_PERIOD: return ptc_is_record(v, PTC_R_PERIOD);
    case CLASS_CLOCK: return ptc_is_record(v, PTC_R_CLOCK);
    case CLASS_OFFSET_TIME:
    case CLASS_ZONED_TIME:
        return ptc_is_record(v, PTC_R_ZONED) &&
               (ptc_record_field(v, 2) == ptc_int(PTC_ZONE_OFFSET)) == (kind == CLASS_OFFSET_TIME);
    case CLASS_ZONE: return ptc_is_record(v, PTC_R_ZONE) || ptc_is_enum(v, PTC_G_ZONE);
    case CLASS_YEAR_MONTH: return ptc_is_record(v, PTC_R_YEARMONTH);
    case CLASS_YEAR: return ptc_is_record(v, PTC_R_YEAR);
    case CLASS_DAY: return ptc_is_enum(v, PTC_G_DAY);
    default: return kind == CLASS_MONTH && ptc_is_enum(v, PTC_G_MONTH);
    }
}

static bool is_collection_of_class(Kind kind, PtcValue v)
{
    bool seq = (ptc_is_sequential(v) && ptc_is_seq_flagged(v)) || ptc_is_producer(v);
    bool vector = ptc_is_sequential(v) && !seq && !ptc_is_queue(v);
    bool map = ptc_is_map(v), set = ptc_is_set(v);
    switch (kind) {
    case CLASS_VECTOR: return vector;
    case CLASS_MAP: return map;
    case CLASS_SET: return set;
    case CLASS_SORTED: return ptc_is_sorted(v);
    case CLASS_SORTED_MAP: return map && ptc_is_sorted(v);
    case CLASS_SORTED_SET: return set && ptc_is_sorted(v);
    case CLASS_SEQ: return seq;
    case CLASS_SEQUENTIAL: return seq || vector || ptc_is_queue(v);
    case CLASS_COLL: return seq || vector || map || set || ptc_is_queue(v);
    case CLASS_ASSOCIATIVE: return vector || map;
    case CLASS_ENTRY: return ptc_is(v, PTC_T_FLAT) && (ptc_obj(v)->flags & PTC_ENTRY) != 0;
    case CLASS_CALLABLE: return ptc_is_callable(v);
    default: return kind == CLASS_QUEUE && ptc_is_sequential(v) && ptc_is_queue(v);
    }
}

static bool is_cell(Kind kind, PtcValue v)
{
    bool cell = ptc_is_cell(v);
    switch (kind) {
    case CLASS_DEREF: return cell || ptc_is(v, PTC_T_VAR);
    case CLASS_ATOM: return cell && ptc_cell_kind(v) == PTC_CELL_ATOM;
    case CLASS_VOLATILE: return cell && ptc_cell_kind(v) == PTC_CELL_VOLATILE;
    default: return kind == CLASS_DELAY && cell && ptc_cell_kind(v) == PTC_CELL_DELAY;
    }
}

static bool belongs(PtcVM *vm, Kind kind, PtcValue v)
{
    switch (kind) {
    case CLASS_NEVER: return false;
    case CLASS_ANY: return v != PTC_NIL;
    case CLASS_STRING: return ptc_is_string(v);
    case CLASS_CHAR: return ptc_is_char(vm, v);
    case CLASS_NUMBER: return ptc_is_number(v) || ptc_is_decimal(v);
    case CLASS_DECIMAL: return ptc_is_decimal(v);
    case CLASS_LONG: return fits_long(v);
    case CLASS_BIG: return ptc_is_integer(v) && !fits_long(v);
    case CLASS_FLOAT: return ptc_is_float(v);
    case CLASS_BOOL: return ptc_is_bool(v);
    case CLASS_KEYWORD: return ptc_is_keyword(v);
    case CLASS_SYMBOL: return ptc_is(v, PTC_T_SYMBOL);
    case CLASS_NAMED: return ptc_is_keyword(v) || ptc_is(v, PTC_T_SYMBOL);
    case CLASS_FUNCTION: return ptc_is_function(v);
    case CLASS_VAR: return ptc_is(v, PTC_T_VAR);
    case CLASS_UUID: return ptc_is_string(v) && ptc_is_uuid(ptc_str_bytes(v), ptc_str_len(v));
    case CLASS_REGEX: return ptc_is_regex(v);
    case CLASS_RECORD: return ptc_is_typed(v);
    case CLASS_INFO: return ptc_except_class(v) == PTC_C_EXCEPTION_INFO;
    case CLASS_COMPARABLE:
        return ptc_is_number(v) || ptc_is_named(v) || ptc_is_bool(v) ||
               is_collection_of_class(CLASS_VECTOR, v) || is_time_of_class(CLASS_DATE, v) ||
               is_time_of_class(CLASS_INSTANT, v) || is_time_of_class(CLASS_DATETIME, v);
    default:
        return is_time_of_class(kind, v) || is_collection_of_class(kind, v) || is_cell(kind, v);
    }
}

static bool is_member(PtcVM *vm, size_t n, PtcValue v)
{
    return n < CLASS_ROWS ? belongs(vm, classes[n].kind, v)
                          : n < CLASSES && ptc_thrown_is(ptc_except_class(v), thrown_class(n));
}

/* The class of a value is the first in this order that it belongs to. */
static const char *const order[] = {
    "String",
    "Long",
    "BigInt",
    "Double",
    "BigDecimal",
    "Boolean",
    "Keyword",
    "Symbol",
    "MapEntry",
    "PersistentQueue",
    "PersistentVector",
    "PersistentList",
    "PersistentTreeMap",
    "PersistentArrayMap",
    "PersistentTreeSet",
    "PersistentHashSet",
    "Pattern",
    "AFunction",
    "Var",
    "Atom",
    "Volatile",
    "Delay",
    "Instant",
    "LocalDate",
    "LocalDateTime",
    "Duration",
    "Period",
    "LocalTime",
    "OffsetDateTime",
    "ZonedDateTime",
    "ZoneOffset",
    "YearMonth",
    "Year",
    "DayOfWeek",
    "Month",
    "Object",
};

/* A map of more than eight entries is a hash map in Clojure. */
static const char *class_of(PtcVM *vm, PtcValue v)
{
    if (ptc_except_class(v))
        return ptc_thrown_full(ptc_except_class(v));
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        size_t n = class_number((PtcText){order[i], strlen(order[i])});
        if (n < CLASS_ROWS && belongs(vm, classes[n].kind, v))
            return ptc_is_map(v) && !ptc_is_sorted(v) && ptc_map_count(v) > 8
                       ? "clojure.lang.PersistentHashMap"
                       : classes[n].full;
    }
    return "java.lang.Object";
}

/* ------------------------------------------------------------------------ among classes */

static size_t class_number_of(PtcValue symbol)
{
    return ptc_is(symbol, PTC_T_SYMBOL)
               ? class_number((PtcText){ptc_str_bytes(symbol), ptc_str_len(symbol)})
               : CLASSES;
}

bool ptc_class_has(PtcVM *vm, PtcValue symbol, PtcValue v)
{
    return is_member(vm, class_number_of(symbol), v);
}

/* More than that of Throwable, which is more than that of the classes below it. */
enum { ANY_BREADTH = 16 };

static int breadth(Kind kind)
{
    switch (kind) {
    case CLASS_ANY: return ANY_BREADTH;
    case CLASS_COLL:
    case CLASS_COMPARABLE:
    case CLASS_CALLABLE:
    case CLASS_DEREF: return 4;
    case CLASS_SEQUENTIAL:
    case CLASS_ASSOCIATIVE:
    case CLASS_NAMED: return 3;
    case CLASS_NUMBER:
    case CLASS_MAP:
    case CLASS_SET:
    case CLASS_VECTOR:
    case CLASS_SEQ: return 2;
    default: return 1;
    }
}

int ptc_class_breadth(PtcValue symbol)
{
    size_t n = class_number_of(symbol);
    if (n < CLASS_ROWS)
        return breadth(classes[n].kind);
    return n < CLASSES ? ANY_BREADTH - 1 - ptc_thrown_depth(thrown_class(n)) : -1;
}

static bool is_kind_below(Kind child, Kind parent)
{
    bool vector = child == CLASS_VECTOR || child == CLASS_ENTRY,
         map = child == CLASS_MAP || child == CLASS_SORTED_MAP;
    bool set = child == CLASS_SET || child == CLASS_SORTED_SET,
         seq = child == CLASS_SEQ || child == CLASS_QUEUE;
    switch (parent) {
    case CLASS_ANY: return true;
    case CLASS_NUMBER:
        return child == CLASS_LONG || child == CLASS_FLOAT || child == CLASS_BIG ||
               child == CLASS_DECIMAL;
    case CLASS_COLL:
        return vector || map || set || seq || child == CLASS_SEQUENTIAL ||
               child == CLASS_ASSOCIATIVE;
    case CLASS_SEQUENTIAL: return vector || seq;
    case CLASS_ASSOCIATIVE: return vector || map;
    case CLASS_SORTED: return child == CLASS_SORTED_MAP || child == CLASS_SORTED_SET;
    case CLASS_MAP: return map;
    case CLASS_SET: return set;
    case CLASS_VECTOR: return vector;
    case CLASS_NAMED: return child == CLASS_KEYWORD || child == CLASS_SYMBOL;
    case CLASS_CALLABLE:
        return child == CLASS_FUNCTION || child == CLASS_KEYWORD || vector || map || set;
    case CLASS_DEREF:
        return child == CLASS_ATOM || child == CLASS_VOLATILE || child == CLASS_DELAY ||
               child == CLASS_VAR;
    default: return child == parent && child != CLASS_NEVER;
    }
}

bool ptc_class_is_below(PtcValue child, PtcValue parent)
{
    size_t above = class_number_of(parent), below = class_number_of(child);
    if (above >= CLASS_ROWS)
        return above < CLASSES && below < CLASSES &&
               ptc_thrown_is(thrown_class(below), thrown_class(above));
    Kind kind = classes[above].kind;
    if (ptc_is_type(child))
        return kind == CLASS_ANY ||
               (ptc_type_field(child, PTC_TYPE_KIND) == ptc_int(PTC_KIND_RECORD) &&
                (kind == CLASS_RECORD || is_kind_below(CLASS_MAP, kind)));
    if (below < CLASS_ROWS)
        return is_kind_below(classes[below].kind, kind);
    return below < CLASSES && (kind == CLASS_ANY ||
                               (kind == CLASS_INFO && thrown_class(below) == PTC_C_EXCEPTION_INFO));
}

PTC_BUILTIN(
    core_class, "clojure.core", "class", 1, 1, 0, "(class x)",
    "The class of a value, as the symbol of its name in Clojure, or its type if defrecord or "
    "deftype made it; nil for nil.",
    "(class \"a\") => java.lang.String\n(= Long (class 1)) => true\n(class nil) => nil\n"
    "(class) !! arity_error")
{
    PtcValue type = ptc_typed_type(argv[0]);
    if (argv[0] == PTC_NIL || type != PTC_NONE)
        return ptc_give(out, type == PTC_NONE ? PTC_NIL : type);
    const char *name = class_of(vm, argv[0]);
    return ptc_give(out, ptc_symbol_new(vm->heap, name, strlen(name)));
}

static bool arg_class(PtcVM *vm, const PtcValue *argv, int i, size_t *n)
{
    *n = CLASSES;
    if (ptc_is(argv[i], PTC_T_SYMBOL))
        *n = class_number((PtcText){ptc_str_bytes(argv[i]), ptc_str_len(argv[i])});
    return *n < CLASSES || ptc_fail_type(vm, argv, i, "a class, such as String or Long");
}

PTC_BUILTIN(core_is_instance, "clojure.core", "instance?", 2, 2, PTC_GIVES(PTC_IS_BOOL),
            "(instance? class x)", "Does the value belong to the class?",
            "(instance? String \"a\") => true\n(instance? Number 1.5) => true\n"
            "(instance? java.time.LocalDate (LocalDate/of 2024 1 1)) => true\n"
            "(instance? Integer 1) => false\n(instance? :string \"a\") !! type_error")
{
    size_t n;
    if (ptc_is_type(argv[0])) {
        PtcValue type = ptc_typed_type(argv[1]);
        return ptc_give(out, ptc_bool(type != PTC_NONE && ptc_equal(vm->heap, type, argv[0])));
    }
    return arg_class(vm, argv, 0, &n) && ptc_give(out, ptc_bool(is_member(vm, n, argv[1])));
}

PTC_BUILTIN(core_cast, "clojure.core", "cast", 2, 2, 0, "(cast class x)",
            "The value itself when it belongs to the class or is nil, else an error.",
            "(cast String \"a\") => \"a\"\n(cast Long nil) => nil\n(cast Long \"a\") !! type_error")
{
    size_t n;
    if (!arg_class(vm, argv, 0, &n))
        return false;
    if (argv[1] != PTC_NIL && !is_member(vm, n, argv[1]))
        return ptc_fail_type(vm, argv, 1, "a value of the class in argument 1");
    return ptc_give(out, argv[1]);
}

PTC_BUILTIN(core_is_class, "clojure.core", "class?", 1, 1, PTC_GIVES(PTC_IS_BOOL), "(class? x)",
            "Is it the symbol of a class that is known here?",
            "(class? String) => true\n(class? \"String\") => false\n(class? 'abc) => false")
{
    PtcText name = {"", 0};
    if (ptc_is(argv[0], PTC_T_SYMBOL))
        name = (PtcText){ptc_str_bytes(argv[0]), ptc_str_len(argv[0])};
    return ptc_give(out, ptc_bool(ptc_is_type(argv[0]) || class_number(name) < CLASSES));
}

/* .getClass, and the names of a class. */
PTC_BUILTIN(any_get_class, "java", ".getClass", 1, 1, 0, "(.getClass x)",
            "The class of a value, as class gives it; nil has none.",
            "(.getClass :a) => clojure.lang.Keyword\n(.getClass nil) !! type_error")
{
    if (argv[0] == PTC_NIL)
        return ptc_fail_type(vm, argv, 0, "any value but nil");
    return run_core_class(vm, argc, argv, out);
}

PTC_BUILTIN(class_get_name, "java", ".getName", 1, 1, 0, "(.getName class)",
            "The full name of a class as a string.",
            "(.getName String) => \"java.lang.String\"\n(.getName 5) !! type_error")
{
    size_t n;
    return arg_class(vm, argv, 0, &n) &&
           ptc_give(out, ptc_str_new(vm->heap, full_class_name(n), strlen(full_class_name(n))));
}

PTC_BUILTIN(class_get_simple_name, "java", ".getSimpleName", 1, 1, 0, "(.getSimpleName class)",
            "The name of a class without its package, as a string.",
            "(.getSimpleName (class 1)) => \"Long\"\n(.getSimpleName nil) !! type_error")
{
    size_t n;
    if (!arg_class(vm, argv, 0, &n))
        return false;
    const char *name = n < CLASS_ROWS ? classes[n].simple : ptc_thrown_simple(thrown_class(n));
    return ptc_give(out, ptc_str_new(vm->heap, name, strlen(name)));
}

PTC_BUILTIN_TABLE(ptc_lib_class, core_class, core_is_instance, core_cast, core_is_class,
                  any_get_class, class_get_name, class_get_simple_name);
