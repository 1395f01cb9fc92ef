/* SPDX-License-Identifier: MIT
 * test_read.c - the reader: what it makes of text, and what it says about text it cannot read. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/text/nearest.h"
#include "lisp/read/form.h"
#include "unit/check.h"
#include "value/number/bigint.h"
#include "value/number/number.h"

/* Everything a reading needs, and what came of it. */
typedef struct {
    PtcMem mem;
    PtcPool pool;
    PtcBudget budget;
    PtcHeap heap;
    PtcArena arena;
    PtcDiags diags;
    PtcForm **forms;
    size_t count;
    bool ok;
} Lab;

static void lab_open(Lab *lab)
{
    memset(lab, 0, sizeof *lab);
    ptc_mem_init(&lab->mem, 64 << 20);
    ptc_pool_init(&lab->pool, &lab->mem);
    ptc_budget_init(&lab->budget);
    ptc_heap_init(&lab->heap, &lab->pool, &lab->budget, 16 << 20);
    ptc_arena_init(&lab->arena, &lab->mem);
    ptc_diags_init(&lab->diags, &lab->arena);
}

static void lab_read(Lab *lab, const char *source, size_t len)
{
    PtcReader reader = {source, len, &lab->arena, &lab->heap, &lab->diags};
    lab->ok = ptc_read(&reader, &lab->forms, &lab->count);
}

static void lab_close(Lab *lab)
{
    ptc_heap_deinit(&lab->heap);
    ptc_arena_deinit(&lab->arena);
    ptc_pool_deinit(&lab->pool);
    CHECK(atomic_load(&lab->mem.used) == 0);
}

/* ------------------------------------------------------------ forms as text */

static void show(PtcHeap *heap, PtcBuf *out, const PtcForm *f, bool offsets);

static void show_items(PtcHeap *heap, PtcBuf *out, const PtcForm *f, const char *ends, bool offsets)
{
    size_t open = strlen(ends) - 1;
    ptc_buf_add(out, ends, open);
    for (uint32_t i = 0; i < f->count; i++) {
        if (i)
            ptc_buf_add_char(out, ' ');
        show(heap, out, f->items[i], offsets);
    }
    ptc_buf_add_cstr(out, ends + open);
}

static void show_number(PtcHeap *heap, PtcBuf *out, PtcValue v)
{
    char text[PTC_DOUBLE_TEXT];
    if (ptc_is_integer(v))
        ptc_int_print(heap, out, v);
    else
        ptc_buf_add(out, text, ptc_double_print(ptc_to_float(v), text));
}

static void show_text(PtcBuf *out, const char *before, const PtcForm *f, const char *after)
{
    ptc_buf_add_cstr(out, before);
    ptc_buf_add(out, f->text, f->len);
    ptc_buf_add_cstr(out, after);
}

/* The form as it could have been written, strings without escapes; with its offsets behind it. */
static void show(PtcHeap *heap, PtcBuf *out, const PtcForm *f, bool offsets)
{
    switch (f->kind) {
    case PTC_F_NIL: ptc_buf_add_cstr(out, "NIL"); break;
    case PTC_F_TRUE: ptc_buf_add_cstr(out, "TRUE"); break;
    case PTC_F_FALSE: ptc_buf_add_cstr(out, "FALSE"); break;
    case PTC_F_TAGGED:
    case PTC_F_NUMBER: show_number(heap, out, f->value); break;
    case PTC_F_STRING: show_text(out, "\"", f, "\""); break;
    case PTC_F_REGEX: show_text(out, "#\"", f, "\""); break;
    case PTC_F_KEYWORD: show_text(out, ":", f, ""); break;
    case PTC_F_SYMBOL: show_text(out, "", f, ""); break;
    case PTC_F_LIST: show_items(heap, out, f, "()", offsets); break;
    case PTC_F_VECTOR: show_items(heap, out, f, "[]", offsets); break;
    case PTC_F_MAP: show_items(heap, out, f, "{}", offsets); break;
    case PTC_F_SET: show_items(heap, out, f, "#{}", offsets); break;
    case PTC_F_SHORT_FN: show_items(heap, out, f, "#()", offsets); break;
    case PTC_F_QUOTE: show_items(heap, out, f, "'~", offsets); break;
    case PTC_F_TEMPLATE: show_items(heap, out, f, "`~", offsets); break;
    case PTC_F_UNQUOTE: show_items(heap, out, f, "~~", offsets); break;
    case PTC_F_SPLICE: show_items(heap, out, f, "~@~", offsets); break;
    case PTC_F_VAR: show_text(out, "#'", f, ""); break;
    }
    if (offsets)
        ptc_buf_addf(out, "@%" PRIu32 "-%" PRIu32, f->first, f->last);
}

static void show_all(Lab *lab, PtcBuf *out, bool offsets)
{
    if (!lab->ok)
        ptc_buf_addf(out, "! %s", lab->diags.count ? lab->diags.items[0].message : "stopped");
    for (size_t i = 0; lab->ok && i < lab->count; i++) {
        if (i)
            ptc_buf_add_char(out, ' ');
        show(&lab->heap, out, lab->forms[i], offsets);
    }
}

static void reads_bytes(const char *source, size_t len, const char *expected, bool offsets)
{
    Lab lab;
    PtcBuf out;
    lab_open(&lab);
    lab_read(&lab, source, len);
    ptc_buf_init(&out, &lab.mem, 1 << 20);
    show_all(&lab, &out, offsets);
    CHECK_STR(ptc_buf_text(&out), expected);
    ptc_buf_deinit(&out);
    lab_close(&lab);
}

static void reads(const char *source, const char *expected)
{
    reads_bytes(source, strlen(source), expected, false);
}

static void places(const char *source, const char *expected)
{
    reads_bytes(source, strlen(source), expected, true);
}

/* ---------------------------------------------------------------- findings */

static void fails_bytes(const char *source, size_t len, PtcErrorKind kind, uint32_t first,
                        uint32_t last, const char *message, const char *hint)
{
    Lab lab;
    lab_open(&lab);
    lab_read(&lab, source, len);
    CHECK(!lab.ok);
    CHECK(lab.diags.count == 1);
    if (lab.diags.count == 1) {
        const PtcDiag *d = &lab.diags.items[0];
        CHECK(d->kind == kind);
        CHECK_STR(d->message, message);
        CHECK_STR(d->hint, hint);
        if (d->first != first || d->last != last)
            printf("%s: found at %" PRIu32 "-%" PRIu32 "\n", source, d->first, d->last);
        CHECK(d->first == first && d->last == last);
        CHECK(strlen(d->message) < PTC_MESSAGE_MAX && strlen(d->hint) < PTC_HINT_MAX);
    }
    lab_close(&lab);
}

static void fails(const char *source, uint32_t first, uint32_t last, const char *message,
                  const char *hint)
{
    fails_bytes(source, strlen(source), PTC_E_PARSE, first, last, message, hint);
}

/* ------------------------------------------------------------------- cases */

static void test_structure(void)
{
    reads("", "");
    reads(" ,\t\r\n\f\v ; all blank", "");
    reads("nil true false nilable true?", "NIL TRUE FALSE nilable true?");
    reads("(+ 1 2)", "(+ 1 2)");
    reads("() [] {} #{} #()", "() [] {} #{} #()");
    reads("[1, 2,3]", "[1 2 3]");
    reads("{:a 1, :b {:c [2]}}", "{:a 1 :b {:c [2]}}");
    reads("#{1 1 x} {:a 1 :a 2}", "#{1 1 x} {:a 1 :a 2}");
    reads("#(+ % %2) (map #(inc %) [#(dec %)])", "#(+ % %2) (map #(inc %) [#(dec %)])");
    reads("'x '(a b) ''c '#{1}", "'x~ '(a b)~ ''c~~ '#{1}~");
    reads("#'x #'save! [#' y]", "#'x #'save! [#'y]");
    reads("(a;x\n b);y", "(a b)");
    reads("(a)(b)[c]\"d\"e\"f\"", "(a) (b) [c] \"d\" e \"f\"");
    reads("[1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17]",
          "[1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17]");
}

static void test_skipped(void)
{
    reads("[1 #_2 3]", "[1 3]");
    reads("#_ (a b) c #_d", "c");
    reads("[#_#_a b c]", "[c]");
    reads("{:a #_1 2 #_:b}", "{:a 2}");
    reads("^:private x ^String y ^{:doc \"d\"} z ^\"T\" t", "x y z t");
    reads("(defn ^:a ^:b f [^long n] #^int n)", "(defn f [n] n)");
    reads("^:x #_y z", "z");
    reads("\xEF\xBB\xBF(a\xC2\xA0"
          "b\xE3\x80\x80"
          "c\xE2\x80\x8B)",
          "(a b c)");
}

static void test_names(void)
{
    reads(":a :a-b? :a/b :a.b :1 :+ :/ :a:b :a'b :%", ":a :a-b? :a/b :a.b :1 :+ :/ :a:b :a'b :%");
    reads("+ - / -> ->> - .5 ... a.b/c x' <=> & %& a# a//", //
          "+ - / -> ->> - .5 ... a.b/c x' <=> & %& a# a//");
    reads("-a +b --1 +-1", "-a +b --1 +-1");
    reads("\xCF\x80 na\xC3\xAFve :\xC3\xA9", "\xCF\x80 na\xC3\xAFve :\xC3\xA9");
    reads("data/items tool/search clojure.string/join java.util.Date.",
          "data/items tool/search clojure.string/join java.util.Date.");
}

static void test_numbers(void)
{
    reads("0 -0 42 -17 +5 007 017 -010", "0 0 42 -17 5 7 15 -8");
    reads("999999999999999999 1000000000000000000", "999999999999999999 1000000000000000000");
    reads("4611686018427387903 4611686018427387904 -4611686018427387905",
          "4611686018427387903 4611686018427387904 -4611686018427387905");
    reads("-9223372036854775808 +9223372036854775808", "-9223372036854775808 9223372036854775808");
    reads("123456789012345678901234567890", "123456789012345678901234567890");
    reads("3N -12345678901234567890N 0N", "3 -12345678901234567890 0");
    reads("0x1F 0XfF -0x10 0x1fN", "31 255 -16 31");
    reads("0xFFFFFFFFFFFFFFFFFFFF", "1208925819614629174706175");
    reads("2r1010 36rZZ 16rff -8R17 36rN 10r9", "10 1295 255 -15 23 9");
    reads("36rZZZZZZZZZZZZZZZZZZZZ "
          "-2r1111111111111111111111111111111111111111111111111111111111111111",
          "13367494538843734067838845976575 -18446744073709551615");
    reads("1.0 -0.5 2.5e10 1.23e-4 1E3 -2.5e+2", "1.0 -0.5 2.5E10 1.23E-4 1000.0 -250.0");
    reads("1. -1.e2 08.5 1e-400", "1.0 -100.0 8.5 0.0");
    reads("-0.0 1e999 -1e999 1e300", "-0.0 ##Inf ##-Inf 1.0E300");
    reads("##Inf ##-Inf ##NaN [##Inf]", "##Inf ##-Inf ##NaN [##Inf]");
    reads("[1]2(3)", "[1] 2 (3)");
}

static void test_strings(void)
{
    reads("\"\" \"a b\" \"a\nb\"", "\"\" \"a b\" \"a\nb\"");
    reads("\"\\n\\t\\r\\b\\f\\\"\\\\\"", "\"\n\t\r\b\f\"\\\"");
    reads("\"x\\u00e9y\" \"\\u00E9\" \"\\u20ac\"", "\"x\xC3\xA9y\" \"\xC3\xA9\" \"\xE2\x82\xAC\"");
    reads("\"\\ud83d\\ude00!\"", "\"\xF0\x9F\x98\x80!\"");
    reads("\"\\\\u00e9\" \"; no\" \"#_\"", "\"\\u00e9\" \"; no\" \"#_\"");
    reads("\"\xE2\x80\x9Cx\xE2\x80\x9D\"", "\"\xE2\x80\x9Cx\xE2\x80\x9D\"");
    reads("#\"\" #\"a\\d+\" #\"\\\"x\\\\\" y", "#\"\" #\"a\\d+\" #\"\\\"x\\\\\" y");
    reads_bytes("\"a\0b\" \"\\u0000\"", 14, "\"a", false);
}

static void test_chars(void)
{
    reads("[\\a \\Z \\5 \\n \\t \\u \\o]", "[\"a\" \"Z\" \"5\" \"n\" \"t\" \"u\" \"o\"]");
    reads("[\\( \\) \\[ \\} \\; \\, \\\" \\\\ \\# \\']",
          "[\"(\" \")\" \"[\" \"}\" \";\" \",\" \"\"\" \"\\\" \"#\" \"'\"]");
    reads("\\newline \\space \\tab \\return \\backspace \\formfeed",
          "\"\n\" \" \" \"\t\" \"\r\" \"\b\" \"\f\"");
    reads("\\u0041 \\u00e9 \\o101 \\o7 \\o377", "\"A\" \"\xC3\xA9\" \"A\" \"\a\" \"\xC3\xBF\"");
    reads("\\\xCE\xBB \\e\xCC\x81 \\\xE2\x80\x9C", "\"\xCE\xBB\" \"e\xCC\x81\" \"\xE2\x80\x9C\"");
    reads("(str \\\" \"#_\")(= \\a)", "(str \"\"\" \"#_\") (= \"a\")");
}

static void test_offsets(void)
{
    places("a", "a@0-1");
    places(" (+ 1 :kw) ", "(+@2-3 1@4-5 :kw@6-9)@1-10");
    places("'[x] #'y #{}", "'[x@2-3]@1-4~@0-4 #'y@5-8 #{}@9-12");
    places("#(a) #\"re\" \"s\\n\" \\tab", "#(a@2-3)@0-4 #\"re\"@5-10 \"s\n\"@11-16 \"\t\"@17-21");
    places("^:m x #_y nil", "x@4-5 NIL@10-13");
    places("{-1.5 0xF}##Inf", "{-1.5@1-5 15@6-9}@0-10 ##Inf@10-15");
    places("\xC3\xA9 \"\xC3\xA9\"", "\xC3\xA9@0-2 \"\xC3\xA9\"@3-7");
    places("'  x", "'x@3-4~@0-4");
}

/* Text is not copied where the source holds it as it is. */
static void test_sharing(void)
{
    const char *source = "sym \"plain\" #\"re\" :kw \\a";
    static const uint32_t at[] = {0, 5, 14, 19, 23};
    Lab lab;
    lab_open(&lab);
    lab_read(&lab, source, strlen(source));
    CHECK(lab.ok && lab.count == 5);
    for (size_t i = 0; lab.ok && i < lab.count; i++)
        CHECK(lab.forms[i]->text == source + at[i]);
    lab_close(&lab);
}

static void test_bracket_errors(void)
{
    fails("(max 4 (min 9 2)", 0, 16,
          "`(` opened at line 1, column 1 is never closed: `)` is missing",
          "add `)` at the end of the program, or `)` where this form should end");
    fails("(let [x 1\n  {:a #{b", 16, 19,
          "`#{` opened at line 2, column 7 is never closed: `}` is missing",
          "add `}}])` at the end of the program, or `}` where this form should end");
    fails("(defn f [x]\n  (inc x)\n\n(f 1)\n(f 2)", 0, 34,
          "`(` opened at line 1, column 1 is never closed: `)` is missing",
          "line 4 begins a form at the left margin while this one is still open: perhaps `)` is "
          "missing just before it");
    fails("(a [\n(b)\n] c", 0, 12, "`(` opened at line 1, column 1 is never closed: `)` is missing",
          "add `)` at the end of the program, or `)` where this form should end");
    fails("[[[[[[[[[[[[[[[[[[[[[[[[", 23, 24,
          "`[` opened at line 1, column 24 is never closed: `]` is missing",
          "add `]` where this form should end");
    fails("(a [1 2) b", 3, 8,
          "`[` opened at line 1, column 4 is closed by `)` at line 1, column 8: `]` expected",
          "add `]` where the form that `[` opens should end, before this `)`");
    fails("[1\n 2)", 0, 6,
          "`[` opened at line 1, column 1 is closed by `)` at line 2, column 3: `]` expected",
          "write `]` instead of `)`");
    fails("(+ 1 2))", 7, 8, "`)` closes nothing: no form is open here",
          "remove it, or one closer too many before it: the form that began at line 1, column 1 is "
          "complete already");
    fails("]", 0, 1, "`]` closes nothing: no form is open here", "remove it");
}

static void test_map_errors(void)
{
    fails("{:width 10 :height}", 11, 18,
          "map literal with an odd number of forms (3): `:height` has no value",
          "write a value after each key: {:a 1, :b 2}");
    fails("{:a :b 2}", 7, 8, "map literal with an odd number of forms (3): `2` has no value",
          "perhaps the value of `:a` was left out: the next form is a keyword too");
    fails("{[1\n2]}", 1, 6, "map literal with an odd number of forms (1): `[1 2]` has no value",
          "write a value after each key: {:a 1, :b 2}");
    fails("{\"a long key that goes on and on and on and on and on\"}", 1, 54,
          "map literal with an odd number of forms (1): `\"a long key that goes on and on and on "
          "and o...` has no value",
          "write a value after each key: {:a 1, :b 2}");
    fails("{\"a\": 1}", 4, 5, "`:` directly after a string, as in JSON",
          "a map is written {\"a\" 1, \"b\" 2} or {:a 1, :b 2}, without `:` after the key");
    fails("{a: 1}", 1, 3, "`a:` is not a symbol", "a colon comes before the name: :name");
    fails("{:a : 1}", 4, 5, "`:` is not a keyword",
          "write :name; in a map no `:` comes between key and value: {:a 1}");
}

static void test_prefix_errors(void)
{
    fails("(')", 1, 2, "no form follows `'`", "write a form after it, or remove it");
    fails("[1 #_]", 3, 5, "no form follows `#_`", "write a form after it, or remove it");
    fails("^", 0, 1, "no form follows `^`", "write a form after it, or remove it");
    fails("(^:x)", 1, 2, "the metadata that begins here belongs to no form",
          "write the form after it, or remove it");
    fails("^5 x", 0, 2, "`^5` is not metadata",
          "metadata is a keyword, symbol, string or map, and is ignored: leave it out");
    fails("#'(a)", 0, 5, "`#'` is followed by `(a)`, which is not a symbol",
          "write the name of a var: #'my-var");
    fails("#(map #(inc %) %)", 6, 8, "`#(...)` inside another `#(...)`",
          "write the inner function as (fn [x] ...)");
}

static void test_refused(void)
{
    places("(inc @total)", "(inc@1-4 (clojure.core/deref@5-6 total@6-11)@5-11)@0-12");
    fails("(inc @)", 5, 6, "no form follows `@`", "write a form after it, or remove it");
    fails("`(a b)", 0, 6, "the template `(a b) takes nothing from the program",
          "quote data with ' instead, or put values in with ~: `(a ~b ~@c)");
    reads("`(a ~b ~@c) `x", "`(a ~b~ ~@c~)~ `x~");
    fails("~", 0, 1, "no form follows `~`", "write a form after it, or remove it");
    fails("#?(:clj 1)", 0, 2, "reader conditionals are not supported: `#?`",
          "write only the form meant for :clj");
    fails("#!/bin/x", 0, 8, "this does not begin a comment: `#!/bin/x`", "comments begin with `;`");
    fails("#=(a)", 0, 2, "nothing is evaluated while reading: `#=`",
          "write the expression without `#=`");
    reads("#:p{:a 1 :_/b 2 :q/c 3}", "{:p/a 1 :b 2 :q/c 3}");
    reads("#::{:a 1}", "{:user/a 1}");
    fails("#:p [1]", 0, 4, "`#:p ` does not begin a map with a namespace",
          "write #:order{:id 7}, which is {:order/id 7}");
    fails("#<Atom 1>", 0, 6, "the printed form of an object cannot be read: `#<Atom`",
          "write the expression that makes the value");
    fails("#fn[inc]", 0, 3, "the printed form of a function cannot be read: `#fn`",
          "write the function's name or (fn [x] ...)");
    fails("#inst \"May\"", 0, 11, "#inst is followed by ` \"May\"`",
          "write #inst \"2024-01-31T00:00:00Z\"");
    fails("#uuid \"x\"", 0, 9, "#uuid is followed by ` \"x\"`",
          "write #uuid \"b6883c0a-0342-4007-9966-bc2dfa6b109e\"");
    fails("#", 0, 1, "no form begins like this: `#`",
          "`#` begins #{a set}, #(a function), #\"a regex\", #'a-var, #_skipped, ##Inf, #inst, "
          "#uuid or #:a{...}");
}

static void test_text_errors(void)
{
    fails("(a \"never closed)", 3, 17,
          "the string opened at line 1, column 4 is never closed: `\"` is missing",
          "add `\"` where it ends; a quote inside it is written \\\"");
    fails("\"\\", 0, 2, "the string opened at line 1, column 1 is never closed: `\"` is missing",
          "add `\"` where it ends; a quote inside it is written \\\"");
    fails("\n#\"a\\\"", 1, 6,
          "the regex opened at line 2, column 1 is never closed: `\"` is missing",
          "add `\"` where it ends; a quote inside it is written \\\"");
    fails("\"a\\qb\"", 2, 4, "unknown escape `\\q` in a string",
          "a backslash is written \\\\; in a regex literal #\"\\q\" it stays single");
    fails("\"it\\'s\"", 3, 5, "unknown escape `\\'` in a string",
          "write `'` without the backslash");
    fails("\"\\x41\"", 1, 3, "unknown escape `\\x` in a string",
          "write a character by its code as \\u0041, or in octal up to \\377");
    fails("\"\\8\"", 1, 3, "unknown escape `\\8` in a string",
          "write a character by its code as \\u0041, or in octal up to \\377");
    fails("\"\\400\"", 1, 3, "unknown escape `\\4` in a string",
          "write a character by its code as \\u0041, or in octal up to \\377");
    fails(
        "\"\\u00\"", 1, 3, "unknown escape `\\u` in a string",
        "\\u takes four hex digits (\\u00e9), two such for a character beyond U+FFFF; or write the "
        "character itself");
    reads("\"\\ud83d\"", "! unknown escape `\\u` in a string");
    reads("\"\\ud83d\\u0041\"", "! unknown escape `\\u` in a string");
    reads("\"\\ude00\"", "! unknown escape `\\u` in a string");
    fails("\"\\\xC3\xA9\"", 1, 4, "unknown escape `\\\xC3\xA9` in a string",
          "write `\xC3\xA9` without the backslash");
}

static void test_char_errors(void)
{
    const char *general =
        "a character is \\a, \\newline, \\space, \\tab, \\return or \\u0041; longer "
        "text is a \"string\"";
    fails("[\\tabs]", 1, 6, "`\\tabs` is not a character", "did you mean `\\tab`?");
    fails("\\foo", 0, 4, "`\\foo` is not a character", general);
    fails("\\(a", 0, 3, "`\\(a` is not a character", general);
    fails("\\u00", 0, 4, "`\\u00` is not a character", "\\u takes four hex digits: \\u00e9");
    fails("\\o400", 0, 5, "`\\o400` is not a character",
          "\\o takes one to three octal digits up to 377: \\o101");
    fails("\\ud800", 0, 6, "`\\ud800` is not a character", general);
    reads("(a \\ )", "(a \" \")");
    fails("(a \\\n)", 3, 4, "no character follows `\\`", "write \\a, \\space or \\newline");
    fails("\\", 0, 1, "no character follows `\\`", "write \\a, \\space or \\newline");
}

static void test_number_errors(void)
{
    const char *general = "put a space between a number and a name; text goes in double quotes";
    fails("(a 12kg)", 3, 7, "`12kg` is not a number", general);
    fails("1.2.3", 0, 5, "`1.2.3` is not a number", general);
    fails("1e", 0, 2, "`1e` is not a number", general);
    fails("0x", 0, 2, "`0x` is not a number", general);
    fails("0xG", 0, 3, "`0xG` is not a number", general);
    fails("1r0", 0, 3, "`1r0` is not a number", general);
    fails("37r0", 0, 4, "`37r0` is not a number", general);
    fails("2r2", 0, 3, "`2r2` is not a number", general);
    fails("3Nx", 0, 3, "`3Nx` is not a number", general);
    fails("1_000", 0, 5, "`1_000` is not a number", "write the digits without `_`");
    fails("2024-01-31", 0, 10, "`2024-01-31` is not a number",
          "a date or time is written as a string: \"2024-01-31\"");
    fails("0b101", 0, 5, "`0b101` is not a number", "a binary number is written 2r1010");
    fails("089", 0, 3, "`089` is not a number",
          "a leading 0 means octal, with digits from 0 to 7; a decimal number has none");
    fails("[-3/0]", 1, 5, "this ratio divides by zero", "write the number you mean");
    fails("1/", 0, 2, "`1/` is not a number", general);
    fails("##Foo", 0, 5, "`##Foo` is not a number",
          "only ##Inf, ##-Inf and ##NaN are written with `##`");
    reads("::x ::y/z", ":user/x :y/z");
    fails(":::x", 0, 4, "`:::x` is not a keyword", "write :name with one colon");
    fails("foo/", 0, 4, "`foo/` is not a symbol", "a name comes after the slash: ns/name");
    fails("/foo", 0, 4, "`/foo` is not a symbol", "a namespace comes before the slash: ns/name");
    fails("// x", 0, 2, "`//` is not a symbol", "comments begin with `;`");
    fails(":a/", 0, 3, "`:a/` is not a keyword", "a name comes after the slash: ns/name");
}

static void test_byte_errors(void)
{
    fails_bytes("ab \xFF", 4, PTC_E_PARSE, 3, 4,
                "the program is not valid UTF-8: byte 3 (counted from 0) is 0xFF",
                "save or send the program as UTF-8");
    fails_bytes("\"\xC3\"", 3, PTC_E_PARSE, 1, 2,
                "the program is not valid UTF-8: byte 1 (counted from 0) is 0xC3",
                "save or send the program as UTF-8");
    fails_bytes("(a\0b)", 5, PTC_E_PARSE, 2, 3, "NUL byte outside a string", "remove it");
    fails_bytes("a ;\0\nb", 6, PTC_E_PARSE, 3, 4, "NUL byte in a comment", "remove it");
    fails_bytes("\\\0", 2, PTC_E_PARSE, 0, 1, "no character follows `\\`",
                "write \\a, \\space or \\newline");
    fails("(a \x01)", 3, 4, "control character U+0001 outside a string", "remove it");
    fails("(str \xE2\x80\x9Chi\xE2\x80\x9D)", 5, 8,
          "`\xE2\x80\x9C` is not a quotation mark of this language",
          "write strings with plain quotes: \"text\"");
    fails_bytes("x", (size_t)UINT32_MAX, PTC_E_SIZE, 0, 0, "the program is larger than 4 GiB", "");
}

/* ------------------------------------------------------------------ limits */

/* `times` copies of a text, then of another. */
static char *repeated(char *out, const char *a, const char *middle, const char *b, size_t times)
{
    char *p = out;
    for (size_t i = 0; i < times; i++, p += strlen(a))
        memcpy(p, a, strlen(a));
    memcpy(p, middle, strlen(middle));
    p += strlen(middle);
    for (size_t i = 0; i < times; i++, p += strlen(b))
        memcpy(p, b, strlen(b));
    *p = 0;
    return out;
}

static void too_deep(const char *open, const char *middle, const char *close)
{
    static char text[60000];
    uint32_t at = (uint32_t)strlen(open) * PTC_FORM_DEPTH;
    repeated(text, open, middle, close, 10000);
    clock_t start = clock();
    fails_bytes(text, strlen(text), PTC_E_DEPTH, at, at + 1, "forms are nested deeper than 200",
                "name inner parts with let or def and use the names");
    CHECK(clock() - start < CLOCKS_PER_SEC / 4);
    repeated(text, open, middle, close, PTC_FORM_DEPTH);
    Lab lab;
    lab_open(&lab);
    lab_read(&lab, text, strlen(text));
    CHECK(lab.ok && lab.count == 1);
    lab_close(&lab);
}

static void test_depth(void)
{
    too_deep("[", "7", "]");
    too_deep("(", "", ")");
    too_deep("#{", "", "}");
    too_deep("{a ", "1", "}");
    too_deep("'", "x", "");
    too_deep("#_", "a", " a");
}

static void test_digits(void)
{
    static char text[PTC_FORM_INT_DIGITS + 8], expected[200];
    memset(text, '7', sizeof text);
    text[PTC_FORM_INT_DIGITS] = 0;
    reads(text, text);
    text[PTC_FORM_INT_DIGITS] = '7';
    text[PTC_FORM_INT_DIGITS + 1] = 0;
    snprintf(expected, sizeof expected, "integer literal of %d digits: at most %d are allowed",
             PTC_FORM_INT_DIGITS + 1, PTC_FORM_INT_DIGITS);
    fails(text, 0, PTC_FORM_INT_DIGITS + 1, expected,
          "compute the number, or write it as a float: 1.5e300");
    memcpy(text, "2r", 2);
    memset(text + 2, '1', 257);
    text[259] = 0;
    fails(text, 0, 259, "integer literal of 257 digits: at most 256 are allowed",
          "compute the number, or write it as a float: 1.5e300");
}

static void test_stops(void)
{
    Lab lab;
    PtcCancel cancel = {.asked = true};
    lab_open(&lab);
    lab.budget.cancel = &cancel;
    ptc_fuel_set(&lab.budget, 3);
    lab_read(&lab, "(a b c d e f g)", 15);
    CHECK(!lab.ok && lab.diags.count == 0 && lab.budget.stop == PTC_STOP_CANCELLED);
    lab_close(&lab);
    lab_open(&lab);
    lab.budget.max_int_bits = 64;
    lab_read(&lab, "123456789012345678901234567890", 30);
    CHECK(!lab.ok && lab.diags.count == 0 && lab.budget.stop == PTC_STOP_SIZE);
    lab_close(&lab);
}

/* Fails allocation 1, 2, 3 ... until the reading goes through; nothing may be lost or touched. */
static void survives(const char *source, bool readable)
{
    for (uint64_t n = 1; n < 1000; n++) {
        Lab lab;
        lab_open(&lab);
        ptc_mem_fail_at(&lab.mem, n);
        lab_read(&lab, source, strlen(source));
        bool hit = atomic_load(&lab.mem.count) >= n;
        bool stopped = lab.arena.failed || lab.budget.stop == PTC_STOP_MEMORY;
        if (hit)
            CHECK(!lab.ok && stopped);
        else
            CHECK(lab.ok == readable && !stopped);
        lab_close(&lab);
        if (!hit)
            return;
    }
    CHECK(!"an allocation never stops failing");
}

static void test_no_memory(void)
{
    static char text[120000], line[200];
    snprintf(line, sizeof line, "%s",
             "(f 'x #'y {:a [1.5 1e300 \"s\\n\"]} #{\\u0041 1.} #(g %) ^:m 12345678901234567890123 "
             "0xFFFFFFFFFFFFFFFFFFFFFF)\n");
    survives("", true);
    survives("(+ 1 2)", true);
    survives(repeated(text, line, "", "", 500), true);
    survives(repeated(text, "1 ", "", "", 20000), true);
    survives(repeated(text, line, ")", "", 100), false);
    survives(repeated(text, line, "\\foo", "", 100), false);
    survives("{:a}", false);
}

/* ----------------------------------------------------------------- nearest */

static const char *nearest(const char *word, const char *const *candidates, size_t *distance)
{
    PtcNearest n;
    ptc_nearest_init(&n, word, strlen(word));
    for (; *candidates; candidates++)
        ptc_nearest_offer(&n, *candidates, strlen(*candidates));
    *distance = n.best ? n.best_distance : 99;
    return n.best ? n.best : "-";
}

static void test_nearest(void)
{
    static const char *const names[] = {"filter",   "filterv", "map",       "mapv", "reduce", "<",
                                        "group-by", "count",   "contains?", "inc",  "",       NULL};
    static const struct {
        const char *word, *best;
        size_t distance;
    } cases[] = {
        {"fliter", "filter", 1},
        {"filtr", "filter", 1},
        {"filters", "filter", 1},
        {"filterv", "filterv", 0},
        {"mpa", "map", 1},
        {"ma", "map", 1},
        {"x", "-", 99},
        {"<", "<", 0},
        {"groupby", "group-by", 1},
        {"gruop_by", "group-by", 2},
        {"contain", "contains?", 2},
        {"cont", "count", 1},
        {"reduction", "-", 99},
        {"frequencies", "-", 99},
        {"", "", 0},
        {"nic", "inc", 1},
    };
    size_t distance;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CHECK_STR(nearest(cases[i].word, names, &distance), cases[i].best);
        CHECK(distance == cases[i].distance);
    }
    char word[66], other[66];
    memset(word, 'a', 65);
    memcpy(other, word, 65);
    word[64] = other[64] = 0;
    memcpy(other + 10, "bcdefghijklmnopqrstuv", 21);
    const char *const same[] = {other, NULL};
    CHECK_STR(nearest(word, same, &distance), other);
    CHECK(distance == 21);
    other[31] = 'b';
    CHECK_STR(nearest(word, same, &distance), "-");
    word[64] = 'a';
    word[65] = 0;
    const char *const longer[] = {word, NULL};
    CHECK_STR(nearest(word, longer, &distance), "-");
}

int main(void)
{
    test_structure();
    test_skipped();
    test_names();
    test_numbers();
    test_strings();
    test_chars();
    test_offsets();
    test_sharing();
    test_bracket_errors();
    test_map_errors();
    test_prefix_errors();
    test_refused();
    test_text_errors();
    test_char_errors();
    test_number_errors();
    test_byte_errors();
    test_depth();
    test_digits();
    test_stops();
    test_no_memory();
    test_nearest();
    return check_done("read");
}
