/* SPDX-License-Identifier: MIT
 * test_agent_definition.c - agents from JSON, from C and from files: what is taken, what is refused and where, what
 * follows from the fields, and that schemas/agent.json says the same. */
#include "agent/agent_kinds.h"
#include "agent/definition/definition_int.h"
#include "agent/prompt/response_template.h"
#include "tool/schema/schema.h"
#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/equal.h"

#include "agent_help.h"

#include <sys/stat.h>

static PtcArena arena;
static const PtcSchema *schema;

static bool known_model(void *user, PtcText model, PtcWhy *why)
{
    (void)user;
    return ptc_text_is(model, "haiku") ||
           ptc_why_say(why, PTC_WHY_INVALID, "there is no model %.*s", (int)model.len, model.bytes);
}

static const PtcAgentReading reading = {
    .allow_commands = true, .allow_http = true, .allow_scripts = true, .check_model = known_model};

static PtcAgentDef *read_agent(const char *json, PtcWhy *fault)
{
    return ptc_definition_read_json(ptc_text_cstr(json), &reading, fault);
}

/* --------------------------------------------------------------------------------- files */

static bool schema_takes(const char *json)
{
    PtcValue v = parse(json);
    return v != PTC_NONE &&
           ptc_schema_validate(schema, v, &h.mem, &h.budget, NULL) == PTC_SCHEMA_VALID;
}

static void check_tools(const Case *c, const PtcAgentDef *def)
{
    char names[200] = "";
    for (size_t i = 0; i < def->tools->count; i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? " " : "",
                 def->tools->items[i].info.name);
    if (part(c, "tools"))
        check_text("tools", names, said(part(c, "tools")));
}

static void run_case(const Case *c)
{
    PtcWhy fault;
    const char *json = said(part(c, "agent"));
    const CasePart *bad = part(c, "fault");
    PtcAgentDef *def = read_agent(json, &fault);
    if (check_that((def == NULL) == (bad != NULL), "verdict", def ? "taken" : fault.text, "") &&
        bad) {
        check_text("path", fault.path, bad->value);
        check_text("message", fault.text, bad->text ? bad->text : "");
        check_that(fault.class == PTC_WHY_INVALID && fault.code == PTC_FAULT_INVALID_AGENT, "kind",
                   "", "");
    }
    check_that(schema_takes(json) == (def != NULL || part(c, "beyond")), "schemas/agent.json",
               schema_takes(json) ? "taken" : "refused", "");
    if (def)
        check_tools(c, def);
    ptc_definition_release(def);
}

/* The schema and the reader know the same fields. */
static void test_fields(PtcValue file)
{
    size_t n = 0, pos = 0;
    PtcValue key, properties = ptc_map_field(&h.heap, file, "properties");
    while (ptc_definition_rows[n].name)
        CHECK(ptc_map_field(&h.heap, properties, ptc_definition_rows[n++].name) != PTC_NONE);
    CHECK(n == ptc_map_count(properties));
    while (ptc_map_next(properties, &pos, &key, NULL)) {
        bool found = false;
        for (size_t i = 0; i < n; i++)
            found = found || ptc_text_is(ptc_str_text(key), ptc_definition_rows[i].name);
        CHECK(found);
    }
}

static void check_place(bool ok, const char *place, const PtcToolKind *kind)
{
    if (check_count(ok))
        printf("%s does not say of the tool kind %s what its row says\n", place, kind->key);
}

/* What stands beside the key of a kind is described by the schema as the row says. */
static void check_kind_schema(PtcValue tool, const PtcToolKind *kind)
{
    PtcJsonError e;
    PtcValue all = ptc_map_field(&h.heap, tool, "properties");
    PtcValue there = ptc_map_field(&h.heap, all, kind->key);
    PtcValue row = ptc_json_parse(&h.heap, kind->schema, strlen(kind->schema), &e);
    PtcValue doc = ptc_str_new(&h.heap, kind->doc, strlen(kind->doc));
    row = ptc_map_assoc(&h.heap, row, ptc_str_new(&h.heap, "description", 11), doc);
    check_place(there != PTC_NONE && ptc_equal(&h.heap, there, row), "schemas/agent.json", kind);
}

/* A page has a line of a table about it. */
static void check_kind_page(const PtcToolKind *kind)
{
    char line[100];
    size_t len;
    const char *file = kind->in_agent ? "docs/agents.md" : "docs/tools.md";
    char *page = suite_read(file, &len);
    snprintf(line, sizeof line, "\n| `\"%s\"%s", kind->key, kind->is_word ? "`" : ":");
    check_place(page && strstr(page, line), file, kind);
    free(page);
}

/* The schema, the pages and the reader know the same kinds of tools. */
static void test_kinds(PtcValue file)
{
    size_t i = 0;
    PtcValue one, tool = ptc_map_field(&h.heap, ptc_map_field(&h.heap, file, "$defs"), "tool");
    PtcValue listed = ptc_map_field(&h.heap, tool, "oneOf");
    for (size_t n = 0; ptc_agent_kinds[n]; n++) {
        const PtcToolKind *kind = ptc_agent_kinds[n];
        check_kind_page(kind);
        if (kind->is_word)
            continue;
        check_kind_schema(tool, kind);
        one = ptc_map_field(&h.heap, ptc_seq_nth(listed, i++), "required");
        check_place(ptc_text_is(ptc_str_text(ptc_seq_nth(one, 0)), kind->key), "its oneOf", kind);
    }
    CHECK(i == ptc_seq_count(listed));
}

static void load_schema(void)
{
    size_t len;
    PtcJsonError e;
    PtcSchemaError why;
    char *text = suite_read("schemas/agent.json", &len);
    CHECK(text != NULL);
    PtcValue v = text ? ptc_json_parse(&h.heap, text, len, &e) : PTC_NONE;
    CHECK(v != PTC_NONE && ptc_schema_compile(&arena, &h.mem, &h.budget, v, &schema, &why));
    test_fields(v);
    test_kinds(v);
    free(text);
}

/* ------------------------------------------------------------------------------- results */

static const char *text_of(PtcText t)
{
    static char all[8][4096];
    static int next;
    char *to = all[next++ % 8];
    snprintf(to, sizeof all[0], "%.*s", t.bytes ? (int)t.len : 8, t.bytes ? t.bytes : "(absent)");
    return to;
}

static void test_defaults(void)
{
    PtcWhy fault;
    PtcAgentDef *d = read_agent("{\"prompt\":\"Work.\"}", &fault);
    CHECK(d && d->mode == PTC_MODE_CONTENT && d->max_turns == 5 && d->retry_turns == 0);
    CHECK(d->turn_budget == 20 && d->max_depth == 3 && d->mission_timeout_ms == 0);
    CHECK(d->deadline_ms == 60000 && d->llm_timeout_ms == 0);
    CHECK(d->timeout_ms == 5000 && d->pmap_timeout_ms == 5000 && d->pmap_workers == 8);
    CHECK(d->max_heap == 10485760 && d->memory_limit == 1048576 && d->max_tool_calls == 0);
    CHECK(!d->memory_rollback && !d->explicit_completion && d->float_precision == -1);
    CHECK(d->retry.max_attempts == 0 && d->retry.base_delay_ms == 1000);
    CHECK(d->retry.retryable ==
          (1u << PTC_LLM_RATE_LIMIT | 1u << PTC_LLM_TIMEOUT | 1u << PTC_LLM_SERVER_ERROR));
    CHECK(!d->compaction.enabled && d->compaction.turns == 8 &&
          d->compaction.keep_recent_turns == 3);
    CHECK(d->format.feedback_limit == 10 && d->format.feedback_max_chars == 512);
    CHECK(d->format.preview_max_chars == 250 && d->format.history_max_bytes == 65536);
    CHECK(d->format.result_limit == 50 && d->format.result_max_chars == 500);
    CHECK(d->format.max_print_length == 1 << 20 && d->format.output_max_bytes == 4096 &&
          !d->format.minimal_turn_info);
    CHECK(d->offer_count == 0 && !d->send_schema.bytes && !d->want.sig && !d->answer_type.bytes);
    ptc_definition_release(d);
}

static const struct {
    const char *fields; /* after the prompt */
    PtcAgentMode mode;
    const char *offer, *schema, *type;
    PtcWrap wrap;
} results[] = {
    {"", PTC_MODE_CONTENT, "", "(absent)", "(absent)", PTC_WRAP_NONE},
    {",\"ptc_transport\":\"tool_call\",\"tools\":{\"a\":{\"value\":1,\"expose\":\"both\"}},"
     "\"signature\":\":int\"",
     PTC_MODE_TOOL_CALL, "lisp_eval ", "(absent)", ":int", PTC_WRAP_VALUE},
    {",\"output\":\"text\"", PTC_MODE_TEXT, "", "(absent)", "(absent)", PTC_WRAP_NONE},
    {",\"output\":\"text\",\"signature\":\":string\"", PTC_MODE_TEXT, "", "(absent)", ":string",
     PTC_WRAP_NONE},
    {",\"output\":\"text\",\"signature\":\":any\"", PTC_MODE_TEXT, "", "(absent)", "(absent)",
     PTC_WRAP_NONE},
    {",\"output\":\"text\",\"signature\":\"{a :int?}\"", PTC_MODE_TEXT, "",
     "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"}},\"required\":[],"
     "\"additionalProperties\":false}",
     "{a :int?}", PTC_WRAP_NONE},
    {",\"output\":\"text\",\"signature\":\"[:int]\"", PTC_MODE_TEXT, "",
     "{\"type\":\"object\",\"properties\":{\"items\":{\"type\":\"array\",\"items\":{\"type\":"
     "\"integer\"}}},"
     "\"required\":[\"items\"],\"additionalProperties\":false}",
     "[:int]", PTC_WRAP_ITEMS},
    {",\"output\":\"text\",\"signature\":\":bool\"", PTC_MODE_TEXT, "",
     "{\"type\":\"object\",\"properties\":{\"value\":{\"type\":\"boolean\"}},\"required\":["
     "\"value\"],\"additionalProperties\":false}",
     ":bool", PTC_WRAP_VALUE},
    {",\"output\":\"text\",\"schema\":{\"type\":\"number\"}", PTC_MODE_TEXT, "",
     "{\"type\":\"object\",\"properties\":{\"value\":{\"type\":\"number\"}},\"required\":["
     "\"value\"],\"additionalProperties\":false}",
     "(absent)", PTC_WRAP_VALUE},
    {",\"output\":\"text\",\"schema\":{\"type\":\"object\"}", PTC_MODE_TEXT, "",
     "{\"type\":\"object\"}", "(absent)", PTC_WRAP_NONE},
    {",\"output\":\"text\",\"signature\":\":int\",\"tools\":{\"a-b\":{\"value\":1},\"p\":{"
     "\"value\":1,\"expose\":\"ptc_lisp\"},"
     "\"c\":{\"value\":1,\"expose\":\"both\"}},\"builtin_tools\":[\"grep\"],\"llm_query\":true",
     PTC_MODE_TEXT, "a_b c grep grep_n llm_query ", "(absent)", ":int", PTC_WRAP_VALUE},
    {",\"output\":\"text\",\"ptc_transport\":\"tool_call\",\"tools\":{\"n\":{\"value\":1},\"p\":{"
     "\"value\":1,\"expose\":\"ptc_lisp\"},"
     "\"c\":{\"value\":1,\"expose\":\"both\"},\"w\":{\"agent\":{\"prompt\":\"x\"}}}",
     PTC_MODE_COMBINED, "n c w lisp_eval ", "(absent)", "(absent)", PTC_WRAP_NONE},
};

static void test_results(void)
{
    for (size_t i = 0; i < sizeof results / sizeof *results; i++) {
        char json[1000], offer[200] = "";
        PtcWhy fault;
        snprintf(json, sizeof json, "{\"prompt\":\"Work.\"%s}", results[i].fields);
        PtcAgentDef *d = read_agent(json, &fault);
        CHECK(d != NULL);
        if (!d)
            continue;
        for (size_t k = 0; k < d->offer_count; k++)
            snprintf(offer + strlen(offer), sizeof offer - strlen(offer), "%s ",
                     text_of(d->offer[k].name));
        CHECK(d->mode == results[i].mode && d->want.wrap == results[i].wrap);
        CHECK_STR(offer, results[i].offer);
        CHECK_STR(text_of(d->send_schema), results[i].schema);
        CHECK_STR(text_of(d->answer_type), results[i].type);
        ptc_definition_release(d);
    }
}

/* What models are told that they may give. */
static void test_offered_arguments(void)
{
    static const char json[] =
        "{\"prompt\":\"x\",\"output\":\"text\",\"tools\":{"
        "\"a\":{\"value\":1,\"signature\":\"(n :int) -> :int\"},"
        "\"b\":{\"value\":1,\"signature\":\"(n :int) -> :int\",\"extra\":true},"
        "\"c\":{\"value\":1}}}";
    static const char *const wanted[] = {
        ("{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}},\"required\":[\"n\"],"
         "\"additionalProperties\":false}"),
        "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}},\"required\":[\"n\"]}",
        "{\"type\":\"object\",\"properties\":{}}",
    };
    PtcWhy fault;
    PtcAgentDef *d = read_agent(json, &fault);
    CHECK(d && d->offer_count == 3);
    for (size_t i = 0; d && i < d->offer_count && i < 3; i++)
        CHECK_STR(text_of(d->offer[i].parameters), wanted[i]);
    ptc_definition_release(d);
}

/* Who may call what, in each mode. */
static void test_callers(void)
{
    static const struct {
        const char *mode, *want; /* for unset, native, ptc_lisp, both: n native, p in programs */
    } cases[] = {
        {"\"output\":\"ptc_lisp\"", "p - p p"},
        {"\"ptc_transport\":\"tool_call\"", "p - p p"},
        {"\"output\":\"text\"", "n n - n"},
        {"\"output\":\"text\",\"ptc_transport\":\"tool_call\"", "n n p np"},
    };
    for (size_t i = 0; i < 4; i++) {
        char json[500], got[PTC_WHY_TEXT + PTC_WHY_PATH + 8] = "";
        PtcWhy fault;
        snprintf(
            json, sizeof json,
            "{\"prompt\":\"x\",%s,\"tools\":{\"u\":{\"value\":1},\"n\":{\"value\":1,\"expose\":"
            "\"native\"},"
            "\"p\":{\"value\":1,\"expose\":\"ptc_lisp\"},\"b\":{\"value\":1,\"expose\":\"both\"}}}",
            cases[i].mode);
        PtcAgentDef *d = read_agent(json, &fault);
        for (size_t k = 0; d && k < 4; k++) {
            const PtcAgentTool *t = d->agent_tools[k];
            snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s%s%s", k ? " " : "",
                     t->native ? "n" : "", t->in_programs ? "p" : "",
                     t->native || t->in_programs ? "" : "-");
            CHECK(d->tools->items[k].native_only == !t->in_programs);
        }
        CHECK_STR(got, cases[i].want);
        ptc_definition_release(d);
    }
}

static void test_children(void)
{
    PtcWhy fault;
    PtcAgentDef *d =
        read_agent("{\"prompt\":\"Go {{n}}\",\"signature\":\"(n :int) -> "
                   ":any\",\"description\":\"goes\",\"tools\":{"
                   "\"a\":{\"agent\":{\"prompt\":\"x {{i}}\",\"signature\":\"(i :int) -> "
                   ":int\",\"description\":\"d\",\"llm\":[{\"content\":\"1\"}]},\"llm\":\"haiku\"},"
                   "\"b\":{\"agent\":{\"prompt\":\"x\",\"description\":\"d\"},\"signature\":\"(k "
                   ":map) -> :any\",\"description\":\"own\"},"
                   "\"s\":\"self\","
                   "\"q\":{\"llm\":{\"prompt\":\"{{t}}\",\"signature\":\"(t :string) -> "
                   ":keyword\",\"json_signature\":\"{u :bool, v :int}\","
                   "\"response_template\":\"(if {{u}} [{{v}} {{u}}] :low)\",\"retry_turns\":2}}}}",
                   &fault);
    CHECK(d != NULL);
    if (!d)
        return;
    const PtcTool *tools = d->tools->items;
    const PtcAgentTool *a = d->agent_tools[0], *s = d->agent_tools[2], *q = d->agent_tools[3];
    CHECK_STR(tools[0].info.signature, "(i :int) -> :int");
    CHECK_STR(tools[0].info.description, "d");
    CHECK_STR(text_of(a->model), "haiku");
    CHECK_STR(text_of(a->child->llm_script), "[{\"content\":\"1\"}]");
    CHECK_STR(tools[1].info.signature, "(k :map) -> :any");
    CHECK_STR(tools[1].info.description, "own");
    CHECK(s->child == d && tools[2].info.sig == d->sig);
    CHECK_STR(tools[2].info.description, "goes");
    CHECK(q->child->max_turns == 1 && q->child->retry_turns == 2 &&
          q->child->mode == PTC_MODE_TEXT);
    CHECK_STR(text_of(q->child->answer_type), "{u :bool, v :int}");
    CHECK_STR(tools[3].info.signature, "(t :string) -> :keyword");
    CHECK_STR(text_of(q->response->source), "(if field-0__ [field-1__ field-0__] :low)");
    CHECK(q->response->field_count == 2 && ptc_text_is(q->response->fields[1].key, "v"));
    ptc_definition_release(d);
}

/* ------------------------------------------------------------------------------- context */

static const struct {
    const char *signature, *context, *want; /* JSON, or "path: message" */
} contexts[] = {
    {NULL, "{\"a\":1}", "{\"a\":1}"},
    {NULL, "null", "{}"},
    {NULL, "[1]", "context: found a list; allowed is an object"},
    {NULL, "{\"t\":1}", "context.t: there is a tool of this name: choose another key"},
    {":int", "{\"a\":1}", "{\"a\":1}"},
    {"(n :int) -> :any", "{\"n\":\"5\",\"more\":[1]}", "{\"n\":5,\"more\":[1]}"},
    {"(n :int) -> :any", "{}", "context.n: missing, expected int"},
    {"(n :int?) -> :any", "{}", "{}"},
    {"(n :int) -> :any", "{\"n\":\"x\"}", "context.n: expected int, got string \"x\""},
    {"(rows [{id :int}]) -> :any", "{\"rows\":[{\"id\":1},{\"id\":null}]}",
     "context.rows[1].id: expected int, got nil"},
    {"(user_name :string) -> :any", "{\"user-name\":\"x\"}", "{\"user-name\":\"x\"}"},
};

static void test_contexts(void)
{
    for (size_t i = 0; i < sizeof contexts / sizeof *contexts; i++) {
        PtcWhy fault;
        char got[PTC_WHY_TEXT + PTC_WHY_PATH + 8];
        PtcAgentDef *d = ptc_definition_new();
        PtcTool tool = {.function = NULL};
        d->prompt = PTC_TEXT("x");
        d->signature = ptc_text_cstr(contexts[i].signature);
        ptc_tool_init(&tool.info, "t", 1);
        CHECK(ptc_toolset_put(d->tools, &tool, NULL));
        CHECK(ptc_definition_finish(d, &fault));
        PtcValue v = ptc_definition_context(d, &h.heap, &h.mem, parse(contexts[i].context), &fault);
        if (v == PTC_NONE)
            snprintf(got, sizeof got, "%s: %s", fault.path, fault.text);
        CHECK_STR(v == PTC_NONE ? got : write(v), contexts[i].want);
        CHECK(v != PTC_NONE || fault.code == PTC_FAULT_INVALID_INPUT);
        ptc_definition_release(d);
    }
}

/* --------------------------------------------------------------------------------- from C */

static void test_from_c(void)
{
    PtcWhy fault;
    PtcAgentDef *d = ptc_definition_new();
    d->prompt = PTC_TEXT("Work.");
    d->max_turns = 1001;
    CHECK(!ptc_definition_finish(d, &fault));
    CHECK_STR(fault.path, "max_turns");
    CHECK_STR(fault.text, "found 1001; allowed is a whole number from 1 to 1000");
    ptc_definition_release(d);
    d = ptc_definition_new();
    d->prompt = PTC_TEXT("Work.");
    d->output = PTC_OUTPUT_TEXT;
    d->compaction.enabled = true;
    CHECK(!ptc_definition_finish(d, &fault));
    CHECK_STR(fault.path, "compaction");
    ptc_definition_release(d);
    d = ptc_definition_new();
    PtcTool tool = {.function = NULL};
    ptc_tool_init(&tool.info, "odd.name", 8);
    CHECK(ptc_toolset_put(d->tools, &tool, NULL));
    d->prompt = PTC_TEXT("Work.");
    CHECK(!ptc_definition_finish(d, &fault));
    CHECK_STR(fault.path, "tools.odd.name");
    ptc_definition_release(d);
}

static void test_retry(void)
{
    PtcWhy fault;
    PtcLlmRetry retry = {.base_delay_ms = 7, .retryable = 3};
    CHECK(ptc_definition_read_retry(parse("{\"max_attempts\":2,\"backoff\":\"constant\"}"), &retry,
                                    &fault));
    CHECK(retry.max_attempts == 2 && retry.backoff == PTC_BACKOFF_CONSTANT &&
          retry.base_delay_ms == 7);
    CHECK(!ptc_definition_read_retry(parse("{\"max_attempt\":2}"), &retry, &fault));
    CHECK_STR(fault.path, "llm_retry.max_attempt");
}

/* ------------------------------------------------------------------------ files on a disk */

static char dir[] = "/tmp/ptc-agents-XXXXXX";

static void put_file(const char *name, const char *text)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    CHECK(f != NULL);
    if (f) {
        fputs(text, f);
        fclose(f);
    }
}

/* Opens a file of the directory; "" or "path: message". */
static const char *open_file(const char *name, PtcAgentDef **def)
{
    static char got[PTC_WHY_TEXT + PTC_WHY_PATH + 8];
    char path[300];
    PtcWhy fault = {.class = PTC_WHY_NONE};
    snprintf(path, sizeof path, "%s/%s", dir, name);
    *def = ptc_definition_open(path, &reading, &fault);
    char *where = strstr(fault.text, dir);
    if (where) /* names begin with the directory's, which is new each time */
        memmove(where, where + strlen(dir) + 1, strlen(where + strlen(dir) + 1) + 1);
    snprintf(got, sizeof got, "%s%s%s", fault.path, *def ? "" : ": ", fault.text);
    return got;
}

static void check_file(const char *name, const char *want)
{
    PtcAgentDef *def;
    CHECK_STR(open_file(name, &def), want);
    ptc_definition_release(def);
}

#define AGENT(file) "{\"prompt\":\"x\",\"tools\":{\"t\":{\"agent\":\"" file "\"}}}"

static void put_chain(void)
{
    char name[40], text[200];
    for (int i = 0; i < 17; i++) {
        snprintf(name, sizeof name, "deep%d.json", i);
        snprintf(text, sizeof text, AGENT("deep%d.json"), i + 1);
        put_file(name, i == 16 ? "{\"prompt\":\"x\"}" : text);
    }
}

static void put_many(int n)
{
    char name[40], text[8192] = "{\"prompt\":\"x\",\"tools\":{";
    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof name, "m%d.json", i);
        put_file(name, "{\"prompt\":\"x\"}");
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "%s\"t%d\":{\"agent\":\"m%d.json\"}", i ? "," : "", i, i);
    }
    snprintf(text + strlen(text), sizeof text - strlen(text), "}}");
    put_file("many.json", text);
}

static void test_files(void)
{
    char path[400];
    PtcAgentDef *def;
    CHECK(mkdtemp(dir) != NULL);
    snprintf(path, sizeof path, "%s/sub", dir);
    CHECK(mkdir(path, 0700) == 0);
    put_file("leaf.json", "{\"prompt\":\"x\",\"description\":\"leaf\"}");
    put_file("two.json", "{\"prompt\":\"x\",\"tools\":{\"a\":{\"agent\":\"leaf.json\"},\"b\":{"
                         "\"agent\":\"./sub/../leaf.json\"},\"c\":{\"agent\":\"sub/in.json\"}}}");
    put_file("sub/in.json", AGENT("../leaf.json"));
    CHECK_STR(open_file("two.json", &def), "");
    CHECK(def && def->agent_tools[0]->child == def->agent_tools[1]->child);
    CHECK(def && def->agent_tools[2]->child->agent_tools[0]->child == def->agent_tools[0]->child);
    ptc_definition_release(def);
    put_file("self.json", AGENT("self.json"));
    check_file("self.json", "tools.t.agent: self.json: agents that include each other never end");
    put_file("a.json", AGENT("b.json"));
    put_file("b.json", AGENT("sub/c.json"));
    put_file("sub/c.json", AGENT("../a.json"));
    check_file("a.json", "tools.t.agent.tools.t.agent.tools.t.agent: "
                         "../a.json: agents that include each other never end (in sub/c.json)");
    check_file("none.json", ": none.json: No such file or directory");
    put_file("gone.json", AGENT("none.json"));
    check_file("gone.json", "tools.t.agent: none.json: No such file or directory");
    check_file("sub", ": sub: it is not a regular file");
    snprintf(path, sizeof path, "%s/pipe", dir);
    CHECK(mkfifo(path, 0600) == 0);
    check_file("pipe", ": pipe: it is not a regular file");
    put_file("latin.json", "{\"prompt\":\"\xe4\"}");
    check_file("latin.json", ": latin.json: it is not UTF-8");
    put_chain();
    check_file("deep1.json", "");
    check_file("deep0.json", "tools.t.agent.tools.t.agent.tools.t.agent.tools.t.agent.tools.t."
                             "agent.tools.t.agent.tools.t.agent.tools.t."
                             "agent.tools.t.agent.tools.t.agent.tools.t.agent.tools.t.agent.tools."
                             "t.agent.tools.t.agent.tools.t.agent."
                             "tools.t.agent: agents are nested deeper than 16 (in deep16.json)");
    put_many(63);
    check_file("many.json", "");
    put_many(64);
    check_file("many.json", "tools.t63.agent: m63.json: more than 64 files belong to this agent");
}

/* Files that are not JSON, and prompts in files of their own. */
static void test_forms(void)
{
    static const struct {
        const char *name, *text, *fault, *prompt;
    } forms[] = {
        {"f.yaml", "prompt: |\n  Go {{n}}\n  on\nmax_turns: 2\n", "", "Go {{n}}\non\n"},
        {"f.yml", "\xef\xbb\xbf{prompt: yes}", "", "yes"},
        {"bad.yaml", "prompt: x\nmax_turn: 2\n",
         "max_turn: there is no such field; did you mean max_turns?", NULL},
        {"open.yaml", "prompt: x\nplan: [a\n",
         ": not YAML: line 3: did not find expected ',' or ']'", NULL},
        {"two.yaml", "prompt: x\n---\nprompt: y\n", ": not YAML: line 2: it has several documents",
         NULL},
        {"none.yaml", "", ": not YAML: line 1: it is empty", NULL},
        {"list.yaml", "- prompt\n", ": found a list; allowed is an object", NULL},
        {"f.md", "---\nmax_turns: 2\n---\n\n  Go {{n}}\n---\nthere\n\n", "",
         "  Go {{n}}\n---\nthere"},
        {"crlf.md", "---\r\nmax_turns: 2\r\n---  \r\nGo\r\n", "", "Go"},
        {"plain.markdown", "\nGo\n", "", "Go"},
        {"bare.MD", "---\n\n---\nGo", "", "Go"},
        {"inner.md", "---\nname: |\n  ---\n---\nGo", "", "Go"},
        {"open.md", "---\nname: x\nGo\n",
         ": line 1: the fields begin here; a line --- must end them", NULL},
        {"dashes.md", "---", ": line 1: the fields begin here; a line --- must end them", NULL},
        {"empty.md", "---\nname: x\n---\n \n",
         "prompt: there is no text below the fields, and that is the prompt", NULL},
        {"both.md", "---\nprompt: x\n---\nGo",
         "prompt: the text below the fields is the prompt; leave this out", NULL},
        {"file.md", "---\nprompt_file: f.md\n---\nGo",
         "prompt_file: the text below the fields is the prompt; leave this out", NULL},
        {"line.md", "---\nname: x\nllm: [\n---\nGo",
         ": not YAML: line 4: did not find expected node content", NULL},
        {"tag.md", "---\nname: !x y\n---\nGo", ": not YAML: line 2: tags are not read", NULL},
        {"where.md", "---\nname: x\n---\n\nGo\n{{#n}}",
         "prompt: line 6, column 1: the section n is not closed: {{/n}} is missing", NULL},
        {"child.md", "---\ntools: {t: {agent: f.md}, u: {agent: {prompt: inside}}}\n---\nGo", "",
         "Go"},
        {"named.json", "{\"prompt_file\":\"sub/p.txt\"}", "", "Go {{n}}"},
        {"twice.json", "{\"prompt_file\":\"sub/p.txt\",\"prompt\":\"x\"}",
         "prompt_file: there is a prompt already; leave one out", NULL},
        {"lost.json", "{\"prompt_file\":\"p.txt\"}",
         "prompt_file: p.txt: No such file or directory", NULL},
        {"pipe.json", "{\"prompt_file\":\"pipe\"}", "prompt_file: pipe: it is not a regular file",
         NULL},
        {"blank.json", "{\"prompt_file\":\"sub/blank\"}", "prompt_file: sub/blank: it is empty",
         NULL},
        {"latin.yaml", "prompt_file: latin.json", "prompt_file: latin.json: it is not UTF-8", NULL},
    };
    put_file("sub/p.txt", "\n\nGo {{n}}\n");
    put_file("sub/blank", "\n \n");
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        PtcAgentDef *def;
        put_file(forms[i].name, forms[i].text);
        CHECK_STR(open_file(forms[i].name, &def), forms[i].fault);
        CHECK((def != NULL) == (forms[i].prompt != NULL));
        if (def && forms[i].prompt)
            CHECK_STR(text_of(def->prompt), forms[i].prompt);
        ptc_definition_release(def);
    }
}

/* Short texts that stand for long ones, and long ones. */
static void test_large_forms(void)
{
    static char text[PTC_AGENT_FILE_BYTES + 2];
    put_file("bomb.yaml",
             "a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\n"
             "c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c]\n"
             "e: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e,*e,*e,*e,*e,*e]\n");
    check_file("bomb.yaml", ": it is larger than 1 MiB once its aliases are followed");
    memset(text, '[', 1000);
    put_file("deep.yaml", text);
    check_file("deep.yaml", ": not YAML: line 1: it is nested too deep");
    memset(text, '#', PTC_AGENT_FILE_BYTES);
    memcpy(text, "---\n", 4);
    strcpy(text + PTC_AGENT_FILE_BYTES - 6, "\n---\nGo");
    put_file("large.md", text);
    check_file("large.md", ": large.md: it is larger than 1 MiB");
    strcpy(text + PTC_AGENT_FILE_BYTES - 7, "\n---\nGo");
    put_file("large.md", text);
    check_file("large.md", "");
}

static void remove_files(void)
{
    char command[200];
    snprintf(command, sizeof command, "rm -rf %s", dir);
    CHECK(system(command) == 0);
}

/* Every allocation of reading an agent fails once. */
static void test_memory(void)
{
    PtcWhy fault;
    static const char json[] =
        "{\"prompt\":\"Go {{n}}\",\"signature\":\"(n :int) -> {a "
        "[:int]}\",\"plan\":[\"a\"],\"tools\":{\"t\":{\"value\":1},"
        "\"h\":{\"http\":{\"url\":\"https://x.org\",\"headers\":{\"a\":\"b\"}}}}}";
    bool done = false;
    PtcValue v = parse(json);
    for (uint64_t n = 1; !done && n < 2000; n++) {
        PtcAgentDef *d = ptc_definition_new();
        ptc_mem_fail_at(&d->mem, n);
        d->prompt = PTC_TEXT("Go {{n}}");
        d->signature = PTC_TEXT("(n :int) -> {a [:int]}");
        d->schema = (PtcText){NULL, 0};
        done = ptc_definition_finish(d, &fault);
        CHECK(done || fault.class == PTC_WHY_NO_MEMORY);
        ptc_definition_release(d);
    }
    CHECK(done && v != PTC_NONE);
}

int main(void)
{
    check_heap_init(&h);
    ptc_arena_init(&arena, &h.mem);
    load_schema();
    if (schema)
        CHECK(case_file("tests/agent/definition.txt", run_case) > 80);
    test_defaults();
    test_results();
    test_offered_arguments();
    test_callers();
    test_children();
    test_contexts();
    test_from_c();
    test_retry();
    test_files();
    test_forms();
    test_large_forms();
    remove_files();
    test_memory();
    ptc_arena_deinit(&arena);
    check_heap_deinit(&h);
    return check_done("agent_definition");
}
