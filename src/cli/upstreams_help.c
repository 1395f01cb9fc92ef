/* SPDX-License-Identifier: MIT
 * Help for each word of `ptc upstreams`, each with an example. */
#include "cli/upstreams_help.h"

#include <string.h>

static const struct {
    const char *word, *command, *synopsis, *summary, *examples;
} rows[] = {
    {"list", "upstreams list", "[--json] [OPTIONS]",
     "The upstreams there are: namespace, state, transport, tools and when they were listed, the "
     "file and\n"
     "line that names them, and why one cannot be used.  Starts nothing.",
     "  ptc upstreams list\n"
     "  ptc upstreams list --import cursor --json\n"},
    {"check", "upstreams check", "[NAME...] [OPTIONS]",
     "Starts upstreams, lists their tools, says how long that took and which tools have changed "
     "since they\n"
     "were pinned.  Exit status 1 if one fails.",
     "  ptc upstreams check\n"
     "  ptc upstreams check github --upstreams upstreams.json --verbose\n"},
    {"call", "upstreams call", "NAME/TOOL [JSON] [--raw] [--yes] [OPTIONS]",
     "Calls one tool with a JSON object as its arguments and prints its value; --raw prints the "
     "result as\n"
     "the server sent it.  A tool that policy asks about is asked about at a terminal; without "
     "one\n"
     "it is refused unless --yes says that you agree.",
     "  ptc upstreams call files/read_file '{\"path\": \"notes.txt\"}'\n"
     "  ptc upstreams call files/write_file '{\"path\": \"a\", \"content\": \"\"}' --yes\n"},
    {"doc", "upstreams doc", "NAME[/TOOL] [OPTIONS]",
     "What a model reads of an upstream, or of one of its tools.",
     "  ptc upstreams doc files\n"
     "  ptc upstreams doc files/read_file\n"},
    {"doctor", "upstreams doctor", "[--json] [OPTIONS]",
     "Checks all upstreams and gives advice: programs that start slowly or are not there, "
     "variables that are\n"
     "not passed on, servers that a client starts as well, files that others may read, secrets in "
     "clear,\n"
     "rules that fit no tool, tools that do not say what they do, and how many bytes a model sees.",
     "  ptc upstreams doctor\n"
     "  ptc upstreams doctor --import claude-desktop\n"},
    {"pins", "upstreams pins", "[NAME...] [--json] [OPTIONS]",
     "Tools that are pinned, and for those that have changed since how they read before and now.",
     "  ptc upstreams pins\n"
     "  ptc upstreams pins github --json\n"},
    {"approve", "upstreams approve", "NAME[/TOOL]... [OPTIONS]",
     "Takes a tool that has changed as it was seen last; a name alone: all of its tools.  For an "
     "upstream of a\n"
     "project's file: lets it be used as the file has it now.",
     "  ptc upstreams approve github/create_issue\n"
     "  ptc upstreams approve github --import cursor:project\n"},
    {"login", "upstreams login", "NAME [--device | --paste] [OPTIONS]",
     "Signs in where an upstream wants OAuth, in a browser on this machine; --device shows a code "
     "for a browser\n"
     "anywhere, --paste takes the address that the browser ends at.  Waits for ten minutes at "
     "most.",
     "  ptc upstreams login github\n"
     "  ptc upstreams login github --device\n"},
    {"logout", "upstreams logout", "NAME [OPTIONS]", "Forgets the tokens of an upstream.",
     "  ptc upstreams logout github\n"},
};

PtcUsage ptc_upstreams_help(const PtcUsage *all, int argc, char **argv)
{
    PtcUsage usage = *all;
    for (int a = 0; a < argc; a++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            if (strcmp(argv[a], rows[i].word) == 0) {
                usage.command = rows[i].command;
                usage.synopsis = rows[i].synopsis;
                usage.summary = rows[i].summary;
                usage.examples = rows[i].examples;
                return usage;
            }
    return usage;
}
