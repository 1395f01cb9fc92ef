/* SPDX-License-Identifier: MIT
 * JSON text to values and back.  Text that is not JSON, and values that have no JSON form, give nil, which a
 * program can test for.  Nesting that is too deep is an error, and so is parsing what is no text.  One pair of
 * functions serves under the names that Cheshire, clojure.data.json and habit give them; a program that requires one
 * of these libraries gets errors as that library throws them. */
#include "json/parse.h"
#include "json/time_json.h"
#include "json/write.h"
#include "lisp/vm/record.h"
#include "lisp/vm/vm_int.h"

#define ALIAS(id, of, flags_, name_, usage_, doc_, examples_) \
    ALIAS_IN(id, "json", of, flags_, name_, usage_, doc_, examples_)
#define ALIAS_IN(id, ns_, of, flags_, name_, usage_, doc_, examples_) \
    PTC_BUILTIN_ROW(id, run_##of, ns_, name_, 1, -1, flags_, usage_, doc_, examples_)

/* ------------------------------------------------------------------ options */

static bool is_option_keyword(PtcValue v, const char *word)
{
    return ptc_is_keyword(v) && strcmp(ptc_str_bytes(v), word) == 0;
}

/* An option, given as :name value after the first argument or in a map there; nil when absent. */
static PtcValue find_json_option(PtcVM *vm, int argc, const PtcValue *argv, const char *name)
{
    if (argc == 2 && ptc_is_map(argv[1])) {
        PtcValue key, value;
        for (size_t pos = 0; ptc_map_next(argv[1], &pos, &key, &value);) {
            if (!ptc_tick(&vm->budget, 1))
                return PTC_NIL;
            if (is_option_keyword(key, name))
                return value;
        }
        return PTC_NIL;
    }
    for (int i = 1; i + 1 < argc; i += 2)
        if (is_option_keyword(argv[i], name))
            return argv[i + 1];
    return PTC_NIL;
}

/* Options come in pairs; two arguments are a value and one thing that stands for them. */
static bool check_pairs(PtcVM *vm, int argc, const PtcValue *argv)
{
    for (int i = 1; argc > 2 && i < argc; i += 2)
        if (!ptc_is_keyword(argv[i]) || i + 1 == argc)
            return ptc_fail_type(vm, argv, i, "a keyword with its value after it");
    return true;
}

/* ------------------------------------------------------------------- parsing */

/* The value of the text; PTC_UNBOUND when it is not JSON, and *error says why.  False: out of memory or time. */
static bool parse_once(PtcVM *vm, PtcValue text, PtcJsonError *error, PtcValue *out)
{
    PtcValue v = ptc_json_parse(vm->heap, ptc_str_bytes(text), ptc_str_len(text), error);
    if (v == PTC_NONE && (error->stopped || vm->budget.stop != PTC_STOP_NONE))
        return false;
    *out = v == PTC_NONE ? PTC_UNBOUND : v;
    return true;
}

static bool call_named(PtcVM *vm, const char *name, int argc, const PtcValue *argv, PtcValue *out)
{
    int row = ptc_builtin_find(name, strlen(name));
    return ptc_call(vm, ptc_builtin((uint32_t)row), argc, argv, out);
}

/* For postwalk: changes the keys of a map with the function in the record. */
PTC_BUILTIN(json_rename, "ptc", "json-rename", 2, 2, PTC_B_HIDDEN | PTC_B_CALLS, "(rename x)",
            "Changes the keys of x with a function, when x is a map.", "")
{
    *out = argv[1];
    if (!ptc_is_map(argv[1]))
        return true;
    PtcValue args[2] = {argv[1], ptc_record_field(argv[0], 1)};
    return call_named(vm, "clojure.core/update-keys", 2, args, out);
}

/* Gives every key of every map to the function, or makes it a keyword for `true` and `keyword`. */
static bool change_json_keys(PtcVM *vm, PtcValue value, PtcValue f, PtcValue *out)
{
    int keyword = ptc_builtin_find("clojure.core/keyword", 20);
    if (f == PTC_TRUE || (ptc_is_builtin(f) && (int)ptc_builtin_index(f) == keyword))
        return call_named(vm, "clojure.walk/keywordize-keys", 1, &value, out);
    PtcValue *slots = ptc_roots(vm, 2);
    if (!slots)
        return false;
    slots[1] = value;
    slots[0] = PTC_RETRY(vm, ptc_fn_record(vm, "json-rename", &f, 1));
    return slots[0] != PTC_NONE && call_named(vm, "clojure.walk/postwalk", 2, slots, out);
}

/* Which function the keys go through; nil: they stay strings. */
static bool key_function(PtcVM *vm, int argc, const PtcValue *argv, PtcValue *f)
{
    bool direct = argc == 2 && !ptc_is_map(argv[1]);
    *f = direct ? argv[1] : find_json_option(vm, argc, argv, "key-fn");
    if (!direct && *f == PTC_NIL && ptc_truthy(find_json_option(vm, argc, argv, "keywordize")))
        *f = PTC_TRUE;
    if (*f == PTC_NIL || *f == PTC_FALSE) {
        *f = PTC_NIL;
        return true;
    }
    if (*f != PTC_TRUE && (!ptc_is_callable(*f) || ptc_is_keyword(*f)))
        return ptc_fail_value_type(vm, *f, "the key function", "true or a function");
    return true;
}

static bool fail_json_parse(PtcVM *vm, const PtcJsonError *error)
{
    ptc_fail_here(vm, PTC_E_VALUE, "this is not JSON, at line %u, column %u: %s", error->line,
                  error->column, error->message);
    return ptc_fail_hint(vm, "json/parse-string, without a require, gives nil instead");
}

/* strict: text that is not JSON is an error, not nil. */
static bool parse_json_argument(PtcVM *vm, int argc, const PtcValue *argv, bool strict,
                                PtcValue *out)
{
    PtcJsonError error;
    PtcValue f, *slot = ptc_roots(vm, 1);
    if (!slot || !check_pairs(vm, argc, argv) || !key_function(vm, argc, argv, &f))
        return false;
    *out = PTC_NIL;
    if (argv[0] == PTC_NIL && !strict)
        return vm->budget.stop == PTC_STOP_NONE;
    if (!ptc_is_string(argv[0]))
        return ptc_fail_type(vm, argv, 0, "JSON text");
    if (!PTC_RETRY(vm, parse_once(vm, argv[0], &error, slot)))
        return false;
    if (*slot == PTC_UNBOUND) {
        *slot = PTC_NIL;
        return !strict || fail_json_parse(vm, &error);
    }
    *out = *slot;
    return f == PTC_NIL || *slot == PTC_NIL || change_json_keys(vm, *slot, f, out);
}

PTC_BUILTIN_EXPR(
    json_parse_string, "json", "parse-string", 1, -1,
    PTC_B_CALLS | PTC_TAKES(PTC_IS_NIL | PTC_IS_STRING), "(json/parse-string text key-fn?)",
    "The value of JSON text, nil when it is not JSON, and for nil. Keys are strings; with "
    "true or a function after the text they become keywords or what the function gives. "
    "Anything but text is an error: answers of tools are values already.",
    "(json/parse-string \"{\\\"a\\\": [1, 2.5, null]}\") => {\"a\" [1 2.5 nil]}\n"
    "(json/parse-string \"{\\\"a\\\": 1}\" true) => {:a 1}\n"
    "(json/parse-string \"{a: 1}\") => nil\n"
    "(json/parse-string {:a 1}) !! type_error\n"
    "(json/parse-string \"[1]\" 5) !! type_error",
    parse_json_argument(vm, argc, argv, false, out))

ALIAS(json_parse, json_parse_string, PTC_B_CALLS | PTC_TAKES(PTC_IS_NIL | PTC_IS_STRING), "parse",
      "(json/parse text key-fn?)", "The same as json/parse-string.",
      "(json/parse \"[1, 2]\") => [1 2]\n(json/parse \"\") => nil");
ALIAS(json_decode, json_parse_string, PTC_B_CALLS | PTC_TAKES(PTC_IS_NIL | PTC_IS_STRING), "decode",
      "(json/decode text key-fn?)", "The same as json/parse-string.",
      "(json/decode \"{\\\"a\\\": 1}\" true) => {:a 1}");
ALIAS(json_read_str, json_parse_string, PTC_B_CALLS | PTC_TAKES(PTC_IS_NIL | PTC_IS_STRING),
      "read-str", "(json/read-str text :key-fn keyword)",
      "The value of JSON text, nil when it is not JSON; the option :key-fn changes the keys.",
      "(json/read-str \"{\\\"a\\\": 1}\") => {\"a\" 1}\n"
      "(json/read-str \"{\\\"a\\\": {\\\"b\\\": 1}}\" :key-fn keyword) => {:a {:b 1}}\n"
      "(json/read-str \"{\\\"a\\\": 1}\" :key-fn 1) !! type_error");

PTC_BUILTIN_EXPR(
    data_read_str, "clojure.data.json", "read-str", 1, -1, PTC_B_CALLS,
    "(clojure.data.json/read-str text :key-fn keyword)",
    "The value of JSON text; text that is not JSON is an error. The option :key-fn changes the "
    "keys.",
    "(clojure.data.json/read-str \"{\\\"a\\\": [1, null]}\" :key-fn keyword) => {:a [1 nil]}\n"
    "(clojure.data.json/read-str \"{a: 1}\") !! value_error\n"
    "(clojure.data.json/read-str nil) !! type_error",
    parse_json_argument(vm, argc, argv, true, out))

PTC_BUILTIN(
    cheshire_parse_string, "cheshire.core", "parse-string", 1, -1, PTC_B_CALLS,
    "(cheshire.core/parse-string text key-fn?)",
    "The value of JSON text, nil for nil and empty text; other text that is not JSON is an error.",
    "(cheshire.core/parse-string \"{\\\"a\\\": 1}\" true) => {:a 1}\n"
    "(cheshire.core/parse-string \"\") => nil\n"
    "(cheshire.core/parse-string \"{a: 1}\") !! value_error")
{
    bool none = argv[0] == PTC_NIL || (ptc_is_string(argv[0]) && ptc_str_len(argv[0]) == 0);
    return parse_json_argument(vm, argc, argv, !none, out);
}
ALIAS_IN(cheshire_decode, "cheshire.core", cheshire_parse_string,
         PTC_B_CALLS | PTC_TAKES(PTC_IS_NIL | PTC_IS_STRING), "decode",
         "(cheshire.core/decode text key-fn?)", "The same as cheshire.core/parse-string.",
         "(cheshire.core/decode \"[1]\") => [1]\n(cheshire.core/decode \"[\") !! value_error");

/* ------------------------------------------------------------------- writing */

static bool add_break(PtcBuf *buf, size_t depth)
{
    static const char spaces[] = "                                ";
    if (!ptc_buf_add_char(buf, '\n'))
        return false;
    for (size_t left = depth * 2; left > 0;) {
        size_t n = left < sizeof spaces - 1 ? left : sizeof spaces - 1;
        if (!ptc_buf_add(buf, spaces, n))
            return false;
        left -= n;
    }
    return true;
}

/* Where the JSON string that begins at `i` ends: behind its closing quote. */
static size_t skip_json_string(const PtcBuf *json, size_t i)
{
    for (i++; json->data[i] != '"'; i++)
        i += json->data[i] == '\\';
    return i + 1;
}

/* Compact JSON with line breaks and two spaces a level. */
static bool indent(PtcVM *vm, const PtcBuf *json, PtcBuf *out)
{
    size_t depth = 0;
    bool ok = true;
    for (size_t i = 0; ok && i < json->len && ptc_tick(&vm->budget, 1);) {
        char c = json->data[i];
        size_t end = c == '"' ? skip_json_string(json, i) : i + 1;
        bool opens = c == '{' || c == '[', closes = c == '}' || c == ']';
        bool empty = opens && (json->data[end] == '}' || json->data[end] == ']');
        if (empty)
            end++;
        if (closes)
            ok = add_break(out, --depth);
        ok = ok && ptc_buf_add(out, json->data + i, end - i);
        if (opens && !empty)
            ok = ok && add_break(out, ++depth);
        else if (c == ',')
            ok = ok && add_break(out, depth);
        else if (c == ':')
            ok = ok && ptc_buf_add_char(out, ' ');
        i = end;
    }
    return ok && vm->budget.stop == PTC_STOP_NONE;
}

/* The text in buf as a string.  A buffer that is full or failed means out of memory. */
static bool give_text(PtcVM *vm, PtcBuf *buf, bool ok, PtcValue *out)
{
    PtcValue v = ok ? ptc_str_take(vm->heap, buf) : PTC_NONE;
    if (!ok && !ptc_buf_ok(buf))
        ptc_budget_halt(&vm->budget, PTC_STOP_MEMORY);
    *out = v;
    return v != PTC_NONE;
}

static bool fail_write(PtcVM *vm, const PtcJsonError *error)
{
    ptc_fail_here(vm, PTC_E_VALUE, "the value has no JSON: %s", error->message);
    return ptc_fail_hint(vm, "json/generate-string, without a require, gives nil instead");
}

/* strict: a value without JSON is an error, not nil. */
static bool write_once(PtcVM *vm, PtcValue v, bool pretty, bool strict, PtcValue *out)
{
    PtcBuf json, lines;
    PtcJsonError error;
    PtcJsonWriter writer = {.heap = vm->heap, .float_precision = -1, .other = ptc_time_json};
    ptc_heap_buf_init(vm->heap, &json);
    ptc_heap_buf_init(vm->heap, &lines);
    bool ok = ptc_json_write(&writer, &json, v, &error);
    if (error.too_deep) {
        ptc_fail_here(vm, PTC_E_VALUE, "the value is nested deeper than %d levels",
                      PTC_JSON_MAX_DEPTH);
        ptc_fail_hint(vm, "JSON that deep could not be read back; pr-str writes any value");
    } else if (!ok && ptc_buf_ok(&json) && !error.stopped && vm->budget.stop == PTC_STOP_NONE) {
        *out = PTC_NIL;
        ok = !strict || fail_write(vm, &error);
    } else if (ok && pretty) {
        ok = give_text(vm, &lines, indent(vm, &json, &lines), out);
    } else {
        ok = give_text(vm, &json, ok, out);
    }
    ptc_buf_deinit(&json);
    ptc_buf_deinit(&lines);
    return ok;
}

static bool generate(PtcVM *vm, int argc, const PtcValue *argv, bool strict, PtcValue *out)
{
    if (!check_pairs(vm, argc, argv))
        return false;
    bool pretty = ptc_truthy(find_json_option(vm, argc, argv, "pretty")) ||
                  ptc_truthy(find_json_option(vm, argc, argv, "indent"));
    return write_once(vm, argv[0], pretty, strict, out);
}

PTC_BUILTIN_EXPR(
    json_generate_string, "json", "generate-string", 1, -1, PTC_GIVES(PTC_IS_NIL | PTC_IS_STRING),
    "(json/generate-string value {:pretty true}?)",
    "The value as JSON text, nil when it has none (a function, NaN, two keys that become "
    "one). Keywords become strings, sets arrays, dates and constants such as "
    "DayOfWeek/MONDAY their text.",
    "(json/generate-string {:a [1 2.5 nil]}) => \"{\\\"a\\\":[1,2.5,null]}\"\n"
    "(json/generate-string {:a 1} {:pretty true}) => \"{\\n  \\\"a\\\": 1\\n}\"\n"
    "(json/generate-string inc) => nil\n"
    "(json/generate-string) !! arity_error",
    generate(vm, argc, argv, false, out))

ALIAS(
    json_write_str, json_generate_string, PTC_GIVES(PTC_IS_NIL | PTC_IS_STRING), "write-str",
    "(json/write-str value)", "The same as json/generate-string.",
    "(json/write-str [1 \"a\" :b]) => \"[1,\\\"a\\\",\\\"b\\\"]\"\n(json/write-str ##NaN) => nil");
ALIAS(json_stringify, json_generate_string, PTC_GIVES(PTC_IS_NIL | PTC_IS_STRING), "stringify",
      "(json/stringify value)", "The same as json/generate-string.",
      "(json/stringify {:a 1}) => \"{\\\"a\\\":1}\"\n(json/stringify nil) => \"null\"");
ALIAS(json_encode, json_generate_string, PTC_GIVES(PTC_IS_NIL | PTC_IS_STRING), "encode",
      "(json/encode value {:pretty true}?)", "The same as json/generate-string.",
      "(json/encode #{1}) => \"[1]\"");

PTC_BUILTIN_EXPR(data_write_str, "clojure.data.json", "write-str", 1, -1, 0,
                 "(clojure.data.json/write-str value :indent true)",
                 "The value as JSON text; one that has none is an error.",
                 "(clojure.data.json/write-str {:a [1 nil]}) => \"{\\\"a\\\":[1,null]}\"\n"
                 "(clojure.data.json/write-str inc) !! value_error",
                 generate(vm, argc, argv, true, out))
ALIAS_IN(cheshire_generate_string, "cheshire.core", data_write_str, PTC_GIVES(PTC_IS_STRING),
         "generate-string", "(cheshire.core/generate-string value {:pretty true})",
         "The value as JSON text; one that has none is an error.",
         "(cheshire.core/generate-string {:a 1}) => \"{\\\"a\\\":1}\"\n"
         "(cheshire.core/generate-string ##NaN) !! value_error");
ALIAS_IN(
    cheshire_encode, "cheshire.core", data_write_str, PTC_GIVES(PTC_IS_STRING), "encode",
    "(cheshire.core/encode value {:pretty true})", "The same as cheshire.core/generate-string.",
    "(cheshire.core/encode [1 nil]) => \"[1,null]\"\n(cheshire.core/encode inc) !! value_error");

PTC_BUILTIN_TABLE(ptc_lib_json, data_read_str, cheshire_parse_string, cheshire_decode,
                  data_write_str, cheshire_generate_string, cheshire_encode, json_parse_string,
                  json_parse, json_decode, json_read_str, json_generate_string, json_write_str,
                  json_stringify, json_encode, json_rename);
