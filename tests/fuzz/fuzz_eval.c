/* SPDX-License-Identifier: MIT
 * fuzz_eval.c - any text as a program, under small limits.  Time is a count of looks at the clock, so a run repeats
 * exactly.  Every program is run plainly and, by a hash of its text, once more: collecting at every safepoint, with an
 * allocation that fails, or twice in a session.  Some tools are there, one of which answers from another thread, and
 * servers (unit/remote_fake.h), which do so too.  The second outcome must agree with the first; what is reported must
 * be well-formed; nothing may leak.  A mutator of its own splices expressions, made from a grammar and the names of the
 * builtins. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "lisp/vm/builtin.h"
#include "unit/even_engine.h"
#include "unit/remote_fake.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);

enum { PROGRAM_BYTES = 4096, RESULT_BYTES = 16384, PRINT_BYTES = 4096, ENGINE_RUNS = 500 };

/* ------------------------------------------------------------------------------- engines */

typedef struct {
    atomic_int_fast64_t looks; /* of all threads of a run */
    int64_t per_ms;
} Clock;

/* An engine for many inputs. */
typedef struct {
    Ptc *ptc;
    Clock clock;
    PtcLimits limits; /* of the next run */
    int runs;
} Engine;

static int64_t clock_ms(void *user)
{
    Clock *c = user;
    return (atomic_fetch_add(&c->looks, 1) + 1) / c->per_ms;
}

/* One for all engines. */
static PtcRemote *all_servers(void)
{
    static Fake fake;
    if (fake.version == 0) {
        fake_start(&fake);
        fake.hasty = true;
        fake.slow_ms = 0;
    }
    return &fake.base;
}

static void open_engine(Engine *e, bool stress)
{
    PtcOptions options;
    PtcLimits limits;
    ptc_options_init(&options, sizeof options);
    ptc_limits_init(&limits, sizeof limits);
    limits.timeout_ms = 50;
    limits.memory_bytes = 1 << 20;
    limits.loop_limit = 2000;
    limits.max_depth = 200;
    limits.program_bytes = PROGRAM_BYTES;
    limits.context_bytes = limits.session_bytes = 1 << 20;
    limits.print_bytes = PRINT_BYTES;
    limits.result_bytes = RESULT_BYTES;
    limits.max_int_bits = 1 << 14;
    limits.max_workers = 4;
    options.limits = &limits;
    options.gc_stress = stress;
    options.clock_ms = clock_ms;
    options.clock_user = &e->clock;
    memset(e, 0, sizeof *e);
    e->clock.per_ms = stress ? 20 : 1;
    ptc_limits_init(&e->limits, sizeof e->limits);
    e->ptc = ptc_new(&options);
    assert(e->ptc);
    ptc_engine_set_remote(e->ptc, all_servers(), NULL);
}

/* Everything the engine's ledger gave must be back, but for the engine itself. */
static void close_engine(Engine *e)
{
    bool even = free_even_engine(e->ptc);
    assert(even);
    (void)even;
    e->ptc = NULL;
}

static Engine *engine(bool stress)
{
    static Engine engines[2];
    Engine *e = &engines[stress];
    if (e->ptc && ++e->runs >= ENGINE_RUNS)
        close_engine(e);
    if (!e->ptc)
        open_engine(e, stress);
    return e;
}

/* --------------------------------------------------------------------------------- tools */

static PtcToolAnswer echo(PtcToolCall *call, void *user)
{
    (void)user;
    ptc_call_return(call, ptc_call_args(call));
    return PTC_TOOL_ANSWERED;
}

static PtcToolAnswer fails(PtcToolCall *call, void *user)
{
    (void)user;
    ptc_call_fail(call, "no luck today", 13);
    return PTC_TOOL_ANSWERED;
}

static PtcToolAnswer value(PtcToolCall *call, void *user)
{
    static const char json[] = "{\"rows\":[{\"id\":1,\"t\":\"\\u00e9\"},{\"id\":2.5}],\"n\":[]}";
    (void)user;
    ptc_call_return_json(call, json, sizeof json - 1);
    return PTC_TOOL_ANSWERED;
}

static void *answer_later(void *arg)
{
    ptc_call_return_json(arg, "[1,{\"late\":true}]", 17);
    return NULL;
}

static PtcToolAnswer later(PtcToolCall *call, void *user)
{
    pthread_t thread;
    (void)user;
    if (pthread_create(&thread, NULL, answer_later, call) == 0)
        pthread_detach(thread);
    else
        answer_later(call);
    return PTC_TOOL_PENDING;
}

static void add_tool(PtcTools *tools, const char *name, PtcToolFn function, const char *how)
{
    PtcToolDef def;
    ptc_tool_def_init(&def, sizeof def);
    def.name = name;
    def.name_len = strlen(name);
    def.function = function;
    def.cache = strcmp(how, "cache") == 0;
    def.on_error_value = strcmp(how, "value") == 0;
    def.pending = strcmp(how, "pending") == 0;
    def.serial = strcmp(how, "serial") == 0;
    PtcStatus status = ptc_tools_add(tools, &def, NULL, 0);
    assert(status == PTC_OK);
    (void)status;
}

/* One set for all engines. */
static PtcTools *all_tools(void)
{
    static PtcTools *tools;
    if (tools)
        return tools;
    tools = ptc_tools_new();
    add_tool(tools, "echo", echo, "");
    add_tool(tools, "serial", echo, "serial");
    add_tool(tools, "cached", echo, "cache");
    add_tool(tools, "fails", fails, "");
    add_tool(tools, "soft", fails, "value");
    add_tool(tools, "value", value, "");
    add_tool(tools, "later", later, "pending");
    return tools;
}

/* ---------------------------------------------------------------------------------- runs */

/* How a run ended, for comparing. */
typedef struct {
    char *text; /* result, or message */
    size_t len;
    char kind[40]; /* of the error, empty when there was none */
    uint32_t line, column;
    size_t prints;
    bool unsteady; /* differs from run to run by design */
} Answer;

static void check_text(const char *text, size_t len, size_t most)
{
    assert(text && len <= most && ptc_utf8_valid(text, len));
}

static void check_errors(const PtcOutcome *o)
{
    size_t n = ptc_outcome_error_count(o);
    assert(ptc_outcome_ok(o) ? n == 0 : n >= 1 && n <= 10);
    for (size_t i = 0; i < n; i++) {
        PtcError e = {.size = sizeof e};
        assert(ptc_outcome_error(o, i, &e) && e.kind[0] && e.reason[0] && e.phase[0]);
        check_text(e.message, e.message_len, 300);
        check_text(e.hint, e.hint_len, 203);
        check_text(e.form, e.form_len, 83);
        assert(e.line <= PROGRAM_BYTES && e.column <= PROGRAM_BYTES + 1);
    }
    for (size_t i = 0; i < ptc_outcome_print_count(o); i++) {
        size_t len;
        const char *line = ptc_outcome_print(o, i, &len);
        check_text(line, len, PRINT_BYTES);
    }
}

/* JSON that we write, we can read, unless it is nested deeper than JSON may be. */
static void check_json(Ptc *ptc, PtcOutcome *o)
{
    size_t len = 0;
    const char *json = ptc_outcome_json(o, &len);
    if (!json)
        return;
    check_text(json, len, RESULT_BYTES);
    PtcData *d = ptc_data_new(ptc, 16 << 20);
    char error[200] = "";
    assert(ptc_make_json(d, json, len, error, sizeof error) || strstr(error, "nest") ||
           strstr(error, "too long"));
    ptc_data_free(d);
}

static void keep(Answer *a, const char *text, size_t len)
{
    a->text = malloc(len + 1);
    a->len = len;
    memcpy(a->text, text, len + 1);
}

static Answer answer_of(Ptc *ptc, PtcOutcome *o)
{
    Answer a = {.prints = ptc_outcome_print_count(o)};
    check_errors(o);
    if (ptc_outcome_ok(o)) {
        size_t len;
        bool cut;
        const char *text = ptc_outcome_text(o, &len, &cut);
        check_text(text, len, RESULT_BYTES);
        check_json(ptc, o);
        keep(&a, text, len);
        return a;
    }
    PtcError e = {.size = sizeof e};
    ptc_outcome_error(o, 0, &e);
    snprintf(a.kind, sizeof a.kind, "%s", e.kind);
    a.line = e.line;
    a.column = e.column;
    keep(&a, e.message, e.message_len);
    return a;
}

/* Records are well-formed, the journal and the summaries whole. */
static void check_calls(PtcOutcome *o)
{
    PtcToolRecord r = {.size = sizeof r};
    for (size_t i = 0; i < ptc_outcome_tool_count(o, NULL); i++) {
        bool got = ptc_outcome_tool(o, i, &r);
        assert(got && r.name_len > 0 && r.duration_us >= 0);
        check_text(r.arguments, r.arguments_len, 1100);
        check_text(r.result, r.result_len, 1100);
        (void)got;
    }
    PtcValue maps[] = {ptc_outcome_journal(o), ptc_outcome_summaries(o)};
    for (int i = 0; i < 2; i++)
        for (size_t k = 0; maps[i] && k < ptc_value_count(maps[i]); k++) {
            PtcType type = ptc_value_type(ptc_value_key_at(maps[i], k));
            assert(type == PTC_TYPE_STRING);
            (void)type;
        }
}

/* One run; text NULL in the answer when there was no memory for an outcome. */
static Answer run(Engine *e, const char *program, size_t len, PtcSession *session, PtcValue context)
{
    PtcRun r;
    PtcOutcome *o = NULL;
    ptc_run_init(&r, sizeof r);
    r.program = program;
    r.program_len = len;
    r.session = session;
    r.context = context;
    r.limits = &e->limits;
    r.tools = all_tools();
    PtcData *data = len % 2 ? ptc_data_new(e->ptc, PTC_UNSET) : NULL;
    r.journal = data ? ptc_make_json(data, "{\"a\":[1],\"1\":2}", 17, NULL, 0) : 0;
    atomic_store(&e->clock.looks, 0);
    PtcStatus status = ptc_eval(e->ptc, &r, &o);
    assert(status == PTC_OK || (status == PTC_NO_MEMORY && e->ptc->fail_allocation));
    Answer a = {0};
    if (o) {
        a = answer_of(e->ptc, o);
        check_calls(o);
    }
    ptc_outcome_free(o);
    ptc_data_free(data);
    return a;
}

/* Where such a limit trips differs from run to run; some programs differ by design. */
static bool is_loose(const Answer *a)
{
    return !a->text || a->unsteady || strcmp(a->kind, "timeout") == 0 ||
           strcmp(a->kind, "deadline") == 0 || strcmp(a->kind, "memory_exceeded") == 0;
}

/* With a failing allocation a message may say less than it would. */
static void check_same(const Answer *a, const Answer *b, bool failing)
{
    if (is_loose(a) || is_loose(b))
        return;
    bool same = strcmp(a->kind, b->kind) == 0 && a->line == b->line && a->column == b->column &&
                a->prints == b->prints;
    if (!failing || !a->kind[0])
        same = same && a->len == b->len && memcmp(a->text, b->text, a->len) == 0;
    if (!same)
        fprintf(stderr, "first:  %s %u:%u %s\nsecond: %s %u:%u %s\n", a->kind, a->line, a->column,
                a->text, b->kind, b->line, b->column, b->text);
    assert(same);
}

static const char context_json[] =
    "{\"rows\":[{\"id\":1,\"first_name\":\"Ann\",\"n\":2.5},{\"id\":2,\"first_name\":\"B\xc3\xa9\","
    "\"n\":null}],\"x\":7,\"s\":\"a,b\",\"m\":{\"k-1\":true},\"big\":99999999999999999999}";

static PtcValue new_context(Engine *e, PtcData **data)
{
    *data = ptc_data_new(e->ptc, PTC_UNSET);
    return ptc_make_json(*data, context_json, sizeof context_json - 1, NULL, 0);
}

/* Collecting at every safepoint changes nothing. */
static void again_stressed(const char *program, size_t len, PtcValue given, const Answer *first)
{
    if (strcmp(first->kind, "timeout") == 0 || strcmp(first->kind, "memory_exceeded") == 0 ||
        strcmp(first->kind, "loop_limit_exceeded") == 0)
        return; /* up to a limit, with a collection at every step: that would take far too long */
    Engine *e = engine(true);
    PtcData *data = NULL;
    PtcValue context = given ? new_context(e, &data) : 0;
    Answer a = run(e, program, len, NULL, context);
    check_same(first, &a, false);
    free(a.text);
    ptc_data_free(data);
}

/* An allocation that fails: the same answer, or want of memory. */
static void again_failing(Engine *e, const char *program, size_t len, PtcValue context,
                          uint32_t nth, const Answer *first)
{
    e->ptc->fail_allocation = nth;
    Answer a = run(e, program, len, NULL, context);
    e->ptc->fail_allocation = 0;
    check_same(first, &a, true);
    free(a.text);
    Answer sum = run(e, "(+ 1 2)", 7, NULL, 0);
    assert(sum.text && strcmp(sum.text, "3") == 0);
    free(sum.text);
}

/* Twice in a session: a failed run leaves nothing behind. */
static void again_in_session(Engine *e, const char *program, size_t len, PtcValue context)
{
    PtcSession *s = ptc_session_new(e->ptc);
    Answer defs =
        run(e, "(def a [1 2]) (defn f [x & r] (map (fn [y] [x y a]) r)) (def m {:k f})", 70, s, 0);
    size_t count = ptc_session_count(s);
    assert(count == 3 && !defs.kind[0]);
    free(defs.text);
    for (int i = 0; i < 2; i++) {
        Answer a = run(e, program, len, s, context);
        assert(!a.kind[0] || ptc_session_count(s) == count);
        count = ptc_session_count(s);
        free(a.text);
    }
    ptc_session_free(s);
}

static uint32_t hash_of(const uint8_t *data, size_t size)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < size; i++)
        h = (h ^ data[i]) * 16777619u;
    return h ^ h >> 15;
}

/* Does it ask for the time of day, or what is left of its budget?  Its answers then differ from run to run. */
static bool is_unsteady(const char *program, size_t len)
{
    static const char *const words[] = {"Millis", "now", "nanoTime", "budget", "Date"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        for (size_t n = strlen(words[i]), at = 0; at + n <= len; at++)
            if (memcmp(program + at, words[i], n) == 0)
                return true;
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint32_t hash = hash_of(data, size);
    char *program = malloc(size ? size : 1); /* of exact size, so that reads beyond it are seen */
    if (size)
        memcpy(program, data, size);
    Engine *e = engine(false);
    /* With little memory, much is tried twice; where it runs out varies. */
    e->limits.memory_bytes = hash >> 16 & 1 ? PTC_UNSET : 70000 + (int64_t)(hash >> 17) % 60000;
    PtcData *context_data = NULL;
    PtcValue context = hash & 8 ? new_context(e, &context_data) : 0;
    Answer first = run(e, program, size, NULL, context);
    if (is_unsteady(program, size))
        first.unsteady = true;
    switch (hash & 7) {
    case 0:
    case 1:
    case 2: again_stressed(program, size, context, &first); break;
    case 3:
    case 4: again_failing(e, program, size, context, hash >> 8 & 31, &first); break;
    case 5: again_in_session(e, program, size, context); break;
    default: break;
    }
    e->limits.memory_bytes = PTC_UNSET;
    free(first.text);
    ptc_data_free(context_data);
    free(program);
    return 0;
}

/* ------------------------------------------------------------------------------- mutator */

/* Text being made; what does not fit is left out. */
typedef struct {
    char *text;
    size_t len, max;
    uint64_t chance;
} Maker;

static uint32_t roll(Maker *m, uint32_t n)
{
    m->chance ^= m->chance << 13;
    m->chance ^= m->chance >> 7;
    m->chance ^= m->chance << 17;
    return (uint32_t)(m->chance >> 33) % n;
}

static void put(Maker *m, const char *text, size_t len)
{
    if (len > m->max - m->len)
        return;
    memcpy(m->text + m->len, text, len);
    m->len += len;
}

static void puts_to(Maker *m, const char *text)
{
    put(m, text, strlen(text));
}

static const char *const atoms[] = {
    "nil",
    "true",
    "0",
    "1",
    "2",
    "-1",
    "3",
    "7",
    "100",
    "1.5",
    "-0.0",
    "1e308",
    "4611686018427387904",
    "9223372036854775807",
    "-9223372036854775808",
    "123456789012345678901234567890",
    "\"\"",
    "\"a\"",
    "\"a,b c\"",
    "\"\xc3\xa9\xe2\x82\xac\"",
    ":a",
    ":k-1",
    ":k_1",
    "[]",
    "{}",
    "#{}",
    "()",
    "[1 2 3]",
    "[3 1 2]",
    "{:a 1 :b 2}",
    "#{1 2}",
    "'(1 2)",
    "'sym",
    "(range 5)",
    "(range 40)",
    "x",
    "y",
    "acc",
    "inc",
    "f",
    "data/rows",
    "data/x",
    "data/s",
    "data/m",
    "(vec (range 40))",
    "(zipmap (range 20) (range 20))",
    "Math/PI",
    "(cons 1 [2])",
    "(take 3 (cycle [1 2]))",
    "(str \"ab\" x)",
    "##Inf",
    "##NaN",
    "\\a",
    "#\"a+\"",
    "%",
    "(lazy)",
    "(lazy-seq nil)",
    "(lazy-seq [1 2 3])",
    "(lazy-cat [1] x [2])",
    "((fn nat [n] (lazy-seq (cons n (nat (inc n))))) 0)",
    "(take 4 ((fn nat [n] (lazy-seq (cons n (nat (inc n))))) 0))",
    "(map inc ((fn nat [n] (lazy-seq (cons n (nat (inc n))))) 0))",
    "(iterate inc 0)",
    "#(+ % 1)",
    "identity",
    "(fn [a b] (compare a b))",
};

/* $ stands for an expression. */
static const char *const shapes[] = {
    "(let [x $ y $] $)",
    "(lazy-seq $)",
    "(lazy-seq (cons $ $))",
    "(lazy-cat $ $)",
    "(do (def x (lazy-seq (cons 1 $))) $)",
    "(do (def x (lazy-cat [1 2] (map + x (rest x)))) (take 5 x) $)",
    "(loop [[x & y] (lazy-seq $) acc 0] (if (and y (< acc 5)) (recur y (inc acc)) $))",
    "(let [s (lazy-seq $)] [(realized? s) (try (first s) (catch Exception e e)) (rest s) s])",
    "(pmap (fn [x] (lazy-seq $)) (lazy-seq $))",
    "(concat $ (lazy-seq $))",
    "(mapcat (fn [x] (lazy-seq $)) $)",
    "(let [[x & y] $] $)",
    "(let [{:keys [x y] :or {y $} :as m} $] $)",
    "(fn [x] $)",
    "(fn [x & y] $)",
    "#(vector % $)",
    "(if $ $ $)",
    "(when $ $)",
    "(cond $ $ :else $)",
    "(case $ 1 $ (2 3) $ $)",
    "(loop [x 0 acc $] (if (< x 5) (recur (inc x) $) acc))",
    "(do $ $)",
    "(let [x (atom $)] (swap! x (fn [y] $)) (reset! x [x $]) x)",
    "(do (def g (atom $)) (swap! g conj g) [@g g (= g $) {g g}])",
    "(let [x (delay $) y (volatile! x)] (vswap! y vector $) [@x y])",
    "(pmap (fn [y] (let [x (atom y)] (swap! x vector x) (deref x))) $)",
    "(let [x (atom $)] (pmap (fn [y] (reset! x y) $) $))",
    "(do (defrecord R [x y]) (let [m (->R $ $)] [(assoc m :x $) (= m $) (dissoc m :x) (into m "
    "$)]))",
    "(do (defrecord R [x y]) (map->R $))",
    "(do (defprotocol P (g [x] [x y])) (extend-type $ P (g [x] $)) (g $))",
    "(do (defprotocol P (g [x] [x y])) (defrecord R [m] P (g [x] [m $]) (g [x y] (if y m (recur "
    "$)))) [(g (->R $)) (g (->R $) $)])",
    "(do (defprotocol P (g [x])) (extend-protocol P Long (g [x] $) nil (g [x] $) Object (g [x] x)) "
    "(map g $))",
    "(do (deftype T [x y]) (let [m (->T $ $)] [(.-x m) m (= m m) {m $}]))",
    "(do (defprotocol P (g [x])) (let [y $ m (reify P (g [x] y))] [(g m) m]))",
    "(do (defmulti g $) (defmethod g $ [x] $) (defmethod g :default [x] $) [(g $) (methods g)])",
    "(do (derive ::a ::b) (derive ::b ::c) (defmulti g identity) (defmethod g ::c [x] $) [(g ::a) "
    "(isa? $ $) (ancestors $)])",
    "(for [x $ y $ :when $] $)",
    "(take 3 (for [x $ y (range) :while $] $))",
    "(let [y (for [x (range) :let [m $] :when $] [x m])] [(nth y 3) (rest y) $])",
    "(take 4 (tree-seq (fn [x] $) (fn [x] $) $))",
    "(doseq [x $] $)",
    "(map (fn [x] $) $)",
    "(reduce (fn [acc x] $) $ $)",
    "(filter (fn [x] $) $)",
    "(-> $ (conj $) $)",
    "(->> $ (map f) $)",
    "(def x $)",
    "(defn f [x] $)",
    "(defn f ([x] $) ([x y] $))",
    "(f $)",
    "(x $)",
    "($ $)",
    "(apply $ $ $)",
    "(and $ $)",
    "(or $ $)",
    "[$ $]",
    "{$ $}",
    "#{$ $}",
    "(return $)",
    "(fail $)",
    "(println $ $)",
    "(try $ (catch e $))",
    "(cond-> $ $ (conj $))",
    "(some-> $ :a)",
    "(sort-by (fn [x] $) $)",
    "(update $ $ (fn [x] $))",
    "(map f $ $)",
    "(if-let [x $] $ $)",
    "(dotimes [x 3] $)",
    "(= $ $)",
    "(get-in $ [$ $] $)",
    "(str $ $)",
    "(into $ $)",
    "(as-> $ x $)",
    "(sort (fn [x y] $) $)",
    "(loop [x 0 acc $] (if (< x 500) (recur (inc x) $) acc))",
    "(reduce (fn [acc x] $) $ (range 300))",
    "(mapv (fn [& y] $) (range 300))",
    "(map (fn ([x y] $) ([x] $)) (range 300))",
    "(reduce (fn ([x] $) ([acc x] [$ acc])) (range 300))",
    "(reduce (fn [acc x] (assoc acc $ $)) {} (range 100))",
    "(pmap (fn [x] $) $)",
    "(pmap (fn [x y] $) $ $)",
    "(pmap (fn [x] $) (range 30))",
    "(pcalls (fn [] $) (fn [] $))",
    "(task $ $)",
    "(task-reset $)",
    "(step-done $ \"done\")",
    "(tool/echo {:a $ :b $})",
    "(tool/echo $)",
    "(map tool/echo $)",
    "(pmap tool/later $)",
    "(tool/later {:a $})",
    "(tool/serial {:a $})",
    "(tool/cached {:a $})",
    "(tool/fails {:a $})",
    "(tool/soft {:a $})",
    "(tool/value)",
    "(github/get_pr {:number $})",
    "(github/get_pr {:number 1 :per-page $})",
    "(github/create_issue {:a $ :b $})",
    "(github/create_issue :a $)",
    "(github/status)",
    "(github/limited {:a $})",
    "(github/picky)",
    "(map github/create_issue $)",
    "(pmap github/slow $)",
    "(pmap (fn [x] (files/read {:path x})) $)",
    "(down/ping)",
    "(tool/call {:server \"github\" :tool $ :args $})",
    "(tool/call {:server $ :tool \"get_pr\"})",
    "(tool/resource {:server $ :uri $})",
    "(tool/blob $)",
    "(doc 'github/get_pr)",
    "(apropos \"pull\" $)",
    "(dir 'github $)",
    "(require '[github :as gh])",
    "(gh/create_issue {:a $})",
    "(with-out-str $ $)",
    "(sort-by (fn [x] (pmap (fn [y] $) $)) $)",
    "((memoize (fn [x] $)) $)",
};

#define COUNT(a) ((uint32_t)(sizeof(a) / sizeof(a)[0]))

static void put_expression(Maker *m, int depth);

static void put_shape(Maker *m, int depth)
{
    for (const char *p = shapes[roll(m, COUNT(shapes))]; *p; p++) {
        if (*p == '$')
            put_expression(m, depth - 1);
        else
            put(m, p, 1);
    }
}

/* A call of any builtin with about as many arguments as it takes. */
static void put_builtin_call(Maker *m, int depth)
{
    const PtcBuiltin *row = ptc_builtin_row(roll(m, (uint32_t)ptc_builtin_count()));
    uint32_t most = row->max < 0 ? (uint32_t)row->min + 3 : (uint32_t)row->max;
    uint32_t argc = (uint32_t)row->min + roll(m, most - (uint32_t)row->min + 1);
    if (row->flags & PTC_B_HIDDEN)
        return puts_to(m, "nil");
    puts_to(m, "(");
    if (row->ns[0] >= 'A' && row->ns[0] <= 'Z' && row->name[0] != '.') {
        puts_to(m, row->ns);
        puts_to(m, "/");
    }
    puts_to(m, row->name);
    for (uint32_t i = 0; i < argc; i++) {
        puts_to(m, " ");
        put_expression(m, depth - 1);
    }
    puts_to(m, ")");
}

static void put_expression(Maker *m, int depth)
{
    uint32_t what = roll(m, 10);
    if (depth <= 0 || what < 3)
        puts_to(m, atoms[roll(m, COUNT(atoms))]);
    else if (what < 7)
        put_builtin_call(m, depth);
    else
        put_shape(m, depth);
}

/* End of the form that begins at `at`: a balanced bracket, a string or a run of other characters. */
static size_t form_end(const char *s, size_t len, size_t at)
{
    size_t depth = 0;
    for (size_t i = at; i < len; i++) {
        if (s[i] == '"') {
            for (i++; i < len && s[i] != '"'; i++)
                i += s[i] == '\\';
        } else if (strchr("([{", s[i]) && s[i]) {
            depth++;
        } else if (strchr(")]}", s[i]) && s[i]) {
            depth -= depth > 0;
        } else if (depth == 0 && i + 1 < len && !strchr(" \n,()[]{}\"", s[i + 1])) {
            continue;
        }
        if (depth == 0)
            return i + 1;
    }
    return len;
}

/* A form of the program, by chance. */
static void pick_form(Maker *m, const char *s, size_t len, size_t *from, size_t *to)
{
    *from = len ? roll(m, (uint32_t)len) : 0;
    for (int tries = 0; tries < 40 && *from < len && strchr(" \n,)]}", s[*from]) && s[*from];
         tries++)
        *from = roll(m, (uint32_t)len);
    if (roll(m, 2)) /* whole words and lists rather than their ends */
        while (*from > 0 && !strchr(" \n,([{", s[*from - 1]) && !strchr("([{", s[*from]))
            --*from;
    *to = form_end(s, len, *from);
}

/* Replaces, doubles, wraps, drops or moves one form. */
static void splice(Maker *m, const char *s, size_t len)
{
    size_t from, to, other, other_end;
    pick_form(m, s, len, &from, &to);
    pick_form(m, s, len, &other, &other_end);
    put(m, s, from);
    switch (roll(m, 7)) {
    case 0:
        puts_to(m, " ");
        put_expression(m, 2);
        puts_to(m, " "); /* fall through */
    case 1: put(m, s + from, to - from); break;
    case 2: break;
    case 3: put(m, s + other, other_end - other); break;
    case 4:
        puts_to(m, "(");
        puts_to(m, ptc_builtin_row(roll(m, (uint32_t)ptc_builtin_count()))->name);
        puts_to(m, " ");
        put(m, s + from, to - from);
        puts_to(m, " ");
        put_expression(m, 1);
        puts_to(m, ")");
        break;
    default: put_expression(m, 3); break;
    }
    put(m, s + to, len - to);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
    static char made[PROGRAM_BYTES + 1];
    Maker m = {made, 0, max < PROGRAM_BYTES ? max : PROGRAM_BYTES, (uint64_t)seed * 2 + 1};
    uint32_t what = roll(&m, 10);
    if (what < 3)
        return LLVMFuzzerMutate(data, size, max);
    if (what == 3)
        put_expression(&m, 5);
    else
        splice(&m, (const char *)data, size < PROGRAM_BYTES ? size : PROGRAM_BYTES);
    memcpy(data, made, m.len);
    return m.len;
}
