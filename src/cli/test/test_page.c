/* SPDX-License-Identifier: MIT
 * Examples in Markdown pages.  Only ```ptc fences are run; everything else on a page is ignored. */
#include "cli/test/test_example.h"

#include <stdio.h>

#include "cli/io.h"

/* Does this line contain an expectation: => or !! at its start or after a space? */
static bool has_mark(PtcText line)
{
    bool quoted = false;
    for (size_t i = 0; i + 3 <= line.len; i++) {
        const char *p = line.bytes + i;
        if (*p == '\\')
            i++;
        else if (*p == '"')
            quoted = !quoted;
        else if (!quoted && (i == 0 || p[-1] == ' ') &&
                 (!memcmp(p, "=> ", 3) || !memcmp(p, "!! ", 3)))
            return true;
    }
    return false;
}

static bool starts(PtcText line, const char *word)
{
    size_t n = strlen(word);
    return line.len >= n && memcmp(line.bytes, word, n) == 0;
}

static bool is_blank_fence_line(PtcText line)
{
    for (size_t i = 0; i < line.len; i++)
        if (line.bytes[i] != ' ')
            return false;
    return true;
}

/* One line of a fence; *example collects lines up to the one with the expectation.  A mark at the start of a line
 * gets the space that must separate it from the program. */
static void take_fence_line(PtcDocs *docs, const char *name, PtcText line, PtcBuf *example)
{
    if (is_blank_fence_line(line) && example->len == 0)
        return;
    bool alone = starts(line, "=> ") || starts(line, "!! ");
    if (example->len > 0)
        ptc_buf_add_char(example, alone ? ' ' : '\n');
    ptc_buf_add(example, line.bytes, line.len);
    if (!has_mark(line))
        return;
    ptc_test_example(docs, name, (PtcText){example->data, example->len});
    ptc_buf_clear(example);
}

static void run_lines(PtcDocs *docs, const char *path, PtcText text, PtcBuf *example)
{
    const char *p = text.bytes, *end = p + text.len;
    bool inside = false;
    char name[300];
    for (size_t number = 1; p < end; number++) {
        const char *lf = memchr(p, '\n', (size_t)(end - p));
        PtcText line = {p, (size_t)((lf ? lf : end) - p)};
        snprintf(name, sizeof name, "%.250s:%zu", path, number);
        if (starts(line, "```")) {
            if (inside && example->len > 0)
                docs->report(docs->user, name, (PtcText){example->data, example->len}, false,
                             (PtcText){"(neither => nor !! after it)", 28});
            ptc_buf_clear(example);
            inside = !inside && line.len == 6 && starts(line, "```ptc");
        } else if (inside) {
            take_fence_line(docs, name, line, example);
        }
        p += line.len + 1;
    }
}

const char *ptc_test_page(PtcTestRunner *runner, PtcMem *mem, const char *path, PtcDocReport report,
                          void *user)
{
    PtcDocs docs = {.runner = runner, .session = {"page", 4}, .report = report, .user = user};
    PtcBuf text, example;
    ptc_buf_init(&docs.got, mem, PTC_IO_MAX);
    ptc_buf_init(&text, mem, PTC_IO_MAX);
    ptc_buf_init(&example, mem, PTC_IO_MAX);
    const char *error = ptc_io_read(&text, path);
    if (!error)
        run_lines(&docs, path, (PtcText){text.data, text.len}, &example);
    ptc_buf_deinit(&example);
    ptc_buf_deinit(&text);
    ptc_buf_deinit(&docs.got);
    return error;
}
