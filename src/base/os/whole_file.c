/* SPDX-License-Identifier: MIT
 * Whole files: written beside their place and renamed.  What always holds: a link is never followed to where it is
 * written, and what could not be renamed is removed. */
#define _GNU_SOURCE
#include "base/os/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/text/secret.h"
#include "base/units.h"

/* ------------------------------------------------------------------------------ directories */

/* The directory of a file; "" for one in the current directory.  False: the path is too long. */
static bool directory_of_file(const char *path, char dir[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    size_t n = slash ? (size_t)(slash - path) + (slash == path) : 0;
    if (n >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(dir, path, n);
    dir[n] = '\0';
    return true;
}

static bool make_dirs(const char *path)
{
    char dir[PATH_MAX];
    if (!directory_of_file(path, dir))
        return false;
    for (size_t i = 1; dir[0] && (i == 1 || dir[i - 1]); i++) {
        char kept = dir[i];
        if (kept != '/' && kept != '\0')
            continue;
        dir[i] = '\0';
        if (mkdir(dir, 0700) != 0 && errno != EEXIST)
            return false;
        dir[i] = kept;
    }
    return true;
}

/* The name must be on the disk as well, or a crash may bring the old file back. */
static void sync_dir_of(const char *path)
{
    char dir[PATH_MAX];
    int fd = directory_of_file(path, dir)
                 ? open(dir[0] ? dir : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                 : -1;
    if (fd < 0)
        return;
    fsync(fd);
    close(fd);
}

/* ---------------------------------------------------------------------------------- writing */

static bool write_file_text(int fd, PtcText text)
{
    while (text.len) {
        ssize_t n = write(fd, text.bytes, text.len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        text = (PtcText){text.bytes + n, text.len - (size_t)n};
    }
    return true;
}

/* The file beside its place that is renamed: with a lock one name is enough, else nobody else may have it. */
static int open_beside(const char *path, PtcWholeFile how, char beside[PATH_MAX])
{
    uint64_t nonce = 0;
    int n;
    if (how.locked)
        n = snprintf(beside, PATH_MAX, "%s.next", path);
    else if (!ptc_random_bytes(&nonce, sizeof nonce))
        return -1;
    else
        n = snprintf(beside, PATH_MAX, "%s.%016llx", path, (unsigned long long)nonce);
    if (n < 0 || n >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return -1;
    }
    if (how.locked)
        unlink(beside);
    return open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                how.mode ? how.mode : 0600);
}

static bool fill_new_file(int fd, PtcText text, PtcWholeFile how)
{
    bool ok = write_file_text(fd, text) && (!how.line || write_file_text(fd, PTC_TEXT("\n"))) &&
              (!how.synced || fsync(fd) == 0);
    int why = errno;
    if (close(fd) != 0 && ok)
        return false;
    errno = why;
    return ok;
}

bool ptc_whole_file_put(const char *path, PtcText text, PtcWholeFile how)
{
    char beside[PATH_MAX];
    if (how.dirs && !make_dirs(path))
        return false;
    int fd = open_beside(path, how, beside);
    if (fd < 0)
        return false;
    bool ok = fill_new_file(fd, text, how), there = false;
    if (ok && how.only_new)
        there = link(beside, path) == 0 || errno == EEXIST;
    else if (ok)
        there = rename(beside, path) == 0;
    int why = errno;
    if (!there || how.only_new)
        unlink(beside);
    if (there && how.synced)
        sync_dir_of(path);
    errno = why;
    return there;
}

/* ---------------------------------------------------------------------------------- reading */

static int open_own(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return -1;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
        (st.st_mode & 022) == 0)
        return fd;
    close(fd);
    errno = EPERM;
    return -1;
}

bool ptc_whole_file_read_from(int fd, PtcBuf *out)
{
    char chunk[16 * PTC_KB];
    ssize_t n;
    while ((n = read(fd, chunk, sizeof chunk)) > 0 || (n < 0 && errno == EINTR))
        if (n > 0 && !ptc_buf_add(out, chunk, (size_t)n)) {
            errno = out->failed ? ENOMEM : EFBIG;
            return false;
        }
    return n == 0;
}

bool ptc_whole_file_read(const char *path, PtcBuf *out)
{
    int fd = open_own(path);
    if (fd < 0)
        return false;
    bool ok = ptc_whole_file_read_from(fd, out);
    int why = errno;
    close(fd);
    errno = why;
    return ok;
}

/* ---------------------------------------------------------------------------------- locking */

int ptc_whole_file_lock(const char *path, int64_t wait_ms)
{
    enum { STEP_MS = 10 };
    static const struct timespec step = {.tv_nsec = STEP_MS * PTC_MS};
    int how = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW;
    int fd = open(path, how, 0600);
    if (fd < 0 && errno == ENOENT && make_dirs(path))
        fd = open(path, how, 0600);
    if (fd < 0)
        return -1;
    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        int why = errno;
        if ((why != EWOULDBLOCK && why != EINTR) || wait_ms <= 0) {
            close(fd);
            errno = why;
            return -1;
        }
        nanosleep(&step, NULL);
        wait_ms -= STEP_MS;
    }
    return fd;
}
