/* SPDX-License-Identifier: MIT
 * `ptc upstreams`: MCP servers and OpenAPI services that programs may call, looked at and tried out by a person. */
#include "cli/cmd/cmd.h"

#include <string.h>

#include "cli/io.h"
#include "cli/options.h"
#include "cli/out/shown.h"
#include "cli/upstreams/upstreams_ask.h"
#include "cli/upstreams/upstreams_help.h"
#include "cli/upstreams/upstreams_login.h"
#include "json/parse.h"
#include "upstream/config/config.h"

typedef struct {
    bool json, raw, yes, verbose, device, paste;
    PtcUpstreamsOptions upstreams;
} UpstreamsOptions;

#define UPSTREAMS_AT(field) offsetof(UpstreamsOptions, field)

static const PtcOption table[] = {
    {"json", 0, PTC_OPTION_FLAG, UPSTREAMS_AT(json), NULL, "list, doctor, pins: print JSON", 0, 0,
     PTC_GROUP_RESULT | PTC_GROUP_COMMON},
    {"raw", 0, PTC_OPTION_FLAG, UPSTREAMS_AT(raw), NULL,
     "call: print the result as the server sent it", 0, 0, PTC_GROUP_RESULT | PTC_GROUP_COMMON},
    {"yes", 0, PTC_OPTION_FLAG, UPSTREAMS_AT(yes), NULL,
     "call: make the call even if a person would have to be asked", 0, 0,
     PTC_GROUP_APPROVALS | PTC_GROUP_COMMON},
    {"verbose", 'v', PTC_OPTION_FLAG, UPSTREAMS_AT(verbose), NULL,
     "show what the servers write to standard error", 0, 0, PTC_GROUP_RESULT | PTC_GROUP_COMMON},
    {"device", 0, PTC_OPTION_FLAG, UPSTREAMS_AT(device), NULL,
     "login: with a code that you type in a browser on any machine", 0, 0,
     PTC_GROUP_SIGN_IN | PTC_GROUP_COMMON},
    {"paste", 0, PTC_OPTION_FLAG, UPSTREAMS_AT(paste), NULL,
     "login: you paste the address at which the browser ends", 0, 0,
     PTC_GROUP_SIGN_IN | PTC_GROUP_COMMON},
    PTC_UPSTREAMS_ROWS(UPSTREAMS_AT(upstreams)),
    PTC_STORE_ROWS(UPSTREAMS_AT(upstreams.store), PTC_GROUP_UPSTREAMS),
};

static const PtcUsage usage = {
    .command = "upstreams",
    .synopsis = "list|check|call|doc|doctor|pins|approve|forget|login|logout [ARGUMENTS] [OPTIONS]",
    .summary =
        "  list                    lists the upstreams and what is known about them; starts "
        "nothing\n"
        "  check [NAME...]         starts them, lists their tools, says how long that took\n"
        "  call NAME/TOOL [JSON]   calls a tool, with its arguments as a JSON object\n"
        "  doc NAME[/TOOL]         shows what a model reads about them\n"
        "  doctor                  checks them all and gives advice\n"
        "  pins [NAME...]          lists tools that are pinned, and what has changed since\n"
        "  approve NAME[/TOOL]     accepts a tool that has changed as it is now\n"
        "  forget [NAME...]        drops what was seen of results of tools\n"
        "  login NAME              signs in to an upstream that wants OAuth; keeps the tokens for "
        "ptc\n"
        "  logout NAME             forgets them\n"
        "ptc upstreams WORD --help has details.  Exit status: 0 all went well, 1 something failed, "
        "2 wrong usage.",
    .examples = "  ptc upstreams list\n"
                "  ptc upstreams check --upstreams upstreams.json\n"
                "  ptc upstreams call files/read_file '{\"path\": \"notes.txt\"}'\n"
                "  ptc upstreams login github\n"
                "  ptc upstreams login github --device\n"
                "  ptc upstreams logout github\n",
    .words = "list|check|call|doc|doctor|pins|approve|forget|login|logout",
    .options = table,
    .option_count = sizeof table / sizeof *table,
};

static const struct {
    const char *word;
    int (*run)(PtcUpstreamsCommand *c);
    int least, most; /* arguments */
    bool notes;      /* those of the files are shown, and rules that fit nothing */
} words[] = {
    {"list", ptc_upstreams_list, 0, 0, true},
    {"check", ptc_upstreams_check, 0, PTC_CONFIG_UPSTREAMS, true},
    {"call", ptc_upstreams_call, 1, 2, true},
    {"doc", ptc_upstreams_tell, 1, 1, false},
    {"doctor", ptc_upstreams_doctor, 0, 0, true},
    {"pins", ptc_upstreams_pins, 0, PTC_CONFIG_UPSTREAMS, false},
    {"approve", ptc_upstreams_approve, 1, PTC_CONFIG_UPSTREAMS, false},
    {"forget", ptc_upstreams_forget, 0, PTC_CONFIG_UPSTREAMS, false},
    {"login", ptc_upstreams_login, 1, 1, false},
    {"logout", ptc_upstreams_logout, 1, 1, false},
};
enum { UPSTREAMS_WORDS = sizeof words / sizeof *words };

/* What a server says goes to standard error, when that is wanted. */
static void log_server_output(void *user, PtcText line)
{
    (void)user;
    (void)!ptc_shown_write_line(PTC_IO_STDERR, line.bytes, line.len);
}

static bool is_json_object_text(PtcMem *mem, const char *text)
{
    PtcScratch scratch;
    PtcJsonError error;
    ptc_scratch_init(&scratch, mem, 64 * PTC_MB);
    PtcValue v = ptc_json_parse(&scratch.heap, text, strlen(text), &error);
    bool ok = v != PTC_NONE && ptc_is_map(v);
    ptc_scratch_deinit(&scratch);
    return ok;
}

static int run_upstreams_word(PtcMem *mem, UpstreamsOptions *o, int word, int argc, char **argv)
{
    PtcUpstreams upstreams;
    int status = PTC_EXIT_FAILED;
    enum { UPSTREAMS_PATIENCE_MS = 60 * 1000 }; /* a person waits longer than a program */
    o->upstreams.load_ms = UPSTREAMS_PATIENCE_MS;
    o->upstreams.approved = o->yes;
    o->upstreams.stored = true;
    o->upstreams.lines = words[word].run == ptc_upstreams_list;
    o->upstreams.quiet = !words[word].notes;
    if (words[word].run == ptc_upstreams_call && !strchr(argv[0], '/'))
        return ptc_options_wrong(&usage, "call: %.100s is not NAME/TOOL, such as files/read_file",
                                 argv[0]);
    if (words[word].run == ptc_upstreams_call && argc > 1 && !is_json_object_text(mem, argv[1]))
        return ptc_options_wrong(&usage, "call: the arguments must be a JSON object, such as "
                                         "'{\"path\": \"notes.txt\"}'");
    if (ptc_upstreams_open(&upstreams, mem, "upstreams", &o->upstreams,
                           o->verbose ? log_server_output : NULL, NULL, &status)) {
        PtcUpstreamsCommand c = {.mem = mem,
                                 .upstreams = &upstreams,
                                 .json = o->json,
                                 .raw = o->raw,
                                 .argc = argc,
                                 .argv = argv,
                                 .device = o->device,
                                 .paste = o->paste};
        status = words[word].run(&c);
    }
    ptc_upstreams_close(&upstreams);
    return status;
}

int ptc_cmd_upstreams(PtcMem *mem, int argc, char **argv)
{
    UpstreamsOptions o = {.upstreams = PTC_UPSTREAMS_DEFAULTS};
    PtcUsage help = ptc_upstreams_help(&usage, argc, argv);
    PtcParse parse = ptc_options_parse(&help, &o, &argc, argv);
    if (parse != PTC_PARSE_OK)
        return parse == PTC_PARSE_HELP ? PTC_EXIT_OK : PTC_EXIT_USAGE;
    int word = 0;
    while (argc > 0 && word < UPSTREAMS_WORDS && strcmp(argv[0], words[word].word) != 0)
        word++;
    if (argc == 0 || word == UPSTREAMS_WORDS)
        return ptc_options_wrong(
            &usage,
            "%s%.60s%s list, check, call, doc, doctor, pins, approve, forget, login or logout",
            argc ? "there is no '" : "say which:", argc ? argv[0] : "", argc ? "'; there are" : "");
    if (argc - 1 < words[word].least || argc - 1 > words[word].most)
        return ptc_options_wrong(&usage, "%s: %s", words[word].word,
                                 words[word].run == ptc_upstreams_call
                                     ? "it takes NAME/TOOL, and the arguments as a JSON object"
                                 : words[word].least ? "name the upstream"
                                                     : "it takes no arguments");
    return run_upstreams_word(mem, &o, word, argc - 1, argv + 1);
}
