/* SPDX-License-Identifier: MIT
 * Reading and writing for commands.  What always holds: no stdio, so what was written is out when a function returns;
 * every read has a bound; interrupted and non-blocking descriptors are handled here. */
#include "cli/io.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "cli/out/shown.h"

enum { IO_CHUNK = 64 * PTC_KB }; /* bytes per read */

/* ----------------------------------------------------------------- writing */

/* After a failed call: should it be tried again?  Waits if the descriptor is non-blocking. */
static bool should_try_again(int fd, short events)
{
    if (errno == EINTR)
        return true;
    if (errno != EAGAIN)
        return false;
    struct pollfd p = {.fd = fd, .events = events};
    return poll(&p, 1, -1) >= 0 || errno == EINTR;
}

bool ptc_io_write(int fd, const void *bytes, size_t len)
{
    const char *p = bytes;
    while (len > 0) {
        ssize_t n = write(fd, p, len);
        if (n < 0 && !should_try_again(fd, POLLOUT))
            return false;
        if (n > 0) {
            p += n;
            len -= (size_t)n;
        }
    }
    return true;
}

bool ptc_io_write_line(int fd, const char *text, size_t len)
{
    struct iovec parts[2] = {{(void *)(uintptr_t)text, len}, {(void *)(uintptr_t) "\n", 1}};
    ssize_t n;
    while ((n = writev(fd, parts, 2)) < 0)
        if (!should_try_again(fd, POLLOUT))
            return false;
    size_t done = (size_t)n;
    if (done < len)
        return ptc_io_write(fd, text + done, len - done) && ptc_io_write(fd, "\n", 1);
    return done > len || ptc_io_write(fd, "\n", 1);
}

void ptc_io_printf(int fd, const char *format, ...)
{
    va_list args;
    PtcMem mem;
    PtcBuf text;
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    ptc_buf_init(&text, &mem, PTC_UNBOUNDED);
    va_start(args, format);
    if (ptc_buf_vaddf(&text, format, args))
        (void)!ptc_shown_write(fd, text.data, text.len);
    va_end(args);
    ptc_buf_deinit(&text);
}

/* ----------------------------------------------------------------- reading */

/* Reads at most one chunk and appends it to the buffer.  Bytes read, 0 at the end, -1: failed. */
static ssize_t read_chunk_into(PtcBuf *buf, int fd)
{
    size_t room = buf->max - buf->len < IO_CHUNK ? buf->max - buf->len : IO_CHUNK;
    if (!ptc_buf_reserve(buf, room)) {
        errno = ENOMEM;
        return -1;
    }
    ssize_t n;
    while ((n = read(fd, buf->data + buf->len, room)) < 0)
        if (!should_try_again(fd, POLLIN))
            return -1;
    buf->len += (size_t)n;
    return n;
}

static const char *why(int error)
{
    switch (error) {
    case ENOENT: return "there is no such file";
    case EACCES: return "permission denied";
    case EISDIR: return "it is a directory";
    case ENOMEM: return "out of memory";
    default: return "it cannot be read";
    }
}

/* Reserves room for a regular file in one step. */
static void expect_size(PtcBuf *buf, int fd)
{
    struct stat st;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 &&
        (uint64_t)st.st_size + IO_CHUNK < buf->max - buf->len)
        (void)ptc_buf_reserve(buf, (size_t)st.st_size + IO_CHUNK);
}

const char *ptc_io_read(PtcBuf *buf, const char *path)
{
    bool is_stdin = strcmp(path, "-") == 0;
    int fd = is_stdin ? PTC_IO_STDIN : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return why(errno);
    const char *error = NULL;
    ssize_t n = 1;
    expect_size(buf, fd);
    while (n > 0 && !error) {
        if (buf->len == buf->max)
            error = "it is too large";
        else if ((n = read_chunk_into(buf, fd)) < 0)
            error = why(errno);
    }
    if (!is_stdin)
        close(fd);
    return error;
}

bool ptc_io_may_wait(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}
