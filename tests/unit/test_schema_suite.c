/* SPDX-License-Identifier: MIT
 * JSON Schema against the JSON Schema Test Suite for 2020-12, where that lies (see suite_help.h).  No verdict may be
 * wrong.  Schemas that we refuse to compile are listed here with the reason; one that starts to compile must leave the
 * list.
 *
 * Documents are never fetched.  Where the suite's `remotes` lie beside its tests, a group that needs some of them is
 * run as a bundle: they stand under $defs, each with its address as $id. */
#include "schema_help.h"
#include "suite_help.h"

#include "value/coll/map.h"
#include "value/coll/vec.h"

/* ---------------------------------------------------------------- differences */

typedef struct {
    const char *file, *group; /* group NULL: all of them */
    bool bundled;             /* compiles where the remotes lie there */
    const char *why;
    size_t groups; /* how many were refused */
} Refused;

#define OUTSIDE "a reference leads out of the document"
#define OTHER_ID "the document is asked for by an address that is not its $id"
#define OTHER_RULES "another meta-schema decides what the keywords mean"

/* Of two entries that fit, the first counts. */
static Refused refused[] = {
    {"dynamicRef", "strict-tree schema, guards against misspelled properties", true, OUTSIDE, 0},
    {"dynamicRef", "tests for implementation dynamic anchor and reference link", true, OUTSIDE, 0},
    {"dynamicRef", "$ref and $dynamicAnchor are independent of order - $defs first", true, OUTSIDE,
     0},
    {"dynamicRef", "$ref and $dynamicAnchor are independent of order - $ref first", true, OUTSIDE,
     0},
    {"dynamicRef", "$ref to $dynamicRef finds detached $dynamicAnchor", true, OUTSIDE, 0},
    {"refRemote", "remote HTTP ref with different $id", false, OTHER_ID, 0},
    {"refRemote", "remote HTTP ref with different URN $id", false, OTHER_ID, 0},
    {"refRemote", NULL, true, OUTSIDE, 0},
    {"vocabulary", NULL, false, OTHER_RULES, 0},
    {"optional/cross-draft", NULL, false, "the document is of another draft", 0},
    {"optional/format-assertion", NULL, false, OTHER_RULES, 0},
};

/* Without optional/format/: a format is an annotation here. */
enum { TESTS = 1299 + 162 };

static Refused *find_refused(const char *file, const char *group)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (strcmp(refused[i].file, file) == 0 &&
            (!refused[i].group || strcmp(refused[i].group, group) == 0))
            return &refused[i];
    return NULL;
}

/* --------------------------------------------------------------------- values */

static PtcValue field(PtcValue map, const char *name)
{
    return ptc_is_map(map) ? ptc_map_get(&h.heap, map, str(name)) : PTC_NONE;
}

static const char *text_at(PtcValue map, const char *name)
{
    PtcValue v = field(map, name);
    return v != PTC_NONE && ptc_is_string(v) ? ptc_str_bytes(v) : "";
}

static PtcValue assoc(PtcValue map, const char *name, PtcValue v)
{
    return ptc_map_assoc(&h.heap, map, str(name), v);
}

static PtcValue read_json(const char *path)
{
    size_t len;
    PtcJsonError e;
    char *text = suite_read(path, &len);
    PtcValue v = text ? ptc_json_parse(&h.heap, text, len, &e) : PTC_NONE;
    if (check_count(v != PTC_NONE))
        printf("%s: %s\n", path, text ? e.message : "cannot be read");
    free(text);
    return v;
}

/* -------------------------------------------------------------------- remotes */

static const char dialect[] = "https://json-schema.org/draft/2020-12/schema";
static PtcValue remotes;  /* documents by address; PTC_NONE: they are not there */
static size_t remotes_at; /* length of the path up to the directory that is served */

/* Meta-schemas, and documents by other rules than those of 2020-12, are left out: no schema can hold them. */
static void add_remote(const char *path, const char *name)
{
    char address[SUITE_PATH + 32];
    if (!suite_ends_with(name, ".json")) {
        suite_each(path, add_remote);
        return;
    }
    PtcValue doc = read_json(path);
    if (field(doc, "$vocabulary") != PTC_NONE ||
        (field(doc, "$schema") != PTC_NONE && strcmp(text_at(doc, "$schema"), dialect) != 0))
        return;
    snprintf(address, sizeof address, "http://localhost:1234%s", path + remotes_at);
    if (field(doc, "$id") == PTC_NONE)
        doc = assoc(doc, "$id", str(address));
    remotes = assoc(remotes, address, doc);
}

static void find_remotes(void)
{
    char path[SUITE_PATH];
    remotes = PTC_NONE;
    if (!suite_find("json-schema/remotes/draft2020-12", path))
        return;
    remotes = ptc_map_empty(&h.heap);
    remotes_at = strlen(path) - strlen("/draft2020-12");
    CHECK(suite_each(path, add_remote) > 0);
}

/* The same schema with the remotes beside it. */
static PtcValue bundle(PtcValue schema)
{
    if (field(schema, "$id") == PTC_NONE)
        schema = assoc(schema, "$id", str("urn:test"));
    PtcValue whole = assoc(ptc_map_empty(&h.heap), "$ref", field(schema, "$id"));
    return assoc(whole, "$defs", assoc(remotes, "test", schema));
}

/* ---------------------------------------------------------------------- groups */

static char file_name[256]; /* without .json */
static const char *prefix;  /* of file_name */
static size_t tests, refusals;

static void check_test(const PtcSchema *schema, const char *group, PtcValue test)
{
    PtcSchemaVerdict want =
        field(test, "valid") == PTC_TRUE ? PTC_SCHEMA_VALID : PTC_SCHEMA_INVALID;
    PtcSchemaVerdict got = validate(schema, field(test, "data"));
    if (check_count(got == want))
        printf("%s: %s: %s: %s\n", file_name, group, text_at(test, "description"),
               issues.count ? issues.items[0].message : "accepted");
}

/* A schema that does not compile: is that known? */
static void check_refusal(const char *group, size_t n)
{
    Refused *known = find_refused(file_name, group);
    bool ok = known && !(known->bundled && remotes != PTC_NONE);
    if (check_count(ok))
        printf("%s: %s: %s\n", file_name, group, mistake.message);
    if (known)
        known->groups++;
    refusals += n;
}

static void check_group(PtcValue group)
{
    PtcValue list = field(group, "tests");
    const char *name = text_at(group, "description");
    size_t n = ptc_seq_count(list);
    tests += n;
    ptc_arena_reset(&arena);
    const PtcSchema *schema = compile(field(group, "schema"));
    if (!schema && strstr(mistake.message, "never fetched") && remotes != PTC_NONE)
        schema = compile(bundle(field(group, "schema")));
    if (!schema)
        check_refusal(name, n);
    for (size_t i = 0; schema && i < n; i++)
        check_test(schema, name, ptc_seq_nth(list, i));
}

static void check_file(const char *path, const char *name)
{
    if (!suite_ends_with(name, ".json"))
        return; /* a directory */
    snprintf(file_name, sizeof file_name, "%s%.*s", prefix, (int)(strlen(name) - 5), name);
    PtcValue groups = read_json(path);
    for (size_t i = 0; groups != PTC_NONE && i < ptc_seq_count(groups); i++)
        check_group(ptc_seq_nth(groups, i));
}

static void check_files(const char *part, const char *before)
{
    char path[SUITE_PATH];
    prefix = before;
    if (suite_find(part, path))
        CHECK(suite_each(path, check_file) > 0);
}

/* What is on the list must still be refused. */
static void check_list(void)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        const Refused *r = &refused[i];
        const char *group = r->group ? r->group : "every other group";
        bool refuses = r->groups || (r->bundled && remotes != PTC_NONE);
        if (check_count(refuses))
            printf("%s: %s compiles now; take it off the list\n", r->file, group);
        if (r->groups)
            printf("refused: %s: %s: %s\n", r->file, group, r->why);
    }
}

static void run(void)
{
    char path[SUITE_PATH];
    if (!suite_find("json-schema/tests/draft2020-12", path))
        return;
    find_remotes();
    check_files("json-schema/tests/draft2020-12", "");
    check_files("json-schema/tests/draft2020-12/optional", "optional/");
    check_list();
    CHECK(tests >= TESTS);
    printf("%zu tests, %zu of them refused\n", tests, refusals);
}

int main(void)
{
    check_heap_init(&h);
    ptc_arena_init(&arena, &h.mem);
    run();
    CHECK(h.budget.stop == PTC_STOP_NONE);
    ptc_arena_deinit(&arena);
    check_heap_deinit(&h);
    return check_done("schema suite");
}
