/* SPDX-License-Identifier: MIT
 * fuzz_check.c - any text as a program that is checked before it runs, with tools that give what they declare.  What is
 * refused must fail when it runs unchecked; what is not must end in the same way.  Texts of any size are checked, short
 * ones are run too; time is a count of looks at the clock.  A mutator of its own puts forms in the place of forms. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "unit/even_engine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);

enum { RUN_BYTES = 4096, ENGINE_RUNS = 1000, LOOKS_PER_MS = 10 };

/* ------------------------------------------------------------------------------- engines */

static atomic_int_fast64_t looks;

static int64_t clock_ms(void *user)
{
    (void)user;
    return (atomic_fetch_add(&looks, 1) + 1) / LOOKS_PER_MS;
}

static Ptc *new_fuzz_engine(int64_t check)
{
    PtcOptions options;
    PtcLimits limits;
    ptc_options_init(&options, sizeof options);
    ptc_limits_init(&limits, sizeof limits);
    limits.timeout_ms = 20;
    limits.memory_bytes = 2 << 20;
    limits.loop_limit = 3000;
    limits.max_depth = 200;
    limits.max_int_bits = 1 << 12;
    limits.max_workers = 1;
    limits.result_bytes = 1 << 14;
    limits.check = check;
    options.limits = &limits;
    options.clock_ms = clock_ms;
    Ptc *ptc = ptc_new(&options);
    assert(ptc);
    return ptc;
}

/* An engine for many inputs. */
static Ptc *engine(int64_t check)
{
    static struct {
        Ptc *ptc;
        int runs;
    } all[PTC_CHECK_OFF + 1];
    if (all[check].ptc && ++all[check].runs >= ENGINE_RUNS) {
        assert(free_even_engine(all[check].ptc));
        all[check].ptc = NULL;
        all[check].runs = 0;
    }
    if (!all[check].ptc)
        all[check].ptc = new_fuzz_engine(check);
    return all[check].ptc;
}

/* --------------------------------------------------------------------------------- tools */

typedef struct {
    const char *name, *signature, *json;
} Row;

#define LINE "{\"sku\":\"x\",\"qty\":2,\"unit_price\":1.5}"
static const Row rows[] = {
    {"nums", "() -> [:int]", "[1,2,3]"},
    {"names", "() -> [:string]", "[\"x\",\"y\",\"\"]"},
    {"flag", "() -> :bool", "false"},
    {"user",
     "(id :any?) -> {id :string, name :string, email :string?, address {city :string, zip :int}?, "
     "tags [:string]}",
     "{\"id\":\"u\",\"name\":\"Ada\",\"email\":null,\"tags\":[\"a\",\"b\"]}"},
    {"orders",
     "(month :int?) -> [{id :string, total :float, note :string?, lines [{sku :string, qty :int, "
     "unit_price :float}]}]",
     "[{\"id\":\"a\",\"total\":3.5,\"lines\":[" LINE "," LINE "]},"
     "{\"id\":\"b\",\"total\":2.0,\"note\":\"n\",\"lines\":[" LINE "," LINE "]}]"},
    {"dict", "() -> :map", "{\"a\":{\"n\":1},\"b\":{\"n\":2}}"},
    {"pay", "(id :string, cents :int) -> :bool", "true"},
};

static PtcToolAnswer answer(PtcToolCall *call, void *user)
{
    const Row *row = user;
    ptc_call_return_json(call, row->json, strlen(row->json));
    return PTC_TOOL_ANSWERED;
}

static PtcTools *all_tools(void)
{
    static PtcTools *tools;
    if (tools)
        return tools;
    tools = ptc_tools_new();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PtcToolDef def;
        ptc_tool_def_init(&def, sizeof def);
        def.name = rows[i].name;
        def.name_len = strlen(rows[i].name);
        def.signature = rows[i].signature;
        def.signature_len = strlen(rows[i].signature);
        def.read_only = strcmp(rows[i].name, "pay") != 0;
        def.function = answer;
        def.user = (void *)(uintptr_t)&rows[i];
        PtcStatus status = ptc_tools_add(tools, &def, NULL, 0);
        assert(status == PTC_OK);
        (void)status;
    }
    return tools;
}

/* ---------------------------------------------------------------------------------- runs */

static const char context_json[] = "{\"rows\":[{\"id\":1,\"Unit Price\":2.5},{\"id\":2,\"Unit "
                                   "Price\":3.5}],\"limit\":5,\"s\":\"a,b\","
                                   "\"cfg\":{\"mail\":{\"port\":25},\"mode\":null},\"by_id\":{\"a-"
                                   "1\":[1,2],\"b-2\":[3,4]},\"none\":[]}";

typedef PtcStatus Runner(Ptc *ptc, const PtcRun *run, PtcOutcome **out);

static PtcOutcome *begin(Runner *runner, int64_t check, const char *program, size_t len)
{
    Ptc *ptc = engine(check);
    PtcRun run;
    PtcOutcome *o = NULL;
    PtcData *data = ptc_data_new(ptc, PTC_UNSET);
    atomic_store(&looks, 0);
    ptc_run_init(&run, sizeof run);
    run.program = program;
    run.program_len = len;
    run.tools = all_tools();
    run.context = ptc_make_json(data, context_json, sizeof context_json - 1, NULL, 0);
    PtcStatus status = runner(ptc, &run, &o);
    assert(status == PTC_OK);
    (void)status;
    ptc_data_free(data);
    return o;
}

/* The kind of what ended it; empty when nothing did. */
static const char *kind_of(const PtcOutcome *o, PtcError *e)
{
    *e = (PtcError){.size = sizeof *e};
    return ptc_outcome_error(o, 0, e) ? e->kind : "";
}

/* Does it claim that the program fails?  A key that is missing after a write is refused, but is no failure. */
static bool claims_failure(const PtcOutcome *o)
{
    for (size_t i = 0; i < ptc_outcome_error_count(o); i++) {
        PtcError e = {.size = sizeof e};
        if (ptc_outcome_error(o, i, &e) && strcmp(e.kind, "unknown_key") != 0)
            return true;
    }
    return false;
}

static bool is_limit(const char *kind)
{
    static const char *const kinds[] = {"timeout", "memory_exceeded", "memory_limit",
                                        "loop_limit_exceeded"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kind, kinds[i]) == 0)
            return true;
    return false;
}

static void compare(const char *program, size_t len)
{
    PtcError e, e2;
    PtcOutcome *plain = begin(ptc_eval, PTC_CHECK_OFF, program, len);
    PtcOutcome *checked = begin(ptc_eval, PTC_CHECK_ERROR, program, len);
    PtcOutcome *warned = begin(ptc_eval, PTC_CHECK_WARN, program, len);
    bool limited = is_limit(kind_of(plain, &e)) || is_limit(kind_of(checked, &e2)) ||
                   is_limit(kind_of(warned, &e2));
    if (!limited && claims_failure(checked))
        assert(!ptc_outcome_ok(plain)); /* a false alarm */
    if (!limited)
        assert(ptc_outcome_ok(plain) == ptc_outcome_ok(warned));
    ptc_outcome_free(plain);
    ptc_outcome_free(checked);
    ptc_outcome_free(warned);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *program = malloc(size ? size : 1); /* of exact size, so that reads beyond it are seen */
    if (size)
        memcpy(program, data, size);
    ptc_outcome_free(begin(ptc_check, PTC_CHECK_ERROR, program, size));
    if (size <= RUN_BYTES)
        compare(program, size);
    free(program);
    return 0;
}

/* ------------------------------------------------------------------------------- mutator */

static const char *const forms[] = {
#include "checked/forms.inc"
};

static uint32_t roll(uint32_t *chance, size_t n)
{
    *chance = *chance * 1664525u + 1013904223u;
    return (uint32_t)((*chance >> 8) % n);
}

/* A form of the text that begins at or after `at`: up to the parenthesis that ends it, or one word. */
static size_t end_of_form(const char *text, size_t size, size_t at)
{
    size_t depth = 0, i = at;
    for (; i < size; i++) {
        bool opens = strchr("([{", text[i]) && text[i], closes = strchr(")]}", text[i]) && text[i];
        depth += opens;
        if (closes && depth == 0)
            return i;
        depth -= closes;
        if (depth == 0 && (closes || text[i] == ' '))
            return closes ? i + 1 : i;
    }
    return size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
    uint32_t chance = seed;
    char *old = malloc(size + 1), *text = (char *)data;
    size_t len = 0;
    if (roll(&chance, 8) == 0 || size == 0) {
        free(old);
        return LLVMFuzzerMutate(data, size, max);
    }
    memcpy(old, data, size);
    size_t at = roll(&chance, size);
    while (at > 0 && !strchr(" ([{@", old[at - 1]))
        at--;
    size_t end = end_of_form(old, size, at);
    const char *form = forms[roll(&chance, sizeof forms / sizeof *forms)];
    size_t most = at + strlen(form) + 4 * (end - at) + (size - end);
    if (most <= max) {
        len = at;
        for (; *form; form++) {
            if (*form == 'F' && roll(&chance, 4) > 0) {
                memcpy(text + len, old + at, end - at);
                len += end - at;
            } else if (*form == 'F') {
                text[len++] = 'x';
            } else {
                text[len++] = *form;
            }
        }
        memcpy(text + len, old + end, size - end);
        len += size - end;
    }
    free(old);
    return len ? len : size;
}
