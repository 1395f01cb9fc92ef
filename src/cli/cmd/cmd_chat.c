/* SPDX-License-Identifier: MIT
 * `ptc chat`: messages typed one after the other, answered by an agent that remembers what was said.  A terminal gets
 * line editing and history; from a pipe, each line is a message. */
#include "cli/cmd/cmd.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/run/agent_chat.h"
#include "base/ascii.h"
#include "base/utf8.h"
#include "cli/agent/agent_host.h"
#include "cli/agent/agent_options.h"
#include "cli/agent/agent_upstreams.h"
#include "cli/agent/run_live.h"
#include "cli/cmd/db_in.h"
#include "cli/interrupt.h"
#include "cli/io.h"
#include "cli/out/journal_out.h"
#include "cli/out/shown.h"
#include "cli/out/trace_out.h"
#include "cli/term/line.h"
#include "net/client.h"
#include "net/lines.h"
#include "tool/learn.h"

typedef struct ChatOptions {
    const char *llm, *models, *context, *record, *trace, *otlp, *journal;
    bool replay_loose;
    int64_t token_limit, llm_timeout_ms;
    int exceeded, check;
    PtcOptionList dbs;
    PtcUpstreamsOptions upstreams;
} ChatOptions;

/* One `ptc chat` from its options to its last line.  All of it belongs to the main thread; the line that shows
 * progress and the agent's tools have threads of their own and see only what they are given. */
typedef struct Chat {
    PtcMem *mem;
    const ChatOptions *o;
    const char *path; /* of the agent; NULL: none */
    PtcAgentHost *host;
    PtcTools *dbs; /* of --db; or NULL */
    PtcAgentDef *def;
    PtcBuf context;
    PtcAgentChat chat;
    PtcRunLive live;
    PtcTraceOut trace;
    PtcJournalOut journal;
    PtcAgentUpstreams upstreams;
    int64_t tokens;                /* of all messages so far */
    bool prompts, editing, colour; /* as in ptc repl */
    bool streamed, quit, failed;
    PtcBuf message;
    PtcHistory history;
    PtcLine line;
    PtcLines lines;
} Chat;

#define FIELD(name) offsetof(ChatOptions, name)

static const PtcOption table[] = {PTC_AGENT_OPTIONS,
                                  {.name = "db",
                                   .type = PTC_OPTION_LIST,
                                   .group = PTC_GROUP_TOOLS,
                                   .field = FIELD(dbs),
                                   .value = "NAME=URL",
                                   .help = PTC_DB_IN_HELP},
                                  PTC_UPSTREAMS_ROWS(FIELD(upstreams)),
                                  PTC_STORE_ROWS(FIELD(upstreams.store), PTC_GROUP_UPSTREAMS)};

static const PtcUsage usage = {
    .command = "chat",
    .synopsis = "[OPTIONS] [AGENT.json]",
    .summary =
        "Talks with an agent that remembers what was said; without a file, with the model itself.\n"
        "Type /help for more commands.  In a pipe every line is a message and its answer follows.\n"
        "Exit status: 0 done, 1 a message could not be answered, 2 wrong usage or a wrong agent "
        "file.",
    .examples = "  ptc chat --llm haiku\n  ptc chat agent.json --context @orders.json\n"
                "  ptc chat --llm haiku --upstreams servers.json\n"
                "  echo 'Name a river.' | ptc chat --llm ollama:llama-local\n",
    .options = table,
    .option_count = sizeof table / sizeof *table,
};

/* ------------------------------------------------------------------------------- Ctrl-C */

/* Ends the answer under way; while a line is typed Ctrl-C is a key. */
static PtcCancel interrupted = {.outer = &ptc_interrupt};

static void interrupt_chat(int signal_number)
{
    (void)signal_number;
    atomic_store(&interrupted.asked, true);
}

static void catch_key(void)
{
    struct sigaction action = {.sa_handler = interrupt_chat, .sa_flags = SA_RESTART};
    sigaction(SIGINT, &action, NULL);
}

/* ------------------------------------------------------------------------------- output */

static void say_fault(const PtcWhy *f)
{
    ptc_io_printf(PTC_IO_STDERR, "ptc chat: %s%s%s\n", f->path, f->path[0] ? ": " : "", f->text);
}

/* A fault of the agent's file; a message that begins with its name needs no other. */
static void say_fault_in(const char *file, const PtcWhy *f)
{
    if (f->class != PTC_WHY_NO_MEMORY && file && strncmp(f->text, file, strlen(file)) != 0)
        ptc_io_printf(PTC_IO_STDERR, "ptc chat: %s: %s%s%s\n", file, f->path,
                      f->path[0] ? ": " : "", f->text);
    else
        say_fault(f);
}

static bool stream_chat_piece(void *user, PtcText piece)
{
    Chat *c = user;
    ptc_run_live_end(&c->live);
    c->streamed = true;
    return ptc_shown_write(PTC_IO_STDOUT, piece.bytes, piece.len);
}

static void watch_chat_progress(void *user, const PtcProgress *p)
{
    Chat *c = user;
    ptc_trace_out_tell(&c->trace, p);
    ptc_journal_out_tell(&c->journal, p);
    ptc_run_live_tell(&c->live, p);
}

static void say_failure(const PtcAgentRun *run)
{
    const PtcVerdict *v = &run->step.now.verdict;
    if (v->reason == PTC_FAULT_CANCELLED)
        ptc_io_printf(PTC_IO_STDERR, "stopped\n");
    else
        ptc_io_printf(PTC_IO_STDERR, "ptc chat: %s: %.*s\n", ptc_agent_fault_word(v->reason),
                      PTC_ARG(v->message));
}

static void show_chat_answer(Chat *c, PtcAgentRun *run)
{
    bool ok = !run->invalid && run->step.now.verdict.ok;
    bool written = true;
    if (c->streamed)
        written = ptc_shown_result("chat", "", 0);
    else if (ok)
        written = ptc_shown_answer("chat", &run->bench.heap, run->step.now.verdict.value);
    if (run->invalid)
        say_fault(&run->fault);
    else if (!ok && written) /* what could not be written stopped it, and that was said */
        say_failure(run);
    c->quit = c->quit || !written;
    c->failed = c->failed || !ok || !written;
}

/* ------------------------------------------------------------------------------ messages */

static PtcAgentOptions chat_agent_options(Chat *c)
{
    PtcAgentOptions o = ptc_agent_options();
    o.model = ptc_agent_host_model(c->host);
    o.cancel = &interrupted;
    o.token_limit = c->o->token_limit;
    o.return_partial = c->o->exceeded == 1;
    return o;
}

/* While nothing runs, signals end the process at once.  At a terminal Ctrl-C is not one of them. */
static void catch_ends(const Chat *c)
{
    ptc_interrupt_catch();
    if (c->prompts)
        catch_key();
}

static void let_ends(const Chat *c)
{
    ptc_interrupt_let();
    if (c->prompts)
        catch_key();
}

static void send_message(Chat *c, PtcText message)
{
    PtcAgentRun run;
    PtcAgentOptions options = chat_agent_options(c);
    c->streamed = false;
    atomic_store(&interrupted.asked, false);
    ptc_agent_chat_begin(&c->chat, &run, message, &options);
    c->chat.tree.tokens_before = c->tokens;
    ptc_run_live_begin(&c->live);
    catch_ends(c);
    ptc_agent_run_go(&run);
    let_ends(c);
    ptc_run_live_end(&c->live);
    c->tokens = ptc_tree_tokens(&c->chat.tree);
    show_chat_answer(c, &run);
    ptc_agent_upstreams_say(&c->upstreams, run.invalid || !run.step.now.verdict.ok);
    ptc_agent_upstreams_forget(&c->upstreams);
    if (!ptc_agent_chat_keep(&c->chat, &run))
        ptc_io_printf(PTC_IO_STDERR, "ptc chat: out of memory: this message is not remembered\n");
    ptc_agent_run_end(&run);
    if (atomic_load(&ptc_interrupt.asked))
        c->quit = c->failed = true;
}

/* ------------------------------------------------------------------------------ commands */

static void do_chat_help(Chat *c)
{
    (void)c;
    ptc_io_printf(PTC_IO_STDOUT,
                  "A line is a message. The agent remembers what was said and what it defined.\n"
                  "  /reset   forget all of it\n"
                  "  /quit    leave, as Ctrl-D does\n"
                  "The up key brings earlier messages back, Ctrl-C ends an answer that is under "
                  "way or\ndrops what you have typed.\n");
}

static void do_chat_reset(Chat *c)
{
    PtcWhy fault;
    c->chat.input.journal = ptc_journal_out_text(&c->journal); /* tasks stay done */
    if (ptc_agent_chat_reset(&c->chat, &fault)) {
        ptc_io_printf(PTC_IO_STDOUT, "everything was forgotten\n");
        return;
    }
    say_fault(&fault);
    c->quit = c->failed = true;
}

static void do_chat_quit(Chat *c)
{
    c->quit = true;
}

static const struct {
    const char *name;
    void (*run)(Chat *c);
} commands[] = {{"/help", do_chat_help}, {"/reset", do_chat_reset}, {"/quit", do_chat_quit}};
enum { CHAT_COMMANDS = sizeof commands / sizeof *commands };

/* A single word after a slash: anything else, such as a path, is a message. */
static bool is_command(PtcText text)
{
    if (text.len < 2 || text.bytes[0] != '/')
        return false;
    for (size_t i = 1; i < text.len; i++)
        if (!ptc_ascii_is_lower(text.bytes[i]))
            return false;
    return true;
}

static void run_chat_command(Chat *c, PtcText text)
{
    for (size_t i = 0; i < CHAT_COMMANDS; i++) {
        if (ptc_text_is(text, commands[i].name)) {
            commands[i].run(c);
            return;
        }
    }
    ptc_io_printf(PTC_IO_STDERR, "there is no command %.*s; /help lists them\n",
                  PTC_ARG(ptc_text_cut(text, 40)));
}

static void complete_chat_command(void *user, const char *word, size_t len, PtcBuf *out)
{
    (void)user;
    for (size_t i = 0; len > 0 && i < CHAT_COMMANDS; i++)
        if (strncmp(commands[i].name, word, len) == 0)
            ptc_buf_addf(out, "%s\n", commands[i].name);
}

/* --------------------------------------------------------------------------------- input */

/* The next line in c->message. */
static PtcTyped read_chat_message(Chat *c)
{
    static const char prompt[] = "you> ";
    PtcText line;
    ptc_buf_clear(&c->message);
    if (c->editing) {
        PtcTyped typed = ptc_line_read(&c->line, prompt, c->colour ? "\033[32m" : "");
        ptc_buf_add(&c->message, c->line.text.data, typed == PTC_TYPED_LINE ? c->line.text.len : 0);
        return typed;
    }
    if (c->prompts)
        (void)!ptc_io_write(PTC_IO_STDOUT, prompt, sizeof prompt - 1);
    PtcLineStatus status = ptc_lines_next(&c->lines, &line);
    if (status == PTC_LINE_TOO_LONG)
        ptc_io_printf(PTC_IO_STDERR, "ptc chat: a message is too long\n");
    if (status == PTC_LINE_OK)
        ptc_buf_add(&c->message, line.bytes, line.len);
    return status == PTC_LINE_OK || status == PTC_LINE_TOO_LONG ? PTC_TYPED_LINE : PTC_TYPED_END;
}

static void answer_chat_message(Chat *c)
{
    PtcTyped typed = read_chat_message(c);
    PtcText message = ptc_text_trim(ptc_buf_view(&c->message), " \t\r\n");
    if (typed == PTC_TYPED_END)
        c->quit = true;
    if (typed != PTC_TYPED_LINE || message.len == 0)
        return;
    if (c->editing)
        ptc_history_add(&c->history, message.bytes, message.len);
    if (is_command(message))
        run_chat_command(c, message);
    else if (!ptc_utf8_valid(message.bytes, message.len))
        ptc_io_printf(PTC_IO_STDERR, "ptc chat: the message is not UTF-8\n");
    else
        send_message(c, message);
}

static int run_chat(Chat *c)
{
    if (c->prompts) {
        catch_key();
        ptc_io_printf(PTC_IO_STDOUT, "/help for help, /quit or Ctrl-D to leave\n");
    }
    while (!c->quit)
        answer_chat_message(c);
    return c->failed && !c->prompts ? PTC_EXIT_FAILED : PTC_EXIT_OK;
}

/* ------------------------------------------------------------------------------- command */

static bool may_call_others(const Chat *c)
{
    return c->o->upstreams.files.count > 0 || c->o->upstreams.imports.count > 0 ||
           c->o->dbs.count > 0;
}

static PtcAgentDef *read_chat_agent(Chat *c, PtcWhy *fault)
{
    if (!ptc_db_in_add(&c->dbs, c->mem, &c->o->dbs, fault))
        return NULL;
    PtcAgentReading how = {.allow_commands = true,
                           .allow_http = true,
                           .allow_scripts = true,
                           .check = c->o->check >= 0 ? &c->o->check : NULL,
                           .check_model = ptc_agent_host_check_model,
                           .user = c->host,
                           .tools = c->dbs};
    /* a prompt is required, but never sent */
    if (!c->path && may_call_others(c))
        return ptc_definition_read_json(
            PTC_TEXT("{\"prompt\":\"Answer the user.\",\"output\":\"text\","
                     "\"ptc_transport\":\"tool_call\"}"),
            &how, fault);
    if (!c->path)
        return ptc_definition_read_json(
            PTC_TEXT("{\"prompt\":\"Answer the user.\",\"output\":\"text\"}"), &how, fault);
    return ptc_definition_open(c->path, &how, fault);
}

static const char *read_chat_context(Chat *c)
{
    const char *text = c->o->context;
    if (!text)
        return NULL;
    if (text[0] == '@')
        return ptc_io_read(&c->context, text + 1);
    return ptc_buf_add_cstr(&c->context, text) ? NULL : "out of memory";
}

static void set_up_chat(Chat *c)
{
    const char *term = getenv("TERM"), *plain = getenv("NO_COLOR");
    c->prompts = isatty(PTC_IO_STDIN) == 1 && isatty(PTC_IO_STDOUT) == 1;
    c->editing = c->prompts && term && strcmp(term, "dumb") != 0;
    c->colour = c->editing && !(plain && *plain);
    ptc_buf_init(&c->message, c->mem, PTC_IO_MAX);
    ptc_lines_init(&c->lines, c->mem, PTC_IO_STDIN, PTC_IO_MAX);
    if (c->editing)
        ptc_history_init(&c->history, c->mem, "chat-history");
    ptc_line_init(&c->line, c->mem, &c->history, complete_chat_command, c);
}

static void tear_down_chat(Chat *c)
{
    ptc_line_deinit(&c->line);
    if (c->editing)
        ptc_history_deinit(&c->history);
    ptc_lines_deinit(&c->lines);
    ptc_buf_deinit(&c->message);
}

static bool has_model(const Chat *c)
{
    if (ptc_agent_host_model(c->host) || c->def->llm.bytes || c->def->llm_script.bytes)
        return true;
    ptc_options_wrong(&usage, "there is no model: name one with --llm%s",
                      c->path ? ", or with \"llm\" in the agent file" : "");
    return false;
}

/* An agent that never runs a program has no use for them. */
static bool open_chat_upstreams(Chat *c, int *status)
{
    PtcUpstreamsOptions options = c->o->upstreams;
    PtcAgentUpstreamsConfig config = {.command = "chat",
                                      .options = &options,
                                      .records = ptc_agent_host_more_secrets(c->host),
                                      .cancel = &interrupted,
                                      .live = &c->live,
                                      .traced = c->o->trace || c->o->otlp,
                                      .start = true};
    bool plain = ptc_definition_is_plain(c->def);
    options.none = options.none || plain;
    bool ok = ptc_agent_upstreams_open(&c->upstreams, c->mem, &config, status);
    if (!plain || !may_call_others(c))
        return ok;
    *status = ptc_options_wrong(&usage, "--upstreams: only programs call upstreams, and this agent "
                                        "writes none; leave it out, or \"output\": \"text\" of "
                                        "the agent");
    return false;
}

/* The chat itself, once the agent has been read. */
static int chat_with(Chat *c)
{
    PtcWhy fault;
    PtcWorkInput input = {.context = c->o->context ? ptc_buf_view(&c->context) : (PtcText){NULL, 0},
                          .journal = ptc_journal_out_text(&c->journal)};
    PtcTreeHost host = {.progress = watch_chat_progress,
                        .progress_user = c,
                        .stream = stream_chat_piece,
                        .stream_user = c};
    int status = PTC_EXIT_USAGE;
    ptc_agent_host_fill(c->host, &host);
    host.servers = ptc_agent_upstreams_servers(&c->upstreams);
    bool open = ptc_agent_chat_open(&c->chat, c->def, &host, &input, &fault);
    c->chat.tree.llm_timeout_ms = c->o->llm_timeout_ms;
    if (!open)
        say_fault(&fault);
    if (open && ptc_trace_out_open(&c->trace, "chat", c->o->trace, c->o->otlp,
                                   ptc_agent_host_secrets(c->host))) {
        set_up_chat(c);
        status = run_chat(c);
        tear_down_chat(c);
        bool traced = ptc_trace_out_close(&c->trace);
        if (!ptc_journal_out_ok(&c->journal, "chat") || !traced)
            status = PTC_EXIT_FAILED;
    }
    ptc_agent_chat_close(&c->chat);
    return status;
}

static int chat_with_upstreams(Chat *c)
{
    int status = PTC_EXIT_USAGE;
    if (!has_model(c))
        return status;
    ptc_toolset_learn(c->def->tools, !c->o->upstreams.no_learn);
    if (open_chat_upstreams(c, &status))
        status = chat_with(c);
    ptc_agent_upstreams_close(&c->upstreams);
    return status;
}

static int chat(Chat *c)
{
    PtcWhy fault;
    int status = PTC_EXIT_USAGE;
    ptc_buf_init(&c->context, c->mem, PTC_IO_MAX);
    const char *why = read_chat_context(c);
    PtcWhy error;
    if (!ptc_journal_out_open(&c->journal, c->mem, c->o->journal, &error))
        ptc_options_refuse(&usage, "--journal: %s", error.text);
    else if (why)
        ptc_options_refuse(&usage, "--context: %s", why);
    else if (!(c->def = read_chat_agent(c, &fault)))
        say_fault_in(c->path, &fault);
    else
        status = chat_with_upstreams(c);
    ptc_definition_release(c->def);
    ptc_journal_out_close(&c->journal);
    ptc_buf_deinit(&c->context);
    return status;
}

int ptc_cmd_chat(PtcMem *mem, int argc, char **argv)
{
    ChatOptions o = {.token_limit = -1, .check = -1, .upstreams = PTC_UPSTREAMS_DEFAULTS};
    PtcParse parse = ptc_options_parse(&usage, &o, &argc, argv);
    if (parse != PTC_PARSE_OK)
        return parse == PTC_PARSE_HELP ? PTC_EXIT_OK : PTC_EXIT_USAGE;
    if (argc > 1)
        return ptc_options_wrong(&usage, "give one agent file");
    PtcAgentHostOptions host = {.command = "chat",
                                .llm = o.llm,
                                .models = o.models,
                                .record = o.record,
                                .replay_loose = o.replay_loose};
    static Chat c; /* the history is large */
    c = (Chat){.mem = mem, .o = &o, .path = argc ? argv[0] : NULL};
    c.host = ptc_agent_host_open(mem, &host);
    if (!c.host)
        return PTC_EXIT_USAGE;
    int status = chat(&c);
    ptc_tools_free(c.dbs);
    return ptc_agent_host_close(c.host) || status != PTC_EXIT_OK ? status : PTC_EXIT_FAILED;
}
