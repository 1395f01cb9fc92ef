/* SPDX-License-Identifier: MIT
 * Values as text. */
#include "check.h"

#include <math.h>

#include "base/utf8.h"
#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/number/bigint.h"
#include "value/print.h"
#include "value/str.h"

static CheckHeap h;
static char out[1 << 12];
static bool done; /* what ptc_print returned last */

static const char *builtin_name(uint32_t index)
{
    return index == 7 ? "map" : NULL;
}

static const char *print_with(const PtcPrinter *printer, PtcValue v, size_t max)
{
    PtcBuf buf;
    ptc_buf_init(&buf, &h.mem, max);
    done = ptc_print(printer, &buf, v);
    size_t n = buf.len < sizeof out - 1 ? buf.len : sizeof out - 1;
    if (n)
        memcpy(out, buf.data, n);
    out[n] = 0;
    CHECK(done == (ptc_buf_ok(&buf) && h.budget.stop == PTC_STOP_NONE));
    CHECK(buf.len <= max && ptc_utf8_valid(out, n));
    ptc_buf_deinit(&buf);
    return out;
}

static const char *pr(PtcValue v)
{
    return print_with(&(PtcPrinter){&h.heap, true, -1, builtin_name, NULL}, v, SIZE_MAX / 2);
}

/* As str does. */
static const char *plain(PtcValue v)
{
    return print_with(&(PtcPrinter){&h.heap, false, -1, builtin_name, NULL}, v, SIZE_MAX / 2);
}

static const char *cut(PtcValue v, size_t max)
{
    return print_with(&(PtcPrinter){&h.heap, true, -1, builtin_name, NULL}, v, max);
}

static PtcValue str(const char *s)
{
    return ptc_str_new(&h.heap, s, strlen(s));
}

static PtcValue keyword(const char *s)
{
    return ptc_keyword_new(&h.heap, s, strlen(s));
}

static PtcValue symbol(const char *s)
{
    return ptc_symbol_new(&h.heap, s, strlen(s));
}

static PtcValue vec2(PtcValue a, PtcValue b)
{
    PtcValue both[] = {a, b};
    return ptc_vec_new(&h.heap, both, 2, 0);
}

static PtcValue boxed(double d)
{
    PtcFloat *f = ptc_heap_object(&h.heap, PTC_T_FLOAT, sizeof *f, 0);
    f->value = d;
    return ptc_from_obj(f);
}

static void test_leaves(void)
{
    CHECK_STR(pr(PTC_NIL), "nil");
    CHECK_STR(pr(PTC_TRUE), "true");
    CHECK_STR(pr(PTC_FALSE), "false");
    CHECK_STR(pr(ptc_int(-42)), "-42");
    CHECK_STR(pr(ptc_int_parse(&h.heap, "-123456789012345678901234567890", 31)),
              "-123456789012345678901234567890");
    CHECK_STR(pr(keyword("in-review")), ":in-review");
    CHECK_STR(pr(symbol("x/y")), "x/y");
    CHECK_STR(pr(ptc_flonum(1.0)), "1.0");
    CHECK_STR(pr(boxed(1e100)), "1.0E100");
    CHECK_STR(pr(boxed(NAN)), "##NaN");
    CHECK_STR(pr(boxed(-INFINITY)), "##-Inf");
    PtcPrinter two = {&h.heap, true, 2, NULL, NULL};
    CHECK_STR(print_with(&two, ptc_flonum(2.0 / 3), SIZE_MAX / 2), "0.67");
    CHECK_STR(print_with(&two, boxed(INFINITY), SIZE_MAX / 2), "##Inf");
    CHECK_STR(print_with(&two, ptc_builtin(7), SIZE_MAX / 2), "#fn[builtin]");
}

static void test_strings(void)
{
    CHECK_STR(pr(str("")), "\"\"");
    CHECK_STR(pr(str("a \"b\" \\ \n\t\r é 😀")), "\"a \\\"b\\\" \\\\ \\n\\t\\r é 😀\"");
    CHECK_STR(pr(str("\x01\x1b\x7f\b")), "\"\\u0001\\u001b\\u007f\\u0008\"");
    CHECK_STR(plain(str("a \"b\"\n")), "a \"b\"\n");
    CHECK_STR(plain(vec2(str("a"), PTC_NIL)), "[\"a\" nil]");
    CHECK_STR(plain(keyword("a")), ":a");
    PtcValue nul = ptc_str_new(&h.heap, "a\0b", 3);
    CHECK_STR(pr(nul), "\"a\\u0000b\"");
}

static void test_collections(void)
{
    PtcValue empty = ptc_map_empty(&h.heap), none = ptc_vec_new(&h.heap, NULL, 0, 0);
    CHECK_STR(pr(none), "[]");
    CHECK_STR(pr(empty), "{}");
    CHECK_STR(pr(ptc_set_empty(&h.heap)), "#{}");
    PtcValue m = ptc_map_assoc(&h.heap, empty, keyword("a"), ptc_int(1));
    CHECK_STR(pr(m), "{:a 1}");
    m = ptc_map_assoc(&h.heap, m, vec2(ptc_int(1), empty), vec2(none, str("x")));
    CHECK_STR(pr(m), "{:a 1, [1 {}] [[] \"x\"]}");
    PtcValue s = ptc_set_add(&h.heap, ptc_set_empty(&h.heap), m);
    s = ptc_set_add(&h.heap, s, ptc_int(2));
    CHECK_STR(pr(vec2(s, PTC_NIL)), "[#{{:a 1, [1 {}] [[] \"x\"]} 2} nil]");
    PtcValue range = ptc_range_new(&h.heap, 3, 1, 3);
    CHECK_STR(pr(range), "[3 4 5]");
    PtcValue list = ptc_cons_new(&h.heap, range, ptc_cons_new(&h.heap, s, range));
    CHECK_STR(pr(list), "[[3 4 5] #{{:a 1, [1 {}] [[] \"x\"]} 2} 3 4 5]");
    CHECK_STR(pr(ptc_seq_slice(&h.heap, range, 1, 2, PTC_SEQ)), "[4 5]");
}

static void test_large(void)
{
    static char want[1 << 12], keys[1 << 12];
    PtcValue v = ptc_vec_new(&h.heap, NULL, 0, 0), m = ptc_map_empty(&h.heap);
    PtcValue s = ptc_set_empty(&h.heap);
    for (int i = 0; i < 300; i++) {
        v = ptc_vec_conj(&h.heap, v, ptc_int(i));
        s = ptc_set_add(&h.heap, s, ptc_int(i));
        m = ptc_map_assoc(&h.heap, m, ptc_int(i), PTC_NIL);
        sprintf(want + strlen(want), "%s%d", i ? " " : "", i);
        sprintf(keys + strlen(keys), "%s%d nil", i ? ", " : "", i);
    }
    static char line[1 << 13];
    snprintf(line, sizeof line, "[%s]", want);
    CHECK_STR(pr(v), line);
    snprintf(line, sizeof line, "#{%s}", want);
    CHECK_STR(pr(s), line);
    snprintf(line, sizeof line, "{%s}", keys);
    CHECK_STR(pr(m), line);
}

static PtcValue closure(PtcValue name)
{
    PtcProto *p = ptc_heap_object(&h.heap, PTC_T_PROTO, sizeof *p, 0);
    p->name = name;
    PtcClosure *c = ptc_heap_object(&h.heap, PTC_T_CLOSURE, sizeof *c, 0);
    c->proto = ptc_from_obj(p);
    return ptc_from_obj(c);
}

static PtcValue record(PtcTag tag, PtcValue field)
{
    PtcRecord *r = ptc_heap_object(&h.heap, tag, sizeof *r + sizeof field, 1);
    r->fields[0] = field;
    return ptc_from_obj(r);
}

static bool other(const PtcPrinter *printer, PtcBuf *buf, PtcValue v)
{
    (void)printer;
    return ptc_is(v, PTC_T_RECORD) && ptc_buf_add_cstr(buf, "2024-02-29");
}

static void test_functions(void)
{
    PtcPrinter hooked = {&h.heap, true, -1, builtin_name, other};
    CHECK_STR(pr(ptc_builtin(7)), "#fn[map]");
    CHECK_STR(pr(ptc_builtin(8)), "#fn[builtin]");
    CHECK_STR(pr(closure(symbol("area"))), "#fn[area]");
    CHECK_STR(pr(closure(PTC_NIL)), "#fn[anonymous]");
    CHECK_STR(pr(record(PTC_T_VAR, symbol("total"))), "#'total");
    CHECK_STR(pr(record(PTC_T_RECORD, PTC_NIL)), "#object");
    CHECK_STR(print_with(&hooked, record(PTC_T_RECORD, PTC_NIL), 1000), "2024-02-29");
    CHECK_STR(print_with(&hooked, closure(PTC_NIL), 1000), "#fn[anonymous]");
}

/* Every cut is the beginning of the whole text. */
static void test_cuts(void)
{
    PtcValue big = ptc_int_parse(&h.heap, "12345678901234567890123", 23);
    PtcValue v = vec2(vec2(str("é😀\n"), ptc_int(-123)), vec2(big, ptc_flonum(0.5)));
    char whole[200];
    snprintf(whole, sizeof whole, "%s", pr(v));
    for (size_t max = 0; max < strlen(whole); max++) {
        const char *text = cut(v, max);
        CHECK(!done && strncmp(whole, text, strlen(text)) == 0);
        CHECK(strlen(text) + 3 >= max);
    }
    CHECK_STR(cut(v, strlen(whole)), whole);
    CHECK(done);
    PtcPrinter top = {&h.heap, false, -1, NULL, NULL};
    CHECK_STR(print_with(&top, str("aé"), 2), "a");
    CHECK(!done);
}

static void test_depth(void)
{
    PtcValue v = PTC_NIL, m = PTC_NIL;
    PtcValue empty = ptc_map_empty(&h.heap);
    for (int i = 0; i < 200000; i++) {
        v = ptc_vec_new(&h.heap, &v, 1, 0);
        m = ptc_map_assoc(&h.heap, empty, keyword("a"), m);
    }
    CHECK(strncmp(pr(v), "[[[[", 4) == 0 && done);
    CHECK(strncmp(pr(m), "{:a {:a {", 9) == 0 && done);
    cut(v, 100);
    CHECK(!done);
}

static void test_stop(void)
{
    PtcValue v = ptc_range_new(&h.heap, 0, 1, 100000);
    PtcCancel cancel = {0};
    atomic_init(&cancel.asked, true);
    h.budget.cancel = &cancel;
    pr(v);
    CHECK(!done && h.budget.stop == PTC_STOP_CANCELLED);
    ptc_budget_init(&h.budget);
}

/* With each allocation failing in turn, until none does. */
static void test_torture(void)
{
    PtcValue v = ptc_int_parse(&h.heap, "12345678901234567890123", 23);
    for (int i = 0; i < 100; i++)
        v = vec2(str("some text"), v);
    for (uint64_t n = 1; n < 1000; n++) {
        ptc_mem_fail_at(&h.mem, n);
        PtcBuf buf;
        ptc_buf_init(&buf, &h.mem, SIZE_MAX / 2);
        bool ok = ptc_print(&(PtcPrinter){&h.heap, true, -1, NULL, NULL}, &buf, v);
        CHECK(ok == (!buf.failed && h.budget.stop == PTC_STOP_NONE));
        bool last = atomic_load(&h.mem.count) < n;
        ptc_buf_deinit(&buf);
        ptc_budget_init(&h.budget);
        ptc_mem_fail_at(&h.mem, 0);
        CHECK(!last || ok);
        if (last)
            return;
    }
    CHECK(!"torture ended");
}

int main(void)
{
    check_heap_init(&h);
    test_leaves();
    test_strings();
    test_collections();
    test_large();
    test_functions();
    test_cuts();
    test_depth();
    test_stop();
    test_torture();
    check_heap_deinit(&h);
    return check_done("print");
}
