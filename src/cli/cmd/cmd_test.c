/* SPDX-License-Identifier: MIT
 * `ptc test`: runs .ptct files and the examples of the builtins.  The last line it prints is
 * "N passed, N failed". */
#include "cli/cmd/cmd.h"

#include "cli/io.h"
#include "cli/options.h"
#include "cli/test/test_example.h"
#include "cli/test/test_file.h"
#include "cli/test/test_run.h"

typedef struct {
    const char *filter;
    bool update, gc_stress, torture, doctests, quiet;
} TestOptions;

typedef struct {
    const TestOptions *options;
    PtcMem *mem;
    PtcTestRunner runner;
    PtcBuf got, full;
    size_t passed, failed, updated;
} Tests;

#define TEST_AT(field) offsetof(TestOptions, field)

static const PtcOption table[] = {
    {"filter", 0, PTC_OPTION_TEXT, TEST_AT(filter), "ID", "only cases whose id contains this", 0, 0,
     0},
    {"update", 0, PTC_OPTION_FLAG, TEST_AT(update), NULL, "write what happens into the files", 0, 0,
     0},
    {"gc-stress", 0, PTC_OPTION_FLAG, TEST_AT(gc_stress), NULL, "collect at every safepoint", 0, 0,
     0},
    {"torture", 0, PTC_OPTION_FLAG, TEST_AT(torture), NULL,
     "fail allocation 1, 2, 3, ... of each case", 0, 0, 0},
    {"doctests", 0, PTC_OPTION_FLAG, TEST_AT(doctests), NULL,
     "run the examples of the builtin functions", 0, 0, 0},
    {"quiet", 'q', PTC_OPTION_FLAG, TEST_AT(quiet), NULL, "print failures and the count only", 0, 0,
     0},
};

static const PtcUsage usage = {
    .command = "test",
    .synopsis = "[OPTIONS] FILE.ptct|PAGE.md...",
    .summary = "Runs test files and reports the cases that failed.  In a page, the examples in "
               "```ptc blocks are run: program => value, program !! kind.  A case with agent=FILE "
               "runs an agent whose model is a "
               "script or a record.\n"
               "Exit status: 0 all passed, 1 some failed, 2 wrong usage.",
    .examples = "  ptc test tests/conformance/*.ptct\n"
                "  ptc test --filter num/quot tests/conformance/nums.ptct\n"
                "  ptc test --doctests docs/*.md\n",
    .options = table,
    .option_count = sizeof table / sizeof *table,
};

/* --------------------------------------------------------------- reporting */

/* Several lines, each with a label in front. */
static void print_lines(const char *label, PtcText text)
{
    const char *p = text.bytes, *end = p + text.len;
    if (text.len == 0)
        ptc_io_printf(PTC_IO_STDOUT, "    %-10s(nothing)\n", label);
    while (p < end) {
        const char *lf = memchr(p, '\n', (size_t)(end - p));
        size_t n = (size_t)((lf ? lf : end) - p);
        ptc_io_printf(PTC_IO_STDOUT, "    %-10s%.*s\n", label,
                      PTC_ARG(ptc_text_cut((PtcText){p, n}, 2000)));
        p += n + 1;
        label = "";
    }
}

static void print_failure(const PtcTestFile *file, const PtcTestCase *c, PtcText got)
{
    ptc_io_printf(PTC_IO_STDOUT, "FAIL %.*s  %s:%zu\n", PTC_ARG(c->id), file->path, c->line);
    if (c->agent.len)
        print_lines("agent", c->agent);
    if (c->program.len || !c->agent.len)
        print_lines("program", c->program);
    print_lines("expected", c->expect);
    print_lines("got", got);
}

/* ------------------------------------------------------------------- files */

static bool is_selected_case(const Tests *t, const PtcTestCase *c)
{
    const char *filter = t->options->filter;
    size_t n = filter ? strlen(filter) : 0;
    for (size_t i = 0; i + n <= c->id.len; i++)
        if (n == 0 || !memcmp(c->id.bytes + i, filter, n))
            return true;
    return false;
}

/* Keeps the lines that would make a case pass, for the file's next version. */
static void update_case(Tests *t, PtcTestFile *file, PtcTestCase *c)
{
    char *copy = ptc_arena_alloc(&file->arena, t->full.len + 1);
    if (!copy || !ptc_buf_ok(&t->full))
        return;
    memcpy(copy, t->full.data, t->full.len);
    copy[t->full.len] = 0;
    c->replaced = copy;
    t->updated++;
}

static void run_case(Tests *t, PtcTestFile *file, PtcTestCase *c)
{
    bool ok = ptc_test_run(&t->runner, c, &t->got, t->options->update ? &t->full : NULL);
    PtcText got = {t->got.data, t->got.len};
    if (c->policy == PTC_TEST_BUG && ok)
        got = (PtcText){"(the known bug is gone: change the policy)", 42};
    if (ok == (c->policy != PTC_TEST_BUG)) {
        t->passed++;
    } else if (t->options->update && !ok) {
        update_case(t, file, c);
    } else {
        t->failed++;
        print_failure(file, c, got);
    }
}

static void run_cases(Tests *t, PtcTestFile *file)
{
    size_t passed = t->passed, failed = t->failed, updated = t->updated;
    for (PtcTestCase *c = file->first; c; c = c->next)
        if (is_selected_case(t, c))
            run_case(t, file, c);
    if (t->updated > updated && !ptc_test_file_update(file)) {
        ptc_io_printf(PTC_IO_STDOUT, "FAIL %s cannot be written\n", file->path);
        t->failed++;
    }
    size_t cases = t->passed - passed + t->failed - failed + t->updated - updated;
    if (!t->options->quiet)
        ptc_io_printf(PTC_IO_STDOUT, "%s  %s: %zu case%s\n", t->failed > failed ? "FAIL" : "ok",
                      file->path, cases, cases == 1 ? "" : "s");
}

static void run_file(Tests *t, const char *path)
{
    PtcTestFile file;
    t->runner.path = path;
    if (!ptc_test_file_init(&file, t->mem, path, t->options->update)) {
        ptc_io_printf(PTC_IO_STDOUT, "FAIL %s:%zu: %s\n", path, file.error_line, file.error);
        t->failed++;
    } else if (!ptc_test_runner_start(&t->runner)) {
        ptc_io_printf(PTC_IO_STDOUT, "FAIL %s: out of memory\n", path);
        t->failed++;
    } else {
        run_cases(t, &file);
        ptc_test_runner_stop(&t->runner);
    }
    ptc_test_file_deinit(&file);
}

/* ---------------------------------------------------------------- doctests */

static void report_doc(void *user, const char *name, PtcText line, bool ok, PtcText got)
{
    Tests *t = user;
    if (ok) {
        t->passed++;
        return;
    }
    t->failed++;
    ptc_io_printf(PTC_IO_STDOUT, "FAIL doc %s\n", name);
    print_lines("example", line);
    print_lines("got", got);
}

static void run_docs(Tests *t)
{
    if (!ptc_test_runner_start(&t->runner)) {
        ptc_io_printf(PTC_IO_STDOUT, "FAIL doctests: out of memory\n");
        t->failed++;
        return;
    }
    ptc_test_docs(&t->runner, t->mem, t->options->filter, report_doc, t);
    ptc_test_runner_stop(&t->runner);
}

static void run_page(Tests *t, const char *path)
{
    size_t passed = t->passed, failed = t->failed;
    if (!ptc_test_runner_start(&t->runner)) {
        ptc_io_printf(PTC_IO_STDOUT, "FAIL %s: out of memory\n", path);
        t->failed++;
        return;
    }
    const char *error = ptc_test_page(&t->runner, t->mem, path, report_doc, t);
    ptc_test_runner_stop(&t->runner);
    if (error) {
        ptc_io_printf(PTC_IO_STDOUT, "FAIL %s: %s\n", path, error);
        t->failed++;
    } else if (!t->options->quiet) {
        ptc_io_printf(PTC_IO_STDOUT, "%s  %s: %zu examples\n", t->failed > failed ? "FAIL" : "ok",
                      path, t->passed - passed + t->failed - failed);
    }
}

static bool is_page(const char *path)
{
    size_t len = strlen(path);
    return len > 3 && strcmp(path + len - 3, ".md") == 0;
}

/* ----------------------------------------------------------------- command */

static void print_count(const Tests *t)
{
    if (t->updated)
        ptc_io_printf(PTC_IO_STDOUT, "%zu updated\n", t->updated);
    ptc_io_printf(PTC_IO_STDOUT, "%zu passed, %zu failed\n", t->passed, t->failed);
}

int ptc_cmd_test(PtcMem *mem, int argc, char **argv)
{
    TestOptions o = {0};
    PtcParse parse = ptc_options_parse(&usage, &o, &argc, argv);
    if (parse != PTC_PARSE_OK)
        return parse == PTC_PARSE_HELP ? PTC_EXIT_OK : PTC_EXIT_USAGE;
    if (argc == 0 && !o.doctests)
        return ptc_options_wrong(&usage, "which files?");
    if (o.update && (o.torture || o.gc_stress))
        return ptc_options_wrong(&usage, "--update does not go with --torture or --gc-stress");
    Tests t = {.options = &o, .mem = mem};
    t.runner.gc_stress = o.gc_stress;
    t.runner.torture = o.torture;
    t.runner.mem = mem;
    ptc_buf_init(&t.got, mem, PTC_IO_MAX);
    ptc_buf_init(&t.full, mem, PTC_IO_MAX);
    if (o.doctests)
        run_docs(&t);
    for (int i = 0; i < argc; i++)
        (is_page(argv[i]) ? run_page : run_file)(&t, argv[i]);
    if (o.filter && t.passed + t.failed + t.updated == 0) {
        ptc_io_printf(PTC_IO_STDOUT, "FAIL no case has '%s' in its id\n", o.filter);
        t.failed++;
    }
    print_count(&t);
    ptc_buf_deinit(&t.got);
    ptc_buf_deinit(&t.full);
    return t.failed ? PTC_EXIT_FAILED : PTC_EXIT_OK;
}
