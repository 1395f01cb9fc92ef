/* SPDX-License-Identifier: MIT
 * Classes of Java and Clojure, as far as values here can be said to belong to one: class, instance? and what names
 * them.  Integers are Longs, or BigInts when 64 bits do not hold them; a Character is a string of one; lists and lazy
 * sequences are one kind. */
#include "lisp/lib/java/class.h"

#include "lisp/lib/pred.h"
#include "lisp/lib/seq/seq_int.h"
#include "lisp/lib/text/regex.h"
#include "lisp/lib/time/time.h"
#include "lisp/vm/vm_int.h"
#include "value/cell.h"
#include "value/coll/typed.h"
#include "value/number/decimal.h"

typedef enum {
    ANY,
    STRING,
    CHAR,
    NUMBER,
    LONG,
    NEVER,
    FLOAT,
    BOOL,
    COMPARABLE,
    COLL,
    DECIMAL,
    BIG,
    KEYWORD,
    SYMBOL,
    NAMED,
    CALLABLE,
    FUNCTION,
    VECTOR,
    MAP,
    SORTED_MAP,
    SET,
    SORTED_SET,
    SEQ,
    SEQUENTIAL,
    ASSOCIATIVE,
    SORTED,
    ENTRY,
    QUEUE,
    VAR,
    INSTANT,
    UUID,
    REGEX,
    DATE,
    DATETIME,
    DURATION,
    PERIOD,
    CLOCK,
    OFFSET_TIME,
    ZONED_TIME,
    ZONE,
    YEAR_MONTH,
    YEAR,
    DAY,
    MONTH,
    INFO,
    DEREF,
    ATOM,
    VOLATILE,
    DELAY,
    RECORD
} Kind;

static const struct {
    const char *simple, *full;
    Kind kind;
} classes[] = {
    {"Object", "java.lang.Object", ANY},
    {"String", "java.lang.String", STRING},
    {"CharSequence", "java.lang.CharSequence", STRING},
    {"Character", "java.lang.Character", CHAR},
    {"Number", "java.lang.Number", NUMBER},
    {"Long", "java.lang.Long", LONG},
    {"Integer", "java.lang.Integer", NEVER},
    {"Short", "java.lang.Short", NEVER},
    {"Byte", "java.lang.Byte", NEVER},
    {"Double", "java.lang.Double", FLOAT},
    {"Float", "java.lang.Float", NEVER},
    {"Boolean", "java.lang.Boolean", BOOL},
    {"Comparable", "java.lang.Comparable", COMPARABLE},
    {"Iterable", "java.lang.Iterable", COLL},
    {"BigInteger", "java.math.BigInteger", NEVER},
    {"BigDecimal", "java.math.BigDecimal", DECIMAL},
    {"BigInt", "clojure.lang.BigInt", BIG},
    {"Ratio", "clojure.lang.Ratio", NEVER},
    {"Keyword", "clojure.lang.Keyword", KEYWORD},
    {"Symbol", "clojure.lang.Symbol", SYMBOL},
    {"Named", "clojure.lang.Named", NAMED},
    {"IFn", "clojure.lang.IFn", CALLABLE},
    {"Fn", "clojure.lang.Fn", FUNCTION},
    {"AFunction", "clojure.lang.AFunction", FUNCTION},
    {"AFn", "clojure.lang.AFn", CALLABLE},
    {"PersistentVector", "clojure.lang.PersistentVector", VECTOR},
    {"IPersistentVector", "clojure.lang.IPersistentVector", VECTOR},
    {"APersistentVector", "clojure.lang.APersistentVector", VECTOR},
    {"IPersistentMap", "clojure.lang.IPersistentMap", MAP},
    {"APersistentMap", "clojure.lang.APersistentMap", MAP},
    {"PersistentArrayMap", "clojure.lang.PersistentArrayMap", MAP},
    {"PersistentHashMap", "clojure.lang.PersistentHashMap", MAP},
    {"PersistentTreeMap", "clojure.lang.PersistentTreeMap", SORTED_MAP},
    {"IPersistentSet", "clojure.lang.IPersistentSet", SET},
    {"APersistentSet", "clojure.lang.APersistentSet", SET},
    {"PersistentHashSet", "clojure.lang.PersistentHashSet", SET},
    {"PersistentTreeSet", "clojure.lang.PersistentTreeSet", SORTED_SET},
    {"ISeq", "clojure.lang.ISeq", SEQ},
    {"IPersistentList", "clojure.lang.IPersistentList", SEQ},
    {"PersistentList", "clojure.lang.PersistentList", SEQ},
    {"LazySeq", "clojure.lang.LazySeq", SEQ},
    {"Cons", "clojure.lang.Cons", SEQ},
    {"Sequential", "clojure.lang.Sequential", SEQUENTIAL},
    {"IPersistentCollection", "clojure.lang.IPersistentCollection", COLL},
    {"Associative", "clojure.lang.Associative", ASSOCIATIVE},
    {"ILookup", "clojure.lang.ILookup", ASSOCIATIVE},
    {"Counted", "clojure.lang.Counted", COLL},
    {"Indexed", "clojure.lang.Indexed", VECTOR},
    {"Seqable", "clojure.lang.Seqable", COLL},
    {"Sorted", "clojure.lang.Sorted", SORTED},
    {"Reversible", "clojure.lang.Reversible", VECTOR},
    {"MapEntry", "clojure.lang.MapEntry", ENTRY},
    {"IMapEntry", "clojure.lang.IMapEntry", ENTRY},
    {"PersistentQueue", "clojure.lang.PersistentQueue", QUEUE},
    {"Var", "clojure.lang.Var", VAR},
    {"IObj", "clojure.lang.IObj", COLL},
    {"IMeta", "clojure.lang.IMeta", COLL},
    {"IDeref", "clojure.lang.IDeref", DEREF},
    {"Atom", "clojure.lang.Atom", ATOM},
    {"IAtom", "clojure.lang.IAtom", ATOM},
    {"Volatile", "clojure.lang.Volatile", VOLATILE},
    {"Delay", "clojure.lang.Delay", DELAY},
    {"IRecord", "clojure.lang.IRecord", RECORD},
    {"Collection", "java.util.Collection", COLL},
    {"List", "java.util.List", SEQUENTIAL},
    {"Map", "java.util.Map", MAP},
    {"Set", "java.util.Set", SET},
    {"Date", "java.util.Date", INSTANT},
    {"UUID", "java.util.UUID", UUID},
    {"Pattern", "java.util.regex.Pattern", REGEX},
    {"Instant", "java.time.Instant", INSTANT},
    {"LocalDate", "java.time.LocalDate", DATE},
    {"LocalDateTime", "java.time.LocalDateTime", DATETIME},
    {"Duration", "java.time.Duration", DURATION},
    {"Period", "java.time.Period", PERIOD},
    {"LocalTime", "java.time.LocalTime", CLOCK},
    {"OffsetDateTime", "java.time.OffsetDateTime", OFFSET_TIME},
    {"ZonedDateTime", "java.time.ZonedDateTime", ZONED_TIME},
    {"ZoneOffset", "java.time.ZoneOffset", ZONE},
    {"ZoneId", "java.time.ZoneId", ZONE},
    {"YearMonth", "java.time.YearMonth", YEAR_MONTH},
    {"Year", "java.time.Year", YEAR},
    {"DayOfWeek", "java.time.DayOfWeek", DAY},
    {"Month", "java.time.Month", MONTH},
    {"IExceptionInfo", "clojure.lang.IExceptionInfo", INFO},
};
/* A class is its number: a row of this table, or ROWS and the number of a class of exceptions. */
enum { ROWS = sizeof classes / sizeof classes[0], CLASSES = ROWS + PTC_C_COUNT };

static PtcThrown thrown_class(size_t n)
{
    return n > ROWS ? (PtcThrown)(n - ROWS) : PTC_C_NONE;
}

static const char *full_name(size_t n)
{
    return n < ROWS ? classes[n].full : ptc_thrown_full(thrown_class(n));
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
    while (i < ROWS && !(last.len > 0 && classes[i].simple[0] == last.bytes[0] &&
                         ptc_text_is(last, classes[i].simple) &&
                         (dot == 0 || ptc_text_is(name, classes[i].full))))
        i++;
    PtcThrown thrown = i < ROWS ? PTC_C_NONE : ptc_thrown_find(name);
    return i < ROWS ? i : thrown == PTC_C_NONE ? CLASSES : ROWS + (size_t)thrown;
}

const char *ptc_class_named(PtcText name)
{
    size_t n = class_number(name);
    return n < CLASSES ? full_name(n) : NULL;
}

/* ------------------------------------------------------------------------------ members */

static bool fits_long(PtcValue v)
{
    int64_t n;
    return ptc_is_integer(v) && ptc_int_get(v, &n);
}

static bool is_point(Kind kind, PtcValue v)
{
    switch (kind) {
    case INSTANT: return ptc_is_record(v, PTC_R_INSTANT);
    case DATE: return ptc_is_record(v, PTC_R_DATE);
    case DATETIME: return ptc_is_record(v, PTC_R_DATETIME);
    case DURATION: return ptc_is_record(v, PTC_R_DURATION);
    case PERIOD: return ptc_is_record(v, PTC_R_PERIOD);
    case CLOCK: return ptc_is_record(v, PTC_R_CLOCK);
    case OFFSET_TIME:
    case ZONED_TIME:
        return ptc_is_record(v, PTC_R_ZONED) &&
               (ptc_record_field(v, 2) == ptc_int(PTC_ZONE_OFFSET)) == (kind == OFFSET_TIME);
    case ZONE: return ptc_is_record(v, PTC_R_ZONE) || ptc_is_enum(v, PTC_G_ZONE);
    case YEAR_MONTH: return ptc_is_record(v, PTC_R_YEARMONTH);
    case YEAR: return ptc_is_record(v, PTC_R_YEAR);
    case DAY: return ptc_is_enum(v, PTC_G_DAY);
    default: return kind == MONTH && ptc_is_enum(v, PTC_G_MONTH);
    }
}

static bool is_collection(Kind kind, PtcValue v)
{
    bool seq = (ptc_is_sequential(v) && ptc_is_seq_flagged(v)) || ptc_is_producer(v);
    bool vector = ptc_is_sequential(v) && !seq && !ptc_is_queue(v);
    bool map = ptc_is_map(v), set = ptc_is_set(v);
    switch (kind) {
    case VECTOR: return vector;
    case MAP: return map;
    case SET: return set;
    case SORTED: return ptc_is_sorted(v);
    case SORTED_MAP: return map && ptc_is_sorted(v);
    case SORTED_SET: return set && ptc_is_sorted(v);
    case SEQ: return seq;
    case SEQUENTIAL: return seq || vector || ptc_is_queue(v);
    case COLL: return seq || vector || map || set || ptc_is_queue(v);
    case ASSOCIATIVE: return vector || map;
    case ENTRY: return ptc_is(v, PTC_T_FLAT) && (ptc_obj(v)->flags & PTC_ENTRY) != 0;
    case CALLABLE: return ptc_is_callable(v);
    default: return kind == QUEUE && ptc_is_sequential(v) && ptc_is_queue(v);
    }
}

static bool is_cell(Kind kind, PtcValue v)
{
    bool cell = ptc_is_cell(v);
    switch (kind) {
    case DEREF: return cell || ptc_is(v, PTC_T_VAR);
    case ATOM: return cell && ptc_cell_kind(v) == PTC_CELL_ATOM;
    case VOLATILE: return cell && ptc_cell_kind(v) == PTC_CELL_VOLATILE;
    default: return kind == DELAY && cell && ptc_cell_kind(v) == PTC_CELL_DELAY;
    }
}

static bool belongs(PtcVM *vm, Kind kind, PtcValue v)
{
    switch (kind) {
    case NEVER: return false;
    case ANY: return v != PTC_NIL;
    case STRING: return ptc_is_string(v);
    case CHAR: return ptc_is_char(vm, v);
    case NUMBER: return ptc_is_number(v) || ptc_is_decimal(v);
    case DECIMAL: return ptc_is_decimal(v);
    case LONG: return fits_long(v);
    case BIG: return ptc_is_integer(v) && !fits_long(v);
    case FLOAT: return ptc_is_float(v);
    case BOOL: return ptc_is_bool(v);
    case KEYWORD: return ptc_is_keyword(v);
    case SYMBOL: return ptc_is(v, PTC_T_SYMBOL);
    case NAMED: return ptc_is_keyword(v) || ptc_is(v, PTC_T_SYMBOL);
    case FUNCTION: return ptc_is_function(v);
    case VAR: return ptc_is(v, PTC_T_VAR);
    case UUID: return ptc_is_string(v) && ptc_is_uuid(ptc_str_bytes(v), ptc_str_len(v));
    case REGEX: return ptc_is_regex(v);
    case RECORD: return ptc_is_typed(v);
    case INFO: return ptc_except_class(v) == PTC_C_EXCEPTION_INFO;
    case COMPARABLE:
        return ptc_is_number(v) || ptc_is_named(v) || ptc_is_bool(v) || is_collection(VECTOR, v) ||
               is_point(DATE, v) || is_point(INSTANT, v) || is_point(DATETIME, v);
    default: return is_point(kind, v) || is_collection(kind, v) || is_cell(kind, v);
    }
}

static bool is_member(PtcVM *vm, size_t n, PtcValue v)
{
    return n < ROWS ? belongs(vm, classes[n].kind, v)
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
        if (n < ROWS && belongs(vm, classes[n].kind, v))
            return ptc_is_map(v) && !ptc_is_sorted(v) && ptc_map_count(v) > 8
                       ? "clojure.lang.PersistentHashMap"
                       : classes[n].full;
    }
    return "java.lang.Object";
}

/* ------------------------------------------------------------------------ among classes */

static size_t number_of(PtcValue symbol)
{
    return ptc_is(symbol, PTC_T_SYMBOL)
               ? class_number((PtcText){ptc_str_bytes(symbol), ptc_str_len(symbol)})
               : CLASSES;
}

bool ptc_class_has(PtcVM *vm, PtcValue symbol, PtcValue v)
{
    return is_member(vm, number_of(symbol), v);
}

/* More than that of Throwable, which is more than that of the classes below it. */
enum { ANY_BREADTH = 16 };

static int breadth(Kind kind)
{
    switch (kind) {
    case ANY: return ANY_BREADTH;
    case COLL:
    case COMPARABLE:
    case CALLABLE:
    case DEREF: return 4;
    case SEQUENTIAL:
    case ASSOCIATIVE:
    case NAMED: return 3;
    case NUMBER:
    case MAP:
    case SET:
    case VECTOR:
    case SEQ: return 2;
    default: return 1;
    }
}

int ptc_class_breadth(PtcValue symbol)
{
    size_t n = number_of(symbol);
    if (n < ROWS)
        return breadth(classes[n].kind);
    return n < CLASSES ? ANY_BREADTH - 1 - ptc_thrown_depth(thrown_class(n)) : -1;
}

static bool is_kind_below(Kind child, Kind parent)
{
    bool vector = child == VECTOR || child == ENTRY, map = child == MAP || child == SORTED_MAP;
    bool set = child == SET || child == SORTED_SET, seq = child == SEQ || child == QUEUE;
    switch (parent) {
    case ANY: return true;
    case NUMBER: return child == LONG || child == FLOAT || child == BIG || child == DECIMAL;
    case COLL: return vector || map || set || seq || child == SEQUENTIAL || child == ASSOCIATIVE;
    case SEQUENTIAL: return vector || seq;
    case ASSOCIATIVE: return vector || map;
    case SORTED: return child == SORTED_MAP || child == SORTED_SET;
    case MAP: return map;
    case SET: return set;
    case VECTOR: return vector;
    case NAMED: return child == KEYWORD || child == SYMBOL;
    case CALLABLE: return child == FUNCTION || child == KEYWORD || vector || map || set;
    case DEREF: return child == ATOM || child == VOLATILE || child == DELAY || child == VAR;
    default: return child == parent && child != NEVER;
    }
}

bool ptc_class_is_below(PtcValue child, PtcValue parent)
{
    size_t above = number_of(parent), below = number_of(child);
    if (above >= ROWS)
        return above < CLASSES && below < CLASSES &&
               ptc_thrown_is(thrown_class(below), thrown_class(above));
    Kind kind = classes[above].kind;
    if (ptc_is_type(child))
        return kind == ANY || (ptc_type_field(child, PTC_TYPE_KIND) == ptc_int(PTC_KIND_RECORD) &&
                               (kind == RECORD || is_kind_below(MAP, kind)));
    if (below < ROWS)
        return is_kind_below(classes[below].kind, kind);
    return below < CLASSES &&
           (kind == ANY || (kind == INFO && thrown_class(below) == PTC_C_EXCEPTION_INFO));
}

PTC_BUILTIN(
    core_class, "clojure.core", "class", 1, 1, 0, "(class x)",
    "The class of a value, as the symbol of its name in Clojure, or its type if defrecord or "
    "deftype made it; nil for nil.",
    "(class \"a\") => java.lang.String\n(= Long (class 1)) => true\n(class nil) => nil\n"
    "(class) !! arity_error")
{
    PTC_UNUSED(argc);
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

PTC_BUILTIN(core_is_instance, "clojure.core", "instance?", 2, 2, 0, "(instance? class x)",
            "Does the value belong to the class?",
            "(instance? String \"a\") => true\n(instance? Number 1.5) => true\n"
            "(instance? java.time.LocalDate (LocalDate/of 2024 1 1)) => true\n"
            "(instance? Integer 1) => false\n(instance? :string \"a\") !! type_error")
{
    PTC_UNUSED(argc);
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
    PTC_UNUSED(argc);
    size_t n;
    if (!arg_class(vm, argv, 0, &n))
        return false;
    if (argv[1] != PTC_NIL && !is_member(vm, n, argv[1]))
        return ptc_fail_type(vm, argv, 1, "a value of the class in argument 1");
    return ptc_give(out, argv[1]);
}

PTC_BUILTIN(core_is_class, "clojure.core", "class?", 1, 1, 0, "(class? x)",
            "Is it the symbol of a class that is known here?",
            "(class? String) => true\n(class? \"String\") => false\n(class? 'abc) => false")
{
    PTC_UNUSED(vm);
    PTC_UNUSED(argc);
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
    return core_class(vm, argc, argv, out);
}

PTC_BUILTIN(class_get_name, "java", ".getName", 1, 1, 0, "(.getName class)",
            "The full name of a class as a string.",
            "(.getName String) => \"java.lang.String\"\n(.getName 5) !! type_error")
{
    PTC_UNUSED(argc);
    size_t n;
    return arg_class(vm, argv, 0, &n) &&
           ptc_give(out, ptc_str_new(vm->heap, full_name(n), strlen(full_name(n))));
}

PTC_BUILTIN(class_get_simple_name, "java", ".getSimpleName", 1, 1, 0, "(.getSimpleName class)",
            "The name of a class without its package, as a string.",
            "(.getSimpleName (class 1)) => \"Long\"\n(.getSimpleName nil) !! type_error")
{
    PTC_UNUSED(argc);
    size_t n;
    if (!arg_class(vm, argv, 0, &n))
        return false;
    const char *name = n < ROWS ? classes[n].simple : ptc_thrown_simple(thrown_class(n));
    return ptc_give(out, ptc_str_new(vm->heap, name, strlen(name)));
}

const PtcBuiltin *const ptc_lib_class[] = {
    &core_class_def,
    &core_is_instance_def,
    &core_cast_def,
    &core_is_class_def,
    &any_get_class_def,
    &class_get_name_def,
    &class_get_simple_name_def,
    NULL,
};
