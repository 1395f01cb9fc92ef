/* SPDX-License-Identifier: MIT
 * `ptc man`: the manual page, in the macros of man(7).  What always holds: it is written from the tables that parse
 * options and print --help, and text is escaped, so that no option or sentence can be taken for a request of the
 * formatter. */
#include "cli/cmd/cmd.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "cli/help.h"
#include "cli/io.h"
#include "cli/options.h"
#include "ptc/ptc.h"

/* One line of text; a dot or apostrophe at its beginning would be a request, and a dash is a hyphen unless it is
 * escaped. */
static void add_roff_line(PtcBuf *out, const char *text, size_t len)
{
    if (len > 0 && (text[0] == '.' || text[0] == '\''))
        ptc_buf_add_cstr(out, "\\&");
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '\\' || text[i] == '-')
            ptc_buf_add_char(out, '\\');
        ptc_buf_add_char(out, text[i] == '\\' ? 'e' : text[i]);
    }
}

static void add_roff_text(PtcBuf *out, const char *text)
{
    add_roff_line(out, text, strlen(text));
}

/* Lines, each with `end` behind it, without what they are indented by in --help. */
static void add_each_line(PtcBuf *out, const char *text, const char *end)
{
    while (*text) {
        text += strspn(text, " ");
        size_t n = strcspn(text, "\n");
        add_roff_line(out, text, n);
        ptc_buf_add_cstr(out, end);
        text += n + (text[n] == '\n');
    }
}

/* Lines that are not filled. */
static void add_roff_lines(PtcBuf *out, const char *text)
{
    ptc_buf_addf(out, ".nf\n");
    add_each_line(out, text, "\n");
    ptc_buf_addf(out, ".fi\n");
}

static void add_paragraphs(PtcBuf *out, const char *text)
{
    add_each_line(out, text, "\n.br\n");
}

static void add_begin(PtcBuf *out)
{
    ptc_buf_addf(out,
                 ".TH PTC 1 \"\" \"ptc %s\" \"User Commands\"\n"
                 ".SH NAME\nptc \\- run PTC\\-Lisp programs inside hard limits\n"
                 ".SH SYNOPSIS\n.B ptc\n.I COMMAND\n[ARGUMENTS]\n.br\n"
                 ".B ptc\n[OPTIONS] [FILE] PROGRAM\n"
                 ".SH DESCRIPTION\n"
                 "Runs programs in PTC\\-Lisp, a deterministic subset of Clojure: those that a "
                 "person types, and those that language models write to call tools.\n"
                 "The commands:\n",
                 ptc_version());
}

static void add_roff_item(PtcBuf *out, const char *name, const char *summary)
{
    ptc_buf_addf(out, ".TP\n.B ");
    add_roff_text(out, name);
    ptc_buf_addf(out, "\n");
    add_roff_text(out, summary);
    ptc_buf_addf(out, "\n");
}

static void add_option(PtcBuf *out, const PtcOption *option, const void *target)
{
    char standard[48];
    ptc_options_default(option, target, standard, sizeof standard);
    ptc_buf_addf(out, ".TP\n.B ");
    if (option->letter)
        ptc_buf_addf(out, "\\-%c, ", option->letter);
    ptc_buf_addf(out, "\\-\\-");
    add_roff_text(out, option->name);
    ptc_buf_addf(out, option->value ? " \\fI" : "");
    add_roff_text(out, option->value ? option->value : "");
    ptc_buf_addf(out, option->value ? "\\fR\n" : "\n");
    add_roff_text(out, option->help);
    add_roff_text(out, standard);
    ptc_buf_addf(out, "\n");
}

/* In groups if there are many, as --help all has them. */
static void add_options(PtcBuf *out, const PtcUsage *usage, const void *target)
{
    bool few = usage->option_count <= PTC_HELP_FEW;
    for (size_t i = 0; few && i < usage->option_count; i++)
        add_option(out, &usage->options[i], target);
    for (unsigned group = 0; !few && group < PTC_GROUPS; group++) {
        size_t at = 0;
        const PtcOption *option = ptc_help_next(usage, group, &at);
        if (option)
            ptc_buf_addf(out, ".SS \"%s\"\n", ptc_help_title(group));
        for (; option; option = ptc_help_next(usage, group, &at))
            add_option(out, option, target);
    }
}

static void add_command_section(void *user, const PtcUsage *usage, const void *target)
{
    PtcBuf *out = user;
    char synopsis[400];
    ptc_buf_addf(out, ".SH \"ptc ");
    add_roff_text(out, usage->command);
    ptc_buf_addf(out, "\"\n");
    snprintf(synopsis, sizeof synopsis, "ptc %s%s%s", usage->command, *usage->synopsis ? " " : "",
             usage->synopsis);
    add_roff_lines(out, synopsis);
    ptc_buf_addf(out, ".PP\n");
    add_paragraphs(out, usage->summary);
    add_options(out, usage, target);
    ptc_buf_addf(out, ".PP\nExamples:\n.PP\n");
    add_roff_lines(out, usage->examples);
}

static void add_end(PtcBuf *out)
{
    ptc_buf_addf(out,
                 ".SH \"EXIT STATUS\"\n"
                 "0: done; 1: the program, or a test, failed; 2: wrong usage.\n"
                 ".SH ENVIRONMENT\n"
                 "NO_COLOR switches colours off.  XDG_CONFIG_HOME, XDG_STATE_HOME and "
                 "XDG_CACHE_HOME say where files are.\n"
                 ".SH FILES\n"
                 "~/.config/ptc/upstreams.json: servers that programs may call.\n.br\n"
                 "~/.local/state/ptc/history, chat\\-history: what was typed in the REPL and in "
                 "chats.\n.br\n"
                 "~/.local/state/ptc/pins.json: how the tools of servers were first seen, and "
                 "entries of projects that you approved.\n.br\n"
                 "~/.local/state/ptc/approvals.json: tools that you always approve.\n.br\n"
                 "~/.local/state/ptc/oauth: tokens of servers that you signed in to.\n.br\n"
                 "~/.local/state/ptc/cache.key: the key for what is kept about servers.\n.br\n"
                 "~/.cache/ptc/upstreams: what servers listed.\n"
                 ".SH \"SEE ALSO\"\n"
                 "ptc docs lists the guides that are inside of the command; ptc doc NAME explains "
                 "a function.\n");
}

static const PtcUsage usage_of_man = {
    .command = "man",
    .synopsis = "",
    .summary = "Prints the manual page: the --help all of all commands together.",
    .examples = "  ptc man | man -l -\n  ptc man > ptc.1\n",
};

/* Each command gives its own table, when it is asked for its help. */
static void add_command_sections(PtcBuf *out, PtcMem *mem)
{
    static char help[] = "--help";
    char *asked[] = {help, NULL};
    for (size_t i = 0; ptc_cmd_at(i); i++)
        add_roff_item(out, ptc_cmd_at(i)->name, ptc_cmd_at(i)->summary);
    ptc_options_take_help(add_command_section, out);
    for (size_t i = 0; ptc_cmd_at(i); i++)
        (void)ptc_cmd_at(i)->run(mem, 1, asked);
    ptc_options_take_help(NULL, NULL);
}

int ptc_cmd_man(PtcMem *mem, int argc, char **argv)
{
    char none;
    PtcBuf out;
    PtcParse parse = ptc_options_parse(&usage_of_man, &none, &argc, argv);
    if (parse != PTC_PARSE_OK)
        return parse == PTC_PARSE_HELP ? PTC_EXIT_OK : PTC_EXIT_USAGE;
    if (argc > 0)
        return ptc_options_wrong(&usage_of_man, "it takes no arguments");
    ptc_buf_init(&out, mem, PTC_IO_MAX);
    add_begin(&out);
    add_command_sections(&out, mem);
    add_end(&out);
    bool ok = ptc_buf_ok(&out) && ptc_io_write(PTC_IO_STDOUT, out.data, out.len);
    ptc_buf_deinit(&out);
    return ok ? PTC_EXIT_OK : PTC_EXIT_FAILED;
}
