/* SPDX-License-Identifier: MIT
 * Results in files.  What always holds: a file is replaced as a whole or not at all, and a signal leaves nothing beside
 * it. */
#include "cli/out/to_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/io.h"
#include "cli/out/rows_out.h"
#include "data/data_file.h"
#include "data/unpack.h"
#include "value/coll/vec.h"

/* ---------------------------------------------------------------------------------- signals */

static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
static char unfinished[PATH_MAX]; /* the file that a signal removes */

static void remove_unfinished(int signal)
{
    unlink(unfinished);
    raise(signal); /* which now ends the process */
}

static void catch_ends(const PtcToFile *to, bool on)
{
    struct sigaction action = {.sa_handler = on ? remove_unfinished : SIG_DFL,
                               .sa_flags = SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    if (on)
        memcpy(unfinished, to->beside, sizeof unfinished);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        sigaction(ends[i], &action, NULL);
}

/* ------------------------------------------------------------------------------------ begin */

static bool ends_so(const char *path, const char *end)
{
    size_t len = strlen(path), n = strlen(end);
    return len > n && strcmp(path + len - n, end) == 0;
}

static bool is_packed_file(const char *path)
{
    char first[PTC_UNPACK_BEGIN];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t n = fd < 0 ? 0 : read(fd, first, sizeof first);
    bool packed = n > 0 && ptc_unpack_is_packed(first, (size_t)n);
    if (fd >= 0)
        close(fd);
    return packed;
}

static bool refuse_to_file(PtcWhy *why, const char *path, const char *what)
{
    return ptc_why_say(why, PTC_WHY_REFUSED, "%.200s: %s", path, what);
}

/* Finds out where it belongs.  *mode becomes that of the file that is there. */
static bool find_place(PtcToFile *to, const char *path, mode_t *mode, bool *direct, PtcWhy *why)
{
    struct stat st;
    bool there = stat(path, &st) == 0;
    *direct = there && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
    *mode = there ? st.st_mode & 07777 : 0;
    if (to->in_place && (!there || !S_ISREG(st.st_mode)))
        return refuse_to_file(why, path, there ? "-i changes regular files only" : strerror(errno));
    if (there && S_ISDIR(st.st_mode))
        return refuse_to_file(why, path, "it is a directory");
    if (ends_so(path, ".gz") || ends_so(path, ".zst") || ends_so(path, ".xz") ||
        (to->in_place && is_packed_file(path)))
        return refuse_to_file(why, path,
                              "packed files are not written: unpack it first, or pipe the "
                              "result into gzip");
    if (there && !*direct && !realpath(path, to->path))
        return refuse_to_file(why, path, strerror(errno));
    if ((!there || *direct) && snprintf(to->path, sizeof to->path, "%s", path) >= PATH_MAX)
        return refuse_to_file(why, "-o", strerror(ENAMETOOLONG));
    return true;
}

/* A file of our own beside it, with its mode. */
static int open_beside(PtcToFile *to, mode_t mode)
{
    int n = snprintf(to->beside, sizeof to->beside, "%s.XXXXXX", to->path);
    if (n < 0 || n >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int fd = mkstemp(to->beside);
    if (fd < 0)
        return -1;
    (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    if (!mode) {
        mode_t mask = umask(0);
        umask(mask);
        mode = 0666 & ~mask;
    }
    (void)!fchmod(fd, mode);
    return fd;
}

bool ptc_to_file_begin(PtcToFile *to, const char *path, bool in_place, PtcWhy *why)
{
    mode_t mode;
    bool direct;
    *to = (PtcToFile){.in_place = in_place, .standard = -1};
    if (!find_place(to, path, &mode, &direct, why))
        return false;
    int fd = direct ? open(to->path, O_WRONLY | O_CLOEXEC) : open_beside(to, mode);
    if (fd < 0)
        return refuse_to_file(why, path, strerror(errno));
    to->standard = fcntl(PTC_IO_STDOUT, F_DUPFD_CLOEXEC, 3);
    bool ok = to->standard >= 0 && dup2(fd, PTC_IO_STDOUT) >= 0;
    int error = errno;
    close(fd);
    if (ok && to->beside[0])
        catch_ends(to, true);
    else if (!ok && to->beside[0])
        unlink(to->beside);
    return ok || refuse_to_file(why, path, strerror(error));
}

/* -------------------------------------------------------------------------------------- end */

/* The old file under another name, too, so that there is always one under its own. */
static bool keep_backup(const PtcToFile *to)
{
    char backup[PATH_MAX];
    if (snprintf(backup, sizeof backup, "%s.bak", to->path) >= PATH_MAX)
        return false;
    return (unlink(backup) == 0 || errno == ENOENT) && link(to->path, backup) == 0;
}

bool ptc_to_file_end(PtcToFile *to, bool keep, PtcWhy *why)
{
    bool ok = true;
    if (keep && to->beside[0])
        ok = fsync(PTC_IO_STDOUT) == 0 && (!to->in_place || keep_backup(to)) &&
             rename(to->beside, to->path) == 0;
    int error = errno;
    if (to->beside[0] && (!keep || !ok))
        unlink(to->beside);
    if (to->beside[0])
        catch_ends(to, false);
    dup2(to->standard, PTC_IO_STDOUT);
    close(to->standard);
    return ok || refuse_to_file(why, to->path, strerror(error));
}

/* ----------------------------------------------------------------------------------- format */

int ptc_to_file_format(const char *path)
{
    if (ends_so(path, ".md"))
        return PTC_FORMAT_MARKDOWN;
    if (ends_so(path, ".tsv"))
        return PTC_FORMAT_TSV;
    switch (ptc_data_kind(path)) {
    case PTC_DATA_JSON: return PTC_FORMAT_JSON;
    case PTC_DATA_JSONL: return PTC_FORMAT_JSONL;
    case PTC_DATA_CSV: return PTC_FORMAT_CSV;
    case PTC_DATA_YAML: return PTC_FORMAT_YAML;
    default: return -1;
    }
}

static bool refuse_in_place(const char *what)
{
    ptc_io_printf(PTC_IO_STDERR, "error: %s; nothing was changed\n", what);
    return false;
}

bool ptc_in_place_form(PtcDataOut *how, const PtcDataForm *was, PtcValue v)
{
    bool csv = was->kind == PTC_DATA_CSV || was->kind == PTC_DATA_TSV;
    *how = (PtcDataOut){.format = csv                          ? PTC_FORMAT_CSV
                                  : was->kind == PTC_DATA_JSON ? PTC_FORMAT_PRETTY
                                                               : PTC_FORMAT_JSONL,
                        .raw = was->kind == PTC_DATA_LINES,
                        .separator = was->kind == PTC_DATA_TSV ? '\t' : was->separator};
    if (was->kind == PTC_DATA_SQLITE)
        return refuse_in_place("-i does not write databases");
    if (was->kind == PTC_DATA_YAML)
        return refuse_in_place(
            "-i does not write YAML, whose comments would be lost: -o writes another file");
    if (csv && !ptc_rows_out_fits(v))
        return refuse_in_place("the file has rows, so the result of -i must be a list of maps that "
                               "is not empty");
    return was->kind == PTC_DATA_JSON || ptc_is_sequential(v) ||
           refuse_in_place("the file has lines, so the result of -i must be a list");
}
