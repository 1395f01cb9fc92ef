/* SPDX-License-Identifier: MIT
 * The examples of the builtins as tests.  What always holds: an example is run like a case of a .ptct file, and a row
 * without examples fails. */
#include "cli/test/test_example.h"

#include <stdio.h>

#include "cli/io.h"
#include "lisp/vm/builtin.h"

/* Where the last " => " or " !! " outside of strings begins; NULL if there is none. */
static const char *find_mark(PtcText line)
{
    const char *found = NULL;
    bool quoted = false;
    for (size_t i = 0; i + 4 <= line.len; i++) {
        const char *p = line.bytes + i;
        if (*p == '\\')
            i++;
        else if (*p == '"')
            quoted = !quoted;
        else if (!quoted && (!memcmp(p, " => ", 4) || !memcmp(p, " !! ", 4)))
            found = p;
    }
    return found;
}

void ptc_test_example(PtcDocs *docs, const char *name, PtcText line)
{
    PtcTestCase c = {.ignore_prints = true, .float_precision = PTC_UNSET, .session = docs->session};
    const char *mark = find_mark(line);
    if (!mark) {
        docs->report(docs->user, name, line, false, (PtcText){"(neither => nor !! in it)", 25});
        return;
    }
    ptc_limits_init(&c.limits, sizeof c.limits);
    c.id = c.program = (PtcText){line.bytes, (size_t)(mark - line.bytes)};
    c.expect = (PtcText){mark + 1, line.len - c.program.len - 1};
    c.wants_text = mark[1] == '=';
    c.error_count = mark[1] == '!'; /* only the kind */
    bool ok = ptc_test_run(docs->runner, &c, &docs->got, NULL);
    docs->report(docs->user, name, line, ok, (PtcText){docs->got.data, docs->got.len});
}

static void run_row(PtcDocs *docs, const PtcBuiltin *row, const char *name)
{
    const char *p = row->examples ? row->examples : "";
    if (!*p)
        docs->report(docs->user, name, (PtcText){"", 0}, false,
                     (PtcText){"(it has no examples)", 20});
    while (*p) {
        size_t n = strcspn(p, "\n");
        if (n > 0)
            ptc_test_example(docs, name, (PtcText){p, n});
        p += n + (p[n] == '\n');
    }
}

void ptc_test_docs(PtcTestRunner *runner, PtcMem *mem, const char *filter, PtcDocReport report,
                   void *user)
{
    PtcDocs docs = {.runner = runner, .report = report, .user = user};
    ptc_buf_init(&docs.got, mem, PTC_IO_MAX);
    for (uint32_t i = 0; i < ptc_builtin_count(); i++) {
        const PtcBuiltin *row = ptc_builtin_row(i);
        char name[160];
        snprintf(name, sizeof name, "%s/%s", row->ns, row->name);
        if (!(row->flags & PTC_B_HIDDEN) && (!filter || strstr(name, filter)))
            run_row(&docs, row, name);
    }
    ptc_buf_deinit(&docs.got);
}
