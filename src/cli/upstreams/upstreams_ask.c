/* SPDX-License-Identifier: MIT
 * `ptc upstreams list`, `check`, `call` and `doc`: what programs can ask, asked by a person. */
#include "cli/upstreams/upstreams_ask.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/text/clean.h"
#include "base/text/nearest.h"
#include "cli/cmd/cmd.h"
#include "cli/io.h"
#include "cli/out/shown.h"
#include "cli/term/terminal_ask.h"
#include "json/emit.h"
#include "json/parse.h"
#include "upstream/catalog/pins.h"
#include "upstream/openapi/openapi_tools.h"
#include "value/coll/fields.h"

enum { ASK_ANSWER_BYTES = 256 * PTC_MB, ASK_BYTES = 4 * PTC_MB };

/* ---------------------------------------------------------------------------------- waiting */

typedef struct {
    /* It guards the flag.  ready() takes it under locks of the upstream layer; so nothing else is locked inside. */
    pthread_mutex_t lock;
    pthread_cond_t came;
    bool ready;
} Wait;

static void signal_answer_ready(PtcRemoteAsk *ask)
{
    Wait *w = ask->user;
    pthread_mutex_lock(&w->lock);
    w->ready = true;
    pthread_cond_signal(&w->came);
    pthread_mutex_unlock(&w->lock);
}

/* Asks, waits, and appends the answer as JSON to `out`.  *ok false: it is a failure, {"reason", "message", ...}.
 * False: out of memory. */
static bool wait_for_answer(PtcRemote *remote, void *run, PtcRemoteAsk *ask, PtcBuf *out, bool *ok)
{
    Wait w = {.ready = false};
    PtcRemoteAnswer answer = {.text = *out};
    pthread_mutex_init(&w.lock, NULL);
    pthread_cond_init(&w.came, NULL);
    ask->ready = signal_answer_ready;
    ask->user = &w;
    PtcRemoteStatus status = remote->ask(run, ask);
    pthread_mutex_lock(&w.lock);
    while (status == PTC_REMOTE_PENDING && !w.ready)
        pthread_cond_wait(&w.came, &w.lock);
    pthread_mutex_unlock(&w.lock);
    bool good = status != PTC_REMOTE_NO_MEMORY && remote->finish(run, ask, &answer);
    *out = answer.text;
    *ok = answer.ok;
    pthread_mutex_destroy(&w.lock);
    pthread_cond_destroy(&w.came);
    return good;
}

/* ------------------------------------------------------------------------------------ texts */

static bool complain_of_upstream(const char *what, const char *why)
{
    ptc_io_printf(PTC_IO_STDERR, "ptc upstreams: %s: %s\n", what, why);
    return false;
}

static bool write_answer_text(PtcText text)
{
    return ptc_shown_write_line(PTC_IO_STDOUT, text.bytes, text.len);
}

/* "reason: message" of a failure, on standard error. */
static int tell_ask_failure(PtcMem *mem, const char *what, const PtcBuf *answer)
{
    PtcScratch scratch;
    PtcJsonError error;
    PtcBuf line;
    ptc_scratch_init(&scratch, mem, ASK_ANSWER_BYTES);
    ptc_buf_init(&line, mem, 64 * PTC_KB);
    PtcValue v =
        ptc_json_parse(&scratch.heap, answer->data ? answer->data : "", answer->len, &error);
    PtcText reason = ptc_fields_text(&scratch.heap, v, "reason");
    PtcText message = ptc_fields_text(&scratch.heap, v, "message");
    ptc_buf_addf(&line, "%s: %.*s: %.*s", what, PTC_ARG(reason), PTC_ARG(message));
    (void)!ptc_shown_write_line(PTC_IO_STDERR, line.data ? line.data : "", line.len);
    ptc_buf_deinit(&line);
    ptc_scratch_deinit(&scratch);
    return PTC_EXIT_FAILED;
}

/* A run without a program, and without a deadline: its calls have their own. */
static void *begin_ask_run(PtcRemote *remote)
{
    uint64_t version;
    void *run = remote->begin(remote, "local", INT64_MAX, NULL, &version);
    if (run)
        remote->allow(run, PTC_REMOTE_GRANTED);
    else
        (void)complain_of_upstream("upstreams", "out of memory");
    return run;
}

/* ------------------------------------------------------------------------------------- list */

/* "3 h ago" */
static void add_age(PtcBuf *out, int64_t ms)
{
    static const struct {
        int64_t ms;
        const char *unit;
    } units[] = {{86400000, "d"}, {3600000, "h"}, {60000, "min"}, {1000, "s"}};
    int64_t age = ptc_clock_wall_ms() - ms;
    size_t i = 0;
    while (i < 3 && age < units[i].ms)
        i++;
    ptc_buf_addf(out, ", listed %lld %s ago", (long long)(age < 0 ? 0 : age / units[i].ms),
                 units[i].unit);
}

static size_t count_left(const PtcUpstreamState *s)
{
    size_t n = 0;
    for (size_t i = 0; i < PTC_LEFT_REASONS; i++)
        n += s->left[i].count;
    return n;
}

/* "  3 operations are left out, such as addPet: it writes; ..." */
static void put_left_out(PtcBuf *out, const PtcUpstreamState *s)
{
    for (PtcSkipReason i = 0; i < PTC_LEFT_REASONS; i++) {
        if (!s->left[i].count)
            continue;
        ptc_buf_addf(out, "\n  %zu %s%s", s->left[i].count,
                     i == PTC_LEFT_HIDDEN ? "tool" : "operation",
                     s->left[i].count == 1 ? " is left out, " : "s are left out, such as ");
        ptc_shown_add(out, s->left[i].first, strlen(s->left[i].first));
        ptc_buf_addf(out, ": %s", ptc_openapi_left_reasons[i].text);
    }
}

static void put_state_json(PtcBuf *out, const PtcUpstreamState *s)
{
    ptc_emit_object(out);
    ptc_emit_field_text(out, "name", s->name);
    ptc_emit_field_text(out, "namespace", s->ns);
    if (s->file.bytes)
        ptc_emit_field_text(out, "file", s->file);
    if (s->line)
        ptc_emit_field_uint(out, "line", s->line);
    if (s->transport)
        ptc_emit_field_cstr(out, "transport", s->transport);
    ptc_emit_field_cstr(out, "state", ptc_manager_state_word(s->state));
    if (s->reason[0])
        ptc_emit_field_cstr(out, "reason", s->reason);
    if (s->listed)
        ptc_emit_field_uint(out, "tools", s->tools);
    if (s->seen)
        ptc_emit_field_uint(out, "shapes_seen", s->seen);
    ptc_emit_field_bool(out, "cached", s->cached);
    if (s->listed && s->listed_ms)
        ptc_emit_field_int(out, "age_ms", ptc_clock_wall_ms() - s->listed_ms);
    if (count_left(s)) {
        ptc_emit_key(out, "left_out");
        ptc_emit_object(out);
        for (PtcSkipReason i = 0; i < PTC_LEFT_REASONS; i++)
            if (s->left[i].count)
                ptc_emit_field_uint(out, ptc_openapi_left_reasons[i].code, s->left[i].count);
        ptc_emit_object_end(out);
    }
    ptc_emit_object_end(out);
}

static void put_state(PtcBuf *out, const PtcUpstreamState *s)
{
    ptc_buf_addf(out, "%-24.*s %-10s %-7s ", PTC_ARG(s->ns), ptc_manager_state_word(s->state),
                 s->transport ? s->transport : "");
    if (s->listed)
        ptc_buf_addf(out, "%zu tool%s", s->tools, s->tools == 1 ? "" : "s");
    else
        ptc_buf_add_cstr(out, "never listed");
    if (count_left(s))
        ptc_buf_addf(out, ", %zu left out", count_left(s));
    if (s->listed && s->listed_ms)
        add_age(out, s->listed_ms);
    if (s->seen)
        ptc_buf_addf(out, ", %zu result shape%s seen", s->seen, s->seen == 1 ? "" : "s");
    if (s->file.bytes)
        ptc_buf_addf(out, "\n  %.*s:%zu", PTC_ARG(s->file), s->line ? s->line : 1);
    if (!ptc_text_same(s->name, s->ns)) {
        ptc_buf_add_cstr(out, ", there \"");
        ptc_clean_add(out, s->name, PTC_CLEAN_LINE, false); /* it may have any characters */
        ptc_buf_add_char(out, '"');
    }
    if (s->reason[0])
        ptc_buf_addf(out, "\n  %s", s->reason);
    ptc_buf_add_char(out, '\n');
}

int ptc_upstreams_list(PtcUpstreamsCommand *c)
{
    PtcManager *m = c->upstreams->manager;
    PtcBuf out;
    ptc_buf_init(&out, c->mem, ASK_ANSWER_BYTES);
    if (c->json)
        ptc_emit_array(&out);
    for (size_t i = 0; m && i < ptc_manager_count(m); i++) {
        PtcUpstreamState state;
        ptc_manager_state(m, i, &state);
        if (c->json)
            put_state_json(&out, &state);
        else
            put_state(&out, &state);
    }
    if (c->json)
        ptc_emit_array_end(&out);
    else if (out.len == 0)
        ptc_buf_add_cstr(&out, "no upstreams: name a file with --upstreams FILE, or a client with "
                               "--import CLIENT (ptc docs upstreams)\n");
    if (c->json)
        ptc_buf_add_char(&out, '\n');
    bool ok = ptc_buf_ok(&out) && ptc_shown_write(PTC_IO_STDOUT, out.data, out.len);
    ptc_buf_deinit(&out);
    return ok ? PTC_EXIT_OK : PTC_EXIT_FAILED;
}

/* ------------------------------------------------------------------------------------ check */

/* Looks a tool up; before one that is not known is refused, the upstream is started and lists its tools.  An absent
 * name is one that no tool has.  False: the answer says why there is none. */
static bool look_up_remote_tool(PtcRemote *remote, void *run, PtcText ns, PtcText tool,
                                PtcBuf *answer)
{
    PtcBuf text;
    bool ok = false;
    ptc_buf_init(&text, answer->mem, ASK_BYTES);
    ptc_emit_object(&text);
    ptc_emit_field_text(&text, "ns", ns);
    /* "" would be the tool `fetch` of `fetch` */
    ptc_emit_field_text(&text, "name", tool.bytes ? tool : PTC_TEXT("\x01"));
    ptc_emit_object_end(&text);
    PtcRemoteAsk ask = {.op = PTC_REMOTE_LOOKUP, .text = ptc_buf_view(&text)};
    (void)!wait_for_answer(remote, run, &ask, answer, &ok);
    ptc_buf_deinit(&text);
    return ok;
}

bool ptc_upstreams_load(PtcUpstreams *u, size_t i, PtcUpstreamState *state)
{
    PtcRemote *remote = ptc_manager_remote(u->manager);
    PtcBuf answer;
    ptc_manager_state(u->manager, i, state);
    void *run = begin_ask_run(remote);
    if (!run)
        return false;
    ptc_buf_init(&answer, u->mem, ASK_ANSWER_BYTES);
    (void)look_up_remote_tool(remote, run, state->ns, (PtcText){NULL, 0}, &answer);
    ptc_buf_deinit(&answer);
    remote->end(run, NULL);
    ptc_manager_state(u->manager, i, state);
    return state->state == PTC_INSTANCE_READY;
}

bool ptc_upstreams_knows(PtcUpstreams *u, PtcText name)
{
    PtcNearest near;
    ptc_nearest_init(&near, name.bytes, name.len);
    for (size_t i = 0; u->mem && i < ptc_fields_count(u->entries); i++) {
        PtcValue entry = ptc_seq_nth(u->entries, i);
        PtcText ns = ptc_fields_text(&u->scratch.heap, entry, "namespace");
        if (ptc_text_same(name, ns) ||
            ptc_text_same(name, ptc_fields_text(&u->scratch.heap, entry, "name")))
            return true;
        ptc_nearest_offer(&near, ns.bytes, ns.len);
    }
    ptc_io_printf(PTC_IO_STDERR, "ptc upstreams: %.*s: there is no such upstream; %s%.*s%s\n",
                  PTC_ARG(ptc_text_cut(name, 200)),
                  near.best ? "did you mean " : "ptc upstreams list names them",
                  PTC_ARG_OF(near.best, near.best_len), near.best ? "?" : "");
    return false;
}

static bool is_asked_for(const PtcUpstreamsCommand *c, const PtcUpstreamState *s)
{
    bool any = c->argc == 0;
    for (int i = 0; i < c->argc && !any; i++)
        any = ptc_text_is(s->name, c->argv[i]) || ptc_text_is(s->ns, c->argv[i]);
    return any;
}

bool ptc_upstreams_is_left(const PtcUpstreamState *s)
{
    return s->state == PTC_UPSTREAM_DISABLED || s->self;
}

/* A file of pins that cannot be used is no reason to say that all is well.  False: it is such. */
static bool put_pins_fault(const PtcUpstreamsCommand *c, const PtcUpstreamState *s, PtcBuf *line)
{
    PtcWhy why;
    PtcPins *pins = ptc_manager_pins(c->upstreams->manager);
    bool good = !s->pinned || ptc_pins_usable(pins, &why);
    if (!good)
        ptc_buf_addf(line,
                     "\n  what its tools were cannot be known, so the policy is applied as if "
                     "they had said nothing of themselves: %s",
                     why.text);
    else if (s->pinned && !ptc_pins_kept(pins, &why))
        ptc_buf_addf(line, "\n  its tools could not be pinned: %s", why.text);
    return good;
}

bool ptc_upstreams_check_one(PtcUpstreamsCommand *c, size_t i, int64_t *ms)
{
    PtcUpstreamState s;
    PtcBuf line;
    int64_t begun = ptc_clock_ns(NULL);
    bool good = ptc_upstreams_load(c->upstreams, i, &s);
    *ms = (ptc_clock_ns(NULL) - begun) / PTC_MS;
    if (c->quiet)
        return good || ptc_upstreams_is_left(&s);
    ptc_buf_init(&line, c->mem, ASK_ANSWER_BYTES);
    ptc_buf_addf(&line, "%-24.*s %-10s ", PTC_ARG(s.ns),
                 good ? "ok" : ptc_manager_state_word(s.state));
    if (good)
        ptc_buf_addf(&line, "%zu tool%s, %lld ms", s.tools, s.tools == 1 ? "" : "s",
                     (long long)*ms);
    else
        ptc_buf_add_cstr(&line, s.reason);
    if (good) {
        put_left_out(&line, &s);
        ptc_upstreams_put_changed(c, i, &line);
    }
    good = put_pins_fault(c, &s, &line) && good;
    bool told = write_answer_text(ptc_buf_view(&line));
    ptc_buf_deinit(&line);
    return told && (good || ptc_upstreams_is_left(&s));
}

int ptc_upstreams_check(PtcUpstreamsCommand *c)
{
    PtcManager *m = c->upstreams->manager;
    bool all = true;
    int64_t ms;
    if (!m && !c->argc)
        return ptc_upstreams_list(c);
    for (int i = 0; i < c->argc; i++)
        all = ptc_upstreams_knows(c->upstreams, ptc_text_cstr(c->argv[i])) && all;
    for (size_t i = 0; m && i < ptc_manager_count(m); i++) {
        PtcUpstreamState s;
        ptc_manager_state(m, i, &s);
        if (is_asked_for(c, &s))
            all = ptc_upstreams_check_one(c, i, &ms) && all;
    }
    return all ? PTC_EXIT_OK : PTC_EXIT_FAILED;
}

/* ------------------------------------------------------------------------------ call and doc */

/* NAME/TOOL in two; a name alone has an absent tool. */
static void split_tool_argument(const char *arg, PtcText *server, PtcText *tool)
{
    const char *slash = strchr(arg, '/');
    *server = slash ? (PtcText){arg, (size_t)(slash - arg)} : ptc_text_cstr(arg);
    *tool = slash ? ptc_text_cstr(slash + 1) : (PtcText){NULL, 0};
}

/* The value of an answer: text as it is, anything else as JSON. */
static int write_answer_value(PtcMem *mem, const PtcBuf *answer, const char *member)
{
    PtcScratch scratch;
    PtcJsonError error;
    PtcBuf out;
    ptc_scratch_init(&scratch, mem, ASK_ANSWER_BYTES);
    ptc_buf_init(&out, mem, ASK_ANSWER_BYTES);
    PtcValue v =
        ptc_json_parse(&scratch.heap, answer->data ? answer->data : "", answer->len, &error);
    PtcValue value = v == PTC_NONE || !member ? v : ptc_map_field(&scratch.heap, v, member);
    bool ok = value != PTC_NONE;
    if (ok && ptc_is_string(value))
        ok = ptc_buf_add(&out, ptc_str_text(value).bytes, ptc_str_text(value).len);
    else if (ok)
        ok = ptc_emit_value(&out, &scratch.heap, value);
    ok = ok && write_answer_text(ptc_buf_view(&out));
    ptc_buf_deinit(&out);
    ptc_scratch_deinit(&scratch);
    return ok ? PTC_EXIT_OK : PTC_EXIT_FAILED;
}

/* Whoever sits at the terminal is asked where policy says so; then it is asked once more.  False: out of memory. */
static bool ask_with_person(PtcUpstreamsCommand *c, void *run, PtcRemoteAsk *ask, PtcBuf *answer,
                            bool *ok)
{
    PtcRemote *remote = ptc_manager_remote(c->upstreams->manager);
    uint64_t version;
    if (ptc_terminal_line_possible())
        remote->allow(run, PTC_REMOTE_ASKS);
    bool done = wait_for_answer(remote, run, ask, answer, ok);
    while (done && !*ok && remote->question(run, NULL, NULL) &&
           ptc_terminal_ask(c->mem, remote, run, NULL)) {
        ptc_buf_clear(answer);
        remote->again(run, INT64_MAX, NULL, &version);
        done = wait_for_answer(remote, run, ask, answer, ok);
    }
    return done;
}

/* Nothing is known of a tool, or of a whole upstream: why that is. */
static int tell_nothing(PtcUpstreamsCommand *c, PtcRemote *remote, void *run, PtcBuf *answer)
{
    PtcText server, tool;
    split_tool_argument(c->argv[0], &server, &tool);
    ptc_buf_clear(answer);
    if (look_up_remote_tool(remote, run, server, tool, answer))
        (void)complain_of_upstream(c->argv[0], "it could not be listed");
    else
        (void)tell_ask_failure(c->mem, c->argv[0], answer);
    return PTC_EXIT_FAILED;
}

static int ask_and_write(PtcUpstreamsCommand *c, PtcRemoteOp op, const PtcBuf *text,
                         const char *member)
{
    PtcRemote *remote = ptc_manager_remote(c->upstreams->manager);
    PtcBuf answer;
    bool ok = false;
    int status = PTC_EXIT_FAILED;
    void *run = begin_ask_run(remote);
    if (!run)
        return status;
    ptc_buf_init(&answer, c->mem, ASK_ANSWER_BYTES);
    PtcRemoteAsk ask = {.op = op, .text = ptc_buf_view(text)};
    if (!ask_with_person(c, run, &ask, &answer, &ok))
        (void)complain_of_upstream(c->argv[0], "out of memory");
    else if (!ok && remote->question(run, NULL, NULL))
        (void)complain_of_upstream(c->argv[0], "it was not called");
    else if (!ok)
        status = tell_ask_failure(c->mem, c->argv[0], &answer);
    else if (answer.len == 4 && memcmp(answer.data, "null", 4) == 0 && !member)
        status = tell_nothing(c, remote, run, &answer);
    else
        status = write_answer_value(c->mem, &answer, member);
    remote->end(run, NULL);
    ptc_buf_deinit(&answer);
    return status;
}

static bool has_upstreams(const PtcUpstreamsCommand *c)
{
    return c->upstreams->manager ||
           complain_of_upstream(c->argv[0],
                                "there are no upstreams: name a file with --upstreams FILE, or a "
                                "client with --import CLIENT (ptc docs upstreams)");
}

int ptc_upstreams_call(PtcUpstreamsCommand *c)
{
    PtcText server, tool;
    PtcBuf text;
    if (!has_upstreams(c))
        return PTC_EXIT_FAILED;
    split_tool_argument(c->argv[0], &server, &tool);
    ptc_buf_init(&text, c->mem, ASK_BYTES);
    ptc_emit_object(&text);
    ptc_emit_field_text(&text, "server", server);
    ptc_emit_field_text(&text, "tool", tool);
    ptc_emit_field_bool(&text, "raw", c->raw);
    ptc_emit_field_raw(&text, "args", c->argc > 1 ? ptc_text_cstr(c->argv[1]) : PTC_TEXT("{}"));
    ptc_emit_object_end(&text);
    int status = ptc_buf_ok(&text) ? ask_and_write(c, PTC_REMOTE_CALL_NAMED, &text, "value")
                                   : PTC_EXIT_FAILED;
    ptc_buf_deinit(&text);
    return status;
}

int ptc_upstreams_tell(PtcUpstreamsCommand *c)
{
    PtcText server, tool;
    PtcBuf text;
    if (!has_upstreams(c))
        return PTC_EXIT_FAILED;
    split_tool_argument(c->argv[0], &server, &tool);
    if (!ptc_upstreams_knows(c->upstreams, server))
        return PTC_EXIT_FAILED;
    ptc_buf_init(&text, c->mem, ASK_BYTES);
    ptc_emit_object(&text);
    ptc_emit_field_cstr(&text, "op", "doc");
    ptc_emit_field_text(&text, "ns", server);
    if (tool.bytes)
        ptc_emit_field_text(&text, "name", tool);
    ptc_emit_object_end(&text);
    int status = ask_and_write(c, PTC_REMOTE_LOOK, &text, NULL);
    ptc_buf_deinit(&text);
    return status;
}
