/* SPDX-License-Identifier: MIT
 * The history of typed lines.  What always holds: the file is private to the user, and a problem with it never stops
 * the command. */
#include "cli/term/history.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/utf8.h"
#include "cli/io.h"

/* ------------------------------------------------------------------- memory */

static void drop_first_entry(PtcHistory *h)
{
    ptc_mem_free(h->mem, h->items[0].text, h->items[0].len + 1);
    h->count--;
    memmove(h->items, h->items + 1, h->count * sizeof *h->items);
}

static bool keep_history_entry(PtcHistory *h, const char *text, size_t len)
{
    char *copy = ptc_mem_alloc(h->mem, len + 1);
    if (!copy)
        return false;
    memcpy(copy, text, len);
    copy[len] = 0;
    if (h->count == PTC_HISTORY_ENTRIES)
        drop_first_entry(h);
    h->items[h->count++] = (PtcHistoryEntry){copy, len};
    return true;
}

/* --------------------------------------------------------------------- file */

static void add_escaped_entry(PtcBuf *buf, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '\\')
            ptc_buf_add_cstr(buf, "\\\\");
        else if (text[i] == '\n')
            ptc_buf_add_cstr(buf, "\\n");
        else
            ptc_buf_add_char(buf, text[i]);
    }
    ptc_buf_add_char(buf, '\n');
}

/* Undoes add_escaped in place; the new length. */
static size_t unescape_entry(char *text, size_t len)
{
    size_t to = 0;
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        if (c == '\\' && i + 1 < len)
            c = text[++i] == 'n' ? '\n' : text[i];
        text[to++] = c;
    }
    return to;
}

/* Makes every missing directory on the way to the file, for the user only. */
static void make_directories(char *path)
{
    for (char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
        *p = 0;
        (void)mkdir(path, 0700); /* what matters is whether the file can be opened */
        *p = '/';
    }
}

static void find_path(PtcHistory *h, const char *name)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    int n = 0;
    if (state && state[0] == '/')
        n = snprintf(h->path, sizeof h->path, "%s/ptc/%s", state, name);
    else if (home && home[0] == '/')
        n = snprintf(h->path, sizeof h->path, "%s/.local/state/ptc/%s", home, name);
    if (n <= 0 || (size_t)n >= sizeof h->path)
        h->path[0] = 0;
}

/* The file is opened once there is something to write: what it has is not lost for want of memory. */
static void write_entries(const PtcHistory *h, size_t from, int flags)
{
    PtcBuf buf;
    ptc_buf_init(&buf, h->mem, PTC_IO_MAX);
    for (size_t i = from; i < h->count; i++)
        add_escaped_entry(&buf, h->items[i].text, h->items[i].len);
    int fd = h->path[0] && ptc_buf_ok(&buf)
                 ? open(h->path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0600)
                 : -1;
    if (fd >= 0) {
        (void)!ptc_io_write(fd, buf.data, buf.len);
        close(fd);
    }
    ptc_buf_deinit(&buf);
}

/* Takes the lines of the file; true if it had more than are kept. */
static bool take_history_lines(PtcHistory *h, PtcBuf *buf)
{
    size_t lines = 0;
    char *p = buf->data, *end = p + buf->len;
    for (; p < end; lines++) {
        char *lf = memchr(p, '\n', (size_t)(end - p));
        size_t len = (size_t)((lf ? lf : end) - p), used = len + 1;
        len = unescape_entry(p, len);
        if (len > 0 && len <= PTC_HISTORY_ENTRY_BYTES && ptc_utf8_valid(p, len) &&
            !keep_history_entry(h, p, len))
            break;
        p += used;
    }
    return lines > PTC_HISTORY_ENTRIES;
}

/* ---------------------------------------------------------------------- API */

void ptc_history_init(PtcHistory *h, PtcMem *mem, const char *name)
{
    PtcBuf buf;
    h->mem = mem;
    h->count = 0;
    h->path[0] = 0;
    find_path(h, name);
    ptc_buf_init(&buf, mem, PTC_IO_MAX);
    if (h->path[0]) {
        make_directories(h->path);
        if (!ptc_io_read(&buf, h->path) && buf.len > 0 && take_history_lines(h, &buf))
            write_entries(h, 0, O_TRUNC);
    }
    ptc_buf_deinit(&buf);
}

void ptc_history_deinit(PtcHistory *h)
{
    while (h->count > 0) {
        h->count--;
        ptc_mem_free(h->mem, h->items[h->count].text, h->items[h->count].len + 1);
    }
}

void ptc_history_add(PtcHistory *h, const char *text, size_t len)
{
    size_t blank = 0;
    while (blank < len && strchr(" \t\n", text[blank]))
        blank++;
    const PtcHistoryEntry *last = h->count ? &h->items[h->count - 1] : NULL;
    if (blank == len || len > PTC_HISTORY_ENTRY_BYTES ||
        (last && last->len == len && memcmp(last->text, text, len) == 0))
        return;
    if (keep_history_entry(h, text, len))
        write_entries(h, h->count - 1, O_APPEND);
}
