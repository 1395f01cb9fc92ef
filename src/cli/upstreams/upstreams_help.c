/* SPDX-License-Identifier: MIT
 * Help for each word of `ptc upstreams`, each with an example. */
#include "cli/upstreams/upstreams_help.h"

#include <string.h>

static const struct {
    const char *word, *command, *synopsis, *summary, *examples;
} rows[] = {
    {"list", "upstreams list", "[--json] [OPTIONS]",
     "Lists the upstreams: namespace, state, transport, tools and when they were listed, the file "
     "and line that names each of them, and why one cannot be used.  Starts nothing.",
     "  ptc upstreams list\n"
     "  ptc upstreams list --import cursor --json\n"},
    {"check", "upstreams check", "[NAME...] [OPTIONS]",
     "Starts upstreams, lists their tools, says how long that took and which tools have changed "
     "since they were pinned.  Exit status 1 if one fails.",
     "  ptc upstreams check\n"
     "  ptc upstreams check github --upstreams upstreams.json --verbose\n"},
    {"call", "upstreams call", "NAME/TOOL [JSON] [--raw] [--yes] [OPTIONS]",
     "Calls one tool with a JSON object as its arguments and prints its value; --raw prints the "
     "result as the server sent it.  If the policy wants a person to be asked, it asks on a "
     "terminal; without a terminal it refuses the call unless --yes says that you agree.",
     "  ptc upstreams call files/read_file '{\"path\": \"notes.txt\"}'\n"
     "  ptc upstreams call files/write_file '{\"path\": \"a\", \"content\": \"\"}' --yes\n"},
    {"doc", "upstreams doc", "NAME[/TOOL] [OPTIONS]",
     "Shows what a model reads about an upstream, or about one of its tools.",
     "  ptc upstreams doc files\n"
     "  ptc upstreams doc files/read_file\n"},
    {"doctor", "upstreams doctor", "[--json] [OPTIONS]",
     "Checks all upstreams and gives advice: programs that start slowly or are not there, "
     "variables that are not passed on, servers that a client starts as well, files that others "
     "may read, secrets in clear, rules that fit no tool, tools that do not say what they do, and "
     "how many bytes a model sees.",
     "  ptc upstreams doctor\n"
     "  ptc upstreams doctor --import claude-desktop\n"},
    {"pins", "upstreams pins", "[NAME...] [--json] [OPTIONS]",
     "Lists the tools that are pinned; for those that have changed since, how they read before and "
     "now.",
     "  ptc upstreams pins\n"
     "  ptc upstreams pins github --json\n"},
    {"approve", "upstreams approve", "NAME[/TOOL]... [OPTIONS]",
     "Accepts a tool that has changed as it was last seen; with a name alone, all tools of that "
     "upstream.  For an upstream of a project's file: lets it be used as the file has it now.",
     "  ptc upstreams approve github/create_issue\n"
     "  ptc upstreams approve github --import cursor:project\n"},
    {"forget", "upstreams forget", "[NAME...] [OPTIONS]",
     "Drops what was seen of the results of tools that do not say what they return: of the "
     "upstreams that are named, or all of it.  It is learnt again when they are called.",
     "  ptc upstreams forget\n"
     "  ptc upstreams forget github\n"},
    {"login", "upstreams login", "NAME [--device | --paste] [OPTIONS]",
     "Signs in to an upstream that wants OAuth, in a browser on this machine.  --device shows a "
     "code for a browser on any machine; with --paste you copy the address at which the browser "
     "ends.  Waits ten minutes at most.",
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
