/* SPDX-License-Identifier: MIT
 * `ptc check`: mistakes in programs, found without running them, for editors and CI. */
#include "cli/cmd/cmd.h"

#include <string.h>

#include "cli/cmd/data_in.h"
#include "cli/cmd/run_in.h"
#include "cli/cmd/short_form.h"
#include "cli/cmd/tools_in.h"
#include "cli/io.h"
#include "cli/out/report.h"
#include "cli/out/shown.h"
#include "cli/upstreams/upstreams_open.h"
#include "json/emit.h"

/* Texts are borrowed from argv. */
typedef struct CheckOptions {
    const char *context, *tools, *signature, *schema;
    bool json, strict;
    PtcOptionList data;
    PtcUpstreamsOptions upstreams;
} CheckOptions;

#define CHECK_AT(field) offsetof(CheckOptions, field)

static const PtcOption table[] = {
    {"context", 0, PTC_OPTION_TEXT, CHECK_AT(context), "JSON|@FILE",
     "the data that programs will have, or an example of it", 0, 0,
     PTC_GROUP_DATA | PTC_GROUP_COMMON},
    {"data", 0, PTC_OPTION_LIST, CHECK_AT(data), "NAME=@FILE",
     "a file of JSON, JSON Lines, CSV or lines as data/NAME (ptc docs data)", 0, 0,
     PTC_GROUP_DATA | PTC_GROUP_COMMON},
    {"tools", 0, PTC_OPTION_TEXT, CHECK_AT(tools), "JSON|@FILE",
     "tools that programs may call (ptc docs tools)", 0, 0, PTC_GROUP_TOOLS | PTC_GROUP_COMMON},
    {"signature", 0, PTC_OPTION_TEXT, CHECK_AT(signature), "SIG",
     "what the result must be, such as '{count :int}'", 0, 0, PTC_GROUP_RESULT | PTC_GROUP_COMMON},
    {"output-schema", 0, PTC_OPTION_TEXT, CHECK_AT(schema), "JSON|@FILE",
     "what the result must be, as a JSON Schema", 0, 0, PTC_GROUP_RESULT},
    {"strict", 0, PTC_OPTION_FLAG, CHECK_AT(strict), NULL, "warnings count as errors", 0, 0,
     PTC_GROUP_RESULT | PTC_GROUP_COMMON},
    {"json", 0, PTC_OPTION_FLAG, CHECK_AT(json), NULL, "print the findings as one JSON object", 0,
     0, PTC_GROUP_RESULT | PTC_GROUP_COMMON},
#ifndef PTC_ENGINE
    PTC_UPSTREAMS_ROWS(CHECK_AT(upstreams)),
#endif
};

static const PtcUsage usage = {
    .command = "check",
    .synopsis = "[OPTIONS] PROGRAM|FILE|- ...",
    .summary = "Finds mistakes in programs and runs nothing: names, forms, values that cannot be "
               "right, keys "
               "that nothing has, arguments of tools, answers (ptc docs check).\n"
               "Exit status: 0 no errors, 1 errors (with --strict also warnings), 2 wrong usage.",
    .examples =
        "  ptc check --tools @tools.json report.clj\n"
        "  ptc check --tools @tools.json --signature '{total :int}' --strict *.clj\n"
        "  ptc check --context '{\"orders\": [{\"total\": 1}]}' '(sum-by :totl data/orders)'\n"
#ifndef PTC_ENGINE
        "  ptc check --upstreams servers.json --json report.clj\n"
#endif
    ,
    .options = table,
    .option_count = sizeof table / sizeof *table,
};

/* What all programs are checked against; released in release_check(). */
typedef struct CheckWork {
    PtcMem *mem;
    const CheckOptions *options;
    Ptc *ptc;
    PtcData *data;
    PtcShared *shared; /* --data; or NULL */
    PtcTools *tools;
    PtcUpstreams upstreams;
    PtcBuf context, schema, json;
    PtcRun run;
    bool errors, warnings; /* were there any, in any program? */
} CheckWork;

static void release_check(CheckWork *c)
{
    ptc_tools_free(c->tools);
    ptc_data_free(c->data);
    ptc_shared_free(c->shared);
    ptc_free(c->ptc);
    ptc_upstreams_close(&c->upstreams);
    ptc_buf_deinit(&c->context);
    ptc_buf_deinit(&c->schema);
    ptc_buf_deinit(&c->json);
}

/* ------------------------------------------------------------------------------- findings */

static void add_json_finding(CheckWork *c, const char *file, const char *severity,
                             const PtcError *e)
{
    PtcBuf *out = &c->json;
    ptc_emit_object(out);
    if (file)
        ptc_emit_field_cstr(out, "file", file);
    ptc_emit_field_cstr(out, "kind", e->kind);
    ptc_emit_field_cstr(out, "severity", severity);
    ptc_emit_field_text(out, "message", (PtcText){e->message, e->message_len});
    ptc_emit_field_text(out, "hint", (PtcText){e->hint, e->hint_len});
    ptc_emit_field_uint(out, "line", e->line);
    ptc_emit_field_uint(out, "column", e->column);
    ptc_emit_field_cstr(out, "phase", e->phase);
    ptc_emit_object_end(out);
}

static void add_json_findings(CheckWork *c, const char *file, const PtcOutcome *o)
{
    PtcError e = {.size = sizeof e};
    PtcWarning w = {.size = sizeof w};
    for (size_t i = 0; ptc_outcome_error(o, i, &e); i++)
        add_json_finding(c, file, "error", &e);
    for (size_t i = 0; ptc_outcome_warning(o, i, &w); i++) {
        e = (PtcError){.kind = w.kind,
                       .phase = w.phase,
                       .message = w.message,
                       .message_len = w.message_len,
                       .hint = w.hint,
                       .hint_len = w.hint_len,
                       .line = w.line,
                       .column = w.column};
        add_json_finding(c, file, "warning", &e);
    }
}

/* A signature or schema that is wrong is no mistake of a program. */
static int refuse_wanted(const PtcOutcome *o)
{
    PtcError e = {.size = sizeof e};
    bool wrong = ptc_outcome_error(o, 0, &e) && strcmp(e.kind, "args_error") == 0;
    return wrong ? ptc_options_refuse(&usage, "%s", e.message) : PTC_EXIT_OK;
}

static int tell_findings(CheckWork *c, const char *file, const PtcOutcome *o)
{
    PtcReported about = {file, {c->run.program, c->run.program_len}, 0};
    int status = refuse_wanted(o);
    if (status != PTC_EXIT_OK)
        return status;
    c->errors = c->errors || !ptc_outcome_ok(o);
    c->warnings = c->warnings || ptc_outcome_warning_count(o) > 0;
    if (c->options->json)
        add_json_findings(c, file, o);
    else if (!ptc_report_remarks(c->mem, o, &about, PTC_REMARK_WARNINGS | PTC_REMARK_ERRORS))
        return PTC_EXIT_FAILED;
    return PTC_EXIT_OK;
}

/* ------------------------------------------------------------------------------- programs */

/* A program in a file may be a script, in which data have their bare names. */
static int check_text(CheckWork *c, const char *file)
{
    PtcRunMore more = {.only_check = true, .bare_data = file != NULL};
    PtcOutcome *o = NULL;
    if (ptc_upstreams_eval(&c->upstreams, c->ptc, &c->run, &more, &o) != PTC_OK) {
        ptc_io_printf(PTC_IO_STDERR, "error: out of memory\n");
        return PTC_EXIT_FAILED;
    }
    int status = tell_findings(c, file, o);
    ptc_outcome_free(o);
    return status;
}

static int check_argument(CheckWork *c, const char *arg)
{
    PtcBuf file;
    bool named = ptc_short_form_is_file(arg) || ptc_short_form_is_path(arg);
    int status = PTC_EXIT_OK;
    ptc_buf_init(&file, c->mem, PTC_IO_MAX);
    c->run.program = arg;
    c->run.program_len = strlen(arg);
    if (named || strcmp(arg, "-") == 0)
        status = ptc_run_in_program(&usage, arg, &file, &c->run);
    if (status == PTC_EXIT_OK)
        status = check_text(c, named ? arg : NULL);
    ptc_buf_deinit(&file);
    return status;
}

static bool write_json(CheckWork *c, bool ok)
{
    PtcBuf out;
    ptc_buf_init(&out, c->mem, PTC_IO_MAX);
    ptc_emit_array_end(&c->json);
    ptc_emit_object(&out);
    ptc_emit_field_bool(&out, "ok", ok);
    ptc_emit_field_raw(&out, "findings", ptc_buf_view(&c->json));
    ptc_emit_object_end(&out);
    bool written =
        ptc_buf_ok(&c->json) && ptc_buf_ok(&out) && ptc_shown_result("check", out.data, out.len);
    ptc_buf_deinit(&out);
    return written;
}

static int check_all(CheckWork *c, int argc, char **argv)
{
    int status = PTC_EXIT_OK;
    ptc_emit_array(&c->json);
    for (int i = 0; i < argc && status == PTC_EXIT_OK; i++)
        status = check_argument(c, argv[i]);
    if (status != PTC_EXIT_OK)
        return status;
    bool ok = !c->errors && !(c->options->strict && c->warnings);
    if (c->options->json && !write_json(c, ok))
        return PTC_EXIT_FAILED;
    return ok ? PTC_EXIT_OK : PTC_EXIT_FAILED;
}

/* -------------------------------------------------------------------------------- command */

static Ptc *new_check_engine(const PtcUpstreams *upstreams)
{
    PtcLimits limits;
    PtcOptions options;
    ptc_limits_init(&limits, sizeof limits);
    ptc_short_form_limits(&limits);
    ptc_upstreams_limits(upstreams, &limits);
    ptc_options_init(&options, sizeof options);
    options.limits = &limits;
    return ptc_new(&options);
}

static int load_check_tools(CheckWork *c)
{
    const CheckOptions *o = c->options;
    PtcWhy why;
    if (o->tools && !(c->tools = ptc_tools_in_load(c->mem, o->tools, !o->upstreams.no_learn, &why)))
        return ptc_options_refuse(&usage, "%s", why.text);
    c->run.tools = c->tools;
    return PTC_EXIT_OK;
}

static int load_check_data(CheckWork *c)
{
    if (!c->options->data.count)
        return PTC_EXIT_OK;
    if (!ptc_data_in_load(&c->shared, &usage, &c->options->data, PTC_UNSET, NULL))
        return PTC_EXIT_USAGE;
    c->run.context = ptc_data_in_context(c->shared, c->ptc, &c->data, c->run.context);
    return c->run.context ? PTC_EXIT_OK : ptc_options_refuse(&usage, "--data: out of memory");
}

static int load_check(CheckWork *c)
{
    const CheckOptions *o = c->options;
    if (!(c->ptc = new_check_engine(&c->upstreams)))
        return ptc_options_refuse(&usage, "cannot start: out of memory");
    int status = load_check_tools(c);
    if (status == PTC_EXIT_OK)
        status = ptc_run_in_context(&usage, c->ptc, o->context, &c->context, &c->data, &c->run);
    if (status == PTC_EXIT_OK)
        status = load_check_data(c);
    if (status == PTC_EXIT_OK)
        status = ptc_run_in_wanted(&usage, o->signature, o->schema, &c->schema, &c->run);
    return status;
}

int ptc_cmd_check(PtcMem *mem, int argc, char **argv)
{
    CheckOptions o = {.upstreams = PTC_UPSTREAMS_DEFAULTS};
    PtcParse parse = ptc_options_parse(&usage, &o, &argc, argv);
    if (parse != PTC_PARSE_OK)
        return parse == PTC_PARSE_HELP ? PTC_EXIT_OK : PTC_EXIT_USAGE;
    if (argc == 0)
        return ptc_options_wrong(&usage, "which program?  Give it, its file or -");
    o.upstreams.approved = true; /* whoever runs the program may be asked */
    CheckWork c = {.mem = mem, .options = &o};
    int status;
    if (!ptc_upstreams_open(&c.upstreams, mem, "check", &o.upstreams, NULL, NULL, &status)) {
        ptc_upstreams_close(&c.upstreams);
        return status;
    }
    ptc_buf_init(&c.context, mem, PTC_IO_MAX);
    ptc_buf_init(&c.schema, mem, PTC_IO_MAX);
    ptc_buf_init(&c.json, mem, PTC_IO_MAX);
    ptc_run_init(&c.run, sizeof c.run);
    status = load_check(&c);
    if (status == PTC_EXIT_OK)
        status = check_all(&c, argc, argv);
    release_check(&c);
    return status;
}
