/* SPDX-License-Identifier: MIT
 * `ptc run`: an agent, a chain of agents, or a batch of them (--jsonl). */
#include "agent/run/agent_batch.h"
#include "cli/agent/agent_host.h"
#include "cli/agent/agent_options.h"
#include "cli/agent/run_agent.h"
#include "cli/cmd/cmd.h"
#include "cli/cmd/db_in.h"
#include "cli/cmd/jsonl.h"
#include "cli/interrupt.h"
#include "cli/out/shown.h"
#include "net/client.h"

#define FIELD(name) offsetof(PtcRunCommand, name)

static const PtcOption options[] = {
    PTC_AGENT_OPTIONS,
    {.name = "data",
     .type = PTC_OPTION_LIST,
     .group = PTC_GROUP_DATA | PTC_GROUP_COMMON,
     .field = FIELD(data),
     .value = "NAME=@FILE",
     .help = "a file of JSON, JSON Lines, CSV or lines as data/NAME (ptc docs data)"},
    {.name = "db",
     .type = PTC_OPTION_LIST,
     .group = PTC_GROUP_TOOLS,
     .field = FIELD(dbs),
     .value = "NAME=URL",
     .help = PTC_DB_IN_HELP},
    {.name = "chunk",
     .type = PTC_OPTION_LIST,
     .group = PTC_GROUP_DATA,
     .field = FIELD(chunks),
     .value = "KEY=@FILE,lines=N",
     .help = "a file in pieces as data: lines=N, chars=N or tokens=N, optionally followed by "
             ",overlap=N"},
    {.name = "then",
     .type = PTC_OPTION_LIST,
     .group = PTC_GROUP_AGENT,
     .field = FIELD(then),
     .value = "FILE",
     .help = "the next agent of a chain: the answer so far is its data"},
    {.name = "json",
     .type = PTC_OPTION_FLAG,
     .group = PTC_GROUP_RESULT | PTC_GROUP_COMMON,
     .field = FIELD(json),
     .help = "print the whole outcome as JSON, not the answer alone"},
    {.name = "messages",
     .type = PTC_OPTION_FLAG,
     .group = PTC_GROUP_RESULT,
     .field = FIELD(messages),
     .help = "with --json: the whole conversation too"},
    {.name = "verbose",
     .letter = 'v',
     .type = PTC_OPTION_FLAG,
     .group = PTC_GROUP_RESULT | PTC_GROUP_COMMON,
     .field = FIELD(verbose),
     .help = "show programs, what they print and calls on standard error, as they happen"},
    {.name = "dry-run",
     .type = PTC_OPTION_FLAG,
     .group = PTC_GROUP_AGENT | PTC_GROUP_COMMON,
     .field = FIELD(dry_run),
     .help = "print the first request and send nothing"},
    {.name = "compile",
     .type = PTC_OPTION_TEXT,
     .group = PTC_GROUP_AGENT,
     .field = FIELD(compile),
     .value = "FILE",
     .help = "ask once and keep the program, for ptc eval --compiled FILE"},
    {.name = "sample",
     .type = PTC_OPTION_TEXT,
     .group = PTC_GROUP_AGENT,
     .field = FIELD(sample),
     .value = "JSON|@FILE",
     .help = "with --compile: data to try the program on; what is missing is made up"},
    PTC_UPSTREAMS_ROWS(FIELD(upstreams)),
    PTC_STORE_ROWS(FIELD(upstreams.store), PTC_GROUP_UPSTREAMS),
    {.name = "jsonl",
     .type = PTC_OPTION_FLAG,
     .group = PTC_GROUP_AGENT,
     .field = FIELD(jsonl),
     .help = "a batch: one request per line on standard input, one answer per line, every model a "
             "script"},
    {.name = "allow-tools",
     .type = PTC_OPTION_FLAG,
     .group = PTC_GROUP_AGENT,
     .field = FIELD(allow_tools),
     .help = "with --jsonl: agents may have command and http tools"},
};

static const PtcUsage usage = {
    .command = "run",
    .synopsis = "[OPTIONS] AGENT.json|.yaml|.md\n       ptc run --jsonl [--allow-tools]",
    .summary =
        "Runs an agent: a model that writes programs and calls tools until it has the answer.\n"
        "The answer goes to standard output, everything else to standard error.\n"
        "Exit status: 0 done, 1 the agent failed, 2 wrong usage or a wrong agent file.",
    .examples = "  ptc run agent.json --context '{\"city\": \"Oslo\"}' --llm haiku\n"
                "  ptc run agent.json --dry-run\n"
                "  ptc run extract.json --then report.json --json\n"
                "  ptc run agent.json --upstreams servers.json --allow notes/write\n"
                "  ptc run agent.json --compile agent.ptc.json --llm sonnet\n"
                "  ptc run --jsonl <requests.jsonl\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
};

/* --------------------------------------------------------------------------------- batch */

#define INVALID(reason, message) \
    "{\"id\":null,\"outcome\":\"invalid\",\"reason\":\"" reason "\",\"message\":\"" message "\"}"
static const char no_memory[] = INVALID("no_memory", "out of memory");
static const char too_long[] = INVALID("invalid_input", "the line is longer than 64 MiB");

typedef struct Batch {
    PtcMem *mem;
    PtcAgentBatchOptions options;
} Batch;

static bool answer_agent_line(void *user, const char *line, size_t len)
{
    Batch *b = user;
    PtcBuf out;
    ptc_buf_init(&out, b->mem, (size_t)PTC_GB);
    ptc_interrupt_catch(); /* while a line is read they end the process at once */
    bool ok = ptc_agent_batch_line(&b->options, (PtcText){line, len}, &out);
    bool written = ok ? ptc_shown_result("run", out.data, out.len)
                      : ptc_shown_result("run", no_memory, sizeof no_memory - 1);
    ptc_buf_deinit(&out);
    ptc_interrupt_let();
    return written && !ptc_cancelled(&ptc_interrupt);
}

static int run_agent_batch(PtcMem *mem, const PtcRunCommand *o)
{
    Batch batch = {mem, {.allow_tools = o->allow_tools, .cancel = &ptc_interrupt}};
    PtcAgentHostOptions named = {.command = "run"};
    PtcTreeHost tools = {.open_model = NULL};
    PtcAgentHost *host = o->allow_tools ? ptc_agent_host_open(mem, &named) : NULL;
    if (o->allow_tools && !host)
        return PTC_EXIT_USAGE;
    if (host) {
        ptc_agent_host_fill(host, &tools);
        batch.options.host = &tools;
    }
    int status = ptc_jsonl_each(mem, "run", too_long, answer_agent_line, &batch);
    if (host)
        (void)ptc_agent_host_close(host);
    return status;
}

int ptc_cmd_run(PtcMem *mem, int argc, char **argv)
{
    PtcRunCommand o = {.token_limit = -1, .check = -1, .upstreams = PTC_UPSTREAMS_DEFAULTS};
    switch (ptc_options_parse(&usage, &o, &argc, argv)) {
    case PTC_PARSE_OK: break;
    case PTC_PARSE_HELP: return PTC_EXIT_OK;
    case PTC_PARSE_WRONG: return PTC_EXIT_USAGE;
    }
    if ((o.jsonl || o.compile) && (o.upstreams.files.count || o.upstreams.imports.count))
        return ptc_options_wrong(&usage, "--upstreams and --import do not go with --%s",
                                 o.jsonl ? "jsonl" : "compile");
    if (o.jsonl)
        return argc ? ptc_options_wrong(&usage,
                                        "--jsonl takes no file: requests are on standard input")
                    : run_agent_batch(mem, &o);
    if (argc != 1)
        return ptc_options_wrong(
            &usage, argc ? "give one agent file; further ones go with --then"
                         : "which agent file?  ptc init DIR makes one that runs at once");
    return ptc_run_agent(mem, &o, argv[0]);
}
