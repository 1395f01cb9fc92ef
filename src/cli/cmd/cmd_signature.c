/* SPDX-License-Identifier: MIT
 * `ptc signature`: reads a signature, checks a value against it, prints its JSON Schema. */

#include "cli/cmd/cmd.h"
#include "cli/cmd/signature.h"
#include "cli/io.h"
#include "cli/options.h"
#include "cli/out/shown.h"
#include "json/write.h"
#include "tool/sig/sig_schema.h"
#include "value/time/time.h"

typedef struct {
    const char *value;
    int mode;
    bool input, schema;
} SignatureOptions;

/* ---------------------------------------------------------------------------------- table */

#define SIGNATURE_AT(field) offsetof(SignatureOptions, field)

static const PtcOption table[] = {
    {"value", 0, PTC_OPTION_TEXT, SIGNATURE_AT(value), "JSON|@FILE",
     "check this value against the type of the result", 0, 0, 0},
    {"input", 0, PTC_OPTION_FLAG, SIGNATURE_AT(input), NULL,
     "the value is the arguments: coerce it to the parameters", 0, 0, 0},
    {"mode", 0, PTC_OPTION_CHOICE, SIGNATURE_AT(mode), "enabled|warn_only|disabled|strict",
     "how strictly the value is checked against the signature (enabled)", 0, 0, 0},
    {"schema", 0, PTC_OPTION_FLAG, SIGNATURE_AT(schema), NULL,
     "print the JSON Schema of the result; with --input, of the parameters", 0, 0, 0},
};

static const PtcUsage usage = {
    .command = "signature",
    .synopsis = "SIG [--value JSON|@FILE [--input]] [--schema]",
    .summary = "Reads a signature and prints it in its usual form; or checks a value and prints it "
               "as JSON; or prints a JSON Schema.\n"
               "Exit status: 0 done, 1 the signature or the value is wrong, 2 wrong usage.",
    .examples = "  ptc signature '(query :string, limit :int?) -> [{id :int}]'\n"
                "  ptc signature '{count :int}' --value '{\"count\":3}'\n"
                "  ptc signature '(limit :int) -> :any' --input --value '{\"limit\":\"10\"}'\n"
                "  ptc signature '{count :int}' --schema\n",
    .options = table,
    .option_count = sizeof table / sizeof *table,
};

/* --------------------------------------------------------------------------------- output */

static int write_signature_line(PtcBuf *out)
{
    if (!ptc_buf_ok(out))
        ptc_io_printf(PTC_IO_STDERR, "error: out of memory\n");
    else if (ptc_shown_result("signature", out->data, out->len))
        return PTC_EXIT_OK;
    return PTC_EXIT_FAILED;
}

/* The message, and the line with a mark under the place it is about. */
static int bad_signature(PtcMem *mem, const char *text, const PtcSigError *error)
{
    const char *line = text;
    for (const char *s = text; s < text + error->offset; s++)
        if (*s == '\n')
            line = s + 1;
    PtcBuf out;
    ptc_buf_init(&out, mem, PTC_IO_MAX);
    ptc_buf_addf(&out, "error: %s\n --> line %u, column %u\n  %.*s\n  %*s^\n", error->message,
                 (unsigned)error->line, (unsigned)error->column,
                 PTC_ARG_OF(line, strcspn(line, "\n")), (int)error->column - 1, "");
    (void)!ptc_shown_write(PTC_IO_STDERR, out.data, out.len);
    ptc_buf_deinit(&out);
    return PTC_EXIT_FAILED;
}

static void write_sig_issues(PtcMem *mem, const char *word, const PtcSigIssues *issues)
{
    PtcBuf out;
    ptc_buf_init(&out, mem, PTC_IO_MAX);
    for (size_t i = 0; i < issues->count; i++) {
        ptc_buf_addf(&out, "%s: ", word);
        ptc_sig_issue_print(&out, &issues->items[i]);
        ptc_buf_add_char(&out, '\n');
    }
    if (issues->total > issues->count)
        ptc_buf_addf(&out, "%s: %zu more\n", word, issues->total - issues->count);
    (void)!ptc_shown_write(PTC_IO_STDERR, out.data, out.len);
    ptc_buf_deinit(&out);
}

/* ---------------------------------------------------------------------------------- value */

/* PTC_NONE: the message has been printed and *status is the exit status. */
static PtcValue read_value_option(PtcSigDesk *desk, const char *text, PtcBuf *file, int *status)
{
    PtcJsonError error;
    const char *why, *path = text + 1;
    size_t len = strlen(text);
    *status = PTC_EXIT_USAGE;
    if (text[0] == '@') {
        if ((why = ptc_io_read(file, path))) {
            ptc_options_refuse(&usage, "cannot read the value %.200s: %s", path, why);
            return PTC_NONE;
        }
        text = file->data ? file->data : "";
        len = file->len;
    }
    PtcValue v = ptc_json_parse(&desk->heap, text, len, &error);
    if (v == PTC_NONE)
        ptc_options_refuse(&usage, "--value is not JSON: %s, at line %u, column %u", error.message,
                           (unsigned)error.line, (unsigned)error.column);
    return v;
}

static PtcValue check_output(PtcSigDesk *d, const PtcSig *sig, PtcSigMode mode, PtcValue v)
{
    if (ptc_sig_output(&d->heap, sig, mode, v, &d->warnings, &d->errors))
        return v;
    PtcSigIssues again;
    ptc_sig_issues_init(&again, d->mem);
    PtcValue typed = ptc_sig_atomize(&d->heap, sig->result, v);
    if (typed != PTC_NONE && ptc_sig_output(&d->heap, sig, mode, typed, &again, &again))
        ptc_io_printf(PTC_IO_STDERR, "note: as a JSON answer this passes, since ISO 8601 strings "
                                     "are read as datetimes there\n");
    ptc_sig_issues_deinit(&again);
    return PTC_NONE;
}

static int check_value_option(PtcSigDesk *d, const SignatureOptions *o, const PtcSig *sig)
{
    int status;
    PtcBuf buf;
    ptc_buf_init(&buf, d->mem, PTC_IO_MAX);
    PtcSigMode mode = o->mode < 0 ? PTC_SIG_ENABLED : (PtcSigMode)o->mode;
    PtcValue v = read_value_option(d, o->value, &buf, &status);
    if (v != PTC_NONE) {
        v = o->input ? ptc_sig_desk_input(d, sig, mode, v) : check_output(d, sig, mode, v);
        write_sig_issues(d->mem, "warning", &d->warnings);
        write_sig_issues(d->mem, "error", &d->errors);
        ptc_buf_clear(&buf);
        status = PTC_EXIT_FAILED;
        if (v != PTC_NONE && ptc_sig_desk_write(d, &buf, v))
            status = write_signature_line(&buf);
        else if (d->errors.total == 0)
            ptc_io_printf(PTC_IO_STDERR, "error: the value is too large\n");
    }
    ptc_buf_deinit(&buf);
    return status;
}

/* -------------------------------------------------------------------------------- command */

static int print_signature(PtcMem *mem, const SignatureOptions *o, const PtcSig *sig)
{
    PtcBuf out;
    ptc_buf_init(&out, mem, PTC_IO_MAX);
    if (!o->schema)
        ptc_sig_print(&out, sig);
    else if (o->input)
        ptc_sig_schema_params(&out, sig, false);
    else
        ptc_sig_schema_result(&out, sig->result);
    int status = write_signature_line(&out);
    ptc_buf_deinit(&out);
    return status;
}

static int run_signature(PtcMem *mem, PtcSigDesk *desk, const SignatureOptions *o, const char *text)
{
    const PtcSig *sig;
    PtcSigError error;
    if (!ptc_sig_parse(&desk->arena, text, strlen(text), &sig, &error))
        return bad_signature(mem, text, &error);
    int status = PTC_EXIT_OK;
    if (o->value)
        status = check_value_option(desk, o, sig);
    if (status == PTC_EXIT_OK && (o->schema || !o->value))
        status = print_signature(mem, o, sig);
    return status;
}

int ptc_cmd_signature(PtcMem *mem, int argc, char **argv)
{
    SignatureOptions o = {.mode = -1};
    PtcParse parse = ptc_options_parse(&usage, &o, &argc, argv);
    if (parse != PTC_PARSE_OK)
        return parse == PTC_PARSE_HELP ? PTC_EXIT_OK : PTC_EXIT_USAGE;
    if (argc != 1)
        return ptc_options_wrong(&usage, argc ? "give one signature, not several"
                                              : "which signature? Such as '{count :int}'");
    if (o.input && !o.value && !o.schema)
        return ptc_options_wrong(&usage, "--input goes with --value or --schema");
    if (o.mode >= 0 && !o.value)
        return ptc_options_wrong(&usage, "--mode goes with --value");
    PtcSigDesk desk;
    ptc_sig_desk_init(&desk, mem);
    int status = run_signature(mem, &desk, &o, argv[0]);
    ptc_sig_desk_deinit(&desk);
    return status;
}
