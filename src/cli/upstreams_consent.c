/* SPDX-License-Identifier: MIT
 * Consent at a terminal.  Whether a yes would help is found out by looking the tool up twice, without one and with one,
 * so that nobody is asked in vain.  What always holds: nothing is called here. */
#include "cli/upstreams_consent.h"

#include <string.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/io.h"
#include "cli/shown.h"
#include "cli/upstreams_ask.h"
#include "json/emit.h"
#include "json/parse.h"
#include "upstream/fields.h"

enum { ANSWER_BYTES = 64 * 1024 * 1024, SHOWN_BYTES = 300 };

typedef struct {
    bool opened; /* the files could be read */
    bool allowed;
    char effect[16]; /* "": the tool could not be looked up */
} Found;

/* What the policy says about NAME/TOOL, from a manager's answer. */
static Found read_found(PtcMem *mem, const PtcBuf *answer)
{
    PtcDesk desk;
    PtcJsonError error;
    Found found = {.allowed = false};
    ptc_desk_init(&desk, mem, ANSWER_BYTES);
    PtcValue v = ptc_json_parse(&desk.heap, answer->data ? answer->data : "", answer->len, &error);
    PtcText policy = ptc_fields_text(&desk.heap, v, "policy");
    PtcText effect = ptc_fields_text(&desk.heap, v, "effect");
    found.allowed = policy.bytes && ptc_text_is(policy, "allow");
    if (effect.bytes && effect.len < sizeof found.effect)
        memcpy(found.effect, effect.bytes, effect.len);
    ptc_desk_deinit(&desk);
    return found;
}

static Found look_up(PtcMem *mem, PtcUpstreams *u, const char *call)
{
    PtcBuf text, answer;
    uint64_t version;
    bool ok = false;
    Found found = {.allowed = false};
    const char *slash = strchr(call, '/');
    PtcRemote *remote = ptc_manager_remote(u->manager);
    void *run = slash ? remote->begin(remote, "local", INT64_MAX, NULL, &version) : NULL;
    if (!run)
        return found;
    ptc_buf_init(&text, mem, 64 * 1024);
    ptc_buf_init(&answer, mem, ANSWER_BYTES);
    ptc_emit_object(&text);
    ptc_emit_field_text(&text, "ns", (PtcText){call, (size_t)(slash - call)});
    ptc_emit_field_cstr(&text, "name", slash + 1);
    ptc_emit_object_end(&text);
    PtcRemoteAsk ask = {.op = PTC_REMOTE_LOOKUP, .text = ptc_buf_view(&text)};
    if (ptc_upstreams_ask(remote, run, &ask, &answer, &ok) && ok)
        found = read_found(mem, &answer);
    remote->end(run, NULL);
    ptc_buf_deinit(&text);
    ptc_buf_deinit(&answer);
    return found;
}

/* With an answer to every question, or with none. */
static Found look(PtcMem *mem, PtcUpstreamsOptions options, bool approved, const char *call,
                  int *status)
{
    PtcUpstreams u;
    Found found = {.allowed = false};
    options.approved = approved;
    options.quiet = true;
    bool opened = ptc_upstreams_open(&u, mem, "upstreams", &options, NULL, NULL, status);
    if (opened && u.manager)
        found = look_up(mem, &u, call);
    found.opened = opened;
    ptc_upstreams_close(&u);
    return found;
}

static bool says_yes(PtcMem *mem, const char *call, const char *arguments, const char *effect)
{
    PtcBuf line;
    char answer[8];
    size_t n = strlen(arguments) < SHOWN_BYTES ? strlen(arguments) : SHOWN_BYTES;
    ptc_buf_init(&line, mem, 16 * 1024);
    ptc_shown_add(&line, call, strlen(call));
    ptc_buf_addf(&line, " (%s) with ", effect);
    ptc_shown_add(&line, arguments, n);
    ptc_buf_add_cstr(&line, arguments[n] ? "...\nCall it? [y/N] " : "\nCall it? [y/N] ");
    bool asked = ptc_buf_ok(&line) && ptc_io_write(PTC_IO_STDERR, line.data, line.len);
    ptc_buf_deinit(&line);
    ssize_t got = asked ? read(PTC_IO_STDIN, answer, sizeof answer) : 0;
    return got > 0 && (answer[0] == 'y' || answer[0] == 'Y');
}

bool ptc_upstreams_consent(PtcMem *mem, PtcUpstreamsOptions *options, const char *call,
                           const char *arguments, int *status)
{
    if (options->approved || !isatty(PTC_IO_STDIN) || !isatty(PTC_IO_STDERR))
        return true;
    Found found = look(mem, *options, false, call, status);
    if (!found.opened || found.allowed)
        return found.opened;
    found = look(mem, *options, true, call, status);
    if (!found.opened || !found.allowed)
        return found.opened; /* it is denied anyway, and the call says why */
    *status = PTC_EXIT_FAILED;
    options->approved = says_yes(mem, call, arguments, found.effect);
    if (!options->approved)
        ptc_io_printf(PTC_IO_STDERR, "ptc upstreams: it was not called\n");
    return options->approved;
}
