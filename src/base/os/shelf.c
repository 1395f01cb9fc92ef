/* SPDX-License-Identifier: MIT
 * Sheets as files.  What always holds: a file is replaced whole; whoever changes one holds its lock, so what was read
 * under it is what is written over. */
#include "base/os/shelf.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/budget.h"
#include "base/os/whole_file.h"

const char *ptc_sheet_place(const PtcShelf *shelf, const PtcSheet *sheet,
                            char place[PTC_SHELF_PATH])
{
    if (shelf && !shelf->shared)
        snprintf(place, PTC_SHELF_PATH, "%.4000s/%.190s", ((const PtcFileShelf *)shelf)->dir,
                 sheet->file);
    else
        snprintf(place, PTC_SHELF_PATH, "%s in the store", sheet->kind);
    return place;
}

static PtcSheetStatus fail_sheet_file(const char *path, PtcWhy *why)
{
    int error = errno;
    ptc_why_say(why, PTC_WHY_UNAVAILABLE, "%.300s: %.200s", path, strerror(error));
    errno = error;
    return PTC_SHEET_FAILED;
}

static bool look_at_file(PtcShelf *shelf, const PtcSheet *sheet, PtcSheetMark *mark)
{
    struct stat st;
    char path[PTC_SHELF_PATH];
    *mark = (PtcSheetMark){{0}};
    if (stat(ptc_sheet_place(shelf, sheet, path), &st) == 0)
        *mark = (PtcSheetMark){{(uint64_t)st.st_mtim.tv_sec, (uint64_t)st.st_mtim.tv_nsec,
                                (uint64_t)st.st_ino, (uint64_t)st.st_size}};
    return true;
}

static PtcSheetStatus read_sheet_file(PtcShelf *shelf, const PtcSheet *sheet, PtcBuf *out,
                                      PtcSheetMark *mark, PtcWhy *why)
{
    char path[PTC_SHELF_PATH];
    ptc_sheet_place(shelf, sheet, path);
    (void)look_at_file(shelf, sheet, mark);
    if (ptc_whole_file_read(path, out))
        return PTC_SHEET_OK;
    return errno == ENOENT ? PTC_SHEET_ABSENT : fail_sheet_file(path, why);
}

static PtcSheetStatus write_sheet_file(PtcShelf *shelf, const PtcSheet *sheet, PtcText text,
                                       const PtcSheetWrite *how, PtcSheetMark *mark, PtcWhy *why)
{
    char path[PTC_SHELF_PATH];
    ptc_sheet_place(shelf, sheet, path);
    PtcWholeFile file = {.line = how->line, .dirs = true, .synced = how->synced, .locked = true};
    if (!ptc_whole_file_put(path, text, file))
        return fail_sheet_file(path, why);
    (void)look_at_file(shelf, sheet, mark);
    return PTC_SHEET_OK;
}

static PtcSheetStatus remove_sheet_file(PtcShelf *shelf, const PtcSheet *sheet)
{
    char path[PTC_SHELF_PATH];
    return unlink(ptc_sheet_place(shelf, sheet, path)) == 0 ? PTC_SHEET_OK : PTC_SHEET_ABSENT;
}

static bool lock_sheet_file(PtcShelf *shelf, const PtcSheet *sheet, int64_t wait_ms,
                            PtcSheetLock *lock, PtcWhy *why)
{
    char path[PTC_SHELF_PATH];
    const PtcSheet name = {.file = sheet->lock_file};
    lock->held = sheet;
    lock->fd = ptc_whole_file_lock(ptc_sheet_place(shelf, &name, path), wait_ms);
    return lock->fd >= 0 || fail_sheet_file(path, why) == PTC_SHEET_OK;
}

static void unlock_sheet_file(PtcShelf *shelf, PtcSheetLock *lock)
{
    (void)shelf;
    if (lock->fd >= 0)
        close(lock->fd);
    lock->fd = -1;
}

static int64_t file_now_ms(PtcShelf *shelf)
{
    (void)shelf;
    return ptc_clock_wall_ms();
}

bool ptc_file_shelf_init(PtcFileShelf *files, const char *dir)
{
    files->shelf = (PtcShelf){.secrets = true,
                              .read = read_sheet_file,
                              .look = look_at_file,
                              .write = write_sheet_file,
                              .remove = remove_sheet_file,
                              .lock = lock_sheet_file,
                              .unlock = unlock_sheet_file,
                              .now_ms = file_now_ms};
    size_t len = strlen(dir);
    if (len > PTC_SHELF_PATH - 200)
        return false;
    memcpy(files->dir, dir, len + 1);
    return true;
}
