/* SPDX-License-Identifier: MIT
 * `ptc docs`: the guides and the reference, built in.  `ptc doc`: one function or form. */
#include "cli/cmd/cmd.h"

#include <unistd.h>

#include "base/text/nearest.h"
#include "cli/cmd/doc_tools.h"
#include "cli/cmd/guides.h"
#include "cli/io.h"
#include "cli/options.h"
#include "cli/out/show.h"

/* ------------------------------------------------------------------- topics */

typedef struct {
    const char *name, *summary;
    const unsigned char *bytes; /* NULL: generated from the rows */
    const size_t *len;
} Topic;

#define GUIDE(name) ptc_guide_##name, &ptc_guide_##name##_len
static const Topic topics[] = {
    {"start", "the first steps: build, evaluate, an agent, an MCP client", GUIDE(start)},
    {"mcp-tutorial", "ten minutes with ptc mcp: data, tools, sessions, other servers",
     GUIDE(mcp_tutorial)},
    {"from-jq", "for those who know jq", GUIDE(from_jq)},
    {"from-python", "for those who know Python", GUIDE(from_python)},
    {"from-ptcrunner", "for those who know PtcRunner", GUIDE(from_ptcrunner)},
    {"language", "the language on one page of examples", GUIDE(language)},
    {"functions", "every function and special form with examples, and an index", NULL, NULL},
    {"differences", "where the language differs from Clojure", GUIDE(differences)},
    {"limits", "what a run may use, and what happens at the limit", GUIDE(limits)},
    {"security", "what it protects against, and what not", GUIDE(security)},
    {"isolation", "worker processes that programs run in", GUIDE(isolation)},
    {"cli", "the command line", GUIDE(cli)},
    {"check", "mistakes that are found before a program runs", GUIDE(check)},
    {"data", "files and pipes in, tables, CSV and JSON out", GUIDE(data)},
    {"batch", "many programs, one per line", GUIDE(batch)},
    {"tools", "tools files, and commands as tools", GUIDE(tools)},
    {"databases", "SQLite and PostgreSQL as tools: parameters, types, what is refused",
     GUIDE(databases)},
    {"signatures", "what tools take and give, and ptc signature", GUIDE(signatures)},
    {"json-schema", "JSON Schema for results and answers", GUIDE(json_schema)},
    {"agents", "agents: their files, their runs, ptc run", GUIDE(agents)},
    {"transports", "which mode for which agent, with figures", GUIDE(transports)},
    {"providers", "models, and who provides them", GUIDE(providers)},
    {"replay", "scripts, records and programs as models; testing agents", GUIDE(replay)},
    {"protocol", "the tool lisp_eval as models see it", GUIDE(protocol)},
    {"mcp", "the MCP server", GUIDE(mcp)},
    {"mcp-http", "the MCP server over HTTP", GUIDE(mcp_http)},
    {"upstreams", "MCP servers that programs may call", GUIDE(upstreams)},
    {"packages", "install it, and what the packages have", GUIDE(packages)},
    {"embedding", "libptc in an application", GUIDE(embedding)},
    {"python", "the package for Python", GUIDE(python)},
    {"node", "the package for Node", GUIDE(node)},
    {"wasm", "the engine in browsers, and the playground", GUIDE(wasm)},
    {"trace", "what agents did, one event per line", GUIDE(trace)},
    {"viewer", "traces in a browser, as tables, in other tools", GUIDE(viewer)},
    {"observability", "traces, records, metrics and logs: what to look at when",
     GUIDE(observability)},
    {"operations", "running ptc mcp for others: install, limits, updates, backups",
     GUIDE(operations)},
    {"fleet", "many servers with one store: what is kept where, keys, ptc store", GUIDE(fleet)},
    {"troubleshooting", "when something does not work", GUIDE(troubleshooting)},
    {"faq", "questions that come up", GUIDE(faq)},
    {"versioning", "what a version promises", GUIDE(versioning)},
};
#undef GUIDE
enum { TOPICS = sizeof topics / sizeof *topics };

static const PtcUsage docs_usage = {
    .command = "docs",
    .synopsis = "[TOPIC]",
    .summary = "Prints a guide as Markdown; without a topic, lists the topics.\n"
               "Exit status: 0 done, 2 there is no such topic.",
    .examples = "  ptc docs\n  ptc docs language\n  ptc docs functions > functions.md\n",
};

/* The engine alone has pages about other things empty (CMakeLists.txt). */
static bool is_left_out(const Topic *topic)
{
    return topic->bytes && *topic->len == 0;
}

static int list_topics(void)
{
    ptc_io_printf(PTC_IO_STDOUT, "ptc docs TOPIC prints one of these:\n\n");
    for (size_t i = 0; i < TOPICS; i++)
        if (!is_left_out(&topics[i]))
            ptc_io_printf(PTC_IO_STDOUT, "  %-16s %s\n", topics[i].name, topics[i].summary);
    ptc_io_printf(PTC_IO_STDOUT, "\nptc doc NAME shows one function or form.\n");
    return PTC_EXIT_OK;
}

static int unknown_topic(const char *name)
{
    PtcNearest near;
    ptc_nearest_init(&near, name, strlen(name));
    for (size_t i = 0; i < TOPICS; i++)
        ptc_nearest_offer(&near, topics[i].name, strlen(topics[i].name));
    if (near.best)
        return ptc_options_wrong(&docs_usage, "no topic %.60s; did you mean %s?", name, near.best);
    return ptc_options_wrong(&docs_usage,
                             "no topic %.60s; `ptc docs` lists them, `ptc doc %.60s` "
                             "looks for a function",
                             name, name);
}

static int write_doc_bytes(const void *bytes, size_t len)
{
    return ptc_io_write(PTC_IO_STDOUT, bytes, len) ? PTC_EXIT_OK : PTC_EXIT_FAILED;
}

static int print_topic(PtcMem *mem, const Topic *topic)
{
    PtcBuf out;
    if (is_left_out(topic))
        return ptc_options_refuse(
            &docs_usage, "%s is about what is not in this build, the engine alone", topic->name);
    if (topic->bytes)
        return write_doc_bytes(topic->bytes, *topic->len);
    ptc_buf_init(&out, mem, PTC_IO_MAX);
    ptc_show_reference(&out);
    int status = ptc_buf_ok(&out) ? write_doc_bytes(out.data, out.len) : PTC_EXIT_FAILED;
    ptc_buf_deinit(&out);
    return status;
}

/* Pages name each other by their files: data.md and docs/data.md are the topic data. */
static bool is_topic(const char *name, const char *given)
{
    const char *slash = strrchr(given, '/');
    size_t n = strlen(name);
    given = slash ? slash + 1 : given;
    return strncmp(given, name, n) == 0 && (!given[n] || strcmp(given + n, ".md") == 0);
}

int ptc_cmd_docs(PtcMem *mem, int argc, char **argv)
{
    char none;
    PtcParse parse = ptc_options_parse(&docs_usage, &none, &argc, argv);
    if (parse != PTC_PARSE_OK)
        return parse == PTC_PARSE_HELP ? PTC_EXIT_OK : PTC_EXIT_USAGE;
    if (argc == 0)
        return list_topics();
    if (argc > 1)
        return ptc_options_wrong(&docs_usage, "one topic at a time");
    for (size_t i = 0; i < TOPICS; i++)
        if (is_topic(topics[i].name, argv[0]))
            return print_topic(mem, &topics[i]);
    return unknown_topic(argv[0]);
}

/* ---------------------------------------------------------------------- doc */

static const PtcOption doc_table[] = {
    {"tools", 0, PTC_OPTION_TEXT, offsetof(PtcDocOptions, tools), "JSON|@FILE",
     "also these tools (ptc docs tools)", 0, 0, 0},
#ifndef PTC_ENGINE
    PTC_UPSTREAMS_ROWS(offsetof(PtcDocOptions, upstreams)),
#endif
};

static const PtcUsage doc_usage = {
    .command = "doc",
    .synopsis = "[OPTIONS] NAME...\n       ptc doc --tools @FILE",
    .summary =
        "Shows a function or special form: how it is called, what it does, examples.\n"
        "A namespace (str, Math) is listed.  With --tools, --upstreams or --import also a tool or "
        "an upstream; with --tools and no name, all tools.  Exit status: 0 found, 1 no such name.",
    .examples = "  ptc doc group-by\n  ptc doc str/join\n  ptc doc parse      # in any namespace\n"
                "  ptc doc clojure.set\n  ptc doc --tools @tools.json tool/price\n",
    .options = doc_table,
    .option_count = sizeof doc_table / sizeof *doc_table,
    .long_only = true,
};

static int show_names(PtcMem *mem, int argc, char **argv)
{
    PtcBuf out;
    int status = PTC_EXIT_OK;
    for (int i = 0; i < argc && status == PTC_EXIT_OK; i++) {
        ptc_buf_init(&out, mem, PTC_IO_MAX);
        if (i > 0)
            ptc_buf_add_char(&out, '\n');
        bool found = ptc_show_name(&out, argv[i], strlen(argv[i]), isatty(PTC_IO_STDOUT) == 1);
        bool written = ptc_io_write(found ? PTC_IO_STDOUT : PTC_IO_STDERR, out.data, out.len);
        status = found && written ? PTC_EXIT_OK : PTC_EXIT_FAILED;
        ptc_buf_deinit(&out);
    }
    return status;
}

int ptc_cmd_doc(PtcMem *mem, int argc, char **argv)
{
    PtcDocOptions o = {.upstreams = PTC_UPSTREAMS_DEFAULTS};
    PtcParse parse = ptc_options_parse(&doc_usage, &o, &argc, argv);
    if (parse != PTC_PARSE_OK)
        return parse == PTC_PARSE_HELP ? PTC_EXIT_OK : PTC_EXIT_USAGE;
    if (ptc_doc_tools_given(&o))
        return ptc_doc_tools_run(mem, &doc_usage, &o, argc, argv);
    if (argc == 0)
        return ptc_options_wrong(&doc_usage, "which name?");
    return show_names(mem, argc, argv);
}
