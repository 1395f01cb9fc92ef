/* SPDX-License-Identifier: MIT
 * The JSON writer. */
#include "json_help.h"

#include <math.h>

#include "value/coll/map.h"
#include "value/coll/vec.h"

static PtcValue boxed(double d)
{
    PtcFloat *f = ptc_heap_object(&h.heap, PTC_T_FLOAT, sizeof *f, 0);
    f->value = d;
    return ptc_from_obj(f);
}

static PtcValue with(PtcValue map, PtcValue key, PtcValue value)
{
    return ptc_map_assoc(&h.heap, map, key, value);
}

static void test_scalars(void)
{
    CHECK_STR(write(PTC_NIL), "null");
    CHECK_STR(write(keyword("in-review")), "\"in-review\"");
    CHECK_STR(write(ptc_symbol_new(&h.heap, "x", 1)), "\"x\"");
    CHECK_STR(write(str("\"\\\b\f\n\r\t\x01\x1f\x7f/é\xe2\x80\xa8")),
              "\"\\\"\\\\\\b\\f\\n\\r\\t\\u0001\\u001f\x7f/é\xe2\x80\xa8\"");
    CHECK_STR(write(ptc_flonum(1.0 / 3)), "0.3333333333333333");
    CHECK_STR(write(boxed(-0.0)), "-0.0");
    CHECK_STR(write_with(&(PtcJsonWriter){&h.heap, 2, NULL}, ptc_flonum(1.0 / 3)), "0.33");
    CHECK_STR(write(boxed(NAN)), "! ##NaN cannot be JSON, at $");
    CHECK_STR(write(boxed(-INFINITY)), "! ##-Inf cannot be JSON, at $");
    CHECK_STR(write(ptc_builtin(7)), "! a function cannot be JSON, at $");
}

static void test_collections(void)
{
    PtcValue three[] = {ptc_int(1), ptc_int(2), ptc_int(3)};
    PtcValue set = ptc_set_add(&h.heap, ptc_set_empty(&h.heap), keyword("a"));
    PtcValue range = ptc_range_new(&h.heap, 5, -2, 4);
    CHECK_STR(write(ptc_vec_new(&h.heap, three, 3, PTC_SEQ)), "[1,2,3]");
    CHECK_STR(write(set), "[\"a\"]");
    CHECK_STR(write(range), "[5,3,1,-1]");
    PtcValue list = ptc_cons_new(&h.heap, set, ptc_cons_new(&h.heap, PTC_NIL, range));
    CHECK_STR(write(list), "[[\"a\"],null,5,3,1,-1]");
    CHECK_STR(write(ptc_seq_slice(&h.heap, list, 1, 3, PTC_SEQ)), "[null,5,3]");
    PtcValue many = ptc_vec_new(&h.heap, NULL, 0, 0);
    static char want[1 << 13] = "[";
    for (int i = 0; i < 1000; i++) {
        many = ptc_vec_conj(&h.heap, many, ptc_int(i));
        sprintf(want + strlen(want), "%s%d", i ? "," : "", i);
    }
    strcat(want, "]");
    CHECK_STR(write(many), want);
}

static void test_keys(void)
{
    PtcValue m = with(ptc_map_empty(&h.heap), ptc_int(1), PTC_NIL);
    m = with(m, PTC_NIL, PTC_NIL);
    m = with(m, PTC_TRUE, PTC_NIL);
    m = with(m, ptc_flonum(1.5), PTC_NIL);
    CHECK_STR(write(m), "{\"1\":null,\"nil\":null,\"true\":null,\"1.5\":null}");
    PtcValue mixed = with(with(m, keyword("a"), PTC_NIL), str("b\n"), ptc_int(2));
    CHECK_STR(write(mixed),
              "{\"1\":null,\"nil\":null,\"true\":null,\"1.5\":null,\"a\":null,\"b\\n\":2}");
    CHECK_STR(write(with(mixed, str("a"), PTC_NIL)),
              "! two keys that become the same string cannot be JSON, at $");
    CHECK_STR(write(with(mixed, str("1"), PTC_NIL)),
              "! two keys that become the same string cannot be JSON, at $");
    CHECK_STR(write(with(m, parse("[1]"), PTC_NIL)), "! a vector cannot be a key in JSON, at $");
    PtcValue lone = with(ptc_map_empty(&h.heap), m, PTC_NIL);
    CHECK_STR(write(with(ptc_map_empty(&h.heap), keyword("k"), lone)),
              "! a map cannot be a key in JSON, at $.k");
    PtcValue large = mixed;
    for (int i = 2; i < 100; i++)
        large = with(large, ptc_int(i), PTC_NIL);
    CHECK(write(large)[0] == '{');
    CHECK_STR(write(with(large, keyword("77"), PTC_NIL)),
              "! two keys that become the same string cannot be JSON, at $");
}

static void test_path(void)
{
    PtcValue f = ptc_builtin(1);
    PtcValue v = ptc_vec_conj(&h.heap, parse("[1,2]"), f);
    v = with(parse("{\"x\":[],\"y\":{}}"), keyword("a"), v);
    CHECK_STR(write(v), "! a function cannot be JSON, at $.a[2]");
    CHECK_STR(write(with(ptc_map_empty(&h.heap), str("two words"), v)),
              "! a function cannot be JSON, at $[\"two words\"].a[2]");
    CHECK_STR(write(with(ptc_map_empty(&h.heap), ptc_int(7), v)),
              "! a function cannot be JSON, at $.7.a[2]");
    for (int i = 0; i < 300; i++)
        v = ptc_vec_conj(&h.heap, parse("[]"), v);
    CHECK(strlen(write(v)) < sizeof(PtcJsonError));
    PtcValue deep = parse("[]");
    for (int i = 0; i < 100; i++)
        deep = with(ptc_map_empty(&h.heap), str("ééééé"), i ? deep : f);
    CHECK(ptc_is_string(str(write(deep))));
}

/* Writes records as strings, but those of kind 2, and kind 1 as numbers. */
static bool other(const PtcJsonWriter *writer, PtcBuf *buf, PtcValue v, const char **what)
{
    (void)writer;
    if (!ptc_is(v, PTC_T_RECORD))
        return false;
    *what = "a duration";
    switch (ptc_obj(v)->aux) {
    case 0: return ptc_buf_add_cstr(buf, "\"2024-02-29\"");
    case 1: return ptc_buf_add_cstr(buf, "12");
    default: return false;
    }
}

static PtcValue record(uint16_t kind)
{
    PtcObj *o = ptc_heap_object(&h.heap, PTC_T_RECORD, sizeof *o, 0);
    o->aux = kind;
    return ptc_from_obj(o);
}

static void test_hook(void)
{
    PtcJsonWriter w = {&h.heap, -1, other};
    PtcValue empty = ptc_map_empty(&h.heap);
    CHECK_STR(write_with(&w, record(0)), "\"2024-02-29\"");
    CHECK_STR(write(record(0)), "! this value cannot be JSON, at $");
    CHECK_STR(write_with(&w, record(2)), "! a duration cannot be JSON, at $");
    CHECK_STR(write_with(&w, ptc_builtin(3)), "! a function cannot be JSON, at $");
    CHECK_STR(write_with(&w, with(empty, record(0), record(1))), "{\"2024-02-29\":12}");
    CHECK_STR(write_with(&w, with(empty, record(1), PTC_NIL)),
              "! a duration cannot be a key in JSON, at $");
    PtcValue both = with(with(empty, record(0), PTC_NIL), str("2024-02-29"), PTC_NIL);
    CHECK_STR(write_with(&w, both), "! two keys that become the same string cannot be JSON, at $");
}

static void test_limits(void)
{
    PtcJsonWriter w = {&h.heap, -1, NULL};
    PtcJsonError e;
    PtcBuf buf;
    ptc_buf_init(&buf, &h.mem, 100);
    CHECK(!ptc_json_write(&w, &buf, ptc_range_new(&h.heap, 0, 1, 1000), &e));
    CHECK_STR(e.message, "the JSON is longer than 100 bytes");
    CHECK(!e.stopped && buf.full);
    ptc_buf_deinit(&buf);
    /* What is written can be read back. */
    PtcValue v = PTC_NIL;
    for (int i = 0; i < PTC_JSON_MAX_DEPTH; i++)
        v = ptc_vec_new(&h.heap, &v, 1, 0);
    ptc_buf_init(&buf, &h.mem, 1 << 20);
    CHECK(ptc_json_write(&w, &buf, v, &e) && buf.len == 2 * PTC_JSON_MAX_DEPTH + 4);
    CHECK(ptc_json_parse(&h.heap, buf.data, buf.len, &e) != PTC_NONE);
    ptc_buf_clear(&buf);
    CHECK(!ptc_json_write(&w, &buf, ptc_vec_new(&h.heap, &v, 1, 0), &e));
    CHECK(e.too_deep && !e.stopped && ptc_buf_ok(&buf));
    CHECK_STR(e.message, "nested deeper than 512 levels");
    v = with(ptc_map_empty(&h.heap), str("a"), v);
    ptc_buf_clear(&buf);
    CHECK(!ptc_json_write(&w, &buf, v, &e) && e.too_deep);
    ptc_buf_deinit(&buf);
}

int main(void)
{
    check_heap_init(&h);
    test_scalars();
    test_collections();
    test_keys();
    test_path();
    test_hook();
    test_limits();
    check_heap_deinit(&h);
    return check_done("json_write");
}
