/* SPDX-License-Identifier: MIT
 * Outlines of values: what is made of values by joining, narrowing and adding admits all of them still, within bounds;
 * and signatures as sketches, of which outlines are made. */
#include "lisp/check/origin.h"
#include "tool/sig/sig_sketch.h"
#include "value/coll/map.h"
#include "value/coll/typed.h"
#include "value/coll/vec.h"

#include "json_help.h"

static PtcArena arena;
static PtcOutlines os;
static uint64_t chance = 1;

static void start(void)
{
    ptc_arena_deinit(&arena);
    ptc_arena_init(&arena, &h.mem);
    os = (PtcOutlines){.arena = &arena};
}

static PtcText text_of(const char *s)
{
    return (PtcText){s, strlen(s)};
}

static const PtcOutline *of_value(PtcValue v, unsigned flags)
{
    PtcValueWalk walk = {.os = &os, .heap = &h.heap, .flags = flags};
    return ptc_outline_of_value(&walk, v);
}

static const PtcOutline *of(const char *json)
{
    return of_value(parse(json), 0);
}

static const PtcOutline *declared(const char *sketch)
{
    const PtcSketch *s = NULL;
    CHECK(ptc_sketch_read(&arena, text_of(sketch), &s));
    return ptc_outline_of_sketch(&os, s, false);
}

/* -------------------------------------------------------------------------------- admitting */

static unsigned kind_of(PtcValue v)
{
    if (v == PTC_NIL)
        return PTC_IS_NIL;
    if (ptc_is_bool(v))
        return PTC_IS_BOOL;
    if (ptc_is_int(v))
        return PTC_IS_INT;
    if (ptc_is_float(v))
        return PTC_IS_FLOAT;
    if (ptc_is_string(v))
        return PTC_IS_STRING;
    return ptc_is_map(v) ? PTC_IS_MAP : PTC_IS_LIST;
}

static bool admits(const PtcOutline *o, PtcValue v);

static bool admits_list(const PtcOutline *o, PtcValue v)
{
    size_t n = ptc_seq_count(v);
    bool tuple = ptc_outline_is_tuple(o), ok = n >= o->least && (!tuple || n == o->count);
    for (size_t i = 0; ok && i < n; i++)
        ok = (!o->item || admits(o->item, ptc_seq_nth(v, i))) &&
             (!tuple || admits(o->fields[i].of, ptc_seq_nth(v, i)));
    return ok;
}

static bool admits_map(const PtcOutline *o, PtcValue v)
{
    PtcValue key, value;
    size_t found = 0, needed = 0;
    for (size_t i = 0; i < o->count; i++)
        needed += !o->fields[i].optional;
    for (size_t pos = 0; ptc_map_next(v, &pos, &key, &value);) {
        const PtcOutlineField *f =
            ptc_outline_field(o, (PtcText){ptc_str_bytes(key), ptc_str_len(key)});
        if (f         ? !admits(f->of, value)
            : o->rest ? !admits(o->rest, value)
                      : !(o->flags & PTC_OUTLINE_OPEN))
            return false;
        found += f && !f->optional;
    }
    return found == needed && ptc_obj(v)->count >= o->least;
}

/* May a value of this outline be v? */
static bool admits(const PtcOutline *o, PtcValue v)
{
    unsigned kind = kind_of(v);
    if (!(o->kinds & kind))
        return false;
    if (o->literal != PTC_NONE && o->kinds == kind && kind & (PTC_IS_BOOL | PTC_IS_INT))
        return o->literal == v;
    if (kind == PTC_IS_LIST)
        return admits_list(o, v);
    return kind != PTC_IS_MAP || admits_map(o, v);
}

/* ------------------------------------------------------------------------------ some values */

static uint64_t roll(uint64_t n)
{
    return check_random(&chance) % n;
}

static void add_json(PtcBuf *buf, int depth);

static void add_map(PtcBuf *buf, int depth)
{
    static const char *const names[] = {"a", "b_c", "d", "e"};
    bool first = true;
    ptc_buf_add_char(buf, '{');
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (roll(2)) {
            ptc_buf_addf(buf, "%s\"%s\":", first ? "" : ",", names[i]);
            add_json(buf, depth - 1);
            first = false;
        }
    ptc_buf_add_char(buf, '}');
}

static void add_json(PtcBuf *buf, int depth)
{
    static const char *const scalars[] = {"null", "true", "false", "1",
                                          "2",    "1.5",  "\"x\"", "\"\""};
    uint64_t n = depth > 0 ? roll(3) : 0;
    if (n == 0) {
        ptc_buf_add_cstr(buf, scalars[roll(sizeof scalars / sizeof *scalars)]);
    } else if (n == 1) {
        add_map(buf, depth);
    } else {
        ptc_buf_add_char(buf, '[');
        for (uint64_t i = roll(4), k = 0; k < i; k++) {
            ptc_buf_add_cstr(buf, k ? "," : "");
            add_json(buf, depth - 1);
        }
        ptc_buf_add_char(buf, ']');
    }
}

static PtcValue some_value(int depth)
{
    PtcBuf buf;
    ptc_buf_init(&buf, &h.mem, SIZE_MAX / 2);
    add_json(&buf, depth);
    PtcValue v = parse(ptc_buf_text(&buf));
    ptc_buf_deinit(&buf);
    return v;
}

/* ------------------------------------------------------------------------------------ tests */

enum { VALUES = 6, ROUNDS = 3000 };

/* Joined in any order, as what is known of all of them. */
static void check_joined(const PtcValue *values, const PtcOutline *all)
{
    for (int i = 0; i < VALUES; i++) {
        unsigned kind = kind_of(values[i]);
        CHECK(admits(all, values[i]));
        CHECK(admits(ptc_outline_sure(&os, all), values[i]));
        CHECK(admits(ptc_outline_only(&os, all, kind), values[i]));
        CHECK(admits(ptc_outline_only(&os, all, kind | PTC_IS_NIL), values[i]));
        if (kind == PTC_IS_LIST && ptc_seq_count(values[i]))
            CHECK(admits(ptc_outline_item(&os, ptc_outline_only(&os, all, PTC_IS_LIST)),
                         ptc_seq_nth(values[i], 0)));
    }
}

static void test_joins_admit_both(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        PtcValue values[VALUES];
        const PtcOutline *all = &ptc_outline_never;
        start();
        for (int i = 0; i < VALUES; i++) {
            values[i] = some_value(3);
            const PtcOutline *o = of_value(values[i], roll(2) ? PTC_OUTLINE_GIVEN : 0);
            CHECK(admits(o, values[i]));
            all = roll(2) ? ptc_outline_join(&os, all, o) : ptc_outline_join(&os, o, all);
        }
        CHECK(!os.out);
        check_joined(values, all);
    }
}

static void test_join(void)
{
    start();
    const PtcOutline *one = of("{\"a\":1,\"b\":\"x\"}"), *other = of("{\"a\":1.5}");
    const PtcOutline *both = ptc_outline_join(&os, one, other);
    CHECK(both->kinds == PTC_IS_MAP && both->count == 2 && both->least == 1);
    CHECK(!ptc_outline_field(both, text_of("a"))->optional);
    CHECK(ptc_outline_field(both, text_of("a"))->of->kinds == (PTC_IS_INT | PTC_IS_FLOAT));
    CHECK(ptc_outline_field(both, text_of("b"))->optional);
    CHECK(ptc_outline_join(&os, one, one) == one);
    CHECK(ptc_outline_join(&os, one, &ptc_outline_never) == one);
    CHECK(ptc_outline_join(&os, one, &ptc_outline_any) == &ptc_outline_any);
    CHECK(ptc_outline_join(&os, of("1"), of("2"))->literal == PTC_NONE);
    CHECK(ptc_outline_join(&os, of("[1,2]"), &ptc_outline_nil)->least == 0);
    const PtcOutline *four = of("1");
    const char *const sorts[] = {"true", "\"x\"", "[1]", "{}"};
    for (size_t i = 0; i < 4; i++)
        four = ptc_outline_join(&os, four, of(sorts[i]));
    CHECK(four == &ptc_outline_any); /* more sorts than are told apart */
}

static void test_tuples(void)
{
    start();
    const PtcOutline *t = of("[1,\"x\"]");
    CHECK(ptc_outline_is_tuple(t) && t->count == 2);
    CHECK(ptc_outline_element(&os, t, 1)->kinds == PTC_IS_STRING);
    CHECK(ptc_outline_element(&os, t, 2) == &ptc_outline_nil);
    CHECK(ptc_outline_item(&os, t)->kinds == (PTC_IS_INT | PTC_IS_STRING));
    const PtcOutline *list = ptc_outline_join(&os, t, of("[1,2,3]"));
    CHECK(!ptc_outline_is_tuple(list) && list->least == PTC_ENOUGH);
    const PtcOutline *entry = ptc_outline_item(&os, of("{\"a\":1}"));
    CHECK(entry->flags & PTC_OUTLINE_ENTRY && entry->count == 2);
}

/* A name finds a member in all its spellings, and a heading too. */
static void test_names(void)
{
    start();
    const PtcOutline *m = of("{\"unit_price\":1,\"Unit Name\":\"x\"}");
    CHECK(ptc_outline_field(m, text_of("unit-price")) == &m->fields[0]);
    CHECK(ptc_outline_field(m, text_of("unit-name")) == &m->fields[1]);
    CHECK(!ptc_outline_field(m, text_of("unit")));
    m = ptc_outline_with(&os, m, text_of("unit-price"), &ptc_outline_nil);
    CHECK(m->count == 2 && m->fields[0].of == &ptc_outline_nil);
    m = of("{\"a-b\":1,\"a_b\":\"x\"}"); /* either may be found */
    CHECK(ptc_outline_field(m, text_of("a_b"))->of->kinds == (PTC_IS_INT | PTC_IS_STRING));
}

static void test_with(void)
{
    start();
    const PtcOutline *m = of("{}");
    char name[8];
    for (int i = 0; i < PTC_OUTLINE_FIELDS + 1; i++) {
        snprintf(name, sizeof name, "k%d", i);
        PtcText kept = text_of(strcpy(ptc_arena_alloc(&arena, sizeof name), name));
        m = ptc_outline_with(&os, m, kept, of("1"));
        CHECK(ptc_outline_field(m, kept) || i == PTC_OUTLINE_FIELDS);
    }
    CHECK(m->count == PTC_OUTLINE_FIELDS && m->flags & PTC_OUTLINE_OPEN);
}

/* What may be absent, and what is known of it once that does not matter any more. */
static void test_sure(void)
{
    start();
    const PtcOutline *o = declared("{a? string, b {c int|nil}}");
    const PtcOutline *a = ptc_outline_field(o, text_of("a"))->of;
    CHECK(a->flags & PTC_OUTLINE_MAYBE && a->kinds == (PTC_IS_STRING | PTC_IS_NIL));
    CHECK(!(ptc_outline_only(&os, a, PTC_IS_STRING)->flags & PTC_OUTLINE_MAYBE));
    const PtcOutline *sure = ptc_outline_sure(&os, o);
    const PtcOutline *b = ptc_outline_field(sure, text_of("b"))->of;
    CHECK(!(ptc_outline_field(sure, text_of("a"))->of->flags & PTC_OUTLINE_MAYBE));
    CHECK(!(ptc_outline_field(b, text_of("c"))->of->flags & PTC_OUTLINE_MAYBE));
    CHECK(ptc_outline_sure(&os, sure) == sure);
}

static void count_lost(void *user, const struct PtcCallee *callee)
{
    (void)callee;
    ++*(int *)user;
}

/* A function that nobody knows any more is told. */
static void test_lost(void)
{
    int lost = 0;
    char one, two; /* who they are does not matter here */
    start();
    os.lost = count_lost;
    os.user = &lost;
    PtcOutline f = {.kinds = PTC_IS_FN, .callee = (const struct PtcCallee *)(const void *)&one};
    PtcOutline g = {.kinds = PTC_IS_FN, .callee = (const struct PtcCallee *)(const void *)&two};
    const PtcOutline *a = ptc_outline_make(&os, &f), *b = ptc_outline_make(&os, &g);
    CHECK(ptc_outline_join(&os, a, &ptc_outline_nil)->callee == f.callee && lost == 0);
    CHECK(ptc_outline_join(&os, a, b)->callee == NULL && lost == 2);
    const PtcOutline *list = ptc_outline_list(&os, a, 1);
    CHECK(ptc_outline_join(&os, list, &ptc_outline_any) == &ptc_outline_any && lost == 3);
    const PtcOutline *deep = list;
    for (int i = 0; i < PTC_OUTLINE_DEPTH; i++)
        deep = ptc_outline_list(&os, deep, 1);
    CHECK(lost > 3);
}

/* Deep, wide and shared: within memory and time, and anything beyond. */
static void test_bounds(void)
{
    char json[PTC_OUTLINE_DEPTH * 4 + 20] = "";
    for (int i = 0; i < PTC_OUTLINE_DEPTH + 3; i++)
        strcat(json, "[");
    for (int i = 0; i < PTC_OUTLINE_DEPTH + 3; i++)
        strcat(json, "]");
    start();
    CHECK(of(json)->depth <= PTC_OUTLINE_DEPTH && !os.out);
    start();
    while (!os.out) { /* different ones all the time */
        PtcOutline o = {.kinds = PTC_IS_INT, .literal = ptc_int((int64_t)os.bytes)};
        (void)ptc_outline_make(&os, &o);
        CHECK(os.bytes <= PTC_OUTLINE_BYTES);
    }
    CHECK(ptc_outline_join(&os, of("1"), of("\"x\"")) == &ptc_outline_any);
    start();
    ptc_outline_charge(&os, PTC_OUTLINE_WORK + 1);
    CHECK(os.out && of("{}") == &ptc_outline_any);
}

static const PtcOutline *shared(const PtcOutline *leaf)
{
    static char names[PTC_OUTLINE_FIELDS][4];
    const PtcOutline *o = leaf;
    for (int depth = 0; depth + 1 < PTC_OUTLINE_DEPTH; depth++) {
        PtcOutlineEdit e;
        ptc_outline_edit(&e, &(PtcOutline){.kinds = PTC_IS_MAP});
        for (int i = 0; i < PTC_OUTLINE_FIELDS; i++) {
            snprintf(names[i], sizeof names[i], "k%d", i);
            ptc_outline_put(&os, &e, text_of(names[i]), o);
        }
        o = ptc_outline_make(&os, &e.map);
    }
    return o;
}

/* The same map in all members of a map, and so on down: 64 to the fifth if each were looked at. */
static void test_shared(void)
{
    int lost = 0;
    start();
    const PtcOutline *a = shared(of("1")), *b = shared(of("\"x\""));
    CHECK(!os.out);
    (void)ptc_outline_join(&os, a, b);
    start();
    (void)ptc_outline_sure(&os, shared(declared("string|nil")));
    start();
    os.lost = count_lost;
    os.user = &lost;
    PtcOutline f = {.kinds = PTC_IS_FN, .callee = (const struct PtcCallee *)(const void *)&lost};
    ptc_outline_lose(&os, shared(ptc_outline_make(&os, &f)));
    CHECK(os.out && lost > 0);
}

/* ------------------------------------------------------------------------------- signatures */

static const char *sketched(const char *signature, bool parameters, bool closed)
{
    const PtcSig *sig = NULL;
    PtcBuf buf;
    PtcSigError error;
    ptc_buf_init(&buf, &h.mem, SIZE_MAX / 2);
    CHECK(ptc_sig_parse(&arena, signature, strlen(signature), &sig, &error));
    const PtcSketch *s =
        sig ? ptc_sig_sketch(&arena, parameters ? &sig->params : sig->result, closed) : NULL;
    if (s)
        ptc_sketch_write(&buf, s);
    return keep(&buf);
}

static void test_signatures(void)
{
    start();
    CHECK_STR(sketched("() -> :int", false, false), "int");
    CHECK_STR(sketched("() -> :float", false, false), "number");
    CHECK_STR(sketched("() -> [:string]", false, false), "[string]");
    CHECK_STR(sketched("() -> :any", false, false), "any");
    CHECK_STR(sketched("() -> :map", false, false), "map");
    CHECK_STR(sketched("() -> {id :int, note :string?}", false, false), "{id int, note? string}");
    CHECK_STR(sketched("() -> [{id :int}]?", false, false), "[{id int}]|nil");
    CHECK_STR(sketched("(id :int, tags [:string]?) -> :any", true, true),
              "{id int, tags? [string]}!");
    CHECK_STR(sketched("() -> :any", true, true), "{}!");
}

static void test_no_memory(void)
{
    const PtcSig *sig = NULL;
    PtcSigError error;
    static const char text[] = "(a {b [{c :int?}]?, d :string}) -> :int";
    start();
    CHECK(ptc_sig_parse(&arena, text, sizeof text - 1, &sig, &error));
    for (uint64_t nth = 1; nth < 5; nth++) {
        PtcMem mem;
        PtcArena poor;
        ptc_mem_init(&mem, 1 << 20);
        ptc_arena_init(&poor, &mem);
        ptc_mem_fail_at(&mem, nth);
        const PtcSketch *s = ptc_sig_sketch(&poor, &sig->params, true);
        CHECK(s || poor.failed);
        PtcOutlines few = {.arena = &poor};
        CHECK(ptc_outline_of_sketch(&few, s, false) == &ptc_outline_any || !few.out);
        ptc_arena_deinit(&poor);
        CHECK(atomic_load(&mem.used) == 0);
    }
}

int main(void)
{
    check_heap_init(&h);
    ptc_arena_init(&arena, &h.mem);
    CHECK_RUN(test_join());
    CHECK_RUN(test_joins_admit_both());
    CHECK_RUN(test_tuples());
    CHECK_RUN(test_names());
    CHECK_RUN(test_with());
    CHECK_RUN(test_sure());
    CHECK_RUN(test_lost());
    CHECK_RUN(test_bounds());
    CHECK_RUN(test_shared());
    CHECK_RUN(test_signatures());
    CHECK_RUN(test_no_memory());
    ptc_arena_deinit(&arena);
    check_heap_deinit(&h);
    return check_done("outline");
}
