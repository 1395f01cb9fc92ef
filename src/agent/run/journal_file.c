/* SPDX-License-Identifier: MIT
 * A journal on disk.  What always holds: at every moment the file is either the complete old journal or the complete
 * new one. */
#define _GNU_SOURCE
#include "agent/run/journal_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/whole_file.h"

struct PtcJournalFile {
    PtcMem *mem;
    int lock;
    char path[PATH_MAX], lock_path[PATH_MAX];
    PtcBuf text;
    bool there; /* there was a file */
};

static bool fail_journal_file(PtcWhy *why, const char *path, const char *what)
{
    return ptc_why_say(why, PTC_WHY_INVALID, "%s: %s", path, what);
}

static bool fail_errno(PtcWhy *why, const char *path)
{
    return fail_journal_file(why, path, strerror(errno));
}

/* Looked at before there is a lock, which would be left beside a directory or a device. */
static bool is_journal_file(const char *path, PtcWhy *why)
{
    struct stat st;
    return stat(path, &st) != 0 || S_ISREG(st.st_mode) ||
           fail_journal_file(why, path, "it is not a regular file");
}

/* A directory that was mistyped is told, not made. */
static bool has_directory(const PtcJournalFile *f, PtcWhy *why)
{
    const char *slash = strrchr(f->path, '/');
    char dir[PATH_MAX];
    snprintf(dir, sizeof dir, "%.*s",
             PTC_ARG_OF(slash ? f->path : ".", slash ? slash - f->path + 1 : 1));
    return access(dir, X_OK) == 0 || fail_errno(why, dir);
}

static bool lock_journal_file(PtcJournalFile *f, PtcWhy *why)
{
    f->lock = ptc_whole_file_lock(f->lock_path, 0);
    if (f->lock >= 0)
        return true;
    return errno == EWOULDBLOCK
               ? fail_journal_file(why, f->path,
                                   "another run is using this journal; wait for it to end")
               : fail_errno(why, f->lock_path);
}

static bool read_journal_file(PtcJournalFile *f, PtcWhy *why)
{
    struct stat st;
    /* Without O_NONBLOCK, opening a pipe would wait for a writer. */
    int fd = open(f->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return errno == ENOENT || fail_errno(why, f->path);
    bool ok = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    if (!ok)
        fail_journal_file(why, f->path, "it is not a regular file");
    else if (!(ok = ptc_whole_file_read_from(fd, &f->text)))
        fail_journal_file(why, f->path,
                          f->text.full ? "it is larger than 64 MiB" : "it cannot be read");
    close(fd);
    f->there = ok && f->text.len > 0;
    return ok;
}

PtcJournalFile *ptc_journal_file_open(PtcMem *mem, const char *path, PtcWhy *why)
{
    PtcJournalFile *f = ptc_mem_alloc(mem, sizeof *f);
    if (!f) {
        ptc_why_no_memory(why);
        return NULL;
    }
    memset(f, 0, sizeof *f);
    f->mem = mem;
    f->lock = -1;
    ptc_buf_init(&f->text, mem, PTC_JOURNAL_BYTES);
    char real[PATH_MAX]; /* a link and its target are one journal with one lock */
    if (realpath(path, real))
        path = real;
    bool ok = strlen(path) + 8 < PATH_MAX || fail_journal_file(why, "", "the path is too long");
    if (ok) {
        memcpy(f->path, path, strlen(path));
        snprintf(f->lock_path, sizeof f->lock_path, "%.*s.lock", PTC_ARG_OF(path, PATH_MAX - 8));
        ok = is_journal_file(path, why) && has_directory(f, why) && lock_journal_file(f, why) &&
             read_journal_file(f, why);
    }
    if (ok)
        return f;
    ptc_journal_file_close(f);
    return NULL;
}

/* The lock file is kept: removing it would let two runs hold locks on different files. */
void ptc_journal_file_close(PtcJournalFile *f)
{
    if (!f)
        return;
    if (f->lock >= 0)
        close(f->lock);
    ptc_buf_deinit(&f->text);
    ptc_mem_free(f->mem, f, sizeof *f);
}

PtcText ptc_journal_file_text(const PtcJournalFile *f)
{
    return f->there ? ptc_buf_view(&f->text) : (PtcText){NULL, 0};
}

/* ------------------------------------------------------------------------------- writing */

bool ptc_journal_file_write(PtcJournalFile *f, PtcText json, PtcWhy *why)
{
    PtcWholeFile how = {.line = true, .synced = true, .locked = true};
    return ptc_whole_file_put(f->path, json, how) || fail_errno(why, f->path);
}
