/* SPDX-License-Identifier: MIT
 * A journal is on disk before the model hears of what a program did.  When that is not possible the run stops: the next
 * run would do again whatever this one still did. */
#include "cli/out/journal_out.h"

#include "agent/run/agent_run.h"
#include "cli/interrupt.h"
#include "cli/io.h"

bool ptc_journal_out_open(PtcJournalOut *o, PtcMem *mem, const char *path, PtcWhy *why)
{
    *o = (PtcJournalOut){.file = NULL};
    ptc_buf_init(&o->text, mem, PTC_JOURNAL_BYTES);
    if (path)
        o->file = ptc_journal_file_open(mem, path, why);
    return !path || o->file;
}

void ptc_journal_out_close(PtcJournalOut *o)
{
    ptc_journal_file_close(o->file);
    ptc_buf_deinit(&o->text);
}

PtcText ptc_journal_out_text(const PtcJournalOut *o)
{
    if (o->text.len)
        return ptc_buf_view(&o->text);
    return o->file ? ptc_journal_file_text(o->file) : (PtcText){NULL, 0};
}

void ptc_journal_out_tell(PtcJournalOut *o, const PtcProgress *p)
{
    if (!o->file || p->kind != PTC_PROGRESS_PROGRAM_ENDED || p->agent.len > 0)
        return;
    ptc_buf_clear(&o->text);
    ptc_work_journal_whole(p->what->work, &o->text);
    if (!(ptc_buf_ok(&o->text)
              ? ptc_journal_file_write(o->file, ptc_buf_view(&o->text), &o->error)
              : ptc_why_say(&o->error, PTC_WHY_REFUSED, "it is larger than 64 MiB")))
        atomic_store(&ptc_interrupt.asked, true);
}

bool ptc_journal_out_ok(const PtcJournalOut *o, const char *command)
{
    bool ok = o->error.class == PTC_WHY_NONE;
    if (!ok)
        ptc_io_printf(PTC_IO_STDERR, "ptc %s: --journal: %s\n", command, o->error.text);
    return ok;
}
