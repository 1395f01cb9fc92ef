/* SPDX-License-Identifier: MIT
 * test_row_kinds.c - what rows say of their arguments and results (lisp/vm/kinds.h) is true: every builtin that says
 * something is called with values of every kind in every place, up to four arguments.  Where a call succeeds, each
 * argument must be of a kind that its place takes, and the result of one that the row gives.
 *
 * `test_row_kinds NAME...` shows what these builtins take and give, a call for each kind: the way to find out what to
 * write in a row. */
#include "api_help.h"

#include "lisp/vm/builtin.h"
#include "lisp/vm/kinds.h"

/* Calls with more arguments are made with fewer values: `most` is up to how many a value serves.  A sanitizer makes
 * them ten times slower, so there fewer still. */
enum { MOST_ARGS = PTC_SANITIZED ? 3 : 4, PROGRAM = 32768 };

static const struct {
    unsigned kind;
    int most;
    const char *text;
} values[] = {
    {PTC_IS_NIL, 4, "nil"},
    {PTC_IS_BOOL, 4, "true"},
    {PTC_IS_BOOL, 2, "false"},
    {PTC_IS_INT, 4, "0"},
    {PTC_IS_INT, 4, "1"},
    {PTC_IS_INT, 2, "-1"},
    {PTC_IS_INT, 2, "97"},
    {PTC_IS_INT, 1, "-12345678901234567890123"}, /* of one above zero range fills the memory */
    {PTC_IS_FLOAT, 4, "1.5"},
    {PTC_IS_FLOAT, 2, "2.0"},
    {PTC_IS_FLOAT, 2, "##NaN"},
    {PTC_IS_FLOAT, 1, "##Inf"},
    {PTC_IS_DECIMAL, 4, "1M"},
    {PTC_IS_DECIMAL, 2, "2.50M"},
    {PTC_IS_STRING, 3, "\"\""},
    {PTC_IS_STRING, 4, "\"a\""},
    {PTC_IS_STRING, 2, "\"5\""},
    {PTC_IS_STRING, 2, "\"-1.5\""},
    {PTC_IS_STRING, 2, "\"true\""},
    {PTC_IS_STRING, 2, "\"a,b\\n1,2\""},
    {PTC_IS_STRING, 2, "\"{\\\"a\\\": [1]}\""},
    {PTC_IS_STRING, 2, "\"%s\""},
    {PTC_IS_STRING, 2, "\"2024-05-06\""},
    {PTC_IS_KEYWORD, 4, ":a"},
    {PTC_IS_KEYWORD, 2, ":n/k"},
    {PTC_IS_LIST, 4, "[]"},
    {PTC_IS_LIST, 3, "[1]"},
    {PTC_IS_LIST, 3, "[[:a 1]]"},
    {PTC_IS_LIST, 2, "[:a 1]"},
    {PTC_IS_LIST, 2, "[:a]"},
    {PTC_IS_LIST, 2, "[1 2.5 3]"},
    {PTC_IS_LIST, 2, "[\"a\" \"b\"]"},
    {PTC_IS_LIST, 2, "[1M 2.5M]"},
    {PTC_IS_LIST, 2, "[nil]"},
    {PTC_IS_LIST, 2, "[[1] [2]]"},
    {PTC_IS_LIST, 3, "[{:a 1} {:a 2}]"},
    {PTC_IS_LIST, 2, "[#{1}]"},
    {PTC_IS_LIST, 2, "[inc]"},
    {PTC_IS_LIST, 2, "(list)"},
    {PTC_IS_LIST, 2, "(list 2 1)"},
    {PTC_IS_LIST, 2, "(range 3)"},
    {PTC_IS_LIST, 2, "(first {:a 1})"},
    {PTC_IS_LIST, 2, "(map inc [1])"},
    {PTC_IS_LIST, 2, "(lazy-seq [1])"},
    {PTC_IS_LIST, 2, "(lazy-seq nil)"},
    {PTC_IS_LIST, 2, "(rest [1 2])"},
    {PTC_IS_LIST, 2, "(into-array [1])"},
    {PTC_IS_LIST, 2, "(eduction (map inc) [1])"},
    {PTC_IS_LIST, 1, "(vec (range 100))"},
    {PTC_IS_LIST, 1, "(iterate inc 1)"},
    {PTC_IS_SET, 3, "#{}"},
    {PTC_IS_SET, 4, "#{1}"},
    {PTC_IS_SET, 2, "#{{:a 1}}"},
    {PTC_IS_SET, 2, "(sorted-set 1 2)"},
    {PTC_IS_MAP, 4, "{}"},
    {PTC_IS_MAP, 3, "{:a 1}"},
    {PTC_IS_MAP, 2, "{:a {:a 1}}"},
    {PTC_IS_MAP, 2, "{:a [1]}"},
    {PTC_IS_MAP, 2, "{\"a\" \"b\"}"},
    {PTC_IS_MAP, 2, "{:a inc}"},
    {PTC_IS_MAP, 2, "(sorted-map :a 1)"},
    {PTC_IS_MAP, 2, "(->Rec 1)"},
    {PTC_IS_FN, 3, "inc"},
    {PTC_IS_FN, 4, "(fn [& all] 1)"},
    {PTC_IS_FN, 3, "(fn [& all] all)"},
    {PTC_IS_FN, 2, "(fn [& all] nil)"},
    {PTC_IS_FN, 2, "(fn [& all] \"a\")"},
    {PTC_IS_FN, 2, "(fn [& all] {:a 1})"},
    {PTC_IS_FN, 3, "(fn [& all] (last all))"},
    {PTC_IS_FN, 2, "(fn [& all] (reduced 1))"},
    {PTC_IS_FN, 3, "identity"},
    {PTC_IS_FN, 2, "+"},
    {PTC_IS_FN, 2, "vector"},
    {PTC_IS_FN, 2, "(fn [] 1)"},
    {PTC_IS_FN, 4, "(map inc)"},
    {PTC_IS_FN, 2, "(comp inc)"},
    {PTC_IS_FN, 2, "(partial + 1)"},
    {PTC_IS_FN, 2, "multi"},
    {PTC_IS_FN, 2, "method"},
    {PTC_IS_OTHER, 4, "'a"},
    {PTC_IS_OTHER, 2, "String"},
    {PTC_IS_OTHER, 2, "#'multi"},
    {PTC_IS_OTHER, 2, "#'method-var"},
    {PTC_IS_OTHER, 3, "#'xform-var"},
    {PTC_IS_OTHER, 2, "#\"a\""},
    {PTC_IS_OTHER, 2, "(re-matcher #\"a\" \"a\")"},
    {PTC_IS_OTHER, 3, "(atom 1)"},
    {PTC_IS_OTHER, 2, "(volatile! 1)"},
    {PTC_IS_OTHER, 2, "(delay 1)"},
    {PTC_IS_OTHER, 2, "(reduced 1)"},
    {PTC_IS_OTHER, 2, "(->Obj 1)"},
    {PTC_IS_OTHER, 2, "(reify Proto (method [_] 1))"},
    {PTC_IS_OTHER, 2, "Proto"},
    {PTC_IS_OTHER, 2, "(ex-info \"a\" {:a 1})"},
    {PTC_IS_OTHER, 2, "(Exception. \"a\")"},
    {PTC_IS_OTHER, 3, "(LocalDate/parse \"2024-05-06\")"},
    {PTC_IS_OTHER, 2, "(LocalTime/parse \"10:00\")"},
    {PTC_IS_OTHER, 2, "(LocalDateTime/parse \"2024-05-06T10:00\")"},
    {PTC_IS_OTHER, 2, "#inst \"2024-05-06\""},
    {PTC_IS_OTHER, 2, "(ZonedDateTime/parse \"2024-05-06T10:00:00Z\")"},
    {PTC_IS_OTHER, 2, "(Duration/ofDays 1)"},
    {PTC_IS_OTHER, 2, "(Period/ofDays 1)"},
    {PTC_IS_OTHER, 2, "(YearMonth/of 2024 5)"},
    {PTC_IS_OTHER, 2, "(Year/of 2024)"},
    {PTC_IS_OTHER, 2, "DayOfWeek/MONDAY"},
    {PTC_IS_OTHER, 2, "ChronoUnit/DAYS"},
    {PTC_IS_OTHER, 2, "(ZoneId/of \"UTC\")"},
    {PTC_IS_OTHER, 2, "(DateTimeFormatter/ofPattern \"yyyy\")"},
};

static const char types[] = "(defrecord Rec [a])(deftype Obj [a])\n"
                            "(defprotocol Proto (method [x]))\n"
                            "(extend-protocol Proto nil (method [x] 1) Object (method [x] 1))\n"
                            "(defmulti multi (fn [& all] 1))(defmethod multi 1 [& all] 1)\n"
                            "(def method-var inc)(def xform-var (map inc))\n"
                            "(def refused (atom nil))\n";

/* `seen` maps [place kind] to a call that shows it, where `places` has it not; the last place is that of the result. */
static const char helpers[] =
    "(defn kind [x]\n"
    "  (cond (nil? x) 0 (boolean? x) 1 (integer? x) 2 (float? x) 3 (decimal? x) 4 (string? x) 5\n"
    "        (keyword? x) 6 (sequential? x) 7 (set? x) 8 (map? x) 9 (fn? x) 10 :else 11))\n"
    "(defn fit [n] (filterv (fn [v] (>= (v 1) n)) values))\n"
    "(defn note [seen kinds args]\n"
    "  (reduce-kv (fn [seen place kind]\n"
    "               (if (or (bit-test (places place) kind) (contains? seen [place kind]))\n"
    "                 seen\n"
    "                 (assoc seen [place kind] (pr-str args))))\n"
    "             seen\n"
    "             kinds))\n"
    "(defn told [seen] (mapv (fn [[at call]] (conj at call)) (sort-by key seen)))\n";

typedef struct Program {
    char text[PROGRAM];
    size_t len;
} Program;

static PTC_PRINTF(2, 3) void add(Program *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(p->text + p->len, PROGRAM - p->len, format, args);
    va_end(args);
    if (n < 0 || (size_t)n >= PROGRAM - p->len) {
        CHECK(!"the program fits");
        return;
    }
    p->len += (size_t)n;
}

/* The number of a kind. */
static int bit_of(unsigned kind)
{
    int bit = 0;
    while (kind >> bit > 1)
        bit++;
    return bit;
}

static void add_values(Program *p)
{
    add(p, "%s(def values [", types);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        add(p, "[%d %d %s]\n", bit_of(values[i].kind), values[i].most, values[i].text);
    add(p, "])\n");
}

/* Calls f with every combination of n values. */
static void add_calls(Program *p, const char *f, int n)
{
    add(p, "(told (let [seen {}] ");
    for (int i = 0; i < n; i++)
        add(p, "(reduce (fn [seen a%d]\n", i);
    add(p, "(let [r (try (%s", f);
    for (int i = 0; i < n; i++)
        add(p, " (a%d 2)", i);
    add(p, ") (catch Throwable _ refused))]\n  (if (identical? r refused) seen (note seen [");
    for (int i = 0; i < n; i++)
        add(p, "(a%d 0) ", i);
    add(p, "(kind r)] [");
    for (int i = 0; i < n; i++)
        add(p, "(a%d 2) ", i);
    add(p, "])))\n");
    for (int i = 0; i < n; i++)
        add(p, ") seen (fit %d))", n + PTC_SANITIZED);
    add(p, "))");
}

/* What the program that was begun gives: a vector, or what went wrong. */
static void run(Ptc *ptc, const Program *p, char out[TEXT])
{
    PtcOutcome *o = start(ptc, p->text, NULL, 0);
    tell(o, out);
    ptc_outcome_free(o);
}

/* -------------------------------------------------------------------------------- rows */

/* How programs reach the hidden builtins that say something, with one argument. */
static const struct {
    const char *name, *f;
} hidden[] = {
    {"nth", "(fn [x] (let [[a] x] a))"},
    {"nthrest", "(fn [x] (let [[& a] x] a))"},
    {"delay", "(fn [x] (delay x))"},
    {"lazy-seq", "(fn [x] (lazy-seq x))"},
    {"with-out-str", "(fn [x] (with-out-str x))"},
};

/* What programs write for a row. */
static void name_row(uint32_t row, char out[PTC_ROW_NAME])
{
    const PtcBuiltin *b = ptc_builtin_row(row);
    ptc_row_ref(row, out);
    if (ptc_row_shown(b))
        return;
    *out = 0;
    for (size_t i = 0; i < sizeof hidden / sizeof hidden[0]; i++)
        if (strcmp(hidden[i].name, b->name) == 0)
            snprintf(out, PTC_ROW_NAME, "%s", hidden[i].f);
    if (!*out)
        CHECK_STR(b->name, "a hidden row in the table above");
}

/* What a row says of an argument in a call with so many. */
static unsigned row_takes(const PtcBuiltin *b, int i, int argc)
{
    bool lone = argc == 1 && (b->flags & PTC_B_LONE);
    bool test = ptc_row_rule(b->flags) == PTC_RULE_KIND_TEST;
    return lone || test ? PTC_IS_ANY : ptc_row_takes_of(b->flags, (uint32_t)i, (uint32_t)argc);
}

static unsigned row_gives(const PtcBuiltin *b, int argc)
{
    return argc == 1 && (b->flags & PTC_B_LONE) ? PTC_IS_ANY : ptc_row_gives(b->flags);
}

/* Does it say something of a call with so many arguments? */
static bool row_says(const PtcBuiltin *b, int argc)
{
    bool says = row_gives(b, argc) != PTC_IS_ANY;
    for (int i = 0; i < argc; i++)
        says |= row_takes(b, i, argc) != PTC_IS_ANY;
    return says;
}

static bool row_declares(const PtcBuiltin *b)
{
    return b->fn && b->flags >> PTC_TAKES_AT;
}

/* What calls with so many arguments show beyond the kinds of their places, the last of which is the result. */
static void try_calls(Ptc *ptc, const char *f, int argc, const unsigned *places, char out[TEXT])
{
    static Program p;
    p.len = 0;
    add_values(&p);
    add(&p, "(def places [");
    for (int i = 0; i <= argc; i++)
        add(&p, "%u ", places[i]);
    add(&p, "])\n%s", helpers);
    add_calls(&p, f, argc);
    run(ptc, &p, out);
}

static void test_calls(Ptc *ptc, uint32_t row, int argc)
{
    const PtcBuiltin *b = ptc_builtin_row(row);
    unsigned places[MOST_ARGS + 1] = {[0] = 0};
    char f[PTC_ROW_NAME], got[TEXT];
    for (int i = 0; i < argc; i++)
        places[i] = row_takes(b, i, argc);
    places[argc] = row_gives(b, argc);
    name_row(row, f);
    try_calls(ptc, f, argc, places, got);
    if (check_count(strcmp(got, "[]") == 0))
        printf("%s, %d arguments: its row does not know [place kind call] %s\n", f, argc, got);
}

/* All that calls with so many arguments show. */
static void show_calls(Ptc *ptc, const char *f, int argc)
{
    static const unsigned nothing[MOST_ARGS + 1];
    char got[TEXT];
    try_calls(ptc, f, argc, nothing, got);
    printf("%s, %d arguments: [place kind call] %s\n", f, argc, got);
}

/* A predicate is true for exactly the kinds of its second argument. */
static void test_predicate(Ptc *ptc, uint32_t row)
{
    static Program p;
    char name[PTC_ROW_NAME], got[TEXT];
    name_row(row, name);
    p.len = 0;
    add_values(&p);
    add(&p, "(mapv last (remove (fn [v] (= (%s (v 2)) (bit-test %u (v 0)))) values))", name,
        ptc_row_takes(ptc_builtin_row(row)->flags, 1));
    run(ptc, &p, got);
    if (check_count(strcmp(got, "[]") == 0))
        printf("%s is not about kinds alone: %s\n", name, got);
}

/* What two values are that can be compared, as kinds.h says of PTC_RULE_COMPARE. */
static void test_comparison(Ptc *ptc, uint32_t row)
{
    static Program p;
    char name[PTC_ROW_NAME], got[TEXT];
    name_row(row, name);
    p.len = 0;
    add_values(&p);
    add(&p,
        "(defn sort-of [v] (if (bit-test %d (v 0)) :number (v 0)))\n"
        "(defn fine [a b] (or (nil? (a 2)) (nil? (b 2)) (and (= (sort-of a) (sort-of b)) "
        "(not (bit-test %d (a 0))))))\n"
        "(vec (for [a values b values :when (and (not (fine a b)) (try (%s (a 2) (b 2)) true "
        "(catch Throwable _ false)))] [(a 2) (b 2)]))",
        PTC_IS_NUMBER, PTC_IS_BOOL | PTC_IS_SET | PTC_IS_MAP, name);
    run(ptc, &p, got);
    if (check_count(strcmp(got, "[]") == 0))
        printf("%s compares: %s\n", name, got);
}

static void test_row(Ptc *ptc, uint32_t row)
{
    const PtcBuiltin *b = ptc_builtin_row(row);
    int most = b->max < 0 || b->max > MOST_ARGS ? MOST_ARGS : b->max;
    int least = ptc_row_shown(b) ? b->min : 1;
    for (int argc = least; argc <= (ptc_row_shown(b) ? most : 1); argc++)
        if (row_says(b, argc))
            test_calls(ptc, row, argc);
    if (ptc_row_rule(b->flags) == PTC_RULE_KIND_TEST)
        test_predicate(ptc, row);
    if (ptc_row_rule(b->flags) == PTC_RULE_COMPARE)
        test_comparison(ptc, row);
}

static void test_rows(Ptc *ptc)
{
    size_t count = 0;
    for (uint32_t i = 0; i < ptc_builtin_count(); i++)
        if (row_declares(ptc_builtin_row(i))) {
            test_row(ptc, i);
            count++;
        }
    CHECK(count > 400);
}

/* Values are of the kinds that the table above says. */
static void test_values(Ptc *ptc)
{
    static Program p;
    char got[TEXT];
    add_values(&p);
    add(&p, "(def places [])%s(vec (remove (fn [v] (= (kind (v 2)) (v 0))) values))", helpers);
    run(ptc, &p, got);
    CHECK_STR(got, "[]");
}

static Ptc *big_engine(void)
{
    PtcOptions options;
    PtcLimits limits = patient_limits();
    limits.memory_bytes = (int64_t)1 << 30;
    ptc_options_init(&options, sizeof options);
    options.limits = &limits;
    return ptc_new(&options);
}

int main(int argc, char **argv)
{
    Ptc *ptc = big_engine();
    for (int i = 1; i < argc; i++)
        for (int n = 0; n <= MOST_ARGS; n++)
            show_calls(ptc, argv[i], n);
    if (argc == 1) {
        CHECK_RUN(test_values(ptc));
        CHECK_RUN(test_rows(ptc));
    }
    end_engine(ptc);
    return check_done("row_kinds");
}
