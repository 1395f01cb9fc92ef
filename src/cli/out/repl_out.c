/* SPDX-License-Identifier: MIT
 * What the REPL shows.  What always holds: characters that would control the terminal are shown, not sent; from a pipe
 * a result is one line. */
#include "cli/out/repl_out.h"

#include "cli/io.h"
#include "cli/out/forms_out.h"
#include "cli/out/shown.h"

enum { SHOWN_LINES = 30 };

const char *ptc_repl_out_paint(const PtcReplOut *out, const char *code)
{
    return out->colour ? code : "";
}

/* Text that a program made, for this descriptor. */
static void add_safe(PtcReplOut *o, int fd, const char *text, size_t len)
{
    if (ptc_shown_on(fd))
        ptc_shown_add(&o->text, text, len);
    else
        ptc_buf_add(&o->text, text, len);
}

void ptc_repl_out_flush(PtcReplOut *o, int fd)
{
    if (!ptc_io_write(fd, o->text.data, o->text.len))
        o->failed = true;
    ptc_buf_clear(&o->text);
}

/* ------------------------------------------------------------------------------------ result */

/* Is the program a question about names, whose answer is text for people? */
static bool asks_for_text(PtcText program)
{
    static const char *const forms[] = {"(doc ", "(dir ", "(apropos "};
    program = ptc_text_skip_spaces(program);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (program.len > strlen(forms[i]) &&
            memcmp(program.bytes, forms[i], strlen(forms[i])) == 0)
            return true;
    return false;
}

static void add_shown_line(PtcReplOut *o, PtcValue v)
{
    const char *text;
    size_t len;
    if (!ptc_value_string(v, &text, &len))
        return;
    add_safe(o, PTC_IO_STDOUT, text, len);
    if (len == 0 || text[len - 1] != '\n')
        ptc_buf_add_char(&o->text, '\n');
}

/* A text, or a list of lines, without quotes.  False: it is neither. */
static bool show_result_text(PtcReplOut *o, const PtcOutcome *outcome)
{
    PtcValue v = ptc_outcome_value(outcome);
    PtcType type = ptc_value_type(v);
    if (type == PTC_TYPE_STRING)
        add_shown_line(o, v);
    for (size_t i = 0; type == PTC_TYPE_SEQUENCE && i < ptc_value_count(v); i++)
        add_shown_line(o, ptc_value_at(v, i));
    if (o->text.len == 0)
        return false;
    ptc_repl_out_flush(o, PTC_IO_STDOUT);
    return true;
}

static void add_forms(PtcReplOut *o, PtcText text, size_t lines, size_t *left)
{
    PtcBuf forms;
    ptc_buf_init(&forms, o->mem, PTC_UNBOUNDED);
    *left = ptc_forms_out_add(&forms, text, ptc_shown_columns() - 1, lines);
    if (ptc_buf_ok(&forms))
        add_safe(o, PTC_IO_STDOUT, forms.data ? forms.data : "", forms.len);
    else
        *left = text.len;
    ptc_buf_deinit(&forms);
}

static void show_value(PtcReplOut *o, PtcOutcome *outcome)
{
    size_t len, left = 0;
    bool cut;
    const char *text = ptc_outcome_text(outcome, &len, &cut);
    ptc_buf_clear(&o->whole);
    if (!text) {
        ptc_io_printf(PTC_IO_STDERR, "error: the result does not fit in memory\n");
        return;
    }
    ptc_buf_add_cstr(&o->text, ptc_repl_out_paint(o, "\033[36m"));
    if (o->pretty)
        add_forms(o, (PtcText){text, len}, SHOWN_LINES, &left);
    else
        add_safe(o, PTC_IO_STDOUT, text, len);
    ptc_buf_addf(&o->text, "%s%s\n", cut || left ? " ..." : "", ptc_repl_out_paint(o, "\033[0m"));
    if (left) {
        ptc_buf_add(&o->whole, text, len);
        ptc_buf_addf(&o->text, "%zu of %zu characters are not shown: :all shows the whole result\n",
                     left, len);
    }
    ptc_repl_out_flush(o, PTC_IO_STDOUT);
}

void ptc_repl_out_all(PtcReplOut *o)
{
    size_t left;
    if (o->whole.len == 0) {
        ptc_io_printf(PTC_IO_STDOUT, "the last result was shown as a whole\n");
        return;
    }
    add_forms(o, ptc_buf_view(&o->whole), 0, &left);
    ptc_buf_add_char(&o->text, '\n');
    ptc_repl_out_flush(o, PTC_IO_STDOUT);
}

/* --------------------------------------------------------------------------------------- API */

void ptc_repl_out_show(PtcReplOut *o, PtcOutcome *outcome, const PtcReported *about)
{
    bool ok = ptc_report_remarks(o->mem, outcome, about, PTC_REMARK_PRINTS);
    if (ptc_outcome_ok(outcome) && !(asks_for_text(about->program) && show_result_text(o, outcome)))
        show_value(o, outcome);
    ok = ptc_report_remarks(o->mem, outcome, about, PTC_REMARK_WARNINGS | PTC_REMARK_ERRORS) && ok;
    o->failed = o->failed || !ok;
}

void ptc_repl_out_init(PtcReplOut *o, PtcMem *mem, bool pretty, bool colour)
{
    *o = (PtcReplOut){.mem = mem, .pretty = pretty, .colour = colour};
    ptc_buf_init(&o->text, mem, PTC_UNBOUNDED);
    ptc_buf_init(&o->whole, mem, PTC_UNBOUNDED);
}

void ptc_repl_out_deinit(PtcReplOut *o)
{
    ptc_buf_deinit(&o->text);
    ptc_buf_deinit(&o->whole);
}
