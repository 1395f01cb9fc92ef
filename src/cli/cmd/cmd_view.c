/* SPDX-License-Identifier: MIT
 * `ptc view`: shows traces in a browser.  What always holds: only this machine can reach the page, and only with the
 * address that was printed. */
#define _GNU_SOURCE
#include "cli/cmd/cmd.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/io.h"
#include "cli/options.h"
#include "cli/store_options.h"
#include "cli/term/browser.h"
#include "json/emit.h"
#include "json/parse.h"
#include "mcp/app/suspended.h"
#include "value/coll/fields.h"
#include "value/scratch.h"
#include "viewer/view_server.h"

typedef struct {
    int64_t port;
    bool no_open;
    PtcStoreOptions store;
} ViewOptions;

/* ---------------------------------------------------------------------------------- table */

#define VIEW_AT(field) offsetof(ViewOptions, field)

static const PtcOption table[] = {
    {"port", 0, PTC_OPTION_INT, VIEW_AT(port), "N",
     "listen on this port of 127.0.0.1; 0 takes a free one", 0, 65535, 0},
    {"no-open", 0, PTC_OPTION_FLAG, VIEW_AT(no_open), NULL, "do not open a browser", 0, 0, 0},
    PTC_STORE_ROWS(VIEW_AT(store), 0),
};

static const PtcUsage usage = {
    .command = "view",
    .synopsis = "[FILE|DIR...]",
    .summary =
        "Shows traces of agents and of ptc mcp in a browser: runs, timelines, programs, messages.\n"
        "In a directory it takes the files named *.jsonl.  Without arguments, drop files into the "
        "page.\n"
        "With --store, runs of ptc mcp that wait for a person are shown too, and can be answered.\n"
        "Prints the address, and serves until Ctrl-C; on a terminal it opens a browser.\n"
        "Exit status: 0 done, 2 wrong usage.",
    .examples = "  ptc run agent.json --trace trace.jsonl\n"
                "  ptc view trace.jsonl\n"
                "  ptc view --no-open --port 7333 traces/\n"
                "  ptc view --store sqlite:/var/lib/ptc/store\n",
    .options = table,
    .option_count = sizeof table / sizeof *table,
};

/* ----------------------------------------------------------------------------------- stop */

static int stop_pipe[2] = {-1, -1};

static void wake_on_signal(int number)
{
    (void)number;
    (void)!write(stop_pipe[1], "", 1);
}

/* A signal becomes a byte in a pipe, which the server's poll sees wherever it is. */
static bool catch_view_signals(void)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction act = {.sa_handler = wake_on_signal}, old;
    if (pipe2(stop_pipe, O_CLOEXEC | O_NONBLOCK) != 0)
        return false;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (sigaction(ends[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(ends[i], &act, NULL);
    return true;
}

/* ------------------------------------------------------------------------------ approvals */

/* PtcViewDesk.user */
typedef struct {
    PtcMem *mem;
    PtcStore *store;
} Desk;

static bool list_waiting(void *user, PtcBuf *out)
{
    Desk *desk = user;
    char why[PTC_STORE_WHY];
    if (ptc_suspended_list(desk->store, desk->mem, out))
        return true;
    ptc_store_why(desk->store, why);
    ptc_buf_clear(out);
    return ptc_buf_addf(out, "The store: %s\n", why) && false;
}

static bool say_decision(Desk *desk, PtcHeap *heap, PtcText body, PtcWhy *why)
{
    PtcJsonError error;
    PtcValue v = ptc_json_parse(heap, body.bytes, body.len, &error);
    PtcValue round = v != PTC_NONE && ptc_is_map(v) ? ptc_map_field(heap, v, "round") : PTC_NONE;
    if (round == PTC_NONE || !ptc_is_int(round))
        return ptc_why_say(why, PTC_WHY_INVALID, "this is no answer");
    PtcSuspendedSay say = {.owner = ptc_fields_text(heap, v, "owner"),
                           .id = ptc_fields_text(heap, v, "id"),
                           .round = ptc_to_int(round),
                           .mark = ptc_fields_text(heap, v, "mark"),
                           .decision = ptc_fields_text(heap, v, "decision")};
    if (!say.owner.bytes || !say.id.len || !say.mark.len || !say.decision.len)
        return ptc_why_say(why, PTC_WHY_INVALID, "this is no answer");
    return ptc_suspended_say(desk->store, desk->mem, &say, why);
}

static void take_decision(void *user, PtcText body, PtcBuf *out)
{
    enum { DECISION_BYTES = 1 * PTC_MB };
    Desk *desk = user;
    PtcScratch scratch;
    PtcWhy why;
    ptc_scratch_init(&scratch, desk->mem, DECISION_BYTES);
    bool ok = say_decision(desk, &scratch.heap, body, &why);
    ptc_emit_object(out);
    if (!ok)
        ptc_emit_field_cstr(out, "error", why.text);
    ptc_emit_object_end(out);
    ptc_scratch_deinit(&scratch);
}

/* ------------------------------------------------------------------------------------ run */

static int serve_traces(PtcMem *mem, PtcViewFiles *files, const ViewOptions *options,
                        PtcStore *store)
{
    Desk desk = {mem, store};
    const PtcViewDesk answers = {list_waiting, take_decision, &desk};
    char address[PTC_VIEW_ADDRESS];
    PtcWhy why;
    PtcViewServer *server =
        ptc_view_server_new(mem, files, store ? &answers : NULL, (unsigned)options->port, &why);
    if (!server)
        return ptc_options_refuse(&usage, "%s", why.text);
    ptc_view_server_address(server, address);
    bool written = ptc_io_write_line(PTC_IO_STDOUT, address, strlen(address));
    if (written && isatty(PTC_IO_STDOUT) == 1) {
        ptc_io_printf(PTC_IO_STDERR, "Ctrl-C ends the viewer.\n");
        ptc_view_server_door(server, address);
        if (!options->no_open)
            ptc_browser_open(address);
    }
    if (written)
        ptc_view_server_run(server, stop_pipe[0]);
    ptc_view_server_free(server);
    return written ? PTC_EXIT_OK : PTC_EXIT_FAILED;
}

/* Of whoever named a store. */
static int open_and_serve(PtcMem *mem, PtcViewFiles *files, const ViewOptions *options)
{
    const char *place = getenv("PTC_STORE");
    PtcStore *store = NULL;
    if ((options->store.url || (place && *place)) &&
        !(store = ptc_store_open_options(&options->store, "view", false)))
        return PTC_EXIT_FAILED;
    int status = serve_traces(mem, files, options, store);
    ptc_store_free(store);
    return status;
}

int ptc_cmd_view(PtcMem *mem, int argc, char **argv)
{
    ViewOptions options = {0};
    PtcViewFiles files;
    PtcWhy why;
    PtcParse parse = ptc_options_parse(&usage, &options, &argc, argv);
    if (parse != PTC_PARSE_OK)
        return parse == PTC_PARSE_HELP ? PTC_EXIT_OK : PTC_EXIT_USAGE;
    ptc_view_files_init(&files, mem, argv, (size_t)argc);
    int status = PTC_EXIT_FAILED;
    if (!ptc_view_files_scan(&files, &why))
        status = ptc_options_refuse(&usage, "%s", why.text);
    else if (catch_view_signals())
        status = open_and_serve(mem, &files, &options);
    else
        ptc_io_printf(PTC_IO_STDERR, "ptc view: no pipe can be made\n");
    ptc_view_files_deinit(&files);
    return status;
}
