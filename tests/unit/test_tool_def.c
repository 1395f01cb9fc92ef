/* SPDX-License-Identifier: MIT
 * Definitions of tools: names, what goes together, exposure.  Run from the repository's root, or give the directory of
 * the case files. */
#include "boundary_help.h"

#include "lisp/read/form.h"
#include "tool/order.h"
#include "tool/tool.h"

/* -------------------------------------------------------------------- exposure */

static PtcExpose expose_of(PtcValue v)
{
    PtcExpose e = PTC_EXPOSE_UNSET;
    CHECK(v == PTC_NONE || v == PTC_NIL || ptc_expose_parse(ptc_str_bytes(v), ptc_str_len(v), &e));
    return e;
}

static PtcOutput output_of(PtcValue in)
{
    return is_text(get(in, "output"), "text") ? PTC_OUTPUT_TEXT : PTC_OUTPUT_PTC_LISP;
}

static PtcTransport transport_of(PtcValue in)
{
    PtcValue v = get(in, "ptc_transport");
    return is_text(v, "tool_call") ? PTC_TRANSPORT_TOOL_CALL
           : is_text(v, "content") ? PTC_TRANSPORT_CONTENT
                                   : PTC_TRANSPORT_UNSET;
}

static unsigned allowed_of(PtcValue in)
{
    PtcIter it;
    PtcValue x;
    PtcExpose e;
    unsigned bits = 0;
    CHECK(ptc_iter_init(&it, &h.heap, get(in, "allowed")));
    while (ptc_iter_next(&it, &x))
        if (ptc_expose_parse(ptc_str_bytes(x), ptc_str_len(x), &e))
            bits |= 1u << e;
    return bits;
}

/* The tools of a case, from a list or a map. */
/* A tool in a list or in a map from names to tools. */
typedef struct Exposed {
    PtcText key; /* its name there */
    PtcExpose expose;
    const void *tool; /* the caller's */
} Exposed;

/* Keeps the tools whose effective exposure is in `allowed` (bits 1u << PTC_EXPOSE_...) and returns how many; the
 * others are removed.  A list keeps its order; a map is sorted by name. */
static size_t filter_by_expose(Exposed *tools, size_t n, bool is_map, PtcOutput output,
                               PtcTransport transport, unsigned allowed)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (allowed >> ptc_effective_expose(tools[i].expose, output, transport) & 1)
            tools[kept++] = tools[i];
    if (is_map)
        (void)!ptc_order_sort(NULL, tools, kept, sizeof *tools);
    return kept;
}

static size_t tools_of(PtcValue in, Exposed *tools)
{
    PtcValue all = get(in, "tools"), key, tool;
    PtcIter it;
    size_t n = 0, pos = 0;
    if (ptc_is_map(all)) {
        for (; ptc_map_next(all, &pos, &key, &tool); n++)
            tools[n] = (Exposed){{ptc_str_bytes(key), ptc_str_len(key)},
                                 expose_of(get(tool, "expose")),
                                 ptc_str_bytes(get(tool, "name"))};
        return n;
    }
    CHECK(ptc_iter_init(&it, &h.heap, all));
    for (; ptc_iter_next(&it, &tool); n++)
        tools[n] =
            (Exposed){{NULL, 0}, expose_of(get(tool, "expose")), ptc_str_bytes(get(tool, "name"))};
    return n;
}

static void case_filter(PtcValue in, PtcValue expect_)
{
    Exposed tools[100];
    PtcValue names = get(expect_, "names");
    size_t n = filter_by_expose(tools, tools_of(in, tools), is_text(get(in, "form"), "map"),
                                output_of(in), transport_of(in), allowed_of(in));
    bool same = n == ptc_seq_count(names);
    for (size_t i = 0; same && i < n; i++)
        same = is_text(ptc_seq_nth(names, i), tools[i].tool);
    check_case(same, "names");
}

static void case_exposure(PtcValue in, PtcValue expect_)
{
    PtcValue agent = get(in, "agent");
    if (is_text(get(in, "op"), "filter")) {
        case_filter(in, expect_);
        return;
    }
    PtcValue mode = agent == PTC_NONE ? in : agent;
    PtcExpose e =
        ptc_effective_expose(expose_of(get(in, "expose")), output_of(mode), transport_of(mode));
    check_case(is_text(get(expect_, "effective"), ptc_expose_name(e)), "effective");
}

static void test_exposure(void)
{
    PtcExpose e;
    CHECK(ptc_effective_expose(PTC_EXPOSE_UNSET, PTC_OUTPUT_TEXT, PTC_TRANSPORT_UNSET) ==
          PTC_EXPOSE_NATIVE);
    CHECK(ptc_effective_expose(PTC_EXPOSE_UNSET, PTC_OUTPUT_TEXT, PTC_TRANSPORT_TOOL_CALL) ==
          PTC_EXPOSE_NATIVE);
    CHECK(ptc_effective_expose(PTC_EXPOSE_UNSET, PTC_OUTPUT_PTC_LISP, PTC_TRANSPORT_CONTENT) ==
          PTC_EXPOSE_PTC_LISP);
    CHECK(ptc_effective_expose(PTC_EXPOSE_BOTH, PTC_OUTPUT_TEXT, PTC_TRANSPORT_UNSET) ==
          PTC_EXPOSE_BOTH);
    Exposed tools[] = {{{"a", 1}, PTC_EXPOSE_NATIVE, NULL},
                       {{"b", 1}, PTC_EXPOSE_BOTH, NULL},
                       {{"c", 1}, PTC_EXPOSE_PTC_LISP, NULL}};
    size_t n = filter_by_expose(tools, 3, false, PTC_OUTPUT_TEXT, PTC_TRANSPORT_TOOL_CALL,
                                1u << PTC_EXPOSE_NATIVE | 1u << PTC_EXPOSE_BOTH);
    CHECK(n == 2 && tools[0].key.bytes[0] == 'a' && tools[1].key.bytes[0] == 'b');
    CHECK(!ptc_expose_parse("Native", 6, &e) && e == PTC_EXPOSE_UNSET);
    CHECK(!ptc_expose_parse("", 0, &e) && !ptc_expose_parse("bothe", 5, &e));
    CHECK(ptc_expose_parse("ptc_lisp", 8, &e) && e == PTC_EXPOSE_PTC_LISP);
}

/* Any number of names comes out in order. */
static void test_order(void)
{
    static char texts[200][12];
    static PtcText items[200];
    uint64_t chance = 7;
    for (size_t n = 0; n <= 200; n++) {
        for (size_t i = 0; i < n; i++) {
            int len = snprintf(texts[i], sizeof texts[i], "%llu",
                               (unsigned long long)(check_random(&chance) % 300));
            items[i] = (PtcText){texts[i], (size_t)len};
        }
        CHECK(ptc_order_sort(&h.budget, items, n, sizeof *items));
        for (size_t i = 1; i < n; i++)
            CHECK(strcmp(items[i - 1].bytes, items[i].bytes) <= 0);
    }
    PtcCancel cancel = {.asked = true};
    h.budget.cancel = &cancel;
    ptc_fuel_set(&h.budget, 10);
    CHECK(!ptc_order_sort(&h.budget, items, 200, sizeof *items));
    ptc_budget_init(&h.budget);
}

/* ----------------------------------------------------------------------- names */

/* Is (tool/NAME) read as a call of the symbol tool/NAME? */
static bool is_readable(const char *name)
{
    char program[256], symbol[256];
    PtcArena arena;
    PtcDiags diags = {0};
    PtcForm **forms = NULL;
    size_t count = 0;
    snprintf(program, sizeof program, "(tool/%s)", name);
    snprintf(symbol, sizeof symbol, "tool/%s", name);
    ptc_arena_init(&arena, &h.mem);
    PtcReader reader = {program, strlen(program), &arena, &h.heap, &diags};
    bool ok = ptc_read(&reader, &forms, &count) && count == 1 && forms[0]->kind == PTC_F_LIST &&
              forms[0]->count == 1 && forms[0]->items[0]->kind == PTC_F_SYMBOL &&
              forms[0]->items[0]->len == strlen(symbol) &&
              memcmp(forms[0]->items[0]->text, symbol, strlen(symbol)) == 0;
    ptc_arena_deinit(&arena);
    return ok;
}

static const char *name_fault(const char *name, size_t len)
{
    static PtcWhy why;
    return ptc_tool_check_name(name, len, &why) ? "" : why.text;
}

static void test_names(void)
{
    static const char *const good[] = {
        "get_user", "get-config", "nil", "count", "a",   "2nd",  "ok?", "go!",       "a.b.c",
        "x->y",     "_",          "-",   "*",     "a=b", "true", "$x",  "lisp_evals"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        CHECK_STR(name_fault(good[i], strlen(good[i])), "");
        CHECK(is_readable(good[i]));
    }
    /* Whatever is accepted can be written. */
    for (int c = 1; c < 256; c++) {
        char name[] = {'a', (char)c, 'b', 0}, alone[] = {(char)c, 0};
        CHECK(name_fault(name, 3)[0] || is_readable(name));
        CHECK(name_fault(alone, 1)[0] || is_readable(alone));
    }
    CHECK_STR(name_fault("", 0), "a tool needs a name");
    CHECK_STR(name_fault(NULL, 0), "a tool needs a name");
    CHECK_STR(name_fault("call", 4),
              "tool/call is a function of the language: choose another name");
    CHECK_STR(name_fault("lisp_eval", 9),
              "lisp_eval is the tool that runs programs: choose another name");
    CHECK_STR(name_fault("a/b", 3), "a tool's name may not have `/`, as in `a/b`: it is made of "
                                    "letters, digits and _-.?!*+<>=&$");
    CHECK_STR(name_fault("gr\xc3\xb6\xc3\x9f", 6),
              "a tool's name may not have `ö`, as in `größ`: it is "
              "made of letters, digits and _-.?!*+<>=&$");
    CHECK(strstr(name_fault("a b", 3), "byte 0x20 at position 2") != NULL);
    CHECK(strstr(name_fault("a\0b", 3), "byte 0x00 at position 2") != NULL);
    CHECK(strstr(name_fault("a\xff", 2), "byte 0xFF at position 2") != NULL);
    CHECK(strstr(name_fault("a.", 2), "begin or end with a dot") != NULL);
    char name[200];
    memset(name, 'n', sizeof name);
    CHECK_STR(name_fault(name, PTC_TOOL_NAME_MAX), "");
    CHECK_STR(name_fault(name, PTC_TOOL_NAME_MAX + 1),
              "a tool's name of 129 bytes is too long: at most 128");
}

/* ----------------------------------------------------------------- definitions */

static const char *fault(const PtcToolInfo *tool)
{
    static PtcWhy why;
    return ptc_tool_check(tool, &why) ? "" : why.text;
}

static PtcToolInfo a_tool(const char *name)
{
    PtcToolInfo t;
    ptc_tool_init(&t, name, strlen(name));
    return t;
}

static void set_signature(PtcToolInfo *t, const char *signature)
{
    t->signature = signature;
    t->signature_len = strlen(signature);
}

/* The forms in which a tool may be defined. */
static void test_forms(void)
{
    PtcToolInfo t = a_tool("get_time");
    CHECK_STR(t.name, "get_time");
    CHECK_STR(ptc_tool_type_name(t.type), "native");
    CHECK(!t.signature && !t.cache && t.expose == PTC_EXPOSE_UNSET && !t.has_native_result);
    CHECK_STR(fault(&t), "");
    t = a_tool("search");
    set_signature(&t, "(query :string, limit :int) -> [{id :int}]");
    CHECK_STR(fault(&t), "");
    t = a_tool("analyze");
    set_signature(&t, "(data :map) -> {score :float}");
    t.description = "Analyze data and return anomaly score";
    t.description_len = strlen(t.description);
    CHECK_STR(fault(&t), "");
    t = a_tool("dynamic");
    t.skip_validation = true;
    CHECK(fault(&t)[0] == 0 && t.signature == NULL);
    set_signature(&t, "() -> :int");
    CHECK_STR(fault(&t), "tool dynamic: a signature and \"skip validation\" exclude each other");
    t = a_tool("get-config");
    set_signature(&t, "(key :string) -> :any");
    t.cache = true;
    CHECK_STR(fault(&t), "");
    t.type = PTC_TOOL_LLM;
    CHECK_STR(ptc_tool_type_name(t.type), "llm");
    t.type = PTC_TOOL_SUBAGENT;
    CHECK_STR(ptc_tool_type_name(t.type), "subagent");
}

static bool no_preview(void *user, PtcHeap *heap, PtcValue result, PtcValue *preview)
{
    (void)user, (void)heap, (void)result, (void)preview;
    return false;
}

static void test_native_result(void)
{
    PtcToolInfo t = a_tool("search_logs");
    t.has_native_result = true;
    CHECK_STR(fault(&t),
              "tool search_logs: native_result needs expose both and cache true, since the "
              "preview points to the cached result; here expose is not set and cache is "
              "false");
    t.expose = PTC_EXPOSE_NATIVE;
    t.cache = true;
    CHECK(strstr(fault(&t), "here expose is native and cache is true") != NULL);
    t.expose = PTC_EXPOSE_BOTH;
    CHECK_STR(fault(&t), "");
    CHECK(t.native_result.kind == PTC_PREVIEW_METADATA && t.native_result.limit == 20);
    t.cache = false;
    CHECK(strstr(fault(&t), "here expose is both and cache is false") != NULL);
    t.has_native_result = false; /* legal: the program's call runs the tool again */
    CHECK_STR(fault(&t), "");
    t.has_native_result = t.cache = true;
    t.native_result.limit = 0;
    CHECK_STR(fault(&t), "tool search_logs: native_result.limit is 0, expected 1 to 10000");
    t.native_result.limit = -3;
    CHECK(strstr(fault(&t), "is -3,") != NULL);
    t.native_result.limit = 1;
    t.native_result.kind = PTC_PREVIEW_CUSTOM;
    CHECK_STR(fault(&t), "tool search_logs: native_result.preview has no function");
    t.native_result.fn = no_preview;
    CHECK_STR(fault(&t), "");
    t.timeout_ms = -1;
    CHECK_STR(fault(&t), "tool search_logs: timeout_ms is -1, expected at least 1");
    t.timeout_ms = 0;
    t.description = "\xff";
    t.description_len = 1;
    CHECK_STR(fault(&t), "tool search_logs: its signature or description is not UTF-8");
}

static void test_copy(void)
{
    char name[] = "find", signature[] = "() -> :int";
    PtcToolInfo t = a_tool(name), copy;
    set_signature(&t, signature);
    t.cache = true;
    for (uint64_t n = 0; n < 5; n++) {
        PtcArena arena;
        ptc_arena_init(&arena, &h.mem);
        ptc_mem_fail_at(&h.mem, n);
        bool ok = ptc_tool_copy(&arena, &t, &copy);
        ptc_mem_fail_at(&h.mem, 0);
        CHECK(ok == (n != 1));
        if (ok) {
            CHECK(copy.name != name && strcmp(copy.name, "find") == 0 && copy.cache);
            CHECK(strcmp(copy.signature, signature) == 0 && copy.description == NULL);
        }
        ptc_arena_deinit(&arena);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1)
        boundary_dir = argv[1];
    check_heap_init(&h);
    CHECK(each_case("exposure.jsonl", case_exposure) == 39);
    test_exposure();
    test_order();
    test_names();
    test_forms();
    test_native_result();
    test_copy();
    CHECK(h.budget.stop == PTC_STOP_NONE);
    check_heap_deinit(&h);
    return check_done("tool_def");
}
