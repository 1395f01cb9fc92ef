/* SPDX-License-Identifier: MIT
 * Questions about calls, and those of servers.  What always holds: anything but a yes that was typed is no yes; about
 * calls the end of input and an interrupt end the run. */
#include "cli/term/terminal_ask.h"

#include "cli/io.h"
#include "cli/out/shown.h"
#include "cli/term/terminal_form.h"

enum { ASK_LIST_BYTES = 64 * PTC_KB, ASK_QUESTION_BYTES = 512 * PTC_KB, ASK_TRIES = 5 };

static const struct {
    const char *word;
    char key;
    int decision; /* PtcRemoteDecision; -1: the run ends */
} answers[] = {{"once", 'o', PTC_REMOTE_ONCE},
               {"yes", 'y', PTC_REMOTE_ONCE},
               {"run", 'r', PTC_REMOTE_RUN},
               {"process", 'p', PTC_REMOTE_PROCESS},
               {"always", 'a', PTC_REMOTE_ALWAYS},
               {"no", 'n', PTC_REMOTE_NO},
               {"cancel", 'c', -1}};

/* -2: none of them. */
static int read_approval_answer(PtcText line)
{
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        if (ptc_text_is(line, answers[i].word) ||
            (line.len == 1 && line.bytes[0] == answers[i].key))
            return answers[i].decision;
    return -2;
}

/* False: they cannot be shown, since memory is short. */
static bool show_calls(PtcMem *mem, PtcRemote *remote, void *run)
{
    PtcBuf list, shown;
    ptc_buf_init(&list, mem, ASK_LIST_BYTES);
    ptc_buf_init(&shown, mem, 2 * ASK_LIST_BYTES);
    size_t n = remote->question(run, &list, NULL);
    ptc_buf_addf(&shown, "The program wants to make %zu call%s:", n, n == 1 ? "" : "s");
    ptc_buf_add(&shown, list.data, list.len);
    ptc_buf_add_char(&shown, '\n');
    bool ok = ptc_buf_ok(&list) && ptc_buf_ok(&shown) &&
              ptc_shown_write(PTC_IO_STDERR, shown.data, shown.len);
    ptc_buf_deinit(&shown);
    ptc_buf_deinit(&list);
    return ok;
}

static bool ask_for_call_approval(PtcMem *mem, PtcRemote *remote, void *run, PtcTerminalLine *line)
{
    PtcWhy why;
    int answer = show_calls(mem, remote, run) ? -2 : -1;
    ptc_terminal_line_forget(line);
    for (int i = 0; i < ASK_TRIES && answer == -2; i++) {
        ptc_io_printf(PTC_IO_STDERR,
                      "yes, once (y), for this run (r), until ptc ends (p), always (a), no "
                      "(n), or cancel (c)? ");
        answer = ptc_terminal_line_read(line) == PTC_TERMINAL_LINE
                     ? read_approval_answer((PtcText){line->text, line->len})
                     : -1;
    }
    if (answer < 0)
        return false;
    if (!remote->decide(run, (PtcRemoteDecision)answer, &why))
        ptc_io_printf(PTC_IO_STDERR, "this could not be kept for later: %s\n", why.text);
    return true;
}

/* What servers want to know comes first: their calls may wait for it. */
static bool ask_for_servers(PtcMem *mem, PtcRemote *remote, void *run, PtcTerminalLine *line)
{
    PtcBuf question, answer;
    uint64_t number;
    bool ok = true;
    ptc_buf_init(&question, mem, ASK_QUESTION_BYTES);
    ptc_buf_init(&answer, mem, ASK_QUESTION_BYTES);
    while (ok && (number = remote->inquiry(run, 0, &question))) {
        ptc_buf_clear(&answer);
        ok = ptc_terminal_form(mem, line, ptc_buf_view(&question), &answer);
        remote->reply(run, number, ok ? ptc_buf_view(&answer) : (PtcText){NULL, 0});
    }
    ptc_buf_deinit(&question);
    ptc_buf_deinit(&answer);
    return ok;
}

void ptc_terminal_offer(PtcRemote *remote, void *run)
{
    remote->allow(run, PTC_REMOTE_ASKS);
    remote->offer(run, PTC_REMOTE_ELICITS);
}

bool ptc_terminal_ask(PtcMem *mem, PtcRemote *remote, void *run, const PtcCancel *cancel)
{
    PtcTerminalLine line;
    if (!ptc_terminal_line_open(&line, cancel))
        return false;
    bool ok =
        ask_for_servers(mem, remote, run, &line) &&
        (!remote->question(run, NULL, NULL) || ask_for_call_approval(mem, remote, run, &line));
    ptc_terminal_line_close(&line);
    return ok;
}
