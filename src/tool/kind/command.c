/* SPDX-License-Identifier: MIT
 * Commands as tools.  What always holds: no shell is involved, the child gets only the variables its definition names
 * (and PATH, HOME, LANG), and secrets are removed from its standard error before anything is cut. */
#define _GNU_SOURCE /* sigabbrev_np */
#include "tool/kind/command.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/ascii.h"
#include "base/utf8.h"
#include "tool/kind/kind.h"
#include "tool/kind/sql_tool.h"
#include "tool/wire/answer.h"
#include "trace/redact.h"

/* Of a long standard error, the beginning and the end are shown: one of them names the problem. */
enum { COMMAND_HEAD_BYTES = 90, COMMAND_TAIL_BYTES = 140 };

/* The exit status by which programs say that another try may go well (EX_TEMPFAIL). */
enum { EXIT_TEMPFAIL = 75 };
/* ... and the words for it, in letters of any case, which the system has for EAGAIN. */
static const char busy_words[] = "temporarily unavailable";

/* ------------------------------------------------------------------------- definition */

/* The i-th word, NUL-ended in the arena; NULL with the reason. */
static char *copy_word(PtcArena *arena, const char *key, PtcValue words, size_t i, PtcWhy *why)
{
    PtcValue word = ptc_seq_nth(words, i);
    if (!ptc_is_string(word)) {
        ptc_why_say(why, PTC_WHY_INVALID, "%s[%zu] must be a string", key, i);
        return NULL;
    }
    size_t len = ptc_str_len(word);
    if (memchr(ptc_str_bytes(word), 0, len)) {
        ptc_why_say(why, PTC_WHY_INVALID, "%s[%zu] may not contain a NUL byte", key, i);
        return NULL;
    }
    char *copy = ptc_arena_alloc(arena, len + 1);
    if (!copy) {
        ptc_why_say(why, PTC_WHY_NO_MEMORY, "%s: out of memory", key);
        return NULL;
    }
    memcpy(copy, ptc_str_bytes(word), len);
    copy[len] = 0;
    return copy;
}

/* Is it a vector of acceptable size?  *count becomes its size. */
static bool check_words(const char *key, PtcValue words, size_t least, size_t *count, PtcWhy *why)
{
    *count = ptc_is_sequential(words) ? ptc_seq_count(words) : 0;
    if (ptc_is_sequential(words) && *count >= least && *count <= PTC_COMMAND_WORDS_MAX)
        return true;
    return ptc_why_say(why, PTC_WHY_INVALID, "%s must be an array of %s to %d strings%s", key,
                       least ? "1" : "0", PTC_COMMAND_WORDS_MAX,
                       least ? ": the program and its arguments, such as [\"ls\", \"-l\"]" : "");
}

static char **read_command_words(PtcArena *arena, PtcValue words, PtcWhy *why)
{
    size_t count;
    if (!check_words("command", words, 1, &count, why))
        return NULL;
    char **argv = ptc_arena_zalloc(arena, (count + 1) * sizeof *argv);
    if (!argv) {
        ptc_why_say(why, PTC_WHY_NO_MEMORY, "command: out of memory");
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        if (!(argv[i] = copy_word(arena, "command", words, i, why)))
            return NULL;
    if (argv[0][0] == 0) {
        ptc_why_say(why, PTC_WHY_INVALID, "command[0] must name a program");
        return NULL;
    }
    return argv;
}

/* NAME=value from the host's environment.  False: out of memory.  A variable that the host does not have is left
 * out. */
static bool add_variable(PtcArena *arena, char **envp, size_t *count, const char *name)
{
    const char *value = getenv(name);
    if (!value)
        return true;
    size_t name_len = strlen(name), value_len = strlen(value);
    char *text = ptc_arena_alloc(arena, name_len + value_len + 2);
    if (!text)
        return false;
    memcpy(text, name, name_len);
    text[name_len] = '=';
    memcpy(text + name_len + 1, value, value_len + 1);
    for (size_t i = 0; i < *count; i++)
        if (strncmp(envp[i], text, name_len + 1) == 0)
            return true; /* named twice */
    envp[(*count)++] = text;
    return true;
}

static bool add_environment_names(PtcArena *arena, PtcValue names, char **envp, size_t *have,
                                  PtcWhy *why)
{
    for (size_t i = 0; names != PTC_NONE && i < ptc_seq_count(names); i++) {
        const char *name = copy_word(arena, "env", names, i, why);
        if (!name)
            return false;
        if (*name == 0 || strchr(name, '='))
            return ptc_why_say(why, PTC_WHY_INVALID,
                               "env[%zu] must be the name of a variable, without a value", i);
        if (!add_variable(arena, envp, have, name))
            return ptc_why_say(why, PTC_WHY_NO_MEMORY, "env: out of memory");
    }
    return true;
}

char **ptc_command_environment(PtcArena *arena, PtcValue names, size_t *own, PtcWhy *why)
{
    static const char *const always[] = {"PATH", "HOME", "LANG"};
    enum { ALWAYS = sizeof always / sizeof *always };
    size_t count = 0, have = 0;
    if (names != PTC_NONE && !check_words("env", names, 0, &count, why))
        return NULL;
    char **envp = ptc_arena_zalloc(arena, (count + ALWAYS + 1) * sizeof *envp);
    bool ok = envp != NULL;
    for (size_t i = 0; ok && i < ALWAYS; i++)
        ok = add_variable(arena, envp, &have, always[i]);
    if (!ok) {
        ptc_why_say(why, PTC_WHY_NO_MEMORY, "env: out of memory");
        return NULL;
    }
    *own = have;
    return add_environment_names(arena, names, envp, &have, why) ? envp : NULL;
}

static PtcCommand *make_command(PtcArena *arena, PtcValue words, PtcValue names, PtcWhy *why)
{
    char **argv = read_command_words(arena, words, why);
    size_t own = 0;
    char **envp = argv ? ptc_command_environment(arena, names, &own, why) : NULL;
    PtcCommand *command = envp ? ptc_arena_alloc(arena, sizeof *command) : NULL;
    if (!envp)
        return NULL;
    if (!command)
        ptc_why_say(why, PTC_WHY_NO_MEMORY, "command: out of memory");
    else
        *command = (PtcCommand){argv, envp, own};
    return command;
}

static PtcToolAnswer call_command(PtcToolCall *call, void *user);

static const char *variable_value(const char *variable)
{
    return strchr(variable, '=') + 1;
}

const char *ptc_command_secret(const PtcTools *tools, size_t index)
{
    for (size_t i = 0; i < tools->count; i++) {
        const PtcCommand *command = tools->items[i].user;
        if (tools->items[i].function != call_command &&
            tools->items[i].function != ptc_sql_kind.call)
            continue;
        for (char **v = command->envp + command->own; *v; v++)
            if (index-- == 0)
                return variable_value(*v);
    }
    return NULL;
}

/* ---------------------------------------------------------------------------- outcome */

static void trim_command_output(const char **text, size_t *len)
{
    while (*len > 0 && ptc_ascii_is_white(**text)) {
        ++*text;
        --*len;
    }
    while (*len > 0 && ptc_ascii_is_white((*text)[*len - 1]))
        --*len;
}

/* Appends text with `?` in place of what is not UTF-8 and of control characters other than line feeds. */
static void add_clean_output(PtcBuf *out, const char *text, size_t len)
{
    while (len > 0) {
        size_t good = ptc_utf8_valid_prefix(text, len);
        for (size_t i = 0; i < good; i++) {
            unsigned char c = (unsigned char)text[i];
            bool control = (c < ' ' && c != '\n') || c == 0x7f;
            ptc_buf_add_char(out, c == '\t' ? ' ' : control ? '?' : (char)c);
        }
        if (good < len) {
            ptc_buf_add_char(out, '?');
            good++;
        }
        text += good;
        len -= good;
    }
}

static bool is_inside(const char *text, size_t at)
{
    return ((unsigned char)text[at] & 0xc0) == 0x80;
}

/* Appends standard error, or its two ends. */
static void add_stderr(PtcBuf *out, const char *err, size_t len)
{
    if (len <= COMMAND_HEAD_BYTES + COMMAND_TAIL_BYTES) {
        add_clean_output(out, err, len);
        return;
    }
    size_t head = COMMAND_HEAD_BYTES, tail = len - COMMAND_TAIL_BYTES;
    for (int i = 0; i < 3 && is_inside(err, head); i++)
        head--;
    for (int i = 0; i < 3 && is_inside(err, tail); i++)
        tail++;
    add_clean_output(out, err, head);
    ptc_buf_add_cstr(out, " ... ");
    add_clean_output(out, err + tail, len - tail);
}

static void tell_failed_start(PtcBuf *out, const char *program, int error)
{
    const char *why = error == ENOENT                      ? "there is no such program"
                      : error == EACCES                    ? "it may not be run"
                      : error == ENOEXEC                   ? "it is not a program"
                      : error == E2BIG                     ? "its arguments are too long"
                      : error == ENOMEM || error == EAGAIN ? "the system has no room for it"
                      : error == EMFILE || error == ENFILE ? "there are too many open files"
                                                           : NULL;
    size_t len = strlen(program);
    ptc_buf_add_cstr(out, "cannot start ");
    add_clean_output(out, program, len < COMMAND_HEAD_BYTES ? len : COMMAND_HEAD_BYTES);
    if (why)
        ptc_buf_addf(out, ": %s", why);
    else
        ptc_buf_addf(out, ": error %d", error);
}

static void tell_signal(PtcBuf *out, int signal)
{
    const char *name = sigabbrev_np(signal);
    ptc_buf_addf(out, "it was killed by signal %d", signal);
    if (name)
        ptc_buf_addf(out, " (SIG%s)", name);
}

/* A non-zero exit status; or a zero one without a result. */
static void tell_status(PtcBuf *out, const PtcProcess *p)
{
    const char *err = p->err->data;
    size_t len = p->err->len;
    trim_command_output(&err, &len);
    if (len > 0)
        add_stderr(out, err, len);
    else
        ptc_buf_addf(out, "exit status %d, with nothing on standard error", p->code);
}

static void tell_command_end(PtcBuf *out, const PtcProcess *p)
{
    if (p->end == PTC_PROCESS_NO_START)
        tell_failed_start(out, p->argv[0], p->code);
    else if (p->end == PTC_PROCESS_KILLED)
        tell_signal(out, p->code);
    else if (p->end == PTC_PROCESS_TOO_MUCH)
        ptc_buf_addf(out, "it wrote more than %zu bytes to standard output", p->out->max);
    else
        tell_status(out, p);
}

bool ptc_command_judge(const PtcProcess *p, const char **json, size_t *len,
                       char text[PTC_COMMAND_TEXT])
{
    PtcBuf out = {.data = text, .cap = PTC_COMMAND_TEXT, .max = PTC_COMMAND_TEXT - 1};
    *json = p->out->data;
    *len = p->out->len;
    trim_command_output(json, len);
    bool ok = p->end == PTC_PROCESS_EXITED && p->code == 0;
    if (!ok)
        tell_command_end(&out, p); /* into the caller's array, so it never grows */
    text[out.len] = 0;
    if (ok && *len == 0) {
        *json = "null";
        *len = 4;
    }
    return ok;
}

/* -------------------------------------------------------------------------------- call */

static bool may_command_go_on(void *call)
{
    return !ptc_answer_cancelled(call);
}

/* This happens before anything is cut, so that no part of a value remains. */
bool ptc_command_blot(const PtcCommand *command, PtcProcess *p, PtcBuf *clean)
{
    PtcSecrets secrets;
    bool ok = true;
    ptc_secrets_init(&secrets, clean->mem, PTC_SECRET_MIN_TOLD);
    for (char **v = command->envp + command->own; *v && ok; v++)
        ok = ptc_secrets_add(&secrets, variable_value(*v), strlen(variable_value(*v)));
    if (ok && secrets.count) {
        ptc_secrets_blot(&secrets, clean, ptc_buf_view(p->err), p->err_cut);
        ok = ptc_buf_ok(clean);
        p->err = clean;
    }
    ptc_secrets_deinit(&secrets);
    return ok;
}

/* Does the text have these words?  They are lower case, the text need not be. */
static bool says_words(PtcText text, const char *words)
{
    size_t n = strlen(words);
    for (size_t at = 0; at + n <= text.len; at++) {
        size_t i = 0;
        while (i < n && ptc_ascii_lower(text.bytes[at + i]) == words[i])
            i++;
        if (i == n)
            return true;
    }
    return false;
}

/* A command that was not started has done nothing; one that did not end by itself may have done anything. */
static PtcCallFault command_fault(const PtcProcess *p)
{
    bool busy = p->code == EXIT_TEMPFAIL || says_words(ptc_buf_view(p->err), busy_words);
    switch (p->end) {
    case PTC_PROCESS_EXITED: return (PtcCallFault){busy ? PTC_CALL_BUSY : PTC_CALL_WELL, true, -1};
    case PTC_PROCESS_NO_START:
        return (PtcCallFault){p->code == EAGAIN ? PTC_CALL_BUSY : PTC_CALL_UNAVAILABLE, false, -1};
    default: return (PtcCallFault){PTC_CALL_BAD_ANSWER, true, -1};
    }
}

static void answer_command(PtcToolCall *call, const PtcCommand *command, PtcProcess *p)
{
    char text[PTC_COMMAND_TEXT];
    const char *json;
    size_t len;
    PtcBuf clean;
    if (p->end == PTC_PROCESS_ENDED)
        return;
    ptc_buf_init(&clean, call->mem, 2 * PTC_COMMAND_ERROR_BYTES + 64);
    bool ok = p->end != PTC_PROCESS_NO_MEMORY;
    if (ok && p->err->len)
        ok = ptc_command_blot(command, p, &clean);
    if (!ok)
        ptc_budget_halt(call->budget, PTC_STOP_MEMORY);
    else if (ptc_command_judge(p, &json, &len, text))
        ptc_answer_json(call, (PtcText){json, len});
    else
        ptc_answer_fault(call, command_fault(p), ptc_text_cstr(text));
    ptc_buf_deinit(&clean);
}

/* A call that was cancelled or timed out is left unanswered. */
static PtcToolAnswer call_command(PtcToolCall *call, void *user)
{
    const PtcCommand *command = user;
    PtcBuf out, err;
    PtcProcess p = {.argv = command->argv,
                    .envp = command->envp,
                    .out = &out,
                    .err = &err,
                    .go_on = may_command_go_on,
                    .user = call};
    p.input = ptc_answer_args_json(call);
    p.input_len = call->json.len;
    if (!p.input) {
        ptc_budget_halt(call->budget, PTC_STOP_MEMORY);
        return PTC_TOOL_ANSWERED;
    }
    ptc_buf_init(&out, call->mem, call->most_bytes);
    ptc_buf_init(&err, call->mem, PTC_COMMAND_ERROR_BYTES);
    ptc_process_run(&p);
    answer_command(call, command, &p);
    ptc_buf_deinit(&out);
    ptc_buf_deinit(&err);
    return PTC_TOOL_ANSWERED;
}

static bool read_command_tool(PtcToolReader *r, PtcValue v)
{
    PtcWhy why;
    if (!r->allow->command)
        return ptc_kind_refuse_reach(r, "command", r->allow->command_advice);
    r->tool.user = make_command(&r->tools->kept.arena, v, r->env, &why);
    return r->tool.user || ptc_kind_refuse(r, "%s", why.text);
}

const PtcToolKind ptc_command_kind = {
    .key = "command",
    .doc = "a program and its arguments; the call's arguments come as JSON on its standard input",
    .schema = "{\"type\": \"array\", \"minItems\": 1, \"maxItems\": 1000,"
              " \"items\": {\"type\": \"string\"}}",
    .read = read_command_tool,
    .call = call_command,
    .options = PTC_KIND_ENV | PTC_KIND_RETRY,
};
