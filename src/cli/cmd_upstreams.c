/* SPDX-License-Identifier: MIT
 * `ptc upstreams`: MCP servers and OpenAPI services that programs may call. */
#include "cli/cmd.h"
#include "cli/options.h"
#include "cli/upstreams_desk.h"

typedef struct {
    bool jsonl;
} Options;

static const PtcOption table[] = {
    {"jsonl", 0, PTC_OPTION_FLAG, offsetof(Options, jsonl), NULL,
     "answer request lines from standard input (docs/upstreams.md)", 0, 0},
};

static const PtcUsage usage = {
    .command = "upstreams",
    .synopsis = "--jsonl",
    .summary = "Answers questions about upstreams from standard input, one a line: how a file is "
               "read, what\n"
               "a tool is called, what is sent and what comes back as a value.\n"
               "Exit status: 0 all lines were answered, 2 wrong usage.",
    .examples = "  echo '{\"id\":1,\"op\":\"name\",\"input\":{\"servers\":[{\"name\":\"json\","
                "\"tools\":[\"parse\"]}]}}' | ptc upstreams --jsonl\n",
    .options = table,
    .option_count = sizeof table / sizeof *table,
};

int ptc_cmd_upstreams(PtcMem *mem, int argc, char **argv)
{
    Options o = {false};
    PtcParse parse = ptc_options_parse(&usage, &o, &argc, argv);
    if (parse != PTC_PARSE_OK)
        return parse == PTC_PARSE_HELP ? PTC_EXIT_OK : PTC_EXIT_USAGE;
    if (argc > 0 || !o.jsonl)
        return ptc_options_wrong(&usage, argc
                                             ? "it takes no arguments, only --jsonl"
                                             : "give --jsonl, and the questions on standard input");
    return ptc_upstreams_jsonl(mem);
}
