/* SPDX-License-Identifier: MIT
 * `ptc completions`: what bash, zsh and fish need to complete commands and options.  What always holds: it is written
 * from the tables that parse options and print --help, so it knows neither more nor fewer than there are. */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "cli/cmd/cmd.h"
#include "cli/io.h"
#include "cli/options.h"

typedef struct {
    const char *command; /* that is asked now */
    PtcBuf *out;
} CompletionWriter;

/* One way to write a shell's script.  Texts come from tables in this program, but hold quotes and brackets. */
typedef struct {
    const char *shell;
    void (*begin)(PtcBuf *out);
    void (*command)(PtcBuf *out, const PtcCmd *command);
    /* What the first argument may be; NULL: anything. */
    void (*words)(CompletionWriter *w, const char *words);
    void (*option)(CompletionWriter *w, const PtcOption *option);
    void (*command_end)(PtcBuf *out);
    void (*end)(PtcBuf *out);
} Shell;

/* ------------------------------------------------------------------------------- pieces */

/* A text between single quotes; `also` are characters that get a backslash before them. */
static void add_shell_quoted(PtcBuf *out, const char *text, const char *also)
{
    for (; *text; text++) {
        if (*text == '\'')
            ptc_buf_add_cstr(out, "'\\''");
        else if (strchr(also, *text))
            ptc_buf_addf(out, "\\%c", *text);
        else
            ptc_buf_add_char(out, *text);
    }
}

/* The words of "a|b|c" with spaces between them. */
static void add_choice_words(PtcBuf *out, const char *words)
{
    for (; *words; words++)
        ptc_buf_add_char(out, *words == '|' ? ' ' : *words);
}

static bool takes_path(const PtcOption *option)
{
    return option->value && (strstr(option->value, "FILE") || strstr(option->value, "DIR"));
}

static void no_end(PtcBuf *out)
{
    (void)out;
}

static void add_command_names(PtcBuf *out)
{
    for (size_t i = 0; ptc_cmd_at(i); i++)
        ptc_buf_addf(out, "%s%s", i ? " " : "", ptc_cmd_at(i)->name);
}

/* --------------------------------------------------------------------------------- bash */

static void bash_begin(PtcBuf *out)
{
    ptc_buf_add_cstr(
        out,
        "# bash completion for ptc, written by `ptc completions bash`\n"
        "_ptc() {\n"
        "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words= choices=\n"
        "    COMPREPLY=()\n"
        "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        words='");
    add_command_names(out);
    ptc_buf_add_cstr(out,
                     " help version --help --version'\n    fi\n    case ${COMP_WORDS[1]}:$prev in\n"
                     "    help:help) choices='");
    add_command_names(out);
    ptc_buf_add_cstr(out, "' ;;\n");
}

/* The first argument comes directly after the command; it is one more case of the choices. */
static void bash_words(CompletionWriter *w, const char *words)
{
    if (!words)
        return;
    ptc_buf_addf(w->out, "    %s:%s) choices='", w->command, w->command);
    add_choice_words(w->out, words);
    ptc_buf_add_cstr(w->out, "' ;;\n");
}

/* All choices come first, then the options of each command: both are one `case`. */
static void bash_choice(CompletionWriter *w, const PtcOption *option)
{
    if (option->type == PTC_OPTION_CHOICE) {
        ptc_buf_addf(w->out, "    %s:--%s) choices='", w->command, option->name);
        add_choice_words(w->out, option->value);
        ptc_buf_add_cstr(w->out, "' ;;\n");
    } else if (option->value) {
        ptc_buf_addf(w->out, "    %s:--%s) %s; return ;;\n", w->command, option->name,
                     takes_path(option) ? "COMPREPLY=($(compgen -f -- \"$cur\"))" : ":");
    }
}

static void bash_option(CompletionWriter *w, const PtcOption *option)
{
    ptc_buf_addf(w->out, "--%s ", option->name);
}

static void bash_command(PtcBuf *out, const PtcCmd *command)
{
    ptc_buf_addf(out, "    %s) words='", command->name);
}

static void bash_command_end(PtcBuf *out)
{
    ptc_buf_add_cstr(out, "--help' ;;\n");
}

static void bash_end(PtcBuf *out)
{
    ptc_buf_add_cstr(out, "    esac\n"
                          "    if [ -n \"$choices\" ] && [ \"${cur:0:1}\" != - ]; then\n"
                          "        COMPREPLY=($(compgen -W \"$choices\" -- \"$cur\"))\n"
                          "    elif [ \"$COMP_CWORD\" -eq 1 ] || [ \"${cur:0:1}\" = - ]; then\n"
                          "        COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
                          "    else\n"
                          "        COMPREPLY=($(compgen -f -- \"$cur\"))\n"
                          "    fi\n"
                          "}\n"
                          "complete -o filenames -F _ptc ptc\n");
}

/* ---------------------------------------------------------------------------------- zsh */

static void zsh_begin(PtcBuf *out)
{
    ptc_buf_add_cstr(out,
                     "#compdef ptc\n# zsh completion for ptc, written by `ptc completions zsh`\n"
                     "_ptc() {\n"
                     "    local -a commands\n    commands=(\n");
    for (size_t i = 0; ptc_cmd_at(i); i++) {
        ptc_buf_addf(out, "        '%s:", ptc_cmd_at(i)->name);
        add_shell_quoted(out, ptc_cmd_at(i)->summary, ":");
        ptc_buf_add_cstr(out, "'\n");
    }
    ptc_buf_add_cstr(out,
                     "    )\n"
                     "    if (( CURRENT == 2 )); then\n"
                     "        _describe command commands\n        _files\n        return\n    fi\n"
                     "    local command=$words[2]\n"
                     "    shift words\n    (( CURRENT-- ))\n"
                     "    case $command in\n");
}

static void zsh_command(PtcBuf *out, const PtcCmd *command)
{
    ptc_buf_addf(out, "    %s) _arguments '(- *)--help[show help]'", command->name);
}

static void zsh_words(CompletionWriter *w, const char *words)
{
    if (words) {
        ptc_buf_add_cstr(w->out, " '1:word:(");
        add_choice_words(w->out, words);
        ptc_buf_add_cstr(w->out, ")'");
    }
    ptc_buf_add_cstr(w->out, " '*:file:_files'");
}

static void zsh_option(CompletionWriter *w, const PtcOption *option)
{
    PtcBuf *out = w->out;
    ptc_buf_addf(out, " \\\n        '*--%s%s[", option->name, option->value ? "=" : "");
    add_shell_quoted(out, option->help, "[]:\\");
    ptc_buf_add_char(out, ']');
    if (option->value) {
        ptc_buf_add_char(out, ':');
        add_shell_quoted(out, option->type == PTC_OPTION_CHOICE ? option->name : option->value,
                         "[]:\\");
        ptc_buf_add_char(out, ':');
        if (option->type == PTC_OPTION_CHOICE) {
            ptc_buf_add_char(out, '(');
            add_choice_words(out, option->value);
            ptc_buf_add_char(out, ')');
        } else if (takes_path(option)) {
            ptc_buf_add_cstr(out, "_files");
        }
    }
    ptc_buf_add_char(out, '\'');
}

static void zsh_command_end(PtcBuf *out)
{
    ptc_buf_add_cstr(out, " ;;\n");
}

static void zsh_end(PtcBuf *out)
{
    ptc_buf_add_cstr(out, "    help) _describe command commands ;;\n"
                          "    *) _files ;;\n    esac\n}\n"
                          "if [ \"$funcstack[1]\" = _ptc ]; then\n    _ptc \"$@\"\n"
                          "else\n    compdef _ptc ptc\nfi\n");
}

/* --------------------------------------------------------------------------------- fish */

static void fish_begin(PtcBuf *out)
{
    ptc_buf_add_cstr(out,
                     "# fish completion for ptc, written by `ptc completions fish`\n"
                     /* The command is the word after ptc: `doc` is one, and a word of upstreams. */
                     "function __ptc_in\n"
                     "    set -l words (commandline -opc)\n"
                     "    test (count $words) -ge 2; and test $words[2] = $argv[1]\n"
                     "end\n"
                     "function __ptc_at\n"
                     "    __ptc_in $argv[1]; and test (count (commandline -opc)) -eq 2\n"
                     "end\n"
                     "complete -c ptc -n '__ptc_at help' -x -a '");
    add_command_names(out);
    ptc_buf_add_cstr(out, "'\n");
    for (size_t i = 0; ptc_cmd_at(i); i++) {
        ptc_buf_addf(out, "complete -c ptc -n __fish_use_subcommand -a %s -d '",
                     ptc_cmd_at(i)->name);
        add_shell_quoted(out, ptc_cmd_at(i)->summary, "\\");
        ptc_buf_add_cstr(out, "'\n");
    }
}

static void fish_command(PtcBuf *out, const PtcCmd *command)
{
    ptc_buf_addf(out, "complete -c ptc -n '__ptc_in %s' -l help -s h -d 'show help'\n",
                 command->name);
}

static void fish_words(CompletionWriter *w, const char *words)
{
    if (!words)
        return;
    ptc_buf_addf(w->out, "complete -c ptc -n '__ptc_at %s' -f -a '", w->command);
    add_choice_words(w->out, words);
    ptc_buf_add_cstr(w->out, "'\n");
}

static void fish_option(CompletionWriter *w, const PtcOption *option)
{
    PtcBuf *out = w->out;
    ptc_buf_addf(out, "complete -c ptc -n '__ptc_in %s' -l %s", w->command, option->name);
    if (option->letter)
        ptc_buf_addf(out, " -s %c", option->letter);
    if (option->type == PTC_OPTION_CHOICE) {
        ptc_buf_add_cstr(out, " -x -a '");
        add_choice_words(out, option->value);
        ptc_buf_add_char(out, '\'');
    } else if (option->value) {
        ptc_buf_add_cstr(out, takes_path(option) ? " -r" : " -x");
    }
    ptc_buf_add_cstr(out, " -d '");
    add_shell_quoted(out, option->help, "\\");
    ptc_buf_add_cstr(out, "'\n");
}

/* -------------------------------------------------------------------------------- command */

static const Shell shells[] = {
    {"bash", bash_begin, bash_command, NULL, bash_option, bash_command_end, bash_end},
    {"zsh", zsh_begin, zsh_command, zsh_words, zsh_option, zsh_command_end, zsh_end},
    {"fish", fish_begin, fish_command, fish_words, fish_option, no_end, no_end},
};
enum { SHELLS = sizeof shells / sizeof *shells };

static const PtcUsage usage = {
    .command = "completions",
    .synopsis = "bash|zsh|fish",
    .summary = "Prints what a shell needs to complete commands, options and their values.\n"
               "Exit status: 0 done, 2 there is no such shell.",
    .examples = "  ptc completions bash > ~/.local/share/bash-completion/completions/ptc\n"
                "  source <(ptc completions zsh)      # in ~/.zshrc, after compinit\n"
                "  ptc completions fish > ~/.config/fish/completions/ptc.fish\n",
    .words = "bash|zsh|fish",
};

typedef struct {
    CompletionWriter writer;
    void (*words)(CompletionWriter *w, const char *words); /* NULL: they are not wanted */
    void (*each)(CompletionWriter *w, const PtcOption *option);
} Taking;

static void take_command_usage(void *user, const PtcUsage *of, const void *target)
{
    Taking *t = user;
    (void)target;
    if (t->words)
        t->words(&t->writer, of->words);
    for (size_t i = 0; i < of->option_count; i++)
        t->each(&t->writer, &of->options[i]);
}

/* Asks one command for its table. */
static void ask_command_usage(PtcMem *mem, const PtcCmd *command, Taking taking)
{
    char help[] = "--help";
    char *argv[] = {help, NULL};
    taking.writer.command = command->name;
    ptc_options_take_help(take_command_usage, &taking);
    (void)command->run(mem, 1, argv);
    ptc_options_take_help(NULL, NULL);
}

static void write_script(PtcMem *mem, const Shell *shell, PtcBuf *out)
{
    CompletionWriter w = {NULL, out};
    bool bash = shell->option == bash_option;
    shell->begin(out);
    for (size_t i = 0; bash && ptc_cmd_at(i); i++)
        ask_command_usage(mem, ptc_cmd_at(i), (Taking){w, bash_words, bash_choice});
    if (bash)
        ptc_buf_add_cstr(out, "    esac\n    case ${COMP_WORDS[1]} in\n");
    for (size_t i = 0; ptc_cmd_at(i); i++) {
        shell->command(out, ptc_cmd_at(i));
        ask_command_usage(mem, ptc_cmd_at(i), (Taking){w, shell->words, shell->option});
        shell->command_end(out);
    }
    shell->end(out);
}

int ptc_cmd_completions(PtcMem *mem, int argc, char **argv)
{
    PtcBuf out;
    char none; /* there are no options to set */
    PtcParse parse = ptc_options_parse(&usage, &none, &argc, argv);
    if (parse != PTC_PARSE_OK)
        return parse == PTC_PARSE_HELP ? PTC_EXIT_OK : PTC_EXIT_USAGE;
    const Shell *shell = NULL;
    for (size_t i = 0; argc == 1 && i < SHELLS; i++)
        if (strcmp(argv[0], shells[i].shell) == 0)
            shell = &shells[i];
    if (!shell)
        return ptc_options_wrong(&usage, "name one shell: bash, zsh or fish");
    ptc_buf_init(&out, mem, PTC_MB);
    write_script(mem, shell, &out);
    bool ok = ptc_buf_ok(&out) && ptc_io_write(PTC_IO_STDOUT, out.data, out.len);
    ptc_buf_deinit(&out);
    return ok ? PTC_EXIT_OK : PTC_EXIT_FAILED;
}
