/* SPDX-License-Identifier: MIT
 * `ptc run`: one agent, or a batch of them. */
#include "agent/agent_batch.h"
#include "cli/cmd.h"
#include "cli/io.h"
#include "cli/jsonl.h"
#include "cli/options.h"

typedef struct Options {
    bool jsonl, allow_tools;
} Options;

#define FIELD(name) offsetof(Options, name)
static const PtcOption options[] = {
    {.name = "jsonl",
     .type = PTC_OPTION_FLAG,
     .field = FIELD(jsonl),
     .help = "one request a line on standard input, one answer a line; every model is a script"},
    {.name = "allow-tools",
     .type = PTC_OPTION_FLAG,
     .field = FIELD(allow_tools),
     .help = "agents of a batch may have command and http tools"},
};

static const PtcUsage usage = {
    .command = "run",
    .synopsis = "--jsonl",
    .summary = "Runs an agent.",
    .examples = "ptc run --jsonl <requests.jsonl",
    .options = options,
    .option_count = sizeof options / sizeof *options,
};

typedef struct Batch {
    PtcMem *mem;
    PtcAgentBatchOptions options;
} Batch;

static const char no_memory[] =
    "{\"id\":null,\"outcome\":\"invalid\",\"reason\":\"no_memory\",\"message\":\"out of memory\"}";
static const char too_long[] = "{\"id\":null,\"outcome\":\"invalid\",\"reason\":\"invalid_input\","
                               "\"message\":\"the line is longer than 64 MiB\"}";

static bool answer_line(void *user, const char *line, size_t len)
{
    Batch *b = user;
    PtcBuf out;
    ptc_buf_init(&out, b->mem, (size_t)1 << 30);
    bool ok = ptc_agent_batch_line(&b->options, (PtcText){line, len}, &out);
    ok = ok ? ptc_io_write_line(PTC_IO_STDOUT, out.data, out.len)
            : ptc_io_write_line(PTC_IO_STDOUT, no_memory, sizeof no_memory - 1);
    ptc_buf_deinit(&out);
    return ok;
}

int ptc_cmd_run(PtcMem *mem, int argc, char **argv)
{
    Options o = {0};
    switch (ptc_options_parse(&usage, &o, &argc, argv)) {
    case PTC_PARSE_OK: break;
    case PTC_PARSE_HELP: return PTC_EXIT_OK;
    case PTC_PARSE_WRONG: return PTC_EXIT_USAGE;
    }
    Batch batch = {mem, {.allow_tools = o.allow_tools}};
    return ptc_jsonl_each(mem, "run", too_long, answer_line, &batch);
}
