/* SPDX-License-Identifier: MIT
 * `ptc trace`: traces as tables, and in the formats of other tools. */
#include "cli/cmd/cmd.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/text/nearest.h"
#include "cli/io.h"
#include "cli/options.h"
#include "cli/out/shown.h"
#include "viewer/trace_report.h"
#include "viewer/view_files.h"

enum { TOLD_MAX = 10 }; /* lines that are told about one by one, of each file */

typedef struct {
    int64_t top;
} TraceOptions;

/* ---------------------------------------------------------------------------------- table */

static const PtcOption table[] = {
    {"top", 0, PTC_OPTION_INT, offsetof(TraceOptions, top), "N", "rows of slowest", 1,
     PTC_REPORT_TOP_MAX, 0},
};

static const PtcUsage usage = {
    .command = "trace",
    .synopsis = "summary|timeline|slowest|chrome|otlp FILE|DIR|-...",
    .summary =
        "Reads traces of agents and of ptc mcp, of any size, and prints\n"
        "  summary   how many runs, requests and calls, how they went and how long they took\n"
        "  timeline  what happened, one line for each event\n"
        "  slowest   the requests, programs and calls that took longest\n"
        "  chrome    JSON for chrome://tracing and Perfetto\n"
        "  otlp      JSON for an OpenTelemetry collector\n"
        "In a directory it reads the files named *.jsonl.  Lines that are not events are reported "
        "and skipped.\n"
        "Exit status: 0 done, 1 nothing in the files is a trace, or reading or writing failed, 2 "
        "wrong usage.",
    .examples = "  ptc run agent.json --trace trace.jsonl\n"
                "  ptc trace summary trace.jsonl\n"
                "  ptc trace slowest --top 5 traces/\n"
                "  ptc trace chrome trace.jsonl > chrome.json\n"
                "  ptc trace otlp trace.jsonl | curl -H 'Content-Type: application/json' "
                "--data-binary @- http://localhost:4318/v1/traces\n",
    .words = "summary|timeline|slowest|chrome|otlp",
    .options = table,
    .option_count = sizeof table / sizeof *table,
};

/* --------------------------------------------------------------------------------- report */

typedef struct {
    PtcReport report;
    PtcBuf name;         /* of the file, as it is shown */
    const char *told_of; /* the file whose bad lines are being reported */
    uint64_t told;
} TraceWork;

static bool write_report_text(void *user, PtcText text)
{
    (void)user;
    if (ptc_shown_write(PTC_IO_STDOUT, text.bytes, text.len))
        return true;
    if (errno != EPIPE)
        ptc_io_printf(PTC_IO_STDERR, "ptc trace: standard output cannot be written: %s\n",
                      strerror(errno));
    return false;
}

static void end_told(TraceWork *scratch)
{
    if (scratch->told > TOLD_MAX)
        ptc_io_printf(PTC_IO_STDERR, "ptc trace: %.200s: %llu more line%s skipped\n",
                      scratch->told_of, (unsigned long long)(scratch->told - TOLD_MAX),
                      scratch->told - TOLD_MAX == 1 ? " was" : "s were");
    scratch->told = 0;
}

static void tell_trace_problem(void *user, const char *file, uint64_t line, const char *what)
{
    TraceWork *scratch = user;
    scratch->told_of = file;
    if (++scratch->told <= TOLD_MAX)
        ptc_io_printf(PTC_IO_STDERR, "ptc trace: %.200s, line %llu: %s\n", file,
                      (unsigned long long)line, what);
}

/* A name as it is shown, in tables too: nothing in it acts on a terminal or looks like a line of its own. */
static const char *shown_trace_name(TraceWork *scratch, const char *name)
{
    PtcBuf *out = &scratch->name;
    ptc_buf_clear(out);
    for (const char *p = name; *p;) {
        size_t n = strcspn(p, "\n\t");
        ptc_shown_add(out, p, n);
        p += n;
        if (*p)
            ptc_buf_add_cstr(out, *p++ == '\n' ? "\\n" : "\\t");
    }
    return ptc_buf_ok(out) && ptc_buf_text(out) ? out->data : "a file";
}

static bool read_fd(TraceWork *scratch, int fd, const char *path)
{
    const char *name = shown_trace_name(scratch, path);
    const char *why = ptc_trace_report_read(&scratch->report, fd, name);
    end_told(scratch);
    if (why)
        ptc_io_printf(PTC_IO_STDERR, "ptc trace: %.200s: %s\n", name, why);
    return !why && !scratch->report.failed;
}

static bool read_files(TraceWork *scratch, const PtcViewFiles *files)
{
    bool ok = true;
    for (size_t i = 0; i < files->count && !scratch->report.failed; i++) {
        uint64_t bytes;
        int fd = ptc_view_files_open(files, i, &bytes);
        if (fd < 0) {
            ptc_io_printf(PTC_IO_STDERR, "ptc trace: %.200s cannot be read\n",
                          shown_trace_name(scratch, files->paths[i]));
            ok = false;
            continue;
        }
        ok = read_fd(scratch, fd, files->paths[i]) && ok;
        close(fd);
    }
    return ok;
}

static int run_trace_report(PtcMem *mem, const PtcReportForm *form, const TraceOptions *options,
                            const PtcViewFiles *files, bool standard_input)
{
    TraceWork scratch = {.report = {.top = (size_t)options->top,
                                    .write = write_report_text,
                                    .tell = tell_trace_problem}};
    scratch.report.user = &scratch;
    ptc_buf_init(&scratch.name, mem, PTC_IO_MAX);
    if (!ptc_trace_report_init(&scratch.report, mem, form)) {
        ptc_io_printf(PTC_IO_STDERR, "ptc trace: out of memory\n");
        ptc_buf_deinit(&scratch.name);
        return PTC_EXIT_FAILED;
    }
    bool ok = standard_input ? read_fd(&scratch, PTC_IO_STDIN, "standard input")
                             : read_files(&scratch, files);
    bool none = scratch.report.events == 0;
    if (none)
        ptc_io_printf(PTC_IO_STDERR, "ptc trace: no event was found; traces are made by ptc run "
                                     "--trace FILE and ptc mcp --trace-dir DIR\n");
    else
        ok = ptc_trace_report_finish(&scratch.report) && ok;
    uint64_t forgotten = ptc_parts_forgotten(scratch.report.parts);
    if (forgotten)
        ptc_io_printf(PTC_IO_STDERR,
                      "ptc trace: %llu parts have ids that are used again, or were too many at "
                      "once; their beginnings were forgotten\n",
                      (unsigned long long)forgotten);
    ptc_trace_report_deinit(&scratch.report);
    ptc_buf_deinit(&scratch.name);
    return ok && !none ? PTC_EXIT_OK : PTC_EXIT_FAILED;
}

/* -------------------------------------------------------------------------------- command */

static int no_form(const char *name)
{
    static const char *const names[] = {"summary", "timeline", "slowest", "chrome", "otlp"};
    PtcNearest near;
    ptc_nearest_init(&near, name, strlen(name));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        ptc_nearest_offer(&near, names[i], strlen(names[i]));
    if (near.best)
        return ptc_options_wrong(&usage, "no form %.60s; did you mean %s?", name, near.best);
    return ptc_options_wrong(
        &usage, "no form %.60s; there are summary, timeline, slowest, chrome and otlp", name);
}

int ptc_cmd_trace(PtcMem *mem, int argc, char **argv)
{
    TraceOptions options = {.top = 20};
    PtcViewFiles files;
    PtcWhy why;
    PtcParse parse = ptc_options_parse(&usage, &options, &argc, argv);
    if (parse != PTC_PARSE_OK)
        return parse == PTC_PARSE_HELP ? PTC_EXIT_OK : PTC_EXIT_USAGE;
    if (argc == 0)
        return ptc_options_wrong(&usage, "which form: summary, timeline, slowest, chrome or otlp?");
    const PtcReportForm *form = ptc_trace_report_form(argv[0]);
    if (!form && access(argv[0], F_OK) == 0)
        return ptc_options_wrong(&usage, "the form comes first: ptc trace summary %.200s", argv[0]);
    if (!form)
        return no_form(argv[0]);
    if (argc == 1)
        return ptc_options_wrong(&usage, "which trace?  Name files or directories, or - for "
                                         "standard input");
    bool standard_input = argc == 2 && strcmp(argv[1], "-") == 0;
    ptc_view_files_init(&files, mem, argv + 1, standard_input ? 0 : (size_t)argc - 1);
    int status = ptc_view_files_scan(&files, &why)
                     ? run_trace_report(mem, form, &options, &files, standard_input)
                     : ptc_options_refuse(&usage, "%s", why.text);
    ptc_view_files_deinit(&files);
    return status;
}
