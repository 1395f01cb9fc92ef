/* SPDX-License-Identifier: MIT
 * Every keyword of JSON Schema 2020-12, by the cases in tests/schema; the README there says how they are written. */
#include "case_help.h"
#include "schema_help.h"

enum { SCHEMA = 1 << 16, NAMES = 8192 };

static char group[200];          /* its name */
static char schema_text[SCHEMA]; /* what was read of its schema */
static const PtcSchema *made;    /* NULL: not compiled yet, or refused */
static bool compiled;            /* it was tried */
static uint64_t names[NAMES];    /* of cases, with their group and file */
static size_t name_count, cases, refusals;

/* The form of the file.  Only a failure is counted, so that the count is one of cases. */
static void must(bool ok, const char *what)
{
    if (!ok)
        check_case(false, group, what);
}

static void check_name(const char *name)
{
    char whole[1000];
    snprintf(whole, sizeof whole, "%s/%s/%s", case_at.file, group, name);
    uint64_t hash = case_name_hash(whole);
    bool fresh = name_count < NAMES;
    for (size_t i = 0; i < name_count; i++)
        fresh = fresh && names[i] != hash;
    must(fresh, "another one has this name");
    if (fresh)
        names[name_count++] = hash;
}

/* The schema above the line that needs it. */
static void need_schema(void)
{
    if (compiled)
        return;
    PtcValue schema = parse(schema_text);
    compiled = true;
    ptc_arena_reset(&arena);
    must(schema != PTC_NONE, out);
    made = schema == PTC_NONE ? NULL : compile(schema);
}

static void begin_group(const char *name)
{
    snprintf(group, sizeof group, "%s", name);
    schema_text[0] = 0;
    compiled = false;
    made = NULL;
    check_name("");
}

static void add_schema(const char *line)
{
    size_t len = strlen(schema_text);
    must(!compiled, "a line of the schema behind its cases");
    must(len + strlen(line) < sizeof schema_text, "too long");
    snprintf(schema_text + len, sizeof schema_text - len, "%s ", line);
}

/* "name: value" */
static void check_value(char *line, bool valid)
{
    char *colon = strstr(line, ": ");
    must(colon != NULL, "no name before the value");
    if (!colon)
        return;
    *colon = 0;
    need_schema();
    PtcValue v = parse(colon + 2);
    must(v != PTC_NONE, out);
    cases++;
    line[-2] = valid ? '+' : '-'; /* the same name may stand for both verdicts */
    check_name(line - 2);
    if (check_count(made != NULL))
        printf("%s:%d: %s: refused: %s %s\n", case_at.file, case_at.line, group, mistake.path,
               mistake.message);
    if (!made || v == PTC_NONE)
        return;
    bool ok = validate(made, v) == (valid ? PTC_SCHEMA_VALID : PTC_SCHEMA_INVALID);
    if (check_count(ok))
        printf("%s:%d: %s: %s: %s\n", case_at.file, case_at.line, group, line,
               valid ? issues.items[0].message : "accepted");
}

/* "place message" */
static void check_refusal(const char *line)
{
    char said[500];
    need_schema();
    refusals++;
    snprintf(said, sizeof said, "%s %s", mistake.path, mistake.message);
    check_case(made == NULL, group, "accepted");
    if (made)
        return;
    if (check_count(strcmp(said, line) == 0))
        printf("%s:%d: %s:\n  got:  %s\n", case_at.file, case_at.line, group, said);
}

static void run_line(char *line)
{
    if (!*line || *line == '#')
        return;
    if (strncmp(line, "@ ", 2) == 0)
        begin_group(line + 2);
    else if (strncmp(line, "! ", 2) == 0)
        check_refusal(line + 2);
    else if (strncmp(line, "+ ", 2) == 0 || strncmp(line, "- ", 2) == 0)
        check_value(line + 2, *line == '+');
    else
        add_schema(line);
}

static void end_file(void)
{
    must(compiled, "a schema without cases");
}

int main(int argc, char **argv)
{
    enum { FEWEST = 700 };
    check_heap_init(&h);
    ptc_arena_init(&arena, &h.mem);
    case_each_file(argc > 1 ? argv[1] : "tests/schema/*.txt", run_line, end_file);
    CHECK(cases >= FEWEST && refusals > 0);
    CHECK(h.budget.stop == PTC_STOP_NONE);
    ptc_arena_deinit(&arena);
    check_heap_deinit(&h);
    return check_done("schema cases");
}
