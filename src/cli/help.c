/* SPDX-License-Identifier: MIT
 * What --help prints.  What always holds: no line is wider than the terminal, unless a single word of it is; an example
 * that must be broken can still be pasted into a shell. */
#include "cli/help.h"

#include <stdio.h>
#include <string.h>

#include "cli/io.h"
#include "cli/out/shown.h"

enum { HELP_LEFT = 26, NARROW = 60, HELP_WIDE = 120, USAGE_INDENT = 11, VALUE_INDENT = 8 };

typedef struct {
    PtcBuf *out;
    size_t width;
    const void *target; /* the command's struct with the defaults */
} Page;

/* ------------------------------------------------------------------------------ groups */

static const char *const titles[PTC_GROUPS] = {
    [PTC_GROUP_PROGRAM] = "program",
    [PTC_GROUP_AGENT] = "agent",
    [PTC_GROUP_DATA] = "data",
    [PTC_GROUP_RESULT] = "result",
    [PTC_GROUP_MODEL] = "model",
    [PTC_GROUP_LIMITS] = "limits",
    [PTC_GROUP_TOOLS] = "tools",
    [PTC_GROUP_SERVING] = "serving",
    [PTC_GROUP_HTTP] = "HTTP",
    [PTC_GROUP_PROGRAMS] = "programs and limits",
    [PTC_GROUP_UPSTREAMS] = "upstreams",
    [PTC_GROUP_APPROVALS] = "approvals",
    [PTC_GROUP_SIGN_IN] = "signing in",
    [PTC_GROUP_TASKS] = "tasks",
    [PTC_GROUP_SESSIONS] = "sessions",
    [PTC_GROUP_TRACES] = "traces",
    [PTC_GROUP_RECORDS] = "records and traces",
};

const char *ptc_help_title(unsigned group)
{
    return group < PTC_GROUPS && titles[group] ? titles[group] : "other";
}

const PtcOption *ptc_help_next(const PtcUsage *usage, unsigned group, size_t *at)
{
    while (*at < usage->option_count) {
        const PtcOption *option = &usage->options[(*at)++];
        if ((option->group & ~(unsigned)PTC_GROUP_COMMON) == group)
            return option;
    }
    return NULL;
}

/* ---------------------------------------------------------------------------- wrapping */

/* How much of a text stands on a line with that much room: all, or up to the last blank that fits, or else up to the
 * last bar of "a|b|c", or else a whole word. */
static size_t fit_text(const char *text, size_t len, size_t room)
{
    size_t blank = 0, bar = 0, i;
    for (i = 1; i < len && i <= room; i++) {
        blank = text[i] == ' ' ? i : blank;
        bar = text[i - 1] == '|' ? i : bar;
    }
    if (len <= room)
        return len;
    if (blank || bar)
        return blank ? blank : bar;
    while (i < len && text[i] != ' ')
        i++;
    return i;
}

/* A text without line feeds from `column` on; further lines begin at `indent`. */
static void add_wrapped(Page *p, const char *text, size_t len, size_t column, size_t indent)
{
    for (;;) {
        size_t n = fit_text(text, len, p->width - column), kept = n;
        while (kept > 0 && text[kept - 1] == ' ')
            kept--;
        ptc_buf_addf(p->out, "%.*s\n", PTC_ARG_OF(text, kept));
        for (text += n, len -= n; len > 0 && *text == ' '; len--)
            text++;
        if (len == 0)
            return;
        ptc_buf_addf(p->out, "%*s", (int)indent, "");
        column = indent;
    }
}

/* Where a row such as "  name   what it is" goes on: below what it is.  0 for other lines. */
static size_t find_hang(const char *line, size_t len)
{
    size_t at = 0;
    while (at < len && line[at] == ' ')
        at++;
    for (size_t i = at + 1; at > 0 && i + 1 < len; i++)
        if (line[i - 1] == ' ' && line[i] == ' ' && line[i + 1] != ' ')
            return i + 1;
    return at;
}

static void add_lines(Page *p, const char *text, size_t indent)
{
    while (*text) {
        size_t n = strcspn(text, "\n");
        add_wrapped(p, text, n, 0, indent ? indent : find_hang(text, n));
        text += n + (text[n] == '\n');
    }
}

/* How much of a command stands on a line: it is broken at blanks that are neither quoted nor in a comment. */
static size_t fit_command(const char *text, size_t len, size_t room)
{
    size_t cut = 0;
    char quote = 0;
    for (size_t i = 0; len > room && i + 2 <= room; i++) {
        if (quote)
            quote = text[i] == quote ? 0 : quote;
        else if (strchr("'\"", text[i]) || (text[i] == '#' && i > 0 && text[i - 1] == ' '))
            quote = text[i] == '#' ? '\n' : text[i];
        else if (text[i] == ' ' && i > 0 && text[i - 1] != ' ')
            cut = i;
    }
    return cut ? cut : len;
}

static void add_example(Page *p, const char *text, size_t len)
{
    size_t indent = find_hang(text, len) ? 2 : 0;
    for (size_t n; len > 0; text += n, len -= n) {
        while (len > 0 && *text == ' ')
            text++, len--;
        n = fit_command(text, len, p->width - indent);
        ptc_buf_addf(p->out, "%*s%.*s%s\n", (int)indent, "", PTC_ARG_OF(text, n),
                     n < len ? " \\" : "");
        indent = 4;
    }
}

static void add_examples(Page *p, const char *text)
{
    ptc_buf_add_cstr(p->out, "\nexamples:\n");
    while (*text) {
        size_t n = strcspn(text, "\n");
        add_example(p, text, n);
        text += n + (text[n] == '\n');
    }
}

/* ----------------------------------------------------------------------------- options */

static void add_option(Page *p, const PtcOption *option)
{
    char left[256], dash[8] = "    ", standard[48], right[512];
    ptc_options_default(option, p->target, standard, sizeof standard);
    if (option->letter)
        snprintf(dash, sizeof dash, "-%c, ", option->letter);
    snprintf(left, sizeof left, "  %s--%s%s%s", dash, option->name, option->value ? " " : "",
             option->value ? option->value : "");
    snprintf(right, sizeof right, "%s%s", option->help, standard);
    if (strlen(left) < HELP_LEFT) {
        ptc_buf_addf(p->out, "%-*s", HELP_LEFT, left);
    } else {
        add_wrapped(p, left, strlen(left), 0, VALUE_INDENT);
        ptc_buf_addf(p->out, "%*s", HELP_LEFT, "");
    }
    add_wrapped(p, right, strlen(right), HELP_LEFT, HELP_LEFT);
}

static void add_help_option(Page *p, const char *help)
{
    add_option(p, &(PtcOption){.name = "help", .letter = 'h', .help = help});
}

static void add_few(Page *p, const PtcUsage *usage)
{
    ptc_buf_add_cstr(p->out, "\noptions:\n");
    for (size_t i = 0; i < usage->option_count; i++)
        add_option(p, &usage->options[i]);
    add_help_option(p, "show this");
}

static void add_groups(Page *p, const PtcUsage *usage)
{
    for (unsigned group = 0; group < PTC_GROUPS; group++) {
        size_t at = 0;
        const PtcOption *option = ptc_help_next(usage, group, &at);
        if (option)
            ptc_buf_addf(p->out, "\n%s:\n", ptc_help_title(group));
        for (; option; option = ptc_help_next(usage, group, &at))
            add_option(p, option);
    }
    ptc_buf_add_cstr(p->out, "\nhelp:\n");
    add_help_option(p, "show the common options; --help all shows this");
}

/* "eval --help all shows 30 more options: program, data, ..." */
static void add_pointer(Page *p, const PtcUsage *usage, size_t more)
{
    char text[512];
    size_t n = (size_t)snprintf(text, sizeof text, "ptc %s --help all shows %zu more options",
                                usage->command, more);
    for (unsigned group = 0, count = 0; group < PTC_GROUPS; group++) {
        size_t at = 0;
        if (ptc_help_next(usage, group, &at) && n < sizeof text)
            n += (size_t)snprintf(text + n, sizeof text - n, "%s %s", count++ ? "," : ":",
                                  ptc_help_title(group));
    }
    ptc_buf_add_cstr(p->out, "\n");
    add_lines(p, text, 0);
}

static void add_common(Page *p, const PtcUsage *usage)
{
    size_t shown = 0;
    ptc_buf_add_cstr(p->out, "\ncommon options:\n");
    for (size_t i = 0; i < usage->option_count; i++)
        if (usage->options[i].group & PTC_GROUP_COMMON) {
            add_option(p, &usage->options[i]);
            shown++;
        }
    add_help_option(p, "show this");
    add_pointer(p, usage, usage->option_count - shown);
}

/* -------------------------------------------------------------------------------- page */

void ptc_help_print(const PtcUsage *usage, const void *target, bool all)
{
    PtcMem mem;
    PtcBuf out;
    size_t width = ptc_shown_columns();
    ptc_mem_init(&mem, PTC_IO_MAX);
    ptc_buf_init(&out, &mem, PTC_IO_MAX);
    Page p = {&out, width < NARROW ? NARROW : width > HELP_WIDE ? HELP_WIDE : width, target};
    char head[512];
    snprintf(head, sizeof head, "usage: ptc %s%s%s", usage->command, *usage->synopsis ? " " : "",
             usage->synopsis);
    add_lines(&p, head, USAGE_INDENT);
    add_lines(&p, usage->summary, 0);
    if (usage->option_count <= PTC_HELP_FEW)
        add_few(&p, usage);
    else
        (all ? add_groups : add_common)(&p, usage);
    add_examples(&p, usage->examples);
    if (ptc_buf_ok(&out))
        (void)!ptc_shown_write(PTC_IO_STDOUT, out.data, out.len);
    ptc_buf_deinit(&out);
}
