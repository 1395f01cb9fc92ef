/* SPDX-License-Identifier: MIT
 * `ptc upstreams forget`: drops what results of tools were like.  Starts nothing.  Names need not be those of upstreams
 * that are still there: what is known of one that was taken out of its file is still in ours. */
#include "cli/cmd/cmd.h"
#include "cli/io.h"
#include "cli/out/shown.h"
#include "cli/upstreams/upstreams_ask.h"
#include "cli/upstreams/upstreams_files.h"
#include "upstream/run/seen_book.h"

static bool say_forgotten(PtcMem *mem, const char *name, bool ok, size_t count, const PtcWhy *why)
{
    PtcBuf line;
    ptc_buf_init(&line, mem, PTC_UNBOUNDED);
    ptc_buf_addf(&line, "%s%s%s", ok ? "" : "ptc upstreams: forget: ", name, *name ? ": " : "");
    if (ok)
        ptc_buf_addf(&line, "%zu result shape%s forgotten", count, count == 1 ? "" : "s");
    else
        ptc_buf_add_cstr(&line, why->text);
    bool shown = ptc_shown_write_line(ok ? PTC_IO_STDOUT : PTC_IO_STDERR, line.data, line.len);
    ptc_buf_deinit(&line);
    return ok && shown;
}

/* The name in the file of what a person calls by its name or namespace. */
static PtcText forgotten_server(PtcUpstreamsCommand *c, const char *name)
{
    PtcText text = ptc_text_cstr(name);
    PtcManager *m = c->upstreams->manager;
    for (size_t i = 0; m && i < ptc_manager_count(m); i++) {
        PtcUpstreamState s;
        ptc_manager_state(m, i, &s);
        if (ptc_text_same(s.ns, text))
            return s.name;
    }
    return text;
}

int ptc_upstreams_forget(PtcUpstreamsCommand *c)
{
    PtcWhy why;
    size_t count;
    bool ok = true;
    char dir[PTC_UPSTREAMS_PATH];
    PtcFileShelf files;
    ptc_upstreams_files_state(dir);
    PtcShelf *own = dir[0] && ptc_file_shelf_init(&files, dir) ? &files.shelf : NULL;
    PtcUpstreams *u = c->upstreams;
    PtcSeenBook *book = ptc_seen_book_new(c->mem, u->kept.store ? &u->kept.shelf : own);
    if (!book)
        return PTC_EXIT_FAILED;
    if (c->argc == 0) {
        bool done = ptc_seen_book_forget(book, (PtcText){NULL, 0}, &count, &why);
        ok = say_forgotten(c->mem, "", done, count, &why);
    }
    for (int i = 0; i < c->argc; i++) {
        bool done = ptc_seen_book_forget(book, forgotten_server(c, c->argv[i]), &count, &why);
        ok = say_forgotten(c->mem, c->argv[i], done, count, &why) && ok;
    }
    ptc_seen_book_free(book);
    return ok ? PTC_EXIT_OK : PTC_EXIT_FAILED;
}
